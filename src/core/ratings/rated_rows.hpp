// Patterns of which only some things matter: those in which these are the same are one row.
#pragma once

#include <functional>
#include <vector>

#include "../base/rows.hpp"

namespace fallible {

// Appends to an empty `key` what matters of a pattern; false if the pattern belongs nowhere.
using PatternKey = std::function<bool(int pattern, std::vector<int>& key)>;

// Distinct keys, in an order of their own: nothing depends on the order of cases.
class RowGroups {
 public:
  RowGroups(int patterns, const PatternKey& key);

  int size() const { return keys_.size(); }
  const int* begin(int i) const { return keys_.row(order_[i]); }
  const int* end(int i) const { return begin(i) + keys_.length(order_[i]); }
  // A number for each group: its place among all in the order in which they first occur.
  const std::vector<int>& first_seen() const { return order_; }
  // Group of each pattern, -1 where it has none.
  const std::vector<int>& of_pattern() const { return of_pattern_; }

 private:
  RowSet keys_;
  std::vector<int> order_, of_pattern_;
};

// Sums by row of the weights of patterns; `rows` of them.
std::vector<double> row_weights(const std::vector<int>& of_pattern,
                                const std::vector<double>& weight, int rows);

// Rows of answers by judges, which are raters or systems.
struct RatedRows : Ragged {
  int judges = 0;
  int categories = 0;
  int levels = 0;               // of confidence in an answer, where there is any
  std::vector<int> judge;       // from 0, ascending within a row
  std::vector<int> category;    // from 0; with level l of confidence, from 1, l times as many more
  std::vector<double> weight;   // total weight of the cases
  std::vector<int> of_pattern;  // row of each pattern, from 0; -1 is none

  int size() const { return static_cast<int>(weight.size()); }
  // Different things that a judge can say: a category without a level, or with each of them.
  int symbols() const { return categories * (levels + 1); }
  int answer(int at) const { return category[at] % categories; }
  // Of judges x symbols, the one at a place.
  std::size_t rating(int at) const {
    return static_cast<std::size_t>(judge[at]) * symbols() + category[at];
  }

  // A row of such answers: judge and category, then the next. A category below 0 is no answer and
  // ends them.
  void add_row(const int* begin, const int* end);
  // One row for each group, whose answers stand behind `skip` other numbers.
  void add_groups(const RowGroups& groups, int skip, const std::vector<double>& pattern_weight);
};

}  // namespace fallible
