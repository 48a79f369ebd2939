# Raters who share a source, and reruns of one rater: how users declare them, and the one vote that
# each group and each rater has in a fit.

#' One vote per group and per rater
#'
#' Raters who share a source (a family of models, a laboratory, a training) err together, and a
#' rater who is asked twice errs twice. Fits of ratings with `rater_groups`, or with
#' `repeats = "reruns"`, are fits of one vote each, which `as_ratings(x, votes = TRUE)` gives.
#'
#' The vote of a group on a case is the category that most of its ratings have. Where several
#' categories lead, the group has no vote on that case. The same goes for the reruns of a rater,
#' which become its vote before it votes in its group. A rater in a group of its own keeps its
#' ratings. All raters may be in one group: there is then one vote, which needs known truths or a
#' calibration sample (`known_raters` of [fit_raters()]).
#'
#' @section How well it works:
#' Measured on simulated panels with two groups of three raters, two single raters and a system that
#' is right in 80% of 300 or 1000 cases in two or five categories (bench/rater-groups.R). Where
#' members of a group repeat the first of them in 50% or 80% of the cases, the mean absolute error
#' of [estimate_accuracy()] is .22 without groups and .02 with them, and 90% intervals cover .26 and
#' .97. Where it is not answers but being right that members have in common (correlation .5 or .8),
#' it is .060 and .015, coverage .75 and .97. Exponents in the likelihood, and a random effect of
#' the group, were no better.
#'
#' Four judges, two or three runs of each, which repeat the first in none, 50% or 80% of the cases:
#' error .047 if runs pass for raters of their own, .019 with votes (.022 if the first run is the
#' vote where runs tie), and no loss where runs are independent after all.
#'
#' @name rater_groups
#' @family data
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case,
#'   rater_groups = c(rater1 = "clinic", rater2 = "clinic"))
#' # The raters are the groups, in the order of their first raters
#' as_ratings(x, votes = TRUE)
#'
#' # Which is what a fit uses
#' fit_raters(x)
NULL

# Number of raters after the votes of groups.
n_voters <- function(x) if (is.null(x$rater_groups)) n_raters(x) else length(unique(x$rater_groups))

is_one_rater <- function(x) n_voters(x) < 2L

# Reruns alone: all raters stay.
one_vote_each <- function(x) {
  if (!has_reruns(x)) return(x)
  x <- cast_votes(x, seq_along(x$raters), x$raters)
  x$repeats <- "error"
  x$voted$reruns <- TRUE
  x
}

# For verbs that need one rating of each rater on a case.
with_votes_of_reruns <- function(x) {
  if (has_reruns(x)) inform_fallible(reruns_vote)
  one_vote_each(x)
}

reruns_vote <- "Reruns count as one vote, the answer that most of them have (if two lead, none)."

with_votes <- function(x) {
  x <- one_vote_each(x)
  if (!is.null(x$rater_groups)) {
    members <- stats::setNames(x$rater_groups, x$raters)
    groups <- unique(x$rater_groups)
    kinds <- kinds_of_groups(x, groups)
    x <- cast_votes(x, match(x$rater_groups, groups), groups)
    x$rater_groups <- NULL
    x$rater_kind <- kinds
    x$voted$groups <- members
  }
  x
}

# One rating per unit and pattern. `unit` is that of each rater, `names` are theirs. Repeats of
# which each is evidence are votes only beside the ratings of others.
cast_votes <- function(x, unit, names) {
  given <- data.frame(
    pattern = rating_pattern(x), unit = unit[rating_rater(x)], category = rating_category(x)
  )
  votes <- has_reruns(x) | tabulate(unit, length(names))[given$unit] > 1L
  cast <- rbind(given[!votes, ], majority(given[votes, ], length(names), n_categories(x)))
  systems <- unname(split_columns(pattern_answers(x), x$systems))
  core <- core_patterns_long(cast$pattern, cast$unit, cast$category, systems, n_patterns(x))
  core$index <- core$index[pattern_of_case(x)]
  x$raters <- names
  x$confidence <- NULL # nobody said how sure a vote is
  with_patterns(x, core)
}

# The category that leads in each pattern and unit, in rows like those given; none where several do.
majority <- function(given, units, categories) {
  key <- (given$pattern - 1) * units + given$unit - 1 # beyond what an integer holds
  cell <- key * categories + given$category - 1
  cells <- unique(cell)
  times <- tabulate(match(cell, cells), length(cells))
  order <- order(cells %/% categories, -times)
  of <- (cells %/% categories)[order]
  ties <- of == c(of[-1L], NA) & times[order] == c(times[order][-1L], NA) # with the next
  leads <- order[!duplicated(of) & !ties %in% TRUE]
  of <- cells[leads] %/% categories
  data.frame(
    pattern = as.integer(of %/% units) + 1L, unit = as.integer(of %% units) + 1L,
    category = as.integer(cells[leads] %% categories) + 1L
  )
}

