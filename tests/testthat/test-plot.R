skip_if_not_installed("ggplot2")

layers <- function(plot) lapply(seq_along(plot$layers), function(i) ggplot2::layer_data(plot, i))

test_that("every rating and every answer is a tile", {
  plot <- ggplot2::autoplot(lehner_ratings())
  tiles <- ggplot2::layer_data(plot)
  expect_identical(nrow(tiles), 50L)
  expect_length(unique(tiles$fill), 4L)
})

test_that("repeats stand side by side", {
  x <- ratings(dawid1979, case = case, rater = rater, rating = rating, repeats = "ratings")
  tiles <- ggplot2::layer_data(ggplot2::autoplot(x))
  expect_identical(nrow(tiles), 315L)
  expect_equal(anyDuplicated(tiles[c("x", "y", "PANEL")]), 0L)
})

test_that("of many cases and raters a choice is drawn, and said", {
  set.seed(1)
  x <- ratings(matrix(sample(3, 60 * 500, TRUE), 500))
  plot <- ggplot2::autoplot(x, max_cases = 20, max_raters = 5)
  expect_identical(nrow(ggplot2::layer_data(plot)), 100L)
  expect_match(plot$labels$subtitle, "20 cases of 500, evenly spaced; 5 raters of 60")
  pairs <- ggplot2::autoplot(x, "agreement", max_raters = 15)
  expect_identical(nrow(ggplot2::layer_data(pairs)), 225L)
  expect_match(pairs$labels$subtitle, "15 raters of 60")
})

test_that("counts are stacked", {
  x <- ratings(fleiss1971, case = case, counts = depression:other)
  bars <- ggplot2::layer_data(ggplot2::autoplot(x))
  expect_equal(max(bars$ymax), 6)
  expect_error(ggplot2::autoplot(x, "agreement"), class = "fallible_error_argument")
  with_system <- ratings(transform(fleiss1971, s = "other"), counts = depression:other,
    systems = s)
  pairs <- ggplot2::autoplot(with_system, "agreement")
  expect_identical(nrow(ggplot2::layer_data(pairs)), 4L)
})

test_that("agreement is drawn for each pair", {
  cells <- layers(ggplot2::autoplot(lehner_ratings(), "agreement"))
  expect_identical(nrow(cells[[1]]), 25L)
  expect_true("0.60" %in% cells[[2]]$label)
})

test_that("a fit is drawn with its errors", {
  drawn <- layers(ggplot2::autoplot(fit_raters(lehner_ratings())))
  expect_equal(drawn[[1]]$xintercept, 0.25)
  expect_equal(sort(drawn[[3]]$x), c(0.175, 0.25, 0.25, 0.325, 0.5))
  terms <- tidy(fit_raters(lehner_ratings()))
  terms <- terms[terms$term %in% c("rater_accuracy", paste0("base_rate[", LETTERS[1:4], "]")), ]
  size <- terms$estimate * (1 - terms$estimate) / terms$std.error^2
  ends <- wilson_interval(terms$estimate, size, qnorm(0.95))
  expect_equal(sort(drawn[[2]]$xmax), sort(ends[, 2]))
  lost <- quiet(fit_raters(ratings(cbind(c("a", "a", "b", "b"), c("a", "b", "a", "b")))))
  expect_match(ggplot2::autoplot(lost)$labels$subtitle, "Not identified")
})

test_that("probabilities of each case fill a column", {
  bars <- ggplot2::layer_data(ggplot2::autoplot(ground_truth(lehner_ratings())))
  expect_identical(nrow(bars), 40L)
  expect_equal(max(bars$ymax), 1)
  truth <- ground_truth(lehner_ratings())
  few <- ggplot2::autoplot(truth, max_cases = 3)
  expect_identical(nrow(ggplot2::layer_data(few)), 12L)
  expect_error(ggplot2::autoplot(truth[-1]), class = "fallible_error_columns")
  truth[-1] <- NA_real_
  expect_error(ggplot2::autoplot(truth), class = "fallible_error_argument")
})

