#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>

#include "../panel.hpp"
#include "core/accuracy/profile_interval.hpp"
#include "core/base/random.hpp"
#include "core/model/curvature.hpp"
#include "core/model/latent.hpp"
#include "core/model/reading.hpp"
#include "models.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

const Panel three({"ABCABCABCAABCC", "ABCABBABCAACCB", "ABBACBABC.A.CA"}, {"ABCCBCABAAABCC"}, 3);

// Most ratings have one of three levels of confidence.
LatentRows sure_rows(int system) {
  PatternView view = three.view();
  Stream stream(3, 0);
  std::vector<int> level;
  for (int i = 0; i < view.start[view.patterns]; ++i) {
    level.push_back(static_cast<int>(4 * stream.uniform()));
  }
  view.levels = 3;
  view.level = level.data();
  return latent_rows(view, three.weights(), system, {});
}

LatentRows bare_rows(int system) { return latent_rows(three.view(), three.weights(), system, {}); }

Eigen::VectorXd somewhere(const LatentClass& latent) {
  Eigen::VectorXd x = latent.start();
  Stream stream(1, 0);
  for (Eigen::Index i = 0; i < x.size(); ++i) x[i] += 0.6 * (stream.uniform() - 0.5);
  return x;
}

template <class Value>
auto slope_of(const Value& value, const Eigen::VectorXd& x, Eigen::Index i) -> decltype(value(x)) {
  Eigen::VectorXd up = x, down = x;
  up[i] += 1e-5;
  down[i] -= 1e-5;
  return (value(up) - value(down)) / 2e-5;
}

}  // namespace

TEST_CASE("gradients for ordinal errors and confidence are derivatives of the log posterior") {
  for (const bool separate_raters : {false, true}) {
    for (const Errors errors : {Errors::uniform, Errors::free, Errors::ordinal}) {
      for (const int system : {-1, 0}) {
        for (const bool sure : {false, true}) {
          LatentRows rows = sure ? sure_rows(system) : bare_rows(system);
          rows.matrix.resize(rows.judges);
          if (separate_raters) rows.matrix[1] = {.8, .1, .1, .2, .6, .2, .05, .15, .8};
          const LatentClass latent(rows, {separate_raters, errors, false, false}, flat());
          const Eigen::VectorXd x = somewhere(latent);
          Eigen::VectorXd gradient;
          latent.evaluate(x, &gradient);
          const Eigen::MatrixXd hessian = log_posterior_hessian(latent, x);
          const int judge = rows.raters - 1;
          Eigen::VectorXd of_accuracy;
          latent.accuracy(x, judge, &of_accuracy);
          const auto value = [&](const Eigen::VectorXd& at) {
            return latent.evaluate(at, nullptr);
          };
          const auto slope = [&](const Eigen::VectorXd& at) {
            Eigen::VectorXd out;
            latent.evaluate(at, &out);
            return out;
          };
          const auto accuracy = [&](const Eigen::VectorXd& at) {
            return latent.accuracy(at, judge);
          };
          for (Eigen::Index i = 0; i < x.size(); ++i) {
            CHECK(gradient[i] == Approx(slope_of(value, x, i)).epsilon(1e-5));
            CHECK(of_accuracy[i] == Approx(slope_of(accuracy, x, i)).epsilon(1e-6));
            const Eigen::VectorXd column = slope_of(slope, x, i);
            CHECK((hessian.col(i) - column).cwiseAbs().maxCoeff() < 1e-5);
          }
          CompleteCurvature curvature;
          Eigen::VectorXd again;
          latent.evaluate(x, &again, nullptr, &curvature);
          CHECK((again - gradient).norm() < 1e-10);
          CHECK(curvature.solve(gradient).dot(gradient) > 0);
        }
      }
    }
  }
}

TEST_CASE("ordinal error probabilities are those of a normal signal between thresholds") {
  const double theta[] = {1.5, 0.3, -0.4, 0.2};
  const OrdinalLaw law(theta, 4);
  const double middle = 0.3, limits[] = {middle - std::exp(-0.4), middle, middle + std::exp(0.2)};
  for (int t = 0; t < 3; ++t) CHECK(law.thresholds()[t] == Approx(limits[t]));
  for (int k = 0; k < 4; ++k) {
    double below = 0;
    for (int l = 0; l < 4; ++l) {
      const double z = l < 3 ? limits[l] - 1.5 * (k - 1.5) : 1e9;
      const double up = 0.5 * std::erfc(-z / std::sqrt(2.0));
      CHECK(law.matrix()[4 * k + l] == Approx(up - below));
      below = up;
    }
  }
  // Probabilities far below the rounding error of 1, in both tails.
  const double far[] = {20, 0, 0};
  const auto matrix = OrdinalLaw(far, 3).matrix();
  CHECK(std::log(matrix[6]) == Approx(-203.917155371).epsilon(1e-8));
  CHECK(std::log(matrix[2]) == Approx(-224.465715831).epsilon(1e-8));
}

