# Results in documents of others: tables of flextable, sentences of easystats.

#' Results as tables of flextable, and as sentences of easystats
#'
#' `flextable::as_flextable()` makes a table for Word, PowerPoint or a web page of any result: that
#' which `print()` shows, with its title, and with what must be told beside it as a footer.
#' `report::report()` gives what [may_say()] says may be said of a result that it knows, with its
#' paragraph on the method.
#'
#' @name as_flextable
#' @return A `flextable`; for `report()`, a `report_text` as the package \pkg{report} makes it.
#' @family systems
#' @examplesIf requireNamespace("flextable", quietly = TRUE)
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' flextable::as_flextable(estimate_accuracy(x, interval = "none"))
#' @rawNamespace S3method(flextable::as_flextable,fallible_result,flextable_result)
#' @rawNamespace S3method(report::report,accuracy_estimate,report_result)
#' @rawNamespace S3method(report::report,system_comparison,report_result)
#' @rawNamespace S3method(report::report,metric_estimate,report_result)
#' @rawNamespace S3method(report::report,agreement,report_result)
NULL

flextable_result <- function(x, ...) {
  check_installed("flextable", "to make its tables")
  table <- flextable::flextable(shown_table(x) %||% as.data.frame(x))
  table <- flextable::set_caption(table, schema_of(x)$caption)
  notes <- document_notes(x)
  if (length(notes) > 0L) table <- flextable::add_footer_lines(table, notes)
  flextable::autofit(table)
}

report_result <- function(x, ...) {
  sentences <- may_say(x)
  words <- c(sentences$sentence[sentences$may], may_say(x, "methods"))
  structure(paste(words, collapse = "\n\n"), class = c("report_text", "character"))
}
