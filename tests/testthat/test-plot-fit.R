skip_if_not_installed("ggplot2")

drawn <- function(fit, ...) ggplot2::autoplot(fit, "confusion", ...)

test_that("confusion matrices of a fit are drawn as confusion() gives them", {
  x <- withr::with_seed(1, simulate_ratings(rater_design(c(0.6, 0.7, 0.8), NULL, 3, 150)))
  fit <- fit_raters(x, dawid_skene("weak"))
  cells <- drawn(fit)$data
  matrices <- confusion(fit)
  expect_identical(levels(cells$rater), x$raters)
  for (i in c(1, 5, 9, 14, 27)) {
    matrix <- matrices[[as.character(cells$rater[[i]])]]
    rated <- as.character(cells$judge1[[i]])
    expect_identical(cells$value[[i]], matrix[as.character(cells$judge2[[i]]), rated])
  }
  common <- drawn(fit_raters(x))
  expect_identical(nrow(common$data), 9L)
  expect_s3_class(common$facet, "FacetNull")
})

test_that("names of parameters break at commas, and axes of shares have two labels or more", {
  labeller <- facet_terms()[[1]]$params$labeller
  name <- labeller(data.frame(term = c("pair[pcr,culture,neg]", "sens[a]",
    "right[averylongnameofarater]")))[[1]]
  expect_identical(unlist(name, use.names = FALSE), c("pair\n[pcr, culture,\nneg]", "sens\n[a]",
    "right\n[averylo...\narater]"))
  expect_equal(share_breaks(c(0.1, 0.95)), c(0.2, 0.4, 0.6, 0.8))
  expect_identical(share_breaks(c(0, 1)), c(0, 0.5, 1))
})

test_that("of many raters those with the most ratings are drawn, and none where nothing is known", {
  x <- withr::with_seed(1, simulate_ratings(rater_design(rep(0.7, 5), NULL, 3, 150)))
  long <- as.data.frame(x)
  long <- long[!(long$rater == "rater2" & long$case %in% x$cases[1:20]), ]
  fit <- fit_raters(ratings(long, case = case, rater = rater, rating = rating), dawid_skene("weak"))
  plot <- drawn(fit, max_raters = 4)
  expect_identical(levels(plot$data$rater), paste0("rater", c(1, 3:5)))
  expect_match(plot$labels$subtitle, "the 4\\sof 5 raters with")
  expect_identical(levels(drawn(fit, max_raters = 1)$data$rater), "rater1")
  accuracies <- ggplot2::autoplot(fit, max_raters = 2)
  expect_setequal(stats::na.omit(accuracies$data$rater), c("rater1", "rater3"))
  expect_match(accuracies$labels$subtitle, "the 2\\sof 5 raters with the")
  expect_no_match(ggplot2::autoplot(fit)$labels$subtitle, "most ratings")
  expect_s3_class(drawn(fit, max_raters = 1)$facet, "FacetWrap")
  expect_error(drawn(fit, max_raters = 0), class = "fallible_error_argument")
  expect_error(ggplot2::autoplot(fit, "matrix"), class = "fallible_error_argument")
  chance <- ratings(data.frame(a = c("x", "y"), b = c("y", "x")), raters = a:b)
  expect_error(
    drawn(quiet(fit_raters(chance))), "nothing to draw.*by chance",
    class = "fallible_error_argument"
  )
})

test_that("names of many raters are readable", {
  x <- withr::with_seed(1, simulate_ratings(rater_design(rep(0.7, 40), NULL, 3, 60)))
  plot <- ggplot2::autoplot(quiet(fit_raters(x, rater_model("rater"))))
  expect_length(unique(stats::na.omit(plot$data$rater)), 20L)
  expect_match(plot$labels$subtitle, "the 20\\sof 40 raters with the most")
  expect_gt(plot$theme$axis.text.y$size, 5.5)
  expect_gte(text_size(400), 5)
})

test_that("densities of draws are reflected at 0 and 1, and ranks have the edges of their bins", {
  draws <- withr::with_seed(1, stats::rexp(4000, 10))
  draws <- draws[draws < 1]
  fit <- list(terms = data.frame(term = c("base_rate[a]", "nu[a]"), a = c(1, NA), total = c(2, NA)))
  table <- data.frame(term = factor("base_rate[a]"), value = draws)
  curves <- density_curves(fit, table)
  expect_equal(curves$density[[1]], 10 * exp(-0.05), tolerance = 0.1)
  expect_equal(sum(curves$density) * diff(curves$value[1:2]), 1 - 0.05, tolerance = 0.02)
  expect_equal(curves$prior, rep(1, nrow(curves)))
  table <- data.frame(term = factor("nu[a]"), value = 30 * draws)
  curves <- density_curves(fit, table)
  expect_equal(range(curves$value), range(table$value))
  expect_true(all(is.na(curves$prior)))
  ranks <- draw_ranks(data.frame(term = "a", chain = factor(1), value = rep(1:20, 1:20)))
  layer <- ggplot2::layer_data(ranks)
  expect_identical(ranks$layers[[1]]$geom_params$direction, "mid")
  expect_equal(range(layer$x), c(-0.025, 1.025))
  expect_equal(sum(layer$y), 210)
})

test_that("confusion matrices of a fit are printed and drawn", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.8), categories = 3, n = 200))
  matrices <- confusion(fit_raters(x, dawid_skene()))
  expect_type(matrices, "list")
  cells <- tidy(matrices)
  expect_identical(cells$probability[1:3], as.vector(matrices[[1L]][1L, ]))
  expect_output(print(matrices), "Confusion matrix of rater3")
  expect_identical(nrow(ggplot2::layer_data(ggplot2::autoplot(matrices))), 27L)
  one <- confusion(fit_raters(x))
  expect_output(print(one), paste0("Confusion matrix of all raters.*",
    "All raters have the same matrix; dawid_skene.*wrong\\s+ratings of a case are equally"))
  expect_no_match(capture.output(print(matrices)), "equally")
  truth <- rep(1:3, each = 20)
  perfect <- ratings(data.frame(a = truth, b = truth, c = truth), raters = a:c, rater_kind = "expert")
  expect_no_match(capture.output(print(confusion(quiet(fit_raters(perfect, dawid_skene()))))),
    "equally|dawid_skene")
  counted <- confusion(fit_raters(ratings(fleiss1971, case = case, counts = depression:other)))
  expect_output(print(counted), "All raters have the same matrix\n", fixed = TRUE)
  expect_identical(nrow(ggplot2::layer_data(ggplot2::autoplot(one))), 9L)
  # Abstentions have a column, and no row.
  x <- ratings(data.frame(a = rep(c("y", "n", NA), 20), b = rep(c("y", "n", "n"), 20),
    c = rep(c("y", "n", "y", "n"), 15)), raters = a:c, abstain = NA)
  fit <- suppressWarnings(fit_raters(x, dawid_skene(abstain = "depends")))
  expect_identical(
    nrow(ggplot2::layer_data(ggplot2::autoplot(fit, "confusion"))), length(unlist(confusion(fit)))
  )
})

test_that("plots of draws name the argument that selects hidden parameters", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.7, 0.8, 0.8), categories = 4, n = 60))
  fit <- quiet(fit_raters(x, dawid_skene(), method = "bayes",
    sampling = list(draws = 200, thin = 1)))
  # Four base rates, and four probabilities of correct ratings for each of three raters.
  expect_match(ggplot2::autoplot(fit, "trace")$labels$caption,
    "4 more parameters not shown: use `terms` in plot() of the fit", fixed = TRUE)
})
