#' Plots of ratings
#'
#' Draws which rater gave which category to which case, or how often raters agree.
#'
#' @param object,x A [ratings()] object.
#' @param type Kind of plot:
#'   * `"ratings"` (the default): one tile per rating, coloured by category. Cases are columns;
#'     raters and systems (classifiers to be evaluated) are rows. If `x` contains only counts of
#'     ratings, a stacked bar shows the ratings of each case.
#'   * `"agreement"`: a heat map of the share of cases on which two raters or systems agree. If `x`
#'     contains only counts, systems are needed, and all raters together are one row.
#' @param max_cases Largest number of cases to draw, a whole number of at least 1; by default 150.
#'   If there are more, an evenly spaced selection is drawn.
#' @param max_raters Largest number of raters to draw, a whole number of at least 2; by default 30.
#'   If there are more, the raters with the most ratings are drawn.
#' @param ... For `plot()`: arguments of `autoplot()`. Not used by `autoplot()`.
#' @return `autoplot()`: an object of class `ggplot`. `plot()` draws this plot and returns it
#'   invisibly. Both need package \pkg{ggplot2}.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' # All ratings, and the agreement of pairs
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
  if (type == "ratings") return(plot_who_rated(object, max_cases, max_raters))
  x <- as_ratings_of_several(object, "object")
  if (n_systems(x) == 0L) check_named_raters(x, "type",
    "There are no pairs of raters to draw.", i = "Use {.code type = \"ratings\"}.")
  raters <- if (!has_counts(x)) most_active_raters(x, max_raters)
  pairs <- pairwise_agreement(x, raters)
  pairs$value <- pairs$agreement
  heat_map(
    pairs, unique(pairs$judge1),
    paste("Agreement of raters", if (n_systems(x) > 0L) "and systems"),
    paste(c(
      paste("Share of the cases that both rated; chance is",
        format_decimals(1 / n_categories(x), 2L)),
      choice_subtitle(length(raters), length(named_raters(x)), "rater", "those with most ratings")
    ), collapse = "\n"),
    systems = x$systems, sorted = TRUE, scale = share_scale("share of cases")
  )
}

autoplot.ratings_labels <- autoplot.ratings # nolint: object_name.

#' @rdname autoplot.ratings
#' @export
plot.ratings <- function(x, ...) draw(x, ...)

#' @export
plot.ratings_labels <- plot.ratings

# Returns the numbers of the `max_raters` raters with the most ratings, in increasing order. Returns
# the numbers of all raters if ratings are counts, because raters are then not identified.
most_active_raters <- function(x, max_raters) {
  if (has_counts(x)) return(seq_along(x$raters))
  sort(head(order(-ratings_of_raters(x)), max_raters))
}

