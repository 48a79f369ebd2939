#' @rdname tidy.rater_fit
#' @srrstats {UL6.0, UL6.1, UL6.2} autoplot() and plot(); long labels are shortened
#' @param object A [fit_raters()] result.
#' @param type `"parameters"`: with 90% intervals, by their standard errors, the accuracy of a
#'   rater, or of each, beside chance, the base rates of the categories, and shares of levels where
#'   the model is one of confidence. `"confusion"`: the confusion matrices ([confusion()]), of each
#'   rater or of one that stands for all.
#' @param max_raters Of more raters than this, those with the most ratings have their confusion
#'   matrices drawn.
#' @return `autoplot()`: a ggplot.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(fit)
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.8), categories = 3, n = 200))
#' plot(fit_raters(x, dawid_skene()), "confusion")
#' @rawNamespace S3method(ggplot2::autoplot,rater_fit)
autoplot.rater_fit <- function(object, # nolint: object_name.
                               type = c("parameters", "confusion"), max_raters = 12L, ...) {
  check_dots_empty(...)
  max_raters <- check_count(max_raters, "max_raters")
  if (check_choice(type) == "parameters") return(plot_parameters(object))
  plot_confusion(object, max_raters)
}

plot_parameters <- function(object) {
  table <- tidy(object)
  table <- table[is_probability_term(table$term, object), ]
  kind <- 1L + startsWith(table$term, "confidence_") + 2L * startsWith(table$term, "base_rate[")
  table$panel <- factor(kind, 1:3, c("accuracy", "confidence", "base rate"))[, drop = TRUE]
  label <- sub("^confidence_([a-z]+)\\[(.*)\\]$", "\\2 if \\1", table$term)
  label <- sub("^[a-z_]+\\[(.*)\\]$", "\\1", label)
  table$label <- from_top(replace(label, label == "rater_accuracy", "a rater"))
  chance <- data.frame(panel = factor("accuracy", levels(table$panel)), at = 1 / sum(kind == 3L))
  seen <- drop_missing(table, "estimate")
  ends <- stats::confint(object, seen$term, 0.9)
  seen$conf.low <- ends[, 1L]
  seen$conf.high <- ends[, 2L]
  picture(seen, "estimate", "label") +
    ggplot2::geom_vline(
      mapped(xintercept = "at"), chance, linetype = "dashed", colour = plot_colours[["muted"]]
    ) +
    interval_lines() +
    main_points() +
    ggplot2::facet_grid(panel ~ ., scales = "free_y", space = "free_y") +
    ggplot2::scale_x_continuous(limits = c(0, 1)) +
    titled(
      "What agreement says about raters",
      if (object$identified == "yes") {
        "Estimates with 90% intervals; dashed: accuracy by chance"
      } else {
        paste("Not identified:", reason_of_fit(object))
      },
      "probability"
    ) +
    ggplot2::theme(strip.text.y = ggplot2::element_text(angle = 0))
}

plot_confusion <- function(fit, max_raters) {
  matrices <- confusion(fit)
  one_for_all <- has_one_matrix(fit)
  if (one_for_all) matrices <- list(`any rater` = matrices[[1L]])
  abort_if(all(is.na(unlist(matrices))), "argument", "There is nothing to draw.",
    x = verbatim("No confusion matrix: ", reason_of_fit(fit), "."))
  all <- length(matrices)
  if (all > max_raters) matrices <- matrices[busiest(fit$x, max_raters)]
  labels <- fit$x$categories
  cells <- stack_rows(unname(lapply(matrices, matrix_cells)))
  cells$rater <- factor(rep(names(matrices), each = length(labels)^2), names(matrices))
  heat_map(
    cells, labels, "Confusion matrices of raters", paste0(
      "Probability of the rating given the truth, which is estimated",
      if (all > max_raters) paste0("; the ", max_raters, " of ", all, " with the most ratings")
    ),
    "rating", "true category",
    numbers = length(labels) * ceiling(sqrt(length(matrices))) <= 12L
  ) +
    (if (!one_for_all) ggplot2::facet_wrap("rater", labeller = wrapped()))
}
