#include "estimator.hpp"

#include <stdexcept>
#include <utility>

namespace fallible {

bool gives_one_answer(const Ratings& ratings, int system) {
  int first_answer = 0;
  for (int p = 0; system >= 0 && p < ratings.patterns.patterns; ++p) {
    const int answer = ratings.patterns.answer_of(p, system);
    if (first_answer == 0) first_answer = answer;
    if (answer > 0 && answer != first_answer) return false;
  }
  return first_answer > 0;
}

std::vector<bool> patterns_to_fit(const Ratings& ratings, int system) {
  if (system < 0 || !gives_one_answer(ratings, system)) return {};
  std::vector<bool> is_used;
  for (int p = 0; p < ratings.patterns.patterns; ++p) {
    is_used.push_back(ratings.patterns.answer_of(p, system) > 0);
  }
  return is_used;
}

std::vector<double> mask_weights(std::vector<double> pattern_weight,
                                 const std::vector<bool>& is_used) {
  for (std::size_t p = 0; p < is_used.size(); ++p) {
    if (!is_used[p]) pattern_weight[p] = 0;
  }
  return pattern_weight;
}

RightAnswers::RightAnswers(const Ratings& ratings, const std::vector<double>& weight, int system,
                           const LatentRows& rows, const std::vector<double>& posterior) {
  for_each_answer(ratings, system, rows, [&](int p, int row, int answer) {
    cases += weight[p];
    right += weight[p] * row_of(posterior, row, rows.categories)[answer];
  });
}

std::vector<double> answer_counts(const Ratings& ratings, const std::vector<double>& weight,
                                  int system, const LatentRows& rows,
                                  const std::vector<double>& posterior) {
  const int N = rows.categories;
  Table<double> counts(N, N);
  for_each_answer(ratings, system, rows, [&](int p, int row, int answer) {
    for (int k = 0; k < N; ++k) counts[k][answer] += weight[p] * row_of(posterior, row, N)[k];
  });
  return std::move(counts.values());
}

Cells pattern_cells(const Ratings& ratings) {
  Cells cells;
  const std::vector<int>& truth = ratings.known.truth;
  const std::vector<int> order = canonical_order(ratings.patterns, truth);
  cells.cell_of_pattern.resize(order.size());
  for (const int p : order) {
    cells.cell_of_pattern[p] = static_cast<int>(cells.cases.size());
    cells.cases.push_back(has_truth_information(ratings.patterns, truth, p) ? ratings.weight[p]
                                                                            : 0);
  }
  return cells;
}

Estimator::Estimator(const Ratings& ratings, Cells cells)
    : ratings_(ratings), cells_(std::move(cells)), systems_(ratings.patterns.systems) {}

std::vector<double> Estimator::expand_weights(const std::vector<double>& cell_weight) const {
  std::vector<double> pattern_weight;
  for (const int cell : cells_.cell_of_pattern) pattern_weight.push_back(cell_weight[cell]);
  return pattern_weight;
}

std::unique_ptr<Estimator> make_estimator(const Ratings& ratings, const EstimatorOptions& options,
                                          const Host& host) {
  switch (options.method) {
    case Method::average:
      return make_average(ratings, options, host);
    case Method::binned:
      return make_k_estimator(ratings, {options.clip, options.bin_width});
    case Method::unbinned:
      return make_k_estimator(ratings, {options.clip});
    case Method::joint:
    case Method::shared:
      return make_latent(ratings, options);
  }
  throw std::invalid_argument("internal error, please report it: unknown method");
}

}  // namespace fallible
