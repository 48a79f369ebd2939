# Public data with known truth: errors of estimates and coverage of intervals.
#
#   FALLIBLE_DATA=/path Rscript bench/real.R [output.csv] [set ...]
#
# Runs every set in $FALLIBLE_DATA/real that has predictions of systems. Each system is estimated
# by:
# * method "average" with its robust interval, with the default allowance for shared errors and
#   without;
# * "binned" and "unbinned" with a case bootstrap;
# * "joint" (raters of different accuracy);
# * the mean posterior computed from the raters only ("shared", as the average reports it);
# * its agreement with the majority of the raters (tied categories share the credit).
# Categories have an order if the index has one and labels sort in the order of the scale.
#
# Intervals of the default are also made without the family that is judged (see
# bench/families.R): with the constant of the raters' error that is the least with which 90% of the
# other families' accuracies are covered ("constant left out"; the package has .25, and .5 of the
# gap).
#
# In two sets truth is known for few cases, and these are not like the others. Raters are fitted to
# all cases, but a system is estimated on those on which its true accuracy is judged. In set
# snow_rte some systems are raters held out; they count as a set of grade B of their own.
#
# Prints a table of the systems and a summary, and writes the summary: no numbers of single sets
# leave the folder. Standard errors are over families. If sets are named, only these are run.

library(fallible)
source(file.path("bench", "families.R"))

seed <- 20150501
conf_level <- 0.9
replicates <- 200L
unsorted <- "medicheck_query" # ordinal, but not in the order of the alphabet

main <- function(output = NULL, ...) {
  root <- Sys.getenv("FALLIBLE_DATA")
  if (!nzchar(root)) {
    message("Skipped: FALLIBLE_DATA is not set. It names the folder of the data for checking.")
    return(invisible())
  }
  options(width = 150L, cli.progress_show_after = 3600)
  index <- read_strings(file.path(root, "real", "index.csv"))
  index <- index[!is.na(index$system), ]
  if (...length() > 0L) index <- index[index$set %in% c(...), ]
  runs <- lapply(unique(index$set), function(set) {
    ordinal <- index$ordinal[match(set, index$set)] == "True" && !set %in% unsorted
    run_set(file.path(root, "real", set), set, ordinal)
  })
  results <- add_truth(do.call(rbind, lapply(runs, `[[`, "results")), index)
  # Methods keep their order.
  results <- results[order(match(results$set, index$set), results$system), ]
  summary <- summarise_groups(rbind(results, left_out(results)))

  cat("Seed ", seed, ", ", replicates, " replicates, ", round(100 * conf_level), "% intervals; ",
    "fallible ", format(utils::packageVersion("fallible")), ", R ", format(getRversion()), ", ",
    format(Sys.Date()), "\n",
    sep = ""
  )
  print_systems(results)
  print_summary(summary)
  print_conditions(runs)
  if (!is.null(output)) write_table(summary, output)
  if (any(lengths(lapply(runs, `[[`, "failure")) > 0L)) quit(status = 1L)
}

# ---- One set ------------------------------------------------------------------------------------

# A list: results (a row per system and method), warnings (their classes) and, where the package
# stopped, the failure.
run_set <- function(folder, set, ordered) {
  message(format(Sys.time(), "%H:%M:%S "), set)
  log <- new.env()
  package <- tryCatch(
    withCallingHandlers(estimate_set(folder, ordered), warning = function(w) {
      log$warnings <- c(log$warnings, class(w)[[1L]])
      invokeRestart("muffleWarning")
    }),
    error = function(e) {
      log$failure <- paste0(class(e)[[1L]], ": ", conditionMessage(e))
      NULL
    }
  )
  results <- rbind(package, vote_set(folder))
  truth <- true_accuracy(folder)
  results <- cbind(set = set, results, truth[match(results$system, truth$system), -1L])
  list(set = set, results = results, warnings = log$warnings, failure = log$failure)
}

