# Names that people have given to ranges of agreement; from the lower bound on.
benchmark_scales <- list(
  "landis-koch" = c(
    poor = -1, slight = 0, fair = 0.2, moderate = 0.4, substantial = 0.6, `almost perfect` = 0.8
  ),
  fleiss = c(poor = -1, `intermediate to good` = 0.4, excellent = 0.75),
  altman = c(poor = -1, fair = 0.2, moderate = 0.4, good = 0.6, `very good` = 0.8)
)

# A row per row of an agreement result and level, highest first.
benchmark_table <- function(x, scale, conf_level) {
  labels <- agreement_labels(x)
  known <- all_measures()
  rows <- lapply(seq_len(max(nrow(x), 1L)), function(i) {
    reason <- why_no_benchmark(known[[x$measure[i]]], x$estimate[i], x$std.error[i])
    levels <- benchmark_row(x$estimate[i], x$std.error[i], scale, conf_level, reason)
    c(lapply(as.list(x)[labels], function(column) rep(column[i], length(levels$level))), levels)
  })
  table <- lapply(stack_tables(rows), utils::head, nrow(x) * length(rows[[1L]]$level))
  tibble::as_tibble(table)
}

# The level that each row reaches, NA where there is none.
level_reached <- function(x, conf_level) {
  known <- all_measures()
  vapply(seq_len(nrow(x)), function(i) {
    reason <- why_no_benchmark(known[[x$measure[i]]], x$estimate[i], x$std.error[i])
    levels <- benchmark_row(x$estimate[i], x$std.error[i], "landis-koch", conf_level, reason)
    c(levels$level[levels$reached], NA_character_)[[1L]]
  }, "")
}

# `measure` is NULL where it is not known. Levels are words for values from -1 to 1.
why_no_benchmark <- function(measure, estimate, error) {
  if (isTRUE(measure$lower >= 0)) {
    "not corrected for chance"
  } else if (!isTRUE((measure$upper %||% 1) == 1)) {
    paste0("values go up to ", format(measure$upper), ", those of the scale to 1")
  } else if (is.na(estimate) || is.na(error)) {
    "no standard error"
  } else if (stats::pnorm(1, estimate, error) - stats::pnorm(-1, estimate, error) < 1e-8) {
    "the estimate is far from all levels"
  } else {
    NA_character_
  }
}

benchmark_row <- function(estimate, error, scale, conf_level, reason) {
  if (!is.na(reason)) error <- NA_real_
  lower <- rev(benchmark_scales[[scale]])
  upper <- c(1, lower[-length(lower)])
  below <- function(at) stats::pnorm(at, estimate, error)
  membership <- (below(upper) - below(lower)) / (below(1) - below(-1))
  cumulative <- cumsum(membership)
  n <- length(lower)
  list(
    estimate = rep(estimate, n), scale = rep(scale, n), level = names(lower),
    lower = unname(lower), upper = unname(upper), membership = unname(membership),
    cumulative = unname(cumulative),
    reached = seq_len(n) %in% which(cumulative >= conf_level)[1L], reason = rep(reason, n)
  )
}
