#include "latent_rows.hpp"

#include <algorithm>

namespace fallible {

LatentRows latent_rows(const PatternView& x, const std::vector<double>& weight, int system,
                       const Known& known) {
  LatentRows out;
  out.categories = x.categories;
  out.raters = x.raters;
  out.units = x.raters + (system >= 0);
  out.matrix = known.matrix;
  out.of_pattern.assign(x.patterns, -1);

  RowSet rows;  // known category, then unit and category of each rating
  std::vector<int> key, found(x.patterns, -1);
  for (int p = 0; p < x.patterns; ++p) {
    key.assign(1, known.truth.empty() ? -1 : std::max(known.truth[p], 0) - 1);
    for (int i = x.start[p]; i < x.start[p + 1]; ++i) {
      key.push_back(x.rater[i] - 1);
      key.push_back(x.category[i] - 1);
    }
    if (system >= 0 && x.answer_of(p, system) > 0) {
      key.push_back(x.raters);
      key.push_back(x.answer_of(p, system) - 1);
    }
    if (key.size() > 1 || key[0] >= 0) found[p] = rows.insert(key.data(), key.size());
  }
  const std::vector<int> order = rows.sorted();
  std::vector<int> rank(rows.size());
  for (int i = 0; i < rows.size(); ++i) {
    rank[order[i]] = i;
    const int* row = rows.row(order[i]);
    out.known.push_back(row[0]);
    for (std::size_t at = 1; at < rows.length(order[i]); at += 2) {
      out.unit.push_back(row[at]);
      out.category.push_back(row[at + 1]);
    }
    out.start.push_back(static_cast<int>(out.unit.size()));
  }
  out.weight.assign(rows.size(), 0.0);
  for (int p = 0; p < x.patterns; ++p) {
    if (found[p] < 0) continue;
    out.of_pattern[p] = rank[found[p]];
    out.weight[out.of_pattern[p]] += weight[p];
  }
  return out;
}

std::vector<double> by_pattern(const LatentRows& rows, const std::vector<double>& posterior,
                               const std::vector<double>& otherwise) {
  std::vector<double> out;
  for (const int row : rows.of_pattern) {
    const auto from = row < 0 ? otherwise.begin()
                              : posterior.begin() + row * static_cast<long>(rows.categories);
    out.insert(out.end(), from, from + rows.categories);
  }
  return out;
}

std::vector<double> by_pattern(const LatentRows& rows, const std::vector<double>& posterior) {
  const std::size_t N = rows.categories;
  std::vector<double> mean(N, 0.0);
  double cases = 0;
  for (const double w : rows.weight) cases += w;
  for (std::size_t i = 0; i < posterior.size(); ++i) {
    mean[i % N] += rows.weight[i / N] * posterior[i] / cases;
  }
  return by_pattern(rows, posterior, mean);
}

}  // namespace fallible
