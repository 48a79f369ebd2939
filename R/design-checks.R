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
  is_valid <- is.numeric(shifts) && !is_empty(shifts) && all(abs(shifts) <= 1) &&
    is_distribution(weight, slack = 1e-8)
  abort_argument_if(!isTRUE(is_valid), "difficulty",
    "must be a number in [0, 1], or a data frame with columns {.val shift} (in [-1, 1]) and
        {.val weight} (probabilities that sum to one).",
    x = if (!is.numeric(shifts) || !is.numeric(weight)) "It is {describe(difficulty)}." else
      "Shifts are {.val {shifts}}. Weights are {.val {weight}}, with sum
        {format(sum(weight), digits = 6)}.")
  shifts <- shifts[weight > 0]
  shifted <- outer(accuracies, shifts, `+`)
  abort_argument_if(any(shifts != 0) && !any(shifted > 0 & shifted < 1), "difficulty",
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
  is_table <- is.data.frame(copying) && has_columns(copying, c("from", "to", "probability"))
  faults <- NULL
  if (is_table) {
    judge_number <- function(x) match(x, if (is.numeric(x)) seq_along(judges) else judges)
    from <- judge_number(copying$from)
    to <- judge_number(copying$to)
    cells <- function(column, fault) {
      sprintf("`%s` is %s, %s", column, map_chr(unfactor(copying[[column]]), describe), fault)
    }
    is_probability <- map_lgl(copying$probability, function(p) {
      is.numeric(p) && isTRUE(p >= 0 && p <= 1)
    })
    # One fault is reported per row. Each line below replaces faults that were found before.
    faults <- ifelse(is_probability, NA, cells("probability", "which is not in [0, 1]"))
    faults <- ifelse(from == to, paste(judges[from], "copies itself"), faults)
    faults <- ifelse(from > length(raters) & to <= length(raters),
      cells("from", "which is a system; raters copy raters only"), faults)
    faults <- ifelse(is.na(to), cells("to", "which is no rater or system"), faults)
    faults <- ifelse(is.na(from), cells("from", "which is no rater or system"), faults)
  }
  faulty_rows <- which(!is.na(faults))
  shown_rows <- head(faulty_rows, 5L)
  abort_argument_if(!is_table || !is_empty(faulty_rows), "copying",
    "must be a data frame with columns {.val from} (the rater or system that is copied), {.val to}
        (the rater or system that copies) and {.val probability} (in [0, 1]).",
    x = if (is_table) escape_braces("Row ", shown_rows, ": ", faults[shown_rows], ".") else
      "It is {describe(copying)}.",
    i = c("Raters are {.val {raters}}.",
      if (!is_empty(systems)) "Systems are {.val {systems}}."), row = faulty_rows)
  data.frame(from = from, to = to, probability = as.double(copying$probability))
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
    unlist(Map(
      check_matrix, unname(given), paste(judge, "in stratum", seq_along(given)), length(labels)
    ))
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
  has_drift <- any(design$drift != 0)
  position <- if (has_drift) seq(0, 1, by = 0.05) else 0.5
  simpson <- if (has_drift) c(1, rep(c(4, 2), 9), 4, 1) else 1
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
  p_right <- clip01(row[[truth]] + drift * (position - 0.5))
  order <- (truth + seq_len(n) - 2L) %% n + 1L
  error_shares <- if (row[[truth]] == 1) rep(1 / (n - 1), n - 1L) else
    row[order[-1L]] / (1 - row[[truth]])
  probability <- c(p_right, error_shares * (1 - p_right))
  if (loading != 0) {
    upper_limits <- qnorm(c(pmin(cumsum(probability[-n]), 1), 1))
    probability <- diff(c(0, pnorm((upper_limits - loading * effect) / sqrt(1 - loading^2))))
  }
  replace(row, order, probability)
}
