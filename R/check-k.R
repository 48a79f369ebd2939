#' Tests of the assumptions of the K-model (K-properties)
#'
#' Tests whether the ratings contradict the K-properties, and recommends a model if they do. The
#' K-properties are equal accuracy of raters, equally probable errors, equally difficult cases and
#' independent errors. Under these properties, agreement determines accuracy exactly. The tests need
#' no known truth.
#'
#' @section Tests:
#' * `accuracy`, `likelihood ratio`: one accuracy for all raters against an accuracy for each rater.
#' * `errors`, `likelihood ratio, distance`: equally probable errors against errors that depend on
#'   the distance of ordered categories. `errors`, `likelihood ratio, free`: against free error
#'   probabilities for each rater.
#' * `errors`, `disagreeing pairs`: numbers of pairs of ratings that disagree, by their two
#'   categories. The statistic is the chi-squared distance from the numbers expected under equally
#'   probable errors (Lehner's proposal).
#' * `difficulty`, `likelihood ratio`: equally difficult cases against three strata: a third of the
#'   cases is easier and a third is harder.
#' * `independence`, `residual agreement`: the largest standardised excess of agreement of a pair of
#'   raters over the model without the other K-properties. Among four raters, a system included, a
#'   pair and the other two raters give the same excess; both pairs are then named.
#' * `one category`, `share of one category`: raters with at least 10 ratings and at least 95% of
#'   them in one category, compared with the other ratings of the same cases.
#' * `chance`, `agreement below chance`: the lowest agreement of a pair with at least 10 common
#'   cases, against 1 / number of categories.
#' * `chance`, `negative base rates`: the lowest base rate by Lehner's equation 5, not truncated at
#'   0.
#' * `alternative`, `likelihood ratio` and the name of the model: each model in `alternative`
#'   against a model with equally probable errors and equally difficult cases. The latter has an
#'   accuracy for each rater, or one for all if raters cannot be distinguished. Neither model has
#'   priors, and systems are not used.
#'
#' In each likelihood ratio, both models are free in the other properties. The models are
#' [rater_model()]s with weak priors, and the statistic is twice the gain in log likelihood. If
#' categories are ordered, free errors depend on distance. If the raters are too few to identify all
#' parameters, first difficulty and then errors are kept equal. The columns `null` and `alternative`
#' name the models compared. One system joins the raters, with a separate accuracy, since its
#' answers are evidence too.
#'
#' @section P-values:
#' P-values come from a parametric bootstrap. Up to `replicates` panels are drawn from the fitted
#' null model, with the same missing ratings as `x`, and are fitted in the same way. If `b` of `n`
#' panels have a statistic at least as large, the p-value is `(1 + b) / (n + 1)`. Drawing stops when
#' `b` is at least 10 and `(1 + b) / (replicates + 1)` is above `alpha`.
#' More panels could not make the test significant (Besag and Clifford, 1991). P-values for one
#' category and for agreement below chance are binomial, times the number of raters or pairs.
#' Verdicts, printed tables and plots use `p.adjusted`, the p-value adjusted for all tests of the
#' table by Holm's method.
#'
#' @section Limitations:
#' A test that is not significant does not prove a property: with few cases or weak raters,
#' violations remain undetected. Errors that all raters share equally look like accuracy, and errors
#' that the system shares with the raters have no effect on the tests; see
#' `vignette("how-far-to-trust")`.
#'
#' @srrstats {UL7.1} tests of what models assume
#' @param x A [ratings()] object, or anything that [as_ratings()] accepts. Repeated ratings count as
#'   independent.
#' @param properties Properties to check; by default all.
#' @param system Name of the system that joins the raters. By default the system with most answers
#'   to rated cases (the first of tied systems); `NA` for none.
#' @param errors Alternatives to equally probable errors: `"distance"`, `"free"` or both. By default
#'   `"distance"` if the categories of `x` are ordered, and `"free"` if there are at most 20 raters,
#'   since it is slow for more. Disagreeing pairs are tested in any case.
#' @param alpha Level of the tests, a probability in (0, 1); by default 0.05.
#' @param resampling A list: `replicates`, the largest number of panels drawn for each test, by
#'   default 199; `threads`, see [estimate_accuracy()].
#' @param alternative A [rater_model()] or a list of them, for further tests. It may be a
#'   user-defined family ([rater_family()]), a model with a formula of covariates, or any other
#'   model.
#' @param ... Not used.
#' @return A tibble of class `k_check` with a row per test: `property`; `test`; `null` and
#'   `alternative`, the models compared; `statistic`; `df`, the difference of their numbers of
#'   parameters; `p.value` and `p.adjusted`; `verdict`; `concerns`, the raters or categories with
#'   the largest deviation; `reason`, why a property was not tested. The verdict is `"violated"`,
#'   `"contradiction"` (impossible under the K-model), `"not significant"` or `"not tested"`. See
#'   [tidy.k_check()] for its methods.
#' @family estimation
#' @templateVar where Robustness
#' @template ref-lehner
#' @references Besag, J. and Clifford, P. (1991). Sequential Monte Carlo p-values. *Biometrika*, 78,
#'   301-304.
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.4, 0.6, 0.9), systems = 0.7))
#' check_k_properties(x, resampling = list(replicates = 49))
#' @export
check_k_properties <- function(x, properties = k_properties, system = NULL, errors = NULL,
                               alpha = 0.05, resampling = list(), alternative = NULL, ...) {
  check_given()
  check_dots_empty(...)
  x <- check_several_raters(with_votes(as_ratings(x)))
  resampling <- check_resampling(resampling, known = c("replicates", "threads"))
  settings <- list(
    properties = intersect(k_properties, check_some(properties, k_properties, "properties")),
    system = check_joined(system, x),
    errors = if (is.null(errors)) {
      c(if (x$ordered) "distance", if (n_raters(x) <= 20L) "free")
    } else {
      sort_strings(check_some(errors, c("distance", "free"), "errors"))
    },
    alpha = check_level(alpha, "alpha"),
    replicates = check_count(resampling$replicates %||% 199L, "replicates", 19L, 1e6),
    threads = check_threads(resampling$threads)
  )
  alternative <- check_alternatives(alternative, x)
  plan <- plan_k(x, settings)
  ran <- run_k(x, plan, settings)
  rows <- c(
    unlist(Map(model_rows, plan, ran, list(x), list(settings)), recursive = FALSE),
    if ("one category" %in% settings$properties) list(one_category_row(x)),
    if ("chance" %in% settings$properties) list(below_chance_row(x, settings$alpha)),
    alternative_rows(x, alternative, settings)
  )
  result_of_rows(drop_null(rows), plan, ran, x, settings)
}

