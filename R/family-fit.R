# Fits of user-defined families of models, see rater_family().

# Fits a user-defined model by maximum likelihood. `checked`: see check_fit_arguments(). In the
# result, `known$base` describes the design matrix of the base rates: names of columns, and the
# means and scales by which the columns were standardised.
fit_model.family_model <- function(model, checked, start) { # nolint: object_name.
  x <- checked$x
  problem <- family_problem(x, model, checked$known$truth)
  fit <- new_rater_fit("family_fit", x, model, "likelihood", checked$known)
  fit$known$base <- replace(problem$base, "matrix", NULL)
  fit$identified <- decide_identification(fit, identifies_parameters(problem))
  is_identified <- fit$identified == "yes"
  # `touched` shows which parameters change the value of `law`, see add_parameter_sets(). It is
  # missing if the user gave a gradient. Parameters that `law` ignores are then not detected.
  ignored_parameters <- names(problem$theta)[which(colSums(problem$touched %||% matrix(TRUE)) == 0)]
  warn_if(ignored_parameters, "not_identified", "{.arg law} does not depend on the
    parameter{?s} {.val {ignored_parameters}}, which therefore cannot be estimated.",
    i = "Use all parameters in {.arg law}, or remove unused parameters from {.arg start}.")
  problem <- if (is_identified) maximise_family(problem) else
    c(problem, list(log_likelihood = NA_real_, iterations = 0L, converged = TRUE))
  compute_quantities <- function(theta) reported_quantities(fit, problem, theta)
  new_fields <- c(
    problem[c("theta", "log_likelihood", "iterations", "converged")],
    list(parameters = length(problem$theta)), compute_quantities(problem$theta)
  )
  fit[names(new_fields)] <- new_fields
  fit$posterior <- compute_expectations(problem, problem$theta)$posterior
  has_count_weights <- weights_are_counts(x)
  if (!has_count_weights) fit$log_likelihood <- NA_real_
  inverse_hessian <- problem$inverse
  if (has_count_weights && !fit$agreement %in% 1 && !is.null(inverse_hessian)) {
    jacobian <- t(central_differences(
      function(theta) compute_quantities(theta)$coefficients, problem$theta
    ))
    covariance <- unname(crossprod(jacobian, inverse_hessian %*% jacobian))
    is_unidentified <- colSums((jacobian * attr(inverse_hessian, "flat"))^2) > 1e-12
    has_no_standard_error <- is_unidentified |
      is_probability_term(names(fit$coefficients), fit) & is_on_boundary(fit$coefficients)
    covariance[has_no_standard_error, ] <- covariance[, has_no_standard_error] <- NA_real_
    fit$covariance <- covariance
  }
  if (is_identified) fit else set_estimates_to_na(fit)
}

# Computes the quantities that a fit reports from the parameters `theta`. Returns a list, whose
# first three elements are means over the cases of the fit:
# * base_rates: base rates, a vector
# * matrices: confusion matrices, an array (raters x true categories x ratings); NA for raters
#   without ratings
# * rater_accuracy: mean accuracy of raters
# * coefficients: a named vector of parameters of the family, accuracies, and base rates
#
# `problem`: a result of family_problem().
reported_quantities <- function(fit, problem, theta) {
  parameters <- split_parameters(problem, theta)
  shape <- problem$shape
  probabilities <- matrix(family_law(problem, parameters$family),
    ncol = shape[[4L]]) %*% problem$family$strata
  rates <- exp(log_base_rates(problem$base$matrix, parameters$base))
  rates <- colSums(rates * problem$weight) / sum(problem$weight)
  rating_sums <- rowsum_codes(problem$row, problem$weight[problem$pattern], shape[[1L]])
  probability_sums <- rowsum_rows(as.integer(problem$judged$rater),
    cbind(rating_sums, matrix(probabilities, shape[[1L]]) * rating_sums), n_raters(fit$x))
  matrices <- array(
    na_real(probability_sums[, -1L] / probability_sums[, 1L]), c(nrow(probability_sums), shape[2:3])
  )
  accuracy <- colSums(rates * apply(matrices, 1L, diag))
  # If base rates depend on covariates, the reported coefficients belong to covariates in their
  # original units.
  base_design <- fit$known$base
  base_coefficients <- if (length(base_design$names) > 1L) {
    setNames(as.vector(unscaling_matrix(base_design) %*% parameters$base),
      coefficient_terms(base_design$names, fit$x$categories))
  }
  list(
    base_rates = rates, rater_accuracy = mean(accuracy), matrices = matrices,
    coefficients = c(
      parameters$family, setNames(accuracy, rater_terms(fit$x)), base_coefficients,
      setNames(rates, rate_terms(fit$x))
    )
  )
}

