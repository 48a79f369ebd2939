# Bias and coverage of estimates with user-defined designs and models.
#
#   Rscript bench/extend.R [output.csv] [panels]
#
# Worlds: each way in which rater_design() lets raters and systems differ from the K-model. The
# share of right answers in a panel is compared with the accuracy that the design computes, with
# Wilson's interval. Models: panels drawn by functions. They are estimated by the joint method and
# by a user-defined posterior (Bayes' rule with the true parameters and the system's answer), with
# bootstrap intervals. Models with covariates, and GLAD as a user-defined family, are estimated in
# worlds in which they hold. Parameters: slopes of these models, with normal intervals; skills of
# GLAD have an upward bias that falls with the number of cases, as logits have. Example: a system of
# constant accuracy and raters whose accuracy depends on a covariate, by models with and without the
# covariate. `bias` in Monte Carlo standard errors should be within 2, `coverage` of the 90%
# intervals between .86 and .94.

library(fallible)

seed <- 20150516L
options(fallible.quiet = TRUE)
rates <- c(0.5, 0.3, 0.2)

main <- function(output = NULL, panels = 200L) {
  panels <- as.integer(panels)
  set.seed(seed)
  worlds <- simulation_study(designs(), list(sample = sample_share), panels, panels = "same")
  models <- simulation_study(
    list("function of n" = k_world), list(
      joint = accuracy_estimator("joint", interval = "bootstrap", resampling = list(replicates = 400L)),
      "as_rater_fit, shared" = own_posterior
    ), panels, n = 400L
  )
  families <- lapply(family_studies(), function(study) {
    recovery(simulation_study(study$world, study["model"], panels, n = study$n))
  })
  rows <- rbind(recovery(worlds), recovery(models), do.call(rbind, families), parameters(panels))
  row.names(rows) <- NULL
  print(rows, digits = 3L, row.names = FALSE)
  print(example(max(panels %/% 10L, 2L)), digits = 3L)
  if (!is.null(output)) {
    provenance <- list(
      seed = seed, date = format(Sys.Date()), fallible = format(utils::packageVersion("fallible")),
      r = format(getRversion())
    )
    utils::write.csv(cbind(rows, provenance), output, row.names = FALSE)
  }
  invisible(rows)
}

recovery <- function(study) {
  table <- summary(study)
  table <- table[table$target == "expected", ]
  numbers <- c("truth", "bias", "bias_mcse", "coverage", "coverage_mcse")
  data.frame(
    table[c("design", "system", "estimator", "n")], panels = table$estimates,
    failed = table$failed, signif(data.frame(table[numbers]), 4L),
    z = signif(table$bias / table$bias_mcse, 3L)
  )
}

# ---- Worlds -------------------------------------------------------------------------------------

designs <- function() {
  three <- c(0.6, 0.7, 0.8)
  two <- c(a = 0.7, b = 0.85)
  world <- function(...) {
    rater_design(three, two, categories = 3L, base_rates = rates, n = 500L, ...)
  }
  blind <- matrix(1 / 3, 3L, 3L)
  list(
    "missing by rater" = world(missing = c(0, 0.3, 0.6)),
    "matrices by stratum" = world(
      difficulty = data.frame(shift = 0, weight = c(0.3, 0.7)),
      matrices = list(rater1 = list(diag(3L), blind), a = list(diag(3L), blind))
    ),
    loading = world(difficulty = list(loading = 0.7)),
    "system copies system" = world(
      copying = data.frame(from = "a", to = "b", probability = 0.6), difficulty = list(loading = c(a = 0.5, b = -0.5))
    ),
    drift = world(drift = c(rater1 = -0.3, a = -0.3, b = 0.5))
  )
}

# The share of right answers, with Wilson's interval.
sample_share <- function(x) {
  share <- true_accuracy(x)$sample
  n <- nrow(x)
  z2 <- stats::qnorm(0.95)^2
  centre <- (share + z2 / (2 * n)) / (1 + z2 / n)
  half_width <- sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n^2))) / (1 + z2 / n)
  data.frame(estimate = share, conf.low = centre - half_width, conf.high = centre + half_width)
}

# ---- Models -------------------------------------------------------------------------------------

# The K-model with a system, and posterior probabilities by Bayes' rule with true parameters.
k_world <- function(n) {
  truth <- sample.int(3L, n, replace = TRUE, prob = rates)
  accuracy <- c(a = 0.65, b = 0.65, c = 0.65, system = 0.8)
  answers <- lapply(accuracy, function(p) {
    (truth - 1L + (stats::runif(n) > p) * sample.int(2L, n, replace = TRUE)) %% 3L + 1L
  })
  likelihood <- Map(function(answer, p) {
    ifelse(outer(answer, 1:3, `==`), p, (1 - p) / 2)
  }, answers, accuracy)
  posterior <- Reduce(`*`, likelihood) * rep(rates, each = n)
  x <- ratings(list2DF(answers), raters = a:c, systems = system, categories = 1:3)
  x <- with_truth(x, truth, expected = 0.8)
  attr(x, "posterior") <- posterior / rowSums(posterior)
  x
}

