#' Tables of a plan for gold
#'
#' @param x A [plan_gold()] result.
#' @param ... Not used.
#' @return `tidy()`: a tibble with a row per system and kind of interval: `system` (for a
#'   difference, two); `interval` (`"gold alone"`, `"corrected"` or `"combined"`); `gold`, the
#'   number of cases to label, out of the `cases` that count, `NA` if all of them are too few, if
#'   ratings are worth what they seem; `lowest` and `highest`, that number where they are worth
#'   more, or where they are worth less and errors are shared, so that gold contradicts them;
#'   `half_width`, what `gold` cases give; `worth`, how many labels without ratings one label is
#'   worth, and its range `worth_lowest` to `worth_highest`; and `reason`, why there is no number.
#'   `tidy(x, "curve")`, for many numbers of gold cases: `system`, `interval`, `gold` and
#'   `half_width`. `tidy(x, "costs")`, more gold or more raters: `raters`, `gold` and `ratings` that
#'   are needed then, and `cost`; no rows if no costs were given.
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
#' @name tidy.gold_plan
#' @export
augment.gold_plan <- function(x, ...) {
  check_dots_empty(...)
  tibble::tibble(
    case = x$chosen$case, stratum = x$chosen$stratum, probability = x$chosen$probability,
    truth = rep(NA_character_, length(x$chosen$case))
  )
}

# `x`: the tables answer, curve and costs (or NULL), chosen, cases, settings, in_database.
new_gold_plan <- function(x) {
  settings <- x$settings
  table <- x$answer
  least <- settled_row(table, settings)
  no_costs <- tibble::tibble(
    raters = character(), gold = double(), ratings = double(), cost = double()
  )
  line <- paste0("Not reached: ", least$reason)
  if (!is.na(least$gold)) line <- paste0(
    count_noun(number_to_draw(least), "gold case"), " of ", number_of(least$cases),
    " for a half-width of ", decimals(least$half_width), " (",
    interval_title(settings$conf_level), ", ", least$interval, ")"
  )
  rlang::inject(new_result("gold_plan",
    !!!x[c("chosen", "cases", "settings", "in_database")],
    tables = list(answer = table, curve = x$curve, costs = x$costs %||% no_costs),
    facts = c(
      list(of = settings$of, interval = least$interval, gold = number_to_draw(least)),
      least[c("cases", "half_width")], settings[c("conf_level", "target", "choice")],
      least[c("worth", "worth_lowest", "worth_highest")]
    ),
    line = line, caption = gold_caption(settings), shown = view_of_gold(table, settings),
    notes = gold_plan_notes(x, least),
    more = "augment() (the cases to label), tidy(), glance(), plot()"
  ))
}

# Of the system that needs most gold.
settled_row <- function(table, settings) {
  rows <- table[table$interval == settled_interval(table, settings), ]
  rows[order(-is.na(rows$gold), -number_to_draw(rows), rows$worth)[[1L]], ]
}

gold_caption <- function(settings) {
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

view_of_gold <- function(table, settings) {
  if (length(unique(table$system)) > 3L) {
    table <- table[table$interval == settled_interval(table, settings), ]
  }
  unbounded <- is.na(table$highest) & !is.na(table$lowest)
  numbers <- c("gold", "lowest", "highest")
  table[numbers] <- lapply(table[numbers], function(n) ifelse(is.na(n), "NA", number_of(n)))
  table$highest[unbounded] <- "or more"
  view(table, c("system", "interval", numbers, `half-width` = "half_width", "worth"),
    c(3L, worth = 1L), left = 1:2, most = Inf)
}

gold_plan_notes <- function(x, settled) {
  lacking <- drop_missing(x$answer, "reason")
  drawn <- length(x$chosen$case)
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
    cost_note(x$costs), x$reruns
  )
}

cost_note <- function(costs) {
  if (is.null(costs) || anyNA(costs$cost)) {
    return(if (!is.null(costs)) "What one more rater would save is not known")
  }
  paste0(
    "Cost ", number_of(costs$cost[[1L]]), " with these raters, ",
    number_of(costs$cost[[2L]]), " with one more (", number_of(costs$gold[[2L]]), " gold cases) ",
    "who shares no more errors than they do: ",
    if (which.min(costs$cost) > 1L) "one more rater is cheaper" else "gold cases are cheaper"
  )
}
