# Replicates of statistics that are computed in R: cases, or clusters of cases, are resampled. No
# other R code resamples cases. The core draws the cases, with a random stream per replicate, so
# that results from R and from the core use the same resampled cases.

# Settings of a resampling, for R and for the core. The unit is a pattern of ratings, or a case
# (`by_case`). Fields: number of cases of each unit (`weight`), clusters (NULL: cases are resampled)
# and the seed of all replicates.
resampling <- function(x, options, by_case = FALSE) {
  unit <- if (by_case) seq_along(x$index) else x$index
  weight <- if (by_case) weights_of_cases(x) else pattern_weights(x)
  new_resampling(weight, options, clusters_of(x, options, unit))
}

clusters_of <- function(x, options, unit_of_case) {
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

# Results of `run`, a function of the number of times that each unit was drawn, for all replicates.
# Random numbers that it uses depend only on the seed.
resampled <- function(run, resampling, name = "Bootstrap", tick = NULL) {
  bar <- if (is.null(tick)) progress_bar(name, resampling$replicates) else list(tick = tick)
  sampler <- core_resampler(resampling$weight, resampling$clusters)
  values <- withr::with_seed(resampling$seed[[1L]], {
    lapply(seq_len(resampling$replicates), function(i) {
      bar$tick(i)
      run(core_resample(sampler, resampling$seed, i - 1, NaN))
    })
  })
  if (is.null(tick)) bar$close()
  values
}

# First words of a reason why an estimate has no interval.
no_interval <- "no interval: "

# First words of a reason why an estimate does not use gold cases.
gold_unused <- "from ratings alone: "

# Adds intervals from the core to a table with columns estimate and reason.
add_intervals <- function(table, intervals) {
  known <- !is.na(table$estimate)
  columns <- c(std.error = "std.error", conf.low = "low", conf.high = "high")
  for (name in names(columns)) {
    table[[name]][known] <- na_real(intervals[[columns[[name]]]])[known]
  }
  failed <- known & intervals$lack == "failed"
  table$reason[failed] <- paste0(no_interval, "most bootstrap replicates gave no estimate")
  constant <- known & intervals$lack == "constant"
  table$reason[constant] <- paste0(
    no_interval, percent(intervals$same[constant]), " of the bootstrap replicates are exactly ",
    vapply(intervals$value[constant], format, "", digits = 3L)
  )
  table
}

# The same if all rows lack an interval for the same reason.
without_interval <- function(table, reason) {
  lacks <- is.na(table$reason)
  table$reason[lacks] <- paste0(no_interval, reason)
  table
}

# Warns about each of `names` whose `share` exceeds `least`. `unit`: words after the share.
warn_above <- function(topic, message, names, share, unit, least = 0, i = NULL) {
  some <- which(share > least)
  warn_if(some, topic,
    c(message, bullets(verbatim(names[some], ": ", percent(share[some]), unit), 5L)),
    i = i, systems = names[some], share = share[some])
}

# A line per reason why a value is NA. `table` has columns estimate, reason and optionally why.
# `rows`: names of its rows. `no`: the name of what is missing.
reason_notes <- function(table, rows, most = 4L, no = "interval") {
  why <- why_of(table)
  key <- keys(list(why, table$reason))
  vapply(unique(key[!is.na(table$reason)]), function(number) {
    at <- which(key == number)
    first <- at[[1L]]
    begins <- if (isTRUE(is.na(table[["estimate"]][first]))) "NA for" else switch(why[[first]],
      chance = "For", no_interval = , same_answers = paste("No", no, "for"), "From ratings alone,"
    )
    prefix <- switch(why[[first]],
      no_interval = , same_answers = no_interval, ratings_alone = gold_unused, ""
    )
    plain <- substring(table$reason[[first]], nchar(prefix) + 1L)
    paste0(begins, " ", shorten(rows[at], most = most), ": ", plain)
  }, "")
}

# Codes of reasons, on which code branches. A table has a column `why` only if the code cannot be
# derived from its numbers. Codes are listed in the help page of conditions.
why_of <- function(table) {
  n <- length(table$reason)
  why <- ifelse(is.na(rep_len(table[["estimate"]] %||% NA, n)), "missing", "no_interval")
  given <- rep_len(table[["why"]] %||% NA_character_, n)
  ifelse(is.na(given), why, given)
}

# `share`: share of replicates that failed, for each of `names`. If all failures belong to one tail
# and exceed its probability, they hide the limit of the interval there.
warn_failed <- function(names, share, conf_level, why) {
  warn_above("bootstrap",
    "Many bootstrap replicates gave no estimate, so intervals are too short.",
    names, share, " of replicates", (1 - conf_level) / 2, why)
}

# Percentile, reflected and bias-corrected intervals do not contain the estimate if more than
# 1 - alpha / 2 of the replicates are on one side of it. None of them corrects a bias that is larger
# than the spread of the replicates. `slack`: tolerance of iterative estimates.
warn_outside <- function(names, table, why) {
  slack <- 1e-6
  out <- which(
    table$estimate < table$conf.low - slack | table$estimate > table$conf.high + slack
  )
  warn_if(out, "bootstrap", "{cli::qty(length(out))}Bootstrap interval{?s} of
        {.val {names[out]}} {?leaves/leave} {?its estimate/their estimates}.", x = "The bias of the
        resamples is larger than their spread.", i = why, systems = names[out], share = numeric())
}
