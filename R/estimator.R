#' An estimator for simulation studies
#'
#' [estimate_accuracy()] with its options settled: a function of a `ratings` object.
#' [simulation_study()] runs these without leaving compiled code; any other function will do too.
#'
#' @inheritParams estimate_accuracy
#' @param method `"binned"`, `"unbinned"` or `"average"`.
#' @param interval `"none"` or `"bootstrap"`; `"robust"` for `"average"`.
#' @return A function of class `accuracy_estimator` that takes a [ratings()] object and returns an
#'   [estimate_accuracy()] result.
#' @family simulation
#' @examples
#' unclipped <- accuracy_estimator("binned", clip = "none")
#' unclipped(ratings(lehner2015, raters = rater1:rater4, systems = system, case = case))
#' @export
accuracy_estimator <- function(method = c("binned", "unbinned", "average"), interval = "none",
                               conf_level = 0.9, clip = c("bin", "overall", "none"),
                               bin_width = 0.1, replicates = 1000L) {
  method <- check_choice(method, estimator_methods, "method")
  options <- check_accuracy_options(
    list(
      method = method, interval = interval, conf_level = conf_level, clip = clip,
      bin_width = bin_width, replicates = replicates
    ), rlang::current_env()
  )
  structure(
    function(x) do.call(estimate_accuracy, c(list(x), options)),
    class = c("accuracy_estimator", "function"), options = options
  )
}

compiled_methods <- c("binned", "unbinned")
estimator_methods <- c(compiled_methods, "average")

#' @export
print.accuracy_estimator <- function(x, ...) {
  options <- attr(x, "options")
  cat_lines(paste0("<accuracy_estimator> ", paste(names(options), options, collapse = ", ")))
  invisible(x)
}

# A named list of functions, from what a user may give.
as_estimators <- function(x, call) {
  if (is.function(x)) x <- list(estimator = x)
  if (is.character(x)) x <- stats::setNames(as.list(x), rlang::names2(x))
  ok <- is.list(x) && length(x) > 0L &&
    all(vapply(x, function(f) is.function(f) || rlang::is_string(f), NA))
  if (!ok) {
    abort_fallible("argument", c(
      "{.arg estimators} must be names of methods, or a list of functions of ratings.",
      "x" = "It is {describe(x)}."
    ), arg = "estimators", call = call)
  }
  names <- rlang::names2(x)
  methods <- vapply(x, is.character, NA)
  names[names == "" & methods] <- unlist(x[names == "" & methods])
  check_names(names, "estimators", call)
  x[methods] <- lapply(x[methods], function(method) {
    method <- check_choice(method, estimator_methods, "estimators", call)
    accuracy_estimator(method)
  })
  stats::setNames(x, names)
}

check_names <- function(names, arg, call) {
  bad <- if (any(names == "")) "" else names[duplicated(names)]
  if (length(bad) > 0L) {
    abort_fallible("argument", c(
      "{.arg {arg}} must have names that differ.",
      "x" = if (bad[[1L]] == "") "One has no name." else "{.val {bad[[1L]]}} stands twice."
    ), arg = arg, call = call)
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
      lacking <- result_table(NA_real_, length(systems), reason = first_line(e))
      list(table = lacking, condition = without_trace(e))
    }
  )
}

# The first line of a condition's message; the rest, with its bullets, is in the condition.
first_line <- function(condition) {
  said <- tryCatch(as.character(conditionMessage(condition))[1L], error = function(e) NA)
  if (length(said) == 0L || is.na(said)) said <- paste0("<", class(condition)[[1L]], ">")
  sub("\n.*", "", said)
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
    abort_fallible("argument", c(
      "An estimator must return {length(systems)} finite number{?s}, one per system, or a data frame
       with a column {.val estimate} and a row per system.",
      "x" = "It returned {describe(value)}.",
      "i" = if (length(named) > 0L) "It names {.val {named}}; systems are {.val {systems}}."
    ), arg = arg, call = NULL)
  }
  out <- result_table(na_real(as.double(table[["estimate"]][place])))
  for (column in intersect(interval_columns, names(table))) {
    out[[column]] <- as.double(table[[column]][place])
  }
  if (!is.null(table[["reason"]])) out$reason <- as.character(table[["reason"]][place])
  out
}

interval_columns <- c("std.error", "conf.low", "conf.high")
