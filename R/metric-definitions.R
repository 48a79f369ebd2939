# Metrics of systems, such as recall. A record defines each metric. Names and definitions are those
# of the R package yardstick.

# Creates the record of a metric, a list with these fields:
# * id, title, reference: name of the metric, its title, and its source
# * kernel: the function that computes the metric
# * form: input of the kernel. "table": the whole table of truth and answer. "category": the counts
#   of one category against the rest
# * needs: data of the metric. "table": the joint table of truth and answer. "answered": the same
#   table, with abstentions as wrong answers. "scores": scores
# * gradient: function that returns the derivative of the kernel with respect to each cell of a
#   table that sums to 1; NULL for a numerical derivative
# * settings: names of arguments of estimate_metrics() that the kernel takes
# * lower, upper: smallest and largest value of the metric. Instead, `lower` may be a function of
#   the settings that returns both values
# * better: "high" or "low", or "" if neither is better
# * drops: which categories are left out of averages. "undefined": categories whose metric is
#   undefined. "caseless": categories without cases (other undefined metrics are set to 0). "never":
#   no category
# * same_as: another metric with the same values, or NA
# * share: "cases" if the metric is the share of correct answers among all cases, like accuracy.
#   "answer" if it is this share among the cases with one answer, like precision. "" otherwise
# * undefined: reason to report if the metric is undefined
# * default: is the metric reported by default?
# * ordered: does the metric need ordered categories?
# * odds: does the kernel return v / (1 + v) instead of the metric v? TRUE for metrics from 0 to
#   infinity, such as likelihood ratios
# * diagnostic: does the name of the metric imply a positive category, as "sensitivity" does?
new_metric <- function(id, title, reference, kernel, form = "category", needs = "table",
                       gradient = NULL, settings = character(), lower = 0, upper = 1,
                       better = "high", drops = "never", same_as = NA_character_, share = "",
                       undefined = reason_zero_denominator, default = FALSE, ordered = FALSE,
                       odds = FALSE, diagnostic = FALSE) {
  record <- mget(names(formals()))
  stopifnot(is.function(kernel), is.function(lower) || lower < upper)
  string_fields <- c("id", "title", "reference", "form", "needs", "better", "drops", "share",
    "undefined")
  check_record(record, c("default", "ordered", "odds", "diagnostic"), string_fields, "gradient")
}

# Reasons why a metric is undefined.
reason_zero_denominator <- "its denominator is 0"
reason_no_case <- "no case is of this category"
reason_no_answer <- "the system never gives this answer"
reason_one_category <- "no case, or every case, is of this category"

# Creates the record of a metric of one category against the rest. `...`: other fields of
# new_metric(). `kernel`: a one-sided formula, in which these names may be used:
# * tp, fn, fp, tn: true positives, false negatives, false positives and true negatives, as counts
#   or shares
# * the names of the elements of `rates_of_counts`, such as sens
# * the names in `settings`
category_metric <- function(id, title, kernel, ..., reference = yardstick_reference,
                            settings = character()) {
  arguments <- lapply(setNames(nm = c("tp", "fn", "fp", "tn", settings)), function(name) {
    rlang::missing_arg()
  })
  kernel <- new_function(c(arguments, rates_of_counts), rlang::f_rhs(kernel), topenv())
  new_metric(id, title, reference, kernel, settings = settings, ...)
}

odds_metric <- function(...) {
  category_metric(
    ..., odds = TRUE, undefined = "its numerator and its denominator are 0", diagnostic = TRUE
  )
}

# Sensitivity, specificity and positive predictive value, as default arguments of kernels. R
# evaluates a default argument only if the kernel uses it.
rates_of_counts <- alist(
  sens = ratio_of(tp, tp + fn), spec = ratio_of(tn, tn + fp), ppv = ratio_of(tp, tp + fp)
)

# Returns the ratio of two numbers, NaN if the denominator is not positive.
ratio_of <- function(part, whole) part / replace(whole, whole <= 0, NaN)

share_of_sum <- function(part, remainder) ratio_of(part, part + remainder)

