# Fits of user-defined families of models.

# Field `base` of the fit: the design of the base rates, see formula_design().
fit_model.family_model <- function(model, checked, start) { # nolint: object_name.
  x <- checked$x
  problem <- family_problem(x, model, checked$known$truth)
  fit <- new_rater_fit("family_fit", x, model, "likelihood", checked$known)
  fit$known$base <- problem$base[names(problem$base) != "matrix"]
  fit$identified <- identified_as(fit, identifies_parameters(problem))
  identified <- fit$identified == "yes"
  problem <- if (identified) maximise_family(problem) else
    c(problem, list(log_likelihood = NA_real_, iterations = 0L, converged = TRUE))
  naturals <- function(theta) family_naturals(fit, problem, theta)
  values <- c(
    problem[c("theta", "log_likelihood", "iterations", "converged")],
    list(parameters = length(problem$theta)), naturals(problem$theta)
  )
  fit[names(values)] <- values
  fit$posterior <- compute_expectations(problem, problem$theta)$posterior
  countable <- weights_are_counts(x)
  if (!countable) fit$log_likelihood <- NA_real_
  inverse <- if (countable && !fit$agreement %in% 1) problem$inverse
  fit["covariance"] <- list(if (!is.null(inverse)) {
    slopes <- t(differences(function(at) naturals(at)$coefficients, problem$theta))
    lost <- colSums((slopes * attr(inverse, "flat"))^2) > 1e-12
    edge <- is_probability_term(names(fit$coefficients), fit) & on_boundary(fit$coefficients)
    covariance <- unname(crossprod(slopes, inverse %*% slopes))
    covariance[lost | edge, ] <- covariance[, lost | edge] <- NA_real_
    covariance
  })
  if (identified) fit else without_numbers(fit)
}

# Means over the cases of the fit: matrices of raters (raters x true categories x ratings, NA for
# raters without a rating), their mean accuracy, and base rates; and all coefficients.
family_naturals <- function(fit, problem, theta) {
  part <- split_parameters(problem, theta)
  shape <- problem$shape
  law <- matrix(family_law(problem, part$family), ncol = shape[[4L]]) %*% problem$family$strata
  rates <- exp(log_base_rates(problem$base$matrix, part$base)) * problem$weight
  rates <- colSums(rates) / sum(problem$weight)
  rater <- as.integer(problem$judged$rater)
  ratings <- rowsum_codes(problem$row, problem$weight[problem$pattern], shape[[1L]])
  sums <- rowsum_rows(rater, cbind(ratings, matrix(law, shape[[1L]]) * ratings),
    n_raters(fit$x))
  rated <- replace(sums[, 1L], sums[, 1L] == 0, NA)
  matrices <- array(sums[, -1L] / rated, c(nrow(sums), shape[2:3]))
  accuracy <- colSums(rates * apply(matrices, 1L, diag))
  # Coefficients of the unscaled covariates; none if there are no covariates.
  base <- fit$known$base
  terms <- if (length(base$names) > 1L) {
    setNames(as.vector(unscaled(base) %*% part$base),
      coefficient_terms(base$names, fit$x$categories))
  }
  list(
    base_rates = rates, rater_accuracy = mean(accuracy), matrices = matrices,
    coefficients = c(
      setNames(accuracy, rater_terms(fit$x)), part$family, terms,
      setNames(rates, rate_terms(fit$x))
    )
  )
}

# The problem for other ratings, coded with the fit's numbers of categories and raters.
problem_for <- function(fit, x, known = integer()) {
  family_problem(x, fit$model, known, like = fit$known$base, theta = fit$theta)
}

compute_posterior.family_fit <- function(fit, x) { # nolint: object_name.
  compute_expectations(problem_for(fit, x), fit$theta)$posterior
}

