# Methods based on the K-model fitted by algebra; the formulas are in src/core/accuracy.

estimate_k_model <- function(fit, options, average) {
  estimator <- make_estimator(fit, method_of(options = options), options)
  point <- point_of(estimator)
  numbers <- point$numbers
  known <- numbers$cases > 0 & fit$identified == "yes"
  uninformative <- ifelse(known, numbers$uninformative / numbers$cases, NA_real_)
  warn_above("uninformative", "Bins in which no category stands out do not count in the mean.",
    fit$x$systems, ifelse(is.na(numbers$estimate), NA, uninformative), " of its cases")
  new_point(
    numbers$estimate, estimator,
    bins = lapply(point$systems, `[[`, "bins"), uninformative = uninformative,
    mean_posterior = numbers$mean_posterior
  )
}

# Accuracy of systems under latent class models with independent or with shared errors; the formulas
# are in src/core/accuracy/latent.cpp.

# Computes both ends of the range for either method.
estimate_latent <- function(fit, options, average) {
  lacking <- rep(NA_real_, n_systems(fit$x))
  if (fit$identified %in% c("chance", "unrelated", "no_pairs", "labels_only")) {
    return(new_point(lacking, shared = lacking, independent = lacking))
  }
  check_model_size(fit$x)
  ends <- list(shared = method_shared, independent = method_joint)
  end <- names(ends)[vapply(ends, `[[`, "", "id") == options$method]
  estimators <- lapply(ends, make_estimator, fit = fit, options = options)
  points <- lapply(estimators, point_of)
  values <- lapply(points, function(p) if (p$identified) p$numbers$estimate else lacking)
  point <- points[[end]]
  if (!point$converged) warn_convergence(options$method)
  back <- correction_share(options, of_average(average, "typical", length(lacking)))
  posterior <- named_posteriors(point, fit$x)
  if (is_corrected(back)) {
    posterior <- Map(between_ends, posterior, named_posteriors(points$shared, fit$x), back)
  }
  new_point(
    between_ends(values[[end]], values$shared, back),
    mixed_estimator(estimators[[end]], estimators$shared, back),
    shared = values$shared, independent = values$independent,
    reason = if (!point$identified) {
      rep(reason_of_parameters(fit$model, n_categories(fit$x)), length(lacking))
    },
    posterior = posterior
  )
}

no_bins <- data.frame(rlang::rep_named(
  c("lower", "upper", "probability", "cases", "agreement", "estimate_raw", "estimate"),
  list(double())
))

# Estimates from a posterior given by the user, and their replicates for other pattern weights.
# `rule`: a function of answers, posterior, weights and options that returns the accuracy of one
# system.
posterior_fit_point <- function(fit, options, rule, posterior = FALSE, bins = NULL) {
  if (!is.null(fit$model$family)) {
    return(family_point(fit, options, rule, posterior = posterior, bins = bins))
  }
  given <- pattern_weights(fit$x)
  refit <- refitting(fit)
  beliefs <- function(weight) {
    anew <- !is.null(refit) && !identical(weight, given)
    rep(list(if (anew) refit(weight) else fit$posterior), n_systems(fit$x))
  }
  posterior_point(fit, options, rule, beliefs, posterior, bins)
}

# `beliefs`: a function of pattern weights that returns the posterior for each system.
posterior_point <- function(fit, options, rule, beliefs, posterior = FALSE, bins = NULL) {
  estimator <- posterior_estimator(fit, options, rule, beliefs)
  weight <- pattern_weights(fit$x)
  posteriors <- beliefs(weight)
  point <- new_point(estimator(weight, "accuracy"), estimator, posterior = if (posterior) {
    setNames(lapply(posteriors, `colnames<-`, fit$x$categories), fit$x$systems)
  })
  if (!is.null(bins)) {
    point$bins <- for_systems(fit, weight, posteriors, function(...) bins(..., options))
    point$uninformative <- na_real(vapply(point$bins, function(table) {
      sum(table$cases[is.na(table$estimate)]) / sum(table$cases)
    }, 0))
  }
  point
}

