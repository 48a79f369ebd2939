# Simulated worlds in which models with covariates, or GLAD, hold: functions of the number of cases.

# Answers that are right with some probability, and otherwise any other category.
answers <- function(truth, right, categories) {
  n <- length(truth)
  shift <- sample.int(categories - 1L, n, replace = TRUE)
  ifelse(stats::runif(n) < right, truth, (truth + shift - 1L) %% categories + 1L)
}

# Raters of accuracy logit-linear in z; system a shares their slope, b has one accuracy.
slopes_world <- function(n) {
  at <- stats::qnorm((1:15 - 0.5) / 15)
  z <- sample(at, n, replace = TRUE)
  truth <- sample.int(3L, n, replace = TRUE, prob = c(0.5, 0.3, 0.2))
  levels <- c(r1 = 0.2, r2 = 0.5, r3 = 0.8, r4 = 0.4, a = 1.3)
  data <- lapply(levels, function(level) answers(truth, stats::plogis(level + 1.2 * z), 3L))
  data <- data.frame(z, data, b = answers(truth, 0.815, 3L))
  x <- ratings(data, raters = r1:r4, systems = c(a, b), covariates = z, categories = 1:3)
  with_truth(x, truth, expected = c(a = mean(stats::plogis(1.3 + 1.2 * at)), b = 0.815))
}

# Hard cases are hard for all, the system included.
difficulty_world <- function(n) {
  hard <- stats::runif(n) < 0.4
  truth <- sample.int(3L, n, replace = TRUE, prob = c(0.5, 0.3, 0.2))
  levels <- c(r1 = 0.5, r2 = 1, r3 = 1.5, s = 1.8)
  data <- data.frame(hard, lapply(levels, function(level) {
    answers(truth, stats::plogis(level - hard), 3L)
  }))
  x <- ratings(data, raters = r1:r3, systems = s, covariates = hard, categories = 1:3)
  with_truth(x, truth, expected = c(s = 0.6 * stats::plogis(1.8) + 0.4 * stats::plogis(0.8)))
}

# Two raters with separate matrices in two populations (Hui and Walter 1980), and a system.
population_world <- function(n) {
  population <- rep(c("x", "y"), length.out = n)
  truth <- 1L + (stats::runif(n) < ifelse(population == "x", 0.2, 0.7))
  draw_test <- function(specificity, sensitivity) {
    answers(truth, ifelse(truth == 1L, specificity, sensitivity), 2L)
  }
  data <- data.frame(population, r1 = draw_test(0.9, 0.75), r2 = draw_test(0.85, 0.8),
    s = draw_test(0.95, 0.85))
  x <- ratings(data, raters = r1:r2, systems = s, covariates = population, categories = 1:2)
  with_truth(x, truth, expected = c(s = 0.55 * 0.95 + 0.45 * 0.85))
}

glad_world <- function(n) {
  ease <- exp(stats::rnorm(n))
  truth <- sample.int(3L, n, replace = TRUE, prob = c(0.5, 0.3, 0.2))
  skill <- c(r1 = 0.6, r2 = 1, r3 = 1.6, r4 = 1, r5 = 2, s = 1.4)
  data <- list2DF(lapply(skill, function(a) answers(truth, stats::plogis(a * ease), 3L)))
  x <- ratings(data, raters = r1:r5, systems = s, categories = 1:3)
  with_truth(x, truth, expected = c(s = accuracy_of_skill(1.4)))
}

accuracy_of_skill <- function(skill) {
  stats::integrate(function(z) stats::plogis(skill * exp(z)) * stats::dnorm(z), -8, 8)$value
}

# The model of Whitehill et al. (2009), the ease of cases log-normal, by Gauss-Hermite quadrature.
glad_model <- function(nodes) {
  jacobi <- matrix(0, nodes, nodes)
  jacobi[cbind(2:nodes, seq_len(nodes - 1L))] <- sqrt(seq_len(nodes - 1L))
  parts <- eigen(jacobi + t(jacobi))
  rater_family(
    start = function(judged, categories) {
      raters <- levels(judged$rater)
      stats::setNames(rep(1, length(raters)), paste("skill of", raters))
    },
    law = function(parameters, judged, categories) {
      n <- length(categories)
      right <- stats::plogis(outer(parameters[as.integer(judged$rater)], exp(parts$values)))
      out <- array(rep((1 - right) / (n - 1), each = n^2), c(n, n, dim(right)))
      out <- aperm(out, c(3L, 1L, 2L, 4L))
      for (k in seq_len(n)) out[, k, k, ] <- right
      out
    },
    strata = parts$vectors[1L, ]^2, words = "GLAD"
  )
}

# Raters who give their confidence, with different shares of levels among right and wrong answers.
# With `bluff`, the first rater, who is least accurate, always gives the highest level.
sure_levels <- c("low", "mid", "high")
sure_shares <- list(right = c(0.15, 0.3, 0.55), wrong = c(0.5, 0.3, 0.2))

sure_world <- function(n, bluff = FALSE) {
  truth <- sample.int(3L, n, replace = TRUE, prob = c(0.5, 0.3, 0.2))
  accuracy <- c(r1 = 0.55, r2 = 0.6, r3 = 0.7, r4 = 0.75, s = 0.8)
  codes <- list2DF(lapply(accuracy, function(p) answers(truth, p, 3L)))
  confidence <- lapply(codes[1:4], function(answer) {
    right <- sample.int(3L, n, replace = TRUE, prob = sure_shares$right)
    wrong <- sample.int(3L, n, replace = TRUE, prob = sure_shares$wrong)
    factor(sure_levels[ifelse(answer == truth, right, wrong)], sure_levels, ordered = TRUE)
  })
  if (bluff) confidence$r1[] <- "high"
  data <- data.frame(codes, sure = confidence)
  x <- ratings(data, raters = r1:r4, systems = s, confidence = sure.r1:sure.r4, categories = 1:3)
  with_truth(x, truth, expected = c(s = accuracy[["s"]]))
}
