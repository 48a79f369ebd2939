#' Fit a model to raters
#'
#' Estimates how accurate raters are, and how frequent the categories are, from the agreement
#' between raters alone; the answers of systems are not used.
#'
#' With `method = "likelihood"` any [rater_model()] is fitted to the distinct rows of ratings, by
#' L-BFGS on the log posterior from the shares of votes and other starts, the best of which is kept
#' (after steps of the EM algorithm where errors are free). Standard errors are from the curvature
#' at the top, as if what lies on a boundary were known, and `NA` for more than 500 parameters. Two
#' ratings of a case by one rater count as independent.
#'
#' * A model with more parameters than the raters at hand can ever tell apart (free errors and two
#'   raters, or errors by distance and two categories, say) is not identified: a warning of class
#'   `fallible_warning_not_identified`, and `NA`. The rule is the rank of a matrix of scores of
#'   answers drawn for raters who rated together; of a crowd of more than 20, for the raters of the
#'   case that has most.
#' * `fallible_warning_no_convergence` says that the top was not reached, and
#'   `fallible_warning_switched` that classes have changed names.
#'
#' With `method = "algebraic"` agreement is the share of agreeing pairs among all pairs of ratings
#' by different raters, over all cases, and rater accuracy and base rates solve Lehner's equations 2
#' and 5. Standard errors are by the delta method over cases.
#'
#' * If agreement is no better than by chance (1 / number of categories), rater accuracy is set to
#'   chance and nothing else is identified: a warning of class `fallible_warning_not_identified`,
#'   and `NA` for base rates and all that would follow from them. The same if no two raters share a
#'   case; then rater accuracy is `NA` too.
#' * Estimated base rates can be negative in small samples. They are set to zero, the others
#'   rescaled to sum to one, with a warning of class `fallible_warning_boundary`. A category with
#'   base rate zero has probability zero in every case, even where all raters chose it; the warning
#'   counts such cases.
#'
#' @param x A [ratings()] object.
#' @param model A [rater_model()].
#' @param method `"algebraic"`, for the [k_model()] and its default, or `"likelihood"`, the default
#'   for other models.
#' @param ... Not used.
#' @return An object of class `rater_fit`, with methods for `print()`, `summary()`, `coef()`,
#'   `vcov()`, `nobs()`, `logLik()`, `AIC()`, `BIC()`, `predict()`, [tidy()][tidy.rater_fit],
#'   [glance()][tidy.rater_fit] and [autoplot()][autoplot.rater_fit], and the functions
#'   [base_rates()], [confusion()] and [ground_truth()].
#' @family estimation
#' @templateVar where Equations 1-5
#' @template ref-lehner
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' fit <- fit_raters(x)
#' fit
#' base_rates(fit)
#' @export
fit_raters <- function(x, model = k_model(), method = NULL, ...) {
  call <- rlang::current_env()
  check_ratings(x)
  check_single_label(x)
  check_class(model, "rater_model", "model", "Make one with {.fun rater_model}.")
  method <- check_method(method, model, x, call)
  check_dots_empty(...)
  fit <- switch(method, algebraic = fit_algebraic(x, model), likelihood = fit_likelihood(x, model))
  warn_fit(fit)
  fit
}

# Algebra knows the K-model only; a model of each rater must know the raters.
check_method <- function(method, model, x, call) {
  if (is.null(method)) method <- if (is_k_model(model)) "algebraic" else "likelihood"
  check_choice(method, c("algebraic", "likelihood"), "method", call = call)
  if (method == "algebraic" && !is_k_model(model)) {
    abort_fallible("argument", c(
      "{.code method = \"algebraic\"} fits the K-model only.",
      "x" = "{.arg model} is the {format(model)}.",
      "i" = "Use {.code method = \"likelihood\"}."
    ), arg = "method", call = call)
  }
  if (model$accuracy == "rater" && x$exchangeable) {
    abort_fallible("argument", c(
      "A model with an accuracy for each rater needs to know who gave which rating.",
      "x" = "{.arg x} has counts of ratings.",
      "i" = "Choose {.code accuracy = \"common\"}."
    ), arg = "model", call = call)
  }
  method
}

