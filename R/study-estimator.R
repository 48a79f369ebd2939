#' An estimator for simulation studies
#'
#' Returns a function of a `ratings` object that calls [estimate_accuracy()] with the given options.
#' [simulation_study()] runs most of these functions in compiled code.
#'
#' @inheritParams estimate_accuracy
#' @param method A method of [estimate_accuracy()].
#' @param gold Number of gold cases; 0 for none. They are a random sample of the rated cases of a
#'   panel, or all of them if there are fewer. Their truth is that of the simulated ratings.
#' @param gold_sample How the gold cases are declared to the estimator: `"random"` or `"given"`.
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
  check_model(model)
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

# Known truths of a random sample of the rated cases.
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

# Makes a named list of functions.
as_estimators <- function(x, arg = "estimators") {
  if (is.function(x)) x <- list(estimator = x)
  if (is.character(x)) x <- as.list(x)
  names <- names2(x)
  methods <- vapply(as.list(x), is_string, NA)
  off <- which(!methods & !vapply(as.list(x), is.function, NA))
  subject <- "It"
  value <- x
  if (is.list(x) && !is.object(x) && length(off) > 0L) {
    name <- names[[off[[1L]]]]
    subject <- if (nzchar(name)) dQuote(name, FALSE) else paste("Element", off[[1L]])
    value <- x[[off[[1L]]]]
  }
  abort_argument_if(!is.list(x) || length(x) == 0L || length(off) > 0L, arg,
    "must be names of methods, or a list of functions of ratings.",
    x = verbatim(subject, " is ", describe(value), "."))
  names[names == "" & methods] <- unlist(x[names == "" & methods])
  check_names(names, arg)
  x[methods] <- lapply(x[methods], function(method) {
    accuracy_estimator(check_accuracy_method(method, arg))
  })
  setNames(x, names)
}

# Makes a list with one estimator.
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

# Applies an estimator to a panel; `x` may be the error in drawing it. Returns columns with an entry
# per system: estimate, std.error, conf.low, conf.high, reason, and condition (the error, or NULL).
apply_estimator <- function(estimator, x, systems, seed) {
  condition <- list(NULL)
  result <- tryCatch(
    {
      if (inherits(x, "error")) stop(x)
      # Results contain the information of these warnings: missing estimates with their reasons.
      suppressWarnings(
        with_run_seed(seed, as_result(estimator(x), systems)), classes = "fallible_warning"
      )
    },
    error = identity
  )
  if (inherits(result, "error")) {
    condition <- list(without_trace(result))
    result <- result_table(NA_real_, length(systems), reason = in_one_line(result))
  }
  c(result, list(condition = rep(condition, length(systems))))
}

# Worlds: user-defined functions that return ratings with truth, in place of a design.

# Fields: draw (the function), label, and systems (unknown accuracies with the names of systems,
# like the field of a design; a single system if each has separate panels). From a trial panel: all
# (names of all systems), categories, raters (their number), missing (the share of missing ratings).
new_world <- function(draw, label, n) {
  world <- structure(list(draw = draw, label = label), class = "rater_world")
  x <- first_panel(world, n)
  if (inherits(x, "error")) {
    x$call <- rlang::error_call(user_frame())
    rlang::cnd_signal(x)
  }
  given <- sum(pattern_lengths(x)[pattern_of_case(x)])
  world$systems <- setNames(rep(NA_real_, n_systems(x)), x$systems)
  world$all <- x$systems
  world$categories <- x$categories
  world$raters <- n_raters(x)
  world$missing <- 1 - given / (nrow(x) * n_raters(x))
  world
}

# A study tolerates occasional failures of a world, but not a world that always fails.
first_panel <- function(world, n) {
  for (seed in 1:5) {
    x <- tryCatch(
      suppressWarnings(world_panel(world, n, seed), classes = "fallible_warning"),
      fallible_error = identity
    )
    if (!inherits(x, "error")) break
  }
  x
}

# A panel of n cases, with the systems that the world keeps.
world_panel <- function(world, n, seed) {
  x <- tryCatch(with_run_seed(seed, world$draw(n)), error = function(e) {
    abort_world(world, "stopped with an error", in_one_line(e), error = without_trace(e))
  })
  check_panel(x, world, n)
  keep <- match(names(world$systems) %||% x$systems, x$systems)
  if (identical(keep, seq_along(x$systems))) x else join_patterns(keep_systems(x, keep))
}

check_panel <- function(x, world, n) {
  must <- function(ok, demand, fault) if (!ok) abort_world(world, paste("must", demand), fault)
  must(is_ratings(x), "return ratings", paste0("It returned ", describe(x), "."))
  must(
    nrow(x) == n, paste0("return ratings of ", count_noun(n, "case"), ", as it was asked to"),
    paste0("It returned ", count_noun(nrow(x), "case"), ".")
  )
  must(
    !is.null(x$truth), "return ratings with truth", "It returned ratings whose truth is not known."
  )
  unknown <- sum(is.na(x$truth$category))
  must(
    unknown == 0L, "know the truth of every case",
    paste("It is missing in", count_noun(unknown, "case"))
  )
  must(
    n_systems(x) > 0L, "return ratings with the answers of a system", "There is no system."
  )
  before <- world$all %||% x$systems
  same <- all(names(world$systems) %in% x$systems) && all(x$systems %in% before)
  must(same, "return the same systems every time", paste0(
    "They were ", toString(before), "; now they are ", toString(x$systems), "."
  ))
}

abort_world <- function(world, must, fault, ...) {
  abort_fallible("design", verbatim("Design \"", world$label, "\" ", must, "."),
    x = verbatim(fault),
    i = "A design may be a function of the number of cases that returns {.fun ratings} with the
        answers of systems, and with the truth of each case by {.fun with_truth}.",
    design = world$label, ..., call = NULL)
}

# Seeds for worlds, from other stream items than those of estimators, so that both are independent.
world_seed <- function(seed, item) core_run_seeds(seed, item + 2^31, 1L)

# True accuracies of a panel, and the agreement of its raters; NA without a panel.
panel_facts <- function(x, systems) {
  if (inherits(x, "error")) {
    none <- rep(NA_real_, length(systems))
    return(list(
      expected = none, sample = none, agreement = NA_real_, kappa = NA_real_,
      rater_accuracy = NA_real_
    ))
  }
  c(
    list(expected = unname(x$truth$expected), sample = sample_accuracy(x)),
    fit_algebraic(with_votes(x))[c("agreement", "kappa", "rater_accuracy")]
  )
}
