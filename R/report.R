#' Report of the accuracy of systems
#'
#' Renders a page about the systems of `x` for readers who do not use R. It has estimates with
#' intervals and assumptions, the range between shared and independent errors, and sentences that
#' the results support or do not support. It also has raters and their agreement, comparisons of
#' systems, metrics, checks, methods with references, versions and seed. For language models as
#' raters, it adds their shared errors, the equivalent number of independent raters, the alternative
#' annotator test, and cases to read.
#'
#' An HTML report is one file without links to the network; a Word report can be edited. The source
#' is the template `accuracy-report` of this package, for [rmarkdown::draft()].
#'
#' @srrstats {G4.0} `file` must end as one of the formats that can be written
#' @inheritParams estimate_accuracy
#' @param x A [ratings()] object with systems, or a named list of them, one for each variable of a
#'   codebook. The report of a list begins with a table of all variables.
#' @param file Path of the report, by default `"accuracy-report.html"`. It ends in `.html`, in
#'   `.docx` for Word or, if LaTeX is installed, in `.pdf`.
#' @param title The title of the report.
#' @param judges Should the report have the parts on language models as raters? By default, if
#'   `rater_kind` declares raters to be machines.
#' @param rater_kind Kind of raters, as in [ratings()], which affects the intervals; `NULL`, the
#'   default, for the kind declared in `x`.
#' @param seed Seed of the random number generator, by default 1. Two HTML reports with the same
#'   seed and date are identical.
#' @param date Date of the report, a string or a [Date]; `NULL` for none. By default today.
#' @param known_truth,gold_sample Cases of known truth, and how they were sampled, as in
#'   [estimate_accuracy()]. `known_truth = TRUE` uses the truths in `x`.
#' @param positive Of two categories, the one that positive answers name, for sensitivity,
#'   specificity, predictive values and likelihood ratios; `NULL` for the last category.
#' @param ... `by`: groups of cases, as in [estimate_accuracy()]; the report then has a section with
#'   estimates for each group and comparisons of groups. `known_raters`: raters whose confusion
#'   matrices are known, as in [estimate_accuracy()].
#' @return The path of the report, invisibly. Without \pkg{rmarkdown}, pandoc or, for PDF, LaTeX, an
#'   error of class `fallible_error_package`.
#' @family systems
#' @seealso [may_say()] for the sentences; [data_check()], [alt_test()].
#' @examplesIf requireNamespace("rmarkdown", quietly = TRUE) && rmarkdown::pandoc_available()
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' accuracy_report(x, tempfile(fileext = ".html"))
#' @export
accuracy_report <- function(x, file = "accuracy-report.html", ...,
                            title = "Accuracy without known truth", judges = NULL, seed = 1,
                            date = Sys.Date(), conf_level = default_conf_level(),
                            known_truth = NULL, gold_sample = NULL, rater_kind = NULL,
                            positive = NULL) {
  check_given()
  check_dots_empty(..., .but = c("by", "known_raters"))
  more <- rlang::enquos(...)
  known_raters <- rlang::eval_tidy(more$known_raters)
  variables <- if (is_variables(x)) x else list(x)
  checked <- function(x) {
    check_ratings(x)
    abort_if(n_systems(x) == 0L, "system", "A report of accuracy needs systems.",
      i = "Give {.arg systems} to {.fun ratings}.", system = character())
    abort_argument_if(!is.null(positive) && n_categories(x) != 2L, "positive",
      "is for two categories.", x = "There are {n_categories(x)}.")
    if (!is.null(positive)) check_choice(positive, x$categories)
    if (!is.null(rater_kind)) x$rater_kind <- resolve_kinds(check_rater_kind(rater_kind), x)
    # Checked before pages are rendered.
    gold <- resolve_gold(known_truth, gold_sample, x)
    if (is.null(known_raters) && is_one_rater(x)) {
      check_one_rater(x, gold, method_average$id, NULL)
    }
    x
  }
  x <- Map(function(x, name) {
    in_part(if (nzchar(name)) name, checked(x))
  }, variables, names2(variables))
  by <- lapply(x, by_of_cases, by = more$by %||% rlang::quo(NULL))
  format <- report_format(file)
  check_string(title, "title")
  if (!is.null(judges)) check_flag(judges, "judges")
  seed <- check_count(seed, "seed", 0L)
  conf_level <- check_level(conf_level)
  ok <- is.null(date) || length(date) == 1L && !anyNA(date) &&
    (is.character(date) || inherits(date, c("Date", "POSIXt")))
  abort_argument_if(!ok, "date", "must be a string, a {.cls Date} or NULL.", not = date)
  folder <- withr::local_tempdir()
  skeleton <- system.file(
    "rmarkdown", "templates", "accuracy-report", "skeleton", "skeleton.Rmd", package = "fallible"
  )
  page <- file.path(folder, "report.Rmd")
  text <- readLines(skeleton, encoding = "UTF-8")
  text[startsWith(text, "title: ")] <- paste(
    "title:", encodeString(escape_markdown(title), quote = "\"")
  )
  writeLines(repeat_sections(text, names(x)), page, useBytes = TRUE)
  withr::local_options(knitr.duplicate.label = "allow") # reports may be nested
  judges <- judges %||% (panel_kind(x[[1L]]) == "machines")
  if (!is.null(date)) date <- format(date)
  given <- c("x", "judges", "seed", "conf_level", "date", "known_truth", "gold_sample",
    "known_raters", "positive")
  made <- withr::with_preserve_seed(rmarkdown::render(
    page, format, quiet = TRUE, envir = new.env(parent = globalenv()),
    params = c(mget(given), list(by = by))
  ))
  put_report(made, file)
  invisible(file)
}

