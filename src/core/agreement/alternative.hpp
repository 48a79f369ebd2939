// The alternative annotator test: who is nearer to the other raters of a case, a system or a rater?
#pragma once

#include <vector>

#include "../ratings/patterns.hpp"

namespace fallible {

// For each rating, by the other ratings of its pattern: 1 where the answer of the system is nearer
// to them than the rating, -1 where it is farther, 0 where neither is, or where there is no answer.
// `closeness` is a matrix of categories x categories: how near an answer is to another.
std::vector<int> nearer_answers(const PatternView& patterns, int system, const double* closeness);

}  // namespace fallible
