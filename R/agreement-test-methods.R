# What tests and comparisons of agreement print and give as tables.

#' Tables of tests of agreement
#'
#' @param x A [compare_agreement()] result.
#' @param ... Not used.
#' @return `tidy()`: the columns of `x`, as a tibble and nothing else. `glance()`: a tibble with one
#'   row: the numbers of `measures` and `cases` (the largest number that entered), the smallest
#'   `p.value`, and `null` and `alternative` of tests or `conf_level` of comparisons. `format()`:
#'   for one measure `Fleiss' kappa 0.43, p < .001`, for several a line of them.
#' @family agreement
#' @name agreement_tests
#' @rawNamespace S3method(tidy,agreement_comparison,tidy.agreement_test)
#' @rawNamespace S3method(glance,agreement_comparison,glance.agreement_test)
#' @rawNamespace S3method(format,agreement_comparison,format.agreement_test)
#' @rawNamespace S3method(print,agreement_comparison,print.agreement_test)
#' @examples
#' x <- ratings(fleiss1971, case = case, counts = depression:other)
#' test <- compare_agreement(x, measures = "fleiss_kappa")
#' format(test)
#' glance(test)
#' @export
tidy.agreement_test <- function(x, ...) {
  check_dots_empty(...)
  plain_tibble(x)
}

#' @rdname agreement_tests
#' @export
glance.agreement_test <- function(x, ...) {
  check_dots_empty(...)
  more <- if (is_comparison(x)) "conf_level" else c("null", "alternative")
  tibble::tibble(
    measures = nrow(x), cases = max(0, x$n),
    p.value = if (all(is.na(x$p.value))) NA_real_ else min(x$p.value, na.rm = TRUE),
    !!!attr(x, "about")[more]
  )
}

is_comparison <- function(x) inherits(x, "agreement_comparison")

is_whole_test <- function(x) {
  !is.null(attr(x, "about")) &&
    has_columns(x, c("measure", "estimate", "std.error", "statistic", "p.value", "n", "reason"))
}

#' @rdname agreement_tests
#' @export
format.agreement_test <- function(x, ...) {
  if (!is_whole_test(x)) return(NextMethod())
  p <- ifelse(x$p.value < 0.0005, "< .001", paste("=", decimals(x$p.value)))
  shorten(paste0(
    if (is_comparison(x)) "difference of ", measure_titles(x$measure, attr(x, "about")$scale_name),
    " ", decimals(x$estimate, 2L),
    ifelse(is.na(x$p.value), paste0(" (", x$reason, ")"), paste(", p", p))
  ), "; ")
}

#' @export
caption_of.agreement_test <- function(x) { # nolint: object_name.
  if (is_comparison(x)) {
    cases <- count_noun(max(0, x$n), "common case")
    return(paste0("Agreement of one panel minus that of another, ", cases))
  }
  about <- attr(x, "about")
  sign <- c(two.sided = "different from", greater = "above", less = "below")[[about$alternative]]
  paste0("Is agreement ", sign, " ", format(about$null), "? ", count_noun(max(0, x$n), "case"))
}

#' @export
shown_table.agreement_test <- function(x) { # nolint: object_name.
  if (!is_comparison(x)) {
    return(data.frame(
      measure = x$measure, estimate = decimals(x$estimate), std.error = decimals(x$std.error),
      statistic = decimals(x$statistic, 2L), p = show_p(x$p.value)
    ))
  }
  out <- data.frame(
    measure = x$measure, first = decimals(x$estimate1), second = decimals(x$estimate2),
    difference = decimals(x$estimate)
  )
  out[[interval_title(attr(x, "about")$conf_level)]] <- bracketed(x$conf.low, x$conf.high)
  cbind(out, p = show_p(x$p.value))
}

#' @export
notes_of.agreement_test <- function(x) { # nolint: object_name.
  c(reason_notes(x$reason, x$estimate, x$measure), weights_note(x$measure, attr(x, "about")))
}

#' @export
print.agreement_test <- function(x, ...) {
  if (is_whole_test(x)) print_result(x, "tidy(), glance(), plot()") else NextMethod()
}
