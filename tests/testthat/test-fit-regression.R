# Cases with a number and a factor; the errors of the first rater may differ between sites.
draw_regression <- function(n, shift = 0, right = c(0.8, 0.75, 0.8), slope = 1) {
  data <- data.frame(z = rnorm(n), site = rep_len(c("a", "b"), n), psu = rep_len(1:40, n))
  data$truth <- rbinom(n, 1, plogis(slope * data$z - 0.3 + 0.6 * (data$site == "b")))
  for (j in 1:3) {
    p <- right[[j]] - (j == 1 & data$truth == 1 & data$site == "b") * shift
    data[[paste0("r", j)]] <- ifelse(runif(n) < p, data$truth, 1 - data$truth)
  }
  data
}

of_coders <- function(data, raters = c("r1", "r2", "r3"), ...) {
  ratings(data, raters = tidyselect::all_of(raters), covariates = c(z, site, psu),
    categories = sort(unique(data$truth)), ...)
}

free_errors <- function(formula) rater_model("rater", "free", base_rates = formula)

# Robust covariance in plain R, by differences of the log likelihoods of cases: parameters are
# coefficients (columns x categories but the first), then logits of the answers of each rater to
# each category against the first answer.
plain_regression <- function(fit, data, design, raters, truth = NULL,
                             cluster = seq_len(nrow(data))) {
  labels <- fit$x$categories
  n <- length(labels)
  size <- ncol(design) * (n - 1)
  likelihood <- function(p) {
    logits <- cbind(0, design %*% matrix(p[seq_len(size)], ncol(design)))
    joint <- exp(logits) / rowSums(exp(logits))
    errors <- array(p[-seq_len(size)], c(n - 1, n, length(raters)))
    for (j in seq_along(raters)) {
      for (k in seq_len(n)) {
        row <- exp(c(0, errors[, k, j])) / sum(exp(c(0, errors[, k, j])))
        joint[, k] <- joint[, k] * row[match(data[[raters[j]]], labels)]
      }
    }
    given <- !is.na(truth)
    out <- rowSums(joint)
    if (!is.null(truth)) out[given] <- joint[cbind(which(given), match(truth[given], labels))]
    log(out)
  }
  slopes <- function(f, p, h = 1e-4) {
    vapply(seq_along(p), function(i) {
      (f(p + h * (seq_along(p) == i)) - f(p - h * (seq_along(p) == i))) / (2 * h)
    }, f(p))
  }
  at <- c(coef(fit)[rownames(vcov(fit, "regression"))], unlist(lapply(confusion(fit), function(m) {
    t(log(m[, -1] / m[, 1]))
  })))
  scores <- slopes(likelihood, at)
  expect_lt(max(abs(colSums(scores))), 1e-3)
  hessian <- slopes(function(p) colSums(slopes(likelihood, p)), at)
  influence <- rowsum(scores %*% solve(-hessian), cluster)
  groups <- nrow(influence)
  (crossprod(influence) * groups / (groups - 1))[seq_len(size), seq_len(size)]
}

test_that("robust standard errors are those of a plain twin", {
  data <- withr::with_seed(1, draw_regression(400))
  fit <- quiet(fit_raters(of_coders(data), free_errors(~ z + site)))
  design <- cbind(1, data$z, data$site == "b")
  raters <- c("r1", "r2", "r3")
  expect_equal(unname(vcov(fit, "regression")), plain_regression(fit, data, design, raters),
    tolerance = 1e-5)
  expect_equal(unname(vcov(fit, "regression", cluster = "psu")),
    plain_regression(fit, data, design, raters, cluster = data$psu), tolerance = 1e-5)
  # One coder, with gold cases that depend on the answer.
  gold <- withr::with_seed(2, runif(400) < ifelse(data$r1 == 1, 0.5, 0.2))
  fit <- quiet(fit_raters(of_coders(data, "r1"), free_errors(~z),
    known_truth = setNames(data$truth[gold], which(gold))))
  expect_equal(unname(vcov(fit, "regression")), plain_regression(
    fit, data, cbind(1, data$z), "r1", truth = ifelse(gold, data$truth, NA)
  ), tolerance = 1e-5)
  expect_true(all(is.finite(tidy(fit, "differential")$p.value)))
  # Three categories.
  data <- withr::with_seed(3, {
    data <- draw_regression(600)
    data$truth <- data$truth * sample(1:2, 600, TRUE)
    for (j in raters) {
      data[[j]] <- ifelse(runif(600) < 0.75, data$truth, sample(0:2, 600, TRUE))
    }
    data
  })
  fit <- quiet(fit_raters(of_coders(data), free_errors(~z)))
  expect_equal(unname(vcov(fit, "regression")),
    plain_regression(fit, data, cbind(1, data$z), raters), tolerance = 1e-5)
})

