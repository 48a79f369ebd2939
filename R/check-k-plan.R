# Which models are compared for which property, and why some cannot be.

# A list of tests: property, name (NULL where nothing but the null is fitted), null and alternative
# (models), pairs and residual (what else is looked at), reason where null is NULL.
plan_k <- function(x, settings) {
  untestable <- reason_untestable(x)
  # Errors beside the property that is tested: by distance only where distance means something.
  other <- if (x$ordered && n_categories(x) > 2L) "distance" else "uniform"
  others <- c(other, other, "uniform")
  strata <- c("strata", "none", "none")
  equal <- axes(
    c("rater", "rater", "common", "common"), "uniform", c("strata", "none", "strata", "none")
  )
  test <- function(property, name, choices, to = NULL, reason = NULL, ...) {
    reason <- if (is.na(untestable)) reason else untestable
    models <- if (is.null(reason)) first_identified(x, settings, choices, to)
    reason <- reason %||% if (is.null(models)) paste(
      "the model needed has more parameters than ratings by these raters into",
      n_categories(x), "categories can distinguish"
    )
    utils::modifyList(
      c(list(property = property, name = name), models,
        list(residual = FALSE, pairs = FALSE, reason = reason %||% NA_character_)),
      list(...)
    )
  }
  plan <- unlist(recursive = FALSE, lapply(settings$properties, switch,
    accuracy = list(test("accuracy", "likelihood ratio", axes("common", others, strata),
      list(accuracy = "rater"), if (has_counts(x)) no_identity)),
    errors = lapply(settings$errors, function(errors) {
      test("errors", paste0("likelihood ratio, ", errors), equal, list(errors = errors),
        if (n_categories(x) == 2L) "with two categories there is only one way to err")
    }),
    difficulty = list(test("difficulty", "likelihood ratio",
      axes(c("rater", "rater", "common"), c(other, "uniform", "uniform"), "none"),
      list(difficulty = "strata"))),
    independence = list(test("independence", NULL, axes("rater", others, strata),
      reason = reason_no_pairs(x, settings), residual = TRUE))
  ))
  # Disagreeing pairs and base rates look at panels in which errors are equally probable.
  if (!any(c("errors", "chance") %in% settings$properties)) return(plan)
  first <- Position(function(test) test$property == "errors" && !is.null(test$null), plan)
  if (is.na(first)) return(c(plan, list(test("errors", NULL, equal, pairs = TRUE))))
  plan[[first]]$pairs <- TRUE
  plan
}

# Why no model can be tested at all; NA if some can.
reason_untestable <- function(x) {
  fit <- fit_algebraic(x, k_model())
  if (!weights_are_counts(x)) {
    "weights are not counts, so there are no cases to resample"
  } else if (fit$identified != "yes") {
    reason_of_fit(fit)
  } else if (fit$agreement == 1) {
    "raters never disagree, so nothing shows how they err"
  } else {
    NA_character_
  }
}

# The first pair of models whose larger one these raters identify. `choices` has a row per pair, the
# richest first: axes of the null model, of which `to` has what the alternative has instead.
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
  NULL
}

axes <- function(accuracy, errors, difficulty) {
  data.frame(accuracy = accuracy, errors = errors, difficulty = difficulty)
}

most_judges <- 2000L # whose pairs are looked at one by one
no_identity <- "raters are not identified: there are only counts"

# Why no pairs can be looked at; NULL if some can.
reason_no_pairs <- function(x, settings) {
  judges <- length(judge_names(x, settings))
  if (has_counts(x)) {
    no_identity
  } else if (judges < 4L) {
    paste(judges, "raters and systems can agree in any way if errors are independent")
  } else if (judges > most_judges) {
    paste("more than", number(most_judges), "raters have too many pairs")
  } else if (nrow(judge_pairs(x, settings$system)) == 0L) {
    "no two raters share 10 cases"
  }
}
