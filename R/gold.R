# Gold and ratings brought together: from the cases whose truth is known to what is measured of
# systems (gold-correction.R and others), by pattern of cases.

# `gold` is what read_gold() gives. Fields: `predicted` (patterns x categories) and `answer`
# (patterns x systems); `weight`, the number of cases of a pattern; `rated`; and of gold cases `at`,
# their pattern, `case`, `truth`, `w` and `cluster`; `drawn`, were they with known probabilities.
# Weights that count cases make copies of gold cases, too. `predicted` is what predict_categories()
# gives, NULL to find it.
gold_evidence <- function(x, gold, cluster = NULL, predicted = NULL) {
  copies <- if (is.null(x$weights)) 1L else x$weights[gold$case]
  check_gold_size(sum(copies))
  one <- rep.int(seq_along(gold$case), rep_len(copies, length(gold$case)))
  case <- gold$case[one]
  # Clusters of one case each change nothing.
  if (anyDuplicated(cluster) == 0L && all(weights_of_cases(x) <= 1)) cluster <- NULL
  list(
    predicted = predicted %||% predict_categories(x), answer = x$patterns$answer,
    weight = pattern_weights(x), rated = rated_patterns(x), at = x$index[case],
    case = case, truth = gold$truth[one],
    w = drawn_weight(gold, one),
    cluster = cluster[case], drawn = !is.null(gold$probability)
  )
}

# A weight is soon said, and makes as many copies.
check_gold_size <- function(n, most = 1e7) {
  abort_if(n > most, "weights", "No more than {number(most)} cases of known truth can be used.",
    x = "The weights of those given stand for {number(n)}.",
    i = "Give smaller weights, or the truth of fewer cases.", call = NULL)
}

# The patterns among `which` that count, and the gold cases on them. Cases without ratings count if
# there is gold among them, so that it is a sample of what counts.
gold_part <- function(evidence, which) {
  if (all(evidence$rated[evidence$at[which[evidence$at]]])) which <- which & evidence$rated
  gold <- which[evidence$at]
  list(
    weight = evidence$weight * which, at = evidence$at[gold], truth = evidence$truth[gold],
    w = evidence$w[gold], cluster = evidence$cluster[gold], gold = sum(gold),
    drawn = evidence$drawn
  )
}

# Do gold cases stand for all cases of a part? The inverse of their probabilities sums to the number
# of cases, give or take what chance makes of it, unless some cases had no chance to be drawn.
stands_for <- function(part) stand_for(as.matrix(part$weight), as.matrix(part$w), part$drawn)

stand_for <- function(weight, w, drawn) {
  cases <- colSums(weight)
  !drawn | abs(colSums(w) - cases) <= 4 * sqrt(colSums(w * (w - 1))) + 0.01 * cases
}

# Do the inverse probabilities sum to more than all cases? Then they are wrong, for any part.
counts_too_many <- function(evidence) {
  weight <- evidence$weight
  sum(evidence$w) > sum(weight) &&
    !stand_for(as.matrix(weight), as.matrix(evidence$w), evidence$drawn)
}

# The functions below give what correct_mean() gives, or NULL where there is no gold to go by.

# Of the answers of system number `s`, those that are right.
gold_accuracy <- function(evidence, s) {
  answer <- evidence$answer[, s]
  part <- gold_part(evidence, answer > 0L)
  if (part$gold > 0L && stands_for(part)) {
    q <- fill_unrated(predict_answer(evidence$predicted, answer), part$weight)
    gold_share(part, answer[part$at] == part$truth, q)
  }
}

gold_share <- function(part, y, q) {
  x <- correct_share(as.double(y), q[part$at], prediction_of(q, part$weight), part$w)
  x$seen <- x$alone
  in_clusters(x, part$cluster)
}

# Of pairs of systems, on the cases that both answered, with the number of all, the share of them on
# which answers differ, what ratings expect of the square of u, and on how many gold cases answers
# differ: a number per pair of which gold says something, which are `known`. Matrices are
# patterns x pairs, or gold cases x pairs.
gold_difference <- function(evidence, first, second) {
  part <- gold_part_of_pairs(evidence, first, second)
  known <- part$known
  if (!any(known)) return(list(known = known))
  part <- lapply(part, function(x) if (is.matrix(x)) x[, known, drop = FALSE] else x[known])
  of_gold <- function(x) x[evidence$at, , drop = FALSE]
  cases <- colSums(part$weight)
  share <- colSums(part$weight * part$differ) / cases
  # Gold may have been drawn where answers differ only, since the others need none.
  gold <- part$w > 0
  drawn_there <- colSums(gold & !of_gold(part$differ)) == 0 & share < 1 & share^colSums(gold) < 0.01
  among <- drawn_there | !part$stands
  counts <- rep(!among, each = nrow(part$differ)) | part$differ
  w <- part$w * of_gold(counts)
  systems <- unique(c(first, second))
  predicted <- predict_answer(evidence$predicted, evidence$answer[, systems, drop = FALSE])
  q <- lapply(list(first = first[known], second = second[known]), function(s) {
    fill_unrated(predicted[, match(s, systems), drop = FALSE], part$weight)
  })
  right <- lapply(part[c("first", "second")], function(answer) of_gold(answer) == evidence$truth)
  ahead <- part$differ * (q$first - q$second)
  x <- correct_difference(
    right$first - right$second, of_gold(ahead), prediction_of(ahead, part$weight * counts), w
  )
  x <- as_part(x, ifelse(among, share, 1), among)
  c(in_clusters(x, evidence$cluster, x$variance, w > 0), list(
    differ = share, one_right = colSums(part$weight * part$differ * (q$first + q$second)) / cases,
    all = cases, disputed = colSums(gold & of_gold(part$differ)), known = known
  ))
}

