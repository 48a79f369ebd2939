// Names of latent classes: which class is which category. Names are meaningful only if raters agree
// beyond chance, so this file also measures the association between raters.
#pragma once

#include <cmath>
#include <vector>

#include "latent_rows.hpp"

namespace fallible {

// Total weight of the ratings of each judge. In data without weights it is the number of ratings.
std::vector<double> ratings_by_judge(const LatentRows& rows);

// Returns the category that is the name of each class. Tries all permutations of the names. Chooses
// the one with the highest sum of the diagonals of `matrices` (judges x truths x ratings), weighted
// by `weight` (one per judge). Most ratings then agree with the name of the true class. Keeps the
// old names unless another permutation is better by more than rounding.
std::vector<int> names_by_majority(const std::vector<double>& matrices,
                                   const std::vector<double>& weight, int categories);

// Association between the answers of two raters to the same cases, summed over all pairs of raters.
// The reference is independence of the two raters given their frequencies of categories.
struct Association {
  double excess = 0;     // number of agreeing cases minus the number expected by chance
  double statistic = 0;  // chi-square statistic; its expectation is `df` if raters are independent
  double df = 0;

  // True if raters agree beyond chance or depend on each other in another way. Otherwise classes
  // have no meaning.
  bool informative() const { return excess > 1e-9 || statistic > df; }
};

// Sums the association over all pairs of judges. In rows with over 100 answers, only judges with
// the most ratings are used.
Association association(const LatentRows& rows);

// Score test of dependence on a common truth, from replies of judges. Replies are answers and
// abstentions. `excess`: number of agreeing answers beyond the number expected from the frequencies
// of each judge's replies. `variance`: its variance if judges are independent.
struct ReplyAssociation {
  // Probability that two random answers are equal; 0 if all answers are equal.
  double by_chance = 0;
  double excess = 0, variance = 0;
  int pairs = 0;  // number of pairs of judges who replied to the same cases

  double z() const { return variance > 0 ? excess / std::sqrt(variance) : 0; }
};

ReplyAssociation reply_association(const LatentRows& rows);

}  // namespace fallible
