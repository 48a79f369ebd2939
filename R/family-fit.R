# Fits of families of models, as fit_raters() gives them.

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
  same <- c("theta", "log_likelihood", "iterations", "converged")
  fit[same] <- problem[same]
  fit$parameters <- length(problem$theta)
  fit$posterior <- expect(problem, problem$theta)$posterior
  naturals <- function(theta) family_naturals(fit, problem, theta)
  same <- c("base_rates", "matrices", "coefficients", "rater_accuracy")
  fit[same] <- naturals(problem$theta)[same]
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

# Means over the cases at hand: matrices of raters (raters x true categories x ratings, NA for
# raters without a rating), their mean accuracy, and base rates; and all coefficients.
family_naturals <- function(fit, problem, theta) {
  part <- split_parameters(problem, theta)
  shape <- problem$shape
  law <- matrix(family_law(problem, part$own), ncol = shape[[4L]]) %*% problem$family$strata
  rates <- exp(log_base_rates(problem$base$matrix, part$base)) * problem$weight
  rates <- colSums(rates) / sum(problem$weight)
  rater <- as.integer(problem$judged$rater)
  ratings <- rowsum_codes(problem$row, problem$weight[problem$pattern], shape[[1L]])
  sums <- rowsum_rows(rater, cbind(ratings, matrix(law, shape[[1L]]) * ratings),
    length(fit$x$raters))
  rated <- replace(sums[, 1L], sums[, 1L] == 0, NA)
  matrices <- array(sums[, -1L] / rated, c(nrow(sums), shape[2:3]))
  accuracy <- colSums(rates * apply(matrices, 1L, diag))
  # Coefficients of the unscaled covariates; none if there are no covariates.
  base <- fit$known$base
  terms <- if (length(base$names) > 1L) {
    stats::setNames(as.vector(unscaled(base) %*% part$base),
      coefficient_terms(base$names, fit$x$categories))
  }
  list(
    base_rates = rates, rater_accuracy = mean(accuracy), matrices = matrices,
    coefficients = c(
      stats::setNames(accuracy, rater_terms(fit$x)), part$own, terms,
      stats::setNames(rates, rate_terms(fit$x))
    )
  )
}

# A problem of the fit and other ratings, in its numbers for categories and raters.
problem_for <- function(fit, x, known = integer()) {
  family_problem(x, fit$model, known, like = fit$known$base, theta = fit$theta)
}

posterior_of_others.family_fit <- function(fit, x) { # nolint: object_name.
  expect(problem_for(fit, x), fit$theta)$posterior
}

drawing_law.family_fit <- function(fit) { # nolint: object_name.
  problem <- problem_for(fit, fit$x)
  cells <- exp(log_cells(problem, split_parameters(problem, fit$theta)$own))
  list(
    truth = function(pattern) draw_truth(fit, pattern),
    strata = problem$family$strata,
    probability = function(class, k, at) {
      cells[cbind(problem$row[at] + (k - 1L) * problem$shape[[1L]], class)]
    }
  )
}

refitting.family_fit <- function(fit) NULL # nolint: object_name.
