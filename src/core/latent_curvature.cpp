// The curvature of the log posterior of a latent class model, from one pass over the data.
//
// The second derivatives of the log likelihood of a case are the expected ones of the likelihood of
// its ratings together with its class, and the variance of the scores of these over the classes
// (Louis, 1982). A score has few entries: those of the case's raters.
#include <algorithm>

#include "latent.hpp"

namespace fallible {

namespace {

constexpr double difference = 1e-5;  // of parameters, for derivatives

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

}  // namespace

Eigen::MatrixXd LatentClass::curvature(const Eigen::VectorXd& x) const {
  const Tables t = tables(x);
  const int K = S_ * N_;
  std::vector<double> counts(t.log_probability.size(), 0.0), classes(K, 0.0);
  const auto gradient = [&](const Eigen::VectorXd& at, const Tables& of) {
    Eigen::VectorXd out = Eigen::VectorXd::Zero(size_);
    add_gradient(at, of, counts, classes, out);
    return out;
  };
  // Scores of each class alone, and of each rating in it.
  std::vector<std::vector<Entry>> of_class, of_rating;
  for (double& one : classes) {
    one = 1;
    of_class.push_back(entries_of(gradient(x, t)));
    one = 0;
  }
  for (double& one : counts) {
    one = 1;
    of_rating.push_back(entries_of(gradient(x, t)));
    one = 0;
  }

  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(size_, size_);
  std::vector<double> posterior(K);
  Sum score(size_), mean(size_);
  for (int i = 0; i < rows_.size(); ++i) {
    const double w = rows_.weight[i];
    if (w == 0) continue;
    expect(t, i, posterior.data());
    count(i, w, posterior.data(), counts, classes);
    for (int c = 0; c < K; ++c) {
      if (posterior[c] == 0) continue;
      score.add(of_class[c]);
      for (int at = rows_.start[i]; at < rows_.start[i + 1]; ++at) {
        score.add(of_rating[(static_cast<std::size_t>(rows_.unit[at]) * N_ +
                             rows_.category[at]) * K + c]);
      }
      score.add_square(w * posterior[c], out);
      mean.add(score, posterior[c]);
      score.clear();
    }
    mean.add_square(-w, out);
    mean.clear();
  }
  out.triangularView<Eigen::StrictlyUpper>() = out.transpose();

  for (int i = 0; i < size_; ++i) {
    for (const int step : {-2, -1, 1, 2}) {  // right to the fourth order
      Eigen::VectorXd moved = x;
      moved[i] += step * difference;
      Eigen::VectorXd slope = gradient(moved, tables(moved));
      log_prior(moved, &slope);
      out.col(i) += (step * step > 1 ? -step / 2 : 8 * step) / (12 * difference) * slope;
    }
  }
  return out;
}

}  // namespace fallible
