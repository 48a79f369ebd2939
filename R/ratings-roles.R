# Columns with a value per rating, such as the confidence of raters. Each kind of column is a role:
# an argument of ratings(), and a field of the ratings object with the same name. The field is a
# list:
# * levels: the distinct values.
# * case, rater, code: vectors with an element per known value, sorted by case and rater. `code` is
#   the index of the value in `levels`.
#
# Patterns of ratings do not contain these values, because most models do not use them.

# Returns the record of a role, a list:
# * code: function of the columns that the argument selects, and of the input (see read_input()). It
#   checks the values. It returns a list of the `levels`, and of `codes`, an integer vector per
#   column (NA if the value is unknown).
# * values: function that converts the levels to values of a column of as.data.frame().
new_rating_role <- function(code, values = identity) as.list(environment())

# Returns the names of the roles for which the list `x` has an element. Uses `[[` instead of `$`,
# because `$` also finds an element if only the beginning of its name matches.
role_fields <- function(x) Filter(function(role) !is_empty(x[[role]]), names(rating_roles))

# Returns the names of the elements of `x`, an input or ratings, that have an entry per case and
# rater: roles and abstentions.
entry_fields <- function(x) c(role_fields(x), if (has_abstentions(x)) "abstained")

# Adds the fields of all roles to the ratings `x`. `input`: result of read_input().
add_rating_roles <- function(x, input) {
  for (arg in role_fields(input)) {
    columns <- input[[arg]]
    requirement <-
      "{.arg {arg}} needs identified raters and at most one rating per rater and case."
    check_named_raters(x, arg, requirement)
    abort_argument_if(x$repeats != "error", arg, requirement,
      x = "{.code repeats = \"{x$repeats}\"} allows several ratings by a rater on a case.",
      i = if (x$repeats == "labels") "Leave {.arg {arg}} out." else
        "Keep one rating of each rater on a case, or leave {.arg {arg}} out.")
    n_raters <- length(input$columns)
    abort_argument_if(n_raters != length(columns), arg, "must select one column for each rater.",
      x = "There are {n_raters} rater{?s}, but {length(columns)} column{?s} of {arg}:
           {.val {names(columns)}}.",
      i = "Name a column for each rater, in the order of {.arg raters}.")
    coded_columns <- rating_roles[[arg]]$code(columns, input)
    x[[arg]] <- c(
      coded_columns["levels"],
      list_positive_codes(coded_columns$codes, input$case, input$rater, x$raters, x, input$rows)
    )
  }
  x
}

# Lists the positive codes of a role such as confidence. Returns a list of the vectors `case`,
# `rater` and `code`, with an element per positive code, sorted by case and rater.
# * codes: a list of integer vectors, one per column.
# * case, judge: case and judge (a rater or system) of each code in long data. In wide data, `judge`
#   is NULL.
# * judges: names of all judges. In wide data, `codes` has a vector for each of them.
# * rows: number of rows of wide data.
list_positive_codes <- function(codes, case, judge, judges, x, rows) {
  case_rater_pairs <- if (is.null(judge))
    expand.grid(case = seq_len(rows), rater = seq_along(judges)) else
    list(case = match(case, x$cases), rater = match(as_label(judge), judges))
  all_codes <- unlist(codes, use.names = FALSE)
  positions <- which(all_codes > 0L)
  positions <- positions[order(case_rater_pairs$case[positions], case_rater_pairs$rater[positions])]
  list(
    case = case_rater_pairs$case[positions], rater = case_rater_pairs$rater[positions],
    code = all_codes[positions]
  )
}

# Returns the code of each rating in the field of a role, NA if it is unknown. `case`, `rater`:
# numbers of the case and the rater of each rating.
codes_of_ratings <- function(x, role, case, rater) {
  entries <- x[[role]]
  rater_count <- n_raters(x)
  entries$code[match(
    (case - 1) * rater_count + rater, (entries$case - 1) * rater_count + entries$rater
  )]
}

# Selects cases and raters of `x`, a list of the vectors `case`, `rater` and sometimes `code`.
# Examples are the fields `confidence` and `abstained` of a ratings object.
# * cases: numbers of the selected cases, which may be repeated.
# * new_number: new number of each rater, 0 to drop the rater.
# * keep_if_empty: if FALSE, returns NULL when no entry is left.
subset_case_entries <- function(x, cases, new_number = seq_len(max(x$rater)),
                                keep_if_empty = FALSE) {
  if (is.null(x)) return(NULL)
  fields <- intersect(c("case", "rater", "code"), names(x))
  n_entries <- tabulate(x$case, max(cases, x$case, 0L))
  first_entry <- cumsum(n_entries) - n_entries + 1L
  entries <- lapply(
    x[fields], `[`, order(x$case)[sequence(n_entries[cases], from = first_entry[cases])]
  )
  entries$case <- rep.int(seq_along(cases), n_entries[cases])
  entries$rater <- new_number[entries$rater]
  entry_order <- order(entries$case, entries$rater)
  x[fields] <- lapply(entries, `[`, entry_order[entries$rater[entry_order] > 0L])
  if (!is_empty(x$case) || keep_if_empty) x
}

