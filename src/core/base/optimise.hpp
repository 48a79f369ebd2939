// Maximisation of a smooth function by a limited-memory quasi-Newton method (L-BFGS; Nocedal and
// Wright, 2006, Numerical Optimization, algorithm 7.5). Each step must increase the function, so
// the last point is always the best point.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <limits>

namespace fallible {

// Eigenvalues and eigenvectors (in columns) of a symmetric matrix.
struct EigenDecomposition {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
  bool converged;
};

// Eigen's template is instantiated only in this function, because it takes long to compile.
EigenDecomposition eigen_decomposition(const Eigen::MatrixXd& symmetric_matrix);

// The function that is maximised. Returns its value at `x`. Also writes its gradient to `gradient`,
// unless the pointer is null.
using Objective = std::function<double(const Eigen::VectorXd& x, Eigen::VectorXd* gradient)>;

struct OptimiserOptions {
  int iterations = 500;  // highest number of iterations
  // The search has converged if all components of the gradient are below `gradient_tolerance`, or
  // if three relative gains in a row are at most `value_tolerance`.
  double gradient_tolerance = 1e-6;
  double value_tolerance = 1e-12;
  // The caller has no use for a maximum below `useful_value`, for example because another fit is
  // better. The search therefore ends early if its recent gains are too small to reach this value.
  double useful_value = -std::numeric_limits<double>::infinity();
};

// True if a search at `value` whose last gain was `gain` is not expected to reach `useful_value`.
// Assumes that each gain is at least 1/30 smaller than the gain before it. Then all later gains sum
// to at most 30 times the last gain.
inline bool is_hopeless(double value, double gain, double useful_value) {
  constexpr double expected_gains = 30;
  return value + expected_gains * gain < useful_value;
}

// Result of a search for a maximum.
struct Optimum {
  Eigen::VectorXd x;
  double value = 0;
  int iterations = 0;
  bool converged = false;
  // True if the search ended early, because it would not reach `OptimiserOptions::useful_value`.
  bool hopeless = false;
};

// Multiplies a gradient by an approximate inverse of the negative Hessian. A good approximation
// saves iterations.
using Metric = std::function<Eigen::VectorXd(const Eigen::VectorXd& gradient)>;

// Searches for a maximum from `start`. `metric`: approximate inverse of the negative Hessian, with
// which L-BFGS starts the computation of each search direction; the identity matrix by default.
// L-BFGS rescales this matrix to the curvature along the last step.
Optimum maximise(const Objective& objective, Eigen::VectorXd start, const OptimiserOptions& options,
                 const Metric& metric = nullptr);

// Improves the maximum in `optimum` by Newton's method, until the gradient does not decrease any
// more. The estimates are then equal in all digits for different starting values and different
// orders of the data. maximise() is less precise, because gains near the maximum are lost in
// rounding.
void polish(const Objective& objective,
            const std::function<Eigen::MatrixXd(const Eigen::VectorXd& x)>& hessian,
            Optimum& optimum);

// Step lengths of finite differences, for parameters that are logits or logarithms. `slope_step` is
// for smooth functions. The other two are for functions with kinks, where the derivative jumps.
// `step_between_kinks` is short and rarely crosses a kink. `step_across_kinks` averages over
// several kinks.
constexpr double slope_step = 1e-4, step_between_kinks = 1e-5, step_across_kinks = 1e-3;

// Derivative of the vector function `function` at `x` along the vector `direction`, by a central
// difference with step `step` (second order).
template <class Function>
Eigen::VectorXd central_difference(const Function& function, const Eigen::VectorXd& x,
                                   const Eigen::VectorXd& direction, double step) {
  return (function(x + step * direction) - function(x - step * direction)) / (2 * step);
}

// Derivative of the vector function `function` at `x` along the vector `direction`, by differences
// of fourth order.
template <class Function>
Eigen::VectorXd directional_derivative(const Function& function, const Eigen::VectorXd& x,
                                       const Eigen::VectorXd& direction, double step = slope_step) {
  return (4 * central_difference(function, x, direction, step) -
          central_difference(function, x, direction, 2 * step)) /
         3;
}

// Jacobian of the vector function `function` at `x`: one row per value of the function, one column
// per component of `x`.
template <class Function>
Eigen::MatrixXd jacobian(const Function& function, const Eigen::VectorXd& x) {
  Eigen::MatrixXd matrix;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const Eigen::VectorXd slope =
        directional_derivative(function, x, Eigen::VectorXd::Unit(x.size(), i));
    if (i == 0) matrix.resize(slope.size(), x.size());
    matrix.col(i) = slope;
  }
  return matrix;
}

}  // namespace fallible
