# Posteriors that sums over all allocations of cases give, or runs of millions of sweeps of another
# sampler (`own` is the error of these).

# A fifth of the draws has errors little more than twice as large.
many_draws <- function() if (nightly_tests()) 1e6 else 2e5

# A long run, a column per parameter.
long_run <- function(x, model, prior, n = many_draws(), thin = 1L, counts = NULL) {
  known <- resolve_known(patterns_for(model, x), NULL, counts)
  task <- sampler_task(known$x, model, known$known, resolve_prior(prior, known$x, model))
  named_draws(run_task(known$x, task, n, thin), task$terms)
}

# What the core gives: all its columns, chain after chain.
run_task <- function(x, task, n, thin = 1L, joined = FALSE) {
  options <- list(
    chains = 4L, kept = as.integer(n / 4), warmup = 1000L, threads = 1L, thin = thin, seed = 1:2
  )
  found <- run_sampler(x, task, options, joined = joined)
  found$draws
}

# The largest distance of draws from what is expected, in Monte Carlo errors: a row per parameter,
# whose columns are "mean", "sd" or the probability of a quantile. Errors are those of means of
# batches; of a quantile, of the share of draws below it. `own`: of means, of quantiles.
errors_of_draws <- function(draws, expected, own = c(0, 0)) {
  away <- function(values, to, slack) {
    means <- colMeans(matrix(values, ncol = 200L))
    abs(mean(means) - to) / sqrt(stats::var(means) / 200 + slack^2)
  }
  each <- vapply(rownames(expected), function(term) {
    of <- draws[, term]
    vapply(colnames(expected), function(what) {
      to <- expected[term, what]
      if (is.na(to)) {
        return(0)
      }
      if (what == "mean") {
        return(away(of, to, own[[1L]]))
      }
      if (what == "sd") {
        return(away((of - mean(of))^2, to^2, 2 * to * own[[1L]]))
      }
      slack <- mean(abs(of - to) < own[[2L]]) / 2
      away(of <= to, as.numeric(what), slack)
    }, 0)
  }, numeric(ncol(expected)))
  max(each)
}

rows_of <- function(columns, ...) {
  out <- rbind(...)
  colnames(out) <- columns
  out
}

test_that("two tests without a gold standard: Joseph, Gyorkos and Coupal", {
  skip_unless_extended()
  columns <- c("mean", "sd", "0.5", "0.025", "0.975")
  found <- long_run(two_tests(), dawid_skene(), joseph(order = "none"))
  expect_lt(errors_of_draws(found, rows_of(columns,
    "base_rate[+]" = c(0.7589928, 0.1013053, 0.7733041, 0.5182481, 0.9245369),
    "sens[stool]" = c(0.3103328, 0.0523115, 0.3051561, 0.2231006, 0.4296694),
    "spec[stool]" = c(0.9570525, 0.0213383, 0.9603947, 0.9066735, 0.9885597),
    "sens[serology]" = c(0.8838959, 0.0418934, 0.8880277, 0.7913413, 0.9535726),
    "spec[serology]" = c(0.6878223, 0.1606901, 0.6972971, 0.3714345, 0.9554063)
  )), 4)
  one <- function(name, n) {
    x <- ratings(
      data.frame(test = c("+", "-"), n = n), raters = test, weights = n, categories = c("-", "+")
    )
    prior <- joseph(order = "none")
    prior$raters <- stats::setNames(prior$raters[name], "test")
    long_run(x, dawid_skene(), prior)
  }
  columns <- c("mean", "0.5", "0.025", "0.975")
  expect_lt(errors_of_draws(one("stool", c(40, 122)), rows_of(columns,
    "base_rate[+]" = c(0.7411064, 0.7583424, 0.3959105, 0.9877099),
    "sens[test]" = c(0.3130207, 0.3015463, 0.2094697, 0.4777433),
    "spec[test]" = c(0.9470369, 0.9513371, 0.8836909, 0.9860771)
  )), 4)
  expect_lt(errors_of_draws(one("serology", c(125, 37)), rows_of(columns,
    "base_rate[+]" = c(0.7926422, 0.8447475, 0.2246044, 0.9909456),
    "sens[test]" = c(0.8294452, 0.8287465, 0.7328193, 0.9261703),
    "spec[test]" = c(0.6054615, 0.6188094, 0.2272352, 0.9457873)
  )), 4)
})

