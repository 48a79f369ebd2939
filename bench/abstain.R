# Labels from raters who abstain, where the truth is known.
#
#   Rscript bench/abstain.R [panels per world, default 100] [panels of random raters, default 100]
#
# For each world and rule: share of right labels, log loss, and mean absolute error of base rates.
# Also how often each way to use abstentions is chosen. Rules: "votes", a plurality of the answers
# (log loss: shares of votes, smoothed by 1 / categories); pooled Dawid-Skene with abstentions as
# "missing" ratings, as one more "category", and "modelled"; "chosen", the default of dawid_skene();
# and the labels of ground_truth() with `votes` 0 and .5. Standard errors are over panels, in
# brackets.
#
# In panels of random raters, all abstain on the same half of the cases. Labels of these panels must
# be missing, or have the warning `weakly_identified`, in at least .90 of the panels. Otherwise the
# exit status is 1.

library(fallible)

arguments <- as.integer(commandArgs(TRUE))
panels <- c(arguments, 100L)[[1L]]
random_panels <- c(arguments[-1L], 100L)[[1L]]

draw_truth <- function(n, rates) sample.int(length(rates), n, TRUE, rates)

# Draws panels with two categories. `right`, `silent`: probabilities of a right answer and of an
# abstention, raters x categories. They may be functions of `hard`, the difficulty of the cases.
two_categories <- function(n, positive, right, silent, hard = 0) {
  truth <- draw_truth(n, c(1 - positive, positive))
  is_hard <- stats::runif(n) < hard
  pick <- function(p, j) {
    if (is.matrix(p)) p[j, truth] else ifelse(is_hard, p$hard[j, truth], p$easy[j, truth])
  }
  raters <- nrow(if (is.matrix(right)) right else right$easy)
  replies <- vapply(seq_len(raters), function(j) {
    answer <- ifelse(stats::runif(n) < pick(right, j), truth, 3L - truth)
    ifelse(stats::runif(n) < pick(silent, j), "?", as.character(answer))
  }, character(n))
  list(truth = truth, replies = replies, categories = c("1", "2"))
}

functions_world <- function(n, rates, category, coverage, precision, with_raters = NULL) {
  truth <- draw_truth(n, rates)
  replies <- vapply(seq_along(category), function(j) {
    rate <- rates[[category[[j]]]]
    fires <- ifelse(truth == category[[j]], coverage[[j]] * precision[[j]] / rate,
      coverage[[j]] * (1 - precision[[j]]) / (1 - rate))
    ifelse(stats::runif(n) < pmin(fires, 0.97), as.character(category[[j]]), "?")
  }, character(n))
  if (!is.null(with_raters)) replies <- cbind(replies, with_raters(truth))
  list(truth = truth, replies = replies, categories = as.character(seq_along(rates)))
}

pairs <- function(...) matrix(c(...), ncol = 2L)
same <- function(raters, first, second = first) pairs(rep(first, raters), rep(second, raters))
full_raters <- function(truth) {
  right <- list(c(0.8, 0.75), c(0.7, 0.8))
  answer_rates <- list(c(0.9, 0.6), c(0.7, 0.6))
  vapply(1:2, function(j) {
    answer <- ifelse(stats::runif(length(truth)) < right[[j]][truth], truth, 3L - truth)
    ifelse(stats::runif(length(truth)) < answer_rates[[j]][truth], as.character(answer), "?")
  }, character(length(truth)))
}
crowd <- function() {
  truth <- draw_truth(400L, c(0.6, 0.4))
  replies <- vapply(1:60, function(j) {
    right <- stats::rbeta(2L, 12, 4)
    first <- stats::rbeta(1L, 1, 6)
    silent <- c(first, min(2.5 * first, 0.8))
    answer <- ifelse(stats::runif(400L) < right[truth], truth, 3L - truth)
    reply <- ifelse(stats::runif(400L) < silent[truth], "?", as.character(answer))
    ifelse(stats::runif(400L) < 5 / 60, reply, NA_character_)
  }, character(400L))
  list(truth = truth, replies = replies, categories = c("1", "2"))
}

