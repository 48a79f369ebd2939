# What tests and comparisons of agreement show.

#' Tables of tests of agreement
#'
#' @return `tidy()`: the columns of the [compare_agreement()] result, as a tibble and nothing else.
#'   `glance()`: a tibble with one row: the numbers of `measures` and `cases` (the largest number
#'   that entered), the smallest `p.value`, and `null` and `alternative` of tests or `conf_level` of
#'   comparisons. `format()`: for one measure `Fleiss' kappa 0.43, p < .001`, for several a line of
#'   them.
#' @family agreement
#' @name agreement_tests
#' @examples
#' x <- ratings(fleiss1971, case = case, counts = depression:other)
#' test <- compare_agreement(x, measures = "fleiss_kappa")
#' format(test)
#' glance(test)
NULL

# `table` has two more estimates for a comparison. Field `columns` of `about`: the shown ones.
new_agreement_test <- function(table, about) {
  compared <- has_columns(table, "estimate1")
  cases <- max(0, table$n)
  p <- ifelse(table$p.value < 0.0005, "< .001", paste("=", decimals(table$p.value)))
  new_result("agreement_test",
    again = new_agreement_test, tables = list(tests = table), about = about,
    facts = c(
      list(
        measures = nrow(table), cases = cases,
        p.value = if (all(is.na(table$p.value))) NA_real_ else min(table$p.value, na.rm = TRUE)
      ),
      about[if (compared) "conf_level" else c("null", "alternative")]
    ),
    line = shorten(paste0(
      if (compared) "difference of ", measure_titles(table$measure, about$scale_name), " ",
      decimals(table$estimate, 2L),
      ifelse(is.na(table$p.value), paste0(" (", table$reason, ")"), paste(", p", p))
    ), "; "),
    caption = paste0(about$caption, count_noun(cases, if (compared) "common case" else "case")),
    shown = view(
      table, c(intersect(part_columns, names(table)), about$columns), c(3L, statistic = 2L),
      about$conf_level
    ),
    notes = c(
      reason_notes(table, names_of_agreement(table)),
      weights_note(table$measure, about), about$silent
    )
  )
}
