# Each picture of each result was looked at. Snapshots describe its contents for every version of
# ggplot2 (helper-pictures.R). Where things are on the page is shown for a picture of each kind, and
# only for ggplot2 3.4: later versions put them elsewhere.

# Within each test: a file that ends before its first test loses its snapshots.
skip_without_pictures <- function() {
  skip_on_cran()
  skip_if_not_installed("ggplot2")
}

expect_picture <- function(name, ...) {
  lines <- describe_picture(ggplot2::autoplot(...))
  expect_snapshot(cat(paste("#", name), lines, sep = "\n"))
  expect_false(any(grepl("(no key)", lines, fixed = TRUE)), info = name)
}

# The types of pictures that a class has, the first of which is drawn where none is asked for.
types_of <- function(class) {
  method <- utils::getS3method("autoplot", class, envir = asNamespace("ggplot2"))
  c(list(NULL), as.list(eval(formals(method)$type)[-1L]))
}

# The arguments of expect_picture() for each picture of the examples, by name; the first of each
# class or the others.
example_pictures <- function(first) {
  # Types that need other examples, which follow below.
  elsewhere <- list(
    accuracy_estimate = c("bins", "gold", "roc", "reliability"),
    k_check = c("pairs", "disagreements"), ratings_labels = "agreement"
  )
  results <- examples_of_results()
  # A comparison of groups is drawn like one of systems.
  drawn <- setdiff(names(results), c(without_picture, "group_comparison"))
  pictures <- lapply(drawn, function(class) {
    types <- setdiff(types_of(class_of_example(class)), elsewhere[[class]])
    lapply(if (first) types[1L] else types[-1L], function(type) {
      c(paste(c(gsub("_", " ", class, fixed = TRUE), type), collapse = " "), results[class], type)
    })
  })
  unlist(pictures, FALSE)
}

test_that("pictures of results contain what they should", {
  skip_without_pictures()
  for (picture in example_pictures(first = TRUE)) do.call(expect_picture, unname(picture))
})

test_that("further pictures of results contain what they should", {
  skip_without_pictures()
  skip_unless_extended()
  for (picture in example_pictures(first = FALSE)) do.call(expect_picture, unname(picture))
})

test_that("pictures that need other examples contain what they should", {
  skip_without_pictures()
  skip_unless_extended()
  withr::local_seed(1)
  x <- lehner_ratings()
  bins <- quiet(estimate_accuracy(x, method = "binned", interval = "none"))
  expect_picture("bins of the binned method", bins, "bins")
  design <- rater_design(c(0.7, 0.7, 0.8), c(a = 0.8, b = 0.5), 3, 120)
  x <- simulate_ratings(design)
  estimate <- quiet(
    estimate_accuracy(x, "joint", known_truth = truth(x)[1:40, ], gold_sample = "random")
  )
  expect_picture("gold labels", estimate, "gold")
  check <- quiet(check_k_properties(x, resampling = list(replicates = 19)))
  expect_picture("pairs of raters against the K properties", check, "pairs")
  expect_picture("disagreements of the K properties", check, "disagreements")
  crowd <- examples_of_results()$ratings_labels
  one <- single_label(crowd, label = "A")
  expect_picture("agreement of workers about a label", one, "agreement")
  scored <- quiet(estimate_accuracy(scored_panel(100)$x, "joint", interval = "none"))
  expect_picture("ROC curves", scored, "roc")
  expect_picture("reliability of scores", scored, "reliability")
})

skip_unless_drawn_before <- function() {
  skip_without_pictures()
  skip_if_not_installed("vdiffr")
  skip_if_not(utils::packageVersion("ggplot2") < "3.5.0", "The drawings are those of ggplot2 3.4")
}

expect_drawing <- function(name, ...) vdiffr::expect_doppelganger(name, ggplot2::autoplot(...))

test_that("a picture of each kind is drawn as before", {
  skip_unless_drawn_before()
  kinds <- c(
    tiles = "ratings", columns = "ground truth", "heat map" = "confusion estimate",
    intervals = "accuracy estimate", medians = "fit check", curves = "case plan",
    points = "worker flags", densities = "draws fit", words = "data check", shaded = "k check"
  )
  drawn <- Filter(function(picture) picture[[1]] %in% kinds, example_pictures(first = TRUE))
  expect_length(drawn, length(kinds))
  for (picture in drawn) do.call(expect_drawing, unname(picture))
})

test_that("a picture of each further kind is drawn as before", {
  skip_unless_drawn_before()
  skip_unless_extended()
  kinds <- c(range = "accuracy estimate sensitivity", traces = "draws fit trace")
  drawn <- Filter(function(picture) picture[[1]] %in% kinds, example_pictures(first = FALSE))
  expect_length(drawn, length(kinds))
  for (picture in drawn) do.call(expect_drawing, unname(picture))
  bins <- quiet(estimate_accuracy(lehner_ratings(), method = "binned", interval = "none"))
  expect_drawing("bins of the binned method", bins, "bins")
})
