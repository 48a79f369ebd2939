#' @details
#' How accurate is a classifier when there is no ground truth, only raters who disagree?
#'
#' Get started: `vignette("fallible")` is a first analysis, from a file to a number.
#' `vignette("your-data")` has a recipe for every kind of file. `vignette("which-method")` helps to
#' choose a method, and `vignette("questions")` explains when to trust an estimate.
#' `vignette("one-judge")` is for one language model as a judge, `vignette("llm-judges")` for
#' several, `vignette("gold")` for a few cases with known truth.
#'
#' 1. [ratings()] or [read_ratings()] takes ratings and predictions of systems; [data_check()] shows
#'    which questions they can answer.
#' 2. [estimate_accuracy()] estimates the accuracy of each system, [compare_systems()] differences
#'    between systems, [estimate_metrics()] other metrics.
#' 3. [fit_raters()] estimates the accuracy of raters, [ground_truth()] the category of each case,
#'    [agreement()] the agreement of raters, and [shared_errors()] their shared errors.
#' 4. [check_k_properties()] tests assumptions; [may_say()] and [accuracy_report()] write sentences
#'    and reports.
#' 5. [plan_cases()] and [plan_gold()] plan studies, [simulation_study()] tests estimators.
#' 6. [crowdtruth()] is for answers with several labels, where disagreement is a signal.
#'
#' Fits, estimates, comparisons and plans have `print()`, `summary()`, `format()`, `tidy()`,
#' `glance()` and `plot()`. See also [fallible-glossary] for terms, [conditions] for classes of
#' errors and warnings, and [fallible-options] for settings.
#' @keywords internal
#' @importFrom generics augment glance tidy
#' @importFrom Rcpp sourceCpp
#' @importFrom rlang %||% := .data inject is_string names2
#' @importFrom stats coef confint nobs predict setNames simulate update vcov
#' @importFrom utils head
#' @useDynLib fallible, .registration = TRUE
"_PACKAGE"

#' @srrstats {G1.0, G1.1} Lehner (2015), after the Python package StatSWAG; gold and averages are
#'   new
#' @srrstats {G1.2, G1.3} the article *Why it is built so*, section *What stays*;
#'   [fallible-glossary]
#' @srrstats {G1.4} exports by roxygen, with values and examples
#' @srrstatsNA {G1.4a} internal functions have plain comments, which say why, shape and unit
#' @export
generics::augment

#' @export
generics::glance

#' @export
generics::tidy

#' Options of the package
#'
#' Set by [options()], they are defaults for all functions. Arguments override them.
#'
#' | option | default | meaning |
#' |---|---|---|
#' | `fallible.conf_level` | 0.9 | the default of every argument `conf_level`, in (0, 1) |
#' | `fallible.threads` | 1 | the default of every argument `threads`, a number of threads |
#' | `fallible.quiet` | `FALSE` | whether progress bars and messages are hidden |
#' | `fallible.file_limits` | none | other limits for files, see [fallible-limits] |
#'
#' If the argument `conf_level` of a function is `NULL`, it is that of the estimate given. Warnings
#' and errors are always shown. Knitted documents and sessions that are not
#' interactive, such as those of `Rscript`, never have progress bars. An option with a value of the
#' wrong type is an error of class `fallible_error_option` when it is first used.
#'
#' @srrstats {BS2.12, BS2.13, BS2.14} option `fallible.quiet`, and classes of all conditions
#' @name fallible-options
#' @aliases fallible.file_limits fallible.conf_level fallible.threads fallible.quiet
#' @seealso [conditions] for classes of errors and warnings.
#' @examples
#' before <- options(fallible.conf_level = 0.95, fallible.quiet = TRUE)
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' glance(estimate_accuracy(x))$conf_level
#' options(before)
NULL

default_conf_level <- function() read_option("fallible.conf_level", 0.9, check_level)

default_threads <- function() read_option("fallible.threads", 1L, check_count)

is_quiet <- function() read_option("fallible.quiet", FALSE, check_flag)

# `check` takes a value and its name, like the checks of arguments.
read_option <- function(option, otherwise, check) {
  tryCatch(
    check(getOption(option, otherwise), option),
    fallible_error_argument = function(e) {
      abort_fallible("option", "The option {.code {option}} cannot be used.",
        i = "Set it by {.fun options}, see {.code ?`fallible-options`}.", option = option,
        parent = e)
    }
  )
}

# Related arguments are passed as one list.

# Checks a list of some of the `known` settings, by name.
check_settings_list <- function(x, arg, known) {
  names <- names2(x)
  off <- printable(setdiff(names, known))
  is_list <- is.list(x) && !is.object(x)
  twice <- repeated_values(names)
  abort_argument_if(!is_list || length(off) > 0L || length(twice) > 0L, arg,
    "must be a list with some of the names {.val {known}}, each once.",
    x = if (!is_list) "It is {describe(x)}." else if (identical(off, ""))
      "Something in it has no name." else if (length(off) > 0L) "It has {.val {off}}." else
      "{.val {twice}} {?is/are} repeated.", i = near_values(off, known))
  x
}

# `known`: settings that the caller accepts; others are an error.
check_resampling <- function(resampling, known = c("replicates", "threads", "cluster")) {
  if_foreign_error(resampling, function(cnd) {
    abort_argument("resampling", "must be a list.", x = verbatim(conditionMessage(cnd)),
      i = "Name a column as a string: {.code list(cluster = \"site\")}.")
  })
  given <- check_settings_list(resampling, "resampling", known)
  list(
    replicates = given[["replicates"]], threads = given[["threads"]] %||% default_threads(),
    cluster = given[["cluster"]]
  )
}

