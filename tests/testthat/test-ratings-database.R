test_that("values of several types in a column of SQLite are an error", {
  needs_dbplyr()
  con <- sqlite()
  DBI::dbExecute(con, "CREATE TABLE mixed (id INTEGER, who TEXT, said INTEGER)")
  DBI::dbExecute(con, "INSERT INTO mixed VALUES (1, 'a', 1), (1, 'b', 2), (2, 'a', 'unsure')")
  table <- dplyr::tbl(con, "mixed")
  read <- function(table) quiet(ratings(table, case = id, rater = who, rating = said))
  expect_error(read(table), "several types", class = "fallible_error_database")
  as_text <- dplyr::mutate(table, said = as.character(said))
  expect_identical(read(as_text)$categories, c("1", "2", "unsure"))
})

on_databases("wide data are counted in the database", {
  panel <- hostile_panel()
  table <- in_table(con, panel)
  raters <- hostile_raters(panel)
  here <- function(...) ratings(panel, raters = !!raters, systems = s1:s2, case = id, ...)
  there <- function(...) ratings(table, raters = !!raters, systems = s1:s2, case = id, ...)
  expect_warning(x <- there(), "s1: 1 of 260", class = "fallible_warning_unrated")
  expect_same_ratings(x, quiet(here()), "average")
  for (what in c("raters", "categories", "system_agreement")) {
    expect_equal(tidy(x, what), tidy(quiet(here()), what))
  }
  expect_same_ratings(quiet(there(weights = times)), quiet(here(weights = times)))
  expect_equal(DBI::dbListTables(con), "answers")
})

on_databases("long data are counted in the database", {
  panel <- hostile_panel()
  raters <- hostile_raters(panel)
  long <- lengthen(panel, raters, c("id", "who", "said"))
  predictions <- lengthen(panel, c("s1", "s2"), c("case", "system", "prediction"))[1:3]
  predictions <- predictions[-5, ] # a case that one system did not see
  extra <- data.frame(case = "unseen", system = "s1", prediction = "c")
  table <- in_table(con, long)
  systems <- in_table(con, rbind(predictions, extra), "predictions")
  x <- quiet(ratings(table, case = id, rater = who, rating = said, systems = systems))
  y <- quiet(ratings(
    long, case = id, rater = who, rating = said, systems = rbind(predictions, extra)
  ))
  expect_same_ratings(x, y)
  systems <- dplyr::filter(systems, case != "unseen")
  expect_same_ratings(
    quiet(ratings(
      table, case = id, rater = who, rating = said, weights = times, systems = systems
    )),
    quiet(ratings(
      long, case = id, rater = who, rating = said, weights = times, systems = predictions
    ))
  )
}, central = TRUE)

on_databases("text is compared as R does it, whatever its collation", {
  panel <- spelled_panel()
  types <- loose_types(con)
  for (turn in seq_len(if (nightly_tests()) length(types) else 1)) { # other types for each column
    types <- c(types[-1], types[1])
    table <- function(name) in_typed_table(con, panel[[name]], types, paste0(name, turn))
    read <- function(data, systems) {
      quiet(ratings(
        data, case = id, rater = who, rating = said, rater_groups = group, systems = systems
      ))
    }
    x <- read(table("long"), table("systems"))
    y <- read(panel$long, panel$systems)
    expect_same_ratings(x, y)
    expect_equal(x$rater_groups, y$rater_groups)
    labels <- dplyr::collect(ground_truth(fit_raters(x)))
    truth <- ground_truth(fit_raters(y))
    expect_setequal(labels$case, truth$case)
    expect_equal(
      plain_data_frame(labels[match(truth$case, labels$case), names(truth)]),
      plain_data_frame(truth), tolerance = 1e-12, ignore_attr = TRUE
    )
    read <- function(data) quiet(ratings(data, raters = r1:r4, systems = s1:s2, case = id))
    x <- read(table("wide"))
    y <- read(panel$wide)
    expect_same_ratings(x, y)
    expect_equal(category_counts(dplyr::collect(x))[y$cases, ], category_counts(y))
  }
}, central = TRUE)

