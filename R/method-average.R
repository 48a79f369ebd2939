# Accuracy averaged over joint models of raters and system; the formulas are in src/core/accuracy
# and model/variational.cpp.

# Does the average leave out constant raters? Not if the user gives the share of shared errors.
# (Fits with known truths or raters are not k_fits, see fit_of_varied().)
averages_varied <- function(options) is_averaged(options = options) && !is_stated(options)

fit_of_varied <- function(fit, options) {
  if (!inherits(fit, "k_fit") || !averages_varied(options)) return(fit)
  x <- without_constant_raters(keep_decision(fit$x))
  same <- identical(x$raters, fit$x$raters) && identical(x$only_constant, fit$x$only_constant)
  if (same && !isTRUE(x$panel$abstain$by_replies)) return(fit)
  again <- fit_algebraic(x, fit$model)
  again$given <- fit$given
  again
}

# Fields: estimator; point, its results per system; x, the ratings that it uses. NULL if accuracy is
# not identified. If the method is the average, the fit has no constant raters (see
# fit_of_varied()). For the interval of another method they are left out here.
average_of <- function(fit, options) {
  if (fit$identified %in% c("chance", "no_pairs", "constant_raters", "labels_only")) return(NULL)
  check_model_size(fit$x)
  if (!is_averaged(options = options) && !is_stated(options) && !knows_some(fit$known)) {
    fit$x <- without_constant_raters(fit$x)
  }
  estimator <- make_estimator(fit, method_average, options)
  list(estimator = estimator, point = point_of(estimator), x = fit$x)
}

# A field of the result of average_of(), a number per system.
of_average <- function(average, field, n) average$point$numbers[[field]] %||% rep(NA_real_, n)

estimate_average <- function(fit, options, average) {
  new_point(
    of_average(average, "estimate", n_systems(fit$x)), average$estimator,
    posterior = if (!is.null(average)) named_posteriors(average$point, fit$x)
  )
}

method_average <- new_method(
  "average", "averaged over models",
  model = "own", posterior = TRUE, common = "typical", stand_in = "joint", draws = "robust",
  estimate = estimate_average,
  explain = "The system was taken as one more rater in a set of latent class models of all answers
    (raters equally accurate or not; errors equally probable, by distance between categories, or
    with a confusion matrix for each judge; cases equally difficult or not; Dawid and Skene 1979),
    and the probability that its answers are right was averaged over these models, weighted by how
    probable each of them makes the answers (Hoeting et al. 1999). {common}"
)

# Patterns x categories for each system.
named_posteriors <- function(point, x) {
  setNames(lapply(point$systems, function(system) {
    colnames(system$posterior) <- x$categories
    system$posterior
  }), x$systems)
}

# Results of the average that accompany any estimate, a number per system: ends of the range, share
# of wrong ratings, and weight of models without shared errors. NA if no models were averaged.
parts_of_average <- function(value, average) {
  of_value <- c(
    "rater_error", "independence_weight", "dependence_weight", "typical", "base_rate_range"
  )
  fields <- c("shared", "independent", of_value)
  if (is.null(average)) {
    return(rlang::rep_named(fields, list(rep(NA_real_, length(value)))))
  }
  leans <- panel_leans(average$x)
  ranges <- list(base_rate_range = base_rate_ranges(average$x, leans))
  out <- c(average$point$numbers, ranges)[fields]
  out[of_value] <- lapply(out[of_value], replace, is.na(value), NA_real_)
  out$no_kappa <- has_no_kappa(leans)
  out
}

# For the definition, see src/core/accuracy/base_rates.hpp.
base_rate_ranges <- function(x, leans = panel_leans(x)) {
  na_real(core_base_rate_ranges(x$patterns, pattern_weights(x), leans))
}

# How often raters use each category is computed from the whole panel, of which `x` may be a group.
panel_leans <- function(x) x$panel$leans %||% rater_leans(x)

has_no_kappa <- function(leans) all(leans$kappa %in% 0)

rater_leans <- function(x) core_rater_leans(x$patterns, pattern_weights(x))

# Expected numbers of cases by truth and answer (answers vary fastest) at both ends of the range, a
# list element per system; NULL if no models were averaged.
end_counts <- function(average) {
  lapply(average$point$systems, `[`, c("independent_counts", "shared_counts"))
}

# Averages have a sampling error without replicates.
average_sampling_error <- function(draft) {
  n <- length(draft$point$value)
  if (!is_averaged(draft) || !weights_are_counts(draft$fit$x)) return(rep(NA_real_, n))
  of_average(draft$average, "std.error", n)
}

# A row per system and model.
member_table <- function(average, systems) {
  if (!is.null(average)) stack_systems(systems, lapply(average$point$systems, `[[`, "members"))
}

