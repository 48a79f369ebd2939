# What gold cases and ratings say of each system, alone and together.

plot_gold <- function(object) {
  table <- tidy(object, "gold")
  seen <- table[!is.na(table$estimate), ]
  abort_argument_if(is.null(object$gold$evidence), "type", "There are no gold cases to draw.",
    i = "Give {.arg known_truth} and {.arg gold_sample} to {.fun estimate_accuracy}.")
  seen$interval <- factor(seen$interval, rev(unique(table$interval)))
  seen$system <- factor(seen$system, unique(table$system))
  seen$chosen <- seen$interval == object$options$interval
  ends <- as.data.frame(tidy(object)[c("system", "shared", "independent")])
  ends$system <- factor(ends$system, levels(seen$system))
  ends <- ends[!is.na(ends$shared), ]
  settings <- object$gold$settings
  ggplot2::ggplot(seen, ggplot2::aes(.data$estimate, .data$interval, colour = .data$chosen)) +
    (if (nrow(ends) > 0L) {
      ggplot2::geom_rect(
        data = ends, inherit.aes = FALSE, fill = plot_colours[["low"]], alpha = 0.6,
        ggplot2::aes(
          xmin = pmin(.data$shared, .data$independent),
          xmax = pmax(.data$shared, .data$independent), ymin = -Inf, ymax = Inf
        )
      )
    }) +
    interval_lines(main = FALSE, alpha = 0.6) +
    ggplot2::geom_point(size = 2.6) +
    ggplot2::facet_wrap(~system, labeller = wrapped()) +
    flag_colours() +
    ggplot2::scale_x_continuous(labels = in_percent, expand = ggplot2::expansion(mult = 0.08)) +
    titled(
      paste("Accuracy by", count_noun(length(object$gold$case), "gold case"), "and by ratings"),
      paste0(
        interval_title(object$options$conf_level), "s, of the ", settings$target,
        if (nrow(ends) > 0L) "; shaded: the range of ratings alone"
      ),
      "probability of the correct category"
    ) +
    room_between(18)
}
