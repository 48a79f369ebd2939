#' Bounds of accuracy under any shared errors
#'
#' Computes the lowest and the highest accuracy that a system (a classifier) may have, whatever
#' errors it shares with the raters. A system and raters share errors if they are wrong on the same
#' cases more often than by chance (*correlated errors*). Ratings do not show how many errors are
#' shared, so they determine the accuracy only within bounds. The bounds assume that the fitted
#' model of the raters estimates the posterior probabilities of the true categories correctly.
#'
#' @section Method:
#' Cases with the same ratings form a pattern. For a pattern `R` and a category `k`:
#' * `P(R)` is the share of the cases that have this pattern.
#' * `P(k | R)` is the posterior probability, from the fit, that `k` is the true category.
#' * `P(S = k | R)` is the share of the cases of pattern `R` to which the system gave the answer
#'   `k`.
#' * `sum_R`, `sum_k` and `max_k` are sums and maxima over patterns and categories.
#'
#' For any dependence between truth and answers within patterns, the accuracy is between
#'
#' `lowest = sum_R P(R) max(0, max_k (P(k | R) + P(S = k | R)) - 1)` and\cr
#' `highest = sum_R P(R) sum_k min(P(k | R), P(S = k | R))`.
#'
#' These are the bounds of Frechet for each pattern (partial identification, Manski 2003). They are
#' sharp: for each bound, there is a joint distribution of truth and answers with this accuracy. By
#' definition, a system *shares all errors* of the raters if its answers are independent of the
#' truth within each pattern. Its accuracy is then the mean posterior probability of its answers
#' (column `shared`).
#'
#' *Correlated raters.* The fit assumes that errors of raters are independent given the truth. In
#' real data they are correlated, and the range between the bounds is then too narrow. On 25 public
#' data sets with known truth, the range from [k_model()] contained the accuracy of only 30 of 76
#' systems. A fit with known truths reduces the problem.
#'
#' *Patterns with few cases.* The range is also too narrow if a pattern has few cases. With one case
#' per pattern, both bounds equal `shared`. Patterns of fewer than `group_size` cases are therefore
#' merged into groups. In the patterns of a group, the posterior probabilities of the most probable
#' categories are similar. In the formulas, `R` is then a group, and `k` is the rank of a category
#' in a case, from the most to the least probable. A small bias remains, which the confidence set
#' corrects.
#'
#' @section Confidence set: The interval from `conf.low` to `conf.high` contains the whole range
#' from `lowest` to `highest` with probability `conf_level`. Its limits are basic bootstrap limits:
#' twice the bound minus a quantile of the bound over replicates. Each limit has half of the error
#' probability. In each replicate, cases (or the clusters of an [estimate_accuracy()] result) are
#' resampled, and the raters are fitted again. In simulations, the coverage of 90% sets was .85 to
#' .93.
#'
#' There is no confidence set in four situations: all replicates have the same bounds; more than
#' half of the replicates have no bounds; all cases are in one cluster; or weights of cases are not
#' whole numbers.
#'
#' @references Manski, C. F. (2003). *Partial identification of probability distributions*.
#'   Springer. \doi{10.1007/b97478}
#' @param x A [ratings()] object with systems, to which [k_model()] is fitted (a model with one
#'   accuracy for all raters); or a [fit_raters()] result for such ratings; or an
#'   [estimate_accuracy()] result, whose fit is used.
#' @param systems Names of the systems whose bounds are computed; `NULL`, the default, for all.
#' @param group_size Smallest number of cases in a group of patterns, see *Method*. `NULL`, the
#'   default, is four times the square root of the number of cases, or 0 if weights of cases are not
#'   whole numbers. With 0 or 1, no patterns are merged.
#' @param interval `"bootstrap"`, the default, for a confidence set (see *Confidence set*), or
#'   `"none"`.
#' @param conf_level Probability, in (0, 1), that the confidence set contains both bounds. The
#'   default is the level of `x` or, if `x` has none, the level of [fallible-options], usually 0.9.
#' @param resampling A list with the element `replicates`, the number of bootstrap replicates, at
#'   least 2. The default is 200.
#' @param ... Not used.
#' @return An object of class `accuracy_bounds`. [tidy()][tidy.accuracy_bounds] returns a tibble
#'   with a row per system:
#'   * `system`: name of the system; `lowest`, `highest`: bounds of its accuracy, in \[0, 1\].
#'   * `conf.low`, `conf.high`: limits of the confidence set; `NA` if there is none.
#'   * `shared`: accuracy if the system shares all errors of the raters.
#'   * `n`: number of cases with an answer of the system and a rating.
#'   * `reason`: why a value is `NA`. Bounds are `NA` if the fit is not identified, or if `n` is 0.
#' @family shared errors
#' @seealso [tidy.accuracy_bounds] for breakdown points: how many of the raters' errors a system may
#'   share before a claim about its accuracy fails. [shared_errors()] for estimates of the errors
#'   that raters and systems share.
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.9, b = 0.6), 3, n = 300))
#' # Bounds for systems a and b, with confidence sets
#' bounds <- accuracy_bounds(x, resampling = list(replicates = 50))
#' bounds
#' tidy(bounds)
#' @export
accuracy_bounds <- function(x, systems = NULL, group_size = NULL,
                            interval = c("bootstrap", "none"), conf_level = level_of(x),
                            resampling = list(), ...) {
  check_call()
  fit <- as_fit(x, "x")
  check_not_one_judge(fit)
  fit <- fit_without_abstentions(fit)
  ratings <- fit$x
  if (n_systems(ratings) == 0L) abort_no_system("There is no system whose accuracy can be bounded.")
  systems <- check_system_names(systems, ratings$systems)
  replicates <- check_resampling(resampling, known = "replicates")$replicates %||% 200L
  estimate <- if (inherits(x, "accuracy_estimate")) x
  group_size <- group_size %||%
    if (weights_are_counts(ratings)) 4 * sqrt(count_cases(ratings)) else 0
  options <- list(
    interval = check_choice(interval), conf_level = check_level(conf_level),
    replicates = check_count(replicates, "replicates", min = 2L, max = 1e6),
    cluster = estimate$options$cluster,
    group_size = check_number(group_size, "group_size", 0)
  )
  check_memory(
    2 * options$replicates * length(systems), "replicates of bounds",
    "Ask for fewer {.arg replicates}, or choose {.arg systems}."
  )
  system_numbers <- match(systems, ratings$systems)
  bounds <- c(
    bounds_of_fit(fit, system_numbers, options$group_size),
    list(options = options, fit = fit, failed = NA_integer_, estimate = estimate)
  )
  if (options$interval == "bootstrap" && any_known(bounds$bounds$lowest)) {
    bounds <- add_confidence_set(bounds, make_refit_bounds(fit, system_numbers, options$group_size))
  }
  new_bounds(bounds)
}

