#' @srrstats {G5.10, G5.12} FALLIBLE_EXTENDED_TESTS=true
# FALLIBLE_EXTENDED_TESTS is "true" for the long form of tools/test.sh, "nightly" every night, and
# anything else for the short form. Random panels are i.i.d.: common faults appear in the first few
# panels, rare faults only in the night.
extended_tests <- function() Sys.getenv("FALLIBLE_EXTENDED_TESTS") %in% c("true", "nightly")

rounds <- function(n) {
  share <- switch(Sys.getenv("FALLIBLE_EXTENDED_TESTS"), nightly = 1, true = 0.1, 0.05)
  seq_len(ceiling(n * share))
}

# TRUE every night, for slow tests that fail only if other tests fail too.
nightly_tests <- function() Sys.getenv("FALLIBLE_EXTENDED_TESTS") == "nightly"

skip_unless_nightly <- function(why = "runs every night") skip_if_not(nightly_tests(), why)

skip_unless_extended <- function() {
  skip_if_not(extended_tests(), "FALLIBLE_EXTENDED_TESTS is not \"true\"")
}

# Converts random panels and exact patterns of helper-reference.R to ratings objects.

# Converts a random panel to ratings, from long data and a table of system answers. Raters and
# systems that never answer are left out, because ratings() refuses them.
panel_ratings <- function(panel) {
  labels <- panel_labels(panel$N)
  long <- data.frame(
    case = panel$long$case, rater = paste0("r", panel$long$rater),
    rating = labels[panel$long$rating], weight = panel$weights[panel$long$case]
  )
  suppressWarnings(
    ratings(
      long, case = case, rater = rater, rating = rating, weights = weight,
      systems = panel_systems(panel), categories = labels, repeats = "ratings"
    ),
    classes = "fallible_warning_unrated"
  )
}

panel_labels <- function(n) LETTERS[seq_len(n)]

# Table of system answers. Contains only cases with ratings, because other cases have no weight in
# long data.
panel_systems <- function(panel) {
  cells <- which(!is.na(panel$answers), arr.ind = TRUE)
  cells <- cells[cells[, 1] %in% panel$long$case, , drop = FALSE]
  data.frame(
    case = cells[, 1], system = paste0("s", cells[, 2]),
    prediction = panel_labels(panel$N)[panel$answers[cells]]
  )
}

lehner_ratings <- function(...) {
  ratings(lehner2015, raters = rater1:rater4, systems = system, case = case, ...)
}

# A confusion matrix with this accuracy, whose errors decrease with distance.
distance_confusion <- function(accuracy, n, dispersion = 1) {
  out <- dispersion^-abs(outer(seq_len(n), seq_len(n), "-"))
  diag(out) <- 0
  out <- (1 - accuracy) * out / rowSums(out)
  diag(out) <- accuracy
  out
}

# Exact patterns as a ratings object, with probabilities as weights.
exact_ratings <- function(accuracies, system, n = 5, dispersion = 1, system_dispersion = 1,
                          difficulty = 0, system_difficulty = 0) {
  at <- function(accuracy, shift) min(max(accuracy + shift, 0), 1)
  strata <- lapply(-1:1, function(side) {
    list(
      weight = 1 / 3,
      confusions = lapply(accuracies, function(a) {
        distance_confusion(at(a, side * difficulty), n, dispersion)
      }),
      system = distance_confusion(at(system, side * system_difficulty), n, system_dispersion)
    )
  })
  patterns <- exact_patterns(base_rates = rep(1 / n, n), strata = strata)
  ratings(patterns, raters = r1:r3, systems = s, weights = weight)
}

quiet <- function(expr) suppressWarnings(expr, classes = "fallible_warning")

# Estimates accuracy by the published method, with bootstrap intervals.
published <- function(x, method = "binned", interval = "bootstrap", ...) {
  estimate_accuracy(x, method = method, interval = interval, ...)
}

point_estimate <- function(x, ...) tidy(published(x, interval = "none", ...))$estimate

# Returns the largest difference between two vectors of numbers: an absolute difference for numbers
# up to 1, a relative difference for larger numbers. Inf if lengths or positions of missing values
# differ.
largest_gap <- function(actual, expected) {
  actual <- as.vector(actual)
  expected <- as.vector(expected)
  if (!identical(is.na(actual), is.na(expected))) {
    return(Inf)
  }
  max(abs(actual - expected) / pmax(1, abs(expected)), 0, na.rm = TRUE)
}

# Converts conditions to a difference for expect_over(): 0 if all conditions are true, otherwise
# Inf.
unless <- function(right) if (isTRUE(all(right))) 0 else Inf

# Makes one expectation for many random panels. `deviation`: function of a seed that returns
# differences for its panel. The largest difference over all seeds must be below `limit`. A failure
# names the seed.
expect_over <- function(seeds, deviation, limit = 1e-12) {
  largest <- vapply(seeds, function(seed) {
    rlang::try_fetch(
      max(deviation(seed)), error = function(e) rlang::abort(paste("At", seed), parent = e)
    )
  }, 0)
  at <- which.max(largest)
  expect_lt(largest[[at]], limit, label = paste("The largest deviation, at", seeds[[at]]))
}

expect_close <- function(actual, expected, label = NULL) {
  expect_lt(largest_gap(actual, expected), 1e-12, label = paste("the largest difference", label))
}

# The random panel of a seed and the results of the slow reference implementation (its "twin"),
# computed once for all tests.
twin <- function(seed) {
  key <- as.character(seed)
  if (is.null(twins[[key]])) {
    panel <- random_panel(seed)
    fit <- reference_fit(panel$long, panel$N, panel$weights, panel$n_cases)
    twins[[key]] <- list(
      panel = panel, x = panel_ratings(panel), fit = fit,
      posterior = reference_posterior(fit, panel$long, panel$N, panel$n_cases),
      rated = seq_len(panel$n_cases) %in% panel$long$case
    )
  }
  twins[[key]]
}
twins <- new.env()

# Base rates as a named vector.
rates_of <- function(fit) unlist(base_rates(fit))
