# Helper functions for tables, numbers, intervals, random seeds, computations in several processes,
# and repeated calls for several variables or groups of cases.

# Binds the rows of tables that are lists of columns. The columns are vectors or lists, with the
# same names in all tables.
stack_tables <- function(tables) do.call(Map, c(list(c), unname(tables)))

# The next functions return the number of raters, categories or systems of `x`, which is a ratings
# object, a design or a plan.
n_raters <- function(x) length(x$raters)

n_categories <- function(x) length(x$categories)

n_systems <- function(x) length(x$systems)

is_uniquely_named <- function(x) is_named(x) && !any_repeated(names(x))

# Splits a vector into vectors of `size` elements. The last vector may be shorter.
split_in_runs <- function(x, size) unname(split(x, ceiling(seq_along(x) / size)))

has_names <- function(x) !is.null(names(x))

any_repeated <- function(x) anyDuplicated(x) > 0L

replace_na <- function(x, value) replace(x, is.na(x), value)

row_numbers <- function(table) seq_len(nrow(table))

n_distinct <- function(x) length(unique(x))

# Selects rows of a matrix. A single row also stays a matrix. NULL stays NULL.
pick_rows <- function(x, rows) x[rows, , drop = FALSE]

# Selects columns of a matrix. A single column also stays a matrix.
pick_columns <- function(x, columns) x[, columns, drop = FALSE]

row_maximum <- function(x) x[cbind(row_numbers(x), max.col(x, "first"))]

# Binds the rows of the tables or vectors `f(x[[1]], ...)`, `f(x[[2]], ...)` and so on.
stack_rows <- function(x, f = identity, ...) do.call(rbind, lapply(x, f, ...))

# Drops the rows of a table in which any of `columns` is NA.
drop_missing <- function(table, columns) table[complete.cases(table[columns]), ]

# Is any value not NA?
any_known <- function(x) !all(is.na(x))

drop_null <- function(x) Filter(Negate(is.null), x)

repeated_values <- function(x) unique(x[duplicated(x)])

# Creates a tibble from columns, which are recycled to the length of the first one. It is much
# faster than tibble(), because it neither checks columns nor loads package tibble.
columns_tibble <- function(...) {
  columns <- rlang::list2(...)
  n <- length(columns[[1L]])
  structure(lapply(columns, rep_len, n),
    row.names = .set_row_names(n), class = c("tbl_df", "tbl", "data.frame"))
}

# Returns the table that represents a result in a document, a data frame of strings. If it returns
# NULL, the document contains the printed result instead.
shown_table <- function(x) {
  schema <- schema_of(x)
  if (is.function(schema$shown)) return(format_view(schema$shown(x)))
  if (!is.null(schema$document)) format_view(schema$document)
}

# Drops columns that are lists or in which all values are NA.
drop_empty_columns <- function(table) {
  table[!map_lgl(table, function(column) is.list(column) || all(is.na(column)))]
}

# Pastes the columns of a table to one string for each row.
paste_columns <- function(table, separator = ", ") {
  do.call(paste, c(unname(as.list(table)), sep = separator))
}

# Returns a number for each row of a table. Distinct rows are numbered in order of appearance, and
# equal rows have the same number.
number_distinct_rows <- function(table) {
  strings <- paste_columns(table, "\r")
  match(strings, unique(strings))
}

limit_columns <- c("conf.low", "conf.high")

interval_columns <- c("std.error", limit_columns)

estimate_columns <- c("estimate", interval_columns)

# Returns a table with a row per system: the estimate, NA as standard error and interval, and the
# reason why numbers are missing. The table is a list of vectors, because simulation studies stack
# many tables, and lists are faster than tibbles.
result_table <- function(estimate, n = length(estimate), reason = NA_character_) {
  missing_numbers <- rep_len(NA_real_, n)
  list(
    estimate = rep_len(as.double(estimate), n), std.error = missing_numbers,
    conf.low = missing_numbers, conf.high = missing_numbers, reason = rep_len(reason, n)
  )
}

