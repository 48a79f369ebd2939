# Metrics with gold: recall and precision as in confusion(), all others by their derivative. What a
# case adds to a metric is the slope of the cell that it is in; of gold cases the cell is known, of
# all others ratings predict it. The mean of that over all cases, corrected by gold as any other
# mean, has the variance of the metric, which is that of the corrected table.

# `found`: rows of system `s` by ratings alone, with `sampling` and `hidden` errors.
metrics_with_gold <- function(found, estimate, plan, s, interval, conf_level) {
  record <- accuracy_intervals()[[interval]]
  part <- gold_tables(estimate$gold$evidence, s, n_categories(plan))
  if (isTRUE(part$all_known)) {
    columns <- c("estimate", "reason")
    found[columns] <- point_rows(estimate, plan, part$counts, s)[columns]
    found[is.na(found$estimate), interval_columns] <- NA_real_
  }
  ends <- ranges_of_plan(plan)
  no_truth <- FALSE
  if (!is.null(part)) {
    ends <- ranges_of_margins(ends, part$start, plan)
    slope <- unit_slopes(metric_slopes(plan, part$start), ends)
    no_truth <- of_answers_alone(slope)
    part$x <- gold_metrics(part, slope, plan, ends)
  }
  # Gold measures also what the ratings of one rater cannot show.
  rows <- which((!is.na(found$estimate) | is_one_rater(estimate$fit$x)) & !no_truth)
  each <- lapply(rows, function(i) gold_row(found, estimate, plan, i, s, record, part, ends[i, ]))
  measured_rows(found, rows, each, ends, record, estimate, conf_level)
}

# Rows of which `each` has what gold says: `x` (see correct_mean()), NULL for nothing; `alone`, what
# ratings alone say, both on the unit scale; and `lack`, why gold says nothing.
measured_rows <- function(found, rows, each, ends, record, estimate, conf_level) {
  found[rows, interval_columns] <- NA_real_
  found$reason[rows] <- vapply(each, function(one) {
    lack <- if (is.null(one$x)) paste0(no_interval, one$lack) else lack_of_clusters(one$x)
    lack %||% NA_character_
  }, "")
  known <- lengths(lapply(each, `[[`, "x")) > 0L
  if (!any(known)) return(found)
  of <- function(field) bind_numbers(lapply(each[known], `[[`, field))
  settings <- c(estimate$gold$settings, conf_level = conf_level)
  columns <- c("estimate", interval_columns)
  unit <- do.call(cbind, record$gold(of("x"), of("alone"), settings)[columns])
  ends <- ends[rows[known], , drop = FALSE]
  value <- unit * widths(ends) + outer(ends[, 1L], columns != "std.error")
  found[rows[known], columns] <- as.data.frame(value)
  found
}

# Metrics that can be negative, of two categories: no lower than where truths and answers, each as
# frequent as they are, agree as little as they can. Where a category is rare that is nearly 0, and
# the scale of errors ends there.
ranges_of_margins <- function(ends, table, plan) {
  if (n_categories(plan) != 2L) return(ends)
  table <- matrix(table, 2L, byrow = TRUE)
  truth <- rowSums(table)
  right <- pmax(0, truth + colSums(table) - 1)
  least <- metric_values(plan, c(right[[1L]], truth - right, right[[2L]]))
  ends[, 1L] <- ifelse(ends[, 1L] < 0 & !is.na(least), least, ends[, 1L])
  ends
}

# See measured_rows().
gold_row <- function(found, estimate, plan, i, s, record, part, ends) {
  row <- plan$rows[i, ]
  metric <- plan$records[[row$metric]]
  if (row$metric == built_in_metrics$accuracy$id) {
    return(list(
      x = estimate$gold$measured[[s]], alone = ratings_alone(estimate, s),
      lack = lack_of_gold(estimate, s)
    ))
  }
  if (nzchar(metric$cell) && !is.na(row$category)) {
    k <- match(row$category, plan$categories)
    cell <- list(system = s, truth = k, answer = k, of_answer = metric$cell == "precision")
    return(gold_of_cell(found, estimate, cell, i, ends))
  }
  lack <- lack_of_metric(estimate, part, plan, i, s, record)
  list(
    x = if (is.null(lack)) part$x[[i]], alone = unit_row(found, i, ends),
    lack = lack %||% not_in_gold
  )
}

not_in_gold <- "gold cases do not vary in it"

# What ratings alone say, on the unit scale.
unit_row <- function(found, i, ends) {
  list(
    estimate = to_unit(found$estimate[[i]], t(ends)), std.error = found$std.error[[i]] / diff(ends),
    bias = found$hidden[[i]] / diff(ends)
  )
}

# Of the cases that system `s` answered: `cells`, the cell of each gold case; `predicted`, the
# probability of each category as ratings predict it, and `answer`, both by pattern; `mean`, the
# probability of each cell over all cases, and `off`, how far that of gold cases is from it;
# `gold_table`, the table of gold alone; `start`, a table to find slopes at, in which no cell is
# quite empty that ratings expect a case in; and what gold_part() gives. NULL without gold.
gold_tables <- function(evidence, s, n) {
  if (is.null(evidence)) return(NULL)
  answer <- evidence$answer[, s]
  part <- gold_part(evidence, answer > 0L)
  if (part$gold == 0L || !stands_for(part)) return(NULL)
  part$answer <- answer
  part$predicted <- apply(evidence$predicted, 2L, fill_unrated, part$weight)
  part$cells <- (part$truth - 1L) * n + answer[part$at]
  part$mean <- predicted_table(part, seq_along(answer), part$weight)
  w <- part$w / sum(part$w)
  part$gold_table <- unname(rowsum(c(w, 0 * part$mean), c(part$cells, seq_along(part$mean)))[, 1L])
  part$off <- predicted_table(part, part$at, part$w) - part$mean
  start <- pmax(part$gold_table - prior_slope * part$off, 0)
  part$start <- (part$gold * start / sum(start) + part$mean) / (part$gold + 1)
  part$all_known <- part$gold >= sum(part$weight)
  part$counts <- part$gold_table * part$gold
  part
}

