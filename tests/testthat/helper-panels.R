# Long tests are for where FALLIBLE_EXTENDED_TESTS is "true", as tools/test.sh sets it. Elsewhere,
# where lines are counted or on CRAN, random panels are a tenth.
extended_tests <- function() identical(Sys.getenv("FALLIBLE_EXTENDED_TESTS"), "true")

rounds <- function(n) seq_len(if (extended_tests()) n else ceiling(n / 10))

skip_unless_extended <- function() {
  skip_if_not(extended_tests(), "FALLIBLE_EXTENDED_TESTS is not \"true\"")
}

# From the random panels and exact patterns of helper-reference.R to ratings objects.

# A data set as long data, systems as a table. Raters and systems that never answer are left out, as
# ratings() would refuse them.
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

# Only cases that have ratings, since the others have no weight in the long layout.
panel_systems <- function(panel) {
  at <- which(!is.na(panel$answers), arr.ind = TRUE)
  at <- at[at[, 1] %in% panel$long$case, , drop = FALSE]
  data.frame(
    case = at[, 1], system = paste0("s", at[, 2]),
    prediction = panel_labels(panel$N)[panel$answers[at]]
  )
}

lehner_ratings <- function(...) {
  ratings(lehner2015, raters = rater1:rater4, systems = system, case = case, ...)
}

# A confusion matrix of this accuracy whose errors fall off with distance.
distance_confusion <- function(accuracy, n, dispersion = 1) {
  out <- dispersion^-abs(outer(seq_len(n), seq_len(n), "-"))
  diag(out) <- 0
  out <- (1 - accuracy) * out / rowSums(out)
  diag(out) <- accuracy
  out
}

# Exact patterns as a ratings object with probabilities as weights.
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

# The published method, with the bootstrap.
published <- function(x, method = "binned", interval = "bootstrap", ...) {
  estimate_accuracy(x, method = method, interval = interval, ...)
}

point_estimate <- function(x, ...) tidy(published(x, interval = "none", ...))$estimate

# Equal to 1e-12, absolutely for numbers up to one and relatively above, with the same gaps.
expect_close <- function(actual, expected, info) {
  expect_identical(is.na(as.vector(actual)), is.na(as.vector(expected)), info = info)
  off <- abs(as.vector(actual) - as.vector(expected)) / pmax(1, abs(as.vector(expected)))
  expect_lt(max(off, 0, na.rm = TRUE), 1e-12, label = paste("largest difference,", info))
}

# The random panel of a seed with what the slow twin makes of it, made once for all tests.
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
