#' A report of accuracy, ready to be sent
#'
#' Renders a page about the systems of `x` for readers who use no R: the number, its interval, the
#' assumption that it rests on with both its ends, sentences that may be copied and such as may not,
#' raters and their agreement, systems compared in words, metrics, checks, methods with references,
#' versions and seed. Where raters are language models, also the errors they share, how many
#' independent ones they are equivalent to, the alternative annotator test, and the cases to read.
#' Cases of known truth count wherever they can.
#'
#' A page in HTML is one file without links to the network; Word can be edited. Its source is a
#' template, `Accuracy report`, in the list of new R Markdown files of RStudio, or by
#' `rmarkdown::draft(template = "accuracy-report", package = "fallible")`. Quarto renders R Markdown
#' files too, but this one has not been tried with it.
#'
#' @param x A [ratings()] object with systems.
#' @param file Where to write: a path that ends in `.html`, in `.docx` for Word or, where LaTeX is
#'   installed, in `.pdf`.
#' @param title The title of the report.
#' @param judges Shall it have what concerns language models that judge? By default, if
#'   `rater_kind` says that raters are machines.
#' @param rater_kind Who rates, as in [ratings()], which decides the intervals; `NULL` for what the
#'   ratings say. Where it is not declared, the report says so.
#' @param seed Seed of all that is drawn at random. Two reports in HTML with the same seed and date
#'   are equal byte for byte.
#' @param date The date that the report carries, a string or a [Date]; `NULL` for none.
#' @param known_truth,gold_sample Cases whose truth is known, and how they were chosen, as in
#'   [estimate_accuracy()]; `known_truth = TRUE` for the truth that `x` holds.
#' @param conf_level Confidence level, in (0, 1).
#' @param ... Not used; catches misspelt arguments.
#' @return The path of the report, invisibly. Without \pkg{rmarkdown}, pandoc or, for PDF, LaTeX, an
#'   error of class `fallible_error_package`.
#' @family systems
#' @seealso [may_say()] for the sentences alone; [data_check()], [alt_test()].
#' @examplesIf requireNamespace("rmarkdown", quietly = TRUE) && rmarkdown::pandoc_available()
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' accuracy_report(x, tempfile(fileext = ".html"))
#' @export
accuracy_report <- function(x, file = "accuracy-report.html", ...,
                            title = "Accuracy without known truth", judges = NULL, seed = 1,
                            date = Sys.Date(), conf_level = default_conf_level(),
                            known_truth = NULL, gold_sample = NULL, rater_kind = NULL) {
  check_given()
  check_dots_empty(...)
  call <- rlang::current_env()
  check_report_input(x, call)
  if (!is.null(rater_kind)) {
    x$rater_kind <- settle_kinds(check_rater_kind(rater_kind, call), x, call)
  }
  settle_gold(known_truth, gold_sample, x, call) # refused before pages are made
  format <- report_format(file, call)
  check_string(title, "title")
  if (!is.null(judges)) check_flag(judges, "judges")
  seed <- check_count(seed, "seed", 0L)
  conf_level <- check_level(conf_level)
  check_date(date, call)
  folder <- withr::local_tempdir()
  skeleton <- system.file(
    "rmarkdown", "templates", "accuracy-report", "skeleton", "skeleton.Rmd", package = "fallible"
  )
  page <- file.path(folder, "report.Rmd")
  text <- readLines(skeleton, encoding = "UTF-8")
  text[startsWith(text, "title: ")] <- paste0(
    "title: ", encodeString(escape_markdown(title), quote = "\"")
  )
  writeLines(text, page, useBytes = TRUE)
  withr::local_options(knitr.duplicate.label = "allow") # a page may be made while another is
  made <- withr::with_preserve_seed(rmarkdown::render(
    page, format, quiet = TRUE, envir = new.env(parent = globalenv()),
    params = list(
      x = x, judges = judges %||% (panel_kind(x) == "machines"), seed = seed,
      conf_level = conf_level, date = if (!is.null(date)) format(date),
      known_truth = known_truth, gold_sample = gold_sample
    )
  ))
  put_report(made, file, call)
  invisible(file)
}

check_date <- function(date, call) {
  ok <- is.null(date) || (is.character(date) || inherits(date, c("Date", "POSIXt"))) &&
    length(date) == 1L && !is.na(date)
  if (!ok) {
    abort_argument("date", "must be a string, a {.cls Date} or NULL.", not = date, call = call)
  }
}