test_that("one judge with a calibration sample", {
  skip_unless_extended()
  counts <- as.table(rbind("0" = c("0" = 90, "1" = 10), "1" = c(5, 45)))
  judged <- function(positive) {
    x <- ratings(
      data.frame(judge = c(0, 1), n = c(200 - positive, positive)), raters = judge, weights = n
    )
    prior <- rater_prior(others = "flat", order = "none")
    long_run(x, dawid_skene(), prior, counts = list(judge = counts))
  }
  many <- rows_of(c("mean", "0.5", "0.05", "0.95", "0.025", "0.975"),
    "base_rate[1]" = c(0.2492170, 0.2497019, 0.1594047, 0.3373543, 0.1407240, 0.3548058),
    "sens[judge]" = c(0.8820130, rep(NA, 5)), "spec[judge]" = c(0.8909228, rep(NA, 5))
  )
  expect_lt(errors_of_draws(judged(60), many), 4)
  few <- rows_of(c("mean", "0.5", "0.05", "0.95"),
    "base_rate[1]" = c(0.0150521, 0.0114004, 0.0009021, 0.0416670),
    "spec[judge]" = c(0.9355756, NA, NA, NA)
  )
  expect_lt(errors_of_draws(judged(10), few), 4)
})

# Draws x truths, how probable each truth of a case is with the parameters of a draw: `said` by
# judges who are `right` (a column each) with such a probability, and else say any other category.
truth_given <- function(rates, said, right) {
  joint <- vapply(seq_len(ncol(rates)), function(k) {
    each <- vapply(seq_along(said), function(j) {
      if (said[[j]] == k) right[, j] else (1 - right[, j]) / (ncol(rates) - 1)
    }, right[, 1L])
    rates[, k] * apply(each, 1L, prod)
  }, rates[, 1L])
  joint / rowSums(joint)
}

# Draws x numbers of successes: of trials that have the probabilities in a row.
count_given <- function(p) {
  out <- cbind(rep(1, nrow(p)), matrix(0, nrow(p), ncol(p)))
  for (i in seq_len(ncol(p))) out <- out * (1 - p[, i]) + cbind(0, out[, -ncol(out)]) * p[, i]
  out
}

test_that("Lehner's ten cases, with raters alone and with the system joined", {
  skip_unless_extended()
  beta <- list(right = list(3, 2))
  x <- lehner_ratings()
  fit <- list(x = x, model = k_model(), known = nothing_known, prior = resolve_prior(
    rater_prior(rater1 = beta, others = beta, order = "none"), x, k_model()
  ))
  joined <- make_joint_task(fit, 1L)
  alone <- run_task(x, sampler_task(x, fit$model, fit$known, fit$prior), many_draws())
  both <- run_task(joined$x, joined$task, many_draws(), joined = TRUE)
  columns <- c("mean", "0.5", "0.05", "0.95")
  only <- function(mean) c(mean, NA, NA, NA)
  # The matrix of the system follows base rates and the matrix of all raters.
  with_system <- function(found) cbind(named_draws(found, joined$task$terms), system = found[, 21L])
  expect_lt(errors_of_draws(with_system(alone), rows_of(columns,
    right = c(0.4565409, 0.4729506, 0.2142246, 0.6409319),
    system = c(0.4776185, 0.4786211, 0.2127138, 0.7389664),
    "base_rate[A]" = only(0.2900957), "base_rate[B]" = only(0.2437796),
    "base_rate[C]" = only(0.2920157), "base_rate[D]" = only(0.1741089)
  )), 4)
  expect_lt(errors_of_draws(with_system(both), rows_of(columns,
    right = c(0.5178166, 0.5213041, 0.3679888, 0.6567639),
    system = c(0.6785612, 0.6912223, 0.413592, 0.9001177),
    "base_rate[A]" = only(0.2698823), "base_rate[B]" = only(0.2786224),
    "base_rate[C]" = only(0.3305974), "base_rate[D]" = only(0.1208979)
  )), 4)
  # Every 100th draw: numbers of right answers of the system, and truths of the first case.
  codes <- cbind(pattern_codes(x), x$patterns$answer)[x$index, ]
  some <- seq(100L, many_draws(), 100L)
  seen <- function(found, judges) {
    all <- found[some, ]
    right <- cbind(matrix(all[, 5L], length(some), 4L), all[, 21L])
    each <- lapply(1:10, function(i) {
      truth_given(all[, 1:4], codes[i, judges], right[, judges, drop = FALSE])
    })
    answered <- vapply(1:10, function(i) each[[i]][, codes[i, 5L]], right[, 1L])
    cbind(count_given(answered), each[[1L]])
  }
  off <- function(draws, expected) {
    colnames(draws) <- seq_along(expected)
    errors_of_draws(draws, cbind(mean = stats::setNames(expected, colnames(draws))), c(5e-6, 0))
  }
  expect_lt(off(seen(alone, 1:4), c(
    0.01, 0.04181, 0.09364, 0.16921, 0.24519, 0.24752, 0.14499, 0.04216, 0.00524, 0.00025, 0,
    0.095357, 0.085095, 0.712747, 0.1068
  )), 4)
  expect_lt(off(seen(both, 1:5), c(
    0.00028, 0.00095, 0.00255, 0.00769, 0.02507, 0.07594, 0.17793, 0.27936, 0.26043, 0.13518,
    0.03461, 0.201067, 0.030806, 0.732953, 0.035174
  )), 4)
})

