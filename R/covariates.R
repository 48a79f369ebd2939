# What is known of cases beside their ratings: `covariates` of ratings().

# Names that tables of ratings have for something else.
reserved_names <- c(
  "case", "rater", "rating", "rater_group", "weight", "system", "prediction", "labels", "n"
)

# `x` with a tibble, a row per case, of what its data say of cases.
with_covariates <- function(x, input) {
  columns <- input$covariates
  if (is.null(columns)) return(x)
  reserved <- c(reserved_names, if (!is.null(x$confidence)) "confidence",
    if (has_abstentions(x)) "abstained")
  taken <- intersect(names(columns), c(reserved, x$raters, x$systems))
  abort_if(taken, "columns",
    "{.arg covariates} must not have names that tables of ratings use.",
    x = "{.val {taken}} {?is/are} taken.",
    i = c("Give the columns other names.", if (any(taken %in% x$systems)) "Or give the system
        another name, such as {.code systems = c(passes = \"pass\")}."),
    arg = "covariates")
  case <- case_of_rows(input, x)
  lacking <- setdiff(seq_along(x$cases), case)
  abort_if(lacking, "case",
    "Cases of {.arg systems} that are not in {.arg data} have no {.arg covariates}.",
    x = "Among them is case {.val {as_label(x$cases[lacking[[1L]]])}}.",
    i = "Leave them out of {.arg systems}.", row = lacking)
  x$covariates <- tibble::as_tibble(Map(function(column, name) {
    check_covariate(column, name)
    value_of_cases(column, case, x$cases, name,
      "A covariate must be the same in all rows of a case.")
  }, columns, names(columns)))
  x
}

check_covariate <- function(column, name) {
  abort_if(!(is.factor(column) || is_plain(column, c("numeric", "character", "logical"))),
    "columns", "Covariates must be numbers, strings, factors or logicals.",
    x = "Column {.val {name}} is {describe(column)}.", arg = "covariates")
  check_values(column, if (is.numeric(column)) is.finite(column) else !is.na(column), name,
    "missing", "Covariates must be known for every case.",
    i = "Leave these cases out, or make \"not known\" a category of its own.")
}

# A row per pattern: the covariates by which patterns were split.
pattern_covariates <- function(x) {
  values <- x$patterns$values
  which <- intersect(names(values), names(x$covariates))
  tibble::new_tibble(as.list(values)[which], nrow = n_patterns(x))
}

format_covariates <- function(x) {
  each <- vapply(as.list(x$covariates), function(column) {
    if (is.numeric(column)) paste(signif(range(column), 3L), collapse = " to ") else
      shorten(sort_strings(unique(as_label(column))), most = 4L)
  }, "")
  if (length(each) > 0L) {
    paste("Covariates of cases:", shorten(paste0(names(each), " (", each, ")")))
  }
}
