# Replicates of whatever is computed in R: cases, or clusters of them, are drawn anew. Nothing else
# in R draws cases. The core draws, from a stream for each replicate, so that what R computes and
# what the core computes are of the same draws.

# How to draw, for R and for the core: what a unit is (a pattern of ratings, or a case), how many
# cases each has, clusters (NULL: cases are drawn one by one) and the seed of all replicates.
resampling <- function(x, options, unit = "pattern") {
  if (unit == "case") {
    new_resampling(weights_of_cases(x), options, clusters_of(x, options, seq_along(x$index)))
  } else {
    new_resampling(pattern_weights(x), options, clusters_of(x, options, x$index))
  }
}

clusters_of <- function(x, options, unit_of_case) {
  if (!is.null(options$cluster)) {
    list(pattern = unit_of_case, weight = weights_of_cases(x), cluster = options$cluster)
  }
}

new_resampling <- function(weight, options, clusters = NULL) {
  list(
    replicates = options$replicates, threads = options$threads,
    seed = options$seed %||% draw_seed(), weight = weight, clusters = clusters
  )
}

# R's generator decides, once, so that set.seed() works whatever the number of threads.
draw_seed <- function() sample.int(.Machine$integer.max, 2L)

# A list of what `run`, a function of how often each unit was drawn, gives for each replicate. What
# it draws itself depends on the seed alone. `size`: number of cases to draw, if not all.
resampled <- function(run, resampling, name = "Bootstrap", size = NaN, tick = NULL) {
  bar <- if (is.null(tick)) progress_bar(name, resampling$replicates) else list(tick = tick)
  sampler <- core_resampler(resampling$weight, resampling$clusters)
  values <- withr::with_seed(resampling$seed[[1L]], {
    lapply(seq_len(resampling$replicates), function(i) {
      bar$tick(i)
      run(core_resample(sampler, resampling$seed, i - 1, size))
    })
  })
  if (is.null(tick)) bar$close()
  values
}
