#' @srrstats {G5.9, G5.9b} another seed, results within their errors
#' @srrstatsNA {G5.9a} categories have no noise at the scale of eps
# Every verb that draws takes one seed from the user's stream, whatever it draws, and draws clusters
# whole. A verb that is new in NAMESPACE must be entered here.

# Each of 60 cases six times: with the copies of a case as a cluster, errors are sqrt(6) as large.
copies <- function() {
  part <- simulate_ratings(rater_design(c(0.7, 0.75, 0.8), c(a = 0.8), 3, 60))
  part[rep(1:60, each = 6), ]
}

first_says <- function(x) {
  said <- as.data.frame(x)
  answers <- as.data.frame(x, what = "systems")$prediction
  data.frame(system = x$systems, estimate = mean(said$rating[said$rater == x$raters[[1]]] == answers))
}

# Functions of ratings and clusters that give a table with a standard error or limits.
drawing <- list(
  `a compiled method` = function(x, cluster) {
    tidy(estimate_accuracy(x, "unbinned", interval = "bootstrap", resampling = list(replicates = 60, cluster = cluster)))
  },
  `a latent class model` = function(x, cluster) {
    tidy(estimate_accuracy(x, "joint", interval = "bootstrap", resampling = list(replicates = 60, cluster = cluster)))
  },
  `a function of the user's` = function(x, cluster) {
    tidy(estimate_accuracy(x, method = first_says, resampling = list(replicates = 60, cluster = cluster)))
  },
  `a posterior of the user's` = function(x, cluster) {
    fit <- fit_raters(x)
    own <- as_rater_fit(x, ground_truth(fit), rates_of(fit))
    tidy(estimate_accuracy(own, "shared", interval = "bootstrap", resampling = list(replicates = 60, cluster = cluster)))
  },
  metrics = function(x, cluster) {
    tidy(estimate_metrics(x, "bal_accuracy", method = "joint", interval = "bootstrap",
      resampling = list(replicates = 60, cluster = cluster)))
  },
  bounds = function(x, cluster) {
    estimate <- estimate_accuracy(x, "unbinned", interval = "none", resampling = list(cluster = cluster))
    out <- tidy(accuracy_bounds(estimate, resampling = list(replicates = 60)))
    out$std.error <- out$conf.high - out$conf.low - (out$highest - out$lowest)
    out
  }
)

# Both are made before a seed is set, so their draws do not count.
two_systems <- function(...) {
  withr::with_seed(1, quiet(estimate_accuracy(examples_of_results()$ratings, ...)))
}
drawn_fit <- function() examples_of_results()$draws_fit

# Other verbs that draw, without clusters; a colon separates a verb and its form.
without_clusters <- list(
  agreement = function(x) {
    agreement(x, "fleiss_kappa", interval = "bootstrap", resampling = list(replicates = 60))
  },
  check_k_properties = function(x) {
    check_k_properties(x, "accuracy", resampling = list(replicates = 19))
  },
  `compare_systems: robust` = function(x) compare_systems(two_systems()),
  `compare_systems: gold` = function(x) {
    compare_systems(two_systems(known_truth = truth(two_systems()$fit$x)[1:40, ], gold_sample = "random"))
  },
  `compare_systems: draws` = function(x) compare_systems(withr::with_seed(1, estimate_accuracy(drawn_fit())), c("b", "a")),
  `estimate_accuracy: draws` = function(x) estimate_accuracy(drawn_fit()),
  `estimate_accuracy: clusters` = function(x) {
    estimate_accuracy(x, resampling = list(replicates = 60, cluster = data.frame(case = seq_len(nrow(x)), cluster = rep(1:60, 6))))
  },
  `compare_systems: ratings in clusters` = function(x) {
    compare_systems(two_systems()$fit$x, resampling = list(replicates = 60, cluster = seq_along(two_systems()$fit$x$cases)))
  },
  `estimate_accuracy: groups` = function(x) {
    x <- two_systems()$fit$x
    estimate_accuracy(x, by = stats::setNames(rep(c("u", "v", "w"), length.out = nrow(x)), x$cases), interval = "none")
  },
  `estimate_accuracy: variables` = function(x) estimate_accuracy(list(a = x, b = x), "joint", interval = "bootstrap"),
  simulate_crowd = function(x) simulate_crowd(units = 5, workers = 4),
  check_fit = function(x) check_fit(examples_of_results()$draws_fit, NULL),
  fit_raters = function(x) fit_raters(x, method = "bayes", sampling = list(draws = 100, thin = 1)),
  flag_workers = function(x) {
    crowd <- examples_of_results()$ratings_labels
    flag_workers(crowd, known = kinds_by_worker(crowd) != "faithful")
  },
  plan_cases = function(x) plan_cases(chance_kappa = 0.3, cases = 20, runs = 20),
  plan_gold = function(x) plan_gold(x),
  simulate_ratings = function(x) simulate_ratings(rater_design(c(0.7, 0.8), n = 10)),
  simulation_study = function(x) {
    simulation_study(rater_design(rep(0.7, 3), 0.8, n = 20), "unbinned", runs = 2)
  }
)

