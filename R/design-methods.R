# Words and tables of what is not a result but says what to do: models, designs, estimators.

#' Tables of models, designs and estimators
#'
#' @return `tidy()`: a tibble. Of a [rater_model()], a row per argument of [rater_model()] but
#'   `prior`: `property`, `value`, and `holds`, whether that is a K-property that the model keeps
#'   (`NA` for `system`, and for `base_rates` by formula). Of a [rater_design()], a row per rater
#'   and system: `name`, `kind` (`"rater"` or `"system"`) and `accuracy`, `NA` where a confusion
#'   matrix is given. Of an [accuracy_estimator()], a row per option: `option` and `value`, a
#'   string.
#'
#'   `glance()`: a tibble with one row: the arguments of a model, with `prior` as `"weak"`, `"none"`
#'   or `"own"`; of a design the numbers of `cases`, `raters`, `systems` and `categories`, the law
#'   of its `base_rates`, `dispersion`, `error_range`, the largest shift by `difficulty`, the share
#'   of `missing` ratings, and whether the `k_properties` hold; the options of an estimator.
#'   `format()`: a line of words.
#' @name design_tables
#' @family simulation
#' @examples
#' tidy(rater_model(accuracy = "rater"))
#' tidy(lehner_design(8))
#' glance(lehner_design(8))
#' format(accuracy_estimator("joint"))
NULL

schema_of.rater_model <- function(x) { # nolint: object_name.
  property <- c("accuracy", "errors", "difficulty", "system")
  value <- unlist(x[property], use.names = FALSE)
  origin <- c("common", "uniform", "none", NA)
  if (has_formula(x)) {
    property <- c(property, "base_rates")
    value <- c(value, formula_text(x))
    origin <- c(origin, NA)
  }
  prior <- if (length(x$prior) == 0L) "none" else if (is_pooled(x)) "pooled" else
    if (identical(x$prior, weak_prior)) "weak" else "own"
  new_schema(
    list(table = tibble::tibble(property = property, value = value, holds = value == origin)),
    c(x[c("accuracy", "errors", "difficulty", "system")], prior = prior), format(x)
  )
}

schema_of.rater_design <- function(x) { # nolint: object_name.
  accuracy <- c(x$raters, x$systems)
  table <- tibble::tibble(
    name = names(accuracy), kind = rep(c("rater", "system"), c(n_raters(x), n_systems(x))),
    accuracy = unname(replace(accuracy, lengths(x$matrices) > 0L, NA))
  )
  broken <- design_violations(x)
  line <- paste0(
    count_noun(x$n, "case"), ", ", count_noun(n_raters(x), "rater"), ", ",
    count_noun(n_systems(x), "system"), ", ",
    count_noun(n_categories(x), "category", "categories")
  )
  new_schema(
    list(table = table),
    list(
      cases = x$n, raters = n_raters(x), systems = n_systems(x), categories = n_categories(x),
      base_rates = x$law, dispersion = x$dispersion, error_range = x$error_range,
      difficulty = max(abs(x$strata$shift)), missing = mean(x$missing),
      k_properties = length(broken) == 0L
    ),
    line, head = c(line, design_lines(x, table$kind, broken))
  )
}
