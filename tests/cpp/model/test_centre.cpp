// At the end of a pooled fit, each parameter solves its equation. The equations are checked with
// finite differences of a slow log density, and with plain loops.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "../panel.hpp"
#include "core/base/special.hpp"
#include "core/model/pooled.hpp"
#include "replies.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

double logit(double p) { return std::log(p / (1 - p)); }

struct Fitted {
  LatentRows rows;
  bool one_coin;
  PooledPanel panel;

  Fitted(const LatentRows& of, bool coin) : rows(of), one_coin(coin), panel(rows, coin) {
    std::vector<double> votes;
    for (int i = 0; i < rows.size(); ++i) {
      const auto row = rows.votes(i);
      votes.insert(votes.end(), row.begin(), row.end());
    }
    panel.start(votes);
    panel.iterate(1e-13, 20000);
  }
  Fitted(const Fitted&) = delete;
};

LatentRows twelve_cases(const std::vector<int>& known = {}) {
  static const Panel panel({"AAABBBCCCACB", "AAABBACCCBCB", "AA.BCBC.AACB", ".ABBB.CCAACA"}, {}, 3);
  std::vector<int> of_pattern;
  if (!known.empty()) {
    of_pattern.resize(panel.view().patterns);
    for (std::size_t i = 0; i < known.size(); ++i) {
      of_pattern[panel.patterns.index[i] - 1] = known[i];
    }
  }
  return latent_rows(panel.view(), panel.weights(), -1, {of_pattern, {}, {}});
}

void for_each_fit(const std::function<void(const Fitted&)>& check) {
  for (const bool coin : {false, true}) {
    check(Fitted(twelve_cases(), coin));
    check(Fitted(twelve_cases({1, 0, 0, 2, 0, 0, 3, 0, 0, 0, 3, 2}), coin));
    check(Fitted(three_tests().rows(), coin));
    check(Fitted(four_sources().rows(), coin));
    LatentRows without_weight = twelve_cases();
    without_weight.weight[2] = without_weight.weight[5] = 0;
    check(Fitted(without_weight, coin));
  }
}

// Logarithm of a Beta-binomial or Dirichlet-multinomial probability, without its coefficient.
double log_polya(const std::vector<double>& alpha, const std::vector<double>& n) {
  double out = 0, all = 0, total = 0;
  for (std::size_t i = 0; i < n.size(); ++i) {
    out += std::lgamma(alpha[i] + n[i]) - std::lgamma(alpha[i]);
    all += alpha[i];
    total += n[i];
  }
  return out + std::lgamma(all) - std::lgamma(all + total);
}

double log_density(const Centre& x, const CentreCounts& n) {
  const int K = x.categories;
  double out = -2 * std::log(1 + x.c);
  for (const int j : n.used_judges) {
    out += -x.s[j] * x.s[j] / (2 * x.tau * x.tau) - std::log(x.tau);
    for (int k = 0; k < K; ++k) {
      const double right = 1 / (1 + std::exp(-x.u[k] - x.s[j]));
      std::vector<double> alpha, number;
      double rest = x.c;
      for (int l = 0; l < K; ++l) {
        if (n.ratings[j][l][k] <= 0) continue;
        alpha.push_back(x.c * (l == k ? right : (1 - right) * x.w[k][l]));
        rest -= alpha.back();
        number.push_back(n.ratings[j][l][k]);
      }
      alpha.push_back(std::max(rest, 1e-200));
      number.push_back(0);
      out += log_polya(alpha, number);
    }
  }
  out += -2 * std::log(x.tau) - 2 * 0.36 / (2 * x.tau * x.tau);
  const double p = 1 / (1 + std::exp(-x.ubar));
  out += 5 * (0.6 * std::log(p) + 0.4 * std::log(1 - p));
  if (x.one_coin) return out;
  for (const double u : x.u) {
    out += -(u - x.ubar) * (u - x.ubar) / (2 * x.ups * x.ups) - std::log(x.ups);
  }
  out += -std::log(x.ups) - 0.09 / (2 * x.ups * x.ups);
  if (K == 2) return out;
  out -= 2 * std::log(1 + x.a);
  for (int k = 0; k < K; ++k) {
    out += std::lgamma(x.a);
    for (int l = 0; l < K; ++l) {
      if (l == k) continue;
      out += (x.a / (K - 1) - 1) * std::log(x.w[k][l]) - std::lgamma(x.a / (K - 1));
    }
  }
  return out;
}

