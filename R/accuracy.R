#' Accuracy of systems
#'
#' Estimates the probability that a system gives the correct category, without knowing the correct
#' categories. Fits raters first, unless given a fit.
#'
#' @section Methods:
#' * `"average"`, the default, takes the system as one more rater in a family of models: raters
#'   equally accurate or not; errors uniform, by distance, or each unit (rater or system) with error
#'   rates of its own around these; cases equally difficult or not; and a confusion matrix for each
#'   unit, around its accuracy (a hierarchical Dawid-Skene model). Models are weighed by how
#'   probable they make all answers (Laplace and variational approximations to the evidence). The
#'   estimate is the mean posterior probability of the system's answers, averaged over models, as if
#'   it had been right once and wrong once before. Nothing is drawn at random.
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
#' In the settings of the paper's figures the root mean squared error of `"average"` is .2 to .8 of
#' that of `"binned"`; on 27 public data sets with known truth its mean absolute error is .049, that
#' of `"binned"` .064 and that of agreement with the majority of the raters .057 (bench/average.R,
#' bench/real.R).
#'
#' @section What system and raters may share:
#' Agreement cannot tell how far the system errs where the raters err. Columns `shared` and
#' `independent` are the ends of that range: with methods `"joint"` and `"shared"` those of their
#' `model`, otherwise the mean posterior under a hierarchical Dawid-Skene model of the raters alone
#' (averaged with its one-coin limit), and the average.
#'
#' @section Intervals:
#' `"robust"` allows for what sampling error leaves out: on real data raters err on the same cases,
#' and systems err there too. Its variance is `sampling^2` and `max(0, 1 - 2 w)` times
#' `(0.16 E)^2 + (0.5 gap)^2`, where `E` is the share of wrong ratings (times the share of the
#' system's cases whose truth is not known), `gap` the estimate less column `shared` of `"average"`,
#' and `w` the weight of the models in which cases are equally difficult and units have no error
#' rates of their own: where the data speak for these, nothing is added. With these two
#' constants 90% intervals cover .89 of the accuracies in those 27 sets, each set counting the same;
#' with constants that are chosen without the family of each set, .87. For `"average"`, `sampling`
#' is from the curvature of the posterior and the differences between models, for other methods from
#' a bootstrap. Raters who copy from each other are beyond it.
#'
#' `"bootstrap"` resamples cases, fits raters anew each time (of averaged models those that weigh at
#' least .001, which are weighed anew), and gives percentiles. It covers sampling error only:
#' nominal 90% intervals of this kind covered 47% to 69% of the accuracies in the public sets.
#' Replicates in which agreement is no better than by chance have no estimate; they are counted, and
#' reported if they are many. Where clipping biases the estimate the interval is lopsided, since its
#' replicates are biased again, and may even leave the estimate outside. It is `NA`, with a reason,
#' where replicates do not vary (a system that is always right, say), where most of them have no
#' estimate, or where weights are not counts.
#'
#' A warning of class `fallible_warning_doubtful` comes with averaged estimates and robust intervals
#' if kappa is below .4, or if `"average"`, `"shared"`, `"binned"` and `method` differ by more than
#' .1: on real data such estimates have a much larger error.
#'
#' @section Degenerate data:
#' Where agreement is no better than by chance, or no two raters share a case, all is `NA` with a
#' reason. Perfect agreement, two raters, categories that nobody used, raters below chance among
#' better ones, and repeated ratings (which count as independent) have estimates; priors keep them
#' inside (0, 1). Weights count as numbers of cases, or, if they sum to one and so are
#' probabilities, as shares of a million. Where they are not whole numbers there is no interval.
#'
#' @param x A [ratings()] object with systems, or the result of [fit_raters()].
#' @param method `"average"`, `"binned"`, `"unbinned"`, `"joint"` or `"shared"`; `NULL` is
#'   `"average"`, or `"joint"` where `model` (or the fit) is not the K-model or knows raters.
#' @param model A [rater_model()] for methods `"joint"` and `"shared"`; the others know [k_model()]
#'   only. Not for a fit, which has one.
#' @param interval `"robust"`, `"bootstrap"`, `"profile"` (method `"joint"`) or `"none"`.
#' @param conf_level Probability with which the interval is meant to cover, in (0, 1).
#' @param clip Where estimates are clipped to \[0, 1\]: in each `"bin"`, as published, `"overall"`,
#'   or `"none"`.
#' @param bin_width Width of the bins of `"binned"`, a probability in \[0.001, 1\]. One bin is 1.
#' @param replicates Number of bootstrap replicates; `NULL` is 1000, and 200 for robust intervals
#'   (where `"average"` needs none).
#' @param threads Number of threads; no more are used than the machine has cores, or than option
#'   `mc.cores` says. The same seed gives the same result for any number.
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
  check_class(x, "ratings", "x", "Make one with {.fun ratings}, or fit one with {.fun fit_raters}.")
}

