# Words and tables of the confusion matrices of systems, which are estimated.

# `note`: what its intervals contain; NULL without any.
new_confusion_estimate <- function(cells, categories, options, note) {
  mean_of <- function(measure) mean_known(categories$estimate[categories$measure == measure])
  has_interval <- has_interval(list(options = options))
  systems <- unique(cells$system)
  facts <- list(
    systems = length(systems), categories = length(unique(cells$truth)),
    recall = mean_of("recall"), precision = mean_of("precision"), method = options$method,
    interval = options$interval, conf_level = if (has_interval) options$conf_level else NA_real_,
    replicates = if (has_interval) options$replicates else NA_integer_
  )
  size <- paste0(
    count_noun(facts$systems, "system"), ", ",
    count_noun(facts$categories, "category", "categories")
  )
  by_category <- stack_rows(systems, function(system) {
    data.frame(system = system, category_columns(categories, system))
  })
  new_result("confusion_estimate",
    tables = list(cells = cells, categories = categories), facts = facts, options = options,
    line = sprintf("%s: mean recall %s, mean precision %s", size,
      decimals(facts$recall, 2L), decimals(facts$precision, 2L)),
    caption = paste0(size, ", ", method_words(options$method)),
    shown = views_of_confusion(matrices_of(cells), by_category),
    document = view(by_category, names(by_category)[c(length(systems) > 1L, rep(TRUE, 5L))]),
    notes = c(
      "Recall: a case of the category is recognised; precision: an answer of the category is right;
       cases: expected number",
      reason_notes(categories, paste(
        categories$measure, "of", categories$category, "in", categories$system
      ), 3L),
      if (length(systems) > 4L) {
        paste("Shown: the first 4 of", number(length(systems)), "systems; see tidy()")
      },
      note
    ),
    more = "tidy(what = \"categories\"), as.matrix(), plot()"
  )
}

# Of the first systems the matrix, unless it is large, and recall and precision.
views_of_confusion <- function(matrices, by_category) {
  unlist(lapply(utils::head(names(matrices), 4L), function(system) {
    matrix <- matrices[[system]]
    drop_null(list(
      if (ncol(matrix) <= 12L) view_of_matrix(matrix, "truth",
        title = paste0(system, ": probability of the answer, truth in rows")),
      view(by_category[by_category$system == system, -1L],
        most = 30L, title = paste0(system, ", by category"))
    ))
  }), recursive = FALSE)
}

#' @rdname confusion_estimate
#' @export
as.matrix.confusion_estimate <- function(x, ...) {
  check_dots_empty(...)
  matrices <- matrices_of(x$cells)
  if (length(matrices) == 1L) matrices[[1L]] else matrices
}

matrices_of <- function(cells) {
  lapply(split(cells, factor(cells$system, unique(cells$system))), function(of) {
    labels <- unique(of$truth)
    matrix(
      of$estimate, length(labels), byrow = TRUE,
      dimnames = list(truth = labels, prediction = labels)
    )
  })
}

# Recall and precision of a system, a row per category.
category_columns <- function(table, system) {
  table <- table[table$system == system, ]
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

#' @rdname confusion_estimate
#' @param object A `confusion()` result for an estimate of accuracy.
#' @return `autoplot()`: a ggplot, the matrix of each system as a heat map.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(matrices)
#' @rawNamespace S3method(ggplot2::autoplot,confusion_estimate)
autoplot.confusion_estimate <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  cells <- tidy(object)
  check_drawn(cells$estimate, "The matrix is", cells$reason)
  pairs <- data.frame(
    judge1 = cells$prediction, judge2 = cells$truth, value = cells$estimate,
    system = in_order(cells$system)
  )
  heat_map(
    pairs, unique(cells$truth), "Answers by true category",
    "Probability of the answer given the truth, which is estimated", "answer of the system",
    "true category"
  ) +
    panels_of(pairs, "system")
}
