// Members of method average in which each judge has separate shares of the possible wrong answers.
// A member extends a one-coin member, its base. A Dirichlet prior shrinks the shares of each judge
// towards the shares of the base.
#pragma once

#include <algorithm>
#include <cmath>

#include "../model/variational.hpp"
#include "member_one_coin.hpp"

namespace fallible {

class SeparateErrorRows : public Member {
 public:
  // `variants`: number of members that extend the same base, with different concentrations of the
  // prior. The prior probability of the base is divided equally among them.
  SeparateErrorRows(const OneCoin* base, double concentration, int variants,
                    const SeparateErrorRows* start = nullptr)
      : Member({base->result().label.accuracy, "own", base->settings().shift, concentration},
               base->result().log_prior - std::log(static_cast<double>(variants))),
        base_(base),
        start_(start),
        settings_(base->settings()) {}

  const OneCoin* base() const override { return base_; }
  const Member* start() const override { return start_; }

  void fit(const JointData& data, double log_weight_limit) override {
    fit_from(data, *base_, log_weight_limit);
    // If the fit of the base ended early, but the fit of this member did not, the base is fitted to
    // the end. This member is then fitted again with the new base.
    if (!base_->has_ended_early() || fit_.hopeless) return;
    const OneCoin full_base = base_->refitted(data);
    fit_from(data, full_base, log_weight_limit);
    if (full_base.ruled_out()) rule_out();
  }

  std::unique_ptr<Member> refit(const JointData& data, const OneCoin* base) const override {
    auto refitted = std::make_unique<SeparateErrorRows>(*this);
    refitted->base_ = base;
    refitted->start_ = this;
    refitted->fit(data, no_weight_limit);
    return refitted;
  }

  std::vector<double> posterior(const JointData& data) const override {
    const FixedValues fixed_values{settings_.shift, &fit_.log_error};
    return LatentClass(data.rows(), OneCoin::model(settings_), LatentPrior(), fixed_values)
        .posterior(fit_.x);
  }

 private:
  // Fits the model. The parameters start from those of the one-coin model `base_member`. The
  // expected numbers of ratings start from those of the model `start_`, unless it is null.
  void fit_from(const JointData& data, const OneCoin& base_member, double log_weight_limit) {
    Squares counts;
    if (start_) counts = start_->fit_.counts;
    const double log_volume = base_member.result().log_evidence - base_member.log_posterior();
    fit_ =
        fit_separate_errors(data.rows(), OneCoin::model(settings_), LatentPrior(), settings_.shift,
                            base_member.x(), result_.label.concentration, std::move(counts),
                            log_weight_limit - result_.log_prior - log_volume);
    result_.log_evidence = fit_.bound + log_volume;
    result_.rater_accuracy = base_member.result().rater_accuracy;
    const auto truth_posterior = posterior(data);
    result_.estimate = data.mean_posterior(truth_posterior);
    result_.std_error =
        std::max(base_member.result().std_error, data.conditional_error(truth_posterior));
  }

  const OneCoin* base_;
  const SeparateErrorRows* start_;
  OneCoinSettings settings_;
  SeparateErrors fit_;
};

}  // namespace fallible
