#' Check ratings before an analysis
#'
#' Reports properties of the data that weaken every result. Lists the questions that the ratings can
#' answer, can answer under an assumption, or cannot answer without cases of known truth.
#'
#' @section Checks:
#' * *Cases*: the sampling error of a share. Fewer than 50 cases with two or more ratings are a
#'   problem, fewer than 200 a doubt. Lehner (2015) advises at least 200 if agreement is weak.
#' * *Raters*: fewer than three raters are a doubt, since two raters determine only the K-model. A
#'   case is informative only if it has two ratings.
#' * *Agreement*: a Fleiss' kappa below 0.2 is a problem, below 0.4 a doubt. At or below 0, accuracy
#'   is not identified without gold cases. The same holds for raters with equal errors if the share
#'   of agreeing pairs is at most 1 / number of categories. Models with different errors of raters
#'   may still be identified.
#' * *Constant raters*: raters who always choose the same category, more often than is probable by
#'   chance. The method `"average"` and [ground_truth()] of ratings leave them out.
#' * *Duplicated raters or systems*: pairs that share at least 20 cases and differ in at most 1% of
#'   them. The check reports pairs whose similarity is improbable if errors are independent (p below
#'   .01 for all pairs together). Error rates are estimated from the plurality of the other raters.
#'   Such pairs may be one source. The whole panel may be one source if half of all pairs of raters
#'   agree in more than 95% of their cases.
#' * *Categories*: categories that are unused, are rare (fewer than 5 ratings) or have more than 95%
#'   of the ratings.
#' * *Missing ratings*: the share of missing ratings, and whether raters share cases.
#' * *Systems*: whether every system has an answer for every case.
#' * *Who rates*: whether `rater_kind` of [ratings()] was declared. Machines tend to make the same
#'   errors.
#'
#' @param x A [ratings()] object, or anything that [as_ratings()] accepts; or a named list of
#'   ratings, with an element for each variable of a codebook.
#' @param ... Not used; catches misspelt arguments.
#' @return An object of class `data_check`. `tidy()` has a row per check: `check`, `status` (`"ok"`,
#'   `"doubt"` or `"problem"`), `found` and `advice`. `tidy(what = "questions")` has a row per
#'   question: `question`, `answer` (`"yes"`, `"assumption"`, `"gold"` or `"no"`) and `reason`. For
#'   several variables, a list of such objects; their tables have a column `variable`.
#' @templateVar where Advice on numbers of cases is
#' @template ref-lehner
#' @family data
#' @seealso [check_k_properties()] for tests of model assumptions, [plan_cases()] and [plan_gold()]
#'   for numbers of cases.
#' @examples
#' data_check(ratings(lehner2015, raters = rater1:rater4, systems = system, case = case))
#' @export
data_check <- function(x, ...) {
  check_given()
  check_dots_empty(...)
  if (is_variables(x)) return(stack_results(lapply(x, data_check), "variable"))
  x <- as_ratings_of_several(x)
  facts <- glance(x)
  agreed <- list(share = facts$agreement, kappa = facts$kappa)
  agreed$at_chance <- isTRUE(agreed$share <= 1 / n_categories(x)) # guesses have this agreement
  agreed$unequal <- agreed$at_chance && shows_unequal_raters(x)
  checks <- rbind(
    look_at_cases(x), look_at_raters(x), look_at_agreement(agreed), look_at_constant(x),
    look_at_copies(x), look_at_categories(x), look_at_missing(x), look_at_systems_seen(x),
    look_at_kind(x)
  )
  new_data_check(checks, list_questions(x, agreed), facts)
}

# The result of a check. `problem` and `doubt`: advice if there is a problem or a doubt, else NULL.
finding <- function(check, found, problem = NULL, doubt = NULL) {
  status <- if (!is.null(problem)) "problem" else if (!is.null(doubt)) "doubt" else "ok"
  columns_tibble(
    check = check, status = status, found = found, advice = problem %||% doubt %||% NA_character_
  )
}

look_at_cases <- function(x) {
  n <- count_cases(x, pattern_lengths(x) >= 2L)
  advice <- "Report intervals. `plan_cases()` says how many cases are enough."
  finding("cases",
    paste0(count_noun(n, "case"), " with two or more ratings; sampling error up to +-",
      percent(1.645 * sqrt(0.25 / max(n, 1)))),
    if (n < 50) advice, if (n < 200) advice
  )
}

look_at_raters <- function(x) {
  single <- count_cases(x, pattern_lengths(x) == 1L)
  finding("raters",
    paste0(count_noun(n_raters(x), "rater"),
      if (single > 0) paste0("; ", count_noun(single, "case"), " with a single rating")),
    doubt = if (n_raters(x) < 3L) "Two raters cannot show which of them is better; a third can."
  )
}

