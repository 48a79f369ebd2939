#' @srrstats {UL1.2} names of rows are not read
#' @export
dim.ratings <- function(x) c(n_cases(x), n_raters(x))

#' @export
dimnames.ratings <- function(x) list(as_label(x$cases), x$raters)

# Registers the same methods for the classes `ratings` and `ratings_labels`, which have no common
# parent class. The methods of print(), tidy() and similar generics are those of the class
# `fallible_result`.
#' @rawNamespace
#' S3method(dim,ratings_labels,dim.ratings); S3method(dimnames,ratings_labels,dimnames.ratings)
#' S3method("[",ratings_labels,"[.ratings")
#' S3method(as.data.frame,ratings_labels,as.data.frame.ratings)
#' S3method(print,ratings,print.fallible_result)
#' S3method(print,ratings_labels,print.fallible_result)
#' S3method(format,ratings,format.fallible_result)
#' S3method(format,ratings_labels,format.fallible_result)
#' S3method(summary,ratings,summary.fallible_result)
#' S3method(summary,ratings_labels,summary.fallible_result)
#' S3method(tidy,ratings,tidy.fallible_result)
#' S3method(tidy,ratings_labels,tidy.fallible_result)
#' S3method(glance,ratings,glance.fallible_result)
#' S3method(glance,ratings_labels,glance.fallible_result)
#' S3method(knitr::knit_print,ratings,knit_result)
#' S3method(knitr::knit_print,ratings_labels,knit_result)
#' @noRd
NULL

#' @export
`[.ratings` <- function(x, i, j, k, ...) {
  if (!missing(i) && in_database(x)) abort_no_cases("{.arg i} selects cases")
  kept_cases <- if (missing(i)) seq_along(x$index) else find_positions(i, x$cases, "case")
  kept_raters <- if (missing(j)) seq_along(x$raters) else
    find_positions(j, x$raters, "rater", x$systems)
  if (!missing(j)) check_named_raters(x, "j", "Raters cannot be selected, only cases.", i = NULL)
  abort_if(is_empty(kept_cases), "empty", "At least one case must remain.")
  abort_if(is_empty(kept_raters), "raters", "At least one rater must remain.",
    raters = character())
  abort_argument_if(any_repeated(kept_raters), "j", "A rater can be selected only once.")
  if (!missing(k)) x <- keep_systems(x, find_positions(k, x$systems, "system"))
  new_rater_number <- match(seq_along(x$raters), kept_raters, nomatch = 0L)
  pattern_of_kept_case <- pattern_of_case(x)[kept_cases]
  values_of_kept_cases <- lapply(x$patterns$values, `[`, pattern_of_kept_case)
  kept_patterns <- core_patterns_subset(x$patterns, pattern_of_kept_case, new_rater_number)
  # Counts have no rater names. Their number of raters is the largest number of ratings of a case.
  x$raters <- if (has_counts(x)) as.character(seq_len(max(pattern_lengths(kept_patterns)))) else
    x$raters[kept_raters]
  x["weights"] <- list(x$weights[kept_cases])
  x <- split_patterns(set_core_patterns(x, kept_patterns), values_of_kept_cases)
  x$whole <- NULL
  if (!missing(i)) {
    if (!identical(kept_cases, seq_along(x$cases))) x$rows <- NULL
    x$cases <- x$cases[kept_cases]
  }
  x$covariates <- x$covariates[kept_cases, ] # NULL stays NULL, also below
  if (!is.null(x$scores) && !missing(i))
    x$scores$values <- lapply(x$scores$values, function(scores) pick_rows(scores, kept_cases))
  for (field in entry_fields(x))
    x[[field]] <- subset_case_entries(x[[field]], kept_cases, new_rater_number)
  x$silent_systems <- subset_case_entries(x$silent_systems, kept_cases, seq_along(x$systems), TRUE)
  x$rater_groups <- x$rater_groups[kept_raters]
  if (!is.null(x$truth)) x$truth <- subset_truth(x$truth, kept_cases)
  x$empty_answers <- subset_case_entries(x$empty_answers, kept_cases, new_rater_number, TRUE)
  x
}

