#' @rdname metric_estimate
#' @param object An `estimate_metrics()` result.
#' @return `autoplot()`: a ggplot with a panel for each metric of categories, with a row per
#'   category and average, and one for those of the whole table; points are estimates, lines their
#'   intervals.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(found)
#' @rawNamespace S3method(ggplot2::autoplot,metric_estimate)
autoplot.metric_estimate <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  table <- tidy(object)
  check_drawn(table$estimate, "All metrics are", table$reason)
  table <- panels_of_metrics(table, object$plan)
  dodge <- ggplot2::position_dodge(width = if (nlevels(table$who) > 1L) 0.6 else 0)
  shares <- all(abs(ranges_of_plan(object$plan)) <= 1)
  picture(
    drop_missing(table, "estimate"), "estimate", "row", colour = "who", group = "from_top"
  ) +
    interval_lines(main = FALSE, position = dodge) +
    ggplot2::geom_point(mapped(shape = "kind"), position = dodge, size = 2.4) +
    ggplot2::facet_wrap("panel", scales = if (shares) "free_y" else "free", labeller = wrapped()) +
    category_scale(levels(table$who)) +
    ggplot2::scale_shape_manual(values = c(category = 19, overall = 18), guide = "none") +
    ggplot2::scale_x_continuous(breaks = scales_of_share) +
    (if (shares) ggplot2::expand_limits(x = 1)) +
    titled(
      "Metrics of systems", truth_subtitle(table, object$options$conf_level), colour = NULL,
      caption = lacking_words(table)
    ) +
    room_between(14)
}

# Who, in which panel and row; the first row is at the top.
panels_of_metrics <- function(table, plan) {
  titles <- vapply(plan$records, `[[`, "", "title")
  title <- titles[table$metric]
  whole <- is.na(table$category) & is.na(table$average)
  row <- ifelse(is.na(table$category), average_words(table$average), table$category)
  averages <- average_words(c(metric_averages, "hand_till"))
  table$row <- factor(
    ifelse(whole, title, row), rev(unique(c(titles, plan$categories, averages)))
  )
  together <- "All categories"
  table$panel <- factor(ifelse(whole, together, title), unique(c(together, titles)))
  table$kind <- ifelse(is.na(table$category), "overall", "category")
  table$who <- in_order(
    if (has_columns(table, "group")) paste0(table$system, ", ", table$group) else table$system
  )
  table$from_top <- -as.integer(table$who)
  table
}

# At most three numbers, so that labels of neighbours do not meet.
scales_of_share <- function(limits) {
  at <- pretty(limits, 3L)
  at[at >= limits[[1L]] & at <= limits[[2L]]]
}
