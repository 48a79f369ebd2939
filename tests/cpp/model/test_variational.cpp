#include <doctest/doctest.h>

#include <cmath>

#include "../panel.hpp"
#include "core/base/random.hpp"
#include "core/base/special.hpp"
#include "core/model/variational.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

const int N = 3;

// Returns expected logarithms under Dirichlet(prior + n). Subtracts its divergence from
// Dirichlet(prior) from `bound`.
std::vector<double> slow_dirichlet(const std::vector<double>& prior, const std::vector<double>& n,
                                   double& bound) {
  double a = 0, more = 0;
  for (int i = 0; i < N; ++i) {
    a += prior[i];
    more += n[i];
  }
  std::vector<double> log;
  bound -= std::lgamma(a + more) - std::lgamma(a);
  for (int i = 0; i < N; ++i) {
    log.push_back(digamma(prior[i] + n[i]) - digamma(a + more));
    bound -= std::lgamma(prior[i]) - std::lgamma(prior[i] + n[i]) + n[i] * log[i];
  }
  return log;
}

std::vector<double> shares(int truth, double dispersion) {
  std::vector<double> out(N);
  double total = 0;
  for (int l = 0; l < N; ++l) {
    total += out[l] = l == truth ? 0 : std::exp(-dispersion * std::abs(truth - l));
  }
  for (double& x : out) x /= total;
  return out;
}

}  // namespace

TEST_CASE("a step of the variational approximation follows its equations") {
  const Panel panel({"ABCABCABBCABCABCABBC", "ABCABCACBAABCBBCA.CC", "ABCBBCABCCABAABCABCC"},
                    {"ABCABBABBCABCABCABBC"}, N);
  const LatentRows rows = latent_rows(panel.view(), panel.weights(), 0, {});
  Stream stream(7, 0);
  std::vector<double> start;
  for (int i = 0; i < rows.size(); ++i) {
    std::vector<double> p;
    const int first = rows.category[rows.start[i]];
    for (int k = 0; k < N; ++k) p.push_back(0.2 + stream.uniform() + (k == first));
    for (const double x : p) start.push_back(x / (p[0] + p[1] + p[2]));
  }
  VariationalOptions options;
  options.iterations = 1;
  for (const bool ordered : {false, true}) {
    for (const double c : {4.0, equal_matrices}) {
      options.ordered = ordered;
      options.concentration = c;
      const DawidSkene found = fit_dawid_skene(rows, LatentPrior(), start, options);

      std::vector<double> cases(N, 0.0), right(4, 0.0), all(4, 0.0), error(N * N, 0.0);
      std::vector<double> count(4 * N * N, 0.0);  // judges x truths x ratings
      for (int i = 0; i < rows.size(); ++i) {
        for (int k = 0; k < N; ++k) {
          const double w = rows.weight[i] * start[i * N + k];
          cases[k] += w;
          for (const int at : rows.positions(i)) {
            const int u = rows.judge[at], l = rows.category[at];
            count[(u * N + k) * N + l] += w;
            all[u] += w;
            (k == l ? right[u] : error[k * N + l]) += w;
          }
        }
      }
      // Mean accuracy of the raters, weighted by their ratings, with a prior guess of .6 of weight
      // .1.
      double sum = 0.06, weight = 0.1;
      for (int u = 0; u < 3; ++u) {
        sum += right[u] / (all[u] + 10);
        weight += all[u] / (all[u] + 10);
      }
      const double mean = sum / weight;
      double bound = 0;
      for (int u = 0; u < 4; ++u) {
        const double p =
            u < 3 ? (right[u] + 10 * mean) / (all[u] + 10) : (right[u] + 0.5) / (all[u] + 1);
        CHECK(found.accuracy[u] == Approx(p));
        if (u == 3) continue;
        bound += (10 * mean - 1) * std::log(p) + (9 - 10 * mean) * std::log(1 - p) +
                 std::lgamma(10) - std::lgamma(10 * mean) - std::lgamma(10 - 10 * mean);
      }
      // The dispersion maximises this log density.
      const auto log_density = [&](double d) {
        double out = -0.5 * d * d / (0.7 * 0.7);
        for (int k = 0; k < N; ++k) {
          const auto share = shares(k, d);
          for (int l = 0; l < N; ++l) out += l == k ? 0 : error[k * N + l] * std::log(share[l]);
        }
        return out;
      };
      const double d = found.dispersion;
      if (ordered) {
        CHECK(std::fabs(log_density(d + 1e-4) - log_density(d - 1e-4)) / 2e-4 < 1e-4);
      } else {
        CHECK(d == 0);
      }
      bound -= 0.5 * d * d / (0.7 * 0.7);

      const auto log_class = slow_dirichlet(std::vector<double>(N, 1.0), cases, bound);
      std::vector<std::vector<double>> log;  // one vector per judge and truth
      for (int u = 0; u < 4; ++u) {
        for (int k = 0; k < N; ++k) {
          std::vector<double> m = shares(k, d), n;
          for (int l = 0; l < N; ++l) {
            m[l] = k == l ? found.accuracy[u] : (1 - found.accuracy[u]) * m[l];
            n.push_back(count[(u * N + k) * N + l]);
          }
          std::vector<double> prior(m);
          for (double& x : prior) x *= 4;
          for (double& x : m) x = std::log(x);
          log.push_back(c == 4 ? slow_dirichlet(prior, n, bound) : m);
        }
      }
      for (int i = 0; i < rows.size(); ++i) {
        double total = 0;
        std::vector<double> p;
        for (int k = 0; k < N; ++k) {
          double x = log_class[k];
          for (const int at : rows.positions(i))
            x += log[rows.judge[at] * N + k][rows.category[at]];
          p.push_back(std::exp(x));
          total += p[k];
        }
        bound += rows.weight[i] * std::log(total);
        for (int k = 0; k < N; ++k) CHECK(found.posterior[i * N + k] == Approx(p[k] / total));
      }
      CHECK(found.bound == Approx(bound).epsilon(1e-10));
      CHECK(found.iterations == 1);
    }
  }
}
