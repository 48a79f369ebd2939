# Slow reference implementation of the compiled K-model, for tests: plain loops over cases, pairs of
# ratings and categories, written from the formulas only.

# Estimation ------------------------------------------------------------------------------------

# Pairs of ratings of one case by two different raters, and the number of agreeing pairs.
reference_pairs <- function(raters, ratings) {
  pairs <- 0
  agreeing <- 0
  for (a in seq_along(ratings)) {
    for (b in seq_len(a - 1)) {
      between <- raters[a] != raters[b]
      pairs <- pairs + between
      agreeing <- agreeing + (between && ratings[a] == ratings[b])
    }
  }
  c(pairs = pairs, agreeing = agreeing)
}

# Share of agreeing pairs among all pairs of ratings. A pair has the weight of its case. NA if there
# are no pairs.
reference_agreement <- function(long, weights, n_cases) {
  total <- c(pairs = 0, agreeing = 0)
  for (i in seq_len(n_cases)) {
    rows <- long$case == i
    total <- total + weights[i] * reference_pairs(long$rater[rows], long$rating[rows])
  }
  if (total[["pairs"]] > 0) total[["agreeing"]] / total[["pairs"]] else NA_real_
}

# Weighted share of each category among all ratings, including repeats.
reference_shares <- function(long, N, weights) {
  shares <- numeric(N)
  for (row in seq_len(nrow(long))) {
    k <- long$rating[row]
    shares[k] <- shares[k] + weights[long$case[row]]
  }
  shares / sum(shares)
}

# Rater accuracy and base rates. `long` has one row per rating: case, rater, rating. A raw base rate
# within 1e-12 of zero differs from zero by rounding and does not count as negative.
reference_fit <- function(long, N, weights, n_cases) {
  agreement <- reference_agreement(long, weights, n_cases)
  fit <- list(
    agreement = agreement,
    kappa = (agreement - 1 / N) / (1 - 1 / N),
    rater_accuracy = if (is.na(agreement)) NA_real_ else 1 / N,
    base_rates = rep(NA_real_, N),
    base_rates_raw = rep(NA_real_, N),
    identified = FALSE,
    negative = NA_integer_
  )
  if (is.na(agreement) || agreement - 1 / N <= 1e-9) {
    return(fit)
  }
  accuracy <- 1 / N + sqrt(((N - 1) * agreement - (N - 1) / N) / N)
  if (agreement == 1) accuracy <- 1 # the value of the formula, without its rounding error
  raw <- ((N - 1) * reference_shares(long, N, weights) - 1 + accuracy) / (N * accuracy - 1)
  clamped <- ifelse(raw > 1e-12, raw, 0)
  fit$rater_accuracy <- accuracy
  fit$base_rates <- clamped / sum(clamped)
  fit$base_rates_raw <- raw
  fit$identified <- TRUE
  fit$negative <- sum(raw < -1e-12)
  fit
}

# Posterior of one case, from the number of its ratings in each category. If the accuracy of raters
# is 1, the posterior is the limit for accuracies below 1: only the categories with most ratings,
# among the categories with a positive base rate, are possible.
reference_posterior_case <- function(counts, base_rates, accuracy) {
  N <- length(base_rates)
  possible <- base_rates > 0
  if (accuracy == 1) {
    kept <- possible & counts == max(counts[possible])
    return(ifelse(kept, base_rates, 0) / sum(base_rates[kept]))
  }
  logs <- rep(-Inf, N)
  for (k in which(possible)) {
    right <- counts[k] * log(accuracy)
    wrong <- (sum(counts) - counts[k]) * log((1 - accuracy) / (N - 1))
    logs[k] <- log(base_rates[k]) + right + wrong
  }
  shifted <- exp(logs - max(logs))
  shifted / sum(shifted)
}

# Cases x categories: the probability of each category given the ratings of the case.
reference_posterior <- function(fit, long, N, n_cases) {
  posterior <- matrix(NA_real_, n_cases, N)
  if (!fit$identified) {
    return(posterior)
  }
  for (i in seq_len(n_cases)) {
    counts <- numeric(N)
    for (k in seq_len(N)) counts[k] <- sum(long$case == i & long$rating == k)
    posterior[i, ] <- reference_posterior_case(counts, fit$base_rates, fit$rater_accuracy)
  }
  posterior
}

# Accuracy of one system ------------------------------------------------------------------------

