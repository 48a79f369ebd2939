# Estimates accuracies of systems from gold cases (cases with known truth). Predictions from ratings
# are used as control variates. A "pattern" is a group of cases with the same ratings and the same
# answers of systems.

# Collects the data from which accuracies are estimated with gold cases. `x`: ratings. `gold`:
# result of read_gold(). `predicted`: probabilities of categories (patterns x categories), or NULL
# to compute them from the ratings. A gold case with weight n is replicated n times. Returns a list.
# Fields with a row or element per pattern:
# * predicted: probability of each category, given the ratings (patterns x categories)
# * answer: category number of the answer, 0 for none (patterns x systems)
# * weight: number of cases
# * rated: does the pattern have ratings?
#
# Fields with an element per gold case:
# * at: number of the pattern
# * case, truth, cluster: row number of the case, its true category as a number, its cluster
# * w: sampling weight, the inverse sampling probability
#
# Other fields:
# * drawn: were gold cases drawn with known probabilities?
# * all_clusters: list of pattern, cluster and weight of all cases; NULL without clusters
gold_evidence <- function(x, gold, cluster = NULL, predicted = NULL) {
  weight <- weights_of_cases(x)
  n_gold <- sum(weight[gold$case])
  # Copies of gold cases with large weights could exceed the memory.
  abort_if(!is.null(x$weights) && n_gold > max_gold_weight, "weights",
    "No more than {number(max_gold_weight)} cases with known truth can be used.",
    x = "The weights of the cases in {.arg known_truth} sum to {number(n_gold)}.",
    i = "Give smaller {.arg weights}, or the truth of fewer cases.", call = NULL)
  gold_copies <- rep.int(seq_along(gold$case), weight[gold$case])
  case <- gold$case[gold_copies]
  # If every cluster is one case, clusters have no effect.
  if (anyDuplicated(cluster) == 0L && all(weight <= 1)) cluster <- NULL
  list(
    predicted = predicted %||% predict_categories(x), answer = x$patterns$answer,
    weight = pattern_weights(x), rated = is_rated_pattern(x), at = x$index[case], case = case,
    truth = gold$truth[gold_copies], w = sampling_weights(gold, gold_copies),
    cluster = cluster[case], drawn = !is.null(gold$probability),
    all_clusters = if (!is.null(cluster))
      list(pattern = x$index, cluster = cluster, weight = weight)
  )
}

max_gold_weight <- 1e7 # largest sum of the weights of gold cases

# Selects the gold cases from which each quantity is estimated. For the accuracy of a system, these
# are the gold cases that the system answered.
# * evidence: result of gold_evidence()
# * is_used: does a quantity depend on a pattern (patterns x quantities)?
#
# Returns fields that are copied from `evidence` (`at`, `truth`, `cluster`, `all_clusters`,
# `drawn`), and fields with a column or element per quantity:
# * weight: number of cases of each pattern, 0 if not used
# * w: sampling weight of each gold case, 0 if not used
# * gold: number of gold cases used
# * representative: do gold cases represent all cases?
select_gold <- function(evidence, is_used) {
  is_used <- as.matrix(is_used)
  gold_patterns <- evidence$at
  # Leaves out all cases without ratings, unless some of them are gold cases.
  is_used <- drop_unrated(is_used, evidence$rated, gold_patterns)
  weight <- evidence$weight * is_used
  w <- evidence$w * pick_rows(is_used, gold_patterns)
  c(evidence[c("at", "truth", "cluster", "all_clusters", "drawn")], list(
    weight = weight, w = w, gold = colSums(w > 0),
    representative = are_representative(weight, w, evidence$drawn)
  ))
}

# Do gold cases represent all cases? Returns TRUE or FALSE for each quantity.
# * weight: number of cases of each pattern (patterns x quantities)
# * w: inverse sampling probability of each gold case (gold cases x quantities)
# * drawn: are sampling probabilities known? If not, the result is TRUE
are_representative <- function(weight, w, drawn) {
  n_cases <- colSums(weight)
  # The sum of `w` estimates the number of cases, unless some cases had no chance to be drawn, or
  # the probabilities are wrong. A difference of 4 standard errors plus 1% is accepted.
  !drawn | abs(colSums(w) - n_cases) <= 4 * sqrt(colSums(w * (w - 1))) + 0.01 * n_cases
}

