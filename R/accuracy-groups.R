# An estimate per group of cases: `by` of estimate_accuracy(). Groups share no parameters. In
# simulations, separate fits increased the root mean squared error by at most a few percent if
# groups were the same. One fit for all groups increased it by up to half if base rates or raters
# differed.

# `by`: the group of each case of `x`, or NULL. `estimate`: a function of some cases, their clusters
# and their gold cases.
estimate_by <- function(x, by, estimate, cluster, gold) {
  cluster <- check_case_values(cluster, x, "cluster")
  if (is.null(by)) return(estimate(x, cluster, gold))
  groups <- if (is.factor(by)) levels(droplevels(by)) else as.character(sort_strings(unique(by)))
  by <- as.character(by)
  # Seeds do not depend on where a group runs.
  seeds <- with_one_seed(sample.int(.Machine$integer.max, length(groups)))
  votes <- with_votes(x)
  panel <- c(list(constant = constant_raters(votes)), keep_decision(votes)$panel["abstain"])
  if (is.null(truth_for_fit(gold, x))) votes <- without_constant_raters(votes)
  panel <- c(panel, list(leans = rater_leans(votes), used = used_categories(votes)))
  tasks <- Map(function(group, seed) {
    cases <- which(by == group)
    part <- x[cases, ]
    part$panel <- panel
    cluster <- cluster[cases]
    gold <- gold_among(gold, cases, part)
    force(list(seed, estimate))
    function() with_run_seed(seed, catch_warnings(estimate(part, cluster, gold)))
  }, groups, seeds)
  results <- if (has_workers()) run_pieces(tasks, groups) else lapply(tasks, function(f) f())
  results <- setNames(results, groups)
  warn_groups(lapply(results, `[[`, "warnings"))
  estimates <- lapply(results, `[[`, "value")
  stack_results(estimates, "group", "accuracy_by_group",
    if (inherits(estimates[[1L]]$fit, "judge_fit")) {
      "The rater's errors are the same in all groups."
    } else {
      "Each group is fitted separately: raters' accuracy and base rates may differ between groups."
    })
}

# Returns the value of `code`, and the package's warnings, whose first lines are not wrapped.
catch_warnings <- function(code) {
  withr::local_options(cli.condition_width = Inf)
  caught <- rlang::env(all = list())
  value <- withCallingHandlers(code, fallible_warning = function(w) {
    caught$all <- c(caught$all, list(w))
    rlang::cnd_muffle(w)
  })
  list(value = value, warnings = caught$all)
}

# Raises one warning with the classes of all warnings, and a line about each class. `conditions`:
# lists of warnings, named by group.
warn_groups <- function(conditions) {
  all <- length(conditions) # nolint: object_usage.
  conditions <- conditions[lengths(conditions) > 0L]
  if (length(conditions) == 0L) return(invisible())
  warnings <- unlist(unname(conditions), recursive = FALSE)
  group <- rep(names(conditions), lengths(conditions))
  topic <- sub("^fallible_warning_", "", vapply(warnings, function(w) class(w)[[1L]], ""))
  of_topic <- lapply(split(group, factor(topic, unique(topic))), unique)
  about <- vapply(names(of_topic), function(kind) {
    text <- cli::ansi_strip(conditionMessage(warnings[[match(kind, topic)]]))
    verbatim(shorten(of_topic[[kind]], most = 6L), ": ", sub("\n.*", "", text))
  }, "")
  warn_fallible(unique(topic),
    c("{length(conditions)} of {all} groups have warnings.", bullets(about, 5L)),
    i = "The field {.field conditions} of this warning holds them by group.",
    groups = names(conditions), topics = of_topic, conditions = conditions)
}

# Cases in clusters: `cluster` of estimate_accuracy().

# Clusters as integers, or NULL.
number_clusters <- function(cluster) if (!is.null(cluster)) match(cluster, unique(cluster))

# Number of clusters with at least one rated case of positive weight.
count_clusters <- function(estimate) {
  x <- estimate$fit$x
  counts <- judged_patterns(estimate$fit)[x$index] & (x$weights %||% 1) > 0
  length(unique(estimate$options$cluster[counts]))
}

one_cluster <- "all rated cases are in one cluster"

is_one_cluster <- function(estimate) {
  !is.null(estimate$options$cluster) && count_clusters(estimate) < 2L
}

# Describes the resampling, for notes.
resampling_note <- function(estimate) {
  if (is.null(estimate$options$cluster)) return("case bootstrap")
  n <- count_clusters(estimate)
  paste0("bootstrap of ", count_noun(n, "cluster"), if (n < few_clusters) " (few, so too short)")
}

