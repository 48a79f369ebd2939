# Combines gold cases and ratings: from cases with known truth to measurements of systems
# (gold_quantity()), by pattern of cases.

# `gold`: result of read_gold(). Fields: `predicted` (patterns x categories); `answer` (patterns x
# systems); `weight`, the number of cases of a pattern; `rated`. For each gold case: `at`, its
# pattern; `case`, `truth`, `w` and `cluster`. `drawn`: were they drawn with known probabilities?
# Weights that count cases also replicate gold cases. For `predicted`, see predict_categories();
# NULL to compute it.
gold_evidence <- function(x, gold, cluster = NULL, predicted = NULL) {
  copies <- if (is.null(x$weights)) 1L else x$weights[gold$case]
  check_gold_size(sum(copies))
  rows <- rep.int(seq_along(gold$case), rep_len(copies, length(gold$case)))
  case <- gold$case[rows]
  # If every cluster is one case, clusters have no effect.
  if (anyDuplicated(cluster) == 0L && all(weights_of_cases(x) <= 1)) cluster <- NULL
  list(
    predicted = predicted %||% predict_categories(x), answer = x$patterns$answer,
    weight = pattern_weights(x), rated = rated_patterns(x), at = x$index[case], case = case,
    truth = gold$truth[rows], w = drawn_weight(gold, rows), cluster = cluster[case],
    drawn = !is.null(gold$probability)
  )
}

# Copies of gold cases with large weights could exceed the memory.
check_gold_size <- function(n, most = 1e7) {
  abort_if(n > most, "weights", "No more than {number(most)} cases of known truth can be used.",
    x = "The weights of those given stand for {number(n)}.",
    i = "Give smaller weights, or the truth of fewer cases.", call = NULL)
}

# Gold cases of quantities, each computed from some of the patterns: `used` (patterns x
# quantities). `weight`: number of cases of each pattern, and `w`: weight of each gold case, both 0
# if the pattern does not count. `gold`: number of gold cases. `stands`: do they represent all
# cases? Cases without ratings count if some of them are gold cases, so that gold cases are a sample
# of all cases that count.
gold_part <- function(evidence, used) {
  used <- as.matrix(used)
  at <- evidence$at
  unrated <- colSums(used[at, , drop = FALSE] & !evidence$rated[at]) > 0
  used <- used & (evidence$rated | rep(unrated, each = nrow(used)))
  weight <- evidence$weight * used
  w <- evidence$w * used[at, , drop = FALSE]
  c(evidence[c("at", "truth", "cluster", "drawn")], list(
    weight = weight, w = w, gold = colSums(w > 0), stands = stand_for(weight, w, evidence$drawn)
  ))
}

# Do gold cases represent all cases? The inverse probabilities must sum to the number of cases,
# within sampling error, unless some cases had no chance to be drawn.
stand_for <- function(weight, w, drawn) {
  cases <- colSums(weight)
  !drawn | abs(colSums(w) - cases) <= 4 * sqrt(colSums(w * (w - 1))) + 0.01 * cases
}

# Do the inverse probabilities sum to more than the number of cases? If so, they are wrong.
counts_too_many <- function(evidence) {
  weight <- evidence$weight
  sum(evidence$w) > sum(weight) &&
    !stand_for(as.matrix(weight), as.matrix(evidence$w), evidence$drawn)
}

# All measurements by gold cases use this function. `y` (gold cases x quantities): value of each
# gold case, or its influence on the quantity. `q` (patterns x quantities): prediction of `y` from
# ratings. `correct`: correct_share(), correct_difference() or a similar function. `settle`:
# converts the corrected mean to the quantity. `variance`: variance of a case, for clusters.
gold_quantity <- function(part, y, q, correct, settle = identity,
                          variance = function(x) x$variance) {
  x <- settle(correct(y, q[part$at, , drop = FALSE], prediction_of(q, part$weight), w = part$w))
  in_clusters(x, part$cluster, variance(x), array(part$w > 0, dim(x$rest)))
}