#' @rdname estimate_accuracy
#' @export
estimate_accuracy.ratings <- function(x, method = NULL, model = k_model(), ..., by = NULL) {
  method <- check_accuracy_method(method %||% default_method(model), rlang::current_env())
  if (!is.null(by)) {
    return(estimate_by(x, by, model, NULL, method = method, ..., call = rlang::current_env()))
  }
  fit <- withCallingHandlers(
    fit_raters(x, model),
    # Base rates by algebra, of which the average makes no use.
    fallible_warning_boundary = function(w) if (method == "average") rlang::cnd_muffle(w)
  )
  estimate_accuracy(fit, method = method, ...)
}

algebraic_methods <- c("binned", "unbinned")
latent_methods <- c("joint", "shared")
accuracy_methods <- c("average", algebraic_methods, latent_methods)
interval_kinds <- c("robust", "bootstrap", "profile", "none")

#' @rdname estimate_accuracy
#' @export
estimate_accuracy.rater_fit <- function(x, method = NULL,
                                        interval = c("robust", "bootstrap", "profile", "none"),
                                        conf_level = 0.9, clip = c("bin", "overall", "none"),
                                        bin_width = 0.1, replicates = NULL, threads = 1L,
                                        by = NULL, cluster = NULL, ...) {
  call <- rlang::current_env()
  check_dots_empty(...)
  method <- method %||% default_method(x$model, known_units(x))
  if (!is.null(by)) {
    check_nothing_known(x, call)
    return(estimate_by(
      x$x, by, x$model, x$method, method = method, interval = interval, conf_level = conf_level,
      clip = clip, bin_width = bin_width, replicates = replicates, threads = threads,
      cluster = cluster, call = call
    ))
  }
  options <- check_accuracy_options(
    list(
      method = method, interval = interval, conf_level = conf_level, clip = clip,
      bin_width = bin_width, replicates = replicates
    ), call
  )
  options$threads <- check_threads(threads)
  check_profile(options, call)
  options["cluster"] <- list(check_cluster(cluster, x$x, options, call))
  if (length(x$x$systems) == 0L) {
    abort_fallible("system", c(
      "There is no system whose accuracy could be estimated.",
      "i" = "Give {.arg systems} to {.fun ratings}."
    ), system = character(), call = call)
  }
  check_method_of_fit(x, options$method, call)
  average <- if (options$method == "average" || options$interval == "robust") {
    average_accuracy(x, options)
  }
  estimate <- switch(options$method,
    average = estimate_average(x, average, options),
    joint = ,
    shared = estimate_latent(x, options),
    estimate_k_model(x, options)
  )
  estimate <- add_average(estimate, average)
  estimate <- switch(options$interval,
    none = estimate,
    bootstrap = add_bootstrap(estimate, attr(average, "replicates")),
    profile = add_profile(estimate),
    robust = add_robust(estimate, average)
  )
  if (!is.null(average)) warn_doubtful(estimate)
  estimate
}

# Whoever names a model, or knows a rater, wants it used.
default_method <- function(model, known_units = FALSE) {
  if (is_k_model(model) && !any(known_units)) "average" else "joint"
}

check_accuracy_method <- function(method, call) {
  check_choice(method, accuracy_methods, "method", call)
}

check_nothing_known <- function(fit, call) {
  if (any(known_patterns(fit)) || any(known_units(fit))) {
    abort_fallible("argument", c(
      "{.arg by} fits each group anew and cannot use known truths or raters.",
      "i" = "Fit the cases of each group, {.code x[cases, ]}, with what is known of them."
    ), arg = "by", call = call)
  }
}

check_method_of_fit <- function(fit, method, call) {
  own <- switch(method,
    joint = , shared = TRUE,
    average = is_k_model(fit$model) && !any(known_units(fit)),
    fit$method == "algebraic"
  )
  if (!own) {
    abort_fallible("argument", c(
      if (method == "average") {
        "{.code method = \"average\"} has models of its own."
      } else {
        "{.code method = \"{method}\"} rests on the K-model, fitted by algebra."
      },
      "x" = "{.arg x} is a fit of the {format(fit$model)} by {fit$method}{
        if (any(known_units(fit))) ', with known raters'}.",
      "i" = "{.code method = \"joint\"} and {.val shared} use any model."
    ), arg = "method", call = call)
  }
}

estimate_k_model <- function(fit, options) {
  systems <- core_accuracy(
    fit$x$patterns, pattern_weights(fit$x), core_parameters(fit),
    options[c("method", "clip", "bin_width")]
  )
  estimate <- new_accuracy_estimate(fit, systems, options)
  warn_uninformative(estimate)
  estimate
}