# The lines of the template, in which the sections between two marks are repeated for each variable.
repeat_sections <- function(text, variables) {
  if (is.null(variables)) return(text)
  marks <- grep("^<!-- sections", text)
  sections <- text[marks[[1L]]:marks[[2L]]]
  repeated <- lapply(seq_along(variables), function(i) {
    c("", paste("#", escape_markdown(variables[[i]])), "", "```{r, include = FALSE}",
      paste("variable <-", i), "```", "", sections)
  })
  c(text[seq_len(marks[[1L]] - 1L)], unlist(repeated), text[-seq_len(marks[[2L]])])
}

put_report <- function(made, file) {
  put <- replace_file(
    file, function(temporary) file.copy(made, temporary, overwrite = TRUE),
    function(temporary) identical(file_bytes(temporary), file_bytes(made))
  )
  abort_if(!put, "file", "{.file {file}} cannot be written.",
    i = "The folder must be writable and have space for a second copy.", path = file)
}

# Notes below a table, for readers who do not use R.
notes_in_words <- function(estimate) {
  notes <- unlist(lapply(schema_of(estimate)$notes, `[[`, "report"))
  notes[nzchar(notes)]
}

# The checks of data_check(), for readers who do not use R.
checks_in_words <- function(check) {
  table <- tidy(check)
  verdict <- c(ok = "good", doubt = "doubtful", problem = "a problem")
  data.frame(
    what = table$check, verdict = unname(verdict[table$status]),
    found = gsub("+-", "\u00b1", fixed = TRUE, gsub(
      "^[. ]+|(?<=[.!?]).$|[. ]+$", "", perl = TRUE,
      paste(plain_words(table$found), plain_words(table$advice), sep = ". ")
    ))
  )
}

# Output format of R Markdown for the name of the file.
report_format <- function(file) {
  check_string(file, "file")
  extension <- fold_case(tools::file_ext(file))
  ok <- extension %in% c("html", "docx", "pdf") && dir.exists(dirname(file)) && !dir.exists(file)
  abort_if(!ok, "file", "{.arg file} must be a path that ends in {.val .html}, {.val .docx} or
        {.val .pdf}, in a folder that exists.", x = if (dir.exists(file)) "{.file {file}} is a
        folder." else "It is {describe(file)}.", path = file)
  for (package in c("rmarkdown", "knitr", "ggplot2")) check_installed(package, "to write reports")
  lacking <- c(
    if (!rmarkdown::pandoc_available()) "pandoc",
    if (extension == "pdf" && !nzchar(Sys.which("pdflatex"))) "pdflatex"
  )
  abort_if(lacking, "package",
    "The program {.code {lacking[[1L]]}} is needed to write this report, and it is not found.",
    i = if ("pdflatex" %in% lacking) "Write {.val .html} or {.val .docx}, or install LaTeX.",
    package = lacking[1L])
  no_links <- "-autolink_bare_uris"
  switch(extension,
    html = NULL, docx = rmarkdown::word_document(md_extensions = no_links),
    pdf = rmarkdown::pdf_document(md_extensions = no_links)
  )
}

#' Cases with the least certain labels
#'
#' Lists the cases with the least certain labels, with all their ratings and answers. Labels are
#' estimated by model averaging, as in [ground_truth()]. The case whose label has the lowest
#' posterior probability is first.
#'
#' @param x A [ratings()] object.
#' @param most Largest number of cases; by default 15.
#' @return A tibble with the columns `case`; `.fitted`, its label; `.probability`, the posterior
#'   probability of the label; `.votes`, the numbers of ratings per category; and a column for each
#'   rater and each system. There are no columns of raters if raters are not identified or rate a
#'   case more than once. `print()` leaves out the columns of raters and systems if there are more
#'   than eight. If labels are not identified, they are `NA`, and the case whose most frequent
#'   category has the smallest share of ratings is first. Cases on which all raters agree, or with
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
  labels <- suppressWarnings(finish_labels(labels_of(x)), classes = "fallible_warning")
  best <- most_probable(labels$posterior[pattern_of_case(labels$x), , drop = FALSE])
  at <- order(best$probability, share)
  at <- head(at[share[at] < 1], most)
  raters <- raters_with_one_answer(x)
  codes <- if (is.null(raters)) pattern_answers(x) else answers_by_pattern(x)
  codes <- split_columns(codes[pattern_of_case(x)[at], , drop = FALSE], c(raters, x$systems))
  answers <- lapply(codes, function(code) x$categories[replace(code, code == 0L, NA)])
  # Votes such as "yes: 3, no: 2", the most frequent category first.
  votes <- vapply(at, function(case) {
    counts <- sort(n[case, n[case, ] > 0], decreasing = TRUE)
    toString(paste0(names(counts), ": ", counts))
  }, "")
  labels <- list(
    case = x$cases[at], .fitted = category_factor(best$category[at], x),
    .probability = best$probability[at], .votes = votes
  )
  tibble::new_tibble(c(labels, answers), nrow = length(at), class = "disputed_cases")
}

#' @rdname disputed_cases
#' @param ... Passed on to the `print()` of tibbles.
#' @export
print.disputed_cases <- function(x, ...) {
  answers <- setdiff(names(x), c("case", ".fitted", ".probability", ".votes"))
  hidden <- if (length(answers) > 8L) answers
  print(plain_tibble(x)[setdiff(names(x), hidden)], ...)
  if (length(hidden) > 0L) cat_lines(paste("Not shown: the answers of", shorten(hidden)))
  invisible(x)
}
