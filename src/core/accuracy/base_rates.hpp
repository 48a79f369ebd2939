// Range of the accuracy of a system over all base rates that are compatible with the ratings. Many
// base rates may be compatible. For example, raters who nearly always give the same category agree
// nearly always, whatever the truth is.
#pragma once

#include <utility>
#include <vector>

#include "../ratings/patterns.hpp"

namespace fallible {

// The category that raters use most often. If several categories have the highest share, each of
// them is a leading category.
struct LeadingCategory {
  int category = 0;  // number of the category, from 1
  double share = 0;  // share of the category among all ratings
  // Kappa of this category against all other categories, in [0, 1]. NaN if no case has two ratings,
  // or if all ratings are in this category.
  double kappa = 0;
  // z statistic of the agreement on all categories: observed minus expected share of equal pairs of
  // ratings, divided by the standard error under independence of the raters (Fleiss, 1971). It is
  // the same for all leading categories.
  double agreement_z = 0;
};

// True if the agreement between raters may be due to chance (one-sided test at level .05). False if
// no case has two ratings.
bool may_agree_by_chance(const std::vector<LeadingCategory>& leading);

// Returns the category that raters use most often, or several if they have the same share.
// `weight`: weight of each pattern.
std::vector<LeadingCategory> leading_categories(const PatternView& patterns,
                                                const std::vector<double>& weight);

// Returns the lowest and the highest base rate of a category that are compatible with its `share`
// and `kappa` (see LeadingCategory). Assumes that all raters have the same sensitivity and the same
// specificity, and that raters are independent given the truth.
std::pair<double, double> possible_base_rates(double share, double kappa);

// Returns the highest minus the lowest accuracy of a system over the base rates in
// possible_base_rates(). Assumes that the system is independent of the raters given the truth.
// `answer_share`: share of the category among the system's answers. `covariance`: covariance, over
// cases, between the indicator of an answer in the category and the share of the category among the
// ratings of the case.
double base_rate_range(double share, double kappa, double answer_share, double covariance);

// Computes `answer_share` and `covariance` from the cases that have a rating and an answer of the
// system, and calls the function above for each category in `leading`. Returns the maximum of the
// results. Shares and kappas in `leading` may be computed from more cases, for example from all
// rated cases. NaN if kappa or the answers are unknown.
double base_rate_range(const PatternView& patterns, const std::vector<double>& weight, int system,
                       const std::vector<LeadingCategory>& leading);

}  // namespace fallible
