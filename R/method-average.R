# Method "average" averages the accuracy of a system over joint models of raters and system. The
# formulas are in src/core/accuracy and src/core/model/variational.cpp.

# Does the method leave out constant raters? These raters give all cases the same category, so their
# ratings carry no information. Method "average" leaves them out, unless the user gives the share of
# shared errors (argument `common`).
drops_constant_raters <-
  function(options) is_averaged(options) && !has_fixed_common(options)

# Computes the estimates of method "average", which robust intervals of other methods also use.
# Returns NULL if accuracy is not identified. Otherwise returns a list:
# * estimator: pointer to an estimator in compiled code
# * point: estimates of this estimator for all systems
# * x: ratings without constant raters
#
# For the method "average" itself, estimate_systems() has already removed constant raters.
compute_average <- function(fit, options) {
  if (fit$identified %in% c("chance", "no_pairs", "constant_raters", "labels_only")) return(NULL)
  check_model_size(fit$x)
  if (!is_averaged(options) && !has_fixed_common(options) &&
    !has_known_values(fit$known)) {
    fit$x <- without_constant_raters(fit$x)
  }
  estimator <- make_estimator(fit, method_average, options)
  list(estimator = estimator, point = compute_estimate(estimator), x = fit$x)
}

# Returns one field of the estimates by method "average", with a number per system. The numbers are
# NA if `average` is NULL. `average`: result of compute_average(). `n_systems`: number of systems.
average_field <- function(average, field, n_systems) {
  average$point$numbers[[field]] %||% rep(NA_real_, n_systems)
}

method_average <- new_method(
  "average", "averaged over models",
  model = "own", posterior = TRUE, common = "typical", stand_in = "joint", draws = "robust",
  estimate = function(fit, options, average) {
    new_point(
      average_field(average, "estimate", n_systems(fit$x)), average$estimator,
      posterior = if (!is.null(average)) named_posteriors(list_posteriors(average$point), fit$x)
    )
  },
  explain = "The system was taken as one more rater in a set of latent class models of all answers
    (raters equally accurate or not; errors equally probable, in ordered categories also less
    probable the farther they are, or with a confusion matrix for each judge; cases equally
    difficult or not; Dawid and Skene 1979).
    The probability that its answers are right was averaged over these models with weights that
    depend on the marginal likelihood of each model (Hoeting et al. 1999). {common}"
)

# Returns the posterior probabilities of categories in the model of each system: a list with a
# matrix per system (patterns of ratings x categories). `point`: result of compute_estimate().
list_posteriors <- function(point) lapply(point$systems, `[[`, "posterior")

# Names a list of matrices by system, and their columns by category.
named_posteriors <- function(posteriors, x) {
  setNames(lapply(posteriors, `colnames<-`, x$categories), x$systems)
}

# Returns results of method "average" that are stored with estimates by any method. `estimates`:
# estimated accuracies of the systems. `average`: result of compute_average(), or NULL. Returns a
# list of vectors with a number per system, NA if `average` is NULL:
# * shared: accuracy if errors are shared with the raters
# * independent: accuracy if errors are independent
# * rater_error: share of wrong ratings
# * independence_weight: weight of the models without shared errors
# * dependence_weight: number from 0 to 1 by which the variance of the hidden error is multiplied
# * typical: share of shared errors for `common = "typical"`
# * base_rate_range: highest minus lowest accuracy over possible base rates
# * no_kappa: do raters agree only by chance? A single value; missing if `average` is NULL
summarise_average <- function(estimates, average) {
  estimate_fields <- c(
    "rater_error", "independence_weight", "dependence_weight", "typical", "base_rate_range"
  )
  field_names <- c("shared", "independent", estimate_fields)
  if (is.null(average)) {
    return(rep_named(field_names, list(rep(NA_real_, length(estimates)))))
  }
  leaders <- leading_categories(average$x)
  average$point$numbers$base_rate_range <- base_rate_ranges(average$x, leaders)
  results <- average$point$numbers[field_names]
  results[estimate_fields] <- lapply(results[estimate_fields], replace, is.na(estimates), NA_real_)
  results$no_kappa <- all(leaders$kappa %in% 0)
  results
}

