#' Accuracy of systems
#'
#' Estimates the probability that a system gives the correct category, without knowing the correct
#' categories. Fits raters first, unless given a fit.
#'
#' @section Methods:
#' * `"average"`, the default, takes the system as one more rater in a family of models: raters
#'   equally accurate or not; errors uniform, by distance (if categories are ordered), or each judge
#'   (rater or system) with error rates of its own around these; cases equally difficult or not; and
#'   a confusion matrix for each judge, around its accuracy (a hierarchical Dawid-Skene model).
#'   Models are weighed by how probable they make all answers (Laplace and variational
#'   approximations to the evidence). The mean posterior probability of the system's answers,
#'   averaged over models, as if it had been right once and wrong once before, is column
#'   `independent`: in all models errors are independent given the truth. The estimate takes back a
#'   part of it, for errors in common (next section). Nothing is drawn at random.
#' * `"binned"` is the published method. Cases are put into bins by their highest posterior
#'   probability, `(0.9, 1]`, `(0.8, 0.9]` and so on. In a bin with mean highest probability `Pg`,
#'   where the system gives the most probable category in a share `Pa` of the cases, accuracy is
#'   `((N - 1) Pa - 1 + Pg) / (N Pg - 1)` for `N` categories (equation 7), clipped to \[0, 1\]. The
#'   estimate is the mean over bins, weighted by cases. Tied categories share the credit. A bin in
#'   which no category stands out (`N Pg - 1 < 1e-6`) says nothing and leaves the mean, with a
#'   warning.
#' * `"unbinned"` uses all categories of all cases at once: with `Q` the mean posterior probability
#'   of the system's answers and `S2` the mean sum of squared posterior probabilities, accuracy is
#'   `((N - 1) Q - 1 + S2) / (N S2 - 1)`, clipped. It needs no bins and has smaller error in small
#'   samples.
#' * `"joint"` takes the system as one more rater of the `model`, fitted by likelihood: its errors
#'   are its own, independent of those of the raters given the truth.
#' * `"shared"` is the mean posterior probability of the system's answers under the `model` fitted
#'   to the raters alone: the system knows nothing that the raters do not.
#'
#' On 52 public data sets of 29 families with known truth the mean absolute error of `"average"` is
#' .051 (standard error .009), that of `"binned"` .068 and that of `"shared"` .051; on the 17 with
#' classifiers .022, .028 and .027. With `common = "none"` that of `"average"` is .065 and .042.
#'
#' @section What system and raters may have in common:
#' Agreement cannot tell how far the system errs where the raters err. Columns `shared` and
#' `independent` are the ends of that range: with methods `"joint"` and `"shared"` those of their
#' `model`, otherwise the mean posterior under a hierarchical Dawid-Skene model of the raters alone
#' (averaged with its one-coin limit), and the average. `common` is what is assumed: with a share
#' `c` of errors in common the estimate is `independent - c (independent - shared)`.
#'
#' `"none"` is `c = 0`, `"all"` is `c = 1`. `"typical"` is `s / (N - 1)`, where `N` is the number of
#' categories that raters used, in the whole panel also with `by`, and `s = max(0, 1 - 2 w)` is the
#' suspicion: `w` is the weight of the models in which cases are equally difficult and judges have
#' no error rates of their own. Where raters are wrong in more than .9 of what guessing would be,
#' `s` is 1, since models with such raters cannot vouch for anything. `N` counts because two
#' independent wrong answers coincide with probability `1 / (N - 1)`: with many categories errors in
#' common show as a surplus of coinciding wrong answers, with two they never do. No constant of the
#' rule was fitted, but it is a heuristic: where errors truly are independent, raters unequal, cases
#' many and categories two, it takes back too much. Of language models as raters every estimate is
#' too high, this one by .11 on three such panels; only known truths help there.
#'
#' @section Intervals:
#' `"robust"` allows for what sampling error leaves out: on real data raters err on the same cases,
#' and systems err there too. Its variance is
#' `sampling^2 + s ((E / 4)^2 + (gap / 2)^2)`, where `E` is the share of wrong ratings (times the
#' share of the system's cases whose truth is not known), `gap` is `independent` (of other methods
#' the estimate) less column `shared` of `"average"`, and `s` the suspicion: where the data speak
#' for models without errors in common, nothing is added. Where `common` is stated, as a number or
#' one of `"none"` and `"all"`, the variance is `sampling^2`: the interval says what follows from
#' the assumption. 90% intervals cover .93 of the accuracies in the 52 sets, each set counting the
#' same; with a constant of `E` that is chosen without the family of each set, .89. For `"average"`,
#' `sampling` is from the curvature of the posterior and the differences between models, for other
#' methods from a bootstrap. Raters who copy from each other are beyond it.
#'
#' If raters are language models (`rater_kind = "model"` of [ratings()]) nothing vouches for them
#' (`max(0, 1 - 2 w)` is 1), and the variance has one more term: the square of the distance from `E`
#' to the share of wrong ratings of raters who agree as much, but whose being right has a
#' correlation of .55. Judges who err together agree on wrong answers, and so look better than they
#' are, as does what errs with them. In 150 planted panels with correlations of .3 to .8 the plain
#' interval covers a quarter, this one .91 (bench/model-raters.R); it is wide, and the number a
#' guess without cases of known truth.
#'
#' `"conformal"` is robust, but as wide as it had to be in data sets with known truth: see
#' [calibrate_interval()]. Its promise holds in samples of any size.
#'
#' `"bootstrap"` resamples cases, fits raters anew each time (of averaged models those that weigh at
#' least .001, which are weighed anew), and gives percentiles. It covers sampling error only:
#' nominal 90% intervals of this kind cover far fewer of the accuracies in public sets.
#' Replicates in which agreement is no better than by chance have no estimate; they are counted, and
#' reported if they are many. Where clipping biases the estimate the interval is lopsided, since its
#' replicates are biased again, and may even leave the estimate outside. It is `NA`, with a reason,
#' where replicates do not vary (a system that is always right, say), where most of them have no
#' estimate, or where weights are not counts.
#'
#' @section Warnings:
#' Of averaged estimates and robust intervals two things are told apart.
#' `fallible_warning_few_data`: an interval for sampling error alone would be wider than .2; more
#' cases help. `fallible_warning_assumption`: `shared` and `independent` are further than .1 apart
#' (times the share of cases whose truth is not known), so that the accuracy rests on an assumption
#' that ratings cannot test; cases with known truth help.
#'
#' @section Degenerate data:
#' Where agreement is no better than by chance, or no two raters share a case, all is `NA` with a
#' reason. Perfect agreement, two raters, categories that nobody used, raters below chance among
#' better ones, and repeated ratings (which count as independent) have estimates; priors keep them
#' inside (0, 1). Weights count as numbers of cases, or, if they sum to one and so are
#' probabilities, as shares of a million. Where they are not whole numbers there is no interval.
#' Where raters used one category only, nothing is known of what coincidence means, and `"typical"`
#' gives `NA`.
#'
#' @param x A [ratings()] object with systems, or the result of [fit_raters()].
#' @param method `r said_ids(accuracy_methods())`; `NULL` is `"average"`, or `"joint"` where `model`
#'   (or the fit) is not the K-model or knows raters. Of a fit by [as_rater_fit()] `"shared"`,
#'   `"binned"` or `"unbinned"`, with `interval` `"bootstrap"` or `"none"`. Or a function of
#'   [ratings()] that returns a number per system, or a data frame with a column `estimate` and a
#'   row per system: its intervals are by the bootstrap (or `"none"`), for which it is called with
#'   the ratings of cases drawn anew; if it has an argument `weights`, with the ratings as they are
#'   and how often each case was drawn.
#' @param model A [rater_model()] for methods `"joint"` and `"shared"`; the others know [k_model()]
#'   only. Not for a fit, which has one.
#' @param interval `r said_ids(accuracy_intervals())`; `"profile"` is for method `"joint"`.
#' @param conf_level Probability with which the interval is meant to cover, in (0, 1); 0.9, or what
#'   option `fallible.conf_level` says (see [fallible-options]).
#' @param clip Where estimates are clipped to \[0, 1\]: in each `"bin"`, as published, `"overall"`,
#'   or `"none"`.
#' @param bin_width Width of the bins of `"binned"`, a probability in \[0.001, 1\]. One bin is 1.
#' @param replicates Number of bootstrap replicates; `NULL` is 1000, and 200 for robust intervals
#'   (where `"average"` needs none).
#' @param common What is assumed of errors that systems and raters have in common: `"typical"`, what
#'   such panels typically have; `"none"`, as published; `"all"`, the system errs where the raters
#'   err; or a number, the share in \[0, 1\] of the distance from the one to the other. `NULL` is
#'   `"typical"` for `"average"` and `"none"` for `"joint"`; the other methods cannot have it.
#' @param threads Number of threads; no more are used than the machine has cores, or than option
#'   `mc.cores` says; 1, or what option `fallible.threads` says. The same seed gives the same result
#'   for any number.
#' @param systems Names of the systems to judge; `NULL` for all.
#' @param ... Not used.
#' @return An object of class `accuracy_estimate` with methods for `print()`, `summary()`,
#'   [tidy()][tidy.accuracy_estimate], [glance()][tidy.accuracy_estimate],
#'   [autoplot()][autoplot.accuracy_estimate], and the function [bins()].
#' @family estimation
#' @templateVar where Equations 6-7
#' @template ref-lehner
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' estimate_accuracy(x)
#'
#' # As published.
#' set.seed(1)
#' published <- estimate_accuracy(x, method = "binned", interval = "bootstrap")
#' published
#' bins(published)
#' @export
estimate_accuracy <- function(x, ...) UseMethod("estimate_accuracy")

