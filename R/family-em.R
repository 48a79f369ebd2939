# Maximum likelihood of a family of models: the E-step, and a quasi-Newton method with Fisher's
# identity (the slope of the log-likelihood is that of what an M-step maximises). All functions take
# a problem: data (see family_data()), family, shape (of its law) and n (the sum of weights).

family_problem <- function(data, family) {
  list(data = data, family = family, shape = law_shape(family, data), n = sum(data$weight))
}

# Parameters of the family, then of the base rates: logits against the first category, coefficients
# within categories.
split_parameters <- function(problem, theta) {
  base <- ncol(problem$data$base) * (problem$shape[[2L]] - 1L)
  own <- seq_len(length(theta) - base)
  list(own = theta[own], base = matrix(theta[length(own) + seq_len(base)], ncol(problem$data$base)))
}

# Patterns x categories.
log_base_rates <- function(problem, coefficients) {
  logits <- cbind(0, problem$data$base %*% coefficients)
  logits - log_sum_exp(logits)
}

log_sum_exp <- function(m) {
  top <- m[cbind(seq_len(nrow(m)), max.col(m, "first"))]
  top + log(rowSums(exp(m - top)))
}

# posterior (patterns x classes), log_likelihood of each pattern, and what they came from.
expect <- function(problem, theta) {
  data <- problem$data
  part <- split_parameters(problem, theta)
  rates <- log_base_rates(problem, part$base)
  cells <- log_cells(family_law(problem$family, part$own, data), problem$shape)
  strata <- rep(log(problem$family$strata), each = ncol(rates))
  total <- rates[, rep(seq_len(ncol(rates)), length(problem$family$strata)), drop = FALSE] +
    rep(strata, each = nrow(rates))
  if (length(data$known) > 0L) {
    other <- data$known > 0L & outer(data$known, rep(seq_len(ncol(rates)),
      length(problem$family$strata)), `!=`)
    total[other] <- -Inf
  }
  sums <- rowsum(cells[data$cell, , drop = FALSE], data$pattern, reorder = FALSE)
  rated <- unique(data$pattern)
  total[rated, ] <- total[rated, , drop = FALSE] + sums
  by_pattern <- log_sum_exp(total)
  list(posterior = exp(total - by_pattern), log_likelihood = by_pattern, rates = exp(rates))
}

# Expected numbers of ratings by cell and class.
expected_counts <- function(problem, posterior) {
  data <- problem$data
  counts <- matrix(0, problem$shape[[1L]] * problem$shape[[3L]], ncol(posterior))
  weighted <- posterior * data$weight
  sums <- rowsum(weighted[data$pattern, , drop = FALSE], data$cell, reorder = FALSE)
  counts[unique(data$cell), ] <- sums
  counts
}

# Patterns x categories: strata are nobody's question.
posterior_of_categories <- function(problem, posterior) {
  n <- problem$shape[[2L]]
  Reduce(`+`, lapply(seq_along(problem$family$strata), function(s) {
    posterior[, (s - 1L) * n + seq_len(n), drop = FALSE]
  }))
}

# ---- Slopes -------------------------------------------------------------------------------------

# Of the sum of counts times log law.
law_slopes <- function(problem, own, counts) {
  family <- problem$family
  if (!is.null(family$gradient)) {
    slopes <- call_family(
      family, "gradient", own, family$judged %||% problem$data$judged, problem$data$categories,
      as_law_array(counts, problem$shape)
    )
    abort_argument_if(!is.numeric(slopes) || length(slopes) != length(own), "gradient",
      "{.arg gradient} of the family of models must return {length(own)} number{?s}.",
      x = "It returned {describe(slopes)}.", call = NULL)
    return(as.double(slopes))
  }
  step <- steps_of(own)
  rows <- problem$shape[[1L]]
  logs <- function(at) log_cells(family_law(family, at, problem$data), problem$shape)
  out <- own * 0
  for (set in problem$separate$sets) {
    move <- replace(step * 0, set, step[set])
    by_row <- rowSums(matrix(counts * (logs(own + move) - logs(own - move)), rows))
    touched <- problem$separate$touched[, set, drop = FALSE]
    out[set] <- colSums(by_row * touched) / (2 * step[set])
  }
  out
}

