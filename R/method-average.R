# Accuracy averaged over models of raters and system together; the mathematics is in
# src/core/accuracy and model/variational.cpp.

method_average <- new_method(
  "average", "averaged over models",
  model = "own", posterior = TRUE, common = "typical", stand_in = "joint", draws = "robust",
  estimate = function(fit, options, average) estimate_average(fit, average),
  explain = "The system was taken as one more rater in a set of latent class models of all answers
    (raters equally accurate or not; errors equally probable, by distance between categories, or
    with a confusion matrix for each judge; cases equally difficult or not; Dawid and Skene 1979),
    and the probability that its answers are right was averaged over these models, weighted by how
    probable each of them makes the answers (Hoeting et al. 1999). {common}"
)

# Averages leave constant raters out, unless it is stated how errors are shared, or truths or raters
# are known.
averages_varied <- function(options) {
  method_of(list(options = options))$model == "own" && !is_stated(options)
}

fit_of_varied <- function(fit, options) {
  if (!inherits(fit, "k_fit") || !averages_varied(options)) return(fit)
  x <- without_constant_raters(with_decision(fit$x))
  same <- identical(x$raters, fit$x$raters) && identical(x$only_constant, fit$x$only_constant)
  if (same && !isTRUE(x$panel$abstain$by_replies)) return(fit)
  again <- fit_algebraic(x, fit$model)
  again$given <- fit$given
  again
}

# Fields: estimator; point, its results for each system; x, the ratings that it uses. NULL where
# accuracy is not identified. A fit for the average has no constant raters (see fit_of_varied()).
# For the interval of another method the average leaves them out here.
average_of <- function(fit, options) {
  if (fit$identified %in% c("chance", "no_pairs", "constant_raters", "labels_only")) return(NULL)
  check_model_size(fit$x)
  if (method_of(list(options = options))$model != "own" && !is_stated(options) &&
        !knows_some(fit$known)) {
    fit$x <- without_constant_raters(fit$x)
  }
  estimator <- make_estimator(fit, method_average, options)
  list(estimator = estimator, point = point_of(estimator), x = fit$x)
}

# A number per system of what average_of() says.
of_average <- function(average, field, n) average$point$numbers[[field]] %||% rep(NA_real_, n)

estimate_average <- function(fit, average) {
  new_point(
    of_average(average, "estimate", n_systems(fit$x)), average$estimator,
    posterior = if (!is.null(average)) named_posteriors(average$point, fit$x)
  )
}

# What the average says beside any estimate, a number per system: the ends of the range, the share
# of ratings that are wrong, and the weight of models without shared errors; NA where no models
# were averaged.
parts_of_average <- function(value, average) {
  of_value <- c("rater_error", "independence_weight", "dependence_weight", "typical")
  fields <- c("shared", "independent", of_value)
  if (is.null(average)) {
    return(rlang::rep_named(c(fields, "base_rate_range"), list(rep(NA_real_, length(value)))))
  }
  out <- average$point$numbers[fields]
  leans <- leans_of(average$x)
  out$base_rate_range <- base_rate_ranges(average$x, leans)
  of_value <- c(of_value, "base_rate_range")
  out[of_value] <- lapply(out[of_value], function(x) ifelse(is.na(value), NA_real_, x))
  out$no_kappa <- has_no_kappa(leans)
  out
}

# See src/core/accuracy/base_rates.hpp.
base_rate_ranges <- function(x, leans = leans_of(x)) {
  na_real(core_base_rate_ranges(x$patterns, pattern_weights(x), leans))
}

# How raters lean is a matter of the whole panel, of which `x` may be a group.
leans_of <- function(x) x$panel$leans %||% rater_leans(x)

has_no_kappa <- function(leans) all(leans$kappa %in% 0)

rater_leans <- function(x) core_rater_leans(x$patterns, pattern_weights(x))

# Expected numbers of cases by truth and answer (answers within truths) at both ends of the range, a
# list per system; NULL where no models were averaged.
end_counts <- function(average) {
  lapply(average$point$systems, `[`, c("independent_counts", "shared_counts"))
}

