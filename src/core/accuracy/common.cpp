#include "common.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fallible {

namespace {

constexpr double at_chance = 0.9;  // of the error rate of guesses

}  // namespace

double suspicion(double independence_weight, double rater_error, int categories) {
  if (rater_error > at_chance * (1 - 1.0 / categories)) return 1;
  return std::max(1 - 2 * independence_weight, 0.0);
}

double typical_share(double suspicion, int categories) {
  if (categories < 2) return std::numeric_limits<double>::quiet_NaN();
  return suspicion / std::sqrt(categories - 1);
}

double between_ends(double independent, double shared, double back) {
  return back == 0 ? independent : independent - back * (independent - shared);
}

}  // namespace fallible