few_clusters <- 20L

# Ratio of the sampling errors with clusters and with cases resampled, for each system. Both are
# from the joint estimate, because its bootstrap is fast.
cluster_widening <- function(estimate) {
  options <- estimate$options
  if (is.null(options$cluster)) return(1)
  options$seed <- draw_seed()
  estimator <- make_estimator(estimate$fit, method_joint, options)
  error <- function(options) {
    draw <- resampling(estimate$fit$x, options)
    apply(replicates_of(estimator, "accuracy", draw), 2L, stats::sd, na.rm = TRUE)
  }
  widening <- error(options) / error(options[names(options) != "cluster"])
  ifelse(is.finite(widening), widening, 1)
}

# Labels from ratings, fits and estimates, see labels_of().

#' @exportS3Method
labels_of.default <- function(x, known_truth = NULL, gold_sample = NULL, # nolint: object_name.
                              votes = NULL, ...) {
  x <- with_votes(as_ratings(x, arg = "fit"))
  if (is.null(known_truth)) check_several_raters(x)
  labels_with_gold(x, gold_for_labels(x, known_truth, gold_sample), votes)
}

#' @exportS3Method
labels_of.rater_fit <- function(x, known_truth = NULL, gold_sample = NULL, # nolint: object_name.
                                votes = NULL, ...) {
  abort_argument_if(!is.null(known_truth), "known_truth",
    "{.arg known_truth} cannot be added to a fit.",
    i = "Give it to {.fun fit_raters}, or give the ratings to {.fun ground_truth}.")
  check_no_sample(gold_sample)
  labels_of_model(x)
}

# If the user did not choose a model, labels are those of the average.
#' @exportS3Method
labels_of.accuracy_estimate <- function(x, known_truth = NULL, # nolint: object_name.
                                        gold_sample = NULL, votes = NULL, ...) {
  gold <- x$gold %||% x$fitted_gold
  abort_argument_if(!is.null(known_truth) && length(gold$case) > 0L, "known_truth",
    "{.arg fit} is an estimate that already has gold cases.",
    i = "Give all known truths to {.fun estimate_accuracy}, or all to {.fun ground_truth} with the
         ratings.")
  if (!is.null(known_truth) || !is.null(gold_sample)) {
    gold <- gold_for_labels(x$fit$x, known_truth, gold_sample)
  }
  if (length(gold$case) == 0L) gold <- NULL
  if (!is_averaged(x) || !is_k_model(x$fit$model)) return(labels_of_model(x$fit, gold))
  if (is.null(gold)) return(set_average_defaults(average_labels(x$fit$x, x$fit$known)))
  labels_with_gold(x$fit$x, gold, votes)
}

# Known truths for labels, as resolve_gold() returns them.
gold_for_labels <- function(x, known_truth, gold_sample) {
  if (!is.null(known_truth) && in_database(x)) {
    abort_no_cases("{.arg known_truth} names cases")
  }
  gold <- resolve_gold(known_truth, gold_sample, x)
  warn_if(identical(gold$sample, "undeclared"), "hand_picked",
    "The {length(gold$case)} case{?s} with known truth {?sets its label/set their labels} only.",
    i = "If the cases were drawn at random, {.code gold_sample = \"random\"} also calibrates the
         labels of the other cases.", cases = length(gold$case))
  if (length(gold$case) > 0L) gold
}

# Labels of the average. A random sample of gold cases calibrates the labels of the other cases: it
# is compared with labels that do not use it.
labels_with_gold <- function(x, gold = NULL, votes = NULL) {
  if (isTRUE(votes == 1) && is.null(gold)) {
    return(list(x = x, posterior = unknown_posterior(x), certain = logical(n_patterns(x)), rho = 0))
  }
  x <- split_gold_patterns(x, gold)
  if (is.null(gold)) return(set_average_defaults(average_labels(x)))
  known <- replace(nothing_known, "truth", list(truth_of_patterns(x)))
  out <- set_average_defaults(average_labels(x, known))
  out$certain <- truth_of_patterns(out$x) > 0L
  out$one_judge <- all(pattern_lengths(x) < 2L)
  rated <- sum(rated_patterns(out$x)[out$x$index[gold$case]])
  if (out$one_judge || rated < least_gold || !is_sample(gold, x)) return(out)
  blind <- suppressWarnings(average_labels(x), classes = "fallible_warning")
  if (is.null(blind$reason)) out[c("gold", "blind")] <- list(gold, blind)
  out
}

least_gold <- 5L # number of rated gold cases that calibration needs
