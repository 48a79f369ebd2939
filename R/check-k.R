#' Tests of the assumptions of the K-model (K-properties)
#'
#' Tests whether the ratings contradict the assumptions of the K-model ([k_model()]), under which
#' the agreement of raters determines their accuracy. The K-model has three assumptions, the
#' *K-properties*: all raters are equally accurate, all wrong categories are equally probable, and
#' all cases are equally difficult. It also assumes that errors of raters are independent. Further
#' tests look for inattentive raters, and for results that are impossible under the K-model.
#'
#' @section Tests: Each test has a property and a name, which are the columns `property` and `test`
#' of the result. For likelihood ratio tests, the list gives the null model before "against", and
#' the alternative model after it.
#' * `"accuracy"`, `"likelihood ratio"`: one accuracy for all raters against an accuracy for each
#'   rater.
#' * `"errors"`, `"likelihood ratio, distance"`: equally probable errors against errors whose
#'   probability depends on the distance from the true category, in the order of the categories.
#' * `"errors"`, `"likelihood ratio, free"`: equally probable errors against free error
#'   probabilities.
#' * `"errors"`, `"disagreeing pairs"` (only for three or more categories): are some pairs of
#'   categories confused more often than expected? The statistic is the chi-squared distance between
#'   the observed numbers of disagreements and the numbers expected if all errors are equally
#'   probable.
#' * `"difficulty"`, `"likelihood ratio"`: equally difficult cases against three equally large
#'   groups of easy, medium and difficult cases.
#' * `"independence"`, `"residual agreement"`: do two raters agree more often than expected for
#'   independent errors? For each pair of raters, the difference between observed and expected
#'   agreement is divided by its standard error. The statistic is the largest of these values.
#' * `"one category"`, `"share of one category"`: does a rater with at least 10 ratings give the
#'   same category in at least 95% of them, and more often than other raters of the same cases?
#' * `"chance"`, `"agreement below chance"`: do two raters agree less often than by chance (1 /
#'   number of categories)? Only pairs of raters with at least 10 common cases are tested.
#' * `"chance"`, `"negative base rates"`: does equation 5 of Lehner (2015), which computes base
#'   rates under the K-model, return a negative base rate?
#' * `"alternative"`, `"likelihood ratio"` and the name of a model: each model in the argument
#'   `alternative` against a model with equally probable errors and equally difficult cases.
#'
#' The statistic of a likelihood ratio test is twice the difference of two log likelihoods. The
#' alternative model of a test of accuracy, errors or difficulty does not assume the tested
#' property. If there are enough raters, neither the null model nor the alternative assumes the
#' other two properties. A system (see argument `system`) is used as an additional rater with a
#' separate accuracy.
#'
#' @section P-values: P-values are computed by a parametric bootstrap: data sets with the same
#' missing ratings are simulated from the fitted null model. If `b` of `n` data sets have a
#' statistic that is at least as large as the observed statistic, the p-value is `(1 + b) / (n +
#' 1)`. Simulation stops early if the test cannot become significant (Besag and Clifford, 1991). Two
#' tests need no simulation. The p-value of `"share of one category"` is a binomial probability
#' times the number of raters. The p-value of `"agreement below chance"` is a binomial probability
#' times the number of pairs of raters.
#'
#' Verdicts use `p.adjusted`, the p-value adjusted for all tests of the table by Holm's method. With
#' the default of 199 replicates, up to ten tests can be significant at level 0.05.
#'
#' @section Limitations: A test that is not significant does not prove a property. Errors that all
#' raters make together cannot be detected, because they increase agreement in the same way as
#' accuracy; see `vignette("how-far-to-trust")`.
#'
#' @srrstats {UL7.1} tests of what models assume
#' @param x A [ratings()] object, or data that [as_ratings()] can convert.
#' @param properties Properties to test, some of `"accuracy"`, `"errors"`, `"difficulty"`,
#'   `"independence"`, `"one category"` and `"chance"`; by default all. See *Tests*.
#' @param system Name of the system (classifier) that is used as an additional rater. `NULL`, the
#'   default, uses the system with the most answers to rated cases. `NA` uses no system.
#' @param errors Alternatives to equally probable errors: `"distance"`, `"free"` or both. With
#'   `NULL`, the default, `"distance"` is tested if the categories of `x` are ordered, and `"free"`
#'   is tested if there are at most 20 raters.
#' @param alpha Significance level of the tests, in (0, 1); by default 0.05.
#' @param resampling A list that may contain `replicates`, the largest number of data sets simulated
#'   for each test (at least 19, by default 199), and `threads`, the number of threads (by default
#'   1).
#' @param alternative Further models to test: a [rater_model()] or [rater_family()] result, or a
#'   list of such results. `NULL`, the default, for none. Priors of these models are not used.
#' @param ... Not used.
#' @return A tibble of class `k_check` with a row per test:
#'   * `property`, `test`: see *Tests*.
#'   * `null`, `alternative`: the null model and the alternative model. The text contains the values
#'     of the arguments `accuracy`, `errors` and `difficulty` of [rater_model()], such as `"rater,
#'     uniform, none"`. `NA` for tests without models.
#'   * `statistic`: the statistic of the test. `df`: difference of the numbers of parameters of the
#'     two models, or `NA`.
#'   * `p.value`, `p.adjusted`: see *P-values*.
#'   * `verdict`:
#'     * `"violated"`: the test is significant at level `alpha`.
#'     * `"contradiction"`: a test of `"chance"` is significant, or all raters together agree no
#'       better than by chance. In the second case, accuracy cannot be estimated under the K-model.
#'       This does not refute the model, because it often happens with inaccurate raters and few
#'       cases.
#'     * `"not significant"`, or `"not tested"` (see `reason`).
#'     * `"too few replicates"`: the test cannot be significant, because the smallest possible
#'       adjusted p-value is above `alpha`.
#'   * `concerns`: the raters or categories with the largest deviation, as text. `NA` unless the
#'     verdict is `"violated"` or `"contradiction"`.
#'   * `reason`: why the test was not made. `NA` if it was made.
#'
#'   The methods of [tidy.k_check()] return further tables.
#' @family models of raters
#' @templateVar where Robustness
#' @template ref-lehner
#' @references Besag, J. and Clifford, P. (1991). Sequential Monte Carlo p-values. *Biometrika*, 78,
#'   301-304.
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.4, 0.6, 0.9), systems = 0.7))
#' # Three raters of unequal accuracy, and a system as the fourth rater
#' check_k_properties(x)
#' @export
check_k_properties <- function(x, properties = k_properties, system = NULL, errors = NULL,
                               alpha = 0.05, resampling = list(), alternative = NULL, ...) {
  check_call()
  x <- check_several_raters(with_votes(as_ratings(x)))
  resampling <- check_resampling(resampling, known = c("replicates", "threads"))
  properties <- intersect(k_properties, check_choices(properties, k_properties, "properties"))
  # Index of the system that is used as an additional rater; 0 for none
  system_index <- if (is.null(system)) {
    n_answers <- colSums((pattern_answers(x) > 0L) * pattern_weights(x) * is_rated_pattern(x))
    if (any(n_answers > 0)) which.max(n_answers) else 0L
  } else if (is.atomic(system) && isTRUE(is.na(system))) {
    0L
  } else {
    check_string(system, "system")
    match(system, x$systems)
  }
  abort_if(is.na(system_index), "system",
    "{.arg system} must be the name of a system of {.arg x}, or {.code NA} for none.",
    x = "It is {.val {system}}.",
    i = if (n_systems(x) > 0L) "The systems are {.val {x$systems}}." else
      "{.arg x} has no systems.",
    system = system)
  settings <- list(
    properties = properties, system = system_index,
    errors = if (is.null(errors)) c(
      if (x$ordered) "distance", if (n_raters(x) <= max_free_raters) "free"
    ) else sort_strings(check_choices(errors, c("distance", "free"), "errors")),
    alpha = check_level(alpha, "alpha"),
    replicates = check_count(resampling$replicates %||% 199L, "replicates", 19L, 1e6),
    threads = check_threads(resampling$threads)
  )
  alternative <- check_alternatives(alternative, x)
  plan <- plan_k_tests(x, settings)
  results <- run_k_tests(x, plan, settings)
  rows <- c(
    unlist(Map(model_rows, plan, results, list(x), list(settings)), recursive = FALSE),
    if ("one category" %in% properties) list(one_category_row(x)),
    if ("chance" %in% properties) list(below_chance_row(x, settings$alpha)),
    alternative_rows(x, alternative, settings)
  )
  new_k_result(drop_null(rows), plan, results, x, settings)
}

