# What systems say in numbers: `scores` of ratings(). Kept by case beside the patterns, which know
# nothing of them.

score_scales <- c("probability", "order")

# How far probabilities of a case may be from summing to one, for each category: what rounding to
# two digits does.
sum_tolerance <- 0.005

# `x` with `scores`: a list of `scale` and `values`, a matrix of cases x categories for each system
# that has scores, NA where it has none. `given$scores` is what users gave; `by_rating`: has `data`
# a row per rating?
with_scores <- function(x, given, data, by_rating) {
  if (is.null(given$scores)) return(x)
  abort_argument_if(has_labels(x), "scores",
    "{.arg scores} are of systems that choose one category, and answers here have several.",
    i = "{.fun single_label} makes ratings with one label.")
  scale <- scale_of_scores(given$scores)
  scores <- without_scale(given$scores)
  read <- if (is.data.frame(scores)) scores_of_table else scores_of_columns
  values <- read(x, scores, data, by_rating)
  values <- Map(function(matrix, system) {
    matrix <- complete_scores(matrix, x$categories, scale, system)
    check_scores(matrix, x, scale, system)
    matrix
  }, values, names(values))
  x$scores <- list(scale = scale, values = values[intersect(x$systems, names(values))])
  warn_scores(x)
  x
}

# A list of scores may say what they are. Columns of a system called "scale" have names.
says_scale <- function(scores) {
  is.list(scores) && !is.data.frame(scores) && "scale" %in% names(scores) &&
    is.null(names(scores$scale))
}

scale_of_scores <- function(scores) {
  if (says_scale(scores)) check_choice(scores$scale, score_scales, "scale") else "probability"
}

without_scale <- function(scores) {
  if (!says_scale(scores)) return(scores)
  scores <- scores[names(scores) != "scale"]
  if (length(scores) == 1L && is.data.frame(scores[[1L]])) scores[[1L]] else scores
}

abort_scores <- function(message, system, row, envir = parent.frame()) {
  abort_fallible("scores", message, system = system, row = row, .envir = envir)
}

# ---- Layouts -------------------------------------------------------------------------------------

# Columns of wide data: for each system a character vector, columns with categories as names.
scores_of_columns <- function(x, scores, data, by_rating) {
  data <- as_columns(data)
  ok <- is.list(scores) && rlang::is_named(scores) && anyDuplicated(names(scores)) == 0L &&
    all(vapply(scores, function(one) is.character(one) && rlang::is_named(one), NA))
  if (!ok) {
    yes <- x$categories[[length(x$categories)]]
    abort_argument("scores",
      "must say for each system which column of {.arg data} has the score of which category.",
      not = scores,
      i = c(verbatim(
          "For example scores = list(", c(x$systems, "system")[[1L]], " = c(\"", yes,
          "\" = \"column\")); of two categories one is enough."
        ), "Long data have a data frame of columns {.val {c('case', 'system', 'category',
               'score')}}."))
  }
  check_scored_systems(names(scores), x)
  abort_argument_if(by_rating, "scores", "Scores in columns need wide data, with a row per case.",
    i = "Give a data frame of columns {.val {c('case', 'system', 'category', 'score')}}.")
  lapply(rlang::set_names(names(scores)), function(system) {
    columns <- scores[[system]]
    check_score_columns(columns, names(data), system, x)
    values <- matrix(NA_real_, length(x$cases), length(columns))
    colnames(values) <- names(columns)
    rows <- seq_len(attr(data, "rows"))
    for (k in seq_along(columns)) {
      values[rows, k] <- as_score(data[[columns[[k]]]], columns[[k]], system)
    }
    values
  })
}

check_score_columns <- function(columns, having, system, x) {
  unknown <- setdiff(columns, having)
  abort_if(length(unknown) > 0L, "columns", "{.arg scores} must name columns of {.arg data}.",
    x = "There is no {.val {unknown}}, named for system {.val {system}}.", arg = "scores")
  taken <- intersect(columns, c(x$raters, x$systems))
  abort_if(length(taken) > 0L, "columns", "A column of {.arg data} can have only one role.",
    x = "{.val {taken}} {?is/are} named by {.arg scores} and hold{?s/} answers.", arg = "scores")
}

