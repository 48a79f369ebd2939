#' Pictures of CrowdTruth
#'
#' @param object A [crowdtruth()] or [flag_workers()] result.
#' @param type For a [crowdtruth()] result, `"scores"`: the votes of each unit for each annotation,
#'   shaded by score, as in the paper's Figure 2; in version 2.0 the scores. `"similarity"`: which
#'   annotation goes with which. `"workers"`: the metrics of the workers, with flags.
#'   `"convergence"`: the changes of version 2.0, step by step.
#' @param flags For `"workers"`, a [flag_workers()] result; by default that of its
#'   standard-deviation rule.
#' @param max_units How many units are drawn at most; of more, an evenly spaced choice.
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
                                type = c("scores", "similarity", "workers", "convergence"),
                                flags = NULL, max_units = 25L, ...) {
  check_dots_empty(...)
  type <- check_choice(type)
  max_units <- check_count(max_units, "max_units")
  if (!is.null(flags)) {
    check_class(flags, "worker_flags", "flags", "Make them with {.fun flag_workers}.")
  }
  switch(type,
    scores = plot_scores(object, max_units),
    similarity = plot_similarity(object),
    workers = ggplot2::autoplot(flags %||% flag_workers(object)),
    convergence = plot_convergence(object)
  )
}

plot_scores <- function(object, max_units) {
  two <- object$options$version == "2.0"
  units <- tidy(object, "units")
  chosen <- spread(nrow(units), max_units)
  annotations <- tidy(object, "annotations")$annotation
  scores <- as.matrix(object)[chosen, , drop = FALSE]
  cells <- data.frame(
    unit = factor(rep(seq_along(chosen), length(annotations)), rev(seq_along(chosen))),
    annotation = factor(rep(annotations, each = length(chosen)), annotations),
    score = as.vector(scores)
  )
  cells$label <- if (two) {
    ifelse(cells$score > 0, share(cells$score), "")
  } else {
    as.vector(category_counts(object$ratings)[chosen, ])
  }
  many <- length(annotations) > 20L || length(chosen) > 40L
  measure <- c(
    `2014` = "Numbers of workers, shaded by unit-annotation score",
    `2.0` = "Share of the workers who gave the annotation, weighted by their quality"
  )
  subtitle <- paste(c(
    measure[[object$options$version]],
    choice_subtitle(length(chosen), nrow(units), "unit", "evenly spaced")
  ), collapse = "\n")
  ggplot2::ggplot(cells, ggplot2::aes(.data$annotation, .data$unit, fill = .data$score)) +
    ggplot2::geom_tile(colour = "white", linewidth = if (many) 0 else 0.4) +
    (if (!many) {
      ggplot2::geom_text(
        ggplot2::aes(label = .data$label, colour = text_on(.data$score)),
        size = if (length(chosen) > 20L) 2.3 else 2.8, show.legend = FALSE
      )
    }) +
    text_scale() +
    score_scale(name = "score", limits = c(0, 1), breaks = c(0, 0.5, 1)) +
    ggplot2::scale_x_discrete(position = "top") +
    ggplot2::scale_y_discrete(labels = rev(as_label(units$unit[chosen]))) +
    titled("What workers saw in each unit", subtitle, y = "unit") +
    ggplot2::theme(
      panel.grid = ggplot2::element_blank(),
      axis.text.y = ggplot2::element_text(size = if (length(chosen) > 20L) 6.5 else 9),
      axis.text.x.top = upright_if(sum(nchar(annotations)) > 60L)
    )
}

upright_if <- function(crowded) {
  if (crowded) ggplot2::element_text(angle = 90, vjust = 0.5, hjust = 0)
}

# Two decimals as short as they can be.
share <- function(x) sub("^1[.]00$", "1", sub("^0", "", decimals(x, 2L)))

# Numbers on tiles: hardly seen where there is nothing, white on dark ones.
text_on <- function(score) {
  cut(replace(score, is.na(score), 0), c(-Inf, 0, 0.55, Inf), c("none", "light", "dark"))
}

text_scale <- function() {
  ggplot2::scale_colour_manual(values = c(none = "grey75", light = "grey25", dark = "white"))
}

# From nothing, which should not draw the eye, to all.
score_scale <- function(...) {
  ggplot2::scale_fill_gradient(
    low = "#F7F4EC", high = plot_colours[["high"]], na.value = "white", ...
  )
}