test_that("tests for tuberculosis in two populations: Hui and Walter", {
  skip_unless_extended()
  data <- data.frame(
    mantoux = c("+", "+", "-", "-"), tine = c("+", "-"), population = rep(c("1", "2"), each = 4),
    n = c(14, 4, 9, 528, 887, 31, 37, 367)
  )
  x <- ratings(data, raters = mantoux:tine, weights = n, covariates = population,
    categories = c("-", "+"))
  model <- free_model(base_rates = ~population)
  expected <- rows_of(c("mean", "0.5", "0.025", "0.975"),
    "base_rate[+,1]" = c(0.02868, 0.02807, 0.01608, 0.04472),
    "base_rate[+,2]" = c(0.71540, 0.71551, 0.68980, 0.74027),
    "sens[mantoux]" = c(0.96582, 0.96606, 0.95124, 0.97895),
    "spec[mantoux]" = c(0.99151, 0.99213, 0.98160, 0.99796),
    "sens[tine]" = c(0.96851, 0.96881, 0.95518, 0.98016),
    "spec[tine]" = c(0.98237, 0.98297, 0.96921, 0.99213)
  )
  prior <- rater_prior(others = list(sens = list(2, 1), spec = list(2, 1)), order = "none")
  expect_lt(errors_of_draws(long_run(x, model, prior), expected, c(2e-5, 1e-4)), 4)
})

test_that("liver fluke in three herds", {
  skip_unless_extended()
  data <- data.frame(
    elisa = c("-", "+", "-", "+"), copro = c("-", "-", "+", "+"),
    herd = rep(c("h1", "h2", "h3"), each = 4), n = c(67, 2, 6, 1, 22, 0, 1, 0, 32, 78, 1, 7)
  )
  x <- ratings(data, raters = elisa:copro, weights = n, covariates = herd, categories = c("-", "+"))
  prior <- rater_prior(
    elisa = list(sens = c(53.581, 2.626), spec = c(54.706, 5.042)),
    copro = list(sens = c(4.842, 3.561), spec = c(14.844, 4.461)), order = "none",
    base_rates = list(h1 = list(3.901, 11.037), h2 = list(1.148, 80.948), h3 = list(10.071, 11.229))
  )
  draws <- long_run(x, free_model(base_rates = ~herd), prior)
  expect_lt(errors_of_draws(draws, rows_of(c("mean", "0.5", "0.025", "0.975"),
    "base_rate[+,h1]" = c(0.06595, 0.06242, 0.0211, 0.1307),
    "base_rate[+,h2]" = c(0.01103, 0.00810, 0.0004, 0.0380),
    "base_rate[+,h3]" = c(0.68933, 0.68996, 0.6015, 0.7735),
    "sens[elisa]" = c(0.96221, 0.96626, 0.9087, 0.9931),
    "spec[elisa]" = c(0.95850, 0.96071, 0.9189, 0.9857),
    "sens[copro]" = c(0.13054, 0.12793, 0.0701, 0.2059),
    "spec[copro]" = c(0.91422, 0.91613, 0.8634, 0.9543)
  ), c(1e-4, 1.5e-4)), 4)
})

