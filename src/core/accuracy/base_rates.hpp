// Range of the accuracy of a system over all base rates that the ratings allow. Ratings may allow
// many: raters who nearly always give one category agree nearly always, whatever the truth.
#pragma once

#include <utility>
#include <vector>

#include "../ratings/patterns.hpp"

namespace fallible {

// The category that raters use most, its share of all ratings, and the kappa of this category
// against all others, in [0, 1]. Kappa is NaN if no case has two ratings or one category has all.
struct Lean {
  int category = 0;
  double share = 0, kappa = 0;
};

// All leading categories; there are several if they tie. `weight` has one entry per pattern.
std::vector<Lean> rater_leans(const PatternView& patterns, const std::vector<double>& weight);

// Lowest and highest base rate of the category at which raters would have this share and kappa.
// Raters have the same sensitivity and specificity and are independent given the truth.
std::pair<double, double> possible_base_rates(double share, double kappa);

// Difference between the highest and the lowest accuracy of a system over these base rates. The
// system gives the category in the share `answers` of its cases and is independent of the raters
// given the truth. `covariance`: between the indicator of this answer and the share of a case's
// ratings in the category.
double base_rate_range(double share, double kappa, double answers, double covariance);

// The same difference for a system, over cases with a rating. Returns the maximum over `leans`,
// which may be computed from more cases. NaN if kappa or the answers are unknown.
double base_rate_range(const PatternView& patterns, const std::vector<double>& weight, int system,
                       const std::vector<Lean>& leans);

}  // namespace fallible
