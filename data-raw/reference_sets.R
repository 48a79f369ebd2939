# Estimates and true accuracies in public data sets with known truth: the data set reference_sets.
#
#   FALLIBLE_DATA=/path Rscript data-raw/reference_sets.R     (from the package root; minutes)
#
# Every set of $FALLIBLE_DATA/real with predictions of systems and truth is estimated by the default
# of estimate_accuracy(). All ratings enter; a system is estimated on the cases on which its true
# accuracy is judged. Only numbers of whole sets are kept: no case, no label, no rater.

library(fallible)
families <- new.env()
sys.source(file.path("bench", "families.R"), families) # nolint: undesirable_function.

root <- file.path(Sys.getenv("FALLIBLE_DATA"), "real")
stopifnot(dir.exists(root))

# Labels of these are in the order of the scale.
ordered_sets <- c("adult", "web_relevance")

read_strings <- function(folder, stem) {
  files <- file.path(root, folder, paste0(stem, c(".csv", ".csv.gz")))
  files <- files[file.exists(files)]
  if (length(files) > 0L) utils::read.csv(files[[1L]], colClasses = "character")
}

reference_of <- function(set) {
  systems <- read_strings(set, "systems")
  truth <- read_strings(set, "truth")
  if (is.null(systems) || is.null(truth)) {
    return(NULL)
  }
  systems$truth <- truth$truth[match(systems$case, truth$case)]
  systems <- systems[!is.na(systems$truth), ]
  file <- tempfile(fileext = ".csv")
  on.exit(unlink(file))
  utils::write.csv(systems[c("case", "system", "prediction")], file, row.names = FALSE)
  x <- read_ratings(file.path(root, set), systems = file, ordered = set %in% ordered_sets)
  found <- suppressWarnings(estimate_accuracy(x))
  right <- tapply(systems$prediction == systems$truth, systems$system, mean)
  table <- tidy(found)
  details <- tidy(found, "details")
  message(set)
  data.frame(
    family = families$family_of(set), kind = families$kind_of(set),
    categories = length(x$categories), n = table$n, truth = as.vector(right[table$system]),
    estimate = table$estimate, sampling = details$sampling, rater_error = details$rater_error,
    gap = table$independent - table$shared, independence_weight = details$independence_weight,
    dependence_weight = details$dependence_weight, base_rate_range = details$base_rate_range,
    open_share = 1
  )
}

sets <- list.dirs(root, full.names = FALSE, recursive = FALSE)
reference_sets <- do.call(rbind, lapply(sets, reference_of))
reference_sets <- reference_sets[!is.na(reference_sets$estimate), ]
rownames(reference_sets) <- NULL
numbers <- vapply(reference_sets, is.double, NA)
reference_sets[numbers] <- lapply(reference_sets[numbers], signif, digits = 6)

save(
  reference_sets,
  file = file.path("data", "reference_sets.rda"), version = 2, compress = "bzip2"
)
