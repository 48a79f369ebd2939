# Scores as evidence about the truth: the joint model of ratings and scores, or scores that are used
# as probabilities of the truth.

#' Joint model of ratings and scores
#'
#' Estimates the probability of each category for each case from ratings and from the scores that
#' systems (classifiers) give to the categories. [estimate_metrics()] and [estimate_accuracy()] can
#' then evaluate the systems with these probabilities. With `trust`, the scores of some systems are
#' used as the probabilities.
#'
#' @section Joint model (without `trust`):
#' The model needs at least three raters and systems in total, or known truths. Each rater, and each
#' system without scores, has a confusion matrix (probabilities of answers, given the true
#' category). Each system with scores has a distribution of its score for each true category.
#' Ratings and scores are assumed independent given the truth. Scores need not be calibrated, and
#' need not be probabilities. The model is fitted by the EM algorithm.
#'
#' The distribution of a score is a histogram whose bins have equal numbers of cases. For `n` scored
#' cases there are `(2 n)^(1/3)` bins, rounded up (Terrell and Scott 1985). The log density is
#' interpolated linearly between the middles of neighbouring bins. With more than two categories,
#' the cases are grouped by the category with the highest score, and each group has separate bins.
#' The distribution for each true category is shrunk towards the distribution over all cases, with
#' the weight of one case.
#'
#' Systems that were trained on the same data make the same errors. Their agreement then makes them
#' look better than they are. To measure this, compare the estimates with cases of known truth that
#' were not given as `known_truth`.
#'
#' @section Trusted scores: `trust` assumes that scores are calibrated. A system that is certain and
#' wrong then looks good. If only one system is trusted, its calibration error (`ece`, see
#' [score_metrics]) is about 0 by construction. Use the result as a baseline only.
#'
#' @param x [ratings()] with scores.
#' @param known_truth Cases whose true category is known, as in [fit_raters()]. `NULL`, the default,
#'   for none.
#' @param raters Names of the raters whose ratings are used. `NULL`, the default, uses all raters;
#'   `character()` uses none.
#' @param trust Names of systems whose scores are used as probabilities. The probability of each
#'   category is the mean of these scores over the systems. `NULL`, the default, fits the joint
#'   model.
#' @param ... Not used.
#' @return An object of class `rater_fit` with the estimated probabilities, as returned by
#'   [as_rater_fit()].
#' @family estimation
#' @references Terrell, G. R. and Scott, D. W. (1985). Oversmoothed nonparametric density estimates.
#'   *Journal of the American Statistical Association*, 80, 209-214.
#' @examples
#' set.seed(1)
#' truth <- rep(c("no", "yes"), c(120, 80))
#' score <- function() plogis(2 * rnorm(200, ifelse(truth == "yes", 1, -1)))
#' rater <- function() ifelse(runif(200) < 0.75, truth, rev(truth))
#' cases <- data.frame(r1 = rater(), r2 = rater(), p = score(), q = score())
#' cases$a <- ifelse(cases$p > 0.5, "yes", "no")
#' cases$b <- ifelse(cases$q > 0.5, "yes", "no")
#' scores <- list(a = c(yes = "p"), b = c(yes = "q"))
#' x <- ratings(cases, raters = r1:r2, systems = c(a, b), scores = scores)
#' fit <- fit_scores(x)
#' estimate_metrics(fit, c("roc_auc", "ece"), resampling = list(replicates = 50))
#' @export
fit_scores <- function(x, known_truth = NULL, raters = NULL, trust = NULL, ...) {
  check_call()
  x <- check_several_raters(with_votes(as_ratings(x)))
  abort_argument_if(is.null(x$scores), "x", "{.arg x} has no scores.",
    i = "Give {.arg scores} to {.fun ratings}.")
  joint <- is.null(trust)
  is_used <- seq_along(x$raters) %in% find_subset(raters %||% x$raters, x$raters, "rater")
  if (!joint) {
    check_names_among(trust, names(x$scores$values), "trust")
    abort_argument_if(x$scores$scale != "probability", "trust",
      "Scores that only order cases cannot be used as probabilities.",
      i = "Leave out {.arg trust}: the joint model uses only the order of scores.")
  }
  sources <- sum(is_used) + n_systems(x)
  # With two sources, the model is not identified: other distributions fit equally well.
  abort_argument_if(joint && is.null(known_truth) && sources < 3L, "x",
    "Without known truths, the joint model needs at least three raters and systems in total.",
    x = "There {?is/are} {sources}.",
    i = "Give {.arg known_truth}, or {.arg trust}.")
  checked <- resolve_known(x, known_truth, NULL)
  x <- checked$x
  truth <- if (is.null(known_truth)) integer(length(x$index)) else truth_of_patterns(x)[x$index]
  codes <- if (joint) score_codes(x)
  values <- do.call(cbind, codes %||% unname(x$scores$values[trust]))
  # Cases with different scores or known truths get separate patterns. -1 means no score.
  values[is.na(values)] <- -1
  x <- split_patterns(
    x, c(list(.truth = truth), split_columns(values, paste0(".score", seq_len(ncol(values)))))
  )
  case_of_pattern <- first_cases(x)
  truth <- as.integer(truth[case_of_pattern])
  if (joint) {
    codes <- lapply(codes, function(code) code[case_of_pattern, , drop = FALSE])
    fit <- fit_evidence(x, codes, truth, is_used, case_of_pattern)
    description <- "joint model of ratings and scores"
  } else {
    fit <- trusted_scores(x, trust, truth, case_of_pattern)
    description <- paste("scores of", shorten(trust), "used as probabilities")
  }
  known <- if (any(truth > 0L)) replace(nothing_known, "truth", list(truth)) else nothing_known
  new_posterior_fit(x, fit$posterior[x$index, , drop = FALSE], fit$rates, description,
    kind = c("score_fit", "posterior_fit"), known = known, refit = fit$refit,
    judged = fit$judged, given = checked$given,
    scored = list(raters = if (joint) sum(is_used) else 0L))
}

