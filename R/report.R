#' Report of the accuracy of systems
#'
#' Writes a report on the accuracy of systems (classifiers), estimated from ratings, for readers who
#' do not use R. The report is a web page, a Word document or a PDF.
#'
#' The report contains:
#' * for each system, the estimated accuracy, its interval and its assumptions, and the accuracy if
#'   the system shares all or none of the raters' errors;
#' * the sentences of [may_say()] that the results support or do not support;
#' * agreement of raters, comparisons of systems, other metrics, and checks of data and assumptions;
#' * the method with references, versions and the seed;
#' * with `judges = TRUE`: [shared_errors()] of raters, the equivalent number of independent raters,
#'   the alternative annotator test ([alt_test()]), and [disputed_cases()].
#'
#' To change the report, copy its R Markdown source with
#' `rmarkdown::draft("report.Rmd", "accuracy-report", "fallible")`.
#'
#' @srrstats {G4.0} `file` must end as one of the formats that can be written
#' @inheritParams estimate_accuracy
#' @param x A [ratings()] object with systems. Or a named list of such objects, one for each
#'   variable that was rated. A report on several variables begins with a table of all variables.
#' @param file Path of the report, by default `"accuracy-report.html"`. It ends in `.html` (one file
#'   that loads nothing from the network), in `.docx` for Word or, if LaTeX is installed, in `.pdf`.
#'   An existing file is replaced.
#' @param title Title of the report, a string. `NULL`, the default, is `"Accuracy without known
#'   truth"`, or `"Accuracy of systems"` if `known_truth` is given.
#' @param judges If `TRUE`, the report has sections on language models as raters. If `FALSE`, these
#'   sections are left out. `NULL`, the default, means `TRUE` if all raters of `x` are declared as
#'   machines (`rater_kind`), and otherwise `FALSE`.
#' @param seed Seed of the random number generator, a whole number of at least 0. HTML reports with
#'   the same seed and date are identical.
#' @param date Date of the report, a string or a [Date]. The default is today. `NULL`: the report
#'   has no date.
#' @param known_truth Cases whose true category is known: a vector of categories named by case, a
#'   data frame with columns `case` and `truth`, or a [gold_cases()] result. `TRUE` uses the truths
#'   in `x`. `NULL`, the default: no truth is used. If `x` is a list, `known_truth` may be a list
#'   with the names of `x`.
#' @param gold_sample How the cases of `known_truth` were chosen: `"random"`, `"given"` (by hand),
#'   or the probability with which each case was chosen, as in [gold_cases()]. `NULL`, the default,
#'   uses column `probability` of `known_truth`; without it, cases are treated as `"given"`, with a
#'   warning. Cases chosen by hand do not represent all cases, so accuracy is not measured on them.
#' @param rater_kind Kind of raters, which affects the intervals: `"expert"`, `"crowd"`, `"model"`
#'   (language models) or `"tool"` (other programs) for all raters, or a vector of kinds named by
#'   rater. `NULL`, the default, uses the kinds in `x`.
#' @param positive The positive category. Sensitivity, specificity, predictive values and likelihood
#'   ratios are computed for this category against all other categories. `NULL`, the default, means
#'   the second category if there are two. With more categories and `NULL`, the report contains
#'   means of measures over categories.
#' @param ... Any of these arguments:
#'   * `by`: groups of cases, as in [estimate_accuracy()]. A section of the report then contains
#'     the accuracy in each group, and compares groups.
#'   * `known_raters`: raters whose confusion matrices are known, as in [estimate_accuracy()].
#'   * `resampling`: settings such as clusters of cases, as in [estimate_accuracy()].
#'   * `reference`: the system, or the group of `by`, with which all others are compared.
#' @return The path of the report, invisibly. An error of class `fallible_error_package` is raised
#'   if \pkg{rmarkdown}, pandoc or, for a PDF, LaTeX is not installed.
#' @family systems
#' @examplesIf requireNamespace("rmarkdown", quietly = TRUE) && rmarkdown::pandoc_available()
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' # A web page in a temporary folder
#' accuracy_report(x, tempfile(fileext = ".html"))
#' @export
accuracy_report <- function(x, file = "accuracy-report.html", ...,
                            title = NULL, judges = NULL, seed = 1,
                            date = Sys.Date(), conf_level = default_conf_level(),
                            known_truth = NULL, gold_sample = NULL, rater_kind = NULL,
                            positive = NULL) {
  check_call(dots = c("by", "known_raters", "resampling", "reference"))
  dots <- enquos(...)
  known_raters <- eval_tidy(dots$known_raters)
  resampling <- eval_tidy(dots$resampling) %||% list()
  reference <- eval_tidy(dots$reference)
  check_resampling(resampling)
  variables <- if (is_variables(x)) x else list(x)
  truths <- if (is_variables(x)) truth_of_variables(known_truth, x) else list(known_truth)
  check_variable <- function(x, truth) {
    check_ratings(x, if (inherits(first_single_result(x), "accuracy_estimate"))
      "Give the ratings: {.code accuracy_report(ratings, known_truth = gold, gold_sample =
        \"random\")}. The report has the default method, model and interval." else
        rater_accuracy_hint)
    abort_if(n_systems(x) == 0L, "system",
      "{.arg x} has no systems, so there is no accuracy to report.",
      i = c("Give {.arg systems} to {.fun ratings}.", rater_accuracy_hint), system = character())
    if (!is.null(positive)) check_choice(positive, x$categories)
    if (!is.null(rater_kind)) x$rater_kind <- resolve_kinds(check_rater_kind(rater_kind), x)
    # Known truth is checked first, because writing the report takes long.
    gold <- resolve_gold(truth, if (is.null(known_truth) || !is.null(truth)) gold_sample, x)
    warn_gold(gold, x)
    if (is.null(known_raters) && is_one_rater(x)) check_one_rater(x, gold, method_average$id, NULL)
    x
  }
  x <- Map(function(x, name, truth) {
    name_variable_in_conditions(if (nzchar(name)) name, check_variable(x, truth))
  }, variables, names2(variables), truths)
  # The groups get the cases as names, because a vector without names cannot be matched to the cases
  # of long data.
  groups_by_variable <- lapply(x, function(x) {
    groups <- groups_of_cases(dots$by %||% quo(NULL), x)
    if (!is.null(groups)) setNames(groups, as_label(x$cases))
  })
  if (!is.null(reference)) check_choice(reference, unique(c(
    unlist(lapply(x, `[[`, "systems")), as_label(unlist(groups_by_variable)))))
  output_format <- report_format(file)
  title <- title %||% if (is.null(known_truth)) "Accuracy without known truth" else
    "Accuracy of systems"
  check_string(title, "title")
  if (!is.null(judges)) check_flag(judges, "judges")
  seed <- check_count(seed, "seed", 0L)
  conf_level <- check_level(conf_level)
  is_valid_date <- is.null(date) || length(date) == 1L && !anyNA(date) &&
    (is.character(date) || inherits(date, c("Date", "POSIXt")))
  abort_argument_if(!is_valid_date, "date", "must be a string, a {.cls Date} or NULL.", not = date)
  folder <- withr::local_tempdir()
  template_path <- system.file(
    "rmarkdown", "templates", "accuracy-report", "skeleton", "skeleton.Rmd", package = "fallible"
  )
  markdown_file <- file.path(folder, "report.Rmd")
  template_lines <- readLines(template_path, encoding = "UTF-8")
  template_lines[startsWith(template_lines, "title: ")] <- paste(
    "title:", encodeString(escape_markdown(title), quote = "\"")
  )
  writeLines(repeat_sections(template_lines, names(x)), markdown_file, useBytes = TRUE)
  # A report may be rendered within another document, whose chunks have the same labels.
  withr::local_options(knitr.duplicate.label = "allow", fallible.conf_level = conf_level)
  judges <- judges %||% (panel_kind(x[[1L]]) == "machines")
  if (!is.null(date)) date <- format(date)
  rendered_file <- withr::with_preserve_seed(rmarkdown::render(
    markdown_file, output_format, quiet = TRUE, envir = new.env(parent = globalenv()),
    params = c(mget(c("x", "judges", "seed", "conf_level", "date", "known_truth", "gold_sample",
      "known_raters", "positive", "resampling", "reference")), list(by = groups_by_variable))
  ))
  copy_report(rendered_file, file)
  inform_fallible("The report is in {.file {file}}.")
  invisible(file)
}

