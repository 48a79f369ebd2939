# Intervals that gold cases measure; without gold cases of a system, robust ones. See
# gold-interval.R, gold-combined.R and gold-sequence.R.

# `share` and `difference` make intervals of what gold says (`x`); besides they may ask for what
# ratings say `alone`, and for settings.
gold_interval <- function(id, share, difference, note, explained, anytime = FALSE) {
  asked <- function(make) {
    function(x, alone, settings) {
      known <- c(list(x = x, alone = alone), settings)
      do.call(make, known[names(formals(make))])
    }
  }
  new_interval(
    id,
    words = paste(id, "interval"), average = TRUE, hidden = TRUE, replicates = 200L,
    delta = TRUE,
    uncounted = "so gold cases are not a sample of cases and are not used",
    find = function(draft, table) robust_interval(draft, table), gold = asked(share),
    difference = asked(difference), anytime = anytime,
    note = function(estimate) {
      paste0(note, "; ", gold_interval_words(estimate$gold$settings,
        if (!is.null(estimate$options$cluster)) count_gold_clusters(estimate),
        if (is_pass_rate(estimate)) "pass rate in the "))
    },
    explain = paste("On the cases with known truth the mean error of what ratings predict was
      measured, and the mean prediction over all cases corrected by it (prediction-powered
      inference, Angelopoulos et al. 2023). The {interval}", explained)
  )
}

interval_combined <- gold_interval(
  "combined", combined_interval, combined_difference,
  "gold cases with ratings, and ratings alone as far as gold cases do not contradict them",
  "takes the estimate from ratings alone as a prior, as far as gold cases do not contradict it."
)

interval_corrected <- gold_interval(
  "corrected", corrected_interval, difference_interval,
  "gold cases with ratings, valid whatever errors are shared",
  "is Wilson's, for as many cases as gold cases and ratings are worth; it holds whatever errors
    raters and systems share."
)

interval_anytime <- gold_interval(
  "anytime", sequence_interval, sequence_difference,
  "gold cases with ratings, valid after every batch of gold cases",
  "is a confidence sequence, which holds however often it is looked at as gold cases come in.",
  anytime = TRUE
)

gold_interval_words <- function(settings, clusters, what = NULL) {
  paste0(
    what %||% "accuracy in the ", settings$target,
    if (!is.null(clusters)) paste0("; gold in ", count_noun(clusters, "cluster"))
  )
}

count_gold_clusters <- function(estimate) {
  length(unique(estimate$options$cluster[estimate$gold$case]))
}
