skip_if_not_installed("ggplot2")

panel_of <- function(raters, systems = 0) {
  set.seed(1)
  answers <- matrix(sample(c("a", "b", "c"), 60 * (raters + systems), TRUE), 60)
  colnames(answers) <- c(
    sprintf("annotator with a long name %02d", seq_len(raters)),
    sprintf("gpt-4o-mini-2024-07-%02d", seq_len(systems))
  )
  if (systems > 0) ratings(answers, systems = raters + seq_len(systems)) else ratings(answers)
}

has_text <- function(plot) {
  any(vapply(plot$layers, function(layer) inherits(layer$geom, "GeomText"), NA))
}

test_that("small maps have numbers, large ones none", {
  expect_true(has_text(ggplot2::autoplot(panel_of(12), "agreement")))
  expect_false(has_text(ggplot2::autoplot(panel_of(40), "agreement", max_raters = 40)))
})

test_that("systems are set apart, in panels of their own", {
  plot <- ggplot2::autoplot(panel_of(3, 2), "agreement")
  expect_length(unique(ggplot2::layer_data(plot)$PANEL), 4L)
  expect_length(unique(ggplot2::layer_data(ggplot2::autoplot(panel_of(3), "agreement"))$PANEL), 1L)
  pairs <- agreement(panel_of(3, 2), "cohen_kappa", pairwise = TRUE, interval = "none")
  systems <- attr(pairs, "about")$systems
  expect_length(unique(ggplot2::layer_data(ggplot2::autoplot(pairs))$PANEL),
    if (length(systems) > 0L) 4L else 1L)
})

test_that("many judges are sorted by the mean of their values, systems last", {
  x <- panel_of(13, 1)
  plot <- ggplot2::autoplot(x, "agreement")
  pairs <- pairwise_agreement(x, seq_len(13))
  pairs <- pairs[pairs$judge1 != pairs$judge2, ]
  means <- tapply(pairs$agreement, pairs$judge1, mean)
  shown <- levels(plot$data$judge1)
  expect_identical(shown[14], x$systems)
  expect_false(is.unsorted(rev(means[shown[1:13]])))
  few <- ggplot2::autoplot(panel_of(12), "agreement")
  expect_identical(levels(few$data$judge1), panel_of(12)$raters)
})

test_that("long names lose their middle, but never what tells them apart", {
  expect_identical(short_names(c("ann", "bob")), c("ann", "bob"))
  long <- c("gpt-4o-mini-2024-07-18", "gpt-4o-mini-2024-07-19")
  expect_true(all(nchar(short_names(long)) < 18))
  expect_identical(anyDuplicated(short_names(long)), 0L)
  alike <- c("annotator number 1 of the clinic", "annotator number 2 of the clinic")
  expect_identical(short_names(alike), alike)
})

test_that("of many measures only some have a map", {
  pairs <- agreement(panel_of(3), pairwise = TRUE, interval = "none")
  plot <- ggplot2::autoplot(pairs)
  expect_length(unique(ggplot2::layer_data(plot)$PANEL), max_maps)
  expect_match(plot$labels$caption, "first 4 of")
})
