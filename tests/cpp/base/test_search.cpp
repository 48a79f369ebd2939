// Tests each step of maximise() and polish(), using the points at which the objective is computed.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>
#include <vector>

#include "core/base/optimise.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

// An objective that records the points at which it was computed.
struct Recorder {
  Objective function;
  std::vector<Eigen::VectorXd> points;

  Objective objective() {
    return [this](const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
      points.push_back(x);
      return function(x, gradient);
    };
  }
};

// Objective -sum(scale * x^2 / 2), with its maximum at 0.
Objective bowl(const Eigen::VectorXd& scale) {
  return [scale](const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
    if (gradient) *gradient = -scale.cwiseProduct(x);
    return -0.5 * x.dot(scale.cwiseProduct(x));
  };
}

// Minus Rosenbrock's function, with its maximum at (1, 1).
double valley(const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
  const double off = x[1] - x[0] * x[0];
  if (gradient) *gradient = Eigen::Vector2d(2 * (1 - x[0]) + 40 * off * x[0], -20 * off);
  return -(1 - x[0]) * (1 - x[0]) - 10 * off * off;
}

Eigen::MatrixXd hessian_of_valley(const Eigen::VectorXd& x) {
  Eigen::MatrixXd out(2, 2);
  out << -2 + 40 * x[1] - 120 * x[0] * x[0], 40 * x[0], 40 * x[0], -20;
  return out;
}

// L-BFGS with all pairs, by its definition. The inverse Hessian H starts as a multiple of the
// identity. Each pair (s, y) changes H to (I - r s y') H (I - r y s') + r s s', with r = 1 / (s y).
Eigen::VectorXd direction(const std::vector<Eigen::VectorXd>& steps,
                          const std::vector<Eigen::VectorXd>& changes,
                          const Eigen::VectorXd& gradient) {
  const Eigen::Index n = gradient.size();
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(n, n);
  Eigen::MatrixXd inverse = one * (steps.back().dot(changes.back()) / changes.back().squaredNorm());
  for (std::size_t i = steps.size() > 10 ? steps.size() - 10 : 0; i < steps.size(); ++i) {
    const double r = 1 / steps[i].dot(changes[i]);
    const Eigen::MatrixXd left = one - r * steps[i] * changes[i].transpose();
    inverse = (left * inverse * left.transpose() + r * steps[i] * steps[i].transpose()).eval();
  }
  return inverse * gradient;
}

}  // namespace

TEST_CASE("the first step changes no parameter by more than 0.3, later steps by at most 2") {
  Recorder seen{bowl(Eigen::Vector3d(0.01, 0.02, 0.001)), {}};
  OptimiserOptions options;
  options.iterations = 2;
  maximise(seen.objective(), Eigen::Vector3d(-30, 10, 2), options);
  REQUIRE(seen.points.size() == 3);
  const Eigen::VectorXd first = seen.points[1] - seen.points[0];
  CHECK(first[0] == Approx(0.3));
  CHECK(first[1] == Approx(-0.2));
  CHECK(first[2] == Approx(-0.002));
  CHECK((seen.points[2] - seen.points[1]).lpNorm<Eigen::Infinity>() == Approx(2));
}

TEST_CASE("a step that gains too little becomes 0.4 times as long, at most thirty times") {
  // The maximum is so near that the first steps pass it.
  Recorder seen{bowl(Eigen::VectorXd::Constant(1, 1000.0)), {}};
  OptimiserOptions options;
  options.iterations = 1;
  maximise(seen.objective(), Eigen::VectorXd::Constant(1, 0.02), options);
  REQUIRE(seen.points.size() == 5);
  for (int i = 1; i < 5; ++i) {
    CHECK(seen.points[i][0] == Approx(0.02 - 0.3 * std::pow(0.4, i - 1)));
  }
  // With a wrong gradient, a step of any length decreases the value.
  Recorder wrong{[](const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
                   if (gradient) *gradient = -Eigen::VectorXd::Ones(x.size());
                   return x.sum();
                 },
                 {}};
  const Optimum none = maximise(wrong.objective(), Eigen::VectorXd::Zero(2), options);
  CHECK(none.converged);
  CHECK(none.iterations == 1);
  CHECK(wrong.points.size() == 31);
  CHECK(none.x.norm() == 0);
}

