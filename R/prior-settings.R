# Converts a prior (an object of class rater_prior) to parameters of the Gibbs sampler, for given
# ratings. Probabilities of ratings given the truth have Dirichlet distributions. In this file,
# `user_prior` is the checked prior of one rater, or of the base rates of one population.

#' @srrstats {BS2.1, BS2.2, BS2.3, BS2.4, BS2.5} priors are checked against ratings before sampling
#' @noRd
NULL

# Returns the parameters of a prior, for a model and ratings `x`. The result is a list:
# * raters: list with an element per rater of `x`: a matrix of Dirichlet parameters with the truth
#   in rows. If errors are uniform, the element is a vector of Beta parameters c(right, wrong). For
#   the prior "partial", the element is NULL
# * system: the prior of systems, and of raters without a prior by the user, in the same form
# * others: name of the prior in `system`: "vague", "flat" or "partial"; `"own"` for a user-defined
#   prior
# * order: "mean", "each" or "none", see rater_prior()
# * base_rates: Dirichlet parameters (populations x categories)
# * text: descriptions of the priors. Element `raters`: for each rater, a string per true category
#   or a single string. Element `base_rates`: a string per population
resolve_prior <- function(prior, x, model) {
  populations <- population_labels(population_table(model, x))
  check_class(prior, "rater_prior", "prior", "Make one with {.fun rater_prior}.")
  categories <- x$categories
  has_uniform_errors <- model$errors == "uniform"
  unknown_raters <- setdiff(names(prior$raters), x$raters)
  abort_argument_if(unknown_raters, "prior", "must name raters of {.arg x}.",
    x = "{.val {unknown_raters}} {?is/are} not among {.val {x$raters}}.")
  prior_name_of_others <- if (is.list(prior$others)) "own" else prior$others
  default_parameters <- default_prior_parameters(prior_name_of_others, length(categories),
    has_uniform_errors)
  resolve_user_prior <- function(user_prior, rater, base) {
    resolve_rater_prior(user_prior, rater, base, categories, has_uniform_errors)
  }
  system_prior <- if (prior_name_of_others == "own") {
    resolve_user_prior(prior$others, "others", default_parameters)
  } else if (prior_name_of_others != "partial") {
    default_parameters
  }
  # `system_prior` is also the prior of raters for which the user gives no prior. If a prior is
  # given only for the sensitivity of a rater, the specificity has the prior in `system_prior`.
  raters <- lapply(setNames(nm = x$raters), function(rater) {
    user_prior <- prior$raters[[rater]]
    if (is.null(user_prior)) system_prior else
      resolve_user_prior(user_prior, rater, system_prior %||% default_parameters)
  })
  if (model$accuracy == "common") {
    distinct_priors <- unique(raters[names(prior$raters)])
    abort_if(length(distinct_priors) > 1L, "prior",
      "In this model all raters have the same parameters, so their priors must be equal.",
      x = "The priors of {.val {names(prior$raters)}} differ.",
      i = "Give equal priors, or use {.code rater_model(\"rater\")}, in which raters have separate
        parameters.")
    if (length(distinct_priors) == 1L) raters[] <- distinct_priors
  }
  rate_parameters <- resolve_rates(prior$base_rates, populations, categories)
  list(
    raters = raters, system = system_prior, others = prior_name_of_others, order = prior$order,
    base_rates = rate_parameters,
    text = list(raters = lapply(raters, rater_prior_text),
      base_rates = apply(rate_parameters, 1L, format_dirichlet))
  )
}

# Returns the names of populations, which are the rows of `table`. A name consists of the values in
# a row, separated by commas. If two names would be equal, all values are quoted.
population_labels <- function(table) {
  if (is.null(table)) return(NULL)
  value_labels <- lapply(as.list(table), as_label)
  population_names <- paste_columns(value_labels)
  if (!any_repeated(population_names)) population_names else
    paste_columns(lapply(value_labels, encodeString, quote = "\""))
}

# Returns the parameters of a prior that is the same for all raters: the flat prior if `name` is
# "flat", otherwise the vague prior. The result is a matrix with the truth in rows, or
# c(right, wrong) if errors are uniform. `n`: number of categories. `uniform_errors`: are errors
# uniform, so that a rater has only one accuracy?
default_prior_parameters <- function(name, n, uniform_errors) {
  if (uniform_errors) return(if (name == "flat") c(1, 1) else c(2.8, 1.2))
  if (name == "flat") matrix(1, n, n) else matrix_with_equal_errors(2.8, n, 1.2)
}

# Returns the parameters of the prior of a rater, in the form of default_prior_parameters().
# * user_prior: result of check_rater_prior()
# * base: a matrix of parameters, whose rows are used if `user_prior` does not specify them
# * uniform_errors: are errors uniform?
resolve_rater_prior <- function(user_prior, rater, base, categories, uniform_errors) {
  n <- length(categories)
  abort_if(uniform_errors && !identical(names(user_prior), "right"), "prior",
    "In a model with uniform errors, the prior of {.val {rater}} must be {.code list(right =)}.",
    x = "It has {.field {names(user_prior)}}.",
    i = "With {.fun dawid_skene}, each true category has a separate prior.")
  if (uniform_errors) return(user_prior$right)
  if (!is.null(user_prior$matrix)) {
    abort_if(nrow(user_prior$matrix) != n, "prior", "The prior of {.val {rater}} must be a {n} x {n}
      matrix.", x = "It is {nrow(user_prior$matrix)} x {ncol(user_prior$matrix)}.")
    return(sort_matrix(categories, user_prior$matrix, rater))
  }
  if (!is.null(user_prior$right)) {
    # `wrong_weights`: for each category, its relative probability if the rating is wrong.
    wrong_weights <- user_prior$wrong %||% rep(1, n)
    abort_if(
      length(wrong_weights) != n || !setequal(names(wrong_weights) %||% categories, categories),
      "prior", "{.field wrong} in the prior of {.val {rater}} must be a number for each of
        {.val {categories}}.", not = wrong_weights)
    if (has_names(wrong_weights)) wrong_weights <- wrong_weights[categories]
    wrong_shares <- matrix(wrong_weights, n, n, byrow = TRUE)
    diag(wrong_shares) <- 0
    parameters <- user_prior$right[[2L]] * wrong_shares / rowSums(wrong_shares)
    diag(parameters) <- user_prior$right[[1L]]
    return(parameters)
  }
  abort_if(n != 2L, "prior", "The prior of {.val {rater}} is for a sensitivity or a specificity,
    which need two categories.", x = "{.arg x} has {n} categories.",
    i = "Use {.code list(right =)}, or a matrix of Dirichlet parameters.")
  if (!is.null(user_prior$spec)) base[1L, ] <- user_prior$spec
  if (!is.null(user_prior$sens)) base[2L, ] <- rev(user_prior$sens)
  base
}

# Returns the Dirichlet parameters of base rates (populations x categories). `user_priors`: result
# of check_rate_priors().
resolve_rates <- function(user_priors, populations, categories) {
  if (has_names(user_priors)) {
    abort_argument_if(!setequal(names(user_priors), populations),
      "prior", "Base rates must have a prior for each population.",
      x = c(
        "The populations of the prior are {.val {names(user_priors)}}.",
        if (is.null(populations)) "All cases of {.arg x} are in one population." else
          "The populations of {.arg x} are {.val {populations}}."
      ))
    user_priors <- user_priors[populations]
  }
  matrix(
    unlist(lapply(user_priors, resolve_rate_prior, categories)), max(length(populations), 1L),
    length(categories), byrow = TRUE, dimnames = list(populations, categories)
  )
}

resolve_rate_prior <- function(user_prior, categories) {
  n <- length(categories)
  abort_if(!is.null(user_prior$beta) && n != 2L, "prior",
    "A Beta distribution of base rates needs two categories.", x = "{.arg x} has {n} categories.",
    i = "Give a Dirichlet parameter for each category.")
  if (!is.null(user_prior$beta)) return(rev(user_prior$beta))
  parameters <- user_prior$categories
  is_named <- has_names(parameters)
  if (length(parameters) == 1L && !is_named) return(rep(as.double(parameters), n))
  # Two different numbers without names raise an error, because it is not clear which number belongs
  # to the positive category.
  is_valid <- length(parameters) == n &&
    if (is_named) setequal(names(parameters), categories) else n > 2L ||
      n_distinct(parameters) == 1L
  abort_if(!is_valid, "prior",
    "The prior of base rates must be one positive number, the parameter of all categories, or a
        vector of positive numbers named {.val {categories}}.",
    not = parameters,
    i = if (n == 2L) "You can also use {.code list(a, b)}. The base rate of the second category then
        has the prior Beta(a, b).")
  as.double(if (is_named) parameters[categories] else parameters)
}

# ---- Warnings about the positive category -------------------------------------------------------

# Tells the user that the prior treats the second category as positive. This is a warning if the
# names of the categories suggest that the first one is positive. If the names are words in
# alphabetical order, it is a message, because the user may not have chosen this order.
name_positive_category <- function(x) {
  labels <- x$categories
  sentence <- "The positive category of the prior is {.val {labels[[2L]]}}, the second category."
  advice <- "If {.val {labels[[1L]]}} is positive, give {.code categories =
    c({toString(dQuote(rev(labels), FALSE))})} to {.fun ratings}."
  if (fold_case(paste(labels, collapse = " ")) %in% reversed_pairs)
    return(warn_fallible("prior", sentence, i = advice))
  is_default_order <- is.null(x$declared) && identical(labels, sort_strings(labels))
  if (is_default_order && is.null(as_numbers(labels)))
    inform_once(paste("positive", labels[[2L]]), c(sentence, i = advice))
}

# Pairs of labels, of which the second is a usual name of the negative category.
reversed_pairs <- c(
  "pos neg", "positive negative", "yes no", "y n", "true false", "t f", "1 0", "+ -",
  "present absent", "abnormal normal", "diseased healthy", "ill healthy", "sick healthy",
  "infected healthy", "infected uninfected", "case control"
)

# Warns if the ratings contradict the user's priors of at least two probabilities. There is no such
# warning if warn_mixing() has warned that the priors contradict the constraint `order`.
warn_prior_conflict <- function(fit) {
  conflicting_terms <-
    fit$terms$term[which(compare_with_prior(fit)$conflict & fit$terms$rater %in% fit$named)]
  warn_if(length(conflicting_terms) > 1L && n_categories(fit$x) == 2L && fit$stuck <= 0.01, "prior",
    "The ratings contradict the priors of {conflicting_terms}.",
    i = "Are the categories in the wrong order? The positive category is
        {.val {fit$x$categories[[2L]]}}, the second one.")
}

# ---- Words --------------------------------------------------------------------------------------

# Returns text such as "Beta(4.44, 13.31)". Numbers have two decimals; numbers below 0.1 have two
# significant digits. `name`: name of the distribution. `x`: its parameters.
format_distribution <- function(name, x) {
  number_texts <- map_chr(x,
    function(value) format(if (value < 0.1) signif(value, 2L) else round(value, 2L)))
  sprintf("%s(%s)", name, toString(number_texts))
}

format_dirichlet <- function(x) {
  if (length(x) == 2L) format_distribution("Beta", rev(x)) else format_distribution("Dirichlet", x)
}

# Describes the prior of a rater as text: a string per true category, or a single string. With two
# categories, the strings are Beta distributions of the probability of a correct rating.
# `parameters`: an element of the field `raters` of resolve_prior().
rater_prior_text <- function(parameters) {
  if (is.null(parameters)) return(prior_texts_of_others[["partial"]])
  if (!is.matrix(parameters)) return(format_distribution("Beta", parameters))
  if (nrow(parameters) == 2L) parameters[1L, ] <- rev(parameters[1L, ])
  apply(parameters, 1L, format_dirichlet)
}
