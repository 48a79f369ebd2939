#include <doctest/doctest.h>

#include <cmath>

#include "core/base/optimise.hpp"

using namespace fallible;
using doctest::Approx;

namespace {

// A function that is so flat at its maximum that the gradient decreases slowly.
double flat_top(const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
  if (gradient) *gradient = -4 * x.array().cube().matrix();
  return 7 - x.array().pow(4).sum();
}

// Values of the first iterations. Each search starts where the previous one ended.
std::vector<double> path(const Objective& objective, const Eigen::VectorXd& start,
                         OptimiserOptions options, int iterations) {
  std::vector<double> out;
  for (options.iterations = 0; options.iterations <= iterations; ++options.iterations) {
    out.push_back(maximise(objective, start, options).value);
  }
  return out;
}

}  // namespace

TEST_CASE("a search ends after three small gains in a row") {
  const Eigen::VectorXd start = Eigen::Vector3d(3, -2, 0.5);
  OptimiserOptions options;
  options.gradient_tolerance = 0;
  options.value_tolerance = 0;
  const auto value = path(flat_top, start, options, 40);
  for (const double tolerance : {1e-3, 1e-6}) {
    int small = 0, last = 0;
    while (small < 3) {
      ++last;
      REQUIRE(last < 40);
      small =
          value[last] - value[last - 1] <= tolerance * (1 + std::fabs(value[last])) ? small + 1 : 0;
    }
    options.value_tolerance = tolerance;
    const Optimum found = maximise(flat_top, start, options);
    CHECK(found.converged);
    CHECK(found.iterations == last);
    CHECK(found.value == value[last]);
  }
}

TEST_CASE("a search is abandoned if thirty times the larger of two gains is not enough") {
  const Eigen::VectorXd start = Eigen::Vector3d(3, -2, 0.5);
  OptimiserOptions options;
  const auto value = path(flat_top, start, options, 20);
  options.useful_value = 7.05;  // never reached
  int last = 2;
  const auto gain = [&](int i) { return value[i] - value[i - 1]; };
  while (value[last] + 30 * std::max(gain(last), gain(last - 1)) >= options.useful_value) ++last;
  const Optimum found = maximise(flat_top, start, options);
  CHECK(found.hopeless);
  CHECK(found.iterations == last);
}

TEST_CASE("values never decrease, and steps to NaN are rejected") {
  const auto cliff = [](const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
    if (gradient) *gradient = (1 / x.array() - 1).matrix();
    return (x.array().log() - x.array()).sum();  // NaN for negative x
  };
  const Eigen::VectorXd start = Eigen::Vector2d(0.01, 9);
  const auto value = path(cliff, start, OptimiserOptions(), 25);
  for (std::size_t i = 1; i < value.size(); ++i) CHECK(value[i] >= value[i - 1]);
  const Optimum found = maximise(cliff, start, OptimiserOptions());
  CHECK(found.converged);
  CHECK(found.x[0] == Approx(1));
  CHECK(found.x[1] == Approx(1));
  // A search that starts at the maximum ends at once.
  const Optimum top = maximise(cliff, Eigen::Vector2d(1, 1), OptimiserOptions());
  CHECK(top.converged);
  CHECK(top.iterations == 0);
}
