// Fits to the frequencies of pairs of answers (latent_pairs.hpp).
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>

#include "../panel.hpp"
#include "core/base/random.hpp"
#include "core/model/latent.hpp"
#include "core/model/latent_pairs.hpp"
#include "core/model/reading.hpp"
#include "models.hpp"
#include "slopes.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

const Panel panel({"ABABAABBABABBBAABABA", "ABBAAABBABAABBABBABA", "ABABBBBAAAABBABABABB"},
                  {"ABABABBBAB.ABBAABBBA"}, 2);

LatentRows rows_of(int system) { return latent_rows(panel.view(), panel.weights(), system, {}); }

// Table of the ratings of judges `u` and `v`: categories x categories. If raters are exchangeable,
// all pairs of raters are counted, in both orders.
std::vector<double> slow_cells(const LatentRows& rows, bool separate_raters, int u, int v) {
  std::vector<double> out(4, 0.0);
  const auto is = [&](int judge, int number) {
    return separate_raters || judge >= rows.raters ? judge == number : number < rows.raters;
  };
  for (int i = 0; i < rows.size(); ++i) {
    for (const int a : rows.positions(i)) {
      for (const int b : rows.positions(i)) {
        if (a == b || !is(rows.judge[a], u) || !is(rows.judge[b], v)) continue;
        out[rows.category[a] * 2 + rows.category[b]] += rows.weight[i];
      }
    }
  }
  return out;
}

OptimiserOptions careful() {
  OptimiserOptions out;
  out.iterations = 5000;
  out.gradient_tolerance = 1e-10;
  out.value_tolerance = 1e-16;
  return out;
}

}  // namespace

TEST_CASE("pair frequencies count all pairs of ratings, and closeness is a sum of squares") {
  for (const int system : {-1, 0}) {
    const LatentRows rows = rows_of(system);
    for (const bool separate_raters : {false, true}) {
      const LatentModel model{separate_raters, Errors::uniform, true, false};
      const LatentClass latent(rows, model, LatentPrior());
      const PairFrequencies pairs = pair_frequencies(latent.layout);
      const int raters = separate_raters ? 3 : 0;
      CHECK(pairs.kinds() == (separate_raters ? 3 : 1) + (system < 0        ? 0
                                                          : separate_raters ? 3
                                                                            : 1));
      double all = 0;
      for (int i = 0; i < rows.size(); ++i) {
        const double n = rows.positions(i).size();
        all += rows.weight[i] * n * (n - 1) / 2;
      }
      const Eigen::VectorXd x = latent.start();
      const AnswerLaw law = Law(latent.layout, x);
      double squares = 0;
      for (int kind = 0; kind < pairs.kinds(); ++kind) {
        const int u = pairs.first[kind], v = pairs.second[kind];
        CHECK((u < v || (u == v && raters == 0)));
        const auto cells = slow_cells(rows, separate_raters, u, v);
        const double sum = cells[0] + cells[1] + cells[2] + cells[3], twice = u == v ? 2 : 1;
        CHECK(pairs.share[kind] == Approx(sum / twice / all));
        for (int c = 0; c < 4; ++c) {
          CHECK(pairs.frequency[kind * 4 + c] == Approx(cells[c] / sum));
          double off = cells[c] / sum;
          for (int s = 0; s < law.classes; ++s) {
            off -= law.class_probability[s] * law.answer_probability(u, c / 2, s) *
                   law.answer_probability(v, c % 2, s);
          }
          squares += sum / twice / all * off * off;
        }
      }
      CHECK(PairObjective(latent.layout, pairs).evaluate(x, nullptr) ==
            Approx(-1e4 / 2 * squares + log_prior(latent.layout, x, nullptr)));
    }
  }
}

TEST_CASE("the covariance of a fit to pairs equals that from changes by one case more or less") {
  LatentRows rows = rows_of(0);
  for (const bool separate_raters : {false, true}) {
    const LatentModel model{separate_raters, Errors::uniform, false, false};
    const LatentClass latent(rows, model, flat());
    const auto fit = [&](const std::vector<double>& weight, const Eigen::VectorXd& from) {
      LatentRows other = rows;
      other.weight = weight;
      return fit_latent(LatentClass(other, model, flat()), from, careful(), Fitting::pairs);
    };
    const LatentFit top = fit(rows.weight, Eigen::VectorXd());
    CHECK(top.converged);
    CHECK(top.log_likelihood == Approx(latent.evaluate(top.x, nullptr)).epsilon(1e-6));
    const auto numbers = [&](const std::vector<double>& weight) {
      const Eigen::VectorXd x = fit(weight, top.x).x;
      const std::vector<double> value = ParameterReader(latent.layout, x).naturals().value;
      return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(value.data(), value.size()));
    };
    const Eigen::MatrixXd found = pair_covariance(latent.layout, top.x);
    const Eigen::MatrixXd expected = squared_slopes(rows.weight, 1e-3, numbers);
    CHECK(expected.diagonal().minCoeff() > 1e-4);
    CHECK((found - expected).lpNorm<Eigen::Infinity>() < 1e-3 * expected.norm());
  }
}
