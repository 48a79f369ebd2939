# Searches for the number of cases. For a few numbers of cases, simulations give the probability
# that an estimate is within the required half-width. A line is then fitted to the probit of this
# probability. A panel is one simulated data set.

# Returns a list with an element per number of raters. Each element is a list of two tables:
# * answer: the required number of cases, one row of the table that plan_cases() returns
# * curve: a row per simulated number of cases
simulate_plans <- function(settings, seed) {
  Map(function(design, raters) {
    # Stores panels, so that they are simulated only once for each number of cases.
    panels_by_size <- new.env()
    panels_at <- function(n) {
      key <- as.character(n)
      panels_by_size[[key]] <- panels_by_size[[key]] %||% simulate_panels(settings, design, n, seed)
    }
    answer <- if (is.null(settings$cases)) search_n_cases(panels_at, settings) else
      plan_row(panels_at(settings$cases), settings)
    # Simulates further numbers of cases around the answer, for plots.
    centre_cases <- if (is.na(answer$cases)) settings$max_cases / 4 else answer$cases
    lapply(unique(clamp(round(centre_cases * c(0.25, 0.5, 2)), 2, settings$max_cases)), panels_at)
    sizes <- sort(as.numeric(ls(panels_by_size)))
    points <- stack_rows(lapply(sizes, panels_at), summarise_panels, settings)
    list(
      answer = data.frame(raters = raters, answer),
      curve = data.frame(raters = raters, cases = sizes, points, runs = settings$runs)
    )
  }, settings$designs, settings$raters)
}

# Simulates panels of a design with `n` cases, and estimates the accuracies. For differences, the
# error of each other system is subtracted from the error of the first system. Returns a list:
# * n: number of cases
# * near: share of systems whose estimate is within the required half-width, for each panel
# * error: error of each estimate in each panel, NA without an estimate
# * run: number of the panel of each error
# * of_system: share of panels with an estimate within the half-width, for each system
# * bias: mean error of each system
simulate_panels <- function(settings, design, n, seed) {
  study <- new_study(
    list(design = design), settings$estimator, settings$runs, as.integer(n), "same", seed
  )
  rows <- study_estimates(run_study(study, settings$threads))
  abort_argument_if(all(has_failed(rows)), "estimator",
    "{.arg estimator} fails on every simulated panel of {n} case{?s}.",
    x = escape_braces(rows$reason[[1L]]))
  rows$error <- rows$estimate - ifelse(has_expected(rows), rows$expected, rows$sample)
  if (settings$of == "difference") {
    is_first <- rows$system == rows$system[[1L]]
    first <- rows[is_first, ]
    rows <- rows[!is_first, ]
    rows$error <- first$error[match(rows$run, first$run)] - rows$error
  }
  is_near <- !is.na(rows$error) & abs(rows$error) <= settings$half_width + 1e-9
  mean_by <- function(x, by) as.vector(tapply(x, rows[[by]], mean, na.rm = TRUE))
  list(
    n = n, near = mean_by(is_near, "run"), error = rows$error, run = rows$run,
    of_system = mean_by(is_near, "system"), bias = mean_by(rows$error, "system")
  )
}

# ---- Search -------------------------------------------------------------------------------------

start_cases <- 100 # number of cases at which the search begins

# Returns the smallest number of cases with which the probability reaches `conf_level`, in the form
# of plan_row(). `panels_at`: function of n that returns panels with n cases, see simulate_panels().
search_n_cases <- function(panels_at, settings) {
  target <- settings$conf_level
  least <- settings$least_cases
  most <- settings$max_cases
  bracket <- bracket_cases(function(n) mean(panels_at(n)$near), start_cases, target, most, least)
  low <- bracket$low
  high <- bracket$high
  if (is.null(high)) return(unreached_row(panels_at, bracket$tried, settings))
  # Even the smallest allowed number of cases reaches the target.
  if (is.null(low)) return(plan_row(panels_at(high), settings))
  rough_line <- fit_line_to_panels(panels_at, c(low, sqrt(low * high), high), target)
  sizes <- clamp(rough_line$cases, low, high) * c(1 / 1.5, 1 / 1.2, 1, 1.2, 1.5)
  line <- fit_line_to_panels(panels_at, pmin(sizes, most), target)
  n <- clamp(ceiling(line$cases - 1e-6), least, most)
  line_at_n <- as.list(line$at(n))
  replace(
    plan_row(panels_at(n), settings, reason = reason_not_enough(line_at_n[[1L]] + 1e-6, settings)),
    c("std.error", "probability", "probability_mcse"), c(line$std.error, line_at_n)
  )
}

# Simulates panels with the numbers of cases `n`, and fits a line with probit_line().
fit_line_to_panels <- function(panels_at, n, target) {
  panels <- lapply(unique(pmax(round(n), 2)), panels_at)
  probit_line(
    map_dbl(panels, `[[`, "n"), vapply(panels, `[[`, panels[[1L]]$near, "near"), target
  )
}