# Applies `run` to the answers of each system, the posterior and the weights of these patterns.
for_systems <- function(fit, weight, beliefs, run, systems = seq_along(fit$x$systems)) {
  answers <- pattern_answers(fit$x)
  counts <- judged_patterns(fit) & weight > 0
  lapply(systems, function(s) {
    use <- which(counts & answers[, s] > 0L)
    run(answers[use, s], beliefs[[s]][use, , drop = FALSE], weight[use])
  })
}

# A function of pattern weights that takes the place of an estimator of the core.
posterior_estimator <- function(fit, options, rule, beliefs) {
  force(list(fit, options, rule, beliefs))
  function(weight, quantity) {
    unlist(for_systems(fit, weight, beliefs(weight), function(answer, posterior, weight) {
      if (quantity == "counts") {
        counts_of_answers(answer, posterior, weight)
      } else if (length(answer) > 0L) {
        rule(answer, posterior, weight, options)
      } else {
        NA_real_
      }
    }))
  }
}

# Mean posterior probability of the answers.
mean_posterior_of_answers <- function(answer, posterior, weight, ...) {
  stats::weighted.mean(posterior[cbind(seq_along(answer), answer)], weight)
}

# Lehner's equation 7, given agreement and mean probability; NA if all categories are equally
# probable.
accuracy_of_agreement <- function(agreement, probability, n) {
  out <- ((n - 1) * agreement - 1 + probability) / (n * probability - 1)
  ifelse(n * probability - 1 < 1e-6, NA_real_, out)
}

unbinned_of_posterior <- function(answer, posterior, weight, options) {
  answered <- mean_posterior_of_answers(answer, posterior, weight)
  sure <- stats::weighted.mean(rowSums(posterior^2), weight)
  value <- accuracy_of_agreement(answered, sure, ncol(posterior))
  if (options$clip == "none") value else clip01(value)
}

binned_of_posterior <- function(answer, posterior, weight, options) {
  table <- bins_of_posterior(answer, posterior, weight, options)
  known <- drop_missing(table, "estimate")
  if (nrow(known) == 0L) return(NA_real_)
  value <- stats::weighted.mean(known$estimate, known$cases)
  if (options$clip == "overall") clip01(value) else value
}

# Bins are counted from the top; a limit belongs to the bin below it. Tied categories share the
# credit.
bins_of_posterior <- function(answer, posterior, weight, options) {
  if (length(answer) == 0L) return(no_bins)
  width <- options$bin_width
  best <- most_probable(posterior)
  probability <- posterior[cbind(seq_along(answer), answer)]
  credit <- (probability >= best$probability * (1 - tie_tolerance)) / best$tied
  last <- ceiling(1 / width - 1e-9) - 1
  bin <- pmin(pmax(floor((1 - best$probability) / width + 1e-9 / width), 0), last)
  sums <- rowsum(weight * cbind(1, best$probability, credit), bin)
  at <- as.double(rownames(sums))
  cases <- unname(sums[, 1L])
  probability <- sums[, 2L] / cases
  agreement <- sums[, 3L] / cases
  raw <- accuracy_of_agreement(agreement, probability, ncol(posterior))
  data.frame(
    lower = pmax(1 - (at + 1) * width, 0), upper = 1 - at * width, probability = probability,
    cases = cases, agreement = agreement, estimate_raw = raw,
    estimate = if (options$clip == "bin") clip01(raw) else raw, row.names = NULL
  )
}

# A user-defined function as a method: its estimates, and those from resampled cases. Its record is
# created on the fly and stored in the options of the estimate.
function_method <- function(run) {
  estimate <- function(fit, options, average) {
    estimator <- function_estimator(fit$x, run)
    result <- estimator(NULL, NULL)
    lacking <- is.na(result$estimate) & is.na(result$reason)
    new_point(
      result$estimate, estimator,
      reason = replace(result$reason, lacking, "the function gave no estimate")
    )
  }
  c(new_method("own function", "function of the user's", "none", estimate), run = run)
}

