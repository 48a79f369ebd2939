#' @rdname tidy.accuracy_estimate
#' @export
`[.accuracy_estimate` <- function(x, i, ...) {
  if (missing(i)) return(x)
  at <- find_subset(i, x$table$system, "system")
  abort_argument_if(!is.null(rule_field(x$fit$model)) || any(known_patterns(x$fit)), "x",
    "rests on a fit of all systems together.",
    i = "Choose {.arg systems} in {.fun estimate_accuracy}.")
  structure(systems_of(unclass(x), at), class = class(x))
}

# Patterns that no longer differ become one, of which the first is as good as any.
systems_of <- function(x, at) {
  before <- x$fit$x
  x$fit <- fit_with(x$fit, join_patterns(keep_systems(x$fit$x, at)))
  pattern <- rows_for(before, x$fit$x)
  names <- x$table$system[at]
  of_names <- function(table) table[table$system %in% names, ]
  x[c("table", "details")] <- lapply(x[c("table", "details")], function(table) table[at, ])
  x[c("bins", "members")] <- lapply(x[c("bins", "members")], of_names)
  each <- intersect(c("typical", "end_counts"), names(Filter(length, x)))
  x[each] <- lapply(x[each], `[`, at)
  x["posterior"] <- list(lapply(x$posterior[at], function(p) p[pattern, , drop = FALSE]))
  if (!is.null(x$replicates)) {
    x$replicates <- structure(
      x$replicates[, at, drop = FALSE], seed = attr(x$replicates, "seed")
    )
  }
  gold <- x$gold
  if (!is.null(gold)) {
    gold$alone <- gold$alone[at, ]
    gold$measured <- gold$measured[at]
    if (!is.null(gold$evidence)) {
      predicted <- gold$evidence$predicted[pattern, , drop = FALSE]
      gold$evidence <- gold_evidence(x$fit$x, gold, x$options$cluster, predicted)
    }
    gold[c("sources", "details")] <- lapply(gold[c("sources", "details")], of_names)
    x$gold <- gold
  }
  x
}

# Only bins can say nothing of some of the cases.
#' @rdname tidy.accuracy_estimate
#' @export
glance.accuracy_estimate <- function(x, ...) {
  check_dots_empty(...)
  options <- x$options
  record <- method_of(x)
  known_as <- function(used, value) if (used) value else value[NA_integer_]
  tibble::tibble(
    systems = nrow(x$table), method = options$method, interval = options$interval,
    conf_level = known_as(has_interval(x), options$conf_level),
    glance(x$fit)[c(
      "agreement", "kappa", "chance_kappa", "rater_accuracy", "cases", "raters", "categories"
    )],
    negative = x$fit$negative,
    clip = known_as(record$clips, options$clip),
    bin_width = known_as(record$bins, options$bin_width),
    replicates = known_as(!is.null(x$replicates), options$replicates),
    gold = length(x$gold$case), gold_sample = x$gold$sample %||% NA_character_,
    target = x$gold$settings$target %||% NA_character_
  )
}

#' @rdname tidy.accuracy_estimate
#' @export
format.accuracy_estimate <- function(x, digits = 0L, ...) {
  digits <- check_digits(digits)
  share <- function(p) paste0(decimals(100 * p, digits), "%")
  out <- estimate_words(x$table, x$options$conf_level, share)
  if (length(out) > 1L) stats::setNames(out, x$table$system) else out
}

#' @export
print.accuracy_estimate <- function(x, ...) {
  more <- paste0(
    if (method_of(x)$bins) "tidy(\"bins\"), ", if (!is.null(x$gold)) "update() (more gold), ",
    "tidy(), may_say(), plot()"
  )
  head <- c(
    paste0("<accuracy_estimate> ", caption_of(x)), if (x$fit$identified == "yes") rater_words(x)
  )
  print_result(x, more, head, left = integer())
}

# How far raters agree, and how accurate they are under the model that was fitted.
rater_words <- function(x) {
  facts <- glance(x)
  paste0(
    "Raters: agreement ", percent(facts$agreement), " (Fleiss' kappa ", decimals(facts$kappa, 2L),
    "), accuracy ", decimals(facts$rater_accuracy), " if independent"
  )
}

