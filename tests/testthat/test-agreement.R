own_measures <- function(x, ids, ...) {
  table <- agreement(x, ids, interval = "none", ...)
  stats::setNames(table$estimate, table$measure)
}

# Intervals may leave their estimates.
of_few_cases <- function(x, replicates) {
  suppressWarnings(
    agreement(x, interval = "bootstrap", resampling = list(replicates = replicates)),
    classes = "fallible_warning_bootstrap"
  )
}

test_that("every measure is what its definition says, on random data sets", {
  scales <- list(NULL, "linear", "quadratic", "ordinal")
  expect_over(rounds(300), function(seed) {
    set <- random_ratings(seed)
    scale <- scales[[1 + seed %% 4]]
    pooling <- c("pairs", "cases")[[1 + seed %/% 2 %% 2]]
    W <- scale_matrix(scale %||% "identity", as.character(seq_len(set$k)))
    expected <- twin_measures(set$x, k = set$k, W = W, pooling = pooling)
    if (!is.null(scale)) {
      weighted <- measures()$id[measures()$weights]
      expected <- expected[names(expected) %in% weighted]
    }
    own <- own_measures(as_panel(set), names(expected), scale_weights = scale, pooling = pooling)
    largest_gap(own[names(expected)], expected)
  })
})

test_that("weights of cases stand for so many cases", {
  columns <- c("estimate", "std.error", "conf.low", "conf.high", "n")
  expect_over(rounds(40), function(seed) {
    set <- random_ratings(seed)
    times <- 1 + seq_len(nrow(set$x)) %% 3
    weighted <- ratings(
      data.frame(set$x, w = times), raters = tidyselect::starts_with("X"), weights = "w",
      categories = seq_len(set$k)
    )
    repeated <- as_panel(list(x = set$x[rep(seq_along(times), times), ], k = set$k))
    off <- vapply(c("analytic", "jackknife"), function(interval) {
      largest_gap(
        as.matrix(agreement(weighted, interval = interval)[columns]),
        as.matrix(agreement(repeated, interval = interval)[columns])
      )
    }, 0)
    set.seed(seed)
    one <- of_few_cases(weighted, 50)
    set.seed(seed)
    two <- of_few_cases(repeated, 50)
    c(off, largest_gap(as.matrix(one[columns]), as.matrix(two[columns])))
  })
})

test_that("analytic errors are those of numerical derivatives", {
  expect_over(c(seq_len(if (extended_tests()) 12 else 4), 31, 34), limit = 1e-5, function(seed) {
    set <- random_ratings(seed)
    x <- as_panel(set)
    n <- nrow(set$x)
    expected <- twin_influence(set$x, rep(1, n), k = set$k)
    own <- agreement(x, colnames(expected))
    has <- own[!is.na(own$std.error), ]
    slow <- sqrt(has$n / (has$n - 1) * colSums(expected[, has$measure]^2))
    c(largest_gap(has$std.error, slow), unless(nrow(has) >= 5))
  })
  # Marginals that differ, so that one entropy is the smaller.
  a <- cbind(c(1, 1, 1, 2, 2, 3, 3, 3, 1, 1), c(1, 1, 2, 2, 2, 2, 3, 1, 2, 1))
  slope <- twin_influence(a, rep(1, 10), k = 3)[, "information_agreement"]
  expect_equal(agreement(a, "information_agreement")$std.error, sqrt(10 / 9 * sum(slope^2)),
    tolerance = 1e-5)
})

test_that("the jackknife leaves out each case in turn", {
  expect_over(rounds(20), function(seed) {
    set <- random_ratings(seed)
    own <- agreement(as_panel(set), interval = "jackknife")
    own <- own[!is.na(own$std.error), ]
    unlist(lapply(seq_len(nrow(own)), function(i) {
      id <- own$measure[[i]]
      used <- which(rowSums(!is.na(set$x)) >= all_measures()[[id]]$least)
      without <- vapply(used, function(case) {
        twin_measures(set$x[-case, ], k = set$k)[[id]]
      }, 0)
      n <- length(used)
      error <- sqrt((n - 1) / n * sum((without - mean(without))^2))
      largest_gap(c(own$n[[i]], own$std.error[[i]]), c(n, error))
    }))
  })
})

