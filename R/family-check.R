# Models of a user's own as alternatives in check_k_properties().

# A named list of models, from one or several.
check_alternatives <- function(alternative, x) {
  if (inherits(alternative, "rater_model")) alternative <- list(alternative)
  ok <- is.null(alternative) || (is.list(alternative) &&
    all(vapply(alternative, inherits, NA, "rater_model")))
  abort_argument_if(!ok, "alternative", "must be a {.cls rater_model}, or a list of them.",
    not = alternative)
  for (model in alternative) {
    check_method("likelihood", model, x, FALSE)
    abort_argument_if(uses_confidence(model), "alternative",
      "Models with {.code confidence = TRUE} cannot be among {.arg alternative}.",
      x = "Their likelihood is of other data than that of models without.")
  }
  names <- rlang::names2(alternative)
  names[names == ""] <- vapply(alternative, format, "")[names == ""]
  stats::setNames(lapply(alternative, without_prior), names)
}

# What is compared is likelihood.
without_prior <- function(model) {
  model["prior"] <- list(list())
  model
}

# A row per model: twice its gain in log-likelihood on the model with equal errors and difficulty,
# and an accuracy for each rater if these can be told apart. Systems do not join.
alternative_rows <- function(x, alternative, settings) {
  if (length(alternative) == 0L) return(list())
  null <- first_identified(x, utils::modifyList(settings, list(system = 0L)),
    axes(c("rater", "common"), "uniform", "none"))$null
  reason <- reason_untestable(x)
  if (is.na(reason) && is.null(null)) {
    reason <- "the model without it has more parameters than these raters can distinguish"
  }
  if (!is.na(reason)) {
    return(lapply(names(alternative), function(name) {
      k_row("alternative", alternative_test(name), reason = reason)
    }))
  }
  null <- without_prior(null)
  fit <- quietly_fitted(x, null)
  bar <- progress_bar("Alternatives", settings$replicates)
  drawn <- vapply(seq_len(settings$replicates), function(i) {
    bar$tick(i)
    gains(stats::simulate(fit)[[1L]], null, alternative)
  }, numeric(length(alternative)))
  bar$close()
  drawn <- matrix(drawn, length(alternative))
  observed <- gains(x, null, alternative)
  lapply(seq_along(alternative), function(i) {
    test <- alternative_test(names(alternative)[[i]])
    if (is.na(observed[[i]])) {
      return(k_row("alternative", test, reason = reason_of_parameters(
        alternative[[i]], length(x$categories)
      )))
    }
    k_row(
      "alternative", test, null, alternative[[i]],
      statistic = reported_statistic(observed[[i]], "ratio"),
      df = quietly_fitted(x, alternative[[i]])$parameters - fit$parameters,
      p_value = bootstrap_p(observed[[i]], drawn[i, ])
    )
  })
}

alternative_test <- function(name) paste0("likelihood ratio, ", name)

gains <- function(x, null, alternative) {
  below <- quietly_fitted(x, null)$log_likelihood
  vapply(alternative, function(model) {
    2 * (quietly_fitted(x, model)$log_likelihood - below)
  }, 0, USE.NAMES = FALSE)
}

quietly_fitted <- function(x, model) {
  suppressWarnings(fit_raters(x, model, "likelihood"), classes = "fallible_warning")
}
