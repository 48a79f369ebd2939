#include "resample.hpp"

#include <cmath>
#include <map>
#include <utility>

namespace fallible {

Resampler::Resampler(const std::vector<double>& cases, const std::vector<int>& cell_of_pattern,
                     const Clusters& clusters)
    : cells_(static_cast<int>(cases.size())) {
  using Kind = std::vector<std::pair<int, double>>;
  // A sorted map: its order does not depend on the order of clusters in the data.
  std::map<Kind, double> kinds;
  if (clusters.empty()) {
    for (int i = 0; i < cells_; ++i) {
      if (cases[i] > 0) kinds[{{i, 1.0}}] = cases[i];
    }
  } else {
    std::map<int, std::map<int, double>> cells_of_cluster;
    for (std::size_t i = 0; i < clusters.cluster.size(); ++i) {
      const int cell = cell_of_pattern[clusters.pattern[i]];
      if (!(cases[cell] > 0) || clusters.weight[i] == 0) continue;
      cells_of_cluster[clusters.cluster[i]][cell] += clusters.weight[i];
    }
    for (const auto& cluster : cells_of_cluster)
      ++kinds[Kind(cluster.second.begin(), cluster.second.end())];
  }
  for (const auto& kind : kinds) {
    frequency_.push_back(kind.second);
    draws_ += kind.second;
    for (const auto& entry : kind.first) {
      cell_.push_back(entry.first);
      cases_in_cell_.push_back(entry.second);
    }
    kinds_.end_row(cell_.size());
  }
}

std::vector<double> Resampler::draw(Stream& stream, double size) const {
  std::vector<double> drawn, out(cells_, 0.0);
  multinomial(stream, std::llround(size), frequency_, drawn);
  for (int kind = 0; kind < kinds_.rows(); ++kind) {
    if (drawn[kind] == 0) continue;
    for (const int i : kinds_.positions(kind)) out[cell_[i]] += drawn[kind] * cases_in_cell_[i];
  }
  return out;
}

}  // namespace fallible
