#include "curvature.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "../base/host.hpp"
#include "../base/optimise.hpp"
#include "../base/special.hpp"
#include "naming.hpp"
#include "reading.hpp"

namespace fallible {

namespace {

// For more parameters than this, a Cholesky factor is used if possible, because eigenvalues take
// too long.
constexpr int few_parameters = 500;
// For more parameters than this, no covariance is computed, because it takes too long.
constexpr int max_parameters = 2000;
// Limit for parameters x ratings x classes: about ten seconds.
constexpr double max_operations = 2e9;

// A vector in which most entries are zero. Stores which entries are not zero, so that sums and
// outer products skip all others.
class SparseVector {
 public:
  explicit SparseVector(int size) : value_(size, 0.0), is_nonzero_(size, false) {}

  void add(int index, double value) {
    if (!is_nonzero_[index]) nonzero_.push_back(index);
    is_nonzero_[index] = true;
    value_[index] += value;
  }
  void add(const SparseVector& x, double weight) {
    for (const int index : x.nonzero_) add(index, weight * x.value_[index]);
  }

  // Adds `weight` times the outer product of this vector with itself to the lower triangle of `to`.
  void add_square(double weight, Eigen::MatrixXd& to) {
    if (2 * nonzero_.size() > value_.size()) {
      const Eigen::Map<const Eigen::VectorXd> dense(value_.data(), to.rows());
      to.selfadjointView<Eigen::Lower>().rankUpdate(dense, weight);
      return;
    }
    std::sort(nonzero_.begin(), nonzero_.end());
    for (auto i = nonzero_.begin(); i != nonzero_.end(); ++i) {
      const double first = weight * value_[*i];
      for (auto j = i; j != nonzero_.end(); ++j) to(*j, *i) += first * value_[*j];
    }
  }

  void clear() {
    for (const int index : nonzero_) {
      value_[index] = 0;
      is_nonzero_[index] = false;
    }
    nonzero_.clear();
  }

