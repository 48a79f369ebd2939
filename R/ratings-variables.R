# Variables of a codebook: a named list with ratings of each.

# Is `x` a plain list of ratings? A list that also holds anything else is refused.
is_variables <- function(x, arg = "x") {
  if (!is.list(x) || is.object(x) || !any(vapply(x, is_ratings, NA))) return(FALSE)
  names <- rlang::names2(x)
  abort_argument_if(any(names == "") || anyDuplicated(names) > 0L, arg,
    "must have a different name for each variable.", x = "Its names are {.val {names}}.")
  other <- names[!vapply(x, is_ratings, NA)]
  abort_argument_if(other, arg, "must hold ratings of each variable, and nothing else.",
    x = "{.val {other[[1L]]}} is {describe(x[[other[[1L]]]])}.",
    i = "Make ratings with {.fun ratings}.")
  TRUE
}

# The variables of a codebook that columns of `data` hold: for each the argument of ratings() that
# selects its columns. Long data have a column per variable, `rating = c(topic, tone)`. Wide data
# have columns of raters for each, `raters = list(topic = t1:t3, tone = s1:s3)`.
variables_of_columns <- function(data, columns, repeats) {
  rating <- columns$rating
  if (rlang::quo_is_call(columns$raters, "list")) {
    roles <- rlang::call_args(columns$raters)
    names <- rlang::names2(roles)
    abort_argument_if(any(names == "") || anyDuplicated(names) > 0L, "raters",
      "must have a different name for each variable.", x = "Its names are {.val {names}}.")
    return(lapply(roles, function(role) list(raters = role)))
  }
  if (!is.data.frame(data) || repeats == "labels" || !rlang::quo_is_call(rating, c("c", ":"))) {
    return(NULL)
  }
  names <- select_columns(data, rating, "rating")
  flags <- length(names) > 1L && all(vapply(data[names], function(x) all(x %in% c(0, 1, NA)), NA))
  if (flags) inform_fallible("Columns {.val {names}} of 0 and 1 are read as variables.",
    i = "If they are labels of one answer, say {.code repeats = \"labels\"}.")
  stats::setNames(lapply(names, function(name) list(rating = name)), names)
}

# Calls ratings() for each variable.
ratings_of_variables <- function(variables, options, call, env = parent.frame(2L)) {
  call[[1L]] <- ratings
  named <- list(
    categories = if (is.list(options$categories)) options$categories, ordered = options$ordered
  )
  for (arg in names(named)) {
    unknown <- setdiff(names(named[[arg]]), names(variables))
    abort_argument_if(unknown, arg, "must have names of variables.",
      x = "There is no variable {.val {unknown}}.", i = near_values(unknown, names(variables)))
  }
  Map(function(role, name) {
    call[names(role)] <- role
    if (is.list(options$categories)) call["categories"] <- list(options$categories[[name]])
    if (!is.null(names(options$ordered))) {
      call["ordered"] <- list(name %in% names(which(options$ordered)))
    }
    eval(call, env)
  }, variables, names(variables))
}
