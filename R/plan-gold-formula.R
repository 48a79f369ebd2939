# Computes how wide an interval will be with a number of gold cases, before they are labelled. The
# quantity to measure is an accuracy, recall or precision of a system, or a difference of two
# accuracies. A pilot is a first sample of gold cases, which the estimate already contains. A
# pattern is a group of cases with the same ratings and answers.

# Predicts each quantity and the variances on which the number of gold cases depends. `predicted`:
# probabilities of categories, a result of predict_categories(). Returns a list with an element per
# system (one element for a difference). Each element is a list with these fields:
# * system: name of the system or of the pair
# * value: expected value of the quantity
# * variance: variance of a case
# * prediction: result of summarise_predictions() for predictions from ratings
# * explained: share of the variance that ratings explain
# * share: share of cases whose labels are informative. For recall these are the cases of the true
#   category. For a difference these are the cases on which the answers differ
# * spread: standard deviation of a label, by pattern; NA for patterns that need no label
# * from_ratings: estimate from ratings only, or NULL
# * hardest: the possible value of the quantity that needs most gold cases
# * labelled: number of gold cases in the estimate
# * design: design effect of clusters on a mean of gold cases without predictions; 1 without
#   clusters
# * at_hand: design effect of clusters on the mean of all cases; 1 without clusters
# * p.value: p-value of the test whether gold cases contradict the estimate from ratings. Missing
#   without a pilot
planned_quantities <- function(estimate, predicted, settings) {
  x <- estimate$fit$x
  category <- settings$category
  gold_cases <- as.integer(estimate$gold$case)
  systems <- settings$systems
  lapply(if (settings$of == "difference") list(systems) else systems, function(s) {
    quantity <- switch(settings$of,
      accuracy = foresee_accuracy(x, predicted, s, estimate),
      difference = foresee_difference(x, predicted, s),
      recall = foresee_recall(x, predicted[, category], s, category),
      precision = foresee_share(x, predicted[, category], pattern_answers(x)[, s] == category)
    )
    quantity$system <- paste(x$systems[s], collapse = " - ")
    # The ratings of one rater do not show which share they explain, so the share is taken as 0.
    quantity$explained <- if (n_raters(x) == 1L) 0 else
      expected_explained_share(quantity$prediction, quantity$variance)
    needs_label <- !is.na(quantity$spread[x$index[gold_cases]])
    quantity$labelled <- sum(weights_of_cases(x)[gold_cases][needs_label])
    pilot <- if (settings$of == "accuracy") extract_gold_accuracy(estimate$gold, s)
    quantity[c("design", "at_hand")] <- if (isTRUE(pilot$clusters >= min_clusters))
      pilot[c("design", "at_hand")] else list(1, 1)
    if (!is.null(pilot)) {
      quantity$value <- clip01(pilot$estimate)
      quantity$explained <- 1 - pilot$ratio
      quantity$p.value <- estimate$gold$details$p.value[[s]]
    }
    quantity
  })
}

# Returns the number of cases of each pattern that can become gold cases. These are cases with
# ratings, in patterns for which `is_answered` is TRUE.
planned_weight <- function(x, is_answered) pattern_cases(x) * (is_answered & is_rated_pattern(x))

# The functions foresee_...() predict a quantity of system number `s`. They return the fields
# `prediction`, `value`, `variance`, `share` and `spread` of planned_quantities(). The function
# foresee_accuracy() also returns `from_ratings` and `hardest`.
foresee_accuracy <- function(x, predicted, s, estimate) {
  answer <- pattern_answers(x)[, s]
  quantity <- foresee_share(x, predict_correctness(predicted, answer), answer > 0L)
  if (n_raters(x) > 1L) quantity$from_ratings <- estimates_from_ratings(estimate, s)
  possible_values <- quantity$value
  if (isFALSE(is.na(quantity$from_ratings$estimate))) {
    # Estimates of some methods may be above 1.
    quantity$value <- clip01(quantity$from_ratings$estimate)
    possible_values <- c(quantity$value, unlist(estimate$table[s, c("independent", "shared")]))
  }
  quantity$hardest <- clip01(possible_values[[which.min(abs(possible_values - 0.5))]])
  quantity
}

# Returns fields of planned_quantities() for the share of correct answers among the patterns for
# which `is_counted` is TRUE. `predicted`: predicted probability that the answer is correct, by
# pattern.
foresee_share <- function(x, predicted, is_counted) {
  weight <- planned_weight(x, is_counted)
  q <- fill_unrated(predicted, weight)
  prediction <- summarise_predictions(q, weight)
  list(
    prediction = prediction, value = prediction$mean,
    variance = bernoulli_variance(prediction$mean), share = 1,
    spread = replace(sqrt(bernoulli_variance(shrink_to_half(q))), weight == 0, NA)
  )
}

