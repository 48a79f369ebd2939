// How probable the data are under a latent class model, whatever its parameters: what weighs models
// against each other.
#pragma once

#include "latent.hpp"

namespace fallible {

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
