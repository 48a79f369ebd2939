// Lowest and highest accuracy of a system that are possible for the given data, if the dependence
// between the system's errors and the raters' errors is not restricted. Two joint distributions are
// treated as known: of truth and ratings, and of ratings and answers.
//
// Consider cases with the same ratings. P_k is the probability that category k is true, S_k the
// share of the answers that are k. The highest possible accuracy is `sum_k min(P_k, S_k)`: each
// category has as few wrong answers as its P_k and S_k permit. The lowest is `max(0, max_k(P_k +
// S_k) - 1)`: answers must be right only if P_k and S_k of a category sum to more than 1.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "../base/special.hpp"
#include "../ratings/patterns.hpp"

namespace fallible {

struct Range {
  double lowest = not_a_number;
  double highest = not_a_number;
};

// Computes the bounds within groups of patterns and sums them over all cases.
//
// Patterns with the same ratings and the same known truth form a group if their weight is at least
// `size`. In a group of few cases, shares of answers are near 0 or 1 by chance, and the range would
// be too narrow. Therefore other patterns are joined to groups of this size, in the order of their
// highest probability. In joined groups, categories are replaced by their rank in each pattern,
// from the most to the least probable; ties are shared. Joining can only widen the range: the upper
// bound is concave and the lower bound convex in P and S, and groups do not depend on answers.
class AccuracyBounds {
 public:
  // `truth`: known category of each pattern (0 if unknown), or empty. `posterior`: probabilities of
  // the true categories, patterns x categories, column by column. Patterns without a rating and
  // without known truth are left out. `size`: least weight of a group.
  AccuracyBounds(const PatternView& patterns, const std::vector<int>& truth,
                 const std::vector<double>& weight, const double* posterior, double size);

  // Range of the accuracy of system `s` (from 0), over the cases that it answered.
  Range system(int s) const;

  // Range of the accuracy of system `a` minus the accuracy of system `b`, over the cases that both
  // answered. Contains all possible differences, but may be wider than necessary: the bounds of
  // both systems may not be reached for the same truth.
  Range difference(int a, int b) const;

  int groups() const { return groups_; }

 private:
  struct Sums;

  void add_truth(Sums& sums, int pattern) const;
  void add_answer(Eigen::MatrixXd& to, int pattern, int answer) const;
  // Sums `range_of_group(group)`, the range of each group, and divides by the weight of all groups.
  template <class RangeOfGroup>
  Range over_groups(const Sums& sums, const RangeOfGroup& range_of_group) const;

  PatternView view_;
  const std::vector<double>& weight_;
  // Probabilities of the true categories: patterns x categories.
  Eigen::Map<const Eigen::MatrixXd> probability_;
  std::vector<int> group_;       // group of each pattern, from 0; -1 for a pattern that is left out
  std::vector<bool> is_ranked_;  // true for joined groups, which count ranks instead of categories
  int groups_ = 0;
};

}  // namespace fallible
