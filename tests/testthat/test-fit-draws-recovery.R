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

# ---- Worlds from the prior ----------------------------------------------------------------------

# Each draws parameters from the prior and a panel from these: x, numbers (of parameters, by term)
# and known truths. All raters are r1, r2, ...

draw_row <- function(a) {
  out <- stats::rgamma(length(a), a)
  out / sum(out)
}

# Cases x raters, ratings (numbers) of cases with such truths by raters with these matrices.
rated_by <- function(matrices, truth, lacking = 0) {
  out <- vapply(matrices, function(m) {
    below <- t(apply(m, 1L, cumsum))[truth, -ncol(m), drop = FALSE]
    1L + as.integer(rowSums(stats::runif(length(truth)) > below))
  }, truth)
  replace(out, stats::runif(length(out)) < lacking, NA)
}

drawn_panel <- function(said, categories, numbers, ...) {
  table <- as.data.frame(matrix(categories[said], nrow(said)))
  names(table) <- paste0("r", seq_len(ncol(said)))
  table <- cbind(table, ...)[rowSums(!is.na(said)) > 0, ]
  covariates <- setdiff(names(table), paste0("r", seq_len(ncol(said))))
  list(
    x = ratings(table, raters = tidyselect::starts_with("r"), categories = categories,
      covariates = tidyselect::all_of(covariates)),
    numbers = numbers
  )
}

# Two populations, three tests, a fifth of the ratings missing; order "each".
tests_of_two_sites <- function() {
  repeat {
    se <- stats::rbeta(3, 8, 3)
    sp <- stats::rbeta(3, 8, 3)
    if (all(se + sp > 1)) break
  }
  rate <- stats::runif(2)
  site <- factor(rep(1:2, each = 40))
  truth <- 1L + (stats::runif(80) < rate[site])
  matrices <- Map(function(a, b) rbind(c(b, 1 - b), c(1 - a, a)), se, sp)
  names <- paste0(rep(c("base_rate[+,", "sens[r", "spec[r"), c(2, 3, 3)), c(1:2, 1:3, 1:3), "]")
  drawn_panel(rated_by(matrices, truth, 0.2), c("-", "+"),
    stats::setNames(c(rate, se, sp), names), site = site)
}

# Three categories, three raters with an accuracy each, five truths of fifty known.
coins_with_gold <- function() {
  right <- stats::rbeta(3, 6, 3)
  rates <- draw_row(c(1, 1, 1))
  truth <- sample.int(3, 50, TRUE, rates)
  matrices <- lapply(right, function(p) matrix((1 - p) / 2, 3, 3) + diag((3 * p - 1) / 2, 3))
  names <- c(paste0("base_rate[", letters[1:3], "]"), paste0("right[r", 1:3, "]"))
  numbers <- stats::setNames(c(rates, right), names)
  out <- drawn_panel(rated_by(matrices, truth), letters[1:3], numbers)
  out$known <- stats::setNames(letters[truth[1:5]], out$x$cases[1:5])
  out
}

# Three categories and matrices around a centre, of which raters see a half of the cases.
around_centre <- function(n, in_order = TRUE, raters = 8) {
  repeat {
    mu <- t(vapply(1:3, function(k) draw_row(replace(c(1, 1, 1), k, 3)), numeric(3)))
    if (!in_order || all(apply(mu, 2L, which.max) == 1:3)) break
  }
  nu <- exp(stats::rnorm(3, log(4), 1))
  matrices <- lapply(seq_len(raters), function(j) {
    t(vapply(1:3, function(k) draw_row(nu[[k]] * mu[k, ]), numeric(3)))
  })
  rates <- draw_row(c(1, 1, 1))
  said <- rated_by(matrices, sample.int(3, n, TRUE, rates))
  for (i in seq_len(n)) said[i, sample.int(raters, raters / 2)] <- NA
  cells <- paste0(letters[rep(1:3, each = 3)], ",", letters[1:3], "]")
  names <- c(
    paste0("base_rate[", letters[1:3], "]"), paste0("nu[", letters[1:3], "]"), paste0("mu[", cells),
    paste0("p[r1,", cells), paste0("p[r2,", cells)
  )
  drawn_panel(said, letters[1:3], stats::setNames(
    c(rates, nu, t(mu), t(matrices[[1]]), t(matrices[[2]])), names
  ))
}

# The smallest p-value of even ranks, by Bonferroni; the share of p-values below .05; and that of
# 90% intervals that cover.
calibrated <- function(...) {
  ranks <- simulated_ranks(...)
  p <- rank_p_values(ranks)
  list(p = min(p) * length(p), few = mean(p < 0.05), covered = mean(ranks >= 5 & ranks < 95))
}

test_that("ranks of tests at two sites are even, and intervals cover", {
  skip_unless_nightly()
  prior <- rater_prior(others = list(sens = c(8, 3), spec = c(8, 3)), order = "each")
  found <- calibrated(220, tests_of_two_sites, free_model(base_rates = ~site), prior, thin = 8L)
  expect_gt(found$p, 0.01)
  # 8 numbers in each of 220 worlds: a standard error of .008.
  expect_gt(found$covered, 0.88)
  expect_lt(found$covered, 0.92)
})

test_that("ranks of accuracies are even where some truths are known, and intervals cover", {
  skip_unless_nightly("one world of them every time, all every night")
  prior <- rater_prior(others = list(right = c(6, 3)), order = "none")
  found <- calibrated(300, coins_with_gold, rater_model("rater", "uniform"), prior, thin = 8L)
  expect_gt(found$p, 0.01)
  expect_gt(found$covered, 0.88)
  expect_lt(found$covered, 0.92)
})

test_that("ranks around a centre are even with an order", {
  skip_unless_nightly("one world of them every time, all every night")
  prior <- rater_prior(others = "partial", order = "mean")
  found <- calibrated(80, function() around_centre(150), dawid_skene(), prior, thin = 8L)
  expect_gt(found$p, 0.01)
  expect_lt(found$few, 0.15)
})

test_that("without an order categories change names, and ranks are not even", {
  skip_unless_nightly()
  prior <- rater_prior(others = "partial", order = "none")
  draw <- function() around_centre(60, in_order = FALSE)
  found <- calibrated(130, draw, dawid_skene(), prior)
  expect_lt(found$p, 0.01)
  expect_gt(found$few, 0.1)
  expect_lt(found$covered, 0.87)
})
