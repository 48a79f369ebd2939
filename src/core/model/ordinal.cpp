#include "ordinal.hpp"

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
      // In the tail that is near: differences of numbers near 1 are of their rounding.
      matrix_.push_back(!first && below > 0
                            ? normal_below(-below) - (last ? 0 : normal_below(-above))
                            : (last ? 1 : normal_below(above)) - (first ? 0 : normal_below(below)));
    }
  }
}

void OrdinalLaw::start(double* parameters, int categories) {
  parameters[0] = 2;
  parameters[1] = categories % 2 == 0 ? 0 : -1;
  std::fill(parameters + 2, parameters + categories, std::log(2.0));
}

double OrdinalLaw::density(double x) { return std::exp(-0.5 * x * x - log_root_2_pi); }

}  // namespace fallible
