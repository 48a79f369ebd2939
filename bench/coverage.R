# Coverage of 90% intervals of each quantity of a population:
#
#   Rscript bench/coverage.R PANELS FILE [WORLD...]
# draws panels, and writes a row per world, quantity, number of gold cases and interval.
#
#   Rscript bench/coverage.R --check FILE
# draws the first panels again and compares them with the panels in FILE.
#
# Each panel has a separate seed, so that the first panels of a long run are those of a short run.
# Column `missed` has a character for each of the first thirty panels: the number of its intervals
# that missed (systems and categories), "-" if there was no interval.

suppressMessages(library(fallible))
folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[[1L]]))
source(file.path(folder, "helpers.R"))

seed <- 30000L
kept <- 30L
gold_numbers <- c(20, 50, 100)
gold_of_metrics <- 50
# Number of replicates of metrics of scores. Each refits the raters. The standard deviation of 60
# replicates has a relative error of a tenth.
drawn_of_scores <- 60

# ---- Worlds -------------------------------------------------------------------------------------

# Answers that are right with some probability, and otherwise any other category.
draw_answers <- function(truth, right, categories) {
  step <- sample.int(categories - 1L, length(truth), replace = TRUE)
  step[stats::runif(length(truth)) < right] <- 0L
  (truth - 1L + step) %% categories + 1L
}

by_matrix <- function(truth, matrix) {
  cumulative <- t(apply(matrix, 1L, cumsum))[, -ncol(matrix), drop = FALSE]
  1L + rowSums(stats::runif(length(truth)) > cumulative[truth, , drop = FALSE])
}

judge <- function(sensitivity, specificity) {
  rbind(c(specificity, 1 - specificity), c(1 - sensitivity, sensitivity))
}

rare_of_three <- function(right, rare) {
  rbind(
    c(right, 0.98 - right, 0.02), c(0.98 - right, right, 0.02),
    c((1 - rare) / 2, (1 - rare) / 2, rare)
  )
}

matrices <- function(truth, raters, systems) {
  list(
    truth = truth, raters = lapply(raters, by_matrix, truth = truth),
    systems = lapply(systems, by_matrix, truth = truth)
  )
}

