#' Designs of simulated panels
#'
#' Specifies how raters and systems (classifiers) answer, so that [simulate_ratings()] can draw
#' ratings with known truth. A set of drawn ratings and answers is called a panel.
#'
#' @param raters Probability of a correct answer for each of at least two raters, in \[0, 1\],
#'   before `difficulty` and other arguments change it. Names, if any, name the raters.
#' @param systems The same for systems, or `NULL` for no systems.
#' @param categories Number of categories (at least 2), or their labels in order.
#' @param n Number of cases that [simulate_ratings()] draws by default; 200 if it is not given.
#' @param base_rates Probabilities of the categories, which sum to one. Or `"uniform"` (the
#'   default): uniform random numbers divided by their sum, drawn for each panel. Or `"dirichlet"`:
#'   drawn for each panel from a Dirichlet distribution.
#' @param concentration Parameter of the Dirichlet distribution, above 0, the same for all
#'   categories; by default 1.
#' @param dispersion Factor by which an error is less probable with each further step from the true
#'   category, in the order of categories. With 1, the default, all errors are equally probable.
#' @param error_range A number `r` in \[0, 1\]: error probabilities are multiplied by random numbers
#'   from `1 - r` to `1 + r`; see [confusion_matrix()]. The default is 0.
#' @param difficulty Loss of accuracy on one third of the cases, and gain on another third, in
#'   \[0, 1\]. Or a data frame with one row per stratum of cases: `shift`, which is added to
#'   accuracies, in \[-1, 1\]; and `weight`, the probability of the stratum. Or a list of settings:
#'   * `value`: a number or a data frame as above.
#'   * `strata`: `"drawn"`, the default: the stratum of each case is random. `"fixed"`: each stratum
#'     has its share of the cases, and the cases of a stratum follow one another.
#'   * `redraw`: `TRUE` (the default) if the random numbers of `error_range` are drawn for each
#'     stratum; `FALSE` if they are the same in all strata.
#'   * `shared`: which effects also hold for systems: `"difficulty"`, `"errors"` (`dispersion` and
#'     `error_range`), or both (the default).
#'   * `loading`: numbers in (-1, 1) that correlate the errors of raters and systems; see section
#'     Shared errors. One number for all, one for each (raters first), or some by name (for the
#'     others it is 0).
#' @param missing Probability that a rating is missing, in \[0, 1): one number, one for each rater,
#'   or some by name (for the others it is 0). Systems answer every case.
#' @param copying A data frame with columns `from`, `to` and `probability`. With this probability,
#'   `to` repeats the answer of `from` to a case; rows are applied in order. `from` and `to` are
#'   names or numbers; systems are numbered after the raters. Raters copy only raters; systems copy
#'   raters or systems.
#' @param matrices A named list of confusion matrices (probabilities of answers in columns, given
#'   true categories in rows), for raters or systems whose matrix is given instead of their
#'   accuracy. Each element is a matrix for all cases, or a list with a matrix for each stratum of
#'   `difficulty`. An additional element `normalise` is passed on to
#'   [confusion_matrix()], which makes the matrices of the other raters and systems.
#' @param drift Increase of accuracy from the first case of a panel to the last, in (-1, 1);
#'   negative for a decrease. One number, one for each rater and system, or some by name. The
#'   increase is linear, and `raters` and `systems` are the accuracies in the middle. It cannot be
#'   combined with fixed strata.
#' @param covariates A data frame with one row per kind of case. Columns: `weight`, the probability
#'   of the kind; covariates, which the ratings will have; and columns named after raters and
#'   systems whose accuracy depends on the kind. These columns contain their accuracies, which
#'   replace those in `raters` and `systems`. It cannot be combined with `difficulty`.
#' @param ... Not used; catches misspelt arguments.
#' @section Shared errors: Judges (raters and systems) have shared errors if they are wrong on the
#' same cases more often than by chance. Each answer is computed from a uniform random number. The
#' answer is right if the number is at most the accuracy. Larger numbers give wrong answers, in the
#' order of the categories after the true one. Without loadings, these numbers are independent. With
#' loadings, they are values of the normal distribution function at standard
#' normal variables. The correlation of the variables of two judges is the product of their
#' loadings. Loadings do not change accuracies.
#'
#' @return An object of class `rater_design`. Its `print()` method lists which assumptions of
#'   [k_model()] do not hold: raters are equally accurate, errors equally probable, and cases
#'   equally difficult.
#' @family simulation
#' @examples
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
  difficulty_settings <- check_difficulty(difficulty)
  matrices <- matrices %||% list()
  normalise <- (if (is.list(matrices)) matrices[["normalise"]]) %||% "expected"
  if (is.list(matrices)) matrices <- matrices[names2(matrices) != "normalise"]
  base_rate_law <- if (is.character(base_rates))
    check_choice(base_rates, c("uniform", "dirichlet")) else "fixed"
  base_rates <- if (base_rate_law == "fixed")
    check_base_rates(base_rates, length(labels)) else double()
  case_kinds <- convert_case_kinds(covariates, difficulty_settings$value, judges, labels,
    dispersion, names(matrices))
  if (!is_empty(case_kinds$matrices)) matrices <- c(matrices, case_kinds$matrices)
  systems_get_harder <- "difficulty" %in% difficulty_settings$shared
  strata <- check_strata(case_kinds$strata, c(raters, if (systems_get_harder) systems))
  design <- list(
    categories = labels, n = check_count(n, "n"), raters = raters, systems = systems,
    law = base_rate_law, base_rates = base_rates,
    concentration = check_number(concentration, "concentration", 0, open_min = TRUE),
    dispersion = check_number(dispersion, "dispersion", 0, open_min = TRUE),
    error_range = check_number(error_range, "error_range", 0, 1),
    normalise = check_choice(normalise, c("expected", "row")),
    strata = strata,
    strata_drawn =
      check_choice(difficulty_settings$strata, c("drawn", "fixed"), "strata") == "drawn",
    redraw = check_flag(difficulty_settings$redraw, "redraw"),
    system_strata = systems_get_harder, system_errors = "errors" %in% difficulty_settings$shared,
    missing = numbers_by_judge(missing, names(raters), "missing", 0, "rater"),
    copying = check_copying(copying, names(raters), names(systems)),
    matrices = check_matrices(matrices, judges, labels, nrow(strata)),
    loading = numbers_by_judge(
      difficulty_settings$loading, judges, "loading", -1, "rater and system"
    ),
    drift = numbers_by_judge(drift, judges, "drift", -1, "rater and system"),
    hidden = double(), covariates = case_kinds$covariates, by_kind = case_kinds$judges
  )
  # With fixed strata, the cases of a stratum follow one another. Drift changes accuracy with the
  # position of a case, so it would change the accuracy of whole strata.
  abort_argument_if(any(design$drift != 0) && !design$strata_drawn && nrow(strata) > 1L,
    "drift", "{.arg drift} cannot be combined with fixed strata.",
    x = "In {.arg difficulty}, {.code strata = \"fixed\"} puts the cases of a stratum in sequence.",
    i = "Use {.code difficulty = list(strata = \"drawn\")}.")
  check_memory(
    as.double(length(labels))^2 * length(judges) * nrow(strata), "probabilities of a design",
    "Use fewer categories, raters or strata."
  )
  structure(design, class = c("rater_design", "fallible_result"))
}

