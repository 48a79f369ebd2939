# Accuracies of systems from gold cases (cases with known truth), with predictions from ratings as
# control variates. Cases with the same ratings and answers of systems are one pattern.

# Collects the data from which accuracies are estimated with gold cases. `x`: ratings. `gold`:
# result of read_gold(). A gold case with weight n is replicated n times. Returns a list. Fields by
# pattern of ratings: `predicted`, probability of each category given the ratings (patterns x
# categories; computed if the argument is NULL); `answer` (patterns x systems); `weight`, number of
# cases; `rated`, does the pattern have ratings? Fields by gold case: `at`, index of its pattern;
# `case`; `truth`; `w`, sampling weight; `cluster`. `drawn`: were gold cases drawn with known
# probabilities? `all_clusters`: pattern, cluster and weight of all cases.
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
    drawn = !is.null(gold$probability),
    all_clusters = if (!is.null(cluster))
      list(pattern = x$index, cluster = cluster, weight = weight)
  )
}

max_gold <- 1e7 # largest number of gold cases, if their weights are numbers of cases

# Selects the gold cases from which each quantity is estimated, such as the cases that a system
# answered. `evidence`: result of gold_evidence(). `used`: does a quantity depend on a pattern
# (patterns x quantities)? Patterns without ratings are left out unless they contain gold cases,
# because gold cases must be a sample of all cases that are used. Returns some fields of `evidence`
# and, with a column or element per quantity: `weight`, number of cases of each pattern; `w`,
# sampling weight of each gold case (both 0 if not used); `gold`, number of gold cases;
# `representative`, do gold cases represent all cases?
select_gold <- function(evidence, used) {
  used <- as.matrix(used)
  at <- evidence$at
  has_unrated_gold <- colSums(used[at, , drop = FALSE] & !evidence$rated[at]) > 0
  used <- used & (evidence$rated | rep(has_unrated_gold, each = nrow(used)))
  weight <- evidence$weight * used
  w <- evidence$w * used[at, , drop = FALSE]
  c(evidence[c("at", "truth", "cluster", "all_clusters", "drawn")], list(
    weight = weight, w = w, gold = colSums(w > 0),
    representative = are_representative(weight, w, evidence$drawn)
  ))
}

# Do gold cases represent all cases? Returns an element per column of `weight` (number of cases of
# each pattern) and of `w` (inverse sampling probability of each gold case). The sum of `w`
# estimates the number of cases. If it differs from this number by more than 4 standard errors plus
# 1%, some cases had no chance to be drawn, or the probabilities are wrong. `drawn`: are they known?
are_representative <- function(weight, w, drawn) {
  cases <- colSums(weight)
  !drawn | abs(colSums(w) - cases) <= 4 * sqrt(colSums(w * (w - 1))) + 0.01 * cases
}

# Is the sum of inverse sampling probabilities larger than the number of cases, by more than
# sampling error? If so, the user gave wrong probabilities. `evidence`: result of gold_evidence().
counts_too_many <- function(evidence) {
  weight <- evidence$weight
  sum(evidence$w) > sum(weight) &&
    !are_representative(as.matrix(weight), as.matrix(evidence$w), evidence$drawn)
}

# Estimates quantities, such as accuracies, from gold cases and from predictions by ratings. Returns
# a list in the form of correct_mean(). `gold_data`: result of select_gold(). `y` (gold cases x
# quantities): value of each gold case, such as 1 for a correct answer, or its influence on the
# quantity. `q` (patterns x quantities): prediction of `y` from ratings. `correct`: function that
# computes corrected means, such as correct_share(). `settle`: function that converts the corrected
# means to the quantities. `variance`: function that takes the result of `settle` and returns, for
# each quantity, the variance of the contribution of one case.
gold_quantity <- function(gold_data, y, q, correct, settle = identity,
                          variance = function(x) x$variance) {
  x <- settle(correct(y, q[gold_data$at, , drop = FALSE], prediction_of(q, gold_data$weight),
    w = gold_data$w))
  adjust_for_clusters(x, gold_data$cluster, variance(x), array(gold_data$w > 0, dim(x$rest)),
    design_of_predictions(q, gold_data$weight, gold_data$all_clusters))
}

