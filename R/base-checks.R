# Checks of arguments. A check takes a value and the name of the user's argument. If the value is
# wrong, the check raises an error that names this argument. Otherwise it returns the checked and
# converted value.

#' @srrstats {G2.0, G2.0a, G2.1, G2.1a, G2.2} each argument, by functions named check_*()
#' @srrstats {G2.3, G2.3a, G2.3b} check_choice() lists the choices, which differ by case
#' @noRd
NULL

# Checks the call of a function. Raises an error if it has unknown arguments in `...`, or lacks an
# argument without default.
# * frames_up: 1 to check the function that calls check_call(), 2 to check the function that calls
#   that one, and so on.
# * except: names of arguments that may be missing.
# * dots: names of arguments that the function accepts in `...`; NULL if it accepts any.
check_call <- function(frames_up = 1L, except = NULL, dots = character()) {
  frame <- caller_env(frames_up)
  arguments <- as.list(formals(caller_fn(frames_up)))
  if ("..." %in% names(arguments) && !is.null(dots)) {
    dots_call <- eval(quote(substitute(alist(...))), frame)
    abort_unknown_arguments(dots_call, names(arguments), dots, frame)
  }
  # The call contains the function missing() and not its name, because the checked function may have
  # an argument called "missing".
  missing_arguments <- Filter(function(arg) {
    eval(call2(missing, as.name(arg)), frame)
  }, setdiff(names(Filter(is_missing, arguments)), c("...", except)))
  abort_argument_if(missing_arguments, missing_arguments,
    "{.arg {missing_arguments}} must be given.", call = frame,
    i = argument_hints$hint[argument_hints$argument %in% missing_arguments &
      is.na(argument_hints$needs)])
}

is_single_number <- function(x) is.numeric(x) && length(x) == 1L && is.finite(x)

check_number <- function(x, arg, min = -Inf, max = Inf, open_min = FALSE, open_max = FALSE) {
  is_valid <- is_single_number(x) && x >= min && x <= max && !(open_min && x == min) &&
    !(open_max && x == max)
  abort_argument_if(!is_valid, arg, "must be one number in {if (open_min || min == -Inf) '(' else
    '['}{min}, {max}{if (open_max || max == Inf) ')' else ']'}.", not = x)
  as.double(x)
}

# Checks a probability strictly between 0 and 1, such as a confidence level.
check_level <- function(x, arg = "conf_level") {
  check_number(x, arg, 0, 1, open_min = TRUE, open_max = TRUE)
}

check_count <- function(x, arg, min = 1L, max = .Machine$integer.max) {
  is_valid <- is_single_number(x) && x == round(x) && x >= min && x <= max
  abort_argument_if(!is_valid, arg, "must be one whole number from {min} to {max}.", not = x)
  as.integer(x)
}

check_flag <- function(x, arg) {
  abort_argument_if(!is_bool(x), arg, "must be `TRUE` or `FALSE`.", not = x)
  x
}

# Checks that `choices` contains `x`, and returns `x`. By default, `choices` is the default value of
# argument `arg` of the calling function: a vector of all choices. If the user did not give the
# argument, `x` is this whole vector, and the first choice is returned.
check_choice <- function(x, choices = NULL, arg = rlang::caller_arg(x), i = NULL) {
  choices <- choices %||% eval(formals(caller_fn())[[arg]])
  if (identical(x, choices)) return(choices[[1L]])
  abort_argument_if(!(is_string(x) && x %in% choices), arg,
    "must be {if (length(choices) > 1L) 'one of '}{.or {.val {choices}}}.", not = x, i = i)
  x
}

# Returns the distinct values in `x`, in the user's order. Raises an error if a value is not in
# `choices`. `none`: is an empty `x` allowed?
check_choices <- function(x, choices, arg, none = FALSE) {
  is_valid <- if (is_empty(x)) none else is.character(x) && all(x %in% choices)
  abort_argument_if(!is_valid, arg,
    "must be {if (length(choices) > 1L) 'some of '}{.val {choices}}{if (none) ', or none'}.",
    not = x)
  unique(as.character(x))
}

check_class <- function(x, class, arg, hint) {
  abort_argument_if(!inherits(x, class), arg, "must be a {.cls {class}} object.", not = x, i = hint)
  x
}

check_ratings <- function(x, hint = NULL) {
  check_class(x, "ratings", "x", c("Make one with {.fun ratings}.", hint))
  check_ratings_fields(x)
}

