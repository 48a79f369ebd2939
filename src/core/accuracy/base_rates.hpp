// Range of the accuracy of a system over all base rates that are compatible with the ratings. Many
// base rates may be compatible. For example, raters who nearly always give the same category agree
// nearly always, whatever the truth is.
#pragma once

#include <utility>
#include <vector>

#include "../ratings/patterns.hpp"

namespace fallible {

// A category that raters use most often. `category`: its number, from 1. `share`: its share of all
// ratings. `kappa`: kappa of this category against all others, in [0, 1]; NaN if no case has two
// ratings or all ratings are this category. `agreement_z`: agreement on all categories, compared
// with chance: observed minus expected share of equal pairs of ratings, divided by its standard
// error if raters are independent (Fleiss 1971). It is the same for all leading categories.
struct LeadingCategory {
  int category = 0;
  double share = 0, kappa = 0, agreement_z = 0;
};

// True if agreement may be chance (one-sided test at level .05). False if no case has two ratings.
bool may_agree_by_chance(const std::vector<LeadingCategory>& leading);

// Returns the category that raters use most often, or several if they have the same share.
// `weight`: weight of each pattern.
std::vector<LeadingCategory> leading_categories(const PatternView& patterns,
                                                const std::vector<double>& weight);

// Lowest and highest base rate of a category with which raters could have produced this share and
// kappa (see LeadingCategory). Assumes that raters have equal sensitivity and specificity, and are
// independent given the truth.
std::pair<double, double> possible_base_rates(double share, double kappa);

// Highest minus lowest accuracy of a system over the base rates in possible_base_rates(). Assumes
// that the system is independent of the raters given the truth. `answer_share`: share of the
// system's answers that are the category. `covariance`: covariance over cases of two quantities.
// One is 1 if the answer is the category, else 0; the other is the category's share of the ratings.
double base_rate_range(double share, double kappa, double answer_share, double covariance);

// The same difference, computed from the cases that have a rating and an answer of the system.
// Returns the maximum over the categories in `leading`, which may be computed from more cases. NaN
// if kappa or the answers are unknown.
double base_rate_range(const PatternView& patterns, const std::vector<double>& weight, int system,
                       const std::vector<LeadingCategory>& leading);

}  // namespace fallible
