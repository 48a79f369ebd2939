# Estimates of measures and their standard errors. The core computes measures of the package; for
# registered measures the user's function is called.

# Returns a list: estimate; std.error, conf.low and conf.high; n, the number of cases used; method
# of the error; reason why a value is NA, or NA; influence of a case of each pattern; null_error.
evaluate <- function(measure, view, settings) {
  in_r <- is.function(measure$kernel)
  method <- if (in_r && settings$interval == "analytic") "jackknife" else settings$interval
  why <- misfit(measure, view, settings)
  # Influences need weights that are counts. The bootstrap does not use influences.
  influence <- if (view$counted && method != "bootstrap") method else "none"
  raw <- if (!is.null(why)) {
    list(estimate = NA_real_, reason = why[[1L]], used = FALSE, null_error = NA_real_)
  } else if (in_r) {
    estimate_by_kernel(measure, view, influence)
  } else {
    estimate_by_core(measure, view, settings, influence)
  }
  add_error(raw, method, measure, view, settings$conf_level)
}

estimate_by_core <- function(measure, view, settings, influence) {
  # Weights that are not counts have no scale, and their products could underflow. Dividing by a
  # power of two causes no rounding.
  weight <- if (view$counted) view$weight else view$weight / 2^floor(log2(max(view$weight)))
  raw <- na_real(core_agreement(
    view$x$patterns, weight, selection_of(view, measure), kernel_options(measure, view, settings),
    influence, no_tick
  ))
  if (measure$counted && !view$counted) {
    raw$estimate <- NA_real_
    raw$reason <- "weights are not counts, and alpha depends on the number of ratings"
  } else if (is.na(raw$estimate)) {
    by_weights <- raw$undefined == "certain" && uses_several_categories(measure, view)
    raw$reason <- undefined_reasons[[if (by_weights) "weights" else raw$undefined]]
  }
  raw
}

undefined_reasons <- c(
  no_pairs = "no two raters rated the same case",
  certain = "only one category is in use, so that agreement by chance is certain",
  weights = "with these weights every pair of ratings that chance can produce counts as agreement",
  unused = "no rater used the category",
  zero_cells = "zeros both on and off the diagonal, so that the odds ratio is zero over zero",
  no_entropy = "a rater used only one category, so that there is no information to share",
  unshared = "some raters have no case in common"
)

uses_several_categories <- function(measure, view) {
  rows <- core_rated_rows(view$x$patterns, view$weight, selection_of(view, measure))
  length(unique(rows$category[rows$weight[rows$row] > 0])) > 1L
}

kernel_options <- function(measure, view, settings) {
  scale <- if (measure$weights) settings$scale_weights
  list(
    kernel = measure$kernel, scale = scale %||% scale_matrix(measure$metric, view$labels),
    pooling = settings$pooling
  )
}

# Influences are derivatives with respect to the weight of a case. The variance is therefore their
# weighted sum of squares.
add_error <- function(raw, method, measure, view, conf_level) {
  n <- as.double(sum(view$cases[raw$used]))
  error <- if (n < 2 || length(raw$influence) == 0L) NA_real_ else
    sqrt(n / (n - 1) * sum(view$weight * raw$influence^2))
  lack <- if (is.na(raw$estimate) || method == "none") {
    NULL
  } else if (!view$counted) {
    "weights are not counts"
  } else if (n < 2) {
    "there is only one case"
  } else if (method == "bootstrap") {
    NULL
  } else if (is.na(error)) {
    if (method == "jackknife") "without one of the cases the measure is undefined" else
      "the measure has no derivative here; use the jackknife or the bootstrap"
  } else if (error < 1e-12) {
    no_influence
  }
  if (!is.null(lack)) error <- NA_real_
  limits <- raw$estimate + c(-1, 1) * t_quantile(conf_level, n) * error
  # Weights that the user defined may give estimates outside the range.
  if (isTRUE(raw$estimate >= measure$lower)) limits <- pmax(limits, measure$lower)
  if (isTRUE(raw$estimate <= measure$upper)) limits <- pmin(limits, measure$upper)
  list(
    estimate = raw$estimate, std.error = error, conf.low = limits[[1L]], conf.high = limits[[2L]],
    n = n, method = method, influence = raw$influence, null_error = raw$null_error,
    reason = raw$reason %||% if (is.null(lack)) NA_character_ else paste0(no_interval, lack)
  )
}

