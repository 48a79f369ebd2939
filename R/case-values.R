#' @section Profiles:
#' `interval = "profile"`, for method `"joint"`, holds the accuracy of the system at a value,
#' maximises the log posterior over all else, and ends where that falls short of its top by half the
#' `conf_level` quantile of chi-squared with one degree of freedom. Nothing is drawn at random. It
#' is several times faster than a bootstrap, and one-sided where an end is 0 or 1; `std.error` is
#' what a normal interval of this width would have. It is `NA`, with a reason, where the prior is
#' estimated from the same ratings (`prior = "pooled"`) or weights are not counts. Like a bootstrap
#' it covers sampling error only.
#'
#' @section Groups and clusters:
#' With `by` every group of cases is fitted by itself; groups share neither raters' accuracy nor
#' base rates. (In simulations of four groups of 50 or 200 cases this cost at most 7% of root mean
#' squared error where groups were the same, and one fit for all cost up to 45% where they differed.
#' If only some of this differs, a formula of covariates needs fewer parameters: see
#' [rater_model()].) The result is a list; see [accuracy_by_group]. Where package future has a plan
#' that is not sequential, groups are shared out to its workers, with the same numbers; a worker
#' that dies is an error of class `fallible_error_worker`, whose field `finished` has the others.
#'
#' Cases of one patient, or passages of one document, are not independent. With `cluster` a
#' bootstrap draws whole clusters, and so does the sampling part of a robust interval (method
#' `"average"`: its sampling error is multiplied by how much wider a bootstrap of the joint
#' estimate becomes when it draws clusters). Estimates do not change. With fewer than some 20
#' clusters intervals are too short; with one they are `NA`.
#'
#' @param by Groups of cases: a vector with a value for every case, in the order of the cases in
#'   `x`, or a data frame with a column `case` and one other, in which every case is looked up.
#' @name estimate_accuracy
#' @rdname estimate_accuracy
NULL

# What users say of cases beside ratings: groups and clusters.

# Ratings keep no columns of the data that could be named.
by_of_cases <- function(by) {
  tryCatch(by, error = function(cnd) {
    abort_argument("by", "must be the values of a variable, one for each case.",
      x = verbatim(conditionMessage(cnd)),
      i = "Take them from your data: {.code by = data$site}.")
  })
}

# A value per case of `x`, from a vector in the order of its cases or a table of cases; NULL stays.
check_case_values <- function(value, x, arg) {
  if (is.null(value)) return(NULL)
  if (in_database(x)) {
    abort_no_cases("{.arg {arg}} is about cases",
      hint = "{.code dplyr::filter()} makes ratings of one group in the database.")
  }
  if (is.data.frame(value)) value <- look_up_cases(value, x, arg)
  abort_argument_if(!is.atomic(value) || !is.null(dim(value)) || length(value) != nrow(x), arg,
    "must have a value for each of the {nrow(x)} cases, in their order, or be a data frame with a
        column {.val case} and one other.",
    x = "It is {describe(value)}{if (is.factor(value)) paste(' and length', length(value))}.",
    i = if (rlang::is_string(value)) "Give the values, not the name of a column:
        {.code {arg} = data${verbatim(value)}}.")
  case <- x$cases[is.na(value)]
  abort_argument_if(case, arg, "must be known for every case.", x = "It is missing for
      {length(case)} case{?s}, first for case {.val {as.character(case[[1L]])}}.", case = case)
  value
}

look_up_cases <- function(table, x, arg) {
  abort_if(ncol(table) != 2L || !"case" %in% names(table), "columns",
    "{.arg {arg}} must have a column {.val case} and one other.",
    x = if (any_columns(table)) "It has {.val {names(table)}}." else "It is {describe(table)}.",
    arg = arg)
  other <- table[[setdiff(names(table), "case")]]
  twice <- duplicated(table$case)
  off <- twice & !(other == other[match(table$case, table$case)]) %in% TRUE
  abort_argument_if(any(off), arg, "must have one value for each case.",
    x = "Case {.val {as.character(table$case[off][[1L]])}} has several.")
  other[match(as_label(x$cases), as_label(table$case))]
}
