# Gold cases are cases whose true category is known. The functions in this file check the gold cases
# that a user gives, and how these cases were chosen.

#' Gold cases: cases with known truth
#'
#' Combines the true categories of some cases (*gold cases*) with information on how these cases
#' were sampled, for argument `known_truth` of [estimate_accuracy()] and other functions.
#'
#' @param truth The true categories; cases with `NA` or a blank are not gold cases.
#'   * A vector of categories named by case.
#'   * A data frame with columns `case` and `truth` (or `category`). It may be the completed table
#'     of cases that [plan_gold()] selected for labelling.
#'   * `TRUE` for the truth that is in the ratings (argument `truth` of [ratings()]).
#' @param sample How the cases were chosen.
#'   * `"random"`: a simple random sample.
#'   * The probability with which each case was chosen, in (0, 1]: a vector named by case, a data
#'     frame with columns `case` and `probability`, or the name of a column of `truth`.
#'   * `"given"`: chosen by hand. Such cases do not measure accuracy; they only improve the model of
#'     the raters.
#'   * `NULL`, the default: the column `probability` of `truth`. If there is none, like `"given"`,
#'     with a warning.
#' @param target The accuracy for which intervals are computed. `"population"` (the default): the
#'   accuracy in the population of which all cases of the ratings are a sample. `"cases"`: the
#'   accuracy on exactly the cases of the ratings; intervals are then narrower.
#' @param widen Used only for `interval = "combined"` of [estimate_accuracy()], which combines gold
#'   cases with a prior computed from the ratings. `NULL`, the default: the variance of the prior
#'   increases with the number of gold cases, and the prior is not used if gold cases contradict it.
#'   A number of at least 0: the prior is always used, and its variance is multiplied by a factor
#'   that rises from 1 (few gold cases) to `1 + widen` (many).
#' @param ... Not used; catches misspelt arguments.
#' @return An object of class `gold_cases`.
#'   * `tidy()`: a tibble with a row per gold case: `case` and `truth`. It has no rows if `truth` is
#'     `TRUE`.
#'   * `glance()`: a tibble with one row. `cases`: number of gold cases, `NA` if `truth` is `TRUE`.
#'     `gold_sample`: `"random"`, `"given"`, `"probability"` or, for `NULL`, `"undeclared"`.
#'     `target`; `widen`, `NA` for `NULL`.
#'   * `format()`: a string with these values.
#' @family gold cases
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8), n = 500))
#'
#' # The truth of 60 random cases
#' gold <- gold_cases(truth(x)[sample(500, 60), ], sample = "random", target = "cases")
#' gold
#'
#' # The accuracy of system a on the 500 cases
#' estimate_accuracy(x, known_truth = gold)
#' @export
gold_cases <- function(truth, sample = NULL, target = c("population", "cases"), widen = NULL, ...) {
  check_call()
  new_result("gold_cases",
    truth = truth, sample = sample,
    target = check_choice(target), widen = check_widen(widen)
  )
}

schema_of.gold_cases <- function(x) { # nolint: object_name.
  truth_table <- if (!isTRUE(x$truth)) as_truth_table(x$truth, "truth")
  n_gold <- if (is.null(truth_table)) NA_integer_ else length(truth_table$case)
  sample_method <- x$sample %||%
    if (has_columns(x$truth, "probability")) "probability" else "undeclared"
  is_keyword <- is_string(sample_method) && sample_method %in% c("random", "given", "undeclared")
  if (!is_keyword) sample_method <- "probability"
  new_schema(
    list(cases = as_tibble(truth_table %||% list(case = character(), truth = character()))),
    list(
      cases = n_gold, gold_sample = sample_method, target = x$target, widen = x$widen %||% NA_real_
    ),
    sprintf(
      "%s, sample: %s, target: %s",
      if (is.null(truth_table)) "the truth stored in the ratings" else
        count_noun(n_gold, "gold case"),
      sample_method, x$target
    )
  )
}

check_widen <- function(widen) if (!is.null(widen)) check_number(widen, "widen", 0, 1e6)

