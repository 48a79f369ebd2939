# Slow reference implementation of one averaged model: one-coin raters and a system, uniform errors,
# three strata of difficulty. Answers are dense codes, one column per judge, the system last.

# Returns the joint probability of the answers and each true category: cases x categories.
reference_joint <- function(answers, N, base_rates, accuracy, shift) {
  strata <- lapply(accuracy, reference_strata, shift)
  out <- matrix(0, nrow(answers), N)
  for (s in seq_along(strata[[1]])) {
    for (k in seq_len(N)) {
      product <- rep(base_rates[k] / length(strata[[1]]), nrow(answers))
      for (u in seq_along(accuracy)) {
        p <- min(max(strata[[u]][s], 1e-12), 1 - 1e-12)
        product <- product * ifelse(answers[, u] == k, p, (1 - p) / (N - 1))
      }
      out[, k] <- out[, k] + product
    }
  }
  out
}

# Returns the log evidence by Laplace's method, and the mean posterior probability of the system's
# answers at the maximum. The parameters are the log ratios of the base rates to the last base rate,
# the logit of the raters' common accuracy, and the logit of the system's accuracy.
reference_member <- function(answers, N, shift) {
  raters <- ncol(answers) - 1
  natural_parameters <- function(x) {
    rates <- exp(c(x[seq_len(N - 1)], 0))
    rates <- rates / sum(rates)
    p <- stats::plogis(x[N + 0:1])
    list(rates = rates, p = p, joint = reference_joint(
      answers, N, rates, c(rep(p[1], raters), p[2]), shift
    ))
  }
  # The priors are Dirichlet(1) for base rates, Beta(3, 2) for the raters' accuracy and Beta(1, 1)
  # for the system's accuracy, as densities of log ratios and logits.
  log_posterior <- function(x) {
    y <- natural_parameters(x)
    sum(log(rowSums(y$joint))) + lgamma(N) + sum(log(y$rates)) +
      stats::dbeta(y$p[1], 3, 2, log = TRUE) + sum(log(y$p * (1 - y$p)))
  }
  start <- c(rep(0, N - 1), 0.5, 0)
  optimum <- stats::optim(
    start, log_posterior,
    method = "BFGS", control = list(fnscale = -1, reltol = 1e-15, maxit = 1000)
  )
  # Ridge on the two accuracies, and on the log base rates of all categories around their mean.
  ridge <- diag(0.05, N + 1)
  ridge[seq_len(N - 1), seq_len(N - 1)] <- 0.05 * crossprod(diag(N) - 1 / N)[-N, -N]
  curvature <- -stats::optimHess(optimum$par, log_posterior) + ridge
  joint <- natural_parameters(optimum$par)$joint
  list(
    log_evidence = optimum$value + (N + 1) / 2 * log(2 * pi) - 0.5 * log(det(curvature)),
    estimate = mean((joint / rowSums(joint))[cbind(seq_len(nrow(joint)), answers[, raters + 1])])
  )
}
