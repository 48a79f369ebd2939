#' Number and choice of gold cases
#'
#' Computes how many cases must be labelled with their true category ("gold cases") for an interval
#' of a given half-width for the accuracy of a system, and draws these cases. Ratings predict the
#' truth of the other cases, so that fewer labels are needed; the plan shows how many fewer.
#'
#' @section Worth of ratings:
#' Ratings predict, for each case, the probability that the system's answer is correct. Let `r` be
#' the correlation between this prediction and correctness (1 or 0). If gold cases are a small share
#' of all cases, a number of gold cases with ratings is as informative as `1 / (1 - r^2)` times this
#' number without ratings. This factor is the *worth* of ratings. If gold cases are a large share,
#' ratings save fewer labels.
#'
#' Without gold cases, `r` is known only roughly, and the plan gives a range for the number of gold
#' cases. This plan is a first guess: label a pilot of 30 random cases, and plan again. The number
#' of drawn cases is the highest number of the range. This number assumes the lowest worth. It also
#' assumes the accuracy that needs most cases, among three: the estimate, the accuracy if all errors
#' are shared, and the accuracy if no errors are shared. For a single rater, the plan assumes that
#' the worth is 1, and that the accuracy is the share of ratings equal to the system's answer.
#'
#' A *pilot* is a random sample of gold cases in the estimate `x`. A plan for an accuracy uses the
#' accuracy and the worth in the pilot, and has no range. Gold cases of the pilot count towards the
#' total number.
#'
#' If the estimate has clusters (`resampling` of [estimate_accuracy()]) and the pilot is in at least
#' 5 clusters, plans for an accuracy use the design effect of clusters. It increases with the number
#' of gold cases, because more gold cases then share a cluster. A pilot with few pairs of gold cases
#' in the same cluster hardly determines it. Other plans take cases as independent, and print this.
#'
#' @section Intervals:
#' * `"corrected"` intervals are computed from gold cases and from predictions by ratings. They are
#'   valid for any amount of shared errors, which are errors that systems and raters make on the
#'   same cases.
#' * `"combined"` intervals also use the estimate from ratings as a prior, unless gold cases
#'   contradict it. They are planned with at least 20 gold cases, which are enough to contradict it.
#' * `"gold alone"` intervals are Wilson's intervals, computed from gold cases without ratings, for
#'   comparison.
#'
#' @section Choice of cases:
#' * `"stratified"`: cases are divided into four strata by uncertainty, which is the standard
#'   deviation of the label predicted from the ratings. More cases are drawn from uncertain strata
#'   (Neyman 1934).
#' * `"active"`: cases are drawn with probabilities that increase with uncertainty.
#' * `"random"`: all cases have the same probability.
#'
#' The numbers of gold cases are computed for random cases. The gain from the other two choices is
#' not known before labelling, and is not included.
#'
#' Call `new <- augment(plan)` to get the cases to label. Fill in its column `truth`, keep its
#' column `probability`, without which the estimate is biased, and give `new` to
#' [estimate_accuracy()] as `known_truth`. After a pilot, give `rbind(tidy(plan, "labelled"), new)`.
#' If pilot and new cases are both random samples,
#' `update(estimate, known_truth = new, gold_sample = "random")` also works.
#'
#' For a difference, only cases with different answers are drawn; for precision, only cases with the
#' answer `category`. These cases cannot be used to estimate the accuracy of a system. Cases cannot
#' be drawn from a database; use `dplyr::collect()` first.
#'
#' @section Groups:
#' For ratings with `by`, and for the result of [estimate_accuracy()] with `by`, the result is a
#' list with a plan per group. With `of = "difference"`, each group is planned with half-width
#' `half_width / sqrt(2)`, so that the interval of the difference of two groups has `half_width`.
#'
#' @param x A [ratings()] object with systems, or the result of [estimate_accuracy()], preferably
#'   with some gold cases (a pilot).
#' @param half_width Half the width of the interval, in (0, 0.5); by default 0.05.
#' @param of Quantity to measure: the `"accuracy"` of each system (the default), the `"difference"`
#'   of the accuracies of two systems (or of groups, see section Groups), or the `"recall"` or
#'   `"precision"` of each system for one `category`.
#' @param systems Names of systems. The default, `NULL`, is all systems (the first two for a
#'   difference). The same cases are labelled for all systems.
#' @param category The category for `"recall"` or `"precision"`, a string; not used for other
#'   quantities. Recall is the share of the cases of this category to which the system gives this
#'   category. Precision is the share of correct answers among the system's answers with this
#'   category.
#' @param gold Total number of gold cases, including those of a pilot, if it is fixed. The plan then
#'   reports the resulting half-width. By default `NULL`: the number is computed from `half_width`.
#' @param interval Kind of interval to plan for, `"combined"` or `"corrected"`; see section
#'   Intervals. The default, `NULL`, is the kind of the estimate `x` if it is `"combined"` or
#'   `"corrected"`, and `"combined"` for other kinds and for ratings. If `of` is not `"accuracy"`,
#'   the kind is always `"corrected"`.
#' @param target Quantity that the interval is for: the value in the `"population"` of which the
#'   cases of `x` are a sample, or the value on exactly these `"cases"`. The default is the target
#'   of the gold cases in `x`, or `"population"` if `x` has no gold cases.
#' @param conf_level Confidence level of the interval, in (0, 1); by default the level of the
#'   estimate `x`, or for ratings 0.9 or the option `fallible.conf_level`.
#' @param choice How cases are drawn: `"stratified"` (the default for several raters), `"active"`,
#'   or `"random"` (the default for one rater). See section Choice of cases.
#' @param cost Costs of a gold label and of a rating, such as `c(gold = 20, rating = 1)`; by default
#'   `NULL`, no costs. With costs, the plan reports whether one more rater for every case costs less
#'   than the labels that it saves. For an accuracy without fixed `gold`, it also reports the
#'   cheapest numbers of labels and ratings for a new study (Angelopoulos et al. 2025).
#' @param ... `by`: groups of cases, if `x` is ratings: the name of a covariate, or a vector with
#'   the group of each case. See section Groups.
#' @return An object of class `gold_plan`, or a list of them (see section Groups).
#'   [tidy()][tidy.gold_plan] returns numbers of gold cases and half-widths for each system and kind
#'   of interval, and [glance()][tidy.gold_plan] those for the system that needs most gold cases.
#'   [augment()][tidy.gold_plan] returns the cases to label. [autoplot()][autoplot.gold_plan] draws
#'   half-widths against numbers of gold cases.
#' @family gold cases
#' @references Angelopoulos, A. N., Eisenstein, J., Berant, J., Agarwal, A. and Fisch, A. (2025).
#'   Cost-optimal active AI model evaluation. *arXiv* 2506.07949.
#'
#'   Neyman, J. (1934). On the two different aspects of the representative method. *Journal of the
#'   Royal Statistical Society*, 97, 558-625.
#' @examples
#' # Gold cases for an interval of accuracy with half-width 0.05
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8), n = 1000))
#' plan <- plan_gold(x, half_width = 0.05)
#' plan
#' if (requireNamespace("ggplot2", quietly = TRUE)) plot(plan)
#' # The cases to label
#' augment(plan)
#' # Labels for the difference between two groups of cases
#' plan_gold(x, half_width = 0.1, of = "difference", by = rep(c("old", "new"), 500))
#' @export
plan_gold <- function(x, half_width = 0.05, of = c("accuracy", "difference", "recall", "precision"),
                      systems = NULL, category = NULL, gold = NULL,
                      interval = NULL, target = c("population", "cases"),
                      conf_level = level_of(x),
                      choice = c("stratified", "active", "random"),
                      cost = NULL, ...) {
  check_call(dots = "by")
  of <- check_choice(of)
  check_number(half_width, "half_width", 0, 0.5, open_min = TRUE, open_max = TRUE)
  by <- enquos(...)$by
  if (!is.null(by)) x <- split_by(x, by)
  if (!is.null(by) || inherits(x, "accuracy_by_group")) {
    if (of != "difference") return(map_variables(unclass(x), "group"))
    return(add_difference_note(map_variables(lapply(x, function(x) {
      list(x = x, of = "accuracy", interval = "corrected",
        half_width = structure(half_width / sqrt(2), difference = half_width))
    }), "group")))
  }
  estimate <- as_planned_estimate(x)
  if (missing(target)) target <- estimate$gold$settings$target %||% "population"
  conf_level <- check_level(conf_level)
  x <- estimate$fit$x
  uses_category <- of %in% c("recall", "precision")
  category_number <- if (length(category) == 1L) match(as_label(category), x$categories)
  abort_argument_if(uses_category && !isTRUE(category_number > 0L), "category",
    "must be one of {.val {x$categories}}.", not = category)
  settings <- list(
    half_width = as.double(half_width), difference = attr(half_width, "difference"), of = of,
    title = accuracy_title(estimate),
    systems = check_planned_systems(systems, x, of),
    category = if (uses_category) category_number, category_label = category,
    gold = if (!is.null(gold)) as.double(check_count(gold, "gold", max = count_cases(x))),
    interval = planned_interval(interval, estimate, of),
    target = check_choice(target, c("population", "cases")), conf_level = conf_level,
    choice = if (missing(choice) && n_raters(x) == 1L) "random" else check_choice(choice),
    cost = if (!is.null(cost)) check_cost(cost, c(gold = NA, rating = NA))
  )
  quantities <- planned_quantities(estimate, predict_categories(x), settings)
  answer_table <- stack_rows(quantities, plan_gold_rows, settings)
  new_gold_plan(list(
    answer = answer_table, curve = stack_rows(quantities, gold_curve, settings),
    costs = gold_costs(answer_table, quantities, estimate, settings),
    chosen = with_one_seed(choose_gold(answer_table, quantities, estimate, settings)),
    cases = max(map_dbl(quantities, function(quantity) quantity$prediction$cases)),
    settings = settings, in_database = in_database(x), raters = n_raters(x),
    reruns = note_of_reruns(estimate),
    clusters = cluster_note(estimate$gold) %||% ignored_clusters_note(estimate, quantities)
  ))
}