 private:
  std::vector<double> value_;
  std::vector<char> is_nonzero_;
  std::vector<int> nonzero_;
};

// Adds the covariance matrices of the scores of all cases to the lower triangle of `to`. A case has
// one score vector per class: the gradient of the log probability of the class and the ratings. Its
// covariance is computed over the posterior distribution of the class. Also adds expected numbers
// of ratings to `counts`.
void add_variance_of_scores(const LatentClass& model, const Eigen::VectorXd& x, const Law& law,
                            const std::vector<int>& direction, ExpectedCounts& counts,
                            Eigen::MatrixXd& to) {
  const LatentRows& rows = model.layout.rows;
  const int N = model.layout.categories;
  const Score scores(model.layout, x, law);
  SparseVector score(static_cast<int>(to.rows())), mean = score;
  model.expect(law, &counts, [&](int row, const double* posterior) {
    const double w = rows.weight[row];
    for (int c = 0; c < law.classes; ++c) {
      if (posterior[c] == 0) continue;
      // The derivative with respect to the logit of a base rate is set to 1 in its class and 0 in
      // other classes. The exact derivative differs only by a constant, which does not change the
      // covariance.
      for (int j = 0; c % N < N - 1 && j < model.layout.coefficients(); ++j) {
        score.add(direction[model.layout.rate_at(j, c % N)],
                  rows.populations.value(rows.population_of(row), j));
      }
      for (const int position : rows.positions(row)) {
        scores.put_rating(rows.judge[position], rows.category[position], c,
                          [&](int parameter, double slope) {
                            if (direction[parameter] >= 0) score.add(direction[parameter], slope);
                          });
      }
      score.add_square(w * posterior[c], to);
      mean.add(score, posterior[c]);
      score.clear();
    }
    mean.add_square(-w, to);
    mean.clear();
    count_steps(static_cast<unsigned>(law.classes));
  });
}

// Jacobian of the natural parameters (accuracies, base rates, ...) with respect to the parameters
// of the fit (logits, logarithms, ...): naturals x parameters.
Eigen::MatrixXd jacobian_of_naturals(const Layout& layout, const Eigen::VectorXd& x) {
  const auto natural_values = [&layout](const Eigen::VectorXd& point) {
    count_steps(static_cast<unsigned>(point.size()));
    const std::vector<double> value = ParameterReader(layout, point).naturals().value;
    return Eigen::VectorXd(
        Eigen::VectorXd::Map(value.data(), static_cast<Eigen::Index>(value.size())));
  };
  return jacobian(natural_values, x);
}

}  // namespace

// Method of Louis (1982). The Hessian of the log likelihood of a case is the sum of two matrices.
// The first is the posterior mean of the Hessian for observed classes. The second is the posterior
// covariance of the scores (see add_variance_of_scores()). It is fast to compute, because scores
// are zero for the parameters of judges who did not rate the case.
Eigen::MatrixXd log_posterior_hessian(const LatentClass& model, const Eigen::VectorXd& x,
                                      const std::vector<int>& direction, int directions,
                                      Kinks kinks) {
  const int rates = model.layout.n_rate_parameters;
  const bool smoothed = kinks == Kinks::smoothed && model.layout.strata > 1;
  std::vector<int> louis_direction(direction);
  if (smoothed) std::fill(louis_direction.begin() + rates, louis_direction.end(), -1);
  const Law law(model.layout, x);
  ExpectedCounts counts(model.layout);
  Eigen::MatrixXd hessian = Eigen::MatrixXd::Zero(directions, directions);
  add_variance_of_scores(model, x, law, louis_direction, counts, hessian);
  hessian.triangularView<Eigen::StrictlyUpper>() = hessian.transpose();
  const Eigen::MatrixXd information = information_of_rates(model.layout, law, counts);
  for (int k = 0; k < rates; ++k) {
    for (int l = 0; l < rates; ++l) hessian(direction[k], direction[l]) -= information(k, l);
  }
  const auto slope = [&](const Eigen::VectorXd& point) -> Eigen::VectorXd {
    count_steps(static_cast<unsigned>(x.size()));
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(x.size());
    if (smoothed) {
      model.evaluate(point, &gradient);
    } else {
      add_gradient(model.layout, point, Law(model.layout, point), counts, gradient);
      log_prior(model.layout, point, &gradient);
    }
    Eigen::VectorXd derivative = Eigen::VectorXd::Zero(directions);
    for (int j = 0; j < model.layout.size; ++j) {
      if (direction[j] >= 0) derivative[direction[j]] += gradient[j];
    }
    return derivative;
  };
  const auto first = direction.begin();
  for (int i = 0; i < directions; ++i) {
    if (std::find(first, first + rates, i) != first + rates) continue;
    Eigen::VectorXd indicator(x.size());
    std::transform(first, direction.end(), indicator.data(),
                   [i](int number) { return number == i ? 1.0 : 0.0; });
    hessian.col(i) += smoothed ? central_difference(slope, x, indicator, step_across_kinks)
                               : directional_derivative(slope, x, indicator, step_between_kinks);
    for (int k = 0; smoothed && k < rates; ++k) hessian(i, direction[k]) = hessian(direction[k], i);
  }
  return 0.5 * (hessian + hessian.transpose());
}

Eigen::MatrixXd log_posterior_hessian(const LatentClass& model, const Eigen::VectorXd& x,
                                      Kinks kinks) {
  std::vector<int> direction(model.layout.size);
  std::iota(direction.begin(), direction.end(), 0);
  return log_posterior_hessian(model, x, direction, model.layout.size, kinks);
}

Curvature::Curvature(const Layout& layout, const Eigen::MatrixXd& hessian,
                     const Eigen::VectorXd& x) {
  const Eigen::MatrixXd jacobian = jacobian_of_naturals(layout, x);
  inverse_.setOnes(x.size());
  const auto eigen = eigen_decomposition(-hessian);
  const double floor = 1e-9 * std::max(eigen.values.maxCoeff(), 0.0);
  vectors_ = eigen.vectors;
  root_ = jacobian * vectors_;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    if (eigen.values[i] > floor) {
      inverse_[i] = 1 / eigen.values[i];
      continue;
    }
    for (Eigen::Index r = 0; r < root_.rows(); ++r) {
      // The density is flat in this direction. Quantities that change in this direction are not
      // identified, so their variance is NaN.
      root_(r, i) = std::fabs(root_(r, i)) > 1e-6 ? not_a_number : 0;
    }
  }
}

Eigen::MatrixXd Curvature::covariance() const {
  return root_ * inverse_.asDiagonal() * root_.transpose();
}