# Did the user give sampling probabilities that are too small? The sum of inverse probabilities is
# then larger than the number of cases, by more than sampling error. `evidence`: result of
# gold_evidence().
are_probabilities_too_small <- function(evidence) {
  weight <- evidence$weight
  sum(evidence$w) > sum(weight) &&
    !are_representative(as.matrix(weight), as.matrix(evidence$w), evidence$drawn)
}

# Estimates quantities, such as accuracies, from gold cases and from predictions by ratings. Returns
# a list with the fields of the result of corrected_mean().
# * gold_data: result of select_gold()
# * y: value of each gold case, such as 1 for a correct answer (gold cases x quantities)
# * predictions: prediction of `y` from ratings (patterns x quantities)
# * compute_means: function that returns corrected means, such as corrected_share()
# * convert_means: function that converts the corrected means to the quantities
# * variance: function that returns the variance of the contribution of one case to each quantity.
#   Its argument is the result of `convert_means`
estimate_gold_quantities <- function(gold_data, y, predictions, compute_means, convert_means,
                                     variance = function(quantities) quantities$variance) {
  means <- convert_means(compute_means(y, pick_rows(predictions, gold_data$at),
    summarise_predictions(predictions, gold_data$weight), w = gold_data$w))
  adjust_for_clusters(
    means, gold_data$cluster, variance(means), array(gold_data$w > 0, dim(means$rest)),
    prediction_design_effect(predictions, gold_data$weight, gold_data$all_clusters)
  )
}

# Estimates accuracies of systems from gold cases or, if `second` is given, differences between
# accuracies of two systems. `evidence`: result of gold_evidence(). `first`, `second`: numbers of
# the systems. Returns a list of the fields of corrected_mean() and:
# * known: do gold cases measure the system or pair? If not, the other fields have no element for it
# * differ: share of cases on which the two answers differ
# * one_right: expected share of cases on which exactly one of the two answers is right, predicted
#   from ratings
# * all: number of cases
# * disputed: number of gold cases on which the two answers differ
gold_accuracy <- function(evidence, first, second = NULL) {
  if (is.null(evidence)) return(list(known = logical(length(first))))
  has_second_system <- !is.null(second)
  answers <- pick_columns(evidence$answer, first)
  # Without `second`, the second answer is 0 (no answer). It is never correct, so the difference is
  # the accuracy of the first system.
  second_answers <- if (has_second_system) pick_columns(evidence$answer, second) else 0L * answers
  pick_gold_rows <- function(x) pick_rows(x, evidence$at)
  gold_data <- select_gold(evidence, answers > 0L & (second_answers > 0L | !has_second_system))
  is_differing <- answers != second_answers & gold_data$weight > 0
  is_measured <- gold_data$gold > 0 & colSums(is_differing) > 0 &
    are_representative(gold_data$weight * is_differing, gold_data$w * pick_gold_rows(is_differing),
      gold_data$drawn)
  if (!any(is_measured)) return(list(known = is_measured))
  pick_measured_columns <- function(x) pick_columns(x, is_measured)
  weight <- pick_measured_columns(gold_data$weight)
  w <- pick_measured_columns(gold_data$w)
  is_differing <- pick_measured_columns(is_differing)
  n_cases <- colSums(weight)
  differing_share <- colSums(weight * is_differing) / n_cases
  is_gold <- w > 0
  # Did the user label only cases on which the two answers differ? TRUE if the answers differ on all
  # gold cases, and if the probability of this is below .01 for a random sample of all cases.
  is_labelled_only_if_differing <- colSums(is_gold & !pick_gold_rows(is_differing)) == 0 &
    differing_share < 1 & differing_share^colSums(is_gold) < 0.01
  # Only cases with different answers are used if the user labelled only such cases, or if gold
  # cases do not represent all cases. Cases with equal answers do not change the difference.
  uses_only_differing <- is_labelled_only_if_differing | !gold_data$representative[is_measured]
  is_counted <- rep(!uses_only_differing, each = nrow(is_differing)) | is_differing
  compute_p_correct <- function(answer) {
    fill_unrated(predict_correctness(evidence$predicted, pick_measured_columns(answer)), weight)
  }
  p_first_correct <- compute_p_correct(answers)
  p_second_correct <- if (has_second_system) compute_p_correct(second_answers) else 0
  is_correct <- function(answer) pick_gold_rows(pick_measured_columns(answer)) == evidence$truth
  gold_data[c("weight", "w")] <- list(weight * is_counted, w * pick_gold_rows(is_counted))
  means <- estimate_gold_quantities(
    gold_data, is_correct(answers) - is_correct(second_answers),
    is_differing * (p_first_correct - p_second_correct),
    if (has_second_system) corrected_difference else corrected_share,
    function(x) {
      extend_mean_to_all_cases(x, ifelse(uses_only_differing, differing_share, 1),
        uses_only_differing)
    },
    if (has_second_system) function(x) x$variance else share_variance
  )
  if (!has_second_system) means$seen <- means$alone
  c(means, list(
    differ = differing_share,
    one_right = colSums(weight * is_differing * (p_first_correct + p_second_correct)) / n_cases,
    all = n_cases, disputed = colSums(is_gold & pick_gold_rows(is_differing)), known = is_measured
  ))
}

