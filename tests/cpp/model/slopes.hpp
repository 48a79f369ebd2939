// Covariances of estimates from finite differences: the weight of each row of data is changed a
// little.
#ifndef FALLIBLE_TESTS_MODEL_SLOPES_HPP
#define FALLIBLE_TESTS_MODEL_SLOPES_HPP

#include <Eigen/Dense>
#include <vector>

// Sum over rows of weight * g g', where g is the derivative of `numbers(weights)` with respect to
// the weight of the row.
template <class Numbers>
Eigen::MatrixXd squared_slopes(const std::vector<double>& weight, double step,
                               const Numbers& numbers) {
  const auto size = numbers(weight).size();
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(size, size);
  for (std::size_t i = 0; i < weight.size(); ++i) {
    std::vector<double> up = weight, down = weight;
    up[i] += step;
    down[i] -= step;
    const Eigen::VectorXd slope = (numbers(up) - numbers(down)) / (2 * step);
    out += weight[i] * slope * slope.transpose();
  }
  return out;
}

#endif
