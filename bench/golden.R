# Records about 800 results of the package ("golden digits"), to compare two versions of its code.
#
#   Rscript bench/golden.R record FILE.rds
#   Rscript bench/golden.R compare FILE.rds [tolerance = 1e-12]
#
# `record` writes the results of the installed package: a list with a vector of numbers for each
# label, named by column, or the class of the error. `compare` computes them again and prints each
# label whose numbers moved, with the largest difference (relative to numbers above 1). It exits
# with status 1 if a number moved. R_LIBS determines which installed package is used.
#
# New columns, the order of columns, and the table of a result that contains a column are not
# compared. A column with the same value in every row may become a single number, as when a table
# with a row per system becomes a table with one row. Warnings are not recorded. Data are
# drawn with base R, so that they do not depend on the simulator; every result starts from the same
# seed. Each function of the package is called in one place, in the section on names below.
# bench/golden contains the computations and the comparison.

library(fallible)

seed <- 20150513L
replicates <- 10L # of bootstraps
panels <- 19L # of the tests of K-properties

main <- function(task = "", file = "", tolerance = 1e-12) {
  if (!task %in% c("record", "compare") || !nzchar(file)) {
    stop("usage: Rscript bench/golden.R record|compare FILE.rds [tolerance]", call. = FALSE)
  }
  start <- proc.time()
  now <- digits_of_all(all_results())
  seconds <- sum((proc.time() - start)[c("user.self", "sys.self")])
  version <- format(utils::packageVersion("fallible"))
  cat(
    "fallible ", version, ": ", length(now), " results, ", sum(vapply(now, is.character, NA)),
    " of them errors, ", format(round(seconds, 1)), " s\n",
    sep = ""
  )
  if (task == "record") {
    saveRDS(structure(now, version = version), file)
  } else if (!report(readRDS(file), now, as.numeric(tolerance))) {
    quit(status = 1L)
  }
}

# ---- Names of the package: each in one place ----------------------------------------------------

methods <- c("average", "binned", "unbinned", "joint", "shared")
intervals <- c("none", "robust", "bootstrap")