# Returns the estimate from which to plan: `x`, or an estimate computed from the ratings `x`.
as_planned_estimate <- function(x) {
  if (inherits(x, "accuracy_estimate")) {
    drawn_gold <- x$drawn_gold
    if (is.null(drawn_gold)) return(x)
    ratings <- x$fit$x
    # `x` is an estimate from posterior draws, which has no field `gold`. Its gold cases become the
    # pilot of a new estimate by the default method.
    known_truth <- list2DF(list(
      case = ratings$cases[drawn_gold$case], truth = ratings$categories[drawn_gold$truth]
    ))
    return(without_warnings(estimate_accuracy(
      ratings, known_truth = known_truth, gold_sample = "random", conf_level = x$options$conf_level
    )))
  }
  abort_argument_if(!inherits(x, "ratings"), "x",
    "must be a {.cls ratings} object or an estimate by {.fun estimate_accuracy}.", not = x)
  ratings_with_votes <- with_votes(x)
  # With one rater, accuracies are not identified without gold cases, so there is no estimate. The
  # ratings still predict the truth of cases.
  if (n_raters(ratings_with_votes) == 1L) return(list(
    fit = list(x = ratings_with_votes), table = list(system = ratings_with_votes$systems)
  ))
  without_warnings(estimate_accuracy(x))
}

