# Which models are compared for which property, and why some cannot be.

# A list of tests: property, name (NULL where nothing but the null is fitted), null and alternative
# (models), pairs and residual (what else is looked at), reason where null is NULL.
plan_k <- function(x, settings) {
  reason <- reason_untestable(x)
  plan <- lapply(settings$properties, function(property) {
    switch(property,
      accuracy = list(plan_accuracy(x, settings, reason)),
      errors = plan_errors(x, settings, reason),
      difficulty = list(plan_difficulty(x, settings, reason)),
      independence = list(plan_independence(x, settings, reason))
    )
  })
  plan <- unlist(plan, recursive = FALSE)
  # Disagreeing pairs and base rates look at panels in which errors are equally probable.
  if (any(c("errors", "chance") %in% settings$properties)) {
    first <- which(vapply(plan, function(test) {
      test$property == "errors" && !is.null(test$null)
    }, NA))
    if (length(first) > 0L) {
      plan[[first[[1L]]]]$pairs <- TRUE
    } else {
      plan <- c(plan, list(plan_equal_errors(x, settings, reason)))
    }
  }
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

new_test <- function(property, name, models = NULL, residual = FALSE, pairs = FALSE,
                     reason = NA_character_) {
  c(
    list(property = property), if (!is.null(name)) list(name = name), models,
    list(residual = residual, pairs = pairs, reason = reason)
  )
}

# Errors beside the property that is tested: by distance only where distance means something.
other_errors <- function(x) if (x$ordered && length(x$categories) > 2L) "distance" else "uniform"

# The first pair of models whose larger one these raters identify. `choices` has a row per pair, the
# richest first: axes of the null model, and in `to` the value of `axis` in the alternative.
first_identified <- function(x, settings, choices, axis = NULL, to = NULL) {
  if (has_counts(x)) choices <- choices[choices$accuracy == "common", ]
  for (i in seq_len(nrow(choices))) {
    axes <- as.list(choices[i, ])
    null <- do.call(rater_model, axes)
    alternative <- if (!is.null(axis)) do.call(rater_model, utils::modifyList(axes, to))
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

settle <- function(property, name, models, x, reason, ...) {
  if (is.null(models) && is.na(reason)) {
    reason <- paste(
      "the model needed has more parameters than ratings by these raters into",
      length(x$categories), "categories can distinguish"
    )
  }
  new_test(property, name, models, reason = reason, ...)
}

plan_accuracy <- function(x, settings, reason) {
  if (has_counts(x) && is.na(reason)) reason <- no_identity
  models <- if (is.na(reason)) {
    others <- axes("common", c(other_errors(x), other_errors(x), "uniform"),
      c("strata", "none", "none"))
    first_identified(x, settings, others, "accuracy", list(accuracy = "rater"))
  }
  settle("accuracy", "likelihood ratio", models, x, reason)
}

most_judges <- 2000L # whose pairs are looked at one by one
no_identity <- "raters are not identified: there are only counts"

plan_errors <- function(x, settings, reason) {
  if (length(x$categories) == 2L && is.na(reason)) {
    reason <- "with two categories there is only one way to err"
  }
  lapply(settings$errors, function(errors) {
    models <- if (is.na(reason)) {
      first_identified(x, settings, equal_errors, "errors", list(errors = errors))
    }
    settle("errors", paste0("likelihood ratio, ", errors), models, x, reason)
  })
}

equal_errors <- axes(
  c("rater", "rater", "common", "common"), "uniform", c("strata", "none", "strata", "none")
)

plan_equal_errors <- function(x, settings, reason) {
  models <- if (is.na(reason)) first_identified(x, settings, equal_errors)
  settle("errors", NULL, models, x, reason, pairs = TRUE)
}

plan_difficulty <- function(x, settings, reason) {
  models <- if (is.na(reason)) {
    others <- axes(c("rater", "rater", "common"), c(other_errors(x), "uniform", "uniform"), "none")
    first_identified(x, settings, others, "difficulty", list(difficulty = "strata"))
  }
  settle("difficulty", "likelihood ratio", models, x, reason)
}

plan_independence <- function(x, settings, reason) {
  judges <- judge_names(x, settings)
  if (is.na(reason)) {
    reason <- if (has_counts(x)) {
      no_identity
    } else if (length(judges) < 4L) {
      paste(length(judges), "raters and systems can agree in any way if errors are independent")
    } else if (length(judges) > most_judges) {
      paste("more than", number(most_judges), "raters have too many pairs")
    } else if (!common_cases(x, settings)) {
      "no two raters share 10 cases"
    } else {
      NA_character_
    }
  }
  models <- if (is.na(reason)) {
    all <- axes("rater", c(other_errors(x), other_errors(x), "uniform"),
      c("strata", "none", "none"))
    first_identified(x, settings, all)
  }
  settle("independence", NULL, models, x, reason, residual = TRUE)
}

# Do any two have as many common cases as the core wants to look at?
common_cases <- function(x, settings) {
  patterns <- pick_systems(x$patterns, settings$system)
  check_pair_numbers(length(x$raters), 4)
  total <- core_pair_counts(patterns, pattern_weights(x), seq_along(x$raters), length(x$raters))
  any(total$pairs[upper.tri(total$pairs)] >= 10)
}
