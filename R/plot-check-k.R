#' @rdname tidy.k_check
#' @param object A [check_k_properties()] result.
#' @param ... Not used.
#' @param type `"tests"`: the p-value of each test, against the level. `"pairs"`: how often each
#'   pair of raters agrees, against what the fitted model expects; pairs above the line agree more
#'   than their accuracies explain. `"disagreements"`: the same for pairs of ratings that disagree,
#'   by their categories, against equally probable errors.
#' @param ... For `plot()`, passed on to `autoplot()`.
#' @return `autoplot()`: a ggplot.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(checks)
#' @rawNamespace S3method(ggplot2::autoplot,k_check)
autoplot.k_check <- function(object, # nolint: object_name.
                             type = c("tests", "pairs", "disagreements"), ...) {
  check_dots_empty(...)
  type <- check_choice(type)
  abort_argument_if(is.null(schema_of(object)), "object",
    "must have all columns that {.fun check_k_properties} gave it.")
  rows <- tidy(object, what = type)
  if (type == "tests") rows <- drop_missing(rows, "p.value")
  abort_argument_if(nrow(rows) == 0L, "type", "There is nothing to draw: no such test was done.",
    i = "The column {.code reason} says why.")
  alpha <- attr(object, "about")$alpha
  switch(type,
    tests = plot_p_values(rows, alpha),
    pairs = plot_excess(
      rows, paste(rows$rater1, "-", rows$rater2), rows$p.value <= alpha,
      "Agreement of pairs of raters", "expected if errors are independent", "observed agreement"
    ),
    disagreements = plot_excess(
      rows, paste(rows$category1, "-", rows$category2), FALSE, "Which categories raters confuse",
      "expected if errors are equally probable", "observed pairs of ratings"
    )
  )
}

plot_p_values <- function(rows, alpha) {
  rows$label <- from_top(paste0(k_labels[rows$property], "\n", rows$test))
  rows$bad <- rows$verdict %in% c("violated", "contradiction")
  lowest <- min(rows$p.adjusted, alpha / 10)
  picture(rows, "p.adjusted", "label", colour = "bad") +
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
    roomy_rows(0.7) +
    titled(
      "Checks of the K-properties",
      paste0(
        "Shaded: the ratings contradict the property at level ", format(alpha),
        ". Elsewhere they do not prove it"
      ),
      "adjusted p-value"
    )
}

# Observed against expected; those that are `odd` are named, or else the three furthest off.
plot_excess <- function(rows, label, odd, title, x, y) {
  rows$label <- label
  rows$odd <- odd
  off <- abs(rows$observed - rows$expected) / sqrt(pmax(rows$expected, 1e-12))
  named <- rows[if (any(odd)) odd else rank(-off, ties.method = "first") <= 3L, ]
  ends <- range(rows$observed, rows$expected)
  ends <- ends + c(-1, 1) * max(diff(ends), 0.02) * 0.12 # room for the names
  many <- nrow(rows) > 200L
  picture(rows, "expected", "observed", colour = "odd") +
    diagonal() +
    ggplot2::geom_point(size = if (many) 1 else 2.6, alpha = if (many) 0.4 else 0.9) +
    ggplot2::geom_text(
      mapped(label = "label"), named, size = 3.1, vjust = -0.9, check_overlap = TRUE
    ) +
    flag_colours() +
    ggplot2::coord_equal(xlim = ends, ylim = ends) +
    titled(title, "Above the line: more often than the fitted model says", x, y)
}