plot_similarity <- function(object) {
  cells <- tidy(object, "similarity")
  annotations <- tidy(object, "annotations")$annotation
  cells$annotation <- factor(cells$annotation, rev(annotations))
  cells$other <- factor(cells$other, annotations)
  few <- length(annotations) <= 16L
  ggplot2::ggplot(cells, ggplot2::aes(
    .data$other, .data$annotation, fill = pmax(.data$similarity, 0)
  )) +
    ggplot2::geom_tile(colour = "white", linewidth = if (few) 0.4 else 0) +
    (if (few) {
      ggplot2::geom_text(
        ggplot2::aes(
          label = ifelse(is.na(.data$similarity) | .data$similarity <= 0, "",
            share(.data$similarity)),
          colour = text_on(.data$similarity)
        ),
        size = 2.5, show.legend = FALSE
      )
    }) +
    text_scale() +
    score_scale(name = "causal power", limits = c(0, 1), breaks = c(0, 0.5, 1)) +
    ggplot2::scale_x_discrete(position = "top") +
    titled(
      "Which annotation goes with which", paste(
        "How much more probable the annotation of a column becomes where that of the row is given;",
        "no more or less is not shaded"
      )
    ) +
    ggplot2::theme(
      panel.grid = ggplot2::element_blank(),
      axis.text.x.top = upright_if(sum(nchar(annotations)) > 30L)
    )
}

plot_convergence <- function(object) {
  table <- tidy(object, "convergence")
  parts <- c("units", "workers", if (!object$options$open) "annotations")
  lines <- data.frame(
    step = rep(table$step, length(parts)),
    part = factor(rep(parts, each = nrow(table)), parts),
    change = unlist(table[parts], use.names = FALSE)
  )
  # Nothing changes by less than rounding; a logarithm could not show it.
  lines <- lines[lines$change > 1e-16, ]
  ggplot2::ggplot(lines, ggplot2::aes(.data$step, .data$change, colour = .data$part)) +
    ggplot2::geom_hline(
      yintercept = object$options$tolerance, linetype = 2, colour = plot_colours[["muted"]]
    ) +
    ggplot2::geom_line(linewidth = 0.7) +
    ggplot2::geom_point(size = 1.8) +
    ggplot2::scale_y_log10() +
    ggplot2::scale_x_continuous(breaks = function(limits) {
      unique(round(pretty(c(1, max(limits)), 6)))
    }) +
    ggplot2::scale_colour_manual(values = category_colours(parts), name = NULL) +
    titled(
      "How the qualities settle",
      paste0(
        "Largest change in each step; ",
        if (object$converged) "stopped below " else "NOT yet below ",
        format(object$options$tolerance), ", the dashed line"
      ),
      "step", "largest change"
    )
}

#' @rdname autoplot.crowdtruth
#' @rawNamespace S3method(ggplot2::autoplot,worker_flags)
autoplot.worker_flags <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  abort_argument_if(length(object$metrics) < 2L, "object", "A scatter plot needs two metrics.",
    x = "The rule has {.val {object$metrics}} only.")
  table <- tidy(object)
  shown <- table[!is.na(table$score), ]
  shown$x <- shown[[object$metrics[[1L]]]]
  shown$y <- shown[[object$metrics[[2L]]]]
  flag_names <- c(`FALSE` = "not flagged", `TRUE` = "flagged")
  shown$state <- factor(flag_names[as.character(shown$flagged)], flag_names)
  fitted <- "known" %in% names(shown)
  if (fitted) {
    known_names <- c(`FALSE` = "good", `TRUE` = "low quality")
    shown$truth <- factor(
      ifelse(is.na(shown$known), "unknown", known_names[as.character(shown$known)]),
      c(known_names, "unknown")
    )
  }
  lacking <- nrow(table) - nrow(shown)
  ggplot2::ggplot(shown, ggplot2::aes(.data$x, .data$y, colour = .data$state)) +
    (if (fitted) {
      ggplot2::geom_point(ggplot2::aes(size = .data$units, shape = .data$truth), alpha = 0.75)
    } else {
      ggplot2::geom_point(ggplot2::aes(size = .data$units), alpha = 0.75)
    }) +
    ggplot2::scale_colour_manual(
      values = stats::setNames(plot_colours[c("main", "accent")], flag_names), name = NULL,
      drop = FALSE
    ) +
    ggplot2::scale_shape_manual(
      values = c(good = 16, `low quality` = 17, unknown = 1), name = "known to be"
    ) +
    ggplot2::scale_size_area(max_size = 5, name = "units", breaks = size_breaks) +
    ggplot2::guides(
      colour = ggplot2::guide_legend(order = 1L, override.aes = list(size = 2.5)),
      shape = ggplot2::guide_legend(order = 2L, override.aes = list(size = 2.5)),
      size = if (length(unique(shown$units)) > 1L) ggplot2::guide_legend(order = 3L) else "none"
    ) +
    titled(
      "Workers by their metrics",
      paste0(
        count_noun(sum(shown$flagged), "worker"), " of ", number(nrow(table)), " flagged",
        if (lacking > 0L) paste0("; ", lacking, " without metrics not shown")
      ),
      spaced(object$metrics[[1L]]), spaced(object$metrics[[2L]])
    ) +
    ggplot2::theme(legend.box = "vertical", legend.spacing.y = ggplot2::unit(0, "pt"))
}

# Metrics of version 2.0 have short names.
spaced <- function(name) {
  long <- c(
    wqs = "worker quality (wqs)", wua = "agreement with units (wua)",
    wwa = "agreement with workers (wwa)"
  )
  unname(ifelse(name %in% names(long), long[name], gsub("_", " ", name, fixed = TRUE)))
}