# Checks the value that an estimator returned, and converts it to the form of result_table().
# * value: an estimate, a numeric vector, or a data frame with column `estimate`. It must have one
#   number per system, in any order if it contains the names of systems.
# * systems: names of the systems. Without names in `value`, numbers must be in this order.
# * is_share: must estimates be in [0, 1], except for rounding errors?
check_estimator_result <- function(value, systems, arg = "estimators", is_share = FALSE) {
  if (inherits(value, "accuracy_estimate")) value <- tidy(value)
  # The name of a single number is ignored, unless the number is a share.
  table <- if (is.data.frame(value)) as.list(value) else
    list(estimate = value, system = if (is_share || length(systems) > 1L) names(value))
  system_names <- as.character(table[["system"]])
  system_rows <- if (!is_empty(system_names)) match(systems, system_names) else seq_along(systems)
  number_columns <- table[c("estimate", intersect(interval_columns, names(table)))]
  has_numeric_columns <- all(map_lgl(number_columns, is_number_or_na))
  estimate <- table[["estimate"]]
  invalid_rows <- if (has_numeric_columns)
    which(if (is_share) abs(estimate - clip01(estimate)) > 1e-8 else is.infinite(estimate))
  is_valid <- has_numeric_columns && !anyNA(system_rows) && is_empty(invalid_rows) &&
    length(estimate) == length(systems)
  abort_argument_if(!is_valid, arg,
    "An estimator must return {length(systems)} number{?s}, one per system, or a data frame with a
        column {.val estimate} and a row per system. A number may be missing, but not
        {if (is_share) 'outside of [0, 1]' else 'infinite'}.",
    x = c(
      "It returned {describe(value)}.",
      if (!is_empty(invalid_rows)) "Number {invalid_rows[1L]} is {estimate[invalid_rows[1L]]}.",
      if (!is_empty(system_names)) "It names {.val {system_names}}; systems are {.val {systems}}."
    ), call = NULL)
  columns <- result_table(NA, length(systems))
  columns[names(number_columns)] <- lapply(number_columns, function(x) as.double(x[system_rows]))
  columns$estimate <- na_real(columns$estimate)
  if (!is.null(table[["reason"]])) columns$reason <- as.character(table[["reason"]][system_rows])
  columns$reason[is.na(columns$estimate) & is.na(columns$reason)] <- "the estimator returned NA"
  columns
}

# Is `x` a numeric vector, or a vector of NA?
is_number_or_na <- function(x) is.numeric(x) || (is.logical(x) && all(is.na(x)))

# Replaces NaN by NA in a vector, or in all vectors of a list. The core returns NaN for missing
# values.
na_real <- function(x) {
  if (is.list(x)) x[] <- lapply(x, na_real)
  if (is.double(x)) replace(x, is.nan(x), NA_real_) else x
}

# Limits the values of `x` to the range from `low` to `high`.
clamp <- function(x, low, high) pmin(pmax(x, low), high)

clip01 <- function(x) clamp(x, 0, 1)

# Returns the list or table `x` after `f` was applied to some of its fields.
modify_fields <- function(x, fields, f, ...) replace(x, fields, lapply(x[fields], f, ...))

# These functions call vapply() for a function `.f` that returns TRUE or FALSE, one string, or one
# number. R reads the files of the package in alphabetical order, so top-level code in earlier files
# cannot use these functions.
map_lgl <- function(.x, .f, ...) vapply(.x, .f, NA, ...)

map_chr <- function(.x, .f, ...) vapply(.x, .f, "", ...)

map_int <- function(.x, .f, ...) vapply(.x, .f, 0L, ...)

map_dbl <- function(.x, .f, ...) vapply(.x, .f, 0, ...)

# Relative step of numerical derivatives. With this step, truncation and rounding errors of a
# derivative are both about 1e-10.
slope_step <- 1e-5

# Returns the step for each parameter: `step` times the absolute value of the parameter, at least
# `step`.
step_sizes <- function(values, step = slope_step) step * pmax(abs(values), 1)