# Total weight of the models that relax each K-property, a row per system.
axis_weights <- function(members) {
  relaxed <- cbind(
    accuracy = members$accuracy == "rater", errors = members$errors != "uniform",
    distance = members$errors == "distance", own = !is.na(members$concentration),
    difficulty = members$difficulty > 0
  )
  sums <- rowsum(members$weight * relaxed, members$system, reorder = FALSE)
  data.frame(system = rownames(sums), sums, row.names = NULL)
}

# Limits for warnings about few data and about an assumption that data cannot test.
wide_sampling <- 0.2 # width of an interval for sampling error only
wide_error <- 0.08

# Systems with `few_data`: sampling error makes the interval wide and is the largest part of the
# error, so more data help. Systems that depend on an `assumption`: much of the error is due to
# possible shared errors. This is always so if machines rate, and never if the user gives the share
# of shared errors or gold cases measure the accuracy.
doubts_of <- function(estimate) {
  hidden <- hidden_error(estimate)
  sampling <- estimate$details$sampling
  from_ratings <- !is.na(estimate$table$estimate) & !rests_on_gold(estimate)
  width <- 2 * normal_quantile(estimate$options$conf_level) * sampling
  known <- ifelse(is.na(sampling + hidden), 0, sampling)
  much <- sqrt(known^2 + hidden^2) > wide_error & hidden >= known
  list(
    few_data = which(width > wide_sampling & sampling > hidden & from_ratings),
    assumption = which((rests_on_machines(estimate) | much) & from_ratings & hidden > 0),
    width = width, hidden = hidden
  )
}

rests_on_machines <- function(estimate) {
  panel_kind(estimate) == "machines" && !is_stated(estimate$options) &&
    !all(rests_on_gold(estimate)) && !all(is.na(estimate$details$rater_error))
}

# Warns about doubtful estimates: more data help, or a few cases with known truth.
warn_doubtful <- function(estimate) {
  x <- estimate$fit$x
  systems <- estimate$table$system
  some <- function(at) verbatim(shorten(systems[at], most = 3L))
  constant <- constant_raters(x)
  none <- if (!all(constant %in% x$raters)) ", so they were left out"
  warn_if(constant, "raters",
    paste0("{.val {constant}} always gave the same answer. Such ratings carry no information about
      the truth", none, "."), raters = constant)
  doubts <- doubts_of(estimate)
  few <- doubts$few_data
  warn_if(few, "few_data", paste0(
    "There are few data: sampling error alone makes the ",
    interval_title(estimate$options$conf_level), " of ", some(few), " as wide as ",
    decimals(min(1, max(doubts$width[few])), 2L),
    "; see {.fun plan_cases} for how many cases to add."
  ), systems = systems[few])
  at <- doubts$assumption
  if (length(at) == 0L) return(invisible())
  worst <- at[[which.max(doubts$hidden[at])]]
  why <- if (rests_on_machines(estimate)) {
    paste0("The raters are ", machines_of(estimate), ", whose agreement says little")
  } else {
    paste0(
      if (length(at) > 1L) "The accuracies of " else "The accuracy of ", some(at),
      if (length(at) > 1L) " rest" else " rests", " on an assumption that ratings cannot test (",
      verbatim(causes_of_doubt(estimate)[[worst]]), ")"
    )
  }
  warn_fallible("assumption",
    paste0(why, ": label about 20 random cases; see {.fun plan_gold}."), systems = systems[at])
}

# Words for the largest part of the hidden error of each estimate.
causes_of_doubt <- function(estimate) {
  details <- estimate$details
  lean <- ifelse(is.na(details$base_rate_range), 0, details$base_rate_range) / sqrt(12)
  end <- if (is_averaged(estimate)) estimate$table$independent else estimate$table$estimate
  error <- details$rater_error / 4
  leaning <- if (has_no_kappa(panel_leans(estimate$fit$x))) {
    paste("raters", chance_beyond_shares)
  } else {
    "raters mostly give one category"
  }
  cause <- ifelse(lean > error, leaning, "raters are often wrong, and may be wrong together")
  ends <- paste("it may be", range_words(estimate$table))
  ifelse(abs(end - details$average_shared) / 2 > pmax(lean, error), ends, cause)
}

# Note on the agreement of machines.
machine_words <- function(x) {
  kinds <- sort_strings(unique(rater_kind(x)))
  sources <- if (length(kinds) > 1L) "20" else "ten"
  paste0(
    "Raters are ", machines_of(x), ", which often err on the same cases: what they agree on said ",
    "little about accuracy in ", sources, " public data sources. The interval shows how far off ",
    "it was there, and may be too wide for an easy task; 20 random cases with known truth would ",
    "replace it."
  )
}

# The range, from its lower to its upper end.
range_words <- function(table) {
  paste(
    decimals(pmin(table$shared, table$independent), 2L), "to",
    decimals(pmax(table$shared, table$independent), 2L)
  )
}
