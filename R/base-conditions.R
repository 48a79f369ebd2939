#' Classes of errors and warnings
#'
#' Every error and warning of the package has a class for its topic, so that programs can catch it
#' with [tryCatch()].
#'
#' An error has the class `fallible_error` and the class `fallible_error_` followed by one of the
#' topics below. The last column names elements of the error that contain the cause: `arg`, the name
#' of the argument; `row` and `column`, the place in the data; `found`, the wrong value. `path` is
#' the file, `pieces` the lost tasks, and `finished` the values of the other tasks. Other elements
#' are named by their contents.
#'
#' Systems are classifiers to be evaluated, gold cases are cases with known truth.
#' [fallible-glossary] defines other terms.
#'
#' | topic | raised when | elements |
#' |---|---|---|
#' | `argument` | an argument has the wrong type, length or range | `arg` |
#' | `columns` | a column is missing, repeated, or has a type that cannot be used | `arg` |
#' | `empty` | there are no cases, or a filter would drop all cases | |
#' | `missing` | there is no rating at all, or a covariate is missing | `row`, `column` |
#' | `blank` | a label is an empty string | `row`, `column` |
#' | `category` | an answer, or the truth, is not a declared category | `row`, `column`, `found` |
#' | `encoding` | a label or a name is not UTF-8 | `arg`, `found` |
#' | `categories_few` | there are fewer than two categories | `categories` |
#' | `categories_many` | there are more than 1000 categories | `categories` |
#' | `raters` | there is no rater, or there are fewer than the function needs | `raters` |
#' | `repeat` | a rater or system answers a case twice, or files share cases | `case`, `rater` |
#' | `case` | a case is missing, repeated or unknown, or its known truth changed | `row` |
#' | `case_type` | case identifiers of ratings and systems differ in type | `types` |
#' | `system` | there is no system, or a system is unknown or has no prediction | `system` |
#' | `unrated` | no rater rated any case of a system | `system` |
#' | `counts` | a count is missing, negative, not whole or too large | `row`, `column` |
#' | `weights` | weights are missing, negative, infinite, all zero, or cannot be used | `row` |
#' | `labels` | answers have several labels, and the function needs one | |
#' | `flags` | a column must be 0 and 1, and has other values | `row`, `column` |
#' | `design` | a user-defined function that simulates data does not return [ratings()] | `design` |
#' | `file` | a file is missing, empty, broken, lacks columns, or has other contents | `path` |
#' | `archive` | an archive has links or unsafe paths (also has class `file`) | `path` |
#' | `limit` | a file is larger than [fallible-limits] allow (also has class `file`) | `path` |
#' | `page` | a browser sent a value that the page of [explore()] does not offer | `field` |
#' | `measure` | an agreement measure is unknown, or not defined for the data | `measure` |
#' | `metric` | a metric is unknown, lacks a setting, fails, or returns no number | `metric` |
#' | `scores` | scores are not as declared, or a category has none | `system`, `row` |
#' | `confidence` | a confidence is out of range, or has no rating | `row`, `column` |
#' | `table` | an agreement matrix is not square, or has cells that are not counts | |
#' | `prior` | a prior is improper, contradicts itself or does not fit the model | |
#' | `gold` | gold cases were chosen in different ways, or a probability is unsuitable | `case` |
#' | `memory` | a computation needs more numbers than memory can hold | `numbers` |
#' | `core` | the compiled code stopped, which is a bug | |
#' | `package` | a suggested package is needed and not installed | `package` |
#' | `database` | a database is not available, has changed, or lacks the ratings of each case | |
#' | `worker` | a parallel R process ended too early | `pieces`, `finished` |
#' | `option` | an option of the package has a value that cannot be used | `option` |
#'
#' A warning has the class `fallible_warning` and the class `fallible_warning_` followed by one of
#' these topics:
#'
#' | topic | raised when |
#' |---|---|
#' | `not_identified` | agreement is at or below chance, or ratings do not determine parameters |
#' | `known_independent` | errors of several models or programs are assumed to be independent |
#' | `weakly_identified` | ratings contain little information on parameters or category shares |
#' | `dependence` | a model has shared errors, or equally good models give different estimates |
#' | `differential` | errors of raters depend on covariates, by a test of [regression] |
#' | `prior` | priors contradict the ratings, or `order`, or seem to have reversed categories |
#' | `switched` | categories of a fit seem to have exchanged their labels (label switching) |
#' | `boundary` | estimated base rates were negative and were set to zero |
#' | `unrated` | some cases of a system have no rating; estimates from ratings leave them out |
#' | `grouped` | a grouped data frame is read as if it had no groups |
#' | `uninformative` | bins of cases have no information on a system, and are left out of a mean |
#' | `reruns` | reruns of a rater tie, or seem to be ratings of different systems or versions |
#' | `labels` | some labels may not be categories |
#' | `order` | the order of the categories was guessed |
#' | `names` | names of raters, or of cases of a file, differ only in capitals or blanks |
#' | `raters` | a rater has no ratings or one answer for all cases, or cases seem to be raters |
#' | `missing` | labels of a file became missing ratings |
#' | `left_out` | parts of a file, or copies of rows, were left out |
#' | `scores` | answers have no scores, or all scores are equal |
#' | `confidence` | confidences of a system are not used |
#' | `few_data` | intervals of accuracy are wider than 0.2 because of sampling error |
#' | `assumption` | most of the error is due to untested assumptions, or the raters are machines |
#' | `bootstrap` | bootstrap replicates are too few, or many have no estimate, or a biased one |
#' | `hand_picked` | it is unknown how gold cases were chosen |
#' | `gold_few` | fewer than 10 gold cases measure accuracy |
#' | `gold_by_class` | gold cases declared as a random sample seem to be drawn by category |
#' | `gate_few` | [gate()] compares a quantity that fewer than 50 gold cases measure |
#' | `gold_incomplete` | cases with a sampling probability have no truth yet |
#' | `gold_none` | `known_truth` has no case with a truth |
#' | `gold_unrated` | no gold case has a rating |
#' | `gold_all` | the truth of all cases is known |
#' | `undefined` | an agreement measure is undefined, and its value is `NA` |
#' | `no_convergence` | a fit, or an iteration of [crowdtruth()], did not converge |
#'
#' @section Reasons:
#' Column `reason` of a result explains, as text, why a value is `NA` or unreliable. For programs,
#' `x$table` of an [estimate_accuracy()] result and `x$differences` of a [compare_systems()] result
#' have a column `why` with one of these codes, or `NA` for other reasons:
#' * `chance`: there is an estimate, but raters agree no better than by chance.
#' * `uncalibrated`: a category has no case in the calibration sample (cases with known truth).
#' * `judge`: the only rater is no better than chance in the calibration sample.
#' * `unrated`: no case has a rating.
#' * `ratings_alone`: the estimate is from ratings only, because gold cases could not be used.
#' * `one_rater`: neither gold cases nor agreement between raters measure the system.
#' * `same_answers`: two systems gave the same answers, so there is no interval of their difference.
#' * `no_gold`: there are no gold cases.
#' * `no_sample`: case weights are not whole numbers, so gold cases are not a sample of the cases.
#' * `not_asked`: the system answered none of the gold cases.
#' * `not_drawn`: some cases of the system had no chance of being gold cases.
#'
#' @srrstats {BS2.15} every error has a class
#' @name conditions
#' @aliases fallible-conditions fallible_error fallible_warning
#' @return Conditions; see [base::conditions].
#' @examples
#' # Too few raters: returns the raters that were found
#' tryCatch(
#'   ratings(matrix(c("a", "b"), ncol = 1)),
#'   fallible_error_raters = function(e) e$raters
#' )
NULL

