// Krippendorff's alpha: 1 - observed / expected disagreement over the coincidences of categories.

// In a case with m ratings each pair has weight 1 / (m - 1), so that the case has m coincidences.
#include <cmath>

#include "kernels.hpp"

namespace fallible {

namespace {

struct AlphaSums {
  const RowCounts* rows;
  bool ordinal;
  Eigen::MatrixXd coincidence;  // categories x categories
  Eigen::VectorXd total;        // per category
  double all = 0;

  void add(int i, double w) {
    const double each = w / (rows->ratings[i] - 1);
    for (const int a : rows->places(i)) {
      const int k = rows->category[a];
      for (const int b : rows->places(i)) {
        const double pairs = rows->count[a] * (rows->count[b] - (a == b));
        coincidence(k, rows->category[b]) += each * pairs;
      }
      total[k] += w * rows->count[a];
    }
    all += w * rows->ratings[i];
  }

  // Mean rank of each category among all ratings.
  Eigen::VectorXd midranks() const {
    Eigen::VectorXd out = total / 2;
    for (Eigen::Index k = 1; k < out.size(); ++k) out[k] += total.head(k).sum();
    return out;
  }
  // Difference of midranks for each pair of categories.
  Eigen::MatrixXd steps() const {
    const Eigen::VectorXd middle = midranks();
    return middle.replicate(1, middle.size()).rowwise() - middle.transpose();
  }

  // Squared distances of midranks, or 1 minus the agreement weights.
  Eigen::MatrixXd distances() const {
    if (ordinal) return steps().cwiseAbs2();
    return 1 - rows->scale.array();
  }

  // Sum of distances over coincidences; and the sum expected by chance, times `all`.
  double observed(const Eigen::MatrixXd& distance) const {
    return coincidence.cwiseProduct(distance).sum();
  }
  double expected(const Eigen::MatrixXd& distance) const { return total.dot(distance * total); }

  Estimate value() const {
    if (!(all > 0)) return undefined(Undefined::no_pairs);
    const Eigen::MatrixXd distance = distances();
    const double by_chance = expected(distance);
    if (by_chance <= certain_tolerance * all * all) return undefined(Undefined::certain);
    return {1 - (all - 1) * observed(distance) / by_chance, Undefined::no};
  }
};

class AlphaKernel : public SumKernel<AlphaSums> {
 public:
  AlphaKernel(RowCounts rows, bool ordinal) : rows_(std::move(rows)), ordinal_(ordinal) {}

  // Influence on 1 - all * observed / expected. The estimate has all - 1 for all, which is equal in
  // the limit; Gwet ignores the difference as well.
  std::vector<double> influence(const std::vector<double>& weight) const override {
    const AlphaSums sums = total(weight);
    const Eigen::MatrixXd distance = sums.distances();
    const double observed = sums.observed(distance), expected = sums.expected(distance);
    const double ratio = sums.all * observed / expected;
    // Derivatives of the ratio with respect to the total of each category: through `expected` and,
    // for the ordinal scale, through the midranks. A midrank changes by half of the change of its
    // category's total and by the changes of all lower totals.
    Eigen::VectorXd by_total = -2 * ratio / expected * (distance * sums.total);
    if (ordinal_) {
      const Eigen::MatrixXd step = 4 * sums.steps();
      const Eigen::VectorXd by_middle =
          sums.all * step.cwiseProduct(sums.coincidence).rowwise().sum() -
          ratio * sums.total.cwiseProduct(step * sums.total);
      double above = 0;
      for (Eigen::Index a = by_total.size(); a-- > 0; above += by_middle[a]) {
        by_total[a] += (above + by_middle[a] / 2) / expected;
      }
    }
    std::vector<double> out(rows_.size());
    for (int i = 0; i < rows_.size(); ++i) {
      double own = 0, change = 0;
      for (const int a : rows_.places(i)) {
        for (const int b : rows_.places(i)) {
          own += rows_.count[a] * (rows_.count[b] - (a == b)) *
                 distance(rows_.category[a], rows_.category[b]);
        }
        change += rows_.count[a] * by_total[rows_.category[a]];
      }
      own /= rows_.ratings[i] - 1;
      out[i] = -(rows_.ratings[i] * observed / expected + sums.all * own / expected + change);
    }
    return out;
  }

 protected:
  AlphaSums none() const override {
    const Eigen::Index k = rows_.scale.rows();
    return {&rows_, ordinal_, Eigen::MatrixXd::Zero(k, k), Eigen::VectorXd::Zero(k)};
  }

 private:
  RowCounts rows_;
  bool ordinal_;
};

}  // namespace

MadeKernel alpha_kernel(const RatedRows& rows, const KernelOptions& options, bool ordinal) {
  return std::make_unique<AlphaKernel>(count_rows(rows, scale_of(rows, options)), ordinal);
}

}  // namespace fallible
