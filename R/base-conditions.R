#' Conditions
#'
#' Every error and warning of the package has a class of its own, so that a program can catch it,
#' and carries what was found as fields of the condition.
#'
#' Errors inherit from `fallible_error`. Their classes are `fallible_error_` followed by:
#'
#' | topic | raised when | fields |
#' |---|---|---|
#' | `argument` | an argument has the wrong type, length or range | `arg` |
#' | `columns` | a column is missing, repeated, or has a type that cannot be used | `arg` |
#' | `empty` | there are no cases | |
#' | `missing` | there is no rating at all, or a covariate is not known | `row`, `column` |
#' | `blank` | a label is an empty string | `row`, `column` |
#' | `category` | someone uses a category that was not declared | `row`, `column`, `found` |
#' | `encoding` | a label or a name is not UTF-8 | `arg`, `found` |
#' | `categories_few` | there are fewer than two categories | `categories` |
#' | `categories_many` | there are more than 1000 categories | `categories` |
#' | `raters` | no rater, or one alone where agreement is needed | `raters` |
#' | `repeat` | a rater or system answers a case twice, or files share cases | `case`, `rater` |
#' | `case` | a case identifier is missing or repeated | `row` |
#' | `case_type` | case identifiers of ratings and systems differ in type | `types` |
#' | `system` | a system is needed or not known, or one has no prediction at all | `system` |
#' | `unrated` | no rater saw any case of a system | `system` |
#' | `counts` | a count is missing, negative, not whole or too large | `row`, `column` |
#' | `weights` | a weight is missing, negative, not finite, or all are zero | `row` |
#' | `labels` | a single-label method meets ratings with several labels | |
#' | `flags` | a column of 0 and 1 for a label holds something else | `row`, `column` |
#' | `design` | a function in the place of a design does not return a panel | `design` |
#' | `file` | a file is missing, empty or broken, lacks columns, or holds something else | `path` |
#' | `archive` | an archive holds links or unsafe names (also of class `file`) | `path` |
#' | `limit` | a file holds more than [fallible-limits] allow (also of class `file`) | `path` |
#' | `page` | a browser sent something that the page of [explore()] does not offer | `field` |
#' | `measure` | an agreement measure is unknown, or not defined for the data | `measure` |
#' | `metric` | a metric is unknown, lacks a setting, stops, or returns something else | `metric` |
#' | `scores` | scores are not what was declared, or a category has none | `system`, `row` |
#' | `confidence` | a confidence is out of range, or has no rating beside it | `row`, `column` |
#' | `table` | an agreement matrix is not square, or holds what is not a count | |
#' | `prior` | a prior is improper, contradicts itself or does not fit the model | |
#' | `gold` | a case with known truth has no probability of being chosen, or several | `case` |
#' | `memory` | more numbers are asked for than there is memory | `numbers`, or `NA` |
#' | `core` | the compiled code stopped, which is a bug | |
#' | `package` | a suggested package is needed and not installed | `package` |
#' | `database` | a database is out of reach or has changed, or cases are wanted that are in it | |
#' | `worker` | a process that was to do a part of the work is lost | `pieces`, `finished` |
#' | `option` | an option of the package has a value that cannot be used | `option` |
#'
#' Warnings inherit from `fallible_warning`. Their classes are `fallible_warning_` followed by:
#'
#' | topic | raised when |
#' |---|---|
#' | `not_identified` | agreement is at or below chance, or raters cannot distinguish parameters |
#' | `known_independent` | models or programs with calibration samples are taken as independent |
#' | `weakly_identified` | data leave parameters, or shares of categories, almost open |
#' | `dependence` | shared errors are part of a model, or models that fit equally well differ |
#' | `differential` | a test finds that errors of raters depend on covariates, see [regression] |
#' | `switched` | classes of a fit seem to have changed names |
#' | `boundary` | estimated base rates were negative and were set to zero |
#' | `unrated` | some cases of a system have no rating; they are left out of its `n` |
#' | `grouped` | a grouped data frame is read as if it were not grouped |
#' | `uninformative` | some bins say nothing about the system and are left out of the mean |
#' | `reruns` | reruns of a rater seem to be ratings of different systems or versions |
#' | `labels` | labels look as if they were not all categories |
#' | `names` | cases or raters have names that differ in capitals or blanks only |
#' | `raters` | a rater has no ratings or one answer for all cases, or cases seem to be raters |
#' | `missing` | labels of a file were taken for missing ratings |
#' | `left_out` | something in a file was not read |
#' | `scores` | answers without scores, or scores that are all equal |
#' | `confidence` | a confidence of systems is not used |
#' | `few_data` | sampling error alone makes intervals of accuracy wider than .2 |
#' | `assumption` | most of the error of accuracies is what ratings cannot show, or machines rate |
#' | `bootstrap` | many bootstrap replicates gave no estimate, or biased ones |
#' | `hand_picked` | it is not known how cases with known truth were chosen |
#' | `gold_few` | fewer than 10 cases with known truth measure accuracy |
#' | `gold_by_class` | gold cases that are called random seem to be drawn by their truth |
#' | `gate_few` | fewer than 50 gold cases measure what a gate decides |
#' | `gold_none` | `known_truth` holds the truth of no case |
#' | `gold_unrated` | no rater saw any of the cases with known truth |
#' | `gold_all` | the truth of all cases is known |
#' | `undefined` | an agreement measure is undefined; the function returns `NA` |
#' | `no_convergence` | a fit, or the qualities of CrowdTruth, did not settle |
#'
#' @section Reasons: Where a result is `NA`, its column `reason` says why, in words. Programs can
#'   ask for a code: the fields of results that have such tables (such as `x$table` of an estimate
#'   and `x$differences` of a comparison) have a column `why`, `NA` where numbers show enough:
#'   `chance` (there is an estimate, but raters agree no better than by chance), `uncalibrated` (a
#'   category has no case in the calibration sample), `judge` (the rater is no better than chance in
#'   that sample), `unrated` (no case has a rating), `ratings_alone` (gold cases do not measure the
#'   system), `one_rater` (neither gold cases nor agreement measure it), `same_answers` (two systems
#'   have no difference); and of
#'   gold cases `no_gold`, `no_sample`, `not_asked` (the system answered none of them) and
#'   `not_drawn` (some cases had no chance to be drawn).
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

