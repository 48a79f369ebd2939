// Correction for shared errors: moves an estimate from the value with independent errors towards
// the value with shared errors. Agreement does not identify the size of the correction. It is
// computed from a weight of dependence and a typical share.
#pragma once

#include <algorithm>
#include <cmath>

#include "../base/special.hpp"

namespace fallible {

// Weight of dependence, from 0 (the data support models without shared errors) to 1. It is 1 if
// raters are at chance, because no model is evidence for independence then. `categories`: number of
// categories that raters used.
inline double dependence_weight(double independence_weight, double rater_error, int categories) {
  constexpr double at_chance = 0.9;  // relative to the error rate of guesses
  if (rater_error > at_chance * (1 - 1.0 / categories)) return 1;
  return std::max(1 - 2 * independence_weight, 0.0);
}

// Typical share of the correction: the weight of dependence times the probability that two wrong
// answers are equal. Wrong answers that are spread evenly are equal with probability 1 / (N - 1).
// Real wrong answers prefer some categories, so 1 / sqrt(N - 1) is used. NaN for one category.
inline double typical_share(double dependence, int categories) {
  return categories < 2 ? not_a_number : dependence / std::sqrt(categories - 1);
}

// Moves the independent value by `share` of its distance to the shared value. Returns exactly the
// independent value if the share is 0.
inline double corrected(double independent, double shared, double share) {
  return share == 0 ? independent : independent - share * (independent - shared);
}

}  // namespace fallible
