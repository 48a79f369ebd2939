#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>

#include "../panel.hpp"
#include "core/base/random.hpp"
#include "core/model/curvature.hpp"
#include "core/model/latent.hpp"
#include "core/model/reading.hpp"
#include "models.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

const Panel three({"ABCABCABCAABCC", "ABCABBABCAACCB", "ABBACBABC.A.CA"}, {"ABCCBCABAAABCC"}, 3);

// Hessian for observed classes, by finite differences of the gradient with fixed expected numbers.
Eigen::MatrixXd complete_hessian(const Layout& layout, const Eigen::VectorXd& x,
                                 const ExpectedCounts& counts) {
  Eigen::MatrixXd out(x.size(), x.size());
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    Eigen::VectorXd slope[2];
    for (const int side : {0, 1}) {
      Eigen::VectorXd moved = x;
      moved[i] += side == 0 ? -1e-5 : 1e-5;
      slope[side] = Eigen::VectorXd::Zero(x.size());
      add_gradient(layout, moved, Law(layout, moved), counts, slope[side]);
      log_prior(layout, moved, &slope[side]);
    }
    out.col(i) = (slope[1] - slope[0]) / 2e-5;
  }
  return out;
}

}  // namespace

TEST_CASE("if all classes are known, the curvature is inverted in closed form") {
  for (const int system : {-1, 0}) {
    const LatentRows rows = latent_rows(three.view(), three.weights(), system, {});
    for (const LatentModel& model : all_models()) {
      if (model.strata) continue;  // covariances of accuracies and shift are left out
      for (const LatentPrior& prior : {LatentPrior(), flat()}) {
        // The likelihood does not depend on sums of errors.
        if (prior.none && model.errors == Errors::free) continue;
        const LatentClass latent(rows, model, prior);
        Eigen::VectorXd x = latent.start(), gradient(x.size());
        Stream stream(1, 0);
        for (Eigen::Index i = 0; i < x.size(); ++i) x[i] += 0.6 * (stream.uniform() - 0.5);
        ExpectedCounts counts(latent.layout);
        const Law law(latent.layout, x);
        latent.expect(law, &counts);
        for (Eigen::Index i = 0; i < x.size(); ++i) gradient[i] = stream.uniform() - 0.5;
        const CompleteCurvature curvature(latent.layout, x, law, counts);
        const Eigen::VectorXd step = curvature.solve(gradient);
        const Eigen::VectorXd back = -complete_hessian(latent.layout, x, counts) * step;
        CHECK((back - gradient).lpNorm<Eigen::Infinity>() < 1e-6);
      }
    }
  }
}

TEST_CASE("a metric changes the path of the search, but not its optimum") {
  const LatentRows rows = latent_rows(three.view(), three.weights(), -1, {});
  for (const LatentModel& model : all_models()) {
    const LatentClass latent(rows, model, LatentPrior());
    const auto plain = [&](const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
      return latent.evaluate(x, gradient);
    };
    const LatentFit fit = fit_latent(latent, latent.start(), OptimiserOptions());
    CHECK(fit.converged);
    const Optimum more = maximise(plain, fit.x, OptimiserOptions());
    CHECK(more.value - fit.value < 1e-8);
    CHECK(fit.value == Approx(latent.evaluate(fit.x, nullptr)).epsilon(1e-12));
  }
}

TEST_CASE("curvature along directions equals the curvature of their parameters") {
  const LatentRows rows = latent_rows(three.view(), three.weights(), 0, {});
  for (const LatentModel& model : all_models()) {
    const LatentClass latent(rows, model, LatentPrior());
    const Eigen::VectorXd x = latent.start();
    const Eigen::MatrixXd all = log_posterior_hessian(latent, x);
    std::vector<int> direction(x.size(), -1);
    direction[0] = 1;
    direction[1] = 0;
    for (Eigen::Index i = 2; i < x.size(); ++i) direction[i] = i % 3 == 0 ? -1 : 2;
    Eigen::MatrixXd directions = Eigen::MatrixXd::Zero(x.size(), 3);
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      if (direction[i] >= 0) directions(i, direction[i]) = 1;
    }
    const Eigen::MatrixXd some = log_posterior_hessian(latent, x, direction, 3);
    CHECK((some - directions.transpose() * all * directions).norm() < 1e-6 * (1 + all.norm()));
  }
}

