#' Plots of agreement between raters
#'
#' Draws measures of agreement with intervals, a heat map of pairs of raters, or an agreement chart,
#' from an [agreement()] result.
#'
#' @param object An [agreement()] result.
#' @param type Kind of plot. `NULL`, the default, is `"pairs"` if the measures were computed for
#'   each pair of raters, and otherwise `"measures"`.
#'   * `"measures"`: estimates with intervals. Results by category, by pair, by group or by variable
#'     are in one facet per measure.
#'   * `"pairs"`: a heat map of all pairs of raters. Each measure or group has a heat map; at most
#'     four are drawn.
#'   * `"chart"`: Bangdiwala's agreement chart of two raters, with a rectangle for each category.
#'     The width of a rectangle is the number of cases to which the second rater gave the category;
#'     its height is the number for the first rater. A dark square shows the cases to which both
#'     raters gave the category. If rectangles leave the dashed diagonal, one rater uses some
#'     categories more often than the other rater. Bangdiwala's B is the dark share of the area of
#'     all rectangles.
#' @param ... For `plot()`: arguments of `autoplot()`. Not used by `autoplot()`.
#' @inherit autoplot.ratings return
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' # All measures with intervals
#' plot(agreement(x))
#' # Cohen's kappa of each pair of raters
#' plot(agreement(x, "cohen_kappa", pairwise = TRUE))
#' # The agreement chart of two raters
#' plot(agreement(agreement_matrix(x, "rater1", "rater2")), type = "chart")
#' @rawNamespace S3method(ggplot2::autoplot,agreement)
autoplot.agreement <- function(object, # nolint: object_name.
                               type = NULL, ...) {
  check_dots_empty(...)
  details <- attr(object, "about")
  needed_columns <- c(
    "measure", "estimate", "conf.low", "conf.high", if (details$pairwise) c("rater1", "rater2"),
    if (details$by_category) "category"
  )
  abort_argument_if(is.null(details) || !has_columns(object, needed_columns), "object",
    "must have all columns of a result of {.fun agreement}.",
    i = "Plot the result before you drop columns.")
  type <- check_choice(
    type %||% if (details$pairwise) "pairs" else "measures", c("measures", "pairs", "chart"), "type"
  )
  titles <- measure_titles(object$measure, details$scale_name)
  object$title <- factor(titles[as.character(object$measure)], unname(titles))
  switch(type, measures = plot_measures(object, details), pairs = plot_pairs(object, details),
    chart = plot_agreement_chart(details))
}

# Returns the rows of `table` with an estimate. Raises an error if no row has an estimate. `arg`:
# name of the argument in the error message.
estimated_rows <- function(table, arg) {
  rows <- drop_missing(table, "estimate")
  abort_argument_if(nrow(rows) == 0L, arg,
    "All measures are {.code NA}; there is nothing to draw.",
    i = "See the column {.code reason} of {.arg object}.")
  rows
}

plot_measures <- function(object, details) {
  drawn_rows <- estimated_rows(object, "type")
  titles <- levels(object$title)
  is_by_pair_or_category <- details$pairwise || details$by_category
  group_columns <- part_columns_of(drawn_rows)
  drawn_rows[group_columns] <- lapply(drawn_rows[group_columns], factor_in_order)
  # With groups of cases or variables, each measure has a panel with a row per group or variable.
  is_by_group <- !is_by_pair_or_category && length(group_columns) == 1L
  facet_columns <- c(
    if (!is_by_group) group_columns,
    if ((is_by_group || is_by_pair_or_category) && length(titles) > 1L) "title"
  )
  drawn_rows$label <- if (is_by_group) {
    factor_from_top(drawn_rows[[group_columns]])
  } else if (!is_by_pair_or_category) {
    factor(drawn_rows$title, rev(titles))
  } else {
    factor_from_top(
      if (details$pairwise) short_names(paste(drawn_rows$rater1, "-", drawn_rows$rater2)) else
        drawn_rows$category
    )
  }
  undefined_measures <- unique(object$title[is.na(object$estimate)])
  start_plot(drawn_rows, "estimate", "label") +
    line_at(0, "muted", "solid", linewidth = 0.4) +
    interval_layers() +
    wrapped_facets(facet_columns) +
    ggplot2::scale_x_continuous(
      limits = range(
        0, if (is_empty(facet_columns)) 1, drawn_rows$estimate, drawn_rows[limit_columns],
        na.rm = TRUE
      ),
      breaks = if (is_empty(facet_columns)) ggplot2::waiver() else share_breaks,
      expand = ggplot2::expansion(add = 0.05)
    ) +
    row_axis_with_space(c(0.6, 1)) +
    plot_titles(
      if ((is_by_pair_or_category || is_by_group) && length(titles) == 1L) titles else "Agreement",
      interval_subtitle(drawn_rows, details$conf_level),
      caption = words_with_labels("Not defined for some:", undefined_measures)
    )
}

