# What all plots share. Plots read tables (tidy(), bins(), ...), never the insides of an object.

# One colour for what is measured, one for what it is compared with, and a scale from none to all.
plot_colours <- c(
  main = "#1F5C99", accent = "#D1495B", muted = "#8A8F98", low = "#E6DFCF", high = "#1F5C99"
)

theme_fallible <- function() {
  ggplot2::theme_minimal(base_size = 11) +
    ggplot2::theme(
      panel.grid.minor = ggplot2::element_blank(),
      plot.title = ggplot2::element_text(face = "bold"),
      plot.title.position = "plot",
      plot.subtitle = ggplot2::element_text(colour = "grey35"),
      strip.text = ggplot2::element_text(hjust = 0, face = "bold"),
      legend.position = "bottom"
    )
}

check_ggplot2 <- function(call = rlang::caller_env()) {
  check_installed("ggplot2", "to draw", call = call)
}

#' Pictures of results
#'
#' A ggplot of any result: what [ggplot2::autoplot()] gives, without attaching that package. Themes,
#' scales and titles of ggplot2 can be added; `plot()` draws the same at once.
#'
#' @param object Any result that has a picture, such as [ratings()], [estimate_accuracy()] or
#'   [agreement()].
#' @param ... Depends on the class; mostly `type`, which picture.
#' @return A `ggplot`.
#' @family plots
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' autoplot(x) + ggplot2::labs(title = "Who said what")
#' @export
autoplot <- function(object, ...) {
  check_ggplot2()
  ggplot2::autoplot(object, ...)
}

# plot() draws what autoplot() describes.
draw <- function(x, ...) {
  check_ggplot2(call = rlang::caller_env())
  print(ggplot2::autoplot(x, ...))
  invisible(x)
}

# Colours of categories: well apart for few, a continuous palette for many.
category_colours <- function(categories) {
  few <- c(
    "#1F5C99", "#E3A72F", "#3B8C6E", "#D1495B", "#7B5EA7", "#6FB1D9", "#A0522D", "#8A8F98"
  )
  n <- length(categories)
  colours <- if (n <= length(few)) few[seq_len(n)] else grDevices::hcl.colors(n, "Dynamic")
  stats::setNames(colours, categories)
}

# Estimates as points with their numbers above them, and intervals where there are some.
interval_layers <- function() {
  list(
    ggplot2::geom_linerange(
      ggplot2::aes(xmin = .data$conf.low, xmax = .data$conf.high),
      colour = plot_colours[["main"]], linewidth = 1.1, alpha = 0.45, na.rm = TRUE
    ),
    ggplot2::geom_point(colour = plot_colours[["main"]], size = 3),
    ggplot2::geom_text(
      ggplot2::aes(label = decimals(.data$estimate, 2L)), vjust = -1.1, size = 3.3,
      colour = plot_colours[["main"]]
    )
  )
}

# Long names of panels on several lines.
wrapped <- function() ggplot2::label_wrap_gen(width = 18, multi_line = TRUE)

# Legends of categories with no more columns than fit beside each other.
category_legend <- function(categories) {
  ggplot2::guide_legend(ncol = max(1L, min(8L, 70L %/% (max(nchar(categories)) + 4L))))
}

# At most `most` of 1 ... n, evenly spaced.
spread <- function(n, most) {
  if (n <= most) seq_len(n) else unique(round(seq(1, n, length.out = most)))
}

share_scale <- function(...) {
  ggplot2::scale_fill_gradient(
    low = plot_colours[["low"]], high = plot_colours[["high"]], limits = c(0, 1),
    na.value = "white", ...
  )
}

# A tile per pair of judges, with its value if there is room; `pairs` has judge1, judge2 and value.
heat_map <- function(pairs, judges) {
  pairs$judge1 <- factor(pairs$judge1, levels = judges)
  pairs$judge2 <- factor(pairs$judge2, levels = rev(judges))
  few <- length(judges) <= 12L
  ggplot2::ggplot(pairs, ggplot2::aes(.data$judge1, .data$judge2, fill = .data$value)) +
    ggplot2::geom_tile(colour = "white", linewidth = if (few) 0.6 else 0) +
    (if (few) {
      ggplot2::geom_text(
        ggplot2::aes(
          label = ifelse(is.na(.data$value), "", decimals(.data$value, 2L)),
          colour = !is.na(.data$value) & abs(.data$value) > 0.55
        ),
        size = 3.2, show.legend = FALSE
      )
    }) +
    ggplot2::scale_colour_manual(values = c("grey20", "white")) +
    ggplot2::coord_equal() +
    theme_fallible() +
    ggplot2::theme(
      panel.grid = ggplot2::element_blank(),
      axis.text.x = if (sum(nchar(judges)) > 45L) {
        ggplot2::element_text(angle = 90, vjust = 0.5, hjust = 1)
      }
    )
}
