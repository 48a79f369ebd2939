# Starts two processes of package future until the test ends. They are needed even where R may use
# only one core; package parallelly would warn there.
local_workers <- function(strategy = "multisession", env = parent.frame()) {
  skip_if_not_installed("future")
  withr::local_options(parallelly.maxWorkers.localhost = c(Inf, Inf), .local_envir = env)
  before <- future::plan(strategy, workers = 2)
  withr::defer(future::plan(before), envir = env)
}

# Returns the answers as a data frame with one row per case, and one column per rater and system.
answers_of <- function(x) {
  cells <- rbind(
    stats::setNames(as.data.frame(x)[c("case", "rater", "rating")], c("case", "who", "said")),
    stats::setNames(
      as.data.frame(x, what = "systems")[c("case", "system", "prediction")], c("case", "who", "said")
    )
  )
  columns <- split(cells, factor(cells$who, unique(cells$who)))
  as.data.frame(lapply(columns, function(column) column$said[match(x$cases, column$case)]))
}

# Expects that the estimates of all methods change by less than `limit` if the same data are written
# in another way: with new names of categories (without order), with another order of cases and
# raters, or with repeated cases instead of cases of weight 2.
expect_unmoved <- function(wide, raters, systems, limit = 1e-6) {
  for (method in names(accuracy_methods)) {
    value <- function(wide, raters, ...) {
      x <- quiet(ratings(wide, raters = !!raters, systems = !!systems, ...))
      tidy(quiet(estimate_accuracy(x, method, interval = "none")))$estimate
    }
    original <- value(wide, raters)
    expect_false(anyNA(original), info = method)
    renamed <- wide
    labels <- sort(unique(unlist(wide[c(raters, systems)])))
    renamed[] <- lapply(wide, function(label) rev(letters[seq_along(labels)])[match(label, labels)])
    changed <- list(
      renamed = value(renamed, raters), cases = value(wide[rev(seq_len(nrow(wide))), ], raters),
      raters = value(wide, rev(raters))
    )
    for (change in names(changed)) {
      expect_lt(max(abs(changed[[change]] - original)), limit, label = paste(method, change))
    }
    doubled <- value(wide[rep(seq_len(nrow(wide)), 2), ], raters)
    weighted <- value(cbind(wide, weight = 2), raters, weights = "weight")
    expect_lt(max(abs(doubled - weighted)), limit, label = paste(method, "weights"))
  }
}
