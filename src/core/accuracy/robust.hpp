// Intervals that allow for what sampling error leaves out.
//
// On real data raters err on the same cases, and systems err there too. This biases every estimate
// by an amount that the ratings do not show, but that grows with the share of wrong ratings and
// with the distance between the ends of what system and raters may share. Where the data single out
// simple models (equally difficult cases, no error rates of their own) there is no sign of it.
#ifndef FALLIBLE_CORE_ACCURACY_ROBUST_HPP
#define FALLIBLE_CORE_ACCURACY_ROBUST_HPP

#include "bootstrap.hpp"

namespace fallible {

struct RobustError {
  double std_error;  // of sampling and of what is hidden
  double hidden;     // standard deviation of the bias
};

// Of an estimate of whatever method with standard error `sampling`: `gap` is its distance from the
// shared end; `suspicion` (0 if what is in common is stated, so that nothing is hidden) and
// `rater_error` are those of the average of the same system; `open_share` is the share of its cases
// whose truth is not known, which alone can hide anything; `together` is a bias that the kind of
// raters leads one to expect besides, see error_of_models().
RobustError robust_error(double sampling, double gap, double suspicion, double rater_error,
                         double open_share, double together = 0);

// So many standard errors around the value, in [0, 1]; NaN without a standard error.
void set_limits(double value, double std_error, double margin, Interval& interval);

}  // namespace fallible

#endif