# A data frame with a row per case, system and category.
scores_of_table <- function(x, scores, data, by_rating) {
  own <- c("case", "system", "category", "score")
  lacking <- setdiff(own, names(scores))
  abort_if(length(lacking) > 0L, "columns", "{.arg scores} must have columns {.val {own}}.",
    x = "It lacks {.val {lacking}}; it has {.val {names(scores)}}.", arg = "scores")
  table <- lapply(plain_columns(scores)[own], unfactor)
  check_identifiers(table$case, "scores$case")
  system <- as_label(table$system)
  check_scored_systems(unique(system), x)
  at <- match(as_label(table$case), as_label(x$cases))
  abort_if(anyNA(at), "case", "{.arg scores} must name cases of {.arg data}.",
    x = "{sum(is.na(at))} row{?s} {?is/are} not, first row {which(is.na(at))[[1L]]} of case
        {.val {as_label(table$case)[is.na(at)][[1L]]}}.", row = which(is.na(at)))
  category <- as_label(table$category)
  score <- as_score(table$score, "score", unique(system))
  lapply(rlang::set_names(unique(system)), function(one) {
    mine <- which(system == one)
    columns <- unique(category[mine])
    cell <- cbind(at[mine], match(category[mine], columns))
    twice <- anyDuplicated(cell)
    abort_if(twice > 0L, "repeat", "A system can give one score per case and category.",
      x = "Row {mine[[twice]]} of {.arg scores} repeats that of system {.val {one}}, case
          {.val {as_label(x$cases[[cell[twice, 1L]]])}}, {.val {columns[[cell[twice, 2L]]]}}.",
      case = x$cases[[cell[twice, 1L]]], rater = one)
    values <- matrix(NA_real_, length(x$cases), length(columns), dimnames = list(NULL, columns))
    values[cell] <- score[mine]
    values
  })
}

check_scored_systems <- function(systems, x) {
  unknown <- setdiff(systems, x$systems)
  abort_if(length(unknown) > 0L, "system", "{.arg scores} must be of systems of {.arg data}.",
    x = "{.val {unknown}} {?is/are} not among {.arg systems}.",
    i = if (length(x$systems) > 0L) "They are {.val {x$systems}}." else "Give {.arg systems} with
        the answers that go with the scores.", system = unknown)
}

as_score <- function(column, name, system) {
  if (!is.numeric(column) && !all(is.na(column))) {
    abort_scores(c(
      "Scores must be numbers.", "x" = "Column {.val {name}} is {describe(column)}."
    ), system, integer())
  }
  as.double(column)
}

# ---- Checks --------------------------------------------------------------------------------------

# Cases x categories. Of two categories the score of one tells that of the other.
complete_scores <- function(values, categories, scale, system) {
  unknown <- setdiff(colnames(values), categories)
  abort_if(length(unknown) > 0L, "category", "Scores must be of categories of {.arg data}.",
    x = "System {.val {system}} has scores of {.val {unknown}}.",
    i = "Categories are {.val {categories}}.", row = NA_integer_, column = system, found = unknown)
  lacking <- setdiff(categories, colnames(values))
  if (length(categories) == 2L && length(lacking) == 1L) {
    other <- if (scale == "probability") 1 - values else -values
    values <- cbind(values, other)
    colnames(values)[[2L]] <- lacking
  } else if (length(lacking) > 0L) {
    abort_scores(c(
      "Every category needs a score.",
      "x" = "System {.val {system}} has none for {length(lacking)} of them: {.val {lacking}}.",
      "i" = "Of two categories only, the score of one is enough."
    ), system, integer())
  }
  values[, categories, drop = FALSE]
}

check_scores <- function(values, x, scale, system) {
  given <- rowSums(!is.na(values))
  tell <- function(row, what = "") {
    case <- as_label(x$cases[row[[1L]]])
    cases <- count_noun(length(row), "case")
    c("x" = verbatim("System \"", system, "\": ", cases, ", first \"", case, "\"", what, "."))
  }
  row <- which(given > 0L & given < ncol(values))
  if (length(row) > 0L) {
    abort_scores(c("A case must have scores of all categories or of none.", tell(row)), system, row)
  }
  off <- is.infinite(values) | (scale == "probability" & (values < 0 | values > 1))
  row <- which(rowSums(off, na.rm = TRUE) > 0)
  if (length(row) > 0L) {
    found <- values[row[[1L]], which(off[row[[1L]], ])[[1L]]]
    abort_scores(c(
      if (scale == "probability") "Scores must be probabilities in [0, 1]." else
        "Scores must be finite.",
      tell(row, paste0(", which has ", found)),
      if (scale == "probability") c(
        "i" = "Scores on another scale only order cases: {.code scale = \"order\"} in
               {.arg scores}."
      )
    ), system, row)
  }
  sums <- rowSums(values)
  row <- which(abs(sums - 1) > sum_tolerance * ncol(values) + 1e-9)
  if (scale == "probability" && length(row) > 0L) {
    abort_scores(c(
      "Probabilities of a case must sum to one.",
      tell(row, paste0(", which sums to ", signif(sums[[row[[1L]]]], 4L))),
      "i" = "Divide them by their sum if that is what they mean; if not, they only order cases:
             {.code scale = \"order\"} in {.arg scores}."
    ), system, row)
  }
}

# What can be used, though hardly as somebody meant it.
warn_scores <- function(x) {
  answer <- case_answers(x)
  without <- vapply(names(x$scores$values), function(system) {
    sum(answer[, match(system, x$systems)] > 0L & is.na(x$scores$values[[system]][, 1L]))
  }, 0L)
  some <- without[without > 0L]
  if (length(some) > 0L) {
    each <- verbatim(names(some), ": ", number(some), ifelse(some == 1L, " case", " cases"))
    warn_fallible("scores", c(
      "Some cases that systems answered have no score; metrics of scores leave them out.",
      stats::setNames(each, rep("*", length(each)))
    ), systems = names(some), cases = unname(some))
  }
  constant <- vapply(x$scores$values, function(values) {
    all(apply(values, 2L, function(v) length(unique(v[!is.na(v)])) <= 1L))
  }, NA)
  warn_if(any(constant), "scores",
    "All scores of {.val {names(constant)[constant]}} are equal, so they order no cases.",
    systems = names(constant)[constant], cases = NULL)
}

# ---- Their use -----------------------------------------------------------------------------------

subset_scores <- function(x, keep_case) {
  x$scores$values <- lapply(x$scores$values, function(v) v[keep_case, , drop = FALSE])
  x
}

keep_scores <- function(scores, systems) {
  scores$values <- scores$values[intersect(systems, names(scores$values))]
  if (length(scores$values) > 0L) scores
}

# A row per case, system and category.
score_table <- function(x) {
  n <- length(x$categories)
  tables <- lapply(names(x$scores$values), function(system) {
    values <- x$scores$values[[system]]
    at <- which(!is.na(values[, 1L]))
    tibble::tibble(
      case = rep(x$cases[at], each = n), system = system,
      category = category_factor(rep(seq_len(n), length(at)), x),
      score = as.vector(t(values[at, , drop = FALSE]))
    )
  })
  none <- tibble::tibble(
    case = x$cases[0L], system = character(), category = category_factor(integer(), x),
    score = double()
  )
  do.call(rbind, c(list(none), tables))
}

format_scores <- function(x) {
  if (!is.null(x$scores)) {
    scored <- vapply(x$scores$values, function(v) sum(!is.na(v[, 1L])), 0L)
    paste0(
      "Scores of ", shorten(paste0(names(scored), " (", number(scored), " cases)")), ", ",
      if (x$scores$scale == "probability") "probabilities" else "an order of cases only"
    )
  }
}

abort_scores_of_table <- function() {
  abort_argument("scores", "{.arg scores} are of single cases, and a table of counts has none.",
    i = "Give a data frame with a row per case.")
}