# Returns a note if the estimate has clusters, but the plan does not use them. NULL otherwise.
ignored_clusters_note <- function(estimate, quantities) {
  uses_clusters <- map_lgl(quantities, `[[`, "uses_clusters")
  if (anyDuplicated(estimate$options$cluster) > 0L && !all(uses_clusters)) paste(
    "Cases are taken as independent, so the half-width can be larger: clusters are used only for an
     accuracy, if gold cases are in at least", min_clusters, "clusters"
  )
}

# Adds a note to the plans of groups. The note gives the half-width of the difference between the
# two groups with the widest intervals.
add_difference_note <- function(plans) {
  settings <- plans[[1L]]$settings
  half_widths <- map_dbl(plans, function(plan) glance(plan)$half_width)
  largest_half_widths <- sort(replace_na(half_widths, settings$half_width), TRUE)[1:2]
  half_width <- sqrt(sum(largest_half_widths^2))
  structure(plans, note = c(
    paste0("Difference of two groups within ", format_decimals(half_width), " (each group within ",
      format_decimals(largest_half_widths[[1L]]), ") if the errors of both groups are independent"),
    if (!anyNA(map_dbl(plans, function(plan) glance(plan)$gold))) power_note(half_width, settings)
  ))
}

# Returns a sentence on the true difference that is detected with power .8, if the interval of the
# difference has the given half-width.
power_note <- function(half_width, settings) {
  detectable_difference <- half_width * (1 + qnorm(0.8) / normal_quantile(settings$conf_level))
  paste0("A true difference of ", format_decimals(detectable_difference),
    " is detected (interval without 0) with probability .8")
}

