# From what users have to what ratings() needs: columns found, identifiers and labels coded.

max_categories <- 1000L
max_ratings_per_case <- 46340L # whose pairs an integer can count

# A list: layout ("wide", "long", "counts"), columns (list of rating columns, or of counts), case,
# rater, weights, systems (wide columns) or system_table, ordered.
read_input <- function(data, raters, systems, case, rater, rating, counts, weights, repeats,
                       call) {
  data <- as_columns(data, call)
  given <- !vapply(
    list(raters = raters, rater = rater, rating = rating, counts = counts),
    rlang::quo_is_null, logical(1L)
  )
  layout <- find_layout(data, given, call)
  input <- list(layout = layout, rows = attr(data, "rows"), is_matrix = attr(data, "is_matrix"))

  input$system_table <- system_table(systems, data, call)
  system_names <- if (is.null(input$system_table)) select_columns(data, systems, "systems", call)
  if (is.null(input$system_table) && length(system_names) == 0L && !rlang::quo_is_null(systems)) {
    abort_fallible("columns", c(
      "{.arg systems} selects no column of {.arg data}.",
      "i" = "The columns are {.val {names(data)}}."
    ), arg = "systems", call = call)
  }
  case_name <- select_column(data, case, "case", call)
  weight_name <- select_column(data, weights, "weights", call)
  rating_names <- switch(layout,
    wide = if (given[["raters"]]) {
      select_columns(data, raters, "raters", call)
    } else {
      setdiff(names(data), c(system_names, case_name, weight_name))
    },
    long = select_ratings(data, rating, repeats, call),
    counts = select_columns(data, counts, "counts", call)
  )
  rater_name <- select_column(data, rater, "rater", call)
  check_disjoint(
    list(
      raters = rating_names, systems = system_names, case = case_name, rater = rater_name,
      weights = weight_name
    ),
    layout, call
  )
  if (layout == "long" && length(system_names) > 0L) {
    abort_fallible("argument", c(
      "In long data {.arg systems} must be a data frame with columns {.val case}, {.val system} and
       {.val prediction}.",
      "x" = "It names the column{?s} {.val {system_names}} of {.arg data}."
    ), arg = "systems", call = call)
  }
  input$columns <- lapply(unclass(data)[rating_names], clean_levels)
  input$systems <- lapply(unclass(data)[system_names], clean_levels)
  if (!is.null(case_name)) input$case <- unfactor(data[[case_name]])
  if (!is.null(rater_name)) input$rater <- clean_levels(data[[rater_name]])
  if (is.null(case_name)) input$case_names <- attr(data, "case_names")
  if (!is.null(weight_name)) input$weights <- check_weights(data[[weight_name]], weight_name, call)
  if (layout == "long" && repeats == "labels") input <- expand_answers(input, call)
  labelled <- c(if (layout != "counts") input$columns, input$systems)
  for (column in names(labelled)) check_labels(labelled[[column]], column, call)
  check_orders(input$columns, call)
  input$ordered <- layout != "counts" && any(vapply(input$columns, is.ordered, logical(1L)))
  input
}

check_orders <- function(columns, call) {
  orders <- unique(lapply(Filter(is.ordered, columns), levels))
  merged <- unique(unlist(orders))
  off <- Filter(function(order) is.unsorted(match(order, merged)), orders)
  if (length(off) > 0L) {
    abort_fallible("columns", c(
      "Ordered factors must have their levels in the same order.",
      "x" = "One has {.val {orders[[1L]]}}, another {.val {off[[1L]]}}."
    ), arg = "raters", call = call)
  }
}

as_columns <- function(data, call) {
  is_matrix <- is.matrix(data) && is.atomic(data)
  if (!is_matrix && !is.data.frame(data)) {
    abort_fallible("argument", c(
      "{.arg data} must be a data frame, or a matrix of cases x raters.",
      "x" = "It is {describe(data)}."
    ), arg = "data", call = call)
  }
  case_names <- if (is_matrix) rownames(data)
  rows <- nrow(data)
  if (is_matrix) {
    if (is.null(colnames(data)) && ncol(data) > 0L) {
      colnames(data) <- paste0("rater", seq_len(ncol(data)))
    }
    data <- as.data.frame(data, stringsAsFactors = FALSE)
  }
  if (rows == 0L) {
    abort_fallible("empty", c(
      "{.arg data} has no rows.",
      "i" = "At least one case is needed."
    ), call = call)
  }
  if (anyDuplicated(names(data)) > 0L) {
    abort_fallible("columns", c(
      "The columns of {.arg data} must have different names.",
      "x" = "{.val {unique(names(data)[duplicated(names(data))])}} stand{?s/} there twice."
    ), arg = "data", call = call)
  }
  structure(data, rows = rows, is_matrix = is_matrix, case_names = case_names)
}