k_properties <- c("accuracy", "errors", "difficulty", "independence", "one category", "chance")

# Returns the names of the raters and of the system that is used as an additional rater (if any).
judge_names <- function(x, settings) c(x$raters, x$systems[settings$system])

# Runs all planned tests in the C++ core. Returns a list with an element per test in `plan`: the
# result of the core, or NULL if the test has no null model.
run_k_tests <- function(x, plan, settings) {
  has_model <- lengths(lapply(plan, `[[`, "null")) > 0L
  results <- vector("list", length(plan))
  if (!any(has_model)) return(results)
  tests <- lapply(plan[has_model], function(test) {
    lapply(test[c("null", "alternative", "pairs", "residual")], unclass)
  })
  options <- c(settings[c("replicates", "threads", "alpha")],
    list(seed = draw_seed(), clusters = NULL))
  results[has_model] <- core_check_k(
    x$patterns, pattern_weights(x), settings$system - 1L, tests, options,
    progress_bar("Checks", length(tests) * settings$replicates)$tick
  )
  has_not_converged <- map_lgl(results, function(result) isFALSE(result$converged))
  if (any(has_not_converged)) {
    warn_convergence(shorten(unique(map_chr(plan[has_not_converged], `[[`, "property"))))
  }
  results
}

# Returns a row of the result of check_k_properties(), as a list. `null`, `alternative`: models,
# which are converted to text. `contradiction`: is the result impossible under the K-model?
k_row <- function(property, test, null = NULL, alternative = NULL, statistic = NA_real_,
                  df = NA_integer_, p_value = NA_real_, contradiction = FALSE,
                  concerns = NA_character_, reason = NA_character_) {
  list(
    property = property, test = test, null = model_as_text(null),
    alternative = model_as_text(alternative), statistic = statistic, df = df, p.value = p_value,
    contradiction = contradiction, concerns = concerns, reason = reason
  )
}

