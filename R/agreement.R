#' Agreement between raters
#'
#' Computes measures of agreement between raters, such as Cohen's kappa and Krippendorff's alpha,
#' with standard errors and confidence intervals.
#'
#' @section Measures:
#' [measures()] lists the measures, and [agreement_measures] has their formulas. Some measures are
#' equal or have several names:
#' * With two raters, Conger's and Light's kappa equal Cohen's kappa, and Fleiss' kappa equals
#'   Scott's pi.
#' * `chance_kappa` assumes chance agreement 1 / number of categories, as in Lehner (2015, see
#'   [fit_raters()]). Other names are Bennett's S, Brennan and Prediger's kappa, and PABAK.
#'
#' @section Missing ratings:
#' Measures for two raters use the cases that both rated. Light's kappa uses these cases for each
#' pair of raters, and is the mean over pairs. Krippendorff's alpha uses cases with two or more
#' ratings. All other measures compute observed agreement from cases with two or more ratings. They
#' compute chance agreement from the shares of the categories in all ratings (Gwet 2014).
#'
#' If cases have different numbers of ratings, `pooling` sets their weights in these other measures:
#' * `"pairs"`: in observed agreement, every pair of ratings of the same case has the same weight.
#'   In the shares of categories, every rating has the same weight.
#' * `"cases"`: every case has the same weight, as in Gwet (2014).
#' * `"fleiss-cuzick"`: in observed agreement, a case with `k` ratings has weight `k - 1`. In the
#'   shares of categories, every rating has the same weight (Fleiss and Cuzick 1979).
#'
#' @section Intervals:
#' * `"analytic"`: the estimate plus and minus `t` standard errors. The standard error is
#'   `sqrt(n / (n - 1) * sum(d^2))`, where `n` is the number of cases and `d` is, for each case, the
#'   derivative of the estimate with respect to the weight of the case. `t` is the quantile of
#'   Student's t distribution with `n - 1` degrees of freedom. Standard errors are those of Gwet
#'   (2014) if every case has two or more ratings. For Cohen's kappa they are those of Fleiss, Cohen
#'   and Everitt (1969), with `n - 1` in place of `n`; for Yule's Y those of Yule (1912).
#' * `"jackknife"`: the same, with `d` from leaving out one case at a time. Measures added by
#'   [register_measure()] always use the jackknife in place of `"analytic"`.
#' * `"bootstrap"`: percentiles of estimates from resampled cases. With few cases these may be
#'   biased; a warning reports it.
#' * `"none"`: no interval.
#'
#' Intervals are cut at the range of the measure. There is no interval if case weights are not whole
#' numbers, if there is only one case, or if no case changes the estimate, for example because all
#' ratings agree. `"jackknife"` also needs a measure that is defined without any one of the cases.
#' @srrstats {G1.6} `bench/agreement.R` and `bench/speed.R`, compared with five other packages
#' @param x A [ratings()] object, a data frame or matrix of cases x raters, or an agreement matrix
#'   of class [table][base::table]; see [as_ratings()]. Or a named list of ratings, with an element
#'   for each variable (question) that raters coded.
#' @param measures Names of measures, see [measures()]. `NULL`, the default, selects measures that
#'   suit the number of raters and the type of categories. If `x` is a list, give measures by
#'   variable: `c(tone = "gwet_ac")`.
#' @param scale_weights Weights of pairs of categories, for partial agreement: 0 is full
#'   disagreement, 1 agreement. One of:
#'   * `NULL`, the default, or `"identity"`: different categories count as disagreement.
#'   * `"linear"` or `"quadratic"`: `1 - d / max(d)`, where `d` is the matrix of absolute (linear)
#'     or squared (quadratic) differences between the values of the categories. Values are the
#'     labels, if all are numbers, and otherwise the positions of the categories.
#'   * `"ordinal"`, `"radical"`, `"ratio"`, `"circular"` or `"bipolar"`: other weights of Gwet
#'     (2014).
#'   * A symmetric matrix (categories x categories) with 1 on the diagonal and no larger value.
#'   * For answers with several labels (`repeats = "labels"` of [ratings()]): `"jaccard"`, the
#'     number of labels in both answers divided by the number of labels in either; `"masi"`
#'     (Passonneau 2006), which multiplies this by 2/3 if one answer is part of the other, and by
#'     1/3 if neither is; or `"identity"`.
#' @param conf_level Confidence level of the intervals, in (0, 1); see [fallible-options].
#' @param interval Kind of interval: `"analytic"` (the default), `"jackknife"`, `"bootstrap"` or
#'   `"none"`; see section *Intervals*.
#' @param ... `by`: groups of cases; the measures are computed in each group. The name of a
#'   covariate of `x`, a vector named by case, or a data frame with the column `case`.
#' @param counts Counts of ratings: columns of the data frame `x`, one per category. Without `x`, a
#'   matrix or data frame of cases x categories. By default `NULL`.
#' @param pairwise If `TRUE`, computes the measures for each pair of raters. If `FALSE`, the
#'   default, for all raters together.
#' @param by_category If `TRUE`, computes the measures for each category against all others. By
#'   default `FALSE`.
#' @param systems If `TRUE`, systems of `x` (classifiers) count as raters. By default the value of
#'   `pairwise`.
#' @param pooling How cases are weighted if they have different numbers of ratings: `"pairs"` (the
#'   default), `"cases"` or `"fleiss-cuzick"`; see section *Missing ratings* of [agreement()].
#' @param resampling A list of settings of the bootstrap: `replicates`, their number, by default
#'   1000; `threads`, the number of threads, by default 1.
#' @return A tibble of class `agreement` with a row per measure and these columns:
#'   * `rater1` and `rater2`, only if `pairwise`; `category`, only if `by_category`; `variable` or
#'     `group`, only if there are several.
#'   * `measure`; `scale_weights`, the name of the weights (`"own"` for a matrix).
#'   * `estimate`; `std.error`; `conf.low` and `conf.high`, limits of the interval; `n`, the number
#'     of cases used; `method` of the interval.
#'   * `benchmark`, a word for the size of the estimate, such as "moderate", on the scale of Landis
#'     and Koch, see [tidy()][tidy.agreement].
#'   * `reason`, why a value is `NA`.
#'
#'   There are methods for `print()`, [tidy()][tidy.agreement], [glance()][tidy.agreement],
#'   [format()][tidy.agreement] and [autoplot()][autoplot.agreement].
#' @family agreement
#' @seealso [compare_agreement()] for tests, also of two groups of cases (`by`); the article
#'   *Agreement*.
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
#'
#'   Yule, G. U. (1912). On the methods of measuring association between two attributes. *Journal
#'   of the Royal Statistical Society*, 75(6), 579--652. \doi{10.2307/2340126}
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' agreed <- agreement(x)
#' agreed
#' tidy(agreed)
#' agreement(x, "cohen_kappa", pairwise = TRUE)
#' # Two raters, ordered categories
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
    abort_argument_if(has_groups, "by", "needs a single variable, and {.arg x} is a list.",
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
    "scale_weights", "{.code by_category = TRUE} cannot use {.arg scale_weights}.",
    i = "Leave out {.arg scale_weights} or {.arg by_category}.")
  views <- list(view)
  if (check_flag(pairwise, "pairwise")) {
    check_named_raters(view$x, "pairwise", "There are no pairs of raters to compare.")
    check_pair_numbers(view$judges, columns_of_pairs)
    views <- utils::combn(view$judges, 2L, restrict_view_to_pair, simplify = FALSE, view = view)
  }
  if (by_category) views <- unlist(lapply(views, views_of_categories), recursive = FALSE)
  measures <- find_measures(measures, views, settings)
  tasks <- list(
    view = rep(views, each = length(measures)), measure = rep(measures, length(views))
  )
  table <- tibble::as_tibble(stack_tables(Map(function(view, measure) {
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
  table$benchmark <- level_reached(table, settings$conf_level)
  pair_matrix <- if (view$judges == 2L && !has_counts(view$x) && !view$repeated) {
    agreement_matrix(view$x, view$names[[1L]], view$names[[2L]])
  }
  new_agreement(table[c(setdiff(names(table), "reason"), "reason")], c(
    settings[c("conf_level", "interval", "pooling", "scale_name", "replicates")],
    list(
      header = header_of_agreement(view), matrix = pair_matrix, pairwise = pairwise,
      by_category = by_category, judges = view$names, systems = view$names[view$system],
      unequal = !pairwise && any(map_lgl(measures, uses_pooling)) && has_unequal_ratings(view),
      ordered = view$x$ordered, views = list(view), silent = abstain_note(view$x)
    )
  ))
}

# Adds bootstrap intervals to the table of results. One progress bar is shown for all rows. `tasks`:
# for each row, the `view` (its ratings, see new_judge_view()) and the `measure`.
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
    row <- defined_rows[[i]]
    bootstrap_estimates(tasks$measure[[row]], tasks$view[[row]], settings, seed, tick)
  }, double(settings$replicates))
  bar$close()
  table[defined_rows, ] <- add_intervals(
    table[defined_rows, ], core_percentile_intervals(replicates, settings$conf_level, FALSE)
  )
  warn_failed(
    table$measure[defined_rows], colMeans(is.na(replicates)), settings$conf_level,
    "In these resamples too few categories are used or too few cases have two ratings, so that the
     measure is undefined."
  )
  warn_outside(
    table$measure, table,
    "Resamples contain some cases several times, which biases a measure if cases are few. Use
     {.code interval = \"jackknife\"}."
  )
  table
}

# Returns printed header lines about the ratings. If weights are counts, a row represents several
# cases. The number of cases is then the sum of weights.
header_of_agreement <- function(view) {
  x <- view$x
  header <- format_header(x)
  n_systems <- sum(view$system > 0L)
  if (n_systems > 0L) {
    header[[1L]] <- paste0(header[[1L]], "; compared as raters: ", count_noun(n_systems, "system"))
  }
  if (is.null(x$weights) || !view$counted) return(header)
  cases <- count_noun(sum(x$weights), "case")
  c(sub(count_noun(nrow(x), "case"), cases, header[[1L]], fixed = TRUE), header[[2L]])
}

# ---- Input of agreement() and of the functions for single measures ----

# Makes ratings from counts of ratings per category: columns of `x` or, if `x` is missing, a matrix
# or data frame. `x` and `counts`: as in agreement(); `counts` is a quosure.
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
# * counted: are weights counts?
# * rater, system: index of the judge for each rater and system, 0 if left out.
# * judges, names: number and names of judges.
# * category: new index of each category.
# * labels: labels of the new categories.
# * binary: is one category compared with all others?
# * repeaters: raters who rated a case more than once.
# * repeated: is a repeater among the judges?
new_judge_view <- function(x, systems = FALSE) {
  raters <- seq_along(x$raters)
  judge_names <- c(x$raters, if (systems) x$systems)
  repeaters <- unique(repeated_ratings(x$patterns)$rater)
  list(
    x = x, weight = pattern_weights(x), cases = pattern_cases(x),
    counted = weights_are_counts(x), rater = raters,
    system = (length(raters) + seq_along(x$systems)) * systems, judges = length(judge_names),
    names = judge_names, category = seq_along(x$categories), labels = x$categories, binary = FALSE,
    repeaters = repeaters, repeated = !is_empty(repeaters)
  )
}

# Returns a view (see new_judge_view()) with two of its judges. `pair`: their numbers.
restrict_view_to_pair <- function(view, pair) {
  view$rater <- match(view$rater, pair, nomatch = 0L)
  view$system <- match(view$system, pair, nomatch = 0L)
  view$judges <- 2L
  view$names <- view$names[pair]
  view$repeated <- any(view$rater[view$repeaters] > 0L)
  view
}

# Returns a list with a view (see new_judge_view()) per category. In this view all other categories
# become one category.
views_of_categories <- function(view) {
  view$binary <- TRUE
  lapply(seq_along(view$labels), function(category) {
    label <- view$labels[[category]]
    view$category <- ifelse(view$category == category, 1L, 2L)
    view$labels <- c(label, if (label == "others") "all others" else "others")
    view
  })
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

# Does the argument `pooling` of agreement() affect this measure?
uses_pooling <- function(measure) {
  measure$raters > 2 && is.character(measure$kernel) &&
    !grepl("krippendorff|light", measure$kernel)
}

# Do cases with several ratings have different numbers of them?
has_unequal_ratings <- function(view) {
  rated_rows <- rows_of_counts(view)
  n_ratings <- rowSums(rated_rows$data)
  n_distinct(n_ratings[rated_rows$weight > 0 & n_ratings > 1]) > 1L
}

# ---- Tables of tidy(): agreement per case, coincidences of categories, overlap of raters ----

# Makes a table of each view of an agreement result, and binds the rows. A view contains the ratings
# of a variable or group (see new_judge_view()). `make_table`: a function of a view.
stack_views <- function(x, make_table) {
  columns <- part_columns_of(x)
  views <- compared_views(x)
  if (is_empty(columns)) return(make_table(views[[1L]]))
  bind_parts(structure(views, column = columns), make_table)
}

# Returns numbers of ratings per category, in the form of kernel_rows(). Field `data` is a matrix of
# distinct cases x categories.
rows_of_counts <- function(view) kernel_rows(built_in_measures$fleiss_kappa, view)

# Table of tidy(x, "cases"), with a row per case.
agreement_by_case <- function(view) {
  rated_rows <- rows_of_counts(view)
  counts <- rated_rows$data
  n_ratings <- rowSums(counts)
  row_of_case <- rated_rows$of_pattern[pattern_of_case(view$x)]
  row_of_case[row_of_case == 0L] <- NA
  tibble::tibble(
    case = view$x$cases, ratings = replace(n_ratings[row_of_case], is.na(row_of_case), 0),
    agreement = ratio(rowSums(counts * (counts - 1)), n_ratings * (n_ratings - 1))[row_of_case],
    category = view$labels[max.col(counts, "first")][row_of_case]
  )
}

# Krippendorff's coincidence matrix as a table. In a case with m ratings, each ordered pair of
# ratings has the weight 1 / (m - 1).
coincidences <- function(view) {
  rated_rows <- rows_of_counts(view)
  n_ratings <- rowSums(rated_rows$data)
  weighted_counts <- rated_rows$data * ifelse(n_ratings > 1, rated_rows$weight / (n_ratings - 1), 0)
  coincidence_matrix <- crossprod(weighted_counts, rated_rows$data) -
    diag(colSums(weighted_counts), ncol(weighted_counts))
  columns_tibble(
    category1 = rep(view$labels, length(view$labels)),
    category2 = rep(view$labels, each = length(view$labels)), n = as.vector(coincidence_matrix)
  )
}

# Returns a table with a row per rater and three shares of all cases:
# * coverage: cases that the rater rated.
# * overlap: cases that another rater rated, too.
# * conflict: cases that another rater rated differently.
overlap_of_raters <- function(view) {
  check_named_raters(view$x, "what", "The raters are not identified.", i = NULL)
  x <- view$x
  answers <- answers_by_pattern(x)[, seq_along(x$raters), drop = FALSE]
  is_rated <- !is.na(answers)
  counts <- pattern_counts(x)
  n_all <- rowSums(counts)
  n_same <- counts[cbind(c(row(answers)), c(answers))]
  share_of_cases <- function(is_rated) colSums(is_rated * view$cases) / sum(view$cases)
  columns_tibble(
    rater = x$raters, ratings = colSums(is_rated * view$cases), coverage = share_of_cases(is_rated),
    overlap = share_of_cases(is_rated & n_all > 1),
    conflict = share_of_cases(is_rated & n_all > n_same)
  )
}
