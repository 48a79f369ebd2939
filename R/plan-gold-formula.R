# Computes the expected width of an interval with a given number of gold cases, before these cases
# are labelled. The quantity to measure is the accuracy, recall or precision of a system, or the
# difference between two accuracies. A pilot is a first sample of gold cases, which the estimate
# already contains. A pattern is a group of cases with the same ratings and answers.

# Predicts the quantities to measure, and the variances that determine the number of gold cases.
# `predicted_probabilities`: probabilities of categories, a result of predict_categories(). Returns
# a list with an element per system (one element for a difference). The fields of an element are:
# * system: name of the system or of the pair
# * value: expected value of the quantity
# * variance: variance of the contribution of one case to the quantity
# * prediction: result of summarise_predictions() for predictions from ratings
# * explained: share of `variance` that ratings explain
# * share: share of cases whose labels are informative. For recall these are the cases of the true
#   category. For a difference these are the cases on which the answers differ
# * spread: standard deviation of the contribution of one case to the quantity, given the ratings of
#   the case. A vector with an element per pattern; NA for patterns that need no label
# * from_ratings: estimate from ratings only, or NULL
# * value_nearest_half: for an accuracy, the value nearest to 1/2 that shared errors allow
# * labelled: number of gold cases in the estimate that are informative for the quantity
# * design, full_design: factors by which clusters increase the variance of the mean of gold cases
#   (without ratings) and of the mean of all cases; 1 without clusters
# * uses_clusters: were `design` and `full_design` estimated?
# * p.value: p-value of the test whether gold cases contradict the estimate from ratings. Missing
#   without a pilot
planned_quantities <- function(estimate, predicted_probabilities, settings) {
  x <- estimate$fit$x
  category_number <- settings$category
  gold_cases <- as.integer(estimate$gold$case)
  gold_patterns <- x$index[gold_cases]
  systems <- settings$systems
  lapply(if (settings$of == "difference") list(systems) else systems, function(system_number) {
    quantity <- switch(settings$of,
      accuracy = predict_accuracy(
        x, gold_patterns, predicted_probabilities, system_number, estimate
      ),
      difference = predict_difference(x, gold_patterns, predicted_probabilities, system_number),
      recall = predict_recall(
        x, gold_patterns, predicted_probabilities[, category_number], system_number, category_number
      ),
      precision = predict_share(
        x, gold_patterns, predicted_probabilities[, category_number],
        pattern_answers(x)[, system_number] == category_number
      )
    )
    quantity$system <- paste(x$systems[system_number], collapse = " - ")
    # For one rater, the share of variance that ratings explain is unknown, and is assumed to be 0.
    quantity$explained <- if (n_raters(x) == 1L) 0 else
      expected_explained_share(quantity$prediction, quantity$variance)
    needs_label <- !is.na(quantity$spread[gold_patterns])
    quantity$labelled <- sum(weights_of_cases(x)[gold_cases][needs_label])
    pilot_accuracy <- if (settings$of == "accuracy") extract_pilot(estimate$gold, system_number)
    quantity$uses_clusters <- isTRUE(pilot_accuracy$clusters >= min_clusters)
    quantity[c("design", "full_design")] <- if (quantity$uses_clusters)
      pilot_accuracy[c("design", "full_design")] else list(1, 1)
    if (!is.null(pilot_accuracy)) {
      quantity$value <- clip01(pilot_accuracy$estimate)
      quantity$explained <- 1 - pilot_accuracy$ratio
      quantity$p.value <- estimate$gold$details$p.value[[system_number]]
    }
    quantity
  })
}

# Returns the number of cases of each pattern that can become gold cases. The number is 0 for
# patterns for which `is_answered` is FALSE. If all gold cases have ratings, the number is also 0
# for patterns without ratings. `gold_patterns`: pattern of each gold case.
planned_weight <- function(x, gold_patterns, is_answered) {
  pattern_cases(x) * drop_unrated(as.matrix(is_answered), is_rated_pattern(x), gold_patterns)[, 1L]
}