# Converts a model to text: "accuracy, errors, difficulty", or the result of format() for a
# user-defined model or a model with a formula.
model_as_text <- function(model) {
  if (is.null(model)) return(NA_character_)
  if (!is.null(model$family) || has_formula(model)) return(format(model))
  paste(model$accuracy, model$errors, model$difficulty, sep = ", ")
}

# Computes a bootstrap p-value, (1 + b) / (1 + n). Here n is the number of simulated statistics, and
# b counts those that are NA or at least as large as the observed statistic. The difference 1e-6
# allows for rounding errors.
bootstrap_p <- function(observed, simulated) {
  (1 + sum(is.na(simulated) | simulated >= observed - 1e-6)) / (length(simulated) + 1)
}

# Replaces statistics very close to 0, and negative likelihood ratio statistics, by 0. Likelihood
# ratios are negative if the fit of the alternative model did not quite reach its optimum.
reported_statistic <- function(statistic, statistic_name) {
  if (statistic_name == "ratio") statistic <- max(statistic, 0)
  if (abs(statistic) < 1e-6) 0 else statistic
}

# Returns the simulated values of a statistic, one per simulated data set. `result`: result of the
# core for one test. `statistic_name`: name of the statistic in the core.
simulated_statistics <- function(result, statistic_name) {
  result$replicates[, match(statistic_name, names(result$statistic))]
}

# Returns a list of rows of the result for one planned test. A test has several rows if several
# statistics use its null model. Arguments:
# * test: an element of the plan, see plan_k_tests().
# * result: result of the core for this test; NULL if no model was fitted.
model_rows <- function(test, result, x, settings) {
  new_row <- function(property, name, statistic_name, ..., transform = identity) {
    if (is.null(result)) return(k_row(property, name, reason = test$reason))
    statistic <- result$statistic[[statistic_name]]
    k_row(
      property, name, test$null, ..., statistic = reported_statistic(statistic, statistic_name),
      p_value = bootstrap_p(
        transform(statistic), transform(simulated_statistics(result, statistic_name))
      )
    )
  }
  list(
    if (!is.null(test$name)) {
      new_row(test$property, test$name, "ratio", test$alternative, df = result$df)
    },
    if (test$pairs && n_categories(x) > 2L && "errors" %in% settings$properties) {
      new_row("errors", "disagreeing pairs", "pairs", concerns = most_confused_pair(result, x))
    },
    if (test$residual) {
      new_row("independence", "residual agreement", "residual",
        concerns = most_agreeing_pair(result$agreement, judge_names(x, settings)))
    },
    # A positive estimate is replaced by 0: only negative base rates contradict the model.
    if (test$pairs && "chance" %in% settings$properties) {
      new_row("chance", "negative base rates", "lowest_rate",
        transform = function(rate) -pmin(rate, 0))
    }
  )
}

