# Curves of scores, as autoplot() of an estimate draws them.
plot_score_curve <- function(object, type, ...) {
  table <- tidy(object, type, ...)
  who <- ifelse(is.na(table$category), table$system, paste0(table$system, ", ", table$category))
  table$who <- factor(who, unique(who))
  drawn <- if (type == "roc") draw_roc(table) else draw_reliability(table, object)
  several <- nlevels(table$who) > 1L
  drawn +
    ggplot2::geom_abline(linetype = "dashed", colour = plot_colours[["accent"]]) +
    ggplot2::scale_colour_manual(
      values = category_colours(levels(table$who)), guide = if (several) "legend" else "none"
    ) +
    ggplot2::coord_equal(xlim = c(0, 1), ylim = c(0, 1)) +
    theme_fallible()
}

draw_roc <- function(table) {
  ggplot2::ggplot(
    table, ggplot2::aes(1 - .data$specificity, .data$sensitivity, colour = .data$who)
  ) +
    ggplot2::geom_step(linewidth = 0.9) +
    ggplot2::labs(
      title = "ROC curves", subtitle = "Truth is estimated",
      x = "1 - specificity", y = "sensitivity", colour = NULL
    )
}

draw_reliability <- function(table, object) {
  ggplot2::ggplot(
    table, ggplot2::aes(.data$probability, .data$estimate, colour = .data$who)
  ) +
    ggplot2::geom_linerange(
      ggplot2::aes(ymin = .data$conf.low, ymax = .data$conf.high), linewidth = 1.1, alpha = 0.45,
      na.rm = TRUE
    ) +
    ggplot2::geom_point(ggplot2::aes(size = .data$n)) +
    ggplot2::scale_size_area(max_size = 5, guide = "none") +
    ggplot2::labs(
      title = "Reliability of scores",
      subtitle = if (all(is.na(table$conf.low))) "Truth is estimated" else paste0(
        "With ", interval_title(object$options$conf_level), "s; truth is estimated"
      ),
      x = "score, mean of a bin", y = "share that is right", colour = NULL
    )
}
