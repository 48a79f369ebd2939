# Panels for latent class models, and slow reference implementations of these models.

panel <- function(n = 300, raters = c(0.5, 0.6, 0.7), ...) {
  simulate_ratings(rater_design(raters, 0.8, 4, n, ...))
}

models <- function(prior = "weak") {
  axes <- expand.grid(
    accuracy = c("common", "rater"), errors = c("uniform", "distance", "free"),
    difficulty = c("none", "strata"), stringsAsFactors = FALSE
  )
  lapply(seq_len(nrow(axes)), function(i) do.call(rater_model, c(axes[i, ], prior = prior)))
}

# Confusion matrices of the raters in each stratum of difficulty, computed in R instead of the core.
stratum_matrices <- function(fit) {
  matrix <- confusion(fit)
  if (!is.list(matrix)) matrix <- rep(list(matrix), length(fit$x$raters))
  if (fit$model$difficulty == "none") {
    return(list(matrix))
  }
  d <- coef(fit)[["difficulty"]]
  lapply(-1:1, function(s) {
    lapply(matrix, function(m) {
      for (k in seq_len(nrow(m))) {
        p <- rep_len(reference_strata(m[k, k], d), 3L)[s + 2L]
        m[k, -k] <- (1 - p) * m[k, -k] / sum(m[k, -k])
        m[k, k] <- p
      }
      m
    })
  })
}

slow_joint <- function(fit, strata = stratum_matrices(fit)) {
  table <- as.data.frame(fit$x)
  categories <- fit$x$categories
  t(vapply(fit$x$cases, function(case) {
    case_ratings <- table[table$case == case, ]
    rowSums(vapply(strata, function(matrices) {
      out <- rates_of(fit) / length(strata)
      for (i in seq_len(nrow(case_ratings))) {
        rater <- match(case_ratings$rater[[i]], fit$x$raters)
        out <- out * matrices[[rater]][, match(case_ratings$rating[[i]], categories)]
      }
      out
    }, double(length(categories))))
  }, double(length(categories))))
}

# The sum of squares that fit_raters(method = "pairs") minimises.
slow_pairs <- function(fit) {
  table <- as.data.frame(fit$x)
  if (!"weight" %in% names(table)) table$weight <- 1
  pairs <- merge(table, table, by = "case", suffixes = c("1", "2"))
  pairs <- pairs[pairs$rater1 < pairs$rater2, ]
  if (fit$model$accuracy == "common") {
    swapped <- pairs
    swapped[c("rating1", "rating2")] <- pairs[c("rating2", "rating1")]
    pairs <- rbind(pairs, swapped)
    pairs[c("rater1", "rater2")] <- fit$x$raters[[1]]
  }
  strata <- stratum_matrices(fit)
  kinds <- unique(pairs[c("rater1", "rater2")])
  distances <- vapply(seq_len(nrow(kinds)), function(i) {
    pair_ratings <- pairs[pairs$rater1 == kinds$rater1[i] & pairs$rater2 == kinds$rater2[i], ]
    weight <- sum(pair_ratings$weight1)
    observed <- stats::xtabs(weight1 ~ rating1 + rating2, pair_ratings) / weight
    expected <- Reduce(`+`, lapply(strata, function(matrices) {
      a <- matrices[[match(kinds$rater1[i], fit$x$raters)]]
      b <- matrices[[match(kinds$rater2[i], fit$x$raters)]]
      t(a) %*% (rates_of(fit) * b) / length(strata)
    }))
    weight * sum((unclass(observed) - expected)^2)
  }, 0)
  sum(distances) / sum(pairs$weight1)
}

# slow_joint() with a known matrix of rater2 and the known truth of some cases.
slow_twin_of_known <- function(fit, matrix, some) {
  strata <- lapply(stratum_matrices(fit), function(matrices) {
    names(matrices) <- fit$x$raters
    matrices$rater2 <- matrix
    matrices
  })
  out <- slow_joint(fit, strata)
  at <- match(some$case, fit$x$cases)
  out[at, ] <- out[at, ] * outer(as.character(some$category), fit$x$categories, "==")
  out
}

# Probabilities of a correct answer on hard, middling and easy cases, with mean `accuracy`.
reference_strata <- function(accuracy, shift) {
  if (shift == 0) {
    return(accuracy)
  }
  clamp <- function(p) pmin(pmax(p + c(-1, 0, 1) * shift, 0), 1)
  centre <- stats::uniroot(function(p) mean(clamp(p)) - accuracy, c(-shift, 1 + shift), tol = 1e-14)$root
  clamp(centre)
}
