#' Pictures of ratings
#'
#' @param object,x A [ratings()] object.
#' @param type `"ratings"`: who rated what, one tile per rating, cases in columns, raters and
#'   systems in rows; where raters are not identified, the ratings of each case stacked.
#'   `"agreement"`: the share of cases on which each pair of raters, or of a rater and a system,
#'   agrees.
#' @param max_cases,max_raters How many cases and raters are drawn at most. Of more, an evenly
#'   spaced choice of cases and the raters with most ratings; the subtitle says so.
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

# The raters with most ratings, in their own order; counts have no raters to choose from.
busiest <- function(x, most) {
  if (has_counts(x)) return(seq_along(x$raters))
  ratings <- ratings_of_raters(x)
  sort(utils::head(order(-ratings), most))
}

choice_subtitle <- function(shown, all, noun, how) {
  if (shown < all) paste0(count_noun(shown, noun), " of ", number(all), ", ", how)
}

plot_who_rated <- function(x, max_cases, max_raters) {
  cases <- spread(nrow(x), max_cases)
  raters <- busiest(x, max_raters)
  part <- if (length(raters) < length(x$raters)) x[cases, raters] else x[cases, ]
  subtitle <- paste(c(
    choice_subtitle(length(cases), nrow(x), "case", "evenly spaced"),
    choice_subtitle(length(raters), length(x$raters), "rater", "those with most ratings")
  ), collapse = "; ")
  table <- as.data.frame(part)
  table$column <- match(table$case, part$cases)
  axis <- case_axis(part$cases)
  colours <- ggplot2::scale_fill_manual(
    values = category_colours(x$categories), limits = x$categories, name = NULL,
    guide = category_legend(x$categories)
  )
  labels <- ggplot2::labs(
    title = "Who rated what", subtitle = if (nzchar(subtitle)) subtitle, x = "case", y = NULL
  )
  if (has_counts(x)) {
    return(
      ggplot2::ggplot(table, ggplot2::aes(x = .data$column, fill = .data$rating)) +
        ggplot2::geom_bar(position = ggplot2::position_stack(reverse = TRUE), width = 0.9) +
        axis + colours + labels + ggplot2::labs(y = "ratings") + theme_fallible()
    )
  }
  answers <- as.data.frame(part, what = "systems")
  answers$column <- match(answers$case, part$cases)
  # Gaps between tiles would look like missing ratings where tiles are narrow.
  gap <- if (length(cases) <= 60L) 0.92 else 1
  slice <- repeat_slices(table$column, table$rater, gap)
  tiles <- data.frame(
    column = c(slice$column, answers$column),
    width = c(slice$width, rep(1, nrow(answers))),
    judge = c(table$rater, answers$system),
    role = rep(c("raters", "systems"), c(nrow(table), nrow(answers))),
    category = c(as.character(table$rating), as.character(answers$prediction))
  )
  tiles$ink <- ink_on(category_colours(x$categories))[tiles$category]
  tiles$judge <- factor(tiles$judge, levels = rev(c(part$raters, x$systems)))
  many <- length(part$raters) > 25L
  ggplot2::ggplot(tiles, ggplot2::aes(.data$column, .data$judge, fill = .data$category)) +
    ggplot2::geom_tile(ggplot2::aes(width = gap * .data$width), height = 0.86) +
    (if (length(x$systems) > 0L) {
      ggplot2::facet_grid(role ~ ., scales = "free_y", space = "free_y")
    }) +
    (if (length(x$categories) > length(okabe_ito) && length(cases) <= 40L) {
      list(
        ggplot2::geom_text(
          ggplot2::aes(label = substr(.data$category, 1L, 3L), colour = .data$ink), size = 2.4
        ),
        ggplot2::scale_colour_identity()
      )
    }) +
    axis + colours + labels + theme_fallible() +
    ggplot2::theme(
      panel.grid = ggplot2::element_blank(),
      axis.text.y = ggplot2::element_text(size = if (many) 5 else 9),
      strip.text.y = ggplot2::element_text(angle = 0)
    )
}

# As many names of cases as there is room for.
case_axis <- function(cases) {
  room <- 80 / (max(nchar(as.character(cases))) + 1)
  step <- ceiling(length(cases) / room)
  at <- seq(min(step, length(cases)), length(cases), by = step)
  ggplot2::scale_x_continuous(
    breaks = at, labels = as.character(cases[at]),
    guide = ggplot2::guide_axis(check.overlap = TRUE)
  )
}

# Repeated ratings of a case by a rater stand side by side within the case's column.
repeat_slices <- function(column, rater, width) {
  cell <- interaction(column, rater, drop = TRUE)
  total <- as.vector(table(cell)[cell])
  number <- stats::ave(seq_along(cell), cell, FUN = seq_along)
  data.frame(column = column + width * ((number - 0.5) / total - 0.5), width = 1 / total)
}

plot_agreement <- function(x, max_raters) {
  x <- as_ratings_of_several(x, "object")
  if (length(x$systems) == 0L) check_named_raters(x, "type",
    "There are no pairs of raters to draw.", i = "Use {.code type = \"ratings\"}.")
  raters <- if (!has_counts(x)) busiest(x, max_raters)
  pairs <- pairwise_agreement(x, raters)
  pairs$value <- pairs$agreement
  heat_map(pairs, unique(pairs$judge1), x$systems, sorted = TRUE) +
    share_scale(name = "share of cases", breaks = c(0, 0.5, 1)) +
    ggplot2::labs(
      title = paste("Agreement of raters", if (length(x$systems) > 0L) "and systems"),
      subtitle = paste0(
        "Share of the cases that both rated; chance is ", decimals(1 / length(x$categories), 2L),
        if (length(raters) < length(named_raters(x))) {
          paste0("\n", choice_subtitle(
            max_raters, length(x$raters), "rater", "those with most ratings"
          ))
        }
      ),
      x = NULL, y = NULL
    ) +
    wrapped_texts()
}

# A row per ordered pair of judges: raters (all of them as one, "any rater", if `raters` is NULL)
# and systems.
pairwise_agreement <- function(x, raters) {
  judge_of <- if (is.null(raters)) {
    rep(1L, length(x$raters))
  } else {
    match(seq_along(x$raters), raters, nomatch = 0L)
  }
  judges <- max(judge_of)
  names <- c(if (is.null(raters)) "any rater" else x$raters[raters], x$systems)
  check_pair_numbers(length(names), 4)
  total <- core_pair_counts(x$patterns, pattern_weights(x), judge_of, judges)
  tibble::tibble(
    judge1 = rep(names, each = length(names)), judge2 = rep(names, length(names)),
    pairs = as.vector(total$pairs),
    agreement = ratio(as.vector(total$agreeing), as.vector(total$pairs))
  )
}
