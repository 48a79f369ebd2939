# Search for the number of cases: simulations at a few numbers of cases, and a line through them.

simulated_parts <- function(settings, seed) {
  lapply(seq_along(settings$raters), function(i) {
    # Panels for each number of cases are simulated once.
    known <- new.env()
    at <- function(n) {
      key <- as.character(n)
      known[[key]] <- known[[key]] %||% plan_panels(settings, i, n, seed)
    }
    answer <- if (is.null(settings$cases)) {
      search_cases(at, settings, i)
    } else {
      plan_row(at(settings$cases), settings, i)
    }
    # Further points around the answer, for the picture.
    centre <- if (is.na(answer$cases)) settings$max_cases / 4 else answer$cases
    lapply(unique(pmin(pmax(round(centre * c(0.25, 0.5, 2)), 2), settings$max_cases)), at)
    sizes <- sort(as.numeric(ls(known)))
    points <- stack_rows(lapply(sizes, at), summarise_panels, settings)
    list(answer = answer, curve = data.frame(
      raters = settings$raters[[i]], cases = sizes, points, runs = settings$runs
    ))
  })
}

# Summary of the panels with n cases. `near`: by panel, the share of systems with an estimate within
# the margin. `error`: errors of all estimates (NA without an estimate). `of_system` and `bias`: by
# system, the share within the margin and the mean error.
plan_panels <- function(settings, i, n, seed) {
  study <- new_study(
    list(design = settings$designs[[i]]), settings$estimator, settings$runs, as.integer(n),
    "same", seed
  )
  rows <- study_estimates(run_study(study, settings$threads))
  abort_argument_if(all(has_failed(rows)), "estimator",
    "{.arg estimator} fails on every simulated panel of {n} case{?s}.",
    x = verbatim(rows$reason[[1L]]),
    parent = rows$condition[[1L]])
  error <- rows$estimate - ifelse(has_expected(rows), rows$expected, rows$sample)
  near <- !is.na(error) & abs(error) <= settings$half_width + 1e-9
  means <- function(x, by) as.vector(tapply(x, by, mean, na.rm = TRUE))
  list(
    n = n, near = means(near, rows$run), error = error, run = rows$run,
    of_system = means(near, rows$system), bias = means(error, rows$system)
  )
}

# ---- Search -------------------------------------------------------------------------------------

# Number of cases at which the search begins.
start_cases <- 100

search_cases <- function(at, settings, i) {
  target <- settings$conf_level
  bracket <- bracket_cases(
    function(n) mean(at(n)$near), start_cases, target, settings$max_cases, settings$least_cases
  )
  if (is.null(bracket$high)) return(unreached(at, bracket$tried, settings, i))
  # Even the smallest allowed number of cases reaches the target.
  if (is.null(bracket$low)) return(plan_row(at(bracket$high), settings, i))
  rough <- line_through(at, c(bracket$low, sqrt(bracket$low * bracket$high), bracket$high), target)
  centre <- min(max(rough$cases, bracket$low), bracket$high)
  around <- pmin(centre * c(1 / 1.5, 1 / 1.2, 1, 1.2, 1.5), settings$max_cases)
  line <- line_through(at, around, target)
  n <- min(max(ceiling(line$cases - 1e-6), settings$least_cases), settings$max_cases)
  out <- plan_row(at(n), settings, i)
  out$std.error <- line$std.error
  out[c("probability", "probability_mcse")] <- as.list(line$at(n))
  out$reason <- reason_short(out$probability + 1e-6, settings)
  out
}

line_through <- function(at, n, target) {
  panels <- lapply(unique(pmax(round(n), 2)), at)
  probit_line(
    vapply(panels, `[[`, 0, "n"), vapply(panels, `[[`, panels[[1L]]$near, "near"), target
  )
}

