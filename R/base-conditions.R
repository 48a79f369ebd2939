#' Conditions
#'
#' Every error and warning of the package has a separate class, so that programs can catch it. The
#' condition has fields with the values that were found.
#'
#' Errors inherit from `fallible_error`. Their classes are `fallible_error_` followed by:
#'
#' | topic | raised when | fields |
#' |---|---|---|
#' | `argument` | an argument has the wrong type, length or range | `arg` |
#' | `columns` | a column is missing, repeated, or has a type that cannot be used | `arg` |
#' | `empty` | there are no cases | |
#' | `missing` | there is no rating at all, or a covariate is unknown | `row`, `column` |
#' | `blank` | a label is an empty string | `row`, `column` |
#' | `category` | an answer, or the truth, is not a declared category | `row`, `column`, `found` |
#' | `encoding` | a label or a name is not UTF-8 | `arg`, `found` |
#' | `categories_few` | there are fewer than two categories | `categories` |
#' | `categories_many` | there are more than 1000 categories | `categories` |
#' | `raters` | there is no rater, or only one where agreement is needed | `raters` |
#' | `repeat` | a rater or system answers a case twice, or files share cases | `case`, `rater` |
#' | `case` | a case identifier is missing or repeated | `row` |
#' | `case_type` | case identifiers of ratings and systems differ in type | `types` |
#' | `system` | a system is needed or unknown, or has no prediction at all | `system` |
#' | `unrated` | no rater saw any case of a system | `system` |
#' | `counts` | a count is missing, negative, not whole or too large | `row`, `column` |
#' | `weights` | a weight is missing, negative, not finite, or all are zero | `row` |
#' | `labels` | a method for single labels was given ratings with several labels | |
#' | `flags` | a column of 0 and 1 for a label has other values | `row`, `column` |
#' | `design` | a function in place of a design does not return a panel | `design` |
#' | `file` | a file is missing, empty, broken, lacks columns, or has other contents | `path` |
#' | `archive` | an archive has links or unsafe names (also of class `file`) | `path` |
#' | `limit` | a file is larger than [fallible-limits] allow (also of class `file`) | `path` |
#' | `page` | a browser sent something that the page of [explore()] does not offer | `field` |
#' | `measure` | an agreement measure is unknown, or not defined for the data | `measure` |
#' | `metric` | a metric is unknown, lacks a setting, stops, or returns something else | `metric` |
#' | `scores` | scores are not as declared, or a category has none | `system`, `row` |
#' | `confidence` | a confidence is out of range, or has no rating | `row`, `column` |
#' | `table` | an agreement matrix is not square, or has cells that are not counts | |
#' | `prior` | a prior is improper, contradicts itself or does not fit the model | |
#' | `gold` | a case with known truth has no or several probabilities of being chosen | `case` |
#' | `memory` | a computation needs more numbers than memory can hold | `numbers`, or `NA` |
#' | `core` | the compiled code stopped, which is a bug | |
#' | `package` | a suggested package is needed and not installed | `package` |
#' | `database` | a database is not available or has changed, or cases in it are needed | |
#' | `worker` | a worker process is lost | `pieces`, `finished` |
#' | `option` | an option of the package has a value that cannot be used | `option` |
#'
#' Warnings inherit from `fallible_warning`. Their classes are `fallible_warning_` followed by:
#'
#' | topic | raised when |
#' |---|---|
#' | `not_identified` | agreement is at or below chance, or ratings cannot separate parameters |
#' | `known_independent` | models or programs with calibration samples are assumed independent |
#' | `weakly_identified` | data leave parameters, or shares of categories, almost open |
#' | `dependence` | shared errors are part of a model, or models that fit equally well differ |
#' | `differential` | a test finds that errors of raters depend on covariates, see [regression] |
#' | `switched` | classes of a fit seem to have exchanged their labels |
#' | `boundary` | estimated base rates were negative and were set to zero |
#' | `unrated` | some cases of a system have no rating; they do not count in its `n` |
#' | `grouped` | a grouped data frame is read as if it were not grouped |
#' | `uninformative` | some bins contain no information on the system; the mean excludes them |
#' | `reruns` | reruns of a rater seem to be ratings of different systems or versions |
#' | `labels` | some labels may not be categories |
#' | `names` | names of cases or raters differ only in capitals or blanks |
#' | `raters` | a rater has no ratings or one answer for all cases, or cases seem to be raters |
#' | `missing` | labels of a file became missing ratings |
#' | `left_out` | parts of a file were not read |
#' | `scores` | answers without scores, or scores that are all equal |
#' | `confidence` | a confidence of systems is not used |
#' | `few_data` | sampling error is enough to make intervals of accuracy wider than .2 |
#' | `assumption` | ratings do not show most of the error of accuracies, or machines rate |
#' | `bootstrap` | many bootstrap replicates gave no estimate, or biased estimates |
#' | `hand_picked` | it is unknown how cases with known truth were chosen |
#' | `gold_few` | fewer than 10 cases with known truth measure accuracy |
#' | `gold_by_class` | gold cases declared as random seem to be drawn by their truth |
#' | `gate_few` | fewer than 50 gold cases measure the quantity of a gate |
#' | `gold_none` | `known_truth` has no case with a truth |
#' | `gold_unrated` | no case with known truth has a rating |
#' | `gold_all` | the truth of all cases is known |
#' | `undefined` | an agreement measure is undefined; the function returns `NA` |
#' | `no_convergence` | a fit, or the qualities of CrowdTruth, did not converge |
#'
#' @section Reasons: If a result is `NA`, its column `reason` explains why, as text. For programs,
#' the stored tables (`x$table` of an estimate, `x$differences` of a comparison) also have a column
#' `why` with a code. The code is `NA` if the numbers show the reason. Codes are: `chance` (there is
#' an estimate, but raters agree no better than by chance); `uncalibrated` (a category has no case
#' in the calibration sample); `judge` (the rater is no better than chance in that sample);
#' `unrated` (no case has a rating); `ratings_alone` (gold cases do not measure the system);
#' `one_rater` (neither gold cases nor agreement measure it); `same_answers` (two systems have no
#' difference). For gold cases they are `no_gold`, `no_sample`, `not_asked` (the
#'   system answered none of them) and `not_drawn` (some cases could not be drawn).
#'
#' @srrstats {BS2.15} every error has a class
#' @name conditions
#' @aliases fallible-conditions fallible_error fallible_warning
#' @return Conditions; see [base::conditions].
#' @examples
#' tryCatch(
#'   ratings(matrix(c("a", "b"), ncol = 1)),
#'   fallible_error_raters = function(e) e$raters
#' )
NULL

