test_that("the same ratings in every form give the same", {
  x <- lehner_ratings()[, c("rater1", "rater2")]
  crossed <- agreement_matrix(x, "rater1", "rater2")
  matrix <- as.matrix(lehner2015[c("rater1", "rater2")])
  forms <- list(matrix, lehner2015[c("rater1", "rater2")], crossed)
  for (form in forms) {
    expect_equal(cohen_kappa(form), cohen_kappa(x))
    expect_equal(as.data.frame(agreement(form)), as.data.frame(agreement(x)), ignore_attr = TRUE)
  }
  expect_identical(attr(agreement(crossed), "about")$judges, c("rater1", "rater2"))
  f <- ratings(fleiss1971, case = case, counts = depression:other)
  expect_equal(
    agreement(fleiss1971, counts = depression:other)$estimate, agreement(f)$estimate
  )
  expect_equal(agreement(counts = category_counts(f))$estimate, agreement(f)$estimate)
})

test_that("categories that only one rater used count", {
  a <- factor(c("a", "b", "b", "a"), levels = c("a", "b", "c"))
  b <- factor(c("a", "b", "c", "a"), levels = c("a", "b", "c"))
  expect_equal(cohen_kappa(table(a, b)), cohen_kappa(data.frame(a, b)))
  expect_equal(bennett_s(table(a, b)), (3 * 0.75 - 1) / 2)
})

test_that("tables that are no agreement matrices are refused", {
  expect_snapshot(error = TRUE, {
    cohen_kappa(table(c(1, 2, 2), c(1, 1, 1)))
    cohen_kappa(as.table(rbind(c(a = 1, b = 2), c(3, 4))))
    cohen_kappa(as.table(rbind(c(1, -2), c(3, 4))))
    fleiss_kappa("a")
  })
  expect_error(cohen_kappa(as.table(matrix(0, 2, 2))), class = "fallible_error_table")
  expect_error(cohen_kappa(table(1:3)), class = "fallible_error_table")
})
