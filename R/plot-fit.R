#' @rdname tidy.rater_fit
#' @srrstats {UL6.0, UL6.1, UL6.2} autoplot() and plot(); long labels are shortened
#' @param object A [fit_raters()] result.
#' @param type Kind of plot. `"parameters"` (the default): estimates of accuracies, base rates and
#'   other probabilities, with their intervals; a dashed line shows the accuracy by chance.
#'   `"confusion"`: a heat map of the confusion matrix ([confusion()]) of each rater, or of the
#'   common matrix of all raters.
#' @param max_raters Largest number of raters to draw, a whole number of at least 1. `NULL`, the
#'   default, is 20 for `"parameters"` and 12 for `"confusion"`. If there are more raters, those
#'   with the most ratings are drawn. `tidy()` returns the estimates of all raters. Many of the
#'   lowest and highest estimates belong to raters with few ratings, and have wide intervals.
#' @return `autoplot()`: a ggplot.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' # Accuracies and base rates with intervals
#' plot(fit)
#' # Confusion matrices of raters
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.8), categories = 3, n = 200))
#' plot(fit_raters(x, dawid_skene()), "confusion")
#' @rawNamespace S3method(ggplot2::autoplot,rater_fit)
autoplot.rater_fit <- function(object, # nolint: object_name.
                               type = c("parameters", "confusion"), max_raters = NULL, ...) {
  check_dots_empty(...)
  type <- check_choice(type)
  max_raters <- check_count(max_raters %||% c(parameters = 20L, confusion = 12L)[[type]],
    "max_raters")
  if (type == "parameters") return(plot_parameters(object, max_raters))
  matrices <- shown_matrices(confusion(object))
  n_matrices <- length(matrices)
  if (n_matrices > max_raters) matrices <- matrices[most_active_raters(object$x, max_raters)]
  draw_matrices(matrices, drawn_raters_text(max_raters, n_matrices), reason_of_fit(object))
}

# Returns words for a subtitle if only some of the raters are drawn, otherwise NULL.
drawn_raters_text <- function(n_drawn, n_raters) {
  if (n_raters > n_drawn)
    sprintf("; the %s of %s raters with the most ratings", n_drawn, n_raters)
}

plot_parameters <- function(object, max_raters) {
  parameter_table <- tidy(object)
  parameter_table <- parameter_table[is_probability_term(parameter_table$term, object), ]
  raters <- object$x$raters
  n_drawn_raters <- if (all(is.na(parameter_table$rater))) length(raters) else max_raters
  if (length(raters) > n_drawn_raters) {
    drawn_raters <- c(NA, raters[most_active_raters(object$x, n_drawn_raters)])
    parameter_table <- parameter_table[parameter_table$rater %in% drawn_raters, ]
  }
  # Codes of panels: 1 for accuracy, 2 for confidence, 3 for base rate.
  panel_code <- 1L + startsWith(parameter_table$term, "confidence_") +
    2L * startsWith(parameter_table$term, "base_rate[")
  parameter_table$panel <-
    factor(panel_code, 1:3, c("accuracy", "confidence", "base rate"))[, drop = TRUE]
  row_label <- sub("^confidence_([a-z]+)\\[(.*)\\]$", "\\2 if \\1", parameter_table$term)
  row_label <- sub("^[a-z_]+\\[(.*)\\]$", "\\1", row_label)
  parameter_table$label <-
    factor_from_top(replace(row_label, row_label == "rater_accuracy", "a rater"))
  accuracy_panel <- factor("accuracy", levels(parameter_table$panel))
  start_plot(drop_missing(parameter_table, "estimate"), "estimate", "label") +
    lines_at(data.frame(panel = accuracy_panel, at = 1 / sum(panel_code == 3L))) +
    interval_lines() +
    main_points() +
    ggplot2::facet_grid(panel ~ ., scales = "free_y", space = "free_y") +
    share_axis() +
    plot_titles(
      "Parameters of raters and categories",
      if (object$identified == "yes") {
        paste0(
          "Estimates with ", interval_title(default_conf_level()), "s; dashed: accuracy by chance",
          drawn_raters_text(n_drawn_raters, length(raters))
        )
      } else {
        paste("Not identified:", reason_of_fit(object))
      },
      "probability"
    ) +
    ggplot2::theme(strip.text.y = ggplot2::element_text(angle = 0))
}

