#include <algorithm>
#include <cmath>
#include <vector>

#include "../base/special.hpp"
#include "layout.hpp"
#include "reading.hpp"

namespace fallible {

namespace {

double normal(double x, double sd) { return -0.5 * x * x / (sd * sd); }

constexpr double free_scale = 1e4;  // of what nothing tells

// Dirichlet densities of rows, of logits: what is added to counts is what is in the exponent.
double log_rows(const Layout& layout, const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
  const int N = layout.categories;
  double out = 0;
  std::vector<double> error(N);
  for (int u = 0; u < layout.rows.judges; ++u) {
    for (int k = 0; k < N && !layout.is_known(u); ++k) {
      const double* alpha = layout.prior_row(u, k);
      const int at = layout.accuracy_at(u, k), first = layout.error_at(u, k, 0);
      double wrong = 0, total = 0, most = -1e300;
      for (int l = 0; l < N; ++l) {
        if (l != k) most = std::max(most, x[first + l]);
      }
      for (int l = 0; l < N; ++l) {
        out += normal(x[first + l], free_scale);
        if (gradient) (*gradient)[first + l] -= x[first + l] / (free_scale * free_scale);
        if (l == k) continue;
        wrong += alpha[l];
        total += error[l] = std::exp(x[first + l] - most);
      }
      const double p = inside(logistic(x[at]));
      out += alpha[k] * std::log(p) + wrong * std::log1p(-p);
      if (gradient) (*gradient)[at] += alpha[k] - (alpha[k] + wrong) * p;
      for (int l = 0; l < N; ++l) {
        if (l == k) continue;
        out += alpha[l] * (x[first + l] - most - std::log(total));
        if (gradient) (*gradient)[first + l] += alpha[l] - wrong * error[l] / total;
      }
    }
  }
  return out;
}

}  // namespace

// Densities of logits and logarithms, so that the mode does not lie on a boundary. Without priors a
// term that no data can outweigh keeps what is not identified near zero.
double log_prior(const Layout& layout, const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
  const LatentPrior& prior = layout.prior;
  const int N = layout.categories;
  double out = 0;
  const auto pull = [&](int at, double centre, double sd) {
    out += normal(x[at] - centre, sd);
    if (gradient) (*gradient)[at] -= (x[at] - centre) / (sd * sd);
  };
  if (prior.none || (prior.pooled && !prior.rows)) {
    for (int i = 0; i < layout.size; ++i) pull(i, 0, free_scale);
    return out;
  }
  const auto rates = Reading(layout, x).base_rates();
  for (int k = 0; k < N; ++k) {
    out += prior.base_rates * std::log(std::max(rates[k], 1e-300));
    if (gradient && k < N - 1) {
      (*gradient)[k] += prior.base_rates * (1 - N * rates[k]);
    }
  }
  if (prior.pooled) return out + log_rows(layout, x, gradient);
  const auto beta = [&](int at, double a, double b) {
    const double p = inside(logistic(x[at]));
    out += a * std::log(p) + b * std::log1p(-p);
    if (gradient) (*gradient)[at] += a - (a + b) * p;
  };
  if (layout.mean_at >= 0) beta(layout.mean_at, prior.correct, prior.wrong);
  for (int g = 0; g < layout.groups; ++g) {
    const bool system = layout.rows.joined() && g == layout.groups - 1;
    for (int i = 0; i < layout.per_group; ++i) {
      const int at = layout.accuracies_at + g * layout.per_group + i;
      if (system) {
        beta(at, 1, 1);
      } else if (layout.mean_at >= 0) {
        const double off = x[at] - x[layout.mean_at];
        out += normal(off, prior.spread);
        if (gradient) {
          (*gradient)[at] -= off / (prior.spread * prior.spread);
          (*gradient)[layout.mean_at] += off / (prior.spread * prior.spread);
        }
      } else {
        beta(at, prior.correct, prior.wrong);
      }
    }
  }
  for (int i = layout.errors_at; i >= 0 && i < layout.errors_at + layout.groups * N * N; ++i) {
    pull(i, 0, prior.errors);
  }
  for (int i = 0; i < layout.kinds; ++i) {
    if (layout.dispersions_at >= 0) pull(layout.dispersions_at + i, 0, prior.dispersion);
    if (layout.shifts_at >= 0) pull(layout.shifts_at + i, 0, prior.difficulty);
  }
  return out;
}

double log_prior_constant(const Layout& layout) {
  const LatentPrior& prior = layout.prior;
  const int N = layout.categories;
  const auto log_beta = [](double a, double b) {
    return log_gamma(a) + log_gamma(b) - log_gamma(a + b);
  };
  const auto normals = [](int count, double sd) { return -count * (log_root_2_pi + std::log(sd)); };
  if (prior.none || prior.pooled) return 0;
  const int raters = layout.groups - (layout.rows.joined() ? 1 : 0);
  double out = log_gamma(N * prior.base_rates) - N * log_gamma(prior.base_rates) -
               (layout.mean_at >= 0 ? 1 : layout.per_group) * log_beta(prior.correct, prior.wrong);
  if (layout.mean_at >= 0) out += normals(raters * layout.per_group, prior.spread);
  if (layout.errors_at >= 0) out += normals(layout.groups * N * N, prior.errors);
  if (layout.dispersions_at >= 0) out += normals(layout.kinds, prior.dispersion);
  if (layout.shifts_at >= 0) {
    out += normals(layout.kinds, prior.difficulty) + layout.kinds * std::log(2.0);
  }
  return out;
}

}  // namespace fallible
