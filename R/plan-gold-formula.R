# What a number of gold cases is predicted to tell, before there is any.

# A list per system (one for a difference): `of`, what ratings predict (see prediction_of());
# `value` that is expected, and `variance` of what a label says; `share`, the part of the labels
# that tell something (those of the truth, for recall, or with the answer, for precision); `spread`
# by pattern, NA where no label is needed; `weight`; and `alone`, what ratings alone say, or NULL.
planned_quantities <- function(estimate, predicted, settings) {
  x <- estimate$fit$x
  foresee <- list(
    accuracy = foresee_accuracy, difference = foresee_difference, recall = foresee_recall,
    precision = foresee_precision
  )[[settings$of]]
  systems <- settings$systems
  each <- if (settings$of == "difference") list(systems) else as.list(systems)
  lapply(each, function(s) {
    quantity <- foresee(estimate, predicted, s, settings$category)
    quantity$system <- paste(x$systems[s], collapse = " - ")
    quantity$explained <- explained_by_ratings(quantity$of, quantity$variance)
    quantity$weight <- pattern_cases(x)
    quantity
  })
}

planned_weight <- function(x, answered) pattern_cases(x) * (answered & rated_patterns(x))

foresee_accuracy <- function(estimate, predicted, s, category) {
  x <- estimate$fit$x
  answer <- pattern_answers(x)[, s]
  out <- foresee_share(x, predict_answer(predicted, answer), answer > 0L)
  out$alone <- ratings_alone(estimate, s)
  ends <- out$value
  if (!is.na(out$alone$estimate)) {
    out$value <- clip01(out$alone$estimate) # without clips it may be above 1
    ends <- c(out$value, unlist(estimate$table[s, c("independent", "shared")]))
  }
  out$hardest <- clip01(ends[[which.min(abs(ends - 0.5))]])
  out
}

foresee_precision <- function(estimate, predicted, s, category) {
  x <- estimate$fit$x
  foresee_share(x, predicted[, category], pattern_answers(x)[, s] == category)
}

# The share of right answers, of those that count.
foresee_share <- function(x, predicted, counts) {
  weight <- planned_weight(x, counts)
  q <- fill_unrated(predicted, weight)
  of <- prediction_of(q, weight)
  p <- tempered(q)
  list(
    of = of, value = of$mean, variance = of$mean * (1 - of$mean), share = 1,
    spread = replace(sqrt(p * (1 - p)), weight == 0, NA)
  )
}

# u = 1[the answer is right] - rate 1[the truth is the category], see correct_rate().
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
    of = prediction_of(q * (hit - rate), weight), value = rate,
    variance = rate * (1 - rate) * share, share = share,
    spread = replace(sqrt(tempered(q)) * off, weight == 0, NA)
  )
}

foresee_difference <- function(estimate, predicted, s, category) {
  x <- estimate$fit$x
  answer <- x$patterns$answer[, s]
  weight <- planned_weight(x, answer[, 1L] > 0L & answer[, 2L] > 0L)
  differ <- answer[, 1L] != answer[, 2L]
  q <- apply(answer, 2L, function(of) fill_unrated(predict_answer(predicted, of), weight))
  ahead <- differ * (q[, 1L] - q[, 2L])
  of <- prediction_of(ahead, weight)
  one_right <- sum(weight * differ * rowSums(q)) / of$cases
  spread <- sqrt(pmax(tempered(q[, 1L]) + tempered(q[, 2L]) - ahead^2, 0))
  list(
    of = of, value = of$mean, variance = one_right - of$mean^2,
    share = sum(weight * differ) / of$cases, # no label says anything of the others
    spread = replace(spread, weight == 0 | !differ, NA)
  )
}

# ---- Half-widths --------------------------------------------------------------------------------

# Variance in units of that of a label, for gold cases among all cases; see gold_error().
planned_error <- function(gold, quantity, explained, target) {
  cases <- quantity$of$cases
  own <- (1 - explained) * (1 - gold / cases) / gold
  if (target == "cases") own else pmin(own + 1 / cases, 1 / gold)
}

