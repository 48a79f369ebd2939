#' Picture of shared errors
#'
#' The correlations of being right as a heat map. Without known truth, the range of each pair.
#'
#' @param object A [shared_errors()] result.
#' @param ... For `plot()`, passed on to `autoplot()`.
#' @inherit autoplot.ratings return
#' @family shared errors
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' set.seed(1)
#' copying <- data.frame(from = 1, to = 2, probability = 0.5)
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), 0.8, 4, n = 300, copying = copying))
#' plot(shared_errors(x))
#' @method autoplot shared_errors
#' @rawNamespace S3method(ggplot2::autoplot,shared_errors)
autoplot.shared_errors <- function(object, ...) { # nolint: object_name.
  check_ggplot2()
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
    ggplot2::labs(
      title = "Shared errors that the ratings allow",
      subtitle = paste(
        "No truth is known; accuracies within", limits_in_words(object$options$limits)
      ),
      caption = if (nrow(seen) < nrow(table)) {
        paste(nrow(table) - nrow(seen), "further pairs are not shown")
      },
      x = "correlation of being right", y = NULL
    ) +
    theme_fallible()
}
