wide_of <- function(...) {
  set.seed(1)
  truth <- sample(c("x", "y"), 60, TRUE)
  said <- function() ifelse(stats::runif(60) < 0.8, truth, "x")
  out <- data.frame(said(), said(), said(), s = said())
  names(out)[1:3] <- c(...)
  out
}

panel_of <- function(..., names = c("ann", "bob", "gpt-4")) {
  wide <- wide_of(names)
  quiet(suppressMessages(ratings(wide, raters = 1:3, systems = s, ...)))
}

test_that("kinds are said of all raters, of each, or of groups", {
  kind <- function(...) panel_kind(panel_of(...))
  expect_identical(kind(), "undeclared")
  expect_identical(kind(rater_kind = "expert"), "people")
  expect_identical(kind(rater_kind = "tool"), "machines")
  two <- c(ann = "expert", bob = "crowd", "gpt-4" = "model")
  expect_identical(kind(rater_kind = two), "undeclared")
  expect_identical(kind(rater_kind = replace(two, 3, "crowd")), "people")
  expect_identical(kind(rater_kind = c(ann = "model", bob = "tool", "gpt-4" = "model")), "machines")
  expect_identical(rater_kind(panel_of(rater_kind = two)), unname(two))
  # Who wants the rule for people leaves the others out.
  expect_identical(panel_kind(panel_of(rater_kind = two)[, 1:2]), "people")
  same <- replace(two, 1:3, "crowd")
  expect_identical(panel_of(rater_kind = same)$rater_kind, "crowd")
  groups <- c(ann = "us", bob = "us", "gpt-4" = "it")
  grouped <- panel_of(rater_groups = groups, rater_kind = c(us = "expert", it = "model"))
  expect_identical(rater_kind(grouped), c("expert", "expert", "model"))
  votes <- as_ratings(grouped, votes = TRUE)
  expect_identical(rater_kind(votes), c("expert", "model"))
  mixed <- panel_of(rater_groups = groups, rater_kind = replace(two, 2, "model"))
  expect_identical(rater_kind(as_ratings(mixed, votes = TRUE)), c(NA, "model"))
  expect_identical(rater_kind(quiet(fit_raters(grouped))), c("expert", "model"))
})

test_that("kinds must be known words, for all raters", {
  refused <- function(...) expect_error(panel_of(...), class = "fallible_error_argument")
  refused(rater_kind = "robot")
  refused(rater_kind = c(ann = "expert"))
  refused(rater_kind = c(ann = "expert", bob = "robot", "gpt-4" = "model"))
  refused(rater_kind = c(ann = "expert", bob = "crowd", "gpt-4" = "model", eve = "crowd"))
  expect_error(
    ratings(fleiss1971, case = case, counts = depression:other, rater_kind = c("1" = "expert")),
    class = "fallible_error_argument"
  )
})

test_that("mixtures are told as what they count for", {
  expect_output(print(panel_of(rater_kind = c(ann = "expert", bob = "expert", "gpt-4" = "model"))),
    "experts (2), language models (1); a mixture", fixed = TRUE)
  expect_output(print(panel_of(rater_kind = "tool")), "Raters are programs")
})

test_that("names that look like machines raise one message in a session", {
  withr::defer(shown_topics$rater_kind <- TRUE)
  shown_topics$rater_kind <- NULL
  wide <- wide_of(c("ann", "bob", "gpt-4"))
  expect_no_message(ratings(wide, raters = 1:3, systems = s, rater_kind = "crowd"))
  expect_no_message(ratings(wide_of(c("ann", "bob", "clyde")), raters = 1:3, systems = s))
  expect_message(ratings(wide, raters = 1:3, systems = s), "declare it with `rater_kind`")
  expect_no_message(ratings(wide, raters = 1:3, systems = s))
  like <- c("gpt-4o", "Claude", "llama_3", "my-llm", "BERT base", "o3-mini", "phi3",
    "gptzero", "GPTx", "unifiedqa", "lf_3", "SpamBot", "ai_detector")
  unlike <- c("Bertha", "Clauden", "rater1", "albert", "o3", "philip", "Egypt", "self_1", "qatar")
  expect_identical(grepl(machine_name_pattern, c(like, unlike), ignore.case = TRUE),
    rep(c(TRUE, FALSE), c(13, 9)))
  shown_topics$rater_kind <- NULL
  two <- wide_of(c("ann", "bob", "cyd"))[-3]
  expect_message(ratings(two, raters = 1:2, systems = s), "ann.*bob")
})

test_that("the message says what silence costs", {
  withr::defer(shown_topics$rater_kind <- TRUE)
  shown_topics$rater_kind <- NULL
  local_reproducible_output(width = 80)
  expect_snapshot(x <- ratings(wide_of(c("ann", "bob", "gpt-4")), raters = 1:3, systems = s))
})

test_that("simulated raters pass for what they are said to be, and studies have no message", {
  withr::defer(shown_topics$rater_kind <- TRUE)
  shown_topics$rater_kind <- NULL
  design <- rater_design(c(gpt = 0.7, llm = 0.8), c(a = 0.8), 3, 30)
  expect_no_message(x <- simulate_ratings(design, rater_kind = "expert"))
  expect_identical(x$rater_kind, "expert")
  expect_no_message(simulate_ratings(design))
  expect_null(simulate_ratings(design)$rater_kind)
  expect_error(simulate_ratings(design, rater_kind = "robot"), class = "fallible_error_argument")
})

test_that("new data of a fit are of the kind of its raters, without a question", {
  withr::defer(shown_topics$rater_kind <- TRUE)
  shown_topics$rater_kind <- NULL
  for (kind in list(NULL, "model")) {
    x <- simulate_ratings(rater_design(c(gpt = 0.7, llm = 0.8), NULL, 3, 30), rater_kind = kind)
    fit <- quiet(fit_raters(x, k_model()))
    new <- data.frame(gpt = x$categories[[1]], llm = x$categories[[2]])
    expect_no_message(predict(fit, new))
    expect_identical(as_further_ratings(new, x, "newdata")$rater_kind, x$rater_kind)
  }
})

test_that("objects that are no words are errors of the package", {
  for (wrong in list(new.env(), y ~ x, list(a = 1))) {
    if (is.environment(wrong)) assign("a", 1, wrong)
    expect_error(
      simulate_ratings(rater_design(c(0.7, 0.8)), rater_kind = wrong),
      class = "fallible_error_argument"
    )
    x <- ratings(data.frame(a = c("u", "v"), b = "u"), raters = a:b)
    expect_error(with_truth(x, truth = wrong), class = "fallible_error_argument")
  }
})
