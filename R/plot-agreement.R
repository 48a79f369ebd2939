#' Pictures of agreement
#'
#' @param object An [agreement()] result.
#' @param type `"measures"`: estimates with their intervals; results by category in a panel per
#'   measure. `"pairs"`: a map of all pairs of raters, for a pairwise result, which is then the
#'   default. `"chart"`: Bangdiwala's agreement chart of two raters: a rectangle per category, as
#'   wide as the second rater used it and as high as the first did, with the square of their
#'   agreement inside. Rectangles that leave the dashed diagonal show that one rater uses categories
#'   more often than the other; the dark share of the rectangles is Bangdiwala's B.
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
  abort_argument_if(is.null(about) || !all(needed %in% names(object)), "object",
    "must have all columns that {.fun agreement} gave it.")
  if (is.null(type)) type <- if (about$pairwise) "pairs" else "measures"
  type <- check_choice(type, c("measures", "pairs", "chart"), "type")
  switch(type, measures = plot_measures(object, about), pairs = plot_pairs(object, about),
    chart = plot_chart(about))
}

abort_plot <- function(why, how) abort_argument("type", why, i = how)

plot_measures <- function(object, about) {
  seen <- object[!is.na(object$estimate), ]
  if (nrow(seen) == 0L) {
    abort_plot("All measures are {.code NA}; there is nothing to draw.",
      "The column {.code reason} says why.")
  }
  titles <- measure_titles(object$measure, about$scale_name)
  seen$title <- factor(titles[as.character(seen$measure)], levels = rev(unname(titles)))
  seen$label <- if (about$pairwise) {
    paste(seen$rater1, "-", seen$rater2)
  } else if (about$by_category) {
    seen$category
  } else {
    as.character(seen$title)
  }
  faceted <- about$pairwise || about$by_category
  seen$label <- factor(
    seen$label, levels = rev(if (faceted) unique(seen$label) else unname(titles))
  )
  lacking <- unique(titles[as.character(object$measure[is.na(object$estimate)])])
  interval <- !all(is.na(seen$conf.low))
  seen$panel <- factor(seen$title, levels = unname(titles))
  ggplot2::ggplot(seen, ggplot2::aes(.data$estimate, .data$label)) +
    line_at(0, "muted", "solid", linewidth = 0.4) +
    interval_layers() +
    (if (faceted && length(titles) > 1L) ggplot2::facet_wrap(~panel, labeller = wrapped())) +
    estimate_axis(seen,
      breaks = if (faceted) c(-0.5, 0, 0.5, 1) else ggplot2::waiver(),
      expand = ggplot2::expansion(add = 0.05)
    ) +
    ggplot2::scale_y_discrete(expand = ggplot2::expansion(add = c(0.6, 1))) +
    titled(
      if (faceted && length(titles) == 1L) titles[[1L]] else "Agreement",
      if (interval) paste0("Estimates with ", interval_title(about$conf_level), "s"),
      caption = if (length(lacking) > 0L) paste("Not defined for some:", shorten(lacking))
    ) +
    ggplot2::theme(panel.spacing.x = ggplot2::unit(1.2, "lines"))
}

# Both halves of the square, since agreement has no direction.
plot_pairs <- function(object, about) {
  if (!about$pairwise) {
    abort_plot("Only pairwise agreement has a map of pairs.",
      "Use {.code agreement(pairwise = TRUE)}.")
  }
  if (about$by_category) {
    abort_plot("There is no map of pairs by category.", "Use {.code type = \"measures\"}.")
  }
  titles <- measure_titles(object$measure, about$scale_name)
  pairs <- data.frame(
    judge1 = c(object$rater1, object$rater2), judge2 = c(object$rater2, object$rater1),
    value = rep(object$estimate, 2L),
    measure = factor(rep(titles[as.character(object$measure)], 2L), titles)
  )
  shown <- utils::head(levels(pairs$measure), most_maps)
  pairs <- droplevels(pairs[pairs$measure %in% shown, ])
  negative <- any(pairs$value < 0, na.rm = TRUE)
  systems <- if (length(titles) == 1L) about$systems
  numbers <- length(shown) == 1L || length(about$judges) <= 4L
  heat_map(pairs, about$judges, systems, sorted = TRUE, numbers = numbers) +
    (if (length(titles) > 1L) {
      ggplot2::facet_wrap(~measure, nrow = 1L, labeller = wrapped())
    }) +
    (if (negative) {
      ggplot2::scale_fill_gradient2(
        low = plot_colours[["accent"]], mid = plot_colours[["low"]],
        high = plot_colours[["high"]], limits = c(-1, 1), name = NULL, na.value = "white"
      )
    } else {
      share_scale(name = NULL, breaks = c(0, 0.5, 1))
    }) +
    ggplot2::labs(
      title = if (length(titles) == 1L) titles[[1L]] else "Agreement of pairs",
      subtitle = "Each pair of raters, over the cases that both rated", x = NULL, y = NULL,
      caption = if (length(titles) > most_maps) {
        paste0("The first ", most_maps, " of ", length(titles), " measures")
      }
    ) +
    wrapped_texts() +
    (if (length(titles) > 1L) {
      ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 90, vjust = 0.5, hjust = 1))
    })
}

# More maps side by side could not be read.
most_maps <- 4L

plot_chart <- function(about) {
  crossed <- about$matrix
  if (is.null(crossed)) {
    abort_plot("The agreement chart compares two raters who have names.",
      "Take two of them, or an agreement matrix: {.code agreement(agreement_matrix(x, \"a\",
       \"b\"))}.")
  }
  rows <- rowSums(crossed)
  columns <- colSums(crossed)
  left <- cumsum(columns) - columns
  bottom <- cumsum(rows) - rows
  k <- seq_along(rows)
  before <- function(x, i) sum(x[seq_len(i - 1L)])
  in_row <- vapply(k, function(i) before(crossed[, i], i), 0)
  in_column <- vapply(k, function(i) before(crossed[i, ], i), 0)
  same <- diag(unclass(crossed))
  tiles <- data.frame(
    category = rep(rownames(crossed), 2L),
    what = factor(rep(c("marginals", "agreement"), each = length(k)), c("marginals", "agreement")),
    left = c(left, left + in_row), bottom = c(bottom, bottom + in_column),
    width = c(columns, same), height = c(rows, same)
  )
  total <- sum(crossed)
  raters <- names(dimnames(crossed))
  b <- bangdiwala_b(crossed)
  ggplot2::ggplot(tiles) +
    ggplot2::geom_abline(colour = plot_colours[["muted"]], linetype = "dashed") +
    ggplot2::geom_rect(
      ggplot2::aes(
        xmin = .data$left, xmax = .data$left + .data$width, ymin = .data$bottom,
        ymax = .data$bottom + .data$height, fill = .data$what
      ),
      colour = "white", linewidth = 0.4
    ) +
    ggplot2::scale_fill_manual(
      values = c(plot_colours[["low"]], plot_colours[["main"]]), name = NULL
    ) +
    ggplot2::scale_x_continuous(
      breaks = (left + columns / 2)[columns > 0], labels = rownames(crossed)[columns > 0],
      limits = c(0, total), expand = c(0, 0)
    ) +
    ggplot2::scale_y_continuous(
      breaks = (bottom + rows / 2)[rows > 0], labels = rownames(crossed)[rows > 0],
      limits = c(0, total), expand = c(0, 0)
    ) +
    ggplot2::coord_equal() +
    titled(
      "Agreement chart", paste("Bangdiwala's B, the dark share of the rectangles:", decimals(b)),
      raters[[2L]], raters[[1L]]
    )
}
