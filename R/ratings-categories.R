# Categories: converts values to labels, finds the categories among them, and assigns codes.

#' @srrstats {G2.16} infinite numbers are no categories, and NaN is missing
#' @noRd
NULL

plain_columns <- function(data) {
  columns_of_class <- function(class) names(data)[map_lgl(data, inherits, class)]
  for (name in columns_of_class("integer64")) data[[name]] <- plain_integers(data[[name]])
  labelled_columns <- columns_of_class("haven_labelled")
  for (name in labelled_columns) data[[name]] <- labelled_factor(data[[name]])
  if (!is_empty(labelled_columns)) inform_fallible("Columns with value labels (of {.pkg haven})
      are read as factors: {shorten(dQuote(labelled_columns, FALSE))}.")
  data
}

# Converts a column with value labels (of package haven) to a factor. Its levels are the labels, and
# the values without a label. Values that the column declares as missing become NA.
labelled_factor <- function(x) {
  labels <- attr(x, "labels") %||% c(none = 0)[0L]
  missing_range <- attr(x, "na_range") %||% c(Inf, -Inf)
  levels <- sort_strings(setdiff(c(labels, unclass(x)), c(NA, attr(x, "na_values"))))
  levels <- levels[levels < missing_range[[1L]] | levels > missing_range[[2L]]]
  label_names <- names(labels)[match(levels, labels)]
  factor(as.vector(unclass(x)), levels, ifelse(is.na(label_names), as_label(levels), label_names))
}

# Converts a column of class integer64. The result is numeric if all values are below 2^53, because
# larger whole numbers are not exact as doubles. Otherwise the result contains strings, which needs
# package bit64. Without bit64 the column is returned unchanged. Each value is stored in 8 bytes,
# and is read here as two 32-bit integers.
plain_integers <- function(x) {
  if (!inherits(x, "integer64")) return(x)
  bytes <- writeBin(as.vector(unclass(x)), raw(), endian = "little")
  bit_halves <- matrix(readBin(bytes, "integer", 2L * length(x), endian = "little"), 2L)
  bit_halves[is.na(bit_halves)] <- -2^31 # R reads the bits of this integer as NA
  low_word <- bit_halves[1L, ] %% 2^32
  high_word <- bit_halves[2L, ]
  numbers <- ifelse(high_word == -2^31 & low_word == 0, NA, high_word * 2^32 + low_word)
  if (all(abs(numbers) < 2^53, na.rm = TRUE)) numbers else
    if (is_bit64_loaded()) as.character(x) else x
}

is_bit64_loaded <- function() isNamespaceLoaded("bit64")

# Converts values to labels (strings). Equal numbers get the same label, independent of R's options:
# 1e5 becomes "100000", and -0 becomes "0".
as_label <- function(x) {
  x <- plain_integers(x)
  if (!is.numeric(x)) return(check_text(as.character(x), NULL))
  is_whole <- is.finite(x) & x == round(x) & abs(x) <= 2^53
  old_options <- options(OutDec = ".", scipen = 0L)
  on.exit(options(old_options))
  labels <- as.character(x)
  labels[is_whole] <- sprintf("%.0f", x[is_whole] + 0)
  labels
}

# Returns the labels of a column: all levels of a factor, or the sorted distinct values of another
# vector.
column_labels <- function(x) if (is.factor(x)) levels(x) else as_label(sort_strings(unique(x)))

# Returns the labels of several columns, in numeric order if all labels are numbers, and otherwise
# sorted as text. Factors keep the order of their levels, unless they contradict each other.
list_labels <- function(columns) {
  columns <- Filter(function(x) is.factor(x) || any_known(x), columns)
  labels <- unique(unlist(lapply(columns, column_labels), use.names = FALSE))
  factor_orders <- label_orders(columns)
  # If "-" and "+" are the only labels, "+" comes last, because it is the positive category.
  if (is_empty(factor_orders) && is.null(as_numbers(labels)))
    return(if (setequal(labels, c("-", "+"))) c("-", "+") else sort_strings(labels))
  # If there are factors, labels that are not numbers stay in the order of the columns.
  labels <- labels[order(as_numbers(labels) %||% seq_along(labels))]
  merge_orders(factor_orders, labels) %||% labels
}

# Converts labels to numbers. Returns NULL if any label is not a number.
as_numbers <- function(labels) {
  numbers <- suppressWarnings(as.numeric(labels))
  if (!anyNA(numbers)) numbers
}

# Returns a list of the distinct orders of levels among the factors in `columns`. If there are
# ordered factors, only these are used.
label_orders <- function(columns) {
  determines_order <- if (any(map_lgl(columns, is.ordered))) is.ordered else is.factor
  is_ordering_column <- map_lgl(columns, determines_order)
  unique(lapply(columns[is_ordering_column], function(x) {
    labels <- levels(x)
    # factor() sorts numbers in text columns as text ("1", "10", "2"). Such levels are sorted as
    # numbers.
    is_sorted_as_text <- list(labels) %in% list(sort_strings(labels), sort(labels))
    numbers <- if (!is.ordered(x) && is_sorted_as_text) as_numbers(labels)
    labels[order(numbers %||% seq_along(labels))]
  }))
}

# Merges several orders of labels into one order that agrees with all of them. Returns NULL if they
# contradict each other.
# * orders: a list of label vectors.
# * labels: all labels. Labels that are in none of the orders stay in this sequence. More than
#   `max_categories` labels are returned unchanged, because ratings cannot have more categories.
merge_orders <- function(orders, labels) {
  position_orders <- lapply(orders, match, labels)
  if (!any(map_lgl(position_orders, is.unsorted)) || length(labels) > max_categories) return(labels)
  merged_positions <- integer()
  while (length(merged_positions) < length(labels)) {
    later_positions <- unlist(lapply(position_orders, `[`, -1L))
    next_position <- setdiff(seq_along(labels), c(merged_positions, later_positions))[1L]
    if (is.na(next_position)) return(NULL)
    merged_positions <- c(merged_positions, next_position)
    position_orders <- lapply(position_orders, setdiff, next_position)
  }
  labels[merged_positions]
}

find_categories <- function(input, declared_labels) {
  used_labels <- if (input$layout$labels) list_labels(input$columns) else names(input$columns)
  categories <- if (is.null(declared_labels)) used_labels else
    check_declared_categories(declared_labels)
  abort_if(length(categories) < 2L && (!is_empty(used_labels) || !is.null(declared_labels)),
    "categories_few", "At least two categories are needed.", x = describe_found_labels(categories),
    i = "If there are categories that no rater used, give the labels of all categories as
        {.arg categories}.", categories = categories)
  if (length(categories) > max_categories) abort_too_many_categories(categories)
  if (is.null(declared_labels)) warn_labels(categories, input)
  categories
}

# Returns a sentence for errors about too few labels. It lists the labels that were found.
describe_found_labels <- function(labels) {
  if (!is_empty(labels)) paste0("Found only ", escape_braces(dQuote(labels, FALSE)), ".") else
    "Found none."
}

abort_too_many_categories <- function(categories) {
  abort_fallible("categories_many", "There can be at most {max_categories} categories.",
    x = "Found {length(categories)}: {shorten(categories, most = 3L)}.",
    i = "Check that the columns of ratings are the right ones.", categories = categories)
}

# Replaces labels of ratings and systems by the names of the argument `categories`.
recode_input <- function(input, categories) {
  if (!has_names(categories)) return(input)
  abort_argument_if(!input$layout$labels, "categories",
    "With {.arg counts}, {.arg categories} must not have names, which would recode labels.",
    x = "{.arg data} has counts of ratings.",
    i = "To merge categories, add up their columns in {.arg data}, and give {.arg categories}
        without names.")
  old_labels <- check_declared_categories(categories)
  new_labels <- ifelse(nzchar(names(categories)), names(categories), old_labels)
  inform_changed_labels(
    "Labels were replaced by the names of {.arg categories}.", old_labels, new_labels
  )
  relabel_input(input, old_labels, new_labels)
}

# Replaces the labels `old_labels` by the labels `new_labels` in ratings, answers of systems and
# truths. Labels become missing where `new_labels` is NA.
relabel_input <- function(input, old_labels, new_labels) {
  replace_labels <- function(labels) {
    position <- match(labels, old_labels)
    ifelse(is.na(position), labels, new_labels[position])
  }
  input <- modify_fields(
    input, intersect(c("columns", "systems", "truth"), names(input)), lapply, relabel,
    replace_labels
  )
  if (!is.null(input$system_table))
    input$system_table$prediction <- relabel(input$system_table$prediction, replace_labels)
  input
}

# Replaces the labels of a column. A list column is returned unchanged. `replace_labels`: function
# of labels that returns the new labels.
relabel <- function(x, replace_labels) {
  if (is.list(x)) return(x)
  if (is.factor(x)) {
    levels(x) <- replace_labels(levels(x))
    return(x)
  }
  labels <- as_label(x)
  replaced_labels <- replace_labels(labels)
  # If labels only become missing, a column of numbers stays a column of numbers.
  if (any(replaced_labels != labels, na.rm = TRUE)) replaced_labels else
    replace(x, is.na(replaced_labels), NA)
}

# Removes blanks at the ends of the names of cases, raters and systems, with a message.
trim_names <- function(input) {
  # If several columns identify cases, an identifier contains their values, separated by "/".
  trim_case <- if (is.null(input$keys)) trimws else function(x) gsub(" */ *", "/", trimws(x))
  cases <- unique(as_label(input$case))
  judges <- unique(c(as_label(input$rater), as_label(input$system_table$system)))
  inform_changed_labels("Blanks at the ends of names were removed.", c(cases, judges),
    c(trim_case(cases), trimws(judges)))
  trim <- function(x) {
    x <- modify_fields(x, intersect(c("case", "row_case"), names(x)), relabel, trim_case)
    modify_fields(x, intersect(c("rater", "system"), names(x)), relabel, trimws)
  }
  modify_fields(trim(input), intersect(c("system_table", "groups"), names(input)), trim)
}

# Applies the arguments `na` and `clean_labels` of ratings(). read_input() calls this function
# before and after expand_answers(), which converts list columns to columns of labels. The first
# call does not change list columns. The second call does not change labels that are already clean.
resolve_input_labels <- function(input, options) {
  if (is.null(options$na) && !options$clean) return(input)
  if (options$clean) input <- trim_names(input)
  abort_argument_if(!input$layout$labels, c("na", "clean_labels"),
    "Counts have no labels that {.arg na} or {.arg clean_labels} could change.")
  old_labels <- labels_by_frequency(lapply(Filter(is.atomic, label_columns(input)), function(x) {
    c(as_label(x), levels(x))
  }))
  is_na_label <- plain_label(old_labels) %in% plain_label(as_label(options$na))
  if (any(is_na_label))
    inform_fallible("Some labels were read as missing ratings: {.val {old_labels[is_na_label]}}.",
      i = "If one of these labels is a category, leave it out of {.arg na}.")
  new_labels <- old_labels
  if (options$clean) {
    input$covariates <- modify_fields(
      input$covariates, map_lgl(input$covariates, is.character),
      function(column) clean_columns(list(column))[[1L]]
    )
    new_labels[!is_na_label] <- clean_label(old_labels[!is_na_label])
  }
  inform_changed_labels("Labels were cleaned.", old_labels, new_labels)
  relabel_input(input, old_labels, replace(new_labels, is_na_label, NA))
}

# Returns the full list of categories that the argument `categories` declares. If an element has a
# name, the name is the category. If all elements have names, `categories` only renames labels, and
# the result is NULL.
declared_categories <- function(categories) {
  is_named <- have_name(categories)
  if (all(is_named)) NULL else if (any(is_named))
    unique(ifelse(is_named, names(categories), as_label(categories))) else categories
}

# Warns about labels that may not be categories: variants of other labels, labels that look equal,
# and codes for missing ratings. Also warns if there are many labels: more than 20, and more than
# half of the number of rows.
warn_labels <- function(labels, input) {
  warn_about <- function(suspects, message, hint, labels = suspects) {
    warn_if(suspects, "labels", message, i = hint, labels = labels)
  }
  frequent_variant <- match_categories(labels, labels, input)
  is_rare_variant <- labels != frequent_variant
  rare_labels <- labels[is_rare_variant]
  frequent_labels <- frequent_variant[is_rare_variant]
  warn_about(rare_labels, "Some categories differ in capitals or blanks, or in one
      letter, from more frequent categories: {.val {suspects}}.",
    correction_hints("They count as different. To merge them",
      list_labels(label_columns(input)), labels, input),
    labels[labels %in% c(rare_labels, frequent_labels)])
  warn_about(find_lookalikes(labels), "Some categories look the same, or are the same number:
      {.val {suspects}}. They differ in alphabet, in invisible characters, in how accents are
      stored, or in how digits are written.", "They count as different. Use the same characters
      in {.arg data} if they mean the same.")
  # Names of the elements of `categories` are categories that the user chose, so they are not
  # reported.
  suspected_codes <- setdiff(missing_codes(labels), names(input$given_categories))
  warn_about(suspected_codes,
    "Some categories look like codes for missing ratings: {.val {suspects}}.",
    c("They are treated as categories. If this is right, list all categories in {.arg categories},
        which ends this warning.",
      missing_label_hint(suspected_codes, input)))
  n_rows <- if (is.null(input$times)) input$rows else sum(input$times)
  has_many_labels <- length(labels) > 20L && length(labels) > n_rows / 2
  warn_about(if (has_many_labels) c(length(labels), n_rows),
    "There are {suspects[[1L]]} categories in {suspects[[2L]]} row{?s}.",
    c("Check the columns of ratings, or give {.arg categories}.",
      if (all(grepl("^[0-9]*[.]", labels))) "If these are probabilities of
        systems, give them as {.arg scores}."),
    labels)
}

# Warns if the order of the categories is a guess. It is a guess if labels are not numbers, and the
# levels of factors do not determine the order.
warn_guessed_order <- function(labels, input) {
  orders <- label_orders(input$columns)
  is_order_guessed <- length(labels) > 2L && input$layout$labels &&
    (!all(labels %in% unlist(orders)) || is.null(merge_orders(orders, labels))) &&
    (is.null(as_numbers(labels)) || is.unsorted(as_numbers(labels)))
  quoted_labels <- dQuote(labels, FALSE) # nolint: object_usage.
  reason <- if (is_empty(orders)) "labels are sorted as text" else # nolint: object_usage.
    "the levels of factors contradict each other or lack labels"
  warn_if(is_order_guessed, "order",
    "The order of the categories is a guess, because {reason}:
        {paste(quoted_labels, collapse = ' < ')}.",
    i = "Give the categories from lowest to highest, as in
        {.code categories = c({toString(quoted_labels)})}.",
    categories = labels)
}

# Warns about raters who use no category that another rater uses. Their columns probably contain no
# ratings, or different labels for the same categories. In long data, raters with fewer than 5
# ratings are not checked, because they may use only one category.
warn_unshared_labels <- function(x, by_rating) {
  category_count <- n_categories(x)
  rater_label_pairs <- unique((rating_rater(x) - 1) * category_count + rating_category(x) - 1)
  rater_of_pair <- rater_label_pairs %/% category_count + 1
  category_of_pair <- rater_label_pairs %% category_count + 1
  is_shared <- category_of_pair %in% repeated_values(category_of_pair)
  raters_sharing_no_label <- setdiff(rater_of_pair, c(rater_of_pair[is_shared], x$abstained$rater))
  if (by_rating) raters_sharing_no_label <-
    raters_sharing_no_label[ratings_of_raters(x)[raters_sharing_no_label] >= 5]
  labels <- x$categories[category_of_pair[rater_of_pair %in% raters_sharing_no_label]]
  warn_if(n_distinct(rater_of_pair) > 1L && !is_empty(raters_sharing_no_label), "labels",
    "No other rater uses the labels of {.val {x$raters[sort(raters_sharing_no_label)]}}:
        {shorten(dQuote(labels, FALSE))}.",
    i = "If {cli::qty(length(raters_sharing_no_label))}{?this is not a column/these are not columns}
        of ratings, choose other columns as {.arg raters}. If labels mean the same, merge them:
        {.code categories = c(yes = \"1\")} replaces {.val 1} by {.val yes}.", labels = labels)
}

check_declared_categories <- function(categories) {
  check_text(categories, "categories")
  labels <- if (is.atomic(categories)) as_label(categories)
  repeated_labels <- repeated_values(labels)
  abort_argument_if(repeated_labels, "categories", "must be different labels.",
    x = "{.val {repeated_labels}} {?is/are} repeated.")
  abort_argument_if(
    is_empty(labels) || any(labels %in% c(NA, "")) || any(is.infinite(categories)),
    "categories", "must be labels, none of them missing, empty or infinite.", not = categories)
  labels
}

# Returns the index in `labels` of the label of each value; NA if it is not among them.
label_codes <- function(x, labels) {
  if (is.factor(x)) {
    match(levels(x), labels)[as.integer(x)]
  } else if (is.character(x)) {
    match(x, labels)
  } else {
    distinct_values <- unique(x)
    match(as_label(distinct_values), labels)[match(x, distinct_values)]
  }
}

# Counts how often each of `labels` occurs in the columns.
tabulate_labels <- function(columns, labels) {
  n_labels <- length(labels)
  Reduce(`+`, lapply(columns, function(x) tabulate(label_codes(x, labels), n_labels)),
    integer(n_labels))
}

# Converts the labels of a column to integer codes, NA for a missing label. Fails for a label that
# is not in `categories`.
encode_labels <- function(x, categories, input) {
  code <- label_codes(x, categories)
  if (anyNA(code[!is.na(x)])) abort_undeclared_label(categories, input)
  code
}
