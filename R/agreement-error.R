# Estimates of measures and their errors: by the core for measures of the package, by calling the
# user's function for those that were registered.

# A list: estimate; reason (NULL if there is an estimate); used (which patterns entered); influence
# of a case of each pattern, NULL if there is none; null_error.
evaluate <- function(measure, view, settings) {
  why <- misfit(measure, view, settings)
  if (!is.null(why)) {
    return(list(
      estimate = NA_real_, reason = why[[1L]], used = logical(length(view$weight)),
      influence = NULL, null_error = NA_real_
    ))
  }
  influence <- switch(settings$interval,
    analytic = if (is.function(measure$kernel)) "jackknife" else "analytic",
    jackknife = "jackknife",
    "none"
  )
  # Without counts there are no cases to leave out.
  if (!view$counted) influence <- "none"
  if (is.function(measure$kernel)) return(evaluate_function(measure, view, influence))
  raw <- core_agreement(
    view$x$patterns, safe_weight(view), selection_of(view, measure),
    kernel_options(measure, view, settings), influence, function(done) NULL
  )
  uncounted <- measure$counted && !view$counted
  if (uncounted) raw$estimate <- NA_real_
  raw$estimate <- na_real(raw$estimate)
  raw$reason <- if (uncounted) {
    "weights are not counts, and alpha depends on the number of ratings"
  } else if (is.na(raw$estimate)) {
    undefined_reasons[[if (by_weights(raw, measure, view)) "weights" else raw$undefined]]
  }
  if (length(raw$influence) == 0L) raw["influence"] <- list(NULL)
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

# Weights that are not counts mean nothing by themselves, and their products may be too small for a
# number. Dividing by a power of two rounds nothing.
safe_weight <- function(view) {
  if (view$counted) view$weight else view$weight / 2^floor(log2(max(view$weight)))
}

# Is agreement by chance certain though more than one category is in use?
by_weights <- function(raw, measure, view) {
  if (raw$undefined != "certain") return(FALSE)
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

# What result_row() needs: n, method, std.error, conf.low, conf.high, reason.
error_of <- function(measure, view, raw, settings) {
  method <- if (is.function(measure$kernel) && settings$interval == "analytic") {
    "jackknife"
  } else {
    settings$interval
  }
  out <- list(
    n = as.double(sum(view$cases[raw$used])), method = method, std.error = NA_real_,
    conf.low = NA_real_, conf.high = NA_real_, reason = NULL
  )
  if (is.na(raw$estimate) || method == "none") return(out)
  why <- if (!view$counted) {
    "weights are not counts"
  } else if (out$n < 2) {
    "there is only one case"
  }
  if (!is.null(why) || method == "bootstrap") {
    if (!is.null(why)) out$reason <- paste0(no_interval, why)
    return(out)
  }
  error <- influence_error(raw, view, out$n)
  if (is.na(error) || error < 1e-12) {
    out$reason <- paste0(no_interval, if (!is.na(error)) {
      "no case makes a difference to the estimate"
    } else if (method == "jackknife") {
      "without one of the cases the measure is undefined"
    } else {
      "the measure has no derivative here; use the jackknife or the bootstrap"
    })
    return(out)
  }
  limits <- raw$estimate + c(-1, 1) * error * stats::qt((1 + settings$conf_level) / 2, out$n - 1)
  # Weights of one's own may lead out of the range.
  limits <- pmin(
    pmax(limits, min(measure$lower, limits[raw$estimate < measure$lower])),
    max(measure$upper, limits[raw$estimate > measure$upper])
  )
  out$std.error <- error
  out$conf.low <- limits[[1L]]
  out$conf.high <- limits[[2L]]
  out
}

# Influences are derivatives by the weight of a case, so that n times their mean square is a sum.
influence_error <- function(raw, view, n) {
  if (is.null(raw$influence)) NA_real_ else sqrt(n / (n - 1) * sum(view$weight * raw$influence^2))
}

# The estimate of each replicate.
bootstrap_task <- function(measure, view, settings, seed, tick) {
  if (is.function(measure$kernel)) {
    rows <- kernel_rows(measure, view)
    drawn <- new_resampling(rows$weight, c(settings, list(seed = seed)))
    run <- function(weight) call_kernel(measure, rows, weight)
    return(unlist(resampled(run, drawn, tick = tick)))
  }
  na_real(core_agreement_bootstrap(
    view$x$patterns, view$weight, selection_of(view, measure),
    kernel_options(measure, view, settings), settings$replicates, settings$threads, seed, tick
  ))
}

# Kernels of R -----------------------------------------------------------------------------------

# Distinct cases as a kernel of R sees them: data, a matrix; weight of its rows; of_pattern.
kernel_rows <- function(measure, view) {
  rows <- core_rated_rows(view$x$patterns, view$weight, selection_of(view, measure))
  n <- length(rows$weight)
  labels <- view$labels
  rows$data <- if (measure$form == "counts") {
    at <- factor(rows$row, levels = seq_len(n))
    counts <- table(at, factor(rows$category, levels = seq_along(labels)))
    matrix(as.integer(counts), n, dimnames = list(NULL, labels))
  } else {
    ratings <- matrix(NA_integer_, n, view$judges, dimnames = list(NULL, view$names))
    ratings[cbind(rows$row, rows$judge)] <- rows$category
    ratings
  }
  rows$labels <- labels
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
  if (measure$form == "table") {
    of_rater <- function(j) factor(rows$labels[rows$data[, j]], levels = rows$labels)
    crossed <- stats::xtabs(weight ~ a + b, list(weight = weight, a = of_rater(1), b = of_rater(2)))
    measure$kernel(structure(
      unclass(crossed), class = "table", call = NULL,
      dimnames = stats::setNames(list(rows$labels, rows$labels), colnames(rows$data))
    ))
  } else {
    measure$kernel(rows$data, weight)
  }
}

evaluate_function <- function(measure, view, influence) {
  rows <- kernel_rows(measure, view)
  if (sum(rows$weight) == 0) {
    estimate <- NA_real_
  } else {
    estimate <- call_kernel(measure, rows, rows$weight)
  }
  reason <- if (is.na(estimate)) "the registered kernel gives no value"
  own <- if (influence == "jackknife" && is.null(reason)) jackknife_function(measure, rows)
  list(
    estimate = estimate, reason = reason, used = rows$of_pattern > 0L,
    influence = if (!is.null(own)) c(0, own)[rows$of_pattern + 1L], null_error = NA_real_
  )
}

# As the core's jackknife; NULL where it is undefined.
jackknife_function <- function(measure, rows) {
  n <- sum(rows$weight)
  without <- numeric(length(rows$weight))
  for (i in which(rows$weight > 0)) {
    weight <- rows$weight
    weight[[i]] <- weight[[i]] - 1
    without[[i]] <- call_kernel(measure, rows, weight)
  }
  if (anyNA(without)) return(NULL)
  mean <- sum(rows$weight * without) / n
  ifelse(rows$weight > 0, (n - 1) / n * (mean - without), 0)
}
