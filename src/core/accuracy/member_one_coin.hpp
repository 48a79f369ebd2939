// One-coin members, which other members extend. A judge has one accuracy for all categories. Wrong
// answers are equally probable, or depend on the distance from the truth.
#pragma once

#include "member.hpp"

namespace fallible {

// Differences in accuracy between strata of difficulty ("shifts"). Each value is a separate member,
// because the likelihood of the shift is not smooth: it has kinks where the accuracy in a stratum
// reaches 0 or 1.
constexpr double shifts[] = {0, 0.1, 0.2, 0.3};

struct OneCoinSettings {
  bool by_rater = false;
  bool distance = false;
  // Difference in accuracy between neighbouring strata of difficulty; 0: no strata.
  double shift = 0;
};

class OneCoin : public Member {
 public:
  explicit OneCoin(const OneCoinSettings& settings, const OneCoin* start = nullptr);

  void fit(const Joined& data, double matters) override;
  OneCoin refitted(const Joined& data) const;
  std::unique_ptr<Member> refit(const Joined& data, const OneCoin*) const override {
    return std::make_unique<OneCoin>(refitted(data));
  }
  const Member* start() const override { return start_; }
  const OneCoin* as_base() const override { return this; }
  std::vector<double> posterior(const Joined& data) const override;
  bool simple() const override { return settings_.shift == 0; }
  bool leads() const override { return simple(); }
  // True if the fit ended early because the weight of this member is negligible.
  bool rough() const { return rough_; }

  const OneCoinSettings& settings() const { return settings_; }
  const Eigen::VectorXd& x() const { return x_; }
  double log_posterior() const { return log_posterior_; }

  static double log_prior(const OneCoinSettings& settings);
  static LatentModel model(const OneCoinSettings& settings);

 private:
  const LatentRows& rows_of(const Joined& data) const;

  OneCoinSettings settings_;
  const OneCoin* start_;
  Eigen::VectorXd x_;
  double log_posterior_ = 0;
  // Log evidence minus log posterior density at the maximum: logarithm of the volume of the
  // posterior.
  double volume_ = 0;
  bool rough_ = false;
};

// Posterior of the truth under a one-coin model without strata: rows x categories. `by_rater`: true
// for one accuracy per rater, false for one for all raters.
std::vector<double> one_coin_posterior(const LatentRows& rows, bool by_rater);

}  // namespace fallible
