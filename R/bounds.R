#' Bounds of accuracy under any shared errors
#'
#' Computes the lowest and the highest accuracy that a system may have, whatever errors it shares
#' with the raters. Agreement does not identify the number of shared errors. The bounds assume that
#' a fit has the right posterior probabilities of the truth.
#'
#' @section Method:
#' The fit gives the posterior probability of each category given the ratings, `P(k | R)`. The data
#' give the share of the system's answers in each category given the ratings, `P(S = k | R)`. For
#' any dependence between truth and answers given the ratings, accuracy is between
#'
#' `lowest = sum_R P(R) max(0, max_k (P(k | R) + P(S = k | R)) - 1)` and
#' `highest = sum_R P(R) sum_k min(P(k | R), P(S = k | R))`,
#'
#' and both ends are reached by some joint distribution. These are the bounds of Frechet for each
#' pattern of ratings, as in the partial identification of Manski (2003). Column `shared`, the mean
#' posterior probability of the system's answers, is the accuracy of a system that shares all errors
#' of the raters. It is between both ends.
#'
#' *The fit may be too certain.* It assumes that raters' errors are independent given the truth. In
#' real panels they are correlated, and the range is too narrow: on 25 public data sets with known
#' truth, the range from the K-model contained the accuracy of 30 of 76 systems. See
#' [shared_errors()] for errors that raters share with each other. Known truths in the fit reduce
#' the problem.
#'
#' *Patterns with few cases.* Among a few cases, the shares of a system's answers are near 0 or 1 by
#' chance. Ranges within single patterns are then too narrow. With one case per pattern, both ends
#' equal `shared`. Therefore patterns of fewer than `group_size` cases are joined, in the order of
#' their highest posterior probability, and the sums are over the groups. Within a group, categories
#' are replaced by their rank in each case, from the most to the least probable. Ranks and groups do
#' not depend on the answers, so they cannot make the range of a distribution narrower. In simulated
#' panels of three raters (200 to 1000 cases), the highest accuracy is then too low by .00 to .04.
#' Within single patterns it is too low by .02 to .27. The confidence set accounts for this bias.
#'
#' @section Confidence set:
#' `conf.low` and `conf.high` contain the whole range from lowest to highest, and so any accuracy in
#' it, with probability `conf_level`. Cases, or the clusters of an [estimate_accuracy()] result, are
#' resampled, and raters are refitted each time. Each end has half of the error probability
#' (Bonferroni). Limits are basic bootstrap limits (twice the value minus a quantile of the
#' replicates), which correct the bias of the ends. In simulated panels of the K-model (200 and 1000
#' cases), nominal 90% sets covered the whole range in .85 to .93 of panels (`bench/bounds.R`).
#'
#' @param x A [ratings()] object with systems, to which the K-model is fitted; or a [fit_raters()]
#'   result; or an [estimate_accuracy()] result, whose fit is used.
#' @param systems Names of systems; `NULL`, the default, for all.
#' @param group_size Patterns of fewer cases are joined. By default `NULL`, four times the square
#'   root of the number of cases, or 0 if weights are probabilities. With 1 no patterns are joined.
#' @param interval `"bootstrap"` (the default) or `"none"`.
#' @param conf_level Probability, in (0, 1), that the confidence set contains the range.
#' @param resampling A list: `replicates`, the number of bootstrap replicates, by default 200.
#' @param ... Not used.
#' @return An object of class `accuracy_bounds`; see [tidy()][tidy.accuracy_bounds] and
#'   [fallible_result].
#' @references Manski, C. F. (2003). *Partial identification of probability distributions*.
#'   Springer. \doi{10.1007/b97478}
#' @family shared errors
#' @seealso `tidy(x, "breakdown")` for the amount of shared errors at which a claim fails,
#'   [shared_errors()] for estimates of errors that raters and systems share.
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.9, b = 0.6), 3, n = 300))
#' bounds <- accuracy_bounds(x, resampling = list(replicates = 50))
#' bounds
#' tidy(bounds)
#' @export
accuracy_bounds <- function(x, systems = NULL, group_size = NULL,
                            interval = c("bootstrap", "none"), conf_level = default_conf_level(),
                            resampling = list(), ...) {
  check_given()
  check_dots_empty(...)
  fit <- as_fit(x, "x")
  check_not_one_judge(fit)
  fit <- fit_of_answers(fit)
  if (n_systems(fit$x) == 0L) abort_no_system("There is no system to bound the accuracy of.")
  systems <- check_system_names(systems, fit$x$systems)
  replicates <- check_resampling(resampling, known = "replicates")$replicates %||% 200L
  estimate <- if (inherits(x, "accuracy_estimate")) x
  options <- list(
    interval = check_choice(interval), conf_level = check_level(conf_level),
    replicates = check_count(replicates, "replicates", min = 2L, max = 1e6),
    cluster = estimate$options$cluster,
    group_size = check_group_size(group_size, fit$x)
  )
  check_memory(
    2 * options$replicates * length(systems), "replicates of bounds",
    "Ask for fewer {.arg replicates}, or choose {.arg systems}."
  )
  at <- match(systems, fit$x$systems)
  out <- c(
    bounds_of_fit(fit, at, options$group_size),
    list(options = options, fit = fit, failed = NA_integer_, estimate = estimate)
  )
  if (options$interval == "bootstrap" && !all(is.na(out$bounds$lowest))) {
    out <- add_set(out, refitted_ends(fit, at, options$group_size))
  }
  new_bounds(out)
}

