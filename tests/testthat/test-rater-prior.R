#' @srrstatsNA {BS4.6} draws until mixed are not held against fixed numbers of draws
#' @srrstatsNA {BS7.3, BS7.4, BS7.4a} time is measured in `bench/bayes.R`; probabilities have one
#'   scale
beta_of <- function(...) unname(rater_prior(r = list(right = list(...)))$raters$r$right)

test_that("what experts say becomes the published Beta distributions", {
  expect_close <- function(shape, a, b) expect_lt(max(abs(shape - c(a, b))), 1e-6)
  expect_close(beta_of(mode = 0.60, at_least = 0.30), 4.841614, 3.561076)
  expect_close(beta_of(mode = 0.90, at_least = 0.80), 42.573177, 5.619242)
  expect_close(beta_of(mode = 0.95, at_least = 0.85), 36.702793, 2.879094)
  expect_close(beta_of(mode = 0.30, at_least = 0.10), 2.345705, 4.139979)
  expect_close(beta_of(mode = 0.99, at_least = 0.95), 88.280040, 1.881617)
  expect_close(beta_of(mode = 0.10, at_most = 0.20), 5.619242, 42.573177)
  expect_close(beta_of(mode = 0.05, at_most = 0.15), 2.879094, 36.702793)
  expect_close(beta_of(range = c(0.05, 0.45)), 4.4375, 13.3125)
  expect_close(beta_of(range = c(0.90, 1)), 71.25, 3.75)
  expect_close(beta_of(range = c(0.65, 0.95)), 21.955556, 5.488889)
})

test_that("elicited distributions have the mode and the bound that were told", {
  for (seed in 1:20) {
    withr::local_seed(seed)
    sure <- runif(1, 0.6, 0.99)
    mode <- runif(1, 0.5, 1)
    bound <- runif(1, 1 - sure, 0.95 * mode)
    if (bound <= 1 - sure) next
    shape <- beta_of(mode = mode, at_least = bound, sure = sure)
    expect_equal((shape[[1]] - 1) / (sum(shape) - 2), mode, tolerance = 1e-9)
    expect_equal(pbeta(bound, shape[[1]], shape[[2]]), 1 - sure, tolerance = 1e-8)
    expect_equal(beta_of(mode = 1 - mode, at_most = 1 - bound, sure = sure), rev(shape))
  }
  expect_identical(beta_of(mode = 1, at_least = 0.8)[[2]], 1)
  expect_identical(beta_of(b = 3, a = 2), c(2, 3))
  expect_identical(unname(rater_prior(r = list(right = c(2, 3)))$raters$r$right), c(2, 3))
})

two_tests <- function() {
  ratings(data.frame(
    stool = c("+", "+", "-", "-"), serology = c("+", "-", "+", "-"), n = c(38, 2, 87, 35),
    site = c("u", "v", "u", "v")
  ), raters = stool:serology, weights = n, covariates = site, categories = c("-", "+"))
}

three <- function() ratings(matrix(c("a", "b", "c", "a", "b", "c"), 3, 2))

test_that("sensitivity and specificity are rows of matrices, and the rest is of the others", {
  prior <- rater_prior(
    serology = list(sens = c(21, 5), spec = c(4, 2)), stool = list(spec = list(71.25, 3.75)),
    base_rates = list(1, 9)
  )
  got <- resolve_prior(prior, two_tests(), dawid_skene())
  expect_identical(got$raters$serology, rbind(c(4, 2), c(5, 21)))
  expect_equal(got$raters$stool, rbind(c(71.25, 3.75), c(1.2, 2.8)))
  expect_named(got$raters, c("stool", "serology"))
  expect_equal(got$system, rbind(c(2.8, 1.2), c(1.2, 2.8)))
  expect_identical(got$base_rates, matrix(c(9, 1), 1, dimnames = list(NULL, c("-", "+"))))
  expect_identical(got$others, "vague")
  expect_identical(got$order, "mean")
  expect_identical(got$text$raters$stool, c("Beta(71.25, 3.75)", "Beta(2.8, 1.2)"))
  expect_identical(got$text$base_rates, "Beta(1, 9)")
})

test_that("others are vague, flat, around a centre, or your own", {
  of <- function(others, x = three(), model = dawid_skene(), ...) {
    resolve_prior(rater_prior(..., others = others), x, model)
  }
  expect_equal(of("vague")$raters[[2]], matrix(0.6, 3, 3) + diag(2.2, 3))
  expect_identical(of("flat")$raters[[1]], matrix(1, 3, 3))
  expect_identical(of("flat")$order, "each")
  expect_identical(resolve_prior(
    rater_prior(others = "flat", order = "none"), three(), dawid_skene())$order, "none")
  expect_identical(unname(of("partial")$raters), list(NULL, NULL))
  expect_null(of("partial")$system)
  expect_equal(of("vague", model = rater_model("rater"))$raters[[1]], c(2.8, 1.2))
  own <- of(list(right = c(3, 2)), model = k_model())
  expect_identical(own$raters[[1]], c(3, 2))
  expect_identical(own$others, "own")
  expect_identical(own$text$raters[[1]], "Beta(3, 2)")
  expect_identical(of(diag(2, 3) + 1)$text$raters[[1]][[2]], "Dirichlet(1, 3, 1)")
})

