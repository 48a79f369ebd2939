# Search for the number of cases. The probability that estimates are within the required half-width
# is simulated for a few numbers of cases, and a line is fitted to its probit.

# Returns a list with an element per number of raters. Each has `answer`, the required number of
# cases (a row of the table that plan_cases() returns), and `curve`, a table with a row per
# simulated number of cases.
simulated_parts <- function(settings, seed) {
  Map(function(design, raters) {
    # Stores results, so that panels are simulated only once for each number of cases.
    panels_by_size <- new.env()
    panels_at <- function(n) {
      key <- as.character(n)
      panels_by_size[[key]] <- panels_by_size[[key]] %||% plan_panels(settings, design, n, seed)
    }
    answer <- if (is.null(settings$cases)) search_n_cases(panels_at, settings) else
      plan_row(panels_at(settings$cases), settings)
    # Simulates further numbers of cases around the answer, for plots.
    centre <- if (is.na(answer$cases)) settings$max_cases / 4 else answer$cases
    lapply(unique(clamp(round(centre * c(0.25, 0.5, 2)), 2, settings$max_cases)), panels_at)
    sizes <- sort(as.numeric(ls(panels_by_size)))
    points <- stack_rows(lapply(sizes, panels_at), summarise_panels, settings)
    list(
      answer = data.frame(raters = raters, answer),
      curve = data.frame(raters = raters, cases = sizes, points, runs = settings$runs)
    )
  }, settings$designs, settings$raters)
}

# Simulates panels of a design with `n` cases. For differences, the error of each system is replaced
# by that of the first system minus its own. Returns a list: `near`, for each panel, the share of
# systems whose estimate is within the required half-width; `error`, errors of all estimates (NA
# without an estimate), and `run`, their panels; `of_system` and `bias`, for each system, the share
# of panels with an estimate within the half-width, and the mean error.
plan_panels <- function(settings, design, n, seed) {
  study <- new_study(
    list(design = design), settings$estimator, settings$runs, as.integer(n), "same", seed
  )
  rows <- study_estimates(run_study(study, settings$threads))
  abort_argument_if(all(has_failed(rows)), "estimator",
    "{.arg estimator} fails on every simulated panel of {n} case{?s}.",
    x = escape_braces(rows$reason[[1L]]),
    parent = rows$condition[[1L]])
  rows$error <- rows$estimate - ifelse(has_expected(rows), rows$expected, rows$sample)
  if (settings$of == "difference") {
    is_first <- rows$system == rows$system[[1L]]
    first_error <- rows$error[is_first]
    first_run <- rows$run[is_first]
    rows <- rows[!is_first, ]
    rows$error <- first_error[match(rows$run, first_run)] - rows$error
  }
  error <- rows$error
  near <- !is.na(error) & abs(error) <= settings$half_width + 1e-9
  means <- function(x, by) as.vector(tapply(x, by, mean, na.rm = TRUE))
  list(
    n = n, near = means(near, rows$run), error = error, run = rows$run,
    of_system = means(near, rows$system), bias = means(error, rows$system)
  )
}

# ---- Search -------------------------------------------------------------------------------------

start_cases <- 100 # number of cases at which the search begins

# Smallest number of cases with which the probability reaches `conf_level`, as a result of
# plan_row(). `panels_at`: function that simulates panels with n cases.
search_n_cases <- function(panels_at, settings) {
  target <- settings$conf_level
  bracket <- bracket_cases(
    function(n) mean(panels_at(n)$near), start_cases, target, settings$max_cases,
    settings$least_cases
  )
  low <- bracket$low
  high <- bracket$high
  if (is.null(high)) return(unreached_row(panels_at, bracket$tried, settings))
  # Even the smallest allowed number of cases reaches the target.
  if (is.null(low)) return(plan_row(panels_at(high), settings))
  first_line <- line_through(panels_at, c(low, sqrt(low * high), high), target)
  sizes <- clamp(first_line$cases, low, high) * c(1 / 1.5, 1 / 1.2, 1, 1.2, 1.5)
  line <- line_through(panels_at, pmin(sizes, settings$max_cases), target)
  n <- clamp(ceiling(line$cases - 1e-6), settings$least_cases, settings$max_cases)
  at_n <- as.list(line$at(n))
  replace(
    plan_row(panels_at(n), settings, reason = reason_not_enough(at_n[[1L]] + 1e-6, settings)),
    c("std.error", "probability", "probability_mcse"), c(line$std.error, at_n)
  )
}

# Fits the line of probit_line() to simulations with the numbers of cases `n`.
line_through <- function(panels_at, n, target) {
  panels <- lapply(unique(pmax(round(n), 2)), panels_at)
  probit_line(
    vapply(panels, `[[`, 0, "n"), vapply(panels, `[[`, panels[[1L]]$near, "near"), target
  )
}