# The functions below predict a quantity of system number `s`: predict_accuracy(), predict_share(),
# predict_recall() and predict_difference(). They return the fields `prediction`, `value`,
# `variance`, `share` and `spread` of planned_quantities(). predict_accuracy() also returns
# `from_ratings` and `value_nearest_half`.
predict_accuracy <- function(x, gold_patterns, predicted_probabilities, s, estimate) {
  answer <- pattern_answers(x)[, s]
  quantity <- predict_share(
    x, gold_patterns, predict_correctness(predicted_probabilities, answer), answer > 0L
  )
  if (n_raters(x) > 1L) quantity$from_ratings <- estimates_from_ratings(estimate, s)
  possible_values <- quantity$value
  if (isFALSE(is.na(quantity$from_ratings$estimate))) {
    # Some methods can return estimates above 1, which are replaced by 1.
    quantity$value <- clip01(quantity$from_ratings$estimate)
    possible_values <- c(quantity$value, unlist(estimate$table[s, c("independent", "shared")]))
  }
  quantity$value_nearest_half <- clip01(possible_values[[which.min(abs(possible_values - 0.5))]])
  quantity
}

# Returns fields of planned_quantities() for the share of correct answers among the patterns for
# which `is_counted` is TRUE. `predicted_probabilities`: predicted probability that the answer is
# correct, by pattern.
predict_share <- function(x, gold_patterns, predicted_probabilities, is_counted) {
  weight <- planned_weight(x, gold_patterns, is_counted)
  predictions <- fill_unrated(predicted_probabilities, weight)
  prediction_summary <- summarise_predictions(predictions, weight)
  list(
    prediction = prediction_summary, value = prediction_summary$mean,
    variance = bernoulli_variance(prediction_summary$mean), share = 1,
    spread = replace(sqrt(bernoulli_variance(shrink_to_half(predictions))), weight == 0, NA)
  )
}

# Predicts the recall of a category. Recall is a ratio of two means, so its linear approximation is
# used. A case of the category contributes 1 - recall if the answer is correct, and -recall if it is
# wrong. Other cases contribute 0. `predicted_probabilities`: probability of the category, by
# pattern.
predict_recall <- function(x, gold_patterns, predicted_probabilities, s, category) {
  answer <- x$patterns$answer[, s]
  weight <- planned_weight(x, gold_patterns, answer > 0L)
  predictions <- fill_unrated(predicted_probabilities, weight)
  answer_is_category <- answer == category
  category_share <- sum(weight * predictions) / sum(weight)
  recall <- sum(weight * predictions * answer_is_category) / sum(weight * predictions)
  list(
    prediction = summarise_predictions(predictions * (answer_is_category - recall), weight),
    value = recall, variance = bernoulli_variance(recall) * category_share,
    share = category_share, spread = replace(
      sqrt(shrink_to_half(predictions)) * abs(answer_is_category - recall), weight == 0, NA
    )
  )
}

# Predicts the difference of the accuracies of the two systems with numbers `s`.
predict_difference <- function(x, gold_patterns, predicted_probabilities, s) {
  answer <- x$patterns$answer[, s]
  weight <- planned_weight(x, gold_patterns, rowSums(answer > 0L) == 2)
  answers_differ <- answer[, 1L] != answer[, 2L]
  predictions <- fill_unrated(
    predict_correctness(predicted_probabilities, answer), cbind(weight, weight)
  )
  expected_difference <- answers_differ * (predictions[, 1L] - predictions[, 2L])
  prediction_summary <- summarise_predictions(expected_difference, weight)
  one_right_share <- sum(weight * answers_differ * rowSums(predictions)) / prediction_summary$cases
  spread <- sqrt(pmax(rowSums(shrink_to_half(predictions)) - expected_difference^2, 0))
  list(
    prediction = prediction_summary, value = prediction_summary$mean,
    variance = one_right_share - prediction_summary$mean^2,
    share = sum(weight * answers_differ) / prediction_summary$cases,
    # Labels of cases with equal answers are not informative.
    spread = replace(spread, weight == 0 | !answers_differ, NA)
  )
}

# ---- Half-widths --------------------------------------------------------------------------------

