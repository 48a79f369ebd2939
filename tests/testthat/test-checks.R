#' @srrstats {G5.2, G5.2a, G5.2b} conditions by class, words by snapshots
test_that("numbers, counts, flags and choices are checked", {
  expect_identical(check_number(1L, "a"), 1)
  expect_error(check_number(c(1, 2), "a"), class = "fallible_error_argument")
  expect_error(check_number("1", "a"), class = "fallible_error_argument")
  expect_error(check_number(NA_real_, "a"), class = "fallible_error_argument")
  expect_error(check_number(0, "a", 0, open_min = TRUE), class = "fallible_error_argument")
  expect_error(check_number(1, "a", max = 1, open_max = TRUE), class = "fallible_error_argument")
  expect_identical(check_count(3, "a"), 3L)
  expect_error(check_count(2.5, "a"), class = "fallible_error_argument")
  expect_error(check_count(0, "a", min = 1), class = "fallible_error_argument")
  expect_error(check_flag(NA, "a"), class = "fallible_error_argument")
  expect_identical(check_choice(c("x", "y"), c("x", "y"), "a"), "x")
  expect_error(check_choice("z", c("x", "y"), "a"), class = "fallible_error_argument")
  expect_snapshot(error = TRUE, {
    check_number(2, "conf_level", 0, 1, open_min = TRUE)
    check_choice("z", c("x", "y"), "method")
    check_choice("z", "x", "method")
    check_choices("z", "x", "systems")
    check_count("many", "replicates", min = 2)
    check_flag("yes", "ordered")
  })
})

test_that("threads are capped politely", {
  withr::local_options(mc.cores = 2)
  expect_identical(check_threads(8), 2L)
  expect_identical(check_threads(1), 1L)
  expect_error(check_threads(0), class = "fallible_error_argument")
})

test_that("a missing package is named", {
  expect_error(check_installed("no.such.package", "to test"), "no.such.package",
    class = "fallible_error_package")
})

test_that("values are described in a few words", {
  expect_identical(describe(NULL), "NULL")
  expect_identical(describe("x"), "\"x\"")
  expect_identical(describe(3), "3")
  expect_identical(describe(1:4), "a vector of type integer and length 4")
  expect_identical(describe(c("a", "b")), "c(\"a\", \"b\")")
  expect_identical(describe(c(x = 1, y = NA, z = 0.5)), "c(1, NA, 0.5)")
  expect_identical(describe(list()), "an object of class <list>")
})

test_that("values of the wrong kind are called by their name", {
  expect_identical(describe(function(x) 1), "a function")
  expect_identical(describe(~ mean(.x)), "a formula")
  expect_identical(describe(quote(x)), "the symbol x")
  expect_identical(describe("\xff\xfe"), "\"<ff><fe>\"")
})

test_that("arguments that are not there are named with all that are", {
  x <- lehner_ratings()
  expect_snapshot(error = TRUE, {
    estimate_accuracy(x, conflevel = 0.8, trim = 3)
    estimate_accuracy(fit_raters(x), level = 0.8)
    shared_errors(x, NULL, NULL, NULL, 0.9, 5)
  })
  expect_identical(find_similar_names("ordinal alpha", c("k_alpha", "k_alpha_ordinal", "kappa")),
    "k_alpha_ordinal")
  expect_identical(find_similar_names(c("level", "threds"), c("conf_level", "threads", "by")), c(
    "conf_level", "threads"
  ))
  many <- function(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, y, z, ...) {
    check_dots_empty(...)
  }
  error <- expect_error(many(aa = 1), class = "fallible_error_argument")
  for (arg in letters[-24]) expect_match(conditionMessage(error), paste0("`", arg, "`"))
})

