#include "latent_fit.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "random.hpp"

namespace fallible {

namespace {

constexpr int em_steps = 30;
constexpr int crowd = 20;                  // of raters, whose panel is not looked at as a whole
constexpr int busiest = 6;                 // of its raters
constexpr int curvature_parameters = 500;  // beyond, curvature would take longer than the fit
constexpr double rank_tolerance = 1e-7;    // relative, of singular values of unit columns
constexpr double difference = 1e-4;        // of parameters, for derivatives

}  // namespace

// From the shares of votes that each category of a case has.
Eigen::VectorXd LatentClass::start() const {
  const int K = S_ * N_;
  std::vector<double> posterior(K), classes(K, 0.0);
  std::vector<double> counts(static_cast<std::size_t>(U_) * N_ * K, 0.0);
  for (int i = 0; i < rows_.size(); ++i) {
    if (rows_.weight[i] == 0) continue;
    std::vector<double> share(N_, 0.0);
    int votes = 0;
    for (int at = rows_.start[i]; at < rows_.start[i + 1]; ++at) {
      if (is_system(rows_.unit[at])) continue;
      ++votes;
      ++share[rows_.category[at]];
    }
    for (double& of : share) of = votes > 0 ? of / votes : 1.0 / N_;
    const int known = rows_.known[i];
    if (known >= 0) std::fill(share.begin(), share.end(), 0.0);
    if (known >= 0) share[known] = 1;
    for (int c = 0; c < K; ++c) posterior[c] = share[c % N_] / S_;
    count(i, rows_.weight[i], posterior.data(), counts, classes);
  }
  Eigen::VectorXd x = reestimate(counts, classes);
  // Where every accuracy and error rate is free this is the step of the EM algorithm, whose path from
  // the votes is the one that is published.
  for (int step = 0; errors_at_ >= 0 && S_ == 1 && step < em_steps; ++step) {
    const Tables t = tables(x);
    std::fill(counts.begin(), counts.end(), 0.0);
    std::fill(classes.begin(), classes.end(), 0.0);
    for (int i = 0; i < rows_.size(); ++i) {
      if (rows_.weight[i] == 0) continue;
      expect(t, i, posterior.data());
      count(i, rows_.weight[i], posterior.data(), counts, classes);
    }
    x = reestimate(counts, classes);
  }
  return x;
}

Eigen::VectorXd LatentClass::reestimate(const std::vector<double>& counts,
                                        const std::vector<double>& classes) const {
  const int K = S_ * N_;
  const double extra = prior_.none ? 1e-10 : 0.2;  // nothing is impossible
  Eigen::VectorXd x = Eigen::VectorXd::Zero(size_);
  std::vector<double> of_category(N_, extra);
  for (int c = 0; c < K; ++c) of_category[c % N_] += classes[c];
  for (int k = 0; k < N_ - 1; ++k) x[k] = std::log(of_category[k] / of_category[N_ - 1]);

  Eigen::VectorXd right = Eigen::VectorXd::Constant(size_, extra), wrong = right, errors = right;
  for (int u = 0; u < U_; ++u) {
    for (int k = 0; k < N_; ++k) {
      for (int l = 0; l < N_; ++l) {
        double n = 0;
        for (int s = 0; s < S_; ++s) {
          n += counts[(static_cast<std::size_t>(u) * N_ + l) * K + s * N_ + k];
        }
        (l == k ? right : wrong)[accuracy_at(u, k)] += n;
        if (l != k && errors_at_ >= 0) errors[error_at(u, k, l)] += n;
      }
    }
  }
  double mean = 0;
  for (int at = accuracies_at_; at < accuracies_at_ + groups_ * per_group_; ++at) {
    x[at] = std::log(right[at] / wrong[at]);
    mean += x[at] / (groups_ * per_group_);
  }
  if (mean_at_ >= 0) x[mean_at_] = mean;
  for (int g = 0; errors_at_ >= 0 && g < groups_; ++g) {
    for (int k = 0; k < N_; ++k) {
      const int row = errors_at_ + (g * N_ + k) * N_;
      double centre = 0;
      for (int l = 0; l < N_; ++l) {
        if (l != k) centre += (x[row + l] = std::log(errors[row + l])) / (N_ - 1);
      }
      for (int l = 0; l < N_; ++l) {
        if (l != k) x[row + l] -= centre;
      }
    }
  }
  for (int u : {0, rows_.raters}) {
    if (u == rows_.raters && !rows_.joined()) break;
    if (dispersions_at_ >= 0) x[dispersion_at(u)] = 0.2;
    if (shifts_at_ >= 0) x[shift_at(u)] = 0.1;
  }
  return x;
}

std::vector<Eigen::VectorXd> LatentClass::starts() const {
  std::vector<Eigen::VectorXd> out{start()};
  if (shifts_at_ < 0) return out;
  const double shift[2] = {0.02, 0.3};
  for (const int raters : {0, 1}) {
    Eigen::VectorXd x = out.front();
    x[shift_at(0)] = shift[raters];
    if (rows_.joined() && model_.own) x[shift_at(rows_.raters)] = shift[1 - raters];
    out.push_back(std::move(x));
  }
  return out;
}

LatentFit fit_latent(const LatentClass& model, const Eigen::VectorXd& start,
                     const OptimiserOptions& options) {
  const auto objective = [&model](const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
    return model.evaluate(x, gradient);
  };
  const Optimum top = maximise(objective, start, options);
  LatentFit out{top.x, 0, top.value, top.iterations, top.converged};
  model.evaluate(out.x, nullptr, &out.log_likelihood);
  return out;
}

LatentFit fit_latent(const LatentClass& model, const OptimiserOptions& options) {
  LatentFit out;
  bool first = true;
  for (const Eigen::VectorXd& start : model.starts()) {
    LatentFit fit = fit_latent(model, start, options);
    if (first || fit.log_posterior > out.log_posterior) out = std::move(fit);
    first = false;
  }
  return out;
}

namespace {

// So many rows of answers drawn at random, from raters who rated together. In a crowd these are the
// raters of the busiest row: what they can tell apart links the others.
LatentRows random_rows(const LatentRows& rows, int wanted, Stream& stream) {
  LatentRows out;
  out.categories = rows.categories;
  std::vector<int> seat(rows.units);
  std::iota(seat.begin(), seat.end(), 0);
  int from = 0, to = rows.size();
  out.raters = rows.raters;
  out.units = rows.units;
  if (rows.raters > crowd) {
    for (int i = 0; i < rows.size(); ++i) {
      if (rows.start[i + 1] - rows.start[i] > rows.start[from + 1] - rows.start[from]) from = i;
    }
    to = from + 1;
    std::fill(seat.begin(), seat.end(), -1);
    int seats = 0;
    for (int at = rows.start[from]; at < rows.start[to]; ++at) {
      int& own = seat[rows.unit[at]];
      if (own < 0 && seats < busiest) own = seats++;
    }
    out.raters = out.units = seats;
  }
  for (int i = 0; i < wanted; ++i) {
    const int row = from + (to - from <= wanted ? i % (to - from)
                                                : static_cast<int>(stream.uniform() * (to - from)));
    for (int at = rows.start[row]; at < rows.start[row + 1]; ++at) {
      if (seat[rows.unit[at]] < 0) continue;
      out.unit.push_back(seat[rows.unit[at]]);
      out.category.push_back(static_cast<int>(stream.uniform() * rows.categories));
    }
    out.start.push_back(static_cast<int>(out.unit.size()));
    out.known.push_back(to - from > 1 ? rows.known[row] : -1);
    out.weight.push_back(1);
  }
  return out;
}

}  // namespace

// At parameters drawn at random: what can be identified at all is a matter of the model and of who
// rated with whom, not of the answers that came about.
bool is_identified(const LatentRows& rows, const LatentModel& model, const LatentPrior& prior) {
  Stream stream(0, 0);
  const int parameters = LatentClass(random_rows(rows, 1, stream), model, prior).size();
  const LatentRows drawn = random_rows(rows, 2 * parameters + 20, stream);
  const LatentClass latent(drawn, model, prior);
  Eigen::VectorXd x = latent.start();
  for (Eigen::Index i = 0; i < x.size(); ++i) x[i] = 0.2 + 0.6 * stream.uniform();
  Eigen::MatrixXd scores = latent.scores(x);
  for (Eigen::Index j = 0; j < scores.cols(); ++j) {
    const double length = scores.col(j).norm();
    if (length > 0) scores.col(j) /= length;  // columns of different units
  }
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(scores);
  qr.setThreshold(rank_tolerance);
  return qr.rank() >= latent.free_parameters();
}

Eigen::MatrixXd natural_covariance(const LatentClass& model, const Eigen::VectorXd& x) {
  const Eigen::Index n = x.size(), out = model.naturals(x).size();
  if (n > curvature_parameters) {
    return Eigen::MatrixXd::Constant(out, out, std::numeric_limits<double>::quiet_NaN());
  }
  Eigen::MatrixXd hessian(n, n), jacobian(out, n);
  Eigen::VectorXd up, down;
  for (Eigen::Index i = 0; i < n; ++i) {
    Eigen::VectorXd moved = x;
    moved[i] = x[i] + difference;
    model.evaluate(moved, &up);
    const Eigen::VectorXd natural_up = model.naturals(moved);
    moved[i] = x[i] - difference;
    model.evaluate(moved, &down);
    hessian.col(i) = (up - down) / (2 * difference);
    jacobian.col(i) = (natural_up - model.naturals(moved)) / (2 * difference);
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(
      -0.5 * (hessian + hessian.transpose()));
  const double floor = 1e-9 * std::max(eigen.eigenvalues().maxCoeff(), 0.0);
  Eigen::VectorXd inverse(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const double value = eigen.eigenvalues()[i];
    inverse[i] = value > floor ? 1 / value : 0;
  }
  Eigen::MatrixXd root = jacobian * eigen.eigenvectors();
  for (Eigen::Index i = 0; i < n; ++i) {
    if (inverse[i] > 0) continue;
    inverse[i] = 1;
    for (Eigen::Index r = 0; r < out; ++r) {
      // What moves along a flat direction is not known at all.
      root(r, i) = std::fabs(root(r, i)) > 1e-6 ? std::numeric_limits<double>::quiet_NaN() : 0;
    }
  }
  return root * inverse.asDiagonal() * root.transpose();
}

}  // namespace fallible
