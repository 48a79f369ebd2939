# Odd values in the place of every argument of the functions that are exported.

own_error <- structure(
  list(message = "no", call = NULL), class = c("fuzz_error", "error", "condition")
)

odd_values <- list(
  NULL, NA, NaN, Inf, -1, 0, 1e300, 1e-300, 0.5, 2L, -.Machine$integer.max, TRUE, c(TRUE, FALSE),
  "", "a", NA_character_, "\xff\xfe", c("a", "b"), letters, character(), numeric(), list(),
  list(1, "a"), quote(x), quote(f(x)), function(x) x, function(...) stop(own_error), data.frame(),
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
    agreement = list(x, interval = "none"), agreement_matrix = list(x, "a", "b"),
    alt_test = list(x), accuracy_bounds = list(x, interval = "none"), as_ratings = list(long),
    accuracy_estimator = list("unbinned"), augment = list(fit), base_rates = list(fit),
    calibration = list(ground_truth(fit), truth(x)),
    check_k_properties = list(x, "accuracy", replicates = 19),
    compare_agreement = list(x[, 1:2], x[, 2:3], "cohen_kappa"), compare_systems = list(estimate),
    confusion = list(fit), confusion_matrix = list(3, 0.6), crowdtruth = list(crowd),
    data_check = list(x), dawid_skene = list(), estimate_accuracy = list(x, "unbinned"),
    estimate_metrics = list(estimate), fit_raters = list(x), ground_truth = list(fit),
    krippendorff_alpha = list(x), lehner_design = list(1),
    may_say = list(estimate), plan_cases = list(chance_kappa = 0.3, cases = 20, runs = 20),
    plan_gold = list(x, half_width = 0.2), rater_design = list(c(0.7, 0.7), 0.8, 2, 20),
    rater_model = list(), shared_errors = list(x), simulate_crowd = list(5, 5),
    simulate_ratings = list(design), simulation_study = list(design, "unbinned", runs = 1),
    single_label = list(x), true_accuracy = list(x), with_truth = list(x, truth(x))
  )
}

# The other functions, and each method whose arguments differ from those of its generic.
further_calls <- function() {
  calls <- sound_calls()
  x <- calls$agreement[[1L]]
  crowd <- calls$crowdtruth[[1L]]
  votes <- as.matrix(tidy(x, "counts")[-1])
  gold <- truth(x)[1:20, ]
  estimate <- estimate_accuracy(x, "joint", known_truth = gold, gold_sample = "random")
  scored <- reference$scored_panel(60)$x
  two <- simulate_ratings(calls$simulate_ratings[[1L]])
  path <- file.path(tempdir(), "further.csv")
  writeLines(c("case,rater,rating", "1,a,u", "1,b,v", "2,a,u", "2,b,u"), path)
  functions <- list(
    as_rater_fit = list(x, votes / rowSums(votes)), bangdiwala_b = list(x[, 1:2]),
    bennett_s = list(x), chance_kappa = list(x), cohen_kappa = list(x[, 1:2]),
    conger_kappa = list(x), disputed_cases = list(x),
    estimate_metrics = list(crowd, systems = "w1", interval = "none"),
    exact_limit = list(rater_design(c(0.7, 0.7), 0.8, 2, 20, base_rates = c(0.5, 0.5))),
    filter_crowd = list(crowd, "workers", min_units = 1L), fit_scores = list(scored),
    flag_workers = list(crowdtruth(crowd)), fleiss_kappa = list(x), gwet_ac = list(x),
    information_agreement = list(x[, 1:2]), light_kappa = list(x),
    merge_annotations = list(crowd, into = c(B = "A")), percent_agreement = list(x),
    read_ratings = list(path),
    replay = list(simulation_study(calls$simulation_study[[1L]], "unbinned", runs = 1), 1L),
    scott_pi = list(x[, 1:2]),
    truth = list(x), yule_y = list(two[, 1:2])
  )
  results <- suppressWarnings(c(
    list(
      x, crowd, estimate, estimate$fit,
      estimate_accuracy(x, by = rep(1:2, 20), known_truth = gold, gold_sample = "random")
    ),
    Map(do.call, names(calls), calls), Map(do.call, names(functions), functions)
  ))
  first <- !duplicated(vapply(results, function(x) class(x)[1L], ""))
  c(functions, do.call(c, lapply(unname(results[first]), calls_of_methods)))
}

# A call of each method with more arguments than the generic functions of R have.
calls_of_methods <- function(object) {
  methods <- getNamespaceInfo("fallible", "S3methods")
  generics <- methods[methods[, 2L] %in% class(object), 1L]
  # Generics of packages that are not attached, and one that needs systems.
  generics <- setdiff(generics, c("as_flextable", "knit_print", "report"))
  if (inherits(object, "ratings_labels")) generics <- setdiff(generics, "estimate_metrics")
  calls <- stats::setNames(rep(list(list(object)), length(generics)), generics)
  calls[vapply(generics, function(name) length(arguments_of(name, list(object))) > 0L, NA)]
}

# One of the calls, spoilt in one argument.
spoilt <- function(calls) {
  k <- pick(seq_along(calls))
  name <- names(calls)[[k]]
  call <- with_names(name, calls[[k]])
  at <- arguments_of(name, call)
  if (length(at) > 0L) spoil(name, call, pick(at), pick(odd_values))
}

# What is wrong with a call of which one argument has an odd value; or none, without one.
spoil <- function(name, call, argument = NULL, value = NULL) {
  if (!is.null(argument)) call[argument] <- list(value)
  wrong <- trial(function() {
    do.call(name, call, quote = TRUE)
    NULL
  })
  if (!is.null(wrong)) {
    paste0(name, "(", argument, " = ", deparse1(value), "): ", toString(wrong))
  }
}

# The error for an object without a method is R's.
arguments_of <- function(name, call) {
  arguments <- formals_of(name, call)
  if (is.null(method_of(name, call))) arguments else arguments[-1L]
}

formals_of <- function(name, call) {
  setdiff(names(formals(method_of(name, call) %||% get(name))), c(
    "...", "threads", "checkpoint", # they would work, or write
    "row.names", "optional", "options", "inline", "arg", "call" # R's, knitr's, for callers of ours
  ))
}

with_names <- function(name, call) {
  unnamed <- names_missing(call)
  names(call)[unnamed] <- setdiff(formals_of(name, call), names(call))[seq_len(sum(unnamed))]
  call
}

names_missing <- function(x) !nzchar(names(x) %||% character(length(x)))

method_of <- function(name, call) {
  for (class in if (length(call) && is.object(call[[1L]])) class(call[[1L]])) {
    method <- get0(paste0(name, ".", class), asNamespace("fallible"), inherits = FALSE)
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
    register_measure("fuzzed", "Fuzzed", function(...) value, kind = "metric")
    on.exit(register_measure("fuzzed", "Fuzzed", NULL, kind = "metric"))
    estimate_metrics(as_panel(random_input(systems = 1:3)), "fuzzed")
  }
)