test_that("the bootstrap draws cases, gives the same for any number of threads, and percentiles", {
  x <- ratings(fleiss1971, case = case, counts = depression:other)
  ids <- c("fleiss_kappa", "gwet_ac")
  set.seed(1)
  one <- agreement(x, ids, interval = "bootstrap", resampling = list(replicates = 400))
  set.seed(1)
  two <- agreement(x, ids, interval = "bootstrap", resampling = list(replicates = 400, threads = 2))
  expect_identical(one, two)
  set.seed(1)
  alone <- agreement(x, "gwet_ac", interval = "bootstrap", resampling = list(replicates = 400))
  expect_identical(alone$std.error, one$std.error[[2]])
  # Monte Carlo error of a standard deviation from 400 replicates is about 4%.
  analytic <- agreement(x, ids)
  expect_true(all(abs(one$std.error / analytic$std.error - 1) < 0.2))
})

test_that("the table of the method's page is reproduced", {
  matrices <- list(
    rbind(1:3, 4:6, 7:9), rbind(c(3600, 2595), c(65, 3740)), rbind(c(9901, 64), c(2, 33)),
    rbind(c(21, 5), c(3, 21)), rbind(c(40, 5), c(3, 2)),
    rbind(c(51, 4, 0, 1, 1), c(3, 78, 1, 0, 0), c(0, 0, 13, 4, 0), c(0, 1, 1, 16, 7), c(0, 0, 0, 0, 5)),
    rbind(c(40, 2), c(3, 5))
  )
  expected <- rbind(
    c(0, .1467764060, -.0416666667, -.0563380282, .0056319840),
    c(.468, .5756884041, .4999121086, .4678957076, .3088772080),
    c(.9868, .9933537204, .4974147318, .4966780753, .6512617074),
    c(.68, .7067307692, .6805111821, .68, .3711004991),
    c(.68, .8142131980, .2452830189, .2424242424, .0729457832),
    c(.8454301075, .8514307018, .8207566933, .8205800323, .7291088595),
    c(.8, .8727175081, .6081504702, .6078431373, .3415131073)
  )
  yule <- c(NA, .7986777938, .9611825936, .6885791067, .3956610415, NA, .7047317923)
  for (i in seq_along(matrices)) {
    a <- as.table(matrices[[i]])
    own <- c(bennett_s(a), bangdiwala_b(a), cohen_kappa(a), scott_pi(a), information_agreement(a))
    expect_lt(max(abs(own - expected[i, ])), 1e-9)
    if (!is.na(yule[[i]])) expect_lt(abs(yule_y(a) - yule[[i]]), 1e-9)
  }
})

test_that("published values are reproduced", {
  x <- ratings(fleiss1971, case = case, counts = depression:other)
  # Fleiss (1971): .430; more digits and the others from irr, irrCAC and statsmodels.
  expect_lt(abs(fleiss_kappa(x) - .43024452), 5e-9)
  expect_lt(abs(chance_kappa(x) - .44444444), 5e-9)
  expect_lt(abs(gwet_ac(x) - .44788), 5e-6)
  expect_lt(abs(krippendorff_alpha(x) - .43341), 5e-6)
  expect_lt(abs(percent_agreement(x) - .5555556), 5e-8)
  # Standard errors: Gwet's, here with n - 1; without, the square root of .0028396071.
  error <- agreement(x, "fleiss_kappa")$std.error
  expect_lt(abs(error^2 * 29 / 30 - .0028396071), 5e-11)
  # Fleiss (1971): kappa of each category.
  by <- agreement(x, "fleiss_kappa", by_category = TRUE)
  expect_lt(max(abs(by$estimate - c(.245, .245, .520, .471, .566))), 5e-4)
  # irrCAC's contingency tables.
  abstractors <- as.table(rbind(c(13, 0, 0), c(0, 20, 7), c(0, 4, 56)))
  table <- agreement(abstractors)
  value <- function(id, column = "estimate") table[[column]][table$measure == id]
  expect_lt(abs(value("cohen_kappa") - .7964094), 5e-8)
  expect_lt(abs(value("cohen_kappa", "std.error") * sqrt(99 / 100) - .0589107), 5e-8)
  expect_lt(abs(value("gwet_ac") - .8493305), 5e-8)
  expect_lt(abs(value("bangdiwala_b") - .8059604), 5e-8)
  expect_lt(abs(value("krippendorff_alpha") - .7972585), 5e-8)
  expect_lt(abs(value("scott_pi") - .7962397), 5e-8)
  # Cohen (1968)'s weights of disagreement.
  cohen <- as.table(rbind(c(88, 14, 18), c(10, 40, 10), c(2, 6, 12)))
  expect_lt(abs(cohen_kappa(cohen) - .4915254), 5e-8)
  disagreement <- rbind(c(0, 1, 3), c(1, 0, 6), c(3, 6, 0))
  expect_lt(abs(cohen_kappa(cohen, 1 - disagreement / 6) - .3478261), 5e-8)
  # SAS, by way of statsmodels: asymptotic errors with n.
  sas <- as.table(rbind(c(0, 4, 1), c(0, 8, 0), c(0, 1, 5)))
  expect_lt(abs(cohen_kappa(sas) - .4842), 5e-5)
  expect_lt(abs(agreement(sas, "cohen_kappa")$std.error * sqrt(18 / 19) - .1380), 5e-5)
})

