# Metrics of scores in estimate_metrics(): estimates and intervals.

# Engine for metric_engines().
metrics_of_scores <- function(estimate, plan, interval, conf_level) {
  from_ratings <- without_gold(estimate)
  panel <- score_panel(from_ratings)
  judges <- lapply(seq_along(from_ratings$fit$x$systems), panel$judge)
  tables <- lapply(judges, score_point, estimate = from_ratings, plan = plan)
  known <- which(vapply(tables, function(table) !all(is.na(table$estimate)), NA))
  record <- accuracy_intervals[[interval]]
  if (is.null(record$find) || length(known) == 0L) return(stack_rows(tables))
  lack <- why_no_kind(record) %||% why_no_interval(interval_bootstrap, estimate)
  draws <- if (is.null(lack)) {
    draw_scores(from_ratings, panel, judges, nrow(plan$rows), function(judge, w, v) {
      score_values(plan, judge$book, w, v)
    })
  }
  tables[known] <- lapply(known, function(s) {
    if (!is.null(lack)) return(without_interval(tables[[s]], lack))
    rows <- score_intervals(
      tables[[s]], from_ratings, plan, judges[[s]], draws[[s]], record, conf_level
    )
    if (measures_by_gold(estimate, interval)) {
      rows <- score_metrics_with_gold(rows, estimate, plan, judges[[s]], interval, conf_level)
    }
    rows[setdiff(names(rows), "hidden")]
  })
  stack_rows(tables)
}

# Input for all systems. judge(s) returns a list with `s` and `lack`, the reason why it cannot be
# evaluated. If it can, the fields are: `at`, the cases with scores and ratings; their weights `v`;
# probabilities `p`; `known` (is the truth known?); `book`; `back`, the share of shared errors; and
# `w`, weights of truths.
score_panel <- function(estimate) {
  x <- estimate$fit$x
  judged <- judged_patterns(estimate$fit)[x$index]
  weight <- weights_of_cases(x)
  lack <- if (is.null(x$scores)) {
    "there are no scores"
  } else if (!has_posterior(estimate)) {
    accuracy_only(estimate)
  }
  beliefs <- if (is.null(lack)) rater_beliefs(estimate)
  p <- if (is.null(lack)) beliefs$posterior(NULL)
  if (anyNA(p[judged, ])) lack <- "the raters' agreement does not separate the categories"
  judge <- function(s) {
    values <- x$scores$values[[x$systems[[s]]]]
    at <- if (!is.null(values)) which(!is.na(values[, 1L]) & judged & weight > 0)
    lack <- lack %||% if (is.null(values)) {
      "the system has no scores"
    } else if (length(at) == 0L) {
      "raters saw no case that has scores"
    }
    if (!is.null(lack)) return(list(s = s, lack = lack))
    out <- list(
      s = s, at = at, v = weight[at], p = p[at, , drop = FALSE], known = beliefs$known[at],
      book = score_book(values[at, , drop = FALSE]), back = shared_position(estimate, s)
    )
    out$w <- score_weights(out)
    if (is.null(out$w)) out$lack <- "raters hardly separate the categories"
    out
  }
  list(beliefs = beliefs, judge = judge)
}

# Position between independent (0) and shared errors (1): that of the method, or the given share.
# The typical share is how often two wrong answers are the same, always for two categories. Wrong
# scores are not the same, so they are not corrected.
shared_position <- function(estimate, s) {
  if (identical(estimate$options$method, method_shared$id)) return(1)
  back <- if (is_stated(estimate$options)) estimate$details$common[[s]] else 0
  if (is.na(back)) 0 else back
}

score_weights <- function(judge, p = judge$p, v = judge$v, back = judge$back) {
  truth_weights(p, judge$known, v, back)
}

# Rows of one system without intervals.
score_point <- function(estimate, plan, judge) {
  rows <- metric_rows(estimate, plan, judge$s, sum(judge$v), judge$lack,
    score_values(plan, judge$book, judge$w, judge$v))
  if (is.null(judge$lack) && estimate$fit$x$scores$scale != "probability") {
    off <- field_of_rows(plan, "probabilities")
    rows$estimate[off] <- NA_real_
    rows$reason[off] <- "scores are not probabilities, they only order cases"
  }
  rows
}

