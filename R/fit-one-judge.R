# One judge alone, with a calibration sample: the share of one answer says how frequent its category
# is, once the judge's errors are taken out (Rogan and Gladen, 1978).

is_one_judge <- function(x, model, known) {
  judge <- unique(rating_rater(x))
  length(judge) == 1L && length(known$counts) > 0L && !is.null(known$counts[[judge]]) &&
    n_categories(x) == 2L && is_pooled(model) && !any(known$truth > 0L) &&
    weights_are_counts(x)
}

# Rates of the sample are (right + 1) / (cases + 2). The second category is the positive one.
fit_one_judge <- function(x, model, known) {
  judge <- rating_rater(x)[[1L]]
  counts <- known$counts[[judge]]
  n <- rowSums(counts) + 2
  right <- (diag(counts) + 1) / n
  errors <- right * (1 - right) / n
  weight <- pattern_weights(x)[rating_pattern(x)]
  answers <- sum(weight)
  share <- sum(weight[rating_category(x) == 2L]) / answers
  youden <- sum(right) - 1
  rate <- corrected_rate(share, right)
  matrix <- judge_matrix(right)
  rates <- c(1 - rate, rate)
  posterior <- rbind(t(rates * matrix), rates, deparse.level = 0L)
  place <- rep(3L, n_patterns(x))
  place[rating_pattern(x)] <- rating_category(x)
  raters <- n_raters(x)
  matrices <- array(NA_real_, c(raters, 2L, 2L))
  matrices[judge, , ] <- matrix
  accuracy <- replace(rep(NA_real_, raters), judge, sum(rates * right))
  # How base rate and accuracy move with the share of answers and with both rates.
  moves <- c(1, 1 - rate, -rate) / youden
  slopes <- matrix(NA_real_, raters, 3L)
  slopes[judge, ] <- c(0, rates) + diff(right) * moves
  slopes <- rbind(slopes, -moves, moves)
  covariance <- slopes %*% (c(share * (1 - share) / answers, errors) * t(slopes))
  fit <- new_rater_fit(c("judge_fit", "latent_fit"), x, model, "likelihood", known,
    identified = if (youden > 0 && answers > 0) "yes" else "judge",
    by_agreement = list(identified = NA, agreement = NA_real_, kappa = NA_real_),
    rater_accuracy = accuracy[[judge]], theta = NA_real_, converged = TRUE, base_rates = rates,
    posterior = (posterior / rowSums(posterior))[place, , drop = FALSE], parameters = NA_integer_,
    log_likelihood = NA_real_, log_posterior = NA_real_, iterations = 0L, matrices = matrices,
    coefficients = named_coefficients(accuracy, rates, x, each = TRUE), covariance = covariance,
    calibrated = list(share = share, answers = answers, right = right, n = n)
  )
  if (fit$identified == "yes") fit else without_numbers(fit)
}

judge_matrix <- function(right) {
  rbind(c(right[[1L]], 1 - right[[1L]]), c(1 - right[[2L]], right[[2L]]))
}

# The base rate of the second category.
corrected_rate <- function(share, right) {
  min(max((share + right[[1L]] - 1) / (sum(right) - 1), 0), 1)
}

# Standard errors of what test_numbers() says of the judge, from those of its share of answers and
# of its two rates, by the delta method.
judged_errors <- function(fit, at, rates) {
  judge <- which(!is.na(fit$matrices[, 1L, 1L]))
  from <- c(fit$calibrated$share, fit$calibrated$right)
  variance <- from * (1 - from) / c(fit$calibrated$answers, fit$calibrated$n)
  numbers <- function(of) {
    rate <- corrected_rate(of[[1L]], of[-1L])
    matrices <- array(judge_matrix(of[-1L]), c(1L, 2L, 2L))
    as.vector(test_numbers(matrices, c(1 - rate, rate), rates))
  }
  error <- sqrt(drop(differences(numbers, from)^2 %*% variance))
  out <- array(NA_real_, dim(at))
  out[, , judge] <- ifelse(is.finite(at[, , judge]), error, NA)
  out
}

check_not_one_judge <- function(fit) {
  abort_argument_if(inherits(fit, "judge_fit"), "x",
    "must be a fit to the ratings of several raters.",
    x = "One judge with a calibration sample gives base rates, but says nothing about systems.")
}

# The interval of both base rates of Lee et al. (2025), in [0, 1]: from shares drawn to the middle,
# around a centre that allows for the judge's errors being estimated.
judged_interval <- function(judged, level) {
  z <- normal_quantile(level)
  answers <- judged$answers + z^2
  share <- (judged$share * judged$answers + z^2 / 2) / answers
  youden <- sum(judged$right) - 1
  rate <- (share + judged$right[[1L]] - 1) / youden
  errors <- judged$right * (1 - judged$right) / judged$n
  centre <- rate + 2 * z^2 * (rate * errors[[2L]] - (1 - rate) * errors[[1L]])
  spread <- z / youden * sqrt(
    share * (1 - share) / answers + (1 - rate)^2 * errors[[1L]] + rate^2 * errors[[2L]]
  )
  ends <- pmin(pmax(centre + c(-spread, spread), 0), 1)
  rbind(1 - rev(ends), ends)
}
