# What flagged workers print and give as tables.

#' @export
tidy.worker_flags <- function(x, ...) {
  check_dots_empty(...)
  x$workers
}

#' @export
format.worker_flags <- function(x, ...) {
  size <- glance(x)
  paste0(
    number(size$flagged), " of ", count_noun(size$workers, "worker"), " flagged",
    if (size$undefined > 0) paste0("; ", size$undefined, " not measured")
  )
}

# The flagged, those with the highest score first.
#' @export
shown_table.worker_flags <- function(x) { # nolint: object_name.
  flagged <- x$workers[x$workers$flagged %in% TRUE, ]
  round_columns(flagged[order(-flagged$score), c("worker", "units", x$metrics, "score")])
}

#' @export
glance.worker_flags <- function(x, ...) {
  check_dots_empty(...)
  quality <- if (x$rule == "fitted") {
    score_quality(x$workers$held_out, x$workers$known)
  } else {
    lapply(score_quality(0, TRUE), `[`, NA)
  }
  tibble::as_tibble(c(list(
    rule = x$rule, workers = nrow(x$workers), flagged = sum(x$workers$flagged, na.rm = TRUE),
    undefined = sum(is.na(x$workers$score))
  ), quality))
}

#' @export
print.worker_flags <- function(x, ...) {
  cat_lines(paste0("<worker_flags> ", format(x)), notes_of(x))
  flagged <- shown_table(x)
  if (nrow(flagged) > 0L) print_table("Flagged", flagged, most = 10L)
  cat_lines("", "Next: filter_crowd(x, flagged = ), tidy(), glance(), plot().")
  invisible(x)
}

# The rule, and how it did on workers whose quality is known.
#' @export
notes_of.worker_flags <- function(x) { # nolint: object_name.
  size <- glance(x)
  c(
    switch(x$rule,
      sd = paste0(
        "Rule: at least ", x$votes, " of ", paste(
          x$metrics, ifelse(spam_sign[x$metrics] > 0, ">", "<"), decimals(x$thresholds),
          collapse = ", "
        )
      ),
      paste0("Rule: ", format_linear(x$weights), " > 0")
    ),
    if (x$rule == "fitted") paste0(
      "Held out (", count_noun(x$folds, "fold"), ", ", size$low, " of ", size$known,
      " known workers of low quality): accuracy ", decimals(size$accuracy), ", precision ",
      decimals(size$precision), ", recall ", decimals(size$recall), ", AUC ", decimals(size$auc)
    )
  )
}

format_linear <- function(weights) {
  terms <- ifelse(names(weights) == "(Intercept)", "", paste0(" ", names(weights)))
  signs <- ifelse(weights < 0, " - ", " + ")
  signs[[1L]] <- if (weights[[1L]] < 0) "-" else ""
  paste0(signs, decimals(abs(weights)), terms, collapse = "")
}
