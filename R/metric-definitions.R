# The metrics of the package: a record for each, and functions to compute them. Names and
# definitions are those of the R package yardstick.

# A metric is a list with the fields
# needs: "table", the joint table of truth and answer, or another input (see metric_engines());
# form: input of the kernel, the whole "table" or the numbers of one "category" against the rest;
# kernel: the function that computes it;
# gradient: derivative of the kernel with respect to each cell of a table that sums to 1, or NULL
#   for a numerical derivative;
# settings: further arguments from estimate_metrics();
# lower and upper: its range, or a function of the settings that returns both;
# better: "high" or "low", or "" if neither is better;
# drops: categories left out of averages: those for which it is "undefined"; those that are
#   "caseless" (in other categories it counts as 0 if undefined); or "never";
# same_as: the metric of which it is another name;
# share: if it is the share of right answers, among all "cases" or cases with the "answer";
# undefined: reason why it is 0 / 0;
# default: is it reported by default?
# ordered: does it need ordered categories?
# odds: does its kernel return v / (1 + v) of a metric v from 0 to infinity? It then has no averages
#   (see odds_of_shares()).
new_metric <- function(id, title, reference, kernel, form = "category", needs = "table",
                       gradient = NULL, settings = character(), lower = 0, upper = 1,
                       better = "high", drops = "never", same_as = NA_character_, share = "",
                       undefined = zero_by_zero, default = FALSE, ordered = FALSE,
                       odds = FALSE) {
  record <- mget(names(formals()))
  stopifnot(is.function(kernel), is.function(lower) || lower < upper)
  strings <- c("id", "title", "reference", "form", "needs", "better", "drops", "share",
    "undefined")
  check_record(record, c("default", "ordered", "odds"), strings, "gradient")
}

zero_by_zero <- "its denominator is 0"
ratio_of_zeros <- "its numerator and its denominator are 0"
no_such_case <- "no case is of this category"
no_such_answer <- "the system never gives this answer"
of_one_kind <- "no case, or every case, is of this category"

# A metric of one category against the rest. `kernel`: a formula of tp, fn, fp and tn, in any unit,
# of `rates_of_counts`, and of the `settings`.
category_metric <- function(id, title, kernel, ..., reference = by_name, settings = character()) {
  given <- c("tp", "fn", "fp", "tn", settings)
  arguments <- setNames(rep(list(rlang::missing_arg()), length(given)), given)
  kernel <- rlang::new_function(c(arguments, rates_of_counts), rlang::f_rhs(kernel), topenv())
  new_metric(id, title, reference, kernel, settings = settings, ...)
}

# Computed only if a kernel uses them.
rates_of_counts <- alist(
  sens = ratio_of(tp, tp + fn), spec = ratio_of(tn, tn + fp), ppv = ratio_of(tp, tp + fp)
)

ratio_of <- function(part, whole) part / replace(whole, whole <= 0, NaN)

share_of <- function(part, remainder) ratio_of(part, part + remainder)

# Makes a value undefined if one of several ratios is.
where_known <- function(value, ...) value + 0 * Reduce(`*`, list(...))

# ---- Metrics of the whole table: probabilities, truth in rows -----------------------------------

# For any number of categories: Gorodkin (2004), Computational Biology and Chemistry 28, 367-374.
mcc_of_table <- function(table) {
  truth <- rowSums(table)
  answer <- colSums(table)
  spread <- snap(1 - sum(truth^2)) * snap(1 - sum(answer^2))
  ratio_of(sum(diag(table)) - sum(truth * answer), sqrt(max(spread, 0)))
}

mcc_gradient <- function(table) {
  truth <- rowSums(table)
  answer <- colSums(table)
  left <- c(1 - sum(truth^2), 1 - sum(answer^2))
  shared <- outer(truth / left[[1L]], answer / left[[2L]], `+`)
  by_chance <- outer(answer, truth, `+`)
  (diag(length(truth)) - by_chance) / sqrt(prod(left)) + mcc_of_table(table) * shared
}

# Number of steps from the truth to the answer, for ordered categories.
steps_of_table <- function(table) abs(row(table) - col(table))

kappa_of_costs <- function(table, cost) {
  chance <- sum(cost * outer(rowSums(table), colSums(table)))
  1 - ratio_of(sum(cost * table), snap(chance))
}

kappa_gradient <- function(table, cost) {
  truth <- rowSums(table)
  answer <- colSums(table)
  chance <- sum(cost * outer(truth, answer))
  by_chance <- outer(as.vector(cost %*% answer), as.vector(truth %*% cost), `+`)
  (by_chance * sum(cost * table) / chance - cost) / chance
}

# `cost`: a function of a table that returns the cost of each cell.
kappa_metric <- function(id, title, reference, cost, ...) {
  new_metric(
    id, title, reference, function(table) kappa_of_costs(table, cost(table)), "table",
    gradient = function(table) kappa_gradient(table, cost(table)), lower = -1,
    undefined = "all cases and answers are of one category", ...
  )
}

