# From what a user knows of raters to the designs whose panels are drawn.

# Fields: raters (numbers of them), labels, accuracies (of raters, one or several), kappa (that they
# would have), systems, base_rates, difficulty, dispersion, error_range, missing, pilot (NULL, or
# what the print tells of it), designs (one for each number of raters).
plan_design <- function(x, approximate, call) {
  from <- if (!is.null(x$pilot)) pilot_design(x$pilot, approximate, call)
  pick <- function(arg, otherwise) x[[arg]] %||% from[[arg]] %||% otherwise
  labels <- check_category_labels(pick("categories", 5L), call)
  if (!is.null(from) && length(labels) != length(from$categories) && is.null(x$base_rates)) {
    from$base_rates <- NULL
  }
  out <- list(
    labels = labels, base_rates = pick("base_rates", "uniform"),
    difficulty = pick("difficulty", 0), dispersion = pick("dispersion", 1),
    error_range = x$error_range, missing = pick("missing", 0),
    systems = pick("system_accuracy", c(0.1, 0.3, 0.5, 0.7, 0.9)), pilot = from$story
  )
  out$systems <- check_probabilities(out$systems, "system_accuracy", 1L, call)
  if (!is.character(out$base_rates)) {
    out$base_rates <- check_base_rates(out$base_rates, length(labels), call)
  }
  out$dispersion <- check_number(out$dispersion, "dispersion", 0, open_min = TRUE, call = call)
  check_strata(out$difficulty, 0.5, call)
  out$accuracies <- plan_accuracies(x, from, out, call)
  several <- if (length(x$rater_accuracy) > 1L) length(x$rater_accuracy)
  out$raters <- check_raters(x$raters %||% several %||% from$raters %||% 3L, call)
  out$designs <- lapply(out$raters, make_design, settings = out, call = call)
  out$missing <- out$designs[[1L]]$missing
  out$law <- out$designs[[1L]]$law
  out$kappa <- expected_kappa(out$accuracies, out)
  out
}

make_design <- function(m, settings, call) {
  systems <- stats::setNames(settings$systems, paste("system", settings$systems))
  tryCatch(
    rater_design(
      spread_accuracies(settings$accuracies, m), systems, settings$labels,
      base_rates = settings$base_rates, difficulty = settings$difficulty,
      dispersion = settings$dispersion, error_range = settings$error_range,
      missing = settings$missing
    ),
    fallible_error = function(e) {
      e$call <- rlang::call2("plan_cases")
      rlang::cnd_signal(e)
    }
  )
}

# So many raters whose accuracies spread like those given: these themselves, if there are as many.
spread_accuracies <- function(accuracies, m) {
  unname(stats::quantile(accuracies, (seq_len(m) - 0.5) / m, type = 5L))
}

check_raters <- function(raters, call) {
  if (length(raters) == 0L) check_count(raters, "raters", 2L, 100L, call)
  unique(vapply(raters, check_count, 0L, arg = "raters", min = 2L, max = 100L, call = call))
}

# Accuracies of raters: given, or by kappa, or the pilot's.
plan_accuracies <- function(x, from, settings, call) {
  chance <- 1 / length(settings$labels)
  given <- !vapply(x[c("rater_accuracy", "kappa")], is.null, NA)
  if (all(given) || !(any(given) || !is.null(from))) {
    abort_fallible("argument", c(
      "Give {.arg rater_accuracy}, {.arg kappa} or a {.arg pilot}{if (all(given)) ', not both'}.",
      "i" = "How well raters agree decides how many cases are needed. A pilot of 50 cases tells."
    ), arg = "rater_accuracy", call = call)
  }
  if (given[[2L]]) {
    return(accuracy_of_kappa(x$kappa, settings, call))
  }
  accuracies <- if (given[[1L]]) {
    check_probabilities(x$rater_accuracy, "rater_accuracy", 1L, call)
  } else {
    from$accuracies
  }
  if (mean(accuracies) <= chance + 1e-9) {
    abort_fallible("argument", c(
      "Raters must be better than chance, which is {format(chance, digits = 3)} with
       {length(settings$labels)} categories.",
      "x" = "Their accuracy is {format(mean(accuracies), digits = 3)}."
    ), arg = "rater_accuracy", call = call)
  }
  unname(accuracies)
}

# The accuracy that raters, all alike, must have for this kappa: increasing above chance.
accuracy_of_kappa <- function(kappa, settings, call) {
  kappa <- check_number(kappa, "kappa", 0, 1, open_min = TRUE, call = call)
  chance <- 1 / length(settings$labels)
  lack <- function(accuracy) expected_kappa(accuracy, settings) - kappa
  ends <- c(lack(chance), lack(1))
  if (ends[[1L]] >= 0 || ends[[2L]] < -1e-9) {
    abort_fallible("argument", c(
      "No accuracy of raters has this {.arg kappa} under the violations that are assumed.",
      "x" = "It is {kappa}; possible is {format(kappa + ends[[1L]], digits = 3)} to
             {format(kappa + ends[[2L]], digits = 3)}."
    ), arg = "kappa", call = call)
  }
  if (ends[[2L]] <= 0) {
    return(1)
  }
  stats::uniroot(lack, c(chance, 1), tol = 1e-12)$root
}

