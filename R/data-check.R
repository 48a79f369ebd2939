#' Check ratings before an analysis
#'
#' Checks [ratings()] for properties that weaken every result. Shows which questions, such as "Which
#' system is better?", the ratings can answer, and which need an assumption or cases of known truth.
#'
#' @section Checks:
#' Each check has the status `"ok"`, `"doubt"` or `"problem"`. A single rater has only the checks
#' `"raters"`, `"categories"`, `"missing ratings"` and `"systems"`. Checks are:
#' * `"cases"`: the number of cases with two or more ratings. Fewer than 50 are a problem, fewer
#'   than 200 a doubt. Lehner (2015) advises at least 200 cases if agreement is weak. Also the
#'   number of rows that [ratings()] left out, because they are copies of other rows.
#' * `"raters"`: fewer than three raters are a doubt, because two raters contain little information
#'   on which is more accurate. Names of raters that differ only in capitals or blanks are a doubt.
#' * `"agreement"`: Fleiss' kappa or, for three or more ordered categories, Krippendorff's ordinal
#'   alpha. Below 0.2 is a problem, below 0.4 a doubt. It is also a problem if agreement is
#'   undefined, because no case has two ratings or only one category exists.
#' * `"constant raters"` (not for counts): a problem if raters always choose the same category,
#'   although this is improbable by chance.
#' * `"duplicates"` (for up to 200 raters and systems): a problem if two raters or systems have
#'   equal answers in at least 99% of 20 or more common cases. Pairs are not reported if their equal
#'   answers may be independent (p of .01 or more, adjusted for the number of pairs). Pairs in one
#'   group of raters (`rater_groups` of [ratings()]) are not reported either. A doubt if half of all
#'   pairs of raters agree in more than 95% of their cases.
#' * `"categories"`: a problem if a category has more than 95% of the ratings. A doubt if a category
#'   is unused, has fewer than 5 ratings, or is not the most frequent rating of any case; if labels
#'   differ only in capitals or blanks; or if a label is `"-1"`, which often means a missing answer,
#'   unless categories are ordered or declared, or another label is a smaller number.
#' * `"missing ratings"` (not for counts): a problem if raters fall into sets that share no case. A
#'   doubt if more than half of the ratings are missing and raters seem to be expected to rate all
#'   cases: a rater rated more than half of the cases, or a case has ratings by more than half of
#'   the raters. The same number of ratings for all cases, two or more, is never a doubt.
#' * `"systems"` (classifiers): a problem if a system seems to be computed from the ratings. It then
#'   gives the leading category in at least 99% of 20 or more cases with a lead of one vote (p below
#'   .01 for independent errors). A doubt if there is no system, or if one of several systems lacks
#'   answers.
#' * `"who rates"`: `rater_kind` of [ratings()]. A doubt if it was not declared, if people and
#'   machines are mixed, or if all raters are machines, which tend to make the same errors.
#' * `"reruns"`, only if two answers of a rater to the same case are equally frequent: a doubt,
#'   because the rater then has no vote.
#' @param x A [ratings()] object, or data that [as_ratings()] can convert; or a named list of such
#'   data, with an element for each variable (question) that raters coded.
#' @param ... Not used.
#' @return An object of class `data_check`; for a list of ratings, a list of such objects.
#'
#'   `tidy(x)` returns a tibble with a row per check: `check`, its name; `status`; `found`, the
#'   finding in words; `advice`, what to do, `NA` if the status is `"ok"`.
#'
#'   `tidy(x, "questions")` returns a tibble with a row per question: `question`; `answer`, which is
#'   `"yes"`, `"assumption"` (only under an assumption), `"gold"` (only with cases of known truth)
#'   or `"no"`; `reason`, in words.
#'
#'   `glance(x)` returns a tibble with one row: the numbers of `problems`, `doubts`, `checks`,
#'   `cases`, `raters`, `systems` and `categories`.
#' @templateVar where It gives advice on numbers of cases
#' @template ref-lehner
#' @family data
#' @seealso [check_k_properties()] tests model assumptions, [plan_cases()] plans numbers of cases.
#' @examples
#' # Checks of four raters and a system, and questions that the ratings can answer
#' data_check(ratings(lehner2015, raters = rater1:rater4, systems = system, case = case))
#' @export
data_check <- function(x, ...) {
  check_call()
  if (is_variables(x)) return(stack_results(
    lapply(x, data_check), "variable", note = notes_of_checks))
  x <- as_ratings(x)
  totals <- glance(x)
  # Raters who guess with equal probabilities agree in this share of pairs of ratings.
  chance_share <- 1 / n_categories(x)
  is_at_chance <- isTRUE(totals$agreement <= chance_share)
  # Elements of `agreement_statistics`:
  # * share: share of pairs of ratings that agree
  # * at_chance: is `share` at most `chance_share`?
  # * unequal: TRUE if `at_chance` is TRUE, but models in which raters differ in accuracy are
  #   identified
  # * alpha: ordinal alpha of Krippendorff if categories are ordered, otherwise NULL
  agreement_statistics <- list(
    share = totals$agreement, kappa = totals$kappa, at_chance = is_at_chance,
    unequal = is_at_chance && identifies_unequal_raters(x),
    alpha = if (x$ordered && n_categories(x) > 2L)
      suppressMessages(or_null(compute_measure(x, "krippendorff_alpha_ordinal")))
  )
  merged_ratings <- merge_reruns(x)
  tie_texts <- tie_lines(x)
  has_several_raters <- n_raters(x) > 1L
  checks <- rbind(
    if (has_several_raters) finding_on_cases(with_votes(x)), finding_on_raters(merged_ratings),
    if (has_several_raters) rbind(
      finding_on_agreement(agreement_statistics, x), finding_on_constant_raters(x),
      finding_on_duplicates(merged_ratings)
    ),
    finding_on_categories(x), finding_on_missing_ratings(x), finding_on_systems(x),
    if (has_several_raters) finding_on_rater_kind(x),
    if (!is_empty(tie_texts)) finding_row("reruns", paste("Reruns tie:", shorten(tie_texts)),
      doubt = one_line("Where they tie, there is no vote. With an odd number of answers, two
        categories cannot tie: if the number of runs is odd, find out why answers are missing."))
  )
  new_data_check(checks, list_questions(x, agreement_statistics), totals)
}

# Returns one row of the table of checks. `check`: name of the check. `found`: the finding in words.
# `problem`, `doubt`: advice to the user. The argument that is given determines the status of the
# check; without advice, the status is "ok".
finding_row <- function(check, found, problem = NULL, doubt = NULL) {
  columns_tibble(
    check = check,
    status = if (!is.null(problem)) "problem" else if (!is.null(doubt)) "doubt" else "ok",
    found = found, advice = problem %||% doubt %||% NA_character_
  )
}

finding_on_cases <- function(x) {
  n_cases <- count_cases(x, pattern_lengths(x) >= 2L)
  advice <- "Report intervals. `plan_cases()` computes how many cases are needed."
  finding_row("cases",
    paste0(count_noun(n_cases, "case"), " with two or more ratings; sampling error up to +-",
      percent(normal_quantile(default_conf_level()) * sqrt(0.25 / max(n_cases, 1))),
      count_clause(x$copies %||% 0, "row", "left out as copies")),
    if (n_cases < 50) advice, if (n_cases < 200) advice
  )
}

finding_on_raters <- function(x) {
  n_cases_rated_once <- count_cases(x, pattern_lengths(x) == 1L)
  similar_raters <- similar_names(x$raters)
  finding_row("raters",
    paste0(count_noun(n_raters(x), "rater"),
      count_clause(n_cases_rated_once, "case", "with a single rating"),
      if (!is_empty(similar_raters))
        paste0("; equal except for capitals or blanks: ", shorten(similar_raters))),
    doubt = c(
      if (n_raters(x) < 2L)
        paste(one_rater_text, "Label a random sample of cases; see `plan_gold()`."),
      if (n_raters(x) < 3L) "Two raters cannot show which of them is better; a third can.",
      if (!is_empty(similar_raters)) "Correct the names of raters in the data."
    )[1L]
  )
}

one_rater_text <- "One rater has no agreement with others."
as_sentence <- function(words) paste0(capitalised(words), ".")

finding_on_agreement <- function(agreement_statistics, x) {
  alpha <- agreement_statistics$alpha
  kappa_or_alpha <- alpha %||% agreement_statistics$kappa
  if (is.na(kappa_or_alpha)) return(finding_row("agreement",
    "Agreement is not defined for these ratings",
    "Agreement needs at least two categories, and a case with two ratings."))
  advice <- if (isTRUE(agreement_statistics$unequal)) {
    as_sentence(reason_needs_unequal_raters)
  } else if (agreement_statistics$at_chance) {
    "Agreement is no better than by chance, so it does not show accuracy. Check the labels."
  } else if (kappa_or_alpha <= 0) {
    one_line("Agreement is no better than by chance, given how often raters use each category: only
      cases with known truth can help.")
  } else {
    paste("Weak agreement: sharpen the instructions, or", if (panel_kind(x) == "machines")
      "label cases. More machines rarely help." else "take more cases and raters.")
  }
  finding_row("agreement",
    paste0(
      percent(agreement_statistics$share), " of pairs of ratings agree; ",
      if (is.null(alpha)) "Fleiss' kappa " else "Krippendorff's ordinal alpha ",
      format_decimals(kappa_or_alpha, 2L)
    ),
    if (kappa_or_alpha < 0.2) advice, if (kappa_or_alpha < 0.4) advice
  )
}

finding_on_constant_raters <- function(x) {
  if (has_counts(x)) return(NULL)
  x <- without_constant_raters(with_votes(x))
  constant_names <- x$panel$constant
  if (is_empty(constant_names)) return(finding_row("constant raters", "none"))
  finding_row("constant raters", paste("Always the same answer:", shorten(constant_names)), paste0(
    if (isTRUE(x$only_constant)) as_sentence(reason_constant) else
      "Such ratings carry no information about the truth. Averages leave these raters out.",
    if (2L * length(constant_names) > length(union(x$raters, constant_names)) &&
      !has_abstentions(x))
      " If an empty cell means that a rater abstained, use `ratings(abstain = NA)`."
  ))
}

# Returns the names of the raters if each of them gives a case at most one rating. Returns NULL for
# repeated ratings, and for counts, which have no names of raters.
raters_with_single_ratings <- function(x) if (!has_counts(x) && !has_repeats(x)) x$raters

# Largest number of raters and systems for which duplicates are searched, to save time.
max_compared_judges <- 200L

finding_on_duplicates <- function(x) {
  pairs <- if (n_raters(x) + n_systems(x) <= max_compared_judges) compare_answers(x)
  if (is.null(pairs)) return(NULL)
  # Pairs of constant raters, and pairs of raters in one group, are not reported, because the reason
  # for their agreement is already known.
  constant_names <- constant_raters(x)
  rater_group <- setNames(x$rater_groups %||% x$raters, x$raters)
  is_explained <- pairs$first %in% constant_names & pairs$second %in% constant_names |
    rater_group[pairs$first] == rater_group[pairs$second]
  pairs <- pairs[!(pairs$raters & is_explained), ]
  # Near-perfect agreement is reported if half of the compared pairs of raters agree in more than
  # 95% of their cases. These pairs must contain more than half of the raters.
  rater_pairs <- pairs[pairs$raters, ]
  n_compared_raters <- length(union(rater_pairs$first, rater_pairs$second))
  if (n_compared_raters > max(1, n_raters(x) / 2) && median(rater_pairs$same) > 0.95)
    return(finding_row("duplicates", near_copies_message, doubt =
      "If raters copy one source, their agreement is no evidence: use `ratings(rater_groups = )`."))
  pairs <- pairs[which(pairs$same >= 0.99 & pairs$chance < 0.01 / nrow(pairs)), ]
  if (nrow(pairs) == 0L) return(finding_row("duplicates", "none"))
  finding_row("duplicates",
    words_with_labels("Nearly the same answers:", paste(pairs$first, "and", pairs$second), "; "),
    "If both copy one source, keep one of them, or make them a group: `ratings(rater_groups = )`.")
}

near_copies_message <- one_line("Half of all pairs of raters agree in more than 95% of their cases.
  Good raters do so, and so do copies of one rater")

# Compares the answers of raters and systems in pairs. Returns a data frame with a row per pair that
# has at least 20 common cases; NULL if there are fewer than two raters and systems. Columns:
# * first, second: names of the two raters or systems
# * raters: are both of them raters?
# * same: share of common cases with equal answers
# * chance: probability of at least the share `same` if errors are independent
compare_answers <- function(x) {
  compared_raters <- raters_with_single_ratings(x)
  judge_names <- c(compared_raters, x$systems)
  if (length(judge_names) < 2L) return(NULL)
  counts <- core_pair_counts(
    x$patterns, weights_of_labels(x), match(x$raters, compared_raters, 0L),
    length(compared_raters)
  )
  pairs <- table_of_pairs(counts, 20)
  first_judge <- judge_names[pairs$judge1]
  second_judge <- judge_names[pairs$judge2]
  # Accuracy is estimated by agreement with the most frequent rating by other raters.
  plurality_share <- plurality_shares(x)
  p_equal <- plurality_share[first_judge] * plurality_share[second_judge] +
    (1 - plurality_share[first_judge]) * (1 - plurality_share[second_judge]) /
      max(n_categories(x) - 1, 1)
  list2DF(list(
    first = first_judge, second = second_judge, raters = pairs$judge2 <= length(compared_raters),
    same = pairs$agreeing / pairs$cases,
    chance = binomial_upper_tail(pairs$agreeing, pairs$cases, p_equal)
  ))
}

# Returns a table with a row per pair of judges (raters and systems) that have at least `least`
# common cases: indices of both judges, number of common cases, and number of cases with equal
# answers. `counts`: result of core_pair_counts(), a list of matrices (judges x judges).
table_of_pairs <- function(counts, least) {
  pairs <- which(upper.tri(counts$pairs) & counts$pairs >= least, arr.ind = TRUE)
  data.frame(
    judge1 = pairs[, 1L], judge2 = pairs[, 2L], cases = counts$pairs[pairs],
    agreeing = counts$agreeing[pairs]
  )
}

finding_on_categories <- function(x) {
  ratings_per_category <- rowsum_codes(rating_category(x), pattern_cases(x)[rating_pattern(x)],
    n_categories(x))
  labels <- x$categories
  largest_share <- max(ratings_per_category) / sum(ratings_per_category)
  # Number of ratings in each category per pattern (patterns x categories). The numbers are 0 for
  # patterns with fewer than two ratings.
  counts <- pattern_counts(x) * (pattern_lengths(x) > 1L)
  is_plurality <- is_row_maximum(counts) & counts > 1
  plain_labels <- plain_label(labels)
  variant_labels <- labels[plain_labels %in% repeated_values(plain_labels)]
  weaknesses <- c(
    if (!is_empty(variant_labels)) fill_template("equal except for capitals or blanks: %s, which
      `clean_labels = TRUE` of `ratings()` merges", shorten(dQuote(variant_labels, FALSE))),
    words_with_labels("never used:", labels[ratings_per_category == 0]),
    words_with_labels("rare:", labels[ratings_per_category > 0 & ratings_per_category < 5]),
    if (largest_share > 0.95) paste0(labels[which.max(ratings_per_category)], " has ",
      percent(largest_share), " of ratings"),
    words_with_labels("never the most frequent rating of a case:",
      labels[colSums(counts * pattern_cases(x)) >= 5 & colSums(is_plurality) == 0]),
    if ("-1" %in% labels && !x$ordered && is.null(x$declared) && !any(as_numbers(labels) < -1))
      "-1 often means that a rater abstained: use `ratings(abstain = -1)`"
  )
  finding_row("categories",
    paste(c(count_noun(length(labels), "category"), weaknesses), collapse = "; "),
    if (largest_share > 0.95)
      "A system that always gives this answer seems accurate: look at metrics by category.",
    if (!is_empty(weaknesses)) one_line("A rare category cannot be estimated by itself; merge
      categories, or add cases of it. If it is a code for a missing answer, use `na` of
      `ratings()`.")
  )
}

finding_on_missing_ratings <- function(x) {
  if (has_counts(x)) return(NULL)
  # A reply is a rating or an abstention. Repeated ratings of a case by one rater are one reply.
  n_replies <- sum(count_ratings_of_raters(x)) -
    sum(pattern_cases(x)[repeated_ratings(x)$pattern]) +
    sum(weights_of_cases(x)[x$abstained$case])
  missing_share <- 1 - n_replies / (count_cases(x) * n_raters(x))
  n_groups <- count_connected_groups(x)
  ratings_per_case <- range(pattern_lengths(x)[is_rated_pattern(x)])
  # If no rater rated most cases, and no case was rated by most raters, each case was assigned to a
  # few raters. The other raters were not expected to rate it.
  are_cases_assigned <- 2 * max(count_ratings_of_raters(x)) <= count_cases(x) &&
    2L * ratings_per_case[[2L]] <= n_raters(x)
  is_missing_by_design <- n_groups == 1L && missing_share > 0.5 &&
    (are_cases_assigned || ratings_per_case[[1L]] == max(ratings_per_case, 2L))
  if (is_missing_by_design) return(finding_row("missing ratings",
    paste(format_span(ratings_per_case), "ratings of each case")))
  finding_row("missing ratings",
    paste0(percent(max(0, missing_share)), " of ratings are missing",
      if (length(x$abstained$case) > 0L) ", not counting abstentions",
      if (n_groups > 1L) sprintf("; raters are in %s groups that share no case", n_groups)),
    if (n_groups > 1L) "These groups cannot be compared: let raters rate cases of several groups.",
    if (missing_share > 0.5)
      "Are they missing by design? If raters skip hard cases, all results are biased."
  )
}

# Returns the number of connected groups of raters. Two raters are in the same group if they rated
# the same case, or if a chain of other raters with common cases connects them. Raters in different
# groups have no case in common. Raters without ratings are not counted.
count_connected_groups <- function(x) {
  # All raters in a pattern rated the same cases. Each rater is connected to the first rater of the
  # pattern.
  rater <- rating_rater(x)
  first_rater <- rater[match(rating_pattern(x), rating_pattern(x))]
  group_of_rater <- seq_along(x$raters)
  repeat {
    # The number of a group is the index of one of its raters.
    group <- group_of_rater[group_of_rater]
    new_group <- rep(pmin(group[rater], group[first_rater]), 2L)
    assignment_order <- order(new_group, decreasing = TRUE)
    # If a rater gets several new numbers, replace() keeps the last, which is the lowest.
    group_of_rater <-
      replace(group, c(rater, first_rater)[assignment_order], new_group[assignment_order])
    if (identical(group_of_rater, group)) break
  }
  n_distinct(group[count_ratings_of_raters(x) > 0])
}

finding_on_systems <- function(x) {
  weight <- pattern_weights(x)
  missing_share <- colSums((pattern_answers(x) == 0L) * weight) / sum(weight)
  n_incomplete_systems <- sum(missing_share > 0)
  if (n_systems(x) == 0L) return(finding_row(
    "systems", "none", doubt = "Name them by `systems` to estimate their accuracy."
  ))
  followers <- consensus_systems(x)
  finding_row("systems",
    paste0(
      if (!is_empty(followers)) paste0(follower_prefix, shorten(followers)) else
        count_noun(n_systems(x), "system"),
      count_clause(n_incomplete_systems, "system", paste(
        "without an answer on some cases, at most", percent(max(missing_share))
      ))),
    problem = if (!is_empty(followers)) follower_advice,
    doubt = if (n_incomplete_systems > 0L && n_systems(x) > 1L) one_line("Accuracies
      of single systems are of different cases; `compare_systems()` uses only cases that all of them
      answered.")
  )
}

finding_on_rater_kind <- function(x) {
  finding_row("who rates", format_kinds(x) %||% "not declared", doubt = switch(panel_kind(x),
    people = NULL,
    machines = one_line("Machines tend to share errors, which ratings cannot show: 20 random cases
      with known truth are more informative than agreement. See `plan_gold()` and
      `shared_errors()`."),
    undeclared = if (is.null(rater_kind(x))) {
      one_line("If language models or programs rate, declare it by `rater_kind` of `ratings()`:
        their intervals are wider.")
    } else {
      "Mixed raters get the intervals for people. To get those for machines, leave out the people."
    }
  ))
}
