// Bootstrap of cases, or of clusters of cases: resamples of the cells of an estimator, fitted anew.
#pragma once

#include <vector>

#include "../base/resample.hpp"
#include "../base/special.hpp"
#include "estimator.hpp"

namespace fallible {

enum class Quantity { accuracy, counts };

// One per system, or systems x truths x answers; 0 if the estimator has no confusion matrix.
std::size_t numbers_of(const Estimator& estimator, Quantity what);

// Replicates x numbers, column by column; NaN where a replicate gives no estimate. Weights must be
// whole numbers of cases; cases of which nothing is known, neither a rating nor the truth, are not
// drawn.
std::vector<double> bootstrap(const Estimator& estimator, Quantity what,
                              const BootstrapOptions& options, const Host& host);

// Replicates x systems, column by column, of Method::joint by likelihood to first order (the
// infinitesimal jackknife; Efron 1982): how far each case moves an estimate is found once for each
// system, and no replicate is fitted. Of the same draws; NaN for a system without a case.
std::vector<double> linear_replicates(const Ratings& ratings, const EstimatorOptions& options,
                                      const BootstrapOptions& draws, const Host& host);

// Error of one estimate. Without an interval, all are NaN.
struct Interval {
  enum class Lack { none, failed, constant };
  Lack lack = Lack::none;  // most replicates gave no estimate, or those that did are all the same
  double std_error = not_a_number;
  double low = std_error;
  double high = std_error;
  double same = 0;  // share of replicates that are `value`, where they do not vary
  double value = 0;
};

// `replicates` may hold NaN. Limits are quantiles that interpolate between order statistics (type 7
// of Hyndman and Fan, 1996); `tolerance` is the relative difference of limits that are equal.
Interval percentile_interval(const double* replicates, std::size_t n, double conf_level,
                             double tolerance = rounding_tolerance);

// The same of the differences of two columns of replicates.
Interval difference_interval(const double* first, const double* second, std::size_t n,
                             double conf_level, double tolerance = rounding_tolerance);

// In which share of the replicates the first is ahead; half where nobody is.
double share_ahead(const double* first, const double* second, std::size_t n);

}  // namespace fallible
