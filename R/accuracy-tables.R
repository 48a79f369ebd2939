# All tables of an estimate.

#' Tables and words of an accuracy estimate
#'
#' @param x An [estimate_accuracy()] result.
#' @param i Systems to keep: names, numbers or truth values.
#' @param digits Number of decimals of the percentages.
#' @param ... Not used.
#' @return `tidy(x, what)`: a tibble. For `"estimate"`, the default, a row per system: `system`;
#'   `estimate`, its accuracy, a probability; `std.error`, `conf.low` and `conf.high`; `shared` and
#'   `independent`, the ends of the range of what dependence between system and raters could make of
#'   the estimate, `NA` where no models were averaged (methods `"binned"` and `"unbinned"` without a
#'   robust interval); `n`, the number of its cases that raters saw; `method`; `reason`, why
#'   something is `NA`. Accuracy is among the cases that a system answered. If systems abstained
#'   (see [ratings()]), also `answered`, the share of its cases that a system answered (coverage in
#'   weak supervision and selective classification, yield in medicine); and `accuracy_all`, with the
#'   ends `all.low` and `all.high` of its interval, where an abstention counts as wrong: `answered`
#'   times the accuracy.
#'
#'   For `"details"`, a row per system: `system`; `uninformative`, the share of its cases in bins
#'   that say nothing (method `"binned"`); `mean_posterior`, the mean posterior probability of its
#'   answers; `failed`, the number of bootstrap replicates without an estimate; `common`, the share
#'   of the distance from `independent` to `shared` of the correction (`NA` for methods that
#'   assume what they assume). Where models were averaged (method `"average"`, and every robust
#'   interval) also `sampling`, the part of `std.error` that is sampling error; `rater_error`, the
#'   share of ratings that are wrong under these models; `independence_weight`, the weight of the
#'   models that show no sign of shared errors (equal difficulty, no error rates of their own),
#'   fitted to raters alone; `dependence_weight`, how much of shared errors is allowed for, from 0
#'   to 1 (see [estimate_accuracy()]); `average_shared`, the accuracy if all errors are shared,
#'   under the models of `"average"`; `base_rate_range`, the range of accuracies over the base rates
#'   that ratings leave possible; `centre`, that of the robust interval, which is the estimate
#'   unless machines rate. For all methods `disagreement_error`, the share of ratings that are not
#'   those of the plurality of the others of their case (ties split).
#'
#'   For `"members"`, the models that were averaged, a row per system and model, without rows where
#'   none were: `system`; `accuracy`, `errors`, `difficulty` and `concentration`, which model it is;
#'   its `log_prior`, `log_evidence` and `weight`; `estimate`, `std.error` and `rater_accuracy`
#'   under it, roughly where the evidence rules it out.
#'
#'   For `"gold"`, rows only where gold cases measured (see [estimate_accuracy()]): for each
#'   `system` one per `interval`, which are `"gold alone"` (Wilson's), `"ratings alone"`,
#'   `"corrected"` and `"combined"`, and `"anytime"` if it was asked for: `estimate`, `std.error`,
#'   `conf.low` and `conf.high`; `labels`, the number of gold cases that without ratings would have
#'   as small an error; `weight` of gold in the estimate, from 0 to 1 (with `"corrected"` ratings
#'   correct it, but are never believed: 1); `reason`, why something is `NA`.
#'
#'   For `"gold_details"`, a row per system: `system`; `gold`, its number of gold cases (copies, if
#'   cases have weights), out of `cases`; `worth`, how many labels without ratings do what one does
#'   with them in the corrected interval; `statistic` and `p.value` of the test that the estimate
#'   from ratings alone is right, `NA` below five gold cases; `common`, the share of
#'   shared errors by the gold cases, in \[0, 1\], with the ends `common.low` and `common.high` of
#'   its interval: 0 where the corrected estimate is `independent`, 1 where it is `shared`, `NA`
#'   where all of the interval is beyond; `reason`, why gold cases say nothing of the system.
#'
#'   For `"replicates"`, a row per bootstrap replicate and system: `replicate`, `system` and
#'   `estimate`; no rows where nothing was drawn.
#'
#'   For `"bins"`, a row per system and non-empty bin, highest first (Lehner 2015, Table 4):
#'   `system`; `lower` and `upper`, the limits of the highest posterior probability,
#'   `(lower, upper]`; `probability`, its mean; `cases`, their number (or weight); `agreement`, the
#'   share of the system's answers that are the most probable category; `estimate_raw`, the accuracy
#'   before clipping, `NA` for a bin that says nothing; `estimate`, what enters the mean.
#'
#'   For `"roc"`, `"reliability"` and `"threshold"`, of systems with scores, see [score_curves].
#'
#'   `x[i]`: the estimate of these systems alone.
#'
#'   `glance()`: a tibble with one row: the number of `systems`; `method`, `interval`, `conf_level`;
#'   `agreement`, `kappa` and `chance_kappa` of the raters, `rater_accuracy` under the model that
#'   was fitted, and the numbers of `cases`, `raters` and `categories`, as in
#'   [glance()][tidy.rater_fit] of a fit; `negative`, the number of base rates that came out
#'   negative and were set to zero; `clip` and `bin_width`; `replicates` of the bootstrap; the
#'   number of `gold` cases, `gold_sample` and `target`, where gold cases measured;
#'   `rerun_reliability`, of one rater's runs of a case as signs of the first system's answer: 1 if
#'   runs agree, 0 if they agree no more than runs of different cases, `NA` without reruns.
#'
#'   `format()`: for each system one line, such as `78% (90% interval 67% to 90%)`; a vector with
#'   the systems as names if there are several.
#' @family estimation
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' estimate <- estimate_accuracy(x)
#' tidy(estimate)
#' tidy(estimate, "details")
#' glance(estimate)
#' format(estimate)
#' @name tidy.accuracy_estimate
NULL

