# Patterns: all cases with the same ratings and the same answers of systems form one pattern.
# Patterns can be split further by values of cases, such as covariates. The field `patterns` of a
# ratings object is a list:
# * start, rater, category: the ratings of pattern p are elements start[p] + 1 to start[p + 1] of
#   `rater` and `category`.
# * answer: codes of the answers of systems (patterns x systems), 0 without an answer.
# * raters, categories: number of raters and number of categories.
# * weight: sum of the weights of the cases of each pattern.
# * values: a list of vectors with an element per pattern, by which patterns are split. Names are
#   those of covariates, or `.truth`, `.confidence`, `.abstained` or `.posterior`.
# * kind: for each pattern, the number of its combination of `values`; NULL without values.
#
# Other files access these fields only with the functions below. The argument `x` of these functions
# is a ratings object or its patterns.

#' @srrstats {G3.0} distinct cases are compared as whole numbers
#' @srrstatsNA {G3.1, G3.1a} no covariance of data is estimated
#' @noRd
NULL

# Returns the patterns of `x`, which is a ratings object or already the patterns.
patterns_of <- function(x) x$patterns %||% x

# Returns the number of categories that raters use. If `x` contains only a part of the cases,
# `x$panel` may contain the number of categories that raters use in all cases.
count_used_categories <- function(x) x$panel$used %||% n_distinct(rating_category(x))

n_patterns <- function(x) length(patterns_of(x)$start) - 1L

# Returns the number of ratings of each pattern.
pattern_lengths <- function(x) diff(patterns_of(x)$start)

# Does each pattern have at least one rating?
is_rated_pattern <- function(x) pattern_lengths(x) > 0L

# Returns the answers of systems as codes of categories (patterns x systems), 0 without an answer.
pattern_answers <- function(x) patterns_of(x)$answer

# The next three functions return vectors with an element per rating: the numbers of its pattern,
# rater and category.
rating_pattern <- function(x) rep.int(seq_len(n_patterns(x)), pattern_lengths(x))

rating_rater <- function(x) patterns_of(x)$rater

rating_category <- function(x) patterns_of(x)$category

# Returns the positions of the ratings of the given patterns in the vectors `rater` and `category`.
# `pattern`: numbers of patterns.
rating_positions <- function(x, pattern) {
  sequence(pattern_lengths(x)[pattern], from = patterns_of(x)$start[pattern] + 1L)
}

# pattern_of_case() returns the number of the pattern of each case. case_of_pattern() returns the
# identifier of the first case of a pattern. `x` must be a ratings object.
pattern_of_case <- function(x) x$index

case_of_pattern <- function(x, pattern) x$cases[[match(pattern, pattern_of_case(x))]]

# Lists the ratings of all cases. Returns a list of vectors with an element per rating: the number
# of its case (`row`), of its `rater` and of its `category`.
unfold_ratings <- function(x) {
  case_patterns <- pattern_of_case(x)
  positions <- rating_positions(x, case_patterns)
  list(
    row = rep.int(seq_along(case_patterns), pattern_lengths(x)[case_patterns]),
    rater = rating_rater(x)[positions],
    category = rating_category(x)[positions]
  )
}

# Adds entries without a category, such as abstentions, to a list of ratings. Sorts all entries by
# case and rater.
# * ratings: result of unfold_ratings().
# * entries: a list of the vectors `case` and `rater`.
# * category: code that is stored as the category of the added entries.
add_entries <- function(ratings, entries, category) {
  n_entries <- length(entries$case)
  if (n_entries == 0L) return(ratings)
  all_entries <- Map(c, ratings, list(entries$case, entries$rater, rep(category, n_entries)))
  lapply(all_entries, `[`, order(all_entries$row, all_entries$rater))
}

# n_cases() returns the number of cases, and n_cases_per_pattern() the number of cases of each
# pattern. Both ignore weights. If a database has counted the cases, element i of `x$index`
# represents `x$times[i]` cases.
n_cases <- function(x) if (is.null(x$times)) length(x$index) else sum(x$times)

n_cases_per_pattern <- function(x) {
  if (is.null(x$times)) as.double(tabulate(x$index, n_patterns(x))) else
    core_pattern_weights(x$index, x$times, n_patterns(x))
}

n_ratings <- function(x) sum(n_cases_per_pattern(x) * pattern_lengths(x))

# Returns the answers of systems as codes of categories (cases x systems), 0 without an answer.
case_answers <- function(x) pick_rows(pattern_answers(x), pattern_of_case(x))

