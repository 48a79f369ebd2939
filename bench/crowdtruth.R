# CrowdTruth metrics: speed, memory, detection of simulated spammers, and the four arms of the
# paper.
#
#   Rscript bench/crowdtruth.R [folder]
#
# Prints everything; with a folder, also writes crowdtruth-spammers.csv and, where FALLIBLE_DATA
# names the folder of real data, crowdtruth-arms.csv there. The package keeps both in
# inst/extdata/results, from where its vignette reads them:
#
#   Rscript bench/crowdtruth.R inst/extdata/results
#
# The environment variable CROWDTRUTH_CORE, the path of models/metrics.py of the reference
# implementation (Python, CrowdTruth-core), adds a comparison with it; that needs python3 with
# pandas.

library(fallible)

seed <- 2014L
replicates <- 200L

main <- function(folder = NULL) {
  options(width = 120L, cli.progress_show_after = 1e9)
  cat("fallible ", format(utils::packageVersion("fallible")), ", R ", format(getRversion()), ", ",
    format(Sys.Date()), ", one thread\n", sep = "")
  set.seed(seed)
  show_table("Speed and memory", speed_table())
  show_table("Reference implementation", peer_table())
  spammers <- spammer_table()
  show_table("Planted spammers (precision and recall with Monte Carlo standard error)", spammers)
  arms <- arm_table()
  show_table("The paper's judgements, leaving out one worker at a time", arms)
  if (!is.null(folder)) {
    write_table(spammers, file.path(folder, "crowdtruth-spammers.csv"))
    if (!is.null(arms)) write_table(arms, file.path(folder, "crowdtruth-arms.csv"))
  }
}

show_table <- function(title, table) {
  if (is.null(table)) {
    return(invisible())
  }
  cat("\n", title, "\n", sep = "")
  numbers <- vapply(table, is.double, NA)
  table[numbers] <- lapply(table[numbers], signif, digits = 4L)
  print(as.data.frame(table), row.names = FALSE)
}

write_table <- function(table, file) {
  provenance <- list(
    seed = seed, date = format(Sys.Date()), fallible = format(utils::packageVersion("fallible")),
    r = format(getRversion())
  )
  numbers <- vapply(table, is.double, NA)
  table[numbers] <- lapply(table[numbers], signif, digits = 6L)
  utils::write.csv(cbind(as.data.frame(table), provenance), file, row.names = FALSE)
}

# ---- Speed and memory ---------------------------------------------------------------------------

# The size of a published crowd (3400 units, 468 workers, 14 labels, 51 000 judgements), and more.
speed_table <- function() {
  sizes <- list(c(3400, 468, 1), c(17000, 1300, 1), c(66667, 5000, 30))
  rows <- lapply(sizes, function(size) {
    x <- simulate_crowd(
      size[[1L]], size[[2L]], per_unit = 15L, labels = 14L,
      spammers = c(random = size[[2L]] %/% 10L)
    )
    do.call(rbind, lapply(c("2014", "2.0"), function(version) {
      data.frame(
        judgements = size[[1L]] * 15, version = version,
        seconds = stats::median(replicate(3L, elapsed(crowdtruth(x, version)))),
        goal = if (size[[1L]] == 17000) NA else size[[3L]],
        peak_MB = peak_memory(x, version)
      )
    }))
  })
  do.call(rbind, rows)
}

elapsed <- function(expr) {
  start <- Sys.time()
  force(expr)
  as.numeric(Sys.time() - start, units = "secs")
}

# Largest increase of the resident memory of a new process, in megabytes. Linux only.
peak_memory <- function(x, version) {
  process_file <- function(name) file.path("", "proc", "self", name)
  if (!file.exists(process_file("status"))) {
    return(NA_real_)
  }
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(x, file)
  code <- paste0(
    "x <- readRDS('", file, "'); suppressMessages(library(fallible)); ",
    "invisible(crowdtruth(ratings(rbind(1:2, 2:1)))); invisible(gc()); ",
    "status <- function(field) as.numeric(gsub('[^0-9]', '', ",
    "grep(field, readLines('", process_file("status"), "'), value = TRUE))); ",
    "try(cat('5', file = '", process_file("clear_refs"), "'), silent = TRUE); ",
    "before <- status('VmRSS'); y <- crowdtruth(x, '", version, "'); ",
    "cat(status('VmHWM') - before)"
  )
  as.numeric(system2(
    file.path(R.home("bin"), "Rscript"), c("-e", shQuote(code)), stdout = TRUE, stderr = FALSE
  )) / 1024
}

# ---- Reference implementation -------------------------------------------------------------------

peer_code <- "
import sys, time, types, collections, importlib.util
import pandas as pd
spec = importlib.util.spec_from_file_location('metrics', sys.argv[1])
metrics = importlib.util.module_from_spec(spec)
spec.loader.exec_module(metrics)
rows = pd.read_csv(sys.argv[2], dtype=str)
labels = sorted(rows.label.unique())
zeros = {a: 0 for a in labels}
answers, votes = {}, {}
for u, w, a in zip(rows.unit, rows.worker, rows.label):
    answers.setdefault((u, w), collections.Counter(zeros))[a] = 1
    votes.setdefault(u, collections.Counter(zeros))[a] += 1
