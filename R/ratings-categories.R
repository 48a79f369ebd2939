# Categories: converts values to labels, finds the categories among them, and assigns codes.

#' @srrstats {G2.16} infinite numbers are no categories, and NaN is missing
#' @noRd
NULL

plain_columns <- function(data) {
  columns_of_class <- function(class) names(data)[vapply(data, inherits, NA, class)]
  for (name in columns_of_class("integer64")) data[[name]] <- plain_integers(data[[name]])
  labelled_columns <- columns_of_class("haven_labelled")
  for (name in labelled_columns) data[[name]] <- labelled_factor(data[[name]])
  if (length(labelled_columns) > 0L) inform_fallible("Columns with value labels (of {.pkg haven}) are read
      as factors: {shorten(dQuote(labelled_columns, FALSE))}.")
  data
}

# Factor of value labels. Values without a label are levels too. Values declared missing are NA.
labelled_factor <- function(x) {
  labels <- attr(x, "labels") %||% c(none = 0)[0L]
  missing_range <- attr(x, "na_range") %||% c(Inf, -Inf)
  levels <- sort_strings(setdiff(c(labels, unclass(x)), c(NA, attr(x, "na_values"))))
  levels <- levels[levels < missing_range[[1L]] | levels > missing_range[[2L]]]
  label_names <- names(labels)[match(levels, labels)]
  factor(as.vector(unclass(x)), levels, ifelse(is.na(label_names), as_label(levels), label_names))
}

# A 64-bit integer is stored as a double with its bits, which only package bit64 can read. Returns
# numbers if they are exact, otherwise strings. Without that package, large integers are unchanged.
plain_integers <- function(x) {
  if (!inherits(x, "integer64")) return(x)
  bytes <- writeBin(as.vector(unclass(x)), raw(), endian = "little")
  words <- matrix(readBin(bytes, "integer", 2L * length(x), endian = "little"), 2L)
  words[is.na(words)] <- -2^31 # has the bits of NA
  low_word <- words[1L, ] %% 2^32
  high_word <- words[2L, ]
  values <- ifelse(high_word == -2^31 & low_word == 0, NA, high_word * 2^32 + low_word)
  if (all(abs(values) <= 2^53, na.rm = TRUE)) return(values)
  if (reads_integer64()) as.character(x) else x
}

reads_integer64 <- function() isNamespaceLoaded("bit64")

# Labels of numbers. Equal numbers have the same label: 100000 is 1e5, and -0 is 0.
as_label <- function(x) {
  x <- plain_integers(x)
  if (!is.numeric(x)) return(check_text(as.character(x), NULL))
  is_whole <- is.finite(x) & x == round(x) & abs(x) <= 2^53
  labels <- as.character(x)
  labels[is_whole] <- sprintf("%.0f", x[is_whole] + 0)
  labels
}

# Labels that occur in a column, in the order in which they are listed. Factor levels count even if
# they are unused.
column_labels <- function(x) {
  if (is.factor(x)) levels(x) else as_label(sort_strings(unique(x)))
}

# The same over several columns.
list_labels <- function(columns) {
  columns <- Filter(function(x) is.factor(x) || !all(is.na(x)), columns)
  labels <- unique(unlist(lapply(columns, column_labels), use.names = FALSE))
  if (all(vapply(columns, is.numeric, NA))) return(labels[order(as.numeric(labels))])
  if (any(vapply(columns, is.factor, NA))) labels else sort_strings(labels)
}

find_categories <- function(input, declared) {
  used_labels <- if (input$layout$labels) list_labels(input$columns) else names(input$columns)
  categories <- if (is.null(declared)) used_labels else check_declared(declared)
  abort_if(length(categories) < 2L && (length(used_labels) > 0L || !is.null(declared)),
    "categories_few", "At least two categories are needed.", x = found_only(categories),
    i = "If there are categories that no rater used, declare the labels of all of them with
        {.arg categories}.", categories = categories)
  if (length(categories) > max_categories) abort_many_categories(categories)
  if (is.null(declared)) warn_labels(categories, input)
  categories
}

# Text for a message that needs several labels but found one or none.
found_only <- function(labels) {
  if (length(labels) > 0L) paste0("Found only ", verbatim(dQuote(labels, FALSE)), ".") else
    "Found none."
}

abort_many_categories <- function(categories) {
  abort_fallible("categories_many", "More than {max_categories} categories cannot be handled.",
    x = "Found {length(categories)}: {shorten(categories, most = 3L)}.",
    i = "Is the column of ratings the right one?", categories = categories)
}

# Replaces labels of ratings and systems by the names of `categories`.
recode_input <- function(input, categories) {
  if (is.null(names(categories))) return(input)
  abort_argument_if(!input$layout$labels, "categories",
    "{.arg categories} with names merges labels, which is not possible for counts.",
    x = "{.arg data} has counts of ratings.",
    i = "Add up the columns of counts of these categories, and give {.arg categories} without
        names.")
  old <- check_declared(categories)
  new <- ifelse(nzchar(names(categories)), names(categories), old)
  inform_changed("Labels were changed, as the names of {.arg categories} say.", old, new)
  relabel_input(input, old, new)
}

# Replaces labels `old` by `new`; NA makes them missing.
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
  input[fields] <- lapply(input[fields], lapply, relabel)
  if (!is.null(input$system_table)) {
    input$system_table$prediction <- relabel(input$system_table$prediction)
  }
  input
}

# Applies arguments `na` and `clean_labels` of ratings(). A second call changes nothing.
resolve_input_labels <- function(input, options) {
  if (is.null(options$na) && !options$clean) return(input)
  abort_argument_if(!input$layout$labels, c("na", "clean_labels"),
    "Counts have no labels that {.arg na} or {.arg clean_labels} could change.")
  columns <- c(input$columns, input$systems, input$truth, list(input$system_table$prediction))
  old <- labels_by_frequency(lapply(Filter(is.atomic, columns), function(x) {
    c(as_label(x), levels(x))
  }))
  is_missing <- plain_label(old) %in% plain_label(as_label(options$na))
  if (any(is_missing)) inform_fallible("Labels were taken for missing ratings: {.val {old[is_missing]}}.")
  new <- old
  if (options$clean) new[!is_missing] <- clean_label(old[!is_missing])
  inform_changed("Labels were cleaned.", old, new)
  relabel_input(input, old, replace(new, is_missing, NA))
}

# Declared categories; NULL if all elements of `categories` only rename labels.
declared_categories <- function(categories) {
  is_named <- rlang::have_name(categories)
  if (is.null(categories) || all(is_named)) return(NULL)
  if (any(is_named)) unique(ifelse(is_named, names(categories), as_label(categories))) else categories
}

# For each label, the most frequent variant that differs only in capitals and blanks. If this
# variant is a misspelling, its correct form.
merge_variants <- function(labels, input) {
  code <- unlist(lapply(input$columns, function(x) match(as_label(x), labels)))
  labels_by_count <- labels[order(-tabulate(as.integer(code), length(labels)))] # there may be no columns
  most_frequent_variant <- function(label) labels_by_count[match(plain_label(label), plain_label(labels_by_count))]
  variant <- most_frequent_variant(labels)
  corrections <- if (input$layout$labels) misspelt_labels(labels, input$columns)
  correction <- unname(c(character(), corrections)[variant])
  ifelse(is.na(correction), variant, most_frequent_variant(correction))
}

# Warns of labels that may not be categories.
warn_labels <- function(labels, input) {
  warn_about <- function(suspects, message, hint, labels = suspects) {
    warn_if(suspects, "labels", message, i = hint, labels = labels)
  }
  plain <- plain_label(labels)
  frequent_variant <- merge_variants(labels, input)
  is_rare_variant <- labels != frequent_variant
  recoding <- toString(paste(dQuote(frequent_variant[is_rare_variant], FALSE), "=", dQuote(labels[is_rare_variant], FALSE)))
  is_cleanable <- plain[is_rare_variant] %in% plain[duplicated(plain)]
  warn_about(labels[is_rare_variant], "Some categories differ in capitals or blanks, or in one letter, from
      frequent ones: {.val {suspects}}.", c(
    paste0("They count as different. To join them, {.code categories = c(", verbatim(recoding), ")}."),
    if (any(is_cleanable)) "{.code clean_labels = TRUE} joins labels that differ only in capitals and
        blanks."
  ), labels[is_rare_variant | labels %in% frequent_variant[is_rare_variant]])
  warn_about(lookalikes(labels), "Some categories look the same, or are the same number:
      {.val {suspects}}. They differ in alphabet, in invisible characters, in how accents are stored,
      or in how digits are written.", "They count as different. Write each of them in one way.")
  missing_labels <- missing_codes(labels)
  warn_about(missing_labels, "Some categories look like codes for missing ratings: {.val {suspects}}.",
    paste0("They count as categories. For missing ratings make them {.code NA}",
      if (!isTRUE(input$na_given)) ", or name them in {.arg na}",
      "; otherwise declare {.arg categories}. If they are replies, such as {.emph cannot tell}, name
      them in {.arg abstain}."))
  n_rows <- if (is.null(input$times)) input$rows else sum(input$times)
  has_many <- length(labels) > 20L && length(labels) > n_rows / 2
  warn_about(if (has_many) c(length(labels), n_rows),
    "There are {suspects[[1L]]} categories in {suspects[[2L]]} row{?s}.",
    c("Check the columns of ratings, or declare {.arg categories}.",
      if (all(grepl("^[0-9]*[.]", labels))) "Probabilities of systems are {.arg scores}."), labels)
}

# Warns of raters who share no category with any other rater: the column contains something else, or
# labels in other words. In long data, raters with few ratings are not checked.
warn_unshared_labels <- function(x, by_rating) {
  n <- n_categories(x)
  rater_label_pairs <- unique((rating_rater(x) - 1) * n + rating_category(x) - 1)
  rater <- rater_label_pairs %/% n + 1
  category <- rater_label_pairs %% n + 1
  is_shared <- category %in% category[duplicated(category)]
  without_shared <- setdiff(rater, c(rater[is_shared], x$abstained$rater))
  if (by_rating) without_shared <- without_shared[ratings_of_raters(x)[without_shared] >= 5]
  labels <- x$categories[category[rater %in% without_shared]]
  warn_if(length(unique(rater)) > 1L && length(without_shared) > 0L, "labels",
    "No other rater shares a label with {.val {x$raters[sort(without_shared)]}}:
        {shorten(dQuote(labels, FALSE))}.",
    i = "If {cli::qty(length(without_shared))}{?this is a column/these are columns} of something else,
        choose others by {.arg raters}. If labels mean the same, join them:
        {.code categories = c(yes = \"1\")} makes {.val 1} a {.val yes}.", labels = labels)
}

check_declared <- function(categories) {
  check_text(categories, "categories")
  labels <- if (is.atomic(categories)) as_label(categories)
  repeated <- repeated_values(labels)
  abort_argument_if(repeated, "categories", "must be labels that differ.",
    x = "{.val {repeated}} {?is/are} repeated.")
  abort_argument_if(
    length(labels) == 0L || any(labels %in% c(NA, "")) || any(is.infinite(categories)),
    "categories", "must be labels, none of them missing, empty or infinite.", not = categories)
  labels
}

# Integer codes of the labels in a column; fails for a label that is not a category.
encode_labels <- function(x, categories, column, role, rows = seq_along(x)) {
  code <- if (is.factor(x)) {
    match(levels(x), categories)[as.integer(x)]
  } else if (is.character(x)) {
    match(x, categories)
  } else if (is.integer(x) && all(grepl("^(0|-?[1-9][0-9]{0,8})$", categories))) {
    match(x, as.integer(categories))
  } else {
    distinct_values <- unique(x)
    match(as_label(distinct_values), categories)[match(x, distinct_values)]
  }
  if (anyNA(code)) {
    subject <- c(system = "A system uses", truth = "The truth of a case is", rater = "A rater uses")
    check_values(as_label(x), is.na(x) | !is.na(code), column, "category",
      paste(subject[[role]], "a category that is not declared."),
      i = "The categories are {.val {categories}}; declare more with {.arg categories}, or mend the
          label.", rows = rows)
  }
  code
}

encode_columns <- function(columns, categories, role) {
  Map(function(x, name) encode_labels(x, categories, name, role), columns, names(columns))
}
