#' @rdname tidy.accuracy_bounds
#' @param object An [accuracy_bounds()] result.
#' @return `autoplot()`: a ggplot of the range of each system's accuracy, with its confidence set as
#'   a thin line, and a mark at the accuracy of a system that shares all errors of the raters.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(bounds)
#' @rawNamespace S3method(ggplot2::autoplot,accuracy_bounds)
autoplot.accuracy_bounds <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  table <- tidy(object)
  check_drawn(table$lowest, "The bounds are", table$reason)
  seen <- drop_missing(table, "lowest")
  seen$system <- stats::reorder(seen$system, seen$lowest + seen$highest)
  facts <- glance(object)
  picture(seen, y = "system") +
    interval_lines(linewidth = 0.7, alpha = 0.6) +
    range_lines() +
    ggplot2::geom_point(
      mapped("shared"), colour = plot_colours[["accent"]], shape = 18, size = 3, na.rm = TRUE
    ) +
    ggplot2::scale_x_continuous(
      limits = c(0, 1), labels = in_percent, expand = ggplot2::expansion(add = 0.02)
    ) +
    titled(
      "Lowest and highest accuracy",
      paste0(
        "whatever errors are shared with the raters',\nif the fit is right about these",
        if (facts$interval == "bootstrap") paste0("; thin: ", set_title(facts$conf_level))
      ),
      "probability of the correct category",
      caption = "Diamond: all errors shared with the raters"
    )
}
