# The search for the number of cases: simulations at a few numbers, and a line through them.

simulated_parts <- function(settings, seed) {
  total <- settings$runs * length(settings$raters) * if (is.null(settings$cases)) 12L else 4L
  bar <- progress_bar("Panels", total) # as many as it usually takes
  on.exit(bar$close())
  memory <- new.env(parent = emptyenv())
  memory$done <- 0
  lapply(seq_along(settings$raters), function(i) {
    # The panels of so many cases; they are simulated once.
    memory$known <- list()
    at <- function(n) {
      key <- as.character(n)
      if (is.null(memory$known[[key]])) {
        tick <- function(more) bar$tick(min(memory$done + more, total))
        memory$known[[key]] <- plan_panels(settings, i, n, seed, tick)
        memory$done <- memory$done + settings$runs
      }
      memory$known[[key]]
    }
    answer <- if (is.null(settings$cases)) {
      search_cases(at, settings, i)
    } else {
      answer_at(at(settings$cases), settings$cases, settings, i)
    }
    # And around the answer, for the picture.
    centre <- if (is.na(answer$cases)) settings$max_cases / 4 else answer$cases
    for (n in unique(pmin(pmax(round(centre * c(0.25, 0.5, 2)), 2), settings$max_cases))) at(n)
    list(answer = answer, curve = plan_curve(memory$known, settings, i))
  })
}

# What is kept of the panels of so many cases: for each, the share of its systems with an estimate
# within the margin; the errors of all estimates (NA where there is none); and the share within and
# the mean error of each system.
plan_panels <- function(settings, i, n, seed, tick) {
  study <- new_study(
    list(design = settings$designs[[i]]), settings$estimator, settings$runs, as.integer(n),
    "same", seed
  )
  rows <- tidy(run_study(study, settings$threads, NULL, tick))
  failed <- !vapply(rows$condition, is.null, NA)
  abort_argument_if(all(failed), "estimator",
    "{.arg estimator} fails on every panel of {n} case{?s}.", x = verbatim(rows$reason[[1L]]),
    parent = rows$condition[[1L]])
  error <- rows$estimate - ifelse(has_expected(rows), rows$expected, rows$sample)
  near <- !is.na(error) & abs(error) <= settings$margin + 1e-9
  list(
    n = n, near = as.vector(tapply(near, rows$run, mean)), error = error, run = rows$run,
    of_system = as.vector(tapply(near, rows$system, mean)),
    bias = as.vector(tapply(error, rows$system, mean, na.rm = TRUE))
  )
}

# ---- Search -------------------------------------------------------------------------------------

search_cases <- function(at, settings, i) {
  target <- settings$conf_level
  share <- function(n) mean(at(n)$near)
  bracket <- bracket_cases(
    share, start_cases(settings, i), target, settings$max_cases, settings$least_cases
  )
  if (is.null(bracket$high)) return(unreached(at, bracket$tried, settings, i))
  if (is.null(bracket$low)) { # so few that there is nothing below
    return(answer_at(at(bracket$high), bracket$high, settings, i))
  }
  rough <- line_through(at, c(bracket$low, sqrt(bracket$low * bracket$high), bracket$high), target)
  centre <- min(max(rough$cases, bracket$low), bracket$high)
  around <- pmin(centre * c(1 / 1.5, 1 / 1.2, 1, 1.2, 1.5), settings$max_cases)
  line <- line_through(at, around, target)
  n <- min(max(ceiling(line$cases - 1e-6), settings$least_cases), settings$max_cases)
  out <- answer_at(at(n), n, settings, i)
  fitted <- line$at(n)
  out$std.error <- line$std.error
  out$probability <- fitted[["probability"]]
  out$probability_mcse <- fitted[["mcse"]]
  out$reason <- reason_short(out$probability + 1e-6, settings)
  out
}

line_through <- function(at, n, target) {
  panels <- lapply(unique(pmax(round(n), 2)), at)
  probit_line(
    vapply(panels, `[[`, 0, "n"), vapply(panels, `[[`, panels[[1L]]$near, "near"), target
  )
}

# Neighbouring numbers of cases (at most a factor of two apart) of which the lower misses the target
# and the higher reaches it; `high` is NULL if none does, `low` if all do.
bracket_cases <- function(share, start, target, most, least) {
  n <- min(max(round(start), least), most)
  tried <- n
  low <- high <- NULL
  if (share(n) >= target) {
    high <- n
    while (high > least && is.null(low)) {
      n <- max(ceiling(high / 2), least)
      if (share(n) >= target) high <- n else low <- n
    }
  } else {
    low <- n
    # A few steps up, then the end: what that cannot reach is out of reach.
    for (n in unique(pmin(c(start * c(2, 4, 8), most / 4, most), most))) {
      n <- round(n)
      if (n <= low || !is.null(high)) next
      tried <- c(tried, n)
      if (share(n) >= target) high <- n else low <- n
    }
    while (!is.null(high) && high / low > 2 + 1 / low) {
      n <- round(sqrt(low * high))
      if (share(n) >= target) high <- n else low <- n
    }
  }
  list(low = low, high = high, tried = tried)
}

