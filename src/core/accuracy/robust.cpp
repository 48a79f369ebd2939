#include "robust.hpp"

#include <algorithm>
#include <cmath>

#include "../base/special.hpp"

namespace fallible {

namespace {

// Standard deviation of the bias where raters hardly ever disagree, per share of wrong ratings, and
// per distance from the shared estimate. They were chosen on 24 families of public sets with known
// truth in which people rate; the first two were widened after 7 further families.
constexpr double least_bias = 0.04;
constexpr double bias_per_error = 0.25;
constexpr double bias_per_gap = 0.5;

// Root mean square of how far a truth anywhere in a range is off its middle. It has no fitted part.
const double bias_per_range = 1 / std::sqrt(12.0);

// What six families of panels of machines had: the middle of true accuracies, the share of the way
// to it (between what models and what programs call for), and the root mean square of the rest.
constexpr double middle_of_machines = 0.65;
constexpr double way_to_middle = 0.5;
constexpr double bias_of_machines = 0.17;

}  // namespace

RobustError robust_error(double estimate, const ErrorParts& of, RaterKind raters) {
  double centre = estimate, hidden = 0;
  if (raters == RaterKind::machines) {
    centre += of.open_share * way_to_middle * (middle_of_machines - estimate);
    hidden = bias_of_machines;
  } else {
    // No model vouches for raters who leave all base rates possible.
    const double dependence = of.range >= 1 ? 1 : of.dependence;
    const double of_error = bias_per_error * of.rater_error;
    const double of_range = bias_per_range * of.range;
    const double of_raters = of_range > of_error ? of_range : of_error;
    hidden = std::sqrt(dependence *
                       (square(least_bias) + square(of_raters) + square(bias_per_gap * of.gap)));
  }
  if (of.open_share == 0) return {centre, of.sampling, 0};
  hidden *= of.open_share;
  return {centre, std::sqrt(square(of.sampling) + square(hidden)), hidden};
}

void set_limits(double value, double std_error, double margin, Interval& interval) {
  interval.std_error = std_error;
  interval.low = std::max(value - margin * std_error, 0.0);
  interval.high = std::min(value + margin * std_error, 1.0);
}

}  // namespace fallible
