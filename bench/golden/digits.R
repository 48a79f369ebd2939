# From results to columns of numbers.

# A result is a function, which an error must not keep from the others.
digits_of_all <- function(results) {
  stopifnot(!anyDuplicated(names(results)))
  lapply(results, function(result) {
    tryCatch(suppressWarnings({
      set.seed(seed, "Mersenne-Twister", "Inversion", "Rejection")
      columns <- digits_of(result())
      stats::setNames(
        as.numeric(unlist(columns)), rep(names(columns), lengths(columns, use.names = FALSE))
      )
    }), error = function(e) {
      structure(class(e)[[1L]], message = sub("\n.*", "", conditionMessage(e)))
    })
  })
}

# A list of columns of numbers from whatever a verb gives.
digits_of <- function(x) {
  columns <- if (is.data.frame(x) && is.null(views[[class(x)[[1L]]]])) {
    as.list(x)
  } else if (is_ratings(x)) {
    codes_of(x)
  } else if (is.matrix(x)) {
    by_column(x)
  } else if (is.atomic(x)) {
    list(value = x)
  } else if (!is.object(x)) {
    unlist_once(lapply(x, digits_of))
  } else {
    unlist_once(lapply(tables_of(x), as.list))
  }
  columns <- lapply(Filter(function(v) is.numeric(v) || is.logical(v), columns), as.numeric)
  if (length(columns) == 0L) stop("no numbers")
  columns[!duplicated(names(columns))]
}

by_column <- function(x) {
  names <- colnames(x)
  if (is.null(names)) names <- seq_len(ncol(x))
  stats::setNames(lapply(seq_len(ncol(x)), function(j) as.vector(x[, j])), names)
}

# Columns of several tables, with the tables' names before them where these have names.
unlist_once <- function(tables) {
  prefix <- names(tables)
  if (is.null(prefix)) prefix <- rep("", length(tables))
  names <- Map(function(table, prefix) {
    if (prefix == "") names(table) else paste(prefix, names(table), sep = ".")
  }, tables, prefix)
  stats::setNames(do.call(c, unname(tables)), unlist(names, use.names = FALSE))
}

# Results of tidy() and glance(), or of as.data.frame().
tables_of <- function(x) {
  kinds <- views[[class(x)[[1L]]]]
  given <- function(table) tryCatch(table, error = function(e) NULL)
  tables <- c(
    if (is.null(kinds)) {
      list(given(tidy_of(x)))
    } else {
      lapply(stats::setNames(nm = kinds), function(kind) given(tidy_of(x, what = kind)))
    },
    list(given(glance_of(x)))
  )
  tables <- Filter(is.data.frame, tables)
  if (length(tables) > 0L) tables else list(as.data.frame(x))
}

# Tables of results that have several tables, by class.
views <- list(
  system_comparison = c("differences", "ranks"),
  confusion_estimate = c("cells", "categories"),
  crowdtruth = c("workers", "units", "annotations", "scores", "similarity", "convergence"),
  k_check = c("tests", "pairs", "disagreements"),
  case_plan = c("answer", "curve")
)

is_ratings <- function(x) inherits(x, c("ratings", "ratings_labels"))

# Ratings as numbers: codes of cases, raters, categories, in the order of their labels.
codes_of <- function(x) {
  tables <- list(ratings = ratings_table(x))
  if (length(system_names(x)) > 0L) tables$systems <- systems_table(x)
  columns <- unlist_once(lapply(tables, as.list))
  lapply(Filter(is.atomic, columns), function(v) {
    if (is.numeric(v)) {
      return(v)
    }
    v <- as.character(v)
    match(v, sort(unique(v), method = "radix"))
  })
}
