# Tables of an accuracy estimate.

#' Tables of an accuracy estimate
#'
#' An [estimate_accuracy()] result contains accuracies of systems (classifiers), estimated from the
#' categories that raters gave to cases. `tidy()` and `glance()` return its tables as tibbles,
#' `x[i]` keeps some systems, and `format()` returns short text.
#'
#' @param x An [estimate_accuracy()] result.
#' @param i Systems to keep: names, numbers, or `TRUE` and `FALSE` for each system.
#' @param digits Number of decimals of the percentages of `format()`, by default 0.
#' @param ... Not used.
#' @return `x[i]`: an estimate for the systems `i` only. `format()`: a line per system, such as
#'   `78% (90% interval 67% to 90%)`.
#'
#'   `tidy(x, what)`: the table with the name `what`. Tables have a row per `system`, except where
#'   described otherwise. [estimate_accuracy()] defines methods and intervals.
#'
#'   `"estimate"` (the default): accuracies for the cases that a system answered.
#'   * `estimate`: accuracy, a probability; `std.error`: its standard error; `conf.low`,
#'     `conf.high`: limits of the interval.
#'   * `shared`, `independent`: accuracy if the system shares all errors of the raters (errs where
#'     they err), and if its errors are independent of the raters' errors. `NA` for methods
#'     `"binned"` and `"unbinned"` without a robust interval.
#'   * `n`: number of rated cases that the system answered, or of all cases that it answered if some
#'     gold cases (cases with known truth) have no ratings. `method`: the method. `reason`: why a
#'     value is `NA`, or why an estimate is doubtful.
#'   * `answered`: share of its cases that the system answered. This and the next columns exist only
#'     if systems abstained (argument `abstain` of [ratings()]).
#'   * `accuracy_all`: accuracy if abstentions count as wrong, which is `answered` times `estimate`;
#'     `all.low`, `all.high`: limits of its interval.
#'
#'   `"details"`: quantities from which estimates and intervals are computed. *Averaged models* are
#'   the models of raters over which method `"average"` averages. Robust intervals of other methods
#'   also use these models. Columns that need averaged models are `NA` for all other estimates.
#'   * `uninformative`, for method `"binned"`: share of the system's cases in bins in which all
#'     categories are equally probable.
#'   * `mean_posterior`: mean posterior probability of the system's answers.
#'   * `failed`: number of bootstrap replicates without an estimate.
#'   * `common`: assumed degree to which the system shares the raters' errors, from 0 (the estimate
#'     is `independent`) to 1 (it is `shared`). `NA` for methods without argument `common`.
#'   * `sampling`: standard error due to sampling.
#'   * `rater_error`: share of wrong ratings under the averaged models.
#'   * `independence_weight`: posterior probability, 0 to 1, that errors are independent. It is the
#'     total weight of the averaged models (fitted to the raters only) in which cases are equally
#'     difficult and raters have no separate confusion matrices.
#'   * `dependence_weight`: weight of shared errors in the estimate and the interval, from 0 to 1.
#'     It is `1 - 2 independence_weight`, but at least 0; and 1 if raters are nearly at chance.
#'   * `average_shared`: accuracy `shared` (see table `"estimate"`) under the averaged models.
#'   * `base_rate_range`: highest minus lowest accuracy over all base rates that are compatible with
#'     the ratings.
#'   * `centre`: centre of the robust interval. It differs from the estimate only if all raters are
#'     machines.
#'   * `disagreement_error`: share of ratings that differ from the most frequent category among the
#'     other ratings of the case. If several categories are most frequent, each counts in part.
#'
#'   `"members"`: a row per system and averaged model; no rows if there are none.
#'   * `accuracy`: `"common"` (one accuracy for all raters) or `"rater"` (one for each).
#'   * `errors`: wrong answers are equally probable (`"uniform"`) or depend on the distance from the
#'     true category (`"distance"`). Otherwise each judge (rater or system) has separate error
#'     probabilities (`"own"`) or a confusion matrix (`"matrix"`).
#'   * `difficulty`: difference in accuracy between easy and difficult cases; 0 if cases are equally
#'     difficult.
#'   * `concentration`: concentration of the Dirichlet prior of separate error probabilities; `NA`
#'     without them. High values mean that judges are similar.
#'   * `log_prior`, `log_evidence`, `weight`: log prior probability, log marginal likelihood, and
#'     posterior probability of the model.
#'   * `estimate`, `std.error`, `rater_accuracy`: accuracy of the system, its standard error, and
#'     mean accuracy of raters under the model.
#'
#'   `"gold"`: a row per system and interval, if gold cases measure the accuracy.
#'   * `interval`: `"gold alone"` (Wilson's interval from gold cases only), `"ratings alone"` (from
#'     ratings only), or an interval of [estimate_accuracy()] that uses both.
#'   * `estimate`, `std.error`, `conf.low`, `conf.high`: as above.
#'   * `labels`: number of gold cases that would give the same standard error without ratings.
#'   * `weight`: weight of the gold cases in the estimate, from 0 to 1. It is 1 if the estimate from
#'     ratings is not used as a prior. `reason`: why a value is `NA`.
#'
#'   `"gold_details"`: tests and other results from gold cases.
#'   * `gold`: number of gold cases that the system answered; `cases`: number of cases from which
#'     the gold cases are a sample.
#'   * `worth`: factor by which ratings reduce the number of gold cases that are needed for the same
#'     standard error.
#'   * `statistic`, `p.value`: z statistic and p-value of the test that gold cases and ratings have
#'     the same accuracy; `NA` with fewer than five gold cases. The accuracy from ratings is column
#'     `centre` of table `"details"`.
#'   * `common`: degree of sharing errors, as in table `"details"`, but estimated from gold cases
#'     and limited to \[0, 1\]; `common.low`, `common.high`: limits of its interval. `NA` if the
#'     whole interval is outside \[0, 1\].
#'   * `reason`: why gold cases do not measure the system.
#'
#'   `"replicates"`: a row per bootstrap replicate and system: `replicate`, `system`, `estimate`.
#'
#'   `"bins"`, for method `"binned"`: a row per system and bin (Lehner 2015, Table 4). A bin
#'   contains the cases whose highest posterior probability is in the same range.
#'   * `lower`, `upper`: limits of the bin; the lower limit is not in the bin.
#'   * `probability`: mean of the highest posterior probability; `cases`: number (or sum of weights)
#'     of the cases in the bin.
#'   * `agreement`: share of the system's answers that are the most probable category.
#'   * `estimate_raw`: accuracy in the bin before it is limited to \[0, 1\]. `NA` if all categories
#'     are equally probable.
#'   * `estimate`: accuracy in the bin.
#'
#'   `"roc"`, `"reliability"` and `"threshold"`, for systems with scores: see [score_curves].
#'
#'   `glance()`: a tibble with one row.
#'   * `systems`: number of systems; `method`, `interval`, `conf_level`: as in
#'     [estimate_accuracy()].
#'   * `agreement`, `kappa`, `chance_kappa`, `rater_accuracy`, `cases`, `raters`, `categories`:
#'     agreement and mean accuracy of raters, and numbers, as in [glance()][tidy.rater_fit] of a
#'     fit.
#'   * `negative`: number of base rates that were estimated below zero and set to zero.
#'   * `clip`, `bin_width`: settings in argument `bins` of [estimate_accuracy()]; `replicates`:
#'     number of bootstrap replicates.
#'   * `gold`: number of gold cases; `gold_sample`: how they were sampled; `target`: whether the
#'     interval is for the accuracy of these `"cases"` or of a `"population"` of cases.
#'     `gold_sample` and `target` are `NA` if no gold cases measure the accuracy.
#'   * `rerun_reliability`: correlation between repeated ratings of a case by a single rater
#'     (`repeats = "reruns"` of [ratings()]); each rating is coded by whether it equals the first
#'     system's answer. `NA` with several raters, or without reruns.
#' @family metrics
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' estimate <- estimate_accuracy(x)
#' # Accuracies and intervals
#' tidy(estimate)
#' # Quantities from which they are computed
#' tidy(estimate, "details")
#' # Numbers and settings of the whole estimate
#' glance(estimate)
#' format(estimate)
#' @usage
#' # tidy(x, what)
#' # glance(x)
#' @name tidy.accuracy_estimate
NULL