# A function of the number of times that each case was drawn (NULL: the original ratings). It
# returns the estimates of the user's function, which gets the weights of cases if it has an
# argument for them.
function_estimator <- function(x, run) {
  weighted <- "weights" %in% names(formals(args(run)))
  given <- weights_of_cases(x)
  structure(function(times, quantity) {
    value <- if (weighted) {
      run(x, weights = times %||% given)
    } else if (is.null(times)) {
      run(x)
    } else {
      run(weigh_patterns(x[rep(seq_along(times), times), ], NULL))
    }
    result <- as_result(value, x$systems, "method")
    if (is.null(times)) result else result$estimate
  }, class = "case_estimator")
}

# A row per replicate; NA if the function fails. Its first error message is shown.
case_replicates <- function(estimator, resampling, tick) {
  systems <- length(estimator(NULL, NULL)$estimate)
  rows <- resampled(tick = tick, resampling = resampling, run = function(times) {
    suppressWarnings(
      tryCatch(estimator(times, NULL), error = identity), classes = "fallible_warning"
    )
  })
  stopped <- vapply(rows, inherits, NA, "error")
  stops <- rows[stopped]
  warn_if(any(stopped), "bootstrap",
    "The function given as {.arg method} stopped in {length(stops)} bootstrap replicate{?s}.",
    x = verbatim("First: ", in_one_line(stops[[1L]])), error = stops[[1L]])
  rows[stopped] <- list(rep(NA_real_, systems))
  stack_rows(rows)
}

# Estimates by a user-defined function. `given`: other arguments of estimate_accuracy().
estimate_by_function <- function(x, run, given, by) {
  if (in_database(x)) abort_no_cases("A function as {.arg method} is given cases")
  options <- function_options(given)
  options$record <- function_method(run)
  estimate_by(x, by, function(x, cluster, gold) {
    options$cluster <- number_clusters(cluster)
    function_estimate(x, options)
  }, given$cluster, NULL)
}

# The K-model is fitted for the agreement of the raters only, so its identification does not matter.
function_estimate <- function(x, options) {
  fit <- suppressWarnings(fit_raters(x), classes = "fallible_warning")
  check_has_systems(fit$x)
  draft <- draft_estimate(fit, options)
  show_accuracy(new_accuracy_estimate(draft, interval_of_draft(draft)))
}

