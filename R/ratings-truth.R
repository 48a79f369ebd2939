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
  by_rating <- input$layout$by_rating
  case <- if (by_rating) match(input$row_case %||% input$case, x$cases) else seq_along(code)
  known <- which(!is.na(code) & !is.na(case))
  first <- known[match(case, case[known])] # row that tells it first
  off <- known[code[known] != code[first[known]]]
  if (length(off) > 0L) {
    rows <- c(off[[1L]], first[[off[[1L]]]])
    stated <- x$categories[code[rows]] # nolint: object_usage. Glue uses it.
    abort_fallible("case", "A case has one true category.", x = "Row {rows[[1L]]} of column
        {.val {column}} says {.val {stated[[1L]]}} of case
        {.val {as_label(x$cases[case[off[[1L]]]])}}, row {rows[[2L]]} {.val {stated[[2L]]}}.",
      row = off)
  }
  category <- rep(NA_integer_, length(x$cases))
  category[case[known]] <- code[known]
  list(
    category = category, kept = TRUE,
    expected = stats::setNames(rep(NA_real_, length(x$systems)), x$systems)
  )
}

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