# Two numbers of cases, at most a factor of about two from each other: `low` misses the target and
# `high` reaches it. `high` is NULL if no number reaches the target, `low` if all do.
bracket_cases <- function(share, start, target, most, least) {
  bracket <- new.env()
  try_at <- function(n) {
    bracket$tried <- c(bracket$tried, n)
    bracket[[if (share(n) >= target) "high" else "low"]] <- n
  }
  try_at(min(max(round(start), least), most))
  while (is.null(bracket$low) && bracket$high > least) {
    try_at(max(ceiling(bracket$high / 2), least))
  }
  if (is.null(bracket$high)) {
    # A few steps up, then the largest number. If that misses the target, the target is out of
    # reach.
    for (n in unique(round(pmin(c(start * c(2, 4, 8), most / 4, most), most)))) {
      if (n > bracket$low && is.null(bracket$high)) try_at(n)
    }
    while (isTRUE(bracket$high / bracket$low > 2 + 1 / bracket$low)) {
      try_at(round(sqrt(bracket$low * bracket$high)))
    }
  }
  as.list(bracket)
}

# Probit regression of the panels' shares (a row per panel, a column per number of cases) on the
# square root of the number of cases. Panels are independent, but the numbers of cases share them,
# so that errors are sandwich errors: roots of sums of squares over panels.
probit_line <- function(n, near, target) {
  x <- cbind(1, sqrt(n))
  runs <- nrow(near)
  b <- suppressWarnings(stats::glm.fit(
    x, colMeans(near), rep(runs, length(n)), family = stats::quasibinomial("probit")
  ))$coefficients
  eta <- drop(x %*% b)
  p <- pmin(pmax(stats::pnorm(eta), 1e-10), 1 - 1e-10)
  weight <- stats::dnorm(eta) / (p * (1 - p))
  scores <- sweep(near, 2L, p) %*% (weight * x)
  bread <- solve(crossprod(x, runs * weight * stats::dnorm(eta) * x))
  error <- function(gradient) sqrt(sum((scores %*% bread %*% gradient)^2))
  root <- (stats::qnorm(target) - b[[1L]]) / b[[2L]]
  list(
    cases = root^2, std.error = 2 * root * error(-c(1, root) / b[[2L]]),
    at = function(n) {
      row <- c(1, sqrt(n))
      eta <- sum(row * b)
      c(probability = stats::pnorm(eta), mcse = stats::dnorm(eta) * error(row))
    }
  )
}

# ---- Answers ------------------------------------------------------------------------------------

# A row of the table, without its costs: the simulated result of `panels`.
plan_row <- function(panels, settings, i, cases = panels$n,
                     reason = reason_short(mean(panels$near), settings)) {
  point <- summarise_panels(panels, settings)
  data.frame(
    raters = settings$raters[[i]], cases = as.double(cases), std.error = NA_real_,
    point[names(point) != "missing"], reason = reason
  )
}

# NA if the probability reaches the target.
reason_short <- function(probability, settings) {
  if (probability >= settings$conf_level) return(NA_character_)
  paste("the probability is only", percent(probability))
}

# No number of cases is enough: because of a bias, or because larger numbers were not tried.
unreached <- function(at, tried, settings, i) {
  near <- lapply(tried, function(n) at(n)$near)
  share <- vapply(near, mean, 0)
  best <- at(tried[[which.max(share)]])
  gain <- if (length(tried) > 1L) Reduce(`-`, rev(utils::tail(near, 2L)))
  rising <- is.null(gain) || mean(gain) > 2 * stats::sd(gain) / sqrt(length(gain)) + 1e-9
  plan_row(best, settings, i, NA, paste0(
    if (rising) paste(number(settings$max_cases), "cases, the most to try, are too few") else
      "more cases do not help, because the remaining error is bias",
    "; the best found is ", percent(max(share)), " with ", count_noun(best$n, "case")
  ))
}

# Estimates that are `NA` count as outside any margin.
summarise_panels <- function(panels, settings) {
  size <- abs(panels$error)
  size[is.na(size)] <- Inf
  width <- function(p) stats::quantile(size, min(max(p, 0), 1), type = 1L, names = FALSE)
  half <- width(settings$conf_level)
  # The Monte Carlo error of the share at this width is converted to an error of the width.
  error <- share_error(as.vector(tapply(size <= half, panels$run, mean)))
  widths <- c(half, width(settings$conf_level + error), width(settings$conf_level - error))
  widths[is.infinite(widths)] <- NA_real_
  worst <- which.max(abs(panels$bias)) # of the systems
  data.frame(
    probability = mean(panels$near), probability_mcse = share_error(panels$near),
    lowest = min(panels$of_system), half_width = widths[[1L]],
    half_width_mcse = (widths[[2L]] - widths[[3L]]) / 2,
    bias = if (length(worst) > 0L) panels$bias[[worst]] else NA_real_,
    missing = mean(is.na(panels$error))
  )
}

