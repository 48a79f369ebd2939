# Hints on labels that are variants, misspellings or no categories.

# Returns all columns that contain labels of categories.
label_columns <- function(input) {
  c(if (input$layout$labels) input$columns, input$systems, input$truth,
    input$system_table["prediction"])
}

# For each label, returns the category that it probably stands for, NA if there is none. First, the
# label is replaced by the most frequent category that differs only in capitals and blanks. If this
# category is probably a misspelling of another category, the other category is returned. A label
# that is not a category may also stand for a category with a similar name.
merge_variants <- function(labels, categories, input) {
  columns <- label_columns(input)
  by_count <- categories[order(-tabulate_labels(columns, categories))]
  frequent_form <- function(label) by_count[match(plain_label(label), plain_label(by_count))]
  corrections <- misspelt_labels(union(categories, labels), columns)
  variant <- frequent_form(labels)
  variant <- ifelse(is.na(variant), labels, variant)
  variant <- frequent_form(ifelse(variant %in% names(corrections), corrections[variant], variant))
  is_open <- is.na(variant)
  variant[is_open] <- map_chr(labels[is_open], function(x) find_similar_names(x, by_count)[1L])
  variant
}

# Returns code for a vector of strings, with its names.
code_vector <- function(x) {
  code <- paste0(ifelse(have_name(x), paste(dQuote(names2(x), FALSE), "= "), ""), dQuote(x, FALSE))
  if (length(x) == 1L && !have_name(x)) code else paste0("c(", toString(code), ")")
}

# Returns hints on labels. For variants and misspellings of a category, they contain code for the
# argument `categories`, which also contains what the user gave. Other labels may be missing
# ratings. `begin`: beginning of the hint on variants.
correction_hints <- function(begin, labels, categories, input) {
  category <- merge_variants(labels, categories, input)
  is_variant <- which(category != labels)
  c(
    if (length(is_variant) > 0L) escape_braces(begin, ", give `categories = ",
      code_vector(c(input$given_categories, setNames(labels, category)[is_variant])), "`."),
    if (any(plain_label(category[is_variant]) == plain_label(labels[is_variant])))
      "{.code clean_labels = TRUE} merges labels that differ only in capitals and blanks.",
    if (anyNA(category)) missing_label_hint(labels[is.na(category)], input)
  )
}

# Returns a hint for labels that may be missing ratings or abstentions.
missing_label_hint <- function(labels, input) {
  escape_braces("If ", paste(dQuote(labels, FALSE), collapse = " or "),
    " means a missing rating, give `na = ", code_vector(c(input$na, labels)),
    "`. If it is a reply such as \"cannot tell\", give `abstain = ",
    code_vector(c(input$abstain, labels)), "`.")
}

# Raises an error for the first label that is not in `categories`. Its hints are about all such
# labels of raters, systems and truths.
abort_undeclared <- function(categories, input) {
  columns <- lapply(c(label_columns(input), list(systems = input$constant)), as_label)
  unknown <- labels_by_frequency(lapply(columns, function(x) x[!x %in% c(categories, NA)]))
  # In long data, the first column contains the ratings.
  first <- Position(function(x) any(x %in% unknown), columns)
  column <- columns[[first]]
  check_values(column, !column %in% unknown, names(columns)[[first]], "category",
    "A label is not a declared category.",
    i = c(
      if (length(unknown) > 1L) escape_braces("Not declared, with their numbers: ",
        shorten(paste0(dQuote(unknown, FALSE), " (", tabulate_labels(columns, unknown), ")")), "."),
      correction_hints("If labels are misspelt",
        c(setdiff(categories, input$given_categories), unknown), categories, input),
      "The categories are {.val {categories}}. Correct the label, or add it to {.arg categories}."
    ), rows = if (first == 1L && input$layout$by_rating) input$source else seq_along(column))
}