check_group_size <- function(group_size, x) {
  if (is.null(group_size)) return(if (weights_are_counts(x)) 4 * sqrt(count_cases(x)) else 0)
  check_number(group_size, "group_size", 0)
}

# Lowest and highest accuracy of the systems with numbers `at`, or the reason why there is none; and
# the groups and differences of the core.
bounds_of_fit <- function(fit, at, size) {
  x <- fit$x
  answered <- judged_patterns(fit) & pattern_answers(x)[, at, drop = FALSE] > 0L
  table <- tibble::tibble(
    system = x$systems[at], lowest = NA_real_, highest = NA_real_, conf.low = NA_real_,
    conf.high = NA_real_, shared = NA_real_, n = apply(answered, 2L, count_cases, x = x),
    reason = NA_character_
  )
  if (fit$identified != "yes") {
    table$reason <- reason_of_fit(fit)
    return(list(bounds = table))
  }
  ranges <- fit_ranges(fit, pattern_weights(x), size, pairs_of_systems(length(at), at))
  ends <- c("lowest", "highest")
  table[ends] <- lapply(ranges$systems[ends], function(end) na_real(end[at]))
  beliefs <- rep(list(posterior(fit)), n_systems(x))
  shared <- for_systems(fit, pattern_weights(x), beliefs, mean_posterior_of_answers, at)
  table$shared <- unlist(shared)
  table$reason[is.na(table$lowest)] <- "no case of the system has a rating"
  c(list(bounds = table), ranges[c("groups", "differences")])
}

pairs_of_systems <- function(n, systems = seq_len(n)) {
  check_pair_numbers(n, 4)
  if (n < 2L) matrix(integer(), 2L, 0L) else matrix(systems[utils::combn(n, 2L)], 2L)
}

fit_ranges <- function(fit, weight, size, pairs) {
  core_accuracy_bounds(fit$x$patterns, fit$known$truth, weight, posterior(fit), size, pairs)
}

# Ratings of a fit with one case per pattern, for resampled weights.
patterns_as_cases <- function(x) {
  x$weights <- pattern_weights(x)
  first <- match(seq_along(x$weights), x$index)
  x$covariates <- x$covariates[first, ] # NULL stays NULL
  x$confidence <- subset_stated(x$confidence, first) # NULL stays NULL
  x$abstained <- subset_stated(x$abstained, first)
  x$index <- x$cases <- seq_along(x$weights)
  x$truth <- NULL
  leave_database(x)
}

