// Bootstrap of cases or of clusters of cases: resamples the cases, and computes the estimates of an
// estimator for each resample.
#pragma once

#include <vector>

#include "../base/resample.hpp"
#include "../base/special.hpp"
#include "estimator.hpp"

namespace fallible {

// Quantities that a bootstrap computes: accuracies, or expected numbers of cases by system, truth
// and answer.
enum class Quantity { accuracy, counts };

// Returns the number of quantities in a replicate: one per system for accuracy, systems x truths x
// answers for counts. 0 for counts if the estimator computes no confusion matrix.
std::size_t count_quantities(const Estimator& estimator, Quantity quantity);

// Returns replicates x quantities (see count_quantities()), column by column. NaN if a resample has
// no estimate. Weights must be whole numbers of cases. Cases with neither a rating nor a known
// truth are not drawn, because they have no effect.
std::vector<double> bootstrap(const Estimator& estimator, Quantity quantity,
                              const BootstrapOptions& options, const Host& host);

// Approximate bootstrap of Method::joint: replicates x systems, column by column. Uses the
// infinitesimal jackknife (Efron, 1982). The influence of each case on the estimates is computed
// once, and replicates are sums of influences instead of fits. Uses the same draws as bootstrap().
// NaN for a system without cases.
std::vector<double> linear_replicates(const Ratings& ratings, const EstimatorOptions& options,
                                      const BootstrapOptions& draws, const Host& host);

// Standard error and interval of one estimate. Both are NaN if there is no interval.
struct Interval {
  // Reason why there is no interval; `none` if there is an interval.
  //   failed: most replicates have no estimate, or fewer than two replicates have an estimate.
  //   constant: both limits are equal.
  enum class Missing { none, failed, constant };
  Missing missing = Missing::none;
  double std_error = not_a_number;
  double low = std_error;
  double high = std_error;
  // Only if `missing` is `constant`: the value of both limits, and the share of replicates that are
  // equal to this value.
  double value = 0;
  double share_at_value = 0;
};

// Percentile interval and standard deviation of n replicates; those that are NaN are left out.
// Limits are quantiles, interpolated between order statistics (type 7 of Hyndman and Fan, 1996). If
// both limits are equal up to `tolerance`, there is no interval and `missing` is `constant`.
Interval percentile_interval(const double* replicates, std::size_t n, double conf_level,
                             double tolerance = rounding_tolerance);

// Interval of a difference between two systems. `first`, `second`: n replicates of each system,
// from the same resamples.
Interval difference_interval(const double* first, const double* second, std::size_t n,
                             double conf_level, double tolerance = rounding_tolerance);

// Share of replicates in which the first system is higher than the second. Ties, and replicates
// without an estimate, count 1/2.
double share_ahead(const double* first, const double* second, std::size_t n);

}  // namespace fallible
