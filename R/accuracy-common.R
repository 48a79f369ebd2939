# What is assumed of errors that systems and raters share: `common` of estimate_accuracy().
# The mathematics is in src/core/accuracy/common.hpp.

common_words <- c("typical", "none", "all")

# As given: one of the words or a share, NULL if nothing is stated.
check_common <- function(common, method) {
  if (is.null(common)) return(NULL)
  abort_argument_if(is.null(method$common), "common",
    "{.code method = \"{method$id}\"} has no {.arg common}: its assumption is fixed.",
    i = "Methods with {.arg common}: {.val {ids_with(\"common\", accuracy_methods())}}.")
  if (is.character(common)) return(check_choice(common, common_words, "common"))
  check_number(common, "common", 0, 1)
}

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
# independent end where nothing is corrected.
between_ends <- function(independent, shared, back) {
  back <- rep_len(back, length(independent))
  independent - ifelse(back == 0, 0, back * (independent - shared))
}

is_corrected <- function(back) any(back != 0, na.rm = TRUE) # NA has no estimate

# What was assumed of shared errors, once for all systems.
common_note <- function(x) {
  common <- common_of(x$options)
  share <- x$details$common[!is.na(x$table$estimate)]
  if (is.null(common) || all(is.na(share))) return(NULL)
  if (asks_average(x$options) && max(share, na.rm = TRUE) == 0) {
    return(if (panel_kind(x) == "machines") {
      "Assumed: independent errors; ratings cannot test this."
    } else {
      "Assumed: independent errors; ratings show no sign of shared ones, nor rule them out."
    })
  }
  assumed <- switch(as.character(common),
    none = "independent errors", all = "all errors shared with the raters",
    paste0(if (is.character(common)) "typical ", "shared errors, ", moved_words(share),
      " of the way")
  )
  paste0("Assumed: ", assumed, "; ratings cannot test this.")
}

moved_words <- function(share) {
  paste(unique(whole_percent(range(share, na.rm = TRUE))), collapse = " to ")
}

# The same for a paper.
explain_common <- function(estimate) {
  share <- estimate$details$common
  of <- if (asks_average(estimate$options) && max(share, na.rm = TRUE) == 0) "no sign" else
    as.character(common_of(estimate$options))
  words <- switch(of,
    `no sign` = "These models take errors to be independent given the truth; the ratings show no
      sign of shared errors, nor rule them out, so the estimate is the average as it stands.",
    typical = "These models take errors to be independent given the truth; since raters and systems
      tend to err on the same cases, the average was moved towards the accuracy that the system has
      if it shares the raters' errors (the mean posterior probability of its answers under models
      of the raters alone), by a share that grows with the evidence for unequal cases and raters,
      and is smaller the more categories there are (here {moved} of the way).",
    none = "Errors of system and raters are taken to be independent given the truth.",
    "It was assumed that errors are shared: the estimate was moved {moved} of the way to the
      accuracy that the system has if it errs where the raters err."
  )
  sub("{moved}", moved_words(share), words, fixed = TRUE)
}

# What a record says to readers of a paper: `explain` with what is in braces filled in.
explain_estimate <- function(record, estimate) {
  words <- record$explain
  if (is.function(words)) words <- words(estimate)
  fields <- list(
    common = explain_common, model = function(estimate) format(estimate$fit$model),
    interval = function(estimate) interval_title(estimate$options$conf_level)
  )
  for (field in names(fields)) {
    mark <- paste0("{", field, "}")
    if (any(grepl(mark, words, fixed = TRUE))) {
      words <- sub(mark, fields[[field]](estimate), words, fixed = TRUE)
    }
  }
  gsub("\\s+", " ", words)
}