test_that("the latent class is what the tests share: two antibody tests outvote PCR", {
  skip_unless_extended()
  data <- data.frame(
    pcr = c("+", "+", "+", "+", "-", "-"), igg = c("+", "+", "-", "-", "-", "-"),
    igm = c("+", "-", "+", "-", "+", "-"), n = c(28, 1, 3, 36, 1, 41)
  )
  x <- ratings(data, raters = pcr:igm, weights = n, categories = c("-", "+"))
  antibody <- list(sens = c(4.841614, 3.561076), spec = c(1, 1))
  prior <- rater_prior(
    pcr = list(sens = c(3.0476, 1.5119), spec = c(1, 1)), igg = antibody, igm = antibody,
    order = "each"
  )
  draws <- long_run(x, dawid_skene(), prior)
  columns <- c("mean", "0.5", "0.025", "0.975")
  expect_lt(errors_of_draws(draws, rows_of(columns,
    "base_rate[+]" = c(0.2967, 0.2954, 0.2121, 0.3891),
    "sens[pcr]" = c(0.9519, 0.9607, 0.859, 0.996), "spec[pcr]" = c(0.5359, 0.5361, 0.425, 0.645),
    "sens[igg]" = c(0.8298, 0.8356, 0.687, 0.939), "spec[igg]" = c(0.9855, 0.9897, 0.948, 0.9996),
    "sens[igm]" = c(0.8730, 0.8802, 0.745, 0.962), "spec[igm]" = c(0.9702, 0.9750, 0.915, 0.998)
  ), c(3e-4, 8e-4)), 4)
})

test_that("caries in 3859 teeth, by five dentists", {
  skip_unless_extended()
  folder <- file.path(Sys.getenv("FALLIBLE_DATA"), "real", "nogold_caries")
  skip_if(Sys.getenv("FALLIBLE_DATA") == "" || !dir.exists(folder), "FALLIBLE_DATA is not set")
  x <- quiet(read_ratings(folder))
  beta <- list(sens = c(2, 1), spec = c(2, 1))
  prior <- rater_prior(others = beta, order = "none")
  draws <- long_run(x, dawid_skene(), prior, 4e5)
  colnames(draws)[[2L]] <- "prevalence"
  mean <- c(
    0.19839, 0.40699, 0.70814, 0.59368, 0.48785, 0.91309, 0.99364, 0.89752, 0.98597, 0.96852,
    0.69460
  )
  expected <- cbind(
    mean, sd = c(NA, 0.0216, 0.0211, 0.0239, 0.0213, 0.0131, rep(NA, 5)),
    "0.025" = c(0.1804, rep(NA, 10)), "0.975" = c(0.2169, rep(NA, 10))
  )
  rownames(expected) <- c(
    "prevalence", paste0("sens[", x$raters, "]"), paste0("spec[", x$raters, "]")
  )
  expect_lt(errors_of_draws(draws, expected, c(1e-4, 1.5e-4)), 4)
  set.seed(8)
  fit <- quiet(fit_raters(x, dawid_skene(), method = "bayes", prior = prior))
  checks <- check_fit(fit, NULL)
  waic <- tidy(checks, "criteria")
  if (!requireNamespace("loo", quietly = TRUE)) waic <- waic[1L, ] # the second is by loo
  expect_lt(max(abs(waic$elpd + 7422.165)), 0.5)
  expect_lt(max(abs(waic$parameters - 11.35)), 0.5)
  expect_lt(abs(waic$std.error[[1]] - 95.05), 0.1)
  # Pairs 12 13 14 15 23 24 25 34 35 45; dentists 1 and 3 agree too often. Errors .015 and .025.
  expect_lt(max(abs(tidy(checks, "pairs")$p.value -
    c(0.28, 0.007, 0.05, 0.38, 0.20, 0.31, 0.11, 0.70, 0.37, 0.37))), 0.1)
  expect_identical(tidy(checks, "patterns")$p.value, 0)
})