test_that("the right ratings of a row have the Beta distribution that was told", {
  x <- three()
  a <- x$raters[[1]]
  prior <- rlang::exec(rater_prior, !!a := list(right = c(8, 2), wrong = c(a = 1, c = 3, b = 2)))
  rows <- resolve_prior(prior, x, dawid_skene())$raters[[1]]
  expect_equal(diag(rows), c(8, 8, 8))
  expect_equal(rowSums(rows), c(10, 10, 10))
  expect_equal(rows[1, 2:3], 2 * c(2, 3) / 5)
  expect_equal(rows[2, c(1, 3)], 2 * c(1, 3) / 4)
  # A prior of one rater is the prior of all, if raters are exchangeable
  alike <- rlang::exec(rater_prior, !!a := list(right = c(9, 3)))
  expect_identical(unname(resolve_prior(alike, x, k_model())$raters), list(c(9, 3), c(9, 3)))
})

test_that("matrices are put in the order of the categories", {
  x <- three()
  given <- matrix(1:9, 3, dimnames = list(c("c", "a", "b"), c("b", "c", "a")))
  prior <- rlang::exec(rater_prior, !!x$raters[[1]] := given)
  got <- resolve_prior(prior, x, dawid_skene())$raters[[1]]
  expect_identical(got, unname(given[c("a", "b", "c"), c("a", "b", "c")] + 0))
})

test_that("populations have base rates of their own", {
  x <- two_tests()
  model <- rater_model("rater", "free", base_rates = ~site)
  expect_identical(dim(resolve_prior(rater_prior(), x, model)$base_rates), c(2L, 2L))
  each <- list(v = list(2, 8), u = c("+" = 1, "-" = 3))
  got <- resolve_prior(rater_prior(base_rates = each), x, model)$base_rates
  expect_identical(got, rbind(u = c("-" = 3, "+" = 1), v = c(8, 2)))
  table <- rbind(u = c("-" = 3, "+" = 1), v = c(8, 2))
  expect_identical(resolve_prior(rater_prior(base_rates = table), x, model)$base_rates, got)
  expect_error(resolve_prior(rater_prior(base_rates = each), x, dawid_skene()),
    class = "fallible_error_argument")
  expect_error(resolve_prior(rater_prior(base_rates = each["u"]), x, model),
    class = "fallible_error_argument")
  expect_equal(resolve_prior(rater_prior(base_rates = 1:3), three(), k_model())$base_rates[1, ],
    c(a = 1, b = 2, c = 3))
})

test_that("what no prior can be is refused", {
  of <- function(...) rater_prior(t = list(right = list(...)))
  expect_snapshot(error = TRUE, {
    of(0, 1)
    of(1, Inf)
    of(1, 2, 3)
    of(mode = 0.9)
    of(at_least = 0.9)
    of(mean = 0.95, at_most = 0.9)
    of(mode = 0.9, at_least = 0.95)
    of(mode = 0.1, at_least = 0.04)
    of(mode = 0.1, at_most = 0.05)
    of(mode = 0.9, at_least = 0.8, at_most = 0.95)
    of(mode = 0.9, at_least = 0.9 - 1e-9)
    of(mode = 2, at_least = 0.8)
    of(mode = 0.9, at_least = 0.8, sure = 95)
    of(range = c(0.9, 0.1))
    rater_prior(t = list(sens = c(1, 1), right = c(1, 1)))
    rater_prior(t = "good")
    rater_prior(t = matrix(1, 2, 3))
    rater_prior(t = diag(2))
    rater_prior(list(right = c(1, 1)))
    rater_prior(base_rates = 0)
    rater_prior(base_rates = "high")
    rater_prior(base_rates = list(c(1, 2), c(2, 1)))
    rater_prior(others = "weak")
    rater_prior(order = "all")
  })
})

test_that("what does not fit the ratings is refused", {
  x <- two_tests()
  of <- function(..., model = dawid_skene(), y = x) resolve_prior(rater_prior(...), y, model)
  expect_snapshot(error = TRUE, {
    of(pcr = list(right = c(1, 1)))
    of(stool = list(sens = c(1, 1)), model = rater_model("rater"))
    of(stool = diag(3) + 1)
    of(stool = matrix(1, 2, 2, dimnames = list(c("n", "p"), NULL)))
    of(others = list(sens = c(1, 1)), y = three())
    of(others = list(right = c(2, 1), wrong = 1:2), y = three())
    of(base_rates = c(2, 8))
    of(base_rates = list(2, 8), y = three())
    of(stool = list(right = c(2, 1)), serology = list(right = c(1, 1)), model = k_model())
    resolve_prior(list(), x, dawid_skene())
  })
  expect_error(of(stool = diag(3) + 1), class = "fallible_error_prior")
  expect_error(of(pcr = list(right = c(1, 1))), class = "fallible_error_argument")
})