# ---- Codes of scores: bins and positions ---------------------------------------------------------

# Turns scores and answers into codes for the joint model. Returns a list of two matrices, cases x
# systems. `code`: number of the bin of the score, or answer of a system without scores; 0 if the
# system did not answer. `place`: position of the score on the scale of bins, on which each bin has
# length 1; 0 without a score.
score_codes <- function(x) {
  weight <- weights_of_cases(x)
  answer <- case_answers(x)
  codes <- lapply(seq_along(x$systems), function(s) {
    scores <- x$scores$values[[x$systems[[s]]]]
    if (is.null(scores)) return(list(code = answer[, s], place = 0 * answer[, s]))
    bins_of_scores(scores, weight, x$scores$scale, answer[, s])
  })
  do.call(Map, c(cbind, codes))
}

# Bins of the scores of one system: a list of `code` and `place` (see score_codes()), an element per
# case. Only one score of each case is binned. With two categories, it is the score of the second.
# With more categories, it is the highest score if scores are probabilities, and otherwise the score
# of the system's answer. Scores of different categories have separate bins. Their places are more
# than `bins_between` from each other, so that within_bins() does not interpolate between them.
bins_of_scores <- function(values, weight, scale, answer) {
  scored_cases <- which(!is.na(values[, 1L]) & weight > 0)
  out <- list(code = integer(nrow(values)), place = numeric(nrow(values)))
  binned_category <- if (ncol(values) == 2L) {
    rep(2L, length(scored_cases))
  } else if (scale == "probability") {
    max.col(values[scored_cases, , drop = FALSE], "first")
  } else {
    ifelse(answer[scored_cases] > 0L, answer[scored_cases], 1L)
  }
  for (k in sort(unique(binned_category))) {
    cases <- scored_cases[binned_category == k]
    bins <- equal_bins(values[cases, k], weight[cases])
    out$code[cases] <- max(out$code) + bins$code
    out$place[cases] <- ceiling(max(out$place)) + bins_between + bins$place
  }
  out
}