# Returns a function of the weights of patterns that refits and returns both ends.
refitted_ends <- function(fit, at, size) {
  panel <- patterns_as_cases(fit$x)
  known <- which(fit$known$truth > 0L)
  truth <- if (length(known) > 0L) {
    setNames(fit$x$categories[fit$known$truth[known]], known)
  }
  none <- pairs_of_systems(0L)
  # Chains of replicates are short. Their error adds to the variance of the ends by one part in
  # the effective number of draws, which is at least a hundred if the draws of the fit sufficed.
  sampling <- if (!is.null(fit$sampling)) {
    list(draws = 400L, chains = 1L, warmup = 200L, thin = fit$sampling$thin, threads = 1L)
  }
  function(weight) {
    again <- suppressWarnings(
      fit_again(fit, weigh_patterns(panel, weight), known_truth = truth, sampling = sampling),
      classes = "fallible_warning"
    )
    if (again$identified == "yes") lapply(fit_ranges(again, weight, size, none)$systems, `[`, at)
  }
}

# Adds the limits of the confidence set, or the reason why there are none.
add_set <- function(bounds, again) {
  table <- bounds$bounds
  known <- !is.na(table$lowest)
  weight <- pattern_weights(bounds$fit$x) * judged_patterns(bounds$fit)
  reason <- if (is_one_cluster(bounds)) {
    one_cluster
  } else if (!all(weight == round(weight))) {
    "weights are not counts, so there are no cases to resample"
  }
  lacking <- known
  if (is.null(reason)) {
    ends <- resampled_ends(bounds, weight, again)
    bounds$failed <- as.integer(colSums(is.na(ends$lowest)))
    reason <- "most bootstrap replicates gave no bounds"
    lacking <- known & bounds$failed > bounds$options$replicates / 2
  }
  table$reason[lacking] <- paste0(no_interval, reason)
  tail <- (1 - bounds$options$conf_level) / 2
  for (s in which(known & !lacking)) {
    low <- table$lowest[[s]]
    high <- table$highest[[s]]
    least <- stats::quantile(ends$lowest[, s], 1 - tail, na.rm = TRUE, names = FALSE)
    greatest <- stats::quantile(ends$highest[, s], tail, na.rm = TRUE, names = FALSE)
    table$conf.low[[s]] <- max(0, min(2 * low - least, low))
    table$conf.high[[s]] <- min(1, max(2 * high - greatest, high))
  }
  bounds$bounds <- table
  bounds
}

# Lowest and highest ends, each replicates x systems. Draws do not depend on the order of patterns,
# which differs between memory and a database. Patterns without ratings are never drawn.
resampled_ends <- function(bounds, weight, again) {
  x <- bounds$fit$x
  order <- order_of_patterns(x, bounds$fit$known$truth)
  clusters <- clusters_of(x, bounds$options, match(x$index, order))
  none <- rep(NA_real_, nrow(bounds$bounds))
  rows <- resampled(resampling = new_resampling(weight[order], bounds$options, clusters),
    run = function(drawn) {
      ends <- again(replace(weight, order, drawn))
      list(lowest = ends$lowest %||% none, highest = ends$highest %||% none)
    })
  lapply(c(lowest = "lowest", highest = "highest"), function(end) {
    stack_rows(rows, `[[`, end)
  })
}

