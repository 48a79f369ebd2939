// Intervals that allow for hidden errors in addition to sampling error.
//
// A hidden error is a bias of the estimate: raters are often wrong in the same cases, and systems
// in the same cases as raters. The ratings do not identify the size of this bias. Therefore
// robust_error() uses its typical size in public data sets.
#pragma once

#include "bootstrap.hpp"

namespace fallible {

// Kind of raters, which determines the typical bias. Machines are language models or programs.
// Experts, crowds, mixed panels and raters of unknown kind use the values of people.
enum class RaterKind { people, machines };

struct RobustError {
  double centre;     // centre of the interval; for people, the estimate
  double std_error;  // total: square root of the squared sampling error plus the squared `hidden`
  double hidden;     // standard deviation of the bias (the hidden error)
};

// Quantities from which the error of an estimate is computed.
struct ErrorParts {
  double sampling = 0;  // standard error of the estimate without bias
  double gap =
      0;  // distance between the estimate (of any method) and the estimate with shared errors
  // From 0 (the data support models with independent errors) to 1 (they do not); see
  // dependence_weight().
  double dependence = 0;
  double rater_error = 0;  // share of wrong ratings
  // Highest minus lowest accuracy over all base rates that are compatible with the ratings; NaN if
  // no two raters have a common case.
  double range = 0;
  double open_share = 1;  // share of the cases whose truth is unknown; known cases cause no bias
};

// Computes the centre and the standard error of the interval. For people, the bias increases with
// `gap`, `rater_error` and `range`; a `range` of NaN is ignored. For machines, the bias cannot be
// estimated from the ratings, so its typical size in public panels is used. The centre is then also
// moved towards the typical accuracy in these panels.
RobustError robust_error(double estimate, const ErrorParts& parts, RaterKind raters);

// Sets the standard error of `interval`, and its limits: `margin` standard errors on both sides of
// `value`, but within [0, 1]. The limits are NaN if the standard error is NaN.
void set_limits(double value, double std_error, double margin, Interval& interval);

}  // namespace fallible
