# Intervals that gold cases measure; without gold cases of a system, robust ones. See
# gold-interval.R, gold-combined.R and gold-sequence.R.

gold_interval <- function(id, gold, difference, note, explained, anytime = FALSE) {
  new_interval(
    id,
    words = paste(id, "interval"), average = TRUE, hidden = TRUE, replicates = 200L,
    delta = TRUE,
    uncounted = "so gold cases are not a sample of cases and are not used",
    find = function(draft, table) robust_interval(draft, table), gold = gold,
    difference = difference, anytime = anytime,
    note = function(estimate) gold_interval_note(estimate, note),
    explain = function(estimate) {
      paste0(
        "On the cases with known truth the mean error of what ratings predict was measured, and ",
        "the mean prediction over all cases corrected by it (prediction-powered inference, ",
        "Angelopoulos et al. 2023). The ", interval_title(estimate$options$conf_level), " ",
        explained
      )
    }
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
  "gold cases with ratings, and ratings alone as far as gold cases do not contradict them",
  "takes the estimate from ratings alone as a prior, as far as gold cases do not contradict it."
)

interval_corrected <- gold_interval(
  "corrected",
  function(x, alone, settings) corrected_interval(x, settings$target, settings$conf_level),
  function(x, alone, settings) difference_interval(x, settings$target, settings$conf_level),
  "gold cases with ratings, valid whatever errors are shared",
  paste(
    "is Wilson's, for as many cases as gold cases and ratings are worth; it holds whatever errors",
    "raters and systems share."
  )
)

interval_anytime <- gold_interval(
  "anytime",
  function(x, alone, settings) sequence_interval(x, alone, settings$target, settings$conf_level),
  function(x, alone, settings) sequence_difference(x, settings$target, settings$conf_level),
  "gold cases with ratings, valid after every batch of gold cases",
  "is a confidence sequence, which holds however often it is looked at as gold cases come in.",
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
