twin_error <- function(votes) {
  credit <- unlist(lapply(votes, function(case) {
    said <- strsplit(case, "")[[1L]]
    if (length(said) < 2L) {
      return(NULL)
    }
    vapply(seq_along(said), function(i) {
      others <- table(said[-i])
      first <- names(others)[others == max(others)]
      if (said[[i]] %in% first) 1 / length(first) else 0
    }, 0)
  }))
  1 - mean(credit)
}

ratings_of_votes <- function(votes) {
  said <- strsplit(votes, "")
  quiet(ratings(data.frame(
    case = rep(seq_along(said), lengths(said)), rater = unlist(lapply(lengths(said), seq_len)),
    rating = unlist(said)
  ), case = case, rater = rater, rating = rating, categories = letters[1:3]))
}

test_that("raters are held against the plurality of the others", {
  votes <- c("aaab", "aabbc", "aab", "a")
  expect_equal(twin_error(votes), 8 / 12)
  expect_equal(plurality_disagreement(ratings_of_votes(votes)), 8 / 12, tolerance = 1e-12)
  wide <- lean_panel()
  x <- quiet(ratings(wide, raters = rater1:rater3, systems = system))
  found <- tidy(quiet(estimate_accuracy(x)), "details")
  expect_equal(found$disagreement_error, 1 / 3, tolerance = 1e-12)
  expect_over(1:20, function(seed) {
    set.seed(seed)
    votes <- replicate(15, paste(sample(letters[1:3], sample(6, 1), TRUE), collapse = ""))
    abs(plurality_disagreement(ratings_of_votes(votes)) - twin_error(votes))
  })
})

test_that("shares with the plurality are those of each rater and system", {
  x <- quiet(ratings(lean_panel(), raters = rater1:rater3, systems = system))
  shares <- plurality_shares(x)
  expect_named(shares, c("rater1", "rater2", "rater3", "system"))
  # aaa aab abb bbb aaa aab: the third differs from the others in the second and the last case.
  expect_equal(unname(shares), c(1 + 0.5 + 0 + 1 + 1 + 0.5, 1 + 0.5 + 0.5 + 1 + 1 + 0.5,
    1 + 0 + 0.5 + 1 + 1 + 0, 5) / 6)
  none <- quiet(ratings(data.frame(a = c("x", NA), b = c(NA, "y")), raters = a:b))
  expect_identical(plurality_disagreement(none), NA_real_)
})
