# Slow reference implementations ("twins") of the agreement measures, for comparison: loops over
# cases and pairs of ratings, written from the definitions. `x`: matrix of category numbers, cases x
# raters. `w`: weights of the cases. `k`: number of categories. `W`: agreement weight of each pair
# of categories.

twin_pairs <- function(x, w, W, pooling) {
  agreeing <- 0
  pairs <- 0
  for (i in seq_len(nrow(x))) {
    r <- x[i, !is.na(x[i, ])]
    if (length(r) < 2) next
    a <- 0
    d <- 0
    for (g in seq_along(r)) {
      for (h in seq_along(r)) {
        if (g == h) next
        a <- a + W[r[g], r[h]]
        d <- d + 1
      }
    }
    pairs_weight <- if (pooling == "pairs") d else 1
    agreeing <- agreeing + w[i] * pairs_weight * a / d
    pairs <- pairs + w[i] * pairs_weight
  }
  agreeing / pairs
}

twin_shares <- function(x, w, k, pooling) {
  out <- numeric(k)
  for (i in seq_len(nrow(x))) {
    r <- x[i, !is.na(x[i, ])]
    for (c in r) out[c] <- out[c] + w[i] * if (pooling == "pairs") 1 else 1 / length(r)
  }
  out / sum(out)
}

twin_kappa <- function(po, pe) if (1 - pe < 1e-12) NA_real_ else (po - pe) / (1 - pe)

both_rated <- function(x) !is.na(x[, 1]) & !is.na(x[, 2])

twin_table <- function(x, w, k) {
  out <- matrix(0, k, k)
  for (i in which(both_rated(x))) out[x[i, 1], x[i, 2]] <- out[x[i, 1], x[i, 2]] + w[i]
  out
}

twin_cohen <- function(x, w, k, W) {
  p <- twin_table(x, w, k)
  if (sum(p) == 0) {
    return(NA_real_)
  }
  p <- p / sum(p)
  twin_kappa(sum(W * p), sum(W * outer(rowSums(p), colSums(p))))
}

twin_alpha <- function(x, w, k, distance, correct = TRUE) {
  o <- matrix(0, k, k)
  for (i in seq_len(nrow(x))) {
    r <- x[i, !is.na(x[i, ])]
    for (g in seq_along(r)) {
      for (h in seq_along(r)) {
        if (g != h) o[r[g], r[h]] <- o[r[g], r[h]] + w[i] / (length(r) - 1)
      }
    }
  }
  n <- rowSums(o)
  if (is.function(distance)) distance <- distance(n)
  expected <- sum(outer(n, n) * distance)
  if (expected < 1e-12) NA_real_ else 1 - (sum(n) - correct) * sum(o * distance) / expected
}

# Krippendorff's ordinal distance of each pair of categories a, b, squared: number of ratings from a
# to b, minus half of the ratings of a and of b. `n`: number of ratings of each category.
ordinal_distance <- function(n) {
  out <- matrix(0, length(n), length(n))
  for (a in seq_along(n)) {
    for (b in seq_along(n)) out[a, b] <- (sum(n[a:b]) - (n[a] + n[b]) / 2)^2
  }
  out
}

twin_entropy <- function(p) -sum(p[p > 0] * log2(p[p > 0]))

twin_information <- function(a) {
  p <- a / sum(a)
  x <- twin_entropy(rowSums(p))
  y <- twin_entropy(colSums(p))
  if (sum(colSums(a) > 0) == 1) {
    1 - sum(rowSums(a) > 0) / nrow(a)
  } else if (sum(rowSums(a) > 0) == 1) {
    1 - sum(colSums(a) > 0) / nrow(a)
  } else {
    (x + y - twin_entropy(p)) / min(x, y)
  }
}

