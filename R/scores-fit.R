# Scores as evidence: the joint model of ratings and scores, or scores used as probabilities.

#' Fit ratings and scores together
#'
#' Estimates the probability of each category of each case, from ratings and the scores of all
#' systems together. With `trust`, scores are used as these probabilities. [estimate_metrics()] and
#' [estimate_accuracy()] then evaluate systems by these probabilities.
#'
#' Without `trust`, at least three raters and systems, or known truths, are needed. Each rater, and
#' each system without scores, has a confusion matrix. Each other system has a distribution of its
#' score in each true category. All are assumed independent given the truth. A distribution has bins
#' with equal numbers of cases, `(2 n)^(1/3)` bins for `n` scored cases (the rule of Terrell and
#' Scott). With more than two categories, bins are separate for the cases of each highest score.
#' Between the middles of bins the logarithm changes linearly. Therefore scores need not be
#' calibrated or be probabilities. Tables are shrunk towards the distribution of the source over all
#' cases, with the weight of one case per category. The fit (by EM) starts at the mean of ratings,
#' scores and answers.
#'
#' Systems that were trained on the same data, or are copies of each other, make the same errors.
#' Their agreement then makes them look better than they are. Known truths show how far.
#' `known_truth` holds the truths of these cases fixed; it does not correct other cases.
#'
#' `trust` assumes that scores are calibrated on these cases, as confidence-based estimation does. A
#' system that is certain and wrong then looks good. If only one system is trusted, its `ece` is
#' about 0 by construction, and no interval shows this error. It is a baseline.
#'
#' @param x [ratings()] with scores.
#' @param known_truth Cases whose truth is known; see [fit_raters()].
#' @param raters Names of the raters whose ratings are used; `NULL`, the default, for all,
#'   `character()` for none.
#' @param trust Names of systems whose scores are probabilities. Their mean is used as probability
#'   of the truth. `NULL`, the default, for the joint model.
#' @param ... Not used.
#' @return An object of class `rater_fit`, as made by [as_rater_fit()]. It is refitted in bootstrap
#'   replicates, unless the number of ratings and scores times categories is above 1e5.
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
  check_given()
  check_dots_empty(...)
  x <- check_several_raters(with_votes(as_ratings(x)))
  abort_argument_if(is.null(x$scores), "x", "{.arg x} has no scores.",
    i = "Give {.arg scores} to {.fun ratings}.")
  joint <- is.null(trust)
  used <- seq_along(x$raters) %in% find_subset(raters %||% x$raters, x$raters, "rater")
  if (!joint) check_trust(trust, x)
  sources <- sum(used) + n_systems(x)
  # With two sources, other distributions fit equally well.
  abort_argument_if(joint && is.null(known_truth) && sources < 3L, "x",
    "Without known truths, the accuracy of a source can be estimated only among three or more,
        raters and systems together.", x = "There {?is/are} {sources}.",
    i = "Give {.arg known_truth}, or {.arg trust}.")
  checked <- resolve_known(x, known_truth, NULL)
  x <- checked$x
  truth <- if (is.null(known_truth)) integer(length(x$index)) else checked$known$truth[x$index]
  codes <- if (joint) score_codes(x)
  values <- do.call(cbind, codes %||% unname(x$scores$values[trust]))
  # Cases with different scores or known truths get separate patterns.
  values[is.na(values)] <- -1
  columns <- split_columns(values, paste0(".score", seq_len(ncol(values))))
  x <- split_patterns(x, c(list(.truth = truth), columns))
  at <- first_cases(x)
  truth <- as.integer(truth[at])
  fit <- if (joint) {
    fit_evidence(x, lapply(codes, function(code) code[at, , drop = FALSE]), truth, used, at)
  } else {
    trusted_scores(x, trust, truth, at)
  }
  words <- if (joint) "joint model of ratings and scores" else
    paste("scores of", shorten(trust), "at their word")
  known <- if (any(truth > 0L)) replace(nothing_known, "truth", list(truth)) else nothing_known
  new_posterior_fit(x, fit$posterior[x$index, , drop = FALSE], fit$rates, words,
    kind = c("score_fit", "posterior_fit"), known = known, refit = fit$refit,
    judged = fit$judged, given = checked$given,
    scored = list(raters = if (joint) sum(used) else 0L))
}

