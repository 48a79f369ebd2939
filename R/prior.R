#' Priors for raters and base rates
#'
#' Specifies prior distributions of the accuracy of raters (or diagnostic tests) and of base rates,
#' for [fit_raters()] with `method = "bayes"`.
#'
#' @section Prior of a probability: The prior of a probability is a Beta distribution, in one of
#' these forms:
#' * `list(a, b)` or `c(a, b)`: the two parameters. The prior is equivalent to a flat prior combined
#'   with a - 1 correct and b - 1 wrong answers.
#' * `list(mode =, at_least =, sure = 0.95)`: the most probable value, and a lower bound that is
#'   exceeded with probability `sure`. If the mode is near 0, use an upper bound `at_most` instead
#'   of `at_least`.
#' * `list(range = c(lower, upper))`: the mean is the middle of the range, and the standard
#'   deviation is a quarter of its width (Joseph, Gyorkos and Coupal, 1995).
#'
#' @section Prior of a rater: The prior of a rater has one of these forms:
#' * `list(sens =, spec =)`: priors of sensitivity and specificity, for two categories. The second
#'   category is the positive one. Without factor levels, labels are in alphabetical order, so that
#'   `"healthy"` is positive and `"diseased"` is negative. Use `ratings(categories = c("healthy",
#'   "diseased"))` to set the order. If `sens` or `spec` is left out, the prior `others` is used for
#'   it (the vague prior if `others` is `"partial"`).
#' * `list(right =)`: prior of the probability of a correct rating, the same for all true
#'   categories. Wrong categories have equal shares of the wrong ratings. A further element `wrong`,
#'   a positive number per category, sets other shares. Models with uniform errors (argument
#'   `errors` of [rater_model()]) need the form `list(right =)`.
#' * A matrix of Dirichlet parameters, with the true category in rows and the rating in columns. For
#'   example, the row `c(8, 2, 2)` is equivalent to a flat prior combined with seven correct answers
#'   and one answer in each of the two wrong categories.
#'
#' If the model has one accuracy or one confusion matrix for all raters, a prior of one rater
#' applies to all raters.
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
#' @param others Prior of raters that are not named in `...`. It is also the prior of systems
#'   (classifiers), if method `"joint"` of [estimate_accuracy()] fits them like raters. One of:
#'   * `"vague"` (the default): the probability of a correct rating has the prior Beta(2.8, 1.2),
#'     with mean 0.7 and the weight of four ratings. Wrong categories have equal shares.
#'   * `"flat"`: all confusion matrices are equally probable (Dirichlet parameters 1).
#'   * `"partial"`: confusion matrices vary around a mean matrix, which is also estimated (partial
#'     pooling).
#'   * the prior of a rater; see *Prior of a rater*.
#' @param order Constraint that prevents categories from being exchanged (label switching): an
#'   answer must be more probable if it is true than if it is not true. With `"mean"`, the mean of
#'   all raters must satisfy the constraint. With `"each"`, each rater must satisfy it. With
#'   `"none"` there is no constraint, so the priors must distinguish the categories. The default is
#'   `"each"` if `others` is `"flat"`, and otherwise `"mean"`.
#' @return An object of class `rater_prior`. `tidy()` returns a tibble with a row per distribution:
#'
#'   * `rater`: name of the rater; `"others"` for the prior `others`; `NA` for base rates.
#'   * `part`: the probability that has the prior, such as `"sensitivity"`. For a matrix, the row
#'     that has the prior, such as `"truth 1"`.
#'   * `prior`: the prior, as text.
#'   * `mean`, `lower`, `upper`: mean and central interval of the probability. For the row of a
#'     matrix, this is the probability of a correct rating. The values are `NA` if they depend on
#'     the number of categories. The level of the interval is 0.9 by default; [fallible-options]
#'     describes how to change it.
#'
#'   `glance()` returns one row. `raters` is the number of raters with a prior in `...`. `others`
#'   and `order` are the arguments; `others` is `"own"` if it is the prior of a rater. `populations`
#'   is the number of populations with priors.
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
#' # A test whose sensitivity is most probably 90%, and above 80% with probability 0.95. Other tests
#' # have flat priors.
#' rater_prior(pcr = list(sens = list(mode = 0.9, at_least = 0.8)), others = "flat")
#' # Three categories, and a rater who recognises the first one well
#' tidy(rater_prior(ann = rbind(c(18, 1, 1), c(1, 4, 1), c(1, 1, 4))))
#' @export
rater_prior <- function(..., base_rates = 1, others = c("vague", "flat", "partial"),
                        order = c("mean", "each", "none")) {
  rater_priors <- list(...)
  abort_argument_if(!is_empty(rater_priors) && !is_uniquely_named(rater_priors), "...",
    "Priors of raters must be named by rater, with each name once.",
    x = "The names are {.val {names2(rater_priors)}}.")
  others <- if (is.list(others) || is.matrix(others)) check_rater_prior(others, "others") else
    check_choice(others)
  if (missing(order) && identical(others, "flat")) order <- "each"
  new_result("rater_prior",
    raters = Map(check_rater_prior, rater_priors, names(rater_priors)), others = others,
    order = check_choice(order), base_rates = check_rate_priors(base_rates)
  )
}

