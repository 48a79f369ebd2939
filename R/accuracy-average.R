# Accuracy averaged over models of raters and system together; the mathematics is in
# src/core/average*.cpp and variational.cpp.

# A list per system, with replicates as an attribute; NULL where the raters do not tell anything.
average_accuracy <- function(fit, options) {
  if (fit$identified %in% c("chance", "no_pairs")) {
    return(NULL)
  }
  x <- fit$x
  bootstrapped <- options$method == "average" && options$interval == "bootstrap" &&
    weights_are_counts(x)
  settings <- if (bootstrapped) resampling(x, options) else no_replicates
  settings$threads <- options$threads
  chains <- if (length(x$categories) > 2L) 4L else 2L
  bar <- progress_bar("Models", length(x$systems) * (chains + 1L))
  frame <- environment()
  second <- NULL
  resampled <- function(done) {
    if (is.null(second)) { # a frame can have one bar at a time
      bar$close()
      assign("second", progress_bar("Bootstrap", options$replicates, frame), frame)
    }
    second$tick(done)
  }
  weight <- pattern_weights(x)
  if (!weights_are_counts(x) && sum(weight) <= 1 + 1e-9) weight <- many_cases * weight
  out <- core_average(x$patterns, weight, fit$known$truth, settings, bar$tick, resampled)
  if (is.null(second)) bar$close() else second$close()
  structure(stats::setNames(out$systems, x$systems), replicates = out$replicates)
}

# What weights that are probabilities are probabilities of.
many_cases <- 1e6

# A number per system of what average_accuracy() says.
of_average <- function(average, field, n) {
  if (is.null(average)) rep(NA_real_, n) else na_real(vapply(average, `[[`, 0, field))
}

estimate_average <- function(fit, average, options) {
  value <- of_average(average, "estimate", length(fit$x$systems))
  estimate <- new_model_estimate(fit, unname(value), options)
  estimate$posterior <- if (!is.null(average)) {
    named_posteriors(lapply(average, `[[`, "posterior"), fit$x)
  }
  estimate
}

# What the average adds to any estimate: the ends of the range, what else it found, and how far the
# estimators are apart.
add_average <- function(estimate, average) {
  if (is.null(average)) {
    return(estimate)
  }
  n <- nrow(estimate$table)
  one_coin <- estimate$options$method %in% c("average", "binned", "unbinned")
  known <- !is.na(estimate$table$estimate)
  shared <- unname(of_average(average, "shared", n))
  independent <- unname(of_average(average, "estimate", n))
  if (one_coin) {
    estimate$table$shared <- shared
    estimate$table$independent <- independent
  }
  all <- rbind(estimate$table$estimate, shared, independent, binned_estimate(estimate$fit$x))
  all <- all[, known, drop = FALSE]
  estimate$details$lowest[known] <- apply(all, 2L, min, na.rm = TRUE)
  estimate$details$highest[known] <- apply(all, 2L, max, na.rm = TRUE)
  for (field in c("rater_error", "simple_weight")) {
    estimate$details[[field]][known] <- unname(of_average(average, field, n))[known]
  }
  if (weights_are_counts(estimate$fit$x)) {
    estimate$details$sampling <- unname(of_average(average, "std.error", n))
  }
  estimate$members <- member_table(average)
  estimate
}

# The published estimate, beside which others are seen.
binned_estimate <- function(x) {
  options <- list(method = "binned", clip = "bin", bin_width = 0.1)
  fit <- core_parameters(fit_algebraic(x, k_model()))
  systems <- core_accuracy(x$patterns, pattern_weights(x), fit, options)
  na_real(vapply(systems, `[[`, 0, "estimate"))
}

# A row per system and model.
member_table <- function(average) {
  tables <- Map(function(name, system) {
    members <- system$members
    if (nrow(members) > 0L) cbind(system = name, members)
  }, names(average), average)
  out <- tibble::as_tibble(do.call(rbind, unname(tables)))
  out$log_evidence <- na_real(out$log_evidence)
  out$concentration <- na_real(out$concentration)
  out
}

# What the answers say of each K-property: total weight of the models without it, a row per system.
axis_weights <- function(members) {
  weights <- lapply(split(members, factor(members$system, unique(members$system))), function(x) {
    weight <- function(which) sum(x$weight[which])
    data.frame(
      system = x$system[[1L]], accuracy = weight(x$accuracy == "rater"),
      errors = weight(x$errors != "uniform"), distance = weight(x$errors == "distance"),
      own = weight(x$errors %in% c("own", "matrix")), difficulty = weight(x$difficulty > 0)
    )
  })
  do.call(rbind, unname(weights))
}

axes_note <- function(members) {
  weights <- axis_weights(members)
  say <- function(axis) {
    ends <- decimals(range(weights[[axis]]), 2L)
    paste(unique(ends), collapse = "-")
  }
  paste0(
    "Weight of the models without a K-property: equal accuracy ", say("accuracy"),
    ", equal errors ", say("errors"), " (by distance ", say("distance"),
    ", own confusion matrices ", say("own"), "), equal difficulty ", say("difficulty")
  )
}

# What makes estimates doubtful in a way that no single estimator sees.
little_agreement <- 0.4 # kappa
wide_spread <- 0.1

# Kappa is NA where no two raters share a case, and truths or raters are known; where all truths are
# known it does not matter.
agree_little <- function(fit) {
  !is.na(fit$kappa) && fit$kappa < little_agreement && any(open_share(fit) > 0, na.rm = TRUE)
}

far_apart <- function(estimate) {
  which(estimate$details$highest - estimate$details$lowest > wide_spread)
}

doubt_note <- function(estimate) {
  few <- agree_little(estimate$fit) && !all(is.na(estimate$details$lowest))
  apart <- far_apart(estimate)
  c(
    if (few) "Raters agree little: the estimate rests on assumptions as much as on data",
    if (length(apart) > 0L) {
      paste0("Estimators far apart: ", shorten(range_of_estimators(estimate, apart), most = 4L))
    }
  )
}

range_of_estimators <- function(estimate, which) {
  details <- estimate$details[which, ]
  paste0(
    details$system, " (", decimals(details$lowest, 2L), " to ", decimals(details$highest, 2L), ")"
  )
}

warn_doubtful <- function(estimate) {
  kappa <- estimate$fit$kappa
  few <- agree_little(estimate$fit)
  apart <- far_apart(estimate)
  if (all(is.na(estimate$details$lowest)) || !(few || length(apart) > 0L)) {
    return(invisible())
  }
  each <- verbatim(utils::head(range_of_estimators(estimate, apart), 5L))
  if (length(apart) > 5L) each <- c(each, paste("and", length(apart) - 5L, "more"))
  warn_fallible("doubtful", c(
    "The ratings say little about accuracy; report the interval, not the estimate alone.",
    "!" = if (few) "Raters agree little beyond chance: kappa is {decimals(kappa, 2L)}.",
    "!" = if (length(apart) > 0L) "Estimates that rest on different assumptions are far apart:",
    stats::setNames(each, rep("*", length(each))),
    "i" = "Ratings cannot show which assumptions hold. Better raters, or cases with known truth,
           can."
  ), systems = estimate$details$system[apart], kappa = kappa)
}