# Results of the package. Columns after `reason` are parts of the robust interval, and the warning
# of a system.
estimate_set <- function(folder, ordered) {
  x <- read_judged(folder, ordered)
  average <- estimate_accuracy(x, conf_level = conf_level)
  typical <- table_of(average)
  none <- shared <- typical
  none$method <- "average, none in common"
  none$estimate <- none$independent
  margin <- stats::qnorm((1 + conf_level) / 2) * none$sampling
  none$conf.low <- pmax(0, none$estimate - margin)
  none$conf.high <- pmin(1, none$estimate + margin)
  shared$method <- "shared"
  shared$estimate <- shared$shared
  shared[c("conf.low", "conf.high")] <- NA_real_
  other_methods <- lapply(c("binned", "unbinned"), function(method) {
    set.seed(seed)
    table_of(estimate_accuracy(
      x, method,
      interval = "bootstrap", conf_level = conf_level, resampling = list(replicates = replicates)
    ))
  })
  joint <- table_of(estimate_accuracy(x, "joint", rater_model("rater"), interval = "none"))
  do.call(rbind, c(list(typical, none, shared, joint), other_methods))
}

columns <- c("system", "method", "n", "estimate", "conf.low", "conf.high", "reason")
parts <- c(
  "shared", "independent", "sampling", "rater_error", "dependence_weight", "base_rate_range",
  "few_data", "assumption"
)

table_of <- function(estimate) {
  out <- merge(as.data.frame(estimate), as.data.frame(estimate, what = "details"), sort = FALSE)
  width <- 2 * stats::qnorm((1 + conf_level) / 2) * out$sampling
  out$few_data <- width > 0.2
  out$assumption <- out$std.error > 0.08
  out[c(columns, parts)]
}

# All ratings, with the predictions that can be judged.
read_judged <- function(folder, ordered) {
  systems <- read_strings(find_file(folder, "systems"))
  judged <- judged_predictions(folder)
  if (nrow(judged) == nrow(systems)) {
    return(read_ratings(folder, ordered = ordered, rater_kind = kind_of(basename(folder))))
  }
  file <- tempfile(fileext = ".csv")
  on.exit(unlink(file))
  utils::write.csv(judged[names(systems)], file, row.names = FALSE)
  read_ratings(
    folder, systems = file, ordered = ordered, rater_kind = kind_of(basename(folder))
  )
}

# Agreement of a system with the majority of the raters, in plain R.
vote_set <- function(folder) {
  ratings <- read_strings(find_file(folder, "ratings"))
  systems <- judged_predictions(folder)
  credit <- majority_credit(ratings)
  tables <- lapply(split(systems, systems$system), function(system) {
    cell <- cbind(
      match(system$case, rownames(credit)), match(system$prediction, colnames(credit))
    )
    agreement <- credit[cell]
    agreement[is.na(cell[, 2L])] <- 0 # the answer is a category that no rater gave
    agreement <- agreement[!is.na(cell[, 1L])]
    set.seed(seed)
    limits <- bootstrap_mean(agreement)
    out <- data.frame(
      system = system$system[[1L]], method = "majority", n = length(agreement),
      estimate = mean(agreement), conf.low = limits[[1L]], conf.high = limits[[2L]],
      reason = NA_character_
    )
    out[parts] <- NA
    out
  })
  do.call(rbind, tables)
}

# Cases x categories: 1 for the majority's category, shares of it where categories are tied.
majority_credit <- function(ratings) {
  ratings <- ratings[!is.na(ratings$rating), ]
  counts <- unclass(table(ratings$case, ratings$rating))
  most_votes <- do.call(pmax, lapply(seq_len(ncol(counts)), function(k) counts[, k]))
  is_top <- counts == most_votes
  is_top / rowSums(is_top)
}

# Percentile bootstrap of a mean over cases; values are few, so counts of them are resampled. Like
# the package's, an interval without width is no interval.
bootstrap_mean <- function(x) {
  values <- unique(x)
  draws <- stats::rmultinom(replicates, length(x), tabulate(match(x, values)))
  tail <- (1 - conf_level) / 2
  limits <- stats::quantile(crossprod(draws, values) / length(x), c(tail, 1 - tail), names = FALSE)
  if (limits[[1L]] < limits[[2L]]) limits else c(NA_real_, NA_real_)
}

# The predictions on cases whose truth is known, with that truth.
judged_predictions <- function(folder) {
  systems <- read_strings(find_file(folder, "systems"))
  truth <- read_strings(find_file(folder, "truth"))
  systems$truth <- truth$truth[match(systems$case, truth$case)]
  systems[!is.na(systems$truth), ]
}

