# Base rates by formula: a multinomial logit on covariates of cases. Cases with the same covariates
# are a population. The core fits the logits (see Populations in src/core/model/latent_rows.hpp).

check_formula <- function(formula) {
  abort_argument_if(!rlang::is_formula(formula) || length(formula) != 2L, "base_rates",
    "must be a formula without a left side, such as {.code ~ site}.", not = formula)
  formula
}

has_formula <- function(model) length(all.vars(model$base_rates)) > 0L

formula_text <- function(model) {
  paste(deparse(model$base_rates, width.cutoff = 500L), collapse = " ")
}

formula_words <- function(model) {
  if (has_formula(model)) paste(" with base rates", formula_text(model))
}

# Patterns of cases that are equal for a model: the same ratings and, if the model uses covariates
# or confidence, the same values of these.
patterns_for <- function(model, x) {
  silent <- uses_abstentions(model) && has_abstentions(x)
  plain <- is.null(x$covariates) && is.null(x$confidence) && length(x$patterns$values) == 0L
  if (plain && !silent) return(x)
  x <- join_patterns(x, character())
  x <- split_patterns(x, x$covariates[covariates_used(model, x)])
  if (silent) x <- split_by_abstention(x)
  if (uses_confidence(model)) split_by_confidence(x) else x
}

# Names of covariates. A user-defined model may use all of them.
covariates_used <- function(model, x) {
  names <- names(x$covariates)
  if (is.null(model$family)) intersect(all.vars(model$base_rates), names) else names
}

# Arguments of the core about covariates of patterns. `population`: a number per pattern. `design`:
# populations x columns, standardised, without the intercept. `report`: a matrix that converts
# coefficients of the design to those of unscaled covariates. `base`: makes the same design for
# other data; `like` is the `base` of a fit. NULL if base rates do not depend on covariates.
populations_of <- function(model, x, like = NULL) {
  if (!has_formula(model)) return(NULL)
  values <- pattern_covariates(x)
  group <- split_by(rep(1, n_patterns(x)), values)
  base <- formula_design(model$base_rates, values[!duplicated(group), ], like)
  # Distinct rows, in an order that does not depend on the order of the cases.
  columns <- unname(split_columns(base$matrix, base$names)[-1L])
  row <- split_by(rep(1, nrow(base$matrix)), columns)
  first <- which(!duplicated(row))
  sorted <- do.call(order, c(lapply(columns, `[`, first), method = "radix"))
  list(
    population = match(row, sorted)[group], design = base$matrix[first[sorted], -1L, drop = FALSE],
    report = unscaled(base), base = base[names(base) != "matrix"]
  )
}

# Matrix that converts coefficients of the design to those of unscaled covariates.
unscaled <- function(base) {
  out <- diag(1 / base$scale, length(base$scale))
  out[1L, ] <- out[1L, ] - base$centre / base$scale
  out
}

# Distinct values of the factors of a formula, in an order that does not depend on that of the
# cases. NULL without a formula, or if a covariate is a number.
population_table <- function(model, x) {
  if (!has_formula(model)) return(NULL)
  values <- x$covariates[intersect(all.vars(model$base_rates), names(x$covariates))]
  if (length(values) == 0L || any(vapply(values, is.numeric, NA))) return(NULL)
  values <- unique(values)
  values[do.call(order, c(unname(as.list(values)), method = "radix")), ]
}

# The row of `table` for each row of `values`, NA if there is none.
population_of <- function(values, table) {
  values <- values[names(table)]
  both <- split_by(
    rep(1, nrow(table) + nrow(values)),
    Map(function(a, b) c(as_label(a), as_label(b)), table, values)
  )
  match(both[-seq_len(nrow(table))], both[seq_len(nrow(table))])
}

# Do different coefficients give all cases the same base rates?
is_collinear <- function(known) {
  !is.null(known$design) && qr(cbind(1, known$design))$rank <= ncol(known$design)
}