# Accuracies of systems `first` or, with `second`, differences from the accuracies of systems
# `second`. Returns values for systems or pairs that gold cases measure (`known`), with the fields
# of correct_mean() and: `differ`, the share of cases on which answers differ; `one_right`, the
# expected squared difference of a case; `all`, the number of cases; `disputed`, the number of gold
# cases on which answers differ.
gold_accuracy <- function(evidence, first, second = NULL) {
  if (is.null(evidence)) return(list(known = logical(length(first))))
  paired <- !is.null(second)
  answers <- evidence$answer[, first, drop = FALSE]
  compared <- if (paired) evidence$answer[, second, drop = FALSE] else 0L * answers # never right
  of_gold <- function(x) x[evidence$at, , drop = FALSE]
  part <- gold_part(evidence, answers > 0L & (compared > 0L | !paired))
  differ <- answers != compared & part$weight > 0
  known <- part$gold > 0 & colSums(differ) > 0 &
    stand_for(part$weight * differ, part$w * of_gold(differ), part$drawn)
  if (!any(known)) return(list(known = known))
  pick <- function(x) x[, known, drop = FALSE]
  part[c("weight", "w")] <- lapply(part[c("weight", "w")], pick)
  differ <- pick(differ)
  cases <- colSums(part$weight)
  share <- colSums(part$weight * differ) / cases
  # Gold cases may have been drawn only where answers differ, because other cases are not needed.
  gold <- part$w > 0
  drawn_there <- colSums(gold & !of_gold(differ)) == 0 & share < 1 & share^colSums(gold) < 0.01
  among <- drawn_there | !part$stands[known]
  counts <- rep(!among, each = nrow(differ)) | differ
  expected <- function(answer) {
    fill_unrated(predict_answer(evidence$predicted, pick(answer)), part$weight)
  }
  q <- expected(answers)
  q_compared <- if (paired) expected(compared) else 0
  right <- function(answer) of_gold(pick(answer)) == evidence$truth
  x <- gold_quantity(
    replace(part, c("weight", "w"), list(part$weight * counts, part$w * of_gold(counts))),
    right(answers) - right(compared), differ * (q - q_compared),
    if (paired) correct_difference else correct_share,
    function(x) as_part(x, ifelse(among, share, 1), among),
    if (paired) function(x) x$variance else share_variance
  )
  if (!paired) x$seen <- x$alone
  c(x, list(
    differ = share, one_right = colSums(part$weight * differ * (q + q_compared)) / cases,
    all = cases, disputed = colSums(gold & of_gold(differ)), known = known
  ))
}

# Measurements of system `s`, a number per field; NULL if gold cases do not measure it.
measured_of <- function(gold, s) {
  x <- gold$measured
  if (!isTRUE(x$known[s])) return(NULL)
  at <- sum(x$known[seq_len(s)])
  lapply(x[names(x) != "known"], function(value) {
    if (is.matrix(value)) value[, at] else value[[at]]
  })
}

# Converts means over a part of the cases to contributions to means over all cases, for `among`.
as_part <- function(x, share, among) {
  square <- share * (x$variance + x$estimate^2)
  at_hand <- (square - (share * x$estimate)^2) / (share * x$variance)
  x$at_hand[among] <- at_hand[among]
  x$design[among] <- x$design[among] + at_hand[among]
  x[c("estimate", "alone")] <- lapply(x[c("estimate", "alone")], `*`, share)
  x$variance <- share^2 * x$variance
  x[c("rest", "answers")] <- lapply(x[c("rest", "answers")], function(off) {
    off * rep(share, each = nrow(off))
  })
  x
}

# Gold cases that system `s` answered; NULL if none represent its cases.
gold_of_system <- function(evidence, s) {
  part <- gold_part(evidence, evidence$answer[, s] > 0L)
  if (part$gold == 0L || !part$stands) return(NULL)
  fields <- c("at", "truth", "cluster", "w")
  part[fields] <- lapply(part[fields], `[`, part$w > 0)
  part$weight <- part$weight[, 1L]
  part
}