# The verbs of NAMESPACE that are tested above, and those that draw nothing.
drawn_above <- c("estimate_accuracy", "estimate_metrics", "accuracy_bounds")
undrawn <- c(
  "accuracy_estimator", "agreement_matrix", "alt_test", "as_rater_fit", "as_ratings", "augment",
  "autoplot", "bangdiwala_b", "base_rates", "bennett_s", "calibration",
  "chance_kappa", "cohen_kappa", "compare_agreement", "compare_models", "confusion",
  "confusion_matrix", "conger_kappa", "crowdtruth", "data_check", "dawid_skene", "disputed_cases", "draws",
  "exact_limit", "filter_crowd", "fit_scores", "fleiss_kappa", "glance", "gold_cases",
  "gate", "ground_truth", "gwet_ac", "information_agreement", "k_model", "krippendorff_alpha",
  "lehner_design", "light_kappa", "may_say", "measures", "merge_annotations", "percent_agreement",
  "rater_design", "rater_family", "rater_model", "rater_prior", "ratings", "read_ratings",
  "register_measure", "replay", "scott_pi", "shared_errors", "single_label", "test_accuracy",
  "tidy", "true_accuracy", "truth", "with_truth", "yule_y",
  # They have a seed argument, or open a page.
  "accuracy_report", "explore"
)

test_that("every verb is tested, or draws nothing", {
  exported <- setdiff(getNamespaceExports("fallible"), "register_metric")
  known <- c(unique(c(drawn_above, sub(":.*", "", names(without_clusters)))), undrawn)
  expect_identical(setdiff(exported, known), character())
  expect_identical(setdiff(known, exported), character())
  expect_identical(repeated_values(known), character())
})

next_number <- function(code) {
  set.seed(2)
  force(code)
  stats::runif(1)
}

test_that("whatever is drawn, the user's stream moves by one seed", {
  set.seed(1)
  x <- copies()
  examples_of_results()
  all <- c(lapply(drawing, function(draw) function(x) draw(x, NULL)), without_clusters)
  moved <- vapply(all, function(draw) next_number(quiet(draw(x))), 0)
  expect_identical(names(all)[moved != next_number(draw_seed())], character())
})

test_that("verbs that draw nothing leave the user's stream alone", {
  set.seed(1)
  x <- copies()
  examples <- examples_of_results()
  still <- list(
    alt_test = quote(alt_test(x)), shared_errors = quote(shared_errors(x)),
    crowdtruth = quote(crowdtruth(examples$ratings_labels)),
    compare_agreement = quote(compare_agreement(x)), ground_truth = quote(ground_truth(x)),
    compare_models = quote(compare_models(examples$draws_fit, examples$draws_fit)),
    disputed_cases = quote(disputed_cases(x)), data_check = quote(data_check(x))
  )
  moved <- vapply(still, function(code) next_number(quiet(eval(code))), 0)
  expect_identical(names(still)[moved != next_number(NULL)], character())
})

test_that("clusters are drawn whole", {
  set.seed(1)
  x <- copies()
  wider <- vapply(drawing, function(draw) {
    width <- function(cluster) {
      set.seed(3)
      quiet(draw(x, cluster))$std.error[[1]]
    }
    width(data.frame(case = 1:60, cluster = 1:60)) / width(NULL)
  }, 0)
  # A standard deviation of 60 draws has a standard error of 9%.
  expect_identical(names(wider)[wider < 1.4], character())
  expect_lt(max(wider), 3.5)
})
