# Ordinal errors: what a model of them needs, and these beside base rates by formula. The law is
# that of the core, src/core/model/ordinal.hpp.

check_ordinal_axes <- function(accuracy, difficulty) {
  by_formula <- rlang::is_formula(accuracy)
  abort_argument_if(by_formula || rlang::is_formula(difficulty) || !"none" %in% difficulty[1L],
    "errors", "With {.code errors = \"ordinal\"} only base rates may have a formula, and cases are
        equally difficult.", x = "{.arg {if (by_formula) 'accuracy' else 'difficulty'}} is given.")
}

check_order <- function(model, x) {
  abort_argument_if(model$errors == "ordinal" && !x$ordered && length(x$categories) > 2L, "model",
    "A model with {.code errors = \"ordinal\"} needs categories in an order.",
    x = "Those of {.arg x} are not ordered: {.val {x$categories}}.",
    i = "Give {.code ordered = TRUE} to {.fun ratings}, with {.arg categories} in their order.")
}

# Parameters: groups x (slope, middle threshold, logarithms of steps).
bind_ordinal <- function(judged, categories, accuracy) {
  n <- length(categories)
  by_rater <- accuracy == "rater"
  raters <- levels(judged$rater)
  names <- if (by_rater) raters else c("", "system")[seq_len(1L + any(judged$system))]
  groups <- length(names)
  start <- c(2, if (n %% 2L == 1L) -1 else 0, rep(log(2), n - 2L))
  list(
    strata = 1, start = function(judged, categories) rep(start, each = groups),
    prepare = function(judged) {
      if (by_rater) match(judged$rater, raters) else 1L + judged$system
    },
    law = function(parameters, group, categories) {
      core_ordinal_law(matrix(parameters, groups))$law[group, , , drop = FALSE]
    },
    report = function(parameters) {
      theta <- matrix(parameters, groups)
      thresholds <- core_ordinal_law(theta)$thresholds
      of <- ifelse(nzchar(names), paste0(names, ": "), "")
      c(
        stats::setNames(theta[, 1L], sub("[]", "", paste0("slope[", names, "]"), fixed = TRUE)),
        stats::setNames(as.vector(thresholds),
          paste0("threshold[", outer(of, thresholds_between(categories), paste0), "]"))
      )
    }
  )
}