test_that("databases that ignore case or blanks, and ratings that get lost, are errors", {
  raters <- data.frame(key = "r")
  labels <- data.frame(key = "A", value = "A")
  counted <- data.frame(r1 = c("A", "a"), times = 2:3)
  expect_error(unpivot_rows(counted, pivot_columns("r", NULL), raters, labels, 2:3),
    "It had 5 ratings, and then 2", class = "fallible_error_database")
  con <- postgres()
  table <- in_typed_table(con, spelled_panel()$long, c("TEXT", loose_types(con)[2]), "answers")
  expect_silent(check_collation(table, c("id", "said")))
  expect_error(check_collation(table, c("id", "who", "group")),
    "columns \"who\" and \"group\"", class = "fallible_error_database")
})

on_databases("a rater twice on a case is refused, unless both ratings are meant", {
  long <- data.frame(
    id = rep(1:4, each = 3), who = c("r", "r", "s"), said = rep(c("u", "v", "u", "u"), 3)
  )
  read <- function(...) ratings(..., case = id, rater = who, rating = said)
  table <- in_table(con, long)
  expect_error(read(table), "more than once", class = "fallible_error_repeat")
  twice <- read(table, repeats = "ratings")
  expect_equal(glance(twice), glance(read(long, repeats = "ratings")), tolerance = 1e-12)
}, central = TRUE)

on_databases("raters may repeat themselves", {
  panel <- hostile_panel()
  long <- lengthen(panel, hostile_raters(panel), c("id", "who", "said"))
  long <- rbind(long, long[1:150, ])
  table <- in_table(con, long)
  systems <- lengthen(panel, "s2", c("case", "system", "prediction"))[1:3]
  asked <- in_table(con, systems, "predictions")
  for (kind in c("ratings", "reruns")) {
    expect_same_ratings(
      quiet(ratings(
        table, case = id, rater = who, rating = said, repeats = kind, systems = asked
      )),
      quiet(ratings(
        long, case = id, rater = who, rating = said, repeats = kind, systems = systems
      ))
    )
  }
  expect_error(
    ratings(
      dplyr::distinct(table), case = id, rater = who, rating = said,
      systems = dplyr::union_all(asked, dplyr::filter(asked, case == "case 1"))
    ),
    "one prediction", class = "fallible_error_repeat"
  )
})

on_databases("counts of ratings are counted in the database", {
  panel <- hostile_panel()
  counted <- category_counts(ratings(panel, raters = !!hostile_raters(panel), case = id))
  data <- data.frame(id = rownames(counted), counted, s2 = panel$s2, check.names = FALSE)
  labels <- colnames(counted)
  table <- in_table(con, data)
  expect_same_ratings(
    quiet(ratings(table, counts = !!labels, systems = s2)),
    quiet(ratings(data, counts = !!labels, systems = s2))
  )
  data[[labels[[1]]]][3] <- NA
  table <- in_table(con, data, "gaps")
  expect_error(ratings(table, counts = !!labels), class = "fallible_error_counts")
})

on_databases("cases are judged in the database", {
  panel <- hostile_panel()
  raters <- hostile_raters(panel)
  long <- lengthen(panel, raters, c("id", "who", "said"))
  made <- list(
    list(quiet(ratings(in_table(con, panel), raters = !!raters, systems = s1:s2, case = id)),
      quiet(ratings(panel, raters = !!raters, systems = s1:s2, case = id))),
    list(ratings(in_table(con, long, "long"), case = id, rater = who, rating = said),
      ratings(long, case = id, rater = who, rating = said))
  )
  for (both in made) {
    expect_same_table <- function(table, truth) {
      expect_s3_class(table, "tbl_lazy")
      table <- dplyr::collect(table)
      truth <- plain_data_frame(truth)
      truth[] <- lapply(truth, function(x) if (is.factor(x)) as.character(x) else x)
      expect_equal(
        plain_data_frame(table[match(truth$case, table$case), ]), truth, tolerance = 1e-12,
        ignore_attr = "row.names"
      )
    }
    x <- both[[1]]
    y <- both[[2]]
    expect_same_table(ground_truth(x), ground_truth(y))
    expect_same_table(predict(fit_raters(x)), predict(fit_raters(y)))
    expect_same_table(augment(fit_raters(x)), augment(fit_raters(y)))
    fetched <- dplyr::collect(x)
    expect_s3_class(fetched, "ratings", exact = TRUE)
    ids <- y$cases
    expect_equal(category_counts(fetched)[ids, ], category_counts(y)[ids, ])
  }
  weighted <- ratings(dplyr::tbl(con, "long"), case = id, rater = who, rating = said,
    weights = times)
  expect_equal(sum(dplyr::collect(weighted)$weights), sum(panel$times))
})