# Returns, for each system, the highest minus the lowest accuracy over all base rates that are
# compatible with the ratings (see src/core/accuracy/base_rates.hpp). `leaders`: the most frequent
# categories of the ratings, a result of leading_categories().
base_rate_ranges <- function(x, leaders = leading_categories(x)) {
  na_real(core_base_rate_ranges(x$patterns, pattern_weights(x), leaders))
}

# Returns, for each system, the highest minus the lowest accuracy over all possible base rates.
# `range_width`: result of base_rate_ranges(). If the agreement of raters may be chance, all base
# rates are possible, and the difference is 1 instead of `range_width`.
range_width_for_error <- function(x, range_width) {
  if (any(leading_categories(x)$chance)) pmax(range_width, 1) else range_width
}

# Returns a vector with a number per system: the standard error of its accuracy due to sampling, by
# a formula of method "average". NA for other methods, and if weights are not counts of cases.
# `draft`: see draft_estimate().
average_sampling_error <- function(draft) {
  average <- if (is_averaged(draft) && weights_are_counts(draft$fit$x)) draft$average
  average_field(average, "std.error", length(draft$point$value))
}

# Returns, for each system and assumption, the total weight of the models without the assumption. An
# assumption is, for example, that all raters have the same accuracy. The result is a table with a
# row per system and a column per assumption. `models`: field `members` of an estimate, a table with
# a row per model and system.
relaxation_weights <- function(models) {
  is_relaxed <- cbind(
    accuracy = models$accuracy == "rater", errors = models$errors != "uniform",
    distance = models$errors == "distance", own = !is.na(models$concentration),
    difficulty = models$difficulty > 0
  )
  weight_sums <- rowsum(models$weight * is_relaxed, models$system, reorder = FALSE)
  data.frame(system = rownames(weight_sums), weight_sums, row.names = NULL)
}

# If these limits are exceeded, users get a warning.
max_sampling_width <- 0.2 # limit of the width of an interval for sampling error only
max_total_error <- 0.08 # limit of the total standard error

# Finds systems with doubtful estimates. Systems without an estimate, and systems whose accuracy is
# measured by gold cases, are left out. Returns a list:
# * few_data: numbers of the systems that need more data
# * assumption: numbers of the systems whose error is large and mostly due to shared errors, or
#   whose raters are machines
# * interval_width: for each system, width of an interval that contains only the sampling error
# * hidden_errors: for each system, the part of the standard error due to shared errors
find_doubtful_systems <- function(estimate, hidden_errors = hidden_error(estimate)) {
  sampling_error <- estimate$details$sampling
  is_from_ratings <- !is.na(estimate$table$estimate) & !rests_on_gold(estimate)
  interval_width <- 2 * normal_quantile(estimate$options$conf_level) * sampling_error
  known_sampling_error <- ifelse(is.na(sampling_error + hidden_errors), 0, sampling_error)
  may_be_chance <- any(leading_categories(estimate$fit$x)$chance)
  is_wide <- interval_width > max_sampling_width
  # More data help if most of the error is sampling error, or if the agreement may be chance.
  has_few_data <- (is_wide & (sampling_error > hidden_errors | may_be_chance)) %in% TRUE
  has_large_error <- sqrt(known_sampling_error^2 + hidden_errors^2) > max_total_error &
    hidden_errors >= known_sampling_error & !has_few_data
  list(
    few_data = which(has_few_data & is_from_ratings),
    assumption = which(
      (rests_on_machines(estimate) | has_large_error) & is_from_ratings & hidden_errors > 0
    ),
    interval_width = interval_width, hidden_errors = hidden_errors
  )
}

# Is an estimate computed only from ratings by machines (language models or programs)? FALSE if
# there are gold cases, or if the user gives the share of shared errors.
rests_on_machines <- function(estimate) {
  panel_kind(estimate) == "machines" && !has_fixed_common(estimate) &&
    !all(rests_on_gold(estimate)) && any_known(estimate$details$rater_error)
}

