#include <Eigen/Core>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "../base/special.hpp"
#include "passes.hpp"
#include "pooled.hpp"

namespace fallible {

namespace {

constexpr int first_updates = 10;  // updates of the centre before the first round
// If the largest change of a probability in a round is below this, the iteration is nearly linear.
// iterate() then calls iterate_near_end().
constexpr double linear_change = 1e-3;
constexpr int max_combined_rounds = 5;  // number of recent rounds that the extrapolation combines
// The extrapolation ends after this number of rounds without progress.
constexpr int max_rounds_without_progress = 50;

// Anderson's extrapolation of a fixed-point iteration x -> g(x). The residual g(x) - x of a round
// is 0 at the solution. The extrapolation combines the last rounds so that their residuals nearly
// cancel (Walker and Ni, 2011, SIAM Journal on Numerical Analysis 49). It needs far fewer rounds
// than the plain iteration.
class Extrapolation {
 public:
  // Returns the point from which the next round starts. `to` is the result of a round that started
  // at `x`. `weight`: weights of the squared components in the norm of a residual.
  Eigen::VectorXd next_start(const Eigen::VectorXd& x, const Eigen::VectorXd& to,
                             const Eigen::VectorXd& weight) {
    Eigen::VectorXd residual = to - x;
    const double norm = weight.dot(residual.cwiseAbs2());
    rounds_without_progress_ = norm < least_norm_ ? 0 : rounds_without_progress_ + 1;
    least_norm_ = std::min(least_norm_, norm);
    // The residual has grown too much, because the last extrapolation was too long. Returns to the
    // result of the previous round, without extrapolation, and drops all earlier rounds.
    if (rounds_ > 1 && !(norm <= 4 * last_norm_)) {
      rounds_ = 0;
      return last_result_;
    }
    if (rounds_ == 0) {
      residual_changes_.resize(x.size(), max_combined_rounds);
      result_changes_.resize(x.size(), max_combined_rounds);
    } else {
      residual_changes_.col((rounds_ - 1) % max_combined_rounds) = residual - residual_;
      result_changes_.col((rounds_ - 1) % max_combined_rounds) = to - last_result_;
    }
    const Eigen::Index used = std::min(rounds_++, max_combined_rounds);
    last_norm_ = norm;
    residual_ = std::move(residual);
    last_result_ = to;
    return used == 0 ? to : to - result_changes_.leftCols(used) * coefficients(used, weight);
  }

  bool has_stalled() const { return rounds_without_progress_ > max_rounds_without_progress; }
  bool has_enough_rounds() const { return rounds_ > max_combined_rounds; }

 private:
  // Returns the coefficients of a weighted regression. The response is the residual of the last
  // round, and the predictors are the changes of the residual from each earlier round to the next.
  // Solves the normal equations after the predictors are scaled to length 1.
  Eigen::VectorXd coefficients(Eigen::Index used, const Eigen::VectorXd& weight) const {
    Eigen::MatrixXd products(used, used);
    Eigen::VectorXd goal(used), unit(used), column;
    for (Eigen::Index i = 0; i < used; ++i) {
      column = weight.cwiseProduct(residual_changes_.col(i));
      goal[i] = column.dot(residual_);
      for (Eigen::Index j = 0; j <= i; ++j) {
        products(i, j) = products(j, i) = column.dot(residual_changes_.col(j));
      }
      unit[i] = 1 / std::sqrt(std::max(products(i, i), least_square));
    }
    products = unit.asDiagonal() * products * unit.asDiagonal();
    goal = unit.cwiseProduct(goal);
    return unit.cwiseProduct(products.completeOrthogonalDecomposition().solve(goal));
  }

  static constexpr double least_square = 1e-300;