# TRUE for the cases that are used for a system: cases with a rating, an answer of the system, a
# positive weight and a posterior.
reference_used <- function(posterior, answers, weights, rated) {
  which(rated & !is.na(answers) & weights > 0 & !is.na(posterior[, 1]))
}

# 1 / (number of categories tied for the most probable) if the answer is one of them, else 0.
reference_credit <- function(probabilities, answer) {
  tied <- which(probabilities >= max(probabilities) * (1 - 1e-9))
  if (answer %in% tied) 1 / length(tied) else 0
}

# Number of the bin to which the probability of the most probable category belongs. Bin 1 is (1 -
# width, 1]. A probability on the edge of two bins belongs to the lower bin.
reference_bin <- function(probability, width) {
  bin <- 1
  while (probability <= max(0, 1 - bin * width) + 1e-9) bin <- bin + 1
  bin
}

# Estimate from the agreement with the most probable category and from its mean probability. NA if
# all categories are equally probable.
reference_estimate <- function(agreement, probability, N) {
  if (N * probability - 1 < 1e-6) {
    return(NA_real_)
  }
  ((N - 1) * agreement - 1 + probability) / (N * probability - 1)
}

# Table with one row per bin that has cases, highest bin first.
reference_bins <- function(posterior, answers, weights, rated, N, width = 0.1) {
  used <- reference_used(posterior, answers, weights, rated)
  highest <- credit <- bin <- rep(NA_real_, length(answers))
  for (i in used) {
    highest[i] <- max(posterior[i, ])
    credit[i] <- reference_credit(posterior[i, ], answers[i])
    bin[i] <- reference_bin(highest[i], width)
  }
  bins <- data.frame(
    lower = numeric(), upper = numeric(), probability = numeric(),
    cases = numeric(), agreement = numeric(), estimate_raw = numeric()
  )
  for (j in sort(unique(bin[used]))) {
    inside <- used[bin[used] == j]
    cases <- sum(weights[inside])
    probability <- sum(weights[inside] * highest[inside]) / cases
    agreement <- sum(weights[inside] * credit[inside]) / cases
    bins[nrow(bins) + 1, ] <- list(
      max(0, 1 - j * width), 1 - (j - 1) * width, probability,
      cases, agreement, reference_estimate(agreement, probability, N)
    )
  }
  bins
}

reference_clip <- function(x) pmin(pmax(x, 0), 1)

# Mean of the bins' estimates, weighted by cases. Bins without an estimate are left out.
reference_binned <- function(posterior, answers, weights, rated, N, clip, width) {
  bins <- reference_bins(posterior, answers, weights, rated, N, width)
  bins <- bins[!is.na(bins$estimate_raw), ]
  if (nrow(bins) == 0) {
    return(NA_real_)
  }
  estimates <- if (clip == "bin") reference_clip(bins$estimate_raw) else bins$estimate_raw
  estimate <- sum(bins$cases * estimates) / sum(bins$cases)
  if (clip == "overall") reference_clip(estimate) else estimate
}

# Estimate from the probabilities of all categories, without bins.
reference_unbinned <- function(posterior, answers, weights, rated, N, clip) {
  used <- reference_used(posterior, answers, weights, rated)
  if (length(used) == 0) {
    return(NA_real_)
  }
  answered <- 0
  squares <- 0
  for (i in used) {
    answered <- answered + weights[i] * posterior[i, answers[i]]
    squares <- squares + weights[i] * sum(posterior[i, ]^2)
  }
  answered <- answered / sum(weights[used])
  squares <- squares / sum(weights[used])
  estimate <- reference_estimate(answered, squares, N)
  if (clip == "none") estimate else reference_clip(estimate)
}

# Estimated accuracy of one system. NA if no case can be used.
reference_accuracy <- function(posterior, answers, weights, rated, N,
                               method = c("binned", "unbinned"),
                               clip = c("bin", "overall", "none"), width = 0.1) {
  method <- match.arg(method)
  clip <- match.arg(clip)
  if (method == "binned") {
    reference_binned(posterior, answers, weights, rated, N, clip, width)
  } else {
    reference_unbinned(posterior, answers, weights, rated, N, clip)
  }
}

