# Printed information on the gold cases (cases with known truth) of an accuracy estimate, and
# update() of an estimate with more gold cases.

# Tables with the columns of tidy(x, "gold") and tidy(x, "gold_details"), but without rows.
empty_gold_sources <- tibble(
  system = "", interval = "",
  !!!rep_named(
    c("estimate", "std.error", "conf.low", "conf.high", "labels", "weight"), 0
  ), reason = ""
)[0L, ]

# Columns of tidy(x, "gold_details") that are computed by gold_test() and estimate_common_share().
gold_test_columns <- c("statistic", "p.value", "common", "common.low", "common.high")

empty_gold_details <- tibble(
  system = "", gold = 0L, cases = 0, worth = 0, !!!rep_named(gold_test_columns, 0),
  reason = ""
)[0L, ]

# Returns columns to print, with an element per system:
# * the estimates from gold cases only and from ratings only, and the p-value of their difference.
# * labels: number of gold cases that, without ratings, would give the estimate's standard error.
gold_columns <- function(x) {
  sources <- split(x$gold$sources, x$gold$sources$interval)
  n_equivalent_gold <- sources[[x$options$interval]]$labels
  printed_columns <- list(
    `gold alone` = format_decimals(sources[[source_gold_only]]$estimate),
    `ratings alone` = format_decimals(sources[[source_ratings_only]]$estimate),
    p = format_p(x$gold$details$p.value),
    labels = ifelse(is.na(n_equivalent_gold), "NA", number(round(n_equivalent_gold)))
  )
  if (is_one_rater(x$fit$x)) printed_columns[c("gold alone", "labels")] else printed_columns
}

# Returns notes to print below an estimate. They explain how gold cases were sampled, and what the
# columns of gold_columns() mean.
gold_notes <- function(x) {
  gold <- x$gold
  details <- gold$details
  # The printed table already explains why gold cases are not used for some systems. These reasons
  # are not repeated here.
  unexplained_rows <- details[!x$table$why %in% c("ratings_alone", "one_rater"), ]
  notes <- reason_notes(unexplained_rows, unexplained_rows$system)
  if (is.null(gold$evidence)) return(notes)
  gold_only_rows <- gold$sources[gold$sources$interval == source_gold_only, ]
  contradicted_systems <- details$system[which(details$p.value < 1 - x$options$conf_level)]
  sample_text <- paste0(
    number(count_gold(x)), " of ", count_noun(sum(weights_of_cases(x$fit$x)), "case"), ", ",
    if (gold$sample == "random") "a random sample" else "chosen with known probabilities",
    if (length(contradicted_systems) > 0L) paste0(
      "; it contradicts ratings alone for ", shorten(contradicted_systems, most = 4L)
    )
  )
  # The test in column `p` compares the estimate from gold cases with the centre of the interval
  # from ratings. A note contains this centre if it is not the estimate from ratings, which happens
  # only if raters are machines.
  interval_centres <- x$details$centre
  moved_systems <-
    which(!is.na(details$p.value) & abs(interval_centres - gold$alone$estimate) > 1e-9)
  c(
    notes,
    note(
      paste0("Gold: ", sample_text), report = paste0("Known truth: ", plain_words(sample_text))
    ),
    note(
      paste0(
        "Labels: gold cases that would give the same standard error without ratings",
        # If gold cases are in clusters, or were drawn with unequal probabilities, the note contains
        # the size of a simple random sample that would be equally informative.
        if (any(abs(gold_only_rows$labels - details$gold) > 0.5, na.rm = TRUE)) paste0(
          "; the gold cases by themselves are worth ", format_span(round(gold_only_rows$labels))
        )
      ), report = NULL
    ),
    if (any_known(details$p.value)) {
      note(paste0(
        "p: test that the accuracies from ratings and from gold cases are equal",
        if (!is_empty(moved_systems)) paste0(
          ". Raters are machines, so the accuracy from ratings is the centre of its interval: ",
          shorten(
            paste(details$system, format_decimals(interval_centres))[moved_systems], most = 4L
          )
        )
      ), report = NULL)
    },
    cluster_note(gold)
  )
}

