# The same fit of other data, or of more.

#' A fit of the same kind
#'
#' @section More ratings:
#' `new` puts ratings to those of the fit and fits all of them, from where the fit ended: a thousand
#' more on many cost a small part of the first fit. Cases and raters may be those of the fit or new;
#' systems must be those of the fit. A new category makes the whole model be refitted, and so does a
#' fit that was not identified. Ratings whose raters form groups, reruns, counts, weighted cases,
#' those with covariates and those in a database cannot be added to: collect all of them in `x`. A
#'   survey design is kept unless `x` is given.
#'
#' @param object A [fit_raters()] result.
#' @param model,method,x,known_truth,known_raters What is to be different; see [fit_raters()]. If
#'   the method of `object` cannot fit the new `model`, the model's default method does.
#' @param prior For `"bayes"`: another [rater_prior()].
#' @param new More ratings: [ratings()], or a data frame with a row per rating and columns `case`,
#'   `rater` and `rating`. Not together with `x`.
#' @param ... Not used.
#' @return What [fit_raters()] gives.
#' @family estimation
#' @examples
#' x <- ratings(dawid1979, case = case, rater = rater, rating = rating, repeats = "ratings")
#' fit <- fit_raters(x)
#' AIC(update(fit, method = "likelihood"), update(fit, model = rater_model("rater", "distance")))
#'
#' # Another rating of the first patient, and one of a new patient
#' update(fit, new = data.frame(case = c(1, 46), rater = "a", rating = c(1, 2)))
#' @export
update.rater_fit <- function(object, model = object$model, method = NULL, x = object$x,
                             known_truth = object$given$truth, known_raters = object$given$raters,
                             new = NULL, prior = object$given$prior, ...) {
  check_dots_empty(...)
  check_has_law(object, "A new fit")
  abort_argument_if(!is.null(new) && !missing(x), "new",
    "Give {.arg x} to replace the ratings of the fit, or {.arg new} to add to them.",
    x = "Both are given.")
  if (!is.null(new)) x <- add_ratings(x, new)
  warm <- !is.null(new) && missing(model) && is.null(method) &&
    n_categories(x) == n_categories(object$x)
  method <- method %||% method_to_refit(object, model, known_truth, known_raters)
  abort_argument_if(!missing(prior) && !identical(method, "bayes"), "prior",
    "{.arg prior} is for {.code method = \"bayes\"}.",
    i = "Other fits have priors in {.fun rater_model}.")
  fit <- fit_again(object, x, model, method, known_truth, known_raters, prior,
    if (warm) start_of(object))
  if (missing(x) && is.null(new)) fit$design <- object$design
  warn_unchecked(fit)
  with_differential(fit)
}

# Fits a model again, for other ratings or with other settings. Whatever is not given is as it was
# for `fit`: model, method, prior, sampling, known truths and known raters. Nothing else in the
# package fits a fit again (`tools/ids.R`).
fit_again <- function(fit, x = fit$x, model = fit$model,
                      method = method_to_refit(fit, model, known_truth, known_raters),
                      known_truth = fit$given$truth, known_raters = fit$given$raters,
                      prior = fit$given$prior, start = NULL) {
  drawn <- identical(method, "bayes")
  fit_checked(with_votes(as_ratings(x)), model, method, known_truth, known_raters, start,
    if (drawn) prior, if (drawn) fit$given$sampling)
}

# The method of a fit, or, where it cannot fit `model`, the default method of that model (NULL).
method_to_refit <- function(fit, model, known_truth, known_raters) {
  if (!inherits(model, "rater_model")) return(NULL)
  know <- !is.null(known_truth) || !is.null(known_raters)
  can <- switch(fit$method,
    algebraic = is_k_model(model) && !know, pairs = has_pairs(model) && !know, TRUE
  )
  if (can) fit$method else if (know) "likelihood"
}

# Where to begin: parameters, and how many raters have some; NULL for a fit without.
start_of <- function(fit) {
  if (!is.null(fit$theta) && fit$identified == "yes" && !anyNA(fit$theta)) {
    list(theta = fit$theta, raters = n_raters(fit$x))
  }
}
