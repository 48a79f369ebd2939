# Words and tables of confusion matrices: of systems, which are estimated, and of designs.

#' @rdname confusion_estimate
#' @export
tidy.confusion_estimate <- function(x, what = c("cells", "categories"), ...) {
  check_dots_empty(...)
  x[[check_choice(what)]]
}

#' @rdname confusion_estimate
#' @export
glance.confusion_estimate <- function(x, ...) {
  check_dots_empty(...)
  mean_of <- function(measure) mean_known(x$categories$estimate[x$categories$measure == measure])
  tibble::tibble(
    systems = length(unique(x$cells$system)), categories = length(unique(x$cells$truth)),
    recall = mean_of("recall"), precision = mean_of("precision"), method = x$options$method,
    interval = x$options$interval,
    conf_level = if (has_interval(x)) x$options$conf_level else NA_real_,
    replicates = if (has_interval(x)) x$options$replicates else NA_integer_
  )
}

#' @rdname confusion_estimate
#' @export
format.confusion_estimate <- function(x, ...) {
  facts <- glance(x)
  paste0(
    count_noun(facts$systems, "system"), ", ",
    count_noun(facts$categories, "category", "categories"), ": mean recall ",
    decimals(facts$recall, 2L), ", mean precision ", decimals(facts$precision, 2L)
  )
}

#' @export
caption_of.confusion_estimate <- function(x) { # nolint: object_name.
  systems <- unique(x$cells$system)
  paste0(
    count_noun(length(systems), "system"), ", ",
    count_noun(length(unique(x$cells$truth)), "category", "categories"), ", ",
    method_words(x$options$method)
  )
}

#' @export
shown_table.confusion_estimate <- function(x) { # nolint: object_name.
  systems <- unique(x$cells$system)
  tables <- lapply(systems, function(system) {
    data.frame(system = system, category_columns(x, system))
  })
  out <- do.call(rbind, tables)
  utils::head(if (length(systems) == 1L) out[-1L] else out, 40L)
}

# Recall and precision of a system, a row per category.
category_columns <- function(x, system) {
  table <- x$categories[x$categories$system == system, ]
  recall <- table[table$measure == "recall", ]
  precision <- table[table$measure == "precision", ]
  data.frame(
    category = recall$category, recall = with_interval(recall),
    precision = with_interval(precision), cases = decimals(recall$n, 1L),
    answers = number(round(precision$n, 1L))
  )
}

#' @rdname confusion_matrix
#' @param x A `confusion_matrix`.
#' @param ... Not used.
#' @export
tidy.confusion_matrix <- function(x, ...) {
  check_dots_empty(...)
  labels <- rownames(x)
  tibble::tibble(
    truth = rep(labels, each = length(labels)), rating = rep(labels, length(labels)),
    probability = as.vector(t(x))
  )
}

#' @rdname confusion_matrix
#' @export
glance.confusion_matrix <- function(x, ...) {
  check_dots_empty(...)
  right <- diag(x)
  tibble::tibble(
    categories = nrow(x), accuracy = sum(attr(x, "base_rates") * right), lowest = min(right),
    highest = max(right)
  )
}

#' @rdname confusion_matrix
#' @export
format.confusion_matrix <- function(x, ...) {
  facts <- glance(x)
  paste0(
    count_noun(facts$categories, "category", "categories"), ", accuracy ", decimals(facts$accuracy)
  )
}

#' @export
shown_table.confusion_matrix <- function(x) { # nolint: object_name.
  data.frame(
    truth = rownames(x), round(matrix(x, nrow(x), dimnames = dimnames(x)), 3L), check.names = FALSE
  )
}

#' @export
confusion.accuracy_by_group <- function(x, ...) { # nolint: object_name.
  check_estimate(x, "x")
}
