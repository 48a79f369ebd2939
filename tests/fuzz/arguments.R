# Odd values in the place of every argument of every function that is exported.

odd_values <- list(
  NULL, NA, NaN, Inf, -1, 0, 1e300, 1e-300, 0.5, 2L, -.Machine$integer.max, TRUE, c(TRUE, FALSE),
  "", "a", NA_character_, "\xff\xfe", c("a", "b"), letters, character(), numeric(), list(),
  list(1, "a"), quote(x), quote(f(x)), function(x) x, function(...) stop("no"), data.frame(),
  data.frame(a = 1:2), matrix(1:4, 2), array(1, c(1, 1, 1)), factor("a"), as.Date("2020-01-01"), 1i,
  as.raw(1), new.env(), globalenv(), y ~ x, structure(list(), class = "ratings"), "<b>", "../x",
  1:1000, c(a = 1, a = 2), Sys.time(), -0.1, 1.1, "NA", c(0.5, NA), expression(a)
)

# A call of each function that works, to be spoilt in one argument.
sound_calls <- function() {
  x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8, b = 0.5), 3, 40))
  fit <- fit_raters(x)
  estimate <- estimate_accuracy(x, "unbinned", interval = "none")
  crowd <- simulate_crowd(units = 10, workers = 8)
  design <- rater_design(c(0.7, 0.7), 0.8, 2, 20)
  long <- data.frame(case = rep(1:5, 2), rater = rep(c("a", "b"), each = 5), rating = c("u", "v"))
  list(
    ratings = list(long, case = "case", rater = "rater", rating = "rating"),
    agreement = list(x, interval = "none"), agreement_matrix = list(x), alt_test = list(x),
    accuracy_bounds = list(x, interval = "none"), as_ratings = list(long),
    accuracy_estimator = list("unbinned"), augment = list(fit), base_rates = list(fit),
    benchmark_agreement = list(agreement(x)), bins = list(estimate_accuracy(x, "binned")),
    calibration = list(fit, truth(x)), check_k_properties = list(x, "accuracy", replicates = 19),
    compare_agreement = list(x[, 1:2], x[, 2:3], "cohen_kappa"), compare_systems = list(estimate),
    confusion = list(estimate), confusion_matrix = list(3, 0.6), crowdtruth = list(crowd),
    data_check = list(x), dawid_skene = list(), estimate_accuracy = list(x, "unbinned"),
    estimate_metrics = list(estimate), fit_raters = list(x), ground_truth = list(fit),
    group_votes = list(crowd), krippendorff_alpha = list(x), lehner_design = list(1),
    may_say = list(estimate), plan_cases = list(kappa = 0.3, raters = 3, approximate = TRUE),
    plan_gold = list(x, half_width = 0.2), rater_design = list(c(0.7, 0.7), 0.8, 2, 20),
    rater_model = list(), shared_errors = list(x), simulate_crowd = list(5, 5),
    simulate_ratings = list(design), simulation_study = list(design, "unbinned", runs = 1),
    score_threshold = list(x), single_label = list(x), soft_labels = list(fit),
    test_agreement = list(x, "fleiss_kappa"), true_accuracy = list(x), unit_scores = list(crowd),
    with_truth = list(x, truth(x)), worker_kinds = list(crowd)
  )
}

spoilt <- function() {
  calls <- sound_calls()
  name <- pick(names(calls))
  call <- calls[[name]]
  method <- if (length(call) && is.object(call[[1L]])) method_for(name, call[[1L]])
  arguments <- setdiff(names(formals(method %||% get(name))), c("...", "threads", "checkpoint"))
  if (length(arguments) == 0L) {
    return(NULL)
  }
  # What a generic function says of an object without a method is R's.
  spoil <- pick(if (is.null(method)) arguments else arguments[-1L])
  value <- pick(odd_values)
  unnamed <- names_missing(call)
  names(call)[unnamed] <- setdiff(arguments, names(call))[seq_len(sum(unnamed))]
  call[spoil] <- list(value)
  attempt <- function() do.call(name, call, quote = TRUE)
  wrong <- trial(function() {
    attempt()
    NULL
  })
  if (!is.null(wrong)) paste0(name, "(", spoil, " = ", deparse1(value), "): ", wrong)
}

names_missing <- function(x) !nzchar(names(x) %||% character(length(x)))

method_for <- function(name, x) {
  for (class in class(x)) {
    method <- utils::getS3method(name, class, optional = TRUE, envir = asNamespace("fallible"))
    if (!is.null(method)) {
      return(method)
    }
  }
}

# Kernels of users that return what they should not.
kernels <- list(
  measure = function() {
    value <- pick(odd_values)
    register_measure("fuzzed", "Fuzzed", function(...) value)
    on.exit(register_measure("fuzzed", "Fuzzed", NULL))
    agreement(as_panel(random_input()), "fuzzed", interval = pick(c("jackknife", "none")))
  },
  metric = function() {
    value <- pick(odd_values)
    register_metric("fuzzed", "Fuzzed", function(...) value)
    on.exit(register_metric("fuzzed", "Fuzzed", NULL))
    estimate_metrics(as_panel(random_input(systems = 1:3)), "fuzzed")
  }
)
