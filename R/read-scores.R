# Scores of systems: argument `scores` of ratings(). They are stored by case, and not in patterns,
# because few cases have equal scores.

# The probabilities of a case may differ from a sum of 1 by this number times the number of
# categories. It allows for probabilities that are rounded to two digits.
sum_tolerance <- 0.005

score_columns <- c("case", "system", "category", "score")

# Adds the field `scores` to `x`, a list: `scale` ("probability" or "order"), and `values`, which
# contains a matrix of cases x categories for each system with scores, NA for cases without scores.
# `options$scores`: the user's argument. `by_rating`: does `data` have a row per rating?
add_scores <- function(x, options, data, by_rating) {
  scores <- options$scores
  if (is.null(scores)) return(x)
  abort_argument_if(has_labels(x), "scores",
    "{.arg scores} cannot be used for answers with several labels.",
    i = "Leave {.arg scores} out.")
  scale <- "probability"
  # An element `scale` of a list of scores is the scale, unless its value has names: these are
  # categories, and `scale` is the name of a system.
  if (!is.data.frame(scores) && is.list(scores) && "scale" %in% names(scores) &&
    is.null(names(scores$scale))) {
    scale <- check_choice(scores$scale, c("probability", "order"), "scale")
    scores <- scores[names(scores) != "scale"]
    if (length(scores) == 1L && is.data.frame(scores[[1L]])) scores <- scores[[1L]]
  }
  table <- if (is.data.frame(scores)) {
    table_of_scores(x, scores)
  } else {
    columns_of_scores(x, scores, data, by_rating)
  }
  systems <- setNames(nm = intersect(x$systems, table$system))
  x$scores <- list(scale = scale, values = lapply(systems, scores_of_system, x, table, scale))
  warn_scores(x)
  x
}

# ---- Layouts -------------------------------------------------------------------------------------
# The two functions of this section return a list of vectors with an element per score: `at` (number
# of the case), `system`, `category` (label) and `score`.

