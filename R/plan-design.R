# Converts the arguments of plan_cases() to the designs that it simulates. A design (see
# rater_design()) specifies how raters and systems answer.

# Returns the designs and their properties. `x`: arguments of plan_cases(). The result is a list:
# * designs: a design for each number of raters; raters: these numbers;
# * assumed: the design with the raters given by the user or the pilot;
# * accuracies: accuracies of its raters, a single number if all are equal; kappa: their expected
#   kappa, relative to chance agreement of 1 / number of categories;
# * labels: its categories; missing: its share of missing ratings; systems: accuracies of its
#   systems;
# * pilot: NULL, or a summary of the pilot for the print.
plan_design <- function(x) {
  if (is.function(x$design)) return(function_design(x))
  basis <- starting_design(x$design)
  design <- basis$design
  systems <- x$system_accuracy %||% if (n_systems(design) == 0L) paper_systems
  if (!is.null(systems)) design <- replace_judges(design, systems, "system")
  accuracies <- plan_accuracies(x, basis$accuracies, design)
  if (all_same(accuracies)) accuracies <- accuracies[[1L]]
  panel <- if (length(x$rater_accuracy) > 1L) x$rater_accuracy else design$raters
  raters <- check_distinct_counts(x$raters %||% length(panel), "raters", 2L, 100L)
  unchanged <- is.null(x$rater_accuracy) && is.null(x$chance_kappa)
  # Kappa needs at least two raters.
  assumed <- if (unchanged) design else replace_raters(
    design, rep_len(accuracies, max(length(accuracies), 2L))
  )
  list(
    designs = lapply(raters, function(m) {
      if (unchanged && m == n_raters(design)) return(design)
      replace_raters(design, spread_accuracies(accuracies, m))
    }),
    raters = raters, assumed = assumed, accuracies = accuracies, kappa = expected_kappa(assumed),
    labels = design$categories, missing = mean(design$missing), pilot = basis$story,
    systems = unname(given_accuracies(design)[-seq_along(design$raters)])
  )
}

paper_systems <- c(0.1, 0.3, 0.5, 0.7, 0.9) # accuracies of the systems in Lehner (2015)

# Converts the argument `design` to a list: `design`, of class rater_design; `accuracies` of its
# raters, NULL if they are not known; and for a pilot `story`, see pilot_design().
starting_design <- function(design) {
  if (is.null(design)) return(list(design = rater_design(c(1, 1, 1))))
  if (inherits(design, "rater_design")) {
    accuracies <- given_accuracies(design)[seq_along(design$raters)]
    return(list(design = design, accuracies = unname(accuracies)))
  }
  accepted_classes <- c("ratings", "ratings_labels", "rater_fit", "data.frame", "matrix", "table")
  abort_argument_if(!inherits(design, accepted_classes), "design",
    "must be a {.cls rater_design}, a function of the number of cases, or a pilot: {.cls ratings}, a
        {.cls rater_fit} or an estimate.", not = design,
    i = "Make one with {.fun rater_design}, {.fun ratings} or {.fun fit_raters}.")
  pilot_design(design)
}

replace_raters <- function(design, accuracies) replace_judges(design, accuracies, "rater")

# Replaces the raters (`kind` is "rater") or the systems of a design by new ones with the given
# accuracies. The old raters or systems must be equal in loading, drift (see rater_design()) and
# share of missing ratings; the new ones get the same values.
replace_judges <- function(design, accuracies, kind) {
  for_raters <- kind == "rater"
  if (!for_raters) check_probabilities(accuracies, "system_accuracy", 1L)
  is_old <- (seq_along(design$loading) <= n_raters(design)) == for_raters
  by_judge <- lapply(design[c("loading", "drift")], `[`, is_old)
  if (for_raters) by_judge$missing <- design$missing
  is_fixed <- any(lengths(design$matrices[is_old]) > 0L) || !all(map_lgl(by_judge, all_same)) ||
    any(design$copying$to > n_raters(design) | for_raters)
  abort_argument_if(is_fixed, "design",
    "{.arg design} cannot be combined with arguments that describe {kind}s.",
    x = "Some {kind}s copy answers of others, are copied by others, or differ in confusion matrix,
        loading, drift or share of missing ratings.",
    i = "Leave out these arguments, or use a design whose {kind}s have none of these properties.")
  n <- length(accuracies)
  new_fields <- lapply(by_judge, values_of_new_judges, n)
  new_fields$matrices <- rep(list(double()), n)
  for (name in c("loading", "drift", "matrices")) {
    others <- design[[name]][!is_old]
    design[[name]] <- append(others, new_fields[[name]], if (for_raters) 0L else length(others))
  }
  if (for_raters) design$missing <- new_fields$missing else names(accuracies) <-
    paste("system", accuracies)
  design[[paste0(kind, "s")]] <- name_judges(accuracies, kind)
  check_judge_names(c(names(design$raters), names(design$systems)))
  check_strata(design$strata, c(design$raters, if (design$system_strata) design$systems))
  design
}

