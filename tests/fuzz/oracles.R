# Conditions of any call: it returns, or it stops with a condition of the package. Its result has no
# missing number without a reason.

# NULL, or what is wrong; `last$refused` is TRUE if the call was refused.
trial <- function(code) {
  wrong <- NULL
  last$refused <- last$outside <- FALSE
  note <- function(...) wrong <<- c(wrong, paste0(...))
  result <- withCallingHandlers(
    tryCatch(code(), fallible_error = function(e) told(e, note), fuzz_error = function(e) {
      last$refused <- TRUE # of a function that was given, which is the caller's
      NULL
    }, error = function(e) {
      note("error not ours: ", paste(class(e), collapse = "/"), ": ", conditionMessage(e))
      NULL
    }),
    warning = function(w) {
      if (!inherits(w, "fallible_warning")) note("warning not ours: ", conditionMessage(w))
      if (inherits(w, "fallible_warning_bootstrap")) last$outside <- TRUE
      tryInvokeRestart("muffleWarning")
    },
    message = function(m) tryInvokeRestart("muffleMessage")
  )
  if (is.null(wrong) && !is.null(result)) {
    wrong <- tryCatch(faults_of(result), error = function(e) {
      paste("a verb fails:", conditionMessage(e))
    })
  }
  wrong
}

last <- new.env()

# An error says something, and no braces of its template are left.
told <- function(e, note) {
  last$refused <- TRUE
  if (!nzchar(conditionMessage(e))) note("an error without words")
  NULL
}

faults_of <- function(result) {
  if (is.character(result)) {
    return(result) # a relation that does not hold, in words
  }
  for (verb in c("print", "format", "glance")) {
    utils::capture.output(do.call(verb, list(result)))
  }
  is_reported <- last$outside || "bootstrap" %in% intervals_of(result)
  faults_of_table(tidy(result), around = !is_reported)
}

# Percentiles of a bootstrap may leave its estimate; the help page says when, and a warning that.
intervals_of <- function(result) {
  if (inherits(result, "agreement")) {
    return(result$method)
  }
  unlist(lapply(c(list(result), unclass(result)), function(x) {
    options <- if (is.list(x)) x[["options"]]
    if (is.list(options)) options[["interval"]]
  }))
}

faults_of_table <- function(table, around) {
  numbers <- table[vapply(table, is.numeric, NA)]
  faults <- names(numbers)[vapply(numbers, function(x) any(is.nan(x)), NA)]
  faults <- if (length(faults)) paste("NaN in", toString(faults))
  if (around && all(c("estimate", "conf.low", "conf.high") %in% names(table))) {
    estimate <- pmin(table$estimate, 1) # unclipped ones may be above
    slack <- 1e-7 # where iterations end
    off <- !is.na(table$conf.low) &
      (estimate < table$conf.low - slack | estimate > table$conf.high + slack)
    if (any(off, na.rm = TRUE)) faults <- c(faults, "an interval leaves its estimate")
  }
  if (all(c("estimate", "reason") %in% names(table))) {
    silent <- is.na(table$estimate) & is.na(table$reason)
    if (any(silent)) faults <- c(faults, "NA without a reason")
  }
  faults
}

# A relation in words where two results differ by more than rounding or the end of an iteration.
same <- function(a, b, what, most = 1e-7) {
  if (is.null(a) || is.null(b)) {
    return(NULL) # iterations were stopped, with a warning
  }
  a <- unname(a)
  b <- unname(b)
  apart <- !identical(is.na(a), is.na(b)) || any(abs(a - b) > most, na.rm = TRUE)
  if (apart) {
    paste0(what, ": ", toString(signif(a, 7)), " and ", toString(signif(b, 7)))
  }
}