#' @rdname base_rates
#' @param object A `confusion()` result.
#' @rawNamespace S3method(ggplot2::autoplot,rater_confusion)
autoplot.rater_confusion <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  matrices <- shown_matrices(object)
  draw_matrices(head(matrices, 12L), if (length(matrices) > 12L) "; the first 12 raters")
}

# Draws a list of confusion matrices, named by rater. `subtitle_end`: end of the subtitle. `reason`:
# reason in the error message if all probabilities are NA.
draw_matrices <- function(matrices, subtitle_end, reason = "the fit is not identified") {
  check_drawn(unlist(matrices), "All probabilities are", reason)
  first_matrix <- matrices[[1L]]
  cells <- stack_rows(unname(matrices), matrix_cells)
  cells$rater <- factor(rep(names(matrices), each = length(first_matrix)), names(matrices))
  heat_map(
    cells, colnames(first_matrix), "Confusion matrices of raters",
    paste0("Probability of the rating given the truth, which is estimated", subtitle_end), "rating",
    "true category", rows = rownames(first_matrix),
    facets = if (length(matrices) > 1L || !is_empty(subtitle_end)) "rater"
  )
}

#' Plots of posterior draws
#'
#' Draws posterior densities, traces and ranks of the draws of a Bayesian fit, or compares prior and
#' posterior.
#'
#' @srrstats {BS6.1, BS6.2, BS6.3, BS6.5} traces and densities
#' @param object A [fit_raters()] result with `method = "bayes"`.
#' @param type Kind of plot. All but `"prior"` have a facet per parameter.
#'   * `"density"` (the default): the posterior density. A dashed line shows the prior density, if
#'     the prior is a Beta distribution.
#'   * `"trace"`: the draws of each chain in their order.
#'   * `"rank"`: for each chain, a histogram of the ranks of its draws among the draws of all
#'     chains. The histograms are level if all chains have drawn from the same distribution.
#'   * `"prior"`: medians and intervals of the prior and the posterior of all parameters. The
#'     intervals have the `conf_level` of the fit.
#' @param terms Names of parameters, column `term` of `tidy(object)`. `NULL`, the default, selects
#'   the first twelve parameters that are not probabilities of wrong ratings.
#' @param ... For `plot()`: arguments of `autoplot()`. Not used by `autoplot()`.
#' @inherit autoplot.ratings return
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' set.seed(1)
#' x <- ratings(lehner2015, raters = rater1:rater4, case = case)
#' fit <- fit_raters(x, method = "bayes", sampling = list(draws = 1000))
#' # Densities of all parameters, and ranks of the draws of one parameter
#' plot(fit)
#' plot(fit, type = "rank", terms = "right")
#' @rawNamespace S3method(ggplot2::autoplot,draws_fit)
autoplot.draws_fit <- function(object, # nolint: object_name.
                               type = c("density", "trace", "rank", "prior"),
                               terms = NULL, ...) {
  check_dots_empty(...)
  type <- check_choice(type)
  all_terms <- colnames(object$draws)
  checked_terms <- all_terms[is_convergence_checked(object$terms)]
  n_hidden_terms <- if (is.null(terms)) max(0L, length(checked_terms) - 12L) else 0L
  terms <- terms %||% head(checked_terms, 12L)
  check_names_among(terms, all_terms, "terms")
  n_draws <- object$sampling$kept
  n_chains <- object$sampling$chains
  table <- data.frame(
    term = factor(rep(terms, each = n_draws * n_chains), terms),
    chain = factor(rep(rep(seq_len(n_chains), each = n_draws), length(terms))),
    iteration = seq_len(n_draws), value = as.vector(object$draws[, terms])
  )
  captions <- c(
    if (n_hidden_terms > 0L) paste(count_noun(n_hidden_terms, "more parameter"),
      "not shown: use `terms` in plot() of the fit"),
    if (type %in% c("density", "prior") && object$prior$order == "each") untruncated_note
  )
  switch(type,
    density = draw_densities(object, table), trace = draw_traces(table),
    rank = draw_ranks(table), prior = plot_priors(object, terms)
  ) + ggplot2::labs(caption = if (!is_empty(captions)) {
    wrap_text(paste(captions, collapse = "\n"), 100L)
  })
}

