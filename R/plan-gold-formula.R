# Predicted intervals for a number of gold cases.

# A list per system (one element for a difference):
# * `prediction`: predictions from ratings (see prediction_of()); `explained`: share of the
#   variance that ratings explain;
# * `value`: expected value; `variance` of a label; `share` of informative labels (for recall, those
#   of the true category; for a difference, those on which answers differ);
# * `spread` by pattern, NA where no label is needed;
# * `from_ratings`: the estimate from ratings without gold, or NULL; `hardest`: value that needs
#   most cases;
# * `labelled`: number of gold cases in the estimate; `p.value` of the test of the estimate from
#   ratings, only if a pilot measured the value and the explained share.
planned_quantities <- function(estimate, predicted, settings) {
  x <- estimate$fit$x
  foresee <- switch(settings$of,
    accuracy = foresee_accuracy, difference = foresee_difference, recall = foresee_recall,
    precision = foresee_precision
  )
  systems <- settings$systems
  lapply(if (settings$of == "difference") list(systems) else systems, function(s) {
    quantity <- foresee(estimate, predicted, s, settings$category)
    quantity$system <- paste(x$systems[s], collapse = " - ")
    # The share that one rater explains is unknown.
    quantity$explained <- if (n_raters(x) == 1L) 0 else
      explained_by_ratings(quantity$prediction, quantity$variance)
    at <- as.integer(estimate$gold$case)
    quantity$labelled <- sum(weights_of_cases(x)[at][!is.na(quantity$spread[x$index[at]])])
    if (settings$of == "accuracy") use_pilot(quantity, estimate$gold, s) else quantity
  })
}

# Replaces accuracy and explained share by those measured in gold cases, if there are any.
use_pilot <- function(quantity, gold, s) {
  pilot <- measured_of(gold, s)
  if (is.null(pilot)) return(quantity)
  quantity$value <- clip01(pilot$estimate)
  quantity$explained <- 1 - pilot$ratio
  quantity$p.value <- gold$details$p.value[[s]]
  quantity
}

planned_weight <- function(x, answered) pattern_cases(x) * (answered & rated_patterns(x))

foresee_accuracy <- function(estimate, predicted, s, category) {
  x <- estimate$fit$x
  answer <- pattern_answers(x)[, s]
  quantity <- foresee_share(x, predict_answer(predicted, answer), answer > 0L)
  if (n_raters(x) > 1L) quantity$from_ratings <- estimates_from_ratings(estimate, s)
  ends <- quantity$value
  if (isFALSE(is.na(quantity$from_ratings$estimate))) {
    quantity$value <- clip01(quantity$from_ratings$estimate) # may be above 1 if it is not clipped
    ends <- c(quantity$value, unlist(estimate$table[s, c("independent", "shared")]))
  }
  quantity$hardest <- clip01(ends[[which.min(abs(ends - 0.5))]])
  quantity
}

foresee_precision <- function(estimate, predicted, s, category) {
  x <- estimate$fit$x
  foresee_share(x, predicted[, category], pattern_answers(x)[, s] == category)
}

# Share of right answers among the cases that count.
foresee_share <- function(x, predicted, counts) {
  weight <- planned_weight(x, counts)
  q <- fill_unrated(predicted, weight)
  prediction <- prediction_of(q, weight)
  value <- prediction$mean
  p <- tempered(q)
  list(
    prediction = prediction, value = value, variance = value * (1 - value), share = 1,
    spread = replace(sqrt(p * (1 - p)), weight == 0, NA)
  )
}

# The linearised rate: u = 1[the answer is right] - rate 1[the truth is the category], divided by
# the share of the category.
foresee_recall <- function(estimate, predicted, s, category) {
  x <- estimate$fit$x
  answer <- x$patterns$answer[, s]
  weight <- planned_weight(x, answer > 0L)
  q <- fill_unrated(predicted[, category], weight)
  hit <- answer == category
  share <- sum(weight * q) / sum(weight)
  rate <- sum(weight * q * hit) / sum(weight * q)
  off <- ifelse(hit, 1 - rate, rate)
  list(
    prediction = prediction_of(q * (hit - rate), weight), value = rate,
    variance = rate * (1 - rate) * share, share = share,
    spread = replace(sqrt(tempered(q)) * off, weight == 0, NA)
  )
}

