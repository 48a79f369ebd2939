# Results about systems, raters and truth.

estimate_and_bins <- function(x, method, ...) {
  out <- estimate(x, method, ...)
  if (method == "binned") list(out, bins = bins_of(out)) else out
}

accuracy_results <- function() {
  kinds <- list(
    wide = function() input("wide"), ordered = function() input("ordered"),
    sparse = function() input("sparse"), counts = function() input("counts"),
    missing = function() input("missing"), repeats = function() input("repeats"),
    binary = function() input("binary"), weights = function() weighted("whole")
  )
  odd <- list(
    broken = function() weighted("broken"), shares = function() weighted("share"),
    chance = function() input("chance"), perfect = perfect
  )
  run <- function(kind, method, interval) estimate_and_bins(kind(), method, interval)
  c(
    combine("accuracy", names(kinds), methods, intervals, run = function(kind, method, interval) {
      run(kinds[[kind]], method, interval)
    }),
    combine("accuracy", names(kinds), "joint", "profile", run = function(kind, method, interval) {
      run(kinds[[kind]], method, interval)
    }),
    combine("accuracy", names(odd), methods, c("none", "robust"),
      run = function(kind, method, interval) run(odd[[kind]], method, interval)
    ),
    combine("accuracy", "wrong", methods[methods != "joint"], "profile",
      run = function(kind, method, interval) run(kinds$wide, method, interval)
    )
  )
}

all_models <- function() {
  list(
    k = simple_model(), raters = model_of("rater"), distance = model_of(errors = "distance"),
    strata = model_of(difficulty = "strata"), free = model_of(errors = "free"),
    `raters distance` = model_of("rater", "distance"),
    `raters strata` = model_of("rater", difficulty = "strata"),
    `raters distance strata` = model_of("rater", "distance", "strata"),
    `dawid skene` = hierarchical_free(),
    `own system` = model_of("rater", "distance", system = "own"),
    `no prior` = model_of("rater", prior = "none"),
    `own prior` = model_of(difficulty = "strata", prior = list(difficulty = 0.1))
  )
}

option_results <- function() {
  models <- all_models()
  c(
    combine("options | clip", c("binned", "unbinned"), c("bin", "overall", "none"),
      run = function(method, clip) estimate(input("sparse"), method, bins = list(clip = clip))
    ),
    combine("options | width", c(0.05, 0.25, 1), run = function(width) {
      estimate_and_bins(input("wide"), "binned", bins = list(width = width))
    }),
    combine("options | level", methods, run = function(method) {
      estimate(input("wide"), method, "robust", conf_level = 0.5)
    }),
    combine("options | model", names(models), c("joint", "shared"),
      run = function(name, method) estimate(input("ordered"), method, model = models[[name]])
    ),
    combine("options | model", names(models), "joint", "profile",
      run = function(name, method, interval) {
        estimate(input("ordered"), method, interval, model = models[[name]])
      }
    ),
    combine("options | model", c("raters", "distance"), c("joint", "shared"),
      c("robust", "bootstrap"),
      run = function(name, method, interval) {
        estimate(input("ordered"), method, interval, model = models[[name]])
      }
    ),
    label("options | paper", # published data
      lehner = function() {
        x <- as_input(
          fallible::lehner2015,
          case = "case", raters = paste0("rater", 1:4), systems = "system"
        )
        estimate_and_bins(x, "binned", "bootstrap")
      },
      dawid = function() {
        x <- as_input(
          fallible::dawid1979,
          case = "case", rater = "rater", rating = "rating", repeats = "ratings"
        )
        fit_digits(fit_of(x, hierarchical_free()))
      },
      fleiss = function() {
        names <- setdiff(names(fallible::fleiss1971), "case")
        fit_digits(fit_of(as_input(fallible::fleiss1971, case = "case", counts = names)))
      }
    ),
    label("options",
      defaults = function() estimate(input("wide"), interval = "robust"),
      `default of a model` = function() estimate(input("wide"), model = models$raters),
      `average with a model` = function() estimate(input("wide"), "average", model = models$raters)
    )
  )
}

