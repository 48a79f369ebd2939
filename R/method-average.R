# Accuracy averaged over models of raters and system together; the mathematics is in
# src/core/accuracy and model/variational.cpp.

method_average <- new_method(
  "average", "averaged over models",
  model = "own", posterior = TRUE, common = "typical", stand_in = "joint", draws = "robust",
  estimate = function(fit, options, average) estimate_average(fit, average),
  explain = function(estimate) {
    paste0(
      "The system was taken as one more rater in a set of latent class models of all answers ",
      "(raters equally accurate or not; errors equally probable, by distance between categories, ",
      "or with a confusion matrix for each judge; cases equally difficult or not; Dawid and Skene ",
      "1979), and the probability that its answers are right was averaged over these models, ",
      "weighted by how probable each of them makes the answers (Hoeting et al. 1999). ",
      explain_common(estimate)
    )
  }
)

# Fields: estimator; systems, a list per system of what the average says. NULL where the raters do
# not tell anything.
average_of <- function(fit, options) {
  if (fit$identified %in% c("chance", "no_pairs")) {
    return(NULL)
  }
  check_model_size(fit$x, rlang::caller_env(3L))
  estimator <- make_estimator(fit, method_average, options)
  list(estimator = estimator, point = point_of(estimator))
}

# A number per system of what average_of() says.
of_average <- function(average, field, n) average$point$numbers[[field]] %||% rep(NA_real_, n)

estimate_average <- function(fit, average) {
  new_point(
    of_average(average, "estimate", length(fit$x$systems)), average$estimator,
    posterior = if (!is.null(average)) named_posteriors(average$point, fit$x)
  )
}

# What the average says beside any estimate, a number per system: the ends of the range, the share
# of ratings that are wrong, the weight of models without errors in common, and how far the
# estimators are apart; NA where no models were averaged.
beside_average <- function(fit, value, average) {
  fields <- c(
    "shared", "independent", "rater_error", "independence_weight", "suspicion", "typical"
  )
  if (is.null(average)) {
    lacking <- c(fields, "base_rate_range", "lowest", "highest")
    return(rlang::rep_named(lacking, list(rep(NA_real_, length(value)))))
  }
  out <- average$point$numbers[fields]
  leans <- leans_of(fit$x)
  out$base_rate_range <- base_rate_ranges(fit$x, leans)
  ends <- list(value, out$shared, out$independent, binned_estimate(fit), na.rm = TRUE)
  out$lowest <- do.call(pmin, ends)
  out$highest <- do.call(pmax, ends)
  of_value <- setdiff(names(out), c("shared", "independent"))
  out[of_value] <- lapply(out[of_value], function(x) ifelse(is.na(value), NA_real_, x))
  out$no_kappa <- has_no_kappa(leans)
  out
}

# See src/core/accuracy/base_rates.hpp.
base_rate_ranges <- function(x, leans = leans_of(x)) {
  na_real(core_base_rate_ranges(x$patterns, pattern_weights(x), leans))
}

# How raters lean is a matter of the whole panel, of which `x` may be a group.
leans_of <- function(x) x$leans %||% rater_leans(x)

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
  if (!is_averaged(draft) || !weights_are_counts(draft$fit$x)) {
    return(rep(NA_real_, n))
  }
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
  do.call(rbind, unname(weights))
}

# What makes an estimate doubtful: few data, and an assumption that data cannot test.
wide_sampling <- 0.2 # width of an interval for sampling error alone

has_few_data <- function(estimate) {
  width <- 2 * normal_quantile(estimate$options$conf_level) * estimate$details$sampling
  which(width > wide_sampling & told_by_ratings(estimate))
}

# Much of the error is hidden, not sampling; always, where machines rate. Never, where somebody
# states what errors have in common, or where gold measures.
wide_error <- 0.075

