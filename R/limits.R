#' Limits
#'
#' What is larger is refused before memory is asked for: with an error about the argument, where
#' that alone is too large, and of class `fallible_error_memory` (see [conditions]), where a product
#' is. Where memory ends before a limit is reached the error is of this class too.
#'
#' | what | at most | why |
#' |---|---|---|
#' | cases, raters, systems | 2,147,483,647 | numbered by integers |
#' | categories | 1,000 | confusion matrices grow with the square |
#' | weight of a case | any number | but `simulate()` draws 1e8 ratings |
#' | replicates of a bootstrap | 1e7 | quantiles then have four digits |
#' | those of bounds and of checks | 1e6 | each is a fit |
#' | replicates x systems or measures | 1e9 | 8 GB |
#' | answers of a simulated panel | 1e9 | 8 GB with its tables |
#' | raters x squared categories of a model | 1e7 | a fit keeps dozens of such tables |
#' | probabilities of a design | 1e9 | 8 GB |
#' | cases x categories of a fit | 1e9 | 8 GB |
#' | numbers about pairs of raters | 1e9 | 8 GB; [shared_errors()] keeps pairs that share cases |
#' | replicates x systems of bounds | 5e8 | 8 GB |
#' | runs of a study | 1e6 | biases then have three digits |
#'
#' A file that holds more than the following is refused, with an error of class
#' `fallible_error_limit`, before it is unpacked or parsed. The option `fallible.file_limits`
#' changes them by name: `c(megabytes = 5000, ratio = 1000)`. Those of [explore()] are lower.
#'
#' | of a file | at most | name |
#' |---|---|---|
#' | files in an archive (`.eval`, `.xlsx`) | 100,000 | `entries` |
#' | megabytes that it unpacks to, or of a JSON document | 1,000 | `megabytes` |
#' | times its own size that it unpacks to, beyond 10 MB | 200 | `ratio` |
#' | columns of a table | 100,000 | `columns` |
#' | rows x columns of a table | 1e9 | `cells` |
#' | fields of JSON, and ten for each object and array | 1e9 | `cells` |
#' @name fallible-limits
#' @return Nothing.
NULL

most_numbers <- 1e8 # 800 MB
most_at_once <- 1e9

# Stops where `numbers` are too many; `what` names them, `instead` says what to do.
check_memory <- function(numbers, what, instead) {
  abort_if(numbers > most_at_once, "memory",
    "More than {number(most_at_once)} {what} need too much memory.",
    x = "There would be {number(numbers)}.", i = instead, numbers = numbers)
}

# So many numbers for each of so many pairs of raters and systems; all of them, unless stated.
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

# What the core throws, and what it asks of C++, as errors of ours. R's own errors, those of
# progress bars among them, and interrupts pass.
of_core <- function(code) {
  tryCatch(code, `C++Error` = function(e) {
    lack <- inherits(e, c("std::bad_alloc", "std::length_error", "std::bad_array_new_length"))
    abort_fallible(if (lack) "memory" else "core", c(
      if (lack) "There is not enough memory for this." else "The compiled code stopped.",
      "x" = verbatim(conditionMessage(e)),
      "i" = if (lack) "See {.help fallible-limits}." else
        "An object was changed by hand, or this is a bug: please report it."
    ), numbers = NA_real_) # which nobody counted
  })
}

# What RcppExports.R calls.
.Call <- function(...) of_core(base::.Call(...)) # nolint: object_name.
