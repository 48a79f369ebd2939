#' @details
#' How accurate is a classifier when there is no ground truth, only raters who disagree?
#'
#' Start with `vignette("which-method")` and `vignette("your-data")`, a recipe for every kind of
#' file. `vignette("fallible")` goes from a file to a first number; `vignette("questions")` says
#' when to believe it; `vignette("one-judge")` is for one language model as a judge,
#' `vignette("llm-judges")` for several, `vignette("gold")` for a few cases with known truth.
#'
#' 1. [ratings()] or [read_ratings()] takes ratings and predictions of systems; [data_check()] shows
#'    which questions they can answer.
#' 2. [estimate_accuracy()] estimates the accuracy of each system, [compare_systems()] which system
#'    is better, [estimate_metrics()] other metrics.
#' 3. [fit_raters()] estimates how accurate raters are, [ground_truth()] the category of each case,
#'    [agreement()] how much raters agree, [shared_errors()] whether they share errors.
#' 4. [check_k_properties()] tests assumptions, [may_say()] and [accuracy_report()] put results into
#'    words.
#' 5. [plan_cases()] and [plan_gold()] plan studies, [simulation_study()] tries estimators.
#' 6. [crowdtruth()] is for answers with several labels, where disagreement is a signal.
#'
#' Fits, estimates, comparisons and plans have `print()`, `summary()`, `format()`, `tidy()`,
#' `glance()` and `plot()`; what is a table already has none. See also [fallible-glossary] for
#' terms, [conditions] for classes of errors and warnings, and [fallible-options] for settings.
#' @keywords internal
#' @importFrom generics augment glance tidy
#' @importFrom Rcpp sourceCpp
#' @importFrom rlang %||% .data
#' @importFrom stats coef confint nobs predict simulate update vcov
#' @useDynLib fallible, .registration = TRUE
"_PACKAGE"

#' @srrstats {G1.0, G1.1} Lehner (2015), after the Python package StatSWAG; gold and averages are
#'   new
#' @srrstats {G1.2, G1.3} the article *Why it is built so*, section *What stays*;
#'   [fallible-glossary]
#' @srrstats {G1.4} exports by roxygen, with values and examples
#' @srrstatsNA {G1.4a} internal functions have plain comments, which say why, shape and unit
#' @export
generics::augment

#' @export
generics::glance

#' @export
generics::tidy