# Returns the numbers of ratings in each category as a matrix (patterns x categories).
pattern_counts <- function(x) {
  n <- n_patterns(x)
  matrix(tabulate(rating_pattern(x) + (rating_category(x) - 1L) * n, n * n_categories(x)), n)
}

# Compares neighbouring elements of vectors of length n. Returns a logical vector of length n - 1:
# are elements i and i + 1 equal, in all vectors?
equals_next <- function(...) Reduce(`&`, lapply(list(...), function(x) x[-1L] == x[-length(x)]))

# Returns a data frame with the `pattern` and `rater` of repeated ratings. If a rater has m ratings
# in a pattern, there are m - 1 rows for them.
repeated_ratings <- function(x) {
  pattern_of_rating <- rating_pattern(x)
  rater_of_rating <- rating_rater(x)
  repeated_positions <- which(equals_next(pattern_of_rating, rater_of_rating))
  data.frame(
    pattern = pattern_of_rating[repeated_positions], rater = rater_of_rating[repeated_positions]
  )
}

# Do raters have names (unlike in counts of ratings), and does each rater rate a case at most once?
has_single_ratings <- function(x) !has_counts(x) && nrow(repeated_ratings(x)) == 0L

# Returns the answers of raters, then of systems, as codes of categories (patterns x judges). NA
# without an answer.
answers_by_pattern <- function(x) {
  n_cells <- as.double(n_patterns(x)) * (n_raters(x) + n_systems(x))
  check_memory(n_cells, "answers of raters and systems", "Use fewer cases or raters.")
  codes <- cbind(pattern_codes(x), pattern_answers(x))
  replace(codes, codes == 0L, NA)
}

# Returns the ratings as codes of categories (patterns x raters), 0 if missing.
pattern_codes <- function(x) {
  codes <- matrix(0L, n_patterns(x), n_raters(x))
  codes[cbind(rating_pattern(x), rating_rater(x))] <- rating_category(x)
  codes
}

# Returns all ratings as codes of categories, also repeated ratings by one rater, as a list:
# * codes: a matrix with a row per pattern. The first columns contain the first rating by each
#   rater, 0 if missing. Further columns contain second and later ratings.
# * rater: for each column, the index of its rater.
pattern_codes_with_repeats <- function(x) {
  n <- n_raters(x)
  # Index (1, 2, ...) of each rating among the ratings of the same pattern and rater, which are
  # next to each other.
  repeat_number <- sequence(rle(rating_pattern(x) + (rating_rater(x) - 1) * n_patterns(x))$lengths)
  column_of_rating <- rating_rater(x) + (repeat_number - 1L) * n
  used_columns <- union(seq_len(n), column_of_rating)
  codes <- matrix(0L, n_patterns(x), length(used_columns))
  codes[cbind(rating_pattern(x), match(column_of_rating, used_columns))] <- rating_category(x)
  list(codes = codes, rater = (used_columns - 1L) %% n + 1L)
}

# Returns the number of ratings by each rater. Weights are used only if they are whole numbers.
count_ratings_of_raters <- function(x) {
  rowsum_codes(rating_rater(x), pattern_cases(x)[rating_pattern(x)], n_raters(x))
}

# Returns the total weight of the ratings by each rater. Each rating has weight 1 by default.
ratings_of_raters <- function(x) core_rater_counts(x$patterns, pattern_weights(x))$ratings

# Returns the weight of each case, 1 if there are no weights.
weights_of_cases <- function(x) x$weights %||% rep(1, length(x$index))

# Returns the numbers of the patterns, sorted by ratings, answers, true categories and values of the
# patterns. The order is independent of the order of cases. `truth`: code of the true category of
# each pattern, or empty.
order_of_patterns <- function(x, truth) {
  pattern_numbers <- seq_len(n_patterns(x))
  ratings <- split(
    paste(rating_rater(x), rating_category(x)), factor(rating_pattern(x), pattern_numbers)
  )
  answers <- split(t(pattern_answers(x)), rep(pattern_numbers, each = n_systems(x)))
  sort_keys <- lapply(Filter(length, list(ratings, answers)), vapply, paste, "", collapse = " ")
  order_rows(c(sort_keys, Filter(length, list(truth, patterns_of(x)$kind))))
}

# Returns the order of the rows of a table, which is the same in every locale. `columns`: a list of
# vectors.
order_rows <- function(columns) do.call(order, c(unname(as.list(columns)), method = "radix"))

