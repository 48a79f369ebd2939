# Posterior draws: sweeps and effective draws per CPU second, and the memory that a large panel
# adds. JAGS is measured in the same run if package rjags is installed (Debian: r-cran-rjags).
# `effective` refers to the sampler only, `fit_effective` to the whole fit with diagnostics.
#
#   Rscript bench/bayes.R [OUTPUT.csv]
#   FALLIBLE_DATA=/path Rscript bench/bayes.R real
#
# With `real`: coverage and width of 90% intervals of estimate_accuracy() of such a fit, for systems
# of the sets of $FALLIBLE_DATA/real that are not too large. It prints a line per set, then means
# over sets with their standard errors, also for the default on the same systems.
#
# Effective draws are those of the worst parameter, the smaller of bulk and tail, of 4 chains of
# 1000 draws after 1000 sweeps. JAGS has the same priors and the same number of draws. Its data are
# multinomial counts for tables, and single cases otherwise.
library(fallible)

inside <- asNamespace("fallible")
source(file.path("bench", "helpers.R"))

main <- function(output = NULL) {
  rows <- lapply(names(worlds), function(name) {
    world <- worlds[[name]]()
    our_result <- run_ours(world)
    peer_result <- if (!is.null(world$jags) && requireNamespace("rjags", quietly = TRUE)) {
      run_jags(world$jags)
    }
    row <- data.frame(
      panel = name, sweeps = our_result[["sweeps"]], effective = our_result[["effective"]],
      jags = peer_result %||% NA, ratio = our_result[["effective"]] / (peer_result %||% NA),
      fit_seconds = our_result[["fit"]], fit_effective = our_result[["fit_effective"]],
      memory = our_result[["memory"]]
    )
    row[-1] <- signif(row[-1], 3)
    print(row, row.names = FALSE)
    row
  })
  rows <- do.call(rbind, rows)
  if (!is.null(output)) write_results(rows, output, 1)
}

`%||%` <- function(a, b) if (is.null(a)) b else a

cpu <- function(code) sum(system.time(code)[c("user.self", "sys.self")])

smallest_effective <- function(draws) {
  ess <- inside$diagnose_parameters(draws, 4L)[, c("ess_bulk", "ess_tail")]
  min(ess, na.rm = TRUE)
}

# A fit by fit_raters(), with the megabytes that it adds, and the sampler without diagnostics.
run_ours <- function(world) {
  model <- world$model %||% dawid_skene()
  gc()
  reset_peak()
  before <- memory_status("VmRSS")
  set.seed(1)
  seconds_of_fit <- cpu(suppressWarnings(fit <- fit_raters(
    world$x, model, method = "bayes", prior = world$prior, sampling = world$sampling
  )))
  effective <- min(fit$diagnostics[, c("ess_bulk", "ess_tail")], na.rm = TRUE)
  memory <- (memory_status("VmHWM") - before) / 2^20
  x <- inside$patterns_for(model, world$x)
  task <- inside$sampler_task(x, model, inside$nothing_known,
    inside$resolve_prior(world$prior, x, model))
  options <- list(
    chains = 4L, kept = 1000L, warmup = 1000L, thin = world$thin, threads = 1L, seed = 1:2
  )
  seconds <- cpu(fit_result <- inside$run_sampler(x, task, options))
  draws <- inside$named_draws(fit_result$draws, task$terms)
  draws <- draws[, inside$is_convergence_checked(task$terms), drop = FALSE]
  c(
    sweeps = 4000 * (1 + world$thin) / seconds, effective = smallest_effective(draws) / seconds,
    fit = seconds_of_fit, fit_effective = effective / seconds_of_fit, memory = memory
  )
}

run_jags <- function(jags) {
  seconds <- cpu({
    model <- rjags::jags.model(textConnection(jags$model), jags$data, n.chains = 4, quiet = TRUE)
    stats::update(model, 1000, progress.bar = "none")
    draws <- rjags::coda.samples(model, jags$watch, 1000 * jags$thin, jags$thin,
      progress.bar = "none")
  })
  smallest_effective(do.call(rbind, lapply(draws, unclass))) / seconds
}

