# Posterior draws: sweeps and effective draws per CPU second, beside JAGS where package rjags is
# installed (Debian: r-cran-rjags), in one run and one process.
#
#   Rscript bench/bayes.R
#   FALLIBLE_DATA=/path Rscript bench/bayes.R real
#
# With `real`: do 90% intervals of estimate_accuracy() of such a fit cover the accuracy of systems, on
# the sets of $FALLIBLE_DATA/real with no more than 30 000 ratings, and how wide are they beside
# those of the default? Means are over sets, with their standard errors.
#
# Effective draws are those of the worst parameter, the smaller of bulk and tail. JAGS has the same
# priors and as many kept draws, its tables as multinomial counts, case by case elsewhere.
library(fallible)

inside <- asNamespace("fallible")

main <- function() {
  for (name in names(worlds)) {
    world <- worlds[[name]]()
    ours <- run_ours(world)
    cat(sprintf(
      "%-28s %9s sweeps/s %8s effective draws/s", name, show(ours$sweeps), show(ours$ess)
    ))
    theirs <- if (!is.null(world$jags) && requireNamespace("rjags", quietly = TRUE)) {
      run_jags(world$jags)
    }
    if (!is.null(theirs)) cat(sprintf("   JAGS %8s, ratio %.1f", show(theirs), ours$ess / theirs))
    cat("\n")
  }
}

show <- function(x) format(signif(x, 3), big.mark = ",", scientific = FALSE)

cpu <- function(code) sum(system.time(code)[c("user.self", "sys.self")])

run_ours <- function(world) {
  set.seed(1)
  seconds <- cpu(fit <- suppressWarnings(fit_raters(
    world$x, dawid_skene(), method = "bayes", prior = world$prior, sampling = world$sampling
  )))
  # Without what R does around it.
  task <- inside$sampler_task(world$x, dawid_skene(), inside$nothing_known,
    inside$settle_prior(world$prior, world$x, dawid_skene()))
  options <- list(
    chains = 1L, kept = 10L, warmup = world$sweeps, thin = 1L, threads = 1L, seed = 1:2,
    log_likelihood = FALSE
  )
  alone <- cpu(inside$core_draw_posterior(
    world$x$patterns, inside$pattern_weights(world$x), task$truth, task$population, FALSE,
    task$prior, options, inside$no_tick
  ))
  list(sweeps = world$sweeps / alone, ess = glance(fit)$worst_ess / seconds)
}

run_jags <- function(jags) {
  seconds <- cpu({
    model <- rjags::jags.model(textConnection(jags$model), jags$data, n.chains = 4, quiet = TRUE)
    stats::update(model, 1000, progress.bar = "none")
    draws <- rjags::coda.samples(model, jags$watch, 1000 * jags$thin, jags$thin,
      progress.bar = "none")
  })
  ess <- vapply(colnames(draws[[1]]), function(term) {
    min(inside$diagnose(vapply(draws, function(chain) as.vector(chain[, term]), numeric(1000)))[2:3])
  }, 0)
  min(ess, na.rm = TRUE) / seconds
}

worlds <- list(
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
      sampling = list(), sweeps = 1e6L,
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
        data = list(n = data$n, N = sum(data$n)), watch = c("r", "a", "b", "c", "d"), thin = 8
      )
    )
  },
  "dawid1979, 5 clinicians" = function() {
    once <- dawid1979[!duplicated(dawid1979[c("case", "rater")]), ]
    list(
      x = ratings(once, case = case, rater = rater, rating = rating),
      prior = rater_prior(others = 1 + diag(1, 4), order = "none"),
      sampling = list(), sweeps = 1e5L,
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
        ), watch = c("r", "p"), thin = 4
      )
    )
  },
  "crowd, 2000 cases x 5 of 150" = function() {
    set.seed(2)
    truth <- sample(4, 2000, TRUE)
    rows <- do.call(rbind, lapply(1:2000, function(case) {
      who <- sample(150, 5)
      wrong <- runif(5) > 0.7
      data.frame(case = case, rater = who,
        rating = ifelse(wrong, sample(4, 5, TRUE), truth[[case]]))
    }))
    list(
      x = ratings(rows, case = case, rater = rater, rating = rating), prior = rater_prior(),
      sampling = list(thin = 1), sweeps = 5000L
    )
  }
)

# ---- Real data ----------------------------------------------------------------------------------

real <- function(root) {
  index <- utils::read.csv(file.path(root, "real", "index.csv"))
  index <- index[!is.na(index$system_accuracy) & index$ratings <= 30000, ]
  rows <- lapply(unique(index$set), function(set) {
    set.seed(1)
    x <- suppressWarnings(read_ratings(file.path(root, "real", set)))
    known <- index[index$set == set, ]
    prior <- rater_prior(others = "partial")
    fit <- suppressWarnings(fit_raters(x, dawid_skene(), method = "bayes", prior = prior,
      sampling = list(draws = 1000, thin = 2)))
    runs <- list(
      "none in common" = estimate_accuracy(fit, common = "none"),
      "all in common" = estimate_accuracy(fit, common = "all"),
      "typical" = estimate_accuracy(fit),
      "default" = suppressWarnings(estimate_accuracy(x))
    )
    do.call(rbind, Map(function(run, name) {
      table <- tidy(run)[match(known$system, tidy(run)$system), ]
      truth <- known$system_accuracy
      data.frame(
        set = set, run = name, error = mean(table$estimate - truth, na.rm = TRUE),
        absolute = mean(abs(table$estimate - truth), na.rm = TRUE),
        covered = mean(table$conf.low <= truth & truth <= table$conf.high, na.rm = TRUE),
        width = mean(table$conf.high - table$conf.low, na.rm = TRUE)
      )
    }, runs, names(runs)))
  })
  rows <- do.call(rbind, rows)
  for (run in unique(rows$run)) {
    of <- rows[rows$run == run, ]
    said <- vapply(of[c("error", "absolute", "covered", "width")], function(v) {
      sprintf("%.3f (%.3f)", mean(v), stats::sd(v) / sqrt(length(v)))
    }, "")
    cat(sprintf("%-15s %d sets  bias %s  absolute %s  covered %s  width %s\n", run, nrow(of),
      said[[1]], said[[2]], said[[3]], said[[4]]))
  }
}

if (identical(commandArgs(TRUE), "real")) real(Sys.getenv("FALLIBLE_DATA")) else main()
