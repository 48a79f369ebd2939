#' Plots of agreement
#'
#' @param object An [agreement()] result.
#' @param type `"measures"` (the default): estimates with intervals; results by category in a panel
#'   per measure. `"pairs"` (the default for a pairwise result): a heat map of all pairs of raters.
#'   `"chart"`: Bangdiwala's agreement chart of two raters. It has a rectangle per category, which
#'   contains the square of their agreement. Its width is the frequency of the category for the
#'   second rater, its height that for the first rater. If rectangles leave the dashed diagonal, one
#'   rater uses some categories more often than the other. The dark share of the rectangles is
#'   Bangdiwala's B.
#' @param ... For `plot()`, passed on to `autoplot()`.
#' @inherit autoplot.ratings return
#' @family plots
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' plot(agreement(x))
#' plot(agreement(x, "cohen_kappa", pairwise = TRUE))
#' plot(agreement(agreement_matrix(x, "rater1", "rater2")), type = "chart")
#' @rawNamespace S3method(ggplot2::autoplot,agreement)
autoplot.agreement <- function(object, # nolint: object_name.
                               type = NULL, ...) {
  check_dots_empty(...)
  about <- attr(object, "about")
  needed <- c(
    "measure", "estimate", "conf.low", "conf.high", if (about$pairwise) c("rater1", "rater2"),
    if (about$by_category) "category"
  )
  abort_argument_if(is.null(about) || !has_columns(object, needed), "object",
    "must have all columns that {.fun agreement} gave it.")
  type <- check_choice(
    type %||% if (about$pairwise) "pairs" else "measures", c("measures", "pairs", "chart"), "type"
  )
  titles <- measure_titles(object$measure, about$scale_name)
  object$title <- factor(titles[as.character(object$measure)], unname(titles))
  switch(type, measures = plot_measures(object, about), pairs = plot_pairs(object, about),
    chart = plot_chart(about))
}

# Rows with an estimate.
known_measures <- function(table, arg) {
  seen <- drop_missing(table, "estimate")
  abort_argument_if(nrow(seen) == 0L, arg,
    "All measures are {.code NA}; there is nothing to draw.",
    i = "The column {.code reason} says why.")
  seen
}

plot_measures <- function(object, about) {
  seen <- known_measures(object, "type")
  titles <- levels(object$title)
  faceted <- about$pairwise || about$by_category
  panels <- c(part_column(seen), if (faceted && length(titles) > 1L) "title")
  seen$label <- if (!faceted) {
    factor(seen$title, rev(titles))
  } else {
    from_top(if (about$pairwise) paste(seen$rater1, "-", seen$rater2) else seen$category)
  }
  lacking <- unique(object$title[is.na(object$estimate)])
  picture(seen, "estimate", "label") +
    line_at(0, "muted", "solid", linewidth = 0.4) +
    interval_layers() +
    (if (length(panels) > 0L) ggplot2::facet_wrap(panels, labeller = wrapped())) +
    ggplot2::scale_x_continuous(
      limits = range(0, 1, seen$estimate, seen$conf.low, seen$conf.high, na.rm = TRUE),
      breaks = if (faceted) c(-0.5, 0, 0.5, 1) else ggplot2::waiver(),
      expand = ggplot2::expansion(add = 0.05)
    ) +
    roomy_rows(c(0.6, 1)) +
    titled(
      if (faceted && length(titles) == 1L) titles else "Agreement",
      interval_subtitle(seen, about$conf_level),
      caption = if (length(lacking) > 0L) paste("Not defined for some:", shorten(lacking))
    ) +
    ggplot2::theme(panel.spacing.x = ggplot2::unit(1.2, "lines"))
}

plot_pairs <- function(object, about) {
  abort_argument_if(!about$pairwise, "type", "Only pairwise agreement has a map of pairs.",
    i = "Use {.code agreement(pairwise = TRUE)}.")
  abort_argument_if(about$by_category, "type", "There is no map of pairs by category.",
    i = "Use {.code type = \"measures\"}.")
  titles <- levels(object$title)
  several <- length(titles) > 1L
  pairs <- both_ways(object)
  pairs$measure <- rep(object$title, 2L)
  pairs <- droplevels(pairs[as.integer(pairs$measure) <= most_maps, ])
  heat_map(
    pairs, about$judges, if (several) "Agreement of pairs" else titles,
    "Each pair of raters, over the cases that both rated",
    caption = if (length(titles) > most_maps) {
      paste0("The first ", most_maps, " of ", length(titles), " measures")
    },
    systems = if (!several) about$systems, sorted = TRUE,
    numbers = length(about$judges) <= if (several) 4L else 12L,
    scale = share_scale(NULL, negative = any(pairs$value < 0, na.rm = TRUE))
  ) +
    (if (several) {
      list(
        ggplot2::facet_wrap("measure", nrow = 1L, labeller = wrapped()),
        ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 90, vjust = 0.5, hjust = 1))
      )
    })
}

