# All tables of an estimate.

#' Tables and words of an accuracy estimate
#'
#' @param x An [estimate_accuracy()] result.
#' @param i Systems to keep: names, numbers or truth values.
#' @param what `"estimate"`: the estimates; `"details"`: what each rests on; `"members"`: the models
#'   that were averaged; `"gold"`: what gold cases and ratings say, each alone and together;
#'   `"gold_details"`: what gold cases say besides; `"replicates"`: those of the bootstrap;
#'   `"bins"`: those of method `"binned"`; `"roc"`, `"reliability"` and `"threshold"`: of systems
#'   with scores, see [score_curves] for these and for what they take in `...`.
#' @param digits Number of decimals of the percentages.
#' @param ... For `as.data.frame()`, passed on to `tidy()`; for tables of scores see [score_curves];
#'   otherwise not used.
#' @return `tidy()`: a tibble. For `"estimate"`, a row per system: `system`; `estimate`, its
#'   accuracy, a probability; `std.error`, `conf.low` and `conf.high`; `shared` and `independent`,
#'   the ends of the range of what dependence between system and raters could make of the estimate,
#'   `NA` where no models were averaged (methods `"binned"` and `"unbinned"` without a robust
#'   interval); `n`, the number of its cases that raters saw; `method`; `reason`, why something is
#'   `NA`.
#'
#'   For `"details"`, a row per system: `system`; `uninformative`, the share of its cases in bins
#'   that say nothing (method `"binned"`); `mean_posterior`, the mean posterior probability of its
#'   answers; `failed`, the number of bootstrap replicates without an estimate; `common`, the share
#'   of the distance from `independent` to `shared` of the correction (`NA` for methods that
#'   assume what they assume). Where models were averaged (method `"average"`, and every robust
#'   interval) also `sampling`, the part of `std.error` that is sampling error; `rater_error`, the
#'   share of ratings that are wrong under these models; `independence_weight`, the weight of the
#'   models that show no sign of shared errors (equal difficulty, no error rates of their own),
#'   fitted to raters alone; `dependence_weight`, how much of shared errors is allowed for, from 0
#'   to 1 (see [estimate_accuracy()]); `average_shared`, the accuracy if all errors are shared,
#'   under the models of `"average"`; `base_rate_range`, the range of accuracies over the base rates
#'   that ratings leave possible; `centre`, that of the robust interval, which is the estimate
#'   unless machines rate. For all methods `disagreement_error`, the share of ratings that are not
#'   those of the plurality of the others of their case (ties split).
#'
#'   For `"members"`, a row per system and averaged model, without rows where none were: `system`;
#'   `accuracy`, `errors`, `difficulty` and `concentration`, which model it is; its `log_prior`,
#'   `log_evidence` and `weight`; `estimate`, `std.error` and `rater_accuracy` under it, roughly
#'   where the evidence rules it out.
#'
#'   For `"gold"`, rows only where gold cases measured (see [estimate_accuracy()]): for each
#'   `system` one per `interval`, which are `"gold alone"` (Wilson's), `"ratings alone"`,
#'   `"corrected"` and `"combined"`, and `"anytime"` if it was asked for: `estimate`, `std.error`,
#'   `conf.low` and `conf.high`; `labels`, the number of gold cases that without ratings would have
#'   as small an error; `weight` of gold in the estimate, from 0 to 1 (with `"corrected"` ratings
#'   correct it, but are never believed: 1); `reason`, why something is `NA`.
#'
#'   For `"gold_details"`, a row per system: `system`; `gold`, its number of gold cases (copies, if
#'   cases have weights), out of `cases`; `worth`, how many labels without ratings do what one does
#'   with them in the corrected interval; `statistic` and `p.value` of the test that the estimate
#'   from ratings alone is right, `NA` below five gold cases; `common`, the share of
#'   shared errors by the gold cases, in \[0, 1\], with the ends `common.low` and `common.high` of
#'   its interval: 0 where the corrected estimate is `independent`, 1 where it is `shared`, `NA`
#'   where all of the interval is beyond; `reason`, why gold cases say nothing of the system.
#'
#'   For `"replicates"`, a row per bootstrap replicate and system: `replicate`, `system` and
#'   `estimate`; no rows where nothing was drawn.
#'
#'   For `"bins"`, a row per system and non-empty bin, highest first (Lehner 2015, Table 4):
#'   `system`; `lower` and `upper`, the limits of the highest posterior probability,
#'   `(lower, upper]`; `probability`, its mean; `cases`, their number (or weight); `agreement`, the
#'   share of the system's answers that are the most probable category; `estimate_raw`, the accuracy
#'   before clipping, `NA` for a bin that says nothing; `estimate`, what enters the mean.
#'
#'   `x[i]`: the estimate of these systems alone.
#'
#'   `glance()`: a tibble with one row: the number of `systems`; `method`, `interval`, `conf_level`;
#'   `agreement`, `kappa` and `chance_kappa` of the raters, `rater_accuracy` under the model that
#'   was fitted, and the numbers of `cases`, `raters` and `categories`, as in
#'   [glance()][tidy.rater_fit] of a fit; `negative`, the number of base rates that came out
#'   negative and were set to zero; `clip` and `bin_width`; `replicates` of the bootstrap; the
#'   number of `gold` cases, `gold_sample` and `target`, where gold cases measured.
#'
#'   `format()`: for each system one line, such as `78% (90% interval 67% to 90%)`; a vector with
#'   the systems as names if there are several.
#' @family estimation
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' estimate <- estimate_accuracy(x)
#' tidy(estimate)
#' tidy(estimate, "details")
#' glance(estimate)
#' format(estimate)
#' @export
tidy.accuracy_estimate <- function(x, what = c(
                                     "estimate", "details", "members", "gold", "gold_details",
                                     "replicates", "bins", "roc", "reliability", "threshold"
                                   ), ...) {
  what <- check_choice(what)
  of_scores <- list(
    roc = roc_of_estimate, reliability = reliability_of_estimate, threshold = threshold_of_estimate
  )[[what]]
  if (!is.null(of_scores)) {
    check_known_dots(setdiff(names(formals(of_scores)), "x"), ...)
    return(of_scores(x, ...))
  }
  check_dots_empty(...)
  bins <- method_of(x)$bins
  abort_argument_if(what == "bins" && !bins, "what",
    "There are no bins in an estimate with method {.val {x$options$method}}.",
    i = "Use {.code estimate_accuracy(method = \"binned\")}.")
  if (!bins) x$details$uninformative <- NA_real_
  switch(what, estimate = x$table, bins = , details = x[[what]],
    members = if (NROW(x$members) > 0L) x$members else no_members,
    gold = x$gold$sources %||% no_gold_sources, gold_details = x$gold$details %||% no_gold_details,
    replicates = replicate_table(x$replicates %||% matrix(0, 0L, 0L)))
}

# `...` of tables that take arguments of their own: all named, and known.
check_known_dots <- function(known, ...) {
  off <- setdiff(rlang::names2(list(...)), known)
  abort_argument_if(off, "...",
    if (any(off == "")) "Arguments in {.arg ...} must be named." else "There is no argument
        {.arg {off}} here.", i = "They are {.arg {known}}.")
}

replicate_table <- function(replicates) {
  tibble::tibble(
    replicate = as.vector(row(replicates)),
    system = rep(colnames(replicates) %||% character(), each = nrow(replicates)),
    estimate = as.double(replicates)
  )
}

no_members <- tibble::tibble(
  system = character(), accuracy = character(), errors = character(), difficulty = double(),
  concentration = double(), log_prior = double(), log_evidence = double(), weight = double(),
  estimate = double(), std.error = double(), rater_accuracy = double()
)
