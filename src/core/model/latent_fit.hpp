// Fitting latent class models.
#pragma once

#include "../base/optimise.hpp"
#include "latent.hpp"

namespace fallible {

// Its value is the log posterior density.
struct LatentFit : Optimum {
  double log_likelihood = 0;
};

// The best of several starts; `fit` climbs from one.
template <class Fit>
LatentFit best_start(const LatentClass& model, const Fit& fit) {
  LatentFit out;
  bool first = true;
  for (const Eigen::VectorXd& start : model.starts()) {
    LatentFit found = fit(start);
    if (first || found.value > out.value) out = std::move(found);
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

}  // namespace fallible