judged = pd.DataFrame([{'unit': u, 'worker': w, 'out': c} for (u, w), c in answers.items()])
results = {'judgments': judged, 'units': pd.DataFrame({'out': pd.Series(votes)}),
           'workers': pd.DataFrame(index=judged.worker.unique()),
           'annotations': pd.DataFrame(index=labels)}
start = time.time()
metrics.Metrics.run(results, types.SimpleNamespace(output={'x': 'out'}, open_ended_task=False))
print(time.time() - start)
results['units'][['uqs']].to_csv(sys.argv[3])
"

peer_table <- function() {
  core <- Sys.getenv("CROWDTRUTH_CORE")
  if (core == "") {
    message("CROWDTRUTH_CORE is not set: no comparison with the reference implementation.")
    return(NULL)
  }
  script <- tempfile(fileext = ".py")
  writeLines(peer_code, script)
  do.call(rbind, lapply(c(90L, 340L), function(units) {
    x <- simulate_crowd(units, 143L, 15L, 14L, c(random = 14))
    input <- tempfile(fileext = ".csv")
    output <- tempfile(fileext = ".csv")
    utils::write.csv(stats::setNames(as.data.frame(x), c("unit", "worker", "label")), input,
      row.names = FALSE)
    peer <- as.numeric(system2("python3", c(script, core, input, output), stdout = TRUE))
    our_seconds <- stats::median(replicate(5L, elapsed(crowdtruth(x, version = "2.0"))))
    scores <- crowdtruth(x, version = "2.0")
    peer_scores <- utils::read.csv(output)
    at <- match(peer_scores[[1L]], scores$units$unit)
    data.frame(
      judgements = units * 15L, fallible_s = our_seconds, reference_s = peer,
      ratio = peer / our_seconds,
      largest_difference_of_uqs = max(abs(scores$units$uqs[at] - peer_scores$uqs))
    )
  }))
}

# ---- Planted spammers ---------------------------------------------------------------------------

# 40 workers, 80 units, 10 judgements each, 8 labels. The standard-deviation rule sees all workers;
# the linear rule is fitted to a random half, and judged by the other half.
spammer_table <- function() {
  kinds <- list(
    random = "random", constant = "constant", copy = "copy",
    mixed = c("random", "constant", "copy")
  )
  settings <- expand.grid(
    kind = names(kinds), share = c(0.05, 0.1, 0.2, 0.3), stringsAsFactors = FALSE
  )
  rows <- lapply(seq_len(nrow(settings)), function(i) {
    message("Planted spammers: ", settings$kind[[i]], ", ", settings$share[[i]])
    planted <- 40 * settings$share[[i]]
    kind <- kinds[[settings$kind[[i]]]]
    crowds <- lapply(seq_len(replicates), function(run) {
      spammers <- table(factor(rep_len(sample(kind), planted), kind))
      one_crowd(simulate_crowd(80L, 40L, 10L, 8L, c(spammers)))
    })
    cbind(settings[i, ], summarise_crowds(do.call(rbind, crowds)), row.names = NULL)
  })
  do.call(rbind, rows)
}

# Flagged, of low quality, and both, by version and rule.
one_crowd <- function(x) {
  workers <- tidy(x, "workers")
  low <- stats::setNames(workers$kind != "faithful", workers$worker)
  is_training <- names(low) %in% c(draw_half(names(low)[low]), draw_half(names(low)[!low]))
  do.call(rbind, lapply(c("2014", "2.0"), function(version) {
    measured <- crowdtruth(x, version)
    by_sd <- flag_workers(measured)$workers$flagged
    fitted <- if (sum(low & is_training) >= 2L) {
      flag_workers(measured, known = low[is_training], folds = 2L)$workers$flagged
    }
    count <- function(rule, flagged, counted) {
      data.frame(
        version = version, rule = rule, flagged = sum(flagged[counted], na.rm = TRUE),
        low = sum(low[counted]), both = sum(flagged[counted] & low[counted], na.rm = TRUE)
      )
    }
    rbind(
      count("sd", by_sd, rep(TRUE, length(low))),
      if (!is.null(fitted)) count("fitted", fitted, !is_training)
    )
  }))
}

draw_half <- function(names) sample(names, length(names) %/% 2L)

# Ratios of sums over crowds, with standard errors. If a ratio is 0 or 1 in all crowds, its standard
# error is computed as if half a crowd more had the opposite result.
summarise_crowds <- function(counts) {
  groups <- split(counts, counts[c("rule", "version")], drop = TRUE)
  do.call(rbind, lapply(groups, function(g) {
    n <- nrow(g)
    ratio <- function(above, below) {
      value <- sum(above) / sum(below)
      near <- (0.5 + n * value) / (n + 1)
      error <- if (value %in% 0:1) {
        sqrt(near * (1 - near) / n)
      } else {
        sqrt(sum((above - value * below)^2) * n / (n - 1)) / sum(below)
      }
      c(value, error)
    }
    precision <- ratio(g$both, g$flagged)
    recall <- ratio(g$both, g$low)
    data.frame(
      version = g$version[[1L]], rule = g$rule[[1L]], crowds = n,
      precision = precision[[1L]], precision_mcse = precision[[2L]],
      recall = recall[[1L]], recall_mcse = recall[[2L]]
    )
  }))
}

