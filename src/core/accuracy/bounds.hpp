// Lowest and highest accuracy of systems, given the law of truth and ratings and the law of ratings
// and answers, whatever truth and answers have in common beyond the ratings.
//
// Among cases with the same ratings, truth has the probabilities P and answers have the shares S.
// Of all joint laws with these two margins the system is right most often, in sum_k min(P_k, S_k),
// where each category's answers go to as many of its truths as there are; and least often, in
// max(0, max_k(P_k + S_k) - 1), where only a category that overfills both is shared.
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

// Both sums over all cases, with the shares counted in groups of patterns.
//
// Patterns with the same ratings (and the same known truth) are a group if they weigh `size` or
// more. Shares of few cases are near 0 or 1 by chance, which makes ranges too narrow. So others are
// joined in the order of the highest probability in them, until they weigh so much; categories are
// then counted by their rank in each pattern, from the most to the least probable, ties shared.
// This can only widen a range: the sums are concave and convex in the margins, and answers have no
// say in ranks or groups.
class AccuracyBounds {
 public:
  // `truth`, a category for each pattern (0 is unknown), or empty. `posterior` is patterns x
  // categories, column by column. Patterns of which nothing is known are left out.
  AccuracyBounds(const PatternView& patterns, const std::vector<int>& truth,
                 const std::vector<double>& weight, const double* posterior, double size);

  // Of the accuracy of a system, over the cases that it answered.
  Range system(int s) const;

  // Of the accuracy of system `a` less that of `b`, over the cases that both answered. It holds,
  // but may be wider than what both laws together allow.
  Range difference(int a, int b) const;

  int groups() const { return groups_; }

 private:
  struct Sums;

  void add_truth(Sums& sums, int pattern) const;
  void add_answer(Eigen::MatrixXd& to, int pattern, int answer) const;
  // Per case, the sum of what each group gives.
  template <class Of>
  Range over_groups(const Sums& sums, const Of& of) const;

  PatternView view_;
  const std::vector<double>& weight_;
  Eigen::Map<const Eigen::MatrixXd> probability_;  // patterns x categories
  std::vector<int> group_;                         // of each pattern, from 0; -1 is none
  std::vector<bool> ranked_;                       // does a group count categories by rank?
  int groups_ = 0;
};

}  // namespace fallible
