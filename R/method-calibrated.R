# Accuracy of constant systems from one judge whose errors are known, mostly by a calibration sample
# from elsewhere: the base rate of the category that means that an answer is right (see
# fit-one-judge.R).

# Is the only rater known by probabilities, so that base rates are those of constant systems?
is_known_judge <- function(fit) {
  x <- fit$x
  n_raters(x) == 1L && any(is_known_rater(fit)) && n_systems(x) > 0L &&
    all(x$systems %in% x$constant)
}

#' @rdname estimate_accuracy
#' @export
estimate_accuracy.judge_fit <- function(x, # nolint: object_name.
                                        conf_level = default_conf_level(), by = NULL,
                                        systems = NULL, interval = NULL, ...) {
  off <- rlang::names2(drop_null(list(...)))
  abort_argument_if(off, "...", "{.arg {off}} {?is/are} not for a judge with a calibration sample.",
    i = if ("known_truth" %in% off) "Leave out the calibration sample, {.arg known_raters}, to use
        {.arg known_truth}.")
  options <- list(
    method = "calibrated", conf_level = check_level(conf_level), clip = NA_character_,
    bin_width = NA_real_, record = method_calibrated,
    interval = if (is.null(interval)) "calibrated" else check_choice(interval, "none", "interval"),
    interval_record = if (is.null(interval)) interval_calibrated
  )
  by <- by_of_cases(rlang::enquo(by), x$x)
  x <- fit_with(x, choose_systems(x$x, systems))
  check_has_systems(x$x)
  own <- setdiff(x$x$systems, x$x$constant)
  abort_if(own, "system",
    "One judge with a calibration sample cannot estimate the accuracy of a system that has answers
        of its own.",
    x = "{.val {own}} {?has/have} answers, and the sample does not show which errors the judge
        shares with {?it/them}.",
    i = "Label a random sample of the cases, and give it as {.arg known_truth}.", system = own)
  if (is.null(by)) return(calibrated_estimate(x, options))
  estimate_by(x$x, by, function(part, cluster, gold) {
    fit <- fit_again(x, part)
    class(fit) <- union("judge_fit", class(fit))
    calibrated_estimate(fit, options)
  }, NULL, NULL)
}

calibrated_estimate <- function(fit, options) {
  x <- fit$x
  category <- apply(x$patterns$answer, 2L, max)
  value <- fit$base_rates[category]
  draft <- list(
    fit = fit, options = options, point = new_point(value), n = judged_cases(fit),
    parts = parts_of_average(value, NULL)
  )
  table <- result_table(value, reason = if (anyNA(value)) reason_of_fit(fit) else NA_character_)
  table$std.error <- unname(sqrt(variances(fit)[n_raters(x) + category]))
  if (!anyNA(value) && has_interval(draft)) {
    ends <- stats::confint(fit, rate_terms(x)[category], options$conf_level)
    table[c("conf.low", "conf.high")] <- split_columns(ends, 1:2)
    if (anyNA(ends)) table <- without_interval(table, "the estimate is 0 or 1")
  }
  out <- new_accuracy_estimate(draft, new_interval_found(table))
  out$table$why[is.na(value)] <- fit$identified
  show_accuracy(out)
}

# What is assumed of the judge, and how far its leaning towards an answer would move estimates.
calibrated_notes <- function(x) {
  fit <- x$fit
  category <- fit$x$categories[[max(fit$x$patterns$answer[, 1L])]]
  if (fit$identified == "yes") {
    c(paste("Assumed:", calibration_assumption(fit)), lean_words(fit, category))
  }
}

method_calibrated <- new_method(
  "calibrated", "one judge and a calibration sample", model = "none", estimate = NULL,
  explain = function(estimate) {
    paste(
      "The share of ratings was corrected by the judge's known errors (Rogan and Gladen 1978). It",
      "is assumed that", calibration_assumption(estimate$fit)
    )
  }
)

interval_calibrated <- new_interval(
  "calibrated", words = "calibrated interval", find = identity,
  note = function(estimate) {
    paste0("sampling of these cases", if (!is.null(estimate$fit$calibrated))
      " and of the calibration sample", " alone")
  },
  explain = function(estimate) {
    sample <- estimate$fit$calibrated
    paste("The {interval}", if (is.null(sample)) {
      "is Wilson's, for the number of cases that gives the standard error."
    } else if (is.null(sample$draws)) {
      "is that of Lang and Reiczigel 2014."
    } else {
      "has percentiles of draws from Dirichlet distributions."
    })
  }
)
