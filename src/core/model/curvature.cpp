#include "curvature.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
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

constexpr double difference = 1e-5;          // of parameters, for derivatives
constexpr double across_kinks = 1e-3;        // likewise, where there are strata
constexpr double natural_difference = 1e-4;  // likewise, of what they say
constexpr int few_parameters = 500;          // beyond, eigenvalues would take long
constexpr int most_parameters = 2000;        // beyond, so would any matrix
constexpr double most_work = 2e9;            // of the pass over the data: about ten seconds

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

// Adds the second derivatives of the log posterior of cases whose classes were seen so often.
void add_complete(const Layout& layout, const Eigen::VectorXd& x, const Law& law,
                  const Counts& counts, const std::vector<int>& direction, Eigen::MatrixXd& to) {
  const int N = layout.categories, size = layout.size;
  double cases = layout.prior.none ? 0 : layout.prior.base_rates * N;
  for (const double n : counts.classes) cases += n;
  for (int k = 0; k < N - 1; ++k) {
    for (int l = 0; l < N - 1; ++l) {
      to(direction[k], direction[l]) -= cases * law.base_rates[k] * ((k == l) - law.base_rates[l]);
    }
  }
  const auto first = direction.begin() + (N - 1);
  std::vector<int> others(first, direction.end());
  std::sort(others.begin(), others.end());
  others.erase(std::unique(others.begin(), others.end()), others.end());
  for (const int other : others) {
    if (other < 0) continue;
    for (const int step : {-2, -1, 1, 2}) {  // right to the fourth order
      steps_done(static_cast<unsigned>(size));
      Eigen::VectorXd moved = x, slope = Eigen::VectorXd::Zero(size);
      for (int i = N - 1; i < size; ++i) {
        if (direction[i] == other) moved[i] += step * difference;
      }
      add_gradient(layout, moved, Law(layout, moved), counts, slope);
      log_prior(layout, moved, &slope);
      slope *= (step * step > 1 ? -step / 2 : 8 * step) / (12 * difference);
      for (int i = N - 1; i < size; ++i) {
        if (direction[i] >= 0) to(direction[i], other) += slope[i];
      }
    }
  }
}

// Naturals x parameters.
Eigen::MatrixXd slopes_of_naturals(const Layout& layout, const Eigen::VectorXd& x) {
  const auto naturals = [&layout](const Eigen::VectorXd& at) {
    steps_done(static_cast<unsigned>(at.size()));
    const std::vector<double> value = Reading(layout, at).naturals().value;
    return Eigen::VectorXd(
        Eigen::Map<const Eigen::VectorXd>(value.data(), static_cast<Eigen::Index>(value.size())));
  };
  return central_slopes(naturals, x, natural_difference);
}

}  // namespace

// The second derivatives of the log likelihood of a case are the expected ones of the likelihood of
// its ratings together with its class, and the variance of the scores of these over the classes
// (Louis, 1982). A score has few entries: those of the case's raters.
Eigen::MatrixXd log_posterior_hessian(const Layout& layout, const Eigen::VectorXd& x,
                                      const std::vector<int>& direction, int directions) {
  const Law law(layout, x);
  Counts counts(layout);
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(directions, directions);
  add_variance_of_scores(layout, x, law, direction, counts, out);
  out.triangularView<Eigen::StrictlyUpper>() = out.transpose();
  add_complete(layout, x, law, counts, direction, out);
  return out;
}

Eigen::MatrixXd log_posterior_hessian(const Layout& layout, const Eigen::VectorXd& x) {
  std::vector<int> direction(layout.size);
  std::iota(direction.begin(), direction.end(), 0);
  return log_posterior_hessian(layout, x, direction, layout.size);
}

Eigen::MatrixXd smoothed_hessian(const Layout& layout, const Eigen::VectorXd& x,
                                 const std::vector<int>& direction, int directions) {
  if (layout.strata == 1) return log_posterior_hessian(layout, x, direction, directions);
  const int rates = layout.categories - 1;
  std::vector<int> of_rates(direction);
  std::fill(of_rates.begin() + rates, of_rates.end(), -1);
  Eigen::MatrixXd out = log_posterior_hessian(layout, x, of_rates, directions);
  Eigen::MatrixXd way = Eigen::MatrixXd::Zero(x.size(), directions);
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    if (direction[i] >= 0) way(i, direction[i]) = 1;
  }
  const auto slope = [&layout](const Eigen::VectorXd& at) {
    Eigen::VectorXd gradient;
    Likelihood(layout).evaluate(at, &gradient);
    log_prior(layout, at, &gradient);
    return gradient;
  };
  for (int i = 0; i < directions; ++i) {
    if (way.col(i).head(rates).any()) continue;
    const Eigen::VectorXd step = across_kinks * way.col(i);
    out.col(i) = way.transpose() * (slope(x + step) - slope(x - step)) / (2 * across_kinks);
    for (int k = 0; k < rates; ++k) out(i, direction[k]) = out(direction[k], i);
  }
  return 0.5 * (out + out.transpose());
}

Curvature::Curvature(const Layout& layout, const Eigen::MatrixXd& hessian,
                     const Eigen::VectorXd& x) {
  const Eigen::MatrixXd jacobian = slopes_of_naturals(layout, x);
  inverse_.setOnes(x.size());
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(-0.5 *
                                                             (hessian + hessian.transpose()));
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
      root_(r, i) = std::fabs(root_(r, i)) > 1e-6 ? std::numeric_limits<double>::quiet_NaN() : 0;
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
  const int alike = layout.model.by_rater ? layout.rows.raters : 1;
  for (int u = 0; u < alike; ++u) add_accuracy(u);
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
