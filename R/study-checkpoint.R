# A running study is saved in a checkpoint file, so that it can continue after an interrupt.

# Raises an error about the checkpoint file.
# * fault: TRUE, FALSE, or a vector of faults. There is no error if it is FALSE or empty.
# * path: path of the checkpoint file.
# * message: end of the first sentence of the error, which begins with "The checkpoint file".
# * x, i: details and hint of the error. The default hint is for a file that cannot be used.
abort_checkpoint_if <- function(fault, path, message, x = NULL,
                                i = "Choose another file, or delete this one.") {
  abort_if(fault, "file", paste("The checkpoint file", message),
    x = c(escape_braces("Its path is ", path, "."), x), i = i, path = path, .envir = parent.frame())
}

save_checkpoint <- function(study, path, hashes) {
  # The content is computed before replace_file() is called. Otherwise replace_file() would report
  # an error in this computation as a failure to write the file.
  content <- checkpoint_content(study, hashes)
  failure_reason <- replace_file(
    path, function(temporary) write_hashed_file(content, temporary),
    function(temporary) identical(read_hashed_file(temporary), content)
  )
  abort_checkpoint_if(failure_reason, path, "cannot be written.", x = escape_braces(failure_reason),
    i = "Check that you may write to the folder, and that the disk is not full.")
}

# Returns the content of the checkpoint file of a study, a list of numbers and strings. Designs and
# estimators may contain functions, which could run code when they are read. Therefore the file
# contains only hashes of designs and estimators.
checkpoint_content <- function(study, hashes = hashes_of_parts(study)) {
  list(
    seed = study$seed, runs = study$runs, done = study$done, results = study$results, parts = hashes
  )
}

# Returns hashes of the parts of a study, named by part, such as `designs.a` or `n`. resume_study()
# compares them with the hashes in the checkpoint file.
hashes_of_parts <- function(study) {
  # Positions of designs and estimators are hashed, too, because results are sorted by position.
  add_positions <- function(x) Map(list, x, seq_along(x))
  parts <- c(
    designs = add_positions(study$designs), estimators = add_positions(study$estimators),
    study[c("n", "panels", "seed")]
  )
  map_chr(parts, function(part) rlang::hash(hashable_text(part)))
}

# Converts an object (list, vector or function) to text, from which its hash is computed. The text
# of a function includes the values of variables that it uses. Environments, pointers, byte code and
# source references are excluded, because they differ between sessions. `store`: environment with a
# list of the functions whose variables are already in the text.
hashable_text <- function(x, store = new.env()) {
  type <- typeof(x)
  if (type %in% c("environment", "externalptr", "weakref")) return()
  variable_values <- NULL
  if (type == "closure") {
    # The variables of a function are added only once. Otherwise the text of a recursive function,
    # which uses itself, would never end.
    if (!any(map_lgl(store$functions, identical, x))) variable_values <- values_of_variables(x)
    store$functions <- c(store$functions, x)
    x <- utils::removeSource(x)
  }
  # deparse() leaves out attributes, because the option "showAttributes" is not given. The text of
  # attributes is added below.
  value_text <- if (is.list(x)) lapply(unclass(x), hashable_text, store) else
    deparse(x, control = c("keepNA", "keepInteger", "hexNumeric"))
  list(value_text, lapply(c(attributes(x), variable_values), hashable_text, store))
}

# Returns a list of the values of variables and functions that a function `f` uses and that exist
# outside of `f`. Excludes variables to which `f` assigns a value with `<<-`, such as counters.
# Returns NULL for a function of a package.
values_of_variables <- function(f) {
  env <- environment(f)
  if (rlang::is_namespace(env)) return()
  used_names <- names_in_code(as.call(as.list(f)))
  names_with_mark <- function(mark) {
    substring(used_names[startsWith(used_names, mark)], nchar(mark) + 1L)
  }
  # Local variables of `f` are excluded. A name is kept if the function that made `f` also has a
  # variable with this name, because `f` may use that variable before it assigns the local one.
  captured_names <- if (!identical(env, globalenv())) ls(env, all.names = TRUE)
  local_names <- setdiff(names_with_mark("<-"), captured_names)
  lapply(setdiff(
    used_names, c(names(formals(f)), local_names, names_with_mark("<<-"))
  ), function(name) {
    # Some names have no value outside of `f`: columns of a table, as in subset(), and arguments
    # that were not given. Their value is NULL.
    tryCatch(
      eval(if (name == "...") quote(list(...)) else as.name(name), env), error = function(e) NULL
    )
  })
}

