# What a fit in R works on: for each rating its pattern and its cell, a row of `judged` (who
# rated what kind of case) and a category; and for each pattern its weight and what its base rates
# depend on.

# `system`: number of a system that joins the raters, 0 for none; `known`: a category per pattern,
# where 0 is unknown; `base`: see formula_design().
family_data <- function(x, model, base, known = integer(), system = 0L) {
  given <- ratings_with_system(x, system, rating_levels(x, model))
  n <- n_patterns(x)
  covariates <- pattern_covariates(x)
  kept <- covariates_used(model)
  if (!is.null(kept)) covariates <- covariates[intersect(kept, names(covariates))]
  kind <- split_by(rep(1, n), covariates %||% matrix(0, n, 0L))
  key <- (kind[given$pattern] - 1) * length(given$raters) + given$rater
  row <- match(key, unique(key))
  first <- match(seq_len(max(row, 0L)), row)
  judged <- tibble::tibble(
    rater = factor(given$raters[given$rater[first]], given$raters),
    system = given$rater[first] > length(given$raters) - (system > 0L),
    covariates[given$pattern[first], ]
  )
  informative <- rated_patterns(x) | (seq_len(n) %in% which(known > 0L))
  weight <- pattern_weights(x)
  symbol <- given$category - 1L + length(x$categories) * given$level
  list(
    pattern = given$pattern, row = row, cell = row + symbol * length(first), level = given$level,
    judged = judged, categories = x$categories, patterns = n, weight = weight * informative,
    ratings = rowsum_codes(row, weight[given$pattern], length(first)),
    base = base$matrix, known = known
  )
}

# The pattern, rater, category and level of each rating, those of a system included (which has no
# level), pattern by pattern.
ratings_with_system <- function(x, system, level) {
  identity <- rater_identity(x)
  raters <- x$raters[unique(identity)]
  pattern <- rating_pattern(x)
  rater <- identity[rating_rater(x)]
  category <- rating_category(x)
  if (system > 0L) {
    answer <- pattern_answers(x)[, system]
    answered <- which(answer > 0L & rated_patterns(x))
    order <- order(c(pattern, answered))
    pattern <- c(pattern, answered)[order]
    rater <- c(rater, rep(length(raters) + 1L, length(answered)))[order]
    category <- c(category, answer[answered])[order]
    level <- c(level, rep(0L, length(answered)))[order]
    raters <- c(raters, x$systems[[system]])
  }
  list(pattern = pattern, rater = rater, category = category, level = level, raters = raters)
}

base_design <- function(x, model, like = NULL) {
  covariates <- pattern_covariates(x) %||% tibble::new_tibble(list(), nrow = n_patterns(x))
  formula_design(model$formulas$base_rates, covariates, like, "base_rates")
}

# Logarithms of the law, cells (rows within ratings) x classes (true categories within strata).
log_cells <- function(law, shape) {
  logs <- log(pmax(law, .Machine$double.xmin))
  abort_argument_if(prod(dim(logs)) != prod(shape), "law",
    "{.arg law} of the family of models must always return an array of the same shape.",
    x = "It returned {describe(law)}.", call = NULL)
  matrix(aperm(array(logs, shape), c(1L, 3L, 2L, 4L)), shape[[1L]] * shape[[3L]])
}

# The other way round, for counts.
as_law_array <- function(cells, shape) {
  aperm(array(cells, shape[c(1L, 3L, 2L, 4L)]), c(1L, 3L, 2L, 4L))
}
