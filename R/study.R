#' Simulation studies
#'
#' Draws many panels from designs, applies estimators to each panel, and stores the estimates with
#' the true accuracies. `update()` adds runs to a study, and `replay()` returns one of its panels.
#'
#' @section Estimators:
#' An estimator is a function of a [ratings()] object that returns a number per system, or a data
#' frame with a column `estimate`. Columns `std.error`, `conf.low`, `conf.high` and `reason` are
#' optional. Names of methods, and results of [accuracy_estimator()], run in compiled code, except
#' for profile intervals. An error in an estimator does not stop the study: its estimate is `NA`,
#' the message is its `reason`, and the condition is stored. `replay(study, row)` draws that panel
#' again; `replay(study, row, "estimate")` also runs the estimator again, with its error.
#'
#' @section User-defined designs:
#' A design may be a function of the number of cases. It returns [ratings()] of this number of
#' cases, with the answers of systems and the truth of all cases (see [with_truth()]). Systems must
#' be the same in all panels. To learn their names, the function is called up to five times before
#' the study, and must return a panel in one of these calls. If it fails later, the estimates of
#' that run are `NA`, with an error of class `fallible_error_design` as their `condition`. If it
#' does not give `expected` accuracies, `print()` and [plan_cases()] compare estimates with the
#' share of correct answers in the panel.
#'
#' @section Random numbers:
#' A study draws one seed from R's generator, so that [set.seed()] makes it reproducible. Each panel
#' has a separate random stream. Results are the same for any number of threads or processes, and a
#' study with more runs begins with the panels of the study with fewer. R's generator is seeded for
#' each panel before user-defined designs and estimators are called, with different seeds for both.
#'
#' @section Many processes:
#' If the package \pkg{future} has a plan that is not sequential (`future::plan("multisession")`, a
#' cluster, a batch system), its workers simulate the panels. They must have this package installed.
#' A worker that dies is an error of class `fallible_error_worker`, which names the lost panels.
#' Results of the other workers are in the file of `checkpoint`.
#'
#' @section Checkpoints:
#' With `checkpoint`, results are saved to that file every few seconds and whenever the study ends,
#' also after an interrupt or an error. The same call then continues the study, with the seed of the
#' file. A call with more `runs` adds them. Estimators count as the same if their code is the same.
#' The file contains the study so far, for `readRDS()`, followed by a hash. A file that was changed,
#' or written by another version of the package, is refused. While a study runs, its file is locked
#' by an empty file with the same name and the ending `.lock`. A second study with this file is an
#' error of class `fallible_error_file`.
#'
#' @srrstats {G5.7} errors by cases and raters: article `simulation-figures` stops if they do
#'   not fall
#' @param designs A [rater_design()] with systems, or a function of the number of cases (see
#'   User-defined designs); or a named list of these.
#' @param estimators Names of methods of [estimate_accuracy()], or a named list of functions.
#' @param runs Number of panels for each design, number of cases and system.
#' @param n Numbers of cases, each combined with each design; by default those of the designs.
#'   Functions need `n`.
#' @param panels `"separate"`: each system has separate panels, as in the paper; `"same"`: a panel
#'   has all systems of its design.
#' @param threads Number of threads for methods of [estimate_accuracy()]; see [fallible-options].
#' @param checkpoint Path of a file for results, or `NULL`.
#' @return An object of class `simulation_study` with methods for `print()`,
#'   [summary()][summary.simulation_study], [tidy()][summary.simulation_study],
#'   [glance()][summary.simulation_study] and [autoplot()][autoplot.simulation_study].
#'   `replay()` returns [ratings()] with their truth, or the result of the estimator.
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
#' # A user-defined design: the same cases are hard for raters and system
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
  if (!is.null(n)) n <- check_distinct_counts(n, "n")
  study <- new_study(
    as_designs(designs, n), as_estimators(estimators), check_count(runs, "runs", max = 1000000L), n,
    check_choice(panels), draw_seed()
  )
  continue_study(study, threads, checkpoint)
}

# A study without results. Fields: the arguments, results (a list of columns) and done (the number
# of runs of each cell).
new_study <- function(designs, estimators, runs, n, panels, seed) {
  study <- list(
    designs = designs, estimators = estimators, runs = runs, n = n, panels = panels,
    seed = seed, results = NULL
  )
  study$done <- integer(length(study_cells(study)))
  study
}

# Functions become worlds. Each is called for a panel of `n` cases (the first number of several).
as_designs <- function(x, n = NULL) {
  is_design <- function(x) inherits(x, "rater_design") || is.function(x)
  if (is_design(x)) x <- list(design = x)
  abort_argument_if(!is.list(x) || length(x) == 0L || !all(vapply(x, is_design, NA)), "designs",
    "must be a {.cls rater_design}, a function of the number of cases, or a list of them.", not = x,
    i = "Make designs with {.fun rater_design} or {.fun lehner_design}.")
  names <- names2(x)
  names <- ifelse(names == "", paste("design", seq_along(x)), names)
  check_names(names, "designs")
  worlds <- vapply(x, is.function, NA)
  abort_argument_if(any(worlds) && length(n) == 0L, "n",
    "Give {.arg n}, the number of cases: functions have none of their own.",
    x = "{.val {names[worlds]}} {?is a function/are functions}.")
  if (any(worlds)) x[worlds] <- Map(new_world, x[worlds], names[worlds], n[[1L]])
  lacking <- names[lengths(lapply(x, `[[`, "systems")) == 0L]
  abort_if(lacking, "system", "A design must have a system whose accuracy is estimated.",
    x = "There is none in {.val {lacking}}.", i = "Give {.arg systems} to {.fun rater_design}.",
    system = character())
  setNames(x, names)
}

# Checks several counts and drops duplicates.
check_distinct_counts <- function(x, arg, min = 1L, max = .Machine$integer.max) {
  if (length(x) == 0L) check_count(x, arg, min, max)
  unique(vapply(x, check_count, 0L, arg, min, max))
}

# With a `checkpoint`, continues the study in its file. `parts` of both studies must be the same.
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
  ok <- is_string(path) && validEnc(path) && dir.exists(dirname(path)) && !dir.exists(path)
  abort_argument_if(!ok, "checkpoint", "must be the path of a file in a folder that exists.",
    not = path)
  # Estimators may change the working directory; and a link is locked under the name of its target.
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
#' @param what `"panel"`: the ratings of the row's panel; `"estimate"`: the result of the row's
#'   estimator for this panel, with its errors and warnings.
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
