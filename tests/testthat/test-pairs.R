# Pairs of features: every optional argument of ratings() with every argument of the verbs that
# most users call. Each pair gives a result that does not depend on the order of rows, or an error
# of a class of the package.

# Values of all optional arguments. An argument that is new and has no value here fails a test.
pairs_of_ratings <- list(
  categories = function(p) list(categories = c("kc", "ka", "kb")),
  ordered = function(p) list(ordered = TRUE),
  weights = function(p) list(weights = "weight"),
  repeats = function(p) list(repeats = "ratings"),
  rater_groups = function(p) list(rater_groups = c(rater1 = "one", rater2 = "one")),
  rater_kind = function(p) list(rater_kind = "model"),
  truth = function(p) list(truth = "truth"),
  covariates = function(p) list(covariates = c("site", "age")),
  scores = function(p) {
    scores <- c(ka = "p_a", kb = "p_b", kc = "p_c")
    list(scores = list(sys1 = scores, scale = "order"))
  },
  confidence = function(p) {
    list(confidence = paste0("sure_", p$raters))
  },
  abstain = function(p) list(abstain = NA)
)

pairs_gold <- function(p) p$data[p$data$gold, c("case", "truth")]
pairs_sites <- function(p) p$data[c("case", "site")]

pairs_of_estimates <- list(
  method = lapply(c("average", "binned", "unbinned", "joint", "shared"), function(method) {
    function(p) list(method = method)
  }),
  model = list(
    function(p) list(model = dawid_skene(), method = "joint"),
    function(p) list(model = rater_model("rater", "ordinal"), method = "joint"),
    function(p) list(model = rater_model("rater", "free", confidence = TRUE), method = "joint"),
    function(p) list(model = rater_model("rater", "free", base_rates = ~site), method = "joint")
  ),
  interval = lapply(c("none", "bootstrap", "profile"), function(interval) {
    function(p) list(interval = interval)
  }),
  conf_level = list(function(p) list(conf_level = 0.8)),
  bins = list(function(p) list(method = "binned", bins = list(clip = "none"))),
  common = lapply(c("none", "all", "typical"), function(common) function(p) list(common = common)),
  resampling = list(function(p) {
    list(interval = "bootstrap", resampling = list(replicates = 20, cluster = pairs_sites(p)))
  }),
  by = list(function(p) list(by = pairs_sites(p))),
  systems = list(function(p) list(systems = c("sys1", "sys3"))),
  known_raters = list(function(p) {
    list(known_raters = stats::setNames(list(0.8), p$raters[[1]]), method = "joint", interval = "none")
  }),
  known_truth = lapply(c("corrected", "combined", "anytime", "none"), function(interval) {
    function(p) {
      list(known_truth = gold_cases(pairs_gold(p), sample = "random"), interval = interval)
    }
  }),
  gold_sample = list(
    function(p) list(known_truth = pairs_gold(p), gold_sample = "random"),
    function(p) list(known_truth = pairs_gold(p), gold_sample = "given")
  )
)

pairs_of_metrics <- list(
  metrics = list(function(p) list(metrics = c("f_meas", "kap"))),
  average = list(function(p) list(metrics = "f_meas", average = "macro")),
  beta = list(function(p) list(metrics = "f_meas", beta = 2)),
  cost = list(function(p) list(metrics = "loss", cost = 1 - diag(3))),
  bins = list(function(p) list(metrics = "ece", bins = 5))
)

pairs_of_comparisons <- list(
  systems = list(function(p) list(systems = c("sys1", "sys2"))),
  conf_level = list(function(p) list(conf_level = 0.8)),
  simultaneous = list(function(p) list(simultaneous = TRUE)),
  reference = list(function(p) list(reference = "sys2")),
  best = list(function(p) list(best = TRUE)),
  metric = list(function(p) list(metric = "kap")),
  category = list(function(p) list(metric = "recall", category = "ka")),
  cost = list(function(p) list(metric = "loss", cost = 1 - diag(3)))
)

pairs_of_truths <- list(
  format = list(function(p) list(format = "wide")),
  rho = list(function(p) list(rho = 0.5)),
  votes = list(function(p) list(votes = 0.3)),
  known_truth = list(function(p) list(known_truth = gold_cases(pairs_gold(p), sample = "random"))),
  gold_sample = list(function(p) list(known_truth = pairs_gold(p), gold_sample = "given"))
)

