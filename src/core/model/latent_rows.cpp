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
    while (equal < length && rating(start[i] + equal) == rating(start[i - 1] + equal)) ++equal;
    longest_prefix = std::max(longest_prefix, equal);
  }
}

std::vector<double> LatentRows::votes(int row) const {
  std::vector<double> out(categories, 0.0);
  if (known[row] >= 0) {
    out[known[row]] = 1;
    return out;
  }
  int n_votes = 0;
  for (const int at : positions(row)) {
    if (judge[at] >= raters) continue;
    ++n_votes;
    ++out[answer(at)];
  }
  for (double& share : out) share = n_votes > 0 ? share / n_votes : 1.0 / categories;
  return out;
}

void LatentRows::add_expected(int row, const double* posterior, int classes, double* of_classes,
                              double* of_ratings) const {
  const Eigen::ArrayXd cases = weight[row] * Eigen::ArrayXd::Map(posterior, classes);
  Eigen::ArrayXd::Map(of_classes + population_of(row) * classes, classes) += cases;
  for (const int at : positions(row)) {
    Eigen::ArrayXd::Map(of_ratings + rating(at) * classes, classes) += cases;
  }
}

// Adds one row per group of patterns. The key of a group contains the index of its population and
// its known category (-1 if unknown), then pairs (judge, category). Abstentions are the last pairs,
// with category -1. Populations are stored only if there are several.
void LatentRows::add_groups_of(const RowGroups& groups, const std::vector<double>& pattern_weight) {
  for (int i = 0; i < groups.size(); ++i) {
    if (populations.size() > 1) population.push_back(groups.begin(i)[0]);
    known.push_back(groups.begin(i)[1]);
    for (const int* at = groups.begin(i) + 2; at != groups.end(i); at += 2) {
      if (at[1] < 0) abstained.push_back(at[0]);
    }
    abstentions.end_row(abstained.size());
  }
  add_groups(groups, 2, pattern_weight);
}

LatentRows latent_rows(const PatternView& x, const std::vector<double>& weight, int system,
                       const Known& known) {
  LatentRows out;
  out.categories = x.categories;
  out.levels = x.levels;
  out.raters = x.raters;
  out.judges = x.raters + (system >= 0);
  out.matrix = known.matrix;
  out.calibration = known.calibration;
  out.populations = known.populations;
  // The key of a row contains its population and known category (-1 if unknown), then judge and
  // category of each rating, and finally (judge, -1) for each abstention.
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
  out.add_groups_of(groups, weight);
  out.find_prefixes();
  return out;
}

ExchangeableRows regardless_of_rater(const LatentRows& rows) {
  std::vector<std::pair<int, int>> ratings;
  const RowGroups groups(rows.size(), [&](int i, std::vector<int>& key) {
    ratings.clear();
    for (const int at : rows.positions(i)) {
      ratings.emplace_back(rows.judge[at] < rows.raters ? 0 : 1, rows.category[at]);
    }
    std::sort(ratings.begin(), ratings.end());
    key.push_back(rows.population_of(i));
    key.push_back(rows.known[i]);
    for (const auto& rating : ratings) key.insert(key.end(), {rating.first, rating.second});
    return true;
  });
  ExchangeableRows out;
  out.rows.categories = rows.categories;
  out.rows.levels = rows.levels;
  out.rows.raters = 1;
  out.rows.judges = rows.joined() ? 2 : 1;
  out.rows.populations = rows.populations;
  out.rows.add_groups_of(groups, rows.weight);
  out.rows.find_prefixes();
  out.of_row = std::move(out.rows.of_pattern);
  out.rows.of_pattern = rows.of_pattern;
  for (int& row : out.rows.of_pattern) row = row < 0 ? row : out.of_row[row];
  return out;
}

std::vector<double> ExchangeableRows::by_row(const std::vector<double>& posterior) const {
  std::vector<double> out;
  out.reserve(of_row.size() * rows.categories);
  for (const int row : of_row) {
    const double* from = row_of(posterior, row, rows.categories);
    out.insert(out.end(), from, from + rows.categories);
  }
  return out;
}

std::vector<double> ExchangeableRows::merge(const std::vector<double>& by_row) const {
  const int K = rows.categories;
  Table<double> out(rows.size(), K);
  std::vector<double> count(rows.size(), 0.0);
  for (const int row : of_row) ++count[row];
  for (std::size_t i = 0; i < by_row.size(); ++i) {
    const int row = of_row[i / K];
    out[row][i % K] += by_row[i] / count[row];
  }
  return std::move(out.values());
}

void ExchangeableRows::reweight(const std::vector<double>& weight) {
  rows.weight = row_weights(of_row, weight, rows.size());
}

std::vector<double> by_pattern(const LatentRows& rows, const std::vector<double>& posterior,
                               const std::vector<double>& otherwise) {
  std::vector<double> out;
  for (std::size_t p = 0; p < rows.of_pattern.size(); ++p) {
    const int row = rows.of_pattern[p], N = rows.categories;
    const double* from = row < 0 ? row_of(otherwise, rows.populations.index(static_cast<int>(p)), N)
                                 : row_of(posterior, row, N);
    out.insert(out.end(), from, from + N);
  }
  return out;
}

std::vector<double> by_pattern(const LatentRows& rows, const std::vector<double>& posterior) {
  const int N = rows.categories;
  Table<double> mean(rows.populations.size(), N);
  std::vector<double> cases(rows.populations.size(), 0.0);
  for (int i = 0; i < rows.size(); ++i) cases[rows.population_of(i)] += rows.weight[i];
  for (std::size_t i = 0; i < posterior.size(); ++i) {
    const int population = rows.population_of(static_cast<int>(i / N));
    mean[population][i % N] += rows.weight[i / N] * posterior[i] / cases[population];
  }
  return by_pattern(rows, posterior, mean.values());
}

}  // namespace fallible
