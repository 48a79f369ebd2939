// Which class is which, and is there anything to name: what raters have to do with each other.
#pragma once

#include <cmath>
#include <vector>

#include "latent_rows.hpp"

namespace fallible {

// Total weight of the ratings of each judge.
std::vector<double> ratings_by_judge(const LatentRows& rows);

// The name of each class under which the majority of ratings is informative in the sense of its
// name: of all permutations the one with the highest sum of diagonals, each judge's matrix (truths
// x ratings) with its weight. Names as they are if none is better.
std::vector<int> names_by_majority(const std::vector<double>& matrices,
                                   const std::vector<double>& weight, int categories);

// What answers two raters give to the same cases against what they would give by chance, each with
// its own margins: over all pairs.
struct Association {
  double excess = 0;     // agreement beyond that by chance, in cases
  double statistic = 0;  // chi-square, unbiased if raters are independent
  double df = 0;

  // Do raters agree, or depend on each other? `kappa` is Fleiss' kappa, which needs no pair of
  // raters with several common cases.
  bool informative(double kappa) const { return excess > 1e-9 || statistic > df || kappa > 1e-9; }
};

Association association(const LatentRows& rows);

// The same of replies, of which abstaining is one: agreement of answers beyond what is expected
// from how often each judge answers and abstains. A score test of dependence on a common truth.
struct ReplyAssociation {
  double by_chance = 0;  // probability that two answers of the panel are equal; 0 if all are
  double excess = 0, variance = 0;
  int pairs = 0;  // of judges who replied to the same cases

  double z() const { return variance > 0 ? excess / std::sqrt(variance) : 0; }
};

ReplyAssociation reply_association(const LatentRows& rows);

}  // namespace fallible
