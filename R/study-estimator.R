#' Estimators for simulation studies
#'
#' Returns a function that takes a [ratings()] object and calls [estimate_accuracy()] with the given
#' options. The default is method `"binned"` without intervals; the default of
#' [estimate_accuracy()] is `"average"`. In [simulation_study()] this function runs faster than
#' user-defined functions.
#'
#' @inheritParams estimate_accuracy
#' @param method Name of a method of [estimate_accuracy()]. `"binned"` (the default): the method of
#'   Lehner (2015), a mean over bins of cases. `"unbinned"`: a similar formula without bins.
#'   `"average"`: a mean over several models of raters and systems, corrected for shared errors.
#'   `"joint"`: fits `model` with the system as one more rater. `"shared"`: fits `model` to the
#'   raters only.
#' @param model Model of the raters, by default [k_model()] (all are equally accurate). Methods
#'   `"joint"` and `"shared"` accept any [rater_model()]; `"binned"` and `"unbinned"` accept
#'   user-defined models ([rater_family()]), and models with ordinal errors or confidence;
#'   `"average"` only the default.
#' @param interval Kind of interval. `"none"` (the default) is fastest, but a study then does not
#'   report coverage. `"bootstrap"` and `"profile"` (only for method `"joint"`) contain sampling
#'   error only, `"robust"` also an allowance for shared errors. `"corrected"`, `"combined"` and
#'   `"anytime"` need `gold` cases. See [estimate_accuracy()].
#' @param common Degree to which a system is assumed to share the errors of the raters: `"none"`,
#'   `"typical"` (as in public data), `"all"`, or a number from 0 (none) to 1 (all). `NULL`, the
#'   default, is `"typical"` for method `"average"` and `"none"` for `"joint"`; other methods do not
#'   accept it.
#' @param resampling A list with the number of bootstrap `replicates`, such as
#'   `list(replicates = 500)`. The default is 1000 for bootstrap intervals, and 200 for robust
#'   intervals and intervals with gold cases.
#' @param gold Number of gold cases (cases whose true category the estimator uses); 0, the default,
#'   for none. Gold cases are a random sample of the rated cases. If there are fewer rated cases,
#'   all of them are gold cases. The ratings must contain the truth, as simulated ratings do.
#' @param gold_sample Whether the estimator treats gold cases as a `"random"` sample (the default),
#'   or as `"given"` (chosen by hand). Cases chosen by hand only improve the model of the raters.
#' @param target Accuracy that intervals with gold cases are for. `"population"` (the default): the
#'   accuracy in the population of which the cases are a sample. `"cases"`: the accuracy on exactly
#'   these cases.
#' @param widen Treatment of the prior of `"combined"` intervals. The prior is computed from the
#'   ratings. `NULL`, the default: the prior is not used if gold cases contradict the prior. A
#'   number of at least 0: the prior is always used, but its variance grows with the number of gold
#'   cases, up to `1 + widen` times.
#' @return A function of class `accuracy_estimator`. It takes a [ratings()] object with systems and
#'   returns an [estimate_accuracy()] result. For a table of its options, see [design_tables].
#' @family simulation
#' @examples
#' # Lehner's method without limiting estimates to [0, 1], applied to his data
#' unclipped <- accuracy_estimator("binned", bins = list(clip = "none"))
#' unclipped(ratings(lehner2015, raters = rater1:rater4, systems = system, case = case))
#' # Another model: errors are more probable in neighbouring categories
#' accuracy_estimator("joint", rater_model(errors = "distance"))
#' @export
accuracy_estimator <- function(method = "binned", model = k_model(), interval = "none",
                               conf_level = default_conf_level(), bins = list(), common = NULL,
                               resampling = list(), gold = 0, gold_sample = c("random", "given"),
                               target = c("population", "cases"), widen = NULL, ...) {
  check_call()
  resampling <- check_resampling(resampling, known = "replicates")
  given_options <- c(mget(setting_arguments), check_bins(bins), resampling["replicates"])
  options <- check_accuracy_options(given_options)
  check_model(model)
  n_gold <- check_count(gold, "gold", min = 0L)
  gold_settings <- list(gold_sample = check_choice(gold_sample), target = check_choice(target),
    widen = check_widen(widen))
  gold_kind <- if (n_gold > 0L) c(random = "sample", given = "picked")[[gold_settings$gold_sample]]
  check_combination(options, model, NULL, list(kind = gold_kind, case = seq_len(n_gold)))
  options <- append(options, list(model = model), 1L)
  structure(
    function(x) {
      gold <- if (n_gold > 0L)
        do.call(gold_cases, c(list(random_gold(x, n_gold)), unname(gold_settings)))
      do.call(estimate_accuracy, c(
        list(x, model = options$model, known_truth = gold), as_arguments(options)
      ))
    },
    class = c("accuracy_estimator", "fallible_result", "function"),
    options = c(options, if (n_gold > 0L) c(gold = n_gold, gold_settings))
  )
}

