#' Agreement between raters
#'
#' Computes measures of agreement between raters, such as Cohen's kappa and Krippendorff's alpha,
#' with standard errors and confidence intervals.
#'
#' @section Measures:
#' [measures()] lists all measures with references, and [agreement_measures] has their formulas. By
#' default, the result contains these measures, if they are defined for the ratings:
#' * always `percent_agreement`, `chance_kappa`, `gwet_ac` and `krippendorff_alpha`;
#' * for two raters `cohen_kappa`, `scott_pi`, `bangdiwala_b`, `yule_y` and `information_agreement`;
#'   for more raters `fleiss_kappa`, `conger_kappa` and `light_kappa`;
#' * for ordered categories `krippendorff_alpha_ordinal` and, with quadratic weights, Cohen's kappa
#'   for two raters or Fleiss' and Conger's kappa for more raters;
#' * with `by_category = TRUE` also `specific_agreement`.
#'
#' With two raters, Conger's and Light's kappa equal Cohen's kappa, and Fleiss' kappa equals Scott's
#' pi.
#'
#' @section Missing ratings:
#' Measures for two raters use the cases that both raters rated, and so does Light's kappa for each
#' pair of raters. Krippendorff's alpha uses cases with two or more ratings. All other measures
#' compute observed agreement from cases with two or more ratings, and chance agreement from the
#' shares of the categories in all ratings (Gwet 2014). For these other measures, `pooling` sets the
#' weights of cases with different numbers of ratings:
#' * `"pairs"`: every pair of ratings of the same case has the same weight in observed agreement,
#'   and every rating has the same weight in the shares of categories.
#' * `"cases"`: every case has the same weight, as in Gwet (2014).
#' * `"fleiss-cuzick"`: as `"pairs"`, but a case with `k` ratings has weight `k - 1` in observed
#'   agreement (Fleiss and Cuzick 1979).
#'
#' @section Intervals:
#' * `"analytic"`: the estimate plus and minus `t` standard errors, where `t` is the quantile of
#'   Student's t distribution with `n - 1` degrees of freedom for `n` cases. The standard error is
#'   `sqrt(n / (n - 1) * sum(d^2))`. For each case, `d` is the derivative of the estimate with
#'   respect to the weight of the case. If every case has two or more ratings, these are the
#'   standard errors of Gwet (2014). For Cohen's kappa, they are the standard errors of Fleiss,
#'   Cohen and Everitt (1969), with `n - 1` in place of `n`.
#' * `"jackknife"`: the same, but `d` is computed by leaving out one case at a time. Measures of
#'   [register_measure()] have this interval if `interval` is `"analytic"`.
#' * `"bootstrap"`: percentiles of estimates from resampled cases.
#' * `"none"`: no interval.
#'
#' Intervals are cut at the range of the measure. There is no interval if case weights (argument
#' `weights` of [ratings()]) are not whole numbers, or if no case changes the estimate, for example
#' because all ratings agree. The jackknife needs a measure that stays defined if any one case is
#' left out.
#' @srrstats {G1.6} `bench/agreement.R` and `bench/speed.R`, compared with five other packages
#' @param x Categories that raters assigned to cases: a [ratings()] object; a data frame or matrix
#'   of labels (cases x raters); the agreement matrix (contingency table) of two raters, a
#'   [table][base::table] of numbers of cases; or other data that [as_ratings()] converts. Also a
#'   named list of such data, with an element for each variable (question).
#' @param measures Names of measures, see [measures()]. `NULL`, the default: see section *Measures*.
#'   If `x` is a list, name measures by variable: `c(tone = "gwet_ac")`.
#' @param scale_weights Weights of pairs of categories, for partial agreement: 1 is full agreement,
#'   0 full disagreement. One of:
#'   * `NULL`, the default, or `"identity"`: different categories have weight 0.
#'   * A name. The weight is `1 - d / max(d)`, where the distance `d` is computed from the values
#'     `a` and `b` of the two categories. Values are the labels, if all are numbers, and otherwise
#'     the positions of the categories. `"linear"`: `abs(a - b)`. `"quadratic"`: `(a - b)^2`.
#'     `"radical"`: `sqrt(abs(a - b))`. `"ratio"`: `((a - b) / (a + b))^2`. `"ordinal"`:
#'     `m * (m + 1) / 2` for a difference `m` of positions. `"circular"`:
#'     `sin(pi * (a - b) / (high - low + 1))^2`, where `low` and `high` are the extreme values.
#'     `"bipolar"`: `(a - b)^2 / ((a + b - 2 * low) * (2 * high - a - b))`.
#'   * A symmetric matrix (categories x categories) with 1 on the diagonal and no larger value.
#'   * For answers with several labels (`repeats = "labels"` of [ratings()]), a name. Equal answers
#'     always have weight 1. `"jaccard"`: the number of labels in both answers divided by the number
#'     of labels in at least one answer. `"masi"` (Passonneau 2006): Jaccard's weight times 2/3 if
#'     the labels of one answer are a proper subset of the labels of the other, and otherwise times
#'     1/3. `"identity"`: different answers have weight 0.
#' @param conf_level Confidence level of the intervals, in (0, 1), by default 0.9 (see
#'   [fallible-options]).
#' @param interval Kind of interval: `"analytic"` (the default), `"jackknife"`, `"bootstrap"` or
#'   `"none"`; see section *Intervals*.
#' @param ... `by`: groups of cases. The measures are computed in each group. `by` is the name of a
#'   covariate of `x`, a vector named by case, or a data frame with the column `case`.
#' @param counts For counts of ratings: the columns of the data frame `x` that contain the counts,
#'   one per category. Or, without `x`, a matrix or data frame of counts (cases x categories).
#'   `NULL`, the default: `x` does not contain counts.
#' @param pairwise If `TRUE`, computes the measures for each pair of raters. If `FALSE`, the
#'   default, computes them for all raters together.
#' @param by_category If `TRUE`, computes the measures for each category against all others. By
#'   default `FALSE`.
#' @param systems If `TRUE`, the systems of `x` (classifiers) count as raters. The default is
#'   `TRUE` if `pairwise` is `TRUE`, and otherwise `FALSE`.
#' @param pooling How cases are weighted if they have different numbers of ratings: `"pairs"` (the
#'   default), `"cases"` or `"fleiss-cuzick"`; see section *Missing ratings*.
#' @param resampling A list of settings of the bootstrap: `replicates`, the number of bootstrap
#'   replicates, by default 1000; `threads`, the number of threads, by default 1.
#' @return A tibble of class `agreement` with a row per measure and these columns:
#'   * `rater1` and `rater2`, only if `pairwise` is `TRUE`; `category`, only if `by_category` is
#'     `TRUE`; `variable`, only if `x` is a list; `group`, only if `by` is given.
#'   * `measure`, the name of the measure; `scale_weights`, the name of the weights (`"own"` for a
#'     matrix).
#'   * `estimate`; `std.error`; `conf.low` and `conf.high`, limits of the interval; `n`, the number
#'     of cases used; `method`, the kind of interval that was computed.
#'   * `benchmark`, a word for the size of the estimate on the scale of Landis and Koch, from
#'     `"poor"` to `"almost perfect"`, see [tidy.agreement]. `NA` without a standard error, or if
#'     the measure is not corrected for chance.
#'   * `reason`, why the estimate or its interval is `NA`; otherwise `NA`.
#'
#'   Methods: [tidy()][tidy.agreement], [glance()][tidy.agreement], [format()][tidy.agreement] and
#'   [autoplot()][autoplot.agreement].
#' @family agreement
#' @seealso [compare_agreement()] for tests; the article *Agreement*.
#' @references Gwet, K. L. (2014). *Handbook of Inter-Rater Reliability*, 4th edition. Advanced
#'   Analytics.
#'
#'   Fleiss, J. L., Cohen, J. and Everitt, B. S. (1969). Large sample standard errors of kappa and
#'   weighted kappa. *Psychological Bulletin*, 72(5), 323--327. \doi{10.1037/h0028106}
#'
#'   Fleiss, J. L. and Cuzick, J. (1979). The reliability of dichotomous judgments: unequal numbers
#'   of judges per subject. *Applied Psychological Measurement*, 3(4), 537--542.
#'   \doi{10.1177/014662167900300410}
#'
#'   Passonneau, R. (2006). Measuring agreement on set-valued items (MASI) for semantic and
#'   pragmatic annotation. *LREC 2006*.
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' # Default measures of four raters
#' overview <- agreement(x)
#' overview
#' tidy(overview)
#' # Cohen's kappa of each pair of raters, and of each rater with the system
#' agreement(x, "cohen_kappa", pairwise = TRUE)
#' # Two raters, ordered categories: credit for near misses
#' crossed <- agreement_matrix(x, "rater1", "rater2")
#' agreement(ratings(crossed, ordered = TRUE), scale_weights = "linear")
#' @export
agreement <- function(x, measures = NULL, scale_weights = NULL, conf_level = default_conf_level(),
                      interval = c("analytic", "jackknife", "bootstrap", "none"), ...,
                      counts = NULL, pairwise = FALSE, by_category = FALSE, systems = pairwise,
                      pooling = c("pairs", "cases", "fleiss-cuzick"), resampling = list()) {
  check_call(except = "x", dots = "by")
  by <- enquos(...)$by
  has_groups <- !is.null(by) && !quo_is_null(by)
  if (!missing(x) && is_variables(x)) {
    abort_argument_if(has_groups, "by",
      "needs ratings of a single variable, but {.arg x} is a list of variables.",
      i = "Select a variable: {.code x[[\"{names(x)[[1L]]}\"]]}.")
    return(map_variables(x))
  }
  if (has_groups) return(map_variables(split_by(x, by), "group"))
  counts <- enquo(counts)
  abort_argument_if(missing(x) && quo_is_null(counts), "x", "must be given.")
  if (!quo_is_null(counts)) x <- read_counts(x, counts)
  input <- prepare_for_agreement(x, scale_weights, check_flag(systems, "systems"))
  resampling <- check_resampling(resampling, known = c("replicates", "threads"))
  settings <- list(
    conf_level = check_level(conf_level),
    interval = check_choice(interval),
    pooling = check_choice(pooling),
    replicates = check_count(resampling$replicates %||% 1000L, "replicates", min = 2L, max = 1e7),
    threads = check_threads(resampling$threads), scale_name = name_of_weights(scale_weights),
    scale_weights = input$scale_weights
  )
  view <- new_judge_view(input$x, systems)
  abort_argument_if(check_flag(by_category, "by_category") && !is.null(scale_weights),
    "scale_weights", "{.code by_category = TRUE} cannot be combined with {.arg scale_weights}.",
    i = "Leave out {.arg scale_weights} or {.arg by_category}.")
  views <- separate_views(view, check_flag(pairwise, "pairwise"), by_category)
  measures <- find_measures(measures, views, settings)
  tasks <- list(
    view = rep(views, each = length(measures)), measure = rep(measures, length(views))
  )
  table <- as_tibble(stack_tables(Map(function(view, measure) {
    c(
      if (pairwise) list(rater1 = view$names[[1L]], rater2 = view$names[[2L]]),
      if (by_category) list(category = view$labels[[1L]]),
      measure = measure$id, scale_weights = settings$scale_name,
      evaluate_measure(measure, view, settings)[
        c("estimate", interval_columns, "n", "method", "reason")
      ]
    )
  }, tasks$view, tasks$measure)))
  if (settings$interval == "bootstrap") table <- add_bootstrap(table, tasks, settings)
  table <- add_column(table, benchmark = level_reached(table, settings$conf_level),
    .before = "reason")
  pair_matrix <- if (view$judges == 2L && !has_counts(view$x) && !view$repeated) {
    agreement_matrix(view$x, view$names[[1L]], view$names[[2L]])
  }
  new_agreement(table, c(
    settings[c("conf_level", "interval", "pooling", "scale_name", "replicates")],
    list(
      header = header_of_agreement(view), matrix = pair_matrix, pairwise = pairwise,
      by_category = by_category, judges = view$names, systems = view$names[view$system],
      unequal = !pairwise && depends_on_pooling(measures, view),
      views = list(view), silent = abstain_note(view$x)
    )
  ))
}

