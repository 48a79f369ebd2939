# Models of rater_model() in which base rates, accuracy or difficulty depend on covariates of cases.
# The right answer wins against the wrong ones by a logit: the level of the rater (of each true
# category, where errors are free), plus the slopes of the formulas times covariates. How wrong
# answers share the rest is `errors`.

model_by_formula <- function(accuracy, errors, difficulty, system, base_rates) {
  formulas <- list(accuracy = accuracy, difficulty = difficulty, base_rates = base_rates)
  given <- vapply(formulas, rlang::is_formula, NA)
  for (arg in names(formulas)[given | names(formulas) == "base_rates"]) {
    check_formula(formulas[[arg]], arg)
  }
  formulas[!given] <- list(~1)
  accuracy <- if (given[["accuracy"]]) "rater" else check_choice(accuracy, c("common", "rater"))
  if (!given[["difficulty"]]) {
    strata <- check_choice(difficulty, c("none", "strata")) == "strata"
    abort_argument_if(strata, "difficulty",
      "A model with a formula cannot have strata of difficulty.",
      i = "{.arg difficulty} may be a formula too.")
  }
  errors <- check_choice(errors, errors_axis)
  system <- check_choice(system, c("shared", "own"))
  new_family_model(
    list(
      accuracy = accuracy, errors = errors, difficulty = "none", system = system,
      words = paste0("rater model (", axes_in_words(accuracy, errors), ")")
    ),
    list(bind = function(judged, categories) {
      if (errors == "ordinal") return(bind_ordinal(judged, categories, accuracy))
      bind_formulas(judged, length(categories), accuracy, errors, system, formulas)
    }),
    formulas[!vapply(formulas, is_empty_formula, NA) | names(formulas) == "base_rates"]
  )
}

# A family for these data: designs are standardised by them. `layout` says where parameters stand:
# levels (groups x true categories, or one for all of these), shape (logits of wrong answers against
# the first, for free errors), dispersion (its logarithm) and slopes: of accuracy, of the accuracy
# of a system that joined, of difficulty, and of that of a system with its own.
bind_formulas <- function(judged, n, accuracy, errors, system, formulas) {
  design <- function(name, data, like = NULL) formula_design(formulas[[name]], data, like, name)
  effects <- design("accuracy", judged)
  hardness <- design("difficulty", judged)
  raters <- levels(judged$rater)
  by_rater <- accuracy == "rater"
  joined <- any(judged$system)
  own <- joined && system == "own"
  groups <- if (by_rater) length(raters) else 1L + joined
  free <- errors == "free"
  blocks <- rep(list(effects, hardness), each = 2L)
  kept <- c(TRUE, joined, TRUE, own)
  slopes <- unlist(Map(function(design, name, whose) {
    paste0(name, ":", design$names[-1L], whose, recycle0 = TRUE)
  }, blocks, c("accuracy", "accuracy", "difficulty", "difficulty"), c("", "[system]"))[kept])
  sizes <- c(
    level = if (free) groups * n else groups, shape = if (free) groups * n * (n - 2L) else 0L,
    dispersion = if (errors == "distance" && n > 2L) 1L + own else 0L, slope = length(slopes)
  )
  layout <- list(
    at = split(seq_len(sum(sizes)), rep(factor(names(sizes), names(sizes)), sizes)), n = n,
    groups = groups, free = free
  )
  start <- replace(numeric(sum(sizes)), layout$at$level, stats::qlogis(0.75))
  scale <- unlist(lapply(blocks[kept], function(design) design$scale[-1L]))
  list(
    start = function(judged, categories) start, strata = 1,
    prepare = function(judged) {
      of <- function(name, like) design(name, judged, like)$matrix[, -1L, drop = FALSE]
      x <- of("accuracy", effects)
      d <- of("difficulty", hardness)
      system <- judged$system
      alone <- system & own
      list(
        columns = do.call(cbind, list(x * !system, x * system, -d * !alone, -d * alone)[kept]),
        group = if (by_rater) match(judged$rater, raters) else 1L + system, errors_of = 1L + alone
      )
    },
    law = function(parameters, judged, categories) formula_law(parameters, judged, layout),
    gradient = function(parameters, judged, categories, counts) {
      formula_gradient(parameters, judged, counts, layout)
    },
    report = function(parameters) {
      dispersion <- exp(parameters[layout$at$dispersion])
      c(
        stats::setNames(dispersion, c("dispersion", "dispersion[system]")[seq_along(dispersion)]),
        stats::setNames(parameters[layout$at$slope] / scale, slopes)
      )
    }
  )
}

# Probabilities of the right answer: rows x true categories.
formula_right <- function(parameters, judged, layout) {
  levels <- matrix(parameters[layout$at$level], layout$groups)
  if (!layout$free) levels <- levels[, rep(1L, layout$n), drop = FALSE]
  effects <- drop(judged$columns %*% parameters[layout$at$slope])
  stats::plogis(levels[judged$group, , drop = FALSE] + effects)
}

# How wrong answers share their probability: sets x true categories x ratings, and the set of each
# row.
wrong_shares <- function(parameters, judged, layout) {
  n <- layout$n
  set <- judged$errors_of
  if (layout$free) {
    set <- judged$group
    logits <- array(0, c(layout$groups, n, n))
    logits[free_cells(layout)] <- parameters[layout$at$shape]
  } else if (length(layout$at$dispersion) > 0L) {
    logits <- outer(-parameters[layout$at$dispersion], category_distances(n))
  } else {
    logits <- array(0, c(max(set, 1L), n, n))
  }
  shares <- exp(logits) * rep(1 - diag(n), each = dim(logits)[[1L]])
  list(shares = shares / as.vector(rowSums(shares, dims = 2L)), set = set)
}

