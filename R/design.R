#' Designs of simulated panels
#'
#' Specifies how raters and systems (classifiers) answer, so that [simulate_ratings()] can draw
#' their answers to cases whose true category is known. One such set of answers is called a panel.
#'
#' @param raters Accuracy (probability of a correct answer) of each of at least two raters, in
#'   \[0, 1\]. Other arguments, such as `difficulty`, change it. Names of the vector are names of
#'   the raters, by default `"rater1"`, `"rater2"` and so on.
#' @param systems Accuracy of each system, in the same form; `NULL`, the default, for no systems.
#' @param categories Number of categories (at least 2), by default 5; or their labels in order.
#' @param n Number of cases of a panel, at least 1, by default 200.
#' @param base_rates Probabilities of the categories, which sum to one. Or `"uniform"` (the
#'   default): uniform random numbers divided by their sum. Or `"dirichlet"`: random numbers from a
#'   Dirichlet distribution. Random base rates are drawn for each panel.
#' @param concentration Parameter of the Dirichlet distribution, above 0, the same for all
#'   categories; by default 1.
#' @param dispersion Number above 0, by which the probability of an error is divided with each
#'   further step from the true category, in the order of categories. With 1, the default, all
#'   errors are equally probable.
#' @param error_range A number `r` in \[0, 1\], by default 0: probabilities of errors are multiplied
#'   by random numbers from `1 - r` to `1 + r`, then rescaled; see [confusion_matrix()].
#' @param difficulty A number `d` in \[0, 1\], by default 0: accuracies are `d` lower in a random
#'   third of the cases, and `d` higher in another third (limited to \[0, 1\]). Or a data frame with
#'   a row per stratum (group of cases) and two columns: `shift`, the number in \[-1, 1\] that is
#'   added to accuracies, and `weight`, the probability of the stratum (with sum one). Or a list
#'   with some of these elements:
#'   * `value`: a number or a data frame as above.
#'   * `strata`: `"drawn"`, the default: the stratum of each case is random. `"fixed"`: each stratum
#'     has its share of the cases, and the cases of a stratum follow one another.
#'   * `redraw`: `TRUE` (the default) if the random numbers of `error_range` are drawn for each
#'     stratum; `FALSE` if they are the same in all strata.
#'   * `shared`: effects that also apply to systems: `"difficulty"` (shifts), `"errors"`
#'     (`dispersion` and `error_range`), both (the default), or none (`NULL`).
#'   * `loading`: numbers in (-1, 1) that correlate errors, by default 0; see section Shared errors.
#'     One number for all raters and systems, one for each (raters first), or a vector with the
#'     names of some (0 for the others).
#' @param missing Probability that a rating is missing, in \[0, 1), by default 0: one number, one
#'   for each rater, or a vector with the names of some raters (0 for the others). Systems answer
#'   every case.
#' @param copying A data frame with columns `from`, `to` and `probability`, the probability in
#'   \[0, 1\] that rater or system `to` repeats the answer of `from` to a case. `from` and `to` are
#'   names or numbers; systems are numbered after the raters. Systems may copy raters or systems,
#'   raters only raters. Rows are applied in order. `NULL`, the default, for no copying.
#' @param matrices A list of confusion matrices, which replace accuracies, named by raters and
#'   systems. Rows of a matrix are true categories, columns are answers, and each row sums to one.
#'   An element is one matrix for all cases, or a list with a matrix for each stratum of
#'   `difficulty`. A further element `normalise`, `"expected"` (the default) or `"row"`, scales the
#'   other matrices; see [confusion_matrix()]. The default is an empty list.
#' @param drift Increase of accuracy from the first case of a panel to the last, in (-1, 1), by
#'   default 0; negative for a decrease. One number for all raters and systems, one for each, or a
#'   vector with the names of some. The increase is linear, and the middle case has the accuracy of
#'   `raters` and `systems`. Not possible with `"fixed"` strata.
#' @param covariates A data frame with one row per kind of case. Columns: `weight`, the probability
#'   of the kind (with sum one); columns named by raters or systems, with their accuracies for this
#'   kind, which replace those in `raters` and `systems`; and other columns, which become covariates
#'   of the cases. Not possible with strata of `difficulty`. `NULL`, the default, for one kind
#'   without covariates.
#' @param ... Not used.
#' @return An object of class `rater_design`. Its `print()` method shows the settings, and which
#'   assumptions of [k_model()] they violate: raters are equally accurate, errors equally probable,
#'   and cases equally difficult. For tables, see [design_tables].
#' @section Shared errors: Raters and systems have shared errors if they are wrong on the same cases
#' more often than by chance. Each answer is computed from a random number `u`, uniform on \[0, 1\].
#' The answer is correct if `u` is at most the accuracy. Larger numbers give the wrong categories in
#' order, starting with the one after the true category. With the loading `l`,
#' `u = pnorm(l * f + sqrt(1 - l^2) * e)`. Here `f` and `e` are standard normal random numbers. `f`
#' is the same for all answers to a case, and `e` is drawn separately for each answer. Loadings do
#' not change accuracies.
#'
#' @family simulation
#' @examples
#' # Three equally accurate raters and a more accurate system
#' rater_design(raters = c(0.6, 0.6, 0.6), systems = 0.9)
#'
#' # Raters and system err on the same cases; the first rater rates half of them, and gets worse
#' rater_design(
#'   c(ann = 0.8, bob = 0.8, eve = 0.8), 0.9,
#'   difficulty = list(loading = 0.6), missing = c(ann = 0.5), drift = c(ann = -0.2)
#' )
#'
#' # Two raters are worse on images of an old device; the third and the system are not
#' rater_design(
#'   c(ann = 0.8, bob = 0.8, eve = 0.9), 0.85,
#'   covariates = data.frame(
#'     weight = c(0.7, 0.3), device = c("new", "old"), ann = c(0.9, 0.6), bob = c(0.85, 0.65)
#'   )
#' )
#' @export
rater_design <- function(raters, systems = NULL, categories = 5L, n = 200L,
                         base_rates = "uniform", concentration = 1, dispersion = 1,
                         error_range = 0, difficulty = 0, missing = 0, copying = NULL,
                         matrices = list(), drift = 0, covariates = NULL, ...) {
  check_call()
  labels <- check_category_labels(categories)
  raters <- name_judges(check_probabilities(raters, "raters", 2L), "rater")
  systems <- name_judges(check_probabilities(systems, "systems", 0L), "system")
  judges <- c(names(raters), names(systems))
  check_judge_names(judges)
  settings <- check_difficulty(difficulty)
  matrices <- matrices %||% list()
  normalise_setting <- if (is.list(matrices)) matrices[["normalise"]]
  if (is.list(matrices)) matrices <- matrices[names2(matrices) != "normalise"]
  base_rate_law <-
    if (is.character(base_rates)) check_choice(base_rates, c("uniform", "dirichlet")) else "fixed"
  case_kinds <- convert_case_kinds(
    covariates, settings$value, judges, labels, dispersion, names(matrices)
  )
  if (!is_empty(case_kinds$matrices)) matrices <- c(matrices, case_kinds$matrices)
  strata_affect_systems <- "difficulty" %in% settings$shared
  strata <- check_strata(case_kinds$strata, c(raters, if (strata_affect_systems) systems))
  design <- list(
    categories = labels, n = check_count(n, "n"), raters = raters, systems = systems,
    law = base_rate_law, base_rates = if (base_rate_law == "fixed")
      check_base_rates(base_rates, length(labels)) else double(),
    concentration = check_number(concentration, "concentration", 0, open_min = TRUE),
    dispersion = check_number(dispersion, "dispersion", 0, open_min = TRUE),
    error_range = check_number(error_range, "error_range", 0, 1),
    normalise = check_choice(normalise_setting %||% "expected", c("expected", "row"), "normalise"),
    strata = strata,
    strata_drawn = check_choice(settings$strata, c("drawn", "fixed"), "strata") == "drawn",
    redraw = check_flag(settings$redraw, "redraw"),
    system_strata = strata_affect_systems, system_errors = "errors" %in% settings$shared,
    missing = numbers_by_judge(missing, names(raters), "missing", 0, "rater"),
    copying = check_copying(copying, names(raters), names(systems)),
    matrices = check_matrices(matrices, judges, labels, nrow(strata)),
    loading = numbers_by_judge(settings$loading, judges, "loading", -1, "rater and system"),
    drift = numbers_by_judge(drift, judges, "drift", -1, "rater and system"),
    hidden = double(), covariates = case_kinds$covariates, by_kind = case_kinds$judges
  )
  # With fixed strata, the cases of a stratum follow one another. Drift changes accuracy with the
  # position of a case, so it would change the accuracy of whole strata.
  abort_argument_if(any(design$drift != 0) && !design$strata_drawn && nrow(strata) > 1L,
    "drift", "{.arg drift} cannot be combined with fixed strata.",
    x = "In {.arg difficulty}, {.code strata = \"fixed\"} puts the cases of a stratum in sequence.",
    i = "Set {.code strata = \"drawn\"} in {.arg difficulty}.")
  check_memory(
    as.double(length(labels))^2 * length(judges) * nrow(strata), "probabilities of a design",
    "Use fewer categories, raters or strata."
  )
  structure(design, class = c("rater_design", "fallible_result"))
}