test_that("priors print", {
  strongyloides <- rater_prior(
    stool = list(sens = list(range = c(0.05, 0.45)), spec = list(range = c(0.9, 1))),
    serology = list(sens = list(range = c(0.65, 0.95)), spec = list(4.1, 1.76)), order = "none"
  )
  expect_snapshot({
    strongyloides
    rater_prior(base_rates = list(north = list(2, 8), south = 1), others = "flat")
    rater_prior(ann = rbind(c(18, 1, 1), c(1, 4, 1), c(1, 1, 4)), others = list(right = c(2, 1)))
  })
  table <- tidy(strongyloides)
  expect_identical(table$prior[[1]], "Beta(4.44, 13.31)")
  expect_equal(table$mean[[1]], 0.25)
  expect_identical(glance(strongyloides)$raters, 2L)
})

test_that("a bound that is as sure as a uniform probability gives the flat prior", {
  prior <- rater_prior(a = list(sens = list(mode = 0.5, at_least = 0.1, sure = 0.9)))
  expect_equal(unname(unlist(prior$raters[[1]]$sens)), c(1, 1), tolerance = 1e-6)
})

test_that("users learn once which category is positive, if labels are in alphabetical order", {
  set.seed(1)
  data <- data.frame(replicate(3, sample(c("flu", "healthy"), 60, TRUE)))
  names(data) <- c("a", "b", "c")
  prior <- rater_prior(a = list(sens = c(9, 1)))
  expect_output(print(prior), "Positive category: the second category of the ratings")
  expect_no_match(capture.output(print(rater_prior(a = list(right = c(9, 1))))), "Positive")
  forget <- function() suppressWarnings(rm("positive healthy", envir = shown_topics))
  withr::defer(forget())
  forget()
  drawn <- function(prior, ...) {
    suppressWarnings(fit_raters(ratings(data, raters = a:c, ...), dawid_skene(), method = "bayes",
      prior = prior, sampling = list(draws = 100, warmup = 20, thin = 1)))
  }
  expect_no_message(drawn(rater_prior(a = list(right = c(9, 1)))))
  expect_message(fit <- drawn(prior),
    "is \"healthy\", .*categories = c\\(\"healthy\", \"flu\"\\)")
  expect_no_message(drawn(prior))
  forget()
  expect_message(drawn(rater_prior(base_rates = list(1, 9))), "is \"healthy\"")
  expect_output(print(fit), "Positive category \\(the second\\): healthy")
  expect_match(may_say(fit)$sentence, "the sensitivity of a for healthy", all = FALSE)
  expect_match(may_say(fit, "methods")[[1L]], "positive category healthy")
  forget()
  expect_no_message(drawn(prior, categories = c("flu", "healthy")))
  expect_no_message(fit <- drawn(prior, categories = c("healthy", "flu")))
  expect_output(print(fit), "Positive category \\(the second\\): flu")
})

test_that("a warning asks whether the second category is really the positive one", {
  set.seed(2)
  ill <- rbinom(400, 1, 0.3)
  answers <- function(sens, spec) {
    ifelse(rbinom(400, 1, ifelse(ill == 1, sens, 1 - spec)) == 1, "pos", "neg")
  }
  data <- data.frame(a = answers(0.75, 0.97), b = answers(0.7, 0.98))
  prior <- rater_prior(
    a = list(sens = list(range = c(0.65, 0.85)), spec = list(range = c(0.94, 1))),
    b = list(sens = list(range = c(0.6, 0.8)), spec = list(range = c(0.95, 1)))
  )
  drawn <- function(categories, data) {
    quiet(fit_raters(
      ratings(data, raters = a:b, categories = categories), dawid_skene(), method = "bayes",
      prior = prior, sampling = list(draws = 400, warmup = 100, thin = 1)
    ))
  }
  quiet <- function(code) suppressWarnings(code, classes = "fallible_warning_no_convergence")
  expect_no_warning(drawn(c("neg", "pos"), data))
  expect_warning(
    expect_warning(drawn(c("pos", "neg"), data), "categories = c\\(\"neg\", \"pos\"\\)",
      class = "fallible_warning_prior"),
    "contradict the priors of .*sens\\[b\\]", class = "fallible_warning_prior"
  )
  data[] <- lapply(data, function(labels) c(neg = "C", pos = "D")[labels])
  expect_no_warning(drawn(c("C", "D"), data))
  expect_warning(drawn(c("D", "C"), data), "wrong order", class = "fallible_warning_prior")
})

test_that("an argument that is no prior is said to be taken as a rater", {
  expect_error(rater_prior(a = list(sens = list(9, 1)), positive = "pos"),
    "positive category is the second of .categories.", class = "fallible_error_prior")
})
