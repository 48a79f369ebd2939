# Plots of 5 x 4 inches with long names, and with many systems or raters.
skip_if_not_installed("ggplot2")

long_names <- function(stem, n) sprintf("%s-%02d", stem, seq_len(n))

# A panel whose raters, systems and categories have names of 30 characters.
long_panel <- function(raters, systems) {
  withr::local_seed(1)
  truth <- sample(3L, 60, TRUE)
  answers <- vapply(seq_len(raters + systems), function(i) {
    ifelse(stats::runif(60) < 0.7, truth, sample(3L, 60, TRUE))
  }, truth)
  names <- c(
    long_names("a rater of the clinic at Zer", raters),
    long_names("gpt-4o-mini-instruct-preview", systems)
  )
  answers[] <- long_names("a category with a long name", 3)[answers]
  colnames(answers) <- names
  quiet(ratings(answers, systems = raters + seq_len(systems)))
}

labels_of_facets <- function(names) {
  unlist(wrap_labeller()(data.frame(system = names)), use.names = FALSE)
}

test_that("names of facets are whole, distinct and not wider than their panels", {
  many <- labels_of_facets(long_names("gpt-4o-mini-instruct-preview", 12))
  expect_identical(anyDuplicated(many), 0L)
  expect_identical(many[[12]], "gpt-4o-...\niew-12")
  expect_identical(labels_of_facets("gpt-4o-mini-instruct-preview"), "gpt-4o-mini-instruct-preview")
  expect_identical(break_names("a definit... query", 12L), "a definit...\nquery")
  expect_identical(break_names("a definit... query", 11L), "a\ndefinit...\nquery")
  two <- labels_of_facets(c(strrep("x", 40), "a codebook variable of two lines"))
  expect_lte(max(nchar(unlist(strsplit(two, "\n")))), 26L)
  plot <- ggplot2::autoplot(quiet(estimate_accuracy(long_panel(3, 8))), "sensitivity")
  expect_identical(plot$theme$strip.clip, "off")
})

test_that("titles of many facets are wrapped, and not cut", {
  x <- withr::with_seed(1, simulate_ratings(rater_design(c(0.7, 0.8, 0.6), NULL, 3, 60)))
  by_category <- quiet(agreement(x, by_category = TRUE))
  titles <- levels(ggplot2::autoplot(by_category)$data$title)
  expect_gt(length(titles), 6L)
  expect_identical(gsub("\n", " ", labels_of_facets(titles)), titles)
  expect_lte(max(nchar(unlist(strsplit(labels_of_facets(titles), "\n")))), 17L)
  # All titles of measures: lines end between words or after hyphens.
  all_titles <- unname(unique(measure_titles(names(all_measures()))))
  expect_gt(length(all_titles), 15L)
  expect_identical(gsub("\n| ", "", labels_of_facets(all_titles)), gsub(" ", "", all_titles))
  expect_match(labels_of_facets(all_titles), "Krippendorff's", fixed = TRUE, all = FALSE)
})

test_that("titles have the width of a plot of five inches", {
  plot <- ggplot2::autoplot(quiet(estimate_accuracy(lehner_ratings())), "sensitivity")
  lines <- function(text) nchar(strsplit(text, "\n", fixed = TRUE)[[1]])
  expect_lte(max(lines(plot$labels$title)), 49L)
  expect_lte(max(lines(plot$labels$subtitle)), 65L)
})

test_that("names of pairs and of parameters are shortened part by part", {
  names <- long_names("gpt-4o-mini-instruct-preview", 2)
  short <- "gpt-4o-...iew-0"
  pair <- paste(names[[1]], "-", names[[2]])
  expect_identical(short_names(pair), paste0(short, "1 - ", short, "2"))
  expect_identical(short_names(sprintf("p[%s,ok]", names[[1]])), paste0("p[", short, "1,ok]"))
  expect_identical(short_names(names[c(1, 1)]), rep(paste0(short, "1"), 2))
  plot <- ggplot2::autoplot(quiet(compare_systems(long_panel(3, 8))))
  expect_identical(nrow(plot$data), max_drawn_pairs)
  expect_lte(max(nchar(levels(plot$data$pair))), 35L)
  expect_lt(plot$theme$axis.text.y$size, 8)
  expect_match(plot$labels$caption, "8 smaller differences are not shown")
})

