#' Ratings and predictions as tables
#'
#' @param x A [ratings()] object.
#' @param row.names,optional For consistency with the generic. Tables have no row names; a second
#'   argument without a name is taken as `what`, as in `as.data.frame(x, "covariates")`.
#' @param what `"ratings"`: one row per rating. `"systems"`: one row per prediction. `"answers"`:
#'   one row per case and rater, with all labels of the answer. `"scores"`: one row per case, system
#'   and category.
#'
#'   `"counts"`, the classification matrix: `case`, and for each category how many raters chose it.
#'
#'   `"patterns"`, one row per distinct row of ratings: cases with the same ratings, the same
#'   answers of systems and the same covariates are one pattern. This is all that the package's fits
#'   see, and what a model of your own needs: its cost then grows with the number of patterns, not
#'   of cases.
#'
#'   `"covariates"`: one row per case, with `case`, the columns of its key where that has several
#'   (see [ratings()]), and its covariates. Join this table with others by `case`.
#'
#'   `"workers"`: one row per worker of a crowd that [simulate_crowd()] drew, with its `kind`.
#'
#'   `"raters"`: one row per rater, with the number of `ratings`, `agreement` (the share of pairs
#'   with a rating of another rater that agree), `rerun_agreement` where there are reruns, and
#'   `group` where there are groups. `"categories"`: one row per category, with the number of
#'   `ratings` and their `share`. `"groups"`: one row per group of several raters.
#'   `"system_agreement"`: one row per system, with the number of `cases` that it answered, how many
#'   of these are `unrated`, and its `agreement` with the ratings.
#' @param ... Not used.
#' @param spreadsheet Is the table for a spreadsheet? Then an apostrophe stands before labels that
#'   it would take for formulas.
#' @return `tidy()`: a tibble; `as.data.frame()`: the same as a data frame. For ratings, columns
#'   `case`, `rater` (missing where raters are not identified), `rating` (a factor with all
#'   categories as levels), `confidence` (an ordered factor), `abstained` (is the row an abstention,
#'   whose `rating` is `NA`?), `rater_group`, `weight` and covariates of cases, if there are any.
#'   For systems, columns `case`, `system` and `prediction`; for scores `case`, `system`, `category`
#'   and `score`. For answers, columns `case`, `rater` and `labels`, a
#'   list of factors, empty for an answer without labels; the other tables do not show such answers.
#'   For patterns, a factor for each rater, or, where raters are exchangeable or rate a case more
#'   than once, an integer for each category, the number of ratings; then a factor for each system,
#'   a column for each covariate, and `n`, the number of cases, or their total weight. Where raters
#'   have names, `ratings()` makes the same object from the tables again, save for cases and raters
#'   without any rating.
#'
#'   `glance()`: a tibble with one row: the numbers of `cases`, `raters`, `ratings`, `categories`,
#'   `systems` and `patterns` (distinct rows); `agreement`, the share of pairs of raters that agree,
#'   Fleiss' `kappa`, and `chance_kappa`, against chance 1 / number of categories, which is that of
#'   Lehner (2015); all `NA` for answers with several labels.
#'   `format()`: these in a line.
#' @family data
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' tidy(x)
#' as.data.frame(x, what = "systems")
#' tidy(x, "counts")
#' tidy(ratings(fleiss1971, case = case, counts = depression:other), "patterns")
#' glance(x)
#' @export
as.data.frame.ratings <- function(x, row.names = NULL, optional = FALSE, # nolint: object_name.
                                  what = NULL, ..., spreadsheet = FALSE) {
  for_spreadsheet(plain_data_frame(tidy(x, row.names %||% what, ...)), spreadsheet)
}

count_table <- function(x) {
  counts <- category_counts(x)
  abort_argument_if("case" %in% x$categories, "x",
    "No category can be called {.val case}, the name of the column of cases.",
    i = "Give that category another name.")
  tibble::new_tibble(
    c(list(case = x$cases), split_columns(unname(counts), x$categories)), nrow = nrow(counts)
  )
}

drawn_workers <- function(x) {
  abort_argument_if(is.null(x$kinds), "x", "The kinds of the workers of {.arg x} are not known.",
    i = "Those of a crowd from {.fun simulate_crowd} are.")
  tibble::tibble(worker = x$raters, kind = unname(x$kinds[x$raters]))
}

answers_of_systems <- function(x) {
  answer <- case_answers(x)
  at <- which(answer > 0L, arr.ind = TRUE)
  tibble::tibble(
    case = x$cases[at[, 1L]],
    system = x$systems[at[, 2L]],
    prediction = category_factor(answer[at], x)
  )
}

one_by_one <- function(x) {
  given <- unfold_ratings(x)
  if (has_abstentions(x)) {
    silent <- x$abstained
    given <- Map(c, given, list(silent$case, silent$rater, rep(NA, length(silent$case))))
    given <- lapply(given, `[`, order(given$row, given$rater))
  }
  out <- tibble::tibble(
    case = x$cases[given$row], rater = named_raters(x)[given$rater],
    rating = category_factor(given$category, x)
  )
  if (!is.null(x$confidence)) {
    levels <- x$confidence$levels
    level <- level_of_ratings(x, given$row, given$rater)
    out$confidence <- factor(levels[replace(level, level == 0L, NA)], levels, ordered = TRUE)
  }
  if (has_abstentions(x)) out$abstained <- is.na(given$category)
  out$rater_group <- x$rater_groups[given$rater] # NULL stays NULL
  out$weight <- x$weights[given$row]
  for (name in names(x$covariates)) out[[name]] <- x$covariates[[name]][given$row]
  out
}

category_factor <- function(code, x) {
  factor(x$categories[code], levels = x$categories, ordered = x$ordered)
}

facts_of_ratings <- function(x) {
  votes <- one_vote_each(x)
  fit <- if (!has_labels(x)) core_fit_algebraic(votes$patterns, pattern_weights(votes))
  list(
    cases = nrow(x), raters = n_raters(x),
    ratings = n_ratings(x), categories = n_categories(x),
    systems = n_systems(x), patterns = n_patterns(x),
    agreement = fit$agreement %||% NA_real_,
    kappa = if (is.null(fit)) NA_real_ else kappa_of_agreement(votes, fit$agreement),
    chance_kappa = fit$kappa %||% NA_real_
  )
}

# What it means if that is not above 0.
chance_beyond_shares <- "agree no better than by chance, given how often they use each category"

# Fleiss' kappa, where such a share of the pairs of raters agree.
kappa_of_agreement <- function(x, agreement) {
  weight <- pattern_weights(x)[rating_pattern(x)]
  answers <- rowsum_codes(rating_category(x), weight, n_categories(x))
  by_chance <- sum((answers / sum(answers))^2)
  na_real(ratio(agreement - by_chance, 1 - by_chance))
}

line_of_ratings <- function(facts, size) {
  paste0(
    size, if (facts$systems > 0L) paste0(", ", count_noun(facts$systems, "system")),
    if (!is.na(facts$agreement)) {
      paste0(": pairs of raters agree in ", percent(facts$agreement), " (kappa ",
        decimals(facts$kappa, 2L), ")")
    }
  )
}
