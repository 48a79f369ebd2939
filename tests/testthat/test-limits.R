test_that("what would not fit into memory is refused before it is asked for", {
  refused <- function(code, numbers) {
    e <- expect_error(code, class = "fallible_error_memory")
    expect_identical(e$numbers, numbers)
  }
  design <- rater_design(c(0.7, 0.7), c(a = 0.8), 2, 20)
  refused(simulate_ratings(design, 2e9), 6e9)
  refused(simulation_study(design, n = 2e9), 6e9)
  refused(simulate_crowd(units = 1e9), 1.2e10)
  refused(rater_design(rep(0.7, 2000), NULL, 1000), 2e9)
  x <- simulate_ratings(rater_design(rep(0.7, 16), NULL, 2, 20))
  refused(
    agreement(x, "cohen_kappa", pairwise = TRUE, interval = "bootstrap", resampling = list(replicates = 1e7)), 1.2e9
  )
})

test_that("what C++ throws is an error of the package", {
  thrown <- function(class) {
    stop(structure(class = c(class, "C++Error", "error", "condition"), list(message = "a {b}")))
  }
  expect_error(call_core(thrown("std::bad_alloc")), "a \\{b\\}", class = "fallible_error_memory")
  expect_error(call_core(thrown("std::length_error")), class = "fallible_error_memory")
  expect_error(call_core(thrown("std::range_error")), class = "fallible_error_core")
  expect_error(core_crowd_units(list()), class = "fallible_error_core")
  expect_error(call_core(stop("R")), class = "simpleError")
  expect_identical(call_core(3), 3)
})

test_that("every function of the core is called so", {
  namespace <- asNamespace("fallible")
  expect_match(deparse(get(".Call", namespace)), "call_core(base::.Call", fixed = TRUE, all = FALSE)
  x <- simulate_ratings(rater_design(rep(0.7, 3), 0.8, 2, 20))
  unknown <- list(method = "sharde", known = nothing_known)
  expect_error(core_estimator(x$patterns, pattern_weights(x), unknown, no_tick), "sharde",
    class = "fallible_error_core")
})

test_that("tables of pairs and of fits are refused before memory is asked for", {
  refused <- function(code) expect_error(code, class = "fallible_error_memory")
  refused(check_pair_numbers(1e5, 2))
  x <- simulate_ratings(rater_design(c(0.7, 0.7), c(a = 0.8), 2, 20))
  skip_unless_extended()
  x$categories <- seq_len(1e9) # as if there were that number
  refused(quiet(fit_raters(x)))
  x <- simulate_ratings(rater_design(c(0.7, 0.7), c(a = 0.8), 2, 20))
  x$raters <- seq_len(1e9)
  refused(answers_by_pattern(x))
  x$raters <- seq_len(1e5)
  refused(pairwise_agreement(x, x$raters))
  refused(quiet(accuracy_bounds(simulate_ratings(
    rater_design(c(0.7, 0.7), rep(0.8, 600), 2, 20)
  ), resampling = list(replicates = 1e6))))
})
