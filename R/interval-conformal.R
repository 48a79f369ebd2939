# Robust intervals whose width is taken from what is known elsewhere: conformal prediction over
# families of data sets (Lee, Barber and Willett 2023).

interval_conformal <- new_interval(
  "conformal",
  words = "conformal interval", average = TRUE, hidden = TRUE, replicates = 200L,
  uncounted = "so sampling error has no scale",
  find = function(draft, table) conformal_interval(draft, table),
  draws = function(estimate, replicates) conformal_draws(estimate, replicates),
  note = function(estimate) paste0("Interval (conformal): ", format(calibration_of(estimate))),
  explain = function(estimate) {
    paste(explain_robust(estimate), "The number of standard errors on either side is the one that
      would have covered in families of public data sets with known truth (hierarchical conformal
      prediction, Lee, Barber and Willett 2023).")
  }
)

# The robust error, times a factor from the reference sets instead of that of the normal curve.
conformal_interval <- function(draft, table) {
  found <- robust_interval(draft, table)
  if (!is.null(found$centre)) {
    found$table <- with_limits(found$table, found$centre, calibration_of(draft)$factor)
  }
  found
}

# Robust draws, as much further from the estimates as these intervals are wider.
conformal_draws <- function(estimate, replicates) {
  calibration <- calibration_of(estimate)
  if (is.infinite(calibration$factor)) {
    return("with so few families of reference sets no interval is wide enough")
  }
  wider <- calibration$factor / robust_quantile(estimate$options, calibration$conf_level)
  draws <- robust_draws(estimate, replicates)
  if (is.character(draws)) return(draws)
  centre <- rep(estimate$details$centre, each = nrow(draws))
  draws[] <- centre + wider * (draws - centre)
  draws
}

# Language models are compared with their kind, people with people.
calibration_of <- function(of) {
  sets <- default_reference_sets()
  sets <- sets[(sets$kind %in% machine_kinds) == (panel_kind(of$fit) == "machines"), ]
  calibrate_interval(sets, of$options$conf_level)
}

default_reference_sets <- function() {
  getOption("fallible.reference_sets", fallible::reference_sets)
}

#' How wide intervals must be, by what happened elsewhere
#'
#' Takes data sets with known truth for a sample of those that there are, and finds the number of
#' robust standard errors that an interval needs in order to cover.
#'
#' Each system of a set has a score, the distance of its estimate from the truth in robust standard
#' errors (see section Intervals of [estimate_accuracy()]). Of `K` families each has the mass
#' `1 / (K + 1)`, shared equally by its systems, and so has infinity; the factor is the quantile
#' `conf_level` of these scores (hierarchical conformal prediction, Lee, Barber and Willett 2023).
#'
#' The promise holds in samples of any size and whatever the errors are like: if your data are one
#' more family drawn in the same way as these, the interval `estimate -+ factor * std.error` covers
#' the accuracy of a system with probability `conf_level` at least. It is a promise on average over
#' families, your own among them, not for your data in particular, and none at all if these are of
#' another kind. With few families the factor is infinite, since nothing can be promised: `K` must
#' be at least `conf_level / (1 - conf_level)`.
#'
#' `estimate_accuracy(interval = "conformal")` uses the sets that the option
#' `fallible.reference_sets` holds, otherwise [reference_sets]; those of kind `"model"` or `"tool"`
#' if raters are machines, and the others if not. Add your own by `rbind()`.
#'
#' @param sets A data frame like [reference_sets].
#' @param conf_level Probability with which intervals are meant to cover, in (0, 1).
#' @param x A `calibrate_interval()` result.
#' @param ... Not used.
#' @return An object of class `interval_calibration`. Its field `factor` is the number of standard
#'   errors on either side. `tidy()` has a row per family: `family`, the number of `systems`, and
#'   the median and highest `score`; `glance()` one row: `factor`, `conf_level`, `families`,
#'   `systems`, and `normal`, the factor of the normal curve.
#' @references Lee, Y., Barber, R. F. and Willett, R. (2023). Distribution-free inference with
#'   hierarchical data. arXiv:2306.06342.
#' @family estimation
#' @examples
#' calibrate_interval(reference_sets)
#'
#' mine <- reference_sets[1, ]
#' mine$family <- "mine"
#' mine$truth <- 0.7
#' before <- options(fallible.reference_sets = rbind(reference_sets, mine))
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' estimate_accuracy(x, interval = "conformal")
#' options(before)
#' @export
calibrate_interval <- function(sets = default_reference_sets(),
                               conf_level = default_conf_level()) {
  check_reference_sets(sets)
  conf_level <- check_level(conf_level)
  error <- core_robust_error(
    sets$estimate, sets$sampling, sets$gap, sets$dependence_weight, sets$rater_error,
    sets$base_rate_range, sets$open_share,
    ifelse(sets$kind %in% machine_kinds, "machines", "people")
  )
  off <- abs(error$centre - sets$truth)
  score <- ifelse(off == 0, 0, off / error$std.error)
  family <- as.character(sets$family)
  new_result("interval_calibration",
    factor = family_quantile(score, family, conf_level), conf_level = conf_level,
    score = split(score, factor(family, unique(family)))
  )
}

check_reference_sets <- function(sets) {
  needed <- c(
    "family", "kind", "estimate", "truth", "sampling", "gap", "dependence_weight", "rater_error",
    "base_rate_range", "open_share"
  )
  lacking <- setdiff(needed, names(sets))
  abort_argument_if(!is.data.frame(sets) || length(lacking) > 0L, "sets",
    "must be a data frame like {.code reference_sets}.",
    x = if (is.data.frame(sets)) "It lacks {.val {lacking}}." else "It is {describe(sets)}.")
  holes <- needed[vapply(as.list(sets)[needed], anyNA, NA)]
  abort_argument_if(holes, "sets", "must be complete.",
    x = "Values are missing in {.val {holes}}.")
}

# The least score with mass enough at or below it, infinite if there is none.
family_quantile <- function(score, family, conf_level) {
  size <- stats::ave(score, family, FUN = length)
  by_size <- order(score)
  mass <- cumsum(1 / ((length(unique(family)) + 1) * size[by_size]))
  c(score[by_size][mass >= conf_level - 1e-12], Inf)[[1L]]
}

#' @rdname calibrate_interval
#' @export
print.interval_calibration <- function(x, ...) {
  cat_lines(
    paste0("<interval_calibration> ", format(x)),
    paste0(
      "The normal curve has +-", decimals(normal_quantile(x$conf_level), 2L), ". If your data are ",
      "one more such family, coverage is at least ", format(x$conf_level), "."
    ),
    if (is.infinite(x$factor)) {
      paste0(
        "With so few families no interval is wide enough to guarantee coverage. There must be ",
        ceiling(x$conf_level / (1 - x$conf_level) - 1e-9), "."
      )
    }
  )
  invisible(x)
}

#' @rdname calibrate_interval
#' @export
format.interval_calibration <- function(x, ...) {
  paste0(
    if (is.infinite(x$factor)) "no number of" else paste0("+-", decimals(x$factor, 2L)),
    " standard errors, as ", count_noun(sum(lengths(x$score)), "system"), " of ",
    count_noun(length(x$score), "family", "families"), " of data sets needed"
  )
}

#' @rdname calibrate_interval
#' @export
tidy.interval_calibration <- function(x, ...) {
  check_dots_empty(...)
  tibble::tibble(
    family = names(x$score), systems = unname(lengths(x$score)),
    median_score = unname(vapply(x$score, stats::median, 0)),
    highest_score = unname(vapply(x$score, max, 0))
  )
}

#' @rdname calibrate_interval
#' @export
glance.interval_calibration <- function(x, ...) {
  check_dots_empty(...)
  tibble::tibble(
    factor = x$factor, conf_level = x$conf_level, families = length(x$score),
    systems = sum(lengths(x$score)), normal = normal_quantile(x$conf_level)
  )
}
