# Latent class models by maximum posterior density, or by least squares on pairs of ratings; the
# formulas are in src/core/model.

fit_model.rater_model <- function(model, checked, start) { # nolint: object_name.
  x <- checked$x
  method <- checked$method
  known <- checked$known
  check_model_size(x)
  judge <- if (n_raters(x) == 1L) 1L else unique(rating_rater(x))
  if (length(judge) == 1L) {
    # A single known rater has no panel with a common centre, and base rates need no prior.
    usual <- is_pooled(model) || identical(model$prior, weak_prior)
    if (usual && lengths(known$raters[judge]) > 0L) model$prior <- list()
    calibrated <- isTRUE(lengths(known$counts[judge]) > 0L) && is_pooled(model) &&
      !any(known$truth > 0L) && weights_are_counts(x)
    if (calibrated) {
      return(fit_one_judge(if (n_raters(x) > 1L) x[, judge] else x, model, known$counts[judge]))
    }
  }
  bar <- progress_bar("Fit", NA, "{cli::pb_spin} {cli::pb_name}{cli::pb_elapsed}")
  core <- fit_core(x, model, method, known, start, bar$tick)
  bar$close()
  fit <- new_rater_fit("latent_fit", x, model, method, known,
    matrices = core$confusion,
    coefficients = setNames(
      core$naturals$value, latent_terms(core$naturals, x, known$base$names)
    )
  )
  fields <- setdiff(names(core), c("identified", "naturals", "confusion"))
  fit[fields] <- core[fields]
  fit$identified <- identified_as(fit, core$identified && !is_collinear(known))
  fit <- without_the_unknown(fit, core$naturals)
  accuracies <- fit$coefficients[core$naturals$term == "rater_accuracy"]
  fit$rater_accuracy <- mean(accuracies, na.rm = TRUE)
  # A fit to pairs does not maximise the log likelihood.
  counted <- weights_are_counts(x)
  if (!counted || method == "pairs") fit$log_likelihood <- NA_real_
  # With perfect agreement the estimate is on a boundary, so there are no standard errors.
  if (!counted || fit$agreement %in% 1) fit["unsure"] <- list(NULL)
  fit <- add_answering(fit)
  if (fit$identified == "yes") fit else without_numbers(fit)
}

# Identification of a fit, given whether its parameters are identified. On entry `fit$identified` is
# that of the K-model.
identified_as <- function(fit, parameters) {
  code <- fit$identified
  if (needs_association(fit$model, fit$x)) code <- shown_by_association(fit$x, code)
  # Gold cases and known raters identify what agreement does not.
  known <- knows_some(fit$known)
  if (known) code <- "yes"
  if (code == "yes" && !parameters) code <- "parameters"
  # The decision about abstentions, see resolve_abstain()
  decision <- fit$x$panel$abstain
  if (known || is.null(fit$model$abstain) || is.null(decision)) return(code)
  by_replies <- decision$by_replies && uses_abstentions(fit$model)
  if (by_replies || decision$identified != "yes") decision$identified else code
}

fit_core <- function(x, model, method, known, start, tick) {
  model <- model_for(model, x, method)
  weight <- pattern_weights(x)
  # The stopping rule must not depend on the scale of weights that are not counts.
  if (!weights_are_counts(x)) weight <- weight * count_cases(x) / sum(weight)
  if (is_pooled(model)) {
    parts <- if (!is.null(model$abstain)) abstain_parts(
      x, uses_abstentions(model) && has_abstentions(x), x$panel$abstain$constant
    )
    # Convergence tolerance of probabilities: 1e-8
    return(core_fit_pooled(x$patterns, weight, known, c(model, parts), FALSE, 1e-8, pooled_rounds,
      1L, tick)[[1L]])
  }
  if (length(known$counts) > 0L) abort_counts_need_pooled()
  fit <- function(start) {
    core_fit_latent(x$patterns, weight, known, model, method, 2000L, start, tick)
  }
  core <- fit(start)
  free <- model$accuracy == "rater" && model$errors == "free" && model$difficulty == "none"
  if (!free || knows_some(known) || !core$identified) return(core)
  # If classes do not have the names that most ratings give them, refits from starting values with
  # these names. Without priors only the names change.
  theta <- renamed_theta(core, x, model, known)
  if (is.null(theta)) core else fit(list(theta = theta, raters = n_raters(x)))
}

pooled_rounds <- 20000L # largest number of iterations

