#include "latent_rows.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <utility>

#include "../base/matrix.hpp"

namespace fallible {

void LatentRows::find_prefixes() {
  prefix.assign(size(), 0);
  for (int i = 1; i < size(); ++i) {
    if (population_of(i) != population_of(i - 1)) continue;
    const int length = std::min(positions(i).size(), positions(i - 1).size());
    int& equal = prefix[i];
    while (equal < length && code_index(start[i] + equal) == code_index(start[i - 1] + equal))
      ++equal;
    longest_prefix = std::max(longest_prefix, equal);
  }
}

std::vector<double> LatentRows::votes(int row) const {
  std::vector<double> share(categories, 0.0);
  if (known_truth[row] >= 0) {
    share[known_truth[row]] = 1;
    return share;
  }
  int n_votes = 0;
  for (const int position : positions(row)) {
    if (judge[position] >= raters) continue;
    ++n_votes;
    ++share[answer(position)];
  }
  for (double& category_share : share) {
    category_share = n_votes > 0 ? category_share / n_votes : 1.0 / categories;
  }
  return share;
}

void LatentRows::add_expected(int row, const double* posterior, int classes,
                              double* expected_classes, double* expected_ratings) const {
  const Eigen::ArrayXd cases = weight[row] * Eigen::ArrayXd::Map(posterior, classes);
  Eigen::ArrayXd::Map(expected_classes + population_of(row) * classes, classes) += cases;
  for (const int position : positions(row)) {
    Eigen::ArrayXd::Map(expected_ratings + code_index(position) * classes, classes) += cases;
  }
}

// Adds one row per group of patterns with equal keys (RowGroups). A key contains the index of the
// population and the known category (-1 if unknown), then pairs (judge, category). Abstentions are
// the last pairs, with category -1. Populations are stored only if there are several.
void LatentRows::add_groups_of(const RowGroups& groups, const std::vector<double>& pattern_weight) {
  for (int i = 0; i < groups.size(); ++i) {
    if (populations.size() > 1) population.push_back(groups.begin(i)[0]);
    known_truth.push_back(groups.begin(i)[1]);
    for (const int* entry = groups.begin(i) + 2; entry != groups.end(i); entry += 2) {
      if (entry[1] < 0) abstained.push_back(entry[0]);
    }
    abstentions.end_row(abstained.size());
  }
  add_groups(groups, 2, pattern_weight);
}

LatentRows latent_rows(const PatternView& x, const std::vector<double>& weight, int system,
                       const Known& known) {
  LatentRows rows;
  rows.categories = x.categories;
  rows.levels = x.levels;
  rows.raters = x.raters;
  rows.judges = x.raters + (system >= 0);
  rows.matrix = known.matrix;
  rows.calibration = known.calibration;
  rows.populations = known.populations;
  // Patterns with equal keys form one row. The key contains the population and the known category
  // (-1 if unknown), then judge and category of each rating, and (judge, -1) for each abstention.
  const RowGroups groups(x.patterns, [&](int p, std::vector<int>& key) {
    key.push_back(known.populations.index(p));
    key.push_back(known.truth.empty() ? -1 : std::max(known.truth[p], 0) - 1);
    for (const int i : x.positions(p)) {
      key.push_back(x.rater[i] - 1);
      key.push_back(x.category[i] - 1 + (x.levels > 0 && x.level ? x.level[i] * x.categories : 0));
    }
    if (system >= 0 && x.answer_of(p, system) > 0) {
      key.push_back(x.raters);
      key.push_back(x.answer_of(p, system) - 1);
    }
    for (const int i : x.abstentions(p)) {
      key.push_back(x.abstained[i] - 1);
      key.push_back(-1);
    }
    return key.size() > 2 || key[1] >= 0;
  });
  rows.add_groups_of(groups, weight);
  rows.find_prefixes();
  return rows;
}

ExchangeableRows merge_raters(const LatentRows& rows) {
  std::vector<std::pair<int, int>> ratings;
  const RowGroups groups(rows.size(), [&](int i, std::vector<int>& key) {
    ratings.clear();
    for (const int position : rows.positions(i)) {
      ratings.emplace_back(rows.judge[position] < rows.raters ? 0 : 1, rows.category[position]);
    }
    std::sort(ratings.begin(), ratings.end());
    key.push_back(rows.population_of(i));
    key.push_back(rows.known_truth[i]);
    for (const auto& rating : ratings) key.insert(key.end(), {rating.first, rating.second});
    return true;
  });
  ExchangeableRows merged;
  merged.rows.categories = rows.categories;
  merged.rows.levels = rows.levels;
  merged.rows.raters = 1;
  merged.rows.judges = rows.joined() ? 2 : 1;
  merged.rows.populations = rows.populations;
  merged.rows.add_groups_of(groups, rows.weight);
  merged.rows.find_prefixes();
  merged.merged_row = std::move(merged.rows.row_of_pattern);
  merged.rows.row_of_pattern = rows.row_of_pattern;
  for (int& row : merged.rows.row_of_pattern) row = row < 0 ? row : merged.merged_row[row];
  return merged;
}

std::vector<double> ExchangeableRows::copy_to_rows(const std::vector<double>& posterior) const {
  std::vector<double> copied;
  copied.reserve(merged_row.size() * rows.categories);
  for (const int row : merged_row) {
    const double* row_posterior = row_of(posterior, row, rows.categories);
    copied.insert(copied.end(), row_posterior, row_posterior + rows.categories);
  }
  return copied;
}

std::vector<double> ExchangeableRows::merge(const std::vector<double>& posterior) const {
  const int K = rows.categories;
  Table<double> mean(rows.size(), K);
  std::vector<double> count(rows.size(), 0.0);
  for (const int row : merged_row) ++count[row];
  for (std::size_t i = 0; i < posterior.size(); ++i) {
    const int row = merged_row[i / K];
    mean[row][i % K] += posterior[i] / count[row];
  }
  return std::move(mean.values());
}

void ExchangeableRows::reweight(const std::vector<double>& weight) {
  rows.weight = row_weights(merged_row, weight, rows.size());
}

std::vector<double> copy_to_patterns(const LatentRows& rows, const std::vector<double>& posterior,
                                     const std::vector<double>& default_posterior) {
  std::vector<double> pattern_posterior;
  for (std::size_t p = 0; p < rows.row_of_pattern.size(); ++p) {
    const int row = rows.row_of_pattern[p], N = rows.categories;
    const double* from =
        row < 0 ? row_of(default_posterior, rows.populations.index(static_cast<int>(p)), N)
                : row_of(posterior, row, N);
    pattern_posterior.insert(pattern_posterior.end(), from, from + N);
  }
  return pattern_posterior;
}

std::vector<double> copy_to_patterns(const LatentRows& rows, const std::vector<double>& posterior) {
  const int N = rows.categories;
  Table<double> mean(rows.populations.size(), N);
  std::vector<double> cases(rows.populations.size(), 0.0);
  for (int i = 0; i < rows.size(); ++i) cases[rows.population_of(i)] += rows.weight[i];
  for (std::size_t i = 0; i < posterior.size(); ++i) {
    const int population = rows.population_of(static_cast<int>(i / N));
    mean[population][i % N] += rows.weight[i / N] * posterior[i] / cases[population];
  }
  return copy_to_patterns(rows, posterior, mean.values());
}

}  // namespace fallible