# Returns the squared standard error that is expected with `gold` gold cases, divided by
# `quantity$variance`. After labelling, relative_error_variance() computes the same number from the
# gold cases. `quantity`: an element of planned_quantities(). `target`: "population" or "cases".
planned_error_variance <- function(gold, quantity, target) {
  n_cases <- quantity$prediction$cases
  error_variance <- (1 - quantity$explained) * (1 - gold / n_cases) / gold
  if (target == "cases") error_variance else pmin(
    error_variance + quantity$full_design / n_cases,
    planned_design_effect(gold, quantity, n_cases) / gold
  )
}

# Returns the expected half-widths of `"corrected"` intervals, for each number of gold cases in
# `gold`. Gold cases are drawn at random from the cases that can be used for the quantity.
corrected_half_width <- function(gold, quantity, settings) {
  error_variance <- planned_error_variance(gold, quantity, settings$target)
  if (settings$of != "difference") return(wilson_half_width(
    quantity$value, quantity$share / error_variance, normal_quantile(settings$conf_level)
  ))
  qt((1 + settings$conf_level) / 2, pmax(gold - 1, 0.5)) *
    sqrt(quantity$variance * error_variance)
}

# Returns the expected half-widths of `"combined"` intervals, which use the estimate from ratings as
# a prior, for each number of gold cases in `gold`. They are at most the half-widths of
# `"corrected"` intervals.
combined_half_width <- function(gold, quantity, settings) {
  value <- quantity$value
  n_cases <- quantity$prediction$cases
  case_variance <- max(bernoulli_variance(value), 1 / n_cases)
  error_variance <- case_variance * planned_error_variance(gold, quantity, "cases")
  prior <- ratings_prior(quantity$from_ratings, gold, case_variance, n_cases, NULL, error_variance)
  sampling_variance <- if (settings$target == "population")
    quantity$full_design * case_variance / n_cases else 0
  half_width_of_variance <- function(variance) {
    normal_quantile(settings$conf_level) * sqrt(variance + sampling_variance)
  }
  # The prior is a mixture of a flat component, Beta(1/2, 1/2), and a normal component around the
  # estimate from ratings. The densities of both components are computed as if the estimate from
  # gold cases were equal to the estimate from ratings.
  flat_density <- prior$vague * stats::dbeta(value, 0.5, 0.5)
  flat_density[!is.finite(flat_density)] <- 0
  normal_density <- (1 - prior$vague) * dnorm(0, 0, sqrt(prior$sd^2 + error_variance))
  # Posterior weight of the flat component.
  flat_weight <- flat_density / (flat_density + normal_density)
  pmin(
    flat_weight * half_width_of_variance(error_variance) +
      (1 - flat_weight) * half_width_of_variance(1 / (1 / error_variance + 1 / prior$sd^2)),
    corrected_half_width(gold, quantity, settings)
  )
}

# Does this kind of interval use the estimate from ratings, unless gold cases contradict it?
uses_ratings_prior <- function(interval) isTRUE(gold_intervals[[interval]]$gold$uses_prior)

# Returns a function that computes the expected half-widths of intervals. Its argument is a vector
# of numbers of gold cases.
new_half_width_function <- function(interval, quantity, settings,
                                    uses_ratings = uses_ratings_prior(interval)) {
  if (interval == "gold alone") quantity$explained <- 1 - quantity$design
  function(gold) {
    (if (uses_ratings) combined_half_width else corrected_half_width)(gold, quantity, settings)
  }
}

# Returns the number of gold cases needed for the half-width in `settings`. `worst_case`: assume the
# worst case of shared errors? The accuracy is then as near to one half as possible, and the
# interval does not use the estimate from ratings.
n_gold_needed <- function(interval, quantity, settings, worst_case = FALSE) {
  n_cases <- quantity$prediction$cases
  # Values near 1/2 need most gold cases.
  if (worst_case) quantity$value <- quantity$value_nearest_half %||% quantity$value
  uses_ratings <- uses_ratings_prior(interval)
  compute_half_width <-
    new_half_width_function(interval, quantity, settings, uses_ratings && !worst_case)
  max(
    # With fewer gold cases, the interval is mostly determined by ratings, even if these are wrong.
    if (uses_ratings) min(min_gold_to_contradict, n_cases) else 1,
    find_smallest_n(function(n) compute_half_width(n) - settings$half_width, 1, n_cases)
  )
}

