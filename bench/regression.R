# Is a regression on the unseen category right, where coders make errors?
#
#   Rscript bench/regression.R [output.csv] [panels]
#
# Panels of 500 cases, whose category (two or four) depends on a number z with slope 1, and on a
# group of half of the cases with slope 0. Worlds: three coders; one coder with 100 random gold
# cases; three coders, of whom the first is right .25 less often in one group (`differential`).
# Bias, coverage and width of 95% intervals of the slopes of the second category, of the regression
# and of multinomial regression on labels: by majority, or of the most probable category under
# dawid_skene(). `warned`: share of panels in which the test of differential errors rejects.

library(fallible)

seed <- 20150516L
options(fallible.quiet = TRUE)

draw <- function(world, categories, n = 500L) {
  z <- stats::rnorm(n)
  group <- rep_len(c("a", "b"), n)
  logits <- cbind(0, outer(z, c(1, rep(0, categories - 2L))))
  truth <- max.col(logits - log(-log(matrix(stats::runif(length(logits)), n))))
  data <- data.frame(z, group, truth)
  for (j in seq_len(if (world == "gold") 1L else 3L)) {
    right <- c(0.8, 0.75, 0.7)[[j]] - (world == "differential" & j == 1L & group == "b") * 0.25
    wrong <- (truth + sample(categories - 1L, n, TRUE) - 1L) %% categories + 1L
    data[[paste0("r", j)]] <- ifelse(stats::runif(n) < right, truth, wrong)
  }
  data
}

# Slopes of z and group, with standard errors, in rows.
of_labels <- function(label, data) {
  fit <- nnet::multinom(factor(label) ~ z + group, data, trace = FALSE)
  slopes <- matrix(stats::coef(fit), ncol = 3L)[1L, -1L]
  cbind(slopes, sqrt(diag(stats::vcov(fit)))[2:3])
}

one_panel <- function(world, categories) {
  data <- draw(world, categories)
  raters <- grep("^r", names(data), value = TRUE)
  x <- ratings(data, raters = tidyselect::all_of(raters), covariates = c(z, group),
    categories = seq_len(categories))
  gold <- if (world == "gold") stats::setNames(data$truth[1:100], 1:100)
  model <- rater_model("rater", "free", base_rates = ~ z + group)
  fit <- suppressWarnings(fit_raters(x, model, known_truth = gold))
  warned <- any(tidy(fit, "differential")$p.adjusted < 0.05, na.rm = TRUE)
  table <- tidy(fit, "regression")
  votes <- vapply(seq_len(categories), function(k) rowSums(data[raters] == k), numeric(nrow(data)))
  labels <- suppressWarnings(predict(fit_raters(x, dawid_skene(), known_truth = gold)))$category
  out <- rbind(
    as.matrix(table[2:3, c("estimate", "std.error")]),
    of_labels(max.col(votes), data), of_labels(labels, data)
  )
  data.frame(
    world, categories, method = rep(c("regression", "majority", "dawid_skene"), each = 2L),
    slope = c("z", "group"), truth = c(1, 0), estimate = out[, 1L], error = out[, 2L], warned
  )
}

summarise <- function(rows) {
  z <- stats::qnorm(0.975)
  data.frame(
    rows[1L, c("world", "categories", "method", "slope")],
    bias = round(mean(rows$estimate - rows$truth), 3L),
    coverage = round(mean(abs(rows$estimate - rows$truth) < z * rows$error), 3L),
    width = round(stats::median(2 * z * rows$error), 3L), warned = round(mean(rows$warned), 3L)
  )
}

main <- function(output = NULL, panels = 200L) {
  set.seed(seed)
  worlds <- expand.grid(world = c("three", "gold", "differential"), categories = c(2L, 4L))
  rows <- do.call(rbind, lapply(seq_len(nrow(worlds)), function(i) {
    do.call(rbind, lapply(seq_len(as.integer(panels)), function(panel) {
      one_panel(as.character(worlds$world[[i]]), worlds$categories[[i]])
    }))
  }))
  by <- interaction(rows$slope, rows$method, rows$world, rows$categories, drop = TRUE)
  table <- do.call(rbind, lapply(split(rows, by), summarise))
  row.names(table) <- NULL
  print(table)
  if (!is.null(output)) utils::write.csv(table, output, row.names = FALSE)
}

do.call(main, as.list(commandArgs(TRUE)))
