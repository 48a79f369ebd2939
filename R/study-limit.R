#' Limit of an estimator for many cases
#'
#' Computes the value of an estimator for an unlimited number of cases. The estimator is applied to
#' all patterns of answers, with their exact probabilities as weights.
#'
#' @param design A [rater_design()] with systems and without random parts: `base_rates` are given,
#'   and `error_range` is zero (or all `matrices` are given).
#' @param estimator The name of a method of [estimate_accuracy()], an [accuracy_estimator()] without
#'   interval, or a function of a [ratings()] object, as in [simulation_study()]. Its argument has
#'   probabilities as weights.
#' @return A tibble with a row per system: `system`; `expected`, its accuracy; `estimate`, the
#'   limit; and `reason`, why it is `NA`.
#' @family simulation
#' @examples
#' design <- rater_design(c(0.4, 0.6, 0.8), systems = 0.9, base_rates = rep(0.2, 5))
#' exact_limit(design, "binned")
#' exact_limit(design, function(x) fit_raters(x)$rater_accuracy)
#' @export
exact_limit <- function(design, estimator = "binned") {
  check_given()
  check_design(design)
  as_designs(design)
  check_fixed(design)
  estimator <- as_estimator(estimator)
  stack_rows(seq_along(design$systems), function(s) {
    design <- keep_system(design, s)
    truth <- draw_panel(design, 1, c(0L, 0L))
    value <- suppressWarnings(
      estimator[[1L]](exact_panel(design, truth)), classes = "fallible_warning"
    )
    result <- as_result(value, names(design$systems), "estimator")
    tibble::tibble(
      system = names(design$systems), expected = truth$expected, !!!result[c("estimate", "reason")]
    )
  })
}

check_fixed <- function(design) {
  varies <- rep(c(TRUE, design$system_errors), c(n_raters(design), n_systems(design))) &
    lengths(design$matrices) == 0L
  drawn <- c(
    if (design$law != "fixed") "base rates are drawn (give {.arg base_rates})",
    if (design$error_range > 0 && any(varies)) "errors vary at random (set {.arg error_range} to 0)"
  )
  abort_if(drawn, "argument",
    "Only a design whose matrices and base rates are fixed has a limit.", x = drawn, arg = "design")
}

# All patterns of answers in a design with one system, weighted by their probabilities.
exact_panel <- function(design, truth) {
  n <- n_categories(design)
  raters <- n_raters(design)
  hidden <- length(design$hidden)
  answers <- n + any(design$missing > 0)
  abort_argument_if(raters * log(answers) + (1 + hidden) * log(n) > log(2e6), "design",
    "{.arg design} has too many patterns of answers to enumerate.",
    x = "There are {signif(answers^raters * n^(1 + hidden), 3)}; two million are possible.")
  probability <- copy_answers(joint_answers(design, truth), design$copying)
  if (hidden > 0L) probability <- apply(probability, seq_len(raters + 1L), sum)
  if (answers > n) {
    for (j in seq_len(raters)) probability <- lose_answers(probability, j, design$missing[[j]])
  }
  codes <- which(probability > 0, arr.ind = TRUE)
  judges <- c(names(design$raters), names(design$systems))
  columns <- lapply(setNames(seq_along(judges), judges), function(u) {
    factor(design$categories[codes[, u]], levels = design$categories) # code n + 1 is missing
  })
  weights <- utils::tail(make.unique(c(judges, "weight")), 1L)
  columns[[weights]] <- probability[codes]
  suppressWarnings(
    ratings(
      list2DF(columns), raters = !!names(design$raters), systems = !!names(design$systems),
      weights = !!weights, categories = design$categories
    ),
    classes = "fallible_warning"
  )
}

# Joint probabilities of all answers before copying, with a dimension per rater and system.
joint_answers <- function(design, truth) {
  strata <- nrow(design$strata)
  judges <- seq_along(design$loading)
  nodes <- case_nodes(design)
  probability <- 0
  for (s in seq_len(strata)) for (k in seq_along(design$categories)) {
    rows <- lapply(judges, function(u) truth$matrices[[(u - 1L) * strata + s]][k, ])
    share <- design$strata$weight[[s]] * truth$base_rates[[k]]
    for (i in seq_len(nrow(nodes))) {
      answers <- Map(
        case_row, rows, k, design$loading, design$drift, nodes$effect[[i]], nodes$position[[i]]
      )
      probability <- probability + share * nodes$weight[[i]] * Reduce(`%o%`, answers)
    }
  }
  probability
}

# Joint probabilities after copying. `probability` has a dimension per rater, and then the systems.
# With the rest of the probability, the answer stays as it is.
copy_answers <- function(probability, copying) {
  judges <- seq_along(dim(probability))
  for (i in seq_len(nrow(copying))) {
    to <- copying$to[[i]]
    # Probabilities of the other answers, placed where `to` gives the same answer as `from`.
    kept <- judges[-to]
    spread <- sweep(0 * probability, kept, apply(probability, kept, sum), `+`)
    same <- slice.index(spread, to) == slice.index(spread, copying$from[[i]])
    share <- copying$probability[[i]]
    probability <- (1 - share) * probability + share * spread * same
  }
  probability
}

# Joint probabilities if each answer of `rater` is lost with probability `missing`. A missing answer
# has the code after the last category.
lose_answers <- function(probability, rater, missing) {
  size <- dim(probability)
  order <- c(seq_along(size)[-rater], rater) # the rater last
  kept <- aperm((1 - missing) * probability, order)
  lost <- missing * apply(probability, order[-length(order)], sum)
  size[[rater]] <- size[[rater]] + 1L
  aperm(array(c(kept, lost), size[order]), order(order))
}
