# Slow reference implementation of check_k_properties(): latent class models of raters and a system,
# fitted by optim().

# Returns the answers as codes: cases x judges, NA if there is no answer. The system is the last
# judge.
reference_answers <- function(x) {
  table <- as.data.frame(x)
  out <- matrix(NA_integer_, length(x$cases), length(x$raters) + length(x$systems))
  out[cbind(match(table$case, x$cases), match(table$rater, x$raters))] <- as.integer(table$rating)
  if (length(x$systems) > 0L) {
    out[, length(x$raters) + 1L] <- x$patterns$answer[x$index, 1L]
  }
  out
}

# Converts a vector of parameters to base rates, and to a confusion matrix per judge and stratum.
# The order of the parameters is base rates (log ratios to the last category), mean accuracy and
# accuracies (logits), dispersion (logarithm), and difficulty (not transformed).
reference_law <- function(theta, model, raters, judges, N) {
  rates <- exp(c(theta[seq_len(N - 1L)], 0))
  rates <- rates / sum(rates)
  theta <- theta[-seq_len(N - 1L)]
  by_rater <- model$accuracy == "rater"
  mean <- if (by_rater) theta[[1L]]
  if (by_rater) theta <- theta[-1L]
  groups <- (if (by_rater) raters else 1L) + (judges > raters)
  logits <- theta[seq_len(groups)]
  theta <- theta[-seq_len(groups)]
  log_dispersion <- if (model$errors == "distance") theta[[1L]] else 0
  d <- if (model$difficulty == "strata") abs(theta[[length(theta)]]) else NULL
  errors <- exp(-log_dispersion * abs(outer(seq_len(N), seq_len(N), "-"))) * (1 - diag(N))
  errors <- errors / rowSums(errors)
  matrices <- lapply(seq_len(judges), function(u) {
    group <- if (u > raters) groups else if (by_rater) u else 1L
    accuracy <- stats::plogis(logits[[group]])
    p <- if (is.null(d)) accuracy else reference_strata(accuracy, d)
    lapply(pmin(pmax(p, 1e-12), 1 - 1e-12), function(p) p * diag(N) + (1 - p) * errors)
  })
  list(
    rates = rates, matrices = matrices, strata = length(matrices[[1L]]), mean = mean,
    logits = logits, log_dispersion = log_dispersion, d = d
  )
}

reference_log_likelihood <- function(law, answers, weights) {
  N <- length(law$rates)
  joint <- 0
  for (s in seq_len(law$strata)) {
    for (k in seq_len(N)) {
      p <- law$rates[[k]] / law$strata
      for (u in seq_len(ncol(answers))) {
        p_answer <- law$matrices[[u]][[s]][k, answers[, u]]
        p <- p * ifelse(is.na(p_answer), 1, p_answer)
      }
      joint <- joint + p
    }
  }
  sum(weights * log(joint))
}

# Log prior density, with the priors in the help of rater_model(), as a density of logits and
# logarithms.
reference_log_prior <- function(law, joined) {
  beta <- function(logit, a, b) a * stats::plogis(logit, log.p = TRUE) +
    b * stats::plogis(-logit, log.p = TRUE)
  rater_logits <- if (joined) utils::head(law$logits, -1L) else law$logits
  sum(log(law$rates)) +
    (if (is.null(law$mean)) {
      sum(beta(rater_logits, 3, 2))
    } else {
      beta(law$mean, 3, 2) - sum((rater_logits - law$mean)^2) / (2 * 0.6^2)
    }) +
    (if (joined) beta(utils::tail(law$logits, 1L), 1, 1) else 0) -
    law$log_dispersion^2 / (2 * 0.7^2) - (law$d %||% 0)^2 / (2 * 0.2^2)
}

reference_latent <- function(model, answers, raters, N, weights = rep(1, nrow(answers))) {
  judges <- ncol(answers)
  joined <- judges > raters
  groups <- (if (model$accuracy == "rater") raters + 1L else 1L) + joined
  start <- c(
    rep(0, N - 1L), rep(0.5, groups), if (model$errors == "distance") 0.2,
    if (model$difficulty == "strata") 0.1
  )
  objective <- function(theta) {
    law <- reference_law(theta, model, raters, judges, N)
    -reference_log_likelihood(law, answers, weights) - reference_log_prior(law, joined)
  }
  optimum <- list(par = start)
  for (i in 1:3) {
    optimum <- stats::optim(optimum$par, objective, method = "BFGS",
      control = list(maxit = 500, reltol = 1e-14, ndeps = rep(1e-5, length(start))))
  }
  law <- reference_law(optimum$par, model, raters, judges, N)
  list(law = law, log_likelihood = reference_log_likelihood(law, answers, weights))
}

# Returns the observed and the expected number of disagreeing pairs of ratings by two raters, for
# each pair of categories k < l.
reference_disagreements <- function(law, answers, raters) {
  N <- length(law$rates)
  cells <- utils::combn(N, 2L)
  observed <- expected <- numeric(ncol(cells))
  for (u in seq_len(raters - 1L)) {
    for (v in (u + 1L):raters) {
      rated_by_both <- !is.na(answers[, u]) & !is.na(answers[, v])
      joint <- 0
      for (s in seq_len(law$strata)) {
        joint <- joint + t(law$matrices[[u]][[s]]) %*% (law$rates * law$matrices[[v]][[s]]) /
          law$strata
      }
      codes <- answers[rated_by_both, c(u, v), drop = FALSE]
      table <- table(factor(codes[, 1L], seq_len(N)), factor(codes[, 2L], seq_len(N)))
      for (i in seq_len(ncol(cells))) {
        k <- cells[1L, i]
        l <- cells[2L, i]
        observed[i] <- observed[i] + table[k, l] + table[l, k]
        expected[i] <- expected[i] + sum(rated_by_both) * (joint[k, l] + joint[l, k])
      }
    }
  }
  list(observed = observed, expected = expected * sum(observed) / sum(expected))
}
