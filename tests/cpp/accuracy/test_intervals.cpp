#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "../panel.hpp"
#include "core/accuracy/base_rates.hpp"
#include "core/accuracy/blend.hpp"
#include "core/accuracy/common.hpp"
#include "core/accuracy/profile_interval.hpp"
#include "core/accuracy/robust.hpp"

using namespace fallible;
using doctest::Approx;

TEST_CASE("percentile intervals interpolate, and give a reason if there is none") {
  const double nan = std::nan("");
  const std::vector<double> x{0.5, nan, 0.1, 0.4, 0.2, 0.3};
  const auto found = percentile_interval(x.data(), x.size(), 0.9);
  CHECK(found.missing == Interval::Missing::none);
  CHECK(found.low == Approx(0.12));
  CHECK(found.high == Approx(0.48));
  CHECK(found.std_error == Approx(std::sqrt(0.025)));

  const std::vector<double> few{0.5, nan, 0.1, nan, nan};
  CHECK(percentile_interval(few.data(), few.size(), 0.9).missing == Interval::Missing::failed);

  const std::vector<double> half{0.5, nan, 0.1, nan}, one{0.5, nan}, near{1, 1 - 1e-12};
  CHECK(percentile_interval(half.data(), 4, 0.9).missing == Interval::Missing::none);
  CHECK(percentile_interval(one.data(), 2, 0.9).missing == Interval::Missing::failed);
  CHECK(percentile_interval(near.data(), 2, 0.9).missing == Interval::Missing::constant);
  // Replicates of iterative fits that differ by less than the errors of the fits count as equal.
  const std::vector<double> apart{0.014269, 0.014270, 0.014271};
  CHECK(percentile_interval(apart.data(), 3, 0.9).missing == Interval::Missing::none);
  CHECK(percentile_interval(apart.data(), 3, 0.9, iteration_tolerance).missing ==
        Interval::Missing::constant);
  const std::vector<double> close{1, 1 - 1e-6};
  CHECK(percentile_interval(close.data(), 2, 0.9).missing == Interval::Missing::none);
  CHECK(percentile_interval(close.data(), 2, 0.9, iteration_tolerance).missing ==
        Interval::Missing::constant);
  const std::vector<double> small{0.1, 0.1 - 5e-10};  // the tolerance is relative
  CHECK(percentile_interval(small.data(), 2, 1).missing == Interval::Missing::none);

  std::vector<double> constant(100, 1.0);
  constant[0] = 0.5;
  const auto stuck = percentile_interval(constant.data(), constant.size(), 0.9);
  CHECK(stuck.missing == Interval::Missing::constant);
  CHECK(stuck.share_at_value == Approx(0.99));
  CHECK(stuck.value == 1);
  CHECK(std::isnan(stuck.high));
}

TEST_CASE("a robust interval contains the hidden error if the dependence weight is positive") {
  const auto people = [](ErrorParts parts) { return robust_error(0.7, parts, RaterKind::people); };
  const RobustError found = people({0.03, 0.2, 0.5, 0.3, 0.4, 0.5});
  const double range = 0.4 / std::sqrt(12);
  const double bias = 0.04 * 0.04 + range * range + 0.1 * 0.1;
  CHECK(found.centre == 0.7);
  CHECK(found.hidden == Approx(0.5 * std::sqrt(0.5 * bias)));
  CHECK(found.std_error == Approx(std::sqrt(0.03 * 0.03 + found.hidden * found.hidden)));
  CHECK(people({0.03, 0.2, 0, 0.3, 0.9, 1}).std_error == 0.03);
  CHECK(people({0, 0, 0, 0, 1, 1}).hidden == Approx(std::sqrt(0.0016 + 1 / 12.0)));
  CHECK(people({0.03, 0.2, 1, 0.3, 1, 0}).hidden == 0);
  CHECK(std::isnan(people({0.03, 0.2, std::nan(""), 0.3, 0, 1}).hidden));
  CHECK(std::isnan(people({std::nan(""), 0.2, 1, 0.3, 0, 1}).std_error));

  // Hidden error without its constant part, 0.04. The cases below depend on one constant each.
  const auto rest = [&](ErrorParts parts) {
    return std::sqrt(std::pow(people(parts).hidden, 2) - 0.0016);
  };
  CHECK(people({0, 0, 1, 0, 0, 1}).hidden == Approx(0.04));
  CHECK(rest({0, 0, 1, 0.4, 0.2, 1}) == Approx(0.1));
  CHECK(rest({0, 0, 1, 0.4, std::nan(""), 1}) == Approx(0.1));
  CHECK(rest({0, 0, 1, 0.4, 0.6, 1}) == Approx(0.6 / std::sqrt(12)));
  CHECK(rest({0, 0.3, 1, 0, 0, 1}) == Approx(0.15));
  CHECK(rest({0, -0.3, 1, 0, 0, 1}) == Approx(0.15));

  // For machines, the hidden error does not depend on the ratings.
  const RobustError machines = robust_error(0.95, {0.03, 0.2, 0, 0.3, 1, 0.5}, RaterKind::machines);
  CHECK(machines.centre == Approx(0.875));
  CHECK(machines.hidden == Approx(0.085));
  CHECK(machines.std_error == Approx(std::sqrt(0.0009 + 0.085 * 0.085)));

  Interval interval;
  set_limits(0.8, 0.2, 1.5, interval);
  CHECK(interval.low == Approx(0.5));
  CHECK(interval.high == 1);
  set_limits(0.8, std::nan(""), 1.5, interval);
  CHECK(std::isnan(interval.low));
  CHECK(std::isnan(interval.high));
}

