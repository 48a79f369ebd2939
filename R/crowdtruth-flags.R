# Rules that flag workers with metrics like those of spammers.

# Sign of each metric: 1 if large values indicate a spammer, -1 if small values do.
spam_sign <- c(
  unit_disagreement = 1, worker_disagreement = 1, overlap_disagreement = 1,
  annotations_per_unit = 1, wqs = -1, wwa = -1, wua = -1
)

#' Flag workers of low quality
#'
#' Flags workers (raters) who probably answer carelessly or at random, by a rule on their
#' [crowdtruth()] metrics.
#'
#' @section Rules:
#' The rule gives each worker a score. Workers with a score above 0 are flagged.
#' * **Standard-deviation rule** (without `weights` and `known`): a metric of a worker is suspicious
#'   if it is more than `sd` standard deviations from the mean over workers, in the direction of
#'   high disagreement, low quality or many annotations. The score is the number of suspicious
#'   metrics minus `votes` plus 0.5. With a larger `sd`, fewer workers are flagged. In
#'   simulated crowds of 30 workers without spammers, the default `sd = 1` flagged 15% of the
#'   workers, and `sd = 2` flagged 2%. If there are many spammers, they change the mean and the
#'   standard deviation, so that the rule finds fewer of them. If ten of the 30 workers were
#'   spammers, `sd = 1` found 82% of them, and `sd = 2` found 1%.
#' * **Linear rule** (with `weights`): the score is the weighted sum of the metrics plus the weight
#'   `(Intercept)`.
#' * **Fitted rule** (with `known`): a linear rule from a logistic regression of the known quality
#'   on the standardised metrics. Slopes have a normal prior with standard deviation 2.5. The
#'   accuracy of the rule is estimated by cross-validation: the *held-out* score of a known worker
#'   is computed by a rule that was fitted without the worker's fold.
#'
#' @param x A [crowdtruth()] result; or [ratings()] or a [fit_raters()] result, for which version
#'   2014 of [crowdtruth()] is computed first.
#' @param metrics Names of the metrics that the rule uses, columns of `x$workers`. `NULL`, the
#'   default, selects `annotations_per_unit` and, for version 2014, the disagreements
#'   `unit_disagreement` and `worker_disagreement`; for version 2.0 the agreements `wwa` and `wua`.
#' @param weights Weights of the linear rule, a numeric vector named by metric. It may also contain
#'   the weight `(Intercept)`. `NULL`, the default: the linear rule is not used.
#' @param known Known quality for the fitted rule, a logical vector named by worker: `TRUE` for
#'   workers of low quality, `FALSE` for others, at least two of each. `NULL`, the default: the
#'   fitted rule is not used.
#' @param folds Number of folds of the cross-validation for the fitted rule, by default 10. If it is
#'   at least the number of known workers, one worker is left out at a time. Folds are drawn at
#'   random, stratified by quality.
#' @param sd,votes For the standard-deviation rule: number of standard deviations, by default 1; and
#'   smallest number of suspicious metrics of a flagged worker, by default 2, or 1 for a single
#'   metric.
#' @param min_cases Smallest number of units of a worker, by default 1. Workers with fewer units
#'   have no score, and the rule is computed without them.
#' @param ... Not used.
#' @return An object of class `worker_flags`, a list with
#'   * `workers`: a tibble with a row per worker: `worker`; `units`, the number judged; the metrics;
#'     `score`; `flagged`, `TRUE` or `FALSE`; `reason`, why `score` and `flagged` are `NA`. If
#'     `known` was given, also `known` and `held_out`, the held-out score.
#'   * `rule` (`"sd"`, `"weights"` or `"fitted"`), its `metrics`, and the `version` of the metrics;
#'     for linear rules `weights`; for the standard-deviation rule `votes` and `thresholds`, the
#'     limits of the metrics; for the fitted rule `folds`.
#'
#'   `tidy()` of the result returns `workers`. `glance()` returns a tibble with one row:
#'   * `rule`, the kind of rule; `workers`, `flagged` and `undefined`, the numbers of all workers,
#'     of flagged workers, and of workers without a score.
#'   * `known` and `low`: the numbers of workers of known quality, and of those with low quality.
#'   * `accuracy`, `precision` and `recall` of the flags that follow from the held-out scores.
#'   * `auc`: the probability that a worker of low quality has a higher held-out score than another
#'     worker.
#'   * `separation`: the mean held-out score of workers of low quality minus the mean of the other
#'     workers, in pooled standard deviations.
#'
#'   Columns from `known` on are `NA` if argument `known` was not given.
#' @family CrowdTruth
#' @templateVar where Sections 4.1 and 5.2
#' @template ref-crowdtruth
#' @examples
#' set.seed(1)
#' x <- simulate_crowd(spammers = c(random = 6, constant = 4))
#' # The standard-deviation rule
#' flag_workers(crowdtruth(x))
#'
#' # A rule fitted to half of the workers, whose quality is known
#' workers <- tidy(x, "workers")
#' known <- setNames(workers$kind != "faithful", workers$worker)
#' flag_workers(crowdtruth(x), known = known[c(TRUE, FALSE)])
#' @export
flag_workers <- function(x, metrics = NULL, weights = NULL, known = NULL, folds = 10L, sd = 1,
                         votes = min(2L, length(metrics)), min_cases = 1L, ...) {
  check_call()
  if (inherits(x, "rater_fit")) {
    abort_argument_if(!is.null(x$x$voted$groups), "x",
      "must not be a fit that counts groups of raters as one vote.",
      i = "Give the ratings, instead of the fit, to {.fun flag_workers}.")
    x <- x$x # the ratings to which the model was fitted
  }
  x <- as_crowdtruth(x)
  check_named_workers(x$ratings)
  abort_argument_if(!is.null(weights) && !is.null(known), "known",
    "Give {.arg weights} or {.arg known}, not both.")
  metrics <- check_rule_metrics(metrics, weights, x)
  metric_values <- as.matrix(x$workers[metrics])
  has_few_units <- x$workers$units < check_count(min_cases, "min_cases", 1L)
  metric_values[has_few_units, ] <- NA
  rule <- if (!is.null(known)) {
    apply_fitted_rule(metric_values, known, x$workers$worker, check_count(folds, "folds", min = 2L))
  } else if (!is.null(weights)) {
    weights <- c(weights[setdiff(names(weights), metrics)], weights[metrics])
    list(rule = "weights", weights = weights, score = compute_linear_scores(metric_values, weights))
  } else {
    signs <- spam_sign[metrics]
    thresholds <- colMeans(metric_values, na.rm = TRUE) +
      signs * check_number(sd, "sd", 0) * apply(metric_values, 2L, stats::sd, na.rm = TRUE)
    votes <- check_count(votes, "votes", max = length(metrics))
    # With the tolerance 1e-9, a metric that is equal for all workers is never suspicious.
    n_suspicious <- colSums((t(metric_values) - thresholds) * signs > 1e-9)
    list(rule = "sd", thresholds = thresholds, votes = votes, score = n_suspicious - votes + 0.5)
  }
  missing_metrics <- apply(is.na(metric_values), 1L, function(is_missing) {
    toString(metrics[is_missing])
  })
  reason <- ifelse(nzchar(missing_metrics), paste(missing_metrics, "undefined"), NA_character_)
  reason[has_few_units] <- paste("fewer units than", min_cases)
  worker_columns <- intersect(c("known", "held_out"), names(rule))
  table <- tibble(
    x$workers[c("worker", "units", metrics)], score = rule$score, flagged = rule$score > 0,
    !!!rule[worker_columns], reason
  )
  rule[c("score", worker_columns)] <- NULL
  new_worker_flags(table, c(list(metrics = metrics, version = x$options$version), rule))
}

