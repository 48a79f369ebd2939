# What does not change the data does not change results: order and names of cases, raters,
# categories and systems; two rows in the place of a weight of 2; systems that are left out before
# or after a fit that does not use them.

walk_quickly <- "pooled"
walk_at_once <- function(p) {
  together <- walk_changes[names(walk_changes) != "rotated"] # which ordered errors do not bear
  Reduce(function(p, change) change(p), together, p)
}

test_that("every verb gives the same numbers when labels and rows are permuted", {
  expect_identical(walk_all(walk_panel(60), list(all = walk_at_once), walk_quickly), character())
})

test_that("no change of the input that means the same changes any verb on any kind of fit", {
  skip_unless_nightly("the whole walk takes five minutes")
  expect_identical(walk_all(walk_panel(), list(all = walk_at_once)), character())
  unordered <- setdiff(names(walk_fits), "ordinal")
  expect_identical(walk_all(walk_panel(), walk_changes["rotated"], unordered), character())
})

test_that("systems that are left out before or after a fit leave the others as they are", {
  local_silent_refusals()
  p <- walk_panel(if (nightly_tests()) 120 else 60)
  fewer <- p
  fewer$systems <- c("sys1", "sys3")
  kinds <- if (nightly_tests()) names(walk_fits) else c("K-model", "pooled", "formula")
  methods <- if (nightly_tests()) c("joint", "shared", "binned", "unbinned") else "joint"
  failures <- character()
  for (kind in kinds) {
    whole <- quiet(walk_fits[[kind]](p))
    part <- quiet(walk_fits[[kind]](fewer))
    drawn <- inherits(whole, "draws_fit")
    for (method in methods) {
      given <- list(method = method, interval = if (drawn) "posterior" else "none")
      call <- function(fit, ...) {
        do.call(walk_call, c(list("estimate_accuracy", fit, p), given, list(...)))
      }
      after <- call(whole, systems = fewer$systems)
      before <- call(part)
      off <- after$wrong %||% walk_compare(
        before, after, limit = if (drawn) 0.03 else 1e-8, only = "estimate"
      )
      if (!is.null(off)) failures <- c(failures, paste(kind, method, off, sep = " : "))
    }
  }
  expect_identical(failures, character())
})

test_that("predictions for the cases of a fit are their ground truth", {
  local_silent_refusals()
  p <- walk_panel(60)
  kinds <- if (extended_tests()) names(walk_fits) else c("K-model", "pooled", "formula", "ordinal")
  failures <- character()
  for (kind in setdiff(kinds, "known truth")) {
    fit <- quiet(walk_fits[[kind]](p))
    off <- tryCatch({
      predicted <- predict(fit, fit$x, type = "probability")
      max(abs(as.matrix(predicted[-1]) - as.matrix(ground_truth(fit)[-1])))
    }, fallible_error = function(e) 0, error = function(e) Inf)
    most <- if (inherits(fit, "draws_fit")) 0.05 else 1e-8
    if (off > most) failures <- c(failures, paste(kind, off))
  }
  expect_identical(failures, character())
})
