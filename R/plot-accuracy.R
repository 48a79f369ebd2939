#' Plots of estimated accuracy
#'
#' Draws estimated accuracies of systems (classifiers), or how the estimates depend on shared
#' errors. A system and the raters share errors if they are wrong on the same cases more often than
#' by chance.
#'
#' @param object An [estimate_accuracy()] result.
#' @param type Kind of plot:
#'   * `"systems"` (the default): estimates with intervals. If the estimates assume that all errors
#'     are independent, a dashed line shows the mean accuracy of the raters under this assumption.
#'     With one rater, the line shows the accuracy of this rater.
#'   * `"bins"`, for method `"binned"`: cases are grouped into bins by the probability of their most
#'     probable category. Each bin is a point. Its x value is the mean of these probabilities. Its y
#'     value is the share of cases to which the system gives the most probable category. A dashed
#'     curve shows the y values that are expected at the estimated accuracy.
#'   * `"sensitivity"`: accuracy against the assumed share of shared errors, from 0 (errors are
#'     independent) to 1 (the system shares all errors of the raters). A band shows sampling error,
#'     and a bar the interval of the estimate. Marks show the shares `"none"`, `"typical"` and
#'     `"all"` of argument `common` of [estimate_accuracy()].
#'   * `"gold"`, for estimates with gold cases (cases with known truth): estimates from gold cases
#'     only, from ratings only, and from both, once for each interval that uses gold cases. A shaded
#'     area is the range from the accuracy if all errors are shared to the accuracy if errors are
#'     independent.
#'   * `"roc"`, for systems with scores (numbers for each category): a curve of sensitivity against
#'     1 - specificity.
#'   * `"reliability"`, for systems with scores: the share of correct answers against the score.
#' @param ... For `"roc"` and `"reliability"`, arguments of [score_curves], such as `category`.
#'   `plot()` passes its arguments on to `autoplot()`.
#' @inherit autoplot.ratings return
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' estimate <- estimate_accuracy(x)
#' # The accuracy with its interval, and its dependence on shared errors
#' plot(estimate)
#' plot(estimate, type = "sensitivity")
#' # The bins of the method of Lehner (2015)
#' plot(estimate_accuracy(x, "binned", interval = "none"), type = "bins")
#' @rawNamespace S3method(ggplot2::autoplot,accuracy_estimate)
autoplot.accuracy_estimate <- function(object, # nolint: object_name.
                                       type = c("systems", "bins", "sensitivity", "gold", "roc",
                                                "reliability"), ...) {
  type <- check_choice(type)
  if (type %in% c("roc", "reliability")) return(plot_score_curve(object, type, ...))
  check_dots_empty(...)
  switch(type, systems = plot_systems(object), bins = plot_bins(object),
    sensitivity = plot_sensitivity(object), gold = plot_gold(object))
}

plot_systems <- function(object) {
  estimate_table <- tidy(object)
  system_order <- estimate_table$system[order(estimate_table$estimate, na.last = FALSE)]
  estimate_table$system <- factor(estimate_table$system, system_order)
  has_one_rater <- is_one_rater(object$fit$x)
  # The accuracy of several raters is estimated under the assumption that errors are independent.
  # The plot shows it only if the accuracy of systems is estimated under the same assumption.
  is_independence_dropped <- !has_one_rater && (!is.null(object$gold) ||
    !all(are_tied(estimate_table$estimate - estimate_table$independent), na.rm = TRUE))
  rater_accuracy <- if (is_pass_rate(object) || is_independence_dropped) NA else
    glance(object)$rater_accuracy[[1L]]
  rows_with_estimate <- drop_missing(estimate_table, "estimate")
  start_plot(rows_with_estimate, "estimate", "system") +
    (if (!is.na(rater_accuracy)) line_at(rater_accuracy)) +
    interval_layers(format_axis_percent) +
    # Space for the labels, also if an interval ends at 1.
    share_axis(expand = ggplot2::expansion(add = 0.03)) +
    row_axis_with_space(limits = system_order) +
    plot_titles(
      paste(accuracy_title(object), "of systems"),
      if (nrow(rows_with_estimate) == 0L)
        paste("Not identified:", estimate_table$reason[[1L]]) else paste0(
        interval_subtitle(estimate_table, object$options$conf_level) %||% "Estimates",
        if (!is.na(rater_accuracy)) sprintf(
          if (has_one_rater) "; dashed: rater (%s)" else
            "; dashed: mean of raters (%s), all if errors are independent",
          format_axis_percent(rater_accuracy)
        )
      ),
      accuracy_axis_title(object),
      caption = not_identified_caption(setdiff(system_order, rows_with_estimate$system))
    )
}

