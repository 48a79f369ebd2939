# Raters who share a source, and repeated runs of a judge: compares ways to weight a declared group.
#
#   Rscript bench/rater-groups.R [output.csv] [panels]
#
# Panels with one system of accuracy .8, and raters in groups who err together. "copied": the other
# raters of a group repeat its first rater in a share of the cases. "hard": correctness is
# correlated within the group (normal), and wrong answers are independent. "rerun": four judges with
# two or three runs each, which repeat the first.
#
# Mean absolute error, root mean squared error, coverage and mean width of 90% intervals of:
# * ignored, voted: the package's default without and with the declaration;
# * first: the first run as the vote if categories tie;
# * em_ignored, em_voted, em_weighted, em_block: a small EM in this script, without intervals. It
#   has one accuracy for each judge and for the system. Its input is raters without groups, votes,
#   or ratings of a group of m with exponent 1 / m. em_block has a random effect: the group has a
#   latent answer, which each member gives with one probability, and otherwise a separate answer.

library(fallible)

folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(folder, "helpers.R"))

seed <- 20150501L
target <- 0.8

# ---- Panels -------------------------------------------------------------------------------------

# Uniform errors among `n` categories.
answer <- function(truth, right, n) {
  step <- sample.int(n - 1L, length(truth), replace = TRUE)
  step[right] <- 0L
  (truth - 1L + step) %% n + 1L
}

draw_group <- function(truth, accuracy, n, kind, share) {
  cases <- length(truth)
  if (kind == "hard" && length(accuracy) > 1L) {
    common <- stats::rnorm(cases)
    return(sapply(accuracy, function(p) {
      z <- sqrt(share) * common + sqrt(1 - share) * stats::rnorm(cases)
      answer(truth, z < stats::qnorm(p), n)
    }))
  }
  answers <- sapply(accuracy, function(p) answer(truth, stats::runif(cases) < p, n))
  for (j in seq_along(accuracy)[-1L]) {
    copies <- stats::runif(cases) < share
    answers[copies, j] <- answers[copies, 1L]
  }
  answers
}

# A list: ratings (cases x raters), system, group (of each rater), n.
draw_panel <- function(cases, n, kind, share, sizes) {
  truth <- sample.int(n, cases, replace = TRUE)
  base <- if (n == 2L) 0.7 else 0.6
  columns <- lapply(seq_along(sizes), function(g) {
    m <- sizes[[g]]
    accuracy <- if (kind == "rerun") {
      rep(base + c(0.15, 0.05, -0.05, 0.05)[[g]], m)
    } else if (m == 1L) {
      base + c(-0.05, 0.05)[[g %% 2L + 1L]]
    } else {
      base + seq(-0.1, 0.1, length.out = m)
    }
    draw_group(truth, accuracy, n, kind, share)
  })
  list(
    ratings = do.call(cbind, columns), group = rep(seq_along(sizes), sizes), n = n,
    system = answer(truth, stats::runif(cases) < target, n)
  )
}

# ---- The package --------------------------------------------------------------------------------

as_data <- function(codes, n) {
  as.data.frame(lapply(as.data.frame(codes), factor, levels = seq_len(n)))
}

# Estimate, and the limits of the interval.
by_package <- function(codes, panel, groups = NULL) {
  x <- ratings(
    cbind(as_data(codes, panel$n), system = factor(panel$system, levels = seq_len(panel$n))),
    raters = -system, systems = system, rater_groups = groups
  )
  table <- suppressWarnings(tidy(estimate_accuracy(x)), classes = "fallible_warning")
  c(table$estimate, table$conf.low, table$conf.high)
}

# The vote of each group as a column; where categories tie, none or that of the first rater.
vote <- function(panel, first = FALSE) {
  sapply(unique(panel$group), function(g) {
    group_ratings <- panel$ratings[, panel$group == g, drop = FALSE]
    times <- sapply(seq_len(panel$n), function(k) rowSums(group_ratings == k))
    winner <- max.col(times, "first")
    tied <- rowSums(times == times[cbind(seq_along(winner), winner)]) > 1L
    winner[tied] <- if (first) group_ratings[tied, 1L] else NA
    winner
  })
}

# ---- The small EM -------------------------------------------------------------------------------

# Cases x categories: is the category the answer of the judge, and how probable is the answer if the
# category is the truth? Both are neutral without a rating.
is_answer <- function(code, n) outer(code, seq_len(n), `==`) %in% TRUE

probability <- function(indicator, accuracy, n) {
  out <- array((1 - accuracy) / (n - 1), dim(indicator))
  out[indicator] <- accuracy
  out
}

