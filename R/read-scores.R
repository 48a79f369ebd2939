# Scores of systems: argument `scores` of ratings(). They are stored by case, separate from
# patterns.

# Largest distance of a sum of probabilities from one, per category: the effect of rounding to two
# digits.
sum_tolerance <- 0.005

score_columns <- c("case", "system", "category", "score")

# Adds `scores` to `x`: a list of `scale` and `values`, a matrix of cases x categories for each
# system that has scores, NA for cases without scores. `given$scores`: the user's argument;
# `by_rating`: does `data` have a row per rating?
add_scores <- function(x, given, data, by_rating) {
  scores <- given$scores
  if (is.null(scores)) return(x)
  abort_argument_if(has_labels(x), "scores",
    "{.arg scores} are of systems that choose one category, and answers here have several.",
    i = "{.fun single_label} makes ratings with one label.")
  scale <- "probability"
  # A list of scores may have a `scale`. A system called "scale" has columns with names.
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
  systems <- intersect(x$systems, unique(table$system))
  values <- lapply(rlang::set_names(systems), scores_of_system, x, table, scale)
  x$scores <- list(scale = scale, values = values)
  warn_scores(x)
  x
}

# ---- Layouts -------------------------------------------------------------------------------------
# Lists of `at` (number of a case), `system`, `category` and `score`.

# Columns of wide data: for each system a character vector, columns with categories as names.
columns_of_scores <- function(x, scores, data, by_rating) {
  data <- as_columns(data)
  ok <- is.list(scores) && has_unique_names(scores) &&
    all(vapply(scores, function(columns) is.character(columns) && rlang::is_named(columns), NA))
  abort_argument_if(!ok, "scores",
    "must say for each system which column of {.arg data} has the score of which category.",
    not = scores, i = c(
      "For example scores = list({c(x$systems, 'system')[[1L]]} =
        c(\"{x$categories[[n_categories(x)]]}\" = \"column\")); of two categories one is enough.",
      "Long data have a data frame of columns {.val {score_columns}}."
    ))
  check_scored_systems(names(scores), x)
  abort_argument_if(by_rating, "scores", "Scores in columns need wide data, with a row per case.",
    i = "Give a data frame of columns {.val {score_columns}}.")
  for (system in names(scores)) {
    unknown <- setdiff(scores[[system]], names(data))
    abort_if(unknown, "columns", "{.arg scores} must name columns of {.arg data}.",
      x = "There is no {.val {unknown}}, named for system {.val {system}}.", arg = "scores")
    taken <- intersect(scores[[system]], c(x$raters, x$systems))
    abort_if(taken, "columns", "A column of {.arg data} can have only one role.",
      x = "{.val {taken}} {?is/are} named by {.arg scores} and hold{?s/} answers.", arg = "scores")
  }
  columns <- unlist(unname(scores))
  system <- rep(names(scores), lengths(scores))
  n <- attr(data, "rows")
  list(
    at = rep(seq_len(n), length(columns)), system = rep(system, each = n),
    category = rep(names(columns), each = n),
    score = unlist(Map(as_score, unclass(data)[columns], columns, system), use.names = FALSE)
  )
}

# A data frame with a row per case, system and category.
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
    x = "{sum(is.na(at))} row{?s} {?is/are} not, first row {which(is.na(at))[[1L]]} of case
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
    i = if (n_systems(x) > 0L) "They are {.val {x$systems}}." else "Give {.arg systems} with
        the answers that go with the scores.", system = unknown)
}

as_score <- function(column, name, system) {
  abort_if(!is.numeric(column) && !all(is.na(column)), "scores", "Scores must be numbers.",
    x = "Column {.val {name}} is {describe(column)}.", system = system, row = integer())
  as.double(column)
}

# ---- Checks --------------------------------------------------------------------------------------

