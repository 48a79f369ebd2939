# Fits of families of models, as fit_raters() gives them.

# Field `base` of the fit: the design of the base rates, see formula_design().
fit_model.family_model <- function(model, checked, start) { # nolint: object_name.
  x <- checked$x
  base <- formula_design(model$base_rates, pattern_covariates(x))
  problem <- family_problem_of(x, model, base, checked$known$truth)
  fit <- new_rater_fit("family_fit", x, model, "likelihood", checked$known)
  fit$known$base <- base[names(base) != "matrix"]
  fit$identified <- identified_as(fit, identifies_parameters(problem))
  top <- if (fit$identified == "yes") {
    maximise_family(problem)
  } else {
    list(theta = problem$start, log_likelihood = NA_real_, iterations = 0L, converged = TRUE)
  }
  same <- c("theta", "log_likelihood", "iterations", "converged")
  fit[same] <- top[same]
  fit$parameters <- length(top$theta)
  fit <- with_family_numbers(fit, problem, top$inverse)
  if (fit$identified == "yes") fit else without_numbers(fit)
}

# The problem, and in `start` where to start.
family_problem_of <- function(x, model, base, known = integer(), system = 0L) {
  data <- family_data(x, model, base, known, system)
  own <- family_start(model$family, data)
  check_law(model$family, own, data)
  problem <- family_problem(data, model$family, own)
  shares <- rowsum_codes(
    rating_category(x), pattern_weights(x)[rating_pattern(x)], length(x$categories)
  )
  logits <- log(shares / sum(shares) + 0.02)
  rates <- matrix(0, ncol(data$base), length(shares) - 1L)
  rates[1L, ] <- logits[-1L] - logits[[1L]]
  problem$start <- c(own, as.vector(rates))
  problem
}

# What follows from the parameters: posterior, coefficients and their covariance, matrices.
with_family_numbers <- function(fit, problem, inverse) {
  fit$posterior <- posterior_of_categories(problem, expect(problem, fit$theta)$posterior)
  natural <- family_naturals(fit, problem, fit$theta)
  same <- c("base_rates", "matrices", "coefficients")
  fit[same] <- natural[same]
  fit$rater_accuracy <- mean(natural$accuracy)
  fit["covariance"] <- list(NULL)
  countable <- weights_are_counts(fit$x)
  if (!countable) fit$log_likelihood <- NA_real_
  if (!countable || fit$agreement %in% 1 || is.null(inverse)) return(fit)
  slopes <- t(differences(function(at) {
    family_naturals(fit, problem, at)$coefficients
  }, fit$theta))
  fit$covariance <- unname(crossprod(slopes, unclass(inverse) %*% slopes))
  lost <- colSums((slopes * attr(inverse, "flat"))^2) > 1e-12
  probability <- is_probability_term(names(fit$coefficients), fit)
  edge <- probability & (fit$coefficients < 1e-6 | fit$coefficients > 1 - 1e-6)
  fit$covariance[lost | edge, ] <- fit$covariance[, lost | edge] <- NA_real_
  fit
}

# Means over the cases at hand: matrices of raters (raters x true categories x ratings, NA for
# raters without a rating), their accuracies, and base rates; and all coefficients.
family_naturals <- function(fit, problem, theta) {
  data <- problem$data
  part <- split_parameters(problem, theta)
  n <- length(data$categories)
  law <- array(family_law(problem$family, part$own, data), problem$shape)
  mean_law <- matrix(law, ncol = problem$shape[[4L]]) %*% problem$family$strata
  rates <- colSums(exp(log_base_rates(data$base, part$base)) * data$weight) / problem$n
  rater <- as.integer(data$judged$rater)
  raters <- nlevels(data$judged$rater)
  ratings <- rowsum_codes(rater, data$ratings, raters)
  sums <- rowsum_rows(rater, matrix(mean_law, nrow(data$judged)) * data$ratings, raters)
  own <- array(sums / replace(ratings, ratings == 0, NA), c(raters, n, n))
  accuracy <- vapply(seq_len(raters), function(j) sum(rates * diag(own[j, , ])), 0)
  each <- fit$model$accuracy == "rater"
  if (!each) accuracy <- sum(accuracy * ratings / sum(ratings))
  list(
    base_rates = rates, accuracy = accuracy,
    matrices = own[rep_len(seq_len(raters), length(fit$x$raters)), , , drop = FALSE],
    coefficients = c(
      stats::setNames(accuracy, if (each) rater_terms(fit$x) else "rater_accuracy"),
      part$own, base_coefficients(fit, part$base), stats::setNames(rates, rate_terms(fit$x))
    )
  )
}

