# Metrics other than accuracy: comparison with yardstick, errors, and speed.
#
#   FALLIBLE_DATA=/path Rscript bench/metrics.R [part ...]
#
# Parts, all of them by default:
# * peer: with all truths known, every metric of categories and averaged, compared with yardstick.
#   The package is looked for in $FALLIBLE_PEERS, or installed into a temporary library. A separate
#   process runs it, since it may need newer versions of packages that fallible uses.
# * panels: simulated panels in three settings of Lehner (2015) in which the K-properties hold
#   (Figures 1, 3 and 4: raters .6 with 5000 and 200 cases, raters .8 with 200). Base rates are
#   drawn in each run as there, and systems have accuracies .5, .7 and .9. True values are those of
#   the population: base rates times the confusion matrix. Bias, with its Monte Carlo error, and
#   coverage of 90% intervals, of the joint model with a bootstrap and of the default.
# * gold: the same panels (1000 cases) with 100 gold cases, "corrected" and "combined".
# * real: the sets of $FALLIBLE_DATA/real whose systems are classifiers: mean absolute error of
#   recall, precision and F by category, compared with the majority of the raters as truth (tied
#   categories share a case).
# * speed: all metrics of 5 systems on 1e5 cases with 5 raters, with intervals.

library(fallible)

folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[[1L]]))
source(file.path(folder, "helpers.R"))
inside <- asNamespace("fallible") # internal functions

seed <- 20150501
runs <- as.integer(Sys.getenv("FALLIBLE_RUNS", "400"))
main_metrics <- c("recall", "precision", "f_meas", "bal_accuracy")

main <- function(...) {
  options(width = 150L, cli.progress_show_after = 3600)
  parts <- c(...)
  if (length(parts) == 0L) parts <- c("peer", "panels", "gold", "real", "speed")
  cat("Seed ", seed, ", ", runs, " runs; fallible ", format(utils::packageVersion("fallible")),
    ", R ", format(getRversion()), ", ", format(Sys.Date()), "\n",
    sep = ""
  )
  for (part in parts) {
    set.seed(seed)
    switch(part,
      peer = against_peer(), panels = on_panels(), gold = with_gold_cases(), real = on_real(),
      speed = take_time()
    )
  }
}

quiet <- function(code) suppressMessages(suppressWarnings(code))

# ---- Peer ---------------------------------------------------------------------------------------

peer_names <- c(
  "accuracy", "kap", "mcc", "sens", "recall", "spec", "ppv", "precision", "npv", "f_meas",
  "bal_accuracy", "j_index", "detection_prevalence"
)
averages <- c("macro", "macro_weighted", "micro")

against_peer <- function() {
  library <- peer_library("yardstick")
  if (is.null(library)) {
    message("Skipped: yardstick is not there and could not be installed.")
    return(invisible())
  }
  panels <- c(
    lapply(rep(c(2, 3, 5), each = 4L), known_panel), lapply(c(3, 5), known_panel, missing = TRUE)
  )
  our_values <- do.call(rbind,
    lapply(seq_along(panels), function(i) cbind(i, ours_of(panels[[i]]))))
  answers <- lapply(panels, function(x) {
    data.frame(
      truth = truth(x)$category, answer = as.data.frame(x, what = "systems")$prediction
    )
  })
  file <- tempfile(fileext = ".csv")
  run_child("peer", list(
    answers = answers, categories = lapply(panels, function(x) x$categories), file = file
  ), library)
  peer_values <- utils::read.csv(file, colClasses = c(category = "character"))
  merged <- merge(our_values, peer_values, all.x = TRUE, suffixes = c("", ".peer"))
  deviation <- abs(merged$estimate - merged$value)
  cat("\nAgainst yardstick, all truths known: ", nrow(merged), " numbers of ", length(peer_names),
    " metrics, ", sum(is.na(merged$estimate)), " undefined in ours and ", sum(is.na(merged$value)),
    " in theirs, the same in ", sum(is.na(merged$estimate) == is.na(merged$value)),
    "; largest difference ", format(max(deviation, na.rm = TRUE), digits = 2), "\n",
    sep = ""
  )
  stopifnot(max(deviation, na.rm = TRUE) < 1e-12, is.na(merged$estimate) == is.na(merged$value))
}

