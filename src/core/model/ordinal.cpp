#include "ordinal.hpp"

#include <algorithm>
#include <cmath>

#include "../base/special.hpp"

namespace fallible {

OrdinalLaw::OrdinalLaw(const double* parameters, int categories)
    : categories_(categories), slope_(parameters[0]) {
  const int N = categories, m = middle();
  for (int j = 0; j < N - 2; ++j) step_.push_back(std::exp(parameters[2 + j]));
  threshold_.assign(N - 1, parameters[1]);
  for (int t = m + 1; t < N - 1; ++t) threshold_[t] = threshold_[t - 1] + step_[t - 1];
  for (int t = m - 1; t >= 0; --t) threshold_[t] = threshold_[t + 1] - step_[t];
  for (int k = 0; k < N; ++k) {
    for (int l = 0; l < N; ++l) {
      const bool first = l == 0, last = l == N - 1;
      const double below = first ? 0 : limit(k, l - 1), above = last ? 0 : limit(k, l);
      // Probability that a standard normal number is between `below` and `above`, computed in the
      // nearer tail. In the other tail, a difference of two numbers near 1 would lose all digits.
      matrix_.push_back(!first && below > 0
                            ? normal_cdf(-below) - (last ? 0 : normal_cdf(-above))
                            : (last ? 1 : normal_cdf(above)) - (first ? 0 : normal_cdf(below)));
    }
  }
}

void OrdinalLaw::start(double* parameters, int categories) {
  parameters[0] = 2;
  parameters[1] = categories % 2 == 0 ? 0 : -1;
  std::fill(parameters + 2, parameters + categories, std::log(2.0));
}

double OrdinalLaw::density(double x) { return std::exp(-0.5 * x * x - log_root_2_pi); }

LevelLaw::LevelLaw(const double* parameters, int levels) {
  wrong_ = right_ = {0};
  double step_sum = 0;
  for (int j = 0; j < levels - 1; ++j) {
    step_.push_back(std::exp(parameters[levels - 1 + j]));
    step_sum += step_.back();
    wrong_.push_back(parameters[j]);
    right_.push_back(parameters[j] + step_sum);
  }
  softmax(wrong_.begin(), wrong_.end());
  softmax(right_.begin(), right_.end());
}

void LevelLaw::start(const std::vector<double>& level_counts, double* parameters) {
  // `pseudo_count`: number added to each of `level_counts`, so that logarithms are finite.
  // `least_step`: lower limit of a starting step, because steps must be positive.
  constexpr double pseudo_count = 0.5, least_step = 0.05;
  const std::size_t steps = level_counts.size() / 2 - 1;
  const auto log_of = [&](std::size_t i) { return std::log(level_counts[i] + pseudo_count); };
  for (std::size_t j = 1; j <= steps; ++j) {
    parameters[j - 1] = log_of(2 * j) - log_of(0);
    const double rise = log_of(2 * j + 1) - log_of(2 * j) - log_of(2 * j - 1) + log_of(2 * j - 2);
    parameters[steps + j - 1] = std::log(std::max(rise, least_step));
  }
}

}  // namespace fallible
