// Shared errors: how far an estimate is moved from the value with errors of a system's own to that
// if all errors are shared. Agreement does not show it; two things make it probable.
#pragma once

#include <algorithm>
#include <cmath>

#include "../base/special.hpp"

namespace fallible {

// Prior weight of dependence, from 0, where the data speak for models without a sign of shared
// errors, to 1. Models in which raters are at chance cannot vouch for anything. `categories` are
// those that raters used.
inline double dependence_weight(double independence_weight, double rater_error, int categories) {
  constexpr double at_chance = 0.9;  // of the error rate of guesses
  if (rater_error > at_chance * (1 - 1.0 / categories)) return 1;
  return std::max(1 - 2 * independence_weight, 0.0);
}

// The typical share: how probable it is that two wrong answers are the same one. Were they spread
// over the other categories this would be 1 / (N - 1), but wrong answers have favourites. NaN for
// one category.
inline double typical_share(double dependence, int categories) {
  return categories < 2 ? not_a_number : dependence / std::sqrt(categories - 1);
}

// So large a share of the way from the independent value to the shared one; exactly the former
// where the share is 0.
inline double corrected(double independent, double shared, double share) {
  return share == 0 ? independent : independent - share * (independent - shared);
}

}  // namespace fallible
