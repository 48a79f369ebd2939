#include "robust.hpp"

#include <algorithm>
#include <cmath>

#include "../base/special.hpp"

namespace fallible {

namespace {

// The next four constants are for human raters. The bias of an estimate has several parts, whose
// standard deviations are squared and added. The first three constants were chosen on 24 families
// of public data sets with known truth. The first two were increased after 7 more families.
// `least_bias`: standard deviation of the constant part.
constexpr double least_bias = 0.04;
// Standard deviation of the bias per unit of the share of wrong ratings.
constexpr double bias_per_error = 0.25;
// Standard deviation of the bias per unit of the distance between the estimate and an estimate that
// assumes shared errors.
constexpr double bias_per_gap = 0.5;

// Standard deviation of the bias per unit of the range of possible accuracies, as for a uniform
// distribution of width 1. This part replaces the part for wrong ratings if it is larger.
const double bias_per_range = 1 / std::sqrt(12.0);

// The next three values are for raters that are machines, from six families of panels.
// `typical_accuracy_of_machines`: typical true accuracy of a system.
constexpr double typical_accuracy_of_machines = 0.65;
// Share of the distance to the typical accuracy by which an estimate is moved. It is a compromise
// between the best values for language models and for other programs.
constexpr double shrinkage_of_machines = 0.5;
// Root mean square error of estimates that were moved towards the typical accuracy.
constexpr double bias_of_machines = 0.17;

}  // namespace

RobustError robust_error(double estimate, const ErrorParts& parts, RaterKind raters) {
  double centre = estimate, hidden = 0;
  if (raters == RaterKind::machines) {
    centre += parts.open_share * shrinkage_of_machines * (typical_accuracy_of_machines - estimate);
    hidden = bias_of_machines;
  } else {
    // If the ratings are compatible with all accuracies from 0 to 1, they cannot support
    // independent errors.
    const double dependence = parts.range >= 1 ? 1 : parts.dependence;
    const double error_bias = bias_per_error * parts.rater_error;
    const double range_bias = bias_per_range * parts.range;
    const double rater_bias = range_bias > error_bias ? range_bias : error_bias;
    hidden = std::sqrt(
        dependence * (square(least_bias) + square(rater_bias) + square(bias_per_gap * parts.gap)));
  }
  if (parts.open_share == 0) return {centre, parts.sampling, 0};
  hidden *= parts.open_share;
  return {centre, std::sqrt(square(parts.sampling) + square(hidden)), hidden};
}

void set_limits(double value, double std_error, double margin, Interval& interval) {
  interval.std_error = std_error;
  interval.low = std::max(value - margin * std_error, 0.0);
  interval.high = std::min(value + margin * std_error, 1.0);
}

}  // namespace fallible
