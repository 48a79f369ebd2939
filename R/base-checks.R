# Checks of arguments. Their arguments are the value, the name of the user's argument and the call
# for the error. They return the checked and converted value invisibly.

#' @srrstats {G2.0, G2.0a, G2.1, G2.1a, G2.2} each argument, by functions named check_*()
#' @srrstats {G2.3, G2.3a, G2.3b} check_choice() lists the choices, which differ by case
#' @noRd
NULL

# Fails if the caller (or its caller) lacks arguments without a default, except those in `but`.
check_given <- function(up = 1L, but = NULL) {
  frame <- rlang::caller_env(up)
  needed <- Filter(rlang::is_missing, as.list(formals(rlang::caller_fn(up))))
  # Calls missing() as a function object, because an argument may be called "missing".
  lacking <- Filter(function(arg) {
    eval(rlang::call2(missing, as.name(arg)), frame)
  }, setdiff(names(needed), c("...", but)))
  abort_argument_if(lacking, lacking, "{.arg {lacking}} must be given.", call = frame)
}

is_number <- function(x) is.numeric(x) && length(x) == 1L && is.finite(x)

check_number <- function(x, arg, min = -Inf, max = Inf, open_min = FALSE, open_max = FALSE) {
  ok <- is_number(x) && x >= min && x <= max && !(open_min && x == min) && !(open_max && x == max)
  abort_argument_if(!ok, arg, "must be one number in {if (open_min) '(' else '['}{min},
    {max}{if (open_max) ')' else ']'}.", not = x)
  invisible(as.double(x))
}

# A confidence level.
check_level <- function(x, arg = "conf_level") {
  check_number(x, arg, 0, 1, open_min = TRUE, open_max = TRUE)
}

check_count <- function(x, arg, min = 1L, max = .Machine$integer.max) {
  ok <- is_number(x) && x == round(x) && x >= min && x <= max
  abort_argument_if(!ok, arg, "must be one whole number from {min} to {max}.", not = x)
  invisible(as.integer(x))
}

check_flag <- function(x, arg) {
  abort_argument_if(!rlang::is_bool(x), arg, "must be `TRUE` or `FALSE`.", not = x)
  invisible(x)
}

# One of `choices`, by default those of the argument of that name. The whole vector means the first.
check_choice <- function(x, choices = NULL, arg = rlang::caller_arg(x), i = NULL) {
  choices <- choices %||% eval(formals(rlang::caller_fn())[[arg]])
  if (identical(x, choices)) return(invisible(choices[[1L]]))
  abort_argument_if(!(is_string(x) && x %in% choices), arg,
    "must be one of {.or {.val {choices}}}.", not = x, i = i)
  invisible(x)
}

# Some of `choices`, in the order given. `none`: may the selection be empty?
check_some <- function(x, choices, arg, none = FALSE) {
  ok <- if (length(x) == 0L) none else is.character(x) && all(x %in% choices)
  abort_argument_if(!ok, arg, "must be some of {.val {choices}}{if (none) ', or none'}.", not = x)
  unique(as.character(x))
}

check_class <- function(x, class, arg, how) {
  abort_argument_if(!inherits(x, class), arg, "must be a {.cls {class}} object.", not = x, i = how)
  invisible(x)
}

check_ratings <- function(x) {
  check_class(x, "ratings", "x", "Make one with {.fun ratings}.")
  check_whole_ratings(x)
}

# Checks the fields of an object, because its class does not guarantee them.
check_whole_ratings <- function(x, arg = "x") {
  parts <- c("patterns", "index", "cases", "raters", "categories")
  lacking <- setdiff(parts, names(unclass(x)))
  abort_argument_if(lacking, arg, "must be ratings that {.fun ratings} made.",
    x = "It lacks {.field {lacking}}.")
  invisible(x)
}

# Limits threads to the number of cores, out of consideration for other users of the machine.
check_threads <- function(threads) {
  threads <- check_count(threads, "threads")
  limit <- getOption("mc.cores", parallel::detectCores())
  if (is.na(limit)) threads else min(threads, max(as.integer(limit), 1L))
}

# Reports unknown arguments without evaluating them, with similar names and all valid names.
# `.but`: arguments that the function takes from `...`.
check_dots_empty <- function(..., .but = NULL) {
  given <- as.list(substitute(alist(...)))[-1L]
  given <- given[!names2(given) %in% .but]
  if (length(given) == 0L) return(invisible())
  names <- names2(given)
  known <- c(setdiff(names(formals(sys.function(sys.parent()))), "..."), .but)
  wrong <- untruncated(names[names != ""])
  near <- near_names(names[names != ""], known)
  unnamed <- vapply(given[names == ""], rlang::as_label, "")
  abort_fallible("argument", "This function has no such argument.",
    x = c(if (length(wrong) > 0L) "Found {.arg {wrong}}.", if (length(unnamed) > 0L) "Found
        {.code {unnamed}} without a name."),
    i = c(argument_hints[intersect(names, names(argument_hints))],
      if (length(near) > 0L) "Did you mean {.arg {near}}?", "It has {.arg {untruncated(known)}}."),
    arg = names)
}

# Hints for argument names that users expect but that functions do not have.
resampling_hint <- "It is in {.arg resampling}:
  {.code resampling = list(replicates = 500, cluster = \"site\")}."
sampling_hint <- "It is in {.arg sampling}:
  {.code sampling = list(draws = 4000, chains = 4, warmup = 500)}."

argument_hints <- c(
  seed = "Call {.code set.seed(1)} before, for the same result each time.",
  iter = sampling_hint, chains = sampling_hint,
  ci = "The level of intervals is {.arg conf_level}, such as {.code conf_level = 0.95}.",
  replicates = resampling_hint, cluster = resampling_hint,
  category = "Metrics, tests and reports of one category have an argument {.arg positive}.",
  level = "Distances between categories are in {.arg scale_weights}; only {.fun krippendorff_alpha}
    has {.arg level}.",
  clean_labels = "{.arg clean_labels} is an argument of {.fun ratings} and {.fun read_ratings}.",
  na = "{.arg na} is an argument of {.fun ratings} and {.fun read_ratings}."
)

# A vector that messages show completely.
untruncated <- function(x) cli::cli_vec(x, list("vec-trunc" = Inf))

# Known names that are similar to a given one. They differ by at most two letters (one for names of
# up to four letters, none for single letters). Or they differ in capitals, dots and underscores. Or
# one is part of the other.
near_names <- function(given, known) {
  given <- fold_case(gsub("[._]", "", given))
  plain <- fold_case(gsub("[._]", "", known))
  if (any(plain %in% given)) return(known[plain %in% given])
  part <- function(a, b) nchar(a) > 3L && grepl(a, b, fixed = TRUE)
  near <- vapply(plain, function(name) {
    any(utils::adist(given, name) <= if (nchar(name) > 4L) 2L else min(1L, nchar(name) - 1L)) ||
      any(vapply(given, function(x) part(x, name) || part(name, x), NA))
  }, NA)
  known[near]
}

check_installed <- function(package, purpose) {
  abort_if(!requireNamespace(package, quietly = TRUE), "package",
    "The package {.pkg {package}} is needed {purpose}, and it is not installed.",
    i = "Install it with {.code install.packages(\"{package}\")}.", package = package)
}

# Short description of a value, for messages.
describe <- function(x) {
  plain <- is.atomic(x) && !is.object(x)
  if (is.null(x)) return("NULL")
  if (rlang::is_formula(x)) return("a formula")
  if (is.function(x)) return("a function")
  if (is.symbol(x)) return(paste("the symbol", as.character(x)))
  if (plain && length(x) == 1L) {
    return(if (is.character(x) && !is.na(x)) paste0("\"", printable(x), "\"") else format(x))
  }
  if (plain && is.null(dim(x))) {
    return(paste("a vector of type", typeof(x), "and length", length(x)))
  }
  if (is.data.frame(x) && !any_columns(x)) return("a data frame without columns")
  # The common class of all results is not informative.
  paste0("an object of class <", paste(setdiff(class(x), "fallible_result"), collapse = "/"), ">")
}

any_columns <- function(x) is.data.frame(x) && length(x) > 0L

check_string <- function(x, arg) {
  abort_argument_if(!(is_string(x) && !is.na(x)), arg, "must be one string.", not = x)
  invisible(x)
}

# Strings for display: invalid bytes become `<ff>`, and characters that control a terminal or the
# direction of writing become their codes.
printable <- function(x) {
  bad <- !is_text(x)
  x[bad] <- iconv(x[bad], "UTF-8", "UTF-8", sub = "byte")
  steering <- "(*UTF)[\\x01-\\x08\\x0b-\\x1f\\x7f-\\x{9f}\\x{202a}-\\x{202e}\\x{2066}-\\x{2069}]"
  unsafe <- grep(steering, x, perl = TRUE)
  x[unsafe] <- vapply(strsplit(enc2utf8(x[unsafe]), "", fixed = TRUE), function(letters) {
    off <- grepl(steering, letters, perl = TRUE)
    letters[off] <- sprintf("<%02x>", vapply(letters[off], utf8ToInt, 0L))
    paste(letters, collapse = "")
  }, "")
  x
}

# Is each string valid text? Bytes in an unknown encoding are not.
is_text <- function(x) {
  is.na(x) | validUTF8(x) | Encoding(x) == "latin1" | (l10n_info()[["Latin-1"]] & validEnc(x))
}

# The strings, levels or list of strings in `x` must be text. `place`: the argument or the column.
check_text <- function(x, place) {
  words <- if (is.factor(x)) levels(x) else unique(if (is.list(x)) unlist(x) else x)
  bad <- if (is.character(words)) which(!is_text(words))
  if (length(bad) > 0L) {
    where <- if (!is.null(place)) " in {.val {printable(place)}}"
    abort_fallible("encoding", "Labels and names must be text in UTF-8.",
      x = paste0("Found {.val {printable(words[[bad[[1L]]]])}}", where, "."),
      i = "Convert them, for example with {.code iconv(x, \"latin1\", \"UTF-8\")}.", arg = place,
      found = words[bad])
  }
  invisible(x)
}

# Keeps the systems of `x` that a user chose.
choose_systems <- function(x, systems) {
  if (is.null(systems)) x else x[, , check_system_names(systems, x$systems)]
}

# Checks that `systems` are different names among `known`; NULL means all.
check_system_names <- function(systems, known) {
  if (is.null(systems)) return(known)
  abort_if(length(known) == 0L, "system", "There are no systems for {.arg systems} to choose from.",
    i = "Give {.arg systems} to {.fun ratings}.", system = character())
  check_names_among(systems, known, "systems")
}

near_values <- function(given, known) {
  near <- near_names(given, known)
  if (length(near) > 0L) {
    paste0("Did you mean ", verbatim(paste(dQuote(near, FALSE), collapse = " or ")), "?")
  }
}

# Checks that `x` are different names among `choices`.
check_names_among <- function(x, choices, arg) {
  named <- if (is.character(x)) x else character()
  unknown <- printable(setdiff(named, choices))
  twice <- repeated_values(named)
  abort_argument_if(length(named) == 0L || length(unknown) > 0L || length(twice) > 0L, arg,
    "must be different names among {.val {choices}}.",
    x = if (length(unknown) > 0L) "There is no {.val {unknown}}." else
      if (length(twice) > 0L) "{.val {twice}} {?is/are} named twice." else "It is {describe(x)}.",
    i = near_values(unknown, choices))
  x
}

# Matrix of lower and upper limits, a row per rater. NULL stays NULL; a pair holds for all raters.
as_limits <- function(limits, names, arg) {
  if (is.null(limits)) return(NULL)
  values <- if (is.data.frame(limits)) as.matrix(limits) else limits
  n <- length(names)
  if (is.numeric(values) && is.null(dim(values))) {
    pair <- is.null(names(values)) && length(values) <= 2L
    values <- if (pair) matrix(rep_len(values, 2L), n, 2L, TRUE) else cbind(values, values)
  }
  ok <- is.numeric(values) && identical(dim(values), c(n, 2L)) && !anyNA(values) &&
    all(values >= 0 & values <= 1) && all(values[, 1L] <= values[, 2L])
  raters <- rownames(values)
  ok <- ok && (is.null(raters) || setequal(raters, names))
  abort_argument_if(!ok, arg,
    "must hold probabilities: one for each rater, or a lower and an upper one, as a matrix with a
        row for each, or as c(lower, upper) for all.", not = limits,
    i = "Each rater is named at most once: {.val {names}}.")
  if (!is.null(raters)) values <- values[names, , drop = FALSE]
  matrix(values, n, 2L, dimnames = list(names, c("lower", "upper")))
}
