#include "counts.hpp"

#include <algorithm>
#include <cmath>

#include "../base/special.hpp"

namespace fallible {

namespace {

using Classes = Eigen::Map<Eigen::ArrayXd>;
using Constants = Eigen::Map<const Eigen::ArrayXd>;

}  // namespace

Counts::Counts(const Layout& layout)
    : ratings(static_cast<std::size_t>(layout.rows.judges) * layout.categories * layout.classes()),
      classes(layout.classes()) {}

void Counts::clear() {
  std::fill(ratings.begin(), ratings.end(), 0.0);
  std::fill(classes.begin(), classes.end(), 0.0);
}

void Counts::add(const LatentRows& rows, int row, double weight, const double* posterior) {
  const int K = static_cast<int>(classes.size());
  const Constants p(posterior, K);
  Classes(classes.data(), K) += weight * p;
  for (const int at : rows.places(row)) {
    Classes(&ratings[rows.rating(at) * K], K) += weight * p;
  }
}

void add_gradient(const Layout& layout, const Eigen::VectorXd& x, const Law& law,
                  const Counts& counts, Eigen::VectorXd& gradient) {
  const int N = layout.categories, S = layout.strata;
  double cases = 0;
  std::vector<double> of_category(N, 0.0);
  for (int c = 0; c < law.classes; ++c) {
    of_category[c % N] += counts.classes[c];
    cases += counts.classes[c];
  }
  for (int k = 0; k < N - 1; ++k) gradient[k] += of_category[k] - cases * law.base_rates[k];

  for (int u = 0; u < layout.rows.judges; ++u) {
    if (layout.is_known(u)) continue;
    for (int k = 0; k < N; ++k) {
      const double accuracy = law.accuracy[u * N + k];
      const double* error = law.error(u) + k * N;
      const Strata* strata = S > 1 ? &law.strata[u * N + k] : nullptr;
      double wrong_total = 0, distance = 0, mean_distance = 0;
      for (int s = 0; s < S; ++s) {
        double right = 0, wrong = 0;
        for (int l = 0; l < N; ++l) {
          const double n = counts.ratings[law.place(u, l) + s * N + k];
          (l == k ? right : wrong) += n;
          if (l != k) distance += n * std::abs(k - l);
          if (l != k && layout.errors_at >= 0) gradient[layout.error_at(u, k, l)] += n;
        }
        wrong_total += wrong;
        const double p = inside(strata ? strata->p[s] : accuracy);
        const double slope = right / p - wrong / (1 - p);
        const double by_accuracy = strata ? strata->by_accuracy[s] : 1;
        gradient[layout.accuracy_at(u, k)] += slope * by_accuracy * accuracy * (1 - accuracy);
        if (layout.shifts_at >= 0) {
          const int at = layout.shift_at(u);
          gradient[at] += (x[at] < 0 ? -1 : 1) * slope * strata->by_shift[s];
        }
      }
      for (int l = 0; l < N; ++l) {
        if (l == k) continue;
        mean_distance += error[l] * std::abs(k - l);
        if (layout.errors_at >= 0) gradient[layout.error_at(u, k, l)] -= wrong_total * error[l];
      }
      if (layout.dispersions_at >= 0) {
        gradient[layout.dispersion_at(u)] += wrong_total * mean_distance - distance;
      }
    }
  }
}

namespace {

// Logarithms of such numbers of errors, around zero in each row.
void free_errors(const Layout& layout, const Eigen::VectorXd& errors, Eigen::VectorXd& x) {
  const int N = layout.categories;
  for (int g = 0; g < layout.groups; ++g) {
    for (int k = 0; k < N; ++k) {
      const int row = layout.errors_at + (g * N + k) * N;
      double centre = 0;
      for (int l = 0; l < N; ++l) {
        if (l != k) centre += (x[row + l] = std::log(errors[row + l])) / (N - 1);
      }
      for (int l = 0; l < N; ++l) {
        if (l != k) x[row + l] -= centre;
      }
    }
  }
}

}  // namespace

Eigen::VectorXd reestimate(const Layout& layout, const Counts& counts) {
  const int N = layout.categories, K = layout.classes();
  const bool pooled = layout.prior.pooled;
  const double extra = layout.prior.none || pooled ? 1e-10 : 0.2;  // nothing is impossible
  Eigen::VectorXd x = Eigen::VectorXd::Zero(layout.size);
  std::vector<double> of_category(N, pooled ? layout.prior.base_rates : extra);
  for (int c = 0; c < K; ++c) of_category[c % N] += counts.classes[c];
  for (int k = 0; k < N - 1; ++k) x[k] = std::log(of_category[k] / of_category[N - 1]);

  Eigen::VectorXd right = Eigen::VectorXd::Constant(layout.size, extra), wrong = right,
                  errors = right;
  for (int u = 0; u < layout.rows.judges; ++u) {
    if (layout.is_known(u)) continue;
    for (int k = 0; k < N; ++k) {
      for (int l = 0; l < N; ++l) {
        double n = layout.prior.rows ? layout.prior_row(u, k)[l] : 0;
        for (int c = k; c < K; c += N) {
          n += counts.ratings[(static_cast<std::size_t>(u) * N + l) * K + c];
        }
        (l == k ? right : wrong)[layout.accuracy_at(u, k)] += n;
        if (l != k && layout.errors_at >= 0) errors[layout.error_at(u, k, l)] += n;
      }
    }
  }
  const int accuracies = layout.groups * layout.per_group;
  double mean = 0;
  for (int at = layout.accuracies_at; at < layout.accuracies_at + accuracies; ++at) {
    x[at] = std::log(right[at] / wrong[at]);
    mean += x[at] / accuracies;
  }
  if (layout.mean_at >= 0) x[layout.mean_at] = mean;
  if (layout.errors_at >= 0) free_errors(layout, errors, x);
  for (int i = 0; i < layout.kinds; ++i) {
    if (layout.dispersions_at >= 0) x[layout.dispersions_at + i] = 0.2;
    if (layout.shifts_at >= 0) x[layout.shifts_at + i] = 0.1;
  }
  return x;
}

}  // namespace fallible
