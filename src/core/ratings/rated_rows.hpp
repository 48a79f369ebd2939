// Patterns reduced to what a model uses. Patterns that are equal in it form one row.
#pragma once

#include <functional>
#include <vector>

#include "../base/rows.hpp"

namespace fallible {

// Fills `key`, which is empty on entry, with the part of the pattern that the model uses. Returns
// false if the pattern belongs to no row.
using PatternKey = std::function<bool(int pattern, std::vector<int>& key)>;

// Distinct keys in lexicographic order, so that nothing depends on the order of cases.
class RowGroups {
 public:
  RowGroups(int patterns, const PatternKey& key);

  int size() const { return keys_.size(); }
  const int* begin(int i) const { return keys_.row(order_[i]); }
  const int* end(int i) const { return begin(i) + keys_.length(order_[i]); }
  // Number of each group in the order of first occurrence.
  const std::vector<int>& first_seen() const { return order_; }
  // Group of each pattern, -1 for none.
  const std::vector<int>& of_pattern() const { return of_pattern_; }

 private:
  RowSet keys_;
  std::vector<int> order_, of_pattern_;
};

// Sums the weights of patterns by row. `rows` is the number of rows.
std::vector<double> row_weights(const std::vector<int>& of_pattern,
                                const std::vector<double>& weight, int rows);

// Rows of answers by judges. Judges are raters or systems.
struct RatedRows : Ragged {
  int judges = 0;
  int categories = 0;
  int levels = 0;          // number of levels of confidence, 0 for none
  std::vector<int> judge;  // from 0, ascending within a row
  // From 0. An answer with level l of confidence has the code category + l x `categories`.
  std::vector<int> category;
  std::vector<double> weight;   // total weight of the cases
  std::vector<int> of_pattern;  // row of each pattern, from 0; -1 is none

  int size() const { return static_cast<int>(weight.size()); }
  // Number of different answers: each category without a level and with each level.
  int symbols() const { return categories * (levels + 1); }
  int answer(int at) const { return category[at] % categories; }
  // Index of the answer at a position in an array of judges x symbols.
  std::size_t rating(int at) const {
    return static_cast<std::size_t>(judge[at]) * symbols() + category[at];
  }

  // Adds a row from pairs of judge and category. A category below 0 ends the row.
  void add_row(const int* begin, const int* end);
  // Adds one row per group. The answers of a group follow `skip` other numbers.
  void add_groups(const RowGroups& groups, int skip, const std::vector<double>& pattern_weight);
};

}  // namespace fallible
