# Scores of systems: argument `scores` of ratings(). Scores are stored by case and not in patterns,
# because few cases have equal scores.

# Tolerance for the sum of the probabilities of a case. The sum may differ from 1 by this number
# times the number of categories, because probabilities may be rounded to two digits.
sum_tolerance <- 0.005

score_columns <- c("case", "system", "category", "score")

# Adds the field `scores` to the ratings `x`, a list:
# * scale: "probability" or "order".
# * values: for each system with scores, a matrix of cases x categories, NA for cases without
#   scores.
#
# `options$scores` is the user's argument. `by_rating`: does `data` have a row per rating?
add_scores <- function(x, options, data, by_rating) {
  scores <- options$scores
  if (is.null(scores)) return(x)
  abort_argument_if(has_labels(x), "scores",
    "{.arg scores} cannot be used for answers with several labels.",
    i = "Leave {.arg scores} out.")
  scale <- "probability"
  # The element `scale` of a list is the scale of all scores. If the element has names (categories),
  # it is instead the scores of a system called "scale".
  if (!is.data.frame(scores) && is.list(scores) && "scale" %in% names(scores) &&
    !has_names(scores$scale)) {
    scale <- check_choice(scores$scale, c("probability", "order"), "scale")
    scores <- scores[names(scores) != "scale"]
    if (length(scores) == 1L && is.data.frame(scores[[1L]])) scores <- scores[[1L]]
  }
  long_scores <- if (is.data.frame(scores)) table_of_scores(x, scores) else
    columns_of_scores(x, scores, data, by_rating)
  systems <- setNames(nm = intersect(x$systems, long_scores$system))
  x$scores <- list(scale = scale, values = lapply(systems, scores_of_system, x, long_scores, scale))
  warn_scores(x)
  x
}

# ---- Layouts -------------------------------------------------------------------------------------
# The two functions of this section return a list of vectors with an element per score:
# * case_number: number of the case.
# * system: name of the system.
# * category: label of the category.
# * score: the score.

