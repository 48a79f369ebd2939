# Scores as evidence about the truth. Scores are part of a joint model with ratings, or are used as
# probabilities of the truth.

#' Joint model of ratings and scores
#'
#' Estimates the probability that each category is true, for each case, from ratings and from the
#' scores that systems (classifiers) give to the categories. [estimate_metrics()] and
#' [estimate_accuracy()] can then evaluate the systems with these probabilities. With `trust`, the
#' scores of some systems are used as the probabilities.
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
#' interpolated between bins. With more than two categories, cases are first grouped by the
#' category with the highest score, and each group has separate bins.
#'
#' Systems that were trained on the same data make the same errors. Their agreement then makes them
#' look better than they are.
#'
#' @section Trusted scores: `trust` assumes that scores are calibrated. A system that is certain and
#'   wrong then looks good. Use the result as a baseline only.
#'
#' @param x A [ratings()] object with systems and scores (argument `scores`).
#' @param known_truth Cases whose true category is known: a vector of categories named by case, or a
#'   data frame with columns `case` and `truth`. `NULL`, the default, for none.
#' @param raters Names of the raters whose ratings are used. `NULL`, the default, uses all raters;
#'   `character()` uses none.
#' @param trust Names of systems whose scores are used as probabilities. The probability of each
#'   category is the mean of these scores over the systems. `NULL`, the default, fits the joint
#'   model.
#' @param ... Not used.
#' @return A fit of class `rater_fit`, to which [estimate_metrics()] and [estimate_accuracy()] can
#'   be applied. [ground_truth()] of the fit returns the probability of each category for each case.
#' @family metrics
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
#' # Two raters, and two systems with scores
#' fit <- fit_scores(x)
#' # ROC area and calibration error of both systems
#' estimate_metrics(fit, c("roc_auc", "ece"), resampling = list(replicates = 50))
#' @export
fit_scores <- function(x, known_truth = NULL, raters = NULL, trust = NULL, ...) {
  check_call()
  x <- check_several_raters(with_votes(as_ratings(x)))
  abort_argument_if(is.null(x$scores), "x", "{.arg x} has no scores.",
    i = "Give {.arg scores} to {.fun ratings}.")
  is_joint <- is.null(trust)
  uses_rater <- seq_along(x$raters) %in% find_positions(raters %||% x$raters, x$raters, "rater")
  if (!is_joint) {
    check_names_among(trust, names(x$scores$values), "trust")
    abort_argument_if(x$scores$scale != "probability", "trust",
      "Scores that only order cases cannot be used as probabilities.",
      i = "Leave out {.arg trust}: the joint model uses only the order of scores.")
  }
  n_sources <- sum(uses_rater) + n_systems(x)
  # A source is a rater or a system. With fewer than three sources and without known truths, the
  # model is not identified: different distributions fit equally well.
  abort_argument_if(is_joint && is.null(known_truth) && n_sources < 3L, "x",
    "Without known truths, the joint model needs at least three raters and systems in total.",
    x = "Their number is {n_sources}.",
    i = "Give {.arg known_truth}, or {.arg trust}.")
  known_input <- resolve_known(x, known_truth, NULL)
  x <- known_input$x
  truth <- if (is.null(known_truth)) integer(length(x$index)) else truth_of_patterns(x)[x$index]
  codes <- if (is_joint) score_codes(x)
  pattern_columns <- do.call(cbind, codes %||% unname(x$scores$values[trust]))
  # Cases with different scores or known truths get separate patterns. -1 means no score.
  pattern_columns[is.na(pattern_columns)] <- -1
  x <- split_patterns(
    x,
    c(list(.truth = truth),
      split_columns(pattern_columns, paste0(".score", seq_len(ncol(pattern_columns)))))
  )
  case_of_pattern <- first_cases(x)
  truth <- as.integer(truth[case_of_pattern])
  if (is_joint) {
    codes <- lapply(codes, function(code) pick_rows(code, case_of_pattern))
    fit <- fit_joint_model(x, codes, truth, uses_rater, case_of_pattern)
    description <- "joint model of ratings and scores"
  } else {
    fit <- posterior_from_scores(x, trust, truth, case_of_pattern)
    description <- paste("scores of", shorten(trust), "used as probabilities")
  }
  known_values <- if (any(truth > 0L)) replace(nothing_known, "truth", list(truth)) else
    nothing_known
  new_posterior_fit(x, pick_rows(fit$posterior, x$index), fit$rates, description,
    kind = c("score_fit", "posterior_fit"), known = known_values, refit = fit$refit,
    judged = fit$judged, given = known_input$given,
    scored = list(raters = if (is_joint) sum(uses_rater) else 0L))
}