# Estimates accuracies of the systems with numbers `first` from gold cases or, with `second`, the
# differences between accuracies of `first` and `second`. `evidence`: result of gold_evidence().
# Returns a list. `known`: do gold cases measure the system or pair? All other fields have an
# element only for each known system or pair: the fields of correct_mean(), and `differ`, share of
# cases on which the two answers differ; `one_right`, expected squared difference of a case,
# predicted from ratings; `all`, number of cases; `disputed`, number of gold cases on which the two
# answers differ.
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
    are_representative(gold_data$weight * differ, gold_data$w * at_gold(differ), gold_data$drawn)
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
  only_differing <- drawn_if_differ | !gold_data$representative[known]
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
    function(x) mean_over_all(x, ifelse(only_differing, differing_share, 1), only_differing),
    if (has_second) function(x) x$variance else share_variance
  )
  if (!has_second) x$seen <- x$alone
  c(x, list(
    differ = differing_share, one_right = colSums(weight * differ * (q_first + q_second)) / n_cases,
    all = n_cases, disputed = colSums(is_gold & at_gold(differ)), known = known
  ))
}

# Returns the element (or column) of system number `s` of each field of gold_accuracy(), as a list;
# NULL if gold cases do not measure the system. `gold`: see with_gold().
extract_measured <- function(gold, s) {
  measured <- gold$measured
  if (!isTRUE(measured$known[s])) return(NULL)
  position <- sum(measured$known[seq_len(s)])
  lapply(measured[names(measured) != "known"], function(value) {
    if (is.matrix(value)) value[, position] else value[[position]]
  })
}

# Converts means over a part of the cases to means over all cases, where all other cases have the
# value 0. `x`: result of correct_mean(). `share`: share of cases in the part, 1 for means over all
# cases. `is_part`: is it a mean over a part? Both have an element per mean.
mean_over_all <- function(x, share, is_part) {
  mean_square <- share * (x$variance + x$estimate^2)
  at_hand <- (mean_square - (share * x$estimate)^2) / (share * x$variance)
  x$at_hand[is_part] <- at_hand[is_part]
  x$design[is_part] <- x$design[is_part] + at_hand[is_part]
  x$variance <- share^2 * x$variance
  x <- modify_fields(x, c("estimate", "alone"), `*`, share)
  modify_fields(x, c("rest", "answers"), sweep, 2L, share, `*`)
}

# Returns the gold cases that system number `s` answered, in the form of select_gold() but with
# vectors; NULL if there are none, or if they do not represent all cases that the system answered.
gold_of_system <- function(evidence, s) {
  gold_data <- select_gold(evidence, evidence$answer[, s] > 0L)
  if (gold_data$gold == 0L || !gold_data$representative) return(NULL)
  gold_data$weight <- gold_data$weight[, 1L]
  modify_fields(gold_data, c("at", "truth", "cluster", "w"), `[`, gold_data$w > 0)
}

# Estimates from gold cases what share of the raters' errors a system shares, with an interval. It
# is 0 if the accuracy on gold cases is equal to `independent`, and 1 if it is equal to `shared`.
# These are the accuracies computed from ratings if errors are independent, or shared. Shares are
# limited to [0, 1], and NA if the whole interval is outside. `interval`: result of
# corrected_interval().
gold_common <- function(interval, independent, shared) {
  distance <- independent - shared
  distance[abs(distance) < 1e-6] <- NA_real_
  share_at <- function(value) (independent - value) / distance
  shares_at_limits <- lapply(interval[limit_columns], share_at)
  lower <- Reduce(pmin, shares_at_limits)
  upper <- Reduce(pmax, shares_at_limits)
  outside <- (lower > 1 | upper < 0) %in% TRUE
  shares <- list(common = share_at(interval$estimate), common.low = lower, common.high = upper)
  lapply(shares, function(share) replace(clip01(share), outside, NA_real_))
}