plot_pairs <- function(object, details) {
  abort_argument_if(!details$pairwise, "type", "A heat map of pairs needs pairwise agreement.",
    i = "Use {.code agreement(pairwise = TRUE)}.")
  abort_argument_if(details$by_category, "type", "A heat map of pairs cannot show categories.",
    i = "Use {.code type = \"measures\"}.")
  titles <- levels(object$title)
  map_id_columns <- c(part_columns_of(object), "title")
  map_index <- number_distinct_rows(object[map_id_columns])
  drawn_pairs <- plain_data_frame(object)[map_index <= max_maps, ]
  map_ids <- drawn_pairs[map_id_columns]
  cells <- data.frame(symmetric_cells(drawn_pairs), rbind(map_ids, map_ids))
  map_columns <- if (length(titles) > 1L) map_id_columns else part_columns_of(object)
  heat_map(
    cells, details$judges, if (length(titles) > 1L) "Agreement of pairs" else titles,
    "Each pair of raters, over the cases that both rated",
    caption = if (max(map_index) > max_maps)
      sprintf("The first %s of %s maps", max_maps, max(map_index)),
    systems = if (length(map_columns) == 0L) details$systems, sorted = TRUE, facets = map_columns,
    scale = share_scale(NULL, negative = any(cells$value < 0, na.rm = TRUE))
  )
}

# Largest number of heat maps in one picture.
max_maps <- 4L

plot_agreement_chart <- function(details) {
  counts <- details$matrix
  abort_argument_if(is.null(counts), "type",
    "The agreement chart needs the ratings of exactly two identified raters.",
    i = "Choose two raters by name: {.code agreement(agreement_matrix(x, \"a\", \"b\"))}.")
  counts <- unclass(counts)
  widths <- colSums(counts)
  heights <- rowSums(counts)
  left_edge <- cumsum(widths) - widths
  bottom_edge <- cumsum(heights) - heights
  n_agreeing <- diag(counts)
  # Each category has a rectangle, and inside it a square of cases on which both raters agree. The
  # space to the left of the square shows cases to which the first rater gave an earlier category.
  # The space below the square shows cases to which the second rater gave an earlier category.
  tiles <- data.frame(
    part = factor_in_order(rep(c("marginals", "agreement"), each = length(n_agreeing))),
    left = c(left_edge, left_edge + colSums(counts * upper.tri(counts))),
    bottom = c(bottom_edge, bottom_edge + rowSums(counts * lower.tri(counts)))
  )
  tiles$right <- tiles$left + c(widths, n_agreeing)
  tiles$top <- tiles$bottom + c(heights, n_agreeing)
  category_axis <- function(scale, start, size) {
    scale(
      breaks = (start + size / 2)[size > 0], labels = short_names(names(size)[size > 0]),
      limits = c(0, sum(counts)), expand = c(0, 0)
    )
  }
  rater_names <- names(dimnames(counts))
  ggplot2::ggplot(tiles) +
    ggplot2::geom_rect(
      aes_columns(xmin = "left", xmax = "right", ymin = "bottom", ymax = "top", fill = "part"),
      colour = "white", linewidth = 0.4
    ) +
    diagonal_line(linetype = "dashed") +
    ggplot2::scale_fill_manual(values = c(plot_colours$low, plot_colours$main), name = NULL) +
    category_axis(ggplot2::scale_x_continuous, left_edge, widths) +
    category_axis(ggplot2::scale_y_continuous, bottom_edge, heights) +
    ggplot2::coord_equal() +
    plot_titles(
      "Agreement chart", paste(
        "Bangdiwala's B, the dark share of the rectangles:",
          format_decimals(bangdiwala_b(details$matrix))
      ),
      rater_names[[2L]], rater_names[[1L]]
    ) +
    heat_theme(short_names(names(widths)), length(heights))
}

#' @rdname agreement_tests
#' @param object A [compare_agreement()] result.
#' @param ... For `plot()`: `title` and `subtitle`, see [autoplot()].
#' @return `autoplot()`: a ggplot. For a test, it shows the estimates and a dashed line at the
#'   tested value. For a comparison, it shows differences with intervals and a dashed line at zero.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(test)
#' @rawNamespace S3method(ggplot2::autoplot,agreement_test)
autoplot.agreement_test <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  abort_argument_if(is.null(schema_of(object)), "object",
    "must have all columns of a result of {.fun compare_agreement}.",
    i = "Plot the result before you drop or rename columns.")
  details <- attr(object, "about")
  test_rows <- estimated_rows(plain_data_frame(object), "object")
  titles <- measure_titles(test_rows$measure, details$scale_name)
  test_rows$title <- factor_from_top(titles[test_rows$measure])
  test_rows$label <- paste("p", sub("^(?=[0-9])", "= ", format_p(test_rows$p.value), perl = TRUE))
  plot <- start_plot(test_rows, "estimate", "title") + wrapped_facets(part_columns_of(test_rows)) +
    row_axis_with_space()
  # Only the result of a comparison has columns `estimate1` and `estimate2`.
  if (has_columns(test_rows, "estimate1")) {
    return(plot + line_at(0) + interval_layers() + plot_titles(
      "Differences of agreement",
      interval_subtitle(test_rows, details$conf_level, paste0(details$caption, "with")),
      "difference of agreement"
    ))
  }
  null_value <- details$null
  plot +
    line_at(null_value) +
    ggplot2::geom_segment(
      ggplot2::aes(xend = null_value, yend = .data$title), colour = plot_colours$muted
    ) +
    main_points(3) +
    ggplot2::geom_text(aes_columns(label = "label"), vjust = -1.1, size = 3.3, na.rm = TRUE) +
    ggplot2::scale_x_continuous(limits = range(0, 1, null_value, test_rows$estimate)) +
    plot_titles(schema_of(object)$caption, "Dashed: the value that is tested", "agreement")
}
