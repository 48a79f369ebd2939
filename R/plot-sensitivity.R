# Plots on shared errors, which are errors that a system makes on the same cases as raters. This
# file has plots for estimates of accuracy (type "sensitivity" of autoplot()), for bounds of
# accuracy, and for correlations of errors.

plot_sensitivity <- function(object) {
  estimate_table <- tidy(object)
  rows_with_estimate <- drop_missing(estimate_table, c("shared", "independent", "estimate"))
  reason <- estimate_table$reason[[1L]]
  abort_argument_if(nrow(rows_with_estimate) == 0L, "object",
    "The accuracies with independent errors and with fully shared errors were not computed.",
    i = if (all(is.na(estimate_table$estimate)) && !is.na(reason)) paste0("The estimate is
        {.code NA}: ", escape_braces(reason), ".") else "Methods {.val average}, {.val joint} and
        {.val shared} compute these accuracies. Other methods that are not functions compute them
        with {.code interval = \"robust\"}.")
  systems <- rows_with_estimate$system[order(-rows_with_estimate$estimate)] # best first
  keep_estimated_systems <- function(rows) {
    rows <- rows[rows$system %in% systems, ]
    rows$system <- factor(rows$system, systems)
    rows
  }
  marks <- keep_estimated_systems(sensitivity_marks(object))
  # Each system has a line. It begins at the accuracy with independent errors (assumed share of
  # shared errors 0), and ends at the accuracy with fully shared errors (share 1). Limits of the
  # band for sampling error are NA if the estimate is not on the line or has no interval.
  sampling_margin <- normal_quantile(object$options$conf_level) * object$details$sampling
  if (!is_estimate_on_line(object) || !has_interval(object)) sampling_margin <- NA_real_
  line_ends <- data.frame(
    system = rep(estimate_table$system, 2L), common = rep(c(0, 1), each = nrow(estimate_table)),
    value = c(estimate_table$independent, estimate_table$shared)
  )
  line_ends$low <- pmax(0, line_ends$value - sampling_margin)
  line_ends$high <- pmin(1, line_ends$value + sampling_margin)
  start_plot(keep_estimated_systems(line_ends), "common", "value") +
    sensitivity_layers(line_ends, marks, object, keep_estimated_systems(estimate_table)) +
    facet_by(marks, "system") +
    share_axis(0:1, expand = ggplot2::expansion(add = 0.05)) +
    share_axis(scale = ggplot2::scale_y_continuous) +
    plot_titles(
      "Accuracy by assumed share of shared errors",
      sensitivity_subtitle(object, line_ends, marks), "assumed share of shared errors", "accuracy",
      caption = not_identified_caption(setdiff(estimate_table$system, systems))
    )
}

sensitivity_layers <- function(line_ends, marks, object, estimates) {
  name_by_mark <- function(values) setNames(values, levels(marks$mark))
  list(
    if (any_known(line_ends$low)) ggplot2::geom_ribbon(
      aes_columns(ymin = "low", ymax = "high"), fill = plot_colours$low, alpha = 0.6
    ),
    ggplot2::geom_line(colour = plot_colours$muted, linewidth = 0.8),
    # The interval from gold cases is the same at all assumed shares: a rectangle.
    if (!is.null(object$gold)) ggplot2::geom_rect(
      ggplot2::aes(xmin = 0, xmax = 1, ymin = .data$conf.low, ymax = .data$conf.high), estimates,
      fill = plot_colours$accent, alpha = 0.15, inherit.aes = FALSE, na.rm = TRUE
    ),
    if (!is_estimate_on_line(object)) ggplot2::geom_hline(
      aes_columns(yintercept = "estimate"), estimates, linetype = "dashed",
      colour = plot_colours$accent
    ),
    vertical_interval_lines("low", "high", data = marks, alpha = 0.6),
    ggplot2::geom_point(aes_columns(colour = "mark", shape = "mark"), marks, size = 3),
    colour_scale(name_by_mark(c("muted", "main", "muted", "accent")), name = "shared errors"),
    shape_scale(name_by_mark(c(16, 18, 15, 17)), name = "shared errors")
  )
}

# Is the estimate a point on the line from `independent` (accuracy if errors are independent) to
# `shared` (accuracy if all errors are shared)? FALSE if the estimate is computed from gold cases,
# or by a method that does not use these two accuracies.
is_estimate_on_line <- function(object) {
  estimate_table <- object$table
  is.null(object$gold) &&
    (!is.null(common_setting(object$options)) ||
      all(estimate_table$estimate == estimate_table$shared, na.rm = TRUE))
}

# Returns the marks on the line of each system, a data frame with a row per system and mark:
# * mark: name of the mark
# * common: share of the raters' errors that the system shares. The share is 0 for the mark
#   `"none"`, 1 for `"all"`, the typical share for `"typical"`, and the number of the user for
#   `"stated"`
# * value: accuracy of the system if `common` is this share
# * low, high: limits of the interval of the estimate. NA except at the mark that shows the estimate
sensitivity_marks <- function(object) {
  estimate_table <- tidy(object)
  common_option <- common_setting(object$options)
  has_user_share <- is.numeric(common_option)
  all_mark_shares <- list(
    none = 0, typical = object$typical, all = 1, stated = if (has_user_share) object$details$common
  )
  estimate_mark <- if (has_user_share) "stated" else common_option %||% "all"
  is_estimate_marked <-
    is.null(object$gold) && (!is.null(common_option) || is_estimate_on_line(object))
  mark_shares <- drop_null(all_mark_shares)
  drop_missing(stack_rows(Map(function(mark, common) {
    interval_multiplier <- if (is_estimate_marked && mark == estimate_mark) 1 else NA
    data.frame(
      system = estimate_table$system, mark = factor(mark, names(all_mark_shares)), common,
      value =
        estimate_table$independent - common * (estimate_table$independent - estimate_table$shared),
      low = interval_multiplier * estimate_table$conf.low,
      high = interval_multiplier * estimate_table$conf.high
    )
  }, names(mark_shares), mark_shares)), "value")
}

sensitivity_subtitle <- function(object, line_ends, marks) {
  interval_text <- interval_title(object$options$conf_level)
  paste0(
    "From independent errors (0%) to fully shared errors (100%);\nratings cannot show which",
    if (!is.null(object$gold)) {
      paste0("\nDashed, with its ", interval_text, ": estimate with gold cases")
    } else if (!is_estimate_on_line(object)) {
      paste0("\nDashed: the ", method_of(object)$words)
    },
    if (any_known(marks$low)) paste0("\nBar: ", interval_text, " of the estimate"),
    if (any_known(line_ends$low)) "; band: sampling error alone"
  )
}

#' @rdname tidy.accuracy_bounds
#' @param object An [accuracy_bounds()] result.
#' @return `autoplot()`: a ggplot. A thick line extends from the lowest to the highest possible
#'   accuracy of each system. A thin line shows the confidence set, if `object` has one. A diamond
#'   shows the accuracy if the system shares all errors of the raters.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(bounds)
#' @rawNamespace S3method(ggplot2::autoplot,accuracy_bounds)
autoplot.accuracy_bounds <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  bounds_table <- tidy(object)
  check_drawn(bounds_table$lowest, "The bounds are", bounds_table$reason)
  rows_with_bounds <- drop_missing(bounds_table, "lowest")
  rows_with_bounds$system <- stats::reorder(
    rows_with_bounds$system, rows_with_bounds$lowest + rows_with_bounds$highest
  )
  bounds_summary <- glance(object)
  start_plot(rows_with_bounds, y = "system") +
    interval_lines(linewidth = 0.7, alpha = 0.6) +
    range_lines() +
    ggplot2::geom_point(
      aes_columns("shared"), colour = plot_colours$accent, shape = 18, size = 3, na.rm = TRUE
    ) +
    ggplot2::scale_x_continuous(
      limits = c(0, 1), labels = format_axis_percent, expand = ggplot2::expansion(add = 0.02)
    ) +
    plot_titles(
      "Lowest and highest accuracy",
      paste0(
        "for any amount of errors shared with the raters,\nif the model of the raters is correct",
        if (bounds_summary$interval == "bootstrap")
          paste0("; thin: ", confidence_set_title(bounds_summary$conf_level))
      ),
      "probability of the correct category",
      caption = "Diamond: all errors shared with the raters"
    )
}

#' @rdname tidy.shared_errors
#' @param object A [shared_errors()] result.
#' @rawNamespace S3method(ggplot2::autoplot,shared_errors)
autoplot.shared_errors <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  pair_table <- tidy(object)
  if (any_known(pair_table$estimate)) return(heat_map(
    symmetric_cells(pair_table), object$judges, "Shared errors",
    paste0("Correlation of being right, where truth is known\n", format(object)),
    sorted = TRUE, scale = share_scale("correlation", negative = TRUE, low = "white")
  ))
  # Without known truth, the plot shows the ranges of correlations that the ratings allow.
  pairs <- head(drop_missing(pair_table, "lowest"), max_drawn_pairs)
  pairs$pair <- factor_from_top(short_names(paste(pairs$rater1, "-", pairs$rater2)))
  start_plot(pairs, y = "pair") +
    zero_line() +
    range_lines() +
    ggplot2::scale_x_continuous(limits = c(-1, 1)) +
    plot_titles(
      "Shared errors that the ratings allow",
      paste("No truth is known; accuracies within", format_overall_limits(object$options$limits)),
      "correlation of being right",
      caption = if (nrow(pairs) < nrow(pair_table)) {
        paste(nrow(pair_table) - nrow(pairs), "further pairs are not shown")
      }
    )
}
