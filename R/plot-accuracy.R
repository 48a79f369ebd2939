#' Plots of accuracy
#'
#' @param object An [estimate_accuracy()] result.
#' @param type `"systems"` (the default): estimates with intervals, and the accuracy of a rater.
#'   `"bins"`: for each bin, how often the system gives the most probable category, with the
#'   expected curve at the estimated accuracy. `"sensitivity"`: for each system, accuracy against
#'   the assumed share of shared errors, with a band for sampling error only. The share is 0 for
#'   independent errors and 1 if all errors of the raters are shared. Shares with names in `common`
#'   are marked, and the estimate has its interval. A dashed line shows methods whose estimate is
#'   not on this range. `"gold"`: for each system, the estimates from gold cases only, from ratings
#'   only, and from both. `"roc"`, `"reliability"`: curves of scores, see [score_curves].
#' @param ... For curves, arguments of [score_curves]; for `plot()`, passed on to `autoplot()`.
#' @inherit autoplot.ratings return
#' @family plots
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' plot(estimate_accuracy(x))
#' plot(estimate_accuracy(x, "binned", interval = "none"), type = "bins")
#' plot(estimate_accuracy(x), type = "sensitivity")
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
  table <- tidy(object)
  order <- table$system[order(table$estimate, na.last = FALSE)]
  table$system <- factor(table$system, order)
  rater <- glance(object)$rater_accuracy[[1L]]
  seen <- drop_missing(table, "estimate")
  picture(seen, "estimate", "system") +
    (if (!is.na(rater)) line_at(rater)) +
    interval_layers(in_percent) +
    # Space for the labels, also if an interval ends at 1.
    share_axis(expand = ggplot2::expansion(add = 0.03)) +
    roomy_rows(limits = order) +
    titled(
      if (is_pass_rate(object)) "Pass rate of systems" else "Accuracy of systems",
      systems_subtitle(table, object$options$conf_level, rater),
      if (is_pass_rate(object)) "share that passes" else "probability of the correct category",
      caption = not_identified(setdiff(order, seen$system))
    )
}

systems_subtitle <- function(table, level, rater) {
  if (all(is.na(table$estimate))) return(paste("Not identified:", table$reason[[1L]]))
  words <- interval_subtitle(table, level) %||% "Estimates"
  if (is.na(rater)) words else paste0(words, "; dashed: a single rater (", in_percent(rater), ")")
}

plot_bins <- function(object) {
  table <- tidy(object, "bins")
  estimates <- drop_missing(tidy(object), "estimate")
  abort_argument_if(nrow(table) == 0L || nrow(estimates) == 0L, "object",
    "There are no bins to draw.",
    i = paste0("The estimate is {.code NA}: ", tidy(object)$reason[[1L]], "."))
  table$system <- in_order(table$system)
  curve <- expected_agreement(estimates, n_categories(object$fit$x))
  curve$system <- factor(curve$system, levels(table$system))
  axis <- function(scale) scale(limits = c(0, 1), breaks = c(0, 0.5, 1))
  picture(table, "probability", "agreement") +
    ggplot2::geom_line(data = curve, colour = plot_colours[["accent"]], linetype = "dashed") +
    ggplot2::geom_point(mapped(size = "cases"), colour = plot_colours[["main"]], alpha = 0.75) +
    facet_by(estimates, "system") +
    axis(ggplot2::scale_x_continuous) +
    axis(ggplot2::scale_y_continuous) +
    ggplot2::coord_cartesian(clip = "off") +
    ggplot2::scale_size(range = c(2, 8), limits = c(0, NA), name = "cases", breaks = size_breaks) +
    titled(
      "How often systems give the most probable category",
      "A point per bin; dashed: expected at the estimated accuracy",
      "mean probability of the most probable category", "share of agreement"
    )
}

# Equation 6: expected agreement of systems with a category, by the probability of the category.
expected_agreement <- function(estimates, categories) {
  p <- seq(1 / categories, 1, length.out = 50L)
  stack_rows(Map(function(system, a) {
    data.frame(system, probability = p, agreement = p * a + (1 - p) * (1 - a) / (categories - 1))
  }, estimates$system, estimates$estimate))
}

