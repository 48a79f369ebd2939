# Converts the arguments of plan_cases() to the designs that plan_cases() simulates. A design (see
# rater_design()) specifies how raters and systems answer. A pilot is a small set of ratings from
# which a design is estimated.

# Returns the designs and their properties. `x`: arguments of plan_cases(). The result is a list:
# * raters: the numbers of raters to compare
# * designs: list with a design for each number in `raters`
# * assumed: the design with the raters given by the user or estimated from the pilot
# * accuracies: accuracies of the raters of `assumed`, a single number if all are equal
# * kappa: expected kappa of these raters, with chance agreement 1 / number of categories
# * labels: names of the categories
# * missing: share of missing ratings
# * systems: accuracies of the systems
# * pilot: summary of the pilot for print(), see pilot_design(), or NULL
plan_design <- function(x) {
  design <- x$design
  if (is.function(design)) return(function_design(x))
  pilot_classes <- c("ratings", "ratings_labels", "rater_fit", "data.frame", "matrix", "table")
  abort_argument_if(!is.null(design) && !inherits(design, c("rater_design", pilot_classes)),
    "design",
    "must be a {.cls rater_design}, a function of the number of cases, or a pilot: {.cls ratings}, a
        {.cls rater_fit} or an estimate.", not = design,
    i = "Create it with {.fun rater_design}, {.fun ratings} or {.fun fit_raters}.")
  pilot <- if (inherits(design, pilot_classes)) pilot_design(design)
  accuracies <- pilot$accuracies %||% if (!is.null(design))
    unname(given_accuracies(design)[seq_along(design$raters)])
  design <- pilot$design %||% design %||% rater_design(c(1, 1, 1))
  system_accuracies <- x$system_accuracy %||% if (n_systems(design) == 0L) lehner_accuracies
  if (!is.null(system_accuracies)) design <- replace_judges(design, system_accuracies, "system")
  accuracies <- plan_accuracies(x, accuracies, design)
  if (all_same(accuracies)) accuracies <- accuracies[[1L]]
  assumed_raters <- if (length(x$rater_accuracy) > 1L) x$rater_accuracy else design$raters
  panel_sizes <- check_distinct_counts(x$raters %||% length(assumed_raters), "raters", 2L, 100L)
  uses_design_raters <- is.null(x$rater_accuracy) && is.null(x$chance_kappa)
  # Kappa needs at least two raters, so a single accuracy is used for two raters.
  assumed_design <- if (uses_design_raters) design else
    replace_judges(design, rep_len(accuracies, max(length(accuracies), 2L)))
  list(
    designs = lapply(panel_sizes, function(m) {
      if (uses_design_raters && m == n_raters(design)) design else
        replace_judges(design, spread_accuracies(accuracies, m))
    }),
    raters = panel_sizes, assumed = assumed_design, accuracies = accuracies,
    kappa = expected_kappa(assumed_design), labels = design$categories,
    missing = mean(design$missing), pilot = pilot$summary,
    systems = unname(given_accuracies(design)[-seq_along(design$raters)])
  )
}

lehner_accuracies <- c(0.1, 0.3, 0.5, 0.7, 0.9) # accuracies of the systems in Lehner (2015)

