# Accuracy by the share of shared errors: type "sensitivity" of autoplot() for estimates of
# accuracy.

plot_sensitivity <- function(object) {
  table <- tidy(object)
  drawn <- drop_missing(table, c("shared", "independent", "estimate"))
  if (nrow(drawn) == 0L) abort_no_range(object)
  systems <- drawn$system[order(-drawn$estimate)] # best first
  of_systems <- function(rows) {
    rows <- rows[rows$system %in% systems, ]
    rows$system <- factor(rows$system, systems)
    rows
  }
  marks <- of_systems(sensitivity_marks(object))
  ends <- sensitivity_ends(object)
  picture(of_systems(ends), "common", "value") +
    sensitivity_layers(ends, marks, object, of_systems(table)) +
    facet_by(marks, "system") +
    ggplot2::scale_x_continuous(
      limits = c(0, 1), breaks = c(0, 0.5, 1), labels = in_percent,
      expand = ggplot2::expansion(add = 0.05)
    ) +
    ggplot2::scale_y_continuous(labels = in_percent, limits = no_narrower) +
    titled(
      "Accuracy by how many errors are shared with the raters",
      sensitivity_subtitle(object, ends, marks), "assumed share of shared errors", "accuracy",
      caption = not_identified(setdiff(table$system, systems))
    ) +
    room_between(18)
}

sensitivity_layers <- function(ends, marks, object, table) {
  by_mark <- function(values) setNames(values, levels(marks$mark))
  list(
    if (!all(is.na(ends$low))) ggplot2::geom_ribbon(
      mapped(ymin = "low", ymax = "high"), fill = plot_colours[["low"]], alpha = 0.6
    ),
    ggplot2::geom_line(colour = plot_colours[["muted"]], linewidth = 0.8),
    # The measurement by known cases does not depend on the assumed share.
    if (!is.null(object$gold)) ggplot2::geom_rect(
      ggplot2::aes(xmin = 0, xmax = 1, ymin = .data$conf.low, ymax = .data$conf.high), table,
      fill = plot_colours[["accent"]], alpha = 0.15, inherit.aes = FALSE, na.rm = TRUE
    ),
    if (!on_the_line(object)) ggplot2::geom_hline(
      mapped(yintercept = "estimate"), table, linetype = "dashed",
      colour = plot_colours[["accent"]]
    ),
    upright_lines("low", "high", data = marks, alpha = 0.6),
    ggplot2::geom_point(mapped(colour = "mark", shape = "mark"), marks, size = 3),
    colour_scale(by_mark(c("muted", "main", "muted", "accent")), name = "common"),
    ggplot2::scale_shape_manual(values = by_mark(c(16, 18, 15, 17)), name = "common")
  )
}

# Is the estimate on the line between independent and shared errors?
on_the_line <- function(object) {
  table <- object$table
  is.null(object$gold) &&
    (!is.null(common_of(object$options)) || all(table$estimate == table$shared, na.rm = TRUE))
}

# Two rows per system. Their interval is that of a given share: sampling error only.
sensitivity_ends <- function(object) {
  table <- tidy(object)
  margin <- normal_quantile(object$options$conf_level) * object$details$sampling
  if (!on_the_line(object) || !has_interval(object)) margin <- NA_real_
  value <- c(table$independent, table$shared)
  data.frame(
    system = rep(table$system, 2L), common = rep(c(0, 1), each = nrow(table)), value = value,
    low = pmax(0, value - margin), high = pmin(1, value + margin)
  )
}

# The named shares, and the given share if it is another. The typical share has the interval that
# allows for other shares.
sensitivity_marks <- function(object) {
  table <- tidy(object)
  common <- common_of(object$options)
  stated <- is.numeric(common)
  shares <- list(
    none = 0, typical = object$typical, all = 1, stated = if (stated) object$details$common
  )
  estimated <- if (!is.null(object$gold)) {
    ""
  } else if (stated) {
    "stated"
  } else {
    common %||% if (on_the_line(object)) "all" else ""
  }
  marked <- drop_null(shares)
  marks <- stack_rows(Map(function(mark, common) {
    known <- if (mark == estimated) 1 else NA
    data.frame(
      system = table$system, mark = factor(mark, names(shares)), common,
      value = table$independent - common * (table$independent - table$shared),
      low = known * table$conf.low, high = known * table$conf.high
    )
  }, names(marked), marked))
  drop_missing(marks, "value")
}

