# Latent class models by maximum posterior density; the mathematics is in src/core/latent.cpp.

fit_likelihood <- function(x, model, iterations = 2000L) {
  by_agreement <- fit_algebraic(x, k_model())
  model <- model_for(model, x)
  core <- core_fit_latent(
    x$patterns, pattern_weights(x), -1L, integer(), unclass(model), iterations
  )
  fit <- new_rater_fit(c(
    list(x = x, model = model, method = "likelihood"),
    by_agreement[c("identified", "agreement", "kappa")],
    list(negative = 0L),
    core[c(
      "log_likelihood", "log_posterior", "iterations", "converged", "parameters", "base_rates",
      "posterior"
    )],
    list(
      coefficients = core$naturals, covariance = na_real(core$covariance),
      matrices = core$confusion
    )
  ))
  if (fit$identified == "yes" && !core$identified) fit$identified <- "parameters"
  names(fit$coefficients) <- likelihood_terms(fit)
  raters <- seq_len(if (model$accuracy == "rater") length(x$raters) else 1L)
  fit$rater_accuracy <- mean(fit$coefficients[raters])
  if (!weights_are_counts(x)) fit$covariance[] <- fit$log_likelihood <- NA_real_
  if (fit$agreement %in% 1) fit$covariance[] <- NA_real_ # a boundary, not a top
  if (fit$identified != "yes") fit <- without_numbers(fit)
  fit
}

# Beside weights that are probabilities a prior would count for more than the data.
model_for <- function(model, x) {
  if (!weights_are_counts(x)) model$prior <- list()
  model
}

likelihood_terms <- function(fit) {
  c(
    if (fit$model$accuracy == "rater") {
      paste0("rater_accuracy[", fit$x$raters, "]")
    } else {
      "rater_accuracy"
    },
    paste0("base_rate[", fit$x$categories, "]"),
    if (fit$model$errors == "distance") "dispersion",
    if (fit$model$difficulty == "strata") "difficulty"
  )
}

# What a fit that is not identified must not say.
without_numbers <- function(fit) {
  for (field in c("rater_accuracy", "base_rates", "posterior", "coefficients", "covariance",
                  "matrices", "log_likelihood", "log_posterior")) {
    fit[[field]][] <- NA_real_
  }
  fit
}

# A confusion matrix per rater, or the one that all share.
likelihood_confusion <- function(fit) {
  categories <- fit$x$categories
  matrices <- lapply(seq_along(fit$x$raters), function(j) {
    structure(fit$matrices[j, , ], dimnames = list(truth = categories, rating = categories))
  })
  if (fit$model$accuracy == "common") matrices[[1L]] else stats::setNames(matrices, fit$x$raters)
}

# Categories that change places: raters would agree better with the truth under other names.
switched_categories <- function(fit) {
  mean_matrix <- colMeans(fit$matrices)
  gain <- mean_matrix + t(mean_matrix) - outer(diag(mean_matrix), diag(mean_matrix), `+`)
  which(gain > 1e-6, arr.ind = TRUE)[, 1L]
}

warn_likelihood <- function(fit) {
  if (!fit$converged) warn_convergence("likelihood")
  switched <- fit$x$categories[sort(unique(switched_categories(fit)))]
  if (length(switched) > 0L) {
    warn_fallible("switched", c(
      "Under the fitted model raters mostly call these categories by each other's names:
       {.val {switched}}.",
      "i" = "What a latent class is called is a matter of taste to the likelihood. Join categories,
             choose a simpler model, or check who the raters are."
    ), categories = switched)
  }
}

#' @export
logLik.rater_fit <- function(object, ...) {
  value <- if (object$method == "likelihood") object$log_likelihood else NA_real_
  df <- if (object$method == "likelihood") object$parameters else NA_integer_
  structure(value, df = df, nobs = stats::nobs(object), class = "logLik")
}