# Sets of parameters no two of which are about the same rows of `judged`, so that one difference is
# enough for all of a set; and which rows (rows x parameters) each is about.
separate_parameters <- function(problem, start) {
  at <- withr::with_seed(1L, start + stats::rnorm(length(start), sd = 0.3))
  law <- function(at) matrix(family_law(problem$family, at, problem$data), problem$shape[[1L]])
  here <- law(at)
  touched <- vapply(seq_along(at), function(i) {
    rowSums(law(replace(at, i, at[[i]] + 0.1)) != here) > 0
  }, logical(nrow(here)))
  touched <- matrix(touched, nrow(here))
  sets <- list()
  for (i in seq_along(at)) {
    free <- Position(function(set) {
      !any(touched[, i] & rowSums(touched[, set, drop = FALSE]) > 0)
    }, sets)
    if (is.na(free)) sets <- c(sets, list(i)) else sets[[free]] <- c(sets[[free]], i)
  }
  list(sets = sets, touched = touched)
}

base_slopes <- function(problem, weighted, rates) {
  excess <- weighted - problem$data$weight * rates
  as.vector(crossprod(problem$data$base, excess[, -1L, drop = FALSE]))
}

slopes_at <- function(problem, theta, found = expect(problem, theta)) {
  counts <- expected_counts(problem, found$posterior)
  weighted <- posterior_of_categories(problem, found$posterior) * problem$data$weight
  c(
    law_slopes(problem, split_parameters(problem, theta)$own, counts),
    base_slopes(problem, weighted, found$rates)
  )
}

# Patterns x parameters.
pattern_scores <- function(problem, theta) {
  differences(function(at) expect(problem, at)$log_likelihood, theta)
}

# ---- The algorithm ------------------------------------------------------------------------------

# By a quasi-Newton method, and to the very top by Newton's where curvature is known. `inverse`: see
# inverse_curvature(); NULL for many parameters.
maximise_family <- function(problem, start, most = 20L) {
  likelihood <- function(theta) {
    out <- sum(problem$data$weight * expect(problem, theta)$log_likelihood)
    if (is.finite(out)) out else -.Machine$double.xmax
  }
  few <- length(start) <= most_curved
  found <- stats::optim(start, likelihood, function(theta) slopes_at(problem, theta),
    method = "BFGS", control = c(
      list(fnscale = -problem$n, maxit = 1000L), reltol = if (few) 1e-10 else 1e-13
    )
  )
  top <- list(
    theta = found$par, log_likelihood = found$value, converged = found$convergence == 0L,
    iterations = found$counts[["gradient"]], inverse = NULL
  )
  for (step in seq_len(if (few) most else 0L)) {
    top$inverse <- inverse_curvature(problem, top$theta)
    slopes <- slopes_at(problem, top$theta)
    move <- drop(top$inverse %*% slopes)
    gain <- sum(move * slopes) / 2
    top$converged <- gain < 1e-6
    if (gain < 1e-9) break
    for (part in 2^-(0:10)) {
      now <- likelihood(top$theta + part * move)
      if (now > top$log_likelihood) break
    }
    if (now <= top$log_likelihood) break
    top$theta <- top$theta + part * move
    top$log_likelihood <- now
    top$iterations <- top$iterations + 1
  }
  top
}

# ---- Curvature ----------------------------------------------------------------------------------

most_curved <- 150L # parameters whose curvature, and rank of scores, are looked into

# The inverse of the curvature of the log-likelihood, without the directions in which there is none;
# attribute: parameters that go far in these.
inverse_curvature <- function(problem, theta) {
  hessian <- -differences(function(at) slopes_at(problem, at), theta, 1e-4)
  hessian <- (hessian + t(hessian)) / 2
  parts <- eigen(hessian, symmetric = TRUE)
  curved <- parts$values > 1e-7 * problem$n
  vectors <- parts$vectors[, curved, drop = FALSE]
  out <- vectors %*% (t(vectors) / parts$values[curved])
  structure(out, flat = rowSums(parts$vectors[, !curved, drop = FALSE]^2) > 1e-4)
}