double log_density(const Answering& x) {
  const int K = x.categories;
  double out = -2 * std::log(1 + x.kappa);
  for (const int j : x.used_judges) {
    const double p = 1 / (1 + std::exp(-x.b[j]));
    out += 0.5 * std::log(p * (1 - p));
    for (int k = 0; k < K; ++k) {
      const double m = 1 / (1 + std::exp(-x.b[j] - x.h[k]));
      out += log_polya({x.kappa * m, x.kappa * (1 - m)}, {x.answers[j][k], x.abstentions[j][k]});
    }
  }
  for (const double h : x.h) out += -h * h / (2 * x.omega * x.omega) - std::log(x.omega);
  return out - std::log(x.omega) - 0.09 / (2 * x.omega * x.omega);
}

// Checks that a function of one number has its maximum, or another stationary point, at `x`.
void check_stationary(double x, const std::function<double(double)>& f) {
  const double h = 1e-4 * std::max(1.0, std::fabs(x));
  const double slope = (f(x + h) - f(x - h)) / (2 * h), near = (f(x + h) + f(x - h)) / 2 - f(x);
  INFO("slope ", slope, " second difference ", near);
  CHECK(std::fabs(slope) < 2e-5);
}

// Expected numbers of distinct draws from the centre (Centre::Tables), and these numbers times p (1
// - p), which occur in the equations of the standard deviations.
struct Draws {
  std::vector<double> by_judge, ratings_by_truth, errors;

  Draws(const Centre& x, const CentreCounts& n)
      : by_judge(x.s.size()), ratings_by_truth(x.categories), errors(x.categories * x.categories) {
    const int K = x.categories;
    for (const int j : n.used_judges) {
      for (int k = 0; k < K; ++k) {
        const double p = x.right(j, k);
        for (int l = 0; l < K; ++l) {
          const double number = n.ratings[j][l][k], alpha = x.c * x.mean(x.s[j], k, l);
          if (number <= 0) continue;
          const double draws = alpha * (digamma(alpha + number) - digamma(alpha));
          by_judge[j] += draws * p * (1 - p);
          ratings_by_truth[k] += draws * p * (1 - p);
          if (l != k) errors[k * K + l] += draws;
        }
      }
    }
  }
};

}  // namespace

TEST_CASE("log densities of the centre and of answers equal slow formulas") {
  for_each_fit([](const Fitted& of) {
    Centre centre = of.panel.centre();
    Answering answering = of.panel.answering();
    CHECK(centre.log_density(of.panel.counts()) ==
          Approx(log_density(centre, of.panel.counts())).epsilon(1e-9));
    centre.c = 7.5;
    centre.tau = 0.9;
    centre.ups = 0.45;
    centre.a = 2.25;
    centre.ubar = 0.3;
    for (double& s : centre.s) s += 0.2;
    CHECK(centre.log_density(of.panel.counts()) ==
          Approx(log_density(centre, of.panel.counts())).epsilon(1e-9));
    if (answering.used_judges.empty()) {
      CHECK(answering.log_density() == 0);
      return;
    }
    CHECK(answering.log_density() == Approx(log_density(answering)).epsilon(1e-10));
    answering.kappa = 3.25;
    answering.omega = 0.7;
    for (double& b : answering.b) b -= 0.3;
    for (double& h : answering.h) h += 0.4;
    CHECK(answering.log_density() == Approx(log_density(answering)).epsilon(1e-10));
  });
}

