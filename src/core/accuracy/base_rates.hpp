// What ratings say of a system without belief in any base rate: raters who nearly always say the
// same agree nearly always, whatever the truth.
#pragma once

#include <utility>
#include <vector>

#include "../ratings/patterns.hpp"

namespace fallible {

// The category that raters use most, its share of all ratings, and the kappa of that category
// against all others, in [0, 1]; NaN where no case has two ratings, or one category has all.
struct Lean {
  int category = 0;
  double share = 0, kappa = 0;
};

// All categories that lead, which are several where they tie. `weight` has an entry per pattern.
std::vector<Lean> rater_leans(const PatternView& patterns, const std::vector<double>& weight);

// Base rates of the category, from lowest to highest, at which raters with one sensitivity and one
// specificity, independent given the truth, would show this.
std::pair<double, double> possible_base_rates(double share, double kappa);

// From the least to the highest accuracy of a system over these base rates. It gives the category
// in the share `answers` of its cases; `covariance` is that of doing so with the share of the
// ratings of a case that do. It is independent of the raters given the truth.
double base_rate_range(double share, double kappa, double answers, double covariance);

// The same for a system, of cases that have a rating; the largest of those of several leans.
// `leans` may be those of more cases. NaN where nothing is known.
double base_rate_range(const PatternView& patterns, const std::vector<double>& weight, int system,
                       const std::vector<Lean>& leans);

}  // namespace fallible