# Scores in columns of wide data. `scores`: for each system, a character vector of columns of
# `data`, with the categories as names.
columns_of_scores <- function(x, scores, data, by_rating) {
  data <- as_columns(data)
  is_valid <- is.list(scores) && is_uniquely_named(scores) &&
    all(map_lgl(scores, function(columns) is.character(columns) && is_named(columns)))
  abort_argument_if(!is_valid, "scores",
    "must be a list with the systems as names, each a vector of columns with the categories as
        names.",
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
    unknown <- setdiff(scores[[system]], names(data))
    abort_if(unknown, "columns", "{.arg scores} must name columns of {.arg data}.",
      x = "{.arg data} has no column {.val {unknown}}, which {.arg scores} gives for system
          {.val {system}}.", arg = "scores")
    used_columns <- intersect(scores[[system]], c(x$raters, x$systems))
    abort_if(used_columns, "columns", "A column of {.arg data} can have only one role.",
      x = "{.val {used_columns}} {?is/are} named by {.arg scores} and contain{?s/} answers.",
      arg = "scores")
  }
  columns <- unlist(unname(scores))
  system <- rep(names(scores), lengths(scores))
  n_rows <- attr(data, "rows")
  list(
    at = rep(seq_len(n_rows), length(columns)), system = rep(system, each = n_rows),
    category = rep(names(columns), each = n_rows),
    score = unlist(Map(as_score, unclass(data)[columns], columns, system), use.names = FALSE)
  )
}

# Scores in a data frame with a row per case, system and category.
table_of_scores <- function(x, scores) {
  scores <- replace_key_columns(scores, names(x$keys))
  lacking <- setdiff(score_columns, names(scores))
  abort_if(lacking, "columns", "{.arg scores} must have columns {.val {score_columns}}.",
    x = "It lacks {.val {lacking}}; it has {.val {names(scores)}}.", arg = "scores")
  table <- lapply(plain_columns(scores)[score_columns], unfactor)
  check_identifiers(table$case, "scores$case")
  system <- as_label(table$system)
  check_scored_systems(unique(system), x)
  at <- match(as_label(table$case), as_label(x$cases))
  abort_if(anyNA(at), "case", "{.arg scores} must name cases of {.arg data}.",
    x = "{sum(is.na(at))} row{?s} name{?s/} other cases, first row {which(is.na(at))[[1L]]}: case
        {.val {as_label(table$case)[is.na(at)][[1L]]}}.", row = which(is.na(at)))
  list(
    at = at, system = system, category = as_label(table$category),
    score = as_score(table$score, "score", unique(system))
  )
}

check_scored_systems <- function(systems, x) {
  unknown <- setdiff(systems, x$systems)
  abort_if(unknown, "system", "{.arg scores} must belong to systems of {.arg data}.",
    x = "{.val {unknown}} {?is/are} not among {.arg systems}.",
    i = if (n_systems(x) > 0L) "The systems are {.val {x$systems}}." else "Also give the answers
        of these systems, as {.arg systems}.", system = unknown)
}

as_score <- function(column, name, system) {
  abort_if(!is.numeric(column) && !all(is.na(column)), "scores", "Scores must be numbers.",
    x = "Column {.val {name}} is {describe(column)}.", system = system, row = integer())
  as.double(column)
}

# ---- Checks --------------------------------------------------------------------------------------

# Matrix of the scores of a system, cases x categories. With two categories, scores of one of them
# are enough: those of the other are 1 - score or, on another scale, -score.
scores_of_system <- function(system, x, table, scale) {
  row <- which(table$system == system)
  scored <- unique(table$category[row])
  cells <- cbind(table$at[row], match(table$category[row], scored))
  repeated_row <- anyDuplicated(cells)
  abort_if(repeated_row > 0L, "repeat", "A system can give one score per case and category.",
    x = "Row {row[[repeated_row]]} of {.arg scores} is a second score of {.val {system}} for case
        {.val {as_label(x$cases[[cells[repeated_row, 1L]]])}} and category
        {.val {scored[[cells[repeated_row, 2L]]]}}.",
    case = x$cases[[cells[repeated_row, 1L]]], rater = system)
  unknown <- setdiff(scored, x$categories)
  abort_if(unknown, "category", "Scores must be of categories of {.arg data}.",
    x = "System {.val {system}} has scores of {.val {unknown}}.",
    i = "Categories are {.val {x$categories}}.", row = NA_integer_, column = system,
    found = unknown)
  unscored <- setdiff(x$categories, scored)
  is_one_of_two <- n_categories(x) == 2L && length(unscored) == 1L
  abort_if(length(unscored) > 0L && !is_one_of_two, "scores", "Every category needs a score.",
    x = "System {.val {system}} has no scores of {length(unscored)} of them: {.val {unscored}}.",
    i = "Add the scores of these categories. If there are only two categories, scores of one are
        enough.", system = system, row = integer())
  values <- matrix(NA_real_, length(x$cases), length(scored), dimnames = list(NULL, scored))
  values[cells] <- table$score[row]
  if (is_one_of_two) {
    values <- cbind(values, if (scale == "probability") 1 - values else -values)
    colnames(values)[[2L]] <- unscored
  }
  values <- values[, x$categories, drop = FALSE]
  check_scores(values, x, scale, system)
  if (scale == "probability") clip01(values) else values
}

rounding_error <- 1e-9 # probabilities may be outside [0, 1] by this amount

check_scores <- function(values, x, scale, system) {
  # Raises an error if `is_invalid` is TRUE for any case, and names the first such case. `detail`:
  # text that follows its name; it may contain {first}, the row of this case.
  fail_if <- function(is_invalid, message, detail = "", i = NULL) {
    row <- which(is_invalid)
    first <- row[1L] # nolint: object_usage.
    n <- count_noun(length(row), "case") # nolint: object_usage.
    abort_if(row, "scores", message,
      x = paste0("System \"{system}\": {n}, first \"{as_label(x$cases[first])}\"", detail, "."),
      i = i, system = system, row = row)
  }
  n_scores <- rowSums(!is.na(values))
  fail_if(
    n_scores > 0L & n_scores < ncol(values),
    "A case must have scores of all categories or of none."
  )
  is_probability <- scale == "probability"
  is_outside <- is.infinite(values) | (is_probability & abs(values - 0.5) > 0.5 + rounding_error)
  fail_if(
    rowSums(is_outside, na.rm = TRUE) > 0,
    if (is_probability) "Scores must be probabilities in [0, 1]." else "Scores must be finite.",
    ", which has {values[first, which(is_outside[first, ])[[1L]]]}",
    if (is_probability) "If they only order cases, add {.code scale = \"order\"} to the
      list {.arg scores}."
  )
  if (!is_probability) return()
  sums <- rowSums(values)
  fail_if(
    abs(sums - 1) > sum_tolerance * ncol(values) + rounding_error, "Probabilities of a case must sum to one.",
    ", which sums to {signif(sums[first], 4L)}",
    "If they are probabilities, divide them by their sum. If they only order cases, add
      {.code scale = \"order\"} to the list {.arg scores}."
  )
}

# Warns about probable mistakes: answers without scores, and systems whose scores are all equal.
warn_scores <- function(x) {
  answered <- case_answers(x) > 0L
  values <- x$scores$values
  n_without <- vapply(names(values), function(system) {
    sum(answered[, match(system, x$systems)] & is.na(values[[system]][, 1L]))
  }, 0L)
  n_without <- n_without[n_without > 0L]
  warn_if(n_without, "scores",
    "Some cases that systems answered have no scores, and are left out of metrics of scores.",
    x = "Cases without scores: {shorten(paste0(names(n_without), ' ', number(n_without)))}.",
    systems = names(n_without), cases = unname(n_without))
  constant <- names(Filter(function(v) {
    all(apply(v, 2L, function(v) n_distinct(v[!is.na(v)]) <= 1L))
  }, values))
  warn_if(constant, "scores",
    "All scores of {.val {constant}} are equal, and cannot order cases.", systems = constant,
    cases = NULL)
}

# ---- Subsets, tables and text of scores ---------------------------------------------------------

keep_scores <- function(scores, systems) {
  scores$values <- scores$values[intersect(systems, names(scores$values))]
  if (length(scores$values) > 0L) scores
}

# Tibble with a row per case, system and category: `case`, `system`, `category` and `score`.
score_table <- function(x) {
  n <- n_categories(x)
  # The first element gives a table without rows the right columns, if no system has scores.
  values <- c(list(matrix(0, 0L, n)), x$scores$values)
  stack_rows(seq_along(values), function(s) {
    at <- which(!is.na(values[[s]][, 1L]))
    tibble::tibble(
      case = rep(x$cases[at], each = n), system = rep(names(values)[[s]], n * length(at)),
      category = category_factor(rep(seq_len(n), length(at)), x),
      score = as.vector(t(values[[s]][at, , drop = FALSE]))
    )
  })
}

format_scores <- function(x) {
  n_scored <- vapply(x$scores$values, function(v) sum(!is.na(v[, 1L])), 0L)
  if (length(n_scored) > 0L) paste0(
    "Scores of ", shorten(paste0(names(n_scored), " (", number(n_scored), " cases)")), ", ",
    if (x$scores$scale == "probability") "probabilities" else "an order of cases only"
  )
}
