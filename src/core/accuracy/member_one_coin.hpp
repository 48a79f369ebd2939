// One-coin models, the simplest models in method average. A judge has one accuracy for all
// categories. Wrong answers are equally probable, or their probability depends on the distance from
// the true category.
#pragma once

#include "member.hpp"

namespace fallible {

// Differences in accuracy between neighbouring strata of difficulty ("shifts"). Each value belongs
// to a separate member instead of being estimated, because the likelihood is not a smooth function
// of the shift: its derivative jumps where the accuracy in a stratum reaches 0 or 1.
constexpr double shifts[] = {0, 0.1, 0.2, 0.3};

// Assumptions of a one-coin member.
struct OneCoinSettings {
  // True for one accuracy per rater, false for one accuracy for all raters.
  bool separate_raters = false;
  // True if the probability of a wrong answer depends on its distance from the true category.
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
  bool is_in_first_round() const override { return has_no_shared_errors(); }
  // True if the fit ended early because the weight of this member is negligible.
  bool has_ended_early() const { return has_ended_early_; }

  const OneCoinSettings& settings() const { return settings_; }
  const Eigen::VectorXd& x() const { return x_; }  // parameters of the fit
  double log_posterior() const { return log_posterior_; }

  // Log prior probability of a member with these settings, and its latent class model.
  static double log_prior(const OneCoinSettings& settings);
  static LatentModel model(const OneCoinSettings& settings);

 private:
  // Rows to which the model is fitted. They are merged rows if all raters have one accuracy.
  const LatentRows& model_rows(const JointData& data) const;

  OneCoinSettings settings_;
  const OneCoin* start_;
  Eigen::VectorXd x_;
  double log_posterior_ = 0;
  // Logarithm of the volume of the posterior: log evidence minus log posterior density at the
  // maximum.
  double log_volume_ = 0;
  bool has_ended_early_ = false;
};

// Posterior of the truth under a one-coin model without strata: rows x categories.
// `separate_raters`: true for one accuracy per rater, false for the same accuracy of all raters.
std::vector<double> one_coin_posterior(const LatentRows& rows, bool separate_raters);

}  // namespace fallible
