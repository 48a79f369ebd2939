# Methods that rest on the K-model as fitted by algebra; the mathematics is in src/core/accuracy.

method_binned <- new_method(
  "binned", "binned method",
  model = "k", clips = TRUE, bins = TRUE, iterated = FALSE,
  estimate = function(fit, options, average) estimate_k_model(fit, options),
  of_posterior = function(fit, options) {
    own_fit_point(fit, options, binned_of_posterior, bins = bins_of_posterior)
  },
  explain = "Cases were grouped by the highest posterior probability of a category, under a model in
    which raters are equally accurate, errors equally probable and cases equally difficult; in each
    group the accuracy follows from that probability and from how often the system gives the most
    probable category (Lehner 2015, equation 7)."
)

method_unbinned <- new_method(
  "unbinned", "unbinned method",
  model = "k", clips = TRUE, iterated = FALSE,
  estimate = function(fit, options, average) estimate_k_model(fit, options),
  of_posterior = function(fit, options) own_fit_point(fit, options, unbinned_of_posterior),
  explain = "The accuracy follows from the mean posterior probability of the system's answers, under
    a model in which raters are equally accurate, errors equally probable and cases equally
    difficult (a variant of Lehner 2015 without bins)."
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

warn_uninformative <- function(systems, share) {
  warn_of_each("uninformative", "Bins in which no category stands out do not count in the mean.",
    systems, share, " of its cases")
}
