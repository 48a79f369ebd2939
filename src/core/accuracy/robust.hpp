// Intervals that allow for what sampling error leaves out.
//
// On real data raters err on the same cases, and systems err there too. This biases every estimate
// by an amount that the ratings do not show, but that grows with the share of wrong ratings, with
// what base rates are possible, and with the distance between the ends of what system and raters
// may share. Where the data single out simple models (equally difficult cases, no error rates of
// their own) there is no sign of it.
#pragma once

#include "bootstrap.hpp"

namespace fallible {

// Machines are language models or programs. Experts, crowds, panels of both people and machines,
// and raters whose kind is not known have the interval of people.
enum class RaterKind { people, machines };

struct RobustError {
  double centre;     // of the interval: for people the estimate
  double std_error;  // of sampling and of what is hidden
  double hidden;     // standard deviation of the bias
};

// What the error is made of. `gap` is the distance of an estimate, of whatever method, from the
// value if all errors are shared; `dependence` and `rater_error` are those of the average of the
// same system; `range` is that of accuracies over possible base rates (see base_rates.hpp), NaN
// where no two raters share a case; `open_share` is the share of the cases whose truth is not
// known, which alone can hide anything.
struct ErrorParts {
  double sampling = 0, gap = 0, dependence = 0, rater_error = 0, range = 0, open_share = 1;
};

// Machines err together in ways that no rating shows, so that of their panels there is but the
// experience with others: the centre is drawn half way to what systems had there. A range of 1 is
// that of raters who agree no better than by chance: the weight of dependence is 1 then.
RobustError robust_error(double estimate, const ErrorParts& of, RaterKind raters);

// So many standard errors around the value, in [0, 1]; NaN without a standard error.
void set_limits(double value, double std_error, double margin, Interval& interval);

}  // namespace fallible