# Replicates of `measure`, a function of a judge and weights of truths and of cases: a matrix of
# replicates x `numbers` per judge. A row is NA if raters do not separate the categories. Cases, or
# clusters, are resampled, and raters are refitted.
draw_scores <- function(estimate, panel, judges, numbers, measure) {
  drawn <- resampling(estimate$fit$x, estimate$options, by_case = TRUE)
  rows <- resampled(name = "Bootstrap of scores", resampling = drawn, run = function(times) {
    p <- panel$beliefs$posterior(times)
    lapply(judges, function(judge) {
      if (!is.null(judge$lack) || anyNA(p)) return(NULL)
      v <- times[judge$at]
      w <- score_weights(judge, p[judge$at, , drop = FALSE], v)
      if (!is.null(w)) measure(judge, w, v)
    })
  })
  lapply(seq_along(judges), function(s) {
    stack_rows(rows, function(row) row[[s]] %||% rep(NA_real_, numbers))
  })
}

score_intervals <- function(rows, estimate, plan, judge, draws, record, conf_level) {
  ends <- ranges_of_plan(plan)
  values <- around_estimate(to_unit(draws, ends), to_unit(rows$estimate, ends), plan)
  rows <- if (record$spread == "percentile") {
    unit_percentiles(rows, values, ends, conf_level)
  } else {
    sampling <- apply(values, 2L, stats::sd, na.rm = TRUE) * widths(ends)
    rows$hidden <- hidden_of_scores(estimate, plan, judge)
    rows$std.error <- ifelse(is.na(rows$estimate), NA_real_, sqrt(sampling^2 + rows$hidden^2))
    interval_rows(rows, ends, robust_quantile(estimate$options, conf_level))
  }
  lower_limits_by_gaps(rows, plan, judge)
}

# Lowers the lower limit by the gaps that chance can cause if there are none. It is at least `z`
# standard errors below the estimate, since gold cases add chance errors.
lower_limits_by_gaps <- function(rows, plan, judge, z = 0) {
  for (i in which(field_of_rows(plan, "gaps"))) {
    kernel <- plan$records[[plan$rows$metric[[i]]]]$kernel
    slack <- kernel(judge$book, judge$w, judge$v, plan$settings)$slack
    low <- min(rows$conf.low[[i]], rows$estimate[[i]] - z * rows$std.error[[i]])
    rows$conf.low[[i]] <- max(0, low - slack)
  }
  rows
}

# Sums of absolute gaps increase in every replicate, so replicates are moved to the estimate.
around_estimate <- function(values, estimate, plan) {
  moved <- field_of_rows(plan, "gaps") & !is.na(estimate)
  if (any(moved)) {
    centre <- apply(values[, moved, drop = FALSE], 2L, stats::median, na.rm = TRUE)
    off <- rep(estimate[moved] - centre, each = nrow(values))
    values[, moved] <- clip01(values[, moved] + off)
  }
  values
}

# Standard deviation of the error that shared errors may hide in each metric, as in hidden_errors().
# The first part is along the line between shared and independent errors. The second is for raters
# who are wrong together, which moves cases to the category of the highest score. The weight of
# dependence is 1, since answers with independent errors are no evidence about scores.
hidden_of_scores <- function(estimate, plan, judge) {
  estimate$details$dependence_weight[!is.na(estimate$details$dependence_weight)] <- 1
  v <- judge$v
  at_end <- function(back) {
    score_values(plan, judge$book, score_weights(judge, back = back), v)
  }
  sums_by_top <- function(values) as.vector(rowsum(values * v, judge$book$top))
  chosen <- outer(judge$book$top, seq_len(ncol(judge$w)), `==`)
  cases <- sums_by_top(rep(1, length(v)))
  wrong <- 1 - sums_by_top(rowSums(judge$w * chosen)) / cases
  shift <- vapply(score_influence(plan, judge$book, judge$w, v), function(g) {
    moved <- sums_by_top(rowSums(g * (chosen - judge$w))) / sum(v)
    ifelse(wrong > 0, moved / wrong, 0)
  }, wrong)
  hidden_in_all(
    estimate, judge$s, at_end(0) - at_end(1), matrix(shift, length(wrong)), cases / sum(v)
  )
}