# Keeps the systems with the numbers `kept_systems`. Patterns that become equal are not joined; a
# caller can join them with join_patterns().
keep_systems <- function(x, kept_systems) {
  abort_argument_if(any_repeated(kept_systems), "k", "A system can be selected only once.")
  new_system_number <- match(seq_along(x$systems), kept_systems, nomatch = 0L)
  x$silent_systems <-
    subset_case_entries(x$silent_systems, seq_along(x$cases), new_system_number, TRUE)
  x$systems <- x$systems[kept_systems]
  x$patterns <- pick_systems(x$patterns, kept_systems)
  if (!is.null(x$truth)) x$truth$expected <- x$truth$expected[kept_systems]
  if (!is.null(x$scores)) x["scores"] <- list(keep_scores(x$scores, x$systems))
  x
}

# Returns the positions of the cases, raters or systems that the index `i` selects. `i` contains
# numbers, logical values or names.
# * names: names of all cases, raters or systems.
# * dimension: "case", "rater" or "system", for the error.
# * systems: names of systems, for the error.
find_positions <- function(i, names, dimension, systems = NULL) {
  n_elements <- length(names)
  is_valid_position <- is.numeric(i) && !anyNA(i) && all(abs(i) <= n_elements) &&
    (all(i >= 0) || all(i <= 0))
  positions <- if (is.character(i)) match(i, as_label(names)) else
    if (is_valid_position || is.logical(i) && length(i) == n_elements) seq_len(n_elements)[i] else
      NA
  abort_argument_if(anyNA(positions), dimension, "Some selected {dimension}s do not exist.",
    not = i,
    i = if (any(i %in% systems)) "Systems are not raters: {.code x[, , k]} selects systems, and
        {.code agreement(x, systems = TRUE)} compares them. Systems that are not named in
        {.arg systems} of {.fun ratings} are raters." else
      c("Subset the {n_elements} {dimension}s by position, by name or by a logical vector of length
        {n_elements}.", if (dimension == "case" && length(i) == 0L) "Covariates of cases are in
        {.code x$covariates}, such as {.code x[x$covariates$site == \"A\", ]}."))
  positions
}

# Returns the matrix of vote counts (cases x categories): number of raters who chose each category.
category_counts <- function(x) {
  structure(
    pick_rows(pattern_counts(x), pattern_of_case(x)),
    dimnames = list(as_label(x$cases), x$categories)
  )
}

#' Agreement matrix of two raters
#'
#' Returns the contingency table of the categories that two raters or systems gave to the same
#' cases.
#'
#' @param x A [ratings()] object, or an object that [as_ratings()] accepts.
#' @param rater1,rater2 Names of two raters or systems of `x`, strings.
#' @param ... Not used.
#' @return A `table` with the categories of `rater1` in rows and the categories of `rater2` in
#'   columns. A cell contains the number of cases with these two answers, or their total weight if
#'   the cases have weights. Cases without an answer of both are left out. Reruns (repeated answers,
#'   see [rater_groups]) count as one answer, their most frequent category.
#' @family data
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' # The diagonal counts the cases on which both agree
#' agreement_matrix(x, "rater1", "system")
#' @export
agreement_matrix <- function(x, rater1, rater2, ...) {
  check_call()
  x <- merge_reruns(as_ratings(x))
  answer_pairs <- merge(
    judge_answers(x, rater1, "rater1"), judge_answers(x, rater2, "rater2"), by = "pattern"
  )
  cross_table(
    answer_pairs$category.x, answer_pairs$category.y, pattern_weights(x)[answer_pairs$pattern],
    x$categories, c(rater1, rater2)
  )
}

# Counts pairs of answers of two raters. Returns a table with the categories of the first rater in
# rows and of the second rater in columns.
# * code1, code2: for each case, the codes of the answers of both raters.
# * weight: weight of each case.
# * raters: names of the two raters.
cross_table <- function(code1, code2, weight, labels, raters) {
  n_labels <- length(labels)
  as.table(matrix(rowsum_codes(code1 + (code2 - 1L) * n_labels, weight, n_labels^2), n_labels,
    dimnames = setNames(list(labels, labels), raters)))
}

# Returns the answers of the rater or system `name`: a data frame of `pattern` and `category`.
judge_answers <- function(x, name, arg) {
  judge_names <- c(named_raters(x), x$systems)
  abort_argument_if(!(is_string(name) && name %in% judge_names), arg,
    "must name a rater or a system of {.arg x}.", not = name,
    i = why_unnamed(x) %||% "They are {.val {judge_names}}.")
  if (name %in% named_raters(x)) {
    ratings <- data.frame(pattern = rating_pattern(x), category = rating_category(x))
    return(ratings[rating_rater(x) == match(name, x$raters), ])
  }
  answer_codes <- pattern_answers(x)[, match(name, x$systems)]
  data.frame(pattern = which(answer_codes > 0L), category = answer_codes[answer_codes > 0L])
}

# c(), rbind() and cbind() of ratings fail, because the default methods of R would return lists of
# fields.
#' @rawNamespace S3method(c,ratings,abort_bind); S3method(c,ratings_labels,abort_bind)
#' @rawNamespace S3method(rbind,ratings,abort_bind); S3method(rbind,ratings_labels,abort_bind)
#' @rawNamespace S3method(cbind,ratings,abort_bind); S3method(cbind,ratings_labels,abort_bind)
#' @noRd
abort_bind <- function(...) {
  abort_argument("...", "Ratings cannot be combined by {.fun c}, {.fun rbind} or {.fun cbind}.",
    i = "Combine their data frames, {.code rbind(as.data.frame(x), as.data.frame(y))}, and call
         {.fun ratings} on the result.", call = NULL)
}

#' @rawNamespace S3method(subset,ratings,abort_subset); S3method(subset,ratings_labels,abort_subset)
#' @rawNamespace S3method(dplyr::filter,ratings,abort_subset)
#' @rawNamespace S3method(dplyr::filter,ratings_labels,abort_subset)
#' @noRd
abort_subset <- function(...) {
  abort_argument("...", "Ratings cannot be filtered by {.fun subset} or {.fun filter}.",
    i = "Select by {.code x[cases, raters]}, such as {.code x[, c(\"a\", \"b\")]} or
         {.code x[tidy(x, \"covariates\")$site == \"north\", ]}.", call = NULL)
}

# Returns the tables and text that print(), tidy() and similar methods show. They are computed at
# each call, and not stored in the ratings object.
schema_of.ratings <- function(x) { # nolint: object_name.
  check_ratings_fields(x)
  merged_ratings <- merge_reruns(x)
  agreement_fit <- if (has_labels(x)) list(agreement = NA_real_, kappa = NA_real_) else
    agreement_in_core(merged_ratings)
  agreement <- agreement_fit$agreement
  totals <- list(
    cases = nrow(x), raters = n_raters(x), ratings = n_ratings(x), categories = n_categories(x),
    systems = n_systems(x), patterns = n_patterns(x), agreement = agreement,
    kappa = kappa_of_agreement(merged_ratings, agreement), chance_kappa = agreement_fit$kappa
  )
  system_summary <- summarise_systems(x)
  header_lines <- format_header(x)
  one_line_summary <- paste0(
    header_lines[[1L]], if (totals$systems > 0L) paste0(", ", count_noun(totals$systems, "system")),
    if (!is.na(agreement)) sprintf(": pairs of raters agree in %s (kappa %s)", percent(agreement),
      format_decimals(totals$kappa, 2L))
  )
  agreement_line <- if (!is.na(agreement))
    sprintf("Pairs of raters agree: %s (by guessing %s; Fleiss' kappa %s)",
      percent(agreement), percent(1 / n_categories(x)), format_decimals(totals$kappa)) else
    if (!has_labels(x)) "No case was rated by two raters: agreement is unknown"
  new_schema(
    list(
      ratings = rating_table, systems = system_answer_table, answers = answer_table,
      scores = score_table, counts = count_table,
      patterns = function(x) pattern_table(as_ratings(x)),
      covariates = function(x) as_tibble(c(list(case = x$cases), columns_of_cases(x))),
      workers = simulated_worker_table, raters = table_of_raters, categories = table_of_categories,
      groups = group_table, system_agreement = summarise_systems
    ),
    totals, one_line_summary, header_lines[[1L]],
    head = c(header_lines, agreement_line, format_systems(system_summary)),
    more = c(Next = suggest_next_step(x)),
    summary = function(x) summary_of_ratings(x, system_summary)
  )
}

schema_of.ratings_labels <- schema_of.ratings # nolint: object_name.

summary_of_ratings <- function(x, systems) {
  raters <- if (!has_counts(x)) table_of_raters(x)
  tables <- Filter(NROW, list(
    Categories = table_of_categories(x), Raters = if (has_labels(x)) raters,
    `Raters (agreement with the others)` = if (!has_labels(x)) raters,
    `Groups (agreement of their members)` = if (!has_labels(x)) group_table(x),
    `Systems (agreement with raters)` = systems
  ))
  digits <- c(3L, ratings = 0L, unrated = 0L, votes = 0L, split = 0L)
  Map(view, tables, digits = list(digits), title = names(tables))
}

table_of_categories <- function(x) {
  counts <- rowsum_codes(rating_category(x), rating_weights(x), n_categories(x))
  columns_tibble(category = x$categories, ratings = counts, share = counts / sum(counts))
}

# Returns a table with a row per rater. Columns are the number of ratings, and the agreement with
# the other raters. If there are reruns, another column contains the agreement between reruns of the
# rater.
table_of_raters <- function(x) {
  check_named_raters(x, "what", "There is no table of raters.", i = NULL)
  merged_ratings <- merge_reruns(x)
  counts <- core_rater_counts(merged_ratings$patterns, pattern_weights(merged_ratings))
  # Returns, for each rater, the weighted number of pairs of ratings in the same group. `key`: group
  # number of each rating. All ratings of a group must be by the same rater.
  count_pairs <- function(key) {
    n_equal <- count_at_first_occurrence(key)
    rowsum_codes(rating_rater(x), rating_weights(x) * n_equal * (n_equal - 1) / 2, n_raters(x))
  }
  rater_pattern_key <- (rating_pattern(x) - 1) * n_raters(x) + rating_rater(x)
  tibble(
    rater = x$raters, group = x$rater_groups, ratings = ratings_of_raters(x),
    agreement = if (!has_labels(x)) ratio(counts$agreeing, counts$pairs),
    rerun_agreement = if (has_reruns(x))
      ratio(count_pairs(rater_pattern_key * n_categories(x) + rating_category(x)),
        count_pairs(rater_pattern_key))
  )
}

# Returns a table with a row per system. Columns:
# * cases: number of answered cases.
# * unrated: number of answered cases without ratings.
# * agreement: share of ratings that are equal to the system's answer. Reruns of a rater count as
#   one rating.
summarise_systems <- function(x) {
  merged_ratings <- merge_reruns(x)
  pattern_of_rating <- rating_pattern(merged_ratings)
  answer_codes <- pick_rows(pattern_answers(merged_ratings), pattern_of_rating)
  weight <- pattern_weights(merged_ratings)[pattern_of_rating] * (answer_codes > 0L)
  columns_tibble(
    system = x$systems, cases = answered_weight(x, pattern_cases(x)),
    unrated = answered_weight(x, pattern_cases(x) * !is_rated_pattern(x)),
    agreement = ratio(
      colSums(weight * (answer_codes == rating_category(merged_ratings))), colSums(weight)
    )
  )
}

ratio <- function(numerator, denominator) ifelse(denominator > 0, numerator / denominator, NA_real_)

# Returns, for each code from 1 to `n`, the sum of the elements of `weight` with this code.
rowsum_codes <- function(code, weight, n) as.vector(rowsum_rows(code, as.matrix(weight), n))

# Sums the rows of the matrix `values` by group. `code`: group of each row, from 1 to `n`. Groups
# without rows have the sum 0.
rowsum_rows <- function(code, values, n) {
  sums <- rowsum(values, code)
  all_sums <- matrix(0, n, ncol(values))
  all_sums[as.integer(rownames(sums)), ] <- sums
  all_sums
}

suggest_next_step <- function(x) {
  if (has_labels(x)) return("crowdtruth(), as.data.frame()")
  accuracy_call <- if (n_systems(x) > 0L) "estimate_accuracy()"
  if (n_raters(x) < 2L)
    paste(accuracy_call %||% "fit_raters()", "with known_truth or known_raters") else
    sprintf("fit_raters(), ground_truth(), %s, plot()", accuracy_call %||% "summary()")
}

format_header <- function(x) {
  cases_per_pattern <- n_cases_per_pattern(x)
  ratings_per_case <- pattern_lengths(x)[cases_per_pattern > 0]
  n_unrated <- sum(cases_per_pattern[!is_rated_pattern(x)])
  unused_categories <- setdiff(seq_along(x$categories), rating_category(x))
  group_sizes <- lengths(groups_with_several_raters(x))
  # If a label contains a comma, or begins or ends with a blank, all labels are quoted. Otherwise
  # the list of labels would be ambiguous.
  needs_quotes <- x$categories != trimws(x$categories) | grepl(",", x$categories, fixed = TRUE)
  labels <- if (any(needs_quotes)) paste0("\"", x$categories, "\"") else x$categories
  c(
    toString(c(
      count_noun(nrow(x), "case"),
      if (has_counts(x)) sprintf("up to %s exchangeable raters", n_raters(x)) else
        count_noun(n_raters(x), "rater"),
      count_noun(n_categories(x), "category")
    )),
    paste0(
      "Categories: ", shorten(labels, if (x$ordered) " < " else ", "),
      if (!is_empty(unused_categories)) paste0("; unused: ",
        shorten(x$categories[unused_categories]))
    ),
    if (has_labels(x)) format_answers(x) else paste0(
      count_noun(n_ratings(x), "rating"), ", ", format_span(ratings_per_case), " per case",
      count_clause(n_unrated, "case", "without any"),
      switch(x$repeats, reruns = "; reruns by a rater count as one vote",
        ratings = "; repeats by a rater are separate ratings")
    ),
    format_kinds(x),
    if (!is_empty(group_sizes)) paste("Fits count raters of one group as one vote:",
      shorten(paste0(names(group_sizes), " (", group_sizes, " raters)"))),
    format_votes(x), format_confidence(x), format_abstentions(x), format_covariates(x),
    if (is_given_truth(x)) sprintf("Truth kept for %s, for known_truth = TRUE only",
      count_noun(sum(!is.na(x$truth$category)), "case")),
    format_scores(x),
    if (in_database(x))
      paste("Counted in a database, where the cases are:", count_noun(n_patterns(x), "pattern")),
    if (!is.null(x$weights) && !identical(x$weights, x$times)) {
      if (weights_are_counts(x))
        paste("Rows have weights and represent", count_noun(sum(x$weights), "case")) else
        "Rows have weights that are not counts: no standard errors or intervals"
    }
  )
}

# Makes text such as "; 3 cases without any" from `n`, `noun` and `words`; NULL if `n` is 0.
count_clause <- function(n, noun, words) {
  if (n > 0) sprintf("; %s %s", count_noun(n, noun), words)
}

format_systems <- function(systems) {
  if (nrow(systems) == 0L) return(NULL)
  shown_systems <- head(systems, 10L)
  c(
    paste0(count_noun(nrow(systems), "system"), ":"),
    sprintf(
      "  %s  %s%s%s, agrees with %s of the ratings", format(shown_systems$system),
      number(shown_systems$cases), ifelse(shown_systems$cases == 1, " case", " cases"),
      ifelse(shown_systems$unrated > 0,
        sprintf(" (%s without ratings)", number(shown_systems$unrated)), ""),
      percent(shown_systems$agreement)
    ),
    if (nrow(systems) > 10L) sprintf("  ... and %s more", nrow(systems) - 10L)
  )
}
