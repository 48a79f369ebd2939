# Mean probability of the labels of simulated crowds, against the share of right labels. The help of
# ground_truth() and its printed note contain the results.
#
#   Rscript bench/crowd-labels.R [cases] [panels]
#
# Worlds: 3, 5 or 10 ratings of each case by 30 or 300 raters; two or six categories; three ranges
# of accuracy, one of them with 7% of raters who guess; and errors that are independent, or shared
# on 30% of the cases. On these cases raters are right half of the time, and 70% of the errors are
# the same wrong category. `default` and `plain` (rho = 0, votes = 0): mean probability minus share
# of right labels, averaged over panels. Printed: the means and ranges over worlds.

library(fallible)

arguments <- as.integer(commandArgs(TRUE))
n_cases <- c(arguments, 3000L)[[1L]]
n_panels <- c(arguments[-1L], 2L)[[1L]]

draw_crowd <- function(world) {
  truth <- sample(world$categories, n_cases, TRUE)
  accuracy <- runif(world$raters, world$low, world$high)
  accuracy[seq_len(round(world$guessing * world$raters))] <- 1 / world$categories
  case <- rep(seq_len(n_cases), each = world$ratings)
  rater <- c(replicate(n_cases, sample(world$raters, world$ratings)))
  is_hard <- (runif(n_cases) < world$hard)[case]
  is_right <- runif(length(case)) < ifelse(is_hard, 0.5, accuracy[rater])
  wrong <- truth[case] - 1 + sample(world$categories - 1, length(case), TRUE)
  same_wrong <- is_hard & runif(length(case)) < 0.7
  label <- ifelse(is_right, truth[case],
    ifelse(same_wrong, truth[case], wrong) %% world$categories + 1)
  list(
    x = ratings(data.frame(case, rater, label = letters[label]), case = case, rater = rater,
      rating = label, rater_kind = "crowd"),
    truth = letters[truth]
  )
}

excess_probability <- function(crowd, ...) {
  labels <- predict(suppressWarnings(ground_truth(crowd$x, ...)))
  mean(labels$probability) - mean(as.character(labels$category) == crowd$truth[labels$case])
}

worlds <- merge(
  expand.grid(ratings = c(3, 5, 10), raters = c(30, 300), categories = c(2, 6), hard = c(0, 0.3)),
  data.frame(low = c(0.6, 0.55, 0.85), high = c(0.95, 0.75, 0.95), guessing = c(0.07, 0, 0))
)
set.seed(20150513L)
excess <- t(vapply(seq_len(nrow(worlds)), function(i) {
  rowMeans(replicate(n_panels, {
    crowd <- suppressMessages(draw_crowd(worlds[i, ]))
    c(default = excess_probability(crowd), plain = excess_probability(crowd, rho = 0, votes = 0))
  }))
}, c(default = 0, plain = 0)))

by_kind <- list(
  errors = ifelse(worlds$hard == 0, "independent", "shared"), categories = worlds$categories
)
cat("Mean over worlds\n")
print(round(tapply(excess[, "default"], by_kind, mean), 2))
print(round(tapply(excess[, "plain"], by_kind, mean), 2))
cat("Range over worlds\n")
print(lapply(split(as.data.frame(excess), by_kind$errors), function(x) round(sapply(x, range), 2)))
