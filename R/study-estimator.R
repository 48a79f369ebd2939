#' Estimators for simulation studies
#'
#' Returns a function that takes a [ratings()] object and calls [estimate_accuracy()] with the given
#' options. Such functions are the estimators that [simulation_study()] compares, and run faster
#' there than user-defined functions.
#'
#' @inheritParams estimate_accuracy
#' @param method Name of a method of [estimate_accuracy()], by default `"binned"`.
#' @param model Model of the raters. Methods `"joint"` and `"shared"` accept any [rater_model()].
#'   `"binned"` and `"unbinned"` accept the default, [k_model()], user-defined models
#'   ([rater_family()]), and models with ordinal errors or confidence. Other methods accept only the
#'   default.
#' @param interval Name of an interval of [estimate_accuracy()]. The default `"none"` is faster, but
#'   without intervals there is no coverage.
#' @param bins A list of settings. `width`: width of the bins of posterior probabilities for method
#'   `"binned"`, in \[0.001, 1\], by default 0.1. `clip`: where methods `"binned"` and `"unbinned"`
#'   limit estimates to \[0, 1\]: in each `"bin"` (the default), `"overall"`, or `"none"` (they are
#'   not limited).
#' @param resampling A list with the number of bootstrap `replicates`, such as
#'   `list(replicates = 500)`. The default is 1000, and 200 for robust intervals and intervals with
#'   gold cases.
#' @param gold Number of gold cases (cases with known truth); 0, the default, for none. They are a
#'   random sample of the rated cases of a panel, or all rated cases if there are fewer. Their truth
#'   is taken from the simulated ratings.
#' @param gold_sample How the estimator assumes that the gold cases were sampled: `"random"`, the
#'   default, or `"given"` (chosen by hand). See [gold_cases()].
#' @param target Intervals with gold cases are for the accuracy in the `"population"` (the default)
#'   or on exactly the rated `"cases"`, see [gold_cases()].
#' @param widen How strongly `"combined"` intervals widen the prior from the ratings, see
#'   [gold_cases()].
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
                               target = c("population", "cases"), widen = NULL, ...) {
  check_call()
  resampling <- check_resampling(resampling, known = "replicates")
  given_options <- c(mget(setting_arguments), check_bins(bins), resampling["replicates"])
  options <- check_accuracy_options(given_options)
  check_model(model)
  n_gold <- check_count(gold, "gold", min = 0L)
  gold_settings <- list(check_choice(gold_sample), check_choice(target), check_widen(widen))
  names(gold_settings) <- c("gold_sample", "target", "widen")
  kind <- if (n_gold > 0L) c(random = "sample", given = "picked")[[gold_settings$gold_sample]]
  check_combination(options, model, NULL, list(kind = kind, case = seq_len(n_gold)))
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

# Draws a random sample of at most `n_gold` rated cases. Returns their rows of truth(x).
random_gold <- function(x, n_gold) {
  truths <- truth(x)
  rated_cases <- which(is_rated_pattern(x)[pattern_of_case(x)] & !is.na(truths$category))
  truths[rated_cases[sample.int(length(rated_cases), min(n_gold, length(rated_cases)))], ]
}

schema_of.accuracy_estimator <- function(x) { # nolint: object_name.
  options <- drop_null(attr(x, "options"))
  options$model <- format(options$model)
  # A word such as "typical", or a share.
  options$common <- as.character(common_setting(options) %||% NA)
  given_options <- options[!map_lgl(options, is.na)]
  new_schema(
    list(options = tibble::tibble(
      option = names(options), value = map_chr(options, format, USE.NAMES = FALSE)
    )),
    options, paste(names(given_options), given_options, collapse = ", ")
  )
}

# Converts the argument `estimators` to a named list of functions. `x`: a function, names of
# methods, or a list of both. `arg`: name of the argument, for messages.
as_estimators <- function(x, arg = "estimators") {
  if (is.function(x)) x <- list(estimator = x)
  if (is.character(x)) x <- as.list(x)
  names <- names2(x)
  is_method <- map_lgl(as.list(x), is_string)
  invalid_elements <- which(!is_method & !map_lgl(as.list(x), is.function))
  subject <- "It"
  bad_value <- x
  if (is.list(x) && !is.object(x) && !is_empty(invalid_elements)) {
    name <- names[[invalid_elements[[1L]]]]
    subject <- if (nzchar(name)) dQuote(name, FALSE) else paste("Element", invalid_elements[[1L]])
    bad_value <- x[[invalid_elements[[1L]]]]
  }
  abort_argument_if(!is.list(x) || is_empty(x) || !is_empty(invalid_elements), arg,
    "must be names of methods, or a list of functions of ratings.",
    x = escape_braces(subject, " is ", describe(bad_value), "."))
  names[names == "" & is_method] <- unlist(x[names == "" & is_method])
  check_names(names, arg)
  x[is_method] <- lapply(x[is_method], function(method) {
    accuracy_estimator(check_accuracy_method(method, arg))
  })
  setNames(x, names)
}

# Converts an argument that accepts a single estimator to a named list with one function.
as_estimator <- function(x) {
  x <- as_estimators(x, "estimator")
  abort_argument_if(length(x) != 1L, "estimator", "must be one estimator.",
    x = "There are {length(x)}.")
  x
}

check_names <- function(names, arg) {
  bad_names <- if (any(names == "")) "" else names[duplicated(names)]
  abort_argument_if(bad_names, arg, "must have a different name for each element.",
    x = if (bad_names[[1L]] == "") "One element has no name." else
      "{.val {bad_names[[1L]]}} is repeated.")
}

# Applies an estimator to a panel `x` of ratings. `x` is an error if the panel could not be drawn.
# Returns a list of columns with an element per system: estimate, std.error, conf.low, conf.high,
# reason, and condition. The condition is NULL unless the estimator failed; then it is the error.
apply_estimator <- function(estimator, x, systems, seed) {
  condition <- list(NULL)
  result <- tryCatch(
    {
      if (inherits(x, "error")) stop(x)
      # Warnings about missing estimates are not needed, because `reason` contains their text.
      without_warnings(with_run_seed(seed, check_estimator_result(estimator(x), systems)))
    },
    error = identity
  )
  if (inherits(result, "error")) {
    condition <- list(without_trace(result))
    result <- result_table(NA_real_, length(systems), reason = message_in_one_line(result))
  }
  c(result, list(condition = rep(condition, length(systems))))
}

# ---- User-defined designs: functions that return ratings with truth, of class rater_world -------

# Creates an object of class rater_world for a user-defined design. Draws a trial panel to find its
# properties. Fields:
# * draw: the user-defined function.
# * label: name of the design.
# * systems: the unknown accuracy NA for each system, with the names of systems. If systems have
#   separate panels, keep_system() keeps one of them.
# * all: names of all systems.
# * categories, raters, missing: categories, number of raters, and share of missing ratings.
new_world <- function(draw, label, n) {
  world <- structure(list(draw = draw, label = label), class = "rater_world")
  x <- draw_trial_panel(world, n)
  if (inherits(x, "error")) {
    x$call <- rlang::error_call(user_frame())
    rlang::cnd_signal(x)
  }
  n_ratings <- sum(pattern_lengths(x)[pattern_of_case(x)])
  world$systems <- setNames(rep(NA_real_, n_systems(x)), x$systems)
  world$all <- x$systems
  world$categories <- x$categories
  world$raters <- n_raters(x)
  world$missing <- 1 - n_ratings / (nrow(x) * n_raters(x))
  world
}

# Returns a trial panel of `n` cases, or the error if five attempts fail. A study accepts occasional
# failures of a design, but not a design that always fails.
draw_trial_panel <- function(world, n) {
  for (seed in 1:5) {
    x <- tryCatch(without_warnings(draw_world(world, n, seed)), fallible_error = identity)
    if (!inherits(x, "error")) break
  }
  x
}

# Draws a panel of `n` cases from a user-defined design. Keeps the systems in `world$systems`.
draw_world <- function(world, n, seed) {
  x <- tryCatch(with_run_seed(seed, world$draw(n)), error = function(e) {
    abort_world(world, "stopped with an error", message_in_one_line(e), error = without_trace(e))
  })
  check_panel(x, world, n)
  kept_systems <- match(names(world$systems) %||% x$systems, x$systems)
  if (identical(kept_systems, seq_along(x$systems))) x else
    join_patterns(keep_systems(x, kept_systems))
}

check_panel <- function(x, world, n) {
  ensure <- function(ok, demand, fault) if (!ok) abort_world(world, paste("must", demand), fault)
  ensure(is_ratings(x), "return ratings", sprintf("It returned %s.", describe(x)))
  ensure(
    nrow(x) == n,
    sprintf("return ratings of %s, the value of its argument", count_noun(n, "case")),
    sprintf("It returned %s.", count_noun(nrow(x), "case"))
  )
  ensure(
    !is.null(x$truth), "return ratings with truth", "It returned ratings without truth."
  )
  n_unknown <- sum(is.na(x$truth$category))
  ensure(
    n_unknown == 0L, "return the truth of every case",
    sprintf("The truth is missing in %s.", count_noun(n_unknown, "case"))
  )
  ensure(
    n_systems(x) > 0L, "return ratings with the answers of a system",
    "It returned ratings without systems."
  )
  expected_systems <- world$all %||% x$systems
  is_same <- all(names(world$systems) %in% x$systems) && all(x$systems %in% expected_systems)
  ensure(is_same, "return the same systems every time", sprintf(
    "They were %s; now they are %s.", toString(expected_systems), toString(x$systems)
  ))
}

abort_world <- function(world, demand, fault, ...) {
  abort_fallible("design", escape_braces("Design \"", world$label, "\" ", demand, "."),
    x = escape_braces(fault),
    i = "A design that is a function of the number of cases must return {.fun ratings} with the
        answers of systems. Add the truth of each case with {.fun with_truth}.",
    design = world$label, ..., call = NULL)
}

# Returns facts about a panel `x`, a list: the true accuracies of systems (`expected` and `sample`,
# see true_accuracy()), and the agreement of its raters. All are NA if `x` is an error.
panel_facts <- function(x, systems) {
  if (inherits(x, "error")) {
    unknown_accuracy <- rep(NA_real_, length(systems))
    return(list(
      expected = unknown_accuracy, sample = unknown_accuracy, agreement = NA_real_,
      kappa = NA_real_,
      rater_accuracy = NA_real_
    ))
  }
  c(
    list(expected = unname(x$truth$expected), sample = sample_accuracy(x)),
    fit_algebraic(with_votes(x))[c("agreement", "kappa", "rater_accuracy")]
  )
}
