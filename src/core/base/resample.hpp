// What a bootstrap draws: cases, or clusters of them.
#pragma once

#include <cstdint>
#include <vector>

#include "host.hpp"
#include "random.hpp"
#include "rows.hpp"

namespace fallible {

// Cases that hang together (of one patient, of one document): one entry per case.
struct Clusters {
  std::vector<int> pattern;    // from 0
  std::vector<double> weight;  // whole numbers
  std::vector<int> cluster;    // any label

  bool empty() const { return cluster.empty(); }
};

// Draws with replacement from cases that are sorted into cells, which are patterns or what is made
// of them. Clusters are drawn whole; those that hold the same are one kind, so that the cost grows
// with kinds. Where every case is a cluster of its own the draws are those of cases.
class Resampler {
 public:
  // `cases` has the whole number of cases in each cell; cells with none are never drawn.
  // `cell_of_pattern` is needed for clusters only. Cells come in an order of their own, so that
  // nothing depends on the order of cases.
  Resampler(const std::vector<double>& cases, const std::vector<int>& cell_of_pattern,
            const Clusters& clusters);

  // Number of cases drawn in each cell: of as many cases, or clusters, as there are, or of `size`.
  std::vector<double> draw(Stream& stream) const { return draw(stream, draws_); }
  std::vector<double> draw(Stream& stream, double size) const;

 private:
  double draws_ = 0;               // cases, or clusters
  std::vector<double> frequency_;  // of each kind
  Ragged kinds_;                   // what each holds
  std::vector<int> cell_;
  std::vector<double> holds_;  // so many cases of that cell
  int cells_;
};

struct BootstrapOptions {
  int replicates = 1000;
  std::uint64_t first = 0;  // number of the first of them, which has its stream
  int threads = 1;
  std::uint64_t seed = 0;
  Clusters clusters = {};  // empty: cases are resampled one by one
};

// Calls use(number, cases drawn in each cell) for each replicate, the first of which is number 0.
template <class Use>
void for_each_replicate(const Resampler& resampler, const BootstrapOptions& options,
                        const Host& host, const Use& use) {
  for_each_item(options.replicates, options.threads, host, [&](std::size_t r) {
    Stream stream(options.seed, options.first + r);
    use(r, resampler.draw(stream));
  });
}

}  // namespace fallible
