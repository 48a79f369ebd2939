# Errors that raters have in common given the truth, as a part of a model; the laws are explained in
# src/core/posterior/dependent.hpp. A model has a field `dependence` only if there is any: type
# ("easy" or "pairs") and pairs, a list of two names each.

check_dependence <- function(dependence, pairs, errors, difficulty, confidence) {
  type <- check_choice(dependence, c("none", "easy", "pairs"), "dependence")
  if ((type == "pairs") == is.null(pairs)) {
    abort_argument("pairs", "{.arg pairs} is needed for {.code dependence = \"pairs\"}, and goes
                             with no other.",
      i = "A list of the names of two raters each, such as {.code list(c(\"a\", \"b\"))}.")
  }
  if (type == "none") {
    return(NULL)
  }
  free <- !rlang::is_formula(difficulty) && difficulty[[1L]] == "none" &&
    errors[[1L]] %in% c("uniform", "free") && !isTRUE(confidence)
  if (!free) {
    abort_argument("dependence", "Dependent errors go with uniform or free ones, on cases of equal
                                  difficulty, without confidence.")
  }
  if (type == "pairs") {
    ok <- is.list(pairs) && all(lengths(pairs) == 2L) && all(vapply(pairs, is.character, NA)) &&
      anyDuplicated(unlist(pairs)) == 0L && !anyNA(unlist(pairs))
    if (!ok) {
      abort_argument("pairs", "must be a list of the names of two raters each, all different.",
        not = pairs)
    }
  }
  list(type = type, pairs = pairs)
}

model_is_dependent <- function(model) !is.null(model$dependence)

dependence_of <- function(model) model$dependence$type %||% "none"

dependence_words <- function(model) {
  switch(dependence_of(model),
    easy = " with cases easy for all",
    pairs = paste0(" with dependent pairs ", toString(vapply(model$dependence$pairs, paste, "",
      collapse = " and ")))
  )
}

# Numbers of raters, a column for each pair.
pairs_of <- function(model, raters) {
  matrix(match(unlist(model$dependence$pairs), raters), 2L)
}

# More ratings of a case have a probability that is no number.
most_dependent <- 300L

check_dependent_panel <- function(model, x) {
  unknown <- setdiff(unlist(model$dependence$pairs), x$raters)
  abort_argument_if(length(unknown) > 0L, "model", "{.field pairs} must name raters of {.arg x}.",
    x = "{.val {unknown}} {?is/are} not among {.val {x$raters}}.")
  check_named_raters(x, "model", "Dependent errors need the rater of each rating.")
  abort_argument_if(max(pattern_lengths(x)) > most_dependent, "model",
    "Dependent errors are fitted to at most {most_dependent} ratings of a case.")
}

# Rows of draw_terms() for what raters share, behind `matrices` and those of systems.
shared_terms <- function(x, model, populations, matrices) {
  size <- length(x$categories)
  before <- populations * size + (matrices + length(x$systems)) * size^2
  pairs <- model$dependence$pairs
  words <- switch(dependence_of(model),
    none = return(NULL), easy = paste0("easy[", x$categories, "]"),
    pairs = unlist(lapply(pairs, function(pair) {
      paste0("pair[", pair[[1L]], ",", pair[[2L]], ",", x$categories, "]")
    }))
  )
  flat <- if (dependence_of(model) == "pairs") 1 else NA_real_
  data.frame(
    term = words, rater = NA_character_, truth = rep_len(x$categories, length(words)),
    rating = NA_character_, population = NA_character_, place = before + seq_along(words),
    a = flat, total = 2 * flat
  )
}

shared_names <- function(fit) fit$terms$term[is_shared_term(fit$terms$term)]

is_shared_term <- function(term) grepl("^(easy|pair)\\[", term)

# ---- Probabilities ------------------------------------------------------------------------------

# A law: base_rates (populations x categories), matrices (a list, truths x ratings) and, of
# dependence, `shared` (classes x pairs, or one column). `codes`: rows x raters, 0 where missing.
# Rows x classes, the probability of the codes in each class.
codes_given_class <- function(law, codes, model, raters) {
  type <- dependence_of(model)
  pairs <- pairs_of(model, raters)
  size <- ncol(law$base_rates)
  out <- vapply(seq_len(size), function(k) {
    rows <- lapply(law$matrices, function(m) m[k, ])
    easy <- if (type == "easy") law$shared[k, 1L] else 0
    single <- vapply(seq_along(rows), function(j) {
      own <- (rows[[j]] - easy * (seq_len(size) == k)) / (1 - easy)
      c(1, own)[codes[, j] + 1L]
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

# Answers of two raters to a case, whose rows are `one` and `other`.
coupled <- function(one, other, u) {
  common <- pmin(one, other)
  most <- outer(one - common, other - common)
  if (sum(common) < 1) most <- most / (1 - sum(common))
  (1 - u) * outer(one, other) + u * (most + diag(common, length(one)))
}

shared_of_draw <- function(fit, at) {
  mine <- is_shared_term(fit$terms$term)
  if (any(mine)) matrix(at[mine], length(fit$x$categories))
}

# Patterns x raters, 0 where there is no rating.
pattern_codes <- function(x) {
  out <- matrix(0L, n_patterns(x), length(x$raters))
  out[cbind(rating_pattern(x), rating_rater(x))] <- rating_category(x)
  out
}

most_cells <- 4096

# All answers of all raters, a row each; NULL if there are too many.
all_codes <- function(x) {
  size <- length(x$categories)
  if (length(x$raters) * log(size) > log(most_cells) + 1e-9) {
    return(NULL)
  }
  unname(as.matrix(expand.grid(rep(list(seq_len(size)), length(x$raters)))))
}

# ---- What can be learnt -------------------------------------------------------------------------

# Can the cells of all answers tell the parameters of the model apart: `parameters`, and the `rank`
# of how the probabilities of cells move with them, the largest of two random points (Jones et al.,
# 2010: where degrees of freedom suffice, the rank may not). NULL where there are too many cells.
rank_of_model <- function(x, model, populations, at = random_laws(x, model, populations)) {
  codes <- all_codes(x)
  if (is.null(codes)) {
    return(NULL)
  }
  ranks <- vapply(at, function(law) {
    start <- unlist_law(law, model)
    cells <- function(parameters) {
      one <- relist_law(parameters, law, model)
      as.vector(codes_given_class(one, codes, model, x$raters) %*% t(one$base_rates))
    }
    size <- svd(differences(cells, start), 0L, 0L)$d
    sum(size > 1e-6 * size[[1L]])
  }, 0)
  list(rank = max(ranks), parameters = length(unlist_law(at[[1L]], model)))
}

# From a fixed seed: the rank is no matter of chance.
random_laws <- function(x, model, populations) {
  size <- length(x$categories)
  withr::with_seed(1L, lapply(1:2, function(i) {
    share <- function() (0.5 + stats::runif(size)) / size
    matrices <- lapply(x$raters, function(rater) {
      right <- stats::runif(if (model$errors == "uniform") 1L else size, 0.6, 0.9)
      out <- matrix((1 - right) / (size - 1), size, size)
      if (model$errors == "free") out <- out * matrix(stats::runif(size^2, 0.5, 1.5), size)
      diag(out) <- right
      out / rowSums(out)
    })
    if (model$accuracy == "common") matrices[] <- matrices[1L]
    rates <- t(vapply(seq_len(populations), function(p) share(), numeric(size)))
    list(
      base_rates = rates / rowSums(rates), matrices = matrices,
      shared = matrix(stats::runif(size * max(1L, length(model$dependence$pairs)), 0.1, 0.4), size)
    )
  }))
}

# Free parameters of a law in a row, and the law that they make: the last of each distribution is
# what is left.
unlist_law <- function(law, model) {
  matrices <- if (model$accuracy == "common") law$matrices[1L] else law$matrices
  rows <- if (model$errors == "uniform") {
    vapply(matrices, function(m) m[[1L]], 0)
  } else {
    unlist(lapply(matrices, function(m) m[row(m) != col(m)]))
  }
  c(law$base_rates[, -1L], rows, if (model_is_dependent(model)) law$shared)
}

relist_law <- function(parameters, law, model) {
  size <- ncol(law$base_rates)
  common <- model$accuracy == "common"
  each <- if (model$errors == "uniform") 1L else size^2 - size
  rates <- length(law$base_rates[, -1L])
  matrices <- if (common) 1L else length(law$matrices)
  rest <- length(parameters) - rates - each * matrices
  of <- rep(c(0L, seq_len(matrices), -1L), c(rates, rep(each, matrices), rest))
  law$base_rates[, -1L] <- parameters[of == 0L]
  law$base_rates[, 1L] <- 1 - rowSums(law$base_rates[, -1L, drop = FALSE])
  law$matrices <- lapply(seq_along(law$matrices), function(j) {
    own <- parameters[of == if (common) 1L else j]
    out <- law$matrices[[j]]
    if (model$errors == "uniform") {
      out[] <- (1 - own) / (size - 1)
      diag(out) <- own
    } else {
      out[row(out) != col(out)] <- own
      diag(out) <- 0
      diag(out) <- 1 - rowSums(out)
    }
    out
  })
  if (model_is_dependent(model)) law$shared[] <- parameters[of == -1L]
  law
}

# What must be known besides, where raters and populations are too few.
check_learnable <- function(x, model, populations, named) {
  found <- rank_of_model(x, model, populations)
  short <- !is.null(found) && found$rank < found$parameters
  if (short && !all(x$raters %in% named)) {
    abort_fallible("prior",
      "So few raters and populations cannot show which errors raters share: the model has
       {found$parameters} parameters, of which ratings determine {found$rank}.",
      i = "Say what is known of all raters, with {.fun rater_prior}; or give more raters, or
           populations with base rates of their own.")
  }
  found
}

warn_dependence <- function(fit) {
  found <- fit$learnable
  if (!is.null(found)) {
    at <- list(law_of_values(fit, colMeans(fit$draws)))
    here <- rank_of_model(fit$x, fit$model, nrow(at[[1L]]$base_rates), at)
    found$rank <- min(found$rank, here$rank)
  }
  warn_fallible("dependence", c(
    "Ratings alone do not show which errors raters share: other models may fit as well and give
     other accuracies.",
    if (!is.null(found) && found$rank < found$parameters) c(
      "x" = "{.val {shared_names(fit)}} cannot be learnt from these data (rank {found$rank} of
             {found$parameters} parameters): only their priors say what they are."
    ),
    "i" = "Report what {.fun compare_models} gives. Only known truths can decide."
  ), rank = found$rank, parameters = found$parameters)
}
