#' Accuracy of systems
#'
#' Estimates the probability that a system gives the correct category, without knowing the correct
#' categories. Fits raters first, unless given a fit.
#'
#' @param x A [ratings()] object with systems, or the result of [fit_raters()].
#' @param method `r list_ids(accuracy_methods())`; `NULL` is `"average"`, or `"joint"` where `model`
#'   (or the fit) is not the K-model or knows raters. Of a fit by [as_rater_fit()] `"shared"`,
#'   `"binned"` or `"unbinned"`, with `interval` `"bootstrap"` or `"none"`. Or a function of
#'   [ratings()] that returns a number per system, or a data frame with a column `estimate` and a
#'   row per system: its intervals are by the bootstrap (or `"none"`), for which it is called with
#'   resampled ratings; if it has an argument `weights`, with the ratings as they are
#'   and how often each case was drawn.
#' @param model A [rater_model()] for methods `"joint"` and `"shared"`; the others know [k_model()]
#'   only. Families ([rater_family()]) and models by formula go with `"joint"`, `"shared"`,
#'   `"binned"` and `"unbinned"`, and `interval` `"bootstrap"` or `"none"`. Not for a fit, which has
#'   one.
#' @param interval `r list_ids(accuracy_intervals())`; `"profile"` is for method `"joint"`, and
#'   `r list_ids(gold_intervals())` are for gold cases. `NULL` is `"robust"` or, with gold cases
#'   that are a sample, `"combined"`.
#' @param conf_level Probability with which the interval is meant to cover, in (0, 1); 0.9, or what
#'   option `fallible.conf_level` says (see [fallible-options]).
#' @param bins A list of what concerns `"binned"` and `"unbinned"`: `width`, that of the bins, a
#'   probability in \[0.001, 1\], by default 0.1 (one bin is 1); and `clip`, where estimates are
#'   clipped to \[0, 1\]: in each `"bin"`, as published and by default, `"overall"`, or `"none"`.
#' @param common What is assumed of errors that systems and raters share: `"typical"`, what such
#'   panels typically share; `"none"`, as published; `"all"`, the system errs where the raters err;
#'   or a number in \[0, 1\], the share of the way from none to all. `NULL` is `"typical"` for
#'   `"average"` and `"none"` for `"joint"`; the other methods do not use it.
#' @param resampling A list of what concerns the bootstrap. `replicates`, their number, by default
#'   1000, and 200 for robust intervals (where `"average"` needs none). `threads`, by default 1 or
#'   what option `fallible.threads` says; no more are used than the machine has cores, or than
#'   option `mc.cores` says, and the same seed gives the same result for any number. `cluster`,
#'   clusters of cases, such as those of a patient, in one of the forms of `by`: cases of one
#'   cluster are not independent, and resampled together. Replicates are drawn on other machines if
#'   a `future::plan()` names some (not `"multisession"` or `"multicore"`: on one machine threads
#'   are quicker).
#' @param systems Names of the systems to evaluate; `NULL` for all.
#' @param known_truth Cases whose truth is known, called gold cases: categories with the cases as
#'   names; a data frame with columns `case` and `truth` (or `category`), such as the list that
#'   `augment()` gives of a [plan_gold()], filled in; `TRUE` for the truth that `x` holds (see
#'   [ratings()]), which is never used otherwise; or [gold_cases()], which also say how they were
#'   chosen and what they are to measure. Where the truth is `NA` a case is not known.
#' @param gold_sample How gold cases were chosen: `"random"`; the probability of each case to be
#'   chosen, in (0, 1], as a vector (in the order of the cases or named by case), a data frame with
#'   columns `case` and `probability`, or the name of a column of `known_truth` (`probability` needs
#'   no mention); or `"given"`, picked by hand, which is the default.
#' @param ... Not used.
#' @return An object of class `accuracy_estimate` with methods for `print()`, `summary()`,
#'   [tidy()][tidy.accuracy_estimate], [glance()][tidy.accuracy_estimate],
#'   [autoplot()][autoplot.accuracy_estimate], [update()][update.accuracy_estimate] for more gold
#'   cases, and tables such as `tidy(x, "bins")`. `tidy()` has a row per `system`: `estimate`,
#'   `std.error`, `conf.low` and `conf.high`, the ends `shared` and `independent` of what shared
#'   errors could make of it (all of these probabilities), `n` cases, the `method`, and the `reason`
#'   of what is `NA`.
#' @family estimation
#' @templateVar where Equations 6-7
#' @template ref-lehner
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(
#'   rater_design(c(0.7, 0.7, 0.8), c(a = 0.8, b = 0.6), n = 300), rater_kind = "expert"
#' )
#' estimate <- estimate_accuracy(x)
#' estimate
#' tidy(estimate)
#' if (requireNamespace("ggplot2", quietly = TRUE)) plot(estimate)
#'
#' # At two sites, and with several cases of each patient
#' site <- rep(c("east", "west"), each = 150)
#' estimate_accuracy(x, by = site, systems = "a")
#' patient <- rep(1:100, 3)
#' estimate_accuracy(x, systems = "a", resampling = list(cluster = patient, replicates = 50))
#'
#' # Sixty cases at random, whose truth was found out
#' gold <- truth(x)[sample(300, 60), ]
#' estimate_accuracy(x, known_truth = gold, gold_sample = "random")
#'
#' # The example of Lehner (2015), as published
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' published <- estimate_accuracy(x, method = "binned", interval = "bootstrap")
#' published
#' tidy(published, "bins")
#' @export
estimate_accuracy <- function(x, ...) {
  check_given()
  UseMethod("estimate_accuracy")
}

#' @export
estimate_accuracy.default <- function(x, ...) estimate_accuracy(as_ratings_of_several(x), ...)

#' @rdname estimate_accuracy
#' @export
estimate_accuracy.ratings <- function(x, method = NULL, model = k_model(), interval = NULL,
                                      conf_level = default_conf_level(),
                                      bins = list(), common = NULL, resampling = list(),
                                      by = NULL, systems = NULL, known_truth = NULL,
                                      gold_sample = NULL, ...) {
  check_several_raters(check_whole_ratings(x))
  check_dots_empty(...)
  by <- by_of_cases(by)
  settings <- c(check_bins(bins), check_resampling(resampling))
  if (is.function(method)) {
    given <- c(mget(c(settled, "known_truth", "gold_sample")), settings)
    if (missing(interval)) given["interval"] <- list(NULL)
    if (!missing(model)) given$model <- model
    x <- choose_systems(x, systems)
    return(estimate_by_function(x, method, given, by, settings$cluster))
  }
  check_class(model, "rater_model", "model", "Make one with {.fun rater_model}.")
  method <- check_accuracy_method(method %||% default_method(model))
  x <- choose_systems(x, systems)
  gold <- settle_gold(known_truth, gold_sample, x)
  interval <- interval %||% interval_of_model(model) %||% default_interval(x, gold)
  interval <- check_choice(interval, names(accuracy_intervals()), "interval")
  if (!is.null(gold)) gold <- gold_for(interval, gold)
  given <- c(mget(settled), settings)
  estimate <- function(x, cluster, gold) estimate_anew(x, cluster, gold, model, NULL, given)
  if (is.null(by)) {
    estimate(x, settings$cluster, gold)
  } else {
    estimate_by(x, by, estimate, settings$cluster, gold)
  }
}

# Fits the raters of some cases and judges their systems; `given` are all other arguments.
estimate_anew <- function(x, cluster, gold, model, fit_method, given) {
  truth <- if (!is.null(gold)) truth_for_fit(gold, x)
  fit <- fit_for(given$method, x, model, fit_method, truth)
  judge_systems(fit, cluster, gold, given)
}

fit_for <- function(method, x, model, fit_method, known_truth) {
  averages <- accuracy_methods()[[method]]$model == "own"
  if (!is.null(known_truth)) fit_method <- NULL # that of known truths
  withCallingHandlers(
    fit_checked(with_votes(x), model, fit_method, known_truth, NULL),
    # Base rates by algebra, of which the average makes no use.
    fallible_warning_boundary = function(w) if (averages) rlang::cnd_muffle(w)
  )
}

#' @rdname estimate_accuracy
#' @export
estimate_accuracy.rater_fit <- function(x, method = NULL, interval = NULL,
                                        conf_level = default_conf_level(),
                                        bins = list(), common = NULL, resampling = list(),
                                        by = NULL, systems = NULL, known_truth = NULL,
                                        gold_sample = NULL, ...) {
  check_dots_empty(...)
  by <- by_of_cases(by)
  settings <- c(check_bins(bins), check_resampling(resampling))
  if (!is.null(systems)) x <- fit_with(x, choose_systems(x$x, systems))
  check_gold_of(x, known_truth, gold_sample)
  method <- method %||% default_method(x$model, is_known_rater(x))
  if (!is.null(gold_sample) && is.null(known_truth)) known_truth <- x$given$truth
  if (!is.null(known_truth)) x <- fit_without_truth(x, known_truth)
  gold <- settle_gold(known_truth, gold_sample, x$x)
  own <- if (is.null(x$scored)) interval_of_model(x$model)
  interval <- interval %||% own %||% default_interval(x$x, gold)
  interval <- check_choice(interval, names(accuracy_intervals()), "interval")
  gold <- gold_for(interval, gold)
  given <- c(mget(settled), settings)
  if (!is.null(by)) {
    check_nothing_known(x)
    estimate <- function(group, cluster, gold) {
      estimate_anew(group, cluster, gold, x$model, x$method, given)
    }
    return(estimate_by(x$x, by, estimate, settings$cluster, gold))
  }
  truth <- truth_for_fit(gold, x$x)
  if (!is.null(truth)) x <- stats::update(x, known_truth = truth)
  judge_systems(x, settings$cluster, gold, given)
}

# Arguments that are settings by themselves; `bins` and `resampling` hold the others.
settled <- c("method", "interval", "conf_level", "common")

# What both do with a fit: `given` are arguments as users gave them.
judge_systems <- function(fit, cluster, gold, given) {
  options <- check_accuracy_options(given[accuracy_options])
  options$threads <- check_threads(given$threads)
  options["cluster"] <- list(if (!is.null(cluster)) check_cluster(cluster, fit$x))
  check_not_one_judge(fit)
  if (length(fit$x$systems) == 0L) {
    abort_no_system("There is no system to estimate the accuracy of.")
  }
  check_pair(options, fit$model, fit, gold)
  if (!is.null(gold)) warn_gold(gold, fit$x)
  draft <- draft_estimate(fit, options)
  found <- interval_of_draft(draft)
  estimate <- new_accuracy_estimate(found$draft %||% draft, found)
  if (!is.null(gold)) {
    estimate <- with_gold(estimate, gold, if (!is.null(fit$scored)) fit$posterior)
  }
  if (!is.null(draft$average)) warn_doubtful(estimate)
  estimate
}

check_nothing_known <- function(fit) {
  abort_argument_if(
    any(known_patterns(fit)) || any(is_known_rater(fit)) || inherits(fit, "posterior_fit"), "by",
    "{.arg by} refits each group and cannot use known truths or raters, or a given posterior.",
    i = "Fit the cases of each group, {.code x[cases, ]}, with what is known of them.")
}

# Everything but the interval. Fields: fit, options, average (what average_of() gives, or NULL),
# point (see new_point()), parts (see parts_of_average()), n (the number of cases of each system
# that raters saw), reason (why its estimate is NA).
draft_estimate <- function(fit, options) {
  draft <- list(fit = fit, options = options)
  method <- method_of(draft)
  averages <- method$model == "own" || interval_of(draft)$average || asks_average(options)
  scored <- !is.null(fit$scored)
  if (averages && !scored) {
    draft$average <- average_of(fit, options)
  }
  rule <- rule_of(method, fit$model)
  draft$point <- if (is.null(rule)) {
    method$estimate(fit, options, draft$average)
  } else {
    rule(fit, options)
  }
  draft$parts <- parts_of_average(fit, draft$point$value, draft$average)
  if (scored) draft$parts <- parts_of_scores(draft$parts, fit, draft$point$value)
  rated <- judged_patterns(fit)
  answered <- fit$x$patterns$answer > 0L
  draft$n <- vapply(
    seq_along(fit$x$systems), function(s) count_cases(fit$x, rated & answered[, s]), 0
  )
  draft$reason <- draft$point$reason %||% reason_no_estimate(
    identification_of(fit), fit$agreement, length(fit$x$categories), draft$point$value, draft$n,
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
  mget(names(formals()))
}

# What an interval of the registry finds. table: columns std.error, conf.low, conf.high and reason
# (of result_table()); replicates: a column per system, if there are any; sampling: the standard
# error from sampling alone, where it is not that of the average; robust ones add their centre. What
# found a better fit than that
# of the draft adds a draft of its own.
new_interval_found <- function(table, replicates = NULL, sampling = NULL) mget(names(formals()))

interval_of_draft <- function(draft) {
  interval <- interval_of(draft)
  table <- result_table(draft$point$value, reason = draft$reason)
  if (is.null(interval$find)) return(new_interval_found(table))
  why <- lack_of_interval(interval, draft)
  if (!is.null(why)) return(new_interval_found(without_interval(table, why)))
  if (all(is.na(draft$point$value))) new_interval_found(table) else interval$find(draft, table)
}

# Fields: fit, options, table (what tidy() gives), bins (what tidy(x, "bins") gives), details (a row
# per system of what glance() and print() tell besides), replicates (a matrix, a column per system),
# posterior (patterns x categories of each system), members (a row per system and averaged model),
# typical (the share of errors in common that is typical, an entry per system), end_counts (see
# end_counts()), gold (see with_gold(); NULL without gold cases that measure).
new_accuracy_estimate <- function(draft, found) {
  systems <- draft$fit$x$systems
  point <- draft$point
  parts <- draft$parts
  table <- columns_tibble(
    system = systems, estimate = point$value, std.error = found$table$std.error,
    conf.low = found$table$conf.low, conf.high = found$table$conf.high,
    shared = point$shared %||% parts$shared,
    independent = point$independent %||% parts$independent, n = draft$n,
    method = draft$options$method, reason = found$table$reason
  )
  details <- columns_tibble(
    system = systems, uninformative = point$uninformative, mean_posterior = point$mean_posterior,
    failed = count_failed(found$replicates), sampling = found$sampling %||% own_sampling(draft),
    common = if (is.null(common_of(draft$options))) {
      rep(NA_real_, length(systems))
    } else {
      correction_share(draft$options, parts$typical)
    },
    rater_error = parts$rater_error, independence_weight = parts$independence_weight,
    dependence_weight = parts$dependence_weight, lowest = parts$lowest, highest = parts$highest,
    average_shared = parts$shared, base_rate_range = parts$base_rate_range,
    disagreement_error = disagreement_error(draft$fit$x)
  )
  table$reason <- reason_of_chance(table, draft)
  details$centre <- found$centre %||%
    typical_error(draft, point$value, details$sampling, parts)$centre
  replicates <- found$replicates
  if (!is.null(replicates)) dimnames(replicates) <- list(NULL, systems)
  new_result("accuracy_estimate",
    fit = draft$fit, options = draft$options, table = table,
    bins = bind_bins(systems, point$bins), details = details, replicates = replicates,
    posterior = point$posterior, members = member_table(draft$average, systems),
    typical = parts$typical, end_counts = end_counts(draft$average)
  )
}

count_failed <- function(replicates) {
  if (is.null(replicates)) NA_integer_ else as.integer(colSums(is.na(replicates)))
}

# What is said of an estimate that follows from nothing, though there is one.
reason_of_chance <- function(table, draft) {
  silent <- isTRUE(draft$parts$no_kappa)
  why <- paste0("raters ", chance_beyond_shares, ", so that nothing follows from their agreement")
  ifelse(silent & !is.na(table$estimate) & is.na(table$reason), why, table$reason)
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

# The rows that tables say of each system, under each other.
stack_systems <- function(systems, tables) {
  tables <- unname(tables)
  columns <- lapply(rlang::set_names(names(tables[[1L]])), function(column) {
    do.call(c, lapply(tables, `[[`, column))
  })
  rows <- lengths(lapply(tables, `[[`, 1L))
  tibble::new_tibble(
    c(list(system = rep(systems, rows)), na_real(columns)), nrow = as.integer(sum(rows))
  )
}

bind_bins <- function(systems, bins) {
  out <- stack_systems(systems, bins)
  out[c("lower", "upper")] <- lapply(out[c("lower", "upper")], round, 10L) # 1 - 0.7 is not 0.3
  out
}

# What parts_of_average() says of others: nobody vouches that sources do not err together.
parts_of_scores <- function(parts, fit, value) {
  raters <- fit$scored$raters
  wrong <- raters * (1 - if (raters > 0L) fit$rater_accuracy else 0) + sum(1 - value, na.rm = TRUE)
  share <- wrong / (raters + sum(!is.na(value)))
  parts$rater_error <- ifelse(is.na(value), NA_real_, share)
  parts$dependence_weight <- ifelse(is.na(value), NA_real_, 1)
  parts$base_rate_range <- ifelse(is.na(value), NA_real_, base_rate_ranges(fit$x))
  parts
}