# Returns the names of variables and functions in `code`, except names after `$` or `@`. Returns
# assigned names also with a mark in front:
# * "<<-": variables that `code` changes by `<<-`.
# * "<-": variables of other assignments and of loops, and arguments of functions in `code`.
names_in_code <- function(code) {
  # For example, the first index in `x[, 1]` is missing.
  if (is_missing(code)) return()
  if (!is.call(code) && !is.pairlist(code)) return(all.names(code))
  target <- if (is_call(code, c("<-", "<<-", "=", "for", "function"))) code[[2L]]
  if (is_call(code, c("$", "@"))) code <- code[-3L]
  local_names <- if (is_call(code, "function")) names(target) else head(all.vars(target), 1L)
  c(
    paste0(if (is_call(code, "<<-")) "<<-" else "<-", local_names, recycle0 = TRUE),
    unlist(lapply(as.list(code), names_in_code))
  )
}

# Writes an RDS file followed by a hash of its bytes, which readRDS() ignores. The hash detects
# damaged files. Without a hash, changed bytes could give wrong but plausible numbers, or crash R.
write_hashed_file <- function(object, path) {
  saveRDS(object, path)
  hash <- hash_bytes(file_bytes(path))
  connection <- file(path, "ab")
  on.exit(close(connection))
  writeBin(hash, connection)
}

# Reads a file that write_hashed_file() wrote, and returns its object. Returns NULL if the hash is
# wrong or the object is not a plain list (see is_plain_list()). The object is put into a list
# directly, because assigning the object to a variable could evaluate a promise, and so run code.
read_hashed_file <- function(path) {
  bytes <- file_bytes(path)
  hash <- tail(bytes, 32L)
  bytes <- head(bytes, -32L)
  if (!identical(hash, hash_bytes(bytes))) return(NULL)
  connection <- gzcon(rawConnection(bytes))
  on.exit(close(connection))
  content <- list(readRDS(connection))
  if (is_plain_list(content)) content[[1L]]
}

# Does the list `x` contain only vectors and lists of vectors, without attributes except names?
# Types are checked before any element is used. Promises, objects with a class and environments with
# active bindings can run code when they are used.
is_plain_list <- function(x) {
  plain_types <- c("NULL", "logical", "integer", "double", "character", "list")
  all(map_chr(x, typeof) %in% plain_types) && all(map_lgl(x, function(element) {
    element_attributes <- attributes(element)
    has_only_names <- is.null(element_attributes) ||
      identical(names(element_attributes), "names") &&
        typeof(element_attributes[[1L]]) == "character" &&
        is.null(attributes(element_attributes[[1L]]))
    !is.object(element) && has_only_names && (!is.list(element) || is_plain_list(element))
  }))
}

# Returns a hash of 32 bytes. It includes the version of the package, because versions may write
# different content. A file from another version is then refused.
hash_bytes <- function(bytes) {
  charToRaw(rlang::hash(list(bytes, getNamespaceVersion("fallible")[[1L]])))
}

