#include "confidence.hpp"

#include <algorithm>
#include <cmath>

#include "../base/special.hpp"

namespace fallible {

LevelLaw::LevelLaw(const double* parameters, int levels) {
  wrong_ = right_ = {0};
  double raised = 0;
  for (int j = 0; j < levels - 1; ++j) {
    step_.push_back(std::exp(parameters[levels - 1 + j]));
    raised += step_.back();
    wrong_.push_back(parameters[j]);
    right_.push_back(parameters[j] + raised);
  }
  to_shares(wrong_.begin(), wrong_.end());
  to_shares(right_.begin(), right_.end());
}

void LevelLaw::start(const std::vector<double>& seen, double* parameters) {
  constexpr double extra = 0.5, least_step = 0.05;
  const std::size_t steps = seen.size() / 2 - 1;
  const auto log_of = [&](std::size_t i) { return std::log(seen[i] + extra); };
  for (std::size_t j = 1; j <= steps; ++j) {
    parameters[j - 1] = log_of(2 * j) - log_of(0);
    const double rise = log_of(2 * j + 1) - log_of(2 * j) - log_of(2 * j - 1) + log_of(2 * j - 2);
    parameters[steps + j - 1] = std::log(std::max(rise, least_step));
  }
}

}  // namespace fallible
