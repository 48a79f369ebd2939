#include "latent_rows.hpp"

#include <algorithm>

namespace fallible {

LatentRows latent_rows(const PatternView& x, const std::vector<double>& weight, int system,
                       const Known& known) {
  LatentRows out;
  out.categories = x.categories;
  out.raters = x.raters;
  out.judges = x.raters + (system >= 0);
  out.matrix = known.matrix;
  // Known category, then judge and category of each rating.
  const RowGroups groups(x.patterns, [&](int p, std::vector<int>& key) {
    key.push_back(known.truth.empty() ? -1 : std::max(known.truth[p], 0) - 1);
    for (const int i : x.places(p)) {
      key.push_back(x.rater[i] - 1);
      key.push_back(x.category[i] - 1);
    }
    if (system >= 0 && x.answer_of(p, system) > 0) {
      key.push_back(x.raters);
      key.push_back(x.answer_of(p, system) - 1);
    }
    return key.size() > 1 || key[0] >= 0;
  });
  for (int i = 0; i < groups.size(); ++i) out.known.push_back(*groups.begin(i));
  out.add_groups(groups, 1, weight);
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