# Reads scores in columns of wide data. `scores`: a list named by system. Each element is a vector
# of column names, named by category.
columns_of_scores <- function(x, scores, data, by_rating) {
  data <- as_columns(data)
  is_valid <- is.list(scores) && is_uniquely_named(scores) &&
    all(map_lgl(scores, function(columns) is.character(columns) && is_named(columns)))
  abort_argument_if(!is_valid, "scores",
    "must be a list with one element per system, named by system. Each element is a character
        vector of column names, named by category.",
    not = scores, i = c(
      "For example, scores = list({c(x$systems, 'system')[[1L]]} =
        c(\"{x$categories[[n_categories(x)]]}\" = \"column\")). With two categories, one column is
        enough.",
      "For long data, give a data frame with columns {.val {score_columns}}."
    ))
  check_scored_systems(names(scores), x)
  abort_argument_if(by_rating, "scores",
    "{.arg scores} can name columns only in wide data, with a row per case.",
    i = "Give {.arg scores} as a data frame with the columns {.val {score_columns}}.")
  for (system in names(scores)) {
    unknown_columns <- setdiff(scores[[system]], names(data))
    abort_if(unknown_columns, "columns", "{.arg scores} must name columns of {.arg data}.",
      x = "{.arg data} has no column {.val {unknown_columns}}, which {.arg scores} gives for system
          {.val {system}}.", arg = "scores")
    used_columns <- intersect(scores[[system]], c(x$raters, x$systems))
    abort_if(used_columns, "columns", "A column of {.arg data} can have only one role.",
      x = "{cli::qty(used_columns)}Column{?s} {.val {used_columns}} {?is/are} given both in
          {.arg scores} and as {?a column/columns} of a rater or system.",
      i = "Select only columns of ratings in {.arg raters}, and of answers in {.arg systems}.",
      arg = "scores")
  }
  columns <- unlist(unname(scores))
  system <- rep(names(scores), lengths(scores))
  n_rows <- attr(data, "rows")
  list(
    case_number = rep(seq_len(n_rows), length(columns)), system = rep(system, each = n_rows),
    category = rep(names(columns), each = n_rows),
    score = unlist(Map(as_score, unclass(data)[columns], columns, system), use.names = FALSE)
  )
}

# Reads scores in a data frame with a row per case, system and category.
table_of_scores <- function(x, scores) {
  scores <- replace_key_columns(scores, names(x$keys))
  lacking_columns <- setdiff(score_columns, names(scores))
  abort_if(lacking_columns, "columns", "{.arg scores} must have columns {.val {score_columns}}.",
    x = "It lacks {.val {lacking_columns}}; it has {.val {names(scores)}}.", arg = "scores")
  table <- lapply(plain_columns(scores)[score_columns], unfactor)
  check_identifiers(table$case, "scores$case")
  table[c("case", "system", "category")] <- lapply(table[1:3], as_label)
  check_scored_systems(unique(table$system), x)
  case_number <- match(table$case, as_label(x$cases))
  unknown_rows <- which(is.na(case_number))
  abort_if(unknown_rows, "case", "{.arg scores} must name cases of {.arg data}.",
    x = "{length(unknown_rows)} row{?s} name{?s/} other cases, first row {unknown_rows[[1L]]}: case
        {.val {table$case[[unknown_rows[[1L]]]]}}.", row = unknown_rows)
  table$score <- as_score(table$score, "score", unique(table$system))
  c(list(case_number = case_number), table)
}

check_scored_systems <- function(systems, x) {
  unknown_systems <- setdiff(systems, x$systems)
  abort_if(unknown_systems, "system", "{.arg scores} must belong to systems of {.arg data}.",
    x = "{.val {unknown_systems}} {?is/are} not among {.arg systems}.",
    i = if (n_systems(x) > 0L) "The systems are {.val {x$systems}}." else "Also give the answers
        of these systems, as {.arg systems}.", system = unknown_systems)
}

as_score <- function(column, name, system) {
  abort_if(!is.numeric(column) && any_known(column), "scores", "Scores must be numbers.",
    x = "Column {.val {name}} is {describe(column)}.", system = system, row = integer())
  as.double(column)
}

# ---- Checks --------------------------------------------------------------------------------------

# Returns the scores of a system as a matrix (cases x categories). With two categories, scores of
# one category are enough. The scores of the other category are then 1 - score for probabilities,
# and -score otherwise. `table`: the scores of all systems, from columns_of_scores() or
# table_of_scores().
scores_of_system <- function(system, x, table, scale) {
  rows <- which(table$system == system)
  scored_labels <- unique(table$category[rows])
  cell_positions <- cbind(table$case_number[rows], match(table$category[rows], scored_labels))
  repeated_row <- anyDuplicated(cell_positions)
  repeated_cell <- cell_positions[repeated_row, ]
  abort_if(repeated_row > 0L, "repeat", "A system can give one score per case and category.",
    x = "Row {rows[[repeated_row]]} of {.arg scores} is a second score of {.val {system}} for case
        {.val {as_label(x$cases[[repeated_cell[[1L]]]])}} and category
        {.val {scored_labels[[repeated_cell[[2L]]]]}}.",
    case = x$cases[[repeated_cell[[1L]]]], rater = system)
  unknown_categories <- setdiff(scored_labels, x$categories)
  abort_if(unknown_categories, "category", "Scores must be of categories of {.arg data}.",
    x = "System {.val {system}} has scores of {.val {unknown_categories}}.",
    i = "Categories are {.val {x$categories}}.", row = NA_integer_, column = system,
    found = unknown_categories)
  missing_labels <- setdiff(x$categories, scored_labels)
  lacks_one_category <- n_categories(x) == 2L && length(missing_labels) == 1L
  abort_if(!is_empty(missing_labels) && !lacks_one_category, "scores",
    "Every category needs a score.",
    x = "System {.val {system}} has no scores of {length(missing_labels)} of them:
        {.val {missing_labels}}.",
    i = "Add the scores of these categories. If there are only two categories, scores of one are
        enough.", system = system, row = integer())
  score_matrix <- matrix(NA_real_, length(x$cases), length(scored_labels))
  score_matrix[cell_positions] <- table$score[rows]
  if (lacks_one_category) score_matrix <-
    cbind(score_matrix, if (scale == "probability") 1 - score_matrix else -score_matrix)
  colnames(score_matrix) <- c(scored_labels, missing_labels)
  score_matrix <- score_matrix[, x$categories, drop = FALSE]
  check_scores(score_matrix, x, scale, system)
  if (scale == "probability") clip01(score_matrix) else score_matrix
}

rounding_tolerance <- 1e-9 # probabilities may be outside [0, 1] by this amount

check_scores <- function(values, x, scale, system) {
  # Fails if `is_invalid` is TRUE for any case, and names the first such case. `detail`: text that
  # follows the name of the case. It may contain {invalid_case}, the number of the case.
  fail_if <- function(is_invalid, message, detail = "", i = NULL) {
    invalid_cases <- which(is_invalid)
    invalid_case <- invalid_cases[1L] # nolint: object_usage.
    abort_if(invalid_cases, "scores", message,
      x = paste0("This is wrong in {count_noun(length(invalid_cases), 'case')} of system
        \"{system}\", first in case \"{as_label(x$cases[invalid_case])}\"", detail, "."),
      i = i, system = system, row = invalid_cases)
  }
  n_scores <- rowSums(!is.na(values))
  fail_if(
    n_scores > 0L & n_scores < ncol(values),
    "A case must have scores of all categories or of none."
  )
  if (scale == "order") {
    fail_if(rowSums(is.infinite(values)) > 0, "Scores must be finite.",
      ", which has {values[invalid_case, which(is.infinite(values[invalid_case, ]))[[1L]]]}")
    return()
  }
  scale_hint <- "If they only order cases, add {.code scale = \"order\"} to the list {.arg scores}."
  is_outside <- abs(values - 0.5) > 0.5 + rounding_tolerance
  fail_if(
    rowSums(is_outside, na.rm = TRUE) > 0, "Scores must be probabilities in [0, 1].",
    ", which has {values[invalid_case, which(is_outside[invalid_case, ])[[1L]]]}", scale_hint
  )
  probability_sums <- rowSums(values)
  fail_if(
    abs(probability_sums - 1) > sum_tolerance * ncol(values) + rounding_tolerance,
    "Probabilities of a case must sum to one.",
    ", which sums to {signif(probability_sums[invalid_case], 4L)}",
    paste("If they are probabilities, divide them by their sum.", scale_hint)
  )
}

# Warns about answers without scores, and about systems whose scores are all equal.
warn_scores <- function(x) {
  has_answer <- case_answers(x) > 0L
  score_matrices <- x$scores$values
  n_unscored <- map_int(names(score_matrices), function(system) {
    sum(has_answer[, match(system, x$systems)] & is.na(score_matrices[[system]][, 1L]))
  })
  n_unscored <- n_unscored[n_unscored > 0L]
  warn_if(n_unscored, "scores",
    "Some cases that systems answered have no scores, and are left out of metrics of scores.",
    x = "Cases without scores:
        {shorten(paste0(names(n_unscored), ' (', number(n_unscored), ')'))}.",
    systems = names(n_unscored), cases = unname(n_unscored))
  constant_systems <- names(Filter(function(scores) {
    all(apply(scores, 2L, function(column) n_distinct(column[!is.na(column)]) <= 1L))
  }, score_matrices))
  warn_if(constant_systems, "scores",
    "All scores of {.val {constant_systems}} are equal, so they cannot order cases.",
    systems = constant_systems,
    cases = NULL)
}

# ---- Subsets, tables and text of scores ---------------------------------------------------------

keep_scores <- function(scores, systems) {
  scores$values <- scores$values[intersect(systems, names(scores$values))]
  if (!is_empty(scores$values)) scores
}

# Returns a tibble with a row per case, system and category.
score_table <- function(x) {
  category_count <- n_categories(x)
  # The first element is an empty matrix, so that the table has its columns if no system has scores.
  score_matrices <- c(list(matrix(0, 0L, category_count)), x$scores$values)
  stack_rows(seq_along(score_matrices), function(i) {
    scored_cases <- which(!is.na(score_matrices[[i]][, 1L]))
    tibble(
      case = rep(x$cases[scored_cases], each = category_count),
      system = rep(names(score_matrices)[[i]], category_count * length(scored_cases)),
      category = category_factor(rep(seq_len(category_count), length(scored_cases)), x),
      score = as.vector(t(pick_rows(score_matrices[[i]], scored_cases)))
    )
  })
}

format_scores <- function(x) {
  n_scored <- map_int(x$scores$values, function(scores) sum(!is.na(scores[, 1L])))
  if (!is_empty(n_scored)) paste0(
    "Scores of ", shorten(paste0(names(n_scored), " (", number(n_scored), " cases)")), ", ",
    if (x$scores$scale == "probability") "probabilities" else "an order of cases only"
  )
}