# Estimates of each system from gold cases only, from ratings only, and from both.
plot_gold <- function(object) {
  abort_argument_if(is.null(object$gold$evidence), "type", "There are no gold cases to draw.",
    i = "Give {.arg known_truth} and {.arg gold_sample} to {.fun estimate_accuracy}.")
  table <- tidy(object, "gold")
  table$interval <- from_top(table$interval)
  table$system <- in_order(table$system)
  seen <- drop_missing(table, "estimate")
  seen$chosen <- seen$interval == object$options$interval
  ends <- drop_missing(tidy(object), c("shared", "independent"))
  ends$system <- factor(ends$system, levels(seen$system))
  picture(seen, "estimate", "interval", colour = "chosen") +
    ggplot2::geom_rect(
      ggplot2::aes(
        xmin = pmin(.data$shared, .data$independent), xmax = pmax(.data$shared, .data$independent),
        ymin = -Inf, ymax = Inf
      ), ends, inherit.aes = FALSE, fill = plot_colours[["low"]], alpha = 0.6
    ) +
    interval_lines(main = FALSE, alpha = 0.6) +
    ggplot2::geom_point(size = 2.6) +
    ggplot2::facet_wrap("system", labeller = wrapped()) +
    flag_colours() +
    ggplot2::scale_x_continuous(labels = in_percent, expand = ggplot2::expansion(mult = 0.08)) +
    titled(
      paste("Accuracy by", count_noun(count_gold(object), "gold case"), "and by ratings"),
      paste0(
        interval_title(object$options$conf_level), "s, of the ", object$gold$settings$target,
        if (nrow(ends) > 0L) "; shaded: the range of ratings alone"
      ),
      "probability of the correct category"
    ) +
    room_between(18)
}

plot_score_curve <- function(object, type, ...) {
  table <- tidy(object, type, ...)
  table$who <- in_order(
    ifelse(is.na(table$category), table$system, paste0(table$system, ", ", table$category))
  )
  drawn <- if (type == "roc") draw_roc(table, object) else draw_reliability(table, object)
  drawn +
    diagonal("accent", "dashed") +
    category_scale(levels(table$who)) +
    ggplot2::coord_equal(xlim = c(0, 1), ylim = c(0, 1))
}

draw_roc <- function(table, object) {
  table$other <- 1 - table$specificity
  picture(table, "other", "sensitivity", colour = "who") +
    ggplot2::geom_step(linewidth = 0.9) +
    titled(
      "ROC curves", truth_subtitle(list(object)), "1 - specificity", "sensitivity", colour = NULL
    )
}

draw_reliability <- function(table, object) {
  picture(table, "probability", "estimate", colour = "who") +
    upright_lines(main = FALSE) +
    ggplot2::geom_point(mapped(size = "n")) +
    ggplot2::scale_size_area(max_size = 5, guide = "none") +
    titled(
      "Reliability of scores",
      truth_subtitle(list(object), interval_subtitle(table, object$options$conf_level, "with")),
      "score, mean of a bin", "share that is right", colour = NULL
    )
}

# Subtitle of plots that depend on the truth. `intervals`: text about intervals, or NULL.
truth_subtitle <- function(estimates, intervals = NULL) {
  known <- all(vapply(estimates, knows_all_truths, NA))
  truth <- if (known) "the truth of all cases is known" else "truth is estimated"
  capitalised(paste(c(intervals, truth), collapse = "; "))
}

#' @rdname tidy.system_comparison
#' @param object A [compare_systems()] result.
#' @param ... Not used.
#' @param type `"differences"` (the default): the difference of each pair with its interval; systems
#'   differ if it excludes zero. If there are more than 40, those that are printed first. `"ranks"`:
#'   the probability of each rank of each system that has ranks.
#' @param ... For `plot()`, passed on to `autoplot()`.
#' @return `autoplot()`: a ggplot.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(comparison)
#' plot(comparison, type = "ranks")
#' @rawNamespace S3method(ggplot2::autoplot,system_comparison)
autoplot.system_comparison <- function(object, # nolint: object_name.
                                       type = c("differences", "ranks"), ...) {
  check_dots_empty(...)
  type <- check_choice(type)
  abort_argument_if(type == "ranks" && nrow(tidy(object, "ranks")) == 0L, "type",
    "There are no ranks of systems that are compared with one reference.",
    i = "Draw {.val differences}, or compare with the {.arg best}.")
  check_drawn(tidy(object)$probability, "The comparison is", tidy(object)$reason)
  if (type == "differences") plot_differences(object) else plot_ranks(object)
}

most_pairs <- 40L # largest number of pairs in a plot

