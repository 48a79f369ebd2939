# Bounds of accuracy given a fit: bias of both bounds, and how often the confidence set contains the
# true range (of the distribution from which panels are drawn).
#
#   Rscript bench/bounds.R [output.csv] [panels] [replicates]
#
# Panels of the K-model with equal base rates. The true range is computed from all patterns with
# their exact probabilities. `size` is the least size of a group of patterns in cases: single
# patterns, the default, and all cases in one group.

library(fallible)

seed <- 20150503L
settings <- data.frame(
  categories = c(2L, 2L, 3L, 5L, 5L), accuracy = c(0.7, 0.8, 0.7, 0.6, 0.8), system = 0.9
)
sizes <- list(single = function(n) 1, default = function(n) 4 * sqrt(n), all = function(n) 1e9)

main <- function(output = NULL, panels = "100", replicates = "100") {
  todo <- expand.grid(setting = seq_len(nrow(settings)), n = c(200L, 1000L), size = names(sizes))
  rows <- Map(function(setting, n, size) {
    design <- settings[setting, ]
    study_setting(design, n, as.character(size), as.integer(panels), as.integer(replicates))
  }, todo$setting, todo$n, todo$size)
  table <- do.call(rbind, rows)
  print(table, digits = 3, row.names = FALSE)
  if (!is.null(output)) write_table(table, output, as.integer(replicates))
}

write_table <- function(table, file, replicates) {
  table[] <- lapply(table, function(x) if (is.double(x)) signif(x, 4L) else x)
  provenance <- data.frame(
    seed = seed, replicates = replicates, date = format(Sys.Date()),
    fallible = format(utils::packageVersion("fallible")), r = format(getRversion())
  )
  utils::write.csv(cbind(table, provenance), file, row.names = FALSE)
}

study_setting <- function(design, n, size, panels, replicates) {
  law <- exact_range(design)
  results <- do.call(rbind, lapply(seq_len(panels), function(run) {
    set.seed(seed + run)
    x <- simulate_ratings(rater_design(
      rep(design$accuracy, 3L), design$system, design$categories, n,
      base_rates = rep(1 / design$categories, design$categories)
    ))
    study_panel(x, sizes[[size]](n), law, replicates)
  }))
  cbind(
    design, n = n, size = size, lowest = law[[1L]], highest = law[[2L]], panels = nrow(results),
    as.data.frame(t(colMeans(results, na.rm = TRUE)))
  )
}

study_panel <- function(x, size, law, replicates) {
  bounds <- suppressWarnings(
    accuracy_bounds(x, group_size = size, resampling = list(replicates = replicates)), classes = "fallible_warning"
  )
  table <- tidy(bounds)
  data.frame(
    bias_low = table$lowest - law[[1L]], bias_high = table$highest - law[[2L]],
    covered = table$conf.low <= law[[1L]] && table$conf.high >= law[[2L]],
    covered_low = table$conf.low <= law[[1L]], covered_high = table$conf.high >= law[[2L]],
    width = table$conf.high - table$conf.low
  )
}

# True range of the accuracy, from all patterns with their probabilities.
exact_range <- function(design) {
  n <- design$categories
  all <- expand.grid(rep(list(seq_len(n)), 5L))
  names(all) <- c("truth", "r1", "r2", "r3", "s")
  law <- function(answer, accuracy) {
    ifelse(answer == all$truth, accuracy, (1 - accuracy) / (n - 1))
  }
  weight <- law(all$r1, design$accuracy) * law(all$r2, design$accuracy) * law(all$r3,
    design$accuracy) *
    law(all$s, design$system) / n
  patterns <- stats::aggregate(list(weight = weight), all[-1L], sum)
  x <- ratings(patterns, raters = r1:r3, systems = s, weights = weight)
  unlist(tidy(accuracy_bounds(x))[c("lowest", "highest")])
}

if (sys.nframe() == 0L) do.call(main, as.list(commandArgs(trailingOnly = TRUE)))
