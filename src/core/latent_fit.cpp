#include "latent_fit.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "latent_pairs.hpp"
#include "random.hpp"

namespace fallible {

namespace {

constexpr int em_steps = 30;
constexpr int crowd = 20;                  // of raters, whose panel is not looked at as a whole
constexpr int busiest = 6;                 // of its raters
constexpr int few_categories = 4;
constexpr int curvature_parameters = 500;  // beyond, curvature would take longer than the fit
constexpr double curvature_work = 2e9;     // likewise: about ten seconds
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
  // Where every accuracy and error rate is free this is the step of the EM algorithm, whose path
  // from the votes is the one that is published.
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
    if (group_[u] < 0) continue;
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
  for (int i = 0; i <= two_kinds_; ++i) {
    if (dispersions_at_ >= 0) x[dispersions_at_ + i] = 0.2;
    if (shifts_at_ >= 0) x[shifts_at_ + i] = 0.1;
  }
  return x;
}

std::vector<Eigen::VectorXd> LatentClass::starts() const {
  std::vector<Eigen::VectorXd> out{start()};
  if (shifts_at_ < 0) return out;
  const double shift[2] = {0.02, 0.3};
  for (const int raters : {0, 1}) {
    Eigen::VectorXd x = out.front();
    x[shifts_at_] = shift[raters];
    if (two_kinds_) x[shifts_at_ + 1] = shift[1 - raters];
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

OptimiserOptions coarse_options() {
  OptimiserOptions out;
  out.iterations = 300;
  out.gradient_tolerance = 1e-3;
  out.value_tolerance = 1e-9;
  return out;
}

LatentFit fit_latent(const LatentClass& model, const OptimiserOptions& options) {
  return best_start(model, [&](const Eigen::VectorXd& start) {
    return fit_latent(model, start, options);
  });
}

namespace {

// Units with parameters of their own whose every answer is the same.
std::vector<bool> silent_units(const LatentRows& rows, const LatentModel& model) {
  std::vector<int> only(rows.units, -1);
  std::vector<bool> varied(rows.units, false);
  for (int i = 0; i < rows.size(); ++i) {
    for (int at = rows.start[i]; rows.weight[i] > 0 && at < rows.start[i + 1]; ++at) {
      const int u = rows.unit[at];
      if (only[u] >= 0 && only[u] != rows.category[at]) varied[u] = true;
      only[u] = rows.category[at];
    }
  }
  std::vector<bool> out(rows.units);
  for (int u = 0; u < rows.units; ++u) {
    const bool own = model.by_rater || u >= rows.raters;
    out[u] = own && !rows.is_known(u) && !varied[u];
  }
  return out;
}

// A small panel of answers drawn at random by raters who rated together, which tells as much of
// what can be identified as the whole. Of a crowd its raters are those of the row that has most of
// them: what they can tell apart links the others. Beyond a few categories more of them add more
// cells than parameters.
class SmallPanel {
 public:
  SmallPanel(const LatentRows& rows, const LatentModel& model) : rows_(rows) {
    const std::vector<bool> silent = silent_units(rows, model);
    seat_.assign(rows.units, -1);
    int seats = 0;
    const auto sit = [&](int u) {
      if (seat_[u] < 0 && !silent[u]) seat_[u] = seats++;
    };
    if (rows.raters <= crowd) {
      for (int u = 0; u < rows.units; ++u) sit(u);
    } else {
      int best = -1;
      for (int i = 0; i < rows.size(); ++i) {
        int heard = 0;
        for (int at = rows.start[i]; at < rows.start[i + 1]; ++at) {
          heard += rows.unit[at] < rows.raters && !silent[rows.unit[at]];
        }
        if (rows.weight[i] > 0 && heard > best) {
          best = heard;
          busiest_row_ = i;
        }
      }
      for (int at = rows.start[busiest_row_]; at < rows.start[busiest_row_ + 1]; ++at) {
        if (rows.unit[at] < rows.raters && seats < busiest) sit(rows.unit[at]);
      }
    }
    raters_ = 0;
    for (int u = 0; u < rows.raters; ++u) raters_ += seat_[u] >= 0;
    if (rows.joined()) sit(rows.raters);
    units_ = seats;
    for (int i = 0; i < rows.size(); ++i) {
      bool seated = false;
      for (int at = rows.start[i]; at < rows.start[i + 1]; ++at) {
        seated = seated || seat_[rows.unit[at]] >= 0;
      }
      if (!seated || rows.weight[i] == 0) continue;
      // By known truth, so that a rare one is not missed: what it tells does not hang on how often.
      const int known = known_of(i, std::min(rows.categories, few_categories));
      if (static_cast<int>(seated_.size()) < known + 2) seated_.resize(known + 2);
      seated_[known + 1].push_back(i);
    }
    seated_.erase(std::remove_if(seated_.begin(), seated_.end(),
                                 [](const std::vector<int>& rows) { return rows.empty(); }),
                  seated_.end());
  }

  bool empty() const { return units_ == 0; }

  LatentRows draw(int wanted, Stream& stream) const {
    LatentRows out;
    out.categories = std::min(rows_.categories, few_categories);
    out.raters = raters_;
    out.units = units_;
    fix_matrices(out, stream);
    const int groups = static_cast<int>(seated_.size());
    for (int i = 0; i < wanted; ++i) {
      const int turn = busiest_row_ >= 0 ? i / 2 : i;
      const std::vector<int>& group = seated_[turn % groups];
      const int rows = static_cast<int>(group.size());
      const int any = rows * groups <= wanted ? turn / groups % rows
                                              : static_cast<int>(stream.uniform() * rows);
      const int row = busiest_row_ >= 0 && i % 2 == 0 ? busiest_row_ : group[any];
      for (int at = rows_.start[row]; at < rows_.start[row + 1]; ++at) {
        if (seat_[rows_.unit[at]] < 0) continue;
        out.unit.push_back(seat_[rows_.unit[at]]);
        out.category.push_back(static_cast<int>(stream.uniform() * out.categories));
      }
      out.start.push_back(static_cast<int>(out.unit.size()));
      out.known.push_back(known_of(row, out.categories));
      out.weight.push_back(1);
    }
    return out;
  }

 private:
  int known_of(int row, int categories) const {
    return rows_.known[row] < 0 ? -1 : rows_.known[row] % categories;
  }

  // What is known is known, whatever it is.
  void fix_matrices(LatentRows& out, Stream& stream) const {
    const int N = out.categories;
    for (int u = 0; u < rows_.units; ++u) {
      if (seat_[u] < 0 || !rows_.is_known(u)) continue;
      out.matrix.resize(units_);
      auto& matrix = out.matrix[seat_[u]];
      for (int k = 0; k < N; ++k) {
        double total = 0;
        for (int l = 0; l < N; ++l) {
          matrix.push_back(0.2 + stream.uniform() + (k == l));
          total += matrix.back();
        }
        for (int l = 0; l < N; ++l) matrix[k * N + l] /= total;
      }
    }
  }

  const LatentRows& rows_;
  std::vector<int> seat_;
  std::vector<std::vector<int>> seated_;
  int raters_ = 0, units_ = 0, busiest_row_ = -1;
};

}  // namespace

// At parameters drawn at random: what can be identified at all is a matter of the model and of who
// rated with whom, not of the answers that came about.
bool is_identified(const LatentRows& rows, const LatentModel& model, const LatentPrior& prior,
                   Fitting fitting) {
  const SmallPanel panel(rows, model);
  if (panel.empty()) return false;
  Stream stream(0, 0);
  const int parameters = LatentClass(panel.draw(1, stream), model, prior).size();
  const LatentRows drawn = panel.draw(2 * parameters + 20, stream);
  const LatentClass latent(drawn, model, prior);
  Eigen::VectorXd x = latent.start();
  for (Eigen::Index i = 0; i < x.size(); ++i) x[i] = 0.2 + 0.6 * stream.uniform();
  Eigen::MatrixXd scores = fitting == Fitting::pairs
                               ? latent.pair_slopes(x, pair_frequencies(drawn, model))
                               : latent.scores(x);
  for (Eigen::Index j = 0; j < scores.cols(); ++j) {
    const double length = scores.col(j).norm();
    if (length > 0) scores.col(j) /= length;  // columns of different units
  }
  if (scores.rows() == 0) return latent.free_parameters() == 0;
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(scores);
  qr.setThreshold(rank_tolerance);
  return qr.rank() >= latent.free_parameters();
}

Curvature::Curvature(const LatentClass& model, const Eigen::MatrixXd& hessian,
                     const Eigen::VectorXd& x) {
  const Eigen::Index n = x.size(), out = model.naturals(x).size();
  root_ = Eigen::MatrixXd::Constant(out, n, std::numeric_limits<double>::quiet_NaN());
  inverse_.setOnes(n);
  if (hessian.size() == 0) return;
  Eigen::MatrixXd jacobian(out, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    Eigen::VectorXd up = x, down = x;
    up[i] += difference;
    down[i] -= difference;
    jacobian.col(i) = (model.naturals(up) - model.naturals(down)) / (2 * difference);
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(
      -0.5 * (hessian + hessian.transpose()));
  const double floor = 1e-9 * std::max(eigen.eigenvalues().maxCoeff(), 0.0);
  vectors_ = eigen.eigenvectors();
  root_ = jacobian * vectors_;
  for (Eigen::Index i = 0; i < n; ++i) {
    if (eigen.eigenvalues()[i] > floor) {
      inverse_[i] = 1 / eigen.eigenvalues()[i];
      continue;
    }
    for (Eigen::Index r = 0; r < out; ++r) {
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

Eigen::MatrixXd natural_covariance(const LatentClass& model, const Eigen::VectorXd& x) {
  const bool affordable =
      x.size() <= curvature_parameters && x.size() * model.work() < curvature_work;
  return Curvature(model, affordable ? model.curvature(x) : Eigen::MatrixXd(), x).covariance();
}

}  // namespace fallible