drawing_law.family_fit <- function(fit) { # nolint: object_name.
  problem <- problem_for(fit, fit$x)
  cells <- exp(log_cells(problem, split_parameters(problem, fit$theta)$family))
  list(
    strata = problem$family$strata,
    probability = function(class, k, at) {
      cells[cbind(problem$row[at] + (k - 1L) * problem$shape[[1L]], class)]
    }
  )
}

# Maximum likelihood of a family of models: an E-step, and a quasi-Newton method. By Fisher's
# identity, the gradient of the log likelihood is the gradient of the function that an M-step
# maximises.

# Data and parameters of a fit. `theta`: parameters of the family, followed by coefficients of base
# rates. Fields:
#   family, categories  of the model and of the ratings
#   pattern, row, cell  for each rating: its pattern, row of `judged`, and row within category
#   judged              a row for each rater and set of covariates
#   weight, known       for each pattern: its weight, and its true category (0 if unknown)
#   base                the design of the base rates, see formula_design()
#   shape               of the law: rows of `judged`, true categories, ratings, strata
#   touched, set        see separate_parameters()
# `system`: number of a system that joins the raters, 0 for none. `like`, `theta`: the design and
# the parameters of a fit; without them, `theta` contains starting values.
family_problem <- function(x, model, known = integer(), system = 0L, like = NULL, theta = NULL) {
  covariates <- pattern_covariates(x)
  answer <- if (system > 0L) pattern_answers(x)[, system] * rated_patterns(x)
  answered <- which(answer > 0L)
  raters <- c(x$raters, x$systems[system])
  pattern <- c(rating_pattern(x), answered)
  number <- c(rating_rater(x), rep(length(raters), length(answered)))
  row <- split_by(rep(1, length(number)), c(list(number), lapply(covariates, `[`, pattern)))
  first <- !duplicated(row)
  judged <- tibble::tibble(
    rater = factor(raters[number[first]], raters), system = number[first] > n_raters(x),
    covariates[pattern[first], ]
  )
  size <- n_categories(x)
  known <- c(known, integer(n_patterns(x)))[seq_len(n_patterns(x))]
  problem <- list(
    family = model$family, categories = x$categories, judged = judged, pattern = pattern, row = row,
    cell = row + (c(rating_category(x), answer[answered]) - 1L) * nrow(judged), known = known,
    weight = pattern_weights(x) * (rated_patterns(x) | known > 0L),
    base = formula_design(model$base_rates, covariates, like),
    shape = c(nrow(judged), size, size, length(model$family$strata))
  )
  problem$theta <- theta %||% first_parameters(problem, x)
  if (is.null(model$family$gradient)) separate_parameters(problem) else problem
}

# Starting values: those of the family, and shares of ratings.
first_parameters <- function(problem, x) {
  parameters <- family_start(problem)
  check_law(problem, parameters)
  shares <- colSums(pattern_counts(x) * pattern_weights(x))
  logits <- log(shares / sum(shares) + 0.02)
  rates <- matrix(0, length(shares) - 1L, ncol(problem$base$matrix))
  rates[, 1L] <- logits[-1L] - logits[[1L]]
  c(parameters, t(rates))
}

# Parameters of the family, and coefficients of the base rates: columns of the design x logits
# against the first category.
split_parameters <- function(problem, theta) {
  columns <- ncol(problem$base$matrix)
  base <- seq_along(theta) > length(theta) - columns * (problem$shape[[2L]] - 1L)
  list(family = theta[!base], base = matrix(theta[base], columns))
}

# Logarithms of the law, cells (rows within ratings) x classes (true categories within strata).
log_cells <- function(problem, parameters) {
  law <- family_law(problem, parameters)
  shape <- problem$shape
  abort_argument_if(length(law) != prod(shape), "law",
    "{.arg law} of the family of models must always return an array of the same shape.",
    x = "It returned {describe(law)}.", call = NULL)
  logs <- array(log(pmax(law, .Machine$double.xmin)), shape)
  matrix(aperm(logs, c(1L, 3L, 2L, 4L)), shape[[1L]] * shape[[3L]])
}

