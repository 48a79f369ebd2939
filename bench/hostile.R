# Cost of hostile input: seconds and peak memory for each finding (F01, ...), in separate processes.
#
#   Rscript bench/hostile.R [FINDING...]     R_LIBS says which version of the package is measured
#
# Prints a line for each finding: CPU seconds, largest increase of resident memory in MB (Linux
# only), and the result. A child that takes more than `most_seconds`, or more than `most_memory` kB,
# is stopped, and the line says so. Tests assert classes and growth, not these numbers.

folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
sys.source(file.path(folder, "helpers.R"), environment())
helpers <- new.env()
assign("%||%", function(x, y) if (is.null(x)) y else x, helpers)
sys.source(file.path(folder, "..", "tests", "testthat", "helper-archives.R"), helpers)

most_seconds <- 120
most_memory <- 6e6

# Result of a call, in a few words.
outcome <- function(code) {
  tryCatch(
    {
      suppressWarnings(suppressMessages(code))
      "done"
    },
    error = function(cnd) paste("refused:", class(cnd)[[1L]])
  )
}

# Each finding is a list of functions without arguments. Such a function makes the input, and
# returns the function that is measured, whose value is a text of a few words.
findings <- list()

# ---- F01: archives ------------------------------------------------------------------------------

bomb <- function(megabytes) {
  text <- as.raw(rep(0x20, megabytes * 1e6))
  helpers$zip_entry(file.path("samples", "9.json"), c(charToRaw("{}"), text), crc = 0)
}

read_of <- function(path, ...) function() outcome(fallible::read_ratings(path, ...))

findings$F01 <- list(
  "a name that leads out" = function() {
    target <- tempfile(fileext = ".json")
    writeLines("mine", target)
    name <- paste0("samples/", strrep("../", 12), substring(target, 2))
    entries <- c(helpers$inspect_files(), list(helpers$zip_entry(name)))
    path <- do.call(helpers$write_zip, c(tempfile(fileext = ".eval"), entries))
    function() {
      result <- read_of(path)()
      paste0(result, if (readLines(target) == "mine") ", file kept" else ", FILE OVERWRITTEN")
    }
  },
  "300 MB in a zip" = function() {
    entries <- c(helpers$inspect_files(), list(bomb(300)))
    read_of(do.call(helpers$write_zip, c(tempfile(fileext = ".eval"), entries)))
  },
  "300 MB in gzip" = function() {
    path <- tempfile(fileext = ".csv.gz")
    to <- gzfile(path, "wb")
    writeLines(c("case,rater,rating", "1,a,x", "1,b,y"), to)
    for (i in 1:300) writeBin(as.raw(rep(0x0a, 1e6)), to)
    close(to)
    read_of(path)
  },
  "4,000 files in a zip" = function() {
    entries <- helpers$inspect_files(4000)
    read_of(do.call(helpers$write_zip, c(tempfile(fileext = ".eval"), entries)))
  },
  "5,000 records of JSON with a field of their own" = function() {
    path <- tempfile(fileext = ".jsonl")
    writeLines(sprintf("{\"case\":%1$d,\"k%1$d\":1}", 1:5000), path)
    function() {
      options(fallible.file_limits = c(cells = 1e7))
      read_of(path, case = "case", rater = "k1", rating = "k2")()
    }
  }
)

# ---- F02: labels -------------------------------------------------------------------------------

# 0 and -0 are one category.
negative_zero <- function() {
  set.seed(1)
  true <- sample(-1:1, 200, TRUE)
  rate <- function(p) {
    answer <- ifelse(stats::runif(200) < p, true, sample(-1:1, 200, TRUE))
    round(answer * 0.6 + stats::runif(200, -0.05, 0.05))
  }
  data <- data.frame(r1 = rate(0.8), r2 = rate(0.8), r3 = rate(0.8))
  second_half <- sample(200, 100)
  data[second_half, ] <- lapply(data[second_half, ], function(v) v + 0)
  x <- ratings(data, raters = r1:r3)
  paste0(
    toString(x$categories), ": Fleiss' kappa ", format(as.numeric(fleiss_kappa(x)), digits = 3)
  )
}

findings$F02 <- list("-0 and 0" = function() negative_zero)

# ---- F06: links in reports ----------------------------------------------------------------------

findings$F06 <- list(
  "labels that are addresses" = function() {
    set.seed(1)
    answers <- as.data.frame(replicate(5, sample(c("no", "yes"), 60, TRUE)))
    addresses <- c("javascript:alert%28document.domain%29", "https://evil.example/track?me")
    names(answers)[4:5] <- addresses
    file <- tempfile(fileext = ".html")
    function() {
      x <- suppressWarnings(fallible::ratings(answers, raters = 1:3, systems = 4:5))
      result <- outcome(fallible::accuracy_report(x, file))
      page <- paste(readLines(file), collapse = "\n")
      links <- lengths(regmatches(page, gregexpr("href=\"[^#\"][^\"]*\"", page)))
      paste0(result, ", ", links, " links")
    }
  }
)

# ---- F07: the page ------------------------------------------------------------------------------

server <- function() getNamespace("fallible")$explore_server(NULL)

