#' Simulated ratings
#'
#' Draws the answers of raters and systems to cases with known true categories. All random parts of
#' the design are drawn again for each panel, with R's random numbers.
#'
#' @srrstatsNA {UL2.1} ratings are not transformed
#' @srrstatsNA {UL7.5, UL7.5a} nothing is fitted in batches
#' @param design A [rater_design()].
#' @param n Number of cases, at least 1; by default that of the design.
#' @param rater_kind Kind of the raters, as in [ratings()]. It affects only the intervals of
#'   accuracies.
#' @return A [ratings()] object that also contains its truth; see [truth()]. It has all categories
#'   of the design, used or not. Cases are numbered from 1.
#' @family simulation
#' @templateVar where Performance and robustness
#' @template ref-lehner
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(lehner_design(3))
#' x
#' true_accuracy(x)
#' estimate_accuracy(x)
#' @export
simulate_ratings <- function(design, n = design$n, rater_kind = NULL) {
  check_given()
  check_design(design)
  check_panel_memory(design, check_count(n, "n"))
  rater_kind <- check_rater_kind(rater_kind)
  x <- as_panel(design, draw_panel(design, n))
  x$rater_kind <- resolve_kinds(rater_kind, x)
  x
}

# Draws in the core: truth, stratum, answers (a column per rater, then per system; 0 is missing),
# base_rates, expected, matrices (by stratum within judge). `item`: number of the panel of this
# seed.
draw_panel <- function(design, n, seed = draw_seed(), item = 0) {
  core_simulate(unclass(design), n, seed, item)
}

as_panel <- function(design, drawn) {
  labels <- design$categories
  columns <- lapply(drawn$answers, function(code) {
    factor(labels[replace(code, code == 0L, NA)], levels = labels)
  })
  raters <- names(design$raters)
  systems <- if (n_systems(design) > 0L) names(design$systems)
  x <- withr::with_options(list(fallible.quiet = TRUE), ratings( # no question about rater_kind
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
#' @param x A [simulate_ratings()] or [with_truth()] result, or [ratings()] with `truth`; or some of
#'   its cases, as in `x[1:10, ]`.
#' @param systems Names of systems; `NULL` for all.
#' @return `truth()`: a tibble with a row per case: `case`; and `category`, a factor, `NA` if the
#'   truth is unknown. `true_accuracy()`: a tibble with a row per system. `system`; `expected`, the
#'   probability of a correct answer in the design, including copied answers, `NA` if it is unknown;
#'   and `sample`, the share of correct answers among the cases of `x` with an answer and a known
#'   truth (weighted, if cases have weights).
#' @family simulation
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.6, 0.6, 0.7), systems = c(a = 0.8, b = 0.9)), n = 20)
#' truth(x)
#' true_accuracy(x)
#' @export
truth <- function(x) {
  check_given()
  check_truth(x)
  tibble::tibble(case = x$cases, category = category_factor(x$truth$category, x))
}

#' @rdname truth
#' @export
true_accuracy <- function(x, systems = NULL) {
  check_given()
  check_truth(x)
  x <- choose_systems(x, systems)
  tibble::tibble(
    system = x$systems, expected = unname(x$truth$expected), sample = sample_accuracy(x)
  )
}

# Share of correct answers of each system.
sample_accuracy <- function(x) {
  answer <- case_answers(x)
  weight <- weights_of_cases(x) * !is.na(x$truth$category)
  right <- colSums((answer == x$truth$category) * weight, na.rm = TRUE)
  unname(as.double(ratio(right, colSums((answer > 0L) * weight))))
}

