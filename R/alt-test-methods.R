#' @rdname alt_test
#' @param what Which table: of `"systems"` or of `"raters"`.
#' @export
tidy.alt_test <- function(x, what = c("systems", "raters"), ...) {
  check_dots_empty(...)
  x[[check_choice(what)]]
}

#' @rdname alt_test
#' @export
glance.alt_test <- function(x, ...) {
  check_dots_empty(...)
  options <- c("epsilon", "score", "q", "min_raters", "min_cases")
  tibble::tibble(
    systems = nrow(x$systems), passed = sum(x$systems$passed, na.rm = TRUE),
    raters = length(unique(x$raters$rater)), cases = x$options$ratings, !!!x$options[options]
  )
}

verdict_words <- function(passed) {
  replace(c("fails", "passes")[1L + passed], is.na(passed), "unknown")
}

#' @rdname alt_test
#' @export
format.alt_test <- function(x, ...) {
  of <- x$systems
  wins <- ifelse(is.na(of$passed), "", paste0(" (wins ", decimals(of$winning_rate, 2L), ")"))
  words <- paste0(of$system, " ", verdict_words(of$passed), wins)
  printable(paste("Alternative annotator test:", shorten(words, "; ", 4L)))
}

#' @export
shown_table.alt_test <- function(x) { # nolint: object_name.
  table <- x$systems[order(-x$systems$advantage), ]
  data.frame(
    system = table$system, "winning rate" = decimals(table$winning_rate, 2L),
    advantage = decimals(table$advantage, 2L), verdict = verdict_words(table$passed),
    raters = table$raters, cases = table$cases, check.names = FALSE
  )
}

#' @export
caption_of.alt_test <- function(x) { # nolint: object_name.
  paste0(
    "Alternative annotator test, epsilon ", format(x$options$epsilon), ", ",
    count_noun(length(unique(x$raters$rater)), "rater")
  )
}

#' @export
notes_of.alt_test <- function(x) { # nolint: object_name.
  skipped <- drop_missing(x$raters, "reason")
  c(
    "Passes: wins against at least half of the raters. To compare systems, use the advantage.",
    if (nrow(skipped) > 0L) paste0(
      "Left out: ", count_noun(nrow(skipped), "pair"), " of a system and a rater, with ",
      skipped$reason[[1L]], "."
    ),
    "It shows which systems answer like the raters: those that share their errors pass, too."
  )
}

#' @export
print.alt_test <- function(x, ...) {
  print_result(x, "tidy(what = \"raters\"), plot()", left = c(1L, 4L))
}

#' @rdname alt_test
#' @order 2
#' @param object An `alt_test()` result.
#' @return `autoplot()`: a ggplot of the advantage of each system over each rater, filled where the
#'   system wins. Above a half the others agree more often with the system than with the rater, or
#'   as often.
#' @rawNamespace S3method(ggplot2::autoplot,alt_test)
autoplot.alt_test <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  table <- drop_missing(object$raters, "advantage")
  abort_argument_if(nrow(table) == 0L, "object", "There is nothing to draw.",
    i = "No rater has enough cases.")
  table$system <- stats::reorder(table$system, table$advantage)
  table$wins <- factor(table$won, c(TRUE, FALSE), c("the system wins", "it does not"))
  picture(table, "advantage", "system") +
    line_at(0.5, "muted", 2) +
    main_points(mapping = mapped(shape = "wins"), alpha = 0.8, show.legend = TRUE) +
    ggplot2::scale_shape_manual(values = c(16, 1), drop = FALSE) +
    ggplot2::scale_x_continuous(limits = c(0, 1)) +
    titled(
      "Alternative annotator test",
      paste("A point per rater; epsilon", format(object$options$epsilon)),
      "advantage of the system over the rater", shape = NULL
    )
}
