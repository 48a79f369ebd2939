skip_if_no_reports <- function() {
  skip_if_not_installed("rmarkdown")
  skip_if_not_installed("ggplot2")
  skip_if_not(rmarkdown::pandoc_available(), "no pandoc")
}

# Apostrophes as pandoc writes them.
typeset <- function(words) gsub("'", "\u2019", words, fixed = TRUE)

small_panel <- function(...) {
  withr::local_seed(1)
  x <- simulate_ratings(rater_design(c(0.7, 0.8, 0.8), c(a = 0.9, b = 0.6), 3, n = 80))
  ratings(answers_of(x), raters = rater1:rater3, systems = a:b, ...)
}

words_of <- function(file) {
  page <- paste(readLines(file, encoding = "UTF-8"), collapse = "\n")
  page <- gsub("<script.*?</script>|<style.*?</style>|src=\"data[^\"]*\"", "", page, perl = TRUE)
  gsub("\\s+", " ", gsub("<[^>]+>", " ", page))
}

# What readers who use no R would stumble over.
code_in_words <- "`|\\w\\(\\)|rater_accuracy|f_meas|\\bkap\\b|_accuracy|K-model|tidy|known_truth"

test_that("a report is one file with all that belongs in it, the same every time", {
  skip_if_no_reports()
  x <- quiet(small_panel())
  file <- withr::local_tempfile(fileext = ".html")
  again <- withr::local_tempfile(fileext = ".html")
  withr::local_seed(5)
  before <- .Random.seed
  expect_identical(accuracy_report(x, file, date = "today"), file)
  expect_identical(.Random.seed, before)
  page <- paste(readLines(file), collapse = "\n")
  expect_no_match(page, "(src|href)=\"https?:")
  expect_no_match(page, "MathJax")
  words <- words_of(file)
  estimate <- withr::with_seed(1, quiet(estimate_accuracy(x)))
  for (part in c(
    "today", "What may be said", "And what may not", "What it rests on", "Fleiss", "Lehner",
    "Systems compared", "percentage points", "Balanced accuracy", "What the ratings contradict",
    "seed 1", format(estimate)
  )) {
    expect_match(words, part, fixed = TRUE)
  }
  expect_no_match(words, "Disagreements to read|Not made")
  expect_no_match(words, code_in_words)
  skip_unless_extended()
  accuracy_report(x, again, date = "today")
  expect_identical(unname(tools::md5sum(file)), unname(tools::md5sum(again)))
})

test_that("where models judge, the report has what concerns them", {
  skip_if_no_reports()
  x <- quiet(small_panel(rater_kind = "model"))
  file <- withr::local_tempfile(fileext = ".html")
  accuracy_report(x, file, title = "Judges: \"a\" and b", date = NULL)
  words <- words_of(file)
  for (part in c(
    "ratings cannot test this", "is little evidence of accuracy", "Judges", "Shared errors",
    "independent raters", "alternative annotator test",
    "Disagreements to read", "Calderon"
  )) {
    expect_match(words, part, fixed = TRUE)
  }
  if (nightly_tests()) {
    accuracy_report(x, file, judges = FALSE)
    expect_no_match(words_of(file), "alternative annotator test")
  }
})

test_that("a report says who rates, as it is told", {
  skip_if_no_reports()
  skip_unless_nightly()
  x <- quiet(small_panel())
  file <- withr::local_tempfile(fileext = ".html")
  words <- function(kind) {
    quiet(accuracy_report(x, file, rater_kind = kind))
    words_of(file)
  }
  machines <- words("model")
  for (part in c(
    "Raters are language models, which often err on the same cases", "Shared errors",
    "20 random cases with known truth would replace it",
    "the error of machines as raters of other data",
    format(withr::with_seed(1, quiet(estimate_accuracy(quiet(small_panel(rater_kind = "model"))))))
  )) {
    expect_match(machines, part, fixed = TRUE)
  }
  people <- words(c(rater1 = "crowd", rater2 = "expert", rater3 = "crowd"))
  expect_match(people, "Raters: experts (1), a crowd (2)", fixed = TRUE)
  expect_no_match(people, "Raters are language models|Shared errors")
  expect_match(words(NULL), "who rates doubtful not declared", fixed = TRUE)
  expect_error(accuracy_report(x, file, rater_kind = "robot"), class = "fallible_error_argument")
  expect_error(
    accuracy_report(x, file, rater_kind = c(rater1 = "crowd")), "must name all raters",
    class = "fallible_error_argument"
  )
})

