# Base rates that depend on covariates of cases by a formula (a multinomial logit model). Cases with
# the same covariates form a population. The core fits the coefficients; "Populations" in
# src/core/model/latent_rows.hpp explains how.

check_formula <- function(formula) {
  abort_argument_if(!is_formula(formula) || length(formula) != 2L, "base_rates",
    "must be a formula without a left side, such as {.code ~ site}.", not = formula)
  abort_argument_if(!attr(terms(formula, allowDotAsName = TRUE), "intercept"), "base_rates",
    "The formula for {.arg base_rates} must have an intercept.",
    i = "Leave {.code 0} or {.code - 1} out of the formula. To compute the base rates of groups of
      cases, use {.code base_rates(fit, newdata)}.")
  formula
}

has_formula <- function(model) !is_empty(all.vars(model$base_rates))

formula_text <- function(model) {
  paste(deparse(model$base_rates, width.cutoff = 500L), collapse = " ")
}

# Groups the cases of the ratings `x` into patterns for the model, and returns the ratings. All
# cases of a pattern have the same ratings. They also have the same covariates, confidence and
# abstentions, if the model uses them.
patterns_for <- function(model, x) {
  splits_by_abstention <- uses_abstentions(model) && has_abstentions(x)
  has_plain_patterns <- is.null(x$covariates) && is.null(x$confidence) &&
    is_empty(x$patterns$values)
  if (has_plain_patterns && !splits_by_abstention) return(x)
  x <- join_patterns(x, character())
  x <- split_patterns(x, x$covariates[covariates_used(model, x)])
  if (splits_by_abstention) x <- split_by_abstention(x)
  if (!uses_confidence(model) || is.null(x$confidence)) return(x)
  unfolded_ratings <- unfold_ratings(x)
  # Adds 1, because codes must be positive, and a missing level of confidence has the code 0.
  level_code <- confidence_of_ratings(x, unfolded_ratings$row, unfolded_ratings$rater) + 1L
  level_patterns <- core_patterns_long(
    unfolded_ratings$row, unfolded_ratings$rater, level_code, list(), length(x$index)
  )
  split_patterns(x, list(.confidence = level_patterns$index))
}

# Returns the names of the covariates that a model uses. User-defined families are assumed to use
# all covariates. If the formula contains an unknown variable, the names of all covariates are
# returned, because the error message of formula_design() lists them.
covariates_used <- function(model, x) {
  covariate_names <- names(x$covariates)
  used_names <- all.vars(model$base_rates)
  if (is.null(model$family) && all(used_names %in% covariate_names)) used_names else covariate_names
}

# Returns a list of arguments of the core for base rates that depend on covariates. Returns NULL if
# the model has no formula. The list contains:
# * population: index of the population of each pattern of ratings
# * design: standardised covariates without the intercept (populations x columns)
# * report: a matrix that converts coefficients of standardised covariates to coefficients of the
#   original covariates
# * base: terms, centres and scales, from which formula_design() computes the same columns for other
#   data
#
# `design_template`: element `base` of an earlier fit, or NULL.
population_arguments <- function(model, x, design_template = NULL) {
  if (!has_formula(model)) return(NULL)
  covariates <- pattern_covariates(x)
  covariate_group <- number_combinations(covariates, rep(1, n_patterns(x)))
  design <- formula_design(
    model$base_rates, covariates[!duplicated(covariate_group), ], design_template
  )
  # Populations are the distinct rows of the design matrix. They are sorted, so that the order of
  # cases has no effect.
  columns <- split_columns(design$matrix, design$names)[-1L]
  distinct_row_index <- number_combinations(columns, rep(1, nrow(design$matrix)))
  first_rows <- which(!duplicated(distinct_row_index))
  row_order <- order_rows(lapply(columns, `[`, first_rows))
  list(
    population = match(distinct_row_index, row_order)[covariate_group],
    design = design$matrix[first_rows[row_order], -1L, drop = FALSE],
    report = unscaling_matrix(design), base = design[names(design) != "matrix"]
  )
}

# Returns a matrix that converts coefficients of standardised covariates to coefficients of the
# original covariates. `base`: a result of formula_design().
unscaling_matrix <- function(base) {
  unscaling <- diag(1 / base$scale, length(base$scale))
  unscaling[1L, ] <- unscaling[1L, ] - base$centre / base$scale
  unscaling
}

# Returns a data frame with a row per population: the distinct combinations of the covariates in the
# formula of the model. Rows are sorted, so that the order of cases has no effect. Returns NULL if
# there is no formula, or if a covariate is used as a number.
population_table <- function(model, x) {
  if (!has_formula(model)) return(NULL)
  covariates <- x$covariates[intersect(all.vars(model$base_rates), names(x$covariates))]
  if (is_empty(covariates) || !is_empty(numeric_covariates(model, x))) return(NULL)
  covariates <- unique(covariates)
  covariates[order_rows(covariates), ]
}

# Returns the names of the covariates that the formula of a model uses as numbers, and not only as
# `factor(name)`.
numeric_covariates <- function(model, x) {
  names_outside_factor <- function(code) {
    if (!is.call(code)) return(all.vars(code))
    is_factor <- is_call(code, c("factor", "as.factor"), 1L, c("", "base")) && is.symbol(code[[2L]])
    if (!is_factor) unlist(lapply(as.list(code)[-1L], names_outside_factor))
  }
  used_names <- intersect(names(x$covariates), names_outside_factor(model$base_rates))
  names(Filter(is.numeric, x$covariates[used_names]))
}

# Returns, for each row of the data frame `covariates`, the index of its population. This is the row
# of `table` (a result of population_table()) with the same values; NA if there is no such row. If
# `table` is NULL, all rows are in population 1.
population_of <- function(covariates, table) {
  if (is.null(table)) return(rep(1L, nrow(covariates)))
  covariates <- covariates[names(table)]
  combination <- number_combinations(
    Map(function(a, b) c(as_label(a), as_label(b)), table, covariates)
  )
  match(combination[-row_numbers(table)], combination[row_numbers(table)])
}

# Returns the design matrix of a formula, a list:
# * matrix: design matrix with a row per row of `data`; columns are standardised, and the first
#   column is the intercept
# * names: names of the columns of the design matrix
# * terms, xlev (levels of factors), contrasts: as in model.frame() and model.matrix()
# * centre, scale: means and standard deviations by which the columns were standardised
#
# `design_template`: a result of formula_design() for other data, or NULL. If it is given, its
# terms, levels, contrasts, centres and scales are used for `data`.
formula_design <- function(formula, data, design_template = NULL) {
  terms <- design_template$terms %||% terms(formula)
  abort_argument_if(!is.null(attr(terms, "offset")), "base_rates",
    "The formula for {.arg base_rates} cannot have an {.fun offset}.")
  unknown_names <- setdiff(all.vars(terms), names(data))
  abort_if(unknown_names, "columns",
    "The formula for {.arg base_rates} must use {.arg covariates} of the ratings.",
    x = "{.val {unknown_names}} {?is/are} not among the covariates.",
    i = c(similar_values_hint(unknown_names, names(data)), if (!is_empty(names(data)))
      "Covariates of the ratings are {.val {names(data)}}." else
      "Give {.arg covariates} to {.fun ratings}."),
    arg = "base_rates")
  tryCatch(
    {
      # Strings become factors here, because model.matrix() would sort levels by the locale.
      is_text <- map_lgl(data, is.character)
      data <- modify_fields(data, is_text,
        function(column) factor(column, sort_strings(unique(column))))
      # Levels without cases are dropped, because their columns would contain only zeros. If all
      # cases have the same level of a factor, no levels are dropped, because model.matrix() needs
      # two levels.
      has_one_level <- map_lgl(data[all.vars(terms)],
        function(column) is.factor(column) && n_distinct(column) < 2L)
      # Suppresses the warning of model.frame() that the contrasts of new data are not used.
      model_frame <- suppressWarnings(model.frame(terms, data, xlev = design_template$xlev,
        na.action = na.pass, drop.unused.levels = is.null(design_template) && !any(has_one_level)))
      if (!is.null(design_template)) stats::.checkMFClasses(attr(terms, "dataClasses"), model_frame)
      terms <- attr(model_frame, "terms")
      model_matrix <- model.matrix(terms, model_frame, contrasts.arg = design_template$contrasts)
    },
    error = function(cnd) {
      abort_argument("base_rates",
        "The formula for {.arg base_rates} cannot be used with these covariates.", parent = cnd)
    }
  )
  if (is.null(design_template)) {
    # The intercept is not standardised: its centre is set to 0, so its scale is 1.
    distinct_rows <- unique(model_matrix)
    centre <- replace(unname(colMeans(distinct_rows)), 1L, 0)
    scale <- unname(sqrt(colMeans(sweep(distinct_rows, 2L, centre)^2)))
    design_template <- list(terms = terms, xlev = .getXlevels(terms, model_frame),
      contrasts = attr(model_matrix, "contrasts"), centre = centre,
      scale = replace(scale, scale == 0, 1))
  }
  standardised_matrix <- sweep(model_matrix, 2L, design_template$centre)
  standardised_matrix <- sweep(standardised_matrix, 2L, design_template$scale, `/`)
  c(list(matrix = unname(standardised_matrix), names = colnames(model_matrix)),
    design_template[c("terms", "xlev", "contrasts", "centre", "scale")])
}

# ---- Base rates of populations ------------------------------------------------------------------

# Returns the base rates of cases, a matrix (rows of `data` x categories). `data`: a data frame of
# the covariates of the cases.
rates_of_cases <- function(fit, data) UseMethod("rates_of_cases")

# Coefficients of the fit belong to the original covariates, so the design matrix is not
# standardised.
rates_of_cases.rater_fit <- function(fit, data) {
  if (!has_formula(fit$model)) return(t(matrix(fit$base_rates, length(fit$base_rates), nrow(data))))
  design <- unscaled_design(fit, data)
  exp(log_base_rates(design, matrix(fit$coefficients[rate_coefficient_names(fit)], ncol(design))))
}

# Returns the names of the coefficients of the formula in `fit$coefficients`.
rate_coefficient_names <- function(fit) coefficient_terms(fit$known$base$names, fit$x$categories)

unscaled_design <- function(fit, data) {
  formula_design(fit$model$base_rates, data,
    replace(fit$known$base, c("centre", "scale"), list(0, 1)))$matrix
}

# Returns logarithms of base rates, a matrix (rows of `design` x categories). `coefficients`: a
# matrix (columns of `design` x categories except the first, whose logit is 0).
log_base_rates <- function(design, coefficients) {
  logits <- cbind(0, design %*% coefficients)
  logits - log_sum_exp(logits)
}

# Returns the names of the coefficients of base rates, such as "base_rate[yes]:age". This is the
# coefficient of age in the logit of category "yes" against the first category. `columns`: names of
# the columns of the design matrix.
coefficient_terms <- function(columns, categories) {
  sprintf("base_rate[%s]:%s", rep(categories[-1L], each = length(columns)), columns)
}

# Returns a matrix of probabilities: the exponentials of `logs`, divided by the sum of each row.
softmax <- function(logs) exp(logs - log_sum_exp(logs))

# Returns, for each row of the matrix `logs`, the logarithm of the sum of the exponentials of its
# entries. The computation avoids overflow.
log_sum_exp <- function(logs) {
  row_maxima <- row_maximum(logs)
  row_maxima + log(rowSums(exp(logs - row_maxima)))
}
