// The evidence for a model: by curvature at the maximum, and by bounds.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>

#include "../panel.hpp"
#include "core/base/random.hpp"
#include "core/model/curvature.hpp"
#include "core/model/latent.hpp"
#include "core/model/variational.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

// Two categories, and many cases of each pattern, so that few rows contain much information.
LatentRows binary_rows() {
  Panel panel({"AABBABAB", "AABBBAAB", "AABBABBA"}, {"AABBAABA"}, 2);
  std::vector<double> weight = panel.weights();
  for (std::size_t i = 0; i < weight.size(); ++i) weight[i] *= i < 4 ? 9 : 3;
  return latent_rows(panel.view(), weight, 0, {});
}

}  // namespace

TEST_CASE("fixing the shift or the errors gives the model with these values") {
  const LatentRows rows = binary_rows();
  LatentModel settings;
  settings.strata = true;
  settings.separate_raters = true;
  const LatentPrior prior;
  const LatentClass free(rows, settings, prior), held(rows, settings, prior, {0.13, nullptr});
  REQUIRE(free.layout.size == held.layout.size + 1);
  Eigen::VectorXd x = free.start(), of_free, of_held;
  x[x.size() - 1] = 0.13;
  const double gap = free.evaluate(x, &of_free) - held.evaluate(x.head(held.layout.size), &of_held);
  CHECK(gap == Approx(-0.5 * 0.13 * 0.13 / (0.2 * 0.2)).epsilon(1e-10));
  CHECK((of_free.head(held.layout.size) - of_held).norm() < 1e-9);

  const Squares none(rows.judges, 2);  // each true category has only one error
  const LatentClass errors(rows, settings, prior, {0.13, &none});
  CHECK(errors.evaluate(x.head(held.layout.size), nullptr) ==
        Approx(held.evaluate(x.head(held.layout.size), nullptr)).epsilon(1e-12));
  const auto counts = held.expected_ratings(x.head(held.layout.size));
  double answers = 0, counted = 0;
  for (int i = 0; i < rows.size(); ++i) {
    answers += rows.weight[i] * (rows.start[i + 1] - rows.start[i]);
  }
  for (const double count : counts.values()) counted += count;
  CHECK(counted == Approx(answers).epsilon(1e-12));
}

TEST_CASE("evidence is the integral over the parameters" * doctest::test_suite("slow")) {
  const LatentRows rows = binary_rows();
  for (const double shift : {0.0, 0.1}) {
    LatentModel settings;
    settings.strata = shift > 0;
    const LatentClass model(rows, settings, LatentPrior(), {shift, nullptr});
    REQUIRE(model.layout.size == 3);
    const Eigen::VectorXd top = fit_latent(model, model.start(), OptimiserOptions()).x;
    const double best = model.evaluate(top, nullptr);
    double sum = 0;
    const double step = 0.2;
    for (double a = -6; a < 6; a += step) {
      // For b < 0, the categories have exchanged their names.
      for (double b = 0; b < 6; b += step) {
        for (double c = -6; c < 6; c += step) {
          sum += std::exp(model.evaluate(Eigen::Vector3d(a, b, c), nullptr) - best);
        }
      }
    }
    const double exact =
        best + std::log(sum * step * step * step) + log_prior_constant(model.layout);
    CHECK(std::fabs(laplace_evidence(model, top).log_evidence - exact) < 0.15);
  }
}

TEST_CASE("the evidence uses the full curvature along its directions, plus the ridge") {
  const Panel panel = three_raters();
  const LatentRows rows = latent_rows(panel.view(), panel.weights(), 0, {});
  const int system = 0, rates = 2;
  for (const bool separate_raters : {false, true}) {
    for (const Errors errors : {Errors::uniform, Errors::distance}) {
      for (const double shift : {0.0, 0.05}) {
        const LatentClass model(rows, {separate_raters, errors, shift > 0, false}, LatentPrior(),
                                {shift, nullptr});
        const Layout& layout = model.layout;
        // A point near the maximum, where all directions are correlated.
        Eigen::VectorXd x = fit_latent(model, model.start(), OptimiserOptions()).x;
        Stream stream(8, 0);
        for (Eigen::Index i = 0; i < x.size(); ++i) x[i] += 0.8 * (stream.uniform() - 0.5);
        // The system comes first, then base rates.
        std::vector<Eigen::VectorXd> directions{
            Eigen::VectorXd::Unit(x.size(), layout.system_at())};
        for (Eigen::Index i = 0; i < x.size(); ++i) {
          if (i != layout.system_at()) directions.push_back(Eigen::VectorXd::Unit(x.size(), i));
        }
        const auto n = static_cast<Eigen::Index>(directions.size());
        Eigen::MatrixXd bend(n, n);
        const double h = 1e-3;
        for (Eigen::Index i = 0; i < n; ++i) {
          for (Eigen::Index j = 0; j < n; ++j) {
            double sum = 0;
            for (const int a : {-1, 1}) {
              for (const int b : {-1, 1}) {
                sum += a * b *
                       model.evaluate(x + h * (a * directions[i] + b * directions[j]), nullptr);
              }
            }
            bend(i, j) = -sum / (4 * h * h);
          }
        }
        for (Eigen::Index i = 0; i < n; ++i) bend(i, i) += 0.05;
        bend.block(system + 1, system + 1, rates, rates).array() -= 0.05 / 3;
        const Evidence found = laplace_evidence(model, x);
        const double expected = model.evaluate(x, nullptr) + log_prior_constant(model.layout) +
                                static_cast<double>(n) * 0.5 * std::log(2 * 3.14159265358979324) -
                                0.5 * std::log(bend.determinant());
        CHECK(std::fabs(found.log_evidence - expected) < 1e-6);
        const double p = model.accuracy(x, 3);
        CHECK(std::fabs(found.std_error - p * (1 - p) * std::sqrt(bend.inverse()(0, 0))) < 1e-6);
      }
    }
  }
}