test_that("tables of several variables have the published values", {
  # Krippendorff (2011), "Computing Krippendorff's alpha-reliability": 12 units, 4 observers; also
  # `cac.raw4raters` of irrCAC, whose README has the values of Gwet (2014).
  twelve <- cbind(
    a = c(1, 2, 3, 3, 2, 1, 4, 1, 2, NA, NA, NA), b = c(1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NA, NA),
    c = c(NA, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3), d = c(1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NA)
  )
  # The sample of the Python package krippendorff: 15 units, 3 coders.
  fifteen <- cbind(
    a = c(NA, NA, NA, NA, NA, 3, 4, 1, 2, 1, 1, 3, 3, NA, 3),
    b = c(1, NA, 2, 1, 3, 3, 4, 3, NA, NA, NA, NA, NA, NA, NA),
    c = c(NA, NA, 2, 1, 3, 4, 4, NA, 2, 1, 1, 3, 3, NA, 4)
  )
  x <- list(twelve = ratings(twelve), fifteen = quiet(ratings(fifteen)))
  alphas <- paste0("krippendorff_alpha", c("", "_ordinal", "_interval", "_ratio"))
  gwet <- c("percent_agreement", "gwet_ac", "fleiss_kappa", "conger_kappa", "chance_kappa")
  found <- tidy(agreement(x, c(alphas, gwet), pooling = "cases"))
  value <- function(name, measures, column = "estimate") {
    rows <- found[found$variable == name, ]
    rows[[column]][match(measures, rows$measure)]
  }
  expect_lt(max(abs(value("twelve", alphas) - c(0.743, 0.815, 0.849, 0.797))), 5e-4)
  expect_lt(max(abs(value("fifteen", alphas[c(1, 3)]) - c(0.691, 0.811))), 5e-4)
  irrcac <- c(0.8181818, 0.77544, 0.76117, 0.76282, 0.77273)
  expect_lt(max(abs(value("twelve", gwet) - irrcac)), 5e-6)
  expect_lt(abs(value("twelve", alphas[[1]]) - 0.74342), 5e-6)
})

test_that("information agreement takes its symbolic limits", {
  # Written so that nothing large cancels: terms that are lost are smaller than those that count.
  near_limit <- function(a, eps) {
    a[a == 0] <- eps
    p <- a / sum(a)
    entropy <- function(p) -sum(p * log(p))
    sum(p * log(p / outer(rowSums(p), colSums(p)))) / min(entropy(rowSums(p)), entropy(colSums(p)))
  }
  degenerate <- list(
    rbind(c(5, 5), c(0, 0)), diag(c(5, 0, 0)), rbind(3:1, 0, 0), rbind(c(0, 4, 0), c(0, 3, 0), 0)
  )
  symbolic <- c(0, 2 / 3, 0, 1 / 3)
  for (i in seq_along(degenerate)) {
    a <- as.table(degenerate[[i]])
    expect_equal(information_agreement(a), symbolic[[i]])
    expect_equal(information_agreement(t(a)), symbolic[[i]])
    expect_warning(
      expect_identical(information_agreement(a, continuity = FALSE), NA_real_),
      class = "fallible_warning_undefined"
    )
    # Convergence is only like 1 / log(eps): about ten times nearer for its tenth power.
    off <- abs(vapply(10^-c(15, 150), near_limit, 0, a = unclass(a)) - symbolic[[i]])
    expect_lt(off[[2]], 0.01)
    expect_lte(off[[2]], off[[1]] / 8)
  }
})

