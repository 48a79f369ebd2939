// Panels with many raters, for which some computations are approximate, and names of classes.
#include <doctest/doctest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "../panel.hpp"
#include "core/base/random.hpp"
#include "core/model/curvature.hpp"
#include "core/model/identified.hpp"
#include "core/model/latent.hpp"
#include "core/model/naming.hpp"
#include "core/model/pooled.hpp"
#include "models.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

// A panel of raters with accuracy 0.75. Rater j does not rate cases i with (i + j) % gap == 0.
Panel crowd(int raters, int cases, int categories, int gap, const std::string& system = "") {
  Stream stream(12, 3);
  std::vector<std::string> columns;
  for (int j = 0; j < raters; ++j) {
    std::string text;
    for (int i = 0; i < cases; ++i) {
      const int wrong =
          (i + 1 + static_cast<int>(stream.uniform() * (categories - 1))) % categories;
      const int answer = stream.uniform() < 0.75 ? i % categories : wrong;
      text += (i + j) % gap == 0 ? '.' : static_cast<char>('A' + answer);
    }
    columns.push_back(text);
  }
  std::vector<std::string> systems;
  if (!system.empty()) systems.push_back(system);
  return Panel(columns, systems, categories);
}

}  // namespace

TEST_CASE("category names are assigned by the permutation that fits the ratings best") {
  Stream stream(5, 5);
  for (int i = 0; i < 60; ++i) {
    const int K = 2 + i % 4, judges = 1 + i % 3;
    std::vector<double> matrices, weight;
    for (int j = 0; j < judges; ++j) {
      weight.push_back(j == 1 && i % 2 == 0 ? 0 : 1 + 4 * stream.uniform());
      for (int c = 0; c < K * K; ++c) matrices.push_back(stream.uniform());
    }
    const auto worth = [&](const std::vector<int>& name) {
      double out = 0;
      for (int j = 0; j < judges; ++j) {
        for (int k = 0; k < K; ++k) out += weight[j] * matrices[(j * K + k) * K + name[k]];
      }
      return out;
    };
    std::vector<int> order(K), best;
    std::iota(order.begin(), order.end(), 0);
    best = order;
    do {
      if (worth(order) > worth(best)) best = order;
    } while (std::next_permutation(order.begin(), order.end()));
    CHECK(names_by_majority(matrices, weight, K) == best);
  }
  // Names do not change if other names are equally good.
  CHECK(names_by_majority({0.5, 0.5, 0.5, 0.5}, {3}, 2) == std::vector<int>{0, 1});
}

TEST_CASE("the association of a crowd is the sum over its pairs of raters") {
  const int K = 3;
  const Panel panel = crowd(12, 40, K, 5);
  const std::vector<double> weight = [&] {
    std::vector<double> out = panel.weights();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = 1 + static_cast<double>(i % 3);
    return out;
  }();
  const LatentRows rows = latent_rows(panel.view(), weight, -1, {});
  double excess = 0, statistic = 0, df = 0;
  for (int a = 0; a < rows.judges; ++a) {
    for (int b = a + 1; b < rows.judges; ++b) {
      Eigen::MatrixXd table = Eigen::MatrixXd::Zero(K, K);
      for (int i = 0; i < rows.size(); ++i) {
        for (const int x : rows.positions(i)) {
          for (const int y : rows.positions(i)) {
            if (rows.judge[x] == a && rows.judge[y] == b) {
              table(rows.answer(x), rows.answer(y)) += rows.weight[i];
            }
          }
        }
      }
      const double n = table.sum();
      int rows_used = 0, columns_used = 0;
      for (int k = 0; k < K; ++k) {
        rows_used += table.row(k).sum() > 0;
        columns_used += table.col(k).sum() > 0;
        const double chance = table.row(k).sum() * table.col(k).sum() / n;
        excess += table(k, k) - chance;
        for (int l = 0; l < K; ++l) {
          const double expected = table.row(k).sum() * table.col(l).sum() / n;
          if (expected > 0) {
            statistic += (n - 1) / n * std::pow(table(k, l) - expected, 2) / expected;
          }
        }
      }
      df += (rows_used - 1) * (columns_used - 1);
    }
  }
  const Association found = association(rows);
  CHECK(found.excess == Approx(excess));
  CHECK(found.statistic == Approx(statistic));
  CHECK(found.df == df);
  CHECK(reply_association(rows).pairs == 12 * 11 / 2);
}