bins_between <- 2

# Divides scores into bins with equal numbers of cases. The number of bins follows Terrell and Scott
# (1985). Tied scores are in the same bin. `weight`: weight of each case.
equal_bins <- function(score, weight) {
  total <- sum(weight)
  n_bins <- ceiling((2 * total)^(1 / 3))
  distinct_scores <- sort(unique(score))
  tie_group <- match(score, distinct_scores)
  group_weight <- rowsum_codes(tie_group, weight, length(distinct_scores))
  place <- n_bins * (cumsum(group_weight) - group_weight / 2) / total
  bin <- pmin(floor(place), n_bins - 1)
  list(code = match(bin, unique(bin))[tie_group], place = place[tie_group])
}

# Interpolates the log probability of a score between the middles of neighbouring bins, so that the
# cases of a bin have different probabilities. Returns a function. Its arguments are `tables` (the
# probabilities of the fit: a matrix of categories x bins for each source) and `n` (number of
# categories). Its value is a matrix (rows of `codes` x categories): the interpolated log
# probability minus the log probability of the bin. `first`: number of raters, whose tables precede
# the tables of systems.
within_bins <- function(codes, weight, first) {
  systems <- lapply(seq_len(ncol(codes$code)), function(s) {
    scored_rows <- which(codes$place[, s] > 0)
    if (length(scored_rows) == 0L) return(NULL)
    code <- codes$code[scored_rows, s]
    place <- codes$place[scored_rows, s]
    sums <- rowsum(weight[scored_rows] * cbind(place, 1), code)
    centre <- unname(sums[, 1L] / sums[, 2L])
    bin_group <- cumsum(c(TRUE, diff(centre) > bins_between))
    c(list(table = first + s, used = scored_rows), bin_steps(place, code, centre, bin_group))
  })
  function(tables, n) {
    log_change <- matrix(0, nrow(codes$code), n)
    for (steps in drop_null(systems)) {
      logs <- log(pmax(tables[[steps$table]], 1e-300))
      slope <- logs[, steps$to, drop = FALSE] - logs[, steps$from, drop = FALSE]
      log_change[steps$used, ] <- log_change[steps$used, ] + t(slope) * steps$share
    }
    log_change
  }
}

# Finds the two bins between which each place (position of a score) is interpolated. Returns a list:
# `from`, its bin; `to`, a neighbouring bin; and `share`, its distance from the middle of its bin as
# a share of the distance between both middles. In the outer half of an outermost bin, the share is
# negative, so the line is extrapolated.
bin_steps <- function(place, code, centre, group) {
  n <- length(centre)
  direction <- ifelse(place >= centre[code], 1L, -1L)
  is_same_group <- function(to) to >= 1L & to <= n & group[clamp(to, 1L, n)] == group[code]
  neighbour <- code
  for (to in list(code - direction, code + direction))
    neighbour <- ifelse(is_same_group(to), to, neighbour)
  distance <- centre[neighbour] - centre[code]
  list(
    from = code, to = neighbour,
    share = ifelse(distance == 0, 0, (place - centre[code]) / distance)
  )
}

# ---- Fits of the joint model, and trusted scores -------------------------------------------------

# Each row of a table (the distribution of ratings or scores in one true category) is shrunk towards
# the distribution over all cases. This is the weight of that distribution, as a number of cases.
table_mass <- 1

