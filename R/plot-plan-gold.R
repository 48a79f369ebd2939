#' @rdname tidy.gold_plan
#' @param object A [plan_gold()] result.
#' @return `autoplot()`: a ggplot of the half-width of intervals against the number of gold cases:
#'   gold alone, corrected by ratings, and combined with what ratings alone say. The half-width that
#'   is wanted is grey and dashed.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(plan)
#' @rawNamespace S3method(ggplot2::autoplot,gold_plan)
autoplot.gold_plan <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  curve <- tidy(object, what = "curve")
  answer <- tidy(object)
  kinds <- unique(curve$interval)
  curve$interval <- factor(curve$interval, kinds)
  answer$interval <- factor(answer$interval, kinds)
  told <- glance(object)
  ggplot2::ggplot(
    curve, ggplot2::aes(.data$gold, .data$half_width, colour = .data$interval)
  ) +
    ggplot2::geom_hline(
      yintercept = told$half_width, linetype = "dashed", colour = plot_colours[["muted"]]
    ) +
    ggplot2::geom_line(ggplot2::aes(linetype = .data$interval)) +
    ggplot2::geom_point(data = answer[!is.na(answer$gold), ], size = 2) +
    ggplot2::facet_wrap(ggplot2::vars(.data$system)) +
    ggplot2::scale_x_log10(labels = number_labels) +
    ggplot2::scale_y_continuous(limits = c(0, NA)) +
    ggplot2::scale_colour_manual(values = gold_colours, name = NULL) +
    ggplot2::scale_linetype_manual(values = plot_lines, name = NULL) +
    titled("Half-width of intervals", caption_of(object), "gold cases", "half-width")
}

gold_colours <- c("gold alone" = "#8A8F98", corrected = "#D1495B", combined = "#1F5C99")