# Returns text that names the pair of categories whose number of disagreements exceeds the expected
# number most, in units of its standard deviation.
most_confused_pair <- function(result, x) {
  disagreements <- disagreement_cells(result, x)
  pair_index <- which.max(
    (disagreements$observed - disagreements$expected) / sqrt(pmax(disagreements$expected, 1e-12))
  )
  paste(disagreements$category1[[pair_index]], "and", disagreements$category2[[pair_index]])
}

# Returns a table with a row per pair of categories: observed and expected numbers of disagreements.
# The table has no rows if `result` is NULL.
disagreement_cells <- function(result, x) {
  observed_counts <- as.double(result$cells$observed)
  pairs <- combn(x$categories, 2L)[, seq_along(observed_counts), drop = FALSE]
  columns_tibble(
    category1 = pairs[1L, ], category2 = pairs[2L, ], observed = observed_counts,
    expected = as.double(result$cells$expected)
  )
}

# Returns text that names the two judges whose agreement exceeds the expected agreement most.
# `pairs`: the core's table of pairs of judges. `judges`: names of the judges.
most_agreeing_pair <- function(pairs, judges) {
  pair_index <- which.max(pairs$excess)
  pair <- c(pairs$judge1[[pair_index]], pairs$judge2[[pair_index]])
  # With four judges, excess agreement of two judges cannot be distinguished from excess agreement
  # of the other two, so both pairs are named.
  judges_to_name <- c(judges[pair], if (length(judges) == 4L) judges[-pair])
  paste(judges_to_name[c(TRUE, FALSE)], judges_to_name[c(FALSE, TRUE)],
    sep = " and ", collapse = ", or ")
}

