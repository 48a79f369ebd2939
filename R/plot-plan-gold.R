#' Picture of a plan for gold
#'
#' The half-width of intervals against the number of gold cases: gold alone, corrected by ratings,
#' and combined with what ratings alone say. The half-width that is wanted is
#' grey and dashed.
#'
#' @param object A [plan_gold()] result.
#' @param ... For `plot()`, passed on to `autoplot()`.
#' @inherit autoplot.ratings return
#' @family plots
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8), n = 1000))
#' plot(plan_gold(x))
#' @method autoplot gold_plan
#' @rawNamespace S3method(ggplot2::autoplot,gold_plan)
autoplot.gold_plan <- function(object, ...) { # nolint: object_name.
  check_ggplot2()
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
    ggplot2::labs(
      title = "Half-width of intervals", subtitle = caption_of(object), x = "gold cases",
      y = "half-width"
    ) +
    theme_fallible()
}

gold_colours <- c("gold alone" = "#8A8F98", corrected = "#D1495B", combined = "#1F5C99")