# The share of shared errors estimated from gold cases: 0 at the end of the range with independent
# errors, 1 if all errors are shared. Shares are limited to [0, 1]; NA if the whole interval is
# outside. `interval`: result of corrected_interval().
gold_common <- function(interval, independent, shared) {
  range <- independent - shared
  range[abs(range) < 1e-6] <- NA_real_
  share_at <- function(value) (independent - value) / range
  ends <- lapply(interval[c("conf.low", "conf.high")], share_at)
  low <- do.call(pmin, unname(ends))
  high <- do.call(pmax, unname(ends))
  outside <- (low > 1 | high < 0) %in% TRUE
  shares <- list(common = share_at(interval$estimate), common.low = low, common.high = high)
  lapply(shares, function(share) replace(clip01(share), outside, NA_real_))
}

# Estimates from ratings, for systems with numbers `s`: centre of the interval, total standard
# error, and the part of it due to shared errors. Both errors are NA if the interval contains
# sampling error only.
estimates_from_ratings <- function(estimate, s) {
  table <- estimate$gold$alone %||% estimate$table
  error <- table$std.error[s]
  bias <- sqrt(pmax(0, error^2 - estimate$details$sampling[s]^2))
  list(estimate = estimate$details$centre[s], std.error = error + 0 * bias, bias = bias)
}

# ---- Predictions ---------------------------------------------------------------------------------

# Predictions from ratings, which are compared with gold cases. They are the mean of the posterior
# under a model with an accuracy per rater and of the share of ratings (for one rater, the share).
# Answers of systems and gold cases are not used, so that gold cases are predicted like all other
# cases.

# Patterns x categories; NA without ratings.
predict_categories <- function(x) {
  shares <- rating_shares(x)
  posterior <- posterior_of_raters(x)
  out <- if (anyNA(posterior[rowSums(is.na(shares)) == 0, ])) shares else (posterior + shares) / 2
  replace(out, is.na(shares), NA_real_)
}

rating_shares <- function(x) na_real(pattern_counts(x) / pattern_lengths(x))

posterior_of_raters <- function(x) {
  if (is_one_rater(x)) return(unknown_posterior(x))
  x$systems <- character()
  x$patterns <- pick_systems(x$patterns, 0L)
  model <- if (has_counts(x)) k_model() else rater_k_model
  fit <- suppressWarnings(
    fit_checked(with_votes(x), model, NULL, NULL, NULL), classes = "fallible_warning"
  )
  posterior(fit)[rows_for(fit$x, x), , drop = FALSE]
}

# Predicted probability of answers: a category per pattern (0 is none), or a column per system.
predict_answer <- function(predicted, answer) {
  at <- cbind(as.vector(row(as.matrix(answer))), as.vector(replace(answer, answer == 0L, NA)))
  out <- predicted[at]
  dim(out) <- dim(answer)
  out
}

# Cases without ratings get the mean prediction of the others.
fill_unrated <- function(q, weight) {
  if (!anyNA(q)) return(q)
  known <- !is.na(q)
  weight <- as.matrix(weight * known)
  mean <- colSums(weight * as.vector(replace(q, !known, 0))) / colSums(weight)
  replace(q, !known, rep(replace(mean, is.nan(mean), 0), each = nrow(weight))[!known])
}

# ---- Correction ----------------------------------------------------------------------------------

# Gold cases are a random sample of cases with known truth. They measure errors that ratings do not
# identify. Ratings predict the probability that an answer is correct, and gold cases estimate the
# bias of such predictions. The result is valid without assumptions about raters: if predictions are
# useless, it is computed from gold cases only.
#
# y: values of gold cases. q: their predictions. w: their weights (inverse probabilities of being
# gold, on any scale; 0 leaves a case out). N: number of all cases. All may be matrices, with a
# column per mean.

