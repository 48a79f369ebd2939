// Bootstrap resamples for computations in R: functions that R calls.
#include <cmath>
#include <numeric>

#include "core/base/resample.hpp"
#include "glue.h"

using namespace Rcpp;
using namespace fallible;

namespace glue {

Clusters clusters(SEXP x) {
  Clusters core_clusters;
  if (Rf_isNull(x)) return core_clusters;
  const List columns(x);
  core_clusters.pattern = from_zero(columns["pattern"]);
  core_clusters.weight = as<std::vector<double>>(columns["weight"]);
  core_clusters.cluster = as<std::vector<int>>(columns["cluster"]);
  return core_clusters;
}

}  // namespace glue

// Returns a resampler, from which core_resample() draws. A unit is a pattern, a case or another
// group of equal cases. `weight`: number of cases of each unit. `clusters`: see glue::clusters().
// [[Rcpp::export(rng = false)]]
SEXP core_resampler(NumericVector weight, SEXP clusters) {
  std::vector<int> units(weight.size());
  std::iota(units.begin(), units.end(), 0);
  return XPtr<Resampler>(new Resampler(glue::doubles(weight), units, glue::clusters(clusters)));
}

// Returns the number of cases drawn from each unit in a replicate. `replicate`: number of the
// replicate, from 0. Estimators of the core use the same draws for the same seed and the same
// number. `size`: number of drawn cases (or clusters); NaN to draw the number of cases (or
// clusters) in the data.
// [[Rcpp::export(rng = false)]]
NumericVector core_resample(SEXP resampler, IntegerVector seed, double replicate, double size) {
  const XPtr<Resampler> pointer(resampler);
  Stream stream(glue::seed(seed), static_cast<std::uint64_t>(replicate));
  return wrap(std::isnan(size) ? pointer->draw(stream) : pointer->draw(stream, size));
}