# Warns about doubtful estimates (see find_doubtful_systems()). The warnings advise more data, or a
# few cases with known truth. Also warns about raters who always give the same answer.
warn_doubtful <- function(estimate, hidden_errors) {
  ratings <- estimate$fit$x
  systems <- estimate$table$system
  format_systems <- function(numbers) escape_braces(shorten(systems[numbers], most = 3L))
  constant_names <- constant_raters(ratings)
  left_out_text <- if (!all(constant_names %in% ratings$raters))
    ", so the {cli::qty(constant_names)}rater{?s} {?was/were} left out"
  warn_if(constant_names, "raters",
    paste0("{cli::qty(constant_names)}{?Rater/Each of the raters} {.val {constant_names}} gave the
      same answer to all of its cases. Such ratings carry no information about the truth",
      left_out_text, "."), raters = constant_names)
  doubtful_estimates <- find_doubtful_systems(estimate, hidden_errors)
  few_data_systems <- doubtful_estimates$few_data
  warn_if(few_data_systems, "few_data", paste0(
    "There are few data: sampling error by itself makes the ",
    interval_title(estimate$options$conf_level), " of ", format_systems(few_data_systems),
    " as wide as ",
    format_decimals(min(1, max(doubtful_estimates$interval_width[few_data_systems])), 2L),
    ". More cases reduce only this part of the interval; see {.fun plan_cases}."
  ), systems = systems[few_data_systems])
  doubtful_systems <- doubtful_estimates$assumption
  n_doubtful <- length(doubtful_systems)
  if (n_doubtful == 0L) return(invisible())
  worst_system <- doubtful_systems[[which.max(doubtful_estimates$hidden_errors[doubtful_systems])]]
  problem <- if (rests_on_machines(estimate)) {
    paste0("The raters are ", machine_kind_text(estimate),
      ", whose agreement is little evidence of accuracy")
  } else {
    paste0(
      if (n_doubtful > 1L) "The accuracies of " else "The accuracy of ",
      format_systems(doubtful_systems),
      if (n_doubtful > 1L) " rest" else " rests",
        " on an assumption that ratings cannot test (",
      escape_braces(causes_of_doubt(estimate)[[worst_system]]), ")"
    )
  }
  advice <- if (any(estimate$fit$known$truth > 0L, na.rm = TRUE)) {
    "Cases with known truth can test this only if they are a random sample; see {.arg gold_sample}."
  } else {
    "Label about 20 random cases; see {.fun plan_gold}."
  }
  warn_fallible("assumption", paste0(problem, ". ", advice),
    systems = systems[doubtful_systems])
}

# Returns, for each system, words for the cause of the largest part of the hidden error.
causes_of_doubt <- function(estimate) {
  details <- estimate$details
  accuracy_range_width <- range_width_for_error(estimate$fit$x, details$base_rate_range)
  base_rate_error <- ifelse(is.na(accuracy_range_width), 0, accuracy_range_width) / sqrt(12)
  independent_accuracy <-
    if (is_averaged(estimate)) estimate$table$independent else estimate$table$estimate
  wrong_rating_error <- details$rater_error / 4
  leaders <- leading_categories(estimate$fit$x)
  agreement_cause <- if (all(leaders$kappa %in% 0)) {
    paste("raters", agreement_by_chance_words)
  } else if (any(leaders$chance)) {
    may_be_chance_text
  } else {
    "the ratings are compatible with many base rates"
  }
  cause <- ifelse(base_rate_error > wrong_rating_error, agreement_cause,
    "raters are often wrong, and may be wrong together")
  ifelse(
    abs(independent_accuracy - details$average_shared) / 2 >
      pmax(base_rate_error, wrong_rating_error),
    paste("it may be", format_accuracy_range(estimate$table)), cause
  )
}

# Returns the note for print() if the raters are machines (language models or programs). `x`: an
# accuracy estimate.
note_of_machines <- function(x) {
  # Number of public data sources: ten for each kind of machine (language models, programs).
  source_count_text <- if (n_distinct(rater_kind(x)) > 1L) "20" else "ten"
  paste0(
    "Raters are ", machine_kind_text(x),
    ", which often err on the same cases. In ", source_count_text,
    " public data sources their agreement was little evidence of accuracy. The interval shows the ",
    "errors there, and may be too wide for an easy task. 20 random cases with known truth would ",
    "replace it."
  )
}

# Returns words for the range between the accuracies with shared and with independent errors, such
# as "0.71 to 0.74", for each row of `table`.
format_accuracy_range <- function(table) {
  paste(
    format_decimals(pmin(table$shared, table$independent), 2L), "to",
    format_decimals(pmax(table$shared, table$independent), 2L)
  )
}