# Returns the optimisation problem (see family_problem()) for other ratings `x`, with the parameters
# of the fit. Categories and raters in `x` must have the same indices as in the fit.
problem_for_ratings <- function(fit, x, known = integer()) {
  family_problem(x, fit$model, known, design_template = fit$known$base, theta = fit$theta)
}

compute_posterior.family_fit <- function(fit, x) { # nolint: object_name.
  compute_expectations(problem_for_ratings(fit, x), fit$theta)$posterior
}

rating_distribution.family_fit <- function(fit) { # nolint: object_name.
  problem <- problem_for_ratings(fit, fit$x)
  p_rating <- exp(log_rating_probs(problem, split_parameters(problem, fit$theta)$family))
  list(
    strata = problem$family$strata,
    probability = function(class, k, rating_index) {
      p_rating[cbind(problem$row[rating_index] + (k - 1L) * problem$shape[[1L]], class)]
    }
  )
}

# The functions below compute maximum likelihood estimates of a family of models, by a quasi-Newton
# method. The gradient is computed from the E-step of the EM algorithm: by Fisher's identity, the
# gradient of the log likelihood equals the gradient of the function that the M-step would maximise.

# Returns the optimisation problem of a fit, a list of data and parameters:
# * family: user-defined functions and strata of the model
# * categories: labels of the categories
# * judged: a data frame with a row for each combination of rater and covariates
# * pattern: index of the pattern of each rating
# * row: row of `judged` to which each rating belongs
# * cell: index of each rating in a matrix (rows of `judged` x categories)
# * weight: weight of each pattern
# * known: index of the true category of each pattern, 0 if unknown
# * base: design matrix of the base rates, see formula_design()
# * shape: dimensions of the array of family_law()
# * touched, set: see add_parameter_sets()
# * theta: parameters of the family, followed by coefficients of base rates
#
# Arguments:
# * known: see above; empty if no true category is known
# * system: index of a system that is fitted like a rater, 0 for none
# * design_template, theta: design matrix and parameters of an earlier fit, or NULL. If `theta` is
#   NULL, starting values are computed
family_problem <- function(x, model, known, system = 0L, design_template = NULL, theta = NULL) {
  covariates <- pattern_covariates(x)
  system_answers <- if (system > 0L) pattern_answers(x)[, system] * is_rated_pattern(x)
  answered_patterns <- which(system_answers > 0L)
  raters <- c(x$raters, x$systems[system])
  pattern <- c(rating_pattern(x), answered_patterns)
  judge_number <- c(rating_rater(x), rep(length(raters), length(answered_patterns)))
  judge_covariate_row <-
    number_combinations(c(list(judge_number), lapply(covariates, `[`, pattern)))
  is_first_of_row <- !duplicated(judge_covariate_row)
  judged <- tibble(
    rater = factor(raters[judge_number[is_first_of_row]], raters),
    system = judge_number[is_first_of_row] > n_raters(x),
    covariates[pattern[is_first_of_row], ]
  )
  n <- n_categories(x)
  known <- c(known, integer(n_patterns(x)))[seq_len(n_patterns(x))]
  problem <- list(
    family = model$family, categories = x$categories, judged = judged, pattern = pattern,
    row = judge_covariate_row,
    cell = judge_covariate_row +
      (c(rating_category(x), system_answers[answered_patterns]) - 1L) * nrow(judged),
    known = known,
    weight = pattern_weights(x) * (is_rated_pattern(x) | known > 0L),
    base = formula_design(model$base_rates, covariates, design_template),
    shape = c(nrow(judged), n, n, length(model$family$strata))
  )
  problem$theta <- theta %||% starting_parameters(problem, x)
  if (is.null(model$family$gradient)) add_parameter_sets(problem) else problem
}

