# Categories: converts values to labels, finds the categories among them, and assigns codes.

#' @srrstats {G2.16} infinite numbers are no categories, and NaN is missing
#' @noRd
NULL

plain_columns <- function(data) {
  columns_of_class <- function(class) names(data)[map_lgl(data, inherits, class)]
  for (name in columns_of_class("integer64")) data[[name]] <- plain_integers(data[[name]])
  labelled_columns <- columns_of_class("haven_labelled")
  for (name in labelled_columns) data[[name]] <- labelled_factor(data[[name]])
  if (length(labelled_columns) > 0L) inform_fallible("Columns with value labels (of {.pkg haven})
      are read as factors: {shorten(dQuote(labelled_columns, FALSE))}.")
  data
}

# Converts a column with value labels (of haven) to a factor. Its levels are the labels, and the
# values that have no label. Values that the column declares to be missing become NA.
labelled_factor <- function(x) {
  labels <- attr(x, "labels") %||% c(none = 0)[0L]
  missing_range <- attr(x, "na_range") %||% c(Inf, -Inf)
  levels <- sort_strings(setdiff(c(labels, unclass(x)), c(NA, attr(x, "na_values"))))
  levels <- levels[levels < missing_range[[1L]] | levels > missing_range[[2L]]]
  label_names <- names(labels)[match(levels, labels)]
  factor(as.vector(unclass(x)), levels, ifelse(is.na(label_names), as_label(levels), label_names))
}

# Converts a column of class integer64 to numbers if all of them are below 2^53 (2^53 is the double
# of 2^53 and of 2^53 + 1), and otherwise to strings. Strings need package bit64; without it the
# column is returned as it is. Each value is stored in the 8 bytes of a double, and is read here as
# two 32-bit integers.
plain_integers <- function(x) {
  if (!inherits(x, "integer64")) return(x)
  bytes <- writeBin(as.vector(unclass(x)), raw(), endian = "little")
  words <- matrix(readBin(bytes, "integer", 2L * length(x), endian = "little"), 2L)
  words[is.na(words)] <- -2^31 # R reads the bits of this integer as NA
  low_word <- words[1L, ] %% 2^32
  high_word <- words[2L, ]
  values <- ifelse(high_word == -2^31 & low_word == 0, NA, high_word * 2^32 + low_word)
  if (all(abs(values) < 2^53, na.rm = TRUE)) values else
    if (bit64_is_loaded()) as.character(x) else x
}

bit64_is_loaded <- function() isNamespaceLoaded("bit64")

# Converts values to labels (strings). Equal numbers have the same label, whatever the options of R:
# 1e5 is "100000", and -0 is "0".
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

# Labels of a column: the levels of a factor, also unused ones, or the sorted distinct values.
column_labels <- function(x) if (is.factor(x)) levels(x) else as_label(sort_strings(unique(x)))

# Labels of several columns, without columns that have no values. They are in the order of the
# levels of factors. Labels that no factor orders are in numeric order if all labels are numbers,
# and otherwise in order of appearance. Without factors, labels of text columns are sorted.
list_labels <- function(columns) {
  columns <- Filter(function(x) is.factor(x) || !all(is.na(x)), columns)
  labels <- unique(unlist(lapply(columns, column_labels), use.names = FALSE))
  orders <- label_orders(columns)
  if (length(orders) == 0L && !all(map_lgl(columns, is.numeric))) return(sort_strings(labels))
  labels <- labels[order(as_numbers(labels) %||% seq_along(labels))]
  merge_orders(orders, labels) %||% labels
}

# Numbers of labels; NULL if some label is no number.
as_numbers <- function(labels) {
  numbers <- suppressWarnings(as.numeric(labels))
  if (!anyNA(numbers)) numbers
}

# Different orders of labels in the columns, a list of vectors: the levels of ordered factors or, if
# there are none, of all factors. factor() sorts numbers in columns of text as text ("1", "10",
# "2"). Levels in this order are returned in numeric order.
label_orders <- function(columns) {
  is_used <- map_lgl(columns, if (any(map_lgl(columns, is.ordered))) is.ordered else is.factor)
  unique(lapply(columns[is_used], function(x) {
    labels <- levels(x)
    numbers <- if (!is.ordered(x) && identical(labels, sort_strings(labels))) as_numbers(labels)
    labels[order(numbers %||% seq_along(labels))]
  }))
}

# Merges `orders`, a list of vectors of labels, to one order that agrees with all of them. Labels
# that no vector orders stay in the order of `labels`, which contains all labels. Returns NULL if
# the orders contradict each other. More labels than there may be categories are not merged.
merge_orders <- function(orders, labels) {
  orders <- lapply(orders, match, labels)
  if (!any(map_lgl(orders, is.unsorted)) || length(labels) > max_categories) return(labels)
  merged <- integer()
  while (length(merged) < length(labels)) {
    later <- unlist(lapply(orders, `[`, -1L))
    first <- setdiff(seq_along(labels), c(merged, later))[1L]
    if (is.na(first)) return(NULL)
    merged <- c(merged, first)
    orders <- lapply(orders, setdiff, first)
  }
  labels[merged]
}

find_categories <- function(input, declared) {
  used_labels <- if (input$layout$labels) list_labels(input$columns) else names(input$columns)
  categories <- if (is.null(declared)) used_labels else check_declared(declared)
  abort_if(length(categories) < 2L && (length(used_labels) > 0L || !is.null(declared)),
    "categories_few", "At least two categories are needed.", x = found_only(categories),
    i = "If there are categories that no rater used, give the labels of all categories as
        {.arg categories}.", categories = categories)
  if (length(categories) > max_categories) abort_too_many_categories(categories)
  if (is.null(declared)) warn_labels(categories, input)
  categories
}

# Text for errors: the labels that were found, if they are fewer than needed.
found_only <- function(labels) {
  if (length(labels) > 0L) paste0("Found only ", escape_braces(dQuote(labels, FALSE)), ".") else
    "Found none."
}

abort_too_many_categories <- function(categories) {
  abort_fallible("categories_many", "There can be at most {max_categories} categories.",
    x = "Found {length(categories)}: {shorten(categories, most = 3L)}.",
    i = "Check that the columns of ratings are the right ones.", categories = categories)
}

# Replaces labels of ratings and systems by the names of `categories`.
recode_input <- function(input, categories) {
  if (is.null(names(categories))) return(input)
  abort_argument_if(!input$layout$labels, "categories",
    "With {.arg counts}, {.arg categories} must not have names, which would recode labels.",
    x = "{.arg data} has counts of ratings.",
    i = "To merge categories, add up their columns in {.arg data}, and give {.arg categories}
        without names.")
  old <- check_declared(categories)
  new <- ifelse(nzchar(names(categories)), names(categories), old)
  inform_changed("Labels were replaced by the names of {.arg categories}.", old, new)
  relabel_input(input, old, new)
}

# Replaces the labels `old` by `new` in ratings, answers of systems and truths. Labels whose `new`
# is NA become missing.
relabel_input <- function(input, old, new) {
  new_labels <- function(labels) {
    position <- match(labels, old)
    ifelse(is.na(position), labels, new[position])
  }
  relabel <- function(x) {
    if (is.list(x)) return(x)
    if (is.factor(x)) {
      levels(x) <- new_labels(levels(x))
      return(x)
    }
    before <- as_label(x)
    after <- new_labels(before)
    # Numbers stay numbers if labels only become missing.
    if (any(after != before, na.rm = TRUE)) after else replace(x, is.na(after), NA)
  }
  fields <- intersect(c("columns", "systems", "truth"), names(input))
  input <- modify_fields(input, fields, lapply, relabel)
  if (!is.null(input$system_table))
    input$system_table$prediction <- relabel(input$system_table$prediction)
  input
}

# Applies the arguments `na` and `clean_labels` of ratings(). read_input() calls it twice, because
# labels in list columns are known only after the first call. The second call leaves labels that
# the first call has changed as they are.
resolve_input_labels <- function(input, options) {
  if (is.null(options$na) && !options$clean) return(input)
  abort_argument_if(!input$layout$labels, c("na", "clean_labels"),
    "Counts have no labels that {.arg na} or {.arg clean_labels} could change.")
  columns <- c(input$columns, input$systems, input$truth, input$system_table["prediction"])
  old <- labels_by_frequency(lapply(Filter(is.atomic, columns), function(x) {
    c(as_label(x), levels(x))
  }))
  is_missing <- plain_label(old) %in% plain_label(as_label(options$na))
  if (any(is_missing))
    inform_fallible("Some labels were read as missing ratings: {.val {old[is_missing]}}.",
      i = "If they are categories, change {.arg na}.")
  new <- old
  if (options$clean) input$covariates <-
    modify_fields(input$covariates, map_lgl(input$covariates, is.character), function(column) {
      clean_columns(list(column))[[1L]]
    })
  if (options$clean) new[!is_missing] <- clean_label(old[!is_missing])
  inform_changed("Labels were cleaned.", old, new)
  relabel_input(input, old, replace(new, is_missing, NA))
}

# Categories that the argument `categories` declares. An element with a name recodes a label, and
# its name is the category. NULL if all elements have names, because the data may then have other
# categories, too.
declared_categories <- function(categories) {
  is_named <- have_name(categories)
  if (all(is_named)) NULL else if (any(is_named))
    unique(ifelse(is_named, names(categories), as_label(categories))) else categories
}

# For each label, the frequent label of which it is probably a variant: the most frequent label that
# differs only in capitals and blanks. If this most frequent label is probably a misspelling of
# another label, the other label is returned.
merge_variants <- function(labels, input) {
  by_count <- labels[order(-tabulate_labels(input$columns, labels))]
  main_form <- function(label) by_count[match(plain_label(label), plain_label(by_count))]
  variant <- main_form(labels)
  corrections <- if (input$layout$labels) misspelt_labels(labels, input$columns)
  main_form(ifelse(variant %in% names(corrections), corrections[variant], variant))
}

# Warns of labels that may not be categories: variants of other labels, labels that look the same,
# codes for missing ratings, and more than 20 labels if they are many for the number of rows.
warn_labels <- function(labels, input) {
  warn_about <- function(suspects, message, hint, labels = suspects) {
    warn_if(suspects, "labels", message, i = hint, labels = labels)
  }
  plain <- plain_label(labels)
  frequent_variant <- merge_variants(labels, input)
  is_rare_variant <- labels != frequent_variant
  rare <- labels[is_rare_variant]
  frequent <- frequent_variant[is_rare_variant]
  recoding <- toString(paste(dQuote(frequent, FALSE), "=", dQuote(rare, FALSE)))
  warn_about(rare, "Some categories differ in capitals or blanks, or in one
      letter, from frequent ones: {.val {suspects}}.", c(
    paste0(
      "They count as different. To merge them, give {.code categories = c(",
      escape_braces(recoding), ")}."
    ),
    if (any(plain[is_rare_variant] %in% repeated_values(plain))) "{.code clean_labels = TRUE} merges
        labels that differ only in capitals and blanks."
  ), labels[labels %in% c(rare, frequent)])
  warn_about(find_lookalikes(labels), "Some categories look the same, or are the same number:
      {.val {suspects}}. They differ in alphabet, in invisible characters, in how accents are
      stored, or in how digits are written.", "They count as different. Use the same characters
      in {.arg data} if they mean the same.")
  warn_about(missing_codes(labels), "Some categories look like codes for missing ratings:
      {.val {suspects}}.",
    paste0("They count as categories. Make them {.code NA} if they are missing ratings",
      if (!isTRUE(input$na_given)) ", or give them as {.arg na}",
      ". Give {.arg categories} if they are categories. Give them as {.arg abstain} if they are
      replies such as {.emph cannot tell}."))
  n_rows <- if (is.null(input$times)) input$rows else sum(input$times)
  has_many <- length(labels) > 20L && length(labels) > n_rows / 2
  warn_about(if (has_many) c(length(labels), n_rows),
    "There are {suspects[[1L]]} categories in {suspects[[2L]]} row{?s}.",
    c("Check the columns of ratings, or give {.arg categories}.",
      if (all(grepl("^[0-9]*[.]", labels))) "Give probabilities of systems as {.arg scores}."),
    labels)
}

# Warns that the order of the categories of `ordered = TRUE` is a guess: labels are not numbers, and
# the levels of factors do not give their order.
warn_guessed_order <- function(labels, input) {
  orders <- label_orders(input$columns)
  is_guess <- length(labels) > 2L && input$layout$labels &&
    (!all(labels %in% unlist(orders)) || is.null(merge_orders(orders, labels))) &&
    (is.null(as_numbers(labels)) || is.unsorted(as_numbers(labels)))
  quoted <- dQuote(labels, FALSE) # nolint: object_usage.
  reason <- if (length(orders) == 0L) "labels are sorted as text" else # nolint: object_usage.
    "the levels of factors contradict each other or lack labels"
  warn_if(is_guess, "order",
    "The order of the categories is a guess, because {reason}:
        {paste(quoted, collapse = ' < ')}.",
    i = "Give the categories from lowest to highest, as in
        {.code categories = c({toString(quoted)})}.",
    categories = labels)
}

# Warns of raters who use no category that another rater uses. Their column probably contains no
# ratings, or has other words for the same labels. In long data, raters with fewer than 5 ratings
# are not checked, because they may use only one category.
warn_unshared_labels <- function(x, by_rating) {
  n <- n_categories(x)
  rater_label_pairs <- unique((rating_rater(x) - 1) * n + rating_category(x) - 1)
  rater <- rater_label_pairs %/% n + 1
  category <- rater_label_pairs %% n + 1
  is_shared <- category %in% repeated_values(category)
  without_shared <- setdiff(rater, c(rater[is_shared], x$abstained$rater))
  if (by_rating) without_shared <- without_shared[ratings_of_raters(x)[without_shared] >= 5]
  labels <- x$categories[category[rater %in% without_shared]]
  warn_if(n_distinct(rater) > 1L && length(without_shared) > 0L, "labels",
    "No other rater shares a label with {.val {x$raters[sort(without_shared)]}}:
        {shorten(dQuote(labels, FALSE))}.",
    i = "If {cli::qty(length(without_shared))}{?this is no column/these are no columns} of ratings,
        choose other columns as {.arg raters}. If labels mean the same, merge them:
        {.code categories = c(yes = \"1\")} makes {.val 1} a {.val yes}.", labels = labels)
}

check_declared <- function(categories) {
  check_text(categories, "categories")
  labels <- if (is.atomic(categories)) as_label(categories)
  repeated <- repeated_values(labels)
  abort_argument_if(repeated, "categories", "must be different labels.",
    x = "{.val {repeated}} {?is/are} repeated.")
  abort_argument_if(
    length(labels) == 0L || any(labels %in% c(NA, "")) || any(is.infinite(categories)),
    "categories", "must be labels, none of them missing, empty or infinite.", not = categories)
  labels
}

# Index in `labels` of the label of each value; NA if it is not among them.
label_codes <- function(x, labels) {
  if (is.factor(x)) {
    match(levels(x), labels)[as.integer(x)]
  } else if (is.character(x)) {
    match(x, labels)
  } else if (is.integer(x) && all(grepl("^(0|-?[1-9][0-9]{0,8})$", labels))) {
    match(x, as.integer(labels))
  } else {
    distinct_values <- unique(x)
    match(as_label(distinct_values), labels)[match(x, distinct_values)]
  }
}

# Number of values of the columns that have each label.
tabulate_labels <- function(columns, labels) {
  n <- length(labels)
  Reduce(`+`, lapply(columns, function(x) tabulate(label_codes(x, labels), n)), integer(n))
}

# Converts the labels of a column to integer codes, NA for a missing label. Fails for a label that
# is not in `categories`. `role`: "rater", "system" or "truth", for the message.
encode_labels <- function(x, categories, column, role, rows = seq_along(x)) {
  code <- label_codes(x, categories)
  is_unknown <- is.na(code) & !is.na(x)
  if (any(is_unknown)) {
    subject <- c(system = "A system uses", truth = "The truth of a case is", rater = "A rater uses")
    labels <- as_label(x)
    unknown <- labels[is_unknown][1L]
    similar <- near_names(unknown, categories)[1L]
    check_values(labels, !is_unknown, column, "category",
      paste(subject[[role]], "a category that is not declared."),
      i = c("The categories are {.val {categories}}. Correct the label, or add it to
          {.arg categories}.",
        if (!is.na(similar)) "If {.val {unknown}} means {.val {similar}}, add
          {.code \"{similar}\" = \"{unknown}\"} to {.arg categories}."), rows = rows)
  }
  code
}

encode_columns <- function(columns, categories, role) {
  Map(function(x, name) encode_labels(x, categories, name, role), columns, names(columns))
}