# Reads an upload and makes the input fields of its columns, as a session does.
upload_of <- function(lines, ext = ".csv", warm = TRUE) {
  if (warm) upload_of(c("a,b", "1,2"), warm = FALSE)() # loads packages that any page needs
  path <- tempfile(fileext = ext)
  writeLines(lines, path)
  seen <- new.env()
  function() {
    result <- outcome(shiny::testServer(server(), {
      file <- list(name = "a", size = 1, type = "", datapath = path)
      session$setInputs(source = "file", file = file, layout = "wide")
      outputs <- lapply(c("mapping", "columns", "names"), function(id) {
        tryCatch(output[[id]]$html, error = function(e) NULL)
      })
      seen$told <- c(unlist(told()), if (length(unlist(outputs)) > 0L) {
        paste(round(sum(nchar(unlist(outputs))) / 1e3), "kB of HTML")
      })
    }))
    if (result == "done") gsub("\\s+", " ", substr(tail(seen$told, 1L), 1L, 160L)) else result
  }
}

findings$F07 <- list(
  "a path for systems" = function() {
    path <- tempfile(fileext = ".csv")
    writeLines(c("case,rater,rating", "1,a,x", "1,b,x", "2,a,y", "2,b,x"), path)
    seen <- new.env()
    function() {
      result <- outcome(shiny::testServer(server(), {
        file <- list(name = "a", size = 1, type = "", datapath = path)
        session$setInputs(
          source = "file", file = file, layout = "long", case = "case", rater = "rater",
          rating = "rating", systems = file.path("", "etc", "passwd"), use = 1
        )
        seen$told <- unlist(told())
      }))
      paste0(result,
        if (any(grepl("root:", seen$told, fixed = TRUE))) ", FILE TOLD" else ", nothing told")
    }
  },
  "20,000 columns" = function() {
    upload_of(rep(paste(seq_len(20000), collapse = ","), 4L))
  },
  "200 columns" = function() upload_of(rep(paste(seq_len(200), collapse = ","), 900L)),
  "66,000 rows" = function() {
    upload_of(c("case,rater,rating", paste(1:66000, "a", 1:66000, sep = ",")))
  },
  "13,000 records of JSON" = function() {
    records <- sprintf("{\"case\":%d,\"rater\":\"a\",\"rating\":\"x\"}", 1:13000)
    upload_of(paste0("[", paste(records, collapse = ","), "]"), ".json")
  },
  "5 MB in one field" = function() {
    upload_of(c("case,rater,rating", paste0("1,a,", strrep("x ", 2.4e6))))
  }
)

# ---- F08: many raters ---------------------------------------------------------------------------

# 2000 workers, 50,000 ratings.
large_crowd <- function(n = 5000, n_ratings = 10) {
  set.seed(1)
  long <- unique(data.frame(
    case = rep(1:n, each = n_ratings), rater = paste0("w", sample(2000, n_ratings * n, TRUE))
  ))
  true <- sample(4, n, TRUE)
  right <- stats::runif(nrow(long)) < 0.7
  long$rating <- letters[ifelse(right, true[long$case], sample(4, nrow(long), TRUE))]
  list(
    x = ratings(
      long, case = case, rater = rater, rating = rating,
      systems = data.frame(case = 1:n, system = "s", prediction = letters[true])
    ),
    gold = stats::setNames(letters[true], 1:n)
  )
}

crowd_alt_test <- function() format(alt_test(large_crowd()$x))

crowd_shared_errors <- function() format(shared_errors(large_crowd()$x))

crowd_shared_known <- function() {
  crowd <- large_crowd()
  format(shared_errors(crowd$x, crowd$gold))
}

# Time until a call ends after a time limit, with 16 times the ratings and 70 times the pairs.
crowd_interrupted <- function() {
  x <- large_crowd(20000, 40)$x
  begun <- proc.time()[["elapsed"]]
  setTimeLimit(elapsed = 1, transient = TRUE)
  tryCatch(shared_errors(x), error = identity, interrupt = identity)
  setTimeLimit()
  paste(format(proc.time()[["elapsed"]] - begun - 1, digits = 2), "s after the limit")
}

findings$F08 <- list(
  "alt_test() of 2000 workers" = function() crowd_alt_test,
  "shared_errors() of 2000 workers" = function() crowd_shared_errors,
  "the same with known truth" = function() crowd_shared_known,
  "shared_errors() stopped" = function() crowd_interrupted
)

# ---- Running ------------------------------------------------------------------------------------

child <- function(finding, task) {
  suppressMessages(library(fallible))
  run <- findings[[finding]][[task]]()
  gc()
  reset_peak()
  before <- memory_status("VmRSS")
  start <- processor_clock()
  text <- run()
  seconds <- processor_clock() - start
  grown <- (memory_status("VmHWM") - before) / 1e6
  cat(sprintf("\nMEASURED %8.2f s %8.0f MB  %s\n", seconds, grown, text))
}

measure <- function(finding, task) {
  command <- sprintf(
    "ulimit -v %.0f; timeout %.0f %s %s --child %s %s 2>/dev/null", most_memory, most_seconds,
    shQuote(file.path(R.home("bin"), "Rscript")), shQuote(script_path()), finding, shQuote(task)
  )
  lines <- suppressWarnings(system2("sh", c("-c", shQuote(command)), stdout = TRUE))
  measurement <- sub("^MEASURED", "", grep("^MEASURED", lines, value = TRUE))
  if (length(measurement) == 0L) measurement <- " stopped: took more time or memory than there is"
  cat(sprintf("%s %-48s%s\n", finding, task, measurement))
}

arguments <- commandArgs(TRUE)
if (identical(arguments[1L], "--child")) {
  child(arguments[[2L]], arguments[[3L]])
} else {
  for (finding in if (length(arguments) > 0L) arguments else names(findings)) {
    for (task in names(findings[[finding]])) measure(finding, task)
  }
}
