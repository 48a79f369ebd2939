# Checks of the arguments of rater_design().

check_probabilities <- function(x, arg, min_length) {
  is_probability <- if (is.numeric(x)) is.finite(x) & x >= 0 & x <= 1 else rep(FALSE, length(x))
  is_long_enough <- length(x) >= min_length
  abort_argument_if(!is_long_enough || !all(is_probability), arg,
    "{.arg {arg}} must be {if (min_length > 1L) paste('at least', min_length)} probabilities in
        [0, 1].",
    x = if (is.numeric(x) && is_long_enough) "It contains {.val {x[!is_probability][[1L]]}}." else
      "It is {describe(x)}.")
  x
}

check_judge_names <- function(names) {
  repeated_names <- repeated_values(names)
  abort_argument_if(repeated_names, "systems", "Raters and systems must have different names.",
    x = "{.val {repeated_names}} {?is/are} used for a rater and for a system.")
}

name_judges <- function(x, prefix) {
  names <- names2(x)
  is_unnamed <- names == ""
  names[is_unnamed] <- if (prefix == "system" && length(x) == 1L) prefix else
    paste0(prefix, seq_along(x))[is_unnamed]
  setNames(as.double(x), make.unique(names))
}

# Checks argument `difficulty` and returns the strata of cases: a data frame with columns `shift`
# (number added to accuracies) and `weight` (probability of the stratum). Raises an error if the
# shifts move every accuracy out of (0, 1).
check_strata <- function(difficulty, accuracies) {
  if (is.numeric(difficulty) && is.null(dim(difficulty))) {
    shift <- unique(check_number(difficulty, "difficulty", 0, 1) * -1:1)
    difficulty <- data.frame(shift = shift, weight = 1 / length(shift))
  }
  strata <- if (is.data.frame(difficulty)) difficulty
  shifts <- strata[["shift"]]
  weight <- strata[["weight"]]
  is_valid <- is.numeric(shifts) && !is_empty(shifts) && all(abs(shifts) <= 1) &&
    is_distribution(weight, slack = 1e-8)
  abort_argument_if(!isTRUE(is_valid), "difficulty",
    "must be a number in [0, 1], or a data frame with columns {.val shift} (in [-1, 1]) and
        {.val weight} (probabilities that sum to one).",
    x = if (!is.numeric(shifts) || !is.numeric(weight)) "It is {describe(difficulty)}." else
      "Shifts are {.val {shifts}}. Weights are {.val {weight}}, with sum
        {format(sum(weight), digits = 6)}.")
  shifts <- shifts[weight > 0]
  shifted_accuracies <- outer(accuracies, shifts, `+`)
  is_inside_range <- shifted_accuracies > 0 & shifted_accuracies < 1
  abort_argument_if(any(shifts != 0) && !any(is_inside_range), "difficulty",
    "{.arg difficulty} changes all accuracies to 0 or 1.",
    x = "Each accuracy plus each shift ({.val {shifts}}) is outside (0, 1).",
    i = "Choose a smaller {.arg difficulty}.")
  difficulty[c("shift", "weight")]
}

# Checks argument `difficulty` of rater_design() and returns a list of settings. Settings that the
# user left out get defaults. If `difficulty` is a number or a data frame, it becomes element
# `value` of the list.
check_difficulty <- function(difficulty) {
  effect_names <- c("difficulty", "errors")
  settings <- list(value = 0, strata = "drawn", redraw = TRUE, shared = effect_names, loading = 0)
  if (!is.list(difficulty) || is.data.frame(difficulty)) difficulty <- list(value = difficulty)
  given_settings <- check_settings_list(difficulty, "difficulty", names(settings))
  settings[names(given_settings)] <- given_settings
  settings$shared <- check_choices(settings$shared, effect_names, "shared", none = TRUE)
  settings
}

check_copying <- function(copying, raters, systems) {
  if (is.null(copying)) return(data.frame(from = integer(), to = integer(), probability = double()))
  judges <- c(raters, systems)
  is_table <- is.data.frame(copying) && has_columns(copying, c("from", "to", "probability"))
  row_faults <- NULL
  if (is_table) {
    find_judge_number <- function(x) match(x, if (is.numeric(x)) seq_along(judges) else judges)
    source_number <- find_judge_number(copying$from)
    copier_number <- find_judge_number(copying$to)
    describe_cells <- function(column, fault) {
      sprintf("`%s` is %s, %s", column, map_chr(unfactor(copying[[column]]), describe), fault)
    }
    is_probability <- map_lgl(copying$probability, function(p) {
      is.numeric(p) && isTRUE(p >= 0 && p <= 1)
    })
    # One fault is reported per row. A fault that is found later replaces an earlier one.
    row_faults <- ifelse(is_probability, NA,
      describe_cells("probability", "which is not in [0, 1]"))
    row_faults <- ifelse(source_number == copier_number,
      paste(judges[source_number], "copies itself"), row_faults)
    row_faults <- ifelse(source_number > length(raters) & copier_number <= length(raters),
      describe_cells("from", "which is a system; raters can copy only raters"), row_faults)
    row_faults <- ifelse(is.na(copier_number),
      describe_cells("to", "which is not a rater or a system"), row_faults)
    row_faults <- ifelse(is.na(source_number),
      describe_cells("from", "which is not a rater or a system"), row_faults)
  }
  faulty_rows <- which(!is.na(row_faults))
  shown_rows <- head(faulty_rows, 5L)
  abort_argument_if(!is_table || !is_empty(faulty_rows), "copying",
    "must be a data frame with columns {.val from} (the rater or system that is copied), {.val to}
        (the rater or system that copies) and {.val probability} (in [0, 1]).",
    x = if (is_table) escape_braces("Row ", shown_rows, ": ", row_faults[shown_rows], ".") else
      "It is {describe(copying)}.",
    i = c("Raters are {.val {raters}}.",
      if (!is_empty(systems)) "Systems are {.val {systems}}."), row = faulty_rows)
  data.frame(from = source_number, to = copier_number, probability = as.double(copying$probability))
}

# Checks argument `matrices`. Returns a list with a numeric vector per rater or system: the entries
# of its confusion matrix, row by row. If there is a matrix per stratum, the vector contains the
# matrices one after the other. If there is no matrix, the vector is empty. `judges`: names of
# raters and systems.
check_matrices <- function(matrices, judges, labels, n_strata) {
  unknown_names <- if (is.list(matrices)) setdiff(names2(matrices), judges)
  abort_argument_if(!is.list(matrices) || !is_empty(unknown_names), "matrices",
    "must be a list with names of raters or systems.",
    x = if ("" %in% unknown_names) "Some elements have no name." else if (is.list(matrices))
      "{.val {unknown_names}} {?is not such a name/are not such names}." else
      "It is {describe(matrices)}.", i = "Raters and systems are {.val {judges}}.")
  lapply(judges, function(judge) {
    matrix_or_list <- matrices[[judge]]
    if (is.null(matrix_or_list)) return(double())
    if (!is.list(matrix_or_list) || is.data.frame(matrix_or_list))
      return(check_matrix(matrix_or_list, judge, length(labels)))
    abort_argument_if(length(matrix_or_list) != n_strata, "matrices",
      "must contain one matrix for {.val {judge}}, or a list of matrices for the strata of
        {.arg difficulty}.",
      x = "It has {length(matrix_or_list)} matri{?x/ces} for {n_strata} strat{?um/a}.")
    unlist(Map(
      check_matrix, unname(matrix_or_list), paste(judge, "in stratum", seq_along(matrix_or_list)),
      length(labels)
    ))
  })
}

# Describes the first row of matrix `m` whose sum is not one. Returns NULL if all sums are one.
describe_wrong_row_sum <- function(m, tolerance) {
  wrong_row <- which(abs(rowSums(m) - 1) > tolerance)[1L]
  if (!is.na(wrong_row)) sprintf("Row %d sums to %s.", wrong_row,
    format(sum(m[wrong_row, ]), digits = 6L))
}

check_matrix <- function(m, name, n) {
  fault <- why_no_matrix(m, n, 0) %||% describe_wrong_row_sum(m, 1e-8)
  abort_argument_if(fault, "matrices",
    "The matrix of {.val {name}} must be {n} x {n} probabilities whose rows sum to one.", x = fault)
  as.double(t(unclass(m)))
}

# Checks argument `covariates` of rater_design(), a data frame with a row per kind of case (cases
# with the same covariates). Returns a list:
# * strata: a data frame for check_strata(), with one stratum per kind of case
# * covariates: a tibble of the covariates of each kind of case
# * judges: names of the raters and systems whose accuracy depends on the kind of case
# * matrices: for each of these raters and systems, a list with a confusion matrix per kind of case
#
# If `covariates` is NULL, the list contains only argument `difficulty` as `strata`.
#
# `judges`: names of all raters and systems. `labels`: labels of categories. `in_matrices`: names of
# raters and systems that have a matrix in argument `matrices`.
convert_case_kinds <- function(covariates, difficulty, judges, labels, dispersion, in_matrices) {
  if (is.null(covariates)) return(list(strata = difficulty))
  weight <- if (is.data.frame(covariates)) covariates[["weight"]]
  column_names <- setdiff(names(covariates), "weight")
  reserved_columns <- intersect(column_names, reserved_names)
  is_valid <- is_distribution(weight, slack = 1e-8) && !all(column_names %in% judges) &&
    is_empty(reserved_columns)
  abort_argument_if(!is_valid, "covariates",
    "must be a data frame with a row per kind of case. It needs column {.val weight}, the
        probabilities of the kinds, which sum to one, and at least one covariate. Columns with
        accuracies are named by a rater or system.",
    x = if (!is_empty(reserved_columns)) "A covariate cannot be named
        {.val {reserved_columns[[1L]]}}." else
      if (!is.numeric(weight)) "It is {describe(covariates)}." else
        if (all(column_names %in% judges)) "It has no covariate." else
          "The weights are {format(weight, digits = 4L)}.")
  judge_columns <- intersect(judges, column_names)
  for (judge in judge_columns) check_probabilities(covariates[[judge]], judge, 1L)
  abort_argument_if(!identical(difficulty, 0), "difficulty",
    "{.arg difficulty} cannot be combined with {.arg covariates}.",
    i = "Give accuracies of raters and systems for each kind of case in {.arg covariates}.")
  repeated_judges <- intersect(column_names, in_matrices)
  abort_argument_if(repeated_judges, "matrices",
    "{.arg matrices} and {.arg covariates} must name different raters and systems.",
    x = "Both contain {.val {repeated_judges}}.")
  case_covariates <- covariates[setdiff(column_names, judge_columns)]
  for (name in names(case_covariates)) check_covariate(case_covariates[[name]], name)
  list(
    strata = data.frame(shift = 0, weight = weight),
    covariates = as_tibble(case_covariates), judges = judge_columns,
    matrices = lapply(covariates[judge_columns], lapply, matrix_with_equal_accuracy, length(labels),
      dispersion)
  )
}

# Returns a confusion matrix of `n` categories (true category x answer) with the same accuracy in
# each row. The probability of an error is divided by `dispersion` with each further step from the
# true category.
matrix_with_equal_accuracy <- function(accuracy, n, dispersion) {
  probabilities <- dispersion^-abs(outer(seq_len(n), seq_len(n), `-`))
  diag(probabilities) <- 0
  probabilities <- probabilities * (1 - accuracy) / rowSums(probabilities)
  diag(probabilities) <- accuracy
  probabilities
}

# ---- Arguments with a number per rater and system, and probabilities of answers -----------------

# Checks an argument `x` with numbers for raters or systems ("judges"). Returns a vector with a
# number for each judge.
# * x: one number for all judges, one number for each, or a named vector for some judges. The other
#   judges then get 0.
# * names: names of the judges.
# * arg: name of the argument.
# * least: lower limit of the numbers.
# * judges: word for the judges in error messages, such as "rater".
numbers_by_judge <- function(x, names, arg, least, judges) {
  is_named <- has_names(x)
  is_valid <- is.numeric(x) && !is_empty(x) && all(is.finite(x) & x < 1 & (x > least | x == 0)) &&
    !any_repeated(names(x)) &&
    if (is_named) all(names(x) %in% names) else length(x) %in% c(1L, length(names))
  abort_argument_if(!is_valid, arg,
    "must contain numbers in {if (least == 0) '[' else '('}{least}, 1): one for all, one per
        {judges}, or a named vector for some of them (the others get 0).",
    not = x, i = "The names are {.val {names}}.")
  if (is_named) replace(double(length(names)), match(names(x), names), x) else
    rep_len(as.double(x), length(names))
}

all_same <- function(x) n_distinct(x) < 2L

# Returns the confusion matrix that the user gave for a rater or system, in one stratum of cases.
user_confusion_matrix <- function(design, judge, stratum) {
  n <- n_categories(design)
  # `entries` contains a matrix per stratum. If the user gave a single matrix, it is repeated.
  entries <- rep_len(design$matrices[[judge]], stratum * n^2)
  matrix(tail(entries, n^2), n, n, byrow = TRUE)
}

# Returns nodes for the numerical integration over cases with the same true category and stratum.
# The result is a data frame with a row per node:
# * effect: effect of the case, see "Shared errors" in ?rater_design. It is standard normal.
# * position: position of the case in the order of cases, 0 to 1.
# * weight: weight of the node, the normal density of `effect` times the weight of `position` by
#   Simpson's rule. Weights sum to one.
case_quadrature_nodes <- function(design) {
  effect_grid <- if (any(design$loading != 0)) seq(-6, 6, by = 0.05) else 0
  has_drift <- any(design$drift != 0)
  position_grid <- if (has_drift) seq(0, 1, by = 0.05) else 0.5
  simpson_weights <- if (has_drift) c(1, rep(c(4, 2), 9), 4, 1) else 1
  normal_density <- dnorm(effect_grid)
  nodes <- expand.grid(effect = effect_grid, position = position_grid)
  nodes$weight <- as.vector(normal_density %o% simpson_weights) /
    (sum(normal_density) * sum(simpson_weights))
  nodes
}

# Returns the probabilities of the answers of a rater or system to one case, a vector. `row`: the
# row of its confusion matrix for the true category `truth` (an index). `loading`, `drift`:
# arguments of rater_design() for this rater or system. `effect`, `position`: see
# case_quadrature_nodes(). The simulator in the core draws answers with these probabilities.
case_row_probs <- function(row, truth, loading, drift, effect, position) {
  if (loading == 0 && drift == 0) return(row)
  n <- length(row)
  p_right <- clip01(row[[truth]] + drift * (position - 0.5))
  # Categories in order, starting with the true category, see "Shared errors" in ?rater_design.
  category_order <- (truth + seq_len(n) - 2L) %% n + 1L
  error_shares <- if (row[[truth]] == 1) rep(1 / (n - 1), n - 1L) else
    row[category_order[-1L]] / (1 - row[[truth]])
  answer_probability <- c(p_right, error_shares * (1 - p_right))
  if (loading != 0) {
    upper_limits <- qnorm(c(pmin(cumsum(answer_probability[-n]), 1), 1))
    answer_probability <- diff(c(0, pnorm((upper_limits - loading * effect) / sqrt(1 - loading^2))))
  }
  replace(row, category_order, answer_probability)
}
