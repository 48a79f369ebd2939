# Designs to simulate, from the arguments of plan_cases().

# Fields: designs (one for each number of raters); raters (these numbers); assumed (the design with
# the given raters); accuracies (of its raters, a single number if all are equal); kappa (expected
# from them); labels, systems (their accuracies) and missing of that design; pilot (NULL, or a
# summary for the print).
plan_design <- function(x) {
  if (is.function(x$design)) return(plan_world(x))
  from <- plan_basis(x$design)
  design <- from$design
  systems <- x$system_accuracy %||% if (n_systems(design) == 0L) paper_systems
  if (!is.null(systems)) design <- replace_judges(design, systems, "system")
  accuracies <- plan_accuracies(x, from$accuracies, design)
  if (all_same(accuracies)) accuracies <- accuracies[[1L]]
  panel <- if (length(x$rater_accuracy) > 1L) x$rater_accuracy else design$raters
  raters <- check_distinct_counts(x$raters %||% length(panel), "raters", 2L, 100L)
  unchanged <- is.null(x$rater_accuracy) && is.null(x$chance_kappa)
  two <- rep_len(accuracies, max(length(accuracies), 2L)) # kappa needs a pair of raters
  assumed <- if (unchanged) design else replace_raters(design, two)
  list(
    designs = lapply(raters, function(m) {
      if (unchanged && m == n_raters(design)) return(design)
      replace_raters(design, spread_accuracies(accuracies, m))
    }),
    raters = raters, assumed = assumed, accuracies = accuracies, kappa = expected_kappa(assumed),
    labels = design$categories, missing = mean(design$missing), pilot = from$story,
    systems = unname(given_accuracies(design)[-seq_along(design$raters)])
  )
}

paper_systems <- c(0.1, 0.3, 0.5, 0.7, 0.9)

# Base of a plan: a design, and the accuracies of its raters if they are known.
plan_basis <- function(design) {
  if (is.null(design)) return(list(design = rater_design(c(1, 1, 1))))
  if (inherits(design, "rater_design")) {
    accuracies <- given_accuracies(design)[seq_along(design$raters)]
    return(list(design = design, accuracies = unname(accuracies)))
  }
  usable <- c("ratings", "ratings_labels", "rater_fit", "data.frame", "matrix", "table")
  abort_argument_if(!inherits(design, usable), "design",
    "must be a {.cls rater_design}, a function of the number of cases, or the {.cls ratings} of a
        pilot or a {.cls rater_fit} to them.", not = design,
    i = "Make one with {.fun rater_design}, {.fun ratings} or {.fun fit_raters}.")
  pilot_design(design)
}

replace_raters <- function(design, accuracies) replace_judges(design, accuracies, "rater")

