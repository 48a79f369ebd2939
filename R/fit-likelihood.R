# Fits of latent class models by maximum likelihood, by maximum posterior density, or by least
# squares on frequencies of pairs of ratings. The formulas are in src/core/model.

fit_model.rater_model <- function(model, checked, start) { # nolint: object_name.
  x <- checked$x
  method <- checked$method
  known_values <- checked$known
  check_model_size(x)
  raters_with_ratings <- if (n_raters(x) == 1L) 1L else unique(rating_rater(x))
  if (length(raters_with_ratings) == 1L) {
    # With a single rater, whose confusion matrix is known, default priors are dropped.
    has_default_prior <- is_pooled(model) || identical(model$prior, weak_prior)
    if (has_default_prior && lengths(known_values$raters[raters_with_ratings]) > 0L)
      model$prior <- list()
    has_calibration <- isTRUE(lengths(known_values$counts[raters_with_ratings]) > 0L) &&
      is_pooled(model) && !any(known_values$truth > 0L) && weights_are_counts(x)
    if (has_calibration) {
      if (n_raters(x) > 1L) x <- x[, raters_with_ratings]
      return(fit_one_judge(x, model, known_values$counts[raters_with_ratings]))
    }
  }
  bar <- progress_bar("Fit", NA, "{cli::pb_spin} {cli::pb_name}{cli::pb_elapsed}")
  core_fit <- fit_core(x, model, method, known_values, start, bar$tick)
  bar$close()
  fit <- new_rater_fit("latent_fit", x, model, method, known_values,
    matrices = core_fit$confusion,
    coefficients = setNames(
      core_fit$naturals$value,
      latent_coefficient_names(core_fit$naturals, x, known_values$base$names)
    )
  )
  core_fields <- setdiff(names(core_fit), c("identified", "naturals", "confusion"))
  fit[core_fields] <- core_fit[core_fields]
  # If covariates are collinear, the fit is not identified, because different coefficients give the
  # same base rates.
  is_collinear <- !is.null(known_values$design) &&
    qr(cbind(1, known_values$design))$rank <= ncol(known_values$design)
  fit$identified <- decide_identification(fit, core_fit$identified && !is_collinear)
  fit <- drop_undetermined_coefficients(fit, core_fit$naturals)
  fit$rater_accuracy <-
    mean(fit$coefficients[core_fit$naturals$term == "rater_accuracy"], na.rm = TRUE)
  # Method "pairs" has no likelihood. If weights are not counts, the likelihood has no meaning.
  has_count_weights <- weights_are_counts(x)
  if (!has_count_weights || method == "pairs") fit$log_likelihood <- NA_real_
  # If `unsure` is NULL, the fit has no standard errors. With perfect agreement, none exist, because
  # the estimated accuracy is 1, on a boundary.
  if (!has_count_weights || fit$agreement %in% 1) fit["unsure"] <- list(NULL)
  fit <- add_answer_probabilities(fit)
  if (fit$identified == "yes") fit else set_estimates_to_na(fit)
}

# Returns "yes" if the fit is identified, otherwise the code of the reason. `fit`: a fit whose field
# `identified` contains the code for k_model(). `has_full_rank`: do the ratings determine all
# parameters (full rank of the information matrix)?
decide_identification <- function(fit, has_full_rank) {
  identification_code <- fit$identified
  # Models with unequal raters, ordinal errors, confidence, or a user-defined family are identified
  # if the ratings of different raters are associated. Other models, and ratings given as counts,
  # need an agreement above 1 / number of categories.
  model <- fit$model
  needs_association <- !has_counts(fit$x) &&
    (!is.null(model$family) || is_outside_core(model) || model$accuracy == "rater")
  if (needs_association) identification_code <- association_code(fit$x, identification_code)
  # Cases with known truth, and known raters, identify the fit even if agreement is too low.
  has_known_truth_or_rater <- has_known_values(fit$known)
  if (has_known_truth_or_rater) identification_code <- "yes"
  if (identification_code == "yes" && !has_full_rank) identification_code <- "parameters"
  # With free errors and without a prior, the fit is not identified if a category has neither
  # ratings nor known cases. The base rate of this category could be any number.
  needs_all_categories <- is_empty(model$prior) && model$errors == "free" &&
    !all(lengths(fit$known$raters) > 0L, !is_empty(fit$known$raters))
  used_categories <- c(rating_category(fit$x), fit$known$truth)
  if (identification_code == "yes" && needs_all_categories &&
    !all(seq_along(fit$x$categories) %in% used_categories)) identification_code <- "unused"
  # Result of decide_abstain(), if raters abstained
  abstention_decision <- fit$x$panel$abstain
  if (has_known_truth_or_rater || is.null(model$abstain) || is.null(abstention_decision))
    return(identification_code)
  # Is the fit identified only if the model uses abstentions?
  needs_abstentions <- abstention_decision$by_replies && uses_abstentions(model)
  if (needs_abstentions || abstention_decision$identified != "yes")
    abstention_decision$identified else identification_code
}

