#' Simulation studies
#'
#' Simulates many panels (sets of ratings and answers of systems), estimates the accuracy of the
#' systems in each panel, and stores the estimates with the true accuracies. `update()` adds runs to
#' a study. `replay()` draws one of its panels again.
#'
#' @section Estimators: An estimator is a function of a [ratings()] object. It returns a vector or a
#' data frame. A vector contains the estimated accuracy of each system, named by system if there are
#' several. A data frame has a row per system and the column `estimate`. It may also have columns
#' `system`, `std.error`, `conf.low`, `conf.high` and `reason` (why the estimate is `NA`).
#'
#' If the function stops with an error, the study continues. The estimate is then `NA`, and columns
#' `reason` and `condition` of [tidy()][summary.simulation_study] contain the message and the class
#' of the error. `replay(study, row, "estimate")` raises the error again.
#'
#' @section User-defined designs: A user-defined design is a function of the number of cases. It
#' returns [ratings()] of this number of cases, with answers of systems and the truth of all cases;
#' see [with_truth()]. The systems must be the same in each call. If the function stops with an
#' error, the estimates of that run are `NA`, and their `condition` is `"fallible_error_design"`. If
#' the function does not give true accuracies (argument `expected` of [with_truth()]), estimates are
#' compared with the share of correct answers in the panel.
#'
#' @section Random numbers:
#' Call [set.seed()] before the study to make it reproducible. Results do not depend on the number
#' of threads or processes. With a larger number of `runs`, the first panels are the same.
#'
#' @section Many processes: To simulate panels in other processes with package \pkg{future}, call
#' `future::plan("multisession")` before the study. If a process dies, the study stops with an error
#' of class `fallible_error_worker`. The file `checkpoint`, if given, contains the results of the
#' other processes.
#'
#' @section Checkpoints: Results are saved to the file `checkpoint` every few seconds, and when the
#' study ends, also after an interrupt or an error. Panels that are not complete are then lost:
#' those of about one second or, if a panel takes longer, one panel per process. If the call is
#' repeated, it continues the study in the file with the seed that the file contains. If the
#' repeated call has more `runs`, runs are added. An error of class `fallible_error_file` is raised
#' in three cases:
#' * The study in the file has other designs or estimators, other values of `n` or `panels`, or more
#'   runs.
#' * The file was changed.
#' * Another study uses the file.
#'
#' Two user-defined functions are equal if their code is equal, and if the outside variables and
#' functions that the code uses are equal. Environments, files, and variables to which the function
#' assigns a value with `<<-` (such as counters) are not compared.
#'
#' @srrstats {G5.7} errors by cases and raters: article `simulation-figures` stops if they do
#'   not fall
#' @param designs A [rater_design()] with systems, a function (see section User-defined designs), or
#'   a named list of designs and functions.
#' @param estimators Names of methods of [estimate_accuracy()], by default
#'   `c("binned", "unbinned")`; or a named list of functions (see section Estimators), results of
#'   [accuracy_estimator()] and names of methods.
#' @param runs Number of panels for each combination of design and number of cases, by default 10.
#'   If `panels` is `"separate"`, this is the number of panels for each system. For `update()`: the
#'   new number, including the panels that are already in the study. It must be at least the number
#'   in the study (the default).
#' @param n Numbers of cases. Each number is combined with each design. `NULL`, the default, uses
#'   the number of cases of each design. `n` must be given if a design is a function.
#' @param panels `"separate"`, the default: each system has separate panels. `"same"`: all
#'   systems of a design answer the same panels.
#' @param threads Number of threads for methods of [estimate_accuracy()], by default 1 or the option
#'   `fallible.threads`. User-defined functions use one thread; to run them in several processes,
#'   see section Many processes.
#' @param checkpoint Path of a file in which results are saved (see section Checkpoints). `NULL`,
#'   the default: results are not saved.
#' @return `simulation_study()` and `update()`: an object of class `simulation_study`. `print()`
#'   shows the bias, root mean squared error and, with intervals, coverage of each estimator;
#'   [summary()][summary.simulation_study], [tidy()][summary.simulation_study] and
#'   [glance()][summary.simulation_study] return tables, [autoplot()][autoplot.simulation_study]
#'   returns a plot.
#'
#'   `replay()`: a [ratings()] object that contains the truth or, for `what = "estimate"`, the value
#'   that the estimator returns.
#' @family simulation
#' @templateVar where Section "Performance and robustness"
#' @template ref-lehner
#' @examples
#' # Lehner's method, and an estimator that returns the accuracy of the raters
#' set.seed(1)
#' study <- simulation_study(
#'   list("Figure 3" = lehner_design(3), "Figure 10" = lehner_design(10)),
#'   estimators = list("binned", raters = function(x) fit_raters(x)$rater_accuracy)
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
                             checkpoint = NULL, ...) {
  check_call()
  if (!is.null(n)) n <- check_distinct_counts(n, "n")
  study <- new_study(
    as_designs(designs, n), as_estimators(estimators), check_count(runs, "runs", max = 1000000L), n,
    check_choice(panels), draw_seed()
  )
  continue_study(study, threads, checkpoint)
}

