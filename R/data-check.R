#' Check ratings before an analysis
#'
#' Checks [ratings()] for properties that weaken every result. Lists the questions that the ratings
#' can answer, can answer under an assumption, or cannot answer without cases of known truth.
#'
#' @section Checks:
#' Each check has the status `"ok"`, `"doubt"` or `"problem"`.
#' * *Cases*: the number of cases with two or more ratings. Fewer than 50 are a problem, fewer than
#'   200 a doubt. Lehner (2015) advises at least 200 cases if agreement is weak.
#' * *Raters*: fewer than three raters are a doubt, because two raters identify only the model in
#'   which all raters are equally accurate, [k_model()]. The check also counts cases with a single
#'   rating.
#' * *Agreement*: a Fleiss' kappa below 0.2 is a problem, below 0.4 a doubt.
#' * *Constant raters*: raters who always choose the same category, although this is improbable by
#'   chance. [estimate_accuracy()] and [ground_truth()] leave them out by default.
#' * *Duplicated raters or systems*: pairs that differ in at most 1% of at least 20 common cases,
#'   although this is improbable if their errors are independent (p below .01 for all pairs
#'   together). They may be one source of answers. Raters of the same group (`rater_groups` of
#'   [ratings()]) are not compared.
#' * *Categories*: categories that are unused, have fewer than 5 ratings, or have more than 95% of
#'   the ratings. Also categories that are in no case the most frequent rating, which may be codes
#'   of missing answers.
#' * *Missing ratings*: the share of missing ratings, and whether raters share cases.
#' * *Systems*: whether every system has an answer for every case, and whether a system seems to be
#'   made from the ratings, for example by majority vote. The check uses cases in which the most
#'   frequent rating leads by one vote. A system is reported if it has this rating in at least 99%
#'   of at least 20 such cases, and if this is improbable for independent errors (p below .01).
#' * *Who rates*: whether `rater_kind` of [ratings()] was declared. Intervals for language models
#'   and programs are wider, because machines tend to make the same errors.
#' @param x A [ratings()] object, or anything that [as_ratings()] accepts; or a named list of
#'   ratings, with an element for each variable (question) that raters coded.
#' @param ... Not used; catches misspelt arguments.
#' @return An object of class `data_check`; for a list of ratings, a list of such objects. `tidy()`
#'   returns a tibble with a row per check:
#'   * `check`, its name; `status`, see section *Checks*; `found`, the finding in words; `advice`,
#'     `NA` if the status is `"ok"`.
#'
#'   `tidy(x, "questions")` returns a tibble with a row per question:
#'   * `question`; `answer`, which is `"yes"`, `"assumption"` (only under an assumption), `"gold"`
#'     (only with cases of known truth) or `"no"`; `reason`.
#' @templateVar where It gives advice on numbers of cases
#' @template ref-lehner
#' @family data
#' @seealso [check_k_properties()] for tests of model assumptions, [plan_cases()] and [plan_gold()]
#'   for numbers of cases.
#' @examples
#' data_check(ratings(lehner2015, raters = rater1:rater4, systems = system, case = case))
#' @export
data_check <- function(x, ...) {
  check_call()
  if (is_variables(x)) return(stack_results(
    lapply(x, data_check), "variable", note = notes_of_checks))
  x <- as_ratings_of_several(x)
  facts <- glance(x)
  # Raters who guess with equal probabilities agree in 1 / n_categories(x) of the pairs.
  at_chance <- isTRUE(facts$agreement <= 1 / n_categories(x))
  agreement_facts <- list(
    share = facts$agreement, kappa = facts$kappa, at_chance = at_chance,
    unequal = at_chance && shows_unequal_raters(x)
  )
  voted <- merge_reruns(x)
  checks <- rbind(
    look_at_cases(with_votes(x)), look_at_raters(voted), look_at_agreement(agreement_facts, x),
    look_at_constant(x), look_at_copies(voted), look_at_categories(x), look_at_missing(x),
    look_at_systems(x), look_at_kind(x), look_at_ties(x)
  )
  new_data_check(checks, list_questions(x, agreement_facts), facts)
}

# Returns one row of the table of checks. `problem` and `doubt` contain advice, or NULL if the check
# found no problem or no doubt.
finding <- function(check, found, problem = NULL, doubt = NULL) {
  columns_tibble(
    check = check,
    status = if (!is.null(problem)) "problem" else if (!is.null(doubt)) "doubt" else "ok",
    found = found, advice = problem %||% doubt %||% NA_character_
  )
}

look_at_cases <- function(x) {
  n_cases <- count_cases(x, pattern_lengths(x) >= 2L)
  advice <- "Report intervals. `plan_cases()` computes how many cases are needed."
  finding("cases",
    paste0(count_noun(n_cases, "case"), " with two or more ratings; sampling error up to +-",
      percent(normal_quantile(default_conf_level()) * sqrt(0.25 / max(n_cases, 1)))),
    if (n_cases < 50) advice, if (n_cases < 200) advice
  )
}

