# Maximum likelihood of a family of models: the E-step, and a quasi-Newton method with Fisher's
# identity (the slope of the log-likelihood is that of what an M-step maximises). All functions take
# a problem: data (see family_data()), family, shape (of its law: rows of `judged`, true categories,
# ratings, strata), n (the sum of weights) and, without a gradient, `separate` parameters.

# ---- Data ---------------------------------------------------------------------------------------

# For each rating its pattern and its cell, a row of `judged` (who rated what kind of case) and a
# category; and for each pattern its weight and what its base rates depend on.
# `system`: number of a system that joins the raters, 0 for none; `known`: a category per pattern,
# where 0 is unknown; `base`: see formula_design().
family_data <- function(x, model, base, known = integer(), system = 0L) {
  given <- ratings_with_system(x, system)
  n <- n_patterns(x)
  covariates <- pattern_covariates(x)
  kind <- split_by(rep(1, n), covariates)
  key <- (kind[given$pattern] - 1) * length(given$raters) + given$rater
  row <- match(key, unique(key))
  first <- match(seq_len(max(row, 0L)), row)
  judged <- tibble::tibble(
    rater = factor(given$raters[given$rater[first]], given$raters),
    system = given$rater[first] > length(given$raters) - (system > 0L),
    covariates[given$pattern[first], ]
  )
  informative <- rated_patterns(x) | (seq_len(n) %in% which(known > 0L))
  weight <- pattern_weights(x)
  list(
    pattern = given$pattern, row = row, cell = row + (given$category - 1L) * length(first),
    judged = judged, categories = x$categories, patterns = n, weight = weight * informative,
    ratings = rowsum_codes(row, weight[given$pattern], length(first)),
    base = base$matrix, known = known
  )
}

# The pattern, rater and category of each rating, those of a system included, pattern by pattern.
ratings_with_system <- function(x, system) {
  identity <- rater_identity(x)
  raters <- x$raters[unique(identity)]
  given <- data.frame(
    pattern = rating_pattern(x), rater = identity[rating_rater(x)], category = rating_category(x)
  )
  if (system > 0L) {
    answer <- pattern_answers(x)[, system]
    answered <- which(answer > 0L & rated_patterns(x))
    raters <- c(raters, x$systems[[system]])
    given <- rbind(given, data.frame(
      pattern = answered, rater = rep(length(raters), length(answered)),
      category = answer[answered]
    ))
    given <- given[order(given$pattern), ]
  }
  c(as.list(given), list(raters = raters))
}

# `start`: parameters of the family.
family_problem <- function(data, family, start) {
  problem <- list(
    data = data, family = family, shape = law_shape(family, data), n = sum(data$weight)
  )
  if (is.null(family$gradient)) problem$separate <- separate_parameters(problem, start)
  problem
}

# Parameters of the family, then of the base rates: logits against the first category, coefficients
# within categories.
split_parameters <- function(problem, theta) {
  base <- ncol(problem$data$base) * (problem$shape[[2L]] - 1L)
  own <- seq_len(length(theta) - base)
  list(own = theta[own], base = matrix(theta[length(own) + seq_len(base)], ncol(problem$data$base)))
}

# ---- The E-step ---------------------------------------------------------------------------------

# Rows of a design x categories.
log_base_rates <- function(design, coefficients) {
  logits <- cbind(0, design %*% coefficients)
  logits - log_sum_exp(logits)
}

# Logarithms of the law, cells (rows within ratings) x classes (true categories within strata).
log_cells <- function(problem, own) {
  law <- family_law(problem$family, own, problem$data)
  shape <- problem$shape
  abort_argument_if(length(law) != prod(shape), "law",
    "{.arg law} of the family of models must always return an array of the same shape.",
    x = "It returned {describe(law)}.", call = NULL)
  logs <- array(log(pmax(law, .Machine$double.xmin)), shape)
  matrix(aperm(logs, c(1L, 3L, 2L, 4L)), shape[[1L]] * shape[[3L]])
}

# posterior (patterns x classes), log_likelihood of each pattern, and what they came from.
expect <- function(problem, theta) {
  data <- problem$data
  part <- split_parameters(problem, theta)
  rates <- log_base_rates(data$base, part$base)
  cells <- log_cells(problem, part$own)
  strata <- problem$family$strata
  truth <- rep(seq_len(ncol(rates)), length(strata)) # of each class
  total <- rates[, truth, drop = FALSE] + rep(log(strata), each = length(rates))
  if (length(data$known) > 0L) total[data$known > 0L & outer(data$known, truth, `!=`)] <- -Inf
  sums <- rowsum(cells[data$cell, , drop = FALSE], data$pattern, reorder = FALSE)
  rated <- unique(data$pattern)
  total[rated, ] <- total[rated, , drop = FALSE] + sums
  by_pattern <- log_sum_exp(total)
  list(posterior = exp(total - by_pattern), log_likelihood = by_pattern, rates = exp(rates))
}

