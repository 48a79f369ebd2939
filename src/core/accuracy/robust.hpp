// Intervals that allow for errors other than sampling error.
//
// In real data raters make errors in the same cases, and so do systems. This biases every estimate.
// The size of the bias cannot be computed from the ratings. It increases with the share of wrong
// ratings, with the range over possible base rates, and with the distance between the independent
// and the shared estimate. There is no evidence of bias if the data support simple models (equally
// difficult cases, no separate error rates of raters).
#pragma once

#include "bootstrap.hpp"

namespace fallible {

// Machines are language models or programs. Experts, crowds, mixed panels and raters of unknown
// kind have the interval of people.
enum class RaterKind { people, machines };

struct RobustError {
  double centre;     // of the interval; for people the estimate
  double std_error;  // of sampling error and bias together
  double hidden;     // standard deviation of the bias
};

// Parts of the error. `gap`: distance between the estimate (of any method) and the estimate with
// shared errors. `dependence`, `rater_error`: from the average of the same system. `range`: of the
// accuracy over possible base rates (see base_rates.hpp), NaN if no two raters share a case.
// `open_share`: share of the cases with unknown truth; only these cases contribute to the bias.
struct ErrorParts {
  double sampling = 0, gap = 0, dependence = 0, rater_error = 0, range = 0, open_share = 1;
};

// Shared errors of machines cannot be seen in the ratings, so their bias is known only from other
// panels. The centre is moved half way to the accuracies in those panels. If raters agree no better
// than chance, the range is 1; the weight of dependence is then 1.
RobustError robust_error(double estimate, const ErrorParts& of, RaterKind raters);

// Limits at `margin` standard errors around the value, within [0, 1]; NaN without a standard error.
void set_limits(double value, double std_error, double margin, Interval& interval);

}  // namespace fallible
