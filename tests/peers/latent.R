# Latent class fits against poLCA and against Dawid and Skene's EM, written here in plain R.
#
#   Rscript tests/peers/latent.R [output.csv] [panels]
#
# All without priors. poLCA is looked for in the library that FALLIBLE_PEERS names, and then in the
# usual ones; without it only EM is compared. Both start twice: from the estimates moved a twentieth
# towards equal probabilities, which shows whether these are a top of the same likelihood; and from
# elsewhere (EM from the votes, as Dawid and Skene did; poLCA from five random points), which shows
# whether it is the highest. Probabilities are compared where both are at the same top; where tops
# are flat, as with more parameters than cases, equal likelihoods do not mean equal probabilities.

library(fallible)

seed <- 1979L
moved <- 0.05
same_top <- 1e-5 # in log-likelihood
flat <- 1e-3 # in probabilities
random_starts <- 5L
max_steps <- 20000L

main <- function(output = NULL, panels = "50") {
  peers <- Sys.getenv("FALLIBLE_PEERS")
  if (nzchar(peers)) withr::local_libpaths(peers, action = "prefix")
  set.seed(seed)
  sets <- c(published_sets(), lapply(seq_len(as.integer(panels)), random_set))
  rows <- do.call(rbind, lapply(sets, compare_set))
  results <- do.call(rbind, lapply(split(rows, ~ start + peer, drop = TRUE), summarise))
  print(results, digits = 3L, row.names = FALSE)
  if (!is.null(output)) {
    results$date <- format(Sys.Date())
    utils::write.csv(results, output, row.names = FALSE)
  }
  if (any(results$other_higher[results$start == "estimates"] > 0L)) stop("estimates are no top")
}

# ---- Data ---------------------------------------------------------------------------------------

published_sets <- function() {
  once <- dawid1979[!duplicated(dawid1979[c("case", "rater")]), ]
  lapply(list(
    ratings(lehner2015, raters = rater1:rater4),
    ratings(once, case = case, rater = rater, rating = rating),
    ratings(dawid1979, case = case, rater = rater, rating = rating, repeats = "ratings")
  ), function(x) list(x = x, random = FALSE))
}

# Raters who are right in 60% to 90% of the cases; in every second panel a sixth is missing.
random_set <- function(i) {
  k <- sample(2:4, 1L)
  cases <- sample(60:200, 1L)
  truth <- sample.int(k, cases, replace = TRUE, prob = 1 + stats::rexp(k))
  panel <- vapply(stats::runif(sample(3:5, 1L), 0.5, 0.9), function(known) {
    ifelse(stats::runif(cases) < known, truth, sample.int(k, cases, replace = TRUE))
  }, integer(cases))
  if (i %% 2L == 0L) panel[sample(length(panel), length(panel) %/% 6L)] <- NA
  panel <- as.data.frame(panel[rowSums(!is.na(panel)) > 0L, ])
  x <- ratings(panel, raters = tidyselect::everything(), categories = seq_len(k))
  list(x = x, random = TRUE)
}

# ---- Comparison ---------------------------------------------------------------------------------

compare_set <- function(set) {
  fit <- suppressWarnings(fit_raters(set$x, dawid_skene(prior = "none")))
  own <- list(
    likelihood = as.double(stats::logLik(fit)), rates = unname(unlist(base_rates(fit))),
    matrices = lapply(seq_along(fit$x$raters), function(r) unname(fit$matrices[r, , ]))
  )
  long <- as.data.frame(set$x)
  long <- data.frame(
    case = match(long$case, set$x$cases), rater = match(long$rater, set$x$raters),
    rating = match(long$rating, set$x$categories)
  )
  near <- list(rates = towards_equal(own$rates), matrices = lapply(own$matrices, towards_equal))
  votes <- unclass(table(long$case, factor(long$rating, seq_along(own$rates))))
  rows <- list(
    compare_fit("EM", "estimates", own, run_em(long, start = near)),
    compare_fit("EM", "elsewhere", own, run_em(long, posterior = votes / rowSums(votes)))
  )
  if (requireNamespace("poLCA", quietly = TRUE) && !anyDuplicated(long[c("case", "rater")])) {
    rows <- c(rows, list(
      compare_fit("poLCA", "estimates", own, run_polca(long, near, 1L)),
      compare_fit("poLCA", "elsewhere", own, run_polca(long, NULL, random_starts, own))
    ))
  }
  cbind(random = set$random, identified = fit$identified, do.call(rbind, rows))
}

# Of a vector of probabilities, or of each row.
towards_equal <- function(p) (1 - moved) * p + moved / NCOL(t(p))

compare_fit <- function(peer, start, own, other) {
  gain <- other$likelihood - own$likelihood
  data.frame(
    peer = peer, start = start, gain = gain,
    rates = max(abs(own$rates - other$rates)),
    matrices = max(abs(unlist(own$matrices) - unlist(other$matrices)))
  )
}