#' Tables of bounds
#'
#' @section Breakdown points:
#' A system with independent errors has the accuracy in column `independent` of an estimate, a
#' system that shares the raters' errors that in column `shared`. In between it is
#' `independent - c (independent - shared)`, where `c` is the share of the distance. The breakdown
#' point of a claim is the largest `c` in \[0, 1\] for which the claim holds.
#'
#' If the breakdown point is 1, the claim holds for every `c`. Accuracy can still be lower than
#' `shared` if a system errs on cases that the raters get right. Columns `lowest` and
#' `holds_at_lowest` show whether the claim holds at the lowest accuracy. For two systems, the
#' compared quantity is their difference over cases that both answered, with the same `c` for both.
#' Its lowest value is a valid bound, but may be lower than the lowest possible difference.
#'
#' Accuracies of raters are those of the fit behind the estimate. If that fit has one accuracy for
#' all raters, they come from a fit of `rater_model("rater")`. Both assume that raters err
#' independently.
#'
#' @param x An [accuracy_bounds()] result.
#' @param digits Number of decimals.
#' @param ... Not used.
#' @return `tidy()`: a tibble with a row per system: `system`; `lowest` and `highest`, the ends of
#'   the range of its accuracy, probabilities; `conf.low` and `conf.high`, the confidence set of the
#'   range; `shared`, its accuracy if it shares all errors of the raters; `n`, the number of its
#'   cases with ratings; `reason`, why a value is `NA`.
#'
#'   `tidy(x, "breakdown", better_than =, systems = NULL)`: breakdown points of a claim, for bounds
#'   of an estimate with columns `shared` and `independent`. The claim is that the `systems` (names;
#'   `NULL` for all others) are better than `better_than`: an accuracy in \[0, 1\], or the name of a
#'   rater or of a system. A row per system: `system`; `better_than`; `independent` and `shared`,
#'   its accuracy at both ends minus the compared accuracy; `breakdown`, the largest `c` for which
#'   the claim holds, `NA` if there is none; `from`, the smallest `c`, above 0 only if `shared` is
#'   above `independent`; `lowest`, the lowest accuracy minus the compared accuracy;
#'   `holds_at_lowest`; `reason`.
#'
#'   `glance()`: a tibble with one row: the number of `systems`; `n`, the largest number of cases of
#'   a system; `model`, the fitted model; `group_size` and `groups`, the smallest size of groups of
#'   patterns and their number; `interval`, `conf_level`, `replicates`; `failed`, the largest number
#'   of replicates without bounds for a system.
#'
#'   `format()`: a string for each system.
#' @family shared errors
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.9, b = 0.6), 3, n = 300))
#' estimate <- estimate_accuracy(x, method = "joint", interval = "none")
#' bounds <- accuracy_bounds(estimate, interval = "none")
#' tidy(bounds, "breakdown", better_than = 0.75)
#' tidy(bounds, "breakdown", better_than = "b")
#' @name tidy.accuracy_bounds
NULL

# `x`: the table of bounds, options, fit, failed, groups, differences, assumed, estimate.
new_bounds <- function(x) {
  table <- x$bounds
  options <- x$options
  drawn <- options$interval == "bootstrap"
  table$range <- from_to(table$lowest, table$highest)
  table$set <- from_to(table$conf.low, table$conf.high)
  title <- set_title(options$conf_level)
  inject(new_result("accuracy_bounds",
    tables = list(bounds = x$bounds, breakdown = breakdown_table),
    facts = list(
      systems = nrow(table), n = max(table$n), model = format(x$fit$model),
      group_size = options$group_size, groups = x$groups %||% NA_integer_,
      interval = options$interval,
      conf_level = if (drawn) options$conf_level else NA_real_,
      replicates = if (drawn) options$replicates else NA_integer_, failed = max(x$failed)
    ),
    caption = paste("Bounds of the accuracy of", count_noun(nrow(table), "system")),
    head = sprintf("%s, given what the %s says of truth and raters",
      count_noun(nrow(table), "system"), format(x$fit$model)),
    shown = view(table, c("system", `lowest to highest` = "range",
      if (drawn) setNames("set", title), cases = "n"), left = integer()),
    notes = bounds_notes(x), more = "tidy(), glance(), summary(), plot()",
    !!!x[names(x) != "bounds"]
  ))
}

#' @rdname tidy.accuracy_bounds
#' @export
format.accuracy_bounds <- function(x, digits = 3L, ...) {
  digits <- check_digits(digits)
  table <- tidy(x)
  ends <- from_to(table$conf.low, table$conf.high, digits)
  set <- sprintf(" (%s %s)", set_title(x$options$conf_level), ends)
  sprintf("%s: %s%s", printable(table$system), from_to(table$lowest, table$highest, digits),
    ifelse(is.na(table$conf.low), "", set))
}

set_title <- function(level) paste0(format(100 * level), "% confidence set")

bounds_notes <- function(x) {
  c(
    abstain_note(x$fit$x), paste(
      "If the fit is right about truth and raters, accuracy lies in this range, however many",
      "errors systems and raters share"
    ),
    paste(
      "The fit assumes that raters err independently; where they do not, it is too",
      "sure of the truth, and the range too narrow"
    ),
    reason_notes(
      list(estimate = x$bounds$lowest, reason = x$bounds$reason), x$bounds$system,
      no = "confidence set"
    )
  )
}
