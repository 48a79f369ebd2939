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
  begun <- clock()
  told <- is.na(total)
  before <- NULL # what was done already when the work began
  function(done) {
    if (told || is.null(done)) {
      return(invisible())
    }
    if (is.null(before)) {
      early <- clock() - begun < 1
      before <<- if (early) done else 0
      if (early) begun <<- clock()
    }
    past <- clock() - begun
    whole <- past * (total - before) / (done - before)
    if (past >= 1 && done > before && whole - past > 60) {
      told <<- TRUE
      inform_fallible("{name}: this takes about {wait_in_words(whole)}.")
    }
  }
}

wait_in_words <- function(seconds) {
  minutes <- seconds / 60
  if (minutes < 90) {
    paste(max(round(minutes), 1), if (minutes < 1.5) "minute" else "minutes")
  } else {
    paste(round(minutes / 60), "hours")
  }
}
