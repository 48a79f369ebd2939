#include "curvature.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "../base/host.hpp"
#include "../base/optimise.hpp"
#include "../base/special.hpp"
#include "complete.hpp"
#include "likelihood.hpp"
#include "prior.hpp"
#include "reading.hpp"
#include "score.hpp"

namespace fallible {

namespace {

constexpr int few_parameters = 500;    // beyond, eigenvalues would take long
constexpr int most_parameters = 2000;  // beyond, so would any matrix
constexpr double most_work = 2e9;      // of the pass over the data: about ten seconds

// A sum of vectors with few entries.
class Sum {
 public:
  explicit Sum(int size) : value_(size, 0.0), seen_(size, false) {}

  void add(int at, double value) {
    if (!seen_[at]) used_.push_back(at);
    seen_[at] = true;
    value_[at] += value;
  }
  void add(const Sum& x, double weight) {
    for (const int at : x.used_) add(at, weight * x.value_[at]);
  }

  // Adds its outer product to the lower triangle of a matrix.
  void add_square(double weight, Eigen::MatrixXd& to) {
    if (2 * used_.size() > value_.size()) {
      const Eigen::Map<const Eigen::VectorXd> all(value_.data(), to.rows());
      to.selfadjointView<Eigen::Lower>().rankUpdate(all, weight);
      return;
    }
    std::sort(used_.begin(), used_.end());
    for (auto i = used_.begin(); i != used_.end(); ++i) {
      const double first = weight * value_[*i];
      for (auto j = i; j != used_.end(); ++j) to(*j, *i) += first * value_[*j];
    }
  }

  void clear() {
    for (const int at : used_) {
      value_[at] = 0;
      seen_[at] = false;
    }
    used_.clear();
  }

 private:
  std::vector<double> value_;
  std::vector<char> seen_;
  std::vector<int> used_;
};

// Adds to the lower triangle of `to` how the scores of cases vary over their classes, and to
// `counts` what is expected. Logits of base rates have a score of one in their class, but for what
// is the same in all.
void add_variance_of_scores(const Layout& layout, const Eigen::VectorXd& x, const Law& law,
                            const std::vector<int>& direction, Counts& counts,
                            Eigen::MatrixXd& to) {
  const LatentRows& rows = layout.rows;
  const int N = layout.categories;
  const Score scores(layout, x, law);
  Sum score(static_cast<int>(to.rows())), mean = score;
  Likelihood(layout).expect(law, &counts, [&](int row, const double* posterior) {
    const double w = rows.weight[row];
    for (int c = 0; c < law.classes; ++c) {
      if (posterior[c] == 0) continue;
      if (c % N < N - 1) score.add(direction[c % N], 1);
      for (const int at : rows.places(row)) {
        scores.rating(rows.judge[at], rows.category[at], c, [&](int parameter, double slope) {
          if (direction[parameter] >= 0) score.add(direction[parameter], slope);
        });
      }
      score.add_square(w * posterior[c], to);
      mean.add(score, posterior[c]);
      score.clear();
    }
    mean.add_square(-w, to);
    mean.clear();
    steps_done(static_cast<unsigned>(law.classes));
  });
}

// Naturals x parameters.
Eigen::MatrixXd slopes_of_naturals(const Layout& layout, const Eigen::VectorXd& x) {
  const auto naturals = [&layout](const Eigen::VectorXd& at) {
    steps_done(static_cast<unsigned>(at.size()));
    const std::vector<double> value = Reading(layout, at).naturals().value;
    return Eigen::VectorXd(
        Eigen::Map<const Eigen::VectorXd>(value.data(), static_cast<Eigen::Index>(value.size())));
  };
  return slopes(naturals, x);
}

}  // namespace

// The second derivatives of the log likelihood of a case are the expected ones of the likelihood of
// its ratings together with its class, and the variance of the scores of these over the classes
// (Louis, 1982). A score has few entries: those of the case's raters.
Eigen::MatrixXd log_posterior_hessian(const Layout& layout, const Eigen::VectorXd& x,
                                      const std::vector<int>& direction, int directions,
                                      Kinks kinks) {
  const int rates = layout.categories - 1;
  const bool smoothed = kinks == Kinks::smoothed && layout.strata > 1;
  std::vector<int> of_louis(direction);
  if (smoothed) std::fill(of_louis.begin() + rates, of_louis.end(), -1);
  const Law law(layout, x);
  Counts counts(layout);
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(directions, directions);
  add_variance_of_scores(layout, x, law, of_louis, counts, out);
  out.triangularView<Eigen::StrictlyUpper>() = out.transpose();
  double cases = layout.prior.none ? 0 : layout.prior.base_rates * layout.categories;
  for (const double n : counts.classes) cases += n;
  for (int k = 0; k < rates; ++k) {
    for (int l = 0; l < rates; ++l) {
      out(direction[k], direction[l]) -= cases * law.base_rates[k] * ((k == l) - law.base_rates[l]);
    }
  }
  const auto slope = [&](const Eigen::VectorXd& at) -> Eigen::VectorXd {
    steps_done(static_cast<unsigned>(x.size()));
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(x.size());
    if (smoothed) {
      Likelihood(layout).evaluate(at, &gradient);
    } else {
      add_gradient(layout, at, Law(layout, at), counts, gradient);
    }
    log_prior(layout, at, &gradient);
    Eigen::VectorXd along = Eigen::VectorXd::Zero(directions);
    for (int j = 0; j < layout.size; ++j) {
      if (direction[j] >= 0) along[direction[j]] += gradient[j];
    }
    return along;
  };
  const auto first = direction.begin();
  for (int i = 0; i < directions; ++i) {
    if (std::find(first, first + rates, i) != first + rates) continue;
    Eigen::VectorXd way(x.size());
    std::transform(first, direction.end(), way.data(), [i](int of) { return of == i ? 1.0 : 0.0; });
    out.col(i) += smoothed ? secant(slope, x, way, step_across_kinks)
                           : slope_along(slope, x, way, step_between_kinks);
    for (int k = 0; smoothed && k < rates; ++k) out(i, direction[k]) = out(direction[k], i);
  }
  return 0.5 * (out + out.transpose());
}

Eigen::MatrixXd log_posterior_hessian(const Layout& layout, const Eigen::VectorXd& x, Kinks kinks) {
  std::vector<int> each(layout.size);
  std::iota(each.begin(), each.end(), 0);
  return log_posterior_hessian(layout, x, each, layout.size, kinks);
}

Curvature::Curvature(const Layout& layout, const Eigen::MatrixXd& hessian,
                     const Eigen::VectorXd& x) {
  const Eigen::MatrixXd jacobian = slopes_of_naturals(layout, x);
  inverse_.setOnes(x.size());
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(-hessian);
  const double floor = 1e-9 * std::max(eigen.eigenvalues().maxCoeff(), 0.0);
  vectors_ = eigen.eigenvectors();
  root_ = jacobian * vectors_;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    if (eigen.eigenvalues()[i] > floor) {
      inverse_[i] = 1 / eigen.eigenvalues()[i];
      continue;
    }
    for (Eigen::Index r = 0; r < root_.rows(); ++r) {
      // What moves along a flat direction is not known at all.
      root_(r, i) = std::fabs(root_(r, i)) > 1e-6 ? not_a_number : 0;
    }
  }
}

