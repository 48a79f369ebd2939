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