# Half-width for numbers of gold cases, at random among those that count for the quantity.
corrected_half <- function(gold, quantity, explained, settings) {
  error <- planned_error(gold, quantity, explained, settings$target)
  if (settings$of == "difference") {
    t <- stats::qt((1 + settings$conf_level) / 2, pmax(gold - 1, 0.5))
    return(t * sqrt(quantity$variance * error))
  }
  wilson_half(quantity$value, quantity$share / error, normal_quantile(settings$conf_level))
}

# What ratings alone say besides can make no interval wider.
combined_half <- function(gold, quantity, explained, settings) {
  value <- quantity$value
  cases <- quantity$of$cases
  spread <- max(value * (1 - value), 1 / cases)
  error <- spread * planned_error(gold, quantity, explained, "cases")
  prior <- ratings_prior(quantity$alone, gold, spread, cases, NULL, error)
  precision <- 1 / error + 1 / prior$sd^2
  sampling <- if (settings$target == "population") spread / cases else 0
  half <- function(variance) normal_quantile(settings$conf_level) * sqrt(variance + sampling)
  # As much is the flat part's as it explains of gold that says what ratings alone do.
  flat <- prior$vague * stats::dbeta(value, 0.5, 0.5)
  flat <- ifelse(is.finite(flat), flat, 0)
  flat <- flat / (flat + (1 - prior$vague) * stats::dnorm(0, 0, sqrt(prior$sd^2 + error)))
  pmin(
    flat * half(error) + (1 - flat) * half(1 / precision),
    corrected_half(gold, quantity, explained, settings)
  )
}

# Does an interval believe what ratings alone say, as far as gold does not contradict it?
believes_ratings <- function(interval) interval == "combined"

half_of <- function(interval, quantity, explained, settings,
                    believes = believes_ratings(interval)) {
  if (interval == "gold alone") explained <- 0
  half <- if (believes) combined_half else corrected_half
  function(gold) half(gold, quantity, explained, settings)
}

# Fewer than could contradict ratings would make a combined interval of what ratings say; combined
# intervals widen at first, while gold cases become enough for that. `worst`: as many as it takes if
# ratings are as wrong as they may be: if errors are shared an accuracy is nearer to one half than
# it seems, and gold contradicts ratings.
planned_gold <- function(interval, quantity, explained, settings, worst = FALSE) {
  cases <- quantity$of$cases
  if (worst) quantity$value <- quantity$hardest %||% quantity$value
  believes <- believes_ratings(interval)
  half <- half_of(interval, quantity, explained, settings, believes && !worst)
  least <- if (believes) min(fewest_contradicting, cases) else 1
  max(least, fewest(function(n) half(n) - settings$half_width, 1, cases))
}

# The least whole number in a range from which on `lack()` is never above 0; NA if there is none.
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

planned_intervals <- function(quantity) {
  known <- !is.null(quantity$alone) && !is.na(quantity$alone$std.error)
  c("gold alone", "corrected", if (known) "combined")
}

gold_rows <- function(quantity, settings) {
  cases <- quantity$of$cases
  worth <- worth_of_ratings(quantity$explained, settings$conf_level)
  rows <- lapply(planned_intervals(quantity), function(interval) {
    number <- function(end, ...) {
      settings$gold %||% planned_gold(interval, quantity, 1 - 1 / worth[[end]], settings, ...)
    }
    gold <- number("estimate")
    half <- half_of(interval, quantity, quantity$explained, settings)
    of <- if (interval == "gold alone") replace(worth, TRUE, 1) else worth
    tibble::tibble(
      system = quantity$system, interval = interval, gold = gold, lowest = number("conf.high"),
      highest = number("conf.low", worst = TRUE), half_width = half(gold),
      worth = of[["estimate"]], worth_lowest = of[["conf.low"]], worth_highest = of[["conf.high"]],
      cases = cases, reason = if (is.na(gold)) {
        paste0("with all of the ", number_of(cases), " cases gold it is ", decimals(half(cases)))
      } else {
        NA_character_
      }
    )
  })
  stack_rows(rows)
}

