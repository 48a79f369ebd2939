# Patterns: distinct rows of ratings and system answers, and of the `values` of cases that a
# computation distinguishes. Fields: start, rater, category (ratings of pattern p are entries
# start[p] + 1 ... start[p + 1]); answer (patterns x systems, 0 is none); raters and categories
# (their numbers); weight (sum over the cases of a pattern); values (a list of vectors with an entry
# per pattern: covariates by name, `.truth`, `.confidence`, `.abstained` or `.posterior`); and, with
# values, kind (a number for each combination of values). Other files pass patterns on, and access
# their fields only with the functions below. Their argument `x` is a ratings object or its
# patterns. Numbers per pattern are only valid for the patterns that they were computed for: see
# rows_for().

#' @srrstats {G3.0} distinct cases are compared as whole numbers
#' @srrstatsNA {G3.1, G3.1a} no covariance of data is estimated
#' @noRd
NULL

patterns_of <- function(x) x$patterns %||% x

# Number of categories that raters use; a group of cases may store the number for all cases.
used_categories <- function(x) x$panel$used %||% length(unique(rating_category(x)))

n_patterns <- function(x) length(patterns_of(x)$start) - 1L

# Number of ratings of each pattern.
pattern_lengths <- function(x) diff(patterns_of(x)$start)

# Patterns with at least one rating.
rated_patterns <- function(x) pattern_lengths(x) > 0L

# Patterns x systems: category of the system's answer, 0 without an answer.
pattern_answers <- function(x) patterns_of(x)$answer

# Pattern, rater and category of every rating.
rating_pattern <- function(x) rep.int(seq_len(n_patterns(x)), pattern_lengths(x))

rating_rater <- function(x) patterns_of(x)$rater

rating_category <- function(x) patterns_of(x)$category

# Numbers of the ratings of some patterns, pattern after pattern.
ratings_in <- function(x, pattern) {
  sequence(pattern_lengths(x)[pattern], from = patterns_of(x)$start[pattern] + 1L)
}

# Pattern of each case, and an example of the cases of a pattern; only for ratings objects.
pattern_of_case <- function(x) x$index

case_of_pattern <- function(x, pattern) x$cases[[match(pattern, pattern_of_case(x))]]

# One entry per rating, by default for all cases: number of the case, rater and category.
unfold_ratings <- function(x, pattern = pattern_of_case(x)) {
  at <- ratings_in(x, pattern)
  list(
    row = rep.int(seq_along(pattern), pattern_lengths(x)[pattern]), rater = rating_rater(x)[at],
    category = rating_category(x)[at]
  )
}

# Adds entries without a category, such as abstentions, to those of unfold_ratings(). All entries
# are sorted by case and rater. `code` is used as their category.
add_entries <- function(ratings, entries, code) {
  n <- length(entries$case)
  if (n == 0L) return(ratings)
  all <- Map(c, ratings, list(entries$case, entries$rater, rep(code, n)))
  lapply(all, `[`, order(all$row, all$rater))
}

# Number of cases, in total and by pattern, without weights. If a database has counted cases, an
# entry of `index` represents `times` cases.
n_cases <- function(x) if (is.null(x$times)) length(x$index) else sum(x$times)

pattern_times <- function(x) {
  if (!is.null(x$times)) return(core_pattern_weights(x$index, x$times, n_patterns(x)))
  as.double(tabulate(x$index, n_patterns(x)))
}

n_ratings <- function(x) sum(pattern_times(x) * pattern_lengths(x))

# Cases x systems: category of the system's answer, 0 without an answer.
case_answers <- function(x) pattern_answers(x)[pattern_of_case(x), , drop = FALSE]

# Patterns x categories: number of ratings in the category.
pattern_counts <- function(x) {
  rows <- n_patterns(x)
  columns <- n_categories(x)
  matrix(tabulate(rating_pattern(x) + (rating_category(x) - 1L) * rows, rows * columns), rows)
}

# Is each entry of these vectors, except the last one, equal to the next entry?
equals_next <- function(...) {
  Reduce(`&`, lapply(list(...), function(x) x[-1L] == x[-length(x)]))
}

# Patterns in which a rater has more than one rating, and the rater.
repeated_ratings <- function(x) {
  start <- patterns_of(x)$start
  rater <- rating_rater(x)
  twice <- which(equals_next(rater))
  twice <- twice[!twice %in% start] # the last rating of a pattern
  data.frame(pattern = findInterval(twice - 1L, start), rater = rater[twice])
}

