#' Regression on a category that coders get wrong
#'
#' A category that coders or a classifier assigned with error is regressed on covariates of cases.
#' The regression is the formula of base rates of [rater_model()]: the dependent variable is the
#' unseen true category, and raters' errors are estimated together with the coefficients.
#'
#' @section Model:
#' The log odds of category k against the first category are a linear function of the covariates of
#' a case, \eqn{\log(p_k / p_1) = x' \beta_k}. Given the true category, raters err independently:
#' the probability of a rating depends on the rater and the true category only. Coefficients of
#' majority labels, or of the answers of a classifier, are biased towards zero; these are not.
#' The model is identified by three raters, by two raters if base rates differ (Hui and Walter,
#' 1980, see [rater_model()]), or by gold cases or known raters. One coder or classifier needs gold
#' cases or known errors: `known_truth` or `known_raters` of [fit_raters()]. Gold cases may be a
#' random sample, or a sample whose probabilities depend on ratings and covariates of the formula
#' only: the likelihood is given these, so it needs no weights for it.
#'
#' @section Standard errors:
#' They are robust (sandwich). With posterior probabilities \eqn{q}, the score of a case is
#' \eqn{(q_k - p_k) x} for the coefficients of category k, and \eqn{q_k (1[r = l] - \pi_{kl})} for
#' the log odds of the answer l to a case of category k, summed over the answers r of a rater.
#' Information is observed information (Louis, 1982); the influence of a case is its score times the
#' inverse of the information. Parameters on a boundary count as known, and so do priors as absent.
#' The sum of squares of influences is multiplied by n / (n - 1); with `cluster`, influences are
#' summed within each of n clusters, and intervals have a t distribution with n - 1 degrees of
#' freedom. With `design`, the covariance is that of [survey::svyrecvar()], with strata, clusters and
#' finite populations of the design. These standard errors are for models with free or uniform
#' errors, fitted by likelihood; for others they are an error.
#'
#' @section Errors that depend on covariates:
#' The regression assumes that raters' errors do not depend on covariates (non-differential errors).
#' If coders are more lenient in one group, the difference enters the coefficients. With three
#' raters, or gold cases or known raters, [fit_raters()] tests this for each rater: a score test
#' (outer product of gradients) of log odds of a right answer that depend on the columns of the
#' formula, in each true category. If one of the p-values, adjusted by Holm's method, is below .05,
#' there is a warning of class `fallible_warning_differential`. It does not look for errors that
#' differ in the same way for all raters, and is not made for fits with weights that are not counts.
#' In simulations of 500 cases and three raters with sensitivities and specificities of .75 to .85
#' it found a difference of .2 in one rater's sensitivity between two groups in 55% to 69% of
#' panels, and rejected in 7% of panels without any.
#'
#' @section Tables:
#' * `tidy(fit, "regression", exponentiate = FALSE, cluster = NULL, conf_level = 0.95)` has a row
#'   per coefficient: `term`; `category`, whose log odds against the first category are meant;
#'   `estimate`, `std.error`, `conf.low`, `conf.high`, `statistic` and `p.value`. With
#'   `exponentiate = TRUE`, estimates and intervals are odds ratios; standard errors remain those of
#'   the log odds ratio.
#' * `tidy(fit, "margins", cluster = NULL, conf_level = 0.95)`: average marginal differences of the
#'   probability of each category, with the same columns and `contrast`: for a factor, the mean
#'   difference to its first level if all cases had the level; for a number, the mean slope.
#'   Standard errors are by the delta method, given the covariates.
#' * `tidy(fit, "differential")`: the test of each `rater`, with `statistic`, `df`, `p.value`,
#'   `p.adjusted` and `reason`, why there is none.
#'
#' `vcov(fit, "regression", cluster = )` and `confint(fit, what = "regression", cluster = )` are the
#' covariances and intervals of the first table. (Without `"regression"` both are those of
#' `tidy(fit)`: of all parameters, from the curvature of the likelihood.) `predict(fit, newdata)`,
#' with a data frame of covariates, has the base rates of such cases.
#'
#' `cluster` is the name of a covariate, a vector with the names of cases, or a data frame with a
#' column `case` and one other, as in [estimate_accuracy()].
#'
#' @name regression
#' @family estimation
#' @references Bolck, A., Croon, M. and Hagenaars, J. (2004). Estimating latent structure models with
#'   categorical variables: one-step versus three-step estimators. *Political Analysis*, 12, 3-27.
#'
#'   Carroll, R. J., Ruppert, D., Stefanski, L. A. and Crainiceanu, C. M. (2006). *Measurement error
#'   in nonlinear models*. Chapman & Hall, chapter 15.
#'
#'   Louis, T. A. (1982). Finding the observed information matrix when using the EM algorithm.
#'   *Journal of the Royal Statistical Society B*, 44, 226-233.
#'
#'   Magder, L. S. and Hughes, J. P. (1997). Logistic regression when the outcome is measured with
#'   uncertainty. *American Journal of Epidemiology*, 146, 195-203.
#' @examples
#' set.seed(1)
#' age <- rnorm(300)
#' truth <- rbinom(300, 1, plogis(age))
#' code <- function(accuracy) ifelse(runif(300) < accuracy, truth, 1 - truth)
#' data <- data.frame(age, a = code(0.8), b = code(0.75), c = code(0.85))
#' x <- ratings(data, raters = a:c, covariates = age)
#' fit <- fit_raters(x, rater_model("rater", "free", base_rates = ~age))
#' tidy(fit, "regression")
#' tidy(fit, "margins")
#' predict(fit, data.frame(age = c(-1, 1)))
NULL

