# Methods that are based on one model of raters: "binned", "unbinned", "joint" and "shared". Also
# user-defined methods and models. Most formulas are in folder src/core/accuracy.

# Computes estimates by method "binned" or "unbinned". Returns the result of new_point(). For the
# arguments, see `estimate` in new_method().
estimate_k_model <- function(fit, options, average) {
  estimator <- make_estimator(fit, method_of(options), options)
  point <- compute_estimate(estimator)
  results <- point$numbers
  uninformative_share <- ifelse(results$cases > 0 & fit$identified == "yes",
    results$uninformative / results$cases, NA_real_)
  warn_above("uninformative",
    "The estimated accuracy is a mean over bins of cases, without the bins in which all categories
        are equally probable.",
    fit$x$systems, ifelse(is.na(results$estimate), NA, uninformative_share), " of its cases")
  new_point(
    results$estimate, estimator,
    bins = lapply(point$systems, `[[`, "bins"), uninformative = uninformative_share,
    mean_posterior = results$mean_posterior
  )
}

# ---- Methods "joint" (independent errors) and "shared" (shared errors) ---------------------------

# Computes two accuracies of each system in latent class models: one if the system's errors are
# independent of the raters' errors, the other if the system shares all errors of the raters. The
# estimate by method "joint" is the first accuracy or, with a correction for shared errors, a mean
# of both. The estimate by method "shared" is the second. Returns the result of new_point().
estimate_latent <- function(fit, options, average) {
  ratings <- fit$x
  missing_values <- rep(NA_real_, n_systems(ratings))
  if (fit$identified %in% c("chance", "unrelated", "no_pairs", "labels_only")) {
    return(new_point(missing_values, shared = missing_values, independent = missing_values))
  }
  check_model_size(ratings)
  estimators <- lapply(
    list(shared = method_shared, independent = method_joint), make_estimator,
    fit = fit, options = options
  )
  chosen_name <- if (options$method == method_shared$id) "shared" else "independent"
  points <- lapply(estimators, compute_estimate)
  accuracies <- lapply(
    points, function(point) if (point$identified) point$numbers$estimate else missing_values
  )
  point <- points[[chosen_name]]
  if (!point$converged) warn_convergence(options$method)
  correction <- correction_share(options, average_field(average, "typical", length(missing_values)))
  posteriors <- list_posteriors(point)
  if (any(correction != 0, na.rm = TRUE)) {
    posteriors <-
      Map(correct_for_shared_errors, posteriors, list_posteriors(points$shared), correction)
  }
  new_point(
    correct_for_shared_errors(accuracies[[chosen_name]], accuracies$shared, correction),
    combine_estimators(estimators[[chosen_name]], estimators$shared, correction),
    shared = accuracies$shared, independent = accuracies$independent,
    reason = if (!point$identified) {
      rep(reason_of_parameters(fit$model, n_categories(ratings)), length(missing_values))
    },
    posterior = named_posteriors(posteriors, ratings)
  )
}

# Result of bins_of_posterior() for systems without answers: a table without rows.
empty_bins <- data.frame(rep_named(
  c("lower", "upper", "probability", "cases", "agreement", "estimate_raw", "estimate"),
  list(double())
))

# Computes estimates from the posterior probabilities of any fit, including fits of user-defined
# models. Returns the result of new_point(). `accuracy_rule`: function that returns the accuracy of
# one system. Its arguments are answers, posterior, weights and options, see
# mean_posterior_of_answers().
posterior_fit_point <- function(fit, options, accuracy_rule) {
  if (!is.null(fit$model$family)) return(family_point(fit, options, accuracy_rule))
  fit_weights <- pattern_weights(fit$x)
  # Repeats the fit with other weights of patterns, for bootstrap replicates. If this is not
  # possible, `refit` is NULL, and replicates use the posterior probabilities of the original fit.
  refit <- new_refit_function(fit)
  compute_posteriors <- function(weight) {
    uses_original_fit <- is.null(refit) || identical(weight, fit_weights)
    rep(list(if (uses_original_fit) fit$posterior else refit(weight)), n_systems(fit$x))
  }
  posterior_point(fit, options, accuracy_rule, compute_posteriors)
}

