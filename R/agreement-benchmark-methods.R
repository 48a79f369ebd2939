#' @rdname benchmark_agreement
#' @export
tidy.agreement_benchmark <- function(x, ...) {
  check_dots_empty(...)
  plain_tibble(x)
}

#' @rdname benchmark_agreement
#' @export
glance.agreement_benchmark <- function(x, ...) {
  check_dots_empty(...)
  tibble::tibble(
    measures = length(unique(x$measure)), estimates = sum(first_levels(x)), scale = x$scale[1L],
    levels = length(unique(x$level)), reached = sum(x$reached),
    conf_level = attr(x, "conf_level")
  )
}

#' @rdname benchmark_agreement
#' @export
format.agreement_benchmark <- function(x, ...) {
  if (!is_whole_benchmark(x)) {
    return(NextMethod())
  }
  table <- shown_table(x)
  of <- do.call(paste, c(unname(lapply(table[agreement_labels(x)], as.character)), sep = ", "))
  shorten(paste0(of, ": ", table$level), separator = "; ")
}

#' @export
caption_of.agreement_benchmark <- function(x) { # nolint: object_name, object_length.
  paste0(
    "scale ", x$scale[[1L]], ": the highest level that agreement is at or above with probability ",
    format(attr(x, "conf_level"))
  )
}

is_whole_benchmark <- function(x) {
  !is.null(attr(x, "conf_level")) && nrow(x) > 0L &&
    has_columns(x, c("measure", "estimate", "scale", "level", "cumulative", "reached", "reason"))
}

# Which rows begin an estimate.
first_levels <- function(x) !duplicated(keys(x[agreement_labels(x)]))

# The level that each estimate reaches, or why none can be told.
#' @export
shown_table.agreement_benchmark <- function(x) { # nolint: object_name, object_length.
  each <- keys(x[agreement_labels(x)])
  first <- first_levels(x)
  reached <- match(unique(each), ifelse(x$reached, each, NA))
  out <- plain_data_frame(x[first, agreement_labels(x)])
  out$estimate <- decimals(x$estimate[first])
  out$level <- ifelse(is.na(reached), x$reason[first], x$level[reached])
  out$probability <- ifelse(is.na(reached), "", decimals(x$cumulative[reached]))
  out
}

#' @export
print.agreement_benchmark <- function(x, ...) {
  if (!is_whole_benchmark(x)) {
    return(NextMethod())
  }
  cat_lines(paste0("<agreement_benchmark> ", caption_of(x)))
  cat("\n")
  print(shown_table(x), row.names = FALSE, right = FALSE)
  cat_lines("", "All levels: tidy(), plot().")
  invisible(x)
}

#' @export
tbl_sum.agreement_benchmark <- function(x, ...) c("Benchmark" = paste(nrow(x), "x", ncol(x)))
