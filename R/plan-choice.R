# Which cases to label: more of those of which ratings do not tell what the answer is.

gold_strata <- 4L
least_spread <- 0.3 # of the mean; what raters agree on may be wrong, too
fewest_in_stratum <- 2L

# Standard deviation of what a label will say, if predictions of it were right. They are not, quite,
# so they are drawn towards the middle.
tempered <- function(q) stats::plogis(0.7 * stats::qlogis(pmin(pmax(q, 0.02), 0.98)))

# Strata with about as many cases each, from the surest to the least sure; patterns of cases that
# are equally sure stay together.
spread_strata <- function(spread, weight) {
  level <- round(spread, 9L)
  group <- match(level, sort(unique(level)))
  cases <- rowsum(weight, group)[, 1L]
  middle <- (cumsum(cases) - cases / 2) / sum(cases)
  stratum <- pmin(ceiling(middle * gold_strata), gold_strata)
  match(stratum, unique(stratum))[group]
}

# How many of each stratum (Neyman's allocation): in proportion to cases and spread.
allocate_gold <- function(gold, cases, spread) {
  share <- cases * pmax(spread, least_spread * sum(cases * spread) / sum(cases))
  if (all(share == 0)) share <- cases
  least <- pmin(fewest_in_stratum, cases)
  if (gold < sum(least)) {
    return(NULL) # too few for strata
  }
  number <- least
  for (one in seq_len(gold - sum(least))) { # each to the stratum that lacks most
    lack <- ifelse(number < cases, share / (number + 0.5), -Inf)
    most <- which.max(lack)
    number[[most]] <- number[[most]] + 1
  }
  number
}

# Stratum and probability of each pattern, with about `gold` cases in all. `spread` is NA for
# patterns that need no gold, `weight` the number of cases of a pattern.
gold_probabilities <- function(gold, spread, weight, choice) {
  eligible <- !is.na(spread) & weight > 0
  out <- list(stratum = ifelse(eligible, 1L, NA_integer_), probability = 0 * weight)
  weight <- weight[eligible]
  spread <- spread[eligible]
  gold <- min(gold, sum(weight))
  out$probability[eligible] <- gold / sum(weight)
  if (choice == "random") return(out)
  if (choice == "active") {
    out$probability[eligible] <- active_probability(gold, spread, weight)
    return(out)
  }
  strata <- spread_strata(spread, weight)
  cases <- rowsum(weight, strata)[, 1L]
  number <- allocate_gold(gold, cases, rowsum(weight * spread, strata)[, 1L] / cases)
  if (!is.null(number)) {
    out$stratum[eligible] <- strata
    out$probability[eligible] <- unname(number / cases)[strata]
  }
  out
}

# In proportion to spread, as far as 1 lets it.
active_probability <- function(gold, spread, weight) {
  size <- pmax(spread, least_spread * sum(weight * spread) / sum(weight))
  if (all(size == 0)) size[] <- 1
  sure <- rep(FALSE, length(size))
  repeat {
    scale <- (gold - sum(weight[sure])) / sum((weight * size)[!sure])
    more <- !sure & scale * size >= 1
    if (!any(more)) return(ifelse(sure, 1, scale * size))
    sure <- sure | more
  }
}

# Draws cases: in each stratum as many as its probabilities sum to, by steps through its cases in
# random order. Arguments have an entry per case.
draw_gold <- function(probability, stratum) {
  places <- split(seq_along(probability), stratum)
  chosen <- lapply(places, function(at) {
    at <- at[sample.int(length(at))]
    sum <- cumsum(probability[at])
    start <- stats::runif(1L)
    at[floor(sum - start + 1e-9) > floor(c(0, sum[-length(sum)]) - start + 1e-9)]
  })
  sort(unlist(chosen, use.names = FALSE))
}
