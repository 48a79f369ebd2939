#' Tables of checks of the K-properties
#'
#' Methods for a [check_k_properties()] result `x`. It contains tests of the *K-properties*, the
#' assumptions of [k_model()]: all raters are equally accurate, all wrong categories are equally
#' probable, and all cases are equally difficult. It also contains tests of other assumptions, such
#' as independent errors. `tidy()` returns tables, `glance()` a summary with one row, and `format()`
#' a line of text.
#'
#' @return `tidy(x)`: a tibble with a row per test. [check_k_properties()] describes its columns.
#'
#'   `tidy(x, "pairs")`, from the test of independence: a tibble with a row per pair of raters with
#'   at least 10 common cases. A system (classifier) that is used as an additional rater counts as a
#'   rater.
#'   * `rater1`, `rater2`: names of the two raters.
#'   * `n`: number of cases that both rated.
#'   * `observed`, `expected`: share of these cases in which the two raters agree, in the data and
#'     under the fitted model with independent errors.
#'   * `excess`: `observed` minus `expected`, divided by the standard error of the difference.
#'   * `p.value`: bootstrap p-value of the excess, adjusted for the number of pairs.
#'
#'   `tidy(x, "disagreements")`, from the test of equal errors: a tibble with a row per pair of
#'   categories. A disagreement is a pair of ratings of the same case, one in each of the two
#'   categories.
#'   * `category1`, `category2`: names of the two categories.
#'   * `observed`, `expected`: number of disagreements, in the data and if all errors are equally
#'     probable.
#'
#'   `glance(x)`: a tibble with one row.
#'   * `cases`, `raters`, `categories`: numbers of cases, raters and categories.
#'   * `system`: name of the system that is used as an additional rater, or `NA`.
#'   * `tests`: number of tests, except those with verdict `"not tested"` or `"too few replicates"`;
#'     `violated`: number of tests with verdict `"violated"` or `"contradiction"`.
#'   * `p.value`: the smallest adjusted p-value.
#'   * `alpha`: significance level.
#'   * `replicates`: upper limit of the number of data sets simulated for a test, as given in
#'     `resampling`. A test may stop earlier.
#'
#'   `format(x)`: a string with the number of significant tests.
#'
#'   Table `"pairs"` has no rows without a test of independence, and table `"disagreements"` has no
#'   rows without a test of equal errors.
#' @family models of raters
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.4, 0.6, 0.9), systems = 0.7))
#' checks <- check_k_properties(x, "independence", resampling = list(replicates = 49))
#' # Do some raters agree more than their accuracies explain?
#' tidy(checks, "pairs")
#' glance(checks)
#' @usage
#' # tidy(x)
#' # tidy(x, "pairs")
#' # tidy(x, "disagreements")
#' # glance(x)
#' @name tidy.k_check
NULL

# Creates a `k_check` object. `table`: a row per test. `about`: a list of settings, further tables,
# and numbers of cases, raters and categories, which new_k_result() creates.
new_k_check <- function(table, about) {
  is_violated <- table$verdict %in% bad_verdicts
  n_tests <- sum(!table$verdict %in% open_verdicts)
  violated_properties <- unique(k_property_names[table$property[is_violated]])
  printed_tests <- table
  printed_tests$property <- unname(k_property_names[table$property])
  printed_tests$verdict[is_violated] <- to_capitals(table$verdict[is_violated])
  # Titles of the printed notes that name the raters or categories with the largest deviations
  has_concerns <- !is.na(table$concerns)
  concern_titles <- c(
    "disagreeing pairs" = "Confused more often than under equal errors: ",
    "residual agreement" = "Agree more than their accuracies explain: ",
    "share of one category" = "", "agreement below chance" = "Below chance: "
  )
  # One text per reason: the names of the properties that were not tested for this reason
  untested_properties <- map_chr(
    split(printed_tests$property, factor(table$reason, unique(table$reason))),
    function(labels) shorten(unique(labels), most = 3L)
  )
  new_result("k_check",
    again = new_k_check, about = about,
    tables = list(tests = table, pairs = about$pairs, disagreements = about$disagreements),
    facts = c(about$size, list(
      system = c(about$system, NA)[[1L]], tests = n_tests, violated = sum(is_violated),
      p.value = min_known(table$p.adjusted), alpha = about$alpha, replicates = about$replicates
    )),
    line = paste0(
      sprintf(
        "%d of %s of the K-properties significant", sum(is_violated), count_noun(n_tests, "test")
      ),
      if (any(is_violated)) sprintf(" (%s)", toString(violated_properties))
    ),
    head = c(about$header, sprintf("System \"%s\" is tested as one more rater", about$system)),
    shown = view(printed_tests, c("property", "test", "verdict", `adjusted p` = "p.adjusted"),
      left = 1:3, most = Inf),
    notes = c(
      paste0(concern_titles[table$test[has_concerns]], table$concerns[has_concerns]),
      sprintf("Not tested (%s): %s", untested_properties, names(untested_properties)),
      note("What to do:", "heading"),
      paste("*", advice_on_k_model(table, about)), caveats_on_k_tests(table, about), about$silent
    ),
    more = "summary(), tidy(), plot(); vignette(\"how-far-to-trust\")"
  )
}

