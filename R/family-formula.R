# Models of rater_model() in which base rates, accuracy or difficulty depend on covariates of cases.
# The right answer wins against the wrong ones by a logit: the level of the rater (of each true
# category, where errors are free), plus the slopes of the formulas times covariates. How wrong
# answers share the rest is `errors`.

# `formulas`: accuracy, difficulty and base_rates, ~ 1 where nobody gave one.
formula_model <- function(accuracy, errors, difficulty, system, formulas) {
  family <- list(bind = function(judged, categories) {
    bind_formulas(judged, categories, accuracy, errors, system, formulas)
  })
  given <- !vapply(formulas, is_empty_formula, NA)
  new_family_model(
    list(
      accuracy = accuracy, errors = errors, difficulty = "none", system = system,
      words = paste0("rater model (", axes_in_words(accuracy, errors), ")")
    ),
    family, formulas[given | names(formulas) == "base_rates"]
  )
}

# A family for these data: designs are standardised by them.
bind_formulas <- function(judged, categories, accuracy, errors, system, formulas) {
  effects <- formula_design(formulas$accuracy %||% ~1, judged, NULL, "accuracy")
  hardness <- formula_design(formulas$difficulty %||% ~1, judged, NULL, "difficulty")
  layout <- formula_layout(judged, length(categories), accuracy, errors, system, effects, hardness)
  prepare <- function(judged) {
    of <- function(formula, design, arg) {
      formula_design(formula %||% ~1, judged, design, arg)$matrix[, -1L, drop = FALSE]
    }
    x <- of(formulas$accuracy, effects, "accuracy")
    d <- of(formulas$difficulty, hardness, "difficulty")
    system <- judged$system
    list(
      columns = cbind(x * !system, x * system, -d * !(system & layout$own_hardness),
        -d * (system & layout$own_hardness))[, layout$kept, drop = FALSE],
      group = layout$group_of(judged), errors_of = layout$errors_of(judged)
    )
  }
  list(
    start = function(judged, categories) layout$start, strata = 1, prepare = prepare,
    law = function(parameters, judged, categories) formula_law(parameters, judged, layout),
    gradient = function(parameters, judged, categories, counts) {
      formula_gradient(parameters, judged, counts, layout)
    },
    report = function(parameters) formula_report(parameters, layout)
  )
}

# Where parameters stand: levels (groups x true categories, or one for all of these), shape (logits
# of wrong answers against the first, for free errors), dispersion (its logarithm) and slopes.
formula_layout <- function(judged, n, accuracy, errors, system, effects, hardness) {
  joined <- any(judged$system)
  raters <- levels(judged$rater)
  by_rater <- accuracy == "rater"
  groups <- if (by_rater) length(raters) else 1L + joined
  q <- length(effects$names) - 1L
  d <- length(hardness$names) - 1L
  free <- errors == "free"
  own_errors <- joined && system == "own"
  levels <- if (free) groups * n else groups
  shape <- if (free) groups * n * (n - 2L) else 0L
  dispersion <- if (errors == "distance" && n > 2L) 1L + own_errors else 0L
  kept <- rep(c(TRUE, joined, TRUE, own_errors), c(q, q, d, d))
  sizes <- c(level = levels, shape = shape, dispersion = dispersion, slope = sum(kept))
  ends <- cumsum(sizes)
  at <- Map(function(end, size) end - size + seq_len(size), ends, sizes)
  names <- c(
    paste0("accuracy:", effects$names[-1L]), paste0("accuracy:", effects$names[-1L], "[system]"),
    paste0("difficulty:", hardness$names[-1L]),
    paste0("difficulty:", hardness$names[-1L], "[system]")
  )[rep(c(q > 0L, q > 0L, d > 0L, d > 0L), c(max(q, 1L), max(q, 1L), max(d, 1L), max(d, 1L)))]
  start <- numeric(sum(sizes))
  start[at$level] <- stats::qlogis(0.75)
  list(
    at = at, n = n, groups = groups, free = free, errors = errors, kept = kept, start = start,
    own_hardness = own_errors, names = names[kept],
    scale = c(effects$scale[-1L], effects$scale[-1L], hardness$scale[-1L], hardness$scale[-1L])[
      kept
    ],
    group_of = function(judged) {
      if (by_rater) match(judged$rater, raters) else 1L + judged$system
    },
    errors_of = function(judged) if (own_errors) 1L + judged$system else rep(1L, nrow(judged))
  )
}

# Rows x true categories.
formula_logits <- function(parameters, judged, layout) {
  levels <- matrix(parameters[layout$at$level], layout$groups)
  if (!layout$free) levels <- levels[, rep(1L, layout$n), drop = FALSE]
  levels[judged$group, , drop = FALSE] + drop(judged$columns %*% parameters[layout$at$slope])
}

# How wrong answers share their probability: sets x true categories x ratings, and the set of each
# row.
wrong_shares <- function(parameters, judged, layout) {
  n <- layout$n
  if (layout$free) {
    logits <- array(0, c(layout$groups, n, n))
    logits[free_cells(layout)] <- parameters[layout$at$shape]
    set <- judged$group
  } else if (length(layout$at$dispersion) > 0L) {
    distance <- abs(outer(seq_len(n), seq_len(n), `-`))
    logits <- outer(-parameters[layout$at$dispersion], distance)
    set <- judged$errors_of
  } else {
    logits <- array(0, c(1L, n, n))
    set <- rep(1L, length(judged$group))
  }
  shares <- exp(logits) * rep(1 - diag(n), each = dim(logits)[[1L]])
  sums <- apply(shares, c(1L, 2L), sum)
  list(shares = shares / as.vector(sums), set = set)
}