check_truth <- function(x) {
  check_ratings(x)
  abort_argument_if(is.null(x$truth), "x", "The truth of the cases of {.arg x} is not known.",
    i = "{.fun simulate_ratings}, {.fun with_truth} and {.fun ratings} with {.arg truth} make
        ratings that carry it; for estimates, see {.fun ground_truth} and
        {.fun estimate_accuracy}.")
}

# Correlated errors of raters given the truth, as part of a model. src/core/posterior/dependent.hpp
# explains the distributions. A model without correlated errors has no field `dependence`. Otherwise
# it has type ("easy" or "pairs") and pairs, a list of two names each.

check_dependence <- function(dependence, pairs, errors, difficulty, confidence) {
  type <- check_choice(dependence, c("none", "easy", "pairs"), "dependence")
  abort_argument_if((type == "pairs") == is.null(pairs), "pairs",
    "{.arg pairs} must be given with {.code dependence = \"pairs\"}, and only then.",
    x = if (is.null(pairs)) "{.arg pairs} is missing." else "{.arg dependence} is {.val {type}}.",
    i = "{.arg pairs} is a list of pairs of raters, such as {.code list(c(\"a\", \"b\"))}.")
  if (type == "none") return(NULL)
  free <- !rlang::is_formula(difficulty) && difficulty[[1L]] == "none" &&
    errors[[1L]] %in% c("uniform", "free") && !isTRUE(confidence)
  abort_argument_if(!free, "dependence",
    "{.arg dependence} needs {.code errors = \"uniform\"} or {.val free},
     {.code difficulty = \"none\"} and {.code confidence = FALSE}.")
  names <- unlist(pairs)
  ok <- is.list(pairs) && all(lengths(pairs) == 2L) && is.character(names) &&
    anyDuplicated(names) == 0L && !anyNA(names)
  abort_argument_if(type == "pairs" && !ok, "pairs",
    "must be a list of the names of two raters each, all different.", not = pairs)
  list(type = type, pairs = pairs)
}

model_is_dependent <- function(model) !is.null(model$dependence)

dependence_of <- function(model) model$dependence$type %||% "none"

dependence_words <- function(model) {
  pairs <- vapply(model$dependence$pairs, paste, "", collapse = " and ")
  switch(dependence_of(model),
    easy = " with cases easy for all", pairs = paste0(" with dependent pairs ", toString(pairs))
  )
}

# Numbers of the raters, one column per pair.
pairs_of <- function(model, raters) {
  matrix(match(unlist(model$dependence$pairs), raters), 2L)
}

# With more ratings of a case, its probability cannot be computed (NaN).
most_dependent <- 300L

check_dependent_panel <- function(model, x) {
  unknown <- setdiff(unlist(model$dependence$pairs), x$raters)
  abort_argument_if(unknown, "model", "{.field pairs} must name raters of {.arg x}.",
    x = "{.val {unknown}} {?is/are} not among {.val {x$raters}}.")
  check_named_raters(x, "model", "Dependent errors need the rater of each rating.")
  abort_argument_if(max(pattern_lengths(x)) > most_dependent, "model",
    "Dependent errors are fitted to at most {most_dependent} ratings of a case.")
}

# Rows of draw_terms() for the parameters of shared errors.
shared_terms <- function(x, model, before) {
  type <- dependence_of(model)
  if (type == "none") return(NULL)
  names <- c(
    if (type == "easy") "", vapply(model$dependence$pairs, paste0, "", ",", collapse = "")
  )
  truth <- rep(x$categories, length(names))
  words <- paste0(sub("s$", "", type), "[", rep(names, each = n_categories(x)), truth, "]")
  flat <- if (type == "pairs") 1 else NA_real_
  new_terms(words, before + seq_along(words), truth = truth, a = flat, total = 2 * flat)
}

is_shared_term <- function(term) grepl("^(easy|pair)\\[", term)

# ---- Probabilities ------------------------------------------------------------------------------

# Probability of the codes in each class (rows x classes). `law` contains base_rates (populations x
# categories), matrices (a list, truths x ratings) and, with dependence, `shared` (classes x pairs,
# or one column). `codes`: rows x raters, 0 where missing.
codes_given_class <- function(law, codes, model, raters) {
  type <- dependence_of(model)
  pairs <- pairs_of(model, raters)
  size <- ncol(law$base_rates)
  out <- vapply(seq_len(size), function(k) {
    rows <- lapply(law$matrices, function(m) m[k, ])
    easy <- if (type == "easy") law$shared[k, 1L] else 0
    single <- vapply(seq_along(rows), function(j) {
      row <- (rows[[j]] - easy * (seq_len(size) == k)) / (1 - easy)
      c(1, row)[codes[, j] + 1L]
    }, numeric(nrow(codes)))
    dim(single) <- dim(codes)
    for (i in seq_len(ncol(pairs))) {
      a <- pairs[1L, i]
      b <- pairs[2L, i]
      both <- codes[, a] > 0L & codes[, b] > 0L
      joint <- coupled(rows[[a]], rows[[b]], law$shared[k, i])
      single[both, a] <- joint[cbind(codes[both, a], codes[both, b])]
      single[both, b] <- 1
    }
    same <- rowSums(codes > 0L & codes != k) == 0
    easy * same + (1 - easy) * apply(single, 1L, prod)
  }, numeric(nrow(codes)))
  matrix(out, nrow(codes))
}

# Joint probabilities of the answers of two raters; `a` and `b` are their rows given the truth.
coupled <- function(a, b, u) {
  common <- pmin(a, b)
  most <- outer(a - common, b - common)
  if (sum(common) < 1) most <- most / (1 - sum(common))
  (1 - u) * outer(a, b) + u * (most + diag(common, length(a)))
}

# Patterns x raters, 0 where there is no rating.
pattern_codes <- function(x) {
  out <- matrix(0L, n_patterns(x), n_raters(x))
  out[cbind(rating_pattern(x), rating_rater(x))] <- rating_category(x)
  out
}

most_cells <- 4096

# All combinations of answers, one per row; NULL if there are too many.
all_codes <- function(x) {
  size <- n_categories(x)
  if (n_raters(x) * log(size) > log(most_cells) + 1e-9) return(NULL)
  unname(as.matrix(expand.grid(rep(list(seq_len(size)), n_raters(x)))))
}

# ---- Identification -----------------------------------------------------------------------------

# Are the parameters of the model identified? Returns the number of `parameters` and the `rank` of
# the Jacobian of the cell probabilities, the largest over some points. Enough degrees of freedom do
# not guarantee full rank (Jones et al., 2010). NULL if there are too many cells. A point has
# base_rates, matrices (one if all raters are equal; single numbers if errors are uniform) and
# `shared`. Rows are relative weights; normalising them does not change the rank.
rank_of_model <- function(x, model, populations, at = random_points(x, model, populations)) {
  codes <- all_codes(x)
  if (is.null(codes)) return(NULL)
  size <- n_categories(x)
  cells <- function(moved, point) {
    law <- utils::relist(moved, point)
    law$base_rates <- law$base_rates / rowSums(law$base_rates)
    law$matrices <- rep_len(lapply(law$matrices, function(m) {
      if (length(m) == 1L) m <- diag(m, size) + (1 - diag(size)) * (1 - m) / (size - 1)
      m / rowSums(m)
    }), n_raters(x))
    as.vector(codes_given_class(law, codes, model, x$raters) %*% t(law$base_rates))
  }
  ranks <- vapply(at, function(point) {
    values <- svd(differences(function(moved) cells(moved, point), unlist(point)), 0L, 0L)$d
    sum(values > 1e-6 * values[[1L]])
  }, 0)
  by_matrix <- if (model$errors == "uniform") 1 else size * (size - 1)
  list(
    rank = max(ranks), parameters = populations * (size - 1) +
      by_matrix * length(at[[1L]]$matrices) + length(at[[1L]]$shared)
  )
}

# Two points, from a fixed seed, so that the rank is reproducible. Raters are better than chance.
random_points <- function(x, model, populations) {
  size <- n_categories(x)
  cells <- function(n, low = 0.5, high = 1.5) matrix(stats::runif(n * size, low, high), n)
  withr::with_seed(1L, lapply(1:2, function(i) {
    c(
      list(
        base_rates = cells(populations),
        matrices = lapply(seq_len(if (model$accuracy == "common") 1L else n_raters(x)),
          function(j) {
            if (model$errors == "uniform") stats::runif(1L, 0.6, 0.9) else
              cells(size) + diag(3 * (size - 1), size)
          })
      ),
      if (model_is_dependent(model)) {
        list(shared = t(cells(max(1L, length(model$dependence$pairs)), 0.1, 0.4)))
      }
    )
  }))
}

# Fails if the parameters are not identified and not all raters have informative priors.
check_learnable <- function(x, model, populations, named) {
  rank <- rank_of_model(x, model, populations)
  abort_if(isTRUE(rank$rank < rank$parameters) && !all(x$raters %in% named), "prior",
    "So few raters and populations cannot show which errors raters share: the model has
     {rank$parameters} parameters, of which ratings determine {rank$rank}.",
    i = "Say what is known of all raters, with {.fun rater_prior}; or give more raters, or
         populations with base rates of their own.")
  rank
}

warn_dependence <- function(fit) {
  rank <- fit$learnable
  if (!is.null(rank)) {
    at <- drop_null(law_of_values(fit, colMeans(fit$draws)))
    if (fit$model$accuracy == "common") at$matrices <- at$matrices[1L]
    if (fit$model$errors == "uniform") at$matrices <- lapply(at$matrices, `[[`, 1L)
    at_mean <- rank_of_model(fit$x, fit$model, nrow(at$base_rates), list(at))
    rank$rank <- min(rank$rank, at_mean$rank)
  }
  warn_fallible("dependence", c(
    "Ratings alone do not show which errors raters share: other models may fit as well and give
     other accuracies.",
    if (isTRUE(rank$rank < rank$parameters)) c(
      "x" = "{.val {Filter(is_shared_term, fit$terms$term)}} cannot be learnt from these data (rank
             {rank$rank} of {rank$parameters} parameters): only their priors say what they are."
    ),
    "i" = "Report what {.fun compare_models} gives. Only known truths can decide."
  ), rank = rank$rank, parameters = rank$parameters)
}
