# Registries of measures of agreement and of metrics of systems, to which users can add records. A
# record is a list of properties, one of which is its `id`. Argument `kind` of the functions is
# "measure" or "metric".

registries <- list(measure = new.env(parent = emptyenv()), metric = new.env(parent = emptyenv()))

# Returns the records that users registered in this session, sorted by `id`.
registered_records <- function(kind) {
  registry <- registries[[kind]]
  mget(sort_strings(ls(registry)), envir = registry)
}

# Adds a record to the registry, or removes the record named `id` if `kernel` is NULL.
# * kernel: the user's function that computes the measure or metric.
# * reserved_ids: names of the built-in records. Users cannot give these names to their records.
# * make_record: a function that returns the record.
register <- function(kind, id, kernel, reserved_ids, make_record) {
  is_valid <- is_string(id) && nzchar(id) && !startsWith(id, ".")
  abort_argument_if(!is_valid || id %in% reserved_ids, "id",
    sprintf("must be a name that does not begin with a dot and is not a %s of the package.", kind),
    not = id)
  registry <- registries[[kind]]
  if (is.null(kernel)) {
    rm(list = intersect(id, ls(registry)), envir = registry)
  } else {
    abort_argument_if(!is.function(kernel), "kernel", "must be a function.", not = kernel)
    assign(id, make_record(), envir = registry)
  }
  invisible(id)
}

# Checks that a kernel can be called with the arguments `argument_names`, by position. A kernel is
# the user's function that computes a measure or metric. `form`: the user's argument `form`,
# for the message.
check_kernel <- function(kernel, form, argument_names) {
  if (is.null(args(kernel))) return() # a primitive function with unknown arguments
  arguments <- formals(args(kernel))
  accepted_names <- names(arguments)
  required_names <- names(Filter(is_missing, arguments))
  n <- length(argument_names)
  is_valid <- (length(accepted_names) >= n || "..." %in% accepted_names) &&
    all(required_names %in% c(head(accepted_names, n), "..."))
  abort_argument_if(!is_valid, "kernel",
    "With form {.val {form}}, {.arg kernel} is called as
        {.code kernel({toString(argument_names)})}.",
    x = if (is_empty(accepted_names)) "It takes no arguments." else
      "It takes {.arg {accepted_names}}.")
}

# Returns the records whose names are `ids`. Raises an error about the argument `measures` or
# `metrics` if one of them does not exist.
select_records <- function(kind, ids, records) {
  unknown_ids <- if (is.character(ids)) printable(setdiff(ids, names(records)))
  listing_call <- # nolint: object_usage.
    if (kind == "metric") 'measures("metric")' else "measures()"
  problem <- if (!is.character(ids) || is_empty(ids)) "It is {describe(ids)}." else
    if (!is_empty(unknown_ids)) "There is no {.val {unknown_ids}}."
  abort_if(problem, kind,
    "{.arg {kind}s} must be values of column {.code id} of {.code {listing_call}}.", x = problem,
    i = similar_values_hint(unknown_ids, names(records)), !!kind := ids)
  records[unique(ids)]
}

# Returns a tibble with a row per record and a column for each of `fields`.
records_table <- function(records, fields) {
  as_tibble(lapply(setNames(nm = fields), function(field) {
    unlist(lapply(unname(records), `[[`, field))
  }))
}