# With `missing`, a category is never true, and another never answered.
known_panel <- function(categories, missing = FALSE) {
  labels <- LETTERS[seq_len(categories)]
  rates <- stats::runif(categories)
  law <- matrix(stats::rexp(categories^2), categories) + diag(2, categories)
  if (missing) rates[[2L]] <- 0
  if (missing) law[, 3L] <- 0
  truth <- sample.int(categories, 150L, replace = TRUE, prob = rates)
  answer <- vapply(truth, function(k) sample.int(categories, 1L, prob = law[k, ]), 0L)
  rating <- function() {
    labels[ifelse(stats::runif(150L) < 0.8, truth, sample.int(categories, 150L, replace = TRUE))]
  }
  ratings(
    data.frame(a = rating(), b = rating(), s = labels[answer], truth = labels[truth]),
    raters = c("a", "b"), systems = "s", truth = "truth", categories = labels
  )
}

ours_of <- function(x) {
  estimates <- quiet(estimate_metrics(
    x, peer_names, averages, known_truth = truth(x), gold_sample = "random"
  ))
  as.data.frame(estimates)[c("metric", "average", "category", "estimate")]
}

# In the process that has the peer: a file of metrics.
run_peer <- function(input) {
  rows <- lapply(seq_along(input$answers), function(i) {
    cbind(i, peer_of(input$answers[[i]], input$categories[[i]]))
  })
  utils::write.csv(do.call(rbind, rows), input$file, row.names = FALSE)
  cat("done\n")
}

peer_of <- function(answers, categories) {
  value <- function(metric, data, ...) {
    run <- getExportedValue("yardstick", paste0(metric, "_vec"))
    as.double(suppressWarnings(run(data$truth, data$answer, ...)))
  }
  coded <- as.data.frame(lapply(answers, factor, levels = categories))
  table_metrics <- c("accuracy", "kap", "mcc")
  rows <- list(data.frame(
    metric = table_metrics, average = NA, category = NA,
    value = vapply(table_metrics, value, 0, coded)
  ))
  for (metric in setdiff(peer_names, table_metrics)) {
    for (average in averages) {
      rows[[length(rows) + 1L]] <- data.frame(
        metric = metric, average = average, category = NA,
        value = value(metric, coded, estimator = average)
      )
    }
    for (category in categories) {
      binary <- as.data.frame(lapply(answers, function(x) factor(x == category, c(TRUE, FALSE))))
      rows[[length(rows) + 1L]] <- data.frame(
        metric = metric, average = NA, category = category, value = value(metric, binary)
      )
    }
  }
  do.call(rbind, rows)
}

# ---- Simulated panels ----------------------------------------------------------------------------

settings <- list(
  "Figure 4" = list(rater = 0.8, n = 200L), "Figure 3" = list(rater = 0.6, n = 200L),
  "Figure 1" = list(rater = 0.6, n = 5000L)
)
system_accuracy <- c(0.5, 0.7, 0.9)

on_panels <- function() {
  for (name in names(settings)) {
    setting <- settings[[name]]
    results <- lapply(seq_len(runs), function(run) {
      panel <- draw_panel(setting$rater, setting$n)
      estimates <- list(
        joint = quiet(estimate_metrics(
          panel$x, main_metrics, method = "joint", interval = "bootstrap",
          resampling = list(replicates = 200L)
        )),
        default = quiet(estimate_metrics(panel$x, main_metrics))
      )
      do.call(rbind, lapply(names(estimates), function(variant) {
        cbind(how = variant, run = run, as.data.frame(estimates[[variant]]), true = panel$true)
      }))
    })
    print_panels(name, do.call(rbind, results))
  }
}

