// Bounds of the accuracy under any dependence of errors: functions that R calls.
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

// Returns the lowest and highest possible accuracy of each system, and of the difference of each
// pair of systems. `known`: true category of each pattern (0 if unknown), or empty. `posterior`:
// patterns x categories. `size`: least weight of a group of patterns. Patterns with less weight are
// joined, see AccuracyBounds. `pairs`: systems (from 1), one column per pair.
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
