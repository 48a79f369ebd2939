# Measures systems with gold cases, which are cases with known truth, and with predictions from the
# ratings. Cases with the same ratings and answers are one pattern.

# Collects the data that measurements need. `gold`: result of read_gold(). A gold case with weight n
# is replicated n times. Returns fields by pattern: `predicted`, probability of each category from
# the ratings (patterns x categories; computed if NULL); `answer` (patterns x systems); `weight`,
# number of cases; `rated`, does it have ratings? And fields by gold case: `at`, number of its
# pattern; `case`; `truth`; `w`, sampling weight; `cluster`. `drawn`: were gold cases drawn with
# known probabilities?
gold_evidence <- function(x, gold, cluster = NULL, predicted = NULL) {
  weight <- weights_of_cases(x)
  n_gold <- sum(weight[gold$case])
  # Copies of gold cases with large weights could exceed the memory.
  abort_if(!is.null(x$weights) && n_gold > max_gold, "weights",
    "No more than {number(max_gold)} cases with known truth can be used.",
    x = "The weights of the cases in {.arg known_truth} sum to {number(n_gold)}.",
    i = "Give smaller {.arg weights}, or the truth of fewer cases.", call = NULL)
  gold_rows <- rep.int(seq_along(gold$case), weight[gold$case])
  case <- gold$case[gold_rows]
  # If every cluster is one case, clusters have no effect.
  if (anyDuplicated(cluster) == 0L && all(weight <= 1)) cluster <- NULL
  list(
    predicted = predicted %||% predict_categories(x), answer = x$patterns$answer,
    weight = pattern_weights(x), rated = rated_patterns(x), at = x$index[case], case = case,
    truth = gold$truth[gold_rows], w = drawn_weight(gold, gold_rows), cluster = cluster[case],
    drawn = !is.null(gold$probability)
  )
}

max_gold <- 1e7 # largest number of gold cases, if their weights are numbers of cases

# Selects gold cases for quantities (columns) that are computed from some of the patterns only.
# `used`: does a quantity use a pattern (patterns x quantities)? Patterns without ratings are left
# out unless gold cases are among them, because gold cases must be a sample of all cases that are
# used. Returns fields of `evidence` and, with a column or element per quantity: `weight`, number of
# cases of each pattern; `w`, sampling weight of each gold case (both 0 if not used); `gold`, number
# of gold cases; `stands`, do they represent all cases?
select_gold <- function(evidence, used) {
  used <- as.matrix(used)
  at <- evidence$at
  has_unrated_gold <- colSums(used[at, , drop = FALSE] & !evidence$rated[at]) > 0
  used <- used & (evidence$rated | rep(has_unrated_gold, each = nrow(used)))
  weight <- evidence$weight * used
  w <- evidence$w * used[at, , drop = FALSE]
  c(evidence[c("at", "truth", "cluster", "drawn")], list(
    weight = weight, w = w, gold = colSums(w > 0),
    stands = represent_all_cases(weight, w, evidence$drawn)
  ))
}

# Do gold cases represent all cases, for each column of `weight` (patterns) and `w` (gold cases)?
# The inverse probabilities `w` estimate the number of cases. If their sum is too far from it, some
# cases had no chance to be drawn, or the probabilities are wrong.
represent_all_cases <- function(weight, w, drawn) {
  cases <- colSums(weight)
  !drawn | abs(colSums(w) - cases) <= 4 * sqrt(colSums(w * (w - 1))) + 0.01 * cases
}

# Is the sum of the inverse probabilities larger than the number of cases, by more than sampling
# error? The probabilities are then wrong.
counts_too_many <- function(evidence) {
  weight <- evidence$weight
  sum(evidence$w) > sum(weight) &&
    !represent_all_cases(as.matrix(weight), as.matrix(evidence$w), evidence$drawn)
}

# Estimates quantities from gold cases and from predictions by ratings. Every function that measures
# with gold cases calls this function.
# `gold_data`: result of select_gold(). `y` (gold cases x quantities): value of each gold case, or
# its influence on the quantity. `q` (patterns x quantities): prediction of `y` from ratings.
# `correct`: function that computes corrected means, such as correct_share(). `settle`: function
# that converts corrected means to the quantities. `variance`: function that takes the quantities
# and returns, for each, the variance of the contribution of one case.
gold_quantity <- function(gold_data, y, q, correct, settle = identity,
                          variance = function(x) x$variance) {
  x <- settle(correct(y, q[gold_data$at, , drop = FALSE], prediction_of(q, gold_data$weight),
    w = gold_data$w))
  in_clusters(x, gold_data$cluster, variance(x), array(gold_data$w > 0, dim(x$rest)))
}