#' @export
estimate_accuracy.default <- function(x, ...) {
  estimate_accuracy(as_ratings(x, call = rlang::current_env()), ...)
}

#' @rdname estimate_accuracy
#' @export
estimate_accuracy.ratings <- function(x, method = NULL, model = k_model(),
                                      interval = "robust",
                                      conf_level = default_conf_level(),
                                      clip = c("bin", "overall", "none"), bin_width = 0.1,
                                      replicates = NULL, common = NULL,
                                      threads = default_threads(), by = NULL, cluster = NULL,
                                      systems = NULL, ...) {
  call <- rlang::current_env()
  check_dots_empty(...)
  if (is.function(method)) {
    given <- mget(c(accuracy_options, "threads"))
    if (missing(interval)) given["interval"] <- list(NULL)
    if (!missing(model)) given$model <- model
    x <- choose_systems(x, systems, call)
    return(estimate_by_function(x, method, given, by, cluster, call))
  }
  check_class(model, "rater_model", "model", "Make one with {.fun rater_model}.")
  method <- check_accuracy_method(method %||% default_method(model), call)
  given <- mget(c(accuracy_options, "threads"))
  estimate <- function(x, cluster) estimate_anew(x, cluster, model, NULL, given)
  x <- choose_systems(x, systems, call)
  if (is.null(by)) estimate(x, cluster) else estimate_by(x, by, estimate, cluster, call)
}

