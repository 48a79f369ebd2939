# Lists of columns, tables for documents, and helpers for numbers.

# Stacks tables, which are lists with the same columns; columns may be lists.
stack_tables <- function(tables) do.call(Map, c(list(c), unname(tables)))

# Sizes of ratings, designs and plans, which have fields of the same names.
n_raters <- function(x) length(x$raters)

n_categories <- function(x) length(x$categories)

n_systems <- function(x) length(x$systems)

has_unique_names <- function(x) rlang::is_named(x) && anyDuplicated(names(x)) == 0L

# Cuts a vector into vectors of `size` elements; the last one may be shorter.
in_runs <- function(x, size) unname(split(x, ceiling(seq_along(x) / size)))

# The largest number of each row.
row_top <- function(x) x[cbind(seq_len(nrow(x)), max.col(x, "first"))]

# Binds the rows of the tables or vectors `f(x[[1]], ...)`, `f(x[[2]], ...)` and so on.
stack_rows <- function(x, f = identity, ...) do.call(rbind, lapply(x, f, ...))

# The rows of a table that have a value in each of `columns`.
drop_missing <- function(table, columns) table[stats::complete.cases(table[columns]), ]

drop_null <- function(x) Filter(Negate(is.null), x)

repeated_values <- function(x) unique(x[duplicated(x)])

# Much faster than tibble(), which checks its columns. Columns are recycled to the length of the
# first column. Does not load package tibble, which is slow. tidy() loads it when a user asks for a
# table.
columns_tibble <- function(...) {
  columns <- rlang::list2(...)
  n <- length(columns[[1L]])
  structure(lapply(columns, rep_len, n),
    row.names = .set_row_names(n), class = c("tbl_df", "tbl", "data.frame"))
}

# The table of a result for a document, a data frame of strings; NULL for results shown as text.
shown_table <- function(x) {
  schema <- schema_of(x)
  if (is.function(schema$shown)) return(shown_view(schema$shown(x)))
  if (!is.null(schema$document)) shown_view(schema$document)
}

used_columns <- function(table) {
  table[!vapply(table, function(column) is.list(column) || all(is.na(column)), NA)]
}

# A whole number for each distinct row, in order of appearance.
keys <- function(table) {
  key <- do.call(paste, c(unname(as.list(table)), sep = "\r"))
  match(key, unique(key))
}

interval_columns <- c("std.error", "conf.low", "conf.high")

# Results are lists of columns until a study is complete.
result_table <- function(estimate, n = length(estimate), reason = NA_character_) {
  none <- rep_len(NA_real_, n)
  list(
    estimate = rep_len(as.double(estimate), n), std.error = none, conf.low = none,
    conf.high = none, reason = rep_len(reason, n)
  )
}

# Names of systems, if given, must be those of the panel, in any order.
as_result <- function(value, systems, arg = "estimators") {
  if (inherits(value, "accuracy_estimate")) value <- tidy(value)
  table <- if (is.data.frame(value)) as.list(value) else
    list(estimate = value, system = if (length(systems) > 1L) names(value))
  named <- as.character(table[["system"]])
  place <- if (length(named) > 0L) match(systems, named) else seq_along(systems)
  numbers <- table[c("estimate", intersect(interval_columns, names(table)))]
  numeric <- vapply(numbers, function(x) is.numeric(x) || (is.logical(x) && all(is.na(x))), NA)
  ok <- all(numeric) && length(table[["estimate"]]) == length(systems) && !anyNA(place) &&
    !any(is.infinite(table[["estimate"]]))
  abort_argument_if(!ok, arg, "An estimator must return {length(systems)} finite number{?s}, one per
                       system, or a data frame with a column {.val estimate} and a row per
                       system.",
    x = c(
      "It returned {describe(value)}.",
      if (length(named) > 0L) "It names {.val {named}}; systems are {.val {systems}}."
    ), call = NULL)
  out <- result_table(NA, length(systems))
  out[names(numbers)] <- lapply(numbers, function(x) as.double(x[place]))
  out$estimate <- na_real(out$estimate)
  if (!is.null(table[["reason"]])) out$reason <- as.character(table[["reason"]][place])
  out
}

# Replaces NaN, with which the core marks missing results, by NA; in lists in all vectors.
na_real <- function(x) {
  if (is.list(x)) x[] <- lapply(x, na_real)
  if (is.double(x)) replace(x, is.nan(x), NA_real_) else x
}