tests <- pairs(0.9, 0.95, 0.85, 0.9, 0.8, 0.85)
worlds <- list(
  Medical = function() {
    two_categories(500L, 0.3, tests, pairs(0.05, 0.02, 0.1, 0.25, 0.1, 0.3))
  },
  Chance = function() two_categories(500L, 0.3, tests, same(3L, 0.15)),
  `Medical 2` = function() {
    two_categories(300L, 0.1, pairs(0.95, 0.97, 0.9, 0.9, 0.7, 0.8),
      pairs(0.08, 0.02, 0.05, 0.35, 0.1, 0.15))
  },
  Judges = function() {
    two_categories(300L, 0.7, pairs(0.7, 0.75, 0.8, 0.8, 0.65, 0.85, 0.8, 0.9, 0.75, 0.8),
      pairs(0.2, 0.3, 0.15, 0.1, 0.25, 0.02, 0.05, 0.02, 0.02, 0.03))
  },
  Crowd = crowd,
  Hard = function() {
    two_categories(500L, 0.3, list(
      easy = pairs(0.92, 0.93, 0.88, 0.9, 0.85, 0.87), hard = pairs(0.7, 0.7, 0.65, 0.65, 0.6, 0.65)
    ), list(easy = same(3L, 0.03), hard = same(3L, 0.5)), hard = 0.3)
  },
  Both = function() {
    two_categories(500L, 0.3, list(easy = same(5L, 0.9, 0.85), hard = same(5L, 0.7, 0.65)),
      list(easy = same(5L, 0.03, 0.15), hard = same(5L, 0.4, 0.7)), hard = 0.3)
  },
  F10 = function() {
    functions_world(500L, c(0.5, 0.5), rep(1:2, each = 5L), stats::runif(10L, 0.03, 0.25),
      stats::runif(10L, 0.65, 0.97))
  },
  F8 = function() {
    coverage <- stats::runif(8L, rep(c(0.1, 0.02), 4L), rep(c(0.4, 0.1), 4L))
    functions_world(1000L, c(0.85, 0.15), rep(1:2, 4L), coverage,
      c(0.97, 0.5, 0.95, 0.6, 0.9, 0.7, 0.93, 0.4))
  },
  F6 = function() {
    functions_world(1000L, c(0.6, 0.4), rep(2L, 6L), stats::runif(6L, 0.05, 0.3),
      stats::runif(6L, 0.65, 0.95))
  },
  F12 = function() {
    functions_world(1000L, c(0.4, 0.3, 0.2, 0.1), rep(1:4, each = 3L),
      stats::runif(12L, 0.04, 0.15), stats::runif(12L, 0.6, 0.95))
  },
  Mixed = function() {
    functions_world(500L, c(0.6, 0.4), rep(1:2, 3L), stats::runif(6L, 0.05, 0.25),
      stats::runif(6L, 0.65, 0.95), full_raters)
  }
)

ratings_of <- function(world, abstain) {
  replies <- world$replies
  categories <- world$categories
  if (identical(abstain, "missing")) replies[replies %in% "?"] <- NA
  if (identical(abstain, "category")) categories <- c(categories, "?")
  suppressMessages(suppressWarnings(ratings(
    stats::setNames(as.data.frame(replies), paste0("rater", seq_len(ncol(replies)))),
    raters = tidyselect::everything(), categories = categories,
    abstain = if (identical(abstain, "modelled")) "?"
  )))
}

# Right labels (ties count in part), log loss and error of the largest base rate, or NA.
judged <- function(probability, rates, world) {
  if (is.null(probability) || anyNA(probability)) return(c(NA, NA, NA))
  probability <- probability / rowSums(probability)
  is_top <- probability > apply(probability, 1L, max) - 1e-9
  at <- cbind(seq_along(world$truth), world$truth)
  known <- tabulate(world$truth, length(world$categories)) / length(world$truth)
  loss <- -mean(log(pmax(probability[at], 1e-12)))
  c(mean(is_top[at] / rowSums(is_top)), loss, mean(abs(rates - known)))
}

votes <- function(world) {
  counts <- vapply(world$categories, function(k) rowSums(world$replies == k, na.rm = TRUE),
    numeric(length(world$truth)))
  smooth <- (counts + 1 / ncol(counts)) / (rowSums(counts) + 1)
  list(smooth, colSums(counts) / sum(counts))
}