test_that("Yule's Y has limits too", {
  expect_equal(yule_y(as.table(rbind(c(3, 0), c(1, 4)))), 1)
  expect_equal(yule_y(as.table(rbind(c(0, 3), c(4, 1)))), -1)
  expect_warning(none <- yule_y(as.table(rbind(c(3, 0), c(1, 0)))), "zero over zero")
  expect_identical(none, NA_real_)
  a <- as.table(rbind(c(21, 5), c(3, 21)))
  y <- yule_y(a)
  expect_equal(
    agreement(a, "yule_y")$std.error * sqrt(49 / 50), (1 - y^2) / 4 * sqrt(sum(1 / a)) # Yule (1912)
  )
})

test_that("what must not matter does not matter", {
  for (seed in c(2, 4, 5, 7, 9)) {
    set <- random_ratings(seed)
    x <- as_panel(set)
    ids <- agreement(x, interval = "none")$measure
    base <- own_measures(x, ids)
    turn <- set$k:1
    expect_close(own_measures(as_panel(list(x = matrix(turn[set$x], nrow(set$x)), k = set$k)), ids),
      base, "categories")
    mirror <- as_panel(list(x = set$x[, ncol(set$x):1], k = set$k))
    expect_close(own_measures(mirror, ids), base, "raters")
    back <- as_panel(list(x = set$x[nrow(set$x):1, ], k = set$k))
    expect_close(own_measures(back, ids), base, "cases")
    set.seed(1)
    one <- of_few_cases(x, 30)
    set.seed(1)
    expect_identical(of_few_cases(back, 30), one, ignore_attr = TRUE)
    twice <- as_panel(list(x = rbind(set$x, set$x), k = set$k))
    same <- setdiff(ids, "krippendorff_alpha")
    expect_close(own_measures(twice, same), base[same], "scale")
  }
})

test_that("perfect agreement is one, and has no interval", {
  x <- matrix(rep(c(1, 2, 2, 3, 1), 2), 5)
  table <- agreement(x)
  expect_equal(table$estimate, rep(1, nrow(table)))
  expect_true(all(is.na(table$std.error)))
  expect_match(table$reason, "no interval: no case changes the estimate")
  expect_equal(yule_y(matrix(rep(1:2, 4), 4)), 1)
  many <- agreement(x[, c(1, 2, 1)])
  expect_equal(many$estimate, rep(1, nrow(many)))
})

test_that("undefined measures are NA with a reason", {
  one <- ratings(matrix(1, 4, 2), categories = 1:2)
  table <- agreement(one)
  expect_true(all(is.na(table$estimate[table$measure %in% c(
    "cohen_kappa", "scott_pi", "krippendorff_alpha", "yule_y"
  )])))
  expect_equal(table$estimate[table$measure == "gwet_ac"], 1)
  expect_match(table$reason[table$measure == "krippendorff_alpha"], "one category")
  apart <- agreement(cbind(c(1, 2, NA, NA), c(NA, NA, 1, 2)))
  expect_true(all(is.na(apart$estimate)))
  expect_match(apart$reason, "no two raters")
  chain <- cbind(c(1, 2, 1, NA, NA), c(1, 2, 2, 1, 2), c(NA, NA, NA, 1, 2))
  expect_match(agreement(chain, "light_kappa")$reason, "no case in common")
})

test_that("weights that are not counts give estimates without errors", {
  set <- random_ratings(3)
  x <- ratings(
    data.frame(set$x, w = 0.5), raters = tidyselect::starts_with("X"), weights = "w",
    categories = seq_len(set$k)
  )
  table <- agreement(x)
  plain <- agreement(as_panel(set), table$measure)
  alpha <- table$measure == "krippendorff_alpha"
  expect_close(table$estimate[!alpha], plain$estimate[!alpha], "halved weights")
  expect_true(is.na(table$estimate[alpha]))
  expect_match(table$reason, "weights are not counts")
  set.seed(1)
  expect_true(all(is.na(agreement(x, interval = "bootstrap")$conf.low)))
})

