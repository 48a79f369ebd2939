# This file computes bootstrap replicates of statistics that are computed in R. The core (C++) draws
# the resampled cases, with a separate random stream for each replicate. Statistics from R and from
# the core therefore use the same resampled cases.

# Returns the settings of a bootstrap, for R and for the core, as a list:
# * replicates, threads: numbers of replicates and of threads.
# * seed: the seed of all replicates.
# * weight: the number of cases of each unit. A unit is a case if `by_case` is TRUE, and a pattern
#   of ratings otherwise.
# * clusters: the clusters to resample; NULL if single cases are resampled.
resampling <- function(x, options, by_case = FALSE) {
  unit_of_case <- if (by_case) seq_along(x$index) else x$index
  weight <- if (by_case) weights_of_cases(x) else pattern_weights(x)
  new_resampling(weight, options, resampled_clusters(x, options, unit_of_case))
}

# Returns the clusters to resample, in the form that the core needs; NULL without clusters.
# `unit_of_case`: number of the unit of each case.
resampled_clusters <- function(x, options, unit_of_case) {
  if (!is.null(options$cluster)) {
    list(pattern = unit_of_case, weight = weights_of_cases(x), cluster = options$cluster)
  }
}

new_resampling <- function(weight, options, clusters = NULL) {
  list(
    replicates = options$replicates, threads = options$threads,
    seed = options$seed %||% draw_seed(), weight = weight, clusters = clusters
  )
}

# Calls the function `run` once for each replicate, and returns a list of its values. The argument
# of `run` is a vector: the number of times that each unit was drawn. Random numbers that `run`
# draws in R depend only on the seed in `resampling`. `tick`: function that reports progress; NULL
# shows a progress bar.
run_replicates <- function(run, resampling, name = "Bootstrap", tick = NULL) {
  progress <- if (is.null(tick)) progress_bar(name, resampling$replicates) else list(tick = tick)
  sampler <- core_resampler(resampling$weight, resampling$clusters)
  replicate_values <- withr::with_seed(resampling$seed[[1L]], {
    lapply(seq_len(resampling$replicates), function(i) {
      progress$tick(i)
      run(core_resample(sampler, resampling$seed, i - 1, NaN))
    })
  })
  if (is.null(tick)) progress$close()
  replicate_values
}

# Prefix of the `reason` of an estimate without an interval.
no_interval_prefix <- "no interval: "

# Prefix of the `reason` of an estimate that does not use the gold cases.
gold_unused_prefix <- "from ratings alone: "

# Adds columns std.error, conf.low and conf.high to a table with columns estimate and reason. Writes
# the reason for a missing interval to `reason`. `intervals`: a list of vectors from the core, with
# an element per row of `table`:
# * std.error, low, high: standard error and confidence limits.
# * lack: code of the reason for a missing interval. It is "constant" if nearly all replicates are
#   equal, and "failed" if most replicates gave no estimate.
# * same, value: share of the replicates that are equal, and their common value.
add_intervals <- function(table, intervals) {
  has_estimate <- !is.na(table$estimate)
  core_names <- c(std.error = "std.error", conf.low = "low", conf.high = "high")
  for (name in names(core_names)) {
    table[[name]][has_estimate] <- na_real(intervals[[core_names[[name]]]])[has_estimate]
  }
  has_failed_replicates <- has_estimate & intervals$lack == "failed"
  table$reason[has_failed_replicates] <-
    paste0(no_interval_prefix, "most bootstrap replicates gave no estimate")
  has_equal_replicates <- has_estimate & intervals$lack == "constant"
  table$reason[has_equal_replicates] <- paste0(
    no_interval_prefix, percent(intervals$same[has_equal_replicates]),
    " of the bootstrap replicates are exactly ",
    map_chr(intervals$value[has_equal_replicates], format, digits = 3L)
  )
  table
}

