# Systems with probabilities, and twenty labelled cases: the benchmark of SSME (Shanmugam et al.,
# "Evaluating multiple models using labeled and unlabeled data", NeurIPS 2025).
#
#   SSME=/path/to/SSME Rscript bench/ssme.R [runs] [file]
#
# SSME is a folder with a copy of https://github.com/divyashan/SSME. Its inputs/ has predictions and
# labels of seven classifiers of CivilComments (two categories) and four of MultiNLI (three). Its
# outputs/ has single runs. As there, 20 labelled and 1000 unlabelled cases are drawn from one half
# of each data set, and the other half gives the true values. This script implements SSME again (its
# kernel densities, with its bandwidths and starts), so that both use the same draws. The published
# runs are printed, too.

library(fallible)

args <- commandArgs(TRUE)
runs <- if (length(args) > 0L) as.integer(args[[1L]]) else 50L
file <- if (length(args) > 1L) args[[2L]] else "ssme.csv"
root <- Sys.getenv("SSME")
labelled <- 20L
unlabelled <- 1000L
bins <- 10L

read_array <- function(file) {
  connection <- file(file, "rb")
  on.exit(close(connection))
  readBin(connection, "raw", 8L)
  header <- rawToChar(readBin(connection, "raw", readBin(connection, "integer", 1L, 2L, FALSE)))
  shape <- sub(".*'shape': \\(([^)]*)\\).*", "\\1", header)
  shape <- as.integer(strsplit(gsub(" |,$", "", shape), ",")[[1L]])
  values <- if (grepl("<f4", header)) {
    readBin(connection, "double", prod(shape), 4L)
  } else {
    readBin(connection, "integer", 2 * prod(shape), 4L)[c(TRUE, FALSE)] # of 8 bytes each
  }
  if (length(shape) == 2L) matrix(values, shape[[1L]], byrow = TRUE) else values
}

read_set <- function(set, systems) {
  folder <- file.path(root, "inputs", set, paste0("alg_", systems))
  list(
    truth = read_array(file.path(folder[[1L]], "labels.npy")) + 1L,
    scores = stats::setNames(
      lapply(file.path(folder, "preds.npy"), read_array), systems
    )
  )
}

# The labelled cases include at least one case of each category, as in SSME.
draw_cases <- function(truth) {
  training <- sample(length(truth), length(truth) %/% 2L)
  pool <- training[seq_len(labelled + unlabelled)]
  first <- vapply(unique(sort(truth)), function(k) {
    members <- which(truth[pool] == k)
    members[[sample.int(length(members), 1L)]]
  }, 0L)
  others <- sample(setdiff(seq_along(pool), first), labelled - length(first))
  list(pool = pool, gold = c(first, others), test = setdiff(seq_along(truth), training))
}

# ---- Metrics -------------------------------------------------------------------------------------

area <- function(score, hit) {
  (sum(rank(score)[hit]) - sum(hit) * (sum(hit) + 1) / 2) / (sum(hit) * sum(!hit))
}

# Metrics as computed by SSME, from known truths.
known_metrics <- function(scores, truth) {
  predicted <- max.col(scores, "first")
  p_predicted <- scores[cbind(seq_along(predicted), predicted)]
  bin <- pmax(ceiling(p_predicted * bins - 1e-9), 1)
  gap <- abs(rowsum((predicted == truth) - p_predicted, bin))
  c(
    accuracy = mean(predicted == truth), ece = sum(gap) / length(truth),
    roc_auc = if (ncol(scores) == 2L) area(scores[, 2L], truth == 2L) else NA_real_
  )
}

# ---- SSME ----------------------------------------------------------------------------------------

log_ratios <- function(scores) {
  kept <- if (ncol(scores) == 2L) 2L else seq_len(ncol(scores) - 1L)
  scores <- pmin(pmax(scores, 1e-7), 1 - 1e-7)
  log(scores[, kept, drop = FALSE] / scores[, if (ncol(scores) == 2L) 1L else ncol(scores)])
}