  int rounds_ = 0, rounds_without_progress_ = 0;
  double last_norm_ = 0, least_norm_ = std::numeric_limits<double>::infinity();
  Eigen::VectorXd residual_, last_result_;
  Eigen::MatrixXd residual_changes_, result_changes_;
};

}  // namespace

PooledPanel::PooledPanel(const LatentRows& rows, bool one_coin)
    : rows_(rows),
      K_(rows.categories),
      centre_(rows.judges, rows.categories, one_coin),
      answering_(rows),
      log_theta_(rows.judges, K_, std::log(1.0 / K_)),
      probability_(rows.judges, K_),
      last_theta_(log_theta_.values().size()) {
  counts_.is_used = Table<char>(rows.judges, K_);
  counts_.ratings = Squares(rows.judges, K_);
  classes_.assign(K_, 0.0);
  std::vector<bool> used_judges(rows.judges, false);
  for (int i = 0; i < rows.size(); ++i) {
    cases_ += rows.weight[i];
    if (rows.weight[i] == 0) continue;
    for (const int position : rows.positions(i)) {
      if (!rows.has_known_matrix(rows.judge[position])) used_judges[rows.judge[position]] = true;
      counts_.is_used[rows.judge[position]][rows.category[position]] = true;
    }
  }
  for (int j = 0; j < rows.judges; ++j) {
    for (int i = 0; i < K_ * K_; ++i) {
      if (rows.has_calibration_sample(j) && rows.calibration[j][i] > 0) {
        used_judges[j] = true;
        counts_.is_used[j][i % K_] = true;
      }
      if (!rows.has_known_matrix(j)) continue;
      log_theta_[j][i % K_][i / K_] = std::log(std::max(rows.matrix[j][i], least_probability));
    }
    if (used_judges[j]) counts_.used_judges.push_back(j);
  }
  log_rates_.assign(K_, std::log(1.0 / K_));
}

void PooledPanel::start(std::vector<double> start_posterior) {
  posterior_ = std::move(start_posterior);
  clear();
  for (int i = 0; i < rows_.size(); ++i) {
    const double* p = row_of(posterior_, i, K_);
    rows_.add_expected(i, p, K_, classes_.data(), counts_.ratings.values().data());
    answering_.add_expected(rows_, i, p);
  }
  for (int i = 0; i < first_updates; ++i) update_centres();
  compute_probabilities();
}

// Uses squared extrapolation (Varadhan and Roland, 2008) at first: two rounds determine one long
// step. Uses Anderson's method (iterate_near_end()) as soon as rounds change little.
void PooledPanel::iterate(double tolerance, int max_rounds) {
  Eigen::VectorXd x = parameters(), last_result, extrapolated;
  double near_end = linear_change, ratio = 0, last_ratio = 0, max_steps = 4;
  converged_ = false;
  while (!converged_ && rounds_ < max_rounds) {
    round();
    const Eigen::VectorXd once = parameters();
    const double change = round();
    const Eigen::VectorXd twice = parameters();
    const Eigen::VectorXd r = once - x, v = twice - once - r;
    const double r2 = r.squaredNorm(), v2 = v.squaredNorm(), next2 = (r + v).squaredNorm();
    last_ratio = ratio;
    ratio = r2 > 0 ? std::min(std::sqrt(next2 / r2), 1 - 1e-6) : 0;
    const double larger_ratio = std::max(ratio, last_ratio);
    converged_ = change * std::max(larger_ratio / (1 - larger_ratio), 1.0) < tolerance;
    if (converged_ || !(v2 > 0)) {
      x = twice;
      continue;
    }
    if (change < near_end) {
      iterate_near_end(tolerance, max_rounds);
      near_end /= 10;
      x = parameters();
      continue;
    }
    const double step_length = std::sqrt(r2 / v2), steps = std::clamp(step_length, 1.0, max_steps);
    if (step_length > max_steps) max_steps *= 4;
    if (steps <= 1) {
      x = twice;
      continue;
    }
    last_result = twice;
    extrapolated = x + 2 * steps * r + steps * steps * v;
    set_parameters(extrapolated);
    round();
    x = parameters();
    // If the parameters have changed too much, the extrapolation was too long. Continues from the
    // parameters before the extrapolation, and makes the next extrapolations shorter.
    if (!((x - extrapolated).squaredNorm() <= 4 * r2)) {
      max_steps = std::max(max_steps / 4, 1.5);
      set_parameters(last_result);
      x = last_result;
    }
  }
  round();  // computes posterior probabilities and expected numbers for the last parameters
}

void PooledPanel::iterate_near_end(double tolerance, int max_rounds) {
  Extrapolation extrapolation;
  Eigen::VectorXd x = parameters();
  double last_change = tolerance;
  while (rounds_ < max_rounds && !extrapolation.has_stalled()) {
    const double change = round();
    converged_ = extrapolation.has_enough_rounds() && std::max(change, last_change) < tolerance;
    if (converged_) return;
    last_change = change;
    set_parameters(extrapolation.next_start(x, parameters(), component_weights(x.size())));
    x = parameters();
  }
}

double PooledPanel::log_density() const {
  double density = centre_.log_density(counts_) + answering_.log_density() + log_gamma(K_) -
                   log_gamma(K_ + cases_);
  for (const double n : classes_) density += log_gamma(1 + n);
  for (int i = 0; i < rows_.size(); ++i) {
    for (int k = 0; k < K_; ++k) {
      const double p = row_of(posterior_, i, K_)[k];
      if (p > 0) density -= rows_.weight[i] * p * std::log(p);
    }
  }
  return density;
}

double PooledPanel::theta(int judge, int truth, int rating) const {
  if (rows_.has_known_matrix(judge)) return row_of(rows_.matrix[judge], truth, K_)[rating];
  double total = 0;
  for (int l = 0; l < K_; ++l) total += counts_.ratings[judge][l][truth];
  return (centre_.c * centre_.mean(centre_.s[judge], truth, rating) +
          counts_.ratings[judge][rating][truth]) /
         (centre_.c + total);
}

void PooledPanel::clear() {
  std::fill(counts_.ratings.values().begin(), counts_.ratings.values().end(), 0.0);
  std::fill(classes_.begin(), classes_.end(), 0.0);
  answering_.clear();
  for (int j = 0; j < rows_.judges; ++j) {
    for (int i = 0; rows_.has_calibration_sample(j) && i < K_ * K_; ++i) {
      counts_.ratings[j][i % K_][i / K_] = rows_.calibration[j][i];
    }
  }
}

void PooledPanel::update_centres() {
  centre_.update(counts_);
  for (const int j : answering_.used_judges) {
    for (int k = 0; k < K_; ++k) {
      double& total = answering_.answers[j][k] = 0;
      for (int l = 0; l < K_; ++l) total += counts_.ratings[j][l][k];
    }
  }
  answering_.update();
}

void PooledPanel::compute_probabilities() {
  answering_.compute_probabilities();
  std::vector<double> total(K_);
  for (const int j : counts_.used_judges) {
    std::fill(total.begin(), total.end(), 0.0);
    for (int l = 0; l < K_; ++l) {
      for (int k = 0; k < K_; ++k) total[k] += counts_.ratings[j][l][k];
    }
    for (int l = 0; l < K_; ++l) {
      if (!counts_.is_used[j][l]) continue;
      for (int k = 0; k < K_; ++k) {
        const double alpha = centre_.c * centre_.mean(centre_.s[j], k, l);
        log_theta_[j][l][k] = std::log((alpha + counts_.ratings[j][l][k]) / (centre_.c + total[k]));
      }
    }
  }
  for (int k = 0; k < K_; ++k) log_rates_[k] = std::log(base_rate(k));
}

double PooledPanel::round() {
  rates_.resize(K_);
  double change = 0;
  for (std::size_t i = 0; i < last_theta_.size(); ++i) {
    const double probability = std::exp(log_theta_.values()[i]);
    change = std::max(change, std::fabs(probability - last_theta_[i]));
    probability_.values()[i] = last_theta_[i] = probability;
  }
  std::transform(log_rates_.begin(), log_rates_.end(), rates_.begin(),
                 [](double x) { return std::exp(x); });
  const bool has_abstentions = !answering_.used_judges.empty();
  if (has_abstentions) answering_.multiply(probability_);
  const AnswerTables tables{K_,
                            rates_.data(),
                            probability_.values().data(),
                            log_rates_.data(),
                            has_abstentions ? nullptr : log_theta_.values().data(),
                            answering_.abstaining()};
  clear();
  const AnswerSums sums{classes_.data(), counts_.ratings.values().data(),
                        answering_.abstentions.values().data()};
  pass_over(rows_, tables, &sums, true, [&](int row, const double* p) {
    double* row_posterior = row_of(posterior_, row, K_);
    for (int k = 0; k < K_; ++k) {
      if (rows_.weight[row] > 0) change = std::max(change, std::fabs(p[k] - row_posterior[k]));
      row_posterior[k] = p[k];
    }
  });
  update_centres();
  compute_probabilities();
  ++rounds_;
  return change;
}

double PooledPanel::sum_log_probabilities(const std::vector<bool>* only) const {
  Squares probability = log_theta_;
  std::vector<double> weight(K_);
  for (int j = 0; j < rows_.judges; ++j) {
    const bool is_left_out = only != nullptr && !(*only)[j];
    for (double& p : probability[j]) p = is_left_out ? 1 : std::exp(p);
  }
  answering_.multiply(probability);
  for (int k = 0; k < K_; ++k) weight[k] = base_rate(k);
  const AnswerTables tables{K_,      weight.data(), probability.values().data(),
                            nullptr, nullptr,       answering_.abstaining()};
  return pass_over(rows_, tables, nullptr, false, [](int, const double*) {});
}

double PooledPanel::log_likelihood() const { return sum_log_probabilities(nullptr); }

double PooledPanel::log_answers(const std::vector<bool>& constant) const {
  return sum_log_probabilities(nullptr) - sum_log_probabilities(&constant);
}

std::vector<double> PooledPanel::used_entries(const Squares& table) const {
  std::vector<double> entries;
  for (const int j : counts_.used_judges) {
    for (int l = 0; l < K_; ++l) {
      if (counts_.is_used[j][l]) entries.insert(entries.end(), table[j][l], table[j][l] + K_);
    }
  }
  return entries;
}

Eigen::VectorXd PooledPanel::parameters() const {
  std::vector<double> values;
  centre_.append_to(values);
  answering_.append_to(values);
  values.insert(values.end(), log_rates_.begin(), log_rates_.end());
  const std::vector<double> cells = used_entries(log_theta_);
  values.insert(values.end(), cells.begin(), cells.end());
  return Eigen::VectorXd::Map(values.data(), static_cast<Eigen::Index>(values.size()));
}

Eigen::VectorXd PooledPanel::component_weights(Eigen::Index size) const {
  std::vector<double> counts = classes_;
  const std::vector<double> cells = used_entries(counts_.ratings);
  counts.insert(counts.end(), cells.begin(), cells.end());
  Eigen::VectorXd weights = Eigen::VectorXd::Ones(size);
  const auto n_probabilities = static_cast<Eigen::Index>(counts.size());
  weights.tail(n_probabilities) = Eigen::VectorXd::Map(counts.data(), n_probabilities);
  return weights;
}

void PooledPanel::set_parameters(const Eigen::VectorXd& x) {
  const double* entry = answering_.set_parameters(centre_.set_parameters(x.data()));
  for (double& log : log_rates_) log = std::min(*entry++, 0.0);
  for (const int j : counts_.used_judges) {
    for (int l = 0; l < K_; ++l) {
      for (int k = 0; counts_.is_used[j][l] && k < K_; ++k) {
        log_theta_[j][l][k] = std::min(*entry++, 0.0);
      }
    }
  }
}

}  // namespace fallible