# Returns starting values of the parameters. The user's function `start` returns the starting values
# of the family's parameters. Intercepts of base rates start at the logits of the shares of ratings.
starting_parameters <- function(problem, x) {
  start <- call_family(problem, "start", problem$judged, problem$categories)
  abort_argument_if(!is.numeric(start) || !all(is.finite(start)), "start",
    "{.arg start} of the family of models must return finite numbers.",
    x = "It returned {describe(start)}.", call = NULL)
  names <- names2(start)
  parameters <- setNames(
    as.double(start), ifelse(names == "", paste("parameter", seq_along(start)), names)
  )
  check_law(problem, parameters)
  shares <- colSums(pattern_counts(x) * pattern_weights(x))
  logits <- log(shares / sum(shares) + 0.02)
  base_coefficients <- matrix(0, length(shares) - 1L, ncol(problem$base$matrix))
  base_coefficients[, 1L] <- logits[-1L] - logits[[1L]]
  c(parameters, t(base_coefficients))
}

# Splits `theta` into a list of `family`, the parameters of the user's functions, and `base`, the
# coefficients of base rates. `base` is a matrix (columns of the design matrix x categories except
# the first, whose logit is 0).
split_parameters <- function(problem, theta) {
  n_columns <- ncol(problem$base$matrix)
  is_base_rate <- seq_along(theta) > length(theta) - n_columns * (problem$shape[[2L]] - 1L)
  list(family = theta[!is_base_rate], base = matrix(theta[is_base_rate], n_columns))
}

# Returns the logarithms of the probabilities of ratings, a matrix with these rows and columns:
# * rows: all rows of `judged` for ratings in the first category, then for ratings in the second,
#   and so on
# * columns: all true categories for the first stratum, then for the second, and so on
log_rating_probs <- function(problem, parameters) {
  probabilities <- family_law(problem, parameters)
  shape <- problem$shape
  abort_argument_if(length(probabilities) != prod(shape), "law",
    "{.arg law} of the family of models must always return an array of the same shape.",
    x = "It returned {describe(probabilities)}.", call = NULL)
  probabilities <- aperm(array(probabilities, shape), c(1L, 3L, 2L, 4L))
  log(pmax(matrix(probabilities, shape[[1L]] * shape[[3L]]), .Machine$double.xmin))
}

# Computes the E-step of the EM algorithm. A class is a combination of a true category and a
# stratum. Returns a list:
# * classes: posterior probabilities of classes (patterns x classes)
# * posterior: posterior probabilities of true categories (patterns x categories)
# * rates: base rates (patterns x categories)
# * log_likelihood: log likelihood of each pattern
compute_expectations <- function(problem, theta) {
  parameters <- split_parameters(problem, theta)
  log_rates <- log_base_rates(problem$base$matrix, parameters$base)
  strata <- problem$family$strata
  truth_of_class <- rep(seq_along(problem$categories), length(strata))
  log_joint <- pick_columns(log_rates, truth_of_class) +
    rep(log(strata), each = length(log_rates)) +
    rowsum_rows(problem$pattern,
      pick_rows(log_rating_probs(problem, parameters$family), problem$cell), nrow(log_rates))
  log_joint[problem$known > 0L & outer(problem$known, truth_of_class, `!=`)] <- -Inf
  log_likelihood <- log_sum_exp(log_joint)
  class_probabilities <- exp(log_joint - log_likelihood)
  list(
    classes = class_probabilities, log_likelihood = log_likelihood, rates = exp(log_rates),
    posterior = rowSums(array(class_probabilities, c(dim(log_rates), length(strata))), dims = 2L)
  )
}