# ---- Codes of scores: bins and positions ---------------------------------------------------------

# Converts the scores and answers of systems to codes for the joint model. Returns a list of two
# matrices (cases x systems):
# * code: number of the bin of the score. For a system without scores, the answer. 0 without a score
#   or answer.
# * position: position of the score on a scale on which each bin has length 1. 0 without a score.
score_codes <- function(x) {
  weight <- weights_of_cases(x)
  answer <- case_answers(x)
  codes <- lapply(seq_along(x$systems), function(s) {
    scores <- x$scores$values[[x$systems[[s]]]]
    system_answer <- answer[, s]
    if (is.null(scores)) list(code = system_answer, position = 0 * system_answer) else
      bins_of_scores(scores, weight, x$scores$scale, system_answer)
  })
  do.call(Map, c(cbind, codes))
}

# Divides the scores of one system (cases x categories) into bins. Returns a list of two vectors
# with an element per case: `code` and `position`, see score_codes(). One score per case is used:
# * with two categories, the score of the second category;
# * with more categories and probabilities, the highest score;
# * with more categories and other scores, the score of the system's answer.
bins_of_scores <- function(scores, weight, scale, answer) {
  scored_cases <- which(!is.na(scores[, 1L]) & weight > 0)
  bin_codes <- list(code = integer(nrow(scores)), position = numeric(nrow(scores)))
  binned_category <- if (ncol(scores) == 2L) {
    rep(2L, length(scored_cases))
  } else if (scale == "probability") {
    max.col(pick_rows(scores, scored_cases), "first")
  } else {
    ifelse(answer[scored_cases] > 0L, answer[scored_cases], 1L)
  }
  # Each category has separate bins. Between the positions of two categories is a gap, so that
  # new_bin_interpolator() does not interpolate between their bins.
  for (k in sort(unique(binned_category))) {
    category_cases <- scored_cases[binned_category == k]
    bins <- equal_bins(scores[category_cases, k], weight[category_cases])
    bin_codes$code[category_cases] <- max(bin_codes$code) + bins$code
    bin_codes$position[category_cases] <-
      ceiling(max(bin_codes$position)) + category_gap + bins$position
  }
  bin_codes
}

category_gap <- 2

# Divides scores into bins with equal numbers of cases. The number of bins follows Terrell and Scott
# (1985). Tied scores are in the same bin. Returns a list of `code` and `position` (see
# score_codes()).
# `weight`: weight of each case.
equal_bins <- function(score, weight) {
  total_weight <- sum(weight)
  n_bins <- ceiling((2 * total_weight)^(1 / 3))
  distinct_scores <- sort(unique(score))
  tie_group <- match(score, distinct_scores)
  group_weight <- rowsum_codes(tie_group, weight, length(distinct_scores))
  group_position <- n_bins * (cumsum(group_weight) - group_weight / 2) / total_weight
  bin_index <- pmin(floor(group_position), n_bins - 1)
  list(code = match(bin_index, unique(bin_index))[tie_group], position = group_position[tie_group])
}

