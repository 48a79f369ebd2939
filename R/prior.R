#' Priors for raters and base rates
#'
#' Specifies prior distributions of the accuracy of raters (or diagnostic tests) and of base rates,
#' for [fit_raters()] with `method = "bayes"`.
#'
#' @section Prior of a probability: The prior of a probability is a Beta distribution, in one of
#' these forms:
#' * `list(a, b)` or `c(a, b)`: its two parameters. They are equivalent to a flat prior and a - 1
#'   correct and b - 1 wrong answers.
#' * `list(mode =, at_least =, sure = 0.95)`: the most probable value, and a lower bound that is
#'   exceeded with probability `sure`. For modes near 0, give an upper bound `at_most` instead of
#'   `at_least`.
#' * `list(range = c(lower, upper))`: the mean is the middle of the range, and the standard
#'   deviation is a quarter of its width (Joseph, Gyorkos and Coupal, 1995).
#'
#' @section Prior of a rater: The prior of a rater has one of these forms:
#' * `list(sens =, spec =)`: priors of sensitivity and specificity, for two categories. The second
#'   category is positive. Without factor levels, labels are in alphabetical order, so that
#'   `"healthy"` is positive and `"diseased"` is not. Give the order by `ratings(categories =
#'   c("healthy", "diseased"))`. If `sens` or `spec` is left out, it has the prior `others` (the
#'   vague prior if `others` is `"partial"`).
#' * `list(right =)`: prior of the probability of a correct rating, the same for all true
#'   categories. Wrong categories have equal shares of the wrong ratings. Other shares can be given
#'   by a further element `wrong`, a positive number per category. Models with uniform errors
#'   (argument `errors` of [rater_model()]) need the form `list(right =)`.
#' * A matrix of Dirichlet parameters, with the true category in rows and the rating in columns. The
#'   row `c(8, 2, 2)` is equivalent to a flat prior, seven correct answers and one answer of each
#'   wrong category.
#'
#' If the model has one accuracy or one confusion matrix for all raters, the prior of one rater is
#' used for all.
#'
#' @srrstats {BS1.0, BS1.2, BS1.2b, BS1.2c} `vignette("tests-without-gold")`; the word
#'   hyperparameter is not used
#' @srrstatsNA {BS1.2a} the README is about first steps, which take no prior
#' @param ... Priors of raters, named by rater; see *Prior of a rater*.
#' @param base_rates Prior of the base rates (the shares of cases with each true category):
#'   * a number (1 by default): the Dirichlet parameter of all categories;
#'   * a named vector: a Dirichlet parameter per category;
#'   * a list, for two categories: a Beta distribution of the second category, see *Prior of a
#'     probability*;
#'   * for populations (groups of cases with separate base rates): a list of such priors named by
#'     population, or a matrix of Dirichlet parameters with a row per population.
#' @param others Prior of raters without a prior in `...`, and of systems (classifiers), if method
#'   `"joint"` of [estimate_accuracy()] fits them like raters:
#'   * `"vague"` (the default): a correct rating has the prior Beta(2.8, 1.2), which is worth four
#'     ratings, 70% of them correct. Wrong categories have equal shares.
#'   * `"flat"`: all confusion matrices are equally probable (Dirichlet parameters 1).
#'   * `"partial"`: confusion matrices vary around a mean matrix, which is also estimated (partial
#'     pooling).
#'   * the prior of a rater; see *Prior of a rater*.
#' @param order Constraint that prevents categories from being exchanged (label switching): an
#'   answer must be more probable if it is true than if it is not. It is imposed on the mean of all
#'   raters (`"mean"`) or on `"each"` rater. With `"none"` there is no constraint, so the priors
#'   must distinguish the categories. The default is `"each"` if `others` is `"flat"`, and otherwise
#'   `"mean"`.
#' @return An object of class `rater_prior`. `tidy()` returns a tibble with a row per distribution:
#'
#'   * `rater`: name of the rater; `"others"` for other raters; `NA` for base rates.
#'   * `part`: the probability that has the prior, such as `"sensitivity"`. For a matrix, its row,
#'     such as `"truth 1"`.
#'   * `prior`: the prior, as text.
#'   * `mean`, `lower`, `upper`: mean and central interval of the probability, or of the probability
#'     of a correct rating in the row of a matrix. `NA` if they depend on the number of categories.
#'     The level of the interval is 0.9, see [fallible-options].
#'
#'   `glance()` returns one row: the number of `raters` with a prior in `...`; `others` (`"own"` if
#'   it is the prior of a rater) and `order`; and the number of `populations` with priors.
#' @family models of raters
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
#' # A sensitivity of probably 90%, almost certainly above 80%; flat priors for other tests
#' rater_prior(pcr = list(sens = list(mode = 0.9, at_least = 0.8)), others = "flat")
#' # Three categories, and a rater who recognises the first one well
#' tidy(rater_prior(ann = rbind(c(18, 1, 1), c(1, 4, 1), c(1, 1, 4))))
#' @export
rater_prior <- function(..., base_rates = 1, others = c("vague", "flat", "partial"),
                        order = c("mean", "each", "none")) {
  raters <- list(...)
  abort_argument_if(!is_empty(raters) && !is_uniquely_named(raters), "...",
    "Priors of raters must be named by rater, with each name once.",
    x = "The names are {.val {names2(raters)}}.")
  others <- if (is.list(others) || is.matrix(others)) check_rater_prior(others, "others") else
    check_choice(others)
  if (missing(order) && identical(others, "flat")) order <- "each"
  new_result("rater_prior",
    raters = Map(check_rater_prior, raters, names(raters)), others = others,
    order = check_choice(order), base_rates = check_rate_priors(base_rates)
  )
}

