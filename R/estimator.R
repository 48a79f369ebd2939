#' An estimator for simulation studies
#'
#' [estimate_accuracy()] with its options settled: a function of a `ratings` object.
#' [simulation_study()] runs most of these without leaving compiled code; any other function will do
#' too.
#'
#' @inheritParams estimate_accuracy
#' @param method A method of [estimate_accuracy()].
#' @param gold Number of gold cases, whose truth is drawn from that of the (simulated) ratings; 0
#'   for none. They are a random sample of the cases with ratings, all of them where these are
#'   fewer.
#' @param gold_sample How the estimator is told that they were chosen: `"random"` or `"given"`.
#' @return A function of class `accuracy_estimator` that takes a [ratings()] object and returns an
#'   [estimate_accuracy()] result.
#' @family simulation
#' @examples
#' unclipped <- accuracy_estimator("binned", clip = "none")
#' unclipped(ratings(lehner2015, raters = rater1:rater4, systems = system, case = case))
#' accuracy_estimator("joint", rater_model(errors = "distance"))
#' @export
accuracy_estimator <- function(method = "binned", model = k_model(), interval = "none",
                               conf_level = default_conf_level(),
                               clip = c("bin", "overall", "none"), bin_width = 0.1,
                               replicates = NULL, common = NULL, gold = 0,
                               gold_sample = c("random", "given"),
                               target = c("population", "cases"), widen = 1.25) {
  call <- rlang::current_env()
  options <- check_accuracy_options(mget(accuracy_options), call)
  check_class(model, "rater_model", "model", "Make one with {.fun rater_model}.")
  number <- check_count(gold, "gold", min = 0L, call = call)
  known <- if (number > 0L) {
    list(
      gold_sample = check_choice(gold_sample, c("random", "given"), "gold_sample", call),
      target = check_choice(target, c("population", "cases"), "target", call),
      widen = check_number(widen, "widen", 0, 1e6, call = call)
    )
  }
  kind <- if (!is.null(known)) switch(known$gold_sample, random = "sample", given = "picked")
  check_pair(options, model, NULL, call, list(kind = kind, case = seq_len(number)))
  options <- append(options, list(model = model), 1L)
  structure(
    function(x) {
      if (number > 0L) known$known_truth <- random_gold(x, number)
      do.call(estimate_accuracy, c(list(x), options, known))
    },
    class = c("accuracy_estimator", "fallible_result", "function"),
    options = c(options, if (number > 0L) c(gold = number, known))
  )
}

# Known truths of some of the rated cases.
random_gold <- function(x, number) {
  all <- truth(x)
  rated <- which(rated_patterns(x)[pattern_of_case(x)] & !is.na(all$category))
  all[rated[sample.int(length(rated), min(number, length(rated)))], ]
}

#' @export
print.accuracy_estimator <- function(x, ...) {
  cat_lines(paste0("<accuracy_estimator> ", format(x)))
  invisible(x)
}

# A named list of functions, from what a user may give.
as_estimators <- function(x, call, arg = "estimators") {
  if (is.function(x)) x <- list(estimator = x)
  if (is.character(x)) x <- stats::setNames(as.list(x), rlang::names2(x))
  usable <- vapply(as.list(x), function(f) is.function(f) || rlang::is_string(f), NA)
  if (!is.list(x) || length(x) == 0L || !all(usable)) {
    off <- if (is.list(x)) which(!usable)[1L] else NA
    name <- if (!is.na(off)) rlang::names2(x)[[off]]
    abort_argument(arg, "must be names of methods, or a list of functions of ratings.",
      x = if (is.na(off)) {
        "It is {describe(x)}."
      } else if (name == "") {
        "Element {off} is {describe(x[[off]])}."
      } else {
        "{.val {name}} is {describe(x[[off]])}."
      }, call = call)
  }
  names <- rlang::names2(x)
  methods <- vapply(x, is.character, NA)
  names[names == "" & methods] <- unlist(x[names == "" & methods])
  check_names(names, arg, call)
  x[methods] <- lapply(x[methods], function(method) {
    accuracy_estimator(check_accuracy_method(method, call, arg))
  })
  stats::setNames(x, names)
}

