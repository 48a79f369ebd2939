#include "patterns.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "../base/matrix.hpp"
#include "rated_rows.hpp"

namespace fallible {

PatternView Patterns::view(int raters, int categories, int systems) const {
  return {rows(),       raters,       categories,      systems,
          start.data(), rater.data(), category.data(), answer.data()};
}

int PatternBuilder::finish_case() {
  const auto precedes = [](const Rating& a, const Rating& b) {
    return a.rater != b.rater ? a.rater < b.rater : a.category < b.category;
  };
  if (!std::is_sorted(ratings_.begin(), ratings_.end(), precedes)) {
    std::sort(ratings_.begin(), ratings_.end(), precedes);
  }
  row_.clear();
  for (int& answer : answers_) {
    row_.push_back(std::max(answer, 0));
    answer = 0;
  }
  for (const Rating& rating : ratings_) {
    row_.push_back(rating.rater);
    row_.push_back(rating.category);
  }
  ratings_.clear();
  return rows_.insert(row_.data(), row_.size()) + 1;
}

Patterns PatternBuilder::patterns() const {
  Patterns out;
  const std::size_t n = rows_.size();
  out.answer.resize(n * systems_);
  for (std::size_t p = 0; p < n; ++p) {
    const int* row = rows_.row(static_cast<int>(p));
    for (int s = 0; s < systems_; ++s) row_of(out.answer, s, n)[p] = row[s];
    for (std::size_t i = systems_; i < rows_.length(static_cast<int>(p)); i += 2) {
      out.rater.push_back(row[i]);
      out.category.push_back(row[i + 1]);
    }
    if (out.rater.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      throw std::length_error(
          "distinct patterns have more than 2147483647 ratings; use fewer cases");
    }
    out.end_row(out.rater.size());
  }
  return out;
}

namespace {

// Returns the patterns of all cases. rate_case(builder, i) passes the ratings of case i to the
// builder; only this function depends on the format of the input.
template <class RateCase>
Patterns collect_patterns(const Columns& systems, std::size_t cases, RateCase rate_case) {
  PatternBuilder builder(static_cast<int>(systems.size()));
  std::vector<int> index(cases);
  for (std::size_t i = 0; i < cases; ++i) {
    rate_case(builder, i);
    for (std::size_t s = 0; s < systems.size(); ++s) {
      builder.answer(static_cast<int>(s), systems[s][i]);
    }
    index[i] = builder.finish_case();
  }
  Patterns out = builder.patterns();
  out.index = std::move(index);
  return out;
}

}  // namespace

Patterns patterns_from_wide(const Columns& raters, const Columns& systems, std::size_t cases) {
  return collect_patterns(systems, cases, [&](PatternBuilder& builder, std::size_t i) {
    for (std::size_t j = 0; j < raters.size(); ++j) {
      builder.rate(static_cast<int>(j) + 1, raters[j][i]);
    }
  });
}

Patterns patterns_from_long(const int* which_case, const int* rater, const int* category,
                            std::size_t ratings, const Columns& systems, std::size_t cases) {
  // Sorts the ratings by case (counting sort). The ratings of case i are then order[first[i]] ...
  // order[first[i + 1] - 1].
  std::vector<std::size_t> first(cases + 1, 0);
  for (std::size_t r = 0; r < ratings; ++r) ++first[which_case[r]];
  for (std::size_t i = 0; i < cases; ++i) first[i + 1] += first[i];
  std::vector<std::size_t> next(first.begin(), first.end() - 1);
  std::vector<std::size_t> order(ratings);
  for (std::size_t r = 0; r < ratings; ++r) order[next[which_case[r] - 1]++] = r;
  return collect_patterns(systems, cases, [&](PatternBuilder& builder, std::size_t i) {
    for (std::size_t o = first[i]; o < first[i + 1]; ++o) {
      builder.rate(rater[order[o]], category[order[o]]);
    }
  });
}

Patterns patterns_from_counts(const Columns& categories, const Columns& systems,
                              std::size_t cases) {
  return collect_patterns(systems, cases, [&](PatternBuilder& builder, std::size_t i) {
    int slot = 0;
    for (std::size_t k = 0; k < categories.size(); ++k) {
      for (int c = 0; c < categories[k][i]; ++c) builder.rate(++slot, static_cast<int>(k) + 1);
    }
  });
}

Patterns patterns_subset(const PatternView& x, const int* index, std::size_t cases,
                         const int* new_rater) {
  PatternBuilder builder(x.systems);
  // New index of each old pattern, from 1. It is 0 before a case of the pattern is processed.
  std::vector<int> new_number(x.patterns, 0);
  std::vector<int> new_pattern(cases);
  for (std::size_t i = 0; i < cases; ++i) {
    const int p = index[i] - 1;
    if (new_number[p] == 0) {
      for (const int r : x.positions(p)) {
        const int rater = new_rater[x.rater[r] - 1];
        if (rater >= 1) builder.rate(rater, x.category[r]);
      }
      for (int s = 0; s < x.systems; ++s) builder.answer(s, x.answer_of(p, s));
      new_number[p] = builder.finish_case();
    }
    new_pattern[i] = new_number[p];
  }
  Patterns out = builder.patterns();
  out.index = std::move(new_pattern);
  return out;
}

std::vector<double> pattern_weights(const int* index, const double* weight, std::size_t cases,
                                    int patterns) {
  std::vector<double> total(patterns, 0.0);
  for (std::size_t i = 0; i < cases; ++i) total[index[i] - 1] += weight ? weight[i] : 1.0;
  return total;
}

std::vector<int> canonical_order(const PatternView& x, const std::vector<int>& truth) {
  const RowGroups groups(x.patterns, [&](int p, std::vector<int>& key) {
    key.push_back(truth.empty() ? 0 : truth[p]);
    key.push_back(x.kind ? x.kind[p] : 0);
    for (int s = 0; s < x.systems; ++s) key.push_back(x.answer_of(p, s));
    for (const int i : x.positions(p)) {
      key.push_back(x.rater[i]);
      key.push_back(x.category[i] + (x.level ? x.level[i] * x.categories : 0));
    }
    return true;
  });
  if (groups.size() < x.patterns)
    throw std::invalid_argument("two patterns are equal, but patterns must be distinct");
  return groups.first_seen();
}

bool has_truth_information(const PatternView& patterns, const std::vector<int>& truth,
                           int pattern) {
  return patterns.positions(pattern).size() > 0 || (!truth.empty() && truth[pattern] > 0);
}

void number_pairs(const int* index, const int* code, int codes, std::size_t size, int* out) {
  int last = 0;
  // If the number of possible pairs is small, a table indexed by pair is faster than a hash map.
  const std::size_t highest_index = size == 0 ? 0 : *std::max_element(index, index + size);
  const bool is_small = highest_index * codes <= 4 * size;
  std::vector<int> table(is_small ? highest_index * codes : 0, 0);
  std::unordered_map<std::size_t, int> numbers;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t key = static_cast<std::size_t>(index[i] - 1) * codes + code[i] - 1;
    int& number = is_small ? table[key] : numbers[key];
    if (number == 0) number = ++last;
    out[i] = number;
  }
}

}  // namespace fallible
