// Correction of estimates for shared errors: the system is often wrong in the cases in which raters
// are wrong. The correction moves the estimate for independent errors towards the estimate for
// shared errors. The ratings do not identify the size of the move, so a typical size is the
// default.
#pragma once

#include <algorithm>
#include <cmath>

#include "../base/special.hpp"

namespace fallible {

// Weight of dependence: 0 if the data support models with independent errors, 1 if they do not.
// `independence_weight`: total posterior weight of the models with independent errors.
// `rater_error`: share of wrong ratings.
// `categories`: number of categories that raters use.
inline double dependence_weight(double independence_weight, double rater_error, int categories) {
  constexpr double at_chance = 0.9;  // as a share of the error rate of random guesses
  // The data cannot support independence if raters are nearly at chance.
  if (rater_error > at_chance * (1 - 1.0 / categories)) return 1;
  return std::max(1 - 2 * independence_weight, 0.0);
}

// Typical correction: a share of the distance from the estimate for independent errors to the
// estimate for shared errors. NaN for one category. `dependence`: see dependence_weight().
inline double typical_correction(double dependence, int categories) {
  // With N categories, the probability that two wrong answers are equal is 1 / (N - 1) if all wrong
  // answers are equally frequent. They rarely are, so the approximation is 1 / sqrt(N - 1).
  return categories < 2 ? not_a_number : dependence / std::sqrt(categories - 1);
}

// Returns the corrected estimate: the estimate `independent_estimate`, moved by `share` of its
// distance to the estimate `shared_estimate`. If `share` is 0, the result is exactly
// `independent_estimate`, even if `shared_estimate` is NaN.
inline double corrected_estimate(double independent_estimate, double shared_estimate,
                                 double share) {
  return share == 0 ? independent_estimate
                    : independent_estimate - share * (independent_estimate - shared_estimate);
}

}  // namespace fallible
