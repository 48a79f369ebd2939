#' @rdname summary.simulation_study
#' @param estimators Names of the estimators to draw. `NULL`, the default, draws all.
#' @param type Kind of plot. `"estimates"` (the default): estimated against true accuracy, with a
#'   sub-plot (facet) for each design and estimator. A system has two points per panel, one for each
#'   true accuracy: the expected accuracy, and the accuracy in the sample. `"performance"`:
#'   bias, root mean squared error (RMSE) and coverage of each estimator, with the expected accuracy
#'   as truth. Lines extend two Monte Carlo standard errors to either side.
#' @return `autoplot()`: a ggplot.
#' @rawNamespace S3method(ggplot2::autoplot,simulation_study)
autoplot.simulation_study <- function(object, # nolint: object_name.
                                      type = c("estimates", "performance"), estimators = NULL,
                                      ...) {
  check_dots_empty(...)
  type <- check_choice(type)
  all_estimators <- names(object$estimators)
  if (is.character(estimators)) estimators <- unique(estimators)
  estimators <- check_names_among(estimators %||% all_estimators, all_estimators, "estimators")
  if (type == "performance") return(plot_performance(object, estimators))
  estimates <- tidy(object)
  estimates <- estimates[estimates$estimator %in% estimators, ]
  is_missing <- is.na(estimates$estimate)
  abort_argument_if(all(is_missing), "object",
    "There is nothing to draw: all estimates are {.code NA}.",
    i = "See the column {.field reason} of {.code tidy()}.")
  estimates$label <- label_designs(estimates)
  estimates$estimator <- factor(estimates$estimator, estimators)
  points <- stack_truth_measures(estimates[!is_missing, ])
  start_plot(points, "truth", "estimate", colour = "measure") +
    diagonal_line() +
    ggplot2::geom_point(aes_columns(shape = "measure"), size = 1.2, alpha = 0.5) +
    (if (length(estimators) > 1L) {
      ggplot2::facet_grid(label ~ estimator, scales = "free_y", labeller = wrap_labeller())
    } else {
      facet_by(points, "label")
    }) +
    colour_scale(c("accent", "main"), name = "true accuracy") +
    shape_scale(c(19, 1), name = "true accuracy") +
    ggplot2::guides(colour = ggplot2::guide_legend(override.aes = list(size = 2, alpha = 1))) +
    share_axis(NULL) +
    share_axis(NULL, ggplot2::scale_y_continuous) +
    plot_titles(
      "Estimated and true accuracy", "On the line, estimates equal true accuracies",
      "true accuracy", "estimated accuracy", caption = missing_caption(estimates)
    ) +
    ggplot2::theme(strip.text.y = ggplot2::element_text(angle = 0))
}

plot_performance <- function(object, estimators) {
  performance_table <- summary(object, by = c("design", "n", "estimator"))
  performance_table <- performance_table[
    performance_table$target == "expected" & performance_table$estimator %in% estimators,
  ]
  design_labels <- label_designs(performance_table)
  measures <- c(bias = "bias", rmse = "RMSE", coverage = "coverage")
  points <- stack_rows(names(measures), function(measure) {
    limits <- t(
      performance_table[[measure]] + outer(2 * performance_table[[paste0(measure, "_mcse")]], -1:1)
    )
    if (measure == "coverage") limits <- clip01(limits)
    data.frame(
      quantile_table(limits, performance_table$estimator, design_labels),
      measure = factor(measures[[measure]], measures)
    )
  })
  conf_levels <- unique(unlist(lapply(object$estimators, function(estimator) {
    attr(estimator, "options")$conf_level
  })))
  ideal_values <- data.frame(
    measure = factor(measures[c("bias", "coverage")], measures),
    at = c(0, if (length(conf_levels) == 1L) conf_levels else NA)
  )
  points <- drop_missing(points, "middle")
  ideal_values <- drop_missing(ideal_values[ideal_values$measure %in% points$measure, ], "at")
  plot_medians(points, estimators, category_colours(levels(design_labels)), 0.5) +
    lines_at(ideal_values) +
    wrapped_facets("measure", scales = "free_x") +
    ggplot2::scale_x_continuous(breaks = share_breaks) +
    plot_titles(
      "Performance of estimators",
      "With two Monte Carlo standard errors either way; dashed: no bias, nominal coverage",
      caption = words_with_labels(
        "No intervals:",
        setdiff(estimators, performance_table$estimator[!is.na(performance_table$coverage)])
      )
    )
}

