# Checks of the arguments of rater_design().

check_probabilities <- function(x, arg, least) {
  inside <- if (is.numeric(x)) is.finite(x) & x >= 0 & x <= 1 else rep(FALSE, length(x))
  is_long_enough <- length(x) >= least
  abort_argument_if(!is_long_enough || !all(inside), arg,
    "{.arg {arg}} must be {if (least > 1L) paste('at least', least)} probabilities in [0, 1].",
    x = if (is.numeric(x) && is_long_enough) "Among them is {.val {x[!inside][[1L]]}}." else
      "It is {describe(x)}.")
  x
}

check_judge_names <- function(names) {
  twice <- repeated_values(names)
  abort_argument_if(twice, "systems", "Raters and systems must have different names.",
    x = "Both have {.val {twice}}.")
}

name_judges <- function(x, prefix) {
  names <- names2(x)
  is_unnamed <- names == ""
  names[is_unnamed] <- if (prefix == "system" && length(x) == 1L) prefix else
    paste0(prefix, seq_along(x))[is_unnamed]
  setNames(as.double(x), make.unique(names))
}

# Checks argument `difficulty` and returns the strata of cases: a data frame with columns `shift`
# (number added to accuracies) and `weight` (probability of the stratum). Raises an error if every
# sum of one of the `accuracies` and a shift is outside (0, 1).
check_strata <- function(difficulty, accuracies) {
  if (is.numeric(difficulty) && is.null(dim(difficulty))) {
    shift <- unique(check_number(difficulty, "difficulty", 0, 1) * -1:1)
    difficulty <- data.frame(shift = shift, weight = 1 / length(shift))
  }
  table <- if (is.data.frame(difficulty)) difficulty
  shifts <- table[["shift"]]
  weight <- table[["weight"]]
  is_valid <- !is_empty(shifts) && is.numeric(shifts) && all(abs(shifts) <= 1) &&
    is_distribution(weight, slack = 1e-8)
  abort_argument_if(!isTRUE(is_valid), "difficulty",
    "must be a number in [0, 1], or a data frame with columns {.val shift} (in [-1, 1]) and
        {.val weight} (probabilities that sum to one).",
    x = if (!is.numeric(shifts) || !is.numeric(weight)) "It is {describe(difficulty)}." else
      "Shifts are {.val {shifts}}. Weights are {.val {weight}}, with sum
        {format(sum(weight), digits = 6)}.")
  shifts <- shifts[weight > 0]
  is_inside <- outer(accuracies, shifts, function(a, d) a + d > 0 & a + d < 1)
  abort_argument_if(any(shifts != 0) && !any(is_inside), "difficulty",
    "{.arg difficulty} changes all accuracies to 0 or 1.",
    x = "Each accuracy plus each shift ({.val {shifts}}) is outside (0, 1).",
    i = "Choose a smaller {.arg difficulty}.")
  difficulty[c("shift", "weight")]
}

# Checks argument `difficulty` of rater_design(), and returns it as a list with all settings.
# Settings that the user left out have their defaults. A number or a data frame becomes setting
# `value`.
check_difficulty <- function(difficulty) {
  effects <- c("difficulty", "errors")
  settings <- list(value = 0, strata = "drawn", redraw = TRUE, shared = effects, loading = 0)
  if (!is.list(difficulty) || is.data.frame(difficulty)) difficulty <- list(value = difficulty)
  given <- check_settings_list(difficulty, "difficulty", names(settings))
  settings[names(given)] <- given
  settings$shared <- check_choices(settings$shared, effects, "shared", none = TRUE)
  settings
}

check_copying <- function(copying, raters, systems) {
  if (is.null(copying)) return(data.frame(from = integer(), to = integer(), probability = double()))
  judges <- c(raters, systems)
  judge_number <- function(x) match(x, if (is.numeric(x)) seq_along(judges) else judges)
  is_table <- is.data.frame(copying) && has_columns(copying, c("from", "to", "probability"))
  from <- if (is_table) judge_number(copying$from)
  to <- if (is_table) judge_number(copying$to)
  faults <- if (is_table) copying_faults(copying, from, to, judges, length(raters))
  faulty_rows <- which(!is.na(faults))
  shown_rows <- head(faulty_rows, 5L)
  abort_argument_if(!is_table || !is_empty(faulty_rows), "copying",
    "must be a data frame with columns {.val from} (the rater or system that is copied), {.val to}
        (the rater or system that copies) and {.val probability} (in [0, 1]).",
    x = if (is_table) {
      escape_braces("Row ", shown_rows, ": ", faults[shown_rows], ".")
    } else {
      "It is {describe(copying)}."
    },
    i = c("Raters are {.val {raters}}.",
      if (!is_empty(systems)) "Systems are {.val {systems}}."), row = faulty_rows)
  data.frame(from = from, to = to, probability = as.double(copying$probability))
}

# Returns a description of a fault in each row of `copying`; NA if the row has none. `from`, `to`:
# indices of raters and systems in each row, NA if a name is unknown. `judges`: names of raters and
# then of systems.
copying_faults <- function(copying, from, to, judges, n_raters) {
  cells <- function(column, fault) {
    sprintf("`%s` is %s, %s", column, map_chr(unfactor(copying[[column]]), describe), fault)
  }
  is_valid <- map_lgl(copying$probability, function(p) is.numeric(p) && isTRUE(p >= 0 && p <= 1))
  # One fault is reported per row. Each line below replaces faults that were found before.
  faults <- ifelse(is_valid, NA, cells("probability", "which is not in [0, 1]"))
  faults <- ifelse(from == to, paste(judges[from], "copies itself"), faults)
  faults <- ifelse(from > n_raters & to <= n_raters,
    cells("from", "which is a system; raters copy raters only"), faults)
  faults <- ifelse(is.na(to), cells("to", "which is no rater or system"), faults)
  ifelse(is.na(from), cells("from", "which is no rater or system"), faults)
}

# Checks argument `matrices`. Returns a list with a numeric vector per rater or system: the entries
# of its confusion matrix, row by row, or of its matrices in all strata. The vector is empty if the
# user gave no matrix. `judges`: names of raters and systems. `strata`: number of strata.
check_matrices <- function(matrices, judges, labels, strata) {
  unknown <- if (is.list(matrices)) setdiff(names2(matrices), judges)
  abort_argument_if(!is.list(matrices) || !is_empty(unknown), "matrices",
    "must be a list with names of raters or systems.",
    x = if (is.list(matrices)) "{.val {unknown}} {?is/are} not among them." else "It is
        {describe(matrices)}.", i = "Raters and systems are {.val {judges}}.")
  lapply(judges, function(judge) {
    given <- matrices[[judge]]
    if (is.null(given)) return(double())
    if (!is.list(given) || is.data.frame(given)) return(check_matrix(given, judge, length(labels)))
    abort_argument_if(length(given) != strata, "matrices",
      "must hold one matrix for {.val {judge}}, or one for each stratum of {.arg difficulty}.",
      x = "There are {length(given)} for {strata} strat{?um/a}.")
    names <- paste(judge, "in stratum", seq_along(given))
    unlist(Map(check_matrix, unname(given), names, length(labels)))
  })
}

# Describes the first row of matrix `m` whose sum is not one. Returns NULL if all sums are one.
describe_wrong_row_sum <- function(m, tolerance) {
  row <- which(abs(rowSums(m) - 1) > tolerance)[1L]
  if (!is.na(row)) sprintf("Row %d sums to %s.", row, format(sum(m[row, ]), digits = 6L))
}

check_matrix <- function(m, name, n) {
  misfit <- why_no_matrix(m, n, 0) %||% describe_wrong_row_sum(m, 1e-8)
  abort_argument_if(misfit, "matrices",
    "Matrix {.val {name}} must be {n} x {n} probabilities whose rows sum to one.", x = misfit)
  as.double(t(unclass(m)))
}

# Arguments with a number per rater and system ("judges"), and probabilities of answers.

# Checks an argument `x` with numbers for raters or systems. Returns a vector with a number for each
# of `names`. `x`: one number for all of them, one number for each, or a named vector for some of
# them (the others get 0). `least`: lower limit. `arg` and `judges`: words in messages.
numbers_by_judge <- function(x, names, arg, least, judges) {
  is_named <- has_names(x)
  has_valid_numbers <- is.numeric(x) && !is_empty(x) &&
    all(is.finite(x) & x < 1 & (x > least | x == 0))
  has_valid_length <- if (is_named) all(names(x) %in% names) else
    length(x) %in% c(1L, length(names))
  abort_argument_if(!has_valid_numbers || !has_valid_length || any_repeated(names(x)), arg,
    "must contain numbers in {if (least == 0) '[' else '('}{least}, 1): one for all, one per
        {judges}, or a named vector for some of them (the others get 0).",
    not = x, i = "The names are {.val {names}}.")
  if (is_named) replace(double(length(names)), match(names(x), names), x) else
    rep_len(as.double(x), length(names))
}

# Returns values of a setting for `n` additional raters. `x`: value of each existing rater. All
# existing raters have the same value, so additional raters get it too; 0 if `x` is empty.
values_of_new_judges <- function(x, n) rep(c(x, 0)[[1L]], n)

all_same <- function(x) n_distinct(x) < 2L

# Returns the confusion matrix that the user gave for a rater or system, in one stratum of cases.
user_confusion_matrix <- function(design, judge, stratum) {
  n <- n_categories(design)
  # If there is only one matrix, it is used in all strata.
  entries <- rep_len(design$matrices[[judge]], stratum * n^2)
  matrix(tail(entries, n^2), n, n, byrow = TRUE)
}

# Returns nodes and weights of numerical integration over cases with the same truth and stratum: a
# data frame. Columns:
# * effect: effect of the case, standard normal; see "Shared errors" in ?rater_design. The rule is a
#   sum over equal steps.
# * position: position in the order of cases, 0 to 1. The rule is Simpson's rule.
# * weight: weight of the node; weights sum to one
case_quadrature_nodes <- function(design) {
  effect <- if (any(design$loading != 0)) seq(-6, 6, by = 0.05) else 0
  position <- if (any(design$drift != 0)) seq(0, 1, by = 0.05) else 0.5
  simpson <- if (length(position) > 1L) c(1, rep(c(4, 2), 9), 4, 1) else 1
  normal <- dnorm(effect)
  nodes <- expand.grid(effect = effect, position = position)
  nodes$weight <- as.vector(normal %o% simpson) / (sum(normal) * sum(simpson))
  nodes
}

# Returns the probabilities of the answers of a rater or system to one case, a vector. `row`: the
# row of its confusion matrix for the true category `truth` (an index). `loading`, `drift`: settings
# of rater_design(). `effect`, `position`: see case_quadrature_nodes(). The simulator in the core
# draws answers with the same probabilities.
case_row_probs <- function(row, truth, loading, drift, effect, position) {
  if (loading == 0 && drift == 0) return(row)
  n <- length(row)
  p_right <- min(max(row[[truth]] + drift * (position - 0.5), 0), 1)
  order <- (truth + seq_len(n) - 2L) %% n + 1L
  error_shares <- row[order[-1L]] / (1 - row[[truth]])
  if (row[[truth]] == 1) error_shares <- rep(1 / (n - 1), n - 1L)
  probability <- c(p_right, error_shares * (1 - p_right))
  if (loading != 0) {
    upper_limits <- qnorm(c(pmin(cumsum(probability[-n]), 1), 1))
    probability <- diff(c(0, pnorm((upper_limits - loading * effect) / sqrt(1 - loading^2))))
  }
  replace(row, order, probability)
}

check_case_kinds <- function(covariates, difficulty, judges, names_in_matrices) {
  weight <- if (is.data.frame(covariates)) covariates[["weight"]]
  columns <- setdiff(names(covariates), "weight")
  reserved <- intersect(columns, reserved_names)
  is_valid <- is_distribution(weight, slack = 1e-8) && !all(columns %in% judges) &&
    is_empty(reserved)
  abort_argument_if(!is_valid, "covariates",
    "must be a data frame with a row per kind of case. Its columns are {.val weight}, the
        probabilities of the kinds, which sum to one; covariates; and columns named by a rater or
        system.",
    x = if (!is_empty(reserved)) "A covariate cannot have the name {.val {reserved[[1L]]}}." else
      if (is.numeric(weight)) "Weights are {format(weight, digits = 4L)}." else
        "It is {describe(covariates)}.")
  for (judge in intersect(judges, columns)) check_probabilities(covariates[[judge]], judge, 1L)
  abort_argument_if(!identical(difficulty, 0), "difficulty",
    "{.arg difficulty} cannot be combined with {.arg covariates}.",
    i = "Give accuracies of raters and systems for each kind of case in {.arg covariates}.")
  twice <- intersect(columns, names_in_matrices)
  abort_argument_if(twice, "matrices",
    "{.arg matrices} and {.arg covariates} must name different raters and systems.",
    x = "Both name {.val {twice}}.")
}
