// Two judges on the cases that both answered: how often their answers are equal, both are right,
// and both are wrong with the same answer. Work and memory grow with the pairs that share cases,
// not with all pairs of judges.
#pragma once

#include <vector>

#include "../base/host.hpp"
#include "../base/special.hpp"
#include "../ratings/patterns.hpp"

namespace fallible {

// Cases of one pattern with the same truth, or with unknown truth (0).
struct Cell {
  int pattern;  // from 0
  int truth;    // from 1
  double weight;
};

// Sums of weights over the cells that both judges answered. Judges are numbered from 0: raters
// first, then systems.
struct SharedPair {
  int one = 0, two = 0;
  double n = 0, agreeing = 0;
  // Cells of known truth: all, and those in which both judges, the first, the second is right.
  double known = 0, both_right = 0, one_right = 0, two_right = 0;
  double both_wrong = 0;
  // Share of `both_wrong` with the same answer; its expected value if wrong answers of both are
  // independent given the truth; and the difference.
  double coinciding = not_a_number;
  double expected = coinciding, surplus = coinciding;
};

// All pairs that share a cell with positive weight, in the order of `one`, then of `two`. A judge
// may answer a pattern only once.
std::vector<SharedPair> shared_pairs(const PatternView& patterns, const std::vector<Cell>& cells,
                                     const Host& host);

// Alternative annotator test: compares each rating with the answer of the system. Returns 1 if the
// answer is nearer to the other ratings of the pattern than the rating is; -1 if it is farther; 0
// if both are equally near or there is no answer. `closeness` (categories x categories): closeness
// of two answers.
std::vector<int> nearer_answers(const PatternView& patterns, int system, const double* closeness);

}  // namespace fallible
