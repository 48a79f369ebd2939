# Databases for tests, and panels with unusual names.

needs_dbplyr <- function() {
  for (package in c("dbplyr", "dplyr", "DBI")) skip_if_not_installed(package)
}

# Opens an empty SQLite database in memory, which exists until the test ends.
sqlite <- function(env = parent.frame()) {
  needs_dbplyr()
  skip_if_not_installed("RSQLite")
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:", bigint = "integer64")
  withr::defer(if (DBI::dbIsValid(con)) DBI::dbDisconnect(con), envir = env)
  con
}

# Folder of PostgreSQL's programs, found by the search path or where Debian installs them; "" if
# there are none.
postgres_programs <- function() {
  initdb <- c(Sys.which("initdb"), Sys.glob("/usr/lib/postgresql/*/bin/initdb"))
  initdb <- initdb[nzchar(initdb)]
  if (length(initdb) > 0L) dirname(utils::tail(initdb, 1L)) else ""
}

# Starts a PostgreSQL server in a temporary folder, with a socket in this folder. PostgreSQL does
# not run as root, so root starts it as user `postgres`.
start_postgres <- function() {
  programs <- postgres_programs()
  folder <- tempfile("pg", "/tmp") # the path of a socket must be short
  dir.create(folder, mode = "0700")
  as_owner <- function(program, ...) {
    words <- shQuote(c(file.path(programs, program), ...))
    if (Sys.info()[["user"]] == "root") words <- c("runuser", "-u", "postgres", "--", words)
    log <- shQuote(file.path(folder, "log"))
    system(paste("cd", shQuote(folder), "&&", paste(words, collapse = " "), ">>", log, "2>&1"))
  }
  if (Sys.info()[["user"]] == "root") system2("chown", c("postgres", shQuote(folder)))
  data <- file.path(folder, "data")
  settings <- paste("-c listen_addresses='' -c fsync=off -k", folder)
  ready <- as_owner("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-N") == 0 &&
    as_owner(
      "pg_ctl", "-D", data, "-w", "-l", file.path(folder, "server"), "-o", settings, "start"
    ) == 0
  stop <- function() {
    as_owner("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    unlink(folder, recursive = TRUE)
  }
  list(ready = ready, folder = folder, stop = stop)
}

postgres_store <- new.env()

# Opens a connection to the PostgreSQL server. All tests use the same server, which stops after the
# last test.
postgres <- function(env = parent.frame()) {
  needs_dbplyr()
  skip_unless_extended()
  skip_if_not_installed("RPostgreSQL")
  skip_on_os("windows")
  skip_if(postgres_programs() == "", "there is no PostgreSQL")
  if (is.null(postgres_store$server)) {
    postgres_store$server <- start_postgres()
    withr::defer(postgres_store$server$stop(), teardown_env())
  }
  skip_if_not(postgres_store$server$ready, "PostgreSQL does not start")
  con <- DBI::dbConnect(
    RPostgreSQL::PostgreSQL(), host = postgres_store$server$folder, user = "postgres",
    dbname = "postgres"
  )
  suppressWarnings(dplyr::tbl(con, dbplyr::sql("SELECT 1 AS one"))) # dbplyr warns that the driver
                                                                    # is old
  DBI::dbExecute(con, "SET client_min_messages TO warning")
  DBI::dbExecute(con, "DROP SCHEMA public CASCADE")
  DBI::dbExecute(con, "CREATE SCHEMA public")
  withr::defer(suppressWarnings(try(DBI::dbDisconnect(con), silent = TRUE)), envir = env)
  con
}

# Opens an empty DuckDB database in memory. Debian has no package of DuckDB, so tests use it only if
# it is installed.
has_duckdb <- function() nzchar(system.file(package = "duckdb"))

duckdb <- function(env = parent.frame()) {
  needs_dbplyr()
  con <- DBI::dbConnect(getExportedValue("duckdb", "duckdb")())
  withr::defer(if (DBI::dbIsValid(con)) DBI::dbDisconnect(con, shutdown = TRUE), envir = env)
  con
}

# Runs a test on several databases. The short form of the tests runs only `central` tests, on SQLite
# and, if it is installed, on DuckDB. The long form also runs them on PostgreSQL. The nightly form
# runs all tests on all three databases. Tests are left out to save time: dbplyr takes a second to
# write a few queries.
on_databases <- function(title, code, central = FALSE) {
  code <- substitute(code)
  env <- parent.frame()
  kinds <- c("sqlite", if (has_duckdb()) "duckdb", if (central || nightly_tests()) "postgres")
  for (kind in kinds) {
    test_that(paste0(title, " (", kind, ")"), {
      if (!central) skip_unless_nightly()
      con <- get(kind)()
      withr::local_options(lifecycle_verbosity = "quiet")
      eval(code, list(con = con), env)
    })
  }
}

in_table <- function(con, data, name = "answers") {
  DBI::dbWriteTable(con, name, as.data.frame(data), row.names = FALSE)
  dplyr::tbl(con, name)
}

# Creates a table. Its text columns have the types `types`, which are repeated in this order.
in_typed_table <- function(con, data, types, name) {
  columns <- rep_len(types, length(data))
  columns[!vapply(data, is.character, NA)] <- "INTEGER"
  columns <- toString(paste(DBI::dbQuoteIdentifier(con, names(data)), columns))
  DBI::dbExecute(con, paste0("CREATE TABLE ", name, " (", columns, ")"))
  DBI::dbWriteTable(con, name, data, row.names = FALSE, append = TRUE)
  suppressWarnings(dplyr::tbl(con, name)) # RPostgreSQL does not know citext
}

# Returns column types with which comparisons of text ignore case, trailing blanks or accents. On
# PostgreSQL, first creates the extension and the collation of these types.
loose_types <- function(con) {
  if (inherits(con, "SQLiteConnection")) {
    return(c("TEXT COLLATE NOCASE", "TEXT COLLATE RTRIM"))
  }
  if (inherits(con, "duckdb_connection")) return("TEXT COLLATE NOCASE.NOACCENT")
  DBI::dbExecute(con, "CREATE EXTENSION citext")
  DBI::dbExecute(con, paste(
    "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
  ))
  c("citext", "TEXT COLLATE loose")
}

# Cases, raters, labels, systems and groups whose names differ only in case, blanks or accents.
spelled_panel <- function() {
  withr::local_seed(2)
  words <- c("u", "U", "u ", "\u00fa")
  cases <- paste0(rep(1:50, each = 4), words)
  truth <- sample(words, 200, TRUE)
  draw_answers <- function(accuracy) {
    ifelse(stats::runif(200) < accuracy, truth, sample(c(words, NA), 200, TRUE))
  }
  out <- lapply(seq(0.6, 0.85, length.out = 6), draw_answers)
  names(out) <- c(paste0("r", words), "s", "S ")
  list(
    wide = data.frame(id = cases, stats::setNames(out, c(paste0("r", 1:4), "s1", "s2"))),
    long = data.frame(
      id = rep(cases, 4), who = rep(names(out)[1:4], each = 200), said = unlist(out[1:4]),
      group = rep(words[c(1, 2, 2, 3)], each = 200)
    ),
    systems = data.frame(
      case = rep(cases, 2), system = rep(names(out)[5:6], each = 200), prediction = unlist(out[5:6])
    )
  )
}

# A panel with names and labels that break unquoted SQL.
hostile_panel <- function(n = 300) {
  withr::local_seed(1)
  labels <- c("it's", "b\"; drop table answers; --", "c")
  truth <- sample(labels, n, TRUE, c(0.5, 0.3, 0.2))
  answer <- function(accuracy) ifelse(stats::runif(n) < accuracy, truth, sample(labels, n, TRUE))
  out <- data.frame(
    id = paste0("case ", seq_len(n)), r1 = answer(0.6), bad = answer(0.7), r3 = answer(0.8),
    s1 = answer(0.8), s2 = answer(0.6), times = sample(3, n, TRUE)
  )
  names(out)[3] <- "x\"; drop table answers; --"
  out[sample(n, 40), 2] <- NA
  out[sample(n, 40), 5] <- NA
  out[3, 2:4] <- NA
  out
}

hostile_raters <- function(panel) names(panel)[2:4]

lengthen <- function(panel, columns, names) {
  out <- do.call(rbind, lapply(columns, function(column) {
    data.frame(case = panel$id, who = column, said = panel[[column]], times = panel$times)
  }))
  stats::setNames(out, c(names, "times"))
}

# Expects that two ratings objects have the same patterns with the same counts, and give the same
# estimates.
expect_same_ratings <- function(x, y, method = "unbinned") {
  expect_s3_class(x, "ratings_database")
  table <- function(x) {
    out <- as.data.frame(lapply(tidy(x, "patterns"), as.character))
    out <- out[do.call(order, out), ]
    rownames(out) <- NULL
    out
  }
  expect_equal(table(x), table(y))
  for (field in c("categories", "raters", "systems")) expect_equal(x[[field]], y[[field]])
  expect_equal(dim(x), dim(y))
  expect_equal(glance(x), glance(y), tolerance = 1e-12)
  estimate <- function(x) {
    columns <- c("estimate", "std.error", "conf.low", "conf.high", "n")
    interval <- if (method == "average") "robust" else "none"
    as.data.frame(quiet(tidy(estimate_accuracy(x, method, interval = interval)))[columns])
  }
  expect_equal(estimate(x), estimate(y), tolerance = 1e-12)
}