# The sampling error of averaged estimates is their own.
own_sampling <- function(draft) {
  n <- length(draft$point$value)
  if (!is_averaged(draft) || !weights_are_counts(draft$fit$x)) return(rep(NA_real_, n))
  of_average(draft$average, "std.error", n)
}

# A row per system and model.
member_table <- function(average, systems) {
  if (!is.null(average)) stack_systems(systems, lapply(average$point$systems, `[[`, "members"))
}

# What the answers say of each K-property: total weight of the models without it, a row per system.
axis_weights <- function(members) {
  weights <- lapply(split(members, factor(members$system, unique(members$system))), function(x) {
    weight <- function(which) sum(x$weight[which])
    data.frame(
      system = x$system[[1L]], accuracy = weight(x$accuracy == "rater"),
      errors = weight(x$errors != "uniform"), distance = weight(x$errors == "distance"),
      own = weight(!is.na(x$concentration)), difficulty = weight(x$difficulty > 0)
    )
  })
  stack_rows(unname(weights))
}

# What makes an estimate doubtful: few data, and an assumption that data cannot test.
wide_sampling <- 0.2 # width of an interval for sampling error alone
wide_error <- 0.08

# Systems with `few_data`, of which more help if sampling makes the interval wide, and most of it;
# and those that rest on an `assumption`, since much of the error is hidden, not sampling. That is
# always so where machines rate, and never where somebody states how errors are shared, or where
# gold measures.
doubts_of <- function(estimate) {
  error <- error_of_estimate(estimate)
  hidden <- error$hidden
  sampling <- estimate$details$sampling
  from_ratings <- !is.na(estimate$table$estimate) & !rests_on_gold(estimate)
  width <- 2 * normal_quantile(estimate$options$conf_level) * sampling
  known <- ifelse(is.na(error$std.error), 0, sampling)
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

# What to do about wide intervals: more data, or a few cases with known truth.
warn_doubtful <- function(estimate) {
  constant <- constant_raters(estimate$fit$x)
  none <- if (length(setdiff(constant, estimate$fit$x$raters)) > 0L) ", so they were left out"
  warn_if(constant, "raters",
    paste0("{.val {constant}} always gave the same answer. Such ratings carry no information about
      the truth", none, "."), raters = constant)
  doubts <- doubts_of(estimate)
  some <- function(at) verbatim(shorten(estimate$table$system[at], most = 3L))
  few <- doubts$few_data
  if (length(few) > 0L) {
    warn_fallible("few_data", paste0(
      "There are few data: sampling error alone makes the ",
      interval_title(estimate$options$conf_level), " of ", some(few), " as wide as ",
      decimals(min(1, max(doubts$width[few])), 2L),
      "; see {.fun plan_cases} for how many cases to add."
    ), systems = estimate$table$system[few])
  }
  at <- doubts$assumption
  if (length(at) > 0L) {
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
      paste0(why, ": label about 20 random cases; see {.fun plan_gold}."),
      systems = estimate$table$system[at])
  }
}

# The largest part of what may be hidden in each estimate, in words.
causes_of_doubt <- function(estimate) {
  details <- estimate$details
  lean <- ifelse(is.na(details$base_rate_range), 0, details$base_rate_range) / sqrt(12)
  end <- if (is_averaged(estimate)) estimate$table$independent else estimate$table$estimate
  error <- details$rater_error / 4
  leaning <- if (has_no_kappa(leans_of(estimate$fit$x))) {
    paste("raters", chance_beyond_shares)
  } else {
    "raters mostly give one category"
  }
  cause <- ifelse(lean > error, leaning, "raters are often wrong, and may be wrong together")
  ends <- paste("it may be", range_words(estimate$table))
  ifelse(abs(end - details$average_shared) / 2 > pmax(lean, error), ends, cause)
}

# What agreement of machines is worth.
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

# From low to high.
range_words <- function(table) {
  paste(
    decimals(pmin(table$shared, table$independent), 2L), "to",
    decimals(pmax(table$shared, table$independent), 2L)
  )
}