# Returns TRUE if the categories of a design are ordered: errors depend on their distance.
is_ordered <- function(design) design$dispersion != 1 && n_categories(design) > 2L

#' Simulation designs of Lehner (2015)
#'
#' Returns the design of the simulations in a figure of Lehner (2015): three raters and one or more
#' systems (classifiers), with five categories.
#'
#' @param figure Number of a figure, 1 to 14.
#' @param system Probability of a correct answer of each system, in \[0, 1\], by default the values
#'   of the paper. If the vector has no names, systems have names such as `"system 0.1"`.
#' @param ... Not used; catches misspelt arguments.
#' @return A [rater_design()]. In Figures 1 to 7, all raters have the same accuracy (.6, .4, .6, .8,
#'   .4, .6, .8), all errors are equally probable, and all cases are equally difficult. There are
#'   5000, 200, 200, 200, 50, 50 and 50 cases.
#'
#'   Figures 8 to 14 have the same numbers of cases, but violate these assumptions. The accuracies
#'   of the three raters are .1 below, equal to, and .1 above these values. All accuracies, also of
#'   systems, are .2 lower in one third of the cases and .2 higher in another third. The probability
#'   of an error halves with each step from the true category, and is multiplied by a random number
#'   from 0 to 2.
#' @family simulation
#' @templateVar where Figures 1-14
#' @template ref-lehner
#' @examples
#' lehner_design(8)
#' @export
lehner_design <- function(figure, system = c(0.1, 0.3, 0.5, 0.7, 0.9), ...) {
  check_call()
  figure <- check_count(figure, "figure", min = 1L, max = 14L)
  system <- check_probabilities(system, "system", 0L)
  if (!is_empty(system) && !has_names(system)) names(system) <- paste("system", system)
  column_of_figures <- (figure - 1L) %% 7L + 1L
  violates_assumptions <- figure > 7L
  rater_design(
    c(0.6, 0.4, 0.6, 0.8, 0.4, 0.6, 0.8)[[column_of_figures]] +
      c(-0.1, 0, 0.1) * violates_assumptions,
    system, n = c(5000L, 200L, 200L, 200L, 50L, 50L, 50L)[[column_of_figures]],
    dispersion = 1 + violates_assumptions,
    error_range = 0 + violates_assumptions, difficulty = 0.2 * violates_assumptions
  )
}

