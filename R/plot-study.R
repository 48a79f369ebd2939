#' @rdname summary.simulation_study
#' @param type `"accuracy"`: estimated against true accuracy, a point per panel and system for each
#'   measure of truth, a facet per design. `"error"`: bias and root mean squared error of each
#'   design, with two Monte Carlo standard errors on either side.
#' @param estimators Names of estimators to draw; `NULL` for all.
#' @return `autoplot()`: a ggplot.
#' @rawNamespace S3method(ggplot2::autoplot,simulation_study)
autoplot.simulation_study <- function(object, # nolint: object_name.
                                      type = c("accuracy", "error"), estimators = NULL, ...) {
  check_dots_empty(...)
  type <- check_choice(type)
  known <- names(object$estimators)
  estimators <- estimators %||% known
  if (is.character(estimators)) estimators <- unique(estimators)
  check_names_among(estimators, known, "estimators")
  rows <- tidy(object)
  rows <- rows[rows$estimator %in% estimators, ]
  lacking <- is.na(rows$estimate)
  abort_argument_if(all(lacking), "object", "There is no estimate to draw.",
    i = "The column {.field reason} of {.code tidy()} says why.")
  plot <- switch(type,
    accuracy = plot_study_accuracy(rows, estimators),
    error = plot_study_error(summary(object, by = c("design", "n", "estimator")), estimators)
  )
  missing <- paste0(number(sum(lacking)), " of ", count_noun(length(lacking), "estimate"))
  plot + ggplot2::labs(caption = if (any(lacking)) paste(missing, "are missing"))
}

# Designs in their order, with the number of cases where there are several.
label_designs <- function(rows) {
  several <- any(tapply(rows$n, rows$design, function(n) length(unique(n)) > 1L))
  in_order(if (several) paste0(rows$design, ", n = ", number(rows$n)) else rows$design)
}

truths <- c(expected = "expected", sample = "in the sample")

plot_study_accuracy <- function(rows, estimators) {
  rows$label <- label_designs(rows)
  rows$estimator <- factor(rows$estimator, estimators)
  points <- do.call(rbind, lapply(names(truths), function(of) {
    data.frame(
      rows[c("label", "estimator", "estimate")], truth = rows[[of]],
      measure = factor(truths[[of]], truths)
    )
  }))
  points <- points[!is.na(points$truth) & !is.na(points$estimate), ]
  crowded <- nrow(points) / (nlevels(points$label) * length(estimators)) > 400
  axis <- function(scale) scale(breaks = c(0, 0.5, 1), labels = c("0", "0.5", "1"))
  picture(points, "truth", "estimate", colour = "measure") +
    diagonal() +
    ggplot2::geom_point(
      mapped(shape = "measure"), size = if (crowded) 0.8 else 1.5,
      alpha = if (crowded) 0.25 else 0.75
    ) +
    (if (length(estimators) > 1L) {
      ggplot2::facet_grid(label ~ estimator, labeller = wrapped())
    } else if (nlevels(points$label) > 1L) {
      ggplot2::facet_wrap("label", labeller = wrapped())
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
      "true accuracy", "estimated accuracy"
    ) +
    room_between(14) # for the numbers below
}

plot_study_error <- function(table, estimators) {
  table <- table[table$estimator %in% estimators, ]
  table$label <- label_designs(table)
  measures <- c(bias = "bias", rmse = "root mean squared error")
  long <- do.call(rbind, lapply(names(measures), function(measure) {
    value <- table[[measure]]
    reach <- 2 * table[[paste0(measure, "_mcse")]]
    data.frame(
      table["label"], measure = measures[[measure]], value = value, low = value - reach,
      high = value + reach, truth = truths[table$target],
      estimator = factor(table$estimator, rev(estimators)) # from bottom to top
    )
  }))
  long$group <- interaction(long$estimator, long$truth)
  dodge <- ggplot2::position_dodge(width = 0.6)
  picture(
    long[!is.na(long$value), ], "value", "label", colour = "estimator", shape = "truth",
    group = "group"
  ) +
    line_at(0, "muted", "solid") +
    interval_lines("low", "high", main = FALSE, linewidth = 0.5, alpha = NA, position = dodge) +
    ggplot2::geom_point(size = 2, position = dodge, fill = "white") +
    ggplot2::facet_wrap("measure", scales = "free_x") +
    ggplot2::scale_colour_manual(
      values = category_colours(estimators), limits = estimators, name = NULL
    ) +
    ggplot2::scale_shape_manual(
      values = stats::setNames(c(19, 21), truths), name = "against accuracy"
    ) +
    ggplot2::scale_y_discrete(limits = rev(levels(long$label))) +
    titled(
      "Errors of estimates",
      "All systems of a design; lines are two Monte Carlo standard errors either way"
    )
}
