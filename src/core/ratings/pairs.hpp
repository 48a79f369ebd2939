// Agreement between raters, and between systems and raters, pair by pair.
#pragma once

#include <vector>

#include "patterns.hpp"

namespace fallible {

// The form of all kappas: agreement beyond what is expected by chance, as a share of what could be.
inline double chance_corrected(double observed, double expected) {
  return (observed - expected) / (1 - expected);
}

struct PairCounts {
  int judges = 0;
  std::vector<double> pairs;     // judges x judges: weight of the pairs of ratings that both gave
  std::vector<double> agreeing;  // those of them that agree
};

// All pairs of judges, raters first, then systems. `judge_of[j]` is the judge (from 1) of rater j +
// 1, or 0 for a rater who is left out; pass every rater the same judge for "any rater". Ratings of
// one judge are not compared with each other.
PairCounts pair_counts(const PatternView& patterns, const std::vector<double>& weight,
                       const int* judge_of, int judges);

struct RaterCounts {
  std::vector<double> ratings;   // per rater
  std::vector<double> pairs;     // with any other rater
  std::vector<double> agreeing;  // those of them that agree
};

// Each rater against all others, in time proportional to the ratings.
RaterCounts rater_counts(const PatternView& patterns, const std::vector<double>& weight);

}  // namespace fallible
