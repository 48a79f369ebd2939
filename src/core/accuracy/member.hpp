// Members: the models whose results the method "average" combines. Each member models raters and
// system together, and relaxes some assumptions of the K-model (Lehner, 2015). A new member needs a
// header with its class and a line in family.cpp.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "../base/special.hpp"
#include "estimator.hpp"

namespace fallible {

// The data to which the members are fitted: the ratings and, as one more judge, the answers of one
// system. Exception: if the system always gives the same answer, its answers are not added, because
// they carry no information about the truth. Only the cases that it answered are then used, because
// other cases may have other base rates.
class JointData {
 public:
  JointData(const Ratings& ratings, int system);  // `system` is -1 for the raters only

  // The same raters and system with other weights of the patterns, for a bootstrap.
  JointData reweighted(const std::vector<double>& pattern_weight) const;

  const LatentRows& rows() const { return rows_; }
  // The rows, merged for models in which all raters have equal parameters.
  const ExchangeableRows& exchangeable() const { return exchangeable_; }
  // Weight of the cases in which the system's answer can be evaluated: cases with an answer, and
  // with a rating or a known truth.
  double cases() const { return cases_; }

  // Mean posterior probability of the system's answers. Here and below, `posterior` contains the
  // probabilities of the true categories: rows x categories.
  double mean_posterior(const std::vector<double>& posterior) const;
  // Standard error of the share of right answers of the system, if the parameters of the model are
  // taken as exact. Includes the uncertainty about the true category of each case.
  double conditional_error(const std::vector<double>& posterior) const;
  // Expected share of ratings that are wrong.
  double rater_error(const std::vector<double>& posterior) const;

  // Posterior from the raters only: rows x categories. Fits of members may start from this
  // posterior. Empty before set_rater_posterior() is called.
  const std::vector<double>& rater_posterior() const { return rater_posterior_; }
  // `pattern_posterior`: the posterior from the raters only, patterns x categories.
  void set_rater_posterior(const std::vector<double>& pattern_posterior);

 private:
  // Counts the answered cases. `pattern_weight`: weight of each pattern.
  void count_cases(const std::vector<double>& pattern_weight);
  double answer_probability(const std::vector<double>& posterior, int row) const {
    return row_of(posterior, row, rows_.categories)[answer_[row]];
  }

  std::vector<bool> is_used_;  // see patterns_to_fit()
  LatentRows rows_;
  ExchangeableRows exchangeable_;
  // Answer of the system in each row, from 0; -1 if there is no answer.
  std::vector<int> answer_;
  // For each row, the weight of its cases whose answer can be evaluated, see cases().
  std::vector<double> answer_weight_;
  std::vector<int> answered_patterns_;  // patterns whose answer can be evaluated, from 0
  double cases_ = 0;
  std::vector<double> rater_posterior_;
};

class OneCoin;

// Value of the argument `log_weight_limit` of Member::fit() with which no fit ends early.
constexpr double no_weight_limit = -std::numeric_limits<double>::infinity();

// A model in the average. Contains pointers to other members that this member needs. Those members
// are constructed and fitted first.
class Member {
 public:
  virtual ~Member() = default;

  // Fits the member. If the sum of log evidence and log prior cannot reach `log_weight_limit`, the
  // weight of the member is negligible, and the fit may end early.
  virtual void fit(const JointData& data, double log_weight_limit) = 0;
  // Returns a copy of this member that is fitted to reweighted data. The fit starts from the
  // current parameters. `base`: the refitted base() of this member; null if it has no base.
  virtual std::unique_ptr<Member> refit(const JointData& data, const OneCoin* base) const = 0;

  // base() returns the member that this member extends. The base must be refitted whenever this
  // member is refitted. start() returns the member at whose optimum the first fit of this member
  // starts. Both return null if there is no such member.
  virtual const OneCoin* base() const { return nullptr; }
  virtual const Member* start() const { return nullptr; }
  // Follows base(), or start() if there is no base, from member to member. Returns the last member
  // of this chain, which needs no other member.
  const Member* root() const;
  // Returns this member as a possible base of other members, or null if no member can extend it.
  virtual const OneCoin* as_base() const { return nullptr; }

  // Posterior of the truth under this member, for the data to which it was fitted: rows x
  // categories.
  virtual std::vector<double> posterior(const JointData& data) const = 0;
  // True if the member has no parameters for shared errors: neither strata of difficulty, nor
  // separate probabilities of particular wrong answers for each judge. The weight of these members
  // is evidence for independent errors.
  virtual bool has_no_shared_errors() const { return false; }

  // True if this member is fitted in the first of two rounds. In the second round, a weight far
  // below the highest weight of the first round is negligible.
  virtual bool is_in_first_round() const { return false; }

  const MemberResult& result() const { return result_; }
  bool ruled_out() const { return std::isnan(result_.log_evidence); }
  double log_weight() const { return result_.log_evidence + result_.log_prior; }
  void set_weight(double weight) { result_.weight = weight; }

 protected:
  Member(MemberLabel label, double log_prior) {
    result_.label = std::move(label);
    result_.log_prior = log_prior;
  }
  Member(const Member&) = default;
  void rule_out() { result_.log_evidence = not_a_number; }

  MemberResult result_;
};

// The models that are averaged (members). A member comes after the members that it needs.
using Family = std::vector<std::unique_ptr<Member>>;

// Makes the models that are averaged for these rows. A model with a separate probability for
// each wrong answer is left out if there are only two categories or too many raters. `ordered`: the
// categories have an order, so probabilities of errors may depend on the distance from the truth.
Family make_family(const LatentRows& rows, bool ordered);

}  // namespace fallible
