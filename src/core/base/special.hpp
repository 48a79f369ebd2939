// Functions that the standard library lacks, or does not have for threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace fallible {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double floor_probability = 1e-12;  // of an answer, whatever the parameters say

inline double square(double x) { return x * x; }

inline double logistic(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

// The nearest probability that leaves finite logarithms, of itself and of its complement.
inline double inside(double p) {
  return std::min(std::max(p, floor_probability), 1 - floor_probability);
}

// Probability that a standard normal variable is below, exact in the lower tail.
inline double normal_below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

// Logarithms become the shares that their numbers have of the sum, whose logarithm is returned.
template <class Place>
double to_shares(Place begin, Place end) {
  const double most = *std::max_element(begin, end);
  double total = 0;
  for (Place x = begin; x != end; ++x) {
    *x = std::exp(*x - most);
    total += *x;
  }
  for (Place x = begin; x != end; ++x) *x /= total;
  return most + std::log(total);
}

// What is not a number in either has not changed.
inline double largest_change(const std::vector<double>& before, const std::vector<double>& after) {
  double out = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    out = std::max(out, std::fabs(after[i] - before[i]));
  }
  return out;
}

constexpr double log_root_2_pi = 0.918938533204672742;

// The gamma function's logarithm and its derivative, both for x > 0, by recurrence to where
// Stirling's series is exact to 1e-13 (Abramowitz and Stegun, 1964, 6.1.41 and 6.3.18). std::lgamma
// writes a global and so is not for threads.
inline double log_gamma(double x) {
  double product = 1;
  for (; x < 8; x += 1) product *= x;
  const double f = 1 / (x * x);
  const double series =
      1.0 / 12 -
      f * (1.0 / 360 - f * (1.0 / 1260 - f * (1.0 / 1680 - f * (1.0 / 1188 - f * 691 / 360360))));
  return (x - 0.5) * std::log(x) - x + log_root_2_pi + series / x - std::log(product);
}

inline double digamma(double x) {
  double out = 0;
  for (; x < 8; x += 1) out -= 1 / x;
  const double f = 1 / (x * x);
  const double series =
      1.0 / 12 -
      f * (1.0 / 120 - f * (1.0 / 252 - f * (1.0 / 240 - f * (1.0 / 132 - f * 691 / 32760))));
  return out + std::log(x) - 0.5 / x - f * series;
}

// The first two derivatives of log_gamma together, by the same recurrence (6.3.18 and 6.4.12).
struct Polygamma {
  double first = 0, second = 0;

  explicit Polygamma(double x) {
    for (; x < 8; x += 1) {
      const double inverse = 1 / x;
      first -= inverse;
      second += inverse * inverse;
    }
    const double g = 1 / x, f = g * g;
    first += std::log(x) - 0.5 * g -
             f * (1.0 / 12 -
                  f * (1.0 / 120 -
                       f * (1.0 / 252 - f * (1.0 / 240 - f * (1.0 / 132 - f * 691 / 32760)))));
    second +=
        g + 0.5 * f +
        g * f *
            (1.0 / 6 -
             f * (1.0 / 30 - f * (1.0 / 42 - f * (1.0 / 30 - f * (5.0 / 66 - f * 691 / 2730)))));
  }
};

constexpr double least_size = 0.1,
                 most_size = 1e4;  // of a concentration: at the last all are equal

inline double bounded(double x, double most) { return std::clamp(x, -most, most); }

// Of the concentration of a centre; at the upper limit all are equal.
inline double in_range(double size) { return std::clamp(size, 0.1, 1e4); }

// psi(a + n) - psi(a) and its derivative by a.
struct Gain {
  double value, bend;

  Gain(double a, double n) {
    const Polygamma low(a);
    if (n < 1e-8) {  // differences of digammas would cancel
      value = n * low.second;
      bend = 0;
      return;
    }
    const Polygamma high(a + n);
    value = high.first - low.first;
    bend = high.second - low.second;
  }
};

// A Newton step on the logarithm of a concentration, from the slope and the bend of the log
// density. A fixed point step would take thousands of rounds in sparse crowds.
inline double next_size(double size, double slope, double bend) {
  const double value = size * slope, derivative = value + size * size * bend;
  const double step = derivative < 0 ? -value / derivative : value > 0 ? 0.5 : -0.5;
  return in_range(size * std::exp(bounded(step, 0.7)));
}

}  // namespace fallible
