#include "bounds.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "../ratings/rated_rows.hpp"

namespace fallible {

namespace {

constexpr double tie_tolerance = 1e-9;  // probabilities that differ by less count as equal

// Patterns with the same ratings and the same known truth. They may differ in the answers of
// systems. `highest`: probability of the most probable category.
struct Cell {
  double weight = 0, highest = 0;
  std::vector<int> patterns;

  void add(const std::vector<int>& more_patterns) {
    patterns.insert(patterns.end(), more_patterns.begin(), more_patterns.end());
  }
};

// Joins cells with few cases to groups with a weight of at least `size`, in the order of their
// highest probability. Cells with equal highest probability are never separated, so their order
// does not matter. If the last group is too small, it is added to the group before it.
std::vector<Cell> join_small_cells(std::vector<Cell> small_cells, double size) {
  std::sort(small_cells.begin(), small_cells.end(),
            [](const Cell& a, const Cell& b) { return a.highest < b.highest; });
  std::vector<Cell> groups;
  bool is_full = true;
  for (const Cell& cell : small_cells) {
    if (is_full && (groups.empty() || cell.highest - groups.back().highest > tie_tolerance)) {
      groups.emplace_back();
    }
    Cell& last_group = groups.back();
    last_group.highest = cell.highest;
    last_group.weight += cell.weight;
    last_group.add(cell.patterns);
    is_full = last_group.weight >= size;
  }
  if (!is_full && groups.size() > 1) {
    groups[groups.size() - 2].add(groups.back().patterns);
    groups.pop_back();
  }
  return groups;
}

}  // namespace

AccuracyBounds::AccuracyBounds(const PatternView& patterns, const std::vector<int>& truth,
                               const std::vector<double>& weight, const double* posterior,
                               double size)
    : view_(patterns),
      weight_(weight),
      probability_(Eigen::MatrixXd::Map(posterior, patterns.patterns, patterns.categories)),
      group_(patterns.patterns, -1) {
  const RowGroups groups(patterns.patterns, [&](int p, std::vector<int>& key) {
    key.push_back(truth.empty() ? 0 : truth[p]);
    for (const int i : patterns.positions(p)) {
      key.insert(key.end(), {patterns.rater[i], patterns.category[i]});
    }
    return has_truth_information(patterns, truth, p);
  });
  std::vector<Cell> cells(groups.size()), small_cells;
  for (int p = 0; p < patterns.patterns; ++p) {
    if (groups.group_of_pattern()[p] < 0) continue;
    Cell& cell = cells[groups.group_of_pattern()[p]];
    cell.patterns.push_back(p);
    cell.weight += weight_[p];
    cell.highest = std::max(cell.highest, probability_.row(p).maxCoeff());
  }
  // Patterns whose truth is certain. The accuracy of a system is known exactly in these patterns.
  // Joining them to one group therefore does not widen the range.
  Cell certain_patterns;
  const auto make_group = [this](const Cell& cell, bool is_ranked) {
    for (const int p : cell.patterns) group_[p] = groups_;
    is_ranked_.push_back(is_ranked);
    ++groups_;
  };
  for (Cell& cell : cells) {
    if (cell.highest > 1 - tie_tolerance) {
      certain_patterns.add(cell.patterns);
    } else if (cell.weight >= size) {
      make_group(cell, false);
    } else {
      small_cells.push_back(std::move(cell));
    }
  }
  if (!certain_patterns.patterns.empty()) make_group(certain_patterns, true);
  for (const Cell& cell : join_small_cells(std::move(small_cells), size)) make_group(cell, true);
}

// Sums of weights within each group. In the matrices, columns are groups. Rows are categories or,
// in joined groups (see `is_ranked_`), ranks of categories from the most to the least probable one
// in the pattern. `truth` contains the weights of true categories, `answer` and `other_answer` the
// weights of the answers of one or two systems.
struct AccuracyBounds::Sums {
  Eigen::VectorXd weight;
  Eigen::MatrixXd truth, answer = truth, other_answer = truth;

  Sums(int categories, int groups)
      : weight(Eigen::VectorXd::Zero(groups)), truth(Eigen::MatrixXd::Zero(categories, groups)) {}

  // Lowest and highest possible weight of right answers in a group, given the weights of true
  // categories and of answers. In comparisons of two systems, `answers` does not contain cases in
  // which both answers are equal.
  Range range_of_right(const Eigen::MatrixXd& answers, int group) const {
    const auto truth_weight = truth.col(group), answer_weight = answers.col(group);
    return {std::max((truth_weight + answer_weight).maxCoeff() - weight[group], 0.0),
            truth_weight.cwiseMin(answer_weight).sum()};
  }
};

template <class RangeOfGroup>
Range AccuracyBounds::average_over_groups(const Sums& sums,
                                          const RangeOfGroup& range_of_group) const {
  const double total = sums.weight.sum();
  if (!(total > 0)) return {};
  Range mean{0, 0};
  for (int group = 0; group < groups_; ++group) {
    const Range range = range_of_group(group);
    mean.lowest += range.lowest / total;
    mean.highest += range.highest / total;
  }
  return mean;
}

void AccuracyBounds::add_truth(Sums& sums, int pattern) const {
  const int group = group_[pattern];
  Eigen::VectorXd share = probability_.row(pattern);
  if (is_ranked_[group]) {
    std::sort(share.data(), share.data() + share.size(), std::greater<double>());
  }
  sums.weight[group] += weight_[pattern];
  sums.truth.col(group) += weight_[pattern] * share;
}

void AccuracyBounds::add_answer(Eigen::MatrixXd& to, int pattern, int answer) const {
  const int group = group_[pattern];
  if (!is_ranked_[group]) {
    to(answer, group) += weight_[pattern];
    return;
  }
  const auto difference = probability_.row(pattern).array() - probability_(pattern, answer);
  const Eigen::Index above = (difference > tie_tolerance).count(),
                     tied = (difference.abs() <= tie_tolerance).count();
  to.col(group).segment(above, tied).array() += weight_[pattern] / static_cast<double>(tied);
}

Range AccuracyBounds::system(int s) const {
  Sums sums(view_.categories, groups_);
  for (int p = 0; p < view_.patterns; ++p) {
    const int answer = view_.answer_of(p, s);
    if (group_[p] < 0 || answer < 1) continue;
    add_truth(sums, p);
    add_answer(sums.answer, p, answer - 1);
  }
  return average_over_groups(sums, [&](int g) { return sums.range_of_right(sums.answer, g); });
}

Range AccuracyBounds::difference(int a, int b) const {
  Sums sums(view_.categories, groups_);
  for (int p = 0; p < view_.patterns; ++p) {
    const int first_answer = view_.answer_of(p, a), second_answer = view_.answer_of(p, b);
    if (group_[p] < 0 || first_answer < 1 || second_answer < 1) continue;
    add_truth(sums, p);
    if (first_answer == second_answer) continue;  // equal answers do not change the difference
    add_answer(sums.answer, p, first_answer - 1);
    add_answer(sums.other_answer, p, second_answer - 1);
  }
  return average_over_groups(sums, [&](int g) {
    const Range first_range = sums.range_of_right(sums.answer, g),
                second_range = sums.range_of_right(sums.other_answer, g);
    return Range{first_range.lowest - second_range.highest,
                 first_range.highest - second_range.lowest};
  });
}

}  // namespace fallible
