# What association is, pair by pair.
slow_association <- function(answers, categories, n) {
  out <- c(excess = 0, statistic = 0, df = 0)
  for (pair in utils::combn(ncol(answers), 2, simplify = FALSE)) {
    table <- tapply(
      n, list(factor(answers[, pair[[1]]], categories), factor(answers[, pair[[2]]], categories)),
      sum, default = 0
    )
    size <- sum(table)
    if (size == 0) next
    e <- rowSums(table) %o% colSums(table) / size
    out <- out + c(
      sum(diag(table - e)), (size - 1) / size * sum(((table - e)^2 / e)[e > 0]),
      (sum(rowSums(table) > 0) - 1) * (sum(colSums(table) > 0) - 1)
    )
  }
  out
}

test_that("association is that of all pairs of raters", {
  set.seed(1)
  x <- quiet(panel(60, missing = 0.3))
  slow <- slow_association(answers_by_pattern(x)[, 1:3], 1:4, pattern_weights(x))
  expect_equal(unlist(rater_association(x)), slow, tolerance = 1e-10)
})

test_that("three tests that agree in less than half of the cases are fitted", {
  fit <- fit_raters(three_tests(), dawid_skene())
  expect_identical(fit$identified, "yes")
  expect_warning(
    expect_identical(fit_raters(three_tests())$identified, "chance"),
    class = "fallible_warning_not_identified"
  )
  expect_warning(fit_raters(three_tests(), dawid_skene("none")), NA)
})

test_that("an inverted rater is shown as such, and classes keep the names of most ratings", {
  set.seed(2)
  true <- sample(2, 300, TRUE)
  given <- function(p) ifelse(stats::runif(300) < p, true, 3 - true)
  x <- ratings(data.frame(a = given(0.85), b = given(0.85), c = given(0.15)), raters = a:c)
  for (prior in c("pooled", "none")) {
    right <- coef(quiet(fit_raters(x, dawid_skene(prior))))[1:3]
    expect_true(all((right > 0.5) == c(TRUE, TRUE, FALSE)))
  }
  # Two of four are the same share.
  y <- ratings(
    data.frame(a = given(0.1), b = given(0.15), c = given(0.85), d = given(0.8)), raters = a:d
  )
  expect_warning(
    fit <- fit_raters(y, dawid_skene()), "raters who seem to swap categories",
    class = "fallible_warning_weakly_identified"
  )
  expect_length(unique(coef(fit)[1:4] > 0.5), 2)
})

test_that("names are those of the best assignment", {
  set.seed(3)
  permutations <- function(n) {
    if (n == 1) return(matrix(1L))
    of <- permutations(n - 1)
    do.call(rbind, lapply(seq_len(n), function(i) cbind(i, of + (of >= i))))
  }
  found <- vapply(1:40, function(i) {
    n <- sample(2:5, 1)
    gain <- matrix(stats::runif(n * n), n)
    best <- max(apply(permutations(n), 1, function(p) sum(gain[cbind(seq_len(n), p)])))
    name <- core_best_names(as.vector(t(gain)), n)
    best - sum(gain[cbind(seq_len(n), name)])
  }, 0)
  expect_lt(max(abs(found)), 1e-9)
})

test_that("three good raters are not warned of; independent ones are, or are not fitted", {
  skip_unless_extended()
  warned <- function(accuracy, n, seed) {
    x <- withr::with_seed(seed, simulate_ratings(rater_design(accuracy, NULL, 2, n)))
    tryCatch(
      {
        fit_raters(x, dawid_skene())
        ""
      },
      fallible_warning = function(w) class(w)[[1]]
    )
  }
  good <- vapply(1:30, function(seed) warned(rep(0.8, 3), 100, seed), "")
  expect_lt(mean(good != ""), 0.07)
  none <- vapply(1:60, function(seed) warned(rep(0.5, 3), 100, seed), "")
  refused <- none == "fallible_warning_not_identified"
  expect_gt(mean(refused), 0.2)
  expect_lt(mean(refused), 0.4)
  expect_gt(mean(none[!refused] == "fallible_warning_weakly_identified"), 0.85)
})

test_that("a rater who shares too few cases does not spoil the others", {
  set.seed(4)
  said <- cbind(wide_answers(panel(300, c(0.7, 0.7, 0.8))), late = NA)
  said <- rbind(said, cbind(matrix(NA, 5, 3), "1"))
  fit <- quiet(fit_raters(ratings(said), dawid_skene("none")))
  expect_identical(fit$identified, "yes")
  expect_true(is.finite(coef(fit)[[1]]))
})