# Smallest Beta or Dirichlet parameter that is allowed. Gibbs sampling is numerically unstable with
# smaller parameters.
min_parameter <- 1e-3

# Raises an error if parameters are not finite, or below `min_parameter`. Returns the parameters.
# `subject`: name of the parameter with this prior, for messages, such as "base rates".
check_proper <- function(parameters, subject) {
  is_proper <- is.numeric(parameters) && all(is.finite(parameters) & parameters >= min_parameter)
  abort_if(!is_proper, "prior",
    "The prior of {subject} is improper: its parameters must be finite, and at least
     {min_parameter}.", x = "The parameters are {.val {parameters}}.")
  parameters
}

# ---- Prior of a probability ---------------------------------------------------------------------

# Returns the parameters c(a, b) of a Beta distribution. `x`: the distribution, in one of the forms
# that rater_prior() accepts. `subject`: text for messages, such as "the sensitivity of A".
read_beta_prior <- function(x, subject) {
  fields <- as.list(x)
  field_names_text <- toString(sort_strings(setdiff(names2(fields), "sure")))
  has_valid_fields <- is_beta_list(fields) && !anyNA(unlist(fields))
  if (has_valid_fields && length(fields) == 2L && field_names_text %in% c("", "a, b")) {
    if (field_names_text == "a, b") fields <- fields[c("a", "b")]
    return(check_proper(as.double(unlist(fields, use.names = FALSE)), subject))
  }
  if (has_valid_fields && field_names_text == "range" && length(fields) == 1L) {
    return(beta_of_range(fields$range, subject))
  }
  has_mode_and_bound <- field_names_text %in% c("at_least, mode", "at_most, mode") &&
    !any_repeated(names(fields))
  abort_if(!has_valid_fields || !has_mode_and_bound, "prior",
    "The prior of {subject} must be {.code list(a, b)}, {.code list(mode =, at_least =)},
     {.code list(mode =, at_most =)} or {.code list(range = c(lower, upper))}.",
    x = if (startsWith(field_names_text, "at_") && !endsWith(field_names_text, "mode"))
      "{.code mode}, the most probable value, is missing.", not = x)
  beta_of_mode(fields$mode, fields$at_least, fields$at_most, fields$sure %||% 0.95, subject)
}

# Returns TRUE if `x` is a list of numbers that can specify a Beta distribution. Checks each name,
# but not the combination of names.
is_beta_list <- function(x) {
  field_names <- names2(x)
  allowed_names <- c("a", "b", "mode", "at_least", "at_most", "sure", "range")
  is.list(x) && all(map_lgl(x, is.numeric)) &&
    all(lengths(x) == ifelse(field_names == "range", 2L, 1L)) &&
    (all(field_names == "") || all(field_names %in% allowed_names))
}

# Returns the parameters of a Beta distribution whose mean is the middle of the range, and whose
# standard deviation is a quarter of its width.
beta_of_range <- function(range, subject) {
  is_valid_range <- range[[1L]] >= 0 && range[[1L]] < range[[2L]] && range[[2L]] <= 1
  abort_if(!is_valid_range, "prior",
    "The range of {subject} must be two probabilities, the lower first.",
    x = "It is {.val {range}}.")
  mean_and_complement <- c(mean(range), 1 - mean(range))
  mean_and_complement * (prod(mean_and_complement) / (diff(range) / 4)^2 - 1)
}

# Returns the parameters of a Beta distribution with a given mode and one bound. The other bound is
# NULL. The parameters are 1 + mode * s and 1 + (1 - mode) * s. The number s is computed so that a
# random value is above `at_least`, or below `at_most`, with probability `sure`.
beta_of_mode <- function(mode, at_least, at_most, sure, subject) {
  abort_if(!(mode >= 0 && mode <= 1 && sure > 0 && sure < 1), "prior",
    "The mode of {subject} must be in [0, 1], and {.field sure} must be in (0, 1).",
    x = "The mode is {mode}, and {.field sure} is {sure}.")
  has_lower_bound <- !is.null(at_least)
  # An upper bound of a value is a lower bound of 1 minus the value.
  mode_for_lower_bound <- if (has_lower_bound) mode else 1 - mode
  bound <- at_least %||% (1 - at_most)
  abort_if(bound <= 1 - sure && bound < mode_for_lower_bound, "prior",
    "The prior of {subject} must be more informative than the flat prior.",
    x = "{.field sure} is {sure}, but under the flat prior, values
         {if (has_lower_bound) 'above' else 'below'} {at_least %||% at_most} already have
         probability {1 - bound}.",
    i = "Use a larger {.field sure}, a {if (has_lower_bound) 'larger' else 'smaller'}
         {.field {if (has_lower_bound) 'at_least' else 'at_most'}}, or {.code list(1, 1)} for the
         flat prior. If the mode is near {if (has_lower_bound) 0 else 1}, use
         {.field {if (has_lower_bound) 'at_most' else 'at_least'}}.")
  beta_parameters <- function(log_size) {
    1 + c(mode_for_lower_bound, 1 - mode_for_lower_bound) * exp(log_size)
  }
  excess_probability <- function(log_size) {
    parameters <- beta_parameters(log_size)
    pbeta(bound, parameters[[1L]], parameters[[2L]]) - (1 - sure)
  }
  abort_if(bound >= mode_for_lower_bound || excess_probability(15) > 0, "prior",
    "{.field {if (has_lower_bound) 'at_least' else 'at_most'}} of {subject} must be
     {if (has_lower_bound) 'below' else 'above'} its mode, and not too near it.",
    x = "The bound is {at_least %||% at_most}, and the mode is {mode}.",
    i = "Use a {if (has_lower_bound) 'smaller' else 'larger'} value of
         {.field {if (has_lower_bound) 'at_least' else 'at_most'}}, or give two Beta parameters.")
  # uniroot() needs a positive excess at -20, which is a nearly flat prior. If the bound is almost
  # 1 - `sure`, the excess is not positive. This nearly flat prior is then the result.
  parameters <- beta_parameters(if (excess_probability(-20) <= 0) -20 else
    uniroot(excess_probability, c(-20, 15), tol = 1e-12)$root)
  if (has_lower_bound) parameters else rev(parameters)
}

# ---- Priors of raters and base rates ------------------------------------------------------------

# Checks the user's prior of a rater. Returns a list with one or more of these elements:
# * sens, spec: Beta parameters of the sensitivity and of the specificity
# * right: Beta parameters of the probability of a correct rating
# * wrong: relative probabilities of the categories as wrong ratings
# * matrix: Dirichlet parameters, with the truth in rows
check_rater_prior <- function(user_prior, rater) {
  if (is.data.frame(user_prior)) user_prior <- as.matrix(user_prior)
  if (is.matrix(user_prior)) {
    abort_if(nrow(user_prior) != ncol(user_prior), "prior",
      "The prior of {.val {rater}} must be a square matrix, with the truth in rows.",
      x = "It is {nrow(user_prior)} x {ncol(user_prior)}.")
    return(list(matrix = check_proper(unclass(user_prior), rater)))
  }
  field_names <- if (is.list(user_prior)) names2(user_prior)
  name_sets <- list("sens", "spec", c("sens", "spec"), "right", c("right", "wrong"))
  abort_if(!any(map_lgl(name_sets, setequal, field_names)) || any_repeated(field_names), "prior",
    "The prior of {.val {rater}} must be {.code list(sens =, spec =)}, {.code list(right =)},
     {.code list(right =, wrong =)}, or a matrix of Dirichlet parameters.",
    x = if (!is_empty(field_names)) "It has {.val {field_names}}." else
      "It is {describe(user_prior)}.",
    i = if (is.character(user_prior))
      "Arguments in {.arg ...} are raters. The positive category is the second of {.arg categories}
      in {.fun ratings}.")
  field_titles <- c(sens = "the sensitivity", spec = "the specificity", right = "correct ratings")
  for (field in setdiff(field_names, "wrong")) {
    user_prior[[field]] <-
      read_beta_prior(user_prior[[field]], paste(field_titles[[field]], "of", rater))
  }
  if (!is.null(user_prior$wrong)) check_proper(user_prior$wrong, paste("wrong ratings of", rater))
  user_prior
}

# Checks the argument `base_rates`. Returns a list with an element per population, without names if
# there is only one population. Each element is a list with one of these elements:
# * beta: Beta parameters c(a, b) of the base rate of the second category
# * categories: Dirichlet parameters of all base rates
check_rate_priors <- function(x) {
  if (is.data.frame(x)) x <- as.matrix(x)
  if (is.matrix(x)) x <- setNames(asplit(unclass(x), 1L), rownames(x))
  check_rate_prior <- function(user_prior) {
    if (is_beta_list(user_prior)) return(list(beta = read_beta_prior(user_prior, "base rates")))
    list(categories = check_proper(user_prior, "base rates"))
  }
  if (!is.list(x) || is_beta_list(x)) return(list(check_rate_prior(x)))
  abort_argument_if(!is_uniquely_named(x), "base_rates",
    "Priors of several populations must be named by population, with each name once.",
    x = "The names are {.val {names2(x)}}.")
  lapply(x, check_rate_prior)
}

# Printed texts of the default priors, for raters that are not named in rater_prior().
prior_texts_of_others <- c(
  vague = "total 4, 70% right", flat = "Dirichlet(1)", partial = "around the mean of the raters"
)

# Creates rows of tidy(), one per probability. Arguments `rater`, `part` (the probability) and
# `prior` (the prior as text) are columns of the result. `shapes`: Beta parameters of the
# probabilities, a matrix (probabilities x 2); NULL if they are not known.
new_prior_rows <- function(rater, part, prior, shapes) {
  shapes <- unname(shapes %||% matrix(NA_real_, 1L, 2L))
  beta_limit <-
    function(sign) qbeta((1 + sign * default_conf_level()) / 2, shapes[, 1L], shapes[, 2L])
  tibble(
    rater = rater, part = unname(part), prior = unname(prior),
    mean = shapes[, 1L] / rowSums(shapes), lower = beta_limit(-1), upper = beta_limit(1)
  )
}

# Returns the rows of tidy() for the prior of a rater. `user_prior`: result of check_rater_prior(),
# or the name of a default prior, such as "vague".
rater_prior_rows <- function(user_prior, rater) {
  if (is.character(user_prior)) {
    # The number of categories is not known here. The vague prior of a correct rating does not
    # depend on it.
    shapes <- if (user_prior == "vague") rbind(default_prior_parameters("vague", 2L, TRUE))
    return(new_prior_rows(rater, user_prior, prior_texts_of_others[[user_prior]], shapes))
  }
  if (!is.null(user_prior$matrix)) {
    labels <- rownames(user_prior$matrix) %||% row_numbers(user_prior$matrix)
    right_parameters <- diag(user_prior$matrix)
    return(new_prior_rows(rater, paste("truth", labels),
      apply(user_prior$matrix, 1L, format_distribution, name = "Dirichlet"),
      cbind(right_parameters, rowSums(user_prior$matrix) - right_parameters)))
  }
  part_names <- c(sens = "sensitivity", spec = "specificity", right = "right")
  part_names <- part_names[names(part_names) %in% names(user_prior)]
  shapes <- stack_rows(user_prior[names(part_names)])
  new_prior_rows(rater, part_names, apply(shapes, 1L, format_distribution, name = "Beta"), shapes)
}

# Returns the row of tidy() for the base rates of a population. `user_prior`: an element of the
# result of check_rate_priors().
rate_prior_row <- function(user_prior, population) {
  beta_parameters <- user_prior$beta
  part <- paste0("base rates", if (population != "") paste(" of", population),
    if (!is.null(beta_parameters)) " (second category)")
  prior_text <- if (is.null(beta_parameters)) {
    format_distribution("Dirichlet", user_prior$categories)
  } else {
    format_distribution("Beta", beta_parameters)
  }
  new_prior_rows(NA_character_, part, prior_text, rbind(beta_parameters))
}

schema_of.rater_prior <- function(x) { # nolint: object_name.
  raters_text <- if (is_empty(x$raters)) "all raters " else
    paste0(shorten(names(x$raters)), "; any others ")
  is_user_defined <- is.list(x$others)
  user_priors <- c(x$raters, list(others = x$others))
  prior_table <- stack_rows(unname(c(
    Map(rater_prior_rows, user_priors, names(user_priors)),
      Map(rate_prior_row, x$base_rates, names2(x$base_rates))
  )))
  shown_table <- data.frame(
    rater = replace_na(prior_table$rater, ""), prior_table[c("part", "prior")],
    mean = ifelse(is.na(prior_table$mean), "", format_decimals(prior_table$mean)),
    conf.low = prior_table$lower, conf.high = prior_table$upper
  )
  shown_table[1:3] <- lapply(shown_table[1:3], printable)
  new_schema(
    tables = list(priors = prior_table),
    facts = list(
      raters = length(x$raters), others = if (is_user_defined) "own" else x$others, order = x$order,
      populations = length(x$base_rates)
    ),
    line = printable(paste0(
      "Priors: ", raters_text, if (is_user_defined) "user-defined" else x$others, ", order ",
      x$order
    )),
    shown = view(shown_table, level = default_conf_level(), left = 1:3),
    notes = if (any(prior_table$part %in% c("sensitivity", "specificity")))
      "Positive category: the second category of the ratings"
  )
}
