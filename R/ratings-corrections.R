# Hints in errors about undeclared labels. The label may be a variant or a misspelling of a
# category, or a code for a missing rating.

# Returns all columns that contain labels of categories.
label_columns <- function(input) {
  c(if (input$layout$labels) input$columns, input$systems, input$truth,
    input$system_table["prediction"])
}

# Returns, for each label, the category that the label probably stands for; NA if there is none. The
# category is determined in three steps:
# 1. Take the most frequent category that equals the label except for capitals and blanks. If there
#    is none, keep the label.
# 2. If the result of step 1 is probably a misspelling, take the correct spelling.
# 3. If the result of step 2 is not a category, take the most frequent category with a similar name.
match_categories <- function(labels, categories, input) {
  columns <- label_columns(input)
  categories_by_count <- categories[order(-tabulate_labels(columns, categories))]
  frequent_form <- function(label) {
    categories_by_count[match(plain_label(label), plain_label(categories_by_count))]
  }
  corrections <- misspelt_labels(union(categories, labels), columns)
  category <- frequent_form(labels)
  category <- ifelse(is.na(category), labels, category)
  is_misspelt <- category %in% names(corrections)
  category <- frequent_form(ifelse(is_misspelt, corrections[category], category))
  is_unmatched <- is.na(category)
  category[is_unmatched] <- map_chr(
    labels[is_unmatched], function(label) find_similar_names(label, categories_by_count)[1L]
  )
  category
}

# Returns R code that creates a vector of strings with its names, such as `c(yes = "Yes")`.
format_as_code <- function(x) {
  elements <-
    paste0(ifelse(have_name(x), paste(dQuote(names2(x), FALSE), "= "), ""), dQuote(x, FALSE))
  if (length(x) == 1L && !have_name(x)) elements else paste0("c(", toString(elements), ")")
}

# Returns hints on `labels` that may be mistakes:
# * `clean_labels`, for labels that differ from categories only in capitals and blanks.
# * Code for the argument `categories`, for misspelt labels. The text `begin` precedes the code.
# * missing_label_hint(), for other labels.
correction_hints <- function(begin, labels, categories, input) {
  category <- match_categories(labels, categories, input)
  variant_positions <- which(category != labels)
  is_cleanable <- plain_label(category[variant_positions]) == plain_label(labels[variant_positions])
  # If the user gave `categories`, the suggested code also renames labels that differ only in
  # capitals and blanks. `clean_labels` could choose a spelling that is not in `categories`.
  positions_to_recode <- variant_positions[!is_cleanable | !is.null(input$given_categories)]
  c(
    if (any(is_cleanable))
      "{.code clean_labels = TRUE} merges labels that differ only in capitals and blanks.",
    if (length(positions_to_recode) > 0L) escape_braces(begin, ", give `categories = ",
      format_as_code(c(input$given_categories, setNames(labels, category)[positions_to_recode])),
      "`."),
    if (anyNA(category)) missing_label_hint(labels[is.na(category)], input)
  )
}

# Returns a hint for labels that may be missing ratings or abstentions.
missing_label_hint <- function(labels, input) {
  escape_braces("If ", paste(dQuote(labels, FALSE), collapse = " or "),
    " means a missing rating, give `na = ", format_as_code(c(input$na, labels)),
    "`. If it is a reply such as \"cannot tell\", give `abstain = ",
    format_as_code(c(input$abstain, labels)), "`.")
}

# Raises an error for the first label that is not in `categories`. The hints of the error are about
# all undeclared labels of raters, systems and truths.
abort_undeclared_label <- function(categories, input) {
  columns <- lapply(c(label_columns(input), list(systems = input$constant)), as_label)
  labels <- labels_by_frequency(lapply(columns, function(x) x[!x %in% c(categories, NA)]))
  first_column_index <- Position(function(x) any(x %in% labels), columns)
  column <- columns[[first_column_index]]
  check_values(column, !column %in% labels, names(columns)[[first_column_index]], "category",
    "A label is not a declared category.",
    i = c(
      if (length(labels) > 1L) escape_braces(
        "Undeclared labels and how often they occur: ",
        shorten(paste0(dQuote(labels, FALSE), " (", tabulate_labels(columns, labels), ")")), "."
      ),
      correction_hints("If labels are misspelt",
        c(setdiff(categories, input$given_categories), labels), categories, input),
      "The categories are {.val {categories}}. Correct the label, or add it to {.arg categories}."
    ), rows = data_rows(column, input))
}
