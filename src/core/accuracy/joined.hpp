// Raters joined by one system: what the members of the average are fitted to.
#pragma once

#include <vector>

#include "estimator.hpp"

namespace fallible {

class Joined {
 public:
  Joined(const Ratings& ratings, int system);  // -1 for raters alone

  // The same raters and system in other cases.
  Joined with_weights(const std::vector<double>& of_patterns) const;

  const LatentRows& rows() const { return rows_; }
  // Those that matter to a model in which raters are exchangeable.
  const ExchangeableRows& exchangeable() const { return exchangeable_; }
  const LatentPrior& prior() const { return prior_; }
  // Total weight of the cases with an answer that can be judged.
  double cases() const { return cases_; }

  // What a posterior of truth, rows x categories, says: the mean probability of the system's
  // answers;
  double mean_posterior(const std::vector<double>& posterior) const;
  // the standard error of the share of right answers if all else were known: the information of as
  // many judged answers, less what is missing since they are judged by probabilities;
  double conditional_error(const std::vector<double>& posterior) const;
  // the share of ratings that are wrong.
  double rater_error(const std::vector<double>& posterior) const;

 private:
  void count_cases();
  double answer_in(const std::vector<double>& posterior, int row) const {
    return posterior[static_cast<std::size_t>(row) * rows_.categories + answer_[row]];
  }

  LatentPrior prior_;
  LatentRows rows_;
  ExchangeableRows exchangeable_;
  std::vector<int> answer_;  // of the system in each row, -1 for none that can be judged
  double cases_ = 0;
};

}  // namespace fallible
