#' Designs of simulated panels
#'
#' Specifies how raters and systems answer, so that [simulate_ratings()] can draw ratings with known
#' truth. The printed design lists the K-properties that do not hold; see [check_k_properties()].
#'
#' @param raters Initial probability of a correct answer for each rater, in \[0, 1\]; at least two.
#'   Names, if any, name the raters.
#' @param systems Initial probability of a correct answer for each system, in \[0, 1\], or `NULL`.
#'   Names, if any, name the systems.
#' @param categories Number of categories (at least 2), or their labels in order.
#' @param n Number of cases that [simulate_ratings()] draws by default.
#' @param base_rates Probabilities of the categories, which sum to one; or `"uniform"`, drawn for
#'   each panel as uniform numbers divided by their sum; or `"dirichlet"`, drawn from a Dirichlet
#'   distribution.
#' @param concentration Parameter of the Dirichlet distribution, above 0, the same for all
#'   categories.
#' @param dispersion,error_range See [confusion_matrix()].
#' @param difficulty Loss of accuracy on one third of the cases, and gain on another third, in
#'   \[0, 1\]. Or a data frame with one row per stratum of cases: `shift`, which is added to
#'   accuracies, in \[-1, 1\]; and `weight`, the probability of the stratum. Or a list:
#'   * `value`: a number or a data frame as above.
#'   * `strata`: `"drawn"`, the default: the stratum of each case is random. `"fixed"`: each stratum
#'     has exactly its share of the cases, rounded, and strata follow one another.
#'   * `redraw`: are the random factors of errors drawn again for each stratum? By default `TRUE`.
#'   * `shared`: effects on raters that also hold for systems, by default both of `"difficulty"` and
#'     `"errors"` (`dispersion` and `error_range`).
#'   * `loading`: loadings of answers on the effect of the case, in (-1, 1); see Shared errors. One
#'     number for all raters and systems, one for each (raters first), or some by name (others: 0).
#' @param missing Probability that a rating is missing, in \[0, 1): one number, one for each rater,
#'   or some by name (for the others it is 0). Systems answer every case.
#' @param copying A data frame with columns `from`, `to` and `probability`, in \[0, 1\]. With this
#'   probability, `to` repeats the answer of `from` to a case; rows apply in order. `from` and `to`
#'   are names or numbers; systems are numbered after the raters. Raters copy only raters; systems
#'   copy raters or systems.
#' @param matrices A named list of confusion matrices, with true categories in rows, for raters or
#'   systems whose matrix is not to be generated. Each element is a matrix, used as it is whatever
#'   the difficulty, or a list of matrices, one for each stratum of `difficulty`. An additional
#'   element `normalise`, `"expected"` or `"row"`, specifies how generated matrices are normalised;
#'   see [confusion_matrix()].
#' @param drift Increase of accuracy from the first case of a panel to the last, in (-1, 1);
#'   negative for a decrease. One number, one for each rater and system, or some by name; see Order
#'   of cases. Fixed strata are not allowed, because their cases follow one another.
#' @param covariates A data frame with one row per kind of case. Columns: `weight`, the
#'   probabilities of the kinds; covariates, which the ratings will have; and columns named after
#'   raters and systems whose accuracy depends on the kind, in \[0, 1\]. These are right with this
#'   probability whatever the truth, and their errors depend only on `dispersion`. Their expected
#'   accuracy is the mean over kinds. Not together with `difficulty`.
#' @section Shared errors:
#' A uniform number between 0 and 1 decides each answer. The right answer has the first part of the
#' interval, and the wrong answers follow in the order of categories after the true one. With
#' loadings, the numbers are probabilities of normal deviates with one common factor, the effect
#' of the case. The correlation of the deviates of two raters or systems is the product of their
#' loadings. Loadings do not change confusion matrices or expected accuracies.
#'
#' @section Order of cases:
#' With drift, the confusion matrix gives the probability of the right answer in the middle of the
#' panel. This probability is lower by half the drift at the first case, higher by half the drift at
#' the last, and linear in between. It is kept in \[0, 1\]. Wrong answers share the rest in
#' proportion.
#'
#' @return An object of class `rater_design`. Its `print()` method lists the assumptions that do not
#'   hold.
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
                         matrices = list(), drift = 0, covariates = NULL) {
  check_given()
  labels <- check_category_labels(categories)
  raters <- name_judges(check_probabilities(raters, "raters", 2L), "rater")
  systems <- name_judges(check_probabilities(systems, "systems", 0L), "system")
  judges <- c(names(raters), names(systems))
  check_judge_names(judges)
  hard <- check_difficulty(difficulty)
  matrices <- matrices %||% list()
  normalise <- if (is.list(matrices)) matrices[["normalise"]] %||% "expected"
  if (is.list(matrices)) matrices <- matrices[names2(matrices) != "normalise"]
  law <- if (is.character(base_rates)) {
    check_choice(base_rates, c("uniform", "dirichlet"), "base_rates")
  } else {
    base_rates <- check_base_rates(base_rates, length(labels))
    "fixed"
  }
  kinds <- design_kinds(covariates, hard$value, judges, labels, dispersion, names(matrices))
  if (length(kinds$matrices) > 0L) matrices <- c(matrices, kinds$matrices)
  shared <- "difficulty" %in% hard$shared
  strata <- check_strata(kinds$strata, c(raters, if (shared) systems))
  design <- list(
    categories = labels, n = check_count(n, "n"), raters = raters, systems = systems,
    law = law, base_rates = if (law == "fixed") base_rates else double(),
    concentration = check_number(concentration, "concentration", 0, open_min = TRUE),
    dispersion = check_number(dispersion, "dispersion", 0, open_min = TRUE),
    error_range = check_number(error_range, "error_range", 0, 1),
    normalise = check_choice(normalise, c("expected", "row"), "normalise"),
    strata = strata,
    strata_drawn = check_choice(hard$strata, c("drawn", "fixed"), "strata") == "drawn",
    redraw = check_flag(hard$redraw, "redraw"),
    system_strata = shared, system_errors = "errors" %in% hard$shared,
    missing = by_judge(missing, names(raters), "missing", 0, "rater"),
    copying = check_copying(copying, names(raters), names(systems)),
    matrices = check_matrices(matrices, judges, labels, nrow(strata)),
    loading = by_judge(hard$loading, judges, "loading", -1, "rater and system"),
    drift = by_judge(drift, judges, "drift", -1, "rater and system"),
    hidden = double(), covariates = kinds$covariates, by_kind = kinds$judges
  )
  # Cases of a fixed stratum follow one another, so that strata would differ in drift.
  abort_argument_if(any(design$drift != 0) && !design$strata_drawn && nrow(strata) > 1L,
    "drift", "{.arg drift} needs strata that are drawn.",
    x = "{.code difficulty = list(strata = \"fixed\")}: cases of a stratum stand together, in the
        order of cases over which accuracy drifts.", i = "Use {.val drawn}.")
  check_memory(
    as.double(length(labels))^2 * length(judges) * nrow(strata), "probabilities of a design",
    "Have fewer categories, raters or strata."
  )
  structure(design, class = c("rater_design", "fallible_result"))
}

# Are categories ordered? They are if errors depend on the distance of categories.
is_ordered <- function(design) design$dispersion != 1 && n_categories(design) > 2L

#' Designs of the paper's figures
#'
#' Returns the design of a simulation in Lehner (2015).
#'
#' @param figure Number of a figure, 1 to 14.
#' @param system Initial probability of a correct answer of each system, in \[0, 1\]; it also names
#'   the system, unless the vector has names.
#' @return A [rater_design()] of three raters, five categories and the figure's number of cases. In
#'   Figures 8 to 14, the accuracies of raters differ by .1, and accuracy shifts by -.2, 0 or .2
#'   with difficulty. Errors halve with each step of distance and vary by 100%. All of this holds
#'   for raters and systems. All systems answer the same panel.
#' @family simulation
#' @templateVar where Figures 1-14
#' @template ref-lehner
#' @examples
#' lehner_design(8)
#' @export
lehner_design <- function(figure, system = c(0.1, 0.3, 0.5, 0.7, 0.9)) {
  check_given()
  figure <- check_count(figure, "figure", min = 1L, max = 14L)
  system <- check_probabilities(system, "system", 0L)
  if (length(system) > 0L && is.null(names(system))) names(system) <- paste("system", system)
  row <- (figure - 1L) %% 7L + 1L
  violated <- figure > 7L
  rater_design(
    c(0.6, 0.4, 0.6, 0.8, 0.4, 0.6, 0.8)[[row]] + c(-0.1, 0, 0.1) * violated, system,
    n = c(5000L, 200L, 200L, 200L, 50L, 50L, 50L)[[row]], dispersion = 1 + violated,
    error_range = 0 + violated, difficulty = 0.2 * violated
  )
}

design_lines <- function(x, kind, broken) {
  accuracy <- given_accuracies(x)
  by_kind <- split(paste(names(accuracy), "=", accuracy), kind)
  missing <- percent(x$missing)
  if (!all_same(missing)) missing <- shorten(paste(names(x$raters), missing))
  c(
    paste0("Accuracy of ", names(by_kind), "s: ", vapply(by_kind, shorten, "")),
    paste("Base rates:", switch(x$law,
      fixed = shorten(paste(x$categories, decimals(x$base_rates))),
      uniform = "uniform numbers, normalised, drawn for each panel",
      dirichlet = paste0("Dirichlet(", x$concentration, "), drawn for each panel")
    )),
    if (any(x$missing > 0)) paste("Missing ratings:", missing[[1L]]),
    if (length(broken) > 0L) "The K-properties do not hold:" else "The K-properties hold",
    paste("  -", broken, recycle0 = TRUE)
  )
}

# Initial accuracies of raters, then systems. Accuracies of given matrices are means over expected
# base rates and over strata.
given_accuracies <- function(design) {
  accuracy <- c(design$raters, design$systems)
  rates <- expected_rates(design)
  for (judge in which(lengths(design$matrices[seq_along(accuracy)]) > 0L)) {
    right <- vapply(seq_len(nrow(design$strata)), function(stratum) {
      sum(rates * diag(given_matrix(design, judge, stratum)))
    }, 0)
    accuracy[[judge]] <- signif(sum(design$strata$weight * right), 6L)
  }
  accuracy
}

# Drawn base rates have equal expectations.
expected_rates <- function(design) {
  n <- n_categories(design)
  if (design$law == "fixed") design$base_rates else rep(1 / n, n)
}

# Descriptions of the assumptions that the design violates; empty if all hold.
design_violations <- function(x) {
  shifts <- x$strata$shift
  judges <- c(names(x$raters), names(x$systems))
  whose <- function(shared) if (shared || n_systems(x) == 0L) "" else ", of raters only"
  given <- judges[lengths(x$matrices) > 0L & !judges %in% x$by_kind]
  copying <- x$copying[x$copying$probability > 0, ]
  list_judges <- function(x) {
    shorten(paste(judges, "=", format(signif(x, 3L), trim = TRUE, drop0trailing = TRUE))[x != 0])
  }
  c(
    if (!all_same(given_accuracies(x)[seq_along(x$raters)])) "raters are not equally accurate",
    if (x$dispersion != 1) paste0(
      "errors are ", format(x$dispersion), " times as likely one category nearer to the truth",
      whose(x$system_errors)
    ),
    if (x$error_range > 0) paste0(
      "errors vary by up to ", format(100 * x$error_range), "%", whose(x$system_errors)
    ),
    if (!all_same(shifts)) paste0(
      "accuracy shifts with difficulty by ", shorten(shifts), whose(x$system_strata)
    ),
    if (length(x$by_kind) > 0L) paste(
      "accuracy of", shorten(x$by_kind), "depends on", shorten(names(x$covariates))
    ),
    if (length(given) > 0L) paste("confusion matrices are given for", shorten(given)),
    if (nrow(copying) > 0L) shorten(paste(
      judges[copying$to], "repeats", paste0(signif(100 * copying$probability, 3L), "%"),
      "of the answers of", judges[copying$from]
    ), most = 4L),
    if (any(x$loading != 0)) paste("errors are correlated, by loadings", list_judges(x$loading)),
    if (any(x$drift != 0)) paste("accuracy drifts over the cases by", list_judges(x$drift))
  )
}

# Keeps all raters and one of the systems. Systems are numbered after raters. Sources that the
# system copies, directly or indirectly, are kept as hidden systems.
keep_system <- function(design, system) {
  if (is_world(design)) {
    design$systems <- design$systems[system]
    return(design)
  }
  raters <- n_raters(design)
  judges <- kept <- c(seq_len(raters), raters + system)
  repeat {
    sources <- setdiff(design$copying$from[design$copying$to %in% judges], judges)
    if (length(sources) == 0L) break
    judges <- c(judges, sources)
  }
  copying <- design$copying[design$copying$to %in% judges, ]
  copying[c("from", "to")] <- lapply(copying[c("from", "to")], match, judges)
  design$copying <- copying
  design$hidden <- unname(design$systems[setdiff(judges, kept) - raters])
  design$systems <- design$systems[system]
  by_judge <- c("matrices", "loading", "drift")
  design[by_judge] <- lapply(design[by_judge], `[`, judges)
  design
}

is_world <- function(design) inherits(design, "rater_world")

# Covariates of designed cases. Accuracy may depend on the kind of a case.

# A list: strata (see check_strata()); covariates (a tibble, a row per kind); matrices (by rater or
# system, a list with one matrix per kind); judges (names of raters and systems whose accuracy
# depends on the kind). Without covariates only `strata`.
design_kinds <- function(covariates, difficulty, judges, labels, dispersion, given) {
  if (is.null(covariates)) return(list(strata = difficulty))
  check_kinds(covariates, difficulty, judges, given)
  by_kind <- intersect(judges, names(covariates))
  kept <- covariates[setdiff(names(covariates), c("weight", by_kind))]
  for (name in names(kept)) check_covariate(kept[[name]], name)
  list(
    strata = data.frame(shift = 0, weight = covariates$weight),
    covariates = tibble::as_tibble(kept), judges = by_kind,
    matrices = lapply(covariates[by_kind], lapply, even_matrix, length(labels), dispersion)
  )
}

# Confusion matrix with the same accuracy in each row; errors depend on distance.
even_matrix <- function(accuracy, n, dispersion) {
  out <- dispersion^-abs(outer(seq_len(n), seq_len(n), `-`))
  diag(out) <- 0
  out <- out * (1 - accuracy) / rowSums(out)
  diag(out) <- accuracy
  out
}

check_kinds <- function(covariates, difficulty, judges, given) {
  weight <- if (is.data.frame(covariates)) covariates[["weight"]]
  columns <- setdiff(names(covariates), "weight")
  reserved <- intersect(columns, reserved_names)
  ok <- is.numeric(weight) && isTRUE(all(weight >= 0)) && abs(sum(weight) - 1) <= 1e-8 &&
    !all(columns %in% judges) && length(reserved) == 0L
  abort_argument_if(!ok, "covariates",
    "must be a data frame with a row per kind of case: {.val weight}, probabilities that sum to one,
        columns of covariates, and columns with names of raters or systems.",
    x = if (length(reserved) > 0L) "A covariate cannot be called {reserved[[1L]]}." else
      if (is.numeric(weight)) "Weights are {format(weight, digits = 4L)}." else
        "It is {describe(covariates)}.")
  for (judge in intersect(judges, columns)) check_probabilities(covariates[[judge]], judge, 1L)
  abort_argument_if(!identical(difficulty, 0), "difficulty",
    "{.arg difficulty} cannot be combined with {.arg covariates}.",
    i = "Give accuracies of raters and systems for each kind of case in {.arg covariates}.")
  twice <- intersect(columns, given)
  abort_argument_if(twice, "matrices",
    "{.arg matrices} and {.arg covariates} must name different raters and systems.",
    x = "Both name {.val {twice}}.")
}

# Descriptions and tables of models, designs and estimators, which are specifications, not results.

#' Tables of models, designs and estimators
#'
#' @return `tidy()` returns a tibble.
#'   * Of a [rater_model()]: one row per argument except `prior`. `property`; `value`; and `holds`:
#'     is this a K-property that the model keeps? `NA` for `system`, and for `base_rates` by
#'     formula.
#'   * Of a [rater_design()]: one row per rater and system. `name`; `kind` (`"rater"` or
#'     `"system"`); and `accuracy`, `NA` if a confusion matrix is given.
#'   * Of an [accuracy_estimator()]: one row per option. `option` and `value`, a string.
#'
#'   `glance()` returns a tibble with one row. Of a model: its arguments, with `prior` as `"weak"`,
#'   `"none"`, `"pooled"` or `"own"` (any other prior). Of a design: the numbers of `cases`,
#'   `raters`, `systems` and `categories`; the distribution of its `base_rates` (`"fixed"`,
#'   `"uniform"` or `"dirichlet"`); `dispersion`; `error_range`; the largest shift by `difficulty`;
#'   the mean share of `missing` ratings; and `k_properties`: do all of them hold? Of an estimator:
#'   its options.
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
  prior <- if (length(x$prior) == 0L) "none" else if (is_pooled(x)) "pooled" else
    if (identical(x$prior, weak_prior)) "weak" else "own"
  table <- tibble::tibble(
    property = names(value), value = unname(value), holds = unname(value == k_model)
  )
  new_schema(list(table = table), c(arguments, prior = prior), format(x))
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
