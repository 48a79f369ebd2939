#' Tables of a plan for gold cases
#'
#' Returns the results of [plan_gold()] as tables and a plot: how many cases must be labelled with
#' their true category ("gold cases") for an interval of a given half-width, and which cases.
#'
#' @param x A [plan_gold()] result.
#' @param ... Not used.
#' @return `tidy()`: a tibble with a row per system and kind of interval.
#'   * `system`: name of the system; both names for a difference.
#'   * `interval`: kind of interval. `"gold alone"` intervals are computed from gold cases without
#'     ratings. `"corrected"` intervals also use the ratings of the other cases. `"combined"`
#'     intervals also use the estimate from ratings as a prior.
#'   * `gold`: total number of gold cases needed for the half-width; `NA` if no number up to `cases`
#'     is enough. For a difference, this number includes cases with equal answers, which need no
#'     label.
#'   * `lowest`, `highest`: range of `gold`, because the column `worth` is uncertain. `highest` is
#'     computed for the lowest worth and the accuracy that needs most cases. Both are `NA` if the
#'     plan was computed from gold cases (a pilot). Each is also `NA` if no number up to `cases` is
#'     enough. Both are equal to `gold` if the number was fixed.
#'   * `labelled`: number of gold cases in the data.
#'   * `more`: number of cases still to label: `highest` (`gold` if `highest` is `NA`) minus
#'     `labelled`, at least 0.
#'   * `half_width`: half-width of the interval with `gold` gold cases; if `gold` is `NA`, with all
#'     `cases`.
#'   * `worth`: number of gold cases without ratings that are as informative as one gold case with
#'     ratings, if few of the cases are gold; `worth_lowest`, `worth_highest`: its range, `NA` with
#'     a pilot.
#'   * `cases`: number of cases from which gold cases can be chosen.
#'   * `reason`: why `gold` is `NA`; `NA` if `gold` is a number.
#'
#'   `tidy(x, "curve")`: a row per system, kind of interval and number of gold cases: `system`,
#'   `interval`, `gold` and `half_width`.
#'
#'   `tidy(x, "costs")`: a tibble with a row per alternative; no rows if `cost` of [plan_gold()] was
#'   not given.
#'   * `raters`: the alternative. `"as they are"`: only more gold cases. `"one more"`: another rater
#'     for every case, and fewer gold cases. `"split"`: the cheapest new study; only for an accuracy
#'     without fixed `gold`.
#'   * `gold`, `ratings`, `cost`: number of cases to label, number of ratings to collect, and their
#'     total cost. They are `NA` if no number of gold cases is enough. For `"one more"`, they are
#'     also `NA` with fewer than three raters or with counts.
#'
#'   `augment()`: a tibble with a row per case to label.
#'   * `case`: name of the case.
#'   * `stratum`: number of its stratum. The higher the number, the less certain is the true
#'     category.
#'   * `probability`: probability that the case is drawn now or was drawn in the pilot; `NA` if
#'     cases of the stratum had unequal probabilities in the pilot.
#'   * `truth`: the true category, to be filled in; `NA`.
#'   * the columns that identify cases, if there are several, and the covariates of `x`.
#'
#'   `tidy(x, "labelled")`: the gold cases of the pilot, with the same columns.
#'
#'   `glance()`: a tibble with one row for the system that needs most gold cases. It has the columns
#'   of `tidy()` except `system`, `lowest`, `highest` and `reason`, and the arguments `of`,
#'   `target`, `choice` and `conf_level` of [plan_gold()]. The column `gold` is `highest` of
#'   `tidy()` or, if `highest` is `NA`, `gold` of `tidy()`. The column `half_width` is for `gold` of
#'   `tidy()`.
#'
#'   `format()`: a string with the total number of gold cases.
#' @family gold cases
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8), n = 1000))
#' plan <- plan_gold(x, cost = c(gold = 20, rating = 1))
#' # Numbers of gold cases, costs, and the cases to label
#' tidy(plan)
#' tidy(plan, "costs")
#' head(augment(plan))
#' @usage
#' # tidy(x)
#' # tidy(x, "curve")
#' # tidy(x, "costs")
#' # tidy(x, "labelled")
#' # glance(x)
#' @name tidy.gold_plan
#' @export
augment.gold_plan <- function(x, ...) {
  check_dots_empty(...)
  if (length(x$chosen$new$case) == 0L)
    inform_fallible(paste0("The plan has no cases to label. ", escape_braces(format(x)), "."))
  as_tibble(x$chosen$new)
}

