#' @rdname summary.simulation_study
#' @param estimators Names of estimators to draw; `NULL`, the default, for all.
#' @param type `"estimates"`: estimated against true accuracy, a point per panel and system for each
#'   measure of truth, a panel per design. `"performance"`: bias, root mean squared error and
#'   coverage of each estimator against the expected accuracy, with two Monte Carlo standard errors
#'   either way.
#' @return `autoplot()`: a ggplot.
#' @rawNamespace S3method(ggplot2::autoplot,simulation_study)
autoplot.simulation_study <- function(object, # nolint: object_name.
                                      type = c("estimates", "performance"), estimators = NULL,
                                      ...) {
  check_dots_empty(...)
  type <- check_choice(type)
  known <- names(object$estimators)
  estimators <- estimators %||% known
  if (is.character(estimators)) estimators <- unique(estimators)
  check_names_among(estimators, known, "estimators")
  if (type == "performance") return(plot_performance(object, estimators))
  rows <- tidy(object)
  rows <- rows[rows$estimator %in% estimators, ]
  lacking <- is.na(rows$estimate)
  abort_argument_if(all(lacking), "object", "There is no estimate to draw.",
    i = "The column {.field reason} of {.code tidy()} says why.")
  rows$label <- label_designs(rows)
  rows$estimator <- factor(rows$estimator, estimators)
  points <- true_and_estimated(rows[!lacking, ])
  ends <- range(points$truth, points$estimate)
  axis <- function(scale) scale(breaks = share_breaks, labels = in_percent)
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
      facet_by(points, "label")
    }) +
    colour_scale(c("accent", "main"), name = "true accuracy") +
    ggplot2::scale_shape_manual(values = c(19, 1), name = "true accuracy") +
    ggplot2::guides(colour = ggplot2::guide_legend(override.aes = list(size = 2, alpha = 1))) +
    axis(ggplot2::scale_x_continuous) +
    axis(ggplot2::scale_y_continuous) +
    ggplot2::coord_equal(xlim = ends, ylim = ends) +
    titled(
      "Estimated and true accuracy", "On the line estimates are right",
      "true accuracy", "estimated accuracy", caption = if (any(lacking)) {
        paste(number(sum(lacking)), "of", count_noun(length(lacking), "estimate"), "are missing")
      }
    ) +
    room_between(14) # for the numbers below
}

plot_performance <- function(object, estimators) {
  table <- summary(object, by = c("design", "n", "estimator"))
  table <- table[table$target == "expected" & table$estimator %in% estimators, ]
  designs <- label_designs(table)
  measures <- c(bias = "bias", rmse = "RMSE", coverage = "coverage")
  rows <- stack_rows(names(measures), function(measure) {
    reach <- outer(2 * table[[paste0(measure, "_mcse")]], -1:1)
    ends <- quantile_table(t(table[[measure]] + reach), table$estimator, designs)
    data.frame(ends, measure = factor(measures[[measure]], measures))
  })
  colours <- category_colours(levels(designs))
  plot_medians(drop_missing(rows, "middle"), estimators, colours, 0.5) +
    ggplot2::facet_wrap("measure", scales = "free_x") +
    (if (nlevels(designs) == 1L) ggplot2::guides(colour = "none")) +
    ggplot2::scale_x_continuous(breaks = share_breaks) +
    titled("Performance of estimators", "With two Monte Carlo standard errors either way") +
    room_between(14)
}

# Designs in their order, with the number of cases if a design has several.
label_designs <- function(rows) {
  several <- any(tapply(rows$n, rows$design, function(n) length(unique(n)) > 1L))
  in_order(if (several) paste0(rows$design, ", n = ", number(rows$n)) else rows$design)
}

# A point for each measure of truth.
true_and_estimated <- function(rows) {
  measures <- c(expected = "expected", sample = "in the sample")
  points <- stack_rows(names(measures), function(measure) {
    data.frame(
      rows[c("label", "estimator", "estimate")], truth = rows[[measure]],
      measure = factor(measures[[measure]], measures)
    )
  })
  drop_missing(points, "truth")
}