# Adds bootstrap intervals to the table of results. One progress bar is shown for all rows. `tasks`:
# a list of `view` (see new_judge_view()) and `measure`, each a list with an element per row of
# `table`.
add_bootstrap <- function(table, tasks, settings) {
  defined_rows <- which(is.na(table$reason))
  check_memory(
    as.double(settings$replicates) * length(defined_rows), "replicates of measures",
    "Ask for fewer {.arg replicates}, measures or pairs."
  )
  bar <- progress_bar("Bootstrap", length(defined_rows) * settings$replicates)
  seed <- draw_seed()
  replicates <- vapply(seq_along(defined_rows), function(i) {
    tick <- function(done) bar$tick((i - 1L) * settings$replicates + done)
    measure <- tasks$measure[[defined_rows[[i]]]]
    view <- tasks$view[[defined_rows[[i]]]]
    if (is.function(measure$kernel)) {
      rows <- kernel_rows(measure, view)
      resamples <- new_resampling(rows$weight, c(settings, list(seed = seed)))
      return(unlist(run_replicates(function(weight) call_kernel(measure, rows, weight), resamples,
        tick = tick)))
    }
    na_real(core_agreement_bootstrap(
      view$x$patterns, view$weight, view_for_core(view, measure),
      kernel_options(measure, view, settings), settings$replicates, settings$threads, seed, tick
    ))
  }, double(settings$replicates))
  bar$close()
  table[defined_rows, ] <- add_intervals(
    table[defined_rows, ], core_percentile_intervals(replicates, settings$conf_level, FALSE)
  )
  warn_failed_replicates(
    table$measure[defined_rows], colMeans(is.na(replicates)), settings$conf_level,
    "The measure is undefined in resamples with too few categories, or with too few cases that have
     two ratings."
  )
  warn_outside(
    table$measure, table,
    "Resamples contain some cases several times. This biases a measure if there are few cases. Use
     {.code interval = \"jackknife\"}."
  )
  table
}

# Returns the printed header lines, which describe the ratings. If weights are counts of cases, the
# number of cases is the sum of the weights.
header_of_agreement <- function(view) {
  x <- view$x
  header <- format_header(x)
  n_systems <- sum(view$system > 0L)
  if (n_systems > 0L) {
    header[[1L]] <- paste0(header[[1L]], "; compared as raters: ", count_noun(n_systems, "system"))
  }
  if (is.null(x$weights) || !view$counted) return(header)
  case_text <- count_noun(sum(x$weights), "case")
  c(sub(count_noun(nrow(x), "case"), case_text, header[[1L]], fixed = TRUE), header[[2L]])
}

# ---- Input of agreement() and of the functions for single measures ----

# Makes ratings from counts of ratings per category. The counts are columns of `x` or, if `x` is
# missing, a matrix or data frame. `x`, `counts`: arguments of agreement(); `counts` is a quosure.
read_counts <- function(x, counts) {
  if (!missing(x)) return(as_ratings(x, counts = !!counts))
  counts <- eval_tidy(counts)
  abort_argument_if(!is.data.frame(counts) && !is.matrix(counts), "counts",
    "must be a matrix or data frame of cases x categories, or columns of {.arg x}.", not = counts)
  as_ratings(counts, counts = tidyselect::everything())
}

# Creates a view: a list that defines which judges and which categories of the ratings `x` are
# compared. Judges are raters, and also systems if `systems` is TRUE. Fields:
# * x: the ratings.
# * weight, cases: sum of weights, and number of cases, of each pattern of ratings.
# * counted: are weights of cases counts?
# * rater, system: for each rater and system, the index of the judge, 0 if it is left out.
# * judges: number of judges.
# * names: names of judges.
# * category: index of each category of `x` among the compared categories.
# * labels: labels of the compared categories.
# * binary: is one category compared with all others?
# * repeaters: raters who rated a case more than once.
# * repeated: did any of the judges rate a case more than once?
new_judge_view <- function(x, systems = FALSE) {
  rater_numbers <- seq_along(x$raters)
  judge_names <- c(x$raters, if (systems) x$systems)
  repeaters <- unique(repeated_ratings(x$patterns)$rater)
  list(
    x = x, weight = pattern_weights(x), cases = pattern_cases(x),
    counted = weights_are_counts(x), rater = rater_numbers,
    system = (length(rater_numbers) + seq_along(x$systems)) * systems, judges = length(judge_names),
    names = judge_names, category = seq_along(x$categories), labels = x$categories, binary = FALSE,
    repeaters = repeaters, repeated = !is_empty(repeaters)
  )
}

# Returns a list of views (see new_judge_view()) in which measures are computed separately: a view
# per pair of judges if `pairwise`, and per category if `by_category`. In the view of a category all
# other categories become one category.
separate_views <- function(view, pairwise, by_category) {
  views <- list(view)
  if (pairwise) {
    check_named_raters(view$x, "pairwise", "There are no pairs of raters to compare.")
    check_pair_numbers(view$judges, n_pair_columns)
    views <- combn(view$judges, 2L, simplify = FALSE, FUN = function(pair) {
      view$rater <- match(view$rater, pair, nomatch = 0L)
      view$system <- match(view$system, pair, nomatch = 0L)
      view$judges <- 2L
      view$names <- view$names[pair]
      view$repeated <- any(view$rater[view$repeaters] > 0L)
      view
    })
  }
  if (!by_category) return(views)
  unlist(recursive = FALSE, lapply(views, function(view) {
    view$binary <- TRUE
    lapply(seq_along(view$labels), function(category) {
      label <- view$labels[[category]]
      view$category <- ifelse(view$category == category, 1L, 2L)
      view$labels <- c(label, if (label == "others") "all others" else "others")
      view
    })
  }))
}

# Returns the judges and categories of a view (see new_judge_view()) in the form that the core
# needs. For ordinal measures the indices of categories are the ranks of their values.
view_for_core <- function(view, measure) {
  category_numbers <- seq_along(view$labels)
  if (measure$scale == "ordinal") category_numbers <- as.integer(rank(label_values(view$labels)))
  list(
    rater = view$rater, system = view$system, judges = view$judges,
    category = category_numbers[view$category],
    categories = length(view$labels), exchangeable = measure$form == "counts",
    least = measure$least
  )
}

# Does argument `pooling` of agreement() affect any of the measures? Pooling matters only if cases
# with several ratings have different numbers of ratings.
depends_on_pooling <- function(measures, view) {
  is_pooled <- map_lgl(measures, function(measure) {
    measure$raters > 2 && is.character(measure$kernel) &&
      !grepl("krippendorff|light", measure$kernel)
  })
  if (!any(is_pooled)) return(FALSE)
  rating_rows <- rows_of_counts(view)
  n_ratings <- rowSums(rating_rows$data)
  n_distinct(n_ratings[rating_rows$weight > 0 & n_ratings > 1]) > 1L
}