test_that("ratings of any layout have a report", {
  skip_if_no_reports()
  skip_unless_extended()
  file <- withr::local_tempfile(fileext = ".html")
  answers <- data.frame(case = fleiss1971$case, system = "s", prediction = "neurosis")
  x <- quiet(ratings(fleiss1971, case = case, counts = depression:other, systems = answers))
  accuracy_report(x, file)
  expect_match(words_of(file), "up to 6 exchangeable raters", fixed = TRUE)
  expect_no_match(words_of(file), "Not made|The number NULL")
  accuracy_report(quiet(ratings(dawid1979,
    case = case, rater = rater, rating = rating, systems = "A4", repeats = "reruns"
  )), file)
  expect_match(words_of(file), "Fleiss. kappa 0[.]57 0[.]46 to")
  expect_no_match(words_of(file), "Not made|fleiss_kappa")
})

test_that("labels, title and date are text in a report, and neither markup nor code", {
  skip_unless_nightly()
  skip_if_no_reports()
  withr::local_seed(1)
  x <- simulate_ratings(rater_design(c(0.7, 0.8, 0.8), c(a = 0.9, b = 0.6), 3, n = 80))
  answers <- as.data.frame(answers_of(x))
  answers[] <- lapply(answers, function(said) {
    names <- c("<b onclick=\"f()\">one", "<img src=nowhere.png>", "![i](nowhere.png) `r 7*193`")
    names[match(said, x$categories)]
  })
  names(answers)[names(answers) == "a"] <- "<script>alert('s')</script>"
  answers$case <- paste0("<i>", seq_len(nrow(answers)))
  x <- quiet(ratings(
    answers, raters = rater1:rater3, systems = c("<script>alert('s')</script>", "b"), case = case,
    rater_kind = "model"
  ))
  file <- withr::local_tempfile(fileext = ".html")
  accuracy_report(x, file, title = "`r 7*191` <script>t</script>", date = "<u>`r 7*192`</u>")
  page <- paste(readLines(file, encoding = "UTF-8"), collapse = "\n")
  page <- gsub("base64,[^\"]*", "", page) # pictures may hold any digits
  expect_no_match(page, "<script>(alert|t)|<b onclick|<img src=\"?nowhere|<i>|<u>|133[7]|1344|1351")
  for (part in c("`r 7*191` &lt;script&gt;t", "&lt;u&gt;`r 7*192`", "&lt;script&gt;alert",
    "&lt;i&gt;", "&lt;b onclick", "![i](nowhere.png) `r 7*193`")) {
    expect_match(page, part, fixed = TRUE)
  }
})

test_that("markup in words that are data is text", {
  skip_if_no_reports()
  words <- c("_x_", "a_b", "1. one", "a) b", "- a", "-0.3", "x~y~ 2^3^", "> q", "::: d")
  page <- withr::local_tempfile(fileext = ".md")
  plain <- withr::local_tempfile(fileext = ".txt")
  writeLines(paste0(escape_markdown(words), "\n"), page)
  rmarkdown::pandoc_convert(page, "plain", "markdown", plain)
  said <- readLines(plain)
  expect_identical(said[nzchar(said)], words)
})

test_that("what cannot be reported, or written, is said", {
  x <- quiet(small_panel())
  expect_error(accuracy_report(x[, , character()], "x.html"), "test_accuracy",
    class = "fallible_error_system")
  expect_error(accuracy_report(fit_raters(x), "x.html"), "Make one with.*test_accuracy",
    class = "fallible_error_argument")
  skip_if_no_reports()
  expect_error(accuracy_report(1, "x.html"), class = "fallible_error_argument")
  expect_error(accuracy_report(x, "x.odt"), class = "fallible_error_file")
  expect_error(accuracy_report(x, "nowhere/x.html"), class = "fallible_error_file")
  folder <- withr::local_tempfile(fileext = ".html")
  dir.create(folder)
  expect_error(accuracy_report(x, folder), "is a folder", class = "fallible_error_file")
  expect_error(accuracy_report(x, "x.html", seed = -1), class = "fallible_error_argument")
  expect_error(accuracy_report(x, "x.html", titel = "t"), class = "fallible_error_argument")
  skip_if(nzchar(Sys.which("pdflatex")), "LaTeX is here")
  expect_error(accuracy_report(x, "x.pdf"), "pdflatex", class = "fallible_error_package")
})

