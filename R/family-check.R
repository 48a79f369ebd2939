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
  names <- ifelse(names == "", vapply(alternative, format, ""), names)
  stats::setNames(lapply(alternative, without_prior), names)
}

# What is compared is likelihood.
without_prior <- function(model) replace(model, "prior", list(list()))

# A row per model: twice its gain in log-likelihood on the model with equal errors and difficulty,
# and an accuracy for each rater if these can be told apart. Systems do not join.
alternative_rows <- function(x, alternative, settings) {
  if (length(alternative) == 0L) return(list())
  row <- function(name, ...) k_row("alternative", paste0("likelihood ratio, ", name), ...)
  settings$system <- 0L
  null <- first_identified(x, settings, axes(c("rater", "common"), "uniform", "none"))$null
  reason <- reason_untestable(x)
  if (is.na(reason) && is.null(null)) {
    reason <- "the model without it has more parameters than these raters can distinguish"
  }
  if (!is.na(reason)) return(lapply(names(alternative), row, reason = reason))
  models <- c(list(without_prior(null)), alternative)
  fitted_to <- function(x) {
    lapply(models, function(model) {
      suppressWarnings(fit_raters(x, model, "likelihood"), classes = "fallible_warning")
    })
  }
  gains <- function(fits) {
    likelihood <- vapply(fits, `[[`, 0, "log_likelihood", USE.NAMES = FALSE)
    2 * (likelihood[-1L] - likelihood[[1L]])
  }
  fits <- fitted_to(x)
  observed <- gains(fits)
  bar <- progress_bar("Alternatives", settings$replicates)
  drawn <- vapply(seq_len(settings$replicates), function(i) {
    bar$tick(i)
    gains(fitted_to(stats::simulate(fits[[1L]])[[1L]]))
  }, observed)
  bar$close()
  drawn <- matrix(drawn, length(alternative))
  Map(function(name, model, fit, gain, i) {
    if (is.na(gain)) {
      return(row(name, reason = reason_of_parameters(model, length(x$categories))))
    }
    row(
      name, models[[1L]], model, statistic = reported_statistic(gain, "ratio"),
      df = fit$parameters - fits[[1L]]$parameters, p_value = bootstrap_p(gain, drawn[i, ])
    )
  }, names(alternative), alternative, fits[-1L], observed, seq_along(alternative))
}