# Computes lower and upper bounds of the accuracies of `systems` (indices). Returns a list:
# * bounds: a table with a row per system. Limits of confidence sets are NA here;
#   add_confidence_set() adds them.
# * groups: number of groups of patterns. A pattern is a combination of ratings; groups join rare
#   patterns, see src/core/accuracy/bounds.hpp.
# * differences: bounds of the differences in accuracy of all pairs of systems.
#
# If the model of the fit is not identified, the list contains only table `bounds`. All its bounds
# are NA, and column `reason` explains why.
bounds_of_fit <- function(fit, systems, group_size) {
  x <- fit$x
  is_answered <- is_usable_pattern(fit) & pick_columns(pattern_answers(x), systems) > 0L
  table <- columns_tibble(
    system = x$systems[systems], lowest = NA_real_, highest = NA_real_, conf.low = NA_real_,
    conf.high = NA_real_, shared = NA_real_, n = apply(is_answered, 2L, count_cases, x = x),
    reason = NA_character_
  )
  if (fit$identified != "yes") {
    table$reason <- reason_of_fit(fit)
    return(list(bounds = table))
  }
  weight <- pattern_weights(x)
  all_bounds <- compute_bounds(fit, weight, group_size, pairs_of_systems(length(systems), systems))
  bound_columns <- c("lowest", "highest")
  table[bound_columns] <- na_real(lapply(all_bounds$systems[bound_columns], `[`, systems))
  posteriors <- rep(list(posterior(fit)), n_systems(x))
  table$shared <- unlist(
    apply_to_systems(fit, weight, posteriors, mean_posterior_of_answers, systems)
  )
  table$reason[is.na(table$lowest)] <- "no case of the system has a rating"
  c(list(bounds = table), all_bounds[c("groups", "differences")])
}

