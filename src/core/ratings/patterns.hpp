// A pattern is a distinct combination of ratings and system answers. All cases with the same
// pattern are equivalent in every model, so most computations loop over patterns instead of cases.
//
// Categories, raters and patterns are numbered from 1, as in R. The core can therefore use R's
// vectors without copying them. A category code below 1 (for example R's missing integer) is a
// missing rating or answer.
#pragma once

#include <cstddef>
#include <vector>

#include "../base/rows.hpp"

namespace fallible {

// Refers to the arrays of a set of patterns. The arrays must exist longer than the view. The
// ratings of pattern p have the positions start[p] ... start[p + 1] - 1 in `rater`, `category` and
// `level`.
struct PatternView {
  int patterns = 0;
  int raters = 0;
  int categories = 0;
  int systems = 0;
  const int* start = nullptr;
  const int* rater = nullptr;
  const int* category = nullptr;
  const int* answer = nullptr;  // answers of systems: patterns x systems, column by column
  // Null, unless patterns are split by properties of their cases, for example covariates. Then the
  // index of each pattern's combination of properties. Patterns with different indices may have the
  // same ratings and answers.
  const int* kind = nullptr;
  int levels = 0;  // number of confidence levels that raters can choose from
  // Confidence level of each rating, from 1; 0 for a rating without level. Null if no rating has a
  // level.
  const int* level = nullptr;
  // The raters who abstained on pattern p are abstained[abstained_start[p]] ...
  // abstained[abstained_start[p + 1] - 1]. Both pointers are null if the model does not use
  // abstentions.
  const int* abstained_start = nullptr;
  const int* abstained = nullptr;

  // Positions of the ratings of a pattern in `rater`, `category` and `level`.
  Positions positions(int pattern) const { return {start[pattern], start[pattern + 1]}; }
  // Positions in `abstained` of the raters who abstained on a pattern.
  Positions abstentions(int pattern) const {
    if (abstained_start == nullptr) return {0, 0};
    return {abstained_start[pattern], abstained_start[pattern + 1]};
  }
  // Category code of a system's answer.
  int answer_of(int pattern, int system) const {
    return answer[static_cast<std::size_t>(system) * patterns + pattern];
  }
};

// Distinct patterns of a data set, and the pattern of each case. The ratings of pattern p have the
// positions start[p] ... start[p + 1] - 1 in `rater` and `category`.
struct Patterns : Ragged {
  std::vector<int> rater;
  std::vector<int> category;
  std::vector<int> answer;  // answers of systems: patterns x systems, column by column
  std::vector<int> index;   // pattern of each case, from 1

  PatternView view(int raters, int categories, int systems) const;
};

// Builds patterns from cases that are given one after the other.
class PatternBuilder {
 public:
  explicit PatternBuilder(int systems) : systems_(systems), answers_(systems) {}

  // For each case, call rate() for each rating in any order, answer() for each system that
  // answered, and then finish_case(). finish_case() returns the number of the case's pattern, from
  // 1.
  void rate(int rater, int category) {
    if (category >= 1) ratings_.push_back({rater, category});
  }
  void answer(int system, int category) { answers_[system] = category; }
  int finish_case();

  // Returns the patterns of all finished cases. Leaves the field `index` empty, because
  // finish_case() has returned the pattern of each case.
  Patterns patterns() const;

 private:
  struct Rating {
    int rater;
    int category;
  };
  int systems_;
  std::vector<Rating> ratings_;
  std::vector<int> answers_;
  std::vector<int> row_;
  RowSet rows_;
};

using Columns = std::vector<const int*>;

// Input in wide format: one column per rater and per system, with the category codes of all cases.
Patterns patterns_from_wide(const Columns& raters, const Columns& systems, std::size_t cases);

// Input in long format: one entry per rating, in any order. `which_case`: case of each rating, from
// 1. `ratings`, `cases`: numbers of ratings and cases.
Patterns patterns_from_long(const int* which_case, const int* rater, const int* category,
                            std::size_t ratings, const Columns& systems, std::size_t cases);

// Input as counts: one column per category, with the number of ratings of each case that chose it.
// Raters are unknown, so the ratings of a case get numbers 1, 2, ... instead of rater numbers.
// Models in which all raters are exchangeable need no rater numbers.
Patterns patterns_from_counts(const Columns& categories, const Columns& systems, std::size_t cases);

// Returns the patterns of a subset of the cases and raters. `index`: old pattern of each case in
// the subset, from 1. `new_rater[j]`: new number of rater j + 1, or 0 if the rater is dropped.
Patterns patterns_subset(const PatternView& x, const int* index, std::size_t cases,
                         const int* new_rater);

// Returns the indices of the patterns (from 0) in an order that does not depend on the order of
// cases. Sorts by truth, `kind`, answers and ratings (with their confidence levels). `truth`: known
// true category of each pattern (0 if unknown), or empty if no truth is known. Throws an error if
// two patterns have the same truth, `kind`, answers and ratings.
std::vector<int> canonical_order(const PatternView& x, const std::vector<int>& truth = {});

// True if the true category of the pattern's cases is known or can be estimated because the pattern
// has a rating. `truth`: see canonical_order().
bool has_truth_information(const PatternView& patterns, const std::vector<int>& truth, int pattern);

// Returns the total weight of the cases of each pattern. `index`: pattern of each case. If `weight`
// is null, every case has weight 1 and the totals are numbers of cases.
std::vector<double> pattern_weights(const int* index, const double* weight, std::size_t cases,
                                    int patterns);

// Numbers the distinct pairs (index[i], code[i]) from 1, in order of first appearance. Writes the
// number of the pair (index[i], code[i]) to number[i]. All elements of `index` and `code` are at
// least 1. `codes`: upper limit of the codes. `size`: number of elements of each array. Used to
// split patterns by a property of their cases.
void number_pairs(const int* index, const int* code, int codes, std::size_t size, int* number);

}  // namespace fallible
