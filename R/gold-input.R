# Gold cases given by the user: known truths of cases, and how these cases were chosen.

#' Gold cases: cases with known truth
#'
#' Combines the true categories of some cases with information on how these cases were sampled. The
#' result is used as `known_truth` in [estimate_accuracy()] and other functions.
#'
#' @param truth The true categories. Missing truths are not known.
#'   * A vector of categories named by case.
#'   * A data frame with columns `case` and `truth` (or `category`), such as the completed table
#'     that `augment()` returns for a [plan_gold()]. If there are no other columns, the column of
#'     cases may have any name.
#'   * `TRUE` for the truth that the ratings contain.
#' @param sample How the cases were chosen.
#'   * `"random"`: a simple random sample.
#'   * The probability with which each case was chosen, in (0, 1]. Either a vector named by case; a
#'     data frame with columns `case` and `probability`; or the name of a column of `truth` (a
#'     column `probability` is used by default). A vector without names is in the order of the
#'     cases; it is accepted under the conditions for `by` of [estimate_accuracy()].
#'   * `"given"`: chosen by hand. The default, `NULL`, is treated in the same way, with a warning.
#' @param target Do intervals refer to the `"population"` from which the cases are a sample (the
#'   default), or only to these `"cases"`?
#' @param widen How much the prior from ratings is widened in `"combined"` intervals if there are
#'   many gold cases. `NULL` (the default): enough for gold cases to contradict it; if they do, the
#'   prior is not used. A number of at least 0: the variance is multiplied by up to `1 + widen`, and
#'   the prior is used even if gold cases contradict it.
#' @return An object of class `gold_cases`. `tidy()`: a tibble with a row per case, `case` and
#'   `truth`. `glance()`: one row: the number of `cases`, `gold_sample`, `target` and `widen`.
#'   `format()`: a string with these values.
#' @family estimation
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8), n = 500))
#' gold <- gold_cases(truth(x)[sample(500, 60), ], sample = "random", target = "cases")
#' gold
#' estimate_accuracy(x, known_truth = gold)
#' @export
gold_cases <- function(truth, sample = NULL, target = c("population", "cases"), widen = NULL) {
  check_given()
  new_result("gold_cases",
    truth = truth, sample = sample,
    target = check_choice(target), widen = check_widen(widen)
  )
}

schema_of.gold_cases <- function(x) { # nolint: object_name.
  known <- !isTRUE(x$truth)
  given <- if (known) as_truth_table(x$truth, "truth")
  sample <- x$sample %||% "undeclared"
  if (!is_string(sample)) sample <- "probability"
  new_schema(
    list(cases = tibble::tibble(
      case = given$case %||% character(), truth = given$truth %||% character()
    )),
    list(
      cases = if (known) length(given$case) else NA_integer_, gold_sample = sample,
      target = x$target, widen = x$widen %||% NA_real_
    ),
    paste0(
      if (known) count_noun(length(given$case), "gold case") else "the truth that ratings hold",
      ", sample: ", sample, ", target: ", x$target
    )
  )
}

check_widen <- function(widen) if (!is.null(widen)) check_number(widen, "widen", 0, 1e6)

# Converts any form of gold cases. `gold_sample` is an alternative to their field `sample`.
as_gold_cases <- function(known_truth, gold_sample) {
  if (!inherits(known_truth, "gold_cases")) return(gold_cases(known_truth, gold_sample))
  abort_argument_if(!is.null(gold_sample) && !is.null(known_truth$sample), "gold_sample",
    "{.arg known_truth} says how its cases were chosen.", i = "Leave {.arg gold_sample} out.")
  known_truth["sample"] <- list(known_truth$sample %||% gold_sample)
  known_truth
}

