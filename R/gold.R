# Gold and ratings brought together: from the cases whose truth is known to what is measured of
# systems (gold-correction.R and others), by pattern of cases.

# `gold` is what read_gold() gives. Fields: `predicted` (patterns x categories) and `answer`
# (patterns x systems); `weight`, the number of cases of a pattern; `rated`; and of gold cases `at`,
# their pattern, `truth`, `w` and `cluster`; `drawn`, were they with known probabilities. Weights
# that count cases make copies of gold cases, too. `predicted` is what predict_categories() gives,
# NULL to find it.
gold_evidence <- function(x, gold, cluster = NULL, predicted = NULL) {
  copies <- if (is.null(x$weights)) 1L else x$weights[gold$case]
  check_gold_size(sum(copies))
  one <- rep.int(seq_along(gold$case), rep_len(copies, length(gold$case)))
  case <- gold$case[one]
  list(
    predicted = predicted %||% predict_categories(x), answer = x$patterns$answer,
    weight = pattern_weights(x), rated = rated_patterns(x), at = x$index[case],
    truth = gold$truth[one],
    w = drawn_weight(gold, one),
    cluster = cluster[case], drawn = !is.null(gold$probability)
  )
}

# For how many cases each of some gold cases stands, by its probability of being chosen.
drawn_weight <- function(gold, which) {
  if (is.null(gold$probability)) rep(1, length(which)) else 1 / gold$probability[which]
}

# A weight is soon said, and makes as many copies.
check_gold_size <- function(n, most = 1e7) {
  if (n > most) {
    abort_fallible("weights", c(
      "No more than {number(most)} cases of known truth can be used.",
      "x" = "The weights of those given stand for {number(n)}.",
      "i" = "Give smaller weights, or the truth of fewer cases."
    ), call = NULL)
  }
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

# Do gold cases stand for all cases of a part (or for those of `which` patterns)? The inverse of
# their probabilities sums to the number of cases, give or take what chance makes of it, unless some
# cases had no chance to be drawn.
stands_for <- function(part, which = rep(TRUE, length(part$weight))) {
  w <- part$w[which[part$at]]
  cases <- sum(part$weight[which])
  !part$drawn || abs(sum(w) - cases) <= 4 * sqrt(sum(w * (w - 1))) + 0.01 * cases
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
  in_clusters(x, part$cluster)
}

# Of the cases that both answered, with the number of all, the share of them on which answers
# differ, what ratings expect of the square of u, and on how many gold cases answers differ.
gold_difference <- function(evidence, first, second) {
  answer <- evidence$answer[, c(first, second)]
  part <- gold_part(evidence, answer[, 1L] > 0L & answer[, 2L] > 0L)
  differ <- answer[, 1L] != answer[, 2L] & part$weight > 0
  if (part$gold == 0L || !any(differ) || !stands_for(part, differ)) {
    return(NULL)
  }
  share <- function(y) sum(part$weight * y) / sum(part$weight)
  among <- leaves_out_agreeing(differ[part$at], share(differ)) || !stands_for(part)
  if (among) part <- gold_where(part, differ)
  q <- apply(answer, 2L, function(of) {
    fill_unrated(predict_answer(evidence$predicted, of), part$weight)
  })
  right <- answer[part$at, , drop = FALSE] == part$truth
  u <- right[, 1L] - right[, 2L]
  ahead <- differ * (q[, 1L] - q[, 2L])
  x <- if (among) {
    difference_among(u, ahead, part, differ)
  } else {
    correct_difference(u, ahead[part$at], prediction_of(ahead, part$weight), part$w)
  }
  c(in_clusters(x, part$cluster, x$variance), list(
    differ = share(differ), one_right = share(differ * rowSums(q)),
    all = sum(part$weight), disputed = as.double(sum(differ[part$at]))
  ))
}

gold_where <- function(part, which) {
  of_gold <- c("at", "truth", "w", "cluster")
  part[of_gold] <- lapply(part[of_gold], `[`, which[part$at])
  part
}

# Was gold drawn where answers differ only, since the others need none?
leaves_out_agreeing <- function(differ, share) {
  all(differ) && share < 1 && share^length(differ) < 0.01
}

# From these alone, as a part of all cases.
difference_among <- function(u, q, part, differ) {
  among <- part$weight * differ
  share <- sum(among) / sum(part$weight)
  x <- correct_difference(u, q[part$at], prediction_of(q, among), part$w)
  square <- share * (x$variance + x$estimate^2)
  x$at_hand <- (square - (share * x$estimate)^2) / (share * x$variance)
  x$design <- x$design + x$at_hand
  x$estimate <- share * x$estimate
  x$alone <- share * x$alone
  x$variance <- share^2 * x$variance
  x[c("rest", "answers")] <- lapply(x[c("rest", "answers")], `*`, share)
  x
}

# Of the cases with an answer, those with a truth.
gold_precision <- function(evidence, s, answer, truth = answer) {
  part <- gold_part(evidence, evidence$answer[, s] == answer)
  if (part$gold > 0L && stands_for(part)) {
    gold_share(part, part$truth == truth, fill_unrated(evidence$predicted[, truth], part$weight))
  }
}

# Of the cases with a truth, those with an answer.
gold_recall <- function(evidence, s, truth, answer = truth) {
  part <- gold_part(evidence, evidence$answer[, s] > 0L)
  hit <- evidence$answer[, s] == answer
  if (!stands_for(part) || is_constant(hit, part$weight)) {
    return(NULL)
  }
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

# What gold says of how far systems err where raters err: 0 at the end of the range where errors are
# independent, 1 where all are shared. `interval` is corrected_interval()'s.
gold_common <- function(interval, independent, shared) {
  range <- independent - shared
  if (is.na(range) || abs(range) < 1e-6) range <- NA_real_
  at <- function(value) (independent - value) / range
  ends <- sort(at(c(interval$conf.low, interval$conf.high)), na.last = TRUE)
  list(estimate = at(interval$estimate), conf.low = ends[[1L]], conf.high = ends[[2L]])
}

# What ratings alone say of system number `s`: the centre of its interval, the whole error, and the
# part of it that errors in common may hide; both NA where the interval tells of sampling alone.
ratings_alone <- function(estimate, s) {
  table <- estimate$gold$alone %||% estimate$table
  bias <- sqrt(pmax(0, table$std.error[[s]]^2 - estimate$details$sampling[[s]]^2))
  list(
    estimate = estimate$details$centre[[s]], std.error = table$std.error[[s]] + 0 * bias,
    bias = bias
  )
}
