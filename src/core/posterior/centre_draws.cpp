#include "centre_draws.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../base/special.hpp"
#include "chain.hpp"

namespace fallible {

namespace {

// Slice sampler with stepping out and shrinkage (Neal, 2003, Ann. Stat. 31, 705-767).
template <class LogDensity>
double slice(double at, double width, Stream& stream, const LogDensity& log_density) {
  constexpr int most_steps = 8;
  const double level = log_density(at) + std::log(1 - stream.uniform());
  double low = at - width * stream.uniform();
  double high = low + width;
  int steps = static_cast<int>(most_steps * stream.uniform());
  for (int i = steps; i > 0 && log_density(low) > level; --i) low -= width;
  for (int i = most_steps - 1 - steps; i > 0 && log_density(high) > level; --i) high += width;
  for (;;) {
    const double next = low + stream.uniform() * (high - low);
    if (log_density(next) > level) return next;
    (next < at ? low : high) = next;
    if (high - low < 1e-12) return at;
  }
}

// Logarithm of a product of positive factors. Computes few logarithms.
class LogProduct {
 public:
  void times(double factor) {
    product_ *= factor;
    if (product_ > 1e200 || product_ < 1e-200) {
      log_ += std::log(product_);
      product_ = 1;
    }
  }
  // Factor gamma(a + n) / gamma(a), for whole n.
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
    : K_(categories), nu_(categories, 4.0), mu_(static_cast<std::size_t>(categories) * categories) {
  for (int k = 0; k < K_; ++k) {
    for (int l = 0; l < K_; ++l) mu_[k * K_ + l] = k == l ? 0.7 : 0.3 / (K_ - 1);
  }
}

std::vector<double> CentreDraws::shares(const std::vector<double>& ratio) const {
  std::vector<double> out = ratio;
  out.push_back(0);
  to_shares(out.begin(), out.end());
  return out;
}

double CentreDraws::log_density(int k, double log_nu, const std::vector<double>& ratio,
                                const std::vector<const double*>& counts) const {
  const std::vector<double> mu = shares(ratio);
  const double nu = std::exp(log_nu);
  const double away = log_nu - std::log(4.0);
  double out = -away * away / 2;
  // Density of the Dirichlet prior, multiplied by the Jacobian of the log ratios.
  for (int l = 0; l < K_; ++l) {
    if (mu[l] <= 0) return -std::numeric_limits<double>::infinity();
    out += (l == k ? 3.0 : 1.0) * std::log(mu[l]);
  }
  LogProduct above, below;
  for (const double* count : counts) {
    const double* row = count + static_cast<std::size_t>(k) * K_;
    double total = 0;
    for (int l = 0; l < K_; ++l) {
      above.times_rising(nu * mu[l], row[l]);
      total += row[l];
    }
    below.times_rising(nu, total);
  }
  return out + above.log() - below.log();
}

void CentreDraws::update(const std::vector<const double*>& counts, bool in_order, Stream& stream) {
  for (int k = 0; k < K_; ++k) {
    std::vector<double> ratio(K_ - 1);
    for (int l = 0; l < K_ - 1; ++l) ratio[l] = std::log(mu_[k * K_ + l] / mu_[k * K_ + K_ - 1]);
    const double log_nu = slice(std::log(nu_[k]), 1.0, stream,
                                [&](double at) { return log_density(k, at, ratio, counts); });
    for (int l = 0; l < K_ - 1; ++l) {
      ratio[l] = slice(ratio[l], 0.7, stream, [&](double at) {
        std::vector<double> moved = ratio;
        moved[l] = at;
        if (in_order) {
          std::vector<double> mu = mu_;
          const std::vector<double> row = shares(moved);
          std::copy(row.begin(), row.end(), mu.begin() + static_cast<std::ptrdiff_t>(k) * K_);
          if (!dominates(mu.data(), K_)) return -std::numeric_limits<double>::infinity();
        }
        return log_density(k, log_nu, moved, counts);
      });
    }
    nu_[k] = std::exp(log_nu);
    const std::vector<double> mu = shares(ratio);
    std::copy(mu.begin(), mu.end(), mu_.begin() + static_cast<std::ptrdiff_t>(k) * K_);
  }
}

}  // namespace fallible