# Divides the parameters into sets, to save calls of the user's function `law`. No two parameters of
# a set affect the same row of `judged`. The derivatives with respect to all parameters of a set can
# therefore be computed from one joint change of these parameters. Adds two fields to the problem:
# * touched: does the parameter affect the row? A logical matrix (rows of `judged` x parameters)
# * set: index of the set of each parameter
add_parameter_sets <- function(problem) {
  parameters <- split_parameters(problem, problem$theta)$family
  parameters <- withr::with_seed(1L, parameters + rnorm(length(parameters), sd = 0.3))
  n_rows <- problem$shape[[1L]]
  probabilities <- family_law(problem, parameters)
  is_affected <- vapply(seq_along(parameters), function(i) {
    changed_probabilities <- family_law(problem, replace(parameters, i, parameters[[i]] + 0.1))
    rowSums(matrix(changed_probabilities != probabilities, n_rows)) > 0
  }, logical(n_rows))
  problem$touched <- matrix(is_affected, n_rows)
  problem$set <- integer(length(parameters))
  for (i in seq_along(parameters)) {
    is_overlapping <- colSums(problem$touched & problem$touched[, i]) > 0
    problem$set[[i]] <- min(setdiff(seq_along(parameters), problem$set[is_overlapping]))
  }
  problem
}

# Returns the gradient of the log likelihood, a vector with an element per element of `theta`.
log_likelihood_gradient <- function(problem, theta) {
  expectations <- compute_expectations(problem, theta)
  shape <- problem$shape
  n_rows <- shape[[1L]]
  parameters <- split_parameters(problem, theta)$family
  expected_counts <- rowsum_rows(problem$cell,
    pick_rows(expectations$classes * problem$weight, problem$pattern), n_rows * shape[[3L]])
  gradient <- if (is.null(problem$family$gradient)) {
    step <- step_sizes(parameters)
    change_by_row <- vapply(seq_len(max(problem$set, 0L)), function(set) {
      joint_step <- step * (problem$set == set)
      likelihood_change <- expected_counts * (log_rating_probs(problem, parameters + joint_step) -
        log_rating_probs(problem, parameters - joint_step))
      rowSums(matrix(likelihood_change, n_rows))
    }, numeric(n_rows))
    colSums(problem$touched * pick_columns(matrix(change_by_row, n_rows), problem$set)) / (2 * step)
  } else {
    expected_counts <- aperm(array(expected_counts, shape[c(1L, 3L, 2L, 4L)]), c(1L, 3L, 2L, 4L))
    if (shape[[4L]] == 1L) dim(expected_counts) <- shape[1:3]
    call_family(problem, "gradient", parameters, problem$judged, problem$categories,
      expected_counts)
  }
  abort_argument_if(!is.numeric(gradient) || length(gradient) != length(parameters), "gradient",
    "{.arg gradient} of the family of models must return {length(parameters)} number{?s}.",
    x = "It returned {describe(gradient)}.", call = NULL)
  rate_residuals <- problem$weight * (expectations$posterior - expectations$rates)
  c(gradient, crossprod(problem$base$matrix, pick_columns(rate_residuals, -1L)))
}

# Maximises the likelihood by a quasi-Newton method and, with at most 150 parameters, further by
# Newton's method. Returns the problem with the estimates in field `theta`, and with the fields
# `log_likelihood`, `iterations` and `converged`. With at most 150 parameters, field `inverse`
# contains the covariance matrix of the estimates.
maximise_family <- function(problem) {
  compute_likelihood <- function(theta) {
    log_likelihood <- sum(problem$weight * compute_expectations(problem, theta)$log_likelihood)
    max(log_likelihood, -.Machine$double.xmax, na.rm = TRUE)
  }
  compute_gradient <- function(theta) log_likelihood_gradient(problem, theta)
  has_few_parameters <- length(problem$theta) <= max_newton_parameters
  control <- list(
    fnscale = -sum(problem$weight), maxit = 1000L, reltol = if (has_few_parameters) 1e-10 else 1e-13
  )
  optimum <- optim(problem$theta, compute_likelihood, compute_gradient, method = "BFGS",
    control = control)
  best_fit <- list(theta = optimum$par, log_likelihood = optimum$value,
    converged = optimum$convergence == 0L,
    iterations = optimum$counts[["gradient"]])
  for (step in seq_len(20L * has_few_parameters)) {
    best_fit$inverse <- inverse_curvature(problem, best_fit$theta)
    gradient <- compute_gradient(best_fit$theta)
    newton_step <- drop(best_fit$inverse %*% gradient)
    expected_gain <- sum(newton_step * gradient) / 2
    best_fit$converged <- expected_gain < 1e-6
    # An expected gain below 1e-9 is smaller than rounding errors of the likelihood, so the step is
    # accepted without a comparison of likelihoods.
    is_better <- function(step_share) {
      expected_gain < 1e-9 ||
        compute_likelihood(best_fit$theta + step_share * newton_step) > best_fit$log_likelihood
    }
    step_share <- if (expected_gain >= 1e-16) Find(is_better, 2^-(0:10))
    if (is.null(step_share)) break
    best_fit$theta <- best_fit$theta + step_share * newton_step
    best_fit$log_likelihood <- compute_likelihood(best_fit$theta)
    best_fit$iterations <- best_fit$iterations + 1
  }
  replace(problem, names(best_fit), best_fit)
}