# Cases x categories. With two categories, the score of one gives the score of the other.
scores_of_system <- function(system, x, table, scale) {
  row <- which(table$system == system)
  given <- unique(table$category[row])
  cell <- cbind(table$at[row], match(table$category[row], given))
  twice <- anyDuplicated(cell)
  abort_if(twice > 0L, "repeat", "A system can give one score per case and category.",
    x = "Row {row[[twice]]} of {.arg scores} repeats that of system {.val {system}}, case
        {.val {as_label(x$cases[[cell[twice, 1L]]])}}, {.val {given[[cell[twice, 2L]]]}}.",
    case = x$cases[[cell[twice, 1L]]], rater = system)
  unknown <- setdiff(given, x$categories)
  abort_if(unknown, "category", "Scores must be of categories of {.arg data}.",
    x = "System {.val {system}} has scores of {.val {unknown}}.",
    i = "Categories are {.val {x$categories}}.", row = NA_integer_, column = system,
    found = unknown)
  lacking <- setdiff(x$categories, given)
  half <- n_categories(x) == 2L && length(lacking) == 1L
  abort_if(length(lacking) > 0L && !half, "scores", "Every category needs a score.",
    x = "System {.val {system}} has none for {length(lacking)} of them: {.val {lacking}}.",
    i = "Add the scores of these categories. If there are only two categories, scores of one are
        enough.", system = system, row = integer())
  values <- matrix(NA_real_, length(x$cases), length(given), dimnames = list(NULL, given))
  values[cell] <- table$score[row]
  if (half) {
    values <- cbind(values, if (scale == "probability") 1 - values else -values)
    colnames(values)[[2L]] <- lacking
  }
  values <- values[, x$categories, drop = FALSE]
  check_scores(values, x, scale, system)
  values
}

check_scores <- function(values, x, scale, system) {
  # `detail` may contain expressions of `first`, the row of the first wrong case.
  refuse <- function(wrong, message, detail = "", i = NULL) {
    row <- which(wrong)
    first <- row[1L] # nolint: object_usage.
    n <- count_noun(length(row), "case") # nolint: object_usage.
    abort_if(row, "scores", message,
      x = paste0("System \"{system}\": {n}, first \"{as_label(x$cases[first])}\"", detail, "."),
      i = i, system = system, row = row)
  }
  given <- rowSums(!is.na(values))
  refuse(given > 0L & given < ncol(values), "A case must have scores of all categories or of none.")
  probable <- scale == "probability"
  off <- is.infinite(values) | (probable & (values < 0 | values > 1))
  refuse(
    rowSums(off, na.rm = TRUE) > 0,
    if (probable) "Scores must be probabilities in [0, 1]." else "Scores must be finite.",
    ", which has {values[first, which(off[first, ])[[1L]]]}",
    if (probable) "Scores on another scale only order cases: {.code scale = \"order\"} in
      {.arg scores}."
  )
  if (!probable) return()
  sums <- rowSums(values)
  refuse(
    abs(sums - 1) > sum_tolerance * ncol(values) + 1e-9, "Probabilities of a case must sum to one.",
    ", which sums to {signif(sums[first], 4L)}",
    "Divide them by their sum if that is what they mean; if not, they only order cases:
      {.code scale = \"order\"} in {.arg scores}."
  )
}

# Warns of scores that can be used but are probably mistakes.
warn_scores <- function(x) {
  answered <- case_answers(x) > 0L
  values <- x$scores$values
  without <- vapply(names(values), function(system) {
    sum(answered[, match(system, x$systems)] & is.na(values[[system]][, 1L]))
  }, 0L)
  without <- without[without > 0L]
  warn_if(without, "scores",
    "Some cases that systems answered have no score; metrics of scores leave them out.",
    x = "Cases of {shorten(paste0(names(without), ': ', number(without)))}",
    systems = names(without), cases = unname(without))
  constant <- names(Filter(function(v) {
    all(apply(v, 2L, function(v) length(unique(v[!is.na(v)])) <= 1L))
  }, values))
  warn_if(constant, "scores",
    "All scores of {.val {constant}} are equal, so they order no cases.", systems = constant,
    cases = NULL)
}

# ---- Subsets, tables and text of scores ---------------------------------------------------------

subset_scores <- function(x, keep_case) {
  x$scores$values <- lapply(x$scores$values, function(v) v[keep_case, , drop = FALSE])
  x
}

keep_scores <- function(scores, systems) {
  scores$values <- scores$values[intersect(systems, names(scores$values))]
  if (length(scores$values) > 0L) scores
}

# A row per case, system and category.
score_table <- function(x) {
  n <- n_categories(x)
  values <- c(list(matrix(0, 0L, n)), x$scores$values) # without systems, a table without rows
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
  if (!is.null(x$scores)) {
    scored <- vapply(x$scores$values, function(v) sum(!is.na(v[, 1L])), 0L)
    paste0(
      "Scores of ", shorten(paste0(names(scored), " (", number(scored), " cases)")), ", ",
      if (x$scores$scale == "probability") "probabilities" else "an order of cases only"
    )
  }
}

abort_scores_of_table <- function() {
  abort_argument("scores", "{.arg scores} are of single cases, and a table of counts has none.",
    i = "Give a data frame with a row per case.")
}