test_that("functions, formulas and bytes in the wrong place are refused by name", {
  skip_unless_nightly()
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.8), c(a = 0.8, b = 0.7), 3, 40))
  estimate <- quiet(estimate_accuracy(x, "unbinned", interval = "none"))
  crowd <- crowdtruth(simulate_crowd(12, 5))
  identity <- function(x) x
  bytes <- "\xff\xfe"
  expect_snapshot(error = TRUE, {
    estimate_accuracy(x, model = identity)
    estimate_accuracy(x, model = ~x)
    simulation_study(lehner_design(3), estimators = list(a = ~ mean(.x)))
    simulation_study(lehner_design(3), estimators = list("binned", 3))
    compare_systems(estimate, systems = identity)
    compare_systems(estimate, systems = ~a)
    check_k_properties(x, system = quote(x))
    filter_crowd(crowd, "workers", flagged = identity)
    merge_annotations(crowd, into = identity)
  })
  refused <- function(code, arg) {
    error <- expect_error(code, class = "fallible_error")
    expect_identical(error$arg, arg)
  }
  expect_error(agreement(x, measures = bytes), "<ff><fe>", class = "fallible_error_measure")
  refused(simulation_study(lehner_design(3), checkpoint = bytes), "checkpoint")
  refused(plan_cases(chance_kappa = 0.3, half_width = 1e-300), "half_width")
  odd_values <- list(
    identity, quote(x), quote(f(x)), ~x, globalenv(), structure(list(), class = "z")
  )
  for (odd in odd_values) {
    refused(accuracy_bounds(x, odd, interval = "none"), "systems")
    refused(plan_gold(x, half_width = 0.1, systems = odd), "systems")
    refused(rater_design(c(0.6, 0.7), missing = odd), "missing")
    refused(shared_errors(x, accuracy = odd), "accuracy")
    refused(with_truth(x, truth(x), expected = odd), "expected")
  }
  bounds <- quiet(accuracy_bounds(x, interval = "none"))
  for (digits in list(NA, -1, 1e300, "a", identity, c(1, 2), NULL)) {
    for (result in list(estimate, bounds, shared_errors(x))) {
      refused(format(result, digits), "digits")
    }
    if (!is.null(digits) && !identical(digits, 1e300)) {
      refused(print(ground_truth(estimate), n = digits), "n")
    }
  }
  expect_output(print(ground_truth(estimate), n = Inf), "40 ")
  expect_error(shared_errors(1:3), class = "fallible_error")
  matrix <- matrix(c("a", "b", "a", "b", "b", "a"), 3)
  expect_s3_class(shared_errors(matrix), "shared_errors")
  expect_error(plan_cases(identity), class = "fallible_error_design")
  expect_warning(expect_error(check_k_properties(x, system = quote(x))), NA)
})

test_that("an object that has a class and not what belongs to it is refused", {
  forged <- structure(list(), class = "ratings")
  for (verb in list(agreement, estimate_accuracy, fit_raters, data_check, disputed_cases)) {
    expect_error(verb(forged), "lacks", class = "fallible_error_argument")
  }
  for (method in list(print, format, summary, glance)) {
    expect_error(method(forged), "lacks", class = "fallible_error_argument")
  }
})

test_that("what must be given is asked for by name", {
  others <- c("augment", "autoplot", "glance", "tidy") # R's or a package's, by the class of `x`
  for (name in setdiff(getNamespaceExports("fallible"), others)) {
    fun <- getExportedValue("fallible", name)
    needed <- if (is.function(fun)) Filter(rlang::is_missing, as.list(formals(fun)))
    if (length(setdiff(names(needed), "...")) == 0L) next
    e <- tryCatch(fun(), error = identity)
    expect_s3_class(e, "fallible_error_argument")
    expect_match(conditionMessage(e), "must be given", info = name)
  }
  x <- ratings(lehner2015, raters = rater1:rater4, case = case)
  e <- expect_error(agreement_matrix(x, "rater1"), "`rater2` must be given")
  expect_identical(e$arg, "rater2")
  e <- expect_error(agreement_matrix(), "`x`, `rater1`, and `rater2` must be given")
  expect_identical(as.list(e$call), list(quote(agreement_matrix)))
  e <- expect_error(fleiss_kappa(), "`x` must be given")
  expect_identical(as.list(e$call), list(quote(fleiss_kappa)))
  outer <- function(x) may_say(x)
  expect_error(outer(), "`x` must be given", class = "fallible_error_argument")
})