k_properties <- c("accuracy", "errors", "difficulty", "independence", "one category", "chance")

# Position of the system that joins; 0 for none.
check_joined <- function(system, x) {
  if (is.atomic(system) && length(system) == 1L && is.na(system)) return(0L)
  if (is.null(system)) {
    rated <- pattern_weights(x) * rated_patterns(x)
    answers <- colSums((pattern_answers(x) > 0L) * rated)
    return(if (any(answers > 0)) which.max(answers) else 0L)
  }
  check_string(system, "system")
  place <- match(system, x$systems)
  abort_if(is.na(place), "system",
    "{.arg system} must be the name of a system of {.arg x}, or {.code NA} for none.",
    x = "It is {.val {system}}.",
    i = if (n_systems(x) > 0L) "Systems: {.val {x$systems}}." else "There are no systems.",
    system = system)
  place
}

# Raters, then the system that joined.
judge_names <- function(x, settings) c(x$raters, x$systems[settings$system])

# Results of the core for each entry of the plan that has a null model; NULL for the others.
run_k <- function(x, plan, settings) {
  testable <- lengths(lapply(plan, `[[`, "null")) > 0L
  out <- vector("list", length(plan))
  if (!any(testable)) return(out)
  tests <- lapply(plan[testable], function(test) {
    c(lapply(list(null = test$null, alternative = test$alternative), unclass),
      test[c("pairs", "residual")])
  })
  bar <- progress_bar("Checks", length(tests) * settings$replicates)
  options <- c(settings[c("replicates", "threads", "alpha")],
    list(seed = draw_seed(), clusters = NULL))
  out[testable] <- core_check_k(
    x$patterns, pattern_weights(x), settings$system - 1L, tests, options, bar$tick
  )
  bar$close()
  unsettled <- !vapply(out[testable], `[[`, NA, "converged")
  if (any(unsettled)) {
    warn_convergence(shorten(unique(vapply(plan[testable][unsettled], `[[`, "", "property"))))
  }
  out
}

k_row <- function(property, test, null = NULL, alternative = NULL, statistic = NA_real_,
                  df = NA_integer_, p_value = NA_real_, contradiction = FALSE,
                  concerns = NA_character_, reason = NA_character_) {
  list(
    property = property, test = test, null = label_axes(null),
    alternative = label_axes(alternative), statistic = statistic, df = df, p.value = p_value,
    contradiction = contradiction, concerns = concerns, reason = reason
  )
}

label_axes <- function(model) {
  if (is.null(model)) return(NA_character_)
  if (!is.null(model$family) || has_formula(model)) return(format(model))
  paste(model$accuracy, model$errors, model$difficulty, sep = ", ")
}

