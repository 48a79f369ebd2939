#' @rdname tidy.shared_errors
#' @param object A [shared_errors()] result.
#' @return `autoplot()`: a ggplot, the correlations of being right as a heat map; without known
#'   truth, the range of each pair.
#' @rawNamespace S3method(ggplot2::autoplot,shared_errors)
autoplot.shared_errors <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  if (all(is.na(tidy(object)$estimate))) plot_open_ranges(object) else plot_correlations(object)
}

plot_correlations <- function(object) {
  table <- tidy(object)
  pairs <- data.frame(
    judge1 = c(table$rater1, table$rater2), judge2 = c(table$rater2, table$rater1),
    value = rep(table$estimate, 2L)
  )
  heat_map(pairs, object$judges, sorted = TRUE) +
    ggplot2::scale_fill_gradient2(
      low = plot_colours[["accent"]], mid = "white", high = plot_colours[["high"]],
      limits = c(-1, 1), breaks = c(-1, 0, 1), na.value = "grey90", name = "correlation"
    ) +
    ggplot2::labs(
      title = "Shared errors",
      subtitle = paste0(
        "Correlation of being right, where truth is known\n", format(object)
      ),
      x = NULL, y = NULL
    ) +
    wrapped_texts()
}

plot_open_ranges <- function(object) {
  table <- tidy(object)
  seen <- utils::head(table[!is.na(table$lowest), ], most_pairs)
  seen$pair <- factor(
    paste(seen$rater1, "-", seen$rater2), rev(paste(seen$rater1, "-", seen$rater2))
  )
  ggplot2::ggplot(seen, ggplot2::aes(y = .data$pair)) +
    ggplot2::geom_vline(xintercept = 0, colour = "grey35") +
    range_lines() +
    ggplot2::scale_x_continuous(limits = c(-1, 1)) +
    titled(
      "Shared errors that the ratings allow",
      paste("No truth is known; accuracies within", limits_in_words(object$options$limits)),
      "correlation of being right",
      caption = if (nrow(seen) < nrow(table)) {
        paste(nrow(table) - nrow(seen), "further pairs are not shown")
      }
    )
}