quietly <- function(code) {
  tryCatch(suppressMessages(suppressWarnings(code)), error = function(e) NULL)
}

# Probabilities of all cases, in the order of the categories; cases without a rating have the base
# rates.
initial_labels <- function(x, world, ...) {
  labels <- quietly(ground_truth(x, ...))
  if (is.null(labels)) return(list(NULL, NULL))
  by_case(as.data.frame(labels), x, world)
}

by_case <- function(labels, x, world) {
  table <- as.matrix(labels[world$categories])
  out <- matrix(colMeans(table), length(world$truth), ncol(table), byrow = TRUE)
  out[match(labels$case, x$cases), ] <- table
  list(out, colMeans(out))
}

fit_of <- function(x, world, model) {
  fit <- quietly(fit_raters(x, model))
  if (is.null(fit) || anyNA(fit$base_rates)) return(list(NULL, NULL, NULL))
  labels <- as.data.frame(quietly(predict(fit, type = "probability")))
  rates <- as.vector(fit$base_rates)[seq_along(world$categories)]
  list(by_case(labels, x, world)[[1L]], rates / sum(rates), fit)
}

one_panel <- function(draw_world) {
  world <- draw_world()
  x <- ratings_of(world, "modelled")
  fitted <- function(x, model) do.call(judged, c(fit_of(x, world, model)[1:2], list(world)))
  chosen <- fit_of(x, world, dawid_skene())
  list(
    way = if (is.null(chosen[[3L]])) "none" else chosen[[3L]]$model$abstain %||% "ignored",
    values = rbind(
      votes = do.call(judged, c(votes(world), list(world))),
      missing = fitted(x, dawid_skene(abstain = "ignored")),
      category = fitted(ratings_of(world, "category"), dawid_skene()),
      modelled = fitted(x, dawid_skene(abstain = "depends")),
      chosen = do.call(judged, c(chosen[1:2], list(world))),
      `labels, votes 0` = do.call(judged, c(initial_labels(x, world, votes = 0), list(world))),
      labels = do.call(judged, c(initial_labels(x, world), list(world)))
    )
  )
}

`%||%` <- function(x, y) if (is.null(x)) y else x

with_error <- function(x) {
  x <- x[!is.na(x)]
  if (length(x) == 0L) return("NA")
  sprintf("%.3f (%.3f)", mean(x), stats::sd(x) / sqrt(length(x)))
}

for (name in names(worlds)) {
  set.seed(20260501)
  runs <- lapply(seq_len(panels), function(i) one_panel(worlds[[name]]))
  cat("\n", name, ": ", sep = "")
  print(table(vapply(runs, `[[`, "", "way")))
  values <- simplify2array(lapply(runs, `[[`, "values"))
  table <- apply(values, 1:2, with_error)
  colnames(table) <- c("right", "log loss", "error of base rates")
  print(noquote(cbind(table, missing = rowSums(is.na(values[, 1L, ])))))
}

random_raters <- function(share, n = 200L) {
  together <- stats::runif(n) < 0.5
  replies <- vapply(1:3, function(j) {
    answer <- ifelse(stats::runif(n) < share, "1", "2")
    ifelse(stats::runif(n) < ifelse(together, 0.9, 0.05), "?", answer)
  }, character(n))
  world <- list(truth = rep(1L, n), replies = replies, categories = c("1", "2"))
  x <- ratings_of(world, "modelled")
  warned <- FALSE
  labels <- withCallingHandlers(
    tryCatch(suppressMessages(ground_truth(x)), error = function(e) NULL),
    fallible_warning_weakly_identified = function(w) warned <<- TRUE,
    warning = function(w) tryInvokeRestart("muffleWarning")
  )
  is.null(labels) || anyNA(tidy(labels)$probability) || warned
}
cat("\nRandom raters, labels missing or warned of:\n")
shares <- c(0.5, 0.8, 0.9)
safe <- vapply(shares, function(share) {
  mean(vapply(seq_len(random_panels), function(i) random_raters(share), NA))
}, 0)
error <- sqrt(safe * (1 - safe) / random_panels)
print(data.frame(share = shares, safe = safe, std.error = error), digits = 3L)
quit(status = as.integer(any(safe + 2 * error < 0.9)))