# Raises an error if an object of class "ratings" lacks fields, for example after changes by hand.
check_ratings_fields <- function(x, arg = "x") {
  required_fields <- c("patterns", "index", "cases", "raters", "categories")
  missing_fields <- setdiff(required_fields, names(unclass(x)))
  abort_argument_if(missing_fields, arg, "must be an object made by {.fun ratings}.",
    x = "It lacks the field{?s} {.field {missing_fields}}.")
  x
}

# Returns the number of threads. It is at most the number of cores (or option `mc.cores`), so that
# other programs on the machine are not slowed down.
check_threads <- function(threads) {
  threads <- check_count(threads, "threads")
  n_cores <- as.integer(getOption("mc.cores", parallel::detectCores()))
  min(threads, max(n_cores, 1L), na.rm = TRUE) # the number of cores may be NA
}

# Raises an error if the calling method got arguments in `...`.
check_dots_empty <- function(...) {
  abort_unknown_arguments(substitute(alist(...)), names(formals(sys.function(sys.parent()))))
}

# Raises an error if the unevaluated call `dots_call`, such as alist(a = 1), has unknown arguments.
# The error lists the unknown names, similar names, and all names in `valid_names`.
# * valid_names: names of the arguments of the function.
# * names_in_dots: names of arguments in `...` that are allowed.
abort_unknown_arguments <- function(dots_call, valid_names, names_in_dots = character(),
                                    call = user_frame()) {
  arguments <- as.list(dots_call)[-1L]
  arguments <- arguments[!names2(arguments) %in% names_in_dots]
  if (is_empty(arguments)) return()
  argument_names <- names2(arguments)
  # A function of this package may have called the checked function and passed on its `...`. The
  # other arguments of the calling function are therefore valid, too.
  passed_names <- NULL
  frame <- sys.nframe()
  while (frame > 0L) {
    caller <- sys.function(frame)
    if (identical(environment(caller), topenv()) && has_columns(formals(caller), c("x", "...")))
      passed_names <- c(names(formals(caller)), passed_names)
    frame <- sys.parents()[frame]
  }
  valid_names <- setdiff(c(passed_names, valid_names, names_in_dots), "...")
  unknown_names <- mark_untruncated(argument_names[argument_names != ""])
  unnamed_arguments <- map_chr(arguments[argument_names == ""], rlang::as_label)
  hints <- argument_hints[argument_hints$argument %in% argument_names &
    argument_hints$needs %in% c(NA, valid_names), ]
  similar_names <- find_similar_names(setdiff(argument_names, c("", hints$argument)), valid_names)
  abort_fallible("argument", "The function was called with arguments that it does not have.",
    x = c(if (!is_empty(unknown_names)) "Found {.arg {unknown_names}}.",
      if (!is_empty(unnamed_arguments)) "Found {.code {unnamed_arguments}} without a name."),
    i = c(hints$hint,
      if ("replicates" %in% argument_names && "runs" %in% valid_names)
        "The number of simulated panels is {.arg runs}.",
      if (!is_empty(similar_names)) "Did you mean {.arg {similar_names}}?",
      if (!is_empty(valid_names)) "Its arguments are {.arg {mark_untruncated(valid_names)}}."),
    arg = argument_names, call = call)
}

