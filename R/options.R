#' Options of the package
#'
#' What a user wants everywhere is said once, by [options()]; what an argument says goes before it.
#'
#' | option | otherwise | is |
#' |---|---|---|
#' | `fallible.conf_level` | 0.9 | the default of every argument `conf_level`, in (0, 1) |
#' | `fallible.threads` | 1 | the default of every argument `threads`, a number of threads |
#' | `fallible.quiet` | `FALSE` | whether progress bars and messages are kept silent |
#' | `fallible.file_limits` | none | limits of files that differ, see [fallible-limits] |
#'
#' Where the `conf_level` of a function is `NULL`, it is that of the estimate it is given. Warnings
#' and errors are never silent. Documents that are knitted have no progress bars in any case. An
#' option that has a value of the wrong kind is an error of class `fallible_error_option` at its
#' first use.
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
