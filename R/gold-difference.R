# Difference of two systems' accuracies from gold: u is 1 where only the first is right, -1 where
# only the second is, otherwise 0. Where the two answers agree u is 0, and so is what is predicted.

correct_difference <- function(u, q, of, w = rep(1, length(u))) {
  correct_mean(u, q, of, function(mean, spread, gold) pmax(spread, 1 / gold), w = w)
}

# Student's, with a degree of freedom less than there are gold cases.
difference_interval <- function(x, target, conf_level) {
  size <- gold_size(x, target, conf_level)
  error <- sqrt(x$variance / size)
  reach <- error * quantile_of_few(x, conf_level)
  estimate <- pmin(pmax(x$estimate, -1), 1)
  list(
    estimate = estimate, std.error = error, conf.low = pmax(-1, estimate - reach),
    conf.high = pmin(1, estimate + reach), size = size
  )
}

# The number of clusters is in the size, see gold_size().
quantile_of_few <- function(x, conf_level) {
  if (!is.null(x$clusters)) return(normal_quantile(conf_level))
  ifelse(x$gold > 1, stats::qt((1 + conf_level) / 2, pmax(x$gold - 1, 1)), Inf)
}
