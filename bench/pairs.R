# Least squares on pairs of ratings (footnote 5 of Lehner, 2015): errors of estimates of systems,
# compared with likelihood and the published method.
#
#   Rscript bench/pairs.R [output.csv] [panels]
#
# Root mean squared error and bias over system accuracies .1 ... .9, all five on each panel; panels
# are the units of the Monte Carlo errors. Errors are differences from the expected accuracy.
# Estimators: the system joins the raters and its accuracy is the mean posterior of its answers
# (joint_pairs, joint_likelihood); posteriors from the raters only are put into the unbinned formula
# (plugged_pairs); the published method (binned).

library(fallible)

folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(folder, "helpers.R"))

seed <- 20150501L
model <- rater_model("rater", "distance")

# The unbinned formula with any posterior.
plugged <- function(fit, x) {
  posterior <- as.matrix(ground_truth(fit)[-1])
  n <- ncol(posterior)
  answers <- as.data.frame(x, what = "systems")
  vapply(x$systems, function(system) {
    system_rows <- answers[answers$system == system, ]
    rows <- posterior[match(system_rows$case, x$cases), , drop = FALSE]
    q <- mean(rows[cbind(seq_len(nrow(system_rows)), as.integer(system_rows$prediction))])
    squares <- mean(rowSums(rows^2))
    min(max(((n - 1) * q - 1 + squares) / (n * squares - 1), 0), 1)
  }, 0)
}

estimates <- function(x) {
  joint <- function(fit) tidy(estimate_accuracy(fit, "joint", interval = "none"))$estimate
  pairs <- fit_raters(x, model, method = "pairs")
  cbind(
    joint_pairs = joint(pairs), plugged_pairs = plugged(pairs, x),
    joint_likelihood = joint(fit_raters(x, model)),
    binned = tidy(estimate_accuracy(x, method = "binned", interval = "none"))$estimate
  )
}

measure <- function(figure, panels) {
  set.seed(seed + figure)
  errors <- lapply(seq_len(panels), function(i) {
    x <- simulate_ratings(lehner_design(figure))
    suppressWarnings(estimates(x), classes = "fallible_warning") - true_accuracy(x)$expected
  })
  squares <- t(vapply(errors, function(e) colMeans(e^2, na.rm = TRUE), double(4)))
  rmse <- sqrt(colMeans(squares, na.rm = TRUE))
  all <- do.call(rbind, errors)
  data.frame(
    figure = figure, estimator = colnames(all), panels = panels,
    rmse = rmse,
    rmse_mcse = apply(squares, 2, stats::sd, na.rm = TRUE) / sqrt(panels) / (2 * rmse),
    bias = colMeans(all, na.rm = TRUE), missing = colSums(is.na(all)),
    row.names = NULL
  )
}

arguments <- commandArgs(TRUE)
panels <- if (length(arguments) > 1L) as.integer(arguments[[2L]]) else 200L
table <- do.call(rbind, lapply(c(3L, 10L, 12L), measure, panels = panels))
print(table, digits = 3)
if (length(arguments) > 0L) {
  table[] <- lapply(table, function(x) if (is.double(x)) signif(x, 4L) else x)
  write_results(table, arguments[[1L]], seed)
}
