#' @description
#' Estimates the accuracy of classifiers without ground truth, from the ratings of several fallible
#' raters of the same cases. Raters are people, language models or tests. There are three kinds of
#' methods: the method of Lehner (2015) \doi{10.22237/jmasm/1430453520}; latent class models, such
#' as that of Dawid and Skene (1979) \doi{10.2307/2346806}, and averages over models; and ratings
#' combined with a few cases of known truth.
#'
#' @details
#' Where to start:
#' * `vignette("fallible")`: a first analysis, from a file to a number.
#' * `vignette("your-data")`: a recipe for every kind of file.
#' * `vignette("which-method")`: the choice of a method.
#' * `vignette("questions")`: when to trust an estimate.
#' * `vignette("one-judge")`, `vignette("llm-judges")`: one or several language models as judges.
#' * `vignette("gold")`: a few cases with known truth.
#'
#' The main functions:
#' * Data: [ratings()] and [read_ratings()] take ratings and answers of systems. [data_check()]
#'   shows which questions they can answer.
#' * Systems (the classifiers to be evaluated): [estimate_accuracy()] estimates their accuracies,
#'   [compare_systems()] differences between systems, [estimate_metrics()] other metrics.
#' * Raters: [fit_raters()] estimates the accuracy of raters, [ground_truth()] the true category of
#'   each case. [agreement()] measures agreement, [shared_errors()] correlated errors.
#' * Assumptions and reports: [check_k_properties()] tests assumptions. [may_say()] and
#'   [accuracy_report()] write sentences and reports.
#' * Planning: [plan_cases()] and [plan_gold()] plan studies. [simulation_study()] tests estimators.
#' * Several labels per answer: [crowdtruth()].
#'
#' [fallible-glossary] defines terms, [conditions] lists classes of errors and warnings, and
#' [fallible-options] lists settings.
#' @keywords internal
#' @importFrom generics augment glance tidy
#' @importFrom Rcpp sourceCpp
#' @importFrom rlang %||% := .data call2 caller_env caller_fn cnd_signal enquo enquos eval_tidy
#'   inject is_bool is_empty is_missing is_string names2 new_function quo_is_null rep_named
#' @importFrom stats ave coef complete.cases confint cov dnorm median na.omit nobs plogis pnorm
#'   predict pt qchisq qlogis qnorm qt quantile rnorm runif sd setNames simulate update vcov
#'   weighted.mean
#' @importFrom tibble add_column as_tibble new_tibble tibble tribble
#' @importFrom utils head tail
#' @useDynLib fallible, .registration = TRUE
"_PACKAGE"

#' @srrstats {G1.0, G1.1} Lehner (2015), after the Python package StatSWAG; gold and averages are
#'   new
#' @srrstats {G1.2, G1.3} the article *Why it is built so*, section *What stays*;
#'   `help("fallible-glossary")`
#' @srrstats {G1.4} exports by roxygen, with values and examples
#' @srrstatsNA {G1.4a} internal functions have plain comments, which say why, shape and unit
#' @export
generics::augment

#' @export
generics::glance

#' @export
generics::tidy

#' Package options: confidence level, threads, messages and file limits
#'
#' Changes defaults of all functions of this package. Options are set by [options()]. An argument
#' such as `conf_level` overrides the option.
#'
#' | option | default | meaning |
#' |---|---|---|
#' | `fallible.conf_level` | 0.9 | default of `conf_level`, the level of intervals, in (0, 1) |
#' | `fallible.threads` | 1 | default of all arguments `threads`, a whole number of at least 1 |
#' | `fallible.quiet` | `FALSE` | `TRUE` hides progress bars and messages, but not warnings |
#' | `fallible.file_limits` | none | named numbers that replace limits of [fallible-limits] |
#'
#' A result keeps the level with which it was computed. If the first argument of a function is an
#' estimate, or a fit with `method = "bayes"`, the default of `conf_level` is the level of this
#' argument. [regression] tables have level 0.95 by default. Progress bars are shown only in
#' interactive sessions, and not in knitted documents. An option with a wrong value causes an error
#' of class `fallible_error_option` when it is used.
#' @srrstats {BS2.12, BS2.13, BS2.14} option `fallible.quiet`, and classes of all conditions
#' @name fallible-options
#' @aliases fallible.file_limits fallible.conf_level fallible.threads fallible.quiet
#' @seealso [conditions] for classes of errors and warnings.
#' @examples
#' # Intervals of level 0.95, and no messages
#' before <- options(fallible.conf_level = 0.95, fallible.quiet = TRUE)
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' glance(estimate_accuracy(x))$conf_level
#' options(before)
NULL

default_conf_level <- function() read_option("fallible.conf_level", 0.9, check_level)

# Returns the default confidence level of results that are computed from `x`. It is the level of
# `x`, if `x` is an estimate or a fit with posterior draws. Otherwise it is the value of option
# `fallible.conf_level`.
level_of <- function(x) {
  level <- if (inherits(x, c("draws_fit", "accuracy_estimate")))
    x$conf_level %||% x$options$conf_level
  level %||% default_conf_level()
}

