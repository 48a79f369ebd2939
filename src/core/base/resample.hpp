// Bootstrap samples of cases or of clusters of cases.
#pragma once

#include <cstdint>
#include <vector>

#include "host.hpp"
#include "random.hpp"
#include "rows.hpp"

namespace fallible {

// Clusters of dependent cases (of one patient, of one document). The vectors have one entry per
// case.
struct Clusters {
  std::vector<int> pattern;    // from 0
  std::vector<double> weight;  // whole numbers
  std::vector<int> cluster;    // any label

  bool empty() const { return cluster.empty(); }
};

// Draws cases with replacement. Cases are sorted into cells, which are patterns or sets of
// patterns. Clusters are drawn whole. Clusters with equal contents are one kind, so that the cost
// depends on the number of kinds. If every cluster has one case, the draws are equal to draws of
// cases.
class Resampler {
 public:
  // `cases`: number of cases in each cell, a whole number; cells without cases are never drawn.
  // `cell_of_pattern` is needed for clusters only. The order of cells must not depend on the order
  // of cases.
  Resampler(const std::vector<double>& cases, const std::vector<int>& cell_of_pattern,
            const Clusters& clusters);

  // Number of cases drawn in each cell. The number of draws is that of the data, or `size`.
  std::vector<double> draw(Stream& stream) const { return draw(stream, draws_); }
  std::vector<double> draw(Stream& stream, double size) const;

 private:
  double draws_ = 0;               // number of cases, or of clusters
  std::vector<double> frequency_;  // number of cases or clusters of each kind
  Ragged kinds_;                   // places of each kind in `cell_` and `holds_`
  std::vector<int> cell_;
  std::vector<double> holds_;  // number of cases of a kind in the cell
  int cells_;
};

struct BootstrapOptions {
  int replicates = 1000;
  std::uint64_t first = 0;  // number of the first replicate, which selects its stream
  int threads = 1;
  std::uint64_t seed = 0;
  Clusters clusters = {};  // empty: cases are resampled independently
};

// Calls use(number, cases drawn in each cell) for each replicate. Numbers start at 0.
template <class Use>
void for_each_replicate(const Resampler& resampler, const BootstrapOptions& options,
                        const Host& host, const Use& use) {
  for_each_item(options.replicates, options.threads, host, [&](std::size_t r) {
    Stream stream(options.seed, options.first + r);
    use(r, resampler.draw(stream));
  });
}

}  // namespace fallible