test_that("fits are drawn with an accuracy for each rater", {
  set.seed(2)
  x <- simulate_ratings(rater_design(c(0.5, 0.6, 0.7), 0.9, 3, n = 100))
  fit <- fit_raters(x, rater_model("rater", "distance", "strata"))
  points <- layers(ggplot2::autoplot(fit))[[3]]
  expect_equal(sort(points$x), sort(unname(c(coef(fit)[1:3], rates_of(fit)))))
})

test_that("systems are drawn with intervals, and bins with the expected curve", {
  set.seed(1)
  estimate <- quiet(published(lehner_ratings(), resampling = list(replicates = 100)))
  drawn <- layers(ggplot2::autoplot(estimate))
  expect_equal(drawn[[1]]$xintercept, 0.5)
  expect_equal(drawn[[2]]$xmin, tidy(estimate)$conf.low)
  expect_identical(drawn[[3]]$label, "73%")
  expect_equal(drawn[[4]]$x, tidy(estimate)$estimate)
  points <- layers(ggplot2::autoplot(estimate, "bins"))
  expect_equal(points[[2]]$y, tidy(estimate, "bins")$agreement)
  # Equation 6 at probability one gives the accuracy itself.
  expect_equal(max(points[[1]]$y), tidy(estimate)$estimate)
})

test_that("estimates that are not identified are named", {
  wide <- data.frame(r1 = c("a", "a", "b", "b"), r2 = c("a", "b", "a", "b"), s = "a")
  estimate <- quiet(published(ratings(wide, raters = r1:r2, systems = s)))
  plot <- ggplot2::autoplot(estimate)
  expect_match(plot$labels$subtitle, "Not identified")
  expect_match(plot$labels$caption, "Not identified for s")
  expect_error(ggplot2::autoplot(estimate, "bins"), "raters agree no better than by chance",
    class = "fallible_error_argument")
})

test_that("studies are drawn with both measures of truth", {
  set.seed(1)
  study <- simulation_study(
    list(a = lehner_design(3), b = lehner_design(5)), runs = 3, n = c(20, 40)
  )
  rows <- tidy(study)
  known <- rows[!is.na(rows$estimate) & rows$estimator == "binned", ]
  plot <- ggplot2::autoplot(study, estimators = "binned")
  points <- layers(plot)[[2]]
  expect_identical(nrow(points), 2L * nrow(known))
  expect_setequal(points$x, c(known$expected, known$sample))
  expect_length(unique(points$PANEL), 4L)
  lacking <- sum(is.na(rows$estimate[rows$estimator == "binned"]))
  expect_identical(
    plot$labels$caption, if (lacking > 0) paste(count_noun(lacking, "estimate"), "missing")
  )
  first <- points[points$PANEL == 1, ]
  ours <- known[known$design == "a" & known$n == 20, ]
  expect_equal(first$x[first$colour == plot_colours$main], ours$sample)
  expect_equal(first$x[first$colour == plot_colours$accent], ours$expected)
  both <- ggplot2::autoplot(study)
  expect_length(unique(layers(both)[[2]]$PANEL), 8L)
  # Panels fill the plot, and each row of panels has the axis of its estimates.
  expect_null(both$coordinates$ratio)
  expect_true(both$facet$params$free$y)

  one <- layers(ggplot2::autoplot(study, estimators = c("binned", "binned")))
  expect_identical(one[[2]]$x, points$x)
  for (wrong in list("other", character(), 1, quote(x), expression(a), globalenv())) {
    expect_error(
      ggplot2::autoplot(study, estimators = wrong), class = "fallible_error_argument"
    )
  }
  nothing <- simulation_study(
    rater_design(c(0.6, 0.6), 0.8, n = 5), function(x) NA_real_, runs = 2
  )
  expect_error(ggplot2::autoplot(nothing), "all estimates are", class = "fallible_error")
})