# Predicts the recall of a category. Recall is a ratio of two means, so its linear approximation is
# used. Cases with other truths have the value 0. Cases of the category have the value 1 - recall if
# the answer is correct, and -recall if it is wrong. The mean of these values is later divided by
# the share of the category. `predicted`: probability of the category, by pattern.
foresee_recall <- function(x, predicted, s, category) {
  answer <- x$patterns$answer[, s]
  weight <- planned_weight(x, answer > 0L)
  q <- fill_unrated(predicted, weight)
  answered_category <- answer == category
  share <- sum(weight * q) / sum(weight)
  rate <- sum(weight * q * answered_category) / sum(weight * q)
  list(
    prediction = summarise_predictions(q * (answered_category - rate), weight), value = rate,
    variance = bernoulli_variance(rate) * share, share = share, spread = replace(
      sqrt(shrink_to_half(q)) * abs(answered_category - rate), weight == 0, NA
    )
  )
}

# Predicts the difference of the accuracies of the two systems with numbers `s`.
foresee_difference <- function(x, predicted, s) {
  answer <- x$patterns$answer[, s]
  weight <- planned_weight(x, rowSums(answer > 0L) == 2)
  answers_differ <- answer[, 1L] != answer[, 2L]
  q <- fill_unrated(predict_correctness(predicted, answer), cbind(weight, weight))
  expected_difference <- answers_differ * (q[, 1L] - q[, 2L])
  prediction <- summarise_predictions(expected_difference, weight)
  one_right <- sum(weight * answers_differ * rowSums(q)) / prediction$cases
  spread <- sqrt(pmax(rowSums(shrink_to_half(q)) - expected_difference^2, 0))
  list(
    prediction = prediction, value = prediction$mean, variance = one_right - prediction$mean^2,
    share = sum(weight * answers_differ) / prediction$cases,
    # labels of other cases are not informative
    spread = replace(spread, weight == 0 | !answers_differ, NA)
  )
}

# ---- Half-widths --------------------------------------------------------------------------------

# Returns the squared standard error that is expected with `gold` gold cases, divided by the
# variance of a case. After labelling, relative_error_variance() computes it. `quantity`: an element
# of planned_quantities(). `target`: "population" or "cases".
planned_error_variance <- function(gold, quantity, target) {
  cases <- quantity$prediction$cases
  error <- (1 - quantity$explained) * (1 - gold / cases) / gold
  if (target == "cases") error else
    pmin(error + quantity$at_hand / cases, quantity$design / gold)
}

# Returns the expected half-widths of `"corrected"` intervals, for each number of gold cases in
# `gold`. Gold cases are drawn at random from the cases that can be used for the quantity.
corrected_half <- function(gold, quantity, settings) {
  error <- planned_error_variance(gold, quantity, settings$target)
  if (settings$of != "difference") return(wilson_half_width(
    quantity$value, quantity$share / error, normal_quantile(settings$conf_level)
  ))
  stats::qt((1 + settings$conf_level) / 2, pmax(gold - 1, 0.5)) * sqrt(quantity$variance * error)
}

# Returns the expected half-widths of `"combined"` intervals, which use the estimate from ratings as
# a prior, for each number of gold cases in `gold`. They are at most the half-widths of
# `"corrected"` intervals.
combined_half <- function(gold, quantity, settings) {
  value <- quantity$value
  cases <- quantity$prediction$cases
  case_variance <- max(bernoulli_variance(value), 1 / cases)
  error <- case_variance * planned_error_variance(gold, quantity, "cases")
  prior <- ratings_prior(quantity$from_ratings, gold, case_variance, cases, NULL, error)
  sampling <- if (settings$target == "population") quantity$at_hand * case_variance / cases else 0
  half_width <- function(variance) normal_quantile(settings$conf_level) * sqrt(variance + sampling)
  # Posterior weight of the flat part of the prior, if the gold estimate is equal to the estimate
  # from ratings.
  flat_density <- prior$vague * stats::dbeta(value, 0.5, 0.5)
  flat_density[!is.finite(flat_density)] <- 0
  normal_density <- (1 - prior$vague) * stats::dnorm(0, 0, sqrt(prior$sd^2 + error))
  flat_weight <- flat_density / (flat_density + normal_density)
  pmin(
    flat_weight * half_width(error) +
      (1 - flat_weight) * half_width(1 / (1 / error + 1 / prior$sd^2)),
    corrected_half(gold, quantity, settings)
  )
}

