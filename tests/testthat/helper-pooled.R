# Hierarchical Dawid-Skene model in simple loops, for comparison with the core. `answers`: cases x
# raters, integers or NA. `n`: number of cases of each row. Uses a fixed-point step for c instead of
# Newton steps, no extrapolation, and one start.

slow_pooled <- function(answers, categories, n = rep(1, nrow(answers)), one_coin = FALSE,
                        rounds = 20000, tolerance = 1e-13, silent = NULL) {
  raters <- ncol(answers)
  K <- categories
  p <- t(apply(answers, 1, function(row) tabulate(row, K) / sum(!is.na(row))))
  p[is.nan(p)] <- 1 / K
  g <- slow_start_of_answering(answers, silent, n, K)
  h <- list(c = 4, a = K - 1, u = rep(1, K), ubar = 1, s = rep(0, raters), tau = 0.6, ups = 0.3,
            w = (1 - diag(K)) / (K - 1))
  for (round in seq_len(rounds)) {
    counts <- array(0, c(raters, K, K))
    for (j in seq_len(raters)) {
      for (l in seq_len(K)) {
        at <- which(answers[, j] == l)
        counts[j, , l] <- colSums(p[at, , drop = FALSE] * n[at])
      }
    }
    class_totals <- colSums(p * n)
    h <- slow_centre(h, counts, one_coin)
    m <- slow_mean(h, raters)
    theta <- counts
    for (j in seq_len(raters)) {
      for (k in seq_len(K)) {
        theta[j, k, ] <- (h$c * m[j, k, ] + counts[j, k, ]) / (h$c + sum(counts[j, k, ]))
      }
    }
    rates <- (class_totals + 1) / (sum(n) + K)
    if (!is.null(silent)) {
      none <- t(vapply(seq_len(raters), function(j) colSums(p * silent[, j] * n), numeric(K)))
      g <- slow_answering(g, apply(counts, c(1, 2), sum), none)
    }
    before <- p
    for (i in seq_len(nrow(answers))) {
      log_p <- log(rates)
      for (j in which(!is.na(answers[i, ]))) log_p <- log_p + log(theta[j, , answers[i, j]])
      for (j in g$counted) {
        if (!is.na(answers[i, j])) log_p <- log_p + log(g$answered[j, ])
        if (silent[i, j]) log_p <- log_p + log1p(-g$answered[j, ])
      }
      p[i, ] <- exp(log_p - max(log_p)) / sum(exp(log_p - max(log_p)))
    }
    if (max(abs(p - before)) < tolerance) break
  }
  c(h, list(posterior = p, base_rates = rates, matrices = theta, answering = g))
}

# Starting values of the model of abstentions, for raters who answered some cases and abstained on
# others. `silent`: TRUE if a rater abstained on a case, cases x raters.
slow_start_of_answering <- function(answers, silent, n, K) {
  if (is.null(silent)) return(NULL)
  answered <- colSums(!is.na(answers) * n)
  none <- colSums(silent * n)
  list(
    counted = which(answered > 0 & none > 0), b = log((answered + 0.5) / (none + 0.5)),
    h = numeric(K), kappa = 4, omega = 0.3, answered = matrix(1, ncol(answers), K)
  )
}

# Does one round of the model of abstentions. `answered`, `none`: expected numbers of answers and of
# abstentions, raters x truths. The concentration is computed by fixed-point steps.
slow_answering <- function(g, answered, none) {
  for (update in 1:3) {
    mu <- plogis(outer(g$b, g$h, `+`))
    gain <- function(a, n) digamma(a + n) - digamma(a)
    j <- g$counted
    gain_answered <- gain(g$kappa * mu, answered)[j, ]
    gain_none <- gain(g$kappa * (1 - mu), none)[j, ]
    up <- sum(mu[j, ] * gain_answered + (1 - mu[j, ]) * gain_none)
    down <- sum(gain(g$kappa, answered + none)[j, ]) + 2 / (1 + g$kappa)
    t1 <- g$kappa * mu[j, ] * gain_answered
    all <- t1 + g$kappa * (1 - mu[j, ]) * gain_none
    g$kappa <- min(max(g$kappa * up / down, 0.1), 1e4)
    p <- plogis(g$b[j])
    g$b[j] <- g$b[j] + (0.5 - p + rowSums(t1 - all * mu[j, ])) /
      (p * (1 - p) + rowSums(all * mu[j, ] * (1 - mu[j, ])))
    mu <- plogis(outer(g$b, g$h, `+`))[j, ]
    bend <- colSums(all * mu * (1 - mu)) + 1 / g$omega^2
    g$h <- g$h + (colSums(t1 - all * mu) - g$h / g$omega^2) / bend
    g$omega <- sqrt((0.09 + sum(g$h^2 + 1 / bend)) / (length(g$h) + 1))
  }
  mu <- plogis(outer(g$b, g$h, `+`))
  g$answered[j, ] <- ((g$kappa * mu + answered) / (g$kappa + answered + none))[j, ]
  g
}