# Creates the result of plan_gold(). `x` is a list with the fields
# * answer, curve, costs: tables, see plan_gold_rows(), gold_curve() and gold_costs()
# * chosen: cases to label, see choose_gold()
# * cases, raters: numbers of cases and of raters
# * settings: settings of the plan
# * in_database: are the ratings in a database?
# * reruns: a sentence on ratings of the same case by the same rater, or NULL
# * clusters: a note on clusters, or NULL
new_gold_plan <- function(x) {
  settings <- x$settings
  answer_table <- x$answer
  hardest_row <- hardest_system_row(answer_table, settings)
  n_to_draw <- number_to_draw(hardest_row)
  empty_costs <- columns_tibble(raters = "", gold = 0, ratings = 0, cost = 0)[0L, ]
  interval_text <- interval_title(settings$conf_level)
  result_line <- if (is.na(hardest_row$gold)) paste0("Not reached: ", hardest_row$reason) else
    paste0(
      if (hardest_row$labelled > 0) paste0(format_unpadded(hardest_row$more), " more, in all "),
      sprintf("%s of %s for a half-width of %s (%s, %s)", count_noun(n_to_draw, "gold case"),
        format_unpadded(hardest_row$cases), format_decimals(hardest_row$half_width), interval_text,
        hardest_row$interval)
    )
  caption <- sprintf(
    "%s of the %s, %s (%s)",
    switch(settings$of,
      accuracy = settings$title, difference = "Difference of accuracies",
      sprintf("%s of \"%s\"", capitalised(settings$of), as_label(settings$category_label))
    ),
    settings$target,
    if (!is.null(settings$gold)) paste("with", count_noun(settings$gold, "gold case")) else
      paste0(
        "within ", format(settings$difference %||% settings$half_width, digits = 3L),
        if (!is.null(settings$difference)) " for the difference of two groups"
      ),
    interval_text
  )
  inject(new_result("gold_plan",
    !!!x[c("chosen", "cases", "settings", "in_database")],
    tables = list(
      answer = answer_table, curve = x$curve, costs = x$costs %||% empty_costs,
      labelled = as_tibble(x$chosen$labelled)
    ),
    facts = c(
      list(of = settings$of, interval = hardest_row$interval, gold = n_to_draw),
      hardest_row[c("labelled", "more", "cases", "half_width")],
      settings[c("conf_level", "target", "choice")],
      hardest_row[c("worth", "worth_lowest", "worth_highest")]
    ),
    line = result_line, caption = caption, shown = view_of_gold(answer_table, settings),
    notes = gold_plan_notes(x, hardest_row),
    more = "augment() (the cases to label), tidy(), glance(), plot()"
  ))
}

# Returns the rows of `table` for the kind of interval in the settings. If the table does not
# contain this kind, returns the rows for `"corrected"` intervals.
chosen_interval_rows <- function(table, settings) {
  table[table$interval == c(intersect(settings$interval, table$interval), "corrected")[[1L]], ]
}

# Returns the row of the system that needs most gold cases.
hardest_system_row <- function(table, settings) {
  rows <- chosen_interval_rows(table, settings)
  rows[order(-is.na(rows$gold), -rows$more, -rows$half_width, rows$worth)[[1L]], ]
}

# Returns the table that print() shows. With more than three systems, it contains only one kind of
# interval.
view_of_gold <- function(table, settings) {
  if (n_distinct(table$system) > 3L) table <- chosen_interval_rows(table, settings)
  has_no_upper_limit <- is.na(table$highest) & !is.na(table$lowest)
  range_columns <- if (any_known(table$lowest)) c("lowest", "highest")
  is_n_gold_given <- !is.null(settings$gold)
  count_columns <-
    c("gold", if (!is_n_gold_given) range_columns, if (any(table$labelled > 0)) "more")
  table <- modify_fields(table, count_columns, format_unpadded)
  table$highest[has_no_upper_limit] <- "or more"
  is_unreached <- !is.na(table$reason)
  table$gold[is_unreached] <- paste(">", format_unpadded(table$cases[is_unreached]))
  worth_columns <- c("worth", if (is_n_gold_given && !is.null(range_columns))
    c(`lowest worth` = "worth_lowest", `highest worth` = "worth_highest"))
  view(table, c("system", "interval", count_columns, `half-width` = "half_width", worth_columns),
    c(3L, worth = 1L, worth_lowest = 1L, worth_highest = 1L), left = 1:2, most = Inf)
}

