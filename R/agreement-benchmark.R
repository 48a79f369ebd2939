# Names that people have given to ranges of agreement; from the lower bound on.
benchmark_scales <- list(
  "landis-koch" = c(
    poor = -1, slight = 0, fair = 0.2, moderate = 0.4, substantial = 0.6, `almost perfect` = 0.8
  ),
  fleiss = c(poor = -1, `intermediate to good` = 0.4, excellent = 0.75),
  altman = c(poor = -1, fair = 0.2, moderate = 0.4, good = 0.6, `very good` = 0.8)
)

# Of tidy(): on a scale, at the level of the intervals of an agreement result.
benchmark_of <- function(x, ..., scale = names(benchmark_scales)) {
  check_dots_empty(...)
  scale <- check_choice(scale)
  abort_argument_if(!has_columns(x, c("measure", "estimate", "std.error")), "x",
    "must be an {.fun agreement} result with its columns.", not = x)
  benchmark_table(x, scale, attr(x, "about")$conf_level)
}

# A row per row of an agreement result and level, highest first.
benchmark_table <- function(x, scale, conf_level) {
  lower <- rev(benchmark_scales[[scale]])
  row <- rep(seq_len(nrow(x)), each = length(lower))
  reason <- why_no_benchmark(x)[row]
  error <- replace(x$std.error[row], !is.na(reason), NA_real_)
  below <- function(at) stats::pnorm(rep_len(at, length(row)), x$estimate[row], error)
  upper <- c(1, lower[-length(lower)])
  membership <- (below(upper) - below(lower)) / (below(1) - below(-1))
  cumulative <- stats::ave(membership, row, FUN = cumsum)
  enough <- cumulative >= conf_level
  tibble::tibble(
    plain_tibble(x)[row, agreement_labels(x)], estimate = x$estimate[row], scale = scale,
    level = rep_len(names(lower), length(row)), lower = rep_len(unname(lower), length(row)),
    upper = rep_len(unname(upper), length(row)), membership = membership,
    cumulative = cumulative, reached = enough %in% TRUE & !duplicated(data.frame(row, enough)),
    reason = reason
  )
}

# The level that each row reaches, NA where there is none.
level_reached <- function(x, conf_level) {
  table <- benchmark_table(x, "landis-koch", conf_level)
  row <- rep(seq_len(nrow(x)), each = length(benchmark_scales[["landis-koch"]]))
  table$level[table$reached][match(seq_len(nrow(x)), row[table$reached])]
}

# Levels are words for values from -1 to 1. A measure may not be known any more.
why_no_benchmark <- function(x) {
  known <- all_measures()[as.character(x$measure)]
  end <- function(name, otherwise) vapply(known, function(m) m[[name]] %||% otherwise, 0)
  upper <- unname(end("upper", 1))
  covered <- stats::pnorm(1, x$estimate, x$std.error) - stats::pnorm(-1, x$estimate, x$std.error)
  reason <- rep(NA_character_, nrow(x))
  reason[which(covered < 1e-8)] <- "the estimate is far from all levels"
  reason[is.na(x$estimate) | is.na(x$std.error)] <- "no standard error"
  wide <- upper != 1
  reason[wide] <- paste0(
    "values go up to ", vapply(upper[wide], format, ""), ", those of the scale to 1",
    recycle0 = TRUE
  )
  replace(reason, end("lower", -1) >= 0, "not corrected for chance")
}