# Locks the checkpoint file. Two studies with the same file would overwrite each other's runs. The
# lock ends when the function with the frame `frame` returns, or when the process ends. If the file
# system cannot lock files, the lock excludes only other studies of the same process.
lock_checkpoint <- function(path, frame = parent.frame()) {
  lock_file <- paste0(path, ".lock")
  # Locks of the file system exclude only other processes, not other studies of this process.
  is_locked_by_process <- path %in% lock_store$paths
  lock <- if (!is_locked_by_process)
    tryCatch(filelock::lock(lock_file, timeout = 0), error = function(e) NA)
  abort_checkpoint_if(is.null(lock), path,
    "is in use by another {if (is_locked_by_process) 'study' else 'process'}.",
    i = "Wait until the other {if (is_locked_by_process) 'study' else 'process'} ends, or choose
      another file.")
  lock_store$paths <- c(lock_store$paths, path)
  withr::defer({
    lock_store$paths <- setdiff(lock_store$paths, path)
    if (inherits(lock, "filelock_lock")) {
      # The lock file is deleted before it is unlocked, because another study may lock the file as
      # soon as it is unlocked. A file that is not empty is kept, because it may be a user's file.
      if (file.size(lock_file) %in% 0) unlink(lock_file)
      filelock::unlock(lock)
    }
  }, envir = frame)
}

lock_store <- new.env()

# Returns the study with the results and the seed from the checkpoint file. If the file does not
# exist, returns the study unchanged. Raises an error if the study in the file has more runs, or
# differs in a part. `any_seed`: may the seed differ?
resume_study <- function(study, path, any_seed) {
  if (!file.exists(path)) return(study)
  saved_content <- tryCatch(suppressWarnings(read_hashed_file(path)), error = identity)
  requested_content <- checkpoint_content(study)
  abort_checkpoint_if(!identical(names(saved_content), names(requested_content)), path,
    "was not written by a study of this version of the package, or has been changed.",
    x = if (inherits(saved_content, "error")) escape_braces(conditionMessage(saved_content)))
  requested_hashes <- requested_content$parts
  part_names <- union(names(requested_hashes), names(saved_content$parts))
  differing_parts <- Filter(function(part) {
    !identical(requested_hashes[part], saved_content$parts[part])
  }, setdiff(part_names, if (any_seed) "seed"))
  abort_checkpoint_if(differing_parts, path, "contains the results of another study.",
    x = "The other study differs in {.arg {differing_parts}}.",
    i = "Choose another file, or delete this one. Functions are compared with the variables that
      they use.")
  abort_checkpoint_if(isTRUE(saved_content$runs > study$runs), path,
    "contains a study with more runs.",
    x = "It has {saved_content$runs} {.arg runs}, more than the {study$runs} that were requested.",
    i = "Give {.code runs = {saved_content$runs}}, or choose another file.")
  check_saved_content(saved_content, study, path)
  inform_fallible(escape_braces(
    "Continuing the study in ", path, ": ", number(sum(saved_content$done)),
    " panels are done. The seed of the file is used."
  ))
  replace(study, c("seed", "results", "done"), saved_content[c("seed", "results", "done")])
}

# Checks types and lengths of the content of a checkpoint file, because a valid hash does not prove
# that this package wrote the file. `saved`: content of the file, see checkpoint_content().
check_saved_content <- function(saved, study, path) {
  is_integer_vector <- function(x, n) is.integer(x) && length(x) == n && !anyNA(x)
  n_finished_runs <- saved$done # number of finished runs of each cell, see study_cells()
  is_damaged <- c(
    runs = !is_integer_vector(saved$runs, 1L),
    seed = !is_integer_vector(saved$seed, length(study$seed)),
    done = !is_integer_vector(n_finished_runs, length(study$done)) ||
      any(n_finished_runs < 0L | n_finished_runs > study$runs)
  )
  if (!any(is_damaged)) {
    # `results` must have the columns and rows of the finished runs.
    results <- saved$results
    systems_of_cells <- lapply(study_cells(study), function(cell) names(cell$design$systems))
    rows_per_run <- lengths(systems_of_cells) * length(study$estimators)
    numeric_columns <- c("estimate", interval_columns, "expected", "sample")
    are_results_valid <- if (sum(n_finished_runs) == 0L) is.null(results) else
      is.list(results) && is.character(results$condition) &&
        all(lengths(results) == sum(n_finished_runs * rows_per_run)) &&
        all(map_lgl(numeric_columns, function(column) is.double(results[[column]]))) &&
        identical(results$cell, rep(seq_along(n_finished_runs), n_finished_runs * rows_per_run)) &&
        identical(
          results$run, unlist(Map(rep, lapply(n_finished_runs, seq_len), each = rows_per_run))
        ) &&
        identical(unique(results$estimator), names(study$estimators)) &&
        all(unlist(Map(
          `%in%`, split(results$system, results$cell), systems_of_cells[n_finished_runs > 0L]
        )))
    is_damaged <- c(results = !are_results_valid)
  }
  abort_checkpoint_if(any(is_damaged), path, "is damaged.",
    x = "Its invalid fields are {.field {names(which(is_damaged))}}.")
}
