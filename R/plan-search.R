# Searches for the smallest number of cases with which estimates are within the required half-width
# of the truth, with probability `conf_level`. Simulations give the probability for a few numbers of
# cases. A line is then fitted to the probit of this probability. A panel is one simulated data set.

# Returns a list with an element per number of raters. Each element is a list of two tables:
# * answer: the required number of cases, one row of the table that plan_cases() returns
# * curve: a row per simulated number of cases
simulate_plans <- function(settings, seed) {
  Map(function(design, raters) {
    # Stores panels, so that they are simulated only once for each number of cases.
    panels_by_size <- new.env()
    panels_at <- function(n) {
      size_name <- as.character(n)
      panels_by_size[[size_name]] <-
        panels_by_size[[size_name]] %||% simulate_panels(settings, design, n, seed)
    }
    result_row <- if (is.null(settings$cases)) search_n_cases(panels_at, settings) else
      plan_row(panels_at(settings$cases), settings)
    # For plots, also simulates panels with smaller and larger numbers of cases than the result.
    n_cases_at_centre <- if (is.na(result_row$cases)) settings$max_cases / 4 else result_row$cases
    lapply(
      unique(clamp(round(n_cases_at_centre * c(0.25, 0.5, 2)), 2, settings$max_cases)), panels_at
    )
    simulated_sizes <- sort(as.numeric(ls(panels_by_size)))
    curve_rows <- stack_rows(lapply(simulated_sizes, panels_at), summarise_panels, settings)
    list(
      answer = data.frame(raters = raters, result_row),
      curve = data.frame(raters = raters, cases = simulated_sizes, curve_rows, runs = settings$runs)
    )
  }, settings$designs, settings$raters)
}

# Simulates panels of a design with `n` cases, and computes the errors of estimated accuracies (or
# of estimated differences to the first system). Returns a list:
# * n: number of cases
# * near: for each panel, share of systems whose error is at most the required half-width
# * error: errors of all systems in all panels, NA without an estimate
# * run: number of the panel of each element of `error`
# * of_system: for each system, share of panels in which its error is at most the half-width
# * bias: mean error of each system
simulate_panels <- function(settings, design, n, seed) {
  study <- new_study(
    list(design = design), settings$estimator, settings$runs, as.integer(n), "same", seed
  )
  estimate_rows <- study_estimates(run_study(study, settings$threads))
  abort_argument_if(all(has_failed(estimate_rows)), "estimator",
    "{.arg estimator} fails on every simulated panel of {n} case{?s}.",
    x = escape_braces(estimate_rows$reason[[1L]]))
  estimate_rows$error <- estimate_rows$estimate -
    ifelse(knows_expected_accuracy(estimate_rows), estimate_rows$expected, estimate_rows$sample)
  if (settings$of == "difference") {
    is_first_system <- estimate_rows$system == estimate_rows$system[[1L]]
    first_system_rows <- estimate_rows[is_first_system, ]
    estimate_rows <- estimate_rows[!is_first_system, ]
    first_system_error <- first_system_rows$error[match(estimate_rows$run, first_system_rows$run)]
    estimate_rows$error <- first_system_error - estimate_rows$error
  }
  is_near <- !is.na(estimate_rows$error) & abs(estimate_rows$error) <= settings$half_width + 1e-9
  mean_by <- function(x, by) as.vector(tapply(x, estimate_rows[[by]], mean, na.rm = TRUE))
  list(
    n = n, near = mean_by(is_near, "run"), error = estimate_rows$error, run = estimate_rows$run,
    of_system = mean_by(is_near, "system"), bias = mean_by(estimate_rows$error, "system")
  )
}

# ---- Search -------------------------------------------------------------------------------------

n_cases_at_start <- 100 # number of cases at which the search begins

# Searches for the smallest number of cases with which the probability reaches `conf_level`. Returns
# a row of the table in the form of plan_row(). `panels_at`: function of n that returns panels with
# n cases, see simulate_panels().
search_n_cases <- function(panels_at, settings) {
  target_probability <- settings$conf_level
  min_cases <- settings$least_cases
  max_cases <- settings$max_cases
  bracket <- bracket_cases(
    function(n) mean(panels_at(n)$near), n_cases_at_start, target_probability, max_cases, min_cases
  )
  n_too_few <- bracket$low
  n_enough <- bracket$high
  if (is.null(n_enough)) return(unreached_row(panels_at, bracket$tried, settings))
  # If no number is too small, the smallest allowed number of cases is the result.
  if (is.null(n_too_few)) return(plan_row(panels_at(n_enough), settings))
  rough_line <- fit_line_to_panels(
    panels_at, c(n_too_few, sqrt(n_too_few * n_enough), n_enough),
    target_probability
  )
  tried_numbers <-
    clamp(rough_line$cases, n_too_few, n_enough) * c(1 / 1.5, 1 / 1.2, 1, 1.2, 1.5)
  fitted_line <- fit_line_to_panels(panels_at, pmin(tried_numbers, max_cases), target_probability)
  n_cases <- clamp(ceiling(fitted_line$cases - 1e-6), min_cases, max_cases)
  line_at_n <- as.list(fitted_line$at(n_cases))
  replace(
    plan_row(panels_at(n_cases), settings,
      reason = reason_not_enough(line_at_n[[1L]] + 1e-6, settings)),
    c("std.error", "probability", "probability_mcse"), c(fitted_line$std.error, line_at_n)
  )
}