# Returns `value`, or NaN if one of the ratios in `...` is undefined (NaN).
nan_if_undefined <- function(value, ...) value + 0 * Reduce(`*`, list(...))

# ---- Metrics of the whole joint table of truth (rows) and answer (columns) -----------------------

# Returns Matthews' correlation for any number of categories: Gorodkin (2004), Computational Biology
# and Chemistry 28, 367-374.
mcc_of_table <- function(table) {
  truth_shares <- rowSums(table)
  answer_shares <- colSums(table)
  variances <- round_to_zero(1 - c(sum(truth_shares^2), sum(answer_shares^2)))
  ratio_of(sum(diag(table)) - sum(truth_shares * answer_shares), sqrt(max(prod(variances), 0)))
}

mcc_gradient <- function(table) {
  truth_shares <- rowSums(table)
  answer_shares <- colSums(table)
  variances <- 1 - c(sum(truth_shares^2), sum(answer_shares^2))
  marginal_term <- outer(truth_shares / variances[[1L]], answer_shares / variances[[2L]], `+`)
  (diag(length(truth_shares)) - outer(answer_shares, truth_shares, `+`)) / sqrt(prod(variances)) +
    mcc_of_table(table) * marginal_term
}

# Returns the number of steps from the true category to the answer, for each cell of a table with
# ordered categories.
category_distances <- function(table) abs(row(table) - col(table))

# Returns weighted kappa: 1 - (mean cost) / (mean cost expected by chance).
# `table`: joint probabilities of truth and answer. `cell_costs`: cost of each cell.
kappa_of_costs <- function(table, cell_costs) {
  chance_cost <- sum(cell_costs * outer(rowSums(table), colSums(table)))
  1 - ratio_of(sum(cell_costs * table), round_to_zero(chance_cost))
}

# Creates the record of a weighted kappa. `cost`: function of a table that returns the cost of each
# cell.
kappa_metric <- function(id, title, reference, cost, ...) {
  new_metric(
    id, title, reference, function(table) kappa_of_costs(table, cost(table)), "table",
    gradient = function(table) {
      cell_costs <- cost(table)
      truth_shares <- rowSums(table)
      answer_shares <- colSums(table)
      chance_cost <- sum(cell_costs * outer(truth_shares, answer_shares))
      chance_term <- outer(
        as.vector(cell_costs %*% answer_shares), as.vector(truth_shares %*% cell_costs), `+`
      )
      (chance_term * sum(cell_costs * table) / chance_cost - cell_costs) / chance_cost
    }, lower = -1, undefined = "all cases and answers are of one category", ...
  )
}

# Sets values that differ from 0 only by rounding errors to 0.
round_to_zero <- function(x) replace(x, abs(x) < 1e-13, 0)

yardstick_reference <- "R package yardstick"
weighted_kappa_reference <- "Cohen (1968), doi:10.1037/h0026256; R package yardstick"
simel_reference <- "Simel, Samsa and Matchar (1991), doi:10.1016/0895-4356(91)90128-V"
reason_not_ordered <- "categories are not ordered (see `ordered` of ratings())"