# Estimates of earlier versions have no schema.
schema_of.accuracy_estimate <- function(x) { # nolint: object_name.
  schema <- attr(x, "schema") %||% attr(show_accuracy(x), "schema")
  schema$tables <- accuracy_tables()
  schema
}

accuracy_tables <- function() {
  list(
    estimate = accuracy_table, details = details_table,
    members = function(x) if (NROW(x$members) > 0L) x$members else no_members,
    gold = function(x) x$gold$sources %||% no_gold_sources,
    gold_details = gold_table_of,
    replicates = function(x) replicate_table(x$replicates %||% matrix(0, 0L, 0L)),
    bins = bins_table, roc = roc_of_estimate, reliability = reliability_of_estimate,
    threshold = threshold_of_estimate
  )
}

gold_table_of <- function(x) x$gold$details %||% no_gold_details

details_table <- function(x) {
  if (!method_of(x)$bins) x$details$uninformative <- NA_real_
  x$details
}

bins_table <- function(x) {
  abort_argument_if(!method_of(x)$bins, "what",
    "There are no bins in an estimate with method {.val {x$options$method}}.",
    i = "Use {.code estimate_accuracy(method = \"binned\")}.")
  x$bins
}

replicate_table <- function(replicates) {
  tibble::tibble(
    replicate = as.vector(row(replicates)),
    system = rep(colnames(replicates) %||% character(), each = nrow(replicates)),
    estimate = as.double(replicates)
  )
}

no_members <- tibble::tibble(
  system = "", accuracy = "", errors = "", difficulty = 0,
  concentration = 0, log_prior = 0, log_evidence = 0, weight = 0,
  estimate = 0, std.error = 0, rater_accuracy = 0
)[0L, ]

#' Estimates by group
#'
#' What [estimate_accuracy()] gives with `by`: a list with an estimate per group, named after the
#' groups, so that `x[["name"]]` is an estimate like any other, for [compare_systems()],
#' [confusion()] and more. Each group is fitted separately, but its interval takes from all cases
#' how raters lean towards categories and how often answers coincide by chance, so that it may be
#' narrower than if the group were all there is. [compare_systems()] of the whole list compares the
#' groups, if gold cases measure them.
#'
#' @param object An [estimate_accuracy()] result with `by`.
#' @param ... Passed on to `format()` of each estimate.
#' @return `tidy()`: the tables of [tidy.accuracy_estimate()], one below another, with `group` as
#'   their first column; `tidy(x, "groups")`: the `glance()` of each group. `glance()`: a tibble
#'   with one row: the numbers of `groups`, `systems`, `cases` and of `missing` estimates, and what
#'   is the same in all groups, such as `method`, `interval` and `conf_level`. `format()`: for each
#'   estimate one line, named after its group (and system, if there are several). `autoplot()`: a
#'   ggplot of estimates and intervals.
#' @family estimation
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(lehner_design(3))
#' ward <- rep(c("east", "west"), each = 100)
#' groups <- estimate_accuracy(
#'   x, method = "unbinned", by = ward, resampling = list(replicates = 200)
#' )
#' groups
#' tidy(groups)
#' groups[["east"]]
#' @name accuracy_by_group
NULL