Eigen::MatrixXd Curvature::covariance() const {
  return root_ * inverse_.asDiagonal() * root_.transpose();
}

Eigen::MatrixXd Curvature::sandwich(const Eigen::MatrixXd& spread) const {
  const Eigen::MatrixXd outside = root_ * inverse_.asDiagonal() * vectors_.transpose();
  return outside * spread * outside.transpose();
}

Eigen::MatrixXd natural_covariance(const Layout& layout, const Eigen::VectorXd& x) {
  const double pass = static_cast<double>(layout.rows.judge.size()) * layout.classes();
  if (x.size() > most_parameters || x.size() * pass >= most_work) return {};
  const Eigen::MatrixXd hessian = log_posterior_hessian(layout, x);
  if (x.size() > few_parameters) {
    const Eigen::LLT<Eigen::MatrixXd> root(-hessian);
    if (root.info() == Eigen::Success) {
      const Eigen::MatrixXd out = root.matrixL().solve(slopes_of_naturals(layout, x).transpose());
      return out.transpose() * out;
    }
  }
  return Curvature(layout, hessian, x).covariance();
}

std::vector<double> natural_variances(const Layout& layout, const Eigen::VectorXd& x) {
  if (layout.ordinal_at >= 0 || layout.levels_at >= 0) return {};
  const int N = layout.categories;
  const Law law(layout, x);
  Counts counts(layout);
  Likelihood(layout).expect(law, &counts);
  const CompleteCurvature curvature(layout, x, law, counts);
  double cases = 0;
  for (const double n : counts.classes) cases += n;
  std::vector<double> out;
  const auto add_accuracy = [&](int u) {
    double variance = 0, mean = 0, square = 0;
    for (int k = 0; k < N && !layout.is_known(u); ++k) {
      const double rate = law.base_rates[k], p = law.accuracy[u * N + k];
      if (k == 0 || layout.per_group > 1) {
        const double share = layout.per_group > 1 ? rate : 1;
        variance += std::pow(share * p * (1 - p), 2) * curvature.variance(layout.accuracy_at(u, k));
      }
      mean += rate * p;
      square += rate * p * p;
    }
    out.push_back(variance + std::max(square - mean * mean, 0.0) / cases);
  };
  const int judges = layout.model.by_rater ? layout.rows.raters : 1;
  for (int u = 0; u < judges; ++u) add_accuracy(u);
  if (layout.rows.joined()) add_accuracy(layout.rows.raters);
  for (const double rate : law.base_rates) out.push_back(rate * (1 - rate) / cases);
  for (int i = 0; layout.dispersions_at >= 0 && i < layout.kinds; ++i) {
    const int at = layout.dispersions_at + i;
    out.push_back(std::exp(2 * x[at]) * curvature.variance(at));
  }
  for (int i = 0; layout.shifts_at >= 0 && i < layout.kinds; ++i) {
    out.push_back(curvature.variance(layout.shifts_at + i));
  }
  return out;
}

}  // namespace fallible