put_report <- function(made, file, call) {
  put <- replace_file(
    file, function(beside) file.copy(made, beside, overwrite = TRUE),
    function(beside) identical(file_bytes(beside), file_bytes(made))
  )
  if (!put) {
    abort_fallible("file", "{.file {file}} cannot be written.",
      i = "The folder must be writable and have space for a second copy.",
      path = file, call = call)
  }
}

check_report_input <- function(x, call) {
  check_several_raters(check_ratings(x, call), call)
  if (length(x$systems) == 0L) {
    abort_fallible("system", "A report of accuracy needs systems.",
      i = "Give {.arg systems} to {.fun ratings}.", system = character(), call = call)
  }
}

# What is said without R: clauses that name arguments or functions are left out.
plain_words <- function(words) {
  clause <- "[^.:;,\n]*(`|\\w\\(\\))[^.:;,\n]*[.:;,]?"
  out <- trimws(gsub("[ \t]+", " ", gsub(clause, "", words)))
  ifelse(is.na(out), "", out)
}

# The checks of data_check(), for readers who use no R.
checks_in_words <- function(check) {
  table <- tidy(check)
  verdict <- c(ok = "good", doubt = "doubtful", problem = "a problem")
  data.frame(
    what = table$check, verdict = unname(verdict[table$status]),
    found = gsub("^[. ]+|(?<=[.!?]).$|[. ]+$", "", perl = TRUE, paste(
      plain_words(table$found), plain_words(table$advice), sep = ". "
    ))
  )
}

# The format of R Markdown for a file of that name.
report_format <- function(file, call) {
  check_string(file, "file", call)
  extension <- tolower(tools::file_ext(file))
  if (!extension %in% c("html", "docx", "pdf") || !dir.exists(dirname(file)) || dir.exists(file)) {
    abort_fallible("file", "{.arg file} must be a path that ends in {.val .html}, {.val .docx} or
                            {.val .pdf}, in a folder that exists.",
      x = if (dir.exists(file)) "{.file {file}} is a folder." else "It is {describe(file)}.",
      path = file, call = call)
  }
  for (package in c("rmarkdown", "knitr", "ggplot2")) {
    check_installed(package, "to write reports", call = call)
  }
  if (!rmarkdown::pandoc_available()) abort_program("pandoc", call)
  if (extension == "pdf" && !nzchar(Sys.which("pdflatex"))) abort_program("pdflatex", call)
  no_links <- "-autolink_bare_uris"
  switch(extension,
    html = NULL, docx = rmarkdown::word_document(md_extensions = no_links),
    pdf = rmarkdown::pdf_document(md_extensions = no_links)
  )
}

abort_program <- function(program, call) {
  abort_fallible("package",
    "The program {.code {program}} is needed to write this report, and it is not found.",
    i = if (program == "pdflatex") "Write {.val .html} or {.val .docx}, or install LaTeX.",
    package = program, call = call)
}

#' Sentences about accuracy
#'
#' What may be said of an estimate, with its interval, its range and what it rests on, and what may
#' not, though it is often said; and a paragraph on the method.
#'
#' @param x An [estimate_accuracy()] result.
#' @param what `"sentences"` or `"methods"`.
#' @return A tibble with columns `system` (`NA` where a sentence is about all), `may` (may it be
#'   said?) and `sentence`; for `"methods"`, a string.
#' @family systems
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' estimate <- estimate_accuracy(x, interval = "none")
#' may_say(estimate)
#' may_say(estimate, "methods")
#' @export
may_say <- function(x, what = c("sentences", "methods")) {
  check_given()
  what <- check_choice(what, c("sentences", "methods"), "what")
  check_class(x, "accuracy_estimate", "x", "Make one with {.fun estimate_accuracy}.")
  if (what == "methods") say_methods(x) else say_sentences(x)
}

say_sentences <- function(estimate) {
  table <- tidy(estimate)
  words <- format(estimate)
  known <- !is.na(table$estimate)
  told <- glance(estimate)
  n <- vapply(table$n, count_noun, "", "case")
  gold <- cases_of_known_truth(estimate)
  cases <- nrow(estimate$fit$x)
  may <- ifelse(
    known,
    paste0(
      "On ", n, " judged by ", count_noun(told$raters, "rater"), " ", truth_words(estimate),
      ", the accuracy of ", table$system, " is estimated at ", words, ".",
      ifelse(gold == cases | rests_on_gold(estimate), "", both_ends_words(table))
    ),
    paste0("These ratings do not say how accurate ", table$system, " is.")
  )
  may_not <- c(
    ifelse(known, paste0(table$system, " is ", whole_percent(table$estimate), " accurate."),
      paste0(table$system, " is no better than chance.")),
    if (gold < cases) {
      paste0("The systems were validated against the truth", if (gold > 0L) " of all cases", ".")
    },
    if (nrow(table) > 1L) "The system with the highest number is the best one.",
    "The same accuracy holds for other cases."
  )
  rows <- length(may_not) - nrow(table)
  columns_tibble(
    system = c(table$system, table$system, rep(NA, rows)),
    may = rep(c(TRUE, FALSE), c(nrow(table), length(may_not))), sentence = c(may, may_not)
  )
}

