#' @rdname tidy.ground_truth
#' @param object A [ground_truth()] result.
#' @param max_cases How many cases are drawn at most; of more, an evenly spaced choice.
#' @return `autoplot()`: a ggplot with one column per case, filled by the probabilities of its
#'   categories. Cases with the same most probable category stand together, those first about which
#'   the raters leave least doubt.
#' @rawNamespace S3method(ggplot2::autoplot,ground_truth)
autoplot.ground_truth <- function(object, max_cases = 150L, ...) { # nolint: object_name.
  check_dots_empty(...)
  max_cases <- check_count(max_cases, "max_cases")
  probability <- unname(probability_matrix(object, "object"))
  categories <- setdiff(names(object), "case")
  known <- which(!is.na(probability[, 1L]))
  abort_argument_if(length(known) == 0L, "object",
    "There are no probabilities to draw: all of them are {.code NA}.",
    i = "The fit they come from is not identified.")
  probability <- probability[known, , drop = FALSE]
  best <- max.col(probability, ties.method = "first")
  order <- order(best, -probability[cbind(seq_along(best), best)])
  shown <- order[spread(length(order), max_cases)]
  bars <- data.frame(
    column = seq_along(shown), probability = as.vector(probability[shown, ]),
    category = factor(rep(categories, each = length(shown)), categories)
  )
  picture(bars, "column", "probability", fill = "category") +
    ggplot2::geom_col(
      width = if (length(shown) <= 30L) 0.9 else 1,
      position = ggplot2::position_stack(reverse = TRUE), show.legend = TRUE
    ) +
    category_fill(categories) +
    case_axis(object$case[known][shown]) +
    titled(
      "What the raters say about each case",
      choice_subtitle(length(shown), length(known), "case", "evenly spaced"),
      "case, by most probable category", "probability"
    ) +
    ggplot2::theme(panel.grid.major.x = ggplot2::element_blank())
}

#' @rdname calibration
#' @order 2
#' @param object A `calibration()` result.
#' @param ... For `plot()`, passed on to `autoplot()`.
#' @return `autoplot()`: a ggplot with a point and an interval per bin, which lie on the diagonal
#'   where probabilities are as often right as they say. The area of a point is `n`.
#' @rawNamespace S3method(ggplot2::autoplot,calibration)
autoplot.calibration <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  level <- attr(object, "about")$conf_level
  picture(object, "probability", "share") +
    diagonal() +
    upright_lines() +
    ggplot2::geom_point(mapped(size = "n"), colour = plot_colours[["main"]]) +
    ggplot2::scale_size_area(max_size = 5, breaks = size_breaks) +
    ggplot2::coord_equal(xlim = 0:1, ylim = 0:1) +
    titled(
      "How often probabilities come true", paste0("Shares with ", interval_title(level), "s"),
      "probability", "share of true categories", size = "probabilities"
    )
}