# Computes the derivatives of `f` at the values `parameters` by central differences. Returns a
# number per parameter or, if `f` returns several numbers, a matrix with a column per parameter.
central_differences <- function(f, parameters, step = slope_step) {
  steps <- step_sizes(parameters, step)
  vapply(seq_along(parameters), function(i) {
    shift <- replace(steps * 0, i, steps[[i]])
    (f(parameters + shift) - f(parameters - shift)) / (2 * steps[[i]])
  }, f(parameters) * 0)
}

# Returns the number of standard errors between the centre and the ends of a normal interval.
normal_quantile <- function(conf_level) qnorm((1 + conf_level) / 2)

# Returns the number of standard errors between the centre and the ends of an interval by the t
# distribution. Degrees of freedom are n - 1, or 1 if `n` is smaller than 2.
t_quantile <- function(conf_level, n) qt((1 + conf_level) / 2, pmax(n - 1, 1))

# Returns the share of correct cases among `n` cases after half a correct and half a wrong case are
# added. The result p is never 0 or 1, so the estimated variance p * (1 - p) / n is not 0.
add_half_cases <- function(share, n) (share * n + 0.5) / (n + 1)

# Computes Wilson's intervals of shares. `n`: (effective) number of independent cases. `z`: see
# normal_quantile(). Returns a matrix with a row per share: lower and upper limit.
wilson_interval <- function(share, n, z) {
  centre <- (share + z^2 / (2 * n)) / (1 + z^2 / n)
  half_width <- wilson_half_width(share, n, z)
  cbind(pmax(0, centre - half_width), pmin(1, centre + half_width))
}

# Computes Wilson's intervals of estimated probabilities `p` with standard errors `error`. The
# sample size is the number of cases for which a share would have this standard error.
# * n: sample size for probabilities of 0 or 1; if NA, intervals of these probabilities are NA.
# * z: see normal_quantile().
probability_interval <- function(p, error, z, n = NA_real_) {
  p <- clip01(p)
  wilson_interval(p, ifelse(is_on_boundary(p), n, bernoulli_variance(p) / error^2), z)
}

# Is an estimated probability 0 or 1, up to rounding? Its standard error cannot then be computed
# from the curvature of the likelihood.
is_on_boundary <- function(p) p < 1e-6 | p > 1 - 1e-6

# Returns half of the width of Wilson's interval, before it is limited to [0, 1].
wilson_half_width <- function(share, n, z) {
  z / (1 + z^2 / n) * sqrt(bernoulli_variance(share) / n + z^2 / (4 * n^2))
}

# Returns the half width of an interval that allows for two independent errors of an estimate.
# * error: half width of an interval that allows for the first error only.
# * end, middle: limit and centre of an interval that allows for the second error only.
add_error_to_half_width <- function(error, end, middle) sqrt((end - middle)^2 + error^2)

# ---- Computations in other processes or on other machines, with package future ---

# Did the user call future::plan() for several processes?
has_workers <- function() isNamespaceLoaded("future") && !inherits(future::plan(), "sequential")

# May worker processes be on other machines, according to the user's future::plan()?
has_remote_workers <- function() {
  has_workers() && !inherits(future::plan(), c("multisession", "multicore"))
}

# Runs `tasks` in worker processes and returns the list of their values. A task is a function
# without arguments, whose environment contains all data that it needs. If a worker is lost, raises
# an error with the names of its tasks (from `task_names`) and the values of the finished tasks.
run_tasks_in_workers <- function(tasks, task_names, globals = list(), packages = character()) {
  catch_lost_worker <- function(code) tryCatch(code, FutureError = identity)
  futures <- lapply(tasks, function(task) {
    catch_lost_worker(future::future(
      .fallible_task(), globals = c(list(.fallible_task = task), globals), packages = packages,
      seed = NULL
    ))
  })
  outcomes <- lapply(futures, function(future) {
    if (inherits(future, "FutureError")) future else catch_lost_worker(list(future::value(future)))
  })
  is_lost <- map_lgl(outcomes, inherits, "FutureError")
  task_values <- unlist(replace(outcomes, is_lost, list(list(NULL))), recursive = FALSE)
  abort_if(any(is_lost), "worker", "A worker process died, or cannot be reached.",
    x = escape_braces("Lost tasks: ", shorten(task_names[is_lost], most = 6L), "."),
    i = c(
      "{sum(!is_lost)} of {length(is_lost)} task{?s} {?is/are} finished. Their values are in
       {.code rlang::last_error()$finished}.",
      "Call {.fun future::plan} again, which restarts the workers, and then repeat the call. After
       the same {.fun set.seed}, random results are the same."
    ), pieces = task_names[is_lost],
    # The value of each task, NULL for lost tasks
    finished = setNames(task_values, task_names), parent = outcomes[is_lost][[1L]])
  task_values
}
utils::globalVariables(".fallible_task")