# Returns a function that interpolates the log probability of a score between neighbouring bins, so
# that the cases of a bin have different probabilities.
# * codes: list of the matrices `code` and `position` (patterns x systems), see score_codes().
# * weight: weight of each pattern.
# * rater_count: number of raters.
new_bin_interpolator <- function(codes, weight, rater_count) {
  interpolations <- lapply(seq_len(ncol(codes$code)), function(s) {
    scored_rows <- which(codes$position[, s] > 0)
    if (length(scored_rows) == 0L) return(NULL)
    code <- codes$code[scored_rows, s]
    position <- codes$position[scored_rows, s]
    position_sums <- rowsum(weight[scored_rows] * cbind(position, 1), code)
    # The middle of a bin is the mean position of its scores.
    bin_middles <- unname(position_sums[, 1L] / position_sums[, 2L])
    bin_group <- cumsum(c(TRUE, diff(bin_middles) > category_gap))
    # The log probability is interpolated between the bin of the score and `neighbour_bin`, the
    # nearest other bin in the same group. A group consists of the bins of one category.
    direction <- ifelse(position >= bin_middles[code], 1L, -1L)
    neighbour_bin <- code
    for (bin in list(code - direction, code + direction)) {
      is_neighbour <- bin_group[replace(bin, bin < 1L, NA)] == bin_group[code]
      neighbour_bin <- ifelse(is_neighbour %in% TRUE, bin, neighbour_bin)
    }
    # `share` is the position of the score between the middle of its bin (0) and the middle of the
    # neighbouring bin (1). It is negative in the outer half of the first and the last bin, where
    # the line is extrapolated.
    distance <- bin_middles[neighbour_bin] - bin_middles[code]
    share <- ifelse(distance == 0, 0, (position - bin_middles[code]) / distance)
    list(
      table = rater_count + s, used = scored_rows, from = code, to = neighbour_bin, share = share
    )
  })
  # Returns the interpolated log probability minus the log probability of the bin, summed over
  # systems: patterns x categories. `tables`: probabilities of the fit, a matrix (categories x
  # codes) for each rater, then for each system. `n`: number of categories.
  function(tables, n) {
    log_change <- matrix(0, nrow(codes$code), n)
    for (interpolation in drop_null(interpolations)) {
      log_tables <- log(pmax(tables[[interpolation$table]], 1e-300))
      slope <-
        pick_columns(log_tables, interpolation$to) - pick_columns(log_tables, interpolation$from)
      used_rows <- interpolation$used
      log_change[used_rows, ] <- log_change[used_rows, ] + t(slope) * interpolation$share
    }
    log_change
  }
}

# ---- Fits of the joint model, and trusted scores -------------------------------------------------

# For each rater or system, the joint model estimates the distribution of ratings or scores in each
# true category. It shrinks this distribution towards the distribution over all cases, which has the
# weight `shrinkage_weight` (a number of cases).
shrinkage_weight <- 1