built_in_metrics <- name_by_id(list(
  new_metric(
    "accuracy", "Accuracy", yardstick_reference, function(table) sum(diag(table)), "table",
    gradient = function(table) diag(nrow(table)), share = "cases", default = TRUE
  ),
  new_metric(
    "accuracy_all", "Accuracy, abstentions wrong", "", function(table) sum(diag(table)), "table",
    needs = "answered", share = "cases"
  ),
  kappa_metric(
    "kap", "Kappa of system and truth",
    "Cohen (1960), Educational and Psychological Measurement 20, 37-46",
    function(table) 1 - diag(nrow(table)), default = TRUE
  ),
  new_metric(
    "mcc", "Matthews' correlation",
    "Matthews (1975), doi:10.1016/0005-2795(75)90109-9; Gorodkin (2004)",
    mcc_of_table, "table", gradient = mcc_gradient, lower = -1, default = TRUE,
    undefined = "all cases are of one category, or get one answer"
  ),
  new_metric(
    "loss", "Mean cost", "Elkan (2001), IJCAI 17, 973-978",
    function(table, cost) sum(cost * table), "table",
    gradient = function(table, cost) cost, settings = "cost",
    lower = function(settings) range(settings$cost), better = "low"
  ),
  kappa_metric(
    "kap_linear", "Kappa, linear weights", weighted_kappa_reference, category_distances,
    ordered = TRUE
  ),
  kappa_metric(
    "kap_quadratic", "Kappa, quadratic weights", weighted_kappa_reference,
    function(table) category_distances(table)^2, ordered = TRUE
  ),
  new_metric(
    "mae", "Mean absolute error", "Baccianella, Esuli and Sebastiani (2009), ISDA 9, 283-287",
    function(table) sum(category_distances(table) * table), "table", gradient = category_distances,
    lower = function(settings) c(0, settings$steps), better = "low", ordered = TRUE
  ),
  new_metric(
    "within_one", "Accuracy within one step", "",
    function(table) sum(table[category_distances(table) <= 1]), "table",
    gradient = function(table) category_distances(table) <= 1, ordered = TRUE
  ),
  category_metric(
    "recall", "Recall", ~sens, drops = "caseless",
    default = TRUE, undefined = reason_no_case
  ),
  category_metric(
    "sens", "Sensitivity", ~sens, drops = "caseless",
    same_as = "recall", undefined = reason_no_case, diagnostic = TRUE
  ),
  category_metric(
    "spec", "Specificity", ~spec, drops = "undefined",
    undefined = "every case is of this category", diagnostic = TRUE
  ),
  category_metric(
    "precision", "Precision", ~ppv, drops = "caseless", share = "answer",
    default = TRUE, undefined = reason_no_answer
  ),
  # The positive predictive value is computed from sensitivity and specificity, by Bayes' theorem.
  # Therefore it is undefined if sensitivity or specificity is undefined, even if tp + fp > 0.
  category_metric(
    "ppv", "Positive predictive value", ~ nan_if_undefined(ppv, sens, spec),
    same_as = "precision", share = "answer",
    undefined = paste0(reason_no_answer, ", or ", reason_one_category), diagnostic = TRUE
  ),
  category_metric(
    "npv", "Negative predictive value", ~ nan_if_undefined(ratio_of(tn, tn + fn), sens, spec),
    undefined = paste0("the system gives no other answer, or ", reason_one_category),
    diagnostic = TRUE
  ),
  category_metric(
    "f_meas", "F measure",
    ~ nan_if_undefined(
      ratio_of((1 + beta^2) * tp, (1 + beta^2) * tp + beta^2 * fn + fp), sens, ppv
    ),
    reference = "van Rijsbergen (1979), Information Retrieval", settings = "beta",
    drops = "caseless", default = TRUE,
    undefined = paste0(reason_no_case, ", or ", reason_no_answer)
  ),
  category_metric(
    "bal_accuracy", "Balanced accuracy", ~ (sens + spec) / 2,
    reference = "Brodersen et al. (2010), doi:10.1109/ICPR.2010.764", default = TRUE,
    undefined = reason_one_category, diagnostic = TRUE
  ),
  category_metric(
    "j_index", "Youden's J", ~ sens + spec - 1,
    reference = "Youden (1950), Cancer 3, 32-35", lower = -1, drops = "undefined",
    undefined = reason_one_category, diagnostic = TRUE
  ),
  odds_metric(
    "lr_positive", "Positive likelihood ratio",
    ~ share_of_sum(tp * (fp + tn), fp * (tp + fn)), reference = simel_reference
  ),
  odds_metric(
    "lr_negative", "Negative likelihood ratio",
    ~ share_of_sum(fn * (fp + tn), tn * (tp + fn)), reference = simel_reference, better = "low"
  ),
  odds_metric(
    "dor", "Diagnostic odds ratio", ~ share_of_sum(tp * tn, fp * fn),
    reference = "Glas et al. (2003), doi:10.1016/S0895-4356(03)00177-X"
  ),
  category_metric(
    "detection_prevalence", "Share of answers", ~ ratio_of(tp + fp, tp + fn + fp + tn), better = ""
  ),
  category_metric(
    "prevalence", "Share of cases", ~ ratio_of(tp + fn, tp + fn + fp + tn), better = ""
  )
))

