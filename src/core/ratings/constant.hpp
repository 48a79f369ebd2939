// Detects raters who always give the same answer ("constant raters").
#pragma once

#include <vector>

#include "patterns.hpp"

namespace fallible {

// Returns true for each constant rater: all ratings are the same category, and this is unlikely to
// be chance. Chance is the probability that the same number of ratings, drawn at random from all
// ratings of the panel, are all equal. It must be at most .01. A constant rater gives the same
// answer for every true category, so these ratings contain no information about the truth. `cases`:
// number of cases of each pattern; patterns with 0 cases are not used.
std::vector<bool> constant_raters(const PatternView& patterns, const std::vector<double>& cases);

}  // namespace fallible