# See gold_part(), of pairs: answers, weight of patterns and of gold cases, where answers differ.
gold_part_of_pairs <- function(evidence, first, second) {
  at <- evidence$at
  one <- evidence$answer[, first, drop = FALSE]
  two <- evidence$answer[, second, drop = FALSE]
  which <- one > 0L & two > 0L
  unrated <- colSums(which[at, , drop = FALSE] & !evidence$rated[at]) > 0
  which <- which & (evidence$rated | rep(unrated, each = nrow(which)))
  weight <- evidence$weight * which
  differ <- one != two & weight > 0
  w <- evidence$w * which[at, , drop = FALSE]
  list(
    first = one, second = two, weight = weight, differ = differ, w = w,
    stands = stand_for(weight, w, evidence$drawn),
    known = colSums(w > 0) > 0 & colSums(differ) > 0 &
      stand_for(weight * differ, w * differ[at, , drop = FALSE], evidence$drawn)
  )
}

# From these alone, as a share of all cases, those of the means that `among` says.
as_part <- function(x, share, among) {
  square <- share * (x$variance + x$estimate^2)
  at_hand <- (square - (share * x$estimate)^2) / (share * x$variance)
  x$at_hand[among] <- at_hand[among]
  x$design[among] <- x$design[among] + at_hand[among]
  x[c("estimate", "alone")] <- lapply(x[c("estimate", "alone")], `*`, share)
  x$variance <- share^2 * x$variance
  x[c("rest", "answers")] <- lapply(x[c("rest", "answers")], function(off) {
    off * rep(share, each = nrow(off))
  })
  x
}

# Of the cases with an answer, those with a truth.
gold_precision <- function(evidence, s, answer, truth = answer) {
  part <- gold_part(evidence, evidence$answer[, s] == answer)
  if (part$gold > 0L && stands_for(part)) {
    q <- fill_unrated(evidence$predicted[, truth], part$weight)
    gold_share(part, part$truth == truth, q)
  }
}

# Of the cases with a truth, those with an answer.
gold_recall <- function(evidence, s, truth, answer = truth) {
  part <- gold_part(evidence, evidence$answer[, s] > 0L)
  hit <- evidence$answer[, s] == answer
  if (!stands_for(part) || is_constant(hit, part$weight)) return(NULL)
  q <- evidence$predicted[, truth]
  member <- part$truth == truth
  x <- correct_rate(
    as.double(member & hit[part$at]), as.double(member),
    hit * fill_unrated(q, part$weight * hit), fill_unrated(q, part$weight),
    part$weight, part$at, part$w
  )
  if (!is.null(x)) in_clusters(x, part$cluster)
}

# Is it known without gold, since the system gives an answer always, or never?
is_constant <- function(hit, weight) length(unique(hit[weight > 0])) < 2L

# The share of shared errors by gold: 0 at the end of the range where errors are independent, 1
# where all are shared. No share lies outside; where its whole interval does, there is none.
# `interval` is corrected_interval()'s.
gold_common <- function(interval, independent, shared) {
  range <- independent - shared
  range[abs(range) < 1e-6] <- NA_real_
  at <- lapply(interval[c("estimate", "conf.low", "conf.high")], function(value) {
    (independent - value) / range
  })
  low <- pmin(at$conf.low, at$conf.high)
  high <- pmax(at$conf.low, at$conf.high)
  outside <- (low > 1 | high < 0) %in% TRUE
  shares <- list(common = at$estimate, common.low = low, common.high = high)
  lapply(shares, function(share) replace(clip01(share), outside, NA_real_))
}

# What ratings alone say of systems of number `s`: the centre of their intervals, the whole error,
# and the part of it that shared errors may hide; both NA where the interval tells of sampling
# alone.
ratings_alone <- function(estimate, s) {
  table <- estimate$gold$alone %||% estimate$table
  bias <- sqrt(pmax(0, table$std.error[s]^2 - estimate$details$sampling[s]^2))
  list(
    estimate = estimate$details$centre[s], std.error = table$std.error[s] + 0 * bias, bias = bias
  )
}
