#' Simulated ratings
#'
#' Draws the answers of raters and systems to cases with known true categories. Random parts of the
#' design, such as random base rates, are drawn in each call. [set.seed()] makes the result
#' reproducible.
#' @srrstatsNA {UL2.1} ratings are not transformed
#' @srrstatsNA {UL7.5, UL7.5a} nothing is fitted in batches
#' @param design A [rater_design()].
#' @param n Number of cases, at least 1; by default the design's.
#' @param rater_kind Kind of the raters, such as `"expert"` or `"model"`, see [ratings()]. It does
#'   not change the simulated answers. `NULL`, the default: unknown.
#' @param ... Not used; catches misspelt arguments.
#' @return A [ratings()] object that also contains its truth; see [truth()]. Cases are numbered from
#'   1.
#' @family simulation
#' @templateVar where Section "Performance and robustness"
#' @template ref-lehner
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(lehner_design(3))
#' x
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

# Draws a panel in the C++ core. Returns a list: `truth` and `stratum` of each case; `answers`, a
# list with a vector per rater and then per system (0 is missing); `base_rates`; `expected`, the
# accuracy of each system in the design; and `matrices`, the confusion matrices, by stratum within
# rater or system. `item` is the index of the panel: panels with the same seed and different
# numbers are independent.
draw_panel <- function(design, n, seed = draw_seed(), item = 0) {
  core_simulate(unclass(design), n, seed, item)
}

as_panel <- function(design, drawn) {
  labels <- design$categories
  columns <- lapply(drawn$answers, function(code) factor(c(NA, labels)[code + 1L], labels))
  raters <- names(design$raters)
  systems <- if (n_systems(design) > 0L) names(design$systems)
  # The option suppresses the message that asks to declare `rater_kind`.
  x <- withr::with_options(list(fallible.quiet = TRUE), ratings(
    list2DF(setNames(columns, c(raters, systems))),
    raters = !!raters, systems = !!systems, categories = labels, ordered = is_ordered(design)
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
  check_class(design, "rater_design", "design", "Make one with {.fun rater_design}.")
}

#' True categories and accuracies
#'
#' `truth()` returns the true category of each case, `true_accuracy()` the true accuracy of each
#' system.
#'
#' @param x A [simulate_ratings()] or [with_truth()] result, or [ratings()] with `truth`.
#' @param systems Names of systems; `NULL`, the default, for all.
#' @param ... Not used; catches misspelt arguments.
#' @return `truth()`: a tibble with a row per case and columns `case` and `category`, a factor that
#'   is `NA` if the truth is unknown.
#'
#'   `true_accuracy()`: a tibble with a row per system.
#'
#'   * `system`: name of the system.
#'   * `expected`: probability of a correct answer in the design of the simulation; `NA` if it is
#'     not known. Copied answers (`copying` in [rater_design()]) are included.
#'   * `sample`: share of correct answers among the cases of `x` with an answer and a known truth
#'     (weighted, if cases have weights).
#' @family simulation
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.6, 0.6, 0.7), systems = c(a = 0.8, b = 0.9)), n = 20)
#' truth(x)
#' true_accuracy(x)
#' @export
truth <- function(x, ...) {
  check_call()
  check_truth(x)
  tibble::tibble(case = x$cases, category = category_factor(x$truth$category, x))
}

#' @rdname truth
#' @export
true_accuracy <- function(x, systems = NULL, ...) {
  check_call()
  check_truth(x)
  x <- choose_systems(x, systems)
  tibble::tibble(
    system = x$systems, expected = unname(x$truth$expected), sample = sample_accuracy(x)
  )
}

# Returns the weighted share of correct answers of each system, among the cases with an answer and a
# known truth.
sample_accuracy <- function(x) {
  answer <- case_answers(x)
  weight <- weights_of_cases(x) * !is.na(x$truth$category)
  weight_right <- colSums((answer == x$truth$category) * weight, na.rm = TRUE)
  unname(as.double(ratio(weight_right, colSums((answer > 0L) * weight))))
}

