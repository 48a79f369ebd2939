#include "random.hpp"

#include <algorithm>
#include <cmath>

#include "special.hpp"

namespace fallible {

namespace {

double log_factorial(double k) { return log_gamma(k + 1); }

// Draws a binomial number for p <= 1/2 by inversion: subtracts the probabilities of 0, 1, 2, ...
// successes from one uniform number. Used if n * p < 10, where few subtractions are needed.
std::int64_t binomial_inversion(Stream& stream, double n, double p) {
  const double s = p / (1 - p);
  const double a = (n + 1) * s;
  double mass = std::exp(n * std::log1p(-p));  // log1p() keeps the digits of a small p
  double u = stream.uniform();
  double k = 0;
  // Because of rounding, u may exceed the sum of all masses. The loop then ends at n, or at the
  // first k whose mass is rounded to 0.
  while (u > mass && mass > 0 && k < n) {
    u -= mass;
    ++k;
    mass *= a / k - s;
  }
  return static_cast<std::int64_t>(k);
}

// Draws a binomial number for p <= 1/2 by transformed rejection, algorithm BTRS of Hoermann (1993),
// J. Stat. Comput. Simul. 46, 101-110. Used if n * p >= 10; time does not depend on n.
std::int64_t binomial_rejection(Stream& stream, double n, double p) {
  const double spread = std::sqrt(n * p * (1 - p));
  const double b = 1.15 + 2.53 * spread;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double centre = n * p + 0.5;
  const double quick_acceptance_limit = 0.92 - 4.2 / b;
  for (;;) {
    const double u = stream.uniform() - 0.5;
    const double v = stream.uniform();
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + centre);
    if (us >= 0.07 && v <= quick_acceptance_limit) return static_cast<std::int64_t>(k);
    if (!(k >= 0 && k <= n)) continue;
    const double alpha = (2.83 + 5.1 / b) * spread;
    const double mode = std::floor((n + 1) * p);
    const double log_factorials_at_mode = log_factorial(mode) + log_factorial(n - mode);
    const double log_ratio = log_factorials_at_mode - log_factorial(k) - log_factorial(n - k) +
                             (k - mode) * std::log(p / (1 - p));
    if (std::log(v * alpha / (a / (us * us) + b)) <= log_ratio) {
      return static_cast<std::int64_t>(k);
    }
  }
}

}  // namespace

Stream::Stream(std::uint64_t seed, std::uint64_t item, std::uint64_t lane) {
  engine_.seed(std::uint64_t{seed});
  engine_.set_counter(0, 0, lane, item);
}

std::int64_t Stream::binomial(std::int64_t trials, double probability) {
  if (trials <= 0 || probability <= 0) return 0;
  if (probability >= 1) return trials;
  if (probability > 0.5) return trials - binomial(trials, 1 - probability);
  const double n = static_cast<double>(trials);
  return n * probability < 10 ? binomial_inversion(*this, n, probability)
                              : binomial_rejection(*this, n, probability);
}

// Box-Muller method. Each statement draws one number. If one expression drew two numbers, compilers
// could draw them in different orders.
double Stream::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(6.283185307179586477 * uniform());
}

// Method of Marsaglia and Tsang (2000), ACM Trans. Math. Softw. 26, 363-372, on the log scale.
// Shapes below 1 use a draw with shape + 1.
double Stream::log_gamma(double shape) {
  if (shape < 1) {
    const double u = 1 - uniform();
    return log_gamma(shape + 1) + std::log(u) / shape;
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal();
    const double u = 1 - uniform();
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double log_v = 3 * std::log(root), square = x * x;
    // Accepts the draw if either condition is true. The first condition implies the second one. It
    // is checked first because it needs no logarithm.
    if (u < 1 - 0.0331 * square * square ||
        std::log(u) < square / 2 + d - d * std::exp(log_v) + d * log_v) {
      return std::log(d) + log_v;
    }
  }
}

void dirichlet(Stream& stream, const double* parameter, int size, double* probability) {
  for (int l = 0; l < size; ++l) probability[l] = stream.log_gamma(parameter[l]);
  softmax(probability, probability + size);
}

void multinomial(Stream& stream, std::int64_t trials, const std::vector<double>& weight,
                 std::vector<double>& count) {
  double remaining = 0;
  // The last category with a positive weight takes all remaining draws. Rounding errors in
  // `remaining`, the sum of the remaining weights, then cannot lose draws.
  std::size_t last_positive = 0;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    remaining += weight[i];
    if (weight[i] > 0) last_positive = i;
  }
  count.assign(weight.size(), 0.0);
  for (std::size_t i = 0; i <= last_positive && trials > 0; ++i) {
    const std::int64_t drawn =
        i == last_positive ? trials : stream.binomial(trials, std::min(weight[i] / remaining, 1.0));
    count[i] = static_cast<double>(drawn);
    trials -= drawn;
    remaining -= weight[i];
  }
}

}  // namespace fallible