function_options <- function(given) {
  set <- names(drop_null(given[c("model", "common", "known_truth", "gold_sample")]))
  interval <- given$interval %||% interval_bootstrap$id
  ok <- interval %in% ids_with("own_fit", accuracy_intervals)
  abort_argument_if(length(set) > 0L || !ok, c(set, "interval")[[1L]],
    "A function as {.arg method} goes with {.code interval = \"bootstrap\"} or {.val none} only.",
    x = if (length(set) > 0L) "{.arg {set}} {?is/are} not for it." else "{.arg interval} is
        {describe(interval)}.")
  given[c("method", "interval")] <- list(method_shared$id, interval) # a method without options
  options <- check_accuracy_options(given)
  c(replace(options, "method", "own function"), threads = check_threads(given$threads))
}

# Accuracy of systems under user-defined families: the posterior of raters (shared), or of raters
# and system (joint), treated like the posterior of any fit; and the same for resampled cases.

# Computes both ends of the range for either method.
family_ends <- function(fit, options, end) {
  ends <- lapply(list(shared = FALSE, independent = TRUE), function(joint) {
    family_point(fit, options, mean_posterior_of_answers, joint, posterior = TRUE)
  })
  replace(ends[[end]], names(ends), lapply(ends, `[[`, "value"))
}

# The assumption about shared errors is one of the two ends.
family_point <- function(fit, options, rule, joint = FALSE, posterior = FALSE, bins = NULL) {
  abort_argument_if(!is.null(options$common) && !identical(options$common, "none"), "common",
    "{.arg common} is not for families of models.",
    i = "Use methods {.val joint} and {.val shared}, the two ends of the range.", call = NULL)
  x <- fit$x
  systems <- seq_along(x$systems)
  if (fit$identified != "yes") {
    reason <- if (fit$identified == "parameters") rep(reason_of_fit(fit), length(systems))
    return(new_point(rep(NA_real_, length(systems)), reason = reason))
  }
  problems <- if (joint) {
    lapply(systems, function(system) {
      problem <- family_problem(x, fit$model, fit$known$truth, system, fit$known$base)
      if (identifies_parameters(problem)) maximise_family(problem) else
        c(problem, list(lost = TRUE))
    })
  } else {
    list(problem_for(fit, x, fit$known$truth))
  }
  judges <- lapply(problems, moved_posterior)
  beliefs <- function(weight) {
    rep_len(lapply(judges, function(judge) judge(weight)), length(systems))
  }
  point <- posterior_point(fit, options, rule, beliefs, posterior, bins)
  lost <- lengths(lapply(problems, `[[`, "lost")) > 0L
  if (any(lost)) {
    point$value[lost] <- NA_real_
    point$reason <- ifelse(lost, reason_of_parameters(fit$model, n_categories(x)), NA)
  }
  if (any(vapply(problems, function(p) isFALSE(p$converged), NA))) warn_convergence(options$method)
  point
}

# A function of pattern weights that returns the posterior at the parameters for these weights.
moved_posterior <- function(problem) {
  theta <- problem$theta
  # Parameters x patterns: change of the parameters if the weight of a pattern increases by one.
  # Only evaluated for a bootstrap.
  delayedAssign("pull", (problem$inverse %||% inverse_curvature(problem, theta)) %*%
    t(pattern_scores(problem, theta)))
  function(weight) {
    change <- (weight - problem$weight) * (problem$weight > 0)
    if (any(change != 0)) theta <- theta + drop(pull %*% change)
    compute_expectations(problem, theta)$posterior
  }
}

# ---- Records -------------------------------------------------------------------------------------

method_binned <- new_method(
  "binned", "binned method",
  model = "k", clips = TRUE, bins = TRUE, iterated = FALSE,
  estimate = estimate_k_model,
  of_posterior = function(fit, options) {
    posterior_fit_point(fit, options, binned_of_posterior, bins = bins_of_posterior)
  },
  explain = "Cases were grouped by the highest posterior probability of a category, under a model in
    which raters are equally accurate, errors equally probable and cases equally difficult; in each
    group the accuracy follows from that probability and from how often the system gives the most
    probable category (Lehner 2015, equation 7)."
)

method_unbinned <- new_method(
  "unbinned", "unbinned method",
  model = "k", clips = TRUE, iterated = FALSE,
  estimate = estimate_k_model,
  of_posterior = function(fit, options) posterior_fit_point(fit, options, unbinned_of_posterior),
  explain = "The accuracy follows from the mean posterior probability of the system's answers, under
    a model in which raters are equally accurate, errors equally probable and cases equally
    difficult (a variant of Lehner 2015 without bins)."
)

method_joint <- new_method(
  "joint", "joint method",
  model = "any", posterior = TRUE, likelihood = TRUE, common = "none",
  estimate = estimate_latent,
  of_family = function(fit, options) family_ends(fit, options, "independent"),
  explain = "The system was taken as one more rater in a latent class model, the {model}, fitted to
    all answers (Dawid and Skene 1979). {common}"
)

method_shared <- new_method(
  "shared", "shared method",
  model = "any", posterior = TRUE,
  estimate = estimate_latent,
  of_posterior = function(fit, options) {
    posterior_fit_point(fit, options, mean_posterior_of_answers, posterior = TRUE)
  },
  of_family = function(fit, options) family_ends(fit, options, "shared"),
  explain = "The accuracy is the mean posterior probability of the system's answers under the
    {model}, fitted to the raters alone (Dawid and Skene 1979), which takes the system to err where
    the raters err."
)
