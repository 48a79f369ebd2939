// Tallies: what is left of patterns when raters are exchangeable, as they are in the K-model.
//
// Cases with the same number of ratings per category, the same agreeing and comparable rater pairs
// and the same system answers are one tally. A million cases of five raters and five categories
// are at most 126 x 5 tallies.
#pragma once

#include <vector>

#include "patterns.hpp"

namespace fallible {

constexpr int max_ratings_per_case = 46340;  // whose pairs an integer can count

// Rows have a place for each category that occurs.
struct Tallies : Ragged {
  int categories = 0;
  int systems = 0;
  std::vector<int> category;  // from 0, ascending within a tally
  std::vector<int> count;
  std::vector<int> ratings;      // all ratings
  std::vector<double> pairs;     // pairs of ratings by different raters
  std::vector<double> agreeing;  // those of them that agree
  std::vector<int> answer;       // tallies x systems, row by row; from 0, -1 is none
  std::vector<double> weight;    // total weight of the cases
  std::vector<int> of_pattern;   // tally of each pattern, from 0

  int size() const { return static_cast<int>(ratings.size()); }
  int answer_of(int i, int system) const {
    return answer[static_cast<std::size_t>(i) * systems + system];
  }
};

// Tallies come in an order of their own, so that nothing depends on the order of cases, raters or
// patterns, not even the bootstrap's draws. `weight` has one entry per pattern.
Tallies make_tallies(const PatternView& patterns, const std::vector<double>& weight);

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
