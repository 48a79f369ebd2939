#include "confusion.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace fallible {

namespace {

// The factor on the diagonal that gives the accuracy over base rates after rows are normalised. The
// logit of what is reached rises with the logarithm of the factor, by at most as much: so the step
// by the difference never goes too far, and where all rows err alike the first one is exact.
double diagonal_factor(double accuracy, const std::vector<double>& base_rates,
                       const std::vector<double>& wrong) {
  double log_factor = 0;
  for (int step = 0; step < 1000; ++step) {
    const double diagonal = std::exp(log_factor) * accuracy;
    double right = 0, left = 0;
    for (std::size_t k = 0; k < wrong.size(); ++k) {
      right += base_rates[k] * diagonal / (diagonal + wrong[k]);
      left += base_rates[k] * wrong[k] / (diagonal + wrong[k]);
    }
    const double difference = std::log(accuracy / (1 - accuracy)) - std::log(right / left);
    log_factor += difference;
    if (std::fabs(difference) < 1e-14) break;
  }
  return std::exp(log_factor);
}

}  // namespace

std::vector<double> confusion_matrix(double accuracy, const std::vector<double>& base_rates,
                                     const ConfusionOptions& options,
                                     const std::vector<double>& factor) {
  const int N = static_cast<int>(base_rates.size());
  accuracy = std::min(std::max(accuracy, 0.0), 1.0);
  std::vector<double> out(static_cast<std::size_t>(N) * N, 0.0), wrong(N, 0.0);
  for (int k = 0; k < N; ++k) {
    double* row = out.data() + static_cast<std::size_t>(k) * N;
    double spread = 0;
    // Relative to the likeliest error, so that no dispersion overflows.
    const int likeliest = options.dispersion >= 1 ? 1 : std::max(k, N - 1 - k);
    for (int l = 0; l < N; ++l) {
      if (l == k) continue;
      row[l] = std::pow(options.dispersion, likeliest - std::abs(k - l));
      spread += row[l];
    }
    for (int l = 0; l < N; ++l) {
      row[l] *= (1 - accuracy) / spread * factor[static_cast<std::size_t>(k) * N + l];
      wrong[k] += row[l];
    }
  }
  const bool certain = accuracy == 0 || accuracy == 1;
  const double scale = options.normalise == Normalise::row || certain
                           ? 1
                           : diagonal_factor(accuracy, base_rates, wrong);
  for (int k = 0; k < N; ++k) {
    double* row = out.data() + static_cast<std::size_t>(k) * N;
    if (options.normalise == Normalise::row || certain) {
      for (int l = 0; l < N; ++l) row[l] *= wrong[k] > 0 ? (1 - accuracy) / wrong[k] : 0;
      row[k] = accuracy;
    } else {
      const double total = scale * accuracy + wrong[k];
      for (int l = 0; l < N; ++l) row[l] /= total;
      row[k] = scale * accuracy / total;
    }
  }
  return out;
}

std::vector<double> error_factors(int categories, double error_range, Stream& stream) {
  std::vector<double> out(static_cast<std::size_t>(categories) * categories, 1.0);
  if (error_range == 0) return out;
  for (int k = 0; k < categories; ++k) {
    for (int l = 0; l < categories; ++l) {
      if (k != l) {
        // Never zero: a row must keep some error to rescale.
        out[static_cast<std::size_t>(k) * categories + l] =
            1 + error_range * (1 - 2 * stream.uniform());
      }
    }
  }
  return out;
}

double expected_accuracy(const std::vector<double>& confusion,
                         const std::vector<double>& base_rates) {
  double out = 0;
  const std::size_t N = base_rates.size();
  for (std::size_t k = 0; k < N; ++k) out += base_rates[k] * confusion[k * N + k];
  return out;
}

}  // namespace fallible
