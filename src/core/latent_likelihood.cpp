// Passes over the data: the likelihood of a latent class model and its gradient, the posterior of
// the classes, and what is expected under it.
#include <cmath>
#include <limits>

#include "latent.hpp"
#include "special.hpp"

namespace fallible {

namespace {

constexpr double vanishing = 1e-200;  // of a row, beside which rounding to zero would matter

using Classes = Eigen::Map<Eigen::ArrayXd>;
using Constants = Eigen::Map<const Eigen::ArrayXd>;

}  // namespace

// Products of probabilities are quicker than sums of logarithms, which are for rows so long or so
// unlikely that nothing would be left of the product.
double LatentClass::expect(const Tables& tables, int row, double* posterior) const {
  const int K = S_ * N_;
  Classes p(posterior, K);
  p = Constants(tables.of_class.data(), K);
  for (int i = rows_.start[row]; i < rows_.start[row + 1]; ++i) {
    const std::size_t rating = static_cast<std::size_t>(rows_.unit[i]) * N_ + rows_.category[i];
    p *= Constants(&tables.probability[rating * K], K);
  }
  const int known = rows_.known[row];
  for (int c = 0; known >= 0 && c < K; ++c) {
    if (c % N_ != known) p[c] = 0;
  }
  const double total = p.sum();
  if (total < vanishing) return expect_by_logs(tables, row, posterior);
  p /= total;
  return std::log(total);
}

double LatentClass::expect_by_logs(const Tables& tables, int row, double* posterior) const {
  const int K = S_ * N_;
  Classes p(posterior, K);
  p = Constants(tables.log_class.data(), K);
  for (int i = rows_.start[row]; i < rows_.start[row + 1]; ++i) {
    const std::size_t rating = static_cast<std::size_t>(rows_.unit[i]) * N_ + rows_.category[i];
    p += Constants(&tables.log_probability[rating * K], K);
  }
  const int known = rows_.known[row];
  for (int c = 0; known >= 0 && c < K; ++c) {
    if (c % N_ != known) p[c] = -std::numeric_limits<double>::infinity();
  }
  const double most = p.maxCoeff();
  p = (p - most).exp();
  const double total = p.sum();
  p /= total;
  return most + std::log(total);
}

void LatentClass::count(int row, double weight, const double* posterior,
                        std::vector<double>& counts, std::vector<double>& classes) const {
  const int K = S_ * N_;
  const Constants p(posterior, K);
  Classes(classes.data(), K) += weight * p;
  for (int i = rows_.start[row]; i < rows_.start[row + 1]; ++i) {
    const std::size_t rating = static_cast<std::size_t>(rows_.unit[i]) * N_ + rows_.category[i];
    Classes(&counts[rating * K], K) += weight * p;
  }
}

// The gradient of the log likelihood is that of the expected complete-data log likelihood.
void LatentClass::add_gradient(const Eigen::VectorXd& x, const Tables& tables,
                               const std::vector<double>& counts,
                               const std::vector<double>& classes,
                               Eigen::VectorXd& gradient) const {
  const int K = S_ * N_;
  const auto rates = base_rates(x);
  double cases = 0;
  std::vector<double> of_category(N_, 0.0);
  for (int c = 0; c < K; ++c) {
    of_category[c % N_] += classes[c];
    cases += classes[c];
  }
  for (int k = 0; k < N_ - 1; ++k) gradient[k] += of_category[k] - cases * rates[k];

  for (int u = 0; u < U_; ++u) {
    if (group_[u] < 0) continue;
    for (int k = 0; k < N_; ++k) {
      const double accuracy = tables.accuracy[u * N_ + k];
      const double* error = &tables.error[(static_cast<std::size_t>(u) * N_ + k) * N_];
      const Strata* strata = S_ > 1 ? &tables.strata[u * N_ + k] : nullptr;
      double wrong_total = 0, distance = 0, mean_distance = 0;
      for (int s = 0; s < S_; ++s) {
        double right = 0, wrong = 0;
        for (int l = 0; l < N_; ++l) {
          const double n = counts[(static_cast<std::size_t>(u) * N_ + l) * K + s * N_ + k];
          (l == k ? right : wrong) += n;
          if (l != k) distance += n * std::abs(k - l);
          if (l != k && errors_at_ >= 0) gradient[error_at(u, k, l)] += n;
        }
        wrong_total += wrong;
        const double p = inside(strata ? strata->p[s] : accuracy);
        const double slope = right / p - wrong / (1 - p);
        const double by_accuracy = strata ? strata->by_accuracy[s] : 1;
        gradient[accuracy_at(u, k)] += slope * by_accuracy * accuracy * (1 - accuracy);
        if (shifts_at_ >= 0) {
          gradient[shift_at(u)] += (x[shift_at(u)] < 0 ? -1 : 1) * slope * strata->by_shift[s];
        }
      }
      for (int l = 0; l < N_; ++l) {
        if (l == k) continue;
        mean_distance += error[l] * std::abs(k - l);
        if (errors_at_ >= 0) gradient[error_at(u, k, l)] -= wrong_total * error[l];
      }
      if (dispersions_at_ >= 0) {
        gradient[dispersion_at(u)] += wrong_total * mean_distance - distance;
      }
    }
  }
}

double LatentClass::evaluate(const Eigen::VectorXd& x, Eigen::VectorXd* gradient,
                             double* log_likelihood) const {
  const Tables t = tables(x);
  const int K = S_ * N_;
  std::vector<double> posterior(K), classes(K, 0.0), counts;
  if (gradient) counts.assign(t.log_probability.size(), 0.0);
  double total = 0;
  for (int i = 0; i < rows_.size(); ++i) {
    const double w = rows_.weight[i];
    if (w == 0) continue;
    total += w * expect(t, i, posterior.data());
    if (gradient) count(i, w, posterior.data(), counts, classes);
  }
  if (log_likelihood) *log_likelihood = total;
  if (gradient) {
    gradient->setZero(size_);
    add_gradient(x, t, counts, classes, *gradient);
  }
  return total + log_prior(x, gradient);
}

std::vector<double> LatentClass::posterior(const Eigen::VectorXd& x) const {
  const Tables t = tables(x);
  std::vector<double> out(static_cast<std::size_t>(rows_.size()) * N_, 0.0), classes(S_ * N_);
  for (int i = 0; i < rows_.size(); ++i) {
    expect(t, i, classes.data());
    for (int c = 0; c < S_ * N_; ++c) out[static_cast<std::size_t>(i) * N_ + c % N_] += classes[c];
  }
  return out;
}

std::vector<double> LatentClass::expected_ratings(const Eigen::VectorXd& x) const {
  const Tables t = tables(x);
  const int K = S_ * N_;
  std::vector<double> posterior(K), classes(K, 0.0), counts(t.log_probability.size(), 0.0);
  for (int i = 0; i < rows_.size(); ++i) {
    if (rows_.weight[i] == 0) continue;
    expect(t, i, posterior.data());
    count(i, rows_.weight[i], posterior.data(), counts, classes);
  }
  std::vector<double> out(static_cast<std::size_t>(U_) * N_ * N_, 0.0);
  for (std::size_t i = 0; i < counts.size(); ++i) out[i / K * N_ + i % K % N_] += counts[i];
  return out;
}

Eigen::MatrixXd LatentClass::scores(const Eigen::VectorXd& x) const {
  const Tables t = tables(x);
  const int K = S_ * N_;
  Eigen::MatrixXd out(rows_.size(), size_);
  Eigen::VectorXd gradient(size_);
  std::vector<double> posterior(K);
  for (int i = 0; i < rows_.size(); ++i) {
    std::vector<double> classes(K, 0.0), counts(t.log_probability.size(), 0.0);
    expect(t, i, posterior.data());
    count(i, 1, posterior.data(), counts, classes);
    gradient.setZero();
    add_gradient(x, t, counts, classes, gradient);
    out.row(i) = gradient.transpose();
  }
  return out;
}

}  // namespace fallible
