#include "answering.hpp"

#include <algorithm>
#include <cmath>

#include "../base/special.hpp"

namespace fallible {

namespace {

constexpr double omega_guess = 0.3;  // prior guess of `omega`, with the weight of one category
// Lower limit of the mean probabilities of answering and of abstaining.
constexpr double mean_limit = 1e-6;
// Lower limit of probabilities, so that their logits in append_to() are finite.
constexpr double least_probability = 1e-15;

}  // namespace

Answering::Answering(const LatentRows& rows)
    : categories(rows.categories), b(rows.judges, 0.0), h(rows.categories, 0.0) {
  if (rows.abstained.empty()) return;
  std::vector<double> answered(rows.judges, 0.0), abstained(rows.judges, 0.0);
  for (int i = 0; i < rows.size(); ++i) {
    for (const int position : rows.positions(i)) answered[rows.judge[position]] += rows.weight[i];
    for (const int position : rows.abstentions_of(i))
      abstained[rows.abstained[position]] += rows.weight[i];
  }
  for (int j = 0; j < rows.judges; ++j) {
    if (rows.has_known_matrix(j) || answered[j] <= 0 || abstained[j] <= 0) continue;
    used_judges.push_back(j);
    b[j] = std::log((answered[j] + 0.5) / (abstained[j] + 0.5));
  }
  answers = abstentions = Table<double>(rows.judges, categories);
  abstain_probability_ = Table<double>(rows.judges, categories, 1);
  is_used_.assign(rows.judges, false);
  for (const int j : used_judges) is_used_[j] = true;
}

double Answering::mean(int judge, int truth) const {
  return std::clamp(logistic(b[judge] + h[truth]), mean_limit, 1 - mean_limit);
}

void Answering::clear() { abstentions.values().assign(abstentions.values().size(), 0.0); }

void Answering::add_expected(const LatentRows& rows, int row, const double* posterior) {
  if (used_judges.empty()) return;
  for (const int position : rows.abstentions_of(row)) {
    for (int k = 0; k < categories; ++k) {
      abstentions[rows.abstained[position]][k] += rows.weight[row] * posterior[k];
    }
  }
}

void Answering::update() {
  if (used_judges.empty()) return;
  const int K = categories;
  const double prior_weight = 2 / (1 + kappa);
  double slope = -prior_weight, curvature = square(prior_weight) / 2;
  // In the Chinese restaurant representation of the Beta-binomial distribution, an answer or
  // abstention repeats an earlier one or is a new draw. `all_draws`: expected number of new draws.
  // `answer_draws`: expected number of new draws that are answers. Both are used judges x truths.
  Table<double> answer_draws(used_judges.size(), K), all_draws = answer_draws;
  for (std::size_t i = 0; i < used_judges.size(); ++i) {
    for (int k = 0; k < K; ++k) {
      const double n = answers[used_judges[i]][k], n_abstained = abstentions[used_judges[i]][k];
      const double mu = mean(used_judges[i], k);
      const DigammaDifference answer_gain(kappa * mu, n),
          abstention_gain(kappa * (1 - mu), n_abstained), total_gain(kappa, n + n_abstained);
      slope += mu * answer_gain.value + (1 - mu) * abstention_gain.value - total_gain.value;
      curvature += square(mu) * answer_gain.derivative +
                   square(1 - mu) * abstention_gain.derivative - total_gain.derivative;
      answer_draws[i][k] = kappa * mu * answer_gain.value;
      all_draws[i][k] = answer_draws[i][k] + kappa * (1 - mu) * abstention_gain.value;
    }
  }
  kappa = newton_concentration(kappa, slope, curvature);
  // Updates `b`, then `h`, by Newton steps of a logistic regression of the expected new draws.
  for (std::size_t i = 0; i < used_judges.size(); ++i) {
    double& parameter = b[used_judges[i]];
    const double p = logistic(parameter);
    double score = 0.5 - p, information = p * (1 - p);
    for (int k = 0; k < K; ++k) {
      const double mu = mean(used_judges[i], k);
      score += answer_draws[i][k] - all_draws[i][k] * mu;
      information += all_draws[i][k] * mu * (1 - mu);
    }
    parameter += clip_to(score / information, 1);
  }
  const double precision = 1 / square(omega);
  double squares = square(omega_guess);
  for (int k = 0; k < K; ++k) {
    double score = -h[k] * precision, information = precision;
    for (std::size_t i = 0; i < used_judges.size(); ++i) {
      const double mu = mean(used_judges[i], k);
      score += answer_draws[i][k] - all_draws[i][k] * mu;
      information += all_draws[i][k] * mu * (1 - mu);
    }
    h[k] += clip_to(score / information, 1);
    squares += square(h[k]) + 1 / information;
  }
  omega = std::sqrt(squares / (K + 1));
}

void Answering::compute_probabilities() {
  for (const int j : used_judges) {
    for (int k = 0; k < categories; ++k) {
      const double n_abstained = abstentions[j][k];
      abstain_probability_[j][k] =
          (kappa * (1 - mean(j, k)) + n_abstained) / (kappa + answers[j][k] + n_abstained);
    }
  }
}

double Answering::log_density() const {
  if (used_judges.empty()) return 0;
  double density = -2 * std::log1p(kappa);
  for (const int j : used_judges) {
    const double p = clip_probability(logistic(b[j]));
    density += (std::log(p) + std::log1p(-p)) / 2;
    for (int k = 0; k < categories; ++k) {
      const double n = answers[j][k], n_abstained = abstentions[j][k], mu = mean(j, k);
      density += log_gamma(kappa) - log_gamma(kappa + n + n_abstained) + log_gamma(kappa * mu + n) -
                 log_gamma(kappa * mu) + log_gamma(kappa * (1 - mu) + n_abstained) -
                 log_gamma(kappa * (1 - mu));
    }
  }
  for (const double x : h) density -= square(x / omega) / 2;
  return density - (categories + 1) * std::log(omega) - square(omega_guess / omega) / 2;
}

void Answering::multiply(Squares& probability) const {
  for (const int j : used_judges) {
    for (int l = 0; l < categories; ++l) {
      for (int k = 0; k < categories; ++k) {
        probability[j][l][k] *= 1 - abstain_probability_[j][k];
      }
    }
  }
}

void Answering::append_to(std::vector<double>& x) const {
  if (used_judges.empty()) return;
  x.insert(x.end(), {std::log(kappa), std::log(omega)});
  x.insert(x.end(), h.begin(), h.end());
  for (const int j : used_judges) {
    x.push_back(b[j]);
    for (int k = 0; k < categories; ++k) {
      const double p = abstain_probability_[j][k];
      x.push_back(std::log(std::max(p, least_probability)) -
                  std::log(std::max(1 - p, least_probability)));
    }
  }
}

const double* Answering::set_parameters(const double* x) {
  if (used_judges.empty()) return x;
  kappa = clip_concentration(std::exp(*x++));
  omega = std::exp(clip_to(*x++, 5));
  for (double& parameter : h) parameter = clip_to(*x++, 30);
  for (const int j : used_judges) {
    b[j] = clip_to(*x++, 30);
    for (int k = 0; k < categories; ++k) {
      abstain_probability_[j][k] = logistic(clip_to(*x++, 30));
    }
  }
  return x;
}

}  // namespace fallible
