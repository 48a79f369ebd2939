# Simulation-based calibration (Talts and others, 2018): parameters drawn from the prior, ratings
# drawn with them, and the rank of each parameter among the draws of its posterior is uniform.
#' @srrstats {BS7.0, BS7.1} posteriors of panels from the prior have the mean of the prior
#' @srrstats {BS7.2, G5.6, G5.6a} ranks of planted parameters among draws are uniform

# A row per panel: the ranks in (0, 1) of sensitivity and specificity of a rater and the base rate,
# then the means of their posteriors.
calibrate <- function(panels, n = 60L) {
  beta <- list(sens = list(8, 2), spec = list(16, 4))
  prior <- rater_prior(
    rater1 = beta, rater2 = beta, rater3 = beta, base_rates = list(4, 6), order = "none"
  )
  vapply(seq_len(panels), function(i) {
    sens <- stats::rbeta(3L, 8, 2)
    spec <- stats::rbeta(3L, 16, 4)
    rate <- stats::rbeta(1L, 4, 6)
    truth <- stats::runif(n) < rate
    said <- vapply(1:3, function(j) {
      c("no", "yes")[1L + (stats::runif(n) < ifelse(truth, sens[[j]], 1 - spec[[j]]))]
    }, character(n))
    colnames(said) <- paste0("rater", 1:3)
    x <- quiet(ratings(as.data.frame(said), raters = rater1:rater3, categories = c("no", "yes")))
    fit <- quiet(fit_raters(
      x, rater_model(errors = "free", accuracy = "rater"), method = "bayes", prior = prior,
      sampling = list(draws = 400L, chains = 1L, warmup = 100L, thin = 3L)
    ))
    drawn <- as.matrix(draws(fit)[c("sens[rater1]", "spec[rater1]", "base_rate[yes]")])
    planted <- c(sens[[1L]], spec[[1L]], rate)
    # Every tenth draw, as if they were independent.
    kept <- drawn[seq(10L, nrow(drawn), 10L), ]
    c(colMeans(kept < rep(planted, each = nrow(kept))), colMeans(drawn))
  }, double(6L))
}

test_that("planted parameters are anywhere among the draws, and posteriors have the prior's mean", {
  withr::local_seed(11)
  panels <- if (nightly_tests()) 300L else 60L
  found <- calibrate(panels)
  # Ranks 0 to 40 of 40 draws: mean 1/2, variance (41^2 - 1) / 12 / 40^2.
  z <- (rowMeans(found[1:3, ]) - 0.5) / sqrt((41^2 - 1) / 12 / 40^2 / panels)
  expect_lt(max(abs(z)), 4)
  spread <- apply(found[1:3, ], 1L, stats::var) / ((41^2 - 1) / 12 / 40^2)
  # The variance of a variance of uniform numbers is 0.8 of that of normal ones, over their number.
  expect_lt(max(abs(spread - 1)), 4 * sqrt(0.8 / panels))
  means <- found[4:6, ]
  off <- (rowMeans(means) - c(0.8, 0.8, 0.4)) / (apply(means, 1L, stats::sd) / sqrt(panels))
  expect_lt(max(abs(off)), 4)
})