# Fits the joint model with the EM algorithm.
# * codes: list of the matrices `code` and `position` (patterns x systems), see score_codes().
# * truth: number of the known true category of each pattern, 0 if unknown.
# * is_used: for each rater, does the model use its ratings?
# * case_of_pattern: number of the first case of each pattern, which has the scores of the pattern.
#
# Returns a list:
# * posterior: probabilities of the true category (patterns x categories).
# * rates: base rates.
# * refit: a function of weights of patterns that returns the posterior; NULL if fits are slow.
# * judged: for each pattern, does it have ratings, scores, answers or a known truth?
fit_joint_model <- function(x, codes, truth, is_used, case_of_pattern) {
  model_input <- joint_model_input(x, codes$code, truth, is_used)
  weight <- pattern_weights(x)
  compute_log_change <- new_bin_interpolator(codes, weight, n_raters(x))
  interpolate_posterior <- function(fit) {
    posterior <- fit$posterior * exp(compute_log_change(fit$tables, model_input$categories))
    posterior / rowSums(posterior)
  }
  # The starting value of the posterior is the mean over raters and systems. A rater contributes its
  # rating. A system contributes its scores if they are probabilities, and otherwise its answer.
  rating_is_used <- is_used[rating_rater(x)]
  cell_of_rating <- rating_pattern(x)[rating_is_used] +
    (rating_category(x)[rating_is_used] - 1L) * n_patterns(x)
  starting_sums <- matrix(
    tabulate(cell_of_rating, n_patterns(x) * model_input$categories), ncol = model_input$categories
  )
  for (s in seq_along(x$systems)) {
    answer_indicators <- indicator_matrix(pattern_answers(x)[, s], model_input$categories) + 0
    score_matrix <- if (x$scores$scale == "probability")
      x$scores$values[[x$systems[[s]]]][case_of_pattern, ]
    starting_sums <- starting_sums + if (is.null(score_matrix)) answer_indicators else
      ifelse(is.na(score_matrix), answer_indicators, score_matrix)
  }
  starting_sums[rowSums(starting_sums) == 0, ] <- 1
  starting_posterior <- set_known_truths(starting_sums / rowSums(starting_sums), truth)
  fit <- core_fit_tables(model_input, weight, starting_posterior, shrinkage_weight, 2000L)
  if (!fit$converged) {
    warn_convergence("joint",
      "Merge rare categories, or give the truth of some cases as {.arg known_truth}.")
  }
  can_refit <- length(model_input$source) * model_input$categories <= max_refitted
  refit <- if (can_refit) function(weight) {
    interpolate_posterior(
      core_fit_tables(model_input, weight, fit$posterior, shrinkage_weight, 500L)
    )
  }
  list(
    posterior = interpolate_posterior(fit), rates = fit$base_rates, refit = refit,
    judged = diff(model_input$start) > 0L | truth > 0L
  )
}

# Returns the input of core_fit_tables(), a list. Sources are the raters, then the systems. The
# codes of a source are its ratings, or the codes of its scores or answers (see score_codes()).
# * source, code: two vectors with an element per rating, score or answer: the number of its source,
#   and its code. They are sorted by pattern.
# * start: the elements start[i] + 1 to start[i + 1] of `source` and `code` belong to pattern i.
# * codes: number of possible codes of each source.
# * truth: number of the known true category of each pattern, 0 if unknown.
# * categories: number of categories.
joint_model_input <- function(x, codes, truth, is_used) {
  rating_is_used <- is_used[rating_rater(x)]
  code_cells <- which(codes > 0L, arr.ind = TRUE)
  pattern <- c(rating_pattern(x)[rating_is_used], code_cells[, 1L])
  source <- c(rating_rater(x)[rating_is_used], n_raters(x) + code_cells[, 2L])
  code <- c(rating_category(x)[rating_is_used], codes[code_cells])
  n_codes <- c(rep(n_categories(x), n_raters(x)), pmax(apply(codes, 2L, max), 1L))
  c(
    list(start = c(0L, cumsum(tabulate(pattern, n_patterns(x))))),
    lapply(list(source = source, code = code), function(x) as.integer(x[order(pattern)])),
    list(codes = as.integer(n_codes), truth = truth, categories = n_categories(x))
  )
}

# Returns the posterior if scores are used as probabilities of the truth. The posterior is the mean
# of the scores of the systems `trust`. Patterns without scores and without known truth get the base
# rates.
posterior_from_scores <- function(x, trust, truth, case_of_pattern) {
  score_array <- simplify2array(x$scores$values[trust])
  posterior <- rowMeans(score_array[case_of_pattern, , , drop = FALSE], na.rm = TRUE, dims = 2L)
  is_usable <- !is.na(posterior[, 1L]) | truth > 0L
  posterior <- set_known_truths(posterior / rowSums(posterior), truth)
  weight <- pattern_weights(x)[is_usable]
  base_rates <- colSums(pick_rows(posterior, is_usable) * weight) / sum(weight)
  posterior[!is_usable, ] <- rep(base_rates, each = sum(!is_usable))
  list(posterior = posterior, rates = base_rates, judged = is_usable)
}
