#' Regression with a misclassified outcome
#'
#' Logistic regression of the true category of cases on covariates, if raters (coders or
#' classifiers) assigned the categories with error. The model is a [rater_model()] with a formula
#' `base_rates`, fitted by [fit_raters()] with `method = "likelihood"`. The error rates of the
#' raters are estimated together with the coefficients (Magder and Hughes, 1997).
#'
#' @section Model: The log odds of category k against the first category are a linear function of
#' the covariates: `log(p_k / p_1) = x' b_k`. Here `p_k` is the base rate (probability) of category
#' k for a case with covariates `x`, and `b_k` are the coefficients. Given the true category, raters
#' err independently, and their errors do not depend on covariates. A regression of majority labels,
#' or of the answers of a classifier, has coefficients that are biased towards zero (Bolck, Croon
#' and Hagenaars, 2004). Coefficients of this model are not biased.
#'
#' The model is identified by three raters, or by two raters if base rates differ between cases (Hui
#' and Walter, 1980). With a single rater, the model is identified only by cases with known truth
#' (gold cases) or by known error rates: arguments `known_truth` and `known_raters` of
#' [fit_raters()]. The sampling probabilities of gold cases may depend on ratings, and on covariates
#' in the formula.
#'
#' @section Tables:
#' * `tidy(fit, "regression", exponentiate = FALSE, cluster = NULL, conf_level = 0.95)` returns a
#'   row per coefficient. `term` is the column of the design matrix. The coefficient belongs to the
#'   log odds of `category` against the first category. Further columns are `estimate`, `std.error`,
#'   `conf.low`, `conf.high`, and `statistic` and `p.value` of the test that the coefficient is
#'   zero. With `exponentiate = TRUE`, estimates and intervals are odds ratios, and standard errors
#'   are those of log odds ratios.
#' * `tidy(fit, "margins", cluster = NULL, conf_level = 0.95)` returns average marginal differences
#'   of the probability of each category. `term` is the covariate, and `contrast` names the compared
#'   values. For a numeric covariate, the estimate is the mean change of the probability if the
#'   value of each case increases by one. For a factor, probabilities are computed twice for all
#'   cases, with the given level and with the first level. The estimate is the difference of the two
#'   means. Standard errors are computed by the delta method, with fixed covariates.
#' * `tidy(fit, "differential")` returns a row per `rater` and covariate (`term`) with a test of
#'   *Errors that depend on covariates*. Further columns are `statistic`, `df`, `p.value`,
#'   `p.adjusted`, and `reason`, which explains why there is no test.
#'
#' `vcov(fit, "regression", cluster = )` and `confint(fit, what = "regression", cluster = )` return
#' covariances and intervals of the coefficients. `predict(fit, newdata)`, with a data frame of
#' covariates, returns the base rates of cases with these covariates.
#'
#' `cluster` contains the cluster of each case: the name of a covariate, a vector named by case, or
#' a data frame with a column `case` and one other column. Errors of cases in the same cluster may
#' be dependent.
#'
#' @section Standard errors: Standard errors are robust (sandwich): the covariance of the
#' coefficients is `n / (n - 1)` times the sum over cases of `u u'`. Here `n` is the number of
#' cases. The influence `u` of a case is the inverse of the observed information (Louis, 1982) times
#' the score of the case (the derivative of its log likelihood). With `cluster`, influences are
#' summed within clusters, `n` is the number of clusters, and intervals use the t distribution with
#' `n - 1` degrees of freedom. With a survey design (`design` of [fit_raters()]), the covariance is
#' computed by `survey::svyrecvar()`. Without `what`, `confint(fit)` returns intervals of all
#' parameters, whose standard errors assume that the model is right.
#'
#' @section Errors that depend on covariates: If raters' errors depend on covariates, for example
#' because coders are more lenient in one group, the coefficients are biased. [fit_raters()]
#' therefore tests each rater and covariate by a likelihood ratio. The alternative hypothesis is
#' that the errors of the rater differ between groups of cases. The groups are the levels of a
#' factor. A numeric covariate with more than two values is split at the median. There is a warning
#' of class `fallible_warning_differential` if a p-value, adjusted by Holm's method, is below .05.
#' If the tests would be slow, [fit_raters()] does not compute them, and
#' `tidy(fit, "differential")` computes them on request.
#'
#' The tests have these conditions:
#' * There are at least three raters, or there are gold cases, or there are known raters.
#' * The model has `accuracy = "rater"`, `confidence = FALSE` and no priors (the default with a
#'   formula).
#' * Weights of cases are whole numbers.
#' * The rater is not known, and has ratings in at least two of the groups.
#'
#' The tests do not detect a difference between groups that is the same for all raters. Their power
#' is limited: with 500 cases and three raters, a difference of .2 in one rater's sensitivity was
#' detected in 48% to 69% of simulated data sets.
#'
#' @name regression
#' @family models of raters
#' @references Bolck, A., Croon, M. and Hagenaars, J. (2004). Estimating latent structure models
#'   with categorical variables: one-step versus three-step estimators. *Political Analysis*, 12,
#'   3-27.
#'
#'
#'
#'   Hui, S. L. and Walter, S. D. (1980). Estimating the error rates of diagnostic tests.
#'   *Biometrics*, 36, 167-171. \doi{10.2307/2530508}
#'
#'   Louis, T. A. (1982). Finding the observed information matrix when using the EM algorithm.
#'   *Journal of the Royal Statistical Society B*, 44, 226-233.
#'
#'   Magder, L. S. and Hughes, J. P. (1997). Logistic regression when the outcome is measured with
#'   uncertainty. *American Journal of Epidemiology*, 146, 195-203.
#' @examples
#' # Simulate a binary outcome that depends on age, and three raters who err
#' set.seed(1)
#' age <- rnorm(300)
#' truth <- rbinom(300, 1, plogis(age))
#' code <- function(accuracy) ifelse(runif(300) < accuracy, truth, 1 - truth)
#' data <- data.frame(age, a = code(0.8), b = code(0.75), c = code(0.85))
#' x <- ratings(data, raters = a:c, covariates = age)
#' fit <- fit_raters(x, rater_model("rater", "free", base_rates = ~age))
#' # Coefficients; the true slope is 1
#' tidy(fit, "regression")
#' # Change of the probabilities if age increases by one
#' tidy(fit, "margins")
#' # Base rates at two ages
#' predict(fit, data.frame(age = c(-1, 1)))
NULL