# Fits keep about a dozen tables with a number for each rater, true category and rating.
check_model_size <- function(x, most = 1e7) {
  raters <- n_raters(x)
  categories <- n_categories(x)
  abort_argument_if(raters * categories^2 > most, "x", "A model of errors has a number for each
        rater, true category and rating, of which there must be no more than {number(most)}.",
    x = "{count_noun(raters, 'rater')} and {number(categories)} categories make
        {number(raters * categories^2)}.", i = "Join rare categories.
        {.code method = \"binned\", interval = \"bootstrap\"} needs no model of errors.")
}

# The model for the core. Priors do not apply to sums of squares. With weights that are
# probabilities, priors would outweigh the data. `rated`: the ratings that have the confidence.
model_for <- function(model, x, method, rated = x) {
  if (method == "pairs" || !weights_are_counts(x)) model$prior <- list()
  if (uses_confidence(model)) {
    model$levels <- length(x$confidence$levels)
    model$level <- rating_levels(rated, model)
  }
  unclass(model)
}

# The model of a fit for the core, including the estimated centre of its prior.
model_of_fit <- function(fit) {
  out <- model_for(fit$model, fit$x, fit$method)
  if (is_pooled(out)) out$prior$rows <- fit$centre$rows
  out
}

# Names of coefficients. `naturals` has for each coefficient its kind (`term`), the number of its
# rater or category (`of`) and of its threshold, level or formula column (`part`); 0 is none.
latent_terms <- function(naturals, x, columns) {
  term <- naturals$term
  owner <- replace(naturals$of, naturals$of == 0L, NA)
  part <- replace(naturals$part, naturals$part == 0L, NA)
  owners <- ifelse(startsWith(term, "base_rate"), x$categories[owner], x$raters[owner])
  levels <- x$confidence$levels %||% NA_character_
  thresholds <- paste0(head(x$categories, -1L), "|", x$categories[-1L])
  parts <- ifelse(term == "threshold", thresholds[part], levels[part])
  inside <- apply(cbind(owners, parts), 1L, function(word) {
    paste(word[!is.na(word)], collapse = ": ")
  })
  out <- paste0(term, ifelse(inside == "", "", sprintf("[%s]", inside)))
  if (is.null(columns)) return(out)
  replace(out, term == "base_rate_coefficient", coefficient_terms(columns, x$categories))
}

# Sets to NA: dispersion, difficulty, slopes and thresholds in whose direction the likelihood is
# flat (if the curvature was computed); and raters without ratings that share no parameter with
# others. Standard errors of parameters at a limit are NA, because the curvature there is not
# informative.
without_the_unknown <- function(fit, naturals) {
  free <- length(model_for(fit$model, fit$x, fit$method)$prior) == 0L
  loose <- naturals$term %in% c("dispersion", "difficulty", "slope", "threshold")
  fit$unsure <- integer()
  if (free && any(loose)) {
    flat <- is.na(variances(fit))
    if (!all(flat)) fit$coefficients[flat & loose] <- NA_real_
  }
  probability <- !naturals$term %in%
    c("dispersion", "slope", "threshold", "base_rate_coefficient")
  fit$unsure <- which(on_boundary(fit$coefficients) & probability)
  counts <- rep.int(pattern_weights(fit$x) > 0, pattern_lengths(fit$x))
  rated <- tabulate(rating_rater(fit$x)[counts], n_raters(fit$x)) > 0L
  uninformed <- !fit$informed & !is_pooled(fit$model)
  lacking <- which((!rated | uninformed) & !is_known_rater(fit) & !is_counted_rater(fit))
  if (fit$model$accuracy == "rater" && length(lacking) > 0L) {
    rater_terms <- naturals$term %in% c("rater_accuracy", "slope", "threshold")
    unknown <- which(rater_terms & naturals$of %in% lacking)
    fit$coefficients[unknown] <- NA_real_
    fit$matrices[lacking, , ] <- NA_real_
    fit$unsure <- c(fit$unsure, unknown)
  }
  fit
}

# Errors of the coefficients, computed on demand: `covariance`, NULL if there is none, and
# `variance`, NULL if there is none either. `unsure`: numbers of coefficients without a standard
# error. NULL if no coefficient has one.
covariance_of.latent_fit <- function(fit) { # nolint: object_name.
  if (!is.null(fit$covariance)) return(NextMethod())
  if (is.null(fit$unsure)) return(NULL)
  out <- na_real(core_latent_covariance(
    fit$x$patterns, pattern_weights(fit$x), fit$known, model_of_fit(fit), fit$method, fit$theta
  ))
  out$variance[fit$unsure] <- NA_real_
  if (!is.null(out$covariance)) {
    out$covariance[fit$unsure, ] <- out$covariance[, fit$unsure] <- NA_real_
  }
  out
}

# Known truths belong to the fitted ratings. New ratings have none.
latent_probabilities <- function(fit, x) {
  core_latent_probabilities(
    x$patterns, pattern_weights(x),
    c(
      list(truth = integer(), raters = fit$known$raters),
      populations_of(fit$model, x, fit$known$base)
    ),
    model_for(fit$model, fit$x, fit$method, x), fit$theta
  )
}

# Sets the estimates of a fit that is not identified to NA.
without_numbers <- function(fit) {
  for (field in c("rater_accuracy", "base_rates", "posterior", "coefficients", "matrices",
                  "log_likelihood", "log_posterior", "theta",
                  if (!is.null(fit$answered)) "answered")) {
    fit[[field]][] <- NA_real_
  }
  fit["unsure"] <- list(NULL)
  fit
}

# Do all raters have the same confusion matrix?
has_one_matrix <- function(fit) fit$model$accuracy == "common" && !any(is_known_rater(fit))

warn_latent <- function(fit) {
  if (!fit$converged) warn_convergence(fit$method)
  if (fit$model$accuracy == "rater" && fit$model$errors == "free") {
    return(warn_weakly_identified(fit))
  }
  # Exchanging the names of two categories would increase agreement with the truth.
  mean <- colMeans(fit$matrices, na.rm = TRUE)
  gain <- mean + t(mean) - outer(diag(mean), diag(mean), `+`)
  switched <- fit$x$categories[rowSums(gain > 1e-6, na.rm = TRUE) > 0]
  warn_if(switched, "switched",
    "Under the fitted model raters mostly call these categories by each other's names:
        {.val {switched}}.",
    i = "The likelihood does not determine the names of latent classes. Join categories, choose a
        simpler model, or check who the raters are.", categories = switched)
}

#' @export
logLik.rater_fit <- function(object, ...) {
  likely <- object$method == "likelihood"
  structure(
    if (likely) object$log_likelihood else NA_real_,
    # With a pooled prior the effective number of parameters is not known.
    df = if (likely && is.null(object$centre)) object$parameters else NA_integer_,
    nobs = stats::nobs(object), class = "logLik"
  )
}

warn_convergence <- function(method) {
  warn_fallible("no_convergence", "The {method} fit did not converge.",
    i = "Its numbers are those of the last iteration. Try a simpler model, or stronger priors.")
}
