// Profile interval for the accuracy of a system that has joined the raters, from the log posterior.
#pragma once

#include "../base/special.hpp"
#include "../model/latent.hpp"

namespace fallible {

struct ProfileInterval {
  double low = not_a_number;
  double high = low;
  bool converged = true;
  LatentFit top;  // the fit; if `moved`, a higher maximum that the profile found
  bool moved = false;
};

// Accuracies at which the log posterior, maximised over all other parameters, is at most `deviance`
// / 2 below its maximum. An end that is not identified from the data is 0 or 1.
ProfileInterval profile_interval(const LatentClass& model, const OptimiserOptions& options,
                                 double deviance);

}  // namespace fallible
