# Results about what else is estimated of systems: metrics, scores, gold, families, bounds, plans.

# Every fourth case of the wide data is gold, as if drawn.
gold_of <- function(name = "wide", by = 4L) {
  x <- data[[name]]
  x[seq(1L, nrow(x), by = by), c("case", "truth")]
}

with_gold <- function(interval = NULL, name = "wide", target = "population", ...,
                      cluster = NULL) {
  estimate_accuracy(
    input(name), interval = interval, known_truth = gold_cases(gold_of(name), "random", target),
    resampling = list(replicates = replicates, cluster = cluster), ...
  )
}

gold_ids <- c("corrected", "combined", "anytime")

# The main table of a result, and that of its sources where it has one.
with_sources <- function(x) {
  Filter(length, list(x, sources = tryCatch(tidy(x, "sources"), error = function(e) NULL)))
}

gold_results <- function() {
  c(
    combine("gold", gold_ids, c("population", "cases"), run = function(interval, target) {
      with_sources(with_gold(interval, target = target))
    }),
    combine("gold | difference", gold_ids, run = function(interval) {
      with_sources(compared(with_gold(interval)))
    }),
    combine("gold | cells", gold_ids, run = function(interval) {
      with_sources(confusion_of(with_gold(interval)))
    }),
    combine("gold | metrics", gold_ids, c("accuracy", "recall", "precision", "mcc", "f_meas"),
      run = function(interval, metric) with_sources(estimate_metrics(with_gold(interval), metric))
    ),
    label("gold",
      given = function() {
        estimate_accuracy(input("wide"), known_truth = gold_of())
      },
      ordered = function() with_sources(with_gold(name = "ordered")),
      clusters = function() with_sources(with_gold(cluster = clusters)),
      `clusters | difference` = function() compared(with_gold(cluster = clusters)),
      `by` = function() with_gold(by = wards),
      probabilities = function() {
        gold <- cbind(gold_of(), probability = rep(c(0.2, 0.4), 10L))
        with_sources(estimate_accuracy(input("wide"), known_truth = gold))
      }
    )
  )
}

metric_ids <- c(
  "accuracy", "recall", "precision", "f_meas", "mcc", "kap", "bal_accuracy",
  "j_index", "npv"
)

metric_results <- function() {
  base <- function(method = NULL, interval = "none", name = "wide") {
    estimate(input(name), method, interval)
  }
  c(
    combine("metrics", c("wide", "binary", "missing"), intervals, run = function(name, interval) {
      estimate_metrics(base(NULL, interval, name), metric_ids)
    }),
    combine("metrics | method", methods, run = function(method) {
      estimate_metrics(base(method, "bootstrap"), c("accuracy", "f_meas", "mcc"))
    }),
    label("metrics",
      default = function() estimate_metrics(input("wide"), resampling = list(replicates = replicates)),
      averages = function() {
        estimate_metrics(
          base(), c("recall", "f_meas"), average = c("macro", "macro_weighted", "micro"), beta = 2
        )
      },
      cost = function() {
        estimate_metrics(base(), "loss", cost = 1 - diag(4))
      },
      clusters = function() {
        estimate_metrics(
          estimate(input("wide"), NULL, "robust", cluster = clusters), c("mcc", "recall")
        )
      },
      ordered = function() {
        estimate_metrics(base(NULL, "robust", "ordered"), c("accuracy", "kap", "mae"))
      },
      difference = function() compared(base("joint", "bootstrap"), metric = "f_meas")
    )
  )
}

# Probabilities of the categories by system b, made from its answers.
scored_input <- function() {
  x <- data$wide
  sure <- 0.4 + 0.5 * (seq_len(nrow(x)) %% 10) / 10
  long <- do.call(rbind, lapply(LETTERS[1:4], function(category) {
    data.frame(
      case = x$case, system = "a", category = category,
      score = ifelse(x$a == category, sure, (1 - sure) / 3)
    )
  }))
  as_input(
    x, case = "case", raters = c("r1", "r2", "r3", "r4"), systems = "a",
    categories = LETTERS[1:4], scores = long
  )
}

score_results <- function() {
  combine("scores", c("roc_auc", "brier_class", "mn_log_loss", "ece"), c("none", "bootstrap"),
    run = function(metric, interval) {
      estimate_metrics(estimate(scored_input(), NULL, interval), metric)
    }
  ) |> c(label("scores",
    fit = function() fit_scores(scored_input()),
    roc = function() tidy(estimate(scored_input(), "shared"), "roc"),
    reliability = function() {
      tidy(estimate(scored_input(), "shared"), "reliability")
    },
    gold = function() {
      estimate_metrics(estimate_accuracy(
        scored_input(), known_truth = gold_of(), gold_sample = "random", resampling = list(replicates = replicates)
      ), c("roc_auc", "brier_class"))
    }
  ))
}

family_results <- function() {
  covariates <- function() {
    x <- data$wide
    x$ward <- wards
    as_input(
      x, case = "case", raters = c("r1", "r2", "r3", "r4"), systems = c("a", "b"),
      covariates = "ward"
    )
  }
  label("family",
    rates = function() {
      fit_digits(fit_of(covariates(), model_of(base_rates = ~ward)))
    },
    estimate = function() {
      estimate_accuracy(covariates(), model = model_of(base_rates = ~ward), interval = "none")
    },
    bootstrap = function() {
      estimate_accuracy(
        covariates(), model = model_of(base_rates = ~ward), interval = "bootstrap", resampling = list(replicates = 4L)
      )
    },
    ordinal = function() fit_of(input("ordered"), model_of("rater", "ordinal")),
    posterior = function() {
      p <- as.matrix(as.data.frame(posterior_of(fit_of(input("wide"))))[LETTERS[1:4]])
      estimate(as_rater_fit(input("wide"), p), "unbinned", "bootstrap")
    }
  )
}

bound_results <- function() {
  c(
    combine("bounds", c("wide", "binary", "missing"), c("none", "bootstrap"),
      run = function(name, interval) {
        accuracy_bounds(input(name), interval = interval, resampling = list(replicates = replicates))
      }
    ),
    combine("shared errors", c("wide", "sparse", "ordered"), run = function(name) {
      shared_errors(input(name))
    }),
    label("bounds",
      breakdown = function() {
        bounds <- accuracy_bounds(estimate(input("wide")), interval = "none")
        tidy(bounds, "breakdown", better_than = "b")
      },
      `known errors` = function() {
        truth <- stats::setNames(data$wide$truth, data$wide$case)
        shared_errors(input("wide"), known_truth = truth)
      },
      alternative = function() alt_test(input("wide"), min_cases = 10)
    )
  )
}

gold_plan_results <- function() {
  combine("gold plan", c("accuracy", "difference", "recall", "precision"),
    c("stratified", "random"), run = function(of, choice) {
      plan_gold(
        input("wide"), half_width = 0.1, of = of, choice = choice,
        category = if (of %in% c("recall", "precision")) "A"
      )
    }
  )
}
