# A bar that appears when the work takes more than two seconds, though not in documents being
# knitted, nor where option `fallible.quiet` is set. `tick(done)` moves it; it ends with the caller,
# or at `close()`.
progress_bar <- function(name, total, .envir = parent.frame()) {
  if (isTRUE(getOption("knitr.in.progress")) || is_quiet(NULL)) {
    return(list(tick = function(done) NULL, close = function() NULL))
  }
  bar <- cli::cli_progress_bar(name, total = total, auto_terminate = FALSE, .envir = .envir)
  list(
    tick = function(done) cli::cli_progress_update(set = done, id = bar),
    close = function() cli::cli_progress_done(id = bar)
  )
}