test_that("pairs and categories have rows of their own", {
  x <- lehner_ratings()
  pairs <- agreement(x, "cohen_kappa", pairwise = TRUE)
  expect_identical(nrow(pairs), 10L)
  expect_equal(
    pairs$estimate[pairs$rater1 == "rater2" & pairs$rater2 == "system"],
    cohen_kappa(agreement_matrix(x, "rater2", "system"))
  )
  expect_identical(nrow(agreement(x, "cohen_kappa", pairwise = TRUE, systems = FALSE)), 6L)
  five <- as_panel(list(x = matrix(match(as.matrix(lehner2015[2:6]), LETTERS), 10), k = 4))
  expect_equal(agreement(x, "fleiss_kappa", systems = TRUE)$estimate, fleiss_kappa(five))
  by <- agreement(x, by_category = TRUE)
  expect_identical(unique(by$category), LETTERS[1:4])
  codes <- as.matrix(lehner2015[2:5])
  binary <- ratings(ifelse(codes == "B", "B", "others"))
  expect_equal(
    by$estimate[by$category == "B" & by$measure == "conger_kappa"], conger_kappa(binary)
  )
  # Of the pairs of ratings in which one is B, those in which both are.
  n <- rowSums(codes == "B")
  expect_equal(
    by$estimate[by$category == "B" & by$measure == "specific_agreement"],
    sum(n * (n - 1)) / sum(n * 3)
  )
  both <- agreement(x[, 1:3], "yule_y", pairwise = TRUE, by_category = TRUE)
  expect_identical(nrow(both), 24L) # three raters and the system
})

test_that("repeats by a rater are no agreement between raters", {
  x <- ratings(dawid1979, case = case, rater = rater, rating = rating, repeats = "ratings")
  expect_equal(percent_agreement(x), glance(x)$agreement)
  expect_equal(chance_kappa(x), quiet(fit_raters(x))$kappa)
  weighted <- percent_agreement(x, "linear")
  total <- 0
  pairs <- 0
  for (rows in split(dawid1979, dawid1979$case)) {
    other <- outer(rows$rater, rows$rater, `!=`)
    apart <- abs(outer(rows$rating, rows$rating, `-`))
    total <- total + sum((1 - apart / 3)[other])
    pairs <- pairs + sum(other)
  }
  expect_equal(weighted, total / pairs)
  expect_error(conger_kappa(x), class = "fallible_error_measure")
  labels <- ratings(
    unique(dawid1979), case = case, rater = rater, rating = rating, repeats = "labels"
  )
  expect_error(agreement(labels), class = "fallible_error_labels")
  expect_error(fleiss_kappa(labels), class = "fallible_error_labels")
})

test_that("print tells the story", {
  x <- lehner_ratings()
  expect_snapshot({
    agreement(x)
    agreement(x, "cohen_kappa", pairwise = TRUE)
    agreement(fleiss1971, "fleiss_kappa", counts = depression:other, by_category = TRUE)
    agreement(agreement_matrix(x, "rater1", "rater2"))
    agreement(ratings(matrix(1, 4, 2), categories = 1:2))
    agreement(cbind(c(1, 2, 1, NA, 2), c(1, 2, 2, 1, 2), c(NA, 2, 1, 1, 2)), interval = "jackknife")
  })
})

test_that("numbers that may be a scale are pointed out", {
  said <- function(...) paste(capture.output(print(agreement(...))), collapse = " ")
  rated <- function(...) ratings(data.frame(...), raters = a:b)
  codes <- rated(a = c(1, 2, 3, 3, 1), b = c(1, 3, 3, 2, 1))
  scale <- ratings(data.frame(a = 1:3, b = c(1, 3, 3)), raters = a:b, ordered = TRUE)
  expect_match(said(codes), "If the numbers are a scale, give `ordered = TRUE`")
  expect_match(said(scale), "only ordinal and weighted measures count")
  expect_no_match(said(codes, measures = "krippendorff_alpha_ordinal"), "scale")
  expect_no_match(said(codes, by_category = TRUE), "near misses|Near misses")
  expect_no_match(said(rated(a = c(0, 1, 1), b = c(0, 1, 0))), "scale")
  expect_no_match(said(rated(a = letters[1:3], b = letters[3:1])), "scale")
})