# Fits that know the truth of some cases, or the matrices of raters.
known_fits <- function() {
  matrix <- matrix(0.1, 4L, 4L) + diag(0.6, 4L)
  dimnames(matrix) <- list(LETTERS[1:4], LETTERS[1:4])
  named <- stats::setNames(data$wide$truth, data$wide$case)
  list(
    truth = function() fit_of(input("wide"), known_truth = some_truth("wide")),
    `truth, likelihood` = function() {
      fit_of(input("wide"), method = "likelihood", known_truth = some_truth("wide"))
    },
    `truth, raters` = function() {
      fit_of(input("ordered"), model_of("rater"), known_truth = some_truth("ordered"))
    },
    `truth, named` = function() {
      fit_of(input("wide"), hierarchical_free(), known_truth = named[10:30])
    },
    `truth of all` = function() fit_of(input("wide"), known_truth = named),
    `rater's accuracy` = function() {
      fit_of(input("wide"), method = "likelihood", known_raters = list(r1 = 0.8))
    },
    `rater's matrix` = function() {
      fit_of(input("wide"), model_of("rater"), known_raters = list(r2 = matrix))
    },
    both = function() {
      fit_of(input("wide"), model_of("rater"),
        known_truth = some_truth("wide"), known_raters = list(r1 = 0.8, r2 = matrix)
      )
    }
  )
}

known_results <- function() {
  fits <- known_fits()
  c(
    combine("known | fit", names(fits), run = function(name) {
      fit <- fits[[name]]()
      list(fit, posterior = posterior_of(fit))
    }),
    combine("known | accuracy", names(fits), c("average", "joint", "shared"),
      run = function(name, method) estimate(fits[[name]](), method)
    ),
    combine("known | accuracy", "truth", c("binned", "unbinned"),
      run = function(name, method) estimate(fits[[name]](), method)
    ),
    combine("known | accuracy", names(fits), c("joint", "shared"), c("robust", "bootstrap"),
      run = function(name, method, interval) estimate(fits[[name]](), method, interval)
    ),
    combine("known | accuracy", c("truth", "truth of all"), "average", c("robust", "bootstrap"),
      run = function(name, method, interval) estimate(fits[[name]](), method, interval)
    ),
    combine("known | accuracy", names(fits), "joint", "profile",
      run = function(name, method, interval) estimate(fits[[name]](), method, interval)
    )
  )
}

group_results <- function() {
  c(
    combine("cluster", methods, c("robust", "bootstrap"), run = function(method, interval) {
      estimate(input("wide"), method, interval, cluster = clusters)
    }),
    combine("by", methods, intervals[1:2], run = function(method, interval) {
      estimate(input("wide"), method, interval, by = wards)
    }),
    label("by",
      bootstrap = function() estimate(input("wide"), "unbinned", "bootstrap", by = wards),
      profile = function() estimate(input("wide"), "joint", "profile", by = wards),
      clusters = function() {
        estimate(input("wide"), "joint", "bootstrap", by = wards, cluster = clusters)
      },
      group = function() estimate(input("wide"), "binned", by = wards)[["east"]],
      table = function() {
        table <- data.frame(case = data$wide$case, ward = wards)
        estimate(input("wide"), "binned", by = table[80:1, ])
      }
    )
  )
}

# Parameters and posteriors of a fit.
fit_digits <- function(fit) {
  list(
    fit, rates = rates_of(fit), confusion = confusion_of(fit), posterior = posterior_of(fit),
    vcov = stats::vcov(fit)
  )
}

