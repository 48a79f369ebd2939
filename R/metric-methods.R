# Words and tables of metrics.

# Of each row: "f_meas (macro)", "recall of A".
row_names <- function(table) {
  average <- paste0(" (", average_words(table$average), ")")
  paste0(
    table$metric, ifelse(is.na(table$average), "", average),
    ifelse(is.na(table$category), "", paste0(" of ", table$category))
  )
}

who_of <- function(table) {
  do.call(paste, unname(as.list(table[intersect(c("group", "system"), names(table))])))
}

with_interval <- function(table) {
  ends <- paste0(" ", bracketed(table$conf.low, table$conf.high))
  paste0(decimals(table$estimate), ifelse(is.na(table$conf.low), "", ends))
}

average_words <- function(average) sub("_", " ", average, fixed = TRUE)

# A column per system, or, where there are many, a row each, with the metrics that are of no
# category and without room for intervals.
view_of_metrics <- function(table) {
  table <- table[order(!is.na(table$category)), ]
  who <- who_of(table)
  many <- length(unique(who)) > 3L
  keep <- !many | is.na(table$category) | !anyNA(table$category)
  values <- if (many) decimals(table$estimate) else with_interval(table)
  sides <- list(metric = row_names(table), system = who)
  sides <- lapply(if (many) rev(sides) else sides, function(of) factor(of[keep], unique(of[keep])))
  cells <- tapply(values[keep], sides, identity)
  view_of_matrix(cells, names(sides)[[1L]], most = 45L)
}

# Rows that prints have: of constant systems only the accuracy, which is a pass rate.
shown_metrics <- function(table, estimate) {
  constant <- table$system %in% estimate$fit$x$constant
  accuracy <- table$metric == built_in_metrics$accuracy$id
  table$metric[constant & accuracy] <- passes
  keep <- accuracy | !constant
  if (any(keep)) table[keep, ] else table
}

metric_notes <- function(table, one, interval, conf_level) {
  c(
    reason_notes(table, paste0(row_names(table), " (", table$system, ")")),
    if (!all(rests_on_gold(one))) common_note(one),
    if (!all(is.na(table$conf.low))) metric_interval_note(interval, conf_level, one)
  )
}

# What such intervals of an estimate contain; NULL for none.
metric_interval_note <- function(interval, conf_level, estimate) {
  record <- accuracy_intervals()[[interval]]
  if (is.null(record$find)) return(NULL)
  drawn <- paste0(resampling_note(estimate), ", ", number(estimate$options$replicates),
    " replicates", if (has_stand_in(estimate) && record$spread != "delta") {
      paste0(" of the ", method_of(estimate)$stand_in, " model")
    })
  about <- if (measures_by_gold(estimate, interval)) {
    paste0("each by itself, in the ", estimate$gold$settings$target, ", with ",
      count_noun(length(estimate$gold$case), "gold case"))
  } else if (record$spread == "delta") {
    paste0("sampling error (delta method, ", drawn, ")", allowance_words(estimate))
  } else if (record$spread == "percentile" && !record$drawn) {
    paste0("sampling error alone (", drawn, ")")
  } else {
    return(interval_note(record, estimate))
  }
  paste0(interval_title(conf_level), "s (", record$id, "): ", about)
}

#' @rdname metric_estimate
#' @export
augment.metric_estimate <- function(x, ...) {
  check_dots_empty(...)
  one <- x$estimates[[1L]]
  abort_argument_if(!has_posterior(one), "x",
    "Method {.val {one$options$method}} gives no probabilities of the categories of a case.",
    i = "Estimate with {.arg method} {.or {.val {ids_with('posterior', accuracy_methods())}}}.")
  over_groups(x$estimates, x$options$grouped, function(estimate) {
    stack_rows(x$options$systems, weighted_answers, estimate = estimate)
  })
}

over_groups <- function(estimates, grouped, f, ...) {
  stack_rows(seq_along(estimates), function(g) {
    found <- f(estimates[[g]], ...)
    if (grouped) tibble::tibble(group = names(estimates)[[g]], found) else found
  })
}

# A row per case that the system answered and raters saw, and true category.
weighted_answers <- function(estimate, system) {
  x <- estimate$fit$x
  n <- n_categories(x)
  s <- match(system, x$systems)
  pattern <- pattern_of_case(x)
  answer <- pattern_answers(x)[pattern, s]
  at <- which(answer > 0L & judged_patterns(estimate$fit)[pattern])
  posterior <- estimate$posterior[[s]][pattern[at], , drop = FALSE]
  weight <- weights_of_cases(x)[at]
  level <- function(code) factor(x$categories[code], levels = x$categories)
  columns_tibble(
    case = rep(x$cases[at], each = n), system = system, truth = level(rep(seq_len(n), length(at))),
    prediction = level(rep(answer[at], each = n)), weight = as.vector(t(posterior * weight))
  )
}