TEST_CASE("for cases with many replies, only the replies of the hundred busiest judges are used") {
  // The last five judges rated fewer cases than the others.
  Panel all = crowd(105, 6, 3, 1000);
  std::vector<std::string> columns;
  Stream stream(2, 2);
  for (int j = 0; j < 105; ++j) {
    std::string text;
    for (int i = 0; i < 6; ++i)
      text += static_cast<char>('A' + static_cast<int>(3 * stream.uniform()));
    if (j % 21 == 20) text[0] = text[5] = '.';
    columns.push_back(text);
  }
  std::vector<std::string> busy;
  for (int j = 0; j < 105; ++j) {
    std::string text = columns[j];
    // In cases 1 to 4 all judges replied. In the others only a hundred did.
    if (j % 21 == 20) text = "......";
    busy.push_back(text);
  }
  all = Panel(columns, {}, 3);
  const Panel hundred(busy, {}, 3);
  const LatentRows rows = latent_rows(all.view(), all.weights(), -1, {});
  const LatentRows fewer = latent_rows(hundred.view(), hundred.weights(), -1, {});
  const Association found = association(rows), expected = association(fewer);
  CHECK(found.excess == Approx(expected.excess));
  CHECK(found.statistic == Approx(expected.statistic));
  CHECK(found.df == expected.df);
  CHECK(reply_association(rows).pairs == 100 * 99 / 2);
}

TEST_CASE("with many raters, the evidence integrates over each rater, then over their mean") {
  const Panel panel = crowd(40, 9, 2, 4, "ABABABBBA");
  for (const int system : {-1, 0}) {
    const LatentRows rows = latent_rows(panel.view(), panel.weights(), system, {});
    const LatentModel model{true, Errors::uniform, false, false};
    const LatentPrior prior;
    const LatentClass latent(rows, model, prior);
    const Eigen::VectorXd x = fit_latent(latent, OptimiserOptions()).x;
    const Evidence found = laplace_evidence(latent, x);
    // Curvature in the base rate and the accuracy of the system, with a ridge of 0.05.
    const Eigen::MatrixXd hessian = -log_posterior_hessian(latent, x);
    std::vector<int> at{0};
    if (system == 0) at.insert(at.begin(), latent.layout.accuracy_at(40, 0));
    const auto n = static_cast<Eigen::Index>(at.size());
    Eigen::MatrixXd dense(n, n);
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = 0; j < n; ++j) dense(i, j) = hessian(at[i], at[j]);
      // The ridge of the base rate acts on logits relative to their mean: factor 1 - 1 / 2.
      dense(i, i) += at[i] == 0 ? 0.025 : 0.05;
    }
    double expected = latent.evaluate(x, nullptr) + log_prior_constant(latent.layout) +
                      0.5 * static_cast<double>(n) * std::log(2 * 3.14159265358979) -
                      0.5 * std::log(dense.determinant());
    const double mean = 1 / (1 + std::exp(-x[latent.layout.mean_at]));
    const double variance = prior.spread * prior.spread;
    double of_mean = (prior.correct + prior.wrong) * mean * (1 - mean);
    for (int u = 0; u < 40; ++u) {
      double ratings = 0;
      for (int i = 0; i < rows.size(); ++i) {
        for (const int r : rows.positions(i)) ratings += rows.judge[r] == u ? rows.weight[i] : 0;
      }
      const double p = latent.accuracy(x, u), information = ratings * p * (1 - p);
      of_mean += 1 / (1 / information + variance);
      expected += 0.5 * std::log(2 * 3.14159265358979 / (information + 1 / variance));
    }
    expected += 0.5 * std::log(2 * 3.14159265358979 / of_mean);
    CHECK(found.log_evidence == Approx(expected).epsilon(1e-7));
    CHECK((found.std_error > 0) == (system == 0));
  }
}
