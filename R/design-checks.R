# Checks of what designs are made of.

check_probabilities <- function(x, arg, least) {
  inside <- if (is.numeric(x)) is.finite(x) & x >= 0 & x <= 1 else rep(FALSE, length(x))
  enough <- length(x) >= least
  abort_argument_if(!enough || !all(inside), arg,
    "{.arg {arg}} must be {if (least > 1L) paste('at least', least)} probabilities in [0, 1].",
    x = if (is.numeric(x) && enough) "Among them is {.val {x[!inside][[1L]]}}." else
      "It is {describe(x)}.")
  x
}

check_judge_names <- function(names) {
  twice <- unique(names[duplicated(names)])
  abort_argument_if(length(twice) > 0L, "systems", "Raters and systems must have different names.",
    x = "Both have {.val {twice}}.")
}

name_judges <- function(x, prefix) {
  names <- rlang::names2(x)
  lacks <- names == ""
  single <- prefix == "system" && length(x) == 1L
  names[lacks] <- if (single) prefix else paste0(prefix, seq_along(x))[lacks]
  stats::setNames(as.double(x), make.unique(names))
}

# A data frame of shift and weight. Some accuracy must stay inside (0, 1) in some stratum.
check_strata <- function(difficulty, accuracies) {
  if (is.numeric(difficulty) && is.null(dim(difficulty))) {
    d <- check_number(difficulty, "difficulty", 0, 1)
    difficulty <- if (d == 0) {
      data.frame(shift = 0, weight = 1)
    } else {
      data.frame(shift = c(-d, 0, d), weight = 1 / 3)
    }
  }
  table <- is.data.frame(difficulty) && nrow(difficulty) > 0L &&
    is.numeric(difficulty[["shift"]]) && is.numeric(difficulty[["weight"]])
  ok <- table && all(abs(difficulty$shift) <= 1) && all(difficulty$weight >= 0) &&
    abs(sum(difficulty$weight) - 1) < 1e-8
  abort_argument_if(!isTRUE(ok), "difficulty",
    "must be a number in [0, 1], or a data frame with columns {.val shift} (in [-1, 1]) and
        {.val weight} (probabilities that sum to one).",
    x = if (table) "Shifts go from {min(difficulty$shift)} to {max(difficulty$shift)}, weights sum
        to {format(sum(difficulty$weight), digits = 6)}." else "It is {describe(difficulty)}.")
  shifts <- difficulty$shift[difficulty$weight > 0]
  inside <- outer(accuracies, shifts, function(a, d) a + d > 0 & a + d < 1)
  abort_argument_if(any(shifts != 0) && !any(inside), "difficulty",
    "{.arg difficulty} leaves only accuracies of 0 and 1.",
    x = "Each accuracy plus each of {.val {shifts}} lies outside (0, 1).",
    i = "Choose a smaller {.arg difficulty}.")
  difficulty[c("shift", "weight")]
}

# What a design says of difficulty: a number or a table is the `value` of the list.
check_difficulty <- function(difficulty) {
  out <- list(
    value = 0, strata = "drawn", redraw = TRUE, shared = c("difficulty", "errors"), loading = 0
  )
  given <- if (is.list(difficulty) && !is.data.frame(difficulty)) {
    check_settings_list(difficulty, "difficulty", names(out))
  } else {
    list(value = difficulty)
  }
  out[names(given)] <- given
  out$shared <- check_some(out$shared, c("difficulty", "errors"), "shared", none = TRUE)
  out
}

check_copying <- function(copying, raters, systems) {
  if (is.null(copying)) return(data.frame(from = integer(), to = integer(), probability = double()))
  judges <- c(raters, systems)
  refuse <- function(wrong, found, rows = integer()) {
    abort_argument_if(wrong, "copying",
      "must be a data frame with columns {.val from} (a rater, or a system that another copies),
          {.val to} (another rater or system) and {.val probability}.", x = found,
      i = c("Raters are {.val {raters}}.",
        if (length(systems) > 0L) "Systems are {.val {systems}}."), row = rows)
  }
  lacking <- setdiff(c("from", "to", "probability"), names(copying))
  refuse(!is.data.frame(copying), paste0("It is ", verbatim(describe(copying)), "."))
  refuse(length(lacking) > 0L, "It lacks {.val {lacking}}.")
  number <- function(x) {
    if (is.numeric(x)) match(x, seq_along(judges)) else match(as.character(x), judges)
  }
  from <- number(copying$from)
  to <- number(copying$to)
  p <- if (is.numeric(copying$probability)) copying$probability else rep(NA_real_, nrow(copying))
  of_systems <- from > length(raters) & to <= length(raters)
  faults <- list(
    "there is no such rater or system" = is.na(from) | is.na(to),
    "raters copy raters only" = of_systems, "this is a copy of itself" = from == to,
    "this is no probability" = is.na(p) | p < 0 | p > 1
  )
  fault <- rep(NA, nrow(copying)) # the first of several
  for (name in rev(names(faults))) fault[which(faults[[name]])] <- name
  off <- which(!is.na(fault))
  given <- paste0(copying$from, " to ", copying$to, ", ", copying$probability)
  refuse(length(off) > 0L, some_of(verbatim("Row ", off, " (", given[off], "): ", fault[off], ".")),
    off)
  data.frame(from = from, to = to, probability = as.double(p))
}

# For each judge the numbers of its matrices, row by row: of none, of one, or of one per stratum.
check_matrices <- function(matrices, judges, labels, strata) {
  unknown <- if (is.list(matrices)) setdiff(rlang::names2(matrices), judges)
  abort_argument_if(!is.list(matrices) || length(unknown) > 0L, "matrices",
    "must be a list with names of raters or systems.",
    x = if (is.list(matrices)) "{.val {unknown}} {?is/are} not among them." else "It is
        {describe(matrices)}.", i = "There are {.val {judges}}.")
  lapply(judges, function(judge) {
    given <- matrices[[judge]]
    if (is.null(given)) return(double())
    each <- is.list(given) && !is.data.frame(given)
    abort_argument_if(each && length(given) != strata, "matrices",
      "must hold one matrix for {.val {judge}}, or one for each stratum of {.arg difficulty}.",
      x = "There are {length(given)} for {strata} strat{?um/a}.")
    names <- if (each) paste(judge, "in stratum", seq_along(given)) else judge
    unlist(Map(check_matrix, if (each) unname(given) else list(given), names, length(labels)))
  })
}

check_matrix <- function(m, name, n) {
  ok <- is.numeric(m) && identical(dim(m), c(n, n)) && all(is.finite(m)) && all(m >= 0)
  off <- if (ok) which(abs(rowSums(m) - 1) > 1e-8)
  abort_argument_if(!ok || length(off) > 0L, "matrices",
    "Matrix {.val {name}} must be {n} x {n} probabilities whose rows sum to one.",
    x = if (ok) "Row {off[[1L]]} sums to {format(sum(m[off[[1L]], ]), digits = 6)}." else
      if (is.numeric(m) && is.matrix(m) && length(m) > 0L) "It is {nrow(m)} x {ncol(m)}, and its
        numbers go from {min(m)} to {max(m)}." else "It is {describe(m)}.")
  as.double(t(unclass(m)))
}
