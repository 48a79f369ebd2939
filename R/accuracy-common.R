# What is assumed of errors that systems and raters share: `common` of estimate_accuracy().
# The mathematics is in src/core/accuracy/common.hpp.

common_words <- c("typical", "none", "all")

# As given: one of the words or a share, NULL if nothing is stated.
check_common <- function(common, method) {
  if (is.null(common)) return(NULL)
  abort_argument_if(is.null(method$common), "common",
    "{.code method = \"{method$id}\"} has no {.arg common}: its assumption is fixed.",
    i = "Methods with {.arg common}: {.val {names(with_common())}}.")
  if (is.character(common)) return(check_choice(common, common_words, "common"))
  check_number(common, "common", 0, 1)
}

with_common <- function() Filter(function(method) !is.null(method$common), accuracy_methods())

common_of <- function(options) options$common %||% accuracy_methods()[[options$method]]$common

# Is the share of shared errors stated? Then intervals say what follows from that.
is_stated <- function(options) !is.null(options$common) && options$common != common_words[[1L]]

# Must the average be asked how many errors are shared?
asks_average <- function(options) identical(common_of(options), common_words[[1L]])

# The correction, a share of the distance between the ends of the range, for each system; `typical`
# is that of the average.
correction_share <- function(options, typical) {
  common <- core_common(options)
  if (is.character(common)) typical else rep(common %||% 0, length(typical))
}

# From the independent end of the range the share `back` of the way to the shared one; exactly the
# independent end where nothing is taken back.
between_ends <- function(independent, shared, back) {
  back <- rep_len(back, length(independent))
  independent - ifelse(back == 0, 0, back * (independent - shared))
}

is_corrected <- function(back) any(back != 0, na.rm = TRUE) # NA has no estimate

# What was assumed of shared errors, once for all systems.
common_note <- function(x) {
  common <- common_of(x$options)
  share <- x$details$common[!is.na(x$table$estimate)]
  if (is.null(common) || length(share) == 0L || all(is.na(share))) return(NULL)
  if (common == common_words[[1L]] && max(share, na.rm = TRUE) == 0) {
    return(if (panel_kind(x) == "machines") {
      "Assumed: independent errors; ratings cannot test this."
    } else {
      "Assumed: independent errors; ratings show no sign of shared ones, nor rule them out."
    })
  }
  words <- paste(unique(paste0(round(100 * range(share, na.rm = TRUE)), "%")), collapse = " to ")
  assumed <- switch(as.character(common),
    typical = paste0("typical shared errors, ", words, " of the way"), none = "independent errors",
    all = "all errors shared with the raters", paste0("shared errors, ", words, " of the way")
  )
  paste0("Assumed: ", assumed, "; ratings cannot test this.")
}

# The same for a paper.
explain_common <- function(estimate) {
  common <- as.character(common_of(estimate$options))
  share <- range(estimate$details$common, na.rm = TRUE)
  moved <- paste(unique(whole_percent(share)), collapse = " to ")
  switch(common,
    typical = if (max(share) == 0) paste(
      "These models take errors to be independent given the truth; the ratings show no sign of",
      "shared errors, nor rule them out, so the estimate is the average as it stands."
    ) else paste0(
      "These models take errors to be independent given the truth; since raters and systems tend ",
      "to err on the same cases, the average was moved towards the accuracy that the system has ",
      "if it shares the raters' errors (the mean posterior probability of its answers under ",
      "models of the raters alone), by a share that grows with the evidence for unequal cases ",
      "and raters, ",
      "and is smaller the more categories there are (here ", moved, " of the way)."
    ),
    none = "Errors of system and raters are taken to be independent given the truth.",
    paste0(
      "It was assumed that errors are shared: the estimate was moved ", moved, " of the way to ",
      "the accuracy that the system has if it errs where the raters err."
    )
  )
}