# Monte Carlo standard error of the mean share over panels. Shares of 0 or 1 also have an error.
share_error <- function(near) {
  runs <- length(near)
  certain <- (0.5 + sum(near)) / (runs + 1)
  sqrt((if (mean(near) %in% 0:1) certain * (1 - certain) else stats::var(near)) / runs)
}

# Choice of the cases to label. Cases with uncertain labels are drawn with a higher probability.

gold_strata <- 4L
least_spread <- 0.3 # of the mean; raters may agree and be wrong
fewest_in_stratum <- 2L

# Standard deviation of a new label, given its predicted probability. Predictions are overconfident,
# so they are first shrunk towards 1/2.
tempered <- function(q) stats::plogis(0.7 * stats::qlogis(pmin(pmax(q, 0.02), 0.98)))

# Strata with about the same number of cases, from the most to the least certain. Patterns with
# equal uncertainty stay together.
spread_strata <- function(spread, weight) {
  level <- round(spread, 9L)
  group <- match(level, sort(unique(level)))
  cases <- rowsum(weight, group)[, 1L]
  middle <- (cumsum(cases) - cases / 2) / sum(cases)
  stratum <- pmin(ceiling(middle * gold_strata), gold_strata)
  match(stratum, unique(stratum))[group]
}

# The spread, but at least a share of its mean over cases, and never 0.
positive_spread <- function(spread, cases) {
  spread <- pmax(spread, least_spread * sum(cases * spread) / sum(cases))
  if (all(spread == 0)) spread + 1 else spread
}

# Number of cases drawn from each stratum (Neyman's allocation), in proportion to cases and spread.
# NULL if there are too few cases for strata.
allocate_gold <- function(gold, cases, spread) {
  share <- cases * positive_spread(spread, cases)
  number <- pmin(fewest_in_stratum, cases)
  if (gold < sum(number)) return(NULL)
  for (i in seq_len(gold - sum(number))) { # each case to the stratum with the largest deficit
    deficit <- ifelse(number < cases, share / (number + 0.5), -Inf)
    largest <- which.max(deficit)
    number[[largest]] <- number[[largest]] + 1
  }
  number
}

# Stratum and probability of each pattern, with about `gold` cases in total. `spread` is NA for
# patterns that need no label; `weight` is the number of cases of a pattern.
gold_probabilities <- function(gold, spread, weight, choice) {
  eligible <- !is.na(spread) & weight > 0
  out <- list(stratum = ifelse(eligible, 1L, NA_integer_), probability = 0 * weight)
  weight <- weight[eligible]
  spread <- spread[eligible]
  gold <- min(gold, sum(weight))
  out$probability[eligible] <- if (choice == "active") active_probability(gold, spread, weight) else
    gold / sum(weight)
  if (choice != "stratified") return(out)
  strata <- spread_strata(spread, weight)
  cases <- rowsum(weight, strata)[, 1L]
  number <- allocate_gold(gold, cases, rowsum(weight * spread, strata)[, 1L] / cases)
  if (!is.null(number)) {
    out$stratum[eligible] <- strata
    out$probability[eligible] <- unname(number / cases)[strata]
  }
  out
}

# Probabilities proportional to spread, and at most 1.
active_probability <- function(gold, spread, weight) {
  size <- positive_spread(spread, weight)
  sure <- rep(FALSE, length(size))
  repeat {
    scale <- (gold - sum(weight[sure])) / sum((weight * size)[!sure])
    more <- !sure & scale * size >= 1
    if (!any(more)) return(ifelse(sure, 1, scale * size))
    sure <- sure | more
  }
}

# Draws cases by systematic sampling: in each stratum, the number of cases is the sum of the
# probabilities, rounded; cases are in random order. Arguments have an entry per case.
draw_gold <- function(probability, stratum) {
  places <- split(seq_along(probability), stratum)
  chosen <- lapply(places, function(at) {
    at <- at[sample.int(length(at))]
    sum <- c(0, cumsum(probability[at]))
    start <- stats::runif(1L)
    at[diff(floor(sum - start + 1e-9)) > 0]
  })
  sort(unlist(chosen, use.names = FALSE))
}