# Settings of bins, with the names of an estimator's options.
check_bins <- function(bins) {
  given <- check_settings_list(bins, "bins", c("width", "clip"))
  list(clip = given[["clip"]] %||% "bin", bin_width = given[["width"]] %||% 0.1)
}

# A progress bar that appears after two seconds, but not in knitted documents, nor in sessions that
# are not interactive, nor with option `fallible.quiet`. `tick(done)` moves it; it ends with the
# caller, or at `close()`. Work without a `total` may have a `format` that shows activity.
progress_bar <- function(name, total, format = NULL, .envir = parent.frame()) {
  if (isTRUE(getOption("knitr.in.progress")) || is_quiet() || !rlang::is_interactive()) {
    return(list(tick = no_tick, close = function() NULL))
  }
  bar <- cli::cli_progress_bar(
    name, total = total, format = format, auto_terminate = FALSE, .envir = .envir
  )
  list(
    tick = function(done = NULL) cli::cli_progress_update(set = done, id = bar),
    close = function() cli::cli_progress_done(id = bar)
  )
}

no_tick <- function(done) NULL

elapsed <- function() proc.time()[["elapsed"]]

# Writing of files that are always complete.

# Writes to a temporary file and moves it into place, so that the old file remains after any
# failure. `is_whole` checks the written file, because R may not report a full disk. Returns whether
# the file was replaced. A link stays a link.
replace_file <- function(path, write, is_whole) {
  path <- normalizePath(path, mustWork = FALSE) # files can only be moved within a disk
  temporary <- tempfile(".fallible-", dirname(path)) # never an existing file
  on.exit(unlink(temporary))
  suppressWarnings(tryCatch(
    {
      write(temporary)
      is_whole(temporary) && file.rename(temporary, path)
    },
    error = function(e) FALSE
  ))
}

file_bytes <- function(path) readBin(path, "raw", file.size(path))

#' Limits
#'
#' Larger inputs are refused before memory is allocated. The error is about the argument, if the
#' argument is too large, and of class `fallible_error_memory` (see [conditions]), if a product is.
#' Errors have this class too if memory ends before a limit is reached.
#'
#' | what | at most | why |
#' |---|---|---|
#' | cases, raters, systems | 2,147,483,647 | numbered by integers |
#' | categories | 1,000 | confusion matrices grow with the square |
#' | weight of a case | any number | but `simulate()` draws at most 1e8 ratings |
#' | replicates of a bootstrap | 1e7 | quantiles then have four digits |
#' | replicates of bounds and of checks | 1e6 | each is a fit |
#' | replicates x systems or measures | 1e9 | 8 GB |
#' | answers of a simulated panel | 1e9 | 8 GB with its tables |
#' | raters x squared categories of a model | 1e7 | a fit keeps dozens of such tables |
#' | probabilities of a design | 1e9 | 8 GB |
#' | cases x categories of a fit | 1e9 | 8 GB |
#' | numbers about pairs of raters | 1e9 | 8 GB; [shared_errors()] keeps pairs that share cases |
#' | replicates x systems of bounds | 5e8 | 8 GB |
#' | runs of a study | 1e6 | biases then have three digits |
#'
#' A larger file is an error of class `fallible_error_limit` before it is unpacked or parsed. The
#' option `fallible.file_limits` changes these limits by name: `c(megabytes = 5000, ratio = 1000)`.
#' The limits of [explore()] are lower.
#'
#' | property of a file | at most | name |
#' |---|---|---|
#' | files in an archive (`.eval`, `.xlsx`) | 100,000 | `entries` |
#' | megabytes after unpacking, or of a JSON document | 1,000 | `megabytes` |
#' | ratio of sizes after and before unpacking, above 10 MB | 200 | `ratio` |
#' | columns of a table | 100,000 | `columns` |
#' | rows x columns of a table | 1e9 | `cells` |
#' | fields of JSON, and ten for each object and array | 1e9 | `cells` |
#' @name fallible-limits
#' @return Nothing.
NULL

most_numbers <- 1e8 # 800 MB
most_at_once <- 1e9

# Fails if there are too many `numbers`; `what` names them, `instead` is the hint.
check_memory <- function(numbers, what, instead) {
  abort_if(numbers > most_at_once, "memory",
    "More than {number(most_at_once)} {what} need too much memory.",
    x = "There would be {number(numbers)}.", i = instead, numbers = numbers)
}

# Fails if `numbers` values for each of `pairs` pairs of raters and systems need too much memory. By
# default, `pairs` is the number of all pairs.
check_pair_numbers <- function(judges, numbers, pairs = judges * (judges - 1) / 2) {
  check_memory(
    numbers * pairs, "numbers about pairs of raters and systems",
    "Choose raters, for example {.code x[, 1:1000]}."
  )
}

check_panel_memory <- function(design, n) {
  judges <- n_raters(design) + n_systems(design)
  check_memory(as.double(n) * judges, "answers of a panel", "Draw fewer cases, in several panels.")
}

# Converts C++ errors of the core to errors of this package. Errors of R, including those of
# progress bars, and interrupts are unchanged.
call_core <- function(code) {
  tryCatch(code, `C++Error` = function(e) {
    lack <- inherits(e, c("std::bad_alloc", "std::length_error", "std::bad_array_new_length"))
    abort_fallible(if (lack) "memory" else "core", c(
      if (lack) "There is not enough memory for this." else "The compiled code stopped.",
      "x" = verbatim(conditionMessage(e)),
      "i" = if (lack) "See {.help fallible-limits}." else
        "An object was changed by hand, or this is a bug: please report it."
    ), numbers = NA_real_) # unknown number
  })
}

# Called by RcppExports.R.
.Call <- function(...) call_core(base::.Call(...)) # nolint: object_name.
