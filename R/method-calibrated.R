# This file estimates the accuracy of constant systems from the ratings of one rater, called the
# judge. A constant system gives all cases the same category, so its accuracy is the base rate of
# this category. The error rates of the judge are known, usually from a calibration sample of other
# cases, see fit-one-judge.R.

# Is there only one rater, with known error rates, and are all systems constant?
is_known_judge <- function(fit) {
  ratings <- fit$x
  n_raters(ratings) == 1L && any(is_known_rater(fit)) && n_systems(ratings) > 0L &&
    all(ratings$systems %in% ratings$constant)
}

#' @rdname estimate_accuracy
#' @export
estimate_accuracy.judge_fit <- function(x, # nolint: object_name.
                                        conf_level = default_conf_level(), by = NULL,
                                        systems = NULL, interval = NULL, ...) {
  unusable_arguments <- names2(drop_null(list(...)))
  abort_argument_if(unusable_arguments, "...",
    "{.arg {unusable_arguments}} cannot be used if the only rater is a judge with known error
        rates.",
    i = if ("known_truth" %in% unusable_arguments) "To use {.arg known_truth}, leave out
        {.arg known_raters}, the calibration sample.")
  interval_record <- if (is.null(interval)) interval_calibrated
  options <- list(
    method = method_calibrated$id, conf_level = check_level(conf_level), clip = NA_character_,
    bin_width = NA_real_, method_record = method_calibrated,
    interval = interval_record$id %||% check_choice(interval, "none", "interval"),
      interval_record = interval_record
  )
  by <- groups_of_cases(enquo(by), x$x)
  x <- replace_answers(x, choose_systems(x$x, systems))
  ratings <- x$x
  check_has_systems(ratings)
  varying_systems <- setdiff(ratings$systems, ratings$constant)
  abort_if(varying_systems, "system",
    "With one judge and a calibration sample, accuracy can be estimated only for a system that
        gives the same answer to all cases. Its accuracy is then a rate, such as a pass rate.",
    x = "{.val {varying_systems}} {?gives/give} different answers to cases. The calibration sample
        does not show which errors the judge shares with {?this system/these systems}.",
    i = "Label a random sample of the cases, give it as {.arg known_truth}, and leave out
        {.arg known_raters}.",
    system = varying_systems)
  if (is.null(by)) return(calibrated_estimate(x, options))
  estimate_each_group(ratings, by, function(group_ratings, cluster, gold) {
    fit <- fit_again(x, group_ratings)
    class(fit) <- union("judge_fit", class(fit))
    calibrated_estimate(fit, options)
  }, NULL, NULL)
}

# Computes the accuracies of all systems from `fit`, a fit of class judge_fit. Returns an object of
# class accuracy_estimate.
calibrated_estimate <- function(fit, options) {
  ratings <- fit$x
  system_categories <- apply(ratings$patterns$answer, 2L, max)
  estimates <- fit$base_rates[system_categories]
  draft <- list(
    fit = fit, options = options, point = new_point(estimates), n = count_answered_cases(fit),
    results_of_average = summarise_average(estimates, NULL)
  )
  table <- result_table(estimates, reason = if (anyNA(estimates)) reason_of_fit(fit) else
    NA_character_)
  table$std.error <- unname(sqrt(coefficient_variances(fit)[n_raters(ratings) + system_categories]))
  if (!anyNA(estimates) && has_interval(draft)) {
    limits <- confint(fit, rate_terms(ratings)[system_categories], options$conf_level)
    table[limit_columns] <- split_columns(limits, 1:2)
    if (anyNA(limits)) table <- add_no_interval_reason(table,
      if (weights_are_counts(ratings)) "the estimate is 0 or 1" else "weights are not counts")
  }
  estimate <- new_accuracy_estimate(draft, list(table = table))
  estimate$table$why[is.na(estimates)] <- fit$identified
  show_accuracy(estimate)
}

# Returns notes for print(): the assumption about the judge's errors, and how much the estimate
# would change if the judge were biased. `x`: an accuracy estimate.
calibrated_notes <- function(x) {
  fit <- x$fit
  category <- fit$x$categories[[max(fit$x$patterns$answer[, 1L])]]
  if (fit$identified == "yes") {
    c(format_calibration(fit), paste("Assumed:", calibration_assumption(fit)),
      format_bias_sensitivity(fit, category))
  }
}

method_calibrated <- new_method(
  "calibrated", "one judge and a calibration sample", model = "none", estimate = NULL,
  explain = function(estimate) {
    paste(
      "The share of ratings was corrected by the judge's known errors (Rogan and Gladen 1978). It",
      "is assumed that", calibration_assumption(estimate$fit)
    )
  }
)

interval_calibrated <- new_interval(
  "calibrated", words = "calibrated interval", find = identity,
  note = function(estimate) {
    paste0("sampling error of these cases", if (!is.null(estimate$fit$calibrated))
      " and of the calibration sample", " only")
  },
  explain = function(estimate) {
    calibration_sample <- estimate$fit$calibrated
    paste("The {interval}", if (is.null(calibration_sample)) {
      "is Wilson's, for the number of cases that gives the standard error."
    } else if (is.null(calibration_sample$draws)) {
      "is that of Lang and Reiczigel 2014."
    } else {
      "has percentiles of draws from Dirichlet distributions."
    })
  }
)

# ---- One rater, or all raters in one group that counts as one vote -------------------------------

# One rater has no agreement with other raters, so accuracy is estimated from gold cases (cases with
# known truth). The rater's ratings of all cases reduce the standard error.

# Raises an error if there are no gold cases, or if the method or the interval needs several raters.
# `gold`: gold cases, or NULL. `interval`: name of an interval, or NULL for the default.
check_one_rater <- function(x, gold, method, interval) {
  check_has_systems(x)
  abort_if(is.null(gold), "raters",
    "With one rater there is no agreement between raters, so {.fun estimate_accuracy} needs
        {.arg known_truth}.",
    x = if (n_raters(x) > 1L) "All raters are in one group, which counts as one vote." else
      "The only rater is {.val {x$raters}}. Systems do not count as raters.",
    i = c(
      if (is.null(x$truth)) "Label about 30 random cases, and use
       {.code estimate_accuracy(x, known_truth = labels, gold_sample = \"random\")}." else
       "{.arg x} contains the truth of {sum(!is.na(x$truth$category))} case{?s}. If they are a
       random sample, use
       {.code estimate_accuracy(x, known_truth = TRUE, gold_sample = \"random\")}.",
      "If there is a calibration sample of other cases, give it as {.arg known_raters}."
    ), raters = x$raters)
  explanation <- "With one rater, accuracy is measured by gold cases (cases with known truth)."
  abort_argument_if(accuracy_methods[[method]]$model != "own", "method", explanation,
    x = "{.arg method} is {.val {method}}, which needs several raters.",
    i = "Leave out {.arg method} and {.arg model}.")
  interval_names <- names(gold_intervals)
  abort_argument_if(!is.null(interval) && !interval %in% interval_names, "interval", explanation,
    not = interval, i = "Use {.or {.val {interval_names}}}, or leave out {.arg interval}.")
}

# Returns a fit in which all estimates are NA, because no parameter is identified from the ratings
# of one rater. The rater may have rated cases several times (reruns), but agreement between reruns
# is not agreement between raters.
fit_one_rater <- function(x, model) {
  if (!is.null(x$rater_groups)) x <- with_votes(x)
  fit <- fit_algebraic(x, model)
  fit$identified <- "no_pairs"
  fields_not_estimated <- c("agreement", "kappa", "rater_accuracy", "base_rates", "covariance",
    "coefficients")
  fit[fields_not_estimated] <-
    lapply(fit[fields_not_estimated], function(value) replace(value, TRUE, NA_real_))
  fit
}

reason_one_rater <- "not identified from one rater; a random sample of gold cases is needed"

# Returns a sentence on the number of gold cases that the rater rated correctly. With two
# categories, the sentence contains this number for each true category. A case with several ratings
# is rated correctly if more than half of its ratings are correct.
note_of_one_rater <- function(estimate) {
  evidence <- estimate$gold$evidence
  ratings <- estimate$fit$x
  if (is.null(evidence)) return(NULL)
  is_rated_correctly <- predict_correctness(pick_rows(evidence$predicted, evidence$at),
    evidence$truth) > 0.5
  is_rated <- evidence$rated[evidence$at]
  count_correct <- function(is_counted) {
    is_counted <- is_counted & is_rated
    paste(number(sum(is_rated_correctly[is_counted], na.rm = TRUE)), "of", number(sum(is_counted)))
  }
  correct_counts_text <- if (n_categories(ratings) > 2L) paste("was right on",
    count_correct(TRUE)) else paste0(
    "said ", paste(map_chr(2:1, function(k) {
      label <- ratings$categories[[k]]
      paste(label, "for", count_correct(evidence$truth == k), "with truth", label)
    }), collapse = ", and ")
  )
  sprintf("On gold cases %s %s.", ratings$raters, correct_counts_text)
}

# Returns the uncorrected pass rate of each constant system: the share of ratings with the system's
# category. The vector is named by system. With several raters or without gold cases, it is empty.
raw_pass_rate <- function(estimate) {
  evidence <- estimate$gold$evidence
  if (is.null(evidence) || !is_one_rater(estimate$fit$x)) return(numeric())
  # With one rater, predicted probabilities are shares of ratings, see predict_categories().
  predicted_correctness <- predict_correctness(evidence$predicted, evidence$answer)
  pass_rate <- colSums(evidence$weight * predicted_correctness, na.rm = TRUE) /
    colSums(evidence$weight * !is.na(predicted_correctness))
  names(pass_rate) <- estimate$table$system
  pass_rate[names(pass_rate) %in% estimate$fit$x$constant]
}

# Returns the worth of a gold label if each case was rated `n_runs` times by the same rater: the
# number of gold labels without ratings that give the same precision (Spearman-Brown formula).
# * squared_correlation: squared correlation between the truth and one rating
# * reliability: correlation between two ratings of a case
n_equivalent_labels <- function(n_runs, squared_correlation, reliability) {
  explained_share <- squared_correlation * n_runs / (1 + (n_runs - 1) * reliability)
  1 / (1 - pmin(explained_share, max_explained_share))
}

# Returns a sentence on how much one more rating of each case by the same rater would help. NULL if
# the reliability of the rater or the accuracy of the first system on gold cases is unknown.
note_of_reruns <- function(estimate) {
  ratings <- estimate$fit$x
  reliability <- rerun_reliability(ratings)
  measurement <- extract_gold_accuracy(estimate$gold, 1L)
  if (is.na(reliability) || is.null(measurement)) return(NULL)
  n_reruns <- ratings_per_case(ratings)
  squared_correlation <- (1 - measurement$ratio) * (1 + (n_reruns - 1) * reliability) / n_reruns
  equivalent_label_texts <-
    format_decimals(n_equivalent_labels(n_reruns + 0:1, squared_correlation, reliability), 2L)
  sprintf(
    paste("Reliability of runs: %s. With one more run for each case, a gold label would be worth",
      "%s labels without ratings, now %s"),
    format_decimals(reliability, 2L), equivalent_label_texts[[2L]], equivalent_label_texts[[1L]]
  )
}
