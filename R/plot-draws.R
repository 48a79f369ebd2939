#' Pictures of posterior draws
#'
#' @srrstats {BS6.1, BS6.2, BS6.3, BS6.5} traces and densities
#' @param object A [fit_raters()] result with `method = "bayes"`.
#' @param type `"density"`: the posterior of each parameter, with its prior dashed. `"trace"`: draws
#'   one after the other, by chain. `"rank"`: how often each chain has draws of each rank among all
#'   chains, which is even where chains have mixed.
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
#' @method autoplot draws_fit
#' @rawNamespace S3method(ggplot2::autoplot,draws_fit)
autoplot.draws_fit <- function(object, # nolint: object_name.
                               type = c("density", "trace", "rank"), terms = NULL, ...) {
  check_ggplot2()
  check_dots_empty(...)
  type <- check_choice(type, c("density", "trace", "rank"), "type")
  known <- colnames(object$draws)
  if (is.null(terms)) {
    terms <- utils::head(known[is_watched(object$terms)], 12L)
  }
  check_names_among(terms, known, "terms", rlang::current_env())
  table <- drawn_table(object, terms)
  switch(type,
    density = draw_densities(object, table), trace = draw_traces(table),
    rank = draw_ranks(table)
  )
}

drawn_table <- function(object, terms) {
  n <- nrow(object$draws)
  data.frame(
    term = factor(rep(terms, each = n), terms),
    chain = factor(rep(rep(seq_len(object$sampling$chains), each = object$sampling$kept),
      length(terms))),
    iteration = rep(seq_len(object$sampling$kept), object$sampling$chains * length(terms)),
    value = as.vector(object$draws[, terms])
  )
}

draw_densities <- function(object, table) {
  before <- prior_densities(object, levels(table$term))
  ggplot2::ggplot(table, ggplot2::aes(.data$value)) +
    ggplot2::geom_density(fill = plot_colours[["main"]], alpha = 0.5, colour = NA) +
    (if (nrow(before) > 0L) {
      ggplot2::geom_line(ggplot2::aes(y = .data$density), before,
        linetype = "dashed", colour = plot_colours[["accent"]], na.rm = TRUE)
    }) +
    ggplot2::facet_wrap(~term, scales = "free_y") +
    ggplot2::scale_y_continuous(breaks = NULL) +
    ggplot2::labs(
      title = "Posterior and prior",
      subtitle = "Posterior densities; dashed: priors", x = NULL, y = NULL
    ) +
    theme_fallible()
}

# Of parameters whose prior is a Beta distribution; its peaks at 0 and 1 are cut off.
prior_densities <- function(object, terms) {
  of <- object$terms[match(terms, object$terms$term), ]
  of <- of[!is.na(of$a), ]
  at <- seq(0.005, 0.995, length.out = 200L)
  data.frame(
    term = factor(rep(of$term, each = 200L), terms), value = rep(at, nrow(of)),
    density = stats::dbeta(rep(at, nrow(of)), rep(of$a, each = 200L),
      rep(of$total - of$a, each = 200L))
  )
}

draw_traces <- function(table) {
  ggplot2::ggplot(table, ggplot2::aes(.data$iteration, .data$value, colour = .data$chain)) +
    ggplot2::geom_line(linewidth = 0.2, alpha = 0.7) +
    ggplot2::facet_wrap(~term, scales = "free_y") +
    ggplot2::scale_colour_manual(values = category_colours(levels(table$chain))) +
    ggplot2::labs(title = "Draws of each chain", x = "draw", y = NULL) +
    theme_fallible()
}

draw_ranks <- function(table) {
  table$rank <- stats::ave(table$value, table$term, FUN = function(v) rank(v) / length(v))
  ggplot2::ggplot(table, ggplot2::aes(.data$rank, fill = .data$chain)) +
    ggplot2::geom_histogram(breaks = seq(0, 1, 0.05), show.legend = FALSE) +
    ggplot2::facet_grid(chain ~ term) +
    ggplot2::scale_fill_manual(values = category_colours(levels(table$chain))) +
    ggplot2::labs(
      title = "Ranks of the draws of each chain", subtitle = "Uniform if chains have mixed",
      x = "rank among the draws of all chains", y = NULL
    ) +
    theme_fallible()
}