rests_on_assumption <- function(estimate) {
  error <- error_of_estimate(estimate)
  sampling <- ifelse(is.na(error$std.error), 0, estimate$details$sampling)
  whole <- sqrt(sampling^2 + error$hidden^2)
  much <- rests_on_machines(estimate) | (whole > wide_error & error$hidden >= sampling)
  which(much & told_by_ratings(estimate) & error$hidden > 0)
}

rests_on_machines <- function(estimate) {
  panel_kind(estimate) == "machines" && !is_stated(estimate$options) &&
    !all(rests_on_gold(estimate)) && !all(is.na(estimate$details$rater_error))
}

told_by_ratings <- function(estimate) {
  by_gold <- if (is.null(estimate$gold)) FALSE else rests_on_gold(estimate)
  !is.na(estimate$table$estimate) & !by_gold
}

warn_doubtful <- function(estimate) {
  few <- has_few_data(estimate)
  table <- estimate$table
  if (length(few) > 0L) {
    width <- 2 * normal_quantile(estimate$options$conf_level) * estimate$details$sampling[few]
    each <- verbatim(table$system[few], ": ", decimals(width, 2L), " wide")
    warn_fallible("few_data", c(
      "There are few data: sampling error alone makes wide intervals.",
      some_of(each),
      "i" = "More cases, more raters or better ones narrow them; see {.fun plan_cases}."
    ), systems = table$system[few])
  }
  at <- rests_on_assumption(estimate)
  if (length(at) > 0L && rests_on_machines(estimate)) {
    warn_fallible("assumption", verbatim(machine_words(estimate)), systems = table$system[at])
  } else if (length(at) > 0L) {
    error <- error_of_estimate(estimate)$hidden[at]
    each <- verbatim(
      table$system[at], ": ", decimals(table$estimate[at], 2L), ", give or take ",
      decimals(error, 2L), ", mainly because ", causes_of_doubt(estimate)[at]
    )
    warn_fallible("assumption", c(
      "The accuracy rests on assumptions that ratings cannot test.",
      some_of(each),
      "i" = "Cases with known truth would settle it; start with 20 random ones: see
             {.fun plan_gold}."
    ), systems = table$system[at])
  }
}

# The largest part of what may be hidden in each estimate, in words.
causes_of_doubt <- function(estimate) {
  details <- estimate$details
  r <- if (panel_kind(estimate) == "people") 1 / sqrt(12) else 1 / sqrt(6)
  lean <- r * ifelse(is.na(details$base_rate_range), 0, details$base_rate_range)
  end <- if (is_averaged(estimate)) estimate$table$independent else estimate$table$estimate
  apart <- abs(end - details$average_shared) / 2
  error <- details$rater_error / 5
  told <- if (has_no_kappa(leans_of(estimate$fit$x))) {
    paste("raters", chance_beyond_shares)
  } else {
    "raters lean to one category: agreement of this size says little"
  }
  cause <- ifelse(lean > error, told, "raters are often wrong, and may be wrong together")
  ends <- paste0("it is ", range_words(estimate$table), " as errors are in common or not")
  ifelse(apart > pmax(lean, error), ends, cause)
}

# What agreement of machines is worth.
machine_words <- function(x) {
  kinds <- unique(rater_kind(x))
  who <- paste(c(model = "language models", tool = "programs")[sort(kinds)], collapse = " and ")
  sources <- if (identical(kinds, "model")) "five" else if (identical(kinds, "tool")) "four" else
    "nine"
  value <- x$table$estimate[!is.na(x$table$estimate)]
  told <- if (length(value) == 1L) decimals(value, 2L) else "column accuracy"
  paste0(
    "Raters are ", who, ": ", told, " is what they agree on. In ", sources, " public sources such ",
    "agreement said little; the interval is what it was worth there, and may be too wide for an ",
    "easy task. 20 random cases with known truth replace it: plan_gold()."
  )
}

# From low to high.
range_words <- function(table) {
  paste(
    decimals(pmin(table$shared, table$independent), 2L), "to",
    decimals(pmax(table$shared, table$independent), 2L)
  )
}