# Computes all agreement measures of `x`, with the names that agreement() uses.
twin_measures <- function(x, w = rep(1, nrow(x)), k = max(x, na.rm = TRUE), W = diag(k),
                          pooling = "pairs", correct = TRUE) {
  raters <- ncol(x)
  po <- twin_pairs(x, w, W, pooling)
  p <- twin_shares(x, w, k, pooling)
  rater_shares <- lapply(seq_len(raters), function(g) {
    twin_shares(x[, g, drop = FALSE], w, k, "pairs")
  })
  active_raters <- which(colSums(!is.na(x)) > 0)
  pairs <- utils::combn(raters, 2, simplify = FALSE)
  conger <- mean(vapply(utils::combn(active_raters, 2, simplify = FALSE), function(g) {
    sum(W * outer(rater_shares[[g[1]]], rater_shares[[g[2]]]))
  }, 0))
  light <- vapply(pairs, function(g) twin_cohen(x[, g], w, k, W), 0)
  difference <- outer(seq_len(k), seq_len(k), `-`)
  total <- outer(seq_len(k), seq_len(k), `+`)
  out <- list(
    percent_agreement = po, chance_kappa = twin_kappa(po, sum(W) / k^2),
    fleiss_kappa = twin_kappa(po, sum(W * outer(p, p))), conger_kappa = twin_kappa(po, conger),
    light_kappa = mean(light),
    gwet_ac = twin_kappa(po, sum(W) * sum(p * (1 - p)) / (k * (k - 1))),
    krippendorff_alpha = twin_alpha(x, w, k, 1 - W, correct),
    krippendorff_alpha_ordinal = twin_alpha(x, w, k, ordinal_distance, correct),
    krippendorff_alpha_interval = twin_alpha(x, w, k, difference^2, correct),
    krippendorff_alpha_ratio = twin_alpha(x, w, k, (difference / total)^2, correct)
  )
  if (raters == 2) {
    is_common <- both_rated(x)
    a <- twin_table(x, w, k)
    pair_shares <- twin_shares(x[is_common, , drop = FALSE], w[is_common], k, "pairs")
    out$cohen_kappa <- twin_cohen(x, w, k, W)
    out$scott_pi <- twin_kappa(sum(W * a) / sum(a), sum(W * outer(pair_shares, pair_shares)))
    out$bangdiwala_b <- sum(diag(a)^2) / sum(rowSums(a) * colSums(a))
    out$information_agreement <- twin_information(a)
    if (k == 2) {
      y <- sqrt(c(a[1, 1] * a[2, 2], a[1, 2] * a[2, 1]))
      out$yule_y <- if (sum(y) == 0) NA_real_ else (y[1] - y[2]) / sum(y)
    }
  }
  unlist(out)
}

# Derivatives of measures with respect to the weight of each case, by central differences: cases x
# measures.
twin_influence <- function(x, w, ..., h = 1e-4) {
  t(vapply(seq_len(nrow(x)), function(i) {
    value_after <- function(step) {
      w[i] <- w[i] + step
      twin_measures(x, w, ..., correct = FALSE)
    }
    (value_after(h) - value_after(-h)) / (2 * h)
  }, twin_measures(x, w, ...)))
}

# Draws a random set of ratings by two to four raters in two to five categories, with some missing
# ratings and some equal cases. The last category may be unused.
random_ratings <- function(seed) {
  withr::with_seed(seed, {
    k <- sample(2:5, 1)
    raters <- if (seed %% 2 == 0) 2 else sample(3:4, 1)
    n <- sample(6:25, 1)
    truth <- sample.int(k, n, replace = TRUE, prob = stats::rexp(k))
    x <- replicate(raters, ifelse(stats::runif(n) < 0.5, truth, sample.int(k, n, replace = TRUE)))
    if (seed %% 3 == 0) x[sample(length(x), length(x) %/% 5)] <- NA
    list(x = x[rowSums(!is.na(x)) > 0, ], k = k)
  })
}

as_panel <- function(set) ratings(set$x, categories = seq_len(set$k))

# Functions of single measures, named by the id of the measure.
exported_measures <- function() {
  list(
    percent_agreement = percent_agreement, chance_kappa = chance_kappa, bennett_s = bennett_s,
    cohen_kappa = cohen_kappa, scott_pi = scott_pi, fleiss_kappa = fleiss_kappa,
    conger_kappa = conger_kappa, light_kappa = light_kappa, gwet_ac = gwet_ac,
    krippendorff_alpha = krippendorff_alpha, bangdiwala_b = bangdiwala_b, yule_y = yule_y,
    krippendorff_alpha_ordinal = function(x) krippendorff_alpha(x, "ordinal"),
    krippendorff_alpha_interval = function(x) krippendorff_alpha(x, "interval"),
    krippendorff_alpha_ratio = function(x) krippendorff_alpha(x, "ratio"),
    information_agreement = information_agreement,
    information_agreement_plain = function(x) information_agreement(x, continuity = FALSE)
  )
}
