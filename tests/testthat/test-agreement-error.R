test_that("limits are those of Student's t, with a degree of freedom less than cases", {
  found <- agreement(lehner_ratings(), c("fleiss_kappa", "gwet_ac"), conf_level = 0.8)
  off <- stats::qt(0.9, 9) * found$std.error
  expect_equal(found$conf.low, found$estimate - off)
  expect_equal(found$conf.high, found$estimate + off)
})
