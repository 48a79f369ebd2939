#' @rdname tidy.accuracy_estimate
#' @export
`[.accuracy_estimate` <- function(x, i, ...) {
  if (missing(i)) return(x)
  system_numbers <- find_positions(i, x$table$system, "system")
  abort_argument_if(!is.null(r_model_field(x$fit$model)) || any(is_known_pattern(x$fit)), "x",
    "was estimated from a fit of all systems together, so systems cannot be selected afterwards.",
    i = "Choose {.arg systems} in {.fun estimate_accuracy}.")
  gold <- x$gold
  interval <- x$options$interval
  all_ratings <- x$fit$x
  classes <- class(x)
  x <- undo_gold_correction(unclass(x))
  # Two patterns (combinations of ratings and answers) that differ only in answers of dropped
  # systems are joined. The joined pattern gets the posterior probabilities of the first of them.
  x$fit <- replace_answers(x$fit, join_patterns(keep_systems(all_ratings, system_numbers)))
  pattern_numbers <- matching_patterns(all_ratings, x$fit$x)
  select_patterns <- function(posterior) pick_rows(posterior, pattern_numbers)
  system_names <- x$table$system[system_numbers]
  x <- modify_fields(x, c("bins", "members"), function(table) {
    table[table$system %in% system_names, ]
  })
  x <- modify_fields(x, c("table", "details"), function(table) table[system_numbers, ])
  x <- modify_fields(
    x, intersect(c("typical", "end_counts"), names(Filter(length, x))), `[`, system_numbers
  )
  x["posterior"] <- list(lapply(x$posterior[system_numbers], select_patterns))
  if (!is.null(x$replicates)) {
    x$replicates <- structure(
      pick_columns(x$replicates, system_numbers), seed = attr(x$replicates, "seed")
    )
  }
  if (!is.null(gold)) {
    x$options$interval <- interval
    x <- correct_by_gold(x, gold, select_patterns(gold$evidence$predicted))
  }
  show_accuracy(structure(x, class = classes))
}

