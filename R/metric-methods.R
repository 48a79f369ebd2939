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
  first <- utils::head(whole, 3L)
  who <- printable(paste0(
    if (x$options$grouped) paste0(first$group, " "), first$system, " ", row_names(first)
  ))
  paste0(
    caption_of(x), if (nrow(first) > 0L) ": ",
    paste0(who, " ", decimals(first$estimate, 2L), collapse = ", "),
    if (nrow(whole) > nrow(first)) ", ..."
  )
}

#' @export
caption_of.metric_estimate <- function(x) { # nolint: object_name.
  paste0(
    count_noun(length(x$plan$records), "metric"), " of ",
    count_noun(length(x$options$systems), "system"),
    if (x$options$grouped) paste0(" in ", count_noun(length(x$estimates), "group")),
    ", ", if (is.null(x$panel)) {
      count_noun(length(x$plan$categories), "category", "categories")
    } else {
      count_noun(length(x$plan$categories), "label")
    }, ", ",
    method_words(x$options$method)
  )
}

# Names of rows that are not of a category: "f_meas (macro)".
row_names <- function(table) {
  average <- ifelse(is.na(table$average), "", paste0(" (", average_words(table$average), ")"))
  paste0(table$metric, average)
}

average_words <- function(average) sub("_", " ", average, fixed = TRUE)

with_interval <- function(table) {
  ends <- paste0(" ", bracketed(table$conf.low, table$conf.high))
  paste0(decimals(table$estimate), ifelse(is.na(table$conf.low), "", ends))
}

# A row per system and a column for each of `name`, or the other way round for few systems;
# intervals where there is room for them.
system_rows <- function(table, name, title) {
  name <- factor(name, unique(name))
  system <- factor(table$system, unique(table$system))
  cells <- with_interval(table)
  if (nlevels(system) > 3L) {
    if (nlevels(name) > 3L) cells <- decimals(table$estimate)
    title <- "system"
  } else {
    swapped <- name
    name <- system
    system <- swapped
  }
  shown <- matrix("", nlevels(system), nlevels(name))
  shown[cbind(as.integer(system), as.integer(name))] <- cells
  out <- data.frame(levels(system), as.data.frame(shown))
  stats::setNames(utils::head(out, 20L), c(title, levels(name)))
}

# Of a system: a row per category, a column per metric.
category_metrics <- function(table, system) {
  table <- table[!is.na(table$category) & table$system == system, ]
  if (nrow(table) == 0L) return(NULL)
  columns <- lapply(split(table, factor(table$metric, unique(table$metric))), with_interval)
  data.frame(category = unique(table$category), columns, check.names = FALSE)
}

# All of it, for documents.
#' @export
shown_table.metric_estimate <- function(x) { # nolint: object_name.
  table <- x$table
  name <- ifelse(
    is.na(table$category), row_names(table), paste0(table$metric, " of ", table$category)
  )
  out <- data.frame(
    system = table$system, metric = name, estimate = decimals(table$estimate),
    interval = bracketed(table$conf.low, table$conf.high, "")
  )
  names(out)[[4L]] <- interval_title(x$options$conf_level)
  if (all(is.na(table$conf.low))) out <- out[-4L]
  if (x$options$grouped) out <- cbind(group = table$group, out)
  if (length(unique(table$system)) == 1L) out$system <- NULL
  out
}

#' @export
print.metric_estimate <- function(x, ...) {
  cat_lines(paste0("<metric_estimate> ", caption_of(x)))
  groups <- if (x$options$grouped) names(x$estimates) else NA
  for (group in utils::head(groups, 3L)) {
    table <- if (is.na(group)) x$table else x$table[x$table$group == group, ]
    if (!is.na(group)) cat_lines("", paste0("Group ", group))
    print_metrics(table, x)
  }
  if (length(groups) > 3L) cat("\n... and", length(groups) - 3L, "more groups; see tidy()\n")
  cat_lines("", notes_of(x), "More: tidy(), augment() (posterior weights), plot().")
  invisible(x)
}

# Of one system a row per metric and one per category; of several a row per system.
print_metrics <- function(table, x) {
  systems <- unique(table$system)
  of_category <- !is.na(table$category)
  whole <- table[!of_category, ]
  by <- if (is.null(x$panel)) "by category" else "by label"
  if (length(systems) == 1L) {
    if (nrow(whole) > 0L) {
      print_left(data.frame(metric = row_names(whole), estimate = with_interval(whole)))
    }
    of <- category_metrics(table, systems)
    if (!is.null(of)) {
      cat_lines("", capitalised(by))
      print_left(utils::head(of, 30L))
      if (nrow(of) > 30L) cat("... and", nrow(of) - 30L, "more\n")
    }
    return(invisible())
  }
  if (nrow(whole) > 0L) print_left(system_rows(whole, row_names(whole), "metric"))
  metrics <- unique(table$metric[of_category])
  few <- if (length(systems) <= 4L) metrics else if (nrow(whole) == 0L) metrics[1L]
  for (metric in few) {
    rows <- table[of_category & table$metric == metric, ]
    cat_lines("", paste0(metric, ", ", by))
    print_left(system_rows(rows, rows$category, "category"))
  }
  if (length(systems) > 20L) cat("... and", length(systems) - 20L, "more systems; see tidy()\n")
  if (length(few) < length(metrics)) cat_lines("", paste0("Metrics ", by, ": see tidy()"))
}

print_left <- function(table) print(align_left(table, seq_along(table)), row.names = FALSE)

#' @export
notes_of.metric_estimate <- function(x) { # nolint: object_name.
  table <- x$table
  one <- x$estimates[[1L]]
  name <- ifelse(
    is.na(table$category), row_names(table), paste0(table$metric, " of ", table$category)
  )
  c(
    reason_notes(table$reason, table$estimate, paste0(name, " (", table$system, ")")),
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
