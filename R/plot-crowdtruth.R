#' Plots of CrowdTruth metrics
#'
#' Draws metrics of units (cases), annotations (categories) and workers (raters) from a
#' [crowdtruth()] result, or the workers that [flag_workers()] flagged for low quality.
#'
#' @param object A [crowdtruth()] or [flag_workers()] result. The plot of a [flag_workers()] result
#'   is a scatter plot of the first two metrics by which workers were flagged. At least two metrics
#'   are needed. Flagged workers have another colour.
#' @param type Kind of plot of a [crowdtruth()] result:
#'   * `"scores"` (the default): a heat map of units and annotations, shaded by the unit-annotation
#'     score (0 to 1: how clearly workers see the annotation in the unit). The cells contain numbers
#'     of workers, as in Figure 2 of Aroyo and Welty (2014). If the metrics are of version 2.0, the
#'     cells contain scores instead.
#'   * `"similarity"`: a heat map of ordered pairs of annotations. A cell shows how much the
#'     annotation of its row increases the probability of the annotation of its column (causal
#'     power, at most 1). Cells without an increase are not shaded.
#'   * `"workers"`: the scatter plot of `flags`.
#' @param flags For `type = "workers"`, a [flag_workers()] result. `NULL`, the default, uses
#'   `flag_workers(object)`.
#' @param max_units Largest number of units to draw, a whole number of at least 1; by default 25. If
#'   there are more, an evenly spaced selection of them is drawn.
#' @param ... For `plot()`: arguments of `autoplot()`. Not used by `autoplot()`.
#' @inherit autoplot.ratings return
#' @templateVar where Figure 2
#' @template ref-crowdtruth
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' # Heat map of the scores of units and annotations
#' plot(crowdtruth(ratings(crowdtruth2014, case = unit, counts = sT:sOTH)))
#'
#' # Scatter plot of simulated workers, some of whom answer at random, give the same answer to all
#' # units, or copy other workers
#' set.seed(1)
#' x <- simulate_crowd(spammers = c(random = 3, constant = 2, copy = 3))
#' plot(crowdtruth(x), type = "workers")
#' @rawNamespace S3method(ggplot2::autoplot,crowdtruth)
autoplot.crowdtruth <- function(object, # nolint: object_name.
                                type = c("scores", "similarity", "workers"), flags = NULL,
                                max_units = 25L, ...) {
  check_dots_empty(...)
  type <- check_choice(type)
  max_units <- check_count(max_units, "max_units")
  if (!is.null(flags)) {
    check_class(flags, "worker_flags", "flags", "Make flags with {.fun flag_workers}.")
  }
  if (type == "workers") return(ggplot2::autoplot(flags %||% flag_workers(object)))
  if (type == "scores") return(plot_scores(object, max_units))
  similarity_rows <- tidy(object, "similarity")
  annotations <- tidy(object, "annotations")$annotation
  heat_map(
    data.frame(
      judge1 = similarity_rows$other, judge2 = similarity_rows$annotation,
      value = ifelse(similarity_rows$similarity > 0, similarity_rows$similarity, NA)
    ),
    annotations, "Similarity of annotations", paste(
      "How much the annotation of a row increases the probability of the annotation of a column;",
      "not shaded if there is no increase"
    ),
    numbers = length(annotations) <= 16L, top = TRUE,
    scale = share_scale("causal power", low = near_zero_colour)
  )
}

# Colour of scores close to 0. Most scores are close to 0, and they should not attract attention.
near_zero_colour <- "#F7F4EC"

plot_scores <- function(object, max_units) {
  units <- as_label(tidy(object, "units")$unit)
  drawn_units <- evenly_spaced_indices(length(units), max_units)
  scores <- pick_rows(as.matrix(object), drawn_units)
  rownames(scores) <- drawn_units # numbers, because several units may have the same name
  cells <- matrix_cells(scores)
  if (object$options$version == "2.0") {
    value_meaning <- "Share of the workers who gave the annotation, weighted by their quality"
    cells$label <- ifelse(cells$value > 0, format_decimals(cells$value, 2L), "")
  } else {
    value_meaning <- "Numbers of workers, shaded by unit-annotation score"
    cells$label <- as.vector(category_counts(object$ratings)[drawn_units, ])
  }
  annotations <- colnames(scores)
  heat_map(
    cells, annotations, "What workers saw in each unit", paste(c(
      value_meaning, choice_subtitle(length(drawn_units), length(units), "unit")
    ), collapse = "\n"),
    y = "unit", rows = drawn_units,
    numbers = length(annotations) <= 20L && length(drawn_units) <= 40L,
    scale = share_scale("score", low = near_zero_colour), top = TRUE,
    row_labels = setNames(short_names(units[drawn_units]), drawn_units)
  )
}

#' @rdname autoplot.crowdtruth
#' @rawNamespace S3method(ggplot2::autoplot,worker_flags)
autoplot.worker_flags <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  metrics <- object$metrics
  abort_argument_if(length(metrics) < 2L, "object", "A scatter plot needs two metrics.",
    x = "The rule of {.arg object} uses only {.val {metrics}}.",
    i = "Call {.fun flag_workers} with two {.arg metrics}.")
  worker_table <- tidy(object)
  scored_workers <- drop_missing(worker_table, "score")
  scored_workers$flag_words <-
    factor(scored_workers$flagged, c(FALSE, TRUE), c("not flagged", "flagged"))
  is_fitted_rule <- object$rule == "fitted"
  if (is_fitted_rule) {
    scored_workers$known_quality <- factor(
      scored_workers$known, c(FALSE, TRUE, NA), c("good", "low quality", "unknown"), exclude = NULL
    )
  }
  n_without_score <- nrow(worker_table) - nrow(scored_workers)
  # The axis labels explain the abbreviated metrics of CrowdTruth 2.0 (wqs, wua, wwa).
  axis_labels <- map_chr(metrics[1:2], function(metric) {
    switch(metric,
      wqs = "worker quality (wqs)", wua = "agreement with units (wua)",
      wwa = "agreement with workers (wwa)", gsub("_", " ", metric, fixed = TRUE)
    )
  })
  start_plot(scored_workers, metrics[[1L]], metrics[[2L]], colour = "flag_words") +
    ggplot2::geom_point(
      aes_columns(size = "units", shape = if (is_fitted_rule) "known_quality"), alpha = 0.75,
      show.legend = TRUE
    ) +
    colour_scale(c("main", "accent"), name = NULL, drop = FALSE) +
    shape_scale(c(16, 17, 1), name = "known to be") +
    ggplot2::scale_size_area(max_size = 5, name = "units", breaks = size_breaks) +
    plot_titles(
      "Workers by their metrics",
      paste0(
        count_noun(sum(scored_workers$flagged), "worker"), " of ", number(nrow(worker_table)),
        " flagged",
        if (n_without_score > 0L) paste0("; ", n_without_score, " without metrics not shown")
      ),
      axis_labels[[1L]], axis_labels[[2L]]
    ) +
    ggplot2::theme(legend.box = "vertical", legend.spacing.y = ggplot2::unit(0, "pt"))
}