pairs_of_verbs <- list(
  estimate_accuracy = pairs_of_estimates, ground_truth = pairs_of_truths,
  estimate_metrics = pairs_of_metrics, compare_systems = pairs_of_comparisons
)

pairs_panel <- function(n) {
  p <- walk_panel(n)
  p$data[c("p_a", "p_b", "p_c")] <- withr::with_seed(5, matrix(stats::runif(3 * n), n))
  p
}

pairs_ratings <- function(p, given) {
  fixed <- list(
    p$data, case = "case", raters = p$raters,
    systems = p$systems
  )
  do.call(ratings, c(fixed, given))
}

# Failures of the pairs of an element of `of_ratings` (functions of a panel) and a call of a verb.
# One pair of every `step` is tried, and each element starts at another call.
walk_features <- function(p, of_ratings, verbs = pairs_of_verbs, tell = NULL, step = 1L) {
  local_silent_refusals()
  q <- walk_changes$cases(p)
  failures <- character()
  fail <- function(...) {
    failures <<- c(failures, paste(..., sep = " : "))
    if (!is.null(tell)) tell(paste(..., sep = " : "))
  }
  for (feature in names(of_ratings)) {
    x <- tryCatch(pairs_ratings(p, of_ratings[[feature]](p)), fallible_error = function(e) NULL)
    if (is.null(x)) next
    y <- pairs_ratings(q, of_ratings[[feature]](q))
    pair <- match(feature, names(of_ratings))
    for (verb in names(verbs)) {
      for (argument in names(verbs[[verb]])) {
        for (i in seq_along(verbs[[verb]][[argument]])) {
          pair <- pair + 1L
          if (pair %% step != 0L) next
          make <- verbs[[verb]][[argument]][[i]]
          a <- do.call(walk_call, c(list(verb, x, p), make(p)))
          off <- a$wrong
          if (is.null(off) && is.null(a$refused)) {
            b <- do.call(walk_call, c(list(verb, y, q), make(q)))
            drawn <- grepl("combined", deparse1(make(p)$interval), fixed = TRUE)
            replicated <- a$drew || verb != "ground_truth" # standard errors, at least
            off <- b$wrong %||% walk_compare(
              a, b, limit = if (drawn) 0.03 else 1e-8,
              only = if (replicated) c("estimate", "probability")
            )
          }
          if (!is.null(off)) fail(feature, verb, paste0(argument, i), off)
        }
      }
    }
  }
  failures
}

test_that("every optional argument has a value here", {
  own <- function(verb, but) setdiff(names(formals(walk_function(verb))), c("...", but))
  columns <- c("data", "raters", "systems", "case", "rater", "rating", "counts") # layouts
  expect_setequal(names(pairs_of_ratings), own("ratings", columns))
  expect_setequal(names(pairs_of_estimates), own("estimate_accuracy.ratings", "x"))
  expect_setequal(names(pairs_of_truths), own("ground_truth", "fit"))
  expect_setequal(names(pairs_of_comparisons), own("compare_systems", "x"))
})

test_that("pairs of features do not depend on the order of rows, or are refused by class", {
  p <- pairs_panel(if (nightly_tests()) 90 else 45)
  if (!extended_tests()) { # the first of each argument of two verbs
    verbs <- lapply(pairs_of_verbs, function(verb) lapply(verb, `[`, 1L))
    some <- pairs_of_ratings[c("covariates", "confidence")]
    verbs$estimate_accuracy$interval <- pairs_of_estimates$interval[1]
    verbs$estimate_accuracy$model <- pairs_of_estimates$model[3]
  } else {
    verbs <- pairs_of_verbs
    some <- pairs_of_ratings
  }
  # The long form tries every 15th pair, the nightly form all.
  step <- if (extended_tests() && !nightly_tests()) 15L else 1L
  expect_identical(walk_features(p, some, verbs, step = step), character())
})

test_that("two features of the ratings do not depend on the order of rows either", {
  skip_unless_nightly("all pairs of features with a verb take a minute")
  both <- utils::combn(names(pairs_of_ratings), 2L, simplify = FALSE)
  features <- lapply(both, function(two) {
    function(p) c(pairs_of_ratings[[two[[1L]]]](p), pairs_of_ratings[[two[[2L]]]](p))
  })
  names(features) <- vapply(both, paste, "", collapse = " and ")
  verbs <- list(
    estimate_accuracy = pairs_of_estimates["gold_sample"],
    compare_systems = pairs_of_comparisons["simultaneous"]
  )
  expect_identical(walk_features(pairs_panel(60), features, verbs), character())
})
