#' Picture of bounds
#'
#' The range of each system's accuracy, with its confidence set as a thin line, and, given a fit, a
#' mark at the accuracy of a system that shares all errors of the raters.
#'
#' @param object An [accuracy_bounds()] result.
#' @param ... For `plot()`, passed on to `autoplot()`.
#' @inherit autoplot.ratings return
#' @family shared errors
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.9, b = 0.6), 3, n = 300))
#' plot(accuracy_bounds(x, resampling = list(replicates = 50)))
#' @method autoplot accuracy_bounds
#' @rawNamespace S3method(ggplot2::autoplot,accuracy_bounds)
autoplot.accuracy_bounds <- function(object, ...) { # nolint: object_name.
  check_ggplot2()
  check_dots_empty(...)
  table <- tidy(object)
  seen <- table[!is.na(table$lowest), ]
  if (nrow(seen) == 0L) {
    abort_argument("object", "There is nothing to draw.",
      i = paste0("The bounds are {.code NA}: ", verbatim(table$reason[[1L]]), "."))
  }
  seen$system <- factor(seen$system, levels = seen$system[order(seen$lowest + seen$highest)])
  told <- glance(object)
  ggplot2::ggplot(seen, ggplot2::aes(y = .data$system)) +
    interval_lines(linewidth = 0.7, alpha = 0.6) +
    range_lines() +
    ggplot2::geom_point(
      ggplot2::aes(.data$shared), colour = plot_colours[["accent"]], shape = 18, size = 3,
      na.rm = TRUE
    ) +
    ggplot2::scale_x_continuous(
      limits = c(0, 1), labels = in_percent, expand = ggplot2::expansion(add = 0.02)
    ) +
    ggplot2::labs(
      title = "Lowest and highest accuracy",
      subtitle = paste0(
        if (told$given == "fit") {
          "whatever errors are shared with the raters',\nif the fit is right about these"
        } else {
          "whatever errors are shared,\ngiven the ratings and what is assumed"
        },
        if (told$interval == "bootstrap") {
          paste0("; thin: ", format(100 * told$conf_level), "% confidence set")
        }
      ),
      caption = if (told$given == "fit") "Diamond: all errors shared with the raters",
      x = "probability of the correct category", y = NULL
    ) +
    theme_fallible()
}
