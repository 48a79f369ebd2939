# Cells of a confusion matrix from gold. The probability of a truth given an answer (precision, on
# the diagonal) is a share of the cases with that answer: correct_share() on these alone. That of an
# answer given a truth (recall, on the diagonal) is a ratio of two means over all cases, since it is
# not known which cases have that truth.

# `member` is 1 for gold cases of the truth, `hit` for those of them with the answer; `q_member` and
# `q_hit` are what is predicted of them per pattern of cases, `weight` the number of its cases, and
# `at` the pattern of each gold case. NULL where no gold case has the truth.
#
# Result: like that of correct_mean(), of a share of the cases with the truth: `variance` is that of
# the rate, and `gold` and `cases` are numbers of those with the truth (`labels` of all gold cases).
correct_rate <- function(hit, member, q_hit, q_member, weight, at, w = rep(1, length(hit))) {
  w <- w / mean(w)
  gold <- sum(w * member)
  if (gold <= 0) return(NULL)
  mean_of <- function(y, q) correct_share(y, q[at], prediction_of(q, weight), w)$estimate
  share <- min(max(mean_of(member, q_member), 0.5 * gold / length(hit)), 1)
  rate <- min(max(mean_of(hit, q_hit) / share, 0), 1)
  rate <- (rate * gold + 0.5) / (gold + 1) # half a case of either kind
  own <- rate * (1 - rate)
  q <- q_hit - rate * q_member
  off <- correct_mean(
    hit - rate * member, q[at], prediction_of(q, weight),
    function(mean, spread, gold) max(spread, own * share),
    w = w
  )
  # How much more the mean of hit - rate * member varies than a share of the cases with the truth.
  more <- off$variance / (own * share)
  list(
    estimate = min(max(rate + off$estimate / share, 0), 1),
    alone = min(max(rate + off$alone / share, 0), 1), slope = off$slope,
    seen = sum(w * hit) / gold,
    ratio = off$ratio * more, variance = own, rest = off$rest, answers = off$answers,
    gold = off$gold * share, labels = off$gold, cases = off$cases * share,
    design = off$design * more, at_hand = more
  )
}