test_that("clinicians of whom one rated three times: Dawid and Skene", {
  skip_unless_nightly()
  times <- stats::ave(seq_len(nrow(dawid1979)), dawid1979$case, dawid1979$rater, FUN = seq_along)
  table <- data.frame(
    case = dawid1979$case, rater = paste(dawid1979$rater, times), rating = dawid1979$rating
  )
  x <- ratings(table, case = case, rater = rater, rating = rating)
  # Ratings of a clinician share a matrix: columns are base rates, five matrices, nu and mu.
  run <- function(prior, n) {
    task <- sampler_task(x, dawid_skene(), nothing_known, resolve_prior(prior, x, dawid_skene()))
    of <- match(substr(x$raters, 1, 2), unique(substr(x$raters, 1, 2)))
    task$prior$rows <- task$prior$rows[!duplicated(of)]
    task$prior$matrix_of <- of
    run_task(x, task, n)
  }
  cell <- function(clinician, truth, rating) 4 + 16 * (clinician - 1) + 4 * (truth - 1) + rating
  diagonal <- cell(1, 1:4, 1:4)
  off <- function(draws, at, expected, own) {
    at <- draws[, at, drop = FALSE]
    colnames(at) <- seq_along(expected[, 1L])
    rownames(expected) <- colnames(at)
    errors_of_draws(at, expected, own)
  }
  alone <- run(rater_prior(others = 1 + diag(1, 4), order = "none"), 2e5)
  expect_lt(off(alone, 1:4, cbind(
    mean = c(0.3971, 0.4346, 0.1197, 0.0486), sd = c(0.0703, 0.0718, 0.0489, 0.0336)
  ), c(3e-4, 0)), 4)
  others <- c(cell(2, 1, 1), cell(4, 2, 2), cell(5, 3, 3), cell(5, 4, 4))
  expect_lt(off(alone, c(diagonal, others), cbind(
    mean = c(0.8439, 0.8503, 0.7835, 0.5861, 0.7251, 0.6919, 0.4978, 0.4809)
  ), c(3e-4, 0)), 4)
  centred <- run(rater_prior(others = "partial", order = "mean"), 4e4)
  expect_lt(off(centred, c(1:4, diagonal, 88 + diagonal - 4), cbind(mean = c(
    0.3913, 0.4301, 0.1307, 0.0480, 0.8845, 0.8461, 0.7819, 0.8033, 0.815, 0.703, 0.631, 0.721
  )), c(1e-3, 0)), 4)
  expect_lt(off(centred, 85:88, cbind(
    mean = c(5.45, 17.4, 10.3, 6.5), "0.5" = c(3.59, 13.96, 7.28, 3.98)
  ), c(0.05, 0.05)), 4)
})

test_that("two tests that depend on each other", {
  skip_unless_nightly()
  run <- function(...) {
    long_run(two_tests(), free_model(...), joseph(order = "none"), 1e5, 4L)
  }
  columns <- c("mean", "0.5", "0.025", "0.975")
  # Errors of quantiles are some 2.7 times those of means.
  own <- c(7e-4, 2.7 * 7e-4)
  pairs <- run(dependence = "pairs", pairs = list(c("stool", "serology")))
  expect_lt(errors_of_draws(pairs, rows_of(columns,
    "base_rate[+]" = c(0.8232, 0.8409, 0.5400, 0.9883),
    "sens[stool]" = c(0.2853, 0.2797, 0.2049, 0.4002),
    "spec[stool]" = c(0.9493, 0.9532, 0.8900, 0.9865),
    "sens[serology]" = c(0.8382, 0.8380, 0.7432, 0.9312),
    "spec[serology]" = c(0.6461, 0.6579, 0.2844, 0.9493),
    "pair[stool,serology,-]" = c(0.503, NA, NA, NA), "pair[stool,serology,+]" = c(0.610, NA, NA, NA)
  ), own), 4)
  easy <- run(dependence = "easy")
  expect_lt(errors_of_draws(easy, rows_of(columns,
    "base_rate[+]" = c(0.8279, 0.8429, 0.5586, 0.9873), "sens[stool]" = c(0.2889, NA, NA, NA),
    "spec[stool]" = c(0.9505, NA, NA, NA), "sens[serology]" = c(0.8447, NA, NA, NA),
    "spec[serology]" = c(0.6905, NA, NA, NA), "easy[-]" = c(0.351, NA, NA, NA),
    "easy[+]" = c(0.184, NA, NA, NA)
  ), own), 4)
})
