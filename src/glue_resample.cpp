// Weights of bootstrap samples, for computations in R.
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
  const List of(x);
  out.pattern = from_zero(of["pattern"]);
  out.weight = as<std::vector<double>>(of["weight"]);
  out.cluster = as<std::vector<int>>(of["cluster"]);
  return out;
}

}  // namespace glue

// Draws from units (patterns, cases, ...). `weight` is the number of cases of each unit.
// [[Rcpp::export(rng = false)]]
SEXP core_resampler(NumericVector weight, SEXP clusters) {
  std::vector<int> itself(weight.size());
  std::iota(itself.begin(), itself.end(), 0);
  return XPtr<Resampler>(new Resampler(glue::doubles(weight), itself, glue::clusters(clusters)));
}

// Number of times that each unit is drawn in a replicate. `replicate` is its number (from 0).
// Estimators of the core use the same draws. `size` is the number of draws; NaN for the number of
// cases or clusters in the data.
// [[Rcpp::export(rng = false)]]
NumericVector core_resample(SEXP resampler, IntegerVector seed, double replicate, double size) {
  const XPtr<Resampler> of(resampler);
  Stream stream(glue::seed(seed), static_cast<std::uint64_t>(replicate));
  return wrap(std::isnan(size) ? of->draw(stream) : of->draw(stream, size));
}
