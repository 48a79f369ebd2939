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
  lacking <- is.na(rows$estimate[rows$estimator %in% estimators])
  abort_argument_if(all(lacking), "object", "There is no estimate to draw.",
    i = "The column {.field reason} of {.code tidy()} says why.")
  plot <- switch(type,
    accuracy = plot_study_accuracy(object, estimators),
    error = plot_study_error(object, estimators)
  )
  missing <- paste0(number(sum(lacking)), " of ", count_noun(length(lacking), "estimate"))
  plot + ggplot2::labs(caption = if (any(lacking)) paste(missing, "are missing"))
}

# Designs in their order, with the number of cases where there are several.
label_designs <- function(rows) {
  several <- any(tapply(rows$n, rows$design, function(n) length(unique(n)) > 1L))
  label <- if (several) paste0(rows$design, ", n = ", number(rows$n)) else rows$design
  factor(label, levels = unique(label))
}

plot_study_accuracy <- function(object, estimators) {
  colours <- c(expected = plot_colours[["accent"]], `in the sample` = plot_colours[["main"]])
  rows <- tidy(object)
  rows <- rows[rows$estimator %in% estimators, ]
  rows$label <- label_designs(rows)
  rows <- rows[!is.na(rows$estimate), ]
  rows$estimator <- factor(rows$estimator, levels = estimators)
  points <- data.frame(
    rows[rep(seq_len(nrow(rows)), 2L), c("label", "estimator", "estimate")],
    truth = c(rows$expected, rows$sample),
    measure = factor(rep(names(colours), each = nrow(rows)), levels = names(colours))
  )
  points <- points[!is.na(points$truth), ]
  crowded <- nrow(points) / (nlevels(points$label) * length(estimators)) > 400
  ggplot2::ggplot(points, ggplot2::aes(.data$truth, .data$estimate, colour = .data$measure)) +
    ggplot2::geom_abline(slope = 1, intercept = 0, colour = plot_colours[["muted"]]) +
    ggplot2::geom_point(
      ggplot2::aes(shape = .data$measure), size = if (crowded) 0.8 else 1.5,
      alpha = if (crowded) 0.25 else 0.75
    ) +
    (if (length(estimators) > 1L) {
      ggplot2::facet_grid(label ~ estimator, labeller = wrapped())
    } else if (nlevels(points$label) > 1L) {
      ggplot2::facet_wrap(~label, labeller = wrapped())
    }) +
    ggplot2::scale_colour_manual(values = colours, name = "true accuracy") +
    ggplot2::scale_shape_manual(
      values = stats::setNames(c(19, 1), names(colours)), name = "true accuracy"
    ) +
    ggplot2::guides(colour = ggplot2::guide_legend(override.aes = list(size = 2, alpha = 1))) +
    ggplot2::scale_x_continuous(breaks = c(0, 0.5, 1), labels = c("0", "0.5", "1")) +
    ggplot2::scale_y_continuous(breaks = c(0, 0.5, 1), labels = c("0", "0.5", "1")) +
    ggplot2::coord_equal(xlim = c(0, 1), ylim = range(0, 1, points$estimate)) +
    titled(
      "Estimated and true accuracy of systems", "On the line estimates are right",
      "true accuracy", "estimated accuracy"
    ) +
    room_between(14) # for the numbers below
}

plot_study_error <- function(object, estimators) {
  table <- summary(object, by = c("design", "n", "estimator"))
  table <- table[table$estimator %in% estimators, ]
  table$label <- label_designs(table)
  table$truth <- ifelse(table$target == "sample", "in the sample", table$target)
  long <- do.call(rbind, lapply(c("bias", "rmse"), function(measure) {
    data.frame(
      table[c("label", "estimator", "truth")],
      measure = if (measure == "bias") "bias" else "root mean squared error",
      value = table[[measure]], error = table[[paste0(measure, "_mcse")]]
    )
  }))
  long$estimator <- factor(long$estimator, levels = rev(estimators)) # from bottom to top
  dodge <- ggplot2::position_dodge(width = 0.6)
  ggplot2::ggplot(
    long[!is.na(long$value), ],
    ggplot2::aes(.data$value, .data$label, colour = .data$estimator, shape = .data$truth)
  ) +
    line_at(0, "muted", "solid") +
    ggplot2::geom_linerange(
      ggplot2::aes(
        xmin = .data$value - 2 * .data$error, xmax = .data$value + 2 * .data$error,
        group = interaction(.data$estimator, .data$truth)
      ),
      position = dodge, na.rm = TRUE
    ) +
    ggplot2::geom_point(
      ggplot2::aes(group = interaction(.data$estimator, .data$truth)),
      size = 2, position = dodge, fill = "white"
    ) +
    ggplot2::facet_wrap(~measure, scales = "free_x") +
    ggplot2::scale_colour_manual(
      values = category_colours(estimators), limits = estimators, name = NULL
    ) +
    ggplot2::scale_shape_manual(
      values = c(expected = 19, `in the sample` = 21), name = "against accuracy"
    ) +
    ggplot2::scale_y_discrete(limits = rev(levels(long$label))) +
    titled(
      "Errors of estimates",
      "All systems of a design; lines are two Monte Carlo standard errors either way"
    )
}