# P-value: share of draws at least as extreme. Draws without a statistic count as extreme.
bootstrap_p <- function(observed, drawn, slack = 1e-6) {
  (1 + sum(is.na(drawn) | drawn >= observed - slack)) / (length(drawn) + 1)
}

# Removes rounding errors, and negative ratios of fits that did not quite reach an optimum.
reported_statistic <- function(statistic, kind) {
  if (kind == "ratio") statistic <- max(statistic, 0)
  if (abs(statistic) < 1e-6) 0 else statistic
}

# Simulated values of a statistic.
drawn_statistics <- function(result, kind) {
  result$replicates[, match(kind, names(result$statistic))]
}

# Rows of one entry of the plan; `result` is NULL if no model was fitted.
model_rows <- function(test, result, x, settings) {
  row <- function(property, name, kind, ..., extreme = identity) {
    if (is.null(result)) return(k_row(property, name, reason = test$reason))
    statistic <- result$statistic[[kind]]
    k_row(
      property, name, test$null, ..., statistic = reported_statistic(statistic, kind),
      p_value = bootstrap_p(extreme(statistic), extreme(drawn_statistics(result, kind)))
    )
  }
  list(
    if (!is.null(test$name)) {
      row(test$property, test$name, "ratio", test$alternative, df = result$df)
    },
    if (test$pairs && n_categories(x) > 2L && "errors" %in% settings$properties) {
      row("errors", "disagreeing pairs", "pairs", concerns = odd_categories(result, x))
    },
    if (test$residual) {
      row("independence", "residual agreement", "residual",
        concerns = closest_pair(result$agreement, judge_names(x, settings)))
    },
    # Only negative base rates are unusual, so positive ones count as 0.
    if (test$pairs && "chance" %in% settings$properties) {
      row("chance", "negative base rates", "lowest_rate", extreme = function(rate) -pmin(rate, 0))
    }
  )
}

# The two categories with the largest excess of disagreements.
odd_categories <- function(result, x) {
  cells <- disagreement_cells(result, x)
  worst <- which.max((cells$observed - cells$expected) / sqrt(pmax(cells$expected, 1e-12)))
  paste(cells$category1[[worst]], "and", cells$category2[[worst]])
}

# Numbers of disagreements by pair of categories. No rows if there is no result, as in pair_table().
disagreement_cells <- function(result, x) {
  observed <- as.double(result$cells$observed)
  pairs <- utils::combn(x$categories, 2L)[, seq_along(observed), drop = FALSE]
  tibble::tibble(
    category1 = pairs[1L, ], category2 = pairs[2L, ], observed = observed,
    expected = as.double(result$cells$expected)
  )
}

# Among four judges, excess agreement of a pair cannot be distinguished from that of the other two.
closest_pair <- function(pairs, judges) {
  worst <- which.max(pairs$excess)
  pair <- c(pairs$judge1[[worst]], pairs$judge2[[worst]])
  both <- c(list(pair), if (length(judges) == 4L) list(seq_along(judges)[-pair]))
  paste(vapply(both, function(at) paste(judges[at], collapse = " and "), ""), collapse = ", or ")
}

# Orders the rows, adjusts p-values and adds verdicts.
result_of_rows <- function(rows, plan, ran, x, settings) {
  rows <- rows[order(match(vapply(rows, `[[`, "", "property"), k_properties))]
  table <- stack_tables(rows)
  adjusted <- stats::p.adjust(table$p.value, "holm")
  low <- !is.na(adjusted) & adjusted <= settings$alpha
  verdict <- ifelse(low, "violated", "not significant")
  verdict[table$contradiction | (low & table$property == "chance")] <- "contradiction"
  verdict[is.na(table$statistic)] <- "not tested"
  table$concerns[!verdict %in% bad_verdicts] <- NA
  result_with <- function(field) {
    at <- Position(function(test) test[[field]], plan)
    if (!is.na(at)) ran[[at]]
  }
  new_k_check(
    tibble::as_tibble(c(
      table[seq_len(match("p.value", names(table)))],
      list(p.adjusted = adjusted, verdict = verdict), table[c("concerns", "reason")]
    )),
    list(
      header = format_header(x)[[1L]], system = x$systems[settings$system],
      alpha = settings$alpha, replicates = settings$replicates, silent = abstain_note(x),
      pairs = pair_table(result_with("residual"), judge_names(x, settings)),
      disagreements = disagreement_cells(if (n_categories(x) > 2L) result_with("pairs"), x),
      size = list(cases = count_cases(x), raters = n_raters(x), categories = n_categories(x))
    )
  )
}

bad_verdicts <- c("violated", "contradiction")

