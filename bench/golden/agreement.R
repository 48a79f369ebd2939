# Results about agreement and crowds.

agreement_results <- function() {
  run <- function(name, ...) agreement_of(input(name), ..., resampling = list(replicates = 20L))
  ids <- all_measures()
  c(
    combine("agreement", c("binary", "ordered"), ids, run = function(name, id) run(name, id)),
    combine("agreement", c("wide", "sparse", "counts", "missing", "repeats", "chance"),
      c("analytic", "jackknife", "bootstrap", "none"),
      run = function(name, interval) run(name, interval = interval)
    ),
    combine("agreement | pairwise", ids, run = function(id) run("wide", id, pairwise = TRUE)),
    combine("agreement | by category", ids, run = function(id) {
      agreement_of(input("wide")[, c("r1", "r3")], id, by_category = TRUE)
    }),
    combine("agreement | weights", c(
      "linear", "quadratic", "ordinal", "radical", "ratio", "circular", "bipolar"
    ), run = function(weights) run("ordered", scale_weights = weights)),
    combine("agreement | pooling", c("sparse", "missing", "counts"), c("analytic", "jackknife"),
      run = function(name, interval) run(name, interval = interval, pooling = "cases")
    ),
    combine("agreement | case weights", c("whole", "broken", "share"), run = function(kind) {
      agreement_of(weighted(kind))
    }),
    label("agreement",
      systems = function() run("wide", systems = TRUE),
      perfect = function() agreement_of(perfect()),
      `pairs of systems` = function() run("wide", pairwise = TRUE, systems = FALSE),
      `counts alone` = function() agreement_of(counts = data$counts[c("low", "mid", "high")]),
      `own weights` = function() {
        run("binary", "cohen_kappa", scale_weights = matrix(c(1, 0.3, 0.3, 1), 2L))
      }
    )
  )
}

test_results <- function() {
  x <- function() input("ordered")
  ordered <- data$ordered
  other <- function() as_input(ordered, case = "case", raters = c("r1", "s"), categories = 1:5)
  label("agreement tests",
    test = function() tested(x(), null = 0.2),
    `one-sided` = function() tested(x(), alternative = "greater", interval = "jackknife"),
    comparison = function() compared_agreement(x(), other(), "fleiss_kappa"),
    jackknife = function() {
      compared_agreement(x(), other(), c("gwet_ac", "percent_agreement"), interval = "jackknife")
    },
    `landis-koch` = function() benchmarked(agreement_of(x())),
    fleiss = function() benchmarked(agreement_of(x(), conf_level = 0.8), "fleiss"),
    altman = function() benchmarked(agreement_of(x()), "altman"),
    `alpha, ordinal` = function() alpha(x(), level = "ordinal"),
    `alpha, weights` = function() alpha(x(), scale_weights = "linear"),
    `information, plain` = function() information(input("binary"), continuity = FALSE),
    registered = function() {
      new_measure("golden", "Share of agreeing cases", function(table, ...) {
        sum(diag(table)) / sum(table)
      }, form = "table")
      on.exit(new_measure("golden", "", NULL))
      agreement_of(input("binary"), "golden")
    }
  )
}

crowd_results <- function() {
  versions <- c("2014", "2.0")
  as_votes <- function() {
    as_input(
      fallible::crowdtruth2014,
      case = "unit", counts = setdiff(names(fallible::crowdtruth2014), "unit")
    )
  }
  c(
    combine("crowd", c("crowd", "wide", "sparse"), versions, run = function(name, version) {
      crowd(input(name), version = version)
    }),
    combine("crowd | scores", versions, run = function(version) {
      x <- crowd(input("crowd"), version = version)
      list(scores = scores_of(x), labels = soft(x))
    }),
    combine("crowd | kinds", versions, run = function(version) {
      kinds_of(crowd(input("crowd"), version = version), other = "e")
    }),
    label("crowd",
      open = function() crowd(input("crowd"), version = "2.0", task = "open"),
      short = function() crowd(input("crowd"), version = "2.0", max_steps = 2L),
      votes = function() crowd(as_votes()),
      `votes, 2.0` = function() crowd(as_votes(), version = "2.0"),
      simulated = function() {
        crowd(drawn_crowd(15L, 10L, 5L, 4L, c(random = 2, constant = 1, copy = 1)))
      },
      `one label` = function() yes_no_ratings(input("crowd"), several = "omit"),
      `label or not` = function() yes_no_ratings(input("crowd"), label = "a"),
      `accuracy refused` = function() fit_of(input("crowd"))
    )
  )
}

filter_results <- function() {
  measured <- function(version) crowd(input("crowd"), version = version)
  c(
    combine("crowd | units", c("2014", "2.0"), run = function(version) {
      kept_units(measured(version))
    }),
    combine("crowd | workers", c("2014", "2.0"), run = function(version) {
      x <- measured(version)
      kept_workers(x, min_units = 4L, flagged = flagged(x))
    }),
    combine("crowd | flags", c("2014", "2.0"), run = function(version) flagged(measured(version))),
    combine("crowd | merged", c("2014", "2.0"), run = function(version) {
      merged(measured(version), into = c(b = "a"))
    }),
    label("crowd",
      `units below` = function() kept_units(measured("2014"), below = 0.6),
      `flags, one vote` = function() flagged(measured("2014"), sd = 0.5, votes = 1L),
      `flags, weights` = function() {
        flagged(measured("2014"), weights = c(`(Intercept)` = -0.5, unit_disagreement = 1))
      },
      `flags, known` = function() flagged(measured("2014"), known = known_workers, folds = 3L),
      `flags, known, 2.0` = function() flagged(measured("2.0"), known = known_workers),
      `merged by rule` = function() merged(measured("2014"), other = "e", clear = 0.8)
    )
  )
}
