# Raters of such accuracies, whose wrong answers are equally probable; they say how sure they are,
# by shares of levels among right and wrong answers, in all but one of ten cases.
draw_sure <- function(n, accuracy = c(0.6, 0.7, 0.75), k = 3, right = c(0.15, 0.3, 0.55),
                      wrong = c(0.5, 0.3, 0.2)) {
  truth <- sample.int(k, n, TRUE, k:1)
  levels <- c("low", "mid", "high")
  answer <- lapply(accuracy, function(p) {
    (truth - 1L + (stats::runif(n) > p) * sample.int(k - 1L, n, TRUE)) %% k + 1L
  })
  sure <- lapply(answer, function(said) {
    code <- ifelse(said == truth, sample.int(3, n, TRUE, right), sample.int(3, n, TRUE, wrong))
    factor(levels[replace(code, stats::runif(n) < 0.1, NA)], levels, ordered = TRUE)
  })
  raters <- paste0("r", seq_along(accuracy))
  data.frame(truth, stats::setNames(answer, raters), stats::setNames(sure, paste0("sure_", raters)))
}

sure_panel <- function(n = 150, seed = 1, ..., covariates = NULL) {
  data <- withr::with_seed(seed, draw_sure(n, ...))
  data$r2[1:5] <- data$sure_r2[1:5] <- NA
  data$z <- (seq_len(n) %% 2) * 1
  ratings(data, raters = r1:r3, confidence = sure_r1:sure_r3, categories = seq_len(max(data$r1)),
    covariates = {{ covariates }}, ordered = TRUE)
}

codes_of <- function(x) {
  table <- tidy(x)
  cell <- cbind(table$case, match(table$rater, x$raters))
  answer <- level <- matrix(NA_integer_, nrow(x), 3)
  answer[cell] <- as.integer(table$rating)
  if ("confidence" %in% names(table)) level[cell] <- as.integer(table$confidence)
  list(answer = answer, level = level)
}

# Cases x categories, by adding up case by case: accuracy of each rater, base rates, and the shares
# of levels among right and wrong answers.
slow_joint <- function(codes, accuracy, rates, right, wrong) {
  k <- length(rates)
  t(vapply(seq_len(nrow(codes$answer)), function(i) {
    vapply(seq_len(k), function(truth) {
      out <- rates[truth]
      for (j in which(!is.na(codes$answer[i, ]))) {
        hit <- codes$answer[i, j] == truth
        out <- out * if (hit) accuracy[j] else (1 - accuracy[j]) / (k - 1)
        level <- codes$level[i, j]
        if (!is.na(level)) out <- out * (if (hit) right else wrong)[level]
      }
      out
    }, 0)
  }, numeric(k)))
}

test_that("the fit is that of a slow twin", {
  skip_unless_extended()
  x <- sure_panel(90)
  fit <- fit_raters(x, rater_model("rater", confidence = TRUE))
  codes <- codes_of(x)
  parts <- function(p) {
    wrong <- exp(c(0, p[6:7]))
    right <- wrong * exp(c(0, cumsum(exp(p[8:9]))))
    rates <- exp(c(0, p[4:5]))
    list(codes, plogis(p[1:3]), rates / sum(rates), right / sum(right), wrong / sum(wrong))
  }
  value <- function(p) -sum(log(rowSums(do.call(slow_joint, parts(p)))))
  start <- c(1, 1, 1, 0, 0, 0, 0, -0.5, -0.5)
  top <- optim(start, value, method = "BFGS", control = list(reltol = 1e-12, maxit = 300))
  expect_equal(as.numeric(logLik(fit)), -top$value, tolerance = 1e-7)
  at <- parts(top$par)
  expect_equal(unname(coef(fit)), c(at[[2]], at[[4]], at[[5]], at[[3]]), tolerance = 2e-3)
  expect_identical(names(coef(fit))[4:9], paste0(
    "confidence_", rep(c("right", "wrong"), each = 3), "[", c("low", "mid", "high"), "]"
  ))
  joint <- do.call(slow_joint, at)
  found <- as.matrix(ground_truth(fit)[-1])
  expect_equal(found, joint / rowSums(joint), tolerance = 5e-3, ignore_attr = TRUE)
  expect_identical(attr(logLik(fit), "df"), 9L)
  # Standard errors are those of the curvature: shares of levels by the delta method.
  curved <- optimHess(top$par, value)
  slopes <- t(central_differences(function(p) c(parts(p)[[4]], parts(p)[[5]]), top$par))
  error <- sqrt(diag(t(slopes) %*% solve(curved, slopes)))
  expect_equal(tidy(fit)$std.error[4:9], error, tolerance = 0.02)
})