# Returns the estimates from ratings only of the systems with numbers `s`, as a list: `estimate`,
# centre of the interval; `std.error`, total standard error; `bias`, the part of the standard error
# that is not sampling error. Both errors are NA if the sampling error is unknown.
estimates_from_ratings <- function(estimate, s) {
  error <- (estimate$gold$alone %||% estimate$table)$std.error[s]
  bias <- sqrt(pmax(0, error^2 - estimate$details$sampling[s]^2))
  list(estimate = estimate$details$centre[s], std.error = error + 0 * bias, bias = bias)
}

# ---- Predictions ---------------------------------------------------------------------------------

# The true category of each case is predicted from its ratings. Gold cases correct the mean error of
# these predictions.

# Predicts the true category of cases from their ratings: returns the probability of each category
# (patterns x categories; NA for patterns without ratings). It is the mean of two predictions: the
# posterior probability in a model with an accuracy per rater, and the share of ratings. For one
# rater it is only the share. Answers of systems and known truths are not used, so that gold cases
# are predicted like all other cases.
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

# Returns the predicted probability that an answer is correct, NA without an answer. `predicted`:
# probabilities of categories (patterns x categories). `answer`: category number of each pattern (0:
# no answer), or a matrix with a column per system; the result has the same form.
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
# bias of these predictions (prediction-powered inference). The result is valid without assumptions
# about raters: if predictions are useless, it is computed from gold cases only.
#
# In the functions below, `y` contains values of gold cases, such as 1 for a correct answer; `q`,
# predictions of `y`; and `w`, weights of gold cases (inverse sampling probabilities, on any scale;
# 0 leaves a case out). All may be matrices with a row per gold case and a column per estimated
# mean.

# Prior mean of the regression slope of `y` on `q`, and the number of gold cases to which this prior
# is equivalent.
prior_slope <- 0.5
prior_cases <- 10

# Returns the mean and variance of predictions `q` over all cases (not only gold cases), and the
# number of cases, for each column of `q`. `weight`: number of cases of each row.
prediction_of <- function(q, weight = 1) {
  q <- as.matrix(q)
  weight <- matrix(weight, nrow(q), ncol(q))
  cases <- colSums(weight)
  mean <- colSums(weight * q) / cases
  squares <- colSums(weight * (q - rep(mean, each = nrow(q)))^2)
  list(mean = mean, variance = ifelse(cases > 1, squares / (cases - 1), 0), cases = cases)
}

# Estimates shares of cases by correct_mean(); `y` is 0 or 1. The variance of `y` is computed as if
# there were one more gold case with value 0 and one with value 1, so that it is not 0.
# `least_variance`, with which the variance of predictions is compared, is m (1 - m) for the mean
# prediction m.
correct_share <- function(y, q, prediction, w = 1) {
  shrunk_variance <- function(mean, spread, gold) {
    share <- (gold * mean + 1) / (gold + 2)
    share * (1 - share)
  }
  correct_mean(y, q, prediction, shrunk_variance, prediction$mean * (1 - prediction$mean), w)
}

# Estimates differences between the accuracies of two systems by correct_mean(). `u` is 1 if only
# the first system is correct, -1 if only the second is correct, and 0 otherwise. If their answers
# agree, `u` and its prediction `q` are 0.
correct_difference <- function(u, q, prediction, w = 1) {
  correct_mean(u, q, prediction, function(mean, spread, gold) pmax(spread, 1 / gold), w = w)
}