# The largest panel is first, because memory that smaller panels freed would reduce its increase.
worlds <- list(
  "100 000 cases x 5" = function() {
    set.seed(3)
    truth <- sample(4, 1e5, TRUE)
    answers <- vapply(1:5, function(j) {
      ifelse(runif(1e5) < 0.7, truth, sample(4, 1e5, TRUE))
    }, truth)
    list(
      x = ratings(as.data.frame(answers), raters = V1:V5), prior = rater_prior(),
      sampling = list(thin = 1), thin = 1L
    )
  },
  "Strongyloides, 2 tests" = function() {
    data <- data.frame(
      stool = c("+", "+", "-", "-"), serology = c("+", "-", "+", "-"), n = c(38, 2, 87, 35)
    )
    list(
      x = ratings(data, raters = stool:serology, weights = n, categories = c("-", "+")),
      prior = rater_prior(
        stool = list(sens = list(4.44, 13.31), spec = list(71.25, 3.75)),
        serology = list(sens = list(21.96, 5.49), spec = list(4.1, 1.76)), order = "none"
      ),
      sampling = list(), thin = 16L,
      jags = list(
        model = "model {
          n[1:4] ~ dmulti(p[1:4], N)
          p[1] <- r * a * b + (1 - r) * (1 - c) * (1 - d)
          p[2] <- r * a * (1 - b) + (1 - r) * (1 - c) * d
          p[3] <- r * (1 - a) * b + (1 - r) * c * (1 - d)
          p[4] <- r * (1 - a) * (1 - b) + (1 - r) * c * d
          r ~ dbeta(1, 1); a ~ dbeta(4.44, 13.31); b ~ dbeta(21.96, 5.49)
          c ~ dbeta(71.25, 3.75); d ~ dbeta(4.1, 1.76)
        }",
        data = list(n = data$n, N = sum(data$n)), watch = c("r", "a", "b", "c", "d"), thin = 16
      )
    )
  },
  "Hui-Walter, 2 populations" = function() {
    data <- data.frame(
      mantoux = c("+", "+", "-", "-"), tine = c("+", "-"), site = rep(c("1", "2"), each = 4),
      n = c(14, 4, 9, 528, 887, 31, 37, 367)
    )
    beta <- list(sens = list(2, 1), spec = list(2, 1))
    list(
      x = ratings(data, raters = mantoux:tine, weights = n, covariates = site,
        categories = c("-", "+")),
      prior = rater_prior(others = beta, order = "none"),
      model = rater_model("rater", "free", base_rates = ~site), sampling = list(), thin = 2L,
      jags = list(
        model = "model {
          for (s in 1:2) {
            n[s, 1:4] ~ dmulti(p[s, 1:4], N[s])
            p[s, 1] <- r[s] * a * b + (1 - r[s]) * (1 - c) * (1 - d)
            p[s, 2] <- r[s] * a * (1 - b) + (1 - r[s]) * (1 - c) * d
            p[s, 3] <- r[s] * (1 - a) * b + (1 - r[s]) * c * (1 - d)
            p[s, 4] <- r[s] * (1 - a) * (1 - b) + (1 - r[s]) * c * d
            r[s] ~ dbeta(1, 1)
          }
          a ~ dbeta(2, 1); b ~ dbeta(2, 1); c ~ dbeta(2, 1); d ~ dbeta(2, 1)
        }",
        data = list(n = matrix(data$n, 2, byrow = TRUE), N = c(555, 1322)),
        watch = c("r", "a", "b", "c", "d"), thin = 2
      )
    )
  },
  "dawid1979, 5 clinicians" = function() {
    once <- dawid1979[!duplicated(dawid1979[c("case", "rater")]), ]
    list(
      x = ratings(once, case = case, rater = rater, rating = rating),
      prior = rater_prior(others = 1 + diag(1, 4), order = "none"),
      sampling = list(), thin = 8L,
      jags = list(
        model = "model {
          for (i in 1:45) { z[i] ~ dcat(r[1:4])
            for (j in 1:5) { y[i, j] ~ dcat(p[j, z[i], 1:4]) } }
          r[1:4] ~ ddirch(one[1:4])
          for (j in 1:5) { for (k in 1:4) { p[j, k, 1:4] ~ ddirch(own[k, 1:4]) } }
        }",
        data = list(
          y = tapply(as.integer(once$rating), list(once$case, once$rater), identity),
          one = rep(1, 4), own = 1 + diag(1, 4)
        ), watch = c("r", "p"), thin = 8
      )
    )
  },
  "crowd, 2000 cases x 5 of 150" = function() {
    set.seed(2)
    truth <- sample(4, 2000, TRUE)
    rows <- do.call(rbind, lapply(1:2000, function(case) {
      chosen_raters <- sample(150, 5)
      wrong <- runif(5) > 0.7
      data.frame(case = case, rater = chosen_raters,
        rating = ifelse(wrong, sample(4, 5, TRUE), truth[[case]]))
    }))
    list(
      x = ratings(rows, case = case, rater = rater, rating = rating), prior = rater_prior(),
      sampling = list(thin = 1), thin = 1L
    )
  }
)