# Draws a random sample of at most `n_gold` rated cases with known truth. Returns the rows of
# truth(x) of these cases.
random_gold <- function(x, n_gold) {
  truth_table <- truth(x)
  rated_cases <- which(is_rated_pattern(x)[pattern_of_case(x)] & !is.na(truth_table$category))
  truth_table[rated_cases[sample.int(length(rated_cases), min(n_gold, length(rated_cases)))], ]
}

schema_of.accuracy_estimator <- function(x) { # nolint: object_name.
  options <- drop_null(attr(x, "options"))
  options$model <- format(options$model)
  # The option `common` is a number or a word, such as "typical". It is shown as text.
  options$common <- as.character(common_setting(options) %||% NA)
  shown_options <- options[!map_lgl(options, is.na)]
  new_schema(
    list(options = tibble(
      option = names(options), value = map_chr(options, format, USE.NAMES = FALSE)
    )),
    options, paste(names(shown_options), shown_options, collapse = ", ")
  )
}

# Converts the argument `estimators` to a named list of functions. The argument is a function, names
# of methods, or a list of functions and names. `arg`: name of the argument in error messages.
as_estimators <- function(estimators, arg = "estimators") {
  if (is.function(estimators)) estimators <- list(estimator = estimators)
  if (is.character(estimators)) estimators <- as.list(estimators)
  estimator_names <- names2(estimators)
  is_method_name <- map_lgl(as.list(estimators), is_string)
  invalid_index <- which(!is_method_name & !map_lgl(as.list(estimators), is.function))[1L]
  message_subject <- "It"
  bad_value <- estimators
  if (is.list(estimators) && !is.object(estimators) && !is.na(invalid_index)) {
    message_subject <- if (nzchar(estimator_names[[invalid_index]]))
      dQuote(estimator_names[[invalid_index]], FALSE) else paste("Element", invalid_index)
    bad_value <- estimators[[invalid_index]]
  }
  abort_argument_if(!is.list(estimators) || is_empty(estimators) || !is.na(invalid_index), arg,
    "must be names of methods of {.fun estimate_accuracy}, or a list of functions of ratings.",
    x = escape_braces(message_subject, " is ", describe(bad_value), "."))
  is_unnamed <- estimator_names == "" & is_method_name
  estimator_names[is_unnamed] <- unlist(estimators[is_unnamed])
  check_names(estimator_names, arg)
  estimators[is_method_name] <- lapply(estimators[is_method_name], function(method) {
    accuracy_estimator(check_accuracy_method(method, arg))
  })
  setNames(estimators, estimator_names)
}

# Converts an argument that accepts a single estimator to a named list with one function.
as_estimator <- function(estimator) {
  estimators <- as_estimators(estimator, "estimator")
  abort_argument_if(length(estimators) != 1L, "estimator", "must be a single estimator.",
    x = "It contains {length(estimators)} estimators.")
  estimators
}

check_names <- function(names, arg) {
  bad_names <- if (any(names == "")) "" else names[duplicated(names)]
  abort_argument_if(bad_names, arg, "must have a different name for each element.",
    x = if (bad_names[[1L]] == "") "One element has no name." else
      "The name {.val {bad_names[[1L]]}} is repeated.")
}

# Applies an estimator to a panel of ratings. Returns a list of columns with an element per system:
# estimate, std.error, conf.low, conf.high, reason, and condition. If the estimator raised an error,
# `condition` is the class of the error, and otherwise NA. The error itself is not stored, because a
# checkpoint may contain only numbers and strings.
# * x: the ratings, or the error that was raised when the panel was drawn.
# * systems: names of the systems.
# * seed: seed of R's random numbers for the estimator.
apply_estimator <- function(estimator, x, systems, seed) {
  error_class <- NA_character_
  result <- tryCatch(
    {
      if (inherits(x, "error")) stop(x)
      # Warnings about missing estimates are not needed, because `reason` contains their text.
      without_warnings(with_run_seed(seed, check_estimator_result(estimator(x), systems)))
    },
    error = identity
  )
  if (inherits(result, "error")) {
    error_class <- class(result)[[1L]]
    result <- result_table(NA_real_, length(systems), reason = message_in_one_line(result))
  }
  c(result, list(condition = rep(error_class, length(systems))))
}