# Removes rounding errors around 0.
snap <- function(x) replace(x, abs(x) < 1e-13, 0)

by_name <- "R package yardstick"
weighted_kappa <- "Cohen (1968), doi:10.1037/h0026256; R package yardstick"
simel1991 <- "Simel, Samsa and Matchar (1991), doi:10.1016/0895-4356(91)90128-V"
without_order <- "categories are not ordered (see `ordered` of ratings())"

built_in_metrics <- by_id(list(
  new_metric(
    "accuracy", "Accuracy", by_name, function(table) sum(diag(table)), "table",
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
    "kap_linear", "Kappa, linear weights", weighted_kappa, steps_of_table,
    ordered = TRUE
  ),
  kappa_metric(
    "kap_quadratic", "Kappa, quadratic weights", weighted_kappa,
    function(table) steps_of_table(table)^2, ordered = TRUE
  ),
  new_metric(
    "mae", "Mean absolute error", "Baccianella, Esuli and Sebastiani (2009), ISDA 9, 283-287",
    function(table) sum(steps_of_table(table) * table), "table", gradient = steps_of_table,
    lower = function(settings) c(0, settings$steps), better = "low", ordered = TRUE
  ),
  new_metric(
    "within_one", "Accuracy within one step", "",
    function(table) sum(table[steps_of_table(table) <= 1]), "table",
    gradient = function(table) steps_of_table(table) <= 1, ordered = TRUE
  ),
  category_metric(
    "recall", "Recall", ~sens, drops = "caseless",
    default = TRUE, undefined = no_such_case
  ),
  category_metric(
    "sens", "Sensitivity", ~sens, drops = "caseless",
    same_as = "recall", undefined = no_such_case
  ),
  category_metric(
    "spec", "Specificity", ~spec, drops = "undefined",
    undefined = "every case is of this category"
  ),
  category_metric(
    "precision", "Precision", ~ppv, drops = "caseless", share = "answer",
    default = TRUE, undefined = no_such_answer
  ),
  # By Bayes' theorem it needs sensitivity and specificity, so it is undefined if one of them is.
  category_metric(
    "ppv", "Positive predictive value", ~ where_known(ppv, sens, spec),
    same_as = "precision", share = "answer",
    undefined = paste0(no_such_answer, ", or ", of_one_kind)
  ),
  category_metric(
    "npv", "Negative predictive value", ~ where_known(ratio_of(tn, tn + fn), sens, spec),
    undefined = paste0("the system gives no other answer, or ", of_one_kind)
  ),
  category_metric(
    "f_meas", "F measure",
    ~ where_known(
      ratio_of((1 + beta^2) * tp, (1 + beta^2) * tp + beta^2 * fn + fp), sens, ppv
    ),
    reference = "van Rijsbergen (1979), Information Retrieval", settings = "beta",
    drops = "caseless", default = TRUE, undefined = paste0(no_such_case, ", or ", no_such_answer)
  ),
  category_metric(
    "bal_accuracy", "Balanced accuracy", ~ (sens + spec) / 2,
    reference = "Brodersen et al. (2010), doi:10.1109/ICPR.2010.764", default = TRUE,
    undefined = of_one_kind
  ),
  category_metric(
    "j_index", "Youden's J", ~ sens + spec - 1,
    reference = "Youden (1950), Cancer 3, 32-35", lower = -1, drops = "undefined",
    undefined = of_one_kind
  ),
  category_metric(
    "lr_positive", "Positive likelihood ratio",
    ~ share_of(tp * (fp + tn), fp * (tp + fn)), reference = simel1991,
    odds = TRUE, undefined = ratio_of_zeros
  ),
  category_metric(
    "lr_negative", "Negative likelihood ratio",
    ~ share_of(fn * (fp + tn), tn * (tp + fn)), reference = simel1991,
    better = "low", odds = TRUE, undefined = ratio_of_zeros
  ),
  category_metric(
    "dor", "Diagnostic odds ratio", ~ share_of(tp * tn, fp * fn),
    reference = "Glas et al. (2003), doi:10.1016/S0895-4356(03)00177-X", odds = TRUE,
    undefined = ratio_of_zeros
  ),
  category_metric(
    "detection_prevalence", "Share of answers", ~ ratio_of(tp + fp, tp + fn + fp + tn), better = ""
  ),
  category_metric(
    "prevalence", "Share of cases", ~ ratio_of(tp + fn, tp + fn + fp + tn), better = ""
  )
))

# List of agreement measures and metrics, and registration of user-defined ones.