test_that("tables, intervals and covariances agree", {
  data <- withr::with_seed(4, draw_regression(400))
  fit <- quiet(fit_raters(of_coders(data), free_errors(~ z + site)))
  table <- tidy(fit, "regression")
  expect_named(table, c(
    "term", "category", "estimate", "std.error", "conf.low", "conf.high", "statistic", "p.value"
  ))
  expect_identical(table$term, c("(Intercept)", "z", "siteb"))
  terms <- rownames(vcov(fit, "regression"))
  expect_equal(table$estimate, unname(coef(fit)[terms]))
  expect_equal(table$std.error, unname(sqrt(diag(vcov(fit, "regression")))))
  expect_equal(unname(confint(fit, what = "regression", level = 0.9)),
    table$estimate + table$std.error %o% (c(-1, 1) * qnorm(0.95)))
  expect_equal(confint(fit, terms[2], what = "regression", cluster = "psu")[1, ],
    unlist(tidy(fit, "regression", cluster = "psu")[2, c("conf.low", "conf.high")]),
    ignore_attr = TRUE)
  ratio <- tidy(fit, "regression", exponentiate = TRUE)
  expect_equal(log(ratio$conf.high), table$conf.high)
  expect_identical(ratio$std.error, table$std.error)
  new <- data.frame(z = 1:2, site = "b")
  expect_equal(predict(fit, new)[["1"]], plogis(drop(cbind(1, 1:2, 1) %*% table$estimate)))
  # Curvature and sandwich estimate the same.
  expect_lt(max(abs(log(table$std.error / sqrt(diag(vcov(fit))[terms])))), log(1.2))
  # Differences of the mean probabilities, by hand.
  rate <- function(b, z, site) mean(plogis(b[[1]] + b[[2]] * z + b[[3]] * site))
  by_hand <- list(
    function(b) rate(b, data$z + 1, data$site == "b") - rate(b, data$z, data$site == "b"),
    function(b) rate(b, data$z, 1) - rate(b, data$z, 0)
  )
  margins <- tidy(fit, "margins", cluster = "psu")
  expect_identical(margins$contrast, rep(c("+1", "b - a"), each = 2))
  margins <- margins[margins$category == "1", ]
  for (i in 1:2) {
    expect_equal(margins$estimate[i], by_hand[[i]](table$estimate))
    slope <- vapply(1:3, function(j) {
      h <- 1e-5 * (1:3 == j)
      (by_hand[[i]](table$estimate + h) - by_hand[[i]](table$estimate - h)) / 2e-5
    }, 0)
    variance <- drop(slope %*% vcov(fit, "regression", cluster = "psu") %*% slope)
    expect_equal(margins$std.error[i], sqrt(variance), tolerance = 1e-6)
  }
})

test_that("nothing depends on the order of cases or raters, or on how cases are counted", {
  data <- withr::with_seed(5, draw_regression(200))
  data$z <- round(data$z)
  expected <- quiet(fit_raters(of_coders(data), free_errors(~ z + site)))
  moved <- quiet(fit_raters(
    of_coders(data[withr::with_seed(6, sample(200)), ], c("r3", "r1", "r2")),
    free_errors(~ z + site)
  ))
  expect_equal(tidy(moved, "regression"), tidy(expected, "regression"), tolerance = 1e-6)
  expect_equal(tidy(moved, "differential")$p.value[c(2, 3, 1)],
    tidy(expected, "differential")$p.value[1:3], tolerance = 1e-5)
  table <- aggregate(list(n = rep(1, 200)), data[c("z", "site", "truth", "r1", "r2", "r3")], sum)
  counted <- quiet(fit_raters(
    ratings(table, raters = r1:r3, covariates = c(z, site), weights = n), free_errors(~ z + site)
  ))
  expect_equal(tidy(counted, "regression"), tidy(expected, "regression"), tolerance = 1e-6)
  expect_equal(tidy(counted, "differential"), tidy(expected, "differential"), tolerance = 1e-5)
  single <- tidy(expected, "regression", cluster = setNames(1:200, 1:200))
  expect_equal(single$std.error, tidy(expected, "regression")$std.error)
})