# Prior mean of the slope of y on q, and the number of gold cases to which the prior is equivalent.
prior_slope <- 0.5
prior_cases <- 10

# Mean and variance (divisor N - 1) of the prediction q over all cases, and their number. `weight`:
# number of cases of each row.
prediction_of <- function(q, weight = 1) {
  q <- as.matrix(q)
  weight <- matrix(weight, nrow(q), ncol(q))
  cases <- colSums(weight)
  mean <- colSums(weight * q) / cases
  squares <- colSums(weight * (q - rep(mean, each = nrow(q)))^2)
  list(mean = mean, variance = ifelse(cases > 1, squares / (cases - 1), 0), cases = cases)
}

# Shares of cases. With few gold cases their variance is that of a share with one more case of
# either kind. Explained variance is relative to at least m (1 - m), where m is the mean prediction.
correct_share <- function(y, q, prediction, w = 1) {
  scale <- function(mean, spread, gold) {
    share <- (gold * mean + 1) / (gold + 2)
    share * (1 - share)
  }
  correct_mean(y, q, prediction, scale, prediction$mean * (1 - prediction$mean), w)
}

# Difference of two systems' accuracies. u is 1 if only the first is correct, -1 if only the second
# is, otherwise 0. If the two answers agree, u and its prediction are 0.
correct_difference <- function(u, q, prediction, w = 1) {
  correct_mean(u, q, prediction, function(mean, spread, gold) pmax(spread, 1 / gold), w = w)
}

# The mean of y over all cases: the mean of gold cases, minus `slope` times the difference between
# the mean predictions of gold cases and of all cases. `scale(mean, spread, gold)`: the variance of
# y to which few gold cases are shrunk. `least_variance`: lower limit of the variance of y to
# which the variance of predictions is compared.
#
# Result: `estimate`; `alone`, the estimate from gold cases only; `slope`; `ratio`, the variance
# with predictions relative to that without (1, or `design` with unequal weights, if predictions are
# not used); `variance`, that of y; `rest` and `answers`, weighted deviations of gold cases with and
# without predictions; `gold` and `cases`, numbers; `labels`, number of gold cases needed; `design`,
# number of gold cases with unequal weights that are equivalent to one with equal weights;
# `at_hand`, variance of a case, in units of `variance` (1); `seen`, see reach_ends().
correct_mean <- function(y, q, prediction, scale, least_variance = 0, w = 1) {
  y <- as.matrix(y)
  q <- as.matrix(q)
  w <- matrix(w, nrow(y), ncol(y))
  m <- as.integer(colSums(w > 0))
  w <- w * rep(m / colSums(w), each = nrow(w))
  design <- colSums(w^2) / m
  alone <- colSums(w * y) / m
  variance <- scale(alone, sum_of_squares(y, w) / m, m / design)
  slope <- slope_on(y, q, prediction$variance, w, m / design)
  explained <- pmin(1, prediction$variance / pmax(variance, least_variance))
  residuals <- function() y - rep(slope, each = nrow(y)) * q
  left <- variance_left(y, residuals(), w, variance, explained)
  unaided <- !is.finite(left) | left >= design - 1e-12 | slope <= 0
  slope[unaided] <- 0
  rest <- residuals()
  list(
    estimate = colSums(w * rest) / m + slope * prediction$mean, slope = slope,
    ratio = ifelse(unaided, design, left), variance = variance, rest = w * centred(rest, w),
    answers = w * centred(y, w), gold = m, labels = m, alone = alone, cases = prediction$cases,
    design = design, at_hand = rep(1, length(m)), seen = rep(NA_real_, length(m))
  )
}

centred <- function(x, w) x - rep(colSums(w * x) / colSums(w), each = nrow(x))

# m / (m - 1) times the weighted sum of squares; 0 for a single case.
sum_of_squares <- function(x, w, weight = w) {
  m <- colSums(w > 0)
  ifelse(m > 1, colSums(weight * centred(x, w)^2) * m / (m - 1), 0)
}

