# Accuracy of constant systems from one judge with known error rates, usually from a calibration
# sample of other cases. The accuracy is the base rate of the system's category (see
# fit-one-judge.R).

# Is the only rater known, and are all systems constant, so that their accuracies are base rates?
is_known_judge <- function(fit) {
  x <- fit$x
  n_raters(x) == 1L && any(is_known_rater(fit)) && n_systems(x) > 0L &&
    all(x$systems %in% x$constant)
}

#' @rdname estimate_accuracy
#' @export
estimate_accuracy.judge_fit <- function(x, # nolint: object_name.
                                        conf_level = default_conf_level(), by = NULL,
                                        systems = NULL, interval = NULL, ...) {
  off <- names2(drop_null(list(...)))
  abort_argument_if(off, "...",
    "{.arg {off}} cannot be used if the only rater is a judge with known error rates.",
    i = if ("known_truth" %in% off) "Leave out the calibration sample, {.arg known_raters}, to use
        {.arg known_truth}.")
  record <- if (is.null(interval)) interval_calibrated
  options <- list(
    method = method_calibrated$id, conf_level = check_level(conf_level), clip = NA_character_,
    bin_width = NA_real_, record = method_calibrated,
    interval = record$id %||% check_choice(interval, "none", "interval"), interval_record = record
  )
  by <- by_of_cases(rlang::enquo(by), x$x)
  x <- fit_with(x, choose_systems(x$x, systems))
  check_has_systems(x$x)
  answering <- setdiff(x$x$systems, x$x$constant)
  abort_if(answering, "system",
    "One judge with a calibration sample cannot estimate the accuracy of a system that has answers
        of its own.",
    x = "{.val {answering}} {?has/have} answers, and the sample does not show which errors the judge
        shares with {?it/them}.",
    i = "Label a random sample of the cases, and give it as {.arg known_truth}.",
    system = answering)
  if (is.null(by)) return(calibrated_estimate(x, options))
  estimate_by(x$x, by, function(part, cluster, gold) {
    fit <- fit_again(x, part)
    class(fit) <- union("judge_fit", class(fit))
    calibrated_estimate(fit, options)
  }, NULL, NULL)
}

calibrated_estimate <- function(fit, options) {
  x <- fit$x
  category <- apply(x$patterns$answer, 2L, max)
  value <- fit$base_rates[category]
  draft <- list(
    fit = fit, options = options, point = new_point(value), n = judged_cases(fit),
    parts = parts_of_average(value, NULL)
  )
  table <- result_table(value, reason = if (anyNA(value)) reason_of_fit(fit) else NA_character_)
  table$std.error <- unname(sqrt(variances(fit)[n_raters(x) + category]))
  if (!anyNA(value) && has_interval(draft)) {
    ends <- stats::confint(fit, rate_terms(x)[category], options$conf_level)
    table[c("conf.low", "conf.high")] <- split_columns(ends, 1:2)
    if (anyNA(ends)) table <- without_interval(table,
      if (weights_are_counts(x)) "the estimate is 0 or 1" else "weights are not counts")
  }
  out <- new_accuracy_estimate(draft, new_interval_found(table))
  out$table$why[is.na(value)] <- fit$identified
  show_accuracy(out)
}

# Notes on the assumption about the judge, and how far a bias of the judge would move estimates.
calibrated_notes <- function(x) {
  fit <- x$fit
  category <- fit$x$categories[[max(fit$x$patterns$answer[, 1L])]]
  if (fit$identified == "yes") {
    c(paste("Assumed:", calibration_assumption(fit)), lean_words(fit, category))
  }
}

method_calibrated <- new_method(
  "calibrated", "one judge and a calibration sample", model = "none", estimate = NULL,
  explain = function(estimate) {
    paste(
      "The share of ratings was corrected by the judge's known errors (Rogan and Gladen 1978). It",
      "is assumed that", calibration_assumption(estimate$fit)
    )
  }
)

interval_calibrated <- new_interval(
  "calibrated", words = "calibrated interval", find = identity,
  note = function(estimate) {
    paste0("sampling of these cases", if (!is.null(estimate$fit$calibrated))
      " and of the calibration sample", " alone")
  },
  explain = function(estimate) {
    sample <- estimate$fit$calibrated
    paste("The {interval}", if (is.null(sample)) {
      "is Wilson's, for the number of cases that gives the standard error."
    } else if (is.null(sample$draws)) {
      "is that of Lang and Reiczigel 2014."
    } else {
      "has percentiles of draws from Dirichlet distributions."
    })
  }
)

# Accuracy with one rater, or with one vote of a group. Agreement between raters cannot be computed,
# so gold cases measure accuracy. The rater's ratings of the other cases correct the estimate.

check_one_rater <- function(x, gold, method, interval) {
  check_has_systems(x)
  abort_if(is.null(gold), "raters",
    "One rater has no agreement to learn from, so {.fun estimate_accuracy} needs known truths.",
    x = if (n_raters(x) > 1L) "All raters are in one group, which counts as one vote." else
      "Found only {.val {x$raters}}. Systems do not count as raters.",
    i = c(
      "Label about 30 random cases:
       {.code estimate_accuracy(x, known_truth = labels, gold_sample = \"random\")}.",
      "If there is a calibration sample from elsewhere, use
       {.arg known_raters}."
    ), raters = x$raters)
  why <- "With one rater, accuracy is measured by gold cases."
  abort_argument_if(accuracy_methods[[method]]$model != "own", "method", why,
    x = "{.arg method} is {.val {method}}.", i = "Leave out {.arg method} and {.arg model}.")
  having <- names(gold_intervals)
  abort_argument_if(!is.null(interval) && !interval %in% having, "interval", why,
    not = interval, i = "Use {.or {.val {having}}}, or leave it out.")
}

check_no_fit_of_one_rater <- function(fit) {
  abort_argument_if(is_one_rater(fit$x) && any(known_patterns(fit)), "x",
    "must be ratings, not a fit with known truths, if there is one rater.",
    i = "Give {.fun estimate_accuracy} the ratings, with {.arg known_truth} and
      {.code gold_sample = \"random\"}.")
}

# A fit in which nothing is identified. Reruns of the rater agree, but only with each other.
fit_one_rater <- function(x, model) {
  if (!is.null(x$rater_groups)) x <- with_votes(x)
  fit <- fit_algebraic(x, model)
  fit$identified <- "no_pairs"
  unknown <- c("agreement", "kappa", "rater_accuracy", "base_rates", "covariance", "coefficients")
  fit[unknown] <- lapply(fit[unknown], function(value) replace(value, TRUE, NA_real_))
  fit
}

reason_one_rater <- paste(
  "one rater has no agreement to learn from; only gold cases that are a random sample measure it"
)

# How often the rater was correct on gold cases, for each truth if there are two. With reruns, the
# rater is correct if more than half of them are.
note_of_one_rater <- function(estimate) {
  evidence <- estimate$gold$evidence
  x <- estimate$fit$x
  if (is.null(evidence)) return(NULL)
  right <- predict_answer(evidence$predicted[evidence$at, , drop = FALSE], evidence$truth) > 0.5
  count <- function(cases) {
    paste(number(sum(right[cases], na.rm = TRUE)), "of", number(sum(cases)))
  }
  words <- if (n_categories(x) > 2L) paste("was right on", count(right | TRUE)) else paste0(
    "said ", paste(vapply(2:1, function(k) {
      label <- x$categories[[k]]
      paste(label, "for", count(evidence$truth == k), "with truth", label)
    }, ""), collapse = ", and ")
  )
  paste0("On gold cases ", x$raters, " ", words, ".")
}

# Share of ratings with which each constant system passes, without correction. Empty unless a
# single rater and gold cases measure the systems.
raw_pass_rate <- function(estimate) {
  evidence <- estimate$gold$evidence
  if (is.null(evidence) || !is_one_rater(estimate$fit$x)) return(numeric())
  q <- predict_answer(evidence$predicted, evidence$answer)
  rate <- colSums(evidence$weight * q, na.rm = TRUE) / colSums(evidence$weight * !is.na(q))
  names(rate) <- estimate$table$system
  rate[names(rate) %in% estimate$fit$x$constant]
}

# Number of labels without ratings that are equivalent to one label, by the number of runs
# (Spearman-Brown). `square`: squared correlation of the truth and one run.
equivalent_labels_of_runs <- function(runs, square, reliability) {
  1 / (1 - pmin(square * runs / (1 + (runs - 1) * reliability), most_explained))
}

rerun_words <- function(estimate) {
  x <- estimate$fit$x
  reliability <- rerun_reliability(x)
  measured <- measured_of(estimate$gold, 1L)
  if (is.na(reliability) || is.null(measured)) return(NULL)
  runs <- sum(pattern_weights(x) * pattern_lengths(x)) / sum(pattern_weights(x) * rated_patterns(x))
  square <- (1 - measured$ratio) * (1 + (runs - 1) * reliability) / runs
  worth <- decimals(equivalent_labels_of_runs(runs + 0:1, square, reliability), 2L)
  paste0("Reliability of runs: ", decimals(reliability, 2L), ". With one more run for each case, ",
    "a label would be worth ", worth[[2L]], " instead of ", worth[[1L]])
}
