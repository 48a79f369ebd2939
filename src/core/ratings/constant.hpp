// Detects raters who always give the same answer ("constant raters").
#pragma once

#include <vector>

#include "patterns.hpp"

namespace fallible {

// Returns true for each rater who is constant. A constant rater gave the same category in all
// ratings, and enough ratings to exclude chance: the same number of ratings, drawn at random from
// the panel, would be equal with a probability of at most .01. `cases`: number of cases of each
// pattern; patterns with 0 cases are not used.
std::vector<bool> constant_raters(const PatternView& patterns, const std::vector<double>& cases);

}  // namespace fallible