default_threads <- function() read_option("fallible.threads", 1L, check_count)

is_quiet <- function() read_option("fallible.quiet", FALSE, check_flag)

# Returns the checked value of an option, or of `default` if the option is not set. `check`: a
# function of the value and its name, such as check_count(). An error of `check` becomes an error
# about the option.
read_option <- function(option, default, check) {
  tryCatch(
    check(getOption(option, default), option),
    fallible_error_argument = function(e) {
      abort_fallible("option", "The value of option {.code {option}} cannot be used.",
        i = "Set it by {.fun options}, see {.code ?`fallible-options`}.", option = option,
        parent = e)
    }
  )
}

# ---- Arguments that are lists of settings ---

# Checks that `x` is a list with different names, all of them in `valid_names`. The list may be
# empty.
# * arg: name of the argument that is checked.
# * valid_names: names of the settings that this argument accepts.
check_settings_list <- function(x, arg, valid_names) {
  unknown_names <- printable(setdiff(names2(x), valid_names))
  repeated_names <- repeated_values(names2(x))
  problem <- if (!is.list(x) || is.object(x)) "It is {describe(x)}." else
    if (identical(unknown_names, "")) "An element has no name." else
      if (!is_empty(unknown_names)) "It has the unknown name{?s} {.val {unknown_names}}." else
        if (!is_empty(repeated_names)) "{.val {repeated_names}} {?is/are} repeated."
  abort_argument_if(problem, arg,
    "must be a list whose names are among {.val {valid_names}}, each at most once.", x = problem,
    i = c(
      argument_hints$hint[argument_hints$argument %in% unknown_names & is.na(argument_hints$needs)],
      similar_values_hint(unknown_names, valid_names)
    ))
  x
}

# Checks argument `resampling`, a list of settings. Returns a list of `replicates`, `threads` and
# `cluster`. Settings that the user did not give are NULL or, for threads, the default. `known`:
# names of the settings that the calling function accepts.
check_resampling <- function(resampling, known = c("replicates", "threads", "cluster")) {
  handle_foreign_error(resampling, function(cnd) {
    abort_argument("resampling", "must be a list.", x = escape_braces(conditionMessage(cnd)),
      i = "Name a column as a string: {.code list(cluster = \"site\")}.")
  })
  settings <- check_settings_list(resampling, "resampling", known)
  list(
    replicates = settings[["replicates"]], threads = settings[["threads"]] %||% default_threads(),
    cluster = settings[["cluster"]]
  )
}

# Checks argument `bins`, a list of settings `clip` and `width`. Returns a list of `clip` and
# `bin_width` (the name of `width` in the options of an estimate). Settings that the user did not
# give have their defaults.
check_bins <- function(bins) {
  settings <- check_settings_list(bins, "bins", c("width", "clip"))
  list(clip = settings[["clip"]] %||% "bin", bin_width = settings[["width"]] %||% 0.1)
}

# Returns a progress bar, a list of two functions: `tick(done)` sets the number of finished steps,
# and `close()` removes the bar. The bar appears after two seconds. It is also removed when the
# calling function ends. It is never shown in knitted documents, in sessions that are not
# interactive, or with option `fallible.quiet`. `total`: number of steps; if it is NA (unknown),
# `format` is the text of the bar.
progress_bar <- function(name, total, format = NULL) {
  if (isTRUE(getOption("knitr.in.progress")) || is_quiet() || !rlang::is_interactive()) {
    return(list(tick = no_tick, close = no_tick))
  }
  bar <- cli::cli_progress_bar(
    name, total = total, format = format, auto_terminate = FALSE, .envir = parent.frame()
  )
  list(
    tick = function(done = NULL) cli::cli_progress_update(set = done, id = bar),
    close = function() cli::cli_progress_done(id = bar)
  )
}

# Does nothing. Used as `tick()` and `close()` of a progress bar where no bar is shown.
no_tick <- function(done) NULL

# Returns the time in seconds since the R process started. Differences of two such times are used.
elapsed_seconds <- function() proc.time()[["elapsed"]]

# ---- Files ----

# Writes a file so that it is always complete. The content is written to a temporary file, which is
# then moved to `path`. After a failure the old file is unchanged. If `path` is a symbolic link, its
# target is replaced. Returns the reason of a failure, otherwise NULL.
# * write: a function of a path that writes the file.
# * is_complete: a function of a path that checks the temporary file, because R may not report a
#   full disk.
replace_file <- function(path, write, is_complete) {
  # The temporary file must be on the same disk as the target, because a file cannot be moved to
  # another disk. The real path of the target is used, because `path` may be a symbolic link.
  path <- normalizePath(path, mustWork = FALSE)
  temporary_path <- tempfile(".fallible-", dirname(path)) # a name that no file has
  on.exit(unlink(temporary_path))
  reason_store <- env() # the first warning contains the cause of an error that follows
  add_reason <- function(condition) {
    reason_store$reasons <- c(reason_store$reasons, conditionMessage(condition))
  }
  is_replaced <- withCallingHandlers(
    tryCatch(
      {
        write(temporary_path)
        is_complete(temporary_path) && file.rename(temporary_path, path)
      },
      error = function(e) {
        add_reason(e)
        FALSE
      }
    ),
    warning = function(w) {
      add_reason(w)
      invokeRestart("muffleWarning")
    }
  )
  if (!is_replaced) c(reason_store$reasons, "The written file is incomplete.")[[1L]]
}

