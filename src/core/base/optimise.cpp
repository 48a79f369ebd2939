#include "optimise.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <deque>

namespace fallible {

namespace {

// Highest number of recent steps that are stored.
constexpr std::size_t max_pairs = 10;
// Largest change of a parameter in one step; parameters are logits or logarithms.
constexpr double max_change = 2;
// Largest change of a parameter in the first step, when the curvature is unknown.
constexpr double max_first_change = 0.3;
// Least gain of a step, as a share of the gain predicted by the slope (Armijo condition).
constexpr double armijo_share = 1e-4;
// Highest number of step lengths that are tried in one direction.
constexpr int max_backtracks = 30;
// The search has converged after this number of consecutive small gains.
constexpr int small_gains_to_converge = 3;

// A recent step and the change of the gradient in it. L-BFGS estimates the curvature along the step
// from such pairs.
struct Pair {
  Eigen::VectorXd step;
  Eigen::VectorXd change;  // decrease of the gradient in the step
  double weight;           // 1 / (step . change)
};

// Returns the search direction: an approximate inverse of the negative Hessian times the gradient.
Eigen::VectorXd search_direction(const std::deque<Pair>& pairs, const Eigen::VectorXd& gradient,
                                 const Metric& metric) {
  Eigen::VectorXd direction = gradient;
  std::vector<double> coefficient(pairs.size());
  for (std::size_t i = pairs.size(); i-- > 0;) {
    coefficient[i] = pairs[i].weight * pairs[i].step.dot(direction);
    direction -= coefficient[i] * pairs[i].change;
  }
  if (metric) direction = metric(direction);
  if (!pairs.empty()) {
    const Eigen::VectorXd& change = pairs.back().change;
    direction /= pairs.back().weight * (metric ? change.dot(metric(change)) : change.squaredNorm());
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    direction +=
        (coefficient[i] - pairs[i].weight * pairs[i].change.dot(direction)) * pairs[i].step;
  }
  return direction;
}

}  // namespace

EigenDecomposition eigen_decomposition(const Eigen::MatrixXd& symmetric_matrix) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(symmetric_matrix);
  return {solver.eigenvalues(), solver.eigenvectors(), solver.info() == Eigen::Success};
}

Optimum maximise(const Objective& objective, Eigen::VectorXd start, const OptimiserOptions& options,
                 const Metric& metric) {
  Optimum optimum;
  Eigen::VectorXd gradient, candidate_gradient, candidate;
  optimum.x = std::move(start);
  optimum.value = objective(optimum.x, &gradient);
  std::deque<Pair> pairs;
  double gain = std::numeric_limits<double>::infinity();
  int n_small_gains = 0;  // number of consecutive small gains
  while (optimum.iterations < options.iterations) {
    if (gradient.lpNorm<Eigen::Infinity>() < options.gradient_tolerance) {
      optimum.converged = true;
      break;
    }
    ++optimum.iterations;
    Eigen::VectorXd direction = search_direction(pairs, gradient, metric);
    double slope = gradient.dot(direction);
    // If this is not an ascent direction, the stored curvature is wrong and is discarded.
    if (!(slope > 0)) {
      pairs.clear();
      direction = search_direction(pairs, gradient, metric);
      slope = gradient.dot(direction);
    }
    const double largest_component = direction.lpNorm<Eigen::Infinity>();
    double step = pairs.empty() && !metric ? max_first_change / largest_component
                                           : std::min(1.0, max_change / largest_component);
    double value = optimum.value;
    bool is_accepted = false;
    for (int i = 0; i < max_backtracks && !is_accepted; ++i, step *= is_accepted ? 1 : 0.4) {
      candidate = optimum.x + step * direction;
      value = objective(candidate, &candidate_gradient);
      is_accepted = std::isfinite(value) && value >= optimum.value + armijo_share * step * slope;
    }
    if (!is_accepted) {
      // If the direction does not depend on earlier steps and no step along it increases the value
      // beyond rounding error, this is a maximum.
      if (pairs.empty()) {
        optimum.converged = true;
        break;
      }
      pairs.clear();
      continue;
    }
    Pair pair{candidate - optimum.x, gradient - candidate_gradient, 0};
    const double product = pair.step.dot(pair.change);
    if (product > 1e-10 * pair.change.squaredNorm()) {
      pair.weight = 1 / product;
      pairs.push_back(std::move(pair));
      if (pairs.size() > max_pairs) pairs.pop_front();
    }
    const double previous_gain = gain;
    gain = value - optimum.value;
    optimum.x.swap(candidate);
    optimum.value = value;
    gradient.swap(candidate_gradient);
    n_small_gains =
        gain <= options.value_tolerance * (1 + std::fabs(value)) ? n_small_gains + 1 : 0;
    optimum.converged = n_small_gains == small_gains_to_converge;
    optimum.hopeless = !optimum.converged &&
                       is_hopeless(value, std::max(previous_gain, gain), options.useful_value);
    if (optimum.converged || optimum.hopeless) break;
  }
  return optimum;
}

void polish(const Objective& objective,
            const std::function<Eigen::MatrixXd(const Eigen::VectorXd& x)>& hessian,
            Optimum& optimum) {
  constexpr int max_steps = 15, max_steps_without_gain = 3;
  // A gradient below this share of 1 + |value| is rounding error.
  constexpr double rounding_share = 1e-14;
  // `max_step`: largest step along an eigenvector. `least_curvature`: eigenvalues below this share
  // of the largest eigenvalue count as zero.
  constexpr double max_step = 0.5, least_curvature = 1e-14;
  Eigen::VectorXd x = optimum.x, gradient;
  const double value = objective(x, &gradient), scale = 1 + std::fabs(value);
  double smallest_gradient = gradient.lpNorm<Eigen::Infinity>();
  // In a curved valley the gradient may increase before it decreases. Therefore the search allows
  // `max_steps_without_gain` steps without a smaller gradient. `smallest_gradient` is the smallest
  // gradient so far, and `optimum` keeps the point where it was found.
  for (int i = 0, steps_without_gain = 0;
       i < max_steps && steps_without_gain < max_steps_without_gain &&
       smallest_gradient > rounding_share * scale;
       ++i) {
    const auto eigen = eigen_decomposition(-hessian(x));
    if (!eigen.converged) return;
    const Eigen::VectorXd curvature = eigen.values.cwiseAbs();
    Eigen::VectorXd coefficient = eigen.vectors.transpose() * gradient;
    for (Eigen::Index j = 0; j < coefficient.size(); ++j) {
      // There is no step in flat directions, because the maximum may be infinitely far away.
      const bool is_flat = curvature[j] <= least_curvature * curvature.maxCoeff();
      coefficient[j] = is_flat ? 0 : std::clamp(coefficient[j] / curvature[j], -max_step, max_step);
    }
    x += eigen.vectors * coefficient;
    const double new_value = objective(x, &gradient), norm = gradient.lpNorm<Eigen::Infinity>();
    if (!(new_value >= value - 1e-9 * scale)) return;
    steps_without_gain = norm < smallest_gradient ? 0 : steps_without_gain + 1;
    if (steps_without_gain > 0) continue;
    smallest_gradient = norm;
    optimum.x = x;
    optimum.value =
        std::max(optimum.value, new_value);  // the two values differ only by rounding error
  }
}

}  // namespace fallible
