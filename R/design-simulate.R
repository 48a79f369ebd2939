#' Simulated ratings
#'
#' Draws the answers of raters and systems to cases with known true categories. Random parts of the
#' design, such as random base rates, are drawn in each call. Call [set.seed()] before to make the
#' result reproducible.
#' @srrstatsNA {UL2.1} ratings are not transformed
#' @srrstatsNA {UL7.5, UL7.5a} nothing is fitted in batches
#' @param design A [rater_design()].
#' @param n Number of cases, at least 1; by default the number of cases of the design.
#' @param rater_kind Kind of the raters: `"expert"` or `"crowd"` (people), `"model"` (language
#'   models) or `"tool"` (other programs); or a vector of kinds with the names of the raters.
#'   `NULL`, the default: the kind is unknown. The kind affects intervals of [estimate_accuracy()],
#'   but not the simulated answers.
#' @param ... Not used.
#' @return A [ratings()] object. It also contains the true categories and accuracies, which
#'   [truth()] and [true_accuracy()] return. Cases are numbered from 1. Categories are ordered if
#'   errors depend on their order (`dispersion` of the design).
#' @family simulation
#' @templateVar where Section "Performance and robustness"
#' @template ref-lehner
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(lehner_design(3))
#' x
#' # Estimates from the ratings can be compared with the true accuracies
#' true_accuracy(x)
#' estimate_accuracy(x)
#' @export
simulate_ratings <- function(design, n = design$n, rater_kind = NULL, ...) {
  check_call()
  check_design(design)
  check_panel_memory(design, check_count(n, "n"))
  rater_kind <- check_rater_kind(rater_kind)
  x <- as_panel(design, draw_panel(design, n))
  x$rater_kind <- resolve_kinds(rater_kind, x)
  x
}

# Draws a panel (cases with their true categories and answers) in the C++ core. Returns a list:
# * truth, stratum: indices of the true category and the stratum of each case
# * answers: a list with a vector of answers for each rater and then each system; 0 is missing
# * base_rates: the base rates that were drawn or given
# * expected: probability of a correct answer of each system
# * matrices: a list of confusion matrices, ordered by rater or system and then by stratum
#
# `item`: index of the panel. Panels with the same seed and different indices are independent.
draw_panel <- function(design, n, seed = draw_seed(), item = 0) {
  core_simulate(unclass(design), n, seed, item)
}

as_panel <- function(design, drawn) {
  labels <- design$categories
  answer_columns <- lapply(drawn$answers, function(code) factor(c(NA, labels)[code + 1L], labels))
  raters <- names(design$raters)
  systems <- if (n_systems(design) > 0L) names(design$systems)
  # The option suppresses the message that asks to declare `rater_kind`.
  x <- withr::with_options(list(fallible.quiet = TRUE), ratings(
    list2DF(setNames(answer_columns, c(raters, systems))),
    raters = !!raters, systems = !!systems, categories = labels,
    ordered = if (is_ordered(design)) TRUE
  ))
  x$covariates <- design$covariates[drawn$stratum, ] # NULL stays NULL
  x$truth <- list(
    category = drawn$truth, stratum = drawn$stratum,
    expected = setNames(drawn$expected, names(design$systems)),
    base_rates = setNames(drawn$base_rates, labels)
  )
  x
}

check_design <- function(design) {
  check_class(design, "rater_design", "design", "Make a design with {.fun rater_design}.")
}

