# Estimates of agreement measures and their standard errors. The C++ core computes the measures of
# the package. A measure that a user registered is computed by the user's R function (the kernel).

# Computes a measure of agreement. `measure`: record made by new_measure(). `view`: the ratings to
# compare, see new_judge_view(). Returns a list:
# * estimate, std.error, conf.low, conf.high: the estimate, its standard error and its interval.
# * n: number of cases used.
# * method: method of the standard error.
# * reason: why a value is NA.
# * null_error: standard error if raters are independent; NA if it is not available.
# * influence: for each pattern of ratings, the derivative of the estimate with respect to the
#   weight of a case.
# * used: which patterns of ratings does the measure use? A logical vector.
evaluate_measure <- function(measure, view, settings) {
  is_r_kernel <- is.function(measure$kernel)
  method <- if (is_r_kernel && settings$interval == "analytic") "jackknife" else settings$interval
  reason_and_hint <- why_measure_unsuitable(measure, view, settings)
  # The influence of cases is computed only if the standard error is computed from it: if weights
  # are counts, and the interval is "analytic" or "jackknife".
  influence_method <- if (view$counted && method != "bootstrap") method else "none"
  estimation <- if (!is.null(reason_and_hint)) {
    reason <- sub("[.]$", "", reason_and_hint[[1L]])
    list(estimate = NA_real_, reason = reason, used = FALSE, null_error = NA_real_)
  } else if (is_r_kernel) {
    estimate_by_kernel(measure, view, influence_method)
  } else {
    estimate_by_core(measure, view, settings, influence_method)
  }
  n_cases <- as.double(sum(view$cases[estimation$used]))
  # The influence of a case is the derivative of the estimate with respect to the case's weight. The
  # variance of the estimate is the weighted sum of squared influences, times n / (n - 1).
  standard_error <- if (n_cases < 2 || is_empty(estimation$influence)) NA_real_ else
    sqrt(n_cases / (n_cases - 1) * sum(view$weight * estimation$influence^2))
  no_interval_reason <- if (is.na(estimation$estimate) || method == "none") {
    NULL
  } else if (!view$counted) {
    "weights are not counts"
  } else if (n_cases < 2) {
    "there is only one case"
  } else if (method == "bootstrap") {
    NULL
  } else if (is.na(standard_error)) {
    if (method == "jackknife") "without one of the cases the measure is undefined" else
      "the measure has no derivative here; use the jackknife or the bootstrap"
  } else if (standard_error < 1e-12) {
    reason_no_influence
  }
  if (!is.null(no_interval_reason)) standard_error <- NA_real_
  half_width <- t_quantile(settings$conf_level, n_cases) * standard_error
  limits <- estimation$estimate + c(-1, 1) * half_width
  # Limits are cut at the range of the measure. They are not cut if the estimate is outside this
  # range, which can happen with user-defined scale weights.
  if (isTRUE(estimation$estimate >= measure$lower)) limits <- pmax(limits, measure$lower)
  if (isTRUE(estimation$estimate <= measure$upper)) limits <- pmin(limits, measure$upper)
  estimation$reason <- estimation$reason %||%
    if (is.null(no_interval_reason)) NA_character_ else
      paste0(no_interval_prefix, no_interval_reason)
  c(estimation, list(
    std.error = standard_error, conf.low = limits[[1L]], conf.high = limits[[2L]], n = n_cases,
    method = method
  ))
}

estimate_by_core <- function(measure, view, settings, influence) {
  # Weights that are not counts have an arbitrary scale, and their products could underflow.
  # Dividing by a power of two causes no rounding.
  weight <- if (view$counted) view$weight else view$weight / 2^floor(log2(max(view$weight)))
  estimation <- na_real(core_agreement(
    view$x$patterns, weight, view_for_core(view, measure), kernel_options(measure, view, settings),
    influence, no_tick
  ))
  if (measure$counted && !view$counted) {
    estimation$estimate <- NA_real_
    estimation$reason <- "weights are not counts, and alpha depends on the number of ratings"
  } else if (is.na(estimation$estimate)) {
    if (estimation$undefined == "certain") {
      rating_rows <- rated_rows(measure, view)
      categories_in_use <- rating_rows$category[rating_rows$weight[rating_rows$row] > 0]
      if (n_distinct(categories_in_use) > 1L) estimation$undefined <- "weights"
    }
    estimation$reason <- undefined_reasons[[estimation$undefined]]
  }
  estimation
}