draw_panel <- function(rater, n, ids = main_metrics, average = "macro") {
  rates <- stats::runif(5L)
  rates <- rates / sum(rates)
  names <- paste0("s", 10 * system_accuracy)
  x <- simulate_ratings(rater_design(
    rep(rater, 3L), stats::setNames(system_accuracy, names), 5L, n, base_rates = rates
  ))
  true <- lapply(system_accuracy, function(accuracy) {
    table <- matrix((1 - accuracy) / 4, 5L, 5L)
    diag(table) <- accuracy
    metrics_of(rates * table, x$categories, ids, average)
  })
  list(x = x, true = unlist(true))
}

# In the order of tidy(), with the macro average.
metrics_of <- function(table, categories, ids, average) {
  plan <- inside$metric_plan(
    inside$built_in_metrics[ids], categories, average, list(beta = 1)
  )
  inside$metric_values(plan, matrix(t(table) / sum(table), 1L))[1L, ]
}

# Errors within a run are dependent, so runs are the units of standard errors.
print_panels <- function(name, results) {
  results$scope <- ifelse(is.na(results$category), "macro", "category")
  results$off <- results$estimate - results$true
  results$hit <- results$conf.low <= results$true & results$true <= results$conf.high
  results$wide <- results$conf.high - results$conf.low
  keys <- c("how", "metric", "scope")
  by_run <- stats::aggregate(
    results[c("off", "hit", "wide")], results[c(keys, "run")], mean, na.rm = TRUE,
    na.action = stats::na.pass
  )
  mean_of <- stats::aggregate(by_run[c("off", "hit", "wide")], by_run[keys], mean, na.rm = TRUE)
  error <- stats::aggregate(by_run[c("off", "hit")], by_run[keys], function(x) {
    stats::sd(x, na.rm = TRUE) / sqrt(sum(!is.na(x)))
  })
  names(error)[4:5] <- c("bias.error", "coverage.error")
  names(mean_of)[4:6] <- c("bias", "coverage", "width")
  out <- merge(mean_of, error)
  out$z <- out$bias / out$bias.error
  rmse <- stats::aggregate(results["off"], results[keys], function(x) sqrt(mean(x^2, na.rm = TRUE)))
  out <- merge(out, stats::setNames(rmse, c(keys, "rmse")))
  cat("\n", name, ", ", max(results$run), " runs; ", sum(is.na(results$conf.low)), " of ",
    nrow(results), " without an interval\n",
    sep = ""
  )
  shown <- c(keys, "bias", "bias.error", "z", "rmse", "coverage", "coverage.error", "width")
  numbers <- setdiff(shown, keys)
  out[numbers] <- lapply(out[numbers], round, 4L)
  print(out[order(out$how, out$scope, out$metric), shown], row.names = FALSE)
}

# ---- Gold ---------------------------------------------------------------------------------------

with_gold_cases <- function() {
  ids <- c(main_metrics, "mcc")
  results <- lapply(seq_len(runs), function(run) {
    panel <- draw_panel(0.6, 1000L, ids)
    gold <- truth(panel$x)[sample.int(1000L, 100L), ]
    estimate <- quiet(estimate_accuracy(panel$x, known_truth = gold, gold_sample = "random"))
    do.call(rbind, lapply(c("corrected", "combined"), function(variant) {
      estimates <- as.data.frame(quiet(estimate_metrics(estimate, ids, interval = variant)))
      cbind(how = variant, run = run, estimates, true = panel$true)
    }))
  })
  results <- do.call(rbind, results)
  print_panels("Gold, 100 of 1000 cases, raters .6", results[!is.na(results$conf.low), ])
}

# ---- Real data ----------------------------------------------------------------------------------

# With FALLIBLE_INTERVALS=robust their coverage, too, which takes long where categories are many.
intervals <- Sys.getenv("FALLIBLE_INTERVALS", "none")