on_databases("what needs cases says how to have them", {
  panel <- hostile_panel()
  x <- quiet(ratings(
    in_table(con, panel), raters = !!hostile_raters(panel), systems = s1:s2, case = id
  ))
  expect_class <- function(code) expect_error(code, "collect", class = "fallible_error_database")
  expect_class(x[1:3, ])
  expect_class(tidy(x))
  expect_class(category_counts(x))
  expect_class(as.data.frame(x, what = "systems"))
  expect_class(estimate_accuracy(x, by = panel$s1))
  expect_class(estimate_accuracy(x, resampling = list(cluster = panel$s1)))
  expect_class(fit_raters(x, known_truth = c("case 1" = "c")))
  expect_class(ground_truth(x, "long"))
  expect_class(crowdtruth(x))
  expect_class(compare_agreement(x, x))
  expect_equal(dimnames(x), list(NULL, x$raters))
  expect_equal(x[, 1:2, "s2"]$systems, "s2")
  expect_equal(nrow(x[, 1:2, "s2"]), 300)
  y <- quiet(ratings(panel, raters = !!hostile_raters(panel), systems = s1:s2))
  difference <- function(x) {
    quiet(tidy(compare_systems(estimate_accuracy(x, interval = "none", resampling = list(replicates = 20)))))$estimate
  }
  expect_equal(difference(x), difference(y), tolerance = 1e-12)
  expect_equal(agreement(x)$estimate, agreement(y)$estimate, tolerance = 1e-12)
  expect_length(simulate(fit_raters(x), nsim = 2, seed = 1), 2)
  anonymous <- ratings(dplyr::tbl(con, "answers"), raters = !!hostile_raters(panel))
  expect_error(ground_truth(anonymous), "Give `case`", class = "fallible_error_argument")
})

on_databases("what cannot be counted is refused by class", {
  panel <- hostile_panel()
  raters <- hostile_raters(panel)
  table <- in_table(con, panel)
  long <- in_table(con, lengthen(panel, raters, c("id", "who", "said")), "long")
  wide <- function(data, ...) ratings(data, raters = !!raters, ...)
  rows <- function(data, ...) ratings(data, case = id, rater = who, rating = said, ...)
  expect_error(wide(table, case = nobody), class = "fallible_error_columns")
  expect_error(ratings(table), class = "fallible_error_argument")
  expect_error(
    wide(dplyr::mutate(table, id = ifelse(id == "case 3", NA, id)), case = id),
    "missing in 1 of 300 rows", class = "fallible_error_case"
  )
  expect_error(
    wide(dplyr::mutate(table, id = ifelse(id == "case 3", "case 4", id)), case = id),
    "1 row repeats", class = "fallible_error_case"
  )
  expect_error(
    rows(dplyr::mutate(long, who = ifelse(id == "case 3", NA, who))),
    "missing in 3 of 900 rows", class = "fallible_error_case"
  )
  expect_error(
    rows(dplyr::mutate(long, who = ifelse(id == "case 3", " ", who))),
    "missing in 3 of 900 rows", class = "fallible_error_case"
  )
  expect_error(
    rows(dplyr::mutate(long, said = ifelse(id == "case 3", "", said))),
    class = "fallible_error_blank"
  )
  expect_error(
    wide(dplyr::mutate(table, r1 = ifelse(id == "case 3", "", r1))), "of `data`",
    class = "fallible_error_blank"
  )
  expect_error(wide(dplyr::filter(table, times > 7)), class = "fallible_error_empty")
  expect_error(
    wide(dplyr::mutate(table, times = times + 0.5), weights = times), "in 300 rows",
    class = "fallible_error_weights"
  )
  expect_error(
    rows(dplyr::mutate(long, times = ifelse(who == "r1", 7L, times)), weights = times),
    "same in all rows", class = "fallible_error_weights"
  )
  expect_error(wide(table, systems = panel), "Join the table", class = "fallible_error_argument")
  expect_error(rows(long, systems = table), "lacks", class = "fallible_error_columns")
  expect_error(rows(long, repeats = "labels"), class = "fallible_error_database")
  expect_error(wide(table, categories = c("c", "d")), class = "fallible_error_category")
  expect_error(ratings(long, rater = who, rating = said), "`case` is not given",
    class = "fallible_error_argument")
  DBI::dbExecute(con, "DROP TABLE long")
  expect_error(rows(long), class = "fallible_error_database")
  DBI::dbDisconnect(con)
  expect_error(wide(table), "does not answer", class = "fallible_error_database")
})