own_posterior <- function(x) {
  fit <- as_rater_fit(x, attr(x, "posterior"), rates, model = "Bayes' rule")
  tidy(estimate_accuracy(fit, resampling = list(replicates = 400L)))
}

# ---- Families of models, and covariates ---------------------------------------------------------

folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[[1L]]))
source(file.path(folder, "worlds.R"))

# Parameters: a level of each rater on the logit scale, and effects of the covariate `name` on the
# raters and on a joined system. The system may have the effect of the raters.
effect_model <- function(name, term, shared = FALSE) {
  rater_family(
    words = paste("accuracy by", name),
    start = function(judged, categories) {
      raters <- levels(judged$rater)
      effects <- c(term, if (!shared && any(judged$system)) paste(term, "of the system"))
      stats::setNames(rep(c(1, 0), c(length(raters), length(effects))), c(raters, effects))
    },
    law = function(parameters, judged, categories) {
      n <- length(categories)
      effect <- parameters[nlevels(judged$rater) + 1L + judged$system * !shared]
      right <- stats::plogis(parameters[as.integer(judged$rater)] + effect * judged[[name]])
      outer(right, diag(n)) + outer((1 - right) / (n - 1L), 1 - diag(n))
    }
  )
}
slopes_model <- effect_model("z", "accuracy:z")
difficulty_model <- effect_model("hard", "difficulty:hardTRUE", shared = TRUE)
populations_model <- rater_model("rater", "free", base_rates = ~population)

family_studies <- function() {
  new_study <- function(name, world, n, model) {
    estimator <- accuracy_estimator("joint", model, interval = "bootstrap", resampling = list(replicates = 200L))
    list(world = stats::setNames(list(world), name), n = n, model = estimator)
  }
  list(
    new_study("accuracy ~ z", slopes_world, 500L, slopes_model),
    new_study("difficulty ~ hard", difficulty_world, 500L, difficulty_model),
    new_study("base rates ~ population, two raters", population_world, 1000L, populations_model),
    new_study("GLAD", glad_world, 500L, glad_model(7L))
  )
}

# Estimates of slopes (without systems) and of base rates.
parameters <- function(panels) {
  new_fit_study <- function(name, world, n, model, truth) {
    fits <- lapply(seq_len(panels), function(i) {
      terms <- tidy(suppressWarnings(fit_raters(world(n), model)))
      terms[match(names(truth), terms$term), ]
    })
    column_matrix <- function(column) vapply(fits, `[[`, numeric(length(truth)), column)
    estimate <- matrix(column_matrix("estimate"), length(truth))
    error <- matrix(column_matrix("std.error"), length(truth))
    inside <- abs(estimate - truth) < stats::qnorm(0.95) * error
    used <- rowSums(!is.na(estimate))
    bias <- rowMeans(estimate, na.rm = TRUE) - truth
    mcse <- apply(estimate, 1L, stats::sd, na.rm = TRUE) / sqrt(used)
    coverage <- rowMeans(inside, na.rm = TRUE)
    data.frame(
      design = name, system = names(truth), estimator = "fit_raters", n = n, panels = used,
      failed = panels - used, truth = truth, bias = bias, bias_mcse = mcse, coverage = coverage,
      coverage_mcse = sqrt(coverage * (1 - coverage) / used), z = bias / mcse
    )
  }
  rbind(
    new_fit_study("accuracy ~ z", slopes_world, 500L, slopes_model, c("accuracy:z" = 1.2)),
    new_fit_study("difficulty ~ hard", difficulty_world, 500L, difficulty_model,
      c("difficulty:hardTRUE" = -1)),
    new_fit_study("base rates ~ population, two raters", population_world, 1000L, populations_model,
      c("base_rate[2]:(Intercept)" = stats::qlogis(0.2), "base_rate[2]:populationy" =
        stats::qlogis(0.7) - stats::qlogis(0.2))),
    new_fit_study("GLAD", glad_world, 500L, glad_model(7L), c(
      "rater_accuracy[r1]" = accuracy_of_skill(0.6), "rater_accuracy[r5]" = accuracy_of_skill(2),
      "skill of r1" = 0.6, "skill of r5" = 2
    ))
  )
}

# Mean estimates of a system that shares the raters' slope, and of one that does not.
example <- function(panels) {
  quick <- function(...) {
    function(x) tidy(estimate_accuracy(x, ..., interval = "none"))
  }
  study <- simulation_study(
    list("accuracy ~ z" = slopes_world),
    list(
      covariate = quick("joint", slopes_model), average = quick("average"),
      joint = quick("joint", rater_model("rater")),
      strata = quick("joint", rater_model("rater", difficulty = "strata"))
    ), panels, n = 1500L
  )
  table <- summary(study)
  table <- table[table$target == "expected", ]
  table$estimate <- table$truth + table$bias
  table[c("system", "estimator", "truth", "estimate", "bias", "bias_mcse", "rmse")]
}

do.call(main, as.list(commandArgs(trailingOnly = TRUE)))