# Accuracies of systems with numbers `first` or, with `second`, their differences from the
# accuracies of systems `second`. Returns `known`: do gold cases measure the system or pair? Other
# fields have an element for each known system or pair: the fields of correct_mean(), and `differ`,
# share of cases on which the two answers differ; `one_right`, expected squared difference of a
# case; `all`, number of cases; `disputed`, number of gold cases on which the two answers differ.
gold_accuracy <- function(evidence, first, second = NULL) {
  if (is.null(evidence)) return(list(known = logical(length(first))))
  has_second <- !is.null(second)
  answers <- evidence$answer[, first, drop = FALSE]
  # Without a second system, answer 0 is used. It is never correct, so differences are accuracies.
  second_answers <- if (has_second) evidence$answer[, second, drop = FALSE] else 0L * answers
  at_gold <- function(x) x[evidence$at, , drop = FALSE]
  gold_data <- select_gold(evidence, answers > 0L & (second_answers > 0L | !has_second))
  differ <- answers != second_answers & gold_data$weight > 0
  known <- gold_data$gold > 0 & colSums(differ) > 0 &
    represent_all_cases(gold_data$weight * differ, gold_data$w * at_gold(differ), gold_data$drawn)
  if (!any(known)) return(list(known = known))
  known_columns <- function(x) x[, known, drop = FALSE]
  weight <- known_columns(gold_data$weight)
  w <- known_columns(gold_data$w)
  differ <- known_columns(differ)
  n_cases <- colSums(weight)
  differing_share <- colSums(weight * differ) / n_cases
  # Users may label only cases on which two answers differ, because other cases do not change the
  # difference. The mean is then taken over those cases and multiplied by their share.
  is_gold <- w > 0
  drawn_if_differ <- colSums(is_gold & !at_gold(differ)) == 0 & differing_share < 1 &
    differing_share^colSums(is_gold) < 0.01
  only_differing <- drawn_if_differ | !gold_data$stands[known]
  counts <- rep(!only_differing, each = nrow(differ)) | differ
  predicted_correct <- function(answer) {
    fill_unrated(predict_answer(evidence$predicted, known_columns(answer)), weight)
  }
  q_first <- predicted_correct(answers)
  q_second <- if (has_second) predicted_correct(second_answers) else 0
  is_correct <- function(answer) at_gold(known_columns(answer)) == evidence$truth
  gold_data[c("weight", "w")] <- list(weight * counts, w * at_gold(counts))
  x <- gold_quantity(
    gold_data, is_correct(answers) - is_correct(second_answers), differ * (q_first - q_second),
    if (has_second) correct_difference else correct_share,
    function(x) as_part(x, ifelse(only_differing, differing_share, 1), only_differing),
    if (has_second) function(x) x$variance else share_variance
  )
  if (!has_second) x$seen <- x$alone
  c(x, list(
    differ = differing_share, one_right = colSums(weight * differ * (q_first + q_second)) / n_cases,
    all = n_cases, disputed = colSums(is_gold & at_gold(differ)), known = known
  ))
}

# Measurements of system number `s`: the fields of gold_accuracy(), with one element each (or one
# column); NULL if gold cases do not measure it.
measured_of <- function(gold, s) {
  measured <- gold$measured
  if (!isTRUE(measured$known[s])) return(NULL)
  position <- sum(measured$known[seq_len(s)])
  lapply(measured[names(measured) != "known"], function(value) {
    if (is.matrix(value)) value[, position] else value[[position]]
  })
}

# Converts means over a part of the cases to means over all cases, in which the other cases have
# value 0. `share`: share of cases in the part (1 if the mean is over all cases). `is_part`: is the
# mean over a part (an element per mean)?
as_part <- function(x, share, is_part) {
  mean_square <- share * (x$variance + x$estimate^2)
  at_hand <- (mean_square - (share * x$estimate)^2) / (share * x$variance)
  x$at_hand[is_part] <- at_hand[is_part]
  x$design[is_part] <- x$design[is_part] + at_hand[is_part]
  x$variance <- share^2 * x$variance
  x <- modify_fields(x, c("estimate", "alone"), `*`, share)
  modify_fields(x, c("rest", "answers"), sweep, 2L, share, `*`)
}