# Returns the names of the metrics that the rule uses, from argument `metrics` or `weights`.
check_rule_metrics <- function(metrics, weights, x) {
  available_metrics <- intersect(names(spam_sign), names(x$workers))
  if (is.null(weights)) {
    worker_metrics <- if (x$options$version == "2.0") c("wwa", "wua") else
      c("unit_disagreement", "worker_disagreement")
    default_metrics <- c(worker_metrics, "annotations_per_unit")
    return(check_choices(metrics %||% default_metrics, available_metrics, "metrics"))
  }
  weighted_metrics <- setdiff(names(weights), "(Intercept)")
  abort_argument_if(
    !is.numeric(weights) || is_empty(weighted_metrics) || !all(is.finite(weights)) ||
      !all(weighted_metrics %in% available_metrics) || any_repeated(names(weights)), "weights",
    "must be finite numbers with different names: metrics and, optionally, {.val (Intercept)}.",
    x = "Its names are {.val {names(weights)}}.",
    i = "Possible metrics are {.val {available_metrics}}.")
  abort_argument_if(!is.null(metrics) && !setequal(metrics, weighted_metrics), "metrics",
    "{.arg weights} and {.arg metrics} must name the same metrics.",
    i = "Leave out {.arg metrics}.")
  weighted_metrics
}

