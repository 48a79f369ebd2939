#' Plots of ratings
#'
#' @param object,x A [ratings()] object.
#' @param type `"ratings"` (the default): one tile per rating, cases in columns, raters and systems
#'   in rows; if raters are not identified, the ratings of each case stacked. `"agreement"`: the
#'   share of cases on which each pair of raters, or a rater and a system, agrees.
#' @param max_cases,max_raters Largest numbers of cases and raters to draw, by default 150 and 30.
#'   From more, an evenly spaced selection of cases and the raters with most ratings are drawn, and
#'   the subtitle says so.
#' @param ... For `plot()`, passed on to `autoplot()`.
#' @return A ggplot; `plot()` draws it and returns `x` invisibly. Needs \pkg{ggplot2}.
#' @family plots
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' plot(x)
#' plot(x, type = "agreement")
#' @rawNamespace S3method(ggplot2::autoplot,ratings)
#' S3method(ggplot2::autoplot,ratings_labels)
autoplot.ratings <- function(object, # nolint: object_name.
                             type = c("ratings", "agreement"), max_cases = 150L,
                             max_raters = 30L, ...) {
  check_dots_empty(...)
  type <- check_choice(type)
  max_cases <- check_count(max_cases, "max_cases")
  max_raters <- check_count(max_raters, "max_raters", min = 2L)
  if (type == "ratings") {
    plot_who_rated(object, max_cases, max_raters)
  } else {
    plot_agreement(object, max_raters)
  }
}

autoplot.ratings_labels <- autoplot.ratings # nolint: object_name.

#' @rdname autoplot.ratings
#' @export
plot.ratings <- function(x, ...) draw(x, ...)

#' @export
plot.ratings_labels <- plot.ratings

# Numbers of the raters with most ratings, in their original order. Counts have no identified
# raters, so all are kept.
busiest <- function(x, most) {
  if (has_counts(x)) return(seq_along(x$raters))
  sort(head(order(-ratings_of_raters(x)), most))
}

plot_who_rated <- function(x, max_cases, max_raters) {
  cases <- spread(nrow(x), max_cases)
  raters <- busiest(x, max_raters)
  part <- if (length(raters) < n_raters(x)) x[cases, raters] else x[cases, ]
  subtitle <- paste(c(
    choice_subtitle(length(cases), nrow(x), "case", "evenly spaced"),
    choice_subtitle(length(raters), n_raters(x), "rater", "those with most ratings")
  ), collapse = "; ")
  finish <- list(
    case_axis(part$cases), category_fill(x$categories),
    titled(
      "Who rated what", if (nzchar(subtitle)) subtitle, "case", if (has_counts(x)) "ratings"
    )
  )
  table <- as.data.frame(part)
  if (has_counts(x)) {
    table$column <- match(table$case, part$cases)
    return(picture(table, "column", fill = "rating") +
      ggplot2::geom_bar(
        position = ggplot2::position_stack(reverse = TRUE), width = 0.9, show.legend = TRUE
      ) +
      finish)
  }
  columns <- c("case", "judge", "category")
  tiles <- rbind(
    setNames(table[c("case", "rater", "rating")], columns),
    setNames(as.data.frame(part, what = "systems")[prediction_columns], columns)
  )
  tiles$role <- ifelse(tiles$judge %in% x$systems, "systems", "raters")
  tiles$judge <- factor(tiles$judge, rev(c(part$raters, x$systems)))
  # Gaps between narrow tiles would look like missing ratings.
  gap <- if (length(cases) <= 60L) 0.92 else 1
  tiles[c("column", "width")] <- repeat_slices(match(tiles$case, part$cases), tiles$judge, gap)
  named <- n_categories(x) > length(okabe_ito) && length(cases) <= 40L
  tiles$label <- substr(tiles$category, 1L, 3L)
  tiles$ink <- ink_on(category_colours(x$categories))[tiles$category]
  picture(tiles, "column", "judge", fill = "category") +
    ggplot2::geom_tile(mapped(width = "width"), height = 0.86, show.legend = TRUE) +
    (if (n_systems(x) > 0L) {
      ggplot2::facet_grid(role ~ ., scales = "free_y", space = "free_y")
    }) +
    (if (named) ggplot2::geom_text(mapped(label = "label", colour = "ink"), size = 2.4)) +
    ggplot2::scale_colour_identity() +
    finish +
    ggplot2::theme(
      panel.grid = ggplot2::element_blank(),
      axis.text.y = ggplot2::element_text(size = if (n_raters(part) > 25L) 5 else 9),
      strip.text.y = ggplot2::element_text(angle = 0)
    )
}

# Axis with the case names that fit.
case_axis <- function(cases) {
  room <- 80 / (max(nchar(as.character(cases))) + 1)
  step <- ceiling(length(cases) / room)
  at <- seq(min(step, length(cases)), length(cases), by = step)
  ggplot2::scale_x_continuous(
    breaks = at, labels = as.character(cases[at]),
    guide = ggplot2::guide_axis(check.overlap = TRUE)
  )
}

# Columns and widths of tiles. Repeated ratings of a case by a rater are next to each other within
# the column of the case.
repeat_slices <- function(column, judge, width) {
  cell <- interaction(column, judge, drop = TRUE)
  total <- as.vector(table(cell)[cell])
  number <- stats::ave(seq_along(cell), cell, FUN = seq_along)
  data.frame(column = column + width * ((number - 0.5) / total - 0.5), width = width / total)
}

plot_agreement <- function(x, max_raters) {
  x <- as_ratings_of_several(x, "object")
  if (n_systems(x) == 0L) check_named_raters(x, "type",
    "There are no pairs of raters to draw.", i = "Use {.code type = \"ratings\"}.")
  raters <- if (!has_counts(x)) busiest(x, max_raters)
  pairs <- pairwise_agreement(x, raters)
  pairs$value <- pairs$agreement
  fewer <- choice_subtitle(
    length(raters), length(named_raters(x)), "rater", "those with most ratings"
  )
  heat_map(
    pairs, unique(pairs$judge1),
    paste("Agreement of raters", if (n_systems(x) > 0L) "and systems"),
    paste(c(paste(
      "Share of the cases that both rated; chance is", decimals(1 / n_categories(x), 2L)
    ), fewer), collapse = "\n"),
    systems = x$systems, sorted = TRUE, scale = share_scale("share of cases")
  )
}

# A row per ordered pair of judges: raters (all of them as one, "any rater", if `raters` is NULL)
# and systems.
pairwise_agreement <- function(x, raters) {
  together <- is.null(raters)
  judge_of <- if (together) rep(1L, n_raters(x)) else match(seq_along(x$raters), raters, 0L)
  names <- c(if (together) "any rater" else x$raters[raters], x$systems)
  check_pair_numbers(length(names), 4)
  total <- core_pair_counts(x$patterns, pattern_weights(x), judge_of, max(judge_of))
  tibble::tibble(
    judge1 = rep(names, each = length(names)), judge2 = rep(names, length(names)),
    pairs = as.vector(total$pairs),
    agreement = ratio(as.vector(total$agreeing), as.vector(total$pairs))
  )
}