# Share of right answers among the predictions that can be judged.
true_accuracy <- function(folder) {
  judged <- judged_predictions(folder)
  right <- split(judged$prediction == judged$truth, judged$system)
  data.frame(
    system = names(right), truth = vapply(right, mean, 0, USE.NAMES = FALSE),
    judged = lengths(right, use.names = FALSE)
  )
}

# ---- All sets -----------------------------------------------------------------------------------

# Adds columns of index.csv, after a check that both have the same truth.
add_truth <- function(results, index) {
  at <- match(paste(results$set, results$system), paste(index$set, index$system))
  if (anyNA(at)) stop("index.csv lacks a system: ", results$system[is.na(at)][[1L]])
  deviation <- max(abs(results$truth - as.numeric(index$system_accuracy[at])))
  cat("True accuracies differ from those of index.csv by at most ", format(deviation), ".\n",
    sep = "")
  results$grade <- index$grade[at]
  held_out <- results$set == "snow_rte" & grepl("heldout", results$system, fixed = TRUE)
  results$grade[held_out] <- "B"
  results$set[held_out] <- "snow_rte_held"
  results$rater_accuracy <- as.numeric(index$rater_acc_pooled[at])
  results$error <- results$estimate - results$truth
  results$covered <- covers(results$conf.low, results$conf.high, results$truth)
  results
}

covers <- function(low, high, truth) low <= truth + 1e-9 & truth <= high + 1e-9

# The default's intervals with a constant that was chosen without the family of each set.
left_out <- function(results) {
  x <- results[results$method == "average", ]
  x$method <- "average, constant left out"
  limits <- lapply(seq(0, 0.6, 0.01), function(per_error) robust_limits(x, per_error))
  for (out in unique(family_of(x$set))) {
    is_training <- family_of(x$set) != out
    coverage <- vapply(limits, function(limit) {
      mean_of_sets(covers(limit$low, limit$high, x$truth)[is_training], x$set[is_training])
    }, 0)
    best <- limits[[c(which(coverage >= conf_level), length(limits))[[1L]]]]
    x$conf.low[!is_training] <- best$low[!is_training]
    x$conf.high[!is_training] <- best$high[!is_training]
  }
  x$covered <- covers(x$conf.low, x$conf.high, x$truth)
  x
}

# No truth is known to the estimates, so that all cases are open.
robust_limits <- function(x, per_error, per_gap = 0.5) {
  rater_part <- pmax(per_error * x$rater_error, x$base_rate_range / sqrt(12))
  bias <- 0.04^2 + rater_part^2 + (per_gap * (x$independent - x$shared))^2
  margin <- stats::qnorm((1 + conf_level) / 2) * sqrt(x$sampling^2 + x$dependence_weight * bias)
  list(low = pmax(0, x$estimate - margin), high = pmin(1, x$estimate + margin))
}

mean_of_sets <- function(x, set) mean(vapply(split(x, set), mean, 0))

# Every set counts the same, however many systems it has. Warnings are those of the default.
summarise_groups <- function(results) {
  all <- rep(TRUE, nrow(results))
  rows <- lapply(split(all, results$grade), function(x) NULL)
  for (grade in names(rows)) rows[[grade]] <- results$grade == grade
  default <- results$method == "average"
  doubtful <- results$few_data | results$assumption
  rows <- c(rows, list(
    `real classifiers` = results$grade %in% c("A", "A-"), all = all,
    `warned: few data` = default & results$few_data,
    `warned: assumption` = default & results$assumption, `not warned` = default & !doubtful
  ))
  do.call(rbind, lapply(names(rows), function(group) {
    group_rows <- results[which(rows[[group]]), ]
    do.call(rbind, lapply(unique(group_rows$method), function(method) {
      summarise_method(group, group_rows[group_rows$method == method, ])
    }))
  }))
}

