# Covariates of designed cases: kinds of cases, on which accuracy may depend.

# A list: strata (see check_strata()), covariates (a tibble, a row per kind), matrices (a list by
# judge, of a matrix for each kind) and judges (whose accuracy depends on the kind). Empty without
# covariates.
design_kinds <- function(covariates, difficulty, judges, labels, dispersion, given) {
  if (is.null(covariates)) return(list(strata = difficulty))
  check_kinds(covariates, difficulty, judges, given)
  by_kind <- intersect(judges, names(covariates))
  for (judge in by_kind) check_accuracy_by_kind(covariates[[judge]], judge)
  kept <- covariates[setdiff(names(covariates), c("weight", by_kind))]
  for (name in names(kept)) check_covariate(kept[[name]], name)
  list(
    strata = data.frame(shift = 0, weight = covariates$weight),
    covariates = tibble::as_tibble(kept), judges = by_kind,
    matrices = lapply(stats::setNames(nm = by_kind), function(judge) {
      lapply(covariates[[judge]], even_matrix, n = length(labels), dispersion = dispersion)
    })
  )
}

# Right with the same probability whatever is true; errors by distance.
even_matrix <- function(accuracy, n, dispersion) {
  out <- dispersion^-abs(outer(seq_len(n), seq_len(n), `-`))
  diag(out) <- 0
  out <- out * (1 - accuracy) / rowSums(out)
  diag(out) <- accuracy
  out
}

check_kinds <- function(covariates, difficulty, judges, given) {
  weight <- if (is.data.frame(covariates)) covariates[["weight"]]
  fault <- if (!is.data.frame(covariates) || nrow(covariates) == 0L) {
    paste("It is", describe(covariates))
  } else if (!is.numeric(weight) || anyNA(weight) || any(weight < 0) ||
    abs(sum(weight) - 1) > 1e-8) {
    if (is.numeric(weight)) {
      paste0("Weights are ", toString(format(weight, digits = 4L)))
    } else {
      "It lacks the column weight"
    }
  } else if (length(setdiff(names(covariates), c("weight", judges))) == 0L) {
    "It has no column that is not `weight`, a rater or a system"
  } else if (any(reserved_names %in% setdiff(names(covariates), "weight"))) {
    found <- intersect(names(covariates), setdiff(reserved_names, "weight"))
    paste("A covariate cannot be called", found[[1L]])
  }
  abort_argument_if(!is.null(fault), "covariates",
    "must be a data frame with a row per kind of case: {.val weight}, probabilities that sum to one,
        columns of covariates, and columns with names of raters or systems.", x = "{fault}.")
  abort_argument_if(!identical(difficulty, 0), "difficulty",
    "{.arg difficulty} cannot be combined with {.arg covariates}.",
    i = "Give accuracies of raters and systems for each kind of case in {.arg covariates}.")
  twice <- intersect(names(covariates), given)
  abort_argument_if(length(twice) > 0L, "matrices",
    "{.arg matrices} and {.arg covariates} must name different raters and systems.",
    x = "Both have {.val {twice}}.")
}

check_accuracy_by_kind <- function(accuracy, judge) {
  abort_argument_if(!is.numeric(accuracy) || anyNA(accuracy) || any(accuracy < 0 | accuracy > 1),
    "covariates", "Accuracies in {.arg covariates} must be probabilities in [0, 1].",
    x = "Those of {.val {judge}} are {describe(accuracy)}.")
}

kinds_words <- function(design) {
  if (is.null(design$covariates)) return(NULL)
  names <- shorten(names(design$covariates))
  if (length(design$by_kind) == 0L) return(NULL)
  paste0("accuracy of ", shorten(design$by_kind), " depends on ", names)
}
