// Names of classes, and association between raters, without which classes have no meaning.
#pragma once

#include <cmath>
#include <vector>

#include "latent_rows.hpp"

namespace fallible {

// Total weight of the ratings of each judge.
std::vector<double> ratings_by_judge(const LatentRows& rows);

// The name of each class. Among all permutations, chooses the highest sum of the diagonals of the
// judges' matrices (truths x ratings), weighted by `weight`. Most ratings then agree with the name
// of the true class. Keeps the old names if no permutation is better.
std::vector<int> names_by_majority(const std::vector<double>& matrices,
                                   const std::vector<double>& weight, int categories);

// Association of the answers of two raters to the same cases, compared with independence given
// their margins. Sums over all pairs.
struct Association {
  double excess = 0;     // agreement beyond chance, in cases
  double statistic = 0;  // chi-square statistic, unbiased if raters are independent
  double df = 0;

  // True if raters agree beyond chance or depend on each other. `kappa` is Fleiss' kappa. It does
  // not need pairs of raters with several common cases.
  bool informative(double kappa) const { return excess > 1e-9 || statistic > df || kappa > 1e-9; }
};

Association association(const LatentRows& rows);

// Association of replies, which are answers or abstentions: agreement of answers beyond the
// expectation from the reply frequencies of each judge. It is a score test of dependence on a
// common truth.
struct ReplyAssociation {
  double by_chance = 0;  // probability that two answers of the panel are equal; 0 if all are
  double excess = 0, variance = 0;
  int pairs = 0;  // pairs of judges who replied to the same cases

  double z() const { return variance > 0 ? excess / std::sqrt(variance) : 0; }
};

ReplyAssociation reply_association(const LatentRows& rows);

}  // namespace fallible