#' @export
`[[.accuracy_estimate` <- function(x, i, ...) {
  systems <- setdiff(unclass(x)$table$system, names(x))
  abort_argument_if(is.character(i) && length(i) > 0L && all(i %in% systems), "i",
    "is the name of a system, but {.code [[} selects elements of the estimate, not systems.",
    x = "Found {.val {i}}.",
    i = "Use one bracket: {.code x[\"{i}\"]}. {.code x[[\"name\"]]} is for estimates of several
      groups or variables.")
  NextMethod()
}

#' @rdname tidy.accuracy_estimate
#' @export
format.accuracy_estimate <- function(x, digits = 0L, ...) {
  digits <- check_digits(digits)
  lines <- estimate_words(x$table, x$options$conf_level, function(p) {
    if (digits == 0) whole_percent(p) else paste0(format_decimals(100 * p, digits), "%")
  })
  if (length(lines) > 1L) setNames(lines, x$table$system) else lines
}

# Adds everything that is printed for an estimate, as attribute `schema` (see new_schema()).
# Exported functions that return an estimate call this function last. Intermediate estimates are not
# printed and have no schema.
show_accuracy <- function(x) {
  options <- x$options
  table <- x$table
  fit <- x$fit
  method_record <- method_of(x)
  glance_columns <- compute_glance_columns(x, method_record)
  caption <- paste0(count_noun(nrow(table), "system"), ", ", estimator_words(x, fit$model))
  extra_columns <- if (!is.null(x$gold$evidence)) gold_columns(x) else
    if (any_known(table$shared)) list(range = format_accuracy_range(table))
  attr(x, "schema") <- new_schema(NULL, glance_columns, format(x), caption,
    head = c(caption, if (fit$identified == "yes" && !inherits(fit, "judge_fit")) {
      describe_rater_agreement(glance_columns, fit$model)
    }),
    shown = view(
      list2DF(c(table, extra_columns)),
      c("system",
        setNames("estimate", if (is_pass_rate(x)) pass_rate_heading else "accuracy"),
        if (has_interval(x)) interval_columns[-1L], names(extra_columns), cases = "n"),
      level = options$conf_level, left = integer()
    ),
    notes = accuracy_notes(x, method_record),
    more = paste0(
      if (method_record$bins) "tidy(what = \"bins\"), ",
      if (!is.null(x$gold)) "update() (more gold), ",
      "tidy(), may_say(), plot()"
    ),
    summary = make_summary_views
  )
  x
}

# Heading of the accuracy of systems that give all cases the same answer, such as
# `systems = c(app = "pass")` in ratings(). Their accuracy is the share of cases that pass.
pass_rate_heading <- "passes"

is_pass_rate <- function(estimate) {
  x <- estimate$fit$x
  length(x$constant) > 0L && all(estimate$table$system %in% x$constant)
}

# Title of plots of the accuracy.
accuracy_title <- function(estimate) if (is_pass_rate(estimate)) "Pass rate" else "Accuracy"

accuracy_axis_title <- function(estimate) {
  if (is_pass_rate(estimate)) "share that passes" else "probability of the correct category"
}

# Returns the part of a caption that names the estimation method and `model`. With a single rater,
# it names the rater instead.
estimator_words <- function(estimate, model = NULL) {
  x <- estimate$fit$x
  if (is_one_rater(x)) return(toString(c(
    paste("judged by", x$raters),
    if (inherits(estimate$fit, "judge_fit")) "calibrated on other cases"
  )))
  format_method(estimate$options$method, model)
}

# Returns the columns of glance(). Columns that do not apply are NA or left out. `record`: see
# new_method().
compute_glance_columns <- function(x, record) {
  options <- x$options
  fit <- x$fit
  ratings <- fit$x
  na_unless <- function(applies, value) if (applies) value else value[NA_integer_]
  drop_null(list(
    systems = nrow(x$table), method = options$method, interval = options$interval,
    conf_level = na_unless(has_interval(x), options$conf_level),
    agreement = fit$agreement, kappa = kappa_of_agreement(ratings, fit$agreement),
    chance_kappa = fit$kappa, rater_accuracy = fit$rater_accuracy,
    cases = nrow(ratings), raters = n_raters(ratings), categories = n_categories(ratings),
    negative = fit$negative,
    clip = na_unless(record$clips, options$clip),
    bin_width = na_unless(record$bins, options$bin_width),
    replicates = na_unless(!is.null(x$replicates), options$replicates),
    gold = length(x$gold$case), gold_sample = x$gold$sample %||% NA_character_,
    target = x$gold$settings$target %||% NA_character_,
    rerun_reliability = rerun_reliability(ratings)
  ))
}

# Returns the reliability of single runs of the only rater, such as a language model that was asked
# repeatedly. A run has the value 1 if it equals the answer of the first system, and 0 otherwise.
# The reliability is 1 if all runs of a case have the same value, and 0 if runs of the same case
# agree no more than runs of different cases. NA without reruns.
rerun_reliability <- function(x) {
  if (!is_one_rater(x) || !has_reruns(x)) return(NA_real_)
  n_runs <- pattern_lengths(x)
  answer <- x$patterns$answer[, 1L]
  weight <- pattern_weights(x) * (answer > 0L)
  n_equal_runs <- replace(predict_correctness(pattern_counts(x), answer), weight == 0, 0)
  share_of_equal_runs <- sum(weight * n_equal_runs) / sum(weight * n_runs)
  disagreement <- sum(weight * n_equal_runs * (n_runs - n_equal_runs)) /
    sum(weight * n_runs * (n_runs - 1))
  na_real(1 - disagreement / bernoulli_variance(share_of_equal_runs))
}

# Returns the printed line on the raters: their agreement, and their accuracy under the fitted
# `model`. `glance_columns`: result of compute_glance_columns().
describe_rater_agreement <- function(glance_columns, model) {
  sprintf(
    "Raters: agreement %s (Fleiss' kappa %s), accuracy %s %s",
    percent(glance_columns$agreement), format_decimals(glance_columns$kappa, 2L),
    format_decimals(glance_columns$rater_accuracy),
    if (model_is_dependent(model) || inherits(model, "own_model")) "under the model" else
      "if independent"
  )
}

# Returns the notes below the printed table, on missing values, assumptions, gold cases and
# intervals. `record`: see new_method().
accuracy_notes <- function(x, record) {
  table <- x$table
  fit <- x$fit
  shorten_names <- function(names) shorten(names, most = 4L)
  has_accuracy_range <- is.null(x$gold$evidence) && any_known(table$shared)
  all_rest_on_gold <- all(rests_on_gold(x))
  assumption_note <- if (!all_rest_on_gold) shared_errors_note(x)
  uninformative_share <- x$details$uninformative
  uninformative_rows <- which(uninformative_share > 0 & !is.na(table$estimate))
  # The percentile interval of a biased estimator may not contain the estimate.
  rows_outside_interval <- which(table$estimate < table$conf.low | table$estimate > table$conf.high)
  c(
    reason_notes(table, table$system), answered_notes(accuracy_table(x)), abstain_note(fit$x),
    if (length(uninformative_rows) > 0L) paste(
      "Left out, because all categories are equally probable:",
      shorten_names(paste(
        percent(uninformative_share[uninformative_rows]), "of the cases of",
        table$system[uninformative_rows]
      ))
    ),
    if (!is.null(x$gold)) c(gold_notes(x), if (is_one_rater(fit$x)) note_of_one_rater(x)),
    if (has_accuracy_range) {
      note(paste(c(
        "Range: from errors shared with the raters to independent errors (not bounds).",
        assumption_note
      ), collapse = " "), "assumption", report = assumption_note)
    } else {
      assumption_note
    },
    if (rests_on_machines(x)) note_of_machines(x),
    if (inherits(fit, "judge_fit")) calibrated_notes(x) else
      c(panel_problems(fit, all_rest_on_gold), sprintf(
        "Error rates of %1$s were given; all raters are used. x[, \"%1$s\"] has only this rater",
        names(fit$given$raters)
      )),
    if (fit$negative > 0L && record$model == "k") paste(
      "Base rates estimated below zero and set to zero:",
      shorten(fit$x$categories[fit$base_rates == 0])
    ),
    if (length(rows_outside_interval) > 0L) paste(
      "The estimate is outside its interval, which indicates bias:",
      shorten_names(table$system[rows_outside_interval])
    ),
    if (any_known(table$conf.low)) {
      interval_note(if (all(table$why %in% "ratings_alone")) interval_robust else interval_of(x), x)
    } else if (!is.null(x$replicates)) {
      interval_note(interval_bootstrap, x)
    }
  )
}

# Returns the main table of tidy(). If systems abstained, the table also has the share of cases that
# they answered, and their accuracy over all cases, where abstentions count as wrong.
accuracy_table <- function(x) {
  table <- x$table
  if (is.null(x$fit$x$silent_systems)) return(table)
  table$answered <- answered_case_share(x$fit$x)
  table[c("accuracy_all", "all.low", "all.high")] <-
    accuracy_over_all_cases(table, x)[c("estimate", "conf.low", "conf.high")]
  table
}

# Converts accuracies among answered cases to accuracies among all cases, where an abstention counts
# as wrong. Returns a list with estimates, standard errors and limits. `table`: rows of the table of
# the estimate `x`, one per system.
accuracy_over_all_cases <- function(table, x, conf_level = x$options$conf_level) {
  fitted_ratings <- x$fit$x
  system_numbers <- match(table$system, fitted_ratings$systems)
  answered_share <- answered_case_share(fitted_ratings)[system_numbers]
  # The share of answered cases has no sampling error if a system answered all cases, or if the
  # estimate is for the given cases and not for a population (`target = "cases"`).
  is_share_exact <- answered_share %in% 1 | identical(x$gold$settings$target, "cases")
  n_cases <- replace(answerable_weight(fitted_ratings)[system_numbers], is_share_exact, Inf)
  share_limits <- wilson_interval(answered_share, n_cases, normal_quantile(conf_level))
  accuracy <- table$estimate
  # The accuracy among all cases is the share of answered cases times the accuracy among answered
  # cases. Intervals of these two independent factors are combined by MOVER (method of variance
  # estimates recovery). `end`, `share_end`: limits of the accuracy and of the share.
  distance_to_limit <- function(end, share_end) {
    sqrt((answered_share * (accuracy - end))^2 + (accuracy * (answered_share - share_end))^2)
  }
  all_cases_results <- list(
    estimate = answered_share * accuracy,
    std.error = sqrt(
      (answered_share * table$std.error)^2 +
        accuracy^2 * bernoulli_variance(answered_share) / n_cases
    ),
    conf.low = pmax(
      0, answered_share * accuracy - distance_to_limit(table$conf.low, share_limits[, 1L])
    ),
    conf.high = pmin(
      1, answered_share * accuracy + distance_to_limit(table$conf.high, share_limits[, 2L])
    )
  )
  lapply(all_cases_results, replace, answered_share %in% 0, 0)
}

# Returns printed notes on systems that answered less than 95% of their cases.
answered_notes <- function(table) {
  if (is.null(table[["answered"]])) return(NULL)
  table <- table[which(table$answered < 0.95 & !is.na(table$estimate)), ]
  sprintf(
    paste("%s answered %s of its cases. Accuracy over all of them: %s if abstentions are wrong,",
      "%s if they are right"),
    printable(table$system), percent(table$answered), format_decimals(table$accuracy_all, 2L),
    format_decimals(table$accuracy_all + 1 - table$answered, 2L)
  )
}

# Returns the note on the sources of error that the intervals contain. `record`: see new_interval().
interval_note <- function(record, x) {
  note_text <- record$note(x)
  note(
    sprintf("Interval (%s): %s", record$id, note_text),
    report = paste0("Interval: ", plain_words(note_text))
  )
}

# Returns the tables of summary() as a list of views (see view()): details of the systems, weights
# of averaged models, and bins.
make_summary_views <- function(x) {
  all_details <- tidy(x, "details")
  details <- head(all_details, 5L) # more columns do not fit on a screen
  omitted_systems <- all_details$system[-(1:5)]
  shown_fields <- Filter(function(field) any_known(details[[field]]), names(detail_titles))
  details_view <- if (length(shown_fields) > 0L) {
    formatted_values <- stack_rows(details[shown_fields], function(x) {
      if (all(x == round(x), na.rm = TRUE)) format(x) else format_decimals(x)
    })
    dimnames(formatted_values) <- list(detail_titles[shown_fields], details$system)
    view_of_matrix(formatted_values, "fact", most = Inf, title = paste0(
      "What the estimates rest on",
      if (length(omitted_systems) > 0L) {
        paste0(". See tidy(what = \"details\") for ", shorten(omitted_systems), ".")
      }
    ))
  }
  drop_null(list(
    details_view,
    if (is_averaged(x) && length(x$members) > 0L) view(
      relaxation_weights(x$members), left = integer(),
      title = "Weight of the models that drop each property"
    ),
    if (method_of(x)$bins) view(x$bins, left = integer(), most = 30L, title = "Bins")
  ))
}

detail_titles <- c(
  sampling = "standard error due to sampling",
  rater_error = "share of ratings that are wrong",
  disagreement_error = "share of ratings that differ from most others",
  common = "correction for shared errors, share of the range",
  average_shared = "accuracy if all errors are shared",
  independence_weight = "weight of models without shared errors",
  dependence_weight = "weight of shared errors in the interval",
  base_rate_range = "range over base rates that are possible",
  centre = "centre of the interval", mean_posterior = "mean probability of the answers",
  uninformative = "share of cases without information", failed = "replicates without an estimate"
)

# ---- Words for sentences about estimates --------------------------------------------------------

# Returns numbers of cases as words, such as "1,200 cases".
format_n_cases <- function(n) map_chr(n, count_noun, "case")

describe_basis <-
  function(estimate, n) paste("On", format_n_cases(n), describe_raters_and_truth(estimate))

# Describes the raters and the known truth of an estimate, such as "with ratings by 3 raters and
# without known truth".
describe_raters_and_truth <- function(estimate) {
  x <- estimate$fit$x
  raters <- if (is_one_rater(x)) paste("judged by", x$raters) else
    paste("with ratings by", count_noun(n_raters(x), "rater",
      if (panel_kind(estimate) == "machines") machine_kind_text(estimate) else "raters"), "and")
  paste(raters, describe_known_truth(estimate))
}

# Number of cases with known truth: the gold cases of the estimate, or the known truths given to its
# fit. The number is a sum of case weights, like the column `n`.
count_known_truths <- function(estimate) {
  fit <- estimate$fit
  if (is.null(estimate$gold)) sum(is_known_pattern(fit) * pattern_weights(fit$x)) else
    count_gold(estimate)
}

has_all_truths <- function(estimate) {
  count_known_truths(estimate) == sum(pattern_weights(estimate$fit$x))
}

describe_known_truth <- function(estimate) {
  calibration_sample <- estimate$fit$calibrated
  if (!is.null(calibration_sample)) return(paste(
    "with a calibration sample of", format_n_cases(sum(calibration_sample$counts)), "from elsewhere"
  ))
  n_known <- count_known_truths(estimate)
  if (n_known == 0L) return("without known truth")
  n_cases <- sum(pattern_weights(estimate$fit$x))
  paste0(
    "with known truth of ", number(n_known), " of ", count_noun(n_cases, "case"),
    if (n_known < n_cases) switch(estimate$gold$sample %||% "none",
      random = " (a random sample)", none = "", " (chosen with known probabilities)"
    )
  )
}

# Returns a sentence about the main limitation of the estimate of each system, as a vector named by
# system. The sentence is empty if the truth of all cases is known, or if gold cases have at least
# half of the weight in the estimate. The usual sentence is "Ratings cannot show how many errors
# {subject} with the raters{sentence_end}.", in which two arguments are inserted:
# * subject: subject and verb, such as "it shares".
# * sentence_end: words before the full stop, "" for none.
limitation_sentences <- function(estimate, subject = "it shares", sentence_end = "") {
  table <- estimate$table
  sentences <- if (inherits(estimate$fit, "judge_fit")) {
    paste(" It is assumed that", calibration_assumption(estimate$fit))
  } else if (rests_on_machines(estimate)) {
    " Such raters often err on the same cases; the interval reflects errors in public data."
  } else {
    ifelse(is.na(table$shared + table$independent),
      if (!has_interval(estimate) || interval_of(estimate)$hidden) "" else
        paste(" The interval does not allow for errors that", subject, "with the raters."), paste0(
      " Ratings cannot show how many errors ", subject, " with the raters", sentence_end, "."))
  }
  setNames(ifelse(has_all_truths(estimate) | rests_on_gold(estimate), "", sentences), table$system)
}