# Returns all pairs of systems: a matrix of the indices of systems (2 x pairs).
pairs_of_systems <- function(n, systems = seq_len(n)) {
  check_pair_numbers(n, 4)
  if (n < 2L) matrix(integer(), 2L, 0L) else matrix(systems[combn(n, 2L)], 2L)
}

# Computes bounds of the accuracies of all systems, and of the differences of `pairs` of systems, in
# the C++ core. `weight`: number of cases with each pattern of ratings and answers.
compute_bounds <- function(fit, weight, group_size, pairs) {
  core_accuracy_bounds(fit$x$patterns, fit$known$truth, weight, posterior(fit), group_size, pairs)
}

# Returns a function that fits the model again and returns its bounds for `systems`: a list of the
# vectors `lowest` and `highest`. The argument of this function is the weight of each pattern. The
# function returns NULL if the new fit is not identified.
make_refit_bounds <- function(fit, systems, group_size) {
  # Creates ratings with one case per pattern (combination of ratings and answers). The weight of
  # this case is the number of cases of the pattern. The bootstrap resamples these weights.
  x <- fit$x
  case_of_pattern <- first_cases(x)
  x$covariates <- x$covariates[case_of_pattern, ] # NULL stays NULL
  x$weights <- pattern_weights(x)
  for (field in entry_fields(x)) x[[field]] <- subset_case_entries(x[[field]], case_of_pattern)
  x$index <- x$cases <- seq_along(case_of_pattern)
  x$truth <- NULL
  x <- leave_database(x)
  gold_patterns <- which(fit$known$truth > 0L)
  known_truth <- if (length(gold_patterns) > 0L) {
    setNames(x$categories[fit$known$truth[gold_patterns]], gold_patterns)
  }
  # For speed, each replicate has a short Markov chain. Its Monte Carlo error usually increases the
  # variance of a bound by less than 1%.
  sampler_settings <- if (!is.null(fit$sampling)) {
    list(draws = 400L, chains = 1L, warmup = 200L, thin = fit$sampling$thin, threads = 1L)
  }
  function(weight) {
    refit <- without_warnings(fit_again(
      fit, weigh_patterns(x, weight), known_truth = known_truth, sampling = sampler_settings
    ))
    if (refit$identified == "yes") lapply(
      compute_bounds(refit, weight, group_size, pairs_of_systems(0L))$systems, `[`, systems
    )
  }
}

# Adds the limits of confidence sets to the table of bounds. If a system has no confidence set,
# column `reason` of the table explains why.
# * bounds: the list that accuracy_bounds() creates.
# * refit_bounds: a function made by make_refit_bounds().
add_confidence_set <- function(bounds, refit_bounds) {
  table <- bounds$bounds
  weight <- pattern_weights(bounds$fit$x) * is_usable_pattern(bounds$fit)
  reason <- if (has_one_cluster(bounds)) {
    reason_one_cluster
  } else if (!all(weight == round(weight))) {
    "weights are not counts, so there are no cases to resample"
  }
  if (!is.null(reason)) {
    return(replace(bounds, "bounds", list(add_no_interval_reason(table, reason))))
  }
  replicates <- replicate_bounds(bounds, weight, refit_bounds)
  bounds$failed <- as.integer(colSums(is.na(replicates$lowest)))
  has_many_failures <- bounds$failed > bounds$options$replicates / 2
  # If all replicates are equal, there is no confidence set, because it would suggest that there is
  # no sampling error.
  has_equal_bounds <-
    is_constant_column(replicates$lowest) & is_constant_column(replicates$highest)
  reason <- first_reason(
    "most bootstrap replicates gave no bounds" = has_many_failures,
    "all bootstrap replicates have the same bounds" = has_equal_bounds
  )
  lacks_limits <- !is.na(table$lowest) & !is.na(reason)
  table$reason[lacks_limits] <- paste0(no_interval_prefix, reason[lacks_limits])
  rows_with_limits <- which(is.na(table$reason))
  # Returns limits of the basic bootstrap interval for `lowest` or `highest`.
  bootstrap_limits <- function(name, probability) {
    2 * table[[name]][rows_with_limits] - apply(
      pick_columns(replicates[[name]], rows_with_limits), 2L, quantile, probability, na.rm = TRUE,
      names = FALSE
    )
  }
  tail_probability <- (1 - bounds$options$conf_level) / 2
  lower_limits <- bootstrap_limits("lowest", 1 - tail_probability)
  upper_limits <- bootstrap_limits("highest", tail_probability)
  table$conf.low[rows_with_limits] <- pmax(0, pmin(lower_limits, table$lowest[rows_with_limits]))
  table$conf.high[rows_with_limits] <- pmin(1, pmax(upper_limits, table$highest[rows_with_limits]))
  replace(bounds, "bounds", list(table))
}

