// Newton's method with a Hessian that is computed only once (simplified Newton method). For fits of
// many data sets that are drawn from the same model, because their Hessians differ little.
#pragma once

#include "latent.hpp"

namespace fallible {

class SimplifiedNewton {
 public:
  SimplifiedNewton() = default;
  // Computes the Hessian of the log posterior density at `x`, with an evaluation per parameter.
  // Does nothing for models without priors or with too many parameters.
  SimplifiedNewton(const LatentClass& model, const Eigen::VectorXd& x);

  // Maximises the log posterior density of `model`, which may have other data. Begins at `start`.
  // Uses fit_latent() if a step gains less than half of the gain that the Hessian predicts.
  LatentFit fit(const LatentClass& model, const Eigen::VectorXd& start) const;

 private:
  // Inverse of the negative Hessian; empty if it was not computed. Its parameters include the
  // square of the shift, at position `shift_` (-1 without a shift). Derivatives with respect to the
  // shift are 0 at 0, because shifts of either sign are equal.
  Eigen::MatrixXd inverse_;
  int shift_ = -1;
};

}  // namespace fallible
