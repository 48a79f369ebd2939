// Bootstrap samples of cases, or of clusters of cases that depend on each other.
#pragma once

#include <cstdint>
#include <vector>

#include "host.hpp"
#include "random.hpp"
#include "rows.hpp"

namespace fallible {

// Clusters of dependent cases, for example the cases of one patient or one document. The vectors
// have one entry per case. An entry with a weight above 1 stands for several equal cases.
struct Clusters {
  std::vector<int> pattern;    // index of the pattern, from 0
  std::vector<double> weight;  // number of cases, a whole number
  std::vector<int> cluster;    // cluster of the entry; any integer

  bool empty() const { return cluster.empty(); }
};

// Draws cases with replacement. A cell is a group of cases that the caller does not distinguish,
// for example cases with the same pattern. A resample consists of the number of cases drawn from
// each cell.
//
// If there are clusters, whole clusters are drawn. Clusters that have the same number of cases in
// each cell form a cluster type. Only the draws of each type are counted, so time depends on the
// number of types, not on the number of clusters.
class Resampler {
 public:
  // `cases`: number of cases in each cell, a whole number; empty cells are never drawn.
  // `cell_of_pattern`: cell of each pattern, from 0; used only if there are clusters. The order of
  // cells must not depend on the order of cases. Otherwise the draws would also depend on the order
  // of cases.
  Resampler(const std::vector<double>& cases, const std::vector<int>& cell_of_pattern,
            const Clusters& clusters);

  // Returns the number of cases drawn from each cell. `size`: number of cases (or clusters) that
  // are drawn. By default, it is the number in the data.
  std::vector<double> draw(Stream& stream) const { return draw(stream, n_units_); }
  std::vector<double> draw(Stream& stream, double size) const;

 private:
  double n_units_ = 0;  // number of clusters in the data; without clusters, number of cases
  // Number of clusters of each cluster type in the data. Without clusters, each cell with cases is
  // a type, and each case is a cluster.
  std::vector<double> type_frequency_;
  Ragged type_positions_;  // positions of each cluster type in the next two vectors
  // Cells in which a cluster of the type has cases, and the number of these cases.
  std::vector<int> cell_;
  std::vector<double> cases_in_cell_;
  int n_cells_;
};

struct BootstrapOptions {
  int replicates = 1000;  // number of replicates
  // Index of the first replicate; each replicate uses the random stream of its index.
  std::uint64_t first = 0;
  int threads = 1;
  std::uint64_t seed = 0;
  Clusters clusters = {};  // if empty, cases are resampled independently
};

// Draws a resample for each replicate r = 0, 1, ... and calls use_resample(r, cases drawn from each
// cell), on several threads.
template <class Use>
void for_each_replicate(const Resampler& resampler, const BootstrapOptions& options,
                        const Host& host, const Use& use_resample) {
  for_each_item(options.replicates, options.threads, host, [&](std::size_t r) {
    Stream stream(options.seed, options.first + r);
    use_resample(r, resampler.draw(stream));
  });
}

}  // namespace fallible
