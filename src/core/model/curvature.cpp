#include "curvature.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "counts.hpp"
#include "prior.hpp"
#include "reading.hpp"

namespace fallible {

namespace {

constexpr double difference = 1e-5;          // of parameters, for derivatives
constexpr double natural_difference = 1e-4;  // likewise, of what they say
constexpr int most_parameters = 500;         // beyond, curvature would take longer than the fit
constexpr double most_work = 2e9;            // likewise: about ten seconds

struct Entry {
  int at;
  double value;
};

std::vector<Entry> entries_of(const Eigen::VectorXd& x) {
  std::vector<Entry> out;
  for (int i = 0; i < x.size(); ++i) {
    if (x[i] != 0) out.push_back({i, x[i]});
  }
  return out;
}

// A sum of vectors with few entries.
class Sum {
 public:
  explicit Sum(int size) : value_(size, 0.0), seen_(size, false) {}

  void add(const std::vector<Entry>& x) {
    for (const Entry& entry : x) add(entry, 1);
  }
  void add(const Sum& x, double weight) {
    for (const int at : x.used_) add({at, x.value_[at]}, weight);
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
  void add(const Entry& entry, double weight) {
    if (!seen_[entry.at]) used_.push_back(entry.at);
    seen_[entry.at] = true;
    value_[entry.at] += weight * entry.value;
  }

  std::vector<double> value_;
  std::vector<char> seen_;
  std::vector<int> used_;
};

// Naturals x parameters.
Eigen::MatrixXd slopes_of_naturals(const Layout& layout, const Eigen::VectorXd& x) {
  const auto naturals = [&layout](const Eigen::VectorXd& at) {
    const std::vector<double> value = Reading(layout, at).naturals().value;
    return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(
        value.data(), static_cast<Eigen::Index>(value.size())));
  };
  Eigen::MatrixXd out(naturals(x).size(), x.size());
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    Eigen::VectorXd up = x, down = x;
    up[i] += natural_difference;
    down[i] -= natural_difference;
    out.col(i) = (naturals(up) - naturals(down)) / (2 * natural_difference);
  }
  return out;
}

}  // namespace

// The second derivatives of the log likelihood of a case are the expected ones of the likelihood of
// its ratings together with its class, and the variance of the scores of these over the classes
// (Louis, 1982). A score has few entries: those of the case's raters.
Eigen::MatrixXd log_posterior_hessian(const Layout& layout, const Eigen::VectorXd& x) {
  const LatentRows& rows = layout.rows;
  const Law law(layout, x);
  const int K = law.classes, size = layout.size;
  Counts counts(layout);
  const auto gradient = [&](const Eigen::VectorXd& at, const Law& of) {
    Eigen::VectorXd out = Eigen::VectorXd::Zero(size);
    add_gradient(layout, at, of, counts, out);
    return out;
  };
  // Scores of each class alone, and of each rating in it.
  const auto each = [&](std::vector<double>& numbers) {
    std::vector<std::vector<Entry>> out;
    for (double& one : numbers) {
      one = 1;
      out.push_back(entries_of(gradient(x, law)));
      one = 0;
    }
    return out;
  };
  const auto of_class = each(counts.classes), of_rating = each(counts.ratings);

  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(size, size);
  std::vector<double> posterior(K);
  Sum score(size), mean(size);
  for (int i = 0; i < rows.size(); ++i) {
    const double w = rows.weight[i];
    if (w == 0) continue;
    law.expect(rows, i, posterior.data());
    counts.add(rows, i, w, posterior.data());
    for (int c = 0; c < K; ++c) {
      if (posterior[c] == 0) continue;
      score.add(of_class[c]);
      for (const int at : rows.places(i)) score.add(of_rating[rows.rating(at) * K + c]);
      score.add_square(w * posterior[c], out);
      mean.add(score, posterior[c]);
      score.clear();
    }
    mean.add_square(-w, out);
    mean.clear();
  }
  out.triangularView<Eigen::StrictlyUpper>() = out.transpose();

  for (int i = 0; i < size; ++i) {
    for (const int step : {-2, -1, 1, 2}) {  // right to the fourth order
      Eigen::VectorXd moved = x;
      moved[i] += step * difference;
      Eigen::VectorXd slope = gradient(moved, Law(layout, moved));
      log_prior(layout, moved, &slope);
      out.col(i) += (step * step > 1 ? -step / 2 : 8 * step) / (12 * difference) * slope;
    }
  }
  return out;
}

Curvature::Curvature(const Layout& layout, const Eigen::MatrixXd& hessian,
                     const Eigen::VectorXd& x) {
  const Eigen::MatrixXd jacobian = slopes_of_naturals(layout, x);
  inverse_.setOnes(x.size());
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(
      -0.5 * (hessian + hessian.transpose()));
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
      root_(r, i) =
          std::fabs(root_(r, i)) > 1e-6 ? std::numeric_limits<double>::quiet_NaN() : 0;
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
  return Curvature(layout, log_posterior_hessian(layout, x), x).covariance();
}

}  // namespace fallible