# How many cases of an estimate had a known truth: those that measure, or that a fit was given.
cases_of_known_truth <- function(estimate) {
  if (!is.null(estimate$gold)) {
    return(length(estimate$gold$case))
  }
  fit <- estimate$fit
  sum(known_patterns(fit)[pattern_of_case(fit$x)])
}

truth_words <- function(estimate) {
  gold <- cases_of_known_truth(estimate)
  if (gold == 0L) {
    return("without known truth")
  }
  chosen <- switch(estimate$gold$sample %||% "none",
    random = " (a random sample)", none = "", " (chosen with known probabilities)"
  )
  cases <- nrow(estimate$fit$x)
  if (gold == cases) chosen <- ""
  paste0("with known truth of ", number(gold), " of ", count_noun(cases, "case"), chosen)
}

whole_percent <- function(share) paste0(formatC(100 * share, format = "f", digits = 0L), "%")

# Both ends of what the ratings cannot tell, where they are known.
both_ends_words <- function(table) {
  low <- whole_percent(pmin(table$shared, table$independent))
  high <- whole_percent(pmax(table$shared, table$independent))
  ifelse(is.na(table$shared) | is.na(table$independent), "", paste0(
    " What its errors have in common with those of the raters cannot be seen in ratings; ",
    ifelse(low == high, paste("whatever it is, the estimate is", low),
      paste("depending on that, the estimate is between", low, "and", high)),
    "."
  ))
}

say_methods <- function(estimate) {
  x <- estimate$fit$x
  told <- glance(estimate)
  paste0(
    "Accuracy was estimated from ", count_noun(sum(pattern_lengths(x)[pattern_of_case(x)]),
      "rating"), " of ", count_noun(nrow(x), "case"), " by ",
    count_noun(length(x$raters), "rater"), " in ",
    count_noun(length(x$categories), "category", "categories"), ", with the method \"",
    told$method, "\" of the R package fallible",
    if (has_interval(estimate)) {
      paste0(" and its interval \"", told$interval, "\" at level ", format(told$conf_level))
    },
    ", ", truth_words(estimate), ". The idea, that the agreement of fallible raters gives their ",
    "accuracy and so that of systems, is of Lehner (2015); models whose confusion matrices are ",
    "free go back to Dawid and Skene (1979). ", percent(told$agreement),
    " of pairs of ratings agree."
  )
}

#' Cases to read
#'
#' The cases about which raters say least, with all that was said about them: the least sure labels
#' are first, where these are labels of the average (see [ground_truth()]).
#'
#' @param x A [ratings()] object.
#' @param most How many cases at most.
#' @return A tibble with the columns `case`, `.fitted`, its label, and `.probability`, how probable
#'   that is, and one for each rater (none if they are exchangeable or repeat cases) and system; the
#'   least probable label is first. Labels that nothing follows for are `NA`; the case with the
#'   smallest share of its most frequent category is first then. Cases on which all agree, or with
#'   fewer than two ratings, are left out.
#' @family data
#' @examples
#' disputed_cases(ratings(lehner2015, raters = rater1:rater4, systems = system, case = case), 3)
#' @export
disputed_cases <- function(x, most = 15L) {
  check_given()
  x <- as_ratings_of_several(x)
  most <- check_count(most, "most", 1L)
  n <- category_counts(x)
  total <- rowSums(n)
  share <- ifelse(total >= 2, apply(n, 1L, max) / total, 1)
  labels <- suppressWarnings(labels_of(x), classes = "fallible_warning")
  best <- most_probable(flattened(labels, labels$common)[pattern_of_case(labels$x), , drop = FALSE])
  at <- order(best$probability, share)
  at <- utils::head(at[share[at] < 1], most)
  said <- all_answers(x)
  columns <- lapply(stats::setNames(nm = colnames(said)), function(who) {
    x$categories[said[at, who]]
  })
  labels <- list(
    case = x$cases[at], .fitted = category_factor(best$category[at], x),
    .probability = best$probability[at]
  )
  tibble::new_tibble(c(labels, columns), nrow = length(at))
}
