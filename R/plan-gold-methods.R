#' Tables of a plan for gold
#'
#' @param x A [plan_gold()] result.
#' @param what `"answer"`: a row per system and kind of interval; `"curve"`: the half-width for many
#'   numbers of gold cases; `"costs"`: more gold or more raters.
#' @param ... For `as.data.frame()`, passed on to `tidy()`; otherwise not used.
#' @return `tidy()`: a tibble. Of the answer: `system` (for a difference, two); `interval`
#'   (`"gold alone"`, `"corrected"` or `"combined"`); `gold`, the number of cases to label, out of
#'   the `cases` that count, `NA` if all of them are too few, if ratings are worth what they seem;
#'   `lowest` and `highest`, that number where they are worth more, or where they are worth less and
#'   errors are shared, so that gold contradicts them; `half_width`, what `gold` cases give;
#'   `worth`, how many labels without ratings one label is worth, and its range `worth_lowest` to
#'   `worth_highest`; and `reason`, why there is no number. Of the curve: `system`, `interval`,
#'   `gold` and `half_width`. Of the costs: `raters`, `gold` and `ratings` that are needed then, and
#'   `cost`; no rows if no costs were given.
#'
#'   `glance()`: a tibble with one row: `of`, `interval`, `gold`, the number of cases to label for
#'   all systems, `cases`, `half_width`, `conf_level`, `target`, `choice`, and the least `worth` of
#'   any system with its range.
#'
#'   `augment()`: a tibble with a row per case to label: `case`; `stratum`, 1 being the surest;
#'   `probability`, with which it was drawn; and `truth`, empty.
#'
#'   `format()`: the answer in a line.
#' @family estimation
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8), n = 1000))
#' plan <- plan_gold(x, cost = c(gold = 20, rating = 1))
#' tidy(plan)
#' tidy(plan, "costs")
#' glance(plan)
#' head(augment(plan))
#' @export
tidy.gold_plan <- function(x, what = c("answer", "curve", "costs"), ...) {
  check_dots_empty(...)
  switch(check_choice(what),
    answer = x$table,
    curve = x$curve,
    costs = x$costs %||% tibble::tibble(
      raters = character(), gold = double(), ratings = double(), cost = double()
    )
  )
}

#' @rdname tidy.gold_plan
#' @export
glance.gold_plan <- function(x, ...) {
  check_dots_empty(...)
  settings <- x$settings
  least <- settled_row(x)
  tibble::tibble(
    of = settings$of, interval = least$interval, gold = number_to_draw(least), cases = least$cases,
    half_width = least$half_width, conf_level = settings$conf_level, target = settings$target,
    choice = settings$choice, least[c("worth", "worth_lowest", "worth_highest")]
  )
}

# Of the system that needs most gold.
settled_row <- function(x) {
  rows <- x$table[x$table$interval == settled_interval(x$table, x$settings), ]
  rows[order(-is.na(rows$gold), -number_to_draw(rows), rows$worth)[[1L]], ]
}

#' @rdname tidy.gold_plan
#' @export
augment.gold_plan <- function(x, ...) {
  check_dots_empty(...)
  tibble::tibble(
    case = x$chosen$case, stratum = x$chosen$stratum, probability = x$chosen$probability,
    truth = rep(NA_character_, length(x$chosen$case))
  )
}

#' @rdname tidy.gold_plan
#' @export
format.gold_plan <- function(x, ...) {
  best <- settled_row(x)
  if (is.na(best$gold)) return(paste0("Not reached: ", best$reason))
  paste0(
    count_noun(number_to_draw(best), "gold case"), " of ", number_of(best$cases),
    " for a half-width of ", decimals(best$half_width), " (",
    interval_title(x$settings$conf_level), ", ", best$interval, ")"
  )
}

#' @export
print.gold_plan <- function(x, ...) {
  more <- "augment() (the cases to label), tidy(), glance(), plot()"
  print_result(x, more, left = integer(), most = Inf)
}

#' @export
caption_of.gold_plan <- function(x) { # nolint: object_name.
  settings <- x$settings
  what <- switch(settings$of,
    accuracy = "Accuracy", difference = "Difference of accuracies",
    paste0(
      if (settings$of == "recall") "Recall" else "Precision", " of \"", settings$category_label,
      "\""
    )
  )
  paste0(
    what, " of the ", settings$target, ", ",
    if (is.null(settings$gold)) {
      paste0("within ", format(settings$half_width))
    } else {
      paste0("with ", count_noun(settings$gold, "gold case"))
    },
    " (", interval_title(settings$conf_level), ")"
  )
}

#' @export
shown_table.gold_plan <- function(x) { # nolint: object_name.
  table <- tidy(x)
  if (length(unique(table$system)) > 3L) {
    table <- table[table$interval == settled_interval(table, x$settings), ]
  }
  whole <- function(n) ifelse(is.na(n), "NA", number_of(n))
  out <- data.frame(
    system = table$system, interval = table$interval, gold = whole(table$gold),
    lowest = whole(table$lowest),
    highest = ifelse(is.na(table$highest) & !is.na(table$lowest), "or more", whole(table$highest)),
    `half-width` = decimals(table$half_width), worth = decimals(table$worth, 1L),
    check.names = FALSE
  )
  align_left(out, 1:2)
}

#' @export
notes_of.gold_plan <- function(x) { # nolint: object_name.
  table <- tidy(x)
  lacking <- drop_missing(table, "reason")
  drawn <- nrow(augment(x))
  settled <- settled_row(x)
  safe <- is.null(x$settings$gold) && !is.na(settled$highest)
  c(
    paste0("Not reached, ", lacking$interval, ", ", lacking$system, ": ", lacking$reason,
      recycle0 = TRUE
    ),
    "Worth: how many labels without ratings one with ratings replaces. This is a rough guess: label
     a pilot of 20 to 30 random cases first. A single judge no better than the system saves at most
     half of the labels",
    if (believes_ratings(settled$interval) &&
      isTRUE(number_to_draw(settled) < fewest_contradicting)) {
      paste(
        "With so few gold cases the result rests on the ratings; about", fewest_contradicting,
        "gold cases could contradict them"
      )
    },
    if (x$settings$of == "difference") "Only cases on which the systems differ need a label",
    if (drawn > 0L) paste0(
      "Cases to label: ", number_of(drawn), ", ",
      if (safe) "enough even if raters and systems share errors, ", "drawn ",
      switch(x$settings$choice, random = "at random",
        active = "each with a probability by how uncertain the ratings leave it",
        "from strata by how uncertain the ratings leave them"), "; see augment()"
    ),
    if (x$in_database) {
      "The cases are in a database: plan with dplyr::collect() of the ratings to draw some"
    },
    cost_note(x$costs)
  )
}

cost_note <- function(costs) {
  if (is.null(costs) || anyNA(costs$cost)) {
    return(if (!is.null(costs)) "What one more rater would save is not known")
  }
  cheaper <- costs$raters[[which.min(costs$cost)]]
  paste0(
    "Cost ", number_of(costs$cost[[1L]]), " with these raters, ",
    number_of(costs$cost[[2L]]), " with one more (", number_of(costs$gold[[2L]]), " gold cases) ",
    "who shares no more errors than they do: ",
    if (cheaper == "one more") "one more rater is cheaper" else "gold cases are cheaper"
  )
}
