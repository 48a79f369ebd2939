# An estimate per group of cases: `by` of estimate_accuracy(). Groups share nothing. In simulation,
# fitting each alone cost at most a few percent of root mean squared error where groups were alike,
# and one fit for all cost up to half where their base rates or raters differed.

# `by`: the group of each case of `x`, or NULL. `estimate` makes an estimate of some cases, their
# clusters and the gold among them.
estimate_by <- function(x, by, estimate, cluster, gold) {
  cluster <- check_case_values(cluster, x, "cluster")
  if (is.null(by)) return(estimate(x, cluster, gold))
  groups <- if (is.factor(by)) levels(droplevels(by)) else as.character(sort_strings(unique(by)))
  by <- as.character(by)
  seeds <- sample.int(.Machine$integer.max, length(groups)) # the same wherever a group is estimated
  votes <- with_votes(x)
  constant <- constant_raters(votes)
  if (is.null(truth_for_fit(gold, x))) votes <- without_constant_raters(votes)
  leans <- rater_leans(votes)
  used <- used_categories(votes)
  tasks <- Map(function(group, seed) {
    own <- which(by == group)
    part <- x[own, ]
    # What coincidence means, who is constant and how raters lean do not depend on the group.
    part[c("used", "always_same", "leans")] <- list(used, constant, leans)
    cluster <- cluster[own]
    gold <- gold_among(gold, own, part)
    force(list(seed, estimate))
    function() with_run_seed(seed, catch_warnings(estimate(part, cluster, gold)))
  }, groups, seeds)
  found <- if (has_workers()) run_pieces(tasks, groups) else lapply(tasks, function(f) f())
  warn_groups(stats::setNames(lapply(found, `[[`, "warnings"), groups))
  structure(
    stats::setNames(lapply(found, `[[`, "value"), groups),
    class = c("accuracy_by_group", "fallible_result")
  )
}

# The value of some code, and the package's warnings, whose first line is not wrapped.
catch_warnings <- function(code) {
  withr::local_options(cli.condition_width = Inf)
  caught <- rlang::env(all = list())
  value <- withCallingHandlers(code, fallible_warning = function(w) {
    caught$all <- c(caught$all, list(w))
    rlang::cnd_muffle(w)
  })
  list(value = value, warnings = caught$all)
}

# One warning of the classes of all, which says what each kind of them is about. `conditions` are
# lists of them, with the names of the groups.
warn_groups <- function(conditions) {
  all <- length(conditions) # nolint: object_usage.
  conditions <- conditions[lengths(conditions) > 0L]
  if (length(conditions) == 0L) return(invisible())
  each <- unlist(unname(conditions), recursive = FALSE)
  group <- rep(names(conditions), lengths(conditions))
  topic <- sub("^fallible_warning_", "", vapply(each, function(w) class(w)[[1L]], ""))
  of_topic <- lapply(split(group, factor(topic, unique(topic))), unique)
  about <- vapply(names(of_topic), function(kind) {
    text <- cli::ansi_strip(conditionMessage(each[[match(kind, topic)]]))
    verbatim(shorten(of_topic[[kind]], most = 6L), ": ", sub("\n.*", "", text))
  }, "")
  warn_fallible(unique(topic),
    c("{length(conditions)} of {all} groups have warnings.", bullets(about, 5L)),
    i = "The field {.field conditions} of this warning holds them by group.",
    groups = names(conditions), topics = of_topic, conditions = conditions)
}

bind_groups <- function(x, table) {
  tables <- lapply(unclass(x), table)
  tibble::tibble(group = rep(names(x), vapply(tables, nrow, 0L)), stack_rows(unname(tables)))
}

