// Raters who always give the same answer.
#pragma once

#include <vector>

#include "patterns.hpp"

namespace fallible {

// Raters (from 0) who give only one category. They are constant only if chance does not explain it:
// the same number of ratings, drawn at random from all ratings, has equal ratings with probability
// at most .01. The ratings of a constant rater have the same probability for every truth, so they
// carry no information about it. `cases`: number of cases of each pattern.
std::vector<bool> constant_raters(const PatternView& patterns, const std::vector<double>& cases);

}  // namespace fallible