is_regression <- function(fit) has_formula(fit$model) && inherits(fit, "latent_fit")

regression_tables <- function(fit) {
  if (is_regression(fit)) list(
    regression = tidy_regression, margins = tidy_margins, differential = tidy_differential
  )
}

of_regression <- function(what) !is.null(what) && nzchar(check_choice(what, "regression", "what"))

# Is it a model whose scores are known?
supports_regression <- function(fit) {
  is_regression(fit) && fit$model$errors %in% c("free", "uniform") &&
    fit$model$difficulty == "none" && !uses_confidence(fit$model)
}

check_regression <- function(fit) {
  abort_argument_if(!supports_regression(fit), "x",
    "must be a fit by likelihood with a formula of base rates, and with free or uniform errors.",
    x = "It is one of the {format(fit$model)}.",
    i = "Use {.code rater_model(\"rater\", \"free\", base_rates = ~ z)}, for a covariate z.")
}

# Parameters of errors that are neither known nor on a boundary, a row each: the log odds of `answer`
# by `rater` given `truth`, against the most probable answer. Where errors are uniform, those of the
# right answer to cases of any truth (0).
error_parameters <- function(fit) {
  categories <- seq_len(n_categories(fit$x))
  cell <- expand.grid(rater = raters_with_errors(fit), truth = categories, answer = categories)
  p <- fit$matrices[as.matrix(cell)]
  inside <- !is.na(p) & !on_boundary(p)
  if (fit$model$errors == "uniform") {
    return(transform(cell[inside & cell$truth == 1L & cell$answer == 1L, ], truth = 0L))
  }
  inside <- inside & duplicated(cell[order(-p), 1:2])[order(order(-p))]
  cell[inside, ]
}

# Raters whose errors are estimated; the first stands for all if they are equal.
raters_with_errors <- function(fit) {
  raters <- which(!is_known_rater(fit))
  if (fit$model$accuracy == "common") utils::head(raters, 1L) else raters
}