fit_results <- function() {
  models <- all_models()
  names <- names(models)
  fitted <- function(data, name, method) fit_digits(fit_of(input(data), models[[name]], method))
  c(
    combine("fit", c("wide", "ordered", "sparse"), names, "likelihood", run = fitted),
    combine("fit", "ordered", names, "pairs", run = fitted),
    combine("fit", c("counts", "missing", "repeats", "binary", "chance"),
      c("k", "raters", "distance"), c("likelihood", "pairs"),
      run = fitted
    ),
    combine("fit", c("wide", "ordered", "sparse", "counts", "missing", "repeats", "binary",
      "chance"), "k", "algebraic",
      run = fitted
    ),
    combine("fit | weights", c("whole", "broken", "share"), c("k", "raters"),
      run = function(kind, name) fit_digits(fit_of(weighted(kind), models[[name]]))
    ),
    label("fit",
      perfect = function() fit_digits(fit_of(perfect())),
      updated = function() {
        fit <- fit_of(input("wide"))
        stats::update(fit, model = models$raters, known_truth = some_truth("wide"))
      },
      wrong = function() fit_of(input("wide"), models$raters, "algebraic")
    )
  )
}

truth_results <- function() {
  fit <- function() fit_of(input("wide"), model_of("rater"))
  label("truth",
    ratings = function() posterior_of(input("sparse")),
    long = function() posterior_of(fit(), format = "long"),
    category = function() stats::predict(fit()),
    probability = function() stats::predict(fit(), type = "probability"),
    `new data` = function() {
      new <- as_input(cbind(r1 = c("A", "B"), r3 = c("A", NA)), categories = LETTERS[1:4])
      stats::predict(fit(), new, type = "probability")
    },
    augmented = function() augmented(fit()),
    calibration = function() {
      calibration_of(
        posterior_of(fit()),
        truth = stats::setNames(data$wide$truth, data$wide$case), bins = 5L
      )
    },
    simulated = function() {
      stats::setNames(stats::simulate(fit(), nsim = 2L, seed = 1L), c("first", "second"))
    }
  )
}

comparison_results <- function() {
  base <- function(method, interval, ...) estimate(input("wide"), method, interval, ...)
  c(
    combine("comparison", c("wide", "sparse", "binary"), methods, intervals,
      run = function(name, method, interval) compared(estimate(input(name), method, interval))
    ),
    combine("comparison | simultaneous", methods, c("robust", "bootstrap"),
      run = function(method, interval) {
        compared(base(method, interval), conf_level = 0.8, simultaneous = TRUE)
      }
    ),
    label("comparison",
      profile = function() compared(base("joint", "profile")),
      clusters = function() compared(base("unbinned", "bootstrap", cluster = clusters)),
      `robust clusters` = function() compared(base("average", "robust", cluster = clusters)),
      `known truth` = function() {
        compared(estimate(known_fits()$truth(), "joint", "robust"))
      },
      `all truth known` = function() {
        compared(estimate(known_fits()$`truth of all`(), "joint", "robust"))
      },
      systems = function() compared(base("joint", "bootstrap"), systems = c("b", "a")),
      perfect = function() compared(estimate(perfect(), "joint", "robust"))
    )
  )
}

confusion_results <- function() {
  base <- function(method, interval = "none", name = "wide") {
    estimate(input(name), method, interval)
  }
  c(
    combine("confusion", c("wide", "ordered", "counts", "missing"), c("average", "joint", "shared"),
      run = function(name, method) confusion_of(base(method, name = name), interval = "none")
    ),
    combine("confusion | bootstrap", methods, run = function(method) confusion_of(base(method))),
    label("confusion",
      `of a bootstrap` = function() confusion_of(base("joint", "bootstrap"), conf_level = 0.8),
      `known truth` = function() {
        confusion_of(estimate(known_fits()$truth(), "joint"), interval = "none")
      },
      matrix = function() {
        as.matrix(confusion_of(base("joint", name = "ordered"), interval = "none"))
      },
      clusters = function() {
        confusion_of(estimate(input("wide"), "joint", "bootstrap", cluster = clusters))
      }
    )
  )
}