# Returns TRUE for each column whose known values are equal, except for rounding errors.
is_constant_column <- function(values) {
  apply(values, 2L, function(column) {
    known_values <- column[!is.na(column)]
    length(known_values) == 0L || diff(range(known_values)) < 1e-12
  })
}

# Returns bootstrap replicates of the bounds: a list of two matrices (replicates x systems), lowest
# and highest.
# * bounds, refit_bounds: see add_confidence_set().
# * weight: number of cases with each pattern of ratings and answers, 0 for unused patterns.
replicate_bounds <- function(bounds, weight, refit_bounds) {
  x <- bounds$fit$x
  # Patterns are sorted by content, because their original order differs between data in memory and
  # data in a database.
  pattern_order <- order_of_patterns(x, bounds$fit$known$truth)
  clusters <- resampled_clusters(x, bounds$options, match(x$index, pattern_order))
  replicates <- run_replicates(
    function(drawn_weight) refit_bounds(replace(weight, pattern_order, drawn_weight)),
    new_resampling(weight[pattern_order], bounds$options, clusters)
  )
  missing_bounds <- rep(NA_real_, nrow(bounds$bounds))
  lapply(setNames(nm = c("lowest", "highest")), function(bound_name) {
    stack_rows(replicates, function(bounds) bounds[[bound_name]] %||% missing_bounds)
  })
}

#' Tables of bounds and breakdown points
#'
#' `tidy()` returns the bounds of an [accuracy_bounds()] result: the lowest and the highest accuracy
#' that a system (a classifier) may have, whatever errors it shares with the raters. With
#' `"breakdown"`, it returns the largest share of the raters' errors that a system may share before
#' a claim about its accuracy fails. `glance()` returns a summary in one row.
#'
#' @section Breakdown points: An [estimate_accuracy()] result contains two accuracies of a system
#' under two assumptions: `independent`, if its errors are independent of the raters' errors, and
#' `shared`, if it shares all of the raters' errors. If the system shares a share `c` of these
#' errors, from 0 (none) to 1 (all), its accuracy is `independent - c (independent - shared)`. The
#' *breakdown point* of a claim is the largest `c` for which the claim holds. The claim holds for
#' every `c` if the breakdown point is 1 and column `from` is 0.
#'
#' Two systems are compared with the same `c` for both. The accuracy of a rater is computed from the
#' fit of the estimate. If that fit has one accuracy for all raters, `rater_model("rater")`, which
#' has one accuracy per rater, is fitted instead.
#'
#' The accuracy can be lower than under both assumptions if a system errs on cases that the raters
#' get right. Columns `lowest` and `holds_at_lowest` show whether the claim holds even then.
#'
#' @param x An [accuracy_bounds()] result.
#' @param digits Number of decimals of `format()`, by default 3.
#' @param ... Not used.
#' @return `tidy(x)`: a tibble with a row per system.
#'   * `system`: name of the system.
#'   * `lowest`, `highest`: bounds of its accuracy, in \[0, 1\].
#'   * `conf.low`, `conf.high`: limits of the confidence set, which contains the range from `lowest`
#'     to `highest` with probability `conf_level`.
#'   * `shared`: accuracy if the system shares all errors of the raters.
#'   * `n`: number of cases that have an answer of the system and at least one rating.
#'   * `reason`: why a value is `NA`.
#'
#'   `tidy(x, "breakdown", better_than)`: a tibble with a row per system. The claim is that the
#'   system is more accurate than `better_than`, an accuracy in \[0, 1\] or the name of a rater or
#'   system. `systems` contains names of systems; `NULL` selects all but `better_than`. `x` must
#'   have been computed from an [estimate_accuracy()] result.
#'   * `system`, `better_than`: the system, and `better_than` as text.
#'   * `independent`, `shared`: accuracy of the system minus the accuracy `better_than`, for `c = 0`
#'     and for `c = 1` (see *Breakdown points*).
#'   * `from`, `breakdown`: smallest and largest `c` for which the claim holds; `NA` if the claim
#'     holds for no `c`.
#'   * `lowest`: if `better_than` is a system, lower bound of the accuracy of `system` minus the
#'     accuracy of `better_than`. Otherwise, lowest accuracy of `system` minus the accuracy
#'     `better_than`. `NA` if `x` lacks bounds of a system.
#'   * `holds_at_lowest`: `TRUE` if `lowest` is above 0.
#'   * `reason`: why `from` and `breakdown` are `NA`.
#'
#'   `glance()`: a tibble with one row.
#'   * `systems`: number of systems; `n`: largest number of cases of a system; `model`: the model.
#'   * `group_size`, `groups`: smallest number of cases in a group, and number of groups. A group
#'     contains the cases of one or more patterns of ratings, see *Method* in [accuracy_bounds()].
#'   * `interval`: `"bootstrap"` or `"none"`. `conf_level`, `replicates`: confidence level and
#'     number of bootstrap replicates. `failed`: number of replicates without bounds, the largest
#'     number over systems. The last three are `NA` without confidence sets.
#'
#'   `format()`: the range of each system as text.
#' @family shared errors
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.9, b = 0.6), 3, n = 300))
#' estimate <- estimate_accuracy(x, method = "joint", interval = "none")
#' bounds <- accuracy_bounds(estimate, interval = "none")
#' # Claims that the systems are more accurate than 0.75
#' tidy(bounds, "breakdown", better_than = 0.75)
#' # Claim that system a is more accurate than system b
#' tidy(bounds, "breakdown", better_than = "b")
#' @usage
#' # tidy(x), glance(x), tidy(x, "breakdown", better_than, systems = NULL)
#' @name tidy.accuracy_bounds
NULL

