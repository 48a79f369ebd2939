// Compares pairs of judges on the cases that both answered: how often answers are equal, both are
// right, or both are wrong with the same answer. Time and memory are proportional to the number of
// pairs with common cases. With many raters, this number is far below the number of all pairs.
#pragma once

#include <vector>

#include "../base/host.hpp"
#include "../base/special.hpp"
#include "../ratings/patterns.hpp"

namespace fallible {

// Cases with the same pattern (combination of ratings and system answers) and the same truth. An
// unknown truth counts as one more value of the truth.
struct Cell {
  int pattern;  // index of the pattern, from 0
  int truth;    // true category, from 1; 0 if unknown
  double weight;
};

// Comparison of two judges on the cases that both answered. Judges are numbered from 0, raters
// before systems.
struct SharedPair {
  int first = 0, second = 0;  // Numbers of the two judges.
  double n = 0;               // Weight of the cases that both judges answered.
  double agreeing = 0;        // Weight of the cases with equal answers.
  double known = 0;           // Weight of the cases with known truth.
  // Weights of cases with known truth, by whether the judges are right. `first_right` and
  // `second_right` include the cases in which both judges are right.
  double both_right = 0, first_right = 0, second_right = 0, both_wrong = 0;
  // Share of equal answers among the cases that both judges answered wrongly; NaN without cases.
  double coinciding = not_a_number;
  // `expected`: share of equal answers that is expected if wrong answers are independent given the
  // truth. `surplus`: observed share minus expected share. True categories with too few wrong
  // answers (see shared.cpp) are left out of both shares. NaN if no category remains.
  double expected = coinciding, surplus = coinciding;
};

// Compares all pairs of judges that have a common cell with positive weight. The result is sorted
// by `first`, then by `second`. Requires that no judge answers a pattern twice.
std::vector<SharedPair> shared_pairs(const PatternView& patterns, const std::vector<Cell>& cells,
                                     const Host& host);

// For the alternative annotator test: compares each rating and the system's answer by their
// closeness to the other ratings of the case. Returns one number per rating: 1 if the answer is
// closer, -1 if the rating is closer, 0 if they are equally close or there is no answer.
// `closeness`: closeness of each pair of categories, categories x categories.
std::vector<int> nearer_answers(const PatternView& patterns, int system, const double* closeness);

}  // namespace fallible