# Replaces all raters (`kind` is "rater") or all systems ("system") of a design by new raters or
# systems with the given accuracies. Fails if the old raters or systems differ in loading, drift
# (see rater_design()) or share of missing ratings. The new ones have the same values.
replace_judges <- function(design, accuracies, kind = "rater") {
  is_for_raters <- kind == "rater"
  if (!is_for_raters) check_probabilities(accuracies, "system_accuracy", 1L)
  is_replaced <- (seq_along(design$loading) <= n_raters(design)) == is_for_raters
  old_values <- lapply(design[c("loading", "drift")], `[`, is_replaced)
  if (is_for_raters) old_values$missing <- design$missing
  problems <- c(
    if (any(lengths(design$matrices[is_replaced]) > 0L)) "user-defined confusion matrices",
    sprintf("different values of `%s`", names(old_values)[!map_lgl(old_values, all_same)]),
    if (any(design$copying$to > n_raters(design) | is_for_raters)) "copied answers"
  )
  abort_argument_if(problems, "design",
    "The {kind}s of {.arg design} cannot be replaced by {kind}s with other accuracies.",
    x = "The {kind}s of {.arg design} have {problems}.",
    i = paste(
      if (is_for_raters)
        "Leave out {.arg raters}, {.arg rater_accuracy}, and {.arg chance_kappa}," else
        "Leave out {.arg system_accuracy},",
      "or use a design whose {kind}s have none of these properties."
    ))
  n_new_judges <- length(accuracies)
  new_fields <- c(
    lapply(old_values, function(x) rep(c(x, 0)[[1L]], n_new_judges)),
    list(matrices = rep(list(double()), n_new_judges))
  )
  for (name in c("loading", "drift", "matrices")) {
    kept_values <- design[[name]][!is_replaced]
    n_values_before <- if (is_for_raters) 0L else length(kept_values)
    design[[name]] <- append(kept_values, new_fields[[name]], n_values_before)
  }
  if (is_for_raters) design$missing <- new_fields$missing else names(accuracies) <-
    paste("system", accuracies)
  design[[paste0(kind, "s")]] <- name_judges(accuracies, kind)
  check_judge_names(c(names(design$raters), names(design$systems)))
  check_strata(design$strata, c(design$raters, if (design$system_strata) design$systems))
  design
}

# Returns accuracies of `n` raters: evenly spaced quantiles of `accuracies`. If `accuracies` has
# length `n`, the result is `accuracies` in increasing order.
spread_accuracies <- function(accuracies, n) {
  unname(quantile(accuracies, (seq_len(n) - 0.5) / n, type = 5L))
}