foresee_difference <- function(estimate, predicted, s, category) {
  x <- estimate$fit$x
  answer <- x$patterns$answer[, s]
  weight <- planned_weight(x, answer[, 1L] > 0L & answer[, 2L] > 0L)
  differ <- answer[, 1L] != answer[, 2L]
  q <- fill_unrated(predict_answer(predicted, answer), cbind(weight, weight))
  ahead <- differ * (q[, 1L] - q[, 2L])
  prediction <- prediction_of(ahead, weight)
  one_right <- sum(weight * differ * rowSums(q)) / prediction$cases
  spread <- sqrt(pmax(rowSums(tempered(q)) - ahead^2, 0))
  list(
    prediction = prediction, value = prediction$mean, variance = one_right - prediction$mean^2,
    share = sum(weight * differ) / prediction$cases, # labels of other cases are not informative
    spread = replace(spread, weight == 0 | !differ, NA)
  )
}

# ---- Half-widths --------------------------------------------------------------------------------

# Variance with `gold` labels among all cases, relative to that of one label; see gold_error().
planned_error <- function(gold, quantity, target) {
  cases <- quantity$prediction$cases
  error <- (1 - quantity$explained) * (1 - gold / cases) / gold
  if (target == "cases") error else pmin(error + 1 / cases, 1 / gold)
}

# Half-widths for numbers of gold cases, drawn at random from those that count for the quantity.
corrected_half <- function(gold, quantity, settings) {
  error <- planned_error(gold, quantity, settings$target)
  if (settings$of == "difference") {
    t <- stats::qt((1 + settings$conf_level) / 2, pmax(gold - 1, 0.5))
    return(t * sqrt(quantity$variance * error))
  }
  wilson_half(quantity$value, quantity$share / error, normal_quantile(settings$conf_level))
}

# The estimate from ratings must not make the interval wider.
combined_half <- function(gold, quantity, settings) {
  value <- quantity$value
  cases <- quantity$prediction$cases
  spread <- max(value * (1 - value), 1 / cases)
  error <- spread * planned_error(gold, quantity, "cases")
  prior <- ratings_prior(quantity$from_ratings, gold, spread, cases, NULL, error)
  sampling <- if (settings$target == "population") spread / cases else 0
  half <- function(variance) normal_quantile(settings$conf_level) * sqrt(variance + sampling)
  # Weight of the flat part of the prior: its posterior probability if gold equals the ratings.
  flat <- prior$vague * stats::dbeta(value, 0.5, 0.5)
  flat <- ifelse(is.finite(flat), flat, 0)
  flat <- flat / (flat + (1 - prior$vague) * stats::dnorm(0, 0, sqrt(prior$sd^2 + error)))
  pmin(
    flat * half(error) + (1 - flat) * half(1 / (1 / error + 1 / prior$sd^2)),
    corrected_half(gold, quantity, settings)
  )
}

# Does this interval use the estimate from ratings, unless gold contradicts it?
believes_ratings <- function(interval) isTRUE(gold_intervals[[interval]]$gold$believes)

# A function of numbers of gold cases that returns half-widths.
planned_half_width <- function(interval, quantity, settings,
                               believes = believes_ratings(interval)) {
  if (interval == "gold alone") quantity$explained <- 0
  half <- if (believes) combined_half else corrected_half
  function(gold) half(gold, quantity, settings)
}

# Number of gold cases for the half-width. A combined interval has at least fewest_contradicting
# cases, because fewer could not contradict the ratings. `worst`: the number if ratings are as wrong
# as possible. With shared errors the accuracy is nearer to one half than estimated, and gold
# contradicts the ratings.
planned_gold <- function(interval, quantity, settings, worst = FALSE) {
  cases <- quantity$prediction$cases
  if (worst) quantity$value <- quantity$hardest %||% quantity$value
  believes <- believes_ratings(interval)
  half <- planned_half_width(interval, quantity, settings, believes && !worst)
  least <- if (believes) min(fewest_contradicting, cases) else 1
  max(least, fewest(function(n) half(n) - settings$half_width, 1, cases))
}

# The least whole number in a range from which on `lack()` is never above 0; NA if it does not
# exist.
fewest <- function(lack, least, most) {
  repeat {
    n <- unique(round(exp(seq(log(least), log(most), length.out = 300L))))
    last <- max(0L, which(lack(n) > 0))
    if (last == 0L) return(as.double(least))
    if (last == length(n)) return(NA_real_)
    least <- n[[last]]
    most <- n[[last + 1L]]
    if (most - least <= 1) return(most)
  }
}

