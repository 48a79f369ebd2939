#include <algorithm>
#include <cmath>

#include "../base/special.hpp"
#include "pooled.hpp"

namespace fallible {

namespace {

// Prior guess of `tau`, the standard deviation of the skills of raters (see Centre in pooled.hpp).
// `skill_weight`: weight of this guess, as a number of raters.
constexpr double skill_weight = 2, tau_guess = 0.6;
// Prior guess of `ups`, the standard deviation of u_k, which is high for categories k that are easy
// to recognise. `recognition_weight`: weight of this guess, as a number of categories.
constexpr double recognition_weight = 1, ups_guess = 0.3;
// Prior guess of the probability of a right answer, logistic(ubar), where ubar is the mean of all
// u_k. `mean_weight`: weight of the guess, as a number of ratings.
constexpr double mean_weight = 5, mean_guess = 0.6;
// Lower limits of the mean probabilities of answers. `least_right`: limit for the right answer, and
// for the sum of all wrong answers. `least_error`: limit for each wrong answer.
constexpr double least_right = 1e-6, least_error = 1e-9;
// Number of Newton steps for the mean of the skills in each update.
constexpr int mean_steps = 3;
// Newton's method for the logarithm of the variance of skills. `variance_steps`: highest number of
// steps. `variance_tolerance`: the iteration ends after a step that is shorter. `least_divisor`:
// lower limit of the divisor of a step, so that steps are finite.
constexpr int variance_steps = 20;
constexpr double variance_tolerance = 1e-10, least_divisor = 1e-3;

}  // namespace

// Quantities from which the parameters are updated. In the Chinese restaurant representation of the
// Dirichlet-multinomial distribution, a rating repeats an earlier rating or is a new draw.
//   right, answers: expected number of right new draws, and of all new draws: judges x truths.
//   errors: expected number of wrong new draws of all judges: truths x ratings.
//   slope, curvature: first and second derivative of the log density with respect to the
//     concentration c.
struct Centre::Tables {
  Table<double> right, answers, errors;
  double slope = 0, curvature = 0;
};

Centre::Centre(int judges, int n_categories, bool is_one_coin)
    : one_coin(is_one_coin),
      categories(n_categories),
      a(n_categories - 1),
      u(n_categories, 1.0),
      s(judges, 0.0),
      w(n_categories, n_categories, 1.0 / (n_categories - 1)) {
  for (int k = 0; k < categories; ++k) w[k][k] = 0;
}

double Centre::right_probability(double skill, int truth) const {
  return std::clamp(logistic(u[truth] + skill), least_right, 1 - least_right);
}

double Centre::mean(double skill, int truth, int rating) const {
  const double right = right_probability(skill, truth);
  if (rating == truth) return right;
  return std::max((1 - right) * w[truth][rating], least_error);
}

Centre::Tables Centre::tables(const CentreCounts& counts) const {
  const int K = categories;
  Tables draws;
  draws.right = draws.answers = Table<double>(s.size(), K);
  draws.errors = Table<double>(K, K);
  const double prior_weight = 2 / (1 + c);
  draws.slope = -prior_weight;
  draws.curvature = square(prior_weight) / 2;
  for (const int j : counts.used_judges) {
    for (int k = 0; k < K; ++k) {
      double n_total = 0;
      for (int l = 0; l < K; ++l) {
        if (!counts.is_used[j][l]) continue;
        const double n_ratings = counts.ratings[j][l][k], m = mean(s[j], k, l);
        if (n_ratings <= 0) continue;
        n_total += n_ratings;
        const DigammaDifference gain(c * m, n_ratings);
        draws.slope += m * gain.value;
        draws.curvature += m * m * gain.derivative;
        const double n_draws = c * m * gain.value;
        draws.answers[j][k] += n_draws;
        (l == k ? draws.right[j][k] : draws.errors[k][l]) += n_draws;
      }
      if (n_total <= 0) continue;
      const DigammaDifference gain(c, n_total);
      draws.slope -= gain.value;
      draws.curvature -= gain.derivative;
    }
  }
  return draws;
}

void Centre::update(const CentreCounts& counts) {
  const Tables draws = tables(counts);
  c = newton_concentration(c, draws.slope, draws.curvature);
  if (!one_coin && categories > 2) update_confusions(draws);
  update_recognition(counts, draws);
  update_skills(counts, draws);
  balance_skills(counts);
}

void Centre::update_confusions(const Tables& draws) {
  const int K = categories;
  const double entry = a / (K - 1);
  const double prior_weight = 2 / (1 + a);
  double slope = -prior_weight, curvature = square(prior_weight) / 2;
  for (int k = 0; k < K; ++k) {
    double total = 0;
    for (int l = 0; l < K; ++l) {
      if (l == k) continue;
      total += draws.errors[k][l];
      const DigammaDifference gain(entry, draws.errors[k][l]);
      slope += gain.value / (K - 1);
      curvature += gain.derivative / square(K - 1);
    }
    const DigammaDifference gain(a, total);
    slope -= gain.value;
    curvature -= gain.derivative;
    for (int l = 0; l < K; ++l) {
      if (l != k) w[k][l] = (draws.errors[k][l] + entry) / (total + a);
    }
  }
  a = newton_concentration(a, slope, curvature);
}

void Centre::update_recognition(const CentreCounts& counts, const Tables& draws) {
  const int K = categories;
  std::vector<double> slope(K, 0.0), information(K, 0.0);
  for (const int j : counts.used_judges) {
    for (int k = 0; k < K; ++k) {
      const double p = right(j, k), answers = draws.answers[j][k];
      slope[k] += draws.right[j][k] - answers * p;
      information[k] += answers * p * (1 - p);
    }
  }
  if (one_coin) {
    double total_slope = 0, total_information = 0;
    for (int k = 0; k < K; ++k) {
      total_slope += slope[k];
      total_information += information[k];
    }
    const double p = logistic(u[0]);
    total_slope += mean_weight * (mean_guess - p);
    total_information += mean_weight * p * (1 - p);
    u.assign(K, u[0] + clip_to(total_slope / total_information, 1));
    ubar = u[0];
    return;
  }
  const double precision = 1 / square(ups);
  double squares = recognition_weight * square(ups_guess);
  for (int k = 0; k < K; ++k) {
    u[k] += clip_to((slope[k] - (u[k] - ubar) * precision) / (information[k] + precision), 1);
  }
  for (int i = 0; i < mean_steps; ++i) {
    const double p = logistic(ubar);
    double total_slope = mean_weight * (mean_guess - p);
    for (const double x : u) total_slope += (x - ubar) * precision;
    ubar += clip_to(total_slope / (mean_weight * p * (1 - p) + K * precision), 1);
  }
  for (int k = 0; k < K; ++k) squares += square(u[k] - ubar) + 1 / (information[k] + precision);
  ups = std::sqrt(squares / (K + recognition_weight));
}

// Updates all skills and their standard deviation tau in one step. The log density of each skill is
// replaced by its second-order expansion. Then only one equation with one unknown, the variance of
// skills, must be solved. EM would need hundreds of rounds to find tau if raters hardly differ.
void Centre::update_skills(const CentreCounts& counts, const Tables& draws) {
  const auto judges = static_cast<double>(counts.used_judges.size());
  // Second-order expansion of the log density of each used judge's skill s, without the prior of s.
  // Its slope at s is `linear` - `information` * s.
  std::vector<double> linear, information;
  for (const int j : counts.used_judges) {
    double slope = 0, judge_information = 0;
    for (int k = 0; k < categories; ++k) {
      const double p = right(j, k), answers = draws.answers[j][k];
      slope += draws.right[j][k] - answers * p;
      judge_information += answers * p * (1 - p);
    }
    linear.push_back(slope + judge_information * s[j]);
    information.push_back(judge_information);
  }
  // Finds the variance of skills by Newton's method. The variance must be equal to the mean, over
  // raters, of the squared skill plus the posterior variance of the skill. The prior guess of tau
  // enters this mean like `skill_weight` further raters.
  double variance = square(tau);
  for (int round = 0; round < variance_steps; ++round) {
    double squares = skill_weight * square(tau_guess), slope = 0;
    for (std::size_t i = 0; i < linear.size(); ++i) {
      const double shrinkage = 1 / (1 + information[i] * variance);
      const double skill = linear[i] * variance * shrinkage;
      squares += square(skill) + variance * shrinkage;
      slope += (2 * skill * linear[i] + 1) * square(shrinkage);
    }
    const double ratio = squares / ((judges + skill_weight) * variance);
    const double divisor = std::max(1 - slope * variance / squares, least_divisor);
    const double step = clip_to(std::log(ratio) / divisor, 1);
    variance *= std::exp(step);
    if (std::fabs(step) < variance_tolerance) break;
  }
  tau = std::sqrt(variance);
  for (std::size_t i = 0; i < linear.size(); ++i) {
    double& skill = s[counts.used_judges[i]];
    const double mode = linear[i] * variance / (1 + information[i] * variance);
    skill += clip_to(mode - skill, 1);
  }
}

// Subtracts a constant from all skills s_j, and adds it to all u_k and to their mean ubar. The
// probabilities of ratings depend only on the sums u_k + s_j, so the constant does not change them.
// The best constant is determined by the priors of the skills and of ubar. With many ratings,
// separate updates of u_k and s_j would need thousands of rounds to find it.
void Centre::balance_skills(const CentreCounts& counts) {
  const double precision = 1 / square(tau), p = logistic(ubar);
  double slope = mean_weight * (mean_guess - p), information = mean_weight * p * (1 - p);
  for (const int j : counts.used_judges) {
    slope += s[j] * precision;
    information += precision;
  }
  const double shift = clip_to(slope / information, 1);
  for (const int j : counts.used_judges) s[j] -= shift;
  for (double& x : u) x += shift;
  ubar += shift;
}

double Centre::skill_of(ConstSquare ratings) const {
  const int K = categories;
  const double precision = 1 / square(tau);
  double skill = 0;
  for (int round = 0; round < 200; ++round) {
    double slope = -skill * precision, information = precision;
    for (int k = 0; k < K; ++k) {
      const double p = right_probability(skill, k);
      for (int l = 0; l < K; ++l) {
        const double n = ratings[l][k], m = mean(skill, k, l);
        if (n <= 0) continue;
        const double draws = c * m * DigammaDifference(c * m, n).value;
        slope += draws * ((l == k) - p);
        information += draws * p * (1 - p);
      }
    }
    const double step = clip_to(slope / information, 1);
    skill += step;
    if (std::fabs(step) < 1e-10) break;
  }
  return skill;
}

double Centre::log_density(const CentreCounts& counts) const {
  const int K = categories;
  double log_density_sum = -2 * std::log1p(c);
  for (const int j : counts.used_judges) {
    log_density_sum -= square(s[j] / tau) / 2;
    for (int k = 0; k < K; ++k) {
      double total = 0;
      for (int l = 0; l < K; ++l) {
        const double n_ratings = counts.ratings[j][l][k];
        if (n_ratings <= 0) continue;
        total += n_ratings;
        const double alpha = c * mean(s[j], k, l);
        log_density_sum += log_gamma(alpha + n_ratings) - log_gamma(alpha);
      }
      log_density_sum += log_gamma(c) - log_gamma(c + total);
    }
  }
  log_density_sum -=
      (static_cast<double>(counts.used_judges.size()) + skill_weight) * std::log(tau) +
      skill_weight * square(tau_guess) / (2 * square(tau));
  const double p = clip_probability(logistic(ubar));
  log_density_sum += mean_weight * (mean_guess * std::log(p) + (1 - mean_guess) * std::log1p(-p));
  if (one_coin) return log_density_sum;
  for (const double x : u) log_density_sum -= square((x - ubar) / ups) / 2;
  log_density_sum -= (K + recognition_weight) * std::log(ups) +
                     recognition_weight * square(ups_guess) / (2 * square(ups));
  if (K == 2) return log_density_sum;
  const double entry = a / (K - 1);
  log_density_sum += -2 * std::log1p(a) + K * (log_gamma(a) - (K - 1) * log_gamma(entry));
  for (int k = 0; k < K; ++k) {
    for (int l = 0; l < K; ++l) {
      if (l != k) log_density_sum += (entry - 1) * std::log(std::max(w[k][l], least_error));
    }
  }
  return log_density_sum;
}

void Centre::append_to(std::vector<double>& x) const {
  for (const double positive : {c, tau, ups, a}) x.push_back(std::log(positive));
  x.push_back(ubar);
  x.insert(x.end(), u.begin(), u.end());
  x.insert(x.end(), s.begin(), s.end());
  for (const double share : w.values()) x.push_back(std::log(std::max(share, least_error)));
}

const double* Centre::set_parameters(const double* x) {
  c = clip_concentration(std::exp(*x++));
  tau = std::exp(clip_to(*x++, 5));
  ups = std::exp(clip_to(*x++, 5));
  a = clip_concentration(std::exp(*x++));
  ubar = *x++;
  for (double& parameter : u) parameter = clip_to(*x++, 30);
  for (double& parameter : s) parameter = clip_to(*x++, 30);
  for (int k = 0; k < categories; ++k) {
    double total = 0;
    for (int l = 0; l < categories; ++l, ++x) total += w[k][l] = l == k ? 0 : std::exp(*x);
    for (int l = 0; l < categories; ++l) w[k][l] /= total;
  }
  return x;
}

}  // namespace fallible
