#include "estimator.hpp"

#include <stdexcept>
#include <utility>

namespace fallible {

bool gives_one_answer(const Ratings& ratings, int system) {
  int first = 0;
  for (int p = 0; system >= 0 && p < ratings.patterns.patterns; ++p) {
    const int answer = ratings.patterns.answer_of(p, system);
    if (first == 0) first = answer;
    if (answer > 0 && answer != first) return false;
  }
  return first > 0;
}

std::vector<bool> patterns_to_fit(const Ratings& ratings, int system) {
  if (system < 0 || !gives_one_answer(ratings, system)) return {};
  std::vector<bool> out;
  for (int p = 0; p < ratings.patterns.patterns; ++p) {
    out.push_back(ratings.patterns.answer_of(p, system) > 0);
  }
  return out;
}

std::vector<double> masked(std::vector<double> pattern_weight, const std::vector<bool>& is_used) {
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
  Table<double> out(N, N);
  for_each_answer(ratings, system, rows, [&](int p, int row, int answer) {
    for (int k = 0; k < N; ++k) out[k][answer] += weight[p] * row_of(posterior, row, N)[k];
  });
  return std::move(out.values());
}

Cells pattern_cells(const Ratings& ratings) {
  Cells out;
  const std::vector<int>& truth = ratings.known.truth;
  const std::vector<int> order = canonical_order(ratings.patterns, truth);
  out.of_pattern.resize(order.size());
  for (const int p : order) {
    out.of_pattern[p] = static_cast<int>(out.cases.size());
    out.cases.push_back(has_truth_information(ratings.patterns, truth, p) ? ratings.weight[p] : 0);
  }
  return out;
}

Estimator::Estimator(const Ratings& ratings, Cells cells)
    : ratings_(ratings), cells_(std::move(cells)), systems_(ratings.patterns.systems) {}

std::vector<double> Estimator::expand_weights(const std::vector<double>& weight_of_cells) const {
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
