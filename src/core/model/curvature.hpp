// Curvature of the log posterior density at its maximum. Standard errors of the parameters of a
// latent class model, and the marginal likelihood (evidence) of the model, are computed from this
// curvature.
#pragma once

#include <vector>

#include "latent.hpp"

namespace fallible {

// Treatment of kinks. In models with strata, the derivative of the density jumps where the accuracy
// in a stratum reaches 0 or 1. The Hessian is computed from finite differences of the gradient.
//   sharp: the steps of the differences are small, so that they rarely cross a kink.
//   smoothed: the steps are large, so that the differences average over several kinks.
enum class Kinks { sharp, smoothed };

// Returns the Hessian of the log posterior density at `x`: parameters x parameters. Needs one pass
// over the data. With `Kinks::smoothed` and strata, needs two more passes per parameter.
Eigen::MatrixXd log_posterior_hessian(const LatentClass& model, const Eigen::VectorXd& x,
                                      Kinks kinks = Kinks::sharp);
// Returns the Hessian along a smaller number of directions: directions x directions. All parameters
// of a direction move together. `direction`: direction of each parameter, from 0, or -1 for a fixed
// parameter. Each base rate parameter must have a separate direction.
Eigen::MatrixXd log_posterior_hessian(const LatentClass& model, const Eigen::VectorXd& x,
                                      const std::vector<int>& direction, int directions,
                                      Kinks kinks = Kinks::sharp);

// Inverse curvature of an objective at its maximum, transformed to the natural parameters
// (accuracies, base rates, ...; see reading.hpp).
class Curvature {
 public:
  // `hessian`: second derivatives of the objective at `x`, a symmetric matrix.
  Curvature(const Layout& layout, const Eigen::MatrixXd& hessian, const Eigen::VectorXd& x);

  // Covariance of the natural parameters. covariance() is the inverse curvature. sandwich() returns
  // inverse curvature * `spread` * inverse curvature, where `spread` is the covariance of the
  // objective's gradient. Entries of quantities that are not identified are NaN.
  Eigen::MatrixXd covariance() const;
  Eigen::MatrixXd sandwich(const Eigen::MatrixXd& spread) const;
  // Change of the natural parameters per unit of the objective's gradient: naturals x parameters.
  // Its product with the gradient of one case is the influence of the case on the estimates.
  Eigen::MatrixXd response() const;

 private:
  // `vectors_`: eigenvectors of the curvature, parameters x directions. `root_`: derivatives of the
  // natural parameters along the eigenvectors, naturals x directions.
  Eigen::MatrixXd vectors_, root_;
  Eigen::VectorXd inverse_;  // 1 / eigenvalue of each direction; 1 if the eigenvalue is zero
};

// Covariance matrix of the natural parameters at the maximum `x`, from the curvature of the log
// posterior. Empty for more than 2000 parameters, or if the computation would take more than about
// ten seconds.
Eigen::MatrixXd natural_covariance(const LatentClass& model, const Eigen::VectorXd& x);

// Approximate variances of the natural parameters, for models that are too large for
// natural_covariance(). These variances are too small, because the true categories are treated as
// known. Empty for models with ordinal errors, confidence levels or covariates.
std::vector<double> natural_variances(const LatentClass& model, const Eigen::VectorXd& x);

// Marginal likelihood of a model.
struct Evidence {
  double log_evidence = 0;
  // Standard error of the accuracy of the system that is the last judge; 0 without a system.
  double std_error = 0;
};

// Laplace approximation of the log evidence, from the curvature at the maximum `x` of the log
// posterior density. Only for models without free error rates. With many raters, the accuracy of
// each rater is integrated separately, as if the truth were known. The system's standard error then
// treats the accuracies of all raters as one parameter.
Evidence laplace_evidence(const LatentClass& model, const Eigen::VectorXd& x);

}  // namespace fallible
