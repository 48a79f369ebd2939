#' @srrstats {G5.9, G5.9b} another seed, results within their errors
#' @srrstatsNA {G5.9a} categories have no noise at the scale of eps
# Every verb that draws takes one seed from the user's stream, whatever it draws, and draws clusters
# whole.

# Each of 60 cases six times: with the copies of a case as a cluster, errors are sqrt(6) as large.
copies <- function() {
  part <- simulate_ratings(rater_design(c(0.7, 0.75, 0.8), c(a = 0.8), 3, 60))
  part[rep(1:60, each = 6), ]
}

first_says <- function(x) {
  said <- as.data.frame(x)
  answers <- as.data.frame(x, what = "systems")$prediction
  data.frame(system = x$systems, estimate = mean(said$rating[said$rater == x$raters[[1]]] == answers))
}

# Functions of ratings and clusters that give a table with a standard error or limits.
drawing <- list(
  `a compiled method` = function(x, cluster) {
    tidy(estimate_accuracy(x, "unbinned", interval = "bootstrap", resampling = list(replicates = 60, cluster = cluster)))
  },
  `a latent class model` = function(x, cluster) {
    tidy(estimate_accuracy(x, "joint", interval = "bootstrap", resampling = list(replicates = 60, cluster = cluster)))
  },
  `a function of the user's` = function(x, cluster) {
    tidy(estimate_accuracy(x, method = first_says, resampling = list(replicates = 60, cluster = cluster)))
  },
  `a posterior of the user's` = function(x, cluster) {
    fit <- fit_raters(x)
    own <- as_rater_fit(x, ground_truth(fit), rates_of(fit))
    tidy(estimate_accuracy(own, "shared", interval = "bootstrap", resampling = list(replicates = 60, cluster = cluster)))
  },
  metrics = function(x, cluster) {
    tidy(estimate_metrics(x, "bal_accuracy", method = "joint", interval = "bootstrap",
      resampling = list(replicates = 60, cluster = cluster)))
  },
  bounds = function(x, cluster) {
    estimate <- estimate_accuracy(x, "unbinned", interval = "none", resampling = list(cluster = cluster))
    out <- tidy(accuracy_bounds(estimate, resampling = list(replicates = 60)))
    out$std.error <- out$conf.high - out$conf.low - (out$highest - out$lowest)
    out
  },
  agreement = function(x, cluster) {
    agreement(x, "fleiss_kappa", interval = "bootstrap", resampling = list(replicates = 60))
  },
  `checks of the K-properties` = function(x, cluster) {
    tidy(check_k_properties(x, "accuracy", resampling = list(replicates = 19)))
  }
)

test_that("whatever is drawn, the user's stream moves by one seed", {
  set.seed(1)
  x <- copies()
  next_number <- function(code) {
    set.seed(2)
    force(code)
    stats::runif(1)
  }
  moved <- vapply(drawing, function(draw) next_number(quiet(draw(x, NULL))), 0)
  expect_identical(names(drawing)[moved != next_number(draw_seed())], character())
})

test_that("clusters are drawn whole", {
  set.seed(1)
  x <- copies()
  clustered <- setdiff(names(drawing), c("agreement", "checks of the K-properties"))
  wider <- vapply(drawing[clustered], function(draw) {
    width <- function(cluster) {
      set.seed(3)
      quiet(draw(x, cluster))$std.error[[1]]
    }
    width(data.frame(case = 1:60, cluster = 1:60)) / width(NULL)
  }, 0)
  # A standard deviation of 60 draws has a standard error of 9%.
  expect_identical(names(wider)[wider < 1.4], character())
  expect_lt(max(wider), 3.5)
})