# Computes estimates of all systems, and returns the result of new_point(). `compute_posteriors`:
# function of the weights of patterns that returns a list with the posterior of each system
# (patterns x categories). Other arguments: see posterior_fit_point().
posterior_point <- function(fit, options, accuracy_rule, compute_posteriors) {
  # Computes a quantity of all systems for given weights of patterns. `quantity`: "accuracy", or
  # "counts" for the expected numbers of cases by truth and answer.
  estimator <- function(weight, quantity) {
    compute_value <- function(answer, posterior, weight) {
      if (quantity == "counts") {
        counts_of_answers(answer, posterior, weight)
      } else if (length(answer) > 0L) {
        accuracy_rule(answer, posterior, weight, options)
      } else {
        NA_real_
      }
    }
    unlist(apply_to_systems(fit, weight, compute_posteriors(weight), compute_value))
  }
  method <- method_of(options)
  weight <- pattern_weights(fit$x)
  posteriors <- compute_posteriors(weight)
  point <- new_point(estimator(weight, "accuracy"), estimator,
    posterior = if (method$posterior) named_posteriors(posteriors, fit$x))
  if (method$bins) {
    point$bins <- apply_to_systems(fit, weight, posteriors, bins_of_posterior, options = options)
    point$uninformative <- na_real(vapply(point$bins, function(table) {
      sum(table$cases[is.na(table$estimate)]) / sum(table$cases)
    }, 0))
  }
  point
}

# Calls the function `compute` for each system, and returns a list of the results. The arguments of
# `compute` are the answers, posterior and weights of the patterns of ratings that the system
# answered, and `...`.
apply_to_systems <- function(fit, weight, posteriors, compute, systems = seq_along(fit$x$systems),
                             ...) {
  answers <- pattern_answers(fit$x)
  is_usable <- is_usable_pattern(fit) & weight > 0
  lapply(systems, function(s) {
    answered_patterns <- which(is_usable & answers[, s] > 0L)
    compute(
      answers[answered_patterns, s], pick_rows(posteriors[[s]], answered_patterns),
      weight[answered_patterns], ...
    )
  })
}

# Returns the accuracy of one system, as the mean posterior probability that its answers are
# correct. `answer`: category number of each pattern of ratings. `posterior`: patterns x categories.
# `weight`: number of cases of each pattern.
mean_posterior_of_answers <- function(answer, posterior, weight, ...) {
  weighted.mean(predict_correctness(posterior, answer), weight)
}

# Returns the accuracy by equation 7 of Lehner (2015), NA if all categories are equally probable.
# * agreement: share of cases for which the system gives the most probable category
# * probability: mean posterior probability of this category
# * n: number of categories
accuracy_of_agreement <- function(agreement, probability, n) {
  denominator <- n * probability - 1
  ifelse(denominator < 1e-6, NA_real_, ((n - 1) * agreement - 1 + probability) / denominator)
}

# Returns the accuracy of one system by method "unbinned". Arguments: see
# mean_posterior_of_answers().
unbinned_accuracy <- function(answer, posterior, weight, options) {
  agreement <- mean_posterior_of_answers(answer, posterior, weight)
  probability <- weighted.mean(rowSums(posterior^2), weight)
  accuracy <- accuracy_of_agreement(agreement, probability, ncol(posterior))
  if (options$clip == "none") accuracy else clip01(accuracy)
}

# Returns the accuracy of one system by method "binned". Arguments: see mean_posterior_of_answers().
binned_accuracy <- function(answer, posterior, weight, options) {
  known_bins <- drop_missing(bins_of_posterior(answer, posterior, weight, options), "estimate")
  if (nrow(known_bins) == 0L) return(NA_real_)
  accuracy <- weighted.mean(known_bins$estimate, known_bins$cases)
  if (options$clip == "overall") clip01(accuracy) else accuracy
}