# Fits the joint model with the EM algorithm. Returns a list:
# * posterior: probabilities of the true category (patterns x categories)
# * rates: base rates
# * refit: a function of weights of patterns that returns the posterior; NULL if fits are slow
# * judged: does the pattern have ratings, scores, answers or a known truth?
fit_evidence <- function(x, codes, truth, is_used, case_of_pattern) {
  rows <- evidence_rows(x, codes$code, truth, is_used)
  weight <- pattern_weights(x)
  log_change <- within_bins(codes, weight, n_raters(x))
  interpolated_posterior <- function(fit) {
    posterior <- fit$posterior * exp(log_change(fit$tables, rows$categories))
    posterior / rowSums(posterior)
  }
  start <- start_of_evidence(x, truth, is_used, case_of_pattern)
  fit <- core_fit_tables(rows, weight, start, table_mass, 2000L)
  if (!fit$converged) {
    warn_convergence("joint",
      "Merge rare categories, or give the truth of some cases as {.arg known_truth}.")
  }
  refit <- if (length(rows$source) * rows$categories <= max_refitted) function(weight) {
    interpolated_posterior(core_fit_tables(rows, weight, fit$posterior, table_mass, 500L))
  }
  list(
    posterior = interpolated_posterior(fit), rates = fit$base_rates, refit = refit,
    judged = diff(rows$start) > 0L | truth > 0L
  )
}

# Input of core_fit_tables(): the ratings and the codes of systems as one list of sources, raters
# first, then systems. Rows are patterns. Row i has the elements start[i] + 1 to start[i + 1] of
# `source` (number of the rater or system) and `code` (category or bin).
evidence_rows <- function(x, codes, truth, is_used) {
  rating_is_used <- is_used[rating_rater(x)]
  categories <- n_categories(x)
  n_raters <- n_raters(x)
  answered <- which(codes > 0L, arr.ind = TRUE)
  row <- c(rating_pattern(x)[rating_is_used], answered[, 1L])
  source <- c(rating_rater(x)[rating_is_used], n_raters + answered[, 2L])
  order <- order(row)
  widths <- pmax(apply(codes, 2L, max), 1L)
  list(
    start = c(0L, cumsum(tabulate(row, n_patterns(x)))), source = as.integer(source[order]),
    code = as.integer(c(rating_category(x)[rating_is_used], codes[answered])[order]),
    codes = as.integer(c(rep(categories, n_raters), widths)), truth = truth,
    categories = categories
  )
}

# Starting values of the posterior: the mean of ratings, of scores that are probabilities, and of
# answers without such scores. `case_of_pattern`: the number of a case of each pattern.
start_of_evidence <- function(x, truth, is_used, case_of_pattern) {
  categories <- n_categories(x)
  rating_is_used <- is_used[rating_rater(x)]
  cell <- rating_pattern(x)[rating_is_used] +
    (rating_category(x)[rating_is_used] - 1L) * n_patterns(x)
  sums <- matrix(tabulate(cell, n_patterns(x) * categories), ncol = categories)
  for (s in seq_along(x$systems)) {
    answers <- outer(pattern_answers(x)[, s], seq_len(categories), `==`) + 0
    values <- if (x$scores$scale == "probability")
      x$scores$values[[x$systems[[s]]]][case_of_pattern, ]
    sums <- sums + if (is.null(values)) answers else ifelse(is.na(values), answers, values)
  }
  sums[rowSums(sums) == 0, ] <- 1
  set_known_truths(sums / rowSums(sums), truth)
}

# The posterior if scores are probabilities of the truth: the mean of the scores of the systems
# `trust`. Patterns without scores get the base rates.
trusted_scores <- function(x, trust, truth, case_of_pattern) {
  values <- simplify2array(x$scores$values[trust])
  posterior <- rowMeans(values[case_of_pattern, , , drop = FALSE], na.rm = TRUE, dims = 2L)
  judged <- !is.na(posterior[, 1L]) | truth > 0L
  posterior <- set_known_truths(posterior / rowSums(posterior), truth)
  weight <- pattern_weights(x)[judged]
  rates <- colSums(posterior[judged, , drop = FALSE] * weight) / sum(weight)
  posterior[!judged, ] <- rep(rates, each = sum(!judged))
  list(posterior = posterior, rates = rates, judged = judged)
}