draw_densities <- function(object, table) {
  start_plot(density_curves(object, table), "value") +
    ggplot2::geom_area(
      aes_columns(y = "density"), stat = "identity", fill = plot_colours$main, alpha = 0.5,
      colour = NA
    ) +
    ggplot2::geom_line(
      aes_columns(y = "prior"), linetype = "dashed", colour = plot_colours$accent, na.rm = TRUE
    ) +
    facet_terms() +
    plot_titles("Posterior and prior", "Posterior densities; dashed: priors")
}

# Computes kernel densities of posterior draws, and densities of priors. `table`: draws, with the
# columns `term` (name of the parameter) and `value`. Returns a data frame:
# * term: name of the parameter
# * value: value at which densities are computed
# * density: posterior density
# * prior: prior density, NA if the prior is not a Beta distribution
#
# Parameters with Beta priors are probabilities. Their draws are reflected at 0 and 1, because a
# kernel density is otherwise too low near these boundaries. Their densities are computed from 0.005
# to 0.995, because a prior density may be infinite at 0 and 1.
density_curves <- function(object, table) {
  stack_rows(split(table, table$term), function(rows) {
    draws <- reflected_draws <- rows$value
    limits <- range(draws)
    parameter_row <- object$terms[match(rows$term[[1L]], object$terms$term), ]
    if (!is.na(parameter_row$a)) {
      reflected_draws <- c(draws, -draws, 2 - draws)
      limits <- c(0.005, 0.995)
    }
    kernel_curve <-
      stats::density(reflected_draws, stats::bw.nrd0(draws), from = limits[[1L]], to = limits[[2L]])
    data.frame(
      term = rows$term[[1L]], value = kernel_curve$x,
      density = kernel_curve$y * length(reflected_draws) / length(draws),
      prior = stats::dbeta(kernel_curve$x, parameter_row$a, parameter_row$total - parameter_row$a)
    )
  })
}

# Returns ggplot layers that draw one panel for each term (parameter). Long names of terms are split
# into lines, see break_names(). `breaks`: breaks of the y axis, NULL for an axis without labels.
facet_terms <- function(breaks = NULL) {
  split_names <- function(terms) {
    break_names(gsub(",", ", ", sub("[", "\n[", short_names(terms), fixed = TRUE), fixed = TRUE))
  }
  list(
    ggplot2::facet_wrap("term", scales = "free_y", labeller = ggplot2::as_labeller(split_names)),
    ggplot2::scale_x_continuous(breaks = share_breaks, labels = format_axis_numbers),
    ggplot2::scale_y_continuous(breaks = breaks)
  )
}

draw_traces <- function(table) {
  start_plot(table, "iteration", "value", colour = "chain") +
    ggplot2::geom_line(linewidth = 0.2, alpha = 0.7) +
    facet_terms(share_breaks) +
    ggplot2::scale_colour_manual(
      values = category_colours(levels(table$chain)),
      guide = ggplot2::guide_legend(override.aes = list(linewidth = 1, alpha = 1))
    ) +
    plot_titles("Draws of each chain", x = "draw")
}