# Runs code with the given seed and R's default random number generators, and returns its value. The
# user's generators and random stream are unchanged.
with_run_seed <- function(seed, code) {
  withr::with_seed(
    seed, code,
    .rng_kind = "Mersenne-Twister", .rng_normal_kind = "Inversion",
    .rng_sample_kind = "Rejection"
  )
}

# Draws a seed for the C++ core, two whole numbers, from R's generator. Results of the core
# therefore depend on set.seed(), but not on the number of threads.
draw_seed <- function() sample.int(.Machine$integer.max, 2L)

# Runs code with a seed drawn from the user's random stream. Random numbers drawn by `code` do not
# change the user's stream.
with_one_seed <- function(code) with_run_seed(draw_seed(), code)

# Repeats the call of a function (`fn`, the caller of map_variables()) for each variable or each
# group of cases. Variables are the elements of a list of ratings. Combines the results with
# stack_results().
# * inputs: a named list with an element per variable or group. An element is a list of arguments
#   that replace arguments of the user, or a new value of argument `x`.
# * column: "variable" if `inputs` has an element per variable, "group" if per group.
map_variables <- function(inputs, column = "variable", call = rlang::caller_call(),
                          fn = caller_fn(), env = caller_env(2L)) {
  call <- match.call(fn, call, envir = env)
  call[[1L]] <- fn
  if (column == "group") call$by <- NULL
  measures <- if (column == "variable") eval(call$measures, env)
  # Names of `measures` are names of variables. The other variables have the default measures.
  has_named_measures <- has_names(measures)
  if (has_named_measures) {
    measures <- split(unname(measures), names(measures))
    check_names_among(names(measures), names(inputs), "measures")
    call$measures <- NULL
  }
  # All calls use one seed, so that the user's random stream advances as in one call.
  with_one_seed(stack_results(Map(function(arguments, name) {
    if (is.object(arguments)) arguments <- list(x = arguments)
    if (has_named_measures) arguments$measures <- unlist(measures[[name]])
    # The call contains symbols instead of large values. The prefix ensures that these symbols are
    # not names of variables in the user's environment.
    argument_names <- paste0(".fallible_", names(arguments))
    call[names(arguments)] <- lapply(argument_names, as.name)
    argument_env <- list2env(setNames(arguments, argument_names), parent = env)
    name_variable_in_conditions(if (column == "variable") name, eval(call, argument_env))
  }, inputs, names(inputs)), column))
}

# Returns the value at which the function `f` is 0, in the interval `range`. At least one end of
# `range` must be 0 or 1. If `f` has the same sign at both ends, returns the end that is 0 or 1.
find_crossing <- function(f, range) {
  end_points <- range + c(1, -1) * 1e-12 * (range %in% c(0, 1))
  if (prod(sign(f(end_points))) > 0) return(range[range %in% c(0, 1)][[1L]])
  uniroot(f, end_points, tol = 1e-9)$root
}

# ---- Matrices and shares ----

# Returns a logical matrix with a row per element of `codes` and `n` columns. Column j shows whether
# the code is j.
indicator_matrix <- function(codes, n) outer(codes, seq_len(n), `==`)

# Returns the variance of a variable that is 1 with probability `p`, and otherwise 0.
bernoulli_variance <- function(p) p * (1 - p)

# Subtracts from each column of `x` its mean, weighted by `w`.
demean <- function(x, w) x - rep(colSums(w * x) / colSums(w), each = nrow(x))
