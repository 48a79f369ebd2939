#' @rdname tidy.accuracy_estimate
#' @export
`[.accuracy_estimate` <- function(x, i, ...) {
  if (missing(i)) return(x)
  at <- find_subset(i, x$table$system, "system")
  abort_argument_if(!is.null(rule_field(x$fit$model)) || any(known_patterns(x$fit)), "x",
    "rests on a fit of all systems together.",
    i = "Choose {.arg systems} in {.fun estimate_accuracy}.")
  show_accuracy(structure(estimate_of_systems(unclass(x), at), class = class(x)))
}

# Patterns that no longer differ are joined; the first of them represents the others.
estimate_of_systems <- function(x, at) {
  gold <- x$gold
  interval <- x$options$interval
  before <- x$fit$x
  x <- without_gold(x)
  x$fit <- fit_with(x$fit, join_patterns(keep_systems(before, at)))
  pattern <- rows_for(before, x$fit$x)
  names <- x$table$system[at]
  x[c("table", "details")] <- lapply(x[c("table", "details")], function(table) table[at, ])
  x[c("bins", "members")] <- lapply(x[c("bins", "members")], function(table) {
    table[table$system %in% names, ]
  })
  fields <- intersect(c("typical", "end_counts"), names(Filter(length, x)))
  x[fields] <- lapply(x[fields], `[`, at)
  x["posterior"] <- list(lapply(x$posterior[at], function(p) p[pattern, , drop = FALSE]))
  if (!is.null(x$replicates)) {
    x$replicates <- structure(
      x$replicates[, at, drop = FALSE], seed = attr(x$replicates, "seed")
    )
  }
  if (is.null(gold)) return(x)
  x$options$interval <- interval
  with_gold(x, gold, gold$evidence$predicted[pattern, , drop = FALSE])
}

#' @rdname tidy.accuracy_estimate
#' @export
format.accuracy_estimate <- function(x, digits = 0L, ...) {
  digits <- check_digits(digits)
  share <- function(p) paste0(decimals(100 * p, digits), "%")
  out <- estimate_words(x$table, x$options$conf_level, share)
  if (length(out) > 1L) setNames(out, x$table$system) else out
}

# Computes everything that is printed for an estimate. Verbs that return an estimate call it last.
# Intermediate estimates are not printed.
show_accuracy <- function(x) {
  options <- x$options
  table <- x$table
  record <- method_of(x)
  facts <- facts_of_accuracy(x, record)
  caption <- paste0(count_noun(nrow(table), "system"), ", ", estimator_words(x, x$fit$model))
  more <- if (!is.null(x$gold$evidence)) gold_columns(x) else
    if (!all(is.na(table$shared))) list(range = range_words(table))
  attr(x, "schema") <- new_schema(NULL, facts, format(x), caption,
    head = c(caption, if (x$fit$identified == "yes") {
      if (inherits(x$fit, "judge_fit")) calibration_words(x$fit) else rater_words(facts)
    }),
    shown = view(
      list2DF(c(as.list(table), more)),
      c("system", accuracy_columns(x), names(more), cases = "n"),
      level = options$conf_level, left = integer()
    ),
    notes = accuracy_notes(x, record),
    more = paste0(
      if (record$bins) "tidy(\"bins\"), ", if (!is.null(x$gold)) "update() (more gold), ",
      "tidy(), may_say(), plot()"
    ),
    summary = summary_of_accuracy
  )
  x
}

# Columns of accuracies and of their intervals.
accuracy_columns <- function(x) {
  heading <- if (is_pass_rate(x)) passes else "accuracy"
  c(setNames("estimate", heading), if (has_interval(x)) interval_columns[-1L])
}

# Heading of the accuracy of constant systems. They do not answer cases: cases pass or fail.
passes <- "passes"

is_pass_rate <- function(estimate) {
  x <- estimate$fit$x
  length(x$constant) > 0L && all(estimate$table$system %in% x$constant)
}

# Words for the method, for a caption.
estimator_words <- function(estimate, model = NULL) {
  x <- estimate$fit$x
  if (is_one_rater(x)) return(toString(c(
    paste("judged by", x$raters),
    if (inherits(estimate$fit, "judge_fit")) "calibrated on other cases"
  )))
  method_words(estimate$options$method, model)
}

# Numbers for glance().
facts_of_accuracy <- function(x, record) {
  options <- x$options
  fit <- x$fit
  known_as <- function(used, value) if (used) value else value[NA_integer_]
  drop_null(list(
    systems = nrow(x$table), method = options$method, interval = options$interval,
    conf_level = known_as(has_interval(x), options$conf_level),
    agreement = fit$agreement, kappa = kappa_of_agreement(fit$x, fit$agreement),
    chance_kappa = fit$kappa, rater_accuracy = fit$rater_accuracy,
    cases = nrow(fit$x), raters = n_raters(fit$x), categories = n_categories(fit$x),
    negative = fit$negative,
    clip = known_as(record$clips, options$clip),
    bin_width = known_as(record$bins, options$bin_width),
    replicates = known_as(!is.null(x$replicates), options$replicates),
    gold = length(x$gold$case), gold_sample = x$gold$sample %||% NA_character_,
    target = x$gold$settings$target %||% NA_character_,
    rerun_reliability = rerun_reliability(fit$x)
  ))
}

