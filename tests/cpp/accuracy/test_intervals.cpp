#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "core/accuracy/blend.hpp"
#include "core/accuracy/common.hpp"
#include "core/accuracy/profile_interval.hpp"
#include "core/accuracy/robust.hpp"
#include "../panel.hpp"

using namespace fallible;
using doctest::Approx;

TEST_CASE("percentile intervals interpolate, and say why there is none") {
  const double nan = std::nan("");
  const std::vector<double> x{0.5, nan, 0.1, 0.4, 0.2, 0.3};
  const auto found = percentile_interval(x.data(), x.size(), 0.9);
  CHECK(found.lack == Interval::Lack::none);
  CHECK(found.low == Approx(0.12));
  CHECK(found.high == Approx(0.48));
  CHECK(found.std_error == Approx(std::sqrt(0.025)));

  const std::vector<double> few{0.5, nan, 0.1, nan, nan};
  CHECK(percentile_interval(few.data(), few.size(), 0.9).lack ==
        Interval::Lack::failed);

  const std::vector<double> half{0.5, nan, 0.1, nan}, one{0.5, nan}, near{1, 1 - 1e-12};
  CHECK(percentile_interval(half.data(), 4, 0.9).lack == Interval::Lack::none);
  CHECK(percentile_interval(one.data(), 2, 0.9).lack == Interval::Lack::failed);
  CHECK(percentile_interval(near.data(), 2, 0.9).lack == Interval::Lack::constant);
  // Differences of what iteration finds are small, their errors are not smaller for that.
  const std::vector<double> apart{0.014269, 0.014270, 0.014271};
  CHECK(percentile_interval(apart.data(), 3, 0.9).lack == Interval::Lack::none);
  CHECK(percentile_interval(apart.data(), 3, 0.9, iteration_tolerance).lack ==
        Interval::Lack::constant);
  const std::vector<double> close{1, 1 - 1e-6};
  CHECK(percentile_interval(close.data(), 2, 0.9).lack == Interval::Lack::none);
  CHECK(percentile_interval(close.data(), 2, 0.9, iteration_tolerance).lack ==
        Interval::Lack::constant);
  const std::vector<double> small{0.1, 0.1 - 5e-10};  // the tolerance is relative
  CHECK(percentile_interval(small.data(), 2, 1).lack == Interval::Lack::none);

  std::vector<double> constant(100, 1.0);
  constant[0] = 0.5;
  const auto stuck = percentile_interval(constant.data(), constant.size(), 0.9);
  CHECK(stuck.lack == Interval::Lack::constant);
  CHECK(stuck.same == Approx(0.99));
  CHECK(stuck.value == 1);
  CHECK(std::isnan(stuck.high));
}

TEST_CASE("a robust interval adds what could be hidden, if there is suspicion") {
  const RobustError found = robust_error(0.03, 0.2, 0.5, 0.3, 0.5);
  const double bias = std::pow(0.25 * 0.3 * 0.5, 2) + std::pow(0.5 * 0.2, 2);
  CHECK(found.hidden == Approx(std::sqrt(0.5 * bias)));
  CHECK(found.std_error == Approx(std::sqrt(0.03 * 0.03 + 0.5 * bias)));
  CHECK(robust_error(0.03, 0.2, 0, 0.3, 1).std_error == 0.03);
  CHECK(robust_error(0.03, 0.2, 0, 0.3, 1).hidden == 0);
  CHECK(std::isnan(robust_error(0.03, 0.2, std::nan(""), 0.3, 1).hidden));
  CHECK(std::isnan(robust_error(std::nan(""), 0.2, 1, 0.3, 1).std_error));

  // Each constant alone, in decimals that no other pair of constants gives.
  CHECK(robust_error(0, 0, 1, 0.4, 1).hidden == Approx(0.1));
  CHECK(robust_error(0, 0.3, 1, 0, 1).hidden == Approx(0.15));
  CHECK(robust_error(0, -0.3, 1, 0, 1).hidden == Approx(0.15));

  Interval interval;
  set_limits(0.8, 0.2, 1.5, interval);
  CHECK(interval.low == Approx(0.5));
  CHECK(interval.high == 1);
  set_limits(0.8, std::nan(""), 1.5, interval);
  CHECK(std::isnan(interval.low));
  CHECK(std::isnan(interval.high));
}

