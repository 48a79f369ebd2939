// Lowest and highest accuracy of systems, given the joint distribution of truth and ratings and the
// joint distribution of ratings and answers. Any dependence between truth and answers is allowed.
//
// Consider cases with the same ratings. P are the probabilities of the true categories, S the
// shares of the answers. The largest accuracy with these margins is `sum_k min(P_k, S_k)`: each
// category has the largest possible number of right answers. The smallest is
// `max(0, max_k(P_k + S_k) - 1)`: answers are right only in a category whose P and S sum to more
// than 1.
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

// Sums both limits over all cases. Shares are computed within groups of patterns.
//
// Patterns with the same ratings (and the same known truth) form a group if their weight is at
// least `size`. Shares of few cases are near 0 or 1 by chance, which makes ranges too narrow.
// Therefore the other patterns are joined in the order of their highest probability until the
// weight is `size`. In joined groups categories are counted by their rank in each pattern, from the
// most to the least probable; ties are shared. Joining can only widen a range: the upper sum is
// concave and the lower sum convex in the margins, and ranks and groups do not depend on answers.
class AccuracyBounds {
 public:
  // `truth`: category of each pattern (0 for unknown), or empty. `posterior`: patterns x
  // categories, column by column. Patterns without a rating and without known truth are left out.
  AccuracyBounds(const PatternView& patterns, const std::vector<int>& truth,
                 const std::vector<double>& weight, const double* posterior, double size);

  // Range of the accuracy of a system, over the cases that it answered.
  Range system(int s) const;

  // Range of the accuracy of system `a` minus the accuracy of `b`, over the cases that both
  // answered. The range is valid, but may be wider than both joint distributions together allow.
  Range difference(int a, int b) const;

  int groups() const { return groups_; }

 private:
  struct Sums;

  void add_truth(Sums& sums, int pattern) const;
  void add_answer(Eigen::MatrixXd& to, int pattern, int answer) const;
  // Sums the ranges of all groups and divides by the number of cases.
  template <class Of>
  Range over_groups(const Sums& sums, const Of& of) const;

  PatternView view_;
  const std::vector<double>& weight_;
  Eigen::Map<const Eigen::MatrixXd> probability_;  // patterns x categories
  std::vector<int> group_;                         // group of each pattern, from 0; -1 for none
  std::vector<bool> ranked_;                       // true if a group counts categories by rank
  int groups_ = 0;
};

}  // namespace fallible
