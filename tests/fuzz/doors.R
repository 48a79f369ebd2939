# Doors: functions without arguments. A door draws its input, calls the package and returns a
# result, which faults_of() checks. It returns NULL if there is no result, or text on a violated condition.

a_model <- function() {
  pick(list(
    k_model(), k_model(), dawid_skene(), rater_model("rater"), rater_model("rater", "distance"),
    rater_model(difficulty = "strata"), dawid_skene(prior = "none")
  ))
}

an_interval <- function() pick(c("robust", "bootstrap", "profile", "none"))

an_estimate <- function(x, ...) {
  method <- pick(c("average", "binned", "unbinned", "joint", "shared"))
  interval <- an_interval()
  replicates <- if (interval == "bootstrap") 25L
  model <- if (method %in% c("average", "binned")) k_model() else a_model()
  estimate_accuracy(
    x, method, model, interval = interval, resampling = list(replicates = replicates),
    bins = list(clip = pick(c("bin", "overall", "none"))), ...
  )
}

some_gold <- function(input, x) {
  at <- sample.int(nrow(input$said), pick(1:5), replace = TRUE)
  data.frame(case = unique(at), truth = input$labels[input$truth[unique(at)]])
}

doors <- list(
  ratings = function() as_panel(random_input()),
  agreement = function() {
    agreement(
      as_panel(random_input()), interval = pick(c("analytic", "jackknife", "bootstrap", "none")),
      resampling = list(replicates = 20), scale_weights = pick(c("unweighted", "linear", "quadratic"))
    )
  },
  fit_raters = function() fit_raters(as_panel(random_input()), a_model()),
  estimate_accuracy = function() an_estimate(as_panel(random_input(systems = 1:3))),
  estimate_by = function() {
    input <- random_input(systems = 1:3)
    x <- as_panel(input)
    group <- sample(c("u", "v"), nrow(x), replace = TRUE)
    an_estimate(x, by = stats::setNames(group, rownames(x)))
  },
  estimate_gold = function() {
    input <- random_input(systems = 1:3)
    x <- as_panel(input, "wide")
    estimate_accuracy(
      x, known_truth = some_gold(input, x), gold_sample = pick(c("random", "given")),
      interval = pick(c("corrected", "combined", "anytime", "none"))
    )
  },
  estimate_metrics = function() {
    interval <- pick(c("robust", "bootstrap", "none"))
    estimate_metrics(
      as_panel(random_input(systems = 1:3)), interval = interval,
      resampling = list(replicates = if (interval == "bootstrap") 25)
    )
  },
  compare_systems = function() compare_systems(an_estimate(as_panel(random_input(systems = 2:3)))),
  confusion = function() confusion(an_estimate(as_panel(random_input(systems = 1:3)))),
  ground_truth = function() ground_truth(fit_raters(as_panel(random_input()), a_model())),
  accuracy_bounds = function() accuracy_bounds(as_panel(random_input()), interval = "none"),
  shared_errors = function() shared_errors(as_panel(random_input())),
  check_k_properties = function() {
    check_k_properties(as_panel(random_input()), resampling = list(replicates = 19))
  },
  data_check = function() data_check(as_panel(random_input())),
  alt_test = function() alt_test(as_panel(random_input(systems = 1:3))),
  plan_gold = function() {
    x <- as_panel(random_input(systems = 1:3))
    plan_gold(pick(list(x, an_estimate(x))), half_width = stats::runif(1, 0, 0.5))
  },
  simulate = function() {
    design <- rater_design(
      stats::runif(pick(2:5)), stats::runif(pick(1:3)), pick(2:6), n = pick(1:60),
      missing = pick(c(0, 0.3)), difficulty = list(value = pick(c(0, 0.1)), shared = pick(list("errors", NULL)), loading = pick(c(0, 0.5))),
      dispersion = pick(1:2)
    )
    estimate_accuracy(simulate_ratings(design), "unbinned", interval = "none")
  },
  crowdtruth = function() {
    workers <- pick(4:12)
    crowd <- simulate_crowd(units = pick(2:20), workers = workers, per_unit = pick(2:4))
    crowdtruth(crowd, version = pick(c("2.0", "2014")))
  },
  twin = function() {
    seed <- sample.int(1e6, 1L)
    panel <- reference$random_panel(seed)
    if (is.null(panel)) {
      return(NULL)
    }
    slow <- reference$reference_fit(panel$long, panel$N, panel$weights, panel$n_cases)
    fast <- fit_raters(reference$panel_ratings(panel))
    c(
      same(glance(fast)$agreement, slow$agreement, paste("agreement of panel", seed)),
      same(coef(fast)[[1L]], slow$rater_accuracy, paste("accuracy of panel", seed))
    )
  }
)

# Helpers of the unit tests that are slow twins.
reference <- new.env()