plot_who_rated <- function(x, max_cases, max_raters) {
  cases <- evenly_spaced_indices(nrow(x), max_cases)
  raters <- most_active_raters(x, max_raters)
  drawn_ratings <- if (length(raters) < n_raters(x)) x[cases, raters] else x[cases, ]
  subtitle <- paste(c(
    choice_subtitle(length(cases), nrow(x), "case"),
    choice_subtitle(length(raters), n_raters(x), "rater", "those with most ratings")
  ), collapse = "; ")
  common_layers <- list(
    case_axis(drawn_ratings$cases), category_fill(x$categories, x$ordered),
    plot_titles(
      "Who rated what", if (nzchar(subtitle)) subtitle, "case", if (has_counts(x)) "ratings"
    )
  )
  ratings_table <- as.data.frame(drawn_ratings)
  if (has_counts(x)) {
    ratings_table$column <- match(ratings_table$case, drawn_ratings$cases)
    return(start_plot(ratings_table, "column", fill = "rating") +
      ggplot2::geom_bar(
        position = ggplot2::position_stack(reverse = TRUE), width = 0.9, show.legend = TRUE
      ) +
      common_layers)
  }
  tile_columns <- c("case", "judge", "category")
  tiles <- rbind(
    setNames(ratings_table[c("case", "rater", "rating")], tile_columns),
    setNames(as.data.frame(drawn_ratings, what = "systems")[prediction_columns], tile_columns)
  )
  tiles$role <- ifelse(tiles$judge %in% x$systems, "systems", "raters")
  tiles$judge <- factor(tiles$judge, rev(c(drawn_ratings$raters, x$systems)))
  # With more than 60 cases, tiles have no gaps, because gaps would look like missing ratings.
  tiles[c("column", "width")] <- place_tiles(
    match(tiles$case, drawn_ratings$cases), tiles$judge, if (length(cases) <= 60L) 0.92 else 1
  )
  tiles$label <- substr(tiles$category, 1L, 3L)
  # Text is black on light tiles and white on dark tiles.
  colours <- category_colours(x$categories, x$ordered)
  is_light <- colSums(grDevices::col2rgb(colours) * c(0.299, 0.587, 0.114)) > 110
  tiles$text_colour <- ifelse(is_light, "black", "white")[tiles$category]
  start_plot(tiles, "column", "judge", fill = "category") +
    ggplot2::geom_tile(aes_columns(width = "width"), height = 0.86, show.legend = TRUE) +
    (if (n_systems(x) > 0L) ggplot2::facet_grid(role ~ ., scales = "free_y", space = "free_y")) +
    (if (n_categories(x) > length(okabe_ito) && length(cases) <= 40L) {
      ggplot2::geom_text(aes_columns(label = "label", colour = "text_colour"), size = 2.4)
    }) +
    ggplot2::scale_colour_identity() +
    common_layers +
    ggplot2::theme(
      panel.grid = ggplot2::element_blank(),
      strip.text.y = ggplot2::element_text(angle = 0)
    )
}

# Returns an axis of cases, labelled at equal steps so that the labels do not overlap. The axis has
# space for about 40 characters. If there is space for only one of several labels, no label is
# shown.
case_axis <- function(cases) {
  n_fitting_labels <- 40 / (max(nchar(as.character(cases))) + 1)
  step <- ceiling(length(cases) / n_fitting_labels)
  labelled_columns <- seq(min(step, length(cases)), length(cases), by = step)
  if (length(labelled_columns) == 1L && length(cases) > 1L) labelled_columns <- NULL
  ggplot2::scale_x_continuous(
    breaks = labelled_columns, labels = as.character(cases[labelled_columns]),
    guide = ggplot2::guide_axis(check.overlap = TRUE)
  )
}

# Returns the horizontal position and the width of the tile of each rating. If a rater rated a case
# several times, the tiles of these ratings share the width of one tile. `column`: index of the case
# of each rating. `judge`: its rater or system. `tile_width`: width of an undivided tile, at most 1.
place_tiles <- function(column, judge, tile_width) {
  cell_of_rating <- interaction(column, judge, drop = TRUE)
  n_repeats <- as.vector(table(cell_of_rating)[cell_of_rating])
  repeat_number <- ave(seq_along(cell_of_rating), cell_of_rating, FUN = seq_along)
  data.frame(
    column = column + tile_width * ((repeat_number - 0.5) / n_repeats - 0.5),
    width = tile_width / n_repeats
  )
}

# Returns the agreement of each ordered pair of judges, which are raters and systems. `raters`:
# numbers of the raters; NULL to treat all raters as one judge, "any rater". The result is a tibble:
# * judge1, judge2: names of the judges
# * pairs: number of pairs of answers to the same case
# * agreement: share of these pairs that are equal
pairwise_agreement <- function(x, raters) {
  merges_raters <- is.null(raters)
  judge_of_rater <- if (merges_raters) rep(1L, n_raters(x)) else
    match(seq_along(x$raters), raters, 0L)
  judges <- c(if (merges_raters) "any rater" else x$raters[raters], x$systems)
  check_pair_numbers(length(judges), 4)
  pair_counts <- lapply(core_pair_counts(
    x$patterns, pattern_weights(x), judge_of_rater, max(judge_of_rater)
  ), as.vector)
  columns_tibble(
    judge1 = rep(judges, each = length(judges)), judge2 = rep(judges, length(judges)),
    pairs = pair_counts$pairs, agreement = ratio(pair_counts$agreeing, pair_counts$pairs)
  )
}