# ---- Lists of agreement measures and metrics; user-defined measures ------------------------------

#' Measures of agreement and metrics of systems
#'
#' `measures()` returns a table of the measures of agreement that [agreement()] computes, such as
#' kappa. `measures("metric")` returns a table of the metrics of systems that [estimate_metrics()]
#' estimates, such as recall. `register_measure()` adds a user-defined measure or metric for the
#' rest of the session.
#'
#' @section Kernels:
#' A kernel is the function that computes a measure or a metric. Its arguments depend on `form`, and
#' are passed by position. It returns `NA` or `NaN` if the value is undefined.
#'
#' A kernel of a measure of agreement gets the ratings of all cases. Cases with the same ratings
#' share one row. `weights` contains the number of cases of each row, which may be 0.
#' * `"counts"`, the default: `kernel(counts, weights)`. `counts` is a matrix of numbers of ratings,
#'   with a column per category.
#' * `"ratings"`: `kernel(ratings, weights)`. `ratings` is a matrix of category numbers, with a
#'   column per rater; `NA` if a rating is missing.
#' * `"table"`: `kernel(table)`. `table` contains the numbers of cases by the ratings of two raters
#'   (categories x categories), over the cases that both rated.
#'
#' A kernel of a metric gets probabilities that sum to one. It should be differentiable, because
#' standard errors may be computed by the delta method.
#' * `"category"`, the default: `kernel(tp, fn, fp, tn)`, with the true positives, false negatives,
#'   false positives and true negatives of one category against the rest. They are vectors, because
#'   many tables are evaluated in one call, and the kernel returns a vector of the same length.
#'   Averages over categories are computed from its values.
#' * `"table"`: `kernel(table)`, with the joint table of truth (rows) and answer (columns).
#'
#' @param kind `"agreement"` (the default) for measures of raters, or `"metric"` for metrics of
#'   systems.
#' @param id Name of the measure or metric, a string, by which [agreement()] or [estimate_metrics()]
#'   selects it.
#' @param title Title of the measure or metric in tables, a string.
#' @param kernel A function that computes the value of the measure or metric; see section Kernels.
#'   `NULL` removes the registered measure or metric.
#' @param form Input of the kernel, a string; see section Kernels. The default is `"counts"` for
#'   measures and `"category"` for metrics.
#' @param range The smallest and the largest possible value, which also limit the intervals; by
#'   default -1 and 1 for measures, 0 and 1 for metrics. The range of a metric must be finite.
#' @param raters For a measure of agreement, the number of raters that it compares: `2`, or `Inf`
#'   for two or more. The default is `2` if `form` is `"table"`, otherwise `Inf`.
#' @param better For a metric, which values are better: `"high"` (the default) or `"low"`.
#' @param reference The publication that defines the measure or metric, a string.
#' @param ... Not used; catches misspelt arguments.
#' @return `measures()`: a tibble with a row per measure.
#'
#'   * `id`, `title`: name and title of the measure.
#'   * `range`: smallest and largest value, as text.
#'   * `scale`: scale of the categories, `"nominal"`, `"ordinal"`, `"interval"`, `"ratio"` or, for
#'     measures of two categories, `"binary"`.
#'   * `raters`: number of raters that the measure compares, `"2"` or `"2 or more"`.
#'   * `weights`: `TRUE` if the argument `scale_weights` of [agreement()] can be used.
#'   * `same_as`: another measure with the same values, or `NA`.
#'   * `reference`: the publication that defines the measure.
#'
#'   `measures("metric")`: a tibble with a row per metric. Columns `id`, `title`, `range`, `same_as`
#'   and `reference` are as for measures. `form` is the input of the kernel (see section Kernels).
#'   The other columns are:
#'
#'   * `better`: better values, `"high"` or `"low"`; `""` if neither is better.
#'   * `settings`: arguments of [estimate_metrics()] that change the metric, or `""`.
#'   * `needs`: `"table"`, the joint table of truth and answer; `"answered"`, the same table with
#'     abstentions as wrong answers; or `"scores"`, see [score_metrics].
#'   * `default`: `TRUE` if [estimate_metrics()] reports the metric by default.
#'
#'   `register_measure()`: the `id`, invisibly.
#' @seealso [agreement_measures] and [system_metrics] for definitions.
#' @family agreement
#' @examples
#' # All measures of agreement
#' measures()
#'
#' # The share of cases on which all raters agree
#' register_measure("unanimous", "Unanimous cases", function(counts, weights) {
#'   agreed <- apply(counts, 1, max) == rowSums(counts)
#'   sum(weights * agreed) / sum(weights)
#' }, range = c(0, 1))
#' x <- ratings(fleiss1971, case = case, counts = depression:other)
#' agreement(x, c("unanimous", "percent_agreement"), interval = "jackknife")
#' register_measure("unanimous", kernel = NULL)
#' @export
measures <- function(kind = c("agreement", "metric"), ...) {
  check_call()
  if (check_choice(kind) == "metric") {
    records <- lapply(all_metrics(), function(record) {
      record$range <- if (is.function(record$lower)) {
        if (record$ordered) "of steps" else "of costs"
      } else {
        paste(record$lower, "to", if (record$odds) Inf else record$upper)
      }
      record$settings <- toString(record$settings)
      record
    })
    return(records_table(records, c(
      "id", "title", "form", "range", "better", "settings", "needs", "same_as", "default",
      "reference"
    )))
  }
  records <- lapply(all_measures(), function(record) {
    record$range <- paste(format(record$lower), "to", format(record$upper))
    record$raters <- if (record$raters == 2) "2" else "2 or more"
    record
  })
  records_table(
    records, c("id", "title", "range", "scale", "raters", "weights", "same_as", "reference")
  )
}

