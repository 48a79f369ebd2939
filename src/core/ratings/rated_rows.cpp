#include "rated_rows.hpp"

namespace fallible {

RowGroups::RowGroups(int patterns, const PatternKey& key) : of_pattern_(patterns, -1) {
  std::vector<int> row;
  keys_.reserve(patterns);
  for (int p = 0; p < patterns; ++p) {
    row.clear();
    if (key(p, row)) of_pattern_[p] = keys_.insert(row.data(), row.size());
  }
  order_ = keys_.sorted();
  std::vector<int> rank(order_.size());
  for (int i = 0; i < size(); ++i) rank[order_[i]] = i;
  for (int& group : of_pattern_) {
    if (group >= 0) group = rank[group];
  }
}

std::vector<double> row_weights(const std::vector<int>& of_pattern,
                                const std::vector<double>& weight, int rows) {
  std::vector<double> out(rows, 0.0);
  for (std::size_t p = 0; p < of_pattern.size(); ++p) {
    if (of_pattern[p] >= 0) out[of_pattern[p]] += weight[p];
  }
  return out;
}

void RatedRows::add_row(const int* begin, const int* end) {
  for (const int* at = begin; at != end && at[1] >= 0; at += 2) {
    judge.push_back(at[0]);
    category.push_back(at[1]);
  }
  end_row(judge.size());
}

void RatedRows::add_groups(const RowGroups& groups, int skip,
                           const std::vector<double>& pattern_weight) {
  std::size_t ratings = judge.size();
  for (int i = 0; i < groups.size(); ++i) {
    ratings += (groups.end(i) - groups.begin(i) - skip) / 2;
  }
  judge.reserve(ratings);
  category.reserve(ratings);
  for (int i = 0; i < groups.size(); ++i) add_row(groups.begin(i) + skip, groups.end(i));
  of_pattern = groups.of_pattern();
  weight = row_weights(of_pattern, pattern_weight, groups.size());
}

}  // namespace fallible