test_that("where all raters say the same there is a report too, and unused truth is told", {
  skip_if_no_reports()
  skip_unless_extended()
  file <- withr::local_tempfile(fileext = ".html")
  same <- data.frame(r1 = rep("y", 30), r2 = "y", r3 = "y", s = rep(c("y", "n"), 15), t = "y")
  x <- quiet(ratings(
    same, raters = r1:r3, systems = "s", truth = "t", categories = c("y", "n")
  ))
  quiet(accuracy_report(x, file))
  expect_match(words_of(file), "Known truths of these cases were not used", fixed = TRUE)
})

test_that("cases of known truth count everywhere in a report", {
  skip_if_no_reports()
  withr::local_seed(2)
  x <- simulate_ratings(rater_design(c(0.7, 0.8, 0.8), c(a = 0.9, b = 0.6), 3, n = 80))
  file <- withr::local_tempfile(fileext = ".html")
  gold <- truth(x)[1:40, ]
  page <- function(...) {
    quiet(accuracy_report(x, file, rater_kind = "model", ...))
    words_of(file)
  }
  words <- page(
    known_truth = gold_cases(gold, sample = "random"), resampling = list(replicates = 100)
  )
  for (part in c(
    "Cases of known truth", "known cases only", "known truth of 40 of 80 cases", "Angelopoulos",
    "Estimated from 40 cases", typeset(format(shared_errors(x, known_truth = gold))),
    "Accuracy of systems", "accuracy if independent", "Share of right ratings among"
  )) {
    expect_match(words, part, fixed = TRUE)
  }
  expect_no_match(words, "No case has a known truth|cannot test|same assumption")
  expect_no_match(words, code_in_words)
  expect_error(
    accuracy_report(x, file, gold_sample = "random"), class = "fallible_error_argument"
  )
  expect_error(
    accuracy_report(x, file, resampling = list(clusters = 1)), class = "fallible_error_argument"
  )
  if (nightly_tests()) { # known, and not to be used
    expect_match(page(), typeset(format(shared_errors(x, known_truth = FALSE))), fixed = TRUE)
  }
})

test_that("the template asks nothing that a user could not", {
  skeleton <- system.file(
    "rmarkdown", "templates", "accuracy-report", "skeleton", "skeleton.Rmd", package = "fallible"
  )
  expect_no_match(readLines(skeleton, encoding = "UTF-8"), "fallible:::", fixed = TRUE)
})