# Returns the smallest whole number n from `min_n` to `max_n` such that `excess` is at most 0 for n
# and all larger numbers up to `max_n`. NA if there is no such number. `excess`: function of numbers
# of cases, such as the half-width minus the required half-width.
find_smallest_n <- function(excess, min_n, max_n) {
  repeat {
    tried_numbers <- unique(round(exp(seq(log(min_n), log(max_n), length.out = 300L))))
    last_failing_index <- max(0L, which(excess(tried_numbers) > 0))
    if (last_failing_index == 0L) return(as.double(min_n))
    if (last_failing_index == length(tried_numbers)) return(NA_real_)
    min_n <- tried_numbers[[last_failing_index]]
    max_n <- tried_numbers[[last_failing_index + 1L]]
    if (max_n - min_n <= 1) return(max_n)
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
# ratings that one label with ratings replaces.
plan_gold_rows <- function(quantity, settings) {
  n_cases <- quantity$prediction$cases
  # With a pilot, `quantity` has a p-value, and the worth is estimated from gold cases, without
  # confidence limits. Without a pilot, it is a rough estimate from ratings, with confidence limits.
  worth <- if (is.null(quantity$p.value)) {
    equivalent_labels_with_range(quantity$explained, settings$conf_level)
  } else {
    c(estimate = 1 / (1 - quantity$explained), conf.low = NA, conf.high = NA)
  }
  stack_rows(planned_intervals(quantity, settings), function(interval) {
    n_gold_for_limit <- function(limit, ...) {
      if (is.na(worth[[limit]])) return(NA_real_)
      quantity$explained <- 1 - 1 / worth[[limit]]
      settings$gold %||% n_gold_needed(interval, quantity, settings, ...)
    }
    n_gold_by_limit <- list(
      gold = n_gold_for_limit("estimate"), lowest = n_gold_for_limit("conf.high"),
      highest = n_gold_for_limit("conf.low", worst_case = TRUE)
    )
    n_drawn <- number_to_draw(n_gold_by_limit)
    # For a difference, drawn cases with equal answers need no label and are not counted.
    if (settings$of == "difference") n_drawn <- ceiling(n_drawn * quantity$share)
    compute_half_width <- new_half_width_function(interval, quantity, settings)
    # If the interval does not use ratings, the worth of a label is 1. The other intervals are
    # compared with labels without ratings, whose variance clusters increase by the factor `design`.
    shown_worth <- if (interval == "gold alone") worth^0 else worth * quantity$design
    reason <- if (is.na(n_gold_by_limit$gold)) {
      lowest_half_width <- compute_half_width(n_cases)
      paste0(
        "if all ", format_unpadded(n_cases), " cases are gold, the half-width is ",
        format_decimals(lowest_half_width),
        # Extrapolates: if all cases are gold, half-widths are proportional to 1 / sqrt(cases).
        if (settings$target == "population") sprintf("; about %s are needed",
          format_unpadded(ceiling(n_cases * (lowest_half_width / settings$half_width)^2)))
      )
    }
    columns_tibble(
      system = quantity$system, interval = interval, !!!n_gold_by_limit,
      labelled = quantity$labelled, more = pmax(0, n_drawn - quantity$labelled),
      half_width =
        compute_half_width(if (is.na(n_gold_by_limit$gold)) n_cases else n_gold_by_limit$gold),
      worth = shown_worth[["estimate"]],
      worth_lowest = shown_worth[["conf.low"]], worth_highest = shown_worth[["conf.high"]],
      cases = n_cases, reason = reason %||% NA_character_
    )
  })
}

# Returns a table of expected half-widths for numbers of gold cases from 5 to all cases, for plots.
gold_curve <- function(quantity, settings) {
  n_cases <- quantity$prediction$cases
  gold_sizes <- unique(round(exp(seq(log(min(5, n_cases)), log(n_cases), length.out = 60L))))
  stack_rows(planned_intervals(quantity, settings), function(interval) {
    compute_half_width <- new_half_width_function(interval, quantity, settings)
    tibble(
      system = quantity$system, interval = interval, gold = gold_sizes,
      half_width = compute_half_width(gold_sizes)
    )
  })
}

# ---- Cases to label -----------------------------------------------------------------------------

# Returns the number of gold cases to draw: `highest`, which is enough in the worst case of shared
# errors, or `gold` where `highest` is NA. `rows`: a list or table with these two columns.
number_to_draw <- function(rows) ifelse(is.na(rows$highest), rows$gold, rows$highest)

# Draws the cases to label. The number of drawn cases is enough for the system that needs most
# cases. Returns a list of two tables with the columns of select_case_rows(): `new`, the drawn
# cases, and `labelled`, the cases of the pilot. `table`: result of plan_gold_rows() for all
# quantities.
choose_gold <- function(table, quantities, estimate, settings) {
  x <- estimate$fit$x
  n_to_draw <- max(chosen_interval_rows(table, settings)$more)
  # Cases in a database are not in memory and cannot be drawn.
  if (is.na(n_to_draw) || in_database(x)) {
    empty_case_columns <-
      list(case = integer(), stratum = integer(), probability = double(), truth = character())
    return(list(new = empty_case_columns, labelled = empty_case_columns))
  }
  squared_spreads <- do.call(cbind, lapply(quantities, `[[`, "spread"))^2
  spread <- na_real(sqrt(rowMeans(squared_spreads, na.rm = TRUE)))
  labelled_cases <- as.integer(estimate$gold$case)
  unlabelled_weight <- replace(weights_of_cases(x), labelled_cases, 0)
  weight <- rowsum_codes(x$index, unlabelled_weight, n_patterns(x))
  sampling_design <- gold_probabilities(n_to_draw, spread, weight, settings$choice)
  probability <- sampling_design$probability[x$index]
  stratum <- sampling_design$stratum[x$index]
  eligible_cases <- which(probability > 0 & unlabelled_weight > 0)
  drawn_cases <-
    eligible_cases[draw_gold(probability[eligible_cases], stratum[eligible_cases])]
  if (length(labelled_cases) > 0L) {
    pilot_probabilities <- pilot_probability(estimate$gold, x, spread)[x$index]
    # Probability that a case is drawn at least once: for the pilot or for the new sample.
    probability <- 1 - (1 - pilot_probabilities) * (1 - probability)
  }
  case_columns <- columns_of_cases(x)
  select_case_rows <- function(i, truth) {
    first_columns <-
      list(case = x$cases[i], stratum = stratum[i], probability = probability[i], truth = truth)
    further_columns <- setdiff(names(case_columns), c(names(first_columns), part_columns))
    c(first_columns, lapply(case_columns[further_columns], `[`, i))
  }
  list(
    new = select_case_rows(drawn_cases, rep(NA_character_, length(drawn_cases))),
    labelled = select_case_rows(labelled_cases, x$categories[estimate$gold$truth])
  )
}

# Returns the probability that a case of each pattern was drawn for the pilot. NA if the probability
# differs between cases of the same stratum. `spread`: see planned_quantities().
pilot_probability <- function(gold, x, spread) {
  case_probability <- gold$probability %||% rep(length(gold$case) / nrow(x), length(gold$case))
  stratum <- rep(1L, n_patterns(x))
  if (diff(range(case_probability)) > 1e-9) {
    weight <- pattern_cases(x)
    is_eligible <- !is.na(spread) & weight > 0
    stratum[] <- NA
    stratum[is_eligible] <- spread_strata(spread[is_eligible], weight[is_eligible])
  }
  gold_stratum <- factor(stratum[x$index[gold$case]], seq_len(n_gold_strata))
  probability <- tapply(case_probability, gold_stratum, function(probabilities) {
    if (diff(range(probabilities)) < 1e-9) probabilities[[1L]] else NA_real_
  })
  as.vector(probability)[stratum]
}
