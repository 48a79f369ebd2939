# Labels of ratings, fits and estimates: see labels_of().

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

# An estimate that names no model has the labels of the average.
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
  if (is.null(gold)) return(averaged(average_labels(x$fit$x, x$fit$known)))
  labels_with_gold(x$fit$x, gold, votes)
}

# Known truths for labels, as settle_gold() returns them.
gold_for_labels <- function(x, known_truth, gold_sample) {
  if (!is.null(known_truth) && in_database(x)) {
    abort_no_cases("{.arg known_truth} names cases")
  }
  gold <- settle_gold(known_truth, gold_sample, x)
  warn_if(identical(gold$sample, "undeclared"), "hand_picked",
    "The {length(gold$case)} case{?s} with known truth {?sets its label/set their labels} only.",
    i = "If the cases were drawn at random, {.code gold_sample = \"random\"} also calibrates the
         labels of the other cases.", cases = length(gold$case))
  if (length(gold$case) > 0L) gold
}

# Labels of the average. A random sample of gold cases calibrates the labels of the other cases, by
# comparison with labels that have not used it.
labels_with_gold <- function(x, gold = NULL, votes = NULL) {
  if (isTRUE(votes == 1) && is.null(gold)) {
    return(list(x = x, posterior = unknown_posterior(x), certain = logical(n_patterns(x)), rho = 0))
  }
  x <- with_gold_patterns(x, gold)
  if (is.null(gold)) return(averaged(average_labels(x)))
  known <- replace(nothing_known, "truth", list(truth_of_patterns(x)))
  out <- averaged(average_labels(x, known))
  out$certain <- truth_of_patterns(out$x) > 0L
  out$one_judge <- all(pattern_lengths(x) < 2L)
  rated <- sum(rated_patterns(out$x)[out$x$index[gold$case]])
  if (out$one_judge || rated < least_gold || !is_sample(gold, x)) return(out)
  blind <- suppressWarnings(average_labels(x), classes = "fallible_warning")
  if (is.null(blind$reason)) out[c("gold", "blind")] <- list(gold, blind)
  out
}

least_gold <- 5L # rated gold cases that can calibrate labels
