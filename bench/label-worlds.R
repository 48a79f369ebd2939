# Labels, and fits with free errors, in simulated worlds.
#
#   Rscript bench/label-worlds.R [panels of a world] [panels of tests]
#
# Worlds: equal raters with five or two categories; raters with distance errors (PER 1); three
# diagnostic tests; two raters; a sparse crowd; twelve equal raters; and a world in which a quarter
# of the cases are hard and 8% deceive all raters equally. Right labels and log loss are by rule, as
# in bench/labels.R. "before" are results of another program in 60 panels, if the world is the same:
# of the average and of its flattened probabilities.
#
# Tests: mean absolute error of sensitivities and specificities by the pooled prior and by maximum
# likelihood, for panels with a fit; shares of panels without a fit, and of fits with a warning of
# weak identification. "before" likewise (60 panels for errors, 200 for shares). It has no panels in
# which a test always gave the same result: .1 of the panels of 50 cases with 10% ill.
#
# Asserted: independent raters are not fitted in .2 to .4 of the panels, and have a warning in .9 of
# the other panels; three good raters have a warning in at most .06; labels of the average are right
# in the same share as before, within .02 and two standard errors. Otherwise the exit status is 1.

library(fallible)
source(file.path("bench", "labels.R"))

seed <- 20150513L

# ---- Labels -------------------------------------------------------------------------------------

design_world <- function(...) {
  x <- simulate_ratings(rater_design(..., systems = NULL))
  list(x = x, truth = as.character(truth(x)$category))
}

# Raters in columns: right with probability `right`, a matrix of cases x raters; otherwise the wrong
# category `lure`, or any wrong category if `lure` is NA.
draw_answers <- function(truth, right, categories, lure = rep(NA, length(truth))) {
  wrong <- (truth + sample.int(categories - 1L, length(right), TRUE) - 1L) %% categories + 1L
  wrong <- ifelse(is.na(lure), wrong, lure)
  answers <- ifelse(stats::runif(length(right)) < right, truth, wrong)
  matrix(answers, nrow(right), dimnames = list(NULL, paste0("rater", seq_len(ncol(right)))))
}

world_of_answers <- function(answers, truth, categories) {
  is_rated <- rowSums(!is.na(answers)) > 0
  list(
    x = ratings(answers[is_rated, , drop = FALSE], categories = seq_len(categories)),
    truth = as.character(truth)[is_rated]
  )
}

# Each case is rated by `ratings_per_case` raters of a crowd.
sparse_crowd <- function(n, raters, ratings_per_case, categories) {
  truth <- sample.int(categories, n, TRUE)
  skill <- stats::plogis(stats::rnorm(raters, 1, 0.6))
  answers <- draw_answers(truth, matrix(skill, n, raters, byrow = TRUE), categories)
  unseen <- t(apply(answers, 1L, function(row) sample.int(raters) > ratings_per_case))
  answers[unseen] <- NA
  world_of_answers(answers, truth, categories)
}

# A quarter of the cases are hard. In 8% of the cases, each rater gives the same wrong category with
# probability .7.
dependent <- function(n, raters, categories) {
  truth <- sample.int(categories, n, TRUE)
  kind <- sample(c("easy", "hard", "lure"), n, TRUE, c(0.67, 0.25, 0.08))
  lure <- ifelse(kind == "lure", truth %% categories + 1L, NA)
  right <- matrix(c(easy = 0.9, hard = 0.6, lure = 0.3)[kind], n, raters)
  world_of_answers(draw_answers(truth, right, categories, lure), truth, categories)
}

tests_panel <- function(n, prevalence, sensitivity, specificity) {
  ill <- stats::runif(n) < prevalence
  right <- ifelse(ill %o% rep(TRUE, length(sensitivity)),
    rep(sensitivity, each = n), rep(specificity, each = n))
  world_of_answers(draw_answers(1L + ill, right, 2L), 1L + ill, 2L)
}

three <- list(sensitivity = c(0.3, 0.95, 0.25), specificity = c(0.96, 0.6, 0.97))
three_tests <- function(n, prevalence) {
  function() tests_panel(n, prevalence, three$sensitivity, three$specificity)
}

worlds <- list(
  `five .4, n 200` = function() design_world(rep(0.4, 3), categories = 5, n = 200),
  `five .6, n 200` = function() design_world(rep(0.6, 3), categories = 5, n = 200),
  `five .6, n 50` = function() design_world(rep(0.6, 3), categories = 5, n = 50),
  `violated, n 200` = function() {
    design_world(c(0.5, 0.6, 0.7), categories = 5, n = 200, dispersion = 2, error_range = 1)
  },
  `two .8, n 50` = function() design_world(rep(0.8, 3), categories = 2, n = 50),
  `three tests, n 200` = three_tests(200, 0.5),
  `two raters` = function() design_world(c(0.75, 0.8), categories = 4, n = 200),
  `sparse crowd` = function() sparse_crowd(300, 100, 5, 4),
  `twelve equal` = function() design_world(rep(0.55, 12), categories = 2, n = 200),
  `dependent, 2` = function() dependent(300, 5, 2),
  `dependent, 4` = function() dependent(300, 10, 4)
)
before_right <- c(0.519, 0.765, 0.753, NA, 0.888, 0.732, rep(NA, 5))
before_loss <- c(1.240, 0.747, 0.757, NA, 0.342, 0.524, rep(NA, 5))