slow_mean <- function(h, raters) {
  K <- length(h$u)
  m <- array(0, c(raters, K, K))
  for (j in seq_len(raters)) {
    for (k in seq_len(K)) {
      right <- plogis(h$u[[k]] + h$s[[j]])
      m[j, k, ] <- (1 - right) * h$w[k, ]
      m[j, k, k] <- right
    }
  }
  m
}

slow_centre <- function(h, counts, one_coin) {
  raters <- dim(counts)[[1L]]
  K <- length(h$u)
  m <- slow_mean(h, raters)
  d <- digamma(h$c * m + counts) - digamma(h$c * m)
  totals <- apply(counts, c(1, 2), sum)
  up <- sum(m * d)
  down <- sum(digamma(h$c + totals) - digamma(h$c)) + 2 / (1 + h$c)
  t <- h$c * m * d
  h$c <- min(max(h$c * up / down, 0.1), 1e4)
  all <- apply(t, c(1, 2), sum)
  right <- t(vapply(seq_len(raters), function(j) diag(t[j, , ]), numeric(K)))
  if (K > 2 && !one_coin) {
    x <- apply(t, c(2, 3), sum) * (1 - diag(K))
    share_of_size <- h$a / (K - 1)
    gain <- sum((digamma(share_of_size + x) - digamma(share_of_size)) * (1 - diag(K))) / (K - 1)
    cost <- sum(digamma(h$a + rowSums(x)) - digamma(h$a)) + 2 / (1 + h$a)
    h$w <- (x + share_of_size) / (rowSums(x) + h$a) * (1 - diag(K))
    h$a <- h$a * gain / cost
  }
  p <- plogis(outer(h$s, h$u, `+`))
  slope <- colSums(right - all * p)
  bend <- colSums(all * p * (1 - p))
  if (one_coin) {
    q <- plogis(h$u[[1]])
    h$u[] <- h$u[[1]] + (sum(slope) + 5 * (0.6 - q)) / (sum(bend) + 5 * q * (1 - q))
  } else {
    h$u <- h$u + (slope - (h$u - h$ubar) / h$ups^2) / (bend + 1 / h$ups^2)
    q <- plogis(h$ubar)
    h$ubar <- h$ubar + (5 * (0.6 - q) + sum(h$u - h$ubar) / h$ups^2) /
      (5 * q * (1 - q) + K / h$ups^2)
    h$ups <- sqrt((0.09 + sum((h$u - h$ubar)^2 + 1 / (bend + 1 / h$ups^2))) / (K + 1))
  }
  p <- plogis(outer(h$s, h$u, `+`))
  bend <- rowSums(all * p * (1 - p)) + 1 / h$tau^2
  h$s <- h$s + (rowSums(right - all * p) - h$s / h$tau^2) / bend
  h$tau <- sqrt((2 * 0.36 + sum(h$s^2 + 1 / bend)) / (raters + 2))
  h
}

# Flattens posteriors (moves them towards the base rates), one row at a time, by the definition.
# `q`: posteriors, cases x categories. `r`: number of ratings of each case. `rho`: correlation of
# errors.
slow_flatten <- function(q, r, rho, rates) {
  for (i in seq_len(nrow(q))) {
    if (r[[i]] < 2) next
    beta <- 1 / (1 + (r[[i]] - 1) * rho)
    most_probable <- which.max(q[i, ])
    eta <- 1
    for (k in seq_len(ncol(q))[-most_probable]) {
      d <- beta * (log(q[i, most_probable]) - log(q[i, k]))
      e <- (1 - beta) * (log(rates[[k]]) - log(rates[[most_probable]]))
      if (e > 0) eta <- min(eta, d / (d + e))
    }
    flat <- q[i, ]^beta * rates^(eta * (1 - beta))
    q[i, ] <- flat / sum(flat)
  }
  q
}