#' Estimates by group
#'
#' What [estimate_accuracy()] gives with `by`: a list with an estimate per group, named after the
#' groups, so that `x[["name"]]` is an estimate like any other, for [compare_systems()],
#' [confusion()] and more. Each group is fitted separately, but its interval takes from all cases
#' how raters lean towards categories and how often answers coincide by chance, so that it may be
#' narrower than if the group were all there is.
#'
#' @param x,object An [estimate_accuracy()] result with `by`.
#' @param what A table as for a single estimate; or `"groups"`, the `glance()` of each group.
#' @param digits Number of decimals of the percentages.
#' @param ... For `plot()`, passed on to `autoplot()`, for `as.data.frame()`, to `tidy()`; for
#'   tables of scores see [score_curves]; otherwise not used.
#' @return `tidy()`: the tables of [tidy.accuracy_estimate()], one below another, with `group` as
#'   their first column. `glance()`: a tibble with one row: the numbers of `groups`, `systems`,
#'   `cases` and of `missing` estimates; `method`, `interval`, `conf_level`, `clip` and `bin_width`.
#'   `format()`: for each estimate one line, named after its group (and system, if there are
#'   several). `autoplot()`: a ggplot of estimates and intervals.
#' @family estimation
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(lehner_design(3))
#' ward <- rep(c("east", "west"), each = 100)
#' groups <- estimate_accuracy(
#'   x, method = "unbinned", by = ward, resampling = list(replicates = 200)
#' )
#' groups
#' tidy(groups)
#' groups[["east"]]
#' @name accuracy_by_group
#' @export
tidy.accuracy_by_group <- function(x, what = c(
                                     "estimate", "details", "members", "gold", "gold_details",
                                     "replicates", "bins", "roc", "reliability", "threshold",
                                     "groups"
                                   ), ...) {
  what <- check_choice(what)
  bind_groups(x, function(one) if (what == "groups") glance(one, ...) else tidy(one, what, ...))
}

#' @rdname accuracy_by_group
#' @export
glance.accuracy_by_group <- function(x, ...) {
  check_dots_empty(...)
  each <- tidy(x, "groups")
  tibble::tibble(
    groups = length(x), systems = each$systems[[1L]], cases = sum(each$cases),
    missing = sum(is.na(tidy(x)$estimate)),
    each[1L, c("method", "interval", "conf_level", "clip", "bin_width")]
  )
}

#' @rdname accuracy_by_group
#' @export
format.accuracy_by_group <- function(x, digits = 0L, ...) {
  digits <- check_digits(digits)
  unlist(lapply(unclass(x), format, digits = digits))
}

#' @export
caption_of.accuracy_by_group <- function(x) { # nolint: object_name.
  paste0(count_noun(length(x), "group"), ", ", caption_of(x[[1L]]))
}

#' @export
shown_table.accuracy_by_group <- function(x) { # nolint: object_name.
  shown <- tidy(x)
  out <- shown_estimates(shown, x[[1L]], c("group", "system"))
  out$cases <- number(shown$n)
  out
}

#' @export
notes_of.accuracy_by_group <- function(x) { # nolint: object_name.
  table <- tidy(x)
  gold <- tidy(x, "gold_details")
  c(
    "Each group is fitted separately: raters' accuracy and base rates may differ between groups.",
    reason_notes(table$reason, table$estimate, paste(table$system, "in", table$group)),
    from_ratings_notes(
      replace(gold$reason, startsWith(table$reason, gold_unused) %in% TRUE, NA),
      paste(gold$system, "in", gold$group)
    ),
    if (!all(unlist(lapply(x, rests_on_gold)))) {
      common_note(list(options = x[[1L]]$options, details = tidy(x, "details"), table = table))
    }
  )
}

#' @export
print.accuracy_by_group <- function(x, ...) {
  more <- paste0("x[[\"", names(x)[[1L]], "\"]] for a group, tidy(), glance(), plot()")
  print_result(x, more, left = integer(), most = 30L)
}

#' @rdname accuracy_by_group
#' @rawNamespace S3method(ggplot2::autoplot,accuracy_by_group)
autoplot.accuracy_by_group <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  table <- tidy(object)
  table$group <- factor(table$group, levels = rev(names(object)))
  seen <- drop_missing(table, "estimate")
  picture(table, "estimate", "group") +
    interval_lines() +
    main_points(na.rm = TRUE) +
    panels_of(table, "system") +
    estimate_axis(seen, breaks = c(0, 0.5, 1), labels = in_percent) +
    ggplot2::scale_y_discrete(drop = FALSE) +
    titled(
      "Accuracy of systems by group",
      if (!all(is.na(seen$conf.low))) {
        level <- object[[1L]]$options$conf_level
        paste0("With ", interval_title(level), "s; each group is fitted separately")
      },
      "probability of the correct category", caption = lacking_words(table)
    ) +
    room_between(18)
}
