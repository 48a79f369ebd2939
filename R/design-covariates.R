# Covariates of designed cases: kinds of cases, on which accuracy may depend.

# A list: strata (see check_strata()), covariates (a tibble, a row per kind), matrices (a list by
# judge, of a matrix for each kind) and judges (whose accuracy depends on the kind). Empty without
# covariates.
design_kinds <- function(covariates, difficulty, judges, labels, dispersion, given) {
  if (is.null(covariates)) return(list(strata = difficulty))
  check_kinds(covariates, difficulty, judges, given)
  by_kind <- intersect(judges, names(covariates))
  kept <- covariates[setdiff(names(covariates), c("weight", by_kind))]
  for (name in names(kept)) check_covariate(kept[[name]], name)
  list(
    strata = data.frame(shift = 0, weight = covariates$weight),
    covariates = tibble::as_tibble(kept), judges = by_kind,
    matrices = lapply(covariates[by_kind], lapply, even_matrix, length(labels), dispersion)
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
  others <- setdiff(names(covariates), "weight")
  reserved <- intersect(others, reserved_names)
  ok <- is.numeric(weight) && isTRUE(all(weight >= 0)) && abs(sum(weight) - 1) <= 1e-8 &&
    !all(others %in% judges) && length(reserved) == 0L
  abort_argument_if(!ok, "covariates",
    "must be a data frame with a row per kind of case: {.val weight}, probabilities that sum to one,
        columns of covariates, and columns with names of raters or systems.",
    x = if (length(reserved) > 0L) "A covariate cannot be called {reserved[[1L]]}." else
      if (is.numeric(weight)) "Weights are {format(weight, digits = 4L)}." else
        "It is {describe(covariates)}.")
  for (judge in intersect(judges, others)) check_probabilities(covariates[[judge]], judge, 1L)
  abort_argument_if(!identical(difficulty, 0), "difficulty",
    "{.arg difficulty} cannot be combined with {.arg covariates}.",
    i = "Give accuracies of raters and systems for each kind of case in {.arg covariates}.")
  twice <- intersect(others, given)
  abort_argument_if(twice, "matrices",
    "{.arg matrices} and {.arg covariates} must name different raters and systems.",
    x = "Both have {.val {twice}}.")
}