is_regression <- function(fit) has_formula(fit$model) && inherits(fit, "latent_fit")

# Returns TRUE if argument `what` is "regression", FALSE if it is NULL. Other values are an error.
wants_regression <- function(what) {
  !is.null(what) && nzchar(check_choice(what, "regression", "what"))
}

# Returns a list of `covariance`, the robust covariance matrix of the regression coefficients, and
# `df`, the degrees of freedom of their intervals. `cluster`: cluster of each case, or NULL.
regression_covariance <- function(fit, cluster = NULL) {
  abort_argument_if(!is_regression(fit), "object",
    "must be a fit by {.code method = \"likelihood\"} of a model with a formula of base rates.",
    x = "It is a fit of the {format(fit$model)} by method {.val {fit$method}}.")
  x <- fit$x
  survey_design <- fit$design
  abort_argument_if(!is.null(cluster) && !is.null(survey_design), "cluster",
    "{.arg cluster} cannot be used, because the survey design of the fit defines the clusters.")
  cluster <- check_case_values(cluster, x, "cluster")
  terms <- rate_coefficient_names(fit)
  covariance <- matrix(NA_real_, length(terms), length(terms), dimnames = list(terms, terms))
  if (fit$identified != "yes") return(list(covariance = covariance, df = Inf))
  check_memory(as.double(n_patterns(x)) * length(fit$theta), "scores of cases",
    "Use fewer cases or raters.")
  # Influence of one case of each pattern on each coefficient, a matrix (patterns x coefficients).
  influence <- na_real(core_latent_influence(
    x$patterns, pattern_weights(x), fit$known, model_of_fit(fit), fit$theta
  ))
  # The covariance is a sum of squared influences. A weight n that is a count stands for n
  # independent cases, so the influence is multiplied by sqrt(n). With clusters, a survey design, or
  # weights that are not counts, the influence is multiplied by the weight.
  weight_exponent <- if (is.null(c(cluster, survey_design)) && weights_are_counts(x)) 0.5 else 1
  influence <- influence[x$index, match(terms, names(fit$coefficients))] *
    weights_of_cases(x)^weight_exponent
  if (!is.null(survey_design)) {
    influence[survey_design$row, ] <- influence
    survey_design <- survey_design$survey
    covariance[] <- survey::svyrecvar(influence, survey_design$cluster, survey_design$strata,
      survey_design$fpc, postStrata = survey_design$postStrata)
    return(list(covariance = covariance, df = survey::degf(survey_design)))
  }
  n <- count_cases(x)
  df <- Inf
  if (!is.null(cluster)) {
    influence <- rowsum(influence, as.character(cluster))
    n <- nrow(influence)
    df <- max(n - 1, 1)
  }
  if (n > 1) covariance[] <- crossprod(influence) * n / (n - 1)
  list(covariance = covariance, df = df)
}