# Does this kind of interval use the estimate from ratings, unless gold cases contradict it?
uses_ratings_prior <- function(interval) isTRUE(gold_intervals[[interval]]$gold$believes)

# Returns a function that computes half-widths from numbers of gold cases.
planned_half_width <- function(interval, quantity, settings,
                               uses_ratings = uses_ratings_prior(interval)) {
  if (interval == "gold alone") quantity$explained <- 1 - quantity$design
  function(gold) (if (uses_ratings) combined_half else corrected_half)(gold, quantity, settings)
}

# Returns the number of gold cases needed for the half-width in `settings`. For combined intervals
# the number is at least `min_gold_to_contradict`, because fewer gold cases cannot contradict the
# ratings. `worst_case`: compute the number for the worst case of shared errors? The accuracy is
# then as near to one half as possible, and gold cases contradict the ratings.
planned_gold <- function(interval, quantity, settings, worst_case = FALSE) {
  cases <- quantity$prediction$cases
  if (worst_case) quantity$value <- quantity$hardest %||% quantity$value
  uses_ratings <- uses_ratings_prior(interval)
  half_width_of <- planned_half_width(interval, quantity, settings, uses_ratings && !worst_case)
  max(
    if (uses_ratings) min(min_gold_to_contradict, cases) else 1,
    fewest_cases(function(n) half_width_of(n) - settings$half_width, 1, cases)
  )
}

# Returns the smallest whole number n from `least` to `most` such that `excess` is at most 0 for n
# and all larger numbers. NA if there is none. `excess`: function of numbers of cases, such as the
# half-width minus the required half-width.
fewest_cases <- function(excess, least, most) {
  repeat {
    numbers <- unique(round(exp(seq(log(least), log(most), length.out = 300L))))
    last_failing <- max(0L, which(excess(numbers) > 0))
    if (last_failing == 0L) return(as.double(least))
    if (last_failing == length(numbers)) return(NA_real_)
    least <- numbers[[last_failing]]
    most <- numbers[[last_failing + 1L]]
    if (most - least <= 1) return(most)
  }
}

# ---- Tables -------------------------------------------------------------------------------------

# Returns the kinds of intervals in the plan. The combined interval is left out if there is no
# estimate from ratings, or if gold cases contradict this estimate.
planned_intervals <- function(quantity, settings) {
  has_prior <- isFALSE(is.na(quantity$from_ratings$std.error)) &&
    !isTRUE(quantity$p.value < 1 - settings$conf_level)
  c("gold alone", "corrected", if (has_prior) "combined")
}

# Returns the rows of tidy() for one quantity. The column `worth` is the number of labels without
# ratings that one label with ratings replaces. Without a pilot, it is a rough estimate with limits.
plan_gold_rows <- function(quantity, settings) {
  cases <- quantity$prediction$cases
  worth <- if (is.null(quantity$p.value)) {
    equivalent_labels(quantity$explained, settings$conf_level)
  } else {
    c(estimate = 1 / (1 - quantity$explained), conf.low = NA, conf.high = NA)
  }
  stack_rows(planned_intervals(quantity, settings), function(interval) {
    gold_needed <- function(limit, ...) {
      if (is.na(worth[[limit]])) return(NA_real_)
      quantity$explained <- 1 - 1 / worth[[limit]]
      settings$gold %||% planned_gold(interval, quantity, settings, ...)
    }
    rows <- list(
      gold = gold_needed("estimate"), lowest = gold_needed("conf.high"),
      highest = gold_needed("conf.low", worst_case = TRUE)
    )
    n_drawn <- number_to_draw(rows)
    # Only cases on which the answers differ are labelled for a difference.
    if (settings$of == "difference") n_drawn <- ceiling(n_drawn * quantity$share)
    half_width_of <- planned_half_width(interval, quantity, settings)
    # Labels without ratings are in clusters, too.
    shown_worth <- if (interval == "gold alone") worth^0 else worth * quantity$design
    reason <- if (is.na(rows$gold)) {
      lowest_half_width <- half_width_of(cases)
      paste0(
        "if all ", format_unpadded(cases), " cases are gold, the half-width is ",
        format_decimals(lowest_half_width),
        # Half-widths are proportional to 1 / sqrt(cases) if all cases are gold.
        if (settings$target == "population") sprintf("; about %s are needed",
          format_unpadded(ceiling(cases * (lowest_half_width / settings$half_width)^2)))
      )
    }
    columns_tibble(
      system = quantity$system, interval = interval, !!!rows,
      labelled = quantity$labelled, more = pmax(0, n_drawn - quantity$labelled),
      half_width = half_width_of(if (is.na(rows$gold)) cases else rows$gold),
      worth = shown_worth[["estimate"]],
      worth_lowest = shown_worth[["conf.low"]], worth_highest = shown_worth[["conf.high"]],
      cases = cases, reason = reason %||% NA_character_
    )
  })
}

