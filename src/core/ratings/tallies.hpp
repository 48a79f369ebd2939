// Tallies: the information in patterns if raters are exchangeable, as in the K-model.
//
// Cases form one tally if these are equal: ratings per category, agreeing pairs, comparable pairs
// of raters, and system answers. A million cases of five raters and five categories form at most
// 126 x 5 tallies.
#pragma once

#include <vector>

#include "patterns.hpp"

namespace fallible {

constexpr int max_ratings_per_case = 46340;  // the number of their pairs still fits an int

// A row has one entry for each category that occurs.
struct Tallies : Ragged {
  int categories = 0;
  int systems = 0;
  std::vector<int> category;  // from 0, ascending within a tally
  std::vector<int> count;
  std::vector<int> ratings;      // all ratings
  std::vector<double> pairs;     // pairs of ratings by different raters
  std::vector<double> agreeing;  // pairs that agree
  std::vector<int> answer;       // tallies x systems, row by row; from 0, -1 is none
  std::vector<double> weight;    // total weight of the cases
  std::vector<int> of_pattern;   // tally of each pattern, from 0

  int size() const { return static_cast<int>(ratings.size()); }
  int answer_of(int i, int system) const {
    return answer[static_cast<std::size_t>(i) * systems + system];
  }
};

// Tallies are in an order that does not depend on the order of cases, raters or patterns. Therefore
// the draws of the bootstrap do not depend on it either. `weight` has one entry per pattern.
Tallies make_tallies(const PatternView& patterns, const std::vector<double>& weight);

// The general form of kappa: agreement beyond chance, divided by its maximum.
inline double chance_corrected(double observed, double expected) {
  return (observed - expected) / (1 - expected);
}

struct PairCounts {
  int judges = 0;
  std::vector<double> pairs;     // judges x judges: weight of the pairs of ratings
  std::vector<double> agreeing;  // pairs that agree
};

// Counts of all pairs of judges, first raters, then systems. `judge_of[j]` is the judge (from 1) of
// rater j + 1, or 0 for a rater who is left out. If all raters are the same judge, the judge stands
// for "any rater". Ratings of one judge are not compared with each other.
PairCounts pair_counts(const PatternView& patterns, const std::vector<double>& weight,
                       const int* judge_of, int judges);

struct RaterCounts {
  std::vector<double> ratings;   // per rater
  std::vector<double> pairs;     // pairs with a rating by another rater
  std::vector<double> agreeing;  // pairs that agree
};

// Compares each rater with all others, in time proportional to the number of ratings.
RaterCounts rater_counts(const PatternView& patterns, const std::vector<double>& weight);

}  // namespace fallible