# Functions of the number of cases: truth, and a list of answers per rater and per system.
worlds <- list(
  independent = function(n) {
    truth <- sample(3L, n, TRUE, c(0.5, 0.3, 0.2))
    list(
      truth = truth,
      raters = lapply(c(0.7, 0.75, 0.8, 0.65), draw_answers, truth = truth, categories = 3L),
      systems = lapply(c(0.85, 0.75), draw_answers, truth = truth, categories = 3L)
    )
  },
  copying = function(n) { # two raters often copy the first
    truth <- sample(2L, n, TRUE)
    first <- draw_answers(truth, 0.75, 2L)
    copy <- function() ifelse(stats::runif(n) < 0.6, first, draw_answers(truth, 0.75, 2L))
    list(
      truth = truth, raters = list(first, copy(), copy()),
      systems = lapply(c(0.85, 0.75), draw_answers, truth = truth, categories = 2L)
    )
  },
  shared = function(n) { # in hard cases, systems and raters often give the same wrong answer
    truth <- sample(3L, n, TRUE)
    hard <- stats::runif(n) < 0.25
    wrong <- (truth - 1L + sample.int(2L, n, TRUE)) %% 3L + 1L
    say <- function(easy, fooled) {
      out <- draw_answers(truth, easy, 3L)
      out[hard] <- ifelse(stats::runif(n) < fooled, wrong, truth)[hard]
      out
    }
    list(
      truth = truth, raters = list(say(0.9, 0.6), say(0.9, 0.6), say(0.85, 0.6)),
      systems = list(say(0.95, 0.7), say(0.9, 0.5))
    )
  },
  "rare of two" = function(n) {
    matrices(
      1L + (stats::runif(n) < 0.02), list(judge(0.7, 0.97), judge(0.75, 0.98), judge(0.8, 0.96)),
      list(judge(0.6, 0.98), judge(0.8, 0.95))
    )
  },
  "rare of three" = function(n) {
    matrices(
      sample(3L, n, TRUE, c(0.5, 0.48, 0.02)),
      list(rare_of_three(0.8, 0.7), rare_of_three(0.85, 0.75), rare_of_three(0.9, 0.8)),
      list(rare_of_three(0.9, 0.6), rare_of_three(0.8, 0.8))
    )
  },
  neighbours = function(n) { # five ordered categories, of which neighbours are confused
    truth <- sample(5L, n, TRUE, c(0.35, 0.25, 0.2, 0.15, 0.05))
    say <- function(right) {
      wrong <- truth + sample(c(-1L, 1L), n, TRUE)
      wrong[wrong < 1L] <- 2L
      wrong[wrong > 5L] <- 4L
      ifelse(stats::runif(n) < right, truth, wrong)
    }
    list(
      truth = truth, raters = lapply(c(0.6, 0.7, 0.65, 0.75), say),
      systems = lapply(c(0.8, 0.6), say)
    )
  },
  "nearly right" = function(n) {
    truth <- sample(2L, n, TRUE, c(0.7, 0.3))
    list(
      truth = truth,
      raters = lapply(c(0.9, 0.9, 0.92), draw_answers, truth = truth, categories = 2L),
      systems = lapply(c(0.99, 0.97), draw_answers, truth = truth, categories = 2L)
    )
  },
  "own matrices" = function(n) { # Dawid and Skene's, with scores of two normal signals
    truth <- 1L + (stats::runif(n) < 0.4)
    out <- matrices(
      truth, list(judge(0.7, 0.9), judge(0.85, 0.75), judge(0.8, 0.8), judge(0.65, 0.85)), list()
    )
    score <- function(shift) {
      stats::plogis(shift * (stats::rnorm(n) + shift * (truth - 1.5)) + log(0.4 / 0.6))
    }
    out$scores <- list(score(1.6), score(1))
    out$systems <- lapply(out$scores, function(p) 1L + (p > 0.5))
    out
  }
)

cases_of <- function(name) if (startsWith(name, "rare")) 2000L else 600L

as_panel <- function(world) {
  categories <- max(world$truth)
  labels <- letters[seq_len(categories)]
  answers <- c(world$raters, world$systems)
  raters <- paste0("r", seq_along(world$raters))
  data <- as.data.frame(lapply(answers, function(code) factor(labels[code], labels)))
  names(data) <- c(raters, "s1", "s2")
  data$case <- seq_along(world$truth)
  if (!is.null(world$scores)) {
    data$p1 <- world$scores[[1L]]
    data$p2 <- world$scores[[2L]]
  }
  ratings(
    data, raters = dplyr::all_of(raters), systems = c("s1", "s2"), case = "case",
    scores = if (!is.null(world$scores)) list(s1 = c(b = "p1"), s2 = c(b = "p2")),
    rater_kind = "crowd"
  )
}

# ---- What is true -------------------------------------------------------------------------------

metrics <- c("recall", "precision", "f_meas", "kap")
score_metrics <- c("roc_auc", "mn_log_loss", "brier_class")
measures <- c("fleiss_kappa", "gwet_ac", "krippendorff_alpha")