# Fit of judges in the columns of `codes`, the last of which is the system. `blocks` is the block of
# each judge, 0 for none. Accuracies have a Beta(3, 2) prior, as in the package.
fit_em <- function(codes, n, exponents = rep(1, ncol(codes)), blocks = integer(ncol(codes)),
                   steps = 60L) {
  indicator <- lapply(seq_len(ncol(codes)),
    function(j) array(is_answer(codes[, j], n), c(nrow(codes), n)))
  rated <- !is.na(codes)
  names <- setdiff(unique(blocks), 0L)
  fit <- list(
    rates = rep(1 / n, n), own = rep(0.65, ncol(codes)), block = rep(0.65, length(names)),
    copies = rep(0.3, length(names))
  )
  for (step in seq_len(steps)) {
    p <- Map(probability, indicator, fit$own, n)
    log_p <- matrix(log(fit$rates), nrow(codes), n, byrow = TRUE)
    for (j in which(blocks == 0L)) log_p <- log_p + exponents[[j]] * rated[, j] * log(p[[j]])
    inside <- lapply(seq_along(names), function(b) {
      block_terms(indicator, p, which(blocks == names[[b]]), fit$block[[b]], fit$copies[[b]])
    })
    for (terms in inside) log_p <- log_p + log(Reduce(`+`, terms))
    posterior <- exp(log_p - apply(log_p, 1L, max))
    posterior <- posterior / rowSums(posterior)
    fit$rates <- colMeans(posterior)
    for (j in which(blocks == 0L)) {
      fit$own[[j]] <- (2 + sum(posterior[indicator[[j]]])) / (3 + sum(rated[, j]))
    }
    for (b in seq_along(names)) {
      fit <- update_block(fit, b, which(blocks == names[[b]]), indicator, p, inside[[b]], posterior)
    }
  }
  fit
}

# For each possible common answer of the block: cases x categories, the probability of the common
# answer and of the answers of the members.
block_terms <- function(indicator, p, members, accuracy, copies) {
  n <- ncol(indicator[[1L]])
  lapply(seq_len(n), function(l) {
    out <- array((1 - accuracy) / (n - 1), dim(indicator[[1L]]))
    out[, l] <- accuracy
    for (j in members) out <- out * (copies * indicator[[j]][, l] + (1 - copies) * p[[j]])
    out
  })
}

update_block <- function(fit, b, members, indicator, p, terms, posterior) {
  total <- Reduce(`+`, terms)
  right <- copied <- 0
  n_separate <- own_right <- numeric(length(fit$own))
  for (l in seq_along(terms)) {
    weight <- posterior * terms[[l]] / total
    right <- right + sum(weight[, l])
    for (j in members) {
      p_copy <- fit$copies[[b]] * indicator[[j]][, l]
      copy <- weight * p_copy / (p_copy + (1 - fit$copies[[b]]) * p[[j]])
      copied <- copied + sum(copy)
      n_separate[[j]] <- n_separate[[j]] + sum(weight - copy)
      own_right[[j]] <- own_right[[j]] + sum((weight - copy)[indicator[[j]]])
    }
  }
  cases <- nrow(posterior)
  fit$block[[b]] <- (2 + right) / (3 + cases)
  fit$copies[[b]] <- (1 + copied) / (2 + cases * length(members))
  fit$own[members] <- (2 + own_right[members]) / (3 + n_separate[members])
  fit
}

by_em <- function(codes, panel, ...) {
  codes <- cbind(codes, panel$system)
  c(fit_em(codes, panel$n, ...)$own[[ncol(codes)]], NA, NA)
}

# ---- Measures -----------------------------------------------------------------------------------

estimates <- function(panel) {
  raters <- as.data.frame(panel$ratings)
  size <- tabulate(panel$group)[panel$group]
  groups <- stats::setNames(paste("group", panel$group), names(raters))
  rbind(
    ignored = by_package(raters, panel), voted = by_package(raters, panel, groups),
    first = by_package(vote(panel, first = TRUE), panel),
    em_ignored = by_em(panel$ratings, panel), em_voted = by_em(vote(panel), panel),
    em_weighted = by_em(panel$ratings, panel, exponents = c(1 / size, 1)),
    em_block = by_em(panel$ratings, panel, blocks = c(panel$group * (size > 1L), 0))
  )
}

measure <- function(setting, panels) {
  set.seed(seed)
  sizes <- if (setting$kind == "rerun") rep(setting$runs, 4L) else c(3L, 3L, 1L, 1L)
  runs <- simplify2array(lapply(seq_len(panels), function(i) {
    estimates(draw_panel(setting$cases, setting$categories, setting$kind, setting$share, sizes))
  }))
  error <- runs[, 1L, ] - target
  out <- data.frame(
    setting, estimator = rownames(runs), panels = panels, bias = rowMeans(error),
    mae = rowMeans(abs(error)), rmse = sqrt(rowMeans(error^2)),
    coverage = rowMeans(runs[, 2L, ] <= target & runs[, 3L, ] >= target),
    width = rowMeans(runs[, 3L, ] - runs[, 2L, ]), row.names = NULL
  )
  print(out, digits = 2)
  out
}

arguments <- commandArgs(TRUE)
panels <- if (length(arguments) > 1L) as.integer(arguments[[2L]]) else 24L
grid <- rbind(
  expand.grid(cases = 300L, share = c(0, 0.5, 0.8), categories = c(2L, 5L), kind = "rerun",
    runs = 2:3, stringsAsFactors = FALSE),
  expand.grid(cases = c(300L, 1000L), share = c(0.5, 0.8), categories = c(2L, 5L),
    kind = c("copied", "hard"), runs = 1L, stringsAsFactors = FALSE)
)
table <- do.call(rbind, lapply(split(grid, seq_len(nrow(grid))), measure, panels = panels))
cat("\nOver all settings of a kind:\n")
measures <- c("bias", "mae", "rmse", "coverage", "width")
print(stats::aggregate(table[measures], table[c("estimator", "kind", "categories")], mean),
  digits = 2)
if (length(arguments) > 0L) {
  table[] <- lapply(table, function(x) if (is.double(x)) signif(x, 4L) else x)
  write_results(table, arguments[[1L]], seed)
}
