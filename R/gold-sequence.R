# Intervals of gold that may be looked at after every case, and acted upon: all of them together
# miss with probability 1 - conf_level at most.
#
# If y is 0 or 1, and gold arrives in random order, the likelihood of any other share, averaged over
# a law that was fixed beforehand, divided by that of the true share, is a martingale with mean one,
# which never exceeds 1 / (1 - conf_level) but with probability 1 - conf_level (Ville). What it does
# not exclude is the interval. The law here is what ratings alone say, and a flat part for the case
# that they are wrong. With corrections by ratings the number of gold cases becomes that of as many
# cases as they are worth; then it holds approximately (bench/gold.R counts how often it misses).
sequence_interval <- function(x, alone, target, conf_level) {
  if (length(x$estimate) != 1L) {
    one <- function(fields, i) lapply(fields, `[[`, i)
    return(bind_numbers(lapply(seq_along(x$estimate), function(i) {
      sequence_interval(one(x, i), one(alone, i), target, conf_level)
    })))
  }
  corrected <- corrected_interval(x, target, conf_level)
  share <- corrected$estimate
  size <- min(most_information, corrected$size)
  if (is.na(size) || (target == "cases" && x$gold >= x$cases)) return(corrected)
  least <- log(mean_likelihood(share, size, alone, x$cases)) + log(1 - conf_level)
  above <- function(theta) log_ratio(theta, share, size) - least
  corrected$conf.low <- if (share > 0) crossing(above, c(0, share)) else 0
  corrected$conf.high <- if (share < 1) crossing(above, c(share, 1)) else 1
  reach_ends(corrected, x)
}

# Log likelihood of `theta` below its top.
log_ratio <- function(theta, share, size) {
  part <- function(p, q) if (p > 0) p * (log(q) - log(p)) else 0 * q
  size * (part(share, theta) + part(1 - share, 1 - theta))
}

# Cells of equal probability under Beta(1/2, 1/2), the flat part of the law.
share_grid <- function(n = 2000L) {
  u <- (seq_len(n) - 0.5) / n
  list(value = sin(pi * u / 2)^2, slope = pi / 2 * sin(pi * u))
}

# Half of what is expected is what ratings say, as wide as combined_interval() ever takes it.
mean_likelihood <- function(share, size, alone, cases) {
  grid <- share_grid()
  law <- rep(1, length(grid$value))
  if (!is.na(alone$estimate) && !is.na(alone$std.error)) {
    variance <- alone$estimate * (1 - alone$estimate)
    prior <- ratings_prior(alone, Inf, variance, cases, default_widen)
    normal <- stats::dnorm(grid$value, prior$centre, prior$sd) * grid$slope
    law <- law / 2 + length(law) * normal / sum(normal) / 2
  }
  mean(law * exp(log_ratio(grid$value, share, size)))
}

crossing <- function(above, range) {
  ends <- range + c(1, -1) * 1e-12 * (range %in% c(0, 1))
  values <- c(above(ends[[1L]]), above(ends[[2L]]))
  if (prod(sign(values)) > 0) return(range[range %in% c(0, 1)][[1L]])
  stats::uniroot(above, ends, f.lower = values[[1L]], f.upper = values[[2L]], tol = 1e-9)$root
}

# Differences are not 0 or 1, so their martingale is that of a normal mixture (Robbins 1970), with
# the variance that gold cases show: it holds approximately, too. It is as narrow as can be at so
# many gold cases.
narrowest_at <- 100

sequence_difference <- function(x, target, conf_level) {
  interval <- difference_interval(x, target, conf_level)
  miss <- 2 * log(1 / (1 - conf_level))
  ratio <- x$gold / narrowest_at * (miss + log(1 + miss))
  reach <- sqrt((1 + 1 / ratio) * (log1p(ratio) + miss)) * interval$std.error *
    quantile_of_few(x, conf_level) / normal_quantile(conf_level)
  interval$conf.low <- pmax(-1, interval$estimate - reach)
  interval$conf.high <- pmin(1, interval$estimate + reach)
  interval
}