# The E-step: `classes` (patterns x classes), `posterior` and `rates` (patterns x categories), and
# the log_likelihood of each pattern.
compute_expectations <- function(problem, theta) {
  part <- split_parameters(problem, theta)
  rates <- log_base_rates(problem$base$matrix, part$base)
  strata <- problem$family$strata
  truth <- rep(seq_len(ncol(rates)), length(strata)) # true category of each class
  cells <- log_cells(problem, part$family)[problem$cell, , drop = FALSE]
  total <- rates[, truth, drop = FALSE] + rep(log(strata), each = length(rates)) +
    rowsum_rows(problem$pattern, cells, nrow(rates))
  total[problem$known > 0L & outer(problem$known, truth, `!=`)] <- -Inf
  by_pattern <- log_sum_exp(total)
  classes <- exp(total - by_pattern)
  list(
    classes = classes, log_likelihood = by_pattern, rates = exp(rates),
    posterior = rowSums(array(classes, c(dim(rates), length(strata))), dims = 2L)
  )
}

# Adds `touched`, the rows of `judged` that each parameter affects (rows x parameters), and `set`, a
# number per parameter. Parameters of a set affect different rows, so that one difference suffices
# for all.
separate_parameters <- function(problem) {
  at <- split_parameters(problem, problem$theta)$family
  at <- withr::with_seed(1L, at + stats::rnorm(length(at), sd = 0.3))
  rows <- problem$shape[[1L]]
  touched <- vapply(seq_along(at), function(i) {
    moved <- family_law(problem, replace(at, i, at[[i]] + 0.1))
    rowSums(matrix(moved != family_law(problem, at), rows)) > 0
  }, logical(rows))
  problem$touched <- matrix(touched, rows)
  problem$set <- integer(length(at))
  for (i in seq_along(at)) {
    rivals <- colSums(problem$touched & problem$touched[, i]) > 0
    problem$set[[i]] <- min(setdiff(seq_along(at), problem$set[rivals]))
  }
  problem
}

# Gradient of the log likelihood.
slopes_at <- function(problem, theta) {
  expected <- compute_expectations(problem, theta)
  shape <- problem$shape
  rows <- shape[[1L]]
  at <- split_parameters(problem, theta)$family
  weighted <- (expected$classes * problem$weight)[problem$pattern, , drop = FALSE]
  counts <- rowsum_rows(problem$cell, weighted, rows * shape[[3L]])
  slopes <- if (is.null(problem$family$gradient)) {
    step <- steps_of(at)
    by_row <- vapply(seq_len(max(problem$set, 0L)), function(set) {
      move <- step * (problem$set == set)
      change <- counts * (log_cells(problem, at + move) - log_cells(problem, at - move))
      rowSums(matrix(change, rows))
    }, numeric(rows))
    colSums(problem$touched * matrix(by_row, rows)[, problem$set, drop = FALSE]) / (2 * step)
  } else {
    counts <- aperm(array(counts, shape[c(1L, 3L, 2L, 4L)]), c(1L, 3L, 2L, 4L))
    call_family(problem, "gradient", at, problem$judged, problem$categories, counts)
  }
  abort_argument_if(!is.numeric(slopes) || length(slopes) != length(at), "gradient",
    "{.arg gradient} of the family of models must return {length(at)} number{?s}.",
    x = "It returned {describe(slopes)}.", call = NULL)
  excess <- problem$weight * (expected$posterior - expected$rates)
  c(slopes, crossprod(problem$base$matrix, excess[, -1L, drop = FALSE]))
}