# Returns the labels of the designs, as a factor in order of appearance. If a design was simulated
# with several numbers of cases, all labels contain the number of cases.
label_designs <- function(table) {
  has_several_sizes <- anyDuplicated(unique(table[c("design", "n")])$design) > 0L
  factor_in_order(
    if (has_several_sizes) paste0(table$design, ", n = ", number(table$n)) else table$design
  )
}

# Stacks the two true accuracies of each estimate. Returns two rows for each row of `estimates`. The
# column `truth` is the expected accuracy in one row, and the accuracy in the sample in the other
# row. Rows without a true accuracy are dropped.
stack_truth_measures <- function(estimates) {
  shared_columns <- estimates[c("label", "estimator", "estimate")]
  drop_missing(data.frame(
    rbind(shared_columns, shared_columns), truth = c(estimates$expected, estimates$sample),
    measure = factor_in_order(rep(c("expected", "in the sample"), each = nrow(estimates)))
  ), "truth")
}

#' @rdname tidy.case_plan
#' @param type Quantity to plot against the number of cases. `"probability"` (the default): the
#'   probability that an estimate is within the required half-width of the truth. `"half_width"`:
#'   the distance between an estimate and the truth that is not exceeded with probability
#'   `conf_level`. A grey dashed line shows the required value. Bands are plus and minus two Monte
#'   Carlo standard errors.
#' @return `autoplot()`: a ggplot.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' # Probability of a precise estimate, and precision, by the number of cases
#' plot(plan)
#' plot(plan, type = "half_width")
#' @rawNamespace S3method(ggplot2::autoplot,case_plan)
autoplot.case_plan <- function(object, type = c("probability", "half_width"), # nolint: object_name.
                               ...) {
  check_dots_empty(...)
  type <- check_choice(type)
  if (has_columns(object$answer, "measure")) return(plot_agreement_plan(object))
  is_probability <- type == "probability"
  panel_sizes <- sort(unique(tidy(object)$raters))
  select_points <- function(table) {
    value <- table[[type]]
    error_margin <- 2 * table[[paste0(type, "_mcse")]]
    data.frame(
      n = table$cases, value, group = factor(table$raters, panel_sizes),
      low = pmax(value - error_margin, 0), high = pmin(value + error_margin, 1)
    )
  }
  curve <- drop_missing(select_points(tidy(object, "curve")), "value")
  plan_summary <- glance(object)
  draw_plan(
    curve, if (is_probability) plan_summary$conf_level else plan_summary$half_width, "raters",
    below = ggplot2::geom_ribbon(
      aes_columns(ymin = "low", ymax = "high", fill = "group"), alpha = 0.18, colour = NA
    ),
    limits = if (is_probability) c(min(0.5, curve$value), 1) else c(0, NA)
  ) +
    ggplot2::geom_point(size = 1.6) +
    ggplot2::geom_segment(
      ggplot2::aes(xend = .data$n, yend = if (is_probability) 0 else Inf),
      select_points(tidy(object)), na.rm = TRUE, linetype = "13", show.legend = FALSE
    ) +
    category_scale(levels(curve$group), name = "raters", aesthetics = c("colour", "fill")) +
    plot_titles(
      if (is_probability) {
        paste("Probability of an estimate within", format(plan_summary$half_width), "of truth")
      } else {
        paste("Half-width that is kept with probability", format(plan_summary$conf_level))
      },
      paste0(
        if (!is.na(plan_summary$chance_kappa)) sprintf(
          "Rater accuracy %s (chance kappa %s), ", format_decimals(plan_summary$rater_accuracy, 2L),
          format_decimals(plan_summary$chance_kappa, 2L)
        ),
        count_noun(plan_summary$categories, "category", "categories"),
        "; ", number(plan_summary$runs), " panels"
      ),
      "cases", if (is_probability) "probability" else "half-width"
    )
}