# ---- User-defined designs: functions that return ratings with truth, of class rater_world -------

# Creates an object of class rater_world for a user-defined design. A trial panel is drawn to find
# the systems, raters and categories of the design. Fields:
# * draw: the user-defined function.
# * label: name of the design.
# * systems: accuracies, which are NA because they are unknown, named by system. If systems have
#   separate panels, keep_system() reduces this field to one system.
# * all: names of all systems, also after keep_system().
# * categories: labels of the categories.
# * raters: number of raters.
# * missing: share of missing ratings in the trial panel.
new_world <- function(draw, label, n) {
  world <- structure(list(draw = draw, label = label), class = "rater_world")
  # A study accepts occasional failures of a design, but not a design that always fails.
  for (seed in 1:5) {
    x <- tryCatch(without_warnings(draw_world(world, n, seed)), fallible_error = identity)
    if (!inherits(x, "error")) break
  }
  if (inherits(x, "error")) {
    x$call <- rlang::error_call(user_frame())
    cnd_signal(x)
  }
  n_ratings <- sum(pattern_lengths(x)[pattern_of_case(x)])
  world_fields <- list(
    systems = setNames(rep(NA_real_, n_systems(x)), x$systems), all = x$systems,
    categories = x$categories, raters = n_raters(x),
    missing = 1 - n_ratings / (nrow(x) * n_raters(x))
  )
  replace(world, names(world_fields), world_fields)
}

# Draws a panel of `n` cases from a user-defined design, and checks it. The result contains only
# the systems named in `world$systems`.
draw_world <- function(world, n, seed) {
  abort_design <- function(demand, fault, ...) {
    abort_fallible("design", escape_braces("Design \"", world$label, "\" ", demand, "."),
      x = escape_braces(fault),
      i = "A design that is a function of the number of cases must return {.fun ratings} with the
        answers of systems. Use {.fun with_truth} to add the true category of each case.",
      design = world$label, ..., call = NULL)
  }
  x <- tryCatch(with_run_seed(seed, world$draw(n)), error = function(e) {
    abort_design("stopped with an error", message_in_one_line(e), error = e)
  })
  if (!is_ratings(x)) abort_design("must return ratings", sprintf("It returned %s.", describe(x)))
  if (nrow(x) != n) abort_design(
    sprintf("must return ratings of %s, as requested by its argument", count_noun(n, "case")),
    sprintf("It returned %s.", count_noun(nrow(x), "case"))
  )
  n_without_truth <- if (is.null(x$truth)) n else sum(is.na(x$truth$category))
  if (n_without_truth > 0L) abort_design(
    "must return the truth of every case",
    sprintf("The truth of %s is missing.", count_noun(n_without_truth, "case"))
  )
  if (n_systems(x) == 0L) abort_design(
    "must return ratings with the answers of a system", "It returned ratings without systems."
  )
  all_systems <- world$all %||% x$systems
  kept_systems <- match(names(world$systems) %||% x$systems, x$systems)
  if (anyNA(kept_systems) || !all(x$systems %in% all_systems)) abort_design(
    "must return the same systems in every call",
    sprintf("An earlier call returned the systems %s; the last call returned %s.",
      toString(all_systems), toString(x$systems))
  )
  if (identical(kept_systems, seq_along(x$systems))) x else
    join_patterns(keep_systems(x, kept_systems))
}

# Returns the true accuracies of the systems in a panel `x` (`expected` and `sample`, see
# true_accuracy()), and three measures of the agreement of its raters, as a list. If the panel could
# not be drawn, `x` is an error, and all elements of the list are NA.
accuracy_and_agreement <- function(x, systems) {
  agreement_fields <- c("agreement", "kappa", "rater_accuracy")
  if (inherits(x, "error")) {
    unknown_accuracy <- rep(NA_real_, length(systems))
    return(c(
      list(expected = unknown_accuracy, sample = unknown_accuracy),
      rep_named(agreement_fields, list(NA_real_))
    ))
  }
  c(
    list(expected = unname(x$truth$expected), sample = sample_accuracy(x)),
    fit_algebraic(with_votes(x))[agreement_fields]
  )
}