# Writes `reason` to the column `reason` of all rows, as the reason for missing intervals. Earlier
# reasons are kept.
add_no_interval_reason <- function(table, reason) {
  table$reason[is.na(table$reason)] <- paste0(no_interval_prefix, reason)
  table
}

# Gives one warning about all `names` whose `share` is above `threshold`, with a line per name.
# * unit: text after the share, such as " of replicates".
# * topic: last part of the name of the warning class, such as "bootstrap".
# * i: hint at the end of the warning.
warn_above <- function(topic, message, names, share, unit, threshold = 0, i = NULL) {
  rows_above <- which(share > threshold)
  warn_if(rows_above, topic,
    c(message, bullets(escape_braces(names[rows_above], ": ", percent(share[rows_above]), unit),
      5L)),
    i = i, systems = names[rows_above], share = share[rows_above])
}

# Returns notes for print(): a string for each distinct reason in `table`, with the names of the
# rows that have this reason.
# * table: has columns estimate, reason and optionally why (code of the reason).
# * row_names: names of the rows. A note lists at most `most` of them.
# * missing_noun: noun for a missing value, in "No ... for".
reason_notes <- function(table, row_names, most = 4L, missing_noun = "interval") {
  # Column `why` contains a short code for each reason, such as "missing" or "no_interval". If `why`
  # is NA or does not exist, the code is "missing" if the estimate is NA, and otherwise
  # "no_interval". The help page fallible-conditions lists all codes.
  n_rows <- length(table$reason)
  derived_codes <-
    ifelse(is.na(rep_len(table[["estimate"]] %||% NA, n_rows)), "missing", "no_interval")
  given_codes <- rep_len(table[["why"]] %||% NA_character_, n_rows)
  reason_codes <- ifelse(is.na(given_codes), derived_codes, given_codes)
  reason_group <- number_distinct_rows(list(reason_codes, table$reason))
  map_chr(unique(reason_group[!is.na(table$reason)]), function(key) {
    matching_rows <- which(reason_group == key)
    first_row <- matching_rows[[1L]]
    note_start <- if (isTRUE(is.na(table[["estimate"]][first_row]))) "NA for" else switch(
      reason_codes[[first_row]],
      chance = "For", no_interval = , same_answers = paste("No", missing_noun, "for"),
      "From ratings alone,"
    )
    prefix <- switch(reason_codes[[first_row]],
      no_interval = , same_answers = no_interval_prefix, ratings_alone = gold_unused_prefix, ""
    )
    sprintf(
      "%s %s: %s", note_start, shorten(row_names[matching_rows], most = most),
      substring(table$reason[[first_row]], nchar(prefix) + 1L)
    )
  })
}

# Warns about systems with too many failed replicates. `share`: share of failed replicates for each
# of `names`. Failed replicates may all belong to one tail of the distribution. If their share
# exceeds the probability of that tail, (1 - conf_level) / 2, the interval can be too narrow.
# `hint`: hint at the end of the warning.
warn_failed_replicates <- function(names, share, conf_level, hint) {
  warn_above("bootstrap",
    "Many bootstrap replicates gave no estimate, so intervals may be too short.",
    names, share, " of replicates", (1 - conf_level) / 2, hint)
}

# Warns about bootstrap intervals in `table` that do not contain their estimate. In this situation,
# no type of bootstrap interval corrects the bias of the replicates. `hint`: hint at the end of the
# warning.
warn_outside <- function(names, table, hint) {
  tolerance <- 1e-6 # numerical error of estimates that are computed by iteration
  names_outside_interval <- names[which(
    table$estimate < table$conf.low - tolerance | table$estimate > table$conf.high + tolerance
  )]
  warn_if(names_outside_interval, "bootstrap",
    "{cli::qty(length(names_outside_interval))}Bootstrap interval{?s} of
        {.val {names_outside_interval}} {?does/do} not contain {?its estimate/their estimates}.",
    x = "The bias of the bootstrap replicates is larger than their spread.", i = hint,
    systems = names_outside_interval, share = numeric())
}
