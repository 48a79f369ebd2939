// Maximisation of a smooth function by a limited-memory quasi-Newton method (L-BFGS; Nocedal and
// Wright, 2006, Numerical Optimization, algorithm 7.5). The value never decreases.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <limits>

namespace fallible {

// Returns the value at `x`. Writes the gradient unless the pointer is null.
using Objective = std::function<double(const Eigen::VectorXd& x, Eigen::VectorXd* gradient)>;

struct OptimiserOptions {
  int iterations = 500;
  double gradient_tolerance = 1e-6;  // for the largest component
  double value_tolerance = 1e-12;    // for the relative gain, three times in a row
  // Values below `useful` do not matter. The search ends if the last gains are too small to reach
  // it.
  double useful = -std::numeric_limits<double>::infinity();
};

// True if the value is not expected to reach `useful` from `value`, given the last gain. A slow
// search gains 1/30 less at each step; these gains sum to at most 30 times the first one.
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

// Multiplies a gradient by an approximate inverse of the negative Hessian.
using Metric = std::function<Eigen::VectorXd(const Eigen::VectorXd& gradient)>;

// `metric` is the initial matrix of each quasi-Newton direction. If it is null, this is the
// identity. It is rescaled by the last step.
Optimum maximise(const Objective& objective, Eigen::VectorXd start, const OptimiserOptions& options,
                 const Metric& metric = nullptr);

// Newton's method near the maximum, where gains are too small to change the value. Moves `top`
// while the gradient decreases, so that the digits of the estimate depend neither on the start nor
// on the order of the data. Clips the step along each eigenvector of the Hessian. If a curvature is
// almost zero, the maximum may be infinitely far away.
void polish(const Objective& objective,
            const std::function<Eigen::MatrixXd(const Eigen::VectorXd& x)>& hessian, Optimum& top);

// Steps of finite differences, for parameters that are logits or logarithms. With `slope_step` the
// error of a fourth-order difference is as small as rounding (1e-12), unless a kink is very near.
// `step_between_kinks` is small enough to stay between kinks where there are many.
// `step_across_kinks` is large enough to average over several kinks.
constexpr double slope_step = 1e-4, step_between_kinks = 1e-5, step_across_kinks = 1e-3;

// Central difference of a vector function along `way`.
template <class Function>
Eigen::VectorXd secant(const Function& of, const Eigen::VectorXd& x, const Eigen::VectorXd& way,
                       double step) {
  return (of(x + step * way) - of(x - step * way)) / (2 * step);
}

// Derivative of a vector function along `way`, to fourth order.
template <class Function>
Eigen::VectorXd slope_along(const Function& of, const Eigen::VectorXd& x,
                            const Eigen::VectorXd& way, double step = slope_step) {
  return (4 * secant(of, x, way, step) - secant(of, x, way, 2 * step)) / 3;
}

// Derivatives by each argument, one column per argument.
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