# Returns a table with a row per pair of judges: observed and expected share of agreement, p-value,
# and `excess`, the standardised difference between observed and expected numbers of agreements.
# * result: the core's test of agreement beyond the null model; if NULL, the table has no rows.
# * judges: names of the judges.
pair_table <- function(result, judges) {
  pairs <- lapply(result$agreement, as.double)
  n_common <- as.double(pairs$cases)
  excess <- as.double(pairs$excess)
  columns_tibble(
    rater1 = judges[pairs$judge1], rater2 = judges[pairs$judge2], n = n_common,
    observed = pairs$observed / n_common, expected = pairs$expected / n_common, excess = excess,
    # The simulated statistic is the largest excess of all pairs, so that p-values allow for the
    # number of pairs.
    p.value = map_dbl(excess, bootstrap_p, simulated = simulated_statistics(result, "residual"))
  )
}

# Verdicts of tests that were not made, or could not be significant.
open_verdicts <- c("not tested", "too few replicates")

# Returns the number of replicates with which all tests of `table` can be significant. The smallest
# bootstrap p-value is 1 / (replicates + 1), and Holm's method multiplies it by the number of tests.
replicates_needed <- function(table, settings) {
  ceiling(sum(!is.na(table$p.value)) / settings$alpha)
}

# Names of the properties in printed results.
k_property_names <- c(
  accuracy = "equal accuracy", errors = "equal errors", difficulty = "equal difficulty",
  independence = "independence", `one category` = "attention", chance = "above chance",
  alternative = "other models"
)