TEST_CASE("what raters typically have in common depends on the number of categories") {
  CHECK(typical_share(0.6, 2) == Approx(0.6));
  CHECK(typical_share(0.6, 3) == Approx(0.3));
  CHECK(typical_share(0.6, 5) == Approx(0.15));
  CHECK(std::isnan(typical_share(0.6, 1)));
  CHECK(suspicion(0.25, 0.3, 2) == Approx(0.5));
  CHECK(suspicion(0.7, 0.3, 2) == 0);
  CHECK(suspicion(0.7, 0.44, 2) == 0);
  CHECK(suspicion(0.7, 0.46, 2) == 1);  // at chance
  CHECK(suspicion(0.7, 0.46, 4) == 0);
}

TEST_CASE("models that err together are more often wrong than their agreement says") {
  for (const int categories : {2, 3, 6}) {
    for (const double error : {0.05, 0.2}) {
      for (const double r : {0.0, 0.3, 0.55}) {
        const double agreement = (1 - error) * (1 - error) + error * error / (categories - 1) +
                                 2 * r * error * (1 - error);
        CHECK(error_together(agreement, r, categories) == Approx(error));
      }
    }
  }
  CHECK(error_together(0.5, 0.55, 2) == 0.5);
  const double agreement = 1 - 2 * 0.1 * 0.9;
  const double found = (1 - std::sqrt(1 - 2 * (1 - agreement) / 0.45)) / 2;
  CHECK(error_of_models(0.1, 2) == Approx(found - 0.1));
  CHECK(error_of_models(0.1, 2) == Approx(0.17639320));
  CHECK(robust_error(0, 0, 0, 0.1, 0.5, 0.2).hidden == Approx(0.1));
  CHECK(robust_error(0.03, 0.2, 1, 0, 1, 0.3).std_error ==
        Approx(std::sqrt(0.0009 + 0.01 + 0.09)));
}

TEST_CASE("a profile ends where the log posterior has fallen by half the deviance") {
  const Panel panel = lehner();
  const LatentRows rows = latent_rows(panel.view(), panel.weights(), 0, {});
  for (const bool strata : {false, true}) {
    const LatentClass latent(rows, {true, Errors::distance, strata, false}, LatentPrior());
    const OptimiserOptions options;
    const double top = fit_latent(latent, options).log_posterior;
    const ProfileInterval found = profile_interval(latent, options, 2.7);
    CHECK(found.converged);
    CHECK(found.low < found.high);
    for (const double end : {found.low, found.high}) {
      const int at = latent.system_at();
      Eigen::VectorXd start = fit_latent(latent, options).x;
      start[at] = std::log(end / (1 - end));
      const auto rest = [&](const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
        const double value = latent.evaluate(x, gradient);
        if (gradient) (*gradient)[at] = 0;
        return value;
      };
      CHECK(2 * (top - maximise(rest, start, options).value) == Approx(2.7).epsilon(1e-3));
    }
  }
  const LatentClass free(rows, {true, Errors::free, false, false}, LatentPrior());
  CHECK(free.system_at() == -1);
  CHECK(std::isnan(profile_interval(free, OptimiserOptions(), 2.7).low));
}

TEST_CASE("what gold and ratings say is blended by what each is worth") {
  // Without a flat part, and far from its ends, both are normal: precisions add up.
  const BlendPrior prior{0.5, 0.02, 0};
  const Blend both = blend_difference(0.53, 0.04, INFINITY, 1, prior, 0.9);
  CHECK(both.mean == Approx(0.5 + 0.03 / 5).epsilon(1e-6));
  CHECK(both.sd == Approx(0.02 * std::sqrt(0.8)).epsilon(1e-5));
  CHECK(both.high - both.low == Approx(2 * 1.644854 * both.sd).epsilon(1e-4));
  CHECK(both.flat == 0);
  // All flat: a Beta distribution of the counts.
  const Blend flat = blend_share(0.8, 20, {0.1, 0.01, 1}, 0.9);
  CHECK(flat.mean == Approx(16.5 / 21).epsilon(1e-6));
  CHECK(flat.sd == Approx(std::sqrt(16.5 * 4.5 / 22) / 21).epsilon(1e-5));
  CHECK(flat.flat == Approx(1));
}

TEST_CASE("differences of replicates have intervals, and a share in which one is ahead") {
  const std::vector<double> first{3, 1, 2, 5}, second{1, 1, 4, 2}, apart{2, 0, -2, 3};
  const auto found = difference_interval(first.data(), second.data(), 4, 0.9);
  const auto expected = percentile_interval(apart.data(), 4, 0.9);
  CHECK(found.low == expected.low);
  CHECK(found.high == expected.high);
  CHECK(found.std_error == expected.std_error);
  CHECK(share_ahead(first.data(), second.data(), 4) == 0.625);
}
