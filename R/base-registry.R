# Registries to which users can add: measures of agreement, metrics of systems. A record is a list
# with an `id`; `kind` is its noun.

registries <- list(measure = new.env(parent = emptyenv()), metric = new.env(parent = emptyenv()))

# Records that users registered in this session.
registered <- function(kind) {
  registry <- registries[[kind]]
  mget(sort_strings(ls(registry)), envir = registry)
}

# Adds the record that `make` returns, or removes it if the kernel is NULL. `taken`: built-in names.
register <- function(kind, id, kernel, taken, make) {
  usable <- is_string(id) && nzchar(id) && !startsWith(id, ".")
  abort_argument_if(!usable || id %in% taken, "id",
    paste0("must be a name that no ", kind, " of the package has and that starts with no dot."),
    not = id)
  registry <- registries[[kind]]
  if (is.null(kernel)) {
    rm(list = intersect(id, ls(registry)), envir = registry)
  } else {
    abort_argument_if(!is.function(kernel), "kernel", "must be a function.", not = kernel)
    assign(id, make(), envir = registry)
  }
  invisible(id)
}

# Can a kernel be called with the arguments in `given`?
check_kernel <- function(kernel, form, given) {
  arguments <- formals(args(kernel))
  names <- names(arguments)
  required <- setdiff(names[vapply(arguments, rlang::is_missing, NA)], "...")
  extra <- setdiff(required, head(names, length(given)))
  short <- length(names) < length(given) && !"..." %in% names
  # Some primitive functions have no known arguments.
  abort_argument_if(!is.null(args(kernel)) && (short || length(extra) > 0L), "kernel",
    "A {.arg kernel} of form {.val {form}} is called as {.code kernel({toString(given)})}.",
    x = if (length(names) == 0L) "It takes no arguments." else "It takes {.arg {names}}.")
}

check_range <- function(range, words, finite) {
  ok <- is.numeric(range) && length(range) == 2L && !anyNA(range) && range[[1L]] < range[[2L]]
  abort_argument_if(!ok || (finite && !all(is.finite(range))), "range",
    paste0("must be two ", words, ", the smaller one first."), not = range)
}

# The records with these names.
find_records <- function(kind, ids, known) {
  off <- if (is.character(ids)) printable(setdiff(ids, names(known)))
  list_of <- if (kind == "metric") 'measures("metric")' else "measures()" # nolint: object_usage.
  abort_if(!is.character(ids) || length(ids) == 0L || length(off) > 0L, kind,
    "{.arg {kind}s} must be among the {.code id} of {.code {list_of}}.",
    x = if (length(off) > 0L) "There is no {.val {off}}." else "It is {describe(ids)}.",
    i = near_values(off, names(known)), !!kind := ids)
  known[unique(ids)]
}

# A tibble of records, with these `fields` as columns.
records_table <- function(records, fields) {
  tibble::as_tibble(lapply(setNames(nm = fields), function(field) {
    unlist(lapply(unname(records), `[[`, field))
  }))
}
