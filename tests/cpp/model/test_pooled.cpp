#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "../panel.hpp"
#include "core/base/special.hpp"
#include "core/model/latent.hpp"
#include "core/model/naming.hpp"
#include "core/model/pooled.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

// Twelve cases and four raters; one string per rater.
Panel twelve_cases() {
  return Panel({"AAABBBCCCACB", "AAABBACCCBCB", "AA.BCBC.AACB", ".ABBB.CCAACA"}, {}, 3);
}

PooledFit fit(const LatentRows& rows, bool one_coin) {
  PooledOptions options;
  options.one_coin = one_coin;
  return fit_pooled(rows, options);
}

}  // namespace

TEST_CASE("derivatives of the log gamma function equal finite differences") {
  for (const double x : {0.01, 0.7, 3.2, 8.0, 250.0}) {
    const double step = 1e-5 * x;
    CHECK(Polygamma(x).first == Approx(digamma(x)).epsilon(1e-12));
    CHECK(Polygamma(x).second ==
          Approx((digamma(x + step) - digamma(x - step)) / (2 * step)).epsilon(1e-7));
  }
}

TEST_CASE("category names follow the majority of ratings") {
  const std::vector<double> swapped{0.1, 0.9, 0.8, 0.2}, straight{0.9, 0.1, 0.2, 0.8};
  std::vector<double> both(swapped);
  both.insert(both.end(), straight.begin(), straight.end());
  CHECK(names_by_majority(both, {10, 1}, 2) == std::vector<int>{1, 0});
  CHECK(names_by_majority(both, {1, 10}, 2) == std::vector<int>{0, 1});
}

TEST_CASE("the association equals that of the table of two raters") {
  // Table of the two raters. Rows: 3 1 1, 0 2 1 and 1 0 3.
  const Panel panel({"AAAAABBBCCCC", "AAABCBBCACCC"}, {}, 3);
  const Association found = association(latent_rows(panel.view(), panel.weights(), -1, {}));
  const double table[3][3] = {{3, 1, 1}, {0, 2, 1}, {1, 0, 3}};
  const double row[3] = {5, 3, 4}, column[3] = {4, 3, 5};
  double statistic = 0, excess = 0;
  for (int k = 0; k < 3; ++k) {
    for (int l = 0; l < 3; ++l) {
      const double expected = row[k] * column[l] / 12;
      statistic += 11 / 12.0 * (table[k][l] - expected) * (table[k][l] - expected) / expected;
    }
    excess += table[k][k] - row[k] * column[k] / 12;
  }
  CHECK(found.statistic == Approx(statistic));
  CHECK(found.excess == Approx(excess));
  CHECK(found.df == 4);
}

TEST_CASE("the estimated skill of a judge maximises the probability of its counts") {
  Centre centre(2, 3, false);
  centre.u = {0.8, 0.2, 1.1};
  centre.w.values() = {0, 0.7, 0.3, 0.4, 0, 0.6, 0.5, 0.5, 0};
  const double numbers[] = {9, 1, 0, 2, 3, 5, 1, 2, 6};  // ratings x truths
  const auto density = [&](double skill) {
    double out = -skill * skill / (2 * centre.tau * centre.tau);
    for (int k = 0; k < 3; ++k) {
      for (int l = 0; l < 3; ++l) {
        const double alpha = centre.c * centre.mean(skill, k, l);
        if (numbers[l * 3 + k] > 0) {
          out += std::lgamma(alpha + numbers[l * 3 + k]) - std::lgamma(alpha);
        }
      }
    }
    return out;
  };
  const double skill = centre.skill_of({numbers, 3});
  CHECK(std::fabs(density(skill + 1e-4) - density(skill - 1e-4)) / 2e-4 < 1e-5);
}

