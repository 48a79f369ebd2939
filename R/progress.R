# A bar that appears when the work takes more than two seconds, though not in documents being
# knitted, nor where option `fallible.quiet` is set. `tick(done)` moves it; it ends with the caller,
# or at `close()`. What has no `total` may have a `format` that tells that it goes on.
progress_bar <- function(name, total, format = NULL, .envir = parent.frame(), clock = seconds) {
  if (isTRUE(getOption("knitr.in.progress")) || is_quiet(NULL)) {
    return(list(tick = no_tick, close = function() NULL))
  }
  bar <- cli::cli_progress_bar(
    name, total = total, format = format, auto_terminate = FALSE, .envir = .envir
  )
  announce <- announce_wait(name, total, clock)
  list(
    tick = function(done = NULL) {
      announce(done)
      cli::cli_progress_update(set = done, id = bar)
    },
    close = function() cli::cli_progress_done(id = bar)
  )
}

no_tick <- function(done) NULL

seconds <- function() proc.time()[["elapsed"]]

# Who must wait for more than a minute is told so, once, as soon as one can know: after a second,
# and where no bar can be seen too.
announce_wait <- function(name, total, clock) {
  state <- list2env(list(begun = clock(), told = is.na(total))) # nolint: object_usage.
  function(done) {
    if (state$told || is.null(done)) {
      return(invisible())
    }
    if (is.null(state$before)) { # what was done already when the work began
      early <- clock() - state$begun < 1
      state$before <- if (early) done else 0
      if (early) state$begun <- clock()
    }
    past <- clock() - state$begun
    whole <- past * (total - state$before) / (done - state$before)
    if (past >= 1 && done > state$before && whole - past > 60) {
      state$told <- TRUE
      inform_fallible("{name}: this takes about {count_noun(round(whole / 60), 'minute')}.")
    }
  }
}