design_text <- function(x, kind, violations) {
  accuracy <- given_accuracies(x)
  by_kind <- split(paste(names(accuracy), "=", accuracy), kind)
  missing <- percent(x$missing)
  if (!all_same(missing)) missing <- shorten(paste(names(x$raters), missing))
  c(
    paste0("Accuracy of ", names(by_kind), "s: ", map_chr(by_kind, shorten)),
    paste("Base rates:", switch(x$law,
      fixed = shorten(paste(x$categories, format_decimals(x$base_rates))),
      uniform = "uniform numbers, normalised, drawn for each panel",
      dirichlet = sprintf("Dirichlet(%s), drawn for each panel", x$concentration)
    )),
    if (any(x$missing > 0)) paste("Missing ratings:", missing[[1L]]),
    if (!is_empty(violations)) "The K-properties do not hold:" else "The K-properties hold",
    paste("  -", violations, recycle0 = TRUE)
  )
}

# Returns the accuracies of raters and then of systems that the user gave. If the user gave a
# confusion matrix instead, its accuracy is a mean over expected base rates and strata.
given_accuracies <- function(design) {
  accuracy <- c(design$raters, design$systems)
  rates <- expected_base_rates(design)
  for (judge in which(lengths(design$matrices[seq_along(accuracy)]) > 0L)) {
    p_right <- map_dbl(seq_along(design$strata$weight), function(stratum) {
      sum(rates * diag(user_confusion_matrix(design, judge, stratum)))
    })
    accuracy[[judge]] <- signif(sum(design$strata$weight * p_right), 6L)
  }
  accuracy
}

# Returns the expected base rates of a design. If base rates are random, they are all expected to be
# equal.
expected_base_rates <- function(design) {
  n <- n_categories(design)
  if (design$law == "fixed") design$base_rates else rep(1 / n, n)
}

