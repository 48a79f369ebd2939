#include <algorithm>
#include <cmath>
#include <utility>

#include "../base/special.hpp"
#include "passes.hpp"
#include "pooled.hpp"

namespace fallible {

constexpr int first_updates = 10;  // of the centre, in the first round

PooledPanel::PooledPanel(const LatentRows& rows, bool one_coin)
    : rows_(rows),
      K_(rows.categories),
      centre_(rows.judges, rows.categories, one_coin),
      answering_(rows) {
  counts_.categories = K_;
  counts_.used.assign(static_cast<std::size_t>(rows.judges) * K_, false);
  counts_.ratings.assign(static_cast<std::size_t>(rows.judges) * K_ * K_, 0.0);
  classes_.assign(K_, 0.0);
  std::vector<bool> counted(rows.judges, false);
  for (int i = 0; i < rows.size(); ++i) {
    cases_ += rows.weight[i];
    if (rows.weight[i] == 0) continue;
    for (const int at : rows.places(i)) {
      if (!rows.is_known(rows.judge[at])) counted[rows.judge[at]] = true;
      counts_.used[rows.rating(at)] = true;
    }
  }
  log_theta_.assign(counts_.ratings.size(), std::log(1.0 / K_));
  for (int j = 0; j < rows.judges; ++j) {
    for (int i = 0; i < K_ * K_; ++i) {
      if (rows.has_before(j) && rows.before[j][i] > 0) {
        counted[j] = true;
        counts_.used[j * K_ + i % K_] = true;
      }
      if (!rows.is_known(j)) continue;
      log_theta_[place(j, i % K_, i / K_)] =
          std::log(std::max(rows.matrix[j][i], least_probability));
    }
    if (counted[j]) counts_.counted.push_back(j);
  }
  log_rates_.assign(K_, std::log(1.0 / K_));
}

void PooledPanel::start(std::vector<double> from) {
  posterior_ = std::move(from);
  clear();
  for (int i = 0; i < rows_.size(); ++i) {
    rows_.add_expected(i, &posterior_[static_cast<std::size_t>(i) * K_], K_, classes_.data(),
                       counts_.ratings.data());
    answering_.add_expected(rows_, i, &posterior_[static_cast<std::size_t>(i) * K_]);
  }
  for (int i = 0; i < first_updates; ++i) update_centres();
  settle();
}

// By squared extrapolation (Varadhan and Roland, 2008).
void PooledPanel::climb(double tolerance, int most) {
  std::vector<double> x = state(), before, rounded;
  double ratio = 0, earlier = 0, most_steps = 4;
  converged_ = false;
  while (!converged_ && rounds_ < most) {
    round();
    std::vector<double> once = state();
    const double change = round();
    const std::vector<double> twice = state();
    double r2 = 0, v2 = 0, next2 = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double r = once[i] - x[i], next = twice[i] - once[i];
      r2 += r * r;
      next2 += next * next;
      v2 += (next - r) * (next - r);
    }
    earlier = ratio;
    ratio = r2 > 0 ? std::min(std::sqrt(next2 / r2), 1 - 1e-6) : 0;
    const double slow = std::max(ratio, earlier);
    converged_ = change * std::max(slow / (1 - slow), 1.0) < tolerance;
    if (converged_ || !(v2 > 0)) {
      x = twice;
      continue;
    }
    const double wanted = std::sqrt(r2 / v2), steps = std::clamp(wanted, 1.0, most_steps);
    if (wanted > most_steps) most_steps *= 4;
    if (steps <= 1) {
      x = twice;
      continue;
    }
    before = twice;
    rounded = x;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double r = once[i] - x[i], v = twice[i] - once[i] - r;
      rounded[i] = x[i] + 2 * steps * r + steps * steps * v;
    }
    read(rounded);
    round();
    x = state();
    double after2 = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      after2 += (x[i] - rounded[i]) * (x[i] - rounded[i]);
    }
    // Too far: back to where the last plain round ended.
    if (!(after2 <= 4 * r2)) {
      most_steps = std::max(most_steps / 4, 1.5);
      read(before);
      x = before;
    }
  }
  round();  // computes posterior and counts for the last parameters
}

double PooledPanel::log_density() const {
  double out = centre_.log_density(counts_) + answering_.log_density() + log_gamma(K_) -
               log_gamma(K_ + cases_);
  for (const double n : classes_) out += log_gamma(1 + n);
  for (int i = 0; i < rows_.size(); ++i) {
    for (int k = 0; k < K_; ++k) {
      const double p = posterior_[static_cast<std::size_t>(i) * K_ + k];
      if (p > 0) out -= rows_.weight[i] * p * std::log(p);
    }
  }
  return out;
}

double PooledPanel::theta(int judge, int truth, int rating) const {
  if (rows_.is_known(judge)) return rows_.matrix[judge][truth * K_ + rating];
  double total = 0;
  for (int l = 0; l < K_; ++l) total += counts_.at(judge, l, truth);
  return (centre_.c * centre_.mean(centre_.s[judge], truth, rating) +
          counts_.at(judge, rating, truth)) /
         (centre_.c + total);
}