# ---- Real data ----------------------------------------------------------------------------------

# Ratings times categories: what a sweep takes. 2 chains of 1000 draws, next to each other.
most_work <- 7e4

real <- function(root, other_prior = "partial") {
  index <- utils::read.csv(file.path(root, "real", "index.csv"))
  index <- index[!is.na(index$system_accuracy), ]
  small <- index$ratings * index$N <= most_work
  cat("Not run, ratings times categories above", most_work, ":",
    toString(unique(index$set[!small])), "\n")
  sets <- unique(index[small, c("set", "ratings", "N")])
  rows <- lapply(sets$set[order(sets$ratings * sets$N)], function(set) {
    set.seed(1)
    x <- suppressWarnings(read_ratings(file.path(root, "real", set)))
    known <- index[index$set == set, ]
    seconds <- cpu(runs <- suppressWarnings(runs_of_set(x, other_prior)))
    rows <- do.call(rbind, Map(function(table, run) {
      table <- table[match(known$system, table$system), ]
      truth <- known$system_accuracy
      data.frame(
        set = set, system = known$system, run = run, error = table$estimate - truth,
        absolute = abs(table$estimate - truth),
        covered = table$conf.low <= truth & truth <= table$conf.high,
        width = table$conf.high - table$conf.low
      )
    }, runs, names(runs)))
    rows <- rows[!rows$system %in% rows$system[is.na(rows$width)], ]
    mean_of <- function(column) {
      toString(sprintf("%.2f", tapply(rows[[column]], rows$run, mean)[names(runs)]))
    }
    cat(sprintf("%-20s %4.0f s  covered %s  width %s\n", set, seconds, mean_of("covered"),
      mean_of("width")))
    rows
  })
  say_means(do.call(rbind, rows))
}

# Both ends are drawn once; `common` is a function of them.
runs_of_set <- function(x, other_prior) {
  fit <- fit_raters(x, dawid_skene(), method = "bayes", prior = rater_prior(others = other_prior),
    sampling = list(draws = 200, chains = 2, warmup = 100, thin = 1))
  fit$sampling[c("kept", "warmup")] <- list(1000L, 500L)
  end_draws <- inside$draw_accuracies(fit)
  fit$posterior <- end_draws$posterior
  limits_with <- function(common) {
    accuracy <- inside$mix_draws(fit, end_draws, list(common = common))$accuracy
    limits <- apply(accuracy, 2L, stats::quantile, c(0.05, 0.95))
    data.frame(
      system = x$systems, estimate = colMeans(accuracy), conf.low = limits[1L, ],
      conf.high = limits[2L, ]
    )
  }
  list(
    none = limits_with("none"), all = limits_with("all"), typical = limits_with("typical"),
    default = tidy(estimate_accuracy(x))
  )
}

say_means <- function(rows) {
  for (run in unique(rows$run)) {
    run_rows <- rows[rows$run == run, ]
    sets <- stats::aggregate(run_rows[-(1:3)], run_rows["set"], mean)[-1L]
    summaries <- vapply(sets, function(v) {
      sprintf("%.3f (%.3f)", mean(v), stats::sd(v) / sqrt(length(v)))
    }, "")
    cat(sprintf("%-8s %d sets, %d systems: %s; covered of systems %.3f\n", run, nrow(sets),
      nrow(run_rows), toString(paste(names(summaries), summaries)), mean(run_rows$covered)))
  }
}

arguments <- commandArgs(TRUE)
if (identical(arguments[1L], "real")) {
  do.call(real, as.list(c(Sys.getenv("FALLIBLE_DATA"), arguments[-1L])))
} else {
  do.call(main, as.list(arguments))
}
