// Rows: patterns reduced to the parts that a model uses. For example, a model without systems does
// not use system answers. Patterns that agree in the used parts form one row, so there is less to
// compute.
#pragma once

#include <functional>
#include <vector>

#include "../base/rows.hpp"

namespace fallible {

// Function that selects the parts of a pattern that the model uses. Appends them to `key`, which is
// empty. Returns false if the model does not use the pattern at all.
using PatternKey = std::function<bool(int pattern, std::vector<int>& key)>;

// Groups patterns with equal keys. Groups are in lexicographic order of the keys, so results do not
// depend on the order of cases.
class RowGroups {
 public:
  RowGroups(int patterns, const PatternKey& key);

  int size() const { return keys_.size(); }
  const int* begin(int i) const { return keys_.row(order_[i]); }
  const int* end(int i) const { return begin(i) + keys_.length(order_[i]); }
  // For each group, its number if groups are counted in the order of their first pattern.
  const std::vector<int>& first_seen() const { return order_; }
  // Group of each pattern, from 0; -1 for a pattern that the model does not use.
  const std::vector<int>& of_pattern() const { return of_pattern_; }

 private:
  RowSet keys_;
  std::vector<int> order_, of_pattern_;
};

// Returns the total weight of the patterns of each row. `of_pattern`: row of each pattern, or -1.
// `rows`: number of rows.
std::vector<double> row_weights(const std::vector<int>& of_pattern,
                                const std::vector<double>& weight, int rows);

// Answers of judges, one row per distinct combination. A judge is a rater or a system. The answers
// of row i have the positions start[i] ... start[i + 1] - 1 in `judge` and `category`.
struct RatedRows : Ragged {
  int judges = 0;
  int categories = 0;
  int levels = 0;          // number of confidence levels; 0 if answers have none
  std::vector<int> judge;  // judge of each answer, from 0; ascending within a row
  // Code of each answer, from 0: its category + (confidence level) x `categories`. The level is 0
  // for answers without a level.
  std::vector<int> category;
  std::vector<double> weight;   // total weight of the cases of each row
  std::vector<int> of_pattern;  // row of each pattern, from 0; -1 for a pattern without a row

  int size() const { return static_cast<int>(weight.size()); }
  // Number of possible codes of an answer: each category without a level, and with each level.
  int answer_codes() const { return categories * (levels + 1); }
  int answer(int at) const { return category[at] % categories; }
  // The answer at position `at`, as an index into arrays of judges x answer codes.
  std::size_t rating(int at) const {
    return static_cast<std::size_t>(judge[at]) * answer_codes() + category[at];
  }

  // Appends a row. Its answers are given as numbers judge, category, judge, category, ... from
  // `begin` to `end`. A category below 0 marks the end of a shorter row.
  void add_row(const int* begin, const int* end);
  // Appends one row per group of patterns. In the key of a group, `skip` numbers that are not
  // answers precede the answers. Sets `of_pattern` and `weight`.
  void add_groups(const RowGroups& groups, int skip, const std::vector<double>& pattern_weight);
};

}  // namespace fallible
