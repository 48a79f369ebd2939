#include "latent.hpp"

#include <algorithm>
#include <cmath>

#include "special.hpp"

namespace fallible {

namespace {

constexpr double first_shift = 0.1;  // of accuracies with difficulty, which would stay at zero

}  // namespace

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

Eigen::VectorXd LatentClass::start_from(const LatentClass& simpler,
                                        const Eigen::VectorXd& x) const {
  Eigen::VectorXd out = Eigen::VectorXd::Zero(size_);
  out.head(N_ - 1) = x.head(N_ - 1);
  for (int u = 0; u < U_; ++u) {
    for (int k = 0; k < N_; ++k) {
      out[accuracy_at(u, k)] = x[simpler.accuracy_at(u, k)];
      for (int l = 0; simpler.errors_at_ >= 0 && l < N_; ++l) {
        out[error_at(u, k, l)] = x[simpler.error_at(u, k, l)];
      }
    }
    if (simpler.dispersions_at_ >= 0) out[dispersion_at(u)] = x[simpler.dispersion_at(u)];
    if (shifts_at_ >= 0) {
      out[shift_at(u)] = simpler.shifts_at_ >= 0 ? x[simpler.shift_at(u)] : first_shift;
    }
  }
  if (mean_at_ >= 0) {
    out[mean_at_] = x[simpler.mean_at_ >= 0 ? simpler.mean_at_ : simpler.accuracies_at_];
  }
  return out;
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

}  // namespace fallible