# A robust interval adds to sampling error, for which a smaller bootstrap will do.
check_accuracy_options <- function(x, call) {
  interval <- check_choice(x$interval, interval_kinds, "interval", call)
  if (is.null(x$replicates)) x$replicates <- if (interval == "robust") 200L else 1000L
  list(
    method = check_accuracy_method(x$method, call),
    interval = interval,
    conf_level = check_number(
      x$conf_level, "conf_level", 0, 1, open_min = TRUE, open_max = TRUE, call = call
    ),
    clip = check_choice(x$clip, c("bin", "overall", "none"), "clip", call),
    bin_width = check_number(x$bin_width, "bin_width", 0.001, 1, call = call),
    replicates = check_count(x$replicates, "replicates", min = 2L, max = 1e7, call = call)
  )
}

# Fields: fit, options, table (what tidy() gives), bins (what bins() gives), details (a row per
# system of what glance() and print() tell besides), replicates (a matrix, a column per system),
# posterior (patterns x categories of each system), members (a row per system and averaged model).
new_accuracy_estimate <- function(fit, systems, options) {
  field <- function(name) vapply(systems, `[[`, 0, name)
  x <- fit$x
  rated <- judged_patterns(fit)
  estimate <- field("estimate")
  table <- tibble::tibble(
    system = x$systems, estimate = na_real(estimate), std.error = NA_real_, conf.low = NA_real_,
    conf.high = NA_real_, shared = NA_real_, independent = NA_real_,
    n = vapply(
      seq_along(systems), function(s) count_cases(x, rated & x$patterns$answer[, s] > 0L), 0
    ),
    method = options$method, reason = NA_character_
  )
  table$reason <- reason_no_estimate(
    fit$identified, fit$agreement, length(x$categories), table$estimate, table$n
  )
  structure(
    list(
      fit = fit, options = options, table = table, bins = bind_bins(x$systems, systems),
      details = tibble::tibble(
        system = x$systems,
        uninformative = ifelse(
          field("cases") > 0 & fit$identified == "yes", field("uninformative") / field("cases"),
          NA_real_
        ),
        mean_posterior = na_real(field("mean_posterior")), failed = NA_integer_,
        sampling = NA_real_, rater_error = NA_real_, simple_weight = NA_real_, lowest = NA_real_,
        highest = NA_real_
      ),
      replicates = NULL
    ),
    class = "accuracy_estimate"
  )
}

# Why estimates are NA. `identified` and `agreement` are those of the fit behind each, `n` the
# number of cases that each rests on.
reason_no_estimate <- function(identified, agreement, categories, estimate, n) {
  reason <- rep(NA_character_, length(estimate))
  lacking <- is.na(estimate)
  reason[lacking] <- "no category stands out in any case, so the system's answers say nothing"
  reason[lacking & n == 0] <- "no case of the system has a rating"
  unfit <- lacking & identified != "yes"
  reason[unfit] <- reason_not_identified(
    rep_len(identified, length(unfit))[unfit], rep_len(agreement, length(unfit))[unfit], categories
  )
  reason
}

bind_bins <- function(names, systems) {
  tables <- Map(function(name, system) {
    cbind(system = rep(name, nrow(system$bins)), system$bins)
  }, names, systems)
  out <- tibble::as_tibble(do.call(rbind, unname(tables)))
  out$lower <- round(out$lower, 10L) # 1 - 0.7 is not 0.3
  out$upper <- round(out$upper, 10L)
  out[] <- lapply(out, na_real)
  out
}

warn_uninformative <- function(estimate) {
  share <- estimate$details$uninformative
  some <- which(share > 0 & !is.na(estimate$table$estimate))
  if (length(some) > 0L) {
    each <- verbatim(estimate$table$system[some], ": ", percent(share[some]), " of its cases")
    warn_fallible("uninformative", c(
      "Bins in which no category stands out are left out of the mean.",
      stats::setNames(each, rep("*", length(each)))
    ), systems = estimate$table$system[some], share = share[some])
  }
}

#' Bins of an estimate
#'
#' @param estimate An [estimate_accuracy()] result with `method = "binned"`.
#' @return A tibble with a row per system and non-empty bin, highest first: `system`; `lower` and
#'   `upper`, the limits of the highest posterior probability, `(lower, upper]`; `probability`, its
#'   mean; `cases`, their number (or weight); `agreement`, the share of the system's answers that
#'   are the most probable category; `estimate_raw`, the accuracy before clipping, `NA` for a bin
#'   that says nothing; `estimate`, what enters the mean.
#' @family estimation
#' @templateVar where Table 4
#' @template ref-lehner
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' bins(estimate_accuracy(x, "binned", interval = "none"))
#' @export
bins <- function(estimate) {
  check_class(
    estimate, "accuracy_estimate", "estimate", "Make one with {.fun estimate_accuracy}."
  )
  if (estimate$options$method != "binned") {
    abort_fallible("argument", c(
      "There are no bins in an estimate with method {.val {estimate$options$method}}.",
      "i" = "Use {.code estimate_accuracy(method = \"binned\")}."
    ), arg = "estimate", call = rlang::current_env())
  }
  estimate$bins
}