test_that("every function refuses an argument that it does not have, and names it", {
  others <- c(
    "augment", "autoplot", "glance", "tidy", "confusion", # by the class of the first argument
    "compare_models", "rater_prior", # users name the arguments
    "read_ratings" # the file is looked for first
  )
  for (name in setdiff(getNamespaceExports("fallible"), others)) {
    fun <- getExportedValue("fallible", name)
    if (!is.function(fun)) next
    arguments <- Filter(rlang::is_missing, as.list(formals(fun)))
    arguments <- arguments[names(arguments) != "..."]
    arguments[] <- list(lehner_ratings())
    # Methods of estimate_metrics() have the argument `positive`.
    method_arguments <- if (name == "estimate_metrics") "positive"
    hinted <- setdiff(argument_hints$argument[!is.na(argument_hints$needs)],
      c(names(formals(fun)), method_arguments))
    arguments[c("dificulty", hinted)] <- 1
    e <- tryCatch(do.call(fun, arguments), error = identity)
    expect_s3_class(e, "fallible_error_argument")
    text <- conditionMessage(e) # formatting takes long
    expect_match(text, "dificulty", info = name)
    # Hints mention only arguments that the function has.
    for (needed in stats::na.omit(unique(argument_hints$needs))) {
      if (grepl(sprintf("(in|is) `%s`", needed), text)) {
        expect_match(text, sprintf("Its arguments are .*`%s`", needed), info = name)
      }
    }
  }
  expect_error(simulation_study(replicates = 40), "simulated panels is `runs`")
  expect_error(
    fit_raters(lehner_ratings(), chains = 3), "Give settings of the sampler in `sampling`"
  )
  expect_error(fit_raters(lehner_ratings(), systems = TRUE), "estimate_accuracy\\(x, \"joint\"")
  expect_error(replay(simulation_study(lehner_design(3), runs = 1), run = 1), "row number of")
  expect_error(fit_raters(lehner_ratings(), conf_level = 0.95), "tidy\\(fit, conf_level = 0.95\\)")
  seeded <- list(seed = 1)
  expect_error(fit_raters(lehner_ratings(), dawid_skene(), "bayes", sampling = seeded), "set.seed")
  expect_error(plan_gold(lehner_ratings(), known_truth = 1), "accuracy\\(x, known_truth = \\)")
  expect_error(rater_model(by = site), "base_rates = ~ site")
  expect_error(plan_gold(lehner_ratings(), n = 9), "number of gold cases is `gold`")
  expect_error(plan_gold(lehner_ratings(), type = "random"), "choose gold cases is `choice`")
  expect_error(rater_design(rater_accuracy = 0.7), "accuracies of the raters are `raters`")
  expect_error(rater_design(c(0.7, 0.7), cases = 9), "number of cases is `n`")
  expect_error(rater_design(c(0.7, 0.7), shared = 0.5), "difficulty = list\\(loading = 0.5\\)")
  expect_error(tidy(fit_raters(lehner_ratings()), conf.int = TRUE, conf.level = 0.9),
    "columns conf.low and conf.high.*Did you mean `conf_level`")
  for (argument in c("scale", "level")) {
    expect_error(do.call(ratings, setNames(list(1, 1), c("data", argument))), "ordered = TRUE")
  }
  for (argument in c("groups", "by")) {
    expect_error(do.call(ratings, setNames(list(1, 1), c("data", argument))), "covariates = site")
  }
  # A name that is only similar in spelling is not proposed if there is a hint.
  error <- expect_error(estimate_accuracy(lehner_ratings(), raters = "a"), "x[, c(\"a\", \"b\")]",
    fixed = TRUE)
  expect_no_match(conditionMessage(error), "Did you mean")
  error <- expect_error(rater_model(dificulty = "strata"), "Did you mean `difficulty`")
  expect_identical(error$arg, "dificulty")
  expect_identical(as.list(error$call)[[1L]], quote(rater_model))
  expect_error(k_model(3), "Found `3` without a name", class = "fallible_error_argument")
})

test_that("all systems are judged unless some are named", {
  x <- ratings(cbind(r1 = 1:2, r2 = 1:2, a = 1:2, b = 2:1), systems = c(a, b))
  bounded <- function(...) tidy(quiet(accuracy_bounds(x, interval = "none", ...)))$system
  expect_identical(bounded(), c("a", "b"))
  expect_identical(bounded(systems = "b"), "b")
})

