#' @export
print.agreement <- function(x, ...) {
  about <- attr(x, "about")
  if (is.null(about) || !all(c("measure", "estimate", "reason") %in% names(x))) {
    return(NextMethod())
  }
  cat_lines(
    about$header,
    if (about$pairwise) paste("Pairs of:", shorten(about$units)),
    if (about$by_category) "Each category against the others"
  )
  cat("\n")
  shown <- utils::head(as.data.frame(x), 40L)
  print(format_agreement_rows(shown, about), row.names = FALSE, right = TRUE)
  if (nrow(x) > nrow(shown)) cat("... and", number(nrow(x) - nrow(shown)), "more\n")
  notes <- agreement_notes(x, about)
  if (length(notes) > 0L) cat("\n")
  cat_lines(notes)
  cat_lines("", paste0("More: ", next_of_agreement(x), "."))
  invisible(x)
}

format_agreement_rows <- function(rows, about) {
  out <- rows[intersect(c("rater1", "rater2", "category", "measure"), names(rows))]
  out$estimate <- decimals(rows$estimate)
  if (!all(is.na(rows$std.error))) {
    out$std.error <- ifelse(is.na(rows$std.error), "", decimals(rows$std.error))
    out[[paste0(format(100 * about$conf_level), "% interval")]] <- ifelse(
      is.na(rows$conf.low), "",
      paste0("[", decimals(rows$conf.low), ", ", decimals(rows$conf.high), "]")
    )
  }
  out$n <- number(rows$n)
  for (column in names(out)[vapply(out, is.character, NA)]) {
    left <- column %in% c("rater1", "rater2", "category", "measure")
    if (left) {
      out[[column]] <- format(out[[column]], justify = "left")
      names(out)[names(out) == column] <- format(column, width = max(nchar(out[[column]])))
    }
  }
  out
}

agreement_notes <- function(x, about) {
  lacking <- split(x, factor(x$reason, levels = unique(x$reason[!is.na(x$reason)])))
  reasons <- vapply(names(lacking), function(reason) {
    rows <- lacking[[reason]]
    what <- shorten(unique(rows$measure), most = 4L)
    labels <- intersect(c("rater1", "rater2", "category"), names(rows))
    paste0(
      what, if (length(labels) > 0L) paste0(" (", count_noun(nrow(rows), "row"), ")"), ": ",
      if (startsWith(reason, no_interval)) reason else paste0("NA, ", reason)
    )
  }, "")
  c(
    unname(reasons),
    if (about$unequal) {
      paste0(
        "Cases have different numbers of ratings; agreement is pooled over ", about$pooling,
        " (see `pooling`)"
      )
    },
    switch(about$interval,
      jackknife = "Interval: jackknife over cases",
      bootstrap = paste0("Interval: case bootstrap, ", number(about$replicates), " replicates"),
      none = NULL,
      analytic = if (any(x$method != "analytic")) "Interval: analytic, or jackknife where none is"
    ),
    if (about$ordered && is.null(about$scale_weights)) {
      "Categories are ordered; near misses count as nothing (see `scale_weights`)"
    }
  )
}

next_of_agreement <- function(x) {
  about <- attr(x, "about")
  if (about$pairwise) {
    "plot() for a map of pairs"
  } else {
    pairs <- !about$by_category && !about$exchangeable && length(about$units) > 2L
    paste0("benchmark_agreement(), plot()", if (pairs) ", agreement(pairwise = TRUE)")
  }
}

#' @export
tbl_sum.agreement <- function(x, ...) c("Agreement" = paste(nrow(x), "x", ncol(x)))