gold_curve <- function(quantity, settings) {
  cases <- quantity$of$cases
  gold <- unique(round(exp(seq(log(min(5, cases)), log(cases), length.out = 60L))))
  rows <- lapply(planned_intervals(quantity), function(interval) {
    half <- half_of(interval, quantity, quantity$explained, settings)
    tibble::tibble(
      system = quantity$system, interval = interval, gold = gold, half_width = half(gold)
    )
  })
  stack_rows(rows)
}

# ---- Choice -------------------------------------------------------------------------------------

# So many that the half-width is reached also where errors are shared, if there are as many.
number_to_draw <- function(rows) ifelse(is.na(rows$highest), rows$gold, rows$highest)

# Stratum and probability of the cases that are drawn, for the system that needs most of them.
choose_gold <- function(table, quantities, x, settings) {
  decisive <- table[table$interval == settled_interval(table, settings), ]
  gold <- max(number_to_draw(decisive))
  if (is.na(gold) || in_database(x)) { # where the cases are
    return(list(case = integer(), stratum = integer(), probability = double()))
  }
  squares <- do.call(cbind, lapply(quantities, function(quantity) quantity$spread^2))
  spread <- na_real(sqrt(rowMeans(squares, na.rm = TRUE)))
  weight <- quantities[[1L]]$weight
  if (settings$of == "difference") gold <- ceiling(gold * quantities[[1L]]$share)
  by_pattern <- gold_probabilities(gold, spread, weight, settings$choice)
  probability <- by_pattern$probability[x$index] * (weights_of_cases(x) > 0)
  stratum <- by_pattern$stratum[x$index]
  case <- which(probability > 0)
  case <- case[draw_gold(probability[case], stratum[case])]
  list(
    case = x$cases[case], stratum = stratum[case], probability = probability[case], gold = gold
  )
}

settled_interval <- function(table, settings) {
  if (settings$interval %in% table$interval) settings$interval else "corrected"
}

# ---- Costs --------------------------------------------------------------------------------------

# More gold, or one more rater for every case? NULL without costs.
gold_costs <- function(table, quantities, estimate, settings) {
  if (is.null(settings$cost)) return(NULL)
  interval <- settled_interval(table, settings)
  needed <- function(quantity, explained) {
    if (is.na(explained)) return(NA_real_)
    low <- 1 - 1 / worth_of_ratings(explained, settings$conf_level)[["conf.low"]]
    number_to_draw(list(
      gold = planned_gold(interval, quantity, explained, settings),
      highest = planned_gold(interval, quantity, low, settings, worst = TRUE)
    ))
  }
  now <- vapply(quantities, `[[`, 0, "explained")
  explained <- list(now, explained_by_more(now, estimate, settings))
  gold <- vapply(explained, function(of) max(unlist(Map(needed, quantities, of))), 0)
  ratings <- c(0, count_cases(estimate$fit$x))
  tibble::tibble(
    raters = c("as they are", "one more"), gold = gold, ratings = ratings,
    cost = gold * settings$cost[["gold"]] + ratings * settings$cost[["rating"]]
  )
}

# One rater fewer tells what one more would add, if its errors were as much its own as theirs. Of
# the posterior, which is what it says it is for any number of raters; shares of few ratings spread.
explained_by_more <- function(now, estimate, settings) {
  x <- estimate$fit$x
  raters <- n_raters(x)
  if (has_counts(x) || raters < 3L) return(rep(NA_real_, length(now)))
  odds <- function(share) share / (1 - share)
  explained <- function(panel) {
    estimate$fit$x <- panel
    quantities <- planned_quantities(estimate, posterior_of_raters(panel), settings)
    odds(vapply(quantities, `[[`, 0, "explained"))
  }
  out <- unique(round(seq(1, raters, length.out = min(raters, 5L))))
  fewer <- lapply(out, function(r) explained(without_rater(x, r)))
  gain <- explained(x) / (Reduce(`+`, fewer) / length(fewer))
  more <- odds(now) * pmax(1, gain)
  pmin(0.9, more / (1 + more))
}

without_rater <- function(x, r) suppressWarnings(x[, -r], classes = "fallible_warning")