# ---- Changes of patterns ------------------------------------------------------------------------

# Replaces the fields `patterns` and `index` of the ratings `x`. `core`: patterns from the C++ core,
# which depend only on ratings and answers, not on other values of cases. The numbers of raters and
# categories are added here.
set_core_patterns <- function(x, core) {
  x$index <- core$index
  core$index <- NULL
  x$patterns <- c(core, raters = n_raters(x), categories = n_categories(x))
  weigh_patterns(x)
}

# Sets the weights of cases, and computes the weight of each pattern. NULL means that each case
# counts once.
weigh_patterns <- function(x, weights = x$weights) {
  x["weights"] <- list(weights)
  x$patterns$weight <- core_pattern_weights(x$index, weights, n_patterns(x))
  x
}

# Selects patterns by their numbers, which may be repeated. The result has no weights, because
# weights depend on the cases.
pick_patterns <- function(patterns, selected) {
  positions <- rating_positions(patterns, selected)
  patterns$start <- as.integer(c(0L, cumsum(pattern_lengths(patterns)[selected])))
  patterns$rater <- patterns$rater[positions]
  patterns$category <- patterns$category[positions]
  patterns$answer <- pick_rows(patterns$answer, selected)
  patterns["values"] <- list(lapply(patterns$values, `[`, selected))
  patterns$kind <- patterns$kind[selected] # NULL stays NULL
  patterns$weight <- NULL
  patterns
}

# Splits patterns, so that all cases of a pattern have the same values. Stores the values in the
# patterns. `values`: a named list of vectors with an element per case.
split_patterns <- function(x, values) {
  if (is_empty(values)) return(x)
  index <- number_combinations(values, x$index)
  first_case_of_pattern <- which(!duplicated(index))
  patterns <- pick_patterns(x$patterns, x$index[first_case_of_pattern])
  patterns$values[names(values)] <- lapply(values, `[`, first_case_of_pattern)
  set_patterns(x, patterns, index)
}

# Replaces the patterns of `x`. Sets their fields `weight` and `kind` (the number of the combination
# of values). `index`: number of the pattern of each case.
set_patterns <- function(x, patterns, index) {
  values <- patterns$values
  # Combinations are numbered in sorted order, so that numbers do not depend on the order of cases.
  patterns$kind <- if (!is_empty(values)) {
    combination_number <- number_combinations(values)
    distinct_combinations <- lapply(values, `[`, which(!duplicated(combination_number)))
    match(combination_number, order_rows(distinct_combinations))
  }
  x$patterns <- patterns
  x$index <- index
  weigh_patterns(x)
}

# Joins patterns that have the same ratings, answers and values. `kept_values`: names of the values
# that are kept; all other values are dropped.
join_patterns <- function(x, kept_values = names(x$patterns$values)) {
  x$patterns$values <- x$patterns$values[kept_values]
  all_patterns <- core_patterns_subset(x$patterns, seq_len(n_patterns(x)), seq_along(x$raters))
  new_pattern_numbers <- number_combinations(x$patterns$values, all_patterns$index)
  set_patterns(
    x, pick_patterns(x$patterns, which(!duplicated(new_pattern_numbers))),
    new_pattern_numbers[x$index]
  )
}

# Returns a number for each combination of the vectors in the list `values` and of the vector
# `index`. All vectors have the same length. Combinations are numbered from 1 in order of
# appearance.
number_combinations <- function(values, index = rep(1, length(values[[1L]]))) {
  for (vector in values) {
    distinct_values <- unique(vector)
    index <- core_number_pairs(index, match(vector, distinct_values), length(distinct_values))
  }
  index
}

# Returns the number of the first case of each pattern.
first_cases <- function(x) match(seq_len(n_patterns(x)), x$index)

# Returns, for each pattern of `x`, the number of the pattern of `from` that contains its first
# case. `x` and `from` must have the same cases. Used to apply results for the patterns of `from` to
# the patterns of `x`.
matching_patterns <- function(from, x) from$index[first_cases(x)]

# Keeps the systems with the numbers `systems`. Patterns that become equal are not joined.
pick_systems <- function(patterns, systems) {
  patterns$answer <- patterns$answer[, systems, drop = FALSE]
  patterns
}

# Recodes the answers of systems. `new_code`: new code of each category. NA removes the answers in
# this category.
recode_answers <- function(x, new_code) {
  new_code[is.na(new_code)] <- 0L
  x$patterns$answer[] <- c(0L, new_code)[x$patterns$answer + 1L]
  x
}

