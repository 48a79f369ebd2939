// Profile likelihood interval (with a prior: profile posterior) for the accuracy of a system that
// has joined the raters as a judge.
#pragma once

#include "../base/special.hpp"
#include "../model/latent.hpp"

namespace fallible {

struct ProfileInterval {
  double low = not_a_number;
  double high = low;
  bool converged = true;
  // Fit at the highest maximum. `moved`: true if this maximum was found along the profile, and is
  // higher than the maximum of the first fit.
  LatentFit top;
  bool moved = false;
};

// The interval contains all accuracies for which the maximum of the log posterior over all other
// parameters is at most `deviance` / 2 below the overall maximum. A limit that the data do not
// identify is 0 or 1.
ProfileInterval profile_interval(const LatentClass& model, const OptimiserOptions& options,
                                 double deviance);

}  // namespace fallible
