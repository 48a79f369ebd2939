#include "bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>

namespace fallible {

namespace {

double quantile(std::vector<double>& values, double probability) {
  const double position = static_cast<double>(values.size() - 1) * probability;
  const auto below = static_cast<std::ptrdiff_t>(position);
  const double share = position - static_cast<double>(below);
  const auto element = values.begin() + below;
  std::nth_element(values.begin(), element, values.end());
  if (element + 1 == values.end()) return *element;
  return (1 - share) * *element + share * *std::min_element(element + 1, values.end());
}

double standard_deviation(const std::vector<double>& x) {
  double mean = 0, squares = 0;
  for (const double value : x) mean += value;
  mean /= static_cast<double>(x.size());
  for (const double value : x) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(x.size() - 1));
}

}  // namespace

std::size_t numbers_of(const Estimator& estimator, Quantity quantity) {
  return quantity == Quantity::accuracy ? estimator.systems().size() : estimator.counts();
}

std::vector<double> bootstrap(const Estimator& estimator, Quantity quantity,
                              const BootstrapOptions& options, const Host& host) {
  const bool is_accuracy = quantity == Quantity::accuracy;
  const Cells& cells = estimator.cells();
  const Resampler resampler(cells.cases, cells.of_pattern, options.clusters);
  const std::size_t replicates = options.replicates, numbers = numbers_of(estimator, quantity);
  std::vector<double> out(replicates * numbers);
  for_each_replicate(resampler, options, host, [&](std::size_t r, const auto& drawn) {
    const auto estimates =
        is_accuracy ? estimator.with_weights(drawn) : estimator.counts_with_weights(drawn);
    for (std::size_t i = 0; i < numbers; ++i) out[i * replicates + r] = estimates[i];
  });
  return out;
}

Interval percentile_interval(const double* replicates, std::size_t n, double conf_level,
                             double tolerance) {
  Interval out;
  std::vector<double> values;
  std::copy_if(replicates, replicates + n, std::back_inserter(values),
               [](double x) { return !std::isnan(x); });
  if (2 * values.size() < n || values.size() < 2) {
    out.lack = Interval::Lack::failed;
    return out;
  }
  const double tail = (1 - conf_level) / 2;
  const double low = quantile(values, tail), high = quantile(values, 1 - tail);
  // Iterative estimates are probabilities or differences of probabilities, so their tolerance is
  // absolute. Others have a relative tolerance.
  const double lower_limit = tolerance > rounding_tolerance ? 1 : 0;
  if (high - low <= tolerance * std::max(lower_limit, std::fabs(high))) {
    out.lack = Interval::Lack::constant;
    out.value = low;
    out.same = static_cast<double>(
                   std::count_if(values.begin(), values.end(),
                                 [&](double x) { return std::fabs(x - low) < tolerance; })) /
               static_cast<double>(values.size());
    return out;
  }
  out.std_error = standard_deviation(values);
  out.low = low;
  out.high = high;
  return out;
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