#' @rdname tidy.case_plan
#' @param type `"probability"` (the default): probability that an estimate is within the margin,
#'   against the number of cases. `"half_width"`: the margin that is kept with probability
#'   `conf_level`. The target is grey and dashed. Bands are plus and minus two Monte Carlo standard
#'   errors.
#' @return `autoplot()`: a ggplot.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(plan)
#' plot(plan, type = "half_width")
#' @rawNamespace S3method(ggplot2::autoplot,case_plan)
autoplot.case_plan <- function(object, type = c("probability", "half_width"), # nolint: object_name.
                               ...) {
  check_dots_empty(...)
  type <- check_choice(type)
  if (has_columns(object$answer, "measure")) return(plot_agreement_plan(object))
  shares <- type == "probability"
  raters <- sort(unique(tidy(object)$raters))
  points <- function(table) {
    value <- table[[type]]
    reach <- 2 * table[[paste0(type, "_mcse")]]
    data.frame(
      n = table$cases, value = value, group = factor(table$raters, raters),
      low = pmax(value - reach, 0), high = pmin(value + reach, 1)
    )
  }
  curve <- points(tidy(object, "curve"))
  curve <- drop_missing(curve, "value")
  settings <- glance(object)
  plan_picture(
    curve, if (shares) settings$conf_level else settings$half_width, "raters",
    below = ggplot2::geom_ribbon(
      mapped(ymin = "low", ymax = "high", fill = "group"), alpha = 0.18, colour = NA
    ),
    limits = if (shares) c(min(0.5, curve$value), 1) else c(0, NA)
  ) +
    ggplot2::geom_point(size = 1.6) +
    ggplot2::geom_segment(
      ggplot2::aes(xend = .data$n, yend = if (shares) 0 else Inf), points(tidy(object)),
      na.rm = TRUE, linetype = "13", show.legend = FALSE
    ) +
    category_scale(levels(curve$group), name = "raters", aesthetics = c("colour", "fill")) +
    titled(
      if (shares) {
        paste("Probability of an estimate within", format(settings$half_width), "of the truth")
      } else {
        paste("Margin that is kept with probability", format(settings$conf_level))
      },
      plan_subtitle(settings), "cases", if (shares) "probability" else "margin"
    )
}

plot_agreement_plan <- function(object) {
  curve <- tidy(object, "curve")
  points <- data.frame(n = curve$cases, value = curve$half_width, group = factor(1L))
  plan_picture(points, object$settings$half_width) +
    ggplot2::geom_point(size = 1.6, show.legend = FALSE) +
    category_scale("1") +
    titled("Half-width of intervals", schema_of(object)$line, "cases", "half-width")
}

# Plot of all plans: `value` against the number `n` of cases, for each `group`, and the target.
plan_picture <- function(curve, target, name = NULL, below = NULL, limits = c(0, NA)) {
  groups <- nlevels(curve$group)
  picture(curve, "n", "value", colour = "group") +
    ggplot2::geom_hline(
      yintercept = target, linetype = "dashed", colour = plot_colours[["muted"]]
    ) +
    below +
    ggplot2::geom_line(mapped(linetype = "group")) +
    ggplot2::scale_x_log10(labels = function(x) trimws(number(x))) +
    # Bands that exceed the limits are cut, not dropped.
    ggplot2::scale_y_continuous(limits = limits, oob = function(x, range) x) +
    # Line types distinguish curves without colour.
    ggplot2::scale_linetype_manual(
      values = rep_len(c("solid", "42", "12", "6212"), groups), name = name,
      guide = if (groups > 1L) "legend" else "none"
    )
}

plan_subtitle <- function(settings) {
  paste0(
    if (!is.na(settings$chance_kappa)) sprintf(
      "Rater accuracy %s (chance kappa %s), ", decimals(settings$rater_accuracy, 2L),
      decimals(settings$chance_kappa, 2L)
    ),
    count_noun(settings$categories, "category", "categories"),
    "; ", number(settings$runs), " panels a point"
  )
}

#' @rdname tidy.gold_plan
#' @param object A [plan_gold()] result.
#' @return `autoplot()`: a ggplot of the half-width of intervals against the number of gold cases:
#'   from gold only, corrected by ratings, and combined with the estimate from ratings only. The
#'   wanted half-width is grey and dashed.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(plan)
#' @rawNamespace S3method(ggplot2::autoplot,gold_plan)
autoplot.gold_plan <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  kinds <- unique(tidy(object)$interval)
  points <- function(table) {
    data.frame(
      n = table$gold, value = table$half_width, group = factor(table$interval, kinds),
      system = table$system
    )
  }
  plan_picture(points(tidy(object, "curve")), glance(object)$half_width) +
    ggplot2::geom_point(data = points(tidy(object)), na.rm = TRUE, size = 2) +
    ggplot2::facet_wrap("system") +
    colour_scale(
      c("gold alone" = "muted", corrected = "accent", combined = "main"), name = NULL
    ) +
    titled("Half-width of intervals", schema_of(object)$caption, "gold cases", "half-width")
}

#' @rdname tidy.k_check
#' @param object A [check_k_properties()] result.
#' @param ... Not used.
#' @param type `"tests"` (the default): the p-value of each test, and the level. `"pairs"`: observed
#'   against expected agreement of each pair of raters; pairs above the line agree more than their
#'   accuracies explain. `"disagreements"`: the same for disagreeing pairs of ratings, by their
#'   categories, under equally probable errors.
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

# Observed against expected values. Labels mark the `odd` ones or, if there are none, the three with
# the largest deviation.
plot_excess <- function(rows, label, odd, title, x, y) {
  rows$label <- label
  rows$odd <- odd
  deviation <- abs(rows$observed - rows$expected) / sqrt(pmax(rows$expected, 1e-12))
  named <- rows[if (any(odd)) odd else rank(-deviation, ties.method = "first") <= 3L, ]
  ends <- range(rows$observed, rows$expected)
  ends <- ends + c(-1, 1) * max(diff(ends), 0.02) * 0.12 # space for the labels
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