# Returns TRUE if the categories of a design are ordered. The probability of an error then depends
# on the distance between the true and the wrong category.
is_ordered <- function(design) design$dispersion != 1 && n_categories(design) > 2L

#' Simulation designs of Lehner (2015)
#'
#' Returns the design of the simulations in a figure of Lehner (2015): three raters and one or more
#' systems (classifiers), with five categories.
#'
#' @param figure Number of a figure, 1 to 14.
#' @param system Accuracy (probability of a correct answer) of each system, in \[0, 1\], by default
#'   the values of the paper. Names of the vector are names of the systems, by default
#'   `"system 0.1"` and so on.
#' @param ... Not used.
#' @return A [rater_design()]. The designs of two figures have the same number of cases and the same
#'   mean accuracy of raters:
#'
#'   | figures | cases | mean accuracy of raters |
#'   |---|---|---|
#'   | 1 and 8 | 5000 | .6 |
#'   | 2 and 9 | 200 | .4 |
#'   | 3 and 10 | 200 | .6 |
#'   | 4 and 11 | 200 | .8 |
#'   | 5 and 12 | 50 | .4 |
#'   | 6 and 13 | 50 | .6 |
#'   | 7 and 14 | 50 | .8 |
#'
#'   In Figures 1 to 7, all raters have the mean accuracy, all errors are equally probable, and all
#'   cases are equally difficult. Figures 8 to 14 violate these assumptions:
#'   * The accuracy of the first rater is .1 below the mean. The second rater has the mean accuracy.
#'     The accuracy of the third rater is .1 above the mean.
#'   * The accuracies of raters and systems are .2 lower in a random third of the cases, and .2
#'     higher in another third.
#'   * The probability of an error halves with each further step from the true category. It is also
#'     multiplied by a random number from 0 to 2.
#' @family simulation
#' @templateVar where Figures 1-14
#' @template ref-lehner
#' @examples
#' # print() shows the accuracies, and which assumptions are violated
#' lehner_design(8)
#' @export
lehner_design <- function(figure, system = c(0.1, 0.3, 0.5, 0.7, 0.9), ...) {
  check_call()
  figure <- check_count(figure, "figure", min = 1L, max = 14L)
  system <- check_probabilities(system, "system", 0L)
  if (!is_empty(system) && !has_names(system)) names(system) <- paste("system", system)
  figure_in_series <- (figure - 1L) %% 7L + 1L
  violation_size <- as.double(figure > 7L) # 1 if the assumptions are violated, otherwise 0
  rater_design(
    c(0.6, 0.4, 0.6, 0.8, 0.4, 0.6, 0.8)[[figure_in_series]] + c(-0.1, 0, 0.1) * violation_size,
    system, n = c(5000L, 200L, 200L, 200L, 50L, 50L, 50L)[[figure_in_series]],
    dispersion = 1 + violation_size, error_range = violation_size, difficulty = 0.2 * violation_size
  )
}