# Replaces the raters, or the systems, of a design by new ones with these accuracies. Loading, drift
# and missing ratings, which must be equal for all old ones, also hold for the new ones.
replace_judges <- function(design, accuracies, kind) {
  raters <- kind == "rater"
  if (!raters) check_probabilities(accuracies, "system_accuracy", 1L)
  old <- (seq_along(design$loading) <= n_raters(design)) == raters
  by_judge <- lapply(design[c("loading", "drift")], `[`, old)
  if (raters) by_judge$missing <- design$missing
  tied <- any(lengths(design$matrices[old]) > 0L) || !all(vapply(by_judge, all_same, NA)) ||
    any(design$copying$to > n_raters(design) | raters)
  abort_argument_if(tied, "design", "The {kind}s of {.arg design} cannot be replaced by others.",
    x = "Some copy or are copied, or have confusion matrices, missing ratings, loadings or drift of
        their own.", i = "Leave out what says others, or make a design without these.")
  n <- length(accuracies)
  new <- c(lapply(by_judge, for_others, n), list(matrices = rep(list(double()), n)))
  for (name in setdiff(names(new), "missing")) {
    kept <- design[[name]][!old]
    design[[name]] <- if (raters) c(new[[name]], kept) else c(kept, new[[name]])
  }
  if (raters) design$missing <- new$missing else names(accuracies) <- paste("system", accuracies)
  design[[paste0(kind, "s")]] <- name_judges(accuracies, kind)
  check_judge_names(c(names(design$raters), names(design$systems)))
  check_strata(design$strata, c(design$raters, if (design$system_strata) design$systems))
  design
}

# Accuracies of `m` raters, as evenly spaced quantiles; the given ones if there are `m` of them.
spread_accuracies <- function(accuracies, m) {
  unname(stats::quantile(accuracies, (seq_len(m) - 0.5) / m, type = 5L))
}

# Accuracies of raters: given, computed from kappa, or those of the design.
plan_accuracies <- function(x, accuracies, design) {
  chance <- 1 / n_categories(design)
  given <- !vapply(x[c("rater_accuracy", "chance_kappa")], is.null, NA)
  abort_argument_if(all(given) || !(any(given) || !is.null(accuracies)), "rater_accuracy",
    "Give {.arg rater_accuracy}, {.arg chance_kappa} or a
        {.arg design}{if (all(given)) ', not both'}.",
    i = "The number of cases depends on how well raters agree; a pilot of 50 cases shows it.")
  if (given[[2L]]) return(accuracy_of_kappa(x$chance_kappa, design))
  if (given[[1L]]) accuracies <- check_probabilities(x$rater_accuracy, "rater_accuracy", 1L)
  accuracy <- mean(accuracies)
  abort_argument_if(accuracy <= chance + 1e-9, if (given[[1L]]) "rater_accuracy" else "design",
    "Raters must be better than chance, which is {format(chance, digits = 3)} with
        {n_categories(design)} categories.",
    x = "Their accuracy is {format(accuracy, digits = 3)}.")
  unname(accuracies)
}

# Accuracy of equally accurate raters with this kappa. Kappa increases with accuracy above chance.
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
    "No accuracy of raters has this {.arg chance_kappa} under the violations that are assumed.",
    x = "It is {kappa}; possible is {format(kappa + low, digits = 3)} to
        {format(kappa + high, digits = 3)}.")
  if (high <= 0) 1 else stats::uniroot(excess, c(chance, 1), tol = 1e-12)$root
}

# Mean kappa over pairs of raters. Categories are equally frequent if base rates are drawn. The
# random factors of errors are independent between raters and do not change kappa.
expected_kappa <- function(design) {
  n <- n_categories(design)
  rates <- expected_rates(design)
  nodes <- case_nodes(design)
  agreement <- 0
  for (s in seq_len(nrow(design$strata))) {
    matrices <- lapply(seq_along(design$raters), expected_matrix, design, s, rates)
    for (i in seq_len(nrow(nodes))) {
      # A column per rater; rows are answers within true categories.
      answers <- vapply(seq_along(matrices), function(rater) {
        vapply(seq_len(n), function(k) {
          case_row(
            matrices[[rater]][k, ], k, design$loading[[rater]], design$drift[[rater]],
            nodes$effect[[i]], nodes$position[[i]]
          )
        }, double(n))
      }, double(n * n))
      weight <- design$strata$weight[[s]] * nodes$weight[[i]]
      agreement <- agreement + weight * crossprod(answers, rep(rates, each = n) * answers)
    }
  }
  agreement <- copied_agreement(agreement, design$copying)
  (mean(agreement[upper.tri(agreement)]) - 1 / n) / (1 - 1 / n)
}

expected_matrix <- function(rater, design, stratum, rates) {
  if (length(design$matrices[[rater]]) > 0L) return(given_matrix(design, rater, stratum))
  unclass(confusion_matrix(
    design$categories, design$raters[[rater]], design$strata$shift[[stratum]], design$dispersion,
    base_rates = rates
  ))
}

# Agreement of pairs of raters after copying, row after row. A copied answer agrees with other
# raters as often as its source does.
copied_agreement <- function(agreement, copying) {
  diag(agreement) <- 1
  for (i in which(copying$to <= nrow(agreement))) {
    to <- copying$to[[i]]
    share <- copying$probability[[i]]
    after <- (1 - share) * agreement[to, ] + share * agreement[copying$from[[i]], ]
    agreement[to, ] <- agreement[, to] <- replace(after, to, 1)
  }
  agreement
}