TEST_CASE("a fit around a centre is the posterior mode of the free model, given the centre") {
  const Panel panel = twelve_cases();
  const LatentRows rows = latent_rows(panel.view(), panel.weights(), -1, {});
  LatentModel model;
  model.separate_raters = true;
  model.errors = Errors::free;
  LatentPrior prior;
  prior.pooled = true;
  for (const bool one_coin : {false, true}) {
    const PooledFit found = fit(rows, one_coin);
    CHECK(found.converged);
    const LatentClass latent(rows, model, given_centre(prior, found, rows));
    const Eigen::VectorXd x = parameters_of(found, latent.layout);
    Eigen::VectorXd slope(latent.layout.size);
    latent.evaluate(x, &slope);
    CHECK(slope.cwiseAbs().maxCoeff() < 1e-5);
    const auto posterior = latent.posterior(x);
    double apart = 0;
    for (std::size_t i = 0; i < posterior.size(); ++i) {
      apart = std::max(apart, std::fabs(posterior[i] - found.posterior[i]));
    }
    CHECK(apart < 1e-7);
  }
}

TEST_CASE("in the one-coin model all errors are equally probable") {
  const Panel panel = twelve_cases();
  const LatentRows rows = latent_rows(panel.view(), panel.weights(), -1, {});
  const PooledFit found = fit(rows, true);
  for (int row = 0; row < rows.judges * 3; ++row) {
    const int k = row % 3;
    const double* alpha = row_of(found.prior.values(), row, 3);
    CHECK(alpha[(k + 1) % 3] == Approx(alpha[(k + 2) % 3]));
    CHECK(alpha[0] + alpha[1] + alpha[2] == Approx(found.centre.c));
  }
}

TEST_CASE("extrapolation converges to a fixed point of plain rounds") {
  const Panel panel = twelve_cases();
  const LatentRows rows = latent_rows(panel.view(), panel.weights(), -1, {});
  PooledOptions exact;
  exact.tolerance = 1e-11;
  const PooledFit near = fit(rows, false), there = fit_pooled(rows, exact);
  CHECK(near.centre.c == Approx(there.centre.c).epsilon(1e-6));
  CHECK(near.centre.tau == Approx(there.centre.tau).epsilon(1e-6));
  CHECK(near.log_density == Approx(there.log_density).epsilon(1e-9));
}

TEST_CASE("a fit to many ratings needs few rounds") {
  // Ratings determine only sums of the skill of a judge and the ease of a category. With many
  // ratings, alternate updates of both would hardly move the constant that they share.
  const Panel panel = twelve_cases();
  std::vector<double> weight = panel.weights();
  for (double& w : weight) w *= 1e4;
  const LatentRows rows = latent_rows(panel.view(), weight, -1, {});
  const PooledFit found = fit(rows, false);
  CHECK(found.converged);
  CHECK(found.rounds < 100);
  double skills = 0;
  for (const double s : found.centre.s) skills += s;
  // The derivative of the density with respect to the constant is 0, see mean_guess in centre.cpp.
  const double slope = 5 * (0.6 - logistic(found.centre.ubar)) + skills / square(found.centre.tau);
  CHECK(std::fabs(slope) < 1e-6);
}

TEST_CASE("a fit with known truths ends only when the centre has converged") {
  // The posterior of the truth never changes. Only the matrices show whether the fit has converged.
  const Panel panel({"AAABBBCCCACBAABB", "AAABBACCCBCBABBB", "AABBCBCCAACBAACB", "CABBBACCAACAAABB",
                     "AAABBBCCCACCAABA", "ABABBBCACACBAABB"},
                    {}, 3);
  const std::string truth = "AAABBBCCCACBAABB";
  std::vector<int> of_pattern(panel.view().patterns);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    of_pattern[panel.patterns.index[i] - 1] = truth[i] - 'A' + 1;
  }
  const LatentRows rows = latent_rows(panel.view(), panel.weights(), -1, {of_pattern, {}, {}});
  std::vector<double> votes;
  for (int i = 0; i < rows.size(); ++i) {
    const std::vector<double> row = rows.votes(i);
    votes.insert(votes.end(), row.begin(), row.end());
  }
  PooledPanel fitted(rows, false);
  fitted.start(votes);
  fitted.iterate(PooledOptions().tolerance, 20000);
  REQUIRE(fitted.converged());
  Centre next = fitted.centre();
  next.update(fitted.counts());
  CHECK(next.c == Approx(fitted.centre().c).epsilon(1e-6));
  CHECK(next.tau == Approx(fitted.centre().tau).epsilon(1e-6));
  for (int j = 0; j < rows.judges; ++j) {
    CHECK(std::fabs(next.s[j] - fitted.centre().s[j]) < 1e-6);
  }
}