# ---- Confidence ----------------------------------------------------------------------------------

max_confidence_levels <- 5L

# Lower limits of the five levels of numeric confidence. They are written out to avoid rounding
# errors: 3 * 0.2 is larger than 0.6.
confidence_level_limits <- c("[0, 0.2)" = 0, "[0.2, 0.4)" = 0.2, "[0.4, 0.6)" = 0.4,
  "[0.6, 0.8)" = 0.6, "[0.8, 1]" = 0.8)

# Converts columns of confidence (ordered factors, logicals or numbers) to codes. Returns a list:
# * levels: labels of the levels, the same for all columns.
# * codes: an integer vector per column.
encode_confidence <- function(columns, input) {
  is_all_missing <- map_lgl(columns, function(column) all(is.na(column)))
  abort_if(all(is_all_missing), "confidence", "{.arg confidence} has no values.",
    x = "All values of {.val {names(columns)}} are missing.", row = integer(),
    column = names(columns)[[1L]])
  known_columns <- columns[!is_all_missing]
  confidence_type <- unique(map_chr(known_columns, function(column) {
    if (is.ordered(column)) "ordered" else if (is.factor(column)) "a factor without an order" else
      if (is_plain(column, c("logical", "numeric"))) mode(column) else describe(column)
  }))
  abort_if(length(confidence_type) > 1L ||
    !confidence_type %in% c("ordered", "logical", "numeric"), "columns",
    "{.arg confidence} must be ordered factors, logicals or numbers in [0, 1], the same type in all
        columns.",
    x = sprintf("The columns are: %s.", escape_braces(toString(confidence_type))),
    i = "Give the levels, from low to high:
        {.code factor(x, c(\"unsure\", \"sure\"), ordered = TRUE)}.",
    arg = "confidence")
  if (confidence_type == "numeric") for (name in names(known_columns)) {
    confidence <- known_columns[[name]]
    check_values(confidence, is.na(confidence) | (confidence >= 0 & confidence <= 1), name,
      "confidence", "Numbers of {.arg confidence} must be in [0, 1].",
      i = "Divide percentages by 100. Convert grades such as 1 to 5 to an ordered factor:
          {.code factor(x, 1:5, ordered = TRUE)}.", rows = input$source)
  }
  columns[!is_all_missing] <- lapply(known_columns, function(confidence) {
    switch(confidence_type, ordered = confidence, logical = factor(confidence, c(FALSE, TRUE)),
      numeric = cut(confidence, c(confidence_level_limits, Inf), names(confidence_level_limits),
        right = FALSE))
  })
  level_sets <- unique(lapply(columns[!is_all_missing], levels))
  abort_if(length(level_sets) > 1L, "columns",
    "Columns of {.arg confidence} must have the same levels.",
    x = "One has {.val {level_sets[[1L]]}}, another {.val {level_sets[[2L]]}}.", arg = "confidence")
  levels <- level_sets[[1L]]
  abort_if(!length(levels) %in% 2:max_confidence_levels, "columns",
    "{.arg confidence} must have two to {max_confidence_levels} levels.",
    x = "It has {length(levels)}: {.val {levels}}.",
    i = if (length(levels) > max_confidence_levels)
      "Merge adjacent levels until {max_confidence_levels} are left.",
    arg = "confidence")
  Map(function(column, rating, name) {
    check_values(column, is.na(column) | !is.na(rating), name, "confidence",
      "{.arg confidence} must be {.code NA} where the rating is missing.",
      i = "Set these values to {.code NA}, or check that the columns of {.arg confidence} are in the
          order of {.arg raters}.",
      rows = input$source)
  }, columns, input$columns, names(columns))
  list(levels = levels, codes = lapply(columns, as.integer))
}

# Returns the code of the confidence of each rating, 0 if it is unknown.
confidence_of_ratings <- function(x, case, rater) {
  code <- codes_of_ratings(x, "confidence", case, rater)
  replace(code, is.na(code), 0L)
}

format_confidence <- function(x) {
  confidence <- x$confidence
  if (is.null(confidence)) return(NULL)
  level_counts <- tabulate(confidence$code, length(confidence$levels))
  paste0(
    "Confidence: ", paste0(
      confidence$levels, " (", percent(level_counts / sum(level_counts)), ")", collapse = " < "
    ),
    count_clause(n_ratings(x) - sum(level_counts), "rating", "without")
  )
}

# ---- Records -------------------------------------------------------------------------------------

# Records of all roles. The name of a record is an argument of ratings(). R reads the files of the
# package in alphabetical order, so a record may use functions of later files only inside
# `function(...)`.
rating_roles <- list(
  confidence = new_rating_role(encode_confidence, function(levels) ordered(levels, levels))
)
