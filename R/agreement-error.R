# Estimates of agreement measures and their standard errors. The C++ core computes the measures of
# the package. For measures that users register, their R function (the kernel) is called.

# Computes a measure of agreement. `measure`: record made by new_measure(). `view`: the ratings to
# compare, see new_judge_view(). Returns a list:
# * estimate, std.error, conf.low, conf.high: the estimate and its interval.
# * n: number of cases used.
# * method: method of the standard error.
# * reason: why a value is NA.
# * null_error: standard error if ratings are independent, NA if it is not available.
# * influence: for each pattern of ratings, the derivative of the estimate with respect to the
#   weight of a case.
# * used: for each pattern of ratings, is it used?
evaluate_measure <- function(measure, view, settings) {
  is_r_kernel <- is.function(measure$kernel)
  method <- if (is_r_kernel && settings$interval == "analytic") "jackknife" else settings$interval
  misfit_words <- measure_misfit(measure, view, settings)
  # Influences need weights that are counts. The bootstrap does not use influences.
  influence_method <- if (view$counted && method != "bootstrap") method else "none"
  result <- if (!is.null(misfit_words)) {
    reason <- sub("[.]$", "", misfit_words[[1L]])
    list(estimate = NA_real_, reason = reason, used = FALSE, null_error = NA_real_)
  } else if (is_r_kernel) {
    estimate_by_kernel(measure, view, influence_method)
  } else {
    estimate_by_core(measure, view, settings, influence_method)
  }
  n_cases <- as.double(sum(view$cases[result$used]))
  # Influences are derivatives with respect to the weight of a case, so the variance of the estimate
  # is their weighted sum of squares.
  error <- if (n_cases < 2 || is_empty(result$influence)) NA_real_ else
    sqrt(n_cases / (n_cases - 1) * sum(view$weight * result$influence^2))
  no_error_reason <- if (is.na(result$estimate) || method == "none") {
    NULL
  } else if (!view$counted) {
    "weights are not counts"
  } else if (n_cases < 2) {
    "there is only one case"
  } else if (method == "bootstrap") {
    NULL
  } else if (is.na(error)) {
    if (method == "jackknife") "without one of the cases the measure is undefined" else
      "the measure has no derivative here; use the jackknife or the bootstrap"
  } else if (error < 1e-12) {
    reason_no_influence
  }
  if (!is.null(no_error_reason)) error <- NA_real_
  limits <- result$estimate + c(-1, 1) * t_quantile(settings$conf_level, n_cases) * error
  # Limits are cut at the range of the measure. They are not cut if the estimate is outside this
  # range, which can happen with user-defined scale weights.
  if (isTRUE(result$estimate >= measure$lower)) limits <- pmax(limits, measure$lower)
  if (isTRUE(result$estimate <= measure$upper)) limits <- pmin(limits, measure$upper)
  result$reason <- result$reason %||%
    if (is.null(no_error_reason)) NA_character_ else paste0(no_interval_prefix, no_error_reason)
  c(result, list(
    std.error = error, conf.low = limits[[1L]], conf.high = limits[[2L]], n = n_cases,
    method = method
  ))
}

estimate_by_core <- function(measure, view, settings, influence) {
  # Weights that are not counts have an arbitrary scale, and their products could underflow.
  # Dividing by a power of two causes no rounding.
  weight <- if (view$counted) view$weight else view$weight / 2^floor(log2(max(view$weight)))
  result <- na_real(core_agreement(
    view$x$patterns, weight, view_for_core(view, measure), kernel_options(measure, view, settings),
    influence, no_tick
  ))
  if (measure$counted && !view$counted) {
    result$estimate <- NA_real_
    result$reason <- "weights are not counts, and alpha depends on the number of ratings"
  } else if (is.na(result$estimate)) {
    if (result$undefined == "certain") {
      rows <- rated_rows(measure, view)
      categories_in_use <- rows$category[rows$weight[rows$row] > 0]
      if (n_distinct(categories_in_use) > 1L) result$undefined <- "weights"
    }
    result$reason <- undefined_reasons[[result$undefined]]
  }
  result
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

# Returns the ratings that a measure uses. Cases with the same ratings are one row. The result is a
# list:
# * row, judge, category: for each rating, the numbers of its row, judge and category.
# * weight: weight of each row.
# * of_pattern: row of each pattern of ratings, 0 if the pattern is not used.
rated_rows <- function(measure, view) {
  core_rated_rows(view$x$patterns, view$weight, view_for_core(view, measure))
}

kernel_options <- function(measure, view, settings) {
  scale <- if (measure$weights) settings$scale_weights
  list(
    kernel = measure$kernel, scale = scale %||% scale_matrix(measure$metric, view$labels),
    pooling = settings$pooling
  )
}

reason_no_influence <- "no case changes the estimate"

# Kernels written in R ---------------------------------------------------------------------------

# Returns the input of a measure that is an R function (kernel): the list of rated_rows() with a
# further field `data`. If the kernel takes counts (field `form` of the measure), `data` is a matrix
# with the number of ratings per distinct case and category. Otherwise it is a matrix with the index
# of the category that each rater gave to each distinct case.
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
  value <- tryCatch(
    if (measure$form == "table") {
      measure$kernel(
        cross_table(rows$data[, 1L], rows$data[, 2L], weight, rows$labels, colnames(rows$data))
      )
    } else {
      measure$kernel(rows$data, weight)
    },
    error = function(e) {
      abort_argument("kernel", "The kernel of {.val {measure$id}} failed.", parent = e, call = NULL)
    }
  )
  abort_argument_if(!((is.numeric(value) || identical(value, NA)) && length(value) == 1L), "kernel",
    "The kernel of {.val {measure$id}} must return one number.",
    x = "It returned {describe(value)}.", call = NULL)
  if (is.finite(value)) as.double(value) else NA_real_
}

estimate_by_kernel <- function(measure, view, influence) {
  rows <- kernel_rows(measure, view)
  weight <- rows$weight
  estimate <- if (any(weight > 0)) call_kernel(measure, rows, weight) else NA_real_
  result <- list(
    estimate = estimate,
    reason = if (is.na(estimate)) "the function of the registered measure returned no number",
    used = rows$of_pattern > 0L, null_error = NA_real_
  )
  if (is.na(estimate) || influence != "jackknife") return(result)
  # One case of each row is left out, as in the core. NA if the measure is undefined without it.
  n_cases <- sum(weight)
  without_case <- map_dbl(seq_along(weight), function(i) {
    if (weight[[i]] == 0) 0 else call_kernel(measure, rows, replace(weight, i, weight[[i]] - 1))
  })
  deviation <- sum(weight * without_case) / n_cases - without_case
  influence_of_row <- ifelse(weight > 0, (n_cases - 1) / n_cases * deviation, 0)
  result$influence <- c(0, influence_of_row)[rows$of_pattern + 1L]
  result
}