# Mean probability of each cell over patterns `at` with weights `w`, as ratings predict it.
predicted_table <- function(part, at, w) {
  of_answer <- outer(part$answer[at], seq_len(ncol(part$predicted)), `==`)
  as.vector(crossprod(of_answer * w, part$predicted[at, , drop = FALSE])) / sum(w)
}

# What is predicted of slopes (cells x metrics) of each case, by pattern: 0 without an answer.
predicted_slopes <- function(part, slopes) {
  n <- ncol(part$predicted)
  vapply(seq_len(ncol(slopes)), function(i) {
    by_answer <- rbind(0, matrix(slopes[, i], n))
    rowSums(part$predicted * by_answer[part$answer + 1L, , drop = FALSE])
  }, numeric(length(part$answer)))
}

# Which metrics, of which `slope` has a column, hang on answers alone?
of_answers_alone <- function(slope) {
  n <- sqrt(nrow(slope))
  of_answer <- slope[rep(seq_len(n), n), , drop = FALSE]
  colSums(abs(slope - of_answer) >= 1e-9) %in% 0 & colSums(abs(slope) >= 1e-9) > 0
}

# Cells x rows of the plan.
unit_slopes <- function(slopes, ends) {
  slope <- vapply(seq_along(slopes$whole), slope_of, numeric(slopes$n^2), slopes = slopes)
  slope / rep(widths(ends), each = nrow(slope))
}

# Of each row of the plan, like what correct_share() gives, on the unit scale; NULL where gold tells
# nothing of the metric, or no case moves it. `slope`: see unit_slopes().
gold_metrics <- function(part, slope, plan, ends) {
  q <- predicted_slopes(part, slope)
  varies <- colSums(part$start * slope^2) # few gold cases may not show it
  x <- correct_mean(
    slope[part$cells, , drop = FALSE], q[part$at, , drop = FALSE],
    prediction_of(q, part$weight + 0 * q), function(mean, spread, gold) pmax(spread, varies),
    w = matrix(part$w, length(part$w), ncol(slope))
  )
  shares <- t(pmax(part$gold_table - outer(part$off, x$slope), 0))
  value <- to_unit(values_by_row(plan, shares / rowSums(shares)), ends)
  alone <- to_unit(metric_values(plan, part$gold_table), ends)
  usable <- !is.na(value) & x$variance > 1e-18
  x <- as_share(x, value, alone, part$cluster)
  x <- x[setdiff(names(x), c("rest", "answers"))]
  lapply(seq_along(value), function(i) if (usable[[i]] %in% TRUE) lapply(x, `[[`, i))
}

# Each row of the plan of a table of its own.
values_by_row <- function(plan, tables) {
  unlist(lapply(unique(plan$rows$metric), function(id) {
    plan$records <- plan$records[id]
    diag(metric_values(plan, tables[plan$rows$metric == id, , drop = FALSE]))
  }))
}

# In units of the variance of a share, with half a case of either kind where that would be 0. Where
# gold tells as much of the share as far more cases would, half of one of these.
as_share <- function(x, value, alone, cluster) {
  variance_of_share <- function(cases) {
    share <- (cases * value + 0.5) / (cases + 1)
    share * (1 - share)
  }
  cases <- x$gold * variance_of_share(x$gold) / x$variance
  own <- variance_of_share(pmin(most_information, pmax(x$gold, cases)))
  more <- x$variance / own
  x$estimate <- value
  x$alone <- x$seen <- alone
  x$variance <- own
  x$ratio <- x$ratio * more
  x$design <- x$design * more
  x$at_hand <- more
  in_clusters(x, cluster, own)
}

# The first category that the row rests on and of which no gold case is, or that no gold case has as
# its answer; empty if there is none, or no truth is open. Metrics of the whole table rest on all
# together; but there is no agreement beyond chance with gold of one category.
absent_category <- function(part, plan, i) {
  if (part$all_known) return(NULL)
  row <- plan$rows[i, ]
  n <- n_categories(plan)
  gold <- table_sums(matrix(part$gold_table, 1L), n)
  expected <- table_sums(matrix(part$mean, 1L), n)
  of <- if (is.na(row$category)) expected$truth > 0 else plan$categories == row$category
  lacks <- gold$truth <= 0 | (expected$answer > 0 & gold$answer <= 0)
  of_chance <- range_of_metric(plan$records[[row$metric]], plan$settings)[[1L]] < 0
  whole <- is.na(row$average) && is.na(row$category)
  if (whole && !(of_chance && sum(gold$truth > 0) < 2L)) return(NULL)
  utils::head(plan$categories[of & lacks], 1L)
}

# Why gold says nothing of a metric by its derivative; NULL if it does.
lack_of_metric <- function(estimate, part, plan, i, s, record) {
  if (is.null(part)) return(lack_of_gold(estimate, s) %||% only_some_drawn)
  if (record$anytime) return(not_anytime)
  absent <- absent_category(part, plan, i)
  if (length(absent) > 0L) {
    paste0("no gold case is of category ", absent, ", or none has it as answer")
  }
}

not_anytime <- "anytime intervals are derived for accuracy, recall and precision only"