# Hints in errors about unknown or missing arguments, each used for several arguments (see
# `argument_hints`).
resampling_hint <- "Give settings of resampling in {.arg resampling}:
  {.code resampling = list(replicates = 500, cluster = \"site\")}."
sampling_hint <- "Give settings of the sampler in {.arg sampling}:
  {.code sampling = list(draws = 4000, chains = 4, warmup = 500)}."
other_level_hint <- "For another level, compute the result again with {.arg conf_level}. For an
  estimate of accuracy, this is {.code update(estimate, conf_level = 0.95)}."
order_hint <- "For ordered categories, give {.code ordered = TRUE}, and {.arg categories} in order."
covariates_hint <- "Columns that define groups of cases are {.code covariates = site}."

reliability_hint <- "For the calibration of scores, give {.arg scores} to {.fun ratings}, and use
  {.code tidy(estimate_accuracy(x), \"reliability\")}."

pairwise_hint <- "{.code agreement(x, pairwise = TRUE)} compares all pairs of raters."

# Table of hints in errors about unknown or missing arguments. Columns:
# * argument: name of the unknown or missing argument. It is often an argument of functions in other
#   packages.
# * needs: name of another argument. The hint is given only if the called function has this
#   argument. NA if the hint is given for all functions.
# * hint: how the setting is given in this package, as cli text.
argument_hints <- tribble(
  ~argument, ~needs, ~hint,
  "seed", NA, "Call {.code set.seed(1)} before the function to get the same result each time.",
  "iter", "sampling", sampling_hint,
  "chains", "sampling", sampling_hint,
  "ci", "conf_level",
  "The level of intervals is {.arg conf_level}, such as {.code conf_level = 0.95}.",
  "conf_level", "sampling",
  "Give {.arg conf_level} to {.fun tidy}: {.code tidy(fit, conf_level = 0.95)}. Or set the option
    {.code fallible.conf_level}.",
  "conf_level", "what", other_level_hint,
  "replicates", "resampling", resampling_hint,
  "cluster", "resampling", resampling_hint,
  "category", NA, "Metrics, tests and reports of one category have an argument {.arg positive}.",
  "positive", "category", "This function has the argument {.arg category} instead.",
  "level", "scale_weights", "Krippendorff's alpha for ordered categories is the measure
    {.val krippendorff_alpha_ordinal}; only {.fun krippendorff_alpha} has {.arg level}.",
  "level", "ordered", order_hint,
  "scale", "ordered", order_hint,
  "groups", "ordered", covariates_hint,
  "by", "ordered", covariates_hint,
  "by", "dependence",
  "For base rates that differ between groups of cases, give {.code base_rates = ~ site}.",
  "raters", "x", "To choose raters, select columns of ratings: {.code x[, c(\"a\", \"b\")]}.",
  "known_truth", "gold",
  "Give the result of {.code estimate_accuracy(x, known_truth = )} as {.arg x}.",
  "na", NA, "{.arg na} is an argument of {.fun ratings} and {.fun read_ratings}.",
  "clean_labels", NA,
  "{.arg clean_labels} is an argument of {.fun ratings} and {.fun read_ratings}.",
  "sheet", NA,
  "{.fun read_ratings} takes the sheet in {.arg file}: {.code file = list(sheet = 2)}.",
  "base_rates", NA, "Base rates with covariates are in
    {.code rater_model(\"rater\", \"free\", base_rates = ~ site)}.",
  "scores", "bins", reliability_hint,
  "measure", NA, "{.fun plan_cases} takes a measure as {.arg agreement}.",
  "run", "row", "{.arg row} is a row number of {.code tidy(study)}, which has columns
    {.field design}, {.field n} and {.field run}.",
  "systems", "prior",
  "Systems are raters of the model in {.code estimate_accuracy(x, \"joint\", model)}.",
  "n", "gold", "The number of gold cases is {.arg gold}.",
  "type", "choice", "The way to choose gold cases is {.arg choice}.",
  "rater_accuracy", "copying", "The accuracies of the raters are {.arg raters}.",
  "cases", "n", "The number of cases is {.arg n}.",
  "shared", "copying", "Raters and systems share errors with
    {.code difficulty = list(loading = 0.5)}.",
  "conf.int", NA, "Intervals, if any, are columns {.field conf.low} and {.field conf.high}.",
  "rater2", NA, pairwise_hint
)

# Marks a vector so that cli messages list all its elements. By default, cli lists at most 20.
mark_untruncated <- function(x) cli::cli_vec(x, list("vec-trunc" = Inf))

# Returns the `candidates` that are similar to one of `names`, for hints after a typing error. If
# candidates differ from a name only in capitals, dots or underscores, only these candidates are
# returned. Otherwise two names are similar if one contains all words of the other, or if they
# differ by at most two letters (one letter if the name is short).
find_similar_names <- function(names, candidates) {
  simplified_names <- fold_case(gsub("[._]", "", names))
  simplified_candidates <- fold_case(gsub("[._]", "", candidates))
  if (any(simplified_candidates %in% simplified_names)) {
    return(candidates[simplified_candidates %in% simplified_names])
  }
  is_contained <- function(a, b) {
    nchar(a) > 3L && all(map_lgl(strsplit(a, " ", fixed = TRUE)[[1L]], grepl, b, fixed = TRUE))
  }
  candidates[map_lgl(simplified_candidates, function(name) {
    any(adist(simplified_names, name) <= if (nchar(name) > 4L) 2L else min(1L, nchar(name) - 1L)) ||
      any(map_lgl(
        simplified_names, function(x) is_contained(x, name) || is_contained(name, x)
      ))
  })]
}

check_installed <- function(package, purpose) {
  abort_if(!requireNamespace(package, quietly = TRUE), "package",
    "The package {.pkg {package}} is needed {purpose}, and it is not installed.",
    i = "Install it with {.code install.packages(\"{package}\")}.", package = package)
}

# Describes a value in a few words for an error message, such as "a vector of type double and length
# 4". Vectors of two or three elements are shown, such as "c(1, 2)".
describe <- function(x) {
  if (is.null(x)) return("NULL")
  if (is_formula(x)) return("a formula")
  if (is.function(x)) return("a function")
  if (is.symbol(x)) return(paste("the symbol", x))
  if (is.atomic(x) && !is.object(x)) {
    if (length(x) == 1L) return(if (is_string(x)) paste0("\"", printable(x), "\"") else format(x))
    if (is.null(dim(x))) return(if (length(x) %in% 2:3)
      sprintf("c(%s)", toString(map_chr(x, describe))) else
      sprintf("a vector of type %s and length %s", typeof(x), length(x)))
  }
  if (is.data.frame(x) && !has_any_columns(x)) return("a data frame without columns")
  if (is.data.frame(x)) {
    column_names <- shorten(paste0("\"", printable(names(x)), "\""))
    return(paste("a data frame with", count_noun(nrow(x), "row"), "and",
      ngettext(length(x), "column", "columns"), column_names))
  }
  if (is.matrix(x)) return(sprintf("a matrix (%d x %d) of type %s", nrow(x), ncol(x), typeof(x)))
  if (is.list(x) && !is.object(x) && has_names(x))
    return(paste("a list with names", shorten(names(x))))
  # Class "fallible_result" is left out, because all results of the package have it.
  sprintf("an object of class <%s>", paste(setdiff(class(x), "fallible_result"), collapse = "/"))
}

has_any_columns <- function(x) is.data.frame(x) && !is_empty(x)

check_string <- function(x, arg) {
  abort_argument_if(!(is_string(x) && !is.na(x)), arg, "must be one string.", not = x)
  x
}

# Makes strings safe to display. Invalid bytes become text such as `<ff>`. Some characters control a
# terminal or the direction of writing. They are replaced by their codes.
printable <- function(x) {
  is_invalid <- !is_text(x)
  x[is_invalid] <- iconv(x[is_invalid], "UTF-8", "UTF-8", sub = "byte")
  control_pattern <-
    "(*UTF)[\\x01-\\x08\\x0b-\\x1f\\x7f-\\x{9f}\\x{202a}-\\x{202e}\\x{2066}-\\x{2069}]"
  unsafe_positions <- grep(control_pattern, x, perl = TRUE)
  characters_of_strings <- strsplit(enc2utf8(x[unsafe_positions]), "", fixed = TRUE)
  x[unsafe_positions] <- map_chr(characters_of_strings, function(characters) {
    is_control <- grepl(control_pattern, characters, perl = TRUE)
    characters[is_control] <- sprintf("<%02x>", map_int(characters[is_control], utf8ToInt))
    paste(characters, collapse = "")
  })
  x
}

# Is each string valid text in UTF-8, Latin-1 or the native encoding? NA counts as valid.
is_text <- function(x) {
  is.na(x) | validUTF8(x) | Encoding(x) == "latin1" | (l10n_info()[["Latin-1"]] & validEnc(x))
}

# Raises an error unless all strings in `x` are valid text. `x`: a character vector, a factor or a
# list of character vectors. `place`: name of the argument or column for the message; NULL for none.
check_text <- function(x, place) {
  strings <- if (is.factor(x)) levels(x) else unique(if (is.list(x)) unlist(x) else x)
  invalid_indices <- if (is.character(strings)) which(!is_text(strings))
  if (!is_empty(invalid_indices)) {
    abort_fallible("encoding", "Labels and names must be text in UTF-8.",
      x = paste0("Found {.val {printable(strings[[invalid_indices[[1L]]]])}}",
        if (!is.null(place)) " in {.val {printable(place)}}", "."),
      i = "Convert them, for example with {.code iconv(x, \"latin1\", \"UTF-8\")}.", arg = place,
      found = strings[invalid_indices])
  }
  x
}

# Returns ratings `x` with only the systems named in `systems`; all systems if `systems` is NULL.
choose_systems <- function(x, systems) {
  if (is.null(systems)) x else x[, , check_system_names(systems, x$systems)]
}

# Checks that `systems` are names among `valid_names`, each given once, and returns them. Returns
# `valid_names` if `systems` is NULL.
check_system_names <- function(systems, valid_names) {
  if (is.null(systems)) return(valid_names)
  abort_if(is_empty(valid_names), "system",
    "{.arg systems} cannot choose systems, because the ratings contain none.",
    i = "First name the systems in {.code ratings(systems = )}.", system = character())
  check_names_among(systems, valid_names, "systems",
    "If it is a rater, name it in {.arg systems} of {.fun ratings} and not in {.arg raters}.")
}

# Returns the hint "Did you mean ...?" with the valid values that are similar to `values`. Returns
# NULL if no valid value is similar.
similar_values_hint <- function(values, valid_values) {
  similar_values <- find_similar_names(values, valid_values)
  if (!is_empty(similar_values)) {
    escape_braces("Did you mean ", paste(dQuote(similar_values, FALSE), collapse = " or "), "?")
  }
}

# Checks that `x` contains at least one name, that its names are different, and that all are in
# `choices`. `hint`: a hint for the error if a name is not in `choices`, nor similar to one.
check_names_among <- function(x, choices, arg, hint = NULL) {
  requested_names <- if (is.character(x)) x else character()
  unknown_names <- printable(setdiff(requested_names, choices))
  repeated_names <- repeated_values(requested_names)
  problem <- if (is_empty(requested_names)) "It is {describe(x)}." else
    if (!is_empty(unknown_names)) "There is no {.val {unknown_names}}." else
      if (!is_empty(repeated_names)) "{.val {repeated_names}} {?is/are} named more than once."
  abort_argument_if(problem, arg, "must be different names among {.val {choices}}.", x = problem,
    i = similar_values_hint(unknown_names, choices) %||% if (!is_empty(unknown_names)) hint)
  x
}

# Checks that `x` is a matrix with `n` rows and `n` columns, and that its cells are finite numbers
# of at least `minimum`. Returns a sentence about the first fault, or NULL if there is no fault.
why_no_matrix <- function(x, n, minimum = -Inf) {
  if (!is.numeric(x) || !is.matrix(x) || any(dim(x) != n)) {
    return(escape_braces("It is ", describe(x), "."))
  }
  bad_cells <- which(!is.finite(x) | x < minimum, arr.ind = TRUE)
  if (nrow(bad_cells) > 0L) sprintf("The number in row %d and column %d is %s.",
    bad_cells[[1L, 1L]], bad_cells[[1L, 2L]], format(x[[bad_cells[[1L, 1L]], bad_cells[[1L, 2L]]]]))
}

# Converts lower and upper limits of the accuracies of raters to a matrix. The result has a row per
# rater, and columns `lower` and `upper`. It is NULL if `limits` is NULL.
# * names: names of the raters.
# * limits: argument of the user in one of these forms:
#   - One number, used as both limits of all raters; or c(lower, upper), for all raters.
#   - A vector with a number per rater, used as both limits of this rater.
#   - A matrix or data frame with a row per rater and two columns.
as_limits <- function(limits, names, arg) {
  if (is.null(limits)) return()
  limit_matrix <- if (is.data.frame(limits)) as.matrix(limits) else limits
  n <- length(names)
  if (is.numeric(limit_matrix) && is.null(dim(limit_matrix))) {
    is_for_all_raters <- !has_names(limit_matrix) && length(limit_matrix) <= 2L
    limit_matrix <- if (is_for_all_raters) matrix(rep_len(limit_matrix, 2L), n, 2L, TRUE) else
      cbind(limit_matrix, limit_matrix)
  }
  rater_names <- rownames(limit_matrix)
  is_valid <- is.numeric(limit_matrix) && identical(dim(limit_matrix), c(n, 2L)) &&
    !anyNA(limit_matrix) && all(limit_matrix >= 0 & limit_matrix <= 1) &&
    all(limit_matrix[, 1L] <= limit_matrix[, 2L]) &&
    (is.null(rater_names) || setequal(rater_names, names))
  abort_argument_if(!is_valid, arg,
    "must contain probabilities: one per rater; or a matrix with a row per rater and two columns,
        the lower and the upper limit; or {.code c(lower, upper)} for all raters.", not = limits,
    i = "Names, if given, must be those of all raters: {.val {names}}.")
  if (!is.null(rater_names)) limit_matrix <- pick_rows(limit_matrix, names)
  matrix(limit_matrix, n, 2L, dimnames = list(names, c("lower", "upper")))
}