# Raises an error of class "fallible_error_<topic>". The error names the function that the user
# called, or `call` if it is given.
# * message: what is wrong, as cli text.
# * x: what was found, as cli text or NULL.
# * i: what to do, as cli text or NULL.
# * not: a wrong value, which is described in a line of type `x`.
# * ...: fields of the condition.
abort_fallible <- function(topic, message, ..., not, x = NULL, i = NULL, call = user_frame(),
                           .envir = parent.frame()) {
  if (!missing(not)) {
    x <- c(x, sprintf("It is %s.", escape_braces(describe(not))))
    is_list_of_ratings <- is.list(not) && !is.object(not) && any(map_lgl(not, inherits, "ratings"))
    if (is_list_of_ratings || inherits(not, "result_parts")) i <- sprintf(
      "Take one of its parts: {.code x[[%s]]}.",
      if (has_names(not)) dQuote(escape_braces(names(not)[[1L]]), FALSE) else 1L
    )
  }
  rlang::abort(
    format_message(message, x, i, .envir), ...,
    class = c(paste0("fallible_error_", topic), "fallible_error"), call = call,
    use_cli_format = TRUE, .frame = .envir
  )
}

# Raises an error about the argument named `arg`. If the message begins with a small letter, as in
# "must be a number.", the name of the argument is put in front of it.
abort_argument <- function(arg, message, ..., call = user_frame(), .envir = parent.frame()) {
  subject <- if (grepl("^[a-z]", message[[1L]])) paste0("{.arg ", arg, "} ")
  message[[1L]] <- paste0(subject, message[[1L]])
  abort_fallible("argument", message, ..., arg = arg, call = call, .envir = .envir)
}

# Raises an error if `wrong` is TRUE. `wrong` may also be a vector that is not logical, such as a
# vector of wrong values. An error is then raised if the vector is not empty. Messages are lazily
# evaluated, so they may use values that exist only in case of an error.
abort_if <- function(wrong, ..., .envir = parent.frame()) {
  if (is_wrong(wrong)) abort_fallible(..., .envir = .envir)
}

