# What a paper must tell of a fit by posterior draws, by STARD-BLCM.

#' @export
say_methods.fit_check <- function(x) say_draws(x$fit, x) # nolint: object_name.

#' @export
say_methods.draws_fit <- function(x) say_draws(x) # nolint: object_name.

say_draws <- function(fit, checks = NULL) {
  facts <- glance(fit)
  table <- tidy(fit)
  weak <- table$term[table$contraction < least_contraction & !is.na(table$contraction)]
  sampling <- fit$sampling
  populations <- rownames(fit$prior$base_rates)
  paste0(
    "The accuracy of ", shorten(fit$x$raters, most = 6L), " was estimated without a gold standard ",
    "from ", count_noun(sum(weights_of_cases(fit$x)), "case"),
    " by a Bayesian latent class model (", format(fit$model),
    if (!is.null(populations)) {
      paste("; base rates of their own in", shorten(populations, most = 6L))
    },
    "). The target condition is the class that they share; it need not be the condition that a ",
    "reference test defines. Given that class their errors were taken to be ",
    if (model_is_dependent(fit$model)) "dependent as stated" else "independent",
    ", which ratings alone do not show. Priors: ", prior_sentence(fit),
    ". The posterior was drawn by the R package fallible, ", sampling$chains, " chains of ",
    number(sampling$kept), " draws each after ", number(sampling$warmup), " sweeps, one of every ",
    sampling$thin, " kept; Rhat was at most ", decimals(facts$worst_rhat, 3L),
    " and effective sample sizes at least ", number(round(facts$worst_ess)), ". ",
    if (length(weak) > 0L) {
      paste0("Mostly by their priors are known: ", shorten(weak, most = 6L), ". ")
    },
    shift_sentence(checks)
  )
}

prior_sentence <- function(fit) {
  text <- fit$prior$text
  rates <- text$base_rates
  populations <- rlang::names2(rates)
  of_rates <- paste0("base rates", ifelse(populations == "", "", " of "), populations, " ", rates)
  rows <- text$raters
  two <- length(fit$x$categories) == 2L
  of_raters <- vapply(names(rows), function(rater) {
    law <- rows[[rater]]
    if (length(law) == 2L && two) {
      law <- paste0(c("specificity ", "sensitivity "), law)
    } else if (length(law) > 1L) {
      law <- paste0("rows ", toString(law))
    }
    paste(rater, toString(law))
  }, "")
  if (length(unique(rows)) == 1L && length(rows) > 2L) {
    of_raters <- sub(names(rows)[[1L]], "all raters", of_raters[[1L]], fixed = TRUE)
  }
  more <- length(of_raters) - 8L
  paste(
    c(of_rates, utils::head(of_raters, 8L), if (more > 0L) paste("and", more, "more raters")),
    collapse = "; "
  )
}

shift_sentence <- function(checks) {
  shifts <- checks$sensitivity
  if (NROW(shifts) == 0L) return("What other priors would say was not examined: see check_fit().")
  worst <- vapply(split(shifts, factor(shifts$prior, unique(shifts$prior))), function(of) {
    at <- which.max(abs(of$shift))
    paste(decimals(of$shift[[at]], 2L), "of", of$term[[at]])
  }, "")
  paste0(
    "With other priors (", toString(names(worst)), ") the largest shift of a mean, in posterior ",
    "standard deviations, was ", paste(worst, collapse = " and "), "."
  )
}
