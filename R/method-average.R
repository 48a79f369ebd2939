# Method "average" averages the accuracy of a system over joint models of raters and system. The
# formulas are in src/core/accuracy and src/core/model/variational.cpp.

# Does the method leave out constant raters? These raters give all cases the same category, so their
# ratings carry no information. Method "average" leaves them out, unless the user gives the share of
# shared errors (argument `common`).
drops_constant_raters <-
  function(options) is_averaged(options) && !has_fixed_common(options)

# Computes the estimates of method "average", which robust intervals of other methods also use. NULL
# if accuracy is not identified. Returns a list:
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
      posterior = if (!is.null(average)) named_posteriors(posteriors_of(average$point), fit$x)
    )
  },
  explain = "The system was taken as one more rater in a set of latent class models of all answers
    (raters equally accurate or not; errors equally probable, by distance between categories, or
    with a confusion matrix for each judge; cases equally difficult or not; Dawid and Skene 1979).
    The probability that its answers are right was averaged over these models with weights that
    depend on the marginal likelihood of each model (Hoeting et al. 1999). {common}"
)

# Returns the posterior probabilities of categories in the model of each system: a list with a
# matrix per system (patterns of ratings x categories). `point`: result of compute_estimate().
posteriors_of <- function(point) lapply(point$systems, `[[`, "posterior")

# Names a list of matrices by system, and their columns by category.
named_posteriors <- function(posteriors, x) {
  setNames(lapply(posteriors, `colnames<-`, x$categories), x$systems)
}

# Returns the results of method "average" that estimates of all methods contain. `value`: estimates
# of the systems, NA if missing. `average`: result of compute_average(), or NULL. The result is a
# list of vectors with a number per system, NA if `average` is NULL:
# * shared: accuracy if errors are shared with the raters
# * independent: accuracy if errors are independent
# * rater_error: share of wrong ratings
# * independence_weight: weight of the models without shared errors
# * dependence_weight: weight of dependence that intervals allow for, from 0 to 1
# * typical: typical share of shared errors
# * base_rate_range: highest minus lowest accuracy over possible base rates
#
# Unless `average` is NULL, there is also `no_kappa`: do raters agree only by chance?
parts_of_average <- function(value, average) {
  estimate_fields <- c(
    "rater_error", "independence_weight", "dependence_weight", "typical", "base_rate_range"
  )
  fields <- c("shared", "independent", estimate_fields)
  if (is.null(average)) {
    return(rep_named(fields, list(rep(NA_real_, length(value)))))
  }
  category_usage <- leading_categories(average$x)
  average$point$numbers$base_rate_range <- base_rate_ranges(average$x, category_usage)
  results <- average$point$numbers[fields]
  results[estimate_fields] <- lapply(results[estimate_fields], replace, is.na(value), NA_real_)
  results$no_kappa <- all(category_usage$kappa %in% 0)
  results
}

# Returns, for each system, the highest minus the lowest accuracy over all base rates that are
# compatible with the ratings (see src/core/accuracy/base_rates.hpp). `leaders`: leading categories
# of raters, a result of leading_categories().
base_rate_ranges <- function(x, leaders = leading_categories(x)) {
  na_real(core_base_rate_ranges(x$patterns, pattern_weights(x), leaders))
}

# Returns the range of accuracies from which hidden errors are computed, a number per system. If the
# agreement of raters may be chance, all base rates are possible, and the number is 1. `range`:
# result of base_rate_ranges().
range_for_error <- function(x, range) {
  if (any(leading_categories(x)$chance)) pmax(range, 1) else range
}

# Returns the standard error due to sampling of each system, by a formula of method "average". NA
# for other methods, and if weights are not counts of cases. `draft`: see draft_estimate().
average_sampling_error <- function(draft) {
  average <- if (is_averaged(draft) && weights_are_counts(draft$fit$x)) draft$average
  average_field(average, "std.error", length(draft$point$value))
}

# Returns the total weight of the models that relax an assumption, such as equally accurate raters.
# The table has a row per system and a column per assumption. `models`: field `members` of an
# estimate.
relaxation_weights <- function(models) {
  is_relaxed <- cbind(
    accuracy = models$accuracy == "rater", errors = models$errors != "uniform",
    distance = models$errors == "distance", own = !is.na(models$concentration),
    difficulty = models$difficulty > 0
  )
  sums <- rowsum(models$weight * is_relaxed, models$system, reorder = FALSE)
  data.frame(system = rownames(sums), sums, row.names = NULL)
}

# Users are warned if these limits are exceeded.
max_sampling_width <- 0.2 # width of an interval for sampling error only
max_total_error <- 0.08 # total standard error