gold_plan_notes <- function(x, hardest_row) {
  unreached_rows <- drop_missing(x$answer, "reason")
  intervals_by_reason <- map_chr(split(
    unreached_rows$interval,
    factor_in_order(sprintf("%s: %s", unreached_rows$system, unreached_rows$reason))
  ), toString)
  settings <- x$settings
  n_to_label <- length(x$chosen$new$case)
  has_pilot <- hardest_row$labelled > 0
  c(
    paste0(
      "Half-width not reached for ", names(intervals_by_reason), " (intervals: ",
      intervals_by_reason, ")", recycle0 = TRUE
    ),
    if (nrow(unreached_rows) > 0L && settings$target == "population")
      "target = \"cases\" plans for these cases only, which needs fewer labels",
    "Worth: number of labels without ratings that one label with ratings replaces if few of the
     cases are gold; fewer otherwise",
    if (is.na(hardest_row$worth_lowest)) {
      paste0("Planned from the estimate and the worth in the given gold cases",
        if (hardest_row$more %in% 0) ", which are enough" else if (!is.na(hardest_row$more))
          ": label these cases, and plan again")
    } else if (has_pilot) {
      "This is a first guess from ratings: gold cases are used only in plans for an accuracy"
    } else {
      paste0("This is a first guess",
        if (!is.null(settings$gold)) ", and the worth is uncertain (lowest to highest worth)" else
          if (any_known(x$answer$lowest)) ", with a range from lowest to highest",
        ": label 30 random cases first, plan_gold(x, gold = 30, choice = \"random\"), and plan
        again",
        if (x$raters == 1L) ". In 139
        combinations of a rater and a real data set, a label with a rating was worth 1.58 labels
        without (median; quartiles 1.06 and 4.29)")
    },
    if (uses_ratings_prior(hardest_row$interval) &&
      isTRUE(number_to_draw(hardest_row) < min_gold_to_contradict)) {
      paste(
        "With so few gold cases the result depends on the ratings; about", min_gold_to_contradict,
        "gold cases are enough to contradict them"
      )
    },
    if (settings$of == "difference") c(
      "Only cases on which the systems differ need a label; column gold also counts cases with equal
       answers",
      if (!is.na(hardest_row$gold)) power_note(hardest_row$half_width, settings)),
    if (n_to_label > 0L) sprintf(
      "Cases to label: %s%s, drawn %s: new <- augment(plan). Fill in new$truth, and give
       known_truth = %s without gold_sample, which the column probability replaces",
      format_unpadded(n_to_label), if (has_pilot) " more" else "",
      switch(settings$choice, random = "at random",
        active = "with probabilities that increase with uncertainty",
        "from strata of uncertainty"),
      if (has_pilot) "rbind(tidy(plan, \"labelled\"), new)" else "new"
    ),
    if (n_to_label > 0L && settings$choice != "random")
      "Numbers are computed for random cases; the gain from the choice of cases is not included",
    if (x$in_database)
      "No cases are drawn from a database. Use plan_gold() on dplyr::collect() of the ratings",
    cost_note(x$costs), x$reruns, x$clusters
  )
}

# Returns sentences that compare costs. `costs`: result of gold_costs().
cost_note <- function(costs) {
  if (is.null(costs)) return(NULL)
  panel_costs <- costs$cost[1:2] # of the present number of raters, and of one more
  formatted_costs <- lapply(costs[-1L], function(n) format_unpadded(ceiling(n)))
  c(
    if (anyNA(panel_costs)) "The savings by one more rater cannot be computed" else sprintf(
      "Cost %s with these raters, %s with one more rater and %s gold cases (if the errors of the new
       rater are equally independent): %s",
      formatted_costs$cost[[1L]], formatted_costs$cost[[2L]], formatted_costs$gold[[2L]],
      if (which.min(panel_costs) > 1L) "one more rater is cheaper" else
        "more gold cases are cheaper"
    ),
    if (length(formatted_costs$cost) > 2L) sprintf(
      "Cheapest new study: %s gold cases and %s ratings", formatted_costs$gold[[3L]],
      formatted_costs$ratings[[3L]]
    )
  )
}

# Returns the numbers of labels and ratings that reach the half-width at the lowest total cost
# (Angelopoulos et al. 2025). The formula assumes that cases cost nothing, that no case is labelled
# or rated yet, and that clusters are as large as in the data. The number of ratings is 0 if labels
# without ratings cost less. `raters`: number of ratings per case.
best_split <- function(quantity, raters, settings) {
  n_gold_without_ratings <- bernoulli_variance(quantity$value) * quantity$full_design *
    (normal_quantile(settings$conf_level) / settings$half_width)^2
  unexplained_share <- min(1, (1 - quantity$explained) / quantity$full_design)
  # Cost of the ratings of a case, relative to the cost of a label.
  relative_cost <- settings$cost[["rating"]] * raters / settings$cost[["gold"]]
  n_gold <- n_gold_without_ratings *
    (unexplained_share + sqrt(bernoulli_variance(unexplained_share) * relative_cost))
  n_cases <- n_gold * sqrt((1 - unexplained_share) / (unexplained_share * relative_cost))
  if (n_cases > n_gold) list(gold = n_gold, ratings = n_cases * raters) else
    list(gold = n_gold_without_ratings, ratings = 0)
}
