#include "optimise.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <deque>

namespace fallible {

namespace {

constexpr std::size_t memory = 10;
// Largest change of a parameter in one step; parameters are logits or logarithms
constexpr double longest_step = 2;
// Largest change of a parameter in the first step, when the curvature is unknown
constexpr double first_step = 0.3;
// Least gain of a step, as a share of the gain predicted by the slope (Armijo condition)
constexpr double sufficient = 1e-4;
constexpr int backtracks = 30;
constexpr int stalls = 3;  // the search has converged after this number of consecutive small gains

struct Pair {
  Eigen::VectorXd step;
  Eigen::VectorXd change;  // decrease of the gradient in the step
  double weight;           // 1 / (step . change)
};

Eigen::VectorXd direction(const std::deque<Pair>& pairs, const Eigen::VectorXd& gradient,
                          const Metric& metric) {
  Eigen::VectorXd out = gradient;
  std::vector<double> along(pairs.size());
  for (std::size_t i = pairs.size(); i-- > 0;) {
    along[i] = pairs[i].weight * pairs[i].step.dot(out);
    out -= along[i] * pairs[i].change;
  }
  if (metric) out = metric(out);
  if (!pairs.empty()) {
    const Eigen::VectorXd& change = pairs.back().change;
    out /= pairs.back().weight * (metric ? change.dot(metric(change)) : change.squaredNorm());
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    out += (along[i] - pairs[i].weight * pairs[i].change.dot(out)) * pairs[i].step;
  }
  return out;
}

}  // namespace

Optimum maximise(const Objective& objective, Eigen::VectorXd start, const OptimiserOptions& options,
                 const Metric& metric) {
  Optimum out;
  Eigen::VectorXd gradient, next_gradient, next;
  out.x = std::move(start);
  out.value = objective(out.x, &gradient);
  std::deque<Pair> pairs;
  double gain = std::numeric_limits<double>::infinity();
  int small = 0;  // number of consecutive small gains
  while (out.iterations < options.iterations) {
    if (gradient.lpNorm<Eigen::Infinity>() < options.gradient_tolerance) {
      out.converged = true;
      break;
    }
    ++out.iterations;
    Eigen::VectorXd way = direction(pairs, gradient, metric);
    double slope = gradient.dot(way);
    // Not an ascent direction, because the stored curvature is wrong: discard it
    if (!(slope > 0)) {
      pairs.clear();
      way = direction(pairs, gradient, metric);
      slope = gradient.dot(way);
    }
    const double longest = way.lpNorm<Eigen::Infinity>();
    double step =
        pairs.empty() && !metric ? first_step / longest : std::min(1.0, longest_step / longest);
    double value = out.value;
    bool accepted = false;
    for (int i = 0; i < backtracks && !accepted; ++i, step *= accepted ? 1 : 0.4) {
      next = out.x + step * way;
      value = objective(next, &next_gradient);
      accepted = std::isfinite(value) && value >= out.value + sufficient * step * slope;
    }
    if (!accepted) {
      // Even along the gradient no step increases the value within rounding: a maximum
      if (pairs.empty()) {
        out.converged = true;
        break;
      }
      pairs.clear();
      continue;
    }
    Pair pair{next - out.x, gradient - next_gradient, 0};
    const double product = pair.step.dot(pair.change);
    if (product > 1e-10 * pair.change.squaredNorm()) {
      pair.weight = 1 / product;
      pairs.push_back(std::move(pair));
      if (pairs.size() > memory) pairs.pop_front();
    }
    const double before = gain;
    gain = value - out.value;
    out.x.swap(next);
    out.value = value;
    gradient.swap(next_gradient);
    small = gain <= options.value_tolerance * (1 + std::fabs(value)) ? small + 1 : 0;
    out.converged = small == stalls;
    out.hopeless = !out.converged && is_hopeless(value, std::max(before, gain), options.useful);
    if (out.converged || out.hopeless) break;
  }
  return out;
}

void polish(const Objective& objective,
            const std::function<Eigen::MatrixXd(const Eigen::VectorXd& x)>& hessian, Optimum& top) {
  constexpr int most_steps = 15, vain_steps = 3;
  // A gradient below this share of 1 + |value| is rounding error
  constexpr double rounding = 1e-14;
  // `longest`: largest step along an eigenvector. `least_curvature`: eigenvalues below this share
  // of the largest eigenvalue count as zero.
  constexpr double longest = 0.5, least_curvature = 1e-14;
  Eigen::VectorXd x = top.x, gradient;
  const double value = objective(x, &gradient), scale = 1 + std::fabs(value);
  double least = gradient.lpNorm<Eigen::Infinity>();
  // In a curved valley the gradient may increase before it decreases. Therefore the search allows
  // `vain_steps` steps without a smaller gradient, and `top` keeps the best point.
  for (int i = 0, vain = 0; i < most_steps && vain < vain_steps && least > rounding * scale; ++i) {
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> parts(-hessian(x));
    if (parts.info() != Eigen::Success) return;
    const Eigen::VectorXd bend = parts.eigenvalues().cwiseAbs();
    Eigen::VectorXd along = parts.eigenvectors().transpose() * gradient;
    for (Eigen::Index j = 0; j < along.size(); ++j) {
      const bool flat = bend[j] <= least_curvature * bend.maxCoeff();
      along[j] = flat ? 0 : std::clamp(along[j] / bend[j], -longest, longest);
    }
    x += parts.eigenvectors() * along;
    const double now = objective(x, &gradient), size = gradient.lpNorm<Eigen::Infinity>();
    if (!(now >= value - 1e-9 * scale)) return;
    vain = size < least ? 0 : vain + 1;
    if (vain > 0) continue;
    least = size;
    top.x = x;
    top.value = std::max(top.value, now);  // the two values differ only by rounding error
  }
}

}  // namespace fallible