# ---- Tables -------------------------------------------------------------------------------------

planned_intervals <- function(quantity, settings) {
  contradicted <- isTRUE(quantity$p.value < 1 - settings$conf_level)
  known <- isFALSE(is.na(quantity$from_ratings$std.error)) && !contradicted
  c("gold alone", "corrected", if (known) "combined")
}

gold_rows <- function(quantity, settings) {
  cases <- quantity$prediction$cases
  worth <- planned_worth(quantity, settings)
  stack_rows(planned_intervals(quantity, settings), function(interval) {
    number <- function(end, ...) {
      if (is.na(worth[[end]])) return(NA_real_)
      quantity$explained <- 1 - 1 / worth[[end]]
      settings$gold %||% planned_gold(interval, quantity, settings, ...)
    }
    gold <- number("estimate")
    highest <- number("conf.low", worst = TRUE)
    half <- planned_half_width(interval, quantity, settings)
    shown <- if (interval == "gold alone") worth^0 else worth
    tibble::tibble(
      system = quantity$system, interval = interval, gold = gold, lowest = number("conf.high"),
      highest = highest, labelled = quantity$labelled,
      more = more_gold(number_to_draw(list(gold = gold, highest = highest)), quantity, settings),
      half_width = half(gold), worth = shown[["estimate"]], worth_lowest = shown[["conf.low"]],
      worth_highest = shown[["conf.high"]], cases = cases,
      reason = if (is.na(gold)) {
        paste0("with all of the ", number_of(cases), " cases gold it is ", decimals(half(cases)))
      } else {
        NA_character_
      }
    )
  })
}

# Worth as measured in a pilot; otherwise a rough value with a range.
planned_worth <- function(quantity, settings) {
  if (is.null(quantity$p.value)) {
    return(equivalent_labels(quantity$explained, settings$conf_level))
  }
  c(estimate = 1 / (1 - quantity$explained), conf.low = NA, conf.high = NA)
}

# Number of further cases to label. For a difference, only cases with different answers are
# labelled.
more_gold <- function(gold, quantity, settings) {
  if (settings$of == "difference") gold <- ceiling(gold * quantity$share)
  pmax(0, gold - quantity$labelled)
}

gold_curve <- function(quantity, settings) {
  cases <- quantity$prediction$cases
  gold <- unique(round(exp(seq(log(min(5, cases)), log(cases), length.out = 60L))))
  stack_rows(planned_intervals(quantity, settings), function(interval) {
    half <- planned_half_width(interval, quantity, settings)
    tibble::tibble(
      system = quantity$system, interval = interval, gold = gold, half_width = half(gold)
    )
  })
}

# ---- Choice -------------------------------------------------------------------------------------

# Enough cases for the half-width even if errors are shared; the estimate if that is not reached.
number_to_draw <- function(rows) ifelse(is.na(rows$highest), rows$gold, rows$highest)

# Stratum and probability of the drawn cases, for the system that needs most cases; and the labelled
# cases, with their probability of being in the pilot or in this draw.
choose_gold <- function(table, quantities, estimate, settings) {
  x <- estimate$fit$x
  gold <- max(table$more[table$interval == settled_interval(table, settings)])
  none <- list(case = integer(), stratum = integer(), probability = double(), truth = character())
  if (is.na(gold) || in_database(x)) return(list(new = none, labelled = none)) # cases not in memory
  squares <- do.call(cbind, lapply(quantities, `[[`, "spread"))^2
  spread <- na_real(sqrt(rowMeans(squares, na.rm = TRUE)))
  labelled <- as.integer(estimate$gold$case)
  left <- weights_of_cases(x)
  left[labelled] <- 0
  weight <- rowsum_codes(x$index, left, n_patterns(x))
  by_pattern <- gold_probabilities(gold, spread, weight, settings$choice)
  probability <- by_pattern$probability[x$index]
  stratum <- by_pattern$stratum[x$index]
  at <- which(probability > 0 & left > 0)
  at <- at[draw_gold(probability[at], stratum[at])]
  if (length(labelled) > 0L) {
    before <- pilot_probability(estimate$gold, x, spread)[x$index]
    probability <- 1 - (1 - before) * (1 - probability)
  }
  rows <- function(at, truth) {
    list(case = x$cases[at], stratum = stratum[at], probability = probability[at], truth = truth)
  }
  list(
    new = rows(at, rep(NA_character_, length(at))),
    labelled = rows(labelled, x$categories[estimate$gold$truth])
  )
}