test_that("parameters on a boundary and fits that are not identified do no harm", {
  data <- withr::with_seed(7, draw_regression(300, right = c(1, 0.8, 0.7)))
  fit <- quiet(fit_raters(of_coders(data), free_errors(~z)))
  expect_false(anyNA(tidy(fit, "regression")))
  # With a rater who makes no errors, this is logistic regression.
  model <- glm(truth ~ z, binomial, data, epsilon = 1e-14)
  x <- model.matrix(model)
  influence <- (x * (data$truth - fitted(model))) %*% vcov(model)
  perfect <- quiet(fit_raters(
    of_coders(data, "r1"), free_errors(~z), known_raters = list(r1 = 1)
  ))
  expect_equal(tidy(perfect, "regression")$std.error,
    unname(sqrt(diag(crossprod(influence)) * 300 / 299)), tolerance = 1e-5)
  lost <- quiet(fit_raters(of_coders(data, c("r2", "r3")), free_errors(~site)))
  lost$identified <- "parameters"
  expect_true(all(is.na(tidy(lost, "regression")$std.error)))
  one <- tidy(fit, "regression", cluster = setNames(rep(1, 300), 1:300))
  expect_true(all(is.na(one[c("std.error", "conf.low", "p.value")])))
})

test_that("errors that depend on a covariate are found", {
  skip_unless_nightly()
  panels <- if (nightly_tests()) 300 else 60
  share_found <- function(shift) {
    mean(replicate(panels, {
      fit <- quiet(fit_raters(
        of_coders(draw_regression(500, shift, c(0.85, 0.8, 0.85), 0)), free_errors(~site)
      ))
      any(tidy(fit, "differential")$p.adjusted < 0.05)
    }))
  }
  withr::local_seed(8)
  expect_gte(share_found(0.2), 0.5)
  if (nightly_tests()) expect_lte(share_found(0), 0.08)
  data <- withr::with_seed(13, draw_regression(2000, 0.4))
  expect_warning(fit <- fit_raters(of_coders(data), free_errors(~site)), "r1",
    class = "fallible_warning_differential")
  # A name for each group lets the errors of a coder differ, as the warning advises.
  long <- tidy(of_coders(data))
  long$site <- data$site[match(long$case, seq_len(nrow(data)))]
  split <- ifelse(long$rater == "r1", paste(long$rater, long$site), as.character(long$rater))
  apart <- ratings(
    transform(long, rater = split), case = case, rater = rater, rating = rating, covariates = site
  )
  expect_no_warning(mended <- fit_raters(apart, free_errors(~site)))
  slope <- function(fit) tidy(fit, "regression")$estimate[[2L]]
  expect_lt(abs(slope(mended) - 0.6), abs(slope(fit) - 0.6))
  expect_warning(update(fit, known_truth = setNames(data$truth[1:50], 1:50)),
    class = "fallible_warning_differential")
  expect_lt(tidy(fit, "differential")$p.value[1], min(tidy(fit, "differential")$p.value[-1]))
  expect_snapshot(print(quiet(fit_raters(of_coders(data), free_errors(~site)))))
})

test_that("a rater is tested between the groups in which it has ratings", {
  data <- withr::with_seed(14, draw_regression(400))
  data$site <- rep_len(c("a", "b", "c", "d"), 400)
  site_of_rater <- function(sites) {
    data$r1[!data$site %in% sites] <- NA
    found <- tidy(quiet(fit_raters(of_coders(data), free_errors(~site))), "differential")
    found[found$rater == "r1", ]
  }
  expect_identical(site_of_rater(c("b", "d"))$df, 2)
  one <- site_of_rater("d")
  expect_identical(c(one$statistic, one$p.adjusted), c(NA_real_, NA_real_))
  expect_match(one$reason, "two groups")
})

test_that("what has no regression is refused, with what to do", {
  data <- withr::with_seed(9, draw_regression(60))
  x <- of_coders(data)
  expect_error(fit_raters(of_coders(data, "r1"), free_errors(~z)), "known_truth",
    class = "fallible_error_raters")
  expect_error(vcov(quiet(fit_raters(x)), "regression"), class = "fallible_error_argument")
  fit <- quiet(fit_raters(x, free_errors(~z)))
  expect_error(vcov(fit, "margin"), class = "fallible_error_argument")
  expect_error(tidy(fit, "regression", cluster = "county"), class = "fallible_error_argument")
  expect_error(tidy(fit, "regression", exponentiate = 2), class = "fallible_error_argument")
  two <- quiet(fit_raters(x[, 1:2], free_errors(~z)))
  expect_match(tidy(two, "differential")$reason, "three raters")
})

