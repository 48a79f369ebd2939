# A bar that appears when the work takes more than two seconds, though not in documents being
# knitted, nor where option `fallible.quiet` is set. `tick(done)` moves it; it ends with the caller,
# or at `close()`. What has no `total` may have a `format` that shows that it goes on. How long it
# takes is said once: not where it has been `announced`.
progress_bar <- function(name, total, format = NULL, announced = is.na(total),
                         .envir = parent.frame(), clock = elapsed) {
  if (isTRUE(getOption("knitr.in.progress")) || is_quiet()) {
    return(list(tick = no_tick, close = function() NULL))
  }
  bar <- cli::cli_progress_bar(
    name, total = total, format = format, auto_terminate = FALSE, .envir = .envir
  )
  announce <- announce_wait(name, total, announced, clock)
  list(
    tick = function(done = NULL) {
      if (!is.null(done)) announce(done)
      cli::cli_progress_update(set = done, id = bar)
    },
    close = function() cli::cli_progress_done(id = bar)
  )
}

no_tick <- function(done) NULL

elapsed <- function() proc.time()[["elapsed"]]

# Who must wait for more than a minute is told so once, after a second, also where no bar is seen.
announce_wait <- function(name, total, announced, clock) {
  state <- list2env(list(begun = clock(), announced = announced)) # nolint: object_usage.
  function(done) {
    past <- clock() - state$begun
    if (is.null(state$before)) { # what was done already when the work began
      state$before <- if (past < 1) done else 0
      if (past < 1) state$begun <- clock()
    }
    whole <- past * (total - state$before) / (done - state$before)
    if (!state$announced && past >= 1 && done > state$before && whole - past > 60) {
      state$announced <- TRUE
      inform_fallible("{name}: this takes about {rough_time(whole)}.")
    }
  }
}

rough_time <- function(seconds) {
  unit <- findInterval(seconds, c(0, 90, 5400))
  count <- signif(seconds / c(1, 60, 3600)[[unit]], 1L)
  paste(number(count), c("seconds", "minutes", "hours")[[unit]])
}