# `x`: what was found (`not`: the object to describe), `i`: what to do; both sentences or NULL.
# Errors name the function that the user called; `call` overrides it.
abort_fallible <- function(topic, message, ..., not, x = NULL, i = NULL, call = user_frame(),
                           .envir = parent.frame()) {
  if (!missing(not)) {
    x <- c(x, paste0("It is ", verbatim(describe(not)), "."))
    if (inherits(not, "result_parts")) i <- paste0(
      "Take one of its parts: {.code x[[\"", verbatim(names(not)[1L]), "\"]]}."
    )
  }
  cli::cli_abort(
    in_words(add_bullets(message, x, i), .envir), ...,
    class = c(paste0("fallible_error_", topic), "fallible_error"), call = call, .envir = .envir
  )
}

add_bullets <- function(message, x, i) {
  c(message, setNames(as.character(c(x, i)), rep(c("x", "i"), c(length(x), length(i)))))
}

# Error about an argument. Messages that begin with "must" get its name as subject.
abort_argument <- function(arg, message, ..., call = user_frame(), .envir = parent.frame()) {
  subject <- if (startsWith(message[[1L]], "must ")) paste0("{.arg ", arg, "} ")
  message[[1L]] <- paste0(subject, message[[1L]])
  abort_fallible("argument", message, ..., arg = arg, call = call, .envir = .envir)
}

