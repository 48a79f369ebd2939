# What users say of cases beside ratings: groups and clusters.

# A value per case of `x`, from a vector in the order of its cases or a table of cases; NULL stays.
check_case_values <- function(value, x, arg, call) {
  if (is.null(value)) {
    return(NULL)
  }
  if (is.data.frame(value)) value <- look_up_cases(value, x, arg, call)
  if (!is.atomic(value) || !is.null(dim(value)) || length(value) != length(x$index)) {
    abort_fallible("argument", c(
      "{.arg {arg}} must have a value for each of the {length(x$index)} cases, in their order, or be
       a data frame with a column {.val case} and one other.",
      "x" = "It is {describe(value)}{if (is.factor(value)) paste(' and length', length(value))}."
    ), arg = arg, call = call)
  }
  if (anyNA(value)) {
    case <- x$cases[which(is.na(value))]
    abort_fallible("argument", c(
      "{.arg {arg}} must be known for every case.",
      "x" = "It is missing for {length(case)} case{?s}, first for case
             {.val {as.character(case[[1L]])}}."
    ), arg = arg, call = call)
  }
  value
}

look_up_cases <- function(table, x, arg, call) {
  if (ncol(table) != 2L || !"case" %in% names(table)) {
    abort_fallible("columns", c(
      "{.arg {arg}} must have a column {.val case} and one other.",
      "x" = "It has {.val {names(table)}}."
    ), arg = arg, call = call)
  }
  other <- table[[setdiff(names(table), "case")]]
  twice <- duplicated(table$case)
  off <- twice & !(other == other[match(table$case, table$case)]) %in% TRUE
  if (any(off)) {
    abort_fallible("argument", c(
      "{.arg {arg}} must give a case one value.",
      "x" = "Case {.val {as.character(table$case[off][[1L]])}} has several."
    ), arg = arg, call = call)
  }
  other[match(as.character(x$cases), as.character(table$case))]
}