find_layout <- function(data, given, call) {
  long <- given[["rater"]] || given[["rating"]]
  kinds <- c(wide = given[["raters"]], long = long, counts = given[["counts"]])
  if (sum(kinds) > 1L) {
    abort_fallible("argument", c(
      "The layout of {.arg data} is not clear.",
      "i" = "Give {.arg raters} (wide), {.arg case}, {.arg rater} and {.arg rating} (long), or
             {.arg counts}: only one of the three."
    ), arg = "data", call = call)
  }
  if (long && !(given[["rater"]] && given[["rating"]])) {
    missing <- if (given[["rater"]]) "rating" else "rater"
    abort_fallible("argument", c(
      "Long data need {.arg case}, {.arg rater} and {.arg rating}.",
      "x" = "{.arg {missing}} is not given."
    ), arg = missing, call = call)
  }
  if (!any(kinds) && !attr(data, "is_matrix")) {
    abort_fallible("argument", c(
      "Say which columns of {.arg data} hold the ratings.",
      "i" = "Give {.arg raters} (wide), {.arg case}, {.arg rater} and {.arg rating} (long), or
             {.arg counts}.",
      "i" = "The columns are {.val {names(data)}}."
    ), arg = "raters", call = call)
  }
  if (any(kinds)) names(kinds)[kinds] else "wide"
}

select_columns <- function(data, quo, arg, call) {
  if (rlang::quo_is_null(quo)) {
    return(character())
  }
  names(data)[tryCatch(
    tidyselect::eval_select(quo, as.data.frame(data), allow_rename = FALSE),
    error = function(cnd) {
      abort_fallible("columns", c(
        "{.arg {arg}} must select columns of {.arg data}.",
        "i" = "The columns are {.val {names(data)}}."
      ), arg = arg, parent = cnd, call = call)
    }
  )]
}