plot_agreement_plan <- function(object) {
  curve <- tidy(object, "curve")
  points <- data.frame(n = curve$cases, value = curve$half_width, group = factor(1L))
  draw_plan(points, object$settings$half_width) +
    ggplot2::geom_point(size = 1.6, show.legend = FALSE) +
    category_scale("1") +
    plot_titles("Half-width of intervals", schema_of(object)$line, "cases", "half-width")
}

# Draws the layers that the plots of all plans share: a line for each group, and a dashed line at
# the target.
# * curve: data frame with the columns `n` (number of cases), `value` and `group`
# * target: value of the dashed line
# * name: title of the legend
# * below: a layer under the lines
# * limits: limits of the y axis
draw_plan <- function(curve, target, name = NULL, below = NULL, limits = c(0, NA)) {
  n_groups <- nlevels(curve$group)
  start_plot(curve, "n", "value", colour = "group") +
    ggplot2::geom_hline(
      yintercept = target, linetype = "dashed", colour = plot_colours$muted
    ) +
    below +
    ggplot2::geom_line(aes_columns(linetype = "group")) +
    ggplot2::scale_x_log10(labels = format_unpadded) +
    # Bands that exceed the limits are cut, not dropped.
    ggplot2::scale_y_continuous(limits = limits, oob = function(x, range) x) +
    # Line types distinguish curves without colour.
    ggplot2::scale_linetype_manual(
      values = rep_len(c("solid", "42", "12", "6212"), n_groups), name = name,
      guide = if (n_groups > 1L) "legend" else "none"
    )
}

#' @rdname tidy.gold_plan
#' @param object A [plan_gold()] result.
#' @return `autoplot()`: a ggplot of the half-width of intervals against the number of gold cases.
#'   It has a line for each kind of interval. A grey dashed line shows the required half-width.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(plan)
#' @rawNamespace S3method(ggplot2::autoplot,gold_plan)
autoplot.gold_plan <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  interval_kinds <- unique(tidy(object)$interval)
  select_points <- function(table) {
    data.frame(
      n = table$gold, value = table$half_width, group = factor(table$interval, interval_kinds),
      system = table$system
    )
  }
  settings <- object$settings
  half_width <- if (is.null(settings$gold)) settings$half_width else glance(object)$half_width
  draw_plan(select_points(tidy(object, "curve")), half_width) +
    ggplot2::geom_point(data = select_points(tidy(object)), na.rm = TRUE, size = 2) +
    wrapped_facets("system") +
    colour_scale(
      c("gold alone" = "muted", corrected = "accent", combined = "main"), name = NULL
    ) +
    plot_titles("Half-width of intervals", schema_of(object)$caption, "gold cases", "half-width")
}