# Returns the results of gold_accuracy() for system number `s`: a list with one element or column of
# each field. NULL if gold cases do not measure the system. `gold`: see correct_by_gold().
extract_gold_accuracy <- function(gold, s) {
  gold_accuracies <- gold$measured
  if (!isTRUE(gold_accuracies$known[s])) return(NULL)
  measured_position <- sum(gold_accuracies$known[seq_len(s)])
  lapply(gold_accuracies[names(gold_accuracies) != "known"], function(value) {
    if (is.matrix(value)) value[, measured_position] else value[[measured_position]]
  })
}

# Converts means over some of the cases to means over all cases. All other cases have the value 0.
# * x: result of corrected_mean()
# * share: share of all cases over which each mean was taken, 1 for a mean over all cases
# * is_partial: was the mean taken over some cases only? An element per mean
extend_mean_to_all_cases <- function(x, share, is_partial) {
  mean_square <- share * (x$variance + x$estimate^2)
  case_variance_ratio <- (mean_square - (share * x$estimate)^2) / (share * x$variance)
  x$full_design[is_partial] <- case_variance_ratio[is_partial]
  x$design[is_partial] <- x$design[is_partial] + case_variance_ratio[is_partial]
  x$variance <- share^2 * x$variance
  x <- modify_fields(x, c("estimate", "alone"), `*`, share)
  modify_fields(x, c("rest", "answers"), sweep, 2L, share, `*`)
}

# Returns the gold cases that system number `s` answered, with the fields of select_gold() for one
# quantity. NULL if the system answered no gold case, or if the gold cases do not represent all
# cases that the system answered.
gold_of_system <- function(evidence, s) {
  gold_data <- select_gold(evidence, evidence$answer[, s] > 0L)
  if (gold_data$gold == 0L || !gold_data$representative) return(NULL)
  gold_data$weight <- gold_data$weight[, 1L]
  modify_fields(gold_data, c("at", "truth", "cluster", "w"), `[`, gold_data$w > 0)
}

# Returns the estimates from ratings only, for the systems with numbers `s`, as a list:
# * estimate: centre of the interval
# * std.error: total standard error, NA if the sampling error is unknown
# * bias: the part of the standard error that is not sampling error, or NA
estimates_from_ratings <- function(estimate, s) {
  total_sd <- (estimate$gold$alone %||% estimate$table)$std.error[s]
  bias_sd <- sqrt(pmax(0, total_sd^2 - estimate$details$sampling[s]^2))
  list(estimate = estimate$details$centre[s], std.error = total_sd + 0 * bias_sd, bias = bias_sd)
}

# ---- Correction ----------------------------------------------------------------------------------

# Gold cases are a random sample of cases with known truth. They measure errors that ratings do not
# identify. Ratings predict the probability that an answer is correct, and gold cases estimate the
# bias of these predictions (prediction-powered inference). The estimate is valid without
# assumptions about raters. If predictions are useless, the estimate is computed from gold cases
# only.
#
# The functions below have these arguments. Each is a vector with an element per gold case, or a
# matrix gold cases x estimated means.
# * y: values of gold cases, such as 1 for a correct answer
# * predictions: predictions of `y`
# * w: weights of gold cases, proportional to inverse sampling probabilities; 0 leaves a case out

# Prior of the regression slope of `y` on `predictions`: its mean, and the number of gold cases to
# which the prior is equivalent.
prior_slope <- 0.5
n_prior_cases <- 10

# Returns the mean and variance of predictions over all cases (not only gold cases), and the number
# of cases. Each has an element per column of `predictions`, which has a row per pattern.
# `weight`: number of cases of each row.
summarise_predictions <- function(predictions, weight = 1) {
  predictions <- as.matrix(predictions)
  weight <- matrix(weight, nrow(predictions), ncol(predictions))
  n_cases <- colSums(weight)
  weighted_squares <- weight * demean(predictions, weight)^2
  list(
    mean = colSums(weight * predictions) / n_cases, cases = n_cases,
    variance = ifelse(n_cases > 1, colSums(weighted_squares) / (n_cases - 1), 0)
  )
}

