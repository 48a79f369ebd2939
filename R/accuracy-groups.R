# With argument `by`, estimate_accuracy() computes an estimate per group of cases. Groups share no
# parameters. In simulations with equal groups, separate fits increased the root mean squared error
# by at most a few percent. If base rates or raters differed between groups, one fit for all groups
# increased this error by up to half.

# Computes an estimate for each group of cases, or one estimate for all cases if `by` is NULL.
# * by: group of each case of `x`.
# * estimate_group: a function that computes an estimate. Its arguments are the ratings of the cases
#   of a group, their clusters and their gold cases.
# * cluster: cluster of each case of `x`, or NULL.
# * gold: gold cases of all groups, see resolve_gold().
estimate_each_group <- function(x, by, estimate_group, cluster, gold) {
  cluster <- check_case_values(cluster, x, "cluster")
  if (is.null(by)) return(estimate_group(x, cluster, gold))
  groups <- if (is.factor(by)) levels(droplevels(by)) else as.character(sort_strings(unique(by)))
  by <- as.character(by)
  # Each group has a seed, so that its result is the same in every R process that may compute it.
  seeds <- with_one_seed(sample.int(.Machine$integer.max, length(groups)))
  # `panel_properties` is computed from all cases, so that it is the same for all groups.
  ratings_with_votes <- with_votes(x)
  panel_properties <- list(
    constant = constant_raters(ratings_with_votes),
    abstain = store_abstain_decision(ratings_with_votes)$panel$abstain
  )
  if (is.null(truth_for_fit(gold, x))) {
    ratings_with_votes <- without_constant_raters(ratings_with_votes)
  }
  panel_properties$leaders <- find_leading_categories(ratings_with_votes)
  panel_properties$used <- count_used_categories(ratings_with_votes)
  tasks <- Map(function(group, seed) {
    cases <- which(by == group)
    group_ratings <- x[cases, ]
    group_ratings$panel <- panel_properties
    cluster <- cluster[cases]
    gold <- keep_gold_of_group(gold, cases, group_ratings)
    force(list(seed, estimate_group))
    function() with_run_seed(seed, catch_warnings(estimate_group(group_ratings, cluster, gold)))
  }, groups, seeds)
  results <- if (has_workers()) run_tasks_in_workers(tasks, groups) else
    lapply(tasks, function(task) task())
  warn_groups(lapply(results, `[[`, "warnings"))
  estimates <- lapply(results, `[[`, "value")
  stack_results(estimates, "group", "accuracy_by_group",
    if (inherits(estimates[[1L]]$fit, "judge_fit")) {
      "The rater's errors are the same in all groups."
    } else {
      "Each group is fitted separately: raters' accuracy and base rates may differ between groups."
    })
}

# Runs `code` without showing warnings of this package. Returns a list: `value` of the code, and
# `warnings`.
catch_warnings <- function(code) {
  collected_warnings <- env(warnings = list())
  value <- withCallingHandlers(code, fallible_warning = function(w) {
    collected_warnings$warnings <- c(collected_warnings$warnings, list(w))
    rlang::cnd_muffle(w)
  })
  list(value = value, warnings = collected_warnings$warnings)
}

# Raises one warning for all groups, with the classes of all warnings. Its text has a line for each
# different message (at most five), which begins with the names of its groups. The hints of the
# first warning of each class follow. `conditions`: for each group, a list of its warnings.
warn_groups <- function(conditions) {
  n_groups <- length(conditions) # nolint: object_usage.
  conditions <- conditions[lengths(conditions) > 0L]
  if (length(conditions) == 0L) return(invisible())
  get_topic <- function(w) sub("^fallible_warning_", "", class(w)[[1L]])
  warnings <- unlist(unname(conditions), recursive = FALSE)
  # The first warning of each class comes first, because only five lines are shown.
  warning_order <- order(duplicated(map_chr(warnings, get_topic)))
  warnings <- warnings[warning_order]
  topics <- map_chr(warnings, get_topic)
  group_of_warning <- rep(names(conditions), lengths(conditions))[warning_order]
  groups_of_value <- function(value) lapply(split(group_of_warning, factor_in_order(value)), unique)
  message_texts <- map_chr(warnings, unwrapped_message)
  message_groups <- groups_of_value(sub("\n.*", "", message_texts))
  message_lines <- escape_braces(
    map_chr(message_groups, shorten, most = 6L), ": ", names(message_groups)
  )
  text_lines <- unlist(strsplit(message_texts[!duplicated(topics)], "\n", fixed = TRUE))
  hints <- grep("^(\u2139|i) ", text_lines, value = TRUE)
  warn_fallible(unique(topics),
    c("{length(conditions)} of {n_groups} groups have warnings.", bullets(message_lines, 5L)),
    i = escape_braces(substring(unique(hints), 3L)),
    groups = names(conditions), topics = groups_of_value(topics), conditions = conditions)
}

# ---- Clusters of dependent cases: `cluster` in argument `resampling` of estimate_accuracy() ------

# Returns the number of clusters with at least one rated case of positive weight.
count_clusters <- function(estimate) {
  x <- estimate$fit$x
  is_counted_case <- is_usable_pattern(estimate$fit)[x$index] & (x$weights %||% 1) > 0
  n_distinct(estimate$options$cluster[is_counted_case])
}

# Reason why there is no interval, for column `reason`.
reason_one_cluster <- "all rated cases are in one cluster"

has_one_cluster <- function(estimate) {
  !is.null(estimate$options$cluster) && count_clusters(estimate) < 2L
}

