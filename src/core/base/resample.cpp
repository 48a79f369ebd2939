#include "resample.hpp"

#include <cmath>
#include <map>
#include <utility>

namespace fallible {

Resampler::Resampler(const std::vector<double>& cases, const std::vector<int>& cell_of_pattern,
                     const Clusters& clusters)
    : n_cells_(static_cast<int>(cases.size())) {
  using ClusterType = std::vector<std::pair<int, double>>;
  // Number of clusters of each type. The map is sorted by type, so the order of types does not
  // depend on the order of clusters in the data.
  std::map<ClusterType, double> type_frequency;
  if (clusters.empty()) {
    for (int i = 0; i < n_cells_; ++i) {
      if (cases[i] > 0) type_frequency[{{i, 1.0}}] = cases[i];
    }
  } else {
    std::map<int, std::map<int, double>> cluster_cells;
    for (std::size_t i = 0; i < clusters.cluster.size(); ++i) {
      const int cell = cell_of_pattern[clusters.pattern[i]];
      if (!(cases[cell] > 0) || clusters.weight[i] == 0) continue;
      cluster_cells[clusters.cluster[i]][cell] += clusters.weight[i];
    }
    for (const auto& cluster : cluster_cells)
      ++type_frequency[ClusterType(cluster.second.begin(), cluster.second.end())];
  }
  for (const auto& type : type_frequency) {
    type_frequency_.push_back(type.second);
    n_units_ += type.second;
    for (const auto& entry : type.first) {
      cell_.push_back(entry.first);
      cases_in_cell_.push_back(entry.second);
    }
    type_positions_.end_row(cell_.size());
  }
}

std::vector<double> Resampler::draw(Stream& stream, double size) const {
  std::vector<double> times_drawn, drawn_cases(n_cells_, 0.0);
  multinomial(stream, std::llround(size), type_frequency_, times_drawn);
  for (int type = 0; type < type_positions_.rows(); ++type) {
    if (times_drawn[type] == 0) continue;
    for (const int i : type_positions_.positions(type))
      drawn_cases[cell_[i]] += times_drawn[type] * cases_in_cell_[i];
  }
  return drawn_cases;
}

}  // namespace fallible