#' @export
shown_table.accuracy_estimate <- function(x) { # nolint: object_name.
  shown <- x$table
  out <- shown_estimates(shown, x, "system")
  if (!is.null(x$gold$evidence)) {
    out <- cbind(out, gold_columns(x))
  } else if (!all(is.na(x$table$shared))) {
    out$range <- range_words(shown)
  }
  out$cases <- number(shown$n)
  out
}

# Columns `about`, accuracies, and the intervals that an `estimate` has.
shown_estimates <- function(table, estimate, about) {
  out <- data.frame(table[about], accuracy = decimals(table$estimate))
  if (has_interval(estimate)) {
    title <- interval_title(estimate$options$conf_level)
    out[[title]] <- bracketed(table$conf.low, table$conf.high)
  }
  out
}

#' @export
caption_of.accuracy_estimate <- function(x) { # nolint: object_name.
  paste0(
    count_noun(nrow(x$table), "system"), ", ", method_words(x$options$method, x$fit$model)
  )
}

# What a reader must know beside the numbers.
#' @export
notes_of.accuracy_estimate <- function(x) { # nolint: object_name.
  table <- x$table
  some <- function(names) shorten(names, most = 4L)
  has_range <- is.null(x$gold$evidence) && !all(is.na(table$shared))
  assumed <- c(
    if (has_range) "Range: if errors are shared with the raters, or independent (not bounds).",
    if (!all(rests_on_gold(x))) common_note(x)
  )
  silent <- x$details$uninformative
  left_out <- which(silent > 0 & !is.na(table$estimate))
  # The percentiles of a biased estimator may leave it behind.
  outside <- which(table$estimate < table$conf.low | table$estimate > table$conf.high)
  c(
    reason_notes(table$reason, table$estimate, table$system),
    if (length(left_out) > 0L) paste(
      "Left out, because no category stands out:",
      some(paste(percent(silent[left_out]), "of the cases of", table$system[left_out]))
    ),
    gold_notes(x),
    if (length(assumed) > 0L) paste(assumed, collapse = " "),
    if (rests_on_machines(x)) machine_words(x),
    panel_problems(x$fit),
    if (x$fit$negative > 0L && method_of(x)$model == "k") paste(
      "Base rates estimated below zero and set to zero:",
      shorten(x$fit$x$categories[x$fit$base_rates == 0])
    ),
    if (length(outside) > 0L) paste(
      "Estimate outside its own interval, a sign of bias:", some(table$system[outside])
    ),
    if (!all(is.na(table$conf.low))) {
      interval_of(x)$note(x)
    } else if (!is.null(x$replicates)) {
      bootstrap_note(x)
    }
  )
}

#' @export
summary.accuracy_estimate <- function(object, ...) {
  structure(list(estimate = object), class = "summary_accuracy_estimate")
}

# A row per fact, a column per system.
details_in_words <- function(details) {
  known <- Filter(function(field) !all(is.na(details[[field]])), names(words_of_details))
  values <- stack_rows(details[known], function(x) {
    if (all(x == round(x), na.rm = TRUE)) format(x) else decimals(x)
  })
  colnames(values) <- details$system
  fact <- format(unname(words_of_details[known]))
  data.frame(fact, values, check.names = FALSE, row.names = NULL)
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

#' @export
print.summary_accuracy_estimate <- function(x, ...) {
  print(x$estimate)
  details <- tidy(x$estimate, "details")
  shown <- utils::head(details, 5L) # as many columns as fit a screen
  print_table("What the estimates rest on", details_in_words(shown), most = Inf)
  others <- setdiff(details$system, shown$system)
  if (length(others) > 0L) cat_lines(paste0("See tidy(\"details\") for ", shorten(others), "."))
  if (is_averaged(x$estimate) && length(x$estimate$members) > 0L) {
    print_table(
      "Weight of the models that drop each property",
      axis_weights(x$estimate$members)
    )
  }
  if (method_of(x$estimate)$bins) print_table("Bins", tidy(x$estimate, "bins"), most = 30L)
  invisible(x)
}