# Creates a study (a list) without results. Its fields are the arguments and:
# * results: a list of columns with an element per panel, system and estimator, at first NULL.
# * done: number of finished runs of each cell (a design and a number of cases, see study_cells()).
new_study <- function(designs, estimators, runs, n, panels, seed) {
  study <- list(
    designs = designs, estimators = estimators, runs = runs, n = n, panels = panels,
    seed = seed, results = NULL
  )
  study$done <- integer(length(study_cells(study)))
  study
}

# Converts the argument `designs` to a named list of designs. Functions are converted to objects of
# class rater_world by new_world(), which draws a trial panel with the first number of cases in `n`.
as_designs <- function(designs, n = NULL) {
  is_design <- function(x) inherits(x, "rater_design") || is.function(x)
  if (is_design(designs)) designs <- list(design = designs)
  is_valid_list <- is.list(designs) && !is_empty(designs) && all(map_lgl(designs, is_design))
  abort_argument_if(!is_valid_list, "designs",
    "must be a {.cls rater_design}, a function of the number of cases, or a list of both.",
    not = designs, i = "Make designs with {.fun rater_design} or {.fun lehner_design}.")
  design_names <- names2(designs)
  design_names <- ifelse(design_names == "", paste("design", seq_along(designs)), design_names)
  check_names(design_names, "designs")
  is_function <- map_lgl(designs, is.function)
  abort_argument_if(any(is_function) && is_empty(n), "n",
    "Give {.arg n}, the number of cases, because a design is a function.",
    x = "{.val {design_names[is_function]}} {?is a function/are functions}.")
  if (any(is_function))
    designs[is_function] <- Map(new_world, designs[is_function], design_names[is_function], n[[1L]])
  designs_without_system <- design_names[lengths(lapply(designs, `[[`, "systems")) == 0L]
  abort_if(designs_without_system, "system",
    "Each design must have a system, whose accuracy is estimated.",
    x = "{.val {designs_without_system}} {?has/have} no system.",
    i = "Give {.arg systems} to {.fun rater_design}.", system = character())
  setNames(designs, design_names)
}

# Checks a vector of counts between `min` and `max`, and drops duplicates.
check_distinct_counts <- function(x, arg, min = 1L, max = .Machine$integer.max) {
  if (is_empty(x)) check_count(x, arg, min, max)
  unique(map_int(x, check_count, arg, min, max))
}

# Runs a study, and returns the result of simulation_study(). If the file `checkpoint` exists, the
# study in the file is continued. `any_seed`: may the study in the file have another seed?
continue_study <- function(study, threads, checkpoint, any_seed = TRUE) {
  threads <- check_threads(threads)
  if (!is.null(checkpoint)) {
    is_valid_path <- is_string(checkpoint) && validEnc(checkpoint) &&
      dir.exists(dirname(checkpoint)) && !dir.exists(checkpoint)
    abort_argument_if(!is_valid_path, "checkpoint",
      "must be the path of a file in a folder that exists.", not = checkpoint)
    # Estimators may change the working directory, so the path must be absolute. Symbolic links are
    # resolved, so that a file with two names has one lock.
    checkpoint <- if (file.exists(checkpoint)) normalizePath(checkpoint) else
      file.path(normalizePath(dirname(checkpoint)), basename(checkpoint))
    lock_checkpoint(checkpoint)
    study <- resume_study(study, checkpoint, any_seed)
  }
  new_study_result(run_study(study, threads, checkpoint))
}

#' @rdname simulation_study
#' @param object,study A [simulation_study()] result.
#' @param ... Not used.
#' @export
update.simulation_study <- function(object, runs = object$runs, threads = default_threads(),
                                    checkpoint = NULL, ...) {
  check_dots_empty(...)
  object$runs <- check_count(runs, "runs", min = object$runs, max = 1000000L)
  continue_study(object, threads, checkpoint, any_seed = FALSE)
}

#' @rdname simulation_study
#' @param row Row number in `tidy(study)`. Each row is the estimate of one estimator for one system
#'   in one panel.
#' @param what `"panel"`, the default: returns the ratings of the panel. `"estimate"`: applies the
#'   estimator to the panel, so that errors and warnings of the estimator occur again.
#' @export
replay <- function(study, row, what = c("panel", "estimate"), ...) {
  check_call()
  check_class(study, "simulation_study", "study", "Make a study with {.fun simulation_study}.")
  results <- study$results
  row <- check_count(row, "row", max = length(results$cell))
  what <- check_choice(what)
  cell <- study_cells(study)[[results$cell[[row]]]]
  panel <- draw_panel_of_run(cell, study$seed, results$run[[row]])
  if (what == "panel") return(panel)
  estimator <- study$estimators[[results$estimator[[row]]]]
  estimator_value <- with_run_seed(results$seed[[row]], estimator(panel))
  check_estimator_result(estimator_value, panel$systems) # raises errors about invalid values
  estimator_value
}