on_databases("columns of identifiers are no categories", {
  n <- 1e5 + 1 # more than one piece of those fetched
  table <- in_table(
    con, data.frame(id = seq_len(n), r1 = seq_len(n), r2 = seq_len(n) %% 3, who = "a")
  )
  expect_error(ratings(table, raters = r1:r2), class = "fallible_error_categories_many")
  expect_error(
    ratings(table, case = id, rater = r2, rating = r1), class = "fallible_error_categories_many"
  )
  expect_error(
    suppressMessages(ratings(table, case = id, rater = r1, rating = who)),
    class = "fallible_error_categories_few"
  )
}, central = TRUE)

on_databases("64-bit integers are identifiers and categories by value", {
  long <- data.frame(
    id = rep(1:40, each = 3), who = rep(1:3, 40), said = 0L
  )
  long$said <- 1L + (long$id + (long$id %% 5 == long$who)) %% 2L
  in_table(con, long)
  DBI::dbExecute(con, "CREATE TABLE large (id BIGINT, who BIGINT, said BIGINT)")
  DBI::dbExecute(con, paste(
    "INSERT INTO large SELECT id + 9007199254740992, who + 9007199254740992, said + 5000000000",
    "FROM answers" # beyond 2^53 doubles do not distinguish integers
  ))
  y <- ratings(long, case = id, rater = who, rating = said)
  x <- ratings(dplyr::tbl(con, "large"), case = id, rater = who, rating = said)
  expect_equal(x$categories, c("5000000001", "5000000002"))
  expect_equal(x$raters, c("9007199254740993", "9007199254740994", "9007199254740995"))
  expect_equal(sort(tidy(x, "patterns")$n), sort(tidy(y, "patterns")$n))
  expect_equal(fit_raters(x)$rater_accuracy, fit_raters(y)$rater_accuracy, tolerance = 1e-12)
  fetched <- dplyr::collect(x)
  expect_setequal(fetched$cases, paste0("90071992547", 40992 + 1:40))
})

on_databases("ratings of a crowd are fetched", {
  withr::local_seed(1)
  long <- data.frame(
    id = rep(1:200, each = 3), who = paste0("w", rep(1:60, 10)),
    said = sample(c("a", "b"), 600, TRUE)
  )
  table <- in_table(con, long)
  systems <- data.frame(case = 1:200, system = "s", prediction = sample(c("a", "b"), 200, TRUE))
  asked <- in_table(con, systems, "systems")
  expect_message(
    x <- ratings(table, case = id, rater = who, rating = said, systems = asked),
    "600 rows are fetched"
  )
  y <- ratings(long, case = id, rater = who, rating = said, systems = systems)
  expect_s3_class(x, "ratings", exact = TRUE)
  ids <- as.character(1:200)
  expect_equal(category_counts(x)[ids, ], category_counts(y)[ids, ])
})