# Probability that a case of each pattern is in the pilot: equal for all cases, or within strata;
# otherwise NA.
pilot_probability <- function(gold, x, spread) {
  known <- gold$probability %||% rep(length(gold$case) / nrow(x), length(gold$case))
  stratum <- rep(1L, n_patterns(x))
  if (diff(range(known)) > 1e-9) {
    eligible <- !is.na(spread) & pattern_cases(x) > 0
    stratum[] <- NA
    stratum[eligible] <- spread_strata(spread[eligible], pattern_cases(x)[eligible])
  }
  drawn_in <- factor(stratum[x$index[gold$case]], seq_len(gold_strata))
  probability <- tapply(known, drawn_in, function(p) {
    if (diff(range(p)) < 1e-9) p[[1L]] else NA_real_
  })
  as.vector(probability)[stratum]
}

settled_interval <- function(table, settings) {
  if (settings$interval %in% table$interval) settings$interval else "corrected"
}

# ---- Costs --------------------------------------------------------------------------------------

# Compares the costs of more gold cases and of one more rater for every case. NULL without costs.
gold_costs <- function(table, quantities, estimate, settings) {
  if (is.null(settings$cost)) return(NULL)
  interval <- settled_interval(table, settings)
  labels_needed <- function(quantity, explained) {
    if (is.na(explained)) return(NA_real_)
    quantity$explained <- explained
    rows <- gold_rows(quantity, settings)
    rows$more[rows$interval == interval]
  }
  explained <- vapply(quantities, `[[`, 0, "explained")
  shares <- list(explained, explained_by_more(explained, estimate, settings))
  gold <- vapply(shares, function(share) max(unlist(Map(labels_needed, quantities, share))), 0)
  split <- if (settings$of == "accuracy" && is.null(settings$gold)) {
    systems <- vapply(quantities, `[[`, "", "system")
    least <- quantities[[match(settled_row(table, settings)$system, systems)]]
    best_split(least, n_raters(estimate$fit$x), settings)
  }
  gold <- c(gold, split$gold)
  ratings <- c(0, count_cases(estimate$fit$x), split$ratings)
  tibble::tibble(
    raters = c("as they are", "one more", "split")[seq_along(gold)], gold = gold,
    ratings = ratings, cost = gold * settings$cost[["gold"]] + ratings * settings$cost[["rating"]]
  )
}

# Numbers of labels and ratings with the least total cost, if cases are free and nothing is labelled
# or rated yet (Angelopoulos et al. 2025). No ratings if labels without them cost less.
best_split <- function(quantity, raters, settings) {
  labels <- quantity$value * (1 - quantity$value) *
    (normal_quantile(settings$conf_level) / settings$half_width)^2
  left <- min(1, 1 - quantity$explained)
  cost <- settings$cost[["rating"]] * raters / settings$cost[["gold"]] # per case, in labels
  gold <- labels * (left + sqrt(left * (1 - left) * cost))
  cases <- gold * sqrt((1 - left) / (left * cost))
  if (cases <= gold) return(list(gold = labels, ratings = 0))
  list(gold = gold, ratings = cases * raters)
}

# Predicts the gain of one more rater from the loss of one rater fewer. Assumes that the new rater's
# errors are as independent as those of the others. Uses the posterior, which is comparable between
# numbers of raters; shares of few ratings vary too much.
explained_by_more <- function(explained, estimate, settings) {
  x <- estimate$fit$x
  estimate$gold <- NULL
  raters <- n_raters(x)
  if (has_counts(x) || raters < 3L) return(rep(NA_real_, length(explained)))
  odds <- function(share) share / (1 - share)
  odds_of_panel <- function(panel) {
    estimate$fit$x <- panel
    quantities <- planned_quantities(estimate, posterior_of_raters(panel), settings)
    odds(vapply(quantities, `[[`, 0, "explained"))
  }
  left_out <- unique(round(seq(1, raters, length.out = min(raters, 5L))))
  fewer <- lapply(left_out, function(rater) {
    odds_of_panel(suppressWarnings(x[, -rater], classes = "fallible_warning"))
  })
  gain <- odds_of_panel(x) / (Reduce(`+`, fewer) / length(fewer))
  more <- odds(explained) * pmax(1, gain)
  pmin(0.9, more / (1 + more))
}
