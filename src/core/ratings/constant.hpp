// Detects raters who always give the same answer ("constant raters").
#pragma once

#include <vector>

#include "patterns.hpp"

namespace fallible {

// Returns one value per rater, which is true for constant raters. A constant rater gave the same
// category in all ratings, and enough ratings to exclude chance: if the same number of ratings were
// drawn at random from all ratings of the panel, they would be equal with a probability of at most
// .01. The ratings of a constant rater are not used to estimate the truth, because they do not
// depend on it. `cases`: number of cases of each pattern; patterns with 0 cases are not used.
std::vector<bool> constant_raters(const PatternView& patterns, const std::vector<double>& cases);

}  // namespace fallible