# Ratings of new cases, which vote as those of a fit did.
vote_as_fitted <- function(x, fitted) {
  groups <- fitted$voted$groups
  if (!is.null(groups) && !has_counts(x) && all(x$raters %in% names(groups))) {
    x$rater_groups <- unname(groups[x$raters])
  }
  as_ratings(x, votes = TRUE)
}

# ---- What users declare -------------------------------------------------------------------------

# A data frame with columns rater and group (NA is a group of its own), or NULL.
read_groups <- function(data, quo, rater_name) {
  is_column <- rlang::quo_is_symbol(quo) && rlang::as_name(quo) %in% names(data)
  value <- if (is_column) quo else
    tryCatch(rlang::eval_tidy(quo), error = function(cnd) quo)
  if (is.null(value)) return(NULL)
  names_column <- rlang::is_quosure(value) || (rlang::is_string(value) && is.null(names(value)))
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

# The group of each rater; those of whom nothing is said have one of their own, with their name.
groups_of_raters <- function(table, x) {
  if (is.null(table)) return(NULL)
  check_named_raters(x, "rater_groups", "{.arg rater_groups} needs the rater of each rating.")
  unknown <- setdiff(table$rater, x$raters)
  abort_argument_if(unknown, "rater_groups", "must name raters of {.arg data}.",
    x = "{.val {unknown}} {?is/are} not among {.val {x$raters}}.", rater = unknown)
  group <- table$group[match(x$raters, table$rater)]
  alone <- x$raters[is.na(group)]
  taken <- intersect(group, c(alone, x$systems))[1L]
  abort_argument_if(!is.na(taken), "rater_groups", "must have names of their own.",
    x = "{.val {taken}} is the name of {if (taken %in% alone) 'a rater in no group' else
        'a system'} too.")
  group[is.na(group)] <- alone
  group
}

# ---- What is shown of them ----------------------------------------------------------------------

# Of ratings: who they are and how they will count.
format_raters <- function(x) {
  sizes <- lengths(groups_of_several(x))
  c(
    format_kinds(x),
    if (length(sizes) > 0L) {
      paste0("Raters of one group count as one vote: ",
        shorten(paste0(names(sizes), " (", sizes, " raters)")))
    },
    format_votes(x)
  )
}

# Of votes: what they were before.
format_votes <- function(x) {
  groups <- x$voted$groups
  c(
    if (!is.null(groups)) {
      paste0("Raters of one group counted as one vote: ", count_noun(length(groups), "rater"),
        " in ", count_noun(length(unique(groups)), "group"))
    },
    if (isTRUE(x$voted$reruns)) "Reruns of a rater counted as one vote"
  )
}

# The numbers of the raters of each group of several.
groups_of_several <- function(x) {
  groups <- x$rater_groups
  members <- split(seq_along(groups), factor(groups, unique(groups)))
  members[lengths(members) > 1L]
}

# A row per group of several raters: how many, the share of pairs of members that agree, on how many
# cases it has a vote, and on how many it has none since categories tie.
group_table <- function(x) {
  if (is.null(x$rater_groups)) return(NULL)
  members <- groups_of_several(x)
  votes <- with_votes(x)
  rated <- vapply(members, cases_rated, 0, x = x)
  voted <- vapply(match(names(members), votes$raters), cases_rated, 0, x = votes)
  agreement <- vapply(members, function(of) {
    inside <- x[, of]
    core_fit_algebraic(inside$patterns, pattern_weights(inside))$agreement
  }, 0)
  tibble::tibble(
    group = names(members), raters = unname(lengths(members)),
    agreement = na_real(unname(agreement)), votes = voted, split = unname(rated) - voted
  )
}

# How many cases some of these raters rated.
cases_rated <- function(x, raters) {
  mine <- rating_pattern(x)[rating_rater(x) %in% raters]
  as.double(count_cases(x, seq_len(n_patterns(x)) %in% mine))
}

# For each rater the share of pairs of ratings of one case by that rater that agree.
rerun_agreement <- function(x) {
  weight <- pattern_weights(x)[rating_pattern(x)]
  raters <- n_raters(x)
  unit <- (rating_pattern(x) - 1) * raters + rating_rater(x)
  pairs <- function(key) {
    first <- which(!duplicated(key))
    n <- tabulate(match(key, key[first]), length(first))
    who <- factor(rating_rater(x)[first], seq_len(raters))
    as.vector(tapply(weight[first] * n * (n - 1) / 2, who, sum, default = 0))
  }
  ratio(pairs(unit * n_categories(x) + rating_category(x)), pairs(unit))
}