test_that("plot() draws and returns the picture", {
  withr::local_pdf(NULL)
  same <- function(drawn, picture) {
    expect_s3_class(drawn, "ggplot")
    expect_identical(ggplot2::layer_data(drawn), ggplot2::layer_data(picture))
  }
  x <- lehner_ratings()
  fit <- fit_raters(x)
  estimate <- published(x, interval = "none")
  expect_false(withVisible(plot(x))$visible)
  same(plot(fit), autoplot(fit))
  same(plot(ground_truth(fit)), autoplot(ground_truth(fit)))
  same(plot(estimate, type = "bins"), autoplot(estimate, type = "bins"))
  expect_identical(plot(x, title = "Mine")$labels$title, "Mine")
  expect_error(plot(x, type = "pie"), class = "fallible_error_argument")
})

test_that("many categories have colours that differ", {
  expect_identical(anyDuplicated(category_colours(letters)), 0L)
})

test_that("ratings of an ordered scale are drawn in a sequence of colours from dark to light", {
  skip_if_not_installed("ggplot2")
  x <- ratings(data.frame(a = 1:5, b = c(2, 2, 3, 5, 5)), raters = a:b, ordered = TRUE)
  tiles <- ggplot2::layer_data(ggplot2::autoplot(x), 1L)
  tiles <- tiles[tiles$y == max(tiles$y), ]
  fill <- tiles$fill[order(tiles$x)]
  lightness <- colSums(grDevices::col2rgb(fill) * c(0.299, 0.587, 0.114))
  expect_true(all(diff(lightness) > 20))
})

test_that("any two colours differ for everybody", {
  for (kind in names(colour_blindness)) {
    expect_gte(least_distance(category_colours(1:8), kind), 20)
    pair <- unlist(plot_colours[c("main", "accent", "muted")])
    expect_gte(least_distance(pair, kind), 20)
  }
  # What the simulation is for: red and green of equal lightness, of which one eye sees little.
  expect_gt(least_distance(c("#D1495B", "#3B8C6E"), "none"), 60)
  expect_lt(least_distance(c("#D1495B", "#3B8C6E"), "protanopia"), 20)
})

test_that("legends have a key for categories and states without data", {
  expect_legend <- function(labels, ...) {
    rows <- legends_of(ggplot2::autoplot(...))
    expect_identical(rows$label[!nzchar(rows$legend)], labels)
    expect_true(all(rows$drawn))
  }
  wide <- data.frame(
    r1 = rep(c("a", "b"), 60), r2 = rep(c("a", "b", "b"), 40), r3 = rep(c("a", "a", "b"), 40),
    s = rep(c("a", "b"), 60)
  )
  x <- ratings(wide, raters = r1:r3, systems = s, categories = c("a", "b", "c"))
  expect_legend(c("a", "b", "c"), x)
  expect_legend(c("a", "b", "c"), ground_truth(quiet(fit_raters(x))))
  expect_legend(c("a", "b", "c"), ratings(data.frame(a = 2:1, b = 1:2, c = 0), counts = a:c))
  expect_legend(c("the system wins", "it does not"), quiet(alt_test(x)))
  picture <- ggplot2::autoplot(quiet(alt_test(x)))
  expect_identical(rlang::as_label(picture$mapping$y), "rater")
  expect_setequal(picture$data$rater, paste0("r", 1:3))
  expect_legend(c("ok", "doubt", "problem"), quiet(data_check(x)))
  crowd <- crowdtruth(examples_of_results()$ratings_labels)
  expect_legend(c("not flagged", "flagged"), flag_workers(crowd, sd = 100))
})

