#' @rdname summary.simulation_study
#' @param estimators Names of estimators to draw; `NULL` for all.
#' @return `autoplot()`: a ggplot of estimated against true accuracy, a point per panel and system
#'   for each measure of truth, a panel per design.
#' @rawNamespace S3method(ggplot2::autoplot,simulation_study)
autoplot.simulation_study <- function(object, estimators = NULL, ...) { # nolint: object_name.
  check_dots_empty(...)
  known <- names(object$estimators)
  estimators <- estimators %||% known
  if (is.character(estimators)) estimators <- unique(estimators)
  check_names_among(estimators, known, "estimators")
  rows <- tidy(object)
  rows <- rows[rows$estimator %in% estimators, ]
  lacking <- is.na(rows$estimate)
  abort_argument_if(all(lacking), "object", "There is no estimate to draw.",
    i = "The column {.field reason} of {.code tidy()} says why.")
  rows$label <- label_designs(rows)
  rows$estimator <- factor(rows$estimator, estimators)
  points <- true_and_estimated(rows[!lacking, ])
  axis <- function(scale) scale(breaks = c(0, 0.5, 1), labels = c("0", "0.5", "1"))
  crowded <- nrow(points) / (nlevels(points$label) * length(estimators)) > 400
  picture(points, "truth", "estimate", colour = "measure") +
    diagonal() +
    ggplot2::geom_point(
      mapped(shape = "measure"), size = if (crowded) 0.8 else 1.5,
      alpha = if (crowded) 0.25 else 0.75
    ) +
    (if (length(estimators) > 1L) {
      ggplot2::facet_grid(label ~ estimator, labeller = wrapped())
    } else {
      panels_of(points, "label")
    }) +
    ggplot2::scale_colour_manual(
      values = unname(plot_colours[c("accent", "main")]), name = "true accuracy"
    ) +
    ggplot2::scale_shape_manual(values = c(19, 1), name = "true accuracy") +
    ggplot2::guides(colour = ggplot2::guide_legend(override.aes = list(size = 2, alpha = 1))) +
    axis(ggplot2::scale_x_continuous) +
    axis(ggplot2::scale_y_continuous) +
    ggplot2::coord_equal(xlim = c(0, 1), ylim = range(0, 1, points$estimate)) +
    titled(
      "Estimated and true accuracy of systems", "On the line estimates are right",
      "true accuracy", "estimated accuracy", caption = if (any(lacking)) {
        paste(number(sum(lacking)), "of", count_noun(length(lacking), "estimate"), "are missing")
      }
    ) +
    room_between(14) # for the numbers below
}

# Designs in their order, with the number of cases where there are several.
label_designs <- function(rows) {
  several <- any(tapply(rows$n, rows$design, function(n) length(unique(n)) > 1L))
  in_order(if (several) paste0(rows$design, ", n = ", number(rows$n)) else rows$design)
}

# A point for either measure of truth.
true_and_estimated <- function(rows) {
  measures <- c(expected = "expected", sample = "in the sample")
  points <- stack_rows(names(measures), function(of) {
    data.frame(
      rows[c("label", "estimator", "estimate")], truth = rows[[of]],
      measure = factor(measures[[of]], measures)
    )
  })
  drop_missing(points, "truth")
}