# Simulates panels with the numbers of cases `n`, and fits a line with probit_line().
fit_line_to_panels <- function(panels_at, n, target_probability) {
  panels <- lapply(unique(pmax(round(n), 2)), panels_at)
  probit_line(
    map_dbl(panels, `[[`, "n"), vapply(panels, `[[`, panels[[1L]]$near, "near"), target_probability
  )
}

# Finds two numbers of cases, one too small and one large enough, that differ by a factor of at most
# about two. `probability_at`: function of a number of cases that returns the probability.
# `first_number`, `max_cases`, `min_cases`: first, largest and smallest number to try. Returns a
# list:
# * low: a number with which the probability is below the target; NULL if no number is too small
# * high: a number with which the probability reaches the target; NULL if no number is large enough
# * tried: all numbers that were tried
bracket_cases <- function(probability_at, first_number, target_probability, max_cases, min_cases) {
  bracket <- new.env()
  try_at <- function(n) {
    bracket$tried <- c(bracket$tried, n)
    bracket[[if (probability_at(n) >= target_probability) "high" else "low"]] <- n
  }
  try_at(clamp(round(first_number), min_cases, max_cases))
  while (is.null(bracket$low) && bracket$high > min_cases) {
    try_at(max(ceiling(bracket$high / 2), min_cases))
  }
  if (is.null(bracket$high)) {
    # Tries a few larger numbers, then the largest. If the probability is too low even with the
    # largest number, no number is large enough.
    larger_numbers <- c(first_number * c(2, 4, 8), max_cases / 4, max_cases)
    for (n in unique(round(pmin(larger_numbers, max_cases)))) {
      if (n > bracket$low && is.null(bracket$high)) try_at(n)
    }
    while (isTRUE(bracket$high / bracket$low > 2 + 1 / bracket$low)) {
      try_at(round(sqrt(bracket$low * bracket$high)))
    }
  }
  as.list(bracket)
}

# Fits a probit regression of the probability that an estimate is within the required half-width.
# The regressor is the square root of the number of cases.
# * n: numbers of cases
# * near: share of estimates within the half-width (panels x numbers of cases)
#
# Returns a list:
# * cases, std.error: number of cases at which the line reaches `target_probability`, and the
#   standard error of this number
# * at: function of n that returns the probability on the line and its Monte Carlo standard error
probit_line <- function(n, near, target_probability) {
  regressors <- cbind(1, sqrt(n))
  n_runs <- nrow(near)
  coefficients <- suppressWarnings(stats::glm.fit(
    regressors, colMeans(near), rep(n_runs, length(n)), family = stats::quasibinomial("probit")
  ))$coefficients
  linear_predictor <- drop(regressors %*% coefficients)
  probability <- clamp(pnorm(linear_predictor), 1e-10, 1 - 1e-10)
  weight <- dnorm(linear_predictor) / bernoulli_variance(probability)
  # Panels with different numbers of cases are simulated with the same seed, so the elements of a
  # row of `near` are dependent. Sandwich estimates of standard errors allow for this dependence.
  panel_scores <- sweep(near, 2L, probability) %*% (weight * regressors)
  inverse_information <-
    solve(crossprod(regressors, n_runs * weight * dnorm(linear_predictor) * regressors))
  delta_method_error <-
    function(gradient) sqrt(sum((panel_scores %*% inverse_information %*% gradient)^2))
  sqrt_cases <- (qnorm(target_probability) - coefficients[[1L]]) / coefficients[[2L]]
  list(
    cases = sqrt_cases^2,
    std.error = 2 * sqrt_cases * delta_method_error(-c(1, sqrt_cases) / coefficients[[2L]]),
    at = function(n) {
      regressors_at_n <- c(1, sqrt(n))
      linear_predictor <- sum(regressors_at_n * coefficients)
      c(
        probability = pnorm(linear_predictor),
        mcse = dnorm(linear_predictor) * delta_method_error(regressors_at_n)
      )
    }
  )
}