# Fields: x, model, method, identified ("yes" or why not), agreement, kappa, rater_accuracy,
# base_rates, negative (base rates that were), covariance of the coefficients. Methods for fits know
# these and nothing else of how a fit came about; `posterior(fit)` is the rest.
new_rater_fit <- function(fields) structure(fields, class = "rater_fit")

warn_fit <- function(fit) {
  if (fit$identified != "yes") {
    warn_fallible("not_identified", c(
      "Nothing can be said about accuracy: {reason_of_fit(fit)}.",
      "i" = "Base rates and everything that follows from them are {.code NA}."
    ), reason = reason_of_fit(fit))
  } else if (fit$method == "likelihood") {
    warn_likelihood(fit)
  } else if (fit$negative > 0L) {
    zero <- fit$x$categories[fit$base_rates == 0]
    against <- count_cases(fit$x, ruled_out(fit))
    warn_fallible("boundary", c(
      "Base rates that came out negative were set to zero: {.val {zero}}.",
      "i" = "This happens by chance in small samples and with weak raters; in large samples it is a
             sign that the model does not fit. The other base rates were rescaled to sum to one.",
      if (against > 0) c(
        "!" = "In {against} case{?s} every rater chose such a category, which now has probability
               zero there. Join rare categories, or check the labels."
      )
    ), negative = fit$negative, categories = zero, against = against)
  }
}

# Patterns with ratings, all of them in categories whose base rate is zero.
ruled_out <- function(fit) {
  patterns <- fit$x$patterns
  possible <- fit$base_rates[patterns$category] > 0
  rated_patterns(fit$x) &
    !seq_along(rated_patterns(fit$x)) %in% rating_pattern(patterns)[possible]
}

# Why nothing follows from a fit; NA if it does.
reason_not_identified <- function(identified, agreement, categories) {
  reason <- rep(NA_character_, length(identified))
  reason[identified == "no_pairs"] <- "no case was rated by two raters"
  chance <- identified == "chance"
  reason[chance] <- paste0(
    "raters agree no better than by chance (agreement ", decimals(agreement[chance]), ", chance ",
    decimals(1 / categories), ")"
  )
  reason
}

reason_of_fit <- function(fit) {
  if (fit$identified == "parameters") {
    return(reason_of_parameters(fit$model, length(fit$x$categories)))
  }
  reason_not_identified(fit$identified, fit$agreement, length(fit$x$categories))
}

reason_of_parameters <- function(model, categories) {
  paste(
    "the", format(model), "has more parameters than ratings by these raters into", categories,
    "categories can tell apart"
  )
}

# What a user may give where a fit is needed.
as_fit <- function(fit, call = rlang::caller_env()) {
  if (is_ratings(fit)) fit <- fit_raters(fit)
  if (inherits(fit, "accuracy_estimate")) fit <- fit$fit
  check_class(fit, "rater_fit", "fit", "Make one with {.fun fit_raters}.", call = call)
}

#' Base rates and confusion matrix of a fit
#'
#' @param fit A [fit_raters()] result; or [ratings()], to which the K-model is then fitted.
#' @param x A [fit_raters()] result.
#' @param ... Not used.
#' @return `base_rates()`: named vector of probabilities, one per category. `confusion()`: matrix of
#'   probabilities, true category in rows, rating in columns (the paper's Table 1), the mean over
#'   strata of difficulty; a list of such matrices, one per rater, where the model tells raters
#'   apart. `NA` where not identified.
#' @family estimation
#' @examples
#' fit <- fit_raters(ratings(fleiss1971, case = case, counts = depression:other))
#' base_rates(fit)
#' confusion(fit)
#' @export
base_rates <- function(fit) {
  fit <- as_fit(fit)
  stats::setNames(fit$base_rates, fit$x$categories)
}

#' @rdname base_rates
#' @export
confusion <- function(x, ...) UseMethod("confusion")

