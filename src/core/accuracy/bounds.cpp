#include "bounds.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "../base/rows.hpp"

namespace fallible {

namespace {

constexpr double tie = 1e-9;  // probabilities that differ by less are the same

}  // namespace

// Patterns with the same ratings.
struct AccuracyBounds::Cell {
  double weight = 0;
  double highest = 0;
  std::vector<int> patterns;
};

// By group, then by category or rank.
struct AccuracyBounds::Sums {
  Sums(int groups, int categories)
      : weight(groups, 0.0),
        truth(static_cast<std::size_t>(groups) * categories, 0.0),
        answer(truth),
        other(truth) {}

  std::vector<double> weight, truth, answer, other;
};

// Answers may leave some of the weight to no category.
Range AccuracyBounds::right_answers(const Sums& sums, const std::vector<double>& answers,
                                    int group) const {
  Range out{0, 0};
  for (int k = 0; k < view_.categories; ++k) {
    const std::size_t at = static_cast<std::size_t>(group) * view_.categories + k;
    out.highest += std::min(sums.truth[at], answers[at]);
    out.lowest = std::max(out.lowest, sums.truth[at] + answers[at] - sums.weight[group]);
  }
  return out;
}

template <class Of>
Range AccuracyBounds::over_groups(const Sums& sums, const Of& of) const {
  double total = 0;
  Range out{0, 0};
  for (int g = 0; g < groups_; ++g) {
    const Range one = of(g);
    total += sums.weight[g];
    out.lowest += one.lowest;
    out.highest += one.highest;
  }
  return total > 0 ? Range{out.lowest / total, out.highest / total} : Range{};
}

AccuracyBounds::AccuracyBounds(const PatternView& patterns, const std::vector<int>& truth,
                               const std::vector<double>& weight, const double* posterior,
                               double size)
    : view_(patterns), weight_(weight), posterior_(posterior), group_(patterns.patterns, -1) {
  std::vector<Cell> small;
  Cell certain;  // both sums are linear there, and nothing is lost by joining
  const auto make_group = [this](const Cell& cell, bool ranked) {
    for (const int p : cell.patterns) group_[p] = groups_;
    ranked_.push_back(ranked);
    ++groups_;
  };
  for (Cell& cell : make_cells(truth)) {
    if (cell.highest > 1 - tie) {
      certain.patterns.insert(certain.patterns.end(), cell.patterns.begin(), cell.patterns.end());
    } else if (cell.weight >= size) {
      make_group(cell, false);
    } else {
      small.push_back(std::move(cell));
    }
  }
  if (!certain.patterns.empty()) make_group(certain, true);
  for (const Cell& cell : join(std::move(small), size)) make_group(cell, true);
}

std::vector<AccuracyBounds::Cell> AccuracyBounds::make_cells(const std::vector<int>& truth) const {
  RowSet rows;
  std::vector<int> key;
  std::vector<Cell> out;
  for (int p = 0; p < view_.patterns; ++p) {
    if (!is_judged(view_, truth, p)) continue;
    key.assign(1, truth.empty() ? 0 : truth[p]);
    for (int i = view_.start[p]; i < view_.start[p + 1]; ++i) {
      key.push_back(view_.rater[i]);
      key.push_back(view_.category[i]);
    }
    const std::size_t row = rows.insert(key.data(), key.size());
    if (row == out.size()) out.emplace_back();
    out[row].patterns.push_back(p);
    out[row].weight += weight_[p];
    for (int k = 0; k < view_.categories; ++k) {
      out[row].highest = std::max(out[row].highest, probability(p, k));
    }
  }
  return out;
}

// Cells that are alike in their highest probability stay together, so that nothing depends on their
// order. What is left at the end goes to the last that is large enough.
std::vector<AccuracyBounds::Cell> AccuracyBounds::join(std::vector<Cell> small, double size) {
  std::sort(small.begin(), small.end(),
            [](const Cell& a, const Cell& b) { return a.highest < b.highest; });
  std::vector<Cell> out;
  bool full = true;
  for (const Cell& cell : small) {
    if (full && (out.empty() || cell.highest - out.back().highest > tie)) out.emplace_back();
    Cell& last = out.back();
    last.highest = cell.highest;
    last.weight += cell.weight;
    last.patterns.insert(last.patterns.end(), cell.patterns.begin(), cell.patterns.end());
    full = last.weight >= size;
  }
  if (!full && out.size() > 1) {
    const std::vector<int> rest = std::move(out.back().patterns);
    out.pop_back();
    out.back().patterns.insert(out.back().patterns.end(), rest.begin(), rest.end());
  }
  return out;
}

void AccuracyBounds::add_truth(Sums& sums, int pattern) const {
  const int group = group_[pattern], categories = view_.categories;
  std::vector<double> share(categories);
  for (int k = 0; k < categories; ++k) share[k] = probability(pattern, k);
  if (ranked_[group]) std::sort(share.begin(), share.end(), std::greater<double>());
  sums.weight[group] += weight_[pattern];
  double* row = sums.truth.data() + static_cast<std::size_t>(group) * categories;
  for (int k = 0; k < categories; ++k) row[k] += weight_[pattern] * share[k];
}

void AccuracyBounds::add_answer(std::vector<double>& to, int pattern, int answer) const {
  const int group = group_[pattern], categories = view_.categories;
  double* row = to.data() + static_cast<std::size_t>(group) * categories;
  if (!ranked_[group]) {
    row[answer] += weight_[pattern];
    return;
  }
  int above = 0, tied = 0;
  for (int k = 0; k < categories; ++k) {
    const double more = probability(pattern, k) - probability(pattern, answer);
    above += more > tie;
    tied += more <= tie && more >= -tie;
  }
  for (int rank = above; rank < above + tied; ++rank) row[rank] += weight_[pattern] / tied;
}

Range AccuracyBounds::system(int s) const {
  Sums sums(groups_, view_.categories);
  for (int p = 0; p < view_.patterns; ++p) {
    const int answer = view_.answer_of(p, s);
    if (group_[p] < 0 || answer < 1) continue;
    add_truth(sums, p);
    add_answer(sums.answer, p, answer - 1);
  }
  return over_groups(sums, [&](int g) { return right_answers(sums, sums.answer, g); });
}

Range AccuracyBounds::difference(int a, int b) const {
  Sums sums(groups_, view_.categories);
  for (int p = 0; p < view_.patterns; ++p) {
    const int first = view_.answer_of(p, a), second = view_.answer_of(p, b);
    if (group_[p] < 0 || first < 1 || second < 1) continue;
    add_truth(sums, p);
    if (first == second) continue;  // right or wrong together
    add_answer(sums.answer, p, first - 1);
    add_answer(sums.other, p, second - 1);
  }
  return over_groups(sums, [&](int g) {
    const Range of_a = right_answers(sums, sums.answer, g),
                of_b = right_answers(sums, sums.other, g);
    return Range{of_a.lowest - of_b.highest, of_a.highest - of_b.lowest};
  });
}

}  // namespace fallible