# Returns the table of bins for one system. Bins group cases by their highest posterior probability.
# The first bin has the highest probabilities. A probability on the limit between two bins belongs
# to the bin with lower probabilities. Arguments: see mean_posterior_of_answers().
bins_of_posterior <- function(answer, posterior, weight, options) {
  if (length(answer) == 0L) return(empty_bins)
  width <- options$bin_width
  top_category <- most_probable(posterior)
  probability <- predict_correctness(posterior, answer)
  # An answer agrees with the raters if it is the most probable category. If n categories are
  # equally probable, an answer with one of them counts as 1/n of an agreement.
  agreement_weight <-
    (probability >= top_category$probability * (1 - tie_tolerance)) / top_category$tied
  last_bin <- ceiling(1 / width - 1e-9) - 1
  bin <- clamp(floor((1 - top_category$probability) / width + 1e-9 / width), 0, last_bin)
  bin_sums <- rowsum(weight * cbind(1, top_category$probability, agreement_weight), bin)
  bin_numbers <- as.double(rownames(bin_sums))
  n_cases <- unname(bin_sums[, 1L])
  probability <- bin_sums[, 2L] / n_cases
  agreement <- bin_sums[, 3L] / n_cases
  unclipped_accuracy <- accuracy_of_agreement(agreement, probability, ncol(posterior))
  data.frame(
    lower = pmax(1 - (bin_numbers + 1) * width, 0), upper = 1 - bin_numbers * width,
    probability = probability, cases = n_cases, agreement = agreement,
    estimate_raw = unclipped_accuracy,
    estimate = if (options$clip == "bin") clip01(unclipped_accuracy) else unclipped_accuracy,
    row.names = NULL
  )
}

# Returns an estimator: a function of `times` that calls the user's function `run`. `times` is the
# number of times each case was drawn, or NULL for the original ratings. If `run` has an argument
# `weights`, `run` is called with `times` as weights, otherwise with ratings of repeated cases.
new_function_estimator <- function(x, run) {
  has_weights_argument <- "weights" %in% names(formals(args(run)))
  structure(function(times, quantity) {
    unchecked_value <- if (has_weights_argument) {
      run(x, weights = times %||% weights_of_cases(x))
    } else if (is.null(times)) {
      run(x)
    } else {
      resampled_ratings <- weigh_patterns(x[rep(seq_along(times), times), ], NULL)
      # Copies of a case are different cases, also for functions that group ratings by case.
      resampled_ratings$cases <- make.unique(as.character(resampled_ratings$cases))
      run(resampled_ratings)
    }
    result <- check_estimator_result(unchecked_value, x$systems, "method", is.null(times))
    if (is.null(times)) result else result$estimate
  }, class = "case_estimator")
}

# Returns estimates by a user-defined function for resampled cases (replicates x systems). A
# replicate is NA if the function raises an error. A warning then shows the first error message.
# `estimator`: result of new_function_estimator().
case_replicates <- function(estimator, resampling, tick) {
  n_systems <- length(estimator(NULL, NULL)$estimate)
  results <- run_replicates(tick = tick, resampling = resampling, run = function(times) {
    without_warnings(tryCatch(estimator(times, NULL), error = identity))
  })
  is_error <- map_lgl(results, inherits, "error")
  errors <- results[is_error]
  warn_if(any(is_error), "bootstrap",
    "The function {.arg method} raised an error in {length(errors)} bootstrap replicate{?s}.",
    x = escape_braces("The first error is: ", message_in_one_line(errors[[1L]])),
    error = errors[[1L]])
  results[is_error] <- list(rep(NA_real_, n_systems))
  stack_rows(results)
}

