# The metrics of the package: a record for each, and the functions that compute them. Names and
# definitions are those of R package yardstick.

# A metric is a list. needs: what it is computed from, "table", the joint table of truth and answer
# (metrics of scores bring records with other needs, and metric_engines() a function for these);
# form: what its kernel sees, the whole "table", or the numbers of one "category" against the rest;
# kernel: that function; gradient: of a table, the derivative of its kernel by each cell, on tables
# that sum to 1, or NULL to find it in small steps; settings: which settings of estimate_metrics()
# it takes besides; lower and upper: its range, or a function of the settings that gives both;
# better: "high" or "low", "" where neither is; drops: which categories leave its averages, those of
# which it is "undefined", or those "caseless", without cases (of others it counts as 0 where it is
# undefined), or none, "never", so that they undo them; same_as: the metric of which it is another
# name; share: is it the share of right answers of all "cases" or of those with the "answer";
# undefined: why it is 0 / 0 where it is; default: is it shown unasked; ordered: does
# it mean something only where categories are ordered.
new_metric <- function(id, title, reference, kernel, form = "category", needs = "table",
                       gradient = NULL, settings = character(), lower = 0, upper = 1,
                       better = "high", drops = "never", same_as = NA_character_, share = "",
                       undefined = zero_by_zero, default = FALSE, ordered = FALSE) {
  record <- mget(names(formals()))
  stopifnot(is.function(kernel), is.function(lower) || lower < upper)
  strings <- c("id", "title", "reference", "form", "needs", "better", "drops", "share",
    "undefined")
  check_record(record, c("default", "ordered"), strings, "gradient")
}

zero_by_zero <- "its denominator is 0"
no_such_case <- "no case is of this category"
no_such_answer <- "the system never gives this answer"
of_one_kind <- "no case, or every case, is of this category"

# A metric of one category against the rest: `kernel`, a formula of true and false positives and
# negatives, in any unit, and of its `settings`.
category_metric <- function(id, title, kernel, ..., reference = by_name, settings = character()) {
  given <- c("tp", "fn", "fp", "tn", settings)
  arguments <- stats::setNames(rep(list(rlang::missing_arg()), length(given)), given)
  kernel <- rlang::new_function(arguments, rlang::f_rhs(kernel), topenv())
  new_metric(id, title, reference, kernel, settings = settings, ...)
}

ratio_of <- function(part, whole) part / replace(whole, whole <= 0, NaN)

# For what is undefined where one of several ratios is.
where_known <- function(value, ...) value + 0 * Reduce(`*`, list(...))

# ---- Of the whole table: probabilities, truth in rows --------------------------------------------

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

# Of categories in their order: how many steps answers are from the truth.
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

# `cost`: of a table, what each of its cells is off.
kappa_metric <- function(id, title, reference, cost, ...) {
  new_metric(
    id, title, reference, function(table) kappa_of_costs(table, cost(table)), "table",
    gradient = function(table) kappa_gradient(table, cost(table)), lower = -1,
    undefined = "all cases and answers are of one category", ...
  )
}

# What rounding has left of nothing.
snap <- function(x) replace(x, abs(x) < 1e-13, 0)

by_name <- "R package yardstick"
weighted_kappa <- "Cohen (1968), doi:10.1037/h0026256; R package yardstick"
without_order <- "categories are not ordered (see `ordered` of ratings())"