# ---- Pilot --------------------------------------------------------------------------------------

# The design that matches a pilot, `accuracies` of its raters, and `story`, a summary for the print.
pilot_design <- function(pilot) {
  fitted <- inherits(pilot, "rater_fit")
  x <- if (fitted) pilot$x else check_several_raters(with_votes(as_ratings(pilot, arg = "design")))
  rated <- count_cases(x, rated_patterns(x))
  given <- sum(pattern_weights(x) * pattern_lengths(x)) / rated # ratings per rated case
  crowd <- given < n_raters(x) / 2
  fit <- if (fitted) pilot else fit_pilot(x, crowd)
  check_pilot_fit(fit)
  terms <- tidy(fit)
  shape <- setNames(round(terms$estimate, 3L), terms$term)
  shape <- c(shape, dispersion = 1, difficulty = 0) # the first element of a name is used
  by_rater <- fit$model$accuracy == "rater"
  of_raters <- seq_len(if (by_rater) n_raters(x) else 1L)
  accuracies <- if (by_rater && !crowd) terms$estimate[of_raters] else fit$rater_accuracy
  m <- if (crowd) max(2L, as.integer(round(given))) else n_raters(x)
  design <- rater_design(
    spread_accuracies(accuracies, m), categories = x$categories,
    base_rates = fit$base_rates / sum(fit$base_rates), dispersion = shape[["dispersion"]],
    difficulty = shape[["difficulty"]], missing = if (crowd) 0 else max(0, 1 - given / m)
  )
  systems <- pilot_systems(fit)
  if (length(systems) > 0L) design <- replace_judges(design, systems, "system")
  list(design = design, accuracies = accuracies, story = list(
    cases = nrow(x), model = format(fit$model), crowd = crowd,
    std.error = sqrt(mean(stats::vcov(fit)[of_raters, of_raters])),
    rater_accuracy = fit$rater_accuracy
  ))
}

fit_pilot <- function(x, simple) {
  fits <- function(model) suppressWarnings(fit_raters(x, model), classes = "fallible_warning")
  if (!simple && length(named_raters(x)) > 2L) {
    fit <- fits(rater_model("rater"))
    if (fit$identified == "yes") return(fit)
  }
  fits(k_model())
}

check_pilot_fit <- function(fit) {
  abort_argument_if(fit$identified != "yes", "design",
    "This pilot cannot be used for planning: {reason_of_fit(fit)}.",
    i = "Collect more ratings, or give {.arg rater_accuracy} or {.arg chance_kappa}.")
  abort_argument_if(fit$model$errors %in% c("free", "ordinal"), "design",
    "A pilot with {fit$model$errors} errors cannot be planned from.",
    x = "It is a fit of the {format(fit$model)}.",
    i = "Choose {.code errors = \"uniform\"} or {.code \"distance\"} in {.fun rater_model}.")
}

# Accuracies of the pilot's systems that could be estimated.
pilot_systems <- function(fit) {
  if (n_systems(fit$x) == 0L) return(NULL)
  estimate <- suppressWarnings(
    estimate_accuracy(fit, method = "joint", interval = "none"), classes = "fallible_warning"
  )
  known <- tidy(estimate)$estimate
  round(known[!is.na(known)], 3L)
}

# ---- Panels drawn by a user-defined function ---------------------------------------------------

# The fields of plan_design(). Accuracies of raters and systems of a world are unknown.
plan_world <- function(x) {
  replaced <- c("raters", "rater_accuracy", "chance_kappa", "system_accuracy")
  given <- names(drop_null(x[replaced]))
  abort_argument_if(given, given[[1L]],
    "A function given as {.arg design} defines by itself how raters and systems answer.",
    x = "Found {.arg {given}} beside it.")
  world <- new_world(x$design, "design", as.integer(min(max(x$cases), 100)))
  list(
    designs = list(world), raters = world$raters, assumed = world, accuracies = NA_real_,
    kappa = NA_real_, labels = world$categories, missing = world$missing,
    systems = unname(world$systems)
  )
}
