# Shared errors where the truth is known: correlations, and what they make of a panel.

# Every answer to the cells of known truth: its row among these, who gave it (raters, then systems),
# whether it is right, and the weight of the cell; `judges` and `rows` are their numbers.
known_answers <- function(x, cells) {
  at <- ratings_in(x, cells$pattern)
  system <- pattern_answers(x)[cells$pattern, , drop = FALSE]
  given <- which(system > 0L)
  row <- c(rep.int(seq_len(nrow(cells)), pattern_lengths(x)[cells$pattern]), row(system)[given])
  category <- c(rating_category(x)[at], system[given])
  list(
    row = row, judge = c(rating_rater(x)[at], n_raters(x) + col(system)[given]),
    right = category == cells$truth[row], weight = cells$weight[row],
    judges = n_raters(x) + n_systems(x), cells = cells$weight
  )
}

# Shares of the common cases on which both are right, only the first, only the second, neither.
right_shares <- function(found) {
  both <- found$both_right
  first <- found$one_right
  second <- found$two_right
  cbind(both, first - both, second - both, found$known - first - second + both) / found$known
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

no_common_truth <- "no common case has a known truth"

# Weights that are no counts (`counted`) are probabilities, which stand for a law, not for cases.
add_correlations <- function(table, share, counted) {
  fitted <- phi_of_shares(share)
  error <- fitted$error / sqrt(table$known)
  known <- !is.na(error) & error > 1e-9
  table$estimate <- na_real(pmin(pmax(fitted$phi, -1), 1)) # rounding goes beyond
  if (counted) table$std.error[known] <- error[known]
  table[c("conf.low", "conf.high")] <- fisher_limits(
    table$estimate, table$std.error, table$conf_level
  )
  table$reason <- NA_character_
  if (!counted) {
    table$reason <- paste0(no_interval, "weights are not counts, so there is no number of cases")
  }
  table$reason[!known] <- paste0(no_interval, "they are right and wrong together")
  table$reason[is.na(table$estimate)] <- "one of the two is always right or always wrong"
  table$reason[table$known == 0] <- no_common_truth
  table
}

# Limits of correlations on Fisher's scale.
fisher_limits <- function(estimate, error, conf_level) {
  half <- normal_quantile(conf_level) * error / (1 - estimate^2)
  tanh(atanh(estimate) + outer(half, c(-1, 1)))
}

# Of each pair n times the covariance of being right, and n times the product of the standard
# deviations, with the mean of each rater over all cases, common to the two or not: on the few cases
# that two raters of a crowd have in common one of them is often always right.
add_products <- function(table, share, mean) {
  a <- mean[table$one]
  b <- mean[table$two]
  off <- rowSums(share * cbind((1 - a) * (1 - b), -(1 - a) * b, -a * (1 - b), a * b))
  met <- table$known > 0
  table$covariance <- ifelse(met, table$known * off, 0)
  table$spread <- ifelse(met, table$known * sqrt(a * (1 - a) * b * (1 - b)), 0)
  table
}

right_rates <- function(answers) {
  total <- function(value) core_pattern_weights(answers$judge, value, answers$judges)
  total(answers$weight * answers$right) / total(answers$weight)
}

# Limits of the mean correlation of the raters, from what each case does to both sums.
mean_correlation_limits <- function(pairs, answers, raters, mean) {
  if (all(is.na(pairs$std.error)) || is.na(mean)) return(c(NA_real_, NA_real_))
  rate <- right_rates(answers)
  mine <- answers$judge <= raters
  judge <- answers$judge[mine]
  row <- answers$row[mine]
  sums <- function(value) core_pattern_weights(row, value, length(answers$cells))
  off <- answers$right[mine] - rate[judge]
  spread <- sqrt(rate * (1 - rate))[judge]
  own <- ifelse(spread > 0, off^2 / spread, 0) * (sums(spread)[row] - spread)
  influence <- (sums(off)^2 - sums(off^2)) / 2 - mean * sums(own) / 2
  error <- sqrt(sum(answers$cells * influence^2)) / sum(pairs$spread)
  if (error < 1e-9) c(NA_real_, NA_real_) else fisher_limits(mean, error, pairs$conf_level[[1L]])
}
