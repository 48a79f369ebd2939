# Cases in clusters: `cluster` of estimate_accuracy().

# Clusters as integers; NULL stays.
number_clusters <- function(cluster) if (!is.null(cluster)) match(cluster, unique(cluster))

# Clusters with a case that counts: rated, with some weight.
count_clusters <- function(estimate) {
  x <- estimate$fit$x
  counts <- judged_patterns(estimate$fit)[x$index] & (x$weights %||% 1) > 0
  length(unique(estimate$options$cluster[counts]))
}

one_cluster <- "all rated cases are in one cluster"

is_one_cluster <- function(estimate) {
  !is.null(estimate$options$cluster) && count_clusters(estimate) < 2L
}

# What was drawn, for notes.
resampling_note <- function(estimate) {
  if (is.null(estimate$options$cluster)) return("case bootstrap")
  n <- count_clusters(estimate)
  paste0("bootstrap of ", count_noun(n, "cluster"), if (n < few_clusters) " (few, so too short)")
}

few_clusters <- 20L

# By how much clusters widen the sampling error of each system: of the joint estimate, whose
# bootstrap is cheap, with clusters and with cases drawn.
cluster_widening <- function(estimate) {
  options <- estimate$options
  if (is.null(options$cluster)) return(1)
  options$seed <- draw_seed()
  estimator <- make_estimator(estimate$fit, method_joint, options)
  error <- function(options) {
    draw <- resampling(estimate$fit$x, options)
    apply(replicates_of(estimator, "accuracy", draw), 2L, stats::sd, na.rm = TRUE)
  }
  widening <- error(options) / error(options[names(options) != "cluster"])
  ifelse(is.finite(widening), widening, 1)
}
