#' Simulation studies
#'
#' Draws many panels from designs, gives each to estimators, and keeps what they say beside what
#' was true. `update()` adds runs to a study, `replay()` gives back one of its panels.
#'
#' @section Estimators:
#' An estimator is a function of a [ratings()] object that returns a number per system, or a data
#' frame with a column `estimate` (and `std.error`, `conf.low`, `conf.high` and `reason`, if there
#' are any). Names of methods, and what [accuracy_estimator()] makes, run in compiled code, but for
#' profile intervals. An estimator that stops with an error does not stop the study: its estimate is
#' `NA`, the message is its `reason`, and the condition is kept. `replay(study, row)` draws that
#' panel again, and with `what = "estimate"` lets the estimator fail before your eyes.
#'
#' @section Worlds of your own:
#' A design may be a function of the number of cases that returns [ratings()] of so many cases with
#' the answers of systems and, by [with_truth()], the truth: always the same systems, and no truth
#' missing. To learn the names of systems it is called up to five times beforehand, and must then
#' return a panel. If it fails later, the estimates of that run are `NA`, with the error, of class
#' `fallible_error_design`, as their `condition`. Where it tells no `expected` accuracy, `print()`
#' and [plan_cases()] hold estimates against the share of correct answers in the panel.
#'
#' @section Random numbers:
#' R's generator decides once, so [set.seed()] makes a study repeatable. Each panel has a stream of
#' its own: results are the same for any number of threads or processes, and the panels of a study
#' with more runs begin with those of the study with fewer. Functions of yours find R's random
#' numbers seeded again for each panel, worlds and estimators apart.
#'
#' @section Many processes:
#' Where package future has a plan that is not sequential (`future::plan("multisession")`, a
#' cluster, a batch system), panels are shared out to its workers, which must have this package.
#' A worker that dies is an error of class `fallible_error_worker`, which names the panels that are
#' lost; what the others have finished is in the file of `checkpoint`.
#'
#' @section Checkpoints:
#' With `checkpoint`, results are saved to that file every few seconds and whenever the study ends,
#' also by an interrupt or an error. The same call then goes on from there, with the seed of the
#' file; a call with more `runs` adds these. Estimators are the same if their code is. The file is
#' the study so far, for `readRDS()`, with a hash behind it: a file of which bytes have changed, or
#' that another version of the package wrote, is refused. While a study runs its file is locked, by
#' an empty file beside it whose name ends in `.lock`: a second study that asks for it gets an error
#' of class `fallible_error_file`.
#'
#' @srrstats {G5.7} errors by cases and raters: article `simulation-figures` stops if they do
#'   not fall
#' @param designs A [rater_design()] with systems, or a function of the number of cases (see Worlds
#'   of your own); or a list of these with names.
#' @param estimators Names of methods of [estimate_accuracy()], or a list of functions with names.
#' @param runs Number of panels for each design, number of cases and system.
#' @param n Numbers of cases, each to be combined with each design; `NULL` for the designs' own.
#'   Functions have none.
#' @param panels `"separate"`: each system has panels of its own, as in the paper; `"same"`: a
#'   panel has all systems of its design.
#' @param threads Number of threads for methods of [estimate_accuracy()]; see [fallible-options].
#' @param checkpoint Path of a file to keep results in, or `NULL`.
#' @return An object of class `simulation_study` with methods for `print()`,
#'   [summary()][summary.simulation_study], [tidy()][summary.simulation_study],
#'   [glance()][summary.simulation_study] and [autoplot()][autoplot.simulation_study].
#'   `replay()` gives [ratings()] with their truth, or what the estimator returns.
#' @family simulation
#' @templateVar where Performance and robustness
#' @template ref-lehner
#' @examples
#' set.seed(1)
#' study <- simulation_study(
#'   list("Figure 3" = lehner_design(3), "Figure 10" = lehner_design(10)),
#'   estimators = list("binned", majority = function(x) {
#'     votes <- apply(tidy(x, "counts")[-1], 1, which.max)
#'     answer <- as.data.frame(x, what = "systems")$prediction
#'     mean(as.integer(answer) == votes)
#'   })
#' )
#' study
#' summary(study, by = c("design", "estimator"))
#'
#' # A world of one's own: raters and system find the same cases hard
#' hard_cases <- function(n) {
#'   truth <- sample(3, n, replace = TRUE)
#'   ease <- runif(n, 0.4, 1)
#'   answer <- function() ifelse(runif(n) < ease, truth, truth %% 3 + 1)
#'   x <- data.frame(a = answer(), b = answer(), c = answer(), system = answer())
#'   with_truth(ratings(x, raters = a:c, systems = system, categories = 1:3), truth, expected = 0.7)
#' }
#' simulation_study(list(hard = hard_cases), "unbinned", n = 200)
#' @export
simulation_study <- function(designs, estimators = c("binned", "unbinned"), runs = 10L, n = NULL,
                             panels = c("separate", "same"), threads = default_threads(),
                             checkpoint = NULL) {
  check_given()
  if (!is.null(n)) n <- each_count(n, "n")
  study <- new_study(
    as_designs(designs, n), as_estimators(estimators), check_count(runs, "runs", max = 1000000L), n,
    check_choice(panels), draw_seed()
  )
  continue_study(study, threads, checkpoint)
}