# Computes estimates by a user-defined function `run`, for each group of cases if `by` is not NULL.
# `arguments`: list of other arguments of estimate_accuracy().
estimate_by_function <- function(x, run, arguments, by) {
  if (in_database(x))
    abort_no_cases("If {.arg method} is a function, it needs the ratings of each case")
  unusable_arguments <-
    names(drop_null(arguments[c("model", "common", "known_truth", "gold_sample")]))
  abort_argument_if(unusable_arguments, unusable_arguments[1L],
    "{.arg {unusable_arguments}} cannot be used if {.arg method} is a function.")
  interval <- arguments$interval %||% interval_bootstrap$id
  abort_argument_if(!interval %in% ids_with("own_fit", accuracy_intervals), "interval",
    "If {.arg method} is a function, {.arg interval} must be {.val bootstrap} or {.val none}.",
    x = "{.arg interval} is {describe(interval)}.")
  arguments[c("method", "interval")] <- list(method_shared$id, interval) # a method without options
  options <- check_accuracy_options(arguments)
  options$method <- "own function"
  options$threads <- check_threads(arguments$threads)
  # The registry of methods has no user-defined functions, so the record is in the options.
  options$method_record <- c(
    new_method("own function", "user-defined function", "none", run_user_function, explain =
      "The estimator is a user-defined function of the ratings, to be described here."), run = run
  )
  estimate_each_group(x, by, function(x, cluster, gold) {
    if (!is.null(cluster)) options$cluster <- match(cluster, unique(cluster))
    fit_and_run_function(x, options)
  }, arguments$cluster, NULL)
}

# Computes estimates by the user's function, which is stored in the record of the method. If
# run_user_function() were defined inside estimate_by_function(), each result would also contain the
# variables of estimate_by_function().
run_user_function <- function(fit, options, ...) {
  estimator <- new_function_estimator(fit$x, options$method_record$run)
  result <- estimator(NULL, NULL)
  new_point(result$estimate, estimator, reason = result$reason)
}

# Computes an estimate by the user-defined function in `options`. A model of raters is also fitted,
# because print() shows the agreement of raters. Warnings of this fit are suppressed, because the
# estimate does not use the fit.
fit_and_run_function <- function(x, options) {
  fit <- without_warnings(fit_raters(x))
  check_has_systems(fit$x)
  draft <- draft_estimate(fit, options)
  show_accuracy(new_accuracy_estimate(draft, compute_interval(draft)))
}

# ---- User-defined families of models, see rater_family() -----------------------------------------

# Computes the accuracies of systems for a user-defined model, once with shared errors and once with
# independent errors. With shared errors, the posterior is computed from raters only (method
# "shared"). With independent errors, it is computed from raters and the system (method "joint").
# `assumption`: which of the two accuracies is the estimate, "shared" or "independent". Returns the
# result of new_point().
estimate_family <- function(fit, options, assumption) {
  points <- lapply(list(shared = FALSE, independent = TRUE), function(joint) {
    family_point(fit, options, mean_posterior_of_answers, joint)
  })
  replace(points[[assumption]], names(points), lapply(points, `[[`, "value"))
}