# Creates the result of accuracy_bounds(). `x`: a list with the fields
# * bounds: table of bounds.
# * options, fit: settings, and the fit of the raters.
# * failed: number of replicates without bounds, per system.
# * estimate: the user's estimate, or NULL.
# * groups, differences: see bounds_of_fit(). Only if the fit is identified.
new_bounds <- function(x) {
  table <- x$bounds
  options <- x$options
  has_conf_sets <- options$interval == "bootstrap"
  system_count_text <- count_noun(nrow(table), "system")
  model_text <- format(x$fit$model)
  table$range <- format_limits(table$lowest, table$highest)
  table$set <- format_limits(table$conf.low, table$conf.high)
  inject(new_result("accuracy_bounds",
    tables = list(bounds = x$bounds, breakdown = breakdown_table),
    facts = list(
      systems = nrow(table), n = max(table$n), model = model_text,
      group_size = options$group_size, groups = x$groups %||% NA_integer_,
      interval = options$interval,
      conf_level = if (has_conf_sets) options$conf_level else NA_real_,
      replicates = if (has_conf_sets) options$replicates else NA_integer_, failed = max(x$failed)
    ),
    caption = paste("Bounds of the accuracy of", system_count_text),
    head = sprintf("%s; probabilities of the truth are from the %s", system_count_text, model_text),
    shown = view(table, c("system", `lowest to highest` = "range",
      if (has_conf_sets) setNames("set", confidence_set_title(options$conf_level)), cases = "n"),
      left = integer()),
    notes = c(
      abstain_note(x$fit$x), paste(
        "If the fit has the right probabilities of the truth, accuracy is in this range, up to",
        "sampling error, whatever errors systems and raters share"
      ),
      paste0(
        "The fit assumes that raters err ", independence_words(x$fit$model),
        "; if they do not, its probabilities are too extreme, and the range is too narrow"
      ),
      reason_notes(
        list(estimate = table$lowest, reason = table$reason), table$system,
        missing_noun = "confidence set"
      )
    ), more = "tidy(), glance(), summary(), plot()",
    !!!x[names(x) != "bounds"]
  ))
}

#' @rdname tidy.accuracy_bounds
#' @export
format.accuracy_bounds <- function(x, digits = 3L, ...) {
  digits <- check_digits(digits)
  table <- tidy(x)
  confidence_set_texts <- sprintf(" (%s %s)", confidence_set_title(x$options$conf_level),
    format_limits(table$conf.low, table$conf.high, digits))
  sprintf("%s: %s%s", printable(table$system), format_limits(table$lowest, table$highest, digits),
    ifelse(is.na(table$conf.low), "", confidence_set_texts))
}

confidence_set_title <- function(level) paste0(format(100 * level), "% confidence set")
