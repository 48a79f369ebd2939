# Accuracy averaged over models of raters and system together; the mathematics is in
# src/core/accuracy and model/variational.cpp.

method_average <- new_method(
  "average", "averaged over models",
  model = "own", posterior = TRUE, common = "typical", stand_in = "joint", draws = "robust",
  estimate = function(fit, options, average) estimate_average(fit, average)
)

# Fields: estimator; systems, a list per system of what the average says. NULL where the raters do
# not tell anything.
average_of <- function(fit, options) {
  if (fit$identified %in% c("chance", "no_pairs")) {
    return(NULL)
  }
  check_model_size(fit$x, rlang::caller_env(3L))
  estimator <- make_estimator(fit, method_average, options)
  list(estimator = estimator, point = point_of(estimator))
}

# A number per system of what average_of() says.
of_average <- function(average, field, n) average$point$numbers[[field]] %||% rep(NA_real_, n)

estimate_average <- function(fit, average) {
  new_point(
    of_average(average, "estimate", length(fit$x$systems)), average$estimator,
    posterior = if (!is.null(average)) named_posteriors(average$point, fit$x)
  )
}

# What the average says beside any estimate, a number per system: the ends of the range, the share
# of ratings that are wrong, the weight of models without errors in common, and how far the
# estimators are apart; NA where no models were averaged.
beside_average <- function(fit, value, average) {
  fields <- c(
    "shared", "independent", "rater_error", "independence_weight", "suspicion", "typical"
  )
  if (is.null(average)) {
    none <- rlang::rep_named(c(fields, "lowest", "highest"), list(rep(NA_real_, length(value))))
    return(none)
  }
  out <- average$point$numbers[fields]
  ends <- list(value, out$shared, out$independent, binned_estimate(fit), na.rm = TRUE)
  out$lowest <- do.call(pmin, ends)
  out$highest <- do.call(pmax, ends)
  of_value <- setdiff(names(out), c("shared", "independent"))
  out[of_value] <- lapply(out[of_value], function(x) ifelse(is.na(value), NA_real_, x))
  out
}

# Expected numbers of cases by truth and answer (answers within truths) at both ends of the range, a
# list per system; NULL where no models were averaged.
end_counts <- function(average) {
  lapply(average$point$systems, `[`, c("independent_counts", "shared_counts"))
}

# The sampling error of averaged estimates is their own.
own_sampling <- function(draft) {
  n <- length(draft$point$value)
  if (!is_averaged(draft) || !weights_are_counts(draft$fit$x)) {
    return(rep(NA_real_, n))
  }
  of_average(draft$average, "std.error", n)
}

# A row per system and model.
member_table <- function(average, systems) {
  if (!is.null(average)) stack_systems(systems, lapply(average$point$systems, `[[`, "members"))
}

# What the answers say of each K-property: total weight of the models without it, a row per system.
axis_weights <- function(members) {
  weights <- lapply(split(members, factor(members$system, unique(members$system))), function(x) {
    weight <- function(which) sum(x$weight[which])
    data.frame(
      system = x$system[[1L]], accuracy = weight(x$accuracy == "rater"),
      errors = weight(x$errors != "uniform"), distance = weight(x$errors == "distance"),
      own = weight(!is.na(x$concentration)), difficulty = weight(x$difficulty > 0)
    )
  })
  do.call(rbind, unname(weights))
}

# What makes an estimate doubtful: few data, and an assumption that data cannot test.
wide_sampling <- 0.2 # width of an interval for sampling error alone
wide_range <- 0.1

has_few_data <- function(estimate) {
  width <- 2 * normal_quantile(estimate$options$conf_level) * estimate$details$sampling
  which(width > wide_sampling & told_by_ratings(estimate))
}

# Between the ends of what system and raters may have in common; no matter where truth is known.
rests_on_assumption <- function(estimate) {
  gap <- abs(estimate$table$independent - estimate$table$shared)
  which(gap * open_share(estimate$fit) > wide_range & told_by_ratings(estimate))
}

told_by_ratings <- function(estimate) {
  by_gold <- if (is.null(estimate$gold)) FALSE else rests_on_gold(estimate)
  !is.na(estimate$table$estimate) & !by_gold
}

warn_doubtful <- function(estimate) {
  few <- has_few_data(estimate)
  table <- estimate$table
  if (length(few) > 0L) {
    width <- 2 * normal_quantile(estimate$options$conf_level) * estimate$details$sampling[few]
    each <- verbatim(table$system[few], ": ", decimals(width, 2L), " wide")
    warn_fallible("few_data", c(
      "There are few data: sampling error alone makes wide intervals.",
      some_of(each),
      "i" = "More cases, more raters or better ones narrow them; see {.fun plan_cases}."
    ), systems = table$system[few])
  }
  apart <- rests_on_assumption(estimate)
  if (length(apart) > 0L) {
    each <- verbatim(table$system[apart], ": ", range_words(table)[apart])
    warn_fallible("assumption", c(
      "The accuracy rests on an assumption that ratings cannot test: how far systems err where
       raters err.",
      some_of(each),
      "i" = "The first number is for errors in common, or the last. Cases with known truth tell."
    ), systems = table$system[apart])
  }
}

# From low to high.
range_words <- function(table) {
  paste(
    decimals(pmin(table$shared, table$independent), 2L), "to",
    decimals(pmax(table$shared, table$independent), 2L)
  )
}
