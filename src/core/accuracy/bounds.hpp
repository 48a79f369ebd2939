// Bounds of a system's accuracy. They hold for any dependence between the errors of the system and
// the errors of the raters. Two joint distributions are treated as known: the distribution of truth
// and ratings, and the distribution of ratings and system answers.
//
// Consider cases with the same ratings. P_k is the probability that category k is true, and S_k is
// the share of the system's answers that are k. The highest possible accuracy is `sum_k min(P_k,
// S_k)`, because at most the share `min(P_k, S_k)` of the cases can have both truth k and answer k.
// The lowest possible accuracy is `max(0, max_k(P_k + S_k) - 1)`: if P_k + S_k is above 1, at least
// the share P_k + S_k - 1 of the cases has both truth k and answer k.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "../base/special.hpp"
#include "../ratings/patterns.hpp"

namespace fallible {

// Lowest and highest possible value of an accuracy, or of a difference of accuracies.
struct Range {
  double lowest = not_a_number;
  double highest = not_a_number;
};

// Computes the bounds within groups of patterns, and averages them over all cases.
//
// Patterns with the same ratings and the same known truth form a group if their weight is at least
// `size`. Patterns with less weight are joined to larger groups, because shares of answers in few
// cases are near 0 or 1 by chance, and the range would be too narrow. Joining patterns can only
// widen the range, because the upper bound is a concave function of the shares and the lower bound
// a convex function.
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
  // answered. The range contains all possible differences, but may be wider than necessary, because
  // the two systems may reach their bounds for different true categories.
  Range difference(int a, int b) const;

  int groups() const { return groups_; }

 private:
  struct Sums;

  void add_truth(Sums& sums, int pattern) const;
  void add_answer(Eigen::MatrixXd& to, int pattern, int answer) const;
  // Sums range_of_group(g), the range of group g, over all groups, and divides the sum by the total
  // weight.
  template <class RangeOfGroup>
  Range average_over_groups(const Sums& sums, const RangeOfGroup& range_of_group) const;

  PatternView view_;
  const std::vector<double>& weight_;
  // Probabilities of the true categories: patterns x categories.
  Eigen::Map<const Eigen::MatrixXd> probability_;
  std::vector<int> group_;       // group of each pattern, from 0; -1 for a pattern that is left out
  std::vector<bool> is_ranked_;  // true for joined groups, which count ranks instead of categories
  int groups_ = 0;
};

}  // namespace fallible