# Estimates that were saved by earlier versions of the package have no schema (the attribute with
# the printed form), so the schema of these estimates is computed here.
schema_of.accuracy_estimate <- function(x) { # nolint: object_name.
  schema <- attr(x, "schema") %||% attr(show_accuracy(x), "schema")
  schema$tables <- list(
    estimate = accuracy_table, details = function(x) {
      # Only methods with bins leave out uninformative cases, so other methods have no share of
      # uninformative cases.
      if (!method_of(x)$bins) x$details$uninformative <- NA_real_
      x$details
    },
    members = function(x) if (NROW(x$members) > 0L) x$members else empty_members,
    gold = function(x) x$gold$sources %||% empty_gold_sources,
    gold_details = function(x) x$gold$details %||% empty_gold_details,
    replicates = function(x) {
      replicates <- x$replicates %||% matrix(0, 0L, 0L)
      columns_tibble(
        replicate = as.vector(row(replicates)),
        system = rep(colnames(replicates) %||% character(), each = nrow(replicates)),
        estimate = as.double(replicates)
      )
    },
    bins = function(x) {
      abort_argument_if(!method_of(x)$bins, "what",
        "There are no bins in an estimate with method {.val {x$options$method}}.",
        i = "Use {.code estimate_accuracy(method = \"binned\")}.")
      x$bins
    },
    roc = roc_of_estimate, reliability = reliability_of_estimate, threshold = threshold_of_estimate
  )
  schema
}