test_that("numbers are no scale if `ordered = FALSE` was given, and notes name the variables", {
  said <- function(...) paste(trimws(capture.output(print(agreement(...)))), collapse = " ")
  data <- data.frame(case = rep(1:4, 2), rater = rep(1:2, each = 4), y = c(1:3, 1, 2, 2, 3, 1))
  data$z <- data$y
  data$w <- pmin(data$y, 2)
  rated <- function(...) ratings(data, case = case, rater = rater, ...)
  codes <- rated(rating = y, ordered = FALSE)
  both <- c("krippendorff_alpha", "krippendorff_alpha_ordinal")
  for (measure in c("ordinal", "interval", "ratio")) {
    id <- paste0("krippendorff_alpha_", measure)
    expect_error(agreement(codes, id), "`ordered = FALSE`", class = "fallible_error_measure")
    expect_error(krippendorff_alpha(codes, measure), class = "fallible_error_measure")
  }
  expect_match(tidy(agreement(codes, both))$reason[[2L]], "`ordered = FALSE` was given")
  expect_no_match(said(codes), "Near misses")
  expect_match(said(rated(rating = y), both), "give `ordered = FALSE` to ratings()", fixed = TRUE)
  variables <- rated(rating = c(y, z, w), ordered = c(z = TRUE))
  expect_match(said(variables), " y: Near misses do not count")
  expect_match(said(variables, both), " y: Ordinal measures use the numbers")
  expect_match(said(variables), " z: Categories are ordered")
  expect_no_match(said(variables), "w: [NC]")
})

test_that("errors say what to do", {
  x <- lehner_ratings()
  exchangeable <- ratings(fleiss1971, case = case, counts = depression:other)
  expect_snapshot(error = TRUE, {
    agreement()
    agreement(1:3)
    agreement(x, "cohen")
    agreement(x, 3)
    agreement(x, "cohen_kappa")
    agreement(x, "specific_agreement")
    agreement(x, "yule_y")
    agreement(x[, 1:2], "bangdiwala_b", scale_weights = "linear")
    agreement(exchangeable, "conger_kappa")
    agreement(exchangeable, pairwise = TRUE)
    agreement(x, by_category = TRUE, scale_weights = "linear")
    agreement(x, scale_weights = diag(3))
    agreement(x, scale_weights = 1 - diag(4))
    agreement(x, conf_level = 90)
    agreement(counts = 1:3)
  })
})

test_that("resamples without an estimate are told", {
  x <- cbind(c(1, 1, 1, 1, 1, 2), c(1, 1, 1, 1, 1, 2)) # without the last case only one category
  set.seed(1)
  expect_warning(
    table <- agreement(x, "cohen_kappa", interval = "bootstrap"),
    class = "fallible_warning_bootstrap"
  )
  expect_match(table$reason, "exactly 1")
})

test_that("parts of a result can be printed and drawn", {
  table <- agreement(lehner_ratings())
  expect_output(print(table[2:3, ]), "fleiss_kappa")
  skip_if_not_installed("ggplot2")
  expect_identical(nrow(ggplot2::layer_data(ggplot2::autoplot(table[2:3, ]), 3)), 2L)
  expect_error(ggplot2::autoplot(table["measure"]), class = "fallible_error_argument")
})

test_that("a reason tells weights that make chance certain from a lone category", {
  x <- lehner_ratings()
  ids <- c("chance_kappa", "fleiss_kappa", "conger_kappa", "gwet_ac", "krippendorff_alpha")
  k <- length(x$categories)
  found <- agreement(x, ids, scale_weights = matrix(1, k, k), interval = "none")
  lacking <- found[is.na(found$estimate), ]
  expect_true("fleiss_kappa" %in% lacking$measure)
  expect_match(lacking$reason, "different categories agree fully")
  lone <- ratings(matrix(1, 4, 2), categories = 1:2)
  expect_match(agreement(lone, "fleiss_kappa")$reason, "only one category is in use")
})

test_that("a rater who repeats ratings is in the way of his own pairs only", {
  long <- data.frame(
    case = c(1, 1, 1, 1, 2, 2, 2, 3, 3, 3),
    rater = c("a", "a", "b", "c", "a", "b", "c", "a", "b", "c"),
    rating = c("x", "y", "x", "x", "x", "y", "y", "x", "x", "y")
  )
  x <- ratings(long, case = case, rater = rater, rating = rating, repeats = "ratings")
  pairs <- agreement(x, "cohen_kappa", pairwise = TRUE, interval = "none")
  expect_equal(pairs$estimate, c(NA, NA, cohen_kappa(x[, c("b", "c")])))
  expect_match(pairs$reason[1:2], "more than once")
  both <- quiet(agreement(x, pairwise = TRUE, interval = "bootstrap", resampling = list(replicates = 20)))
  expect_true("cohen_kappa" %in% both$measure)
  expect_identical(is.na(both$estimate), grepl("more than once", both$reason))
  expect_error(agreement(x, "cohen_kappa"), class = "fallible_error_measure")
  expect_error(
    agreement(x[, c("a", "b")], "cohen_kappa", pairwise = TRUE), class = "fallible_error_measure"
  )
})

