// Compares blends of gold cases and ratings (blend.hpp) with numerical integration of their
// definition.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "core/accuracy/blend.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

constexpr double pi = 3.14159265358979323846;

// Posterior of a parameter in [from, to] on a fine grid. The prior is the normal density of `prior`
// cut to the range, with weight 1 - flat, plus the density `flat`, with weight flat. To resolve
// densities that are infinite at the ends, the grid is finer there.
Blend integrate(double from, double to, const BlendPrior& prior,
                const std::function<double(double)>& flat,
                const std::function<double(double)>& log_likelihood, double conf_level) {
  const int cells = 20000;
  const auto cut = [&](double x) {
    return std::erfc(-(x - prior.centre) / prior.sd / std::sqrt(2.0)) / 2;
  };
  const double mass = cut(to) - cut(from);
  std::vector<double> x(cells), density(cells), from_flat(cells);
  double top = -HUGE_VAL;
  for (int i = 0; i < cells; ++i) {
    const double u = (i + 0.5) / cells;
    x[i] = from + (to - from) * (1 - std::cos(pi * u)) / 2;
    top = std::max(top, log_likelihood(x[i]));
  }
  double total = 0, mean = 0, squares = 0, all_flat = 0;
  for (int i = 0; i < cells; ++i) {
    const double u = (i + 0.5) / cells, width = (to - from) * pi * std::sin(pi * u) / 2;
    const double z = (x[i] - prior.centre) / prior.sd;
    const double normal = std::exp(-z * z / 2) / (prior.sd * std::sqrt(2 * pi) * mass);
    const double likelihood = std::exp(log_likelihood(x[i]) - top);
    const double part = prior.flat_weight * flat(x[i]) * likelihood * width;
    density[i] = (1 - prior.flat_weight) * normal * likelihood * width + part;
    total += density[i];
    all_flat += part;
    mean += density[i] * x[i];
  }
  mean /= total;
  for (int i = 0; i < cells; ++i) squares += density[i] * (x[i] - mean) * (x[i] - mean);
  const auto quantile = [&](double p) {
    double before = 0;
    int i = 0;
    while (before + density[i] < p * total) before += density[i++];
    const double end = i + 1 < cells ? x[i + 1] : to, start = i > 0 ? x[i - 1] : from;
    return (start + x[i]) / 2 + (p * total - before) / density[i] * (end - start) / 2;
  };
  const double tail = (1 - conf_level) / 2;
  return {mean, std::sqrt(squares / total), quantile(tail), quantile(1 - tail), all_flat / total};
}

void compare(const Blend& found, const Blend& expected) {
  CHECK(found.mean == Approx(expected.mean).epsilon(1e-5));
  CHECK(found.sd == Approx(expected.sd).epsilon(1e-4));
  CHECK(std::fabs(found.low - expected.low) < 1e-4);
  CHECK(std::fabs(found.high - expected.high) < 1e-4);
  CHECK(found.flat_probability == Approx(expected.flat_probability).epsilon(1e-5));
}

}  // namespace

TEST_CASE("a blended share equals the integral over its prior") {
  const auto arcsine = [](double x) { return 1 / (pi * std::sqrt(x * (1 - x))); };
  for (const double share : {0.6, 0.83, 1.0, 0.0}) {
    for (const double size : {4.0, 35.5}) {
      for (const BlendPrior& prior :
           {BlendPrior{0.7, 0.1, 0.2}, BlendPrior{0.95, 0.2, 0.6}, BlendPrior{0.3, 0.05, 0.01}}) {
        const double level = size > 10 ? 0.5 : 0.9;
        const auto log_likelihood = [&](double x) {
          return size * ((share > 0 ? share * std::log(x) : 0) +
                         (share < 1 ? (1 - share) * std::log1p(-x) : 0));
        };
        compare(blend_share(share, size, prior, level),
                integrate(0, 1, prior, arcsine, log_likelihood, level));
      }
    }
  }
}

TEST_CASE("a blended difference equals the integral, for normal and for t errors") {
  for (const double end : {1.0, 0.6}) {
    const auto uniform = [&](double) { return 1 / (2 * end); };
    for (const double value : {-0.2, 0.05, 0.5}) {
      for (const BlendPrior& prior : {BlendPrior{0.1, 0.1, 0.3}, BlendPrior{-0.4, 0.3, 0.7}}) {
        for (const double freedom : {2.0, 7.5, HUGE_VAL}) {
          const double error = 0.11;
          const auto log_likelihood = [&](double x) {
            const double z = (x - value) / error;
            if (std::isinf(freedom)) return -z * z / 2;
            return -(freedom + 1) / 2 * std::log(1 + z * z / freedom);
          };
          compare(blend_difference(value, error, freedom, end, prior, 0.8),
                  integrate(-end, end, prior, uniform, log_likelihood, 0.8));
        }
      }
    }
  }
}
