#include <algorithm>
#include <cmath>

#include "../base/special.hpp"
#include "pooled.hpp"

namespace fallible {

namespace {

// Prior guesses of `tau` and of `ups`. Their weights are numbers of raters and of categories.
constexpr double skill_weight = 2, tau_guess = 0.6;
constexpr double recognition_weight = 1, ups_guess = 0.3;
// Prior guess of logistic(ubar). Its weight is a number of ratings.
constexpr double mean_weight = 5, mean_guess = 0.6;
constexpr double least_right = 1e-6, least_error = 1e-9;
constexpr int mean_steps = 3;
// Newton's method for the logarithm of the variance of skills: highest number of steps, length of a
// step after which it ends, and smallest slope by which it divides.
constexpr int variance_steps = 20;
constexpr double variance_tolerance = 1e-10, least_bend = 1e-3;

}  // namespace

// Expected numbers of distinct draws from the centre, as in the Chinese restaurant representation
// of the Dirichlet-multinomial. `right`, `answers`: right answers and all answers, judges x truths.
// `errors`: wrong answers of all judges, truths x ratings. `slope`, `bend`: first and second
// derivative of the log density with respect to c.
struct Centre::Tables {
  Table<double> right, answers, errors;
  double slope = 0, bend = 0;
};

Centre::Centre(int judges, int of_categories, bool of_one_coin)
    : one_coin(of_one_coin),
      categories(of_categories),
      a(of_categories - 1),
      u(of_categories, 1.0),
      s(judges, 0.0),
      w(of_categories, of_categories, 1.0 / (of_categories - 1)) {
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

Centre::Tables Centre::tables(const CentreCounts& n) const {
  const int K = categories;
  Tables out;
  out.right = out.answers = Table<double>(s.size(), K);
  out.errors = Table<double>(K, K);
  const double prior_weight = 2 / (1 + c);
  out.slope = -prior_weight;
  out.bend = square(prior_weight) / 2;
  for (const int j : n.used_judges) {
    for (int k = 0; k < K; ++k) {
      double total = 0;
      for (int l = 0; l < K; ++l) {
        if (!n.used[j][l]) continue;
        const double number = n.ratings[j][l][k], m = mean(s[j], k, l);
        if (number <= 0) continue;
        total += number;
        const DigammaDifference gain(c * m, number);
        out.slope += m * gain.value;
        out.bend += m * m * gain.bend;
        const double t = c * m * gain.value;
        out.answers[j][k] += t;
        (l == k ? out.right[j][k] : out.errors[k][l]) += t;
      }
      if (total <= 0) continue;
      const DigammaDifference gain(c, total);
      out.slope -= gain.value;
      out.bend -= gain.bend;
    }
  }
  return out;
}

void Centre::update(const CentreCounts& n) {
  const Tables t = tables(n);
  c = newton_concentration(c, t.slope, t.bend);
  if (!one_coin && categories > 2) update_confusions(t);
  update_recognition(n, t);
  update_skills(n, t);
  balance_skills(n);
}

void Centre::update_confusions(const Tables& t) {
  const int K = categories;
  const double entry = a / (K - 1);
  const double prior_weight = 2 / (1 + a);
  double slope = -prior_weight, bend = square(prior_weight) / 2;
  for (int k = 0; k < K; ++k) {
    double total = 0;
    for (int l = 0; l < K; ++l) {
      if (l == k) continue;
      total += t.errors[k][l];
      const DigammaDifference gain(entry, t.errors[k][l]);
      slope += gain.value / (K - 1);
      bend += gain.bend / square(K - 1);
    }
    const DigammaDifference gain(a, total);
    slope -= gain.value;
    bend -= gain.bend;
    for (int l = 0; l < K; ++l) {
      if (l != k) w[k][l] = (t.errors[k][l] + entry) / (total + a);
    }
  }
  a = newton_concentration(a, slope, bend);
}

void Centre::update_recognition(const CentreCounts& n, const Tables& t) {
  const int K = categories;
  std::vector<double> slope(K, 0.0), bend(K, 0.0);
  for (const int j : n.used_judges) {
    for (int k = 0; k < K; ++k) {
      const double p = right(j, k), answers = t.answers[j][k];
      slope[k] += t.right[j][k] - answers * p;
      bend[k] += answers * p * (1 - p);
    }
  }
  if (one_coin) {
    double up = 0, down = 0;
    for (int k = 0; k < K; ++k) {
      up += slope[k];
      down += bend[k];
    }
    const double p = logistic(u[0]);
    up += mean_weight * (mean_guess - p);
    down += mean_weight * p * (1 - p);
    u.assign(K, u[0] + clip_to(up / down, 1));
    ubar = u[0];
    return;
  }
  const double precision = 1 / square(ups);
  double squares = recognition_weight * square(ups_guess);
  for (int k = 0; k < K; ++k) {
    u[k] += clip_to((slope[k] - (u[k] - ubar) * precision) / (bend[k] + precision), 1);
  }
  for (int i = 0; i < mean_steps; ++i) {
    const double p = logistic(ubar);
    double up = mean_weight * (mean_guess - p);
    for (const double x : u) up += (x - ubar) * precision;
    ubar += clip_to(up / (mean_weight * p * (1 - p) + K * precision), 1);
  }
  for (int k = 0; k < K; ++k) squares += square(u[k] - ubar) + 1 / (bend[k] + precision);
  ups = std::sqrt(squares / (K + recognition_weight));
}

// Updates tau and all skills in one step: the log density of each skill is replaced by its
// second-order expansion. tau is then the root of an equation with one unknown. EM would need
// hundreds of rounds to find tau if raters hardly differ.
void Centre::update_skills(const CentreCounts& n, const Tables& t) {
  const auto judges = static_cast<double>(n.used_judges.size());
  // Expansion without the prior, per used judge: linear - information * s is the slope at s.
  std::vector<double> linear, information;
  for (const int j : n.used_judges) {
    double slope = 0, bend = 0;
    for (int k = 0; k < categories; ++k) {
      const double p = right(j, k), answers = t.answers[j][k];
      slope += t.right[j][k] - answers * p;
      bend += answers * p * (1 - p);
    }
    linear.push_back(slope + bend * s[j]);
    information.push_back(bend);
  }
  // At the root, the mean of the squared skills plus their variances equals `variance`.
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
    const double bend = std::max(1 - slope * variance / squares, least_bend);
    const double step = clip_to(std::log(ratio) / bend, 1);
    variance *= std::exp(step);
    if (std::fabs(step) < variance_tolerance) break;
  }
  tau = std::sqrt(variance);
  for (std::size_t i = 0; i < linear.size(); ++i) {
    double& skill = s[n.used_judges[i]];
    const double mode = linear[i] * variance / (1 + information[i] * variance);
    skill += clip_to(mode - skill, 1);
  }
}

// Subtracts a constant from all skills, and adds it to all u and to ubar. The probabilities of
// ratings depend only on the sums u + s, so only the priors of the skills and of ubar determine the
// best constant. Updates of u for fixed s, and of s for fixed u, would need thousands of rounds to
// find it if there are many ratings.
void Centre::balance_skills(const CentreCounts& n) {
  const double precision = 1 / square(tau), p = logistic(ubar);
  double slope = mean_weight * (mean_guess - p), bend = mean_weight * p * (1 - p);
  for (const int j : n.used_judges) {
    slope += s[j] * precision;
    bend += precision;
  }
  const double shift = clip_to(slope / bend, 1);
  for (const int j : n.used_judges) s[j] -= shift;
  for (double& x : u) x += shift;
  ubar += shift;
}

double Centre::skill_of(ConstSquare ratings) const {
  const int K = categories;
  const double precision = 1 / square(tau);
  double skill = 0;
  for (int round = 0; round < 200; ++round) {
    double slope = -skill * precision, bend = precision;
    for (int k = 0; k < K; ++k) {
      const double p = right_probability(skill, k);
      for (int l = 0; l < K; ++l) {
        const double number = ratings[l][k], m = mean(skill, k, l);
        if (number <= 0) continue;
        const double t = c * m * DigammaDifference(c * m, number).value;
        slope += t * ((l == k) - p);
        bend += t * p * (1 - p);
      }
    }
    const double step = clip_to(slope / bend, 1);
    skill += step;
    if (std::fabs(step) < 1e-10) break;
  }
  return skill;
}

double Centre::log_density(const CentreCounts& n) const {
  const int K = categories;
  double out = -2 * std::log1p(c);
  for (const int j : n.used_judges) {
    out -= square(s[j] / tau) / 2;
    for (int k = 0; k < K; ++k) {
      double total = 0;
      for (int l = 0; l < K; ++l) {
        const double number = n.ratings[j][l][k];
        if (number <= 0) continue;
        total += number;
        const double alpha = c * mean(s[j], k, l);
        out += log_gamma(alpha + number) - log_gamma(alpha);
      }
      out += log_gamma(c) - log_gamma(c + total);
    }
  }
  out -= (static_cast<double>(n.used_judges.size()) + skill_weight) * std::log(tau) +
         skill_weight * square(tau_guess) / (2 * square(tau));
  const double p = clip_probability(logistic(ubar));
  out += mean_weight * (mean_guess * std::log(p) + (1 - mean_guess) * std::log1p(-p));
  if (one_coin) return out;
  for (const double x : u) out -= square((x - ubar) / ups) / 2;
  out -= (K + recognition_weight) * std::log(ups) +
         recognition_weight * square(ups_guess) / (2 * square(ups));
  if (K == 2) return out;
  const double entry = a / (K - 1);
  out += -2 * std::log1p(a) + K * (log_gamma(a) - (K - 1) * log_gamma(entry));
  for (int k = 0; k < K; ++k) {
    for (int l = 0; l < K; ++l) {
      if (l != k) out += (entry - 1) * std::log(std::max(w[k][l], least_error));
    }
  }
  return out;
}

void Centre::append_to(std::vector<double>& x) const {
  for (const double size : {c, tau, ups, a}) x.push_back(std::log(size));
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
  for (double& to : u) to = clip_to(*x++, 30);
  for (double& to : s) to = clip_to(*x++, 30);
  for (int k = 0; k < categories; ++k) {
    double total = 0;
    for (int l = 0; l < categories; ++l, ++x) total += w[k][l] = l == k ? 0 : std::exp(*x);
    for (int l = 0; l < categories; ++l) w[k][l] /= total;
  }
  return x;
}

}  // namespace fallible