# ---- The paper's judgements ---------------------------------------------------------------------

arm_table <- function() {
  folder <- file.path(Sys.getenv("FALLIBLE_DATA"), "crowdtruth")
  if (Sys.getenv("FALLIBLE_DATA") == "" || !dir.exists(folder)) {
    message("FALLIBLE_DATA is not set: no arms on the paper's judgements.")
    return(NULL)
  }
  x <- paper_judgements(folder)
  labels <- utils::read.csv(file.path(folder, "ct2014_worker_labels.csv"), colClasses = "character")
  low <- stats::setNames(labels$label_spamFiltering_R != "no_spam", labels$worker_id)
  list13 <- stats::setNames(labels$spammer_list_workerMetrics_R == "1", labels$worker_id)
  # The paper seems to count all workers as good who are not known to be bad.
  everybody <- stats::setNames(x$raters %in% names(low)[low], x$raters)
  readings <- list(
    list("46 labelled, spammer or lqw", low, 1L),
    list("46 labelled, list of 13", list13, 1L),
    list("labelled with 3 units or more", low, 3L),
    list("all with 3 units or more, others good", everybody, 3L)
  )
  rows <- lapply(readings, function(reading) {
    do.call(rbind, lapply(c("2014", "2.0"), function(version) {
      one_experiment(x, version, reading[[1L]], reading[[2L]], reading[[3L]])
    }))
  })
  do.call(rbind, rows)
}

one_experiment <- function(x, version, reading, known, min_units) {
  into <- c(sAW = "sOTH", sP = "sT", sS = "sCA", sM = "sCA")
  none <- filter_crowd(crowdtruth(x, version), "workers", min_units = min_units)
  units <- filter_crowd(none, "units")
  arms <- list(
    none = none, units = units, annotations = merge_annotations(none, into),
    both = merge_annotations(units, into)
  )
  known <- known[names(known) %in% none$workers$worker]
  flags <- lapply(arms, flag_workers, known = known, folds = 1000L)
  summaries <- do.call(rbind, lapply(flags, glance))
  metrics <- setdiff(flags$none$metrics, "annotations_per_unit")
  p <- sapply(metrics[1:2], function(metric) {
    c(NA, vapply(flags[-1L], function(f) paired_p(f$workers, flags$none$workers, metric), 0))
  })
  data.frame(
    version = version, reading = reading, arm = names(arms),
    summaries[c("known", "low", "accuracy", "precision", "recall", "auc", "separation")],
    gap = vapply(flags, gap_of, 0), p_first = p[, 1L], p_second = p[, 2L]
  )
}

# Lowest score of a worker known to be of low quality, minus the highest score of other workers, in
# standard deviations. If it is positive, a threshold separates both groups.
gap_of <- function(flags) {
  workers <- flags$workers[!is.na(flags$workers$known), ]
  range_of_scores <- c(min(workers$score[workers$known], na.rm = TRUE),
    max(workers$score[!workers$known], na.rm = TRUE))
  (range_of_scores[[1L]] - range_of_scores[[2L]]) / stats::sd(workers$score, na.rm = TRUE)
}

# Wilcoxon's signed-rank test of whether a metric came closer to the truth about known workers.
paired_p <- function(after, before, metric) {
  gain <- (after[[metric]] - before[[metric]]) * ifelse(after$known, 1, -1)
  gain <- gain[!is.na(gain) & abs(gain) > 1e-12]
  if (length(gain) == 0L) NA_real_ else stats::wilcox.test(gain, exact = FALSE)$p.value
}

paper_judgements <- function(folder) {
  relations <- c(
    TREATS = "sT", PREVENTS = "sP", DIAGNOSED_BY_TEST_OR_DRUG = "sD", CAUSES = "sCA",
    LOCATION = "sL", SYMPTOM = "sS", MANIFESTATION = "sM", CONTRAINDICATES = "sCI",
    ASSOCIATED_WITH = "sAW", SIDE_EFFECT = "sSE", IS_A = "sIA", PART_OF = "sPO", NONE = "sNONE",
    OTHER = "sOTH"
  )
  raw <- utils::read.csv(
    file.path(folder, "ct2014_90sents_judgements.csv"), colClasses = "character"
  )
  raw$labels <- lapply(strsplit(raw$relation, "[][\n]+"), function(labels) {
    unname(relations[labels[labels != ""]])
  })
  ratings(
    raw, case = "unit_id", rater = "worker_id", rating = "labels", categories = relations,
    repeats = "labels"
  )
}

arguments <- commandArgs(trailingOnly = TRUE)
main(if (length(arguments) > 0L) arguments[[1L]])
