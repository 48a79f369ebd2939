// Maximisation of a smooth function by a limited-memory quasi-Newton method (L-BFGS; Nocedal and
// Wright, 2006, Numerical Optimization, algorithm 7.5). The value never decreases.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <limits>

namespace fallible {

// Returns the value at `x` and, unless null, writes the gradient.
using Objective = std::function<double(const Eigen::VectorXd& x, Eigen::VectorXd* gradient)>;

struct OptimiserOptions {
  int iterations = 500;
  double gradient_tolerance = 1e-6;  // of the largest component
  double value_tolerance = 1e-12;    // of the relative gain, three times in a row
  // A value below which nothing is of use: the search ends where the gains of the last steps are no
  // reason to hope for it.
  double useful = -std::numeric_limits<double>::infinity();
};

// Will no sequence of gains, the last of them `gain`, lead from `value` to `useful`? Gains that
// fall by a thirtieth from step to step, which is slow, add up to thirty times the first.
inline bool is_hopeless(double value, double gain, double useful) {
  constexpr double patience = 30;
  return value + patience * gain < useful;
}

struct Optimum {
  Eigen::VectorXd x;
  double value = 0;
  int iterations = 0;
  bool converged = false;
  bool hopeless = false;  // see OptimiserOptions::useful
};

// What would be the step to the top, of a gradient, if the curvature were what somebody thinks.
using Metric = std::function<Eigen::VectorXd(const Eigen::VectorXd& gradient)>;

// `metric` is what is thought of the curvature before it is met, if anything.
Optimum maximise(const Objective& objective, Eigen::VectorXd start, const OptimiserOptions& options,
                 const Metric& metric = nullptr);

// Newton's method near the top, where gains are too small to be seen in the value: moves `top`
// while the gradient falls, so that digits of the estimate depend neither on the start nor on the
// order of the data. Clips the step along each direction of the curvature: where there is almost
// none, the top may be infinitely far away.
void polish(const Objective& objective,
            const std::function<Eigen::MatrixXd(const Eigen::VectorXd& x)>& hessian, Optimum& top);

// Steps of differences, of logits and logarithms. With the first, what is left out of a slope that
// is right to the fourth order is of the size of rounding (1e-12), and kinks are near only where it
// is at one; the second stays between kinks where there are many; the third reaches over them, so
// that their neighbourhood counts.
constexpr double slope_step = 1e-4, step_between_kinks = 1e-5, step_across_kinks = 1e-3;

// How a vector changes along a way, between a step ahead and a step back.
template <class Function>
Eigen::VectorXd secant(const Function& of, const Eigen::VectorXd& x, const Eigen::VectorXd& way,
                       double step) {
  return (of(x + step * way) - of(x - step * way)) / (2 * step);
}

// Its slope, right to the fourth order.
template <class Function>
Eigen::VectorXd slope_along(const Function& of, const Eigen::VectorXd& x,
                            const Eigen::VectorXd& way, double step = slope_step) {
  return (4 * secant(of, x, way, step) - secant(of, x, way, 2 * step)) / 3;
}

// By each argument, a column each.
template <class Function>
Eigen::MatrixXd slopes(const Function& of, const Eigen::VectorXd& x) {
  Eigen::MatrixXd out;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const Eigen::VectorXd slope = slope_along(of, x, Eigen::VectorXd::Unit(x.size(), i));
    if (i == 0) out.resize(slope.size(), x.size());
    out.col(i) = slope;
  }
  return out;
}

}  // namespace fallible
