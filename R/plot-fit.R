#' @rdname tidy.rater_fit
#' @srrstats {UL6.0, UL6.1, UL6.2} autoplot() and plot(); long labels are shortened
#' @param object A [fit_raters()] result.
#' @param type `"parameters"`: with 90% intervals, by their standard errors, the accuracy of a
#'   rater, or of each, beside chance, the base rates of the categories, and shares of levels where
#'   the model is one of confidence. `"confusion"`: the confusion matrices ([confusion()]), of each
#'   rater or of one that stands for all. `"tests"`: raters as tests, the sensitivity of each for a
#'   category beside the share of other cases that it calls so (1 - specificity); a line leads there
#'   from what its ratings alone would say, of true categories as the fit sees them, and shows how
#'   far the prior draws it.
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
                               type = c("parameters", "confusion", "tests"), max_raters = 12L,
                               ...) {
  check_dots_empty(...)
  type <- check_choice(type)
  max_raters <- check_count(max_raters, "max_raters")
  switch(type,
    confusion = plot_confusion(object, max_raters), parameters = plot_parameters(object),
    tests = plot_tests(object)
  )
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
  seen <- table[!is.na(table$estimate), ]
  margin <- normal_quantile(0.9) * seen$std.error
  seen$conf.low <- pmax(seen$estimate - margin, 0)
  seen$conf.high <- pmin(seen$estimate + margin, 1)
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
  cells <- do.call(rbind, unname(lapply(matrices, matrix_cells)))
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

# Raters in the plane of sensitivity and specificity.
plot_tests <- function(fit) {
  check_tested_fit(fit)
  table <- tests_in_plane(fit)
  if (length(fit$x$categories) == 2L) {
    table <- table[table$category == fit$x$categories[[2L]], ]
  }
  picture(table, "other", "sensitivity") +
    diagonal(linetype = "dashed") +
    ggplot2::geom_segment(
      mapped(x = "raw_other", y = "raw_sensitivity", xend = "other", yend = "sensitivity"),
      colour = plot_colours[["muted"]], na.rm = TRUE
    ) +
    main_points(2.2, na.rm = TRUE) +
    ggplot2::facet_wrap("category") +
    ggplot2::coord_equal(xlim = c(0, 1), ylim = c(0, 1)) +
    titled(NULL, NULL, "1 - specificity", "sensitivity")
}

# A row per rater and category, of the fit and of ratings alone.
tests_in_plane <- function(fit) {
  n <- length(fit$x$categories)
  at <- expand.grid(category = seq_len(n), rater = seq_along(fit$x$raters))
  of <- function(matrices) {
    vapply(seq_len(nrow(at)), function(i) {
      against_the_rest(matrices, fit$base_rates, at$rater[[i]], at$category[[i]])
    }, c(0, 0))
  }
  here <- of(fit$matrices)
  raw <- of(own_matrices(fit$x, fit$posterior))
  data.frame(
    rater = fit$x$raters[at$rater],
    category = factor(fit$x$categories[at$category], fit$x$categories),
    other = 1 - here[2L, ], sensitivity = here[1L, ],
    raw_other = 1 - raw[2L, ], raw_sensitivity = raw[1L, ]
  )
}
