#' An estimator for simulation studies
#'
#' [estimate_accuracy()] with its options settled: a function of a `ratings` object, which
#' [simulation_study()] mostly runs without leaving compiled code.
#'
#' @inheritParams estimate_accuracy
#' @param method A method of [estimate_accuracy()].
#' @param gold Number of gold cases, whose truth is drawn from that of the (simulated) ratings; 0
#'   for none. They are a random sample of the cases with ratings, all of them where these are
#'   fewer.
#' @param gold_sample How the estimator is told that they were chosen: `"random"` or `"given"`.
#' @param target,widen See [gold_cases()].
#' @return A function of class `accuracy_estimator` that takes a [ratings()] object and returns an
#'   [estimate_accuracy()] result.
#' @family simulation
#' @examples
#' unclipped <- accuracy_estimator("binned", bins = list(clip = "none"))
#' unclipped(ratings(lehner2015, raters = rater1:rater4, systems = system, case = case))
#' accuracy_estimator("joint", rater_model(errors = "distance"))
#' @export
accuracy_estimator <- function(method = "binned", model = k_model(), interval = "none",
                               conf_level = default_conf_level(), bins = list(), common = NULL,
                               resampling = list(), gold = 0, gold_sample = c("random", "given"),
                               target = c("population", "cases"), widen = NULL) {
  resampling <- check_resampling(resampling, known = "replicates")
  given <- c(mget(settled), check_bins(bins), resampling["replicates"])
  options <- check_accuracy_options(given)
  check_class(model, "rater_model", "model", "Make one with {.fun rater_model}.")
  number <- check_count(gold, "gold", min = 0L)
  known <- list(check_choice(gold_sample), check_choice(target), check_widen(widen))
  names(known) <- c("gold_sample", "target", "widen")
  kind <- if (number > 0L) c(random = "sample", given = "picked")[[known$gold_sample]]
  check_pair(options, model, NULL, list(kind = kind, case = seq_len(number)))
  options <- append(options, list(model = model), 1L)
  structure(
    function(x) {
      gold <- if (number > 0L) do.call(gold_cases, c(list(random_gold(x, number)), unname(known)))
      do.call(estimate_accuracy, c(
        list(x, model = options$model, known_truth = gold), as_arguments(options)
      ))
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

schema_of.accuracy_estimator <- function(x) { # nolint: object_name.
  options <- drop_null(attr(x, "options"))
  options$model <- format(options$model)
  options$common <- as.character(common_of(options) %||% NA) # a word or a share
  given <- options[!vapply(options, is.na, NA)]
  new_schema(
    list(options = tibble::tibble(
      option = names(options), value = vapply(options, format, "", USE.NAMES = FALSE)
    )),
    options, paste(names(given), given, collapse = ", ")
  )
}

# A named list of functions, from what a user may give.
as_estimators <- function(x, arg = "estimators") {
  if (is.function(x)) x <- list(estimator = x)
  if (is.character(x)) x <- stats::setNames(as.list(x), rlang::names2(x))
  names <- rlang::names2(x)
  methods <- vapply(as.list(x), rlang::is_string, NA)
  off <- which(!methods & !vapply(as.list(x), is.function, NA))
  listed <- is.list(x) && !is.object(x) && length(off) > 0L
  of <- if (listed && nzchar(names[[off[[1L]]]])) dQuote(names[[off[[1L]]]], FALSE)
  abort_argument_if(!is.list(x) || length(x) == 0L || length(off) > 0L, arg,
    "must be names of methods, or a list of functions of ratings.",
    x = verbatim(if (listed) of %||% paste("Element", off[[1L]]) else "It", " is ",
      describe(if (listed) x[[off[[1L]]]] else x), "."))
  names[names == "" & methods] <- unlist(x[names == "" & methods])
  check_names(names, arg)
  x[methods] <- lapply(x[methods], function(method) {
    accuracy_estimator(check_accuracy_method(method, arg))
  })
  stats::setNames(x, names)
}

# A list of one.
as_estimator <- function(x) {
  x <- as_estimators(x, "estimator")
  abort_argument_if(length(x) != 1L, "estimator", "must be one estimator.",
    x = "There are {length(x)}.")
  x
}

check_names <- function(names, arg) {
  bad <- if (any(names == "")) "" else names[duplicated(names)]
  abort_argument_if(bad, arg, "must have names that differ.",
    x = if (bad[[1L]] == "") "One has no name." else "{.val {bad[[1L]]}} is repeated.")
}

# What an estimator says of one panel (or of the error in drawing it): columns with an entry per
# system, estimate, std.error, conf.low, conf.high, reason, and condition, if it failed.
apply_estimator <- function(estimator, x, systems, seed) {
  conditions <- function(condition) list(condition = rep(list(condition), length(systems)))
  tryCatch(
    withCallingHandlers(
      {
        if (inherits(x, "error")) stop(x)
        c(with_run_seed(seed, as_result(estimator(x), systems)), conditions(NULL))
      },
      # What they say is in the results: missing estimates with their reasons.
      fallible_warning = function(w) tryInvokeRestart("muffleWarning")
    ),
    error = function(e) {
      lacking <- result_table(NA_real_, length(systems), reason = in_one_line(e))
      c(lacking, conditions(without_trace(e)))
    }
  )
}