TEST_CASE("a gain must be at least one ten-thousandth of the gain predicted by the slope") {
  for (const double share : {0.9e-4, 1.1e-4}) {
    // The function increases by this share of the increase that its gradient (1) predicts.
    Recorder seen{[share](const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
                    if (gradient) *gradient = Eigen::VectorXd::Ones(1);
                    return share * x[0];
                  },
                  {}};
    OptimiserOptions options;
    options.iterations = 1;
    const Optimum found = maximise(seen.objective(), Eigen::VectorXd::Zero(1), options);
    CHECK((found.x[0] > 0) == (share > 1e-4));
    CHECK(seen.points.size() == (share > 1e-4 ? 2 : 31));
  }
}

TEST_CASE("directions are those of the inverse Hessian of the last ten pairs") {
  Eigen::VectorXd scale(14), start(14);
  for (int i = 0; i < 14; ++i) {
    scale[i] = 1 + 0.8 * i * i;
    start[i] = 1.0 / (1 + i % 3) - 0.2 * i;
  }
  const Objective function = bowl(scale);
  Recorder seen{function, {}};
  OptimiserOptions options;
  options.gradient_tolerance = 1e-8;
  const Optimum found = maximise(seen.objective(), start, options);
  CHECK(found.converged);
  CHECK(found.x.norm() < 1e-6);
  // Points that the search accepted, found from their values.
  std::vector<Eigen::VectorXd> steps, changes;
  Eigen::VectorXd now = start, gradient, next_gradient;
  double value = function(now, &gradient);
  int checked = 0;
  for (std::size_t i = 1; i < seen.points.size() && checked < 25; ++i) {
    const Eigen::VectorXd& next = seen.points[i];
    if (!steps.empty()) {
      const Eigen::VectorXd expected = direction(steps, changes, gradient), step = next - now;
      const double cosine = step.dot(expected) / step.norm() / expected.norm();
      CHECK(cosine == Approx(1).epsilon(1e-9));
      ++checked;
    }
    const double next_value = function(next, &next_gradient);
    if (!(next_value > value)) continue;
    steps.push_back(next - now);
    changes.push_back(gradient - next_gradient);
    now = next;
    value = next_value;
    gradient = next_gradient;
  }
  CHECK(checked >= 15);
}

TEST_CASE("a search needs few iterations, and fewer with a good metric") {
  const Optimum found = maximise(valley, Eigen::Vector2d(-1.2, 1), OptimiserOptions());
  CHECK(found.converged);
  CHECK(found.x[0] == Approx(1).epsilon(1e-5));
  CHECK(found.iterations <= 26);
  const Eigen::VectorXd scale = Eigen::Vector3d(0.1, 10, 1000);
  Recorder seen{bowl(scale), {}};
  const Metric inverse = [&](const Eigen::VectorXd& gradient) -> Eigen::VectorXd {
    return gradient.cwiseQuotient(scale);
  };
  const Optimum exact =
      maximise(seen.objective(), Eigen::Vector3d(1.5, -1, 0.5), OptimiserOptions(), inverse);
  CHECK(exact.converged);
  CHECK(exact.iterations == 1);
  CHECK(seen.points.size() == 2);  // one full step, to the maximum
  CHECK(exact.x.norm() < 1e-12);
  // If the metric is too large, the curvature along the last step corrects it.
  const Metric twice = [&](const Eigen::VectorXd& gradient) -> Eigen::VectorXd {
    return 1.5 * gradient.cwiseQuotient(scale);
  };
  const Optimum corrected =
      maximise(bowl(scale), Eigen::Vector3d(1, -1, 0.5), OptimiserOptions(), twice);
  CHECK(corrected.iterations == 2);
  CHECK(corrected.x.norm() < 1e-12);
}

TEST_CASE("a search ends at once where the gradient is below its tolerance") {
  OptimiserOptions options;
  options.gradient_tolerance = 0.5;
  const Optimum below = maximise(bowl(Eigen::Vector2d(1, 1)), Eigen::Vector2d(0.4, -0.49), options);
  CHECK(below.converged);
  CHECK(below.iterations == 0);
  const Optimum above = maximise(bowl(Eigen::Vector2d(1, 1)), Eigen::Vector2d(0.4, -0.51), options);
  CHECK(above.iterations == 1);
}

