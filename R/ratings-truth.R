# The truth that data come with: `truth` of ratings().

# A list like that of simulated panels: `category`, a code per case, NA where it is not known;
# `expected`, NA for each system; and `kept`, TRUE. NULL if nobody gave it.
truth_to_keep <- function(input, x) {
  if (is.null(input$truth)) return(NULL)
  abort_argument_if(has_labels(x), "truth",
    "{.arg truth} is one category per case; answers with several labels have no such truth.",
    i = "{.fun single_label} makes ratings with one label.")
  column <- names(input$truth)
  code <- encode(input$truth[[1L]], x$categories, column, "truth")
  label <- value_of_cases(x$categories[code], case_of_rows(input, x), x$cases, column,
    "A case has one true category.")
  list(category = match(label, x$categories), kept = TRUE, expected = none_expected(x$systems))
}

# The accuracy of each system where it is not known.
none_expected <- function(systems) stats::setNames(rep(NA_real_, length(systems)), systems)

# It came with data, so that nothing may be estimated from it unless somebody says so.
is_kept_truth <- function(x) isTRUE(x$truth$kept)

format_truth <- function(x) {
  if (is_kept_truth(x)) {
    paste0(
      "Truth kept for ", count_noun(sum(!is.na(x$truth$category)), "case"),
      ", for known_truth = TRUE only"
    )
  }
}

# Fields: category (codes per case, NA where it is not known), stratum (codes per case, of drawn
# panels only), expected (accuracy per system, NA where it is not known), base_rates, kept (see
# truth_to_keep()).
subset_truth <- function(truth, cases) {
  truth$category <- truth$category[cases]
  truth$stratum <- truth$stratum[cases]
  truth
}
