# Results about checks, plans, simulations and data.

check_results <- function() {
  c(
    combine("check", c("wide", "sparse", "missing", "counts"), run = function(name) {
      checked(input(name), properties = c("accuracy", "difficulty"))
    }),
    label("check",
      all = function() checked(input("ordered")),
      distance = function() checked(input("binary"), errors = "distance"),
      free = function() checked(input("ordered"), "errors", system = NA, errors = "free"),
      system = function() checked(input("wide"), system = "b", alpha = 0.2),
      weights = function() checked(weighted("whole"), "accuracy")
    )
  )
}

plan_results <- function() {
  few <- function(...) planned(..., runs = 30L, max_cases = 2000L)
  label("plan",
    simulated = function() few(rater_accuracy = 0.7, system_accuracy = 0.8),
    unbinned = function() few(chance_kappa = 0.4, system_accuracy = 0.8, estimator = "unbinned"),
    violated = function() {
      few(
        rater_accuracy = 0.7, system_accuracy = 0.8, difficulty = 0.1, dispersion = 1.5,
        missing = 0.1, estimator = "binned"
      )
    },
    pilot = function() few(input("ordered"), half_width = 0.15, estimator = "unbinned"),
    cases = function() {
      few(rater_accuracy = 0.7, system_accuracy = 0.8, cases = 100L, raters = 2:3, cost_case = 5)
    },
    updated = function() {
      plan <- few(rater_accuracy = 0.7, system_accuracy = 0.8, estimator = "binned")
      stats::update(plan, half_width = 0.15)
    }
  )
}

# Designs of most kinds, small.
all_designs <- function() {
  three <- c(0.5, 0.6, 0.7)
  two <- c(a = 0.8, b = 0.6)
  sure <- matrix(0.05, 4L, 4L) + diag(0.8, 4L)
  list(
    plain = design_of(three, two, n = 40L),
    fixed = design_of(three, two, 3L, 40L, base_rates = c(0.5, 0.3, 0.2)),
    dirichlet = design_of(three, two, 4L, 40L, base_rates = "dirichlet", concentration = 2),
    distance = design_of(three, two, 5L, 40L, dispersion = 2),
    errors = design_of(three, two, 5L, 40L, error_range = 0.8, dispersion = 1.5),
    kept = design_of(three, two, 4L, 40L, error_range = 0.5, difficulty = list(value = 0.1, redraw = FALSE)),
    strata = design_of(three, two, 4L, 40L, difficulty = 0.2),
    `strata, fixed` = design_of(three, two, 4L, 40L, difficulty = list(value = 0.2, strata = "fixed")),
    `strata, own` = design_of(
      three, two, 4L, 40L,
      difficulty = list(value = data.frame(shift = c(-0.2, 0.1), weight = c(0.3, 0.7)), shared = character())
    ),
    missing = design_of(three, two, 4L, 40L, missing = 0.3),
    copying = design_of(
      three, two, 4L, 40L,
      copying = data.frame(from = c(1L, 1L), to = c(2L, 4L), probability = c(0.5, 0.3))
    ),
    matrices = design_of(
      c(x = 0.5, y = 0.6), two, 4L, 40L,
      base_rates = rep(0.25, 4L), matrices = list(x = sure, a = sure)
    ),
    row = design_of(three, two, 4L, 40L, dispersion = 2, matrices = list(normalise = "row"))
  )
}

study_results <- function() {
  designs <- all_designs()
  run <- function(estimators, ..., designs = list(one = all_designs()$plain)) {
    study <- study_of(designs, estimators, runs = 3L, ...)
    list(study, summary = summary(study))
  }
  few <- c("none", "bootstrap", "robust")
  model <- model_of("rater", "distance")
  c(
    combine("study", methods, few, run = function(method, interval) {
      run(list(it = estimator(method, interval)))
    }),
    combine("study | model", c("joint", "shared"), few[1:2], run = function(method, interval) {
      run(list(it = estimator(method, interval, model = model)))
    }),
    combine("study | design", names(designs), run = function(name) {
      run(c("binned", "unbinned", "joint", "shared"), designs = designs[name])
    }),
    combine("study | clip", c("overall", "none"), run = function(clip) {
      run(list(it = estimator("binned", bins = list(clip = clip, width = 0.2))))
    }),
    label("study",
      sizes = function() run("binned", n = c(30L, 60L)),
      shared = function() run(c("binned", "joint"), panels = "same"),
      `function` = function() {
        run(list(agreeing = function(x) {
          table <- crossed(x, "rater1", system_names(x))
          sum(diag(table)) / sum(table)
        }))
      },
      summary = function() {
        study <- study_of(designs[1:2], c("binned", "joint"), runs = 3L)
        summary(study, by = "estimator", margin = 0.05, common = TRUE)
      },
      updated = function() stats::update(study_of(designs[1L], "binned", runs = 2L), runs = 4L),
      panel = function() replayed(study_of(designs[1L], "binned", runs = 2L), 3L),
      estimate = function() {
        replayed(study_of(designs[1L], "binned", runs = 2L), 3L, "estimate")
      }
    )
  )
}

limit_results <- function() {
  design <- design_of(c(0.5, 0.6, 0.7), c(a = 0.9, b = 0.6), 4L, base_rates = 4:1 / 10)
  harder <- design_of(
    c(0.6, 0.7), c(a = 0.9), 3L,
    base_rates = 3:1 / 6, difficulty = 0.1, dispersion = 2
  )
  c(
    combine("limit", methods, run = function(method) limit_of(design, method)),
    combine("limit | harder", methods, run = function(method) limit_of(harder, method)),
    label("limit",
      drawn = function() limit_of(all_designs()$plain),
      `function` = function() limit_of(design, function(x) glance_of(fit_of(x))$chance_kappa),
      model = function() limit_of(harder, estimator("joint", model = model_of(errors = "distance")))
    )
  )
}

simulated_results <- function() {
  designs <- all_designs()
  run <- function(design, n) {
    x <- drawn(design, n)
    list(x, truth = as.integer(truth_of(x)$category), accuracy = accuracy_of(x))
  }
  c(
    combine("simulated", names(designs), run = function(name) run(designs[[name]], 25L)),
    combine("simulated | figure", 1:14, run = function(i) run(paper_design(i), 15L)),
    label("simulated",
      crowd = function() drawn_crowd(8L, 6L, 4L, 4L, c(random = 1, constant = 1, copy = 1)),
      matrix = function() matrix_of(LETTERS[1:5], 0.6, -0.2, dispersion = 2),
      `random matrix` = function() matrix_of(4L, 0.6, error_range = 0.7, normalise = "row")
    )
  )
}

data_results <- function() {
  names <- c("wide", "ordered", "sparse", "counts", "missing", "repeats", "binary")
  c(
    combine("data", names, run = function(name) {
      x <- input(name)
      list(x, counts = counts_of(x))
    }),
    label("data",
      crossed = function() unclass(crossed(input("wide"), "r1", "b")),
      patterns = function() patterns_of(input("binary")),
      subset = function() input("wide")[1:10, c("r1", "r3")]
    )
  )
}