# Reliability of single runs of a rater for the answer of the first system. It is 1 if runs agree,
# 0 if they agree no more than runs of different cases, and NA without reruns.
rerun_reliability <- function(x) {
  if (!is_one_rater(x) || !has_reruns(x)) return(NA_real_)
  runs <- pattern_lengths(x)
  answer <- x$patterns$answer[, 1L]
  weight <- pattern_weights(x) * (answer > 0L)
  same <- predict_answer(pattern_counts(x), answer)
  same[weight == 0] <- 0
  share <- sum(weight * same) / sum(weight * runs)
  differ <- sum(weight * same * (runs - same)) / sum(weight * runs * (runs - 1) / 2)
  na_real(1 - differ / (2 * share * (1 - share)))
}

# Agreement of the raters, and their accuracy under the fitted model.
rater_words <- function(facts) {
  paste0(
    "Raters: agreement ", percent(facts$agreement), " (Fleiss' kappa ", decimals(facts$kappa, 2L),
    "), accuracy ", decimals(facts$rater_accuracy), " if independent"
  )
}

# Notes below the printed table.
accuracy_notes <- function(x, record) {
  table <- x$table
  some <- function(names) shorten(names, most = 4L)
  has_range <- is.null(x$gold$evidence) && !all(is.na(table$shared))
  assumed <- if (!all(rests_on_gold(x))) common_note(x)
  silent <- x$details$uninformative
  left_out <- which(silent > 0 & !is.na(table$estimate))
  # Percentiles of a biased estimator may not contain the estimate.
  outside <- which(table$estimate < table$conf.low | table$estimate > table$conf.high)
  c(
    reason_notes(table, table$system),
    answered_notes(accuracy_table(x)), abstain_note(x$fit$x),
    if (length(left_out) > 0L) paste(
      "Left out, because no category stands out:",
      some(paste(percent(silent[left_out]), "of the cases of", table$system[left_out]))
    ),
    if (!is.null(x$gold)) c(gold_notes(x), if (is_one_rater(x$fit$x)) note_of_one_rater(x)),
    if (has_range) {
      note(paste(c(
        "Range: if errors are shared with the raters, or independent (not bounds).", assumed
      ), collapse = " "), "assumption", report = NULL)
    } else {
      assumed
    },
    if (rests_on_machines(x)) machine_words(x),
    if (inherits(x$fit, "judge_fit")) calibrated_notes(x) else panel_problems(x$fit),
    if (x$fit$negative > 0L && record$model == "k") paste(
      "Base rates estimated below zero and set to zero:",
      shorten(x$fit$x$categories[x$fit$base_rates == 0])
    ),
    if (length(outside) > 0L) paste(
      "Estimate outside its own interval, a sign of bias:", some(table$system[outside])
    ),
    if (!all(is.na(table$conf.low))) {
      interval_note(interval_of(x), x)
    } else if (!is.null(x$replicates)) {
      interval_note(interval_bootstrap, x)
    }
  )
}

# If systems abstained, adds how often they answered, and their accuracy over all cases if
# abstentions are wrong.
accuracy_table <- function(x) {
  table <- x$table
  if (is.null(x$fit$x$silent_systems)) return(table)
  table$answered <- share_answered(x$fit$x)
  all <- function(share) ifelse(table$answered %in% 0, 0, table$answered * share)
  columns <- c(accuracy_all = "estimate", all.low = "conf.low", all.high = "conf.high")
  table[names(columns)] <- lapply(table[columns], all)
  table
}

answered_notes <- function(table) {
  if (is.null(table[["answered"]])) return(NULL)
  table <- table[which(table$answered < 0.95 & !is.na(table$estimate)), ]
  paste0(printable(table$system), " answered ", percent(table$answered),
    " of its cases. Accuracy over all of them: ", decimals(table$accuracy_all, 2L),
    " if abstentions are wrong, ", decimals(table$accuracy_all + 1 - table$answered, 2L),
    " if they are right", recycle0 = TRUE)
}

# Note on the sources of error that the intervals contain.
interval_note <- function(record, x) {
  words <- record$note(x)
  note(
    paste0("Interval (", record$id, "): ", words),
    report = paste0("Interval: ", plain_words(words))
  )
}

# Details of an estimate, for summary().
summary_of_accuracy <- function(x) {
  details <- tidy(x, "details")
  hidden <- details$system[-(1:5)] # more columns do not fit on a screen
  drop_null(list(
    if (!all(is.na(details[names(words_of_details)]))) {
      view_of_matrix(details_in_words(head(details, 5L)), "fact", most = Inf, title = paste0(
        "What the estimates rest on",
        if (length(hidden) > 0L) paste0(". See tidy(\"details\") for ", shorten(hidden), ".")
      ))
    },
    if (is_averaged(x) && length(x$members) > 0L) view(
      axis_weights(x$members), left = integer(),
      title = "Weight of the models that drop each property"
    ),
    if (method_of(x)$bins) view(x$bins, left = integer(), most = 30L, title = "Bins")
  ))
}

# A row per detail, a column per system.
details_in_words <- function(details) {
  known <- Filter(function(field) !all(is.na(details[[field]])), names(words_of_details))
  values <- stack_rows(details[known], function(x) {
    if (all(x == round(x), na.rm = TRUE)) format(x) else decimals(x)
  })
  dimnames(values) <- list(words_of_details[known], details$system)
  values
}

words_of_details <- c(
  sampling = "standard error by sampling alone",
  rater_error = "share of ratings that are wrong",
  disagreement_error = "share of ratings unlike those of most others",
  common = "correction for shared errors, share of the range",
  average_shared = "accuracy if all errors are shared",
  independence_weight = "weight of models without shared errors",
  dependence_weight = "weight of shared errors in the interval",
  base_rate_range = "range over base rates that are possible",
  centre = "centre of the interval", mean_posterior = "mean probability of the answers",
  uninformative = "share of cases that say nothing", failed = "replicates without an estimate"
)
