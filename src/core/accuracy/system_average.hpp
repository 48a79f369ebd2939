// The average for one system, or for raters alone: its members, their fits and weights.
#pragma once

#include <vector>

#include "member.hpp"

namespace fallible {

// Weights of models from their log evidence and prior; what is NaN or negligible has none.
std::vector<double> weigh(const std::vector<double>& log_evidence);

void add_scaled(const std::vector<double>& x, double scale, std::vector<double>& to);

// By how much the prior of a system, which has been right once and wrong once before, has moved an
// estimate that it has moved to `independent`.
double prior_pull(double independent, double cases);

class SystemAverage {
 public:
  SystemAverage(const Ratings& ratings, int system, bool ordered);  // -1 for raters alone

  // Members that no other comes before: each is fitted with all that come after it, separately from
  // the rest. None without a case.
  std::vector<const Member*> roots() const;
  // Once those who lead, in all trees, then the others.
  void fit_tree(const Member* root, bool leaders);
  // Weighs the members, once all are fitted; tells all but what follows from raters alone.
  SystemEstimate average();

  // Rows x categories, after average().
  const std::vector<double>& posterior() const { return posterior_; }
  const LatentRows& rows() const { return data_.rows(); }

  // In other cases the estimate with errors of its own, and what its correction follows from:
  // members that matter are fitted anew and weighed; the evidence of the rest is that of these
  // cases and says nothing of others.
  SystemEstimate with_weights(const std::vector<double>& of_patterns) const;

 private:
  // Is there something to judge?
  bool has_cases(const Joined& data) const { return alone_ || data.cases() > 0; }
  // Sum of log evidence and prior without which a member has no weight, once those who lead are
  // fitted.
  double what_matters() const;

  bool alone_;
  Joined data_;
  Family family_;
  std::vector<double> posterior_;
};

}  // namespace fallible