TEST_CASE("if the truth is known, approximate variances equal the diagonal of the covariance") {
  // Random answers. Each rater and the system give every answer to some cases of each true
  // category.
  std::vector<std::string> raters(3), system(1);
  std::string truth;
  Stream stream(6, 0);
  for (int i = 0; i < 240; ++i) {
    truth += static_cast<char>('A' + i % 7 % 3);
    const auto answer = [&](double accuracy) {
      return stream.uniform() < accuracy ? truth[i] : static_cast<char>('A' + stream.uniform() * 3);
    };
    for (int u = 0; u < 3; ++u) raters[u] += answer(0.4 + 0.1 * u);
    system[0] += answer(0.6);
  }
  const Panel panel(raters, system, 3);
  const PatternView view = panel.view();
  // If a pattern has several truths, the last one is used.
  Known known;
  known.truth.assign(view.patterns, 0);
  for (int i = 0; i < 240; ++i) known.truth[panel.patterns.index[i] - 1] = truth[i] - 'A' + 1;
  for (const int joined : {-1, 0}) {
    const LatentRows rows = latent_rows(view, panel.weights(), joined, known);
    for (const LatentModel& model : all_models()) {
      if (model.strata) continue;  // the strata of cases are unknown
      const LatentClass latent(rows, model, flat());
      const LatentFit fit = fit_latent(latent, OptimiserOptions());
      const Eigen::MatrixXd covariance = natural_covariance(latent, fit.x);
      const std::vector<double> variance = natural_variances(latent, fit.x);
      REQUIRE(static_cast<Eigen::Index>(variance.size()) == covariance.rows());
      for (std::size_t i = 0; i < variance.size(); ++i) {
        CHECK(variance[i] / covariance(i, i) == Approx(1).epsilon(1e-4));
      }
    }
  }
}

TEST_CASE("the approximate variance of difficulty is one divided by its information") {
  for (const int system : {-1, 0}) {
    const LatentRows rows = latent_rows(three.view(), three.weights(), system, {});
    for (const LatentPrior& prior : {LatentPrior(), flat()}) {
      const LatentClass latent(rows, {true, Errors::uniform, true, true}, prior);
      const Layout& layout = latent.layout;
      const Eigen::VectorXd x = latent.start();
      ExpectedCounts counts(layout);
      latent.expect(Law(latent.layout, x), &counts);
      const std::vector<double> variance = natural_variances(latent, x);
      for (int kind = 0; kind < layout.judge_types; ++kind) {
        const int at = layout.shifts_at + kind;
        Eigen::VectorXd up = x, down = x;
        up[at] += 1e-6;
        down[at] -= 1e-6;
        const Law law(layout, x), above(layout, up), below(layout, down);
        double information = prior.none ? 0 : 1 / (0.2 * 0.2);
        for (int u = 0; u < rows.judges; ++u) {
          if (layout.shift_at(u) != at) continue;
          for (int c = 0; c < law.classes; ++c) {
            double answers = 0;
            for (int l = 0; l < 3; ++l) answers += counts.ratings[law.array_position(u, l) + c];
            const double p = law.answer_probability(u, c % 3, c);
            const double slope =
                (above.answer_probability(u, c % 3, c) - below.answer_probability(u, c % 3, c)) /
                2e-6;
            information += answers * slope * slope / (p * (1 - p));
          }
        }
        const std::size_t array_position = variance.size() - layout.judge_types + kind;
        CHECK(variance[array_position] * information == Approx(1).epsilon(1e-6));
      }
    }
  }
}