# Largest number of maps that are readable side by side.
most_maps <- 4L

plot_chart <- function(about) {
  crossed <- about$matrix
  abort_argument_if(is.null(crossed), "type",
    "The agreement chart needs the ratings of exactly two identified raters.",
    i = "Choose two raters by name: {.code agreement(agreement_matrix(x, \"a\", \"b\"))}.")
  crossed <- unclass(crossed)
  wide <- colSums(crossed)
  high <- rowSums(crossed)
  left <- cumsum(wide) - wide
  bottom <- cumsum(high) - high
  same <- diag(crossed)
  # Within its rectangle, a square starts after the cells before the diagonal.
  in_row <- colSums(crossed * upper.tri(crossed))
  in_column <- rowSums(crossed * lower.tri(crossed))
  parts <- c("marginals", "agreement")
  tiles <- data.frame(
    part = factor(rep(parts, each = length(same)), parts), left = c(left, left + in_row),
    bottom = c(bottom, bottom + in_column)
  )
  tiles$right <- tiles$left + c(wide, same)
  tiles$top <- tiles$bottom + c(high, same)
  axis <- function(scale, start, size) {
    scale(
      breaks = (start + size / 2)[size > 0], labels = names(size)[size > 0],
      limits = c(0, sum(crossed)), expand = c(0, 0)
    )
  }
  raters <- names(dimnames(crossed))
  ggplot2::ggplot(tiles) +
    diagonal(linetype = "dashed") +
    ggplot2::geom_rect(
      mapped(xmin = "left", xmax = "right", ymin = "bottom", ymax = "top", fill = "part"),
      colour = "white", linewidth = 0.4
    ) +
    ggplot2::scale_fill_manual(
      values = c(plot_colours[["low"]], plot_colours[["main"]]), name = NULL
    ) +
    axis(ggplot2::scale_x_continuous, left, wide) +
    axis(ggplot2::scale_y_continuous, bottom, high) +
    ggplot2::coord_equal() +
    titled(
      "Agreement chart", paste(
        "Bangdiwala's B, the dark share of the rectangles:", decimals(bangdiwala_b(about$matrix))
      ),
      raters[[2L]], raters[[1L]]
    )
}

#' @rdname agreement_tests
#' @param object A [compare_agreement()] result.
#' @param ... For `plot()`, passed on to `autoplot()`.
#' @return `autoplot()`: a ggplot. For a test, estimates and the tested value; for a comparison,
#'   differences with intervals, and zero.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(test)
#' @rawNamespace S3method(ggplot2::autoplot,agreement_test)
autoplot.agreement_test <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  abort_argument_if(is.null(schema_of(object)), "object",
    "must have all columns that it was given at first.")
  about <- attr(object, "about")
  seen <- known_measures(plain_data_frame(object), "object")
  seen$title <- from_top(measure_titles(seen$measure, about$scale_name)[seen$measure])
  if (has_columns(seen, "estimate1")) return(plot_panel_differences(seen, about$conf_level))
  null <- about$null
  seen$label <- paste("p", sub("^(?=[0-9])", "= ", show_p(seen$p.value), perl = TRUE))
  picture(seen, "estimate", "title") +
    line_at(null) +
    ggplot2::geom_segment(
      ggplot2::aes(xend = null, yend = .data$title), colour = plot_colours[["muted"]]
    ) +
    main_points(3) +
    ggplot2::geom_text(mapped(label = "label"), vjust = -1.1, size = 3.3, na.rm = TRUE) +
    ggplot2::scale_x_continuous(limits = range(0, 1, null, seen$estimate)) +
    roomy_rows() +
    titled(schema_of(object)$caption, "Dashed: the value that is tested", "agreement")
}

plot_panel_differences <- function(seen, level) {
  picture(seen, "estimate", "title") +
    line_at(0) +
    interval_layers() +
    roomy_rows() +
    titled(
      "Differences of agreement on the same cases",
      interval_subtitle(seen, level, "The first panel less the second, with"),
      "difference of agreement"
    )
}