# Fits the raters of some cases and judges their systems; `given` are all other arguments.
estimate_anew <- function(x, cluster, model, fit_method, given) {
  fit <- fit_for(given$method, x, model, fit_method)
  do.call("estimate_accuracy", c(list(fit, cluster = cluster), given))
}

fit_for <- function(method, x, model, fit_method) {
  averages <- accuracy_methods()[[method]]$model == "own"
  withCallingHandlers(
    fit_raters(x, model, fit_method),
    # Base rates by algebra, of which the average makes no use.
    fallible_warning_boundary = function(w) if (averages) rlang::cnd_muffle(w)
  )
}

#' @rdname estimate_accuracy
#' @export
estimate_accuracy.rater_fit <- function(x, method = NULL,
                                        interval = "robust",
                                        conf_level = default_conf_level(),
                                        clip = c("bin", "overall", "none"), bin_width = 0.1,
                                        replicates = NULL, common = NULL,
                                        threads = default_threads(), by = NULL, cluster = NULL,
                                        systems = NULL, ...) {
  call <- rlang::current_env()
  check_dots_empty(...)
  if (!is.null(systems)) x <- fit_beside(x, choose_systems(x$x, systems, call))
  if (is_own_fit(x) && missing(interval)) interval <- interval_bootstrap$id
  method <- method %||% default_method(x$model, is_known_rater(x))
  if (!is.null(by)) {
    check_nothing_known(x, call)
    given <- mget(c(accuracy_options, "threads"))
    estimate <- function(group, cluster) estimate_anew(group, cluster, x$model, x$method, given)
    return(estimate_by(x$x, by, estimate, cluster, call))
  }
  options <- check_accuracy_options(mget(accuracy_options), call)
  options$threads <- check_threads(threads)
  options["cluster"] <- list(check_cluster(cluster, x$x, call))
  if (length(x$x$systems) == 0L) {
    abort_fallible("system", c(
      "There is no system whose accuracy could be estimated.",
      "i" = "Give {.arg systems} to {.fun ratings}."
    ), system = character(), call = call)
  }
  check_pair(options, x$model, x, call)
  draft <- draft_estimate(x, options)
  estimate <- new_accuracy_estimate(draft, interval_of_draft(draft))
  if (!is.null(draft$average)) warn_doubtful(estimate)
  estimate
}