# Returns the accuracies of raters and then of systems. For a rater or system with a confusion
# matrix, the accuracy is the mean probability of a correct answer, weighted by expected base rates
# and by weights of strata.
given_accuracies <- function(design) {
  accuracy <- c(design$raters, design$systems)
  weight <- design$strata$weight
  for (judge in which(lengths(design$matrices[seq_along(accuracy)]) > 0L)) {
    p_right <- map_dbl(seq_along(weight), function(stratum) {
      sum(expected_base_rates(design) * diag(user_confusion_matrix(design, judge, stratum)))
    })
    accuracy[[judge]] <- signif(sum(weight * p_right), 6L)
  }
  accuracy
}

# Returns the expected base rates of a design. If base rates are random, they are all expected to be
# equal.
expected_base_rates <- function(design) {
  n <- n_categories(design)
  if (design$law == "fixed") design$base_rates else rep(1 / n, n)
}

# Returns descriptions of the K-properties (assumptions of k_model()) that the design violates, a
# character vector. It is empty if all K-properties hold.
design_violations <- function(x) {
  shifts <- x$strata$shift
  judges <- c(names(x$raters), names(x$systems))
  describe_exception <- function(shared) if (!shared && n_systems(x) > 0L) ", of raters only"
  judges_with_matrix <- judges[lengths(x$matrices) > 0L & !judges %in% x$by_kind]
  used_copying <- x$copying[x$copying$probability > 0, ]
  describe_judges <- function(description, x) {
    value_texts <- format(signif(x, 3L), trim = TRUE, drop0trailing = TRUE)
    if (any(x != 0)) paste(description, shorten(paste(judges, "=", value_texts)[x != 0]))
  }
  c(
    if (!all_same(given_accuracies(x)[seq_along(x$raters)])) "raters are not equally accurate",
    if (x$dispersion != 1) paste0("errors are ", format(x$dispersion),
      " times as likely as errors one category farther from the truth",
      describe_exception(x$system_errors)),
    if (x$error_range > 0) paste0("errors vary by up to ", format(100 * x$error_range), "%",
      describe_exception(x$system_errors)),
    if (!all_same(shifts)) paste0(
      "accuracy shifts with difficulty by ", shorten(shifts), describe_exception(x$system_strata)
    ),
    if (!is_empty(x$by_kind)) paste(
      "accuracy of", shorten(x$by_kind), "depends on", shorten(names(x$covariates))
    ),
    words_with_labels("confusion matrices are given for", judges_with_matrix),
    if (nrow(used_copying) > 0L) shorten(paste(
      judges[used_copying$to], "repeats", paste0(signif(100 * used_copying$probability, 3L), "%"),
      "of the answers of", judges[used_copying$from]
    ), most = 4L),
    describe_judges("errors are correlated, by loadings", x$loading),
    describe_judges("accuracy drifts over the cases by", x$drift)
  )
}