built_in_metrics <- by_id(list(
  new_metric(
    "accuracy", "Accuracy", by_name, function(table) sum(diag(table)), "table",
    gradient = function(table) diag(nrow(table)), share = "cases", default = TRUE
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
    "recall", "Recall", ~ ratio_of(tp, tp + fn), drops = "caseless",
    default = TRUE, undefined = no_such_case
  ),
  category_metric(
    "sens", "Sensitivity", ~ ratio_of(tp, tp + fn), drops = "caseless",
    same_as = "recall", undefined = no_such_case
  ),
  category_metric(
    "spec", "Specificity", ~ ratio_of(tn, tn + fp), drops = "undefined",
    undefined = "every case is of this category"
  ),
  category_metric(
    "precision", "Precision", ~ ratio_of(tp, tp + fp), drops = "caseless", share = "answer",
    default = TRUE, undefined = no_such_answer
  ),
  # By the theorem of Bayes from sensitivity and specificity.
  category_metric(
    "ppv", "Positive predictive value",
    ~ where_known(ratio_of(tp, tp + fp), ratio_of(tp, tp + fn), ratio_of(tn, tn + fp)),
    same_as = "precision", share = "answer",
    undefined = paste0(no_such_answer, ", or ", of_one_kind)
  ),
  category_metric(
    "npv", "Negative predictive value",
    ~ where_known(ratio_of(tn, tn + fn), ratio_of(tp, tp + fn), ratio_of(tn, tn + fp)),
    undefined = paste0("the system gives no other answer, or ", of_one_kind)
  ),
  category_metric(
    "f_meas", "F measure",
    ~ where_known(
      ratio_of((1 + beta^2) * tp, (1 + beta^2) * tp + beta^2 * fn + fp),
      ratio_of(tp, tp + fn), ratio_of(tp, tp + fp)
    ),
    reference = "van Rijsbergen (1979), Information Retrieval", settings = "beta",
    drops = "caseless", default = TRUE, undefined = paste0(no_such_case, ", or ", no_such_answer)
  ),
  category_metric(
    "bal_accuracy", "Balanced accuracy", ~ (ratio_of(tp, tp + fn) + ratio_of(tn, tn + fp)) / 2,
    reference = "Brodersen et al. (2010), doi:10.1109/ICPR.2010.764", default = TRUE,
    undefined = of_one_kind
  ),
  category_metric(
    "j_index", "Youden's J", ~ ratio_of(tp, tp + fn) + ratio_of(tn, tn + fp) - 1,
    reference = "Youden (1950), Cancer 3, 32-35", lower = -1, drops = "undefined",
    undefined = of_one_kind
  ),
  category_metric(
    "detection_prevalence", "Share of answers", ~ ratio_of(tp + fp, tp + fn + fp + tn), better = ""
  ),
  category_metric(
    "prevalence", "Share of cases", ~ ratio_of(tp + fn, tp + fn + fp + tn), better = ""
  )
))

# What agreement() can compute and estimate_metrics() can estimate, and how users add to it.

#' Measures of agreement and metrics of systems
#'
#' `measures()` lists what [agreement()] can compute, and `measures("metric")` what
#' [estimate_metrics()] can estimate (see [system_metrics]). `register_measure()` adds a measure or
#' a metric of your own for the rest of the session, with all errors and intervals.
#'
#' @section Kernels:
#' What a kernel is given depends on `form`. Those of agreement see distinct cases, and as `weights`
#' the number of cases that each stands for, which may be zero:
#' * `"counts"`, the default: `kernel(counts, weights)`, `counts` a matrix of distinct cases x
#'   categories that holds numbers of ratings. Raters are exchangeable.
#' * `"ratings"`: `kernel(ratings, weights)`, `ratings` a matrix of distinct cases x raters that
#'   holds numbers of categories, `NA` where a rating is missing.
#' * `"table"`: `kernel(table)`, the agreement matrix of two raters, over the cases that both rated.
#'
#' Those of metrics see probabilities that sum to one:
#' * `"category"`, the default: `kernel(tp, fn, fp, tn)`, true positives, false negatives, false
#'   positives and true negatives of one category against the rest: vectors with an element per
#'   table; it returns as many numbers. Averages over categories follow by themselves.
#' * `"table"`: `kernel(table)`, the joint table of truth and answer, a row per true category.
#'
#' Arguments are given by place; what else the function takes needs defaults. It returns `NA` or
#' `NaN` where it is undefined. Errors come from calling it again: with a case less (jackknife), or
#' with other weights (bootstrap). The delta method of metrics needs it to be smooth.
#'
#' @param kind `"agreement"`, of raters, or `"metric"`, of systems.
#' @param id A name.
#' @param title A title.
#' @param kernel A function; see Kernels. `NULL` removes one that was registered.
#' @param form What the kernel is given.
#' @param range The smallest and the largest value, by default -1 and 1, for metrics 0 and 1;
#'   intervals end there. Those of a metric are finite.
#' @param raters Of a measure of agreement: `2`, or `Inf` for two or more.
#' @param better Of a metric, which values are better: `"high"` or `"low"`.
#' @param reference Where it is published.
#' @return `measures()`: a tibble with columns `id`, `title`, `range` (with `scale_weights`, or
#'   where cases have a single rating, those from -1 can be lower still), `scale` (of categories:
#'   `"nominal"`, `"ordinal"`, `"interval"`, `"ratio"` or, for measures of two categories,
#'   `"binary"`), `raters`, `weights` (does it take `scale_weights`?), `same_as` (of which measure
#'   it is another name, or `NA`), `reference`.
#'
#'   `measures("metric")`: columns `id`, `title`, `form`, `range`, `better` (`"high"`, `"low"`, or
#'   `""` where neither is better), `settings` (arguments of [estimate_metrics()] that it takes),
#'   `needs` (what an estimate must give: `"table"`, the joint table of truth and answer;
#'   `"scores"`, see [score_metrics]), `same_as`,
#'   `default` (is it shown unasked?), `reference`.
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
