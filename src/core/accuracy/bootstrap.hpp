// Bootstrap of cases or of clusters of cases. Resamples the cells of an estimator and refits it.
#pragma once

#include <vector>

#include "../base/resample.hpp"
#include "../base/special.hpp"
#include "estimator.hpp"

namespace fallible {

enum class Quantity { accuracy, counts };

// Numbers per replicate: one per system, or systems x truths x answers. 0 if the estimator has no
// confusion matrix.
std::size_t numbers_of(const Estimator& estimator, Quantity what);

// Replicates x numbers, column by column; NaN if a replicate has no estimate. Weights must be whole
// numbers of cases. Cases with neither a rating nor a known truth are not drawn.
std::vector<double> bootstrap(const Estimator& estimator, Quantity what,
                              const BootstrapOptions& options, const Host& host);

// Replicates x systems, column by column, of Method::joint by likelihood, to first order
// (infinitesimal jackknife; Efron 1982). The influence of each case is computed once per system,
// and no replicate is fitted. Uses the same draws as bootstrap(); NaN for a system without a case.
std::vector<double> linear_replicates(const Ratings& ratings, const EstimatorOptions& options,
                                      const BootstrapOptions& draws, const Host& host);

// Error of one estimate. Without an interval, all are NaN.
struct Interval {
  enum class Lack { none, failed, constant };
  Lack lack = Lack::none;  // failed: most replicates have no estimate; constant: limits are equal
  double std_error = not_a_number;
  double low = std_error;
  double high = std_error;
  double same = 0;  // share of replicates that are equal to `value`
  double value = 0;
};

// `replicates` may contain NaN. Limits are quantiles that interpolate between order statistics
// (type 7 of Hyndman and Fan, 1996). Limits are equal if their relative difference is below
// `tolerance`.
Interval percentile_interval(const double* replicates, std::size_t n, double conf_level,
                             double tolerance = rounding_tolerance);

// Interval of the differences between two columns of replicates.
Interval difference_interval(const double* first, const double* second, std::size_t n,
                             double conf_level, double tolerance = rounding_tolerance);

// Share of replicates in which the first value is higher; ties count 1/2.
double share_ahead(const double* first, const double* second, std::size_t n);

}  // namespace fallible
