#' Pictures of posterior draws
#'
#' @srrstats {BS6.1, BS6.2, BS6.3, BS6.5} traces and densities
#' @param object A [fit_raters()] result with `method = "bayes"`.
#' @param type `"density"`: the posterior of each parameter, with its prior dashed. `"trace"`: draws
#'   one after the other, by chain. `"rank"`: how often each chain has draws of each rank among all
#'   chains, which is even where chains have mixed. `"prior"`: 90% of each parameter before and
#'   after the ratings were seen.
#' @param terms Names of parameters, as [draws()] has them; `NULL` for base rates and what raters
#'   get right, at most twelve.
#' @param ... For `plot()`, passed on to `autoplot()`.
#' @inherit autoplot.ratings return
#' @family plots
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' set.seed(1)
#' x <- ratings(lehner2015, raters = rater1:rater4, case = case)
#' fit <- fit_raters(x, method = "bayes", sampling = list(draws = 1000))
#' plot(fit)
#' plot(fit, type = "rank", terms = "right")
#' @rawNamespace S3method(ggplot2::autoplot,draws_fit)
autoplot.draws_fit <- function(object, # nolint: object_name.
                               type = c("density", "trace", "rank", "prior"),
                               terms = NULL, ...) {
  check_dots_empty(...)
  type <- check_choice(type)
  known <- colnames(object$draws)
  terms <- terms %||% utils::head(known[is_watched(object$terms)], 12L)
  check_names_among(terms, known, "terms")
  table <- drawn_table(object, terms)
  switch(type,
    density = draw_densities(object, table), trace = draw_traces(table),
    rank = draw_ranks(table), prior = draw_priors(object, terms)
  )
}

drawn_table <- function(object, terms) {
  kept <- object$sampling$kept
  chains <- object$sampling$chains
  data.frame(
    term = factor(rep(terms, each = kept * chains), terms),
    chain = factor(rep(rep(seq_len(chains), each = kept), length(terms))),
    iteration = seq_len(kept), value = as.vector(object$draws[, terms])
  )
}

draw_densities <- function(object, table) {
  picture(table, "value") +
    ggplot2::geom_density(fill = plot_colours[["main"]], alpha = 0.5, colour = NA) +
    ggplot2::geom_line(
      mapped(y = "density"), prior_densities(object, levels(table$term)),
      linetype = "dashed", colour = plot_colours[["accent"]], na.rm = TRUE
    ) +
    ggplot2::facet_wrap("term", scales = "free_y") +
    ggplot2::scale_y_continuous(breaks = NULL) +
    titled("Posterior and prior", "Posterior densities; dashed: priors")
}

# Of parameters whose prior is a Beta distribution; its peaks at 0 and 1 are cut off.
prior_densities <- function(object, terms) {
  of <- object$terms[match(terms, object$terms$term), ]
  of <- drop_missing(of, "a")
  at <- seq(0.005, 0.995, length.out = 200L)
  of <- of[rep(seq_len(nrow(of)), each = 200L), ]
  data.frame(
    term = factor(of$term, terms), value = rep_len(at, nrow(of)),
    density = stats::dbeta(rep_len(at, nrow(of)), of$a, of$total - of$a)
  )
}

draw_traces <- function(table) {
  picture(table, "iteration", "value", colour = "chain") +
    ggplot2::geom_line(linewidth = 0.2, alpha = 0.7) +
    ggplot2::facet_wrap("term", scales = "free_y") +
    ggplot2::scale_colour_manual(values = category_colours(levels(table$chain))) +
    titled("Draws of each chain", x = "draw")
}

draw_ranks <- function(table) {
  table$rank <- stats::ave(table$value, table$term, FUN = function(v) rank(v) / length(v))
  picture(table, "rank", fill = "chain") +
    ggplot2::geom_histogram(breaks = seq(0, 1, 0.05), show.legend = FALSE) +
    ggplot2::facet_grid(chain ~ term) +
    ggplot2::scale_fill_manual(values = category_colours(levels(table$chain))) +
    titled(
      "Ranks of the draws of each chain", "Uniform if chains have mixed",
      "rank among the draws of all chains"
    )
}

draw_priors <- function(object, terms) {
  of <- object$terms[match(terms, object$terms$term), ]
  before <- lapply(middle_90, stats::qbeta, of$a, of$total - of$a)
  table <- rbind(ends_of(stack_rows(before), terms, "prior"), ends_of_draws(object, terms))
  colours <- c(prior = plot_colours[["accent"]], posterior = plot_colours[["main"]])
  plot_medians(drop_missing(table, "low"), terms, colours, 0.5) +
    titled("Before and after the ratings were seen", "Medians and 90% intervals")
}

middle_90 <- c(0.05, 0.5, 0.95)

ends_of_draws <- function(fit, terms, of = "posterior") {
  ends_of(apply(fit$draws[, terms, drop = FALSE], 2L, stats::quantile, middle_90), terms, of)
}

# `ends`: low, middle and high of each term in rows; `of` what they are.
ends_of <- function(ends, terms, of) {
  data.frame(term = terms, of = of, low = ends[1L, ], middle = ends[2L, ], high = ends[3L, ])
}

# A line per term and name of `colours`, the first of which is at the top.
plot_medians <- function(table, terms, colours, width) {
  table$term <- factor(table$term, rev(terms))
  table$of <- factor(table$of, rev(names(colours)))
  picture(table, "middle", "term", colour = "of") +
    ggplot2::geom_pointrange(
      mapped(xmin = "low", xmax = "high"), position = ggplot2::position_dodge(width = width)
    ) +
    ggplot2::scale_colour_manual(values = colours, breaks = names(colours), name = NULL)
}

#' @rdname check_fit
#' @param object A `check_fit()` result.
#' @param ... For `plot()`, passed on to `autoplot()`.
#' @rawNamespace S3method(ggplot2::autoplot,fit_check)
autoplot.fit_check <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  autoplot.draws_fit(object$fit, "prior")
}

#' @rdname compare_models
#' @param object A `compare_models()` result.
#' @rawNamespace S3method(ggplot2::autoplot,model_comparison)
autoplot.model_comparison <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  terms <- utils::head(object$terms$term, 20L)
  models <- object$models$model
  parts <- Map(ends_of_draws, object$fits[models], list(terms), models)
  plot_medians(stack_rows(unname(parts)), terms, category_colours(models), 0.6) +
    ggplot2::guides(colour = ggplot2::guide_legend(ncol = 1L)) +
    titled("What each model says", "Medians and 90% intervals")
}
