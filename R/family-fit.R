# Fits of families of models, as fit_raters() gives them.

# `known`: see with_known(). Field `family` of the fit: what is needed to do the same with other
# ratings (family and base, as made for these).
fit_family <- function(x, model, known) {
  by_agreement <- fit_algebraic(x, k_model())
  base <- base_design(x, model)
  made <- family_problem_of(x, model, base, known$truth)
  problem <- made$problem
  fit <- c(
    list(x = x, model = model, method = "likelihood", known = known, family = made$family),
    by_agreement[c("identified", "agreement", "kappa")], list(negative = 0L, base = base)
  )
  fit <- new_rater_fit(fit, "family_fit")
  if (needs_association(model, x)) fit$identified <- shown_by_association(x, fit$identified)
  if (any(known_patterns(fit))) fit$identified <- "yes"
  if (fit$identified == "yes" && !identifies_parameters(problem, made$start)) {
    fit$identified <- "parameters"
  }
  top <- if (fit$identified == "yes") {
    maximise_family(problem, made$start)
  } else {
    list(theta = made$start, log_likelihood = NA_real_, iterations = 0L, converged = TRUE)
  }
  known <- c("theta", "log_likelihood", "iterations", "converged")
  fit[known] <- top[known]
  fit$parameters <- length(top$theta)
  fit <- with_family_numbers(fit, problem, top$inverse)
  if (fit$identified == "yes") fit else without_numbers(fit)
}

# The problem and where to start; `family` has closures of its own for these data.
family_problem_of <- function(x, model, base, known = integer(), system = 0L, bound = NULL) {
  data <- family_data(x, model, base, known, system)
  family <- bound %||% model$family
  if (!is.null(family$bind)) family <- family$bind(data$judged, data$categories)
  if (!is.null(family$prepare)) family$judged <- family$prepare(data$judged)
  own <- family_start(family, data)
  check_law(family_law(family, own, data), family, data)
  if (uses_confidence(model)) {
    family <- confident_family(family, x)
    own <- family_start(family, data)
  }
  problem <- family_problem(data, family)
  if (is.null(family$gradient)) problem$separate <- separate_parameters(problem, own)
  shares <- rowsum_codes(
    rating_category(x), pattern_weights(x)[rating_pattern(x)], length(x$categories)
  )
  logits <- log(shares / sum(shares) + 0.02)
  rates <- matrix(0, ncol(data$base), length(shares) - 1L)
  rates[1L, ] <- logits[-1L] - logits[[1L]]
  list(problem = problem, family = family, start = c(own, as.vector(rates)))
}

# What follows from the parameters: posterior, coefficients and their covariance, matrices.
with_family_numbers <- function(fit, problem, inverse) {
  found <- expect(problem, fit$theta)
  fit$posterior <- posterior_of_categories(problem, found$posterior)
  natural <- family_naturals(fit, problem, fit$theta)
  fit$base_rates <- natural$base_rates
  fit$matrices <- natural$matrices
  fit$coefficients <- natural$coefficients
  fit$rater_accuracy <- mean(natural$accuracy)
  fit["covariance"] <- list(NULL)
  countable <- weights_are_counts(fit$x) && !fit$agreement %in% 1
  if (countable && !is.null(inverse)) {
    slopes <- t(differences(function(at) {
      family_naturals(fit, problem, at)$coefficients
    }, fit$theta))
    fit$covariance <- unname(crossprod(slopes, unclass(inverse) %*% slopes))
    lost <- colSums((slopes * attr(inverse, "flat"))^2) > 1e-12
    probability <- is_probability_term(names(fit$coefficients), fit)
    edge <- probability & (fit$coefficients < 1e-6 | fit$coefficients > 1 - 1e-6)
    fit$covariance[lost | edge, ] <- fit$covariance[, lost | edge] <- NA_real_
  }
  if (!weights_are_counts(fit$x)) fit$log_likelihood <- NA_real_
  fit
}

is_probability_term <- function(terms, fit) {
  accuracy <- c("rater_accuracy", paste0("rater_accuracy[", fit$x$raters, "]"))
  rates <- paste0("base_rate[", fit$x$categories, "]")
  terms %in% c(accuracy, rates, level_terms(fit$x$confidence$levels))
}

