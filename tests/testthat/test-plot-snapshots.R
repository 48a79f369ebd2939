# What numbers of layers cannot tell: where things stand. Each picture of each result was looked at;
# snapshots say where one has changed since.
skip_on_cran()
skip_if_not_installed("vdiffr")
skip_if_not_installed("ggplot2")
# A younger ggplot2 puts things elsewhere.
skip_if_not(utils::packageVersion("ggplot2") < "3.5.0", "The pictures are those of ggplot2 3.4")

# The types of pictures that a class has, the first of which is drawn where none is asked for.
types_of <- function(class) {
  method <- utils::getS3method("autoplot", class, envir = asNamespace("ggplot2"))
  c(list(NULL), as.list(eval(formals(method)$type)[-1L]))
}

looks_as_before <- function(name, ...) vdiffr::expect_doppelganger(name, ggplot2::autoplot(...))

test_that("pictures look as they were looked at", {
  results <- examples_of_results()
  results <- results[setdiff(names(results), instructions)]
  # Further pictures that these examples have not what they need for.
  elsewhere <- list(
    accuracy_estimate = c("bins", "gold", "roc", "reliability"),
    k_check = c("pairs", "disagreements"), ratings_labels = "agreement"
  )
  for (class in names(results)) {
    types <- setdiff(types_of(class), elsewhere[[class]])
    for (type in if (extended_tests()) types else types[1L]) {
      name <- paste(c(gsub("_", " ", class, fixed = TRUE), type), collapse = " ")
      do.call(looks_as_before, c(list(name, results[[class]]), if (!is.null(type)) list(type)))
    }
  }
})

test_that("pictures that need more look as they were looked at", {
  skip_unless_extended()
  withr::local_seed(1)
  x <- lehner_ratings()
  bins <- quiet(estimate_accuracy(x, method = "binned", interval = "none"))
  looks_as_before("bins of the binned method", bins, "bins")
  design <- rater_design(c(0.7, 0.7, 0.8), c(a = 0.8, b = 0.5), 3, 120)
  x <- simulate_ratings(design)
  estimate <- quiet(
    estimate_accuracy(x, "joint", known_truth = truth(x)[1:40, ], gold_sample = "random")
  )
  looks_as_before("gold labels", estimate, "gold")
  check <- quiet(check_k_properties(x, resampling = list(replicates = 19)))
  looks_as_before("pairs of raters against the K properties", check, "pairs")
  looks_as_before("disagreements of the K properties", check, "disagreements")
  crowd <- examples_of_results()$ratings_labels
  one <- single_label(crowd, label = "A")
  looks_as_before("agreement of workers about a label", one, "agreement")
})