as_input <- function(...) ratings(...)
system_names <- function(x) x$systems
ratings_table <- function(x) as.data.frame(x)
systems_table <- function(x) as.data.frame(x, what = "systems")
estimate <- function(x, method = NULL, interval = "none", ..., cluster = NULL) {
  drawn <- list(replicates = replicates, cluster = cluster)
  estimate_accuracy(x, method = method, interval = interval, resampling = drawn, ...)
}
bins_of <- function(x) tidy(x, "bins")
tidy_of <- function(x, ...) {
  out <- tidy(x, ...)
  if (inherits(x, c("accuracy_estimate", "accuracy_by_group"))) {
    details <- tidy(x, "details")
    out <- cbind(out, details[setdiff(names(details), names(out))])
  }
  old <- if (inherits(x, "confusion_estimate") || "excess" %in% names(out)) {
    c(n = "cases")
  }
  old <- c(old, independence_weight = "simple_weight")
  old <- old[names(old) %in% names(out)]
  at <- match(names(old), names(out))
  names(out)[at] <- old
  out
}
glance_of <- function(x) {
  if (inherits(x, "accuracy_by_group")) {
    g <- tidy(x, "groups")
    return(g[rep(seq_len(nrow(g)), g$systems), ])
  }
  out <- glance(x)
  if (inherits(x, "system_comparison")) names(out)[names(out) == "cases"] <- "n"
  out
}
augmented <- function(...) augment(...)
model_of <- function(...) rater_model(...)
simple_model <- function() k_model()
hierarchical_free <- function(...) dawid_skene(...)
fit_of <- function(x, ...) fit_raters(x, ...)
rates_of <- function(x) unlist(base_rates(x))
confusion_of <- function(x, ...) {
  out <- confusion(x, ...)
  if (inherits(x, "rater_fit") && length(unique(out)) == 1L) out[[1L]] else out
}
posterior_of <- function(x, ...) ground_truth(x, ...)
calibration_of <- function(...) calibration(...)
compared <- function(x, ...) compare_systems(x, ...)
agreement_of <- function(...) agreement(...)
all_measures <- function() measures()$id
new_measure <- function(...) register_measure(...)
benchmarked <- function(x, scale = "landis-koch") tidy(x, "benchmark", scale = scale)
tested <- function(...) compare_agreement(...)
compared_agreement <- function(...) compare_agreement(...)
alpha <- function(...) krippendorff_alpha(...)
information <- function(...) information_agreement(...)
counts_of <- function(x) as.matrix(tidy(x, "counts")[-1L])
crossed <- function(...) agreement_matrix(...)
patterns_of <- function(x) tidy(x, "patterns")
crowd <- function(...) crowdtruth(...)
kept_units <- function(...) filter_crowd(..., "units")
kept_workers <- function(...) filter_crowd(..., "workers")
flagged <- function(...) flag_workers(...)
merged <- function(...) merge_annotations(...)
kinds_of <- function(...) tidy(..., "kinds")
scores_of <- function(x) as.matrix(x)
soft <- function(x) tidy(x, "labels")
drawn_crowd <- function(...) simulate_crowd(...)
yes_no_ratings <- function(...) single_label(...)
checked <- function(x, ...) check_k_properties(x, resampling = list(replicates = panels), ...)
planned <- function(..., max_cases = 20000L, cases = c(2L, max_cases), cost_case = 0) {
  arguments <- list(...)
  set <- arguments[intersect(names(arguments),
    c("categories", "difficulty", "dispersion", "missing"))]
  arguments[names(set)] <- NULL
  if (length(set) > 0L) arguments$design <- do.call(rater_design, c(list(c(1, 1, 1)), set))
  do.call(plan_cases, c(arguments, list(cases = cases, cost = c(case = cost_case))))
}
design_of <- function(...) rater_design(...)
paper_design <- function(...) lehner_design(...)
drawn <- function(...) simulate_ratings(...)
truth_of <- function(x) truth(x)
accuracy_of <- function(x) true_accuracy(x)
matrix_of <- function(...) confusion_matrix(...)
limit_of <- function(...) exact_limit(...)
study_of <- function(...) simulation_study(...)
replayed <- function(...) replay(...)
estimator <- function(method, interval = "none", ...) {
  accuracy_estimator(method, interval = interval, ..., resampling = list(replicates = replicates))
}

# ---- Results -------------------------------------------------------------------------------------

# Functions without arguments, by label.
all_results <- function() {
  c(
    accuracy_results(), option_results(), known_results(), group_results(), fit_results(),
    truth_results(), comparison_results(), confusion_results(), agreement_results(),
    test_results(), crowd_results(), filter_results(), check_results(), plan_results(),
    study_results(), limit_results(), simulated_results(), data_results(), gold_results(),
    metric_results(), score_results(), family_results(), bound_results(), gold_plan_results()
  )
}

# A label and a function for each row of the combined settings.
combine <- function(prefix, ..., run) {
  rows <- expand.grid(..., stringsAsFactors = FALSE)
  labels <- do.call(paste, c(list(prefix), rows, sep = " | "))
  results <- lapply(seq_len(nrow(rows)), function(i) {
    settings <- as.list(rows[i, , drop = FALSE])
    function() do.call(run, unname(settings))
  })
  stats::setNames(results, labels)
}

# Functions with explicit code. A prefix is added to their labels.
label <- function(prefix, ...) {
  results <- list(...)
  stats::setNames(results, paste(prefix, names(results), sep = " | "))
}

# ---- Parts --------------------------------------------------------------------------------------

folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
for (part in c("compare", "digits", "data", "accuracy", "agreement", "simulation", "quantities")) {
  source(file.path(folder, "golden", paste0(part, ".R")))
}

do.call(main, as.list(commandArgs(trailingOnly = TRUE)))