# Fits the model and estimates the accuracy of one system. `...` is passed to reference_accuracy().
reference_pipeline <- function(long, answers, N, weights, n_cases, ...) {
  fit <- reference_fit(long, N, weights, n_cases)
  posterior <- reference_posterior(fit, long, N, n_cases)
  rated <- seq_len(n_cases) %in% long$case
  options <- list(...)
  width <- if (is.null(options[["width"]])) 0.1 else options[["width"]]
  list(
    fit = fit,
    posterior = posterior,
    bins = reference_bins(posterior, answers, weights, rated, N, width),
    estimate = reference_accuracy(posterior, answers, weights, rated, N, ...)
  )
}

# Exact probabilities ---------------------------------------------------------------------------

# All combinations of the raters' ratings (r1, r2, ...) and the system's answer (s), with their
# probabilities. Rows of a confusion matrix are true categories. `strata` is a list of list(weight,
# confusions, system) and overrides the first two arguments.
exact_patterns <- function(confusions, system, base_rates, strata = NULL) {
  if (is.null(strata)) {
    strata <- list(list(weight = 1, confusions = confusions, system = system))
  }
  N <- length(base_rates)
  m <- length(strata[[1]]$confusions)
  codes <- as.matrix(expand.grid(rep(list(seq_len(N)), m + 1)))
  colnames(codes) <- c(paste0("r", seq_len(m)), "s")
  weight <- numeric(nrow(codes))
  for (row in seq_len(nrow(codes))) {
    for (stratum in strata) {
      for (k in seq_len(N)) {
        p <- stratum$weight * base_rates[k] * stratum$system[k, codes[row, m + 1]]
        for (j in seq_len(m)) p <- p * stratum$confusions[[j]][k, codes[row, j]]
        weight[row] <- weight[row] + p
      }
    }
  }
  data.frame(codes, weight = weight)
}

# Random panels ---------------------------------------------------------------------------------

# Draws one answer to a case of category `truth`. The answer is right with probability `accuracy`,
# and otherwise any other category.
random_panel_answer <- function(truth, accuracy, N) {
  if (stats::runif(1) < accuracy) {
    return(truth)
  }
  wrong <- sample.int(N - 1, 1)
  if (wrong < truth) wrong else wrong + 1L
}

# Draws the accuracy of each of the m raters of a panel. `shape`: type of panel.
random_panel_accuracies <- function(shape, N, m) {
  switch(shape,
    below_chance = stats::runif(m, 0, 1 / N),
    unanimous = ,
    contradictory = rep(1, m),
    equal = ,
    mirrored = rep(stats::runif(1, 1 / N, 1), m),
    stats::runif(m, 0.8 / N, 1)
  )
}

# Draws ratings of each case by each rater, some of which are missing or repeated. A case in
# `single_rater` has only one rater, who gives three random ratings.
random_panel_long <- function(truth, accuracies, N, missing, repeated, single_rater) {
  case <- rater <- rating <- integer()
  for (i in seq_along(truth)) {
    raters <- which(stats::runif(length(accuracies)) >= missing)
    if (i %in% single_rater) raters <- rep(sample.int(length(accuracies), 1), 3)
    for (j in raters) {
      times <- 1 + (stats::runif(1) < repeated)
      for (time in seq_len(times)) {
        case <- c(case, i)
        rater <- c(rater, j)
        accuracy <- if (i %in% single_rater) 1 / N else accuracies[j]
        rating <- c(rating, random_panel_answer(truth[i], accuracy, N))
      }
    }
  }
  data.frame(case = case, rater = rater, rating = rating)
}

# Repeats the panel with its categories in reverse order. This makes exact ties common.
random_panel_mirror <- function(long, N, n_cases) {
  mirror <- data.frame(
    case = long$case + n_cases, rater = long$rater, rating = N + 1L - long$rating
  )
  rbind(long, mirror)
}

# Draws answers of systems with random accuracies. Each system answers some of the cases.
random_panel_systems <- function(truth, N) {
  answers <- matrix(NA_integer_, length(truth), sample.int(3, 1))
  for (s in seq_len(ncol(answers))) {
    accuracy <- stats::runif(1)
    unanswered <- sample(c(0, 0.3, 0.7), 1)
    for (i in which(stats::runif(length(truth)) >= unanswered)) {
      answers[i, s] <- random_panel_answer(truth[i], accuracy, N)
    }
  }
  answers
}