check_names <- function(names, arg, call) {
  bad <- if (any(names == "")) "" else names[duplicated(names)]
  if (length(bad) > 0L) {
    abort_argument(arg, "must have names that differ.",
      x = if (bad[[1L]] == "") "One has no name." else "{.val {bad[[1L]]}} stands twice.",
      call = call)
  }
}

# What an estimator says of one panel (or of the error in drawing it): a data frame with a row per
# system and columns estimate, std.error, conf.low, conf.high, reason; and the condition, if it
# failed.
apply_estimator <- function(estimator, x, systems, seed) {
  tryCatch(
    withCallingHandlers(
      {
        if (inherits(x, "error")) stop(x)
        list(table = with_run_seed(seed, as_result(estimator(x), systems)), condition = NULL)
      },
      # What they say is in the results: missing estimates with their reasons.
      fallible_warning = function(w) tryInvokeRestart("muffleWarning")
    ),
    error = function(e) {
      lacking <- result_table(NA_real_, length(systems), reason = in_one_line(e))
      list(table = lacking, condition = without_trace(e))
    }
  )
}

# What a condition says in one line, the same on every console: its first line, and what was found
# ("x"). Hints are in the condition.
in_one_line <- function(condition) {
  tryCatch(
    {
      said <- withr::with_options(list(cli.width = 1e5L), conditionMessage(condition))
      lines <- strsplit(cli::ansi_strip(said[[1L]]), "\n", fixed = TRUE)[[1L]]
      found <- grep("^(\u2716|x) ", lines[-1L], value = TRUE)
      paste(c(lines[[1L]], substring(found, 3L)), collapse = " ")
    },
    error = function(e) paste0("<", class(condition)[[1L]], ">")
  )
}

# Whatever the user's generator is, a run has its own numbers.
with_run_seed <- function(seed, code) {
  withr::with_seed(
    seed, code,
    .rng_kind = "Mersenne-Twister", .rng_normal_kind = "Inversion",
    .rng_sample_kind = "Rejection"
  )
}

# Traces and calls hold whole panels.
without_trace <- function(condition) {
  if (is.list(condition)) {
    condition[c("trace", "call")] <- NULL
    if (!is.null(condition$parent)) condition$parent <- without_trace(condition$parent)
  }
  condition
}

# Results are lists of columns until a study is complete.
result_table <- function(estimate, n = length(estimate), reason = NA_character_) {
  none <- rep_len(NA_real_, n)
  list(
    estimate = rep_len(as.double(estimate), n), std.error = none, conf.low = none,
    conf.high = none, reason = rep_len(reason, n)
  )
}

# Names of systems, where there are any, must be those of the panel; the order is not important.
as_result <- function(value, systems, arg = "estimators") {
  if (inherits(value, "accuracy_estimate")) value <- tidy(value)
  table <- if (is.data.frame(value)) as.list(value) else list(estimate = value)
  if (!is.data.frame(value) && length(systems) > 1L) table$system <- names(value)
  named <- as.character(table[["system"]])
  place <- if (length(named) > 0L) match(systems, named) else seq_along(systems)
  numeric <- vapply(table[c("estimate", intersect(interval_columns, names(table)))], function(x) {
    is.numeric(x) || (is.logical(x) && all(is.na(x)))
  }, NA)
  ok <- all(numeric) && length(table[["estimate"]]) == length(systems) && !anyNA(place) &&
    !any(is.infinite(table[["estimate"]]))
  if (!ok) {
    abort_argument(arg, "An estimator must return {length(systems)} finite number{?s}, one per
                         system, or a data frame with a column {.val estimate} and a row per
                         system.",
      x = c(
        "It returned {describe(value)}.",
        if (length(named) > 0L) "It names {.val {named}}; systems are {.val {systems}}."
      ), call = NULL)
  }
  out <- result_table(na_real(as.double(table[["estimate"]][place])))
  for (column in intersect(interval_columns, names(table))) {
    out[[column]] <- as.double(table[[column]][place])
  }
  if (!is.null(table[["reason"]])) out$reason <- as.character(table[["reason"]][place])
  out
}

interval_columns <- c("std.error", "conf.low", "conf.high")
