# A function of the user's in the place of a method: what it says, and what it says of cases drawn
# anew. Its record is made on the fly and travels with the options of the estimate.

function_method <- function(run) {
  record <- new_method("own function", "function of the user's", model = "none", estimate = NULL)
  record$run <- run
  record$estimate <- function(fit, options, average) {
    estimator <- function_estimator(fit$x, run)
    result <- estimator(NULL, NULL)
    lacking <- is.na(result$estimate) & is.na(result$reason)
    new_point(
      result$estimate, estimator,
      reason = replace(result$reason, lacking, "the function gave no estimate")
    )
  }
  record
}

# A function of how often each case was drawn (NULL: the ratings as they are) that says what the
# user's function says; it gets the weights of cases where it has an argument for them.
function_estimator <- function(x, run) {
  weighted <- "weights" %in% names(formals(args(run)))
  own <- weights_of_cases(x)
  structure(function(times, what) {
    value <- if (weighted) {
      run(x, weights = times %||% own)
    } else if (is.null(times)) {
      run(x)
    } else {
      run(weigh_patterns(x[rep(seq_along(times), times), ], NULL))
    }
    result <- as_result(value, x$systems, "method")
    if (is.null(times)) result else result$estimate
  }, class = "case_estimator")
}

# A row per replicate; NA where the function fails, and its first message is shown.
case_replicates <- function(estimator, resampling, tick) {
  systems <- length(estimator(NULL, NULL)$estimate)
  rows <- resampled(tick = tick, resampling = resampling, run = function(times) {
    suppressWarnings(
      tryCatch(estimator(times, NULL), error = identity), classes = "fallible_warning"
    )
  })
  stopped <- vapply(rows, inherits, NA, "error")
  stops <- rows[stopped]
  warn_if(any(stopped), "bootstrap",
    "The function given as {.arg method} stopped in {length(stops)} bootstrap replicate{?s}.",
    x = verbatim("First: ", in_one_line(stops[[1L]])), error = stops[[1L]])
  rows[stopped] <- list(rep(NA_real_, systems))
  stack_rows(rows)
}

# What estimate_accuracy() gives for a function; `given` are its other arguments.
estimate_by_function <- function(x, run, given, by) {
  if (in_database(x)) abort_no_cases("A function as {.arg method} is given cases")
  options <- function_options(given)
  options$record <- function_method(run)
  estimate_by(x, by, function(x, cluster, gold) {
    options["cluster"] <- list(number_clusters(cluster))
    function_estimate(x, options)
  }, given$cluster, NULL)
}

# Of the raters the K-model tells agreement; whether it can be identified is not for it to say.
function_estimate <- function(x, options) {
  fit <- suppressWarnings(fit_raters(x), classes = "fallible_warning")
  check_has_systems(fit$x)
  draft <- draft_estimate(fit, options)
  show_accuracy(new_accuracy_estimate(draft, interval_of_draft(draft)))
}

function_options <- function(given) {
  set <- names(drop_null(given[c("model", "common", "known_truth", "gold_sample")]))
  interval <- given$interval %||% interval_bootstrap$id
  ok <- interval %in% ids_with("own_fit", accuracy_intervals())
  abort_argument_if(length(set) > 0L || !ok, c(set, "interval")[[1L]],
    "A function as {.arg method} goes with {.code interval = \"bootstrap\"} or {.val none} only.",
    x = if (length(set) > 0L) "{.arg {set}} {?is/are} not for it." else "{.arg interval} is
        {describe(interval)}.")
  given$method <- method_shared$id # has no options of its own
  given$interval <- interval
  options <- check_accuracy_options(given)
  options$method <- "own function"
  options$threads <- check_threads(given$threads)
  options
}
