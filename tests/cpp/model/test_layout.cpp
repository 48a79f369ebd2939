// Positions and starting values of parameters.
#include <doctest/doctest.h>

#include <cmath>

#include "../panel.hpp"
#include "core/base/random.hpp"
#include "core/model/latent.hpp"
#include "core/model/reading.hpp"
#include "models.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

const int N = 3;
const Panel panel({"ABCABCABBCAABBCC", "ABCABCACBA..BBCA", "ABCBBCABCC..ABCC", "A..ABAABCCABBACB",
                   "CBAABAABCCABCACB"},
                  {"ABCABBABBCABCABC"}, N);
const std::vector<double> some_matrix{.7, .2, .1, .1, .7, .2, .2, .1, .7};

LatentRows rows_of(int system, const Known& known = {}) {
  return latent_rows(panel.view(), panel.weights(), system, known);
}

Known with_known(const std::vector<int>& raters) {
  Known out;
  out.matrix.resize(5);
  for (const int u : raters) out.matrix[u] = some_matrix;
  return out;
}

// Posterior probabilities for these confusion matrices, or shares of votes without matrices: rows x
// truths.
std::vector<double> slow_posterior(const LatentRows& rows, const std::vector<double>& rates,
                                   const std::vector<std::vector<double>>& matrix) {
  std::vector<double> out;
  for (int i = 0; i < rows.size(); ++i) {
    std::vector<double> p(N);
    double total = 0;
    for (int k = 0; k < N; ++k) {
      if (matrix.empty()) {
        for (const int at : rows.positions(i)) {
          p[k] += rows.judge[at] < rows.raters && rows.category[at] == k;
        }
      } else {
        p[k] = rates[k];
        for (const int at : rows.positions(i)) {
          p[k] *= matrix[rows.judge[at]][k * N + rows.category[at]];
        }
      }
      if (rows.known_truth[i] >= 0) p[k] = rows.known_truth[i] == k;
      total += p[k];
    }
    for (const double x : p) out.push_back(x / total);
  }
  return out;
}

// Expected numbers of ratings for this posterior: judges x ratings x truths.
std::vector<double> slow_ratings(const LatentRows& rows, const std::vector<double>& posterior) {
  std::vector<double> out(static_cast<std::size_t>(rows.judges) * N * N);
  for (int i = 0; i < rows.size(); ++i) {
    for (const int at : rows.positions(i)) {
      const int first = (rows.judge[at] * N + rows.category[at]) * N;
      for (int k = 0; k < N; ++k) out[first + k] += rows.weight[i] * posterior[i * N + k];
    }
  }
  return out;
}

}  // namespace

TEST_CASE("each parameter has a separate position in the parameter vector") {
  LatentPrior prior;
  const Squares errors(6, N);
  for (const std::vector<int>& known : {std::vector<int>{}, {1}, {0, 1, 2, 3, 4}}) {
    for (const int system : {-1, 0}) {
      const LatentRows rows = rows_of(system, with_known(known));
      const int joined = system >= 0, raters = 5 - static_cast<int>(known.size());
      for (const LatentModel& model : all_models()) {
        for (const bool none : {false, true}) {
          prior.none = none;
          const Layout layout(rows, model, prior, FixedValues());
          const bool free = model.errors == Errors::free;
          const int groups = (model.separate_raters ? raters : raters > 0) + joined;
          const int judge_types = groups > 1 && joined && model.separate_system ? 2 : groups > 0;
          const int mean = model.separate_raters && !none && raters > 0;
          const int numbers = groups * (free ? N : 1);
          CHECK(layout.size == N - 1 + mean + numbers + free * groups * N * N +
                                   (model.errors == Errors::distance ? judge_types : 0) +
                                   (model.strata ? judge_types : 0));
          // Each row has two error rates with sum 1, so one is free.
          CHECK(layout.free_parameters() == layout.size - mean - (free ? groups * N * 2 : 0));
          CHECK((layout.mean_at >= 0) == mean);
          CHECK(layout.system_at() == (joined && !free ? N - 1 + mean + groups - 1 : -1));
          const Layout held(rows, model, prior, {0.1, &errors});
          CHECK(held.size == N - 1 + mean + numbers + free * groups * N * N);
        }
      }
    }
  }
}