plot_differences <- function(object) {
  table <- head(shown_pairs(object), most_pairs)
  grouped <- inherits(object, "group_comparison")
  pair <- paste(table[[1L]], "-", table[[2L]])
  table$pair <- from_top(if (grouped) paste(pair, table$system) else pair)
  decided <- (table$conf.low > 0 | table$conf.high < 0) %in% TRUE
  table$verdict <- ifelse(decided, "different", "undecided")
  hidden <- nrow(tidy(object)) - nrow(table)
  picture(table, "estimate", "pair", colour = "verdict") +
    zero_line() +
    interval_lines(main = FALSE) +
    ggplot2::geom_point(size = 2.6) +
    colour_scale(
      c(different = "main", undecided = "muted"), name = NULL,
      guide = if (nrow(table) > 1L) "legend" else "none"
    ) +
    (if (is.null(object$options$metric)) ggplot2::scale_x_continuous(labels = in_percent)) +
    titled(
      paste("Differences of", compared_metric(object), if (grouped) "between groups" else
        "on the same cases"),
      paste0(
        interval_title(object$options$conf_level), "s",
        if (object$options$simultaneous) ", all at once" else ", each for its pair alone"
      ),
      paste(compared_metric(object), "of the first less that of the second"),
      caption = if (hidden > 0L) {
        smaller <- if (is.null(object$options$against)) "smaller" else "more"
        paste(number(hidden), smaller, "differences are not shown")
      }
    )
}

plot_ranks <- function(object) {
  ranks <- tidy(object, "ranks")
  best <- object$accuracy$system[order(-object$accuracy$estimate)]
  small <- ranks$probability < 0.005
  heat_map(
    data.frame(
      judge1 = ranks$rank, judge2 = ranks$system, value = ranks$probability,
      label = ifelse(small, "", decimals(ranks$probability, 2L))
    ),
    sort(unique(ranks$rank)), "Ranks of systems", paste("1 is the", best_by(object)),
    rows = intersect(best, ranks$system), top = TRUE
  )
}

#' @rdname metric_estimate
#' @param object An `estimate_metrics()` result.
#' @return `autoplot()`: a ggplot of estimates (points) and intervals (lines). It has a panel for
#'   each metric of categories, with a row per category and average, and a panel for metrics of the
#'   whole table. Likelihood ratios and odds ratios have a logarithmic axis if no other metrics are
#'   drawn.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(found)
#' @rawNamespace S3method(ggplot2::autoplot,metric_estimate)
autoplot.metric_estimate <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  table <- tidy(object)
  check_drawn(table$estimate, "All metrics are", table$reason)
  table <- facet_metrics(table, object$plan)
  dodge <- ggplot2::position_dodge(width = if (nlevels(table$who) > 1L) 0.6 else 0)
  shares <- all(abs(c(ranges_of_plan(object$plan), table$estimate)) <= 1, na.rm = TRUE)
  only_ratios <- all(vapply(object$plan$records, `[[`, NA, "odds"))
  picture(
    drop_missing(table, "estimate"), "estimate", "row", colour = "who", group = "from_top"
  ) +
    interval_lines(main = FALSE, position = dodge) +
    ggplot2::geom_point(mapped(shape = "kind"), position = dodge, size = 2.4) +
    ggplot2::facet_wrap("panel", scales = if (shares) "free_y" else "free", labeller = wrapped()) +
    category_scale(levels(table$who)) +
    ggplot2::scale_shape_manual(values = c(category = 19, overall = 18), guide = "none") +
    (if (only_ratios) {
      ggplot2::scale_x_log10(labels = in_digits)
    } else {
      ggplot2::scale_x_continuous(breaks = share_breaks)
    }) +
    (if (shares) ggplot2::expand_limits(x = 1)) +
    titled(
      "Metrics of systems",
      truth_subtitle(object$estimates, interval_subtitle(table, object$options$conf_level, "with")),
      colour = NULL, caption = lacking_words(table)
    ) +
    room_between(14)
}

# Labels of systems, panels and rows; the first row is at the top.
facet_metrics <- function(table, plan) {
  titles <- vapply(plan$records, `[[`, "", "title")
  title <- titles[table$metric]
  overall <- is.na(table$category)
  whole <- overall & is.na(table$average)
  row <- ifelse(overall, average_words(table$average), table$category)
  row[whole] <- title[whole]
  averages <- average_words(c(metric_averages, "hand_till"))
  table$row <- factor(row, rev(unique(c(titles, plan$categories, averages))))
  panels <- c("All categories", titles)
  table$panel <- factor(ifelse(whole, panels[[1L]], title), unique(panels))
  table$kind <- ifelse(overall, "overall", "category")
  table$who <- in_order(
    if (has_columns(table, "group")) paste0(table$system, ", ", table$group) else table$system
  )
  table$from_top <- -as.integer(table$who)
  table
}

#' @rdname confusion_matrix
#' @param object A `confusion_matrix`.
#' @param ... For `plot()`, passed on to `autoplot()`.
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