tidy_regression <- function(x, exponentiate = FALSE, cluster = NULL, conf_level = 0.95) {
  check_flag(exponentiate, "exponentiate")
  covariance_and_df <- regression_covariance(x, cluster)
  term_grid <- expand.grid(term = x$known$base$names, category = seq_len(n_categories(x$x))[-1L])
  coefficient_table <- columns_tibble(
    term = as.character(term_grid$term), category = category_factor(term_grid$category, x$x),
    !!!normal_columns(x$coefficients[rate_coefficient_names(x)], covariance_and_df, conf_level)
  )
  exponentiated_columns <- c("estimate", limit_columns)
  if (exponentiate)
    coefficient_table[exponentiated_columns] <- exp(coefficient_table[exponentiated_columns])
  coefficient_table
}

# Returns a list with the columns of a table of estimates: estimates, standard errors, intervals,
# and tests of the null hypothesis that the true value is 0. `covariance_and_df`: a list of
# `covariance`, the covariance matrix of the estimates, and `df`, the degrees of freedom of the t
# distribution (Inf for the normal distribution).
normal_columns <- function(estimate, covariance_and_df, conf_level) {
  check_level(conf_level)
  std_error <- sqrt(diag(covariance_and_df$covariance))
  half_width <- qt((1 + conf_level) / 2, covariance_and_df$df) * std_error
  statistic <- estimate / std_error
  list(estimate = estimate, std.error = std_error, conf.low = estimate - half_width,
    conf.high = estimate + half_width, statistic = statistic,
    p.value = 2 * pt(-abs(statistic), covariance_and_df$df))
}

