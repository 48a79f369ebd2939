#include "constant.hpp"

#include <cmath>

namespace fallible {

namespace {

constexpr double chance_of_equal_ratings = 0.01;

}  // namespace

std::vector<bool> constant_raters(const PatternView& patterns, const std::vector<double>& cases) {
  std::vector<double> share(patterns.categories, 0.0), ratings(patterns.raters, 0.0);
  std::vector<int> only(patterns.raters,
                        // The only category of each rater, from 1. 0 before the first rating, -1 if
                        // a rater gave several categories.
                        0);
  double total = 0;
  for (int p = 0; p < patterns.patterns; ++p) {
    if (cases[p] <= 0) continue;
    for (const int at : patterns.places(p)) {
      const int rater = patterns.rater[at] - 1, category = patterns.category[at];
      if (only[rater] == 0) only[rater] = category;
      if (only[rater] != category) only[rater] = -1;
      ratings[rater] += cases[p];
      share[category - 1] += cases[p];
      total += cases[p];
    }
  }
  for (double& p : share) p /= total;
  std::vector<bool> out(patterns.raters, false);
  for (int j = 0; j < patterns.raters; ++j) {
    if (only[j] <= 0) continue;
    double equal = 0;
    for (const double p : share) equal += std::pow(p, ratings[j]);
    out[j] = equal <= chance_of_equal_ratings;
  }
  return out;
}

}  // namespace fallible
