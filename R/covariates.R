# What is known of cases beside their ratings: `covariates` of ratings().

# Names that tables of ratings have for something else.
reserved_names <- c(
  "case", "rater", "rating", "rater_group", "weight", "system", "prediction", "labels", "n"
)

# `x` with a tibble, a row per case, of what its data say of cases.
with_covariates <- function(x, input) {
  columns <- input$covariates
  if (is.null(columns)) return(x)
  reserved <- c(reserved_names, if (!is.null(x$confidence)) "confidence")
  taken <- intersect(names(columns), c(reserved, x$raters, x$systems))
  abort_if(length(taken) > 0L, "columns",
    "{.arg covariates} must not have names that tables of ratings use.",
    x = "{.val {taken}} {?is/are} taken.", i = "Give the columns other names.", arg = "covariates")
  for (name in names(columns)) check_covariate(columns[[name]], name)
  rows <- length(columns[[1L]])
  case <- if (input$layout$by_rating) {
    match(input$row_case %||% input$case, x$cases)
  } else {
    seq_len(rows)
  }
  check_row_cases(case, x)
  first <- match(seq_along(x$cases), case)
  for (name in names(columns)) check_constant(columns[[name]], name, case, first, x)
  x$covariates <- tibble::as_tibble(lapply(columns, `[`, first))
  x
}

check_covariate <- function(column, name) {
  abort_if(!(is.factor(column) || is_plain(column, c("numeric", "character", "logical"))),
    "columns", "Covariates must be numbers, strings, factors or logicals.",
    x = "Column {.val {name}} is {describe(column)}.", arg = "covariates")
  row <- which(if (is.numeric(column)) !is.finite(column) else is.na(column))
  abort_if(length(row) > 0L, "missing", "Covariates must be known for every case.",
    x = "Column {.val {name}} is missing or infinite in {length(row)} row{?s}, first in row
        {row[[1L]]}.", i = "Leave these cases out, or make \"not known\" a category of its own.",
    row = row, column = name)
}

# Cases that only a table of systems names.
check_row_cases <- function(case, x) {
  lacking <- setdiff(seq_along(x$cases), case)
  abort_if(length(lacking) > 0L, "case",
    "Cases of {.arg systems} that are not in {.arg data} have no {.arg covariates}.",
    x = "Among them is case {.val {as_label(x$cases[lacking[[1L]]])}}.",
    i = "Leave them out of {.arg systems}.", row = lacking)
}

check_constant <- function(column, name, case, first, x) {
  row <- which(column != column[first[case]])
  abort_if(length(row) > 0L, "case", "A covariate must be the same in all rows of a case.",
    x = "Rows {first[case[row[[1L]]]]} and {row[[1L]]} of column {.val {name}} differ, and are both
        of case {.val {as_label(x$cases[case[row[[1L]]]])}}.", row = row, column = name)
}

split_by_covariates <- function(x, which = names(x$covariates)) {
  columns <- x$covariates[intersect(which, names(x$covariates))]
  if (length(columns) == 0L) x else split_patterns(x, columns)
}

# `values`: a row per case.
split_patterns <- function(x, values) {
  pattern <- split_by(pattern_of_case(x), values)
  x$patterns <- pick_patterns(x$patterns, x$index[match(seq_len(max(pattern)), pattern)])
  x$index <- pattern
  x
}

# Numbers from 1 that tell apart what `index` or a column of `values` tells apart.
split_by <- function(index, values) {
  for (k in seq_len(ncol(values))) {
    value <- if (is.data.frame(values)) values[[k]] else values[, k]
    distinct <- unique(value)
    key <- (index - 1) * length(distinct) + match(value, distinct)
    index <- match(key, unique(key))
  }
  index
}

# A row per pattern, of what its cases share (see patterns_for()).
pattern_covariates <- function(x) {
  if (!is.null(x$covariates)) x$covariates[match(seq_len(n_patterns(x)), x$index), ]
}

format_covariates <- function(x) {
  if (!is.null(x$covariates)) {
    paste0("Covariates of cases: ", shorten(vapply(names(x$covariates), function(name) {
      paste0(name, " (", covariate_words(x$covariates[[name]]), ")")
    }, "")))
  }
}

covariate_words <- function(column) {
  if (is.numeric(column)) {
    paste(signif(range(column), 3L), collapse = " to ")
  } else {
    shorten(sort(unique(as_label(column))), most = 4L)
  }
}
