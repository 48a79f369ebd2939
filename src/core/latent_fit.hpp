// Fitting latent class models, and what the data say of the parameters.
#ifndef FALLIBLE_CORE_LATENT_FIT_HPP
#define FALLIBLE_CORE_LATENT_FIT_HPP

#include "latent.hpp"
#include "optimise.hpp"

namespace fallible {

struct LatentFit {
  Eigen::VectorXd x;
  double log_likelihood = 0;
  double log_posterior = 0;
  int iterations = 0;
  bool converged = false;
};

// The best of several starts.
LatentFit fit_latent(const LatentClass& model, const OptimiserOptions& options);

// From a given vector of parameters, as a bootstrap does.
LatentFit fit_latent(const LatentClass& model, const Eigen::VectorXd& start,
                     const OptimiserOptions& options);

// Can these raters tell the free parameters apart, by the rank of a matrix of scores?
bool is_identified(const LatentRows& rows, const LatentModel& model, const LatentPrior& prior);

// Covariance of the natural parameters at a top, from the curvature of the log posterior
// there; NaN for more than 500 parameters.
Eigen::MatrixXd natural_covariance(const LatentClass& model, const Eigen::VectorXd& x);

}  // namespace fallible

#endif
