# Words and tables of the confusion matrices of systems, which are estimated.

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
  sprintf("%s: mean recall %s, mean precision %s", size_of_confusion(facts),
    decimals(facts$recall, 2L), decimals(facts$precision, 2L))
}

size_of_confusion <- function(facts) {
  paste0(
    count_noun(facts$systems, "system"), ", ",
    count_noun(facts$categories, "category", "categories")
  )
}

#' @export
caption_of.confusion_estimate <- function(x) { # nolint: object_name.
  paste0(size_of_confusion(glance(x)), ", ", method_words(x$options$method))
}

#' @export
shown_table.confusion_estimate <- function(x) { # nolint: object_name.
  systems <- unique(x$cells$system)
  out <- stack_rows(systems, function(system) {
    data.frame(system = system, category_columns(x, system))
  })
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

#' @export
confusion.accuracy_by_group <- function(x, ...) { # nolint: object_name.
  check_estimate(x, "x")
}