TEST_CASE("after a fit, each parameter of the centre solves its equation") {
  for_each_fit([](const Fitted& of) {
    REQUIRE(of.panel.converged());
    const CentreCounts& n = of.panel.counts();
    const Centre& x = of.panel.centre();
    const int K = x.categories;
    const auto density = [&](const std::function<void(Centre&, double)>& set) {
      return [&, set](double value) {
        Centre moved = x;
        set(moved, value);
        return log_density(moved, n);
      };
    };
    if (x.c > 0.1001 && x.c < 9999)
      check_stationary(x.c, density([](Centre& y, double c) { y.c = c; }));
    for (const int j : n.used_judges) {
      check_stationary(x.s[j], density([j](Centre& y, double s) { y.s[j] = s; }));
    }
    const Draws draws(x, n);
    double squares = 2 * 0.36;
    for (const int j : n.used_judges) {
      squares += x.s[j] * x.s[j] + 1 / (draws.by_judge[j] + 1 / (x.tau * x.tau));
    }
    const auto judges = static_cast<double>(n.used_judges.size());
    CHECK(x.tau == Approx(std::sqrt(squares / (judges + 2))).epsilon(1e-6));
    if (of.one_coin) {
      for (const double u : x.u) CHECK(u == x.ubar);
      check_stationary(x.ubar, density([](Centre& y, double u) {
                         y.ubar = u;
                         y.u.assign(y.u.size(), u);
                       }));
      return;
    }
    for (int k = 0; k < K; ++k) {
      check_stationary(x.u[k], density([k](Centre& y, double u) { y.u[k] = u; }));
    }
    check_stationary(x.ubar, density([](Centre& y, double u) { y.ubar = u; }));
    double spread = 0.09;
    for (int k = 0; k < K; ++k) {
      spread += (x.u[k] - x.ubar) * (x.u[k] - x.ubar) +
                1 / (draws.ratings_by_truth[k] + 1 / (x.ups * x.ups));
    }
    CHECK(x.ups == Approx(std::sqrt(spread / (K + 1))).epsilon(1e-6));
    if (K == 2) return;
    const auto density_of_a = [&](double a) {
      double out = -2 * std::log(1 + a);
      for (int k = 0; k < K; ++k) {
        std::vector<double> numbers;
        for (int l = 0; l < K; ++l) {
          if (l != k) numbers.push_back(draws.errors[k * K + l]);
        }
        out += log_polya(std::vector<double>(K - 1, a / (K - 1)), numbers);
      }
      return out;
    };
    if (x.a > 0.1001) check_stationary(x.a, density_of_a);  // 0.1 is the lower limit
    for (int k = 0; k < K; ++k) {
      double total = 0;
      for (int l = 0; l < K; ++l) total += draws.errors[k * K + l];
      for (int l = 0; l < K; ++l) {
        const double share = (draws.errors[k * K + l] + x.a / (K - 1)) / (total + x.a);
        CHECK(std::fabs(x.w[k][l] - (l == k ? 0 : share)) < 1e-6);
      }
    }
  });
}

TEST_CASE("after a fit, each parameter of the abstentions solves its equation") {
  for_each_fit([](const Fitted& of) {
    const Answering& x = of.panel.answering();
    if (x.used_judges.empty()) return;
    const int K = x.categories;
    const auto density = [&](const std::function<void(Answering&, double)>& set) {
      return [&, set](double value) {
        Answering moved = x;
        set(moved, value);
        return log_density(moved);
      };
    };
    check_stationary(x.kappa, density([](Answering& y, double kappa) { y.kappa = kappa; }));
    for (const int j : x.used_judges) {
      check_stationary(x.b[j], density([j](Answering& y, double b) { y.b[j] = b; }));
    }
    double squares = 0.09;
    for (int k = 0; k < K; ++k) {
      check_stationary(x.h[k], density([k](Answering& y, double h) { y.h[k] = h; }));
      double information = 1 / (x.omega * x.omega);
      for (const int j : x.used_judges) {
        const double m = logistic(x.b[j] + x.h[k]);
        const double yes = x.kappa * m, no = x.kappa * (1 - m);
        const double draws = yes * (digamma(yes + x.answers[j][k]) - digamma(yes)) +
                             no * (digamma(no + x.abstentions[j][k]) - digamma(no));
        information += draws * m * (1 - m);
      }
      squares += x.h[k] * x.h[k] + 1 / information;
    }
    CHECK(x.omega == Approx(std::sqrt(squares / (K + 1))).epsilon(1e-6));
    for (int j = 0; j < of.rows.judges; ++j) {
      double answered = 0, abstained = 0;
      for (int i = 0; i < of.rows.size(); ++i) {
        for (const int at : of.rows.positions(i)) {
          answered += of.rows.judge[at] == j ? of.rows.weight[i] : 0;
        }
        for (const int at : of.rows.abstentions_of(i)) {
          abstained += of.rows.abstained[at] == j ? of.rows.weight[i] : 0;
        }
      }
      double answers = 0, none = 0;
      for (int k = 0; k < K; ++k) {
        const double yes = x.answers[j][k], no = x.abstentions[j][k];
        answers += yes;
        none += no;
        const double m = logistic(x.b[j] + x.h[k]);
        CHECK(x.answer_probability(j, k) ==
              Approx((x.kappa * m + yes) / (x.kappa + yes + no)).epsilon(1e-6));
      }
      CHECK(answers == Approx(answered));
      CHECK(none == Approx(abstained));
      // Starting value of each judge, before the first update.
      CHECK(Answering(of.rows).b[j] ==
            Approx(logit((answered + 0.5) / (answered + abstained + 1))));
    }
  });
}

