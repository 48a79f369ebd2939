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
  // True for one accuracy per rater, false for one accuracy for all raters.
  bool by_rater = false;
  // True if wrong answers depend on the distance from the truth.
  bool distance = false;
  // Difference in accuracy between neighbouring strata of difficulty; 0: no strata.
  double shift = 0;
};

class OneCoin : public Member {
 public:
  explicit OneCoin(const OneCoinSettings& settings, const OneCoin* start = nullptr);

  void fit(const JointData& data, double log_weight_limit) override;
  // Returns this member fitted to `data`. Starts from the parameters of this member.
  OneCoin refitted(const JointData& data) const;
  std::unique_ptr<Member> refit(const JointData& data, const OneCoin*) const override {
    return std::make_unique<OneCoin>(refitted(data));
  }
  const Member* start() const override { return start_; }
  const OneCoin* as_base() const override { return this; }
  std::vector<double> posterior(const JointData& data) const override;
  bool has_no_shared_errors() const override { return settings_.shift == 0; }
  bool is_leader() const override { return has_no_shared_errors(); }
  // True if the fit ended early because the weight of this member is negligible.
  bool has_ended_early() const { return has_ended_early_; }

  const OneCoinSettings& settings() const { return settings_; }
  const Eigen::VectorXd& x() const { return x_; }  // parameters of the fit
  double log_posterior() const { return log_posterior_; }

  // Log prior probability, and latent class model, of a member with these settings.
  static double log_prior(const OneCoinSettings& settings);
  static LatentModel model(const OneCoinSettings& settings);

 private:
  // Rows to which the model is fitted; merged if all raters have one accuracy.
  const LatentRows& rows_of(const JointData& data) const;

  OneCoinSettings settings_;
  const OneCoin* start_;
  Eigen::VectorXd x_;
  double log_posterior_ = 0;
  // Log evidence minus log posterior density at the maximum: logarithm of the volume of the
  // posterior.
  double log_volume_ = 0;
  bool has_ended_early_ = false;
};

// Posterior of the truth under a one-coin model without strata: rows x categories. `by_rater`: true
// for one accuracy per rater, false for one for all raters.
std::vector<double> one_coin_posterior(const LatentRows& rows, bool by_rater);

}  // namespace fallible