file_bytes <- function(path) readBin(path, "raw", file.size(path))

#' Largest sizes of data, computations and files
#'
#' An input above one of these limits raises an error before memory is allocated. If the reason is
#' "8 GB", a larger input would need more than 8 GB of memory, and the error has class
#' `fallible_error_memory`. [conditions] lists other classes. Systems are classifiers to be
#' evaluated, and replicates are resampled data sets.
#'
#' | quantity | largest value | reason |
#' |---|---|---|
#' | cases, raters, systems | 2,147,483,647 | they are numbered by integers |
#' | categories | 1,000 | confusion matrices grow with the square of their number |
#' | ratings drawn by `simulate()` | 1e8 | memory |
#' | replicates of a bootstrap | 1e7 | more would not change the first four digits of quantiles |
#' | replicates to which a model is fitted | 1e6 | fits are slow |
#' | replicates x systems, or x measures | 1e9 | 8 GB |
#' | answers of a simulated data set | 1e9 | 8 GB with its tables |
#' | raters x squared number of categories | 1e7 | a fit needs about twelve tables of this size |
#' | cells of all confusion matrices of a [rater_design()] | 1e9 | 8 GB |
#' | cases x categories of a fit | 1e9 | 8 GB |
#' | pairs of raters or systems x numbers per pair | 1e9 | 8 GB |
#' | replicates x systems in [accuracy_bounds()] | 5e8 | 8 GB |
#' | runs of a [simulation_study()] | 1e6 | more would not change the first three digits of a bias |
#'
#' A file above a limit causes an error of class `fallible_error_limit` before the file is parsed.
#' Unpacked sizes are checked while a file is unpacked. The option `fallible.file_limits` changes
#' limits by their names in the last column, for example
#' `options(fallible.file_limits = c(megabytes = 5000, ratio = 1000))`. [explore()] has lower
#' limits, its arguments `max_size` and `max_cells`.
#'
#' | property of a file | largest value | name |
#' |---|---|---|
#' | files in an archive (`.eval`, `.xlsx`) | 100,000 | `entries` |
#' | megabytes after unpacking, or of a JSON document | 1,000 | `megabytes` |
#' | unpacked size / file size, if more than 10 MB are unpacked | 200 | `ratio` |
#' | columns of a table | 100,000 | `columns` |
#' | rows x columns of a table | 1e9 | `cells` |
#' | fields of a JSON document, plus ten for each object and array | 1e9 | `cells` |
#' @name fallible-limits
#' @return Nothing; this page describes limits.
NULL

max_numbers <- 1e8 # largest number of numbers in a result: 800 MB
max_numbers_at_once <- 1e9 # largest number of numbers that a computation needs at a time: 8 GB

# Raises an error if a computation stores more than `max_numbers_at_once` numbers in memory.
# * numbers: how many numbers the computation stores.
# * what: a plural noun for these numbers, for the message.
# * hint: how the user can reduce the number.
check_memory <- function(numbers, what, hint) {
  abort_if(numbers > max_numbers_at_once, "memory",
    "More than {number(max_numbers_at_once)} {what} need too much memory.",
    x = "This computation needs {number(numbers)}.", i = hint, numbers = numbers)
}

# Raises an error if a table of pairs of judges (raters and systems) needs too much memory.
# * judges: number of judges.
# * numbers: how many numbers are stored per pair.
# * pairs: number of pairs, by default all pairs of judges.
check_pair_numbers <- function(judges, numbers, pairs = judges * (judges - 1) / 2) {
  check_memory(
    numbers * pairs, "statistics of pairs of raters and systems",
    "Use fewer raters, for example {.code x[, 1:1000]}."
  )
}

check_panel_memory <- function(design, n) {
  check_memory(as.double(n) * (n_raters(design) + n_systems(design)), "answers of a panel",
    "Draw fewer cases, in several panels.")
}

# Converts C++ errors of the core to errors of this package. R errors, such as those raised in a
# progress bar, and interrupts are unchanged.
call_core <- function(code) {
  tryCatch(code, `C++Error` = function(e) {
    is_memory_error <- inherits(
      e, c("std::bad_alloc", "std::length_error", "std::bad_array_new_length")
    )
    abort_fallible(if (is_memory_error) "memory" else "core",
      if (is_memory_error) "There is not enough memory for the computation." else
        "The compiled code stopped.",
      x = escape_braces(conditionMessage(e)),
      i = if (is_memory_error) "See {.help fallible-limits}." else
        "An object was changed by hand, or this is a bug: please report it.",
      numbers = NA_real_) # it is unknown how many numbers were needed
  })
}

# The functions in RcppExports.R call this function instead of base::.Call().
.Call <- function(...) call_core(base::.Call(...)) # nolint: object_name.
