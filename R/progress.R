# A bar that appears when the work takes more than two seconds, though not in documents being
# knitted, nor where option `fallible.quiet` is set. `tick(done)` moves it; it ends with the caller,
# or at `close()`. What has no `total` may have a `format` that shows that it goes on.
progress_bar <- function(name, total, format = NULL, .envir = parent.frame()) {
  if (isTRUE(getOption("knitr.in.progress")) || is_quiet()) {
    return(list(tick = no_tick, close = function() NULL))
  }
  bar <- cli::cli_progress_bar(
    name, total = total, format = format, auto_terminate = FALSE, .envir = .envir
  )
  list(
    tick = function(done = NULL) cli::cli_progress_update(set = done, id = bar),
    close = function() cli::cli_progress_done(id = bar)
  )
}

no_tick <- function(done) NULL

elapsed <- function() proc.time()[["elapsed"]]