test_that("where agreement is too low for equal errors alone, a model is to be named", {
  x <- three_tests()
  said <- "raters agree too little for models with equal raters; use a model such as dawid_skene()"
  expect_warning(fit_raters(x), said, fixed = TRUE, class = "fallible_warning_not_identified")
  table <- data.frame(answers_of(x), s = c("0", "1"), n = pattern_weights(x))
  judged <- ratings(table, raters = a:c, systems = s, weights = n)
  expect_identical(tidy(quiet(estimate_accuracy(judged, interval = "none")))$reason, said)
  named <- quiet(estimate_accuracy(judged, model = dawid_skene(), interval = "none"))
  expect_false(is.na(tidy(named)$estimate))
  checked <- data_check(judged)
  expect_output(print(checked), "Raters\\s+agree\\s+too\\s+little")
  asked <- tidy(checked, "questions")
  of <- grepl("How accurate", asked$question)
  expect_identical(asked$answer[of], rep("assumption", 2))
  expect_match(asked$reason[of], "use a model such as", fixed = TRUE)
  # Two raters are too few for such models.
  crossed <- ratings(cbind(a = rep(1:2, 50), b = rep(2:1, 50)))
  expect_warning(fit_raters(crossed), "no better than by chance")
})

test_that("two raters are fitted with a warning where ratings cannot check the model", {
  tb <- data.frame(
    site = rep(c("1", "2"), each = 4), a = c("+", "+", "-", "-"), b = c("+", "-"),
    n = c(14, 4, 9, 528, 887, 31, 37, 367)
  )
  weak <- "fallible_warning_weakly_identified"
  two <- function(n) {
    ratings(cbind(tb[-4], n = n), raters = a:b, weights = n, covariates = site,
      categories = c("-", "+"))
  }
  x <- two(tb$n)
  expect_warning(fit_raters(x), "two raters and two categories", class = weak)
  expect_warning(fit_raters(x, rater_model("rater")), "cannot be tested", class = weak)
  third <- ratings(cbind(tb, c = tb$a), raters = c("a", "b", "c"), weights = n)
  expect_no_warning(fit_raters(third), class = weak)
  expect_no_warning(fit_raters(x, known_raters = list(a = 0.9)), class = weak)
  # Hui and Walter's two populations, and two that are the same.
  by_site <- rater_model("rater", "free", base_rates = ~site)
  same <- two(rep(c(100, 30, 40, 200), 2))
  for (method in c("likelihood", "bayes")) {
    fit <- function(x) {
      set.seed(1)
      fit_raters(x, by_site, method, sampling = if (method == "bayes") list(draws = 4000) else list())
    }
    expect_no_warning(fit(x), class = weak)
    expect_warning(fit(same), "populations with different base rates", class = weak)
  }
})

# Share of the ratings by raters who give some label more often if another category is true than if
# the label is true, by two standard errors. Loops over raters, labels and other categories.
slow_swapped_share <- function(fit) {
  x <- fit$x
  n <- count_ratings_by_truth(fit)
  variance <- function(j, truth, k) {
    p <- fit$matrices[j, truth, k]
    p * (1 - p) / n[j, truth]
  }
  swaps <- logical(nrow(n))
  for (j in seq_len(nrow(n))) {
    for (k in seq_len(ncol(n))) {
      for (truth in setdiff(seq_len(ncol(n)), k)) {
        if (n[j, k] == 0 || n[j, truth] == 0) next
        gap <- fit$matrices[j, truth, k] - fit$matrices[j, k, k]
        if (gap > 2 * sqrt(variance(j, truth, k) + variance(j, k, k))) swaps[[j]] <- TRUE
      }
    }
  }
  ratings <- ratings_of_raters(x)
  sum(ratings[swaps]) / sum(ratings)
}

test_that("swapped categories are found with the error of each compared rate", {
  shares <- vapply(1:20, function(seed) {
    set.seed(seed)
    flipped <- matrix(c(0.3, 0.7, 0.5, 0.5), 2, byrow = TRUE) # an error rate of a rare category
    x <- simulate_ratings(rater_design(
      c(0.9, 0.9, 0.7, 0.5), 0.8, c("a", "b"), 150, base_rates = c(0.9, 0.1),
      matrices = list(rater4 = flipped)
    ))
    fit <- quiet(fit_raters(x, dawid_skene()))
    expect_equal(share_from_swapping_raters(fit), slow_swapped_share(fit))
    share_from_swapping_raters(fit)
  }, 0)
  expect_gt(length(unique(shares)), 1L) # some are found, some are not
})