# At the estimate, score: patterns x parameters (coefficients of the standardised design, then
# `errors`, as error_parameters() has them), for one case; information: parameters x parameters.
# Given the truth, scores are those of multinomial logits.
pattern_scores <- function(fit, errors = error_parameters(fit)) {
  x <- fit$x
  n <- n_patterns(x)
  categories <- seq_len(n_categories(x))
  raters <- n_raters(x)
  weight <- pattern_weights(x)
  design <- pattern_design(fit)
  rates <- pattern_rates(fit)
  category <- rep(categories[-1L], each = ncol(design))
  check_memory(as.double(n) * (length(category) + nrow(errors)), "scores of cases",
    "Choose cases or raters.")
  who <- rating_rater(x)
  if (fit$model$accuracy == "common") who[!is_known_rater(fit)[who]] <- raters_with_errors(fit)
  # Ratings of a pattern by rater and answer; rows of `slope` below are such cells.
  counts <- tabulate(rating_pattern(x) + n * (who - 1L + raters * (rating_category(x) - 1L)),
    n * raters * length(categories))
  rated <- rowSums(array(counts, c(n, raters, length(categories))), dims = 2L)
  counts <- matrix(counts, n)
  cell <- expand.grid(rater = seq_len(raters), answer = categories)
  score <- information <- 0
  for (k in categories) {
    posterior <- weight * fit$posterior[, k]
    of_rates <- design[, rep_len(seq_len(ncol(design)), length(category)), drop = FALSE] *
      (rep(category == k, each = n) - rates[, category, drop = FALSE])
    answer <- ifelse(errors$truth == 0L, k, errors$answer)
    p <- fit$matrices[cbind(errors$rater, rep(k, nrow(errors)), answer)]
    slope <- t(t(outer(cell$answer, answer, `==`)) - p) *
      (outer(cell$rater, errors$rater, `==`) & rep(errors$truth %in% c(0L, k), each = nrow(cell)))
    given <- cbind(of_rates, counts %*% slope)
    score <- score + fit$posterior[, k] * given
    law <- replace(fit$matrices[, k, ], is.na(fit$matrices[, k, ]), 0)
    complete <- crossprod(slope * sqrt(as.vector(law))) * colSums(posterior * rated)[errors$rater]
    of <- seq_along(category)
    information <- information - crossprod(given * sqrt(posterior))
    information[of, of] <- information[of, of] + crossprod(of_rates * sqrt(weight * rates[, k]))
    information[-of, -of] <- information[-of, -of] + complete
  }
  list(score = score, information = information + crossprod(score * sqrt(weight)))
}

pattern_design <- function(fit) {
  formula_design(fit$model$base_rates, pattern_covariates(fit$x), fit$known$base)$matrix
}

# Robust covariance of the coefficients, and degrees of freedom of their intervals.
regression_errors <- function(fit, cluster = NULL) {
  check_regression(fit)
  abort_argument_if(!is.null(cluster) && !is.null(fit$design), "cluster",
    "The survey design of the fit has its clusters.", i = "Leave {.arg cluster} out.")
  x <- fit$x
  cluster <- check_case_values(cluster, x, "cluster")
  terms <- coefficient_terms(fit$known$base$names, x$categories)
  none <- matrix(NA_real_, length(terms), length(terms), dimnames = list(terms, terms))
  if (fit$identified != "yes") return(list(covariance = none, df = Inf))
  found <- pattern_scores(fit)
  inverse <- tryCatch(solve(found$information), error = function(cnd) found$information * NA)
  scale <- kronecker(diag(n_categories(x) - 1L), unscaled(fit$known$base))
  influence <- found$score %*% inverse[, seq_along(terms), drop = FALSE] %*% t(scale)
  weight <- weights_of_cases(x)
  # A case that stands for several has their influences one by one.
  by_itself <- is.null(cluster) && is.null(fit$design) && weights_are_counts(x)
  influence <- influence[x$index, , drop = FALSE] * if (by_itself) sqrt(weight) else weight
  n <- count_cases(x)
  df <- Inf
  if (!is.null(fit$design)) {
    survey <- fit$design$survey
    influence[fit$design$row, ] <- influence
    none[] <- survey::svyrecvar(
      influence, survey$cluster, survey$strata, survey$fpc, postStrata = survey$postStrata
    )
    return(list(covariance = none, df = survey::degf(survey)))
  }
  if (!is.null(cluster)) {
    influence <- rowsum(influence, number_clusters(cluster))
    n <- nrow(influence)
    df <- n - 1
  }
  if (n > 1) none[] <- crossprod(influence) * n / (n - 1)
  list(covariance = none, df = df)
}

