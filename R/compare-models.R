#' Compare Bayesian models of the same ratings
#'
#' Compares how well models predict a new case, and their estimates of base rates and raters. The
#' models may differ in the dependence of errors (shared errors) or otherwise. Ratings often cannot
#' distinguish models with different accuracies (Albert and Dodd, 2004). A warning of class
#' `fallible_warning_dependence` then reports how far they differ; report all of them. A model that
#' predicts better need not be more accurate: on public data with known truth, choosing the
#' dependence by its fit made estimates of systems' accuracies worse.
#'
#' @param ... [fit_raters()] results with `method = "bayes"` for the same ratings, with or without
#'   names. A single fit is refitted under all forms of dependence that its ratings and priors
#'   allow: none, `"easy"`, and the pairs of its model.
#' @return An object of class `model_comparison`. `tidy()` has a row per model, the best first:
#'   `model`; `elpd`, the expected log predictive density of all cases by WAIC, with `std.error`;
#'   `parameters`, their effective number; `difference` from the best and its standard error over
#'   cases, `difference.error`; `undecided`, whether the difference is within 4 units or two
#'   standard errors. `tidy(x, "terms")` has a row per parameter common to all models: `term`, its
#'   posterior median under each model, and `lowest` and `highest` over undecided models.
#'   `glance()`: the numbers of `models` and of `undecided` models, and the `best`.
#' @family estimation
#' @inherit rater_model references
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.7, 0.8, 0.8, 0.9), categories = c("-", "+"), n = 300))
#' sampling <- list(draws = 1000)
#' fit <- fit_raters(x, dawid_skene(), method = "bayes", sampling = sampling)
#' compare_models(fit)
#' @export
compare_models <- function(...) {
  fits <- list(...)
  abort_argument_if(length(fits) == 0L, "...", "There is no model to compare.")
  for (fit in fits) {
    check_class(fit, "draws_fit", "...", "Make them with {.code fit_raters(method = \"bayes\")}.")
  }
  if (length(fits) == 1L) fits <- fits_of_all_laws(fits[[1L]])
  check_same_ratings(fits)
  given <- names2(fits)
  names <- ifelse(given == "", vapply(fits, function(fit) format(fit$model), ""), given)
  names(fits) <- make.unique(names, sep = " ")
  models <- compared_table(fits)
  fits <- fits[models$model]
  terms <- compared_terms(fits, models)
  warn_undecided(fits[models$undecided], terms)
  new_model_comparison(models, terms, fits)
}

# Refits the model with each type of dependence between raters (none, easy cases, the given pairs)
# and the same priors. Leaves out models that cannot be fitted.
fits_of_all_laws <- function(fit) {
  given <- fit$model$dependence
  laws <- list(NULL, list(type = "easy"))
  if (length(given$pairs) > 0L) laws <- c(laws, list(given))
  fits <- lapply(laws, function(law) {
    if (identical(law$type, given$type)) return(fit)
    model <- fit$model
    model["dependence"] <- list(law)
    able <- is.null(law) || fit$prior$others != "partial" && tryCatch({
      check_learnable(fit$x, model, nrow(fit$prior$base_rates), fit$named)
      TRUE
    }, fallible_error_prior = function(e) FALSE)
    sampling <- replace(fit$sampling, "thin", list(NULL))
    if (able) fit_settled(fit$x, model, fit$known, fit$prior, sampling, fit$seed)
  })
  drop_null(fits)
}

check_same_ratings <- function(fits) {
  data <- lapply(fits, function(fit) {
    list(fit$x$cases, fit$x$raters, as.data.frame(fit$x), fit$given$truth)
  })
  off <- which(!vapply(data, identical, NA, data[[1L]]))
  abort_argument_if(off, "...",
    "Models are compared on the same ratings and known truths.",
    x = "Those of fit {off[[1L]]} are others than those of the first.")
}

compared_table <- function(fits) {
  criteria <- lapply(fits, criteria_of_fit)
  waic <- stack_rows(criteria, function(fit) fit$table[1L, ])
  best <- criteria[[which.max(waic$elpd)]]
  # Differences by case; models may divide the cases into different patterns.
  gaps <- vapply(criteria, function(fit) {
    known <- !is.na(best$of_case) & !is.na(fit$of_case)
    sum_over_cases((fit$of_case - best$of_case)[known], weights_of_cases(fits[[1L]]$x)[known])
  }, c(estimate = 0, std.error = 0))
  table <- tibble::tibble(
    model = names(fits), waic[c("elpd", "std.error", "parameters")],
    difference = unname(gaps["estimate", ]), difference.error = unname(gaps["std.error", ])
  )
  table$undecided <- -table$difference <= pmax(4, 2 * table$difference.error)
  table[order(-table$elpd), ]
}

# `fits`: in the order of `models`.
compared_terms <- function(fits, models) {
  terms <- Reduce(intersect, lapply(fits, function(fit) {
    fit$terms$term[is_watched(fit$terms) & !is_shared_term(fit$terms$term)]
  }))
  medians <- lapply(fits, function(fit) {
    unname(apply(fit$draws[, terms, drop = FALSE], 2L, stats::median))
  })
  open <- unname(medians[models$undecided])
  tibble::tibble(
    term = terms, !!!medians, lowest = do.call(pmin, open), highest = do.call(pmax, open)
  )
}

# Warns if undecided models differ by more than the threshold for prior sensitivity.
warn_undecided <- function(open, terms) {
  if (length(open) < 2L) return(invisible())
  spread <- do.call(pmax, lapply(unname(open), function(fit) {
    apply(fit$draws[, terms$term, drop = FALSE], 2L, stats::sd)
  }))
  off <- terms[terms$highest - terms$lowest > most_shift * spread, ]
  shown <- head(off, 4L)
  warn_if(nrow(off) > 0L, "dependence",
    "These ratings cannot distinguish models that disagree: report all of them.",
    x = verbatim(shown$term, ": ", decimals(shown$lowest), " to ", decimals(shown$highest)),
    i = "Only known truths can decide.", terms = off$term)
}

new_model_comparison <- function(models, terms, fits) {
  open <- sum(models$undecided)
  shown <- models
  shown$model <- paste(seq_len(nrow(models)), models$model)
  shown$difference <- round(models$difference, 1L) + 0 # not -0.0
  medians <- c("term", models$model)
  names(medians) <- c("posterior median", paste("model", seq_len(nrow(models))))
  new_result("model_comparison",
    fits = fits, tables = list(models = models, terms = terms),
    facts = list(models = nrow(models), undecided = open, best = models$model[[1L]]),
    line = paste0(
      "Best prediction: ", models$model[[1L]], "; ", open, " of ",
      count_noun(nrow(models), "model"), " undecided"
    ),
    shown = list(
      view(shown, c("model", "elpd", SE = "std.error", "difference", `its SE` = "difference.error",
        "undecided"), 1L),
      view(terms, medians, most = 15L)
    ),
    notes = "elpd: expected log predictive density by WAIC. Undecided: within 4 units or two
     standard errors of the best. A better fit is no better accuracy: report all, and ask known
     truths.",
    more = "tidy(what = \"terms\"), plot()"
  )
}