summarise <- function(rows) {
  same <- abs(rows$gain) <= same_top
  ridge <- same & pmax(rows$rates, rows$matrices) > flat
  largest <- function(x, where) signif(max(abs(x[where]), 0), 2L)
  data.frame(
    rows[1L, c("peer", "start")], version = version_of(rows$peer[[1L]]), sets = nrow(rows),
    same = sum(same), flat = sum(ridge), own_higher = sum(rows$gain < -same_top),
    other_higher = sum(rows$gain > same_top), gain = signif(max(rows$gain), 2L),
    likelihood = largest(rows$gain, same), base_rates = largest(rows$rates, same & !ridge),
    confusion = largest(rows$matrices, same & !ridge)
  )
}

version_of <- function(peer) if (peer == "EM") NA else format(utils::packageVersion(peer))

# ---- Peers --------------------------------------------------------------------------------------

# Rows of `long` are ratings. Begins with the step that its start allows; ends where a step gains
# nothing.
run_em <- function(long, start = NULL, posterior = NULL) {
  k <- if (is.null(start)) ncol(posterior) else length(start$rates)
  cell <- factor(long$rater + max(long$rater) * (long$rating - 1L), seq_len(k * max(long$rater)))
  parameters <- if (!is.null(start)) {
    list(rates = start$rates, cells = do.call(rbind, lapply(seq_len(k), function(answer) {
      t(vapply(start$matrices, function(p) p[, answer], double(k)))
    })))
  }
  before <- -Inf
  for (step in seq_len(max_steps)) {
    if (is.null(parameters)) parameters <- maximise(posterior, long, cell)
    joint <- exp(rowsum(log(parameters$cells[cell, ]), long$case))
    joint <- joint * rep(parameters$rates, each = nrow(joint))
    likelihood <- sum(log(rowSums(joint)))
    if (likelihood - before < 1e-12) break
    before <- likelihood
    posterior <- joint / rowSums(joint)
    result <- parameters
    parameters <- NULL
  }
  list(likelihood = before, rates = result$rates, matrices = lapply(
    seq_len(max(long$rater)), function(r) t(result$cells[seq(r, nlevels(cell), max(long$rater)), ])
  ))
}

# Shares of answers: rows of `cells` are raters within answers, columns are classes.
maximise <- function(posterior, long, cell) {
  k <- ncol(posterior)
  counts <- matrix(0, nlevels(cell), k)
  sums <- rowsum(posterior[long$case, , drop = FALSE], as.integer(cell))
  counts[as.integer(rownames(sums)), ] <- sums
  rater <- rep_len(seq_len(max(long$rater)), nlevels(cell))
  totals <- rowsum(counts, rater)[rater, ]
  list(rates = colMeans(posterior), cells = counts / pmax(totals, 1e-300))
}

# From given probabilities, or the best of some random starts. A rater's columns end with the last
# category that the rater used.
run_polca <- function(long, near, repeats, own = NULL) {
  k <- max(long$rating)
  wide <- as.data.frame(tapply(long$rating, long[c("case", "rater")], sum))
  names(wide) <- paste0("r", seq_along(wide))
  used <- vapply(wide, max, 0L, na.rm = TRUE)
  classes <- if (is.null(near)) length(own$rates) else length(near$rates)
  start <- if (!is.null(near)) {
    Map(function(p, last) p[, seq_len(last)] / rowSums(p[, seq_len(last)]), near$matrices, used)
  }
  utils::capture.output(fit <- poLCA::poLCA(
    stats::as.formula(paste0("cbind(", toString(names(wide)), ") ~ 1")), wide, classes, max_steps,
    na.rm = FALSE, probs.start = start, nrep = repeats, tol = 1e-12, verbose = FALSE,
    calc.se = FALSE
  ))
  matrices <- lapply(fit$probs, function(p) cbind(p, matrix(0, classes, k - ncol(p))))
  order <- if (is.null(near)) closest_order(matrices, own$matrices) else seq_len(classes)
  list(
    likelihood = fit$llik, rates = fit$P[order],
    matrices = lapply(unname(matrices), function(p) unname(p[order, , drop = FALSE]))
  )
}

# Classes have no names after a random start.
closest_order <- function(matrices, own) {
  k <- nrow(own[[1L]])
  orders <- as.matrix(expand.grid(rep(list(seq_len(k)), k)))
  orders <- orders[apply(orders, 1L, anyDuplicated) == 0L, , drop = FALSE]
  off <- apply(orders, 1L, function(order) {
    sum(unlist(Map(function(p, q) sum((p[order, ] - q)^2), matrices, own)))
  })
  orders[which.min(off), ]
}

arguments <- commandArgs(trailingOnly = TRUE)
do.call(main, as.list(arguments))
