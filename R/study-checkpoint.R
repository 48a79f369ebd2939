# The file in which a study is kept while it runs, so that it can go on after an interrupt.

save_checkpoint <- function(study, path) {
  force(study) # what fails in making it is no fault of the file
  saved <- replace_file(
    path, function(temporary) write_hashed(study, temporary),
    function(temporary) inherits(read_hashed(temporary), "simulation_study")
  )
  abort_if(!saved, "file", "The file of {.arg checkpoint} cannot be written.",
    x = verbatim("It is ", path, "."), path = path)
}

# An RDS file with a hash of its bytes behind them, which `readRDS()` passes over: changed bytes can
# give numbers that look as good, and have R crash when it reads them.
write_hashed <- function(object, path) {
  saveRDS(object, path)
  hash <- rlang::hash(file_bytes(path))
  con <- file(path, "ab")
  on.exit(close(con))
  writeBin(charToRaw(hash), con)
}

# The object, or `NULL` for a file that is not as `write_hashed()` left it.
read_hashed <- function(path) {
  con <- file(path, "rb")
  bytes <- readBin(con, "raw", max(file.size(path) - hash_length, 0))
  behind <- readBin(con, "raw", hash_length)
  close(con)
  if (!identical(behind, charToRaw(rlang::hash(bytes)))) return(NULL)
  con <- gzcon(rawConnection(bytes))
  on.exit(close(con))
  readRDS(con)
}

hash_length <- 32L

# Two studies would overwrite each other's runs. The lock ends with the function `frame`, or with
# the process, however that ends; where files cannot be locked there is none between processes.
lock_checkpoint <- function(path, frame = parent.frame()) {
  lock_file <- paste0(path, ".lock")
  ours <- path %in% lock_store$paths # the system's locks do not know this process from itself
  lock <- if (!ours) tryCatch(filelock::lock(lock_file, timeout = 0), error = function(e) NA)
  abort_if(is.null(lock), "file",
    "The file of {.arg checkpoint} is in use by another {if (ours) 'study' else 'process'}.",
    x = verbatim("It is ", path, "."), i = "Wait until that ends, or choose another file.",
    path = path)
  lock_store$paths <- c(lock_store$paths, path)
  withr::defer({
    lock_store$paths <- setdiff(lock_store$paths, path)
    if (inherits(lock, "filelock_lock")) {
      # Ours is empty. Once it was unlocked, it could be the next one's.
      if (file.size(lock_file) %in% 0) unlink(lock_file)
      filelock::unlock(lock)
    }
  }, envir = frame)
}

lock_store <- new.env()

# The study with the results of the file, if that holds the same study but for its seed and the
# number of runs. `parts` are what must be the same.
resume <- function(study, path, parts = c("designs", "estimators", "n", "panels")) {
  if (!file.exists(path)) return(study)
  before <- tryCatch(suppressWarnings(read_hashed(path)), error = function(e) {
    abort_fallible("file", "The file of {.arg checkpoint} cannot be read.",
      x = c(verbatim("It is ", path, "."), verbatim(conditionMessage(e))), path = path)
  })
  abort_if(!inherits(before, "simulation_study") || !is.list(before), "file",
    "The file of {.arg checkpoint} was not written by a study, or has changed.",
    x = verbatim("It is ", path, "."), i = "Choose another file, or delete this one.", path = path)
  check_same_study(before, study, parts, path)
  check_progress(before, study, path)
  inform_fallible(verbatim(
    "Going on from ", path, ": ", number(sum(before$done)), " panels are done."
  ))
  study[c("seed", "results", "done")] <- before[c("seed", "results", "done")]
  study
}

check_same_study <- function(before, study, parts, path) {
  differ <- parts[!vapply(parts, function(part) {
    identical(
      without_source(before[[part]]), without_source(study[[part]]), ignore.environment = TRUE,
      ignore.bytecode = TRUE, ignore.srcref = TRUE
    )
  }, NA)]
  more <- is.numeric(before$runs) && isTRUE(before$runs > study$runs)
  abort_if(length(differ) > 0L || more, "file",
    "The file of {.arg checkpoint} holds another study.",
    x = if (length(differ) > 0L) "Not the same: {.arg {differ}}." else "It has {before$runs}
        {.arg runs}, more than the {study$runs} asked for.",
    i = "Choose another file, or delete this one.", path = path)
}

# Functions within functions keep theirs, which a file changes.
without_source <- function(x) {
  if (is.list(x)) {
    lapply(x, without_source)
  } else if (is.function(x) && !is.primitive(x)) {
    utils::removeSource(x)
  } else {
    x
  }
}

# Files are edited, and written by other versions.
check_progress <- function(before, study, path) {
  whole <- function(x, n) is.integer(x) && length(x) == n && !anyNA(x)
  done <- before[["done"]]
  damaged <- c(
    runs = !whole(before[["runs"]], 1L),
    seed = !whole(before[["seed"]], length(study$seed)),
    done = !whole(done, length(study$done)) || any(done < 0L | done > study$runs)
  )
  if (!any(damaged)) damaged <- c(results = !whole_results(before[["results"]], done, study))
  abort_if(any(damaged), "file", "The file of {.arg checkpoint} is damaged.",
    x = c(
      verbatim("It is ", path, "."), "Not as it was written: {.field {names(which(damaged))}}."
    ),
    i = "Choose another file, or delete this one.", path = path)
}

# Are the results those of so many runs of each cell, and of nothing else?
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