empty_members <- tibble(
  system = "", accuracy = "", errors = "", !!!rep_named(c(
    "difficulty", "concentration", "log_prior", "log_evidence", "weight", "estimate", "std.error",
    "rater_accuracy"
  ), 0)
)[0L, ]

#' Accuracy estimates by group of cases
#'
#' With argument `by`, [estimate_accuracy()] estimates the accuracy of systems (classifiers)
#' separately in each group of cases. The result `x` is a list with an estimate per group, named by
#' group. `x[["name"]]` is an ordinary [estimate_accuracy()] result. `compare_systems(x)` estimates
#' differences between groups, see [compare_systems()]. A difference is `NA` unless both groups have
#' a random sample of gold cases (cases with known truth). Without gold cases in any group,
#' `compare_systems(x)` is an error.
#'
#' Each group is fitted separately. Only a few properties of the raters are computed from all cases:
#' which raters always give the same answer, and the share of the most frequent category and the
#' agreement on it, which determine `base_rate_range`. The interval of a group may therefore differ
#' from the interval that [estimate_accuracy()] computes if it is given only the cases of this
#' group.
#'
#' @param object An [estimate_accuracy()] result with `by`.
#' @param ... Not used.
#' @return `tidy(x)`: a tibble with a row per group and system: `group`, `system`, `estimate` (the
#'   accuracy), `std.error`, the limits `conf.low` and `conf.high` of its interval, and further
#'   columns. [tidy.accuracy_estimate()] describes these and other tables; all have a column
#'   `group`.
#'
#'   `tidy(x, "groups")`: a tibble with a row per group: `group`, and the columns of `glance()` of
#'   its estimate, such as `cases`.
#'
#'   `glance()`: a tibble with one row.
#'   * `groups`, `systems`, `cases`: numbers of groups, systems and cases. `missing`: number of
#'     estimates that are `NA`.
#'   * Values that are the same in all groups, such as `method`, `interval` and `conf_level`.
#'
#'   `format()`: a line per estimate, named by group (and by system, if there are several).
#'   `autoplot()`: a ggplot of estimates and intervals.
#' @family metrics
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(lehner_design(3))
#' ward <- rep(c("east", "west"), each = 100)
#' groups <- estimate_accuracy(
#'   x, method = "unbinned", by = ward, resampling = list(replicates = 200)
#' )
#' groups
#' # A row per group and system
#' tidy(groups)
#' # The estimate for one group
#' groups[["east"]]
#' @usage
#' # tidy(x)
#' # tidy(x, "groups")
#' # glance(x)
#' @name accuracy_by_group
NULL

#' @rdname accuracy_by_group
#' @rawNamespace S3method(ggplot2::autoplot,accuracy_by_group)
#' @rawNamespace S3method(ggplot2::autoplot,results_by_variable,autoplot.accuracy_by_group)
autoplot.accuracy_by_group <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  table <- tidy(object)
  abort_argument_if(!has_columns(table, c("system", "conf.low")), "object",
    "must contain estimates of accuracy.", not = object)
  # A row may have two labels, its variable and its group. They are pasted together.
  label_columns <- part_columns_of(table)
  group_labels <- paste_columns(table[label_columns])
  table[label_columns] <- NULL
  table$group <- factor_from_top(group_labels)
  first_estimate <- first_single_result(object)
  start_plot(table, "estimate", "group") +
    interval_layers(format_axis_percent) +
    facet_by(table, "system") +
    share_axis() +
    row_axis_with_space(limits = levels(table$group)) +
    plot_titles(
      paste(accuracy_title(first_estimate), "of systems by", toString(label_columns)),
      interval_subtitle(table, first_estimate$options$conf_level, "Separate fits, with"),
      accuracy_axis_title(first_estimate), caption = missing_caption(table)
    )
}