# Returns the advice that print() shows: which model to fit and which estimates not to use, given
# the verdicts. `x`: table of tests. `about`: see new_k_check().
advice_on_k_model <- function(x, about) {
  is_violated <- x$verdict %in% bad_verdicts
  violated_names <- c(x$property[is_violated], x$test[is_violated])
  is_violated_property <- map_lgl(
    c(accuracy = "accuracy", errors = "errors", difficulty = "difficulty"), `%in%`, violated_names
  )
  has_distance_errors <- any(x$test == "likelihood ratio, distance" & x$verdict == "violated")
  model_args <- sprintf("%s = \"%s\"", names(is_violated_property),
    c("rater", if (has_distance_errors) "distance" else "free", "strata"))
  advice <- c(
    if (any(is_violated_property)) c(
      sprintf("Fit rater_model(%s), and use it in estimate_accuracy().",
        toString(model_args[is_violated_property])),
      one_line("Do not use methods that assume the K-model (\"binned\", \"unbinned\"), nor its
        estimates of rater accuracy and base rates.")
    ),
    if (is_violated_property[["difficulty"]] && about$size[["categories"]] == 2L) one_line(
      "With two categories, unequal difficulty of cases cannot be distinguished from unequal
      accuracy in the two categories. Compare the fit with a fit of rater_model(errors = \"free\")."
    ),
    if ("independence" %in% violated_names) one_line("Errors of some raters are not independent: the
      estimated accuracies of raters, and of a system among them, are too high under every model.
      Check whether raters saw each other's answers, and what changes if you leave out one of
      them."),
    if ("alternative" %in% violated_names) sprintf(
      "Fit a model with a higher likelihood, and use it in estimate_accuracy(): %s.",
      shorten(x$alternative[is_violated & x$property == "alternative"], most = 3L)
    ),
    c(
      "one category" =
        "Check the raters named above. Leave them out, or fit dawid_skene() (a matrix per rater).",
      "agreement below chance" =
        "Agreement is below chance. Check that all raters use the labels in the same sense.",
      "negative base rates" =
        "The lowest base rate is significantly below zero: the K-model does not fit."
    )[intersect(
      c("one category", "agreement below chance", "negative base rates"), violated_names
    )],
    if (any(x$verdict == open_verdicts[[2L]])) sprintf(
      "Use at least %s replicates: with %s replicates, some tests cannot be significant.",
      number(replicates_needed(x, about)), number(about$replicates)
    )
  )
  if (!is_empty(advice)) return(unname(advice))
  if (all(x$verdict == "not tested")) {
    return("Nothing could be tested, so the K-properties are neither supported nor contradicted.")
  }
  "No test contradicts the K-model. Report the interval and the range with each estimate."
}

caveats_on_k_tests <- function(x, about) {
  n_tests <- sum(!is.na(x$p.value))
  if (n_tests == 0L) return(NULL)
  c(
    one_line("A test that is not significant does not show that a property holds: with few cases or
      weak raters violations go unnoticed, and errors shared by all raters cannot be detected."),
    if (n_tests > 1L) paste0(
      "P-values are adjusted for ", n_tests, " tests by Holm's method, and significant up to ",
      format(about$alpha), "."
    )
  )
}

# ---- Checks of raters that need no model ---

min_ratings <- 10 # least number of ratings of a rater, or of common cases of a pair
min_favourite_share <- 0.95 # if the share of one category is smaller, its p-value is 1

# Tests whether a rater nearly always chooses one category although other raters of the same cases
# do not. Returns a row of the result (see k_row()).
one_category_row <- function(x) {
  new_row <- function(...) k_row("one category", "share of one category", ...)
  if (has_counts(x)) return(new_row(reason = reason_only_counts))
  if (!weights_are_counts(x)) return(new_row(reason = "weights are not counts"))
  favourites <- favourite_categories(x)
  favourites <- favourites[favourites$ratings >= min_ratings & favourites$others > 0, ]
  if (nrow(favourites) == 0L) {
    return(new_row(reason = "no rater has 10 ratings of cases that other raters also rated"))
  }
  favourites$p <- ifelse(
    favourites$share >= min_favourite_share, pmin(1, favourites$p * nrow(favourites)), 1
  )
  worst_raters <- favourites[favourites$p == min(favourites$p), ]
  worst_raters <- worst_raters[order(-worst_raters$share), ]
  new_row(
    statistic = max(favourites$share), p_value = worst_raters$p[[1L]],
    concerns = shorten(sprintf(
      "%s chooses %s (%s of ratings)", worst_raters$rater, worst_raters$category,
      percent(worst_raters$share)
    ), "; ", 4L)
  )
}

# Returns a table with a row per rater:
# * category: the favourite category, the category that the rater chose most often.
# * ratings, share: number of ratings by the rater, and the share of these ratings in the favourite
#   category.
# * others: number of ratings that other raters gave to the cases of this rater.
# * p: p-value of the share: the probability of a share at least as large if the rater chose the
#   category as often as other raters of the same cases.
favourite_categories <- function(x) {
  pattern <- rating_pattern(x)
  rater <- rating_rater(x)
  weight <- pattern_weights(x)[pattern]
  n <- n_categories(x)
  counts <- rowsum_codes((rater - 1L) * n + rating_category(x), weight, n_raters(x) * n)
  counts <- matrix(counts, ncol = n, byrow = TRUE)
  favourite_category <- max.col(counts, "first")
  # For each rater, counts the ratings that other raters gave to the same cases: all ratings
  # (`n_other_ratings`), and ratings in the rater's favourite category (`n_other_favourites`).
  case_and_rater_code <- pattern * (n_raters(x) + 1) + rater
  first_index <- match(case_and_rater_code, case_and_rater_code)
  sum_by_case_and_rater <- function(value) {
    rowsum_codes(first_index, as.double(value), length(first_index))[first_index]
  }
  sum_by_rater <- function(value) rowsum_codes(rater, weight * value, n_raters(x))
  is_favourite <- rating_category(x) == favourite_category[rater]
  n_other_ratings <-
    sum_by_rater(pattern_lengths(x)[pattern] - sum_by_case_and_rater(1 + 0 * rater))
  n_other_favourites <- sum_by_rater(
    pattern_counts(x)[cbind(pattern, favourite_category[rater])] -
      sum_by_case_and_rater(is_favourite)
  )
  n_ratings <- rowSums(counts)
  favourite_count <- row_maximum(counts)
  data.frame(
    rater = x$raters, category = x$categories[favourite_category], ratings = n_ratings,
    share = favourite_count / n_ratings, others = n_other_ratings,
    p = binomial_upper_tail(
      favourite_count, n_ratings, (n_other_favourites + 0.5) / (n_other_ratings + 1)
    )
  )
}

# Tests whether two raters agree less often than by chance. Returns a row of the result (see
# k_row()). Under the K-properties, every pair of raters agrees at least as often as by chance. The
# binomial p-value of a pair is multiplied by the number of pairs.
below_chance_row <- function(x, alpha) {
  new_row <- function(...) k_row("chance", "agreement below chance", ...)
  chance_agreement <- 1 / n_categories(x)
  fit <- fit_algebraic(x)
  if (fit$identified == "no_pairs") return(new_row(reason = reason_of_fit(fit)))
  is_contradiction <- fit$agreement <= chance_agreement
  overall_text <- sprintf("all raters agree in %s of pairs", percent(fit$agreement))
  can_compare_pairs <- weights_are_counts(x) && length(named_raters(x)) %in% seq_len(max_judges)
  pairs <- if (can_compare_pairs) judge_pairs(x)
  if (NROW(pairs) == 0L) {
    return(if (is_contradiction) {
      new_row(statistic = fit$agreement, contradiction = TRUE, concerns = overall_text)
    } else {
      new_row(reason = if (has_counts(x)) reason_only_counts else
        if (!weights_are_counts(x)) "weights are not counts" else
          if (can_compare_pairs) "no two raters have 10 common cases" else
            "there are too many pairs of raters")
    })
  }
  pairs$share <- pairs$agreeing / pairs$cases
  pairs$p <- pmin(1, nrow(pairs) * stats::pbinom(pairs$agreeing, pairs$cases, chance_agreement))
  worst_pair <- pairs[order(pairs$p, pairs$share)[[1L]], ]
  new_row(
    statistic = worst_pair$share, p_value = worst_pair$p, contradiction = is_contradiction,
    concerns = paste(c(if (is_contradiction) overall_text, if (worst_pair$p <= alpha) sprintf(
      "%s and %s agree in %s of cases", x$raters[[worst_pair$judge1]],
      x$raters[[worst_pair$judge2]], percent(worst_pair$share)
    )), collapse = "; ")
  )
}

# Returns a table with a row per pair of judges with at least `min_ratings` common cases: the
# indices of both judges, the number of common cases, and the number of cases in which they agree.
# Judges are the raters and, if `system` is not 0, the system with this index as the last judge.
judge_pairs <- function(x, system = 0L) {
  n <- n_raters(x)
  check_pair_numbers(n, 4)
  counts <- core_pair_counts(
    pick_systems(x$patterns, system), pattern_weights(x), seq_len(n), n
  )
  table_of_pairs(counts, min_ratings)
}

# Returns the reason why agreement of pairs of judges cannot be tested; NULL if it can be tested.
why_no_pairs <- function(x, settings) {
  n_judges <- length(judge_names(x, settings))
  if (has_counts(x)) {
    reason_only_counts
  } else if (n_judges < 4L) {
    sprintf("with %s raters and systems, independent errors can explain any agreement", n_judges)
  } else if (n_judges > max_judges) {
    sprintf("more than %s raters and systems form too many pairs", number(max_judges))
  } else if (nrow(judge_pairs(x, settings$system)) == 0L) {
    "no two raters have 10 common cases"
  }
}

# Finds the first null model in `choices` whose alternative model is identified. Returns a list of
# the null and the alternative model; NULL if no alternative model is identified.
# * choices: a data frame with a row per null model, those with more parameters first. Columns are
#   arguments of rater_model().
# * changes: a list of the arguments that differ in the alternative model. If it is NULL, finds the
#   first null model that is identified; the alternative model is then NULL.
first_identified_models <- function(x, settings, choices, changes = NULL) {
  if (has_counts(x)) choices <- choices[choices$accuracy == "common", ]
  for (i in row_numbers(choices)) {
    choice <- as.list(choices[i, ])
    null_model <- do.call(rater_model, choice)
    alternative_model <- if (!is.null(changes)) do.call(rater_model, modifyList(choice, changes))
    is_identified <- core_identified(
      x$patterns, pattern_weights(x), settings$system - 1L,
      unclass(alternative_model %||% null_model)
    )
    if (is_identified) return(list(null = null_model, alternative = alternative_model))
  }
}

# Returns a data frame of models, one per row, whose columns are arguments of rater_model().
model_choices <- function(accuracy, errors, difficulty) {
  data.frame(accuracy = accuracy, errors = errors, difficulty = difficulty)
}
