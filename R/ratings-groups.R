# Groups of raters who share a source, and reruns of one rater: declaration, and conversion to one
# vote of each group and each rater.

#' One vote per group and per rater
#'
#' Raters who share a source (a family of models, a laboratory, a training) make correlated errors,
#' and so do reruns of one rater. Fits of ratings with `rater_groups`, or with `repeats = "reruns"`,
#' use one vote per group and per rater. `as_ratings(x, votes = TRUE)` returns these votes.
#'
#' The vote of a group on a case is its most frequent category. If several categories are equally
#' frequent, the group has no vote on that case. The same rule combines the reruns of a rater into
#' its vote, before it votes in its group. A rater who is a group by itself keeps its
#' ratings. All raters may be in one group. There is then a single vote, which needs known truths or
#' a calibration sample (`known_raters` of [fit_raters()]).
#'
#' @section Performance:
#' The rule was tested on simulated panels (bench/rater-groups.R) with two groups of three raters,
#' two single raters and a system with accuracy .8. There were 300 or 1000 cases in two or five
#' categories. In one simulation, members of a group repeat the first member in 50% or 80% of the
#' cases. The mean absolute error of [estimate_accuracy()] is .22 without groups and .02 with
#' groups; 90% intervals cover .26 and .97. In another, members are right on the same cases
#' (correlation .5 or .8). The error is .060 and .015, and coverage is .75 and .97. Exponents in the
#' likelihood, and a random effect of the group, were no better.
#'
#' In a simulation of reruns, four judges have two or three runs each, which repeat the first run in
#' 0, 50% or 80% of the cases. The error is .047 if runs count as separate raters, and .019 with
#' votes. It is .022 if the first run is the vote where runs tie. Votes of independent runs lose
#' nothing.
#'
#' @name rater_groups
#' @family data
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case,
#'   rater_groups = c(rater1 = "clinic", rater2 = "clinic"))
#' # After voting, the raters are the groups, in the order of their first members
#' as_ratings(x, votes = TRUE)
#'
#' # A fit uses these votes
#' fit_raters(x)
NULL

# Is there a single rater after the votes of groups?
is_one_rater <- function(x) length(unique(x$rater_groups %||% x$raters)) < 2L

# Replaces reruns by votes; all raters stay.
merge_reruns <- function(x) {
  if (!has_reruns(x)) return(x)
  x <- cast_votes(x, seq_along(x$raters), x$raters)
  x$repeats <- "error"
  x$voted$reruns <- TRUE
  x
}

# For verbs that need one rating per rater and case.
merge_reruns_with_message <- function(x) {
  if (has_reruns(x)) inform_fallible(reruns_vote)
  merge_reruns(x)
}

reruns_vote <- "Reruns count as one vote, the answer that most of them have (if two lead, none)."

with_votes <- function(x) {
  x <- merge_reruns(x)
  if (is.null(x$rater_groups)) return(x)
  groups <- unique(x$rater_groups)
  votes <- cast_votes(x, match(x$rater_groups, groups), groups)
  votes$rater_groups <- NULL
  votes$rater_kind <- kinds_of_groups(x, groups)
  votes$voted$groups <- setNames(x$rater_groups, x$raters)
  votes
}

# Combines ratings into at most one vote per unit and pattern. `unit`: unit of each rater; `names`:
# names of units. Independent repeats become votes only if the unit has several raters.
cast_votes <- function(x, unit, names) {
  ratings <- data.frame(
    pattern = rating_pattern(x), unit = unit[rating_rater(x)], category = rating_category(x)
  )
  votes <- which(has_reruns(x) | tabulate(unit, length(names))[ratings$unit] > 1L)
  leading <- votes[find_majority(ratings[votes, ], length(names), n_categories(x))]
  cast <- ratings[c(setdiff(seq_len(nrow(ratings)), votes), leading), ]
  systems <- split_columns(pattern_answers(x), x$systems)
  core <- core_patterns_long(cast$pattern, cast$unit, cast$category, systems, n_patterns(x))
  core$index <- core$index[pattern_of_case(x)]
  x$raters <- names
  x$confidence <- NULL # votes have no confidence
  set_core_patterns(x, core)
}