# Returns the table of tidy(x, "breakdown") for a result of accuracy_bounds(). The claim is that a
# system is more accurate than `better_than`. Column `breakdown` is the largest share of the raters'
# errors that the system can share before the claim fails.
breakdown_table <- function(x, ..., better_than = NULL, systems = NULL) {
  check_dots_empty(...)
  abort_argument_if(is.null(better_than), "better_than",
    "must be an accuracy in [0, 1], or the name of a rater or a system.")
  abort_argument_if(is.null(x$estimate), "x",
    "must be bounds that were computed from an estimate of accuracy.",
    x = "It contains bounds that were computed from ratings or a fit.",
    i = "Compute bounds with {.code accuracy_bounds(estimate_accuracy(ratings))}.")
  fit <- x$estimate$fit
  claimed_accuracy <- resolve_claimed_accuracy(better_than, fit)
  systems <- setdiff(check_system_names(systems, fit$x$systems), better_than)
  abort_if(length(systems) == 0L, "system",
    "There is no other system to compare with {.arg better_than}, which is {.val {better_than}}.",
    i = "Name another system in {.arg systems}, or give an accuracy or the name of a rater as
      {.arg better_than}.", system = better_than)
  table <- x$estimate$table
  extreme_accuracies <- table[, c("independent", "shared")]
  if (is.null(claimed_accuracy)) {
    compared_accuracy <- unlist(pick_rows(extreme_accuracies, match(better_than, table$system)))
    # Lower bounds of the differences of all pairs of systems (systems x systems), NA if there are
    # no bounds of differences.
    bounded_systems <- x$bounds$system
    lower_bounds <- matrix(NA_real_, length(bounded_systems), length(bounded_systems))
    pairs <- t(pairs_of_systems(length(bounded_systems)))
    if (!is.null(x$differences)) {
      lower_bounds[pairs] <- x$differences$lowest
      lower_bounds[pick_columns(pairs, 2:1)] <- -x$differences$highest
    }
    lowest_difference <-
      lower_bounds[match(systems, bounded_systems), match(better_than, bounded_systems)]
  } else {
    compared_accuracy <- rep(claimed_accuracy, 2L)
    lowest_difference <- x$bounds$lowest[match(systems, x$bounds$system)] - claimed_accuracy
  }
  differences <- Map(
    `-`, pick_rows(extreme_accuracies, match(systems, table$system)), compared_accuracy
  )
  claim_range <- where_claim_holds(differences$independent, differences$shared)
  tibble(
    system = systems, better_than = as_label(better_than), !!!differences,
    breakdown = claim_range$to, from = claim_range$from, lowest = lowest_difference,
    holds_at_lowest = lowest_difference > 0,
    reason = claim_range$reason
  )
}

# Returns the accuracy that systems are claimed to exceed: the number `better_than`, or the
# accuracy of the rater with this name. Returns NULL if `better_than` is the name of a system.
resolve_claimed_accuracy <- function(better_than, fit) {
  if (is.numeric(better_than)) return(check_number(better_than, "better_than", 0, 1))
  raters_and_systems <- c(named_raters(fit$x), fit$x$systems)
  abort_argument_if(!(is_string(better_than) && better_than %in% raters_and_systems),
    "better_than", "must be an accuracy in [0, 1], or the name of a rater or a system.",
    not = better_than,
    i = "Raters and systems are {.val {raters_and_systems}}.")
  if (better_than %in% fit$x$systems) return(NULL)
  if (has_one_matrix(fit)) fit <- without_warnings(fit_again(fit, model = rater_model("rater")))
  sum(fit$base_rates * diag(confusion(fit)[[better_than]]))
}

# Returns the range of the share c of shared errors (0 to 1) in which a claim holds. The claim holds
# if the difference independent - c (independent - shared) is positive. The result has fields
# `from`, `to` and `reason`. `reason` is NA if the claim holds for some share, and otherwise
# explains why `from` and `to` are NA.
where_claim_holds <- function(independent, shared) {
  is_unknown <- is.na(independent) | is.na(shared)
  never_holds <- is_unknown | (independent <= 0 & shared <= 0)
  zero_crossing <- replace(independent / (independent - shared), never_holds, NA_real_)
  list(
    from = ifelse(independent > 0 & !never_holds, 0, zero_crossing),
    to = ifelse(shared > 0 & !never_holds, 1, zero_crossing),
    reason = first_reason(
      "the accuracies with shared and with independent errors are unknown" = is_unknown,
      "the claim holds for no amount of shared errors" = never_holds
    )
  )
}
