#' Compare Bayesian models of the same ratings
#'
#' Compares how well Bayesian models of ratings predict the ratings of a new case, and compares
#' their estimates of base rates and of the raters' accuracies. The models may differ in the
#' dependence of errors (are errors of raters independent given the truth, or correlated?) or in
#' other assumptions.
#'
#' Ratings often cannot distinguish models with different estimates of accuracy (Albert and Dodd,
#' 2004). A warning of class `fallible_warning_dependence` then shows how much the estimates differ;
#' report all of them. A model with better predictions need not have better estimates.
#'
#' @param ... Several [fit_raters()] results with `method = "bayes"` for the same ratings. The name
#'   of an argument is used as the name of the model. A result without a name is named by a
#'   description of its model. If there is only one result, its model is fitted again with each type
#'   of `dependence` of [rater_model()] that its ratings and priors allow: independent errors, and
#'   `"easy"` (all raters are right on easy cases). The type `"pairs"` (correlated errors of named
#'   pairs) is only included if the model of the fit has it.
#' @return An object of class `model_comparison`. `tidy()` returns a tibble with a row per model,
#'   the best (with the highest `elpd`) first:
#'   * `model`: name of the model.
#'   * `elpd`, `std.error`: expected log predictive density, summed over cases, by WAIC (the widely
#'     applicable information criterion), and its standard error.
#'   * `parameters`: effective number of parameters.
#'   * `difference`, `difference.error`: `elpd` minus the `elpd` of the best model, and its standard
#'     error.
#'   * `undecided`: `TRUE` if the ratings do not distinguish the model from the best one. This is
#'     the case if the absolute difference is at most 4, or at most two standard errors.
#'
#'   `tidy(x, "terms")` returns a tibble with a row per parameter that all models have: `term`, the
#'   name; a column per model with the posterior median; `lowest` and `highest`, the range of the
#'   medians over undecided models.
#'
#'   `glance(x)` returns a tibble with one row: the numbers of `models` and of `undecided` models
#'   (the best model included), and the name of the `best` model.
#' @family models of raters
#' @references Albert, P. S. and Dodd, L. E. (2004). A cautionary note on the robustness of latent
#'   class models for estimating diagnostic error without a gold standard. *Biometrics*, 60,
#'   427-435. \doi{10.1111/j.0006-341X.2004.00187.x}
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.7, 0.8, 0.8, 0.9), categories = c("-", "+"), n = 300))
#' sampling <- list(draws = 1000)
#' fit <- fit_raters(x, dawid_skene(), method = "bayes", sampling = sampling)
#' # The model with independent errors and the model with easy cases
#' compare_models(fit)
#' @export
compare_models <- function(...) {
  fits <- list(...)
  abort_argument_if(length(fits) == 0L, "...", "Give at least one fitted model to compare.")
  for (fit in fits) check_draws_fit(fit, "...", "Compare fits by likelihood with {.fun AIC}.")
  if (length(fits) == 1L) fits <- fits_of_all_dependences(fits[[1L]])
  fitted_data <- lapply(fits, function(fit) {
    list(fit$x$cases, fit$x$raters, as.data.frame(fit$x), fit$given$truth)
  })
  different_fits <- which(!map_lgl(fitted_data, identical, fitted_data[[1L]]))
  abort_argument_if(different_fits, "...",
    "All models must be fitted to the same ratings and known truths.",
    x = "The ratings or known truths of fit {different_fits[[1L]]} differ from those of fit 1.")
  user_names <- names2(fits)
  reserved_names <- intersect(user_names, c("term", "lowest", "highest"))
  abort_argument_if(reserved_names, "...",
    "Models cannot be named {.val {reserved_names}}, because the result has columns with
        {?this name/these names}.")
  descriptions <- map_chr(fits, function(fit) format(fit$model))
  model_names <- ifelse(user_names == "", descriptions, user_names)
  names(fits) <- make.unique(model_names, sep = " ")
  models <- compare_criteria(fits)
  fits <- fits[models$model]
  # Names of the parameters that all models have.
  common_terms <- Reduce(intersect, lapply(fits, function(fit) {
    fit$terms$term[is_convergence_checked(fit$terms) & !is_dependence_term(fit$terms$term)]
  }))
  posterior_medians <- lapply(fits, function(fit) {
    unname(apply(pick_columns(fit$draws, common_terms), 2L, median))
  })
  undecided_medians <- unname(posterior_medians[models$undecided])
  term_table <- columns_tibble(
    term = common_terms, !!!posterior_medians, lowest = do.call(pmin, undecided_medians),
    highest = do.call(pmax, undecided_medians)
  )
  warn_undecided(fits[models$undecided], term_table)
  new_model_comparison(models, term_table, fits, user_names)
}

# Fits a model again with each type of dependence between raters (see check_dependence()): none,
# "easy" and, if the model has pairs of dependent raters, "pairs". Priors stay the same. Models that
# cannot be fitted are left out.
fits_of_all_dependences <- function(fit) {
  fitted_dependence <- fit$model$dependence
  dependences <- c(
    list(NULL, list(type = "easy")),
    if (length(fitted_dependence$pairs) > 0L) list(fitted_dependence)
  )
  drop_null(lapply(dependences, function(dependence) {
    if (identical(dependence$type, fitted_dependence$type)) return(fit)
    model <- fit$model
    model["dependence"] <- list(dependence)
    can_fit <- is.null(dependence) || fit$prior$others != "partial" && tryCatch({
      check_dependent_panel(model, fit$x)
      check_dependence_identified(fit$x, model, nrow(fit$prior$base_rates), fit$named)
      TRUE
    }, fallible_error_prior = function(e) FALSE, fallible_error_argument = function(e) FALSE)
    if (!can_fit) return(NULL)
    sampling <- replace(fit$sampling, "thin", list(NULL))
    refit <- fit_draws_unchecked(fit$x, model, fit$known, fit$prior, sampling, fit$seed)
    refit[c("given", "named")] <- fit[c("given", "named")]
    refit
  }))
}

# Returns a table with a row per model: its WAIC (widely applicable information criterion) and the
# difference from the best model. The best model is first.
compare_criteria <- function(fits) {
  criteria <- lapply(fits, criteria_of_fit)
  waic_table <- stack_rows(criteria, function(criterion) criterion$table[1L, ])
  best_criterion <- criteria[[which.max(waic_table$elpd)]]
  # Differences are computed per case and not per pattern, because the fits may group the cases into
  # different patterns.
  differences <- vapply(criteria, function(criterion) {
    is_in_both <- !is.na(best_criterion$of_case) & !is.na(criterion$of_case)
    difference <- (criterion$of_case - best_criterion$of_case)[is_in_both]
    sum_over_cases(difference, weights_of_cases(fits[[1L]]$x)[is_in_both])
  }, c(estimate = 0, std.error = 0))
  table <- tibble(
    model = names(fits), waic_table[c("elpd", "std.error", "parameters")],
    difference = unname(differences["estimate", ]),
    difference.error = unname(differences["std.error", ])
  )
  table$undecided <- -table$difference <= pmax(4, 2 * table$difference.error)
  table[order(-table$elpd), ]
}

# Warns if models that predict about equally well have posterior medians that differ by more than
# `max_shift` posterior standard deviations. `undecided_fits`: the fits of these models.
warn_undecided <- function(undecided_fits, terms) {
  if (length(undecided_fits) < 2L) return(invisible())
  largest_sd <- do.call(pmax, lapply(unname(undecided_fits), function(fit) {
    apply(pick_columns(fit$draws, terms$term), 2L, sd)
  }))
  differing_terms <- terms[terms$highest - terms$lowest > max_shift * largest_sd, ]
  term_order <- order(differing_terms$lowest - differing_terms$highest)
  shown_terms <- head(differing_terms[term_order, ], 4L)
  warn_if(nrow(differing_terms) > 0L, "dependence",
    "These ratings cannot distinguish models with different estimates: report all of them.",
    x = c(
      escape_braces(
        shown_terms$term, ": ", format_limits(shown_terms$lowest, shown_terms$highest)
      ),
      if (nrow(differing_terms) > 4L) "and {nrow(differing_terms) - 4L} more"
    ),
    i = "Only cases with known truth can show which model is right.", terms = differing_terms$term)
}

new_model_comparison <- function(models, terms, fits, user_names) {
  n_undecided <- sum(models$undecided)
  model_names <- models$model
  model_numbers <- seq_along(model_names)
  printed_models <- models
  printed_models$model <- paste(model_numbers, model_names)
  printed_models$difference <- round(models$difference, 1L) + 0 # not -0.0
  term_columns <- c("term", model_names)
  # If the user did not name a model, its name is a description, which is too long for a heading.
  names(term_columns) <- c("posterior median",
    ifelse(model_names %in% user_names, model_names, paste("model", model_numbers)))
  new_result("model_comparison",
    fits = fits, tables = list(models = models, terms = terms),
    facts = list(models = nrow(models), undecided = n_undecided, best = model_names[[1L]]),
    line = sprintf("Best prediction: %s; %s", model_names[[1L]],
      if (n_undecided == 1L) "all other models predict worse" else
        sprintf("%s of %s undecided", n_undecided, count_noun(nrow(models), "model"))),
    shown = list(
      view(printed_models, c("model", "elpd", SE = "std.error", "difference",
        `its SE` = "difference.error", "undecided"), 1L),
      view(terms, term_columns, most = 15L)
    ),
    notes = "Models are numbered by elpd (expected log predictive density by WAIC), the best
     first. Undecided: within 4 units or two standard errors of the best. A model that fits better
     need not estimate accuracy better: report all undecided models, or use known truths.",
    more = "tidy(what = \"terms\"), plot()"
  )
}