# Estimates shares of cases by corrected_mean(); `y` is 0 or 1. The variance of `y` is computed with
# two additional gold cases, one with value 0 and one with value 1, so that it is not 0.
corrected_share <- function(y, predictions, prediction_summary, w = 1) {
  shrink_variance <- function(mean, sample_variance, n_effective) {
    bernoulli_variance((n_effective * mean + 1) / (n_effective + 2))
  }
  corrected_mean(y, predictions, prediction_summary, shrink_variance,
    bernoulli_variance(prediction_summary$mean), w)
}

# Estimates differences between the accuracies of two systems by corrected_mean(). `difference` is 1
# if only the first system is correct, -1 if only the second is correct, and 0 otherwise. If the
# answers of both systems agree, `difference` and its prediction are 0.
corrected_difference <- function(difference, predictions, prediction_summary, w = 1) {
  corrected_mean(difference, predictions, prediction_summary,
    function(mean, sample_variance, n_effective) pmax(sample_variance, 1 / n_effective), w = w)
}

# Estimates the mean of `y` over all cases. The estimate is the mean of gold cases, minus a
# correction: the slope times the difference between the mean predictions of gold cases and of all
# cases.
# * prediction_summary: result of summarise_predictions()
# * compute_variance: function that returns the variance of `y`. Its arguments are the mean of `y`,
#   the variance of `y` in gold cases, and the effective number of gold cases
# * least_variance: lower limit of the variance of `y`, only for computing `explained_share`
#
# Returns a list with an element per mean (`rest` and `answers` have a column per mean):
# * estimate: estimated mean over all cases
# * `alone`: mean of gold cases without predictions
# * slope: regression slope of `y` on `predictions`, 0 if predictions are not used
# * variance: variance of `y`
# * ratio: variance of the estimate, relative to a mean of gold cases with equal weights and without
#   predictions
# * rest: weighted deviations of y - slope * predictions from their mean over gold cases
# * answers: weighted deviations of `y` from their mean over gold cases
# * gold, cases: numbers of gold cases and of all cases
# * n_labels: number of gold cases for ratings_prior(). It is equal to `gold` here, but
#   measurement_as_share() can reduce it
# * design: design effect of unequal weights (Kish)
# * full_design: design effect on the mean over all cases. It is 1 here; other functions change it,
#   for example adjust_for_clusters()
# * seen: share of gold cases with a correct answer, for extend_to_boundary(). It is NA here
corrected_mean <- function(y, predictions, prediction_summary, compute_variance, least_variance = 0,
                           w = 1) {
  y <- as.matrix(y)
  predictions <- as.matrix(predictions)
  w <- matrix(w, nrow(y), ncol(y))
  n_gold <- as.integer(colSums(w > 0))
  w <- w * rep(n_gold / colSums(w), each = nrow(w))
  design_effect <- colSums(w^2) / n_gold
  gold_mean <- colSums(w * y) / n_gold
  variance <- compute_variance(gold_mean, sum_of_squares(y, w) / n_gold, n_gold / design_effect)
  slope <- regression_slope(y, predictions, prediction_summary$variance, w, n_gold / design_effect)
  explained_share <- pmin(1, prediction_summary$variance / pmax(variance, least_variance))
  compute_residuals <- function() y - rep(slope, each = nrow(y)) * predictions
  variance_ratio <- residual_variance_ratio(y, compute_residuals(), w, variance, explained_share)
  ignores_predictions <- !is.finite(variance_ratio) | variance_ratio >= design_effect - 1e-12 |
    slope <= 0
  slope[ignores_predictions] <- 0
  residuals <- compute_residuals()
  list(
    estimate = colSums(w * residuals) / n_gold + slope * prediction_summary$mean,
    slope = slope, ratio = ifelse(ignores_predictions, design_effect, variance_ratio),
    variance = variance, rest = w * demean(residuals, w), answers = w * demean(y, w),
    gold = n_gold, n_labels = n_gold, alone = gold_mean, cases = prediction_summary$cases,
    design = design_effect, full_design = n_gold^0, seen = NA_real_ * n_gold
  )
}