Eigen::MatrixXd Curvature::sandwich(const Eigen::MatrixXd& spread) const {
  const Eigen::MatrixXd response_matrix = response();
  return response_matrix * spread * response_matrix.transpose();
}

Eigen::MatrixXd Curvature::response() const {
  return root_ * inverse_.asDiagonal() * vectors_.transpose();
}

Eigen::MatrixXd natural_covariance(const LatentClass& model, const Eigen::VectorXd& x) {
  const double pass = static_cast<double>(model.layout.rows.judge.size()) * model.layout.classes();
  if (x.size() > max_parameters || static_cast<double>(x.size()) * pass >= max_operations) {
    return {};
  }
  const Eigen::MatrixXd hessian = log_posterior_hessian(model, x);
  if (x.size() > few_parameters) {
    const Eigen::LLT<Eigen::MatrixXd> root(-hessian);
    if (root.info() == Eigen::Success) {
      const Eigen::MatrixXd solved =
          root.matrixL().solve(jacobian_of_naturals(model.layout, x).transpose());
      return solved.transpose() * solved;
    }
  }
  return Curvature(model.layout, hessian, x).covariance();
}

std::vector<double> natural_variances(const LatentClass& model, const Eigen::VectorXd& x) {
  const Layout& layout = model.layout;
  if (layout.ordinal_at >= 0 || layout.levels_at >= 0 || layout.coefficients() > 1) return {};
  const int N = layout.categories, raters = layout.rows.raters;
  const bool has_category_accuracies = layout.accuracies_per_group > 1;
  const Law law(layout, x);
  ExpectedCounts counts(layout);
  model.expect(law, &counts);
  const CompleteCurvature curvature(layout, x, law, counts);
  const double cases = std::accumulate(counts.classes.begin(), counts.classes.end(), 0.0);
  std::vector<double> variances;
  for (int u = 0; u < layout.rows.judges; ++u) {
    if (u > 0 && u < raters && !layout.model.separate_raters) continue;
    double variance = 0, mean = 0, square = 0;
    for (int k = 0; k < N && !layout.has_known_matrix(u); ++k) {
      const double rate = law.base_rates[k], p = law.accuracy[u][k];
      if (k == 0 || has_category_accuracies) {
        variance += std::pow((has_category_accuracies ? rate : 1) * p * (1 - p), 2) *
                    curvature.variance(layout.accuracy_at(u, k));
      }
      mean += rate * p;
      square += rate * p * p;
    }
    variances.push_back(variance + std::max(square - mean * mean, 0.0) / cases);
  }
  for (const double rate : law.base_rates) variances.push_back(rate * (1 - rate) / cases);
  for (int i = 0; layout.dispersions_at >= 0 && i < layout.judge_types; ++i) {
    const int parameter = layout.dispersions_at + i;
    variances.push_back(std::exp(2 * x[parameter]) * curvature.variance(parameter));
  }
  for (int i = 0; layout.shifts_at >= 0 && i < layout.judge_types; ++i) {
    variances.push_back(curvature.variance(layout.shifts_at + i));
  }
  return variances;
}

