// Curvature at a maximum: standard errors of the parameters of a latent class model, and the
// evidence for the model.
#pragma once

#include <vector>

#include "latent.hpp"

namespace fallible {

// Densities have kinks where strata reach probability 0 or 1. `sharp`: second derivatives of the
// smooth piece. `smoothed`: finite differences across kinks, for parameters other than base rates.
enum class Kinks { sharp, smoothed };

// Second derivatives of the log posterior density, from one pass over the data unless smoothed.
Eigen::MatrixXd log_posterior_hessian(const LatentClass& model, const Eigen::VectorXd& x,
                                      Kinks kinks = Kinks::sharp);
// Second derivatives along `directions` directions. `direction`: the direction of each parameter,
// or -1. Parameters of one direction move together; each base rate has a separate direction.
Eigen::MatrixXd log_posterior_hessian(const LatentClass& model, const Eigen::VectorXd& x,
                                      const std::vector<int>& direction, int directions,
                                      Kinks kinks = Kinks::sharp);

// Inverse curvature of an objective at its maximum, for the natural parameters.
class Curvature {
 public:
  // `hessian`: second derivatives of the objective at `x`, symmetric.
  Curvature(const Layout& layout, const Eigen::MatrixXd& hessian, const Eigen::VectorXd& x);

  // Covariance of the natural parameters: the inverse curvature, NaN along flat directions.
  // sandwich() uses the covariance `spread` of the gradient of the objective.
  Eigen::MatrixXd covariance() const;
  Eigen::MatrixXd sandwich(const Eigen::MatrixXd& spread) const;
  // Change of the natural parameters per unit of gradient: naturals x parameters.
  Eigen::MatrixXd response() const;

 private:
  Eigen::MatrixXd vectors_, root_;
  Eigen::VectorXd inverse_;
};

// Covariance of the natural parameters at a maximum, from the curvature of the log posterior. Empty
// for more than 2000 parameters, or if it would take too long.
Eigen::MatrixXd natural_covariance(const LatentClass& model, const Eigen::VectorXd& x);

// Variances only. They are too small, because posterior probabilities are treated as known truth:
// the variance of a rater's accuracies depends only on the ratings of this rater. Empty for models
// with ordinal errors, confidence or covariates.
std::vector<double> natural_variances(const LatentClass& model, const Eigen::VectorXd& x);

struct Evidence {
  double log_evidence = 0;
  double std_error = 0;  // of the joined system's accuracy; 0 without one
};

// Laplace approximation at a maximum `x` of the log posterior density, for a model without free
// errors. Uses the curvature in all directions. With many raters, deviations from their mean are
// integrated separately, as if the truth were known, and then the mean. For the standard error all
// raters move together.
Evidence laplace_evidence(const LatentClass& model, const Eigen::VectorXd& x);

}  // namespace fallible