TEST_CASE("the evidence does not depend on which category is the last") {
  // Few cases, so that the ridge has an effect.
  const Panel panel({"AAAABBBCCD", "AAABBBACCD", "AABABBDCCC"}, {"AAABBBBCDD"}, 4);
  const Panel turned({"DDDDCCCBBA", "DDDCCCDBBA", "DDCDCCABBB"}, {"DDDCCCCBAA"}, 4);
  OptimiserOptions exact;
  exact.gradient_tolerance = 1e-8;
  exact.value_tolerance = 1e-15;
  for (const bool separate_raters : {false, true}) {
    LatentModel settings;
    settings.separate_raters = separate_raters;
    const auto evidence = [&](const Panel& data) {
      const LatentRows rows = latent_rows(data.view(), data.weights(), 0, {});
      const LatentClass model(rows, settings, LatentPrior());
      return laplace_evidence(model, fit_latent(model, model.start(), exact).x);
    };
    const Evidence one = evidence(panel), other = evidence(turned);
    CHECK(one.log_evidence == Approx(other.log_evidence).epsilon(1e-8));
    CHECK(one.std_error == Approx(other.std_error).epsilon(1e-6));
  }
}

TEST_CASE("the evidence of a crowd is close to that of the same raters as a panel") {
  // Many raters, but only three have ratings. The others add no information.
  LatentRows rows = binary_rows(), crowd = rows;
  const int more = 40;
  crowd.raters += more;
  crowd.judges += more;
  for (int& judge : crowd.judge) judge += judge == rows.raters ? more : 0;
  LatentModel settings;
  settings.separate_raters = true;
  const LatentClass few(rows, settings, LatentPrior()), many(crowd, settings, LatentPrior());
  const auto fit = [](const LatentClass& model) {
    return laplace_evidence(model, fit_latent(model, model.start(), OptimiserOptions()).x);
  };
  const Evidence dense = fit(few), separate_raters = fit(many);
  CHECK(std::fabs(dense.log_evidence - separate_raters.log_evidence) < 1.5);
  CHECK(separate_raters.std_error == Approx(dense.std_error).epsilon(0.25));
}

TEST_CASE("variational bounds never decrease, and are equal if no matrix is free") {
  const Panel panel = three_raters();
  const LatentRows rows = latent_rows(panel.view(), panel.weights(), 0, {});
  LatentModel settings;
  const LatentClass model(rows, settings, LatentPrior());
  const auto start = model.posterior(fit_latent(model, model.start(), OptimiserOptions()).x);
  VariationalOptions options;
  options.tolerance = 1e-12;
  for (const double c : {1.0, 4.0, 100.0, equal_matrices}) {
    options.concentration = c;
    const DawidSkene fit = fit_dawid_skene(rows, LatentPrior(), start, options);
    REQUIRE(fit.bound_path.size() > 3);
    for (std::size_t i = 1; i < fit.bound_path.size(); ++i) {
      CHECK(fit.bound_path[i] >= fit.bound_path[i - 1] - 1e-9);
    }
    for (int i = 0; i < rows.size(); ++i) {
      CHECK(fit.posterior[i * 3] + fit.posterior[i * 3 + 1] + fit.posterior[i * 3 + 2] ==
            Approx(1));
    }
  }
  options.concentration = 1e9;
  const DawidSkene stiff = fit_dawid_skene(rows, LatentPrior(), start, options);
  options.concentration = equal_matrices;
  const DawidSkene limit = fit_dawid_skene(rows, LatentPrior(), start, options);
  CHECK(stiff.bound == Approx(limit.bound).epsilon(1e-5));
  CHECK(stiff.accuracy[3] == Approx(limit.accuracy[3]).epsilon(1e-3));
}

TEST_CASE("separate errors improve the fit only if they are free parameters") {
  const Panel panel = three_raters();
  const LatentRows rows = latent_rows(panel.view(), panel.weights(), 0, {});
  LatentModel settings;
  settings.errors = Errors::distance;
  const LatentClass model(rows, settings, LatentPrior(), {0, nullptr});
  const LatentFit base = fit_latent(model, model.start(), OptimiserOptions());
  const SeparateErrors stiff =
      fit_separate_errors(rows, settings, LatentPrior(), 0, base.x, 1e8, {});
  CHECK(stiff.bound == Approx(base.value).epsilon(1e-5));
  const SeparateErrors free = fit_separate_errors(rows, settings, LatentPrior(), 0, base.x, 8, {});
  CHECK(free.bound != Approx(base.value).epsilon(1e-5));
  CHECK(free.bound < base.value + 20);
}
