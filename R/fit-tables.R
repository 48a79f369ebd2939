# The printed form of a fit, and the tables of a fit: base rates, confusion matrices, parameters.

#' @srrstats {UL4.3, UL4.3a} the printed form fits on one screen
#' @noRd
schema_of.rater_fit <- function(x) { # nolint: object_name.
  is_identified <- x$identified == "yes"
  title <- title_of_fit(x)
  raters <- x$x$raters
  is_known <- is_known_pattern(x)
  new_schema(
    class = "rater_fit", tables = c(list(parameters = tidy_fit), if (is_regression(x)) list(
      regression = tidy_regression, margins = tidy_margins, differential = tidy_differential_errors
    )), facts = statistics_of_fit(x),
    line = line_of_fit(x, title),
    head = c(title, lines_of_fit(x)), shown = parameters_to_print, summary = summary_of_fit,
    notes = if (is_identified) c(
      paste0("Base rates", if (has_formula(x$model)) " (means over cases)", ": ",
        shorten(paste(x$x$categories, format_decimals(x$base_rates)), most = 6L),
        if (has_formula(x$model)) "; of groups of cases: base_rates(fit, newdata)"),
      if (x$negative > 0L)
        paste0(count_noun(x$negative, "base rate"), " estimated below zero, and set to zero"),
      format_votes(x$x),
      if (any(is_known)) sprintf("The truth of %s was given",
        count_noun(count_cases(x$x, is_known), "case")),
      words_with_labels("Known raters:", raters[is_known_rater(x)]),
      words_with_labels("Calibration samples:", raters[is_known_rater(x, "counts")]),
      if (is_k_model(x$model) && !has_counts(x$x))
        "For labels, use ground_truth(ratings), which averages over models",
      if (x$x$ordered && n_categories(x$x) > 2L && n_raters(x$x) > 1L &&
        x$model$errors %in% c("uniform", "free"))
        "Categories are ordered, but this model ignores their order. A model that uses it is
         rater_model(\"rater\", errors = \"ordinal\")",
      if (inherits(x, c("k_fit", "latent_fit", "family_fit"))) assumption_sentences(x),
      if (is_regression(x)) {
        p_values <- na.omit(x$differential_errors$p.adjusted)
        sprintf("Assumed: raters' errors do not depend on %s (non-differential errors; %s)",
          toString(all.vars(x$model$base_rates)),
          if (is_empty(p_values)) "not tested" else if (min(p_values) > 0.1)
            "not rejected by a test of any rater" else
            paste("smallest adjusted p-value of tests by rater", format_p(min(p_values))))
      }
    ),
    more = if (is_identified) c(Next = sprintf("ground_truth(), %s, tidy(), plot()",
      if (x$method == "algebraic") "estimate_accuracy()" else "confusion()"))
  )
}

line_of_fit <- function(fit, title = title_of_fit(fit)) {
  paste0(title, ": ", if (fit$identified == "yes") {
    sprintf("rater accuracy %s, Fleiss' kappa %s", format_decimals(fit$rater_accuracy, 2L),
      format_decimals(kappa_of_agreement(fit$x, fit$agreement), 2L))
  } else {
    sprintf("not identified (%s)", reason_of_fit(fit))
  })
}

title_of_fit <- function(fit) {
  ratings <- fit$x
  # If weights are counts, a row of the ratings with weight n represents n cases.
  n_cases <- if (weights_are_counts(ratings)) sum(weights_of_cases(ratings)) else nrow(ratings)
  toString(c(
    format(fit$model), fit$method, count_noun(n_cases, "case"), count_noun(ncol(ratings), "rater")
  ))
}

lines_of_fit <- function(fit) {
  if (fit$identified != "yes") return(paste0("Not identified: ", reason_of_fit(fit)))
  c(
    if (!is.na(fit$agreement)) sprintf("Pairs of raters agree: %s (Fleiss' kappa %s)",
      percent(fit$agreement), format_decimals(kappa_of_agreement(fit$x, fit$agreement))),
    format_accuracy(fit),
    if (uses_confidence(fit$model)) {
      highest_level <- tail(fit$x$confidence$levels, 1L)
      # Shares of right answers, and of wrong answers, that have the highest level of confidence
      formatted_shares <- percent(coef(fit)[level_terms(highest_level)])
      sprintf("Confidence is %s in %s of right and %s of wrong answers", highest_level,
        formatted_shares[[1L]], formatted_shares[[2L]])
    },
    likelihood_lines(fit),
    if (!uses_abstentions(fit$model)) abstain_note(fit$x) else c(
      "Whether raters answer depends on the truth: see confusion()",
      if (isTRUE(fit$x$panel$abstain$by_replies)) abstention_only_text
    )
  )
}

format_accuracy <- function(fit) {
  mean_accuracy <- fit$rater_accuracy
  if (fit$model$accuracy != "rater") {
    standard_error <- fit$accuracy_error %||% NA
    return(paste0(
      sprintf("Accuracy of every rater: %.3f", mean_accuracy),
      if (!is.na(standard_error)) sprintf(" (standard error %.3f)", standard_error)
    ))
  }
  raters <- fit$x$raters
  if (length(raters) == 1L) return(sprintf("Accuracy of %s: %.3f", raters, mean_accuracy))
  accuracies <- coef(fit)[rater_terms(fit$x)]
  extreme_raters <- c(which.min(accuracies), which.max(accuracies))
  range_text <- paste(sprintf("%.3f (%s)", accuracies[extreme_raters], raters[extreme_raters]),
    collapse = " to ")
  sprintf("Accuracy of raters: %s, mean %.3f", range_text, mean_accuracy)
}

likelihood_lines <- function(fit) UseMethod("likelihood_lines")

likelihood_lines.k_fit <- function(fit) NULL

likelihood_lines.posterior_fit <- function(fit) {
  "The model has only posterior probabilities: there is no log-likelihood to compare"
}

likelihood_lines.judge_fit <- function(fit) {
  c(format_calibration(fit),
    "Base rates are the shares of the rater's ratings, corrected by its errors in this sample")
}

likelihood_lines.rater_fit <- function(fit) {
  coefficients <- coef(fit)
  prior_centre <- fit$centre
  prior_size <- accuracy_prior_size(fit)
  c(
    if (isTRUE(coefficients["dispersion"] > 0)) sprintf(
      "An error one category nearer to the truth is %.2f times as likely",
      coefficients[["dispersion"]]
    ),
    if (isTRUE(coefficients["difficulty"] >= 0)) sprintf(
      "Accuracy is %.3f higher in easy cases, and lower in hard cases", coefficients[["difficulty"]]
    ),
    if (fit$method == "pairs") {
      "Fitted to the frequencies of pairs of ratings: there is no log-likelihood to compare"
    } else {
      paste0(
        "Log-likelihood ", format_decimals(fit$log_likelihood, 2L), ", ",
        count_noun(fit$parameters, "free parameter"),
        if (is.null(prior_centre)) paste0(", AIC ", format_decimals(AIC(logLik(fit)), 1L))
      )
    },
    if (!is.null(prior_centre)) paste(
      "Matrices are shrunk towards mean rows of the panel, moved by the rater's skill. These rows",
      sprintf("have the weight of %.1f ratings of a category", prior_centre$c)
    ),
    if (isTRUE(prior_size >= 0.5)) sprintf(
      "A prior with the weight of %.0f ratings shrinks accuracies towards their mean; %s",
      prior_size, "prior = \"none\" of rater_model() leaves it out"
    ),
    words_with_labels(
      "Raters with fewer ratings (mostly prior):", find_prior_dominated_raters(fit)),
    words_with_labels("Not determined by the ratings:",
      intersect(names(which(is.na(coefficients))), c("dispersion", "difficulty")))
  )
}

# Returns the tables that summary() prints: parameters, and at most six confusion matrices.
summary_of_fit <- function(x) {
  c(
    list(parameters_to_print(x, title = "Parameters", most = 12L)), schema_of(confusion(x))$shown
  )
}

parameters_to_print <- function(x, ...) {
  view(tidy(x), c("term", "estimate", interval_columns), level = default_conf_level(), ...)
}

#' Base rates and confusion matrices of raters
#'
#' `base_rates()` returns the estimated base rate of each category, which is the share of cases with
#' this true category. `confusion()` returns the estimated confusion matrix of each rater, which
#' contains the probabilities of ratings given the true category.
#'
#' @param fit A [fit_raters()] result. Ratings, or an object that [as_ratings()] can convert, are
#'   also accepted. Ratings are fitted with [k_model()], in which all raters have the same accuracy.
#' @param x A [fit_raters()] result.
#' @param newdata `NULL`, the default, for the base rates of the cases of the fit. If base rates
#'   depend on covariates (argument `base_rates` of [rater_model()]), a data frame with these
#'   covariates gives the base rates of other cases.
#' @param ... Not used.
#' @return `base_rates()`: a tibble with one row, and a column per category that contains its base
#'   rate, in \[0, 1\]. If base rates depend on covariates, the function returns the mean base
#'   rates over cases, with a message. With `newdata`, the tibble has a row per row of
#'   `newdata`, and the columns of `newdata` precede the base rates.
#'
#'   `confusion()`: a list of class `rater_confusion` with a matrix per rater, named by rater. The
#'   true category is in rows, the rating in columns, and rows sum to one. If cases differ in
#'   difficulty, the matrices are means over cases. If the model includes abstentions (argument
#'   `abstain` of [rater_model()]), a further column `(abstains)` contains the probability that the
#'   rater abstains.
#'
#'   Three functions accept the result of `confusion()`. `tidy()` returns a tibble with a row per
#'   cell of a matrix and the columns `rater`, `truth` (true category), `rating` and `probability`.
#'   `glance()` returns the numbers of `raters` and `categories`. `autoplot()` draws up to 12 maps.
#'
#'   For fits by `method = "bayes"`, values are posterior means. All values are `NA` if the fit is
#'   not identified. A rater without ratings has `NA` in models with a matrix per rater.
#'   [tidy(fit)][tidy.rater_fit] returns base rates with intervals. The examples of [rater_model()]
#'   compute intervals for `newdata`.
#' @family models of raters
#' @examples
#' # Counts of ratings by six psychiatrists per case
#' fit <- fit_raters(ratings(fleiss1971, case = case, counts = depression:other))
#' base_rates(fit)
#' confusion(fit)[[1]] # all raters have the same matrix
#' @export
base_rates <- function(fit, newdata = NULL, ...) {
  check_call()
  fit <- as_fit(fit)
  categories <- fit$x$categories
  if (is.null(newdata)) {
    if (has_formula(fit$model)) {
      covariates <- covariates_used(fit$model, fit$x) # nolint: object_usage.
      inform_fallible("Base rates depend on {.val {covariates}}. These are means over all cases.",
        i = "For groups of cases, give {.arg newdata}:
          {.code base_rates(fit, data.frame({toString(paste(covariates, \"= \"))}))}.")
    }
    return(new_tibble(setNames(as.list(fit$base_rates), categories), nrow = 1L))
  }
  abort_argument_if(!has_formula(fit$model), "newdata",
    "{.arg newdata} can be used only if the model has a formula for the base rates.",
    x = "The model of the fit is: {format(fit$model)}.")
  abort_argument_if(!is.data.frame(newdata) || nrow(newdata) == 0L, "newdata",
    "must be a data frame with at least one row, and the covariates of the formula.", not = newdata)
  category_columns <- intersect(names(newdata), categories)
  abort_argument_if(category_columns, "newdata", "must not have columns with names of categories.",
    x = "It has {.val {category_columns}}.")
  rates <- rates_of_cases(fit, newdata)
  if (fit$identified != "yes") rates[] <- NA_real_
  as_tibble(c(as.list(newdata), split_columns(rates, categories)))
}

#' @rdname base_rates
#' @export
confusion <- function(x, ...) {
  check_call(dots = NULL)
  UseMethod("confusion")
}

#' @export
confusion.default <- function(x, ...) {
  check_class(x, "rater_fit", "x",
    c("Make one with {.fun fit_raters}.", if (is_ratings(x)) matrix_hints))
}

#' @rdname base_rates
#' @export
confusion.rater_fit <- function(x, ...) {
  matrices <- new_rater_confusion(x, lapply(seq_along(x$x$raters), function(j) x$matrices[j, , ]))
  if (!is.null(x$answered)) matrices[] <- lapply(x$x$raters, function(rater) {
    p_answered <- x$answered[rater, ]
    cbind(matrices[[rater]] * p_answered, "(abstains)" = 1 - p_answered)
  })
  matrices
}

#' @export
confusion.k_fit <- function(x, ...) {
  confusion_matrix <- matrix_with_equal_errors(x$rater_accuracy, n_categories(x$x))
  if (x$identified != "yes") confusion_matrix[] <- NA_real_
  new_rater_confusion(x, list(confusion_matrix))
}

new_rater_confusion <- function(fit, matrices) {
  categories <- fit$x$categories
  matrices <- lapply(matrices, `dimnames<-`, list(truth = categories, rating = categories))
  matrices <- setNames(rep_len(matrices, n_raters(fit$x)), fit$x$raters)
  has_equal_errors <- fit$model$errors == "uniform" && length(categories) > 2L
  structure(matrices, has_common_matrix = fit$model$accuracy == "common" && !has_counts(fit$x),
    has_equal_errors = has_equal_errors, class = c("rater_confusion", "fallible_result"))
}

# Returns a matrix with diagonal `right`. The other entries of a row are equal and sum to `wrong`.
matrix_with_equal_errors <- function(right, n, wrong = 1 - right) {
  confusion <- matrix(wrong / (n - 1), n, n)
  diag(confusion) <- right
  confusion
}

is_probability_term <- function(terms, fit) {
  ratings <- fit$x
  terms %in% c("rater_accuracy", rater_terms(ratings), rate_terms(ratings),
    level_terms(ratings$confidence$levels)) | startsWith(terms, "answered[")
}

#' Parameters and statistics of a fit
#'
#' `tidy()` and `confint()` return the parameters of a [fit_raters()] result with their intervals.
#' `glance()` returns one row with statistics of the fit, such as agreement and log likelihood.
#'
#' @section Parameters: `tidy(x, conf_level = )` returns a tibble with a row per parameter, and
#' `confint()` a matrix of the same intervals. The default level of `tidy()` is 0.9 (see
#' [fallible-options]), that of `confint()` is 0.95. For fits by `method = "bayes"`, see *Parameters
#' of Bayesian fits*.
#' * `term`: name of the parameter, such as `rater_accuracy[rater]` (probability that a rating is
#'   correct) or `base_rate[category]` (share of cases). Further parameters are defined in
#'   [rater_model()].
#' * `rater`: the rater to whom the parameter belongs. `NA` for base rates and for parameters that
#'   all raters share.
#' * `estimate`, `std.error`, `conf.low`, `conf.high`: estimate, standard error and interval. All
#'   are `NA` if the fit is not identified; *Identification* in [fit_raters()] describes an
#'   exception.
#' * `n`: number of ratings by the rater; for parameters without a rater, number of cases.
#'
#' Intervals of probabilities are Wilson's, for a sample size `m` with `p (1 - p) / m =
#' std.error^2`, where `p` is the estimate. Other intervals are normal. An estimate of 0 or 1 has an
#' interval only if there are cases with known truth. For such an estimate, `m` is the number of
#' cases with known truth.
#'
#' The standard error of a base rate of zero is `NA`. With `method = "algebraic"`, the standard
#' errors of all base rates are then `NA`. All standard errors are `NA` if raters agree perfectly,
#' or if weights of cases are not whole numbers. Pooled priors (see [rater_model()]) are treated as
#' known. The standard error of an accuracy `p` is then at least `sqrt(p (1 - p) / n)`, where `n` is
#' the number of ratings by the rater. Weak priors shrink accuracies towards the mean accuracy. If
#' some raters guess, their accuracies are then overestimated: use `prior = "none"` for intervals of
#' single raters. Intervals assume independent errors. They are too narrow if cases differ in
#' difficulty, as in most crowds.
#'
#' If the model includes abstentions, rows `answered[rater: category]` contain the probability that
#' a rater answers a case of a category, without standard errors. If base rates have a formula,
#' `tidy(x, "regression")` returns regression coefficients; see [regression].
#'
#' @section Parameters of Bayesian fits: For fits by `method = "bayes"`, `tidy(x, conf_level = )`
#' returns a row per parameter of [draws()], without `accuracy[system]`.
#' * `term`: name of the parameter.
#' * `rater`, `truth`, `rating`, `population`: the rater, true category, rating and population
#'   (group of cases with separate base rates) to which the parameter belongs. `NA` if there is
#'   none.
#' * `estimate`, `std.error`, `mean`: posterior median, standard deviation and mean.
#' * `conf.low`, `conf.high`: limits of the central interval of probability `conf_level`.
#' * `mcse`, `rhat`, `ess_bulk`, `ess_tail`: Monte Carlo standard error of the mean, Rhat, and
#'   effective sample sizes for the centre and the tails.
#' * `contraction`: `1 - posterior variance / prior variance`. It is near 0 if the posterior is as
#'   wide as the prior, and near 1 if the posterior is much narrower.
#' * `reason`: `"the same in all draws"` if the parameter does not vary; `mcse`, `rhat`, `ess_bulk`
#'   and `ess_tail` are then `NA`. Otherwise `NA`.
#'
#' If the model has `dependence = "pairs"` (see [rater_model()]), `tidy(x, "covariances",
#' conf_level = )` returns a row per dependent pair and true category, with columns `rater1`,
#' `rater2`, `truth`, `estimate`, `std.error`, `conf.low` and `conf.high`. The estimate is the
#' covariance of correct ratings, `pair[a,b,k] * (min(p, q) - p * q)`, from 0 to 0.25. `p` and `q`
#' are the probabilities that the raters correctly rate a case of category k.
#'
#' @section Statistics of the fit: `glance()` returns a tibble with one row.
#' * `agreement`: share of pairs of ratings (one case, two raters) in which both ratings are equal.
#'   `kappa`: Fleiss' kappa. `chance_kappa`: kappa for a chance agreement of 1 / n categories.
#' * `rater_accuracy`: mean accuracy of raters.
#' * `cases`, `raters`, `ratings`, `categories`: numbers of these. `patterns`: number of different
#'   combinations of ratings, answers of systems, known truth and covariates of the model.
#' * `nobs`: number of cases with a rating.
#' * `logLik`, `AIC`, `BIC`: `NA` for fits that do not maximise a likelihood. `AIC` and `BIC` are
#'   also `NA` for pooled priors. With weak priors, the default of many models, the fit maximises
#'   the posterior density. To compare models, use `prior = "none"`, or for Bayesian fits
#'   `loo::loo()`.
#' * `c`, `tau`, `ups`, `a`: only for pooled priors, see *Pooled matrices* in [rater_model()].
#' * `abstain`, `answers_logLik`, `answer_c`, `answer_spread`: only for pooled priors and ratings
#'   with abstentions. `abstain` is the argument of [rater_model()], and `answers_logLik` is the log
#'   likelihood of the answers, given which raters answered. Probabilities of answering have Beta
#'   priors, whose two parameters sum to `answer_c`. `answer_spread` is the standard deviation of
#'   the effects of categories on the logits of the means of these priors.
#' * `draws`, `chains`, `thin`, `worst_rhat`, `worst_ess`, `switched`: only for Bayesian fits. The
#'   first three are the numbers of draws, of chains, and of iterations per draw. The others are the
#'   largest Rhat, the smallest effective sample size, and the share of draws in which categories
#'   have exchanged names.
#'
#' @param ... `plot(x, ...)` passes these arguments on to `autoplot()`.
#' @return `tidy()` and `glance()`: tibbles. `confint()`: a matrix. Their columns are described in
#'   the sections of this page.
#' @family models of raters
#' @examples
#' fit <- fit_raters(ratings(fleiss1971, case = case, counts = depression:other))
#' tidy(fit)
#' glance(fit)
#' @usage
#' # tidy(x, conf_level = 0.9), glance(x), tidy(x, "covariances", conf_level = 0.9)
#' @name tidy.rater_fit
NULL

tidy_fit <- function(x, ..., conf_level = default_conf_level()) {
  check_dots_empty(...)
  z <- normal_quantile(check_level(conf_level))
  value <- unname(coef(x))
  standard_error <- standard_errors(x)
  terms <- names(coef(x))
  raters <- x$x$raters
  term_rater <- raters[match(terms, rater_terms(x$x))]
  is_probability <- is_probability_term(terms, x)
  limits <- value + outer(standard_error, z * c(-1, 1))
  limits[is_probability, ] <- probability_interval(value[is_probability],
    standard_error[is_probability], z, count_known_by_coefficient(x)[is_probability])
  if (!is.null(x$calibrated) && x$identified == "yes") {
    limits[terms %in% rate_terms(x$x), ] <- calibrated_interval(x$calibrated, conf_level)
  }
  # Parameters with these names are ordered by category and, within a category, by rater.
  is_in_rater_order <- x$model$accuracy == "rater" &
    grepl("^(answered|slope|threshold)\\[", terms)
  term_rater[is_in_rater_order] <- rep_len(raters, sum(is_in_rater_order))
  n_ratings <- count_ratings_of_raters(x$x)[match(term_rater, raters)]
  columns_tibble(
    term = terms, rater = term_rater, estimate = value, std.error = standard_error,
    conf.low = limits[, 1L], conf.high = limits[, 2L],
    n = ifelse(is.na(term_rater), nobs(x), n_ratings))
}