# Returns words for a printed note on the bootstrap, such as "case bootstrap, 200 replicates".
replicates_note <- function(estimate) {
  options <- estimate$options
  resampling_text <- if (is.null(options$cluster)) {
    "case bootstrap"
  } else {
    n_clusters <- count_clusters(estimate)
    paste0(
      "bootstrap of ", count_noun(n_clusters, "cluster"),
      if (n_clusters < min_bootstrap_clusters) " (few, so intervals are too narrow)"
    )
  }
  paste0(resampling_text, ", ", number(options$replicates), " replicates")
}

min_bootstrap_clusters <- 20L # with fewer clusters, bootstrap intervals are too narrow

# Returns the factor by which clusters change the sampling error of each system; 1 without clusters.
# The factor is the ratio of two standard errors, from resampled clusters and from resampled cases.
# Both are computed with method "joint", because its bootstrap is fast.
cluster_widening <- function(estimate) {
  options <- estimate$options
  if (is.null(options$cluster)) return(1)
  options$seed <- draw_seed()
  estimator <- make_estimator(estimate$fit, method_joint, options)
  compute_standard_error <- function(options) {
    replicates <- compute_replicates(estimator, "accuracy", resampling(estimate$fit$x, options))
    apply(replicates, 2L, sd, na.rm = TRUE)
  }
  widening_factor <- compute_standard_error(options) /
    compute_standard_error(options[names(options) != "cluster"])
  ifelse(is.finite(widening_factor), widening_factor, 1)
}

# ---- Methods of initial_labels() -----------------------------------------------------------------

# Labels are the probabilities of the true category of each case. They are computed from ratings,
# fits or estimates.

#' @exportS3Method
initial_labels.default <- function(x, known_truth, gold_sample, votes) { # nolint: object_name.
  x <- with_votes(as_ratings(x, arg = "fit"))
  if (is.null(known_truth)) check_several_raters(x)
  labels_with_gold(x, resolve_gold_for_labels(x, known_truth, gold_sample), votes)
}

#' @exportS3Method
initial_labels.rater_fit <- function(x, known_truth, gold_sample, votes) { # nolint: object_name.
  abort_argument_if(!is.null(known_truth), "known_truth",
    "{.arg known_truth} cannot be added to a fit.",
    i = "Give {.arg known_truth} to {.fun fit_raters}, or give the ratings and {.arg known_truth} to
        {.fun ground_truth}.")
  check_gold_sample_not_given(gold_sample)
  labels_of_model(x)
}

# Labels are computed by method "average" unless the user chose another method or model.
#' @exportS3Method
initial_labels.accuracy_estimate <- # nolint: object_name, object_length.
  function(x, known_truth, gold_sample, votes) {
  fit <- x$fit
  gold <- x$gold %||% x$fitted_gold
  abort_argument_if(!is.null(known_truth) && has_gold_cases(gold), "known_truth",
    "{.arg fit} is an estimate that already has gold cases, so {.arg known_truth} cannot be added.",
    i = "Give all known truths to {.fun estimate_accuracy}, or all to {.fun ground_truth} with the
         ratings.")
  if (!is.null(known_truth) || !is.null(gold_sample)) {
    gold <- resolve_gold_for_labels(fit$x, known_truth, gold_sample)
  }
  if (!has_gold_cases(gold)) gold <- NULL
  if (!is_averaged(x) || !is_k_model(fit$model)) return(labels_of_model(fit, gold))
  if (is.null(gold)) set_average_defaults(average_labels(fit$x, fit$known)) else
    labels_with_gold(fit$x, gold, votes)
}

# Returns gold cases for labels, in the form of resolve_gold(); NULL if there are none.
resolve_gold_for_labels <- function(x, known_truth, gold_sample) {
  if (!is.null(known_truth) && in_database(x)) {
    abort_no_cases("{.arg known_truth} needs the ratings of each case")
  }
  gold <- resolve_gold(known_truth, gold_sample, x)
  warn_if(identical(gold$sample, "undeclared"), "hand_picked",
    "{length(gold$case)} case{?s} with known truth {?is/are} not used to calibrate the labels of
        other cases, because it is not known how {?it was/they were} chosen.",
    i = "If they are a random sample, add {.code gold_sample = \"random\"}.",
    cases = length(gold$case))
  if (has_gold_cases(gold)) gold
}

# Computes labels (probabilities of the categories of each case) by method "average". `votes`: see
# ground_truth(). If there is a sample with enough gold cases, the result has a field `blind`:
# labels computed without gold cases. To calibrate labels, `blind` is compared with the known truth.
labels_with_gold <- function(x, gold, votes) {
  if (isTRUE(votes == 1) && is.null(gold)) {
    return(list(x = x, posterior = missing_posterior(x), certain = logical(n_patterns(x)), rho = 0))
  }
  x <- split_gold_patterns(x, gold)
  if (is.null(gold)) return(set_average_defaults(average_labels(x)))
  labels <- set_average_defaults(
    average_labels(x, replace(nothing_known, "truth", list(truth_of_patterns(x))))
  )
  labels$certain <- truth_of_patterns(labels$x) > 0L
  labels$one_judge <- all(pattern_lengths(x) < 2L)
  n_rated_gold <- sum(is_rated_pattern(labels$x)[labels$x$index[gold$case]])
  if (labels$one_judge || n_rated_gold < min_gold_cases || !is_probability_sample(gold, x)) {
    return(labels)
  }
  labels_without_gold <- without_warnings(average_labels(x))
  if (is.null(labels_without_gold$reason)) {
    labels[c("gold", "blind")] <- list(gold, labels_without_gold)
  }
  labels
}

min_gold_cases <- 5L # number of rated gold cases that calibration needs