check_nothing_known <- function(fit, call) {
  if (any(known_patterns(fit)) || any(is_known_rater(fit)) || is_own_fit(fit)) {
    abort_fallible("argument", c(
      "{.arg by} fits each group anew and cannot use known truths or raters, or a given posterior.",
      "i" = "Fit the cases of each group, {.code x[cases, ]}, with what is known of them."
    ), arg = "by", call = call)
  }
}

# Everything but the interval. Fields: fit, options, average (what average_of() gives, or NULL),
# point (see new_point()), beside (see beside_average()), n (the number of cases of each system that
# raters saw), reason (why its estimate is NA).
draft_estimate <- function(fit, options) {
  draft <- list(fit = fit, options = options)
  method <- method_of(draft)
  if (method$model == "own" || interval_of(draft)$average || asks_average(options)) {
    draft$average <- average_of(fit, options)
  }
  draft$point <- if (is_own_fit(fit)) {
    method$of_posterior(fit, options)
  } else {
    method$estimate(fit, options, draft$average)
  }
  draft$beside <- beside_average(fit, draft$point$value, draft$average)
  rated <- judged_patterns(fit)
  answered <- fit$x$patterns$answer > 0L
  draft$n <- vapply(
    seq_along(fit$x$systems), function(s) count_cases(fit$x, rated & answered[, s]), 0
  )
  draft$reason <- draft$point$reason %||% reason_no_estimate(
    fit$identified, fit$agreement, length(fit$x$categories), draft$point$value, draft$n,
    used_categories(fit$x)
  )
  draft
}

# What a method says, a number or an entry per system: value, the estimate; estimator, whose
# replicates are those of the estimate; the ends of the range of what system and raters may share,
# if the method has ends of its own; reason, if the method knows better than reason_no_estimate()
# why values are NA; posterior (patterns x categories of each system); bins; the share of cases that
# said nothing; mean_posterior of the system's answers.
new_point <- function(value, estimator = NULL, shared = NULL, independent = NULL, reason = NULL,
                      posterior = NULL, bins = rep(list(no_bins), length(value)),
                      uninformative = NA_real_, mean_posterior = NA_real_) {
  list(
    value = value, estimator = estimator, shared = shared, independent = independent,
    reason = reason, posterior = posterior, bins = bins, uninformative = uninformative,
    mean_posterior = mean_posterior
  )
}