void PooledPanel::clear() {
  std::fill(counts_.ratings.begin(), counts_.ratings.end(), 0.0);
  std::fill(classes_.begin(), classes_.end(), 0.0);
  answering_.clear();
  for (int j = 0; j < rows_.judges; ++j) {
    for (int i = 0; rows_.has_before(j) && i < K_ * K_; ++i) {
      counts_.ratings[place(j, i % K_, i / K_)] = rows_.before[j][i];
    }
  }
}

void PooledPanel::update_centres() {
  centre_.update(counts_);
  for (const int j : answering_.counted) {
    for (int k = 0; k < K_; ++k) {
      double& total = answering_.answers[static_cast<std::size_t>(j) * K_ + k] = 0;
      for (int l = 0; l < K_; ++l) total += counts_.at(j, l, k);
    }
  }
  answering_.update();
}

void PooledPanel::settle() {
  answering_.settle();
  std::vector<double> total(K_);
  for (const int j : counts_.counted) {
    std::fill(total.begin(), total.end(), 0.0);
    for (int l = 0; l < K_; ++l) {
      for (int k = 0; k < K_; ++k) total[k] += counts_.at(j, l, k);
    }
    for (int l = 0; l < K_; ++l) {
      if (!counts_.used[j * K_ + l]) continue;
      for (int k = 0; k < K_; ++k) {
        const double alpha = centre_.c * centre_.mean(centre_.s[j], k, l);
        log_theta_[place(j, l, k)] =
            std::log((alpha + counts_.at(j, l, k)) / (centre_.c + total[k]));
      }
    }
  }
  for (int k = 0; k < K_; ++k) log_rates_[k] = std::log(rate(k));
}

double PooledPanel::round() {
  probability_.resize(log_theta_.size());
  weight_.resize(K_);
  const auto exponent = [](double x) { return std::exp(x); };
  std::transform(log_theta_.begin(), log_theta_.end(), probability_.begin(), exponent);
  std::transform(log_rates_.begin(), log_rates_.end(), weight_.begin(), exponent);
  const bool answering = !answering_.counted.empty();
  if (answering) answering_.multiply(probability_);
  const AnswerTables tables{K_,
                            weight_.data(),
                            probability_.data(),
                            log_rates_.data(),
                            answering ? nullptr : log_theta_.data(),
                            answering_.abstaining()};
  clear();
  const AnswerSums sums{classes_.data(), counts_.ratings.data(), answering_.abstentions.data()};
  double change = 0;
  pass_over(rows_, tables, &sums, true, [&](int row, const double* p) {
    double* old = &posterior_[static_cast<std::size_t>(row) * K_];
    for (int k = 0; k < K_; ++k) {
      if (rows_.weight[row] > 0) change = std::max(change, std::fabs(p[k] - old[k]));
      old[k] = p[k];
    }
  });
  update_centres();
  settle();
  ++rounds_;
  return change;
}

double PooledPanel::log_sum(const std::vector<bool>* only) const {
  std::vector<double> probability(log_theta_.size()), weight(K_);
  for (std::size_t at = 0; at < probability.size(); ++at) {
    const bool left_out = only != nullptr && !(*only)[at / K_ / K_];
    probability[at] = left_out ? 1 : std::exp(log_theta_[at]);
  }
  answering_.multiply(probability);
  for (int k = 0; k < K_; ++k) weight[k] = rate(k);
  const AnswerTables tables{K_,      weight.data(), probability.data(),
                            nullptr, nullptr,       answering_.abstaining()};
  return pass_over(rows_, tables, nullptr, false, [](int, const double*) {});
}

double PooledPanel::log_likelihood() const { return log_sum(nullptr); }

double PooledPanel::log_answers(const std::vector<bool>& constant) const {
  return log_sum(nullptr) - log_sum(&constant);
}

std::vector<double> PooledPanel::state() const {
  std::vector<double> out;
  centre_.append_to(out);
  answering_.append_to(out);
  out.insert(out.end(), log_rates_.begin(), log_rates_.end());
  for (const int j : counts_.counted) {
    for (int l = 0; l < K_; ++l) {
      if (!counts_.used[j * K_ + l]) continue;
      const auto from = log_theta_.begin() + place(j, l, 0);
      out.insert(out.end(), from, from + K_);
    }
  }
  return out;
}

void PooledPanel::read(const std::vector<double>& x) {
  const double* at = answering_.read(centre_.read(x.data()));
  for (double& log : log_rates_) log = std::min(*at++, 0.0);
  for (const int j : counts_.counted) {
    for (int l = 0; l < K_; ++l) {
      for (int k = 0; counts_.used[j * K_ + l] && k < K_; ++k) {
        log_theta_[place(j, l, k)] = std::min(*at++, 0.0);
      }
    }
  }
}

}  // namespace fallible