# Drops the matrices of a result of corrected_mean(), which have a row per gold case.
without_deviations <- function(x) x[setdiff(names(x), c("rest", "answers"))]

# Returns the weighted sum of squared deviations from the mean, for each column of `x`. The sum is
# multiplied by m / (m - 1) for m gold cases, and is 0 for a single case. `weight` is used in the
# sum of squares, `w` in the mean.
sum_of_squares <- function(x, w, weight = w) {
  n_gold <- colSums(w > 0)
  ifelse(n_gold > 1, colSums(weight * demean(x, w)^2) * n_gold / (n_gold - 1), 0)
}

# Returns the regression slope of `y` on `predictions`, shrunk to `prior_slope` and limited to
# [0, 1]. `prediction_variance`: variance of predictions over all cases. `effective_size`: effective
# number of gold cases (their number divided by the design effect).
regression_slope <- function(y, predictions, prediction_variance, w, effective_size) {
  n_gold <- colSums(w > 0)
  slope <- colSums(w * demean(y, w) * demean(predictions, w)) / (n_gold - 1) / prediction_variance
  slope[n_gold <= 1] <- 0
  slope <- (effective_size * slope + n_prior_cases * prior_slope) / (effective_size + n_prior_cases)
  ifelse(prediction_variance <= 0, 0, clip01(slope))
}

# Returns the variance of `residual` (`y` minus slope times prediction), relative to the variance of
# `y`. This is the field `ratio` in corrected_mean().
# `explained_share`: largest share of the variance that predictions can explain.
residual_variance_ratio <- function(y, residual, w, variance, explained_share) {
  # With few gold cases, the residuals may vary too little by chance. The ratio is therefore shrunk
  # to its value for the slope `prior_slope`.
  prior_ratio <- 1 - prior_slope^2 * explained_share
  # If predictions are useless, residuals equal `y`, so the ratio is the design effect of weights.
  design_effect <- colSums(w^2) / colSums(w > 0)
  (sum_of_squares(residual, w, w^2) + n_prior_cases * prior_ratio * variance * design_effect) /
    (sum_of_squares(y, w, w^2) / design_effect + n_prior_cases * variance)
}

# Returns the share of the variance of correctness that ratings are expected to explain, before any
# gold case is labelled. Correctness is 1 for a correct answer and 0 for a wrong one. `prediction`:
# result of summarise_predictions(). `variance`: variance of correctness. For calibrated
# predictions, the share would be the ratio of the variances. The square of this ratio is lower.
expected_explained_share <- function(prediction, variance) {
  if (variance > 0) min(0.9, (prediction$variance / variance)^2) else 0
}
# Standard deviation, over public data sets, of the difference between the actual share of variance
# that ratings explain and the expected share.
explained_share_sd <- 0.2

# Returns the number of gold labels of cases without ratings that give the same precision as one
# gold label of a case with ratings: an estimate and two limits. `explained_share`: result of
# expected_explained_share().
equivalent_labels_with_range <- function(explained_share, conf_level) {
  share_margin <- normal_quantile(conf_level) * explained_share_sd
  limits <- clamp(
    explained_share + c(estimate = 0, conf.low = -share_margin, conf.high = share_margin), 0,
    max_explained_share
  )
  1 / (1 - limits)
}
max_explained_share <- 0.95 # upper limit of the share of variance that ratings may explain

# ---- Clusters ------------------------------------------------------------------------------------

# Smallest number of clusters with gold cases from which the variance between clusters is estimated.
min_clusters <- 5L

# Returns a variance ratio (see `ratio` in corrected_mean()) that allows for clusters. It is
# computed from sums of deviations over clusters, and is at least `ratio`.
# * x: means, a result of corrected_mean()
# * ratio: the variance ratio for independent cases
# * deviations: weighted deviations from the mean (gold cases x means)
# * fitted: number of parameters fitted to gold cases
# * variance: variance of the values of single cases
clustered_variance_ratio <- function(x, ratio, deviations, cluster, fitted, variance) {
  cluster_squares <- colSums(rowsum(deviations, cluster)^2) * x$clusters / (x$clusters - fitted)
  pmax(ratio, cluster_squares / (variance * x$gold))
}

# Returns p (1 - p), the variance of a value 0 or 1, for estimated shares p. If it is 0, returns the
# variance that corrected_share() computed, which is never 0. `x`: result of corrected_share().
share_variance <- function(x) {
  variance <- bernoulli_variance(clip01(x$estimate))
  ifelse(variance > 0, variance, x$variance)
}