test_that("likelihood and estimates are those of the twin", {
  x <- sure_panel(150)
  codes <- codes_of(x)
  fit <- fit_raters(x, rater_model("rater", confidence = TRUE))
  found <- unname(coef(fit))
  at <- list(found[1:3], found[10:12], found[4:6], found[7:9])
  value <- function(parts) sum(log(rowSums(do.call(slow_joint, c(list(codes), parts)))))
  expect_equal(as.numeric(logLik(fit)), value(at), tolerance = 1e-10)
  logits <- function(p) log(p[-1] / p[[1]])
  parameters <- c(stats::qlogis(at[[1]]), logits(at[[2]]), logits(at[[3]]), logits(at[[4]]))
  of <- function(p) {
    rates <- exp(matrix(c(0, p[4:5], 0, p[6:7], 0, p[8:9]), 3))
    rates <- t(t(rates) / colSums(rates))
    value(list(stats::plogis(p[1:3]), rates[, 1], rates[, 2], rates[, 3]))
  }
  expect_lt(newton_step(of, parameters), 1e-6)
})

test_that("every interval goes with it", {
  data <- withr::with_seed(4, draw_sure(200, c(0.6, 0.7, 0.8, 0.75)))
  x <- ratings(data, raters = r1:r3, systems = r4, confidence = sure_r1:sure_r3, categories = 1:3)
  for (interval in c("profile", "robust", "bootstrap")) {
    of <- tidy(quiet(estimate_accuracy(x, "joint", rater_model("rater", confidence = TRUE),
      interval = interval, resampling = list(replicates = 20))))
    expect_true(of$conf.low < of$estimate && of$estimate < of$conf.high)
  }
})

test_that("a system joins as a rater who never says how sure it is", {
  data <- withr::with_seed(4, draw_sure(200, c(0.6, 0.7, 0.8, 0.75)))
  model <- rater_model("rater", confidence = TRUE)
  x <- ratings(data, raters = r1:r3, systems = r4, confidence = sure_r1:sure_r3, categories = 1:3)
  data$sure_r4[] <- NA
  all <- ratings(data, raters = r1:r4, confidence = sure_r1:sure_r4, categories = 1:3)
  estimate <- estimate_accuracy(x, "joint", model, interval = "none")
  expect_equal(
    tidy(estimate)$estimate, coef(fit_raters(all, model))[["rater_accuracy[r4]"]], tolerance = 1e-5
  )
  shared <- tidy(estimate_accuracy(x, "shared", model, resampling = list(replicates = 20)))
  expect_true(shared$conf.low < shared$estimate && shared$estimate < shared$conf.high)
})

test_that("other cases are judged with their confidence, or without any", {
  x <- sure_panel()
  fit <- fit_raters(x, rater_model("common", confidence = TRUE))
  told <- coef(fit)
  by_hand <- function(x) {
    joint <- slow_joint(codes_of(x), rep(told[["rater_accuracy"]], 3), rates_of(fit),
      told[paste0("confidence_right[", levels_seen, "]")],
      told[paste0("confidence_wrong[", levels_seen, "]")])
    joint / rowSums(joint)
  }
  levels_seen <- c("low", "mid", "high")
  expect_equal(as.matrix(ground_truth(fit)[-1]), by_hand(x), ignore_attr = TRUE)
  part <- x[7:30, ]
  expect_equal(as.matrix(predict(fit, part, "probability")[-1]), by_hand(x)[7:30, ],
    ignore_attr = TRUE)
  bare <- x
  bare$confidence <- NULL
  expect_equal(as.matrix(predict(fit, bare, "probability")[-1]), by_hand(bare), ignore_attr = TRUE)
  strange <- part
  strange$confidence$levels[[2]] <- "so so"
  expect_error(predict(fit, strange), "so so", class = "fallible_error_argument")
})

test_that("more confidence never counts for less", {
  x <- sure_panel(200, right = c(0.5, 0.3, 0.2), wrong = c(0.2, 0.3, 0.5))
  fit <- fit_raters(x, rater_model("common", confidence = TRUE))
  shares <- matrix(coef(fit)[grep("confidence", names(coef(fit)))], 3)
  expect_lt(max(abs(shares[, 1] - shares[, 2])), 1e-3)
  plain <- fit_raters(x, rater_model("common", prior = "none"), "likelihood")
  expect_equal(coef(fit)[["rater_accuracy"]], coef(plain)[["rater_accuracy"]], tolerance = 1e-3)
  expect_true(fit$converged)
})