test_that("cases to read are those on which raters are divided, with what was said", {
  answers <- data.frame(
    case = c("a", "b", "c", "d"), r1 = c("y", "y", "n", "n"), r2 = c("y", "n", "n", NA),
    r3 = c("y", "n", "y", NA), r4 = c("y", "y", "y", NA), s = c("y", "n", "n", "y")
  )
  x <- quiet(ratings(answers, case = case, raters = r1:r4, systems = s))
  read <- disputed_cases(x)
  expect_identical(read$case, c("b", "c"))
  expect_identical(read$.votes, c("n: 2, y: 2", "n: 2, y: 2"))
  expect_identical(as.list(read[1, -(1:4)]), as.list(answers[2, -1]))
  labels <- predict(quiet(ground_truth(x)))
  expect_identical(read$.fitted, labels$category[2:3])
  expect_identical(disputed_cases(x, 1), read[1, ])
  counted <- quiet(ratings(fleiss1971, case = case, counts = depression:other))
  expect_named(disputed_cases(counted), c("case", ".fitted", ".probability", ".votes"))
  expect_error(disputed_cases(x, 0), class = "fallible_error_argument")
  # Reruns of a rater are one vote; a tie is none.
  rerun <- data.frame(
    case = rep(c("a", "b"), c(5, 4)), rater = c("r1", "r1", "r1", "r2", "s", "r1", "r1", "r2", "s"),
    rating = c("y", "y", "n", "n", "y", "y", "n", "n", "n")
  )
  votes <- disputed_cases(quiet(ratings(rerun,
    case = case, rater = rater, rating = rating, systems = "s", repeats = "reruns"
  )))
  expect_named(votes, c("case", ".fitted", ".probability", ".votes", "r1", "r2", "s"))
  expect_identical(votes$r1, c("y", NA)[match(votes$case, c("a", "b"))])
  # A rater who is nearly always right weighs more than two who guess.
  crowd <- withr::with_seed(1, simulate_ratings(rater_design(c(0.95, 0.9, 0.4, 0.4), NULL, 3, 300)))
  some <- disputed_cases(crowd, 400)
  expect_false(is.unsorted(some$.probability))
  labels <- predict(ground_truth(crowd))
  expect_identical(some$.fitted, labels$category[match(some$case, labels$case)])
  # For a fit, labels are those of its model.
  fit <- quiet(fit_raters(crowd, dawid_skene()))
  by_fit <- disputed_cases(fit, 400)
  labels <- predict(fit)
  expect_equal(by_fit$.probability, labels$probability[match(by_fit$case, labels$case)])
  expect_false(is.unsorted(by_fit$.probability))
  # The order of the systems is that of the votes.
  none <- disputed_cases(ratings(cbind(a = rep(1:2, each = 10), b = rep(1:2, 10))))
  expect_true(all(is.na(none$.probability)))
  expect_identical(nrow(none), 10L)
})

test_that("cases with known truth are not to be read again", {
  x <- withr::with_seed(1, simulate_ratings(rater_design(rep(0.7, 4), NULL, 3, 100)))
  known <- truth(x)[1:40, ]
  all <- disputed_cases(x, Inf)
  open <- disputed_cases(x, Inf, known_truth = known)
  expect_setequal(open$case, setdiff(all$case, known$case))
  labels <- predict(quiet(ground_truth(x, known_truth = known)))
  expect_equal(open$.probability, labels$probability[match(open$case, labels$case)])
  # A fit knows its cases.
  fit <- fit_raters(x, dawid_skene(), known_truth = known)
  expect_setequal(disputed_cases(fit, Inf)$case, open$case)
})

test_that("tables of a document hold words and numbers, whatever the words", {
  skip_if_not_installed("knitr")
  lines <- as_markdown(data.frame(`a|b` = c("<i>", "x|y"), n = c(0.12345, 2), check.names = FALSE))
  expect_identical(gsub(" ", "", lines), c(
    "|a&#124;b|n|", "|:--------|-----:|", "|&#60;i>|0.123|", "|x&#124;y|2.000|"
  ))
  expect_identical(as_markdown(NA), NA_character_)
  expect_identical(as_markdown("\xff<"), "&#60;ff>&#60;")
})

# ---- Links ------------------------------------------------------------------------------------

addresses <- c(
  "javascript:alert%28document.domain%29", "https://evil.example/track?me", "www.evil.example",
  "mailto:a@evil.example", "<https://evil.example>", "[x](https://evil.example)",
  "data:text/html,x", "[Method]", "[x]: https://evil.example", "doi:10.1/x", "http&#58;//evil.example", "a@evil.example"
)

test_that("labels are no links, whatever reads the document", {
  skip_if_no_reports()
  page <- withr::local_tempfile(fileext = ".md")
  html <- withr::local_tempfile(fileext = ".html")
  # A label by itself, in a sentence and in a cell of a table
  table <- as_markdown(data.frame(a = addresses))
  text <- c("# Method", "", rbind(as_markdown(addresses), ""), table)
  writeLines(c(text, "", paste(as_markdown(addresses), "is 80% accurate.\n")), page)
  for (reader in c("markdown", "markdown+autolink_bare_uris", "gfm", "commonmark_x")) {
    rmarkdown::pandoc_convert(page, "html", reader, html)
    made <- paste(readLines(html), collapse = "\n")
    expect_no_match(made, "href|<a |<img", info = reader)
  }
  plain <- withr::local_tempfile(fileext = ".txt")
  writeLines(rbind(as_markdown(addresses), ""), page)
  rmarkdown::pandoc_convert(page, "plain", "markdown", plain)
  said <- readLines(plain)
  expect_identical(said[nzchar(said)], addresses)
})