# Three tests of 20 000 patients: sensitivity .30, .95, .25, specificity .96, .60, .97.
three_tests <- function() {
  tests <- data.frame(
    a = c(0, 1), b = c(0, 0, 1, 1), c = rep(0:1, each = 4),
    n = c(3209, 309, 9403, 3221, 234, 65, 2512, 1047)
  )
  ratings(tests, raters = a:c, weights = n)
}

# Three tests of liver flukes. The pattern without cases has no row.
fluke_tests <- function() {
  tests <- data.frame(
    a = c(0, 1, 0, 0, 1, 0, 1), b = c(0, 0, 1, 0, 0, 1, 1), c = rep(0:1, c(3, 4)),
    n = c(86, 5, 4, 9, 1, 3, 1)
  )
  ratings(tests, raters = a:c, weights = n)
}

three_categories <- function() {
  rows <- c(
    "111-", "1121", "11-2", "2222", "2232", "212-", "3333", "3323", "33-1", "1211", "3332", "2221"
  )
  answers <- do.call(rbind, strsplit(rows, "", fixed = TRUE))
  answers[answers == "-"] <- NA
  ratings(answers)
}

# Reads the ratings of a public data set. Adds the raters whose ratings are stored in the folder as
# systems (names that begin with `heldout_`).
ratings_with_held_out <- function(folder) {
  read <- function(name) {
    file <- list.files(folder, paste0("^", name, "[.]csv"), full.names = TRUE)
    if (length(file) > 0) utils::read.csv(file[[1]], colClasses = "character")
  }
  answers <- read("ratings")[c("case", "rater", "rating")]
  held_out <- read("systems")
  held_out <- held_out[startsWith(as.character(held_out$system), "heldout_"), ]
  if (NROW(held_out) > 0) {
    answers <- rbind(answers, data.frame(
      case = held_out$case, rater = sub(".*_", "", held_out$system), rating = held_out$prediction
    ))
  }
  ratings(answers, case = case, rater = rater, rating = rating)
}

# Ratings as a matrix of labels: cases x raters.
wide_answers <- function(x) {
  answers <- answers_by_pattern(x)[x$index, seq_along(x$raters), drop = FALSE]
  matrix(x$categories[answers], nrow(answers), dimnames = list(NULL, x$raters))
}

# Log density of a fit, by which fits from different starts are compared.
slow_log_density <- function(fit, answers, n = rep(1, nrow(answers))) {
  K <- length(fit$u)
  raters <- length(fit$s)
  m <- slow_mean(fit, raters)
  out <- -2 * log1p(fit$c)
  class_totals <- colSums(fit$posterior * n)
  for (j in seq_len(raters)) {
    for (k in seq_len(K)) {
      expected <- vapply(seq_len(K), function(l) {
        at <- which(answers[, j] == l)
        sum(fit$posterior[at, k] * n[at])
      }, 0)
      alpha <- fit$c * m[j, k, ]
      out <- out + lgamma(fit$c) - lgamma(fit$c + sum(expected)) +
        sum(lgamma(alpha + expected) - lgamma(alpha))
    }
  }
  p <- fit$posterior
  out <- out - sum(n * ifelse(p > 0, p * log(p), 0)) + sum(lgamma(1 + class_totals)) + lgamma(K) -
    lgamma(K + sum(n))
  out <- out - sum(fit$s^2) / (2 * fit$tau^2) - (raters + 2) * log(fit$tau) - 0.36 / fit$tau^2
  out <- out + 3 * plogis(fit$ubar, log.p = TRUE) + 2 * plogis(-fit$ubar, log.p = TRUE)
  out <- out - sum((fit$u - fit$ubar)^2) / (2 * fit$ups^2) - (K + 1) * log(fit$ups) -
    0.045 / fit$ups^2
  share_of_size <- fit$a / (K - 1)
  w <- fit$w[row(fit$w) != col(fit$w)]
  out - 2 * log1p(fit$a) + K * (lgamma(fit$a) - (K - 1) * lgamma(share_of_size)) +
    sum((share_of_size - 1) * log(w))
}
