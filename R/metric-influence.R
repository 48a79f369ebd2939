# How much of a metric of scores each case has: n times its derivative by the weight of the case for
# each category, cases x categories. Like the kernels of metric-scores.R these give a list of
# `whole` and `each`.

# Of auc_of_weights(): `a` by the weights of one kind, `b` by those of the other.
auc_influence <- function(order, a, b, v) {
  sums <- c(sum(a * v), sum(b * v))
  ties <- diff(c(0L, order$end))
  half_above <- function(weight) {
    above <- weight_above(order, weight * v)
    out <- numeric(length(v))
    out[order$at] <- rep(above - diff(c(0, above)) / 2, ties)
    out
  }
  below <- sums[[2L]] - half_above(b)
  value <- sum(a * v * below) / prod(sums)
  list(
    a = sum(v) * (below / sums[[2L]] - value) / sums[[1L]],
    b = sum(v) * (half_above(a) / sums[[1L]] - value) / sums[[2L]]
  )
}

roc_auc_influence <- function(book, w, v, settings) {
  n <- ncol(w)
  whole <- 0 * w
  pairs <- pairs_there(w, v)
  for (ij in pairs) {
    of <- auc_influence(book$order[[ij[[1L]]]], w[, ij[[1L]]], w[, ij[[2L]]], v)
    whole[, ij] <- whole[, ij] + cbind(of$a, of$b) / length(pairs)
  }
  list(whole = whole, each = if (n > 2L) lapply(seq_len(n), function(k) {
    of <- auc_influence(book$order[[k]], w[, k], 1 - w[, k], v)
    out <- matrix(of$b, length(v), n)
    out[, k] <- of$a
    out
  }))
}

# How many cases are above does not depend on their truth, but on there being a case.
# `average`: between thresholds, does the curve keep the lower precision, or is it a straight line?
precision_influence <- function(average) {
  function(book, w, v, settings) {
    list(each = lapply(seq_len(ncol(w)), function(k) {
      order <- book$order[[k]]
      a <- w[, k]
      own <- diff(c(0, weight_above(order, a * v)))
      cases <- weight_above(order, v)
      hits <- weight_above(order, a * v)
      precision <- hits / cases
      middle <- if (average) precision else (precision + c(1, precision[-length(precision)])) / 2
      # Sums over this threshold and all later ones.
      onwards <- function(x) {
        before <- if (average) x else c(0, x[-length(x)])
        rev(cumsum(rev(own * (x + before) / 2))) - if (average) 0 else own * before / 2
      }
      later <- onwards(hits / cases^2)
      by_case <- function(by_tie) {
        sum(v) / sum(a * v) * rep(by_tie, diff(c(0L, order$end)))[order(order$at)]
      }
      out <- matrix(by_case(-later), length(v), ncol(w))
      hit <- middle + onwards(1 / cases) - later - sum(own * middle) / sum(a * v)
      out[, k] <- by_case(hit)
      out
    }))
  }
}

of_losses <- function(losses, w, v) list(whole = losses - mean_loss(losses, w, v))

brier_influence <- function(book, w, v, settings) of_losses(brier_losses(book$scores), w, v)

log_loss_influence <- function(book, w, v, settings) of_losses(log_losses(book$scores), w, v)

# While gaps keep their signs.
ece_influence <- function(book, w, v, settings) {
  table <- top_reliability(book, w, v, settings$bins)
  score <- book$scores[cbind(seq_along(book$top), book$top)]
  side <- sign(table$gap)[match(bin_of_score(score, settings$bins), table$bin)]
  hit <- outer(book$top, seq_len(ncol(w)), `==`)
  of_losses(side * (hit - score), w, v)
}

# A list of such matrices, one per row of a plan.
score_influence <- function(plan, book, w, v) {
  share <- colSums(w * v) / sum(v) # of one, as weights of a case are
  unlist(lapply(plan$records, function(record) {
    of <- record$influence(book, w, v, plan$settings)
    value <- record$kernel(book, w, v, plan$settings)$each
    c(lapply(score_averages(plan, record), function(average) {
      switch(average,
        macro = Reduce(`+`, of$each) / length(of$each),
        macro_weighted = Reduce(`+`, Map(`*`, of$each, share)) +
          rep(value - sum(value * share), each = length(v)),
        of$whole
      )
    }), of$each)
  }), recursive = FALSE, use.names = FALSE)
}
