// Bounds of accuracy.
#include "core/accuracy/bounds.hpp"
#include "glue.h"

using namespace Rcpp;
using namespace fallible;

namespace {

List ranges(const std::vector<fallible::Range>& x) {
  return List::create(_["lowest"] = glue::column(x, &fallible::Range::lowest),
                      _["highest"] = glue::column(x, &fallible::Range::highest));
}

}  // namespace

// Ranges of systems, and of differences of systems. Columns of `pairs` are pairs of systems, from
// 1. `known` contains the true category of each pattern, or is empty.
// [[Rcpp::export(rng = false)]]
List core_accuracy_bounds(List patterns, IntegerVector known, NumericVector weight,
                          NumericMatrix posterior, double size, IntegerMatrix pairs) {
  const auto view = glue::view(patterns);
  const auto weights = glue::doubles(weight);
  const AccuracyBounds bounds(view, as<std::vector<int>>(known), weights, posterior.begin(), size);
  std::vector<fallible::Range> systems, differences;
  for (int s = 0; s < view.systems; ++s) systems.push_back(bounds.system(s));
  for (int i = 0; i < pairs.ncol(); ++i) {
    differences.push_back(bounds.difference(pairs(0, i) - 1, pairs(1, i) - 1));
  }
  return List::create(_["systems"] = ranges(systems), _["differences"] = ranges(differences),
                      _["groups"] = bounds.groups());
}
