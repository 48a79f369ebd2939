// Newton's method with a Hessian that is computed only once (simplified Newton method). For fits of
// many data sets that are drawn from the same model, because their Hessians differ little.
#pragma once

#include "latent.hpp"

namespace fallible {

// The Hessian of a model, and fits that use it.
class SimplifiedNewton {
 public:
  SimplifiedNewton() = default;
  // Computes the Hessian of the log posterior density at `x`, with one evaluation per parameter.
  // Computes no Hessian in four cases: the model has no priors; it has too many parameters; the
  // system has a separate dispersion or shift; the density is not smooth and concave at `x`.
  SimplifiedNewton(const LatentClass& model, const Eigen::VectorXd& x);

  // Maximises the log posterior density of `model`, which may have other data. The search begins at
  // `start`, and ends without convergence if a step gains less than half of the gain that the
  // Hessian predicts. Uses fit_latent() instead if there is no Hessian, or if the search does not
  // converge at a smooth point.
  LatentFit fit(const LatentClass& model, const Eigen::VectorXd& start) const;

 private:
  // Inverse of the negative Hessian; empty if it was not computed. The Hessian is with respect to
  // the squared shift, because the derivative with respect to the shift itself is always 0 at 0.
  Eigen::MatrixXd inverse_;
  // Position of the shift; -1 for a model without shift.
  int shift_ = -1;
};

}  // namespace fallible