# Estimates the mean of `y` over all cases: the mean of gold cases, minus `slope` times the
# difference between the mean predictions of gold cases and of all cases. `prediction`: result of
# prediction_of(). `scale`: function of the mean of `y`, its variance in gold cases, and the number
# of gold cases, that returns the variance of `y`. `least_variance`: lower limit of the variance of
# `y` to which the variance of predictions is compared.
#
# Returns a list with an element (or column) per mean: `estimate`; `alone`, the mean of gold cases
# without predictions; `slope`; `variance`, the variance of `y`; `ratio`, the variance of the
# estimate relative to the variance of a mean of gold cases with equal weights and no predictions;
# `rest` and `answers`, weighted deviations of y - slope q, and of `y`, from their means over gold
# cases; `gold` and `cases`, numbers of gold cases and of all cases; `labels`, number of gold cases
# that can contradict the estimate from ratings; `design`, design effect of unequal weights (Kish);
# `at_hand`, variance of a case for the sampling error of all cases, relative to `variance`; `seen`,
# share of correct gold cases for extend_to_ends(), NA if intervals are not extended.
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

# Returns, for each column of `x`, the weighted sum of squared deviations from the mean, times m /
# (m - 1) for m gold cases; 0 for a single case. `weight` is used in the sum of squares, `w` in the
# mean.
sum_of_squares <- function(x, w, weight = w) {
  n_gold <- colSums(w > 0)
  ifelse(n_gold > 1, colSums(weight * centred(x, w)^2) * n_gold / (n_gold - 1), 0)
}

# Returns the regression slope of `y` on `q`, shrunk to `prior_slope` and limited to [0, 1].
# `spread`: variance of `q` over all cases. `effective`: gold cases / design effect.
slope_on <- function(y, q, spread, w, effective) {
  n_gold <- colSums(w > 0)
  slope <- colSums(w * centred(y, w) * centred(q, w)) / (n_gold - 1) / spread
  slope[n_gold <= 1] <- 0
  slope <- (effective * slope + prior_cases * prior_slope) / (effective + prior_cases)
  ifelse(spread <= 0, 0, clip01(slope))
}

# Returns the variance of `residual` (`y` minus slope times `q`) relative to the variance of `y`,
# for `ratio` in correct_mean(). It is shrunk to the value for slope `prior_slope`, because few gold
# cases may hardly vary by chance. `explained`: largest share that predictions can explain.
variance_left <- function(y, residual, w, variance, explained) {
  prior_ratio <- 1 - prior_slope^2 * explained
  # Both sums use squared weights, so that useless predictions leave the variance unchanged.
  design <- colSums(w^2) / colSums(w > 0)
  (sum_of_squares(residual, w, w^2) + prior_cases * prior_ratio * variance * design) /
    (sum_of_squares(y, w, w^2) / design + prior_cases * variance)
}

# Returns the share of the variance of correctness (1 if an answer is correct, 0 otherwise) that
# ratings are expected to explain, before any gold case is labelled. `prediction`: result of
# prediction_of(). `variance`: variance of correctness.
explained_by_ratings <- function(prediction, variance) {
  if (variance > 0) min(0.9, (prediction$variance / variance)^2) else 0
}
# Standard deviation of the true share around the expected share, in public data sets.
explained_deviation <- 0.2

# Returns the number of gold labels without ratings that give the same precision as one gold label
# with ratings: an estimate with limits. `explained`: see explained_by_ratings().
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

# Returns the variance ratio (see correct_mean()) from sums of `deviations` over clusters. It is at
# least `ratio`, for independent cases. `fitted`: number of parameters fitted to gold cases.
clustered_ratio <- function(x, ratio, deviations, cluster, fitted, variance) {
  cluster_squares <- colSums(rowsum(deviations, cluster)^2) * x$clusters / (x$clusters - fitted)
  pmax(ratio, cluster_squares / (variance * x$gold))
}

# Returns the variance p (1 - p) of a case, for estimated shares p. If it is 0, the variance that
# correct_share() computed is used, which is never 0. `x`: result of correct_share().
share_variance <- function(x) {
  share <- clip01(x$estimate)
  variance <- share * (1 - share)
  ifelse(variance > 0, variance, x$variance)
}
