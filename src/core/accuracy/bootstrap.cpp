#include "bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>

namespace fallible {

namespace {

double quantile(std::vector<double>& estimates, double probability) {
  const double position = static_cast<double>(estimates.size() - 1) * probability;
  const auto below = static_cast<std::ptrdiff_t>(position);
  const double share = position - static_cast<double>(below);
  const auto element = estimates.begin() + below;
  std::nth_element(estimates.begin(), element, estimates.end());
  if (element + 1 == estimates.end()) return *element;
  return (1 - share) * *element + share * *std::min_element(element + 1, estimates.end());
}

double standard_deviation(const std::vector<double>& x) {
  double mean = 0, squares = 0;
  for (const double value : x) mean += value;
  mean /= static_cast<double>(x.size());
  for (const double value : x) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(x.size() - 1));
}

}  // namespace

std::size_t count_quantities(const Estimator& estimator, Quantity quantity) {
  return quantity == Quantity::accuracy ? estimator.systems().size() : estimator.n_counts();
}

std::vector<double> bootstrap(const Estimator& estimator, Quantity quantity,
                              const BootstrapOptions& options, const Host& host) {
  const bool is_accuracy = quantity == Quantity::accuracy;
  const Cells& cells = estimator.cells();
  const Resampler resampler(cells.cases, cells.cell_of_pattern, options.clusters);
  const std::size_t replicates = options.replicates,
                    n_quantities = count_quantities(estimator, quantity);
  std::vector<double> replicate_values(replicates * n_quantities);
  for_each_replicate(resampler, options, host, [&](std::size_t r, const auto& drawn) {
    const auto resample_values =
        is_accuracy ? estimator.estimate_with_weights(drawn) : estimator.counts_with_weights(drawn);
    for (std::size_t i = 0; i < n_quantities; ++i)
      replicate_values[i * replicates + r] = resample_values[i];
  });
  return replicate_values;
}

Interval percentile_interval(const double* replicates, std::size_t n, double conf_level,
                             double tolerance) {
  Interval interval;
  std::vector<double> estimates;
  std::copy_if(replicates, replicates + n, std::back_inserter(estimates),
               [](double x) { return !std::isnan(x); });
  if (2 * estimates.size() < n || estimates.size() < 2) {
    interval.missing = Interval::Missing::failed;
    return interval;
  }
  const double tail = (1 - conf_level) / 2;
  const double low = quantile(estimates, tail), high = quantile(estimates, 1 - tail);
  // The tolerance for rounding errors is multiplied by the absolute value of `high`. The larger
  // tolerance for iterative fits, whose estimates are in [-1, 1], is multiplied by 1.
  const double lower_limit = tolerance > rounding_tolerance ? 1 : 0;
  if (high - low <= tolerance * std::max(lower_limit, std::fabs(high))) {
    interval.missing = Interval::Missing::constant;
    interval.value = low;
    interval.share_at_value = static_cast<double>(std::count_if(
                                  estimates.begin(), estimates.end(),
                                  [&](double x) { return std::fabs(x - low) < tolerance; })) /
                              static_cast<double>(estimates.size());
    return interval;
  }
  interval.std_error = standard_deviation(estimates);
  interval.low = low;
  interval.high = high;
  return interval;
}

Interval difference_interval(const double* first, const double* second, std::size_t n,
                             double conf_level, double tolerance) {
  std::vector<double> difference(n);
  std::transform(first, first + n, second, difference.begin(), std::minus<double>());
  return percentile_interval(difference.data(), n, conf_level, tolerance);
}

double share_ahead(const double* first, const double* second, std::size_t n) {
  int net_wins = 0;
  for (std::size_t i = 0; i < n; ++i) net_wins += (first[i] > second[i]) - (first[i] < second[i]);
  return 0.5 + net_wins / (2.0 * static_cast<double>(n));
}

}  // namespace fallible