# Are raters identified, with at most one rating per case?
rates_once <- function(x) !has_counts(x) && nrow(repeated_ratings(x)) == 0L

# Patterns x raters and systems: categories, NA without an answer.
answers_by_pattern <- function(x) {
  answers <- as.double(n_patterns(x)) * (n_raters(x) + n_systems(x))
  check_memory(answers, "answers of raters and systems", "Choose cases or raters.")
  out <- matrix(NA_integer_, n_patterns(x), n_raters(x))
  out[cbind(rating_pattern(x), rating_rater(x))] <- rating_category(x)
  cbind(out, replace(pattern_answers(x), pattern_answers(x) == 0L, NA))
}

# Number of ratings by each rater.
rater_totals <- function(x) {
  rowsum_codes(rating_rater(x), pattern_cases(x)[rating_pattern(x)], n_raters(x))
}

# The same, computed by the core.
ratings_of_raters <- function(x) core_rater_counts(x$patterns, pattern_weights(x))$ratings

# Number of cases that each row of the ratings represents.
weights_of_cases <- function(x) x$weights %||% rep(1, length(x$index))

# Order of patterns that depends only on their content, not on the order of cases. `truth` has a
# number for each pattern, or is empty.
order_of_patterns <- function(x, truth = integer()) {
  patterns <- seq_len(n_patterns(x))
  ratings <- split(
    paste(rating_rater(x), rating_category(x)), factor(rating_pattern(x), patterns)
  )
  answers <- split(t(pattern_answers(x)), rep(patterns, each = n_systems(x)))
  parts <- lapply(Filter(length, list(ratings, answers)), vapply, paste, "", collapse = " ")
  do.call(order, c(
    unname(parts), Filter(length, list(truth, patterns_of(x)$kind)), method = "radix"
  ))
}

# ---- New patterns -------------------------------------------------------------------------------

# Sets the patterns that the core found, and the pattern of each case. These patterns distinguish
# only ratings and answers. The core does not know the numbers of raters and categories.
set_core_patterns <- function(x, core) {
  x$index <- core$index
  core$index <- NULL
  x$patterns <- c(core, raters = n_raters(x), categories = n_categories(x))
  weigh_patterns(x)
}

# Sets the weight of each pattern from `weights` of cases (NULL: each case counts once).
weigh_patterns <- function(x, weights = x$weights) {
  x["weights"] <- list(weights)
  x$patterns$weight <- core_pattern_weights(x$index, weights, n_patterns(x))
  x
}

# Selects patterns; a pattern may be selected several times.
pick_patterns <- function(patterns, chosen) {
  at <- ratings_in(patterns, chosen)
  patterns$start <- as.integer(c(0L, cumsum(pattern_lengths(patterns)[chosen])))
  patterns$rater <- patterns$rater[at]
  patterns$category <- patterns$category[at]
  patterns$answer <- patterns$answer[chosen, , drop = FALSE]
  patterns["values"] <- list(lapply(patterns$values, `[`, chosen))
  patterns$kind <- patterns$kind[chosen] # NULL stays NULL
  patterns$weight <- NULL # depends on the cases
  patterns
}

# Numbers the distinct values of patterns, in an order that does not depend on the order of cases.
number_kinds <- function(patterns) {
  values <- patterns$values
  patterns$kind <- if (length(values) > 0L) {
    kind <- split_by(rep(1, n_patterns(patterns)), values)
    first <- which(!duplicated(kind))
    match(kind, do.call(order, c(lapply(unname(values), `[`, first), method = "radix")))
  }
  patterns
}

# Splits patterns by `values`, a named list of vectors with an entry per case, and stores the
# values.
split_patterns <- function(x, values) {
  if (length(values) == 0L) return(x)
  index <- split_by(x$index, values)
  first <- which(!duplicated(index))
  patterns <- pick_patterns(x$patterns, x$index[first])
  patterns$values[names(values)] <- lapply(values, `[`, first)
  set_patterns(x, patterns, index)
}

# Replaces the patterns of `x`, and numbers their values. `index`: pattern of each case.
set_patterns <- function(x, patterns, index) {
  x$patterns <- number_kinds(patterns)
  x$index <- index
  weigh_patterns(x)
}

