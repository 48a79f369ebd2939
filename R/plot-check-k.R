#' @rdname tidy.k_check
#' @param object A [check_k_properties()] result.
#' @param type `"tests"`: the p-value of each test, against the level. `"pairs"`: how often each
#'   pair of raters agrees, against what the fitted model expects; pairs above the line agree more
#'   than their accuracies explain. `"disagreements"`: the same for pairs of ratings that disagree,
#'   by their categories, against equally probable errors.
#' @return `autoplot()`: a ggplot.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(checks)
#' @rawNamespace S3method(ggplot2::autoplot,k_check)
autoplot.k_check <- function(object, # nolint: object_name.
                             type = c("tests", "pairs", "disagreements"), ...) {
  check_dots_empty(...)
  type <- check_choice(type)
  abort_argument_if(!is_whole_check(object), "object",
    "must have all columns that {.fun check_k_properties} gave it.")
  rows <- tidy(object, what = type)
  if (type == "tests") rows <- rows[!is.na(rows$p.value), ]
  if (nrow(rows) == 0L) {
    abort_plot("There is nothing to draw: no such test was done.",
      "The column {.code reason} says why.")
  }
  alpha <- attr(object, "about")$alpha
  switch(type,
    tests = plot_p_values(rows, alpha),
    pairs = plot_excess(
      data.frame(
        label = paste(rows$rater1, "-", rows$rater2), observed = rows$observed,
        expected = rows$expected, odd = rows$p.value <= alpha, size = rows$n
      ),
      "Agreement of pairs of raters", "expected if errors are independent", "observed agreement"
    ),
    disagreements = plot_excess(
      data.frame(
        label = paste(rows$category1, "-", rows$category2), observed = rows$observed,
        expected = rows$expected, odd = FALSE, size = rows$observed
      ),
      "Which categories raters confuse", "expected if errors are equally probable",
      "observed pairs of ratings"
    )
  )
}

plot_p_values <- function(rows, alpha) {
  rows$label <- paste0(k_labels[rows$property], "\n", rows$test)
  rows$label <- factor(rows$label, levels = rev(unique(rows$label)))
  rows$bad <- rows$verdict %in% c("violated", "contradiction")
  lowest <- min(rows$p.adjusted, alpha / 10)
  ggplot2::ggplot(rows, ggplot2::aes(.data$p.adjusted, .data$label, colour = .data$bad)) +
    ggplot2::annotate(
      "rect", xmin = lowest / 1.5, xmax = alpha, ymin = -Inf, ymax = Inf,
      fill = plot_colours[["accent"]], alpha = 0.1
    ) +
    ggplot2::geom_linerange(
      ggplot2::aes(xmin = .data$p.adjusted, xmax = 1), linewidth = 1, alpha = 0.5
    ) +
    ggplot2::geom_point(size = 3.4) +
    ggplot2::geom_text(
      ggplot2::aes(label = show_p(.data$p.adjusted)), vjust = -1.1, size = 3.2
    ) +
    flag_colours() +
    ggplot2::scale_x_log10(
      breaks = c(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1), labels = format,
      limits = c(lowest / 1.5, 1.3), expand = c(0, 0)
    ) +
    ggplot2::scale_y_discrete(expand = ggplot2::expansion(add = 0.7)) +
    titled(
      "Checks of the K-properties",
      paste0(
        "Shaded: the ratings contradict the property at level ", format(alpha),
        ". Elsewhere they do not prove it"
      ),
      "adjusted p-value"
    )
}

# Observed against expected; the line is where they are equal.
plot_excess <- function(rows, title, x, y) {
  off <- (rows$observed - rows$expected) / sqrt(pmax(rows$expected, 1e-12))
  far <- rank(-abs(off), ties.method = "first") <= 3L
  named <- rows[if (any(rows$odd)) rows$odd else far, ]
  ends <- range(rows$observed, rows$expected)
  room <- max(diff(ends), 0.02) * 0.12
  ggplot2::ggplot(rows, ggplot2::aes(.data$expected, .data$observed)) +
    ggplot2::geom_abline(slope = 1, intercept = 0, colour = plot_colours[["muted"]]) +
    ggplot2::geom_point(
      ggplot2::aes(colour = .data$odd), size = if (nrow(rows) > 200L) 1 else 2.6,
      alpha = if (nrow(rows) > 200L) 0.4 else 0.9
    ) +
    ggplot2::geom_text(
      ggplot2::aes(label = .data$label, colour = .data$odd), data = named, size = 3.1,
      vjust = -0.9, check_overlap = TRUE
    ) +
    flag_colours() +
    ggplot2::coord_equal(xlim = ends + c(-1, 1) * room, ylim = ends + c(-1, 1) * room) +
    titled(title, "Above the line: more often than the fitted model says", x, y)
}