TEST_CASE("the typical share of common errors depends on the number of categories") {
  CHECK(typical_correction(0.6, 2) == Approx(0.6));
  CHECK(typical_correction(0.6, 3) == Approx(0.6 / std::sqrt(2)));
  CHECK(typical_correction(0.6, 5) == Approx(0.3));
  CHECK(std::isnan(typical_correction(0.6, 1)));
  CHECK(dependence_weight(0.25, 0.3, 2) == Approx(0.5));
  CHECK(dependence_weight(0.7, 0.3, 2) == 0);
  CHECK(dependence_weight(0.7, 0.44, 2) == 0);
  CHECK(dependence_weight(0.7, 0.46, 2) == 1);  // at chance
  CHECK(dependence_weight(0.7, 0.46, 4) == 0);
}

TEST_CASE("estimate and interval equal those of reference implementations") {
  struct Oracle {
    double independent, shared, dependence, rater_error, sampling;
    int categories;
    double share, kappa, answers, covariance;
    RaterKind kind;
    double open_share, back, range, low, high, centre, std_error, from, to;
  };
  const auto people = RaterKind::people, machines = RaterKind::machines;
  const Oracle oracles[] = {
      {.86,    .80, 1, .15,      .02,      2,   .60, .50,      .55,      .15,
       people, 1,   1, .1358899, .4285714, .75, .8,  .0666246, .6904123, .9095877},
      {.86,      .80, 1, .15,      .02,      2,   .60,  .50,      .55,      .15,
       machines, 1,   1, .1358899, .4285714, .75, .725, .1711724, .4434464, 1},
      {.67,    .55, 1,        .33,      .015,     16,       .10,      .43,      .09,      .03,
       people, 1,   .2581989, .0714100, .0455992, .2053388, .6390161, .1105950, .4571036, .8209287},
      {1, 1, 1, .28, .01, 2, .80, 0, 1, 0, people, 1, 1, 1, 0, 1, 1, .2916048, .5203529, 1},
      {.97,    .96, 1, .05,      .004,     2,        .90, .12,      .95,      .012,
       people, 1,   1, .3953473, .5192308, .9868421, .96, .1211031, .7608031, 1},
      {.74,    .70, 0, .30,      .03,      5,        .28, .20, .30,      .05,
       people, 1,   0, .1797580, .0721649, .6603774, .74, .03, .6906544, .7893456},
      {.82,      .70,      .6,       .25,      .03,      3,        .45,
       .40,      .40,      .09,      people,   .75,      .4242641, .0746565,
       .2465753, .6716418, .7690883, .0630346, .6654056, .8727710}};
  const auto near = [](double x) { return Approx(x).epsilon(1e-6); };
  for (const Oracle& oracle : oracles) {
    const double back = typical_correction(oracle.dependence, oracle.categories);
    const double range =
        base_rate_range(oracle.share, oracle.kappa, oracle.answers, oracle.covariance);
    const auto ends = possible_base_rates(oracle.share, oracle.kappa);
    const double estimate = corrected_estimate(oracle.independent, oracle.shared, back);
    const RobustError error =
        robust_error(estimate,
                     {oracle.sampling, oracle.independent - oracle.shared, oracle.dependence,
                      oracle.rater_error, range, oracle.open_share},
                     oracle.kind);
    Interval interval;
    set_limits(error.centre, error.std_error, 1.6448536, interval);
    CHECK(back == near(oracle.back));
    CHECK(range == near(oracle.range));
    CHECK(ends.first == near(oracle.low));
    CHECK(ends.second == near(oracle.high));
    CHECK(error.centre == near(oracle.centre));
    CHECK(error.std_error == near(oracle.std_error));
    CHECK(interval.low == near(oracle.from));
    CHECK(interval.high == near(oracle.to));
  }
}