# ---- Rows of the table that plan_cases() returns ------------------------------------------------

# Returns the row of the table for a number of cases, without the columns of raters and costs.
# `panels`: result of simulate_panels(). `reason`: why the number of cases is not enough, or NA.
plan_row <- function(panels, settings, cases = panels$n,
                     reason = reason_not_enough(mean(panels$near), settings)) {
  summary_row <- summarise_panels(panels, settings)
  data.frame(
    cases = as.double(cases), std.error = NA_real_, summary_row[names(summary_row) != "missing"],
    reason = reason
  )
}

# Returns the reason why a number of cases is not enough. NA if it is enough. `probability`:
# probability that an estimate is within the required half-width.
reason_not_enough <- function(probability, settings) {
  if (probability >= settings$conf_level) NA_character_ else
    paste("the probability is only", percent(probability))
}

# Returns the row of the table if no number of cases is enough. `tried`: the simulated numbers of
# cases. The column `reason` contains an explanation. If the probability does not increase between
# the last two numbers, the explanation is bias of the estimates. If the probability increases, the
# explanation is that the largest number tried is too small.
unreached_row <- function(panels_at, tried, settings) {
  near_shares <- lapply(tried, function(n) panels_at(n)$near)
  probability <- map_dbl(near_shares, mean)
  best_panels <- panels_at(tried[[which.max(probability)]])
  probability_increases <- if (length(tried) > 1L) Reduce(`-`, rev(tail(near_shares, 2L)))
  is_rising <- is.null(probability_increases) || mean(probability_increases) >
    2 * sd(probability_increases) / sqrt(length(probability_increases)) + 1e-9
  plan_row(best_panels, settings, NA, sprintf(
    "%s; the highest probability is %s with %s",
    if (is_rising) paste(number(settings$max_cases),
      "cases, the largest number tried, are too few") else
      "more cases do not help, because the remaining error is bias",
    percent(max(probability)), count_noun(best_panels$n, "case")
  ))
}

# Computes the columns of the table that summarise simulated panels. Missing estimates count as
# infinite errors. `panels`: result of simulate_panels().
summarise_panels <- function(panels, settings) {
  absolute_error <- replace_na(abs(panels$error), Inf)
  error_quantile <- function(level) {
    quantile(absolute_error, clip01(level), type = 1L, names = FALSE)
  }
  half_width <- error_quantile(settings$conf_level)
  # Monte Carlo standard error of the share of estimates whose error is at most `half_width`.
  share_std_error <-
    monte_carlo_error(as.vector(tapply(absolute_error <= half_width, panels$run, mean)))
  # The half-width, and two quantiles from which its standard error is computed.
  half_widths <-
    c(half_width, error_quantile(settings$conf_level + c(share_std_error, -share_std_error)))
  half_widths[is.infinite(half_widths)] <- NA_real_
  worst_system <- which.max(abs(panels$bias)) # index of the system with the largest bias
  data.frame(
    probability = mean(panels$near), probability_mcse = monte_carlo_error(panels$near),
    lowest = min(panels$of_system), half_width = half_widths[[1L]],
    half_width_mcse = (half_widths[[2L]] - half_widths[[3L]]) / 2,
    bias = panels$bias[worst_system][1L], missing = mean(is.na(panels$error))
  )
}

# Returns the Monte Carlo standard error of a mean share over panels. `near`: share of estimates
# within the half-width, for each panel. If the mean is 0 or 1, one half is added to the numbers of
# estimates within and outside the half-width, so that the error is not 0.
monte_carlo_error <- function(near) {
  n_runs <- length(near)
  mean_share <- mean(near)
  variance <- if (mean_share %in% 0:1) bernoulli_variance(add_half_cases(mean_share, n_runs)) else
    var(near)
  sqrt(variance / n_runs)
}

# ---- Cases to label by plan_gold() --------------------------------------------------------------

# Cases with uncertain labels are drawn with a higher probability. In the functions below, a pattern
# is a group of cases with the same ratings and answers. Arguments with an element per pattern are:
# * spread: standard deviation of the contribution of one case to the quantity to estimate, given
#   the ratings of the case. It is large if the label of the case is uncertain
# * weight: number of cases

n_gold_strata <- 4L # number of strata
# Lower limit of `spread` (uncertainty of a label), as a share of its mean over cases. `spread` is
# small if all raters agree. All of them may be wrong, so some of these cases are labelled, too.
min_relative_spread <- 0.3
min_in_stratum <- 2L # smallest number of gold cases drawn from a stratum

# Shrinks predicted probabilities towards 1/2, because predictions are overconfident.
shrink_to_half <- function(probability) {
  plogis(0.7 * qlogis(clamp(probability, 0.02, 0.98)))
}

