#' Plots of CrowdTruth
#'
#' @param object A [crowdtruth()] or [flag_workers()] result.
#' @param type For a [crowdtruth()] result, `"scores"` (the default): the votes of each unit for
#'   each annotation, shaded by score, as in the paper's Figure 2; in version 2.0 the scores.
#'   `"similarity"`: similarity of annotations. `"workers"`: metrics of the workers, with flags.
#' @param flags For `"workers"`, a [flag_workers()] result; by default from its standard-deviation
#'   rule.
#' @param max_units Largest number of units to draw, by default 25. From more units, an evenly
#'   spaced selection is drawn.
#' @param ... For `plot()`, passed on to `autoplot()`.
#' @inherit autoplot.ratings return
#' @family plots
#' @templateVar where Figure 2
#' @template ref-crowdtruth
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(crowdtruth(ratings(crowdtruth2014, case = unit, counts = sT:sOTH)))
#'
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
    check_class(flags, "worker_flags", "flags", "Make them with {.fun flag_workers}.")
  }
  switch(type,
    scores = plot_scores(object, max_units),
    similarity = plot_similarity(object),
    workers = ggplot2::autoplot(flags %||% flag_workers(object))
  )
}

# Colour of small values, which are frequent and should not attract attention.
nearly_white <- "#F7F4EC"

plot_scores <- function(object, max_units) {
  units <- as_label(tidy(object, "units")$unit)
  chosen <- spread(length(units), max_units)
  scores <- as.matrix(object)[chosen, , drop = FALSE]
  rownames(scores) <- chosen # names need not be unique
  cells <- matrix_cells(scores)
  if (object$options$version == "2.0") {
    measure <- "Share of the workers who gave the annotation, weighted by their quality"
    cells$label <- ifelse(cells$value > 0, decimals(cells$value, 2L), "")
  } else {
    measure <- "Numbers of workers, shaded by unit-annotation score"
    cells$label <- as.vector(category_counts(object$ratings)[chosen, ])
  }
  annotations <- colnames(scores)
  heat_map(
    cells, annotations, "What workers saw in each unit", paste(c(
      measure, choice_subtitle(length(chosen), length(units), "unit", "evenly spaced")
    ), collapse = "\n"),
    y = "unit", rows = chosen, numbers = length(annotations) <= 20L && length(chosen) <= 40L,
    scale = share_scale("score", low = nearly_white), top = TRUE,
    row_labels = setNames(short_names(units[chosen]), chosen)
  )
}

plot_similarity <- function(object) {
  cells <- tidy(object, "similarity")
  annotations <- tidy(object, "annotations")$annotation
  heat_map(
    data.frame(
      judge1 = cells$other, judge2 = cells$annotation,
      value = ifelse(cells$similarity > 0, cells$similarity, NA)
    ),
    annotations, "Which annotation goes with which", paste(
      "How much more probable the annotation of a column becomes where that of the row is given;",
      "no more or less is not shaded"
    ),
    numbers = length(annotations) <= 16L, top = TRUE,
    scale = share_scale("causal power", low = nearly_white)
  )
}

#' @rdname autoplot.crowdtruth
#' @rawNamespace S3method(ggplot2::autoplot,worker_flags)
autoplot.worker_flags <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  metrics <- object$metrics
  abort_argument_if(length(metrics) < 2L, "object", "A scatter plot needs two metrics.",
    x = "The rule has {.val {metrics}} only.")
  table <- tidy(object)
  shown <- drop_missing(table, "score")
  shown$state <- factor(shown$flagged, c(FALSE, TRUE), c("not flagged", "flagged"))
  fitted <- object$rule == "fitted"
  if (fitted) {
    shown$truth <- factor(
      shown$known, c(FALSE, TRUE, NA), c("good", "low quality", "unknown"), exclude = NULL
    )
  }
  lacking <- nrow(table) - nrow(shown)
  picture(shown, metrics[[1L]], metrics[[2L]], colour = "state") +
    ggplot2::geom_point(
      mapped(size = "units", shape = if (fitted) "truth"), alpha = 0.75, show.legend = TRUE
    ) +
    colour_scale(c("main", "accent"), name = NULL, drop = FALSE) +
    ggplot2::scale_shape_manual(values = c(16, 17, 1), name = "known to be") +
    ggplot2::scale_size_area(max_size = 5, name = "units", breaks = size_breaks) +
    titled(
      "Workers by their metrics",
      paste0(
        count_noun(sum(shown$flagged), "worker"), " of ", number(nrow(table)), " flagged",
        if (lacking > 0L) paste0("; ", lacking, " without metrics not shown")
      ),
      spaced(metrics[[1L]]), spaced(metrics[[2L]])
    ) +
    ggplot2::theme(legend.box = "vertical", legend.spacing.y = ggplot2::unit(0, "pt"))
}

# Axis labels of metrics. Metrics of version 2.0 have short names.
spaced <- function(name) {
  switch(name,
    wqs = "worker quality (wqs)", wua = "agreement with units (wua)",
    wwa = "agreement with workers (wwa)", gsub("_", " ", name, fixed = TRUE)
  )
}
