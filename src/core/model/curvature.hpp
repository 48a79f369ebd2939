// The curvature at a top: how well data determine the parameters of a latent class model, and how
// probable it makes them, which is what weighs models against each other.
#pragma once

#include <vector>

#include "latent.hpp"

namespace fallible {

// Where strata meet 0 and 1 densities have kinks, across which second derivatives by what is no
// base rate are a matter of differences, unless they are to be those of the piece.
enum class Kinks { sharp, smoothed };

// Second derivatives of the log posterior density, from one pass over the data unless smoothed.
Eigen::MatrixXd log_posterior_hessian(const LatentClass& model, const Eigen::VectorXd& x,
                                      Kinks kinks = Kinks::sharp);
// The same along so many directions: that of each parameter, or -1. Those of one direction move
// together; each base rate has one of its own.
Eigen::MatrixXd log_posterior_hessian(const LatentClass& model, const Eigen::VectorXd& x,
                                      const std::vector<int>& direction, int directions,
                                      Kinks kinks = Kinks::sharp);

// How an objective falls off around its top, seen along the natural parameters.
class Curvature {
 public:
  // `hessian` has the second derivatives of the objective at `x`, and is symmetric.
  Curvature(const Layout& layout, const Eigen::MatrixXd& hessian, const Eigen::VectorXd& x);

  // Of the natural parameters: the inverse of the curvature, NaN where it is flat; the same around
  // the covariance of the slopes of the objective.
  Eigen::MatrixXd covariance() const;
  Eigen::MatrixXd sandwich(const Eigen::MatrixXd& spread) const;
  // Naturals x parameters: by how much a unit of slope of the objective moves the naturals.
  Eigen::MatrixXd response() const;

 private:
  Eigen::MatrixXd vectors_, root_;
  Eigen::VectorXd inverse_;
};

// Covariance of the natural parameters at a top, from the curvature of the log posterior there;
// empty for more than 2000 parameters, or where that would take very long.
Eigen::MatrixXd natural_covariance(const LatentClass& model, const Eigen::VectorXd& x);

// Variances alone, as if truth were known wherever it is expected, and so too small: of a rater's
// accuracies from the rater's own ratings. None of models with ordinal errors, confidence or
// covariates.
std::vector<double> natural_variances(const LatentClass& model, const Eigen::VectorXd& x);

struct Evidence {
  double log_evidence = 0;
  double std_error = 0;  // of the joined system's accuracy, 0 if no system has joined
};

// By Laplace's method at a top `x` of the log posterior density of a model without free errors,
// with the curvature in all directions. Of many raters each deviation from their mean is integrated
// by itself, with the information that it would have if truth were known, then their mean; for the
// standard error they all move together.
Evidence laplace_evidence(const LatentClass& model, const Eigen::VectorXd& x);

}  // namespace fallible