# Checks the argument `interval`, and returns the kind of interval. Combined intervals are available
# only for accuracies, because the error of estimates from ratings is not known well enough for
# other quantities.
planned_interval <- function(interval, estimate, of) {
  if (of != "accuracy") return("corrected")
  possible_intervals <- c("combined", "corrected")
  check_choice(
    interval %||%
      c(intersect(estimate$options$interval, possible_intervals), possible_intervals)[[1L]],
    possible_intervals, "interval"
  )
}

# Checks the argument `systems`. Returns the indices of the systems.
check_planned_systems <- function(systems, x, of) {
  needs_pair <- of == "difference"
  n_systems_needed <- 1L + needs_pair
  abort_if(n_systems(x) < n_systems_needed, "system",
    "This plan needs at least {n_systems_needed} system{?s}.",
    x = "{.arg x} has {n_systems(x)} system{?s}.",
    i = "Give {.arg systems} to {.fun ratings}.", system = x$systems)
  if (is.null(systems) && needs_pair) systems <- x$systems[1:2]
  systems <- check_system_names(systems, x$systems)
  abort_argument_if(needs_pair && length(systems) != 2L, "systems",
    "must be the names of two systems for a {.val difference}.", x = "It is {.val {systems}}.")
  match(systems, x$systems)
}

# Returns a table of costs for three alternatives: the present raters, one more rater for every
# case, and a new study with the cheapest numbers of labels and ratings. NULL if the user gave no
# costs.
gold_costs <- function(table, quantities, estimate, settings) {
  if (is.null(settings$cost)) return(NULL)
  x <- estimate$fit$x
  interval <- chosen_interval_rows(table, settings)$interval[[1L]]
  count_labels_needed <- function(quantity, explained_share) {
    if (is.na(explained_share)) return(NA_real_)
    quantity$explained <- explained_share
    rows <- plan_gold_rows(quantity, settings)
    rows$more[rows$interval == interval]
  }
  count_labels_for_all <- function(shares) max(unlist(Map(count_labels_needed, quantities, shares)))
  explained_shares <- map_dbl(quantities, `[[`, "explained")
  cheapest_split <- if (settings$of == "accuracy" && is.null(settings$gold)) {
    hardest_index <-
      match(hardest_system_row(table, settings)$system, map_chr(quantities, `[[`, "system"))
    best_split(quantities[[hardest_index]], n_raters(x), settings)
  }
  n_gold <- c(
    count_labels_for_all(explained_shares),
    count_labels_for_all(explained_with_one_more_rater(explained_shares, estimate, settings)),
    cheapest_split$gold
  )
  n_further_ratings <- c(0, count_cases(x), cheapest_split$ratings)
  columns_tibble(
    raters = c("as they are", "one more", "split")[seq_along(n_gold)], gold = n_gold,
    ratings = n_further_ratings,
    cost = n_gold * settings$cost[["gold"]] + n_further_ratings * settings$cost[["rating"]]
  )
}

# Returns the share of the variance that ratings would explain with one more rater, for each
# quantity. NA for fewer than three raters, and for counts of ratings without names of raters (see
# has_counts()).
explained_with_one_more_rater <- function(explained_shares, estimate, settings) {
  x <- estimate$fit$x
  n_raters_now <- n_raters(x)
  if (has_counts(x) || n_raters_now < 3L) return(rep(NA_real_, length(explained_shares)))
  estimate$gold <- NULL
  to_odds <- function(share) share / (1 - share)
  # Returns the odds of the explained share, with posterior probabilities as predictions.
  # predict_categories() is not used, because it also uses the shares of categories among the
  # ratings of a case. These shares change too much if one rater is left out.
  odds_of_panel <- function(panel) {
    estimate$fit$x <- panel
    quantities <- planned_quantities(estimate, posterior_of_raters(panel), settings)
    to_odds(map_dbl(quantities, `[[`, "explained"))
  }
  left_out_raters <- unique(round(seq(1, n_raters_now, length.out = min(n_raters_now, 5L))))
  odds_without_one <- vapply(left_out_raters, function(rater) {
    odds_of_panel(without_warnings(x[, -rater]))
  }, explained_shares)
  # Factor by which the odds increase if a left-out rater is added again. One more rater is assumed
  # to increase the odds by the same factor.
  odds_ratio <- odds_of_panel(x) / rowMeans(matrix(odds_without_one, length(explained_shares)))
  odds_with_more <- to_odds(explained_shares) * pmax(1, odds_ratio)
  pmin(0.9, odds_with_more / (1 + odds_with_more))
}