test_that("legends_of() finds labels without a key", {
  table <- data.frame(x = 1:2, y = 1:2, kind = factor(c("a", "b"), c("a", "b", "c")))
  some <- function(keys) {
    legends_of(
      ggplot2::ggplot(table, ggplot2::aes(x, y, colour = kind, fill = kind)) +
        ggplot2::geom_point(show.legend = keys) +
        ggplot2::geom_col(show.legend = keys) +
        ggplot2::scale_colour_discrete(drop = FALSE) +
        ggplot2::scale_fill_discrete(drop = FALSE)
    )
  }
  expect_identical(some(TRUE)$label, c("a", "b", "c"))
  expect_identical(some(TRUE)$drawn, c(TRUE, TRUE, TRUE))
  since <- utils::packageVersion("ggplot2") >= "3.5.0"
  expect_identical(some(NA)$drawn, c(TRUE, TRUE, !since))
})

test_that("more than eight categories are named on their tiles", {
  set.seed(1)
  x <- ratings(matrix(sample(12, 90, TRUE), 30), categories = 1:12)
  tiles <- ggplot2::layer_data(ggplot2::autoplot(x), 2)
  expect_identical(nrow(tiles), 90L)
  expect_setequal(tiles$colour, c("black", "white"))
  expect_length(ggplot2::autoplot(ratings(matrix(sample(8, 90, TRUE), 30)))$layers, 1L)
})

test_that("a theme that was set is kept, and texts are wrapped", {
  old <- ggplot2::theme_set(ggplot2::theme_bw(base_size = 17))
  withr::defer(ggplot2::theme_set(old))
  plot <- ggplot2::autoplot(lehner_ratings(), "agreement")
  expect_identical(plot$theme$text$size, 17)
  ggplot2::theme_set(old)
  ours <- ggplot2::autoplot(lehner_ratings(), "agreement")
  expect_identical(ours$theme$text$size, 11)
  subtitle <- strrep("word ", 40)
  long <- ours + ggplot2::labs(subtitle = subtitle, caption = NULL) + fallible_look(FALSE)
  expect_lte(max(nchar(strsplit(long$labels$subtitle, "\n", fixed = TRUE)[[1]])), 65L)
})

test_that("plot() takes titles", {
  pdf(NULL)
  withr::defer(dev.off())
  plot(lehner_ratings(), title = "Ten cases", subtitle = "and four raters")
  drawn <- ggplot2::last_plot()
  expect_identical(drawn$labels[c("title", "subtitle")],
    list(title = "Ten cases", subtitle = "and four raters"))
  expect_error(plot(lehner_ratings(), titel = "x"), class = "fallible_error")
})

test_that("autoplot is the generic of ggplot2, so that nothing is masked", {
  expect_identical(getExportedValue("fallible", "autoplot"), ggplot2::autoplot)
})

test_that("both curves of scores have a picture", {
  set.seed(1)
  x <- suppressWarnings(estimate_accuracy(scored_panel(100)$x, "joint", interval = "none"))
  roc <- ggplot2::autoplot(x, "roc")
  expect_identical(levels(roc$data$curve_name), c("s, 1", "s, 2"))
  expect_no_error(ggplot2::ggplot_build(roc))
  reliability <- ggplot2::autoplot(x, "reliability")
  expect_identical(levels(reliability$data$curve_name), "s")
  expect_no_error(ggplot2::ggplot_build(reliability))
})

test_that("the performance of estimators is that of summary(), with Monte Carlo errors", {
  skip_if_not_installed("ggplot2")
  withr::local_seed(3)
  design <- rater_design(c(0.8, 0.85, 0.9), c(s = 0.9), 2, 40)
  study <- quiet(simulation_study(list(one = design, two = design), c("average", "binned"), runs = 3))
  picture <- ggplot2::autoplot(study, "performance")
  marks <- Filter(function(layer) inherits(layer$geom, "GeomVline"), picture$layers)[[1L]]$data
  expect_identical(as.character(marks$measure), "bias") # there are no intervals
  expect_identical(picture$labels$caption, "No intervals: average, binned")
  leveled <- list(a = accuracy_estimator("joint", interval = "profile", conf_level = 0.8))
  study2 <- quiet(simulation_study(list(one = design), leveled, runs = 2))
  picture2 <- ggplot2::autoplot(study2, "performance")
  marks <- Filter(function(layer) inherits(layer$geom, "GeomVline"), picture2$layers)[[1L]]$data
  expect_identical(marks$at, c(0, 0.8))
  expect_null(picture2$labels$caption)
  drawn <- ggplot2::ggplot_build(picture)$plot$data
  found <- summary(study, by = c("design", "estimator"))
  found <- found[found$target == "expected", ]
  for (measure in c("bias", "coverage")) {
    rows <- drawn[drawn$measure == measure, ]
    at <- match(paste(rows$term, rows$group), paste(found$estimator, found$design))
    expect_equal(rows$middle, found[[measure]][at])
    reach <- 2 * found[[paste0(measure, "_mcse")]][at]
    limits <- if (measure == "coverage") c(0, 1) else c(-1, 1)
    expect_equal(rows$low, pmax(rows$middle - reach, limits[[1L]]))
    expect_equal(rows$high, pmin(rows$middle + reach, limits[[2L]]))
  }
})