tidy_regression <- function(x, exponentiate = FALSE, cluster = NULL, conf_level = 0.95) {
  check_flag(exponentiate, "exponentiate")
  found <- regression_errors(x, cluster)
  columns <- x$known$base$names
  category <- rep(seq_len(n_categories(x$x))[-1L], each = length(columns))
  out <- columns_tibble(
    term = rep_len(columns, length(category)), category = category_factor(category, x$x),
    !!!normal_columns(x$coefficients[rownames(found$covariance)], found$covariance, found$df,
      conf_level)
  )
  ends <- c("estimate", "conf.low", "conf.high")
  if (exponentiate) out[ends] <- lapply(out[ends], exp)
  out
}

normal_columns <- function(estimate, covariance, df, conf_level) {
  check_level(conf_level, "conf_level")
  error <- sqrt(diag(covariance))
  half <- if (df > 0) stats::qt((1 + conf_level) / 2, df) * error else NA
  statistic <- unname(estimate / error)
  lapply(list(
    estimate = estimate, std.error = error, conf.low = estimate - half,
    conf.high = estimate + half, statistic = statistic,
    p.value = if (df > 0) 2 * stats::pt(-abs(statistic), df) else NA_real_
  ), unname)
}

tidy_margins <- function(x, cluster = NULL, conf_level = 0.95) {
  found <- regression_errors(x, cluster)
  data <- pattern_covariates(x$x)
  weight <- pattern_weights(x$x) / sum(pattern_weights(x$x))
  value <- x$coefficients[rownames(found$covariance)]
  contrasts <- unlist(lapply(names(data), contrasts_of, data, x$known$base$xlev), FALSE)
  stack_rows(contrasts, function(contrast) {
    high <- unscaled_design(x, contrast$high)
    low <- unscaled_design(x, contrast$low)
    mean_rates <- function(design, b) weight %*% exp(log_base_rates(design, matrix(b, ncol(design))))
    difference <- function(b) {
      if (anyNA(b)) return(rep(NA_real_, n_categories(x$x)))
      drop(mean_rates(high, b) - mean_rates(low, b)) / contrast$step
    }
    slopes <- differences(difference, value)
    category <- category_factor(seq_len(nrow(slopes)), x$x)
    columns_tibble(category = category, term = contrast$term, contrast = contrast$name,
      !!!normal_columns(difference(value), slopes %*% found$covariance %*% t(slopes), found$df,
        conf_level)
    )[c("term", "contrast", "category", "estimate", interval_columns, "statistic", "p.value")]
  })
}

# Comparisons of a covariate: the data if all cases had a level, or a little more of a number, and
# what they are compared with.
contrasts_of <- function(term, data, levels) {
  column <- data[[term]]
  with <- function(value) replace(data, term, list(replace(column, TRUE, value)))
  if (is.numeric(column)) {
    step <- slope_step * max(stats::sd(column), slope_step, na.rm = TRUE)
    return(list(list(term = term, name = "slope", high = with(column + step),
      low = with(column - step), step = 2 * step)))
  }
  levels <- levels[[term]] %||% c(FALSE, TRUE)
  lapply(levels[-1L], function(level) {
    list(term = term, name = paste(level, "-", levels[[1L]]), high = with(level),
      low = with(levels[[1L]]), step = 1)
  })
}

# ---- Errors that depend on covariates -----------------------------------------------------------

# Score test, for each rater, of log odds of right answers that depend on the design. With the
# outer product of the scores, the statistic is the part of the weights that scores explain.
tidy_differential <- function(x) {
  if (!is.null(x$differential)) return(x$differential)
  check_regression(x)
  out <- columns_tibble(rater = x$x$raters, statistic = NA_real_, df = NA_integer_,
    p.value = NA_real_, p.adjusted = NA_real_, reason = NA_character_)
  lack <- lack_of_test(x)
  out$reason <- lack %||% ifelse(is_known_rater(x), "the rater's errors are given", NA_character_)
  if (!is.null(lack)) return(out)
  categories <- seq_len(n_categories(x$x))
  right <- expand.grid(rater = raters_with_errors(x), truth = categories)
  right$answer <- right$truth
  right <- right[!on_boundary(x$matrices[as.matrix(right)]) %in% c(TRUE, NA), ]
  weight <- sqrt(pattern_weights(x$x))
  score <- weight * pattern_scores(x, rbind(error_parameters(x), right))$score
  usual <- score[, seq_len(ncol(score) - nrow(right)), drop = FALSE]
  design <- pattern_design(x)[, -1L, drop = FALSE]
  explained <- function(score) {
    of <- qr(score)
    c(sum(qr.fitted(of, weight)^2), of$rank)
  }
  for (j in unique(right$rater)) {
    moved <- lapply(ncol(usual) + which(right$rater == j), function(at) score[, at] * design)
    found <- explained(cbind(usual, do.call(cbind, moved))) - explained(usual)
    if (found[[2L]] > 0) out[j, c("statistic", "df")] <- list(found[[1L]], as.integer(found[[2L]]))
  }
  out$p.value <- stats::pchisq(out$statistic, out$df, lower.tail = FALSE)
  out$p.adjusted <- stats::p.adjust(out$p.value, "holm")
  out
}