# Finds two numbers of cases that differ by a factor of at most about two. `probability_at`:
# function of a number of cases that returns the probability. `start`, `most`, `least`: first,
# largest and smallest number to try. Returns a list:
# * low: a number with which the probability is below `target`; NULL if no number is too small
# * high: a number with which the probability is at least `target`; NULL if there is none
# * tried: all numbers tried
bracket_cases <- function(probability_at, start, target, most, least) {
  bracket <- new.env()
  try_at <- function(n) {
    bracket$tried <- c(bracket$tried, n)
    bracket[[if (probability_at(n) >= target) "high" else "low"]] <- n
  }
  try_at(clamp(round(start), least, most))
  while (is.null(bracket$low) && bracket$high > least) {
    try_at(max(ceiling(bracket$high / 2), least))
  }
  if (is.null(bracket$high)) {
    # Tries a few larger numbers, then the largest. If the probability is too low even with the
    # largest number, no number is large enough.
    for (n in unique(round(pmin(c(start * c(2, 4, 8), most / 4, most), most)))) {
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
# A row of `near` is simulated with the same seed for all numbers of cases. Standard errors are
# therefore sandwich errors over panels. Returns a list:
# * cases, std.error: number of cases at which the line reaches `target`, and its standard error
# * at: function of n that returns the probability on the line and its Monte Carlo standard error
probit_line <- function(n, near, target) {
  x <- cbind(1, sqrt(n))
  runs <- nrow(near)
  coefficients <- suppressWarnings(stats::glm.fit(
    x, colMeans(near), rep(runs, length(n)), family = stats::quasibinomial("probit")
  ))$coefficients
  eta <- drop(x %*% coefficients)
  probability <- clamp(stats::pnorm(eta), 1e-10, 1 - 1e-10)
  weight <- stats::dnorm(eta) / bernoulli_variance(probability)
  scores <- sweep(near, 2L, probability) %*% (weight * x)
  bread <- solve(crossprod(x, runs * weight * stats::dnorm(eta) * x))
  error <- function(gradient) sqrt(sum((scores %*% bread %*% gradient)^2))
  root_cases <- (stats::qnorm(target) - coefficients[[1L]]) / coefficients[[2L]]
  list(
    cases = root_cases^2,
    std.error = 2 * root_cases * error(-c(1, root_cases) / coefficients[[2L]]),
    at = function(n) {
      row <- c(1, sqrt(n))
      eta <- sum(row * coefficients)
      c(probability = stats::pnorm(eta), mcse = stats::dnorm(eta) * error(row))
    }
  )
}

# ---- Rows of the table that plan_cases() returns ------------------------------------------------

# Returns a row of the table, without the columns of raters and costs. `panels`: result of
# simulate_panels(). `reason`: why the number of cases is not enough, or NA.
plan_row <- function(panels, settings, cases = panels$n,
                     reason = reason_not_enough(mean(panels$near), settings)) {
  point <- summarise_panels(panels, settings)
  data.frame(
    cases = as.double(cases), std.error = NA_real_, point[names(point) != "missing"],
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
# cases. If the probability does not increase between the last two numbers, the reason in the row is
# bias. Otherwise the reason is that larger numbers were not tried.
unreached_row <- function(panels_at, tried, settings) {
  near <- lapply(tried, function(n) panels_at(n)$near)
  probability <- map_dbl(near, mean)
  best_panels <- panels_at(tried[[which.max(probability)]])
  increases <- if (length(tried) > 1L) Reduce(`-`, rev(tail(near, 2L)))
  is_rising <- is.null(increases) || mean(increases) > 2 * stats::sd(increases) /
    sqrt(length(increases)) + 1e-9
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
  error_quantile <- function(p) stats::quantile(absolute_error, clip01(p), type = 1L, names = FALSE)
  half_width <- error_quantile(settings$conf_level)
  # Monte Carlo error of the half-width: quantiles at `conf_level` plus and minus the Monte Carlo
  # error of the share of panels.
  error <- monte_carlo_error(as.vector(tapply(absolute_error <= half_width, panels$run, mean)))
  half_widths <- c(half_width, error_quantile(settings$conf_level + c(error, -error)))
  half_widths[is.infinite(half_widths)] <- NA_real_
  worst <- which.max(abs(panels$bias)) # index of the system with the largest bias
  data.frame(
    probability = mean(panels$near), probability_mcse = monte_carlo_error(panels$near),
    lowest = min(panels$of_system), half_width = half_widths[[1L]],
    half_width_mcse = (half_widths[[2L]] - half_widths[[3L]]) / 2, bias = panels$bias[worst][1L],
    missing = mean(is.na(panels$error))
  )
}

# Returns the Monte Carlo standard error of a mean share over panels. `near`: share of estimates
# within the half-width, for each panel. If the mean is 0 or 1, one half is added to the numbers of
# estimates within and outside the half-width, so that the error is not 0.
monte_carlo_error <- function(near) {
  runs <- length(near)
  share <- mean(near)
  variance <- if (share %in% 0:1) bernoulli_variance(add_half_cases(share, runs)) else
    stats::var(near)
  sqrt(variance / runs)
}

# ---- Cases to label by plan_gold() --------------------------------------------------------------

# Cases with uncertain labels are drawn with a higher probability. In the functions below, a pattern
# is a group of cases with the same ratings and answers. Arguments with an element per pattern are:
# * spread: standard deviation of a label, given the ratings
# * weight: number of cases

gold_strata <- 4L # number of strata
# Smallest spread used for sampling, as a share of the mean spread. If raters agree, the spread is
# small, but all of them may be wrong.
min_spread <- 0.3
min_in_stratum <- 2L # smallest number of gold cases drawn from a stratum

# Shrinks predicted probabilities towards 1/2, because predictions are overconfident.
shrink_to_half <- function(q) stats::plogis(0.7 * stats::qlogis(clamp(q, 0.02, 0.98)))

# Returns the number of the stratum of each pattern, from the smallest to the largest spread. Strata
# have about the same number of cases. Patterns with equal spread are in the same stratum.
spread_strata <- function(spread, weight) {
  rounded_spread <- round(spread, 9L)
  group <- match(rounded_spread, sort(unique(rounded_spread)))
  cases <- rowsum(weight, group)[, 1L]
  middle <- (cumsum(cases) - cases / 2) / sum(cases)
  stratum <- pmin(ceiling(middle * gold_strata), gold_strata)
  match(stratum, unique(stratum))[group]
}

# Returns the spread, increased to at least the share `min_spread` of its mean over cases. If all
# spreads are 0, returns 1.
positive_spread <- function(spread, cases) {
  spread <- pmax(spread, min_spread * sum(cases * spread) / sum(cases))
  if (all(spread == 0)) spread + 1 else spread
}

# Returns the number of gold cases to draw from each stratum. It is proportional to the number of
# cases times the spread (Neyman's allocation). NULL if there are too few gold cases for strata.
# `gold`: total number of gold cases. `cases`, `spread`: number of cases and mean spread of each
# stratum.
allocate_gold <- function(gold, cases, spread) {
  target_size <- cases * positive_spread(spread, cases)
  n_gold <- pmin(min_in_stratum, cases)
  if (gold < sum(n_gold)) return(NULL)
  # Adds one gold case at a time to the stratum with the largest deficit.
  for (i in seq_len(gold - sum(n_gold))) {
    largest_deficit <- which.max(ifelse(n_gold < cases, target_size / (n_gold + 0.5), -Inf))
    n_gold[[largest_deficit]] <- n_gold[[largest_deficit]] + 1
  }
  n_gold
}

# Returns a list of the stratum of each pattern and the probability with which its cases are drawn.
# `n_expected`: expected number of drawn cases. `spread`: NA for patterns that need no label.
# `choice`: see plan_gold().
gold_probabilities <- function(n_expected, spread, weight, choice) {
  is_eligible <- !is.na(spread) & weight > 0
  draws <- list(stratum = ifelse(is_eligible, 1L, NA_integer_), probability = 0 * weight)
  weight <- weight[is_eligible]
  spread <- spread[is_eligible]
  n_expected <- min(n_expected, sum(weight))
  draws$probability[is_eligible] <- if (choice == "active")
    active_probability(n_expected, spread, weight) else n_expected / sum(weight)
  if (choice != "stratified") return(draws)
  strata <- spread_strata(spread, weight)
  cases <- rowsum(weight, strata)[, 1L]
  n_gold <- allocate_gold(n_expected, cases, rowsum(weight * spread, strata)[, 1L] / cases)
  if (!is.null(n_gold)) {
    draws$stratum[is_eligible] <- strata
    draws$probability[is_eligible] <- unname(n_gold / cases)[strata]
  }
  draws
}

# Returns probabilities that are proportional to the spread and at most 1. Their sum over cases is
# `n_expected`.
active_probability <- function(n_expected, spread, weight) {
  size <- positive_spread(spread, weight)
  is_certain <- rep(FALSE, length(size))
  repeat {
    scale <- (n_expected - sum(weight[is_certain])) / sum((weight * size)[!is_certain])
    newly_certain <- !is_certain & scale * size >= 1
    if (!any(newly_certain)) return(ifelse(is_certain, 1, scale * size))
    is_certain <- is_certain | newly_certain
  }
}

# Draws cases by systematic sampling in random order, within strata. Returns the positions of the
# drawn cases. The number of cases drawn from a stratum is the sum of its probabilities, rounded up
# or down. `probability`, `stratum`: an element per case.
draw_gold <- function(probability, stratum) {
  chosen_cases <- lapply(split(seq_along(probability), stratum), function(at) {
    at <- at[sample.int(length(at))]
    at[diff(floor(c(0, cumsum(probability[at])) - stats::runif(1L) + 1e-9)) > 0]
  })
  sort(unlist(chosen_cases, use.names = FALSE))
}