check_trust <- function(trust, x) {
  check_names_among(trust, names(x$scores$values), "trust")
  abort_argument_if(x$scores$scale != "probability", "trust",
    "Scores that only order cases cannot be used as probabilities.",
    i = "Leave out {.arg trust} for the joint model, which needs the order only.")
}

# ---- Codes ---------------------------------------------------------------------------------------

# Codes of answers, matrices of cases x systems. `code`: bin of the score, or answer of a system
# without scores; 0 for none. `place`: position of the score in units of bins; 0 without a score.
score_codes <- function(x) {
  weight <- weights_of_cases(x)
  answer <- case_answers(x)
  codes <- lapply(seq_along(x$systems), function(s) {
    values <- x$scores$values[[x$systems[[s]]]]
    if (is.null(values)) return(list(code = answer[, s], place = 0 * answer[, s]))
    bins_of_scores(values, weight, x$scores$scale, answer[, s])
  })
  do.call(Map, c(cbind, codes))
}

# With two categories, bins of the score of the second. With more, bins of the highest score if
# scores are probabilities, and otherwise of the score of the answer. Places of different kinds are
# separated.
bins_of_scores <- function(values, weight, scale, answer) {
  at <- which(!is.na(values[, 1L]) & weight > 0)
  out <- list(code = integer(nrow(values)), place = numeric(nrow(values)))
  top <- if (ncol(values) == 2L) {
    rep(2L, length(at))
  } else if (scale == "probability") {
    max.col(values[at, , drop = FALSE], "first")
  } else {
    ifelse(answer[at] > 0L, answer[at], 1L)
  }
  for (k in sort(unique(top))) {
    cases <- at[top == k]
    bins <- equal_bins(values[cases, k], weight[cases])
    out$code[cases] <- max(out$code) + bins$code
    out$place[cases] <- ceiling(max(out$place)) + bins_between + bins$place
  }
  out
}

bins_between <- 2

# Number of bins by Terrell and Scott, with equal numbers of cases; tied scores are in one bin.
equal_bins <- function(score, weight) {
  total <- sum(weight)
  bins <- ceiling((2 * total)^(1 / 3))
  distinct <- sort(unique(score))
  tie <- match(score, distinct)
  mass <- rowsum_codes(tie, weight, length(distinct))
  place <- bins * (cumsum(mass) - mass / 2) / total
  bin <- pmin(floor(place), bins - 1)
  list(code = match(bin, unique(bin))[tie], place = place[tie])
}

# Interpolates the logarithm of a distribution between the middles of neighbouring bins, so that
# cases of one bin differ. `shift(tables)` returns the change, rows x categories.
within_bins <- function(codes, weight, first) {
  systems <- lapply(seq_len(ncol(codes$code)), function(s) {
    used <- which(codes$place[, s] > 0)
    if (length(used) == 0L) return(NULL)
    code <- codes$code[used, s]
    place <- codes$place[used, s]
    sums <- rowsum(weight[used] * cbind(place, 1), code)
    centre <- unname(sums[, 1L] / sums[, 2L])
    kind <- cumsum(c(TRUE, diff(centre) > bins_between))
    c(list(table = first + s, used = used), bin_steps(place, code, centre, kind))
  })
  function(tables, n) {
    out <- matrix(0, nrow(codes$code), n)
    for (steps in drop_null(systems)) {
      logs <- log(pmax(tables[[steps$table]], 1e-300))
      slope <- logs[, steps$to, drop = FALSE] - logs[, steps$from, drop = FALSE]
      out[steps$used, ] <- out[steps$used, ] + t(slope) * steps$share
    }
    out
  }
}

# A row per place: its bin, a neighbouring bin, and the share of the distance between their middles.
# Half a bin beyond the last middle, the line is extrapolated.
bin_steps <- function(place, code, centre, kind) {
  n <- length(centre)
  side <- ifelse(place >= centre[code], 1L, -1L)
  is_same_kind <- function(to) to >= 1L & to <= n & kind[pmin(pmax(to, 1L), n)] == kind[code]
  neighbour <- code
  for (to in list(code - side, code + side)) neighbour <- ifelse(is_same_kind(to), to, neighbour)
  way <- centre[neighbour] - centre[code]
  list(from = code, to = neighbour, share = ifelse(way == 0, 0, (place - centre[code]) / way))
}

