# User-defined models, and slow reference implementations ("twins") of built-in models.

# Returns nodes and weights of Gauss-Hermite quadrature, for means over a standard normal variable
# (method of Golub and Welsch).
normal_nodes <- function(n) {
  m <- matrix(0, n, n)
  m[cbind(2:n, 1:(n - 1))] <- sqrt(1:(n - 1))
  spectrum <- eigen(m + t(m))
  list(node = spectrum$values, weight = spectrum$vectors[1, ]^2)
}

# The model GLAD (Whitehill et al. 2009) as a user-defined family. The ease of cases has a
# log-normal distribution.
glad <- function(nodes = 9, ...) {
  q <- normal_nodes(nodes)
  rater_family(
    start = function(judged, categories) {
      raters <- levels(judged$rater)
      setNames(rep(1, length(raters)), paste("skill of", raters))
    },
    law = function(parameters, judged, categories) {
      n <- length(categories)
      right <- plogis(outer(parameters[as.integer(judged$rater)], exp(q$node)))
      out <- array(0, c(nrow(judged), n, n, length(q$node)))
      for (t in seq_len(n)) {
        for (k in seq_len(n)) out[, t, k, ] <- if (t == k) right else (1 - right) / (n - 1)
      }
      out
    },
    strata = q$weight, words = "GLAD", ...
  )
}

# Computes the log likelihood of GLAD, case by case.
glad_likelihood <- function(skill, rates, data, n, nodes = 9) {
  q <- normal_nodes(nodes)
  sum(apply(data, 1, function(answers) {
    total <- 0
    for (truth in seq_len(n)) {
      for (s in seq_along(q$node)) {
        p <- q$weight[s] * rates[truth]
        for (j in which(!is.na(answers))) {
          right <- 1 / (1 + exp(-skill[j] * exp(q$node[s])))
          p <- p * if (answers[j] == truth) right else (1 - right) / (n - 1)
        }
        total <- total + p
      }
    }
    log(total)
  }))
}

draw_glad <- function(n, skill = c(0.6, 1, 1.6, 1, 2), rates = c(0.5, 0.3, 0.2)) {
  truth <- sample.int(length(rates), n, TRUE, rates)
  ease <- exp(rnorm(n))
  answers <- vapply(skill, function(a) {
    wrong <- (truth + sample.int(length(rates) - 1, n, TRUE) - 1) %% length(rates) + 1
    ifelse(runif(n) < plogis(a * ease), truth, wrong)
  }, numeric(n))
  colnames(answers) <- paste0("r", seq_along(skill))
  list(answers = answers, truth = truth)
}

# Draws a panel with a covariate z. The logit of the raters' accuracy is linear in z. System a has
# the same slope; system b has the same accuracy for all z.
draw_slopes <- function(n, slope = 1.2, levels = c(0.2, 0.5, 0.8, 0.4), a = 1.3, b = 0.815) {
  z <- rnorm(n)
  truth <- sample.int(3, n, TRUE, c(0.5, 0.3, 0.2))
  answer <- function(p) {
    wrong <- (truth + sample.int(2, n, TRUE) - 1) %% 3 + 1
    ifelse(runif(n) < p, truth, wrong)
  }
  data <- data.frame(z = z)
  for (j in seq_along(levels)) data[[paste0("r", j)]] <- answer(plogis(levels[j] + slope * z))
  data$a <- answer(plogis(a + slope * z))
  data$b <- answer(b)
  x <- ratings(
    data, raters = r1:r4, systems = c(a, b), covariates = z, categories = 1:3
  )
  mean_right <- integrate(function(z) plogis(a + slope * z) * dnorm(z), -8, 8)$value
  with_truth(x, truth, expected = c(a = mean_right, b = b))
}

# Two tests of tuberculosis in two populations (Hui and Walter 1980).
hui_walter <- function() {
  data.frame(
    population = rep(c("1", "2"), each = 4), mantoux = rep(c("+", "+", "-", "-"), 2),
    tine = rep(c("+", "-", "+", "-"), 2), n = c(14, 4, 9, 528, 887, 31, 37, 367)
  )
}

# Slow reference implementations of the models of ordered errors and of confidence.

# Computes thresholds from parameters in the order slope, middle threshold, logarithms of the
# distances between neighbouring thresholds.
twin_limits <- function(p) {
  at <- cumsum(c(0, exp(p[-(1:2)])))
  p[[2]] + at - at[[length(p) %/% 2]]
}

# Confusion matrix of the cumulative probit model: truths x ratings.
twin_ordinal <- function(slope, limits) {
  n <- length(limits) + 1
  t(vapply(seq_len(n), function(k) {
    diff(stats::pnorm(c(-Inf, limits, Inf), slope * (k - (n + 1) / 2)))
  }, numeric(n)))
}

# The cumulative probit model as a user-defined family.
twin_of_ordinal <- function() {
  rater_family(
    start = function(judged, categories) {
      n <- length(categories)
      rep(c(2, 2 * (n %/% 2 - n / 2), rep(log(2), n - 2)), nlevels(judged$rater))
    },
    law = function(parameters, judged, categories) {
      n <- length(categories)
      rater_parameters <- matrix(parameters, n)[, as.integer(judged$rater), drop = FALSE]
      out <- array(0, c(nrow(judged), n, n))
      for (i in seq_len(nrow(judged))) {
        out[i, , ] <- twin_ordinal(rater_parameters[1, i], twin_limits(rater_parameters[, i]))
      }
      out
    },
    words = "slow ordinal"
  )
}

# Largest component of a Newton step on the log likelihood `value`, from the parameters `at`.
newton_step <- function(value, at) {
  slope <- central_differences(value, at, 1e-4)
  curvature <- stats::optimHess(at, value, control = list(ndeps = rep(1e-3, length(at))))
  max(abs(solve(curvature, slope)))
}
