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
  panel <- c(list(constant = constant_raters(votes)), with_decision(votes)$panel["abstain"])
  if (is.null(truth_for_fit(gold, x))) votes <- without_constant_raters(votes)
  panel <- c(panel, list(leans = rater_leans(votes), used = used_categories(votes)))
  tasks <- Map(function(group, seed) {
    own <- which(by == group)
    part <- x[own, ]
    part$panel <- panel
    cluster <- cluster[own]
    gold <- gold_among(gold, own, part)
    force(list(seed, estimate))
    function() with_run_seed(seed, catch_warnings(estimate(part, cluster, gold)))
  }, groups, seeds)
  found <- if (has_workers()) run_pieces(tasks, groups) else lapply(tasks, function(f) f())
  warn_groups(stats::setNames(lapply(found, `[[`, "warnings"), groups))
  stack_results(stats::setNames(lapply(found, `[[`, "value"), groups), "group",
    "accuracy_by_group", if (inherits(found[[1L]]$value$fit, "judge_fit")) {
      "The rater's errors are the same in all groups."
    } else {
      "Each group is fitted separately: raters' accuracy and base rates may differ between groups."
    })
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