# The p-value of each pair is from the distribution of the largest excess of all pairs.
pair_table <- function(result, judges) {
  pairs <- lapply(result$agreement, as.double)
  n <- as.double(pairs$cases)
  excess <- as.double(pairs$excess)
  tibble::tibble(
    rater1 = judges[pairs$judge1], rater2 = judges[pairs$judge2], n = n,
    observed = pairs$observed / n, expected = pairs$expected / n, excess = excess,
    p.value = vapply(excess, bootstrap_p, 0, drawn = drawn_statistics(result, "residual"))
  )
}

# Models to compare for each property, and reasons why some are not identified.

# A list of tests with the fields property; name (NULL if only the null model is fitted); null and
# alternative (models); pairs and residual (are disagreeing pairs and residual agreement computed?);
# reason, if null is NULL.
plan_k <- function(x, settings) {
  untestable <- reason_untestable(x)
  # Errors in tests of other properties depend on distance only if categories are ordered.
  other_errors <- if (x$ordered && n_categories(x) > 2L) "distance" else "uniform"
  errors_to_try <- c(other_errors, other_errors, "uniform")
  strata <- c("strata", "none", "none")
  equal <- axes(
    c("rater", "rater", "common", "common"), "uniform", c("strata", "none", "strata", "none")
  )
  test <- function(property, name, choices, to = NULL, reason = NULL, residual = FALSE,
                   pairs = FALSE) {
    reason <- untestable %||% reason
    models <- if (is.null(reason)) first_identified(x, settings, choices, to)
    reason <- reason %||% if (is.null(models)) paste(
      "the model needed has more parameters than ratings by these raters into",
      n_categories(x), "categories can distinguish"
    )
    c(list(property = property, name = name, residual = residual, pairs = pairs, reason = reason),
      models)
  }
  plan <- unlist(recursive = FALSE, lapply(settings$properties, switch,
    accuracy = list(test("accuracy", "likelihood ratio", axes("common", errors_to_try, strata),
      list(accuracy = "rater"), if (has_counts(x)) no_identity)),
    errors = lapply(settings$errors, function(errors) {
      test("errors", paste0("likelihood ratio, ", errors), equal, list(errors = errors),
        if (n_categories(x) == 2L) "with two categories there is only one way to err")
    }),
    difficulty = list(test("difficulty", "likelihood ratio",
      axes(c("rater", "rater", "common"), c(other_errors, "uniform", "uniform"), "none"),
      list(difficulty = "strata"))),
    independence = list(test("independence", NULL, axes("rater", errors_to_try, strata),
      reason = reason_no_pairs(x, settings), residual = TRUE))
  ))
  # The tests of disagreeing pairs and of base rates need a null model with equally probable errors.
  if (!any(c("errors", "chance") %in% settings$properties)) return(plan)
  first <- Position(function(test) test$property == "errors" && !is.null(test$null), plan)
  if (is.na(first)) return(c(plan, list(test("errors", NULL, equal, pairs = TRUE))))
  plan[[first]]$pairs <- TRUE
  plan
}

# Reason why no model can be tested; NULL if some can.
reason_untestable <- function(x) {
  fit <- fit_algebraic(x)
  if (!weights_are_counts(x)) {
    "weights are not counts, so there are no cases to resample"
  } else if (fit$identified != "yes") {
    reason_of_fit(fit)
  } else if (fit$agreement == 1) {
    "raters never disagree, so nothing shows how they err"
  }
}

# First pair of models whose larger model is identified, NULL if there is none. `choices` has a
# row per null model, with its axes, richest first; `to` has the axes in which the alternative
# differs.
first_identified <- function(x, settings, choices, to = NULL) {
  if (has_counts(x)) choices <- choices[choices$accuracy == "common", ]
  for (i in seq_len(nrow(choices))) {
    axes <- as.list(choices[i, ])
    null <- do.call(rater_model, axes)
    alternative <- if (!is.null(to)) do.call(rater_model, utils::modifyList(axes, to))
    identified <- core_identified(
      x$patterns, pattern_weights(x), settings$system - 1L, unclass(alternative %||% null)
    )
    if (identified) return(list(null = null, alternative = alternative))
  }
}

axes <- function(accuracy, errors, difficulty) {
  data.frame(accuracy = accuracy, errors = errors, difficulty = difficulty)
}

most_judges <- 2000L # largest number of judges to compare in pairs
no_identity <- "raters are not identified: there are only counts"

# Reason why pairs cannot be compared; NULL if some can.
reason_no_pairs <- function(x, settings) {
  judges <- length(judge_names(x, settings))
  if (has_counts(x)) {
    no_identity
  } else if (judges < 4L) {
    paste(judges, "raters and systems can agree in any way if errors are independent")
  } else if (judges > most_judges) {
    sprintf("more than %s raters have too many pairs", number(most_judges))
  } else if (nrow(judge_pairs(x, settings$system)) == 0L) {
    "no two raters share 10 cases"
  }
}