#' True categories and accuracies
#'
#' `truth()` returns the true category of each case, `true_accuracy()` the true accuracy of each
#' system. These are given or simulated values, not estimates.
#'
#' @param x A [ratings()] object with known truth: a result of [simulate_ratings()] or
#'   [with_truth()], or of [ratings()] with argument `truth`.
#' @param systems Names of systems; `NULL`, the default, for all.
#' @param ... Not used.
#' @return `truth()`: a tibble with a row per case: `case`, its name or number, and `category`, a
#'   factor, `NA` if the true category is unknown.
#'
#'   `true_accuracy()`: a tibble with a row per system.
#'   * `system`: name of the system.
#'   * `expected`: its probability of a correct answer in the design of the simulation, including
#'     answers that the system copies; `NA` if this probability is not known.
#'   * `sample`: share of correct answers among the cases of `x` with an answer and a known truth,
#'     weighted if cases have weights. `NA` if `x` has no case with an answer and a known truth.
#' @family simulation
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.6, 0.6, 0.7), systems = c(a = 0.8, b = 0.9)), n = 20)
#' truth(x)
#' # Probabilities of the design, and shares of correct answers to the 20 cases
#' true_accuracy(x)
#' @export
truth <- function(x, ...) {
  check_call()
  check_truth(x)
  tibble(case = x$cases, category = category_factor(x$truth$category, x))
}

#' @rdname truth
#' @export
true_accuracy <- function(x, systems = NULL, ...) {
  check_call()
  check_truth(x)
  x <- choose_systems(x, systems)
  tibble(
    system = x$systems, expected = unname(x$truth$expected), sample = sample_accuracy(x)
  )
}

# Returns the weighted share of correct answers of each system, among cases with an answer and a
# known truth.
sample_accuracy <- function(x) {
  answers <- case_answers(x)
  weight <- weights_of_cases(x) * !is.na(x$truth$category)
  is_right <- answers == x$truth$category
  unname(as.double(ratio(
    colSums(is_right * weight, na.rm = TRUE), colSums((answers > 0L) * weight)
  )))
}