# Fields: `case`, numbers of the cases of `x`; `truth`, numbers of categories; `sample`, how they
# were chosen: "random", "probability", "given" (by hand) or "undeclared" (treated like "given");
# and `probability` with which each case was chosen, or NULL if it was the same for all.
read_gold <- function(known_truth, gold_sample, x) {
  known_truth <- if (isTRUE(known_truth)) stored_truth(x) else
    name_cases(replace_key_columns(known_truth, names(x$keys)))
  code <- check_known_truth(known_truth, x)
  case <- which(code > 0L)
  probability <- given_probability(known_truth, gold_sample, x)
  if (!is.null(probability)) check_gold_probability(probability[case], x$cases[case])
  sample <- if (!is.null(probability)) "probability" else check_gold_sample(gold_sample)
  list(
    case = case, truth = code[case], sample = sample %||% "undeclared",
    probability = probability[case]
  )
}

# Are gold cases a sample? If none of them has a rating, they do not represent cases with ratings,
# unless their probabilities are known.
is_sample <- function(gold, x) {
  gold$sample == "probability" ||
    (gold$sample == "random" && any(rated_patterns(x)[x$index[gold$case]]))
}

# The truth that the ratings contain.
stored_truth <- function(x) {
  abort_argument_if(is.null(x$truth), "known_truth",
    "{.code known_truth = TRUE} takes the truth that {.arg x} holds, and it holds none.",
    i = "Name its column as {.arg truth} of {.fun ratings}; or give categories with the cases as
        names, or a data frame with columns {.val case} and {.val truth}.")
  truth(x)
}

# The vector of both choices is an error, although it stands for a default in other arguments.
check_gold_sample <- function(gold_sample) {
  if (!is.null(gold_sample)) {
    if (length(gold_sample) > 1L) gold_sample <- list(gold_sample)
    check_choice(gold_sample, c("random", "given"), "gold_sample")
  }
}

# A probability per case of `x`, NA if it is missing; NULL if the user gave no probabilities.
given_probability <- function(known_truth, gold_sample, x) {
  is_table <- is.data.frame(known_truth)
  named <- is_table && is_string(gold_sample) && gold_sample %in% names(known_truth)
  column <- if (named) gold_sample else if (is_table) intersect("probability", names(known_truth))
  if (length(column) == 1L) {
    abort_argument_if(!is.null(gold_sample) && !named, "gold_sample",
      "{.arg known_truth} says in column {.val {column}} with which probability cases were chosen;
          {.arg gold_sample} must not say something else.", not = gold_sample,
      i = "Leave out one of them.")
    truth <- known_truth[[intersect(c("truth", "category"), names(known_truth))[[1L]]]]
    gold_sample <- known_truth[!is.na(truth), c("case", column)]
    names(gold_sample)[[2L]] <- "probability"
  } else if (is.character(gold_sample)) {
    return(NULL)
  }
  probability_of_sample(gold_sample, x)
}

probability_of_sample <- function(sample, x) {
  if (is.null(sample)) return(NULL)
  sample <- replace_key_columns(sample, names(x$keys))
  if (is.data.frame(sample) && all(c("case", "probability") %in% names(sample))) {
    look_up_probability(sample$case, sample$probability, x)
  } else if (is.numeric(sample) && rlang::is_named(sample)) {
    look_up_probability(names(sample), sample, x)
  } else {
    lack <- why_no_order(sample, x, is.numeric(sample))
    abort_argument_if(lack, "gold_sample",
      "must be {.val random}, {.val given}, or the probability of each case to be chosen.",
      x = lack, i = "Probabilities are a vector whose names are cases, a data frame with columns
          {.val case} and {.val probability}, or a column of {.arg known_truth}.")
    as.double(sample)
  }
}

look_up_probability <- function(case, probability, x) {
  case <- as_label(case)
  abort_if(!is.numeric(probability), "gold", "Probabilities of being chosen must be numbers.",
    x = "They are {describe(probability)}.", case = unique(case), found = probability)
  probability <- unname(probability)
  off <- which(!probability %in% NA & probability != probability[match(case, case)])
  abort_if(off, "gold", "A case has one probability of being chosen.",
    x = "Case {.val {case[[off[[1L]]]]}} has several.", case = unique(case[off]))
  probability[match(as_label(x$cases), case)]
}

check_gold_probability <- function(probability, case) {
  off <- !(probability > 0 & probability <= 1) %in% TRUE
  case <- as_label(case[off])
  values <- unique(probability[off])
  abort_if(any(off), "gold",
    "Every gold case needs the probability in (0, 1] with which it was chosen.",
    x = "{length(case)} of {length(off)} case{?s} {?has/have} another or none, first case
         {.val {case[[1L]]}}: {.val {values[[1L]]}}.", case = case, found = values)
}

# Number of gold cases, by their weights.
count_gold <- function(estimate) sum(weights_of_cases(estimate$fit$x)[estimate$gold$case])

# Warnings about gold cases before they are used. For `kind`, see resolve_gold().
warn_gold <- function(gold, x) {
  n <- length(gold$case)
  kind <- gold_kind(gold, x)
  if (n == 0L) return(invisible())
  warn_if(kind == "undeclared", "hand_picked",
    "Without {.arg gold_sample} the {n} case{?s} with known truth {?counts/count} as picked by
        hand, and cannot measure accuracy.",
    i = "Write {.code gold_sample = \"random\"} for a random sample, or give the probability with
        which each case was chosen; {.code gold_sample = \"given\"} says that they were picked by
        hand.", cases = n)
  warn_if(kind == "unrated", "gold_unrated",
    "No rater saw any of the {n} case{?s} with known truth, which therefore cannot measure
        accuracy.", i = "Give the probability with which each case was chosen, if it is known.",
    cases = n)
  warn_if(kind == "sample" && n < min(few_gold, nrow(x)), "gold_few",
    "{n} gold case{?s} {?is/are} too few to measure accuracy: the coverage of intervals was tested
        only for {few_gold} or more.",
    i = "Label about 20 cases, or the number of cases that {.fun plan_gold} computes; it also
        selects them.",
    cases = n)
  by_class <- kind == "sample" && gold$sample == "random" && n < nrow(x) &&
    is_drawn_by_class(gold, x)
  warn_if(by_class, "gold_by_class",
    "Every category has the same number of gold cases, though ratings are not so balanced: a
        random sample would hardly have that.",
    i = "Gold cases that were drawn by their truth are no random sample. Draw cases at random; or
        give their counts to {.fun fit_raters} as {.arg known_raters}.", cases = n)
  warn_if(n == nrow(x), "gold_all", "The truth of all {n} cases is known, so ratings add nothing.",
    cases = n)
}

# Were gold cases drawn by their truth? Two conditions must hold. All categories have the same
# number of gold cases, to within one. The share of some category among gold cases differs by more
# than 3 standard errors from its share among ratings.
is_drawn_by_class <- function(gold, x) {
  ratings <- colSums(pattern_counts(x) * pattern_weights(x))
  share <- ratings / sum(ratings)
  times <- tabulate(gold$truth, length(share))
  used <- share > 0 | times > 0
  m <- sum(times)
  diff(range(times[used])) <= 1 && any(abs(times / m - share) > 3 * sqrt(share * (1 - share) / m))
}

few_gold <- 10L # the smallest sample for which coverage was measured

gold_kind <- function(gold, x) {
  if (length(gold$case) == 0L || is_sample(gold, x)) return("sample")
  switch(gold$sample, random = "unrated", given = "picked", gold$sample)
}

# A list with the known truths of each variable. `known`: a list with names of variables; TRUE for
# the truths stored in `x`; or truths that are used for all variables.
truth_of_variables <- function(known, x) {
  if (rlang::is_bare_list(known)) {
    unknown <- setdiff(names(known), names(x))
    abort_argument_if(length(unknown) > 0L || is.null(names(known)), "known_truth",
      "must have names of variables.", i = "They are {.val {names(x)}}.")
    return(lapply(setNames(nm = names(x)), function(name) known[[name]]))
  }
  held <- vapply(x, function(x) !is.null(x$truth), NA)
  if (isTRUE(known) && any(held)) lapply(held, function(held) if (held) TRUE) else
    lapply(x, function(x) known)
}