test_that("a category called others is taken against all others", {
  withr::defer(register_measure("own_table", kernel = NULL))
  register_measure("own_table", "Own", function(table) sum(diag(table)) / sum(table), "table")
  x <- ratings(cbind(c("others", "u", "u", "v", "others"), c("others", "u", "v", "v", "u")))
  table <- agreement(x, c("own_table", "percent_agreement"), by_category = TRUE)
  own <- table$measure == "own_table"
  expect_identical(table$category[own], c("others", "u", "v"))
  expect_equal(table$estimate[own], table$estimate[!own])
})

test_that("weights too small to be multiplied are only shares", {
  cases <- data.frame(a = c("1", "2", "2"), b = c("1", "1", "2"), c = c("1", "2", "3"))
  of <- function(weights) {
    x <- ratings(cbind(cases, w = weights), raters = a:c, weights = w)
    agreement(x, c(names(Filter(function(m) m$weights, built_in_measures))[-c(6, 7)]))$estimate
  }
  for (scale in c(1e-300, 2^-1060)) {
    expect_equal(of(c(0.75, 0.5, 1.5) * scale), of(c(0.75, 0.5, 1.5)))
  }
  expect_error(compare_agreement(ratings(cbind(cases, w = 1e-300), raters = a:c, weights = w)), NA)
})

test_that("results of no rows, or without a column, are printed as tables", {
  x <- agreement(lehner_ratings(), by_category = TRUE)
  expect_output(print(x[0, ]), "A tibble: 0 x 11")
  expect_output(print(x[names(x) != "n"]), "A tibble: 32 x 10")
})

test_that("an interval that does not contain its estimate gives a warning", {
  data <- data.frame(
    case = c(1, 1, 2, 2, 3, 4, 5, 6), rater = c("a", "b", "a", "b", "c", "a", "c", "b"),
    rating = c(5, 6, 3, 4, 8, 1, 7, 2)
  )
  x <- ratings(data, case = "case", rater = "rater", rating = "rating", categories = 1:8)
  set.seed(1)
  expect_warning(
    expect_warning(
      table <- agreement(
        x, c("gwet_ac", "fleiss_kappa"), "quadratic", interval = "bootstrap", resampling = list(replicates = 200)
      ),
      "interval of \"gwet_ac\" does not contain its estimate", class = "fallible_warning_bootstrap"
    ),
    "no estimate", class = "fallible_warning_bootstrap"
  )
  expect_identical(table$conf.low > table$estimate, c(TRUE, FALSE))
})

test_that("the note about pooling is shown where pooling changes an estimate", {
  set.seed(1)
  data <- as.data.frame(matrix(sample(3, 300, TRUE), 100))
  data[1:20, 3] <- NA
  x <- quiet(ratings(data, raters = 1:3))
  ways <- c("pairs", "cases", "fleiss-cuzick")
  for (id in names(built_in_measures)) {
    measure <- built_in_measures[[id]]
    if (measure$raters == 2 || measure$scale == "binary") next
    # The scales of the measures do not matter here.
    values <- vapply(ways, function(way) {
      tidy(quiet(agreement(x, id, pooling = way, interval = "analytic")))$estimate
    }, 0)
    printed <- utils::capture.output(print(quiet(agreement(x, id))))
    expect_identical(any(grepl("pooled over", printed)), length(unique(round(values, 12))) > 1L,
      info = id)
  }
  pairs <- utils::capture.output(print(agreement(x, "cohen_kappa", pairwise = TRUE)))
  expect_false(any(grepl("pooled over", pairs)))
})

test_that("errors point to the table of pairs", {
  x <- lehner_ratings()
  pairs <- agreement(x, pairwise = TRUE)
  expect_error(tidy(pairs, "pairwise"), "rows of .*pairwise.*TRUE")
  expect_error(agreement(x, by = "pair"), "pairwise = TRUE")
  expect_error(agreement_matrix(x), "pairwise = TRUE")
})