# Creates the result of check_k_properties(): sorts the rows by property, adjusts p-values and adds
# verdicts. Arguments:
# * rows: list of rows, see k_row().
# * results: result of the core for each test in `plan`.
new_k_result <- function(rows, plan, results, x, settings) {
  table <- as_tibble(stack_tables(rows))
  table <- table[order(match(table$property, k_properties)), ]
  adjusted_p <- p.adjust(table$p.value, "holm")
  is_significant <- !is.na(adjusted_p) & adjusted_p <= settings$alpha
  verdict <- ifelse(is_significant, "violated", "not significant")
  verdict[table$contradiction | (is_significant & table$property == "chance")] <- "contradiction"
  verdict[is.na(table$statistic)] <- "not tested"
  # Smallest possible adjusted p-values. A test with simulations has the smallest p-value if its
  # statistic exceeds all simulated statistics.
  is_simulated <- !is.na(table$null)
  smallest_p <- p.adjust(
    replace(table$p.value, is_simulated, 1 / (settings$replicates + 1)), "holm"
  )
  has_too_few_replicates <- is_simulated & !is_significant & smallest_p > settings$alpha
  verdict[has_too_few_replicates] <- "too few replicates"
  warn_if(any(has_too_few_replicates), "bootstrap",
    "{settings$replicates} replicates are too few: {sum(has_too_few_replicates)} of
      {nrow(table)} tests cannot be significant at level {settings$alpha}.",
    i = "Use at least {replicates_needed(table, settings)} {.arg replicates}, or test fewer
      {.arg properties}.")
  table$concerns[!verdict %in% bad_verdicts] <- NA
  find_result <- function(field) {
    test_index <- Position(function(test) test[[field]], plan)
    if (!is.na(test_index)) results[[test_index]]
  }
  new_k_check(
    add_column(table[names(table) != "contradiction"], p.adjusted = adjusted_p,
      verdict = verdict, .after = "p.value"),
    list(
      header = format_header(x)[[1L]], system = x$systems[settings$system],
      alpha = settings$alpha, replicates = settings$replicates, silent = abstain_note(x),
      pairs = pair_table(find_result("residual"), judge_names(x, settings)),
      disagreements = disagreement_cells(if (n_categories(x) > 2L) find_result("pairs"), x),
      size = list(cases = count_cases(x), raters = n_raters(x), categories = n_categories(x))
    )
  )
}

# Verdicts of tests that contradict the K-model (see ?k_model).
bad_verdicts <- c("violated", "contradiction")

# ---- Plan: the models that are compared for each property ---

# Returns a list of tests. Each test is a list with these fields:
# * property: the property to test.
# * name: name of the likelihood ratio test; NULL if there is no such test.
# * null, alternative: the two models; NULL if a model is not identified or not needed.
# * pairs: TRUE to test disagreements between pairs of categories, and the lowest base rate.
# * residual: TRUE to test whether raters agree more often than the null model predicts.
# * reason: why the test is not possible; NULL if it is possible.
plan_k_tests <- function(x, settings) {
  untestable_reason <- why_untestable(x)
  # Null models are tried with this value of `errors` before "uniform". With "distance", the
  # probability of an error depends on the distance between the true and the wrong category.
  first_error_type <- if (x$ordered && n_categories(x) > 2L) "distance" else "uniform"
  errors_to_try <- c(first_error_type, first_error_type, "uniform")
  difficulty_to_try <- c("strata", "none", "none")
  equal_error_models <- model_choices(
    c("rater", "rater", "common", "common"), "uniform", c("strata", "none", "strata", "none")
  )
  new_test <- function(property, name, choices, changes = NULL, reason = NULL, residual = FALSE,
                       pairs = FALSE) {
    reason <- untestable_reason %||% reason
    models <- if (is.null(reason)) first_identified_models(x, settings, choices, changes)
    reason <- reason %||% if (is.null(models)) fill_template("the model has more parameters than can
      be estimated from ratings by these raters in %s categories", n_categories(x))
    c(list(property = property, name = name, residual = residual, pairs = pairs, reason = reason),
      models)
  }
  plan <- unlist(recursive = FALSE, lapply(settings$properties, switch,
    accuracy = list(new_test("accuracy", "likelihood ratio",
      model_choices("common", errors_to_try, difficulty_to_try),
      list(accuracy = "rater"), if (has_counts(x)) reason_only_counts)),
    errors = lapply(settings$errors, function(errors) {
      new_test("errors", paste0("likelihood ratio, ", errors), equal_error_models,
        list(errors = errors),
        if (n_categories(x) == 2L) "with two categories, each case has only one wrong category")
    }),
    difficulty = list(new_test("difficulty", "likelihood ratio", model_choices(
      c("rater", "rater", "common"), c(first_error_type, "uniform", "uniform"), "none"
    ), list(difficulty = "strata"))),
    independence = list(new_test("independence", NULL, rbind(
      if (n_raters(x) <= max_free_raters) model_choices("rater", "free", c("strata", "none")),
      model_choices("rater", errors_to_try, difficulty_to_try)
    ), reason = why_no_pairs(x, settings), residual = TRUE))
  ))
  # Disagreements of pairs of categories are tested under a null model with equally probable errors.
  # A test of property "errors" has this null model. If there is no such test, one is added.
  if (!any(c("errors", "chance") %in% settings$properties)) return(plan)
  test_index <- Position(function(test) test$property == "errors" && !is.null(test$null), plan)
  if (is.na(test_index)) {
    return(c(plan, list(new_test("errors", NULL, equal_error_models, pairs = TRUE))))
  }
  plan[[test_index]]$pairs <- TRUE
  plan
}

# Returns the reason why no model can be tested; NULL if tests are possible.
why_untestable <- function(x) {
  fit <- fit_algebraic(x)
  if (!weights_are_counts(x)) {
    "weights are not counts, so cases cannot be simulated"
  } else if (fit$identified != "yes") {
    reason_of_fit(fit)
  } else if (fit$agreement == 1) {
    "raters never disagree, so the ratings contain no information about errors"
  }
}

max_free_raters <- 20L # models with free errors are slow for more raters
max_judges <- 2000L # more judges (raters and systems) have too many pairs
reason_only_counts <- "the ratings are counts, which do not identify raters"
