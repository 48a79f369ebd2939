# File in which a running study is saved, so that it can continue after an interrupt.

abort_checkpoint_if <- function(wrong, path, message, x = NULL,
                                i = "Choose another file, or delete this one.",
                                .envir = parent.frame()) {
  abort_if(wrong, "file", paste("The file of {.arg checkpoint}", message),
    x = c(verbatim("It is ", path, "."), x), i = i, path = path, .envir = .envir)
}

save_checkpoint <- function(study, path, parts) {
  content <- saved_study(study, parts) # outside replace_file(): errors here are not about the file
  saved <- replace_file(
    path, function(temporary) write_hashed(content, temporary),
    function(temporary) identical(read_hashed(temporary), content)
  )
  abort_checkpoint_if(!saved, path, "cannot be written.", i = NULL)
}

# Content of the file: only numbers and strings. Designs and estimators may contain functions; the
# file contains their hashes (see hashes_of_parts()).
saved_study <- function(study, parts = hashes_of_parts(study)) {
  list(
    seed = study$seed, runs = study$runs, done = study$done, results = study$results, parts = parts
  )
}

# Hashes of the parts that must be the same when a study continues.
hashes_of_parts <- function(study) {
  parts <- c("designs", "estimators", "n", "panels", "seed")
  vapply(parts, function(part) rlang::hash(text_of(study[[part]])), "")
}

# Text of lists, vectors and functions. Environments, byte code and source references are excluded,
# because they differ between sessions.
text_of <- function(x) {
  if (is.function(x) && !is.primitive(x)) x <- utils::removeSource(x)
  about <- attributes(x)[setdiff(names(attributes(x)), c("srcref", ".Environment"))]
  text <- if (is.list(x)) {
    lapply(unclass(x), text_of)
  } else {
    if (!is.primitive(x)) attributes(x) <- NULL
    deparse(x, control = c("keepNA", "keepInteger", "hexNumeric"))
  }
  list(text, if (length(about) > 0L) lapply(about, text_of))
}

# Writes an RDS file with a hash at the end, which `readRDS()` ignores. Without the hash, changed
# bytes can give wrong but plausible numbers, and can crash R.
write_hashed <- function(object, path) {
  saveRDS(object, path)
  hash <- hash_bytes(file_bytes(path))
  con <- file(path, "ab")
  on.exit(close(con))
  writeBin(hash, con)
}

# Returns the plain list, or `NULL` if the file is not as `write_hashed()` wrote it, or contains
# other objects. The object is put into a list directly: assigning it to a variable could force a
# promise.
read_hashed <- function(path) {
  bytes <- file_bytes(path)
  hash <- utils::tail(bytes, 32L)
  bytes <- head(bytes, -32L)
  if (!identical(hash, hash_bytes(bytes))) return(NULL)
  con <- gzcon(rawConnection(bytes))
  on.exit(close(con))
  read <- list(readRDS(con))
  if (is_plain_list(read)) read[[1L]]
}

# Is this a list of vectors, or of such lists, without attributes except names? Types are checked
# before any element is used: environments with active bindings, promises and objects with a class
# can run code when they are used.
is_plain_list <- function(x) {
  plain_types <- c("NULL", "logical", "integer", "double", "character", "list")
  all(vapply(x, typeof, "") %in% plain_types) && all(vapply(x, function(element) {
    about <- attributes(element)
    plain_names <- is.null(about) || identical(names(about), "names") &&
      typeof(about[[1L]]) == "character" && is.null(attributes(about[[1L]]))
    !is.object(element) && plain_names && (!is.list(element) || is_plain_list(element))
  }, NA))
}

# 32 bytes. The hash includes the version of the package, because versions write different studies.
hash_bytes <- function(bytes) {
  charToRaw(rlang::hash(list(bytes, getNamespaceVersion("fallible")[[1L]])))
}

# Two studies would overwrite each other's runs. The lock ends with the function `frame`, or with
# the process. If the file system cannot lock files, there is no lock between processes.
lock_checkpoint <- function(path, frame = parent.frame()) {
  lock_file <- paste0(path, ".lock")
  ours <- path %in% lock_store$paths # system locks do not work within a process
  lock <- if (!ours) tryCatch(filelock::lock(lock_file, timeout = 0), error = function(e) NA)
  abort_checkpoint_if(is.null(lock), path,
    "is in use by another {if (ours) 'study' else 'process'}.",
    i = "Wait until that ends, or choose another file.")
  lock_store$paths <- c(lock_store$paths, path)
  withr::defer({
    lock_store$paths <- setdiff(lock_store$paths, path)
    if (inherits(lock, "filelock_lock")) {
      # Deletes the lock file, which is empty, before unlocking: afterwards another study may hold
      # it.
      if (file.size(lock_file) %in% 0) unlink(lock_file)
      filelock::unlock(lock)
    }
  }, envir = frame)
}

lock_store <- new.env()

# The study with the results and the seed of the file. The file must have the same `parts`, and not
# more runs than the study.
resume <- function(study, path, parts) {
  if (!file.exists(path)) return(study)
  before <- tryCatch(suppressWarnings(read_hashed(path)), error = identity)
  content <- saved_study(study)
  abort_checkpoint_if(!identical(names(before), names(content)), path,
    "was not written by a study of this version, or has changed.",
    x = if (inherits(before, "error")) verbatim(conditionMessage(before)))
  same <- vapply(parts, function(part) identical(before$parts[part], content$parts[part]), NA)
  differ <- parts[!same]
  more <- isTRUE(before$runs > study$runs)
  abort_checkpoint_if(length(differ) > 0L || more, path, "holds another study.",
    x = if (length(differ) > 0L) "Not the same: {.arg {differ}}." else "It has {before$runs}
        {.arg runs}, more than the {study$runs} asked for.")
  check_progress(before, study, path)
  inform_fallible(verbatim(
    "Going on from ", path, ": ", number(sum(before$done)), " panels are done."
  ))
  study[c("seed", "results", "done")] <- before[c("seed", "results", "done")]
  study
}

# Checks the content, because a valid hash does not prove that this package wrote the file.
check_progress <- function(before, study, path) {
  whole <- function(x, n) is.integer(x) && length(x) == n && !anyNA(x)
  done <- before[["done"]]
  damaged <- c(
    runs = !whole(before[["runs"]], 1L),
    seed = !whole(before[["seed"]], length(study$seed)),
    done = !whole(done, length(study$done)) || any(done < 0L | done > study$runs)
  )
  if (!any(damaged)) damaged <- c(results = !whole_results(before[["results"]], done, study))
  abort_checkpoint_if(any(damaged), path, "is damaged.",
    x = "Not as it was written: {.field {names(which(damaged))}}.")
}

# Does `results` contain exactly the runs in `done` of each cell?
whole_results <- function(results, done, study) {
  if (sum(done) == 0L) return(is.null(results))
  systems <- lapply(study_cells(study), function(cell) names(cell$design$systems))
  per_run <- lengths(systems) * length(study$estimators)
  numbers <- c("estimate", interval_columns, "expected", "sample")
  is.list(results) && all(lengths(results) == sum(done * per_run)) &&
    all(vapply(numbers, function(column) is.double(results[[column]]), NA)) &&
    identical(results$cell, rep(seq_along(done), done * per_run)) &&
    identical(results$run, unlist(Map(rep, lapply(done, seq_len), each = per_run))) &&
    identical(unique(results$estimator), names(study$estimators)) &&
    all(unlist(Map(`%in%`, split(results$system, results$cell), systems[done > 0L])))
}
