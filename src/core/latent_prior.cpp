// The prior of a latent class model.
#include <algorithm>
#include <cmath>

#include "latent.hpp"
#include "special.hpp"

namespace fallible {

namespace {

double normal(double x, double sd) { return -0.5 * x * x / (sd * sd); }

}  // namespace

// Densities of logits and logarithms, so that the mode does not lie on a boundary. Without priors a
// term that no data can outweigh keeps what is not identified near zero.
double LatentClass::log_prior(const Eigen::VectorXd& x, Eigen::VectorXd* gradient) const {
  double out = 0;
  const auto pull = [&](int at, double centre, double sd) {
    out += normal(x[at] - centre, sd);
    if (gradient) (*gradient)[at] -= (x[at] - centre) / (sd * sd);
  };
  if (prior_.none) {
    for (int i = 0; i < size_; ++i) pull(i, 0, 1e4);
    return out;
  }
  const auto rates = base_rates(x);
  for (int k = 0; k < N_; ++k) {
    out += prior_.base_rates * std::log(std::max(rates[k], 1e-300));
    if (gradient && k < N_ - 1) {
      (*gradient)[k] += prior_.base_rates * (1 - N_ * rates[k]);
    }
  }
  const auto beta = [&](int at, double a, double b) {
    const double p = inside(logistic(x[at]));
    out += a * std::log(p) + b * std::log1p(-p);
    if (gradient) (*gradient)[at] += a - (a + b) * p;
  };
  if (mean_at_ >= 0) beta(mean_at_, prior_.correct, prior_.wrong);
  for (int g = 0; g < groups_; ++g) {
    const bool system = rows_.joined() && g == groups_ - 1;
    for (int i = 0; i < per_group_; ++i) {
      const int at = accuracies_at_ + g * per_group_ + i;
      if (system) {
        beta(at, 1, 1);
      } else if (mean_at_ >= 0) {
        const double off = x[at] - x[mean_at_];
        out += normal(off, prior_.spread);
        if (gradient) {
          (*gradient)[at] -= off / (prior_.spread * prior_.spread);
          (*gradient)[mean_at_] += off / (prior_.spread * prior_.spread);
        }
      } else {
        beta(at, prior_.correct, prior_.wrong);
      }
    }
  }
  for (int i = errors_at_; i >= 0 && i < errors_at_ + groups_ * N_ * N_; ++i) {
    pull(i, 0, prior_.errors);
  }
  for (int i = 0; i <= two_kinds_; ++i) {
    if (dispersions_at_ >= 0) pull(dispersions_at_ + i, 0, prior_.dispersion);
    if (shifts_at_ >= 0) pull(shifts_at_ + i, 0, prior_.difficulty);
  }
  return out;
}

double LatentClass::log_prior_constant() const {
  const auto log_beta = [](double a, double b) {
    return log_gamma(a) + log_gamma(b) - log_gamma(a + b);
  };
  const auto normals = [](int count, double sd) { return -count * (log_root_2_pi + std::log(sd)); };
  if (prior_.none) return 0;
  const int raters = groups_ - (rows_.joined() ? 1 : 0);
  const int kinds = groups_ == 0 ? 0 : two_kinds_ ? 2 : 1;
  double out = log_gamma(N_ * prior_.base_rates) - N_ * log_gamma(prior_.base_rates) -
               (mean_at_ >= 0 ? 1 : per_group_) * log_beta(prior_.correct, prior_.wrong);
  if (mean_at_ >= 0) out += normals(raters * per_group_, prior_.spread);
  if (errors_at_ >= 0) out += normals(groups_ * N_ * N_, prior_.errors);
  if (dispersions_at_ >= 0) out += normals(kinds, prior_.dispersion);
  if (shifts_at_ >= 0) out += normals(kinds, prior_.difficulty) + kinds * std::log(2.0);
  return out;
}

}  // namespace fallible