# Coefficients of the unscaled covariates; none if there are no covariates.
base_coefficients <- function(fit, coefficients) {
  if (nrow(coefficients) == 1L) return(NULL)
  base <- fit$known$base
  raw <- coefficients / base$scale
  raw[1L, ] <- raw[1L, ] - colSums(raw * base$centre)
  stats::setNames(as.vector(raw), coefficient_terms(base$names, fit$x$categories))
}

# ---- Are parameters told apart? -----------------------------------------------------------------

# By the rank of the scores of answers drawn at random, for cases that were rated by the same raters
# and have the same covariates as those at hand.
identifies_parameters <- function(problem, seed = 1L) {
  start <- problem$start
  if (length(start) > most_curved) return(TRUE)
  drawn <- withr::with_seed(seed, random_answers(problem, 30L * length(start) + 300L))
  theta <- withr::with_seed(seed, start + stats::rnorm(length(start), sd = 0.3))
  scores <- pattern_scores(drawn, theta)
  lengths <- sqrt(colMeans(scores^2))
  if (any(lengths < 1e-8)) return(FALSE)
  values <- svd(sweep(scores, 2L, lengths, `/`), 0L, 0L)$d
  values[[length(start)]] > 1e-6 * values[[1L]]
}

# A problem with other answers: cases (of any weight) taken in turn, each several times.
random_answers <- function(problem, size) {
  data <- problem$data
  used <- which(data$weight > 0)
  take <- rep_len(used[sample.int(length(used))], max(size, min(length(used), 2000L)))
  lengths <- tabulate(data$pattern, data$patterns)
  at <- sequence(lengths[take], from = (cumsum(lengths) - lengths + 1L)[take])
  n <- length(data$categories)
  symbol <- sample.int(n, length(at), replace = TRUE) - 1L
  problem$n <- data$patterns <- length(take)
  data$pattern <- rep.int(seq_along(take), lengths[take])
  data$row <- data$row[at]
  data$cell <- data$row + symbol * problem$shape[[1L]]
  data$weight <- rep(1, length(take))
  data$base <- data$base[take, , drop = FALSE]
  if (length(data$known) > 0L) data$known <- data$known[take]
  problem$data <- data
  problem
}

# ---- Other ratings ------------------------------------------------------------------------------

# What the fit says of other ratings, in its numbers for categories and raters.
problem_for <- function(fit, x, known = integer()) {
  base <- formula_design(fit$model$base_rates, pattern_covariates(x), fit$known$base)
  own <- utils::head(fit$theta, -ncol(base$matrix) * (length(x$categories) - 1L))
  data <- family_data(x, fit$model, base, known)
  family_problem(data, fit$model$family, own)
}

posterior_of_others.family_fit <- function(fit, x) { # nolint: object_name.
  problem <- problem_for(fit, x)
  posterior_of_categories(problem, expect(problem, fit$theta)$posterior)
}

drawing_law.family_fit <- function(fit) { # nolint: object_name.
  problem <- problem_for(fit, fit$x)
  part <- split_parameters(problem, fit$theta)
  cells <- exp(log_cells(problem, part$own))
  rows <- problem$shape[[1L]]
  list(
    truth = function(pattern) draw_truth(fit, pattern),
    strata = problem$family$strata,
    probability = function(class, k, at) {
      cells[cbind(problem$data$row[at] + (k - 1L) * rows, class)]
    }
  )
}

refitting.family_fit <- function(fit) NULL # nolint: object_name.
