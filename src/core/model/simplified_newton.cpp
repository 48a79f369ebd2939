#include "simplified_newton.hpp"

#include <algorithm>
#include <cmath>

#include "../base/special.hpp"

namespace fallible {

namespace {

// The method is not used for models with more parameters than this. The Hessian costs one
// evaluation of the density per parameter, and saves about five evaluations in each later fit. A
// bootstrap test normally has at least ten fits per model, so the Hessian saves at least 50
// evaluations.
constexpr int max_parameters = 50;
// Step lengths for finite differences of the gradient. `step_of_square` is for the squared shift
// (difference in accuracy between neighbouring strata), and `step_of_parameter` for all other
// parameters. Inexact differences change only the number of iterations of a fit, not its result.
constexpr double step_of_parameter = 1e-3, step_of_square = 1e-4;
// Lower limit of the squared shift, because the gradient is divided by the shift.
constexpr double least_square = 1e-12;
// Highest number of steps. A fit converges if the predicted gain of a step is below `least_gain`.
constexpr int max_steps = 20;
constexpr double least_gain = 1e-8;

// Returns `x` with the parameter at position `shift` squared, but at least `least_square`. Returns
// `x` unchanged if `shift` is negative.
Eigen::VectorXd with_square(Eigen::VectorXd x, int shift) {
  if (shift >= 0) x[shift] = std::max(square(x[shift]), least_square);
  return x;
}

// Returns the log posterior density, and computes its gradient. `x`: parameters with the squared
// shift, as with_square() returns them. The gradient is with respect to these parameters.
double evaluate(const LatentClass& model, Eigen::VectorXd x, int shift, Eigen::VectorXd& gradient) {
  if (shift >= 0) x[shift] = std::sqrt(x[shift]);
  const double log_density = model.evaluate(x, &gradient);
  if (shift >= 0) gradient[shift] /= 2 * x[shift];
  return log_density;
}

// True if the density is smooth at `x`: no accuracy in a stratum is clipped to 0 or 1. Otherwise,
// there are kinks and often several maxima.
bool is_smooth(const Layout& layout, const Eigen::VectorXd& x) {
  const double shift = layout.shifts_at < 0 ? 0 : std::fabs(x[layout.shifts_at]);
  for (int i = 0; i < layout.groups * layout.accuracies_per_group; ++i) {
    const double accuracy = logistic(x[layout.accuracies_at + i]);
    if (!(accuracy > shift && accuracy < 1 - shift)) return false;
  }
  return true;
}

}  // namespace

SimplifiedNewton::SimplifiedNewton(const LatentClass& model, const Eigen::VectorXd& x) {
  const Layout& layout = model.layout;
  if (layout.prior.none || layout.size > max_parameters || layout.judge_types > 1) return;
  if (!is_smooth(layout, x)) return;
  shift_ = layout.shifts_at;
  Eigen::VectorXd y = with_square(x, shift_), gradient, column;
  evaluate(model, y, shift_, gradient);
  Eigen::MatrixXd information(layout.size, layout.size);
  for (int i = 0; i < layout.size; ++i) {
    const double original = y[i], step = i == shift_ ? step_of_square : step_of_parameter;
    y[i] += step;
    evaluate(model, y, shift_, column);
    information.col(i) = (gradient - column) / step;
    y[i] = original;
  }
  information = 0.5 * (information + information.transpose()).eval();
  // Inverts the matrix by the sweep operator, one column at a time. All pivots are positive if and
  // only if the matrix is positive definite.
  for (int i = 0; i < layout.size; ++i) {
    column = information.col(i);
    const double pivot = column[i];
    if (!(pivot > 0)) return;
    for (int j = 0; j < layout.size; ++j) information.col(j) -= column[j] / pivot * column;
    column /= pivot;
    information.col(i) = column;
    information.row(i) = column.transpose();
    information(i, i) = -1 / pivot;
  }
  inverse_ = -information;
}

LatentFit SimplifiedNewton::fit(const LatentClass& model, const Eigen::VectorXd& start) const {
  LatentFit result;
  Eigen::VectorXd transformed = with_square(start, shift_), gradient, candidate, candidate_gradient;
  if (inverse_.size() > 0) result.value = evaluate(model, transformed, shift_, gradient);
  while (inverse_.size() > 0 && result.iterations++ < max_steps) {
    candidate = transformed;
    for (Eigen::Index i = 0; i < transformed.size(); ++i)
      candidate += gradient[i] * inverse_.col(i);
    double predicted = 0.5 * (candidate - transformed).dot(gradient);
    if (shift_ >= 0 && candidate[shift_] < least_square) {
      // The squared shift would be below its limit. Sets it to the limit, and moves the other
      // parameters to the maximum of the quadratic approximation under this constraint.
      const double change = least_square - candidate[shift_];
      predicted -= 0.5 * square(change) / inverse_(shift_, shift_);
      candidate += change / inverse_(shift_, shift_) * inverse_.col(shift_);
      candidate[shift_] = least_square;
    }
    result.converged = predicted < least_gain;
    if (result.converged) break;
    const double value = evaluate(model, candidate, shift_, candidate_gradient);
    if (!(value - result.value >= 0.5 * predicted)) break;
    transformed.swap(candidate);
    gradient.swap(candidate_gradient);
    result.value = value;
  }
  result.x = transformed;
  if (shift_ >= 0) result.x[shift_] = std::sqrt(transformed[shift_]);
  if (!result.converged || !is_smooth(model.layout, result.x)) {
    return fit_latent(model, start, coarse_options());
  }
  result.log_likelihood = result.value - log_prior(model.layout, result.x, nullptr);
  return result;
}

}  // namespace fallible
