#include "latent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "special.hpp"

namespace fallible {

namespace {

constexpr double floor_probability = 1e-12;  // of an answer, whatever the parameters say
constexpr double vanishing = 1e-200;         // of a row, beside which rounding to zero would matter

double logistic(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

double inside(double p) {
  return std::min(std::max(p, floor_probability), 1 - floor_probability);
}

using Classes = Eigen::Map<Eigen::ArrayXd>;
using Constants = Eigen::Map<const Eigen::ArrayXd>;

double normal(double x, double sd) { return -0.5 * x * x / (sd * sd); }

}  // namespace

std::vector<double> exponentials(std::vector<double> x) {
  for (double& value : x) value = std::exp(value);
  return x;
}

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

LatentClass::LatentClass(const LatentRows& rows, const LatentModel& model,
                         const LatentPrior& prior, const Held& held)
    : rows_(rows), model_(model), prior_(prior), held_(held), N_(rows.categories),
      S_(model.strata ? 3 : 1), U_(rows.units) {
  const bool free = model_.errors == Errors::free;
  const int own_system = rows_.joined() ? 1 : 0;
  groups_ = 0;
  for (int u = 0; u < U_; ++u) {
    const bool shared = !model_.by_rater && groups_ > 0 && !is_system(u);
    group_.push_back(rows_.is_known(u) ? -1 : shared ? 0 : groups_++);
  }
  two_kinds_ = own_system && model_.own && groups_ > 1;
  per_group_ = free ? N_ : 1;
  int at = N_ - 1;
  const auto place = [&at](int count) {
    const int first = count > 0 ? at : -1;
    at += count;
    return first;
  };
  const int kinds = groups_ == 0 ? 0 : two_kinds_ ? 2 : 1;
  mean_at_ = place(model_.by_rater && !prior_.none && groups_ > own_system ? 1 : 0);
  accuracies_at_ = place(groups_ * per_group_);
  errors_at_ = place(free ? groups_ * N_ * N_ : 0);
  dispersions_at_ = place(model_.errors == Errors::distance && !held_.log_error ? kinds : 0);
  shifts_at_ = place(model_.strata && held_.shift < 0 ? kinds : 0);
  size_ = at;
}

int LatentClass::free_parameters() const {
  int out = size_ - (mean_at_ >= 0);
  if (errors_at_ >= 0) out -= groups_ * N_ * 2;  // of each row the diagonal and one are not free
  return out;
}

int LatentClass::accuracy_at(int unit, int truth) const {
  return accuracies_at_ + group_[unit] * per_group_ + (per_group_ > 1 ? truth : 0);
}

int LatentClass::system_at() const {
  return rows_.joined() && per_group_ == 1 ? accuracy_at(rows_.raters, 0) : -1;
}

int LatentClass::error_at(int unit, int truth, int rating) const {
  return errors_at_ + (group_[unit] * N_ + truth) * N_ + rating;
}

int LatentClass::dispersion_at(int unit) const {
  return dispersions_at_ < 0 ? -1 : dispersions_at_ + (is_system(unit) && two_kinds_ ? 1 : 0);
}

int LatentClass::shift_at(int unit) const {
  return shifts_at_ < 0 ? -1 : shifts_at_ + (is_system(unit) && two_kinds_ ? 1 : 0);
}

std::vector<double> LatentClass::base_rates(const Eigen::VectorXd& x) const {
  std::vector<double> out(N_, 0.0);
  for (int k = 0; k < N_ - 1; ++k) out[k] = x[k];
  const double most = *std::max_element(out.begin(), out.end());
  double total = 0;
  for (double& rate : out) total += rate = std::exp(rate - most);
  for (double& rate : out) rate /= total;
  return out;
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

std::vector<double> LatentClass::confusion(const Eigen::VectorXd& x, int unit) const {
  const Tables t = tables(x);
  std::vector<double> out(static_cast<std::size_t>(N_) * N_);
  for (int k = 0; k < N_; ++k) {
    for (int l = 0; l < N_; ++l) {
      const double accuracy = t.accuracy[unit * N_ + k];
      out[k * N_ + l] =
          l == k ? accuracy
                 : (1 - accuracy) * t.error[(static_cast<std::size_t>(unit) * N_ + k) * N_ + l];
    }
  }
  return out;
}

double LatentClass::accuracy(const Eigen::VectorXd& x, int unit) const {
  const auto rates = base_rates(x);
  double out = 0;
  for (int k = 0; k < N_; ++k) {
    out += rates[k] * (group_[unit] < 0 ? rows_.matrix[unit][k * N_ + k]
                                        : logistic(x[accuracy_at(unit, k)]));
  }
  return out;
}

double LatentClass::dispersion(const Eigen::VectorXd& x, bool of_system) const {
  return dispersions_at_ < 0 ? 1 : std::exp(x[dispersion_at(of_system ? rows_.raters : 0)]);
}

double LatentClass::shift(const Eigen::VectorXd& x, bool of_system) const {
  if (shifts_at_ < 0) return S_ > 1 ? held_.shift : 0;
  // Beyond one nothing changes any more: everybody is wrong on hard cases and right on easy ones.
  return std::min(std::fabs(x[shift_at(of_system ? rows_.raters : 0)]), 1.0);
}

Eigen::VectorXd LatentClass::naturals(const Eigen::VectorXd& x) const {
  std::vector<double> out;
  if (model_.by_rater) {
    for (int u = 0; u < rows_.raters; ++u) out.push_back(accuracy(x, u));
  } else {
    // One for all who are not known; or else the mean of those who are.
    double total = 0;
    int unknown = 0;
    for (int u = 0; u < rows_.raters; ++u) {
      if (group_[u] >= 0 && unknown++ == 0) total = 0;
      if (group_[u] >= 0 ? unknown == 1 : unknown == 0) total += accuracy(x, u);
    }
    out.push_back(unknown > 0 ? total : total / rows_.raters);
  }
  if (rows_.joined()) out.push_back(accuracy(x, rows_.raters));
  for (const double rate : base_rates(x)) out.push_back(rate);
  for (int i = 0; i <= two_kinds_; ++i) {
    if (dispersions_at_ >= 0) out.push_back(dispersion(x, i > 0));
  }
  for (int i = 0; i <= two_kinds_; ++i) {
    if (shifts_at_ >= 0) out.push_back(shift(x, i > 0));
  }
  return Eigen::Map<Eigen::VectorXd>(out.data(), static_cast<Eigen::Index>(out.size()));
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

std::vector<double> LatentClass::probabilities(const Eigen::VectorXd& x) const {
  return exponentials(tables(x).log_probability);
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
