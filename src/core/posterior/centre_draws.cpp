#include "centre_draws.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../base/slice.hpp"
#include "../base/special.hpp"
#include "chain.hpp"

namespace fallible {

namespace {

// Logarithm of a product of positive factors. Computes few logarithms, because they are slow.
class LogProduct {
 public:
  void times(double factor) {
    product_ *= factor;
    if (product_ > 1e200 || product_ < 1e-200) {
      log_ += std::log(product_);
      product_ = 1;
    }
  }
  // Multiplies by gamma(a + n) / gamma(a), for a whole number n.
  void times_rising(double a, double n) {
    if (n > 40) {
      log_ += log_gamma(a + n) - log_gamma(a);
    } else {
      for (double i = 0; i < n; ++i) times(a + i);
    }
  }
  double log() const { return log_ + std::log(product_); }

 private:
  double log_ = 0, product_ = 1;
};

}  // namespace

CentreDraws::CentreDraws(int categories)
    : K_(categories), nu_(categories, 4.0), mu_(1, categories) {
  set_equal_errors(0.7, mu_[0]);
}

std::vector<double> CentreDraws::mean_row(const std::vector<double>& log_ratio) const {
  std::vector<double> row = log_ratio;
  row.push_back(0);
  softmax(row.begin(), row.end());
  return row;
}

double CentreDraws::log_density(int k, double log_nu, const std::vector<double>& log_ratio,
                                const std::vector<ConstSquare>& counts) const {
  const std::vector<double> mu = mean_row(log_ratio);
  const double nu = std::exp(log_nu);
  const double log_nu_difference = log_nu - std::log(4.0);
  double log_prior = -log_nu_difference * log_nu_difference / 2;
  // Log prior density of the log ratios. The exponent of each probability is its Dirichlet
  // parameter, 3 or 1. (In a density of the probabilities themselves, it would be the parameter
  // minus 1.)
  for (int l = 0; l < K_; ++l) {
    if (mu[l] <= 0) return -std::numeric_limits<double>::infinity();
    log_prior += (l == k ? 3.0 : 1.0) * std::log(mu[l]);
  }
  LogProduct numerator, denominator;
  for (const ConstSquare count : counts) {
    const double* row = count[k];
    double total = 0;
    for (int l = 0; l < K_; ++l) {
      numerator.times_rising(nu * mu[l], row[l]);
      total += row[l];
    }
    denominator.times_rising(nu, total);
  }
  return log_prior + numerator.log() - denominator.log();
}

void CentreDraws::update(const std::vector<ConstSquare>& counts, bool in_order, Stream& stream) {
  const auto draw = [&](double current, double width, const auto& log_density) {
    const double level = log_density(current) + std::log(1 - stream.uniform());
    return step_out_slice(stream, current, level, width, log_density);
  };
  for (int k = 0; k < K_; ++k) {
    double* const row = mu_[0][k];
    std::vector<double> log_ratio(K_ - 1);
    for (int l = 0; l < K_ - 1; ++l) log_ratio[l] = std::log(row[l] / row[K_ - 1]);
    const double log_nu = draw(std::log(nu_[k]), 1.0, [&](double candidate_value) {
      return log_density(k, candidate_value, log_ratio, counts);
    });
    for (int l = 0; l < K_ - 1; ++l) {
      log_ratio[l] = draw(log_ratio[l], 0.7, [&](double candidate_value) {
        std::vector<double> candidate = log_ratio;
        candidate[l] = candidate_value;
        if (in_order) {
          Squares mu = mu_;
          const std::vector<double> candidate_row = mean_row(candidate);
          std::copy(candidate_row.begin(), candidate_row.end(), mu[0][k]);
          if (!dominates(mu[0])) return -std::numeric_limits<double>::infinity();
        }
        return log_density(k, log_nu, candidate, counts);
      });
    }
    nu_[k] = std::exp(log_nu);
    const std::vector<double> mu = mean_row(log_ratio);
    std::copy(mu.begin(), mu.end(), row);
  }
}

}  // namespace fallible