#' @export
confusion.default <- function(x, ...) {
  check_class(x, "rater_fit", "x", "Make one with {.fun fit_raters}.")
}

#' @rdname base_rates
#' @export
confusion.rater_fit <- function(x, ...) {
  if (x$method == "likelihood") {
    return(likelihood_confusion(x))
  }
  categories <- x$x$categories
  n <- length(categories)
  out <- matrix(
    (1 - x$rater_accuracy) / (n - 1), n, n,
    dimnames = list(truth = categories, rating = categories)
  )
  diag(out) <- x$rater_accuracy
  if (x$identified == "yes") out else out * NA_real_
}

#' @export
coef.rater_fit <- function(object, ...) object$coefficients

#' @export
vcov.rater_fit <- function(object, ...) {
  terms <- names(stats::coef(object))
  structure(object$covariance, dimnames = list(terms, terms))
}

#' @export
nobs.rater_fit <- function(object, ...) count_cases(object$x, rated_patterns(object$x))

#' Tables of a fit
#'
#' @param x A [fit_raters()] result.
#' @param ... Not used.
#' @return `tidy()`: a tibble with a row per parameter: `term`, `estimate` and `std.error` (delta
#'   method over cases; `NA` for base rates if one of them is zero, for all if raters agree
#'   perfectly, and where weights do not count cases).
#'   `glance()`: a tibble with one row: `agreement` (share of agreeing rater pairs), `kappa` (chance
#'   agreement 1 / number of categories), `rater_accuracy`, the numbers of `cases` (rows), `raters`,
#'   `ratings`, `categories` and `patterns`; `logLik`, `AIC` and `BIC`, `NA` for fits that do not
#'   maximise a likelihood; and `nobs`, the number of cases with a rating.
#' @family estimation
#' @examples
#' fit <- fit_raters(ratings(fleiss1971, case = case, counts = depression:other))
#' tidy(fit)
#' glance(fit)
#' @export
tidy.rater_fit <- function(x, ...) {
  check_dots_empty(...)
  variance <- diag(stats::vcov(x))
  tibble::tibble(
    term = names(stats::coef(x)), estimate = unname(stats::coef(x)),
    std.error = sqrt(unname(variance))
  )
}

#' @rdname tidy.rater_fit
#' @export
glance.rater_fit <- function(x, ...) {
  check_dots_empty(...)
  data <- x$x
  log_likelihood <- stats::logLik(x)
  tibble::tibble(
    agreement = x$agreement, kappa = x$kappa,
    rater_accuracy = x$rater_accuracy,
    cases = length(data$index), raters = length(data$raters),
    ratings = sum(diff(data$patterns$start)[data$index]), categories = length(data$categories),
    patterns = length(data$patterns$start) - 1L,
    logLik = as.double(log_likelihood), AIC = stats::AIC(log_likelihood),
    BIC = stats::BIC(log_likelihood), nobs = stats::nobs(x)
  )
}

#' @rdname tidy.rater_fit
#' @param row.names,optional Not used.
#' @export
as.data.frame.rater_fit <- function(x, row.names = NULL, optional = FALSE, # nolint: object_name.
                                    ...) {
  tidy(x)
}

#' @export
print.rater_fit <- function(x, ...) {
  cat_lines(format_fit(x))
  if (x$identified == "yes") {
    cat_lines(
      paste0("Base rates: ", format_rates(x)),
      if (x$negative > 0L) {
        paste(count_noun(x$negative, "base rate"), "came out negative, set to zero")
      },
      "", if (x$method == "likelihood") {
        "Next: ground_truth(), confusion(), tidy(), plot()."
      } else {
        "Next: ground_truth(), estimate_accuracy(), tidy(), plot()."
      }
    )
  }
  invisible(x)
}

format_fit <- function(fit) {
  size <- dim(fit$x)
  out <- paste0(
    "<rater_fit> ", format(fit$model), ", ", fit$method, ", ", count_noun(size[[1L]], "case"),
    ", ", count_noun(size[[2L]], "rater")
  )
  if (fit$identified != "yes") {
    return(c(out, paste0("Not identified: ", reason_of_fit(fit))))
  }
  c(
    out,
    paste0(
      "Pairs of raters agree: ", percent(fit$agreement), " (kappa ", decimals(fit$kappa), ")"
    ),
    format_accuracy(fit), format_likelihood(fit)
  )
}

