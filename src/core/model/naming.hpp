// Names of latent classes: assigns a category to each class. Names are meaningful only if raters
// agree beyond chance, so this file also measures the association between raters.
#pragma once

#include <cmath>
#include <vector>

#include "latent_rows.hpp"

namespace fallible {

// Total weight of the ratings of each judge. In data without weights it is the number of ratings.
std::vector<double> ratings_by_judge(const LatentRows& rows);

// Returns the category that is the name of each class. `matrices`: judges x truths x ratings.
// `weight`: one weight per judge, for example the number of ratings. Chooses the names with the
// highest weighted sum of diagonal entries. If other names increase this sum only by a rounding
// error, class k keeps the name k.
std::vector<int> names_by_majority(const std::vector<double>& matrices,
                                   const std::vector<double>& weight, int categories);

// Association between the answers of two raters to the same cases, summed over all pairs of raters.
// Expected values assume that the two raters are independent, and that each rater keeps the
// observed frequencies of categories.
struct Association {
  double excess = 0;     // number of agreeing cases minus the number expected by chance
  double statistic = 0;  // chi-square statistic; its expectation is `df` if raters are independent
  double df = 0;

  // True if raters agree beyond chance, or if the chi-square statistic is above its expectation. If
  // neither is true, the ratings contain no information about the names of the classes.
  bool informative() const { return excess > 1e-9 || statistic > df; }
};

// Sums the association between the answers of two judges over all pairs of judges. In rows with
// over 100 answers, only the 100 judges with the most ratings are used.
Association association(const LatentRows& rows);

// Score test of the null hypothesis that the replies (answers and abstentions) of different judges
// are independent. Under the alternative, replies depend on a common truth. The statistic is the
// sum of the agreement weights of all pairs of replies to the same case. The weight is
// 1 - `chance_agreement` for equal answers, -`chance_agreement` for different answers, and 0 for a
// pair with an abstention.
struct ReplyAssociation {
  // Probability that two random answers are equal. It is set to 0 if all answers are in one
  // category, because otherwise all agreement weights would be 0.
  double chance_agreement = 0;
  double excess = 0;    // sum of agreement weights, minus its expectation if judges are independent
  double variance = 0;  // variance of `excess` if judges are independent
  int pairs = 0;        // number of pairs of judges who replied to the same cases

  double z() const { return variance > 0 ? excess / std::sqrt(variance) : 0; }
};

ReplyAssociation reply_association(const LatentRows& rows);

}  // namespace fallible