test_that("no function has more arguments than anybody can read", {
  most <- c(
    ratings = 18L, read_ratings = 12L, rater_design = 14L, estimate_accuracy = 13L, plan_cases = 12L
  )
  space <- asNamespace("fallible")
  names <- unique(c(getNamespaceExports("fallible"), ls(space[[".__S3MethodsTable__."]])))
  for (name in names) {
    fun <- get0(name, space) %||% space[[".__S3MethodsTable__."]][[name]]
    limit <- most[sub("[.].*", "", name)]
    if (is.function(fun)) {
      arguments <- setdiff(names(formals(fun)), "...")
      expect_lte(length(arguments), if (is.na(limit)) 12L else limit, label = name)
    }
  }
})

test_that("errors name the function that was called, and not what waits for its value", {
  called <- function(code) {
    rlang::call_name(tryCatch(code, fallible_error = function(e) e$call))
  }
  expect_identical(called(fit_raters(ratings(data.frame(a = 1), raters = b))), "ratings")
  expect_identical(called(plan_cases(half_width = 7)), "plan_cases")
  expect_identical(called(lapply(1, function(i) agreement(i))), "agreement")
  # The error names the function that a user's function calls, whatever calls the latter.
  own <- function(x) fit_raters(1)
  environment(own) <- globalenv()
  design <- rater_design(c(0.6, 0.6), systems = 0.7, base_rates = c(0.5, 0.5), categories = 2)
  expect_identical(called(exact_limit(design, own)), "fit_raters")
  # A value that is asked for when the function that was to make it has ended.
  late <- (function() (function(value) function() value)(abort_fallible("core", "late")))()
  expect_error(late(), "late", class = "fallible_error_core")
})

test_that("common mistakes are answered with the right call", {
  x <- lehner_ratings()
  fit <- fit_raters(x)
  mistakes <- alist(
    "dawid_skene\\(\\)" = fit_raters(x, model = "dawid_skene"),
    "dawid_skene\\(\\)" = fit_raters(x, model = dawid_skene),
    "dawid_skene\\(\\)" = estimate_accuracy(x, model = "dawid_skene"),
    "dawid_skene\\(\\)" = estimate_accuracy(x, method = "DS"),
    "dawid_skene\\(\\)" = fit_raters(x, method = "DS"),
    "set.seed" = estimate_accuracy(x, seed = 1),
    "sampling = list" = fit_raters(x, method = "bayes", iter = 2000),
    "sampling = list" = fit_raters(x, method = "bayes", chains = 4),
    "conf_level" = estimate_accuracy(x, ci = 0.95),
    "resampling = list" = estimate_accuracy(x, replicates = 100),
    "cluster = \"site\"" = estimate_accuracy(x, resampling = list(cluster = site)),
    "\"model\"" = ratings(lehner2015, raters = rater1:rater4, rater_kind = "LLM"),
    "\"model\"" = ratings(lehner2015, raters = rater1:rater4, rater_kind = c(rater1 = "LLM")),
    "may_say\\(fit" = may_say(fit),
    "Leave out `cost`" = plan_cases(x, agreement = "fleiss_kappa", cost = c(case = 5, rating = 1)),
    "Leave out `estimator`" = plan_cases(x, agreement = "fleiss_kappa", estimator = "average")
  )
  for (at in seq_along(mistakes)) {
    expect_error(eval(mistakes[[at]]), names(mistakes)[[at]], class = "fallible_error_argument")
  }
  other <- transform(lehner2015[1, ], rater1 = "B")
  expect_error(ratings(rbind(lehner2015, other), raters = rater1:rater4, case = case),
    "keep only one of the rows", class = "fallible_error_case")
})

test_that("who names a rater as a system learns how it becomes one", {
  x <- lehner_ratings()
  expect_error(estimate_accuracy(x, systems = "rater1"), "If it is a rater",
    class = "fallible_error_argument")
  expect_error(ratings(lehner2015, raters = rater1:system, systems = system, case = case),
    "Leave \"system\" out of `raters`", class = "fallible_error_columns")
})

test_that("hints about unknown arguments are about the function that was called", {
  x <- lehner_ratings()
  error <- expect_error(fit_raters(x, dawid_skene(base_rates = ~site)), "`prior` and `abstain`",
    class = "fallible_error_argument")
  expect_no_match(conditionMessage(error), "known_truth")
  expect_error(tidy(quiet(fit_raters(x, dawid_skene())), conf_levl = 0.8), "`conf_level`")
  expect_error(agreement(x, "krippendorff_alpha", level = "ordinal"), "krippendorff_alpha_ordinal",
    class = "fallible_error_argument")
})