test_that("panels drawn from a fit have confidence where there was some", {
  x <- sure_panel(400)
  fit <- fit_raters(x, rater_model("rater", confidence = TRUE))
  panel <- simulate(fit, seed = 1)[[1]]
  expect_identical(panel$confidence[c("levels", "case", "rater")],
    fit$x$confidence[c("levels", "case", "rater")])
  table <- tidy(panel)
  table$right <- table$rating == truth(panel)$category[table$case]
  for (right in c(TRUE, FALSE)) {
    seen <- table(table$confidence[table$right == right])
    share <- coef(fit)[paste0("confidence_", if (right) "right[" else "wrong[", names(seen), "]")]
    expect_gt(stats::chisq.test(seen, p = share / sum(share))$p.value, 0.001)
  }
  plain <- simulate(fit_raters(x, rater_model("rater")), seed = 1)[[1]]
  expect_null(plain$confidence)
})

test_that("it goes with ordinal errors, covariates and known truths", {
  x <- sure_panel(200, covariates = z)
  for (model in list(
    rater_model("common", "ordinal", confidence = TRUE),
    rater_model("rater", "distance", base_rates = ~z, confidence = TRUE)
  )) {
    fit <- fit_raters(x, model)
    expect_identical(fit$identified, "yes")
    expect_lt(coef(fit)[["confidence_wrong[high]"]], coef(fit)[["confidence_right[high]"]])
  }
  known <- fit_raters(x, rater_model(confidence = TRUE), known_truth = c("1" = 1, "2" = 3))
  expect_identical(unname(unlist(ground_truth(known)[2, -1])), c(0, 0, 1))
})

test_that("it is told of", {
  expect_snapshot({
    fit <- fit_raters(sure_panel(), rater_model(confidence = TRUE))
    fit
    rater_model("rater", confidence = TRUE)
  })
})

test_that("a plot has levels beside accuracies, not among them", {
  skip_if_not_installed("ggplot2")
  seen <- ggplot2::autoplot(fit_raters(sure_panel(90), rater_model(confidence = TRUE)))$data
  expect_identical(
    as.character(seen$label[seen$panel == "confidence"]),
    paste(c("low", "mid", "high"), "if", rep(c("right", "wrong"), each = 3))
  )
  expect_identical(as.character(seen$label[seen$panel == "accuracy"]), "a rater")
})

test_that("what it cannot do is refused", {
  fails <- function(code, match) {
    expect_error(code, match, class = "fallible_error_argument")
  }
  x <- sure_panel(60)
  model <- rater_model(confidence = TRUE)
  bare <- x
  bare$confidence <- NULL
  fails(fit_raters(bare, model), "has no confidence")
  same <- x
  same$confidence$code[] <- 2L
  fails(fit_raters(same, model), "All ratings have the level \"mid\"")
  groups <- x
  groups$rater_groups <- c("g", "g", "r3")
  fails(fit_raters(groups, model), "one vote")
  fails(fit_raters(x, model, "pairs"), "likelihood")
  fails(rater_model(confidence = NA), "TRUE")
  fails(rater_model(confidence = "yes"), "TRUE")
  fails(rater_model(difficulty = "strata", confidence = TRUE), "strata")
  fails(rater_model(prior = list(accuracy = c(1, 1)), confidence = TRUE), "prior")
  fails(check_k_properties(x, alternative = model), "cannot be compared with the")
  fails(update(fit_raters(x, model), new = data.frame(case = 1, rater = "d", rating = 1)),
    "confidence")
})

test_that("levels of cases without weight are not seen", {
  x <- ratings(
    data.frame(
      a = c("x", "y", "x", "y"), b = c("x", "y", "y", "y"), n = c(5, 4, 3, 0),
      ca = c(TRUE, TRUE, TRUE, FALSE), cb = TRUE
    ),
    raters = a:b, weights = n, confidence = ca:cb
  )
  expect_error(fit_raters(x, rater_model(confidence = TRUE)), "TRUE", class = "fallible_error")
})

test_that("difficulty that is no choice is refused", {
  for (difficulty in list(character(), list())) {
    expect_error(
      rater_model(confidence = TRUE, difficulty = difficulty), class = "fallible_error_argument"
    )
  }
  expect_error(
    rater_model("rater", "ordinal", difficulty = ~g), class = "fallible_error_argument"
  )
})
