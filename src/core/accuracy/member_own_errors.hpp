// Members in which judges have separate error rates. They extend a one-coin member (the base): the
// error shares of each judge vary around those of the base with a given concentration. There are
// `variants` members with different concentrations. Together they have the prior probability of the
// base.
#pragma once

#include <algorithm>
#include <cmath>

#include "../model/variational.hpp"
#include "member_one_coin.hpp"

namespace fallible {

class OwnErrorRows : public Member {
 public:
  OwnErrorRows(const OneCoin* base, double concentration, int variants,
               const OwnErrorRows* start = nullptr)
      : Member({base->result().label.accuracy, "own", base->settings().shift, concentration},
               base->result().log_prior - std::log(static_cast<double>(variants))),
        base_(base),
        start_(start),
        settings_(base->settings()) {}

  const OneCoin* base() const override { return base_; }
  const Member* start() const override { return start_; }

  void fit(const Joined& data, double matters) override {
    climb(data, *base_, matters);
    if (!base_->rough() || fit_.hopeless) return;
    const OneCoin polished = base_->refitted(data);
    climb(data, polished, matters);
    if (polished.ruled_out()) rule_out();
  }

  std::unique_ptr<Member> refit(const Joined& data, const OneCoin* base) const override {
    auto out = std::make_unique<OwnErrorRows>(*this);
    out->base_ = base;
    out->start_ = this;
    out->fit(data, any_matters);
    return out;
  }

  std::vector<double> posterior(const Joined& data) const override {
    const Held held{settings_.shift, &fit_.log_error};
    return LatentClass(data.rows(), OneCoin::model(settings_), LatentPrior(), held)
        .posterior(fit_.x);
  }

 private:
  // Fits the model with the base `under`. Starts from the expected numbers of the member `start_`,
  // which has another concentration, and from the parameters of the base.
  void climb(const Joined& data, const OneCoin& under, double matters) {
    std::vector<double> counts;
    if (start_) counts = start_->fit_.counts;
    const double more = under.result().log_evidence - under.log_posterior();
    fit_ = fit_own_errors(data.rows(), OneCoin::model(settings_), LatentPrior(), settings_.shift,
                          under.x(), result_.label.concentration, std::move(counts),
                          matters - result_.log_prior - more);
    result_.log_evidence = fit_.bound + more;
    result_.rater_accuracy = under.result().rater_accuracy;
    const auto truth = posterior(data);
    result_.estimate = data.mean_posterior(truth);
    result_.std_error = std::max(under.result().std_error, data.conditional_error(truth));
  }

  const OneCoin* base_;
  const OwnErrorRows* start_;
  OneCoinSettings settings_;
  OwnErrors fit_;
};

}  // namespace fallible