namespace {

// Highest number of directions in which the density is integrated jointly. A direction is one
// parameter, or several that change together. With more directions, the raters' accuracies are
// integrated separately, because a joint integral would take longer than the fit.
constexpr int max_dense_directions = 30;
// Added to the curvature in each direction. It acts like a normal prior with standard deviation 4.5
// = 1 / sqrt(0.05), so that directions without information have a finite variance.
constexpr double ridge = 0.05;

// Returns a matrix, directions x directions. A multiple of this matrix is added to the curvature.
// It is the identity, except for the logits of base rates: `rates` directions from `first`. There,
// the matrix acts on the logits of all categories relative to their mean, so that the evidence does
// not depend on which category is last.
Eigen::MatrixXd ridge_shape(Eigen::Index directions, Eigen::Index first, Eigen::Index rates) {
  Eigen::MatrixXd shape = Eigen::MatrixXd::Identity(directions, directions);
  shape.block(first, first, rates, rates).array() -= 1.0 / static_cast<double>(rates + 1);
  return shape;
}

// Cholesky factor of `x` + height * `shape`, with the lowest height that makes the matrix positive
// definite: `ridge`, or `ridge` times a power of 3.
Eigen::LLT<Eigen::MatrixXd> ridged_factor(const Eigen::MatrixXd& x, const Eigen::MatrixXd& shape) {
  for (double height = ridge;; height *= 3) {
    Eigen::LLT<Eigen::MatrixXd> factor(x + height * shape);
    if (factor.info() == Eigen::Success && std::isfinite(factor.matrixLLT().sum())) return factor;
    if (!(height < 1e12)) return Eigen::LLT<Eigen::MatrixXd>(shape);  // `x` contains NaN
  }
}

double log_determinant(const Eigen::LLT<Eigen::MatrixXd>& x) {
  return 2 * x.matrixLLT().diagonal().array().log().sum();
}

// Laplace approximation of the integral of the density over the accuracies of the raters. Returns
// the logarithm of the integral, relative to the density at `x`. A joint approximation would take
// too long with many raters. Therefore first integrates over the deviation of each rater from the
// mean accuracy, and then over the mean accuracy. The information on each deviation is approximated
// as if the true categories were known.
double log_integral_of_raters(const LatentClass& model, const Eigen::VectorXd& x) {
  const LatentRows& rows = model.layout.rows;
  const std::vector<double> ratings = ratings_by_judge(rows);
  const LatentPrior& prior = model.layout.prior;
  const double spread = square(prior.spread), mean = logistic(x[model.layout.mean_at]);
  double log_integral = 0, mean_information = (prior.correct + prior.wrong) * mean * (1 - mean);
  for (int u = 0; u < rows.raters; ++u) {
    const double p = model.accuracy(x, u), rater_information = ratings[u] * p * (1 - p);
    mean_information += rater_information / (1 + rater_information * spread);
    log_integral += log_root_2_pi - 0.5 * std::log(rater_information + 1 / spread);
  }
  return log_integral + log_root_2_pi - 0.5 * std::log(mean_information);
}

}  // namespace

Evidence laplace_evidence(const LatentClass& model, const Eigen::VectorXd& x) {
  const Layout& layout = model.layout;
  const LatentRows& rows = layout.rows;
  const bool has_rater_accuracies = layout.mean_at >= 0;
  // The number of each parameter's direction. The curvature is computed along these directions.
  // The system's accuracy has direction 0, which is used below to compute its standard error. The
  // accuracies of raters are last: each has a direction or, with many raters, all share one.
  std::vector<int> direction(x.size(), -1);
  int n_directions = 0;
  if (rows.joined()) direction[layout.accuracy_at(rows.raters, 0)] = n_directions++;
  for (int k = 0; k < rows.categories - 1; ++k) direction[k] = n_directions++;
  if (layout.dispersions_at >= 0) direction[layout.dispersion_at(0)] = n_directions++;
  const int without_raters = n_directions;
  const bool many_raters =
      has_rater_accuracies && without_raters + rows.raters + 1 > max_dense_directions;
  const bool separate_raters = has_rater_accuracies && !many_raters;
  if (has_rater_accuracies)
    direction[layout.mean_at] = separate_raters ? n_directions++ : n_directions;
  for (int u = 0; u < rows.raters; ++u)
    direction[layout.accuracy_at(u, 0)] = separate_raters ? n_directions++ : n_directions;
  if (!separate_raters) ++n_directions;
  const Eigen::MatrixXd curvature =
      -log_posterior_hessian(model, x, direction, n_directions, Kinks::smoothed);
  const Eigen::MatrixXd shape = ridge_shape(n_directions, rows.joined(), rows.categories - 1);

  Evidence evidence;
  evidence.log_evidence = model.evaluate(x, nullptr) + log_prior_constant(layout);
  const Eigen::Index n_dense = many_raters ? without_raters : n_directions;
  evidence.log_evidence +=
      static_cast<double>(n_dense) * log_root_2_pi -
      0.5 * log_determinant(ridged_factor(curvature.topLeftCorner(n_dense, n_dense),
                                          shape.topLeftCorner(n_dense, n_dense)));
  if (many_raters) evidence.log_evidence += log_integral_of_raters(model, x);
  if (rows.joined()) {
    const double p = model.accuracy(x, rows.raters);
    const Eigen::VectorXd unit = Eigen::VectorXd::Unit(curvature.rows(), 0);
    evidence.std_error = p * (1 - p) * std::sqrt(ridged_factor(curvature, shape).solve(unit)[0]);
  }
  return evidence;
}

}  // namespace fallible
