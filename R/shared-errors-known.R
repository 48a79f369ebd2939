# Errors in common where the truth is known: correlations with their errors, and wrong answers that
# coincide. `right` has a row for each kind of case and a column per rater or system.

# Shares of the common cases on which both are right, only the first, only the second, neither.
right_shares <- function(table, right, weight) {
  at <- cbind(table$one, table$two)
  seen <- !is.na(right)
  known <- crossprod(seen, weight * seen)[at]
  yes <- right & seen
  both <- crossprod(yes, weight * yes)[at]
  first <- crossprod(yes, weight * seen)[at]
  second <- crossprod(seen, weight * yes)[at]
  list(
    n = known,
    share = cbind(both, first - both, second - both, known - first - second + both) / known
  )
}

# The correlation of each row of shares, and its standard error on one case.
phi_of_shares <- function(share) {
  a <- share[, 1L] + share[, 2L]
  b <- share[, 1L] + share[, 3L]
  u <- cbind(1 - a, 1 - a, -a, -a) / sqrt(a * (1 - a))
  v <- cbind(1 - b, -b, 1 - b, -b) / sqrt(b * (1 - b))
  phi <- rowSums(share * u * v)
  influence <- u * v - phi * (u^2 + v^2) / 2
  list(phi = phi, error = sqrt(rowSums(share * influence^2)))
}

add_correlations <- function(table, right, weight) {
  found <- right_shares(table, right, weight)
  fitted <- phi_of_shares(found$share)
  table$known <- found$n
  table$estimate <- na_real(fitted$phi)
  error <- fitted$error / sqrt(found$n)
  table$std.error <- ifelse(error > 1e-9, error, NA_real_)
  limits <- fisher_limits(table$estimate, table$std.error, table$conf_level)
  table$conf.low <- limits[, 1L]
  table$conf.high <- limits[, 2L]
  table$reason <- NA_character_
  table$reason[is.na(table$std.error)] <- paste0(no_interval, "they are right and wrong together")
  table$reason[is.na(table$estimate)] <- "one of the two is always right or always wrong"
  table$reason[table$known == 0] <- "no common case has a known truth"
  table$std.error[is.na(table$estimate)] <- NA_real_
  table
}

# Weights that are probabilities stand for a law, not for cases.
without_errors <- function(table) {
  table$std.error <- table$conf.low <- table$conf.high <- NA_real_
  table$reason[is.na(table$reason)] <- paste0(
    no_interval, "weights are not counts, so there is no number of cases"
  )
  table
}

# Limits of correlations on Fisher's scale.
fisher_limits <- function(estimate, error, conf_level) {
  half <- stats::qnorm((1 + conf_level) / 2) * error / (1 - estimate^2)
  cbind(tanh(atanh(estimate) - half), tanh(atanh(estimate) + half))
}

# Of each pair n times the covariance of being right, and n times the product of the standard
# deviations, with the mean of each rater over all cases, common to the two or not: on the few cases
# that two raters of a crowd have in common one of them is often always right.
add_products <- function(table, right, weight) {
  found <- right_shares(table, right, weight)
  mean <- right_rates(right, weight)
  a <- mean[table$one]
  b <- mean[table$two]
  share <- found$share
  sum_of <- share[, 1L] * (1 - a) * (1 - b) - share[, 2L] * (1 - a) * b -
    share[, 3L] * a * (1 - b) + share[, 4L] * a * b
  table$covariance <- ifelse(found$n > 0, found$n * sum_of, 0)
  table$spread <- ifelse(found$n > 0, found$n * sqrt(a * (1 - a) * b * (1 - b)), 0)
  table
}

right_rates <- function(right, weight) {
  colSums(weight * right, na.rm = TRUE) / colSums(weight * !is.na(right))
}

# Limits of the mean correlation of some raters, from what each case does to both sums.
mean_correlation_limits <- function(pairs, right, weight, mean) {
  if (all(is.na(pairs$std.error)) || is.na(mean)) {
    return(c(NA_real_, NA_real_))
  }
  right <- right[, unique(c(pairs$one, pairs$two)), drop = FALSE]
  accuracy <- right_rates(right, weight)
  off <- right - rep(accuracy, each = nrow(right))
  spread <- rep(sqrt(accuracy * (1 - accuracy)), each = nrow(right)) * !is.na(right)
  off[is.na(off)] <- 0
  own <- ifelse(spread > 0, off^2 / spread, 0) * (rowSums(spread, na.rm = TRUE) - spread)
  products <- (rowSums(off)^2 - rowSums(off^2)) / 2
  influence <- products - mean * rowSums(own, na.rm = TRUE) / 2
  error <- sqrt(sum(weight * influence^2)) / sum(pairs$spread)
  if (error < 1e-9) c(NA_real_, NA_real_) else fisher_limits(mean, error, pairs$conf_level[[1L]])
}

# How often two are wrong with the same answer, and how often they would be by chance.
add_surplus <- function(table, answers, cells) {
  found <- vapply(seq_len(nrow(table)), function(i) {
    coincidence(answers[, table$one[[i]]], answers[, table$two[[i]]], cells$truth, cells$weight)
  }, numeric(4L))
  table[c("both_wrong", "coinciding", "expected", "surplus")] <- lapply(1:4, function(i) found[i, ])
  table
}

coincidence <- function(first, second, truth, weight) {
  common <- !is.na(first) & !is.na(second)
  wrong1 <- common & first != truth
  wrong2 <- common & second != truth
  both <- which(wrong1 & wrong2)
  out <- c(sum(weight[both]), NA_real_, NA_real_, NA_real_)
  if (length(both) == 0L) {
    return(out)
  }
  same <- weight[both] * (first[both] == second[both])
  by_truth <- vapply(unique(truth[both]), function(t) {
    here <- truth[both] == t
    met <- sum(weight[both][here])
    alike <- sum(same[here])
    of <- function(wrong, answer) {
      use <- wrong & truth == t
      tapply(weight[use], factor(answer[use], unique(c(first, second))), sum, default = 0)
    }
    one <- of(wrong1, first)
    two <- of(wrong2, second)
    pairs <- sum(one) * sum(two) - met # of different cases
    c(met = met, alike = alike, expected = (sum(one * two) - alike) / pairs, pairs = pairs)
  }, numeric(4L))
  out[[2L]] <- sum(same) / sum(weight[both])
  use <- by_truth["pairs", ] > 0.5
  if (any(use)) {
    met <- by_truth["met", use]
    out[[3L]] <- sum(met * by_truth["expected", use]) / sum(met)
    out[[4L]] <- sum(by_truth["alike", use]) / sum(met) - out[[3L]]
  }
  out
}
