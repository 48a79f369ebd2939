#include "blend.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "../base/special.hpp"

namespace fallible {

namespace {

// Grid of the parameter: cells with equal probability under the flat part of the prior.
constexpr int cells = 2000;
constexpr double pi = 3.14159265358979323846;

using Row = std::array<double, cells>;

double middle(int i) { return (i + 0.5) / cells; }

// Position on the grid, from 0 to 1, below which the density (with sum `total`) has the share p.
double quantile_position(const Row& density, double total, double p) {
  double previous = 0;
  for (int i = 0; i < cells; ++i) {
    const double cumulative = previous + density[i];
    if (cumulative > p * total) return (i + (p * total - previous) / density[i]) / cells;
    previous = cumulative;
  }
  return 1;
}

// Computes the posterior on the grid. `at` maps a position on the grid, from 0 to 1, to a value of
// the parameter. `value` and `slope`: value at the centre of each cell, and derivative of `at`
// there. `likelihood`: logarithm of the likelihood of each value, up to a constant.
template <class At>
Blend blend(const At& at, const Row& value, const Row& slope, Row& likelihood,
            const BlendPrior& prior, double conf_level) {
  const double normal_mass =
      normal_cdf((at(1) - prior.centre) / prior.sd) - normal_cdf((at(0) - prior.centre) / prior.sd);
  const double scale = (1 - prior.flat_weight) / (normal_mass * prior.sd * std::sqrt(2 * pi));
  const double top = *std::max_element(likelihood.begin(), likelihood.end());
  Row density;
  double total = 0, sum = 0, flat = 0;
  for (int i = 0; i < cells; ++i) {
    const double z = (value[i] - prior.centre) / prior.sd;
    const double likelihood_ratio = std::exp(likelihood[i] - top);
    density[i] = (scale * std::exp(-z * z / 2) * slope[i] + prior.flat_weight) * likelihood_ratio;
    total += density[i];
    sum += density[i] * value[i];
    flat += likelihood_ratio;
  }
  const double mean = sum / total, tail = (1 - conf_level) / 2;
  double squares = 0;
  for (int i = 0; i < cells; ++i) squares += density[i] * (value[i] - mean) * (value[i] - mean);
  return {mean, std::sqrt(squares / total), at(quantile_position(density, total, tail)),
          at(quantile_position(density, total, 1 - tail)), prior.flat_weight * flat / total};
}

struct ShareGrid {
  Row value, slope, log_share, log_rest;
  static double at(double u) { return std::sin(pi * u / 2) * std::sin(pi * u / 2); }

  ShareGrid() {
    for (int i = 0; i < cells; ++i) {
      value[i] = at(middle(i));
      slope[i] = pi / 2 * std::sin(pi * middle(i));
      log_share[i] = std::log(value[i]);
      log_rest[i] = std::log1p(-value[i]);
    }
  }
};

}  // namespace

Blend blend_share(double share, double size, const BlendPrior& prior, double conf_level) {
  static const ShareGrid grid;
  Row likelihood;
  for (int i = 0; i < cells; ++i) {
    likelihood[i] = size * (share * grid.log_share[i] + (1 - share) * grid.log_rest[i]);
  }
  return blend(ShareGrid::at, grid.value, grid.slope, likelihood, prior, conf_level);
}

Blend blend_difference(double value, double error, double freedom, double end,
                       const BlendPrior& prior, double conf_level) {
  const auto at = [end](double u) { return end * (2 * u - 1); };
  Row grid, slope, likelihood;
  slope.fill(2 * end);
  for (int i = 0; i < cells; ++i) {
    grid[i] = at(middle(i));
    const double deviation = (grid[i] - value) / error;
    likelihood[i] = std::isinf(freedom)
                        ? -deviation * deviation / 2
                        : -(freedom + 1) / 2 * std::log(1 + deviation * deviation / freedom);
  }
  return blend(at, grid, slope, likelihood, prior, conf_level);
}

}  // namespace fallible