format_accuracy <- function(fit) {
  table <- tidy(fit)
  if (fit$model$accuracy == "rater") {
    accuracy <- stats::setNames(table$estimate[seq_along(fit$x$raters)], fit$x$raters)
    ends <- c(which.min(accuracy), which.max(accuracy))
    return(paste0(
      "Raters are right with probability ", decimals(accuracy[[ends[[1L]]]]), " (",
      names(accuracy)[[ends[[1L]]]], ") to ", decimals(accuracy[[ends[[2L]]]]), " (",
      names(accuracy)[[ends[[2L]]]], "), mean ", decimals(fit$rater_accuracy)
    ))
  }
  error <- table$std.error[[1L]]
  paste0(
    "A rater is right with probability ", decimals(fit$rater_accuracy),
    if (!is.na(error)) paste0(" (standard error ", decimals(error), ")")
  )
}

format_likelihood <- function(fit) {
  if (fit$method != "likelihood") {
    return(NULL)
  }
  value <- stats::coef(fit)
  c(
    if (fit$model$errors == "distance") {
      paste0("Errors are ", decimals(value[["dispersion"]], 2L), " times likelier a step nearer")
    },
    if (fit$model$difficulty == "strata") {
      paste0("Accuracy shifts with difficulty by ", decimals(value[["difficulty"]]))
    },
    paste0(
      "Log-likelihood ", decimals(fit$log_likelihood, 2L), ", ",
      count_noun(fit$parameters, "free parameter"), ", AIC ", decimals(stats::AIC(fit), 1L)
    )
  )
}

format_rates <- function(fit) {
  shorten(paste(fit$x$categories, decimals(fit$base_rates)), most = 6L)
}

#' @export
summary.rater_fit <- function(object, ...) {
  structure(list(fit = object), class = "summary_rater_fit")
}

#' @export
print.summary_rater_fit <- function(x, ...) {
  cat_lines(format_fit(x$fit))
  print_table("Parameters", tidy(x$fit))
  matrices <- confusion(x$fit)
  if (is.matrix(matrices)) matrices <- list(`a rater` = matrices)
  for (name in utils::head(names(matrices), 6L)) {
    cat("\nConfusion matrix of ", name, " (truth in rows)\n", sep = "")
    print(round(matrices[[name]], 3L))
  }
  if (length(matrices) > 6L) cat("... and", length(matrices) - 6L, "more; see confusion()\n")
  invisible(x)
}

#' Most probable categories
#'
#' @param object A [fit_raters()] result.
#' @param type `"category"` for the most probable category of each case, or `"probability"` for the
#'   same as [ground_truth()].
#' @param ... Not used.
#' @return For `"category"`, a tibble with `case`, `category` (a factor; the first of tied
#'   categories), `probability` and `tied`, the number of categories that share the highest
#'   probability. `NA` where not identified.
#' @family estimation
#' @examples
#' fit <- fit_raters(ratings(lehner2015, raters = rater1:rater4, case = case))
#' predict(fit)
#' @export
predict.rater_fit <- function(object, type = c("category", "probability"), ...) {
  check_dots_empty(...)
  type <- check_choice(type, c("category", "probability"), "type")
  if (type == "probability") {
    return(ground_truth(object))
  }
  by_pattern <- posterior(object)
  highest <- by_pattern[cbind(seq_len(nrow(by_pattern)), max.col(by_pattern, "first"))]
  tied <- by_pattern >= highest * (1 - tie_tolerance)
  best <- max.col(tied + 0, ties.method = "first")
  index <- object$x$index
  tibble::tibble(
    case = object$x$cases, category = category_factor(best, object$x)[index],
    probability = highest[index],
    tied = as.integer(rowSums(tied))[index]
  )
}

# Relative; the core uses the same.
tie_tolerance <- 1e-9