clip01 <- function(x) pmin(pmax(x, 0), 1)

# Step of differences, at which truncation and rounding errors of a slope are both about 1e-10.
slope_step <- 1e-5

steps_of <- function(at, step = slope_step) step * pmax(abs(at), 1)

# Central differences of a function; a column per parameter if the function returns several numbers.
differences <- function(f, at, step = slope_step) {
  h <- steps_of(at, step)
  vapply(seq_along(at), function(i) {
    move <- replace(h * 0, i, h[[i]])
    (f(at + move) - f(at - move)) / (2 * h[[i]])
  }, f(at) * 0)
}

# Number of standard errors between the centre and the ends of a normal interval.
normal_quantile <- function(conf_level) stats::qnorm((1 + conf_level) / 2)

# Wilson's intervals of shares from `n` effective independent cases: columns of
# lower and upper ends.
wilson_interval <- function(share, n, z) {
  centre <- (share + z^2 / (2 * n)) / (1 + z^2 / n)
  half <- wilson_half(share, n, z)
  cbind(pmax(0, centre - half), pmin(1, centre + half))
}

# Wilson's intervals of probabilities with standard errors. The sample size is that of a share with
# this error. On a boundary, where the error is 0 or unknown, it is `n`; NA gives no interval.
probability_interval <- function(p, error, z, n = NA_real_) {
  p <- clip01(p)
  size <- p * (1 - p) / error^2
  wilson_interval(p, ifelse(on_boundary(p), n, size), z)
}

# Very close to 0 or 1, the curvature does not give the error of an estimate.
on_boundary <- function(p) p < 1e-6 | p > 1 - 1e-6

wilson_half <- function(share, n, z) {
  z / (1 + z^2 / n) * sqrt(share * (1 - share) / n + z^2 / (4 * n^2))
}

# Distance of an end of an interval from its `middle` after an independent error is added.
half_width_with_error <- function(error, end, middle) sqrt((end - middle)^2 + error^2)

# Runs independent pieces of work in other processes, or on other machines, with package future.

# Has the user set a plan for other processes?
has_workers <- function() isNamespaceLoaded("future") && !inherits(future::plan(), "sequential")

# May workers be on other machines, according to the plan?
has_remote_workers <- function() {
  has_workers() && !inherits(future::plan(), c("multisession", "multicore"))
}

# Runs `tasks` and returns their values. A task is a function without arguments that contains the
# data it needs, because variables in the workspace of a worker may be the user's. `names`: names of
# the tasks, with which the error reports lost ones. The error also holds the values of finished
# tasks.
run_pieces <- function(tasks, names, globals = list(), packages = character()) {
  lost_or <- function(code) tryCatch(code, FutureError = identity)
  futures <- lapply(tasks, function(task) {
    lost_or(future::future(
      .fallible_task(), globals = c(list(.fallible_task = task), globals), packages = packages,
      seed = NULL
    ))
  })
  outcomes <- lapply(futures, function(future) {
    if (inherits(future, "FutureError")) future else lost_or(list(future::value(future)))
  })
  lost <- vapply(outcomes, inherits, NA, "FutureError")
  values <- unlist(replace(outcomes, lost, list(list(NULL))), recursive = FALSE)
  # `finished`: a list with the value of each piece, NULL if it is lost.
  abort_if(any(lost), "worker", "A worker process died, or cannot be reached.",
    x = verbatim("Lost with it: ", shorten(names[lost], most = 6L), "."),
    i = c(
      "{sum(!lost)} of {length(lost)} piece{?s} {?is/are} finished, in field {.field finished} of
       this error.",
      "{.fun future::plan} restarts workers; random results are the same if
       {.fun set.seed} is called as before."
    ), pieces = names[lost],
    finished = setNames(values, names), parent = outcomes[lost][[1L]])
  values
}
utils::globalVariables(".fallible_task")

# Runs code with a seed and a fixed generator, independent of the user's generator.
with_run_seed <- function(seed, code) {
  withr::with_seed(
    seed, code,
    .rng_kind = "Mersenne-Twister", .rng_normal_kind = "Inversion",
    .rng_sample_kind = "Rejection"
  )
}

# Draws one seed from R's generator, so that set.seed() works for any number of threads.
draw_seed <- function() sample.int(.Machine$integer.max, 2L)

# Runs code so that it advances the user's random stream by exactly one seed.
with_one_seed <- function(code) with_run_seed(draw_seed(), code)