draw_ranks <- function(table) {
  table$rank <- ave(
    table$value, table$term, FUN = function(values) rank(values) / length(values)
  )
  start_plot(table, "rank", colour = "chain") +
    # `pad` adds empty bins at both ends. `direction` puts steps at the edges of bins.
    ggplot2::stat_bin(
      breaks = seq(0, 1, 0.05), geom = "step", position = "identity", direction = "mid", pad = TRUE
    ) +
    facet_terms() +
    ggplot2::expand_limits(y = 0) +
    category_scale(levels(table$chain)) +
    plot_titles(
      "Ranks of the draws of each chain", "Level if chains have mixed",
      "rank among the draws of all chains", "number of draws"
    )
}

plot_priors <- function(object, terms) {
  parameter_rows <- object$terms[match(terms, object$terms$term), ]
  level <- level_of(object)
  quantiles <-
    stack_rows(
      plotted_probabilities(level), stats::qbeta, parameter_rows$a,
      parameter_rows$total - parameter_rows$a
    )
  table <- rbind(
    quantile_table(quantiles, terms, "prior"),
    quantiles_of_draws(object, terms, level, "posterior")
  )
  colours <- c(prior = plot_colours$accent, posterior = plot_colours$main)
  plot_medians(drop_missing(table, "low"), terms, colours, 0.5) +
    plot_titles("Prior and posterior", paste0("Medians and ", interval_title(level), "s"))
}

# Returns the probabilities of three plotted quantiles: the lower limit of the interval with
# confidence level `level`, the median, and the upper limit.
plotted_probabilities <- function(level) (1 + c(-1, 0, 1) * level) / 2

quantiles_of_draws <- function(fit, terms, level, group) {
  draws <- pick_columns(fit$draws, terms)
  quantile_table(apply(draws, 2L, quantile, plotted_probabilities(level)), terms, group)
}

# Returns a data frame of quantiles, with a row per term. `quantiles`: a matrix with three rows
# (low, middle, high) and a column per term. `group`: name of the distribution, model or design.
quantile_table <- function(quantiles, term, group) {
  data.frame(term, group, low = quantiles[1L, ], middle = quantiles[2L, ], high = quantiles[3L, ])
}

# Plots the median (a point) and the interval (a line) of each term and group.
# * table: see quantile_table().
# * terms: names of the terms in the order of the plot, from the top.
# * colours: colours of the groups, named by group, from the top.
# * width: vertical distance between groups.
plot_medians <- function(table, terms, colours, width) {
  table$term <- factor(table$term, rev(terms))
  table$group <- factor(table$group, rev(names(colours)))
  start_plot(table, "middle", "term", colour = "group") +
    ggplot2::geom_pointrange(
      aes_columns(xmin = "low", xmax = "high"), position = ggplot2::position_dodge(width = width)
    ) +
    ggplot2::scale_y_discrete(labels = short_names) +
    ggplot2::scale_colour_manual(
      values = colours, breaks = names(colours), name = NULL,
      guide = category_legend(names(colours))
    )
}

#' @rdname check_fit
#' @param object A `check_fit()` result.
#' @param type Kind of plot. `"pairs"` (the default): observed agreement of each pair of raters
#'   (points), and the middle 90% of the agreement in simulated ratings (bars). At most 20 pairs are
#'   drawn, those with the lowest p-values. `"prior"`: medians and intervals of the prior and the
#'   posterior of at most twelve parameters; `plot(fit, "prior", terms = )` draws others.
#' @param ... `plot(x, ...)` passes these arguments on to `autoplot()`. Otherwise not used.
#' @return `autoplot()`: a ggplot.
#' @rawNamespace S3method(ggplot2::autoplot,fit_check)
autoplot.fit_check <- function(object, type = c("pairs", "prior"), ...) { # nolint: object_name.
  check_dots_empty(...)
  if (check_choice(type) == "prior") return(autoplot.draws_fit(object$fit, "prior"))
  pairs <- tidy(object, "pairs")
  pairs <- head(pairs[order(pairs$p.value), ], max_drawn_pairs)
  share_columns <- c("observed", "low", "high")
  pairs[share_columns] <- pairs[share_columns] / pairs$cases
  pairs$pair <- factor_from_top(short_names(paste(pairs$rater1, "-", pairs$rater2)))
  start_plot(pairs, "observed", "pair") +
    interval_lines("low", "high", linewidth = 3) +
    ggplot2::geom_point(colour = plot_colours$accent, size = 2.6) +
    share_axis() +
    plot_titles(
      "Posterior predictive check", "Points: observed; bars: middle 90% of new ratings",
      "agreement of pairs"
    )
}