TEST_CASE("higher confidence levels are more frequent if answers are more often correct") {
  const double theta[] = {0.5, -0.2, -1, 0.4};
  const LevelLaw law(theta, 3);
  for (const bool right : {false, true}) {
    CHECK(law.probability(right, 0) + law.probability(right, 1) + law.probability(right, 2) ==
          Approx(1));
  }
  const auto odds = [&](int level) {
    return law.probability(true, level) / law.probability(false, level);
  };
  CHECK(std::log(odds(1) / odds(0)) == Approx(std::exp(-1)));
  CHECK(std::log(odds(2) / odds(1)) == Approx(std::exp(0.4)));
  for (const int level : {1, 2}) {
    CHECK(std::log(law.probability(false, level) / law.probability(false, 0)) ==
          Approx(theta[level - 1]));
  }
  // The probabilities of an answer with each level sum to its probability without levels.
  const LatentRows rows = sure_rows(0);
  const LatentClass latent(rows, {true, Errors::ordinal, false, false}, flat());
  const AnswerLaw all = Law(latent.layout, somewhere(latent));
  for (int u = 0; u < rows.judges; ++u) {
    for (int l = 0; l < 3; ++l) {
      for (int c = 0; c < all.classes; ++c) {
        CHECK(all.answer_probability(u, l + 3, c) + all.answer_probability(u, l + 6, c) +
                  all.answer_probability(u, l + 9, c) ==
              Approx(all.answer_probability(u, l, c)));
      }
    }
  }
}

TEST_CASE("the profile of an accuracy that is a function of parameters has the correct limits") {
  const LatentRows rows = bare_rows(0);
  for (const LatentModel& model : {LatentModel{true, Errors::free, false, false},
                                   LatentModel{true, Errors::ordinal, false, false}}) {
    LatentPrior prior = model.errors == Errors::free ? LatentPrior() : flat();
    const LatentClass latent(rows, model, prior);
    CHECK(latent.layout.system_at() == -1);
    const OptimiserOptions options;
    const double top = fit_latent(latent, options).value;
    const ProfileInterval found = profile_interval(latent, options, 2.7);
    CHECK(found.converged);
    CHECK(found.low < found.high);
    for (const double end : {found.low, found.high}) {
      if (end == 0 || end == 1) continue;
      constexpr double dear = 1e6;  // penalty that keeps the accuracy practically fixed
      const auto held = [&](const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
        Eigen::VectorXd slope;
        const double off = latent.accuracy(x, rows.raters, &slope) - end;
        const double value = latent.evaluate(x, gradient);
        if (gradient) *gradient -= 2 * dear * off * slope;
        return value - dear * off * off;
      };
      OptimiserOptions careful;
      careful.iterations = 5000;
      const double value = maximise(held, fit_latent(latent, options).x, careful).value;
      CHECK(2 * (top - value) == Approx(2.7).epsilon(1e-2));
    }
  }
}

TEST_CASE("thresholds of ordinal errors start halfway between the means of the signals") {
  for (const int N : {2, 3, 4, 5, 6}) {
    std::vector<double> x(N);
    OrdinalLaw::start(x.data(), N);
    const OrdinalLaw law(x.data(), N);
    CHECK(law.slope() == 2);
    for (int t = 0; t < N - 1; ++t) {
      CHECK(law.thresholds()[t] == Approx(2 * (t + 0.5 - 0.5 * (N - 1))).scale(1));
    }
    // Probabilities of intervals of normal signals, by numerical integration.
    x[1] += 0.3;
    for (int j = 2; j < N; ++j) x[j] -= 0.1 * j;
    const OrdinalLaw other(x.data(), N);
    for (int k = 0; k < N; ++k) {
      std::vector<double> share(N);
      for (int i = -10000; i < 10000; ++i) {
        const double z = (i + 0.5) / 1000;
        int rating = 0;
        for (const double limit : other.thresholds()) rating += z + 2 * (k - 0.5 * (N - 1)) > limit;
        share[rating] += std::exp(-z * z / 2) / std::sqrt(2 * 3.14159265358979) / 1000;
      }
      for (int l = 0; l < N; ++l) {
        CHECK(std::fabs(other.matrix()[k * N + l] - share[l]) < 5e-4);
      }
    }
  }
}

TEST_CASE("confidence levels start at the logits of their frequencies") {
  // Numbers of wrong and right answers with each of three levels.
  const std::vector<double> seen{6, 4, 3, 7, 1, 20};
  double x[4];
  LevelLaw::start(seen, x);
  const auto logit = [&](int level, int right) {
    return std::log((seen[2 * level + right] + 0.5) / (seen[right] + 0.5));
  };
  CHECK(x[0] == Approx(logit(1, 0)));
  CHECK(x[1] == Approx(logit(2, 0)));
  CHECK(x[2] == Approx(std::log(logit(1, 1) - logit(1, 0))));
  CHECK(x[3] == Approx(std::log(logit(2, 1) - logit(2, 0) - (logit(1, 1) - logit(1, 0)))));
  const LevelLaw law(x, 3);
  for (const bool right : {false, true}) {
    double total = 0;
    for (int l = 0; l < 3; ++l) total += seen[2 * l + right] + 0.5;
    for (int l = 0; l < 3; ++l) {
      CHECK(law.probability(right, l) == Approx((seen[2 * l + right] + 0.5) / total));
    }
  }
  // A step that would be negative is set to a small positive value.
  LevelLaw::start({1, 9, 5, 2}, x);
  CHECK(x[1] == Approx(std::log(0.05)));
}