# Maximises the likelihood: by a quasi-Newton method, then by Newton's method if there are few
# parameters. `inverse`: see inverse_curvature(); NULL for many parameters.
maximise_family <- function(problem) {
  likelihood <- function(theta) {
    value <- sum(problem$weight * compute_expectations(problem, theta)$log_likelihood)
    max(value, -.Machine$double.xmax, na.rm = TRUE)
  }
  slopes <- function(theta) slopes_at(problem, theta)
  few <- length(problem$theta) <= most_curved
  end <- stats::optim(problem$theta, likelihood, slopes, method = "BFGS", control = list(
    fnscale = -sum(problem$weight), maxit = 1000L, reltol = if (few) 1e-10 else 1e-13
  ))
  top <- list(theta = end$par, log_likelihood = end$value, converged = end$convergence == 0L,
    iterations = end$counts[["gradient"]])
  for (step in seq_len(20L * few)) {
    top$inverse <- inverse_curvature(problem, top$theta)
    slope <- slopes(top$theta)
    move <- drop(top$inverse %*% slope)
    gain <- sum(move * slope) / 2
    top$converged <- gain < 1e-6
    # The likelihood cannot resolve the gain of the last steps.
    better <- function(part) gain < 1e-9 || likelihood(top$theta + part * move) > top$log_likelihood
    part <- if (gain >= 1e-16) Find(better, 2^-(0:10))
    if (is.null(part)) break
    top$theta <- top$theta + part * move
    top$log_likelihood <- likelihood(top$theta)
    top$iterations <- top$iterations + 1
  }
  replace(problem, names(top), top)
}

most_curved <- 150L # largest number of parameters for which curvature and rank are computed

# The inverse of the negative Hessian of the log likelihood, without flat directions. Attribute
# `flat`: parameters that these directions affect.
inverse_curvature <- function(problem, theta) {
  bend <- function(step) -differences(function(at) slopes_at(problem, at), theta, step)
  hessian <- (4 * bend(4e-3) - bend(8e-3)) / 3 # correct to the fourth order
  parts <- eigen((hessian + t(hessian)) / 2, symmetric = TRUE)
  curved <- parts$values > 1e-7 * sum(problem$weight)
  vectors <- parts$vectors[, curved, drop = FALSE]
  structure(vectors %*% (t(vectors) / parts$values[curved]),
    flat = rowSums(parts$vectors[, !curved, drop = FALSE]^2) > 1e-4)
}

# Patterns x parameters.
pattern_scores <- function(problem, theta) {
  differences(function(at) as.vector(compute_expectations(problem, at)$log_likelihood), theta)
}

# Can ratings of this structure identify the parameters? Computes the rank of the scores of random
# answers to cases with the same raters and covariates.
identifies_parameters <- function(problem) {
  size <- length(problem$theta)
  if (size > most_curved) return(TRUE)
  scores <- withr::with_seed(1L, {
    drawn <- random_answers(problem, 30L * size + 300L)
    pattern_scores(drawn, problem$theta + stats::rnorm(size, sd = 0.3))
  })
  # Columns that are zero except for rounding stay small.
  values <- svd(sweep(scores, 2L, pmax(sqrt(colMeans(scores^2)), 0.01), `/`), 0L, 0L)$d
  values[[size]] > 1e-6 * values[[1L]]
}

# A problem with random answers. Cases of positive weight are used in turn, each several times.
random_answers <- function(problem, size) {
  used <- which(problem$weight > 0)
  take <- rep_len(used[sample.int(length(used))], max(size, min(length(used), 2000L)))
  ratings <- split(seq_along(problem$row), factor(problem$pattern, seq_along(problem$weight)))[take]
  problem$pattern <- rep(seq_along(take), lengths(ratings))
  row <- problem$row[unlist(ratings)]
  symbol <- sample.int(problem$shape[[2L]], length(row), replace = TRUE) - 1L
  problem$cell <- row + symbol * problem$shape[[1L]]
  problem$base$matrix <- problem$base$matrix[take, , drop = FALSE]
  problem$known <- problem$known[take]
  problem
}
