// Patterns: the distinct rows of ratings and system answers, and the pattern of every case.
//
// Categories, raters and patterns are numbered from 1, as in R, so that R's vectors are used
// without copying. A code below 1 (for example R's missing integer) is a missing rating or answer.
#pragma once

#include <cstddef>
#include <vector>

#include "../base/rows.hpp"

namespace fallible {

// Refers to memory that must outlive it.
struct PatternView {
  int patterns = 0;
  int raters = 0;
  int categories = 0;
  int systems = 0;
  const int* start = nullptr;
  const int* rater = nullptr;
  const int* category = nullptr;
  const int* answer = nullptr;  // patterns x systems, column by column
  const int* kind = nullptr;    // kind of the cases of each pattern, or null; patterns of different
                                // kinds may have the same ratings and answers
  int levels = 0;               // number of levels of confidence
  const int* level =
      nullptr;  // level of each rating, from 1, 0 for none; null if no rating has one
  // Raters who abstained on the cases of pattern p: abstained[abstained_start[p]] and following.
  // Null if abstentions are not modelled.
  const int* abstained_start = nullptr;
  const int* abstained = nullptr;

  // Positions of the ratings of a pattern.
  Places places(int pattern) const { return {start[pattern], start[pattern + 1]}; }
  Places abstentions(int pattern) const {
    if (abstained_start == nullptr) return {0, 0};
    return {abstained_start[pattern], abstained_start[pattern + 1]};
  }
  int answer_of(int pattern, int system) const {
    return answer[static_cast<std::size_t>(system) * patterns + pattern];
  }
};

struct Patterns : Ragged {
  std::vector<int> rater;
  std::vector<int> category;
  std::vector<int> answer;  // patterns x systems, column by column
  std::vector<int> index;   // pattern of each case, from 1

  PatternView view(int raters, int categories, int systems) const;
};

// Collects cases, one case at a time.
class PatternBuilder {
 public:
  explicit PatternBuilder(int systems) : systems_(systems), answers_(systems) {}

  // rate() and answer() describe one case: first its ratings in any order, then its answers.
  // finish_case() returns its pattern, from 1.
  void rate(int rater, int category) {
    if (category >= 1) ratings_.push_back({rater, category});
  }
  void answer(int system, int category) { answers_[system] = category; }
  int finish_case();

  // The patterns so far, without the index of cases.
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

// Input: one column of category codes per rater and per system.
Patterns patterns_from_wide(const Columns& raters, const Columns& systems, std::size_t cases);

// Input: one entry per rating, in any order; `which_case` is from 1.
Patterns patterns_from_long(const int* which_case, const int* rater, const int* category,
                            std::size_t ratings, const Columns& systems, std::size_t cases);

// Input: one column of counts per category. The ratings of a case become numbered slots, which
// replace raters in models with exchangeable raters.
Patterns patterns_from_counts(const Columns& categories, const Columns& systems, std::size_t cases);

// Patterns of the cases in `index` if only some raters remain. `new_rater[j]` is the new number of
// rater j + 1, or 0 for a rater who is dropped.
Patterns patterns_subset(const PatternView& x, const int* index, std::size_t cases,
                         const int* new_rater);

// Patterns in an order that does not depend on the order of cases. Patterns that are equal
// otherwise are ordered by `truth` (a number per pattern, or empty) and by their kinds.
std::vector<int> canonical_order(const PatternView& x, const std::vector<int>& truth = {});

// True if there is information about the true category of a pattern's cases: a rating or the truth.
bool is_judged(const PatternView& patterns, const std::vector<int>& truth, int pattern);

// Total weight of the cases of each pattern. Every case has weight 1 if `weight` is null.
std::vector<double> pattern_weights(const int* index, const double* weight, std::size_t cases,
                                    int patterns);

// Numbers the pairs of an index and a code from 1, in order of first appearance. Both are from 1;
// codes are at most `codes`. `size` is the number of cases.
void split(const int* index, const int* code, int codes, std::size_t size, int* out);

}  // namespace fallible