look_at_raters <- function(x) {
  n_single <- count_cases(x, pattern_lengths(x) == 1L)
  similar <- similar_names(x$raters)
  finding("raters",
    paste0(count_noun(n_raters(x), "rater"),
      count_clause(n_single, "case", "with a single rating"),
      if (length(similar) > 0L)
        paste0("; equal except for capitals or blanks: ", shorten(similar))),
    doubt = c(
      if (n_raters(x) < 3L) "Two raters cannot show which of them is better; a third can.",
      if (length(similar) > 0L) "Correct the names of raters in the data."
    )[1L]
  )
}

as_sentence <- function(words) paste0(capitalised(words), ".")

look_at_agreement <- function(agreement_facts, x) {
  kappa <- agreement_facts$kappa
  if (is.na(kappa)) return(finding("agreement", "Agreement is not defined for these ratings",
    "Agreement needs at least two categories, and a case with two ratings."))
  advice <- if (isTRUE(agreement_facts$unequal)) {
    as_sentence(need_unequal)
  } else if (agreement_facts$at_chance) {
    "Agreement is no better than by chance, so it does not show accuracy. Check the labels."
  } else if (kappa <= 0) {
    paste("Agreement is no better than by chance, given how often raters use each category:",
      "only cases with known truth can help.")
  } else {
    paste("Weak agreement: sharpen the instructions, or", if (panel_kind(x) == "machines")
      "label cases. More machines rarely help." else "take more cases and raters.")
  }
  finding("agreement",
    paste0(
      percent(agreement_facts$share), " of pairs of ratings agree; Fleiss' kappa ",
      format_decimals(kappa, 2L)
    ),
    if (kappa < 0.2) advice, if (kappa < 0.4) advice
  )
}

look_at_constant <- function(x) {
  if (has_counts(x)) return(NULL)
  x <- without_constant_raters(with_votes(x))
  constant <- x$panel$constant
  if (length(constant) == 0L) return(finding("constant raters", "none"))
  finding("constant raters", paste("Always the same answer:", shorten(constant)), paste0(
    if (isTRUE(x$only_constant)) as_sentence(reason_constant) else
      "Such ratings carry no information about the truth. Averages leave these raters out.",
    if (2L * length(constant) > length(union(x$raters, constant)) && !has_abstentions(x))
      " If an empty cell means that a rater abstained, use `ratings(abstain = NA)`."
  ))
}

# Returns the names of the raters. Returns NULL if a rater may rate a case more than once, or if
# ratings are counts without names of raters.
raters_with_one_answer <- function(x) if (!has_counts(x) && !has_repeats(x)) x$raters

# Largest number of raters and systems for which duplicates are searched, to save time.
max_compared_judges <- 200L

look_at_copies <- function(x) {
  pairs <- if (n_raters(x) + n_systems(x) <= max_compared_judges) compared_answers(x)
  if (is.null(pairs)) return(NULL)
  # Constant raters agree even if their answers have no common source. Raters of a group are known
  # to have one.
  constant <- constant_raters(x)
  group <- setNames(x$rater_groups %||% x$raters, x$raters)
  is_explained <- pairs$first %in% constant & pairs$second %in% constant |
    group[pairs$first] == group[pairs$second]
  pairs <- pairs[!(pairs$raters & is_explained), ]
  if (all_nearly_copies(pairs[pairs$raters, ], n_raters(x)))
    return(finding("duplicates", near_copies_message, doubt =
      "If they are one source, their agreement is no evidence: use `ratings(rater_groups = )`."))
  pairs <- pairs[which(pairs$same >= 0.99 & pairs$chance < 0.01 / nrow(pairs)), ]
  if (nrow(pairs) == 0L) return(finding("duplicates", "none"))
  pair_names <- paste(pairs$first, "and", pairs$second)
  finding("duplicates", paste("Nearly the same answers:", shorten(pair_names, "; ")),
    "If they are one source, keep one of them, or declare it by `ratings(rater_groups = )`.")
}

near_copies_message <- paste(
  "Half of all pairs of raters agree in more than 95% of their cases. Good raters do so, and so do",
  "copies of one rater"
)