no_influence <- "no case makes a difference to the estimate"

t_quantile <- function(conf_level, n) stats::qt((1 + conf_level) / 2, max(n - 1, 1))

# Estimates of all replicates.
bootstrap_estimates <- function(measure, view, settings, seed, tick) {
  if (is.function(measure$kernel)) {
    rows <- kernel_rows(measure, view)
    drawn <- new_resampling(rows$weight, c(settings, list(seed = seed)))
    return(unlist(resampled(function(weight) call_kernel(measure, rows, weight), drawn,
      tick = tick)))
  }
  na_real(core_agreement_bootstrap(
    view$x$patterns, view$weight, selection_of(view, measure),
    kernel_options(measure, view, settings), settings$replicates, settings$threads, seed, tick
  ))
}

# Kernels written in R ---------------------------------------------------------------------------

# Input of an R kernel: `data`, a matrix with a row per distinct case; `weight` of the rows;
# `of_pattern`, the row of each pattern.
kernel_rows <- function(measure, view) {
  rows <- core_rated_rows(view$x$patterns, view$weight, selection_of(view, measure))
  n <- length(rows$weight)
  k <- length(view$labels)
  rows$labels <- view$labels
  if (measure$form == "counts") {
    counts <- tabulate(rows$row + (rows$category - 1L) * n, n * k)
    rows$data <- matrix(counts, n, k, dimnames = list(NULL, view$labels))
  } else {
    rows$data <- matrix(NA_integer_, n, view$judges, dimnames = list(NULL, view$names))
    rows$data[cbind(rows$row, rows$judge)] <- rows$category
  }
  rows
}

call_kernel <- function(measure, rows, weight) {
  value <- tryCatch(kernel_value(measure, rows, weight), error = function(e) {
    abort_argument("kernel", "The kernel of {.val {measure$id}} stopped.", parent = e, call = NULL)
  })
  abort_argument_if(!((is.numeric(value) || identical(value, NA)) && length(value) == 1L), "kernel",
    "The kernel of {.val {measure$id}} must return one number.",
    x = "It returned {describe(value)}.", call = NULL)
  if (is.finite(value)) as.double(value) else NA_real_
}

kernel_value <- function(measure, rows, weight) {
  if (measure$form != "table") return(measure$kernel(rows$data, weight))
  k <- length(rows$labels)
  crossed <- rowsum_codes(rows$data[, 1L] + (rows$data[, 2L] - 1L) * k, weight, k^2)
  sides <- setNames(list(rows$labels, rows$labels), colnames(rows$data))
  measure$kernel(as.table(matrix(crossed, k, dimnames = sides)))
}

estimate_by_kernel <- function(measure, view, influence) {
  rows <- kernel_rows(measure, view)
  estimate <- if (any(rows$weight > 0)) call_kernel(measure, rows, rows$weight) else NA_real_
  list(
    estimate = estimate, reason = if (is.na(estimate)) "the registered kernel gives no value",
    used = rows$of_pattern > 0L, null_error = NA_real_,
    influence = if (!is.na(estimate) && influence == "jackknife") {
      c(0, jackknife_influence(measure, rows))[rows$of_pattern + 1L]
    }
  )
}

# Jackknife influences, as in the core. NA where the measure is undefined.
jackknife_influence <- function(measure, rows) {
  weight <- rows$weight
  n <- sum(weight)
  without <- vapply(seq_along(weight), function(i) {
    if (weight[[i]] == 0) 0 else call_kernel(measure, rows, replace(weight, i, weight[[i]] - 1))
  }, 0)
  ifelse(weight > 0, (n - 1) / n * (sum(weight * without) / n - without), 0)
}