undefined_reasons <- c(
  no_pairs = "no two raters rated the same case",
  certain = "only one category is in use, so that agreement by chance is certain",
  weights = "with these weights different categories agree fully, so chance agreement is certain",
  unused = "no rater used the category",
  zero_cells = "zeros both on and off the diagonal, so that the odds ratio is zero over zero",
  no_entropy = "a rater used only one category, so that there is no information to share",
  unshared = "some raters have no case in common"
)

# Returns the ratings that a measure uses, as a list. A row stands for all cases with the same
# ratings.
# * row, judge, category: numbers of the row, the judge and the category of each rating.
# * weight: sum of the weights of the cases of each row.
# * of_pattern: number of the row of each pattern of ratings, 0 if the pattern is not used.
rated_rows <- function(measure, view) {
  core_rated_rows(view$x$patterns, view$weight, view_for_core(view, measure))
}

kernel_options <- function(measure, view, settings) {
  scale_weights <- if (measure$weights) settings$scale_weights
  list(
    kernel = measure$kernel, scale = scale_weights %||% scale_matrix(measure$metric, view$labels),
    pooling = settings$pooling
  )
}

reason_no_influence <- "no case changes the estimate"

# ---- Kernels written in R -----------------------------------------------------------------------

# Returns the input of a measure that is an R function (kernel). The result is the list of
# rated_rows() with two more fields: `labels`, the labels of the categories, and `data`, a matrix.
# If the kernel takes counts (field `form` of the measure), `data` contains the number of ratings
# per row and category. Otherwise, `data` contains the index of the category that each judge gave to
# the cases of each row.
kernel_rows <- function(measure, view) {
  rows <- rated_rows(measure, view)
  n_rows <- length(rows$weight)
  rows$labels <- view$labels
  if (measure$form == "counts") {
    counts <- tabulate(rows$row + (rows$category - 1L) * n_rows, n_rows * length(rows$labels))
    rows$data <- matrix(counts, n_rows, dimnames = list(NULL, rows$labels))
  } else {
    rows$data <- matrix(NA_integer_, n_rows, view$judges, dimnames = list(NULL, view$names))
    rows$data[cbind(rows$row, rows$judge)] <- rows$category
  }
  rows
}

# Calls the user's function and checks that it returns a number. `rows`: result of kernel_rows().
call_kernel <- function(measure, rows, weight) {
  kernel_value <- tryCatch(
    if (measure$form == "table") {
      measure$kernel(
        cross_table(rows$data[, 1L], rows$data[, 2L], weight, rows$labels, colnames(rows$data))
      )
    } else {
      measure$kernel(rows$data, weight)
    },
    error = function(e) {
      abort_argument("kernel",
        "The function {.arg kernel} of the measure {.val {measure$id}} stopped with an error.",
        parent = e, call = NULL)
    }
  )
  is_number <- (is.numeric(kernel_value) || identical(kernel_value, NA)) &&
    length(kernel_value) == 1L
  abort_argument_if(!is_number, "kernel",
    "The function {.arg kernel} of the measure {.val {measure$id}} must return one number.",
    x = "It returned {describe(kernel_value)}.", call = NULL)
  if (is.finite(kernel_value)) as.double(kernel_value) else NA_real_
}

estimate_by_kernel <- function(measure, view, influence) {
  rows <- kernel_rows(measure, view)
  weight <- rows$weight
  estimate <- if (any(weight > 0)) call_kernel(measure, rows, weight) else NA_real_
  estimation <- list(
    estimate = estimate,
    reason = if (is.na(estimate)) "the function of the registered measure returned no number",
    used = rows$of_pattern > 0L, null_error = NA_real_
  )
  if (is.na(estimate) || influence != "jackknife") return(estimation)
  # A row stands for several equal cases. For each row, the measure is computed again without one of
  # these cases.
  n_cases <- sum(weight)
  estimate_without_case <- map_dbl(seq_along(weight), function(i) {
    if (weight[[i]] == 0) 0 else call_kernel(measure, rows, replace(weight, i, weight[[i]] - 1))
  })
  deviation <- sum(weight * estimate_without_case) / n_cases - estimate_without_case
  influence_of_row <- ifelse(weight > 0, (n_cases - 1) / n_cases * deviation, 0)
  estimation$influence <- c(0, influence_of_row)[rows$of_pattern + 1L]
  estimation
}
