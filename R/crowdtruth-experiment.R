# Does it help to look at units and annotations when workers are judged? The paper's four arms.

#' The four arms of the CrowdTruth experiment
#'
#' Measures the workers four times: on everything (`none`), without unclear units (`units`), with
#' annotations merged (`annotations`), and with both, units first (`both`); and compares how well
#' each tells workers known to be of low quality from the others.
#'
#' Accuracy is from a linear rule fitted in each arm, with the same folds, and measured on the
#' workers that were left out; see [flag_workers()]. What the paper reports is different: a rule
#' trained on other data. The tests are paired by worker: the improvement of a metric is its
#' increase for a worker of low quality and its decrease for another.
#'
#' @param x [ratings()], as a rule with `repeats = "labels"`; or a [crowdtruth()] result, whose
#'   version and options are then used.
#' @param known Named logical vector: for some workers, by name, whether they are of low quality.
#'   Workers who are left out for `min_units` need not be taken out of it.
#' @param into,other,frequent,clear,similar What to merge, see [merge_annotations()].
#' @param below,sd Which units to leave out, see [filter_units()].
#' @param min_units Workers who judged fewer units are left out of all arms; see [filter_workers()].
#' @param metrics,folds See [flag_workers()].
#' @param ... Not used.
#' @return An object of class `crowdtruth_experiment`, a list with `arms` (a [crowdtruth()] result
#'   for each), `flags` (a [flag_workers()] result for each), `workers`, `improvements`, `tests` and
#'   `left_out` (known workers without enough units), with methods for `print()`, `tidy()`,
#'   `glance()` and [autoplot()][autoplot.crowdtruth].
#'
#'   `tidy()` or `tidy(what = "tests")`: a row per arm, `against` and `metric` (but for
#'   `annotations_per_unit`): `n`, the number of known workers with both values; `improved` and
#'   `worsened`, how many became better and worse; `estimate`, the mean improvement, with
#'   `std.error`; `p.value` and `p.wilcoxon`, two-sided p-values of the paired t test and of the
#'   signed-rank test (normal approximation, `NA` where nothing changed).
#'
#'   `tidy(what = "improvements")`: what the tests are made of, a row per `arm`, `against`, `metric`
#'   and known `worker`. `tidy(what = "workers")`: a row per arm and worker: `arm`, `worker`, the
#'   metrics, `score`, `known` and `held_out`. `tidy(what = "arms")`: a row per arm: `arm`, `units`,
#'   `annotations`, then the columns of `glance(<worker_flags>)`, and `gap`: how far the lowest
#'   score of a known worker of low quality is above the highest of another, in the rule fitted to
#'   all, in standard deviations of its scores; above 0, a line separates them.
#'
#'   `glance()`: a tibble with one row: `version`; the numbers of `arms`, `workers`, `known` workers
#'   and those of `low` quality, and of those `left_out`; `folds`; `best`, the arm with the highest
#'   `accuracy` on left-out workers (the first of equals). `format()`: these in a line.
#' @family CrowdTruth
#' @templateVar where Sections 5.2 to 5.5, Figures 3 and 4
#' @template ref-crowdtruth
#' @examples
#' set.seed(1)
#' x <- simulate_crowd(spammers = c(random = 3, constant = 2, copy = 3))
#' known <- worker_kinds(x) != "faithful"
#' into <- c(B = "A", D = "C")
#' crowdtruth_experiment(x, known, into = into)
#' @export
crowdtruth_experiment <- function(x, known, into = NULL, other = NULL, ..., below = NULL, sd = 1,
                                  frequent = 0.5, clear = 0.6, similar = 0.6, min_units = 3L,
                                  metrics = NULL, folds = 10L) {
  check_given()
  check_dots_empty(...)
  call <- rlang::current_env()
  x <- as_crowdtruth(x)
  check_identity(x$ratings, call)
  check_known(known, x, call)
  none <- filter_workers(x, min_units = min_units)
  left_out <- setdiff(names(known), none$workers$worker)
  known <- known[names(known) %in% none$workers$worker]
  units <- filter_units(none, below, sd)
  # What is merged is decided on all units, so that the arms differ in one thing at a time.
  if (is.null(into)) into <- proposed_merges(none, other, frequent, clear, similar)
  arms <- list(
    none = none, units = units, annotations = merge_annotations(none, into),
    both = merge_annotations(units, into)
  )
  seed <- draw_seed()
  flags <- lapply(arms, function(arm) {
    withr::with_seed(seed[[1L]], flag_workers(arm, metrics, known = known, folds = folds))
  })
  workers <- stack_tables(lapply(names(flags), function(arm) {
    c(list(arm = rep(arm, nrow(flags[[arm]]$workers))), as.list(flags[[arm]]$workers))
  }))
  gains <- improvements(flags)
  structure(
    list(
      arms = arms, flags = flags, workers = tibble::as_tibble(workers), improvements = gains,
      tests = paired_tests(gains), left_out = left_out
    ),
    class = c("crowdtruth_experiment", "fallible_result")
  )
}

# How much closer to the truth each metric of each known worker has come. How many annotations a
# worker gives is no measure of quality by itself, and is left out where there are others.
improvements <- function(flags) {
  metrics <- flags$none$metrics
  if (length(metrics) > 1L) metrics <- setdiff(metrics, "annotations_per_unit")
  pairs <- expand.grid(
    metric = metrics, pair = 1:5, stringsAsFactors = FALSE, KEEP.OUT.ATTRS = FALSE
  )
  pairs$arm <- c("units", "annotations", "both", "both", "both")[pairs$pair]
  pairs$against <- c("none", "none", "none", "units", "annotations")[pairs$pair]
  rows <- lapply(seq_len(nrow(pairs)), function(i) {
    metric <- pairs$metric[[i]]
    after <- flags[[pairs$arm[[i]]]]$workers
    before <- flags[[pairs$against[[i]]]]$workers
    side <- suspicious[[metric]] * ifelse(after$known, 1, -1)
    gain <- side * (after[[metric]] - before[[metric]])
    use <- which(!is.na(gain))
    c(
      lapply(pairs[i, c("arm", "against", "metric")], rep, length(use)),
      list(worker = after$worker[use], known = after$known[use], improvement = gain[use])
    )
  })
  tibble::as_tibble(stack_tables(rows))
}

paired_tests <- function(gains) {
  groups <- keys(gains[c("arm", "against", "metric")])
  tibble::as_tibble(stack_tables(lapply(unique(groups), function(g) {
    rows <- gains[groups == g, ]
    c(as.list(rows[1L, c("arm", "against", "metric")]), paired_test(rows$improvement))
  })))
}

paired_test <- function(gain) {
  n <- length(gain)
  error <- if (n > 1L) stats::sd(gain) / sqrt(n) else NA_real_
  moved <- gain[abs(gain) > 1e-12]
  list(
    n = n, improved = sum(gain > 1e-12), worsened = sum(gain < -1e-12), estimate = mean(gain),
    std.error = error,
    p.value = if (n > 1L && error > 0) 2 * stats::pt(-abs(mean(gain)) / error, n - 1) else NA_real_,
    p.wilcoxon = if (length(moved) > 0L) {
      stats::wilcox.test(moved, exact = FALSE)$p.value
    } else {
      NA_real_
    }
  )
}