rater_accuracy_hint <- "For the accuracy of raters, such as diagnostic tests, use
  {.fun test_accuracy} and {.code may_say(check_fit(fit), \"methods\")}, where {.arg fit} is a fit
  by {.fun fit_raters}. For the agreement of raters, use {.code may_say(agreement(x))}."

# Returns the lines of the report. `text`: lines of the template. With several variables, the lines
# between two marker lines are repeated for each variable, below a heading with its name. Marker
# lines begin with "<!-- sections".
repeat_sections <- function(text, variables) {
  if (is.null(variables)) return(text)
  marker_lines <- grep("^<!-- sections", text)
  section_lines <- text[marker_lines[[1L]]:marker_lines[[2L]]]
  repeated_sections <- lapply(seq_along(variables), function(i) {
    c("", paste("#", escape_markdown(variables[[i]])), "", "```{r, include = FALSE}",
      paste("variable <-", i), "```", "", section_lines)
  })
  c(head(text, marker_lines[[1L]] - 1L), unlist(repeated_sections),
    text[-seq_len(marker_lines[[2L]])])
}

# Copies the rendered report `rendered_file` to `file`.
copy_report <- function(rendered_file, file) {
  failure_reason <- replace_file(
    file, function(temporary) file.copy(rendered_file, temporary, overwrite = TRUE),
    function(temporary) identical(file_bytes(temporary), file_bytes(rendered_file))
  )
  abort_if(failure_reason, "file", "{.file {file}} cannot be written.",
    x = escape_braces(failure_reason),
    i = "The folder must be writable, and have space for a second copy of the report.", path = file)
}

# Returns the notes below a table of estimates, in words for readers who do not use R.
notes_in_words <- function(estimate) {
  notes <- unlist(lapply(schema_of(estimate)$notes, `[[`, "report"))
  notes[nzchar(notes)]
}

# Returns the results of data_check() as a data frame, in words for readers who do not use R.
checks_in_words <- function(check) {
  table <- tidy(check)
  verdicts <- c(ok = "good", doubt = "doubtful", problem = "a problem")
  data.frame(
    what = table$check, verdict = unname(verdicts[table$status]),
    found = gsub("+-", "\u00b1", fixed = TRUE, gsub(
      "^[. ]+|(?<=[.!?]).$|[. ]+$", "", perl = TRUE,
      paste(plain_words(table$found), plain_words(table$advice), sep = ". ")
    ))
  )
}

# Returns the output format of R Markdown for the extension of `file`. NULL stands for HTML, the
# format of the template.
report_format <- function(file) {
  check_string(file, "file")
  extension <- fold_case(tools::file_ext(file))
  is_valid_file <- extension %in% c("html", "docx", "pdf") && dir.exists(dirname(file)) &&
    !dir.exists(file)
  abort_if(!is_valid_file, "file", "{.arg file} must be a path that ends in {.val .html},
        {.val .docx} or {.val .pdf}, in a folder that exists.",
    x = if (dir.exists(file)) "{.file {file}} is a folder." else "It is {describe(file)}.",
    path = file)
  for (package in c("rmarkdown", "knitr", "ggplot2")) check_installed(package, "to write reports")
  missing_programs <- c(
    if (!rmarkdown::pandoc_available()) "pandoc",
    if (extension == "pdf" && !nzchar(Sys.which("pdflatex"))) "pdflatex"
  )
  abort_if(missing_programs, "package",
    "The program {.code {missing_programs[[1L]]}} is needed to write this report, and it is not
        found.",
    i = if ("pdflatex" %in% missing_programs) "Write {.val .html} or {.val .docx}, or install
        LaTeX.",
    package = missing_programs[1L])
  markdown_extensions <- "-autolink_bare_uris"
  switch(extension,
    html = NULL, docx = rmarkdown::word_document(md_extensions = markdown_extensions),
    pdf = rmarkdown::pdf_document(md_extensions = markdown_extensions)
  )
}

#' Cases with the least certain labels
#'
#' Lists the cases with the least certain labels, with all their ratings and the answers of systems
#' (classifiers). The label of a case is its most probable category. If `x` is a fit,
#' [ground_truth()] computes labels from the model of the fit. If `x` is a [ratings()] object,
#' labels are computed from an average over models. Cases are left out if all raters agree, if they
#' have fewer than two ratings, or if `known_truth` or the fit contains their truth. To find labels
#' of cases with one rating, which may be less certain, sort `predict(ground_truth(x))`.
#'
#' @param x A [ratings()] object with at least two raters, or a [fit_raters()] result.
#' @param most Largest number of cases to list, a whole number of at least 1; by default 15. `Inf`
#'   lists all cases on which raters disagree.
#' @param known_truth For ratings `x`: cases with known truth, in a form that [ground_truth()]
#'   accepts. They are left out, and their truth improves the labels of the other cases. `NULL`, the
#'   default: there are none.
#' @return A tibble with a row per case. The case with the lowest `.probability` is first.
#'   * `case`: name of the case.
#'   * `.fitted`: the label, a factor.
#'   * `.probability`: posterior probability of the label, in \[0, 1\].
#'   * `.votes`: number of ratings per category, a string such as `"yes: 3, no: 2"`. Reruns of the
#'     same language model (see [rater_groups]) count as one rating.
#'   * A column for each rater, if there are at most 20 identified raters, who rate each case at
#'     most once; and a column for each system. They contain the category, or `NA` if there is
#'     no answer. `print()` leaves these columns out if there are more than eight.
#'
#'   If the ratings do not identify the labels, `.fitted` and `.probability` are `NA`. The first
#'   case is then the case whose most frequent category has the smallest share of the ratings.
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' # The three least certain cases: by an average over models, and by one model
#' disputed_cases(x, 3)
#' disputed_cases(fit_raters(x), 3)
#' @export
disputed_cases <- function(x, most = 15L, known_truth = NULL, ...) {
  check_call()
  ratings_or_fit <- x
  if (inherits(x, "rater_fit")) x <- x$x
  x <- merge_reruns(as_ratings_of_several(x))
  most <- if (identical(most, Inf)) nrow(x) else check_count(most, "most", 1L)
  vote_counts <- category_counts(x)
  n_ratings <- rowSums(vote_counts)
  largest_share <- ifelse(n_ratings >= 2, row_maximum(vote_counts) / n_ratings, 1)
  consensus <- without_warnings(
    finish_labels(initial_labels(ratings_or_fit, known_truth, NULL, NULL))
  )
  largest_share[consensus$certain[pattern_of_case(consensus$x)]] <- 1
  top_labels <- most_probable(pick_rows(consensus$posterior, pattern_of_case(consensus$x)))
  shown_cases <- order(top_labels$probability, largest_share)
  shown_cases <- head(shown_cases[largest_share[shown_cases] < 1], most)
  shown_raters <- if (n_raters(x) <= max_listed_raters) raters_with_single_ratings(x)
  answer_codes <- if (is.null(shown_raters)) pattern_answers(x) else answers_by_pattern(x)
  answer_codes <- split_columns(
    pick_rows(answer_codes, pattern_of_case(x)[shown_cases]), c(shown_raters, x$systems)
  )
  answer_labels <- lapply(answer_codes, function(code) x$categories[replace(code, code == 0L, NA)])
  # Votes such as "yes: 3, no: 2", the most frequent category first.
  vote_texts <- map_chr(shown_cases, function(case) {
    sorted_counts <- sort(vote_counts[case, vote_counts[case, ] > 0], decreasing = TRUE)
    toString(paste0(names(sorted_counts), ": ", sorted_counts))
  })
  new_tibble(c(list(
    case = x$cases[shown_cases], .fitted = category_factor(top_labels$category[shown_cases], x),
    .probability = top_labels$probability[shown_cases], .votes = vote_texts
  ), answer_labels), nrow = length(shown_cases), class = "disputed_cases")
}

#' @rdname disputed_cases
#' @param ... For `print()`: passed on to the `print()` of tibbles. Not used by `disputed_cases()`.
#' @export
print.disputed_cases <- function(x, ...) {
  answer_columns <- setdiff(names(x), c("case", ".fitted", ".probability", ".votes"))
  hidden_columns <- if (length(answer_columns) > 8L) answer_columns
  print(plain_tibble(x)[setdiff(names(x), hidden_columns)], ...)
  if (!is_empty(hidden_columns))
    cat_lines(paste("Not shown:", count_noun(length(hidden_columns), "column"), "with answers"))
  invisible(x)
}