# Smallest Beta or Dirichlet parameter for which Gibbs sampling is numerically stable.
min_parameter <- 1e-3

# Raises an error if parameters are not finite, or below `min_parameter`. Returns the parameters.
# `subject`: words for messages, what the prior is for.
check_proper <- function(parameters, subject) {
  is_proper <- is.numeric(parameters) && all(is.finite(parameters) & parameters >= min_parameter)
  abort_if(!is_proper, "prior",
    "The prior of {subject} is improper: its parameters must be finite, and at least
     {min_parameter}.", x = "They are {.val {parameters}}.")
  parameters
}

# ---- Prior of a probability ---------------------------------------------------------------------

# Returns the parameters c(a, b) of a Beta distribution. `x`: the distribution, in one of the forms
# that rater_prior() accepts. `subject`: words for messages, such as "the sensitivity of A".
read_beta_prior <- function(x, subject) {
  fields <- as.list(x)
  form <- toString(sort_strings(setdiff(names2(fields), "sure")))
  is_beta <- is_beta_list(fields) && !anyNA(unlist(fields))
  if (is_beta && length(fields) == 2L && form %in% c("", "a, b")) {
    if (form == "a, b") fields <- fields[c("a", "b")]
    return(check_proper(as.double(unlist(fields, use.names = FALSE)), subject))
  }
  if (is_beta && form == "range" && length(fields) == 1L) {
    return(beta_of_range(fields$range, subject))
  }
  has_mode <- form %in% c("at_least, mode", "at_most, mode") &&
    !any_repeated(names(fields))
  abort_if(!is_beta || !has_mode, "prior",
    "The prior of {subject} must be {.code list(a, b)}, {.code list(mode =, at_least =)},
     {.code list(mode =, at_most =)} or {.code list(range = c(lower, upper))}.",
    x = if (startsWith(form, "at_") && !endsWith(form, "mode"))
      "{.code mode}, the most probable value, is missing.", not = x)
  beta_of_mode(fields$mode, fields$at_least, fields$at_most, fields$sure %||% 0.95, subject)
}

# Is `x` a list of numbers that specifies a Beta distribution? Each name is checked, but not the
# combination of names.
is_beta_list <- function(x) {
  names <- names2(x)
  forms <- c("a", "b", "mode", "at_least", "at_most", "sure", "range")
  is.list(x) && all(map_lgl(x, is.numeric)) &&
    all(lengths(x) == ifelse(names == "range", 2L, 1L)) &&
    (all(names == "") || all(names %in% forms))
}

# Returns Beta parameters from a range, which is two standard deviations wide on each side of the
# mean.
beta_of_range <- function(range, subject) {
  is_range <- range[[1L]] >= 0 && range[[1L]] < range[[2L]] && range[[2L]] <= 1
  abort_if(!is_range, "prior", "The range of {subject} must be two probabilities, the lower first.",
    x = "It is {.val {range}}.")
  shares <- c(mean(range), 1 - mean(range))
  shares * (prod(shares) / (diff(range) / 4)^2 - 1)
}

# Returns Beta parameters from the mode and a bound. A Beta distribution with this mode has the
# parameters 1 + mode s and 1 + (1 - mode) s. The number s is computed from the probability `sure`.
# With this probability, values are above `at_least` or below `at_most`; one of these bounds is
# NULL. An upper bound is first converted to a lower bound of 1 minus the value.
beta_of_mode <- function(mode, at_least, at_most, sure, subject) {
  abort_if(!(mode >= 0 && mode <= 1 && sure > 0 && sure < 1), "prior",
    "The mode of {subject} must be in [0, 1], and {.field sure} in (0, 1).",
    x = "They are {mode} and {sure}.")
  is_lower <- !is.null(at_least)
  mode_for_lower_bound <- if (is_lower) mode else 1 - mode
  bound <- at_least %||% (1 - at_most)
  abort_if(bound <= 1 - sure && bound < mode_for_lower_bound, "prior",
    "The prior of {subject} must be more informative than the flat prior.",
    x = "Under the flat prior, values {if (is_lower) 'above' else 'below'}
         {at_least %||% at_most} have probability {1 - bound}, and {.field sure} is {sure}.",
    i = "Use a {if (is_lower) 'higher' else 'lower'} bound, or {.code list(1, 1)} for the flat
         prior. For a mode near {if (is_lower) 0 else 1} give
         {.field {if (is_lower) 'at_most' else 'at_least'}}.")
  beta_parameters <- function(log_size) {
    1 + c(mode_for_lower_bound, 1 - mode_for_lower_bound) * exp(log_size)
  }
  excess <- function(log_size) {
    parameters <- beta_parameters(log_size)
    pbeta(bound, parameters[[1L]], parameters[[2L]]) - (1 - sure)
  }
  abort_if(bound >= mode_for_lower_bound || excess(15) > 0, "prior",
    "{.field {if (is_lower) 'at_least' else 'at_most'}} of {subject} must be
     {if (is_lower) 'below' else 'above'} its mode, and not too near it.",
    x = "The bound is {at_least %||% at_most}, and the mode is {mode}.",
    i = "Use a {if (is_lower) 'lower' else 'higher'} bound, or give two Beta parameters.")
  # Uses the flat prior (s near 0) if it exceeds the bound with probability `sure`, up to rounding.
  parameters <- beta_parameters(if (excess(-20) <= 0) -20 else
    uniroot(excess, c(-20, 15), tol = 1e-12)$root)
  if (is_lower) parameters else rev(parameters)
}

# ---- Priors of raters and base rates ------------------------------------------------------------

# Checks the prior of a rater. Returns a list with one or more of these elements:
# * sens, spec: Beta parameters of the sensitivity and of the specificity
# * right: Beta parameters of the accuracy; `wrong`: relative probabilities of wrong ratings
# * matrix: Dirichlet parameters, with the truth in rows
check_rater_prior <- function(law, rater) {
  if (is.data.frame(law)) law <- as.matrix(law)
  if (is.matrix(law)) {
    abort_if(nrow(law) != ncol(law), "prior",
      "The prior of {.val {rater}} must be a square matrix, with the truth in rows.",
      x = "It is {nrow(law)} x {ncol(law)}.")
    return(list(matrix = check_proper(unclass(law), rater)))
  }
  field_names <- if (is.list(law)) names2(law)
  forms <- list("sens", "spec", c("sens", "spec"), "right", c("right", "wrong"))
  abort_if(!any(map_lgl(forms, setequal, field_names)) || any_repeated(field_names), "prior",
    "The prior of {.val {rater}} must be {.code list(sens =, spec =)}, {.code list(right =)},
     {.code list(right =, wrong =)}, or a matrix of Dirichlet parameters.",
    x = if (!is_empty(field_names)) "It has {.val {field_names}}." else "It is {describe(law)}.")
  titles <- c(sens = "the sensitivity", spec = "the specificity", right = "right ratings")
  for (part in setdiff(field_names, "wrong")) {
    law[[part]] <- read_beta_prior(law[[part]], paste(titles[[part]], "of", rater))
  }
  if (!is.null(law$wrong)) check_proper(law$wrong, paste("wrong ratings of", rater))
  law
}

# Checks the argument `base_rates`. Returns a list with an element per population, without names if
# there is only one. An element is a list with one of these elements:
# * beta: Beta parameters c(a, b) of the base rate of the second category
# * categories: Dirichlet parameters of all base rates
check_rate_priors <- function(x) {
  if (is.data.frame(x)) x <- as.matrix(x)
  if (is.matrix(x)) x <- setNames(asplit(unclass(x), 1L), rownames(x))
  check_rate_law <- function(law) {
    if (is_beta_list(law)) return(list(beta = read_beta_prior(law, "base rates")))
    list(categories = check_proper(law, "base rates"))
  }
  if (!is.list(x) || is_beta_list(x)) return(list(check_rate_law(x)))
  abort_argument_if(!is_uniquely_named(x), "base_rates",
    "Priors of several populations must be named by population, with each name once.",
    x = "The names are {.val {names2(x)}}.")
  lapply(x, check_rate_law)
}

# Printed words for the prior of raters whose prior the user does not specify.
prior_words_of_others <- c(
  vague = "total 4, 70% right", flat = "Dirichlet(1)", partial = "around the mean of the raters"
)

# Creates rows of tidy(), one per probability. The columns `rater`, `part` (the probability) and
# `prior` (words for its prior) are arguments. `shapes`: Beta parameters (probabilities x 2); NULL
# if they are not known.
new_prior_rows <- function(rater, part, prior, shapes) {
  shapes <- unname(shapes %||% matrix(NA_real_, 1L, 2L))
  beta_limit <-
    function(sign) qbeta((1 + sign * default_conf_level()) / 2, shapes[, 1L], shapes[, 2L])
  tibble::tibble(
    rater = rater, part = unname(part), prior = unname(prior),
    mean = shapes[, 1L] / rowSums(shapes), lower = beta_limit(-1), upper = beta_limit(1)
  )
}

# Returns the rows of tidy() for the prior of a rater. `law`: result of check_rater_prior(), or the
# name of a prior of other raters, such as "vague".
rater_prior_rows <- function(law, rater) {
  if (is.character(law)) {
    # The vague prior of a correct rating does not depend on the number of categories.
    shapes <- if (law == "vague") rbind(default_prior_parameters("vague", 2L, TRUE))
    return(new_prior_rows(rater, law, prior_words_of_others[[law]], shapes))
  }
  if (!is.null(law$matrix)) {
    labels <- rownames(law$matrix) %||% row_numbers(law$matrix)
    right <- diag(law$matrix)
    return(new_prior_rows(rater, paste("truth", labels),
      apply(law$matrix, 1L, prior_words, name = "Dirichlet"),
      cbind(right, rowSums(law$matrix) - right)))
  }
  part_words <- c(sens = "sensitivity", spec = "specificity", right = "right")
  part_words <- part_words[names(part_words) %in% names(law)]
  shapes <- stack_rows(law[names(part_words)])
  new_prior_rows(rater, part_words, apply(shapes, 1L, prior_words, name = "Beta"), shapes)
}

# Returns the row of tidy() for the base rates of a population. `law`: an element of the result of
# check_rate_priors().
rate_prior_row <- function(law, population) {
  beta <- law$beta
  part <- paste0("base rates", if (population != "") paste(" of", population),
    if (!is.null(beta)) " (second category)")
  words <- if (is.null(beta)) prior_words("Dirichlet", law$categories) else
    prior_words("Beta", beta)
  new_prior_rows(NA_character_, part, words, rbind(beta))
}

schema_of.rater_prior <- function(x) { # nolint: object_name.
  raters <- if (is_empty(x$raters)) "all raters " else
    paste0(shorten(names(x$raters)), "; any others ")
  is_user_defined <- is.list(x$others)
  laws <- c(x$raters, list(others = x$others))
  table <- stack_rows(unname(c(
    Map(rater_prior_rows, laws, names(laws)),
      Map(rate_prior_row, x$base_rates, names2(x$base_rates))
  )))
  shown <- data.frame(
    rater = replace_na(table$rater, ""), table[c("part", "prior")],
    mean = ifelse(is.na(table$mean), "", format_decimals(table$mean)),
    conf.low = table$lower, conf.high = table$upper
  )
  shown[1:3] <- lapply(shown[1:3], printable)
  new_schema(
    tables = list(priors = table),
    facts = list(
      raters = length(x$raters), others = if (is_user_defined) "own" else x$others, order = x$order,
      populations = length(x$base_rates)
    ),
    line = printable(paste0(
      "Priors: ", raters, if (is_user_defined) "user-defined" else x$others, ", order ",
      x$order
    )),
    shown = view(shown, level = default_conf_level(), left = 1:3),
    notes = if (any(table$part %in% c("sensitivity", "specificity")))
      "Positive category: the second category of the ratings"
  )
}