plot_bins <- function(object) {
  bin_table <- tidy(object, "bins")
  estimates <- drop_missing(tidy(object), "estimate")
  abort_argument_if(nrow(bin_table) == 0L || nrow(estimates) == 0L, "object",
    "There are no bins to draw.",
    i = paste0("The estimate is {.code NA}: ", tidy(object)$reason[[1L]], "."))
  bin_table$system <- factor_in_order(bin_table$system)
  # Equation 6 of Lehner (2015): expected share of cases for which a system gives the most probable
  # category, as a function of the probability of this category.
  category_count <- n_categories(object$fit$x)
  probability <- seq(1 / category_count, 1, length.out = 50L)
  accuracy <- rep(estimates$estimate, each = length(probability))
  curve <- data.frame(
    system = rep(factor(estimates$system, levels(bin_table$system)), each = length(probability)),
    probability,
    agreement = probability * accuracy + (1 - probability) * (1 - accuracy) / (category_count - 1)
  )
  start_plot(bin_table, "probability", "agreement") +
    ggplot2::geom_line(data = curve, colour = plot_colours$accent, linetype = "dashed") +
    ggplot2::geom_point(aes_columns(size = "cases"), colour = plot_colours$main, alpha = 0.75) +
    facet_by(estimates, "system") +
    share_axis(0:1) +
    share_axis(0:1, ggplot2::scale_y_continuous) +
    ggplot2::coord_cartesian(clip = "off") +
    ggplot2::scale_size(range = c(2, 8), limits = c(0, NA), name = "cases", breaks = size_breaks) +
    plot_titles(
      "Agreement with the most probable category",
      "A point per bin; dashed: expected at the estimated accuracy",
      "mean probability of the most probable category", "share of agreement"
    )
}

# Plots three estimates for each system: from gold cases (cases with known truth) only, from ratings
# only, and from both.
plot_gold <- function(object) {
  abort_argument_if(is.null(object$gold$evidence), "type", "There are no gold cases to plot.",
    i = "Give {.arg known_truth} and {.arg gold_sample} to {.fun estimate_accuracy}.")
  gold_table <- tidy(object, "gold")
  gold_table$interval <- factor_from_top(gold_table$interval)
  gold_table$system <- factor_in_order(gold_table$system)
  plotted_estimates <- drop_missing(gold_table, "estimate")
  plotted_estimates$is_reported <- plotted_estimates$interval == object$options$interval
  range_table <- drop_missing(tidy(object), c("shared", "independent"))
  range_table$system <- factor(range_table$system, levels(plotted_estimates$system))
  start_plot(plotted_estimates, "estimate", "interval", colour = "is_reported") +
    ggplot2::geom_rect(
      ggplot2::aes(
        xmin = pmin(.data$shared, .data$independent), xmax = pmax(.data$shared, .data$independent),
        ymin = -Inf, ymax = Inf
      ), range_table, inherit.aes = FALSE, fill = plot_colours$low, alpha = 0.6
    ) +
    interval_lines(main = FALSE, alpha = 0.6) +
    ggplot2::geom_point(size = 2.6) +
    wrapped_facets("system") +
    flag_scale() +
    share_axis(expand = ggplot2::expansion(mult = 0.08)) +
    plot_titles(
      paste(
        accuracy_title(object), "by", count_noun(count_gold(object), "gold case"), "and by ratings"
      ),
      paste0(
        interval_title(object$options$conf_level), "s for the ", object$gold$settings$target,
        "; red: interval of the estimate",
        if (nrow(range_table) > 0L) "; shaded: the range from ratings only"
      ),
      accuracy_axis_title(object)
    )
}