# Gold cases that system number `s` answered, in the form of select_gold(); NULL if there are none
# or if they do not represent all cases that it answered.
gold_of_system <- function(evidence, s) {
  gold_data <- select_gold(evidence, evidence$answer[, s] > 0L)
  if (gold_data$gold == 0L || !gold_data$stands) return(NULL)
  gold_data$weight <- gold_data$weight[, 1L]
  modify_fields(gold_data, c("at", "truth", "cluster", "w"), `[`, gold_data$w > 0)
}

# Share of shared errors, with its interval, estimated from the accuracy on gold cases. It is 0 if
# this accuracy is equal to the value with independent errors (`independent`), and 1 if it is equal
# to the value with shared errors (`shared`). Shares are limited to [0, 1], and NA if the whole
# interval is outside. `interval`: result of corrected_interval().
gold_common <- function(interval, independent, shared) {
  distance <- independent - shared
  distance[abs(distance) < 1e-6] <- NA_real_
  share_at <- function(value) (independent - value) / distance
  shares_at_limits <- lapply(interval[c("conf.low", "conf.high")], share_at)
  lower <- Reduce(pmin, shares_at_limits)
  upper <- Reduce(pmax, shares_at_limits)
  outside <- (lower > 1 | upper < 0) %in% TRUE
  shares <- list(common = share_at(interval$estimate), common.low = lower, common.high = upper)
  lapply(shares, function(share) replace(clip01(share), outside, NA_real_))
}

# Estimates from ratings, for systems with numbers `s`: `estimate`, centre of the interval;
# `std.error`, total standard error; `bias`, the part of it that is not sampling error. Both errors
# are NA if the interval contains sampling error only.
estimates_from_ratings <- function(estimate, s) {
  error <- (estimate$gold$alone %||% estimate$table)$std.error[s]
  bias <- sqrt(pmax(0, error^2 - estimate$details$sampling[s]^2))
  list(estimate = estimate$details$centre[s], std.error = error + 0 * bias, bias = bias)
}

# ---- Predictions ---------------------------------------------------------------------------------

# The true category of each case is predicted from its ratings. Gold cases correct the mean error of
# these predictions.

# Probability of each category (patterns x categories; NA without ratings). It is the mean of two
# predictions: the posterior probability in a model with an accuracy per rater, and the share of
# ratings. For one rater it is the share only. Answers of systems and known truths are not used, so
# that gold cases are predicted like all other cases.
predict_categories <- function(x) {
  shares <- rating_shares(x)
  posterior <- posterior_of_raters(x)
  prediction <- if (anyNA(posterior[rowSums(is.na(shares)) == 0, ])) shares else
    (posterior + shares) / 2
  replace(prediction, is.na(shares), NA_real_)
}

rating_shares <- function(x) na_real(pattern_counts(x) / pattern_lengths(x))

posterior_of_raters <- function(x) {
  if (is_one_rater(x)) return(unknown_posterior(x))
  x <- keep_systems(x, integer())
  model <- if (has_counts(x)) k_model() else rater_k_model
  fit <- without_warnings(fit_checked(with_votes(x), model, NULL, NULL, NULL))
  posterior(fit)[matching_patterns(fit$x, x), , drop = FALSE]
}

# Predicted probability that an answer is correct, in the form of `answer`: a category number per
# pattern (0: no answer), or a matrix with a column per system. `predicted`: patterns x categories.
predict_answer <- function(predicted, answer) {
  cells <- cbind(as.vector(row(as.matrix(answer))), as.vector(replace(answer, answer == 0L, NA)))
  out <- predicted[cells]
  dim(out) <- dim(answer)
  out
}

# Replaces missing predictions `q`, of patterns without ratings, by the mean prediction of their
# column. `weight`: number of cases of each pattern.
fill_unrated <- function(q, weight) {
  if (!anyNA(q)) return(q)
  is_unrated <- is.na(q)
  weight <- as.matrix(weight * !is_unrated)
  mean <- colSums(weight * as.vector(replace(q, is_unrated, 0))) / colSums(weight)
  replace(q, is_unrated, rep(replace(mean, is.nan(mean), 0), each = nrow(weight))[is_unrated])
}