# Finds two numbers of cases that differ by a factor of at most about two: `low`, with which the
# probability is below `target`, and `high`, with which it is not. `low` is NULL if no number is too
# small, `high` if no number is large enough. `tried`: all numbers tried. `probability_at`: function
# of a number of cases that returns the probability. `start`, `most`, `least`: first, largest and
# smallest number to try.
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

# Probit regression of probabilities on the square root of the number of cases. `near`: for each
# panel (row) and number of cases (column), the share of estimates within the required half-width.
# Panels are independent, but the same panels are used for all numbers of cases. Standard errors are
# therefore sandwich errors over panels. Returns `cases`, the number of cases at which the line
# reaches `target`, its `std.error`, and `at`, a function of n that returns the probability on the
# line and its Monte Carlo standard error.
probit_line <- function(n, near, target) {
  x <- cbind(1, sqrt(n))
  runs <- nrow(near)
  coefficients <- suppressWarnings(stats::glm.fit(
    x, colMeans(near), rep(runs, length(n)), family = stats::quasibinomial("probit")
  ))$coefficients
  eta <- drop(x %*% coefficients)
  probability <- clamp(stats::pnorm(eta), 1e-10, 1 - 1e-10)
  weight <- stats::dnorm(eta) / (probability * (1 - probability))
  scores <- sweep(near, 2L, probability) %*% (weight * x)
  bread <- solve(crossprod(x, runs * weight * stats::dnorm(eta) * x))
  error <- function(gradient) sqrt(sum((scores %*% bread %*% gradient)^2))
  root <- (stats::qnorm(target) - coefficients[[1L]]) / coefficients[[2L]]
  list(
    cases = root^2, std.error = 2 * root * error(-c(1, root) / coefficients[[2L]]),
    at = function(n) {
      row <- c(1, sqrt(n))
      eta <- sum(row * coefficients)
      c(probability = stats::pnorm(eta), mcse = stats::dnorm(eta) * error(row))
    }
  )
}

# ---- Rows of the table that plan_cases() returns ------------------------------------------------

# Returns a row of the table, without its columns of raters and costs. `panels`: result of
# plan_panels(). `reason`: why the number of cases is not enough, or NA.
plan_row <- function(panels, settings, cases = panels$n,
                     reason = reason_not_enough(mean(panels$near), settings)) {
  point <- summarise_panels(panels, settings)
  data.frame(
    cases = as.double(cases), std.error = NA_real_, point[names(point) != "missing"],
    reason = reason
  )
}

# Reason why a number of cases is not enough; NA if it is enough.
reason_not_enough <- function(probability, settings) {
  if (probability >= settings$conf_level) return(NA_character_)
  paste("the probability is only", percent(probability))
}

# Returns the row if no number of cases is enough. `tried`: the simulated numbers of cases. The
# reason in the row is a bias if the probability does not increase between the last two numbers.
# Otherwise the reason is that larger numbers were not tried.
unreached_row <- function(panels_at, tried, settings) {
  near <- lapply(tried, function(n) panels_at(n)$near)
  probability <- vapply(near, mean, 0)
  best <- panels_at(tried[[which.max(probability)]])
  increase <- if (length(tried) > 1L) Reduce(`-`, rev(utils::tail(near, 2L)))
  is_rising <- is.null(increase) || mean(increase) > 2 * stats::sd(increase) /
    sqrt(length(increase)) + 1e-9
  plan_row(best, settings, NA, sprintf(
    "%s; the highest probability is %s with %s",
    if (is_rising) paste(number(settings$max_cases),
      "cases, the largest number tried, are too few") else
      "more cases do not help, because the remaining error is bias",
    percent(max(probability)), count_noun(best$n, "case")
  ))
}

# Computes the columns of the table that summarise simulated panels. Missing estimates count as
# errors of infinite size.
summarise_panels <- function(panels, settings) {
  absolute_error <- abs(panels$error)
  absolute_error[is.na(absolute_error)] <- Inf
  error_quantile <- function(p) stats::quantile(absolute_error, clip01(p), type = 1L, names = FALSE)
  half_width <- error_quantile(settings$conf_level)
  # Monte Carlo error of the half-width: quantiles at `conf_level` plus and minus the Monte Carlo
  # error of the share of panels.
  error <- share_error(as.vector(tapply(absolute_error <= half_width, panels$run, mean)))
  half_widths <- c(half_width, error_quantile(settings$conf_level + c(error, -error)))
  half_widths[is.infinite(half_widths)] <- NA_real_
  worst <- which.max(abs(panels$bias)) # index of the system with the largest bias
  data.frame(
    probability = mean(panels$near), probability_mcse = share_error(panels$near),
    lowest = min(panels$of_system), half_width = half_widths[[1L]],
    half_width_mcse = (half_widths[[2L]] - half_widths[[3L]]) / 2, bias = panels$bias[worst][1L],
    missing = mean(is.na(panels$error))
  )
}

