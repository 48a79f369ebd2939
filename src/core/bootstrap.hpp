// Bootstrap of cases, or of clusters of cases: a multinomial resample of profiles, fitted anew.
#ifndef FALLIBLE_CORE_BOOTSTRAP_HPP
#define FALLIBLE_CORE_BOOTSTRAP_HPP

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "accuracy.hpp"
#include "host.hpp"
#include "resample.hpp"

namespace fallible {

struct BootstrapOptions {
  int replicates = 1000;
  int threads = 1;
  std::uint64_t seed = 0;
  Clusters clusters = {};  // empty: cases are resampled one by one
};

// replicates x systems, column by column; NaN where a replicate gives no estimate. Weights must be
// whole numbers of cases; cases without any rating are not resampled.
std::vector<double> bootstrap_accuracy(const Profiles& profiles, const AccuracyOptions& accuracy,
                                       const BootstrapOptions& options, const Host& host);

using OfWeights = std::function<std::vector<double>(const std::vector<double>&)>;

// Bootstrap of any function of the weights of patterns that gives so many `numbers`. Patterns
// of which nothing is known, neither a rating nor the `truth`, are not drawn. Replicates x numbers,
// column by column; resamples do not depend on the order of cases.
std::vector<double> bootstrap_patterns(const PatternView& patterns, const std::vector<int>& truth,
                                       const std::vector<double>& weight, int numbers,
                                       const OfWeights& of_weights,
                                       const BootstrapOptions& options, const Host& host);

// What replicates say of the error of one estimate. Without an interval, all are NaN.
struct PercentileInterval {
  enum class Lack { none, failed, constant };
  Lack lack = Lack::none;  // most replicates gave no estimate, or those that did are all the same
  double std_error = std::numeric_limits<double>::quiet_NaN();
  double low = std_error;
  double high = std_error;
  double same = 0;   // share of replicates that are `value`, where they do not vary
  double value = 0;
};

// Relative difference of limits that are equal but for rounding, or but for where iteration stops.
constexpr double rounding_tolerance = 1e-9;
constexpr double iteration_tolerance = 1e-5;

// `replicates` may hold NaN. Limits are quantiles that interpolate between order statistics (type 7
// of Hyndman and Fan, 1996).
PercentileInterval percentile_interval(const double* replicates, std::size_t n, double conf_level,
                                       double tolerance = rounding_tolerance);

}  // namespace fallible

#endif