TEST_CASE("polishing takes Newton steps of at most a half along each eigenvector") {
  const Eigen::VectorXd scale = Eigen::Vector3d(1, 4, 0);
  Recorder seen{bowl(scale), {}};
  int hessians = 0;
  const auto hessian = [&](const Eigen::VectorXd&) -> Eigen::MatrixXd {
    ++hessians;
    return (-scale).asDiagonal();
  };
  Optimum top;
  top.x = Eigen::Vector3d(1.2, -0.3, 7);
  top.value = seen.function(top.x, nullptr);
  polish(seen.objective(), hessian, top);
  REQUIRE(seen.points.size() == 4);
  CHECK((seen.points[1] - Eigen::Vector3d(0.7, 0, 7)).norm() < 1e-12);
  CHECK((seen.points[2] - Eigen::Vector3d(0.2, 0, 7)).norm() < 1e-12);
  CHECK((seen.points[3] - Eigen::Vector3d(0, 0, 7)).norm() < 1e-12);  // no step without curvature
  CHECK(hessians == 3);                                               // the gradient is then zero
  CHECK(top.x == seen.points[3]);
  CHECK(top.value == 0);
}

TEST_CASE("polishing keeps the best point, and stops after three steps without gain") {
  Optimum top;
  top.x = Eigen::Vector2d(0.98, 0.97);
  top.value = valley(top.x, nullptr);
  polish(valley, hessian_of_valley, top);
  Eigen::VectorXd slope;
  valley(top.x, &slope);
  CHECK(slope.lpNorm<Eigen::Infinity>() < 1e-13);
  CHECK(std::fabs(top.value) < 1e-20);
  // The gradient of |x| has the same length everywhere, so no step is better. All steps have length
  // 1/2.
  Recorder seen{[](const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
                  if (gradient) *gradient = Eigen::VectorXd::Constant(1, x[0] > 0 ? -1.0 : 1.0);
                  return 0.0;
                },
                {}};
  const auto flat = [](const Eigen::VectorXd&) -> Eigen::MatrixXd {
    return Eigen::MatrixXd::Constant(1, 1, -1e-3);
  };
  Optimum start;
  start.x = Eigen::VectorXd::Constant(1, 0.3);
  polish(seen.objective(), flat, start);
  CHECK(seen.points.size() == 4);
  CHECK(seen.points[1][0] == Approx(-0.2));
  CHECK(start.x[0] == 0.3);
  // If the gradient decreases in every step, polish() makes fifteen steps.
  Recorder slow{[](const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
                  if (gradient) *gradient = -x;
                  return -0.5 * x.squaredNorm();
                },
                {}};
  const auto steep = [](const Eigen::VectorXd&) -> Eigen::MatrixXd {
    return Eigen::MatrixXd::Constant(1, 1, -10.0);
  };
  start.x = Eigen::VectorXd::Constant(1, 1.0);
  start.value = -0.5;
  polish(slow.objective(), steep, start);
  CHECK(slow.points.size() == 16);
  CHECK(start.x[0] == Approx(std::pow(0.9, 15)));
  CHECK(start.value == Approx(-0.5 * std::pow(0.9, 30)));
}

TEST_CASE("polishing stops if the value decreases") {
  // The Hessian is wrong, so the step crosses the maximum and decreases the value.
  const auto wrong = [](const Eigen::VectorXd&) -> Eigen::MatrixXd {
    return Eigen::MatrixXd::Constant(1, 1, -0.1);
  };
  Recorder seen{bowl(Eigen::VectorXd::Ones(1)), {}};
  Optimum top;
  top.x = Eigen::VectorXd::Constant(1, 0.1);
  top.value = -0.005;
  polish(seen.objective(), wrong, top);
  CHECK(seen.points.size() == 2);
  CHECK(seen.points[1][0] == Approx(-0.4));
  CHECK(top.x[0] == 0.1);
  CHECK(top.value == -0.005);
}
