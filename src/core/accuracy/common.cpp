#include "common.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fallible {

namespace {

constexpr double at_chance = 0.9;  // of the error rate of guesses

// Of correctness. The middle of .3 to .8; 90% intervals of planted panels whose correlations are
// anywhere there cover .91 (bench/model-raters.R).
constexpr double correlation_of_models = 0.55;

double square(double x) { return x * x; }

}  // namespace

double suspicion(double independence_weight, double rater_error, int categories) {
  if (rater_error > at_chance * (1 - 1.0 / categories)) return 1;
  return std::max(1 - 2 * independence_weight, 0.0);
}

double typical_share(double suspicion, int categories) {
  if (categories < 2) return std::numeric_limits<double>::quiet_NaN();
  return suspicion / (categories - 1);
}

double between_ends(double independent, double shared, double back) {
  return back == 0 ? independent : independent - back * (independent - shared);
}

double error_together(double agreement, double correlation, int categories) {
  const double apart = 1 - agreement, alone = 1 - correlation, of_guesses = 1 - 1.0 / categories;
  const double rest = square(alone) - (1 / of_guesses - 2 * correlation) * apart;
  if (rest < 0) return of_guesses;
  return std::min(apart / (alone + std::sqrt(rest)), of_guesses);
}

double error_of_models(double rater_error, int categories) {
  if (categories < 2) return std::numeric_limits<double>::quiet_NaN();
  const double agreement = square(1 - rater_error) + square(rater_error) / (categories - 1);
  const double together = error_together(agreement, correlation_of_models, categories);
  return std::max(together - rater_error, 0.0);
}

}  // namespace fallible