# Draws one panel, which may have no usable case.
random_panel_draw <- function() {
  shapes <- c(
    "any", "any", "equal", "equal", "mirrored", "mirrored",
    "unanimous", "contradictory", "one_category", "below_chance"
  )
  shape <- sample(shapes, 1)
  N <- if (shape == "mirrored") sample(2:4, 1) else sample(2:8, 1)
  m <- sample(2:12, 1)
  n_drawn <- sample(if (stats::runif(1) < 0.3) 1:5 else 1:60, 1)
  if (shape == "mirrored") n_drawn <- (n_drawn + 1L) %/% 2L
  base_rates <- stats::rexp(N)
  if (shape == "one_category") base_rates <- as.numeric(seq_len(N) == sample.int(N, 1))
  truth <- sample.int(N, n_drawn, replace = TRUE, prob = base_rates)
  single_rater <- if (shape == "contradictory") {
    sample.int(n_drawn, ceiling(n_drawn / 3))
  } else {
    integer()
  }
  long <- random_panel_long(
    truth, random_panel_accuracies(shape, N, m), N,
    missing = sample(c(0, 0.2, 0.6), 1), repeated = sample(c(0, 0, 0.2), 1),
    single_rater = single_rater
  )
  weights <- if (stats::runif(1) < 0.3) sample(0:3, n_drawn, replace = TRUE) else rep(1, n_drawn)
  if (shape == "mirrored") {
    long <- random_panel_mirror(long, N, n_drawn)
    truth <- c(truth, N + 1L - truth)
    weights <- c(weights, weights)
  }
  list(
    N = N, n_cases = length(truth), m = m, long = long,
    weights = as.numeric(weights), answers = random_panel_systems(truth, N)
  )
}

# True if there are two raters, and each system has an answer to a rated case of positive weight.
random_panel_usable <- function(panel) {
  useful <- seq_len(panel$n_cases) %in% panel$long$case & panel$weights > 0
  answered <- colSums(!is.na(panel$answers[useful, , drop = FALSE]))
  length(unique(panel$long$rater)) >= 2 && all(answered > 0)
}

# A random data set, the same for the same seed. Restores the state of the generator.
random_panel <- function(seed) {
  state <- get0(".Random.seed", envir = globalenv(), inherits = FALSE)
  on.exit({
    if (is.null(state)) {
      rm(".Random.seed", envir = globalenv())
    } else {
      assign(".Random.seed", state, envir = globalenv())
    }
  })
  set.seed(seed, "Mersenne-Twister", "Inversion", "Rejection")
  panel <- random_panel_draw()
  while (!random_panel_usable(panel)) panel <- random_panel_draw()
  panel
}

# Quantities of the robust interval, written from the text of the published rule. reference_lean()
# returns the share of a category and its kappa. `x`, `m`: for each case, the number of ratings in
# the category and the number of all ratings.
reference_lean <- function(x, m) {
  p <- sum(x) / sum(m)
  po <- 1 - 2 * sum(x * (m - x)) / sum(m * (m - 1))
  pe <- p^2 + (1 - p)^2
  list(p = p, po = po, kappa = min(max((po - pe) / (1 - pe), 0), 1))
}

reference_accuracies <- function(p, kappa, q, v) {
  low <- kappa * p / (1 - p + kappa * p)
  high <- 1 - kappa * (1 - p) / (p + kappa * (1 - p))
  t <- seq(low, high, length.out = 201)
  if (kappa < 1e-9) {
    t <- c(seq(0, 1, length.out = 201), q, 1 - q)
    A <- c(1 - q - t + 2 * pmax(0, q + t - 1), 1 - q - t + 2 * pmin(q, t))
  } else {
    J <- ifelse(t <= 0 | t >= 1, 1, sqrt(kappa * p * (1 - p) / (t * (1 - t))))
    A <- 1 - q - t + 2 * pmin(pmax(q * t + v / J, pmax(0, q + t - 1)), pmin(q, t))
  }
  list(low = low, high = high, accuracy = A, range = max(A) - min(A))
}

reference_typical <- function(indep, shared, s, E, samp, N, range, kind, o) {
  c <- s / sqrt(N - 1)
  gap <- indep - shared
  est <- centre <- indep - c * gap
  if (kind == "machines") {
    hidden <- 0.17
    centre <- est + o * (0.65 - est) / 2
  } else {
    hidden <- sqrt(s * (0.04^2 + max(E / 4, range / sqrt(12))^2 + (gap / 2)^2))
  }
  sd <- sqrt(samp^2 + (o * hidden)^2)
  list(c = c, est = est, centre = centre, sd = sd, hidden = o * hidden,
    from = max(0, centre - 1.6448536 * sd), to = min(1, centre + 1.6448536 * sd))
}