ssme <- function(scores, truth, gold, epochs = 20L, weight = 10, draws = 100L) {
  x <- do.call(cbind, lapply(scores, log_ratios))
  n <- nrow(x)
  k <- ncol(scores[[1L]])
  # A quarter of what R calls nrd, of the narrowest.
  width <- min(apply(x, 2L, function(column) {
    1.0592 * min(stats::sd(column), stats::IQR(column) / 1.349) * n^-0.2 / 4
  }))
  kernel <- as.matrix(stats::dist(x))^2 / (-2 * width^2)
  predicted <- max(kernel)
  kernel <- exp(kernel - predicted)
  pick <- function(p) {
    codes <- 1L + rowSums(stats::runif(n) > t(apply(p, 1L, cumsum))[, -k, drop = FALSE])
    replace(codes, gold, truth[gold])
  }
  codes <- pick(Reduce(`+`, scores) / length(scores))
  p <- NULL
  for (epoch in seq_len(epochs)) {
    w <- if (is.null(p)) outer(codes, seq_len(k), `==`) * 1 else p
    if (!is.null(p)) w[gold, ] <- weight * w[gold, ]
    density <- sweep(kernel %*% w, 2L, colSums(w), `/`)
    density <- sweep(density, 2L, tabulate(codes, k) / n, `*`)
    p <- density / rowSums(density)
    p[is.nan(p)] <- 1 / k
    codes <- pick(p)
  }
  lapply(scores, function(score) {
    rowMeans(replicate(draws, known_metrics(score, pick(p))))
  })
}

# ---- Ours ----------------------------------------------------------------------------------------

# The answers are named as raters, whose ratings the fit leaves out, since the scores say more.
panel_of <- function(scores) {
  names <- names(scores)
  labels <- as.character(seq_len(ncol(scores[[1L]])))
  answers <- as.data.frame(lapply(scores, function(score) labels[max.col(score, "first")]))
  wide <- stats::setNames(cbind(answers, answers), c(paste0("r_", names), names))
  columns <- lapply(stats::setNames(names, names), function(system) {
    stats::setNames(paste0("p_", system, "_", labels), labels)
  })
  for (system in names) {
    score <- scores[[system]]
    wide[columns[[system]]] <- as.data.frame(score / rowSums(score))
  }
  ratings(
    wide, raters = tidyselect::all_of(paste0("r_", names)), systems = tidyselect::all_of(names),
    categories = labels, scores = columns
  )
}

metrics_of <- function(fit, ...) {
  estimates <- suppressWarnings(tidy(estimate_metrics(
    fit, c("accuracy", "ece_plugin", "roc_auc"), average = NULL, bins = bins, ...
  )))
  estimates <- estimates[is.na(estimates$category), ]
  estimates$metric <- sub("_plugin", "", estimates$metric)
  estimates
}

our_metrics <- function(scores, truth, gold) {
  x <- panel_of(scores)
  known <- stats::setNames(as.character(truth[gold]), gold)
  none <- character()
  joint <- fit_scores(x, raters = none)
  measured <- suppressWarnings(estimate_accuracy(
    joint, known_truth = known, gold_sample = "random", resampling = list(replicates = 50)
  ))
  word <- suppressWarnings(estimate_accuracy(
    fit_scores(x, trust = names(scores)), known_truth = known, gold_sample = "random",
    resampling = list(replicates = 50)
  ))
  list(
    "at their word" = metrics_of(fit_scores(x, known, trust = names(scores)), interval = "none"),
    joint = metrics_of(fit_scores(x, known, raters = none), interval = "none"),
    "joint, corrected" = metrics_of(measured, interval = "corrected"),
    "joint, combined" = metrics_of(measured, interval = "combined"),
    "word, corrected" = metrics_of(word, interval = "corrected"),
    "word, combined" = metrics_of(word, interval = "combined")
  )
}

# ---- Runs ----------------------------------------------------------------------------------------

rows_of <- function(variant, metrics) {
  data.frame(
    how = variant, system = rep(names(metrics), each = 3L), metric = names(metrics[[1L]]),
    estimate = unlist(metrics, use.names = FALSE), conf.low = NA_real_, conf.high = NA_real_
  )
}