#' Measures of agreement and metrics of systems
#'
#' `measures()` lists the measures that [agreement()] computes, and `measures("metric")` the metrics
#' that [estimate_metrics()] estimates (see [system_metrics]). `register_measure()` adds a
#' user-defined measure or metric for the rest of the session, with standard errors and intervals.
#'
#' @section Kernels:
#' The arguments of a kernel depend on `form`. For agreement, a kernel gets distinct cases and
#' `weights`, the number of cases that each stands for, which may be zero:
#' * `"counts"`, the default: `kernel(counts, weights)`, with numbers of ratings in a matrix
#'   `counts` of distinct cases x categories. Raters are exchangeable.
#' * `"ratings"`: `kernel(ratings, weights)`, with numbers of categories in a matrix `ratings` of
#'   distinct cases x raters, `NA` if a rating is missing.
#' * `"table"`: `kernel(table)`, with the agreement matrix of two raters, over the cases that both
#'   rated.
#'
#' For metrics, a kernel gets probabilities that sum to one:
#' * `"category"`, the default: `kernel(tp, fn, fp, tn)`, with the true positives, false negatives,
#'   false positives and true negatives of one category against the rest. They are vectors with an
#'   element per table, and the kernel returns a vector of the same length. Averages over categories
#'   are computed from it.
#' * `"table"`: `kernel(table)`, with the joint table of truth and answer, true categories in rows.
#'
#' Arguments are passed by position; further arguments of the kernel need defaults. The kernel
#' returns `NA` or `NaN` if the value is undefined. For standard errors it is called again without a
#' case (jackknife) or with other weights (bootstrap). The delta method for metrics needs a smooth
#' kernel.
#'
#' @param kind `"agreement"` (the default) for measures of raters, or `"metric"` for metrics of
#'   systems.
#' @param id A name.
#' @param title A title.
#' @param kernel A function that computes the value of the measure or metric; its arguments are in
#'   Kernels. `NULL` removes the registered measure or metric.
#' @param form Input of the kernel; see Kernels.
#' @param range Smallest and largest value, at which intervals are cut. By default -1 and 1 for
#'   measures, 0 and 1 for metrics. The range of a metric must be finite.
#' @param raters For a measure of agreement, the number of raters that it compares: `2`, or `Inf`
#'   for any number from two.
#' @param better Of a metric: which values are better, `"high"` (the default) or `"low"`.
#' @param reference The publication.
#' @return `measures()`: a tibble with columns `id`, `title`, `range`, `scale` (of categories:
#'   `"nominal"`, `"ordinal"`, `"interval"`, `"ratio"` or, for measures of two categories,
#'   `"binary"`), `raters`, `weights` (does it take `scale_weights`?), `same_as` (the measure of
#'   which it is another name, or `NA`), `reference`. With `scale_weights`, or if some cases
#'   have a single rating, values may be below -1 although `range` begins at -1.
#'
#'   `measures("metric")`: columns `id`, `title`, `form`, `range`, `better` (`"high"`, `"low"`, or
#'   `""` if neither is better), `settings` (arguments of [estimate_metrics()] that it takes),
#'   `needs` (`"table"`, the joint table of truth and answer; or `"scores"`, see [score_metrics]),
#'   `same_as`, `default` (is it reported by default?), `reference`.
#'
#'   `register_measure()`: its `id`, invisibly.
#' @family agreement
#' @examples
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
measures <- function(kind = c("agreement", "metric")) {
  if (check_choice(kind) == "metric") return(metric_table())
  all <- lapply(all_measures(), function(record) {
    record$range <- paste(format(record$lower), "to", format(record$upper))
    record$raters <- if (record$raters == 2) "2" else "2 or more"
    record
  })
  records_table(
    all, c("id", "title", "range", "scale", "raters", "weights", "same_as", "reference")
  )
}

#' @rdname measures
#' @export
register_measure <- function(id, title, kernel, form = NULL, range = NULL,
                             kind = c("agreement", "metric"), raters = NULL,
                             better = c("high", "low"), reference = "") {
  check_given(but = if (!missing(kernel) && is.null(kernel)) "title")
  of_metric <- check_choice(kind) == "metric"
  forms <- if (of_metric) {
    list(category = c("tp", "fn", "fp", "tn"), table = "table")
  } else {
    list(counts = c("counts", "weights"), ratings = c("ratings", "weights"), table = "table")
  }
  make <- function() {
    title <- check_string(title, "title")
    reference <- check_string(reference, "reference")
    form <- check_choice(form %||% names(forms)[[1L]], names(forms), "form")
    range <- range %||% c(if (of_metric) 0 else -1, 1)
    check_range(range, if (of_metric) "finite numbers" else "numbers", finite = of_metric)
    check_kernel(kernel, form, forms[[form]])
    given <- list(id, title, reference, kernel, form, lower = range[[1L]], upper = range[[2L]])
    do.call(if (of_metric) new_metric else new_measure, c(given, if (of_metric) {
      list(better = check_choice(better, c("high", "low"), "better"), drops = "undefined")
    } else {
      check_measured_raters(raters %||% if (form == "table") 2 else Inf, form)
    }))
  }
  register(
    if (of_metric) "metric" else "measure", id, kernel,
    names(if (of_metric) package_metrics() else built_in_measures), make
  )
}

check_measured_raters <- function(raters, form) {
  two <- identical(as.double(raters), 2)
  abort_argument_if(!two && !(identical(raters, Inf) && form != "table"), "raters",
    "must be {.code 2}, or {.code Inf} for two or more.", not = raters)
  list(raters = as.double(raters), least = if (two) 2L else 1L)
}
