// Bounds of accuracy.
#include "core/accuracy/bounds.hpp"
#include "glue.h"

namespace {

Rcpp::List ranges(const std::vector<fallible::Range>& x) {
  Rcpp::NumericVector lowest(x.size()), highest(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    lowest[i] = x[i].lowest;
    highest[i] = x[i].highest;
  }
  return Rcpp::List::create(Rcpp::Named("lowest") = lowest, Rcpp::Named("highest") = highest);
}

}  // namespace

// Ranges of systems, and of the differences of `pairs` of them, a column each, from 1. `known` has
// the true category of each pattern, or is empty.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_accuracy_bounds(Rcpp::List patterns, Rcpp::IntegerVector known,
                                Rcpp::NumericVector weight, Rcpp::NumericMatrix posterior,
                                double size, Rcpp::IntegerMatrix pairs) {
  const auto view = glue::view(patterns);
  const auto weights = glue::doubles(weight);
  const fallible::AccuracyBounds bounds(view, Rcpp::as<std::vector<int>>(known), weights,
                                        posterior.begin(), size);
  std::vector<fallible::Range> systems, differences;
  for (int s = 0; s < view.systems; ++s) systems.push_back(bounds.system(s));
  for (int i = 0; i < pairs.ncol(); ++i) {
    differences.push_back(bounds.difference(pairs(0, i) - 1, pairs(1, i) - 1));
  }
  return Rcpp::List::create(Rcpp::Named("systems") = ranges(systems),
                            Rcpp::Named("differences") = ranges(differences),
                            Rcpp::Named("groups") = bounds.groups());
}
