# What a fit prints.

#' @srrstats {UL4.3, UL4.3a} as much as a screen has
#' @noRd
schema_of.rater_fit <- function(x) { # nolint: object_name.
  identified <- x$identified == "yes"
  title <- title_of_fit(x)
  next_step <- if (x$method == "algebraic") "estimate_accuracy()" else "confusion()"
  new_schema(
    class = "rater_fit", tables = c(list(parameters = tidy_fit), if (is_regression(x)) list(
      regression = tidy_regression, margins = tidy_margins, differential = tidy_differential
    )), facts = facts_of_fit(x),
    line = line_of_fit(x, title),
    head = c(title, lines_of_fit(x)), shown = function(x) view(utils::head(tidy(x), 20L)),
    summary = summary_of_fit,
    notes = if (identified) c(
      paste0("Base rates: ", shorten(paste(x$x$categories, decimals(x$base_rates)), most = 6L)),
      if (x$negative > 0L) {
        paste0(count_noun(x$negative, "base rate"), " estimated below zero, and set to zero")
      },
      format_votes(x$x), format_known(x), if (is_k_model(x$model) && !has_counts(x$x)) {
        "For labels take ground_truth(ratings), which averages over models"
      }, if (inherits(x, c("k_fit", "latent_fit", "family_fit"))) assumption_of(x),
      note_of_regression(x)
    ),
    more = if (identified) c(Next = paste0("ground_truth(), ", next_step, ", tidy(), plot()"))
  )
}

line_of_fit <- function(fit, title = title_of_fit(fit)) {
  paste0(title, ": ", if (fit$identified == "yes") {
    sprintf("rater accuracy %s, Fleiss' kappa %s", decimals(fit$rater_accuracy, 2L),
      decimals(kappa_of_agreement(fit$x, fit$agreement), 2L))
  } else {
    paste0("not identified (", reason_of_fit(fit), ")")
  })
}

title_of_fit <- function(fit) {
  x <- fit$x
  # Weights that are counts are cases.
  cases <- if (weights_are_counts(x)) sum(weights_of_cases(x)) else nrow(x)
  toString(c(
    format(fit$model), fit$method, count_noun(cases, "case"), count_noun(ncol(x), "rater")
  ))
}

lines_of_fit <- function(fit) {
  if (fit$identified != "yes") return(paste0("Not identified: ", reason_of_fit(fit)))
  c(
    if (!is.na(fit$agreement)) sprintf("Pairs of raters agree: %s (Fleiss' kappa %s)",
      percent(fit$agreement), decimals(kappa_of_agreement(fit$x, fit$agreement))),
    format_accuracy(fit), format_sureness(fit), likelihood_lines(fit), abstain_lines(fit)
  )
}

format_accuracy <- function(fit) {
  if (fit$model$accuracy == "rater") {
    accuracy <- stats::coef(fit)[seq_along(fit$x$raters)]
    ends <- c(which.min(accuracy), which.max(accuracy))
    ends <- paste0(decimals(accuracy[ends]), " (", fit$x$raters[ends], ")", collapse = " to ")
    return(paste0("Accuracy of raters: ", ends, ", mean ", decimals(fit$rater_accuracy)))
  }
  error <- fit$accuracy_error %||% NA
  paste0(
    "Accuracy of every rater: ", decimals(fit$rater_accuracy),
    if (!is.na(error)) paste0(" (standard error ", decimals(error), ")")
  )
}

# Of models with confidence.
format_sureness <- function(fit) {
  if (!uses_confidence(fit$model)) return(NULL)
  most <- utils::tail(fit$x$confidence$levels, 1L)
  share <- percent(stats::coef(fit)[paste0("confidence_", c("right", "wrong"), "[", most, "]")])
  sprintf("Confidence is %s in %s of right and %s of wrong answers", most, share[[1L]],
    share[[2L]])
}

likelihood_lines <- function(fit) UseMethod("likelihood_lines")

likelihood_lines.k_fit <- function(fit) NULL

likelihood_lines.posterior_fit <- function(fit) {
  "Only the posterior is known: there is no log-likelihood to compare"
}

likelihood_lines.judge_fit <- function(fit) {
  c(calibration_words(fit), "Base rates are the shares of its ratings, corrected by this sample")
}

likelihood_lines.rater_fit <- function(fit) {
  value <- stats::coef(fit)
  centre <- fit$centre
  prior <- mostly_prior(fit)
  c(
    if (isTRUE(value["dispersion"] > 0)) sprintf(
      "An error one category nearer to the truth is %.2f times as likely", value[["dispersion"]]
    ),
    if (isTRUE(value["difficulty"] >= 0)) sprintf(
      "Accuracy is %.3f higher in easy cases, and lower in hard ones", value[["difficulty"]]
    ),
    if (fit$method == "pairs") {
      "Fitted to the frequencies of pairs of ratings: there is no log-likelihood to compare"
    } else {
      paste0(
        "Log-likelihood ", decimals(fit$log_likelihood, 2L), ", ",
        count_noun(fit$parameters, "free parameter"),
        if (is.null(centre)) paste0(", AIC ", decimals(stats::AIC(fit), 1L))
      )
    },
    if (!is.null(centre)) paste(
      "Matrices lie around a centre of the panel, which weighs as much as", decimals(centre$c, 1L),
      "ratings of a category"
    ),
    if (length(prior) > 0L) paste("Fewer than that, so mostly prior:", shorten(prior))
  )
}

format_known <- function(fit) {
  cases <- count_cases(fit$x, known_patterns(fit))
  raters <- list(
    "Known raters:" = is_known_rater(fit), "Calibration samples:" = is_counted_rater(fit)
  )
  raters <- Filter(any, raters)
  c(
    if (cases > 0L) paste("The truth of", count_noun(cases, "case"), "was given"),
    vapply(names(raters), function(what) paste(what, shorten(fit$x$raters[raters[[what]]])), "")
  )
}

# The matrices of a fit, for summary().
summary_of_fit <- function(x) {
  matrices <- confusion(x)
  if (has_one_matrix(x)) matrices <- list(`a rater` = matrices[[1L]])
  shown <- utils::head(matrices, 6L)
  more <- length(matrices) - length(shown)
  views <- Map(function(matrix, name) {
    view_of_matrix(matrix, "truth", most = Inf, title = paste0("Confusion matrix of ", name,
      if (more > 0L && name == names(shown)[[6L]]) paste0("; see confusion() for ", more, " more")))
  }, shown, names(shown))
  c(list(view(tidy(x), title = "Parameters", most = 12L)), unname(views))
}
