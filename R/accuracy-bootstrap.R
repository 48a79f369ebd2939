# Bootstrap of an accuracy estimate, over cases or clusters of cases: standard errors, percentile
# intervals, and the reasons where there are none.

# Begins a reason why an estimate has no interval.
no_interval <- "no interval: "

# Replicates of averaged models come with these.
add_bootstrap <- function(estimate, replicates = NULL) {
  if (!weights_are_counts(estimate$fit$x)) {
    return(without_interval(estimate, "weights are not counts, so there are no cases to resample"))
  }
  if (all(is.na(estimate$table$estimate))) {
    return(estimate)
  }
  if (is_one_cluster(estimate)) {
    return(without_interval(estimate, one_cluster))
  }
  if (estimate$options$method != "average") replicates <- bootstrap_replicates(estimate)
  estimate$replicates <- structure(
    na_real(replicates), dimnames = list(NULL, estimate$fit$x$systems)
  )
  estimate$details$failed <- as.integer(colSums(is.na(estimate$replicates)))
  options <- estimate$options
  intervals <- core_percentile_intervals(
    estimate$replicates, options$conf_level, !options$method %in% algebraic_methods
  )
  estimate$table <- add_intervals(estimate$table, intervals)
  known <- !is.na(estimate$table$estimate)
  share <- estimate$details$failed / estimate$options$replicates
  warn_failed(
    estimate$table$system[known], share[known], estimate$options$conf_level,
    "Raters agree too little for so few cases."
  )
  estimate
}

bootstrap_replicates <- function(estimate, method = estimate$options$method) {
  x <- estimate$fit$x
  options <- estimate$options
  bar <- progress_bar("Bootstrap", options$replicates)
  drawn <- resampling(x, options)
  weights <- pattern_weights(x)
  out <- switch(method,
    joint = , shared = latent_accuracy(estimate$fit, method, drawn, bar$tick)$replicates,
    core_bootstrap(
      x$patterns, weights, c(list(method = method), options[c("clip", "bin_width")]), drawn,
      bar$tick
    )
  )
  bar$close()
  out
}

# What the core needs to draw cases, or clusters of them.
resampling <- function(x, options) {
  clusters <- if (!is.null(options$cluster)) {
    list(
      pattern = x$index, weight = x$weights %||% rep(1, length(x$index)), cluster = options$cluster
    )
  }
  list(
    replicates = options$replicates, threads = options$threads, seed = draw_seed(),
    clusters = clusters
  )
}

# R's generator decides, once, so that set.seed() works whatever the number of threads.
draw_seed <- function() sample.int(.Machine$integer.max, 2L)

# A table with columns estimate and reason, with what the core says of the interval of each row.
add_intervals <- function(table, intervals) {
  known <- !is.na(table$estimate)
  for (column in c("std.error", "low", "high")) {
    name <- if (column == "std.error") column else paste0("conf.", column)
    table[[name]][known] <- na_real(intervals[[column]])[known]
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

without_interval <- function(estimate, reason) {
  lacks <- is.na(estimate$table$reason)
  estimate$table$reason[lacks] <- paste0(no_interval, reason)
  estimate
}

# `share` is of the replicates that failed for each of `names`. If all failures belonged to one
# tail, more than its share of them would hide the end there.
warn_failed <- function(names, share, conf_level, why) {
  some <- which(share > (1 - conf_level) / 2)
  if (length(some) > 0L) {
    each <- verbatim(names[some], ": ", percent(share[some]), " of replicates")
    warn_fallible("bootstrap", c(
      "Many bootstrap replicates gave no estimate; intervals rest on the others and are too short.",
      stats::setNames(each, rep("*", length(each))),
      "i" = why
    ), systems = names[some], share = share[some])
  }
}