# Means over the cases at hand of what parameters say: of raters their matrices and accuracies, of
# categories their rates; and coefficients, what else the family tells of its parameters included.
family_naturals <- function(fit, problem, theta) {
  data <- problem$data
  part <- split_parameters(problem, theta)
  n <- length(data$categories)
  law <- array(family_law(problem$family, part$own, data), problem$shape)
  mean_law <- Reduce(`+`, lapply(seq_along(problem$family$strata), function(s) {
    problem$family$strata[[s]] * array(law[, , seq_len(n), s], c(problem$shape[[1L]], n, n))
  }))
  rates <- colSums(exp(log_base_rates(problem, part$base)) * data$weight) / problem$n
  own <- mean_matrices(mean_law, data)
  accuracy <- vapply(seq_len(nrow(own)), function(j) sum(rates * diag(own[j, , ])), 0)
  by_rater <- fit$model$accuracy == "rater"
  if (by_rater) {
    names(accuracy) <- paste0("rater_accuracy[", fit$x$raters, "]")
  } else {
    accuracy <- c(rater_accuracy = sum(accuracy * rater_shares(data)))
  }
  report <- problem$family$report %||% identity
  raters <- length(fit$x$raters)
  matrices <- own[rep_len(seq_len(nrow(own)), raters), , , drop = FALSE]
  list(
    base_rates = rates, matrices = matrices, accuracy = accuracy,
    coefficients = c(
      accuracy, report(part$own), base_coefficients(fit, part$base),
      stats::setNames(rates, paste0("base_rate[", fit$x$categories, "]"))
    )
  )
}

rater_shares <- function(data) {
  sums <- rowsum_codes(as.integer(data$judged$rater), data$ratings, nlevels(data$judged$rater))
  sums / sum(sums)
}

# Raters x true categories x ratings, from rows of `judged`; NA of raters without a rating.
mean_matrices <- function(law, data) {
  n <- dim(law)[[2L]]
  rater <- as.integer(data$judged$rater)
  out <- array(NA_real_, c(nlevels(data$judged$rater), n, n))
  sums <- rowsum(matrix(law, nrow(data$judged)) * data$ratings, rater)
  out[sort(unique(rater)), , ] <- sums / as.vector(rowsum(data$ratings, rater))
  out
}

# ---- Are parameters told apart? -----------------------------------------------------------------

# By the rank of the scores of answers drawn at random, for cases that were rated by the same raters
# and have the same covariates as those at hand.
identifies_parameters <- function(problem, start, seed = 1L) {
  if (length(start) > most_curved) return(TRUE)
  drawn <- withr::with_seed(seed, random_answers(problem, 30L * length(start) + 300L))
  theta <- withr::with_seed(seed, start + stats::rnorm(length(start), sd = 0.3))
  scores <- as.matrix(pattern_scores(drawn, theta))
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
  ends <- cumsum(lengths)
  at <- sequence(lengths[take], from = ends[take] - lengths[take] + 1L)
  n <- length(data$categories)
  data$pattern <- rep.int(seq_along(take), lengths[take])
  data$row <- data$row[at]
  symbol <- sample.int(n, length(at), replace = TRUE) - 1L
  stated <- which(data$level[at] > 0L)
  levels <- length(problem$family$levels)
  symbol[stated] <- symbol[stated] + n * sample.int(levels, length(stated), replace = TRUE)
  data$cell <- data$row + symbol * problem$shape[[1L]]
  data$patterns <- length(take)
  data$weight <- rep(1, length(take))
  data$base <- data$base[take, , drop = FALSE]
  if (length(data$known) > 0L) data$known <- data$known[take]
  problem$data <- data
  problem$n <- length(take)
  problem
}

# ---- Other ratings ------------------------------------------------------------------------------

# What the fit says of other ratings, in its numbers for categories and raters.
problem_for <- function(fit, x, known = integer()) {
  base <- base_design(x, fit$model, fit$base)
  data <- family_data(x, fit$model, base, known)
  family <- fit$family
  if (!is.null(family$prepare)) family$judged <- family$prepare(data$judged)
  problem <- family_problem(data, family)
  if (is.null(family$gradient)) {
    problem$separate <- separate_parameters(problem, split_parameters(problem, fit$theta)$own)
  }
  problem
}

posterior_of_others.family_fit <- function(fit, x) { # nolint: object_name.
  problem <- problem_for(fit, x)
  posterior_of_categories(problem, expect(problem, fit$theta)$posterior)
}

# See latent_drawing().
drawing_law.family_fit <- function(fit) { # nolint: object_name.
  problem <- problem_for(fit, fit$x)
  part <- split_parameters(problem, fit$theta)
  rates <- exp(log_base_rates(problem, part$base))
  law <- family_law(problem$family, part$own, problem$data)
  cells <- exp(log_cells(law, problem$shape))
  rows <- problem$shape[[1L]]
  list(
    truth = function(pattern) {
      drawn <- stats::runif(length(pattern))
      below <- t(apply(rates, 1L, cumsum))[pattern, -ncol(rates), drop = FALSE]
      1L + as.integer(rowSums(drawn > below))
    },
    strata = problem$family$strata,
    probability = function(class, k, at) {
      cells[cbind(problem$data$row[at] + (k - 1L) * rows, class)]
    }
  )
}

fit_model.family_model <- function(model, checked, method, start) { # nolint: object_name.
  fit_family(checked$x, model, checked$known)
}

refitting.family_fit <- function(fit) NULL # nolint: object_name.

rule_field.family_model <- function(model) "of_family" # nolint: object_name.