# Returns the name of a column in which several gold cases have the same value. Such gold cases, for
# example versions of a prompt, may be dependent. If several columns together identify a case, the
# result is the column with the most distinct values. NULL if one column is enough to identify gold
# cases. `case`: row numbers of gold cases.
find_repeated_key <- function(x, case) {
  if (length(x$keys) < 2L) return(NULL)
  n_values <- map_int(columns_of_cases(x)[names(x$keys)], function(key) n_distinct(key[case]))
  if (max(n_values) < length(case)) names(which.max(n_values))
}

# Returns a note on gold cases that may be dependent, or NULL. `gold`: a list with `repeated_key`.
cluster_note <- function(gold) {
  if (!is.null(gold$repeated_key)) note(
    sprintf("Gold cases with the same %1$s are taken as independent. If they are not, give
      resampling = list(cluster = \"%1$s\") to estimate_accuracy()", gold$repeated_key),
    report = sprintf("Known cases with the same %s were taken as independent.", gold$repeated_key)
  )
}

#' Update of an accuracy estimate with more gold cases, or another confidence level
#'
#' Adds *gold cases* (cases whose true category is known) to an accuracy estimate that has gold
#' cases, without fitting the ratings again. With `conf_level`, computes the intervals again with
#' another confidence level, also without gold cases.
#'
#' To add batches of gold cases until the interval is narrow enough, use `interval = "anytime"`. The
#' coverage of other kinds of intervals is then too low.
#'
#' @param object An [estimate_accuracy()] result, for all cases, by group (argument `by`) or of
#'   several variables. Arguments `known_truth` and `interval` need gold cases that are a random
#'   sample, or a sample with known probabilities.
#' @param known_truth Further gold cases: a vector of categories named by case, a data frame with
#'   columns `case` and `truth`, or a [gold_cases()] result. A case that was already a gold case
#'   must have the same truth. If cases were drawn with unequal probabilities, give all gold cases.
#'   Without `known_truth`, the gold cases stay the same.
#' @param gold_sample The default `NULL` is for gold cases that are all a random sample, and for
#'   `known_truth` with a column `probability`. Otherwise the probability, in (0, 1], that a gold
#'   case is in any of the batches: a vector named by case, or a data frame with columns `case` and
#'   `probability`.
#' @param interval Kind of interval: `r ids_text(gold_intervals)`, see *Gold cases* in
#'   [estimate_accuracy()]. The default is the kind in `object`.
#' @param conf_level Confidence level of the intervals. The default is the level in `object`. It
#'   cannot be changed for estimates from posterior draws, from a rater with known error rates, or
#'   by a user-defined method.
#' @param ... For an estimate by group, arguments `interval` and `conf_level`. For estimates of
#'   several variables, only `conf_level`. Not used for other estimates.
#' @return An estimate of the same class as `object`, from all gold cases.
#' @family gold cases
#' @examples
#' # Label in batches of 25 until the half-width is below .06
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8), n = 1000))
#' labels <- truth(x)[sample(1000), ] # in practice, an adjudicator
#' estimate <- estimate_accuracy(x,
#'   known_truth = labels[1:25, ], gold_sample = "random", interval = "anytime"
#' )
#' done <- 25
#' half_width <- function(table) (table$conf.high - table$conf.low) / 2
#' while (half_width(tidy(estimate)) > 0.06) {
#'   estimate <- update(estimate, known_truth = labels[done + 1:25, ])
#'   done <- done + 25
#' }
#'
#' # Number of labels, and the estimate
#' done
#' estimate
#' @export
update.accuracy_estimate <- function(object, known_truth, gold_sample = NULL,
                                     interval = object$options$interval,
                                     conf_level = object$options$conf_level, ...) {
  check_dots_empty(...)
  abort_argument_if(!is.null(object$drawn_gold), "object",
    "An estimate from posterior draws and gold cases cannot be updated.",
    i = "Give all known truths to {.fun estimate_accuracy} with the fit.")
  if (!missing(conf_level)) {
    has_fixed_level <- inherits(object$fit, "draws_fit") ||
      !object$options$method %in% names(accuracy_methods)
    abort_argument_if(has_fixed_level, "conf_level",
      "cannot be changed for estimates from posterior draws, from a rater with known error rates, or
       by a user-defined method.",
      i = "Call {.fun estimate_accuracy} with another {.arg conf_level}.")
    object$options$conf_level <- check_level(conf_level)
    # If the user gives further gold cases, warnings about the earlier gold cases are not shown.
    handle_warnings <- if (missing(known_truth)) identity else without_warnings
    object <- handle_warnings(estimate_systems(object$fit, object$options$given_cluster,
      object$gold %||% object$fitted_gold, object$options))
    if (missing(known_truth) && missing(interval)) return(object)
  }
  x <- object$fit$x
  gold <- object$gold
  abort_argument_if(is.null(gold), "object",
    "{.arg object} has no sample of gold cases (cases with known truth).",
    i = "Give all known truths to {.fun estimate_accuracy} as {.arg known_truth}, and state in
        {.arg gold_sample} how the cases were chosen.")
  abort_argument_if(!weights_are_counts(x), "object",
    "Gold cases cannot be added to this estimate, because its weights are not numbers of cases.",
    i = "Call {.fun estimate_accuracy} with all gold cases as {.arg known_truth}.")
  interval <- check_choice(interval, names(gold_intervals), "interval")
  if (!missing(known_truth)) {
    new_gold <- as_gold_cases(known_truth, gold_sample)
    new_gold$sample <- new_gold$sample %||%
      if (gold$sample == "random" && !has_columns(new_gold$truth, "probability")) gold$sample
    new_gold[names(gold$settings)] <- gold$settings
    added_gold <- resolve_gold(new_gold, NULL, x)
    gold <- if (has_gold_cases(gold)) merge_gold(gold, added_gold, x) else added_gold
    abort_argument_if(!is_gold_sample(gold), "gold_sample",
      why_no_sample(gold_intervals[[interval]], gold)$message)
    warn_gold(gold, x)
  }
  object <- undo_gold_correction(object)
  object$options$interval <- resolve_interval(interval, gold, x)
  show_accuracy(correct_by_gold(
    object, gold[c("case", "truth", "sample", "probability", "settings", "kind")],
    predicted = gold$evidence$predicted
  ))
}

# Merges `gold` and `added_gold`, two lists made by resolve_gold(), into one list. If `added_gold`
# is a sample that contains all cases of `gold`, it replaces `gold`. Otherwise, both lists must have
# been sampled in the same way.
merge_gold <- function(gold, added_gold, x) {
  added_case_names <- as_label(x$cases[added_gold$case])
  index_in_gold <- match(added_gold$case, gold$case)
  old_category <- x$categories[gold$truth[index_in_gold]]
  new_category <- x$categories[added_gold$truth]
  changed_rows <- which(old_category != new_category)
  abort_if(changed_rows, "case", "A gold case must have the same true category as before.",
    x = "{length(changed_rows)} case{?s} {?has/have} a different category. Case
        {.val {added_case_names[[changed_rows[[1L]]]]}} was
        {.val {old_category[[changed_rows[[1L]]]]}} and is now
        {.val {new_category[[changed_rows[[1L]]]]}}.",
    row = changed_rows, case = added_case_names[changed_rows], found = new_category[changed_rows])
  if (is_gold_sample(added_gold) && all(gold$case %in% added_gold$case))
    return(replace(gold, names(added_gold), added_gold))
  # A case in both lists must have the same sampling probability in both, because this is the
  # probability that the case is in at least one list.
  abort_if(length(added_case_names) > 0L && (added_gold$sample != gold$sample ||
    any(added_gold$probability != gold$probability[index_in_gold], na.rm = TRUE)), "gold",
    "New and earlier gold cases must have been chosen in the same way.",
    x = if (added_gold$sample != gold$sample) "{.arg gold_sample} is {.val {added_gold$sample}} for
        the new cases and {.val {gold$sample}} for the earlier ones." else "Some earlier cases are
        given again, with different probabilities.",
    i = "If all are random samples, use {.code gold_sample = \"random\"}. Otherwise, give all gold
        cases, each with its probability of being in any of the batches. If {.code new} is the table
        of cases that {.fun plan_gold} drew, {.code rbind(tidy(plan, \"labelled\"), new)} is the
        table of all gold cases.",
    case = added_case_names)
  fields <- c("case", "truth", if (!is.null(gold$probability)) "probability")
  merged_fields <- Map(c, gold[fields], lapply(added_gold[fields], `[`, is.na(index_in_gold)))
  gold[fields] <- lapply(merged_fields, `[`, order(merged_fields$case))
  gold$kind <- gold_sample_kind(gold, x)
  gold
}

#' @export
update.result_parts <- function(object, conf_level, ...) {
  check_dots_empty(...)
  check_class(first_single_result(object), "accuracy_estimate", "object", NULL)
  abort_argument_if(missing(conf_level), "object",
    "must be one {.cls accuracy_estimate}, unless {.arg conf_level} is given.", not = object)
  object[] <- lapply(unclass(object), update, conf_level = conf_level)
  object
}

#' @rdname update.accuracy_estimate
#' @export
update.accuracy_by_group <- function(object, known_truth, gold_sample = NULL, ...) {
  if (missing(known_truth)) {
    object[] <- lapply(unclass(object), update, ...)
    return(object)
  }
  truth_table <- as_truth_table(known_truth, "known_truth")
  cases_of_groups <- lapply(unclass(object), function(estimate) as_label(estimate$fit$x$cases))
  unknown_cases <- setdiff(truth_table$case, unlist(cases_of_groups))
  abort_if(unknown_cases, "case", "{.arg known_truth} must contain only cases of {.arg object}.",
    x = "{.val {unknown_cases}} {?is/are} in no group of {.arg object}.",
    row = match(unknown_cases, truth_table$case))
  gold <- as_gold_cases(known_truth, gold_sample)
  truth <- gold$truth
  is_table <- is.data.frame(truth)
  case_names <- if (is_table) as_label(truth$case) else names(truth)
  object[] <- Map(function(estimate, cases) {
    is_in_group <- case_names %in% cases
    if (!any(is_in_group)) return(update(estimate, ...))
    gold$truth <- if (is_table) truth[is_in_group, ] else truth[is_in_group]
    update(estimate, gold, ...)
  }, unclass(object), cases_of_groups)
  object
}

# Returns, for each quantity that gold cases measure, the reason why it has no interval: gold cases
# are in too few clusters. NA if there are enough clusters. `x`: result of adjust_for_clusters().
why_no_cluster_interval <- function(x) {
  n_clusters <- x$clusters %||% rep(Inf, length(x$estimate))
  reason <- sprintf(
    "%sgold cases are in %s %s, but at least %s are needed to estimate how clusters differ",
    no_interval_prefix, number(n_clusters), ifelse(n_clusters == 1, "cluster", "clusters"),
    min_clusters
  )
  ifelse(n_clusters < min_clusters, reason, NA_character_)
}

# Returns the names of systems whose answers seem to be made from the ratings, for example by
# majority vote. Systems whose estimate is mainly computed from gold cases are left out.
find_followers <- function(estimate) {
  if (has_all_truths(estimate)) return(NULL)
  intersect(estimate$table$system[!rests_on_gold(estimate)], consensus_systems(estimate$fit$x))
}
