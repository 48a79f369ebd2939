# The ordered model of rater_model(errors = "ordinal"): a case of the k-th category sends a rater a
# signal that is normal around slope times the position of k, with variance 1; it answers by where
# the signal falls among its thresholds. Positions are steps of 1 around 0, so that parameters are
# told apart without more: a free variance, or free ends of the positions, would be the slope again.

ordinal_model <- function(accuracy, difficulty, base_rates, call) {
  if (rlang::is_formula(accuracy) || rlang::is_formula(difficulty) ||
    !"none" %in% difficulty[1L]) {
    abort_argument("errors", "With {.code errors = \"ordinal\"} only base rates may have a formula,
                              and cases are equally difficult.",
      x = "{.arg {if (rlang::is_formula(accuracy)) 'accuracy' else 'difficulty'}} is given.",
      call = call)
  }
  accuracy <- check_choice(accuracy, c("common", "rater"), "accuracy", call)
  new_family_model(
    list(
      accuracy = accuracy, errors = "ordinal", difficulty = "none",
      words = paste0("rater model, ", accuracy, ", ordinal")
    ),
    list(bind = function(judged, categories, call) bind_ordinal(judged, categories, accuracy)),
    list(base_rates = check_formula(base_rates, "base_rates", call))
  )
}

check_order <- function(model, x, call) {
  if (model$errors == "ordinal" && !x$ordered && length(x$categories) > 2L) {
    abort_argument("model",
      "A model with {.code errors = \"ordinal\"} needs categories in an order.",
      x = "Those of {.arg x} are not ordered: {.val {x$categories}}.",
      i = "Give {.code ordered = TRUE} to {.fun ratings}, with {.arg categories} in their order.",
      call = call)
  }
}

bind_ordinal <- function(judged, categories, accuracy) {
  layout <- ordinal_layout(judged, categories, accuracy)
  prepare <- function(judged) {
    apart <- accuracy == "rater"
    list(group = if (apart) match(judged$rater, layout$raters) else 1L + judged$system)
  }
  list(
    strata = 1, prepare = prepare, start = function(judged, categories) layout$start,
    law = function(parameters, judged, categories) {
      ordinal_law(parameters, layout)[judged$group, , , drop = FALSE]
    },
    gradient = function(parameters, judged, categories, counts) {
      ordinal_gradient(parameters, judged, counts, layout)
    },
    report = function(parameters) ordinal_report(parameters, layout)
  )
}

# Parameters, groups within each: the slope, the middle threshold, and the logarithms of the steps
# between neighbouring thresholds. `outwards`: thresholds x steps, which steps lead from the middle
# to a threshold; the middle, because a rater who never gives the first answer has no first one.
ordinal_layout <- function(judged, categories, accuracy) {
  n <- length(categories)
  raters <- levels(judged$rater)
  groups <- if (accuracy == "rater") length(raters) else 1L + any(judged$system)
  middle <- n %/% 2L
  threshold <- seq_len(n - 1L)
  outwards <- outer(threshold, seq_len(n - 2L), function(to, step) {
    (step >= middle & step < to) - (step < middle & step >= to)
  })
  start <- c(2, 2 * (middle - n / 2), rep(log(2), n - 2L))
  list(
    groups = groups, raters = raters, categories = categories, outwards = outwards,
    positions = seq_len(n) - (n + 1) / 2, start = rep(start, each = groups),
    names = if (accuracy == "rater") raters else c("", "system")[seq_len(groups)]
  )
}

# slope of each group; thresholds and the steps between them, groups x thresholds and x steps.
ordinal_parts <- function(parameters, layout) {
  parts <- matrix(parameters, layout$groups)
  steps <- exp(parts[, -(1:2), drop = FALSE])
  list(
    slope = parts[, 1L], steps = steps,
    thresholds = parts[, 2L] + tcrossprod(steps, layout$outwards)
  )
}

# Where signals of each category fall: groups x true categories x thresholds, in units of the noise.
ordinal_limits <- function(parts, layout) {
  n <- length(layout$positions)
  means <- outer(parts$slope, layout$positions)
  array(parts$thresholds[, rep(seq_len(n - 1L), each = n)], c(layout$groups, n, n - 1L)) -
    as.vector(means)
}

# Groups x true categories x ratings.
ordinal_law <- function(parameters, layout) {
  limits <- ordinal_limits(ordinal_parts(parameters, layout), layout)
  shape <- c(dim(limits)[1:2], 1L)
  n <- dim(limits)[[2L]]
  above <- array(c(limits, array(Inf, shape)), c(dim(limits)[1:2], n))
  below <- array(c(array(-Inf, shape), limits), c(dim(limits)[1:2], n))
  # In the tail that is near: differences of numbers near 1 are of their rounding.
  upper <- below > 0
  from <- ifelse(upper, -above, below)
  to <- ifelse(upper, -below, above)
  array(stats::pnorm(to) - stats::pnorm(from), dim(above))
}

ordinal_gradient <- function(parameters, judged, counts, layout) {
  n <- length(layout$positions)
  law <- ordinal_law(parameters, layout)
  seen <- matrix(0, layout$groups, n * n)
  sums <- rowsum(matrix(counts, length(judged$group)), judged$group)
  seen[as.integer(rownames(sums)), ] <- sums
  ratio <- array(seen / as.vector(pmax(law, .Machine$double.xmin)), dim(law))
  parts <- ordinal_parts(parameters, layout)
  limits <- ordinal_limits(parts, layout)
  # Of each limit: it adds to the rating below what it takes from the one above.
  slopes <- stats::dnorm(limits) * (ratio[, , -n, drop = FALSE] - ratio[, , -1L, drop = FALSE])
  of_threshold <- matrix(apply(slopes, c(1L, 3L), sum), layout$groups)
  of_mean <- matrix(apply(slopes, 1:2, sum), layout$groups)
  c(
    -of_mean %*% layout$positions, rowSums(of_threshold),
    parts$steps * (of_threshold %*% layout$outwards)
  )
}

ordinal_report <- function(parameters, layout) {
  parts <- ordinal_parts(parameters, layout)
  n <- length(layout$categories)
  between <- paste(layout$categories[-n], layout$categories[-1L], sep = "|")
  named <- nzchar(layout$names)
  of <- rep(ifelse(named, paste0(layout$names, ": "), ""), length(between))
  c(
    stats::setNames(parts$slope, paste0("slope", ifelse(named, bracket(layout$names), ""))),
    stats::setNames(
      as.vector(parts$thresholds),
      paste0("threshold", bracket(paste0(of, rep(between, each = layout$groups))))
    )
  )
}

bracket <- function(x) paste0("[", x, "]")