# Returns the number of the stratum of each pattern. Strata are numbered from the smallest to the
# largest spread, and have about the same number of cases. Patterns with equal spread are in the
# same stratum.
spread_strata <- function(spread, weight) {
  rounded_spread <- round(spread, 9L)
  spread_group <- match(rounded_spread, sort(unique(rounded_spread)))
  group_sizes <- rowsum(weight, spread_group)[, 1L]
  cumulative_share <- (cumsum(group_sizes) - group_sizes / 2) / sum(group_sizes)
  stratum <- pmin(ceiling(cumulative_share * n_gold_strata), n_gold_strata)
  match(stratum, unique(stratum))[spread_group]
}

# Increases small elements of `spread` to the share `min_relative_spread` of their mean over cases.
# Returns 1 for each pattern if all elements are 0. `cases`: number of cases of each element.
positive_spread <- function(spread, cases) {
  spread <- pmax(spread, min_relative_spread * sum(cases * spread) / sum(cases))
  if (all(spread == 0)) spread + 1 else spread
}

# Returns the number of gold cases to draw from each stratum. It is proportional to the number of
# cases times the spread (Neyman's allocation). NULL if there are too few gold cases for strata.
# `total_gold`: total number of gold cases. `stratum_cases`, `spread`: number of cases and mean
# spread of each stratum.
allocate_gold <- function(total_gold, stratum_sizes, spread) {
  target_size <- stratum_sizes * positive_spread(spread, stratum_sizes)
  n_gold <- pmin(min_in_stratum, stratum_sizes)
  if (total_gold < sum(n_gold)) return(NULL)
  # Adds one gold case at a time, to the stratum with the largest ratio of target size to present
  # number of gold cases. Full strata are left out.
  for (i in seq_len(total_gold - sum(n_gold))) {
    next_stratum <- which.max(ifelse(n_gold < stratum_sizes, target_size / (n_gold + 0.5), -Inf))
    n_gold[[next_stratum]] <- n_gold[[next_stratum]] + 1
  }
  n_gold
}

# Returns a list of two vectors with an element per pattern: `stratum`, the number of its stratum,
# and `probability`, with which each of its cases is drawn. `n_expected`: expected number of drawn
# cases. `spread`: NA for patterns that need no label. `choice`: see plan_gold().
gold_probabilities <- function(n_expected, spread, weight, choice) {
  is_eligible <- !is.na(spread) & weight > 0
  sampling_design <- list(stratum = ifelse(is_eligible, 1L, NA_integer_), probability = 0 * weight)
  weight <- weight[is_eligible]
  spread <- spread[is_eligible]
  n_expected <- min(n_expected, sum(weight))
  sampling_design$probability[is_eligible] <- if (choice == "active")
    active_probability(n_expected, spread, weight) else n_expected / sum(weight)
  if (choice != "stratified") return(sampling_design)
  strata <- spread_strata(spread, weight)
  stratum_sizes <- rowsum(weight, strata)[, 1L]
  n_gold <- allocate_gold(
    n_expected, stratum_sizes, rowsum(weight * spread, strata)[, 1L] / stratum_sizes
  )
  if (!is.null(n_gold)) {
    sampling_design$stratum[is_eligible] <- strata
    sampling_design$probability[is_eligible] <- unname(n_gold / stratum_sizes)[strata]
  }
  sampling_design
}

# Returns the probability with which a case of each pattern is drawn. Probabilities are proportional
# to the spread and at most 1. Their sum over cases is `n_expected`.
active_probability <- function(n_expected, spread, weight) {
  raised_spread <- positive_spread(spread, weight)
  is_always_drawn <- rep(FALSE, length(raised_spread))
  repeat {
    probability_scale <-
      (n_expected - sum(weight[is_always_drawn])) / sum((weight * raised_spread)[!is_always_drawn])
    is_newly_always_drawn <- !is_always_drawn & probability_scale * raised_spread >= 1
    if (!any(is_newly_always_drawn))
      return(ifelse(is_always_drawn, 1, probability_scale * raised_spread))
    is_always_drawn <- is_always_drawn | is_newly_always_drawn
  }
}

# Draws cases by systematic sampling in random order, within strata. Returns the positions of the
# drawn cases in `probability`. The number of cases drawn from a stratum is the sum of its
# probabilities, rounded up or down. `probability`, `stratum`: an element per case.
draw_gold <- function(probability, stratum) {
  drawn_positions <- lapply(split(seq_along(probability), stratum), function(positions) {
    positions <- positions[sample.int(length(positions))]
    positions[diff(floor(c(0, cumsum(probability[positions])) - runif(1L) + 1e-9)) > 0]
  })
  sort(unlist(drawn_positions, use.names = FALSE))
}
