#include "bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace fallible {

namespace {

double quantile(const std::vector<double>& sorted, double probability) {
  const double at = static_cast<double>(sorted.size() - 1) * probability;
  const auto below = static_cast<std::size_t>(at);
  const auto above = std::min(below + 1, sorted.size() - 1);
  const double share = at - static_cast<double>(below);
  return (1 - share) * sorted[below] + share * sorted[above];
}

double standard_deviation(const std::vector<double>& x) {
  double mean = 0, squares = 0;
  for (const double value : x) mean += value / static_cast<double>(x.size());
  for (const double value : x) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(x.size() - 1));
}

}  // namespace

std::vector<double> bootstrap_accuracy(const Profiles& profiles, const AccuracyOptions& accuracy,
                                       const BootstrapOptions& options, const Host& host) {
  std::vector<double> rated = profiles.weight;
  for (int i = 0; i < profiles.size(); ++i) {
    if (profiles.ratings[i] == 0) rated[i] = 0;
  }
  const Resampler resampler(rated, profiles.of_pattern, options.clusters);
  const std::size_t replicates = options.replicates;
  std::vector<double> out(replicates * profiles.systems);
  for_each_item(replicates, options.threads, host, [&](std::size_t r) {
    Stream stream(options.seed, r);
    const std::vector<double> resample = resampler.draw(stream);
    const KFit fit = fit_algebraic(profiles, resample);
    const auto systems = system_accuracy(profiles, resample, fit, accuracy);
    for (int s = 0; s < profiles.systems; ++s) out[s * replicates + r] = systems[s].estimate;
  });
  return out;
}

std::vector<double> bootstrap_patterns(const PatternView& patterns, const std::vector<int>& truth,
                                       const std::vector<double>& weight, int numbers,
                                       const OfWeights& of_weights,
                                       const BootstrapOptions& options, const Host& host) {
  const std::vector<int> order = canonical_order(patterns, truth);
  std::vector<double> judged;
  std::vector<int> rank(order.size());
  for (const int p : order) {
    rank[p] = static_cast<int>(judged.size());
    judged.push_back(is_judged(patterns, truth, p) ? weight[p] : 0);
  }
  const Resampler resampler(judged, rank, options.clusters);
  const std::size_t replicates = options.replicates;
  std::vector<double> out(replicates * numbers);
  for_each_item(replicates, options.threads, host, [&](std::size_t r) {
    Stream stream(options.seed, r);
    const std::vector<double> drawn = resampler.draw(stream);
    std::vector<double> resample(drawn.size());
    for (std::size_t i = 0; i < order.size(); ++i) resample[order[i]] = drawn[i];
    const auto found = of_weights(resample);
    for (int i = 0; i < numbers; ++i) out[i * replicates + r] = found[i];
  });
  return out;
}

PercentileInterval percentile_interval(const double* replicates, std::size_t n, double conf_level,
                                       double tolerance) {
  PercentileInterval out;
  std::vector<double> values;
  std::copy_if(replicates, replicates + n, std::back_inserter(values),
               [](double x) { return !std::isnan(x); });
  if (2 * values.size() < n || values.size() < 2) {
    out.lack = PercentileInterval::Lack::failed;
    return out;
  }
  std::sort(values.begin(), values.end());
  const double tail = (1 - conf_level) / 2;
  const double low = quantile(values, tail), high = quantile(values, 1 - tail);
  if (high - low <= tolerance * std::fabs(high)) {
    out.lack = PercentileInterval::Lack::constant;
    out.value = low;
    out.same = static_cast<double>(std::count_if(values.begin(), values.end(), [&](double x) {
                 return std::fabs(x - low) < tolerance;
               })) / static_cast<double>(values.size());
    return out;
  }
  out.std_error = standard_deviation(values);
  out.low = low;
  out.high = high;
  return out;
}

}  // namespace fallible