# Cells of groups x true categories x ratings with a logit of their own: all wrong answers but the
# first of each true category.
free_cells <- function(layout) {
  n <- layout$n
  cells <- expand.grid(group = seq_len(layout$groups), truth = seq_len(n), rating = seq_len(n))
  first <- ifelse(cells$truth == 1L, 2L, 1L)
  as.matrix(cells[cells$rating != cells$truth & cells$rating != first, ])
}

formula_law <- function(parameters, judged, layout) {
  right <- stats::plogis(formula_logits(parameters, judged, layout))
  wrong <- wrong_shares(parameters, judged, layout)
  out <- wrong$shares[wrong$set, , , drop = FALSE] * as.vector(1 - right)
  for (k in seq_len(layout$n)) out[, k, k] <- right[, k]
  out
}

formula_gradient <- function(parameters, judged, counts, layout) {
  n <- layout$n
  counts <- array(counts, dim(counts)[1:3])
  right <- stats::plogis(formula_logits(parameters, judged, layout))
  hits <- vapply(seq_len(n), function(k) counts[, k, k], numeric(nrow(right)))
  hits <- matrix(hits, ncol = n)
  of_logit <- hits - rowSums(counts, dims = 2L) * right
  out <- numeric(length(parameters))
  levels <- matrix(0, layout$groups, n)
  sums <- rowsum(of_logit, judged$group)
  levels[as.integer(rownames(sums)), ] <- sums
  out[layout$at$level] <- if (layout$free) levels else rowSums(levels)
  out[layout$at$slope] <- crossprod(judged$columns, rowSums(of_logit))
  with_error_slopes(out, parameters, judged, counts, layout)
}

with_error_slopes <- function(out, parameters, judged, counts, layout) {
  if (length(layout$at$shape) + length(layout$at$dispersion) == 0L) return(out)
  n <- layout$n
  wrong <- wrong_shares(parameters, judged, layout)
  seen <- array(0, dim(wrong$shares))
  sums <- rowsum(matrix(counts, nrow(judged$columns)), wrong$set)
  seen[as.integer(rownames(sums)), , ] <- sums
  seen <- seen * rep(1 - diag(n), each = dim(seen)[[1L]])
  excess <- seen - wrong$shares * as.vector(rowSums(seen, dims = 2L))
  if (layout$free) {
    out[layout$at$shape] <- excess[free_cells(layout)]
  } else {
    distance <- abs(outer(seq_len(n), seq_len(n), `-`))
    out[layout$at$dispersion] <- -matrix(excess, dim(excess)[[1L]]) %*% as.vector(distance)
  }
  out
}

# What a fit tells beside accuracies.
formula_report <- function(parameters, layout) {
  dispersion <- exp(parameters[layout$at$dispersion])
  c(
    stats::setNames(dispersion, c("dispersion", "dispersion[system]")[seq_along(dispersion)]),
    stats::setNames(parameters[layout$at$slope] / layout$scale, layout$names)
  )
}

# Of the columns of a formula, as they were before they were standardised.
base_coefficients <- function(fit, coefficients) {
  if (nrow(coefficients) == 1L) return(NULL)
  raw <- unstandardise(fit$base) %*% coefficients
  names <- outer(fit$base$names, fit$x$categories[-1L], function(column, category) {
    paste0("base_rate[", category, "]:", column)
  })
  stats::setNames(as.vector(raw), names)
}

rates_by_covariates <- function(fit, newdata) {
  abort_argument_if(is_empty_formula(fit$model$formulas$base_rates), "newdata",
    "{.arg newdata} needs a fit whose base rates are by formula.",
    x = "{.arg fit} is one of the {format(fit$model)}.")
  abort_argument_if(!is.data.frame(newdata), "newdata",
    "must be a data frame with the covariates of the formula.", not = newdata)
  design <- formula_design(fit$model$formulas$base_rates, newdata, fit$base, "base_rates")
  n <- length(fit$x$categories)
  coefficients <- utils::tail(fit$theta, ncol(design$matrix) * (n - 1L))
  logits <- cbind(0, design$matrix %*% matrix(coefficients, ncol(design$matrix)))
  rates <- exp(logits - log_sum_exp(logits))
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
  made <- tryCatch(
    {
      frame <- stats::model.frame(terms, data, xlev = like$xlev, na.action = stats::na.pass)
      list(frame = frame, matrix = stats::model.matrix(terms, frame))
    },
    error = function(cnd) {
      abort_argument(arg, "The formula for {.arg {arg}} cannot be used with these covariates.",
        parent = cnd)
    }
  )
  m <- made$matrix
  centre <- like$centre %||% c(0, colMeans(m[, -1L, drop = FALSE]))
  scale <- like$scale %||% c(1, vapply(seq_len(ncol(m))[-1L], function(j) column_spread(m[, j]), 0))
  list(
    matrix = unname(sweep(sweep(m, 2L, centre), 2L, scale, `/`)), names = colnames(m),
    terms = terms, xlev = like$xlev %||% stats::.getXlevels(terms, made$frame),
    centre = unname(centre), scale = unname(scale)
  )
}

column_spread <- function(x) {
  s <- sqrt(mean((x - mean(x))^2))
  if (s > 0) s else 1
}

# Coefficients of the columns as they were before they were standardised: a matrix that makes them
# of those of standardised ones.
unstandardise <- function(design) {
  out <- diag(1 / design$scale, length(design$scale))
  out[1L, ] <- out[1L, ] - design$centre / design$scale
  out[1L, 1L] <- 1
  out
}