true_values <- function(name, n = 4e5) {
  set.seed(seed)
  world <- worlds[[name]](n)
  categories <- max(world$truth)
  labels <- letters[seq_len(categories)]
  truth_of_system <- function(s) {
    table <- table(factor(world$truth, seq_len(categories)), factor(world$systems[[s]],
      seq_len(categories))) / n
    right <- diag(table)
    chance <- sum(rowSums(table) * colSums(table))
    out <- data.frame(
      quantity = c("accuracy", "kap", rep(metrics[1:3], each = categories)),
      category = c(NA, NA, rep(labels, 3L)),
      truth = c(
        sum(right), (sum(right) - chance) / (1 - chance), right / rowSums(table),
        right / colSums(table), 2 * right / (rowSums(table) + colSums(table))
      )
    )
    if (!is.null(world$scores)) {
      p <- world$scores[[s]]
      positive <- world$truth == 2L
      area <- (sum(rank(p)[positive]) - sum(positive) * (sum(positive) + 1) / 2) /
        (sum(positive) * as.double(sum(!positive)))
      loss <- c(-mean(log(ifelse(positive, p, 1 - p))), mean((positive - p)^2))
      out <- rbind(out, data.frame(quantity = score_metrics, category = NA, truth = c(area, loss)))
    }
    cbind(system = paste0("s", s), out)
  }
  out <- rbind(truth_of_system(1L), truth_of_system(2L))
  accuracy <- out$truth[out$quantity == "accuracy"]
  first_cases <- lapply(world, function(part) {
    if (is.list(part)) lapply(part, utils::head, 1e5) else utils::head(part, 1e5)
  })
  agreed <- tidy(agreement(as_panel(first_cases), measures, interval = "none"))
  rbind(
    out, data.frame(
      system = "s1 - s2", quantity = "difference", category = NA, truth = -diff(accuracy)
    ),
    data.frame(
      system = "raters", quantity = agreed$measure, category = NA, truth = agreed$estimate
    )
  )
}

# ---- Intervals ----------------------------------------------------------------------------------

quiet <- function(expr) suppressMessages(suppressWarnings(expr))
columns <- c("gold", "interval", "system", "quantity", "category", "estimate", "conf.low",
  "conf.high")

rows <- function(table, gold, interval, quantity = table$metric, system = table$system) {
  table <- as.data.frame(table)
  table$category <- if (is.null(table$category)) NA_character_ else as.character(table$category)
  table[c("gold", "interval", "system")] <- list(gold, interval, system)
  table$quantity <- quantity
  table[columns]
}

all_metrics <- function(estimate, gold, interval, scored) {
  estimates <- tidy(quiet(estimate_metrics(estimate, metrics, interval = interval)))
  estimates <- estimates[!is.na(estimates$category) | estimates$metric == "kap", ]
  out <- rows(estimates, gold, interval)
  if (scored) {
    estimates <- tidy(quiet(estimate_metrics(estimate, score_metrics, interval = interval)))
    out <- rbind(out, rows(estimates[estimates$metric %in% score_metrics & !duplicated(
      estimates[c("system", "metric")]), ], gold, interval))
    out$category[out$quantity %in% score_metrics] <- NA
  }
  out
}

one_panel <- function(name, number) {
  set.seed(seed + number)
  world <- worlds[[name]](cases_of(name))
  x <- as_panel(world)
  scored <- !is.null(world$scores)
  order <- sample.int(length(world$truth))
  known <- data.frame(case = order, truth = letters[world$truth[order]])
  drawn <- if (scored) list(replicates = drawn_of_scores) else list()
  estimate <- quiet(estimate_accuracy(x, resampling = drawn))
  pair <- function(estimate, gold, interval) {
    differences <- tidy(quiet(compare_systems(estimate)))
    rows(differences, gold, interval, "difference", "s1 - s2")
  }
  out <- rbind(
    rows(tidy(estimate), 0, "robust", "accuracy"), pair(estimate, 0, "robust"),
    all_metrics(estimate, 0, "robust", scored),
    rows(tidy(quiet(agreement(x, measures))), 0, "analytic", measures, "raters")
  )
  for (gold in gold_numbers) {
    known_cases <- utils::head(known, gold)
    measured <- if (gold == gold_numbers[[1L]]) {
      quiet(estimate_accuracy(x, known_truth = known_cases, gold_sample = "random",
        resampling = drawn))
    } else {
      quiet(update(measured, known_truth = known_cases)) # ratings are fitted once
    }
    for (interval in c("combined", "corrected")) {
      estimate <- quiet(update(measured, interval = interval))
      out <- rbind(out, rows(tidy(estimate), gold, interval, "accuracy"))
      if (gold == gold_of_metrics) {
        metric_rows <- all_metrics(estimate, gold, interval, scored)
        out <- rbind(out, pair(estimate, gold, interval), metric_rows)
      }
    }
  }
  cbind(panel = number, out)
}

