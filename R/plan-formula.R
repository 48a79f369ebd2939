# Plans without simulation: joint estimates under the K-model as normal with the variance of the
# Fisher information.

check_approximate <- function(settings) {
  options <- attr(settings$estimator[[1L]], "options")
  joint <- !is.null(options) && method_of(list(options = options))$likelihood &&
    is_k_model(options$model)
  assumed <- settings$assumed
  broken <- c(
    if (!joint) "{.arg estimator} is not {.val joint}", verbatim(design_violations(assumed)),
    if (all_same(assumed$strata$shift) && assumed$strata$shift[[1L]] != 0) "accuracy is shifted",
    if (any(settings$accuracies >= 1)) "raters are always right",
    if (!all(vapply(settings$raters, can_approximate, NA, length(settings$labels)))) {
      "there are too many raters and categories"
    }
  )
  abort_if(broken, "argument",
    "The approximation knows the K-model and its joint estimate only.", x = broken,
    i = "Leave out {.code runs = 0} to simulate.", arg = "runs")
}

# As many ways to share the ratings of a case among categories as can be enumerated.
can_approximate <- function(raters, categories) {
  choose(raters + categories - 1, categories - 1) <= 20000
}

approximate_part <- function(m, settings) {
  errors <- approximate_errors(settings, m)
  point <- function(n) {
    within <- function(errors, margin = settings$margin) approximate_within(errors, n, margin)
    lack <- function(margin) within(errors, margin) - settings$conf_level
    data.frame(
      probability = within(errors), probability_mcse = NA_real_,
      lowest = min(vapply(split(errors, errors$truth), within, 0)),
      half_width = if (lack(1e-9) > 0) 0 else stats::uniroot(lack, c(1e-9, 1), tol = 1e-9)$root,
      half_width_mcse = NA_real_, bias = NA_real_, missing = NA_real_
    )
  }
  n <- settings$cases %||%
    approximate_cases(errors, settings, settings$least_cases, settings$max_cases)
  shown <- if (is.na(n)) settings$max_cases else n
  at <- point(shown)
  reason <- if (is.na(n)) reason_unreached(at, shown, settings) else
    reason_short(at$probability, settings)
  cases <- unique(pmax(round(shown * 2^seq(-2, 2, by = 0.25)), 2))
  list(
    answer = plan_row(m, n, at, reason),
    curve = data.frame(
      raters = m, cases = cases, stack_rows(cases, point), runs = NA_integer_
    )
  )
}

approximate_cases <- function(errors, settings, least = 2, most = 1e15) {
  within <- function(n) approximate_within(errors, n, settings$margin)
  fewest(function(n) settings$conf_level - vapply(n, within, 0), least, most)
}

# Standard deviation of the estimate from a single case, and the truth: a row per system and draw of
# base rates.
approximate_errors <- function(settings, m) {
  n <- length(settings$labels)
  size <- choose(m + n - 1, n - 1) * n * length(settings$systems)
  systems <- pmin(pmax(settings$systems, 0.005), 0.995) # at 0 and 1 there is no information
  tallies <- rater_tallies(m, n, mean(settings$accuracies), settings$missing)
  rates <- approximate_rates(settings, max(4, min(20, 5e5 %/% size)))
  data.frame(
    truth = rep(settings$systems, length(rates)),
    deviation = unlist(lapply(rates, fisher_deviation, tallies = tallies, systems = systems))
  )
}

# Always the same draws of base rates, so that plans differ by their settings alone.
approximate_rates <- function(settings, draws) {
  n <- length(settings$labels)
  design <- settings$assumed
  shares <- function(x) pmax(x, 1e-6) / sum(pmax(x, 1e-6))
  if (design$law == "fixed") return(list(shares(design$base_rates)))
  law <- if (design$law == "uniform") {
    stats::runif
  } else if (design$concentration == 1) {
    stats::rexp
  } else {
    function(n) stats::rgamma(n, design$concentration)
  }
  lapply(seq_len(draws), function(i) with_run_seed(i, shares(law(n))))
}

# An estimate stays in [0, 1], so that an end which is within the margin cannot be overshot.
approximate_within <- function(errors, n, margin) {
  z <- margin * sqrt(n) / errors$deviation
  above <- ifelse(errors$truth + margin >= 1 - 1e-9, 1, stats::pnorm(z))
  below <- ifelse(errors$truth - margin <= 1e-9, 0, stats::pnorm(-z))
  mean(above - below)
}

# Root of n times the asymptotic variance of each system's accuracy when base rates and the accuracy
# of raters are estimated with it, by the inverse of the information of a case.
fisher_deviation <- function(rates, tallies, systems) {
  vapply(systems, function(system) {
    parts <- lapply(tallies, function(tally) {
      tally$share * fisher_information(tally, system, rates)
    })
    sqrt(solve(Reduce(`+`, parts))[2L, 2L])
  }, 0)
}

# What the ratings of a case can be, for each number of them and the share of cases that have so
# many. Raters are alike, so that counts by category are all that matters. Matrices have a row per
# way to share the ratings among the categories and a column per true category.
rater_tallies <- function(m, n, accuracy, missing) {
  given <- seq(0L, m)
  share <- stats::dbinom(m - given, m, missing)
  lapply(given[share > 0], function(size) {
    counts <- compositions(size, n)
    list(
      share = share[given == size], ways = exp(lgamma(size + 1) - rowSums(lgamma(counts + 1))),
      probability = accuracy^counts * ((1 - accuracy) / (n - 1))^(size - counts),
      score = counts / accuracy - (size - counts) / (1 - accuracy)
    )
  })
}

# Of a case with such ratings and an answer of the system: for the accuracies of raters and system,
# and all base rates but the last.
fisher_information <- function(tally, system, rates) {
  n <- length(rates)
  rows <- nrow(tally$score)
  out <- matrix(0, n + 1L, n + 1L)
  for (answer in seq_len(n)) {
    of_system <- rep((1 - system) / (n - 1), n)
    of_system[[answer]] <- system
    joint <- tally$probability * rep(rates * of_system, each = rows)
    probability <- rowSums(joint)
    posterior <- joint / probability
    per_rate <- posterior / rep(rates, each = rows)
    right <- posterior[, answer]
    scores <- cbind(
      rowSums(posterior * tally$score), right / system - (1 - right) / (1 - system),
      per_rate[, -n, drop = FALSE] - per_rate[, n]
    )
    out <- out + crossprod(scores, scores * (tally$ways * probability))
  }
  out
}

# All ways to share m ratings among n categories, a row each.
compositions <- function(m, n) {
  if (n == 1L) return(matrix(m, 1L, 1L))
  stack_rows(seq(0, m), function(first) cbind(first, compositions(m - first, n - 1L)))
}