# Kappa of a pair of raters, in the mean over pairs, with categories alike where base rates are
# drawn. The random factors of errors are independent between raters and leave it as it is.
expected_kappa <- function(accuracies, settings) {
  n <- length(settings$labels)
  rates <- if (is.numeric(settings$base_rates)) settings$base_rates else rep(1 / n, n)
  if (length(accuracies) == 1L) accuracies <- rep(accuracies, 2L)
  strata <- check_strata(settings$difficulty, accuracies, rlang::caller_env())
  agreement <- 0
  for (s in seq_len(nrow(strata))) {
    matrices <- lapply(accuracies, function(a) {
      unclass(confusion_matrix(
        settings$labels, a, strata$shift[[s]], settings$dispersion, base_rates = rates
      ))
    })
    # Sum over pairs of different raters: square of the sum less the sum of squares.
    both <- Reduce(`+`, matrices)^2 - Reduce(`+`, lapply(matrices, `^`, 2))
    pairs <- length(accuracies) * (length(accuracies) - 1)
    agreement <- agreement + strata$weight[[s]] * sum(rates * rowSums(both)) / pairs
  }
  (agreement - 1 / n) / (1 - 1 / n)
}

# ---- Pilot --------------------------------------------------------------------------------------

# Arguments of plan_cases() that a pilot fills in, `accuracies`, and `story` for the print.
pilot_design <- function(pilot, approximate, call) {
  if (!inherits(pilot, "rater_fit")) {
    check_class(
      pilot, "ratings", "pilot", "Make one with {.fun ratings}, or fit one with {.fun fit_raters}.",
      call = call
    )
    check_single_label(pilot, call)
  }
  x <- if (inherits(pilot, "rater_fit")) pilot$x else pilot
  rated <- count_cases(x, rated_patterns(x))
  given <- sum(pattern_weights(x) * diff(x$patterns$start)) / rated # ratings of a rated case
  crowd <- given < length(x$raters) / 2
  fit <- if (inherits(pilot, "rater_fit")) pilot else fit_pilot(x, crowd || approximate)
  check_pilot_fit(fit, call)
  terms <- tidy(fit)
  term <- function(name) {
    if (name %in% terms$term) round(terms$estimate[[match(name, terms$term)]], 3L)
  }
  accuracies <- if (fit$model$accuracy == "rater" && !crowd && !approximate) {
    terms$estimate[seq_along(x$raters)]
  } else {
    fit$rater_accuracy
  }
  of_raters <- seq_len(if (fit$model$accuracy == "rater") length(x$raters) else 1L)
  variance <- mean(stats::vcov(fit)[of_raters, of_raters])
  list(
    raters = if (crowd) max(2L, as.integer(round(given))) else length(x$raters),
    missing = if (crowd) 0 else max(0, 1 - given / length(x$raters)),
    categories = x$categories, base_rates = fit$base_rates / sum(fit$base_rates),
    accuracies = accuracies, dispersion = term("dispersion"), difficulty = term("difficulty"),
    system_accuracy = pilot_systems(fit),
    story = list(
      cases = length(x$index), model = format(fit$model), std.error = sqrt(variance),
      rater_accuracy = fit$rater_accuracy, kappa = fit$kappa,
      systems = length(pilot_systems(fit)) > 0L, crowd = crowd
    )
  )
}

fit_pilot <- function(x, simple) {
  fits <- function(model) suppressWarnings(fit_raters(x, model), classes = "fallible_warning")
  if (!simple && !x$exchangeable && length(x$raters) > 2L) {
    fit <- fits(rater_model("rater"))
    if (fit$identified == "yes") {
      return(fit)
    }
  }
  fits(k_model())
}

check_pilot_fit <- function(fit, call) {
  if (fit$identified != "yes") {
    abort_fallible("argument", c(
      "Nothing can be planned from this {.arg pilot}: {reason_of_fit(fit)}.",
      "i" = "Collect more ratings, or give {.arg rater_accuracy} or {.arg kappa}."
    ), arg = "pilot", call = call)
  }
  if (fit$model$errors == "free") {
    abort_fallible("argument", c(
      "A {.arg pilot} with free errors cannot be planned from.",
      "x" = "It is a fit of the {format(fit$model)}.",
      "i" = "Choose {.code errors = \"uniform\"} or {.code \"distance\"} in {.fun rater_model}."
    ), arg = "pilot", call = call)
  }
}

# Accuracies of the pilot's systems, if there are any that could be estimated.
pilot_systems <- function(fit) {
  if (length(fit$x$systems) == 0L) {
    return(NULL)
  }
  estimate <- suppressWarnings(
    estimate_accuracy(fit, method = "joint", interval = "none"),
    classes = "fallible_warning"
  )
  known <- tidy(estimate)$estimate
  known <- known[!is.na(known)]
  if (length(known) > 0L) round(known, 3L)
}
