// The probabilities that parameters of a latent class model stand for.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "latent.hpp"
#include "special.hpp"

namespace fallible {

namespace {

std::vector<double> exponentials(std::vector<double> x) {
  for (double& value : x) value = std::exp(value);
  return x;
}

}  // namespace

Strata::Strata(double accuracy, double d) {
  // The sum of the three rises with p and is linear between these points.
  double knot[6] = {-d, 0, d, 1 - d, 1, 1 + d};
  std::sort(knot, knot + 6);
  const auto sum = [d](double x) {
    double out = 0;
    for (int s = -1; s <= 1; ++s) out += std::min(std::max(x + s * d, 0.0), 1.0);
    return out;
  };
  int i = 0;
  while (i < 4 && sum(knot[i + 1]) < 3 * accuracy) ++i;
  const double low = sum(knot[i]), high = sum(knot[i + 1]);
  const double centre =
      high > low ? knot[i] + (3 * accuracy - low) / (high - low) * (knot[i + 1] - knot[i])
                 : knot[i + 1];
  int free = 0, side = 0;
  for (int s = -1; s <= 1; ++s) {
    const double x = centre + s * d;
    p[s + 1] = std::min(std::max(x, 0.0), 1.0);
    if (x > 0 && x < 1) {
      ++free;
      side += s;
    }
  }
  for (int s = -1; s <= 1; ++s) {
    const bool moves = p[s + 1] > 0 && p[s + 1] < 1;
    by_accuracy[s + 1] = moves ? 3.0 / free : 0;
    by_shift[s + 1] = moves ? s - static_cast<double>(side) / free : 0;
  }
}

LatentClass::Tables LatentClass::tables(const Eigen::VectorXd& x) const {
  Tables out;
  const int K = S_ * N_;
  const auto rates = base_rates(x);
  for (int s = 0; s < S_; ++s) {
    for (int k = 0; k < N_; ++k) out.log_class.push_back(std::log(rates[k] / S_));
  }
  const std::size_t matrix = static_cast<std::size_t>(N_) * N_;
  out.accuracy.resize(static_cast<std::size_t>(U_) * N_);
  out.error.assign(U_ * matrix, 0.0);
  out.log_probability.resize(U_ * N_ * static_cast<std::size_t>(K));
  std::vector<double> log_error(U_ * matrix, 0.0), log_right(S_), log_wrong(S_);
  for (int u = 0; u < U_; ++u) {
    if (group_[u] < 0) {
      fill_known(u, out);
      continue;
    }
    // Units whose errors have the same parameters have the same errors.
    const bool same = u > 0 && group_[u - 1] >= 0 && !held_.log_error && errors_at_ < 0 &&
                      dispersion_at(u) == dispersion_at(u - 1);
    double* errors = &out.error[u * matrix];
    double* log_errors = &log_error[u * matrix];
    if (same) {
      std::copy(errors - matrix, errors, errors);
      std::copy(log_errors - matrix, log_errors, log_errors);
    } else if (held_.log_error) {
      std::copy_n(held_.log_error->begin() + u * matrix, matrix, log_errors);
    } else {
      error_rates(x, u, errors, log_errors);
    }
    for (int k = 0; k < N_; ++k) {
      if (k > 0 && per_group_ == 1) {
        out.accuracy[u * N_ + k] = out.accuracy[u * N_];
        if (S_ > 1) out.strata.push_back(out.strata.back());
      } else {
        const double accuracy = out.accuracy[u * N_ + k] = logistic(x[accuracy_at(u, k)]);
        if (S_ > 1) out.strata.emplace_back(accuracy, shift(x, is_system(u)));
        for (int s = 0; s < S_; ++s) {
          const double p = inside(S_ > 1 ? out.strata.back().p[s] : accuracy);
          log_right[s] = std::log(p);
          log_wrong[s] = std::log1p(-p);
        }
      }
      for (int s = 0; s < S_; ++s) {
        for (int l = 0; l < N_; ++l) {
          out.log_probability[(static_cast<std::size_t>(u) * N_ + l) * K + s * N_ + k] =
              l == k ? log_right[s] : log_wrong[s] + log_errors[k * N_ + l];
        }
      }
    }
  }
  out.of_class = exponentials(out.log_class);
  out.probability = exponentials(out.log_probability);
  return out;
}

// A known matrix is what it is, whatever the difficulty.
void LatentClass::fill_known(int unit, Tables& out) const {
  for (int k = 0; k < N_; ++k) {
    const double* row = &rows_.matrix[unit][static_cast<std::size_t>(k) * N_];
    out.accuracy[unit * N_ + k] = row[k];
    for (int l = 0; l < N_; ++l) {
      if (l != k && row[k] < 1) {
        out.error[(static_cast<std::size_t>(unit) * N_ + k) * N_ + l] = row[l] / (1 - row[k]);
      }
      for (int s = 0; s < S_; ++s) {
        out.log_probability[(static_cast<std::size_t>(unit) * N_ + l) * S_ * N_ + s * N_ + k] =
            std::log(std::max(row[l], floor_probability));
      }
    }
    if (S_ > 1) out.strata.emplace_back(row[k], 0);
  }
}

// Of one unit, truths x ratings.
void LatentClass::error_rates(const Eigen::VectorXd& x, int unit, double* error,
                              double* log_error) const {
  for (int k = 0; k < N_; ++k, error += N_, log_error += N_) {
    double most = -std::numeric_limits<double>::infinity(), total = 0;
    for (int l = 0; l < N_; ++l) {
      if (l == k) continue;
      log_error[l] = errors_at_ >= 0         ? x[error_at(unit, k, l)]
                     : dispersions_at_ >= 0 ? -x[dispersion_at(unit)] * std::abs(k - l)
                                            : 0;
      most = std::max(most, log_error[l]);
    }
    for (int l = 0; l < N_; ++l) {
      if (l != k) total += error[l] = std::exp(log_error[l] - most);
    }
    for (int l = 0; l < N_; ++l) {
      if (l == k) continue;
      error[l] /= total;
      log_error[l] = std::log(std::max(error[l], 1e-300));
    }
  }
}

AnswerLaw LatentClass::law(const Eigen::VectorXd& x) const {
  Tables t = tables(x);
  return {N_, S_ * N_, std::move(t.of_class), std::move(t.probability)};
}

}  // namespace fallible