# ---- Tables -------------------------------------------------------------------------------------

run_world <- function(name, panels,
                      intervals = do.call(rbind, lapply(seq_len(panels), one_panel, name = name))) {
  truth <- true_values(name)
  intervals <- merge(intervals, truth)
  intervals$covered <- intervals$conf.low <= intervals$truth + 1e-12 &
    intervals$truth <= intervals$conf.high + 1e-12
  # The rare category is the last one, and has separate rows.
  last <- max(truth$category, na.rm = TRUE)
  intervals$scope <- ifelse(is.na(intervals$category), "", "each category")
  intervals$scope[startsWith(name, "rare") & intervals$category %in% last] <- "rare category"
  keys <- c("quantity", "scope", "gold", "interval")
  key <- interaction(intervals[keys], drop = TRUE, lex.order = TRUE)
  do.call(rbind, lapply(unname(split(intervals, key)), summarise, name = name, panels = panels))
}

summarise <- function(rows, name, panels) {
  panel <- factor(rows$panel, seq_len(panels))
  # Intervals of a panel are dependent, so panels are the units.
  by_panel <- tapply(rows$covered, panel, mean, na.rm = TRUE)
  by_panel <- by_panel[!is.na(by_panel)]
  # A truth of each system and category.
  coverages <- tapply(rows$covered, paste(rows$system, rows$category), mean, na.rm = TRUE)
  first <- utils::head(levels(panel), kept)
  missed <- vapply(split(rows$covered, panel)[first], function(covered) {
    if (all(is.na(covered))) "-" else as.character(min(9L, sum(!covered, na.rm = TRUE)))
  }, "")
  data.frame(
    world = name, rows[1L, c("quantity", "scope", "gold", "interval")],
    coverage = round(mean(rows$covered, na.rm = TRUE), 3L),
    mc_error = round(stats::sd(by_panel) / sqrt(length(by_panel)), 3L),
    lowest = round(min(coverages, na.rm = TRUE), 3L),
    lacking = round(mean(is.na(rows$covered)), 3L),
    bias = round(mean(rows$estimate - rows$truth, na.rm = TRUE), 3L),
    width = round(stats::median(rows$conf.high - rows$conf.low, na.rm = TRUE), 3L),
    panels = panels, missed = paste(missed, collapse = ""), row.names = NULL
  )
}

# Compares results of the first panels. A coverage may differ by one panel in fifty, since limits of
# intervals differ in their last digits between machines.
check <- function(file, tolerance = 0.02) {
  before <- utils::read.csv(file, colClasses = c(missed = "character"), na.strings = "NA")
  panels <- nchar(before$missed[[1L]])
  now <- do.call(rbind, lapply(unique(before$world), run_world, panels = panels))
  key <- function(table) do.call(paste, table[c("world", "quantity", "scope", "gold", "interval")])
  at <- match(key(before), key(now))
  digits_of <- function(missed) do.call(rbind, lapply(substr(missed, 1L, panels), utf8ToInt))
  deviation <- rowSums(digits_of(now$missed[at]) != digits_of(before$missed))
  wrong <- is.na(at) | deviation > tolerance * panels * 2
  print(cbind(before[wrong, c("world", "quantity", "scope", "gold", "interval")],
    panels = deviation[wrong]))
  cat(sum(deviation, na.rm = TRUE), "scope", length(deviation) * panels, "panels differ\n")
  quit(status = as.integer(any(wrong)))
}

arguments <- commandArgs(TRUE)
if (arguments[[1L]] == "--check") check(arguments[[2L]])
panels <- as.integer(arguments[[1L]])
chosen <- if (length(arguments) > 2L) arguments[-(1:2)] else names(worlds)
results <- NULL
for (name in chosen) {
  results <- rbind(results, run_world(name, panels))
  write_results(results, arguments[[2L]], seed) # results so far
}