# Converts any form of `known_truth` to an object of class gold_cases. `gold_sample`: how the cases
# were chosen; NULL if the field `sample` of `known_truth` contains this information.
as_gold_cases <- function(known_truth, gold_sample) {
  if (!inherits(known_truth, "gold_cases")) return(gold_cases(known_truth, gold_sample))
  abort_argument_if(!is.null(gold_sample) && !is.null(known_truth$sample), "gold_sample",
    "must not be given if {.arg known_truth} has the field {.field sample}.",
    i = "Leave out {.arg gold_sample}, or {.arg sample} of {.fun gold_cases}.")
  known_truth["sample"] <- list(known_truth$sample %||% gold_sample)
  known_truth
}

# Returns the gold cases among the cases of the ratings `x`, as a list:
# * case: row numbers of the gold cases
# * truth: number of the true category of each gold case
# * sample: how gold cases were chosen: "random", "probability" (with the probabilities below),
#   "given" (by hand), or "undeclared" (treated like "given")
# * probability: probability with which each gold case was chosen; NULL if the user gave none
read_gold <- function(known_truth, gold_sample, x) {
  if (isTRUE(known_truth)) known_truth <- stored_truth(x)
  truth_codes <- check_known_truth(known_truth, x)
  known_truth <- rename_case_column(replace_key_columns(known_truth, names(x$keys)))
  gold_rows <- which(truth_codes > 0L)
  probability <- read_sampling_probability(known_truth, gold_sample, x)
  invalid_rows <- gold_rows[!(probability[gold_rows] > 0 & probability[gold_rows] <= 1) %in% TRUE]
  invalid_cases <- as_label(x$cases[invalid_rows])
  invalid_values <- unique(probability[invalid_rows])
  abort_if(invalid_rows, "gold",
    "Every gold case needs the probability in (0, 1] with which it was chosen.",
    x = "The probability is missing or outside (0, 1] for {length(invalid_rows)} of
         {length(gold_rows)} case{?s}. The first is case {.val {invalid_cases[[1L]]}}:
         {.val {invalid_values[[1L]]}}.",
    case = invalid_cases, found = invalid_values)
  if (is.null(probability) && !is.null(gold_sample)) {
    # check_choice() takes the first element of a character vector. Here a vector such as
    # c("random", "given") must be an error, so it is converted to a list.
    if (length(gold_sample) > 1L) gold_sample <- list(gold_sample)
    check_choice(gold_sample, c("random", "given"), "gold_sample")
  }
  list(
    case = gold_rows, truth = truth_codes[gold_rows],
    sample = if (is.null(probability)) gold_sample %||% "undeclared" else "probability",
    probability = probability[gold_rows]
  )
}

# Are gold cases a probability sample of the cases of the ratings `x`? The result is FALSE for a
# "random" sample in which no case has a rating, because it does not represent the cases with
# ratings. `gold`: result of read_gold().
is_probability_sample <- function(gold, x) {
  gold$sample == "probability" ||
    (gold$sample == "random" && any(is_rated_pattern(x)[x$index[gold$case]]))
}

# Returns the probability with which each case of `x` was sampled, NA for cases whose probability is
# not given. The user gives probabilities in a column of `known_truth`, or as `gold_sample`. Returns
# NULL if no probabilities are given, or if none are needed.
read_sampling_probability <- function(known_truth, gold_sample, x) {
  is_table <- is.data.frame(known_truth)
  column_names <- names(known_truth)
  is_column_name <- is_table && is_string(gold_sample) && gold_sample %in% column_names
  probability_column <- if (is_column_name) gold_sample else
    if (is_table) intersect("probability", column_names)
  if (length(probability_column) == 1L) {
    truth <- known_truth[[intersect(c("truth", "category"), column_names)[[1L]]]]
    has_truth <- is_label(truth)
    probability <- known_truth[[probability_column]]
    # In a random sample by plan_gold(), all probabilities are equal. They are not needed if the
    # user states that the sample is random.
    if (identical(gold_sample, "random") && n_distinct(probability[has_truth]) == 1L) return(NULL)
    abort_argument_if(!is.null(gold_sample) && !is_column_name, "gold_sample",
      "must not be given if {.arg known_truth} has sampling probabilities in column
          {.val {probability_column}}.", not = gold_sample,
      i = "Leave out {.arg gold_sample}, or the column.")
    n_without_truth <- sum(!is.na(probability) & !has_truth)
    warn_if(n_without_truth > 0L, "gold_incomplete",
      "{n_without_truth} of {length(has_truth)} cases of {.arg known_truth} have a sampling
          probability, but no truth.",
      i = "Label these cases, too. If the labelled cases are a random part of all sampled cases,
          multiply probabilities by the share of sampled cases that are labelled.",
      cases = n_without_truth)
    gold_sample <- known_truth[has_truth, c("case", probability_column)]
    names(gold_sample)[[2L]] <- "probability"
  } else if (is.character(gold_sample)) {
    return(NULL)
  }
  convert_sampling_probability(gold_sample, x)
}

