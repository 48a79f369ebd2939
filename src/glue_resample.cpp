// Bootstrap resamples for computations in R: functions that R calls.
#include <cmath>
#include <numeric>

#include "core/base/resample.hpp"
#include "glue.h"

using namespace Rcpp;
using namespace fallible;

namespace glue {

Clusters clusters(SEXP x) {
  Clusters out;
  if (Rf_isNull(x)) return out;
  const List columns(x);
  out.pattern = from_zero(columns["pattern"]);
  out.weight = as<std::vector<double>>(columns["weight"]);
  out.cluster = as<std::vector<int>>(columns["cluster"]);
  return out;
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

// Returns how often each unit is drawn in a replicate. `replicate`: number of the replicate, from
// 0. Estimators of the core use the same draws for the same seed and number. `size`: number of
// draws; NaN to draw the number of cases (or clusters) in the data.
// [[Rcpp::export(rng = false)]]
NumericVector core_resample(SEXP resampler, IntegerVector seed, double replicate, double size) {
  const XPtr<Resampler> pointer(resampler);
  Stream stream(glue::seed(seed), static_cast<std::uint64_t>(replicate));
  return wrap(std::isnan(size) ? pointer->draw(stream) : pointer->draw(stream, size));
}
