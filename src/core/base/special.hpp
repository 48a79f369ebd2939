// Special functions that the standard library lacks or does not offer in a thread-safe form.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace fallible {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double floor_probability = 1e-12;  // least probability of an answer, for all parameters

inline double square(double x) { return x * x; }

inline double logistic(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

// Moves a probability away from 0 and 1, so that log(p) and log(1 - p) are finite.
inline double inside(double p) {
  return std::min(std::max(p, floor_probability), 1 - floor_probability);
}

// Standard normal distribution function, accurate in the lower tail.
inline double normal_below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

// Replaces logarithms of numbers by the numbers divided by their sum. Returns the logarithm of the
// sum.
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

// Largest absolute difference. A difference that is NaN is ignored.
inline double largest_change(const std::vector<double>& before, const std::vector<double>& after) {
  double out = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    out = std::max(out, std::fabs(after[i] - before[i]));
  }
  return out;
}

constexpr double log_root_2_pi = 0.918938533204672742;

// Logarithm of the gamma function and its derivative for x > 0. A recurrence raises x until
// Stirling's series is exact to 1e-13 (Abramowitz and Stegun, 1964, 6.1.41 and 6.3.18). std::lgamma
// writes a global variable, so threads cannot use it.
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

// First two derivatives of log_gamma(), by the same recurrence (6.3.18 and 6.4.12).
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
                 most_size = 1e4;  // range of a concentration; raters are equal at the upper end

inline double bounded(double x, double most) { return std::clamp(x, -most, most); }

// Limits the concentration of a centre. At the upper limit all raters are equal.
inline double in_range(double size) { return std::clamp(size, 0.1, 1e4); }

// psi(a + n) - psi(a) and its derivative by a; psi is the digamma function.
struct Gain {
  double value, bend;

  Gain(double a, double n) {
    const Polygamma low(a);
    if (n < 1e-8) {  // the difference of digammas would cancel
      value = n * low.second;
      bend = 0;
      return;
    }
    const Polygamma high(a + n);
    value = high.first - low.first;
    bend = high.second - low.second;
  }
};

// One Newton step on the logarithm of a concentration, from the first two derivatives of the log
// density. A fixed-point iteration would need thousands of rounds in sparse crowds.
inline double next_size(double size, double slope, double bend) {
  const double value = size * slope, derivative = value + size * size * bend;
  const double step = derivative < 0 ? -value / derivative : value > 0 ? 0.5 : -0.5;
  return in_range(size * std::exp(bounded(step, 0.7)));
}

}  // namespace fallible
