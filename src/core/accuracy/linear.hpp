// Replicates of joint estimates to first order (the infinitesimal jackknife; Efron 1982): how far
// each case moves an estimate is found once for each system, and no replicate is fitted.
#pragma once

#include <vector>

#include "../base/resample.hpp"
#include "estimator.hpp"

namespace fallible {

// Replicates x systems, column by column, of Method::joint by likelihood; of the same draws as
// those of bootstrap(). NaN for a system without a case.
std::vector<double> linear_replicates(const Ratings& ratings, const EstimatorOptions& options,
                                      const BootstrapOptions& draws, const Host& host);

}  // namespace fallible