test_that("one pair needs no legend, and differences of accuracy are percentage points", {
  skip_if_not_installed("ggplot2")
  x <- quiet(simulate_ratings(rater_design(c(0.7, 0.8, 0.8), c(a = 0.9, b = 0.6), 2, n = 80)))
  plot <- ggplot2::autoplot(quiet(compare_systems(x)))
  expect_identical(plot$scales$get_scales("colour")$guide, "none")
  labels <- ggplot2::ggplot_build(plot)$layout$panel_params[[1]]$x$get_labels()
  expect_match(labels[!is.na(labels)], "^-?[0-9]+$")
  expect_match(plot$labels$x, "(percentage points)", fixed = TRUE)
})

test_that("differences whose intervals contain 0 are explained in the legend", {
  skip_if_not_installed("ggplot2")
  x <- quiet(simulate_ratings(rater_design(c(0.7, 0.8, 0.8), c(a = 0.8, b = 0.8), 2, n = 80)))
  plot <- ggplot2::autoplot(quiet(compare_systems(x)))
  expect_identical(plot$data$verdict, "undecided: the interval contains 0")
  expect_identical(plot$scales$get_scales("colour")$guide, "legend")
})

test_that("axes of shares cover 30 points or more, and end at 0 and 1", {
  expect_equal(widen_limits(c(0.8, 0.85)), c(0.675, 0.975))
  expect_equal(widen_limits(c(0.95, 1)), c(0.7, 1))
  expect_equal(widen_limits(c(0.2, 0.9)), c(0.2, 0.9))
  expect_equal(widen_limits(NULL), 0:1)
})

test_that("metrics that are ratios have a log axis, and known truth is not called estimated", {
  skip_if_not_installed("ggplot2")
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.8, 0.75, 0.7), c(s = 0.85), categories = 2, n = 100))
  estimate <- estimate_accuracy(fit_raters(x, known_truth = truth(x)), interval = "none")
  drawn_values <- function(plot) ggplot2::ggplot_build(plot)$data[[2L]]$x
  ratios <- estimate_metrics(estimate, c("lr_positive", "dor"))
  plot <- ggplot2::autoplot(ratios)
  expect_identical(plot$labels$subtitle, "The truth of all cases is known")
  expect_setequal(round(drawn_values(plot), 8), round(log10(tidy(ratios)$estimate), 8))
  mixed <- estimate_metrics(estimate, c("lr_positive", "recall"))
  drawn <- drawn_values(ggplot2::autoplot(mixed))
  expect_setequal(round(drawn, 8), round(tidy(mixed)$estimate, 8))
})

test_that("systems are drawn with the accuracy of raters only under the same assumption", {
  skip_if_not_installed("ggplot2")
  x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
  subtitle <- function(...) {
    ggplot2::autoplot(quiet(estimate_accuracy(x, interval = "none", ...)))$labels$subtitle
  }
  expect_identical(subtitle(common = "none"),
    "Estimates; dashed: mean of raters (50%), all if errors are\nindependent")
  expect_identical(subtitle(), "Estimates")
})
