# Words and tables of metrics.

#' @rdname metric_estimate
#' @export
tidy.metric_estimate <- function(x, ...) {
  check_dots_empty(...)
  x$table
}

#' @rdname metric_estimate
#' @export
glance.metric_estimate <- function(x, ...) {
  check_dots_empty(...)
  table <- x$table
  has_interval <- !is.null(accuracy_intervals()[[x$options$interval]]$find)
  tibble::tibble(
    groups = if (x$options$grouped) length(x$estimates) else NA_integer_,
    systems = length(x$options$systems), metrics = length(x$plan$records),
    categories = length(x$plan$categories), estimates = nrow(table),
    missing = sum(is.na(table$estimate)), method = x$options$method,
    interval = x$options$interval,
    conf_level = if (has_interval) x$options$conf_level else NA_real_
  )
}

#' @rdname metric_estimate
#' @export
format.metric_estimate <- function(x, ...) {
  whole <- x$table[is.na(x$table$category), ]
  first <- paste(names_of_metrics(whole), decimals(whole$estimate, 2L), recycle0 = TRUE)
  paste0(caption_of(x), if (nrow(whole) > 0L) ": ", printable(shorten(first, most = 3L)))
}

#' @export
caption_of.metric_estimate <- function(x) { # nolint: object_name.
  labels <- length(x$plan$categories)
  paste0(
    count_noun(length(x$plan$records), "metric"), " of ",
    count_noun(length(x$options$systems), "system"),
    if (x$options$grouped) paste0(" in ", count_noun(length(x$estimates), "group")), ", ",
    if (is.null(x$panel)) count_noun(labels, "category", "categories") else
      count_noun(labels, "label"), ", ", method_words(x$options$method)
  )
}

# Of each row: "f_meas (macro)", "recall of A", of systems and groups where there are several.
row_names <- function(table) {
  average <- paste0(" (", average_words(table$average), ")")
  paste0(
    table$metric, ifelse(is.na(table$average), "", average),
    ifelse(is.na(table$category), "", paste0(" of ", table$category))
  )
}

names_of_metrics <- function(table) {
  who <- do.call(paste, unname(as.list(table[intersect(c("group", "system"), names(table))])))
  paste(who, row_names(table), recycle0 = TRUE)
}

with_interval <- function(table) {
  ends <- paste0(" ", bracketed(table$conf.low, table$conf.high))
  paste0(decimals(table$estimate), ifelse(is.na(table$conf.low), "", ends))
}

average_words <- function(average) sub("_", " ", average, fixed = TRUE)

# All of it, for documents.
#' @export
shown_table.metric_estimate <- function(x) { # nolint: object_name.
  table <- x$table
  out <- data.frame(
    system = table$system, metric = row_names(table), estimate = decimals(table$estimate)
  )
  if (!all(is.na(table$conf.low))) {
    title <- interval_title(x$options$conf_level)
    out[[title]] <- bracketed(table$conf.low, table$conf.high, "")
  }
  if (x$options$grouped) out <- cbind(group = table$group, out)
  if (length(unique(table$system)) == 1L) out$system <- NULL
  out
}

#' @export
print.metric_estimate <- function(x, ...) {
  cat_lines(paste0("<metric_estimate> ", caption_of(x)))
  groups <- if (x$options$grouped) names(x$estimates) else NA
  for (group in utils::head(groups, 3L)) {
    if (!is.na(group)) cat_lines("", paste0("Group ", group))
    print_metrics(if (is.na(group)) x$table else x$table[x$table$group == group, ])
  }
  if (length(groups) > 3L) cat("\n... and", length(groups) - 3L, "more groups; see tidy()\n")
  cat_lines("", notes_of(x), "More: tidy(), augment() (posterior weights), plot().")
  invisible(x)
}

# Rows are averages and metrics of all together, or of categories where there are none of these;
# columns are systems, or the other way round for many of them. Of one system categories follow.
print_metrics <- function(table) {
  of_category <- !is.na(table$category)
  several <- length(unique(table$system)) > 1L
  whole <- if (all(of_category)) table else table[!of_category, ]
  if (several || !all(of_category)) print_crossed("metric", row_names(whole), whole$system, whole)
  if (several && any(of_category)) cat_lines("", "By category: see tidy().")
  if (!several && any(of_category)) {
    cat("\n")
    of <- table[of_category, ]
    print_crossed("category", of$category, of$metric, of)
  }
}

print_crossed <- function(title, row, column, table) {
  values <- with_interval(table)
  sides <- list(factor(row, unique(row)), factor(column, unique(column)))
  if (title == "metric" && nlevels(sides[[2L]]) > 3L) {
    title <- "system"
    if (nlevels(sides[[1L]]) > 3L) values <- decimals(table$estimate)
    sides <- rev(sides)
  }
  cells <- tapply(values, sides, identity)
  shown <- data.frame(rownames(cells), cells, check.names = FALSE, row.names = NULL)
  names(shown)[[1L]] <- title
  print(align_left(utils::head(shown, 20L), seq_along(shown)), row.names = FALSE)
  if (nrow(shown) > 20L) cat("... and", nrow(shown) - 20L, "more; see tidy()\n")
}

#' @export
notes_of.metric_estimate <- function(x) { # nolint: object_name.
  table <- x$table
  one <- x$estimates[[1L]]
  c(
    reason_notes(table$reason, table$estimate, paste0(row_names(table), " (", table$system, ")")),
    if (!all(rests_on_gold(one))) common_note(one),
    if (!all(is.na(table$conf.low))) {
      metric_interval_note(x$options$interval, x$options$conf_level, one)
    }
  )
}

# What such intervals of an estimate contain; NULL for none.
metric_interval_note <- function(interval, conf_level, estimate) {
  record <- accuracy_intervals()[[interval]]
  if (is.null(record$find)) return(NULL)
  drawn <- paste0(resampling_note(estimate), ", ", number(estimate$options$replicates),
    " replicates")
  about <- if (measures_by_gold(estimate, interval)) {
    paste0("each by itself, in the ", estimate$gold$settings$target, ", with ",
      count_noun(length(estimate$gold$case), "gold case"))
  } else if (record$delta) {
    paste0("sampling error (delta method, ", drawn, ")", allowance_words(estimate))
  } else if (record$cells && !record$drawn) {
    paste0("sampling error alone (", drawn,
      if (has_stand_in(estimate)) paste0(" of the ", method_of(estimate)$stand_in, " model"), ")")
  } else {
    return(record$note(estimate))
  }
  paste0(interval_title(conf_level), "s (", record$id, "): ", about)
}

#' @rdname metric_estimate
#' @export
augment.metric_estimate <- function(x, ...) {
  check_dots_empty(...)
  if (!is.null(x$panel)) return(augment_labels(x))
  one <- x$estimates[[1L]]
  abort_argument_if(!has_posterior(one), "x",
    "Method {.val {one$options$method}} gives no probabilities of the categories of a case.",
    i = "Estimate with {.arg method} {.or {.val {ids_with('posterior', accuracy_methods())}}}.")
  tables <- lapply(seq_along(x$estimates), function(g) {
    of <- lapply(x$options$systems, weighted_answers, estimate = x$estimates[[g]])
    found <- do.call(rbind, of)
    if (x$options$grouped) tibble::tibble(group = names(x$estimates)[[g]], found) else found
  })
  do.call(rbind, tables)
}

# A row per case that the system answered and raters saw, and true category.
weighted_answers <- function(estimate, system) {
  x <- estimate$fit$x
  n <- length(x$categories)
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