lack_of_test <- function(fit) {
  if (fit$identified != "yes") return(reason_of_fit(fit))
  if (length(unique(rating_rater(fit$x))) < 3L && !knows_some(fit$known)) {
    return("the test needs three raters, or gold cases")
  }
  free <- fit$model$accuracy == "rater" && fit$model$errors == "free"
  if (!free || length(fit$model$prior) > 0L || !weights_are_counts(fit$x)) {
    "the test is for free errors of each rater, without priors, and weights that count cases"
  }
}

# The fit with the test, and a warning if it rejects. A large fit is tested only on request.
with_differential <- function(fit, most = 1e9) {
  work <- as.double(n_patterns(fit$x)) * length(fit$theta)^2
  if (!supports_regression(fit) || work > most) return(fit)
  fit$differential <- tidy_differential(fit)
  off <- fit$x$raters[which(fit$differential$p.adjusted < 0.05)]
  warn_if(off, "differential", "Errors seem to depend on the covariates of
      {.code {formula_text(fit$model)}}: {cli::qty(length(off))}rater{?s} {.val {off}}.",
    x = "Coefficients of the base rates then contain differences in errors.",
    i = "See {.code tidy(fit, \"differential\")}. Fit groups separately, or leave these raters out.",
    raters = off)
  fit
}

note_of_regression <- function(fit) {
  if (!is_regression(fit)) return(NULL)
  p <- stats::na.omit(fit$differential$p.adjusted)
  c(
    paste0("Assumed: raters' errors do not depend on ", toString(all.vars(fit$model$base_rates)),
      " (non-differential errors; ", if (length(p) > 0L) paste("smallest p-value of a test by rater",
        show_p(min(p))) else "not tested", ")"),
    if (!is.null(fit$design)) "Weights, strata and clusters are those of a survey design"
  )
}

# ---- Survey designs -----------------------------------------------------------------------------

# `x` with the weights of a survey design, scaled to the number of cases; `row`: of each case in the
# design.
with_design <- function(x, design, model, method) {
  check_installed("survey", "for a survey design")
  abort_argument_if(!inherits(design, "survey.design2"), "design",
    "must be a survey design with a row per case, made by {.fun survey::svydesign}.", not = design)
  abort_argument_if(!is.null(x$weights), "design", "A survey design has the weights of the cases.",
    x = "{.arg x} has weights too.", i = "Make {.arg x} without {.arg weights}.")
  usable <- inherits(model, "rater_model") && is.null(model$family) && has_formula(model) &&
    (method %||% "likelihood") == "likelihood"
  abort_argument_if(!usable, "design", "A survey design is for models with a formula of base rates,
      fitted by likelihood.", i = "See {.help [regression](fallible::regression)}.")
  weight <- stats::weights(design)
  case <- with_case(as.data.frame(design$variables), names(x$keys))[["case"]]
  lack <- if (is.null(case)) lack_of_order(weight, x)
  row <- if (is.null(case)) seq_along(weight) else match(as_label(x$cases), as_label(case))
  abort_argument_if(!is.null(lack) || anyNA(row) || length(row) != length(weight), "design",
    "must have one row per case of {.arg x}, in a column {.val case} or in the same order.",
    x = lack)
  weight <- weight[row]
  if (any(weight != weight[[1L]])) x <- weigh_patterns(x, weight * length(weight) / sum(weight))
  list(x = x, design = list(survey = design, row = row))
}