# Weight of each case for each category in metrics of scores.
#
# Let p be the probabilities of the categories of a case, from raters only. If systems share the
# raters' errors, a score contains no information about the truth beyond the ratings, and p is the
# weight of the case. If scores S and ratings are independent given the truth,
#   E[1(S in A) p_k] = sum_j F_j(A) E[p_j p_k],
# since E[1(truth = j) p_k] = E[p_j p_k]. F_j is the distribution of the score in category j. So
# weights p mix the distributions of all categories. Let M = E[p p'], and D the diagonal matrix of
# base rates E[p]. The weights w = D M^-1 p undo the mixing:
#   E[w_j 1(S in A)] = E[p_j] F_j(A).
# The weights of a case sum to one, as base rates are M times a vector of ones. They may be below 0
# or above 1.

# Smallest eigenvalue of M at which raters separate the categories. M is scaled so that it is 1 if
# the truth is known and 0 if there is no information.
least_eigenvalue <- 0.01

# `posterior`: a function of weights of cases that refits and returns p, cases x categories. It
# returns the original p if the weights are NULL, if the posterior was given, or if fits are slow.
# `known`: is the truth of a case known?
rater_beliefs <- function(estimate) {
  fit <- fit_raters_only(estimate$fit, estimate)
  x <- fit$x
  as_is <- posterior(fit)[x$index, , drop = FALSE]
  refit <- refitting(fit)
  held <- is.null(refit) || length(rating_rater(x)) * n_categories(x) > most_refitted
  refitted <- function(v) {
    if (is.null(v) || held) return(as_is)
    refit(core_pattern_weights(x$index, v, n_patterns(x)))[x$index, , drop = FALSE]
  }
  list(posterior = refitted, known = known_patterns(fit)[x$index])
}

most_refitted <- 1e5 # number of ratings of patterns times categories

# Fit of raters without systems, with the model of the estimate. If the estimate averages over
# models, the fit has an accuracy for each rater. If most weight is on models whose errors depend on
# the category, the fit has such errors.
fit_raters_only <- function(fit, estimate) UseMethod("fit_raters_only")

fit_raters_only.rater_fit <- function(fit, estimate) {
  x <- fit$x
  x$systems <- character()
  x$patterns <- pick_systems(x$patterns, 0L)
  model <- if (method_of(estimate)$model == "own") model_of_average(estimate) else fit$model
  suppressWarnings(fit_again(fit, join_patterns(x), model), classes = "fallible_warning")
}

# The posterior of raters does not depend on systems, and a second run would add Monte Carlo error.
fit_raters_only.draws_fit <- function(fit, estimate) fit # nolint: object_name.

model_of_average <- function(estimate) {
  if (has_counts(estimate$fit$x)) return(k_model())
  members <- estimate$members
  unequal <- sum(members$weight[members$errors != "uniform"]) / length(unique(members$system))
  if (unequal > 0.5) dawid_skene("weak") else rater_model("rater")
}

# Weights of truths of cases with probabilities `p`. `known`: is the truth known? `v`: number of
# times that each case counts. `back`: share of the way to shared errors. NULL if raters do not
# separate the categories.
truth_weights <- function(p, known, v, back) {
  if (isTRUE(back == 1)) return(p)
  open <- which(!known & v > 0)
  if (length(open) == 0L) return(p)
  undo <- undo_mixing(p[open, , drop = FALSE], v[open])
  if (is.null(undo)) return(NULL)
  independent <- p
  independent[!known, ] <- p[!known, , drop = FALSE] %*% undo
  independent + back * (p - independent)
}

# Transpose of D M^-1. Categories with hardly any expected case are left out.
undo_mixing <- function(p, v) {
  share <- colSums(p * v)
  there <- share >= few_cases
  p <- p[, there, drop = FALSE]
  p <- p / rowSums(p)
  base <- colSums(p * v)
  mixed <- crossprod(p, p * v)
  eigenvalues <- eigen(mixed / sqrt(outer(base, base)), symmetric = TRUE, only.values = TRUE)$values
  if (length(eigenvalues) > 1L && min(eigenvalues) < least_eigenvalue) return(NULL)
  out <- diag(length(share))
  out[there, there] <- solve(mixed, diag(base, length(base)))
  out
}