check_truth <- function(x) {
  check_ratings(x)
  abort_argument_if(is.null(x$truth), "x", "The truth of the cases of {.arg x} is not known.",
    i = "{.fun simulate_ratings}, {.fun with_truth}, and {.fun ratings} with {.arg truth}, return
        ratings with known truth. To estimate the truth or accuracies, use {.fun ground_truth} or
        {.fun estimate_accuracy}.")
}

# Models with correlated errors of raters given the truth. src/core/posterior/dependent.hpp defines
# the distributions. A model without correlated errors has no field `dependence`. Otherwise the
# field is a list: `type`, "easy" (some cases are easy, so that all raters are right) or "pairs"
# (the errors of some pairs of raters are correlated); and `pairs`, a list of pairs of names.

check_dependence <- function(dependence, pairs, errors, difficulty, confidence) {
  type <- check_choice(dependence, c("none", "easy", "pairs"), "dependence")
  abort_argument_if((type == "pairs") == is.null(pairs), "pairs",
    "{.arg pairs} must be given with {.code dependence = \"pairs\"}, and only then.",
    x = if (is.null(pairs)) "{.arg pairs} is missing." else "{.arg dependence} is {.val {type}}.",
    i = "{.arg pairs} is a list of pairs of raters, such as {.code list(c(\"a\", \"b\"))}.")
  if (type == "none") return(NULL)
  has_allowed_model <- !is_formula(difficulty) && difficulty[[1L]] == "none" &&
    errors[[1L]] %in% c("uniform", "free") && !isTRUE(confidence)
  abort_argument_if(!has_allowed_model, "dependence",
    "{.arg dependence} needs {.code errors = \"uniform\"} or {.val free},
     {.code difficulty = \"none\"} and {.code confidence = FALSE}.")
  names <- unlist(pairs)
  ok <- is.list(pairs) && all(lengths(pairs) == 2L) && is.character(names) &&
    anyDuplicated(names) == 0L && !anyNA(names)
  abort_argument_if(type == "pairs" && !ok, "pairs",
    "must be a list of pairs of names of raters, and no rater may be in two pairs.", not = pairs)
  list(type = type, pairs = pairs)
}

model_is_dependent <- function(model) !is.null(model$dependence)

# Returns words that complete the sentence "raters err ...": the model's assumption about errors.
independence_words <- function(model) {
  if (inherits(model, "own_model")) return("as the fitted model specifies")
  if (model_is_dependent(model)) {
    return("with the dependence of the model, which ratings cannot show")
  }
  has_strata <- model$difficulty == "strata" || length(model$family$strata) > 1L
  paste0("independently given the truth", if (has_strata) " and the difficulty of the case")
}

dependence_type <- function(model) model$dependence$type %||% "none"

format_dependence <- function(model) {
  pairs <- map_chr(model$dependence$pairs, paste, collapse = " and ")
  switch(dependence_type(model),
    easy = " with cases easy for all", pairs = paste0(
      if (length(pairs) == 1L) " with the dependent pair " else " with dependent pairs ",
      toString(pairs)
    )
  )
}

# Returns the indices of the raters in dependent pairs, a matrix with two rows and a column per
# pair.
pair_indices <- function(model, raters) matrix(match(unlist(model$dependence$pairs), raters), 2L)

# Largest number of ratings of a case in models with correlated errors. With more ratings, the
# computed probability of the case can be NaN.
max_dependent_ratings <- 300L

check_dependent_panel <- function(model, x) {
  unknown <- setdiff(unlist(model$dependence$pairs), x$raters)
  abort_argument_if(unknown, "model", "{.field pairs} must name raters of {.arg x}.",
    x = "{.val {unknown}} {?is/are} not among {.val {x$raters}}.")
  check_named_raters(x, "model",
    "A {.arg model} with {.field dependence} needs the rater of each rating.")
  abort_argument_if(max(pattern_lengths(x)) > max_dependent_ratings, "model",
    "A {.arg model} with {.field dependence} allows at most {max_dependent_ratings} ratings of a
     case.")
}

# Returns the rows of the table of parameters that describe correlated errors; NULL if the model has
# none. `n_before` is the number of parameters that precede them in the core's draws.
shared_terms <- function(x, model, n_before) {
  type <- dependence_type(model)
  if (type == "none") return(NULL)
  names <- c(
    if (type == "easy") "", map_chr(model$dependence$pairs, paste0, ",", collapse = "")
  )
  truth <- rep(x$categories, length(names))
  terms <- paste0(sub("s$", "", type), "[", rep(names, each = n_categories(x)), truth, "]")
  beta_parameter <- if (type == "pairs") 1 else NA_real_
  new_terms(terms, n_before + seq_along(terms), truth = truth, a = beta_parameter,
    total = 2 * beta_parameter)
}

is_shared_term <- function(term) grepl("^(easy|pair)\\[", term)

# ---- Probabilities ------------------------------------------------------------------------------

# Returns the probability of each row of `codes` given each true category, a matrix (rows x true
# categories). `codes` is a matrix of ratings (rows x raters, 0 if missing). `law` contains the
# parameters of the model: base_rates (populations x categories); matrices (a list with a matrix per
# rater, true category x rating); and, for models with correlated errors, `shared` (true categories
# x pairs; one column, the share of easy cases, if the type is "easy").
codes_given_class <- function(law, codes, model, raters) {
  type <- dependence_type(model)
  pairs <- pair_indices(model, raters)
  size <- ncol(law$base_rates)
  out <- vapply(seq_len(size), function(k) {
    rows <- lapply(law$matrices, function(m) m[k, ])
    easy_share <- if (type == "easy") law$shared[k, 1L] else 0
    answer_probabilities <- vapply(seq_along(rows), function(j) {
      c(1, (rows[[j]] - easy_share * (seq_len(size) == k)) / (1 - easy_share))[codes[, j] + 1L]
    }, numeric(nrow(codes)))
    dim(answer_probabilities) <- dim(codes)
    for (i in seq_len(ncol(pairs))) {
      a <- pairs[1L, i]
      b <- pairs[2L, i]
      both_rated <- codes[, a] > 0L & codes[, b] > 0L
      joint_probabilities <- joint_answer_probabilities(rows[[a]], rows[[b]], law$shared[k, i])
      answer_probabilities[both_rated, a] <-
        joint_probabilities[cbind(codes[both_rated, a], codes[both_rated, b])]
      answer_probabilities[both_rated, b] <- 1
    }
    all_right <- rowSums(codes > 0L & codes != k) == 0
    easy_share * all_right + (1 - easy_share) * apply(answer_probabilities, 1L, prod)
  }, numeric(nrow(codes)))
  matrix(out, nrow(codes))
}

# Returns the joint probabilities of the answers of two raters, a matrix. `a` and `b` are the
# probabilities of their answers given the truth. The matrix is a mixture. With weight `u`, answers
# are equal as often as `a` and `b` allow; with weight 1 - `u`, they are independent.
joint_answer_probabilities <- function(a, b, u) {
  common <- pmin(a, b)
  unequal_part <- outer(a - common, b - common)
  if (sum(common) < 1) unequal_part <- unequal_part / (1 - sum(common))
  (1 - u) * outer(a, b) + u * (unequal_part + diag(common, length(a)))
}

# Largest number of combinations of answers for which identification is checked.
max_combinations <- 4096

# Returns all combinations of answers of the raters, a matrix with a row per combination and a
# column per rater. Returns NULL if there are too many combinations.
all_codes <- function(x) {
  size <- n_categories(x)
  if (n_raters(x) * log(size) <= log(max_combinations) + 1e-9)
    unname(as.matrix(expand.grid(rep(list(seq_len(size)), n_raters(x)))))
}

# ---- Identification -----------------------------------------------------------------------------

# Checks whether the parameters of a model are identified. Returns the number of `parameters` and
# `rank`, the rank of the Jacobian of the probabilities of all combinations of answers; the
# parameters are identified if both are equal. Enough degrees of freedom do not guarantee full rank
# (Jones et al., 2010). Returns NULL if there are too many combinations.
#
# `at` is a list of parameter values, and the largest rank is used. Each element has base_rates,
# matrices (one matrix if all raters are equal; single numbers if errors are uniform) and `shared`.
# Rows of matrices are normalised here, which does not change the rank.
rank_of_model <- function(x, model, populations, at = random_points(x, model, populations)) {
  codes <- all_codes(x)
  if (is.null(codes)) return(NULL)
  size <- n_categories(x)
  combination_probabilities <- function(moved, point) {
    law <- relist(moved, point)
    law$base_rates <- law$base_rates / rowSums(law$base_rates)
    law$matrices <- rep_len(lapply(law$matrices, function(m) {
      if (length(m) == 1L) m <- diag(m, size) + (1 - diag(size)) * (1 - m) / (size - 1)
      m / rowSums(m)
    }), n_raters(x))
    as.vector(codes_given_class(law, codes, model, x$raters) %*% t(law$base_rates))
  }
  ranks <- vapply(at, function(point) {
    singular_values <- svd(
      central_differences(function(moved) combination_probabilities(moved, point), unlist(point)),
      0L, 0L
    )$d
    sum(singular_values > 1e-6 * singular_values[[1L]])
  }, 0)
  n_per_matrix <- if (model$errors == "uniform") 1 else size * (size - 1)
  list(
    rank = max(ranks), parameters = populations * (size - 1) +
      n_per_matrix * length(at[[1L]]$matrices) + length(at[[1L]]$shared)
  )
}

# Returns two random sets of parameter values, in which raters are better than chance. A fixed seed
# makes the rank reproducible.
random_points <- function(x, model, populations) {
  size <- n_categories(x)
  random_matrix <- function(n, low = 0.5, high = 1.5) matrix(runif(n * size, low, high), n)
  withr::with_seed(1L, lapply(1:2, function(i) {
    drop_null(list(
      base_rates = random_matrix(populations),
      matrices = lapply(seq_len(if (model$accuracy == "common") 1L else n_raters(x)),
        function(j) {
          if (model$errors == "uniform") runif(1L, 0.6, 0.9) else
            random_matrix(size) + diag(3 * (size - 1), size)
        }),
      shared = if (model_is_dependent(model))
        t(random_matrix(max(1L, length(model$dependence$pairs)), 0.1, 0.4))
    ))
  }))
}

# Raises an error if the parameters are not identified and a rater has no informative prior. `named`
# contains the names of the raters with an informative prior.
check_learnable <- function(x, model, populations, named) {
  rank <- rank_of_model(x, model, populations)
  abort_if(isTRUE(rank$rank < rank$parameters) && !all(x$raters %in% named), "prior",
    "The ratings do not identify which errors raters share: the model has {rank$parameters}
     parameters, and the ratings determine {rank$rank} of them.",
    i = "Give priors for all raters with {.fun rater_prior}. Or use more raters, or more populations
         with different base rates.")
  rank
}

# Warns that other models of correlated errors may fit equally well. The rank is also computed at
# the posterior means, where it may be lower than at the random points.
warn_dependence <- function(fit) {
  rank <- fit$learnable
  if (!is.null(rank)) {
    at <- drop_null(parameters_of_values(fit, colMeans(fit$draws)))
    if (fit$model$accuracy == "common") at$matrices <- at$matrices[1L]
    if (fit$model$errors == "uniform") at$matrices <- lapply(at$matrices, `[[`, 1L)
    at_mean <- rank_of_model(fit$x, fit$model, nrow(at$base_rates), list(at))
    rank$rank <- min(rank$rank, at_mean$rank)
  }
  warn_fallible("dependence", c(
    "Ratings do not show which errors raters share: other models may fit equally well and give
     other accuracies.",
    if (isTRUE(rank$rank < rank$parameters)) c(
      "x" = "{.val {Filter(is_shared_term, fit$terms$term)}} cannot be estimated from these data
             (rank {rank$rank} of {rank$parameters} parameters): the results depend on the priors."
    ),
    "i" = "Report the results of {.fun compare_models}. Cases of known truth can show which model is
           right."
  ), rank = rank$rank, parameters = rank$parameters)
}
