#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "../panel.hpp"
#include "../posterior.hpp"
#include "core/model/algebraic.hpp"
#include "slopes.hpp"

using namespace fallible;
using doctest::Approx;

TEST_CASE("estimates follow equations 2 and 5, with negative values set to zero") {
  // Each case has three ratings. Only one rating is D.
  const Panel panel({"AAABBBCCAA", "AAABBBCCAB", "AABBBACCDC"}, {}, 4);
  const Tallies tallies = panel.tallies();
  const KFit fit = fit_algebraic(tallies, tallies.weight);
  // Of 30 pairs, 21 agree: three in each of six cases, and one in each of three cases.
  const double N = 4, agreement = (6 * 3 + 3 * 1) / 30.0;
  const double Pc = 1 / N + std::sqrt(((N - 1) * agreement - (N - 1) / N) / N);
  const double wrong = (1 - Pc) / (N - 1);
  CHECK(fit.agreement == Approx(agreement));
  CHECK(fit.rater_accuracy == Approx(Pc));
  const double share[4] = {12 / 30.0, 10 / 30.0, 7 / 30.0, 1 / 30.0};
  double rate[4], total = 0;
  for (int k = 0; k < 4; ++k) {
    rate[k] = ((N - 1) * share[k] - 1 + Pc) / (N * Pc - 1);
    total += std::max(rate[k], 0.0);
  }
  REQUIRE(rate[3] < 0);
  CHECK(fit.n_negative == 1);
  for (int k = 0; k < 4; ++k) CHECK(fit.base_rates[k] == Approx(std::max(rate[k], 0.0) / total));
  for (int i = 0; i < tallies.size(); ++i) {
    const auto found = posterior_of(tallies, fit, i);
    double p[4], all = 0;
    for (int k = 0; k < 4; ++k) {
      p[k] = fit.base_rates[k];
      for (const int at : tallies.positions(i)) {
        p[k] *= std::pow(tallies.category[at] == k ? Pc : wrong, tallies.count[at]);
      }
      all += p[k];
    }
    for (int k = 0; k < 4; ++k) CHECK(found[k] == Approx(p[k] / all));
  }
}

TEST_CASE("agreement is above chance if it exceeds that of equally frequent categories") {
  const auto identified = [](const Panel& panel) {
    return fit_algebraic(panel.tallies(), panel.tallies().weight).identified;
  };
  CHECK(identified(lehner()) == Identified::yes);  // a third of pairs agree, a quarter by chance
  CHECK(identified(Panel({"ABCDA", "BCDAA"}, {}, 4)) == Identified::chance);
  CHECK(identified(Panel({"AABB", "AABA"}, {}, 2)) == Identified::yes);
}

TEST_CASE("a category with base rate zero stays excluded, however often raters give it") {
  const Panel panel({"AC", "AC"}, {"AA"}, 3);
  Tallies tallies = panel.tallies();
  KFit fit = fit_algebraic(tallies, tallies.weight);
  fit.rater_accuracy = 0.9;
  fit.base_rates = {0.5, 0.5, 0};
  const auto p = posterior_of(tallies, fit, tallies.tally_of_pattern[1]);
  CHECK(p[0] == 0.5);
  CHECK(p[2] == 0);
}

TEST_CASE("covariances of base rates cancel, and vanish at the boundary") {
  const Panel panel = lehner();
  const Tallies tallies = panel.tallies();
  const KFit fit = fit_algebraic(tallies, tallies.weight);
  const Eigen::MatrixXd v = covariance(tallies, fit);
  CHECK(v.bottomRightCorner(4, 4).sum() == Approx(0).epsilon(1e-9));
  CHECK((v - v.transpose()).norm() < 1e-12);
  KFit clamped = fit;
  clamped.base_rates[0] = 0;
  CHECK(std::isnan(covariance(tallies, clamped)(1, 1)));
  CHECK(covariance(tallies, clamped)(0, 0) == v(0, 0));
}

TEST_CASE("the covariance equals that from changes by one case more or less") {
  // Some cases are equal, one case has no rating, and one has only one rating. No base rate is
  // zero.
  const Panel panel({"CBCBACAADADD..", "DDCBBBADBDDD..", "CCDDBDABAADDA.", "CCCDBAACABDD.."}, {},
                    4);
  Tallies tallies = panel.tallies();
  tallies.weight[1] = 2.5;
  const KFit fit = fit_algebraic(tallies, tallies.weight);
  const auto numbers = [&](const std::vector<double>& weight) {
    const KFit refit = fit_algebraic(tallies, weight);
    Eigen::VectorXd out(5);
    out << refit.rater_accuracy, refit.base_rates[0], refit.base_rates[1], refit.base_rates[2],
        refit.base_rates[3];
    return out;
  };
  Eigen::MatrixXd expected = squared_slopes(tallies.weight, 1e-5, numbers);
  double cases = 0;
  for (int i = 0; i < tallies.size(); ++i) {
    cases += tallies.ratings[i] > 0 ? tallies.weight[i] : 0;
  }
  expected *= cases / (cases - 1);
  CHECK((covariance(tallies, fit) - expected).lpNorm<Eigen::Infinity>() < 1e-9);
  const Panel one({"A", "A", "B"}, {}, 2);
  KFit any = fit_algebraic(one.tallies(), one.tallies().weight);
  any.identified = Identified::yes;
  any.rater_accuracy = 0.8;
  CHECK(std::isnan(covariance(one.tallies(), any)(0, 0)));
}