# Returns the design with all raters and only the system with number `system`. Systems that this
# system copies, directly or indirectly, become hidden systems: their answers are drawn but not
# returned.
keep_system <- function(design, system) {
  if (!is_world(design)) {
    rater_count <- n_raters(design)
    # In `copying`, raters have the first numbers, and systems the next numbers.
    kept_judges <- judges_with_answers <- c(seq_len(rater_count), rater_count + system)
    repeat {
      copying <- design$copying[design$copying$to %in% kept_judges, ]
      copied_judges <- setdiff(copying$from, kept_judges)
      if (is_empty(copied_judges)) break
      kept_judges <- c(kept_judges, copied_judges)
    }
    design$copying <- modify_fields(copying, c("from", "to"), match, kept_judges)
    design$hidden <- unname(design$systems[setdiff(kept_judges, judges_with_answers) - rater_count])
    design <- modify_fields(design, c("matrices", "loading", "drift"), `[`, kept_judges)
  }
  design$systems <- design$systems[system]
  design
}

# Returns TRUE if the design is a user-defined function that draws ratings (class rater_world).
is_world <- function(design) inherits(design, "rater_world")

# ---- Tables and printed descriptions of models, designs and estimators --------------------------

#' Tables of models, designs and estimators
#'
#' Returns the arguments of a [rater_model()], a [rater_design()] or an [accuracy_estimator()] as
#' tables: call `tidy(x)`, `glance(x)` or `format(x)` for such an object `x`.
#'
#' @return `tidy()`: a tibble.
#'   * For a [rater_model()]: one row for each of the arguments `accuracy`, `errors`, `difficulty`
#'     and `system`, and for `base_rates` if it is a formula with covariates. Columns: `property`,
#'     the name of the argument; `value`, a string; and `holds`, `TRUE` if [k_model()] has the same
#'     value. `holds` is `NA` for `system` and `base_rates`.
#'   * For a [rater_design()]: one row per rater and system. Columns: `name`; `kind`, `"rater"` or
#'     `"system"`; and `accuracy`, the probability of a correct answer, which is `NA` if a confusion
#'     matrix is given.
#'   * For an [accuracy_estimator()]: one row per option. Columns: `option`, the name of the option;
#'     and `value`, a string.
#'
#'   `glance()`: a tibble with one row.
#'   * For a model: the first four arguments, one per column, and `prior`: `"weak"`, `"none"`,
#'     `"pooled"` or, for any other prior, `"own"`.
#'   * For a design: the numbers of `cases`, `raters`, `systems` and `categories`; `base_rates`,
#'     `"fixed"` or drawn from the distribution `"uniform"` or `"dirichlet"`; `dispersion` and
#'     `error_range`; `difficulty`, the largest change of an accuracy by difficulty; `missing`, the
#'     mean probability that a rating is missing; and `k_properties`, `TRUE` if all assumptions of
#'     [k_model()] hold.
#'   * For an estimator: a column for each option.
#'
#'   `format()`: one line of text.
#' @name design_tables
#' @family simulation
#' @examples
#' # Which assumptions does a model share with the K-model?
#' tidy(rater_model(accuracy = "rater"))
#' # Accuracies of raters and systems in a design, and its other settings
#' tidy(lehner_design(8))
#' glance(lehner_design(8))
#' # The options of an estimator in one line
#' format(accuracy_estimator("joint"))
NULL

