# Percentiles of replicates, for cases or clusters of cases drawn anew; see accuracy-bootstrap.R.

interval_bootstrap <- new_interval(
  "bootstrap",
  spread = "percentile", compiled = TRUE, own_fit = TRUE,
  uncounted = "so there are no cases to resample",
  find = function(draft, table) bootstrap_interval(draft, table),
  draws = function(estimate, replicates) replicates,
  note = function(estimate) bootstrap_note(estimate),
  explain = function(estimate) {
    paste(
      "The {interval} is from percentiles of", number(estimate$options$replicates),
      "bootstrap samples of", if (!is.null(estimate$options$cluster)) "clusters of",
      "cases (Efron and Tibshirani 1993); it covers sampling error only."
    )
  }
)

bootstrap_interval <- function(draft, table) {
  options <- draft$options
  replicates <- na_real(bootstrap_replicates(draft$point$estimator, draft$fit, options))
  intervals <- core_percentile_intervals(replicates, options$conf_level, method_of(draft)$iterated)
  known <- !is.na(table$estimate)
  warn_failed(
    draft$fit$x$systems[known], colMeans(is.na(replicates))[known], options$conf_level,
    if (is.null(options$record)) "Raters agree too little for so few cases."
  )
  found <- add_intervals(table, intervals)
  within <- replace(found, "estimate", list(pmin(found$estimate, 1))) # as limits are
  warn_outside(draft$fit$x$systems, within, 'Use {.code "profile"} or {.code "robust"}.')
  new_interval_found(found, replicates)
}

bootstrap_note <- function(x) {
  failed <- range(x$details$failed)
  paste0(
    "sampling error alone; ", resampling_note(x), ", ",
    number(x$options$replicates), " replicates",
    if (failed[[2L]] > 0L) {
      paste0(
        ", ", paste(unique(failed), collapse = " to "), " of them without an estimate",
        if (failed[[2L]] > (1 - x$options$conf_level) / 2 * x$options$replicates) " (too short)"
      )
    }
  )
}