tidy_margins <- function(x, cluster = NULL, conf_level = 0.95) {
  covariance_and_df <- regression_covariance(x, cluster)
  covariates <- pattern_covariates(x$x)
  stack_rows(names(covariates), function(term) {
    covariate <- covariates[[term]]
    # Each level of a factor is compared with the first level.
    compared_values <- x$known$base$xlev[[term]] %||% c(FALSE, TRUE)
    contrast <- paste(compared_values[-1L], "-", compared_values[[1L]])
    if (is.numeric(covariate)) {
      compared_values <- list(covariate, covariate + 1)
      contrast <- "+1"
    }
    design_matrices <- lapply(compared_values, function(value) {
      tryCatch(
        unscaled_design(x, replace(covariates, term, list(replace(covariate, TRUE, value)))),
        fallible_error = function(cnd) {
          abort_argument("x",
            "Marginal differences cannot be computed for {.val {term}}: the formula converts this
                numeric covariate to a factor.",
            i = "Convert it to a factor in the data, before you call {.fun ratings}.")
        }
      )
    })
    compute_differences <- function(coefficients) {
      mean_rates_by_value <- vapply(design_matrices, function(design) {
        rates <- exp(log_base_rates(design, matrix(coefficients, ncol(design))))
        drop(prop.table(pattern_weights(x$x) * is_rated_pattern(x$x)) %*% rates)
      }, numeric(n_categories(x$x)))
      as.vector(mean_rates_by_value[, -1L] - mean_rates_by_value[, 1L])
    }
    coefficients <- x$coefficients[rate_coefficient_names(x)]
    jacobian <- central_differences(compute_differences, coefficients)
    covariance <- jacobian %*% covariance_and_df$covariance %*% t(jacobian)
    difference_grid <- expand.grid(category = seq_len(n_categories(x$x)), contrast = contrast)
    columns_tibble(term = rep(term, nrow(difference_grid)),
      contrast = as.character(difference_grid$contrast),
      category = category_factor(difference_grid$category, x$x),
      !!!normal_columns(
        compute_differences(coefficients),
        replace(covariance_and_df, "covariance", list(covariance)), conf_level
      ))
  })
}

# ---- Errors that depend on covariates -----------------------------------------------------------

# Returns a table of likelihood ratio tests, with a row per rater and covariate. The alternative
# hypothesis is that the rater's errors differ between groups of cases, which are defined by the
# covariate.
tidy_differential_errors <- function(x) {
  if (!is.null(x$differential_errors)) return(x$differential_errors)
  tests <- as_tibble(expand.grid(rater = x$x$raters, term = names(pattern_covariates(x$x)),
    stringsAsFactors = FALSE))
  is_impossible <- c(
    "weights are not counts" = !weights_are_counts(x$x),
    "the fit is not identified" = x$identified != "yes",
    "the model has one accuracy for all raters" = x$model$accuracy != "rater",
    "the model uses confidence" = uses_confidence(x$model),
    "the model has a prior" = !is_empty(x$model$prior),
    "the test needs three raters, known truths or known raters" =
      n_distinct(rating_rater(x$x)) <= 2L && !has_known_values(x$known)
  )
  rater_number <- replace(match(tests$rater, x$x$raters), any(is_impossible), NA)
  test_results <- stack_rows(Map(likelihood_ratio_of_groups, list(x), rater_number, tests$term))
  tests$statistic <- test_results[, 1L]
  tests$df <- test_results[, 2L]
  tests$p.value <- pchisq(tests$statistic, tests$df, lower.tail = FALSE)
  tests$p.adjusted <- p.adjust(tests$p.value, "holm")
  reason <- c(names(is_impossible)[is_impossible],
    "the rater is known, or its errors in two groups of cases cannot be compared")
  tests$reason <- ifelse(is.na(tests$p.value), reason[1L], NA)
  tests
}

