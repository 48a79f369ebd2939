# Gold in estimate_accuracy(): `known_truth` and `gold_sample`. Where gold cases are a sample, the
# estimate is made from ratings alone, and what gold measures is put on top of it; where somebody
# picked them, they only enter the likelihood of the raters.

# `gold` of all functions here is what read_gold() gives, with `settings` (target, widen) and `kind`:
# "sample", or why it is none, "picked", "unsaid" or "unrated", or "likelihood" where the interval
# does not measure with it. NULL if nothing was given.
settle_gold <- function(known_truth, gold_sample, target, widen, x, call) {
  settings <- list(
    target = check_choice(target, c("population", "cases"), "target", call),
    widen = check_number(widen, "widen", 0, 1e6, call = call)
  )
  if (is.null(known_truth) || isFALSE(known_truth)) {
    check_no_sample(gold_sample, call)
    return(NULL)
  }
  gold <- read_gold(known_truth, gold_sample, x, call)
  gold$settings <- settings
  gold$kind <- gold_kind(gold, x)
  gold
}

check_no_sample <- function(gold_sample, call) {
  if (!is.null(gold_sample)) {
    abort_fallible("argument", c(
      "{.arg gold_sample} says how the cases of {.arg known_truth} were chosen, which is not given.",
      "i" = "{.code known_truth = TRUE} takes the truth that {.arg x} holds."
    ), arg = "known_truth", call = call)
  }
}

gold_kind <- function(gold, x) {
  if (length(gold$case) == 0L || is_sample(gold, x)) {
    return("sample")
  }
  switch(gold$sample, random = "unrated", given = "picked", gold$sample)
}

gold_measures <- function(gold) identical(gold$kind, "sample")

# `gold` as it enters with an interval: those that do not measure with it leave it to the likelihood
# of the raters.
gold_for <- function(interval, gold) {
  record <- accuracy_intervals()[[interval]]
  if (!is.null(gold) && is.null(record$gold)) gold$kind <- "likelihood"
  gold
}

# See pair_misfit().
lack_of_sample <- function(interval, gold) {
  one <- length(gold$case) == 1L
  cases <- paste("The", count_noun(length(gold$case), "case"), "with known truth")
  kind <- gold$kind %||% "none"
  list(arg = "interval", message = c(
    paste0("A ", interval$words, " needs a sample of cases whose truth is known."),
    "x" = switch(kind,
      none = "{.arg known_truth} is not given.",
      picked = paste(cases, if (one) "was" else "were", "picked by hand."),
      unsaid = paste0(
        "Nothing is said of how the ", sub("^The ", "", cases), if (one) " was" else " were",
        " chosen."
      ),
      unrated = sub("^The", "No rater saw any of the", paste0(cases, "."))
    ),
    "i" = switch(kind,
      none = "Give {.arg known_truth} and {.arg gold_sample}, or use
              {.code interval = \"robust\"}.",
      picked = "Use {.code interval = \"robust\"}.",
      unsaid = "Write {.code gold_sample = \"random\"} for a random sample, or give the probability
                with which each case was chosen.",
      unrated = "Give the probability with which each case was chosen, if it is known."
    )
  ))
}

# The gold among some cases of a panel, `own`, which make up `part`. Where all of it is on cases that
# no rater saw it is no sample of the others, and as good as none.
gold_among <- function(gold, own, part) {
  if (is.null(gold)) {
    return(NULL)
  }
  at <- match(gold$case, own)
  here <- !is.na(at)
  gold$case <- at[here]
  gold$truth <- gold$truth[here]
  gold$probability <- gold$probability[here]
  if (gold_measures(gold) && gold_kind(gold, part) != "sample") {
    gold["case"] <- list(integer())
    gold["truth"] <- list(integer())
    gold["probability"] <- list(gold$probability[0L])
  }
  gold
}

# What fit_raters() is to know of gold that measures nothing; NULL for nothing.
truth_for_fit <- function(gold, x) {
  if (length(gold$case) > 0L && !gold_measures(gold)) gold_table(gold, x)
}

gold_table <- function(gold, x) {
  out <- tibble::tibble(case = x$cases[gold$case], truth = x$categories[gold$truth])
  if (!is.null(gold$probability)) out$probability <- gold$probability
  out
}

# A fit to ratings alone, if the truth that it knows is what is to measure now.
fit_without_truth <- function(fit, known_truth, call) {
  if (!any(known_patterns(fit))) {
    return(fit)
  }
  if (!identical(known_truth, fit$given$truth)) {
    abort_fallible("argument", c(
      "{.arg x} is a fit that knows the truth of cases already.",
      "i" = "Leave out {.arg known_truth}, or give all known cases to {.fun estimate_accuracy},
             with ratings or with a fit that knows none."
    ), arg = "known_truth", call = call)
  }
  fit_raters(fit$x[], fit$model, known_raters = fit$given$raters)
}