# Returns a data frame with a row per pair of raters or systems that share at least 20 cases.
# `same` is the share of common cases with equal answers. `chance` is the probability of at least
# this share if errors are independent and the accuracy of each rater or system is its agreement
# with the plurality of the other raters. Returns NULL if there are fewer than two names to compare.
compared_answers <- function(x) {
  raters <- raters_with_one_answer(x)
  names <- c(raters, x$systems)
  if (length(names) < 2L) return(NULL)
  counts <- core_pair_counts(
    x$patterns, weights_of_labels(x), match(x$raters, raters, 0L), length(raters)
  )
  pairs <- which(upper.tri(counts$pairs) & counts$pairs >= 20, arr.ind = TRUE)
  first <- names[pairs[, 1L]]
  second <- names[pairs[, 2L]]
  accuracy <- plurality_shares(x)
  by_chance <- accuracy[first] * accuracy[second] +
    (1 - accuracy[first]) * (1 - accuracy[second]) / max(n_categories(x) - 1, 1)
  n_common <- counts$pairs[pairs]
  n_equal <- counts$agreeing[pairs]
  list2DF(list(
    first = first, second = second, raters = pairs[, 2L] <= length(raters),
    same = n_equal / n_common, chance = binomial_upper_tail(n_equal, n_common, by_chance)
  ))
}

# Checks whether at least half of the compared pairs of raters agree in more than 95% of their
# cases. `pairs` is a result of compared_answers(), `n_panel` the number of raters of the panel.
# Returns FALSE unless most raters are in a compared pair.
all_nearly_copies <- function(pairs, n_panel) {
  length(union(pairs$first, pairs$second)) > max(1, n_panel / 2) &&
    median(pairs$same) > 0.95
}

# Returns sentences about problems of the fitted ratings, for the printed estimates: weak agreement,
# constant raters, duplicates, and systems made from the ratings, as in data_check(). If nearly all
# raters agree nearly always, this is reported only if the kind of raters is not declared, since
# accurate people also do so. Systems are not checked if all estimates rest on gold cases.
panel_problems <- function(fit, is_gold) {
  x <- fit$x
  agreement_facts <- list(
    share = fit$agreement, kappa = kappa_of_agreement(x, fit$agreement),
    at_chance = fit$identified != "yes"
  )
  checks <- rbind(
    if (!agreement_facts$at_chance) look_at_agreement(agreement_facts, x), look_at_constant(x),
    look_at_copies(x), if (!is_gold) look_at_systems(x)
  )
  is_nearly_copied <- checks$check == "duplicates" & checks$status == "doubt" &
    panel_kind(x) == "undeclared"
  shown <- checks[checks$status == "problem" | is_nearly_copied, ]
  found <- ifelse(shown$check == "agreement", "", paste0(shown$found, ". "))
  paste0(found, shown$advice, recycle0 = TRUE)
}

look_at_categories <- function(x) {
  ratings_per_category <- rowsum_codes(rating_category(x), pattern_cases(x)[rating_pattern(x)],
    n_categories(x))
  labels <- x$categories
  largest_share <- max(ratings_per_category) / sum(ratings_per_category)
  # For each pattern with two or more ratings: the most frequent categories, also if tied.
  counts <- pattern_counts(x) * (pattern_lengths(x) > 1L)
  is_plurality <- is_row_maximum(counts) & counts > 1
  list_labels_if <- function(words, is_weak) {
    if (any(is_weak)) paste(words, shorten(labels[is_weak]))
  }
  plain <- plain_label(labels)
  variants <- labels[plain %in% repeated_values(plain)]
  weaknesses <- c(
    if (length(variants) > 0L) paste0("equal except for capitals or blanks: ",
      shorten(dQuote(variants, FALSE)), ", which `clean_labels = TRUE` of `ratings()` merges"),
    list_labels_if("never used:", ratings_per_category == 0),
    list_labels_if("rare:", ratings_per_category > 0 & ratings_per_category < 5),
    if (largest_share > 0.95) paste0(labels[which.max(ratings_per_category)], " has ",
      percent(largest_share), " of ratings"),
    list_labels_if("never the most frequent rating of a case:",
      colSums(counts * pattern_cases(x)) >= 5 & colSums(is_plurality) == 0),
    if ("-1" %in% labels) "-1 often means that a rater abstained: use `ratings(abstain = -1)`"
  )
  finding("categories",
    paste(c(count_noun(length(labels), "category", "categories"), weaknesses), collapse = "; "),
    if (largest_share > 0.95)
      "A system that always gives this answer seems accurate: look at metrics by category.",
    if (length(weaknesses) > 0L) paste(
      "A rare category cannot be estimated by itself; merge categories, or add cases of it. If it",
      "is a code for a missing answer, use `na` of `ratings()`."
    )
  )
}

look_at_ties <- function(x) {
  ties <- tie_lines(x)
  if (length(ties) > 0L) finding("reruns", paste("Reruns tie:", shorten(ties)),
    doubt = "Where they tie, there is no vote: take an odd number of runs.")
}

