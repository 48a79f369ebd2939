// Rows of data to which models are fitted. A model may use only some parts of a pattern; for
// example, a model without systems does not use system answers. Patterns whose used parts are equal
// form one row, so that there is less to compute.
#pragma once

#include <functional>
#include <vector>

#include "../base/rows.hpp"

namespace fallible {

// Function that writes the parts of a pattern that the model uses to `key`, which is empty before.
// Returns false if the model does not use the pattern.
using PatternKey = std::function<bool(int pattern, std::vector<int>& key)>;

// Groups patterns with equal keys. Groups are in lexicographic order of the keys, so results do not
// depend on the order of cases.
class RowGroups {
 public:
  RowGroups(int patterns, const PatternKey& key);

  int size() const { return keys_.size(); }
  // The key of group i is the range from begin(i) to end(i).
  const int* begin(int i) const { return keys_.row(order_[i]); }
  const int* end(int i) const { return begin(i) + keys_.length(order_[i]); }
  // Returns, for each group, its position (from 0) if groups are sorted by their first pattern.
  const std::vector<int>& appearance_rank() const { return order_; }
  // Group of each pattern, from 0; -1 for a pattern that the model does not use.
  const std::vector<int>& group_of_pattern() const { return group_of_pattern_; }

 private:
  RowSet keys_;
  std::vector<int> order_, group_of_pattern_;
};

// Returns the total weight of the patterns of each row. `row_of_pattern`: row of each pattern, or
// -1 for a pattern without a row. `weight`: weight of each pattern. `rows`: number of rows.
std::vector<double> row_weights(const std::vector<int>& row_of_pattern,
                                const std::vector<double>& weight, int rows);

// Answers of judges, one row per distinct combination. A judge is a rater or a system. The answers
// of row i have the positions start[i] ... start[i + 1] - 1 in `judge` and `category`.
struct RatedRows : Ragged {
  int judges = 0;
  int categories = 0;
  int levels = 0;          // number of confidence levels; 0 if answers have no level
  std::vector<int> judge;  // judge of each answer, from 0; ascending within a row
  // Code of each answer, from 0: its category + (confidence level) x `categories`. The level is 0
  // for answers without a level.
  std::vector<int> category;
  std::vector<double> weight;       // total weight of the cases of each row
  std::vector<int> row_of_pattern;  // row of each pattern, from 0; -1 for a pattern without a row

  int size() const { return static_cast<int>(weight.size()); }
  // Number of possible codes of an answer: each category without a level, and with each level.
  int answer_codes() const { return categories * (levels + 1); }
  // Category, from 0, of the answer at position `position`.
  int answer(int position) const { return category[position] % categories; }
  // Index of the answer at position `position` in arrays of judges x answer codes.
  std::size_t code_index(int position) const {
    return static_cast<std::size_t>(judge[position]) * answer_codes() + category[position];
  }

  // Appends a row. The range from `begin` to `end` contains its answers: judge, category, judge,
  // category, ... If a category is below 0, the row ends before it.
  void add_row(const int* begin, const int* end);
  // Appends one row per group of patterns. The first `skip` numbers in the key of a group are not
  // answers. Sets `row_of_pattern` and `weight`.
  void add_groups(const RowGroups& groups, int skip, const std::vector<double>& pattern_weight);
};

}  // namespace fallible