# A list: matrix (rows of `data` x columns, standardised, intercept first); and terms, xlev, centre
# and scale, which make the same design for other data. `like` is such a list.
formula_design <- function(formula, data, like = NULL) {
  terms <- like$terms %||% stats::terms(formula)
  attr(terms, "intercept") <- 1L
  lacking <- setdiff(all.vars(terms), names(data))
  abort_if(lacking, "columns",
    "The formula for {.arg base_rates} must be of {.arg covariates} of the ratings.",
    x = "{.val {lacking}} {?is/are} not among them.",
    i = if (length(names(data)) > 0L) "There are {.val {names(data)}}." else "Give {.arg covariates}
        to {.fun ratings}.", arg = "base_rates")
  tryCatch(
    {
      # model.matrix() would sort levels by the locale.
      text <- vapply(data, is.character, NA)
      data[text] <- lapply(data[text], function(v) factor(v, sort_strings(unique(v))))
      frame <- stats::model.frame(terms, data, xlev = like$xlev, na.action = stats::na.pass)
      m <- stats::model.matrix(terms, frame)
    },
    error = function(cnd) {
      abort_argument("base_rates",
        "The formula for {.arg base_rates} cannot be used with these covariates.", parent = cnd)
    }
  )
  distinct <- if (is.null(like)) unique(m) else m
  centre <- like$centre %||% c(0, unname(colMeans(distinct[, -1L, drop = FALSE])))
  spread <- unname(sqrt(colMeans(sweep(distinct, 2L, centre)^2)))
  scale <- like$scale %||% c(1, replace(spread, spread == 0, 1)[-1L])
  list(
    matrix = unname(sweep(sweep(m, 2L, centre), 2L, scale, `/`)), names = colnames(m),
    terms = terms, xlev = like$xlev %||% stats::.getXlevels(terms, frame), centre = centre,
    scale = scale
  )
}

# ---- Base rates of populations ------------------------------------------------------------------

# Base rates of each pattern of `x`: patterns x categories.
pattern_rates <- function(fit, x = fit$x) rates_of_cases(fit, pattern_covariates(x))

# Rows of `data` (a data frame of covariates) x categories.
rates_of_cases <- function(fit, data) UseMethod("rates_of_cases")

# Uses coefficients of unscaled covariates.
rates_of_cases.rater_fit <- function(fit, data) {
  if (!has_formula(fit$model)) return(t(matrix(fit$base_rates, length(fit$base_rates), nrow(data))))
  design <- unscaled_design(fit, data)
  exp(log_base_rates(design, matrix(fit$coefficients[terms_of_rates(fit)], ncol(design))))
}

terms_of_rates <- function(fit) coefficient_terms(fit$known$base$names, fit$x$categories)

unscaled_design <- function(fit, data) {
  base <- replace(fit$known$base, c("centre", "scale"), list(0, 1))
  formula_design(fit$model$base_rates, data, base)$matrix
}

# Rows of a design x categories.
log_base_rates <- function(design, coefficients) {
  logits <- cbind(0, design %*% coefficients)
  logits - log_sum_exp(logits)
}

# Names of coefficients of the logits against the first category.
coefficient_terms <- function(columns, categories) {
  sprintf("base_rate[%s]:%s", rep(categories[-1L], each = length(columns)), columns)
}

rates_by_covariates <- function(fit, newdata) {
  abort_argument_if(!has_formula(fit$model), "newdata",
    "{.arg newdata} needs a fit whose model has a formula for the base rates.",
    x = "The model of {.arg fit} is: {format(fit$model)}.")
  abort_argument_if(!is.data.frame(newdata), "newdata",
    "must be a data frame with the covariates of the formula.", not = newdata)
  rates <- rates_of_cases(fit, newdata)
  if (fit$identified != "yes") rates[] <- NA_real_
  tibble::as_tibble(c(as.list(newdata), split_columns(rates, fit$x$categories)))
}

# Probabilities in rows that are proportional to exponentials.
softmax <- function(logs) exp(logs - log_sum_exp(logs))

# Logarithm of the sum of the exponentials of each row.
log_sum_exp <- function(m) {
  top <- row_top(m)
  top + log(rowSums(exp(m - top)))
}