TEST_CASE("the range over base rates is computed from pairs of ratings") {
  PatternBuilder builder(1);
  const int cases[6][4] = {{1, 1, 1, 1}, {1, 1, 2, 1}, {1, 2, 2, 2},
                           {2, 2, 2, 2}, {1, 1, 1, 1}, {1, 1, 2, 2}};
  std::vector<double> weight;
  for (const auto& row : cases) {
    for (int j = 0; j < 3; ++j) builder.rate(j + 1, row[j]);
    builder.answer(0, row[3]);
    if (builder.finish_case() > static_cast<int>(weight.size())) weight.push_back(0);
  }
  const Patterns patterns = builder.patterns();
  // Weights of the patterns: two cases with ratings aaa and answer a, one case of each other
  // pattern.
  for (double& w : weight) w = 1;
  weight[0] = 2;
  const PatternView view = patterns.view(3, 2, 1);
  const auto leans = leading_categories(view, weight);
  REQUIRE(leans.size() == 1);
  CHECK(leans[0].category == 1);
  CHECK(leans[0].share == Approx(.6111111).epsilon(1e-6));
  CHECK(leans[0].kappa == Approx(.2987013).epsilon(1e-6));
  CHECK(base_rate_range(view, weight, 0, leans) == Approx(.3394097).epsilon(1e-6));
}

TEST_CASE("profile limits are where the log posterior is half the deviance below its maximum") {
  const Panel panel = lehner();
  const LatentRows rows = latent_rows(panel.view(), panel.weights(), 0, {});
  for (const bool strata : {false, true}) {
    const LatentClass latent(rows, {true, Errors::distance, strata, false}, LatentPrior());
    const OptimiserOptions options;
    const double top = fit_latent(latent, options).value;
    const ProfileInterval found = profile_interval(latent, options, 2.7);
    CHECK(found.converged);
    CHECK(found.low < found.high);
    for (const double end : {found.low, found.high}) {
      const int at = latent.layout.system_at();
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
}

TEST_CASE("estimates from gold cases and ratings are blended by their precision") {
  // Without the flat part, and far from the ends of the range, prior and likelihood are normal.
  // Their precisions then add up.
  const BlendPrior prior{0.5, 0.02, 0};
  const Blend both = blend_difference(0.53, 0.04, HUGE_VAL, 1, prior, 0.9);
  CHECK(both.mean == Approx(0.5 + 0.03 / 5).epsilon(1e-6));
  CHECK(both.sd == Approx(0.02 * std::sqrt(0.8)).epsilon(1e-5));
  CHECK(both.high - both.low == Approx(2 * 1.644854 * both.sd).epsilon(1e-4));
  CHECK(both.flat_probability == 0);
  // With only the flat part, the posterior is a Beta distribution.
  const Blend flat = blend_share(0.8, 20, {0.1, 0.01, 1}, 0.9);
  CHECK(flat.mean == Approx(16.5 / 21).epsilon(1e-6));
  CHECK(flat.sd == Approx(std::sqrt(16.5 * 4.5 / 22) / 21).epsilon(1e-5));
  CHECK(flat.flat_probability == Approx(1));
}

TEST_CASE("differences of replicates have intervals, and the share in which one system is better") {
  const std::vector<double> first{3, 1, 2, 5}, second{1, 1, 4, 2}, apart{2, 0, -2, 3};
  const auto found = difference_interval(first.data(), second.data(), 4, 0.9);
  const auto expected = percentile_interval(apart.data(), 4, 0.9);
  CHECK(found.low == expected.low);
  CHECK(found.high == expected.high);
  CHECK(found.std_error == expected.std_error);
  CHECK(share_ahead(first.data(), second.data(), 4) == 0.625);
}
