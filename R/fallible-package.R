#' @details
#' Someone has an automated classifier and no ground truth: only experts who rated the same cases,
#' who disagree, and who may be less accurate than the classifier. How accurate is it?
#'
#' 1. [ratings()] or [read_ratings()] collects who said what, and what systems predicted.
#' 2. [fit_raters()] learns from the agreement of raters how accurate they are, and the base rates,
#'    under any [rater_model()]; [ground_truth()] gives the probability of each category for each
#'    case, and [calibration()] shows whether these come true.
#' 3. [estimate_accuracy()] estimates the accuracy of each system, with an interval; `tidy(x,
#'    "bins")` shows where the published number comes from, `confusion()` which errors a system
#'    makes ([confusion][confusion.accuracy_estimate]), [compare_systems()] which system is better.
#' 4. [check_k_properties()] tests what the method assumes, and says what to do where it does not
#'    hold; `vignette("how-far-to-trust")` tells what no test can see.
#' 5. [agreement()] measures how much raters, and systems, agree.
#' 6. [rater_design()] and [simulate_ratings()] make panels whose truth is known;
#'    [simulation_study()] runs estimators on many.
#' 7. [plan_cases()] finds how many cases and raters a study needs.
#' 8. Whatever comes out has the same verbs: `print()` tells it, `summary()` tells all, `format()`
#'    is a line of words, `tidy()` and `as.data.frame()` give tables, `glance()` a single row,
#'    [autoplot()] and `plot()` draw it, and R Markdown shows it as a table ([knit_print]).
#'
#' Where answers may hold several labels, and disagreement is a sign rather than an error,
#' [crowdtruth()] measures units, workers and annotations; see the article *CrowdTruth*.
#'
#' Begin with `vignette("fallible")`, from a file to a first number; `vignette("your-data")` has a
#' recipe for every kind of file, `vignette("which-method")` says which method and which claim,
#' `vignette("llm-judges")` is for raters that are language models. `vignette("worked-example")`
#' follows the paper table by table, `vignette("simulation-figures")` figure by figure; the articles
#' *The published method* and *Beyond the paper* go on from there;
#' `vignette("planning")` is about the size of a study, `vignette("gold")` about a few cases whose
#' truth is known; `vignette("agreement")` compares measures of
#' agreement; the article *Why it is built so* is for whoever extends the package.
#' [fallible-glossary] says what
#' words mean, [conditions] lists the classes of errors and warnings, [fallible-options] what can be
#' set once for all functions.
#' @keywords internal
#' @importFrom generics augment glance tidy
#' @importFrom Rcpp sourceCpp
#' @importFrom rlang %||% .data
#' @importFrom stats coef confint nobs predict simulate update vcov
#' @importFrom tibble tbl_sum
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
