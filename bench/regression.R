# Errors of regressions on the unobserved true category, if coders make errors.
#
#   Rscript bench/regression.R [inst/extdata/results/regression.csv] [panels]
#
# Panels of 500 cases, whose category (two or four) depends on a number z with slope 1, and on a
# group of half of the cases with slope 0. `worlds` has the coders; in some of them the first coder
# finds the second category .2 less often in one group. The worlds `test` show how often the test of
# differential errors rejects, where the category depends on nothing.
#
# Bias, coverage and width (median) of 95% intervals of the slopes of the second category, of
# * `regression`, and `coder split`: the first coder counts as two raters, one in each group;
# * multinomial regression on labels: `majority`, `dawid_skene` (the most probable category), `gold
#   only` (true categories of the gold cases), `truth` (true categories of all cases);
# * package ipd with gold cases and two categories, where it is installed.
# `rejected`: share of panels in which the smallest adjusted p-value is below .05. Columns that end
# in `_se` are Monte Carlo standard errors.

library(fallible)

seed <- 20150516L
options(fallible.quiet = TRUE)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))),
  "helpers.R"))

coders <- c(0.8, 0.75, 0.7)
world <- function(name, right, categories = 2L, gold = 0L, difference = 0, test = FALSE) {
  list(name = name, right = right, categories = categories, gold = gold, difference = difference,
    test = test)
}
worlds <- c(
  lapply(c(2L, 4L), world, name = "three", right = coders),
  lapply(c(2L, 4L), world, name = "gold", right = coders[[1L]], gold = 100L),
  lapply(c(2L, 4L), world, name = "differential", right = coders, difference = 0.2),
  list(world("gold_differential", coders[[1L]], gold = 100L, difference = 0.2)),
  lapply(c(0.75, 0.8, 0.85), function(right) world("test", rep(right, 3L), test = TRUE)),
  lapply(c(0.75, 0.8, 0.85), function(right) {
    world("test_differential", rep(right, 3L), difference = 0.2, test = TRUE)
  })
)

draw <- function(world, n = 500L) {
  z <- stats::rnorm(n)
  group <- rep_len(c("a", "b"), n)
  slopes <- c(if (world$test) 0 else 1, rep(0, world$categories - 2L))
  logits <- cbind(0, outer(z, slopes))
  truth <- max.col(logits - log(-log(matrix(stats::runif(length(logits)), n))))
  data <- data.frame(z, group, truth)
  for (j in seq_along(world$right)) {
    lost <- (j == 1L & group == "b" & truth == 2L) * world$difference
    wrong <- (truth + sample(world$categories - 1L, n, TRUE) - 1L) %% world$categories + 1L
    data[[paste0("r", j)]] <- ifelse(stats::runif(n) < world$right[[j]] - lost, truth, wrong)
  }
  data
}

# Slopes in rows, with their standard errors.
label_slopes <- function(label, data) {
  fit <- nnet::multinom(factor(label) ~ z + group, data, trace = FALSE)
  slopes <- matrix(stats::coef(fit), ncol = 3L)[1L, -1L]
  cbind(slopes, sqrt(diag(stats::vcov(fit)))[2:3])
}

ipd_slopes <- function(method, data, gold) {
  data$truth <- data$truth - 1
  data$r1 <- data$r1 - 1
  data$set <- ifelse(seq_len(nrow(data)) <= gold, "labeled", "unlabeled")
  fit <- ipd::ipd(truth - r1 ~ z + group, method, "logistic", data, label = "set")
  cbind(fit@coefficients, fit@se)[-1L, ]
}

fit_panel <- function(data, world, known_truth) {
  raters <- grep("^r", names(data), value = TRUE)
  x <- ratings(data, raters = tidyselect::all_of(raters), covariates = c(z, group),
    categories = seq_len(world$categories))
  formula <- if (world$test) ~group else ~ z + group
  model <- rater_model("rater", "free", base_rates = formula)
  suppressWarnings(fit_raters(x, model, known_truth = known_truth))
}