# What an interval of the registry finds. table: columns std.error, conf.low, conf.high and reason
# (of result_table()); replicates: a column per system, if there are any; sampling: the standard
# error from sampling alone, where it is not that of the average.
new_interval_found <- function(table, replicates = NULL, sampling = NULL) {
  list(table = table, replicates = replicates, sampling = sampling)
}

interval_of_draft <- function(draft) {
  interval <- interval_of(draft)
  table <- result_table(draft$point$value, reason = draft$reason)
  if (is.null(interval$find)) {
    return(new_interval_found(table))
  }
  why <- lack_of_interval(interval, draft)
  if (!is.null(why)) {
    return(new_interval_found(without_interval(table, why)))
  }
  if (all(is.na(draft$point$value))) new_interval_found(table) else interval$find(draft, table)
}

# Fields: fit, options, table (what tidy() gives), bins (what bins() gives), details (a row per
# system of what glance() and print() tell besides), replicates (a matrix, a column per system),
# posterior (patterns x categories of each system), members (a row per system and averaged model),
# typical (the share of errors in common that is typical, an entry per system).
new_accuracy_estimate <- function(draft, found) {
  systems <- draft$fit$x$systems
  point <- draft$point
  beside <- draft$beside
  table <- columns_tibble(
    system = systems, estimate = point$value, std.error = found$table$std.error,
    conf.low = found$table$conf.low, conf.high = found$table$conf.high,
    shared = point$shared %||% beside$shared,
    independent = point$independent %||% beside$independent, n = draft$n,
    method = draft$options$method, reason = found$table$reason
  )
  details <- columns_tibble(
    system = systems, uninformative = point$uninformative, mean_posterior = point$mean_posterior,
    failed = count_failed(found$replicates), sampling = found$sampling %||% own_sampling(draft),
    common = if (is.null(common_of(draft$options))) {
      rep(NA_real_, length(systems))
    } else {
      taken_back(draft$options, beside$typical)
    },
    rater_error = beside$rater_error, independence_weight = beside$independence_weight,
    suspicion = beside$suspicion, lowest = beside$lowest, highest = beside$highest,
    average_shared = beside$shared
  )
  replicates <- found$replicates
  if (!is.null(replicates)) dimnames(replicates) <- list(NULL, systems)
  structure(
    list(
      fit = draft$fit, options = draft$options, table = table,
      bins = bind_bins(systems, point$bins), details = details, replicates = replicates,
      posterior = point$posterior, members = member_table(draft$average, systems),
      typical = beside$typical
    ),
    class = "accuracy_estimate"
  )
}

count_failed <- function(replicates) {
  if (is.null(replicates)) NA_integer_ else as.integer(colSums(is.na(replicates)))
}

# Why estimates are NA. `identified` and `agreement` are those of the fit behind each, `n` the
# number of cases that each rests on, `used` the number of categories that raters used.
reason_no_estimate <- function(identified, agreement, categories, estimate, n, used = categories) {
  reason <- rep(NA_character_, length(estimate))
  lacking <- is.na(estimate)
  reason[lacking] <- "no category stands out in any case, so the system's answers say nothing"
  if (used < 2L) reason[lacking] <- "raters used one category only"
  reason[lacking & n == 0] <- "no case of the system has a rating"
  unfit <- lacking & identified != "yes"
  reason[unfit] <- reason_not_identified(
    rep_len(identified, length(unfit))[unfit], rep_len(agreement, length(unfit))[unfit], categories
  )
  reason
}

bind_bins <- function(names, bins) {
  tables <- Map(function(name, of) cbind(system = rep(name, nrow(of)), of), names, bins)
  out <- tibble::as_tibble(do.call(rbind, unname(tables)))
  out$lower <- round(out$lower, 10L) # 1 - 0.7 is not 0.3
  out$upper <- round(out$upper, 10L)
  out[] <- lapply(out, na_real)
  out
}
