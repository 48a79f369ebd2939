# Methods that rest on the K-model as fitted by algebra; the mathematics is in src/core/accuracy.

method_binned <- new_method(
  "binned", "binned method",
  model = "k", clips = TRUE, bins = TRUE, iterated = FALSE,
  estimate = function(fit, options, average) estimate_k_model(fit, options),
  of_posterior = function(fit, options) {
    own_fit_point(fit, options, binned_of_posterior, bins = bins_of_posterior)
  },
  explain = function(estimate) {
    paste(
      "Cases were grouped by the highest posterior probability of a category, under a model in",
      "which raters are equally accurate, errors equally probable and cases equally difficult; in",
      "each group the accuracy follows from that probability and from how often the system gives",
      "the most probable category (Lehner 2015, equation 7)."
    )
  }
)

method_unbinned <- new_method(
  "unbinned", "unbinned method",
  model = "k", clips = TRUE, iterated = FALSE,
  estimate = function(fit, options, average) estimate_k_model(fit, options),
  of_posterior = function(fit, options) own_fit_point(fit, options, unbinned_of_posterior),
  explain = function(estimate) {
    paste(
      "The accuracy follows from the mean posterior probability of the system's answers, under a",
      "model in which raters are equally accurate, errors equally probable and cases equally",
      "difficult (a variant of Lehner 2015 without bins)."
    )
  }
)

estimate_k_model <- function(fit, options) {
  estimator <- make_estimator(fit, method_of(list(options = options)), options)
  point <- point_of(estimator)
  of <- point$numbers
  value <- of$estimate
  known <- of$cases > 0 & fit$identified == "yes"
  uninformative <- ifelse(known, of$uninformative / of$cases, NA_real_)
  warn_uninformative(fit$x$systems, ifelse(is.na(value), NA, uninformative))
  new_point(
    value, estimator,
    bins = lapply(point$systems, `[[`, "bins"), uninformative = uninformative,
    mean_posterior = of$mean_posterior
  )
}

# The published estimate, beside which others are seen; of the fit itself, if that is by algebra.
binned_estimate <- function(fit) {
  if (fit$method != "algebraic") fit <- fit_algebraic(fit$x, k_model())
  estimator <- make_estimator(fit, method_binned, list(clip = "bin", bin_width = 0.1))
  point_of(estimator)$numbers$estimate
}

warn_uninformative <- function(systems, share) {
  some <- which(share > 0)
  if (length(some) > 0L) {
    each <- verbatim(systems[some], ": ", percent(share[some]), " of its cases")
    warn_fallible("uninformative", c(
      "Bins in which no category stands out do not count in the mean.",
      stats::setNames(each, rep("*", length(each)))
    ), systems = systems[some], share = share[some])
  }
}