# ---- Correction ----------------------------------------------------------------------------------

# Gold cases are a random sample of cases with known truth. They measure errors that ratings do not
# identify. Ratings predict the probability that an answer is correct, and gold cases estimate the
# bias of such predictions. The result is valid without assumptions about raters: if predictions are
# useless, it is computed from gold cases only.
#
# In the functions below, `y` are values of gold cases, such as 1 for a correct answer; `q` their
# predictions; and `w` their weights (inverse sampling probabilities, on any scale; 0 leaves a case
# out). All may be matrices with a row per gold case and a column per mean.

# Prior mean of the slope of `y` on `q`, and the number of gold cases to which the prior is
# equivalent.
prior_slope <- 0.5
prior_cases <- 10

# Mean and variance of the prediction `q` over all cases, and the number of cases. `weight`: number
# of cases of each row. The divisor of the variance is the number of cases minus 1.
prediction_of <- function(q, weight = 1) {
  q <- as.matrix(q)
  weight <- matrix(weight, nrow(q), ncol(q))
  cases <- colSums(weight)
  mean <- colSums(weight * q) / cases
  squares <- colSums(weight * (q - rep(mean, each = nrow(q)))^2)
  list(mean = mean, variance = ifelse(cases > 1, squares / (cases - 1), 0), cases = cases)
}

# Corrected shares of cases: `y` is 0 or 1. The variance of `y` is computed from a share with one
# more case of either kind, so that it is not 0. In the share of variance that predictions explain,
# the denominator is at least the variance of a share equal to the mean prediction.
correct_share <- function(y, q, prediction, w = 1) {
  shrunk_variance <- function(mean, spread, gold) {
    share <- (gold * mean + 1) / (gold + 2)
    share * (1 - share)
  }
  correct_mean(y, q, prediction, shrunk_variance, prediction$mean * (1 - prediction$mean), w)
}

# Corrected difference of two systems' accuracies. `u` is 1 if only the first system is correct, -1
# if only the second is, and 0 otherwise. If their answers agree, `u` and its prediction are 0.
correct_difference <- function(u, q, prediction, w = 1) {
  correct_mean(u, q, prediction, function(mean, spread, gold) pmax(spread, 1 / gold), w = w)
}

# Estimates the mean of `y` over all cases: the mean of gold cases, minus `slope` times the
# difference between the mean predictions of gold cases and of all cases. `prediction`: result of
# prediction_of(). `scale`: function of the mean of `y`, its variance in gold cases, and the number
# of gold cases, that returns the variance of `y`. `least_variance`: lower limit of the variance of
# `y` to which the variance of predictions is compared.
#
# Returns a list with an element (or column) per mean: `estimate`; `alone`, the mean of gold cases;
# `slope`; `variance`, the variance of `y`; `ratio`, the variance of the estimate relative to that
# of a mean of gold cases with equal weights and no predictions; `rest` and `answers`, weighted
# deviations of gold cases from their mean, with and without predictions; `gold` and `cases`,
# numbers of gold cases and of all cases; `labels`, the number of gold cases that the user labelled;
# `design`, number of gold cases with unequal weights that are equivalent to one with equal weights;
# `at_hand`, variance of a case, in units of `variance`; `seen`, the share among gold cases, by
# which extend_to_ends() extends intervals (NA: not extended).
correct_mean <- function(y, q, prediction, scale, least_variance = 0, w = 1) {
  y <- as.matrix(y)
  q <- as.matrix(q)
  w <- matrix(w, nrow(y), ncol(y))
  n_gold <- as.integer(colSums(w > 0))
  w <- w * rep(n_gold / colSums(w), each = nrow(w))
  design <- colSums(w^2) / n_gold
  gold_mean <- colSums(w * y) / n_gold
  variance <- scale(gold_mean, sum_of_squares(y, w) / n_gold, n_gold / design)
  slope <- slope_on(y, q, prediction$variance, w, n_gold / design)
  explained <- pmin(1, prediction$variance / pmax(variance, least_variance))
  residuals <- function() y - rep(slope, each = nrow(y)) * q
  variance_ratio <- variance_left(y, residuals(), w, variance, explained)
  ignores_predictions <- !is.finite(variance_ratio) | variance_ratio >= design - 1e-12 | slope <= 0
  slope[ignores_predictions] <- 0
  remainder <- residuals()
  list(
    estimate = colSums(w * remainder) / n_gold + slope * prediction$mean, slope = slope,
    ratio = ifelse(ignores_predictions, design, variance_ratio), variance = variance,
    rest = w * centred(remainder, w), answers = w * centred(y, w), gold = n_gold, labels = n_gold,
    alone = gold_mean, cases = prediction$cases, design = design, at_hand = n_gold^0,
    seen = NA_real_ * n_gold
  )
}