# Fails if `wrong` is TRUE or not empty. Messages are evaluated only then.
abort_if <- function(wrong, ..., .envir = parent.frame()) {
  if (is_wrong(wrong)) abort_fallible(..., .envir = .envir)
}

abort_argument_if <- function(wrong, ...) {
  if (is_wrong(wrong)) abort_argument(..., .envir = parent.frame())
}

warn_if <- function(doubtful, ...) {
  if (is_wrong(doubtful)) warn_fallible(..., .envir = parent.frame())
}

is_wrong <- function(x) if (is.logical(x)) x else length(x) > 0L

# The frame of the function of this package that the user, or a user-defined function, called.
# Follows parent frames from the error outwards, up to user code, and returns the last frame of this
# package. Frames that only wait for the value of an argument are on the stack, but are not parents.
user_frame <- function() {
  ours <- topenv()
  parents <- sys.parents()
  at <- sys.nframe()
  outermost <- NULL
  while (at > 0L) {
    home <- environment(sys.function(at))
    if (identical(home, ours)) {
      outermost <- sys.frame(at)
    } else if (is.environment(home) && identical(topenv(home), globalenv())) {
      break
    }
    at <- min(parents[[at]], at - 1L) # a frame whose caller has ended has no valid parent
  }
  outermost
}

# Inserts values into a message, and returns text without markup or terminal control. Colours are
# switched off, so that all control sequences in it come from user data, and are escaped.
in_words <- function(message, envir) {
  words <- withr::with_options(
    list(cli.num_colors = 1L), vapply(message, cli::format_inline, "", .envir = envir)
  )
  message[] <- verbatim(printable(words))
  message
}

# Text of users, with braces escaped for cli.
verbatim <- function(...) gsub("([{}])", "\\1\\1", paste0(...))

# Warnings name no call, because the call that the user typed is often a few frames further out.
warn_fallible <- function(topic, message, ..., x = NULL, i = NULL, .envir = parent.frame()) {
  cli::cli_warn(
    in_words(add_bullets(message, x, i), .envir), ...,
    class = c(paste0("fallible_warning_", topic), "fallible_warning"), .envir = .envir
  )
}

inform_fallible <- function(message, i = NULL, class = NULL, .envir = parent.frame()) {
  if (!is_quiet()) cli::cli_inform(in_words(add_bullets(message, NULL, i), .envir), class = class)
}

# The message of a condition in one line, without hints: its first line and the lines "x". The
# result is the same on every console.
in_one_line <- function(condition) {
  tryCatch(
    {
      text <- withr::with_options(list(cli.width = 1e5L), conditionMessage(condition))
      # Invalid bytes would turn the whole text into NA.
      lines <- strsplit(printable(cli::ansi_strip(text[[1L]])), "\n", fixed = TRUE)[[1L]]
      details <- grep("^(\u2716|x) ", lines[-1L], value = TRUE)
      paste(c(lines[[1L]], substring(details, 3L)), collapse = " ")
    },
    error = function(e) paste0("<", class(condition)[[1L]], ">")
  )
}

# Drops traces and calls, which may contain whole panels.
without_trace <- function(condition) {
  if (is.list(condition)) {
    condition[c("trace", "call")] <- NULL
    if (!is.null(condition$parent)) condition$parent <- without_trace(condition$parent)
  }
  condition
}

# The value of code. `handle` is applied to its errors, except to errors of this package.
if_foreign_error <- function(code, handle) {
  tryCatch(code, error = function(cnd) {
    if (inherits(cnd, "fallible_error")) rlang::cnd_signal(cnd)
    handle(cnd)
  })
}

# Shows a message once per session.
inform_once <- function(topic, message, .envir = parent.frame()) {
  if (is_quiet() || !is.null(informed[[topic]])) return(invisible())
  informed[[topic]] <- TRUE
  inform_fallible(message, .envir = .envir)
}

informed <- new.env()