# Converts sampling probabilities to a vector with an element per case of `x`. `sample`:
# probabilities in a form that gold_cases() accepts.
convert_sampling_probability <- function(sample, x) {
  if (is.null(sample)) return(NULL)
  sample <- replace_key_columns(sample, names(x$keys))
  if (is.data.frame(sample) && has_columns(sample, c("case", "probability"))) {
    look_up_probability(sample$case, sample$probability, x)
  } else if (is.numeric(sample) && is_named(sample)) {
    look_up_probability(names(sample), sample, x)
  } else {
    problem <- why_not_by_position(sample, x, is.numeric(sample))
    abort_argument_if(problem, "gold_sample",
      "must be {.val random}, {.val given}, or the probability with which each case was chosen.",
      x = problem, i = "Give probabilities as a vector whose names are cases, a data frame with
          columns {.val case} and {.val probability}, or the name of a column of
          {.arg known_truth}.")
    as.double(sample)
  }
}

# Returns the sampling probability of each case of `x`, NA for cases that are not in `case`. Raises
# an error if a case has different probabilities.
# * case: names of cases
# * probability: a number per element of `case`
look_up_probability <- function(case, probability, x) {
  case <- as_label(case)
  abort_if(!is.numeric(probability), "gold",
    "The probabilities with which gold cases were chosen must be numbers.",
    x = "They are {describe(probability)}.", case = unique(case), found = probability)
  probability <- unname(probability)
  conflicting_rows <- which(probability != probability[match(case, case)])
  abort_if(conflicting_rows, "gold",
    "Each gold case must have one probability with which it was chosen.",
    x = "Case {.val {case[[conflicting_rows[[1L]]]]}} has several different probabilities.",
    case = unique(case[conflicting_rows]))
  probability[match(as_label(x$cases), case)]
}

# Returns the number of gold cases of an estimate. A gold case with weight n is counted n times.
count_gold <- function(estimate) sum(weights_of_cases(estimate$fit$x)[estimate$gold$case])

# Warns if gold cases cannot measure accuracy, are few, were apparently selected by their truth, or
# are all cases. `gold`: result of read_gold(). `x`: the ratings.
warn_gold <- function(gold, x) {
  n_gold <- length(gold$case)
  n_cases <- nrow(x)
  sample_kind <- gold_sample_kind(gold, x)
  if (n_gold == 0L) return(invisible())
  warn_if(sample_kind == "undeclared", "hand_picked",
    "The {n_gold} case{?s} with known truth {?is/are} treated as picked by hand and cannot measure
        accuracy, because {.arg gold_sample} is missing.",
    i = "Use {.code gold_sample = \"random\"} for a random sample, or give the probability with
        which each case was chosen. If cases were picked by hand, use
        {.code gold_sample = \"given\"}.", cases = n_gold)
  warn_if(sample_kind == "unrated", "gold_unrated",
    "The {n_gold} case{?s} with known truth {?has/have} no ratings, and therefore cannot
        measure accuracy.",
    i = "If you know the probability with which each case was chosen, give it as
        {.arg gold_sample}.", cases = n_gold)
  warn_if(sample_kind == "sample" && n_gold < min(min_gold_with_coverage, n_cases), "gold_few",
    "{n_gold} gold case{?s} {?is/are} too few to measure accuracy: the coverage of intervals was
        tested only for {min_gold_with_coverage} or more gold cases.",
    i = "Label about 20 cases, or the number of cases that {.fun plan_gold} computes; it also
        selects them.", cases = n_gold)
  is_drawn_by_truth <- sample_kind == "sample" && gold$sample == "random" && n_gold < n_cases &&
    is_drawn_by_class(gold, x)
  warn_if(is_drawn_by_truth, "gold_by_class",
    "All categories have about the same number of gold cases, but different numbers of ratings. This
        is improbable in a random sample.",
    i = "Cases that were selected by their truth are not a random sample. Draw gold cases at random,
        or give counts of ratings by true category to {.fun fit_raters} as {.arg known_raters}.",
    cases = n_gold)
  warn_if(n_gold == n_cases, "gold_all",
    "The truth of all {n_gold} cases is known, so the ratings add no information.", cases = n_gold)
}

# Were gold cases probably selected by their truth, with equal numbers per category? The result is
# TRUE if two conditions hold:
# * The numbers of gold cases per category differ by at most one.
# * For some category, the share of gold cases is more than 3 standard errors from the share of
#   ratings.
is_drawn_by_class <- function(gold, x) {
  rating_counts <- colSums(pattern_counts(x) * pattern_weights(x))
  rating_share <- rating_counts / sum(rating_counts)
  gold_counts <- tabulate(gold$truth, length(rating_share))
  n_gold <- sum(gold_counts)
  diff(range(gold_counts[rating_share > 0 | gold_counts > 0])) <= 1 && any(
    abs(gold_counts / n_gold - rating_share) > 3 * sqrt(bernoulli_variance(rating_share) / n_gold)
  )
}

# Smallest number of gold cases for which the coverage of intervals was measured.
min_gold_with_coverage <- 10L

has_gold_cases <- function(gold) length(gold$case) > 0L

# Returns how gold cases were chosen. `gold`: result of read_gold(). The result is a string:
# * "sample": a probability sample, or no gold cases
# * "unrated": a random sample in which no case has a rating
# * "picked": chosen by hand
# * "undeclared": the user did not give `gold_sample`
gold_sample_kind <- function(gold, x) {
  if (!has_gold_cases(gold) || is_probability_sample(gold, x)) "sample" else
    switch(gold$sample, random = "unrated", given = "picked", gold$sample)
}

# Splits known truths by variable. Returns a list with an element per variable.
# * known_truth: a list named by variable; a data frame with a column per variable; TRUE for the
#   truths in `x`; or the same truths for all variables
# * x: list of ratings, named by variable
truth_of_variables <- function(known_truth, x) {
  variables <- if (is.data.frame(known_truth) &&
    !any(c("truth", "category") %in% names(known_truth))) intersect(names(x), names(known_truth))
  if (!is_empty(variables)) known_truth <- lapply(setNames(nm = variables), function(variable) {
    tibble(known_truth[setdiff(names(known_truth), variables)], truth = known_truth[[variable]])
  })
  if (rlang::is_bare_list(known_truth)) {
    abort_argument_if(
      !all(names(known_truth) %in% names(x)) || is.null(names(known_truth)), "known_truth",
      "must be a list whose names are variables.", i = "The variables are {.val {names(x)}}.")
    return(setNames(known_truth[names(x)], names(x)))
  }
  has_truth <- map_lgl(x, function(x) !is.null(x$truth))
  if (isTRUE(known_truth) && any(has_truth))
    lapply(has_truth, function(stored) if (stored) TRUE) else lapply(x, function(x) known_truth)
}

# Returns `means` with larger variances, because gold cases of the same cluster are dependent.
# * means: estimated means, a result of corrected_mean()
# * cluster: cluster of each gold case; NULL if there are no clusters
# * variance: variance of the contribution of one case to each mean
# * is_counted: is a gold case used for a mean (gold cases x means)?
# * predicted_design: result of prediction_design_effect()
adjust_for_clusters <- function(means, cluster, variance = share_variance(means),
                                is_counted = TRUE | means$rest, predicted_design = 1) {
  if (is.null(cluster)) return(means)
  means$clusters <- as.double(colSums(rowsum(1 * is_counted, cluster) > 0))
  has_enough_clusters <- means$clusters >= min_clusters
  # If predictions are used (slope > 0), two parameters are fitted to gold cases: mean and slope.
  clustered_ratio <- clustered_variance_ratio(
    means, means$ratio, means$rest, cluster, 1L + (means$slope > 0), variance
  )
  design_effect <- means$design
  gold_design_effect <-
    clustered_variance_ratio(means, design_effect, means$answers, cluster, 1L, variance)
  # If predictions do not reduce the variance between clusters, they are not used, so the estimate
  # becomes the mean of gold cases.
  means_without_predictions <- which(has_enough_clusters & clustered_ratio >= gold_design_effect)
  means$estimate[means_without_predictions] <- means$alone[means_without_predictions]
  means$slope[means_without_predictions] <- 0
  means$rest[, means_without_predictions] <- means$answers[, means_without_predictions]
  explained_share <- 1 - means$ratio / design_effect
  means$ratio <- ifelse(has_enough_clusters, pmin(clustered_ratio, gold_design_effect), means$ratio)
  explained_share[means_without_predictions] <- 0
  # Design effect of clusters on the mean over all cases: the sum of the design effects on
  # predictions (computed from all cases) and on prediction errors (computed from gold cases),
  # weighted by their shares of the variance. The lower limit is the design effect on the mean of
  # gold cases.
  all_cases_design_effect <- pmax(gold_design_effect / design_effect,
    explained_share * predicted_design + means$ratio / design_effect)
  means$full_design <- means$full_design * ifelse(has_enough_clusters, all_cases_design_effect, 1)
  means$design <- ifelse(has_enough_clusters, gold_design_effect, design_effect)
  means
}

# Returns the design effect of clusters on the mean of each column of `predictions` over all cases:
# the variance of the mean, divided by its variance for independent cases. It is 1 without clusters.
# * predictions: predicted quantities (patterns of ratings x quantities)
# * weight: number of cases of each pattern (a vector, or patterns x quantities)
# * all_clusters: see gold_evidence(); NULL without clusters
prediction_design_effect <- function(predictions, weight, all_clusters) {
  if (is.null(all_clusters)) return(1)
  weight <- array(weight, dim(predictions))
  predictions[weight == 0] <- 0
  deviation <- demean(predictions, weight)
  deviation[weight == 0] <- 0
  cluster_sums <- rowsum(
    pick_rows(deviation, all_clusters$pattern) * all_clusters$weight, all_clusters$cluster
  )
  design_effect <- colSums(cluster_sums^2) * nrow(cluster_sums) / (nrow(cluster_sums) - 1) /
    colSums(weight * deviation^2)
  ifelse(is.finite(design_effect), design_effect, 1)
}

# Predicts the true category of cases from their ratings. Returns the probability of each category
# (patterns x categories), NA for patterns without ratings. The probability is the mean of two
# predictions: the posterior probability in a model with an accuracy per rater, and the share of
# ratings. For one rater only the share is used. Answers of systems and known truths are not used,
# so that gold cases are predicted like all other cases.
predict_categories <- function(x) {
  shares <- rating_shares(x)
  posterior <- posterior_of_raters(x)
  probability <- if (anyNA(posterior[rowSums(is.na(shares)) == 0, ])) shares else
    (posterior + shares) / 2
  replace(probability, is.na(shares), NA_real_)
}

rating_shares <- function(x) na_real(pattern_counts(x) / pattern_lengths(x))

posterior_of_raters <- function(x) {
  if (is_one_rater(x)) return(missing_posterior(x))
  x <- keep_systems(x, integer())
  fit <- without_warnings(fit_checked(
    with_votes(x), if (has_counts(x)) k_model() else rater_k_model, NULL, NULL, NULL
  ))
  pick_rows(posterior(fit), matching_patterns(fit$x, x))
}

# Returns the predicted probability that each answer is correct, NA without an answer.
# * predicted: probabilities of categories (patterns x categories)
# * answer: category number of the answer, 0 for none. A vector with an element per pattern, or a
#   matrix patterns x systems; the result has the same form
predict_correctness <- function(predicted, answer) {
  matrix_cells <-
    cbind(as.vector(row(as.matrix(answer))), as.vector(replace(answer, answer == 0L, NA)))
  probability <- predicted[matrix_cells]
  dim(probability) <- dim(answer)
  probability
}

# Replaces missing predictions by the mean of their column. Predictions are missing for patterns
# without ratings. `predictions`: a matrix with a row per pattern, or a vector. `weight`: number of
# cases of each pattern.
fill_unrated <- function(predictions, weight) {
  if (!anyNA(predictions)) return(predictions)
  is_unrated <- is.na(predictions)
  weight <- as.matrix(weight * !is_unrated)
  prediction_sums <- colSums(weight * as.vector(replace(predictions, is_unrated, 0)))
  mean_prediction <- prediction_sums / colSums(weight)
  mean_prediction[is.nan(mean_prediction)] <- 0
  replace(predictions, is_unrated, rep(mean_prediction, each = nrow(weight))[is_unrated])
}
