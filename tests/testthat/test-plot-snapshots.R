# What numbers of layers cannot tell: where things stand. Few, since each is a file.
skip_if_not_installed("ggplot2")
skip_if_not_installed("vdiffr")
skip_on_cran()

test_that("pictures look as they were looked at", {
  x <- lehner_ratings()
  vdiffr::expect_doppelganger("who rated what", ggplot2::autoplot(x))
  vdiffr::expect_doppelganger("agreement of pairs", ggplot2::autoplot(x, "agreement"))
  estimate <- quiet(estimate_accuracy(x, method = "joint", interval = "none"))
  vdiffr::expect_doppelganger("accuracy", ggplot2::autoplot(estimate))
  vdiffr::expect_doppelganger("errors in common", ggplot2::autoplot(estimate, "sensitivity"))
})