# Joins patterns with the same ratings, answers and values. `by`: names of the values that are kept.
join_patterns <- function(x, by = names(x$patterns$values)) {
  x$patterns$values <- x$patterns$values[by]
  same <- core_patterns_subset(x$patterns, seq_len(n_patterns(x)), seq_along(x$raters))$index
  same <- split_by(same, x$patterns$values)
  set_patterns(x, pick_patterns(x$patterns, which(!duplicated(same))), same[x$index])
}

# Numbers from 1, in order of appearance, for each combination of `index` and the elements of the
# list `values`.
split_by <- function(index, values) {
  for (value in values) {
    distinct <- unique(value)
    index <- core_split(index, match(value, distinct), length(distinct))
  }
  index
}

# First case of each pattern.
first_cases <- function(x) match(seq_len(n_patterns(x)), x$index)

# For each pattern of `x`, the pattern of `from` with the same cases. Both must have the same cases.
rows_for <- function(from, x) {
  abort_if(length(from$index) != length(x$index), "core",
    "Numbers of patterns were asked for other cases than those they belong to.",
    i = "This is a bug: please report it.")
  from$index[first_cases(x)]
}

# Keeps some systems of patterns. Several patterns may then be equal.
pick_systems <- function(patterns, systems) {
  patterns$answer <- patterns$answer[, systems, drop = FALSE]
  patterns
}

# Recodes the answers of systems; NA in `category` removes an answer.
recode_answers <- function(x, category) {
  category[is.na(category)] <- 0L
  x$patterns$answer[] <- c(0L, category)[x$patterns$answer + 1L]
  x
}

recode_ratings <- function(x, category, categories) {
  x$patterns$category <- category[x$patterns$category]
  x$patterns$categories <- length(categories)
  x$categories <- categories
  recode_answers(x, category)
}

recode_raters <- function(x, rater, raters) {
  x$patterns$rater <- rater[x$patterns$rater]
  x$patterns$raters <- length(raters)
  if (!is.null(x$confidence)) x$confidence$rater <- rater[x$confidence$rater]
  if (has_abstentions(x)) x$abstained$rater <- rater[x$abstained$rater]
  x$raters <- raters
  x
}

# ---- Weights ------------------------------------------------------------------------------------

# Weight of each pattern; without weights the number of its cases. Computed by weigh_patterns().
pattern_weights <- function(x) x$patterns$weight

# Are weights numbers of cases? Otherwise they are probabilities, and cases cannot be resampled.
weights_are_counts <- function(x) is.null(x$weights) || all(x$weights == round(x$weights))

# Number of cases of each pattern: the sum of their weights if these are counts, otherwise
# the number of rows with a positive weight.
pattern_cases <- function(x) {
  if (!is.null(x$weights) && weights_are_counts(x)) return(pattern_weights(x))
  tabulate(if (is.null(x$weights)) x$index else x$index[x$weights > 0], n_patterns(x))
}

# Total number of cases over the `chosen` patterns.
count_cases <- function(x, chosen = TRUE) sum(pattern_cases(x)[chosen])

# A row per pattern: a factor for each rater or, if raters are exchangeable or rate a case more
# than once, a number of ratings for each category; then systems, covariates, and `n`.
pattern_table <- function(x) {
  x <- split_patterns(x, x$covariates)
  ratings <- if (rates_once(x)) {
    lapply(split_columns(answers_by_pattern(x), x$raters), category_factor, x = x)
  } else {
    split_columns(pattern_counts(x), x$categories)
  }
  systems <- lapply(split_columns(pattern_answers(x), x$systems), function(code) {
    category_factor(replace(code, code == 0L, NA), x)
  })
  columns <- c(ratings, systems, pattern_covariates(x))
  abort_argument_if("n" %in% names(columns) || anyDuplicated(names(columns)) > 0L, "x",
    "The columns of the table must have different names, and none may be {.val n}.",
    x = "They would be {.val {names(columns)}}.")
  tibble::new_tibble(c(columns, list(n = pattern_weights(x))), nrow = n_patterns(x))
}

split_columns <- function(matrix, names) {
  setNames(lapply(seq_along(names), function(j) matrix[, j]), names)
}

# Probability that a binomial number is at least `number`; weighted numbers need not be whole.
at_least <- function(number, size, probability) {
  stats::pbeta(probability, number, pmax(size - number, 0) + 1)
}
