# What an alternative annotator test shows.

new_alt_test <- function(systems, raters, options) {
  rated <- length(unique(raters$rater))
  skipped <- drop_missing(raters, "reason")
  verdict <- replace(c("fails", "passes")[1L + systems$passed], is.na(systems$passed), "unknown")
  wins <- paste0(" (wins ", decimals(systems$winning_rate, 2L), ")")
  wins[is.na(systems$passed)] <- ""
  new_result("alt_test",
    tables = list(systems = systems, raters = raters), options = options,
    facts = c(list(
      systems = nrow(systems), passed = sum(systems$passed, na.rm = TRUE), raters = rated,
      cases = options$ratings
    ), options[c("epsilon", "score", "q", "min_raters", "min_cases")]),
    line = printable(paste("Alternative annotator test:", shorten(
      paste0(systems$system, " ", verdict, wins), "; ", 4L
    ))),
    caption = paste0(
      "Alternative annotator test, epsilon ", format(options$epsilon), ", ",
      count_noun(rated, "rater")
    ),
    shown = view(
      data.frame(systems, verdict)[order(-systems$advantage), ],
      c("system", `winning rate` = "winning_rate", "advantage", "verdict", "raters", "cases"), 2L,
      left = c(1L, 4L)
    ),
    notes = c(
      "Passes: wins against at least half of the raters. To compare systems, use the advantage.",
      if (nrow(skipped) > 0L) paste0(
        "Left out: ", count_noun(nrow(skipped), "pair"), " of a system and a rater, with ",
        skipped$reason[[1L]], "."
      ),
      "It shows which systems answer like the raters: those that share their errors pass, too.",
      options$silent
    ),
    more = "tidy(what = \"raters\"), plot()"
  )
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