# ---- Fits ----------------------------------------------------------------------------------------

table_mass <- 1 # weight of the shrinkage, in cases of each category

# Fields: posterior (patterns x categories), rates, refit (a function of weights of patterns that
# returns the posterior), judged (is there any evidence for a pattern?).
fit_evidence <- function(x, codes, truth, used, at) {
  rows <- evidence_rows(x, codes$code, truth, used)
  weight <- pattern_weights(x)
  shift <- within_bins(codes, weight, n_raters(x))
  smooth <- function(fit) {
    posterior <- fit$posterior * exp(shift(fit$tables, rows$categories))
    posterior / rowSums(posterior)
  }
  start <- start_of_evidence(x, truth, used, at)
  fit <- core_fit_tables(rows, weight, start, table_mass, 2000L)
  if (!fit$converged) warn_convergence("joint")
  held <- length(rows$source) * rows$categories > most_refitted
  refit <- if (!held) function(weight) {
    smooth(core_fit_tables(rows, weight, fit$posterior, table_mass, 500L))
  }
  list(
    posterior = smooth(fit), rates = fit$base_rates, refit = refit,
    judged = diff(rows$start) > 0L | truth > 0L
  )
}

# Input of core_fit_tables(): raters first, then systems.
evidence_rows <- function(x, codes, truth, used) {
  keep <- used[rating_rater(x)]
  n <- n_categories(x)
  raters <- n_raters(x)
  answered <- which(codes > 0L, arr.ind = TRUE)
  row <- c(rating_pattern(x)[keep], answered[, 1L])
  source <- c(rating_rater(x)[keep], raters + answered[, 2L])
  order <- order(row)
  widths <- pmax(apply(codes, 2L, max), 1L)
  list(
    start = c(0L, cumsum(tabulate(row, n_patterns(x)))), source = as.integer(source[order]),
    code = as.integer(c(rating_category(x)[keep], codes[answered])[order]),
    codes = as.integer(c(rep(n, raters), widths)), truth = truth, categories = n
  )
}

# Starting values: the mean of ratings, scores that are probabilities, and answers. `at` is a case
# of each pattern.
start_of_evidence <- function(x, truth, used, at) {
  n <- n_categories(x)
  keep <- used[rating_rater(x)]
  place <- rating_pattern(x)[keep] + (rating_category(x)[keep] - 1L) * n_patterns(x)
  sums <- matrix(tabulate(place, n_patterns(x) * n), ncol = n)
  for (s in seq_along(x$systems)) {
    answers <- outer(pattern_answers(x)[, s], seq_len(n), `==`) + 0
    values <- if (x$scores$scale == "probability") x$scores$values[[x$systems[[s]]]][at, ]
    sums <- sums + if (is.null(values)) answers else ifelse(is.na(values), answers, values)
  }
  sums[rowSums(sums) == 0, ] <- 1
  set_known_truths(sums / rowSums(sums), truth)
}

trusted_scores <- function(x, trust, truth, at) {
  size <- c(length(x$index), n_categories(x), length(trust))
  values <- array(unlist(x$scores$values[trust]), size)
  posterior <- rowMeans(values[at, , , drop = FALSE], na.rm = TRUE, dims = 2L)
  judged <- !is.na(posterior[, 1L]) | truth > 0L
  posterior <- set_known_truths(posterior / rowSums(posterior), truth)
  weight <- pattern_weights(x)[judged]
  rates <- colSums(posterior[judged, , drop = FALSE] * weight) / sum(weight)
  posterior[!judged, ] <- rep(rates, each = sum(!judged))
  list(posterior = posterior, rates = rates, judged = judged)
}

# Sets the probability of known truths to 1.
set_known_truths <- function(posterior, truth) {
  known <- truth > 0L
  posterior[known, ] <- outer(truth[known], seq_len(ncol(posterior)), `==`)
  posterior
}
