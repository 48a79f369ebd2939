// Intervals that allow for hidden errors in addition to sampling error.
//
// In real data, raters are often wrong in the same cases, and systems in the same cases as raters.
// This biases all estimates, and the ratings do not identify the size of the bias. It is typically
// larger if more ratings are wrong, or if the ratings are compatible with a wide range of base
// rates. It is also larger if the estimates with independent and with shared errors differ more. No
// bias is assumed if the data support simple models: equally difficult cases, and no separate error
// rates of raters.
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
  // Weight of dependence (dependence_weight()): 0 if the data support models with independent
  // errors, 1 if they do not.
  double dependence = 0;
  double rater_error = 0;  // share of wrong ratings
  // Highest minus lowest accuracy over all base rates that are compatible with the ratings; NaN if
  // no two raters have a common case.
  double range = 0;
  double open_share = 1;  // share of the cases whose truth is unknown; known cases cause no bias
};

// Computes the centre and the standard error of the interval. For people, the bias increases with
// `gap`, `rater_error` and `range`. For machines, the bias cannot be estimated from the ratings.
// Its size is taken from public panels of machines instead, and the centre is moved half way to the
// typical accuracy in these panels. If all base rates are possible (`range` is 1), `dependence` is
// treated as 1. A `range` of NaN is ignored.
RobustError robust_error(double estimate, const ErrorParts& parts, RaterKind raters);

// Sets the standard error of `interval`, and its limits: `margin` standard errors on both sides of
// `value`, but within [0, 1]. The limits are NaN if the standard error is NaN.
void set_limits(double value, double std_error, double margin, Interval& interval);

}  // namespace fallible
