# Latent class models by maximum posterior density, or by least squares on pairs of ratings; the
# formulas are in src/core/model.

# For `known`, see with_known(); for `start`, see start_of().
fit_latent <- function(x, model, method, known, start = NULL) {
  check_model_size(x)
  # A single known rater has no panel with a common centre, and base rates need no prior.
  judge <- judge_of(x)
  usual <- is_pooled(model) || identical(model$prior, weak_prior)
  if (usual && length(judge) == 1L && lengths(known$raters[judge]) > 0L) {
    model$prior <- list()
  }
  if (is_one_judge(x, model, known)) return(fit_one_judge(x, model, known))
  bar <- progress_bar("Fit", NA, "{cli::pb_spin} {cli::pb_name}{cli::pb_elapsed}")
  core <- fit_core(x, model, method, known, start, bar$tick)
  bar$close()
  fit <- new_rater_fit("latent_fit", x, model, method, known,
    matrices = core$confusion,
    coefficients = stats::setNames(
      core$naturals$value, latent_terms(core$naturals, x, known$base$names)
    )
  )
  same <- setdiff(names(core), c("identified", "naturals", "confusion"))
  fit[same] <- core[same]
  fit$identified <- identified_with_abstentions(fit,
    identified_as(fit, core$identified && !is_collinear(known)))
  fit <- without_the_unknown(fit, core$naturals)
  of_raters <- core$naturals$term == "rater_accuracy"
  fit$rater_accuracy <- mean(fit$coefficients[of_raters], na.rm = TRUE)
  # A fit to pairs does not maximise the log likelihood.
  counted <- weights_are_counts(x)
  if (!counted || method == "pairs") fit$log_likelihood <- NA_real_
  # With perfect agreement the estimate is on a boundary, so there are no standard errors.
  if (!counted || fit$agreement %in% 1) fit["unsure"] <- list(NULL)
  fit <- with_answering(fit)
  if (fit$identified == "yes") fit else without_numbers(fit)
}

# Identification of a fit. On entry `fit$identified` is that of the K-model. `told_apart`: are the
# parameters identified?
identified_as <- function(fit, told_apart) {
  found <- fit$identified
  if (needs_association(fit$model, fit$x)) found <- shown_by_association(fit$x, found)
  # Gold cases and known raters identify what agreement does not.
  if (knows_some(fit$known)) found <- "yes"
  if (found == "yes" && !told_apart) "parameters" else found
}

fit_core <- function(x, model, method, known, start, tick) {
  of <- model_for(model, x, method)
  weight <- pattern_weights(x)
  # The stopping rule must not depend on the scale of weights that are not counts.
  if (!weights_are_counts(x)) weight <- weight * count_cases(x) / sum(weight)
  if (is_pooled(of)) {
    if (!is.null(of$abstain)) {
      constant <- x$panel$abstain$constant
      of <- c(of, abstain_parts(x, uses_abstentions(of) && has_abstentions(x), constant))
    }
    return(core_fit_pooled(
      x$patterns, weight, known, of, FALSE, pooled_tolerance, pooled_rounds, 1L, tick
    )[[1L]])
  }
  if (length(known$counts) > 0L) abort_counts_need_pooled()
  fit <- function(start) {
    core_fit_latent(x$patterns, weight, known, of, method, 2000L, start, tick)
  }
  core <- fit(start)
  free <- of$accuracy == "rater" && of$errors == "free" && of$difficulty == "none"
  if (!free || knows_some(known) || !core$identified) return(core)
  named_by_majority(core, x, of, known, fit)
}

# Convergence tolerance of probabilities, and largest number of iterations.
pooled_tolerance <- 1e-8
pooled_rounds <- 20000L

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
  of <- replace(naturals$of, naturals$of == 0L, NA)
  part <- replace(naturals$part, naturals$part == 0L, NA)
  whose <- ifelse(startsWith(term, "base_rate"), x$categories[of], x$raters[of])
  levels <- x$confidence$levels %||% NA_character_
  parts <- ifelse(term == "threshold", thresholds_between(x$categories)[part], levels[part])
  words <- cbind(whose, parts)
  inside <- apply(words, 1L, function(word) paste(word[!is.na(word)], collapse = ": "))
  out <- paste0(term, ifelse(inside == "", "", paste0("[", inside, "]")))
  if (is.null(columns)) return(out)
  replace(out, term == "base_rate_coefficient", coefficient_terms(columns, x$categories))
}

thresholds_between <- function(categories) {
  paste0(utils::head(categories, -1L), "|", categories[-1L])
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
  value <- fit$coefficients
  probability <- !naturals$term %in%
    c("dispersion", "slope", "threshold", "base_rate_coefficient")
  fit$unsure <- which((value < 1e-6 | value > 1 - 1e-6) & probability)
  counts <- rep.int(pattern_weights(fit$x) > 0, pattern_lengths(fit$x))
  rated <- tabulate(rating_rater(fit$x)[counts], n_raters(fit$x)) > 0L
  uninformed <- !fit$informed & !is_pooled(fit$model)
  lacking <- which((!rated | uninformed) & !is_known_rater(fit) & !is_counted_rater(fit))
  if (fit$model$accuracy == "rater" && length(lacking) > 0L) {
    of_raters <- naturals$term %in% c("rater_accuracy", "slope", "threshold")
    theirs <- which(of_raters & naturals$of %in% lacking)
    fit$coefficients[theirs] <- NA_real_
    fit$matrices[lacking, , ] <- NA_real_
    fit$unsure <- c(fit$unsure, theirs)
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

warn_convergence <- function(what) {
  warn_fallible("no_convergence", "The {what} fit did not converge.",
    i = "Its numbers are those of the last iteration. Try a simpler model, or stronger priors.")
}