on_databases("groups of raters may be a column", {
  panel <- hostile_panel()
  long <- lengthen(panel, hostile_raters(panel), c("id", "who", "said"))
  long$group <- ifelse(long$who == "r3", NA, "clinic")
  table <- in_table(con, long)
  x <- ratings(table, case = id, rater = who, rating = said, rater_groups = group)
  y <- ratings(long, case = id, rater = who, rating = said, rater_groups = group)
  expect_equal(x$rater_groups, y$rater_groups)
  x <- ratings(table, case = id, rater = who, rating = said, rater_groups = c(r1 = "u", r3 = "u"))
  expect_equal(unname(x$rater_groups[x$raters %in% c("r1", "r3")]), c("u", "u"))
})

on_databases("lazy tables are ratings to every verb", {
  table <- in_table(con, lehner2015)
  guessed <- dplyr::rename(table, system1 = "system")
  x <- ratings(table, raters = rater1:rater4, systems = system, case = case)
  expect_equal(
    quiet(estimate_accuracy(guessed, interval = "none"))$estimate,
    quiet(estimate_accuracy(x, interval = "none"))$estimate
  )
  expect_warning(
    ratings(dplyr::group_by(table, system), raters = rater1:rater4),
    class = "fallible_warning_grouped"
  )
  expect_snapshot(print(x))
})

test_that("a table that changes is an error", {
  con <- postgres()
  DBI::dbExecute(con, "CREATE SEQUENCE ticks START 290")
  in_table(con, hostile_panel())
  DBI::dbExecute(con, paste(
    "CREATE VIEW growing AS SELECT * FROM answers WHERE substr(id, 6)::int <=",
    "(SELECT nextval('ticks'))"
  ))
  expect_error(
    ratings(dplyr::tbl(con, "growing"), raters = c(r1, r3)),
    "It had 290 rows, and then 291", class = "fallible_error_database"
  )
  x <- ratings(dplyr::tbl(con, "answers"), raters = c(r1, r3), case = id)
  DBI::dbExecute(con, "DELETE FROM answers WHERE id = 'case 7'")
  expect_error(quiet(ground_truth(x)), "300 rows, and then 299",
    class = "fallible_error_database")
  expect_error(dplyr::collect(x), class = "fallible_error_database")
})

test_that("a lost connection is an error", {
  con <- postgres()
  x <- ratings(in_table(con, hostile_panel()), raters = c(r1, r3), case = id)
  DBI::dbExecute(con, paste(
    "CREATE VIEW deadly AS SELECT r1, r3, id, pg_terminate_backend(pg_backend_pid())::text AS r2",
    "FROM answers"
  ))
  deadly <- dplyr::tbl(con, "deadly")
  expect_error(ratings(deadly, raters = c(r1, r2)), class = "fallible_error_database")
  expect_error(quiet(ground_truth(x)), class = "fallible_error_database")
})

test_that("every backend is asked in its own words", {
  skip_unless_extended()
  needs_dbplyr()
  skip_if(utils::packageVersion("dbplyr") >= "2.4", "Later versions word SQL otherwise")
  origin <- function(con) {
    list(
      data = dbplyr::lazy_frame(case = 1L, `x"; drop` = "a", rating = "b", times = 1L, con = con),
      columns = c(case = "case", rater = "x\"; drop", rating = "rating", weight = "times")
    )
  }
  cells <- pivot_columns(c("it's", "r2"), NULL)
  # DuckDB speaks like the first, Spark like the last
  for (kind in c("postgres", "sqlite", "hive")) {
    con <- getExportedValue("dbplyr", paste0("simulate_", kind))()
    cases <- cases_query(origin(con), cells, NULL)
    expect_snapshot(dbplyr::sql_render(long_count_query(cases, c("r1", "r2"))))
    expect_snapshot(dbplyr::sql_render(keyed_cases(cases, c("r1", "r2"))))
  }
})

test_that("DuckDB counts files", {
  skip_if_not(has_duckdb(), "duckdb is not installed")
  con <- duckdb()
  path <- withr::local_tempfile(fileext = ".csv.gz")
  utils::write.csv(lehner2015, gzfile(path), row.names = FALSE)
  files <- dplyr::tbl(con, dbplyr::sql(dbplyr::build_sql(
    "SELECT * FROM read_csv_auto(", path, ")", con = con
  )))
  expect_same_ratings(
    ratings(files, raters = rater1:rater4, systems = system, case = case), lehner_ratings()
  )
})
