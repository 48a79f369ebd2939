// Profile likelihood interval for the accuracy of a system. The model includes the system as a
// judge. If the model has a prior, the profile is computed from the posterior instead.
#pragma once

#include "../base/special.hpp"
#include "../model/latent.hpp"

namespace fallible {

// Interval for the accuracy, and the fit of the model at the maximum of the log posterior.
struct ProfileInterval {
  double low = not_a_number;
  double high = low;
  bool converged = true;
  LatentFit best_fit;  // fit at the highest maximum that was found
  // True if the search along the profile found a higher maximum than the first fit.
  bool moved = false;
};

// The interval contains all accuracies for which the maximum of the log posterior over all other
// parameters is at most `deviance` / 2 below the overall maximum. A limit that the data do not
// identify is 0 or 1.
ProfileInterval profile_interval(const LatentClass& model, const OptimiserOptions& options,
                                 double deviance);

}  // namespace fallible
