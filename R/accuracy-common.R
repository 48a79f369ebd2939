# What is assumed of errors that systems and raters have in common: `common` of estimate_accuracy().
# The mathematics is in src/core/accuracy/common.hpp.

common_words <- c("typical", "none", "all")

# As given: one of the words or a share, NULL if nothing is stated.
check_common <- function(common, method, call) {
  if (is.null(common)) {
    return(NULL)
  }
  if (is.null(method$common)) {
    abort_argument("common",
      "{.code method = \"{method$id}\"} assumes what it assumes; {.arg common} is not for it.",
      i = "Methods with {.arg common}: {.val {names(with_common())}}.", call = call)
  }
  if (is.character(common)) {
    return(check_choice(common, common_words, "common", call))
  }
  check_number(common, "common", 0, 1, call = call)
}

with_common <- function() Filter(function(method) !is.null(method$common), accuracy_methods())

common_of <- function(options) options$common %||% accuracy_methods()[[options$method]]$common

# Has somebody said how much is in common? Then intervals tell what follows from that.
is_stated <- function(options) !is.null(options$common) && options$common != common_words[[1L]]

# Must the average be asked how much is in common?
asks_average <- function(options) identical(common_of(options), common_words[[1L]])

# The share of the distance that is taken back, for each system; `typical` is that of the average.
taken_back <- function(options, typical) {
  common <- core_common(options)
  if (is.character(common)) typical else rep(common %||% 0, length(typical))
}

# From the independent end of the range the share `back` of the way to the shared one; exactly the
# independent end where nothing is taken back.
between_ends <- function(independent, shared, back) {
  back <- rep_len(back, length(independent))
  independent - ifelse(back == 0, 0, back * (independent - shared))
}

takes_back <- function(back) any(back != 0, na.rm = TRUE) # NA has no estimate

# What was assumed, once for all systems, and how much of the range was taken back for it.
common_note <- function(x) {
  common <- common_of(x$options)
  share <- x$details$common[!is.na(x$table$estimate)]
  if (is.null(common) || length(share) == 0L || all(is.na(share))) {
    return(NULL)
  }
  if (common == common_words[[1L]] && max(share, na.rm = TRUE) == 0) {
    return(paste(
      "Assumed: errors in common as panels like this typically have them; since the ratings show",
      "no sign of any, nothing was taken back of what independence gives."
    ))
  }
  assumed <- switch(as.character(common),
    typical = "errors in common as panels like this typically have them",
    none = "systems err independently of the raters",
    all = "systems err where the raters err",
    "errors in common as stated"
  )
  paste0("Assumed: ", assumed, "; ", share_words(share), ". Ratings cannot test this.")
}

share_words <- function(share) {
  if (max(share, na.rm = TRUE) == 0) {
    return("nothing was taken back of what independence gives")
  }
  said <- unique(paste0(round(100 * range(share, na.rm = TRUE)), "%"))
  paste(
    paste(said, collapse = " to "),
    "of the way from errors of their own to errors in common was taken back"
  )
}

# The same for a paper.
explain_common <- function(estimate) {
  common <- as.character(common_of(estimate$options))
  share <- range(estimate$details$common, na.rm = TRUE)
  moved <- paste(unique(whole_percent(share)), collapse = " to ")
  switch(common,
    typical = paste0(
      "These models take errors to be independent given the truth; since raters and systems tend ",
      "to err on the same cases, the average was moved towards the accuracy that the system has ",
      "if it errs where raters err (the mean posterior probability of its answers under models of ",
      "the raters alone), by a share that grows with the evidence for unequal cases and raters, ",
      "and is smaller the more categories there are (here ", moved, " of the way)."
    ),
    none = "Errors of system and raters are taken to be independent given the truth.",
    paste0(
      "It was assumed that errors are shared: the estimate was moved ", moved, " of the way to ",
      "the accuracy that the system has if it errs where the raters err."
    )
  )
}