# Finds systems with doubtful estimates. The hidden error is the part of the standard error due to
# possible shared errors. Returns a list of two vectors of system numbers and two other vectors:
# * few_data: systems whose interval is wide because of sampling error, so that more data help.
#   Sampling error is also larger than the hidden error, or raters may agree by chance
# * assumption: systems whose error is large and mostly hidden, or whose raters are machines. Empty
#   if the user gives the share of shared errors, or if gold cases measure the accuracy
# * width: width of an interval for sampling error only, for all systems
# * hidden: hidden error, for all systems
find_doubtful <- function(estimate, hidden = hidden_error(estimate)) {
  sampling <- estimate$details$sampling
  is_from_ratings <- !is.na(estimate$table$estimate) & !rests_on_gold(estimate)
  width <- 2 * normal_quantile(estimate$options$conf_level) * sampling
  known_sampling <- ifelse(is.na(sampling + hidden), 0, sampling)
  may_be_chance <- any(leading_categories(estimate$fit$x)$chance)
  is_few <- (width > max_sampling_width & (sampling > hidden | may_be_chance)) %in% TRUE
  is_large <- sqrt(known_sampling^2 + hidden^2) > max_total_error & hidden >= known_sampling &
    !is_few
  list(
    few_data = which(is_few & is_from_ratings),
    assumption = which((rests_on_machines(estimate) | is_large) & is_from_ratings & hidden > 0),
    width = width, hidden = hidden
  )
}

# Is an estimate computed only from ratings by machines (language models or programs)? FALSE if
# there are gold cases, or if the user gives the share of shared errors.
rests_on_machines <- function(estimate) {
  panel_kind(estimate) == "machines" && !has_fixed_common(estimate) &&
    !all(rests_on_gold(estimate)) && any_known(estimate$details$rater_error)
}

# Warns about doubtful estimates (see find_doubtful()). The warnings advise more data, or a few
# cases with known truth. Also warns about raters who always give the same answer.
warn_doubtful <- function(estimate, hidden) {
  x <- estimate$fit$x
  systems <- estimate$table$system
  system_words <- function(numbers) escape_braces(shorten(systems[numbers], most = 3L))
  constant <- constant_raters(x)
  left_out_words <- if (!all(constant %in% x$raters)) ", so they were left out"
  warn_if(constant, "raters",
    paste0("{.val {constant}} always gave the same answer. Such ratings carry no information about
      the truth", left_out_words, "."), raters = constant)
  doubtful <- find_doubtful(estimate, hidden)
  few_data <- doubtful$few_data
  warn_if(few_data, "few_data", paste0(
    "There are few data: sampling error by itself makes the ",
    interval_title(estimate$options$conf_level), " of ", system_words(few_data), " as wide as ",
    format_decimals(min(1, max(doubtful$width[few_data])), 2L),
    ". More cases reduce only this part of the interval; see {.fun plan_cases}."
  ), systems = systems[few_data])
  doubtful_systems <- doubtful$assumption
  n_doubtful <- length(doubtful_systems)
  if (n_doubtful == 0L) return(invisible())
  worst_system <- doubtful_systems[[which.max(doubtful$hidden[doubtful_systems])]]
  problem <- if (rests_on_machines(estimate)) {
    paste0("The raters are ", machine_kind_words(estimate),
      ", whose agreement is little evidence of accuracy")
  } else {
    paste0(
      if (n_doubtful > 1L) "The accuracies of " else "The accuracy of ",
      system_words(doubtful_systems),
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
  accuracy_range <- range_for_error(estimate$fit$x, details$base_rate_range)
  base_rate_error <- ifelse(is.na(accuracy_range), 0, accuracy_range) / sqrt(12)
  independent <- if (is_averaged(estimate)) estimate$table$independent else estimate$table$estimate
  rating_error <- details$rater_error / 4
  category_usage <- leading_categories(estimate$fit$x)
  usage_words <- if (all(category_usage$kappa %in% 0)) {
    paste("raters", agreement_by_chance_words)
  } else if (any(category_usage$chance)) {
    may_be_chance_words
  } else {
    "raters mostly give one category"
  }
  cause <- ifelse(base_rate_error > rating_error, usage_words,
    "raters are often wrong, and may be wrong together")
  ifelse(abs(independent - details$average_shared) / 2 > pmax(base_rate_error, rating_error),
    paste("it may be", range_words(estimate$table)), cause)
}

# Returns the note for print() if the raters are machines (language models or programs). `x`: an
# accuracy estimate.
machine_words <- function(x) {
  n_sources <- if (n_distinct(rater_kind(x)) > 1L) "20" else "ten"
  paste0(
    "Raters are ", machine_kind_words(x), ", which often err on the same cases. In ", n_sources,
    " public data sources their agreement was little evidence of accuracy. The interval shows the ",
    "errors there, and may be too wide for an easy task. 20 random cases with known truth would ",
    "replace it."
  )
}

# Returns words for the range between the accuracies with shared and with independent errors, such
# as "0.71 to 0.74", for each row of `table`.
range_words <- function(table) {
  paste(
    format_decimals(pmin(table$shared, table$independent), 2L), "to",
    format_decimals(pmax(table$shared, table$independent), 2L)
  )
}