# Returns a table of expected half-widths for numbers of gold cases from 5 to all cases, for plots.
gold_curve <- function(quantity, settings) {
  cases <- quantity$prediction$cases
  gold <- unique(round(exp(seq(log(min(5, cases)), log(cases), length.out = 60L))))
  stack_rows(planned_intervals(quantity, settings), function(interval) {
    half_width_of <- planned_half_width(interval, quantity, settings)
    tibble::tibble(
      system = quantity$system, interval = interval, gold = gold, half_width = half_width_of(gold)
    )
  })
}

# ---- Cases to label -----------------------------------------------------------------------------

# Returns the number of gold cases to draw. It is enough for the half-width even if errors are
# shared. If no number is enough with shared errors, it is the number for the estimated worth of
# ratings. `rows`: result of plan_gold_rows().
number_to_draw <- function(rows) ifelse(is.na(rows$highest), rows$gold, rows$highest)

# Draws the cases to label, for the system that needs most cases. Returns a list of two tables with
# the columns of case_rows() below:
# * new: the drawn cases. `probability` is the probability of being drawn in the pilot or now
# * labelled: the cases of the pilot, with the same probability
#
# `table`: result of plan_gold_rows() for all quantities.
choose_gold <- function(table, quantities, estimate, settings) {
  x <- estimate$fit$x
  n_new <- max(chosen_interval_rows(table, settings)$more)
  # Cases in a database are not in memory and cannot be drawn.
  if (is.na(n_new) || in_database(x)) {
    no_cases <- list(case = integer(), stratum = integer(), probability = double(),
      truth = character())
    return(list(new = no_cases, labelled = no_cases))
  }
  squared_spreads <- do.call(cbind, lapply(quantities, `[[`, "spread"))^2
  spread <- na_real(sqrt(rowMeans(squared_spreads, na.rm = TRUE)))
  labelled <- as.integer(estimate$gold$case)
  unlabelled_weight <- replace(weights_of_cases(x), labelled, 0)
  weight <- rowsum_codes(x$index, unlabelled_weight, n_patterns(x))
  pattern_sampling <- gold_probabilities(n_new, spread, weight, settings$choice)
  probability <- pattern_sampling$probability[x$index]
  stratum <- pattern_sampling$stratum[x$index]
  at <- which(probability > 0 & unlabelled_weight > 0)
  at <- at[draw_gold(probability[at], stratum[at])]
  if (length(labelled) > 0L) {
    pilot_prob <- pilot_probability(estimate$gold, x, spread)[x$index]
    probability <- 1 - (1 - pilot_prob) * (1 - probability)
  }
  columns <- columns_of_cases(x)
  case_rows <- function(at, truth) {
    rows <-
      list(case = x$cases[at], stratum = stratum[at], probability = probability[at], truth = truth)
    c(rows, lapply(columns[setdiff(names(columns), c(names(rows), part_columns))], `[`, at))
  }
  list(
    new = case_rows(at, rep(NA_character_, length(at))),
    labelled = case_rows(labelled, x$categories[estimate$gold$truth])
  )
}

# Returns the probability that a case of each pattern was drawn for the pilot. NA if it was not
# equal for all cases, and not equal for all cases of the stratum. `spread`: see
# planned_quantities().
pilot_probability <- function(gold, x, spread) {
  case_probability <- gold$probability %||% rep(length(gold$case) / nrow(x), length(gold$case))
  stratum <- rep(1L, n_patterns(x))
  if (diff(range(case_probability)) > 1e-9) {
    weight <- pattern_cases(x)
    is_eligible <- !is.na(spread) & weight > 0
    stratum[] <- NA
    stratum[is_eligible] <- spread_strata(spread[is_eligible], weight[is_eligible])
  }
  gold_stratum <- factor(stratum[x$index[gold$case]], seq_len(gold_strata))
  probability <- tapply(case_probability, gold_stratum, function(p) {
    if (diff(range(p)) < 1e-9) p[[1L]] else NA_real_
  })
  as.vector(probability)[stratum]
}