# Computes the accuracies of systems for a user-defined model. Returns the result of new_point(). A
# correction for shared errors (option `common`) is not available. `joint`: are errors of systems
# independent of the raters' errors? Other arguments: see posterior_fit_point().
family_point <- function(fit, options, accuracy_rule, joint = FALSE) {
  abort_argument_if(!is.null(options$common) && !identical(options$common, "none"), "common",
    "{.arg common} cannot be used with a model of {.fun rater_family}.",
    i = "Use {.code method = \"joint\"} for independent errors and {.code method = \"shared\"} for
        shared errors.", call = NULL)
  ratings <- fit$x
  system_numbers <- seq_along(ratings$systems)
  n_systems <- length(system_numbers)
  if (fit$identified != "yes") {
    reason <- if (fit$identified == "parameters") rep(reason_of_fit(fit), n_systems)
    return(new_point(rep(NA_real_, n_systems), reason = reason))
  }
  family_models <- if (joint) {
    lapply(system_numbers, function(system) {
      family_model <- family_problem(ratings, fit$model, fit$known$truth, system, fit$known$base)
      if (identifies_parameters(family_model)) maximise_family(family_model) else
        c(family_model, list(lost = TRUE))
    })
  } else {
    list(problem_for_ratings(fit, ratings, fit$known$truth))
  }
  posterior_functions <- lapply(family_models, new_posterior_function)
  compute_posteriors <- function(weight) {
    posteriors <- lapply(posterior_functions, function(compute_posterior) compute_posterior(weight))
    rep_len(posteriors, n_systems)
  }
  point <- posterior_point(fit, options, accuracy_rule, compute_posteriors)
  is_not_identified <- map_lgl(family_models, function(model) isTRUE(model$lost))
  if (any(is_not_identified)) {
    point$value[is_not_identified] <- NA_real_
    point$reason <-
      ifelse(is_not_identified, reason_of_parameters(fit$model, n_categories(ratings)), NA)
  }
  has_not_converged <- map_lgl(family_models, function(model) isFALSE(model$converged))
  if (any(has_not_converged)) warn_convergence(options$method)
  point
}

# Returns a function that computes the posterior for given weights of patterns. If the weights
# differ from those of the fit, parameters are changed by a first-order approximation, without a new
# fit. `problem`: a fitted user-defined model, see maximise_family().
new_posterior_function <- function(problem) {
  parameters <- problem$theta
  # Change of the parameters if the weight of a pattern increases by one (parameters x patterns).
  # This matrix is only evaluated for a bootstrap.
  delayedAssign("change_per_case", (problem$inverse %||% inverse_curvature(problem, parameters)) %*%
    t(pattern_scores(problem, parameters)))
  function(weight) {
    weight_change <- (weight - problem$weight) * (problem$weight > 0)
    if (any(weight_change != 0)) parameters <- parameters + drop(change_per_case %*% weight_change)
    compute_expectations(problem, parameters)$posterior
  }
}

# ---- Records -------------------------------------------------------------------------------------

method_binned <- new_method(
  "binned", "binned method",
  model = "k", clips = TRUE, bins = TRUE, iterated = FALSE,
  estimate = estimate_k_model,
  of_posterior = function(fit, options) {
    posterior_fit_point(fit, options, binned_accuracy)
  },
  explain = "Cases were grouped by the highest posterior probability of a category, under a model in
    which raters are equally accurate, errors equally probable and cases equally difficult. In each
    group the accuracy was computed from that probability and from the share of cases for which the
    system gave the most probable category (Lehner 2015, equation 7)."
)

method_unbinned <- new_method(
  "unbinned", "unbinned method",
  model = "k", clips = TRUE, iterated = FALSE,
  estimate = estimate_k_model,
  of_posterior = function(fit, options) posterior_fit_point(fit, options, unbinned_accuracy),
  explain = "The accuracy is computed from the mean posterior probability of the system's answers,
    under a model in which raters are equally accurate, errors equally probable and cases equally
    difficult (a variant of Lehner 2015 without bins)."
)

method_joint <- new_method(
  "joint", "joint method",
  model = "any", posterior = TRUE, likelihood = TRUE, common = "none",
  estimate = estimate_latent,
  of_family = function(fit, options) estimate_family(fit, options, "independent"),
  explain = "The system was taken as one more rater in a latent class model, the {model}, fitted to
    all answers (Dawid and Skene 1979). {common}"
)

method_shared <- new_method(
  "shared", "shared method",
  model = "any", posterior = TRUE,
  estimate = estimate_latent,
  of_posterior = function(fit, options) {
    posterior_fit_point(fit, options, mean_posterior_of_answers)
  },
  of_family = function(fit, options) estimate_family(fit, options, "shared"),
  explain = "The accuracy is the mean posterior probability of the system's answers under the
    {model}, fitted to the raters only (Dawid and Skene 1979). This assumes that the system shares
    the raters' errors."
)
