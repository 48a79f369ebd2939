# Quantiles of posterior draws of accuracy; see accuracy-draws.R.

interval_posterior <- new_interval(
  "posterior",
  words = "posterior interval", spread = "percentile", drawn = TRUE, clusters = FALSE,
  uncounted = "so there are no cases to draw the truth of",
  find = function(draft, table) new_interval_found(table),
  draws = function(estimate, replicates) replicates,
  note = function(estimate) posterior_note(estimate),
  explain = function(estimate) {
    paste0("The {interval}s are quantiles of draws from the posterior",
      if (!is_stated(estimate$options)) {
        ", in which the errors that systems share with raters have a prior"
      }, ".")
  }
)

# What the width is made of.
posterior_note <- function(x) {
  if (x$drawn_gold > 0L) {
    return(paste0("quantiles of posterior draws, weighted by ",
      count_noun(x$drawn_gold, "case"), " with known truth"))
  }
  parts <- colMeans(x$parts)
  share <- paste0(round(100 * parts / sum(parts)), "%")
  if (is.null(x$options$common) || is_stated(x$options)) {
    return("quantiles of posterior draws; sampling error alone, given what is assumed")
  }
  paste0(
    "quantiles of posterior draws. Of its variance ", share[[1L]], " is sampling, ",
    share[[2L]], " shared errors and ", share[[3L]],
    " cases that deceive all; the ratings cannot change the last two"
  )
}
