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
  before <- x$fit$x$index
  x$fit <- fit_with(x$fit, join_patterns(keep_systems(x$fit$x, at)))
  pattern <- before[match(seq_len(n_patterns(x$fit$x)), x$fit$x$index)]
  rows <- c("table", "details")
  x[rows] <- lapply(x[rows], function(table) table[at, ])
  names <- x$table$system
  tables <- c("bins", "members")
  x[tables] <- lapply(x[tables], function(table) table[table$system %in% names, ])
  each <- intersect(c("typical", "end_counts"), names(Filter(length, x)))
  x[each] <- lapply(x[each], `[`, at)
  x["posterior"] <- list(lapply(x$posterior[at], function(p) p[pattern, , drop = FALSE]))
  if (!is.null(x$replicates)) {
    x$replicates <- structure(
      x$replicates[, at, drop = FALSE], seed = attr(x$replicates, "seed")
    )
  }
  if (!is.null(x$gold)) x$gold <- gold_of_systems(x, at, pattern)
  x
}

gold_of_systems <- function(x, at, pattern) {
  gold <- x$gold
  gold$alone <- gold$alone[at, ]
  gold$measured <- gold$measured[at]
  if (!is.null(gold$evidence)) {
    predicted <- gold$evidence$predicted[pattern, , drop = FALSE]
    gold$evidence <- gold_evidence(x$fit$x, gold, x$options$cluster, predicted)
  }
  tables <- c("sources", "details")
  gold[tables] <- lapply(gold[tables], function(table) table[table$system %in% x$table$system, ])
  gold
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
  print_accuracy(x)
  cat_lines(
    paste0("More: ", if (method_of(x)$bins) "tidy(\"bins\"), ",
      if (!is.null(x$gold)) "update() (more gold), ", "tidy(), may_say(), plot().")
  )
  invisible(x)
}

print_accuracy <- function(x) {
  table <- tidy(x)
  fit <- x$fit
  cat_lines(paste0("<accuracy_estimate> ", caption_of(x)))
  if (fit$identified == "yes") cat_lines(rater_words(x))
  cat("\n")
  print(shown_table(x), row.names = FALSE)
  if (nrow(table) > 20L) cat("... and", nrow(table) - 20L, "more; see tidy()\n")
  notes <- notes_of(x)
  if (length(notes) > 0L) cat_lines("", notes)
}

# How far raters agree, and how accurate they are under the model that was fitted.
rater_words <- function(x) {
  facts <- glance(x)
  paste0(
    "Raters: agreement ", percent(facts$agreement), " (Fleiss' kappa ",
    decimals(facts$kappa, 2L), "), accuracy ", decimals(facts$rater_accuracy),
    " if independent"
  )
}

#' @export
shown_table.accuracy_estimate <- function(x) { # nolint: object_name.
  shown <- utils::head(tidy(x), 20L)
  out <- data.frame(system = shown$system, accuracy = decimals(shown$estimate))
  if (has_interval(x)) {
    out[[interval_title(x$options$conf_level)]] <- bracketed(shown$conf.low, shown$conf.high)
  }
  if (!is.null(x$gold$evidence)) {
    out <- cbind(out, gold_columns(x, shown$system))
  } else if (!all(is.na(x$table$shared))) {
    out$range <- range_words(shown)
  }
  out$cases <- number(shown$n)
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
  table <- tidy(x)
  assumed <- c(range_note(x), if (!all(rests_on_gold(x))) common_note(x))
  c(
    reason_notes(table$reason, table$estimate, table$system),
    left_out_note(x),
    gold_notes(x),
    if (length(assumed) > 0L) paste(assumed, collapse = " "),
    if (rests_on_machines(x)) machine_words(x),
    panel_problems(x$fit),
    if (x$fit$negative > 0L && method_of(x)$model == "k") {
      paste(
        "Base rates estimated below zero and set to zero:",
        shorten(x$fit$x$categories[x$fit$base_rates == 0])
      )
    },
    outside_note(table),
    if (!all(is.na(table$conf.low))) {
      interval_of(x)$note(x)
    } else if (!is.null(x$replicates)) {
      bootstrap_note(x)
    }
  )
}

range_note <- function(x) {
  if ("range" %in% names(shown_table(x))) {
    "Range: if errors are shared with the raters, or independent (not bounds)."
  }
}

left_out_note <- function(x) {
  share <- x$details$uninformative
  some <- which(share > 0 & !is.na(x$table$estimate))
  if (length(some) > 0L) {
    paste0(
      "Left out, because no category stands out: ",
      shorten(paste0(percent(share[some]), " of the cases of ", x$table$system[some]), most = 4L)
    )
  }
}

# The percentiles of a biased estimator may leave it behind.
outside_note <- function(table) {
  outside <- which(table$estimate < table$conf.low | table$estimate > table$conf.high)
  if (length(outside) > 0L) {
    paste0(
      "Estimate outside its own interval, a sign of bias: ",
      shorten(table$system[outside], most = 4L)
    )
  }
}

#' @export
summary.accuracy_estimate <- function(object, ...) {
  structure(list(estimate = object), class = "summary_accuracy_estimate")
}

# A row per fact, a column per system.
details_in_words <- function(details) {
  known <- Filter(function(field) !all(is.na(details[[field]])), names(words_of_details))
  values <- do.call(rbind, lapply(details[known], function(x) {
    if (all(x == round(x), na.rm = TRUE)) format(x) else decimals(x)
  }))
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
  lowest = "lowest of all methods", highest = "highest of all methods",
  centre = "centre of the interval", mean_posterior = "mean probability of the answers",
  uninformative = "share of cases that say nothing", failed = "replicates without an estimate"
)

#' @export
print.summary_accuracy_estimate <- function(x, ...) {
  print_accuracy(x$estimate)
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
