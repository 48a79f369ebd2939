#' Pictures of accuracy
#'
#' @param object An [estimate_accuracy()] result.
#' @param type `"systems"`: estimates with their intervals, beside the accuracy of a rater.
#'   `"bins"`: for each bin, how often the system gives the most probable category, with the curve
#'   on which a system of the estimated accuracy would lie. `"sensitivity"`: for each system what
#'   its accuracy would be against the assumed share of shared errors, from 0 (its errors
#'   are its own) to 1 (it errs where the raters err), with a band for sampling error alone. The
#'   shares that `common` has words for are marked, and the estimate has its interval. Methods that
#'   assume what they assume are a dashed line. `"gold"`: for each system what gold cases and
#'   ratings say of its accuracy, each alone and together. `"roc"`, `"reliability"`: curves of
#'   scores, see [score_curves].
#' @param ... For curves, arguments of [score_curves]; for `plot()`, passed on to `autoplot()`.
#' @inherit autoplot.ratings return
#' @family plots
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' plot(estimate_accuracy(x))
#' plot(estimate_accuracy(x, "binned", interval = "none"), type = "bins")
#' plot(estimate_accuracy(x), type = "sensitivity")
#' @rawNamespace S3method(ggplot2::autoplot,accuracy_estimate)
autoplot.accuracy_estimate <- function(object, # nolint: object_name.
                                       type = c("systems", "bins", "sensitivity", "gold", "roc",
                                                "reliability"), ...) {
  type <- check_choice(type)
  if (type %in% c("roc", "reliability")) return(plot_score_curve(object, type, ...))
  check_dots_empty(...)
  switch(type, systems = plot_systems(object), bins = plot_bins(object),
    sensitivity = plot_sensitivity(object), gold = plot_gold(object))
}

plot_systems <- function(object) {
  table <- tidy(object)
  order <- table$system[order(table$estimate, na.last = FALSE)]
  table$system <- factor(table$system, levels = order)
  rater <- glance(object)$rater_accuracy[[1L]]
  seen <- table[!is.na(table$estimate), ]
  lacking <- setdiff(order, seen$system)
  ggplot2::ggplot(seen, ggplot2::aes(.data$estimate, .data$system)) +
    (if (!is.na(rater)) line_at(rater)) +
    interval_layers(in_percent) +
    # Room for the labels, also where the interval ends at 1.
    estimate_axis(seen, labels = in_percent, expand = ggplot2::expansion(add = 0.03)) +
    ggplot2::scale_y_discrete(limits = order, expand = ggplot2::expansion(add = 0.6)) +
    titled(
      "Accuracy of systems", systems_subtitle(object, rater), "probability of the correct category",
      caption = if (length(lacking) > 0L) {
        paste("Not identified for", shorten(lacking, most = 4L))
      }
    )
}

systems_subtitle <- function(object, rater) {
  level <- glance(object)$conf_level[[1L]]
  if (all(is.na(tidy(object)$estimate))) return(paste("Not identified:", tidy(object)$reason[[1L]]))
  interval <- if (!is.na(level)) paste0(" with ", interval_title(level), "s")
  paste0("Estimates", interval, "; dashed: a single rater (", in_percent(rater), ")")
}

plot_bins <- function(object) {
  table <- tidy(object, "bins")
  estimates <- tidy(object)
  estimates <- estimates[!is.na(estimates$estimate), ]
  abort_argument_if(nrow(table) == 0L || nrow(estimates) == 0L, "object",
    "There are no bins to draw.",
    i = paste0("The estimate is {.code NA}: ", tidy(object)$reason[[1L]], "."))
  n <- length(object$fit$x$categories)
  table$system <- factor(table$system, levels = unique(table$system))
  probability <- seq(1 / n, 1, length.out = 50L)
  curve <- expected_agreement(estimates, probability, n)
  curve$system <- factor(curve$system, levels = levels(table$system))
  ggplot2::ggplot(table, ggplot2::aes(.data$probability, .data$agreement)) +
    ggplot2::geom_line(data = curve, colour = plot_colours[["accent"]], linetype = "dashed") +
    ggplot2::geom_point(
      ggplot2::aes(size = .data$cases), colour = plot_colours[["main"]], alpha = 0.75
    ) +
    panels_of(estimates, "system") +
    ggplot2::scale_x_continuous(limits = c(0, 1), breaks = c(0, 0.5, 1)) +
    ggplot2::scale_y_continuous(limits = c(0, 1), breaks = c(0, 0.5, 1)) +
    ggplot2::coord_cartesian(clip = "off") +
    ggplot2::scale_size(range = c(2, 8), limits = c(0, NA), name = "cases", breaks = size_breaks) +
    titled(
      "How often systems give the most probable category",
      "A point per bin; dashed: expected at the estimated accuracy",
      "mean probability of the most probable category", "share of agreement"
    )
}

# Equation 6: agreement of a system of this accuracy with a category of this probability.
expected_agreement <- function(estimates, probability, n) {
  accuracy <- rep(estimates$estimate, each = length(probability))
  p <- rep(probability, nrow(estimates))
  data.frame(
    system = rep(estimates$system, each = length(probability)), probability = p,
    agreement = p * accuracy + (1 - p) * (1 - accuracy) / (n - 1)
  )
}
