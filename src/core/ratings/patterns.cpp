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
  Patterns patterns;
  const std::size_t n_patterns = rows_.size();
  patterns.answer.resize(n_patterns * systems_);
  for (std::size_t p = 0; p < n_patterns; ++p) {
    const int* row = rows_.row(static_cast<int>(p));
    for (int s = 0; s < systems_; ++s) row_of(patterns.answer, s, n_patterns)[p] = row[s];
    for (std::size_t position = systems_; position < rows_.length(static_cast<int>(p));
         position += 2) {
      patterns.rater.push_back(row[position]);
      patterns.category.push_back(row[position + 1]);
    }
    if (patterns.rater.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      throw std::length_error(
          "the distinct patterns of the cases have more than 2147483647 ratings; use fewer cases");
    }
    patterns.end_row(patterns.rater.size());
  }
  return patterns;
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
  Patterns patterns = builder.patterns();
  patterns.index = std::move(index);
  return patterns;
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
  // Sorts the ratings by case (counting sort). The ratings of case i are then order[case_start[i]]
  // ... order[case_start[i + 1] - 1].
  std::vector<std::size_t> case_start(cases + 1, 0);
  for (std::size_t r = 0; r < ratings; ++r) ++case_start[which_case[r]];
  for (std::size_t i = 0; i < cases; ++i) case_start[i + 1] += case_start[i];
  std::vector<std::size_t> next(case_start.begin(), case_start.end() - 1);
  std::vector<std::size_t> order(ratings);
  for (std::size_t r = 0; r < ratings; ++r) order[next[which_case[r] - 1]++] = r;
  return collect_patterns(systems, cases, [&](PatternBuilder& builder, std::size_t i) {
    for (std::size_t position = case_start[i]; position < case_start[i + 1]; ++position) {
      builder.rate(rater[order[position]], category[order[position]]);
    }
  });
}

Patterns patterns_from_counts(const Columns& categories, const Columns& systems,
                              std::size_t cases) {
  return collect_patterns(systems, cases, [&](PatternBuilder& builder, std::size_t i) {
    int rating_number = 0;
    for (std::size_t k = 0; k < categories.size(); ++k) {
      for (int c = 0; c < categories[k][i]; ++c)
        builder.rate(++rating_number, static_cast<int>(k) + 1);
    }
  });
}

Patterns patterns_subset(const PatternView& x, const int* index, std::size_t cases,
                         const int* new_rater) {
  PatternBuilder builder(x.systems);
  // New number of each old pattern, from 1. The number is 0 until a case of the pattern is
  // processed.
  std::vector<int> new_number(x.patterns, 0);
  std::vector<int> new_index(cases);
  for (std::size_t i = 0; i < cases; ++i) {
    const int p = index[i] - 1;
    if (new_number[p] == 0) {
      for (const int position : x.positions(p)) {
        const int rater = new_rater[x.rater[position] - 1];
        if (rater >= 1) builder.rate(rater, x.category[position]);
      }
      for (int s = 0; s < x.systems; ++s) builder.answer(s, x.answer_of(p, s));
      new_number[p] = builder.finish_case();
    }
    new_index[i] = new_number[p];
  }
  Patterns patterns = builder.patterns();
  patterns.index = std::move(new_index);
  return patterns;
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
    throw std::invalid_argument(
        "internal error, please report it: two patterns have the same ratings and answers");
  return groups.appearance_rank();
}

bool has_truth_information(const PatternView& patterns, const std::vector<int>& truth,
                           int pattern) {
  return patterns.positions(pattern).size() > 0 || (!truth.empty() && truth[pattern] > 0);
}

void number_pairs(const int* index, const int* code, int codes, std::size_t size, int* number) {
  int n_pairs = 0;
  // If the number of possible pairs is small, a table indexed by pair is faster than a hash
  // map.
  const std::size_t highest_index = size == 0 ? 0 : *std::max_element(index, index + size);
  const bool is_small = highest_index * codes <= 4 * size;
  std::vector<int> table(is_small ? highest_index * codes : 0, 0);
  std::unordered_map<std::size_t, int> numbers;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t key = static_cast<std::size_t>(index[i] - 1) * codes + code[i] - 1;
    int& pair_number = is_small ? table[key] : numbers[key];
    if (pair_number == 0) pair_number = ++n_pairs;
    number[i] = pair_number;
  }
}

}  // namespace fallible