centred <- function(x, w) x - rep(colSums(w * x) / colSums(w), each = nrow(x))

# Weighted sum of squared deviations from the mean, by column, times m / (m - 1) for m gold cases;
# 0 for a single case. `weight`: weights in the sum of squares. `w`: weights in the mean.
sum_of_squares <- function(x, w, weight = w) {
  n_gold <- colSums(w > 0)
  ifelse(n_gold > 1, colSums(weight * centred(x, w)^2) * n_gold / (n_gold - 1), 0)
}

# Regression slope of `y` on `q`, shrunk to `prior_slope` and limited to [0, 1]. `spread`: variance
# of `q` over all cases. `effective`: number of gold cases with equal weights that are equivalent.
slope_on <- function(y, q, spread, w, effective) {
  n_gold <- colSums(w > 0)
  slope <- colSums(w * centred(y, w) * centred(q, w)) / (n_gold - 1) / spread
  slope[n_gold <= 1] <- 0
  slope <- (effective * slope + prior_cases * prior_slope) / (effective + prior_cases)
  ifelse(spread <= 0, 0, clip01(slope))
}

# Variance of `residual` (`y` minus slope times `q`) relative to the variance of `y`, shrunk to the
# value for slope `prior_slope`. With few gold cases, `y` and `residual` may hardly vary by chance.
# `explained`: largest share of the variance that predictions can explain.
variance_left <- function(y, residual, w, variance, explained) {
  prior_ratio <- 1 - prior_slope^2 * explained
  # Both sums use squared weights, so that useless predictions leave the variance unchanged.
  design <- colSums(w^2) / colSums(w > 0)
  (sum_of_squares(residual, w, w^2) + prior_cases * prior_ratio * variance * design) /
    (sum_of_squares(y, w, w^2) / design + prior_cases * variance)
}

# Expected share of the variance of correctness that ratings explain, computed from predictions
# only, before any gold case is labelled. `variance`: variance of a case.
explained_by_ratings <- function(prediction, variance) {
  if (variance > 0) min(0.9, (prediction$variance / variance)^2) else 0
}
# Standard deviation of the true share around the expected share, over public data sets.
explained_deviation <- 0.2

# Number of gold labels without ratings that are equivalent to one gold label with ratings: an
# estimate with limits. `explained`: result of explained_by_ratings().
equivalent_labels <- function(explained, conf_level) {
  margin <- normal_quantile(conf_level) * explained_deviation
  limits <- clamp(explained + c(estimate = 0, conf.low = -margin, conf.high = margin), 0,
    max_explained)
  1 / (1 - limits)
}
max_explained <- 0.95 # upper limit of the share of variance that ratings may explain

# ---- Clusters ------------------------------------------------------------------------------------

# Least number of clusters with gold cases from which differences between clusters can be estimated.
min_clusters <- 5L

# Variance ratio computed from sums of `deviations` over clusters, but at least `ratio`, the ratio
# for independent cases. `fitted`: number of parameters fitted to gold cases.
clustered_ratio <- function(x, ratio, deviations, cluster, fitted, variance) {
  cluster_squares <- colSums(rowsum(deviations, cluster)^2) * x$clusters / (x$clusters - fitted)
  pmax(ratio, cluster_squares / (variance * x$gold))
}

# Variance of a case, p (1 - p) at the estimated share p. If it is 0, the variance of correct_mean()
# is used, which is never 0.
share_variance <- function(x) {
  share <- clip01(x$estimate)
  variance <- share * (1 - share)
  ifelse(variance > 0, variance, x$variance)
}
