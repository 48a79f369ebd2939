// Two judges on the cases that both answered: whether they say the same, are right together, and
// are wrong with the same answer. Work and memory grow with the pairs that share cases, not with
// all pairs of judges.
#pragma once

#include <vector>

#include "../base/host.hpp"
#include "../base/special.hpp"
#include "../ratings/patterns.hpp"

namespace fallible {

// Cases of one pattern whose truth is the same category, or is not known (0).
struct Cell {
  int pattern;  // from 0
  int truth;    // from 1
  double weight;
};

// Sums of weight over the cells that both answered. Judges are raters, then systems, from 0.
struct SharedPair {
  int one = 0, two = 0;
  double n = 0, agreeing = 0;
  // Of known truth: all of them, and those where both, the first, the second is right.
  double known = 0, both_right = 0, one_right = 0, two_right = 0;
  double both_wrong = 0;
  // The share of `both_wrong` with the same answer; what it would be if wrong answers of the one,
  // given the truth, had nothing to do with those of the other; and the difference.
  double coinciding = not_a_number;
  double expected = coinciding, surplus = coinciding;
};

// All pairs that share a cell with some weight, in the order of `one`, then of `two`. No judge may
// answer a pattern twice.
std::vector<SharedPair> shared_pairs(const PatternView& patterns, const std::vector<Cell>& cells,
                                     const Host& host);

// The alternative annotator test: for each rating, by the other ratings of its pattern, 1 where the
// answer of the system is nearer to them than the rating, -1 where it is farther, 0 where neither
// is, or where there is no answer. `closeness` is a matrix of categories x categories: how near an
// answer is to another.
std::vector<int> nearer_answers(const PatternView& patterns, int system, const double* closeness);

}  // namespace fallible
