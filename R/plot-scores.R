# Curves of scores, as autoplot() of an estimate draws them.
plot_score_curve <- function(object, type, ...) {
  table <- tidy(object, type, ...)
  who <- ifelse(is.na(table$category), table$system, paste0(table$system, ", ", table$category))
  table$who <- factor(who, unique(who))
  drawn <- if (type == "roc") draw_roc(table) else draw_reliability(table, object)
  drawn +
    ggplot2::geom_abline(linetype = "dashed", colour = plot_colours[["accent"]]) +
    category_scale(levels(table$who)) +
    ggplot2::coord_equal(xlim = c(0, 1), ylim = c(0, 1))
}

draw_roc <- function(table) {
  ggplot2::ggplot(
    table, ggplot2::aes(1 - .data$specificity, .data$sensitivity, colour = .data$who)
  ) +
    ggplot2::geom_step(linewidth = 0.9) +
    titled("ROC curves", "Truth is estimated", "1 - specificity", "sensitivity", colour = NULL)
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
    titled(
      "Reliability of scores", truth_subtitle(table, object$options$conf_level),
      "score, mean of a bin", "share that is right", colour = NULL
    )
}
