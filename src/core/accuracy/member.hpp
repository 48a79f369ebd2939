// The family of models for the average. Members are models of raters and system together, and each
// relaxes some K-properties. A new member needs a header with its class and a line in family.cpp.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "../base/special.hpp"
#include "estimator.hpp"

namespace fallible {

// Ratings and the answers of one system, to which members are fitted.
class Joined {
 public:
  Joined(const Ratings& ratings, int system);  // -1 for the raters only

  // Same raters and system, other cases.
  Joined with_weights(const std::vector<double>& of_patterns) const;

  const LatentRows& rows() const { return rows_; }
  // Rows for models in which raters are exchangeable.
  const ExchangeableRows& exchangeable() const { return exchangeable_; }
  // Total weight of the cases with an answer that can be evaluated.
  double cases() const { return cases_; }

  // The arguments of these functions are posteriors of the truth, rows x categories. Returns the
  // mean probability of the system's answers.
  double mean_posterior(const std::vector<double>& posterior) const;
  // Standard error of the share of right answers if all parameters were known. The information is
  // less than with known truth, because the truth is known only by its probabilities.
  double conditional_error(const std::vector<double>& posterior) const;
  // Share of ratings that are wrong.
  double rater_error(const std::vector<double>& posterior) const;

 private:
  void count_cases();
  double answer_in(const std::vector<double>& posterior, int row) const {
    return posterior[static_cast<std::size_t>(row) * rows_.categories + answer_[row]];
  }

  LatentRows rows_;
  ExchangeableRows exchangeable_;
  std::vector<int> answer_;  // of the system in each row; -1 if it cannot be evaluated
  double cases_ = 0;
};

class OneCoin;

constexpr double any_matters = -std::numeric_limits<double>::infinity();

// A member refers to the members that it needs. They are constructed and fitted before it.
class Member {
 public:
  virtual ~Member() = default;

  // Fits the member. If log evidence and log prior cannot sum to `matters`, the weight of the
  // member is negligible and the fit need not be polished.
  virtual void fit(const Joined& data, double matters) = 0;
  // Fits to other cases of the same raters and system. Starts where this fit ended; `base` is
  // already refitted.
  virtual std::unique_ptr<Member> refit(const Joined& data, const OneCoin* base) const = 0;

  // base(): the member that this member extends; it is refitted together with this member. start():
  // the member whose optimum is the start of the first fit. Null for none.
  virtual const OneCoin* base() const { return nullptr; }
  virtual const Member* start() const { return nullptr; }
  // First member in the chain of base() and start().
  const Member* root() const;
  // This member, if other members can extend it; otherwise null.
  virtual const OneCoin* as_base() const { return nullptr; }

  // Posterior of the truth (rows x categories) for the fitted data.
  virtual std::vector<double> posterior(const Joined& data) const = 0;
  // True if all cases are equally difficult and judges have no separate error rates.
  virtual bool simple() const { return false; }

  // True for leaders. They are fitted first and decide which weights are negligible.
  virtual bool leads() const { return false; }

  const MemberResult& result() const { return result_; }
  bool ruled_out() const { return std::isnan(result_.log_evidence); }
  double log_weight() const { return result_.log_evidence + result_.log_prior; }
  void weigh(double weight) { result_.weight = weight; }

 protected:
  Member(MemberLabel label, double log_prior) {
    result_.label = std::move(label);
    result_.log_prior = log_prior;
  }
  Member(const Member&) = default;
  void rule_out() { result_.log_evidence = not_a_number; }

  MemberResult result_;
};

// A member comes after the members that it needs.
using Family = std::vector<std::unique_ptr<Member>>;

// `ordered`: categories have an order, and errors may depend on distance.
Family make_family(const LatentRows& rows, bool ordered);

}  // namespace fallible