# Patterns x categories: strata are nobody's question.
posterior_of_categories <- function(problem, posterior) {
  rowSums(array(posterior, c(nrow(posterior), problem$shape[c(2L, 4L)])), dims = 2L)
}

# Sums of the rows of a matrix by codes from 1 to n.
rowsum_rows <- function(code, values, n) {
  out <- matrix(0, n, ncol(values))
  sums <- rowsum(values, code)
  out[as.integer(rownames(sums)), ] <- sums
  out
}

# ---- Slopes -------------------------------------------------------------------------------------

# Of the sum of counts (cells x classes) times log law.
law_slopes <- function(problem, own, counts) {
  family <- problem$family
  data <- problem$data
  if (!is.null(family$gradient)) {
    shape <- problem$shape
    counts <- aperm(array(counts, shape[c(1L, 3L, 2L, 4L)]), c(1L, 3L, 2L, 4L))
    slopes <- call_family(family, "gradient", own, data$judged, data$categories, counts)
    abort_argument_if(!is.numeric(slopes) || length(slopes) != length(own), "gradient",
      "{.arg gradient} of the family of models must return {length(own)} number{?s}.",
      x = "It returned {describe(slopes)}.", call = NULL)
    return(as.double(slopes))
  }
  step <- steps_of(own)
  out <- own * 0
  for (set in problem$separate$sets) {
    move <- replace(step * 0, set, step[set])
    change <- counts * (log_cells(problem, own + move) - log_cells(problem, own - move))
    by_row <- rowSums(matrix(change, problem$shape[[1L]]))
    touched <- problem$separate$touched[, set, drop = FALSE]
    out[set] <- colSums(by_row * touched) / (2 * step[set])
  }
  out
}

# Sets of parameters no two of which are about the same rows of `judged`, so that one difference is
# enough for all of a set; and which rows (rows x parameters) each is about.
separate_parameters <- function(problem, start) {
  at <- withr::with_seed(1L, start + stats::rnorm(length(start), sd = 0.3))
  rows <- problem$shape[[1L]]
  law <- function(at) matrix(family_law(problem$family, at, problem$data), rows)
  here <- law(at)
  touched <- vapply(seq_along(at), function(i) {
    rowSums(law(replace(at, i, at[[i]] + 0.1)) != here) > 0
  }, logical(rows))
  touched <- matrix(touched, rows)
  sets <- list()
  for (i in seq_along(at)) {
    free <- Position(function(set) !any(touched[, i] & touched[, set]), sets,
      nomatch = length(sets) + 1L)
    sets[free] <- list(c(if (free <= length(sets)) sets[[free]], i))
  }
  list(sets = sets, touched = touched)
}

slopes_at <- function(problem, theta) {
  data <- problem$data
  found <- expect(problem, theta)
  weighted <- found$posterior * data$weight
  cells <- problem$shape[[1L]] * problem$shape[[3L]]
  counts <- rowsum_rows(data$cell, weighted[data$pattern, , drop = FALSE], cells)
  excess <- posterior_of_categories(problem, weighted) - data$weight * found$rates
  c(
    law_slopes(problem, split_parameters(problem, theta)$own, counts),
    as.vector(crossprod(data$base, excess[, -1L, drop = FALSE]))
  )
}

# Patterns x parameters.
pattern_scores <- function(problem, theta) {
  scores <- differences(function(at) expect(problem, at)$log_likelihood, theta)
  matrix(scores, ncol = length(theta))
}

# ---- The algorithm ------------------------------------------------------------------------------

# By a quasi-Newton method, and to the very top by Newton's where curvature is known. `inverse`: see
# inverse_curvature(); NULL for many parameters.
maximise_family <- function(problem, most = 20L) {
  likelihood <- function(theta) {
    out <- sum(problem$data$weight * expect(problem, theta)$log_likelihood)
    if (is.finite(out)) out else -.Machine$double.xmax
  }
  few <- length(problem$start) <= most_curved
  found <- stats::optim(problem$start, likelihood, function(theta) slopes_at(problem, theta),
    method = "BFGS", control = list(
      fnscale = -problem$n, maxit = 1000L, reltol = if (few) 1e-10 else 1e-13
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

most_curved <- 150L # parameters whose curvature, and rank of scores, are looked into

# The inverse of the curvature of the log-likelihood, without the directions in which there is none;
# attribute: parameters that go far in these.
inverse_curvature <- function(problem, theta) {
  hessian <- -differences(function(at) slopes_at(problem, at), theta, 1e-4)
  parts <- eigen((hessian + t(hessian)) / 2, symmetric = TRUE)
  curved <- parts$values > 1e-7 * problem$n
  vectors <- parts$vectors[, curved, drop = FALSE]
  out <- vectors %*% (t(vectors) / parts$values[curved])
  structure(out, flat = rowSums(parts$vectors[, !curved, drop = FALSE]^2) > 1e-4)
}