# Recodes ratings and answers of systems. `new_code`: new code of each category, a position in
# `new_categories` (labels).
recode_ratings <- function(x, new_code, new_categories) {
  x$patterns$category <- new_code[x$patterns$category]
  x$patterns$categories <- length(new_categories)
  x$categories <- new_categories
  recode_answers(x, new_code)
}

# Renumbers raters. `new_number`: new number of each rater, a position in `new_raters` (names).
recode_raters <- function(x, new_number, new_raters) {
  x$patterns$rater <- new_number[x$patterns$rater]
  x$patterns$raters <- length(new_raters)
  for (field in entry_fields(x)) x[[field]]$rater <- new_number[x[[field]]$rater]
  x$raters <- new_raters
  x
}

# ---- Weights ------------------------------------------------------------------------------------

# Returns the weight of each pattern: the sum of the weights of its cases. Without weights, it is
# the number of its cases.
pattern_weights <- function(x) x$patterns$weight

# Returns, for each rating, the weight of its pattern.
rating_weights <- function(x) pattern_weights(x)[rating_pattern(x)]

# Returns a list from the C++ core: the agreement of raters, and the estimates of the K-model, in
# which all raters have the same accuracy.
agreement_in_core <- function(x) core_fit_algebraic(x$patterns, pattern_weights(x))

# Are all weights whole numbers? They are then numbers of cases. Otherwise weights are
# probabilities, and cases cannot be resampled.
weights_are_counts <- function(x) is.null(x$weights) || all(x$weights == round(x$weights))

# Returns the number of cases of each pattern. If weights are whole numbers, the number of cases is
# the sum of the weights. Otherwise only cases with a positive weight are counted.
pattern_cases <- function(x) {
  if (!is.null(x$weights) && weights_are_counts(x)) return(pattern_weights(x))
  tabulate(if (is.null(x$weights)) x$index else x$index[x$weights > 0], n_patterns(x))
}

# Returns the number of cases in the given patterns, by default in all patterns.
count_cases <- function(x, patterns = TRUE) sum(pattern_cases(x)[patterns])

# Returns a table with a row per pattern. Columns:
# * a factor for each rater;
# * a factor for each system;
# * the covariates;
# * `n`, the weight of the pattern.
#
# If raters have no names, or rate a case more than once, the columns of raters are replaced by the
# counts of ratings in each category.
pattern_table <- function(x) {
  x <- split_patterns(x, x$covariates)
  ratings <- if (has_single_ratings(x)) {
    lapply(split_columns(answers_by_pattern(x), x$raters), category_factor, x = x)
  } else {
    split_columns(pattern_counts(x), x$categories)
  }
  codes <- replace(pattern_answers(x), pattern_answers(x) == 0L, NA)
  systems <- lapply(split_columns(codes, x$systems), category_factor, x = x)
  columns <- c(ratings, systems, pattern_covariates(x))
  abort_argument_if("n" %in% names(columns) || any_repeated(names(columns)), "x",
    "must have different names of raters and systems, and none may be {.val n}, which is the column
      of numbers of cases.",
    x = "The columns would be {.val {names(columns)}}.")
  new_tibble(c(columns, list(n = pattern_weights(x))), nrow = n_patterns(x))
}

split_columns <- function(matrix, names) {
  setNames(lapply(seq_along(names), function(j) matrix[, j]), names)
}

# Returns the probability that a binomial number of successes is at least `n_successes`. If cases
# have weights, `n_successes` and `n_trials` may be fractions. Therefore the beta distribution is
# used.
binomial_upper_tail <- function(n_successes, n_trials, probability) {
  pbeta(probability, n_successes, pmax(n_trials - n_successes, 0) + 1)
}

# Returns `is_used` with FALSE for patterns without ratings. Quantities that use a gold case
# without ratings stay unchanged, because their gold cases must be a sample of the used cases.
# * is_used: does a quantity depend on a pattern (patterns x quantities)?
# * is_rated: does each pattern have ratings?
# * gold_patterns: number of the pattern of each gold case.
drop_unrated <- function(is_used, is_rated, gold_patterns) {
  has_unrated_gold <- colSums(pick_rows(is_used & !is_rated, gold_patterns)) > 0
  is_used & (is_rated | rep(has_unrated_gold, each = nrow(is_used)))
}