test_that("survey designs give the standard errors of svyglm() where coders make no errors", {
  skip_if_not_installed("survey")
  data <- withr::with_seed(10, {
    data <- draw_regression(800)
    data$psu <- rep(1:80, each = 10)
    data$stratum <- rep(1:4, each = 200)
    data$z <- data$z + rnorm(80)[data$psu]
    data$truth <- rbinom(800, 1, plogis(0.7 * data$z + rnorm(80)[data$psu]))
    data$weight <- exp(rnorm(800, 0, 0.5))
    data[c("r1", "r2", "r3")] <- data$truth
    data
  })
  design_of <- function(data) {
    survey::svydesign(~psu, strata = ~stratum, weights = ~weight, data = data)
  }
  design <- design_of(data)
  fit <- quiet(fit_raters(of_coders(data), free_errors(~ z + site), design = design))
  model <- survey::svyglm(truth ~ z + site, design, family = quasibinomial)
  table <- tidy(fit, "regression")
  expect_equal(table$estimate, unname(coef(model)), tolerance = 1e-4)
  expect_equal(table$std.error, unname(sqrt(diag(vcov(model)))), tolerance = 1e-4)
  expect_equal(unname(confint(fit, what = "regression")),
    unname(confint(model, ddf = survey::degf(design))), tolerance = 1e-4)
  expect_equal(tidy(update(fit, method = "likelihood"), "regression"), table, tolerance = 1e-4)
  # With errors, and cases in another order than the design.
  data[c("r1", "r2", "r3")] <- withr::with_seed(11, lapply(1:3, function(j) {
    ifelse(runif(800) < 0.8, data$truth, 1 - data$truth)
  }))
  data$case <- paste0("c", seq_len(800))
  expected <- quiet(
    fit_raters(of_coders(data, case = case), free_errors(~z), design = design_of(data))
  )
  moved <- withr::with_seed(12, data[sample(800), ])
  for (design in list(design_of(data), design_of(moved))) {
    found <- quiet(fit_raters(of_coders(moved, case = case), free_errors(~z), design = design))
    expect_equal(tidy(found, "regression"), tidy(expected, "regression"), tolerance = 1e-6)
  }
  expect_gt(tidy(expected, "regression")$std.error[2], table$std.error[2])
  refused <- function(...) {
    expect_identical(expect_error(fit_raters(...), class = "fallible_error_argument")$arg, "design")
  }
  x <- of_coders(data, case = case)
  refused(x, free_errors(~z), design = data$weight)
  refused(x, dawid_skene(), design = design)
  refused(x[1:100, ], free_errors(~z), design = design_of(data[names(data) != "case"]))
  refused(of_coders(data, weights = weight), free_errors(~z), design = design)
  expect_error(tidy(fit, "regression", cluster = "psu"), class = "fallible_error_argument")
})

test_that("the halves of a number count weights, and exist where the median is the maximum", {
  data <- withr::with_seed(4, draw_regression(300, right = c(0.85, 0.85, 0.85)))
  data$z <- round(data$z + (data$psu > 20))
  data$w <- 1 + (data$psu > 30)
  fit_of <- function(data, ...) {
    x <- ratings(data, raters = c(r1, r2, r3), covariates = z, rater_kind = "expert", ...)
    tidy(quiet(fit_raters(x, free_errors(~z))), "differential")
  }
  weighted <- fit_of(data, weights = "w")
  expanded <- fit_of(data[rep(seq_len(300), data$w), ])
  expect_equal(weighted$statistic, expanded$statistic, tolerance = 1e-6)
  data$z <- pmin(data$z, 0)
  expect_gt(mean(data$z == 0), 0.5)
  expect_false(anyNA(fit_of(data)$p.value))
})

test_that("a group in which a factor has one level is NA, and stops no other group", {
  withr::local_seed(1)
  truth <- sample(c("x", "y", "z"), 600, TRUE)
  answers_with <- function(p) ifelse(stats::runif(600) < p, truth, sample(unique(truth), 600, TRUE))
  data <- data.frame(
    r1 = answers_with(0.7), r2 = answers_with(0.7), r3 = answers_with(0.7), s = answers_with(0.8),
    ward = factor(rep_len(c("A", "B", "C"), 600)), site = rep_len(c("one", "one", "two"), 600)
  )
  x <- ratings(data, raters = r1:r3, systems = s, covariates = ward:site, rater_kind = "expert")
  estimate <- quiet(estimate_accuracy(x, "joint", rater_model("rater", base_rates = ~ward),
    interval = "none", by = "site"))
  alone <- x[which(data$site == "one"), ]
  alone <- quiet(
    estimate_accuracy(alone, "joint", rater_model("rater", base_rates = ~ward), interval = "none")
  )
  expect_equal(tidy(estimate)$estimate, c(tidy(alone)$estimate, NA))
})