# A number of cases to begin with: the approximation's, as if the K-properties held.
start_cases <- function(settings, i) {
  accuracy <- mean(settings$accuracies)
  if (is.na(accuracy) || accuracy >= 1 ||
        !can_approximate(settings$raters[[i]], length(settings$labels))) {
    return(min(100, settings$max_cases))
  }
  n <- approximate_cases(approximate_errors(settings, settings$raters[[i]]), settings)
  min(max(n, 10), settings$max_cases / 4)
}

# Probit regression of the panels' shares (a row per panel, a column per number of cases) on the
# square root of the number of cases. Panels are independent, numbers of cases are not: the
# covariance is a sandwich over panels.
probit_line <- function(n, near, target) {
  x <- cbind(1, sqrt(n))
  runs <- nrow(near)
  fit <- suppressWarnings(stats::glm.fit(
    x, colMeans(near), rep(runs, length(n)), family = stats::quasibinomial("probit")
  ))
  b <- fit$coefficients
  eta <- drop(x %*% b)
  p <- pmin(pmax(stats::pnorm(eta), 1e-10), 1 - 1e-10)
  weight <- stats::dnorm(eta) / (p * (1 - p))
  scores <- sweep(near, 2L, p) %*% (weight * x)
  bread <- solve(crossprod(x, runs * weight * stats::dnorm(eta) * x))
  covariance <- bread %*% crossprod(scores) %*% bread
  root <- (stats::qnorm(target) - b[[1L]]) / b[[2L]]
  gradient <- -c(1, root) / b[[2L]]
  list(
    cases = root^2,
    std.error = 2 * root * sqrt(drop(gradient %*% covariance %*% gradient)),
    at = function(n) {
      row <- c(1, sqrt(n))
      eta <- sum(row * b)
      c(
        probability = stats::pnorm(eta),
        mcse = stats::dnorm(eta) * sqrt(drop(row %*% covariance %*% row))
      )
    }
  )
}

# The least whole number in a range from which on `lack()` is never above 0; NA if there is none.
fewest <- function(lack, least, most) {
  repeat {
    n <- unique(round(exp(seq(log(least), log(most), length.out = 300L))))
    last <- max(0L, which(lack(n) > 0))
    if (last == 0L) return(as.double(least))
    if (last == length(n)) return(NA_real_)
    least <- n[[last]]
    most <- n[[last + 1L]]
    if (most - least <= 1) return(most)
  }
}

# ---- Answers ------------------------------------------------------------------------------------

# As it was simulated, at one number of cases.
answer_at <- function(panels, n, settings, i) {
  point <- summarise_panels(panels, settings)
  plan_row(settings$raters[[i]], n, point, reason_short(point$probability, settings))
}

# NA where the probability is as high as it should be.
reason_short <- function(probability, settings) {
  if (probability >= settings$conf_level) return(NA_character_)
  paste("the probability is only", percent(probability))
}

# No number of cases was enough: because there is a bias, or because larger numbers were not tried.
unreached <- function(at, tried, settings, i) {
  share <- vapply(tried, function(n) mean(at(n)$near), 0)
  best <- tried[[which.max(share)]]
  point <- summarise_panels(at(best), settings)
  last <- at(tried[[length(tried)]])
  gain <- if (length(tried) > 1L) last$near - at(tried[[length(tried) - 1L]])$near
  rising <- is.null(gain) || mean(gain) > 2 * stats::sd(gain) / sqrt(length(gain)) + 1e-9
  plan_row(settings$raters[[i]], NA_real_, point, reason_unreached(point, best, settings, rising))
}

reason_unreached <- function(point, n, settings, rising = TRUE) {
  paste0(
    if (rising) {
      paste0(number(settings$max_cases), " cases, the most to try, are too few")
    } else {
      "more cases do not help, because the remaining error is bias"
    },
    "; the best found is ", percent(point$probability), " with ", count_noun(n, "case")
  )
}

# Estimates that are `NA` are further off than any margin.
summarise_panels <- function(panels, settings) {
  level <- settings$conf_level
  size <- abs(panels$error)
  size[is.na(size)] <- Inf
  width <- function(p) stats::quantile(size, min(max(p, 0), 1), type = 1L, names = FALSE)
  # The error of a share at that width, carried over to the width.
  error <- share_error(as.vector(tapply(size <= width(level), panels$run, mean)))
  widths <- c(width(level), width(level + error), width(level - error))
  widths[is.infinite(widths)] <- NA_real_
  data.frame(
    probability = mean(panels$near), probability_mcse = share_error(panels$near),
    lowest = min(panels$of_system), half_width = widths[[1L]],
    half_width_mcse = (widths[[2L]] - widths[[3L]]) / 2,
    bias = na_real(c(panels$bias[which.max(abs(panels$bias))], NA)[[1L]]), # of the worst system
    missing = mean(is.na(panels$error))
  )
}

# Monte Carlo standard error of the mean of panels' shares; a mean of 0 or 1 is not certain.
share_error <- function(near) {
  runs <- length(near)
  p <- mean(near)
  certain <- (0.5 + runs * p) / (runs + 1)
  sqrt((if (p %in% 0:1) certain * (1 - certain) else stats::var(near)) / runs)
}

plan_curve <- function(known, settings, i) {
  known <- known[order(vapply(known, `[[`, 0, "n"))]
  points <- do.call(rbind, lapply(known, summarise_panels, settings = settings))
  data.frame(
    raters = settings$raters[[i]], cases = vapply(known, `[[`, 0, "n"), points,
    runs = settings$runs, row.names = NULL
  )
}
