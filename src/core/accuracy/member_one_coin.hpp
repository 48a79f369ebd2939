// One-coin members, which other members extend. A judge is right with one probability. Errors are
// equally probable, or depend on distance.
#pragma once

#include "member.hpp"

namespace fallible {

// Shifts take values on a grid, because the posterior of a shift has jumps where the accuracy in a
// stratum reaches 0 or 1.
constexpr double shifts[] = {0, 0.1, 0.2, 0.3};

struct OneCoinSettings {
  bool by_rater = false;
  bool distance = false;
  double shift = 0;  // difference in accuracy between strata of difficulty; 0 for none
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
  // True if the fit is not polished, because the member does not matter.
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
  double volume_ = 0;  // logarithm of the volume of the posterior around its maximum
  bool rough_ = false;
};

// Posterior of the truth, rows x categories.
std::vector<double> one_coin_posterior(const LatentRows& rows, bool by_rater);

}  // namespace fallible
