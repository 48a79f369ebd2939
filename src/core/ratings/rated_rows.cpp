#include "rated_rows.hpp"

namespace fallible {

RowGroups::RowGroups(int patterns, const PatternKey& key) : group_of_pattern_(patterns, -1) {
  std::vector<int> pattern_key;
  keys_.reserve(patterns);
  for (int p = 0; p < patterns; ++p) {
    pattern_key.clear();
    if (key(p, pattern_key))
      group_of_pattern_[p] = keys_.insert(pattern_key.data(), pattern_key.size());
  }
  order_ = keys_.sorted();
  std::vector<int> rank(order_.size());
  for (int i = 0; i < size(); ++i) rank[order_[i]] = i;
  for (int& group : group_of_pattern_) {
    if (group >= 0) group = rank[group];
  }
}

std::vector<double> row_weights(const std::vector<int>& row_of_pattern,
                                const std::vector<double>& weight, int rows) {
  std::vector<double> row_weight(rows, 0.0);
  for (std::size_t p = 0; p < row_of_pattern.size(); ++p) {
    if (row_of_pattern[p] >= 0) row_weight[row_of_pattern[p]] += weight[p];
  }
  return row_weight;
}

void RatedRows::add_row(const int* begin, const int* end) {
  for (const int* entry = begin; entry != end && entry[1] >= 0; entry += 2) {
    judge.push_back(entry[0]);
    category.push_back(entry[1]);
  }
  end_row(judge.size());
}

void RatedRows::add_groups(const RowGroups& groups, int skip,
                           const std::vector<double>& pattern_weight) {
  std::size_t n_answers = judge.size();
  for (int i = 0; i < groups.size(); ++i) {
    n_answers += (groups.end(i) - groups.begin(i) - skip) / 2;
  }
  judge.reserve(n_answers);
  category.reserve(n_answers);
  for (int i = 0; i < groups.size(); ++i) add_row(groups.begin(i) + skip, groups.end(i));
  row_of_pattern = groups.group_of_pattern();
  weight = row_weights(row_of_pattern, pattern_weight, groups.size());
}

}  // namespace fallible
