# Simulates the precision of estimates of accuracy: the surface from which plans compute numbers of
# cases.
#
#   Rscript bench/plan.R inst/extdata/results/plan
#
# writes three files. plan-surface.csv (kept as .gz) has the probability of an estimate within a
# margin of the true accuracy, with Monte Carlo standard errors. Its rows are settings (categories,
# raters, their kappa, K-properties hold or are violated), methods, numbers of cases and margins.
# plan-needed.csv has the numbers of cases that the joint estimate needs on the surface.
# plan-advice.csv has the advice of the paper, simulated with many runs.
#
# Base rates are drawn as uniform numbers, systems have accuracies .1 .3 .5 .7 .9 and answer the
# same panels. Violated: accuracies of raters differ by .1, dispersion 2, error range 1, difficulty
# .2, the same for raters and systems, as in the paper.

library(fallible)

seed <- 20150502L
systems <- c(0.1, 0.3, 0.5, 0.7, 0.9)
names(systems) <- paste("system", systems)
margins <- c(0.05, 0.075, 0.1, 0.15)
options(cli.progress_show_after = 1e9)

main <- function(stem, runs = 250L) {
  surface <- do.call(rbind, lapply(seq_len(nrow(settings())), function(i) {
    message("Setting ", i, " of ", nrow(settings()))
    simulate_setting(settings()[i, ], runs)
  }))
  provenance <- data.frame(
    seed = seed, date = format(Sys.Date()), fallible = format(utils::packageVersion("fallible")),
    r = format(getRversion())
  )
  needed <- needed_cases(surface)
  advice <- simulate_advice(2000L)
  write <- function(table, name) {
    numbers <- vapply(table, is.double, NA)
    table[numbers] <- lapply(table[numbers], signif, 3L)
    utils::write.csv(cbind(table, provenance), paste0(stem, "-", name, ".csv"), row.names = FALSE)
  }
  write(surface, "surface")
  write(needed, "needed")
  write(advice, "advice")
  print(advice)
}

# Accuracies of raters are those of the given kappa.
settings <- function() {
  out <- expand.grid(
    categories = c(2L, 3L, 5L, 10L), raters = c(2L, 3L, 5L),
    kappa = c(0.1, 0.2, 0.3, 0.45, 0.6, 0.8),
    world = c("hold", "violated"), stringsAsFactors = FALSE
  )
  # Violations are defined for panels like the paper's.
  out[out$world == "hold" | (out$categories == 5L & out$raters == 3L), ]
}

numbers_of_cases <- function(world) {
  c(25L, 50L, 100L, 200L, 400L, 800L, if (world == "violated") c(1600L, 3200L))
}

rater_accuracy <- function(kappa, categories) {
  agreement <- kappa * (1 - 1 / categories) + 1 / categories
  p_other <- 1 - 1 / categories
  1 / categories + sqrt(p_other * (agreement - 1 / categories))
}

make_design <- function(at) {
  accuracy <- rater_accuracy(at$kappa, at$categories)
  if (at$world == "hold") {
    return(rater_design(rep(accuracy, at$raters), systems, at$categories))
  }
  violated_design(accuracy)
}

violated_design <- function(accuracy) {
  spread <- pmin(accuracy + c(-0.1, 0, 0.1), 1)
  rater_design(spread, systems, dispersion = 2, error_range = 1, difficulty = 0.2)
}

simulate_setting <- function(at, runs) {
  set.seed(seed)
  methods <- if (at$world == "hold") {
    list(joint = "joint", binned = "binned")
  } else {
    list(
      joint = "joint", binned = "binned",
      `joint, rater and distance` = accuracy_estimator("joint", rater_model("rater", "distance"))
    )
  }
  study <- simulation_study(
    make_design(at), methods, runs = runs, n = numbers_of_cases(at$world),
    panels = "same"
  )
  table <- within_margin(study, margins[[1L]])[c("method", "cases")]
  for (margin in margins) {
    columns <- paste0(c("within_", "mcse_"), margin)
    table[columns] <- within_margin(study, margin)[c("within", "within_mcse")]
  }
  data.frame(at, kappa_found = mean(tidy(study)$chance_kappa), table, check.names = FALSE)
}

# As in plan_cases(), a missing estimate is not within the margin.
within_margin <- function(study, margin) {
  rows <- tidy(study)
  near <- !is.na(rows$estimate) & abs(rows$estimate - rows$expected) <= margin + 1e-9
  by_panel <- stats::aggregate(near, rows[c("run", "n", "estimator")], mean)
  out <- stats::aggregate(by_panel$x, by_panel[c("n", "estimator")], function(x) {
    c(mean(x), stats::sd(x) / sqrt(length(x)))
  })
  data.frame(
    method = out$estimator, cases = out$n, within = out$x[, 1L], within_mcse = out$x[, 2L]
  )
}

# ---- Numbers of cases ---------------------------------------------------------------------------

# For probability .9 with the joint estimate, from a line between the two simulated numbers of cases
# around it, on the scales on which it would be straight.
needed_cases <- function(surface) {
  joint <- surface[surface$world == "hold" & surface$method == "joint", ]
  rows <- lapply(split(joint, joint[c("categories", "raters", "kappa")]), function(group) {
    group <- group[order(group$cases), ]
    cases <- vapply(paste0("within_", margins), function(within) {
      find_crossing(group$cases, group[[within]])
    }, 0)
    enough <- which(!is.na(cases))
    data.frame(
      group[rep(1L, length(enough)), c("categories", "raters", "kappa")], margin = margins[enough],
      simulated = cases[enough], row.names = NULL
    )
  })
  do.call(rbind, unname(rows))
}

find_crossing <- function(cases, within) {
  above <- which(within >= 0.9)[1L]
  if (is.na(above) || above == 1L) {
    return(NA_real_)
  }
  z <- stats::qnorm(pmin(within[above - 1:0], 0.9999))
  root <- sqrt(cases[above - 1:0])
  (root[[1L]] + diff(root) * (stats::qnorm(0.9) - z[[1L]]) / diff(z))^2
}

# ---- The paper's advice -------------------------------------------------------------------------

simulate_advice <- function(runs) {
  at <- data.frame(
    accuracy = rep(c(0.6, 0.8), c(4L, 2L)), cases = c(200L, 200L, 400L, 1600L, 100L, 100L),
    world = c("hold", "violated", "violated", "violated", "hold", "violated"),
    stringsAsFactors = FALSE
  )
  methods <- list(
    binned = "binned", unbinned = "unbinned", joint = "joint",
    `joint, rater and distance` = accuracy_estimator("joint", rater_model("rater", "distance"))
  )
  do.call(rbind, lapply(seq_len(nrow(at)), function(i) {
    message("Advice ", i, " of ", nrow(at))
    row <- at[i, ]
    design <- if (row$world == "hold") {
      rater_design(rep(row$accuracy, 3L), systems)
    } else {
      violated_design(row$accuracy)
    }
    set.seed(seed)
    study <- simulation_study(design, methods, runs = runs, n = row$cases, panels = "same")
    table <- within_margin(study, 0.1)
    data.frame(row, kappa = mean(tidy(study)$chance_kappa), table[-2L], row.names = NULL)
  }))
}

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) == 0L) stop("Usage: Rscript bench/plan.R STEM [RUNS]")
main(arguments[[1L]], if (length(arguments) > 1L) as.integer(arguments[[2L]]) else 250L)