on_real <- function() {
  root <- Sys.getenv("FALLIBLE_DATA")
  if (!nzchar(root)) {
    message("Skipped: FALLIBLE_DATA is not set. It names the folder of the data for checking.")
    return(invisible())
  }
  index <- utils::read.csv(file.path(root, "real", "index.csv"))
  kind <- index$system_kind
  sets <- unique(index$set[grepl("classifier", kind) & !grepl("held-out", kind)])
  results <- do.call(rbind, lapply(file.path(root, "real", sets), run_set))
  numbers <- c("ours", "majority")
  by_set <- stats::aggregate(
    abs(results[numbers] - results$true), results[c("set", "metric")], mean, na.rm = TRUE
  )
  cat("\nMean absolute error by category, mean over sets with classifiers (", length(sets), ")\n",
    sep = ""
  )
  means <- stats::aggregate(by_set[numbers], by_set["metric"], mean)
  print(data.frame(metric = means$metric, round(means[numbers], 4L)), row.names = FALSE)
  better <- tapply(by_set$ours < by_set$majority, by_set$metric, sum)
  cat("Sets in which ours is better than the majority: ",
    paste(names(better), better, collapse = ", "), "\n",
    sep = ""
  )
  covered <- results$conf.low <= results$true & results$true <= results$conf.high
  if (!all(is.na(covered))) {
    by_set <- tapply(covered, results$set, mean, na.rm = TRUE)
    cat("Coverage of 90% intervals of ours: ", round(mean(by_set), 3L), " (mean of sets), lowest ",
      round(min(by_set), 3L), "\n",
      sep = ""
    )
  }
}

# A row per system, metric and category.
run_set <- function(folder) {
  message(format(Sys.time(), "%H:%M:%S "), basename(folder))
  ids <- c("recall", "precision", "f_meas")
  x <- quiet(read_ratings(folder))
  our_rows <- as.data.frame(quiet(estimate_metrics(x, ids, NULL, interval = intervals)))
  shares <- as.matrix(tidy(x, "counts")[-1L])
  votes <- 1 * (shares == apply(shares, 1L, max) & shares > 0)
  rownames(votes) <- rownames(x)
  majority <- quiet(estimate_metrics(
    as_rater_fit(x, votes / rowSums(votes)), ids, NULL, method = "shared", interval = "none"
  ))
  data.frame(
    set = basename(folder), our_rows[c("system", "metric", "category", "conf.low", "conf.high")],
    ours = our_rows$estimate, majority = tidy(majority)$estimate,
    true = true_metrics(folder, x, ids)
  )
}

true_metrics <- function(folder, x, ids) {
  known <- utils::read.csv(file.path(folder, "truth.csv"), colClasses = "character")
  answers <- as.data.frame(x, what = "systems")
  answers$truth <- known$truth[match(as.character(answers$case), known$case)]
  unlist(lapply(x$systems, function(system) {
    system_rows <- answers[answers$system == system, ]
    table <- table(factor(system_rows$truth, x$categories),
      factor(system_rows$prediction, x$categories))
    metrics_of(matrix(table, nrow(table)), x$categories, ids, NULL)
  }))
}

# ---- Time ---------------------------------------------------------------------------------------

take_time <- function() {
  x <- simulate_ratings(rater_design(
    c(0.6, 0.65, 0.7, 0.7, 0.75), c(a = 0.8, b = 0.7, c = 0.75, d = 0.6, e = 0.85), 4L, 1e5
  ))
  known <- measures("metric")
  ids <- setdiff(known$id[known$needs != "labels"], "loss")
  seconds <- seconds_of(function() quiet(estimate_metrics(x, ids, averages)), 3L, processor_clock)
  cat("\n", length(ids), " metrics of 5 systems, 1e5 cases, 5 raters, 4 categories, with their ",
    "intervals: ", format(stats::median(seconds), digits = 3L), " s of the processor (median of 3)\n",
    sep = ""
  )
}

# A child process has its task after its options.
start <- function(arguments) {
  if (identical(arguments[1L], "--child")) {
    run_peer(readRDS(arguments[[3L]]))
  } else {
    do.call(main, as.list(arguments))
  }
}

start(commandArgs(trailingOnly = TRUE))
