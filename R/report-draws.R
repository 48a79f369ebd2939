# What a paper must tell of a fit by posterior draws, by STARD-BLCM.

#' @export
say_methods.fit_check <- function(x) say_draws(x$fit, x) # nolint: object_name.

#' @export
say_methods.draws_fit <- function(x) say_draws(x) # nolint: object_name.

say_draws <- function(fit, checks = NULL) {
  facts <- glance(fit)
  table <- tidy(fit)
  some <- function(names) shorten(names, most = 6L)
  weak <- table$term[table$contraction < least_contraction & !is.na(table$contraction)]
  sampling <- fit$sampling
  populations <- rownames(fit$prior$base_rates)
  fill(
    "The accuracy of %s was estimated without a gold standard from %s by a Bayesian latent class
    model (%s%s). The target condition is the class that they share; it need not be the condition
    that a reference test defines. Given that class their errors were taken to be %s, which ratings
    alone do not show. Priors: %s. The posterior was drawn by the R package fallible, %d chains of
    %s draws each after %s sweeps, one of every %d kept; Rhat was at most %s and effective sample
    sizes at least %s. %s%s",
    some(fit$x$raters), count_noun(sum(weights_of_cases(fit$x)), "case"), format(fit$model),
    only_if(!is.null(populations), paste("; base rates of their own in", some(populations))),
    if (model_is_dependent(fit$model)) "dependent as stated" else "independent",
    prior_sentence(fit), sampling$chains, number(sampling$kept), number(sampling$warmup),
    sampling$thin, decimals(facts$worst_rhat), number(round(facts$worst_ess)),
    only_if(length(weak) > 0L, fill("Mostly by their priors are known: %s. ", some(weak))),
    shift_sentence(checks)
  )
}

prior_sentence <- function(fit) {
  rates <- fit$prior$text$base_rates
  of <- rlang::names2(rates)
  rows <- fit$prior$text$raters
  two <- n_categories(fit$x) == 2L
  laws <- vapply(rows, function(law) {
    several <- length(law) > 1L
    if (several && two) law <- paste(c("specificity", "sensitivity"), law)
    paste0(if (several && !two) "rows ", toString(law))
  }, "")
  same <- length(unique(rows)) == 1L && length(rows) > 2L
  of_raters <- if (same) paste("all raters", laws[[1L]]) else paste(names(rows), laws)
  more <- length(of_raters) - 8L
  paste(c(
    paste0("base rates", ifelse(of == "", "", " of "), of, " ", rates),
    utils::head(of_raters, 8L), if (more > 0L) paste("and", more, "more raters")
  ), collapse = "; ")
}

shift_sentence <- function(checks) {
  shifts <- checks$sensitivity
  if (NROW(shifts) == 0L) return("What other priors would say was not examined: see check_fit().")
  worst <- vapply(split(shifts, factor(shifts$prior, unique(shifts$prior))), function(of) {
    at <- which.max(abs(of$shift))
    paste(decimals(of$shift[[at]], 2L), "of", of$term[[at]])
  }, "")
  fill(
    "With other priors (%s) the largest shift of a mean, in posterior standard deviations, was %s.",
    toString(names(worst)), paste(worst, collapse = " and ")
  )
}
