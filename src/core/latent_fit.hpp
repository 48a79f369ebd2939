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

// The best of several starts; `fit` climbs from one.
template <class Fit>
LatentFit best_start(const LatentClass& model, const Fit& fit) {
  LatentFit out;
  bool first = true;
  for (const Eigen::VectorXd& start : model.starts()) {
    LatentFit found = fit(start);
    if (first || found.log_posterior > out.log_posterior) out = std::move(found);
    first = false;
  }
  return out;
}

// For fits that are compared with each other, not read: they need fewer digits.
OptimiserOptions coarse_options();

LatentFit fit_latent(const LatentClass& model, const OptimiserOptions& options);

// From a given vector of parameters, as a bootstrap does.
LatentFit fit_latent(const LatentClass& model, const Eigen::VectorXd& start,
                     const OptimiserOptions& options);

// What a model is fitted to.
enum class Fitting { likelihood, pairs };

// Can these raters tell the free parameters apart, by the rank of a matrix of scores, or of slopes
// of the probabilities of pairs? Units with parameters of their own who always say the same tell
// nothing.
bool is_identified(const LatentRows& rows, const LatentModel& model, const LatentPrior& prior,
                   Fitting fitting = Fitting::likelihood);

// How an objective falls off around its top, seen along the natural parameters.
class Curvature {
 public:
  // Second derivatives of the objective at `x`; empty if they would take longer than the fit.
  Curvature(const LatentClass& model, const Eigen::MatrixXd& hessian, const Eigen::VectorXd& x);

  bool known() const { return vectors_.size() > 0; }
  // Of the natural parameters: the inverse of the curvature, NaN where it is flat; the same around
  // the covariance of the slopes of the objective.
  Eigen::MatrixXd covariance() const;
  Eigen::MatrixXd sandwich(const Eigen::MatrixXd& spread) const;

 private:
  Eigen::MatrixXd vectors_, root_;
  Eigen::VectorXd inverse_;
};

// Covariance of the natural parameters at a top, from the curvature of the log posterior
// there; NaN for more than 500 parameters, or where that would take very long.
Eigen::MatrixXd natural_covariance(const LatentClass& model, const Eigen::VectorXd& x);

}  // namespace fallible

#endif