# Fits the model in the core and returns the core's list of estimates. `known`: see resolve_known().
# `start`: a result of starting_values(), or NULL. `tick`: function that updates the progress bar.
fit_core <- function(x, model, method, known, start, tick) {
  model <- model_for_core(model, x, method)
  weight <- pattern_weights(x)
  # Weights that are not counts are rescaled to sum to the number of cases, because the stopping
  # rule depends on their scale.
  if (!weights_are_counts(x)) weight <- weight * count_cases(x) / sum(weight)
  if (is_pooled(model)) {
    # Field `abstain` of the model is NULL if the ratings contain no abstentions.
    abstain_arguments <- if (!is.null(model$abstain)) abstention_arguments(
      x, uses_abstentions(model), x$panel$abstain$constant
    )
    # The argument 1e-8 is the convergence tolerance of probabilities.
    return(core_fit_pooled(
      x$patterns, weight, known, c(model, abstain_arguments), FALSE, 1e-8, max_pooled_iterations,
      1L, tick)[[1L]])
  }
  abort_argument_if(known$counts, "known_raters",
    "{.arg known_raters} can contain counts only with {.code model = dawid_skene()} and weights of
        cases that are whole numbers.",
    i = "Use this model and such weights, or give matrices of probabilities.",
    call = NULL)
  fit_from <- function(start) {
    core_fit_latent(x$patterns, weight, known, model, method, 2000L, start, tick)
  }
  core_fit <- fit_from(start)
  if (!has_free_errors(model) || has_known_values(known) || !core_fit$identified) return(core_fit)
  # A latent class should represent the most frequent category among the ratings of its cases. If
  # some class does not, the classes are reordered, and the model is fitted again in this order.
  reordered_parameters <- reorder_classes(core_fit, x, model, known)
  if (is.null(reordered_parameters)) core_fit else
    fit_from(list(theta = reordered_parameters, raters = n_raters(x)))
}

max_pooled_iterations <- 20000L # largest number of iterations of a pooled fit