test_that("a report has no link but to itself", {
  skip_if_no_reports()
  withr::local_seed(1)
  x <- simulate_ratings(rater_design(c(0.7, 0.8, 0.8), c(a = 0.9, b = 0.6), 3, n = 80))
  answers <- as.data.frame(answers_of(x))
  answers[] <- lapply(answers, function(said) addresses[1:3][match(said, x$categories)])
  names(answers) <- c(addresses[4:5], "r", addresses[1:2])[seq_along(answers)]
  x <- quiet(ratings(answers, raters = 1:3, systems = 4:5))
  file <- withr::local_tempfile(fileext = ".html")
  accuracy_report(x, file, title = addresses[[1L]], date = addresses[[2L]])
  page <- paste(readLines(file, encoding = "UTF-8"), collapse = "\n")
  found <- regmatches(page, gregexpr("(href|action|xlink:href|src)=\"[^\"]*\"", page))[[1L]]
  expect_identical(grep("=\"(data:|#)", found, value = TRUE, invert = TRUE), character())
  expect_match(page, "javascript(:|&#58;)alert")
})

test_that("a report in Word says what that in HTML says", {
  skip_if_no_reports()
  x <- quiet(small_panel())
  file <- withr::local_tempfile(fileext = ".docx")
  expect_identical(quiet(accuracy_report(x, file)), file)
  plain <- withr::local_tempfile(fileext = ".txt")
  rmarkdown::pandoc_convert(
    normalizePath(file), "plain", "docx", plain, options = "--wrap=none"
  )
  words <- paste(readLines(plain, encoding = "UTF-8"), collapse = " ")
  estimate <- withr::with_seed(1, quiet(estimate_accuracy(x)))
  for (part in c("What may be said", "Fleiss", "doi:10.2307/2346806", format(estimate))) {
    expect_match(words, part, fixed = TRUE)
  }
  expect_no_match(words, code_in_words)
})

test_that("words without code are left as they are", {
  expect_identical(
    plain_words(c("Report intervals. `plan_cases()` says how many.", "a 0.5, b", NA)),
    c("Report intervals.", "a 0.5, b", "")
  )
  advice <- c(
    "-1 often means that a rater abstained: use `ratings(abstain = -1)`",
    "Merge them. If it is a code for a missing answer, use `na` of `ratings()`.",
    "Equal: a, A, which `clean_labels` of `ratings()` merges; rare: b",
    "If programs rate, declare it by `rater_kind`: intervals are wider.",
    "Cannot be used, because `f(x, y = 0.5)` is missing. Next: `g()`."
  )
  expect_identical(plain_words(advice), c(
    "-1 often means that a rater abstained", "Merge them.", "Equal: a, A, rare: b",
    "If programs rate, intervals are wider.", "Cannot be used. Next."
  ))
})

test_that("of cases with many answers a screen is printed", {
  x <- withr::with_seed(1, simulate_ratings(rater_design(rep(0.6, 20), c(a = 0.7), 3, 30)))
  read <- disputed_cases(x, 3)
  expect_identical(ncol(read), 25L)
  printed <- capture.output(print(read))
  expect_lt(length(printed), 12L)
  expect_match(printed, "Not shown: 21 columns with answers", all = FALSE)
})

test_that("disputed cases of more than 20 raters have columns for the systems only", {
  x <- withr::with_seed(1, simulate_ratings(rater_design(rep(0.6, 21), c(a = 0.7), 3, 30)))
  expect_named(disputed_cases(x, 3), c("case", ".fitted", ".probability", ".votes", "a"))
})