TEST_CASE("the constant of the prior is the sum of the constants of its densities") {
  const auto normals = [](int count, double sd) {
    return -count * std::log(sd * std::sqrt(2 * 3.14159265358979324));
  };
  for (const int system : {-1, 0}) {
    const LatentRows rows = rows_of(system);
    for (const LatentModel& model : all_models()) {
      const LatentClass latent(rows, model, LatentPrior());
      const bool free = model.errors == Errors::free;
      const int numbers = free ? N : 1, joined = system + 1;
      const int groups = (model.separate_raters ? 5 : 1) + joined;
      const int judge_types = joined && model.separate_system ? 2 : 1;
      // Priors: Dirichlet(1, 1, 1); Beta(3, 2), with density 12 x^2 (1 - x); Beta(1, 1) for a
      // system.
      double expected = std::log(2.0) + (model.separate_raters ? 1 : numbers) * std::log(12.0);
      if (model.separate_raters) expected += normals(5 * numbers, 0.6);
      if (free) expected += normals(groups * N * N, 0.5);
      if (model.errors == Errors::distance) expected += normals(judge_types, 0.7);
      if (model.strata) expected += normals(judge_types, 0.2) + judge_types * std::log(2.0);
      CHECK(log_prior_constant(latent.layout) == Approx(expected));
      CHECK(log_prior_constant(LatentClass(rows, model, flat()).layout) == 0);
    }
  }
}

TEST_CASE("expected numbers of ratings are sums of posterior probabilities of the truth") {
  const LatentRows rows = rows_of(0);
  for (const LatentModel& model : all_models()) {
    const LatentClass latent(rows, model, LatentPrior());
    const Eigen::VectorXd x = latent.start();
    const auto found = latent.expected_ratings(x).values();
    const auto slow = slow_ratings(rows, latent.posterior(x));
    REQUIRE(found.size() == slow.size());
    for (std::size_t i = 0; i < slow.size(); ++i) CHECK(std::fabs(found[i] - slow[i]) < 1e-10);
  }
}

TEST_CASE("free matrices start at the result of thirty Dawid-Skene steps from vote shares") {
  Known known;
  known.truth.assign(panel.view().patterns, 0);
  known.truth[3] = 2;
  for (const int system : {-1, 0}) {
    const LatentRows rows = rows_of(system, known);
    const LatentClass latent(rows, {true, Errors::free, false, false}, flat());
    std::vector<double> rates(N);
    std::vector<std::vector<double>> matrix;
    for (int step = 0; step <= 30; ++step) {
      const auto posterior = slow_posterior(rows, rates, matrix);
      const auto ratings = slow_ratings(rows, posterior);
      double cases = 0;
      std::fill(rates.begin(), rates.end(), 0.0);
      for (int i = 0; i < rows.size(); ++i) {
        cases += rows.weight[i];
        for (int k = 0; k < N; ++k) rates[k] += rows.weight[i] * posterior[i * N + k];
      }
      for (double& rate : rates) rate /= cases;
      matrix.assign(rows.judges, std::vector<double>(N * N));
      for (int u = 0; u < rows.judges; ++u) {
        for (int k = 0; k < N; ++k) {
          double all = 0;
          for (int l = 0; l < N; ++l) all += ratings[(u * N + l) * N + k];
          for (int l = 0; l < N; ++l) matrix[u][k * N + l] = ratings[(u * N + l) * N + k] / all;
        }
      }
    }
    const Eigen::VectorXd x = latent.start();
    const Law law(latent.layout, x);
    for (int k = 0; k < N; ++k) CHECK(std::fabs(law.base_rates[k] - rates[k]) < 1e-6);
    for (int u = 0; u < rows.judges; ++u) {
      const auto confusion = law.confusion(u);
      for (int i = 0; i < N * N; ++i) CHECK(std::fabs(confusion[i] - matrix[u][i]) < 1e-6);
    }
  }
}

