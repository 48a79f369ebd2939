#include "blend.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "../base/special.hpp"

namespace fallible {

namespace {

// Number of cells of the grid of parameter values on which posteriors are computed. All cells have
// the same probability under the flat part of the prior (see blend.hpp).
constexpr int n_cells = 2000;
constexpr double pi = 3.14159265358979323846;

using GridValues = std::array<double, n_cells>;  // one number per cell of the grid

double cell_centre(int i) { return (i + 0.5) / n_cells; }

// Returns quantile p of a density, as a position on the grid from 0 to 1. `total`: sum of the
// density over all cells.
double quantile_position(const GridValues& density, double total, double p) {
  double previous = 0;
  for (int i = 0; i < n_cells; ++i) {
    const double cumulative = previous + density[i];
    if (cumulative > p * total) return (i + (p * total - previous) / density[i]) / n_cells;
    previous = cumulative;
  }
  return 1;
}

// Computes the posterior on the grid. `value_at` is a function that maps a position on the grid,
// from 0 to 1, to a value of the parameter. `value` and `slope` contain values and derivatives of
// this function at the centres of the cells. `log_likelihood` contains the log likelihood of each
// value, up to a constant.
template <class ValueAt>
Blend blend(const ValueAt& value_at, const GridValues& value, const GridValues& slope,
            GridValues& log_likelihood, const BlendPrior& prior, double conf_level) {
  const double normal_mass = normal_cdf((value_at(1) - prior.centre) / prior.sd) -
                             normal_cdf((value_at(0) - prior.centre) / prior.sd);
  const double scale = (1 - prior.flat_weight) / (normal_mass * prior.sd * std::sqrt(2 * pi));
  const double highest = *std::max_element(log_likelihood.begin(), log_likelihood.end());
  GridValues density;
  double total = 0, sum = 0, flat_sum = 0;
  for (int i = 0; i < n_cells; ++i) {
    const double z = (value[i] - prior.centre) / prior.sd;
    const double likelihood_ratio = std::exp(log_likelihood[i] - highest);
    density[i] = (scale * std::exp(-z * z / 2) * slope[i] + prior.flat_weight) * likelihood_ratio;
    total += density[i];
    sum += density[i] * value[i];
    flat_sum += likelihood_ratio;
  }
  const double mean = sum / total, tail = (1 - conf_level) / 2;
  double squares = 0;
  for (int i = 0; i < n_cells; ++i) squares += density[i] * (value[i] - mean) * (value[i] - mean);
  return {mean, std::sqrt(squares / total), value_at(quantile_position(density, total, tail)),
          value_at(quantile_position(density, total, 1 - tail)),
          prior.flat_weight * flat_sum / total};
}

// Grid for a share. value_at() is the quantile function of Beta(1/2, 1/2), the flat part of the
// prior. `log_share`, `log_rest`: logarithms of value and 1 - value.
struct ShareGrid {
  GridValues value, slope, log_share, log_rest;
  static double value_at(double u) { return std::sin(pi * u / 2) * std::sin(pi * u / 2); }

  ShareGrid() {
    for (int i = 0; i < n_cells; ++i) {
      value[i] = value_at(cell_centre(i));
      slope[i] = pi / 2 * std::sin(pi * cell_centre(i));
      log_share[i] = std::log(value[i]);
      log_rest[i] = std::log1p(-value[i]);
    }
  }
};

}  // namespace

Blend blend_share(double share, double cases, const BlendPrior& prior, double conf_level) {
  static const ShareGrid grid;
  GridValues log_likelihood;
  for (int i = 0; i < n_cells; ++i) {
    log_likelihood[i] = cases * (share * grid.log_share[i] + (1 - share) * grid.log_rest[i]);
  }
  return blend(ShareGrid::value_at, grid.value, grid.slope, log_likelihood, prior, conf_level);
}

Blend blend_difference(double value, double std_error, double df, double limit,
                       const BlendPrior& prior, double conf_level) {
  const auto value_at = [limit](double u) { return limit * (2 * u - 1); };
  GridValues grid, slope, log_likelihood;
  slope.fill(2 * limit);
  for (int i = 0; i < n_cells; ++i) {
    grid[i] = value_at(cell_centre(i));
    const double deviation = (grid[i] - value) / std_error;
    log_likelihood[i] = std::isinf(df) ? -deviation * deviation / 2
                                       : -(df + 1) / 2 * std::log(1 + deviation * deviation / df);
  }
  return blend(value_at, grid, slope, log_likelihood, prior, conf_level);
}

}  // namespace fallible
