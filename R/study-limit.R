#' Limit of an estimator for many cases
#'
#' Computes the value that an estimator approaches as the number of cases increases. Its difference
#' from the true accuracy is the asymptotic bias. Nothing is simulated: the estimator is applied
#' once to all possible combinations of answers by raters and systems, weighted by their exact
#' probabilities.
#'
#' @param design A [rater_design()] with at least one system and without random parts: `base_rates`
#'   are numbers, and `error_range` is zero (or all confusion matrices are given as `matrices`).
#' @param estimator The estimator: the name of a method of [estimate_accuracy()], by default
#'   `"binned"`; an [accuracy_estimator()] without interval; or a function that takes a [ratings()]
#'   object with weights and returns the estimated accuracy of its system, a number.
#' @param ... Not used.
#' @return A tibble with a row per system.
#'   * `system`: name of the system.
#'   * `expected`: its true accuracy, the probability of a correct answer.
#'   * `estimate`: the limit of the estimator; `NA` if the estimator returns no estimate.
#'   * `reason`: why the limit is `NA`, otherwise `NA`.
#' @family simulation
#' @examples
#' # Bias of Lehner's method if raters are not equally accurate
#' design <- rater_design(c(0.4, 0.6, 0.8), systems = 0.9, base_rates = rep(0.2, 5))
#' exact_limit(design, "binned")
#' # A user-defined estimator: the accuracy of the raters, as an estimate for the system
#' exact_limit(design, function(x) fit_raters(x)$rater_accuracy)
#' @export
exact_limit <- function(design, estimator = "binned", ...) {
  check_call()
  check_design(design)
  as_designs(design)
  has_random_errors <- design$error_range > 0 && any(lengths(design$matrices) == 0L &
    rep(c(TRUE, design$system_errors), c(n_raters(design), n_systems(design))))
  random_part_messages <- c(
    if (design$law != "fixed") "Its base rates are random. Give numbers as {.arg base_rates}.",
    if (has_random_errors) "Its confusion matrices are random. Set {.arg error_range} to 0."
  )
  abort_argument_if(random_part_messages, "design",
    "{.arg design} must have fixed confusion matrices and base rates.", x = random_part_messages)
  estimator <- as_estimator(estimator)[[1L]]
  stack_rows(seq_along(design$systems), function(system_number) {
    design <- keep_system(design, system_number)
    one_case_panel <- draw_panel(design, 1, c(0L, 0L))
    estimator_value <- without_warnings(estimator(exact_panel(design, one_case_panel)))
    estimate_columns <- check_estimator_result(estimator_value, names(design$systems), "estimator")
    tibble(
      system = names(design$systems), expected = one_case_panel$expected,
      !!!estimate_columns[c("estimate", "reason")]
    )
  })
}

# Returns ratings with a case for each possible combination of answers of the raters and the system.
# The weight of a case is the probability of its combination. The design has one system. `panel`: a
# result of draw_panel(), which contains the confusion matrices and base rates of the design.
exact_panel <- function(design, panel) {
  category_count <- n_categories(design)
  rater_count <- n_raters(design)
  n_hidden_systems <- length(design$hidden)
  n_codes <- category_count + any(design$missing > 0)
  n_combinations <- n_codes^rater_count * category_count^(1 + n_hidden_systems)
  abort_argument_if(n_combinations > 2e6, "design",
    "{.arg design} has too many combinations of answers.",
    x = "There are {signif(n_combinations, 3)} combinations. At most two million can be
        enumerated.", i = "Use fewer raters or categories.")
  probabilities <- copy_answers(joint_probabilities_of_answers(design, panel), design$copying)
  if (n_hidden_systems > 0L) probabilities <- apply(probabilities, seq_len(rater_count + 1L), sum)
  if (n_codes > category_count) for (j in seq_len(rater_count))
    probabilities <- drop_answers_at_random(probabilities, j, design$missing[[j]])
  answer_codes <- which(probabilities > 0, arr.ind = TRUE)
  judges <- c(names(design$raters), names(design$systems))
  # The code `category_count + 1` stands for a missing answer, which factor() converts to NA.
  answer_columns <- lapply(seq_along(judges), function(u) {
    factor(answer_codes[, u], seq_len(category_count), design$categories)
  })
  weight_column <- tail(make.unique(c(judges, "weight")), 1L)
  without_warnings(ratings(
    list2DF(
      setNames(c(answer_columns, list(probabilities[answer_codes])), c(judges, weight_column))
    ),
    raters = !!names(design$raters), systems = !!names(design$systems),
    weights = !!weight_column, categories = design$categories
  ))
}

# Returns the joint probabilities of all answers before raters copy answers, an array with a
# dimension for each rater and system. Effects of cases, such as their difficulty, are integrated
# out by quadrature. `panel`: see exact_panel().
joint_probabilities_of_answers <- function(design, panel) {
  n_strata <- nrow(design$strata)
  quadrature_nodes <- case_quadrature_nodes(design)
  probabilities <- 0
  for (s in seq_len(n_strata)) for (k in seq_along(design$categories)) {
    stratum_matrices <- panel$matrices[seq(s, by = n_strata, length.out = length(design$loading))]
    # Answers are independent given the stratum, the true category `k` and the effects of the case.
    answer_rows <- lapply(stratum_matrices, function(matrix) matrix[k, ])
    group_probability <- design$strata$weight[[s]] * panel$base_rates[[k]]
    for (i in row_numbers(quadrature_nodes)) {
      answer_probabilities <- Map(
        case_row_probs, answer_rows, k, design$loading, design$drift, quadrature_nodes$effect[[i]],
        quadrature_nodes$position[[i]]
      )
      probabilities <- probabilities +
        group_probability * quadrature_nodes$weight[[i]] * Reduce(`%o%`, answer_probabilities)
    }
  }
  probabilities
}

# Returns the joint probabilities of all answers after raters copy answers.
# * probability: an array with a dimension for each rater, then for each system.
# * copying: a data frame. In each row, rater `to` replaces its answer by the answer of rater `from`
#   with probability `probability`.
copy_answers <- function(probability, copying) {
  for (i in row_numbers(copying)) {
    copier <- copying$to[[i]]
    # If the rater copies, its answer is equal to the answer of rater `from`. Cells with these equal
    # answers then get the joint probability of the answers of all other raters and systems.
    other_judges <- seq_along(dim(probability))[-copier]
    marginal_probability <-
      sweep(0 * probability, other_judges, apply(probability, other_judges, sum), `+`)
    is_same_answer <- slice.index(marginal_probability, copier) ==
      slice.index(marginal_probability, copying$from[[i]])
    copy_probability <- copying$probability[[i]]
    probability <- (1 - copy_probability) * probability +
      copy_probability * marginal_probability * is_same_answer
  }
  probability
}

# Returns the joint probabilities if each answer of `rater` is missing with probability `missing`.
# The code of a missing answer is the number of categories + 1.
drop_answers_at_random <- function(probability, rater, missing) {
  dimensions <- dim(probability)
  dimension_order <- c(seq_along(dimensions)[-rater], rater) # the rater is the last dimension
  answered_probability <- aperm((1 - missing) * probability, dimension_order)
  missing_probability <-
    missing * apply(probability, dimension_order[-length(dimension_order)], sum)
  dimensions[[rater]] <- dimensions[[rater]] + 1L
  probabilities <- c(answered_probability, missing_probability)
  aperm(array(probabilities, dimensions[dimension_order]), order(dimension_order))
}