summarise_method <- function(group, x) {
  known <- !is.na(x$estimate)
  bounded <- !is.na(x$conf.low)
  over_sets <- function(value, is_chosen) {
    if (any(is_chosen)) mean_of_sets(value[is_chosen], x$set[is_chosen]) else NA_real_
  }
  width <- x$conf.high - x$conf.low
  mae <- vapply(split(abs(x$error)[known], x$set[known]), mean, 0)
  data.frame(
    group = group, method = x$method[[1L]], sets = length(unique(x$set)), systems = nrow(x),
    families = length(unique(family_of(x$set))), missing = sum(!known),
    bias = over_sets(x$error, known), mae = mean(mae),
    mae_se = error_over_families(mae), coverage = over_sets(x$covered, bounded),
    coverage_systems = if (any(bounded)) mean(x$covered[bounded]) else NA_real_,
    width = over_sets(width, bounded),
    median_width = if (any(bounded)) stats::median(width[bounded]) else NA_real_
  )
}

# Standard error of the mean of a number per set, named by set.
error_over_families <- function(x) {
  family_sums <- tapply(x - mean(x), family_of(names(x)), sum)
  families <- length(family_sums)
  if (families > 1L) sqrt(families / (families - 1) * sum(family_sums^2)) / length(x) else NA_real_
}

# ---- Printing -----------------------------------------------------------------------------------

# A row per system; estimates with intervals side by side, * where the interval misses the truth.
print_systems <- function(results) {
  cell <- paste0(
    format_decimals(results$estimate), " [", format_decimals(results$conf.low), " ",
    format_decimals(results$conf.high), "]", ifelse(results$covered %in% FALSE, "*", " ")
  )
  key <- paste(results$set, results$system)
  first <- !duplicated(key)
  table <- data.frame(
    results[first, c("set", "grade", "system")],
    truth = format_decimals(results$truth[first]), judged = results$judged[first],
    n = results$n[results$method == "majority"]
  )
  for (method in unique(results$method)) {
    is_method <- results$method == method
    table[[method]] <- cell[is_method][match(key[first], key[is_method])]
  }
  cat("\nSystems (* where the interval misses the true accuracy)\n")
  print(table, row.names = FALSE, right = FALSE)
}

print_summary <- function(summary) {
  numbers <- vapply(summary, is.double, NA)
  summary[numbers] <- lapply(summary[numbers], format_decimals)
  cat("\nMeans over sets; coverage and width of the intervals that there are\n")
  print(summary, row.names = FALSE)
}

# Prints the number and the sets of each class of warning, and the sets in which the package failed.
print_conditions <- function(runs) {
  warnings <- lapply(runs, `[[`, "warnings")
  sets <- rep(vapply(runs, `[[`, "", "set"), lengths(warnings))
  cat("\nWarnings\n")
  sets_by_class <- split(sets, as.character(unlist(warnings)))
  for (class in names(sets_by_class)) {
    warned_sets <- sets_by_class[[class]]
    cat("  ", class, ": ", length(warned_sets), " (", toString(unique(warned_sets)), ")\n",
      sep = "")
  }
  if (length(sets) == 0L) cat("  none\n")
  for (run in runs) {
    if (!is.null(run$failure)) cat("FAILED ", run$set, ": ", run$failure, "\n", sep = "")
  }
}

# ---- Helpers ------------------------------------------------------------------------------------

find_file <- function(folder, stem) {
  files <- file.path(folder, paste0(stem, c(".csv", ".csv.gz")))
  files[file.exists(files)][[1L]]
}

read_strings <- function(file) {
  utils::read.csv(file, colClasses = "character", na.strings = c("NA", ""))
}

# Adds columns that describe how the results were computed to every row.
write_table <- function(table, file) {
  provenance <- data.frame(
    seed = seed, replicates = replicates, date = format(Sys.Date()),
    fallible = format(utils::packageVersion("fallible")), r = format(getRversion()),
    stringsAsFactors = FALSE
  )
  table[] <- lapply(table, function(x) if (is.double(x)) signif(x, 4L) else x)
  utils::write.csv(cbind(table, provenance), file, row.names = FALSE)
}

# NA and NaN are shown as a dash.
format_decimals <- function(x) ifelse(is.na(x), "-", sub("^(-?)0\\.", "\\1.", sprintf("%.3f", x)))

if (sys.nframe() == 0L) do.call(main, as.list(commandArgs(trailingOnly = TRUE)))
