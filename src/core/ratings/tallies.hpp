// Tallies: a summary of patterns for models in which raters are exchangeable, for example the
// K-model of Lehner (2015).
//
// A tally is the number of ratings of each category, the number of pairs of ratings by different
// raters, the number of agreeing pairs, and the system answers. Cases with the same tally are
// equivalent. There are far fewer tallies than patterns: complete ratings by five raters with five
// categories, and the answers of one system, give at most 126 x 5 tallies.
#pragma once

#include <vector>

#include "../base/matrix.hpp"
#include "patterns.hpp"

namespace fallible {

// Highest number of ratings of a case for which the number of pairs of ratings fits an int.
constexpr int max_ratings_per_case = 46340;

// All tallies of a data set. Row i of `category` and `count` has one entry for each category that a
// rater chose in the cases of tally i.
struct Tallies : Ragged {
  int categories = 0;
  int systems = 0;
  std::vector<int> category;  // from 0, ascending within a tally
  // Number of ratings of a case that chose the category.
  std::vector<int> count;
  std::vector<int> ratings;      // number of ratings of a case
  std::vector<double> pairs;     // number of pairs of ratings of a case by different raters
  std::vector<double> agreeing;  // number of these pairs with equal categories
  std::vector<int> answer;       // tallies x systems, row by row; categories from 0, -1 if missing
  std::vector<double> weight;    // total weight of the cases of each tally
  std::vector<int> tally_of_pattern;  // tally of each pattern, from 0

  int size() const { return static_cast<int>(ratings.size()); }
  int answer_of(int i, int system) const { return row_of(answer, i, systems)[system]; }
};

// Combines patterns into tallies. The order of the tallies does not depend on the order of cases,
// raters or patterns. Therefore bootstrap draws do not depend on these orders either. `weight`:
// weight of each pattern.
Tallies make_tallies(const PatternView& patterns, const std::vector<double>& weight);

// The general form of kappa: (agreement - agreement by chance) / (1 - agreement by chance).
inline double chance_corrected(double observed, double expected) {
  return (observed - expected) / (1 - expected);
}

// Agreement of each pair of judges.
struct PairCounts {
  int judges = 0;                // number of judges, including systems
  std::vector<double> pairs;     // judges x judges: weight of the cases that both answered
  std::vector<double> agreeing;  // judges x judges: weight of the cases with equal answers
};

// Counts the common cases and equal answers of each pair of judges. Judges are groups of one or
// more raters, followed by systems. `judge_of[j]`: judge of rater j + 1, from 1, or 0 to leave the
// rater out. Ratings by the same judge are not compared with each other. `judges`: number of judges
// without the systems.
PairCounts pair_counts(const PatternView& patterns, const std::vector<double>& weight,
                       const int* judge_of, int judges);

// Agreement of each rater with the other raters.
struct RaterCounts {
  std::vector<double> ratings;  // weight of the ratings of each rater
  // Weight of the pairs of a rating by this rater and a rating of the same case by another rater.
  std::vector<double> pairs;
  std::vector<double> agreeing;  // pairs with equal categories
};

// Compares the ratings of each rater with all ratings of the same case by other raters. Time is
// proportional to the number of ratings, not of pairs.
RaterCounts rater_counts(const PatternView& patterns, const std::vector<double>& weight);

}  // namespace fallible
