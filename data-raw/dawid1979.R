# Dawid and Skene (1979), Table 1: five anaesthetists rate 45 patients on a scale from 1 to 4;
# the first anaesthetist rated every patient three times.
#
# Source: Dawid, A. P. and Skene, A. M. (1979). Maximum likelihood estimation of observer
#   error-rates using the EM algorithm. Journal of the Royal Statistical Society, Series C
#   (Applied Statistics), 28(1), 20-28. doi:10.2307/2346806
#
# Verified cell by cell (all 315 ratings, the order of the three occasions included) against
#   1. the table in the Python program dawid_skene by D. Card;
#   2. the table in the example annotation.py of the Python library NumPyro;
#   3. the table in the tests of the Java library consensusalgorithms by X. Lin. These also hold
#      class probabilities, error rates and the patients' class probabilities to two decimals;
#      the estimates from the table below round to all 264 of them, and after any change of a
#      single rating they would not.
# The data set `anesthesia` of the R package rater 1.3.2 differs in one cell: patient 7, first
# anaesthetist, has 1, 1, 2 there and 1, 2, 2 in the three tables above. With 1, 1, 2 the first
# row of that anaesthetist's error rates would be .91 .09 and not .89 .11, and patient 7 would
# belong to class 1 with probability 1.00 and not .98.
#
# Run from the package root: Rscript data-raw/dawid1979.R

# one word per patient, five patients a line; digits 1-3 are the first anaesthetist's ratings on
# the three occasions, digits 4-7 the ratings of the anaesthetists 2 to 5
words <- scan(what = "", quiet = TRUE, text = "
  1111111 3334334 1122122 2223121 2223222
  2223322 1222111 3333433 2222223 2322223
  4444444 2223343 1111111 2223212 1211111
  1112111 1111111 1111111 2222221 2221322
  2222222 2222221 2223222 2212222 1111111
  1111111 2322222 1111111 1111111 1121121
  1111111 3333233 1111111 2222222 2223232
  4334343 2212232 2323233 3333432 1111111
  1111111 1212111 2322222 1211111 2222222
")
stopifnot(length(words) == 45, all(grepl("^[1-4]{7}$", words)))

raters <- paste0("A", 1:5)
dawid1979 <- data.frame(
  case = rep(1:45, each = 7),
  rater = factor(rep(raters[c(1, 1, 1, 2, 3, 4, 5)], times = 45), levels = raters),
  rating = as.integer(unlist(strsplit(words, "", fixed = TRUE)))
)

# raters by categories, and their totals
used <- table(dawid1979$rater, dawid1979$rating)
stopifnot(
  identical(as.vector(used["A1", ]), c(52L, 61L, 18L, 4L)),
  identical(as.vector(used["A2", ]), c(16L, 15L, 11L, 3L)),
  identical(as.vector(used["A3", ]), c(20L, 17L, 5L, 3L)),
  identical(as.vector(used["A4", ]), c(18L, 17L, 7L, 3L)),
  identical(as.vector(used["A5", ]), c(21L, 15L, 7L, 2L)),
  all(colSums(used) == c(127, 125, 48, 15)),
  all(rowSums(used) == c(135, 45, 45, 45, 45))
)

# cases by categories: seven ratings each, all seven equal for 16 patients
votes <- table(dawid1979$case, dawid1979$rating)
stopifnot(
  all(rowSums(votes) == 7),
  all(colSums(votes == 7) == c(12, 3, 0, 1)),
  sum(choose(votes, 2)) == 686
)

# the maximum likelihood estimates, by EM from the shares of the votes
y <- table(dawid1979$case, dawid1979$rater, dawid1979$rating)
posterior <- votes / 7
for (step in 1:500) {
  p <- colMeans(posterior)
  log_joint <- matrix(log(p), 45, 4, byrow = TRUE)
  diagonal <- matrix(0, 5, 4, dimnames = list(raters, 1:4))
  for (k in raters) {
    error_rates <- crossprod(posterior, y[, k, ])
    error_rates <- error_rates / rowSums(error_rates)
    diagonal[k, ] <- diag(error_rates)
    log_joint <- log_joint + y[, k, ] %*% t(log(pmax(error_rates, 1e-300)))
  }
  posterior <- exp(log_joint - apply(log_joint, 1, max))
  posterior <- posterior / rowSums(posterior)
}

# to two decimals: class probabilities, how often each rater is right in each class, and the
# patients of whom one is not yet sure
stopifnot(
  all(round(p, 2) == c(0.40, 0.42, 0.11, 0.07)),
  all(round(diagonal["A1", ], 2) == c(0.89, 0.88, 0.66, 0.44)),
  all(round(diagonal["A2", ], 2) == c(0.83, 0.63, 1.00, 1.00)),
  all(round(diagonal["A3", ], 2) == c(1.00, 0.79, 0.20, 0.33)),
  all(round(diagonal["A4", ], 2) == c(0.94, 0.84, 0.80, 0.67)),
  all(round(diagonal["A5", ], 2) == c(1.00, 0.73, 0.79, 0.67)),
  identical(unname(which(apply(posterior, 1, max) < 0.99)), c(7L, 35L, 38L)),
  all(round(posterior[c(7, 35, 38), 2], 2) == c(0.02, 0.95, 0.02))
)

save(dawid1979, file = file.path("data", "dawid1979.rda"), version = 2, compress = "xz")