score_world <- function(world, panels) {
  runs <- lapply(seq_len(panels), function(i) {
    set.seed(seed + i)
    drawn <- world()
    labels_of_rules(drawn$x, drawn$truth)
  })
  right <- vapply(runs, `[[`, runs[[1L]]$right, "right")
  loss <- vapply(runs, `[[`, runs[[1L]]$log_loss, "log_loss")
  names <- runs[[1L]]$rule
  mean_of <- function(x, rule) mean(x[names == rule, ])
  data.frame(
    majority = mean_of(right, "majority"), k = mean_of(right, "K-model"),
    ml = mean_of(right, "likelihood"),
    pooled = mean_of(right, "pooled"), average = mean_of(right, "average"),
    se = stats::sd(right[names == "average", ]) / sqrt(panels),
    loss_votes = mean_of(loss, "majority"), loss_ml = mean_of(loss, "likelihood"),
    loss_average = mean_of(loss, "average"), loss_flat = mean_of(loss, "flattened")
  )
}

# ---- Tests --------------------------------------------------------------------------------------

equal <- function(p, n) function() tests_panel(n, 0.5, p, p)
panels_of_tests <- list(
  `tests, n 50, .10` = three_tests(50, 0.1), `tests, n 50, .50` = three_tests(50, 0.5),
  `tests, n 50, .75` = three_tests(50, 0.75), `tests, n 50, .90` = three_tests(50, 0.9),
  `tests, n 200, .50` = three_tests(200, 0.5), `tests, n 200, .75` = three_tests(200, 0.75),
  `tests, n 200, .90` = three_tests(200, 0.9), `tests, n 1000, .75` = three_tests(1000, 0.75),
  `one inverted, n 50` = equal(c(0.85, 0.85, 0.15), 50),
  `three of .6, n 50` = equal(rep(0.6, 3), 50), `three of .6, n 200` = equal(rep(0.6, 3), 200),
  `three of .8, n 50` = equal(rep(0.8, 3), 50), `three of .8, n 200` = equal(rep(0.8, 3), 200),
  `independent, n 50` = equal(rep(0.5, 3), 50), `independent, n 200` = equal(rep(0.5, 3), 200)
)
before_pooled <- c(
  0.117, 0.090, 0.135, 0.184, 0.049, 0.074, 0.125, 0.039, NA, 0.079, 0.061, 0.063, 0.038, 0.136,
  0.113
)
before_ml <- c(
  0.143, 0.124, 0.147, 0.186, 0.069, 0.084, 0.129, 0.049, NA, 0.204, 0.143, 0.113, 0.051, 0.217,
  0.165
)
before_na <- c(0.09, 0.01, 0.03, 0.10, 0, 0, 0.03, 0, 0, 0.20, 0.12, 0, 0, 0.27, 0.30)

score_tests <- function(panel, panels) {
  sets <- environment(panel)
  truth <- if (is.null(sets$p)) three else list(sensitivity = sets$p, specificity = sets$p)
  runs <- vapply(seq_len(panels), function(i) {
    set.seed(seed + i)
    x <- panel()$x
    pooled <- fit_with_words(x, "pooled")
    c(
      pooled = error_of(pooled$fit, truth), ml = error_of(fit_with_words(x, "none")$fit, truth),
      na = pooled$fit$identified != "yes", warned = pooled$warned
    )
  }, double(4L))
  has_estimate <- runs["na", ] == 0
  data.frame(
    pooled = mean(runs["pooled", has_estimate]), ml = mean(runs["ml", ], na.rm = TRUE),
    se = stats::sd(runs["pooled", has_estimate]) / sqrt(sum(has_estimate)),
    na = mean(!has_estimate),
    warned = mean(runs["warned", has_estimate])
  )
}

fit_with_words <- function(x, prior) {
  warned <- FALSE
  fit <- withCallingHandlers(fit_raters(x, dawid_skene(prior)), fallible_warning = function(w) {
    if (inherits(w, "fallible_warning_weakly_identified")) warned <<- TRUE # nolint
    invokeRestart("muffleWarning")
  })
  list(fit = fit, warned = warned)
}

error_of <- function(fit, truth) {
  if (fit$identified != "yes") {
    return(NA_real_)
  }
  right <- vapply(confusion(fit), diag, double(2L))
  mean(abs(c(right[1L, ] - truth$specificity, right[2L, ] - truth$sensitivity)))
}

# ---- All ----------------------------------------------------------------------------------------

run_all <- function(panels = "60", test_panels = "200") {
  options(width = 150L, cli.progress_show_after = 3600)
  labels <- do.call(rbind, lapply(worlds, score_world, panels = as.integer(panels)))
  labels$before <- before_right
  labels$loss_before <- before_loss
  print(round(labels, 3L))
  tests <- do.call(rbind, lapply(panels_of_tests, score_tests, panels = as.integer(test_panels)))
  tests <- cbind(tests, before_pooled, before_ml, before_na)
  print(round(tests, 3L))
  is_independent <- startsWith(rownames(tests), "independent")
  is_accurate <- startsWith(rownames(tests), "three of .8")
  ok <- all(
    tests$na[is_independent] > 0.2, tests$na[is_independent] < 0.4,
    tests$warned[is_independent] >= 0.9,
    tests$warned[is_accurate] <= 0.06,
    na.omit(labels$before - labels$average < 0.02 + 2 * labels$se)
  )
  if (!ok) quit(status = 1L)
}

if (sys.nframe() == 0L) do.call(run_all, as.list(commandArgs(trailingOnly = TRUE)))