look_at_missing <- function(x) {
  if (has_counts(x)) return(NULL)
  # A reply is a rating or an abstention. Several ratings of a rater on a case are one reply.
  n_replies <- sum(count_ratings_of_raters(x)) -
    sum(pattern_cases(x)[repeated_ratings(x)$pattern]) +
    sum(weights_of_cases(x)[x$abstained$case])
  missing_share <- 1 - n_replies / (count_cases(x) * n_raters(x))
  n_groups <- count_connected_groups(x)
  ratings_per_case <- unique(pattern_lengths(x)[rated_patterns(x)])
  is_designed <- n_groups == 1L && missing_share > 0.5 && identical(ratings_per_case > 1L, TRUE)
  if (is_designed) return(finding("missing ratings",
    paste(ratings_per_case, "ratings of each case")))
  finding("missing ratings",
    paste0(percent(max(0, missing_share)), " of ratings are missing",
      if (n_groups > 1L) paste0("; raters are in ", n_groups, " groups that share no case")),
    if (n_groups > 1L) "These groups cannot be compared: let raters rate cases of several groups.",
    if (missing_share > 0.5)
      "Are they missing by design? If raters skip hard cases, all results are biased."
  )
}

# Returns the number of separate groups of raters. Two raters are in the same group if they share a
# case, or if a chain of raters who share cases connects them.
count_connected_groups <- function(x) {
  # A rating connects its rater to the rater of the first rating of the same pattern of ratings.
  rater <- rating_rater(x)
  first_rater <- rater[match(rating_pattern(x), rating_pattern(x))]
  group_of <- seq_along(x$raters)
  repeat {
    group <- group_of[group_of] # a group has the number of one of its raters
    new_group <- rep(pmin(group[rater], group[first_rater]), 2L)
    assignment_order <- order(new_group, decreasing = TRUE)
    # If a rater has several new numbers, replace() keeps the last one, which is the lowest.
    group_of <- replace(group, c(rater, first_rater)[assignment_order], new_group[assignment_order])
    if (identical(group_of, group)) break
  }
  length(unique(group[count_ratings_of_raters(x) > 0]))
}

look_at_systems <- function(x) {
  weight <- pattern_weights(x)
  missing_share <- colSums((pattern_answers(x) == 0L) * weight) / sum(weight)
  n_incomplete <- sum(missing_share > 0)
  if (n_systems(x) == 0L) return(finding(
    "systems", "none", doubt = "Name them by `systems` to estimate their accuracy."
  ))
  followers <- consensus_systems(x)
  finding("systems",
    paste0(
      if (length(followers) > 0L) paste0("Same answer as the plurality of the raters wherever it ",
        "leads by one rating: ", shorten(followers)) else count_noun(n_systems(x), "system"),
      count_clause(n_incomplete, "system", paste(
        "without an answer on some cases, at most", percent(max(missing_share))
      ))),
    problem = if (length(followers) > 0L) paste("If these answers were made or learnt from these",
      "ratings, the ratings cannot show their accuracy; cases of known truth can."),
    doubt = if (n_incomplete > 0L && n_systems(x) > 1L)
      "Compare systems on cases that all of them answered."
  )
}

# Names of systems whose answers seem to be made from the ratings, for example by majority vote.
# Where the plurality of the raters leads by a single rating, it is right with a probability of
# about `accuracy`. A system with independent errors cannot follow it more often.
consensus_systems <- function(x) {
  x <- with_votes(x)
  rater_accuracy <- agreement_in_core(x)$rater_accuracy
  accuracy <- rater_accuracy / (rater_accuracy + (1 - rater_accuracy) / (n_categories(x) - 1))
  counts <- pattern_counts(x)
  highest <- row_maximum(counts)
  is_close <- highest > 1 & rowSums(counts == highest) == 1 & rowSums(counts == highest - 1) > 0
  weights <- weights_of_labels(x)[is_close]
  plurality <- max.col(counts[is_close, , drop = FALSE], "first")
  follows <- apply(pattern_answers(x)[is_close, , drop = FALSE], 2L, function(answer) {
    n_answered <- sum(weights[answer > 0L])
    n_equal <- sum(weights[answer == plurality])
    n_answered >= 20 && n_equal >= 0.99 * n_answered &&
      isTRUE(binomial_upper_tail(n_equal, n_answered, accuracy) < 0.01)
  })
  x$systems[follows]
}

look_at_kind <- function(x) {
  finding("who rates", format_kinds(x) %||% "not declared", doubt = switch(panel_kind(x),
    people = NULL,
    machines = paste(
      "Machines tend to share errors, which ratings cannot show: 20 random cases with known truth",
      "are more informative than agreement. See `plan_gold()` and `shared_errors()`."
    ),
    undeclared = if (is.null(rater_kind(x))) {
      paste("If language models or programs rate, declare it by `rater_kind` of `ratings()`:",
        "their intervals are wider.")
    } else {
      "The panel gets intervals for people. For intervals for machines, leave out the people."
    }
  ))
}
