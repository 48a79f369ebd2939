// Compares draws of the centre of a panel with integrals over its density.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "core/posterior/centre_draws.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

// One confusion matrix of counts per rater.
struct Counts {
  std::vector<std::vector<double>> values;
  int size;

  std::vector<ConstSquare> squares() const {
    std::vector<ConstSquare> out;
    for (const auto& value : values) out.emplace_back(value.data(), size);
    return out;
  }
};

// Log density of log nu and of the logit of the share of the right answer, for two categories.
double log_density(double log_nu, double logit, int k, const Counts& counts) {
  const double nu = std::exp(log_nu), right = 1 / (1 + std::exp(-logit));
  double out = -std::pow(log_nu - std::log(4.0), 2) / 2 + 3 * std::log(right) + std::log(1 - right);
  for (const auto& value : counts.values) {
    const double yes = value[2 * k + k], no = value[2 * k + 1 - k];
    out += std::lgamma(nu * right + yes) - std::lgamma(nu * right) +
           std::lgamma(nu * (1 - right) + no) - std::lgamma(nu * (1 - right)) -
           std::lgamma(nu + yes + no) + std::lgamma(nu);
  }
  return out;
}

struct Moments {
  double log_nu = 0, right = 0, log_nu_sd = 0, right_sd = 0;
};

Moments integrate(int k, const Counts& counts) {
  Moments out;
  double total = 0, nu_square = 0, right_square = 0;
  for (double log_nu = -4; log_nu < 8; log_nu += 0.05) {
    for (double logit = -8; logit < 12; logit += 0.05) {
      const double p =
          std::exp(log_density(log_nu, logit, k, counts) - log_density(1.4, 1, k, counts));
      const double right = 1 / (1 + std::exp(-logit));
      total += p;
      out.log_nu += p * log_nu;
      nu_square += p * log_nu * log_nu;
      out.right += p * right;
      right_square += p * right * right;
    }
  }
  out.log_nu /= total;
  out.right /= total;
  out.log_nu_sd = std::sqrt(nu_square / total - out.log_nu * out.log_nu);
  out.right_sd = std::sqrt(right_square / total - out.right * out.right);
  return out;
}

}  // namespace

TEST_CASE("centres start with 4 and 0.7, and equal errors") {
  const CentreDraws centre(3);
  CHECK(centre.nu() == std::vector<double>(3, 4.0));
  for (int k = 0; k < 3; ++k) {
    for (int l = 0; l < 3; ++l) {
      CHECK(centre.parameter(k, l) == Approx(4 * (k == l ? 0.7 : 0.15)));
      CHECK(centre.mu()[3 * k + l] == Approx(k == l ? 0.7 : 0.15));
    }
  }
}

TEST_CASE("draws of the centre have the moments of its density" * doctest::test_suite("slow")) {
  // Small and large counts, and no counts.
  const Counts some{{{8, 1, 2, 5}, {60, 25, 0, 3}, {0, 0, 7, 90}, {3, 0, 1, 41}}, 2};
  const Counts none{{}, 2};
  for (const Counts& counts : {some, none}) {
    CentreDraws centre(2);
    Stream stream(8, counts.values.size());
    const int draws = 20000;
    for (int i = 0; i < 50; ++i) centre.update(counts.squares(), false, stream);
    Moments mean[2];
    for (int i = 0; i < draws; ++i) {
      centre.update(counts.squares(), false, stream);
      for (int k = 0; k < 2; ++k) {
        mean[k].log_nu += std::log(centre.nu()[k]) / draws;
        mean[k].log_nu_sd += std::pow(std::log(centre.nu()[k]), 2) / draws;
        mean[k].right += centre.mu()[2 * k + k] / draws;
        mean[k].right_sd += std::pow(centre.mu()[2 * k + k], 2) / draws;
      }
    }
    for (int k = 0; k < 2; ++k) {
      const Moments expected = integrate(k, counts);
      CHECK(std::fabs(mean[k].log_nu - expected.log_nu) < 0.05 * expected.log_nu_sd);
      CHECK(std::fabs(mean[k].right - expected.right) < 0.05 * expected.right_sd);
      CHECK(std::sqrt(mean[k].log_nu_sd - std::pow(mean[k].log_nu, 2)) ==
            Approx(expected.log_nu_sd).epsilon(0.05));
      CHECK(std::sqrt(mean[k].right_sd - std::pow(mean[k].right, 2)) ==
            Approx(expected.right_sd).epsilon(0.05));
    }
  }
}

TEST_CASE("with an order constraint, each answer is most probable under its truth") {
  // Without the condition these counts would exchange the first two categories.
  const Counts counts{{{2, 9, 0, 8, 3, 1, 0, 1, 6}, {1, 5, 0, 4, 1, 1, 0, 0, 44}}, 3};
  CentreDraws centre(3);
  Stream stream(8, 3);
  bool dominated = true;
  for (int i = 0; i < 200; ++i) {
    centre.update(counts.squares(), true, stream);
    const std::vector<double>& mu = centre.mu();
    for (int l = 0; l < 3; ++l) {
      for (int k = 0; k < 3; ++k) dominated = dominated && (k == l || mu[3 * k + l] < mu[4 * l]);
    }
  }
  CHECK(dominated);
}