TEST_CASE("posteriors, log likelihood and log density of a fit are sums over true categories") {
  for_each_fit([](const Fitted& of) {
    const LatentRows& rows = of.rows;
    const int K = rows.categories;
    const PooledPanel& panel = of.panel;
    std::vector<double> classes(K);
    double cases = 0, log_likelihood = 0, entropy = 0;
    for (int i = 0; i < rows.size(); ++i) {
      std::vector<double> joint;
      double total = 0;
      for (int k = 0; k < K; ++k) {
        double p = rows.known_truth[i] >= 0 && rows.known_truth[i] != k ? 0 : panel.base_rate(k);
        for (const int at : rows.positions(i)) {
          p *= panel.answering().answer_probability(rows.judge[at], k) *
               panel.theta(rows.judge[at], k, rows.category[at]);
        }
        if (!panel.answering().used_judges.empty()) {
          for (const int at : rows.abstentions_of(i)) {
            p *= 1 - panel.answering().answer_probability(rows.abstained[at], k);
          }
        }
        joint.push_back(p);
        total += p;
      }
      log_likelihood += rows.weight[i] * std::log(total);
      cases += rows.weight[i];
      for (int k = 0; k < K; ++k) {
        const double p = joint[k] / total;
        CHECK(std::fabs(panel.posterior()[i * K + k] - p) < 1e-7);
        classes[k] += rows.weight[i] * p;
        if (p > 0) entropy -= rows.weight[i] * p * std::log(p);
      }
    }
    CHECK(panel.log_likelihood() == Approx(log_likelihood).epsilon(1e-9));
    double density = log_density(panel.centre(), panel.counts()) + entropy + std::lgamma(K) -
                     std::lgamma(K + cases);
    if (!panel.answering().used_judges.empty()) density += log_density(panel.answering());
    for (int k = 0; k < K; ++k) {
      density += std::lgamma(1 + classes[k]);
      CHECK(panel.base_rate(k) == Approx((classes[k] + 1) / (cases + K)).epsilon(1e-7));
    }
    CHECK(panel.log_density() == Approx(density).epsilon(1e-9));
  });
}

TEST_CASE("parameters are unchanged after transformation to the real line and back") {
  for_each_fit([](const Fitted& of) {
    const Centre& x = of.panel.centre();
    std::vector<double> numbers;
    x.append_to(numbers);
    const std::size_t of_centre = numbers.size();
    of.panel.answering().append_to(numbers);
    Centre y(of.rows.judges, x.categories, of.one_coin);
    Answering z(of.rows);
    CHECK(y.set_parameters(numbers.data()) == numbers.data() + of_centre);
    CHECK(z.set_parameters(numbers.data() + of_centre) == numbers.data() + numbers.size());
    std::vector<double> again;
    y.append_to(again);
    z.append_to(again);
    REQUIRE(again.size() == numbers.size());
    for (std::size_t i = 0; i < again.size(); ++i) CHECK(again[i] == Approx(numbers[i]));
    for (int k = 0; k < x.categories; ++k) {
      CHECK(y.w[k][k] == 0);
      for (int j = 0; j < of.rows.judges; ++j) {
        CHECK(z.answer_probability(j, k) == Approx(of.panel.answering().answer_probability(j, k)));
      }
    }
  });
}