#' @rdname accuracy_by_group
#' @rawNamespace S3method(ggplot2::autoplot,accuracy_by_group)
#' @rawNamespace S3method(ggplot2::autoplot,results_by_variable,autoplot.accuracy_by_group)
autoplot.accuracy_by_group <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  table <- tidy(object)
  abort_argument_if(!has_columns(table, c("system", "conf.low")), "object",
    "must hold estimates of accuracy; there is no picture of other results by variable.")
  names(table)[[1L]] <- "group"
  table$group <- factor(table$group, levels = rev(names(object)))
  seen <- drop_missing(table, "estimate")
  picture(table, "estimate", "group") +
    interval_lines() +
    main_points(na.rm = TRUE) +
    panels_of(table, "system") +
    estimate_axis(seen, breaks = c(0, 0.5, 1), labels = in_percent) +
    ggplot2::scale_y_discrete(drop = FALSE) +
    titled(
      "Accuracy of systems by group",
      if (!all(is.na(seen$conf.low))) {
        level <- object[[1L]]$options$conf_level
        paste0("With ", interval_title(level), "s; each group is fitted separately")
      },
      "probability of the correct category", caption = lacking_words(table)
    ) +
    room_between(18)
}

# How many shared errors a claim survives: a table of bounds that were made from an estimate.

breakdown_table <- function(x, ..., better_than = NULL, systems = NULL) {
  check_dots_empty(...)
  abort_argument_if(is.null(better_than), "better_than",
    "State what systems are claimed to be better than.")
  abort_argument_if(is.null(x$estimate), "x",
    "These bounds come from ratings or a fit, not from an estimate.",
    i = "Make them from one: {.code accuracy_bounds(estimate_accuracy(x))}.")
  fit <- x$estimate$fit
  value <- claimed_value(better_than, fit)
  systems <- setdiff(check_system_names(systems, fit$x$systems), better_than)
  abort_if(length(systems) == 0L, "system",
    "There is no other system to compare with {.arg better_than}.", x = "It names the only one.",
    system = better_than)
  table <- tidy(x$estimate)
  mine <- table[match(systems, table$system), ]
  other <- if (is.null(value)) {
    table[match(better_than, table$system), ]
  } else {
    list(independent = value, shared = value)
  }
  independent <- mine$independent - other$independent
  shared <- mine$shared - other$shared
  claim <- where_claim_holds(independent, shared)
  lowest <- if (is.null(value)) {
    vapply(systems, lowest_difference, 0, bounds = x, two = better_than, USE.NAMES = FALSE)
  } else {
    x$bounds$lowest[match(systems, x$bounds$system)] - value
  }
  tibble::tibble(
    system = systems, better_than = as_label(better_than), independent, shared,
    breakdown = claim$to, from = claim$from, lowest, holds_at_lowest = lowest > 0,
    reason = claim$reason
  )
}

# The accuracy that systems are claimed to be better than; NULL for another system.
claimed_value <- function(better_than, fit) {
  if (is.numeric(better_than)) return(check_number(better_than, "better_than", 0, 1))
  raters <- named_raters(fit$x)
  judges <- c(raters, fit$x$systems)
  abort_argument_if(!(rlang::is_string(better_than) && better_than %in% judges),
    "better_than", "must be an accuracy in [0, 1], or name a rater or a system.", not = better_than,
    i = "They are {.val {judges}}.")
  if (better_than %in% fit$x$systems) return(NULL)
  if (has_one_matrix(fit)) {
    fit <- suppressWarnings(
      fit_again(fit, model = rater_model("rater")), classes = "fallible_warning"
    )
  }
  sum(fit$base_rates * diag(confusion(fit)[[better_than]]))
}

# Which c in [0, 1] keep independent - c (independent - shared) above zero.
where_claim_holds <- function(independent, shared) {
  unknown <- is.na(independent) | is.na(shared)
  never <- unknown | (independent <= 0 & shared <= 0)
  at <- replace(independent / (independent - shared), never, NA_real_)
  list(
    from = ifelse(independent > 0 & !never, 0, at), to = ifelse(shared > 0 & !never, 1, at),
    reason = first_reason(
      "the estimate has no range from shared to independent" = unknown,
      "the claim does not hold even where errors are independent" = never
    )
  )
}

# Of the accuracies of two systems. NA where bounds do not know it.
lowest_difference <- function(one, two, bounds) {
  names <- bounds$bounds$system
  at <- match(c(one, two), names)
  if (anyNA(at) || is.null(bounds$differences)) return(NA_real_)
  pairs <- pairs_of_systems(length(names))
  here <- which(pairs[1L, ] == min(at) & pairs[2L, ] == max(at))
  ends <- bounds$differences
  if (at[[1L]] < at[[2L]]) ends$lowest[[here]] else -ends$highest[[here]]
}
