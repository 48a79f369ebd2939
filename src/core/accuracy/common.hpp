// Correction for shared errors, that is, errors of the system in the same cases as the raters'
// errors. Moves the estimate that assumes independent errors towards the estimate that assumes
// shared errors. The ratings do not identify how far. The default is a typical correction.
#pragma once

#include <algorithm>
#include <cmath>

#include "../base/special.hpp"

namespace fallible {

// Weight of dependence: 0 if the data support models with independent errors, 1 if they do not.
// `independence_weight`: posterior weight of these models. `rater_error`: share of wrong ratings.
// If raters are nearly at chance, the data cannot support independence, and the weight is 1.
// `categories`: number of categories that raters use.
inline double dependence_weight(double independence_weight, double rater_error, int categories) {
  constexpr double at_chance = 0.9;  // as a share of the error rate of random guesses
  if (rater_error > at_chance * (1 - 1.0 / categories)) return 1;
  return std::max(1 - 2 * independence_weight, 0.0);
}

// Typical correction: the share of the distance to the shared estimate. It is the weight of
// dependence times an approximate probability that two wrong answers are equal. With N categories
// this is 1 / (N - 1) if wrong answers are spread evenly. They rarely are, so 1 / sqrt(N - 1) is
// used. NaN for one category.
inline double typical_share(double dependence, int categories) {
  return categories < 2 ? not_a_number : dependence / std::sqrt(categories - 1);
}

// Moves the estimate with independent errors by `share` of its distance to the estimate with shared
// errors. If the share is 0, the result is exactly `independent`, also if `shared` is NaN.
inline double corrected(double independent, double shared, double share) {
  return share == 0 ? independent : independent - share * (independent - shared);
}

}  // namespace fallible
