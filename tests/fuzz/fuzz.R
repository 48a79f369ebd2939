# The fuzzer: knocks at doors with what seeds draw, and keeps what fails.
#   one("fit_raters", 17)          what this seed does at this door: NULL, or what is wrong
#   fuzz(seconds = 10, seed = 1)   seeds until the time is over, at least one
#   fuzz(seed = 1, seeds = 2)      two seeds, whatever time they take

all_doors <- function() {
  spoil_calls <- list(
    arguments = function() spoilt(sound_calls()), methods = function() spoilt(made_once())
  )
  c(doors, relations, files, archives, spoil_calls, kernels)
}

# They take seconds, and are the same for all seeds.
made_once <- function() {
  if (is.null(last$calls)) last$calls <- withr::with_seed(1, further_calls())
  last$calls
}

one <- function(door, seed, slow = Inf) {
  set.seed(seed, "Mersenne-Twister", "Inversion", "Rejection")
  start <- proc.time()[["elapsed"]]
  wrong <- trial(all_doors()[[door]])
  taken <- proc.time()[["elapsed"]] - start
  if (taken > slow) wrong <- c(wrong, sprintf("took %.0f s", taken))
  wrong
}

# `slow`: seconds from which a call of a door counts as a failure.
fuzz <- function(seconds = Inf, seed, at = names(all_doors()), slow = Inf, seeds = Inf) {
  end <- proc.time()[["elapsed"]] + seconds
  last_seed <- seed + seeds - 1
  tried <- refused <- stats::setNames(integer(length(at)), at)
  failures <- list(data.frame(door = character(), seed = integer(), wrong = character()))
  repeat {
    for (door in at) {
      wrong <- one(door, seed, slow)
      tried[[door]] <- tried[[door]] + 1L
      refused[[door]] <- refused[[door]] + last$refused
      if (!is.null(wrong)) {
        failures[[length(failures) + 1L]] <- data.frame(door = door, seed = seed, wrong = wrong)
      }
    }
    if (seed >= last_seed || proc.time()[["elapsed"]] >= end) break
    seed <- seed + 1L
  }
  failures <- do.call(rbind, failures)
  table <- data.frame(door = at, tried = tried, refused = refused, row.names = NULL)
  seeds <- split(failures$seed, factor(failures$door, at))
  table$failed <- vapply(seeds, function(x) length(unique(x)), 0L)
  list(table = table, failures = failures)
}