sentence <- function(words) paste0(capitalised(words), ".")

look_at_agreement <- function(agreed) {
  kappa <- agreed$kappa
  if (is.na(kappa)) {
    return(finding("agreement", "Agreement is not defined for these ratings",
      "Are there at least two categories, and two ratings of a case?"))
  }
  advice <- if (isTRUE(agreed$unequal)) {
    sentence(need_unequal)
  } else if (agreed$at_chance) {
    "Agreement is no better than by chance, so nothing follows from it. Check the labels."
  } else if (kappa <= 0) {
    paste("Agreement is no better than by chance, given how often raters use each category:",
      "only cases with known truth can help.")
  } else {
    "Weak agreement: sharpen the instructions, or take more cases and raters."
  }
  finding("agreement",
    paste0(
      percent(agreed$share), " of pairs of ratings agree; Fleiss' kappa ", decimals(kappa, 2L)
    ),
    if (kappa < 0.2) advice, if (kappa < 0.4) advice
  )
}

look_at_constant <- function(x) {
  if (has_counts(x)) return(NULL)
  x <- without_constant_raters(with_votes(x))
  constant <- x$panel$constant
  if (length(constant) == 0L) return(finding("constant raters", "none"))
  finding("constant raters", paste("Always the same answer:", shorten(constant)),
    paste0(
      if (isTRUE(x$only_constant)) sentence(reason_constant) else
        "Such ratings carry no information about the truth. Averages leave these raters out.",
      if (2L * length(constant) > length(union(x$raters, constant)) && !has_abstentions(x))
        " If an empty cell means that a rater abstained, say `abstain = NA`."
    ))
}

# Names of the raters, NULL if they have several or unnamed answers.
raters_with_one_answer <- function(x) if (!has_counts(x) && !has_repeats(x)) x$raters

most_compared <- 200L # raters and systems

look_at_copies <- function(x) {
  pairs <- if (n_raters(x) + n_systems(x) <= most_compared) compared_answers(x)
  if (is.null(pairs)) return(NULL)
  constant <- constant_raters(x) # they agree without a common source
  pairs <- pairs[!(pairs$raters & pairs$first %in% constant & pairs$second %in% constant), ]
  if (all_nearly_copies(pairs[pairs$raters, ], n_raters(x))) {
    return(finding("duplicates", near_copies, doubt =
      "If they are one source, their agreement is no evidence: declare it by `rater_groups`."))
  }
  copies <- which(pairs$same >= 0.99 & pairs$chance < 0.01 / nrow(pairs))
  words <- paste(pairs$first[copies], "and", pairs$second[copies])
  if (length(copies) == 0L) return(finding("duplicates", "none"))
  finding("duplicates", paste("Nearly the same answers:", shorten(words, "; ")),
    "If they are one source, keep one of them, or declare it by `ratings(rater_groups = )`.")
}

near_copies <- paste(
  "Half of all pairs of raters agree in more than 95% of their cases, as good raters",
  "do, and copies"
)

# A row per pair of raters or systems with at least 20 common cases. `same`: share of equal answers.
# `chance`: probability of at least this share if errors are independent, given how often each rater
# agrees with the plurality of the (other) raters. NULL if no two judges have single answers.
compared_answers <- function(x) {
  raters <- raters_with_one_answer(x)
  names <- c(raters, x$systems)
  if (length(names) < 2L) return(NULL)
  total <- core_pair_counts(
    x$patterns, pattern_weights(x), match(x$raters, raters, 0L), length(raters)
  )
  pairs <- which(upper.tri(total$pairs) & total$pairs >= 20, arr.ind = TRUE)
  right <- plurality_shares(x)[names]
  first <- right[pairs[, 1L]]
  second <- right[pairs[, 2L]]
  by_chance <- first * second + (1 - first) * (1 - second) / max(n_categories(x) - 1, 1)
  n <- total$pairs[pairs]
  same <- total$agreeing[pairs]
  list2DF(list(
    first = names[pairs[, 1L]], second = names[pairs[, 2L]],
    raters = pairs[, 2L] <= length(raters), same = same / n, chance = at_least(same, n, by_chance)
  ))
}

# Do most raters, in `pairs` of raters, give nearly the same answers?
all_nearly_copies <- function(pairs, raters) {
  compared <- length(unique(c(pairs$first, pairs$second)))
  compared > max(1, raters / 2) && stats::median(pairs$same) > 0.95
}