sensitivity_subtitle <- function(object, ends, marks) {
  interval <- interval_title(object$options$conf_level)
  paste0(
    "From independent errors (0%) to fully shared errors (100%); ratings cannot show which",
    if (!is.null(object$gold)) {
      paste0("\nDashed, with its ", interval, ": what known cases measure")
    } else if (!on_the_line(object)) {
      paste0("\nDashed: the ", method_of(object)$words)
    },
    if (!all(is.na(marks$low))) paste0("\nBar: ", interval, " of the estimate"),
    if (!all(is.na(ends$low))) "; band: sampling error alone"
  )
}

abort_no_range <- function(object) {
  table <- tidy(object)
  reason <- table$reason[[1L]]
  abort_argument("object", "There is no range of dependence to draw.",
    i = if (all(is.na(table$estimate)) && !is.na(reason)) paste0("The estimate is
        {.code NA}: ", verbatim(reason), ".") else "Method {.val {object$options$method}} has one
        with {.code interval = \"robust\"}; methods {.val average}, {.val joint} and {.val shared}
        always have.")
}

#' @rdname tidy.accuracy_bounds
#' @param object An [accuracy_bounds()] result.
#' @return `autoplot()`: a ggplot of the range of each system's accuracy, with its confidence set as
#'   a thin line. A mark shows the accuracy of a system that shares all errors of the raters.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(bounds)
#' @rawNamespace S3method(ggplot2::autoplot,accuracy_bounds)
autoplot.accuracy_bounds <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  table <- tidy(object)
  check_drawn(table$lowest, "The bounds are", table$reason)
  seen <- drop_missing(table, "lowest")
  seen$system <- stats::reorder(seen$system, seen$lowest + seen$highest)
  facts <- glance(object)
  picture(seen, y = "system") +
    interval_lines(linewidth = 0.7, alpha = 0.6) +
    range_lines() +
    ggplot2::geom_point(
      mapped("shared"), colour = plot_colours[["accent"]], shape = 18, size = 3, na.rm = TRUE
    ) +
    ggplot2::scale_x_continuous(
      limits = c(0, 1), labels = in_percent, expand = ggplot2::expansion(add = 0.02)
    ) +
    titled(
      "Lowest and highest accuracy",
      paste0(
        "whatever errors are shared with the raters',\nif the fit is right about these",
        if (facts$interval == "bootstrap") paste0("; thin: ", set_title(facts$conf_level))
      ),
      "probability of the correct category",
      caption = "Diamond: all errors shared with the raters"
    )
}

#' @rdname tidy.shared_errors
#' @param object A [shared_errors()] result.
#' @return `autoplot()`: a ggplot, the correlations of being right as a heat map; without known
#'   truth, the range of each pair.
#' @rawNamespace S3method(ggplot2::autoplot,shared_errors)
autoplot.shared_errors <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  if (all(is.na(tidy(object)$estimate))) return(plot_open_ranges(object))
  heat_map(
    both_ways(tidy(object)), object$judges, "Shared errors",
    paste0("Correlation of being right, where truth is known\n", format(object)),
    sorted = TRUE, scale = share_scale("correlation", negative = TRUE, low = "white")
  )
}

plot_open_ranges <- function(object) {
  table <- tidy(object)
  seen <- head(drop_missing(table, "lowest"), max_drawn_pairs)
  seen$pair <- from_top(paste(seen$rater1, "-", seen$rater2))
  picture(seen, y = "pair") +
    zero_line() +
    range_lines() +
    ggplot2::scale_x_continuous(limits = c(-1, 1)) +
    titled(
      "Shared errors that the ratings allow",
      paste("No truth is known; accuracies within", limits_in_words(object$options$limits)),
      "correlation of being right",
      caption = if (nrow(seen) < nrow(table)) {
        paste(nrow(table) - nrow(seen), "further pairs are not shown")
      }
    )
}