# Largest number of parameters for which curvature and rank are computed. With more parameters, this
# would take too long.
max_newton_parameters <- 150L

# Returns the generalised inverse of the negative Hessian of the log likelihood. Eigenvectors of the
# Hessian along which the likelihood is flat are left out. Attribute `flat` is TRUE for parameters
# that change along such an eigenvector.
inverse_curvature <- function(problem, theta) {
  negative_hessian_at <- function(step) {
    -central_differences(function(theta) log_likelihood_gradient(problem, theta), theta, step)
  }
  # Richardson extrapolation from two step sizes: the error is of the fourth order of the step.
  negative_hessian <- (4 * negative_hessian_at(4e-3) - negative_hessian_at(8e-3)) / 3
  spectrum <- eigen((negative_hessian + t(negative_hessian)) / 2, symmetric = TRUE)
  is_curved <- spectrum$values > 1e-7 * sum(problem$weight)
  eigenvectors <- pick_columns(spectrum$vectors, is_curved)
  structure(eigenvectors %*% (t(eigenvectors) / spectrum$values[is_curved]),
    flat = rowSums(pick_columns(spectrum$vectors, !is_curved)^2) > 1e-4)
}

# Returns the derivatives of the log likelihood of each pattern, a matrix (patterns x parameters).
pattern_scores <- function(problem, theta) {
  central_differences(function(theta) compute_expectations(problem, theta)$log_likelihood, theta)
}

# Returns TRUE if the parameters can be identified, given which raters rated which cases. The
# function replaces the ratings by random answers. It tests whether the matrix of their scores
# (derivatives of the log likelihood) has full rank. With more than 150 parameters it returns TRUE
# without a test.
identifies_parameters <- function(problem) {
  n_parameters <- length(problem$theta)
  if (n_parameters > max_newton_parameters) return(TRUE)
  scores <- withr::with_seed(1L, {
    # Patterns with a positive weight are repeated in random order, so that there are many more
    # patterns than parameters. Their ratings are replaced by random answers.
    used_patterns <- which(problem$weight > 0)
    n_used_patterns <- length(used_patterns)
    sampled_patterns <- rep_len(used_patterns[sample.int(n_used_patterns)],
      max(30L * n_parameters + 300L, min(n_used_patterns, 2000L)))
    ratings_by_pattern <- split(seq_along(problem$row),
      factor(problem$pattern, seq_along(problem$weight)))[sampled_patterns]
    problem$pattern <- rep(seq_along(sampled_patterns), lengths(ratings_by_pattern))
    row <- problem$row[unlist(ratings_by_pattern)]
    random_answers <- sample.int(problem$shape[[2L]], length(row), replace = TRUE)
    problem$cell <- row + (random_answers - 1L) * problem$shape[[1L]]
    problem$base$matrix <- pick_rows(problem$base$matrix, sampled_patterns)
    problem$known <- problem$known[sampled_patterns]
    pattern_scores(problem, problem$theta + rnorm(n_parameters, sd = 0.3))
  })
  # Columns are divided by their root mean square, but at least by 0.01, so that rounding errors in
  # a column of zeros remain small.
  singular_values <- svd(sweep(scores, 2L, pmax(sqrt(colMeans(scores^2)), 0.01), `/`), 0L, 0L)$d
  singular_values[[n_parameters]] > 1e-6 * singular_values[[1L]]
}