# Monte Carlo standard error of a mean share over panels. If the mean is 0 or 1, one half is added
# to the numbers of estimates within and outside the half-width, so that the error is not 0.
share_error <- function(near) {
  runs <- length(near)
  share <- (0.5 + sum(near)) / (runs + 1)
  sqrt((if (mean(near) %in% 0:1) share * (1 - share) else stats::var(near)) / runs)
}

# Choice of the cases to label by plan_gold(). Cases with uncertain labels are drawn with a higher
# probability. In these functions, `spread` is the standard deviation of a label given the ratings,
# and `weight` the number of cases, both by pattern (cases with the same ratings and answers).

gold_strata <- 4L # number of strata
# Smallest spread used for sampling, as a share of the mean spread. If raters agree, the spread is
# small, but all of them may be wrong.
min_spread <- 0.3
min_in_stratum <- 2L # smallest number of gold cases drawn from a stratum

# Shrinks predicted probabilities towards 1/2, because predictions are overconfident.
shrink_to_half <- function(q) stats::plogis(0.7 * stats::qlogis(clamp(q, 0.02, 0.98)))

# Index of the stratum of each pattern, from the smallest to the largest spread. Strata have about
# the same number of cases. Patterns with equal spread are in the same stratum.
spread_strata <- function(spread, weight) {
  rounded_spread <- round(spread, 9L)
  group <- match(rounded_spread, sort(unique(rounded_spread)))
  cases <- rowsum(weight, group)[, 1L]
  middle <- (cumsum(cases) - cases / 2) / sum(cases)
  stratum <- pmin(ceiling(middle * gold_strata), gold_strata)
  match(stratum, unique(stratum))[group]
}

# The spread, but at least the share `min_spread` of its mean over cases, and never 0.
positive_spread <- function(spread, cases) {
  spread <- pmax(spread, min_spread * sum(cases * spread) / sum(cases))
  if (all(spread == 0)) spread + 1 else spread
}

# Number of gold cases to draw from each stratum, in proportion to the number of cases times the
# spread (Neyman's allocation). NULL if there are too few gold cases for strata. `gold`: total
# number. `cases` and `spread`: by stratum.
allocate_gold <- function(gold, cases, spread) {
  target_size <- cases * positive_spread(spread, cases)
  n_gold <- pmin(min_in_stratum, cases)
  if (gold < sum(n_gold)) return(NULL)
  # Adds one gold case at a time to the stratum with the largest deficit.
  for (i in seq_len(gold - sum(n_gold))) {
    largest <- which.max(ifelse(n_gold < cases, target_size / (n_gold + 0.5), -Inf))
    n_gold[[largest]] <- n_gold[[largest]] + 1
  }
  n_gold
}

# Stratum of each pattern, and probability with which its cases are drawn. About `gold` cases are
# drawn in total. `spread` is NA for patterns that need no label. `choice`: see plan_gold().
gold_probabilities <- function(gold, spread, weight, choice) {
  eligible <- !is.na(spread) & weight > 0
  patterns <- list(stratum = ifelse(eligible, 1L, NA_integer_), probability = 0 * weight)
  weight <- weight[eligible]
  spread <- spread[eligible]
  gold <- min(gold, sum(weight))
  patterns$probability[eligible] <- if (choice == "active")
    active_probability(gold, spread, weight) else gold / sum(weight)
  if (choice != "stratified") return(patterns)
  strata <- spread_strata(spread, weight)
  cases <- rowsum(weight, strata)[, 1L]
  n_gold <- allocate_gold(gold, cases, rowsum(weight * spread, strata)[, 1L] / cases)
  if (!is.null(n_gold)) {
    patterns$stratum[eligible] <- strata
    patterns$probability[eligible] <- unname(n_gold / cases)[strata]
  }
  patterns
}

# Probabilities that are proportional to the spread and at most 1. Their sum over cases is `gold`.
active_probability <- function(gold, spread, weight) {
  size <- positive_spread(spread, weight)
  is_certain <- rep(FALSE, length(size))
  repeat {
    scale <- (gold - sum(weight[is_certain])) / sum((weight * size)[!is_certain])
    newly_certain <- !is_certain & scale * size >= 1
    if (!any(newly_certain)) return(ifelse(is_certain, 1, scale * size))
    is_certain <- is_certain | newly_certain
  }
}

# Draws cases with the given probabilities by systematic sampling in random order, within strata.
# The number of cases drawn from a stratum is the sum of its probabilities, rounded up or down.
# Arguments have an element per case. Returns case positions.
draw_gold <- function(probability, stratum) {
  chosen <- lapply(split(seq_along(probability), stratum), function(at) {
    at <- at[sample.int(length(at))]
    at[diff(floor(c(0, cumsum(probability[at])) - stats::runif(1L) + 1e-9)) > 0]
  })
  sort(unlist(chosen, use.names = FALSE))
}
