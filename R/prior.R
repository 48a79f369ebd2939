#' Priors for raters and base rates
#'
#' What is known of raters, tests and populations before the ratings are seen, for a fit that
#' [fit_raters()] makes with `method = "bayes"`. A published study may say that a test has a
#' sensitivity of about 90%, and surely above 80%: `list(mode = 0.9, at_least = 0.8)` says the same.
#'
#' @section A Beta distribution:
#' Wherever a prior of one probability is asked for, it is one of these:
#' * `list(a, b)`, or `c(a, b)`: the parameters, as if a - 1 right and b - 1 wrong answers had been
#'   seen before.
#' * `list(mode =, at_least =, sure = 0.95)`: the most probable value, and a lower one that is
#'   exceeded with the probability `sure`. With `at_most` it is an upper one, for modes near 0. The
#'   bound must say more than the flat prior does: `at_least` is above `1 - sure`, `at_most` below
#'   `sure`.
#' * `list(range = c(lower, upper))`: mean in the middle, and standard deviation a quarter of the
#'   width, as in Joseph, Gyorkos and Coupal (1995).
#'
#' @section A rater:
#' * `list(sens =, spec =)`, for two categories, the second of which is positive: sensitivity and
#'   specificity. One that is left out has the prior of `others` (the vague one, with `"partial"`).
#' * `list(right =)`: the probability of a right rating, whatever the truth; the only form for
#'   models with uniform errors. Where errors are free it holds for the row of each true category,
#'   with wrong ratings in equal shares, or in those of `wrong`: a positive number for each category
#'   as an answer, of which each row takes those that would be wrong.
#' * A matrix of Dirichlet parameters, the true category in rows. The row `c(8, 2, 2)` is as if
#'   seven right answers and one of each other kind had been seen beyond a flat prior.
#'
#' In a model with one accuracy or matrix for all raters, what is said of one is said of all.
#'
#' @section Others:
#' * `"vague"`: as if four ratings were known of each true category, 70% of them right: Beta(2.8,
#'   1.2), with wrong ratings in equal shares. The total is the same for any number of categories.
#' * `"flat"`: Dirichlet(1), all matrices equally probable; for two categories uniform sensitivity
#'   and specificity. `order` is then `"each"`, unless you say otherwise.
#' * `"partial"`: matrices lie around a centre of the panel, which is estimated with them.
#' * Any prior of a rater in the forms above.
#'
#' @srrstats {BS1.0, BS1.2, BS1.2b, BS1.2c} `vignette("tests-without-gold")`; the word
#'   hyperparameter is not used
#' @srrstatsNA {BS1.2a} the README is about first steps, which take no prior
#' @param ... Priors of raters, with their names.
#' @param base_rates Prior of the base rates: a number, the Dirichlet parameter of all categories; a
#'   vector with one for each category by name; for two categories a Beta distribution of the second
#'   one, as a list. For populations with base rates of their own a list of these with their names,
#'   or a matrix with a row for each.
#' @param others Prior of raters who are not named, and of systems that join them.
#' @param order What keeps categories from changing names: of all raters together (`"mean"`) or of
#'   `"each"` the answer k must be more probable where k is the truth than where it is not. With
#'   `"none"` the priors must tell.
#' @return An object of class `rater_prior`. `tidy()` has a row per distribution: `rater` (`NA` for
#'   base rates), `part`, `prior` in words, and `mean`, `lower` and `upper`, between which 90% lie,
#'   of the probability (of a right rating, for a row of a matrix; `NA` where that takes the number
#'   of categories).
#' @family estimation
#' @references Joseph, L., Gyorkos, T. W. and Coupal, L. (1995). Bayesian estimation of disease
#'   prevalence and the parameters of diagnostic tests in the absence of a gold standard. *American
#'   Journal of Epidemiology*, 141, 263-272. \doi{10.1093/oxfordjournals.aje.a117428}
#' @examples
#' # Two tests for Strongyloides, with the experts' ranges of Joseph, Gyorkos and Coupal (1995)
#' rater_prior(
#'   stool = list(sens = list(range = c(0.05, 0.45)), spec = list(range = c(0.9, 1))),
#'   serology = list(sens = list(range = c(0.65, 0.95)), spec = list(4.1, 1.76)),
#'   order = "none"
#' )
#' # A sensitivity of probably 90%, surely above 80%; nothing is known of other tests
#' rater_prior(pcr = list(sens = list(mode = 0.9, at_least = 0.8)), others = "flat")
#' # Three categories, and a rater who knows the first one well
#' tidy(rater_prior(ann = rbind(c(18, 1, 1), c(1, 4, 1), c(1, 1, 4))))
#' @export
rater_prior <- function(..., base_rates = 1, others = c("vague", "flat", "partial"),
                        order = c("mean", "each", "none")) {
  raters <- list(...)
  abort_argument_if(length(raters) > 0L && !has_own_names(raters), "...",
    "Priors must have the names of raters, each once.",
    x = "The names are {.val {rlang::names2(raters)}}.")
  law <- if (is.list(others) || is.matrix(others)) {
    check_rater_law(others, "others")
  } else {
    check_choice(others)
  }
  if (missing(order) && identical(law, "flat")) order <- "each"
  new_result("rater_prior",
    raters = Map(check_rater_law, raters, names(raters)), others = law,
    order = check_choice(order, c("mean", "each", "none")),
    base_rates = check_rate_laws(base_rates)
  )
}