# Computes the likelihood ratio test of whether the errors of rater number `j` differ between groups
# of cases. Returns the statistic and the degrees of freedom; both are NA if the test is not
# possible. In the alternative model, the rater has a separate confusion matrix in each group. The
# groups are the levels of covariate `term`. A numeric covariate is split at its median.
likelihood_ratio_of_groups <- function(fit, j, term) {
  missing_result <- c(NA_real_, NA_real_)
  if (is.na(j) || is_known_rater(fit)[[j]]) return(missing_result)
  x <- fit$x
  covariate <- pattern_covariates(x)[[term]]
  if (is.numeric(covariate) && n_distinct(covariate) > 2L) {
    # Splits cases into values above the median, and other values. If no value is above the median,
    # splits them into values equal to the median, and smaller values.
    weight <- pattern_weights(x)
    case_order <- order(covariate)
    weighted_median <-
      covariate[case_order][[which.max(2 * cumsum(weight[case_order]) >= sum(weight))]]
    covariate <- if (any(covariate > weighted_median)) covariate > weighted_median else
      covariate >= weighted_median
  }
  rater <- rating_rater(x)
  # Groups in which the rater has no ratings are merged with the first group. This does not change
  # the likelihood, because the rater's matrix is not used in such groups.
  group <- match(covariate, unique(covariate[rating_pattern(x)[rater == j]]), nomatch = 1L) - 1L
  n_added_raters <- max(group)
  if (n_added_raters == 0L) return(missing_result)
  x$patterns$rater <- rater + n_added_raters * (rater > j) + group[rating_pattern(x)] * (rater == j)
  x$patterns$raters <- n_raters(x) + n_added_raters
  x$raters <- seq_len(x$patterns$raters)
  known_values <- fit$known
  if (!is_empty(known_values$raters))
    known_values$raters <- append(known_values$raters, vector("list", n_added_raters), j)
  core_fit <- fit_core(x, fit$model, "likelihood", known_values, NULL, no_tick)
  df <- core_fit$parameters - fit$parameters
  if (!core_fit$identified || df == 0) return(missing_result)
  c(max(2 * (core_fit$log_likelihood - fit$log_likelihood), 0), df)
}

# Adds the tests of tidy_differential_errors() to a fit, warns if a test is significant, and returns
# the fit. If the tests would take more than 1e8 computing steps, they are left out. Users can then
# call tidy(fit, "differential").
test_differential_errors <- function(fit) {
  n_steps <- as.double(n_patterns(fit$x)) * n_raters(fit$x) * length(fit$theta)^2
  if (!is_regression(fit) || n_steps > 1e8) return(fit)
  fit$differential_errors <- tidy_differential_errors(fit)
  significant_rows <- which(fit$differential_errors$p.adjusted < 0.05)
  biased_raters <- unique(fit$differential_errors$rater[significant_rows])
  warn_if(biased_raters, "differential",
    "The errors of {cli::qty(length(biased_raters))}rater{?s} {.val {biased_raters}} seem
      to depend on the covariates of {.code {formula_text(fit$model)}}.",
    x = "If they do, the coefficients of base rates are biased.",
    i = "The tests are in {.code tidy(fit, \"differential\")}. To allow errors that differ between
        groups of cases, give a rater a separate name in each group, as in
        {.code paste(rater, group)}.",
    raters = biased_raters)
  fit
}

# ---- Survey designs -----------------------------------------------------------------------------

# Weights the cases of ratings `x` by a survey design. Returns a list of two elements. `x` contains
# the ratings, with weights that sum to the number of cases. `design` is a list of `survey`, the
# survey design, and `row`, the row of the design that belongs to each case.
resolve_design <- function(x, design) {
  check_installed("survey", "for a survey design")
  abort_argument_if(!inherits(design, "survey.design2"), "design",
    "must be a survey design with a row per case, made by {.fun survey::svydesign}.", not = design)
  abort_argument_if(!is.null(x$weights), "design",
    "{.arg design} cannot be used if {.arg x} has weights.",
    x = "The design contains the weights.", i = "Create {.arg x} without {.arg weights}.")
  weight <- weights(design)
  case <- replace_key_columns(design$variables, names(x$keys))[["case"]]
  row <- match(as_label(x$cases), as_label(case))
  if (is.null(case) && is.null(why_not_by_position(weight, x))) row <- seq_along(weight)
  abort_argument_if(anyNA(row) || length(row) != length(weight), "design",
    "must have one row per case of {.arg x}.",
    x = if (length(weight) == nrow(x)) "Names of cases differ." else
      "It has {length(weight)} row{?s}, and {.arg x} has {nrow(x)} case{?s}.",
    i = "Its column {.val case} must name the cases of {.arg x}. Without this column, rows must
        be in the order of the cases.")
  x <- weigh_patterns(x, weight[row] / mean(weight))
  list(x = x, design = list(survey = design, row = row))
}
