// Maximisation of a smooth function by a limited-memory quasi-Newton method (L-BFGS; Nocedal and
// Wright, 2006, Numerical Optimization, algorithm 7.5). The value never decreases.
#ifndef FALLIBLE_CORE_BASE_OPTIMISE_HPP
#define FALLIBLE_CORE_BASE_OPTIMISE_HPP

#include <Eigen/Core>
#include <functional>

namespace fallible {

// Returns the value at `x` and, unless null, writes the gradient.
using Objective = std::function<double(const Eigen::VectorXd& x, Eigen::VectorXd* gradient)>;

struct OptimiserOptions {
  int iterations = 500;
  double gradient_tolerance = 1e-6;  // of the largest component
  double value_tolerance = 1e-12;    // of the relative gain, three times in a row
};

struct Optimum {
  Eigen::VectorXd x;
  double value;
  int iterations = 0;
  bool converged = false;
};

Optimum maximise(const Objective& objective, Eigen::VectorXd start,
                 const OptimiserOptions& options);

}  // namespace fallible

#endif
