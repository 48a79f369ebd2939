#include "estimator.hpp"

#include <stdexcept>
#include <utility>

namespace fallible {

Cells pattern_cells(const Ratings& ratings) {
  Cells out;
  const std::vector<int>& truth = ratings.known.truth;
  const std::vector<int> order = canonical_order(ratings.patterns, truth);
  out.of_pattern.resize(order.size());
  for (const int p : order) {
    out.of_pattern[p] = static_cast<int>(out.cases.size());
    out.cases.push_back(is_judged(ratings.patterns, truth, p) ? ratings.weight[p] : 0);
  }
  return out;
}

Estimator::Estimator(const Ratings& ratings, Cells cells)
    : ratings_(ratings), cells_(std::move(cells)), systems_(ratings.patterns.systems) {}

std::vector<double> Estimator::of_patterns(const std::vector<double>& weight_of_cells) const {
  std::vector<double> out;
  for (const int cell : cells_.of_pattern) out.push_back(weight_of_cells[cell]);
  return out;
}

std::unique_ptr<Estimator> make_estimator(const Ratings& ratings, const EstimatorOptions& options,
                                          const Host& host) {
  switch (options.method) {
    case Method::average:
      return make_average(ratings, options, host);
    case Method::binned:
      return make_binned(ratings, options);
    case Method::unbinned:
      return make_unbinned(ratings, options);
    case Method::joint:
    case Method::shared:
      return make_latent(ratings, options);
  }
  throw std::invalid_argument("no such method");
}

}  // namespace fallible