plot_score_curve <- function(object, type, ...) {
  curve_table <- tidy(object, type, ...)
  curve_table$curve_name <- factor_in_order(
    ifelse(
      is.na(curve_table$category), curve_table$system,
      paste0(curve_table$system, ", ", curve_table$category)
    )
  )
  layers <- list(
    diagonal_line("accent", "dashed"), category_scale(levels(curve_table$curve_name)),
    square_panel()
  )
  if (type == "roc") {
    curve_table$false_positive_rate <- 1 - curve_table$specificity
    return(start_plot(curve_table, "false_positive_rate", "sensitivity", colour = "curve_name") +
      ggplot2::geom_step(linewidth = 0.9) +
      plot_titles(
        "ROC curves", truth_subtitle(list(object)), "1 - specificity", "sensitivity", colour = NULL
      ) +
      layers)
  }
  start_plot(curve_table, "probability", "estimate", colour = "curve_name") +
    vertical_interval_lines(main = FALSE) +
    ggplot2::geom_point(aes_columns(size = "n")) +
    ggplot2::scale_size_area(max_size = 5, guide = "none") +
    plot_titles(
      "Reliability of scores",
      truth_subtitle(
        list(object), interval_subtitle(curve_table, object$options$conf_level, "with")
      ),
      "score, mean of a bin", "share that is right", colour = NULL
    ) +
    layers
}

# Returns the subtitle of a plot. It begins with `intervals`, a text on the intervals (or NULL).
# Then it states whether the truth of cases is known or estimated.
truth_subtitle <- function(estimates, intervals = NULL) {
  is_truth_known <- all(map_lgl(estimates, has_all_truths))
  capitalised(paste(c(
    intervals, if (is_truth_known) "the truth of all cases is known" else "truth is estimated"
  ), collapse = "; "))
}