TEST_CASE("old raters start at their earlier parameters, and new raters at the mean") {
  for (const bool one_is_known : {false, true}) {
    const Known known = one_is_known ? with_known({1, 3}) : Known();
    const LatentRows rows = rows_of(-1, known);
    LatentRows first;  // the first three of five raters
    first.categories = N;
    first.raters = first.judges = 3;
    first.matrix = known.matrix;
    if (one_is_known) first.matrix.resize(3);
    for (const LatentModel& model : all_models()) {
      if (one_is_known && !model.separate_raters) continue;
      const Layout before(first, model, LatentPrior(), FixedValues());
      const LatentClass after(rows, model, LatentPrior(), FixedValues());
      Eigen::VectorXd x(before.size);
      Stream stream(5, 0);
      for (Eigen::Index i = 0; i < x.size(); ++i) x[i] = stream.uniform() - 0.3;
      const Eigen::VectorXd found = after.warm_start(x, 3);
      REQUIRE(found.size() == after.layout.size);
      CHECK(found.head(N - 1) == x.head(N - 1));
      if (after.layout.mean_at >= 0) CHECK(found[after.layout.mean_at] == x[before.mean_at]);
      const auto check = [&](int to, double sum, int of_judge, double expected) {
        CHECK(found[to] == Approx(of_judge < 3 || !model.separate_raters ? expected : sum));
      };
      for (int u = 0; u < 5; ++u) {
        if (after.layout.has_known_matrix(u)) continue;
        const int as = u < 3 || !model.separate_raters ? std::min(u, 2) : 0;
        for (int k = 0; k < N; ++k) {
          for (int l = 0; l < N; ++l) {
            double accuracy = 0, error = 0, raters = 0;
            for (int v = 0; v < 3; ++v) {
              if (before.has_known_matrix(v)) continue;
              ++raters;
              accuracy += x[before.accuracy_at(v, k)];
              if (before.errors_at >= 0) error += x[before.error_at(v, k, l)];
            }
            check(after.layout.accuracy_at(u, k), accuracy / raters, u,
                  x[before.accuracy_at(as, k)]);
            if (before.errors_at < 0) continue;
            check(after.layout.error_at(u, k, l), error / raters, u, x[before.error_at(as, k, l)]);
          }
        }
      }
      const ParameterReader now(after.layout, found), then(before, x);
      CHECK(now.dispersion(false) == then.dispersion(false));
      CHECK(now.shift(false) == then.shift(false));
      CHECK(after.warm_start(x.head(x.size() - 1), 3).size() == 0);  // length of another model
    }
  }
  const LatentRows joined = rows_of(0), known = rows_of(-1, with_known({0, 1, 2}));
  const LatentModel model{true, Errors::uniform, false, false};
  const LatentClass with_system(joined, model, flat()), rest(known, model, flat());
  CHECK(with_system.warm_start(Eigen::VectorXd::Zero(N - 1 + 3), 3).size() == 0);
  CHECK(rest.warm_start(Eigen::VectorXd::Zero(N - 1), 3).size() == 0);
}

TEST_CASE("a known truth has the same effect as many raters who give this category") {
  const Panel mixed({"AABCBC", "AABCAC", "AABCCB"}, {}, N);
  Known known;
  known.truth.assign(mixed.view().patterns, 0);
  known.truth[0] = 1;
  const LatentRows with_truth = latent_rows(mixed.view(), mixed.weights(), -1, known);
  const LatentRows voted = latent_rows(mixed.view(), mixed.weights(), -1, {});
  for (const bool separate_raters : {false, true}) {
    const LatentModel model{separate_raters, Errors::uniform, false, false};
    const LatentClass of_told(with_truth, model, flat()), of_voted(voted, model, flat());
    const Eigen::VectorXd off = of_told.start() - of_voted.start();
    CHECK(off.lpNorm<Eigen::Infinity>() < 1e-12);
  }
}

TEST_CASE("patterns get the values of their row, or the mean over cases if they have no row") {
  const Panel mixed({"AAAB.", "AAAB."}, {}, 2);
  const LatentRows rows = latent_rows(mixed.view(), mixed.weights(), -1, {});
  REQUIRE(rows.row_of_pattern == std::vector<int>{0, 1, -1});
  CHECK(copy_to_patterns(rows, {0.75, 0.25, 0.25, 0.75}) ==
        std::vector<double>{0.75, 0.25, 0.25, 0.75, 0.625, 0.375});
}
