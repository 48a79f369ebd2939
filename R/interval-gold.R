# Intervals that gold cases measure; without gold cases of a system, robust ones. See
# gold-interval.R, gold-combined.R and gold-sequence.R.

gold_interval <- function(id, gold, difference, note, anytime = FALSE) {
  new_interval(
    id,
    words = paste(id, "interval"), average = TRUE, hidden = TRUE, replicates = 200L,
    delta = TRUE,
    uncounted = "so gold cases are not a sample of cases and are not used",
    find = function(draft, table) robust_interval(draft, table), gold = gold,
    difference = difference, anytime = anytime,
    note = function(estimate) gold_interval_note(estimate, note)
  )
}

interval_combined <- gold_interval(
  "combined",
  function(x, alone, settings) {
    combined_interval(x, alone, settings$target, settings$conf_level, settings$widen)
  },
  function(x, alone, settings) {
    combined_difference(x, alone, settings$target, settings$conf_level, settings$widen)
  },
  "gold cases with ratings, and ratings alone as far as gold does not contradict them"
)

interval_corrected <- gold_interval(
  "corrected",
  function(x, alone, settings) corrected_interval(x, settings$target, settings$conf_level),
  function(x, alone, settings) difference_interval(x, settings$target, settings$conf_level),
  "gold cases with ratings, valid whatever errors are shared"
)

interval_anytime <- gold_interval(
  "anytime",
  function(x, alone, settings) sequence_interval(x, alone, settings$target, settings$conf_level),
  function(x, alone, settings) sequence_difference(x, settings$target, settings$conf_level),
  "gold cases with ratings, valid after every batch of gold cases",
  anytime = TRUE
)

gold_interval_note <- function(estimate, note) {
  settings <- estimate$gold$settings
  paste0(
    "Interval (", estimate$options$interval, "): ", note, "; accuracy in the ", settings$target,
    if (!is.null(estimate$options$cluster)) {
      paste0("; gold in ", count_noun(count_gold_clusters(estimate), "cluster"))
    }
  )
}

count_gold_clusters <- function(estimate) {
  length(unique(estimate$options$cluster[estimate$gold$case]))
}