# Returns the score of each worker by a linear rule: the weighted sum of the metrics, plus the
# intercept if the rule has an intercept. `metric_values`: a matrix (workers x metrics). `weights`:
# a vector named by metric.
compute_linear_scores <- function(metric_values, weights) {
  intercept <- sum(weights["(Intercept)"], na.rm = TRUE)
  drop(metric_values %*% weights[colnames(metric_values)]) + intercept
}

# Fits a linear rule to workers of known quality, see flag_workers(). Returns a list with the
# `weights` of the rule, the `score` of each worker, and `held_out`, the cross-validated score of
# each worker of known quality. `metric_values`: a matrix (workers x metrics). `workers`: names of
# the workers.
apply_fitted_rule <- function(metric_values, known, workers, folds) {
  known_workers <- names(known)
  unknown_workers <- setdiff(known_workers, workers)
  problem <- if (!is.logical(known)) "It is {describe(known)}." else
    if (is.null(known_workers)) "It has no names." else
      if (!is_empty(unknown_workers)) "There is no worker {.val {unknown_workers}}." else
        if (any_repeated(known_workers))
          "It has several values for {.val {repeated_values(known_workers)}}."
  abort_argument_if(problem, "known",
    "must be a logical vector whose names are workers, each at most once.", x = problem)
  # Is the quality of the worker low? NA if unknown.
  is_low_quality <- unname(known[match(workers, known_workers)])
  used_workers <- which(!is.na(is_low_quality) & complete.cases(metric_values))
  quality_counts <- table(factor(is_low_quality[used_workers], c(FALSE, TRUE)))
  abort_argument_if(any(quality_counts < 2L), "known",
    "must contain at least two workers of low quality and two other workers with defined metrics.",
    x = "It contains {quality_counts[['TRUE']]} of low quality and {quality_counts[['FALSE']]}
        other{?s}.")
  # Workers are sorted by quality and shuffled within each quality. Folds are then assigned in turn,
  # so that all folds have nearly equal sizes and shares of low quality.
  shuffled_workers <- with_one_seed({
    workers_by_quality <- split(used_workers, is_low_quality[used_workers])
    unlist(lapply(workers_by_quality, function(workers) workers[sample.int(length(workers))]))
  })
  fold_of_worker <- (seq_along(shuffled_workers) - 1L) %% folds + 1L
  fit_rule <- function(workers) {
    fit_rule_weights(pick_rows(metric_values, workers), is_low_quality[workers])
  }
  held_out_scores <- rep(NA_real_, nrow(metric_values))
  for (k in unique(fold_of_worker)) {
    test_workers <- shuffled_workers[fold_of_worker == k]
    held_out_scores[test_workers] <- compute_linear_scores(
      pick_rows(metric_values, test_workers), fit_rule(sort(shuffled_workers[fold_of_worker != k]))
    )
  }
  weights <- fit_rule(used_workers)
  list(
    rule = "fitted", weights = weights, folds = max(fold_of_worker),
    score = compute_linear_scores(metric_values, weights), known = is_low_quality,
    held_out = held_out_scores
  )
}

# Returns the weights of a linear rule, fitted by logistic regression (Newton's method). Slopes of
# standardised metrics have a normal prior with standard deviation 2.5. `metric_values`: a matrix
# (workers x metrics). `is_low_quality`: is the quality of the worker low?
fit_rule_weights <- function(metric_values, is_low_quality) {
  means <- colMeans(metric_values)
  standard_deviations <- apply(metric_values, 2L, sd)
  standard_deviations[standard_deviations < 1e-12] <- 1
  design <- cbind(1, scale(metric_values, means, standard_deviations))
  penalty <- c(0, rep(1 / 2.5^2, ncol(metric_values)))
  objective <- function(coefficients) {
    linear_predictor <- drop(design %*% coefficients)
    sum(is_low_quality * linear_predictor - pmax(linear_predictor, 0) -
      log1p(exp(-abs(linear_predictor)))) - sum(penalty * coefficients^2) / 2
  }
  coefficients <- numeric(ncol(design))
  for (iteration in 1:100) {
    probability <- plogis(drop(design %*% coefficients))
    gradient <- drop(crossprod(design, is_low_quality - probability)) - penalty * coefficients
    step <- solve(
      crossprod(design, design * bernoulli_variance(probability)) + diag(penalty + 1e-12), gradient
    )
    while (objective(coefficients + step) < objective(coefficients) && max(abs(step)) > 1e-12) {
      step <- step / 2
    }
    coefficients <- coefficients + step
    if (max(abs(step)) < 1e-10) break
  }
  slopes <- coefficients[-1L] / standard_deviations
  c(`(Intercept)` = coefficients[[1L]] - sum(slopes * means), slopes)
}

# Returns a list of statistics that describe how well scores separate workers of low quality from
# other workers. The help of flag_workers() defines the statistics. `score`: score of each worker.
# `is_low_quality`: is the quality of the worker low? NA if the quality is not known.
flag_performance <- function(score, is_low_quality) {
  has_score_and_quality <- !is.na(score) & !is.na(is_low_quality)
  score <- score[has_score_and_quality]
  is_low_quality <- is_low_quality[has_score_and_quality]
  is_flagged <- score > 0
  low_quality_scores <- score[is_low_quality]
  other_scores <- score[!is_low_quality]
  pooled_sd <- sqrt(sum((score - ave(score, is_low_quality))^2) / (length(score) - 2))
  pair_wins <- outer(low_quality_scores, other_scores, function(a, b) (a > b) + (a == b) / 2)
  list(
    known = length(score), low = sum(is_low_quality),
    accuracy = na_real(mean(is_flagged == is_low_quality)),
    precision = ratio(sum(is_flagged & is_low_quality), sum(is_flagged)),
    recall = ratio(sum(is_flagged & is_low_quality), sum(is_low_quality)),
    auc = na_real(mean(pair_wins)),
    separation = na_real((mean(low_quality_scores) - mean(other_scores)) / pooled_sd)
  )
}

# ---- Result and its printed form ----------------------------------------------------------------

# Creates the result of flag_workers(). `workers`: table with a row per worker. `rule`: a list with
# the names of the `metrics`, the `version` of CrowdTruth, and settings of the rule, such as
# `weights` or `thresholds`.
new_worker_flags <- function(workers, rule) {
  is_fitted <- rule$rule == "fitted"
  performance <- if (is_fitted) flag_performance(workers$held_out, workers$known) else
    lapply(flag_performance(0, NA), `[`, NA)
  flagged_workers <- workers[workers$flagged %in% TRUE, ]
  # Sum of the standardised deviations of the metrics in the suspicious direction. Flagged workers
  # with equal scores are sorted by this sum.
  deviation <- t(scale(as.matrix(workers[rule$metrics]))) * spam_sign[rule$metrics]
  deviation <- colSums(pmax(deviation, 0), na.rm = TRUE)[workers$flagged %in% TRUE]
  n_undefined <- sum(is.na(workers$score))
  median_units <- lapply(list(flagged_workers$units, workers$units), median)
  inject(new_result("worker_flags",
    !!!rule, tables = list(workers = workers),
    facts = c(
      rule = rule$rule, workers = nrow(workers), flagged = nrow(flagged_workers),
      undefined = n_undefined, performance
    ),
    line = paste0(
      number(nrow(flagged_workers)), " of ", count_noun(nrow(workers), "worker"), " flagged",
      if (n_undefined > 0L) sprintf("; %s not measured", n_undefined)
    ),
    shown = view(flagged_workers[order(-flagged_workers$score, -deviation), ],
      c("worker", "units", rule$metrics, "score"), most = 10L, title = "Flagged"),
    notes = c(
      describe_rule(rule),
      if (is_fitted) sprintf(
        "Held out (%s, %s of %s known workers of low quality): %s",
        count_noun(rule$folds, "fold"), performance$low, performance$known, toString(paste(
          c("accuracy", "precision", "recall", "AUC"),
          format_decimals(unlist(performance[c("accuracy", "precision", "recall", "auc")]))
        ))
      ),
      if (isTRUE(median_units[[1L]] < median_units[[2L]])) sprintf(
        "Median units of flagged workers: %s, of all: %s. With few units, metrics vary by chance%s",
        format(median_units[[1L]]), format(median_units[[2L]]), " (see `min_cases`)"
      )
    ),
    more = "filter_crowd(x, flagged = ), tidy(), glance(), plot()"
  ))
}

# Returns the rule in words, such as "Rule: at least 2 of wqs < .30, wua < .40".
describe_rule <- function(rule) {
  if (rule$rule != "sd") {
    # A linear rule, such as "0.500 wqs - 1.200".
    metric_names <- sub("(Intercept)", "", names(rule$weights), fixed = TRUE)
    rule_text <- paste(trimws(paste(format_decimals(rule$weights), metric_names)), collapse = " + ")
    return(paste0("Rule: ", gsub("+ -", "- ", rule_text, fixed = TRUE), " > 0"))
  }
  if (all(is.na(rule$thresholds))) return("No worker has enough units for the rule")
  limit_texts <- paste(rule$metrics, ifelse(spam_sign[rule$metrics] > 0, ">", "<"),
    format_decimals(rule$thresholds))
  sprintf("Rule: at least %s of %s", rule$votes, toString(limit_texts))
}