# Problems of a panel for results of a fit, as in data_check(): weak agreement, constant raters and
# duplicates. Near duplicates of all raters are reported only if the kind of raters is not declared,
# since accurate people also agree nearly always.
panel_problems <- function(fit) {
  x <- fit$x
  agreed <- list(
    share = fit$agreement, kappa = kappa_of_agreement(x, fit$agreement),
    at_chance = fit$identified != "yes"
  )
  checks <- rbind(
    if (!agreed$at_chance) look_at_agreement(agreed), look_at_constant(x), look_at_copies(x)
  )
  nearly <- checks$check == "duplicates" & checks$status == "doubt" & panel_kind(x) == "undeclared"
  shown <- checks[checks$status == "problem" | nearly, ]
  words <- ifelse(shown$check == "agreement", "", paste0(shown$found, ". "))
  paste0(words, shown$advice, recycle0 = TRUE)
}

look_at_categories <- function(x) {
  n <- rowsum_codes(rating_category(x), pattern_cases(x)[rating_pattern(x)], n_categories(x))
  labels <- x$categories
  most <- max(n) / sum(n)
  weaknesses <- c(
    if (any(n == 0)) paste("never used:", shorten(labels[n == 0])),
    if (any(n > 0 & n < 5)) paste("rare:", shorten(labels[n > 0 & n < 5])),
    if (most > 0.95) paste0(labels[which.max(n)], " has ", percent(most), " of ratings"),
    if ("-1" %in% labels) "-1 often means that a rater abstained: say `abstain = -1`"
  )
  finding("categories",
    paste(c(count_noun(length(labels), "category", "categories"), weaknesses), collapse = "; "),
    if (most > 0.95) {
      "Always giving that answer is nearly always right: look at metrics by category."
    },
    if (length(weaknesses) > 0L) {
      "A rare category cannot be estimated by itself; join categories, or add cases of it."
    }
  )
}

look_at_missing <- function(x) {
  if (has_counts(x)) return(NULL)
  replies <- sum(rater_totals(x)) + sum(weights_of_cases(x)[x$abstained$case])
  share <- 1 - replies / (count_cases(x) * n_raters(x))
  parts <- count_parts(x)
  n <- unique(pattern_lengths(x)[rated_patterns(x)])
  designed <- parts == 1L && length(n) == 1L && n > 1L && share > 0.5
  if (designed) return(finding("missing ratings", paste(n, "ratings of each case")))
  finding("missing ratings",
    paste0(percent(max(0, share)), " of ratings are missing",
      if (parts > 1L) paste0("; raters are in ", parts, " groups that share no case")),
    if (parts > 1L) "Such groups cannot be compared: let some raters see cases of several groups.",
    if (share > 0.5) {
      "Are they missing by design? If raters skip hard cases, all results are biased."
    }
  )
}

# Number of parts of the panel. Raters are in the same part if chains of common cases connect them.
count_parts <- function(x) {
  # Each rating connects its rater to the first rater of its pattern.
  rater <- rating_rater(x)
  first <- rater[match(rating_pattern(x), rating_pattern(x))]
  joined <- seq_along(x$raters)
  repeat {
    part <- joined[joined] # a part is named by one of its raters
    lowest <- rep(pmin(part[rater], part[first]), 2L)
    last <- order(lowest, decreasing = TRUE)
    joined <- replace(part, c(rater, first)[last], lowest[last]) # the lowest is assigned last
    if (identical(joined, part)) break
  }
  length(unique(part[rater_totals(x) > 0]))
}

look_at_systems_seen <- function(x) {
  share <- colMeans(case_answers(x) > 0L)
  part <- sum(share < 1)
  if (length(share) == 0L) return(finding(
    "systems", "none", doubt = "Name them by `systems` to estimate their accuracy."
  ))
  finding("systems",
    paste0(count_noun(length(share), "system"), if (part > 0L) paste0(
      "; ", count_noun(part, "system"), " without an answer on some cases, at most ",
      percent(1 - min(share))
    )),
    doubt = if (part > 0L) "Compare systems on cases that all of them answered."
  )
}

look_at_kind <- function(x) {
  finding("who rates", format_kinds(x) %||% "not declared", doubt = switch(panel_kind(x),
    people = NULL,
    machines = paste(
      "They share errors that ratings cannot show: 20 random cases with known truth say",
      "more than their agreement. See `plan_gold()` and `shared_errors()`."
    ),
    undeclared = if (is.null(rater_kind(x))) {
      paste("If language models or programs rate, declare it by `rater_kind` of `ratings()`:",
        "their intervals are wider.")
    } else {
      "The panel gets intervals for people. For intervals for machines, leave out the people."
    }
  ))
}