test_that("a report on a crowd lists the 20 raters with the most cases", {
  skip_if_no_reports()
  crowd <- withr::with_seed(3, as.data.frame(
    simulate_ratings(rater_design(rep(0.8, 25), NULL, 2, n = 60))
  ))
  # Rater number k has rated about k * 2 cases.
  crowd <- crowd[as.integer(crowd$case) <= 8 + 2 * as.integer(factor(crowd$rater)), ]
  systems <- data.frame(case = 1:60, system = "s", prediction = rep(c("1", "2"), 30))
  x <- quiet(ratings(crowd, case = case, rater = rater, rating = rating, systems = systems))
  file <- withr::local_tempfile(fileext = ".html")
  quiet(accuracy_report(x, file))
  words <- words_of(file)
  expect_match(words, "The table has the 20 of 25 raters with the most cases.", fixed = TRUE)
  n_ratings <- table(crowd$rater)
  listed <- vapply(names(n_ratings), function(rater) grepl(paste0("\\b", rater, "\\b"), words), NA)
  expect_identical(sum(listed), 20L)
  expect_gte(min(n_ratings[listed]), max(n_ratings[!listed]))
})

test_that("a report of two categories has a sensitivity, and nothing of constant systems", {
  skip_if_no_reports()
  withr::local_seed(2)
  truth <- sample(c("negative", "positive"), 90, TRUE)
  rated <- function(p) ifelse(stats::runif(90) < p, truth, ifelse(truth == "positive", "negative", "positive"))
  wide <- data.frame(
    site = rep(c("Oslo", "Bergen"), 45), r1 = rated(0.9), r2 = rated(0.85), r3 = rated(0.8),
    ai = rated(0.9), never = "negative"
  )
  x <- quiet(ratings(wide, raters = r1:r3, systems = c(ai, never), covariates = site))
  x$rows <- "ratings" # as in data with a row per rating
  file <- withr::local_tempfile(fileext = ".html")
  quiet(accuracy_report(x, file, positive = "negative", by = site))
  page <- paste(readLines(file, encoding = "UTF-8"), collapse = "\n")
  pictures <- regmatches(page, gregexpr("<img[^>]*>", page))[[1L]]
  expect_gt(length(pictures), 0L)
  expect_match(pictures, "alt=\"Accuracy of systems [^\"]+\"")
  words <- words_of(file)
  expect_match(words, "share of cases of .negative. that a system finds")
  expect_match(words, "ai Sensitivity 0[.]", perl = TRUE)
  expect_match(words, "Without: never", fixed = TRUE)
  expect_no_match(words, "never (Sensitivity|Kappa)")
  expect_match(words, "Bergen ai \\d+% .*Oslo never \\d+%.*Groups are not compared")
  expect_match(words, "Group Oslo: On 45 cases.*In each group: Group Bergen: On the same 45 cases")
  expect_match(pictures, "in each group, in the table above", all = FALSE)
  expect_match(words, "system accuracy 90% interval cases")
  expect_match(words, "copied raters or systems good", fixed = TRUE)
  # A warning of a group, without its hint on functions
  expect_match(words, "groups have warnings[.] +(Bergen|Oslo).*: .*as wide as [0-9.]+[.]")
  expect_match(words, "Groups .*Bergen ai .*The number, all groups pooled .*Of all groups pooled")
  expect_no_match(words, "The number, all groups pooled .*groups have warnings")
  expect_error(accuracy_report(x, file, positive = "maybe"), class = "fallible_error_argument")
  three <- wide
  three[3:90 %% 3 == 0, 2:5] <- "unclear"
  three <- quiet(ratings(three, raters = r1:r3, systems = ai))
  quiet(accuracy_report(three, file, positive = "unclear"))
  expect_match(words_of(file), "share of cases of .negative. or .positive. that get no answer .unclear.")
  expect_match(words_of(file), "ai Specificity [01][.]")
  # Random cases with known truth, cleaned labels, and a reference
  known <- data.frame(case = 1:90, truth = truth)[1:60, ]
  x <- quiet(ratings(wide, raters = r1:r3, systems = c(ai, never), rater_kind = "model",
    clean_labels = TRUE))
  quiet(accuracy_report(x, file, known_truth = known, gold_sample = "random", reference = "never"))
  words <- words_of(file)
  expect_match(words, "Labels that differ only in capitals and blanks were merged")
  expect_match(words, "who right 90% interval known cases r1 \\d+% \\d+% to \\d+% 60")
  expect_no_match(words, "20 random cases")
  expect_match(words, "Systems compared .*(ai|never) is estimated to be more accurate than (ai|never)")
  expect_error(accuracy_report(x, file, reference = "other"), class = "fallible_error_argument")
  said <- capture_warnings(suppressMessages(accuracy_report(x, file, known_truth = known)))
  expect_match(said, "because\\s+`gold_sample` is missing", all = FALSE)
  skip_unless_extended()
  quiet(accuracy_report(list(first = x, second = x[, , "ai"]), file))
  words <- words_of(file)
  expect_match(words, "All variables .*first ai \\d+%.*second ai \\d+%")
  expect_length(gregexpr("What may be said", words)[[1L]], 2L)
  # Whole messages or none.
  half <- wide
  half$ai[1:45] <- NA
  half$never <- replace(half$ai, 1:90, c(wide$ai[1:45], rep(NA, 45)))
  y <- quiet(ratings(half, raters = r1:r3, systems = c(ai, never)))
  quiet(accuracy_report(y, file, judges = TRUE))
  expect_match(words_of(file), "Not made: No case was answered by all of these systems and rated by a rater. ", fixed = TRUE)
  heavy <- quiet(ratings(cbind(wide, w = 0.5), raters = r1:r3, systems = ai, weights = w))
  quiet(accuracy_report(heavy, file, judges = TRUE))
  expect_match(words_of(file), "Not made, as these ratings do not allow it. ", fixed = TRUE)
  expect_match(words_of(file), "2 categories. Rows have weights that are not counts", fixed = TRUE)
  # Word, and one judge with a calibration sample.
  word <- withr::local_tempfile(fileext = ".docx")
  quiet(accuracy_report(x, word))
  document <- utils::unzip(word, "word/document.xml", exdir = withr::local_tempdir())
  expect_match(paste(readLines(document, warn = FALSE), collapse = ""), "descr=\"Accuracy of systems")
  one <- quiet(ratings(wide, raters = r1, systems = c(app = "positive")))
  counts <- matrix(c(45, 5, 4, 46), 2, byrow = TRUE, dimnames = list(one$categories, one$categories))
  expect_error(accuracy_report(one, file), class = "fallible_error_raters")
  quiet(accuracy_report(one, file, known_raters = list(r1 = counts)))
  expect_match(words_of(file), "corrected by the errors that the rater makes on a calibration sample")
})