# Returns descriptions of the K-properties that the design violates; empty if all of them hold.
design_violations <- function(x) {
  shifts <- x$strata$shift
  judges <- c(names(x$raters), names(x$systems))
  affected <- function(shared) if (shared || n_systems(x) == 0L) "" else ", of raters only"
  judges_with_matrix <- judges[lengths(x$matrices) > 0L & !judges %in% x$by_kind]
  copying <- x$copying[x$copying$probability > 0, ]
  list_judges <- function(x) {
    shorten(paste(judges, "=", format(signif(x, 3L), trim = TRUE, drop0trailing = TRUE))[x != 0])
  }
  c(
    if (!all_same(given_accuracies(x)[seq_along(x$raters)])) "raters are not equally accurate",
    if (x$dispersion != 1) fill_template("errors are %s times as likely as errors one category
      farther from the truth%s", format(x$dispersion), affected(x$system_errors)),
    if (x$error_range > 0) sprintf("errors vary by up to %s%%%s",
      format(100 * x$error_range), affected(x$system_errors)),
    if (!all_same(shifts)) paste0(
      "accuracy shifts with difficulty by ", shorten(shifts), affected(x$system_strata)
    ),
    if (!is_empty(x$by_kind)) paste(
      "accuracy of", shorten(x$by_kind), "depends on", shorten(names(x$covariates))
    ),
    words_with_labels("confusion matrices are given for", judges_with_matrix),
    if (nrow(copying) > 0L) shorten(paste(
      judges[copying$to], "repeats", paste0(signif(100 * copying$probability, 3L), "%"),
      "of the answers of", judges[copying$from]
    ), most = 4L),
    if (any(x$loading != 0)) paste("errors are correlated, by loadings", list_judges(x$loading)),
    if (any(x$drift != 0)) paste("accuracy drifts over the cases by", list_judges(x$drift))
  )
}

# Returns the design with all raters and only one system, number `system`. Systems that this system
# copies, directly or indirectly, become hidden systems: their answers are drawn but not returned.
# In `copying`, systems are numbered after raters.
keep_system <- function(design, system) {
  if (is_world(design)) {
    design$systems <- design$systems[system]
    return(design)
  }
  raters <- n_raters(design)
  kept_judges <- judges_with_answers <- c(seq_len(raters), raters + system)
  repeat {
    sources <- setdiff(design$copying$from[design$copying$to %in% kept_judges], kept_judges)
    if (is_empty(sources)) break
    kept_judges <- c(kept_judges, sources)
  }
  copying <- design$copying[design$copying$to %in% kept_judges, ]
  design$copying <- modify_fields(copying, c("from", "to"), match, kept_judges)
  design$hidden <- unname(design$systems[setdiff(kept_judges, judges_with_answers) - raters])
  design$systems <- design$systems[system]
  modify_fields(design, c("matrices", "loading", "drift"), `[`, kept_judges)
}

# Returns TRUE if ratings are drawn by a user-defined function. Such designs are called worlds.
is_world <- function(design) inherits(design, "rater_world")

# Converts argument `covariates` of rater_design(), a data frame with a row per kind of case, to a
# list. If it is NULL, the list contains only `strata`, which is then argument `difficulty`:
# * strata: a data frame for check_strata(), with one stratum per kind
# * covariates: a tibble of the covariates of each kind
# * judges: names of the raters and systems whose accuracy depends on the kind
# * matrices: for each of these raters and systems, a list with a confusion matrix per kind
#
# `judges`: names of all raters and systems. `labels`: labels of categories. `in_matrices`: names in
# argument `matrices`.
convert_case_kinds <- function(covariates, difficulty, judges, labels, dispersion, in_matrices) {
  if (is.null(covariates)) return(list(strata = difficulty))
  check_case_kinds(covariates, difficulty, judges, in_matrices)
  by_kind <- intersect(judges, names(covariates))
  case_covariates <- covariates[setdiff(names(covariates), c("weight", by_kind))]
  for (name in names(case_covariates)) check_covariate(case_covariates[[name]], name)
  list(
    strata = data.frame(shift = 0, weight = covariates$weight),
    covariates = tibble::as_tibble(case_covariates), judges = by_kind,
    matrices = lapply(covariates[by_kind], lapply, matrix_with_equal_accuracy, length(labels),
      dispersion)
  )
}

# Returns a confusion matrix of `n` categories (true category x answer) with the same accuracy in
# each row. The probability of an error is divided by `dispersion` with each further step from the
# true category.
matrix_with_equal_accuracy <- function(accuracy, n, dispersion) {
  out <- dispersion^-abs(outer(seq_len(n), seq_len(n), `-`))
  diag(out) <- 0
  out <- out * (1 - accuracy) / rowSums(out)
  diag(out) <- accuracy
  out
}

# Tables and printed descriptions of models, designs and estimators.

#' Tables of models, designs and estimators
#'
#' Returns the arguments of a [rater_model()], a [rater_design()] or an [accuracy_estimator()] as
#' tables.
#'
#' @return `tidy()` returns a tibble.
#'   * For a [rater_model()]: one row per argument except `prior`. `property`: name of the argument;
#'     `value`: its value; `holds`: `TRUE` if it is the value of [k_model()], the model of equally
#'     accurate raters, equally probable errors and equally difficult cases (`NA` if the argument
#'     does not concern these assumptions).
#'   * For a [rater_design()]: one row per rater and system. `name`; `kind` (`"rater"` or
#'     `"system"`); and `accuracy`, `NA` if a confusion matrix is given.
#'   * For an [accuracy_estimator()]: one row per option. `option` and `value`, a string.
#'
#'   `glance()` returns a tibble with one row.
#'   * For a model: its arguments. `prior` is `"weak"`, `"none"`, `"pooled"` or, for any other
#'     prior, `"own"`.
#'   * For a design: the numbers of `cases`, `raters`, `systems` and `categories`; the distribution
#'     of its `base_rates` (`"fixed"`, `"uniform"` or `"dirichlet"`); its `dispersion` and
#'     `error_range`; `difficulty`, the largest change of an accuracy by difficulty; `missing`, the
#'     mean share of missing ratings; and `k_properties`, `TRUE` if all assumptions of [k_model()]
#'     hold.
#'   * For an estimator: its options.
#'
#'   `format()` returns one line of text.
#' @name design_tables
#' @family simulation
#' @examples
#' tidy(rater_model(accuracy = "rater"))
#' tidy(lehner_design(8))
#' glance(lehner_design(8))
#' format(accuracy_estimator("joint"))
NULL

schema_of.rater_model <- function(x) { # nolint: object_name.
  arguments <- x[c("accuracy", "errors", "difficulty", "system")]
  value <- unlist(c(arguments, base_rates = if (has_formula(x)) formula_text(x)))
  k_model <- c("common", "uniform", "none", NA, NA)[seq_along(value)]
  table <- columns_tibble(property = names(value), value = value, holds = value == k_model)
  new_schema(list(table = table), c(arguments, prior = prior_name(x)), format(x))
}

schema_of.rater_design <- function(x) { # nolint: object_name.
  accuracy <- c(x$raters, x$systems)
  table <- columns_tibble(
    name = names(accuracy), kind = rep(c("rater", "system"), c(n_raters(x), n_systems(x))),
    accuracy = replace(accuracy, lengths(x$matrices) > 0L, NA)
  )
  violations <- design_violations(x)
  line <- toString(c(
    count_noun(x$n, "case"), count_noun(n_raters(x), "rater"), count_noun(n_systems(x), "system"),
    count_noun(n_categories(x), "category")
  ))
  new_schema(
    list(table = table),
    list(
      cases = x$n, raters = n_raters(x), systems = n_systems(x), categories = n_categories(x),
      base_rates = x$law, dispersion = x$dispersion, error_range = x$error_range,
      difficulty = max(abs(x$strata$shift)), missing = mean(x$missing),
      k_properties = is_empty(violations)
    ),
    line, head = c(line, design_text(x, table$kind, violations))
  )
}