test_that("legends of many systems have few columns", {
  estimate <- quiet(estimate_accuracy(long_panel(3, 8), "joint", interval = "none"))
  plot <- ggplot2::autoplot(quiet(estimate_metrics(estimate, "recall")))
  labels <- legends_of(plot)$label
  expect_length(labels, 8L)
  expect_lte(max(nchar(labels)), 16L)
  guide <- plot$scales$get_scales("colour")$guide
  expect_identical(guide$ncol %||% guide$params$ncol, 2L) # older and newer ggplot2
})

test_that("legends of two scales with the same labels are one legend", {
  plan <- withr::with_seed(1, plan_cases(
    chance_kappa = 0.3, raters = 2:3, system_accuracy = 0.8, estimator = "unbinned", runs = 20
  ))
  expect_identical(legends_of(ggplot2::autoplot(plan))$label, c("2", "3"))
})

test_that("values are not drawn over points", {
  plot <- ggplot2::autoplot(quiet(estimate_accuracy(long_panel(3, 8), interval = "none")))
  geoms <- vapply(plot$layers, function(layer) class(layer$geom)[[1]], "")
  expect_lt(which(geoms == "GeomLabel"), which(geoms == "GeomPoint"))
  pairs <- quiet(agreement(long_panel(6, 1), pairwise = TRUE, interval = "none"))
  plot <- ggplot2::autoplot(pairs, "measures")
  labels <- vapply(plot$layers, function(layer) inherits(layer$geom, "GeomLabel"), NA)
  expect_identical(nrow(ggplot2::layer_data(plot, which(labels))), 0L)
})

test_that("several heat maps have numbers if these fit", {
  text_of <- function(plot) Filter(function(layer) inherits(layer$geom, "GeomText"), plot$layers)
  maps <- function(n) ggplot2::autoplot(quiet(
    agreement(long_panel(n, 1), pairwise = TRUE, interval = "none")
  ))
  expect_equal(text_of(maps(3))[[1]]$aes_params$size, 2.4)
  expect_length(text_of(maps(6)), 0L)
})

test_that("a picture has no single label of a long name of a case", {
  x <- simulate_ratings(rater_design(c(0.7, 0.8, 0.9), n = 40))
  x$cases <- sprintf("https://www.example.org/collection/images/%05d.jpeg", 1:40)
  plot <- ggplot2::autoplot(ground_truth(x))
  expect_length(ggplot2::ggplot_build(plot)$layout$panel_params[[1]]$x$get_labels(), 0L)
})

test_that("a plot by variable says so", {
  x <- lehner_ratings()
  result <- quiet(estimate_accuracy(list(tone = x, topic = x), interval = "none"))
  expect_identical(ggplot2::autoplot(result)$labels$title, "Accuracy of systems by variable")
})

test_that("the agreement chart has short names and its diagonal is visible", {
  x <- long_panel(2, 1)
  plot <- ggplot2::autoplot(
    agreement(agreement_matrix(x, x$raters[[1]], x$raters[[2]])), "chart"
  )
  breaks <- ggplot2::ggplot_build(plot)$layout$panel_params[[1]]$x$get_labels()
  expect_lte(max(nchar(breaks)), 16L)
  expect_s3_class(plot$layers[[2]]$geom, "GeomAbline")
})

test_that("labels of checks of the K-properties are not cut", {
  x <- long_panel(4, 1)
  check <- quiet(check_k_properties(x, resampling = list(replicates = 19)))
  expect_identical(ggplot2::autoplot(check)$coordinates$clip, "off")
  pairs <- ggplot2::autoplot(check, "pairs")
  expect_identical(pairs$coordinates$clip, "off")
  expect_lte(max(nchar(pairs$data$label)), 35L)
})

test_that("raters are not named if their names would overlap", {
  test <- quiet(alt_test(long_panel(12, 7)))
  expect_identical(rlang::as_label(ggplot2::autoplot(test)$mapping$y), "system")
})
