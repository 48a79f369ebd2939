# Arguments that go together travel as one list.

# A list of some of the `known` settings, each by its name.
check_settings_list <- function(x, arg, known) {
  names <- rlang::names2(x)
  off <- printable(setdiff(names, known))
  is_list <- is.list(x) && !is.object(x)
  twice <- repeated_values(names)
  abort_argument_if(!is_list || length(off) > 0L || length(twice) > 0L, arg,
    "must be a list with some of the names {.val {known}}, each once.",
    x = if (!is_list) "It is {describe(x)}." else if (all(off == "") && length(off) > 0L)
      "Something in it has no name." else if (length(off) > 0L) "It has {.val {off}}." else
      "{.val {twice}} {?is/are} repeated.", i = near_values(off, known))
  x
}

# `known`: which of the settings the caller has; the others are an error.
check_resampling <- function(resampling, known = c("replicates", "threads", "cluster")) {
  given <- check_settings_list(resampling, "resampling", known)
  list(
    replicates = given[["replicates"]], threads = given[["threads"]] %||% default_threads(),
    cluster = given[["cluster"]]
  )
}

# As options of an estimator have them.
check_bins <- function(bins) {
  given <- check_settings_list(bins, "bins", c("width", "clip"))
  list(clip = given[["clip"]] %||% "bin", bin_width = given[["width"]] %||% 0.1)
}
