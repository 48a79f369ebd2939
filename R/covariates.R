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
  abort_if(taken, "columns",
    "{.arg covariates} must not have names that tables of ratings use.",
    x = "{.val {taken}} {?is/are} taken.", i = "Give the columns other names.", arg = "covariates")
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

split_by_covariates <- function(x, which = names(x$covariates)) {
  which <- intersect(which, names(x$covariates))
  if (length(which) == 0L) x else split_patterns(x, x$covariates[which])
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
  each <- vapply(as.list(x$covariates), function(column) {
    if (is.numeric(column)) paste(signif(range(column), 3L), collapse = " to ") else
      shorten(sort_strings(unique(as_label(column))), most = 4L)
  }, "")
  if (length(each) > 0L) {
    paste("Covariates of cases:", shorten(paste0(names(each), " (", each, ")")))
  }
}
