// The family of models that the average is over: raters and system together, each letting go of
// some K-properties. A new member is a header with its class and a line in family.cpp.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "../base/special.hpp"
#include "estimator.hpp"

namespace fallible {

// Raters joined by one system: what the members are fitted to.
class Joined {
 public:
  Joined(const Ratings& ratings, int system);  // -1 for raters alone

  // The same raters and system in other cases.
  Joined with_weights(const std::vector<double>& of_patterns) const;

  const LatentRows& rows() const { return rows_; }
  // Those that matter to a model in which raters are exchangeable.
  const ExchangeableRows& exchangeable() const { return exchangeable_; }
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

  LatentRows rows_;
  ExchangeableRows exchangeable_;
  std::vector<int> answer_;  // of the system in each row, -1 for none that can be judged
  double cases_ = 0;
};

class OneCoin;

constexpr double any_matters = -std::numeric_limits<double>::infinity();

// Members refer to those that they need, which are given when they are made and fitted before.
class Member {
 public:
  virtual ~Member() = default;

  // Where log evidence and prior will not sum to `matters`, so that it has no weight, the fit need
  // not be polished.
  virtual void fit(const Joined& data, double matters) = 0;
  // In other cases of the same raters and system, from where this fit ended; `base` in these cases.
  virtual std::unique_ptr<Member> refit(const Joined& data, const OneCoin* base) const = 0;

  // What it is fitted on top of, which is fitted anew where it is; and from whose end its first fit
  // starts. Null for none.
  virtual const OneCoin* base() const { return nullptr; }
  virtual const Member* start() const { return nullptr; }
  // The first of those that come before it.
  const Member* root() const;
  // Itself, if others can stand on it.
  virtual const OneCoin* as_base() const { return nullptr; }

  // Of truth, rows x categories, where it was fitted.
  virtual std::vector<double> posterior(const Joined& data) const = 0;
  // Are cases equally difficult, and has no judge error rates of its own?
  virtual bool simple() const { return false; }

  // Is it fitted before those that do not lead, to which it says what matters?
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

// What one member needs comes before it.
using Family = std::vector<std::unique_ptr<Member>>;

// `ordered`: have categories an order, on which errors may depend?
Family make_family(const LatentRows& rows, bool ordered);

}  // namespace fallible