test_that("a report of several variables uses the known truth and one level for all intervals", {
  skip_if_no_reports()
  skip_unless_extended()
  withr::local_seed(3)
  design <- rater_design(c(0.7, 0.8, 0.8), c(a = 0.9), 3, n = 60)
  codes <- list(topic = simulate_ratings(design), tone = simulate_ratings(design))
  file <- withr::local_tempfile(fileext = ".html")
  words <- function(known_truth) {
    quiet(accuracy_report(codes, file, known_truth = known_truth, gold_sample = "random",
      conf_level = 0.99, rater_kind = "model"))
    words_of(file)
  }
  gold <- list(topic = truth(codes$topic)[1:40, ], tone = truth(codes$tone)[1:30, ])
  both <- words(gold)
  expect_match(both, "known truth of 40 of 60 cases", fixed = TRUE)
  expect_match(both, "known truth of 30 of 60 cases", fixed = TRUE)
  expect_null(getOption("fallible.conf_level"))
  limits <- function(table) {
    paste(format_decimals(c(table$conf.low, table$conf.high), 2L), collapse = " to ")
  }
  kappa <- tidy(agreement(codes$topic, "fleiss_kappa", conf_level = 0.99))
  pair <- tidy(shared_errors(codes$topic, known_truth = gold$topic, conf_level = 0.99))[1L, ]
  expect_match(both, limits(kappa), fixed = TRUE)
  expect_match(both, limits(pair), fixed = TRUE)
  expect_match(words(gold["topic"]), "known truth of 40 of 60 cases.*without known truth")
})

test_that("the report uses the truths of ratings() in all sections if known_truth is TRUE", {
  skip_if_not_installed("rmarkdown")
  skip_if_not(rmarkdown::pandoc_available())
  set.seed(11)
  truth <- sample(c("no", "yes"), 90, TRUE)
  rate <- function(p) ifelse(runif(90) < p, truth, ifelse(truth == "yes", "no", "yes"))
  data <- data.frame(r1 = rate(0.75), r2 = rate(0.8), r3 = rate(0.7), s = rate(0.85))
  data$truth <- ifelse(seq_len(90) <= 40, truth, NA)
  x <- ratings(data, raters = r1:r3, systems = s, truth = truth, rater_kind = "model")
  file <- withr::local_tempfile(fileext = ".html")
  quiet(accuracy_report(x, file, known_truth = TRUE, gold_sample = "random",
    resampling = list(replicates = 50)))
  expect_match(
    words_of(file), typeset(format(quiet(shared_errors(x, known_truth = TRUE)))), fixed = TRUE
  )
})

