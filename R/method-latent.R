# Accuracy of systems under latent class models, if their errors are independent of those of raters
# or all shared; the mathematics is in src/core/accuracy/latent.cpp.

method_joint <- new_method(
  "joint", "joint method",
  model = "any", posterior = TRUE, likelihood = TRUE, common = "none",
  estimate = function(fit, options, average) estimate_latent(fit, options, average),
  of_family = function(fit, options) family_ends(fit, options, "independent"),
  explain = "The system was taken as one more rater in a latent class model, the {model}, fitted to
    all answers (Dawid and Skene 1979). {common}"
)

method_shared <- new_method(
  "shared", "shared method",
  model = "any", posterior = TRUE,
  estimate = function(fit, options, average) estimate_latent(fit, options, average),
  of_posterior = function(fit, options) {
    own_fit_point(fit, options, shared_of_posterior, posterior = TRUE)
  },
  of_family = function(fit, options) family_ends(fit, options, "shared"),
  explain = "The accuracy is the mean posterior probability of the system's answers under the
    {model}, fitted to the raters alone (Dawid and Skene 1979), which takes the system to err where
    the raters err."
)

# Both ends of the range are told, whichever is asked for.
estimate_latent <- function(fit, options, average) {
  lacking <- rep(NA_real_, n_systems(fit$x))
  if (fit$identified %in% c("chance", "unrelated", "no_pairs", "labels_only")) {
    return(new_point(lacking, shared = lacking, independent = lacking))
  }
  check_model_size(fit$x)
  ends <- by_id(list(method_shared, method_joint))
  estimators <- lapply(ends, make_estimator, fit = fit, options = options)
  found <- lapply(estimators, point_of)
  values <- lapply(found, function(of) if (of$identified) of$numbers$estimate else lacking)
  own <- found[[options$method]]
  if (!own$converged) warn_convergence(options$method)
  back <- correction_share(options, of_average(average, "typical", length(lacking)))
  posterior <- named_posteriors(own, fit$x)
  if (is_corrected(back)) {
    other <- named_posteriors(found[[method_shared$id]], fit$x)
    posterior <- Map(between_ends, posterior, other, back)
  }
  new_point(
    between_ends(values[[options$method]], values[[method_shared$id]], back),
    mixed_estimator(estimators[[options$method]], estimators[[method_shared$id]], back),
    shared = values[[method_shared$id]], independent = values[[method_joint$id]],
    reason = if (!own$identified) {
      rep(reason_of_parameters(fit$model, n_categories(fit$x)), length(lacking))
    },
    posterior = posterior
  )
}

# Patterns x categories of each system.
named_posteriors <- function(point, x) {
  stats::setNames(lapply(point$systems, function(system) {
    colnames(system$posterior) <- x$categories
    system$posterior
  }), x$systems)
}

no_bins <- data.frame(
  lower = double(), upper = double(), probability = double(), cases = double(),
  agreement = double(), estimate_raw = double(), estimate = double()
)