# How often each value occurs, at its first place; 0 at its other places.
times_at_first <- function(x) tabulate(match(x, x), length(x))

# For each pattern and unit, the position of a rating in its most frequent category; none if
# several categories are equally frequent.
find_majority <- function(ratings, units, categories) {
  key <- (ratings$pattern - 1) * units + ratings$unit - 1 # a double, may exceed integers
  cell <- key * categories + ratings$category - 1
  times <- times_at_first(cell)
  at <- order(key, -times)
  at <- at[times[at] > 0L]
  at[!duplicated(key[at]) & !c(equals_next(key[at], times[at]), FALSE)] # no tie with the next
}

# Ratings of new cases, combined into votes in the same way as those of a fit.
vote_as_fitted <- function(x, fitted) {
  groups <- fitted$voted$groups
  if (!is.null(groups) && !has_counts(x) && all(x$raters %in% names(groups))) {
    x$rater_groups <- unname(groups[x$raters])
  }
  as_ratings(x, votes = TRUE)
}

# ---- Declaration --------------------------------------------------------------------------------

# A data frame with columns rater and group (NA for a rater without a group), or NULL.
read_groups <- function(data, quo, rater_name) {
  is_column <- rlang::quo_is_symbol(quo) && rlang::as_name(quo) %in% names(data)
  value <- if (is_column) quo else
    tryCatch(rlang::eval_tidy(quo), error = function(cnd) quo)
  if (is.null(value)) return(NULL)
  names_column <- rlang::is_quosure(value) || (is_string(value) && is.null(names(value)))
  if (names_column) {
    abort_argument_if(is.null(rater_name), "rater_groups",
      "{.arg rater_groups} can be a column in long data only, with a row per rating.",
      i = "Name the raters: {.code rater_groups = c(rater1 = \"group\", rater2 = \"group\")}.")
    value <- data.frame(
      rater = data[[rater_name]], group = data[[select_column(data, quo, "rater_groups")]]
    )
  } else if (is.atomic(value) && is.null(dim(value)) && !is.null(names(value))) {
    value <- data.frame(rater = names(value), group = value)
  }
  abort_argument_if(!is.data.frame(value) || !all(c("rater", "group") %in% names(value)),
    "rater_groups", "must be groups with the raters as names, a data frame with columns
        {.val rater} and {.val group}, or a column of long data.", not = value)
  table <- unique(data.frame(rater = as_label(value$rater), group = as_label(value$group)))
  table$group[table$group %in% ""] <- NA
  twice <- table$rater %in% table$rater[anyDuplicated(table$rater)]
  groups <- ifelse(is.na(table$group), "none", table$group)[twice]
  abort_argument_if(any(twice), "rater_groups",
    "A rater can be in one of the {.arg rater_groups} only.",
    x = "Rater {.val {table$rater[twice][[1L]]}} is in {.val {groups}}.",
    rater = table$rater[twice][1L], groups = groups)
  table
}

# The group of each rater. Raters without a group are groups with their name.
groups_of_raters <- function(table, x) {
  if (is.null(table)) return(NULL)
  check_named_raters(x, "rater_groups", "{.arg rater_groups} needs the rater of each rating.")
  unknown <- setdiff(table$rater, x$raters)
  abort_argument_if(unknown, "rater_groups", "must name raters of {.arg data}.",
    x = "{.val {unknown}} {?is/are} not among {.val {x$raters}}.", rater = unknown)
  group <- table$group[match(x$raters, table$rater)]
  ungrouped <- x$raters[is.na(group)]
  taken <- intersect(group, c(ungrouped, x$systems))[1L]
  abort_argument_if(!is.na(taken), "rater_groups", "must have names of their own.",
    x = "{.val {taken}} is the name of {if (taken %in% ungrouped) 'a rater in no group' else
        'a system'} too.")
  replace(group, is.na(group), ungrouped)
}

# ---- Text ---------------------------------------------------------------------------------------

# Lines about the raters of ratings, and about votes to come.
format_raters <- function(x) {
  sizes <- lengths(groups_of_several(x))
  c(
    format_kinds(x),
    if (length(sizes) > 0L) {
      paste("Raters of one group count as one vote:",
        shorten(paste0(names(sizes), " (", sizes, " raters)")))
    },
    format_votes(x)
  )
}

# Lines about votes that were cast.
format_votes <- function(x) {
  groups <- x$voted$groups
  c(
    if (!is.null(groups)) {
      paste("Raters of one group counted as one vote:", count_noun(length(groups), "rater"), "in",
        count_noun(length(unique(groups)), "group"))
    },
    if (isTRUE(x$voted$reruns)) "Reruns of a rater counted as one vote"
  )
}

# Numbers of the raters in each group of several raters.
groups_of_several <- function(x) {
  groups <- x$rater_groups
  members <- split(seq_along(groups), factor(groups, unique(groups)))
  members[lengths(members) > 1L]
}

# A row per group of several raters: number of raters, share of pairs of members that agree, number
# of cases with a vote, and number of rated cases with tied categories.
group_table <- function(x) {
  if (is.null(x$rater_groups)) return(NULL)
  members <- groups_of_several(x)
  votes <- with_votes(x)
  rated <- vapply(unname(members), cases_rated, 0, x = x)
  voted <- vapply(match(names(members), votes$raters), cases_rated, 0, x = votes)
  agreement <- vapply(unname(members), function(raters) {
    group <- x[, raters]
    core_fit_algebraic(group$patterns, pattern_weights(group))$agreement
  }, 0)
  tibble::tibble(
    group = names(members), raters = unname(lengths(members)), agreement = na_real(agreement),
    votes = voted, split = rated - voted
  )
}

# Number of cases that at least one of these raters rated.
cases_rated <- function(x, raters) {
  as.double(count_cases(x, unique(rating_pattern(x)[rating_rater(x) %in% raters])))
}

# For each rater, the share of agreeing pairs among its ratings of the same case.
rerun_agreement <- function(x) {
  weight <- pattern_weights(x)[rating_pattern(x)]
  raters <- n_raters(x)
  unit <- (rating_pattern(x) - 1) * raters + rating_rater(x)
  pairs <- function(key) {
    n <- times_at_first(key)
    rowsum_codes(rating_rater(x), weight * n * (n - 1) / 2, raters)
  }
  ratio(pairs(unit * n_categories(x) + rating_category(x)), pairs(unit))
}

# Kinds of raters. Ratings do not show shared errors; their typical size depends on the kind of
# raters.

kind_words <- c(
  expert = "experts", crowd = "a crowd", model = "language models", tool = "programs"
)
rater_kinds <- names(kind_words)
people_kinds <- rater_kinds[1:2]
machine_kinds <- rater_kinds[3:4]

# As given: one word for all raters, or words with raters or their groups as names.
check_rater_kind <- function(kind) {
  if (is.null(kind)) return(NULL)
  if (is.null(names(kind))) return(check_choice(kind, rater_kinds, "rater_kind", kinds_in_words))
  known <- is.character(kind) & kind %in% rater_kinds
  abort_argument_if(!all(known), "rater_kind",
    "must be one of {.or {.val {rater_kinds}}}, for all raters or with raters or groups as names.",
    x = if (is.character(kind)) "Found {.val {unique(kind[!known])}}." else
      "It is {describe(kind)}.", i = kinds_in_words)
  kind
}

kinds_in_words <- "Language models are {.val model}, other programs {.val tool}, people
  {.val expert} or {.val crowd}."

# One word if all raters are of one kind, otherwise a named word per rater.
resolve_kinds <- function(kind, x) {
  if (is.null(names(kind))) return(kind)
  group <- x$rater_groups %||% x$raters
  at <- ifelse(x$raters %in% names(kind), x$raters, group)
  strange <- setdiff(names(kind), c(x$raters, group))
  lacking <- x$raters[!at %in% names(kind)]
  must <- "{.arg rater_kind} with names must name all raters, or their groups."
  check_named_raters(x, "rater_kind", must)
  abort_argument_if(length(strange) > 0L || length(lacking) > 0L, "rater_kind", must,
    x = if (length(strange) > 0L) "{.val {strange}} {?is/are} neither." else "It does not name
        {.val {lacking}}.", rater = c(strange, lacking))
  kind <- kind[at]
  if (length(unique(kind)) == 1L) kind[[1L]] else setNames(kind, x$raters)
}

# Kind of each group: NA if its raters are not all people, or not all machines.
kinds_of_groups <- function(x, groups) {
  kind <- x$rater_kind
  if (is.null(names(kind))) return(kind)
  vapply(setNames(nm = groups), function(group) {
    kinds <- kind[x$raters[x$rater_groups == group]]
    if (kind_of_panel(kinds) == "undeclared") NA_character_ else kinds[[1L]]
  }, "")
}

# Kind of all raters, or of each rater, of ratings, a fit or an estimate; NULL if not declared.
rater_kind <- function(x) {
  if (inherits(x, "accuracy_estimate")) x <- x$fit
  if (inherits(x, "rater_fit")) x <- x$x
  kind <- x$rater_kind
  if (is.null(names(kind))) kind else unname(kind[x$raters])
}

# "people" or "machines", if all raters are declared as such; "undeclared" for mixtures, and if some
# raters are not declared.
panel_kind <- function(x) kind_of_panel(rater_kind(x))

kind_of_panel <- function(kind) {
  if (is.null(kind)) return("undeclared")
  if (all(kind %in% people_kinds)) return("people")
  if (all(kind %in% machine_kinds)) "machines" else "undeclared"
}

# A line about the kinds of raters.
format_kinds <- function(x) {
  kind <- rater_kind(x)
  if (length(kind) == 0L) return(NULL)
  if (length(kind) == 1L) return(paste("Raters are", kind_words[[kind]]))
  times <- table(factor(kind, intersect(rater_kinds, kind)))
  paste0(
    "Raters: ", toString(paste0(kind_words[names(times)], " (", times, ")")),
    if (kind_of_panel(kind) == "undeclared") {
      "; such a mixture counts as if nothing had been declared"
    }
  )
}

machines_of <- function(x) {
  paste(kind_words[sort_strings(unique(rater_kind(x)))], collapse = " and ")
}

# ---- Names that look like those of machines -----------------------------------------------------

machine_names <- paste0(
  "(^|[^a-z])(gpt|(chatgpt|claude|gemini|gemma|llama|mistral|mixtral|qwen|deepseek|grok|vicuna|",
  "falcon|olmo|phi-?[1-9]|o[134]-(mini|preview)|command-r|bert|roberta|llm|language.?model|",
  "classifier)([^a-z]|$))|(qa|bot|detector)$|^lf_"
)

# Asks once per session, because intervals depend on machines and no kind is declared. Names of most
# machines are recognised. Panels of two raters are always asked about.
ask_who_rates <- function(x) {
  names <- named_raters(x)
  like <- if (length(names) == 2L) names else
    grep(machine_names, names, TRUE, value = TRUE, useBytes = TRUE)
  if (!is.null(x$rater_kind) || length(like) == 0L) return(invisible())
  inform_once("rater_kind", c(
    verbatim("Are some raters language models or programs (", shorten(like, most = 3L),
      ")? If so, declare it with `rater_kind`."),
    "i" = "Intervals depend on it, because machines share errors that ratings do not show. For
           machines 90% intervals are .54 wide, and covered .91 of true accuracies in 20 public
           sources. If nothing is declared they are .29 wide, and covered .72.",
    "i" = "Kinds are {.val {rater_kinds}}, one for all raters or one for each, with raters as
           names."
  ))
}
