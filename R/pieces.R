# Independent pieces of work on other processes, or machines, by package future.

# Has the user planned for other processes?
has_workers <- function() isNamespaceLoaded("future") && !inherits(future::plan(), "sequential")

# Are they on other machines, as far as a plan tells?
has_remote_workers <- function() {
  has_workers() && !inherits(future::plan(), c("multisession", "multicore"))
}

# The values of some `tasks`: functions without arguments that carry what they need, since on a
# worker other names belong to the user. `names` tell which is which when one is lost; those that
# are finished are then in the error.
run_pieces <- function(tasks, names, globals = list(), packages = character()) {
  lost_or <- function(code) tryCatch(code, FutureError = identity)
  futures <- lapply(tasks, function(task) {
    lost_or(future::future(
      .fallible_task(), globals = c(list(.fallible_task = task), globals), packages = packages,
      seed = NULL
    ))
  })
  found <- lapply(futures, function(future) {
    if (inherits(future, "FutureError")) future else lost_or(list(future::value(future)))
  })
  lost <- vapply(found, inherits, NA, "FutureError")
  values <- unlist(replace(found, lost, list(list(NULL))), recursive = FALSE)
  if (any(lost)) abort_lost(names, lost, values, found[[which(lost)[[1L]]]])
  values
}
utils::globalVariables(".fallible_task")

# `finished` is a list with the value of each piece, NULL where it is lost.
abort_lost <- function(names, lost, finished, parent) {
  abort_fallible("worker", "A worker process died, or cannot be reached.",
    x = verbatim("Lost with it: ", shorten(names[lost], most = 6L), "."),
    i = c(
      "{sum(!lost)} of {length(lost)} piece{?s} {?is/are} finished, in field {.field finished} of
       this error.",
      "{.fun future::plan} restarts workers; random results are the same if
       {.fun set.seed} is called as before."
    ), pieces = names[lost],
    finished = stats::setNames(finished, names), parent = parent)
}

# Whatever the user's generator is, a run has its own numbers.
with_run_seed <- function(seed, code) {
  withr::with_seed(
    seed, code,
    .rng_kind = "Mersenne-Twister", .rng_normal_kind = "Inversion",
    .rng_sample_kind = "Rejection"
  )
}

# R's generator decides, once, so that set.seed() works whatever the number of threads.
draw_seed <- function() sample.int(.Machine$integer.max, 2L)

# The value of some code whose draws, however many, move the user's stream by one seed.
with_one_seed <- function(code) with_run_seed(draw_seed(), code)