select_column <- function(data, quo, arg, call) {
  if (rlang::quo_is_null(quo)) {
    return(NULL)
  }
  # A vector would be taken for numbers of columns.
  value <- if (rlang::quo_is_call(quo)) tryCatch(rlang::eval_tidy(quo), error = function(cnd) NULL)
  if (is.atomic(value) && length(value) > 1L) {
    abort_fallible("columns", c(
      "{.arg {arg}} must name a column of {.arg data}.",
      "x" = "It is {describe(value)}.",
      "i" = "Put the values into a column of {.arg data} and name that."
    ), arg = arg, call = call)
  }
  name <- select_columns(data, quo, arg, call)
  if (length(name) != 1L) {
    abort_fallible("columns", c(
      "{.arg {arg}} must select one column of {.arg data}.",
      "x" = "It selects {length(name)}.",
      if (arg == "rating") c("i" = "If they are one column for each label of an answer, say
                                    {.code repeats = \"labels\"}.")
    ), arg = arg, call = call)
  }
  name
}

check_disjoint <- function(roles, layout, call) {
  if (layout != "wide") names(roles)[[1L]] <- if (layout == "long") "rating" else "counts"
  all <- unlist(roles, use.names = FALSE)
  twice <- unique(all[duplicated(all)])
  if (length(twice) > 0L) {
    in_roles <- names(roles)[vapply(roles, function(r) any(twice %in% r), logical(1L))]
    abort_fallible("columns", c(
      "A column of {.arg data} can have only one role.",
      "x" = "{.val {twice}} {?is/are} selected by {.arg {in_roles}}."
    ), arg = in_roles, call = call)
  }
}

# The systems as a data frame, if that is what the user gave; NULL if they are columns or absent.
system_table <- function(quo, data, call) {
  if (rlang::quo_is_null(quo)) {
    return(NULL)
  }
  if (rlang::quo_is_symbol(quo) && rlang::as_name(quo) %in% names(data)) {
    return(NULL)
  }
  table <- tryCatch(rlang::eval_tidy(quo), error = function(cnd) NULL)
  if (!is.data.frame(table)) {
    return(NULL)
  }
  lacking <- setdiff(c("case", "system", "prediction"), names(table))
  if (length(lacking) > 0L) {
    abort_fallible("columns", c(
      "{.arg systems} must have columns {.val case}, {.val system} and {.val prediction}.",
      "x" = "It lacks {.val {lacking}}; it has {.val {names(table)}}."
    ), arg = "systems", call = call)
  }
  if (nrow(table) == 0L) {
    abort_fallible("system", "{.arg systems} has no rows.", system = character(), call = call)
  }
  check_labels(table$prediction, "prediction", call)
  table$case <- unfactor(table$case)
  table$prediction <- clean_levels(table$prediction)
  table
}

# A level that stands for missing values is no category, nor is an empty one that nobody used.
clean_levels <- function(x) {
  if (!is.factor(x) || !any(levels(x) %in% c(NA, ""))) {
    return(x)
  }
  factor(x, levels = setdiff(levels(x), c(NA, if (!"" %in% x) "")))
}

unfactor <- function(x) if (is.factor(x)) as.character(x) else x

check_labels <- function(x, column, call) {
  if (!(is.factor(x) || is_plain(x, c("character", "numeric", "logical")))) {
    abort_fallible("columns", c(
      "Categories must be factors, strings, logicals or numbers.",
      "x" = "Column {.val {column}} is {describe(x)}.",
      if (is.list(x)) c("i" = "If it holds several labels for an answer, say
                               {.code repeats = \"labels\"} in long data.")
    ), arg = column, call = call)
  }
  # Only texts can be empty, and comparing all of them is slow.
  row <- if (is.character(x) || (is.factor(x) && "" %in% levels(x))) match("", x)
  if (!is.null(row) && !is.na(row)) {
    abort_fallible("blank", c(
      "A category cannot be an empty string.",
      "x" = "Found one in column {.val {column}}, row {row}.",
      "i" = "Use {.code NA} for a missing rating."
    ), row = row, column = column, call = call)
  }
}

check_weights <- function(x, column, call) {
  bad <- if (is.numeric(x)) which(!is.finite(x) | x < 0) else seq_along(x)
  if (length(bad) > 0L) {
    abort_fallible("weights", c(
      "Weights must be finite numbers of at least zero.",
      "x" = "Row {bad[[1L]]} of column {.val {column}} holds {.val {x[[bad[[1L]]]]}}.",
      "i" = "{length(bad)} row{?s} {?is/are} not usable."
    ), row = bad, call = call)
  }
  if (sum(x) > 2^53) {
    abort_fallible("weights", c(
      "Weights must not sum to more than 2^53, beyond which cases cannot be counted.",
      "x" = "Column {.val {column}} sums to {format(sum(x))}."
    ), row = which.max(x), call = call)
  }
  if (sum(x) == 0) {
    abort_fallible("weights", c(
      "At least one weight must be above zero.",
      "x" = "All of column {.val {column}} is zero."
    ), row = seq_along(x), call = call)
  }
  as.double(x)
}

# A vector of one of these modes without a class, whose values are what they seem to be.
is_plain <- function(x, modes) !is.object(x) && is.null(dim(x)) && mode(x) %in% modes

# Numbers as labels: 100000 is 1e5.
as_label <- function(x) {
  if (!is.numeric(x)) {
    return(as.character(x))
  }
  whole <- is.finite(x) & x == round(x) & abs(x) < 1e15
  out <- as.character(x)
  out[whole] <- sprintf("%.0f", x[whole])
  out
}

# Labels that occur in a column, in the order in which they should be listed; factor levels are a
# declaration and count even if unused.
column_labels <- function(x) {
  if (is.factor(x)) levels(x) else as_label(sort(unique(x), method = "radix"))
}

# The same over several columns.
list_labels <- function(columns) {
  columns <- Filter(function(x) is.factor(x) || !all(is.na(x)), columns)
  numeric <- vapply(columns, is.numeric, logical(1L))
  labels <- unique(unlist(lapply(columns, column_labels), use.names = FALSE))
  if (all(numeric)) {
    labels[order(as.numeric(labels))]
  } else if (any(vapply(columns, is.factor, logical(1L)))) {
    labels
  } else {
    sort(labels, method = "radix")
  }
}

find_categories <- function(input, declared, call) {
  found <- if (input$layout == "counts") names(input$columns) else list_labels(input$columns)
  categories <- if (is.null(declared)) found else check_declared(declared, call)
  if (length(categories) < 2L && (length(found) > 0L || !is.null(declared))) {
    found <- if (length(categories) > 0L) "only {.val {categories}}" else "none"
    abort_fallible("categories_few", c(
      "At least two categories are needed.",
      "x" = paste0("Found ", found, "."),
      "i" = "If there are categories that nobody used, declare the labels of all of them with
             {.arg categories}."
    ), categories = categories, call = call)
  }
  if (length(categories) > max_categories) {
    abort_fallible("categories_many", c(
      "More than {max_categories} categories cannot be handled.",
      "x" = "Found {length(categories)}: {shorten(categories, most = 3L)}.",
      "i" = "Is the column of ratings the right one?"
    ), categories = categories, call = call)
  }
  if (is.null(declared)) warn_labels(categories, input)
  categories
}

# Signs that labels found in the data are not all categories.
warn_labels <- function(labels, input) {
  plain <- tolower(trimws(labels))
  alike <- labels[plain %in% plain[duplicated(plain)]]
  if (length(alike) > 0L) {
    warn_fallible("labels", c(
      "Categories differ only in capitals or blanks: {.val {alike}}.",
      "i" = "They count as different. Mend the labels, or declare {.arg categories}."
    ), labels = alike)
  }
  if (length(labels) > 20L && length(labels) > input$rows / 2) {
    warn_fallible("labels", c(
      "There are {length(labels)} categories in {input$rows} row{?s}.",
      "i" = "Are all columns of ratings what they should be? If so, declare {.arg categories}."
    ), labels = labels)
  }
}

check_declared <- function(categories, call) {
  labels <- if (is.atomic(categories)) as_label(categories)
  twice <- unique(labels[duplicated(labels)])
  if (length(twice) > 0L) {
    abort_fallible("argument", c(
      "{.arg categories} must be labels that differ.",
      "x" = "{.val {twice}} {?stands/stand} there more than once."
    ), arg = "categories", call = call)
  }
  if (length(labels) == 0L || anyNA(labels) || "" %in% labels) {
    abort_fallible("argument", c(
      "{.arg categories} must be labels, none of them missing or empty.",
      "x" = "It is {describe(categories)}."
    ), arg = "categories", call = call)
  }
  labels
}

# Integer codes of the labels in a column; a label that is not a category is an error.
encode <- function(x, categories, column, role, call, rows = seq_along(x)) {
  code <- if (is.factor(x)) {
    match(levels(x), categories)[as.integer(x)]
  } else if (is.character(x)) {
    match(x, categories)
  } else if (is.integer(x) && all(grepl("^(0|-?[1-9][0-9]{0,8})$", categories))) {
    match(x, as.integer(categories))
  } else {
    values <- unique(x)
    match(as_label(values), categories)[match(x, values)]
  }
  if (anyNA(code)) {
    unknown <- which(is.na(code) & !is.na(x))
    if (length(unknown) > 0L) {
      abort_unknown(x[[unknown[[1L]]]], rows[unknown], categories, column, role, call)
    }
  }
  code
}

abort_unknown <- function(found, rows, categories, column, role, call) {
  found <- as_label(found)
  abort_fallible("category", c(
    "{if (role == 'system') 'A system' else 'A rater'} uses a category that is not declared.",
    "x" = "Row {rows[[1L]]} of column {.val {column}} holds {.val {found}}.",
    if (length(rows) > 1L) c("x" = "So do others: {length(rows)} rows are not usable."),
    "i" = "The categories are {.val {categories}}; declare more with {.arg categories}, or mend
           the label."
  ), row = rows, column = column, found = found, call = call)
}

encode_all <- function(columns, categories, role, call) {
  Map(function(x, name) encode(x, categories, name, role, call), columns, names(columns))
}