# A study of which nothing is done yet. Fields: as the arguments, results (a list of columns) and
# done (the number of runs of each cell).
new_study <- function(designs, estimators, runs, n, panels, seed) {
  study <- list(
    designs = designs, estimators = estimators, runs = runs, n = n, panels = panels,
    seed = seed, results = NULL
  )
  study$done <- integer(length(study_cells(study)))
  study
}

# Functions become worlds, which are asked for a panel of `n` cases (the first number of several).
as_designs <- function(x, n = NULL) {
  is_one <- function(x) inherits(x, "rater_design") || is.function(x)
  if (is_one(x)) x <- list(design = x)
  abort_argument_if(!is.list(x) || length(x) == 0L || !all(vapply(x, is_one, NA)), "designs",
    "must be a {.cls rater_design}, a function of the number of cases, or a list of them.", not = x,
    i = "Make designs with {.fun rater_design} or {.fun lehner_design}.")
  names <- rlang::names2(x)
  names <- ifelse(names == "", paste("design", seq_along(x)), names)
  check_names(names, "designs")
  own <- vapply(x, is.function, NA)
  abort_argument_if(any(own) && length(n) == 0L, "n",
    "Give {.arg n}, the number of cases: functions have none of their own.",
    x = "{.val {names[own]}} {?is a function/are functions}.")
  if (any(own)) x[own] <- Map(new_world, x[own], names[own], n[[1L]])
  alone <- names[lengths(lapply(x, `[[`, "systems")) == 0L]
  abort_if(alone, "system", "A design must have a system whose accuracy is estimated.",
    x = "There is none in {.val {alone}}.", i = "Give {.arg systems} to {.fun rater_design}.",
    system = character())
  stats::setNames(x, names)
}

# Several counts, each once.
each_count <- function(x, arg, min = 1L, max = .Machine$integer.max) {
  if (length(x) == 0L) check_count(x, arg, min, max)
  unique(vapply(x, check_count, 0L, arg, min, max))
}

# With a `checkpoint`, goes on with what its file has of the study, if `parts` are the same.
continue_study <- function(study, threads, checkpoint,
                           parts = c("designs", "estimators", "n", "panels")) {
  threads <- check_threads(threads)
  if (!is.null(checkpoint)) {
    checkpoint <- check_path(checkpoint)
    lock_checkpoint(checkpoint)
    study <- resume(study, checkpoint, parts)
  }
  show_study(run_study(study, threads, checkpoint))
}

check_path <- function(path) {
  ok <- rlang::is_string(path) && validEnc(path) && dir.exists(dirname(path)) && !dir.exists(path)
  abort_argument_if(!ok, "checkpoint", "must be the path of a file in a folder that exists.",
    not = path)
  # Estimators may change the folder; and a link is locked as what it leads to.
  if (file.exists(path)) return(normalizePath(path))
  file.path(normalizePath(dirname(path)), basename(path))
}

#' @rdname simulation_study
#' @param object,study A [simulation_study()] result.
#' @param ... Not used.
#' @export
update.simulation_study <- function(object, runs = object$runs, threads = default_threads(),
                                    checkpoint = NULL, ...) {
  check_dots_empty(...)
  object$runs <- check_count(runs, "runs", min = object$runs, max = 1000000L)
  same <- c("designs", "estimators", "n", "panels", "seed")
  continue_study(object, threads, checkpoint, same)
}

#' @rdname simulation_study
#' @param row Number of a row of `tidy(study)`.
#' @param what `"panel"`: the ratings that the estimators saw; `"estimate"`: what the row's
#'   estimator makes of them, with its errors and warnings.
#' @export
replay <- function(study, row, what = c("panel", "estimate")) {
  check_given()
  check_class(study, "simulation_study", "study", "Make one with {.fun simulation_study}.")
  at <- study$results
  row <- check_count(row, "row", max = length(at$cell))
  what <- check_choice(what)
  x <- run_panel(study_cells(study)[[at$cell[[row]]]], study$seed, at$run[[row]])
  if (what == "panel") return(x)
  with_run_seed(at$seed[[row]], study$estimators[[at$estimator[[row]]]](x))
}