test_that("reports leave out ratios with very wide intervals", {
  skip_if_no_reports()
  withr::local_seed(4)
  truth <- sample(0:1, 60, TRUE, c(0.8, 0.2))
  rate <- function(p) ifelse(stats::runif(60) < p, truth, 1 - truth)
  data <- data.frame(
    j1 = rate(0.8), j2 = rate(0.8), j3 = rate(0.85), v1 = rate(0.95), v2 = rate(0.8)
  )
  file <- withr::local_tempfile(fileext = ".html")
  quiet(accuracy_report(ratings(data, raters = j1:j3, systems = v1:v2), file))
  words <- words_of(file)
  expect_match(words, "Left out, because the upper limit .*: Diagnostic odds ratio of v1[.]")
  expect_length(gregexpr("v[12] Diagnostic odds ratio", words)[[1]], 1L)
})

test_that("pictures of reports are legible on phones, and columns are as wide as their text", {
  template <- readLines(system.file(
    "rmarkdown", "templates", "accuracy-report", "skeleton", "skeleton.Rmd", package = "fallible"
  ))
  widths <- grep("fig[.]width", template, value = TRUE)
  width <- as.numeric(sub(".*fig[.]width = ([0-9.]+).*", "\\1", widths))
  expect_lte(max(width), 5.5)
  expect_true("col { width: auto !important }" %in% template)
})

test_that("accuracies of raters in a report use the order of ordered categories", {
  skip_if_no_reports()
  withr::local_seed(1)
  truth <- sample(4, 150, TRUE)
  scale <- function(sd) pmin(pmax(round(truth + stats::rnorm(150, 0, sd)), 1), 4)
  data <- data.frame(a = scale(0.5), b = scale(0.6), c = scale(0.8), s = scale(0.5))
  report <- function(ordered) {
    file <- withr::local_tempfile(fileext = ".html")
    x <- ratings(data, raters = a:c, systems = s, ordered = ordered, rater_kind = "expert")
    quiet(accuracy_report(x, file))
    words <- words_of(file)
    model <- rater_model("rater", if (ordered) "ordinal" else "uniform")
    fit <- tidy(fit_raters(x, model))[1:3, ]
    expect_match(words, paste("a", whole_percent(fit$estimate[[1]]), ".*b",
      whole_percent(fit$estimate[[2]]), ".*c", whole_percent(fit$estimate[[3]])))
    words
  }
  expect_match(report(TRUE), "Errors follow the order of the categories")
  expect_no_match(report(FALSE), "order of the categories")
})

test_that("a report on people as judges has intervals, winning rates and measures of near misses", {
  skip_if_no_reports()
  withr::local_seed(4)
  truth <- sample(4, 120, TRUE)
  answer <- function(p) {
    as.integer(ifelse(runif(120) < p, truth, pmin(4, pmax(1, truth + sample(c(-1, 1), 120, TRUE)))))
  }
  data <- data.frame(a = answer(0.7), b = answer(0.7), c = answer(0.7), llm = answer(0.8))
  x <- ratings(data, raters = a:c, systems = llm, ordered = TRUE, rater_kind = "expert")
  file <- withr::local_tempfile(fileext = ".html")
  quiet(accuracy_report(x, file, judges = TRUE))
  words <- words_of(file)
  expect_no_match(words, "do share errors")
  expect_match(words, "who accuracy if independent 90% interval")
  expect_match(words, "share of judges it wins against", fixed = TRUE)
  expect_match(words, "Accuracy within one step", fixed = TRUE)
  expect_match(words, "Kappa, quadratic weights", fixed = TRUE)
  expect_match(words, "Matthews. correlation")
  expect_no_match(words, "Brier") # there are no scores
})
