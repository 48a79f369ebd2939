# Two tests without a gold standard, from Joseph, Gyorkos and Coupal (1995).
two_tests <- function() {
  data <- data.frame(
    stool = c("+", "+", "-", "-"), serology = c("+", "-", "+", "-"), n = c(38, 2, 87, 35)
  )
  ratings(data, raters = stool:serology, weights = n, categories = c("-", "+"))
}

joseph <- function(...) {
  rater_prior(
    stool = list(sens = list(4.4375, 13.3125), spec = list(71.25, 3.75)),
    serology = list(sens = list(21.955556, 5.488889), spec = list(4.1, 1.76)), ...
  )
}

drawn_store <- new.env()
drawn_tests <- function() {
  if (is.null(drawn_store$fit)) {
    set.seed(1)
    drawn_store$fit <- fit_raters(
      two_tests(), dawid_skene(), method = "bayes", prior = joseph(order = "none")
    )
  }
  drawn_store$fit
}

# Returns the largest difference between posterior means and expected means, in units of Monte Carlo
# standard errors.
errors_off <- function(fit, expected) {
  table <- tidy(fit)
  row <- match(names(expected), table$term)
  max(abs(table$mean[row] - expected) / table$mcse[row])
}

# Draws a panel of five raters. Rater b copies rater a in the share `share` of the cases.
copied_panel <- function(share, n = 400) {
  truth <- stats::rbinom(n, 1L, 0.4)
  answers <- vapply(c(a = 0.75, b = 0.8, c = 0.7, d = 0.85, e = 0.8), function(right) {
    ifelse(stats::runif(n) < right, truth, 1L - truth)
  }, integer(n))
  copies <- stats::runif(n) < share
  answers[copies, "b"] <- answers[copies, "a"]
  ratings(as.data.frame(answers), raters = a:e)
}

free_model <- function(...) rater_model("rater", "free", ...)

# Simulation-based calibration. True parameters are drawn from the prior, so their ranks among 99
# posterior draws should be uniformly distributed. Returns, for each parameter, the p-value of a
# chi-square test of this distribution over replicates, with 20 bins. `ranks`: parameters x
# replicates.
rank_p_values <- function(ranks) {
  apply(ranks, 1L, function(rank) {
    counts <- tabulate(pmin(floor(rank / 5) + 1L, 20L), 20L)
    stats::pchisq(sum((counts - mean(counts))^2 / mean(counts)), 19, lower.tail = FALSE)
  })
}

# Returns the ranks of true parameters among posterior draws: parameters x replicates. `draw`:
# function that returns a panel `x`, the true parameters `numbers`, and possibly `known` truths.
simulated_ranks <- function(replicates, draw, model, prior, thin = 5L) {
  runs <- lapply(seq_len(replicates), function(seed) {
    world <- withr::with_seed(seed, quiet(draw()))
    known <- resolve_known(patterns_for(model, world$x), world$known, NULL)
    task <- sampler_task(known$x, model, known$known, resolve_prior(prior, known$x, model))
    options <- list(
      chains = 1L, kept = 99L, warmup = 200L, threads = 1L, thin = thin, seed = c(seed, 7L)
    )
    fit <- run_sampler(known$x, task, options)
    values <- named_draws(fit$draws, task$terms)
    rowSums(t(values[, names(world$numbers), drop = FALSE]) < world$numbers)
  })
  do.call(cbind, runs)
}

drawn_tests_of_others <- function() {
  quiet(fit_raters(lehner_ratings(), method = "bayes", sampling = list(draws = 200, thin = 1)))
}