# `x` says what was found (`not` is the thing itself), `i` what to do: sentences, or NULL for none.
# Errors name the function that the user called; `call` is for those that name another or none.
abort_fallible <- function(topic, message, ..., not, x = NULL, i = NULL, call = user_frame(),
                           .envir = parent.frame()) {
  if (!missing(not)) x <- c(x, paste0("It is ", verbatim(describe(not)), "."))
  cli::cli_abort(
    in_words(with_bullets(message, x, i), .envir), ...,
    class = c(paste0("fallible_error_", topic), "fallible_error"), call = call, .envir = .envir
  )
}

with_bullets <- function(message, x, i) {
  c(message, stats::setNames(as.character(c(x, i)), rep(c("x", "i"), c(length(x), length(i)))))
}

# Of an argument; what it "must" be or have needs no subject.
abort_argument <- function(arg, message, ..., call = user_frame(), .envir = parent.frame()) {
  subject <- if (startsWith(message[[1L]], "must ")) paste0("{.arg ", arg, "} ")
  message[[1L]] <- paste0(subject, message[[1L]])
  abort_fallible("argument", message, ..., arg = arg, call = call, .envir = .envir)
}

# The same if something is wrong: `wrong` is whether it is, or all that is. Messages are not looked
# at before.
abort_if <- function(wrong, ..., .envir = parent.frame()) {
  if (is_wrong(wrong)) abort_fallible(..., .envir = .envir)
}

abort_argument_if <- function(wrong, ..., .envir = parent.frame()) {
  if (is_wrong(wrong)) abort_argument(..., .envir = .envir)
}

warn_if <- function(doubtful, ..., .envir = parent.frame()) {
  if (is_wrong(doubtful)) warn_fallible(..., .envir = .envir)
}

is_wrong <- function(found) if (is.logical(found)) found else length(found) > 0L

# The frame of the function of this package that the user called, or that a function of the user's
# called: the last of ours on the way from a fault through those who asked for it. What is only on
# the stack, since it waits for the value of an argument, has not asked.
user_frame <- function() {
  ours <- topenv()
  parents <- sys.parents()
  at <- sys.nframe()
  found <- NULL
  while (at > 0L) {
    home <- environment(sys.function(at))
    if (identical(home, ours)) {
      found <- sys.frame(at)
    } else if (is.environment(home) && identical(topenv(home), globalenv())) {
      break
    }
    at <- min(parents[[at]], at - 1L) # what was called by a function that has ended has no parent
  }
  found
}

# The message with all values in it, as text in which nothing is markup and nothing steers a
# terminal: without colours, all control sequences in it come from what users have.
in_words <- function(message, envir) {
  words <- withr::with_options(
    list(cli.num_colors = 1L), vapply(message, cli::format_inline, "", .envir = envir)
  )
  message[] <- verbatim(printable(words))
  message
}

# Text of users, in which braces mean braces.
verbatim <- function(...) gsub("([{}])", "\\1\\1", paste0(...))

# Warnings name no call: what a user typed is often a few calls further out.
warn_fallible <- function(topic, message, ..., x = NULL, i = NULL, .envir = parent.frame()) {
  cli::cli_warn(
    in_words(with_bullets(message, x, i), .envir), ...,
    class = c(paste0("fallible_warning_", topic), "fallible_warning"), .envir = .envir
  )
}

inform_fallible <- function(message, i = NULL, class = NULL, .envir = parent.frame()) {
  if (!is_quiet()) cli::cli_inform(in_words(with_bullets(message, NULL, i), .envir), class = class)
}

# What a condition says in one line, the same on every console: its first line, and what was found
# ("x"). Hints are in the condition.
in_one_line <- function(condition) {
  tryCatch(
    {
      text <- withr::with_options(list(cli.width = 1e5L), conditionMessage(condition))
      # Invalid bytes would turn the whole text into NA.
      lines <- strsplit(printable(cli::ansi_strip(text[[1L]])), "\n", fixed = TRUE)[[1L]]
      found <- grep("^(\u2716|x) ", lines[-1L], value = TRUE)
      paste(c(lines[[1L]], substring(found, 3L)), collapse = " ")
    },
    error = function(e) paste0("<", class(condition)[[1L]], ">")
  )
}

# Traces and calls hold whole panels.
without_trace <- function(condition) {
  if (is.list(condition)) {
    condition[c("trace", "call")] <- NULL
    if (!is.null(condition$parent)) condition$parent <- without_trace(condition$parent)
  }
  condition
}

# The value of code, or what `handle` makes of its error; those of this package pass.
if_foreign_error <- function(code, handle) {
  tryCatch(code, error = function(cnd) {
    if (inherits(cnd, "fallible_error")) rlang::cnd_signal(cnd)
    handle(cnd)
  })
}

# A message, once in a session.
inform_once <- function(topic, message, .envir = parent.frame()) {
  if (is_quiet() || !is.null(informed[[topic]])) return(invisible())
  informed[[topic]] <- TRUE
  inform_fallible(message, .envir = .envir)
}

informed <- new.env()