#' @rdname measures
#' @export
register_measure <- function(id, title, kernel, form = NULL, range = NULL,
                             kind = c("agreement", "metric"), raters = NULL,
                             better = c("high", "low"), reference = "", ...) {
  check_call(except = if (!missing(kernel) && is.null(kernel)) "title")
  is_metric <- check_choice(kind) == "metric"
  kernel_arguments <- if (is_metric) {
    list(category = c("tp", "fn", "fp", "tn"), table = "table")
  } else {
    list(counts = c("counts", "weights"), ratings = c("ratings", "weights"), table = "table")
  }
  make_record <- function() {
    title <- check_string(title, "title")
    reference <- check_string(reference, "reference")
    form <- check_choice(form %||% names(kernel_arguments)[[1L]], names(kernel_arguments), "form")
    range <- range %||% c(if (is_metric) 0 else -1, 1)
    is_valid_range <- is.numeric(range) && length(range) == 2L && !anyNA(range) &&
      range[[1L]] < range[[2L]] && (!is_metric || all(is.finite(range)))
    abort_argument_if(!is_valid_range, "range",
      paste0("must be two ", if (is_metric) "finite ", "numbers, the smaller number first."),
      not = range)
    check_kernel(kernel, form, kernel_arguments[[form]])
    fields <- list(id, title, reference, kernel, form, lower = range[[1L]], upper = range[[2L]])
    if (is_metric) return(inject(new_metric(
      !!!fields, better = check_choice(better, c("high", "low"), "better"), drops = "undefined"
    )))
    raters <- raters %||% if (form == "table") 2 else Inf
    is_for_pairs <- identical(as.double(raters), 2)
    abort_argument_if(!is_for_pairs && !(identical(raters, Inf) && form != "table"), "raters",
      "must be {.code 2}, or {.code Inf} for a measure of two or more raters.", not = raters)
    # `least`: smallest number of raters of a case. Cases with fewer raters are not used.
    inject(new_measure(!!!fields, raters = as.double(raters), least = if (is_for_pairs) 2L else 1L))
  }
  register(
    if (is_metric) "metric" else "measure", id, kernel,
    names(if (is_metric) package_metrics() else built_in_measures), make_record
  )
}