# `spread`: variance of q over all cases. `effective`: equivalent number of gold cases.
slope_on <- function(y, q, spread, w, effective) {
  m <- colSums(w > 0)
  slope <- colSums(w * centred(y, w) * centred(q, w)) / (m - 1) / spread
  slope[m <= 1] <- 0
  slope <- (effective * slope + prior_cases * prior_slope) / (effective + prior_cases)
  ifelse(spread <= 0, 0, pmin(pmax(slope, 0), 1))
}

# Variance of `residual`, relative to the variance of y. Few gold cases may vary less than
# predictions, which explain at most the share `explained` of the variance.
variance_left <- function(y, residual, w, variance, explained) {
  before <- 1 - prior_slope^2 * explained
  # Both sums use squared weights, so that useless predictions leave the variance unchanged.
  design <- colSums(w^2) / colSums(w > 0)
  (sum_of_squares(residual, w, w^2) + prior_cases * before * variance * design) /
    (sum_of_squares(y, w, w^2) / design + prior_cases * variance)
}

# Expected share of the variance of y that ratings explain, computed from the agreement of raters.
# `explained_deviation` is the standard deviation of the true share over real data sets.
explained_by_ratings <- function(prediction,
                                 variance = prediction$mean * (1 - prediction$mean)) {
  share <- if (variance > 0) prediction$variance / variance else 0
  min(0.9, share^2)
}
explained_deviation <- 0.2

# Number of gold labels without ratings that are equivalent to one gold label with ratings: an
# estimate from ratings, and a range.
equivalent_labels <- function(explained, conf_level) {
  margin <- normal_quantile(conf_level) * explained_deviation
  ends <- pmin(pmax(explained + c(0, -margin, margin), 0), most_explained)
  setNames(1 / (1 - ends), c("estimate", "conf.low", "conf.high"))
}
most_explained <- 0.95

# ---- Clusters ------------------------------------------------------------------------------------

# Least number of clusters with gold cases from which differences between clusters can be estimated.
fewest_clusters <- 5L

# The correction for gold cases in clusters: `cluster` of each gold case, or NULL. A slope that
# reduces the variance for independent cases may not do so for clusters. `variance`: variance of y
# on which the size of the interval is based. `counts`: gold cases that enter each mean.
in_clusters <- function(x, cluster, variance = share_variance(x), counts = TRUE | x$rest) {
  if (is.null(cluster)) return(x)
  x$clusters <- as.double(colSums(rowsum(1 * counts, cluster) > 0))
  enough <- x$clusters >= fewest_clusters
  # Few clusters are also fitted by a slope.
  ratio <- clustered_ratio(x, x$ratio, x$rest, cluster, 1L + (x$slope > 0), variance)
  unaided <- clustered_ratio(x, x$design, x$answers, cluster, 1L, variance)
  worse <- which(enough & ratio >= unaided)
  x$estimate[worse] <- x$alone[worse]
  x$slope[worse] <- 0
  x$rest[, worse] <- x$answers[, worse]
  x$ratio <- ifelse(enough, pmin(ratio, unaided), x$ratio)
  x$at_hand <- x$at_hand * ifelse(enough, unaided / x$design, 1)
  x$design <- ifelse(enough, unaided, x$design)
  x
}

# At least the ratio for independent cases. `fitted`: number of parameters fitted to gold cases.
clustered_ratio <- function(x, ratio, deviations, cluster, fitted, variance) {
  between <- colSums(rowsum(deviations, cluster)^2) * x$clusters / (x$clusters - fitted)
  pmax(ratio, between / (variance * x$gold))
}

# Variance of a share at the estimate; if it is zero, the variance for few cases.
share_variance <- function(x) {
  share <- clip01(x$estimate)
  variance <- share * (1 - share)
  ifelse(variance > 0, variance, x$variance)
}
