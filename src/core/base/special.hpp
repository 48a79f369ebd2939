// Special functions that the standard library lacks, or that are not safe in it if several threads
// call them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace fallible {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
// Lower limit of probabilities, so that their logarithms are finite.
constexpr double floor_probability = 1e-12;

inline double square(double x) { return x * x; }

inline double logistic(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

// Clips a probability to [1e-12, 1 - 1e-12], so that log(p) and log(1 - p) are finite.
inline double clip_probability(double p) {
  return std::min(std::max(p, floor_probability), 1 - floor_probability);
}

// Standard normal distribution function. Uses erfc(), so the lower tail has full relative
// precision.
inline double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

// The range from `begin` to `end` contains logarithms of positive numbers. Replaces each logarithm
// by the number's share of the total of all numbers, without overflow. Returns the logarithm of the
// total.
template <class Place>
double softmax(Place begin, Place end) {
  const double largest_log = *std::max_element(begin, end);
  double total = 0;
  for (Place x = begin; x != end; ++x) {
    *x = std::exp(*x - largest_log);
    total += *x;
  }
  for (Place x = begin; x != end; ++x) *x /= total;
  return largest_log + std::log(total);
}

// Largest absolute difference between two vectors of the same length. Differences that are NaN are
// ignored.
inline double largest_change(const std::vector<double>& before, const std::vector<double>& after) {
  double largest = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    largest = std::max(largest, std::fabs(after[i] - before[i]));
  }
  return largest;
}

constexpr double log_root_2_pi = 0.918938533204672742;

// Logarithm of the gamma function for x > 0. A recurrence raises x to 8 or more, where Stirling's
// series is exact to 1e-13 (Abramowitz and Stegun, 1964, 6.1.41). Replaces std::lgamma(), which
// writes a global variable and therefore must not be called by several threads.
inline double log_gamma(double x) {
  double product = 1;
  for (; x < 8; x += 1) product *= x;
  const double f = 1 / (x * x);
  const double series =
      1.0 / 12 -
      f * (1.0 / 360 - f * (1.0 / 1260 - f * (1.0 / 1680 - f * (1.0 / 1188 - f * 691 / 360360))));
  return (x - 0.5) * std::log(x) - x + log_root_2_pi + series / x - std::log(product);
}

// Derivative of log_gamma() for x > 0, by the same recurrence and by the series 6.3.18 of
// Abramowitz and Stegun.
inline double digamma(double x) {
  double shift = 0;
  for (; x < 8; x += 1) shift -= 1 / x;
  const double f = 1 / (x * x);
  const double series =
      1.0 / 12 -
      f * (1.0 / 120 - f * (1.0 / 252 - f * (1.0 / 240 - f * (1.0 / 132 - f * 691 / 32760))));
  return shift + std::log(x) - 0.5 / x - f * series;
}

// The first two derivatives of log_gamma(), which are called digamma and trigamma. They are
// computed by the same recurrence, and by the series 6.3.18 and 6.4.12 of Abramowitz and Stegun.
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

inline double clip_to(double x, double limit) { return std::clamp(x, -limit, limit); }

// Clips the concentration of a Dirichlet or Beta distribution (the sum of its parameters). The
// higher it is, the more similar are the draws, for example the confusion matrices of raters. At
// the upper limit all draws are practically equal.
inline double clip_concentration(double concentration) {
  return std::clamp(concentration, 0.1, 1e4);
}

// `value`: psi(a + n) - psi(a), where psi is the digamma function. `derivative`: derivative of this
// difference with respect to a. Both occur in derivatives of Dirichlet-multinomial likelihoods with
// parameter a and count n.
struct DigammaDifference {
  double value, derivative;

  DigammaDifference(double a, double n) {
    const Polygamma at_a(a);
    if (n < 1e-8) {  // the difference would lose all digits
      value = n * at_a.second;
      derivative = 0;
      return;
    }
    const Polygamma at_sum(a + n);
    value = at_sum.first - at_a.first;
    derivative = at_sum.second - at_a.second;
  }
};

// Returns the concentration after one Newton step for its logarithm. `slope` and `curvature` are
// the first and second derivative of the log density with respect to the concentration. Where the
// log density is not concave, the step has length 0.5.
inline double newton_concentration(double concentration, double slope, double curvature) {
  const double log_scale_slope = concentration * slope,
               log_scale_curvature = log_scale_slope + concentration * concentration * curvature;
  const double step = log_scale_curvature < 0 ? -log_scale_slope / log_scale_curvature
                      : log_scale_slope > 0   ? 0.5
                                              : -0.5;
  return clip_concentration(concentration * std::exp(clip_to(step, 0.7)));
}

}  // namespace fallible