check_truth <- function(x) {
  check_ratings(x)
  abort_argument_if(is.null(x$truth), "x", "The truth of the cases of {.arg x} is not known.",
    i = "{.fun simulate_ratings}, {.fun with_truth}, and {.fun ratings} with {.arg truth}, return
        ratings with known truth. To estimate the truth or accuracies, use {.fun ground_truth} or
        {.fun estimate_accuracy}.")
}

# ---- Models in which errors of raters are correlated given the truth ----------------------------

# The distributions of correlated errors are defined in src/core/posterior/dependent.hpp. A model
# with correlated errors has the field `dependence`, a list:
# * type: "easy" (in a share of easy cases, all raters are right) or "pairs" (the errors of some
#   pairs of raters are correlated)
# * pairs: the pairs, a list of vectors of two names; NULL for type "easy"

check_dependence <- function(dependence, pairs, errors, difficulty, confidence) {
  type <- check_choice(dependence, c("none", "easy", "pairs"), "dependence")
  abort_argument_if((type == "pairs") == is.null(pairs), "pairs",
    "{.arg pairs} must be given if {.code dependence = \"pairs\"}, and left out otherwise.",
    x = if (is.null(pairs)) "{.arg pairs} is missing." else "{.arg dependence} is {.val {type}}.",
    i = "{.arg pairs} is a list of pairs of raters, such as {.code list(c(\"a\", \"b\"))}.")
  if (type == "none") return(NULL)
  invalid_arguments <- c(
    if (!errors[[1L]] %in% c("uniform", "free")) "errors",
    if (is_formula(difficulty) || difficulty[[1L]] != "none") "difficulty",
    if (isTRUE(confidence)) "confidence"
  )
  abort_argument_if(invalid_arguments, "dependence",
    "A model with {.arg dependence} must have {.code errors = \"uniform\"} or {.val free},
     {.code difficulty = \"none\"} and {.code confidence = FALSE}.",
    x = "Another value was given for {.arg {invalid_arguments}}.")
  paired_raters <- unlist(pairs)
  has_valid_pairs <- is.list(pairs) && all(lengths(pairs) == 2L) && is.character(paired_raters) &&
    !any_repeated(paired_raters) && !anyNA(paired_raters)
  abort_argument_if(type == "pairs" && !has_valid_pairs, "pairs",
    "must be a list of pairs of names of raters, and no rater may be in two pairs.",
    x = if (is.list(pairs) && any_repeated(paired_raters))
      "{.val {repeated_values(paired_raters)}} {?is/are} named twice." else
      "It is {describe(pairs)}.",
    i = "For example, {.code pairs = list(c(\"a\", \"b\"))}.")
  list(type = type, pairs = pairs)
}

model_is_dependent <- function(model) !is.null(model$dependence)

# Returns a text that completes the sentence "raters err ...": the model's assumption about errors.
independence_words <- function(model) {
  if (inherits(model, "own_model")) return("as the fitted model specifies")
  if (model_is_dependent(model))
    return("with the dependence of the model, which ratings cannot show")
  has_strata <- model$difficulty == "strata" || length(model$family$strata) > 1L
  paste0("independently given the truth", if (has_strata) " and the difficulty of the case")
}

dependence_type <- function(model) model$dependence$type %||% "none"

format_dependence <- function(model) {
  pair_texts <- map_chr(model$dependence$pairs, paste, collapse = " and ")
  switch(dependence_type(model),
    easy = " with cases easy for all", pairs = paste0(
      if (length(pair_texts) == 1L) " with the dependent pair " else " with dependent pairs ",
      toString(pair_texts)
    )
  )
}

# Returns the indices of the raters whose errors are correlated in pairs, a matrix (2 x pairs).
pair_indices <- function(model, raters) matrix(match(unlist(model$dependence$pairs), raters), 2L)

# Largest number of ratings of a case in models with correlated errors. With more ratings, the
# computed probability of the case can be NaN.
max_dependent_ratings <- 300L

check_dependent_panel <- function(model, x) {
  paired_raters <- unlist(model$dependence$pairs)
  unknown_raters <- setdiff(paired_raters, x$raters)
  abort_argument_if(unknown_raters, "model", "{.field pairs} must name raters of {.arg x}.",
    x = "{.val {unknown_raters}} {?is/are} not among {.val {x$raters}}.",
    i = similar_values_hint(unknown_raters, x$raters))
  check_named_raters(x, "model",
    "For a {.arg model} with {.field dependence}, the rater of each rating must be known.")
  repeating_raters <- if (!is_empty(paired_raters))
    intersect(paired_raters, x$raters[repeated_ratings(x)$rater])
  abort_argument_if(repeating_raters, "model",
    "Raters of {.field pairs} must rate each case at most once.",
    x = "{.val {repeating_raters}} rated some cases more than once.",
    i = "With {.code repeats = \"reruns\"} in {.fun ratings}, the ratings of a case by the same
         rater count as one vote.")
  abort_argument_if(max(pattern_lengths(x)) > max_dependent_ratings, "model",
    "A {.arg model} with {.field dependence} allows at most {max_dependent_ratings} ratings of a
     case.", x = "A case has {max(pattern_lengths(x))} ratings.")
}

# Returns a table with a row for each parameter of correlated errors, made by new_parameter_rows().
# Returns NULL if the model has no correlated errors. `n_before`: number of parameters that come
# before these parameters in the draws of the core.
dependence_parameter_rows <- function(x, model, n_before) {
  type <- dependence_type(model)
  if (type == "none") return(NULL)
  term_prefixes <- c(
    if (type == "easy") "", map_chr(model$dependence$pairs, paste0, ",", collapse = "")
  )
  truth <- rep(x$categories, length(term_prefixes))
  terms <- paste0(sub("s$", "", type), "[", rep(term_prefixes, each = n_categories(x)), truth, "]")
  beta_parameter <- if (type == "pairs") 1 else NA_real_
  new_parameter_rows(terms, n_before + seq_along(terms), truth = truth, a = beta_parameter,
    total = 2 * beta_parameter)
}

is_dependence_term <- function(term) grepl("^(easy|pair)\\[", term)

# ---- Probabilities ------------------------------------------------------------------------------

# Returns the probability of each row of ratings given each true category, a matrix (rows x true
# categories). `codes`: the ratings, a matrix of category numbers (rows x raters, 0 if missing).
# `parameters`: the parameters of the model, a list:
# * base_rates: populations x categories
# * matrices: a list with the confusion matrix of each rater (true category x rating)
# * shared: parameters of correlated errors, a matrix with a row per true category. For type "easy",
#   its only column contains shares of easy cases. For type "pairs", it has a column per pair, which
#   contains the weight `u` of joint_answer_probabilities().
code_probabilities <- function(parameters, codes, model, raters) {
  pairs <- pair_indices(model, raters)
  n <- ncol(parameters$base_rates)
  probabilities <- vapply(seq_len(n), function(k) {
    rater_rows <- lapply(parameters$matrices, function(m) m[k, ])
    easy_share <- if (dependence_type(model) == "easy") parameters$shared[k, 1L] else 0
    answer_probabilities <- vapply(seq_along(rater_rows), function(j) {
      p_if_hard <- (rater_rows[[j]] - easy_share * (seq_len(n) == k)) / (1 - easy_share)
      c(1, p_if_hard)[codes[, j] + 1L]
    }, numeric(nrow(codes)))
    dim(answer_probabilities) <- dim(codes)
    for (i in seq_len(ncol(pairs))) {
      rater1 <- pairs[1L, i]
      rater2 <- pairs[2L, i]
      is_rated_by_both <- codes[, rater1] > 0L & codes[, rater2] > 0L
      joint_probability <- joint_answer_probabilities(
        rater_rows[[rater1]], rater_rows[[rater2]], parameters$shared[k, i]
      )
      answer_probabilities[is_rated_by_both, rater1] <-
        joint_probability[codes[is_rated_by_both, pairs[, i], drop = FALSE]]
      answer_probabilities[is_rated_by_both, rater2] <- 1
    }
    has_no_error <- rowSums(codes > 0L & codes != k) == 0
    easy_share * has_no_error + (1 - easy_share) * apply(answer_probabilities, 1L, prod)
  }, numeric(nrow(codes)))
  matrix(probabilities, nrow(codes))
}

# Returns the joint probabilities of the answers of two raters, a matrix (answer of the first x
# answer of the second). `a`, `b`: probabilities of the answers of each rater given the truth. The
# matrix is a mixture of two distributions with these margins. The first has weight `u`: answers are
# equal as often as possible. The second has weight 1 - `u`: answers are independent.
joint_answer_probabilities <- function(a, b, u) {
  common_part <- pmin(a, b)
  unequal_part <- outer(a - common_part, b - common_part)
  if (sum(common_part) < 1) unequal_part <- unequal_part / (1 - sum(common_part))
  (1 - u) * outer(a, b) + u * (unequal_part + diag(common_part, length(a)))
}

# Largest number of combinations of answers for which identification is checked.
max_combinations <- 4096

# Returns all combinations of answers of the raters, a matrix of category numbers (combinations x
# raters). Returns NULL if there are too many combinations.
all_answer_combinations <- function(x) {
  n <- n_categories(x)
  if (n^n_raters(x) <= max_combinations)
    unname(as.matrix(expand.grid(rep(list(seq_len(n)), n_raters(x)))))
}

# ---- Identification -----------------------------------------------------------------------------

# Checks whether the parameters of a model are identified. Returns a list of two numbers; NULL if
# there are too many combinations of answers:
# * parameters: number of parameters
# * rank: rank of the Jacobian of the probabilities of all combinations of answers
#
# The parameters are identified if both numbers are equal. Enough degrees of freedom do not
# guarantee full rank (Jones et al., 2010).
#
# `populations`: number of populations. `points`: a list of sets of parameter values, see argument
# `parameters` of code_probabilities(). The returned rank is the largest rank at these sets.
rank_of_model <- function(x, model, populations,
                          points = random_parameters(x, model, populations)) {
  codes <- all_answer_combinations(x)
  if (is.null(codes)) return(NULL)
  n <- n_categories(x)
  combination_probabilities <- function(changed, point) {
    parameters <- relist(changed, point)
    parameters$base_rates <- parameters$base_rates / rowSums(parameters$base_rates)
    # A single number is the accuracy of a rater with uniform errors. A single matrix is used for
    # all raters.
    parameters$matrices <- rep_len(lapply(parameters$matrices, function(m) {
      if (length(m) == 1L) m <- diag(m, n) + (1 - diag(n)) * (1 - m) / (n - 1)
      m / rowSums(m)
    }), n_raters(x))
    as.vector(code_probabilities(parameters, codes, model, x$raters) %*% t(parameters$base_rates))
  }
  ranks <- map_dbl(points, function(point) {
    jacobian <- central_differences(
      function(changed) combination_probabilities(changed, point), unlist(point)
    )
    singular_values <- svd(jacobian, 0L, 0L)$d
    sum(singular_values > 1e-6 * singular_values[[1L]])
  })
  n_parameters_per_matrix <- if (model$errors == "uniform") 1 else n * (n - 1)
  list(
    rank = max(ranks), parameters = populations * (n - 1) +
      n_parameters_per_matrix * length(points[[1L]]$matrices) + length(points[[1L]]$shared)
  )
}

# Returns two random sets of parameter values for rank_of_model(), the same in every call.
random_parameters <- function(x, model, populations) {
  n <- n_categories(x)
  draw_matrix <- function(n_rows, low = 0.5, high = 1.5) {
    matrix(runif(n_rows * n, low, high), n_rows)
  }
  withr::with_seed(1L, lapply(1:2, function(i) {
    drop_null(list(
      base_rates = draw_matrix(populations),
      matrices = lapply(seq_len(if (model$accuracy == "common") 1L else n_raters(x)),
        function(j) {
          if (model$errors == "uniform") runif(1L, 0.6, 0.9) else
            draw_matrix(n) + diag(3 * (n - 1), n)
        }),
      shared = if (model_is_dependent(model))
        t(draw_matrix(max(1L, length(model$dependence$pairs)), 0.1, 0.4))
    ))
  }))
}

# Raises an error if the parameters of a model with correlated errors are not identified and some
# rater has no informative prior. Otherwise, returns the result of rank_of_model().
# `raters_with_prior`: names of the raters with an informative prior.
check_dependence_identified <- function(x, model, populations, raters_with_prior) {
  rank_check <- rank_of_model(x, model, populations)
  is_rank_deficient <- isTRUE(rank_check$rank < rank_check$parameters)
  abort_if(is_rank_deficient && !all(x$raters %in% raters_with_prior), "prior",
    "The ratings do not identify which errors raters share: the model has {rank_check$parameters}
     parameters, and the ratings determine {rank_check$rank} of them.",
    i = "Give priors for all raters with {.fun rater_prior}. Or use more raters, or more populations
         with different base rates.")
  rank_check
}

# Warns, after every fit of a model with correlated errors, that other such models may fit the
# ratings equally well. The warning also reports whether parameters are not identified.
warn_dependence <- function(fit) {
  # The lower of two ranks is used: at random parameter values and at the posterior means.
  rank_check <- fit$learnable
  if (!is.null(rank_check)) {
    mean_draw <- drop_null(parameters_of_values(fit, colMeans(fit$draws)))
    if (fit$model$accuracy == "common") mean_draw$matrices <- mean_draw$matrices[1L]
    if (fit$model$errors == "uniform") mean_draw$matrices <- lapply(mean_draw$matrices, `[[`, 1L)
    rank_at_mean <- rank_of_model(fit$x, fit$model, nrow(mean_draw$base_rates), list(mean_draw))
    rank_check$rank <- min(rank_check$rank, rank_at_mean$rank)
  }
  warn_fallible("dependence", c(
    "Ratings do not show which errors raters share: other models may fit equally well and give
     other accuracies.",
    if (isTRUE(rank_check$rank < rank_check$parameters)) c(
      "x" = "{.val {Filter(is_dependence_term, fit$terms$term)}} cannot be estimated from these data
             (rank {rank_check$rank} of {rank_check$parameters} parameters): the results depend on
             the priors."
    ),
    "i" = "Report the results of {.fun compare_models}. Cases of known truth can show which model is
           correct."
  ), rank = rank_check$rank, parameters = rank_check$parameters)
}