#' @rdname tidy.k_check
#' @param object A [check_k_properties()] result.
#' @param type Kind of plot. `"tests"` (the default): the adjusted p-value of each test; the area
#'   below the significance level `alpha` is shaded. `"pairs"`: observed against expected agreement
#'   of each pair of raters. Above the diagonal line, pairs agree more often than expected.
#'   `"disagreements"`: observed against expected number of disagreements between each pair of
#'   categories.
#' @param ... `plot(x, ...)` passes these arguments on to `autoplot()`.
#' @return `autoplot()`: a ggplot.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(checks)
#' @rawNamespace S3method(ggplot2::autoplot,k_check)
autoplot.k_check <- function(object, # nolint: object_name.
                             type = c("tests", "pairs", "disagreements"), ...) {
  check_dots_empty(...)
  type <- check_choice(type)
  abort_argument_if(is.null(schema_of(object)), "object",
    "must have all columns of a result of {.fun check_k_properties}.",
    i = "Plot the result before you drop or rename columns.")
  drawn_rows <- tidy(object, what = type)
  if (type == "tests") drawn_rows <- drop_missing(drawn_rows, "p.value")
  abort_argument_if(nrow(drawn_rows) == 0L, "type",
    "There is nothing to draw: no test of this type was done.",
    i = "See the column {.code reason} of {.arg object}.")
  significance_level <- attr(object, "about")$alpha
  switch(type,
    tests = plot_p_values(drawn_rows, significance_level),
    pairs = plot_excess(
      drawn_rows, paste(drawn_rows$rater1, "-", drawn_rows$rater2),
      drawn_rows$p.value <= significance_level,
      "Agreement of pairs of raters", "expected if errors are independent", "observed agreement"
    ),
    disagreements = plot_excess(
      drawn_rows, paste(drawn_rows$category1, "-", drawn_rows$category2), FALSE,
      "Which categories raters confuse", "expected if errors are equally probable",
      "observed pairs of ratings"
    )
  )
}

plot_p_values <- function(rows, significance_level) {
  rows$label <- factor_from_top(paste0(k_property_names[rows$property], "\n", rows$test))
  rows$is_violated <- rows$verdict %in% c("violated", "contradiction")
  left_limit <- min(rows$p.adjusted, significance_level / 10)
  start_plot(rows, "p.adjusted", "label", colour = "is_violated") +
    ggplot2::annotate(
      "rect", xmin = left_limit / 1.5, xmax = significance_level, ymin = -Inf, ymax = Inf,
      fill = plot_colours$accent, alpha = 0.1
    ) +
    ggplot2::geom_linerange(
      ggplot2::aes(xmin = .data$p.adjusted, xmax = 1), linewidth = 1, alpha = 0.5
    ) +
    ggplot2::geom_point(size = 3.4) +
    ggplot2::geom_text(
      ggplot2::aes(label = format_p(.data$p.adjusted)), vjust = -1.1, size = 3.2
    ) +
    flag_scale() +
    ggplot2::scale_x_log10(
      breaks = c(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1), labels = format_axis_numbers,
      limits = c(left_limit / 1.5, 1.3), expand = c(0, 0)
    ) +
    row_axis_with_space(0.7) +
    ggplot2::coord_cartesian(clip = "off") +
    plot_titles(
      "Checks of the K-properties",
      paste0(
        "Shaded: the ratings contradict the property at level ", format(significance_level),
        ".\nElsewhere they do not prove it"
      ),
      "adjusted p-value"
    )
}

# Plots observed against expected values, one point per row. Points for which `is_flagged` is TRUE
# have labels. If no point is flagged, the three points with the largest standardised deviations
# have labels. `label`: labels of all points.
plot_excess <- function(rows, label, is_flagged, title, x, y) {
  rows$label <- short_names(label)
  rows$is_flagged <- is_flagged
  standardised_deviation <- abs(rows$observed - rows$expected) / sqrt(pmax(rows$expected, 1e-12))
  labelled_rows <- rows[
    if (any(is_flagged)) is_flagged else rank(-standardised_deviation, ties.method = "first") <= 3L,
  ]
  axis_limits <- range(rows$observed, rows$expected)
  axis_limits <- axis_limits + c(-1, 1) * max(diff(axis_limits), 0.02) * 0.12 # space for the labels
  has_many_points <- nrow(rows) > 200L
  start_plot(rows, "expected", "observed", colour = "is_flagged") +
    diagonal_line() +
    ggplot2::geom_point(
      size = if (has_many_points) 1 else 2.6, alpha = if (has_many_points) 0.4 else 0.9
    ) +
    ggplot2::geom_text(
      aes_columns(label = "label"), labelled_rows, size = 3.1, vjust = -0.9, hjust = "inward",
      check_overlap = TRUE
    ) +
    flag_scale() +
    square_panel(axis_limits) +
    plot_titles(title, "Above the line: more often than the fitted model predicts", x, y)
}
