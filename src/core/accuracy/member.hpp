// The family of models that the average is over: raters and system together, each letting go of
// some K-properties. A new member is a header with its class and a line in family.cpp.
#ifndef FALLIBLE_CORE_ACCURACY_MEMBER_HPP
#define FALLIBLE_CORE_ACCURACY_MEMBER_HPP

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "joined.hpp"

namespace fallible {

class Member {
 public:
  virtual ~Member() = default;
  virtual std::unique_ptr<Member> clone() const = 0;

  // Fits the model on top of the fit of `base` and from where that of `start` ended, both of the
  // same data; null where the family gives it none. Where log evidence and prior will not sum to
  // `matters`, so that it has no weight, the fit need not be polished.
  virtual void fit(const Joined& data, const Member* base, const Member* start, double matters) = 0;
  // In other cases of the same raters and system, from where this fit ended.
  std::unique_ptr<Member> refit(const Joined& data, const Member* base) const {
    auto out = clone();
    out->fit(data, base, this, -std::numeric_limits<double>::infinity());
    return out;
  }

  // Of truth, rows x categories, where it was fitted.
  virtual std::vector<double> posterior(const Joined& data) const = 0;
  // Are cases equally difficult, and has no judge error rates of its own?
  virtual bool simple() const { return false; }

  // Is it fitted before those that do not lead, to which it says what matters?
  virtual bool leads() const { return false; }

  const MemberResult& result() const { return result_; }
  bool ruled_out() const { return result_.log_evidence != result_.log_evidence; }
  void weigh(double weight) { result_.weight = weight; }

 protected:
  Member(MemberLabel label, double log_prior) {
    result_.label = std::move(label);
    result_.log_prior = log_prior;
  }
  Member(const Member&) = default;
  void rule_out() { result_.log_evidence = std::numeric_limits<double>::quiet_NaN(); }

  MemberResult result_;
};

// Places of others in the family, -1 for none: where a member is fitted anew, so is its base; where
// it starts matters but for the first fit.
struct Relative {
  std::unique_ptr<Member> member;
  int base = -1;
  int start = -1;

  int after() const { return base >= 0 ? base : start; }
};

// What one member needs comes before it.
using Family = std::vector<Relative>;

// `ordered`: have categories an order, on which errors may depend?
Family make_family(const LatentRows& rows, bool ordered);

}  // namespace fallible

#endif