# Raises an error if a fit would need too much memory. A fit needs about twelve arrays (raters x
# true categories x ratings).
check_model_size <- function(x) {
  n_parameters <- n_raters(x) * n_categories(x)^2
  abort_argument_if(n_parameters > 1e7, "x",
    "A model of errors has a parameter for each rater, true category and rating. It can have at most
        {number(1e7)} parameters.",
    x = "{count_noun(n_raters(x), 'rater')} and {number(n_categories(x))} categories have
        {number(n_parameters)}.",
    i = "Merge rare categories. Or use {.fun estimate_accuracy} with {.code method = \"binned\"} and
        {.code interval = \"bootstrap\"}, which needs no model of errors.")
}

# Returns the model as a list for the core. Priors are dropped for fits by least squares (`method =
# "pairs"`). They are also dropped if weights of cases are not counts, because priors would then be
# too strong. `x`: the fitted ratings. `new_ratings`: ratings to which the core applies the model;
# by default `x`.
model_for_core <- function(model, x, method, new_ratings = x) {
  if (method == "pairs" || !weights_are_counts(x)) model$prior <- list()
  if (uses_confidence(model)) {
    model$levels <- length(x$confidence$levels)
    model$level <- rating_levels(new_ratings, model)
  }
  unclass(model)
}

# Returns the model of a fit as a list for the core. If the prior is pooled, the list includes the
# Dirichlet parameters of the rows of confusion matrices, which were estimated with the fit.
model_of_fit <- function(fit) {
  core_model <- model_for_core(fit$model, fit$x, fit$method)
  if (is_pooled(core_model)) core_model$prior$rows <- fit$centre$rows
  core_model
}

# Returns the names of the coefficients, such as "rater_accuracy[a]". `columns`: names of the
# columns of the design matrix of the formula, NULL without a formula. `naturals`: the core's table
# of coefficients, with these columns:
# * term: name of the coefficient without brackets, such as "rater_accuracy"
# * of: index of the rater or category of the coefficient, 0 if it has none
# * part: index of the threshold, of the level of confidence, or of the column of the design matrix;
#   0 for other coefficients
latent_coefficient_names <- function(naturals, x, columns) {
  term <- naturals$term
  owner_number <- replace(naturals$of, naturals$of == 0L, NA)
  part_number <- replace(naturals$part, naturals$part == 0L, NA)
  owner_labels <- ifelse(startsWith(term, "base_rate"), x$categories[owner_number],
    x$raters[owner_number])
  levels <- x$confidence$levels %||% NA_character_
  threshold_labels <- paste0(head(x$categories, -1L), "|", x$categories[-1L])
  part_labels <- ifelse(term == "threshold", threshold_labels[part_number], levels[part_number])
  bracket_text <- apply(cbind(owner_labels, part_labels), 1L, function(word) {
    paste(word[!is.na(word)], collapse = ": ")
  })
  terms <- paste0(term, ifelse(bracket_text == "", "", sprintf("[%s]", bracket_text)))
  if (is.null(columns)) return(terms)
  replace(terms, term == "base_rate_coefficient", coefficient_terms(columns, x$categories))
}

# Sets coefficients that the ratings do not determine to NA, and returns the fit. Sets field
# `unsure` to the indices of coefficients without standard errors.
drop_undetermined_coefficients <- function(fit, naturals) {
  has_no_prior <- is_empty(model_for_core(fit$model, fit$x, fit$method)$prior)
  can_be_flat <- naturals$term %in% c("dispersion", "difficulty", "slope", "threshold")
  fit$unsure <- integer()
  if (has_no_prior && any(can_be_flat)) {
    # A variance is NA if the likelihood does not change with the coefficient.
    is_flat <- is.na(coefficient_variances(fit))
    if (!all(is_flat)) fit$coefficients[is_flat & can_be_flat] <- NA_real_
  }
  is_probability <- !naturals$term %in%
    c("dispersion", "slope", "threshold", "base_rate_coefficient")
  # Probabilities that are estimated as 0 or 1 have no standard errors, because the curvature of the
  # likelihood is meaningless there.
  fit$unsure <- which(is_on_boundary(fit$coefficients) & is_probability)
  if (fit$model$accuracy != "rater") return(fit)
  # Field `informed`: are the rater's parameters identified?
  is_uninformed <- ratings_of_raters(fit$x) == 0 | !fit$informed & !is_pooled(fit$model)
  undetermined_raters <-
    which(is_uninformed & !is_known_rater(fit) & !is_known_rater(fit, "counts"))
  is_rater_term <- naturals$term %in% c("rater_accuracy", "slope", "threshold")
  undetermined_coefficients <- which(is_rater_term & naturals$of %in% undetermined_raters)
  fit$coefficients[undetermined_coefficients] <- NA_real_
  fit$matrices[undetermined_raters, , ] <- NA_real_
  fit$unsure <- c(fit$unsure, undetermined_coefficients)
  fit
}

# Computes a list of `covariance`, the covariance matrix of the coefficients, and `variance`, their
# variances. Coefficients in `fit$unsure` have the variance NA. Returns NULL if `fit$unsure` is
# NULL: the fit then has no standard errors.
covariance_of.latent_fit <- function(fit) { # nolint: object_name.
  if (!is.null(fit$covariance)) return(NextMethod())
  if (is.null(fit$unsure)) return(NULL)
  covariances <- na_real(core_latent_covariance(
    fit$x$patterns, pattern_weights(fit$x), fit$known, model_of_fit(fit), fit$method, fit$theta
  ))
  covariances$variance[fit$unsure] <- NA_real_
  if (!is.null(covariances$covariance)) {
    covariances$covariance[fit$unsure, ] <- covariances$covariance[, fit$unsure] <- NA_real_
  }
  covariances
}

# Applies a fit to other ratings `x`. Returns a list of `posterior`, posterior probabilities of true
# categories, and `probability`, probabilities of ratings. Known truths are not used, because they
# belong to the fitted cases.
latent_probabilities <- function(fit, x) {
  core_latent_probabilities(
    x$patterns, pattern_weights(x),
    c(
      list(truth = integer(), raters = fit$known$raters),
      population_arguments(fit$model, x, fit$known$base)
    ),
    model_for_core(fit$model, fit$x, fit$method, x), fit$theta
  )
}

# Sets all estimates of a fit to NA, because it is not identified, and returns the fit.
set_estimates_to_na <- function(fit) {
  for (field in c("rater_accuracy", "base_rates", "posterior", "coefficients", "matrices",
                  "log_likelihood", "log_posterior", "theta",
                  if (!is.null(fit$answered)) "answered")) {
    fit[[field]][] <- NA_real_
  }
  fit["unsure"] <- list(NULL)
  fit
}

# Returns TRUE if all raters have the same confusion matrix.
has_one_matrix <- function(fit) fit$model$accuracy == "common" && !any(is_known_rater(fit))

# Returns the standard errors of the coefficients. With a pooled prior, standard errors from the
# curvature of the likelihood can be too small, because they treat the estimated prior as known. The
# standard error of an accuracy p is therefore at least sqrt(p (1 - p) / n). This would be the
# standard error if the truth of the rater's n cases was known.
standard_errors <- function(fit) {
  standard_error <- sqrt(coefficient_variances(fit))
  if (is.null(fit$centre)) return(standard_error)
  n_observations <- rowSums(count_observations_by_truth(fit))[
    match(names(fit$coefficients), rater_terms(fit$x))]
  lower_limit <- sqrt(bernoulli_variance(fit$coefficients) / n_observations)
  pmax(standard_error, replace(lower_limit, is.na(n_observations), 0))
}

#' @export
coef.rater_fit <- function(object, ...) object$coefficients

#' @export
vcov.rater_fit <- function(object, what = NULL, cluster = NULL, ...) {
  if (wants_regression(what)) return(regression_covariance(object, cluster)$covariance)
  terms <- names(coef(object))
  covariances <- covariance_of(object)
  covariance <- covariances$covariance
  if (is.null(covariance)) {
    n <- length(terms)
    abort_argument_if(n > max_covariances, "object",
      "The covariance matrix of a fit can have at most {max_covariances} parameters.",
      x = "The fit has {n}.", i = "Use {.fun tidy} for standard errors.")
    covariance <- matrix(NA_real_, n, n)
    diag(covariance) <- covariances$variance %||% NA_real_
  }
  if (!is.null(object$centre)) { # standard covariances are those of tidy()
    standard_error <- standard_errors(object)
    scale <- ifelse(standard_error > 0, standard_error / sqrt(diag(covariance)), 1)
    covariance <- covariance * outer(scale, scale)
    diag(covariance) <- standard_error^2
  }
  structure(covariance, dimnames = list(terms, terms))
}

#' @export
confint.rater_fit <- function(object, parm, level = 0.95, what = NULL, cluster = NULL, ...) {
  check_level(level, "level")
  shows_regression <- wants_regression(what)
  estimate_table <- if (shows_regression) tidy_regression(object, FALSE, cluster, level) else
    tidy(object, conf_level = level)
  terms <- if (shows_regression) rate_coefficient_names(object) else estimate_table$term
  interval_matrix(estimate_table, terms, level, parm)
}

# If only variances are available, vcov() returns a matrix in which all covariances are NA. With
# more coefficients than this number, vcov() raises an error instead.
max_covariances <- 5000L

#' @export
nobs.rater_fit <- function(object, ...) count_cases(object$x, is_rated_pattern(object$x))

#' @export
logLik.rater_fit <- function(object, ...) {
  has_likelihood <- object$method == "likelihood"
  structure(
    if (has_likelihood) object$log_likelihood else NA_real_,
    # With a pooled prior, the effective number of parameters is unknown.
    df = if (has_likelihood && is.null(object$centre)) object$parameters else NA_integer_,
    nobs = nobs(object), class = "logLik"
  )
}

#' @export
AIC.rater_fit <- function(object, ...) {
  criteria <- NextMethod()
  reasons <- c( # nolint: object_usage.
    "the fit is not identified", "the fit does not maximise a likelihood",
    "the prior is estimated", "weights of cases are not whole numbers",
    "the log likelihood or the number of parameters of a fit is not available"
  )[c(object$identified != "yes", object$method != "likelihood", !is.null(object$centre),
      !weights_are_counts(object$x), TRUE)]
  if (anyNA(criteria)) inform_fallible("AIC and BIC are {.val {NA}} because {reasons[[1L]]}.",
    i = "Fit a model with {.code prior = \"none\"} by {.code method = \"likelihood\"}. Compare
      Bayesian fits with {.fun compare_models} or {.fun loo::loo}.")
  criteria
}

#' @export
BIC.rater_fit <- AIC.rater_fit

#' @export
anova.rater_fit <- function(object, ...) {
  abort_argument("object", "{.fun anova} cannot be used for fits of raters.",
    i = "Compare models with {.fun AIC} or, if they are Bayesian, with {.fun compare_models}.")
}

warn_convergence <- function(method, advice = "Try a simpler model, or stronger priors.") {
  warn_fallible("no_convergence", "The {method} fit did not converge.",
    i = "Estimates are from the last iteration. {advice}")
}