#' @rdname compare_models
#' @param object A `compare_models()` result.
#' @return `autoplot()`: a ggplot. For each model, it shows the posterior medians and intervals of
#'   the first 20 parameters.
#' @rawNamespace S3method(ggplot2::autoplot,model_comparison)
autoplot.model_comparison <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  terms <- head(object$terms$term, 20L)
  model_names <- object$models$model
  level <- level_of(object$fits[[1L]])
  quantile_tables <- Map(
    quantiles_of_draws, unname(object$fits[model_names]), list(terms), level, model_names
  )
  plot_medians(stack_rows(quantile_tables), terms, category_colours(model_names), 0.6) +
    plot_titles("Estimates of each model", paste0("Medians and ", interval_title(level), "s"))
}

#' @rdname tidy.ground_truth
#' @param object A [ground_truth()] result.
#' @param max_cases Largest number of cases to draw, a whole number of at least 1; by default 150.
#'   If there are more, an evenly spaced selection of them is drawn.
#' @rawNamespace S3method(ggplot2::autoplot,ground_truth)
autoplot.ground_truth <- function(object, max_cases = 150L, ...) { # nolint: object_name.
  check_dots_empty(...)
  max_cases <- check_count(max_cases, "max_cases")
  probability <- unname(probability_matrix(object, "object"))
  categories <- setdiff(names(object), "case")
  estimated_cases <- which(!is.na(probability[, 1L]))
  abort_argument_if(is_empty(estimated_cases), "object",
    "There are no probabilities to draw: all of them are {.code NA}.",
    i = "The fit from which the probabilities were computed is not identified.")
  top_categories <- most_probable(pick_rows(probability, estimated_cases))
  drawn_cases <- estimated_cases[order(top_categories$category, -top_categories$probability)][
    evenly_spaced_indices(length(estimated_cases), max_cases)
  ]
  bars <- data.frame(
    column = seq_along(drawn_cases), probability = as.vector(probability[drawn_cases, ]),
    category = factor(rep(categories, each = length(drawn_cases)), categories)
  )
  start_plot(bars, "column", "probability", fill = "category") +
    ggplot2::geom_col(
      width = if (length(drawn_cases) <= 30L) 0.9 else 1,
      position = ggplot2::position_stack(reverse = TRUE), show.legend = TRUE
    ) +
    category_fill(categories) +
    case_axis(object$case[drawn_cases]) +
    plot_titles(
      "What the raters say about each case",
      choice_subtitle(length(drawn_cases), length(estimated_cases), "case"),
      "case, by most probable category", "probability"
    ) +
    ggplot2::theme(panel.grid.major.x = ggplot2::element_blank())
}

#' @rdname calibration
#' @order 2
#' @param object A `calibration()` result.
#' @param ... `plot(x, ...)` passes these arguments on to `autoplot()`. Otherwise not used.
#' @return `autoplot()`: a ggplot with a point and an interval per bin. Points are on the diagonal
#'   if probabilities equal the observed shares. The area of a point is proportional to the number
#'   `n` of probabilities in the bin.
#' @rawNamespace S3method(ggplot2::autoplot,calibration)
autoplot.calibration <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  title <- interval_title(attr(object, "about")$conf_level)
  start_plot(object, "probability", "share") +
    diagonal_line() +
    vertical_interval_lines() +
    ggplot2::geom_point(aes_columns(size = "n"), colour = plot_colours$main) +
    ggplot2::scale_size_area(max_size = 5, breaks = size_breaks) +
    square_panel() +
    plot_titles(
      "How often probabilities come true", paste0("Shares with ", title, "s"),
      "probability", "share of true categories", size = "probabilities"
    )
}
