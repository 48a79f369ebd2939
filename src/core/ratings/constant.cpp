#include "constant.hpp"

#include <cmath>

namespace fallible {

namespace {

// Highest probability of equal ratings by chance with which a rater counts as constant.
constexpr double highest_chance = 0.01;

}  // namespace

std::vector<bool> constant_raters(const PatternView& patterns, const std::vector<double>& cases) {
  std::vector<double> share(patterns.categories, 0.0), ratings(patterns.raters, 0.0);
  // The only category of each rater, from 1. It is 0 before the first rating, and -1 if the rater
  // gave several categories.
  std::vector<int> only_category(patterns.raters, 0);
  double total = 0;
  for (int p = 0; p < patterns.patterns; ++p) {
    if (cases[p] <= 0) continue;
    for (const int at : patterns.positions(p)) {
      const int rater = patterns.rater[at] - 1, category = patterns.category[at];
      if (only_category[rater] == 0) only_category[rater] = category;
      if (only_category[rater] != category) only_category[rater] = -1;
      ratings[rater] += cases[p];
      share[category - 1] += cases[p];
      total += cases[p];
    }
  }
  for (double& p : share) p /= total;
  std::vector<bool> out(patterns.raters, false);
  for (int j = 0; j < patterns.raters; ++j) {
    if (only_category[j] <= 0) continue;
    double chance = 0;
    for (const double p : share) chance += std::pow(p, ratings[j]);
    out[j] = chance <= highest_chance;
  }
  return out;
}

}  // namespace fallible
