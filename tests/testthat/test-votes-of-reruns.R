# Reruns of a rater, and groups of raters, count as one vote in every function that compares raters.

reruns_of_dawid <- function() {
  ratings(dawid1979, case = case, rater = rater, rating = rating, repeats = "reruns",
    rater_kind = "expert")
}

test_that("every function of agreement uses one vote per rater instead of reruns", {
  reruns <- reruns_of_dawid()
  votes <- as_ratings(reruns, votes = TRUE)
  kappa <- agreement(votes, "fleiss_kappa")$estimate
  expect_identical(agreement(reruns, "fleiss_kappa")$estimate, kappa)
  expect_identical(fleiss_kappa(reruns), kappa)
  expect_identical(light_kappa(reruns), light_kappa(votes))
  expect_identical(tidy(compare_agreement(reruns)), tidy(compare_agreement(votes)))
  crossed <- agreement_matrix(reruns, "A1", "A2")
  expect_identical(crossed, agreement_matrix(votes, "A1", "A2"))
  expect_equal(sum(crossed), 45)
})

test_that("disputed cases show votes", {
  votes <- disputed_cases(as_ratings(reruns_of_dawid(), votes = TRUE), 10)
  reruns <- disputed_cases(reruns_of_dawid(), 10)
  expect_identical(reruns$.votes, votes$.votes)
  expect_identical(as.list(reruns), as.list(votes))
})

test_that("data_check() of reruns compares votes", {
  set.seed(10)
  truth <- sample(3, 200, TRUE)
  runs <- function(p) replicate(3, ifelse(runif(200) < p, truth, sample(3, 200, TRUE)))
  first <- runs(0.7)
  codes <- list(j1 = first, j2 = first, j3 = runs(0.7), j4 = runs(0.6))
  data <- do.call(rbind, lapply(names(codes), function(judge) {
    data.frame(case = rep(1:200, 3), rater = judge, rating = letters[c(codes[[judge]])])
  }))
  x <- ratings(data, case = case, rater = rater, rating = rating, repeats = "reruns",
    rater_kind = "model")
  checks <- tidy(data_check(x))
  votes <- tidy(data_check(as_ratings(x, votes = TRUE)))
  compared <- c("cases", "raters", "agreement", "duplicates")
  expect_identical(
    as.list(checks[match(compared, checks$check), ]), as.list(votes[match(compared, votes$check), ])
  )
  expect_identical(checks$status[checks$check == "duplicates"], "problem")
  # One judge per case gives no case with two votes.
  of_one_judge <- data[data$rater == paste0("j", 1 + data$case %% 4), ]
  alone <- ratings(of_one_judge, case = case, rater = rater, rating = rating, repeats = "reruns",
    rater_kind = "model")
  expect_match(tidy(data_check(alone))$found[[1L]], "^0 cases with two or more ratings")
})

test_that("raters who are declared as one group are not reported as copies", {
  set.seed(1)
  answers <- replicate(3, sample(c("x", "y"), 100, TRUE))
  data <- data.frame(a = answers[, 1], b = answers[, 1], c = answers[, 2], d = answers[, 3])
  status <- function(...) {
    checks <- tidy(data_check(ratings(data, raters = a:d, rater_kind = "expert", ...)))
    checks$status[checks$check == "duplicates"]
  }
  expect_identical(status(), "problem")
  expect_identical(status(rater_groups = c(a = "g", b = "g")), "ok")
})