has_own_names <- function(x) rlang::is_named(x) && anyDuplicated(names(x)) == 0L

# What Gibbs sampling can divide by.
least_parameter <- 1e-3

check_proper <- function(parameters, what) {
  ok <- is.numeric(parameters) && all(is.finite(parameters) & parameters >= least_parameter)
  abort_if(!ok, "prior",
    "The prior of {what} is improper: its parameters must be finite, and at least
     {least_parameter}.", x = "They are {.val {parameters}}.")
  parameters
}

# ---- One probability ----------------------------------------------------------------------------

# c(a, b) of a Beta distribution, however it was stated; `what` it is of.
beta_law <- function(x, what) {
  stated <- as.list(x)
  form <- toString(sort_strings(setdiff(rlang::names2(stated), "sure")))
  plain <- is_beta_list(stated) && (is.list(x) || is.numeric(x)) && !anyNA(unlist(stated))
  if (plain && length(stated) == 2L && form %in% c("", ", ", "a, b")) {
    if (form == "a, b") stated <- stated[c("a", "b")]
    return(check_proper(as.double(unlist(stated, use.names = FALSE)), what))
  }
  if (plain && form == "range" && length(stated) == 1L) return(beta_of_range(stated$range, what))
  by_mode <- form %in% c("at_least, mode", "at_most, mode") && anyDuplicated(names(stated)) == 0L
  abort_if(!plain || !by_mode, "prior",
    "The prior of {what} must be {.code list(a, b)}, {.code list(mode =, at_least =)},
     {.code list(mode =, at_most =)} or {.code list(range = c(lower, upper))}.", not = x)
  beta_of_mode(stated$mode, stated$at_least, stated$at_most, stated$sure %||% 0.95, what)
}

is_beta_list <- function(x) {
  names <- rlang::names2(x)
  forms <- c("a", "b", "mode", "at_least", "at_most", "sure", "range")
  is.list(x) && all(vapply(x, is.numeric, NA)) &&
    all(lengths(x) == ifelse(names == "range", 2L, 1L)) &&
    (all(names == "") || all(names %in% forms))
}

beta_of_range <- function(range, what) {
  ok <- range[[1L]] >= 0 && range[[1L]] < range[[2L]] && range[[2L]] <= 1
  abort_if(!ok, "prior", "The range of {what} must be a lower and a higher probability.",
    x = "It is {.val {range}}.")
  mean <- mean(range)
  size <- mean * (1 - mean) / (diff(range) / 4)^2 - 1
  c(mean, 1 - mean) * size
}

# With weight s beyond the flat prior, a = 1 + mode s and b = 1 + (1 - mode) s; the s at which the
# bound is exceeded as surely as stated. An upper bound is a lower one of the other answer.
beta_of_mode <- function(mode, at_least, at_most, sure, what) {
  abort_if(!(mode >= 0 && mode <= 1 && sure > 0 && sure < 1), "prior",
    "The mode of {what} must be a probability, and {.field sure} one in (0, 1).",
    x = "They are {mode} and {sure}.")
  low <- !is.null(at_least)
  top <- if (low) mode else 1 - mode
  bound <- if (low) at_least else 1 - at_most
  abort_if(bound <= 1 - sure && bound < top, "prior",
    "The flat prior is already more certain of {what} than that.",
    x = "A uniform probability is {if (low) 'above' else 'below'} {at_least %||% at_most} with
         probability {1 - bound}, and you say {sure}.",
    i = "{.code list(1, 1)} is the flat prior. For a mode near {if (low) 0 else 1} give
         {.field {if (low) 'at_most' else 'at_least'}}.")
  shape <- function(log_size) 1 + c(top, 1 - top) * exp(log_size)
  excess <- function(log_size) {
    stats::pbeta(bound, shape(log_size)[[1L]], shape(log_size)[[2L]]) - (1 - sure)
  }
  abort_if(bound >= top || excess(15) > 0, "prior",
    "{.field {if (low) 'at_least' else 'at_most'}} of {what} must be {if (low) 'below' else 'above'}
     its mode, and not too near it.", x = "They are {at_least %||% at_most} and {mode}.")
  # Flat up to rounding, if the bound is as sure as a uniform probability makes it.
  flat <- excess(-20) <= 0
  found <- shape(if (flat) -20 else stats::uniroot(excess, c(-20, 15), tol = 1e-12)$root)
  if (low) found else rev(found)
}

# ---- A rater, base rates ------------------------------------------------------------------------

# A list of Beta distributions (sens, spec or right), of shares `wrong`, or of a `matrix`.
check_rater_law <- function(one, rater) {
  if (is.data.frame(one)) one <- as.matrix(one)
  if (is.matrix(one)) {
    abort_if(nrow(one) != ncol(one), "prior",
      "The prior of {.val {rater}} must be a square matrix, with the truth in rows.",
      x = "It is {nrow(one)} x {ncol(one)}.")
    return(list(matrix = check_proper(unclass(one), rater)))
  }
  parts <- if (is.list(one)) rlang::names2(one)
  by_truth <- length(parts) > 0L && all(parts %in% c("sens", "spec"))
  whole <- "right" %in% parts && all(parts %in% c("right", "wrong"))
  abort_if(!(by_truth || whole) || anyDuplicated(parts) > 0L, "prior",
    "The prior of {.val {rater}} must be {.code list(sens =, spec =)}, {.code list(right =)} with
     {.field wrong} or without, or a matrix of Dirichlet parameters.",
    x = if (length(parts) > 0L) "It has {.val {parts}}." else "It is {describe(one)}.")
  long <- c(sens = "the sensitivity", spec = "the specificity", right = "right ratings")
  for (part in setdiff(parts, "wrong")) {
    one[[part]] <- beta_law(one[[part]], paste(long[[part]], "of", rater))
  }
  if (!is.null(one$wrong)) check_proper(one$wrong, paste("wrong ratings of", rater))
  one
}

# A list over populations, without names where there is one: c(a, b) as `beta`, or the Dirichlet
# parameters of `categories`.
check_rate_laws <- function(x) {
  if (is.data.frame(x)) x <- as.matrix(x)
  if (is.matrix(x)) x <- stats::setNames(asplit(unclass(x), 1L), rownames(x))
  one <- function(law) {
    if (is_beta_list(law)) return(list(beta = beta_law(law, "base rates")))
    list(categories = check_proper(law, "base rates"))
  }
  if (!is.list(x) || is_beta_list(x)) return(list(one(x)))
  abort_argument_if(!has_own_names(x), "base_rates",
    "Priors of several populations must have their names, each once.",
    x = "The names are {.val {rlang::names2(x)}}.")
  lapply(x, one)
}

tidy_prior <- function(x) {
  named <- Map(law_rows, x$raters, names(x$raters))
  others <- if (is.list(x$others)) {
    law_rows(x$others, "others")
  } else {
    # What a right rating has where that does not depend on the number of categories.
    shape <- if (x$others == "vague") plain_parameters("vague", 2L, TRUE) else c(NA, NA)
    list(law_row("others", x$others, others_words[[x$others]], shape))
  }
  rates <- Map(rate_row, x$base_rates, rlang::names2(x$base_rates))
  rows <- c(unlist(unname(named), recursive = FALSE), others, unname(rates))
  tibble::as_tibble(stack_tables(rows))
}

others_words <- c(
  vague = "total 4, 70% right", flat = "Dirichlet(1)", partial = "around the centre of the panel"
)

# `shape`: of a Beta distribution, where there is one.
law_row <- function(rater, part, prior, shape = c(NA_real_, NA_real_)) {
  ends <- stats::qbeta(c(0.05, 0.95), shape[[1L]], shape[[2L]])
  list(
    rater = rater, part = part, prior = prior, mean = shape[[1L]] / sum(shape), lower = ends[[1L]],
    upper = ends[[2L]]
  )
}

law_rows <- function(law, rater) {
  if (!is.null(law$matrix)) {
    labels <- rownames(law$matrix) %||% seq_len(nrow(law$matrix))
    return(lapply(seq_along(labels), function(k) {
      row <- unname(law$matrix[k, ])
      law_row(rater, paste("truth", labels[[k]]), prior_words("Dirichlet", row),
        c(row[[k]], sum(row[-k])))
    }))
  }
  words <- c(sens = "sensitivity", spec = "specificity", right = "right")
  lapply(intersect(names(words), names(law)), function(part) {
    law_row(rater, words[[part]], prior_words("Beta", law[[part]]), law[[part]])
  })
}

rate_row <- function(law, population) {
  part <- if (population == "") "base rates" else paste("base rates of", population)
  if (is.null(law$beta)) {
    law_row(NA_character_, part, prior_words("Dirichlet", law$categories))
  } else {
    law_row(
      NA_character_, paste(part, "(second category)"), prior_words("Beta", law$beta), law$beta
    )
  }
}

schema_of.rater_prior <- function(x) { # nolint: object_name.
  who <- if (length(x$raters) > 0L) paste0(shorten(names(x$raters)), "; ")
  named <- is.list(x$others)
  table <- tidy_prior(x)
  shown <- data.frame(
    rater = ifelse(is.na(table$rater), "", table$rater), table[c("part", "prior")],
    mean = ifelse(is.na(table$mean), "", decimals(table$mean)),
    interval = bracketed(table$lower, table$upper, "")
  )
  shown[] <- lapply(shown, printable)
  new_schema(
    tables = list(priors = table),
    facts = list(
      raters = length(x$raters), others = if (named) "own" else x$others, order = x$order,
      populations = length(x$base_rates)
    ),
    line = printable(paste0(
      "Priors: ", who, "others ", if (named) "as you say" else x$others, ", order ", x$order
    )),
    shown = view(shown, c("rater", "part", "prior", "mean", `90%` = "interval"), left = 1:3)
  )
}