abort_argument_if <- function(wrong, ...) {
  if (is_wrong(wrong)) abort_argument(..., .envir = parent.frame())
}

warn_if <- function(doubtful, ...) {
  if (is_wrong(doubtful)) warn_fallible(..., .envir = parent.frame())
}

is_wrong <- function(condition) if (is.logical(condition)) condition else !is_empty(condition)

# Returns the frame of the function of this package that user code called. An error then names this
# function and not an internal one. The search follows parent frames outwards, until it reaches a
# function of the user or the top level. The result is the last frame of this package before that.
user_frame <- function() {
  parent_numbers <- sys.parents()
  frame_number <- sys.nframe()
  outermost_frame <- NULL
  while (frame_number > 0L) {
    enclosure <- environment(sys.function(frame_number))
    if (identical(enclosure, topenv())) {
      outermost_frame <- sys.frame(frame_number)
    } else if (is.environment(enclosure) && identical(topenv(enclosure), globalenv())) {
      break
    }
    # If the parent function has ended, the number of its frame is invalid. The second term ensures
    # that the loop ends.
    frame_number <- min(parent_numbers[[frame_number]], frame_number - 1L)
  }
  outermost_frame
}

# Formats a cli message: adds the lines `x` (found) and `i` (what to do), inserts values from
# `envir`, and escapes control characters.
format_message <- function(message, x, i, envir) {
  # Colours are switched off, because their codes are control characters, too.
  withr::local_options(cli.num_colors = 1L)
  bullet_types <- rep(c("x", "i"), c(length(x), length(i)))
  message <- c(message, setNames(as.character(c(x, i)), bullet_types))
  message[] <- keep_strings_whole(printable(map_chr(message, cli::format_inline, .envir = envir)))
  message
}

# Replaces blanks in quoted strings by no-break spaces, so that no line breaks within a label or
# a string of code. cli shows no-break spaces as blanks. Strings of more than 60 characters are
# probably sentences, and are not changed.
keep_strings_whole <- function(text) {
  string_positions <- gregexpr('"(\\\\.|[^"\\\\\n]){0,60}"', text, perl = TRUE)
  regmatches(text, string_positions) <-
    lapply(regmatches(text, string_positions), chartr, old = " ", new = "\u00a0")
  text
}

# Pastes strings that contain user data, and doubles their braces. Without this, cli would evaluate
# text in braces as code.
escape_braces <- function(...) gsub("([{}])", "\\1\\1", paste0(...))

# Issues a warning of class "fallible_warning_<topic>". Arguments are as in abort_fallible(). The
# condition has no call, because the warning often comes from an internal function.
warn_fallible <- function(topic, message, ..., x = NULL, i = NULL, .envir = parent.frame()) {
  rlang::warn(
    format_message(message, x, i, .envir), ...,
    class = c(paste0("fallible_warning_", topic), "fallible_warning"), use_cli_format = TRUE
  )
}

inform_fallible <- function(message, i = NULL, class = "fallible_message",
                            .envir = parent.frame()) {
  if (is_quiet()) return()
  rlang::inform(format_message(message, NULL, i, .envir), class, use_cli_format = TRUE)
}

# Returns the message of a condition, without colours. Each bullet is on a single line, whatever the
# width of the console is.
unwrapped_message <- function(condition) {
  withr::local_options(cli.width = 1e5L, cli.condition_width = 1e5L)
  cli::ansi_strip(conditionMessage(condition)[[1L]])
}

# Returns the message of a condition as one line: the first line and the lines of type "x" (found),
# without hints.
message_in_one_line <- function(condition) {
  tryCatch(
    {
      # printable() escapes invalid bytes, which would make strsplit() return NA.
      lines <- strsplit(printable(unwrapped_message(condition)), "\n", fixed = TRUE)[[1L]]
      detail_lines <- grep("^(\u2716|x) ", lines[-1L], value = TRUE)
      paste(c(lines[[1L]], substring(detail_lines, 3L)), collapse = " ")
    },
    error = function(e) sprintf("<%s>", class(condition)[[1L]])
  )
}

# Evaluates `code` and returns its value. If it fails with an error of another package, returns
# `handler(error)`. Errors of this package are passed on unchanged.
handle_foreign_error <- function(code, handler) {
  tryCatch(code, error = function(cnd) {
    if (inherits(cnd, "fallible_error")) cnd_signal(cnd)
    handler(cnd)
  })
}

# Shows a message only the first time in a session that its topic occurs.
inform_once <- function(topic, message, .envir = parent.frame()) {
  if (is_quiet() || !is.null(shown_topics[[topic]])) return()
  shown_topics[[topic]] <- TRUE
  inform_fallible(message, class = NULL, .envir = .envir)
}

# Environment with a variable for each topic whose message was shown in this session.
shown_topics <- new.env()

# Runs code without showing the warnings of this package.
without_warnings <- function(code) suppressWarnings(code, classes = "fallible_warning")