table_slopes <- function(fit) {
  table <- tidy(fit, "regression")
  as.matrix(table[match(c("z", "groupb"), table$term), c("estimate", "std.error")])
}

other_slopes <- function(data, world, fit, known_truth) {
  raters <- grep("^r", names(data))
  votes <- vapply(seq_len(world$categories), function(k) {
    rowSums(data[raters] == k)
  }, numeric(nrow(data)))
  labels <- suppressWarnings(predict(fit_raters(fit$x, dawid_skene(), known_truth = known_truth)))
  out <- list(
    majority = label_slopes(max.col(votes), data),
    dawid_skene = label_slopes(labels$category, data), truth = label_slopes(data$truth, data)
  )
  binary <- world$categories == 2L
  if (world$difference > 0 && binary) {
    split <- transform(data, r1 = ifelse(group == "a", r1, NA), r0 = ifelse(group == "b", r1, NA))
    out$`coder split` <- table_slopes(fit_panel(split, world, known_truth))
  }
  gold <- seq_along(known_truth)
  if (world$gold > 0L) out$`gold only` <- label_slopes(known_truth, data[gold, ])
  if (world$gold > 0L && binary && requireNamespace("ipd", quietly = TRUE)) {
    methods <- c("chen", "pdc", "ppi_plusplus", "pspa")
    names(methods) <- paste("ipd", methods)
    out <- c(out, lapply(methods, ipd_slopes, data, world$gold))
  }
  out
}

one_panel <- function(world) {
  data <- draw(world)
  gold <- seq_len(world$gold)
  known_truth <- if (world$gold > 0L) stats::setNames(data$truth[gold], gold)
  fit <- fit_panel(data, world, known_truth)
  rejected <- any(tidy(fit, "differential")$p.adjusted < 0.05, na.rm = TRUE)
  out <- list(regression = table_slopes(fit))
  if (!world$test) out <- c(out, other_slopes(data, world, fit, known_truth))
  estimates <- do.call(rbind, out)
  data.frame(
    world = world$name, right = paste(world$right, collapse = " "), categories = world$categories,
    method = rep(names(out), each = 2L), slope = c("z", "group"), truth = c(1, 0),
    estimate = estimates[, 1L], error = estimates[, 2L], rejected, row.names = NULL
  )
}

summarise <- function(rows) {
  z <- stats::qnorm(0.975)
  kept <- rows[is.finite(rows$estimate) & is.finite(rows$error), ]
  error <- kept$estimate - kept$truth
  share <- c(mean(abs(error) < z * kept$error), mean(rows$rejected))
  share_se <- sqrt(share * (1 - share) / c(nrow(kept), nrow(rows)))
  numbers <- c(
    bias = mean(error), bias_se = stats::sd(error) / sqrt(nrow(kept)), rmse = sqrt(mean(error^2)),
    coverage = share[[1L]], coverage_se = share_se[[1L]],
    width = stats::median(2 * z * kept$error), rejected = share[[2L]], rejected_se = share_se[[2L]]
  )
  data.frame(
    rows[1L, c("world", "right", "categories", "method", "slope")], t(round(numbers, 4L)),
    panels = nrow(rows), missing = nrow(rows) - nrow(kept), row.names = NULL
  )
}

main <- function(output = NULL, panels = 200L) {
  ipd <- NA
  if (requireNamespace("ipd", quietly = TRUE)) ipd <- format(utils::packageVersion("ipd"))
  results <- NULL
  for (i in seq_along(worlds)) {
    set.seed(seed + i)
    rows <- do.call(rbind, lapply(seq_len(as.integer(panels)), function(panel) {
      one_panel(worlds[[i]])
    }))
    if (worlds[[i]]$test) rows <- rows[rows$slope == "group", ]
    key <- paste(rows$method, rows$slope)
    table <- do.call(rbind, lapply(split(rows, factor(key, unique(key))), summarise))
    print(table, row.names = FALSE)
    results <- rbind(results, table)
    if (!is.null(output)) write_results(cbind(results, ipd), output, seed)
  }
}

do.call(main, as.list(commandArgs(TRUE)))
