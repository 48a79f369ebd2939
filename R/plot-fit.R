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
  is_rate <- startsWith(table$term, "base_rate[")
  is_level <- startsWith(table$term, "confidence_")
  table$panel <- factor(
    1L + is_level + 2L * is_rate, 1:3, c("accuracy", "confidence", "base rate")
  )[, drop = TRUE]
  table$label <- sub("^[a-z_]+\\[(.*)\\]$", "\\1", table$term)
  table$label[is_level] <- sub(
    "^confidence_([a-z]+)\\[(.*)\\]$", "\\2 if \\1", table$term[is_level]
  )
  table$label[table$term == "rater_accuracy"] <- "a rater"
  table$label <- factor(table$label, levels = rev(unique(table$label)))
  chance <- data.frame(
    panel = factor("accuracy", levels = levels(table$panel)), at = 1 / sum(is_rate)
  )
  seen <- table[!is.na(table$estimate), ]
  margin <- normal_quantile(0.9) * seen$std.error
  seen$conf.low <- pmax(seen$estimate - margin, 0)
  seen$conf.high <- pmin(seen$estimate + margin, 1)
  ggplot2::ggplot(seen, ggplot2::aes(.data$estimate, .data$label)) +
    ggplot2::geom_vline(
      data = chance, ggplot2::aes(xintercept = .data$at), linetype = "dashed",
      colour = plot_colours[["muted"]]
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
  if (all > max_raters) {
    ratings <- ratings_of_raters(fit$x)
    matrices <- matrices[sort(order(-ratings)[seq_len(max_raters)])]
  }
  labels <- fit$x$categories
  cells <- data.frame(
    judge1 = rep(rep(labels, each = length(labels)), length(matrices)), judge2 = labels,
    value = unlist(matrices, use.names = FALSE),
    rater = factor(rep(names(matrices), each = length(labels)^2), levels = names(matrices))
  )
  few <- length(labels) * ceiling(sqrt(length(matrices))) <= 12L
  heat_map(cells, labels, numbers = few) +
    (if (!one_for_all) ggplot2::facet_wrap(~rater, labeller = wrapped())) +
    share_scale(name = "probability", breaks = c(0, 0.5, 1)) +
    ggplot2::labs(
      title = "Confusion matrices of raters", x = "rating", y = "true category",
      subtitle = paste0(
        "Probability of the rating given the truth, which is estimated",
        if (all > max_raters) paste0("; the ", max_raters, " of ", all, " with the most ratings")
      )
    ) +
    wrapped_texts()
}