# Accuracies of `m` raters, evenly spaced quantiles of `accuracies`. They are equal to `accuracies`,
# in increasing order, if there are `m` of them.
spread_accuracies <- function(accuracies, m) {
  unname(stats::quantile(accuracies, (seq_len(m) - 0.5) / m, type = 5L))
}

# Accuracies of raters: given by the user (`x`), computed from a given kappa, or of the design
# (`accuracies`).
plan_accuracies <- function(x, accuracies, design) {
  chance <- 1 / n_categories(design)
  given <- !map_lgl(x[c("rater_accuracy", "chance_kappa")], is.null)
  abort_argument_if(all(given) || !(any(given) || !is.null(accuracies)), "rater_accuracy",
    "Give the accuracy of raters as {.arg rater_accuracy}, {.arg chance_kappa} or
        {.arg design}{if (all(given)) '; the first two exclude each other'}.",
    i = "The number of cases depends on the agreement of raters. If it is not known, collect a pilot
        of about 50 cases, and give its ratings as {.arg design}.")
  if (given[[2L]]) return(accuracy_of_kappa(x$chance_kappa, design))
  if (given[[1L]]) accuracies <- check_probabilities(x$rater_accuracy, "rater_accuracy", 1L)
  accuracy <- mean(accuracies)
  abort_argument_if(accuracy <= chance + 1e-9, if (given[[1L]]) "rater_accuracy" else "design",
    "Raters must be better than chance, which is {format(chance, digits = 3)} with
        {n_categories(design)} categories.",
    x = "Their accuracy is {format(accuracy, digits = 3)}.")
  unname(accuracies)
}

# Accuracy of equally accurate raters whose expected kappa is `kappa`. It is unique, because kappa
# increases with accuracy if raters are better than chance.
accuracy_of_kappa <- function(kappa, design) {
  kappa <- check_number(kappa, "chance_kappa", 0, 1, open_min = TRUE)
  chance <- 1 / n_categories(design)
  design <- replace_raters(design, c(1, 1))
  excess <- function(accuracy) {
    design$raters[] <- accuracy
    expected_kappa(design) - kappa
  }
  low <- excess(chance)
  high <- excess(1)
  abort_argument_if(low >= 0 || high < -1e-9, "chance_kappa",
    "With the properties of {.arg design}, no accuracy of raters gives this {.arg chance_kappa}.",
    x = "It is {kappa}. It must be from {format(kappa + low, digits = 3)} to
        {format(kappa + high, digits = 3)}.")
  if (high <= 0) 1 else stats::uniroot(excess, c(chance, 1), tol = 1e-12)$root
}

# Expected kappa of a design, relative to chance agreement of 1 / number of categories: the mean
# over pairs of raters. If base rates are drawn at random, categories are taken as equally frequent.
# Random differences between confusion matrices are independent between raters and do not change the
# mean kappa, so they are left out.
expected_kappa <- function(design) {
  n <- n_categories(design)
  rates <- expected_rates(design)
  case_types <- case_quadrature_nodes(design)
  agreement <- 0
  for (s in seq_len(nrow(design$strata))) {
    matrices <- lapply(seq_along(design$raters), expected_matrix, design, s, rates)
    for (i in seq_len(nrow(case_types))) {
      # A column per rater; rows are answers within true categories.
      answers <- vapply(seq_along(matrices), function(rater) {
        vapply(seq_len(n), function(k) {
          case_row_probs(
            matrices[[rater]][k, ], k, design$loading[[rater]], design$drift[[rater]],
            case_types$effect[[i]], case_types$position[[i]]
          )
        }, double(n))
      }, double(n * n))
      weight <- design$strata$weight[[s]] * case_types$weight[[i]]
      agreement <- agreement + weight * crossprod(answers, rep(rates, each = n) * answers)
    }
  }
  agreement <- copied_agreement(agreement, design$copying)
  (mean(agreement[upper.tri(agreement)]) - 1 / n) / (1 - 1 / n)
}

# Expected confusion matrix of a rater in a stratum of cases.
expected_matrix <- function(rater, design, stratum, rates) {
  if (length(design$matrices[[rater]]) > 0L) return(user_confusion_matrix(design, rater, stratum))
  unclass(confusion_matrix(
    design$categories, design$raters[[rater]], design$strata$shift[[stratum]], design$dispersion,
    base_rates = rates
  ))
}

# Expected agreement of pairs of raters (raters x raters) if some raters copy answers. Rows of
# `copying` are applied one after the other. A copied answer agrees with other raters as often as
# the answer of its source.
copied_agreement <- function(agreement, copying) {
  diag(agreement) <- 1
  for (i in which(copying$to <= nrow(agreement))) {
    to <- copying$to[[i]]
    probability <- copying$probability[[i]]
    new_agreement <- (1 - probability) * agreement[to, ] +
      probability * agreement[copying$from[[i]], ]
    agreement[to, ] <- agreement[, to] <- replace(new_agreement, to, 1)
  }
  agreement
}

# ---- Pilot --------------------------------------------------------------------------------------

# Estimates a design from the ratings of a pilot, or from a fit to them. Returns a list: `design`;
# `accuracies` of the raters of the pilot; and `story`, a summary for the print. If fewer than half
# of the possible ratings are present, the raters are a crowd: the number of raters of the design is
# then the mean number of ratings per case.
pilot_design <- function(pilot) {
  is_fit <- inherits(pilot, "rater_fit")
  x <- if (is_fit) pilot$x else check_several_raters(with_votes(as_ratings(pilot, arg = "design")))
  abort_argument_if(n_systems(x) > 0L && n_systems(x) == length(x$constant), "design",
    "must not be verdicts on answers of systems: {.fun plan_cases} cannot plan for pass rates.",
    i = "Give an estimate with some known truths to {.fun plan_gold}.")
  # ratings per rated case
  ratings_per_case <- sum(pattern_weights(x) * pattern_lengths(x)) /
    count_cases(x, rated_patterns(x))
  is_crowd <- ratings_per_case < n_raters(x) / 2
  fit <- if (is_fit) pilot else fit_pilot(x, is_crowd)
  abort_argument_if(fit$identified != "yes", "design",
    "This pilot cannot be used for planning: {reason_of_fit(fit)}.",
    i = "Collect more ratings, or give {.arg rater_accuracy} or {.arg chance_kappa}.")
  abort_argument_if(fit$model$errors %in% c("free", "ordinal"), "design",
    "A fit with {.code errors = \"{fit$model$errors}\"} cannot be used for planning.",
    x = "It is a fit of the {format(fit$model)}.",
    i = "Use {.code errors = \"uniform\"} or {.code errors = \"distance\"} in {.fun rater_model}.")
  terms <- tidy(fit)
  # Defaults for terms that the model does not have. Indexing by name uses the first element.
  parameters <- c(setNames(round(terms$estimate, 3L), terms$term), dispersion = 1, difficulty = 0)
  by_rater <- fit$model$accuracy == "rater"
  rater_terms <- seq_len(if (by_rater) n_raters(x) else 1L)
  accuracies <- if (by_rater && !is_crowd) terms$estimate[rater_terms] else fit$rater_accuracy
  m <- if (is_crowd) max(2L, as.integer(round(ratings_per_case))) else n_raters(x)
  design <- rater_design(
    spread_accuracies(accuracies, m), categories = x$categories,
    base_rates = fit$base_rates / sum(fit$base_rates), dispersion = parameters[["dispersion"]],
    difficulty = parameters[["difficulty"]],
    missing = if (is_crowd) 0 else max(0, 1 - ratings_per_case / m)
  )
  systems <- pilot_systems(fit)
  if (length(systems) > 0L) design <- replace_judges(design, systems, "system")
  list(design = design, accuracies = accuracies, story = list(
    cases = nrow(x), model = format(fit$model), crowd = is_crowd, kind = panel_kind(x),
    std.error = sqrt(mean(vcov(fit)[rater_terms, rater_terms])),
    rater_accuracy = fit$rater_accuracy
  ))
}

# Fits a model with an accuracy per rater or, if `equal_accuracy` or if this is not identified, the
# K-model.
fit_pilot <- function(x, equal_accuracy) {
  if (!equal_accuracy && length(named_raters(x)) > 2L) {
    fit <- without_warnings(fit_raters(x, rater_model("rater")))
    if (fit$identified == "yes") return(fit)
  }
  without_warnings(fit_raters(x))
}

# Estimated accuracies of the pilot's systems, without systems whose accuracy is not identified.
pilot_systems <- function(fit) {
  if (n_systems(fit$x) == 0L) return(NULL)
  estimate <- without_warnings(estimate_accuracy(fit, method = "joint", interval = "none"))
  round(as.vector(stats::na.omit(tidy(estimate)$estimate)), 3L)
}

# ---- Panels drawn by a user-defined function ---------------------------------------------------

# Returns the fields of plan_design() if the argument `design` is a function (called a "world") that
# draws the ratings and the truth of a panel. Accuracies of its raters are unknown.
function_design <- function(x) {
  given <- names(drop_null(x[c("raters", "rater_accuracy", "chance_kappa", "system_accuracy")]))
  abort_argument_if(given, given[[1L]],
    "If {.arg design} is a function, it defines how raters and systems answer.",
    x = "{.arg {given}} cannot be given in addition.")
  world <- new_world(x$design, "design", as.integer(min(max(x$cases), 100)))
  list(
    designs = list(world), raters = world$raters, assumed = world, accuracies = NA_real_,
    kappa = NA_real_, labels = world$categories, missing = world$missing,
    systems = unname(world$systems)
  )
}