schema_of.rater_model <- function(x) { # nolint: object_name.
  arguments <- x[c("accuracy", "errors", "difficulty", "system")]
  value <- unlist(c(arguments, base_rates = if (has_formula(x)) formula_text(x)))
  k_model_values <- c("common", "uniform", "none", NA, NA)[seq_along(value)]
  property_table <-
    columns_tibble(property = names(value), value = value, holds = value == k_model_values)
  new_schema(list(table = property_table), c(arguments, prior = prior_name(x)), format(x))
}

schema_of.rater_design <- function(x) { # nolint: object_name.
  accuracy <- c(x$raters, x$systems)
  judge_kind <- rep(c("rater", "system"), c(n_raters(x), n_systems(x)))
  judge_table <- columns_tibble(
    name = names(accuracy), kind = judge_kind,
    accuracy = replace(accuracy, lengths(x$matrices) > 0L, NA)
  )
  violations <- design_violations(x)
  sizes <- list(
    cases = x$n, raters = n_raters(x), systems = n_systems(x), categories = n_categories(x)
  )
  size_text <- toString(Map(count_noun, sizes, c("case", "rater", "system", "category")))
  known_accuracies <- given_accuracies(x)
  accuracy_texts <- paste(names(known_accuracies), "=", known_accuracies)
  accuracy_texts_by_kind <- map_chr(split(accuracy_texts, judge_kind), shorten)
  missing_text <- percent(x$missing)
  if (!all_same(missing_text)) missing_text <- shorten(paste(names(x$raters), missing_text))
  new_schema(
    list(table = judge_table),
    c(sizes, list(
      base_rates = x$law, dispersion = x$dispersion, error_range = x$error_range,
      difficulty = max(abs(x$strata$shift)), missing = mean(x$missing),
      k_properties = is_empty(violations)
    )),
    size_text, head = c(
      size_text,
      paste0("Accuracy of ", names(accuracy_texts_by_kind), "s: ", accuracy_texts_by_kind),
      paste("Base rates:", switch(x$law,
        fixed = shorten(paste(x$categories, format_decimals(x$base_rates))),
        uniform = "uniform numbers, normalised, drawn for each panel",
        dirichlet = sprintf("Dirichlet(%s), drawn for each panel", x$concentration)
      )),
      if (any(x$missing > 0)) paste("Missing ratings:", missing_text[[1L]]),
      if (!is_empty(violations)) "The K-properties do not hold:" else "The K-properties hold",
      paste("  -", violations, recycle0 = TRUE)
    )
  )
}
