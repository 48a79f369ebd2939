# Checks of arguments. Each takes the value, the name that the user knows it by and the call to
# blame, and returns the value in the form that the code wants, invisibly.

check_number <- function(x, arg, min = -Inf, max = Inf, open_min = FALSE, open_max = FALSE,
                         call = rlang::caller_env()) {
  is_number <- is.numeric(x) && length(x) == 1L && is.finite(x)
  inside <- is_number && (if (open_min) x > min else x >= min) &&
    (if (open_max) x < max else x <= max)
  if (!inside) {
    range <- paste0(if (open_min) "(" else "[", min, ", ", max, if (open_max) ")" else "]")
    abort_fallible("argument", c(
      paste0("{.arg {arg}} must be one number in ", range, "."),
      "x" = "It is {describe(x)}."
    ), arg = arg, call = call)
  }
  invisible(as.double(x))
}

check_count <- function(x, arg, min = 1L, max = .Machine$integer.max,
                        call = rlang::caller_env()) {
  ok <- is.numeric(x) && length(x) == 1L && is.finite(x) && x == round(x) && x >= min && x <= max
  if (!ok) {
    abort_fallible("argument", c(
      "{.arg {arg}} must be one whole number from {min} to {max}.",
      "x" = "It is {describe(x)}."
    ), arg = arg, call = call)
  }
  invisible(as.integer(x))
}

check_flag <- function(x, arg, call = rlang::caller_env()) {
  if (!rlang::is_bool(x)) {
    abort_fallible("argument", c(
      "{.arg {arg}} must be `TRUE` or `FALSE`.",
      "x" = "It is {describe(x)}."
    ), arg = arg, call = call)
  }
  invisible(x)
}

# One of `choices`; the whole vector of choices, as in a function's default, means the first.
check_choice <- function(x, choices, arg, call = rlang::caller_env()) {
  if (identical(x, choices)) {
    return(invisible(choices[[1L]]))
  }
  if (!(rlang::is_string(x) && x %in% choices)) {
    abort_fallible("argument", c(
      "{.arg {arg}} must be one of {.or {.val {choices}}}.",
      "x" = "It is {describe(x)}."
    ), arg = arg, call = call)
  }
  invisible(x)
}

check_class <- function(x, class, arg, how, call = rlang::caller_env()) {
  if (!inherits(x, class)) {
    abort_fallible("argument", c(
      "{.arg {arg}} must be a {.cls {class}} object.",
      "x" = "It is {describe(x)}.",
      "i" = how
    ), arg = arg, call = call)
  }
  invisible(x)
}

check_ratings <- function(x, call = rlang::caller_env()) {
  check_class(x, "ratings", "x", "Make one with {.fun ratings}.", call = call)
}

check_single_label <- function(x, call = rlang::caller_env()) {
  if (x$repeats == "labels") {
    abort_fallible("labels", c(
      "{.arg x} has answers with several labels; this method needs one category per rating.",
      "i" = "{.fun crowdtruth} works on several labels. {.fun as_ratings} makes ratings with one
             category each: {.code as_ratings(x)} where every answer has one label,
             {.code as_ratings(x, label = \"{x$categories[[1L]]}\")} to ask about a single one.",
      "i" = "If the rows are independent repeats, call {.fun ratings} again with
             {.code repeats = \"ratings\"}."
    ), call = call)
  }
  invisible(x)
}

# A cap that is polite to other users of the machine: never more than it has cores.
check_threads <- function(threads, call = rlang::caller_env()) {
  threads <- check_count(threads, "threads", call = call)
  limit <- getOption("mc.cores", parallel::detectCores())
  if (is.na(limit)) threads else min(threads, max(as.integer(limit), 1L))
}

# Names arguments without evaluating them, and what they may have been meant to be.
check_dots_empty <- function(..., call = rlang::caller_env()) {
  if (...length() > 0L) {
    given <- as.list(substitute(alist(...)))[-1L]
    names <- rlang::names2(given)
    known <- setdiff(names(formals(sys.function(sys.parent()))), "...")
    near <- known[apply(utils::adist(names, known) <= 2, 2, any) |
      known %in% gsub(".", "_", names, fixed = TRUE)]
    unnamed <- vapply(given[names == ""], rlang::as_label, "")
    abort_fallible("argument", c(
      "There are arguments that this function does not have.",
      if (any(names != "")) c("x" = "Found {.arg {names[names != '']}}."),
      if (length(unnamed) > 0L) c("x" = "Found {.code {unnamed}} without a name."),
      if (length(near) > 0L) c("i" = "Did you mean {.arg {near}}?"),
      "i" = "It has {.arg {known}}."
    ), arg = names, call = call)
  }
}

check_installed <- function(package, purpose, call = rlang::caller_env()) {
  if (!requireNamespace(package, quietly = TRUE)) {
    abort_fallible("package", c(
      "The package {.pkg {package}} is needed {purpose}, and it is not installed.",
      "i" = "Install it with {.code install.packages(\"{package}\")}."
    ), package = package, call = call)
  }
}

# A value in a few words, for messages.
describe <- function(x) {
  if (is.null(x)) {
    "NULL"
  } else if (is.atomic(x) && !is.object(x) && length(x) == 1L) {
    if (is.character(x) && !is.na(x)) paste0("\"", x, "\"") else format(x)
  } else if (is.atomic(x) && !is.object(x) && is.null(dim(x))) {
    paste0("a vector of type ", typeof(x), " and length ", length(x))
  } else {
    paste0("an object of class <", paste(class(x), collapse = "/"), ">")
  }
}

check_string <- function(x, arg, call = rlang::caller_env()) {
  if (!(rlang::is_string(x) && !is.na(x))) {
    abort_fallible("argument", c(
      "{.arg {arg}} must be one string.",
      "x" = "It is {describe(x)}."
    ), arg = arg, call = call)
  }
  invisible(x)
}