#' @rdname tidy.system_comparison
#' @param object A [compare_systems()] result.
#' @param type Kind of plot. `"differences"` (the default): the difference of each pair of systems
#'   with its interval. Two systems differ if the interval excludes zero. At most 20 pairs are
#'   drawn, those that `print()` shows first. `"ranks"`: a heat map with the probability of each
#'   rank of each system, where rank 1 is the best.
#' @param ... Not used.
#' @return `autoplot()`: a ggplot.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' # Differences with intervals, and probabilities of ranks
#' plot(comparison)
#' plot(comparison, type = "ranks")
#' @rawNamespace S3method(ggplot2::autoplot,system_comparison)
autoplot.system_comparison <- function(object, # nolint: object_name.
                                       type = c("differences", "ranks"), ...) {
  check_dots_empty(...)
  type <- check_choice(type)
  abort_argument_if(type == "ranks" && nrow(tidy(object, "ranks")) == 0L, "type",
    "Systems that are compared with one reference have no ranks.",
    i = "Use {.code type = \"differences\"}, or call {.fun compare_systems} without
        {.arg reference}.")
  check_drawn(tidy(object)$probability, "The comparison is", tidy(object)$reason)
  if (type == "differences") return(plot_differences(object))
  ranks <- tidy(object, "ranks")
  rank_probability <- ranks$probability
  systems_from_best <- object$accuracy$system[order(-object$accuracy$estimate)]
  heat_map(
    data.frame(
      judge1 = ranks$rank, judge2 = ranks$system, value = rank_probability,
      label = ifelse(rank_probability < 0.005, "", format_decimals(rank_probability, 2L))
    ),
    sort(unique(ranks$rank)), "Ranks of systems", paste("1 is the", describe_best_system(object)),
    rows = intersect(systems_from_best, ranks$system), top = TRUE
  )
}

# Largest number of pairs of systems or raters in a plot.
max_drawn_pairs <- 20L

plot_differences <- function(object) {
  compares_groups <- inherits(object, "group_comparison")
  pair_table <- head(if (compares_groups) tidy(object) else shown_pairs(object), max_drawn_pairs)
  pair_labels <- pair_names(pair_table)
  if (compares_groups) pair_labels <- paste0(pair_labels, ", ", pair_table$system)
  pair_table$pair <- factor_from_top(short_names(pair_labels))
  pair_table$verdict <- ifelse(
    (pair_table$conf.low > 0 | pair_table$conf.high < 0) %in% TRUE, "different",
    "undecided: the interval contains 0"
  )
  n_hidden_pairs <- nrow(tidy(object)) - nrow(pair_table)
  compares_accuracies <- is.null(object$options$metric)
  start_plot(pair_table, "estimate", "pair", colour = "verdict") +
    zero_line() +
    interval_lines(main = FALSE) +
    ggplot2::geom_point(size = 2.6) +
    colour_scale(
      c(different = "main", `undecided: the interval contains 0` = "muted"), name = NULL,
      guide = if (all(pair_table$verdict == "different")) "none" else "legend"
    ) +
    (if (compares_accuracies) {
      ggplot2::scale_x_continuous(labels = format_points, breaks = share_breaks)
    }) +
    plot_titles(
      paste("Differences of", compared_metric(object), if (compares_groups) "between groups" else
        "on the same cases"),
      paste0(
        interval_title(object$options$conf_level), "s",
        if (object$options$simultaneous) ", all at once" else ", separate for each pair"
      ),
      paste0(compared_metric(object), ", first minus second",
        if (compares_accuracies) " (percentage points)"),
      caption = if (n_hidden_pairs > 0L) {
        is_hidden_pair_smaller <- is.null(object$options$against) && !compares_groups
        paste(number(n_hidden_pairs), if (is_hidden_pair_smaller) "smaller" else "more",
          "differences are not shown")
      }
    )
}

#' @rdname metric_estimate
#' @param object An `estimate_metrics()` result.
#' @return `autoplot()`: a ggplot of estimates (points) and intervals (lines). Each metric of single
#'   categories has a panel. Metrics of the whole table share one panel. Rows are categories and
#'   colours are systems. With groups of cases, each system has a row per group, and colours are
#'   categories.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(estimates)
#' @rawNamespace S3method(ggplot2::autoplot,metric_estimate)
autoplot.metric_estimate <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  metric_table <- tidy(object)
  check_drawn(metric_table$estimate, "All metrics are", metric_table$reason)
  # Each metric of single categories has a panel. All other metrics share one panel.
  metric_titles <- map_chr(object$plan$records, `[[`, "title")
  title_of_row <- metric_titles[metric_table$metric]
  has_no_category <- is.na(metric_table$category)
  is_whole_table_metric <- has_no_category & is.na(metric_table$average)
  metric_table$panel <- factor(ifelse(is_whole_table_metric, "All categories", title_of_row),
    unique(c("All categories", metric_titles)))
  row_label <- ifelse(has_no_category, format_average(metric_table$average), metric_table$category)
  metric_table$row <- factor(ifelse(is_whole_table_metric, title_of_row, row_label), rev(unique(c(
    metric_titles, object$plan$categories, format_average(c(metric_averages, "hand_till"))
  ))))
  metric_table$kind <- ifelse(has_no_category, "overall", "category")
  metric_table$series_name <-
    factor_in_order(paste_columns(metric_table[c("system", part_columns_of(metric_table))]))
  # With groups, the plot has a row per system and group, and colours show categories. Without
  # groups, it has a row per category or metric, and colours show systems.
  if (object$options$grouped) metric_table[c("row", "series_name")] <-
    list(factor_from_top(metric_table$series_name), factor_in_order(metric_table$row))
  metric_table$from_top <- -as.integer(metric_table$series_name) # the first level is at the top
  dodge <- ggplot2::position_dodge(width = if (nlevels(metric_table$series_name) > 1L) 0.6 else 0)
  is_within_1 <- all(abs(c(ranges_of_plan(object$plan), metric_table$estimate)) <= 1, na.rm = TRUE)
  start_plot(
    drop_missing(metric_table, "estimate"), "estimate", "row", colour = "series_name",
    group = "from_top"
  ) +
    interval_lines(main = FALSE, position = dodge) +
    ggplot2::geom_point(aes_columns(shape = "kind"), position = dodge, size = 2.4) +
    wrapped_facets("panel", scales = if (is_within_1) "free_y" else "free") +
    category_scale(levels(metric_table$series_name)) +
    shape_scale(c(category = 19, overall = 18), guide = "none") +
    (if (all(field_of_rows(object$plan, "odds"))) {
      ggplot2::scale_x_log10(labels = format_axis_numbers)
    } else {
      ggplot2::scale_x_continuous(
        breaks = share_breaks, guide = ggplot2::guide_axis(check.overlap = TRUE)
      )
    }) +
    (if (is_within_1) ggplot2::expand_limits(x = 1)) +
    plot_titles(
      "Metrics of systems",
      truth_subtitle(
        object$estimates, interval_subtitle(metric_table, object$options$conf_level, "with")
      ),
      colour = NULL, caption = missing_caption(metric_table)
    )
}

#' @rdname confusion_matrix
#' @param object A `confusion_matrix`.
#' @param ... `plot(x, ...)` passes these arguments on to `autoplot()`.
#' @return `autoplot()`: a ggplot, the matrix as a heat map.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(confusion_matrix(LETTERS[1:5], accuracy = 0.6, difficulty = -0.2, dispersion = 2))
#' @rawNamespace S3method(ggplot2::autoplot,confusion_matrix)
autoplot.confusion_matrix <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  heat_map(
    matrix_cells(unclass(object)), rownames(object), "Confusion matrix", x = "category given",
    y = "true category"
  )
}
