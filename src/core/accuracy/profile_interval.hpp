// Interval for the accuracy of a system that has joined the raters, from the profile of the log
// posterior.
#pragma once

#include "../base/special.hpp"
#include "../model/latent.hpp"

namespace fallible {

struct ProfileInterval {
  double low = not_a_number;
  double high = low;
  bool converged = true;
  LatentFit top;  // the fit, or, if it has moved, a better one that the profile came upon
  bool moved = false;
};

// The accuracies at which the log posterior, maximised over all else, is not more than
// `deviance` / 2 below its top. An end that the data do not set is 0 or 1.
ProfileInterval profile_interval(const LatentClass& model, const OptimiserOptions& options,
                                 double deviance);

}  // namespace fallible