# Returns the accuracies of raters that a plan assumes. They are given by the user, or computed from
# the kappa that the user gives. If the user gives neither, they are the accuracies of the design.
# `x`: arguments of plan_cases(). `accuracies`: accuracies of the raters of the design, NULL if they
# are not known.
plan_accuracies <- function(x, accuracies, design) {
  chance_accuracy <- 1 / n_categories(design)
  is_argument_given <- !map_lgl(x[c("rater_accuracy", "chance_kappa")], is.null)
  abort_argument_if(
    all(is_argument_given) || !(any(is_argument_given) || !is.null(accuracies)), "rater_accuracy",
    "Give the accuracy of raters as {.arg rater_accuracy}, {.arg chance_kappa} or
        {.arg design}{if (all(is_argument_given)) '; the first two exclude each other'}.",
    i = "The number of cases depends on the agreement of raters. If it is not known, collect a pilot
        of about 50 cases, and give its ratings as {.arg design}.")
  if (is_argument_given[[2L]]) {
    # Equally accurate raters with this expected kappa have a unique accuracy, because kappa
    # increases with accuracy if raters are better than chance.
    kappa <- check_number(x$chance_kappa, "chance_kappa", 0, 1, open_min = TRUE)
    design <- replace_judges(design, c(1, 1))
    kappa_excess <- function(accuracy) {
      design$raters[] <- accuracy
      expected_kappa(design) - kappa
    }
    kappa_excess_at_chance <- kappa_excess(chance_accuracy)
    kappa_excess_at_one <- kappa_excess(1)
    abort_argument_if(kappa_excess_at_chance >= 0 || kappa_excess_at_one < -1e-9, "chance_kappa",
      "With the properties of {.arg design}, no accuracy of raters gives this {.arg chance_kappa}.",
      x = "It is {kappa}. It must be from {format(kappa + kappa_excess_at_chance, digits = 3)} to
          {format(kappa + kappa_excess_at_one, digits = 3)}.")
    if (kappa_excess_at_one <= 0) return(1)
    return(uniroot(kappa_excess, c(chance_accuracy, 1), tol = 1e-12)$root)
  }
  if (is_argument_given[[1L]])
    accuracies <- check_probabilities(x$rater_accuracy, "rater_accuracy", 1L)
  accuracy <- mean(accuracies)
  abort_argument_if(accuracy <= chance_accuracy + 1e-9,
    if (is_argument_given[[1L]]) "rater_accuracy" else "design",
    "Raters must be better than chance, which is {format(chance_accuracy, digits = 3)} with
        {n_categories(design)} categories.",
    x = "Their accuracy is {format(accuracy, digits = 3)}.")
  unname(accuracies)
}

# Returns the expected kappa of a design, the mean over pairs of raters. Chance agreement is
# 1 / number of categories. If the design draws base rates at random, categories are assumed to be
# equally frequent. Random differences between confusion matrices are ignored, because they do not
# change the mean kappa.
expected_kappa <- function(design) {
  n <- n_categories(design)
  base_rates <- expected_base_rates(design)
  case_nodes <- case_quadrature_nodes(design)
  agreement <- 0
  for (s in row_numbers(design$strata)) {
    confusion_matrices <- lapply(seq_along(design$raters), function(rater) {
      if (length(design$matrices[[rater]]) > 0L) user_confusion_matrix(design, rater, s) else
        unclass(confusion_matrix(
          design$categories, design$raters[[rater]], design$strata$shift[[s]], design$dispersion,
          base_rates = base_rates
        ))
    })
    for (i in row_numbers(case_nodes)) {
      # Probabilities of answers. Columns are raters. Each true category has a row per answer.
      answer_probabilities <- vapply(seq_along(confusion_matrices), function(rater) {
        vapply(seq_len(n), function(k) {
          case_row_probs(
            confusion_matrices[[rater]][k, ], k, design$loading[[rater]], design$drift[[rater]],
            case_nodes$effect[[i]], case_nodes$position[[i]]
          )
        }, double(n))
      }, double(n * n))
      node_weight <- design$strata$weight[[s]] * case_nodes$weight[[i]]
      agreement <- agreement + node_weight *
        crossprod(answer_probabilities, rep(base_rates, each = n) * answer_probabilities)
    }
  }
  # In the table `copying`, rater `to` copies an answer of rater `from` with the given probability.
  # A copied answer agrees with other raters as often as the original answer. Rows of the table are
  # applied one after the other.
  copying <- design$copying
  diag(agreement) <- 1
  for (i in which(copying$to <= nrow(agreement))) {
    copier <- copying$to[[i]]
    copying_probability <- copying$probability[[i]]
    new_agreement <- (1 - copying_probability) * agreement[copier, ] +
      copying_probability * agreement[copying$from[[i]], ]
    agreement[copier, ] <- agreement[, copier] <- replace(new_agreement, copier, 1)
  }
  (mean(agreement[upper.tri(agreement)]) - 1 / n) / (1 - 1 / n)
}

# ---- Pilot --------------------------------------------------------------------------------------

# Estimates a design from a pilot, which is ratings or a fit to ratings. Returns a list: `design`;
# `accuracies` of the raters of the pilot; and `summary`, properties of the pilot for print(). If
# fewer than half of the possible ratings are present, the raters are called a crowd. The number of
# raters of the design is then the mean number of ratings per case.
pilot_design <- function(pilot) {
  is_fit <- inherits(pilot, "rater_fit")
  x <- if (is_fit) pilot$x else check_several_raters(with_votes(as_ratings(pilot, arg = "design")))
  abort_argument_if(n_systems(x) > 0L && n_systems(x) == length(x$constant), "design",
    "must not contain only verdicts on the answers of systems: {.fun plan_cases} cannot plan for
        pass rates.",
    i = "Use {.fun plan_gold} on an estimate with some known truths.")
  ratings_per_case <- sum(pattern_weights(x) * pattern_lengths(x)) /
    count_cases(x, is_rated_pattern(x))
  is_crowd <- ratings_per_case < n_raters(x) / 2
  fit <- if (is_fit) pilot else fit_pilot(x, is_crowd)
  abort_argument_if(fit$identified != "yes", "design",
    "The pilot {.arg design} cannot be used for planning: {reason_of_fit(fit)}.",
    i = "Collect more ratings, or give {.arg rater_accuracy} or {.arg chance_kappa}.")
  abort_argument_if(fit$model$errors %in% c("free", "ordinal"), "design",
    "A fit with {.code errors = \"{fit$model$errors}\"} cannot be used for planning.",
    x = "The fit {.arg design} is a {format(fit$model)}.",
    i = "Use {.code errors = \"uniform\"} or {.code errors = \"distance\"} in {.fun rater_model}.")
  term_table <- tidy(fit)
  # Some models do not have the terms `dispersion` and `difficulty`, so default values are added at
  # the end. If the fit has an estimate, `[[` finds it first.
  model_parameters <-
    c(setNames(round(term_table$estimate, 3L), term_table$term), dispersion = 1, difficulty = 0)
  differs_by_rater <- fit$model$accuracy == "rater"
  rater_term_rows <- seq_len(if (differs_by_rater) n_raters(x) else 1L)
  accuracies <- if (differs_by_rater && !is_crowd) term_table$estimate[rater_term_rows] else
    fit$rater_accuracy
  n_design_raters <- if (is_crowd) max(2L, as.integer(round(ratings_per_case))) else n_raters(x)
  design <- rater_design(
    spread_accuracies(accuracies, n_design_raters), categories = x$categories,
    base_rates = fit$base_rates / sum(fit$base_rates),
    dispersion = model_parameters[["dispersion"]], difficulty = model_parameters[["difficulty"]],
    missing = if (is_crowd) 0 else max(0, 1 - ratings_per_case / n_design_raters)
  )
  system_accuracies <- pilot_system_accuracies(fit)
  if (length(system_accuracies) > 0L) design <- replace_judges(design, system_accuracies, "system")
  list(design = design, accuracies = accuracies, summary = list(
    cases = nrow(x), model = format(fit$model), crowd = is_crowd, kind = panel_kind(x),
    std.error = sqrt(mean(vcov(fit)[rater_term_rows, rater_term_rows])),
    rater_accuracy = fit$rater_accuracy
  ))
}

# Fits a model with an accuracy per rater to the ratings of a pilot. Fits the K-model, in which all
# raters have the same accuracy, in three cases: if `equal_accuracy` is TRUE, if fewer than three
# raters have names, or if an accuracy per rater is not identified.
fit_pilot <- function(x, equal_accuracy) {
  if (!equal_accuracy && length(named_raters(x)) > 2L) {
    fit <- without_warnings(fit_raters(x, rater_model("rater")))
    if (fit$identified == "yes") return(fit)
  }
  without_warnings(fit_raters(x))
}

# Returns the estimated accuracies of the pilot's systems, without systems whose accuracy is not
# identified.
pilot_system_accuracies <- function(fit) {
  if (n_systems(fit$x) == 0L) return(NULL)
  estimate <- without_warnings(estimate_accuracy(fit, method = "joint", interval = "none"))
  round(as.vector(na.omit(tidy(estimate)$estimate)), 3L)
}

# ---- Panels drawn by a user-defined function ---------------------------------------------------

# Returns the fields of plan_design() if the argument `design` of plan_cases() is a function. This
# function, called a "world", draws the ratings and the truth of a given number of cases. The
# accuracies of its raters are unknown.
function_design <- function(x) {
  excluded_arguments <- c("raters", "rater_accuracy", "chance_kappa", "system_accuracy")
  given_arguments <- names(drop_null(x[excluded_arguments]))
  abort_argument_if(given_arguments, given_arguments[[1L]],
    "If {.arg design} is a function, it defines how raters and systems answer.",
    x = "{.arg {given_arguments}} cannot be given in addition.")
  world <- new_world(x$design, "design", as.integer(min(max(x$cases), 100)))
  list(
    designs = list(world), raters = world$raters, assumed = world, accuracies = NA_real_,
    kappa = NA_real_, labels = world$categories, missing = world$missing,
    systems = unname(world$systems)
  )
}
