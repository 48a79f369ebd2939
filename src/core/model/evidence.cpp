#include "evidence.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <vector>

#include "../base/special.hpp"
#include "curvature.hpp"
#include "naming.hpp"
#include "prior.hpp"

namespace fallible {

namespace {

constexpr int most_directions = 30;  // more would take longer than the fit
// Added to curvature, as if each direction had a normal prior of standard deviation 4.5: where the
// data say nothing a logit is still a number that one meets.
constexpr double ridge = 0.05;

// The shape of the ridge over so many directions. `rates` of them, from `first` on, are logits of
// base rates less that of the last category, which any other might have been: the ridge is on the
// logits of all categories around their mean, so that names of categories do not move evidence.
Eigen::MatrixXd ridge_shape(Eigen::Index directions, Eigen::Index first, Eigen::Index rates) {
  Eigen::MatrixXd out = Eigen::MatrixXd::Identity(directions, directions);
  out.block(first, first, rates, rates).array() -= 1.0 / static_cast<double>(rates + 1);
  return out;
}

// The Cholesky factor of a matrix with a ridge that is high enough for it to have one.
Eigen::LLT<Eigen::MatrixXd> factor(const Eigen::MatrixXd& x, const Eigen::MatrixXd& shape) {
  for (double height = ridge;; height *= 3) {
    Eigen::LLT<Eigen::MatrixXd> out(x + height * shape);
    if (out.info() == Eigen::Success && std::isfinite(out.matrixLLT().sum())) return out;
    if (!(height < 1e12)) return Eigen::LLT<Eigen::MatrixXd>(shape);  // not a number anywhere
  }
}

double log_determinant(const Eigen::LLT<Eigen::MatrixXd>& x) {
  return 2 * x.matrixLLT().diagonal().array().log().sum();
}

// What the raters' deviations add, then their mean, each deviation with the information that its
// rater would give if truth were known.
double log_integral_of_raters(const LatentClass& model, const Eigen::VectorXd& x) {
  const LatentRows& rows = model.rows();
  const std::vector<double> ratings = ratings_by_judge(rows);
  const LatentPrior& prior = model.layout().prior;
  const double spread = square(prior.spread), mean = logistic(x[model.layout().mean_at]);
  double out = 0, of_mean = (prior.correct + prior.wrong) * mean * (1 - mean);
  for (int u = 0; u < rows.raters; ++u) {
    const double p = model.accuracy(x, u), own = ratings[u] * p * (1 - p);
    of_mean += own / (1 + own * spread);
    out += log_root_2_pi - 0.5 * std::log(own + 1 / spread);
  }
  return out + log_root_2_pi - 0.5 * std::log(of_mean);
}

}  // namespace

Evidence laplace_evidence(const LatentClass& model, const Eigen::VectorXd& x) {
  const LatentRows& rows = model.rows();
  const Layout& layout = model.layout();
  const bool by_rater = layout.mean_at >= 0;
  // Directions: the system first, the raters last, each by itself or all together.
  std::vector<int> direction(x.size(), -1);
  int n = 0;
  if (rows.joined()) direction[layout.accuracy_at(rows.raters, 0)] = n++;
  for (int k = 0; k < rows.categories - 1; ++k) direction[k] = n++;
  if (layout.dispersions_at >= 0) direction[layout.dispersion_at(0)] = n++;
  const int others = n;
  const bool crowd = by_rater && others + rows.raters + 1 > most_directions;
  const bool each = by_rater && !crowd;
  if (by_rater) direction[layout.mean_at] = each ? n++ : n;
  for (int u = 0; u < rows.raters; ++u) direction[layout.accuracy_at(u, 0)] = each ? n++ : n;
  if (!each) ++n;
  const Eigen::MatrixXd bend = -log_posterior_hessian(layout, x, direction, n, Kinks::smoothed);
  const Eigen::MatrixXd shape = ridge_shape(n, rows.joined(), rows.categories - 1);

  Evidence out;
  out.log_evidence = model.evaluate(x, nullptr) + log_prior_constant(layout);
  const Eigen::Index dense = crowd ? others : n;
  out.log_evidence += static_cast<double>(dense) * log_root_2_pi -
                      0.5 * log_determinant(factor(bend.topLeftCorner(dense, dense),
                                                   shape.topLeftCorner(dense, dense)));
  if (crowd) out.log_evidence += log_integral_of_raters(model, x);
  if (rows.joined()) {
    const double p = model.accuracy(x, rows.raters);
    const Eigen::VectorXd first = Eigen::VectorXd::Unit(bend.rows(), 0);
    out.std_error = p * (1 - p) * std::sqrt(factor(bend, shape).solve(first)[0]);
  }
  return out;
}

}  // namespace fallible