one_run <- function(data, run) {
  set.seed(run)
  drawn <- draw_cases(data$truth)
  scores <- lapply(data$scores, function(score) score[drawn$pool, ])
  truth <- data$truth[drawn$pool]
  true <- rows_of("true", lapply(data$scores, function(score) {
    known_metrics(score[drawn$test, ], data$truth[drawn$test])
  }))
  labels_only <- lapply(scores,
    function(score) known_metrics(score[drawn$gold, ], truth[drawn$gold]))
  columns <- c("how", "system", "metric", "estimate", "conf.low", "conf.high")
  estimates <- our_metrics(scores, truth, drawn$gold)
  rows <- rbind(
    rows_of("SSME", ssme(scores, truth, drawn$gold)), rows_of("labels alone", labels_only),
    do.call(rbind, Map(function(variant, score) data.frame(how = variant, score)[columns],
      names(estimates), estimates))
  )
  cbind(run = run, merge(rows, true[c("system", "metric", "estimate")],
    by = c("system", "metric"), suffixes = c("", ".true")))
}

summarise <- function(set, rows) {
  rows <- rows[!is.na(rows$estimate.true), ]
  rows$off <- abs(rows$estimate - rows$estimate.true)
  rows$hit <- rows$conf.low <= rows$estimate.true & rows$estimate.true <= rows$conf.high
  rows$width <- rows$conf.high - rows$conf.low
  by_run <- stats::aggregate(
    rows[c("off", "hit", "width")], rows[c("how", "metric", "run")], mean, na.rm = TRUE,
    na.action = stats::na.pass
  )
  keys <- by_run[c("metric", "how")]
  out <- stats::aggregate(
    by_run[c("off", "hit", "width")], keys, mean, na.rm = TRUE, na.action = stats::na.pass
  )
  error <- stats::aggregate(by_run["off"], keys, function(x) {
    stats::sd(x, na.rm = TRUE) / sqrt(sum(!is.na(x)))
  })
  out$error <- error$off
  out$lacking <- stats::aggregate(is.na(rows$off), rows[c("metric", "how")], mean)$x
  out <- data.frame(set = set, out)
  names(out) <- c("set", "metric", "how", "mae", "coverage", "width", "mae.error", "lacking")
  out[order(out$metric, out$mae), ]
}

main <- function() {
  if (!nzchar(root)) {
    message("Skipped: SSME is not set. It names a folder with a copy of the repository.")
    return(invisible())
  }
  options(cli.progress_show_after = 3600, width = 150L)
  sets <- list(
    CivilComments = c(
      "CORAL", "ERM", "IRM", "ERM_seed1", "ERM_seed2", "IRM_seed1", "IRM_seed2"
    ),
    MultiNLI = c("ReWeight", "SqrtReWeight", "IRM", "ReSample")
  )
  published(file.path(root, "outputs"))
  out <- lapply(names(sets), function(set) {
    data <- read_set(set, sets[[set]])
    rows <- do.call(rbind, lapply(seq_len(runs), function(run) one_run(data, run)))
    out <- summarise(set, rows)
    print(out, digits = 2L, row.names = FALSE)
    out
  })
  utils::write.csv(do.call(rbind, out), file, row.names = FALSE)
}

# Mean absolute errors of the single runs that SSME ships (ece of two categories there by bins of
# equal numbers of cases).
published <- function(folder) {
  for (path in list.files(folder, full.names = TRUE)) {
    table <- utils::read.csv(path)
    table <- table[table$demographic == "global", ]
    common_metrics <- intersect(c("acc", "auc", "ece"), names(table))
    common_metrics <- common_metrics[paste0(common_metrics, "_gt") %in% names(table)]
    if (length(common_metrics) == 0L) next
    deviation <- vapply(common_metrics,
      function(m) mean(abs(table[[m]] - table[[paste0(m, "_gt")]])), 0)
    cat(sub("__.*__labeled__0__", " ", basename(path)), ": ",
      paste(common_metrics, format(round(deviation, 4L)), collapse = ", "), "\n", sep = "")
  }
}

main()
