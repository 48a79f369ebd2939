# What designs say of single raters and systems (judges), and how cases of a stratum differ.

# One number for all judges, or one for each, or some by name (the others are zero). `judges` are
# what the argument is about, in words.
by_judge <- function(x, names, arg, least, judges) {
  named <- !is.null(names(x))
  ok <- is.numeric(x) && length(x) > 0L &&
    all(is.finite(x) & x < 1 & (x > least | x == 0))
  fits <- if (named) all(names(x) %in% names) else length(x) %in% c(1L, length(names))
  abort_argument_if(!ok || !fits || anyDuplicated(names(x)) > 0L, arg,
    "must be one number in {if (least == 0) '[' else '('}{least}, 1), or one for each {judges}, or
        some by name.",
    not = x, i = "There are {.val {names}}.")
  out <- double(length(names))
  if (named) replace(out, match(names(x), names), x) else rep_len(as.double(x), length(names))
}

# What judges have in the place of others: what all of these had. `x` is one number per judge.
for_others <- function(x, n) rep(if (length(x) > 0L) x[[1L]] else 0, n)

all_same <- function(x) length(unique(x)) < 2L

# The confusion matrix that a design gives for a judge in a stratum.
given_matrix <- function(design, judge, stratum) {
  n <- n_categories(design)
  given <- design$matrices[[judge]]
  first <- if (length(given) > n^2) (stratum - 1L) * n^2 else 0L
  matrix(given[first + seq_len(n^2)], n, n, byrow = TRUE)
}

# How cases differ beside truth and stratum: by an effect, standard normal, and by their position in
# the order of cases, from 0 to 1. A grid with weights that sum to one, by which means over cases
# are computed: sums of a normal density on even steps, and Simpson's rule.
case_nodes <- function(design) {
  effect <- if (any(design$loading != 0)) seq(-6, 6, by = 0.05) else 0
  position <- if (any(design$drift != 0)) seq(0, 1, by = 0.05) else 0.5
  simpson <- if (length(position) > 1L) c(1, rep(c(4, 2), 9), 4, 1) else 1
  normal <- stats::dnorm(effect)
  nodes <- expand.grid(effect = effect, position = position)
  nodes$weight <- as.vector(normal %o% simpson) / (sum(normal) * sum(simpson))
  nodes
}

# The row of a confusion matrix that holds for a case: what the simulator draws from.
case_row <- function(row, truth, loading, drift, effect, position) {
  if (loading == 0 && drift == 0) return(row)
  n <- length(row)
  right <- min(max(row[[truth]] + drift * (position - 0.5), 0), 1)
  order <- (truth + seq_len(n) - 2L) %% n + 1L
  wrong <- if (row[[truth]] < 1) {
    row[order[-1L]] * (1 - right) / (1 - row[[truth]])
  } else {
    rep((1 - right) / (n - 1), n - 1L)
  }
  share <- c(right, wrong)
  if (loading != 0) {
    ends <- stats::qnorm(c(pmin(cumsum(share[-n]), 1), 1))
    share <- diff(c(0, stats::pnorm((ends - loading * effect) / sqrt(1 - loading^2))))
  }
  replace(row, order, share)
}
