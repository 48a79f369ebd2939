#' Probabilities of the categories of each case
#'
#' Bayes' rule applied to the ratings of each case: how probable each category is, given what the
#' raters said. Answers of systems are not used. The rows are soft labels, ready to be targets for
#' training.
#'
#' Under the K-model the probability of category k is proportional to its base rate times, for each
#' rating, the rater accuracy if the rating is k and otherwise (1 - accuracy) / (categories - 1). A
#' case with a single rating has a posterior too; a case without ratings gets the base rates. Other
#' models put in the probabilities that they give to each rating.
#'
#' @param fit A [fit_raters()] result; or [ratings()], to which the K-model is then fitted.
#' @return A tibble of class `ground_truth`: `case`, then a column of probabilities for each
#'   category; rows sum to one. `NA` where the fit is not identified.
#' @family estimation
#' @templateVar where Table 3
#' @template ref-lehner
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' ground_truth(fit_raters(x))
#' @export
ground_truth <- function(fit) {
  fit <- as_fit(fit)
  x <- fit$x
  if ("case" %in% x$categories) {
    abort_fallible("argument", c(
      "A category called {.val case} would hide the case identifiers.",
      "i" = "Give that category another name."
    ), arg = "fit", call = rlang::current_env())
  }
  by_pattern <- posterior(fit)
  columns <- lapply(seq_along(x$categories), function(k) by_pattern[x$index, k])
  names(columns) <- x$categories
  tibble::new_tibble(c(list(case = x$cases), columns), nrow = length(x$index),
    class = "ground_truth")
}

#' @export
tbl_sum.ground_truth <- function(x, ...) {
  c("Probabilities of categories" = paste(
    count_noun(nrow(x), "case"), "x",
    count_noun(length(setdiff(names(x), "case")), "category", "categories")
  ))
}
