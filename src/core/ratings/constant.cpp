#include "constant.hpp"

#include <cmath>

namespace fallible {

namespace {

// A rater whose ratings are all equal counts as constant if the probability that they are equal by
// chance is at most this value.
constexpr double max_chance_probability = 0.01;

}  // namespace

std::vector<bool> constant_raters(const PatternView& patterns, const std::vector<double>& cases) {
  std::vector<double> share(patterns.categories, 0.0), n_ratings(patterns.raters, 0.0);
  // The only category of each rater, from 1. It is 0 before the first rating, and -1 if the rater
  // gave several categories.
  std::vector<int> only_category(patterns.raters, 0);
  double total_ratings = 0;
  for (int p = 0; p < patterns.patterns; ++p) {
    if (cases[p] <= 0) continue;
    for (const int position : patterns.positions(p)) {
      const int rater = patterns.rater[position] - 1, category = patterns.category[position];
      if (only_category[rater] == 0) only_category[rater] = category;
      if (only_category[rater] != category) only_category[rater] = -1;
      n_ratings[rater] += cases[p];
      share[category - 1] += cases[p];
      total_ratings += cases[p];
    }
  }
  for (double& p : share) p /= total_ratings;
  std::vector<bool> is_constant(patterns.raters, false);
  for (int j = 0; j < patterns.raters; ++j) {
    if (only_category[j] <= 0) continue;
    double chance_probability = 0;
    for (const double p : share) chance_probability += std::pow(p, n_ratings[j]);
    is_constant[j] = chance_probability <= max_chance_probability;
  }
  return is_constant;
}

}  // namespace fallible