category_distances <- function(n) abs(outer(seq_len(n), seq_len(n), `-`))

# Cells of groups x true categories x ratings with a logit of their own: all wrong answers but the
# first of each true category.
free_cells <- function(layout) {
  n <- layout$n
  cells <- expand.grid(group = seq_len(layout$groups), truth = seq_len(n), rating = seq_len(n))
  first <- ifelse(cells$truth == 1L, 2L, 1L)
  as.matrix(cells[cells$rating != cells$truth & cells$rating != first, ])
}

formula_law <- function(parameters, judged, layout) {
  right <- formula_right(parameters, judged, layout)
  wrong <- wrong_shares(parameters, judged, layout)
  out <- wrong$shares[wrong$set, , , drop = FALSE] * as.vector(1 - right)
  for (k in seq_len(layout$n)) out[, k, k] <- right[, k]
  out
}

formula_gradient <- function(parameters, judged, counts, layout) {
  n <- layout$n
  at <- layout$at
  counts <- array(counts, dim(counts)[1:3])
  flat <- matrix(counts, ncol = n^2) # rows x (true categories within ratings)
  right <- formula_right(parameters, judged, layout)
  of_logit <- flat[, seq.int(1L, n^2, n + 1L), drop = FALSE] - rowSums(counts, dims = 2L) * right
  levels <- rowsum_rows(judged$group, of_logit, layout$groups)
  out <- numeric(length(parameters))
  out[at$level] <- if (layout$free) levels else rowSums(levels)
  out[at$slope] <- crossprod(judged$columns, rowSums(of_logit))
  if (length(at$shape) + length(at$dispersion) == 0L) return(out)
  wrong <- wrong_shares(parameters, judged, layout)
  sets <- dim(wrong$shares)[[1L]]
  seen <- array(rowsum_rows(wrong$set, flat, sets), dim(wrong$shares)) *
    rep(1 - diag(n), each = sets)
  excess <- seen - wrong$shares * as.vector(rowSums(seen, dims = 2L))
  if (layout$free) {
    out[at$shape] <- excess[free_cells(layout)]
  } else {
    out[at$dispersion] <- -matrix(excess, sets) %*% as.vector(category_distances(n))
  }
  out
}

# Of the columns of a formula, as they were before they were standardised.
base_coefficients <- function(fit, coefficients) {
  if (nrow(coefficients) == 1L) return(NULL)
  raw <- coefficients / fit$base$scale
  raw[1L, ] <- raw[1L, ] - colSums(raw * fit$base$centre)
  names <- outer(fit$base$names, fit$x$categories[-1L], function(column, category) {
    paste0("base_rate[", category, "]:", column)
  })
  stats::setNames(as.vector(raw), names)
}

rates_by_covariates <- function(fit, newdata) {
  formula <- fit$model$formulas$base_rates
  abort_argument_if(is_empty_formula(formula), "newdata",
    "{.arg newdata} needs a fit whose base rates are by formula.",
    x = "{.arg fit} is one of the {format(fit$model)}.")
  abort_argument_if(!is.data.frame(newdata), "newdata",
    "must be a data frame with the covariates of the formula.", not = newdata)
  design <- formula_design(formula, newdata, fit$base)$matrix
  coefficients <- utils::tail(fit$theta, ncol(design) * (length(fit$x$categories) - 1L))
  rates <- exp(log_base_rates(design, matrix(coefficients, ncol(design))))
  if (fit$identified != "yes") rates[] <- NA_real_
  tibble::as_tibble(c(as.list(newdata), split_columns(rates, fit$x$categories)))
}

# ---- Designs by formula -------------------------------------------------------------------------

# A list: matrix (rows of `data` x columns, standardised, the intercept first), and what makes the
# same of other data: terms, xlev, centre and scale. `like` is such a list.
formula_design <- function(formula, data, like = NULL, arg = "base_rates") {
  terms <- like$terms %||% stats::terms(formula)
  attr(terms, "intercept") <- 1L
  lacking <- setdiff(all.vars(terms), names(data))
  abort_if(length(lacking) > 0L, "columns",
    "The formula for {.arg {arg}} must be of {.arg covariates} of the ratings.",
    x = "{.val {lacking}} {?is/are} not among them.",
    i = if (length(names(data)) > 0L) "There are {.val {names(data)}}." else "Give {.arg covariates}
        to {.fun ratings}.", arg = arg)
  tryCatch(
    {
      frame <- stats::model.frame(terms, data, xlev = like$xlev, na.action = stats::na.pass)
      m <- stats::model.matrix(terms, frame)
    },
    error = function(cnd) {
      abort_argument(arg, "The formula for {.arg {arg}} cannot be used with these covariates.",
        parent = cnd)
    }
  )
  centre <- like$centre %||% c(0, unname(colMeans(m[, -1L, drop = FALSE])))
  spread <- unname(sqrt(colMeans(sweep(m, 2L, centre)^2)))
  scale <- like$scale %||% replace(spread, spread == 0, 1)
  list(
    matrix = unname(sweep(sweep(m, 2L, centre), 2L, scale, `/`)), names = colnames(m),
    terms = terms, xlev = like$xlev %||% stats::.getXlevels(terms, frame), centre = centre,
    scale = scale
  )
}
