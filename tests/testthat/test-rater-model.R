test_that("the K-model is the origin of the three axes", {
  model <- k_model()
  expect_s3_class(model, "rater_model")
  expect_identical(
    unclass(model)[c("accuracy", "errors", "difficulty")],
    list(accuracy = "common", errors = "uniform", difficulty = "none")
  )
  expect_identical(model, rater_model())
  expect_identical(dawid_skene(), rater_model("rater", "free"))
  expect_identical(dawid_skene("none"), rater_model("rater", "free", prior = "none"))
  expect_identical(rater_model(prior = list(spread = 1))$prior$spread, 1)
})

test_that("models print their axes", {
  expect_snapshot({
    k_model()
    dawid_skene("none")
    rater_model("rater", "distance", "strata", prior = list(accuracy = c(2, 2)))
  })
})

test_that("priors are checked", {
  expect_snapshot(error = TRUE, {
    rater_model(prior = "strong")
    rater_model(prior = list(sprad = 1))
    rater_model(prior = list(1, spread = 2))
    rater_model(prior = list(accuracy = 1))
    dawid_skene(prior = list(spread = -1))
    rater_model("each")
  })
})
